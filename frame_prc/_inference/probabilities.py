"""Measures of probabilities: means over the rows of what each row's score and class cost.

With a loss ``l(score, class)`` and W the weight of all rows, one more unit of weight on a row
changes the mean by ``(l - mean) / W``. Scores need no order: the counts at each score are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, SHORTFALL
from frame_prc._formulas import above_average
from frame_prc._inference.measure import (
    NEGATIVES,
    OPENS,
    POSITIVES,
    Measure,
    added,
    parts,
    squares,
    total_of_parts,
)
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import TIES, running

_GAIN, _LOSSES, _SCORE = pl.col("gain"), pl.col("losses"), pl.col("probability")
# Probabilities are kept so far from 0 and 1 for a logarithm, as scikit-learn does.
_EPSILON_OF_64_BITS = 2.0**-52
_EPSILON: dict[pl.DataType, float] = {pl.Float32(): 2.0**-23, pl.Float16(): 2.0**-10}
_OF_CLASSES = (("pos", "gain", "on_positive"), ("neg", "losses", "on_negative"))
_FEWEST_KNOWN = 6.0  # with fewer, Student's t would be wider than any loss
_LARGEST_LOG_LOSS = -math.log(_EPSILON_OF_64_BITS)


Shares: TypeAlias = tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]


class Loss(NamedTuple):
    """What a row costs, as shares of the range from ``lowest`` on.

    ``shares`` are those on a positive and on a negative row, and 1 minus each.
    """

    shares: Callable[[pl.Expr, float], Shares]
    lowest: float = 0.0
    span: float = 1.0
    higher_is_better: bool = False


def _score(p: pl.Expr, _: float) -> Shares:
    return p, p, 1 - p, 1 - p


def _gap(p: pl.Expr, _: float) -> Shares:
    """Return the score less the class, from -1 to 1."""
    return p / 2, (1 + p) / 2, 1 - p / 2, (1 - p) / 2


def _squared(p: pl.Expr, _: float) -> Shares:
    on_positive, on_negative = (1 - p) ** 2, p**2
    return on_positive, on_negative, p * (2 - p), (1 - p) * (1 + p)


def _logarithmic(p: pl.Expr, epsilon: float) -> Shares:
    kept = p.clip(epsilon, 1 - epsilon)
    on_positive, on_negative = (-each.log() / _LARGEST_LOG_LOSS for each in (kept, 1 - kept))
    return on_positive, on_negative, 1 - on_positive, 1 - on_negative


LOSSES: dict[str, Loss] = {
    "mean_score": Loss(_score, higher_is_better=True),
    "calibration_gap": Loss(_gap, lowest=-1.0, span=2.0, higher_is_better=True),
    "brier": Loss(_squared),
    "log_loss": Loss(_logarithmic, span=_LARGEST_LOG_LOSS),
}


@dataclass(frozen=True)
class MeanLoss(Measure):
    """The mean of a loss over all rows, known by its name."""

    of: str = "brier"
    points = TIES
    scored = True
    counted = True
    few = "few_rows"
    kept = ("trials",)
    is_defined = POSITIVES + NEGATIVES > 0
    # Rows of one class have it too.
    status = pl.col("status").replace(["no_positives", "no_negatives"], "ok")

    @property
    def name(self) -> str:
        """The name of its column."""
        return self.of

    @property
    def lowest(self) -> float:
        """The lowest loss."""
        return LOSSES[self.of].lowest

    @property
    def span(self) -> float:
        """The highest loss, less the lowest."""
        return LOSSES[self.of].span

    @property
    def higher_is_better(self) -> bool:
        """Whether the best segment is the first from above."""
        return LOSSES[self.of].higher_is_better

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        """Return all scores, with the influence of their rows."""
        ties = running(ranking, TIES).filter(ranking.key.retrieved())
        counted = ties.with_columns(pl.col("segment").set_sorted()).with_columns(
            gain=added("tp", POSITIVES), losses=added("fp", NEGATIVES)
        )
        epsilon = _EPSILON.get(ranking.rows.score_dtype, _EPSILON_OF_64_BITS)
        # Sums of Float32 may exceed 1. The row that opens a segment has no score, and no rows.
        score = pl.when(~OPENS).then(pl.col("score").cast(pl.Float64).clip(0.0, 1.0))
        scored = ranking.with_score(counted).with_columns(probability=score.fill_null(0.0))
        names = ("on_positive", "on_negative", "left_of_positive", "left_of_negative")
        losses = dict(zip(names, LOSSES[self.of].shares(_SCORE, epsilon), strict=True))
        on_positive, on_negative, left_of_positive, left_of_negative = map(pl.col, names)
        rows = POSITIVES + NEGATIVES
        summed = (
            scored.with_columns(**losses)
            .with_columns(
                share=(_GAIN * on_positive + _LOSSES * on_negative) / rows,
                left=(_GAIN * left_of_positive + _LOSSES * left_of_negative) / rows,
            )
            .with_columns(*parts("share"), *parts("left"))
            .with_columns(estimate=total_of_parts("share"), shortfall=total_of_parts("left"))
        )
        moved = summed.with_columns(
            on_positive=_above(on_positive, left_of_positive) / rows,
            on_negative=_above(on_negative, left_of_negative) / rows,
        )
        return _with_trials(moved, ranking)


def _with_trials(moved: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Add how many rows the variance rests on, at most the effective number of all.

    Of a good model a few large losses make up most of it. The variance of n rows, whose influences
    have the kurtosis k, is known as that of ``2 n / (k - 1)`` normal ones (Satterthwaite 1946, doi
    10.2307/3002019). Rows of one score and class count as of equal weight.
    """
    squared = moved.with_columns(squares(ranking))
    second, fourth = (
        (
            _power("pos", "gain", "on_positive", power)
            + _power("neg", "losses", "on_negative", power)
        )
        .sum()
        .over("segment")
        for power in (2, 4)
    )
    every = effective_rows(ranking)
    alike = second * (second / fourth)  # rows of equal influences would be as many
    known = (2 * alike / (1 - alike / every)).fill_nan(None).clip(lower_bound=_FEWEST_KNOWN)
    return squared.with_columns(
        trials=pl.when(alike < every).then(pl.min_horizontal(every, known)).otherwise(every)
    ).drop("pos", "neg")


def _power(squared: str, weight: str, influence: str, power: int) -> pl.Expr:
    """Return the sum over the rows of a score of a power of weight times influence."""
    of_row = (pl.col(squared) / pl.col(weight)).fill_nan(0.0)
    return pl.col(squared) * of_row ** (power - 2) * pl.col(influence) ** power


def effective_rows(ranking: Ranking) -> pl.Expr:
    """Return how many rows of equal weight count as much as those of a segment."""
    rows = POSITIVES + NEGATIVES
    if not ranking.squares:
        return rows.cast(pl.Float64)
    return rows * (rows / (pl.col("positives_squares") + pl.col("negatives_squares")))


def _above(share: pl.Expr, left: pl.Expr) -> pl.Expr:
    """Return a share minus the mean; ``left`` is 1 minus it."""
    return above_average(share, left, pl.col(ESTIMATE), pl.col(SHORTFALL))
