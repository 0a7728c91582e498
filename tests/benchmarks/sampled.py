"""Means over segments that are a sample, and tests against chance, for the table of simulations.

Each scenario evaluates many samples in one call, as segments of one frame. Scores are normal, those
of positives higher.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

import frame_prc
from frame_prc import Draws

LEVEL = 0.95
DRAWS = 1000
ROWS_AT_ONCE = 4_000_000
Row = dict[str, object]


def batches(draws: int, rows_per_draw: float) -> Iterator[int]:
    """Yield how many draws to evaluate at once."""
    at_once = max(1, int(ROWS_AT_ONCE // rows_per_draw))
    for first in range(0, draws, at_once):
        yield min(at_once, draws - first)


# --- queries -----------------------------------------------------------------------------------


def queries_frame(
    random: np.random.Generator, draws: int, queries: int, ease: float, rows: int = 40
) -> pl.DataFrame:
    """Draw queries of different ease, number of relevant documents, and model differences."""
    units = draws * queries
    query = np.repeat(np.arange(units), rows)
    ease_of_query = random.normal(ease, 0.8, units)[query]
    share = random.beta(1.5, 6, units)[query]
    truth = random.random(query.size) < share
    scores = {}
    for model in ("a", "b"):
        own = random.normal(0, 0.4, units)[query]
        scores[model] = random.standard_normal(query.size) + truth * (ease_of_query + own)
    columns = {"draw": query // queries, "query": query, "truth": truth}
    return pl.DataFrame(columns | scores)


def queries(count: int, ease: float, draws: int = DRAWS) -> Row:
    """Return coverage of the mean over queries, and error rates of the paired tests."""
    random = np.random.default_rng(0)
    # The mean of very many queries stands for that of the population.
    many = queries_frame(random, 1, 50_000, ease)
    asked = {"by": ["draw", "query"], "over": "query"}
    population = {
        how: frame_prc.average(many, "truth", "a", **asked, how=how)["average_precision"].item()
        for how in ("mean", "weighted")
    }
    found: dict[str, list[float]] = {}
    for at_once in batches(draws, count * 40):
        df = queries_frame(random, at_once, count, ease)
        for how, mean in population.items():
            table = frame_prc.average(df, "truth", "a", **asked, how=how, ci=LEVEL)
            covered = pl.lit(mean).is_between("ci_low", "ci_high").fill_null(value=False)
            found.setdefault(f"{how} covers", []).extend(table.select(covered).to_series())
            for side, beyond in (
                ("above", pl.col("ci_low") > mean),
                ("below", pl.col("ci_high") < mean),
            ):
                missed = table.select(beyond.fill_null(value=False)).to_series()
                found.setdefault(f"{how} {side}", []).extend(missed)
        for method in ("t", "permutation"):
            drawn = {"permutations": Draws(seed=1)} if method == "permutation" else {}
            table = frame_prc.compare_models(df, "truth", ["a", "b"], **asked, **drawn)
            differs = (table["p_value"] < 1 - LEVEL).fill_null(value=False)
            found.setdefault(f"{method} differs", []).extend(differs)
            if method == "t":
                contains = table.select(
                    pl.lit(0).is_between("ci_low", "ci_high").fill_null(value=False)
                )
                found.setdefault("difference covers", []).extend(contains.to_series())
    rates = {name: round(float(np.mean(values)), 3) for name, values in found.items()}
    return {"queries": count, "draws": draws, **population} | rates


# --- negatives in clusters -----------------------------------------------------------------------

SHARED = 2 / 3  # of the variance of the scores of a cluster
SIZE = 20  # negatives in a cluster


def of_clusters(
    random: np.random.Generator, draws: int, positives: int, clusters: int
) -> pl.DataFrame:
    """Draw positives that stand alone, and negatives in clusters, scored by two equal models."""
    units, negatives = draws * clusters, clusters * SIZE
    truth = np.tile(np.arange(positives + negatives) < positives, draws)
    names = np.tile(np.r_[:positives, positives + np.repeat(np.arange(clusters), SIZE)], draws)
    scores = {}
    for model in ("a", "b"):
        own = random.standard_normal(units * SIZE) * (1 - SHARED) ** 0.5
        alike = np.repeat(random.standard_normal(units), SIZE) * SHARED**0.5
        scores[model] = random.standard_normal(truth.size) + 1.5
        scores[model][~truth] = own + alike
    draw = np.repeat(np.arange(draws), positives + negatives)
    return pl.DataFrame({"draw": draw, "truth": truth, "cluster": names} | scores)


# --- users who have a level of their own ---------------------------------------------------------


def of_users(
    random: np.random.Generator, draws: int, users: int, size: int, prevalence: float
) -> pl.DataFrame:
    """Draw rows of users, whose level is nearly all of the variance of scores, by equal models."""
    user = np.repeat(np.arange(draws * users), size)
    truth = random.random(user.size) < prevalence
    alike, scores = random.standard_normal(draws * users), {}
    for model in ("a", "b"):
        level = (alike + random.standard_normal(draws * users)) / 2**0.5
        noise = random.standard_normal(user.size)
        scores[model] = 1.8 * level[user] + 0.45 * noise + 1.5 * truth
    columns = {"draw": user // users, "truth": truth, "cluster": user}
    return pl.DataFrame(columns | scores)


# --- a thinly sampled stratum ------------------------------------------------------------------


def of_stratum(
    random: np.random.Generator, draws: int, rows: int, share: float, weight: float
) -> pl.DataFrame:
    """Draw rows, of which a share stand for many each and rank the wrong way."""
    n = draws * rows
    truth, heavy = random.random(n) < 0.3, random.random(n) < share
    wrong = np.where(heavy, 1 - 2.0 * truth, 0.0)
    return pl.DataFrame(
        {
            "draw": np.repeat(np.arange(draws), rows),
            "truth": truth,
            "score": random.standard_normal(n) + 1.5 * truth + wrong,
            "weight": np.where(heavy, weight, 1.0),
        }
    )


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
        df, "truth", "score", by="draw", against="random", permutations=Draws(999, seed=1)
    )
    p_value = table["p_value"].drop_nulls()
    return {
        "positives": positives,
        "prevalence": prevalence,
        "ties": "yes" if ties else "",
        "draws": p_value.len(),
        "p <= 0.01": round(float((p_value <= 0.01).mean()), 4),
        "p <= 0.05": round(float((p_value <= 0.05).mean()), 4),
        "p <= 0.5": round(float((p_value <= 0.5).mean()), 4),
    }
