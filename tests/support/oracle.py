"""Precision-recall curves by definition, in exact rational numbers and no hurry.

Every point looks at every row again; nothing is sorted, summed up or shared with the package.
Logarithms, the only numbers that are not rational, have 50 digits.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import comb
from statistics import NormalDist
from typing import Any, NamedTuple

Start = str | None


class Row(NamedTuple):
    """One evaluated item; a score of ``None`` means that no threshold retrieves it."""

    truth: bool
    score: Any
    weight: Fraction = Fraction(1)


class Point(NamedTuple):
    """What predicting positive at ``score >= threshold`` comes to."""

    threshold: Any
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction
    precision: Fraction | None
    recall: Fraction | None


def curve(rows: Sequence[Row]) -> list[Point]:
    """Return one point per distinct score, the highest threshold first."""
    at_score: dict[Any, list[Row]] = {}
    for row in rows:
        if row.weight > 0 and row.score is not None:
            at_score.setdefault(row.score, []).append(row)
    (positives, negatives), tp, fp, points = totals(rows), Fraction(0), Fraction(0), []
    for threshold in sorted(at_score, reverse=True):
        hits, misses = totals(at_score[threshold])
        tp, fp = tp + hits, fp + misses
        points.append(_point(threshold, tp, fp, positives, negatives))
    return points


def start(rows: Sequence[Row], precision: Fraction | None) -> Point:
    """Return the point that retrieves nothing, with the precision that a convention gives it."""
    nothing = _point(float("inf"), Fraction(0), Fraction(0), *totals(rows))
    return nothing._replace(precision=precision)


def totals(rows: Sequence[Row]) -> tuple[Fraction, Fraction]:
    """Return the weight of the positives and of the negatives."""
    return (
        sum((row.weight for row in rows if row.truth), Fraction(0)),
        sum((row.weight for row in rows if not row.truth), Fraction(0)),
    )


def average_precision(rows: Sequence[Row]) -> Fraction | None:
    """Return ``sum((R_n - R_(n-1)) * P_n)``, with recall 0 before the first point."""
    if totals(rows)[0] == 0:
        return None
    return step_area(curve(rows))


def random_average_precision(rows: Sequence[Row]) -> Fraction | None:
    """Return the mean of the average precision over all orders of the truths, scores unmoved.

    For each score in turn, over how many positives the orders put above it and at it.
    """
    truths = [row.truth for row in rows]
    n, positives = len(rows), sum(truths)
    if positives == 0:
        return None
    mean = Fraction(0)
    for score in {row.score for row in rows if row.score is not None}:
        above = sum(row.score is not None and row.score > score for row in rows)
        tied = sum(row.score == score for row in rows)
        for before in range(min(above, positives) + 1):
            for gained in range(min(tied, positives - before) + 1):
                left = positives - before - gained
                orders = comb(above, before) * comb(tied, gained) * comb(n - above - tied, left)
                share = Fraction(orders, comb(n, positives))
                precision = Fraction(before + gained, above + tied)
                mean += share * Fraction(gained, positives) * precision
    return mean


def step_area(points: Sequence[Point]) -> Fraction:
    """Return the area under the steps, each as high as the point at its right end."""
    area = reached = Fraction(0)
    for point in points:
        area += (point.recall - reached) * point.precision
        reached = point.recall
    return area


def envelope(points: Sequence[Point]) -> list[Fraction]:
    """Return, for each point, the largest precision from there on."""
    return [max(later.precision for later in points[i:]) for i in range(len(points))]


def corners(points: Sequence[Point]) -> list[Point]:
    """Return the points that are the first or the last with their number of true positives."""
    runs = {tp: [point for point in points if point.tp == tp] for tp in {p.tp for p in points}}
    return [point for point in points if point in (runs[point.tp][0], runs[point.tp][-1])]


# --- areas ----------------------------------------------------------------------------------


def area(
    rows: Sequence[Row],
    method: str,
    start: Start = "one",
    low: Fraction = Fraction(0),
    high: Fraction = Fraction(1),
) -> Fraction | None:
    """Return an area by its name, between two recalls where the method has such a part."""
    positives, negatives = totals(rows)
    if positives == 0 or (method in ("gain", "roc") and negatives == 0):
        return None
    areas = {
        "step": lambda: _strips(rows, low, high, lambda point: point.precision),
        "envelope": lambda: _strips(rows, low, high, lambda point: highest(rows, point.recall)),
        "trapezoid": lambda: _trapezoid(rows, start, low, high),
        "interpolated": lambda: _interpolated(rows, low, high),
        "11-point": lambda: _grid(rows, 10),
        "101-point": lambda: _grid(rows, 100),
        "gain": lambda: _gain(rows),
        "roc": lambda: roc_auc(rows),
    }
    return areas[method]()


def highest(rows: Sequence[Row], recall: Fraction) -> Fraction:
    """Return the largest precision at a recall or a higher one, 0 where recall stays below."""
    reached = [point.precision for point in curve(rows) if point.recall >= recall]
    return max(reached, default=Fraction(0))


def _steps(rows: Sequence[Row]) -> Iterator[tuple[Point, Point]]:
    """Yield neighbouring points between which recall grows."""
    points = [start(rows, None), *curve(rows)]
    for before, after in pairwise(points):
        if after.tp > before.tp:
            yield before, after


def _strip(before: Point, after: Point, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Return the recalls between two points that lie in a range, of width 0 where none does."""
    left, right = max(before.recall, low), min(after.recall, high)
    return left, max(left, right)


