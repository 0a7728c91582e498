"""Rows by role inside an engine, and their counts: the first half of every plan there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._engines.engine import Engine, Frame, Order, check_types
from frame_prc._formulas import unsigned_zero, without_nan
from frame_prc._lazy import key_names
from frame_prc._ranking.keys import integer_bounds
from frame_prc._request.roles import Request
from frame_prc._request.values import Bins, may_be_rounded, threshold_dtype
from frame_prc._rows import rules
from frame_prc._rows.columns import (
    Columns,
    check_key_names,
    common_score_dtype,
    resolve,
)
from frame_prc._rows.rows import DROPPED
from frame_prc._rows.rules import SQUARES, SUMS, is_missing, is_positive
from frame_prc.exceptions import ColumnError, DataError, OptionError, message

# Each threshold adds a branch to the SQL.
_MOST_THRESHOLDS = 1_000
_BESIDE = "beside_"  # begins the names of the scores of models that are side by side
# Searching in four parts takes as many comparisons as in two, in branches half as deep; SQLite's
# parser has no room for deeper ones.
_PARTS = 4


@dataclass(frozen=True)
class Ranges:
    """Segments of which large ones are cut into ranges of scores, so that no task sorts them whole.

    ``rows``, or counts already, are in the task of their ``range``; ``counts`` are those of these.
    """

    cuts: Any
    rows: Frame
    counts: Frame


@dataclass(frozen=True)
class Counted:
    """Counts inside an engine: one row per segment and distinct score, or with ``each_row`` rows.

    ``rows``, which are counted, have ``keys``, ``score`` (null: never retrieved; turned round if
    lower ones are more likely positive), ``pos``, ``neg``, ``dropped``, and maybe squares and
    ``cluster``; ``single`` are those that stand for rows, ``unchecked`` the rows by role, none if
    scores are binned. ``problem`` has the error of all rows together, as text or null.
    """

    rows: Frame
    unchecked: Frame | None
    keys: list[str]
    columns: Columns
    engine: Engine
    problem: Frame | None
    score_dtype: pl.DataType
    single: Frame
    squares: bool = False
    ranges: Ranges | None = None
    each_row: bool = False

    @cached_property
    def frame(self) -> Frame:
        if self.each_row:
            return self.single
        return added_up(self.rows, self.keys, self.columns, squares=self.squares)

    @property
    def segment(self) -> list[str]:
        """The keys of segments; all rows together have none."""
        return self.keys if self.columns.result_keys else []

    @property
    def score(self) -> nw.Expr:
        score = nw.col("score")
        return turned(score, self.score_dtype) if self.ascending else score

    @property
    def ascending(self) -> bool:
        return self.columns.request.ascending

    @property
    def amount(self) -> Any:
        return _amount_dtype(self.columns)

    def finish(self, result: Frame, outputs: Sequence[str], order: Sequence[Order]) -> Any:
        """Return the engine's own frame, the caller's keys first, sorted if it keeps its order."""
        names = dict(zip(self.keys, self.columns.result_keys, strict=False))
        tidy = result.select(*(nw.col(k).alias(n) for k, n in names.items()), *outputs)
        return self.engine.finished(tidy, [*names.values()], order, self.problem)


def check_case(engine: Engine, keys: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuse a key that differs only in case from a result's column: most engines mix them up."""
    taken = {name.lower(): name for name in outputs}
    for key in keys:
        name = taken.get(key.lower(), key)
        if name != key:
            raise ColumnError(
                f"key {key!r} differs only in case from {name!r}, a column of the result: in "
                f"{engine.kind} they may be one",
                "keys that differ in more than case",
                "rename the key in the engine first",
            )


