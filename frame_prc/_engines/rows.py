"""Rows by role inside an engine, and their counts: the first half of every plan there.

A relation of DuckDB or a DataFrame of Spark is a plan, and so is the result: it can raise no error
of ours when it runs. So every value that must not be swallowed turns, in the row that holds it,
into the engine's own function for failing, with the text that Polars frames get; the engine stops
at the first such row, and so the text has no number of rows. Only whether ``pos_label=`` occurs at
all takes a second look at the truth: one row of totals beside the plan. Nothing is read at the
call, and nothing comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import polars as pl

from frame_prc._engines.engine import Engine
from frame_prc._formulas import unsigned_zero, without_nan
from frame_prc._lazy import key_names
from frame_prc._request.roles import Request
from frame_prc._request.thresholds import Bins, threshold_dtype
from frame_prc._rows.checks import (
    COUNT_LIMIT,
    LARGEST_WEIGHT,
    SMALLEST_WEIGHT,
    improbable,
    is_improbable,
    uncovered,
)
from frame_prc._rows.columns import Column, Columns, common_score_dtype, resolve
from frame_prc._rows.rows import DROP_HINT, UNRETRIEVED_HINT
from frame_prc.exceptions import DataError, OptionError, shown

Frame: TypeAlias = "nw.LazyFrame[Any]"
Condition: TypeAlias = tuple[nw.Expr, nw.Expr]

# Stands in the text of an error for a value that is known when it is raised.
_VALUE = "\0"
# Each is a branch in the text of the plan.
_MOST_THRESHOLDS = 1_000


@dataclass(frozen=True)
class Counted:
    """Counts inside an engine: one row per segment and distinct score.

    ``frame`` has the key columns ``keys``, ``score`` (null: never retrieved), ``pos``, ``neg`` and
    ``dropped``, the rows that were left out; ``rows`` has the same columns, and is what was added
    up. ``in_ranges`` says whether a segment may be too large for one task. ``gate`` has one row,
    with a text in ``problem`` where there must be no result.
    """

    frame: Frame
    rows: Frame
    keys: list[str]
    columns: Columns
    engine: Engine
    in_ranges: bool
    gate: Frame | None

    @property
    def amount(self) -> Any:
        """The dtype of sums."""
        return nw.Float64 if self.columns.weighted else nw.Int64

    def finish(self, result: Frame, outputs: Sequence[str], order: Sequence[str]) -> Any:
        """Return the engine's own frame, with the caller's keys first, in order if that is cheap.

        Spark sorts nothing here: its frames have no order that would survive the next step.
        """
        if self.gate is not None:
            gated = result.join(self.gate, how="cross").to_native()
            result = nw.from_native(
                gated.filter(
                    f"CASE WHEN problem IS NULL THEN true ELSE {self.engine.error}(problem) END"
                )
            )
        names = dict(zip(self.keys, self.columns.result_keys, strict=False))
        tidy = result.select(*(nw.col(k).alias(n) for k, n in names.items()), *outputs).to_native()
        if not self.engine.ordered or not (names or order):
            return tidy
        keys = [f'"{name.replace(chr(34), chr(34) * 2)}" NULLS FIRST' for name in names.values()]
        return tidy.order(", ".join([*keys, *order]))


def count(
    engine: Engine,
    native: Any,
    request: Request,
    outputs: Sequence[str],
    bins: Bins | None,
    *,
    covering: bool = False,
) -> Counted:
    """Return the counts of an engine's frame.

    Parameters
    ----------
    engine
        The engine.
    native
        Its frame.
    request
        The roles of its columns.
    outputs
        Columns that the verb adds to the keys.
    bins
        Thresholds to bin the scores at, ascending; every segment then has all of them.
    covering
        Whether a score below all thresholds is an error, and bins without rows are of no use.
    """
    if bins is not None and len(bins.thresholds) > _MOST_THRESHOLDS:
        raise OptionError(
            f"thresholds= are {len(bins.thresholds)}, too many inside {engine.kind}",
            f"up to {_MOST_THRESHOLDS}",
            "without thresholds every distinct score is one",
        )
    frame = nw.from_native(native)
    columns = resolve(pl.LazyFrame(schema=_schema(frame)), request, outputs)
    score_dtype = common_score_dtype(columns.scores)
    bins = None if bins is None else bins.of(score_dtype)
    thresholds = None if bins is None else bins.thresholds
    misplaced = [] if bins is None else _misplaced(columns, bins, covering=covering)
    source = _project(engine, frame, columns, misplaced)
    keys = key_names(len(columns.result_keys)) or ["whole"]
    rows = _models(engine, source, columns, keys)
    if thresholds is not None:
        rows = rows.with_columns(score=_level_reached(thresholds, level_dtype(columns)))
    counted = _added_up(rows, keys, columns)
    if thresholds is not None and not covering:
        counted = _added_up(_with_grid(engine, counted, keys, thresholds), keys, columns)
    in_ranges = engine.in_ranges and thresholds is None
    return Counted(counted, rows, keys, columns, engine, in_ranges, _gate(source, columns))


def _schema(frame: Frame) -> dict[str, Any]:
    """Return the schema in the dtypes of Polars; what has none there is an object."""
    dtypes: dict[str, Any] = {}
    for name, dtype in frame.collect_schema().items():
        try:
            dtypes.update(nw.Schema({name: dtype}).to_polars())
        except (NotImplementedError, TypeError, ValueError, AssertionError):
            dtypes[name] = pl.Object
    return dtypes


# --- roles -----------------------------------------------------------------------------------


def _project(
    engine: Engine, frame: Frame, columns: Columns, misplaced: Iterable[Condition]
) -> Frame:
    """Select every role's column, checked, and leave out rows of weight zero."""
    dtypes = {score.dtype for score in columns.scores}
    scores = {f"score_{i}": nw.col(c.name) for i, c in enumerate(columns.scores)}
    if len(dtypes) > 1:
        common_score_dtype(columns.scores)
        scores = {role: score.cast(nw.Float64) for role, score in scores.items()}
    source = frame.select(
        *(unsigned_zero(nw.col(n), t).alias(f"by_{i}") for i, (n, t) in enumerate(_keys(columns))),
        *(nw.col(column.name).alias(role) for role, column in columns.classes.items()),
        *(score.alias(role) for role, score in scores.items()),
    )
    amounts = [role for role in columns.classes if role != "truth"]
    if amounts:
        source = source.filter(
            nw.any_horizontal(
                *((nw.col(a) != 0) | nw.col(a).is_null() for a in amounts), ignore_nulls=True
            )
        )
    problem = nw.lit(None, nw.String)
    for wrong, text in reversed([*_problems(columns), *misplaced]):
        problem = nw.when(wrong).then(text).otherwise(problem)
    # Scores are what rows are grouped by: no result can be had without computing them.
    return engine.failing(source.with_columns(problem=problem), [*scores])


