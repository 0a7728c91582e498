"""Thresholds that new rows meet a target at, with a given probability; needs NumPy.

At the score of the k-th of P positives the recall of new rows is at least r with the probability
that a binomial number of P trials with success r is below k; false positive rates likewise.

For a precision thresholds are tested from few rows retrieved to many, until one fails: the error is
that of a single test (Learn then Test: Angelopoulos et al. 2021, arXiv 2110.01052). There are
several starts, each with a part of it. With weights or clusters numbers of rows are effective ones.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from frame_prc._curves.logit_intervals import share_of_sums
from frame_prc._formulas import normal_quantile
from frame_prc._inference.distributions import binomial_cdf
from frame_prc._inference.resamples import (
    Class,
    Curves,
    Floats,
    Integers,
    Sample,
    by_segment,
    shares_of,
)
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

    def found(samples: list[Sample]) -> Iterator[list[tuple[float | None, ...]]]:
        segments = [_Segment(sample, sample.observed()) for sample in samples]
        scored = [segment for segment in segments if segment.points.tp.size]
        by_target = [_BOUNDS[t.criterion](scored, t) for t in targets.values()]
        pairs = zip(*by_target, strict=True)
        for segment in segments:
            if not segment.points.tp.size:  # no row has a score
                yield []
                continue
            bounds_, rows = zip(*next(pairs), strict=True)
            yield [(*bounds_, *rows)]

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


class _Segment(NamedTuple):
    sample: Sample
    points: Curves


def _least_tp(segments: list[_Segment], target: Target) -> list[_Bound]:
    def keeps(share: float, rows: float) -> bool:
        reached = binomial_cdf(rows * share - 1, rows, target.value)
        return reached >= _guarantee(target) - _ROUNDING

    halves = [(one.sample.positive, one.points.tp[0]) for one in segments]
    return _of_class(segments, halves, target, keeps)


def _most_fp(segments: list[_Segment], target: Target) -> list[_Bound]:
    def keeps(share: float, rows: float) -> bool:
        fails = 1 - _guarantee(target) + _ROUNDING
        return binomial_cdf(rows * share, rows, target.value) <= fails

    halves = [(one.sample.negative, one.points.fp[0]) for one in segments]
    return _of_class(segments, halves, target, keeps)


def _of_class(
    segments: list[_Segment],
    halves: list[tuple[Class, Floats]],
    target: Target,
    keeps: Callable[[float, float], bool],
) -> list[_Bound]:
    """Return the first weights retrieved of a class that keep a target: the least, or the most."""
    step = 1 if target.criterion == "recall" else -1

    def first(half: Class, reached: Floats, rows: float) -> float | None:
        told, total = _told_at(half, rows), half.total
        weights = np.unique(np.append(reached, 0.0))[::step]
        return _first(weights, lambda weight: keeps(weight / total, told(weight)))

    numbers = _effective(segments, halves, target)
    return [
        (first(*half, rows) if half[0].total else None, rows)
        for half, rows in zip(halves, numbers, strict=True)
    ]


def _most_retrieved(segments: list[_Segment], target: Target) -> list[_Bound]:
    fails = (1 - _guarantee(target)) / _STARTS
    least = needed(target)
    orders = [_orders(one.sample, least) for one in segments]
    asked = (
        (*segment, {point for order in own for point in order})
        for segment, own in zip(segments, orders, strict=True)
    )
    shares = shares_of(asked, normal_quantile(1 - 2 * fails))

    def most(points: Curves, order: list[int], share: Mapping[int, float]) -> float | None:
        found = None
        for point in order:
            tp, rows = float(points.tp[0, point]), float(points.tp[0, point] + points.fp[0, point])
            hits, number = tp * share[point], rows * share[point]
            if binomial_cdf(hits - 1, number, target.value) < 1 - fails - _ROUNDING:
                break
            found = rows
        return found

    return [
        (max((one for one in found if one is not None), default=None), None)
        for found in (
            [most(segment.points, order, share) for order in own]
            for segment, own, share in zip(segments, orders, shares, strict=True)
        )
    ]


def _orders(sample: Sample, least: int | None) -> list[list[int]]:
    if least is None or least > sample.told_by_weights:
        return []
    rows = (_rows_at(sample.positive) + _rows_at(sample.negative)).tolist()
    return [_order(rows, least * _APART**i) for i in range(_STARTS)]


def _order(rows: list[int], start: float) -> list[int]:
    """Return the points that are tested one after the other, given the rows retrieved at each."""
    order, number = [], start
    while number <= rows[-1]:
        order.append(bisect_left(rows, math.floor(number)))
        number = max(number * _STEP, float(rows[order[-1]]) + 1)
    return order


_BOUNDS: Mapping[str, Callable[[list[_Segment], Target], list[_Bound]]] = {
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


def _effective(
    segments: list[_Segment], halves: list[tuple[Class, Floats]], target: Target
) -> list[float]:
    # The effective numbers of rows of a class that tell what share of it is retrieved.
    numbers = [half.total**2 / half.of_squares if half.total else 0.0 for half, _ in halves]
    clustered = [i for i, one in enumerate(segments) if one.sample.n_clusters and numbers[i]]
    if clustered:
        sums = [_sums_of_clusters(*halves[i], numbers[i], target) for i in clustered]
        # At once, as a frame for each segment would take far longer than the rest.
        z = normal_quantile(2 * _guarantee(target) - 1)
        told = pl.DataFrame(sums).select(
            pl.max_horizontal((pl.col("tp") + pl.col("fp")) * share_of_sums(z), "copies")
        )
        for i, number in zip(clustered, told.to_series(), strict=True):
            numbers[i] = number
    return [
        min(number, one.sample.told_by_weights)
        for number, one in zip(numbers, segments, strict=True)
    ]


def _sums_of_clusters(half: Class, reached: Floats, rows: float, target: Target) -> dict[str, Any]:
    """Return what tells how many rows count, where about the share wanted is retrieved."""
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
    return {"tp": hits.sum(), "fp": total - hits.sum(), **sums, "copies": total**2 / squares}


def _told_at(half: Class, rows: float) -> Callable[[float], float]:
    """Return how many rows tell of the share of a class retrieved: ``p (1 - p) / V``."""
    weights = half.sizes * half.weights
    reached, squares = (np.append(0.0, np.cumsum(one)) for one in (weights, weights * half.weights))

    def told(weight: float) -> float:
        place = int(np.searchsorted(reached, weight * (1 - _ROUNDING)))
        p, above = weight / reached[-1], squares[min(place, len(squares) - 1)]
        off = (1 - p) ** 2 * above + p**2 * (squares[-1] - above)
        number = min(rows, p * (1 - p) * reached[-1] ** 2 / off) if 0 < p < 1 else rows
        return number / (1 + half.more)

    return told


def _rows_at(half: Class) -> Integers:
    counted = np.where(half.weights > 0, half.sizes, 0)
    return np.append(0, np.cumsum(counted))[half.ends]