def count(
    engine: Engine,
    native: Any,
    request: Request,
    outputs: Sequence[str],
    bins: Bins | None,
    *,
    every_bin: bool = True,
    squares: bool = False,
    measures: Sequence[str] = (),
    by_threshold: bool = False,
) -> list[Counted]:
    """Return the counts of an engine's frame; of models side by side, those of each.

    ``outputs`` are columns beside the keys, ``measures`` those that need probabilities. ``squares``
    keeps clusters too, and ``by_threshold`` is as in ``Rows.by_threshold``.
    """
    if bins is not None and len(bins.thresholds) > _MOST_THRESHOLDS:
        raise OptionError(
            f"thresholds= are {len(bins.thresholds)}, too many inside {engine.kind}",
            f"up to {_MOST_THRESHOLDS}",
            "without thresholds= every distinct score is a threshold",
        )
    engine.refuse(native)
    frame = nw.from_native(native)
    dtypes = schema_of(frame)
    check_types(engine, native, dtypes, request)
    columns = resolve(pl.LazyFrame(schema=dtypes), request)
    check_key_names(columns, outputs)
    check_case(engine, columns.result_keys, outputs)
    bins = None if bins is None else bins.of(common_score_dtype(columns.scores))
    scores = [f"score_{i}" for i in range(len(columns.scores))]
    checks = checks_of(columns, bins, measures)
    rounded = by_threshold and any(may_be_rounded(one.dtype) for one in columns.scores)
    # Every result groups rows by their scores, and so has to compute these.
    unchecked = _project(frame, columns, as_floats=rounded)
    if rounded:
        floats = [replace(one, dtype=pl.Float64()) for one in columns.scores]
        columns = replace(columns, scores=floats)
    source, problem = engine.checked(unchecked, checks, scores)
    squares = squares and columns.needs_squares
    models = _side_by_side(source, columns) if request.side_by_side else [(source, columns)]
    found = []
    for place, (own_rows, model) in enumerate(models):
        keys = key_names(len(model.result_keys)) or ["whole"]
        rows = _amounts_of_rows(engine, own_rows, model, keys, squares=squares)
        dtype = common_score_dtype(columns.scores)
        if bins is not None:
            rows = rows.with_columns(score=_level_reached(bins, level_dtype(columns)))
            dtype = pl.Float64()
        single = rows = _in_direction(rows, dtype, columns)
        if bins is not None and every_bin:
            counted = added_up(rows, keys, columns, squares=squares)
            grid = _in_direction(_grid(engine, counted, keys, bins.thresholds), dtype, columns)
            wanted = [*keys, "score", *amount_names(squares=squares), "dropped"]
            rows = nw.concat([counted.select(wanted), grid.select(wanted)])
        own = unchecked.with_columns(score_0=nw.col(f"score_{place}")) if place else unchecked
        unbinned = own if bins is None else None
        found.append(Counted(rows, unbinned, keys, model, engine, problem, dtype, single, squares))
    return found


def amount_names(*, squares: bool) -> list[str]:
    return [*SUMS, *(SQUARES if squares else ())]


def added_up(rows: Frame, keys: Sequence[str], columns: Columns, *, squares: bool = False) -> Frame:
    amount = _amount_dtype(columns)
    squared = [nw.col(*SQUARES).sum()] if squares else []
    # DuckDB adds integers in 128 bits; a total beyond Int64 fails here.
    return rows.group_by(*keys, "score").agg(
        nw.col("pos", "neg").sum().cast(amount), nw.col("dropped").sum().cast(nw.Int64), *squared
    )


def ranked(counted: Counted, unchecked: Frame) -> Frame:
    """Return the keys and the score of each row that is ranked; a bad value does not fail here."""
    columns = counted.columns
    repeated, score = _per_model(counted.engine, unchecked, columns), _score(columns)
    dropping = columns.request.missing == "drop"
    used = repeated.filter(_is_complete(columns)) if dropping else repeated
    chosen = used.select(*_key_values(columns, counted.keys), score=score)
    return _in_direction(chosen, counted.score_dtype, columns)


def schema_of(frame: Frame) -> dict[str, Any]:
    dtypes: dict[str, Any] = {}
    for name, dtype in frame.collect_schema().items():
        if isinstance(dtype, nw.Datetime) and dtype.time_unit == "s":
            dtypes[name] = pl.Datetime("ms")  # the unit of Polars that is next to seconds
            continue
        try:
            dtypes.update(nw.Schema({name: dtype}).to_polars())
        except (NotImplementedError, TypeError, ValueError, AssertionError):
            dtypes[name] = pl.Object
    return dtypes


# --- roles -----------------------------------------------------------------------------------


def _project(frame: Frame, columns: Columns, *, as_floats: bool) -> Frame:
    scores = {f"score_{i}": nw.col(column.name) for i, column in enumerate(columns.scores)}
    if as_floats or len({column.dtype for column in columns.scores}) > 1:
        scores = {role: score.cast(nw.Float64) for role, score in scores.items()}
    keys = {f"by_{i}": key for i, key in enumerate(columns.key_dtypes.items())}
    if columns.model is not None:
        keys["model"] = (columns.model.name, columns.model.dtype)
    source = frame.select(
        *(unsigned_zero(nw.col(of), dtype).alias(role) for role, (of, dtype) in keys.items()),
        *(nw.col(column.name).alias(role) for role, column in columns.classes.items()),
        *(score.alias(role) for role, score in scores.items()),
        *([] if columns.cluster is None else [nw.col(columns.cluster.name).alias("cluster")]),
    )
    amounts = [role for role in columns.classes if role != "truth"]
    if not amounts:
        return source
    used = ((nw.col(role) != 0) | nw.col(role).is_null() for role in amounts)
    return source.filter(nw.any_horizontal(*used, ignore_nulls=True))