def _keys(columns: Columns) -> list[tuple[str, pl.DataType]]:
    return [*columns.key_dtypes.items()]


def _models(engine: Engine, source: Frame, columns: Columns, keys: list[str]) -> Frame:
    """Return one row per row and model: its keys, score, amounts, and whether it is dropped."""
    models = [*columns.request.models]
    score = without_nan(nw.col("score_0"), columns.scores[0].dtype)
    names = [nw.lit(models[0] or "")]
    if len(models) > 1:
        source = engine.repeat(source, "place", len(models))
    for i, column in enumerate(columns.scores[1:], 1):
        here = nw.col("place") == i
        score = nw.when(here).then(without_nan(nw.col(f"score_{i}"), column.dtype)).otherwise(score)
        names = [nw.when(here).then(nw.lit(models[i])).otherwise(names[0])]
    by = [nw.col(f"by_{i}") for i in range(len(columns.key_dtypes))]
    values = [*(names if columns.several_models else []), *by] or [nw.lit(0)]
    scored = source.with_columns(score=unsigned_zero(score, common_score_dtype(columns.scores)))
    dropping = columns.request.missing == "drop"
    usable = nw.lit(True)
    if dropping:
        classes = (without_nan(nw.col(r), c.dtype) for r, c in columns.classes.items())
        present = [nw.col("score"), *classes]
        usable = nw.all_horizontal(*(~value.is_null() for value in present), ignore_nulls=False)
    zero = nw.lit(0, nw.Float64 if columns.weighted else nw.Int64)
    pos, neg = _amounts(columns, zero)
    return scored.select(
        *(value.alias(key) for key, value in zip(keys, values, strict=True)),
        nw.when(usable).then(nw.col("score")).alias("score"),
        nw.when(usable).then(pos).otherwise(zero).alias("pos"),
        nw.when(usable).then(neg).otherwise(zero).alias("neg"),
        nw.when(usable).then(nw.lit(0, nw.Int64)).otherwise(nw.lit(1, nw.Int64)).alias("dropped"),
    )


