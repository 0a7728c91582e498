"""The lines in the pictures of a report: points of thinned curves, and counts at thresholds.

The intervals of precision and recall at the thresholds are those of
``operating_points(threshold=..., ci=...)``. All thresholds of a segment come from one pass over its
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._charts.data import EvaluatedSegments
from frame_prc._charts.thresholds import spread, with_rates
from frame_prc._curves.effective_rows import moments_of_clusters
from frame_prc._curves.logit_intervals import limits_of_share
from frame_prc._lazy import left_join
from frame_prc._ranking.bins import count_bins
from frame_prc._ranking.cluster_sums import CLUSTER_SUMS
from frame_prc._request.thresholds import Bins

LIMITS = ("precision_low", "precision_high", "recall_low", "recall_high")

_MOST_POINTS = 20_000  # of all curves
_POINTS = (30, 300)  # of a curve
_MOST_THRESHOLD_ROWS = 24_000
_THRESHOLDS = (40, 200)

_POS, _HITS, _ALL = map(pl.col, ("pos", "hits", "positives_of_cluster"))
_SQUARED, _WITH_ALL, _ALL_SQUARED = map(pl.col, ("squared", "with_all", "all_squared"))


@dataclass(frozen=True)
class Lines:
    """The lines of pictures.

    ``parts`` are what was evaluated, each with the ``segment`` and the ``model`` of every ``line``:
    maybe all rows, which have no segment, and then the segments, of which those in ``shown`` have
    lines.
    """

    parts: list[tuple[EvaluatedSegments, pl.DataFrame]]
    shown: list[int]
    models: int

    def curves(self) -> pl.DataFrame:
        """Return the points of thinned curves."""
        most = self._share_of(_MOST_POINTS, _POINTS)
        columns = ("threshold", "recall", "precision", "precision_error")
        return self._joined(lambda found: found.curves(most), columns)

    def thresholds(self, best: Sequence[float], level: float) -> pl.DataFrame:
        """Return exact counts at the same thresholds in all lines, the best ones among them."""
        found, _ = self.parts[0]
        chosen = spread(found.finite_scores(), self._share_of(_MOST_THRESHOLD_ROWS, _THRESHOLDS))
        if not chosen:
            return pl.DataFrame()
        bins = Bins(sorted({*chosen, *best}), ascending=found.given.ascending)
        columns = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall", *LIMITS)
        points = self._joined(lambda found: _points_with_limits(found, bins, level), columns)
        return with_rates(points.filter(pl.col("threshold").is_finite()))

    def _share_of(self, rows: int, bounds: tuple[int, int]) -> int:
        """Return how many of some rows each line may have."""
        segments = len(self.shown) + len(self.parts) - 1
        lowest, highest = bounds
        return max(lowest, min(rows // max(segments * self.models, 1), highest))

    def _joined(
        self, points: Callable[[EvaluatedSegments], pl.DataFrame], columns: Sequence[str]
    ) -> pl.DataFrame:
        """Return the points of all lines."""
        tables = [left_join(points(found), lines, ["line"]) for found, lines in self.parts]
        joined = pl.concat(tables, how="diagonal")
        is_shown = pl.col("segment").is_null() | pl.col("segment").is_in(self.shown)
        number = pl.col("threshold").cast(pl.Float64)
        return joined.filter(is_shown).with_columns(number).select("model", "segment", *columns)


# --- intervals at thresholds ---------------------------------------------------------------------


def _points_with_limits(found: EvaluatedSegments, bins: Bins, level: float) -> pl.DataFrame:
    """Return the points at thresholds with their limits, which are null for sums of weights."""
    if found.given.columns.weighted:
        unknown = [pl.lit(None, pl.Float64).alias(name) for name in LIMITS]
        return found.at_thresholds(bins).with_columns(unknown)
    points = found.at_thresholds(bins, level)
    # Of the positives, those that are missed are what false positives are of the rows retrieved.
    sides, moments = points.with_columns(fp="fn"), None
    if found.cluster is not None:
        sides, moments = _with_sums(sides, found, bins), moments_of_clusters()
    limits = limits_of_share(pl.col("tp"), pl.col("fp"), level, moments)
    return points.hstack(sides.select(**{f"recall_{end}": one for end, one in limits.items()}))


def _with_sums(points: pl.DataFrame, found: EvaluatedSegments, bins: Bins) -> pl.DataFrame:
    """Add the sums over clusters of their hits and misses among the positives.

    With P positives in a cluster of which h are hits, h^2 and h * P grow at the thresholds that the
    cluster has positives at, and h * (P - h) and (P - h)^2 follow from their sums.
    """
    level = (pl.col("threshold").rank("dense") - 1).cast(pl.UInt32)
    added, totals = _growth(found, bins)
    numbered = left_join(points.with_columns(level=level), added, ["line", "level"])
    joined = left_join(numbered, totals, ["line"])
    running = [name.fill_null(0).cum_sum().over("line") for name in (_SQUARED, _WITH_ALL)]
    sums = (
        _SQUARED,
        _WITH_ALL - _SQUARED,
        _ALL_SQUARED - 2 * _WITH_ALL + _SQUARED,
    )
    named = [value.alias(name) for name, value in zip(CLUSTER_SUMS, sums, strict=True)]
    return joined.with_columns(running).with_columns(named)


def _growth(found: EvaluatedSegments, bins: Bins) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what each threshold of a line adds to the sums, and the sum of P^2 of each line."""
    keys = found.given.keys
    counted = count_bins(found.given, bins, clusters=True).frame
    # Rows in no bin have no level: no threshold retrieves them.
    placed = counted.filter(_POS > 0).collect().rename({"score": "level"})
    lines = left_join(placed, found.table.select("line", *keys), keys)
    cluster = ["line", "cluster"]
    in_order = lines.sort("level", descending=not bins.ascending, nulls_last=True)
    growing = in_order.with_columns(
        hits=_POS.cum_sum().over(cluster), positives_of_cluster=_POS.sum().over(cluster)
    )
    added = growing.group_by("line", "level").agg(
        squared=(_POS * (2 * _HITS - _POS)).sum(), with_all=(_POS * _ALL).sum()
    )
    each = growing.unique(cluster, keep="any")
    return added, each.group_by("line").agg(all_squared=(_ALL * _ALL).sum())
