"""The area under the ROC curve: the probability that a positive ranks above a negative.

Ties count half. The placement of a positive is the share of the negatives that rank below it, and
that of a negative the share of the positives above it; the area is the mean of either. With P and N
the weights of both classes, one more unit of weight changes the area by

- on a positive row ``(placement - area) / P``,
- on a negative row ``(placement - area) / N``.

The sum of their squares, each times ``m / (m - 1)`` with the effective number m of rows of the
class, is the variance of DeLong, DeLong & Clarke-Pearson (1988, doi 10.2307/2531595); at scores in
order it takes no more than their running sums (Sun & Xu 2014, doi 10.1109/LSP.2014.2337313).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, SHORTFALL
from frame_prc._formulas import above_average
from frame_prc._inference.measure import (
    NEGATIVES,
    OPENS,
    POSITIVES,
    TiedMeasure,
    parts,
    total_of_parts,
    weights_of_rows,
)
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import is_corner

ROC_AUC = "roc_auc"

_GAIN, _LOSSES = pl.col("gain"), pl.col("losses")
_MISSED, _PASSED = pl.col("missed"), pl.col("passed")


@dataclass(frozen=True)
class RocAuc(TiedMeasure):
    """The area under the ROC curve."""

    name = ROC_AUC
    of_both_classes = True

    @property
    def is_defined(self) -> pl.Expr:
        """Whether there are rows of both classes."""
        return (POSITIVES > 0) & (NEGATIVES > 0)

    @property
    def chance(self) -> pl.Expr:
        """One half."""
        return pl.lit(0.5)

    def thinned(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:  # noqa: ARG002
        """Return the scores with positives, and the last one before each of them."""
        return ties.filter(is_corner(OPENS, pl.col("tp")))

    def influences_of(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores, with the influence of their rows."""
        shared = (
            self.placed(ties)
            .with_columns(area=_GAIN / POSITIVES * (1 - _MISSED), lost=_GAIN / POSITIVES * _MISSED)
            .with_columns(*parts("area"), *parts("lost"))
        )
        areas = shared.with_columns(
            estimate=total_of_parts("area"), shortfall=total_of_parts("lost")
        )
        of_positive, of_negative = weights_of_rows(ranking)
        return areas.with_columns(
            on_positive=_above(1 - _MISSED, _MISSED) * _per_row(POSITIVES, of_positive),
            on_negative=_above(_PASSED, pl.col("behind")) * _per_row(NEGATIVES, of_negative),
        )

    def placed(self, ties: pl.LazyFrame) -> pl.LazyFrame:
        """Add the placements: ``passed`` of negatives, ``behind`` and ``missed`` are 1 less them.

        ``missed`` is 1 less that of positives.
        """
        # Rows that are never retrieved are tied below all others.
        negatives = pl.when(OPENS).then(NEGATIVES).otherwise("fp") - _LOSSES / 2
        positives = pl.when(OPENS).then(POSITIVES).otherwise("tp") - _GAIN / 2
        # Each is a column, since Polars computes windows of columns much faster.
        return ties.with_columns(
            missed=negatives / NEGATIVES,
            passed=positives / POSITIVES,
            behind=(POSITIVES - positives) / POSITIVES,
        )


def _above(placement: pl.Expr, error: pl.Expr) -> pl.Expr:
    """Return a placement minus the area; ``error`` is 1 minus it."""
    return above_average(placement, error, pl.col(ESTIMATE), pl.col(SHORTFALL))


def _per_row(weight: pl.Expr, of_row: pl.Expr) -> pl.Expr:
    """Return the weight of a row in the mean of its class.

    It is such that the squares of the influences add up to the unbiased variance of that mean.
    """
    number = weight / of_row
    unbiased = pl.when(number > 1).then((number / (number - 1)).sqrt()).otherwise(1.0)
    return unbiased / weight
