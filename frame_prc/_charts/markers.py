"""Operating points in a panel: coinciding markers are set apart."""

from __future__ import annotations

from typing import Any

import polars as pl

_APART = 10.0  # px; markers of two lines that are closer are set apart


def placed(points: pl.DataFrame, width: int, height: int, top: float) -> pl.DataFrame:
    """Return the points that can be drawn, with the shift ``dx`` of each marker, in pixels."""
    drawable = points.drop_nulls(["recall", "precision"])
    rows = drawable.to_dicts()
    places = [(row["recall"] * width, (1 - row["precision"] / top) * height) for row in rows]
    return drawable.with_columns(pl.Series("dx", _shifts(rows, places), pl.Float64))


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
