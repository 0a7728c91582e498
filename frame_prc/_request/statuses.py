"""What a status says of the number beside it: the one list of all, by name."""

from __future__ import annotations

# The conclusions of a watch, and of a comparison with a margin.
OF_WATCH = ("alarm", "quiet", "reference")
OF_MARGIN = ("better", "not worse", "worse", "undecided")

STATUSES = {
    "ok": "the number is defined and, where an interval or a test was asked for, can be trusted",
    "empty": "the segment has no rows",
    "no_positives": "there are no positives, so the area is null",
    "no_negatives": "there are no negatives, so any ranking has an area of 1",
    "no_other": "there is nothing to compare with: no other segment, no earlier period",
    "few_positives": (
        "fewer than 20 effective positives, in a `band` also fewer than 4 beyond the recall: the "
        "interval may cover less. Of `monitor`: too few for a period alone to be an alarm"
    ),
    "few_clusters": (
        "fewer than 20 effective clusters that hold positives, in `heterogeneity` 6 for each "
        "segment: the interval may cover less, the test reject more"
    ),
    "few_negatives": (
        "fewer than 20 negatives, or effective clusters that hold some, or too few for what they "
        "stand for (large weights, a reference prevalence far below the own, negatives in clusters "
        "beside positives that stand alone): the area is too high, its interval too narrow"
    ),
    "few_rows": (
        "fewer than 20 rows, or effective clusters, that the measure rests on; where the rows "
        "choose the threshold, 30 that choose it, 5 of them beyond it, or a tie in which it jumps: "
        "then hold one; of two models at a threshold, those that they decide differently"
    ),
    "few_scores": "the model has no more than two scores: pass those that predictions came from",
    "few_segments": "too few segments have an area for an interval of their mean, or for a test",
    "below_chance": (
        "the interval lies below a random order; if a lower score means more likely positive, pass "
        "`ascending=True`"
    ),
    "no_std_error": (
        "the rows do not tell a standard error: sums of weights without squares, clusters, "
        "segments, replicates or models that are all alike, a mean with a single positive"
    ),
    "undefined": "what the measure divides by is 0: no row reaches the threshold, say",
    "no_threshold": "the threshold that was given for this segment is null, or there is none",
    "no_period": "the key of the periods is null",
    "no_reference": "fewer than two of the first periods have a value, or none a standard error",
    "plan_ended": "the period comes after the last look of the plan",
    "not_met": "no threshold meets the target",
    "no_guarantee": "too few rows, or scores too weak, to meet the target with the `guarantee=`",
}
