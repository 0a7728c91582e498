"""Tails and quantiles of common distributions, in plain Python: SciPy is not required.

All are incomplete integrals: of the beta function for beta, binomial, F and Student's t, and of the
gamma function for chi-square. They are computed from their continued fractions by the method of
Lentz, or from a power series, whichever converges faster (Press et al., Numerical Recipes, 6.2 and
6.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from statistics import NormalDist

import polars as pl

_TINY = 1e-300  # stands for 0 in a denominator
_CONVERGED = 1e-16
_PRECISE = 1e-12  # of a step that doubles the number of digits
_STEPS = 100  # of Newton's method, which needs about five
_LARGE = 20.0  # from here on the series of a ratio of gamma functions is exact to 1e-15


def student_p_value(t: float, degrees: float) -> float:
    """Return the probability that Student's t is at least as far from 0."""
    squares = t * t
    if squares == 0 or math.isinf(squares):
        return 1.0 if squares == 0 else 0.0
    a, x = degrees / 2, degrees / (degrees + squares)
    # By log1p, so that many degrees of freedom lose no digits.
    log_power = -a * math.log1p(squares / degrees) + 0.5 * math.log(squares / (degrees + squares))
    factor = math.exp(log_power - _log_beta_half(a))
    if x < (a + 1) / (a + 2.5):
        return factor / a / _fraction(_beta_terms(a, 0.5, x))
    return 1 - 2 * factor / _fraction(_beta_terms(0.5, a, 1 - x))


@lru_cache(maxsize=2**16)  # many means are of as many segments
def student_quantile(level: float, degrees: float) -> float:
    # The logarithm of the tail is a concave function of the logarithm of t, so that Newton's method
    # approaches the quantile from one side, after the first step at the latest.
    tail = 1 - level
    t = -NormalDist().inv_cdf(tail / 2)
    log_density = -_log_beta_half(degrees / 2) - 0.5 * math.log(degrees)
    for _ in range(_STEPS):
        p = student_p_value(t, degrees)
        density = math.exp(log_density - (degrees + 1) / 2 * math.log1p(t * t / degrees))
        step = math.log(p / tail) * p / (2 * density * t)
        t *= math.exp(step)
        if abs(step) < _PRECISE:
            break
    return t


def chi_square_p_value(x: float, degrees: float) -> float:
    a, half = degrees / 2, x / 2
    if half <= 0:
        return 1.0
    factor = math.exp(a * math.log(half) - half - math.lgamma(a))
    if half < a + 1:
        return 1 - factor * _gamma_series(a, half)
    return factor / _fraction(_gamma_terms(a, half))


def f_p_value(x: float, degrees: float, others: float) -> float:
    """Return the probability that F is at least as large; ``others`` are those of its divisor."""
    if x <= 0:
        return 1.0
    ratio = degrees * x / others
    log_rest = -math.log1p(ratio)
    return math.exp(_log_beta_cdf(log_rest, math.log(ratio) + log_rest, others / 2, degrees / 2))


def binomial_cdf(k: float, n: float, share: float) -> float:
    if k >= n:
        return 1.0
    if k < 0 or share >= 1:
        return 0.0
    if share <= 0:
        return 1.0
    return math.exp(_log_beta_cdf(math.log1p(-share), math.log(share), n - k, k + 1))


def clopper_low(hits: float, misses: float, tail: float) -> float:
    """Return the lower exact limit of a share of hits (Clopper & Pearson 1934)."""
    return 0.0 if hits <= 0 else beta_quantile(tail, hits, misses + 1)


@lru_cache(maxsize=2**16)  # many thresholds and recalls have the same counts
def beta_quantile(p: float, a: float, b: float) -> float:
    if p > 0.5:  # noqa: PLR2004
        return 1 - beta_quantile(1 - p, b, a)
    # The logarithm of the distribution function is concave in the logit of x, as that of Student's
    # t is in the logarithm of t. The start is a normal approximation on the logit scale.
    goal, log_beta = math.log(p), math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    logit = math.log(a / b) + NormalDist().inv_cdf(p) * math.sqrt(1 / a + 1 / b)
    for _ in range(_STEPS):
        log_x, log_rest = -_log1p_exp(-logit), -_log1p_exp(logit)
        log_p = _log_beta_cdf(log_x, log_rest, a, b)
        slope = math.exp(a * log_x + b * log_rest - log_beta - log_p)
        step = (goal - log_p) / slope
        logit += step
        if abs(step) < _PRECISE * max(1.0, abs(logit)):
            break
    return math.exp(-_log1p_exp(-logit))


def _log_beta_cdf(log_x: float, log_rest: float, a: float, b: float) -> float:
    x, rest = math.exp(log_x), math.exp(log_rest)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    log_power = a * log_x + b * log_rest - log_beta
    if x < (a + 1) / (a + b + 2):
        return log_power - math.log(a * _fraction(_beta_terms(a, b, x)))
    return math.log1p(-math.exp(log_power) / (b * _fraction(_beta_terms(b, a, rest))))


def _log1p_exp(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _log_beta_half(a: float) -> float:
    if a < _LARGE:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    else:
        series = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432)
        terms = (term / a ** (2 * k + 1) for k, term in enumerate(series))
        ratio = 0.5 * math.log(a) + sum(terms)
    return math.lgamma(0.5) - ratio


def _beta_terms(a: float, b: float, x: float) -> Iterator[tuple[float, float]]:
    yield 0.0, 1.0
    for m in count():
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        n = m + 1
        yield n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)), 1.0


def _gamma_terms(a: float, x: float) -> Iterator[tuple[float, float]]:
    yield 0.0, x + 1 - a
    for n in count(1):
        yield n * (a - n), x + 2 * n + 1 - a


def _fraction(terms: Iterator[tuple[float, float]]) -> float:
    value = next(terms)[1] or _TINY
    c, d = value, 0.0
    for numerator, denominator in terms:
        d = 1 / (denominator + numerator * d or _TINY)
        c = denominator + numerator / c or _TINY
        value *= c * d
        # So that a value that is not a number ends it too.
        if not abs(c * d - 1) >= 4 * _CONVERGED:
            return value
    raise AssertionError  # the terms have no end


def _gamma_series(a: float, x: float) -> float:
    term = total = 1 / a
    for n in count(1):
        term *= x / (a + n)
        total += term
        if not term >= total * _CONVERGED:
            break
    return total


# --- exact limits of shares, as columns (Clopper & Pearson 1934) -------------------------------

_LIMITS = {"low": pl.Float64(), "high": pl.Float64()}


def with_exact_limits(trials: pl.LazyFrame, tail: float) -> pl.LazyFrame:
    """Add the limits ``low, high`` of the share of ``hits`` among ``hits`` and ``misses``."""

    def limits(frame: pl.DataFrame) -> pl.DataFrame:
        found = [
            _limits(*row, tail=tail) for row in frame.select("hits", "misses", "kept").iter_rows()
        ]
        return frame.hstack(pl.DataFrame(found, schema=_LIMITS, orient="row"))

    schema = pl.Schema({**trials.collect_schema(), **_LIMITS})
    return trials.map_batches(limits, schema=schema, streamable=True)


def _limits(
    hits: float | None, misses: float | None, kept: float, *, tail: float
) -> tuple[float | None, float | None]:
    if hits is None or misses is None or not hits + misses > 0:
        return None, None
    lost = hits * (1 - kept)
    return clopper_low(hits - lost, misses + lost, tail), 1 - clopper_low(misses, hits, tail)
