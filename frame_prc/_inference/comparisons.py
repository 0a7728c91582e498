"""Differences of two areas, with interval and test, and how far many segments differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from math import fsum
from operator import mul
from typing import Any, NamedTuple

import polars as pl

from frame_prc._formulas import library, normal_quantile, wallace
from frame_prc._inference.distributions import chi_square_p_value, f_p_value

_APART = 0.2  # from here on, areas are not nearly alike: 1 minus their correlation
_FARTHEST = 38.0  # normal deviates: beyond it a p-value underflows
_MOST_EXPONENT = 700.0
_PRECISE = 1e-13  # of a deviate
_STEPS = 200


class Area(NamedTuple):
    """An area, 1 minus it, its standard error, and the effective number of its positives."""

    area: float
    shortfall: float
    error: float
    n_effective: float

    def reach(self, z: float) -> tuple[float, float]:
        """Return how far the limits are below and above, at the level of a normal deviate."""
        if self.area * self.shortfall == 0:
            alike = -math.expm1(_log_tail(z) / self.n_effective)
            return (alike, 0.0) if self.shortfall == 0 else (0.0, alike)
        spread = self.area * self.shortfall
        half = min(student(z, self.n_effective) * self.error / spread, _MOST_EXPONENT)
        factor, left = math.exp(-half), -math.expm1(-half)
        below = spread * left / (self.shortfall + self.area * factor)
        return below, spread * left / (self.area + self.shortfall * factor)


class LogArea(NamedTuple):
    """The logarithm of an area above 0; ``error`` is that of the logarithm."""

    area: float
    shortfall: float
    error: float
    n_effective: float

    def reach(self, z: float) -> tuple[float, float]:
        if self.shortfall == 0:
            return -_log_tail(z) / self.n_effective, 0.0
        half = min(student(z, self.n_effective) * self.error / self.shortfall, _MOST_EXPONENT)
        factor = math.exp(-half)
        below = half + math.log(self.shortfall + self.area * factor)
        return below, -math.log(self.area + self.shortfall * factor)


def student(z: float, n_effective: float) -> float:
    degrees = n_effective - 1
    exponent = min((z / wallace(degrees)) ** 2 / degrees, _MOST_EXPONENT)
    return math.sqrt(n_effective * math.expm1(exponent))


class Difference(NamedTuple):
    """A difference of areas, 1 minus their correlation, and what its variance rests on.

    With ``x`` and ``y`` the distances of the limits of ``a`` and ``b``, and ``r`` the correlation,
    a limit is ``sqrt((x - y)^2 + 2 (1 - r) x y)`` away (variance estimates recovery: Zou & Donner
    2008, doi 10.1002/sim.3095), and at least as far as by Student's t. Of nearly equal models the
    skewness cancels: the first square counts less, by ``5 (1 - r)``. The p-value is the smallest
    ``1 - level`` whose interval does not contain 0. A ratio is the same on the log scale.
    """

    a: Area | LogArea
    b: Area | LogArea
    difference: float
    apart: float
    n_effective: float
    widest: float = 1.0

    def limits(self, level: float) -> tuple[float, float]:
        z = normal_quantile(level)
        low, high = self.difference - self._width(z, -1), self.difference + self._width(z, 1)
        return max(low, -self.widest), min(high, self.widest)

    def p_value(self, level: float) -> float:
        return math.erfc(self._deviate(0.0, level) / math.sqrt(2))

    def p_beyond(self, bound: float, level: float, *, above: bool) -> float:
        """Return the one-sided p-value of a difference above a bound, or below it."""
        half = math.erfc(self._deviate(bound, level) / math.sqrt(2)) / 2
        return half if (self.difference > bound) == above else 1 - half

    def _deviate(self, bound: float, level: float) -> float:
        """Return the largest normal deviate whose interval does not contain a bound, or 0."""
        toward = -1 if self.difference > bound else 1
        distance, z = abs(self.difference - bound), normal_quantile(level)

        def beyond(z: float) -> float:
            return self._width(z, toward) - distance

        if beyond(0.0) >= 0:  # an exact limit is some way off even at a level of 0
            return 0.0
        low, high = 0.0, z
        while beyond(high) < 0:
            if high == _FARTHEST:
                return high
            low, high = high, min(2 * high, _FARTHEST)
        return _root(beyond, low, high)

    def _width(self, z: float, side: int) -> float:
        """Return how far the lower limit (side -1) or the upper one is from the difference."""
        (below_a, above_a), (below_b, above_b) = self.a.reach(z), self.b.reach(z)
        x, y = (below_a, above_b) if side < 0 else (above_a, below_b)
        # Of models that are nearly alike, what is skewed is so in both.
        skewed = min(1.0, self.apart / _APART) * (x - y) ** 2
        recovered = math.sqrt(skewed + 2 * self.apart * x * y)
        a, b = self.a.error, self.b.error
        error = math.sqrt((a - b) ** 2 + 2 * self.apart * a * b)
        by_student = student(z, self.n_effective) * error
        return max(recovered, min(by_student, 2 * self.widest))


def _log_tail(z: float) -> float:
    """Return the logarithm of the probability above a normal deviate."""
    return math.log(math.erfc(z / math.sqrt(2)) / 2)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function rises to 0 (Chandrupatla 1997, 10.1016/S0965-9978(96)00051-8)."""
    new, at_new, other, at_other, share = high, f(high), low, f(low), 0.5
    for _ in range(_STEPS):
        old, at_old = new, at_new
        new += share * (other - new)
        at_new = f(new)
        if (at_new < 0) != (at_old < 0):
            old, at_old, other, at_other = other, at_other, old, at_old
        width = abs(other - new)
        if at_new == 0 or width < _PRECISE:
            break
        place = (new - other) / (old - other)
        rise = (at_new - at_other) / (at_old - at_other)
        share = 0.5
        if rise**2 < place and (1 - rise) ** 2 < 1 - place:
            to_other = at_new / (at_other - at_new) * at_old / (at_other - at_old)
            to_old = at_new / (at_old - at_new) * at_other / (at_old - at_other)
            share = to_other + to_old * (old - new) / (other - new)
        least = _PRECISE / (2 * width)
        share = min(max(share, least), 1 - least)
    return new


