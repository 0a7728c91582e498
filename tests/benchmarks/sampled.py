"""Segments as a sample, chance, and heterogeneity, by simulation.

Run ``python tests/benchmarks/sampled.py queries labels segments areas``, or some of these. Each
scenario evaluates many samples in one call, as segments of one frame. Scores are normal, those of
positives higher.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.printing import markdown

import frame_prc
from frame_prc._inference.heterogeneity import spread_of

LEVEL = 0.95
DRAWS = 2000
ROWS_AT_ONCE = 4_000_000
Row = dict[str, object]


def batches(draws: int, rows_per_draw: float) -> Iterator[int]:
    """Yield how many draws to evaluate at once."""
    at_once = max(1, int(ROWS_AT_ONCE // rows_per_draw))
    for first in range(0, draws, at_once):
        yield min(at_once, draws - first)


# --- queries -----------------------------------------------------------------------------------


def queries_frame(
    random: np.random.Generator, draws: int, queries: int, gain: float, rows: int = 40
) -> pl.DataFrame:
    """Draw queries of different difficulty, number of relevant documents, and model differences.

    ``gain`` is by how much the scores of model a separate the classes better than those of b.
    """
    units = draws * queries
    query = np.repeat(np.arange(units), rows)
    difficulty = random.normal(1.2, 0.8, units)[query]
    share = random.beta(1.5, 6, units)[query]
    truth = random.random(query.size) < share
    scores = {}
    for model, extra in (("a", gain), ("b", 0.0)):
        own = random.normal(0, 0.4, units)[query]
        scores[model] = random.standard_normal(query.size) + truth * (difficulty + own + extra)
    columns = {"draw": query // queries, "query": query, "truth": truth}
    return pl.DataFrame(columns | scores)


def queries(count: int, draws: int = DRAWS) -> Row:
    """Return coverage of the mean over queries, and error rates of the paired tests."""
    random = np.random.default_rng(0)
    # The mean of very many queries stands for that of the population.
    many = queries_frame(random, 1, 50_000, 0.0)
    asked = {"by": ["draw", "query"], "over": "query"}
    population = {
        average: frame_prc.average_precision(many, "truth", "a", **asked, average=average)[
            "average_precision"
        ].item()
        for average in ("macro", "weighted")
    }
    found: dict[str, list[float]] = {}
    for at_once in batches(draws, count * 40):
        df = queries_frame(random, at_once, count, 0.0)
        for average, mean in population.items():
            table = frame_prc.average_precision(
                df, "truth", "a", **asked, average=average, ci=LEVEL
            )
            covered = pl.lit(mean).is_between("ci_low", "ci_high").fill_null(value=False)
            found.setdefault(f"{average} covers", []).extend(table.select(covered).to_series())
        for method in ("t", "permutation"):
            drawn = {"seed": 1} if method == "permutation" else {}
            table = frame_prc.compare_models(df, "truth", ["a", "b"], **asked, test=method, **drawn)
            differs = (table["p_value"] < 1 - LEVEL).fill_null(value=False)
            found.setdefault(f"{method} differs", []).extend(differs)
            if method == "t":
                contains = table.select(
                    pl.lit(0).is_between("ci_low", "ci_high").fill_null(value=False)
                )
                found.setdefault("difference covers", []).extend(contains.to_series())
    rates = {name: round(float(np.mean(values)), 3) for name, values in found.items()}
    return {"queries": count, "draws": draws} | rates


# --- labels ------------------------------------------------------------------------------------


def labels(positives: int, prevalence: float, *, ties: bool, draws: int = DRAWS) -> Row:
    """Return how often random scores are called better than chance."""
    random = np.random.default_rng(0)
    rows = round(positives / prevalence)
    n = draws * rows
    score = random.standard_normal(n)
    df = pl.DataFrame(
        {
            "draw": np.repeat(np.arange(draws), rows),
            "truth": random.random(n) < prevalence,
            "score": np.rint(2 * score) if ties else score,
        }
    )
    table = frame_prc.compare_segments(
        df, "truth", "score", by="draw", against="random", replicates=999, seed=1
    )
    p_value = table["p_value"].drop_nulls()
    return {
        "positives": positives,
        "prevalence": prevalence,
        "ties": "yes" if ties else "",
        "draws": p_value.len(),
        "chance": round(float(table["ap_b"].mean()), 3),
        "p <= 0.01": round(float((p_value <= 0.01).mean()), 4),
        "p <= 0.05": round(float((p_value <= 0.05).mean()), 4),
        "p <= 0.5": round(float((p_value <= 0.5).mean()), 4),
    }


# --- segments ----------------------------------------------------------------------------------


def segments(
    count: int,
    fewest: int,
    most: int,
    prevalence: float,
    separation: float,
    draws: int,
    *,
    on_logits: bool = True,
) -> Row:
    """Return how often Q rejects that equal segments are equal, and their mean gap.

    The expected number of positives is log-uniform between ``fewest`` and ``most``.
    """
    random = np.random.default_rng(0)
    typical = (most - fewest) / np.log(most / fewest)
    found = []
    for at_once in batches(draws, count * typical / prevalence):
        logs = random.uniform(np.log(fewest), np.log(most), at_once * count)
        sizes = np.rint(np.exp(logs) / prevalence).astype(np.int64)
        segment = np.repeat(np.arange(sizes.size), sizes)
        truth = random.random(segment.size) < prevalence
        score = random.standard_normal(segment.size) + separation * truth
        df = pl.DataFrame({"s": segment, "truth": truth, "score": score})
        table = frame_prc.average_precision(df, "truth", "score", by="s", ci=LEVEL, details=True)
        found += [spread(part, on_logits=on_logits) for part in table.iter_slices(count)]
    # A draw with fewer than two segments that have a standard error tests nothing.
    found = [row for row in found if row["p_value"] is not None]
    names = ("p_value", "tau", "gap", "gap_if_equal")
    values = {name: np.array([row[name] for row in found]) for name in names}
    return {
        "segments": count,
        "positives": f"{fewest} to {most}",
        "prevalence": prevalence,
        "AP": round(float(np.mean([row["AP"] for row in found])), 3),
        "draws": len(found),
        "Q rejects": round(float((values["p_value"] < 1 - LEVEL).mean()), 3),
        "gap": round(float(values["gap"].mean()), 3),
        "gap_if_equal": round(float(values["gap_if_equal"].mean()), 3),
        "tau": round(float(values["tau"].mean()), 4),
    }


def spread(table: pl.DataFrame, *, on_logits: bool) -> dict[str, Any]:
    """Return what ``heterogeneity`` returns, from the estimates of the segments of one draw."""
    used = table.drop_nulls("std_error")
    area, error, n = used["average_precision"], used["std_error"], used["n_pos"]
    values, errors = area, error * (n / (n - 1)).sqrt()
    if on_logits:
        values, errors = (area / (1 - area)).log(), errors / (area * (1 - area))
    found = asdict(spread_of(values.to_list(), errors.to_list()))
    return found | {"gap": area.max() - area.min(), "AP": area.median()}


# --- tables ------------------------------------------------------------------------------------


def simulated(what: str) -> Iterator[Row]:
    """Yield the rows of one of the tables."""
    if what == "queries":
        yield from map(queries, (3, 5, 10, 20, 50, 200))
    elif what == "labels":
        for positives, prevalence, ties in product((3, 20), (0.05, 0.5), (False, True)):
            yield labels(positives, prevalence, ties=ties)
    elif what == "areas":  # what the test would be without logits
        for prevalence, separation in product((0.1, 0.5), (1.5, 3.0)):
            yield segments(5, 50, 2000, prevalence, separation, 1000, on_logits=False)
    else:
        sizes = ((50, 2000), (50, 100), (10, 50))
        for (fewest, most), count in product(sizes, (5, 20)):
            for prevalence, separation in product((0.1, 0.5), (1.5, 3.0)):
                yield segments(count, fewest, most, prevalence, separation, 1000)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(markdown(pl.DataFrame([*simulated(name)])), flush=True)
