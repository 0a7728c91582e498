"""Thinning: few points that draw nearly the same curve, and how far off they are at most."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import addable

THINNED = ("precision_error",)

_TP, _PRECISION, _RECALL = pl.col("tp"), pl.col("precision"), pl.col("recall")
_OPENS = pl.col("opens")
_HIT, _KEPT = pl.col("hit"), pl.col("kept")


def thin(points: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Keep at most so many points of each segment, about evenly spaced along its curve.

    Each segment opens with a row that counts as one of them.

    The steps that grow recall are cut into stretches of equal length, the change of precision and
    of recall added up, and the last step of each is kept: within a stretch no two precisions are
    further apart than its length. The start, the end, and the first highest and lowest precision
    stay as well. ``precision_error`` is the largest vertical distance between the steps drawn
    through all points and those through the points kept.
    """
    hit = ~_OPENS & (_TP.shift(1) < _TP)
    enough = pl.len().over("segment") <= most
    marked = points.with_columns(hit=hit, kept=_OPENS | _ends() | _is_extreme() | enough)
    steps = marked.filter(_HIT | _KEPT).with_columns(_length())
    # The start, and the two extremes.
    stretches = most - 3
    along = pl.col("length").cum_sum().over("segment")
    stretch = (along / pl.col("length").sum().over("segment") * stretches).fill_nan(0.0)
    numbered = steps.with_columns(stretch=stretch.ceil().clip(1, stretches))
    kept = numbered.with_columns(kept=_KEPT | (pl.col("stretch") != pl.col("stretch").shift(-1)))
    return kept.with_columns(_error()).filter(_KEPT)


def _ends() -> pl.Expr:
    return _OPENS.shift(-1, fill_value=True)


def _is_extreme() -> pl.Expr:
    """Return whether a point is the first of its segment's highest or lowest precision."""
    precision = pl.when(~_OPENS).then(_PRECISION)
    place = pl.int_range(pl.len())
    extreme = (place == precision.arg_max()) | (place == precision.arg_min())
    return extreme.fill_null(value=False).over("segment")


def _length() -> pl.Expr:
    """Return how far a point is from the one before, up or down and to the right."""
    across = (_RECALL - _RECALL.shift(1)).fill_null(0.0)
    # Where the curve starts is a convention: no distance to that.
    down = pl.when(~_OPENS.shift(1)).then((_PRECISION - _PRECISION.shift(1)).abs()).fill_null(0.0)
    # Added up in whichever order, they are the same: one that ends a stretch ends it on any engine.
    return pl.when(_OPENS).then(0.0).otherwise(addable(across + down)).alias("length")


def _error() -> pl.Expr:
    """Return the largest distance of a step to the one that is drawn in its place."""
    drawn = pl.when(_KEPT & ~_OPENS).then(_PRECISION).backward_fill()
    error = pl.when(_HIT).then((_PRECISION - drawn).abs())
    return error.max().over("segment").fill_null(0.0).alias("precision_error")
