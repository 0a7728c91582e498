"""The formulas, each written once, as expressions of Polars and of Narwhals, or of arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from math import fsum
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import polars as pl

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

# Makes a column, of Polars or of Narwhals.
Col: TypeAlias = Callable[[str], Any]
ExprT = TypeVar("ExprT", pl.Expr, "nw.Expr")
# The bootstrap applies plain arithmetic to arrays of replicates.
Amounts = TypeVar("Amounts", pl.Expr, "nw.Expr", "NDArray[np.float64]")

# Below this the series of x - log(1 + x), with 6 terms exact to 1e-17, beats the difference.
_SERIES_BELOW, _SERIES_TERMS = 0.1, 6
# Of this many terms or more, the asymptotic series gives a harmonic number to 1e-16. It has the
# coefficients B_2k / 2k, with the Bernoulli numbers B_2k.
ASYMPTOTIC = 16
BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132)
_EULER = 0.5772156649015329
# Multiples of 1 / _COARSE add up exactly, in any order, as long as their sum is below 2**13.
_COARSE = 2.0**40


# --- rates ---------------------------------------------------------------------------------------


def precision(tp: Amounts, fp: Amounts) -> Amounts:
    return tp / (tp + fp)


def recall(tp: ExprT, positives: ExprT) -> ExprT:
    """Return the share of the positives that is predicted positive; null without positives."""
    found: ExprT = library(tp).when(positives > 0).then(tp / positives)
    return found


def f_score(tp: ExprT, fp: ExprT, fn: ExprT, beta: ExprT | float) -> ExprT:
    """Return the F-beta score: the harmonic mean in which recall weighs beta times precision."""
    weighted_tp = (1 + beta * beta) * tp
    return weighted_tp / (weighted_tp + beta * beta * fn + fp)


def calibrated_precision(
    tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr, odds: pl.Expr | float
) -> pl.Expr:
    """Return the precision that the ranking would have at another prevalence (Siblini et al. 2020).

    ``odds`` are those of a negative: computed from a prevalence close to 1 they would lose digits.
    """
    return precision(tp, odds_ratio(positives, negatives, odds) * fp)


def odds_ratio(positives: ExprT, negatives: ExprT, odds: ExprT | float) -> ExprT:
    """Return what a negative of a segment counts as at other odds of a negative."""
    return positives / negatives * odds


def precision_gain(tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return precision on the gain scale: 1 is precision 1, 0 is precision at the prevalence."""
    return gain_over(tp, fp, positives, negatives) / (negatives.cast(pl.Float64) * tp)


