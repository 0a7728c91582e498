"""What can be asked of the verbs: their options, and a frozen class for what belongs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final, Literal, TypeAlias, get_args

import polars as pl

# --- roles -------------------------------------------------------------------------------------

IntoColumn: TypeAlias = str | pl.Expr
IntoKeys: TypeAlias = IntoColumn | Sequence[IntoColumn | Sequence[IntoColumn]]
IntoScores: TypeAlias = IntoColumn | Sequence[IntoColumn] | Mapping[str, IntoColumn]
Missing: TypeAlias = Literal["raise", "drop", "unretrieved"]

MODEL = "model"  # the key of several models
GROUPING = "grouping"  # the column that names the keys of a row, if there are several groupings

# --- curves ------------------------------------------------------------------------------------

Start: TypeAlias = Literal["one", "first"] | None
PictureForR: TypeAlias = Literal[
    "curve", "summary", "comparison", "reliability", "scores", "thresholds"
]
ChartX: TypeAlias = Literal["recall", "threshold"]
STARTS: tuple[Start, ...] = ("one", "first", None)
Keep: TypeAlias = Literal["all", "corners"] | int
LEAST_POINTS = 5  # that a thinned curve keeps
Criterion: TypeAlias = Literal[
    "recall",
    "precision",
    "threshold",
    "f_beta",
    "predicted_rate",
    "predicted_count",
    "fpr",
    "cost",
]


@dataclass(frozen=True)
class Target:
    """What is asked of an operating point, such as a recall of at least 0.9.

    ``costs`` are those of a false positive and of a false negative, ``guarantee`` the probability
    that new rows meet the target too, ``all_of`` the targets that a ``"joint"`` point meets, and
    ``table`` the thresholds of segments.
    """

    criterion: Criterion | Literal["joint"]
    value: float
    costs: tuple[float, float] | None = None
    guarantee: float | None = None
    ties: Ties = "whole"
    all_of: tuple[Target, ...] = ()
    table: pl.LazyFrame | None = field(default=None, compare=False)

    @property
    def own_value(self) -> float | None:
        return None if self.all_of else self.value

    @property
    def text(self) -> str:
        if self.all_of:
            return ", ".join(target.text for target in self.all_of)
        if self.table is not None:
            return "thresholds of segments"
        value = f"{self.value:.15g}"
        if self.costs is not None:
            value = "({:.15g}, {:.15g})".format(*self.costs)
        if self.ties == "expected":
            value = f"Top({value}, ties='expected')"
        return f"{self.criterion}={value}"


# --- areas -------------------------------------------------------------------------------------

Method: TypeAlias = Literal[
    "step", "trapezoid", "interpolated", "envelope", "11-point", "101-point", "gain", "roc"
]
METHODS: tuple[Method, ...] = get_args(Method)
PARTIAL_METHODS: tuple[Method, ...] = ("step", "trapezoid", "interpolated", "envelope")
Normaliser: TypeAlias = Literal["positives", "attainable"]
Ties: TypeAlias = Literal["whole", "expected"]
How: TypeAlias = Literal["mean", "weighted", "rows", "micro"]


@dataclass(frozen=True)
class Top:
    """At most so many rows: the area over them, for ``top=``, or a point, for ``predicted_count=``.

    A number alone, such as ``top=100``, means ``Top(100)``.

    Parameters
    ----------
    count
        How many rows; with weights it is a sum of weights. Rows of equal score are retrieved
        together.
    normaliser
        What an area is divided by: ``"positives"``, all of them, as in trec_eval's ``map_cut``, or
        ``"attainable"``, as many of them as fit, so that a perfect ranking has 1.
    ties
        What becomes of a tie that does not fit: ``"whole"``, none of its rows is retrieved, or
        ``"expected"``, as many as fit, at random (McSherry & Najork 2008): the area, or precision,
        recall and the counts of a point, as Float64, are means over the choices. Not with weights,
        ``calibrate`` or the interval of a point.

    Examples
    --------
    >>> import frame_prc
    >>> frame_prc.Top(100, normaliser="attainable")
    Top(count=100, normaliser='attainable', ties='whole')
    """

    count: float
    normaliser: Normaliser = "positives"
    ties: Ties = "whole"


@dataclass(frozen=True)
class Calibration:
    """The prevalence at which areas are computed; without fields, that of all rows of a model.

    ``odds`` are those of a negative: from a prevalence close to 1 they would lose digits. With
    ``highest`` it is that of the segment where positives are most frequent, and at most 0.5.
    ``table`` has the reference of each model, ``given`` is a frame of the caller, by segment.
    """

    prevalence: float | None = None
    odds: float | None = None
    highest: bool = False
    table: pl.LazyFrame | None = None
    given: pl.LazyFrame | None = None

    @classmethod
    def at(cls, prevalence: float) -> Calibration:
        return cls(prevalence, (1 - prevalence) / prevalence)


# --- intervals and comparisons -----------------------------------------------------------------

CiMethod: TypeAlias = Literal["influence", "boyd"]
CI_METHODS: tuple[CiMethod, ...] = get_args(CiMethod)
SegmentsAre: TypeAlias = Literal["fixed", "sampled"]
Adjust: TypeAlias = Literal["holm", "bh", "max"]
Scale: TypeAlias = Literal["difference", "ratio"]
Strategy: TypeAlias = Literal["uniform", "quantile"]
OverLooks: TypeAlias = Literal["lond"]
NamedAgainst: TypeAlias = Literal["others", "rest", "overall", "previous", "random"]
Against: TypeAlias = NamedAgainst | Mapping[str, object]
MeasureName: TypeAlias = Literal[
    "average_precision",
    "calibrated_average_precision",
    "roc_auc",
    "partial_roc_auc",
    "mean_score",
    "calibration_gap",
    "observed_expected",
    "brier",
    "brier_skill",
    "log_loss",
    "precision",
    "recall",
    "fpr",
    "specificity",
    "f1",
    "accuracy",
    "balanced_accuracy",
    "mcc",
    "net_benefit",
    "precision_lift",
]
# Those of the precision-recall curve.
OF_CURVE = ("average_precision", "calibrated_average_precision")
# Those that segments can be compared by in a permutation test.
PERMUTED = (*OF_CURVE, "roc_auc")
# Those of which neither a higher value nor a lower one is better.
NEITHER_BETTER = ("mean_score", "calibration_gap", "observed_expected")
# Those whose values may be negative, or begin above 0, so that a ratio of two says nothing.
WITHOUT_RATIO = ("partial_roc_auc", "calibration_gap", "brier_skill", "mcc", "net_benefit")
# Those that may differ by 1 or more.
BEYOND_1 = ("brier_skill", "log_loss", "mcc", "net_benefit", "precision_lift")
# Those that need scores that are probabilities of the positive class.
OF_PROBABILITIES = (
    "mean_score", "calibration_gap", "observed_expected", "brier", "brier_skill", "log_loss",
)  # fmt: skip
# Those of the counts at a threshold.
AT_THRESHOLD: tuple[MeasureName, ...] = (
    "precision", "recall", "fpr", "specificity", "f1", "accuracy", "balanced_accuracy", "mcc",
    "net_benefit", "precision_lift",
)  # fmt: skip
PARTIAL_ROC_AUC: Final = "partial_roc_auc"
# What ``at`` holds for a measure, the first that is given: the threshold, or what chooses it.
POINTS: tuple[Criterion, ...] = (
    "threshold", "recall", "predicted_rate", "predicted_count", "fpr",
)  # fmt: skip
HELD: dict[MeasureName, tuple[Criterion, ...]] = {
    **dict.fromkeys(AT_THRESHOLD, POINTS),
    # Elsewhere they are what they are held to.
    "recall": tuple(key for key in POINTS if key != "recall"),
    **dict.fromkeys(("fpr", "specificity"), POINTS[:-1]),
    "balanced_accuracy": tuple(key for key in POINTS if key not in ("recall", "fpr")),
    "net_benefit": ("threshold",),
    PARTIAL_ROC_AUC: ("fpr",),
}
SegmentsTest: TypeAlias = Literal["permutation", "q"]
SegmentsTestUsed: TypeAlias = SegmentsTest | Literal["f"]
SEGMENTS_TESTS: tuple[SegmentsTest, ...] = get_args(SegmentsTest)


@dataclass(frozen=True)
class Draws:
    """How random samples are drawn, for ``bootstrap=`` and ``permutations=``.

    A number alone, such as ``bootstrap=500``, means ``Draws(500)``.

    Parameters
    ----------
    replicates
        How many are drawn, up to 1,000,000. An interval of few is wide, of a single one null, and
        no p-value is below ``1 / (1 + replicates)``.
    seed
        The same integer gives the same result for any kind of frame, any order of the rows, and any
        other segments. ``None`` draws anew each time.
    stratified
        Of a bootstrap: resample positives and negatives separately, each to its original number, as
        if the class sizes had been fixed in advance. Otherwise rows are resampled regardless of
        class, and the prevalence varies between replicates. Not with ``cluster``.

    Examples
    --------
    >>> import frame_prc
    >>> frame_prc.Draws(2000, seed=1)
    Draws(replicates=2000, seed=1, stratified=False)
    """

    replicates: int = 1000
    seed: int | None = 0
    stratified: bool = False


@dataclass(frozen=True)
class Interval:
    """An interval asked for: its level, such as 0.95, and its method, or how it is resampled."""

    level: float
    method: CiMethod = "influence"
    resampling: Draws | None = None

    @property
    def tail(self) -> float:
        return (1 - self.level) / 2


@dataclass(frozen=True)
class Measured:
    """A measure by its name; a calibrated one has a prevalence, others are at a point."""

    name: MeasureName = "average_precision"
    calibration: Calibration | None = None
    at: Target | None = None

    @property
    def is_usual(self) -> bool:
        """Whether it is the average precision; a table of another measure names it."""
        return self.name in ("average_precision", "calibrated_average_precision")


@dataclass(frozen=True)
class Comparison:
    """What is compared: pairs of models by their places, or each segment ``against`` others.

    A loss of up to the ``margin`` does not matter. ``beside`` are more measures, each with own
    rows.
    """

    level: float
    pairs: tuple[tuple[int, int], ...]
    against: Against | None
    adjust: Adjust | None
    measured: Measured = Measured()
    margin: float | None = None
    scale: Scale = "difference"
    beside: tuple[Measured, ...] = ()

    @property
    def each(self) -> tuple[Comparison, ...]:
        return tuple(
            replace(self, measured=one, beside=()) for one in (self.measured, *self.beside)
        )


def pairs_of(models: Sequence[str], baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Return which models to compare, by their places: each with each earlier, or the baseline."""
    if baseline is None:
        return tuple((new, old) for old, new in combinations(range(len(models)), 2))
    base = models.index(baseline)
    return tuple((place, base) for place in range(len(models)) if place != base)


