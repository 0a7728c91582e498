"""Precision-recall curves by definition, in exact rational numbers and no hurry.

Every point looks at every row again; nothing is sorted, summed up or shared with the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple


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
    scores = {row.score for row in rows if row.weight > 0 and row.score is not None}
    return [_point(rows, threshold) for threshold in sorted(scores, reverse=True)]


def start(rows: Sequence[Row], precision: Fraction | None) -> Point:
    """Return the point that retrieves nothing, with the precision that a convention gives it."""
    nothing = _point([Row(row.truth, None, row.weight) for row in rows], float("inf"))
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


def _point(rows: Sequence[Row], threshold: Any) -> Point:
    found = [row for row in rows if row.score is not None and row.score >= threshold]
    tp, fp = totals(found)
    positives, negatives = totals(rows)
    return Point(
        threshold=threshold,
        tp=tp,
        fp=fp,
        fn=positives - tp,
        tn=negatives - fp,
        precision=tp / (tp + fp) if tp + fp > 0 else None,
        recall=tp / positives if positives > 0 else None,
    )
