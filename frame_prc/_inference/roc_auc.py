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
from typing import Any

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, SHORTFALL
from frame_prc._formulas import above_average
from frame_prc._inference.dialect import OPENS, Dialect
from frame_prc._inference.measure import NEGATIVES, POSITIVES, TiedMeasure
from frame_prc._ranking.running_sums import CORNERS

ROC_AUC = "roc_auc"


@dataclass(frozen=True)
class RocAuc(TiedMeasure):
    """The area under the ROC curve."""

    name = ROC_AUC
    of_both_classes = True
    summed_points = CORNERS

    @property
    def is_defined(self) -> pl.Expr:
        """Whether there are rows of both classes."""
        return (POSITIVES > 0) & (NEGATIVES > 0)

    @property
    def chance(self) -> pl.Expr:
        """One half."""
        return pl.lit(0.5)

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
    number = weight / of_row
    unbiased = of.lib.when(number > 1).then((number / (number - 1)).sqrt())
    return unbiased.otherwise(1.0) / weight
