"""The formulas, each once: for expressions of Polars and Narwhals, and for arrays where it can be.

Narwhals has the names of Polars, so a formula stands once for both.
"""

from __future__ import annotations

import sys
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

ExprT = TypeVar("ExprT", pl.Expr, "nw.Expr")
# Plain arithmetic also serves arrays: blocks of replicates.
Amounts = TypeVar("Amounts", pl.Expr, "nw.Expr", "NDArray[np.float64]")

# Below this the series of x - log(1 + x) beats the difference, with 15 terms to 1e-17.
_SERIES_BELOW = 0.1
# Multiples of its inverse add up exactly, in any order, as long as they stay below 2**13.
_COARSE = 2.0**40


# --- rates ---------------------------------------------------------------------------------------


def precision(tp: Amounts, fp: Amounts) -> Amounts:
    """Return the share of positives among the rows predicted positive."""
    return tp / (tp + fp)


def recall(tp: ExprT, positives: ExprT) -> ExprT:
    """Return the share of the positives that is found; null where there are none."""
    found: ExprT = library(tp).when(positives > 0).then(tp / positives)
    return found


def f_score(tp: pl.Expr, fp: pl.Expr, fn: pl.Expr, beta: pl.Expr | float) -> pl.Expr:
    """Return the F-beta score, the harmonic mean that weighs recall beta times precision."""
    weighted_tp = (1 + beta * beta) * tp
    return weighted_tp / (weighted_tp + beta * beta * fn + fp)


def calibrated_precision(
    tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr, odds: pl.Expr | float
) -> pl.Expr:
    """Return the precision the same ranking has at another prevalence (Siblini et al. 2020).

    It is given as the odds of a negative: next to 1 a prevalence has no digits left for them.
    """
    return tp / (tp + positives / negatives * odds * fp)


def precision_gain(tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return precision on the gain scale: 1 is perfect, 0 is as good as calling all positive."""
    return gain_over(tp, fp, positives, negatives) / (negatives.cast(pl.Float64) * tp)


def recall_gain(tp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return recall on the gain scale: 1 is full recall, 0 a recall equal to the prevalence."""
    return precision_gain(tp, positives - tp, positives, negatives)


def gain_over(tp: pl.Expr, wrong: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return ``negatives * tp - positives * wrong``, a gain before it is divided.

    It is linear along a step, and exact for counts whose product a float holds.
    """
    return negatives.cast(pl.Float64) * tp - positives.cast(pl.Float64) * wrong


# --- areas and intervals -------------------------------------------------------------------------


def step_area(gain: Amounts, tp: Amounts, fp: Amounts, positives: Amounts) -> Amounts:
    """Return what one step adds to the average precision: ``(R_n - R_(n-1)) * P_n``."""
    # Divided first: the product of a tiny weight and a tiny precision would be zero.
    return gain / positives * precision(tp, fp)


def wilson_low(hits: pl.Expr, misses: pl.Expr, z: float) -> pl.Expr:
    """Return the lower end of Wilson's interval for a share of hits (1927, JASA 22:209).

    The upper end is 1 less the lower end for the misses. As the smaller root of a quadratic over
    its larger one, it loses nothing where hits are few. Without hits it is 0, also where ``z`` is.
    """
    n = hits + misses
    root = (hits * (misses / n) + z * z / 4).sqrt()
    low = hits / n * (hits / (hits + z * z / 2 + z * root))
    return pl.when(hits > 0).then(low).otherwise(0.0)


def normal_quantile(level: float) -> float:
    """Return how many standard errors hold so much of a normal distribution."""
    return NormalDist().inv_cdf((1 + level) / 2)


# --- segments ------------------------------------------------------------------------------------


def sizes(positives: ExprT, negatives: ExprT) -> list[ExprT]:
    """Return the size columns of a segment, and its status."""
    n, of = positives + negatives, library(positives)
    status = (
        of.when(n == 0)
        .then(of.lit("empty"))
        .when(positives == 0)
        .then(of.lit("no_positives"))
        .when(negatives == 0)
        .then(of.lit("no_negatives"))
        .otherwise(of.lit("ok"))
    )
    return [
        n.alias("n"),
        positives.alias("n_pos"),
        of.when(n > 0).then(positives / n).alias("prevalence"),
        status.alias("status"),
    ]


# --- sums without lost digits --------------------------------------------------------------------


def exact_sum(terms: ExprT) -> ExprT:
    """Return the sum of terms from 0 to 1: the same in any order, to the last digit.

    Added one by one, a million equal terms would each round the same way, and lose five digits.
    """
    coarse = (terms * _COARSE).floor() / _COARSE
    added: ExprT = coarse.sum() + (terms - coarse).sum()
    return added


def total(terms: ExprT) -> ExprT:
    """Return the exact sum of terms that make at most 1.

    Where the terms themselves are rounded, as shares of weights are, they may make a little more.
    """
    return exact_sum(terms).clip(upper_bound=1.0)


def addable(lengths: pl.Expr) -> pl.Expr:
    """Round lengths so that they add up exactly, in any order, as long as they make below 2**13."""
    return (lengths * _COARSE).round() / _COARSE


def minus_log1p(x: pl.Expr) -> pl.Expr:
    """Return ``x - log(1 + x)`` to full precision, by its series where the two nearly cancel."""
    series = pl.lit(0.0)
    for k in range(16, 1, -1):
        series = (1 / k if k % 2 == 0 else -1 / k) + x * series
    return pl.when(x < _SERIES_BELOW).then(x * x * series).otherwise(x - x.log1p())


# --- expressions of any library ------------------------------------------------------------------


def unsigned_zero(value: ExprT, dtype: pl.DataType) -> ExprT:
    """Return floats with one zero: of -0.0 and 0.0 a group would keep that of some row."""
    if not dtype.is_float():
        return value
    one: ExprT = library(value).when(value != 0).then(value).otherwise(value.abs())
    return one


def without_nan(value: ExprT, dtype: pl.DataType) -> ExprT:
    """Return a column with null for NaN, where there can be any."""
    return value.fill_nan(None) if dtype.is_float() else value


def library(expression: object) -> Any:
    """Return the library an expression is of, for its ``when`` and ``lit``."""
    return sys.modules[type(expression).__module__.partition(".")[0]]
