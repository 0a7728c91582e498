"""Frames that are curves already, as ``curve`` returned them or as read back from a file."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._curves.curve import CURVE
from frame_prc._curves.thinning import THINNED
from frame_prc._lazy import key_names, named
from frame_prc._request.roles import Given
from frame_prc._request.specs import Start
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest

# Of the parameters that change nothing for a frame that is a curve; of all others None.
_DEFAULTS = {"missing": "raise", "start": "one", "keep": "corners"}
_AMOUNTS = ("tp", "fp", "fn", "tn")
_HINT = "give truth= and score= to draw rows, or pos=, neg= and score= to draw counts"


@dataclass(frozen=True)
class CurveFrame:
    """A curve, and the counts it was made of: ``key_0, key_1, ...``, ``threshold, pos, neg``.

    ``points`` have all columns as they came, in drawing order; ``keys`` are the caller's names of
    the keys, ``start`` is how the segments open, and ``error`` is how far off the steps are where
    the curve was thinned, ``None`` where it was not.
    """

    points: pl.DataFrame
    counts: pl.DataFrame
    keys: list[str]
    start: Start
    error: float | None


def read_curve(lf: pl.LazyFrame) -> CurveFrame:
    """Return the counts that a curve was made of; those between two points are at the lower one."""
    schema = lf.collect_schema()
    keys = curve_keys(schema)
    by = key_names(len(keys))
    points = _in_drawing_order(lf, keys).collect()
    renamed = [named(name).alias(key) for name, key in zip(keys, by, strict=True)]
    # In a text an amount that is whole everywhere may look like an integer beside the others.
    whole = all(schema[name].is_integer() for name in _AMOUNTS)
    amounts = pl.col(_AMOUNTS).cast(pl.Int64 if whole else pl.Float64)
    counted = points.select(*renamed, *CURVE).with_columns(amounts)
    _check_values(counted, by)
    error = points[THINNED[0]].max() if THINNED[0] in points.columns else None
    return CurveFrame(points, _counts(counted, by), keys, _start(counted), _float(error))


def _in_drawing_order(points: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    # Where a score is infinite too, the start point is the one that retrieves nothing.
    order = [*map(named, keys), pl.col("threshold"), pl.col("tp") + pl.col("fp")]
    descending = [*(False for _ in keys), True, False]
    return points.sort(order, descending=descending, maintain_order=True)


def is_curve(given: Given) -> bool:
    """Return whether a frame has to be a curve already: no role of its rows is named."""
    return all(given[role] is None for role in ("truth", "score", "pos", "neg"))


def check_unused(**given: object) -> None:
    """Refuse parameters for which a frame that is a curve has no use."""
    for name, value in given.items():
        default = _DEFAULTS.get(name)
        if type(value) is not type(default) or value != default:
            raise OptionError(
                f"{name}= is given without truth= and score=",
                "truth= and score= for single rows, score=, pos= and neg= for aggregated rows, or "
                "none of these for a frame that is a curve",
            )


def _float(value: object) -> float | None:
    return value if isinstance(value, float) else None


def curve_keys(schema: pl.Schema) -> list[str]:
    """Return the columns before ``threshold``, if all that make a curve are there."""
    for name in CURVE:
        if name not in schema:
            raise ColumnError(
                f"truth= is not given, and the frame is no curve: it has no column {name!r}",
                f"a frame as curve() returns it, with {', '.join(CURVE)} after its keys",
                f"{_HINT}; {nearest(name, schema)}",
            )
    for name in CURVE:
        if not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of the curve has dtype {schema[name]}",
                "a numeric column",
                "of a text with NA and Inf: pl.read_csv(..., null_values='NA', "
                f"schema_overrides={{{name!r}: pl.Float64}})",
                shell_hint=None,
            )
    keys = schema.names()[: schema.names().index("threshold")]
    for name in keys:
        if name in CURVE:
            raise ColumnError(
                f"column {name!r} of the curve comes before 'threshold', where its keys are",
                f"the order of curve(): the keys, and then {', '.join(CURVE)}",
                "select the columns in this order",
            )
    return keys


def _check_values(points: pl.DataFrame, by: list[str]) -> None:
    """Refuse counts that no curve has: the rows of several segments under one key, say."""
    grows = [pl.col(name) >= _before(name, by) for name in ("tp", "fp")]
    falls = pl.col("threshold") <= _over(pl.col("threshold").shift(1, fill_value=_INFINITY), by)
    totals = [
        (pl.col(a) + pl.col(b) - _over((pl.col(a) + pl.col(b)).first(), by)).abs()
        <= _ROUNDING * (pl.col(a) + pl.col(b))
        for a, b in (("tp", "fn"), ("fp", "tn"))
    ]
    amounts = [pl.col(name) >= 0 for name in _AMOUNTS]
    point = pl.struct("threshold", "tp", "fp")
    is_new = (point != _over(point.shift(1), by)) | (pl.col("tp") + pl.col("fp") == 0)
    new = is_new.fill_null(value=True)  # before the first point is none
    fits = pl.all_horizontal(*grows, falls, new, *totals, *amounts).fill_null(value=False)
    wrong = points.filter(~fits)
    if wrong.height:
        raise DataError(
            f"the frame is no curve: {wrong.height} of {points.height} rows do not go on from the "
            f"one before, the first of them at threshold {wrong['threshold'][0]}",
            "segments of falling threshold, growing tp and fp, and constant tp + fn and fp + tn",
            "the keys are the columns before threshold; are all of them there?",
        )


_INFINITY = float("inf")
_ROUNDING = 1e-9  # sums of weights, in a file that keeps some of their digits


def _over(value: pl.Expr, by: list[str]) -> pl.Expr:
    return value.over(by) if by else value


def _before(name: str, by: list[str]) -> pl.Expr:
    return _over(pl.col(name).shift(1, fill_value=0), by)


def _counts(points: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return what each point adds, and what no threshold reaches at the threshold null."""
    retrieved = points.select(
        *by,
        "threshold",
        pos=pl.col("tp") - _before("tp", by),
        neg=pl.col("fp") - _before("fp", by),
    )
    last = points.group_by(by, maintain_order=True).last() if by else points.tail(1)
    never = last.select(
        *by, pl.lit(None, points.schema["threshold"]).alias("threshold"), pos="fn", neg="tn"
    )
    return pl.concat([retrieved, never])


def _start(points: pl.DataFrame) -> Start:
    """Return how the segments open: at precision 1, at that of their first real point, or not."""
    opening = points.filter(pl.col("tp") + pl.col("fp") == 0, pl.col("threshold") == _INFINITY)
    if opening.is_empty():
        return None
    return "one" if (opening["precision"] == 1).all() else "first"
