"""Coverage of areas, points and bands: ``python tests/benchmarks/coverage_points.py``.

Name parts to run only these: ``areas, points, held, band, whole_curves, guarantee``. Each draw is
a segment with a fixed number of rows of each class, so one call evaluates all draws of a cell.
Scores are normal with variance 1, those of the positives higher by ``separation``. What should be
covered is a property of the distribution: the area of its curve, precision and recall of new rows
at the threshold that was returned, and the precision at a recall. ``above`` is how often the whole
interval lies above it, and ``below`` how often below.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.printing import markdown

import frame_prc
from frame_prc import Draws

LEVEL = 0.95
Row: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Cell:
    """A distribution and the numbers of rows drawn from it.

    ``cluster`` copies each row so many times, into one cluster. ``ties`` rounds scores to tenths.
    ``weights`` are lognormal with this spread, those of negatives times ``negative_weight``; so
    many ``heavy`` rows, of either class, hold half of all weight. With ``deployed`` the rows are
    evaluated at this prevalence.
    """

    positives: int
    prevalence: float
    separation: float
    draws: int = 300
    cluster: int = 1
    ties: bool = False
    weights: float = 0.0
    negative_weight: float = 1.0
    deployed: float | None = None
    heavy: int = 0

    @property
    def weighted(self) -> bool:
        return self.weights > 0 or self.negative_weight != 1 or self.heavy > 0

    @property
    def negatives(self) -> int:
        return round(self.positives * (1 - self.prevalence) / self.prevalence)

    @property
    def columns(self) -> Row:
        return {
            "positives": self.positives,
            "prevalence": self.prevalence,
            "separation": self.separation,
            "rows": "ties" if self.ties else "clusters" if self.cluster > 1 else self._kind,
        }

    @property
    def _kind(self) -> str:
        if self.deployed is not None:
            return f"deployed at {self.deployed:g}"
        if self.heavy:
            return f"{self.heavy} rows hold half of the weight"
        return f"weights {self.weights}, {self.negative_weight}" if self.weighted else ""

    def rows(self, seed: int = 0) -> pl.DataFrame:
        rng, n = np.random.default_rng(seed), self.positives + self.negatives
        truth = np.tile(np.arange(n) < self.positives, self.draws)
        score = rng.standard_normal(truth.size) + self.separation * truth
        # Scores are in no order, so any rows may be the heavy ones: as many of both classes.
        place = np.tile(np.minimum(np.arange(n), n - 1 - np.arange(n)), self.draws)
        much = n / self.heavy - 1 if self.heavy else 1.0
        frame = pl.DataFrame(
            {
                "draw": np.repeat(np.arange(self.draws), n),
                "truth": truth,
                "score": np.round(score, 1) if self.ties else score,
                "cluster": np.arange(truth.size),
                "weight": np.exp(self.weights * rng.standard_normal(truth.size))
                * np.where(truth, 1.0, self.negative_weight)
                * np.where(place < self.heavy // 2, much, 1.0),
            }
        )
        return pl.concat([frame] * self.cluster) if self.cluster > 1 else frame

    def edges(self) -> np.ndarray:
        """Return thresholds that are fine, or that tell all scores apart."""
        return np.arange(-100.5, 160) / 10 if self.ties else np.linspace(-9, 16, 200_001)

    def rates(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return recall, false positive rate and precision of new rows at thresholds."""
        recall, fpr = norm.sf(threshold - self.separation), norm.sf(threshold)
        prevalence = self.prevalence if self.deployed is None else self.deployed
        tp, fp = prevalence * recall, (1 - prevalence) * fpr * self.negative_weight
        with np.errstate(invalid="ignore"):
            return recall, fpr, np.nan_to_num(tp / (tp + fp), nan=1.0)

    def area(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the area under the curve between two recalls; all methods agree on it."""
        recall, _, precision = self.rates(self.edges())
        ends = np.clip(recall, low, high)
        return float(np.sum((precision[:-1] + precision[1:]) / 2 * -np.diff(ends)))

    def precision_at(self, recalls: np.ndarray) -> np.ndarray:
        return self.rates(self.separation + norm.isf(recalls))[2]


def covered(found: pl.DataFrame, low: str, high: str, truth: pl.Expr) -> Row:
    """Return how often limits cover, in all draws and in those of status ok."""
    ends, inside = (pl.col(low), pl.col(high)), truth.is_between(low, high)
    ok = pl.col("status") == "ok" if "status" in found.columns else pl.lit(value=True)
    edge = ((ends[0] == 0) | (ends[1] == 1)).mean()
    rates = found.select(
        covers=inside.mean(),
        ok=ok.mean(),
        covers_ok=inside.filter(ok).mean(),
        above=(ends[0] > truth).mean(),
        below=(ends[1] < truth).mean(),
        width=(ends[1] - ends[0]).mean(),
        no_width=(ends[1] == ends[0]).mean(),
        at_0_or_1=edge,
        null=ends[0].is_null().mean(),
    )
    return {
        name: value if value is None else round(value, 3)
        for name, value in rates.row(0, named=True).items()
    }


# --- areas -----------------------------------------------------------------------------------


AREAS = [
    Cell(20, 0.1, 1.8),
    Cell(20, 0.3, 1.3),
    Cell(50, 0.5, 3.7),
    Cell(50, 0.1, 1.5),
    Cell(200, 0.1, 1.5),
    Cell(50, 0.01, 3.5),
    Cell(10, 0.1, 6.0),
]
METHODS = ["step", "trapezoid", "interpolated", "envelope"]


def areas() -> Iterator[Row]:
    """Yield the coverage of each area, whole and up to recall 0.5."""
    for cell in AREAS:
        for limits in (None, (0.0, 0.5)):
            found = frame_prc.auc(
                cell.rows(),
                "truth",
                "score",
                by="draw",
                method=METHODS,
                recall_range=limits,
                standardised=limits is not None,
                ci=LEVEL,
                bootstrap=Draws(300, seed=1),
            )
            truth = cell.area() if limits is None else cell.area(*limits) * 2
            for method in METHODS:
                rates = covered(found.filter(method=method), "ci_low", "ci_high", pl.lit(truth))
                name = method if limits is None else f"{method}, recall to 0.5"
                yield {"measure": name, **cell.columns, "truth": round(truth, 4), **rates}


# --- operating points ------------------------------------------------------------------------


POINTS = [
    Cell(5, 0.01, 2.0),
    Cell(20, 0.1, 1.5),
    Cell(50, 0.5, 3.7),
    Cell(50, 0.05, 2.5),
    Cell(200, 0.1, 1.5),
    Cell(1000, 0.2, 1.5, draws=100),
    Cell(100, 0.2, 1.5, ties=True),
    Cell(50, 0.2, 1.5, cluster=3),
    Cell(50, 0.1, 1.5, weights=0.8),
]
TARGETS = {"recall": 0.8, "precision": 0.6, "fpr": 0.05, "f_beta": 1.0}


def points(cells: Iterable[Cell] = tuple(POINTS)) -> Iterator[Row]:
    """Yield the coverage of precision and recall of new rows at chosen thresholds."""
    for cell in cells:
        found = frame_prc.operating_points(
            cell.rows(),
            "truth",
            "score",
            by="draw",
            **TARGETS,
            ci=LEVEL,
            calibrate=cell.deployed,
            cluster="cluster" if cell.cluster > 1 else None,
            weight="weight" if cell.weighted else None,
            details=True,
        )
        found = found.filter(pl.col("threshold").is_finite())
        # A rounded score stands for the scores that are rounded to it.
        threshold = found["threshold"].to_numpy() - (0.05 if cell.ties else 0.0)
        recall, _, precision = cell.rates(threshold)
        found = found.with_columns(true_recall=recall, true_precision=precision)
        for criterion in TARGETS:
            chosen = found.filter(criterion=criterion)
            for rate in ("precision", "recall"):
                rates = covered(chosen, f"{rate}_low", f"{rate}_high", pl.col(f"true_{rate}"))
                yield {"measure": f"{rate} at {chosen['target'][0]}", **cell.columns, **rates}


HELD = [
    Cell(200, 1 / 11, separation, draws=1000, weights=weights, negative_weight=negative)
    for separation in (1.5, 3.0)
    for weights, negative in [(0.0, 1.0), (0.8, 1.0), (0.0, 10.0), (0.0, 1000.0)]
] + [Cell(400, 0.5, 2.0, draws=1000, heavy=20)]


def held(cells: Iterable[Cell] = tuple(HELD)) -> Iterator[Row]:
    """Yield the coverage of precision and recall at given thresholds, with and without weights."""
    for cell in cells:
        wanted = {"half": cell.separation / 2, "mean": cell.separation, "high": cell.separation + 2}
        found = frame_prc.operating_points(
            cell.rows(),
            "truth",
            "score",
            by="draw",
            threshold=[*wanted.values()],
            ci=LEVEL,
            calibrate=cell.deployed,
            weight="weight" if cell.weighted else None,
            details=True,
        )
        for name, threshold in wanted.items():
            rates = cell.rates(np.array([threshold]))
            for rate, truth in zip(("recall", "precision"), rates[::2], strict=True):
                at = found.filter(threshold=threshold).drop_nulls(f"{rate}_low")
                known = covered(at, f"{rate}_low", f"{rate}_high", pl.lit(truth.item()))
                yield {"measure": f"{rate}, {name}", **cell.columns, "truth": truth.item(), **known}


# --- bands -----------------------------------------------------------------------------------


BANDS = [
    Cell(200, 0.1, 1.5, draws=200),
    Cell(200, 0.1, 2.0, draws=200),
    Cell(200, 0.1, 2.5, draws=200),
    Cell(20, 0.1, 1.5, draws=200),
    Cell(30, 0.05, 2.5, draws=200),
    Cell(50, 0.5, 3.7, draws=200),
    Cell(100, 0.02, 2.5, draws=200),
    Cell(50, 0.2, 1.5, draws=200, cluster=3),
    Cell(50, 0.1, 1.5, draws=200, weights=0.8),
]
RECALLS = [0.05, 0.25, 0.5, 0.75, 0.95]


def band(cells: Iterable[Cell] = tuple(BANDS)) -> Iterator[Row]:
    """Yield the coverage of the precision at each recall."""
    for cell in cells:
        found = frame_prc.band(
            cell.rows(),
            "truth",
            "score",
            by="draw",
            recalls=RECALLS,
            ci=LEVEL,
            calibrate=cell.deployed,
            bootstrap=Draws(300, seed=1),
            cluster="cluster" if cell.cluster > 1 else None,
            weight="weight" if cell.weighted else None,
        )
        truths = dict(zip(RECALLS, cell.precision_at(np.array(RECALLS)), strict=True))
        for recall, truth in truths.items():
            at = found.filter(recall=recall)
            rates = covered(at, "precision_low", "precision_high", pl.lit(truth))
            name = f"band at recall {recall}"
            yield {"measure": name, **cell.columns, "truth": round(truth, 4), **rates}


def whole_curves() -> Iterator[Row]:
    """Yield how often a band covers all recalls at once."""
    for cell in (
        Cell(200, 0.1, 1.5, draws=200),
        Cell(200, 0.2, 2.5, draws=200),
        Cell(50, 0.1, 1.5, draws=200),
        Cell(100, 0.02, 2.5, draws=100),
        Cell(1000, 0.2, 1.5, draws=60),
    ):
        recalls = [place / 20 for place in range(1, 18)]
        truth = pl.DataFrame({"recall": recalls, "truth": cell.precision_at(np.array(recalls))})
        for simultaneous in (False, True):
            found = frame_prc.band(
                cell.rows(),
                "truth",
                "score",
                by="draw",
                recalls=recalls,
                ci=LEVEL,
                bootstrap=Draws(seed=1),
                simultaneous=simultaneous,
            ).join(truth, on="recall")
            low, high, true = (pl.col(n) for n in ("precision_low", "precision_high", "truth"))
            rates = found.group_by("draw").agg(
                covers=true.is_between(low, high).all(),
                above=(low > true).any(),
                below=(high < true).any(),
            )
            name = f"whole curve, {'simultaneous' if simultaneous else 'pointwise'} band"
            share = rates.select(pl.exclude("draw").mean().round(3)).row(0, named=True)
            yield {"measure": name, **cell.columns, **share}


# --- guarantees ------------------------------------------------------------------------------


GUARANTEES = [
    Cell(positives, prevalence, 1.5, draws=draws)
    for positives, prevalence, draws in [
        (20, 0.1, 800),
        (50, 0.1, 800),
        (200, 0.1, 600),
        (1000, 0.2, 300),
    ]
] + [
    Cell(200, 0.2, 2.5, draws=600),
    Cell(200, 0.2, 1.5, draws=600, ties=True),
    Cell(200, 0.2, 1.5, draws=200, cluster=3),
    Cell(200, 0.2, 2.0, draws=300, weights=0.8),
    Cell(200, 0.2, 2.5, draws=300, weights=0.8, negative_weight=10.0),
]
GUARANTEED = {"recall": [0.8, 0.9], "fpr": [0.01, 0.1], "precision": [0.5, 0.8]}


def guarantee(cells: Iterable[Cell] = tuple(GUARANTEES)) -> Iterator[Row]:
    """Yield how often a target is met by new rows too, with a guarantee and without."""
    for cell in cells:
        for more in [{}, {"guarantee": LEVEL}]:
            found = frame_prc.operating_points(
                cell.rows(),
                "truth",
                "score",
                by="draw",
                cluster="cluster" if cell.cluster > 1 else None,
                weight="weight" if cell.weighted else None,
                **GUARANTEED,
                **more,
                details=True,
            )
            for target in found["target"].unique(maintain_order=True):
                chosen = found.filter(target=target)
                given = chosen.drop_nulls("threshold")
                value = chosen["target_value"][0]
                threshold = given["threshold"].to_numpy() - (0.05 if cell.ties else 0.0)
                recall, fpr, precision = cell.rates(threshold)
                kept = {
                    "recall": recall >= value,
                    "fpr": fpr <= value,
                    "precision": precision >= value,
                }
                criterion = chosen["criterion"][0]
                rate = float(kept[criterion].mean()) if given.height else None
                failed = float((~kept[criterion]).sum() / cell.draws)
                yield {
                    "measure": target,
                    "guarantee": more.get("guarantee"),
                    **cell.columns,
                    "given": round(given.height / cell.draws, 3),
                    "kept": None if rate is None else round(rate, 3),
                    "broken": round(failed, 3),
                    "recall": round(float(recall.mean()), 3) if given.height else None,
                }


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "areas": areas,
    "points": points,
    "held": held,
    "band": band,
    "whole_curves": whole_curves,
    "guarantee": guarantee,
}


if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        print(f"## {part}\n")
        print(markdown(pl.DataFrame([*PARTS[part]()], infer_schema_length=None)))
