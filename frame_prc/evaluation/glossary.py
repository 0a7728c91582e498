"""What documentation says once: of roles, of options that verbs share, and of columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter, cleandoc, signature
from textwrap import fill
from typing import Any, TypedDict

from frame_prc._request.roles import request
from frame_prc._request.specs import IntoColumn, IntoKeys, Missing


class Roles(TypedDict, total=False):
    """The columns of an evaluation by role, beside truth and score, and how to read them."""

    by: IntoKeys | None
    weight: IntoColumn | None
    cluster: IntoColumn | None
    strata: IntoColumn | None
    row: IntoColumn | None
    model: IntoColumn | None
    pos_label: object
    missing: Missing
    ascending: bool
    pos: IntoColumn | None
    neg: IntoColumn | None
    pos_squares: IntoColumn | None
    neg_squares: IntoColumn | None


FRAME = """\
frame
    Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame, DuckDB relation, PySpark
    ``DataFrame`` or Ibis table: one row per item. A label of pandas that is not a string, such as
    1, names its column; in other parameters, such as ``over``, it is ``str(label)``.
"""

TEXTS = """\
truth
    Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
score
    Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
    columns, or ``{name: column}``, to evaluate several models; results then begin with a key column
    ``model``. Scores of several dtypes become Float64; it is an error if that rounds one.
by
    Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows are
    one segment. A list of lists, such as ``[["region"], ["region", "device"], []]``, makes several
    groupings in one result: a first column ``grouping`` names the keys of each row.
weight
    Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if another
    of their values is missing. Others must be at least 1e-70, and their sum below 1e70.
cluster
    Column that names groups of rows that are not independent (same user, same day). Intervals and
    tests take the groups as independent. For single rows only.
strata
    Column that names the strata that rows, or whole clusters, were sampled from, with their
    ``weight``, as :func:`sample_to_label` returns it. Intervals and tests of measures then rest on
    how rows differ within a stratum, which is less. A stratum lies within one segment, with all
    rows that were sampled; one alone counts as it is. Resampling, curves and operating points have
    no such interval.
row
    Column that identifies an item within a segment, to match the rows of models in long data when
    they are compared. A model has one row of each item; ``missing="drop"`` leaves an item that
    lacks one out for all models, and ``"unretrieved"`` takes it as never retrieved by that model.
model
    Column that names the model of each row, for long data with a row per item and model; ``score``
    is then one column.
pos_label
    The value of ``truth`` that is the positive class; it must occur. All others are negative.
missing
    What to do with null, and NaN in truth or score. ``"raise"``: an error that counts them.
    ``"drop"``: leave such rows out, for all models of a list; ``n_dropped`` counts them.
    ``"unretrieved"``: no threshold retrieves a row without a score; a missing truth still raises.
ascending
    ``True`` if a lower score means more likely positive, as for distances and ranks. A row is then
    predicted positive if ``score <= threshold``, and thresholds ascend along a curve. Where help
    speaks of the highest score or threshold, the lowest is meant.
pos, neg
    Columns with the number of positives and of negatives in each row, instead of ``truth``.
    Integers, and decimals of scale 0, are counts of rows; floats are sums of weights.
pos_squares, neg_squares
    Columns with the sums of squared weights that belong to ``pos`` and ``neg``. An interval needs
    them if ``pos`` and ``neg`` are sums of weights; ``counts(..., squares=True)`` returns them.
"""

# Options that mean the same in several verbs.
OPTIONS = """\
at
    Where such a measure is taken, as in :func:`compare_models`.
baseline
    A model that each other one is compared with, instead of each with the earlier ones.
calibrate
    The prevalence for ``measure="calibrated_average_precision"``, as in
    :func:`compare_models`.
ci
    The level of the intervals. In a table ``None`` hides them.
dark
    Draw light marks on a dark background.
details
    Add the columns that are named so below.
size
    The size of a panel in pixels: ``(width, height)``, or one number for a square.
thresholds
    Bin the scores, as in :func:`average_precision`.
title
    Title above the chart.
