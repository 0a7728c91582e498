"""Ratios of two values in place of their difference, with interval and test on the log scale."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from kinds import every_kind
from scipy.stats.contingency import relative_risk

import frame_prc
from frame_prc import OptionError

AT = {"threshold": 0.5}


def two_models():
    random = np.random.default_rng(0)
    truth, region = random.random(600) < 0.3, random.choice(["n", "s", "w"], 600)
    noise = random.normal(size=(2, 600)) / 4 + 0.3 * truth + 0.25
    score, old = np.clip(noise, 0, 1)
    return pl.DataFrame({"region": region, "truth": truth, "score": score, "old": old})


def hits(df, score="score"):
    negatives = df.filter(~pl.col("truth"))
    return (negatives[score] >= AT["threshold"]).sum(), negatives.height


@every_kind
def test_the_ratio_of_two_segments_is_the_relative_risk_of_scipy(kind):
    df = two_models()
    table = frame_prc.compare_segments(
        kind.make(df), "truth", "score", by="region", against={"region": "n"}, measure="fpr",
        at=AT, scale="ratio", adjust="holm", details=True,
    )  # fmt: skip
    rows = kind.rows(table)
    assert "difference" not in rows.columns
    for row in rows.filter(pl.col("region") != "n").iter_rows(named=True):
        sides = [hits(df.filter(region=pl.lit(one))) for one in (row["region"], "n")]
        expected = relative_risk(*sides[0], *sides[1])
        assert row["ratio"] == pytest.approx(expected.relative_risk, rel=1e-12)
        error = math.sqrt(sum(1 / x - 1 / n for x, n in sides))
        assert row["std_error"] == pytest.approx(error, rel=1e-9)
        # Of the same variance, but from the limits of both sides, which are symmetric as logits.
        low, high = expected.confidence_interval(0.95)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high], rel=0.05)
        assert row["ci_low_adjusted"] <= row["ci_low"] < row["ratio"] < row["ci_high"]
        assert (row["p_value"] < 0.05) == (row["ci_low"] > 1 or row["ci_high"] < 1)


@every_kind
@pytest.mark.parametrize("measure", ["fpr", "log_loss", "average_precision"])
def test_the_error_of_two_models_is_that_of_what_each_row_moves(kind, measure):
    df, at = two_models(), AT if measure == "fpr" else None
    ev = kind.make(df).prc.evaluate("truth", ["old", "score"])
    options = {"measure": measure, "at": at, "details": True}
    [row] = kind.rows(ev.compare_models(scale="ratio", **options)).iter_rows(named=True)
    [plain] = kind.rows(ev.compare_models(**options)).iter_rows(named=True)
    a, b = plain["value_a"], plain["value_b"]
    assert row["ratio"] == pytest.approx(a / b, rel=1e-12)
    moved = [
        kind.rows(kind.make(df).prc.influence("truth", one, measures=measure, at=at))[measure]
        for one in ("score", "old")
    ]
    error = math.sqrt(((moved[0] / a - moved[1] / b) ** 2).sum())
    assert row["std_error"] == pytest.approx(error, rel=1e-9)
    assert row["p_value"] == pytest.approx(plain["p_value"], rel=0.05)


@every_kind
def test_without_hits_on_a_side_there_is_no_ratio(kind):
    df = two_models().with_columns(old=pl.col("old") * pl.col("truth"))
    for models in (["old", "score"], ["score", "old"]):
        table = frame_prc.compare_models(
            kind.make(df), "truth", models, measure="fpr", at=AT, scale="ratio"
        )
        assert kind.rows(table).row(0)[2:] == (None, "fpr", None, None, None, "undefined")


@every_kind
def test_two_perfect_sides_have_the_limits_of_their_rows(kind):
    df = two_models().with_columns(score=pl.col("truth") + 0.0, old=pl.col("truth") + 0.0)
    df = df.with_columns(pl.col("score", "old") / 2 + pl.int_range(pl.len()) % 9 / 100)
    table = frame_prc.compare_models(
        kind.make(df), "truth", ["old", "score"], measure="recall", at=AT, scale="ratio"
    )
    _, _, ratio, _, low, high, p_value, status = kind.rows(table).row(0)
    assert (ratio, p_value, status) == (1, 1, "ok")
    assert low == pytest.approx(0.025 ** (1 / df["truth"].sum()), rel=1e-9)
    assert high == pytest.approx(1 / low, rel=1e-9)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"measure": "mcc", "at": AT}, "scale='ratio' is given with measure='mcc'"),
        ({"margin": 0.1}, "margin= is given with scale='ratio'"),
        ({"over": "region"}, "scale= is given with over="),
        ({"scale": "log"}, "scale='log' is not an option"),
    ],
)
def test_what_has_no_ratio_is_refused(asked, says):
    with pytest.raises(OptionError, match=says):
        two_models().prc.compare_models(
            "truth", ["old", "score"], by="region", **({"scale": "ratio"} | asked)
        )
