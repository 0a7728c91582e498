"""Tests and intervals over segments, for the table of simulations.

How often a test of equal segments rejects, with equal and with unequal ones, and how often the
intervals of the mean of the segments and of the spread between them cover. Segments have the same
numbers of positives and of negatives, and normal scores of variance 1; those of the positives are
higher. Each call evaluates some draws, as models of their own. Of 300 draws a rate of .05 is known
to .013.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import brentq

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.area_coverage import Scenario

import frame_prc

ROWS_AT_ONCE = 1_000_000
LEVEL = 0.95


@cache
def separation(prevalence: float, area: float) -> float:
    """Return how much higher the scores of positives are for an average precision."""

    def excess(higher: float) -> float:
        return Scenario(prevalence, 1, higher).area - area

    return float(brentq(excess, 0.0, 7.0))


@dataclass(frozen=True)
class Cell:
    """Equal segments, but for a standard deviation ``differ`` of how much higher positives score.

    With ``days``, each of so many clusters has rows in every segment, and half of the variance of
    the scores is that of the day. ``prevalences`` are those of the segments, in turns. ``weighted``
    rows are twice as many, with exponential weights, and effectively as many.
    """

    segments: int
    positives: int
    prevalence: float
    area: float
    differ: float = 0.0
    days: int = 0
    draws: int = 300
    prevalences: tuple[float, ...] = ()
    weighted: bool = False

    @property
    def about(self) -> dict[str, object]:
        """What a row of results says of the cell."""
        prevalence = ", ".join(map(str, self.prevalences)) or self.prevalence
        about = {"segments": self.segments, "positives": self.positives, "prevalence": prevalence}
        return about | {
            "AP": self.area,
            "days": self.days or "",
            "weights": "yes" if self.weighted else "",
            "draws": self.draws,
        }

    @property
    def roles(self) -> dict[str, str]:
        """The columns of a draw."""
        roles = {"truth": "truth", "score": "score", "by": "segment", "model": "draw"}
        weight = {"weight": "weight"} if self.weighted else {}
        return roles | weight | ({"cluster": "day"} if self.days else {})

    def frames(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Yield some draws, and the average precision of their segments."""
        rng = np.random.default_rng(0)
        rows = round(self.segments * self.positives / min(self.prevalences or (self.prevalence,)))
        at_once = max(1, ROWS_AT_ONCE // rows)
        for first in range(0, self.draws, at_once):
            last = min(first + at_once, self.draws)
            parts = [self._draw(rng, draw) for draw in range(first, last)]
            yield tuple(pl.concat(each) for each in zip(*parts, strict=True))

    def _draw(self, rng: np.random.Generator, draw: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        prevalences = np.resize(self.prevalences or (self.prevalence,), self.segments)
        higher = separation(self.prevalence, self.area)
        highers = higher + self.differ * rng.standard_normal(self.segments)
        positives = self.positives * (2 if self.weighted else 1)
        sizes = np.rint(positives / prevalences).astype(int)
        segment = np.repeat(np.arange(self.segments), sizes)
        truth = np.concatenate([np.arange(size) < positives for size in sizes])
        score = rng.standard_normal(segment.size)
        day = rng.integers(0, max(1, self.days), segment.size)
        if self.days:
            score = (score + rng.standard_normal(self.days)[day]) / np.sqrt(2)
        score += highers[segment] * truth
        rows = {"draw": f"{draw:04}", "segment": segment, "day": day, "truth": truth}
        if self.weighted:
            rows["weight"] = rng.exponential(size=segment.size)
        true = {"draw": f"{draw:04}", "area": [self._area(one) for one in highers]}
        return pl.DataFrame(rows | {"score": score}), pl.DataFrame(true)

    def _area(self, higher: float) -> float:
        return self.area if not self.differ else _areas(self.prevalence, round(float(higher), 2))


@cache
def _areas(prevalence: float, higher: float) -> float:
    return Scenario(prevalence, 1, higher).area


def heterogeneity(cell: Cell, test: str | None = None) -> dict[str, object]:
    """Return how often segments differ at 5 %, and how the gap and tau compare with the truth."""
    found, spreads = [], []
    for rows, areas in cell.frames():
        found.append(frame_prc.heterogeneity(rows, **cell.roles, test=test, details=True))
        spreads.append(areas.group_by("draw", maintain_order=True).agg(pl.col("area").std()))
    table, truth = pl.concat(found), pl.concat(spreads)["area"]
    # The true tau is that of the distribution, of which the segments are a sample.
    tau = float(np.sqrt((truth**2).mean()))
    covers = pl.lit(tau).is_between("tau_low", "tau_high")
    return cell.about | {
        "SD of AP": round(tau, 3),
        "test": table["test"][0],
        "rejects": _rate(table, pl.col("p_value") < 1 - LEVEL),
        "gap": _rate(table, pl.col("gap_p_value") < 1 - LEVEL),
        "gap / if equal": round(table["gap"].mean() / table["gap_if_equal"].mean(), 2),
        "tau covers": _rate(table, covers),
    }


def mean_of_segments(cell: Cell) -> dict[str, object]:
    """Return how often the interval of the macro row covers the mean, and how often it is above."""
    found = [
        frame_prc.summary(rows, **cell.roles, overall=True, ci=LEVEL, details=True).filter(
            level="macro"
        )
        for rows, _ in cell.frames()
    ]
    table = pl.concat(found)
    return cell.about | {
        "mean AP": round(table["average_precision"].mean(), 3),
        "status": table["status"].mode()[0],
        "covers": _rate(table, pl.lit(cell.area).is_between("ci_low", "ci_high")),
        "above": _rate(table, pl.col("ci_low") > cell.area),
        "width": table.select((pl.col("ci_high") - pl.col("ci_low")).mean().round(3)).item(),
    }


def shrunken(cell: Cell) -> dict[str, object]:
    """Return how often intervals of shrunken segments cover, and their errors.

    ``rmse`` is the root mean squared error of the shrunken values beside that of the raw ones.
    """
    found = []
    for rows, true in cell.frames():
        known = true.rename({"draw": "model"}).with_columns(
            pl.int_range(pl.len()).over("model").alias("segment")
        )
        asked = {**cell.roles, "calibrate": cell.prevalence, "ci": LEVEL}
        found.append(frame_prc.shrunk(rows, **asked).join(known, on=["model", "segment"]))
    table, area = pl.concat(found), pl.col("area")
    errors = [((pl.col(name) - area) ** 2).mean().sqrt() for name in ("shrunk", "value")]
    return cell.about | {
        "status": table["status"].mode()[0],
        "covers": _rate(table, area.is_between("ci_low", "ci_high")),
        "above": _rate(table, pl.col("ci_low") > area),
        "below": _rate(table, pl.col("ci_high") < area),
        "rmse": table.select(errors[0] / errors[1]).item(),
    }


def shrinkable() -> Iterator[Cell]:
    """Yield segments of different sizes, spreads and areas."""
    for positives, differ in ((10, 0.3), (50, 0.3), (50, 0.15), (200, 0.15), (20, 0.0)):
        yield Cell(20, positives, 0.1, 0.48, differ=differ, draws=100)
    yield Cell(5, 20, 0.1, 0.48, differ=0.3, draws=300)
    yield Cell(50, 20, 0.1, 0.8, differ=0.3, draws=100)
    yield Cell(20, 20, 0.3, 0.96, differ=0.5, draws=100)
    yield Cell(4, 20, 0.1, 0.48, differ=0.3, draws=200)
    yield Cell(20, 50, 0.3, 0.95, differ=0.4, draws=100)
    yield Cell(20, 50, 0.3, 0.6, differ=0.3, days=30, draws=100)


def _rate(table: pl.DataFrame, which: pl.Expr) -> float | None:
    rate = table.select(which.mean()).item()
    return None if rate is None else round(rate, 3)


def levels() -> Iterator[Cell]:
    """Yield cells of equal segments."""
    for area in (0.7, 0.97):
        yield Cell(30, 10, 0.1, area)
        yield Cell(20, 50, 0.1, area)
    yield Cell(10, 10, 0.3, 0.5)
    yield Cell(5, 100, 0.1, 0.7)
    yield Cell(12, 20, 0.3, 0.8, prevalences=(0.3, 0.5, 0.2))
    yield Cell(5, 60, 0.2, 0.6, days=30)
    yield Cell(5, 60, 0.2, 0.6, days=100)


def powers() -> Iterator[Cell]:
    """Yield cells of segments that differ."""
    yield Cell(30, 20, 0.1, 0.6, differ=0.3)
    yield Cell(5, 100, 0.1, 0.6, differ=0.3)
    yield Cell(5, 60, 0.2, 0.6, differ=0.5, days=50)


def means() -> Iterator[Cell]:
    """Yield cells of segments whose mean is estimated."""
    yield Cell(20, 10, 0.1, 0.5)
    yield Cell(20, 20, 0.1, 0.3)
    yield Cell(100, 20, 0.1, 0.3)
    yield Cell(20, 50, 0.1, 0.8)
    for positives, area in ((10, 0.5), (20, 0.3), (10, 0.9)):
        yield Cell(20, positives, 0.1 if area < 0.9 else 0.3, area, weighted=True)
    yield Cell(100, 10, 0.5, 0.9, weighted=True)
