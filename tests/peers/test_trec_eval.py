"""The same average precision per query from the tools of information retrieval.

They rank documents by score, and documents of one score by their ids; here ties are one point. So
the scores have no ties, or ids break them first. A relevant document that was not retrieved counts
in the totals alone: here it is a row without a score, under ``missing="unretrieved"``.
"""

from __future__ import annotations

import numpy as np
import optional
import polars as pl
import pytest
from kinds import every_kind

import frame_prc

QUERIES, DOCUMENTS = 12, 40
ROUNDED = {"rel": 1e-12, "abs": 0}


def judged(seed: int, *, ties: bool) -> pl.DataFrame:
    """Return documents of several queries, some never retrieved; query 3 has no relevant one."""
    random = np.random.default_rng(seed)
    n = QUERIES * DOCUMENTS
    query = np.repeat([f"q{number:02}" for number in range(QUERIES)], DOCUMENTS)
    scores = random.integers(0, 8, n) if ties else random.permutation(n)
    df = pl.DataFrame(
        {
            "query": query,
            "document": [f"d{number:04}" for number in random.permutation(n)],
            "relevant": (random.random(n) < 0.3) & (query != "q03"),
            "score": scores / 8,
        }
    )
    retrieved = pl.Series(random.random(n) < 0.8)
    return df.with_columns(score=pl.when(retrieved).then("score"))


def untied(df: pl.DataFrame) -> pl.DataFrame:
    """Break ties as trec_eval does: of one score, the document with the higher id comes first."""
    ranks = pl.struct("score", "document").rank("ordinal").over("query")
    return df.with_columns(score=pl.when(pl.col("score").is_not_null()).then(ranks))


def by_query(df: pl.DataFrame, values: str) -> dict[str, dict[str, float]]:
    return {
        query: dict(rows.select("document", values).iter_rows())
        for (query,), rows in df.group_by("query", maintain_order=True)
    }


def relevance(df: pl.DataFrame) -> dict[str, dict[str, int]]:
    return by_query(df.with_columns(pl.col("relevant").cast(pl.Int64)), "relevant")


def retrieved(df: pl.DataFrame) -> dict[str, dict[str, float]]:
    return by_query(df.drop_nulls("score"), "score")


def trec(df: pl.DataFrame, measure: str = "map") -> dict[str, float]:
    pytrec_eval = optional.require_module("pytrec_eval")
    found = pytrec_eval.RelevanceEvaluator(relevance(df), {measure}).evaluate(retrieved(df))
    return {query: values[measure] for query, values in found.items()}


def ranx(df: pl.DataFrame) -> dict[str, float]:
    with pytest.MonkeyPatch.context() as patch:
        # What it compiles takes a minute, and warns; it is imported by these tests alone.
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        package = optional.require_module("ranx")
    judgements, run = package.Qrels(relevance(df)), package.Run(retrieved(df))
    areas = package.evaluate(judgements, run, "map", return_mean=False)
    return dict(zip(sorted(relevance(df)), areas.tolist(), strict=True))


def ours(kind, df: pl.DataFrame) -> dict[str, tuple[float | None, str]]:
    table = frame_prc.average_precision(
        kind.make(df), "relevant", "score", by="query", missing="unretrieved"
    )
    found = kind.rows(table)
    return {row["query"]: (row["average_precision"], row["status"]) for row in found.to_dicts()}


every_seed = pytest.mark.parametrize("seed", range(3))


def assert_same(found: dict[str, tuple[float | None, str]], theirs: dict[str, float]) -> None:
    assert found.pop("q03") == (None, "no_positives")
    assert theirs.pop("q03") == 0  # where there is nothing to find, they say 0
    areas = {query: area for query, (area, _) in found.items()}
    assert areas == pytest.approx(theirs, **ROUNDED)


@every_kind
@every_seed
@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
def test_average_precision_per_query_is_that_of_trec_eval(kind, seed, ties):
    df = judged(seed, ties=ties)
    assert_same(ours(kind, untied(df)), trec(df))


@pytest.mark.thorough
@every_kind
@every_seed
def test_average_precision_per_query_is_that_of_ranx(kind, seed):
    df = judged(seed, ties=False)
    assert_same(ours(kind, df), ranx(df))


