"""The table of average precision: what is known of each segment, side by side."""

from __future__ import annotations

import polars as pl

from frame_prc._curves import tie_bounds as _tie_bounds
from frame_prc._curves.areas import AVERAGE_PRECISION, SIZES, sized_areas
from frame_prc._inference import chance as _chance
from frame_prc._inference import intervals as _intervals
from frame_prc._inference.intervals import check_method, with_interval
from frame_prc._lazy import left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Interval, Missing
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows, dropped

_CLASSES = [
    pl.col("n_pos").alias("positives"),
    (pl.col("n") - pl.col("n_pos")).alias("negatives"),
]


def columns(missing: Missing, interval: Interval | None, *, bounds: bool) -> list[str]:
    """Return the columns after the keys."""
    sure = [] if interval is None else _intervals.COLUMNS
    bounded = _tie_bounds.COLUMNS if bounds else ()
    return [*SIZES, AVERAGE_PRECISION, *sure, *bounded, "status", *dropped(missing)]


def average_precision(
    rows: Rows,
    bins: Bins | None,
    interval: Interval | None,
    *,
    bounds: bool,
    chance: bool = False,
) -> pl.LazyFrame:
    """Return one row per segment: its size, its average precision, and how sure that is.

    With ``chance`` the last column is the average precision of a random order of the labels.
    """
    if interval is not None:
        check_method(rows, interval)
    # One ranking serves all columns, so that bins are counted in one pass over the rows.
    ranking = rank(rows, bins, squares=interval is not None)
    if interval is None:
        table = sized_areas(ranking)
    else:
        table = _intervals.sized_estimates(ranking, rows, bins, interval)
    if chance or interval is not None:
        table = _chance.with_random(table.with_columns(_CLASSES), ranking, rows.keys)
    if interval is not None:
        table = with_interval(table, interval)
    if bounds:
        bounded = _tie_bounds.tie_bounds(ranking)
        table = left_join(table, ranking.segments.with_keys(bounded), rows.keys)
    outputs = columns(rows.columns.request.missing, interval, bounds=bounds)
    return rows.finish(table, [*outputs, *([_chance.RANDOM] if chance else [])])