def _amounts_of_rows(
    engine: Engine, source: Frame, columns: Columns, keys: list[str], *, squares: bool
) -> Frame:
    repeated, score = _per_model(engine, source, columns), _score(columns)
    of_all = [name for name in source.columns if name.startswith(_BESIDE)]
    beside = {name.replace(_BESIDE, "score_"): nw.col(name) for name in of_all}
    zero, none = nw.lit(0, _amount_dtype(columns)), nw.lit(0, nw.Int64)
    amounts = dict(zip(SUMS, _amounts(columns, zero), strict=True))
    if squares and columns.with_squares:
        amounts |= {name: nw.col(name).cast(nw.Float64) for name in SQUARES}
    dropped = none
    if columns.request.missing == "drop":
        used = nw.when(nw.col("complete") if beside else _is_complete(columns))
        score = used.then(score)
        amounts = {name: used.then(amount).otherwise(zero) for name, amount in amounts.items()}
        dropped = used.then(none).otherwise(nw.lit(1, nw.Int64))
    cluster = [] if columns.cluster is None else ["cluster"]
    by = _key_values(columns, keys)
    rows = repeated.select(*by, *cluster, score=score, **beside, **amounts, dropped=dropped)
    if not squares or columns.with_squares:
        return rows
    return rows.with_columns(
        (nw.col(of) * nw.col(of)).alias(name) for of, name in zip(SUMS, SQUARES, strict=True)
    )


def _side_by_side(source: Frame, columns: Columns) -> list[tuple[Frame, Columns]]:
    dtype, one = common_score_dtype(columns.scores), replace(columns.request, model=None)
    scores = {
        f"{_BESIDE}{i}": unsigned_zero(without_nan(nw.col(f"score_{i}"), c.dtype), dtype)
        for i, c in enumerate(columns.scores)
    }
    if one.ascending:
        scores = {name: turned(score, dtype) for name, score in scores.items()}
    rows = source.with_columns(complete=_is_complete(columns), **scores)
    request = replace(one, models={None: "score_0"})
    return [
        (
            rows.with_columns(score_0=nw.col(f"score_{place}")),
            replace(columns, request=request, scores=[score]),
        )
        for place, score in enumerate(columns.scores)
    ]


def _per_model(engine: Engine, source: Frame, columns: Columns) -> Frame:
    models = len(columns.request.models)
    return engine.repeat(source, "place", models) if models > 1 else source


def _score(columns: Columns) -> nw.Expr:
    scores = [without_nan(nw.col(f"score_{i}"), c.dtype) for i, c in enumerate(columns.scores)]
    return unsigned_zero(_of_place(scores), common_score_dtype(columns.scores))


def _key_values(columns: Columns, keys: list[str]) -> list[nw.Expr]:
    by = [nw.col(f"by_{i}") for i in range(len(columns.key_dtypes))]
    if columns.model is not None:
        by.insert(0, nw.col("model"))
    elif columns.several_models:
        by.insert(0, _of_place([nw.lit(model) for model in columns.request.models]))
    return [value.alias(key) for key, value in zip(keys, by or [nw.lit(0)], strict=True)]


def _is_complete(columns: Columns) -> nw.Expr:
    """Return whether nothing is missing in a row: it counts for all models, or for none."""
    roles = {f"score_{i}": one for i, one in enumerate(columns.scores)} | {**columns.classes}
    missing = [is_missing(role, column, nw.col(role)) for role, column in roles.items()]
    return ~nw.any_horizontal(*missing, ignore_nulls=False)


def _of_place(values: Sequence[nw.Expr], place: str = "place") -> nw.Expr:
    """Return the value whose number is in the column ``place``, such as that of a row's model."""
    chosen, *others = values
    for i, value in enumerate(others, 1):
        chosen = nw.when(nw.col(place) == i).then(value).otherwise(chosen)
    return chosen


def _amounts(columns: Columns, zero: nw.Expr) -> tuple[nw.Expr, nw.Expr]:
    dtype = _amount_dtype(columns)
    if columns.aggregated:
        return nw.col("pos").cast(dtype), nw.col("neg").cast(dtype)
    one = nw.col("weight").cast(dtype) if columns.weighted else nw.lit(1, dtype)
    positive = nw.when(is_positive(columns, nw.col("truth")))
    return positive.then(one).otherwise(zero), positive.then(zero).otherwise(one)


