"""The one-liners: each method of an evaluation as a function of the frame and its roles.

Their types are in ``verbs.pyi``, which ``.ci/stubs`` writes from the methods.
"""

from frame_prc._request.specs import Draws, Top
from frame_prc.evaluation.evaluation import Evaluation, evaluate
from frame_prc.evaluation.forward import forward
from frame_prc.evaluation.helpers import (
    average_precision_expr,
    iso_f1,
    merge_counts,
    one_vs_rest,
    plot_table,
    quantile_thresholds,
    sample_to_label,
)

auc = forward(Evaluation.auc)
average = forward(Evaluation.average)
average_precision = forward(Evaluation.average_precision)
band = forward(Evaluation.band)
compare_models = forward(Evaluation.compare_models)
compare_segments = forward(Evaluation.compare_segments)
counts = forward(Evaluation.counts)
curve = forward(Evaluation.curve)
find_segments = forward(Evaluation.find_segments)
heterogeneity = forward(Evaluation.heterogeneity)
influence = forward(Evaluation.influence)
monitor = forward(Evaluation.monitor)
operating_points = forward(Evaluation.operating_points)
plot = forward(Evaluation.plot)
plot_scores = forward(Evaluation.plot_scores)
plot_summary = forward(Evaluation.plot_summary)
prediction_powered = forward(Evaluation.prediction_powered)
reliability = forward(Evaluation.reliability)
report = forward(Evaluation.report)
sample_size = forward(Evaluation.sample_size)
shrunk = forward(Evaluation.shrunk)
summary = forward(Evaluation.summary)
summary_to_matplotlib = forward(Evaluation.summary_to_matplotlib)
threshold_table = forward(Evaluation.threshold_table)
to_matplotlib = forward(Evaluation.to_matplotlib)
write_ggplot = forward(Evaluation.write_ggplot)

__all__ = [
    "Draws",
    "Evaluation",
    "Top",
    "auc",
    "average",
    "average_precision",
    "average_precision_expr",
    "band",
    "compare_models",
    "compare_segments",
    "counts",
    "curve",
    "evaluate",
    "find_segments",
    "heterogeneity",
    "influence",
    "iso_f1",
    "merge_counts",
    "monitor",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_scores",
    "plot_summary",
    "plot_table",
    "prediction_powered",
    "quantile_thresholds",
    "reliability",
    "report",
    "sample_size",
    "sample_to_label",
    "shrunk",
    "summary",
    "summary_to_matplotlib",
    "threshold_table",
    "to_matplotlib",
    "write_ggplot",
]
