"""Measures of probabilities: means over the rows of what each row's score and class cost.

With a loss ``l(score, class)`` and W the weight of all rows, one more unit of weight on a row
changes the mean by ``(l - mean) / W``. Where each row counts as one, sums of powers of deviations
from the mean of each class are enough, and scores need no order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import polars as pl
import polars.selectors as cs

from frame_prc import _formulas as formulas
from frame_prc._curves.logit_intervals import FEW_POSITIVES
from frame_prc._inference import measure
from frame_prc._lazy import segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import EACH_ROW

# Probabilities are kept so far from 0 and 1 for a logarithm, as scikit-learn does.
_EPSILON_OF_64_BITS = 2.0**-52
_EPSILON: dict[pl.DataType, float] = {pl.Float32(): 2.0**-23, pl.Float16(): 2.0**-10}
_LARGEST_LOG_LOSS = -math.log(_EPSILON_OF_64_BITS)
# So that sums over 2**33 rows are exact (see `exact_parts`).
_SCALE = 2.0**-20


Shares: TypeAlias = tuple[Any, Any, Any, Any]


class Loss(NamedTuple):
    """What a positive and a negative row cost, and 1 minus each, as shares of the range."""

    shares: Callable[[Any, float], Shares]
    lowest: float = 0.0
    span: float = 1.0
    higher_is_better: bool = False


def _score(p: Any, _: float) -> Shares:
    return p, p, 1 - p, 1 - p


def _gap(p: Any, _: float) -> Shares:
    """Return the score less the class, from -1 to 1."""
    return p / 2, (1 + p) / 2, 1 - p / 2, (1 - p) / 2


def _squared(p: Any, _: float) -> Shares:
    on_positive, on_negative = (1 - p) ** 2, p**2
    return on_positive, on_negative, p * (2 - p), (1 - p) * (1 + p)


def _logarithmic(p: Any, epsilon: float) -> Shares:
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
class MeanLoss(measure.TiedMeasure):
    of: str = "brier"
    summed_points = EACH_ROW
    scored = True
    counted = True
    of_hits = False
    few = "few_rows"
    fewest = formulas.ENOUGH_TOLD
    kept = ("is_few",)
    weighed = (False, False)  # fourth powers tell
    status = measure.OF_ANY_CLASS
    is_defined = measure.POSITIVES + measure.NEGATIVES > 0

    @property
    def name(self) -> str:
        return self.of

    @property
    def loss(self) -> str:
        return self.of

    @property
    def lowest(self) -> float:
        return LOSSES[self.of].lowest

    @property
    def span(self) -> float:
        return LOSSES[self.of].span

    @property
    def higher_is_better(self) -> bool:
        return LOSSES[self.of].higher_is_better

    def sums_of_parts(self, parts: Sequence[pl.LazyFrame], ranking: Ranking) -> pl.LazyFrame:
        if not measure.are_single(ranking, self.summed_points):
            return super().sums_of_parts(parts, ranking)
        of = measure.Dialect(ranking)
        sums = _sums_over_rows(parts, self.loss, of, _SUMS | _POWERS)
        classes = ranking.rows.once(ranking.rows.windowed(sums))
        return _sums_of_classes(self.beside_rate(_with_means(classes, of), of))

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        if not measure.are_single(ranking, self.summed_points):
            return super().valued(ranking)
        of, rows = measure.Dialect(ranking), ranking.segments.numbered(ranking.rows.used())
        parts = [rows.filter(one) for one in ("truth", ~pl.col("truth"))]
        sums = ranking.rows.once(_sums_over_rows(parts, self.loss, of, _SUMS))
        found: pl.LazyFrame = self.beside_rate(_with_means(sums, of), of)
        return found.with_columns(pl.when(self.is_defined).then("estimate").alias("estimate"))

    def beside_rate(self, table: Any, of: measure.Dialect) -> Any:  # noqa: ARG002 - of a ratio
        return table

    def influences_of(self, points: Any, of: measure.Dialect) -> Any:
        names = ("on_positive", "on_negative", "left_of_positive", "left_of_negative")
        losses = dict(zip(names, _losses(self.loss, of), strict=True))
        on_positive, on_negative, left_of_positive, left_of_negative = of.cols(*names)
        gain, lost, rows = of.cols("gain", "losses", "rows")
        shared = (
            of.with_score(of.with_amounts(points))
            .with_columns(
                # The row that opens a segment has no score, and no rows.
                probability=of.when_retrieved(_probability(of.lib.col("score"))).otherwise(0.0),
                rows=of.lib.col("positives") + of.lib.col("negatives"),
            )
            .with_columns(**losses)
            .with_columns(
                share=(gain * on_positive + lost * on_negative) / rows,
                left=(gain * left_of_positive + lost * left_of_negative) / rows,
            )
        )
        summed = of.with_sums(shared, exact={"estimate": "share", "shortfall": "left"})
        measured, squared = of.cols("estimate", "shortfall"), rows
        if of.squares:
            squared = of.lib.col("positives_squares") + of.lib.col("negatives_squares")
        influences = summed.with_columns(
            (formulas.effective_number(rows, squared) < FEW_POSITIVES).alias("is_few"),
            on_positive=formulas.above_average(on_positive, left_of_positive, *measured) / rows,
            on_negative=formulas.above_average(on_negative, left_of_negative, *measured) / rows,
        )
        return self.beside_rate(influences, of)

    def terms(self, of: measure.Dialect) -> dict[str, Any]:
        both = (("pos", "gain", "positive"), ("neg", "losses", "negative"))
        of_positives, of_negatives = (_fourth(of, *one) for one in both)
        return {"fourth": of_positives + of_negatives}

    @property
    def term_names(self) -> Sequence[str]:
        return ("fourth",)

    @property
    def rests_on(self) -> pl.Expr:
        every = formulas.effective_number(
            measure.POSITIVES + measure.NEGATIVES, pl.col("pos") + pl.col("neg")
        )
        return formulas.told_by(pl.col("variance"), pl.col("fourth"), every)


# So wide that the logit of a share of the range is the logarithm of the ratio.
_RANGE = {"observed_expected": 2.0**20, "brier_skill": 2.0**12}


@dataclass(frozen=True)
class BesideRate(MeanLoss):
    """A mean of losses beside the share of positives p: a ratio, which both of them move.

    ``observed_expected`` is p over the mean score, ``brier_skill`` 1 - Brier score / ``p (1 - p)``.
    """

    higher_is_better = True
    # A quotient by a mean score, or a variance of labels, of 0 is not finite.
    is_defined = pl.col("estimate").is_finite()
    status = measure.UNDEFINED_IF_NULL

    @property
    def _is_skill(self) -> bool:
        return self.of == "brier_skill"

    @property
    def lowest(self) -> float:
        return 1 - self.span if self._is_skill else 0.0

    @property
    def span(self) -> float:
        return _RANGE[self.of]

    @property
    def loss(self) -> str:
        return "brier" if self._is_skill else "mean_score"

    def beside_rate(self, table: Any, of: measure.Dialect) -> Any:
        rows, mean = of.cols("rows", "estimate")
        names = ("on_positive", "on_negative")
        p, q = of.cols("share_of_positives", "share_of_negatives")
        of_rate = zip(names, (q / rows, -p / rows), strict=True)
        if self._is_skill:
            share = mean / (p * q) / self.span
            both, slope = (1 - share, share), -1 / (p * q) / self.span
            moved = [
                (share * (q - p) * by - of.lib.col(on) / self.span) / (p * q) for on, by in of_rate
            ]
        else:
            share = p / mean / self.span
            both, slope = (share, 1 - share), -share / mean
            moved = [(by / self.span - share * of.lib.col(on)) / mean for on, by in of_rate]
        found = zip(("estimate", "shortfall", "slope", *names), (*both, slope, *moved), strict=True)
        rated = table.with_columns(
            share_of_positives=of.lib.col("positives") / rows,
            share_of_negatives=of.lib.col("negatives") / rows,
        )
        return rated.with_columns(**dict(found))

    @property
    def rests_on(self) -> pl.Expr:
        is_inside = (pl.col("shortfall") > 0) & (pl.col("estimate") > 0)
        return pl.when(is_inside).then(super().rests_on)


def _losses(name: str, of: measure.Dialect) -> Shares:
    epsilon = _EPSILON.get(of.score_dtype, _EPSILON_OF_64_BITS)
    return LOSSES[name].shares(of.lib.col("probability"), epsilon)


def _probability(score: Any) -> Any:
    """Return a score as a probability: sums of Float32 may exceed 1."""
    return score.cast(formulas.library(score).Float64).clip(0.0, 1.0)


# --- sums of single rows -------------------------------------------------------------------------


_ROWS, _SHARE, _VARIANCE = pl.len().cast(pl.Int64), pl.col("share"), pl.col("share").var(ddof=0)
_TOTAL = pl.col("coarse").sum() + pl.col("fine").sum()
# What is summed over the rows of a class, by what follows its name: losses, exactly, in any order,
_SUMS = {"": _ROWS, "_share": _TOTAL, "_left": _ROWS * _SCALE - _TOTAL}
# and powers of their deviations.
_POWERS = {
    "_2": _ROWS * _VARIANCE,
    "_3": _ROWS * _VARIANCE**1.5 * _SHARE.skew(),
    "_4": _ROWS * _VARIANCE**2 * _SHARE.kurtosis(fisher=False),
}


def _sums_over_rows(
    classes: Sequence[pl.LazyFrame], loss: str, of: measure.Dialect, sums: Mapping[str, pl.Expr]
) -> pl.LazyFrame:
    on_positive, on_negative, *_ = _losses(loss, of)
    table = of.ranking.segments.table.select("segment").sort("segment")
    shares = (("positives", on_positive), ("negatives", on_negative))
    for rows, (name, share) in zip(classes, shares, strict=True):
        scored = rows.with_columns(probability=_probability(pl.col("score")))
        costs = scored.select("segment", share=share)
        parts = zip(("coarse", "fine"), formulas.exact_parts(pl.col("share") * _SCALE), strict=True)
        losses = costs.with_columns(**dict(parts)).group_by("segment")
        own = losses.agg(one.alias(f"{name}{of_class}") for of_class, one in sums.items())
        table = segment_join(table, own)
    # Deviations of equal losses have no shape.
    return table.with_columns(cs.float().fill_nan(0.0)).fill_null(0)


def _with_means(classes: pl.LazyFrame, of: measure.Dialect) -> pl.LazyFrame:
    """Add the mean loss, and the influence on it of a row whose loss is the mean of its class."""
    rows, measured = pl.col("rows"), of.cols("estimate", "shortfall")

    def total(one: str) -> pl.Expr:
        both = pl.col(f"positives_{one}") + pl.col(f"negatives_{one}")
        return (both / (rows * _SCALE)).clip(upper_bound=1.0)

    def mean_above(name: str) -> pl.Expr:
        share, left = (
            pl.col(f"{name}_{one}") / (pl.col(name) * _SCALE) for one in ("share", "left")
        )
        above: pl.Expr = formulas.above_average(share, left, *measured) / rows
        return above.fill_nan(0.0)

    return (
        classes.with_columns(rows=measure.POSITIVES + measure.NEGATIVES)
        .with_columns(total("share").alias("estimate"), total("left").alias("shortfall"))
        .with_columns(
            on_positive=mean_above("positives"), on_negative=mean_above("negatives"), slope=1.0
        )
    )


def _sums_of_classes(table: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sums of powers of influences over the rows of each segment.

    An influence is that of the mean loss of the class, and ``slope / rows`` times the deviation.
    """
    by = pl.col("slope") / pl.col("rows")
    classes = {"positives": pl.col("on_positive"), "negatives": pl.col("on_negative")}

    def second(name: str) -> pl.Expr:
        return pl.col(name) * classes[name] ** 2 + by**2 * pl.col(f"{name}_2")

    def fourth(name: str) -> pl.Expr:
        mean, *powers = classes[name], *(by**k * pl.col(f"{name}_{k}") for k in (2, 3, 4))
        two, three, four = powers
        return pl.col(name) * mean**4 + 6 * mean**2 * two + 4 * mean * three + four

    return table.select(
        "segment",
        "positives",
        "negatives",
        "estimate",
        "shortfall",
        (measure.POSITIVES + measure.NEGATIVES < FEW_POSITIVES).alias("is_few"),
        variance=second("positives") + second("negatives"),
        of_negatives=second("negatives"),
        pos=measure.POSITIVES.cast(pl.Float64),
        neg=measure.NEGATIVES.cast(pl.Float64),
        **dict.fromkeys(measure.BIAS, pl.lit(0.0)),
        fourth=fourth("positives") + fourth("negatives"),
    )


# --- fourth powers -------------------------------------------------------------------------------


def _fourth(of: measure.Dialect, squared: str, weight: str, of_class: str) -> Any:
    """Return the sum of the fourth powers of the influences of the rows of a score and class."""
    squares, amount, influence = of.cols(squared, weight, f"on_{of_class}")
    of_row = of.lib.when(amount > 0).then(squares / amount).otherwise(0.0)
    return squares * of_row**2 * influence**4
