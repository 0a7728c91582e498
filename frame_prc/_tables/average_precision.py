"""The table of average precision: what is known of each segment, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, SIZES, sized_areas
from frame_prc._curves.tie_bounds import TIE_BOUNDS, tie_bounds
from frame_prc._inference.chance import RANDOM, with_random
from frame_prc._inference.intervals import INTERVAL, check_method, sized_estimates, with_interval
from frame_prc._lazy import left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Interval
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

_CLASSES = [
    pl.col("n_pos").alias("positives"),
    (pl.col("n") - pl.col("n_pos")).alias("negatives"),
]


@dataclass(frozen=True)
class AveragePrecision(Table):
    """One row per segment: its size, its average precision, and how sure that is.

    With ``chance`` a column more is the average precision of a random order of the labels.
    """

    bins: Bins | None = None
    interval: Interval | None = None
    bounds: bool = False
    chance: bool = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        interval = () if self.interval is None else INTERVAL
        bounds = TIE_BOUNDS if self.bounds else ()
        chance = (RANDOM,) if self.chance else ()
        return (*SIZES, AVERAGE_PRECISION, *interval, *bounds, "status", *chance)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table of rows."""
        if self.interval is not None:
            check_method(rows, self.interval)
        # One ranking serves all columns, so that bins are counted in one pass over the rows.
        ranking = rank(rows, self.bins, squares=self.interval is not None)
        if self.interval is None:
            table = sized_areas(ranking)
        else:
            table = sized_estimates(ranking, rows, self.bins, self.interval)
        if self.chance or self.interval is not None:
            table = with_random(table.with_columns(_CLASSES), ranking, rows.keys)
        if self.interval is not None:
            table = with_interval(table, self.interval)
        if self.bounds:
            bounds = ranking.segments.with_keys(tie_bounds(ranking))
            table = left_join(table, bounds, rows.keys)
        return table
