"""Thinning: fewer points that draw nearly the same curve, and their largest error."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import addable

THINNED = ("precision_error",)

_TP, _PRECISION, _RECALL = pl.col("tp"), pl.col("precision"), pl.col("recall")
_OPENS = pl.col("opens")
_HIT, _KEPT = pl.col("hit"), pl.col("kept")


def thin(points: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Keep at most ``most`` points of each segment, about evenly spaced along its curve.

    The row that opens a segment counts as one of them.

    The steps at which recall grows are cut into stretches of equal length, measured as the change
    of precision plus that of recall, and the last step of each stretch is kept: within a stretch
    precision varies by no more than its length. The start, the end, and the first highest and
    lowest precision are kept too. ``precision_error`` is the largest vertical distance between the
    steps drawn through all points and those drawn through the points kept.
    """
    hit = ~_OPENS & (_TP.shift(1) < _TP)
    enough = pl.len().over("segment") <= most
    ends = _OPENS.shift(-1, fill_value=True)
    marked = points.with_columns(hit=hit, kept=_OPENS | ends | _is_extreme() | enough)
    steps = marked.filter(_HIT | _KEPT).with_columns(_length())
    stretches = most - 3  # besides the start and the two extremes
    along = pl.col("length").cum_sum().over("segment")
    stretch = (along / pl.col("length").sum().over("segment") * stretches).fill_nan(0.0)
    numbered = steps.with_columns(stretch=stretch.ceil().clip(1, stretches))
    kept = numbered.with_columns(kept=_KEPT | (pl.col("stretch") != pl.col("stretch").shift(-1)))
    return kept.with_columns(_error()).filter(_KEPT)


def _is_extreme() -> pl.Expr:
    """Return whether a point is the first with the highest or lowest precision of its segment."""
    precision = pl.when(~_OPENS).then(_PRECISION)
    place = pl.int_range(pl.len())
    extreme = (place == precision.arg_max()) | (place == precision.arg_min())
    return extreme.fill_null(value=False).over("segment")


def _length() -> pl.Expr:
    """Return the distance from the point before, vertical plus horizontal."""
    across = (_RECALL - _RECALL.shift(1)).fill_null(0.0)
    # The precision of the start is a convention, so the distance from it does not count.
    down = pl.when(~_OPENS.shift(1)).then((_PRECISION - _PRECISION.shift(1)).abs()).fill_null(0.0)
    # Lengths add up alike in any order, so stretches end at the same points on every engine.
    return pl.when(_OPENS).then(0.0).otherwise(addable(across + down)).alias("length")


def _error() -> pl.Expr:
    """Return the largest distance between a step and the one drawn in its place."""
    drawn = pl.when(_KEPT & ~_OPENS).then(_PRECISION).backward_fill()
    error = pl.when(_HIT).then((_PRECISION - drawn).abs())
    return error.max().over("segment").fill_null(0.0).alias("precision_error")
