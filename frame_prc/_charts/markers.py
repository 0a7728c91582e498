"""Operating points in a panel: coinciding markers set apart, and a place for each threshold."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.text import threshold_text

LABEL_FONT = 9  # px

_APART = 10.0  # px; markers of two lines that are closer are set apart
_LETTER, _LINE = 5.2, 10.0  # px, of a label
_REACH = 8.0  # px from a marker to its label
# Where to put a label, the best place first: a curve falls to the right, so above it there is room.
_PLACES = [(1, -1), (-1, 1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -2), (-1, 2), (1, -3), (-1, 3)]


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: _Box) -> float:
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)


def placed(points: pl.DataFrame, width: int, height: int, top: float = 1.0) -> pl.DataFrame:
    """Return the points that can be drawn, with the shift of each marker, and its label.

    ``dx`` shifts a marker; ``label`` is put at ``label_dx`` and ``label_dy`` from the point. All
    are in pixels. Points need ``recall, precision, series, criterion, threshold``.
    """
    drawable = points.drop_nulls(["recall", "precision"])
    rows = drawable.to_dicts()
    places = [(row["recall"] * width, (1 - row["precision"] / top) * height) for row in rows]
    shifts = _shifts(rows, places)
    texts = [threshold_text(float(row["threshold"])) for row in rows]
    centres = [(x + shift, y) for (x, y), shift in zip(places, shifts, strict=True)]
    labels = _label_shifts(centres, texts, _Box(0, 0, width, height))
    return drawable.with_columns(
        pl.Series("dx", shifts, pl.Float64),
        pl.Series("label", texts, pl.String),
        pl.Series("label_dx", [shift + dx for shift, (dx, _) in zip(shifts, labels, strict=True)]),
        pl.Series("label_dy", [dy for _, dy in labels]),
    )


def shifted(name: str) -> Any:
    """Return a shift in pixels that a mark reads from the column of this name."""
    return alt.ExprRef(f"datum.{name}")


def _shifts(rows: list[dict[str, Any]], places: list[tuple[float, float]]) -> list[float]:
    """Return how far to move markers of one criterion that would hide each other."""
    shifts = [0.0] * len(rows)
    for criterion in dict.fromkeys(row["criterion"] for row in rows):
        members = [i for i, row in enumerate(rows) if row["criterion"] == criterion]
        for group in _close(members, places):
            for number, i in enumerate(group):
                shifts[i] = (number - (len(group) - 1) / 2) * _APART
    return shifts


def _close(members: list[int], places: list[tuple[float, float]]) -> list[list[int]]:
    """Return members in groups of which each begins with one that all others are close to."""
    groups: list[list[int]] = []
    for i in members:
        near = (g for g in groups if _distance(places[g[0]], places[i]) < _APART / 2)
        group = next(near, None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    return groups


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


def _label_shifts(
    centres: list[tuple[float, float]], texts: list[str], panel: _Box
) -> list[tuple[float, float]]:
    """Return where each label goes, from its marker: the first place that is free, or the freest.

    The shift is that of the label's centre. The highest marker chooses first, so that the label of
    a lower curve gives way.
    """
    taken = [_Box(x - _LINE / 2, y - _LINE / 2, _LINE, _LINE) for x, y in centres]
    shifts = [(0.0, 0.0)] * len(centres)
    for i in sorted(range(len(centres)), key=lambda i: centres[i][1]):
        (x, y), size = centres[i], len(texts[i]) * _LETTER
        choices = [((_REACH + size / 2) * right, _LINE * down) for right, down in _PLACES]
        boxes = [_Box(x + dx - size / 2, y + dy - _LINE / 2, size, _LINE) for dx, dy in choices]
        costs = [_cost(box, taken, panel) for box in boxes]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        shifts[i] = choices[best]
    return shifts


def _cost(box: _Box, taken: list[_Box], panel: _Box) -> float:
    """Return the area of a label that hides another, or is outside the panel."""
    outside = round(box.width * box.height - box.overlap(panel), 6)
    return outside + sum(itertools.starmap(_Box.overlap, ((box, other) for other in taken)))
