"""The table of average precision: what is known of each segment, side by side."""

from __future__ import annotations

import polars as pl

from frame_prc import _intervals, _tie_bounds
from frame_prc._areas import AVERAGE_PRECISION, SIZES, sized_areas
from frame_prc._bins import Bins
from frame_prc._intervals import Interval, check_method
from frame_prc._plan import matched
from frame_prc._ranking import rank
from frame_prc._request import Missing
from frame_prc._rows import Rows, dropped


def columns(missing: Missing, interval: Interval | None, *, bounds: bool) -> list[str]:
    """Return the columns after the keys."""
    sure = [] if interval is None else _intervals.COLUMNS
    bounded = _tie_bounds.COLUMNS if bounds else ()
    return [*SIZES, AVERAGE_PRECISION, *sure, *bounded, "status", *dropped(missing)]


def average_precision(
    rows: Rows, bins: Bins | None, interval: Interval | None, *, bounds: bool
) -> pl.LazyFrame:
    """Return one row per segment: its size, its average precision, and how sure that is."""
    if interval is not None:
        check_method(rows, interval)
    # One ranking serves all columns, so that bins are counted in one pass over the rows.
    ranking = rank(rows, bins, squares=interval is not None)
    if interval is None:
        table = sized_areas(ranking)
    else:
        table = _intervals.sized_intervals(ranking, rows, bins, interval)
    if bounds:
        bounded = _tie_bounds.tie_bounds(ranking)
        table = matched(table, ranking.segments.with_keys(bounded), rows.keys)
    return rows.finish(table, columns(rows.columns.request.missing, interval, bounds=bounds))