def recall_gain(tp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return recall on the gain scale: 1 is full recall, 0 is a recall equal to the prevalence."""
    return precision_gain(tp, positives - tp, positives, negatives)


def gain_over(tp: pl.Expr, wrong: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return ``negatives * tp - positives * wrong``, the numerator of a gain."""
    return negatives.cast(pl.Float64) * tp - positives.cast(pl.Float64) * wrong


# --- areas and intervals -------------------------------------------------------------------------


def step_area(gain: Amounts, tp: Amounts, fp: Amounts, positives: Amounts) -> Amounts:
    # Divide first: a tiny weight times a tiny precision would underflow to zero.
    return gain / positives * precision(tp, fp)


def above_average(precision: ExprT, error: ExprT, area: ExprT, shortfall: ExprT) -> ExprT:
    """Return precision minus average precision, near 1 from their distances from 1."""
    far = precision - area
    above: ExprT = library(area).when(area < 0.5).then(far).otherwise(shortfall - error)  # noqa: PLR2004
    return above


def normal_quantile(level: float) -> float:
    """Return ``z`` such that the share ``level`` of a normal lies within ``z`` standard errors."""
    return NormalDist().inv_cdf((1 + level) / 2)


def wallace(degrees: Any) -> Any:
    """Return the factor in the normal deviate for Student's t of Wallace (1959).

    It is ``factor * sqrt(degrees * log(1 + t^2 / degrees))`` (doi 10.1214/aoms/1177706095).
    """
    return (8 * degrees + 1) / (8 * degrees + 3)


# --- segments ------------------------------------------------------------------------------------


def sizes(positives: ExprT, negatives: ExprT) -> list[ExprT]:
    n, lib = positives + negatives, library(positives)
    status = (
        lib.when(n == 0)
        .then(lib.lit("empty"))
        .when(positives == 0)
        .then(lib.lit("no_positives"))
        .when(negatives == 0)
        .then(lib.lit("no_negatives"))
        .otherwise(lib.lit("ok"))
    )
    return [
        n.alias("n"),
        positives.alias("n_pos"),
        lib.when(n > 0).then(positives / n).alias("prevalence"),
        status.alias("status"),
    ]


FEWEST_TOLD = 6.0  # rows; see `told_by`
# By simulation Student's t of more covered 92 to 98 %; few more than the fewest may be fewer.
ENOUGH_TOLD = 8.0


def told_by(variance: pl.Expr, fourth: pl.Expr, every: pl.Expr) -> pl.Expr:
    """Return how many normal rows would tell as much of a variance, at most ``every``.

    Of n rows whose influences have the kurtosis k they are ``2 n / (k - 1)`` (Satterthwaite 1946,
    doi 10.2307/3002019), from the sums of squares and ``fourth`` powers; with fewer than 6
    Student's t would be wider than any value.
    """
    alike = variance * (variance / fourth)  # so many rows of equal influences
    known = (2 * alike / (1 - alike / every)).clip(lower_bound=FEWEST_TOLD)
    return pl.when(alike < every).then(pl.min_horizontal(every, known)).otherwise(every)


def effective_number(weight: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """Return how many rows of equal weight count as much: from the sums of weights and squares."""
    return weight * (weight / squares)


# --- sums without lost digits --------------------------------------------------------------------


def exact_sum(terms: ExprT) -> ExprT:
    """Return the sum of terms from 0 to 1, identical to the last digit in any order."""
    coarse, fine = exact_parts(terms)
    return coarse.sum() + fine.sum()


def exact_parts(terms: ExprT) -> tuple[ExprT, ExprT]:
    """Return terms as two parts; sums of each are exact enough that the order does not matter."""
    # By a power of two a product is as exact as a quotient, which costs Spark a check for zero.
    coarse = (terms * _COARSE).floor() * (1 / _COARSE)
    return coarse, terms - coarse


def total(terms: ExprT) -> ExprT:
    """Return the exact sum of terms whose true sum is at most 1: rounded ones may exceed it."""
    return exact_sum(terms).clip(upper_bound=1.0)


def addable(lengths: pl.Expr) -> pl.Expr:
    """Round lengths so that they add up exactly, in any order, up to a sum of 2**13."""
    return (lengths * _COARSE).round() / _COARSE


def minus_log1p(x: ExprT) -> ExprT:
    """Return ``x - log(1 + x)`` to full precision, by its series where the terms nearly cancel."""
    small = _minus_log1p_series(x)
    found: ExprT = library(x).when(x < _SERIES_BELOW).then(small).otherwise(x - log1p(x))
    return found


def log1p(x: ExprT) -> ExprT:
    """Return ``log(1 + x)`` to full precision; Narwhals has no function for it."""
    if isinstance(x, pl.Expr):
        return x.log1p()
    small = x - _minus_log1p_series(x)
    found: ExprT = library(x).when(x < _SERIES_BELOW).then(small).otherwise((1 + x).log())
    return found


def _minus_log1p_series(x: ExprT) -> ExprT:
    """Return ``x - log(1 + x)``, where ``log(1 + x) = 2 (s + s^3 / 3 + s^5 / 5 + ...)``."""
    s = x / (2 + x)
    square = s * s
    series: ExprT = library(x).lit(1 / (2 * _SERIES_TERMS + 1))
    for k in range(_SERIES_TERMS - 1, 0, -1):
        series = 1 / (2 * k + 1) + square * series
    return s * (x - 2 * square * series)


def harmonic(n: ExprT) -> ExprT:
    """Return ``1 + 1/2 + ... + 1/n`` of a column of whole numbers; Narwhals has no lists."""
    if not isinstance(n, pl.Expr):
        shifted: ExprT = _harmonic_of_many(n + ASYMPTOTIC)
        for k in range(ASYMPTOTIC, 0, -1):
            shifted = shifted - 1 / (n + k)
        return shifted
    found = pl.lit(_few_harmonic()).gather(n.clip(0, ASYMPTOTIC - 1))
    return pl.when(n < ASYMPTOTIC).then(found).otherwise(_harmonic_of_many(n))


@cache
def _few_harmonic() -> pl.Series:
    return pl.Series([fsum(1 / k for k in range(1, m + 1)) for m in range(ASYMPTOTIC)])


def _harmonic_of_many(n: ExprT) -> ExprT:
    lib = library(n)
    powers = enumerate(BERNOULLI, start=1)
    tail = sum((c * n.cast(lib.Float64) ** (-2 * k) for k, c in powers), lib.lit(0.0))
    found: ExprT = n.log() + (_EULER + 0.5 / n - tail)
    return found


def rounding(*, weighted: bool) -> pl.Expr | float:
    """Return by how much sums may be rounded, relative to their size; 0 for counts."""
    # A number, and a column of floats: Polars before 1.43 fails where a plan twice uses what is a
    # literal, as are ``1 + pl.lit(0.0)`` and the 1 that is added to an integer times 0.1.
    return rounding_of(pl.col("n_terms").cast(pl.Float64)) if weighted else 0.0


def rounding_of(n_terms: Any) -> Any:
    """Return by how much sums of so many terms may be rounded, relative to their size."""
    return (n_terms + 1) * sys.float_info.epsilon


def rounded_to_digits(value: ExprT, digits: int) -> ExprT:
    """Round to a number of significant digits; Narwhals has no function for it."""
    if isinstance(value, pl.Expr):
        return value.round_sig_figs(digits)
    size = value.abs()
    scale = 10.0 ** (digits - 1 - size.log(10).floor())
    found: ExprT = library(value).when(size > 0).then((value * scale).round() / scale)
    rounded: ExprT = library(value).coalesce(found, value)
    return rounded


# --- expressions of either library ---------------------------------------------------------------


def unsigned_zero(value: ExprT, dtype: pl.DataType) -> ExprT:
    """Return 0.0 for -0.0, as a group of both would show the one that some row happens to have."""
    if not dtype.is_float():
        return value
    one: ExprT = library(value).when(value != 0).then(value).otherwise(value.abs())
    return one


def without_nan(value: ExprT, dtype: pl.DataType) -> ExprT:
    return value.fill_nan(None) if dtype.is_float() else value


def library(expression: object) -> Any:
    """Return the library of an expression, for its ``when`` and ``lit``."""
    return sys.modules[type(expression).__module__.partition(".")[0]]
