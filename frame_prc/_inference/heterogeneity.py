"""How far segments differ beyond sampling: Cochran's Q, and the gap that sampling alone shows.

Everything is computed on the logit scale, where standard errors depend less on the areas: the
simulated error rates are in examples/guide/statistics.md. With
``y_i`` the logits, ``w_i`` one over their variances, and ``y`` the mean of the logits with these
weights (Cochran 1954, Biometrics 10:101; DerSimonian & Laird 1986, Control. Clin. Trials 7:177),

    Q = sum w_i * (y_i - y)^2,            chi-square with k - 1 degrees of freedom
    tau^2 = (Q - (k - 1)) / (sum w_i - sum w_i^2 / sum w_i), at least 0
    I^2 = (Q - (k - 1)) / Q,              at least 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from frame_prc._inference.distributions import chi_square_p_value

# So many of the largest standard errors are kept, and others averaged in so many groups.
_LARGEST, _MOST_GROUPS = 200, 200
# The nodes of the double-exponential rule, and their distance: the sum has ten digits.
_STEP = 1 / 32
_NODES = [place * _STEP for place in range(-4 * 32, 3 * 32)]


@dataclass(frozen=True)
class Spread:
    """How a set of segments differs."""

    q: float | None = None
    p_value: float | None = None
    i_squared: float | None = None
    tau: float | None = None
    gap_if_equal: float | None = None


def spread_of(logits: Sequence[float], errors: Sequence[float]) -> Spread:
    """Return how segments differ, from their logits and the standard errors of these.

    ``tau`` and ``gap_if_equal`` are converted to areas near the mean.
    """
    degrees = len(logits) - 1
    if degrees < 1:
        return Spread()
    weights = [1 / error**2 for error in errors]
    total = fsum(weights)
    mean = fsum(w * y for w, y in zip(weights, logits, strict=True)) / total
    q = fsum(w * (y - mean) ** 2 for w, y in zip(weights, logits, strict=True))
    excess = max(0.0, q - degrees)
    tau = math.sqrt(excess / (total - fsum(w * w for w in weights) / total))
    area = 1 / (1 + math.exp(-mean))
    slope = area * (1 - area)
    return Spread(
        q=q,
        p_value=chi_square_p_value(q, degrees),
        i_squared=excess / q if q > 0 else 0.0,
        tau=tau * slope,
        gap_if_equal=min(1.0, expected_range(errors) * slope),
    )


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
    """Return standard errors and how many segments have each.

    The largest, on which the range depends most, are kept; others are in groups of neighbours.
    """
    ordered = sorted(errors)
    others, largest = ordered[:-_LARGEST], ordered[-_LARGEST:]
    size = max(1, -(-len(others) // _MOST_GROUPS))
    groups = [others[first : first + size] for first in range(0, len(others), size)]
    means = [(math.sqrt(fsum(e * e for e in group) / len(group)), len(group)) for group in groups]
    return means + [(error, 1) for error in largest]
