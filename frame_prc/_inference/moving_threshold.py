"""A threshold that the rows themselves choose: the highest with a recall, or the last of a budget.

Other rows would choose another one, and with it another value of a measure M. A choice keeps a
share C: the recall, the false positive rate, or the share of rows that is predicted positive. One
more row moves C, and the threshold moves it back. So the influence of a row is ``I_M - (M' / C')
I_C``: with ``I_M, I_C`` its influence on both at a threshold that is held, and ``M', C'`` how much
each row changes them that a lower threshold adds. That row is positive with the precision of the
rows around the threshold: those where C is up to ``n^(1/6)`` standard errors lower or higher, of n
rows that it is a share of. (The influence of a quantile: Serfling 1980, Approximation Theorems of
Mathematical Statistics, 2.5.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._formulas import effective_number, recall, rounding
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Target

_TP, _FP, _POSITIVES, _NEGATIVES = map(pl.col, ("tp", "fp", "positives", "negatives"))
# The marks of what is above the threshold, and above two others, higher and lower, around it.
REACHED, HIGHER, LOWER = MARKS = ("reached", "reached_higher", "reached_lower")


@dataclass(frozen=True)
class Choice:
    """What chooses a threshold: a share of the rows that counts in ``cells`` are shares of."""

    target: Target
    ranking: Ranking

    def marks(self) -> dict[str, pl.Expr]:
        """Return what marks the scores that are reached: those of a segment follow its opening."""
        reached, before = self._share(_TP, _FP), self._share(_TP.shift(1), _FP.shift(1))
        slack = rounding(weighted=self.ranking.rows.columns.weighted)
        if self.target.criterion == "recall":
            chosen = before < self._asked * (1 - slack)
        else:
            chosen = reached <= self._asked * (1 + slack)
        around = self._around()
        return {
            REACHED: chosen,
            HIGHER: reached <= self._asked - around,
            LOWER: before < self._asked + around,
        }

    def is_met(self, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
        """Return whether there is such a threshold, from the counts there."""
        if self.target.criterion != "recall":
            return tp + fp > 0
        slack = rounding(weighted=self.ranking.rows.columns.weighted)
        return self._share(tp, fp) >= self._asked * (1 - slack)

    @property
    def _asked(self) -> pl.Expr:
        value = pl.lit(self.target.value)
        return value / (_POSITIVES + _NEGATIVES) if self._is_count else value

    @property
    def _is_count(self) -> bool:
        return self.target.criterion == "predicted_count"

    def _share(self, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
        shares = {"recall": recall(tp, _POSITIVES), "fpr": fp / _NEGATIVES}
        return shares.get(self.target.criterion, (tp + fp) / (_POSITIVES + _NEGATIVES))

    def _around(self) -> pl.Expr:
        """Return how far from the share the rows around the threshold reach."""
        asked = self._asked.clip(0.0, 1.0)
        return (asked * (1 - asked)).sqrt() * self.number() ** (-1 / 3)

    def fewest_beyond(self) -> pl.Expr:
        """Return the effective number of these rows above the threshold, or below it."""
        asked = self._asked.clip(0.0, 1.0)
        return pl.min_horizontal(asked, 1 - asked) * self.number()

    def number(self) -> pl.Expr:
        """Return the effective number of rows that the share is one of."""
        classes = {"recall": ("positives",), "fpr": ("negatives",)}
        names = classes.get(self.target.criterion, ("positives", "negatives"))
        weight = pl.sum_horizontal(pl.col(name).cast(pl.Float64) for name in names)
        if not self.ranking.squares:
            return weight
        return effective_number(weight, pl.sum_horizontal(f"{name}_squares" for name in names))


def moved(
    influence: Sequence[pl.Expr], of_choice: Sequence[pl.Expr], near: tuple[pl.Expr, pl.Expr]
) -> list[pl.Expr]:
    """Return the influence of a row in each cell, of ``tp, fp, fn, tn``, where the threshold moves.

    ``near`` are the positives and the negatives around it.
    """
    tp, fp = near
    positive = tp / (tp + fp)
    added = (positive, 1 - positive, -positive, positive - 1)

    def slope(of_cells: Sequence[pl.Expr]) -> pl.Expr:
        return pl.sum_horizontal(a * i for a, i in zip(added, of_cells, strict=True))

    # All rows are predicted positive where they are fewer than asked for: nothing moves.
    ratio = pl.when(tp + fp > 0).then(slope(influence) / slope(of_choice)).otherwise(0.0)
    return [own - ratio * other for own, other in zip(influence, of_choice, strict=True)]
