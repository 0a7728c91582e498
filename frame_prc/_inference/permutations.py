"""P-values by draws: random orders of labels, random signs, the largest deviate; needs NumPy.

Rows with the same score and weight form a cell, to which a random order gives a multivariate
hypergeometric number of positives. The p-value of draws is ``(1 + hits) / (1 + replicates)``
(Phipson & Smyth 2010, doi 10.2202/1544-6115.1585).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from secrets import randbits

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.typing import NDArray

from frame_prc._formulas import normal_quantile
from frame_prc._inference.resamples import Floats, Integers, cells_of, keyed
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Draws

# Draws per block of replicates: about what fits a processor's cache.
_BLOCK = 2**18
# Measured: with more rows per cell than this, drawing each cell beats drawing each positive;
_ROWS_PER_CELL = 80
# and with more cells than this, and as many per positive, looking at the positives alone beats
# looking at all cells.
_MANY_CELLS = 2000
_CELLS_PER_POSITIVE = 3
# Average precisions that differ by less, relative to the larger, are equal but for rounding; so are
# sums of signed differences, relative to the sum of all sizes.
_ROUNDING = 1e-12


def p_values(ranking: Ranking, resampling: Draws) -> pl.LazyFrame:
    rows = ranking.rows
    cells = cells_of(ranking, rows)
    schema = {"segment": cells.collect_schema()["segment"], "p_value": pl.Float64()}

    def evaluate(cells: pl.DataFrame) -> pl.DataFrame:
        # Without a seed all segments share one that is new each time.
        seed = randbits(64) if resampling.seed is None else resampling.seed
        # Invalid values may get here before the checks report them; NumPy need not warn of them.
        with np.errstate(all="ignore"):
            found = [*_tested(cells, seed, resampling.replicates)]
        return pl.DataFrame(found, schema=schema, orient="row")

    return keyed(rows.in_python(cells, evaluate, schema), ranking, "p_value")


def _tested(cells: pl.DataFrame, seed: int, replicates: int) -> Iterator[tuple[int, float]]:
    size, found = pl.col("size"), pl.col("positive").cast(pl.Int64) * pl.col("size")
    both = cells.group_by("segment", "tie", "retrieved", "weight").agg(
        size.sum(), found=found.sum()
    )
    parts = both.sort("segment", "tie", "weight").partition_by(
        "segment", as_dict=True, include_key=False
    )
    for (segment,), part in parts.items():
        positives = int(part["found"].sum())
        if 0 < positives < part["size"].sum():
            shape = _Shape.of(part, positives)
            drawn = shape.random_areas(seed, replicates)
            [area] = shape.average_precisions(part["found"].to_numpy()[None, :])
            hits = int(np.sum(drawn >= area * (1 - _ROUNDING)))
            yield segment, (1 + hits) / (1 + replicates)


@dataclass(frozen=True)
class _Shape:
    """What a segment keeps when labels are permuted: rows and weight of each cell, and its tie.

    Ties ascend while scores descend; the last may be of the rows that are never retrieved.
    """

    positives: int
    has_unretrieved: bool
    sizes: Integers
    weights: Floats
    ties: Integers

    @classmethod
    def of(cls, cells: pl.DataFrame, positives: int) -> _Shape:
        tie = cells["tie"].rle_id().cast(pl.Int64).to_numpy()
        size, weight = cells["size"].to_numpy(), cells["weight"].to_numpy()
        return cls(positives, not cells["retrieved"][-1], size, weight, tie)

    @cached_property
    def ends(self) -> Integers:
        return np.flatnonzero(np.append(np.diff(self.ties) > 0, True))

    @cached_property
    def per_retrieved(self) -> Floats:
        """1 over the weight that is retrieved at each tie; 0 where nothing ever is."""
        shares: Floats = 1 / np.cumsum(self.sizes * self.weights)[self.ends]
        if self.has_unretrieved:
            shares[-1] = 0.0
        return shares

    @property
    def entropy(self) -> list[int]:
        """Numbers that seed the draws, the same for any scale of the scores and weights."""
        arrays = (one.tobytes() for one in (self.sizes, self.ties))
        shape = b"/".join([str(self.positives).encode(), *arrays])
        digest = hashlib.blake2b(shape, digest_size=16).digest()
        return [int(word) for word in np.frombuffer(digest, dtype="<u4")]

    def random_areas(self, seed: int, replicates: int) -> Floats:
        random = np.random.default_rng([seed, *self.entropy])
        cells = len(self.sizes)
        if cells > max(_MANY_CELLS, _CELLS_PER_POSITIVE * self.positives):
            draw, per_block = self._by_positive, max(1, _BLOCK // self.positives)
        else:
            draw, per_block = self._by_cell, max(1, _BLOCK // cells)
        firsts = range(0, replicates, per_block)
        return np.concatenate(
            [draw(random, min(per_block, replicates - first)) for first in firsts]
        )

    def average_precisions(self, found: Integers) -> Floats:
        """Return the average precision of each row of an array: the positives in each cell."""
        tp = np.cumsum(found * self.weights, axis=1)
        positives = tp[:, -1]
        if len(self.ends) < len(self.sizes):
            tp = tp[:, self.ends]
        gain = np.diff(tp, axis=1, prepend=0.0)
        gain *= tp
        areas: Floats = gain @ self.per_retrieved / positives
        return areas

    def _by_cell(self, random: np.random.Generator, number: int) -> Floats:
        many = self.sizes.sum() > _ROWS_PER_CELL * len(self.sizes)
        found = random.multivariate_hypergeometric(
            self.sizes, self.positives, size=number, method="marginals" if many else "count"
        )
        return self.average_precisions(found)

    def _by_positive(self, random: np.random.Generator, number: int) -> Floats:
        rows = int(self.sizes.sum())
        cell_of_row = np.repeat(np.arange(len(self.sizes)), self.sizes)
        places = (
            random.choice(rows, self.positives, replace=False, shuffle=False) for _ in range(number)
        )
        return np.array([self._area_of(cell_of_row[np.sort(place)]) for place in places])

    def _area_of(self, cells: Integers) -> float:
        weights, ties = self.weights[cells], self.ties[cells]
        running = np.cumsum(weights)
        tp = running[np.searchsorted(ties, ties, side="right") - 1]
        return float(np.sum(weights * tp * self.per_retrieved[ties]) / running[-1])


# --- signs of differences ----------------------------------------------------------------------

# With this many segments or fewer all signs are evaluated: 2**15 sums, as both directions count.
MOST_ENUMERATED = 16

_SIGNS_AT_ONCE = 2**20


def p_value_of_signs(differences: Sequence[float], resampling: Draws) -> float | None:
    """Return the two-sided p-value of a sum of differences, whose signs are random."""
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
    block = max(1, _SIGNS_AT_ONCE // len(sizes))
    for first in range(0, total, block):
        shape = (min(block, total - first), len(sizes))
        positive = random.integers(0, 2, size=shape, dtype=np.int8)
        yield 2 * (positive @ sizes) - sizes.sum()


# --- the largest of many deviates --------------------------------------------------------------

_DRAWS, _AT_ONCE = 40_000, 2_000
_FEWEST_HITS = 100  # with fewer, the draws do not tell a probability


def adjusted(
    p: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
    blocks: Sequence[Hashable],
    covariances: Sequence[Sequence[float]],
    places: Sequence[int],
) -> npt.NDArray[np.float64]:
    """Return p-values by a step-down test of the largest deviate; each row is a share of a test.

    The smallest p-value is as small as the largest of all deviates makes it by chance, the next as
    the largest of all others (Romano & Wolf 2005, doi 10.1198/016214504000000539). Blocks are taken
    as independent, the worst case (Royen 2014, arXiv:1408.1028): no p-value is above Holm's.
    """
    order, number = np.argsort(p, kind="stable"), len(p)
    deviates = np.array([_deviate(p[i]) for i in order])
    roots = _roots(order, blocks, covariances, places)
    random, hits = np.random.default_rng(0), np.zeros(number, dtype=np.int64)
    for _ in range(_DRAWS // _AT_ONCE):
        drawn = np.empty((number, _AT_ONCE))
        for tests, root in roots:
            drawn[tests] = np.abs(root @ random.standard_normal((root.shape[1], _AT_ONCE)))
        largest = np.maximum.accumulate(drawn[order][::-1], axis=0)[::-1]
        hits += (largest >= deviates[:, None]).sum(axis=1)
    holm = np.minimum(1.0, p[order] * np.cumsum(shares[order][::-1])[::-1])
    by_draws = np.where(hits >= _FEWEST_HITS, np.maximum(hits / _DRAWS, p[order]), np.inf)
    found = np.empty(number)
    found[order] = np.maximum.accumulate(np.minimum(holm, by_draws))
    return found


def _deviate(p: float) -> float:
    if p >= 1:
        return 0.0
    return normal_quantile(1 - p) if 1 - p < 1 else np.inf


def _roots(
    order: npt.NDArray[np.intp],
    blocks: Sequence[Hashable],
    covariances: Sequence[Sequence[float]],
    places: Sequence[int],
) -> list[tuple[list[int], npt.NDArray[np.float64]]]:
    """Return the tests of each block, in order of p-values, and a root of their correlations."""
    members: dict[Hashable, list[int]] = {}
    for test in order.tolist():
        own, block = covariances[test][places[test]], blocks[test]
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
