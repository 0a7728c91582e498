"""Rows with three models, and comparisons of them."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import oracle
import polars as pl
import pytest
from exact import segments

import frame_prc

TEST = ["value_a", "value_b", "difference", "std_error", "ci_low", "ci_high", "p_value"]
# A difference of areas that nearly cancel keeps the rounding of the areas.
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
    a: Any,
    b: Any,
    moves_a: dict[Any, Any],
    moves_b: dict[Any, Any],
    *effective: Any,
    more: tuple[float, float] = (0.0, 0.0),
) -> dict[str, float | None]:
    """Return what is said of a difference, from how far each cluster moves either area.

    ``effective`` are the effective positives of either side, or of both if they are the same. The
    limits take the variances of either side to be ``more``.
    """
    names = ["difference", "std_error", "ci_low", "ci_high", "p_value"]
    if a is None or b is None:
        return dict.fromkeys(names)
    difference = float(a - b)
    pairs = [(moves_a.get(c, 0), moves_b.get(c, 0)) for c in moves_a | moves_b]
    variance, of_a, of_b = (
        sum(square)
        for square in zip(*[((x - y) ** 2, x * x, y * y) for x, y in pairs], strict=True)
    )
    if (variance == 0 and (a, b) != (1, 1)) or round(min(effective)) < 2:
        return dict.fromkeys(names) | {"difference": difference}
    covariance, error = sum(x * y for x, y in pairs), math.sqrt(variance)
    apart = 1.0
    if of_a and of_b:
        r = float(covariance) / math.sqrt(of_a) / math.sqrt(of_b)
        exactly = (of_a * of_b - covariance**2) / (of_a * of_b)
        apart = float(exactly) / (1 + r) if r > 0 else 1 - r

    errors = [math.sqrt(own + added) for own, added in zip((of_a, of_b), more, strict=True)]
    wide = error
    if any(more):
        wide = math.sqrt((errors[0] - errors[1]) ** 2 + 2 * apart * errors[0] * errors[1])

    def ends(z: float) -> tuple[float, float]:
        (low_a, high_a), (low_b, high_b) = (
            limits(area, spread, m, z)
            for area, spread, m in ((a, errors[0], effective[0]), (b, errors[1], effective[-1]))
        )
        reaches = (float(a) - low_a, high_b - float(b)), (high_a - float(a), float(b) - low_b)
        plain = student(min(effective), z) * oracle.student_error(wide, min(effective))
        below, above = (
            max(plain, math.sqrt(min(1, 5 * apart) * (x - y) ** 2 + 2 * apart * x * y))
            for x, y in reaches
        )
        return max(difference - below, -1.0), min(difference + above, 1.0)

    low, high = ends(NormalDist().inv_cdf(0.975))
    return {
        "difference": difference,
        "std_error": error,
        "ci_low": low,
        "ci_high": high,
        "p_value": smallest(lambda z: ends(z)[0] > 0 or ends(z)[1] < 0),
    }


def limits(area: Any, error: float, effective: Any, z: float) -> tuple[float, float]:
    """Return the ends of the interval of an area at the level of a normal deviate."""
    if area in (0, 1):
        alike = (math.erfc(z / math.sqrt(2)) / 2) ** (1 / float(effective))
        return (alike, 1.0) if area else (0.0, 1 - alike)
    half = student(effective, z) * oracle.student_error(error, effective) / float(area * (1 - area))
    logit = math.log(area / (1 - area))
    return _expit(logit - half), _expit(logit + half)


def student(effective: Any, z: float) -> float:
    """Return the deviate of Student's t at the level of a normal one."""
    degrees = float(effective - 1)
    u = z * (8 * degrees + 3) / (8 * degrees + 1)
    return math.sqrt(degrees * math.expm1(u * u / degrees)) if u * u / degrees < 700 else 1e150


def smallest(excludes_0: Any) -> float:
    """Return the smallest 1 - level of an interval without 0, by halving."""
    low, high = 0.0, 38.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if excludes_0(middle) else (low, middle)
    return math.erfc(low / math.sqrt(2))


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def sums(moves: list[Any], clusters: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for move, cluster in zip(moves, clusters, strict=True):
        found[cluster] = found.get(cluster, 0) + move
    return found


def assert_test(
    found: dict[str, Any], expected: dict[str, float | None], *, may_be_wider: bool = False
) -> None:
    """Assert what is said of a difference; the bias of weighted rows in clusters is not exact."""
    for name, value in expected.items():
        if may_be_wider and value is not None and name in _WIDER:
            assert _WIDER[name] * (found[name] - value) >= -1e-9
        else:
            exactly = None if value is None else pytest.approx(value, rel=1e-6, abs=1e-9)
            assert found[name] == exactly


_WIDER = {"ci_low": -1, "ci_high": 1, "p_value": 1}
