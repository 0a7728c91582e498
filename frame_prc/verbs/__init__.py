"""The verbs by family: signature, documentation, and the request that is handed on."""

from frame_prc.verbs.areas import auc
from frame_prc.verbs.average_precisions import average_precision, average_precision_expr
from frame_prc.verbs.comparisons import compare, heterogeneity
from frame_prc.verbs.counting import counts, merge_counts, one_vs_rest, quantile_thresholds
from frame_prc.verbs.curves import band, curve, iso_f1
from frame_prc.verbs.decisions import operating_points
from frame_prc.verbs.for_r import write_ggplot
from frame_prc.verbs.pictures import plot, plot_summary
from frame_prc.verbs.reports import report
from frame_prc.verbs.tables import summary

__all__ = [
    "auc",
    "average_precision",
    "average_precision_expr",
    "band",
    "compare",
    "counts",
    "curve",
    "heterogeneity",
    "iso_f1",
    "merge_counts",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_summary",
    "quantile_thresholds",
    "report",
    "summary",
    "write_ggplot",
]
