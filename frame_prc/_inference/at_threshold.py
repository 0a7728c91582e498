"""Measures of the four counts at a threshold: one that is held, or one that the rows choose.

A measure here is a mean of ratios ``A / B`` of sums over the counts ``tp, fp, fn, tn``. One more
unit of weight on a row in a cell with the coefficients ``a`` and ``b`` changes a ratio by
``(a - b A / B) / B``. Only Matthews' correlation is another function of the counts; what changes it
is its gradient. What changes a threshold that these rows choose is in `moving_threshold.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import polars as pl

from frame_prc._curves.given_thresholds import is_retrieved, rounded
from frame_prc._formulas import effective_number
from frame_prc._inference.measure import (
    IS_FEW,
    NEGATIVES,
    OF_ANY_CLASS,
    OPENS,
    POSITIVES,
    UNDEFINED_IF_NULL,
    TiedMeasure,
)
from frame_prc._inference.moving_threshold import HIGHER, LOWER, MARKS, REACHED, Choice, moved
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Target

_CELLS = ("tp", "fp", "fn", "tn")
_OF_CELLS = tuple(f"n_{cell}" for cell in _CELLS)
_TP, _FP, _FN, _TN = map(pl.col, _OF_CELLS)


class Ratio(NamedTuple):
    """The coefficients of the counts above and below the line, in the order of the cells."""

    above: tuple[float, ...]
    below: tuple[float, ...]

    def shifted(self, lowest: float, span: float) -> Ratio:
        """Return the ratio as a share of the range from ``lowest`` on."""
        both = zip(self.above, self.below, strict=True)
        return Ratio(tuple((a - lowest * b) / span for a, b in both), self.below)

    @property
    def share(self) -> pl.Expr:
        """Its value."""
        return _sum(self.above) / _sum(self.below)

    @property
    def left(self) -> pl.Expr:
        """1 minus its value, without lost digits."""
        rest = [b - a for a, b in zip(self.above, self.below, strict=True)]
        return _sum(rest) / _sum(self.below)

    def influence(self, cell: int) -> pl.Expr:
        """Return what one more row in a cell changes it by."""
        return (self.above[cell] - self.below[cell] * self.share) / _sum(self.below)


def _sum(coefficients: Sequence[float]) -> pl.Expr:
    """Return a sum over the counts."""
    terms = [c * pl.col(n) for c, n in zip(coefficients, _OF_CELLS, strict=True) if c != 0]
    return reduce(add, terms, pl.lit(0.0))


_RECALL = Ratio((1, 0, 0, 0), (1, 0, 1, 0))
_SPECIFICITY = Ratio((0, 0, 0, 1), (0, 1, 0, 1))
_FPR = Ratio((0, 1, 0, 0), (0, 1, 0, 1))
_PREDICTED = Ratio((1, 1, 0, 0), (1, 1, 1, 1))
_RATIOS: dict[str, Callable[[float], list[Ratio]]] = {
    "precision": lambda _: [Ratio((1, 0, 0, 0), (1, 1, 0, 0))],
    "recall": lambda _: [_RECALL],
    "fpr": lambda _: [_FPR],
    "specificity": lambda _: [_SPECIFICITY],
    "f1": lambda _: [Ratio((2, 0, 0, 0), (2, 1, 1, 0))],
    "accuracy": lambda _: [Ratio((1, 0, 0, 1), (1, 1, 1, 1))],
    "balanced_accuracy": lambda _: [_RECALL, _SPECIFICITY],
    # With the threshold as the probability from which on an alert is worth its cost (Vickers &
    # Elkin 2006, doi 10.1177/0272989X06295361).
    "net_benefit": lambda t: [Ratio((1, -t / (1 - t), 0, 0), (1, 1, 1, 1))],
    "mcc": lambda _: [],
}
# What a choice of the threshold keeps.
_KEPT = {
    "recall": _RECALL, "fpr": _FPR, "predicted_rate": _PREDICTED, "predicted_count": _PREDICTED,
}  # fmt: skip
# By simulation: with fewer in a cell, intervals of what mixes several cells covered too little.
FEWEST_IN_CELL = 5
# With fewer positives a false positive rate at a recall was covered in 89 to 92 %.
_FEWEST_BESIDE = 60
_HALF = Target("threshold", 0.5)
# What mixes several cells: the first two always, the others where the threshold moves.
_MIXED = ("balanced_accuracy", "mcc", "f1", "accuracy")
_FEW = {"recall": "few_positives", "fpr": "few_negatives", "specificity": "few_negatives"}


@dataclass(frozen=True)
class AtThreshold(TiedMeasure):
    """A measure at a threshold, known by its name."""

    of: str = "precision"
    at: Target = _HALF
    scored = True
    counted = True
    kept = ("trials", "has_measure", IS_FEW)
    is_defined = pl.col("has_measure")
    rests_on = pl.col("trials")

    @property
    def name(self) -> str:
        """The name of its column."""
        return self.of

    @property
    def few(self) -> str:
        """The status of too few of the rows below the line, or around a threshold that moves."""
        return "few_rows" if self._moves else _FEW.get(self.of, "few_rows")

    @property
    def status(self) -> pl.Expr:
        """The status of segments: those with rows of one class may have it too."""
        sizes = pl.when(pl.col("estimate").is_not_null()).then(OF_ANY_CLASS)
        return pl.coalesce(sizes, UNDEFINED_IF_NULL)

    @property
    def lowest(self) -> float:
        """The lowest value."""
        if self.of == "net_benefit":
            return -self.at.value / (1 - self.at.value)
        return -1.0 if self.of == "mcc" else 0.0

    @property
    def higher_is_better(self) -> bool:
        """Whether the best segment has the highest value."""
        return self.of != "fpr"

    @property
    def _ratios(self) -> list[Ratio]:
        found = _RATIOS[self.of](self.at.value)
        return [ratio.shifted(self.lowest, self.span) for ratio in found]

    def thinned(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return the last score that reaches the threshold, and the last one of all."""
        is_last = OPENS.shift(-1, fill_value=True)
        marks = MARKS if self._moves else (REACHED,)
        crosses = [pl.col(one) & ~pl.col(one).shift(-1, fill_value=False) for one in marks]
        return self._marked(ties, ranking).filter(pl.any_horizontal(OPENS, *crosses, is_last))

    @property
    def _moves(self) -> bool:
        """Whether the rows choose the threshold."""
        return self.at.criterion != "threshold"

    def _marked(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Add whether a score reaches the threshold."""
        if self._moves:
            marks = Choice(self.at, ranking).marks()
            return ties.with_columns((~OPENS & mark).alias(name) for name, mark in marks.items())
        held = rounded(pl.lit(self.at.value), ranking)
        reached = ~OPENS & is_retrieved(pl.col("score"), held, ranking).fill_null(value=False)
        return ranking.with_score(ties).with_columns(reached.alias(REACHED))

    def influences_of(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores, with the influence of their rows."""
        marked = self._marked(ties, ranking)
        cells = marked.with_columns(_last("tp", "n_tp"), _last("fp", "n_fp")).with_columns(
            n_fn=POSITIVES.cast(pl.Float64) - _TP, n_tn=NEGATIVES.cast(pl.Float64) - _FP
        )
        squared = cells.with_columns(_squares_of_cells(ranking))
        share, left, influence = _matthews() if self.of == "mcc" else _mean(self._ratios)
        if self._moves:
            is_met = Choice(self.at, ranking).is_met(_TP, _FP)
            share, left = pl.when(is_met).then(share), pl.when(is_met).then(left)
            of_choice = [_KEPT[self.at.criterion].influence(cell) for cell in range(len(_CELLS))]
            influence = moved(influence, of_choice, _near())
        on_positive, on_negative = (
            pl.when(REACHED).then(influence[cell]).otherwise(influence[cell + 2]) for cell in (0, 1)
        )
        measured = squared.with_columns(
            estimate=share.fill_nan(None),
            shortfall=left.fill_nan(None),
            on_positive=on_positive,
            on_negative=on_negative,
            trials=self._trials(),
            **{IS_FEW: self._has_few_in_a_cell() | self._has_few_beyond(ranking)},
        )
        perfect = pl.col("shortfall") == 0
        return measured.with_columns(
            pl.col(IS_FEW) & ~perfect, has_measure=pl.col("estimate").is_not_null()
        )

    def _has_few_in_a_cell(self) -> pl.Expr:
        """Return whether a cell that moves the measure beside others has too few rows.

        Without any there its part of the variance would be missing. Of a single ratio that is 0 or
        1, and of whatever is perfect, the exact limits know it; where the threshold moves, F1 and
        accuracy have ends of their own.
        """
        if self.of == "net_benefit":
            odds = min(1.0, -self.lowest)
            least = {"tp": FEWEST_IN_CELL, "fp": FEWEST_IN_CELL * odds**2}
        else:
            mixed = _MIXED if self._moves else _MIXED[:2]
            least = dict.fromkeys(_CELLS if self.of in mixed else (), FEWEST_IN_CELL)
        found = [_effective_in(cell) < number for cell, number in least.items()]
        return pl.any_horizontal(pl.lit(value=False), *found)

    def _has_few_beyond(self, ranking: Ranking) -> pl.Expr:
        """Return whether a threshold that moves has too few of its rows on either side."""
        if not self._moves:
            return pl.lit(value=False)
        choice = Choice(self.at, ranking)
        few = choice.fewest_beyond() < FEWEST_IN_CELL
        of_positives = self.at.criterion == "recall" and self.of in ("fpr", "specificity")
        return few | (choice.number() < _FEWEST_BESIDE) if of_positives else few

    def _trials(self) -> pl.Expr:
        """Return the effective number of the rows below the line, of the scarcer ratio."""
        below = [ratio.below for ratio in self._ratios or [_RECALL, _SPECIFICITY]]
        found = pl.min_horizontal(_effective(coefficients) for coefficients in below)
        # F1 is twice as steep as the share of hits in these rows where there are few.
        return found / 2 if self.of == "f1" else found


def _last(running_sum: str, name: str, mark: str = REACHED) -> pl.Expr:
    """Return a running sum at the threshold: that of the rows that reach it."""
    reached = pl.when(mark).then(pl.col(running_sum).cast(pl.Float64))
    return reached.max().over("segment").fill_null(0.0).alias(name)


def _near() -> tuple[pl.Expr, pl.Expr]:
    """Return the positives and the negatives around a threshold that the rows choose."""
    tp, fp = (_last(cell, cell, LOWER) - _last(cell, cell, HIGHER) for cell in ("tp", "fp"))
    return tp, fp


def _squares_of_cells(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums of squared weights of the cells; of rows that count as one, the counts."""
    if not ranking.squares:
        return [pl.col(f"n_{cell}").alias(f"squares_{cell}") for cell in _CELLS]
    tp, fp = (_last(f"{cell}_squares", f"squares_{cell}") for cell in ("tp", "fp"))
    fn = pl.col("positives_squares") - tp
    tn = pl.col("negatives_squares") - fp
    return [tp, fp, fn.alias("squares_fn"), tn.alias("squares_tn")]


def _effective_in(cell: str) -> pl.Expr:
    return effective_number(pl.col(f"n_{cell}"), pl.col(f"squares_{cell}")).fill_nan(0.0)


def _effective(coefficients: Sequence[float]) -> pl.Expr:
    cells = [cell for cell, c in zip(_CELLS, coefficients, strict=True) if c > 0]
    weight = reduce(add, (pl.col(f"n_{cell}") for cell in cells))
    squares = reduce(add, (pl.col(f"squares_{cell}") for cell in cells))
    return effective_number(weight, squares)


def _mean(ratios: Sequence[Ratio]) -> tuple[pl.Expr, pl.Expr, list[pl.Expr]]:
    """Return the mean of ratios, 1 minus it, and the influence of a row in each cell."""
    number = len(ratios)

    def mean(terms: Iterable[pl.Expr]) -> pl.Expr:
        return reduce(add, terms) / number

    influence = [mean(ratio.influence(cell) for ratio in ratios) for cell in range(4)]
    return mean(one.share for one in ratios), mean(one.left for one in ratios), influence


def _matthews() -> tuple[pl.Expr, pl.Expr, list[pl.Expr]]:
    """Return (1 + r) / 2, (1 - r) / 2, and the influence of a row in each cell on the first."""
    positives, negatives, reached, others = _TP + _FN, _FP + _TN, _TP + _FP, _FN + _TN
    root = positives.sqrt() * negatives.sqrt() * reached.sqrt() * others.sqrt()
    # Rounded, a correlation of 1 may be a little more, or less.
    found = ((_TP * _TN - _FP * _FN) / root).clip(-1.0, 1.0)
    worst = pl.when(_TP + _TN == 0).then(-root / root).otherwise(found)
    r = pl.when(_FP + _FN == 0).then(root / root).otherwise(worst)
    of_cells: list[tuple[Any, Any, Any]] = [
        (_TN, positives, reached),
        (-_FN, negatives, reached),
        (-_FP, positives, others),
        (_TP, negatives, others),
    ]
    influence = [
        (slope / root - r / 2 * (1 / first + 1 / second)) / 2 for slope, first, second in of_cells
    ]
    return (1 + r) / 2, (1 - r) / 2, influence
