"""How far segments differ beyond sampling: Cochran's Q, and the gap that sampling alone shows.

Everything is computed on the logit scale, where standard errors depend less on the areas: the
simulated error rates are in examples/guide/statistics.md. With
``y_i`` the logits, ``w_i`` one over their variances, and ``y`` the mean of the logits with these
weights (Cochran 1954, Biometrics 10:101; DerSimonian & Laird 1986, Control. Clin. Trials 7:177),

    Q = sum w_i * (y_i - y)^2,            chi-square with k - 1 degrees of freedom
    tau^2 = (Q - (k - 1)) / (sum w_i - sum w_i^2 / sum w_i), at least 0
    I^2 = (Q - (k - 1)) / Q,              at least 0

The interval of tau is the Q-profile (Viechtbauer 2007, doi 10.1002/sim.2514): the values at which
Q, with ``w_i = 1 / (v_i + tau^2)``, is an ordinary value of chi-square.

If clusters have rows in several segments, the logits are correlated. With ``S`` the covariance of
the logits from the sums of the clusters, and ``C`` the contrasts of the segments with the last,

    Q = (C y)' (C S C')^-1 (C y)
    F = Q * (G - k + 1) / ((G - 1) * (k - 1)),   on k - 1 and G - k + 1 degrees of freedom

as in Hotelling's test, where ``G`` is the mean over the segments of the effective number of
clusters: with the number of clusters itself the test rejects too often. ``tau^2`` is the variance
of the logits less what ``S`` explains of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from math import fsum
from operator import mul

from frame_prc._inference.distributions import chi_square_p_value, f_p_value

# So many of the largest standard errors are kept, and others averaged in so many groups.
_LARGEST, _MOST_GROUPS = 200, 200
# The nodes of the double-exponential rule, and their distance: the sum has ten digits.
_STEP = 1 / 32
_NODES = [place * _STEP for place in range(-4 * 32, 3 * 32)]
# A pivot that is smaller than this, relative to the variance, is a rounding error.
_SINGULAR = 1e-10
_HALVINGS = 60


@dataclass(frozen=True)
class Spread:
    """How a set of segments differs."""

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

    ``tau``, its interval and ``gap_if_equal`` are converted to areas near the mean; the gap is that
    of the ``named`` segments. ``inflation``
    is the expected value of Q over its degrees of freedom if segments are equal, where it is known
    better than by theory: the variances are multiplied by it, but for Q itself.
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
    """Return Cochran's Q and the mean that it is taken around."""
    weights = [1 / variance for variance in variances]
    mean = fsum(map(mul, weights, logits)) / fsum(weights)
    return fsum(w * (y - mean) ** 2 for w, y in zip(weights, logits, strict=True)), mean


def _as_areas(slope: float, *on_logits: float) -> dict[str, float]:
    """Return tau and its limits converted to areas, whose standard deviation is at most a half."""
    names = ("tau", "tau_low", "tau_high")
    return {n: min(0.5, slope * one) for n, one in zip(names, on_logits, strict=True)}


def _interval_of_tau(
    q_at: Callable[[float], float],
    p_value: Callable[[float], float],
    degrees: int,
    variances: Sequence[float],
    level: float,
) -> tuple[float, float]:
    """Return the limits of tau by the Q-profile, on the logit scale."""
    tail, q = (1 - level) / 2, q_at(0.0)
    low = _root(lambda tau: p_value(q_at(tau)) - tail)
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

    return low, _root(lambda tau: p_value(expected(tau)) - (1 - tail))


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of a number from 0 on is 0, or 0 if it begins above."""
    if rising(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while rising(high) < 0:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


# --- clusters that have rows in several segments -------------------------------------------------


def correlated_spread_of(
    logits: Sequence[float],
    sums: Sequence[Sequence[float]],
    clusters: float,
    named: Sequence[bool],
    level: float = 0.95,
) -> Spread | None:
    """Return how segments differ if clusters have rows in several of them."""
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
    """Return the covariance of the differences with the last, with a variance added to each."""
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

    It is the integral of ``1 - prod F_i - prod (1 - F_i)``, with ``F_i`` their distribution
    functions, and symmetric around 0.
    """
    largest = max(errors)
    scaled = _grouped([error / largest for error in errors])
    # x = exp(u - exp(-u)) runs from 0 to infinity, with nodes for narrow and for wide normals.
    nodes = ((math.exp(u - math.exp(-u)), 1 + math.exp(-u)) for u in _NODES)
    return 2 * largest * _STEP * fsum(x * slope * _outside(x, scaled) for x, slope in nodes)


def _outside(x: float, errors: Sequence[tuple[float, int]]) -> float:
    """Return the probability that some normal is above ``x``, without all being above it."""
    root = x / math.sqrt(2)
    below = fsum(n * math.log1p(-0.5 * math.erfc(root / error)) for error, n in errors)
    above = math.prod((0.5 * math.erfc(root / error)) ** n for error, n in errors)
    return -math.expm1(below) - above


def _grouped(errors: Sequence[float]) -> list[tuple[float, int]]:
    """Return standard errors and how many segments have each."""
    ordered = sorted(errors)
    others, largest = ordered[:-_LARGEST], ordered[-_LARGEST:]
    size = max(1, -(-len(others) // _MOST_GROUPS))
    groups = [others[first : first + size] for first in range(0, len(others), size)]
    means = [(math.sqrt(fsum(e * e for e in group) / len(group)), len(group)) for group in groups]
    return means + [(error, 1) for error in largest]
