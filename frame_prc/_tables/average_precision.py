"""The average precision of each segment, with its size, interval and tie bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    SIZES,
    TIE_BOUNDS,
    AreaSpec,
    sized_areas,
    tie_bounds,
)
from frame_prc._curves.calibration import CALIBRATED, REFERENCE
from frame_prc._curves.logit_intervals import ESTIMATE, INTERVAL, N_EFFECTIVE, RANDOM
from frame_prc._inference import average_precision as area
from frame_prc._inference.bootstrap import variances
from frame_prc._inference.chance import with_random
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.few_scores import with_few_scores
from frame_prc._inference.intervals import check_method, with_interval
from frame_prc._inference.partial_chance import with_partial_chance
from frame_prc._lazy import left_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.roles import Request
from frame_prc._request.specs import Calibration, Interval, Top
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

CLASSES = [
    pl.col("n_pos").alias("positives"),
    (pl.col("n") - pl.col("n_pos")).alias("negatives"),
]


@dataclass(frozen=True)
class AveragePrecision(Table):
    """One row per segment: its size, its average precision, and maybe an interval and tie bounds.

    ``calibration`` calibrates the average precision. ``chance`` adds a column with the average
    precision of a random order of the labels.
    """

    bins: Bins | None = None
    interval: Interval | None = None
    bounds: bool = False
    chance: bool = False
    calibration: Calibration | None = None
    top: Top | None = None
    hidden = ("prevalence", N_EFFECTIVE, "std_error")
    runs_inside = True

    def only_in_polars(self, request: Request) -> Mapping[str, bool]:  # noqa: ARG002
        """Return what does not run inside an engine."""
        resampled = self.interval is not None and self.interval.resampling is not None
        return {"top": self.top is not None, "ci= by bootstrap": resampled}

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        interval = () if self.interval is None else (N_EFFECTIVE, *INTERVAL)
        bounds = TIE_BOUNDS if self.bounds else ()
        chance = (RANDOM,) if self.chance else ()
        area = (AVERAGE_PRECISION,) if self.calibration is None else (REFERENCE, CALIBRATED)
        return (*SIZES, *area, *interval, *bounds, "status", *chance)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table."""
        if self.interval is not None:
            check_method(rows, self.interval)
        # All columns share one ranking, so that bins are counted in a single pass over the rows.
        table, ranking = self._areas(rows)
        if self.chance or self.interval is not None:
            table = self._with_random(table, ranking)
        if self.interval is not None:
            table = with_interval(table, self.interval, clustered=rows.clustered)
            table = with_few_scores(table, rows)
        if self.bounds:
            there = rows.elsewhere
            if there is None:
                bounds = ranking.segments.with_keys(tie_bounds(ranking))
            else:
                bounds = there.tie_bounds(rows, self.bins)
            table = left_join(table, bounds, rows.keys)
        name = AVERAGE_PRECISION if self.calibration is None else CALIBRATED
        return table.rename({ESTIMATE: name})

    def _areas(self, rows: Rows) -> tuple[pl.LazyFrame, Ranking]:
        """Return the area of each segment, maybe with what an interval needs, and the ranking."""
        if self.interval is None and rows.elsewhere is None:
            ranking = rank(rows, self.bins, scored=False)
            areas = sized_areas(ranking, self.calibration, self.top)
            return areas.rename({AVERAGE_PRECISION: ESTIMATE}), ranking
        estimates = Estimates.of(rows, area.AveragePrecision(self.calibration), self.bins)
        table = estimates.keyed()
        if self.interval is not None and self.interval.resampling is not None:
            drawn = variances(rows, self.interval.resampling, self.bins)
            table = left_join(table.drop("variance"), drawn, rows.keys)
        return table, estimates.ranking

    def _with_random(self, table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Add the average precision of a random order; if calibrated, the prevalence."""
        if self.top is not None:
            spec = AreaSpec(["step"], top=self.top)
            return with_partial_chance(table, ranking, spec, ranking.rows.keys)
        if self.calibration is not None:
            return table.with_columns(pl.col(REFERENCE).alias(RANDOM))
        return with_random(table.with_columns(CLASSES), ranking, ranking.rows.keys)