"""
NAMES = ("truth", "score", *Roles.__annotations__)
_HEADING = "Parameters\n----------\n"
SECTION = _HEADING + TEXTS
_FRAME_NAMED = "frame\n    One row per item: any frame that :func:`evaluate` takes.\n"
_ROLES_NAMED = (
    f"{', '.join(NAMES)}\n"
    "    Its columns by role, as :func:`evaluate` describes them and the errors they raise.\n"
)


def _parameters() -> list[Parameter]:
    given = signature(request).parameters
    return [given[name] for name in NAMES]


# The parameters of the roles, in order, with their defaults.
PARAMETERS = _parameters()


def with_roles(doc: str | None, leading: int | None = None) -> str:
    """Return a docstring with the frame and the roles before the parameters that it describes.

    The first of these, ``leading`` in number, stand between the frame and the roles, which are then
    only named: :func:`evaluate` describes them.
    """
    head, section, tail = cleandoc(doc or "").partition(_HEADING)
    entries = _entries(tail)
    first, others = "".join(entries[: leading or 0]), "".join(entries[leading or 0 :])
    frame, roles = (FRAME, TEXTS) if leading is None else (_FRAME_NAMED, _ROLES_NAMED)
    return f"{head}{section}{frame}{first}{roles}{others}"


def with_options(function: Callable[..., Any]) -> str:
    """Return the docstring of a function, with the options that it shares in their places."""
    head, section, tail = cleandoc(function.__doc__ or "").partition(_HEADING)
    own, *others = re.split(r"(?=\n\n\w+\n---)", tail)
    texts = {
        name: entry.rstrip()
        for entry in (*_entries(OPTIONS), *_entries(own))
        for name in entry.partition("\n")[0].split(", ")
    }
    described = dict.fromkeys(texts[n] for n in signature(function).parameters if n in texts)
    if described and not section:
        section = _HEADING
    return "".join([head, section, "\n".join(described), *others])


def _entries(section: str) -> list[str]:
    return re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]


# --- the columns of results ---------------------------------------------------------------------

COLUMNS = {
    "level": '``"segment"``, ``"pooled"``, or ``"macro"``, the mean of the segments',
    "n, n_pos": "rows and positive rows; with weights, their sums",
    "prevalence": "``n_pos / n``",
    "n_segments": "how many segments have the measure",
    "n_unlabelled": "rows without a label",
    "proxy_weight": "the part that the judge's labels have, from 0 to 1",
    "effective_labels": "how many labels would tell as much without the judge",
    "n_undefined": "how many do not, and are left out",
    "n_dropped": 'rows that ``missing="drop"`` left out; only with it',
    "status": '``"ok"``, or why not to rely on the number',
    # Areas.
    "method": "the method of the area",
    "auc": "the area",
    "average_precision": "the area of the steps of the curve, from 0 to 1",
    "ci_low, ci_high": "the interval",
    "std_error": "its standard error",
    "n_effective": "the positives, or clusters with some, that it effectively rests on",
    "ap_lowest, ap_highest": "its bounds for any order within ties or bins",
    "reference_prevalence": "the prevalence that areas or decisions are calibrated to",
    "calibrated_average_precision": "the average precision of the same ranking at "
    "``reference_prevalence`` (Siblini et al. 2020, arXiv 1909.02827)",
    "calibrated_average_precision_low, calibrated_average_precision_high, "
    "calibrated_average_precision_std_error": "its interval and standard error",
    "random_average_precision": "that of a random ranking with the same ties (Bestgen 2015); "
    "with weights, the prevalence",
    # The scorecard.
    "lift": "``average_precision / random_average_precision``; 1 is random",
    "chance_corrected_average_precision": "``(area - random) / (1 - random)``; 1 is perfect",
    "normalised_average_precision": "``(area - worst) / (1 - worst)``: 0 is the worst ranking, 1 "
    "a perfect one (Boyd et al. 2012, arXiv 1206.4667)",
    "interpolated, gain": "the areas by these methods of :func:`auc`",
    "normalised_interpolated": "``interpolated``, likewise",
    "best_f1, best_f1_threshold": "the largest F1, and the highest threshold that reaches it",
    "roc_auc": "the area under the ROC curve, ties as one half (variance of DeLong et al. 1988)",
    "roc_auc_low, roc_auc_high, roc_auc_std_error": "its interval and standard error",
    "brier": "the mean squared difference of score and truth; of probabilities",
    "log_loss": "the logarithmic loss, clipped as by scikit-learn; of probabilities",
    "mean_score": "the mean score; of probabilities",
    "calibration_gap": "the mean score less the share of positives; of probabilities",
    "observed_expected": "the share of positives over the mean score; of probabilities",
    "brier_skill": "``1 - brier / (p (1 - p))`` with the share of positives p; of probabilities",
    "partial_roc_auc": "its part up to a false positive rate, from 0.5 at random to 1 (McClish "
    "1989)",
    "calibration_error": "the mean of ``|mean_score - observed|`` over the bins, weighted by ``n``",
    "calibration_error_by_chance": "what calibrated scores would have on average",
    "shrunk": "what the value probably is, given the other segments",
    "shrunk_low, shrunk_high": "its interval",
    # Curves, points and bins.
    "at_recall": "the recall of the grid",
    "target": 'what the point is chosen by, such as ``"recall=0.9"``',
    "threshold": "the score from which on a row is predicted positive",
    "below": "where the bin of ``threshold`` ends; not part of it",
    "above": "with ``ascending``, in place of ``below``: where the bin begins",
    "tp, fp, fn, tn": "the confusion counts, or sums of weights",
    "pos, neg": "positives and negatives with this score, or in this bin",
    "pos_squares, neg_squares": "the sums of their squared weights",
    "precision": "``tp / (tp + fp)``, null if no row is retrieved",
    "recall": "``tp / (tp + fn)``, null without positives",
    "precision_low, precision_high": "the interval of ``precision``",
    "precision_calibrated_low, precision_calibrated_high": "that of ``precision_calibrated``",
    "recall_low, recall_high": "the interval of ``recall``",
    "precision_calibrated": "the precision at the prevalence of ``calibrate``",
    "precision_error": "how far the points that are kept are off at most",
    "envelope": "the largest precision at this recall or a higher one",
    "precision_gain, recall_gain": "1 is perfect, 0 calling every row positive (Flach & Kull 2015)",
    "predicted_count": "``tp + fp``",
    "predicted_rate": "``predicted_count / n``",
    "alerts_per_1000": "rows predicted positive of 1,000, by weight",
    "fpr": "``fp / (fp + tn)``, null without negatives",
    "specificity": "``tn / (fp + tn)``, null without negatives",
    "f_score": "F1, or the F-beta asked for; null without positives",
    "f1": "the harmonic mean of precision and recall",
    "accuracy": "the share of rows that are predicted right",
    "balanced_accuracy": "the mean of recall and specificity",
    "mcc": "Matthews' correlation coefficient",
    "net_benefit": "the share of true alerts less that of false ones times the odds of the "
    "threshold (Vickers & Elkin 2006)",
    "precision_lift": "``precision`` over the share of positives",
    "expected_cost": "the cost per row",
    "criterion": 'its name; of several at once ``"joint"``',
    "target_value": "its number; of a cost, the first as a share of both",
    "bin_low": "the lower edge of the bin, which belongs to it",
    "bin_high": "its upper edge",
    "observed": "the share of positives in the bin",
    "observed_low, observed_high": "its interval",
    # Comparisons.
    "model, baseline": "the model, and the one that it is compared with",
    "reference": "what it is compared with",
    "measure": "the measure",
    "value": "the measure of the segment",
    "difference": "the measure less that of the baseline or reference: of a loss, better below 0",
    "ratio": "the measure over that of the baseline or reference",
    "value_a, value_b": "the measure of either side",
    "prevalence_a, prevalence_b": "the prevalence of either side",
    "p_value": "of a two-sided test; one-sided against chance",
    "p_adjusted": "the p-value corrected for multiple testing",
    "ci_low_adjusted, ci_high_adjusted": "the interval that agrees with ``p_adjusted``",
    "conclusion": "what follows, in a word",
    "p_margin": "the one-sided p-value of a loss larger than ``margin``",
    # Heterogeneity.
    "best_KEY, worst_KEY": "the best and worst segment; of those not in ``n_few``, if two are not",
    "best_value, worst_value": "their values",
    "gap": "``best_value - worst_value``",
    "gap_if_equal": "the gap to expect if all segments are equal",
    "gap_p_value": "the probability of at least this gap then; by permutation only",
    "n_left_out": "segments without a standard error",
    "n_few": "segments whose own status is not ``ok``",
    "q": "Cochran's Q",
    "i_squared": "the share of the variation that is not sampling, from 0 to 1",
    "tau": "the standard deviation of true values (DerSimonian & Laird 1986)",
    "tau_low, tau_high": "its interval, the Q-profile (Viechtbauer 2007)",
    "test": '``"permutation"``, ``"q"``, or ``"f"``: the F test, for clusters across segments',
    # Single segments, and how many rows tell.
    "probability_worst": "how likely the segment is the worst",
    "probability_below": "how likely it is below ``below``",
    "share_of_mean": "how much of ``shrunk`` is the mean of all, from 0 to 1",
    "rank_low, rank_high": "an interval of the rank from the best",
    "n_counted": "how many rows of that class there are, effectively; null of a precision",
    "n_needed": "how many rows it takes; for a ``guarantee``, of the class it counts",
    "n_pos_needed": "the positives among them",
    "row": "its place among the rows of the evaluation, from 0",
    # Finds and looks.
    "segment": "the segment that was found",
    "others": "the mean of the other segments",
    "n_looked_at": "how many segments were looked at",
    "limit": "beyond it the period would give an alarm by itself",
    "since": "of an alarm, the period from which on those up to it differ most",
    "n_periods": "over how many periods the largest difference is",
    "z": "that difference in standard deviations",
    "delay": "the median number of looks that find a fall of 0.05, if most do",
    "dispersion": "the variance of periods over that by chance",
    "logit, variance, degrees, bound, error, plan": "what ``state`` needs",
    # Lines and classes.
    "label": "the class",
    "truth": "whether the row is of the class",
    "score": "its score for the class",
}  # fmt: skip

_RETURNS = re.compile(r"(\nReturns\n-------\n.*?)(?=\n\n\w+\n---|\Z)", re.DOTALL)


# What help has said of an option, or a name says, before it explains the columns.
_TOLD = (
    *("ci_low, ci_high", "precision_low, precision_high", "recall_low, recall_high"),
    *("shrunk_low, shrunk_high", "n_dropped", "p_adjusted", "conclusion"),
    "calibrated_average_precision_low, calibrated_average_precision_high, "
    "calibrated_average_precision_std_error",
    "roc_auc_low, roc_auc_high, roc_auc_std_error",
    *("model, baseline", "reference", "difference", "ratio", "value_a, value_b"),
    *("prevalence_a, prevalence_b", "p_value", "std_error", "status"),
    *("n_counted", "n_needed", "reference_prevalence", "prevalence", "tp, fp, fn, tn"),
    *("criterion", "target_value", "expected_cost", "n_undefined"),
    *("n, n_pos", "method", "auc", "measure", "best_value, worst_value", "interpolated, gain"),
)
_EXPLAINED = {name: names for names in COLUMNS if names not in _TOLD for name in names.split(", ")}


def returned(doc: str) -> list[str]:
    """Return what to explain of the columns that the section Returns names, in its order."""
    section = " ".join("".join(_RETURNS.findall(doc)).split())
    words = [word for code in re.findall(r"``([^`]+)``", section) for word in code.split(", ")]
    return [*dict.fromkeys(_EXPLAINED[word] for word in words if word in _EXPLAINED)]


def with_columns(doc: str) -> str:
    """Return a docstring that explains the columns which its section Returns names."""
    lines = [_explained(names) for names in returned(doc)]
    explained = "\n\n" + "\n".join(lines) if lines else ""
    return _RETURNS.sub(lambda found: found[1].rstrip() + explained, doc)


@cache
def _explained(names: str) -> str:
    item = f"``{names}``: {COLUMNS[names]}."
    return fill(item, 96, initial_indent="    - ", subsequent_indent=" " * 6)
