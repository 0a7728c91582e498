"""The average precision and the area under the ROC curve, with the influence of each row on them.

With P the weight of the positives, Q_n = TP_n + FP_n, and m running over the scores at or below
that of the row, one more unit of weight at the n-th highest score changes the average precision
(AP) by

- on a positive row ``(TP_n / Q_n - AP + sum((TP_m - TP_(m-1)) * FP_m / Q_m^2)) / P``,
- on a negative row ``-sum((TP_m - TP_(m-1)) * TP_m / Q_m^2) / P``.

This is the influence function of ``E[truth * precision(score)] / prevalence``, divided by the
total weight. Multiplied by the rows' weights it adds up to 0, and the squares of these products add
up to the variance of AP (the infinitesimal jackknife: Efron 1981, doi 10.2307/2335442). Rows of the
same score and class have the same influence, so counts and sums of squared weights are enough.

A calibrated AP is that of scaled false positives, and so is its influence; a negative row has the
influence of what it counts as. At a given prevalence the sizes of the classes carry no information,
so the influences of each class are centred by themselves.

AP is too high on average where few rows decide the top of the ranking. By the delete-one jackknife,
which takes P - 1 times the mean change without a positive and N - 1 times that without a negative,

    bias = sum((TP_m - TP_(m-1)) / P * FP_m / Q_m * (1 - TP_m / N) / (Q_m - 1))

exactly, with ties as without them, because rows of one score and class leave the same behind. Rows
of a class that have different weights count as effectively as many rows of equal weight.

Ties count half. The placement of a positive is the share of the negatives that rank below it, and
that of a negative the share of the positives above it; the area is the mean of either. With P and N
the weights of both classes, one more unit of weight changes the area by

- on a positive row ``(placement - area) / P``,
- on a negative row ``(placement - area) / N``.

The sum of their squares, each times ``m / (m - 1)`` with the effective number m of rows of the
class, is the variance of DeLong, DeLong & Clarke-Pearson (1988, doi 10.2307/2531595); at scores in
order it takes no more than their running sums (Sun & Xu 2014, doi 10.1109/LSP.2014.2337313).

It is shown on the scale on which a random order has .5 and a perfect one 1 (McClish 1989, doi
10.1177/0272989X8900900307): ``(1 + (area - f^2 / 2) / (f - f^2 / 2)) / 2``, as in scikit-learn.

Only the negatives that rank highest, f of them, have a part in it. The placement of a positive is
the share of these that rank below it. With q the recall at f, one more negative at recall y moves
the area by ``(min(y, q) - mean of it) / N``: among the highest it also moves another one out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, area_of, shortfall_of, step_shortfall
from frame_prc._curves.calibration import CALIBRATED, REFERENCE, calibrated, with_reference
from frame_prc._curves.logit_intervals import ESTIMATE, RANDOM, SHORTFALL
from frame_prc._formulas import above_average
from frame_prc._inference.measure import (
    BIAS,
    NEGATIVES,
    OPENS,
    POSITIVES,
    TIMES_OF_CLUSTERS,
    Dialect,
    Measure,
    TiedMeasure,
)
from frame_prc._lazy import cached
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import CORNERS, HITS, running
from frame_prc._request.specs import PARTIAL_ROC_AUC

# --- average precision -------------------------------------------------------------------------


@dataclass(frozen=True)
class AveragePrecision(Measure):
    """The average precision, maybe calibrated; only scores with positives change its influence."""

    points = HITS

    @property
    def name(self) -> str:
        """The name of its column."""
        return AVERAGE_PRECISION if self.calibration is None else CALIBRATED

    @property
    def is_defined(self) -> pl.Expr:
        """Whether there are positives and, to be calibrated, negatives."""
        has_positives = POSITIVES > 0
        return has_positives if self.calibration is None else has_positives & (NEGATIVES > 0)

    @property
    def chance(self) -> pl.Expr:
        """The reference prevalence, or what a table has of the plain area."""
        return pl.col(RANDOM if self.calibration is None else REFERENCE)

    @property
    def is_of_rows(self) -> bool:
        """Whether the rows alone tell it: their segments may set the reference."""
        at = self.calibration
        return at is None or (at.table is None and at.given is None)

    @property
    def kept(self) -> Sequence[str]:
        """The reference of a calibrated area."""
        return [] if self.calibration is None else [REFERENCE, "reference_odds"]

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores that have positives, with the influence of their rows."""
        found: pl.LazyFrame = self.influences_of(self._hits(ranking), Dialect(ranking))
        return found

    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        """Return the scores that have positives."""
        return [ranking.rows.windowed(self._hits(ranking))]

    def _hits(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores that have positives, with their reference if there is one."""
        hits = running(ranking, HITS)
        has_rows = pl.col(OPENS) | (pl.col("tp") + pl.col("fp") > 0)
        retrieved = hits.filter(ranking.retrieved() & has_rows)
        if self.calibration is None:
            return retrieved
        return with_reference(cached(retrieved), ranking, self.calibration)

    def influences_of(self, points: Any, of: Dialect) -> Any:
        """Return the same from scores that have positives, and the rows that open segments."""
        if self.calibration is None:
            return _with_influence(points, of)
        return _centred(_with_influence(calibrated(points, of.lib), of), of)

    def bias(self, of: Dialect) -> tuple[Any, Any]:
        """Return what each step adds to the bias of the area, by class."""
        return _bias(of, calibrates=self.calibration is not None)

    @property
    def most_bias(self) -> pl.Expr:
        """The bias, where clusters multiply the part of each class as they do its variance.

        If they have a level of their own, leaving out one after the other finds about as much, in
        simulations. Where all have the same prevalence at each score it finds less, down to the
        bias of rows: pairs of a positive and a negative lower it. The mean of what the rows of a
        class move is no bias, as that of the other class is its opposite.
        """
        means = (-pl.col("moved"), pl.col("moved"))
        numbers = map(pl.col, ("n_by_rows", "n_negative"))
        added = [
            (pl.col(part) + mean * (1 - 1 / n)).clip(lower_bound=0.0) * (pl.col(times) - 1)
            for part, mean, n, times in zip(BIAS, means, numbers, TIMES_OF_CLUSTERS, strict=True)
        ]
        return pl.col("bias") + pl.sum_horizontal(added)

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the sizes of each segment and its area, and its reference if there is one."""
        short = shortfall_of(step_shortfall)
        found = area_of(ranking, "step", self.calibration, shortfall=short)
        return found.rename({"step": ESTIMATE})


def _bias(of: Dialect, *, calibrates: bool) -> tuple[Any, Any]:
    """Return what each step changes by without a positive, and without a negative.

    At a given prevalence the weight of all negatives changes with the sizes of the classes too. A
    step changes if the row that is left out ranks at or above it, and at a given prevalence also if
    it ranks below.
    """
    of_positive, of_negative = of.weights_of_rows()
    tp, fp, retrieved = of.cols("tp", "unscaled_fp" if calibrates else "fp", "retrieved")
    positives, negatives = of.cols("positives", "negatives")
    one, fewer, more = _scales(of, of_positive, of_negative, calibrates=calibrates)
    left, when = tp - of_positive, of.lib.when
    # No quotient is divided again, which would double what engines that check for zero have to do.
    above = (left / of_positive) * (fp / (left + fewer * fp)) * (one * left - fewer * tp)
    of_positives = when(left > 0).then(above).otherwise(0.0)
    # A row may weigh more than all that ranks at or above a step.
    out = of.lib.min_horizontal(fp, of_negative)
    rest = tp + more * (fp - out)
    of_negatives = (fp / of_negative) * (tp / rest) * (one * fp - more * (fp - out))
    if calibrates:
        both = tp * fp * one
        of_positives += (1 - tp / positives) * both / (tp + fewer * fp)
        of_negatives -= (
            (1 - fp / negatives) * both / (1 - of_negative / negatives) / (tp + more * fp)
        )
    of_negatives = when(of_negative < negatives).then(of_negatives * (1 - of_negative / negatives))
    changes = when((fp > 0) & (tp > 0)).then(of.lib.col("share") / retrieved)
    return changes * of_positives, changes * of_negatives.fill_null(0.0)


def _scales(
    of: Dialect, of_positive: Any, of_negative: Any, *, calibrates: bool
) -> tuple[Any, Any, Any]:
    """Return what a negative counts as: now, without a positive, and without a negative."""
    if not calibrates:
        return of.lib.lit(1.0), of.lib.lit(1.0), of.lib.lit(1.0)
    one, positives, negatives = of.cols("scale", "positives", "negatives")
    return one, one * (1 - of_positive / positives), one / (1 - of_negative / negatives)


def _centred(steps: Any, of: Dialect) -> Any:
    """Return the influences of rows in classes of given sizes, where negatives are scaled.

    The influences of the positives add up to the sum of what each step adds to the area times its
    share of false positives, and those of the negatives to minus that. Negatives below all
    positives are among the losses of the row that opens a segment.
    """
    area, error, lost, scale = of.cols("area", "error", "lost", "scale")
    on_positive, on_negative, positives, negatives = of.cols(
        "on_positive", "on_negative", "positives", "negatives"
    )
    summed = of.with_sums(steps.with_columns(lost=area * error), plain={"lost": "lost"})
    return of.with_amounts(summed, "unscaled_fp").with_columns(
        on_positive=on_positive - lost / positives,
        on_negative=on_negative * scale + lost / negatives,
    )


def _with_influence(steps: Any, of: Dialect) -> Any:
    """Add the area of each step, and the influence of its rows: ``on_positive, on_negative``.

    The row that opens a segment stands for its rows that are never retrieved. A positive among them
    has no precision to add, and a negative does not lower the precision of any step.
    """
    tp, fp, gain, retrieved, positives = of.cols("tp", "fp", "gain", "retrieved", "positives")
    precision, error, rate, share = of.cols("precision", "error", "rate", "share")
    raised, lowered = of.cols("raised", "lowered")
    # Each is a column, since Polars computes windows of columns much faster than of expressions.
    # What is null where a segment opens is so in all that follows.
    ready = (
        of.with_amounts(steps, whole=False)
        .with_columns(retrieved=of.when_retrieved((tp + fp).cast(of.lib.Float64)))
        .with_columns(precision=tp / retrieved, error=(fp / retrieved).fill_null(1.0))
        .with_columns(rate=gain / retrieved, share=gain / positives)
        .with_columns(
            raised=rate * error,
            lowered=rate * precision,
            area=share * precision,
            lost=share * error,
        )
    )
    summed = of.with_sums(
        ready, exact={ESTIMATE: "area", SHORTFALL: "lost"}, onward=("raised", "lowered")
    )
    above = above_average(precision.fill_null(0.0), error, *of.cols(ESTIMATE, SHORTFALL))
    return summed.with_columns(
        on_positive=(above + raised.fill_null(0.0)) / positives,
        on_negative=-lowered.fill_null(0.0) / positives,
    )


# --- the area under the ROC curve --------------------------------------------------------------

ROC_AUC = "roc_auc"


@dataclass(frozen=True)
class RocAuc(TiedMeasure):
    """The area under the ROC curve."""

    name = ROC_AUC
    of_both_classes = True
    summed_points = CORNERS

    is_defined = (POSITIVES > 0) & (NEGATIVES > 0)

    @property
    def chance(self) -> pl.Expr:
        """One half."""
        return pl.lit(0.5)

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the sizes of each segment, and its area."""
        return area_of(ranking, "roc").rename({"roc": ESTIMATE})

    def influences_of(self, points: Any, of: Dialect) -> Any:
        """Return the scores, with the influence of their rows."""
        gain, positives, negatives = of.cols("gain", "positives", "negatives")
        missed, passed, behind = of.cols("missed", "passed", "behind")
        shared = self.placed(of.with_amounts(points), of).with_columns(
            area=gain / positives * (1 - missed), lost=gain / positives * missed
        )
        areas = of.with_sums(shared, exact={ESTIMATE: "area", SHORTFALL: "lost"})
        measured = of.cols(ESTIMATE, SHORTFALL)
        of_positive, of_negative = of.weights_of_rows()
        return areas.with_columns(
            on_positive=above_average(1 - missed, missed, *measured)
            * _per_row(of, positives, of_positive),
            on_negative=above_average(passed, behind, *measured)
            * _per_row(of, negatives, of_negative),
        )

    def placed(self, points: Any, of: Dialect) -> Any:
        """Add the placements: ``passed`` of negatives, ``behind`` and ``missed`` are 1 less them.

        ``missed`` is 1 less that of positives.
        """
        gain, losses, tp, fp = of.cols("gain", "losses", "tp", "fp")
        positives, negatives = of.cols("positives", "negatives")
        # Rows that are never retrieved are tied below all others.
        opens, when = of.lib.col(OPENS), of.lib.when
        of_negatives = when(opens).then(negatives).otherwise(fp) - losses / 2
        of_positives = when(opens).then(positives).otherwise(tp) - gain / 2
        # Each is a column, since Polars computes windows of columns much faster.
        return points.with_columns(
            missed=of_negatives / negatives,
            passed=of_positives / positives,
            behind=(positives - of_positives) / positives,
        )


def _per_row(of: Dialect, weight: Any, of_row: Any) -> Any:
    """Return the weight of a row in the mean of its class.

    It is such that the squares of the influences add up to the unbiased variance of that mean.
    """
    # Written as one quotient: Narwhals writes a division within another several times.
    unbiased = of.lib.when(weight > of_row).then((weight / (weight - of_row)).sqrt())
    return unbiased.otherwise(1.0) / weight


# --- up to a false positive rate ---------------------------------------------------------------


@dataclass(frozen=True)
class PartialRocAuc(RocAuc):
    """The area under the ROC curve up to a false positive rate."""

    fpr: float = 0.1
    name = PARTIAL_ROC_AUC
    valued = Measure.valued

    @property
    def lowest(self) -> float:
        """The value without any area."""
        return (1 - self.fpr) / (2 - self.fpr)

    @property
    def share_of_negatives(self) -> float:
        """The highest negatives, which have a part in it."""
        return self.fpr

    @property
    def chance(self) -> pl.Expr:
        """The share of a random order."""
        return pl.lit(self.fpr / 2)

    def placed(self, points: Any, of: Dialect) -> Any:
        """Add the placements of positives and of negatives, of those in a tie their mean."""
        lib, f = of.lib, self.fpr
        gain, losses, tp, fp, positives, negatives = of.cols(
            "gain", "losses", "tp", "fp", "positives", "negatives"
        )
        lost, gained, before, after, found, inside, end = of.cols(
            "lost", "gained", "before", "after", "found", "inside", "end"
        )
        opens = lib.col(OPENS)
        shares = points.with_columns(
            lost=losses / negatives,
            gained=gain / positives,
            after=lib.when(opens).then(1.0).otherwise(fp / negatives),
            recall=lib.when(opens).then(1.0).otherwise(tp / positives),
        ).with_columns(before=after - lost, found=lib.col("recall") - gained)
        # Positives exactly at the end of the range: the influence is the mean of both sides.
        at_end = lib.when(before < f).then(1.0).when(before == f).then(0.5).otherwise(0.0)
        ranged = shares.with_columns(
            inside=lib.when(lost > 0).then(((f - before) / lost).clip(0.0, 1.0)).otherwise(at_end)
        ).with_columns(end=gained * inside)
        summed = of.with_sums(ranged, plain={"end": "end"})
        in_range = found + gained * inside / 2
        return summed.with_columns(
            missed=1 - inside + inside * (before + lib.min_horizontal(after, lib.lit(f))) / (2 * f),
            passed=inside * in_range + (1 - inside) * end,
            behind=inside * (1 - in_range) + (1 - inside) * (1 - end),
        ).with_columns(
            passed=(lib.col("passed") - (1 - f) * end) / f,
            behind=(lib.col("behind") - (1 - f) * (1 - end)) / f,
        )
