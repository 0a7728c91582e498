"""Curves on a grid of recalls: with a band around them, or their mean over a key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import SCALE, SCALES, deployed_share, scales_of
from frame_prc._curves.curve import AT_RECALL, CURVE, points
from frame_prc._curves.logit_intervals import FEW_OF_POSITIVES, status
from frame_prc._formulas import precision, recall
from frame_prc._inference.bootstrap import cells_of, check_drawable
from frame_prc._inference.estimates import Estimates
from frame_prc._lazy import aggregated, join, left_join, mean_in_order
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Calibration, Draws
from frame_prc._request.values import Bins
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc._tables.averages import kept_keys, without_key

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


# --- curves on a grid, and their mean over a key -----------------------------------------------

# Running sums of weights are rounded: a recall of 0.3 may come out slightly lower.
_RECALL_ROUNDING = 1e-12

_TP, _FP = pl.col("tp"), pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class RecallGrid(Table):
    """One row per segment and recall: the point with the highest threshold that reaches it.

    With ``over`` it is the mean of precision over the segments of that key instead.
    """

    recalls: Sequence[float]
    bins: Bins | None = None
    over: str | None = None
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        return (AT_RECALL, *(CURVE if self.over is None else ("precision", "n_segments")))

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the points, or their mean."""
        if self.over is not None:
            check_over(rows.columns, self.over)
        table = self._points(rank(rows, self.bins))
        return table if self.over is None else self._means(table, rows, self.over)

    def keyed(self, rows: Rows) -> Rows:
        """Return rows with the keys that the table has."""
        return rows if self.over is None else without_key(rows, self.over)

    def _points(self, ranking: Ranking) -> pl.LazyFrame:
        grid = pl.LazyFrame({AT_RECALL: self.recalls}, schema={AT_RECALL: pl.Float64})
        numbers = ranking.segments.table.select("segment")
        every = join(numbers, grid, how="cross", maintain_order="left_right")
        # The streaming engine compares the dtypes before the optimiser has settled them.
        number = pl.col("segment").cast(pl.Int64)
        wanted = every.with_columns(wanted=pl.col(AT_RECALL) - _RECALL_ROUNDING, number=number)
        hits = _hits(ranking).with_columns(recall=recall(_TP, _POSITIVES), number=number)
        found = wanted.join_asof(
            hits.drop("segment"),
            left_on="wanted",
            right_on="recall",
            by="number",
            strategy="forward",
            check_sortedness=False,
            coalesce=False,
        )
        columns = {
            "threshold": pl.col("score").cast(ranking.threshold_dtype),
            "fn": _POSITIVES - _TP,
            "tn": _NEGATIVES - _FP,
            "precision": precision(_TP, _FP),
        }
        return ranking.segments.with_keys(found.with_columns(**columns))

    def _means(self, table: pl.LazyFrame, rows: Rows, over: str) -> pl.LazyFrame:
        kept = kept_keys(rows, over)
        height = pl.col("precision")
        means = aggregated(
            table,
            [*kept, AT_RECALL],
            mean_in_order(height),
            n_segments=height.count().cast(pl.Int64),
        )
        return means.rename(kept).sort(*kept.values(), AT_RECALL)


def _hits(ranking: Ranking) -> pl.LazyFrame:
    """Return the points at which the true positives of a segment grow, in ranking order."""
    curve = ranking.with_score(points(ranking))
    return curve.filter((_TP.shift(1) < _TP) & ~pl.col("opens"))
