"""The band around a curve, on a grid of recalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import SCALE, SCALES, deployed_share, scales_of
from frame_prc._curves.logit_intervals import FEW_OF_POSITIVES, status
from frame_prc._inference.bootstrap import cells_of, check_drawable
from frame_prc._inference.estimates import Estimates
from frame_prc._lazy import join, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Calibration, Draws
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

# With fewer positives beyond a recall, chance decides where it is reached: intervals covered 75 to
# 94 % in simulations.
_FEW_BEYOND = 4
_ROUNDING = 1e-9
_PRECISIONS = ("precision", "precision_low", "precision_high")
_LIMITS = ("recall", *_PRECISIONS)


@dataclass(frozen=True)
class Band(Table):
    """One row per segment and recall, with nulls where a segment has no positives."""

    recalls: Sequence[float]
    level: float
    resampling: Draws
    simultaneous: bool = False
    calibration: Calibration | None = None
    outputs = (*_LIMITS, "status")
    counts_dropped = False

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the band of each segment."""
        check_drawable(rows)
        table = _with_status(self._of(rows), rows)
        if self.calibration is None:
            return table
        # Replicates are in the same order at each prevalence: quantiles stay where they are.
        scales = scales_of(rows, self.calibration).select(*rows.keys, *SCALES)
        shares = deployed_share(pl.col(_PRECISIONS), SCALE)
        return left_join(table, scales, rows.keys).with_columns(shares).drop(SCALES)

    def _of(self, rows: Rows) -> pl.LazyFrame:
        from frame_prc._inference import resamples  # noqa: PLC0415 - needs NumPy

        ranking = rank(rows)
        found = resamples.bands(
            cells_of(ranking, rows, bins=None),
            self.resampling,
            _LIMITS,
            self.recalls,
            self.level,
            simultaneous=self.simultaneous,
            in_memory=rows.in_memory,
        )
        grid = pl.LazyFrame({"recall": self.recalls}, schema={"recall": pl.Float64})
        # Joined by number: with keys that are null structs, the streaming engine of Polars below
        # 2.1 panics in an ordered cross join.
        numbers = ranking.segments.table.select("segment")
        every = join(numbers, grid, how="cross", maintain_order="left_right")
        table = join(every, found, on=["segment", "recall"], how="left", maintain_order="left")
        return ranking.segments.with_keys(table)


def _with_status(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    known = Estimates.of(rows).keyed().select(*rows.keys, "status", "n_effective", "few_negatives")
    found = left_join(table, known, rows.keys)
    said = status(pl.col, pl.col("few_negatives"), clustered=rows.clustered)
    judged = found.with_columns(status=said)
    beyond = (1 - pl.col("recall")) * pl.col("n_effective")
    few = (pl.col("status") == "ok") & (beyond < _FEW_BEYOND - _ROUNDING)
    text = pl.lit(FEW_OF_POSITIVES[rows.clustered])
    return judged.with_columns(status=pl.when(few).then(text).otherwise("status"))
