"""How often intervals of precision and recall at a chosen threshold cover those of the population.

Scores are normal, those of positives 1.5 higher. Each sample chooses a threshold; its interval is
held against the point that the population would choose. Run: python tests/benchmarks/FILE [draws].
"""

from __future__ import annotations

import sys
from statistics import NormalDist

import numpy as np
import polars as pl

import frame_prc

SHIFT, PREVALENCE, LEVEL = 1.5, 0.2, 0.95
SIZES = (200, 1000, 5000)
REPLICATES = 400
TARGETS = {"f_beta": 1.0, "recall": 0.8, "precision": 0.5, "predicted_rate": 0.1}


def population(criterion: str, value: float) -> tuple[float, float]:
    """Return precision and recall at the threshold that the population would choose."""
    normal = NormalDist()
    thresholds = np.linspace(-4, 6, 20_001)
    recall = np.array([1 - normal.cdf(t - SHIFT) for t in thresholds])
    wrong = np.array([1 - normal.cdf(t) for t in thresholds])
    tp, fp = PREVALENCE * recall, (1 - PREVALENCE) * wrong
    precision = tp / (tp + fp)
    merit = {
        "f_beta": 2 * precision * recall / (precision + recall),
        "recall": np.where(recall >= value, precision, -1),
        "precision": np.where(precision >= value, recall, -1),
        "predicted_rate": np.where(tp + fp <= value, tp + fp, -1),
    }[criterion]
    best = int(np.argmax(merit))
    return float(precision[best]), float(recall[best])


def sample(random: np.random.Generator, rows: int) -> pl.DataFrame:
    """Return one sample."""
    truth = random.random(rows) < PREVALENCE
    return pl.DataFrame({"truth": truth, "score": random.normal(size=rows) + SHIFT * truth})


def covered(table: pl.DataFrame, rates: tuple[float, float]) -> list[bool]:
    """Return whether the intervals cover the precision and the recall."""
    names = zip(("precision", "recall"), rates, strict=True)
    return [table[f"{n}_low"].item() <= rate <= table[f"{n}_high"].item() for n, rate in names]


def main(draws: int) -> None:
    """Print a table of coverages."""
    random = np.random.default_rng(1)
    print("rows  target              precision: drawn  Wilson   recall: drawn  Wilson")
    for rows in SIZES:
        samples = [sample(random, rows) for _ in range(draws)]
        for criterion, value in TARGETS.items():
            rates, hits = population(criterion, value), []
            for seed, df in enumerate(samples):
                drawn = frame_prc.operating_points(
                    df,
                    "truth",
                    "score",
                    ci=LEVEL,
                    details=True,
                    replicates=REPLICATES,
                    seed=seed,
                    **{criterion: value},
                )
                threshold = drawn["threshold"].item()
                wilson = frame_prc.operating_points(
                    df, "truth", "score", ci=LEVEL, threshold=threshold, details=True
                )
                hits.append([*covered(drawn, rates), *covered(wilson, rates)])
            shares = np.mean(hits, axis=0)
            print(
                f"{rows:5} {criterion:>14} {value:<5} {shares[0]:12.3f} {shares[2]:12.3f} "
                f"{shares[1]:12.3f} {shares[3]:12.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
