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
from frame_prc._formulas import above_average, effective_number, told_by
from frame_prc._inference.measure import (
    NEGATIVES,
    OF_ANY_CLASS,
    OPENS,
    POSITIVES,
    UNDEFINED_IF_NULL,
    TiedMeasure,
    parts,
    total_of_parts,
)
from frame_prc._ranking.ranking import Ranking

_GAIN, _LOSSES, _SCORE = pl.col("gain"), pl.col("losses"), pl.col("probability")
# Probabilities are kept so far from 0 and 1 for a logarithm, as scikit-learn does.
_EPSILON_OF_64_BITS = 2.0**-52
_EPSILON: dict[pl.DataType, float] = {pl.Float32(): 2.0**-23, pl.Float16(): 2.0**-10}
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
class MeanLoss(TiedMeasure):
    """The mean of a loss over all rows, known by its name."""

    of: str = "brier"
    scored = True
    counted = True
    of_hits = False
    few = "few_rows"
    is_defined = POSITIVES + NEGATIVES > 0
    status = OF_ANY_CLASS

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

    def influences_of(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores, with the influence of their rows."""
        epsilon = _EPSILON.get(ranking.rows.score_dtype, _EPSILON_OF_64_BITS)
        # Sums of Float32 may exceed 1. The row that opens a segment has no score, and no rows.
        score = pl.when(~OPENS).then(pl.col("score").cast(pl.Float64).clip(0.0, 1.0))
        scored = ranking.with_score(ties).with_columns(probability=score.fill_null(0.0))
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
        return summed.with_columns(
            on_positive=_above(on_positive, left_of_positive) / rows,
            on_negative=_above(on_negative, left_of_negative) / rows,
        )

    @property
    def terms(self) -> dict[str, pl.Expr]:
        """The fourth powers of influences; rows of one score and class count as of equal weight."""
        return {"fourth": _fourth("pos", "gain", "positive") + _fourth("neg", "losses", "negative")}

    @property
    def rests_on(self) -> pl.Expr:
        """How many rows the variance rests on, at most the effective number of all.

        Of a good model a few large losses make up most of it.
        """
        every = effective_number(POSITIVES + NEGATIVES, pl.col("pos") + pl.col("neg"))
        return told_by(pl.col("variance"), pl.col("fourth"), every)


# So wide that the logit of a share of the range is the logarithm of the ratio.
_RANGE = {"observed_expected": 2.0**20, "brier_skill": 2.0**12}


@dataclass(frozen=True)
class BesideRate(MeanLoss):
    """A mean of losses beside the share of positives p: a ratio, which both of them move.

    ``observed_expected`` is p over the mean score, and ``brier_skill`` 1 minus the Brier score over
    ``p (1 - p)``, which is the Brier score of p itself. Rows without a loss do not tell a variance.
    """

    higher_is_better = True
    is_defined = (POSITIVES > 0) & (NEGATIVES > 0) & (pl.min_horizontal(ESTIMATE, SHORTFALL) >= 0)
    status = UNDEFINED_IF_NULL

    @property
    def _is_skill(self) -> bool:
        return self.of == "brier_skill"

    @property
    def lowest(self) -> float:
        """The lowest value; there is none beyond the range."""
        return 1 - self.span if self._is_skill else 0.0

    @property
    def span(self) -> float:
        """The width of the range."""
        return _RANGE[self.of]

    def influences_of(self, ties: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        """Return the scores, with the influence of their rows."""
        loss = MeanLoss(of="brier" if self._is_skill else "mean_score")
        rows, mean, names = POSITIVES + NEGATIVES, pl.col(ESTIMATE), ("on_positive", "on_negative")
        p, q = POSITIVES / rows, NEGATIVES / rows
        of_rate = zip(names, (q / rows, -p / rows), strict=True)
        if self._is_skill:
            share = mean / (p * q) / self.span
            both = (1 - share, share)
            moved = [
                (share * (q - p) * by - pl.col(on) / self.span) / (p * q) for on, by in of_rate
            ]
        else:
            share = p / mean / self.span
            both = (share, 1 - share)
            moved = [(by / self.span - share * pl.col(on)) / mean for on, by in of_rate]
        found = zip((ESTIMATE, SHORTFALL, *names), (*both, *moved), strict=True)
        return loss.influences_of(ties, ranking).with_columns(**dict(found))

    @property
    def rests_on(self) -> pl.Expr:
        """How many rows the variance rests on."""
        return pl.when(pl.col(SHORTFALL) > 0).then(super().rests_on)


def _fourth(squared: str, weight: str, of_class: str) -> pl.Expr:
    """Return the sum of the fourth powers of the influences of the rows of a score and class."""
    of_row = (pl.col(squared) / pl.col(weight)).fill_nan(0.0)
    return pl.col(squared) * of_row**2 * pl.col(f"on_{of_class}") ** 4


def _above(share: pl.Expr, left: pl.Expr) -> pl.Expr:
    """Return a share minus the mean; ``left`` is 1 minus it."""
    return above_average(share, left, pl.col(ESTIMATE), pl.col(SHORTFALL))
