"""The influence of each row on the average precision: the derivative by the row's weight.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, sized_areas
from frame_prc._curves.calibration import CALIBRATED, REFERENCE, calibrated, with_reference
from frame_prc._curves.logit_intervals import ESTIMATE, RANDOM, SHORTFALL
from frame_prc._formulas import above_average
from frame_prc._inference.measure import (
    NEGATIVES,
    OPENS,
    POSITIVES,
    Measure,
    added,
    parts,
    total_of_parts,
    weights_of_rows,
)
from frame_prc._lazy import cached
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import HITS, running
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows

_TP, _FP = pl.col("tp"), pl.col("fp")
_RETRIEVED = _TP + _FP
_GAIN, _ERROR = pl.col("gain"), pl.col("error")


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
    def kept(self) -> Sequence[str]:
        """The reference of a calibrated area."""
        return [] if self.calibration is None else [REFERENCE, "reference_odds"]

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores that have positives, with the influence of their rows."""
        hits = running(ranking, HITS)
        retrieved = hits.filter(ranking.key.retrieved() & (OPENS | (_RETRIEVED > 0)))
        if self.calibration is None:
            return self.influences_of(retrieved)
        return self.influences_of(with_reference(cached(retrieved), ranking, self.calibration))

    def influences_of(self, hits: pl.LazyFrame) -> pl.LazyFrame:
        """Return the same from scores that have positives, and the rows that open segments.

        To be calibrated they have their reference (see
        :func:`frame_prc._curves.calibration.with_reference`).
        """
        if self.calibration is None:
            return _with_influence(hits)
        return _centred(_with_influence(calibrated(hits)))

    def bias(self, ranking: Ranking) -> pl.Expr:
        """Return what each step adds to the bias of the area."""
        return _bias(ranking, calibrates=self.calibration is not None)

    def of_segments(self, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
        """Return the keys and sizes of each segment, and its area."""
        areas = sized_areas(rank(rows, bins, scored=False), self.calibration)
        return areas.rename({AVERAGE_PRECISION: ESTIMATE})


def _bias(ranking: Ranking, *, calibrates: bool) -> pl.Expr:
    """Return what each step adds to the bias of the area: what it changes by without a row.

    At a given prevalence the weight of all negatives changes with the sizes of the classes too. A
    step changes if the row that is left out ranks at or above it, and at a given prevalence also if
    it ranks below.
    """
    of_positive, of_negative = weights_of_rows(ranking)
    tp, fp, retrieved = _TP, pl.col("unscaled_fp") if calibrates else _FP, pl.col("retrieved")
    one, fewer, more = _scales(of_positive, of_negative, calibrates=calibrates)
    left = tp - of_positive
    above = left / of_positive * fp * (one * left - fewer * tp) / (left + fewer * fp)
    of_positives = pl.when(left > 0).then(above).otherwise(0.0)
    # A row may weigh more than all that ranks at or above a step.
    out = pl.min_horizontal(fp, of_negative)
    rest = tp + more * (fp - out)
    of_negatives = fp / of_negative * tp * (one * fp - more * (fp - out)) / rest
    if calibrates:
        both = tp * fp * one
        of_positives += (1 - tp / POSITIVES) * both / (tp + fewer * fp)
        of_negatives -= (
            (1 - fp / NEGATIVES) * both / (1 - of_negative / NEGATIVES) / (tp + more * fp)
        )
    of_negatives = pl.when(of_negative < NEGATIVES).then(
        of_negatives * (1 - of_negative / NEGATIVES)
    )
    changes = of_positives + of_negatives.fill_null(0.0)
    return pl.when(fp > 0).then(pl.col("share") / retrieved * changes)


def _scales(
    of_positive: pl.Expr, of_negative: pl.Expr, *, calibrates: bool
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return what a negative counts as: now, without a positive, and without a negative."""
    if not calibrates:
        return pl.lit(1.0), pl.lit(1.0), pl.lit(1.0)
    one = pl.col("scale")
    return one, one * (1 - of_positive / POSITIVES), one / (1 - of_negative / NEGATIVES)


def _centred(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return the influences of rows in classes of given sizes, where negatives are scaled.

    The influences of the positives add up to the sum of what each step adds to the area times its
    share of false positives, and those of the negatives to minus that. Negatives below all
    positives are among the losses of the row that opens a segment.
    """
    lost = pl.col("lost")
    return steps.with_columns(
        lost=(pl.col("area") * _ERROR).sum().over("segment"),
        losses=added("unscaled_fp", NEGATIVES),
    ).with_columns(
        on_positive=pl.col("on_positive") - lost / POSITIVES,
        on_negative=pl.col("on_negative") * pl.col("scale") + lost / NEGATIVES,
    )


def _with_influence(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add the area of each step, and the influence of its rows: ``on_positive, on_negative``.

    The row that opens a segment stands for its rows that are never retrieved. A positive among them
    has no precision to add, and a negative does not lower the precision of any step.
    """
    precision, rate, share = pl.col("precision"), pl.col("rate"), pl.col("share")
    retrieved = pl.col("retrieved")
    estimate, shortfall = pl.col(ESTIMATE), pl.col(SHORTFALL)
    sums = {name: _from_here_on(pl.col(name)) for name in ("raised", "lowered")}
    above = above_average(precision.fill_null(0.0), _ERROR, estimate, shortfall)
    # Each is a column, since Polars computes windows of columns much faster than of expressions.
    # What is null where a segment opens is so in all that follows.
    # Steps come in ranking order, and windows over a sorted column are faster.
    return (
        steps.with_columns(pl.col("segment").set_sorted())
        .with_columns(
            gain=added("tp", POSITIVES),
            losses=added("fp"),
            retrieved=pl.when(~OPENS).then(_RETRIEVED.cast(pl.Float64)),
        )
        .with_columns(precision=_TP / retrieved, error=(_FP / retrieved).fill_null(1.0))
        .with_columns(rate=_GAIN / retrieved, share=_GAIN / POSITIVES)
        .with_columns(
            raised=rate * _ERROR,
            lowered=rate * precision,
            area=share * precision,
            lost=share * _ERROR,
        )
        .with_columns(*parts("area"), *parts("lost"))
        .with_columns(estimate=total_of_parts("area"), shortfall=total_of_parts("lost"), **sums)
        .with_columns(
            on_positive=(above + pl.col("raised").fill_null(0.0)) / POSITIVES,
            on_negative=-pl.col("lowered").fill_null(0.0) / POSITIVES,
        )
    )


def _from_here_on(amount: pl.Expr) -> pl.Expr:
    """Return the sum of an amount over a step and all later ones of its segment."""
    # Steps are sorted by segment, so "explode", which stacks the groups, keeps them in place.
    return amount.cum_sum(reverse=True).over("segment", mapping_strategy="explode")
