"""The interval and the test of a difference of two areas, from the interval of each of them.

The limits of a difference ``a - b`` lie as far from it as those of the areas together do (the
method of variance estimates recovery: Zou & Donner 2008, doi 10.1002/sim.3095; Newcombe 1998,
method 10): with a lower limit ``x`` below ``a``, an upper limit ``y`` above ``b``, and ``r`` the
correlation of both areas, the lower limit is ``sqrt((x - y)^2 + 2 (1 - r) x y)`` below. Thus it is
as far from a certainty as those of the areas. Near 1, where the limits of both are skewed but the
difference of equal models is not, they are too near: a limit is at least as far as Student's t
takes the standard error of the difference. Of nearly equal models the skewness cancels: with a
correlation above 0.8 the first square counts less, by ``5 (1 - r)``. The p-value is the smallest
``1 - level`` whose interval does not contain 0, so neither contradicts the other.

A ratio is, on the log scale, the same of the logarithms of the areas and of their limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import polars as pl

from frame_prc._formulas import normal_quantile, wallace

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
        """Return how far the logarithms of the limits of the area are below and above its own."""
        if self.shortfall == 0:
            return -_log_tail(z) / self.n_effective, 0.0
        half = min(student(z, self.n_effective) * self.error / self.shortfall, _MOST_EXPONENT)
        factor = math.exp(-half)
        below = half + math.log(self.shortfall + self.area * factor)
        return below, -math.log(self.area + self.shortfall * factor)


def student(z: float, n_effective: float) -> float:
    """Return the deviate of Student's t, as for the interval of an area."""
    degrees = n_effective - 1
    exponent = min((z / wallace(degrees)) ** 2 / degrees, _MOST_EXPONENT)
    return math.sqrt(n_effective * math.expm1(exponent))


class Difference(NamedTuple):
    """A difference of two areas, with 1 minus their correlation, and what its variance rests on.

    None is beyond the ``widest``.
    """

    a: Area | LogArea
    b: Area | LogArea
    difference: float
    apart: float
    n_effective: float
    widest: float = 1.0

    def limits(self, level: float) -> tuple[float, float]:
        """Return the ends of the interval."""
        z = normal_quantile(level)
        low, high = self.difference - self._width(z, -1), self.difference + self._width(z, 1)
        return max(low, -self.widest), min(high, self.widest)

    def p_value(self, level: float) -> float:
        """Return the two-sided p-value, which agrees with the interval of this level."""
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
        return max(recovered, min(self._student(z), 2 * self.widest))

    def _student(self, z: float) -> float:
        """Return how far Student's t takes the standard error of the difference."""
        a, b = self.a.error, self.b.error
        error = math.sqrt((a - b) ** 2 + 2 * self.apart * a * b)
        return student(z, self.n_effective) * error


def _log_tail(z: float) -> float:
    """Return the logarithm of the probability above a normal deviate."""
    return math.log(math.erfc(z / math.sqrt(2)) / 2)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing function is 0, by the method of Chandrupatla (1997).

    It interpolates by an inverse parabola where three points lie on one, and halves elsewhere: the
    function may be level or steep on a long stretch. doi 10.1016/S0965-9978(96)00051-8
    """
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
    moved: Sequence[Any], on_negatives: Sequence[Any], pairs: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """Return what rows of each class tell of differences, by the influences on several models.

    They are the square of the largest influence on each model, and the sums of the squares of
    differences. Of ``on_negatives`` the influences of positive rows are 0.
    """
    own = [[one - n for one, n in zip(moved, on_negatives, strict=True)], on_negatives]
    found: dict[str, Any] = {}
    for name, parts in zip(_CLASSES, own, strict=True):
        found |= {f"largest_of_{name}_{i}": (one * one).max() for i, one in enumerate(parts)}
        for a, b in pairs:
            difference = parts[a] - parts[b]
            found[f"differs_on_{name}_{a}_{b}"] = (difference * difference).sum()
    return found


def rests_on_unseen(a: int, b: int, variance: str) -> pl.Expr:
    """Return whether a variance rests on rows of a class that are hardly ever decided differently.

    Those that are seen may be alike, and tell nothing of rows that weigh far more.
    """
    of_classes = []
    for name in _CLASSES:
        largest = pl.max_horizontal(f"largest_of_{name}_{a}", f"largest_of_{name}_{b}")
        few = pl.col(f"differs_on_{name}_{a}_{b}") < _FEW_DIFFER * largest
        of_classes.append(few & (_UNSEEN * largest > pl.col(variance)))
    return pl.any_horizontal(of_classes)