def _strips(
    rows: Sequence[Row], low: Fraction, high: Fraction, height: Callable[[Point], Fraction]
) -> Fraction:
    total = Fraction(0)
    for before, after in _steps(rows):
        left, right = _strip(before, after, low, high)
        total += (right - left) * height(after)
    return total


def _trapezoid(rows: Sequence[Row], start: Start, low: Fraction, high: Fraction) -> Fraction:
    total = Fraction(0)
    for before, after in _steps(rows):
        at_before = before.precision
        if before.tp + before.fp == 0:
            if start is None:
                continue
            at_before = Fraction(1) if start == "one" else after.precision
        left, right = _strip(before, after, low, high)
        slope = (after.precision - at_before) / (after.recall - before.recall)
        heights = [at_before + slope * (recall - before.recall) for recall in (left, right)]
        total += (right - left) * sum(heights) / 2
    return total


def _interpolated(rows: Sequence[Row], low: Fraction, high: Fraction) -> Fraction:
    """Integrate precision over recall while true and false positives grow linearly.

    Between two points precision is ``s TP / (TP + k)``, where s is the share of true positives
    in what is added and k = s (TP_a + FP_a) - TP_a; its integral is TP - k ln(TP + k), times s.
    """
    positives, _ = totals(rows)
    total = Fraction(0)
    for before, after in _steps(rows):
        left, right = (recall * positives for recall in _strip(before, after, low, high))
        added = after.tp - before.tp
        share = added / (added + after.fp - before.fp)
        k = share * (before.tp + before.fp) - before.tp
        curved = k * _log((right + k) / (left + k)) if k != 0 else 0
        total += share * (right - left - curved) / positives
    return total


