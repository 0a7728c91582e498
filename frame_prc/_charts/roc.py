"""The ROC curve of the same counts, and few points that draw nearly the same one."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import recall

_X, _Y, _KEPT = pl.col("fpr"), pl.col("recall"), pl.col("kept")


def false_positive_rate() -> pl.Expr:
    """Return the share of the negatives that is predicted positive; null where there are none."""
    # The same share of one class as recall is of the other.
    return recall(pl.col("fp"), pl.col("fp") + pl.col("tn"))


def thin(points: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    """Keep at most so many points of each line, and return how far off the lines are at most.

    Both rates grow from 0 to 1, so a line has length 2, up and to the right, and the last point of
    each of so many equal stretches is kept. The distance is that of a point left out to the
    straight line drawn in its place.
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
    """Return the distance of each point to the line through the kept ones around it."""
    ax, ay = (pl.when(_KEPT).then(v).forward_fill().over("line") for v in (_X, _Y))
    bx, by = (pl.when(_KEPT).then(v).backward_fill().over("line") for v in (_X, _Y))
    length = ((bx - ax) ** 2 + (by - ay) ** 2).sqrt()
    area = ((bx - ax) * (_Y - ay) - (by - ay) * (_X - ax)).abs()
    return pl.when(~_KEPT, length > 0).then(area / length)
