"""The intervals of precision and recall at the thresholds of a report.

They are those of ``operating_points(threshold=..., ci=...)``: Wilson's, with clusters for the
effective number of rows. All thresholds of a segment come from one pass over its counts.
"""

from __future__ import annotations

import polars as pl

from frame_prc._charts.data import EvaluatedSegments
from frame_prc._curves.curve import wilson
from frame_prc._curves.effective_rows import effective_share
from frame_prc._formulas import normal_quantile
from frame_prc._lazy import left_join
from frame_prc._ranking.bins import count_bins
from frame_prc._ranking.cluster_sums import CLUSTER_SUMS
from frame_prc._request.thresholds import Bins

LIMITS = ("precision_low", "precision_high", "recall_low", "recall_high")

_POS, _HITS, _ALL = map(pl.col, ("pos", "hits", "positives_of_cluster"))
_SQUARED, _WITH_ALL, _ALL_SQUARED = map(pl.col, ("squared", "with_all", "all_squared"))


def points_with_limits(found: EvaluatedSegments, bins: Bins, level: float) -> pl.DataFrame:
    """Return the points at thresholds with their limits, which are null for sums of weights."""
    if found.given.columns.weighted:
        unknown = [pl.lit(None, pl.Float64).alias(name) for name in LIMITS]
        return found.at_thresholds(bins).with_columns(unknown)
    z = normal_quantile(level)
    points = found.at_thresholds(bins, z)
    # Of the positives, those that are missed are what false positives are of the rows retrieved.
    sides = points.with_columns(fp="fn", share=pl.lit(1.0))
    if found.cluster is not None:
        sides = _with_sums(sides, found, bins).with_columns(share=effective_share(z))
    limits = [limit.alias(f"recall_{end}") for end, limit in wilson(z).items()]
    return points.hstack(sides.select(limits))


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
