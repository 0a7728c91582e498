"""How often intervals cover the precision at a threshold, by simulation.

``python tests/benchmarks/precision_coverage.py [DRAWS]`` prints the table of intervals.md; draws
come in hundreds. The scores are those of ``area_coverage.py``, and the precision that should be
covered is that of their distribution. In a second table days have very different numbers of rows,
of both classes, and on some days more of them are positive than their scores tell.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.area_coverage import LEVEL, Dependence, Scenario
from benchmarks.printing import markdown

import frame_prc

THRESHOLDS = (0.0, 1.0, 2.0, 3.0)
DEPENDENCE: tuple[Dependence, ...] = ("clusters", "clusters ignored")
ROWS_PER_DAY = 50


def covered(frames: Iterator[pl.DataFrame], precision: list[float], **options: str) -> list[float]:
    """Return how often the interval at each threshold covers the precision."""
    known = pl.DataFrame({"threshold": THRESHOLDS, "known": precision})
    points = [
        frame_prc.curve(
            frame,
            "truth",
            "score_0",
            by="draw",
            thresholds=THRESHOLDS,
            start=None,
            ci=LEVEL,
            **options,
        )
        for frame in frames
    ]
    table = pl.concat(points).filter(pl.col("tp") + pl.col("fp") > 0).join(known, on="threshold")
    covers = pl.col("known").is_between("precision_low", "precision_high").mean()
    return table.group_by("threshold").agg(covers).sort("threshold")["known"].to_list()


def of_scenario(scenario: Scenario) -> dict[str, object]:
    """Return the coverage where all rows of a cluster are of one class."""
    found, wrong = (norm.sf(np.array(THRESHOLDS) - shift) for shift in (scenario.separation, 0.0))
    tp, fp = scenario.prevalence * found, (1 - scenario.prevalence) * wrong
    rates = covered(scenario.frames(models=1), list(tp / (tp + fp)), **scenario.options)
    return _row(
        f"prevalence {scenario.prevalence}, {scenario.positives} positive clusters",
        scenario.dependence,
        rates,
    )


def _days(draws: int, days: int, random: np.random.Generator) -> pl.DataFrame:
    """Draw rows whose scores and odds share something with the other rows of their day."""
    size = random.poisson(ROWS_PER_DAY * np.exp(random.standard_normal(draws * days) * 0.3))
    day = np.repeat(np.arange(draws * days), size)
    weather, luck = random.standard_normal((2, draws * days))
    score = 0.7 * weather[day] + 0.7 * random.standard_normal(day.size)
    odds = np.exp(score + luck[day] - 2)
    truth = random.random(day.size) < odds / (1 + odds)
    return pl.DataFrame({"draw": day // days, "cluster": day, "truth": truth, "score_0": score})


def of_days(days: int, draws: int, dependence: Dependence) -> dict[str, object]:
    """Return the coverage for that many days."""
    random = np.random.default_rng(0)
    population = _days(1, 400_000, random)
    above = [population.filter(pl.col("score_0") >= t)["truth"].mean() for t in THRESHOLDS]
    frames = (
        _days(100, days, random).with_columns(pl.col("draw") + 100 * i) for i in range(draws // 100)
    )
    options = {"cluster": "cluster"} if dependence == "clusters" else {}
    return _row(f"{days} days", dependence, covered(frames, above, **options))


def _row(what: str, dependence: Dependence, rates: list[float]) -> dict[str, object]:
    clusters = "given" if dependence == "clusters" else "ignored"
    named = {f"at {t:g}": round(rate, 3) for t, rate in zip(THRESHOLDS, rates, strict=True)}
    return {"rows": what, "clusters": clusters, **named}


if __name__ == "__main__":
    DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    ROWS = [
        of_scenario(replace(Scenario(prevalence, 50, draws=DRAWS), dependence=dependence))
        for prevalence in (0.01, 0.1, 0.5)
        for dependence in DEPENDENCE
    ]
    ROWS += [
        of_days(days, DRAWS, dependence) for days in (10, 30, 184) for dependence in DEPENDENCE
    ]
    print(markdown(pl.DataFrame(ROWS)))