def _log(ratio: Fraction) -> Fraction:
    with localcontext(prec=50):
        return Fraction((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


def _grid(rows: Sequence[Row], steps: int) -> Fraction:
    return sum(highest(rows, Fraction(k, steps)) for k in range(steps + 1)) / Fraction(steps + 1)


def _gain(rows: Sequence[Row]) -> Fraction:
    positives, negatives = totals(rows)
    at_zero = positives * positives / (positives + negatives)

    def gain(tp: Fraction, wrong: Fraction) -> Fraction:
        return 1 - positives / negatives * wrong / tp

    total = Fraction(0)
    for before, after in _steps(rows):
        left = max(before.tp, at_zero)
        if left < after.tp:
            fp = before.fp + (after.fp - before.fp) * (left - before.tp) / (after.tp - before.tp)
            width = gain(after.tp, positives - after.tp) - gain(left, positives - left)
            total += width * (gain(after.tp, after.fp) + gain(left, fp)) / 2
    return total


# --- thresholds -----------------------------------------------------------------------------


def binned(rows: Sequence[Row], thresholds: Sequence[float]) -> list[Row]:
    """Return the rows with the highest of these ascending thresholds that each score reaches."""

    def reached(score: Any) -> Any:
        place = 0 if score is None else bisect_right(thresholds, score)
        return thresholds[place - 1] if place else None

    return [row._replace(score=reached(row.score)) for row in rows]


def curve_at(rows: Sequence[Row], thresholds: Sequence[float]) -> list[Point]:
    """Return the point at each of these ascending thresholds, the highest first."""
    return [_point_at(rows, threshold) for threshold in reversed(thresholds)]


def f_score(point: Point, beta: float) -> Fraction | None:
    """Return the F score, undefined without positives."""
    if point.tp + point.fn == 0:
        return None
    square = Fraction(beta) ** 2
    weighted = (1 + square) * point.tp
    return weighted / (weighted + square * point.fn + point.fp)


def operating_point(rows: Sequence[Row], criterion: str, target: float) -> Point | None:
    """Look at every point for the best that meets a target, the highest threshold first.

    Shares are compared as the floats nearest to them, as users write them: 3 of 10 meet a recall
    of .3, which as a float is a little less, and of .7 as a float likewise. Of equally good points
    the most precise is taken, then the one of most recall, then the highest threshold.
    """
    if criterion == "threshold":
        return _point_at(rows, target) if rows else None
    defined, value = meeting(rows, criterion, target)
    return max(defined, key=lambda p: (value(p), p.precision, p.tp), default=None)


def meeting(
    rows: Sequence[Row], criterion: str, target: float
) -> tuple[list[Point], Callable[[Point], Fraction]]:
    """Return the points that meet a target, and what is to be as large as can be among them."""
    points, (_, negatives) = curve(rows), totals(rows)
    n = sum(totals(rows))
    if criterion == "predicted_count":
        return [p for p in points if p.tp + p.fp <= target], lambda p: p.tp + p.fp
    if criterion == "fpr":
        few = [p for p in points if negatives and float(p.fp / negatives) <= target]
        return few, lambda p: p.tp
    share = {
        "recall": lambda p: p.recall,
        "precision": lambda p: p.precision,
        "predicted_rate": lambda p: (p.tp + p.fp) / n,
        "f_beta": lambda p: f_score(p, target),
    }[criterion]
    value = {
        "recall": lambda p: p.precision,
        "precision": lambda p: p.tp,
        "predicted_rate": lambda p: p.tp + p.fp,
        "f_beta": share,
    }[criterion]
    defined = [p for p in points if share(p) is not None]
    if criterion in ("recall", "precision"):
        defined = [p for p in defined if float(share(p)) >= target]
    if criterion == "predicted_rate":
        defined = [p for p in defined if float(share(p)) <= target]
    return defined, value


def least_cost(rows: Sequence[Row], fp: int, fn: int) -> Point | None:
    """Return the point of least cost, of which to retrieve nothing is one."""
    if not rows:
        return None
    points = [start(rows, None), *curve(rows)]
    nothing = Fraction(-1)  # less precise than any point that costs the same
    return max(
        points,
        key=lambda p: (
            -(fp * p.fp + fn * p.fn),
            nothing if p.precision is None else p.precision,
            p.tp,
            p.threshold,
        ),
    )


def _point_at(rows: Sequence[Row], threshold: Any) -> Point:
    found = [row for row in rows if row.score is not None and row.score >= threshold]
    return _point(threshold, *totals(found), *totals(rows))


def _point(
    threshold: Any, tp: Fraction, fp: Fraction, positives: Fraction, negatives: Fraction
) -> Point:
    return Point(
        threshold=threshold,
        tp=tp,
        fp=fp,
        fn=positives - tp,
        tn=negatives - fp,
        precision=tp / (tp + fp) if tp + fp > 0 else None,
        recall=tp / positives if positives > 0 else None,
    )


# --- uncertainty ----------------------------------------------------------------------------


def moves(rows: Sequence[Row]) -> list[Fraction]:
    """Return how far the average precision moves per unit of weight of each row.

    From ``AP = E[Y A(S) / H(S)] / pi``, with A(s) the share of positives and H(s) that of all rows
    at scores of s and more: at each score in turn, what a row adds to each term it is in.
    """
    area, (positives, _), points = average_precision(rows), totals(rows), curve(rows)
    return [_move(points, row, area) / positives for row in rows]


def _move(points: Sequence[Point], row: Row, area: Fraction) -> Fraction:
    moved = -area if row.truth else Fraction(0)
    if row.score is None:
        return moved
    before = Fraction(0)
    for point in points:
        added, before = point.tp - before, point.tp
        if row.truth and point.threshold == row.score:
            moved += point.precision
        if point.threshold <= row.score:
            retrieved = point.tp + point.fp
            moved += added * ((retrieved if row.truth else 0) - point.tp) / retrieved**2
    return moved


def roc_auc(rows: Sequence[Row]) -> Fraction | None:
    """Return how likely a positive ranks above a negative, ties as one half, pair by pair."""
    positives, negatives = totals(rows)
    if not positives * negatives:
        return None
    pairs = product((r for r in rows if r.truth), (r for r in rows if not r.truth))
    won = sum((p.weight * n.weight * _won(p, n) for p, n in pairs), Fraction(0))
    return won / (positives * negatives)


def _won(positive: Row, negative: Row) -> Fraction:
    """Return 1 where the positive ranks above, one half at a tie; rows without a score are last."""
    a, b = ((row.score is not None, row.score or 0) for row in (positive, negative))
    return Fraction(a > b) + Fraction(a == b, 2)


def roc_moves(rows: Sequence[Row]) -> list[Fraction]:
    """Return how far the area under the ROC curve moves per unit of weight of each row."""
    area, (positives, negatives) = roc_auc(rows), totals(rows)
    moved = []
    for row in rows:
        others = [other for other in rows if other.truth != row.truth]
        won = sum(
            (o.weight * (_won(row, o) if row.truth else _won(o, row)) for o in others), Fraction(0)
        )
        own, of_others = (positives, negatives) if row.truth else (negatives, positives)
        moved.append((won / of_others - area) / own)
    return moved


def delong_variance(rows: Sequence[Row]) -> float:
    """Return the variance of DeLong et al. (1988), for effective numbers of rows."""
    variance = Fraction(0)
    for truth in (True, False):
        own = [
            (row, move)
            for row, move in zip(rows, roc_moves(rows), strict=True)
            if row.truth == truth
        ]
        weights = [row.weight for row, _ in own]
        number = sum(weights) ** 2 / sum(w * w for w in weights)
        squares = sum((row.weight * move) ** 2 for row, move in own)
        variance += squares * (number / (number - 1) if number > 1 else 1)
    return float(variance)


def variance(
    rows: Sequence[Row], clusters: Sequence[Any] | None = None, moved: Sequence[Fraction] = ()
) -> Fraction:
    """Return the sum over rows, or over clusters of rows, of the squares of what they move."""
    clusters = range(len(rows)) if clusters is None else clusters
    sums: dict[Any, Fraction] = {}
    for row, cluster, move in zip(rows, clusters, moved or moves(rows), strict=True):
        sums[cluster] = sums.get(cluster, Fraction(0)) + row.weight * move
    return sum((move * move for move in sums.values()), Fraction(0))


def stratified_variance(
    rows: Sequence[Row], strata: Sequence[Any], clusters: Sequence[Any]
) -> Fraction:
    """Return what the clusters of each stratum tell of the variance (Cochran 1977, 5A.9)."""
    sums: dict[Any, dict[Any, Fraction]] = {}
    for row, stratum, cluster, move in zip(rows, strata, clusters, moves(rows), strict=True):
        of_stratum = sums.setdefault(stratum, {})
        of_stratum[cluster] = of_stratum.get(cluster, Fraction(0)) + row.weight * move
    found = Fraction(0)
    for of_stratum in sums.values():
        n, mean = len(of_stratum), sum(of_stratum.values()) / len(of_stratum)
        squares = sum((one - mean) ** 2 for one in of_stratum.values())
        found += Fraction(n, n - 1) * squares
    return found


def student_quantile(level: float, degrees: Fraction) -> float:
    """Return Wallace's (1959) approximation to the quantile that so much of Student's t is below.

    It is what the package promises; how near the package is to Student's t by SciPy is a test of
    its own.
    """
    normal = NormalDist().inv_cdf((1 + level) / 2)
    u = normal * float((8 * degrees + 3) / (8 * degrees + 1))
    power = u * u / float(degrees)
    return math.sqrt(float(degrees) * math.expm1(power)) if power < 700 else math.inf


def student_error(error: float, effective: Fraction) -> float:
    """Return the standard error that goes with Student's t: of n squares it divides by n - 1."""
    return error * math.sqrt(effective / (effective - 1))


def student_p_value(t: float, degrees: Fraction) -> float:
    """Return how often Student's t is as far from 0, by the same approximation."""
    root = math.sqrt(float(degrees) * math.log1p(t * t / float(degrees)))
    return 2 * NormalDist().cdf(-root * float((8 * degrees + 1) / (8 * degrees + 3)))


def bias(rows: Sequence[Row], prevalence: Fraction | None = None) -> Fraction:
    """Return the bias of the area by leaving out each row, at least two of them positive."""
    return sum(bias_of_class(rows, prevalence, truth=truth) for truth in (True, False))


def bias_of_class(
    rows: Sequence[Row], prevalence: Fraction | None = None, *, truth: bool
) -> Fraction:
    """Return the bias of the area by leaving out each row of a class."""

    def area(rows: Sequence[Row]) -> Fraction:
        return average_precision(rows if prevalence is None else calibrated(rows, prevalence))

    places = [place for place, row in enumerate(rows) if bool(row.truth) == truth]
    if len(places) < 2:
        return Fraction(0)
    left = [area([*rows[:place], *rows[place + 1 :]]) for place in places]
    return (len(places) - 1) * (sum(left) / len(left) - area(rows))


def cluster_bias(
    rows: Sequence[Row],
    clusters: Sequence[Any],
    prevalence: Fraction | None = None,
    *,
    added: int = 1,
) -> float:
    """Return the bias with clusters: the part of each class times what they do to its variance.

    What is ``added`` so many times to that of rows is at most 0.8 standard errors.
    """
    found = bias(rows, prevalence)
    moved = moves(rows) if prevalence is None else calibrated_moves(rows, prevalence)
    for truth in (True, False):
        own = [m for row, m in zip(rows, moved, strict=True) if bool(row.truth) == truth]
        first_order = sum(own) / len(own) * (len(own) - 1)
        squares = bias_of_class(rows, prevalence, truth=truth) + first_order
        times = _times_of_clusters(rows, clusters, moved, truth=truth)
        found += max(squares, Fraction(0)) * (times - 1)
    error = math.sqrt(variance(rows, clusters, moved))
    by_rows = float(bias(rows, prevalence))
    return by_rows + min(added * (float(found) - by_rows), 0.8 * error)


def of_squares(
    rows: Sequence[Row], clusters: Sequence[Any], prevalence: Fraction | None = None
) -> float:
    """Return what limits take the variance to be more: of a square of a normal number it is 2."""
    positives, negatives = totals(rows)
    if positives < 2 or not negatives:
        return 0.0
    by_rows = float(bias(rows, prevalence))
    return max(2 * (cluster_bias(rows, clusters, prevalence) ** 2 - by_rows**2), 0.0)


def more_by_weights(weights: Sequence[Any]) -> float:
    """Return what limits take the variance to be more, as few rows tell it: the heavier ones."""
    powers = [sum(float(weight) ** power for weight in weights) for power in (1, 2, 4)]
    number, heavy = (a**2 / b for a, b in pairwise(powers))
    heavy *= min(max(3 * heavy / number, 0.5), 1.0)
    number, heavy = max(number, 6.0), max(heavy, 6.0)
    return max(heavy / (heavy - 3) / (number / (number - 3)) - 1, 0.0)


def _times_of_clusters(
    rows: Sequence[Row], clusters: Sequence[Any], moved: Sequence[Fraction], *, truth: bool
) -> Fraction:
    """Return what clusters multiply the variance of a class around its mean by, at least 1.

    The mean of what its rows move is taken as that of clusters of any size.
    """
    own = [one for one in zip(rows, clusters, moved, strict=True) if bool(one[0].truth) == truth]
    kept, groups, of_class = zip(*own, strict=True)
    total = sum(row.weight * move for row, _, move in own)

    def around(units: Sequence[Any]) -> Fraction:
        sizes: dict[Any, Fraction] = {}
        for row, unit in zip(kept, units, strict=True):
            sizes[unit] = sizes.get(unit, Fraction(0)) + row.weight
        number = sum(sizes.values()) ** 2 / sum(size**2 for size in sizes.values())
        return variance(kept, units, of_class) - total**2 / number

    by_rows, by_clusters = around(range(len(kept))), around(groups)
    return max(by_clusters / by_rows, Fraction(1)) if by_rows > 0 else Fraction(1)


def highest_prevalence(segments: Sequence[Sequence[Row]]) -> Fraction:
    """Return the highest prevalence of segments with both classes, and at most 1/2.

    Of these, segments with 20 effective rows of each class go first.
    """
    prevalences = {}
    for number, rows in enumerate(segments):
        classes = [[row for row in rows if row.truth == truth] for truth in (True, False)]
        if all(classes):
            positives, negatives = totals(rows)
            effective = [
                sum(row.weight for row in side) ** 2 / sum(row.weight**2 for row in side)
                for side in classes
            ]
            prevalences[number] = (min(effective) >= 20, positives / (positives + negatives))
    enough = any(is_enough for is_enough, _ in prevalences.values())
    return min(
        max(share for is_enough, share in prevalences.values() if is_enough or not enough),
        Fraction(1, 2),
    )


def calibrated(rows: Sequence[Row], prevalence: Fraction) -> list[Row]:
    """Return rows whose classes have the weights that go with a prevalence."""
    positives, negatives = totals(rows)
    of_class = {True: prevalence / positives, False: (1 - prevalence) / negatives}
    return [row._replace(weight=row.weight * of_class[bool(row.truth)]) for row in rows]


def calibrated_moves(rows: Sequence[Row], prevalence: Fraction) -> list[Fraction]:
    """Return how far the calibrated average precision moves per unit of weight of each row.

    By the chain rule: one more unit of weight in a class makes all other rows of the class count
    less, since the class keeps its share.
    """
    scaled = calibrated(rows, prevalence)
    by_share = moves(scaled)
    of_class = {}
    for truth in (True, False):
        own = [
            (row, scaled_row, move)
            for row, scaled_row, move in zip(rows, scaled, by_share, strict=True)
            if row.truth == truth
        ]
        size = sum(row.weight for row, _, _ in own)
        share = sum(scaled_row.weight for _, scaled_row, _ in own)
        less = sum(scaled_row.weight * move for _, scaled_row, move in own)
        of_class[truth] = size, share, less
    found = []
    for row, move in zip(rows, by_share, strict=True):
        size, share, less = of_class[bool(row.truth)]
        found.append((share * move - less) / size)
    return found


def has_few_negatives(
    rows: Sequence[Row], prevalence: Fraction | None, clusters: Sequence[Any] | None = None
) -> bool:
    """Return whether an average precision, calibrated or not, rests on too few negatives.

    They are fewer than 20, or each stands for k > 1 of them, and at the odds that the rows stand
    for they go with fewer than 20 sqrt(k) positives.
    """
    positives, negatives = totals(rows)
    numbers = [
        total**2 / sum(row.weight**2 for row in rows if row.truth == truth)
        for total, truth in ((positives, True), (negatives, False))
    ]
    number = numbers[1]
    if clusters is not None:
        moved = moves(rows) if prevalence is None else calibrated_moves(rows, prevalence)
        number /= _times_of_clusters(rows, clusters, moved, truth=False)
    odds = negatives / positives if prevalence is None else (1 - prevalence) / prevalence
    k = odds * numbers[0] / numbers[1]
    return number < 20 or (k > 1 and float(number / odds) < 20 * float(k) ** 0.5)


def effective_positives(rows: Sequence[Row], clusters: Sequence[Any] | None = None) -> Fraction:
    """Return how many positives, or clusters of them, of equal weight would say as much."""
    clusters = range(len(rows)) if clusters is None else clusters
    sums: dict[Any, Fraction] = {}
    for row, cluster in zip(rows, clusters, strict=True):
        sums[cluster] = sums.get(cluster, Fraction(0)) + row.weight * row.truth
    return sum(sums.values()) ** 2 / sum(weight * weight for weight in sums.values())


def count_limits(tp: int, fp: int, level: float) -> tuple[float | None, float | None]:
    """Return the same of rows that count as one, by their numbers."""
    n, tail = Fraction(tp + fp), (1 - level) / 2
    if not tp:
        return 0.0, 1 - tail ** float(1 / n)
    if not fp:
        return tail ** float(1 / n), 1.0
    share = tp / n
    spread = float(share * (1 - share))
    half = student_quantile(level, n - 1) * student_error(math.sqrt(spread / n), n) / spread
    low, high = skewed_limits(share, half)
    return min(low, tail ** float(1 / n)), high


def skewed_limits(share: Fraction, half: float) -> tuple[float, float]:
    """Return the ends of a logit interval, that towards the nearer of 0 and 1 farther away."""
    logit, beyond = math.log(share / (1 - share)), half * min(half / 4, 1.0)
    skew = float(1 - 2 * share)
    ends = logit - half - beyond * max(skew, 0.0), logit + half + beyond * max(-skew, 0.0)
    low, high = (1 / (1 + math.exp(min(-end, 700))) for end in ends)
    return low, high


def share_limits(
    hits: Sequence[tuple[bool, Fraction, Any]],
    level: float,
    misses: Sequence[Fraction] = (),
    usual: tuple[Fraction, Fraction] | None = None,
) -> tuple[float | None, float | None]:
    """Return the interval of a share from each row's hit, weight and cluster, by definition.

    The variance is at least as many times that of rows as it is if hits and misses have the
    ``usual`` weight, or all that they weigh if that is less.

    It is the logit interval by Student's t of the effective clusters, at least the exact one of as
    many trials as the rows tell without a miss, and without a hit. If all are hits, one that was
    not seen may weigh as much as those of its class, ``misses``, do on average.
    """
    if not hits:
        return None, None
    alike = Counter(hits)  # fractions of a million rows would take a minute

    def added(amount: Callable[[bool, Fraction], Fraction]) -> Fraction:
        found = (n * amount(hit, weight) for (hit, weight, _), n in alike.items())
        return sum(found, Fraction(0))

    total, tail = added(lambda _, weight: weight), (1 - level) / 2
    share = added(lambda hit, weight: hit * weight) / total
    sums: dict[Any, list[Fraction]] = {}
    for (hit, weight, cluster), n in alike.items():
        found, size = sums.get(cluster, [Fraction(0), Fraction(0)])
        sums[cluster] = [found + n * hit * weight, size + n * weight]
    m = total**2 / sum(size * size for _, size in sums.values())
    if share == 0:
        return 0.0, 1 - tail ** float(1 / m)
    if share == 1:
        if misses:
            m = min(m, total * sum(misses) / sum(weight**2 for weight in misses))
        return tail ** float(1 / m), 1.0
    variance = sum((found - share * size) ** 2 for found, size in sums.values()) / total**2
    by_rows = added(lambda hit, weight: (weight * (hit - share)) ** 2) / total**2
    if usual is not None:
        weights = [
            added(lambda hit, weight, kind=kind: weight * (hit == kind)) for kind in (True, False)
        ]
        of_hits, of_misses = (
            weight * min(weighs, weight) for weight, weighs in zip(weights, usual, strict=True)
        )
        least = of_hits * (1 - share) ** 2 + of_misses * share**2
        variance *= max(1, least / total**2 / by_rows)
    if round(m) < 2 or variance == 0:
        return None, None
    rows = total**2 / added(lambda _, weight: weight**2)
    trials = min(max(rows * by_rows / variance, m), rows)
    error = student_error(math.sqrt(variance), m)
    half = student_quantile(level, m - 1) * error / float(share * (1 - share))
    low, high = skewed_limits(share, half)
    most = tail ** float(1 / trials)
    return min(low, most), max(high, 1 - most)