def _amounts(columns: Columns, zero: nw.Expr) -> tuple[nw.Expr, nw.Expr]:
    """Return how much of each class a row holds."""
    dtype = nw.Float64 if columns.weighted else nw.Int64
    if columns.counted:
        return nw.col("pos").cast(dtype), nw.col("neg").cast(dtype)
    one = nw.col("weight").cast(dtype) if columns.weighted else nw.lit(1, dtype)
    positive = _positive(columns)
    return (
        nw.when(positive).then(one).otherwise(zero),
        nw.when(positive).then(zero).otherwise(one),
    )


def _positive(columns: Columns) -> nw.Expr:
    column, label = columns.classes["truth"], columns.positive_class
    truth = without_nan(nw.col("truth"), column.dtype)
    if label is not None:
        is_label: nw.Expr = truth == label.item()
        return is_label
    return truth if column.dtype == pl.Boolean else truth == 1


def _added_up(rows: Frame, keys: list[str], columns: Columns) -> Frame:
    amount = nw.Float64 if columns.weighted else nw.Int64
    sums = [nw.col(name).sum() for name in ("pos", "neg", "dropped")]
    # DuckDB adds integers in 128 bits; a total beyond Int64 fails here.
    return (
        rows.group_by(*keys, "score")
        .agg(*sums)
        .with_columns(nw.col("pos", "neg").cast(amount), nw.col("dropped").cast(nw.Int64))
    )


# --- thresholds ------------------------------------------------------------------------------


def level_dtype(columns: Columns) -> Any:
    """Return the dtype of thresholds inside an engine."""
    dtype = threshold_dtype(common_score_dtype(columns.scores))
    return nw.Float32 if dtype == pl.Float32 else nw.Float64


def _level_reached(thresholds: list[float], dtype: Any) -> nw.Expr:
    """Return the highest threshold that a score reaches; null if it reaches none."""
    score = nw.col("score").cast(nw.Float64)
    levels = [nw.lit(None, dtype), *(nw.lit(threshold, dtype) for threshold in thresholds)]
    return _chosen(levels, lambda place: score >= thresholds[place - 1])


def bin_end(counts: Frame, bins: Bins) -> nw.Expr:
    """Return where the bin ends that begins at ``score``; null where rows are in none."""
    dtype = counts.collect_schema()["score"]
    thresholds = bins.of(nw.Schema({"score": dtype}).to_polars()["score"]).thresholds
    bounds = [nw.lit(bound, dtype) for bound in (*thresholds, float("inf"))]
    score = nw.col("score")
    return nw.when(~score.is_null()).then(_chosen(bounds[1:], lambda bin_: score >= bounds[bin_]))


def _chosen(values: list[nw.Expr], reaches: Callable[[int], nw.Expr]) -> nw.Expr:
    """Return the value of the last place that is reached, by bisection."""

    def between(low: int, high: int) -> nw.Expr:
        if high - low == 1:
            return values[low]
        middle = (low + high) // 2
        return nw.when(reaches(middle)).then(between(middle, high)).otherwise(between(low, middle))

    return between(0, len(values))


def _with_grid(engine: Engine, counted: Frame, keys: list[str], thresholds: list[float]) -> Frame:
    """Add an empty row for every segment and threshold."""
    amounts = ["pos", "neg", "dropped"]
    dtype = counted.collect_schema()["score"]
    nothing = [nw.col(amount).max() * 0 for amount in amounts]
    segments = counted.group_by(*keys).agg(*nothing)
    levels = [nw.lit(threshold, dtype) for threshold in thresholds]
    grid = engine.repeat(segments, "place", len(thresholds)).with_columns(
        score=_chosen(levels, lambda place: nw.col("place") >= place)
    )
    wanted = [*keys, "score", *amounts]
    return nw.concat([counted.select(wanted), grid.select(wanted)])


# --- what must not be swallowed ----------------------------------------------------------------