def _amount_dtype(columns: Columns) -> Any:
    return nw.Float64 if columns.weighted else nw.Int64


# --- thresholds ------------------------------------------------------------------------------


def level_dtype(columns: Columns) -> Any:
    dtype = threshold_dtype(common_score_dtype(columns.scores))
    return nw.Float32 if dtype == pl.Float32 else nw.Float64


def _level_reached(bins: Bins, dtype: Any) -> nw.Expr:
    score, thresholds = nw.col("score").cast(nw.Float64), bins.thresholds
    levels = [nw.lit(threshold, dtype) for threshold in thresholds]
    none = nw.lit(None, dtype)
    if not bins.ascending:
        return _chosen([none, *levels], lambda place: score >= thresholds[place - 1])
    beyond = levels[-1] if bins.of_probabilities else none  # sums of Float32 may exceed 1
    found = _chosen([*levels, beyond], lambda place: score > thresholds[place - 1])
    return nw.when(~score.is_null()).then(found)


def bin_end(counts: Frame, bins: Bins) -> nw.Expr:
    dtype = counts.collect_schema()["threshold"]
    table = bins.table(nw.Schema({"score": dtype}).to_polars()["score"]).collect()
    thresholds = [nw.lit(threshold, dtype) for threshold in table["score"]]
    ends = [nw.lit(end, dtype) for end in table[bins.other_end]]
    threshold = nw.col("threshold")
    found = _chosen(ends, lambda place: threshold >= thresholds[place])
    return nw.when(~threshold.is_null()).then(found)


