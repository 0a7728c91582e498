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
from functools import reduce
from operator import add
from typing import Any

from frame_prc._formulas import effective_number, recall
from frame_prc._inference.measure import Dialect
from frame_prc._request.specs import Target

# The marks of what is above the threshold, above two others around it, higher and lower, and of
# what is before the tie in which the share is reached, and through it.
REACHED, HIGHER, LOWER, BEFORE, THROUGH = MARKS = (
    "reached", "reached_higher", "reached_lower", "reached_before", "reached_through",
)  # fmt: skip
# The influence of a row in each cell.
INFLUENCE = ("on_tp", "on_fp", "on_fn", "on_tn")
# By simulation: of a tie that is a larger part of the standard error of the share, the threshold
# moves in jumps, and intervals covered too little.
_WIDEST_TIE = 0.5


@dataclass(frozen=True)
class Choice:
    """What chooses a threshold: the share of rows that it keeps."""

    target: Target
    of: Dialect

    def marks(self) -> dict[str, Any]:
        """Return what marks the scores that are reached: those of a segment follow its opening."""
        reached = self._share(*self.of.cols("tp", "fp"))
        before = self._share(self.of.before("tp"), self.of.before("fp"))
        slack = self.of.rounding()
        if self.target.criterion == "recall":
            chosen = before < self._asked * (1 - slack)
        else:
            chosen = reached <= self._asked * (1 + slack)
        around = self._error() * self.number() ** (1 / 6)
        return {
            REACHED: chosen,
            HIGHER: reached <= self._asked - around,
            LOWER: before < self._asked + around,
            BEFORE: reached < self._asked,
            THROUGH: before < self._asked,
        }

    def is_met(self, tp: Any, fp: Any) -> Any:
        """Return whether there is such a threshold, from the counts there."""
        if self.target.criterion != "recall":
            return tp + fp > 0
        slack = self.of.rounding()
        return self._share(tp, fp) >= self._asked * (1 - slack)

    @property
    def _asked(self) -> Any:
        value = self.of.lib.lit(self.target.value)
        return value / self._rows if self.target.criterion == "predicted_count" else value

    @property
    def _rows(self) -> Any:
        positives, negatives = self.of.cols("positives", "negatives")
        return positives + negatives

    def _share(self, tp: Any, fp: Any) -> Any:
        if self.target.criterion == "recall":
            return recall(tp, self.of.lib.col("positives"))
        if self.target.criterion == "fpr":
            return fp / self.of.lib.col("negatives")
        return (tp + fp) / self._rows

    def _error(self) -> Any:
        """Return the standard error of the share."""
        asked = self._asked.clip(0.0, 1.0)
        return (asked * (1 - asked)).sqrt() * self.number() ** -0.5

    def is_in_wide_tie(self) -> Any:
        """Return whether the share is reached in a tie that is wide beside its standard error."""
        through, before = (
            self._share(*self.of.cols(f"{mark}_tp", f"{mark}_fp")) for mark in ("through", "before")
        )
        return through - before > _WIDEST_TIE * self._error()

    def fewest_beyond(self) -> Any:
        """Return the effective number of these rows above the threshold, or below it."""
        asked = self._asked.clip(0.0, 1.0)
        return self.of.lib.min_horizontal(asked, 1 - asked) * self.number()

    def number(self) -> Any:
        """Return the effective number of rows that the share is one of."""
        classes = {"recall": ("positives",), "fpr": ("negatives",)}
        names = classes.get(self.target.criterion, ("positives", "negatives"))
        weight = reduce(add, (one.cast(self.of.lib.Float64) for one in self.of.cols(*names)))
        if not self.of.squares:
            return weight
        squares = reduce(add, self.of.cols(*(f"{name}_squares" for name in names)))
        return effective_number(weight, squares)


def moved(points: Any, of_choice: Sequence[Any], of: Dialect) -> Any:
    """Add to the influence of a row in each cell that of the threshold, which it moves."""
    col, when = of.lib.col, of.lib.when
    tp, fp = (col(f"lower_{cell}") - col(f"higher_{cell}") for cell in ("tp", "fp"))
    around = points.with_columns(
        positive_around=when(tp + fp > 0).then(tp / (tp + fp)),
        **{f"{name}_of_choice": one for name, one in zip(INFLUENCE, of_choice, strict=True)},
    )
    positive = col("positive_around")
    added = (positive, 1 - positive, -positive, positive - 1)

    def slope(end: str) -> Any:
        return reduce(add, (a * col(f"{n}{end}") for a, n in zip(added, INFLUENCE, strict=True)))

    # All rows are predicted positive where they are fewer than asked for: nothing moves.
    ratio = when(~positive.is_null()).then(slope("") / slope("_of_choice")).otherwise(0.0)
    return around.with_columns(move=ratio).with_columns(
        (col(name) - col("move") * col(f"{name}_of_choice")).alias(name) for name in INFLUENCE
    )
