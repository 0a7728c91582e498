"""The table of average precision: what is known of each segment, side by side."""

from __future__ import annotations

import polars as pl

from frame_prc import _tie_bounds
from frame_prc._areas import AVERAGE_PRECISION, SIZES, dropped, sized_area
from frame_prc._bins import Bins
from frame_prc._ranking import rank
from frame_prc._request import Missing
from frame_prc._rows import Rows


def columns(missing: Missing, *, bounds: bool) -> list[str]:
    """Return the columns after the keys."""
    bounded = _tie_bounds.COLUMNS if bounds else ()
    return [*SIZES, AVERAGE_PRECISION, *bounded, "status", *dropped(missing)]


def average_precision(rows: Rows, bins: Bins | None, *, bounds: bool) -> pl.LazyFrame:
    """Return one row per segment: its size, its average precision, and how far off that can be."""
    ranking = rank(rows, bins)
    table = sized_area(ranking)
    if bounds:
        bounded = _tie_bounds.tie_bounds(ranking, binned=bins is not None)
        table = table.join(bounded, on="segment", how="left", maintain_order="left")
    tidy = ranking.segments.with_keys(table)
    return rows.finish(tidy, columns(rows.columns.request.missing, bounds=bounds))
