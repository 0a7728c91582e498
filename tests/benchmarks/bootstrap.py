"""The bootstrap beside the influence function: how they agree, and what they cover.

::

    python tests/benchmarks/bootstrap.py agreement coverage   # or one of them

- ``agreement``: the standard error on real segments, analytic and by 2,000 replicates.
- ``coverage``: how often 95 % intervals hold the true value where positives are few, and bands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl

import frame_prc
from frame_prc import Draws

FLIGHTS = Path(__file__).parents[2] / "examples" / "data" / "flights.parquet"
ENOUGH_POSITIVES = 200


# --- agreement -----------------------------------------------------------------------------


def agreement(replicates: int = 2000) -> pl.DataFrame:
    """Return both standard errors of each carrier with enough late flights, and their ratio."""
    flights = pl.read_parquet(FLIGHTS)
    asked = {"truth": "late", "score": "boosting", "by": "carrier", "ci": 0.95, "details": True}
    analytic = frame_prc.average_precision(flights, **asked)
    drawn = frame_prc.average_precision(flights, **asked, bootstrap=Draws(replicates, seed=0))
    table = analytic.select("carrier", "n", "n_pos", "average_precision", analytic="std_error")
    return (
        table.with_columns(drawn["std_error"].alias("bootstrap"))
        .filter(pl.col("n_pos") >= ENOUGH_POSITIVES)
        .with_columns(ratio=pl.col("analytic") / pl.col("bootstrap"))
    )


# --- coverage ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Population:
    """Normal scores, those of positives higher by ``shift``."""

    prevalence: float
    shift: float

    def sample(self, rng: np.random.Generator, rows: int, samples: int) -> pl.DataFrame:
        """Draw samples of so many rows, one segment each."""
        truth = rng.random(rows * samples) < self.prevalence
        score = rng.standard_normal(rows * samples) + self.shift * truth
        number = np.repeat(np.arange(samples), rows)
        return pl.DataFrame({"sample": number, "truth": truth, "score": score})

    def precision(self, threshold: float) -> float:
        """Return the precision of a threshold."""
        tp = self.prevalence * (1 - NormalDist(self.shift).cdf(threshold))
        fp = (1 - self.prevalence) * (1 - NormalDist().cdf(threshold))
        return tp / (tp + fp)

    def precision_at(self, recall: float) -> float:
        """Return the precision where a recall is reached."""
        return self.precision(NormalDist(self.shift).inv_cdf(1 - recall))

    def average_precision(self, steps: int = 20_000) -> float:
        """Return the mean of precision over recall."""
        return float(np.mean([self.precision_at((k + 0.5) / steps) for k in range(steps)]))


SMALL = [
    (Population(0.1, 1.5), 50),
    (Population(0.1, 1.5), 120),
    (Population(0.1, 1.5), 200),
    (Population(0.1, 3.0), 120),
    (Population(0.5, 1.0), 24),
    (Population(0.01, 2.0), 1200),
    (Population(0.1, 0.5), 500),
]


def coverage(samples: int = 1000, replicates: int = 400) -> Iterator[dict[str, float]]:
    """Yield, for populations and sample sizes, how many intervals hold the true value."""
    for population, rows in SMALL:
        frame = population.sample(np.random.default_rng(1), rows, samples)
        asked = {"truth": "truth", "score": "score", "by": "sample", "ci": 0.95}
        drawn = {"bootstrap": Draws(replicates, seed=1)}
        true = population.average_precision()
        yield {
            "prevalence": population.prevalence,
            "shift": population.shift,
            "rows": rows,
            "positives": rows * population.prevalence,
            "average_precision": true,
            "influence": _held(frame_prc.average_precision(frame, **asked), true),
            "bootstrap": _held(frame_prc.average_precision(frame, **asked, **drawn), true),
            "percentiles": _held(_percentiles(frame, replicates), true),
        }


def _held(table: pl.DataFrame, true: float) -> float:
    """Return the share of the samples with an interval in which it holds the true value."""
    return (
        table.drop_nulls("ci_low")
        .select((pl.lit(true).is_between("ci_low", "ci_high")).mean())
        .item()
    )


def _percentiles(frame: pl.DataFrame, replicates: int) -> pl.DataFrame:
    """Return the interval that is not offered, between two percentiles of the replicates."""
    rng = np.random.default_rng(2)
    found = []
    for (_,), sample in frame.group_by("sample"):
        ordered = sample.sort("score", descending=True)["truth"].to_numpy()
        drawn = rng.multinomial(len(ordered), np.full(len(ordered), 1 / len(ordered)), replicates)
        tp, retrieved = (drawn * ordered).cumsum(axis=1), drawn.cumsum(axis=1)
        with np.errstate(invalid="ignore"):
            areas = np.nansum(drawn * ordered * tp / retrieved, axis=1) / tp[:, -1]
        defined = areas[~np.isnan(areas)]
        if len(defined):
            found.append(np.quantile(defined, [0.025, 0.975]))
    return pl.DataFrame(np.array(found), schema=["ci_low", "ci_high"], orient="row")


def bands(rows: int = 2000, samples: int = 300, replicates: int = 400) -> pl.DataFrame:
    """Return, at each recall by itself, how many bands hold the true precision."""
    population = Population(0.1, 1.5)
    frame = population.sample(np.random.default_rng(1), rows, samples)
    table = frame_prc.band(
        frame, "truth", "score", by="sample", recalls=21, bootstrap=Draws(replicates, seed=1)
    ).filter(pl.col("recall").is_between(0, 1, closed="none"))
    true = pl.col("recall").map_elements(population.precision_at, return_dtype=pl.Float64)
    held = pl.col("precision_low", "precision_high")
    return (
        table.with_columns(true=true)
        .with_columns(held=pl.col("true").is_between("precision_low", "precision_high"))
        .group_by("recall")
        .agg(pl.col("true").first(), pl.col("held").mean(), held.mean())
        .sort("recall")
    )


if __name__ == "__main__":
    CHOSEN = sys.argv[1:] or ["agreement", "coverage"]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, float_precision=4):
        if "agreement" in CHOSEN:
            print(agreement())
        if "coverage" in CHOSEN:
            print(pl.DataFrame(list(coverage())))
            print(bands())