def _problems(columns: Columns) -> Iterator[Condition]:
    """Yield what is wrong with a row, and the text that says so."""
    for role, column in columns.classes.items():
        if role != "truth":
            yield _bad_amount(role, column)
    truth = columns.classes.get("truth")
    if truth and columns.request.pos_label is None and truth.dtype != pl.Boolean:
        yield _not_binary(truth)
    missing = columns.request.missing
    if missing != "drop":
        for role, column in columns.classes.items():
            hint = DROP_HINT if missing == "unretrieved" else f"{DROP_HINT}; {UNRETRIEVED_HINT}"
            yield _missing(role, column, hint)
    if missing == "raise":
        for i, column in enumerate(columns.scores):
            yield _missing(f"score_{i}", column, f"{DROP_HINT}; {UNRETRIEVED_HINT}")


def _misplaced(columns: Columns, bins: Bins, *, covering: bool) -> Iterator[Condition]:
    """Yield what is wrong with a row whose score has no place in the bins."""
    lowest = bins.thresholds[0]
    for column, score in _scores_of_classes(columns):
        if bins.of_probabilities:
            yield is_improbable(score), _text(improbable(column, "a row", _VALUE), score)
        elif covering:
            error = uncovered(column, f"a row with {_VALUE}", lowest)
            yield score < lowest, _text(error, score)


def _scores_of_classes(columns: Columns) -> Iterator[tuple[Column, nw.Expr]]:
    """Yield the scores as Float64; null where a missing class leaves the row out."""
    classes = (without_nan(nw.col(r), c.dtype) for r, c in columns.classes.items())
    present = nw.all_horizontal(*(~value.is_null() for value in classes), ignore_nulls=False)
    for i, column in enumerate(columns.scores):
        score = without_nan(nw.col(f"score_{i}"), column.dtype).cast(nw.Float64)
        yield column, nw.when(present).then(score)


def _bad_amount(role: str, column: Column) -> Condition:
    amount = nw.col(role)
    wrong = amount < 0
    allowed = "numbers that are zero or more"
    if column.dtype.is_float():
        small = (amount > 0) & (amount < SMALLEST_WEIGHT)
        wrong = wrong | ~amount.is_finite() | small | (amount >= LARGEST_WEIGHT)
        allowed = f"0, or numbers from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
    elif role != "weight":
        wrong = wrong | (amount >= int(COUNT_LIMIT))
        allowed = f"counts below {COUNT_LIMIT:.6g}"
    error = DataError(
        f"{role}= column {column.name!r} has a row with {_VALUE}",
        allowed,
        "a weight of 0 leaves a row out" if role == "weight" else None,
    )
    return wrong, _text(error, amount)


def _not_binary(column: Column) -> Condition:
    truth = without_nan(nw.col("truth"), column.dtype)
    error = DataError(
        f"truth= column {column.name!r} has a row outside 0 and 1: {_VALUE}",
        "Boolean, or 0/1 numbers, or any dtype with pos_label=",
        "name the positive class with pos_label="
        + ("; or are truth= and score= swapped?" if column.dtype.is_float() else ""),
    )
    return (truth != 0) & (truth != 1), _text(error, truth)


def _missing(role: str, column: Column, hint: str) -> Condition:
    is_class = role in ("weight", "pos", "neg")
    value = nw.col(role) if is_class else without_nan(nw.col(role), column.dtype)
    kinds = "null or NaN" if column.dtype.is_float() and not is_class else "null"
    error = DataError(
        f"values are missing: {column.name!r} has a row with {kinds}",
        "no null, and no NaN in truth or score",
        hint,
    )
    return value.is_null(), nw.lit(str(error))


def _text(error: DataError, value: nw.Expr) -> nw.Expr:
    before, after = str(error).split(_VALUE)
    return nw.concat_str([nw.lit(before), value.cast(nw.String), nw.lit(after)])


def _gate(source: Frame, columns: Columns) -> Frame | None:
    """Return one row with the problem of a ``pos_label=`` that is nowhere."""
    label = columns.request.pos_label
    if label is None:
        return None
    column = columns.classes["truth"]
    error = DataError(
        f"pos_label={shown(label)} is nowhere in truth= column {column.name!r}, "
        f"which has values from {_VALUE}",
        "a value that occurs",
    )
    truth = without_nan(nw.col("truth"), column.dtype)
    totals = source.select(
        found=_positive(columns).cast(nw.Int64).sum(), low=truth.min(), high=truth.max()
    )
    low, high = (nw.col(name).cast(nw.String) for name in ("low", "high"))
    text = _text(error, nw.concat_str([low, nw.lit(" to "), high]))
    absent = (nw.col("found") == 0) & ~nw.col("low").is_null()
    return totals.select(problem=nw.when(absent).then(text))
