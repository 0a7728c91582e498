"""Rows of known average precision, and segments of unequal prevalence that are compared.

Each draw is a segment, so one call evaluates all draws of a scenario. Its average precision is that
of the distribution the scores come from, by definition: the integral of precision over recall on a
fine grid of thresholds, or a sum over the few scores there are.
``python tests/benchmarks/area_coverage.py`` compares segments whose scores carry base rates.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.printing import markdown

import frame_prc

Dependence = Literal["none", "clusters", "clusters ignored"]
ROWS_AT_ONCE = 5_000_000
LEVEL = 0.95


@dataclass(frozen=True)
class Scenario:
    """Normal scores of variance 1, those of the positives higher by ``separation``.

    ``ties`` rounds them to integers. ``weights`` are exponential. Clusters have 1 to 9 rows of one
    class, whose scores share two thirds of their variance; the scores of two models share one
    third. ``positives`` is their expected number: of clusters that hold any, and with weights twice
    as many, which are effectively as many as that. ``reference`` is the prevalence that the average
    precision is calibrated to.
    """

    prevalence: float
    positives: int
    separation: float = 1.5
    ties: bool = False
    weights: bool = False
    dependence: Dependence = "none"
    draws: int = 2000
    reference: float | None = None

    @property
    def clustered(self) -> bool:
        return self.dependence != "none"

    @property
    def options(self) -> dict[str, str]:
        """Columns to name beside truth and score."""
        weight = {"weight": "weight"} if self.weights else {}
        return weight | ({"cluster": "cluster"} if self.dependence == "clusters" else {})

    @property
    def area(self) -> float:
        """The average precision of the distribution."""
        edges = np.arange(-8.5, 15) if self.ties else np.linspace(-9, 15, 200_001)
        found, wrong = norm.sf(edges - self.separation), norm.sf(edges)
        prevalence = self.reference or self.prevalence
        tp, fp = prevalence * found, (1 - prevalence) * wrong
        with np.errstate(invalid="ignore"):
            precision = np.nan_to_num(tp / (tp + fp), nan=1.0)
        # A score counts at the threshold it reaches: the lower edge of its bin.
        at = precision[:-1] if self.ties else (precision[:-1] + precision[1:]) / 2
        return float(np.sum(at * -np.diff(found)))

    @property
    def roc_auc(self) -> float:
        """The area under the ROC curve of the distribution."""
        if not self.ties:
            return float(norm.cdf(self.separation / np.sqrt(2)))
        edges = np.arange(-8.5, 15)
        found, wrong = norm.sf(edges - self.separation), norm.sf(edges)
        return float(np.sum(-np.diff(wrong) * (found[:-1] + found[1:]) / 2))

    def partial_roc_auc(self, fpr: float) -> float:
        """The area under the ROC curve of the distribution up to a rate (McClish 1989)."""
        edges = np.arange(15, -9, -1) - 0.5 if self.ties else np.linspace(15, -9, 200_001)
        found, wrong = norm.sf(edges - self.separation), norm.sf(edges)
        rates = np.append(wrong[wrong < fpr], fpr)
        area = np.trapezoid(np.interp(rates, wrong, found), rates)
        return float((1 + (area - fpr**2 / 2) / (fpr - fpr**2 / 2)) / 2)

    def frames(self, models: int) -> Iterator[pl.DataFrame]:
        """Draw all samples, some at a time."""
        rng = np.random.default_rng(0)
        at_once = max(1, ROWS_AT_ONCE // (self._units * (5 if self.clustered else 1)))
        if self.draws <= at_once:
            yield _drawn_at_once(self, models)
            return
        for start in range(0, self.draws, at_once):
            yield self.draw(rng, range(start, min(start + at_once, self.draws)), models)

    @property
    def _units(self) -> int:
        """Rows, or clusters, of a draw."""
        return round(self.positives / self.prevalence) * (2 if self.weights else 1)

    def draw(self, rng: np.random.Generator, draws: range, models: int) -> pl.DataFrame:
        draw = np.repeat(np.arange(draws.start, draws.stop), self._units)
        sizes = rng.integers(1, 10, size=draw.size) if self.clustered else 1
        cluster = np.repeat(np.arange(draw.size), sizes)
        truth = (rng.random(draw.size) < self.prevalence)[cluster]
        of_all_models = rng.standard_normal(draw.size)[cluster]
        columns = {"draw": draw[cluster], "cluster": cluster, "truth": truth}
        for model in range(models):
            of_cluster = rng.standard_normal(draw.size)[cluster]
            of_row = rng.standard_normal(cluster.size)
            noise = (of_all_models + of_cluster + of_row) / np.sqrt(3)
            score = noise + self.separation * truth
            columns[f"score_{model}"] = np.rint(score) if self.ties else score
        if self.weights:
            columns["weight"] = rng.exponential(size=cluster.size)
        return pl.DataFrame(columns)


@lru_cache(maxsize=2)  # several measures, and comparisons, are of the same draws
def _drawn_at_once(scenario: Scenario, models: int) -> pl.DataFrame:
    return scenario.draw(np.random.default_rng(0), range(scenario.draws), models)


@dataclass(frozen=True)
class Groups:
    """Groups of rows of one score model at different prevalences, as in a comparison of segments.

    ``separation`` is that of the last group; the others have 1.5. Clusters have a row of every
    group, with scores that share half their variance. With ``base_rates`` scores are the log odds
    of being positive, given the group.
    """

    prevalences: tuple[float, ...]
    rows: int
    against: str
    separation: float = 1.5
    clusters: bool = False
    draws: int = 1000
    measure: str = "calibrated_average_precision"
    base_rates: bool = False

    def rates(self) -> dict[str, object]:
        """Return how often the last group differs at 5 %, and the group before it."""
        rng = np.random.default_rng(0)
        names = [str(number) for number in range(len(self.prevalences))]
        against = {"group": names[0]} if self.against == "named" else self.against
        cluster = {"cluster": "cluster"} if self.clusters else {}
        found = [
            frame_prc.compare_segments(
                self._draw(rng, names),
                "truth",
                "score",
                by="group",
                against=against,
                measure=self.measure,
                details=True,
                **cluster,
            )
            for _ in range(self.draws)
        ]
        table = pl.concat(found).group_by("group", maintain_order=True)
        rates = table.agg((pl.col("p_value") < 1 - LEVEL).mean())["p_value"]
        return {
            "against": self.against,
            "measure": self.measure,
            "base rates": "in the scores" if self.base_rates else "",
            "clusters": "given" if self.clusters else "",
            "prevalences": ", ".join(map(str, self.prevalences)),
            "rows each": self.rows,
            "separation of the last": self.separation,
            "draws": self.draws,
            "one before differs": round(rates[-2], 3) if rates[-2] is not None else None,
            "last differs": round(rates[-1], 3),
        }

    def _draw(self, rng: np.random.Generator, names: list[str]) -> pl.DataFrame:
        shared = rng.standard_normal(self.rows) if self.clusters else np.zeros(self.rows)
        frames = []
        for name, prevalence in zip(names, self.prevalences, strict=True):
            truth = rng.random(self.rows) < prevalence
            own = rng.standard_normal(self.rows)
            noise = (own + shared) / np.sqrt(2) if self.clusters else own
            separation = self.separation if name == names[-1] else 1.5
            cluster = np.arange(self.rows)
            score = noise + separation * truth
            if self.base_rates:
                score = 1.5 * (score - 0.75) + np.log(prevalence / (1 - prevalence))
            columns = {"truth": truth, "score": score, "cluster": cluster}
            frames.append(pl.DataFrame(columns).with_columns(group=pl.lit(name)))
        return pl.concat(frames)


def groups() -> Iterator[Groups]:
    """Yield the comparisons of segments that are simulated."""
    unequal = (0.05, 0.05, 0.2)
    for against in ("others", "rest", "overall", "named", "previous"):
        yield Groups(unequal, 2000, against)
    for against in ("others", "rest", "overall", "named"):
        yield Groups(unequal, 2000, against, base_rates=True)
    yield Groups(unequal, 2000, "rest", measure="average_precision")
    yield Groups((0.2, 0.1, 0.05, 0.02), 2500, "rest")
    yield Groups((0.2, 0.1, 0.05, 0.02), 2500, "others")
    yield Groups(unequal, 2000, "others", clusters=True)
    yield Groups(unequal, 2000, "rest", clusters=True)
    yield Groups(unequal, 2000, "named", clusters=True)
    yield Groups(unequal, 2000, "others", separation=1.1)
    yield Groups(unequal, 2000, "rest", separation=1.1)
    yield Groups(unequal, 2000, "named", separation=1.1)


if __name__ == "__main__":
    print(markdown(pl.DataFrame([group.rates() for group in groups()])))
