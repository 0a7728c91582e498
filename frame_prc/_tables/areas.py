"""Areas under the curve as a table, by one or more methods, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import SIZES, AreaSpec, kept_of
from frame_prc._curves.logit_intervals import INTERVAL
from frame_prc._inference.bootstrap import check_drawable, drawn_quantiles
from frame_prc._lazy import join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Calibration, Interval, Resampling
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table


@dataclass(frozen=True)
class Areas(Table):
    """One row per segment and method."""

    spec: AreaSpec
    bins: Bins | None
    calibration: Calibration | None = None
    interval: Interval | None = None
    hidden = ("prevalence", "std_error")

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        interval = () if self.interval is None else INTERVAL
        return (*SIZES, *kept_of(self.calibration), "method", "auc", *interval, "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the areas of rows."""
        if self.interval is not None:
            check_drawable(rows)
        ranking = rank(rows, self.bins)
        table = self.spec.of(ranking, self.calibration)
        if self.interval is not None and self.interval.resampling is not None:
            limits = self._drawn(ranking, rows, self.interval.level, self.interval.resampling)
            on = ["segment", "method"]
            table = join(table, limits, on=on, how="left", maintain_order="left")
        return ranking.segments.with_keys(ranking.with_dropped(table))

    def _drawn(
        self, ranking: Ranking, rows: Rows, level: float, resampling: Resampling
    ) -> pl.LazyFrame:
        """Return the standard error of each area and its interval, over replicates."""
        spec, methods = self.spec, pl.Series([*self.spec.methods], dtype=pl.String)
        numbers = {method: place for place, method in enumerate(methods)}

        def areas(points: pl.LazyFrame) -> pl.LazyFrame:
            found = spec.of_points(points, weighted=rows.columns.weighted)
            order = pl.col("method").replace_strict(numbers, return_dtype=pl.Int64)
            return found.with_columns(order=order)

        drawn = drawn_quantiles(
            ranking,
            rows,
            resampling,
            areas,
            ("auc",),
            level,
            every_score=not spec.needs_only_hits,
            bins=self.bins,
        )
        names = zip(INTERVAL, ("auc_std_error", "auc_low", "auc_high"), strict=True)
        return drawn.select(
            "segment",
            pl.lit(methods).gather("order").alias("method"),
            *(pl.col(drawn_name).alias(name) for name, drawn_name in names),
        )
