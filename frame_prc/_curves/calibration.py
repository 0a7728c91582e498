"""Calibration: points of a segment as they would be at another prevalence (Siblini et al. 2020).

There each negative counts as ``positives / negatives`` times the odds of a negative.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from frame_prc._formulas import effective_number, odds_ratio, unsigned_zero
from frame_prc._lazy import aggregated, cached, in_order, left_join, named, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Calibration
from frame_prc._rows.checks import Check, with_checks
from frame_prc._rows.columns import Column
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import ColumnError, DataError, nearest

CALIBRATED = "calibrated_average_precision"
REFERENCE = "reference_prevalence"
PREVALENCE = "prevalence"
TEXTS = (pl.String, pl.Categorical, pl.Enum)

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_FEW = 20  # effective rows of a class
SCALES = ("of_positive", "of_negative")  # what a row of a class weighs
SCALE = pl.col(SCALES[1]) / pl.col(SCALES[0])  # what a negative weighs beside a positive


def calibrated(referred: Any, lib: Any = pl) -> Any:
    """Return points with scaled false positives."""
    sums = [name for name in ("fp", "fp_a") if name in referred.collect_schema()]
    positives, negatives, odds = map(lib.col, ("positives", "negatives", "reference_odds"))
    return referred.with_columns(
        scale=odds_ratio(positives, negatives, odds), unscaled_fp=lib.col("fp")
    ).with_columns(lib.col(*sums) * lib.col("scale"))


def with_reference(
    points: pl.LazyFrame, ranking: Ranking, calibration: Calibration
) -> pl.LazyFrame:
    """Add ``reference_odds``, those of a negative, and ``reference_prevalence``.

    Points are read twice, so they are to be cached, but once: Polars 1.41 loses columns otherwise.
    """
    if calibration.given is not None:
        keyed = ranking.segments.table.select("segment", *ranking.rows.keys)
        found = prevalences(keyed, calibration.given, ranking.rows)
        return segment_join(points, found.select("segment", *_reference_at(PREVALENCE)))
    if calibration.odds is not None:
        prevalence = pl.lit(calibration.prevalence, pl.Float64)
        return points.with_columns(_reference(pl.lit(calibration.odds), prevalence))
    model = ranking.rows.model_keys
    segments, reference = ranking.segments.table.select("segment", *model), calibration.table
    if reference is None:
        opening = points.filter("opens").with_columns(**effective_numbers(squares=ranking.squares))
        reference = reference_of_models(segment_join(opening, segments), calibration, model)
    return segment_join(points, left_join(segments, reference, model).drop(model))


def highest_odds() -> pl.Expr:
    """Return the odds of a negative where positives are most frequent, and at least 1.

    Areas calibrated down are biased where negatives are few. A segment with fewer than 20 effective
    rows of a class does not set it, unless none has them.
    """
    odds = _NEGATIVES / _POSITIVES
    has_both = (_POSITIVES > 0) & (_NEGATIVES > 0)
    enough = (pl.col("n_effective") >= _FEW) & (pl.col("n_negative") >= _FEW)
    lowest = [pl.when(has_both & which).then(odds).min() for which in (enough, pl.lit(value=True))]
    return pl.coalesce(lowest).clip(lower_bound=1.0)


def reference_of_models(
    segments: pl.LazyFrame, calibration: Calibration, model: list[str]
) -> pl.LazyFrame:
    if calibration.highest:
        odds = highest_odds()
        return aggregated(segments, model, *_reference(odds, 1 / (1 + odds)))
    positives, negatives = in_order(_POSITIVES), in_order(_NEGATIVES)
    n = positives + negatives
    prevalence = pl.when(n > 0).then(positives / n)
    return aggregated(segments, model, *_reference(negatives / positives, prevalence))


def deployed(rows: Rows, calibration: Calibration) -> tuple[Rows, pl.LazyFrame]:
    """Return rows with the weights that they have at a reference prevalence, and their scales.

    A segment keeps its weight, in other proportions of its classes, unless it lacks one.
    """
    if calibration.given is not None:
        return _deployed(rows, calibration)
    return rows.keep(("deployed", calibration), lambda: _deployed(rows, calibration))


def deployed_share(share: pl.Expr, scale: pl.Expr) -> pl.Expr:
    """Return a share of positives as it is where a negative weighs ``scale`` times as much."""
    return share / (share + scale * (1 - share))


def _deployed(rows: Rows, calibration: Calibration) -> tuple[Rows, pl.LazyFrame]:
    scales = cached(scales_of(rows, calibration))
    frame = left_join(rows.with_checks(rows.frame), scales.drop(REFERENCE), rows.keys)
    of_positive, of_negative = map(pl.col, SCALES)
    if rows.has_counts:
        amounts = {"pos": pl.col("pos") * of_positive, "neg": pl.col("neg") * of_negative}
    else:
        amounts = {
            "weight": rows.weight * pl.when("truth").then(of_positive).otherwise(of_negative)
        }
    weighted = frame.with_columns(**amounts).drop(SCALES)
    classes = {name: Column(pl.col(name), name, pl.Float64()) for name in amounts}
    columns = replace(rows.columns, classes=rows.columns.classes | classes)
    found = replace(rows.without_values(), frame=weighted, columns=columns, checked=True)
    return found, scales


def scales_of(rows: Rows, calibration: Calibration) -> pl.LazyFrame:
    counts = {"positives": pl.col("pos"), "negatives": pl.col("neg")}
    amounts = counts if rows.has_counts else amounts_of_classes(rows.weight)
    sums = {name: in_order(amount.cast(pl.Float64)) for name, amount in amounts.items()}
    sums |= {f"{name}_squares": in_order(amount**2) for name, amount in amounts.items()}
    segments = aggregated(rows.used(), rows.keys, **sums)
    if calibration.given is not None:
        found = prevalences(segments, calibration.given, rows)
        referred = found.with_columns(_reference_at(PREVALENCE))
    elif calibration.odds is None:
        segments = cached(segments.with_columns(**effective_numbers(squares=not rows.has_counts)))
        reference = reference_of_models(segments, calibration, rows.model_keys)
        referred = left_join(segments, reference, rows.model_keys)
    else:
        odds = pl.lit(calibration.odds)
        referred = segments.with_columns(_reference(odds, 1 / (1 + odds)))
    n, positives = _POSITIVES + _NEGATIVES, pl.col(REFERENCE)
    shares = (positives / _POSITIVES, positives * pl.col("reference_odds") / _NEGATIVES)
    has_both = pl.when((_POSITIVES > 0) & (_NEGATIVES > 0))
    scales = zip(SCALES, shares, strict=True)
    return referred.select(
        *rows.keys,
        REFERENCE,
        *(has_both.then(n * one).otherwise(1.0).alias(of) for of, one in scales),
    )


def same_reference(
    segments: pl.LazyFrame, model: list[str], *, computed: bool = False
) -> Calibration:
    """Return what calibrates other rows of a model to the reference of its ``segments``.

    If these are computed, it is a number where models have the same.
    """
    if computed:
        known = segments.select(pl.col(REFERENCE).drop_nulls().unique()).collect().to_series()
        if known.len() == 1 and 0 < known[0] < 1:
            return Calibration.at(known[0])
    first = [one.first() for one in _reference_at(REFERENCE)]
    return Calibration(
        table=segments.group_by(model).agg(first) if model else segments.select(first)
    )


def amounts_of_classes(weight: pl.Expr) -> dict[str, pl.Expr]:
    return {
        "positives": pl.when("truth").then(weight).otherwise(0.0),
        "negatives": pl.when("truth").then(0.0).otherwise(weight),
    }


def at_prevalence_of(rows: pl.LazyFrame, weight: pl.Expr) -> Calibration | None:
    sums = {name: one.sum() for name, one in amounts_of_classes(weight).items()}
    pos, neg = rows.select(**sums).collect().row(0)
    return Calibration(pos / (pos + neg), neg / pos) if pos else None


def _reference(odds: pl.Expr, prevalence: pl.Expr) -> list[pl.Expr]:
    return [odds.alias("reference_odds"), prevalence.alias(REFERENCE)]


def _reference_at(name: str) -> list[pl.Expr]:
    return _reference((1 - pl.col(name)) / pl.col(name), pl.col(name))


def effective_numbers(*, squares: bool) -> dict[str, pl.Expr]:
    classes = {"n_effective": "positives", "n_negative": "negatives"}
    if not squares:
        return {name: pl.col(column).cast(pl.Float64) for name, column in classes.items()}
    return {
        name: effective_number(pl.col(column), pl.col(f"{column}_squares"))
        for name, column in classes.items()
    }


# --- what a frame of the caller says of segments -------------------------------------------------


def joined(
    segments: pl.LazyFrame, frame: pl.LazyFrame, rows: Rows, role: str, **values: pl.Expr
) -> pl.LazyFrame:
    """Return segments, which have the keys of rows, with what a frame says of them by its keys."""
    ours, theirs = segments.collect_schema(), frame.collect_schema()
    names = zip(rows.keys, rows.columns.result_keys, strict=True)
    left, right = [], []
    for key, name in names:
        if name in theirs:
            dtype, alias = _common(name, ours[key], theirs[name], role), f"\0given_{key}"
            left.append(pl.col(key).cast(dtype).alias(alias))
            right.append(unsigned_zero(named(name), theirs[name]).cast(dtype).alias(alias))
    shared = [one.meta.output_name() for one in left]
    found = left_join(segments.with_columns(left), frame.select(*right, **values), shared)
    return found.drop(shared)


def prevalences(segments: pl.LazyFrame, frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    schema, keys = frame.collect_schema(), rows.columns.result_keys
    allowed = f"a column {PREVALENCE!r} and keys: {', '.join(map(repr, keys)) or 'none here'}"
    if PREVALENCE not in schema or not schema[PREVALENCE].is_numeric():
        what = f"whose column {PREVALENCE!r} has dtype {schema.get(PREVALENCE)}"
        hint = f"cast it, for example pl.col({PREVALENCE!r}).cast(float)"
        if PREVALENCE not in schema:
            what, hint = f"without a column {PREVALENCE!r}", nearest(PREVALENCE, schema)
        raise ColumnError(f"calibrate= is a frame {what}", allowed, hint)
    if others := [name for name in schema if name not in (*keys, PREVALENCE)]:
        raise ColumnError(
            f"calibrate= is a frame with a column {others[0]!r}, which is no key here",
            allowed,
            f"name {others[0]!r} in by=, or drop it from the frame",
        )
    given = named(PREVALENCE).cast(pl.Float64)
    found = joined(segments.with_row_index("\0of"), frame, rows, "calibrate", prevalence=given)
    value, own = pl.col(PREVALENCE), rows.keys[len(rows.model_keys) :]
    first = pl.col(own[0]) if own else pl.lit("all rows")
    wrong = value.is_null() | ~value.is_between(0, 1, closed="none")
    repeated = pl.col("\0of").is_duplicated()

    def repeats(_: int, segment: object) -> DataError:
        what = f"calibrate= has several prevalences for segment {segment!r}"
        return DataError(what, "one for each segment")

    checks = [
        Check(wrong.sum(), _wrong, [first.filter(wrong).first(), value.filter(wrong).first()]),
        Check(repeated.sum(), repeats, [first.filter(repeated).first()]),
    ]
    return with_checks(found, found, checks, in_memory=rows.in_memory).drop("\0of")


def _wrong(count: int, segment: object, value: float | None) -> DataError:
    of_all = f"{count} segments, such as" if count > 1 else "segment"
    what = "no prevalence" if value is None else f"the prevalence {value}"
    return DataError(
        f"calibrate= has {what} for {of_all} {segment!r}",
        "a number between 0 and 1 for each segment",
    )


def _common(name: str, ours: pl.DataType, theirs: pl.DataType, role: str) -> pl.DataType:
    if ours == theirs:
        return ours
    if ours.is_integer() and theirs.is_integer():
        return pl.Int128()
    # In pandas integers become floats as soon as one of them is missing.
    if {ours.is_integer(), theirs.is_integer()} == {True, False} and pl.Float64 in (ours, theirs):
        return pl.Float64()
    if isinstance(ours, TEXTS) and isinstance(theirs, TEXTS):
        return pl.String()
    raise ColumnError(
        f"key {name!r} has dtype {ours} among the rows, and {theirs} in the frame of {role}=",
        "one dtype",
        f"cast one of them, for example pl.col({name!r}).cast(...)",
    )
