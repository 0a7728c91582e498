"""Rows by role: the caller's columns under internal names, with missing values handled.

The frame of :class:`Rows` has ``key_0, ...``, ``score``, ``suspect`` (whether a row may be invalid)
and ``truth`` and maybe ``weight``, or ``pos`` and ``neg``; and ``cluster``, ``strata``, ``bin_end``
and ``held``, a threshold, where given. :meth:`Rows.finish` gives the keys their names back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import polars as pl

from frame_prc._execution import Execution, ResultT
from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import aggregated, cached, concat, key_names, named
from frame_prc._request.roles import THRESHOLD
from frame_prc._request.specs import Missing
from frame_prc._request.values import may_be_rounded, threshold_dtype
from frame_prc._rows import checks
from frame_prc._rows.columns import Columns, common_score_dtype, failing, project
from frame_prc._rows.rules import SQUARES, SUMS
from frame_prc._rows.rules import is_positive as is_positive_truth
from frame_prc.exceptions import OptionError

DROPPED = ("n_dropped",)
_EXACT = 2**53  # the integers up to here are all floats


def dropped(missing: Missing) -> tuple[str, ...]:
    return DROPPED if missing == "drop" else ()


@dataclass(frozen=True)
class Rows(Execution):
    """Rows ready to be counted, one per row and model.

    ``source`` is the projection that they come from, in memory also ``values``. Under
    ``missing="drop"``, ``usable`` says which rows count, and ``n_dropped`` how many a row stands
    for that do not. ``checked`` says that reading the source raises if it is invalid. ``kept`` is
    what several verbs share. ``elsewhere`` has the rows if they are inside an engine
    (:mod:`frame_prc._engines.plans`).
    """

    frame: pl.LazyFrame
    source: pl.LazyFrame
    columns: Columns
    score_dtype: pl.DataType
    has_counts: bool
    usable: pl.Expr | None
    n_dropped: pl.Expr | None
    values: pl.DataFrame | None
    check: Callable[[], None]
    checked: bool = False
    kept: dict[tuple[Hashable, ...], tuple[pl.LazyFrame, Any]] | None = field(
        default=None, repr=False, compare=False
    )
    elsewhere: Any = field(default=None, repr=False, compare=False)

    def keep(self, what: Hashable, make: Callable[[], ResultT]) -> ResultT:
        """Return what was made of these rows before, or make it; only kept rows remember it.

        Rows of one source may differ in scores, segments or their names: so it is known by these,
        and by its frame, which is held so that no other gets its identity. Of several threads the
        first wins.
        """
        if self.kept is None:
            return make()
        name = (id(self.frame), *self.columns.result_keys, what)
        if name not in self.kept:
            self.kept.setdefault(name, (self.frame, make()))
        return cast("ResultT", self.kept[name][1])

    def keep_table(self, what: Hashable, make: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        """Return a table that was made of these rows before; kept rows remember what it holds."""
        if self.kept is None:
            return make()
        return self.keep(what, lambda: make().collect().lazy())

    @cached_property
    def keys(self) -> list[str]:
        return key_names(len(self.columns.result_keys))

    @property
    def model_keys(self) -> list[str]:
        """Internal names of the keys that are not the caller's: that of models, if there is one."""
        return key_names(len(self.keys) - len(self.columns.key_dtypes))

    @property
    def clustered(self) -> bool:
        return self.columns.cluster is not None

    @property
    def stratified(self) -> bool:
        return self.columns.strata is not None

    @property
    def row_by_row(self) -> bool:
        """Whether the variance of a measure needs the influence of each row."""
        return self.clustered or self.stratified

    def check_no_strata(self, what: str) -> None:
        if self.stratified:
            raise OptionError(
                f"strata= is given, and {what} does not use it",
                "the intervals and tests of average_precision, summary, average, compare_models, "
                "compare_segments and heterogeneity by influence",
                "without strata= the interval is wider than it need be",
            )

    @property
    def weight(self) -> pl.Expr:
        return pl.col("weight") if self.columns.weighted else pl.lit(1.0)

    @property
    def ascending(self) -> bool:
        """Whether a lower score means more likely positive."""
        return self.columns.request.ascending

    def is_positive(self) -> pl.Expr:
        return is_positive(has_counts=self.has_counts)

    def carried(self, *, squares: bool) -> list[str]:
        """Return the columns of a row's amounts; none where each row counts as one."""
        if self.has_counts:
            return [*SUMS, *(SQUARES if squares else ())]
        return ["weight"] if self.columns.weighted else []

    def amounts(self, positive: pl.Expr, *, squares: bool) -> dict[str, pl.Expr]:
        if self.has_counts:
            return {name: pl.col(name) for name in self.carried(squares=squares)}
        classes = dict(zip(SUMS, (positive, ~positive), strict=True))
        if not self.columns.weighted:
            return classes
        weight = pl.col("weight")
        amounts = {name: pl.when(c).then(weight).otherwise(0.0) for name, c in classes.items()}
        if squares:
            squared = (amount**2 for amount in amounts.values())
            amounts |= dict(zip(SQUARES, squared, strict=True))
        return amounts

    def with_checks(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if self.in_memory:
            self.check()
        elif not self.checked:
            frame = self._checked(frame)
        return self.with_bin_checks(frame)

    def _checked(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        own = checks.checks_of(self.columns)
        return checks.with_checks(frame, self.source, own, in_memory=False)

    def with_bin_checks(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if self.columns.bin_end is None:
            return frame
        ends = ("bin_end", "score") if self.ascending else ("score", "bin_end")
        return checks.with_bin_checks(frame, self.frame, ends, self.keys, in_memory=self.in_memory)

    def with_checks_if(
        self, table: pl.LazyFrame, suspicious: pl.Expr, more: Iterable[checks.Check]
    ) -> pl.LazyFrame:
        if self.in_memory:
            self.check()
            checks.check(self.source, [*more])
            return table
        rules = [] if self.checked else checks.checks_of(self.columns)
        return checks.with_checks_if(table, suspicious, self.source, [*rules, *more])

    def used(self) -> pl.LazyFrame:
        return self.frame if self.usable is None else self.frame.filter(self.usable)

    def without_values(self) -> Rows:
        """Return rows whose values are not theirs, or not known: they are computed as few are."""
        return replace(self, values=None, height=0 if self.in_memory else None)

    def by_threshold(self) -> Rows:
        """Return rows whose scores are tied where they are one threshold, which is a float."""
        if not self._may_be_rounded:
            return self
        score = pl.col("score").cast(threshold_dtype(self.score_dtype))
        frame = self.keep("by threshold", lambda: self.frame.with_columns(score))
        return replace(self, frame=frame, score_dtype=threshold_dtype(self.score_dtype))

    @property
    def _may_be_rounded(self) -> bool:
        wide = may_be_rounded(self.score_dtype)
        if not wide or self.values is None or self.score_dtype.is_decimal():
            return wide
        sizes = self.values.select(pl.col(r"^score_\d+$").cast(pl.Float64).abs().max())
        return any(size and size >= _EXACT for size in sizes.row(0))

    def pooled(self) -> Rows:
        """Return rows of one segment, or one per model."""
        return self.keep("pooled", self._pooled)

    def _pooled(self) -> Rows:
        pooled = replace(self, columns=replace(self.columns, key_dtypes={}))
        return replace(pooled, frame=self.frame.drop(set(self.keys) - set(pooled.keys)))

    def dropped(self) -> pl.LazyFrame:
        if self.elsewhere is not None:
            found: pl.LazyFrame = self.elsewhere.dropped(self)
            return found
        assert self.n_dropped is not None  # noqa: S101 - for the type checker
        return aggregated(self.frame, self.keys, self.n_dropped.sum().alias(*DROPPED))

    def by_grouping(self) -> list[Rows]:
        """Return the rows with the keys of each grouping; they are checked once for all."""
        columns, source = self.columns, self.source
        if not self.in_memory:
            # Checked as they are read: a caller may want the results of one grouping only.
            source = cached(self._checked(source))
        places = {name: place for place, name in enumerate(columns.key_dtypes)}
        found = []
        for names in columns.groupings or ():
            by = [pl.col(f"by_{places[name]}").alias(f"by_{i}") for i, name in enumerate(names)]
            dtypes = {name: columns.key_dtypes[name] for name in names}
            kept = replace(columns, key_dtypes=dtypes, groupings=None)
            wanted = [*by, *columns.roles]
            values = None if self.values is None else self.values.select(wanted)
            projected = source.select(wanted) if values is None else values.lazy()
            rows = _of_source(projected, kept, values, self.check)
            found.append(replace(rows, checked=True))
        return found

    def reread(self, source: pl.DataFrame) -> Rows:
        check = _Once(partial(checks.check_in_memory, source, checks.checks_of(self.columns)))
        return _of_source(source.lazy(), self.columns, source, check)

    def with_keys(self, keys: Sequence[pl.Series], kept: pl.Series) -> Rows:
        """Return checked rows of one model in memory with other keys."""
        assert self.values is not None  # noqa: S101 - for the type checker
        place = pl.arange(self.values.height, eager=True)
        if self.usable is not None:
            place = self.frame.select(self.usable.arg_true()).collect().to_series()
        others = self.values.select(pl.exclude(r"^by_\d+$"))[place]
        by = [key.alias(f"by_{i}") for i, key in enumerate(keys)]
        values = pl.DataFrame(by).hstack(others).filter(kept)
        columns = replace(self.columns, key_dtypes={key.name: key.dtype for key in keys})
        return replace(_of_source(values.lazy(), columns, values, lambda: None), checked=True)

    def finish(self, result: pl.LazyFrame, outputs: Iterable[str]) -> pl.LazyFrame:
        names = zip(self.keys, self.columns.result_keys, strict=True)
        return result.select(*(pl.col(key).alias(name) for key, name in names), *outputs)


def units_of(columns: Columns) -> list[str]:
    return [role for role in ("cluster", "strata") if role in columns.optional]


def is_positive(*, has_counts: bool) -> pl.Expr:
    return pl.col("pos") > 0 if has_counts else pl.col("truth")


def read(lf: pl.LazyFrame, columns: Columns, *, in_memory: bool) -> Rows:
    values = computed(_project(lf, columns)) if in_memory else None
    source = cached(_project(lf, columns)) if values is None else values.lazy()
    found = checks.checks_of(columns)
    if values is None:
        checked = _Once(partial(checks.check, source, found))
    else:
        checked = _Once(partial(checks.check_in_memory, values, found))
    return _of_source(source, columns, values, checked)


class _Once:
    # A plan that holds it can be pickled, unlike one that holds a cache of functools.

    def __init__(self, check: Callable[[], None]) -> None:
        self.check, self.passed = check, False

    def __call__(self) -> None:
        if not self.passed:
            self.check()
            self.passed = True


def _of_source(
    source: pl.LazyFrame,
    columns: Columns,
    values: pl.DataFrame | None,
    check: Callable[[], None],
) -> Rows:
    dtype = common_score_dtype(columns.scores)
    # Rows in memory are checked as a whole, before they are binned.
    found = [] if values is not None else checks.checks_of(columns)
    suspect = checks.suspects(found).alias("suspect")
    indices = range(len(columns.scores))
    models = [_model_rows(source, columns, index, dtype, suspect) for index in indices]
    complete = pl.all_horizontal(pl.col("score", *columns.classes).is_not_null())
    usable = complete if columns.request.missing == "drop" else None
    return Rows(
        frame=concat(models),
        source=source,
        columns=columns,
        score_dtype=dtype,
        has_counts=columns.aggregated,
        usable=usable,
        n_dropped=None if usable is None else (~usable).cast(pl.Int64),
        values=values,
        height=None if values is None else values.height,
        check=check,
    )


def computed(projected: pl.LazyFrame) -> pl.DataFrame:
    try:
        return projected.collect(engine="in-memory")
    except pl.exceptions.PolarsError as error:
        # A column goes by the name of its role, such as "\0score_0".
        reason = re.sub(r"\0+([a-z_]+?)(_\d+)?\b", r"\1=", str(error).splitlines()[0])
        raise failing("an expression fails", reason) from error


def _project(lf: pl.LazyFrame, columns: Columns) -> pl.LazyFrame:
    keys = [
        unsigned_zero(named(name), dtype).alias(f"by_{i}")
        for i, (name, dtype) in enumerate(columns.key_dtypes.items())
    ]
    source = project(lf, columns.keys, keys, columns.roles)
    amounts = [role for role in columns.classes if role != "truth"]
    if amounts:
        # Rows of weight zero are ignored: they add no threshold and no error.
        source = source.filter(pl.any_horizontal(pl.col(role).ne_missing(0) for role in amounts))
    return source


def _model_rows(
    source: pl.LazyFrame,
    columns: Columns,
    index: int,
    score_dtype: pl.DataType,
    suspect: pl.Expr,
) -> pl.LazyFrame:
    keys = [named(f"by_{i}") for i in range(len(columns.key_dtypes))]
    if columns.model is not None:
        keys.insert(0, unsigned_zero(pl.col("model"), columns.model.dtype))
    elif columns.several_models:
        keys.insert(0, pl.lit(list(columns.request.models)[index]))
    return source.select(
        *(key.alias(name) for key, name in zip(keys, key_names(len(keys)), strict=True)),
        _score(columns, index, score_dtype).alias("score"),
        *_classes(columns),
        *units_of(columns),
        *(["bin_end"] if columns.bin_end is not None else []),
        *([pl.col(THRESHOLD).alias("held")] if columns.threshold is not None else []),
        suspect,
    )


def side_by_side(rows: Rows) -> Rows:
    """Return rows of models as one row, with ``score_0, ...``, which counts for all or for none."""
    return rows.keep("side by side", lambda: _side_by_side(rows))


def _side_by_side(rows: Rows) -> Rows:
    columns, source = rows.columns, rows.source
    keys = key_names(len(columns.key_dtypes))
    by = [pl.col(f"by_{i}").alias(key) for i, key in enumerate(keys)]
    names = [f"score_{i}" for i in range(len(columns.scores))]
    frame = source.select(
        *by,
        *(_score(columns, i, rows.score_dtype).alias(name) for i, name in enumerate(names)),
        *_classes(columns),
        *units_of(columns),
    )
    complete = pl.all_horizontal(pl.col(*names, *columns.classes).is_not_null())
    one = replace(columns, request=replace(columns.request, models={None: names[0]}))
    if rows.usable is None:
        return replace(rows, frame=frame, columns=one)
    left_out = (~complete).cast(pl.Int64)
    return replace(rows, frame=frame, columns=one, usable=complete, n_dropped=left_out)


def of_model(rows: Rows, place: int) -> Rows:
    score = pl.col(f"score_{place}").alias("score")
    make = lambda: replace(rows, frame=rows.frame.with_columns(score))  # noqa: E731
    return rows.keep(("model", place), make)


def _score(columns: Columns, index: int, dtype: pl.DataType) -> pl.Expr:
    name, given = f"score_{index}", columns.scores[index].dtype
    score = named(name) if given == dtype else pl.col(name).cast(dtype)
    if dtype.is_float() and columns.request.missing != "raise":
        score = score.fill_nan(None)
    return score


def _classes(columns: Columns) -> list[pl.Expr]:
    if columns.aggregated:
        # Not strict: a count beyond Int64 is an error of the checks.
        dtype = pl.Float64 if columns.weighted else pl.Int64
        return [pl.col(*columns.classes).cast(dtype, strict=False)]
    weight = [pl.col("weight").cast(pl.Float64)] if columns.weighted else []
    return [is_positive_truth(columns, pl.col("truth")).alias("truth"), *weight]
