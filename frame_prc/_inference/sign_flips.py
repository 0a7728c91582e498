"""The paired permutation test: how often random signs of the differences add up to as much.

If two models are equally good on segments like these, the difference of each segment is as likely
to have the other sign. With few segments every combination of signs is evaluated. Otherwise signs
are drawn, and the p-value is ``(1 + hits) / (1 + replicates)``, which counts the observed signs as
one of the draws (Phipson & Smyth 2010, doi 10.2202/1544-6115.1585).

NumPy is an optional dependency: import this module only where the test is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_prc._request.specs import Draws

# With this many segments or fewer all signs are evaluated: 2**15 sums, as both directions count.
MOST_ENUMERATED = 16

_BLOCK = 2**20  # signs that are drawn at once
# Sums that differ by less, relative to the sum of all sizes, are equal but for rounding.
_ROUNDING = 1e-12


def p_value(differences: Sequence[float], resampling: Draws) -> float | None:
    """Return the two-sided p-value of the sum of the differences; ``None`` without any."""
    sizes = np.sort(np.abs(np.asarray(differences, dtype=np.float64)))
    if not len(sizes):
        return None
    least = abs(sum(differences)) - _ROUNDING * sizes.sum()
    if len(sizes) <= MOST_ENUMERATED:
        return float(np.mean(np.abs(_all_sums(sizes)) >= least))
    hits = sum(int(np.sum(np.abs(sums) >= least)) for sums in _drawn_sums(sizes, resampling))
    return (1 + hits) / (1 + resampling.replicates)


def _all_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums for all signs of all but the first: the other half mirrors them."""
    sums = sizes[:1]
    for size in sizes[1:]:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _drawn_sums(sizes: NDArray[np.float64], resampling: Draws) -> Iterator[NDArray[np.float64]]:
    # The same seed for each test: its result does not depend on the others.
    random, total = np.random.default_rng(resampling.seed), resampling.replicates
    block = max(1, _BLOCK // len(sizes))
    for first in range(0, total, block):
        shape = (min(block, total - first), len(sizes))
        positive = random.integers(0, 2, size=shape, dtype=np.int8)
        yield 2 * (positive @ sizes) - sizes.sum()
