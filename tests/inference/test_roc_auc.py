"""The area under the ROC curve, in every verb that takes measures, against exact arithmetic."""

from __future__ import annotations

import math

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from sklearn.metrics import roc_auc_score
from strategies import BY, INTEGER_WEIGHTS, SCORES_OR_NONE, SIMILAR_WEIGHTS, frames

import frame_prc

NEAR = {"rel": 1e-9, "abs": 1e-12}
BOTH = ["roc_auc", "roc_auc_low", "roc_auc_high"]


def scorecard(kind, df, **options):
    table = frame_prc.summary(
        kind.make(df), "truth", "score", **options, missing="unretrieved", details=True
    )
    return kind.rows(table)


@every_kind
@pytest.mark.parametrize(
    "weights", [None, INTEGER_WEIGHTS, SIMILAR_WEIGHTS], ids=["unweighted", "integer", "float"]
)
@given(st.data(), BY)
def test_area_and_error_equal_exact_arithmetic(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    weight = None if weights is None else "weight"
    found = scorecard(kind, df, by=by, weight=weight)
    for row, rows in zip(found.iter_rows(named=True), segments(df, by).values(), strict=True):
        area = oracle.roc_auc(rows)
        assert row["roc_auc"] == (None if area is None else pytest.approx(float(area), **NEAR))
        if area is None or area in (0, 1):
            assert row["roc_auc_std_error"] is None
        elif row["roc_auc_std_error"] is not None:
            error = math.sqrt(oracle.delong_variance(rows))
            assert row["roc_auc_std_error"] == pytest.approx(error, rel=1e-6)


def two_models(seed=0, n=400, prevalence=0.3):
    random = np.random.default_rng(seed)
    truth = random.random(n) < prevalence
    return pl.DataFrame(
        {
            "region": random.choice(["n", "s"], n),
            "day": random.integers(0, 40, n),
            "truth": truth,
            "old": np.round(random.normal(size=n) + truth, 1),
            "score": random.normal(size=n) + 0.9 * truth,
            "weight": random.integers(1, 4, n),
        }
    )


@every_polars_kind
def test_area_is_that_of_scikit_learn(kind):
    df = two_models()
    for name in ("old", "score"):
        found = scorecard(kind, df.with_columns(score=name), weight="weight")["roc_auc"].item()
        expected = roc_auc_score(df["truth"], df[name], sample_weight=df["weight"])
        assert found == pytest.approx(expected, rel=1e-14)


def exact_difference(df, cluster=None):
    """Return the second model less the first and the error of that, from what each row moves."""
    sides = [segments(df.with_columns(score=name), None)[()] for name in ("old", "score")]
    both = [oracle.roc_moves(rows) for rows in sides]
    difference = oracle.roc_auc(sides[0]) - oracle.roc_auc(sides[1])
    number = df["truth"].sum(), (~df["truth"]).sum()
    sums = {}
    for i, (row, *moves) in enumerate(zip(sides[0], *both, strict=True)):
        n = number[0] if row.truth else number[1]
        moved = float(row.weight * (moves[0] - moves[1])) * math.sqrt(n / (n - 1))
        key = i if cluster is None else df[cluster][i]
        sums[key] = sums.get(key, 0.0) + moved
    return float(difference), math.sqrt(sum(moved**2 for moved in sums.values()))


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
def test_models_are_compared_by_what_each_row_or_cluster_moves(kind, cluster):
    df = two_models(n=120).drop("weight")
    table = frame_prc.compare_models(
        kind.make(df), "truth", ["score", "old"], cluster=cluster, measure="roc_auc", details=True
    )
    [row] = kind.rows(table).iter_rows(named=True)
    expected = exact_difference(df, cluster)
    assert (row["difference"], row["std_error"]) == pytest.approx(expected, rel=1e-10)
    assert row["measure"] == "roc_auc"
    assert (row["p_value"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0)


@every_kind
def test_segments_are_compared_with_each_kind_of_others(kind):
    df = two_models(n=300).drop("weight")
    asked = {"by": "region", "measure": "roc_auc", "details": True}
    by_region = {key: rows for (key,), rows in segments(df, "region").items()}
    areas = {key: float(oracle.roc_auc(rows)) for key, rows in by_region.items()}
    whole = float(oracle.roc_auc([row for rows in by_region.values() for row in rows]))
    for against, reference in (("others", None), ("rest", None), ("overall", whole)):
        table = frame_prc.compare_segments(
            kind.make(df), "truth", "score", against=against, **asked
        )
        for row in kind.rows(table).iter_rows(named=True):
            [other] = [area for key, area in areas.items() if key != row["region"]]
            assert row["value_a"] == pytest.approx(areas[row["region"]], rel=1e-12)
            assert row["value_b"] == pytest.approx(reference or other, rel=1e-12)
            assert row["status"] == "ok"
            assert 0 < row["p_value"] <= 1


@every_kind
@pytest.mark.parametrize("how", ["mean", "weighted", "rows", "micro"])
def test_means_over_segments(kind, how):
    df = two_models()
    table = frame_prc.average(
        kind.make(df), "truth", "score", by=["region", "day"], over="day", how=how,
        measure="roc_auc",
    )  # fmt: skip
    for row in kind.rows(table).iter_rows(named=True):
        own = df.filter(pl.col("region") == row["region"])
        days = [*segments(own.drop("weight"), "day").values()]
        areas = [(oracle.roc_auc(rows), *oracle.totals(rows)) for rows in days]
        known = [(area, pos, pos + neg) for area, pos, neg in areas if area is not None]
        share = {"mean": lambda _, __: 1, "weighted": lambda p, _: p, "rows": lambda _, n: n}
        if how == "micro":
            expected = oracle.roc_auc([one for rows in days for one in rows])
        else:
            weights = [share[how](pos, n) for _, pos, n in known]
            total = sum(w * area for w, (area, _, _) in zip(weights, known, strict=True))
            expected = total / sum(weights)
            assert row["n_segments"] == len(known)
        assert row["roc_auc"] == pytest.approx(float(expected), rel=1e-12)


@every_polars_kind
def test_a_perfect_ranking_has_exact_limits_for_the_scarcer_class(kind):
    df = pl.DataFrame({"truth": [True] * 30 + [False] * 25, "score": [2.0] * 30 + [1.0] * 25})
    row = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", measures="roc_auc"))
    assert row.select(BOTH).row(0) == pytest.approx((1.0, 0.025 ** (1 / 25), 1.0), rel=1e-12)


@every_kind
def test_few_negatives_are_said_to_be_few(kind):
    df = two_models(n=60, prevalence=0.8)
    found = frame_prc.compare_models(
        kind.make(df), "truth", ["score", "old"], measure="roc_auc", details=True
    )
    assert kind.rows(found)["status"].to_list() == ["few_negatives"]


@every_kind
def test_segments_differ_by_cochrans_q(kind):
    df = two_models(n=600)
    options = {"by": "region", "measure": "roc_auc", "test": "q", "details": True}
    row = kind.rows(frame_prc.heterogeneity(kind.make(df), "truth", "score", **options))
    cards = scorecard(kind, df, by="region")
    logit = cards["roc_auc"].log() - (1 - cards["roc_auc"]).log()
    slope = cards["roc_auc"] * (1 - cards["roc_auc"])
    weights = (slope / cards["roc_auc_std_error"]) ** 2
    mean = (weights * logit).sum() / weights.sum()
    assert row["q"].item() == pytest.approx((weights * (logit - mean) ** 2).sum(), rel=1e-8)