@every_kind
def test_eleven_points_of_trec_eval_are_at_other_ranks(kind):
    # Of 3 relevant documents a recall of 0.7 asks for 2.1, and so for 3, found at rank 10. Version
    # 9 of trec_eval adds 0.9 to 0.7 * 3, in floats a little less than 2.1, and cuts off: 2, which
    # are there at rank 2. Version 10 rounds 2.1, to 2 as well.
    relevant = [True, True, *([False] * 7), True]
    df = pl.DataFrame(
        {
            "query": ["q"] * 10,
            "document": [f"d{rank}" for rank in range(10)],
            "relevant": relevant,
            "score": [-float(rank) for rank in range(10)],
        }
    )
    table = frame_prc.auc(kind.make(df), "relevant", "score", method="11-point")
    assert kind.rows(table)["auc"].item() == pytest.approx((7 + 4 * 0.3) / 11, **ROUNDED)
    assert trec(df, "11pt_avg") == pytest.approx({"q": (8 + 3 * 0.3) / 11}, **ROUNDED)


# --- paired tests over queries -----------------------------------------------------------------


def two_runs(seed: int) -> pl.DataFrame:
    """Return documents with two models; query 3, which has no relevant one, is left out."""
    df = judged(seed, ties=False).filter(pl.col("query") != "q03")
    random = np.random.default_rng(seed)
    noise = pl.Series(random.permutation(df.height) / df.height)
    return df.with_columns(other=pl.when(pl.col("score").is_not_null()).then(noise))


def ranx_p_value(df: pl.DataFrame, stat_test: str, **options: int) -> float:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        package = optional.require_module("ranx")
    runs = [
        package.Run(by_query(df.drop_nulls(name), name), name=name) for name in ("score", "other")
    ]
    judgements = package.Qrels(relevance(df))
    report = package.compare(judgements, runs, ["map"], stat_test=stat_test, **options)
    return report.to_dict()["score"]["comparisons"]["other"]["map"]


def our_p_value(kind, df: pl.DataFrame, **options: object) -> float:
    table = frame_prc.compare_models(
        kind.make(df), "relevant", ["score", "other"], by="query", over="query",
        missing="unretrieved", **options,
    )  # fmt: skip
    return kind.rows(table)["p_value"].item()


@every_kind
@every_seed
def test_paired_t_test_over_queries_is_that_of_ranx(kind, seed):
    df = two_runs(seed)
    assert our_p_value(kind, df) == pytest.approx(ranx_p_value(df, "student"), rel=1e-10)


@pytest.mark.thorough
@every_kind
@every_seed
def test_all_signs_of_the_queries_agree_with_the_random_ones_of_ranx(kind, seed):
    # 11 queries have 2,048 combinations of signs, all of which are evaluated here.
    df = two_runs(seed)
    exact = our_p_value(kind, df, permutations=1000)
    drawn = ranx_p_value(df, "fisher", n_permutations=4000, random_seed=seed)
    assert drawn == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 4000) ** 0.5 + 1e-3)


@every_kind
@pytest.mark.parametrize("top", [5, 10])
def test_precision_and_average_precision_of_the_top_rows_are_trec_evals(kind, top):
    df = untied(judged(5, ties=True))
    options = {"by": "query", "missing": "unretrieved"}
    points = frame_prc.operating_points(
        kind.make(df), "relevant", "score", predicted_count=top, **options
    )
    areas = frame_prc.average_precision(kind.make(df), "relevant", "score", top=top, **options)
    precision, area = (
        dict(kind.rows(table).select("query", column).rows())
        for table, column in ((points, "precision"), (areas, "average_precision"))
    )
    for found, measure in ((precision, f"P_{top}"), (area, f"map_cut_{top}")):
        known = trec(df, measure)
        # Queries without relevant documents: trec_eval leaves them out, or returns 0.
        shared = {query: value for query, value in known.items() if area[query] is not None}
        assert len(shared) > QUERIES // 2
        assert {query: found[query] for query in shared} == pytest.approx(shared, rel=1e-12)


def test_a_tie_at_the_cut_is_out_here_and_broken_by_id_in_trec_eval():
    # The fifth and the sixth have one score, and only the one of the higher id is relevant.
    df = pl.DataFrame(
        {
            "query": ["q"] * 6,
            "document": [f"d{number}" for number in range(6)],
            "relevant": [False] * 5 + [True],
            "score": [5.0, 4.0, 3.0, 2.0, 1.0, 1.0],
        }
    )
    points = frame_prc.operating_points(df, "relevant", "score", predicted_count=5, details=True)
    assert points.select("tp", "fp").row(0) == (0, 4)
    assert trec(df, "P_5") == {"q": 1 / 5}
