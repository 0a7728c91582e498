"""The ROC curve of the same counts, thinned to few points with a bound on the error."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import recall

_X, _Y, _KEPT = pl.col("fpr"), pl.col("recall"), pl.col("kept")


def false_positive_rate() -> pl.Expr:
    """Return the share of negatives that are predicted positive; null without negatives."""
    # The recall of the negative class, so the same formula.
    return recall(pl.col("fp"), pl.col("fp") + pl.col("tn"))


def thin(points: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    """Keep at most ``most`` points of each line; return them and the largest error.

    Both rates grow from 0 to 1, so their sum grows from 0 to 2. That range is cut into equal
    stretches, and the last point of each is kept. The error is the distance of a dropped point to
    the straight line drawn in its place.
    """
    along = pl.max_horizontal((_X + _Y) / 2 * (most - 2), 0.0).ceil()
    stretch = along.clip(0, most - 2)
    first = pl.int_range(pl.len()).over("line") == 0
    last = pl.int_range(pl.len(), 0, -1).over("line") == 1
    ends = stretch != stretch.shift(-1).over("line")
    fits = pl.len().over("line") <= most
    marked = points.with_columns(kept=(first | last | ends | fits).fill_null(value=True))
    off = marked.select(_distance().max()).item()
    return marked.filter(_KEPT).drop("kept"), float(off or 0.0)


def _distance() -> pl.Expr:
    """Return the distance of each dropped point to the line between its kept neighbours."""
    ax, ay = (pl.when(_KEPT).then(v).forward_fill().over("line") for v in (_X, _Y))
    bx, by = (pl.when(_KEPT).then(v).backward_fill().over("line") for v in (_X, _Y))
    length = ((bx - ax) ** 2 + (by - ay) ** 2).sqrt()
    area = ((bx - ax) * (_Y - ay) - (by - ay) * (_X - ax)).abs()
    return pl.when(~_KEPT, length > 0).then(area / length)