# --- rows that two models decide differently -----------------------------------------------------

_CLASSES = ("positives", "negatives")
# Of a class in which about fewer rows are decided differently, some more may be by chance,
_FEW_DIFFER = 10
# and so many more would add a tenth to the variance.
_UNSEEN = 30


def sums_of_decisions(
    moved: Sequence[Any],
    on_negatives: Sequence[Any],
    weights: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """Return what tells how many rows of each class two models decide differently.

    Of ``on_negatives`` the influences of positive rows are 0.
    """
    own = [[one - n for one, n in zip(moved, on_negatives, strict=True)], on_negatives]
    found: dict[str, Any] = {}
    for name, parts, weight in zip(_CLASSES, own, weights, strict=True):
        has_weight, squares = library(weight).when(weight > 0), weight * weight
        found[f"number_of_{name}"] = has_weight.then(1.0).otherwise(0.0).sum()
        found[f"squares_of_{name}"] = squares.sum()
        for i, one in enumerate(parts):
            alone = has_weight.then(one * one / squares).otherwise(0.0)
            found[f"largest_of_{name}_{i}"] = alone.max()
        for a, b in pairs:
            difference = parts[a] - parts[b]
            found[f"differs_on_{name}_{a}_{b}"] = (difference * difference).sum()
    return found


def rests_on_unseen(a: int, b: int, variance: str) -> pl.Expr:
    """Return whether a variance rests on rows that are hardly ever decided differently."""
    of_classes = []
    for name in _CLASSES:
        largest = pl.max_horizontal(f"largest_of_{name}_{a}", f"largest_of_{name}_{b}")
        # By the heaviest row, any rows of different weights would seem to be few.
        usual = (pl.col(f"squares_of_{name}") / pl.col(f"number_of_{name}") * largest).fill_nan(0.0)
        few = pl.col(f"differs_on_{name}_{a}_{b}") < _FEW_DIFFER * usual
        of_classes.append(few & (_UNSEEN * usual > pl.col(variance)))
    return pl.any_horizontal(of_classes)


# --- how far segments differ beyond sampling ---------------------------------------------------

# So many of the largest standard errors are kept, and others averaged in so many groups.
_LARGEST, _MOST_GROUPS = 200, 200
# The nodes of the double-exponential rule, and their distance: the sum has ten digits.
_STEP = 1 / 32
_NODES = [place * _STEP for place in range(-4 * 32, 3 * 32)]
# A pivot that is smaller than this, relative to the variance, is a rounding error.
_SINGULAR = 1e-10


@dataclass(frozen=True)
class Spread:
    gap_if_equal: float | None = None
    q: float | None = None
    p_value: float | None = None
    i_squared: float | None = None
    tau: float | None = None
    tau_low: float | None = None
    tau_high: float | None = None


def spread_of(
    logits: Sequence[float],
    errors: Sequence[float],
    named: Sequence[bool],
    level: float = 0.95,
    *,
    inflation: float = 1.0,
) -> Spread:
    """Return how segments differ, from their logits and the standard errors of these.

    ``Q = sum w_i (y_i - y)^2`` with ``w_i = 1 / v_i``, ``tau^2 = (Q - k + 1) / (sum w_i - sum w_i^2
    / sum w_i)`` (DerSimonian & Laird 1986), tau's limits by the Q-profile (Viechtbauer 2007, doi
    10.1002/sim.2514), as areas near the mean. ``inflation`` is the expected Q over its degrees of
    freedom, where draws tell it: all variances but that of Q are multiplied by it.
    """
    degrees = len(logits) - 1
    if degrees < 1:
        return Spread()
    variances = [inflation * error**2 for error in errors]
    weights = [1 / variance for variance in variances]
    total = fsum(weights)
    q, mean = _q_of(logits, variances)
    excess = max(0.0, q - degrees)
    tau = math.sqrt(excess / (total - fsum(w * w for w in weights) / total))
    area = 1 / (1 + math.exp(-mean))
    slope = area * (1 - area)
    low, high = _interval_of_tau(
        lambda between: _q_of(logits, [one + between**2 for one in variances])[0],
        lambda one: chi_square_p_value(one, degrees),
        degrees,
        variances,
        level,
    )
    return Spread(
        gap_if_equal=min(1.0, expected_range([*compress(errors, named)]) * slope),
        q=q * inflation,
        p_value=chi_square_p_value(q * inflation, degrees),
        i_squared=excess / q if q > 0 else 0.0,
        **_as_areas(slope, tau, low, high),
    )


def _q_of(logits: Sequence[float], variances: Sequence[float]) -> tuple[float, float]:
    weights = [1 / variance for variance in variances]
    mean = fsum(map(mul, weights, logits)) / fsum(weights)
    return fsum(w * (y - mean) ** 2 for w, y in zip(weights, logits, strict=True)), mean


def _as_areas(slope: float, *on_logits: float) -> dict[str, float]:
    names = ("tau", "tau_low", "tau_high")
    return {n: min(0.5, slope * one) for n, one in zip(names, on_logits, strict=True)}


def _interval_of_tau(
    q_at: Callable[[float], float],
    p_value: Callable[[float], float],
    degrees: int,
    variances: Sequence[float],
    level: float,
) -> tuple[float, float]:
    tail, q = (1 - level) / 2, q_at(0.0)
    low = _from_zero(lambda tau: p_value(q_at(tau)) - tail)
    # Segments may agree better than by chance, which does not show that tau is exactly 0: the upper
    # limit is at least the one where Q is as large as is to be expected.
    variance = fsum(variances) / len(variances)

    def expected(tau: float) -> float:
        """Return a Q at least as large as is to be expected at 0."""
        if q >= degrees:
            return q_at(tau)
        if q > 0:
            return q_at(tau) * degrees / q
        return degrees * variance / (variance + tau * tau)

    return low, _from_zero(lambda tau: p_value(expected(tau)) - (1 - tail))


def _from_zero(rising: Callable[[float], float]) -> float:
    """Return where a rising function of a number from 0 on is 0, or 0 if it begins above."""
    if rising(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while rising(high) < 0:
        low, high = high, 2 * high
    return _root(rising, low, high)


# --- clusters that have rows in several segments -------------------------------------------------


def correlated_spread_of(
    logits: Sequence[float],
    sums: Sequence[Sequence[float]],
    clusters: float,
    named: Sequence[bool],
    level: float = 0.95,
) -> Spread | None:
    """Return how segments differ if clusters have rows in several of them, by Hotelling's test.

    With ``S`` the covariance of the logits, ``C`` the contrasts with the last segment, and G the
    mean effective number of clusters, ``Q = (C y)' (C S C')^-1 (C y)`` and ``F = Q (G - k + 1) /
    ((G - 1) (k - 1))``: with the number of clusters itself it rejects too often.
    """
    k = len(logits)
    free = clusters - k + 1
    if free < 1:
        return None
    factor = clusters / (clusters - 1)
    lower = [[factor * _dot(a, b) for b in sums[: i + 1]] for i, a in enumerate(sums)]
    covariance = [[lower[max(i, j)][min(i, j)] for j in range(k)] for i in range(k)]
    differences = [logit - logits[-1] for logit in logits[:-1]]

    def q_at(tau: float) -> float | None:
        return _wald(differences, _of_contrasts(covariance, tau * tau))

    def p_value(q: float) -> float:
        return f_p_value(q * free / ((clusters - 1) * (k - 1)), k - 1, free)

    q = q_at(0.0)
    if q is None:
        return None
    mean = fsum(logits) / k
    means = [fsum(row) / k for row in covariance]
    grand = fsum(means) / k
    # The variance of each logit around the mean of all.
    around = [max(0.0, covariance[i][i] - 2 * means[i] + grand) for i in range(k)]
    excess = max(0.0, fsum((logit - mean) ** 2 for logit in logits) - fsum(around))
    low, high = _interval_of_tau(lambda tau: q_at(tau) or 0.0, p_value, k - 1, around, level)
    area = 1 / (1 + math.exp(-mean))
    slope = area * (1 - area)
    # As many independent normals, each as far from their mean.
    errors = [math.sqrt(one * k / (k - 1)) for one in compress(around, named)]
    return Spread(
        gap_if_equal=min(1.0, expected_range(errors) * slope),
        q=q,
        p_value=p_value(q),
        i_squared=max(0.0, 1 - (k - 1) / q) if q > 0 else 0.0,
        **_as_areas(slope, math.sqrt(excess / (k - 1)), low, high),
    )


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return float(sum(map(mul, a, b)))


def _of_contrasts(covariance: Sequence[Sequence[float]], added: float) -> list[list[float]]:
    *others, last = range(len(covariance))
    s, of_last = covariance, covariance[last]
    return [
        [
            s[i][j] - of_last[i] - of_last[j] + of_last[last] + (2 * added if i == j else added)
            for j in others
        ]
        for i in others
    ]


def _wald(contrasts: Sequence[float], covariance: Sequence[Sequence[float]]) -> float | None:
    """Return the squared length of contrasts in units of their covariance, if it has full rank."""
    root: list[list[float]] = []
    solved: list[float] = []
    for row, contrast in zip(covariance, contrasts, strict=True):
        own: list[float] = []
        for above in root:
            own.append((row[len(own)] - _dot(own, above)) / above[-1])
        variance = row[len(own)]
        pivot = variance - _dot(own, own)
        if pivot <= _SINGULAR * variance:
            return None
        own.append(math.sqrt(pivot))
        solved.append((contrast - _dot(own, solved)) / own[-1])
        root.append(own)
    return _dot(solved, solved)


# --- the gap that sampling shows -----------------------------------------------------------------


def expected_range(errors: Sequence[float]) -> float:
    """Return the expected range of independent normals of mean 0 with these standard errors.

    It is the integral of ``1 - prod F_i - prod (1 - F_i)`` with their distribution functions F_i.
    """
    largest = max(errors)
    scaled = _grouped([error / largest for error in errors])
    # x = exp(u - exp(-u)) runs from 0 to infinity, with nodes for narrow and for wide normals.
    nodes = ((math.exp(u - math.exp(-u)), 1 + math.exp(-u)) for u in _NODES)
    return 2 * largest * _STEP * fsum(x * slope * _outside(x, scaled) for x, slope in nodes)


def _outside(x: float, errors: Sequence[tuple[float, int]]) -> float:
    root = x / math.sqrt(2)
    below = fsum(n * math.log1p(-0.5 * math.erfc(root / error)) for error, n in errors)
    above = math.prod((0.5 * math.erfc(root / error)) ** n for error, n in errors)
    return -math.expm1(below) - above


def _grouped(errors: Sequence[float]) -> list[tuple[float, int]]:
    ordered = sorted(errors)
    others, largest = ordered[:-_LARGEST], ordered[-_LARGEST:]
    size = max(1, -(-len(others) // _MOST_GROUPS))
    groups = [others[first : first + size] for first in range(0, len(others), size)]
    means = [(math.sqrt(fsum(e * e for e in group) / len(group)), len(group)) for group in groups]
    return means + [(error, 1) for error in largest]