def _chosen(values: list[nw.Expr], reaches: Callable[[int], nw.Expr]) -> nw.Expr:
    """Return the last value whose place is reached, found among four parts, and so on."""

    def among(low: int, high: int) -> nw.Expr:
        width = -(-(high - low) // _PARTS)
        starts = range(low, high, width)
        chosen = values[low] if width == 1 else among(low, starts[1])
        for start in starts[1:]:
            part = values[start] if width == 1 else among(start, min(start + width, high))
            chosen = nw.when(reaches(start)).then(part).otherwise(chosen)
        return chosen

    return among(0, len(values))


def _grid(engine: Engine, counted: Frame, keys: list[str], thresholds: list[float]) -> Frame:
    amounts = [name for name in counted.columns if name not in (*keys, "score")]
    dtype = counted.collect_schema()["score"]
    nothing = [nw.col(amount).max() * 0 for amount in amounts]
    segments = counted.group_by(*keys).agg(*nothing)
    levels = [nw.lit(threshold, dtype) for threshold in thresholds]
    return engine.repeat(segments, "place", len(thresholds)).with_columns(
        score=_chosen(levels, lambda place: nw.col("place") >= place)
    )


def _in_direction(rows: Frame, dtype: pl.DataType, columns: Columns) -> Frame:
    if not columns.request.ascending:
        return rows
    return rows.with_columns(score=turned(nw.col("score"), dtype))


def turned(score: nw.Expr, dtype: pl.DataType) -> nw.Expr:
    """Return scores in the opposite order, exactly; turned twice, they are themselves."""
    if dtype.is_integer():
        # Within the dtype: the lowest integer has no negative, and unsigned ones have none.
        turned_integer = nw.lit(sum(integer_bounds(dtype))) - score
        return turned_integer.cast(getattr(nw, str(dtype)))
    return unsigned_zero(-score, dtype)


# The column that rows of one segment are sorted by; no key may have its name.
ORDER = "frame_prc_order"


def by_segment(sums: Frame, counted: Counted, aggregates: Mapping[str, nw.Expr]) -> Frame:
    columns = [
        # As in the curve, to the last digit; 0 without rows.
        nw.col("positives", "negatives").max().fill_null(0).cast(counted.amount),
        nw.col("dropped").sum().cast(nw.Int64).alias(*DROPPED),
        *(value.alias(name) for name, value in aggregates.items()),
    ]
    # Without keys the result has one row, even if the frame has none.
    keyed = counted.columns.result_keys
    return sums.group_by(*counted.keys).agg(*columns) if keyed else sums.select(*columns)


def several_rows(table: Frame, counted: Counted, rows: Sequence[Mapping[str, nw.Expr]]) -> Frame:
    """Return several rows for each row of a table, numbered by ``ORDER``."""
    long = counted.engine.repeat(table, ORDER, len(rows))
    return long.with_columns(
        **{name: _of_place([row[name] for row in rows], ORDER) for name in rows[0]}
    )


def finish_in_order(table: Frame, counted: Counted, outputs: Sequence[str]) -> Any:
    native = counted.finish(table, [*outputs, ORDER], [Order(ORDER)])
    return nw.from_native(native).drop(ORDER).to_native()


# --- checks: the rules that Polars frames are held to, as texts or as totals -------------------


@dataclass(frozen=True)
class Checks:
    """The rules that rows are held to, and whether their ``pos_label=`` occurs."""

    columns: Columns
    row_rules: list[rules.Rule[nw.Expr]]

    def row_problem(self) -> nw.Expr:
        problem = nw.lit(None, nw.String)
        for rule in reversed(self.row_rules):
            text = _text(rule.error("a row"), rule.value)
            problem = nw.when(rule.broken).then(text).otherwise(problem)
        return problem

    def label_problem(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        if self._label is None:
            return None
        low, high = (nw.col(name).cast(nw.String) for name in ("low", "high"))
        text = _text(self._absent_label("values from "), nw.concat_str([low, nw.lit(" to "), high]))
        absent = (nw.col("found") == 0) & ~nw.col("low").is_null()
        return rows.select(**self._label_totals()).select(problem=nw.when(absent).then(text))

    def totals(self) -> dict[str, nw.Expr]:
        found = {} if self._label is None else self._label_totals()
        for place, rule in enumerate(self.row_rules):
            broken = nw.when(rule.broken)
            found[f"rows_{place}"] = broken.then(1).otherwise(0).sum()
            if rule.value is not None:
                found[f"low_{place}"] = broken.then(rule.value).min()
                found[f"high_{place}"] = broken.then(rule.value).max()
        return found

    def raise_first(self, found: dict[str, Any]) -> None:
        for place, rule in enumerate(self.row_rules):
            if count := found[f"rows_{place}"]:
                rows = rules.counted(count)
                raise rule.error(rows, _span(found.get(f"low_{place}"), found.get(f"high_{place}")))
        if self._label is not None and not found["found"] and found["low"] is not None:
            raise self._absent_label(f"values from {found['low']} to {found['high']}")

    @property
    def _label(self) -> object:
        return self.columns.request.pos_label

    def _label_totals(self) -> dict[str, nw.Expr]:
        column = self.columns.classes["truth"]
        truth = without_nan(nw.col("truth"), column.dtype)
        # PostgreSQL casts no Boolean to an integer of 64 bits.
        positive = nw.when(rules.is_positive(self.columns, nw.col("truth"))).then(1).otherwise(0)
        return {"found": positive.sum(), "low": truth.min(), "high": truth.max()}

    def _absent_label(self, values: str) -> DataError:
        return rules.absent_label(self.columns.classes["truth"], self._label, values)


def checks_of(columns: Columns, bins: Bins | None, measures: Sequence[str] = ()) -> Checks:
    """Return the checks of a request's rows; the first that fails is the error."""
    found = [*_rules(columns)]
    found += [
        rule for name in measures[:1] for rule in rules.probability_rules(columns, nw.col, name)
    ]
    if bins is not None:
        found += rules.bin_rules(columns, bins, nw.col)
    return Checks(columns, found)


def _rules(columns: Columns) -> Iterator[rules.Rule[nw.Expr]]:
    for role, column in columns.classes.items():
        if role != "truth":
            yield from rules.amount_rules(role, column, nw.col(role))
    truth = columns.classes.get("truth")
    if truth and columns.request.pos_label is None and truth.dtype != pl.Boolean:
        swapped = "; or are truth= and score= swapped?" if truth.dtype.is_float() else ""
        hint = f"name the positive class with pos_label={swapped}"
        yield rules.binary_rule(truth, nw.col("truth"), hint)
    yield from rules.required_rules(columns, nw.col)
    yield from rules.exact_rules(columns.scores, nw.col)
    yield from rules.squares_rules(columns, nw.col)
    yield from rules.cluster_rules(columns, nw.col)


def _text(error: DataError, value: nw.Expr | None) -> nw.Expr:
    if value is None:
        return nw.lit(str(error))
    rest = message("", error.allowed, error.hint)
    return nw.concat_str([nw.lit(error.what), value.cast(nw.String), nw.lit(rest)])


def _span(low: object, high: object) -> str:
    if low is None:
        return ""
    return str(low) if str(low) == str(high) else f"{low} to {high}"
