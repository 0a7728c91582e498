"""What a status says of the number beside it: the one list of all, by name."""

from __future__ import annotations

# The conclusions of a watch, and of a comparison with a margin.
OF_WATCH = ("alarm", "quiet", "reference")
OF_MARGIN = ("better", "not worse", "worse", "undecided")

STATUSES = {
    "ok": "the number is defined and, where an interval or a test was asked for, can be trusted",
    "empty": "the segment has no rows",
    "no_positives": "there are no positive rows, so the area is null",
    "no_negatives": (
        "there are no negative rows, so any ranking has an area of 1 (or the share of positives "
        "that are retrieved)"
    ),
    "no_other": "there is nothing to compare with but itself: no other segment, no earlier period",
    "few_positives": (
        "fewer than 20 positives (with weights, effective ones), in a `band` also fewer than 4 "
        "beyond the recall: the interval may cover less than its level. Of `monitor`: too few for "
        "a period alone to be an alarm"
    ),
    "few_clusters": (
        "fewer than 20 effective clusters that hold positives, or in `heterogeneity` fewer than 6 "
        "for each segment: the interval may cover less, the test reject more, than its level"
    ),
    "few_negatives": (
        "fewer than 20 negatives (or effective clusters that hold some; of `partial_roc_auc` those "
        "within the range), or too few for what they stand for (sampled negatives with large "
        "weights, a reference prevalence far below the own, negatives in clusters beside positives "
        "that stand alone): the area is too high, and its interval too narrow"
    ),
    "few_rows": (
        "fewer than 20 rows, or effective clusters, that the measure rests on: of `precision` "
        "those at or beyond the threshold, of `brier` all; where the rows choose the threshold, "
        "30 that choose it, 5 of them beyond it, or a tie of scores in which it moves in jumps: "
        "then hold one; of two models at a threshold, those that they decide differently, and of "
        "each class that matters"
    ),
    "few_scores": (
        "the model has no more than two different scores, as the predictions 0 and 1 do: pass the "
        "scores that they were made from"
    ),
    "few_segments": "too few segments have an area for an interval of their mean, or for a test",
    "below_chance": (
        "the whole interval lies below the area of a random order; if a lower score means more "
        "likely positive, pass `ascending=True`"
    ),
    "no_std_error": (
        "the rows do not tell a standard error: sums of weights without sums of their squares, "
        "clusters, segments, replicates or models that are all alike, a calibrated area of one "
        "score, or a mean of segments of which one has a single positive"
    ),
    "undefined": (
        "a count that the measure divides by is 0: no row reaches the threshold, so there is no "
        "precision; of `mcc` also if all do, and of a ratio if either side is 0"
    ),
    "no_threshold": "the threshold that was given for this segment is null, or there is none",
    "no_period": "the key of the periods is null, so these rows have no place in their order",
    "no_reference": (
        "fewer than two of the first periods have a value, or none has a standard error"
    ),
    "plan_ended": "the period comes after the last look of the plan",
    "not_met": "no threshold meets the target",
    "no_guarantee": (
        "no threshold meets the target on new rows with the probability in `guarantee=`: there are "
        "too few rows, or the scores do not reach it"
    ),
}
