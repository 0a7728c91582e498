"""Thresholds that new rows meet a target at, with a given probability; needs NumPy.

At the score of the k-th of P positives the recall of new rows is at least r with the probability
that a binomial number of P trials with success r is below k; false positive rates likewise.

For a precision thresholds are tested from few rows retrieved to many, until one fails: the error is
that of a single test (Learn then Test: Angelopoulos et al. 2021, arXiv 2110.01052). There are
several starts, each with a part of it. With weights or clusters numbers of rows are effective ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import polars as pl

from frame_prc._curves.logit_intervals import share_of_sums
from frame_prc._formulas import normal_quantile
from frame_prc._inference.distributions import binomial_cdf
from frame_prc._inference.resamples import Class, Curves, Floats, Integers, Sample, by_segment
from frame_prc._inference.row_influence import more_by_weights
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Target

_STARTS = 4
_APART = 2  # one start has so many times the rows of the one before
_STEP = 1.02  # a test has so many times the rows of the one before
_ROUNDING = 1e-12  # of a probability
# So many clusters more have all their rows on the wrong side: where 5 % of 20 have, and none may
# have been drawn, recalls of .8 were else kept in 78 %.
_ALL_WRONG = 2
_Bound: TypeAlias = tuple[float | None, float | None]  # and how many rows tell of its share


def bounds(ranking: Ranking, targets: Mapping[str, Target]) -> pl.LazyFrame:
    """Return ``segment`` and the bound of each target by its name, and rows by :func:`of_rows`.

    It is the least weight of true positives for a recall, else the most of false positives, or of
    rows retrieved; null if there is no guarantee.
    """

    def found(sample: Sample) -> list[tuple[float | None, ...]]:
        points = sample.observed()
        if not points.tp.size:  # no row has a score
            return []
        pairs = [_BOUNDS[t.criterion](sample, points, t) for t in targets.values()]
        bounds_, rows = zip(*pairs, strict=True)
        return [(*bounds_, *rows)]

    names = [*targets, *map(of_rows, targets)]
    return by_segment(ranking, ranking.rows, names, found, every_score=True)


def of_rows(bound: str) -> str:
    return f"rows_for_{bound}"


def needed(target: Target) -> int | None:
    """Return the least number of rows for a guarantee, which is enough if none is an error."""
    fails, share = 1 - _guarantee(target), target.value
    if target.criterion == "precision":
        fails /= _STARTS
    kept = 1 - share if target.criterion == "fpr" else share
    if not 0 < kept < 1:
        return None
    return math.ceil(math.log(fails) / math.log(kept) * (1 - _ROUNDING))


def _guarantee(target: Target) -> float:
    assert target.guarantee is not None  # noqa: S101 - for the type checker
    return target.guarantee


def _least_tp(sample: Sample, points: Curves, target: Target) -> _Bound:
    total, rows = points.positives[0], _effective(sample.positive, points.tp[0], sample, target)
    told = _told_at(sample.positive, rows)

    def keeps(tp: float) -> bool:
        number = told(tp)
        hits = number * (tp / total)
        return binomial_cdf(hits - 1, number, target.value) >= _guarantee(target) - _ROUNDING

    return _first(np.unique(points.tp[0]), keeps), rows


def _most_fp(sample: Sample, points: Curves, target: Target) -> _Bound:
    total = points.negatives[0]
    if total == 0:
        return None, 0.0
    rows = _effective(sample.negative, points.fp[0], sample, target)
    told = _told_at(sample.negative, rows)

    def keeps(fp: float) -> bool:
        fails, number = 1 - _guarantee(target) + _ROUNDING, told(fp)
        return binomial_cdf(number * (fp / total), number, target.value) <= fails

    return _first(np.unique(np.append(points.fp[0], 0.0))[::-1], keeps), rows


def _most_retrieved(sample: Sample, points: Curves, target: Target) -> _Bound:
    rows = _rows_at(sample.positive) + _rows_at(sample.negative)
    fails = (1 - _guarantee(target)) / _STARTS
    least, most = needed(target), None
    if least is None or least > sample.told_by_weights:
        return None, None
    orders = [_order(rows, least * _APART**i) for i in range(_STARTS)]
    places = {point for order in orders for point in order}
    shares = sample.shares(points, places, normal_quantile(1 - 2 * fails))
    for order in orders:
        for point in order:
            tp, fp = float(points.tp[0, point]), float(points.fp[0, point])
            share = shares[point]
            if (
                binomial_cdf(tp * share - 1, (tp + fp) * share, target.value)
                < 1 - fails - _ROUNDING
            ):
                break
            most = tp + fp if most is None else max(most, tp + fp)
    return most, None


def _order(rows: Integers, start: float) -> list[int]:
    """Return the points that are tested one after the other, given the rows retrieved at each."""
    order, number = [], start
    while number <= rows[-1]:
        order.append(int(np.searchsorted(rows, math.floor(number))))
        number = max(number * _STEP, float(rows[order[-1]]) + 1)
    return order


_BOUNDS: Mapping[str, Callable[[Sample, Curves, Target], _Bound]] = {
    "recall": _least_tp,
    "fpr": _most_fp,
    "precision": _most_retrieved,
}


def _first(ascending: Floats, keeps: Callable[[float], bool]) -> float | None:
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(float(ascending[middle])) else (middle + 1, high)
    return float(ascending[low]) if low < len(ascending) else None


def _effective(half: Class, reached: Floats, sample: Sample, target: Target) -> float:
    """Return the effective number of rows of a class that tell what share of it is retrieved."""
    weights = half.sizes * half.weights
    number = float(np.sum(weights)) ** 2 / float(np.sum(weights * half.weights))
    if sample.n_clusters:
        number = _of_clusters(half, reached, number, target)
    return min(number, sample.told_by_weights)


def _of_clusters(half: Class, reached: Floats, rows: float, target: Target) -> float:
    """Return the effective number of rows in clusters where about the share wanted is retrieved."""
    weights = half.sizes * half.weights
    sizes = np.bincount(half.clusters, weights)
    total, squares = sizes.sum(), sizes @ sizes
    point = np.searchsorted(reached, target.value * total * (1 - _ROUNDING))
    part = slice(half.ends[min(point, len(reached) - 1)])
    hits = np.bincount(half.clusters[part], weights[part], minlength=len(sizes))
    share = hits.sum() / total
    off, wrong = hits - share * sizes, share if target.criterion == "recall" else 1 - share
    spread = off @ off + _ALL_WRONG * wrong**2 * squares / np.count_nonzero(sizes)
    # The fewer clusters are large, the less is known of what they vary by.
    of_sizes = np.sum(sizes**4) / squares**2
    sums = {"rows": rows, "sizes": of_sizes, "spread": spread / total**2, "unseen": 1.0}
    known = pl.DataFrame({"tp": hits.sum(), "fp": total - hits.sum(), **sums})
    z = normal_quantile(2 * _guarantee(target) - 1)
    told: float = known.select(share_of_sums(z)).item()
    copies = total**2 / squares
    return float(max(total * told, copies))


def _told_at(half: Class, rows: float) -> Callable[[float], float]:
    """Return how many rows tell of the share of a class retrieved: ``p (1 - p) / V``."""
    weights, more = half.sizes * half.weights, half.by_weights(more_by_weights) or 0.0
    reached, squares = (np.append(0.0, np.cumsum(one)) for one in (weights, weights * half.weights))

    def told(weight: float) -> float:
        place = int(np.searchsorted(reached, weight * (1 - _ROUNDING)))
        p, above = weight / reached[-1], squares[min(place, len(squares) - 1)]
        off = (1 - p) ** 2 * above + p**2 * (squares[-1] - above)
        number = min(rows, p * (1 - p) * reached[-1] ** 2 / off) if 0 < p < 1 else rows
        return number / (1 + more)

    return told


def _rows_at(half: Class) -> Integers:
    counted = np.where(half.weights > 0, half.sizes, 0)
    return np.append(0, np.cumsum(counted))[half.ends]
