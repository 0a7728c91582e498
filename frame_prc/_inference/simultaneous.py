"""P-values corrected for many tests by the correlation of what they test: the largest deviate.

A step-down test of the largest deviate (Westfall & Young 1993; Romano & Wolf 2005, doi
10.1198/016214504000000539): the smallest p-value is as small as the largest of all deviates makes
it by chance, the next as the largest of all others, and so on. Deviates are normal, with the
correlations of the influences within a block of tests. Blocks are taken as independent, which is
the worst case (Royen 2014, arXiv:1408.1028). So no p-value is above Holm's.

NumPy is an optional dependency: import this module only where such p-values are asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from frame_prc._formulas import normal_quantile

_DRAWS, _AT_ONCE = 40_000, 2_000
_FEWEST_HITS = 100  # with fewer, the draws do not tell a probability


def adjusted(
    p: npt.NDArray[np.float64],
    blocks: Sequence[Hashable],
    covariances: Sequence[Sequence[float]],
    places: Sequence[int],
) -> npt.NDArray[np.float64]:
    """Return the corrected p-values of tests."""
    order, number = np.argsort(p, kind="stable"), len(p)
    deviates = np.array([_deviate(p[i]) for i in order])
    roots = _roots(blocks, covariances, places)
    random, hits = np.random.default_rng(0), np.zeros(number, dtype=np.int64)
    for _ in range(_DRAWS // _AT_ONCE):
        drawn = np.empty((number, _AT_ONCE))
        for tests, root in roots:
            drawn[tests] = np.abs(root @ random.standard_normal((root.shape[1], _AT_ONCE)))
        largest = np.maximum.accumulate(drawn[order][::-1], axis=0)[::-1]
        hits += (largest >= deviates[:, None]).sum(axis=1)
    holm = np.minimum(1.0, p[order] * np.arange(number, 0, -1))
    by_draws = np.where(hits >= _FEWEST_HITS, np.maximum(hits / _DRAWS, p[order]), np.inf)
    found = np.empty(number)
    found[order] = np.maximum.accumulate(np.minimum(holm, by_draws))
    return found


def _deviate(p: float) -> float:
    """Return how far from 0 a normal deviate is that has a two-sided p-value."""
    if p >= 1:
        return 0.0
    return normal_quantile(1 - p) if 1 - p < 1 else np.inf


def _roots(
    blocks: Sequence[Hashable], covariances: Sequence[Sequence[float]], places: Sequence[int]
) -> list[tuple[list[int], npt.NDArray[np.float64]]]:
    """Return the tests of each block, and a root of the matrix of their correlations."""
    members: dict[Hashable, list[int]] = {}
    for test, block in enumerate(blocks):
        own = covariances[test][places[test]]
        members.setdefault(block if own > 0 else (block, test), []).append(test)
    found = []
    for tests in members.values():
        if len(tests) == 1:
            found.append((tests, np.ones((1, 1))))
            continue
        columns = [places[i] for i in tests]
        matrix = np.array([[covariances[i][j] for j in columns] for i in tests])
        scale = np.sqrt(np.diag(matrix))
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        # Differences of three models depend on each other: a value is 0, or a little below.
        found.append((tests, vectors * np.sqrt(np.clip(values, 0.0, None))))
    return found
