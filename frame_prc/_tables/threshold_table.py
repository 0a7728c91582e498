"""Thresholds by steps, with what each costs and finds: the table to choose one from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.given_thresholds import ASCENDING
from frame_prc._request.roles import Request
from frame_prc._rows.rows import Rows
from frame_prc._tables.operating_points import OperatingPoints

# Of each step the counts, and with costs what they add up to.
_COUNTS = ("tp", "fp")
_CELLS = ("tp", "fp", "fn", "tn")
_HIDDEN = ("predicted_count", "fn", "tn", "fpr", "f1", "net_benefit")
_PER = 1000


@dataclass(frozen=True)
class ThresholdTable(OperatingPoints):
    """One row per segment and step; ``costs`` are those of a false positive and of a miss."""

    costs: tuple[float, float] | None = None
    runs_inside = True

    def only_in_polars(self, request: Request) -> Mapping[str, bool]:  # noqa: ARG002
        """Return what does not run inside an engine."""
        return {"calibrate": self.calibration is not None}

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        cost = () if self.costs is None else ("expected_cost",)
        turned = (ASCENDING,) if self.ascending else ()
        rates = ("threshold", "alerts_per_1000", "precision", "recall")
        at = () if self.calibration is None else (REFERENCE,)
        return (*rates, *_COUNTS, *_HIDDEN, *cost, *at, *turned, "status")

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        return (*_HIDDEN, REFERENCE, *(() if self.costs is None else _COUNTS))

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the steps."""
        tp, fp, fn, tn = (pl.col(name).cast(pl.Float64) for name in _CELLS)
        n, threshold = tp + fp + fn + tn, pl.col("threshold").cast(pl.Float64)
        # As given, not as rounded to Float32.
        threshold = pl.when(criterion="threshold").then("target_value").otherwise(threshold)
        # As a probability, from which on an alert is worth its cost.
        odds = pl.when((threshold > 0) & (threshold < 1)).then(threshold / (1 - threshold))
        of_fp, of_fn = self.costs or (0.0, 0.0)
        there = rows.elsewhere
        points = super().of(rows) if there is None else there.points(rows, self.targets)
        shown = []
        if self.calibration is not None:
            shown = [pl.col(*_CELLS, "predicted_count") * _PER / n]
        return points.with_columns(
            *shown,
            alerts_per_1000=_PER * (tp + fp) / n,
            fpr=pl.when(fp + tn > 0).then(fp / (fp + tn)),
            f1=pl.col("f_score"),
            net_benefit=(tp - fp * odds) / n,
            expected_cost=(fp * of_fp + fn * of_fn) / n,
        )
