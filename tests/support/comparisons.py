"""Rows with three models, and comparisons of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from exact import segments

import frame_prc

TEST = ["ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value"]
# A difference of areas that nearly cancel keeps the rounding of the areas.
FEW_POSITIVES = 20  # with fewer, an area of 1 or 0 carries no test
ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-9}
ROWS = pl.DataFrame(
    {
        "region": ["n"] * 7 + ["s"] * 6 + [None] * 3,
        "truth": [1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1],
        "old": [0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.2, 0.7, 0.6, 0.6, 0.2, 0.1, 0.5, 0.3, 0.2, 0.1],
        "new": [0.8, 0.1, 0.9, 0.5, 0.6, 0.6, 0.2, 0.3, 0.6, 0.4, 0.2, 0.5, 0.9, 0.1, 0.9, 0.2],
        "third": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.6, 0.1, 0.2, 0.1, 0.3, 0.3, 0.4, 0.1],
        "weight": [1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 1.0, 1.0, 2.0, 1.0, 0.0, 0.25, 2.0, 1.0, 1.0, 1.0],
        "user": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 1, 2],
    }
)


def compared(kind: Any, df: pl.DataFrame, score: Any = ("new", "old"), **options: Any):
    """Return all that a comparison tells: of segments with ``against``, and else of models."""
    score = list(score) if isinstance(score, tuple) else score
    verb = frame_prc.compare_segments if "against" in options else frame_prc.compare_models
    return kind.rows(verb(kind.make(df), "truth", score, **{"details": True, **options}))


# --- exact arithmetic --------------------------------------------------------------------------


def moved_by(
    df: pl.DataFrame, score: str, prevalence: Fraction | None = None
) -> tuple[Any, list[Any], list[oracle.Row]]:
    """Return an area, how far each row moves it, and the rows: none of them of weight zero.

    With a prevalence they are those of the calibrated average precision.
    """
    rows = segments(df.with_columns(score=score), None)[()]
    if prevalence is None:
        area = oracle.average_precision(rows)
        moves = [] if area is None else oracle.moves(rows)
    else:
        area = oracle.average_precision(oracle.calibrated(rows, prevalence))
        moves = oracle.calibrated_moves(rows, prevalence)
    return area, [row.weight * move for row, move in zip(rows, moves, strict=False)], rows


def by_definition(
    a: Any, b: Any, moves_a: dict[Any, Any], moves_b: dict[Any, Any], effective: Any
) -> dict[str, float | None]:
    """Return what is said of a difference, from how far each cluster moves either area."""
    names = ["difference", "std_error", "ci_low", "ci_high", "p_value"]
    if a is None or b is None:
        return dict.fromkeys(names)
    difference = float(a - b)
    pairs = [(moves_a.get(c, 0), moves_b.get(c, 0)) for c in moves_a | moves_b]
    variance = sum((x - y) ** 2 for x, y in pairs)
    at_edge = not {a, b}.isdisjoint({0, 1})
    if variance == 0 or round(effective) < 2 or (at_edge and effective < FEW_POSITIVES):
        return dict.fromkeys(names) | {"difference": difference}
    error = math.sqrt(variance)
    statistic = difference / error
    if any(moves_a.values()) and any(moves_b.values()):
        on_logits = sum((x / (a * (1 - a)) - y / (b * (1 - b))) ** 2 for x, y in pairs)
        logits = math.log(a / (1 - a)) - math.log(b / (1 - b))
        statistic = logits / math.sqrt(on_logits) if on_logits else statistic
    widened = oracle.student_error(error, effective)
    half = oracle.student_quantile(0.95, effective - 1) * widened
    return {
        "difference": difference,
        "std_error": error,
        "ci_low": max(-1, difference - half),
        "ci_high": min(1, difference + half),
        "p_value": oracle.student_p_value(statistic * error / widened, effective - 1),
    }


def sums(moves: list[Any], clusters: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for move, cluster in zip(moves, clusters, strict=True):
        found[cluster] = found.get(cluster, 0) + move
    return found


def assert_test(found: dict[str, Any], expected: dict[str, float | None]) -> None:
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value, rel=1e-6, abs=1e-9))
