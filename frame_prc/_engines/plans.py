"""The verbs inside an engine: counts and their running sums, then the formulas of Polars."""

from __future__ import annotations

from frame_prc._engines.areas import auc
from frame_prc._engines.average_precision import average_precision, averages
from frame_prc._engines.counts import counts
from frame_prc._engines.curve import curve
from frame_prc._engines.elsewhere import empty, rows_elsewhere
from frame_prc._engines.estimates import in_polars
from frame_prc._engines.merged_counts import merge_counts
from frame_prc._engines.operating_points import operating_points

__all__ = [
    "auc",
    "average_precision",
    "averages",
    "counts",
    "curve",
    "empty",
    "in_polars",
    "merge_counts",
    "operating_points",
    "rows_elsewhere",
]