# --- statuses ----------------------------------------------------------------------------------

# The conclusions of a watch, and of a comparison with a margin.
OF_WATCH = ("alarm", "quiet", "undecided", "reference")
OF_MARGIN = ("better", "not worse", "worse", "undecided")

STATUSES = {
    "ok": "the number is defined and, where an interval or a test was asked for, can be trusted",
    "empty": "the segment has no rows",
    "no_positives": "there are no positives, so the area is null",
    "no_negatives": (
        "there are no negatives, so any ranking has an area of 1. Of a mean: in more than a tenth "
        "of its segments"
    ),
    "no_other": "there is nothing to compare with: no other segment, no earlier period",
    "few_positives": (
        "fewer than 20 effective positives, or few heavy ones, in a `band` also fewer than 4 "
        "beyond the recall: the interval may cover less. Of `monitor`: too few for a period alone "
        "to be an alarm"
    ),
    "few_clusters": (
        "fewer than 20 effective clusters that hold positives, in `heterogeneity` 6 for each "
        "segment: the interval may cover less, the test reject more"
    ),
    "few_negatives": (
        "fewer than 20 negatives, or effective clusters that hold some, or each stands for many "
        "(large weights, also of few, a reference prevalence far below the own): the area is too "
        "high, its interval too narrow, and a period no part of a watch. Of a comparison with "
        "others: here, or in some that move their mean too much"
    ),
    "few_rows": (
        "fewer than 20 rows, or effective clusters, that the measure rests on; of losses, few that "
        "decide; of a threshold that the rows choose, fewer than 30 that choose it or 5 beyond it, "
        "or a tie in which it jumps: then hold one; of two models there, few that they decide "
        "differently"
    ),
    "few_scores": (
        "the model has no more than two scores, so it ranks nothing: pass those that predictions "
        "came from. Said with an interval, a test or a plan"
    ),
    "few_segments": "too few segments have an area for an interval of their mean, or for a test",
    "below_chance": (
        "the interval lies below a random order; if a lower score means more likely positive, pass "
        "`ascending=True`"
    ),
    "no_std_error": (
        "the rows do not tell a standard error: sums of weights without squares, clusters, "
        "segments, replicates or models that are all alike, a mean with a single positive"
    ),
    "undefined": (
        "the measure divides by 0: no row reaches the threshold, say; of a mean, in over 5 % of "
        "the segments"
    ),
    "no_threshold": "the threshold that was given for this segment is null, or there is none",
    "no_period": "the key of the periods is null",
    "no_reference": "fewer than two of the first periods have a value, or none a standard error",
    "plan_ended": "the period comes after the last look of the plan",
    "not_met": "no threshold meets the target",
    "missed": (
        "a threshold chosen on other rows misses its target here, maybe by chance: see its interval"
    ),
    "no_guarantee": "too few rows, or scores too weak, to meet the target with the `guarantee=`",
}
