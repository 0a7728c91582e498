"""Strata: how rows differ within them, against exact arithmetic, and what takes them."""

from __future__ import annotations

import math

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import assume, given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import DataError, OptionError

ROLES = {"truth": "truth", "score": "score", "weight": "weight", "strata": "stratum"}


def sampled(n=400, seed=0, strata=6):
    """Return rows of two segments with two models, of which each stratum has its own weight."""
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.3
    segment = np.arange(n) % 2
    return pl.DataFrame(
        {
            "truth": truth,
            "score": random.normal(size=n) + truth,
            "other": random.normal(size=n) + truth,
            "segment": segment,
            "stratum": 2 * (np.arange(n) % strata) + segment,
            "weight": 1.0 + np.arange(n) % strata,
            "user": np.arange(n) // 4 * 12 + 2 * (np.arange(n) % strata) + segment,
        }
    )


@every_kind
@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clusters"])
@given(st.data())
def test_the_error_is_that_within_strata(kind, clustered, data):
    df = data.draw(frames(SCORES_OR_NONE, FLOAT_WEIGHTS))
    assume(df.height >= 4)
    size = 2 if clustered else 1
    places = pl.int_range(pl.len())
    last = max(df.height // (2 * size) - 1, 0)
    df = df.with_columns(
        weight=pl.col("weight") + 1,
        user=places // size,
        stratum=pl.min_horizontal(places // (2 * size), last),
    )
    rows = segments(df, None)[()]
    options = {"cluster": "user"} if clustered else {}
    [found] = kind.rows(
        frame_prc.average_precision(
            kind.make(df), **ROLES, **options, ci=0.9, details=True, missing="unretrieved"
        )
    ).iter_rows(named=True)
    if found["std_error"] is None:
        return
    exact = oracle.stratified_variance(rows, df["stratum"].to_list(), df["user"].to_list())
    assert found["std_error"] == pytest.approx(math.sqrt(exact), rel=1e-7, abs=1e-8)


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_every_verb_agrees_and_differences_rest_on_strata_too(kind, cluster):
    df = sampled()
    of_one = {"by": "segment", "cluster": cluster, "ci": 0.95}
    ev = kind.make(df).prc.evaluate(**ROLES, **of_one)
    plain = kind.rows(ev.average_precision(details=True))
    card = kind.rows(ev.summary(details=True))
    shared = ["segment", "average_precision", "ci_low", "ci_high", "std_error"]
    assert_frame_equal(plain.select(shared), card.select(shared), rel_tol=1e-12)
    beside = kind.rows(ev.compare_segments(against={"segment": 0}, measure="roc_auc", details=True))
    roc = kind.rows(ev.summary(measures="roc_auc", details=True))["roc_auc_std_error"]
    both = beside.filter(pl.col("segment") == 1)["std_error"].item()
    m = [sum(df.filter(segment=one)["truth"]) for one in (0, 1)]
    assert both < 1.02 * math.hypot(*roc)
    assert min(m) > 20
    # The difference of models by the influences on both, of which the strata's means are taken off.
    rows = df.with_row_index("place")
    models = rows.prc.evaluate(
        "truth", ["score", "other"], by="segment", weight="weight", row="place"
    ).influence()
    moved = models.pivot("model", index=["segment", "row"], values="average_precision").join(
        rows, left_on="row", right_on="place"
    )
    unit = ["row"] if cluster is None else ["user"]
    summed = moved.group_by("segment", "stratum", *unit).agg(
        d=(pl.col("score") - pl.col("other")).sum()
    )
    deviation = pl.col("d") - pl.col("d").mean()
    of_strata = summed.group_by("segment", "stratum").agg(
        square=(deviation**2).sum() * pl.len() / (pl.len() - 1)
    )
    expected = of_strata.group_by("segment").agg(pl.col("square").sum().sqrt()).sort("segment")
    two = kind.make(df).prc.evaluate(
        "truth",
        ["score", "other"],
        by="segment",
        weight="weight",
        strata="stratum",
        cluster=cluster,
    )
    compared = kind.rows(two.compare_models(details=True)).sort("segment")
    assert compared["std_error"].to_list() == pytest.approx(expected["square"].to_list(), rel=1e-3)


@every_kind
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (pl.col("stratum").replace(0, None), "'stratum' has 67 rows with null.*a stratum for each"),
        (
            pl.int_range(pl.len()) % 3,
            "400 rows in a stratum that has rows of several segments: 0, 1, 2",
        ),
    ],
    ids=["none", "across"],
)
def test_what_is_no_stratum_is_one_error(kind, change, says):
    df = sampled().with_columns(change.alias("stratum"))
    with pytest.raises(DataError, match=says):
        kind.rows(kind.make(df).prc.average_precision(**ROLES, by="segment", ci=0.95))


def test_rows_that_are_each_a_stratum_are_as_without_strata():
    own = sampled().with_columns(stratum=pl.int_range(pl.len()))
    found = own.prc.average_precision(**ROLES, by="segment", ci=0.95)
    plain = own.prc.average_precision(**{**ROLES, "strata": None}, by="segment", ci=0.95)
    assert_frame_equal(found, plain)


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("curve", {"ci": 0.9}),
        ("plot", {"ci": 0.9}),
        ("band", {}),
        ("auc", {"ci": 0.9, "method": "envelope"}),
        ("average_precision", {"ci": 0.9, "bootstrap": 20}),
        ("operating_points", {"recall": 0.5, "ci": 0.9}),
        ("operating_points", {"recall": 0.5, "guarantee": 0.9}),
        ("reliability", {"score": "probability"}),
        ("heterogeneity", {"test": "permutation", "by": "segment"}),
        ("compare_segments", {"against": "random", "by": "segment"}),
        ("find_segments", {"columns": ["user"]}),
        ("prediction_powered", {"proxy": "truth"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_use_strata_says_so(verb, options):
    df = sampled().with_columns(probability=1 / (1 + pl.col("score").exp()))
    asked = {**ROLES, **options}
    with pytest.raises(OptionError, match=r"strata= is given, and .* does not use it"):
        getattr(frame_prc, verb)(df.drop("weight") if verb == "curve" else df, **_used(verb, asked))


def _used(verb, asked):
    return {name: one for name, one in asked.items() if (verb, name) != ("curve", "weight")}


def test_a_drawn_sample_names_strata_of_rows_that_follow_in_the_ranking():
    df = sampled(3000, 1)
    drawn = frame_prc.sample_to_label(df.drop("weight", "stratum"), "score", 100, by="segment")
    ranked = drawn.sort("segment", "score", descending=[False, True])
    assert ranked["stratum"].is_sorted()
    sizes = drawn.group_by("segment", "stratum").len()
    assert sizes["stratum"].n_unique() == sizes.height == 24
    assert sizes["len"].min() == 8
    assert sizes["len"].max() == 12
    widths = [
        drawn.prc.average_precision(
            "truth", "score", weight="weight", by="segment", ci=0.95, **more
        )
        .select(pl.col("ci_high") - pl.col("ci_low"))
        .sum()
        .item()
        for more in ({}, {"strata": "stratum"})
    ]
    assert widths[1] < widths[0]


def test_strata_do_not_change_which_decisions_are_seen():
    random = np.random.default_rng(0)
    truth = random.random(400) < 0.3
    alike = truth * 1.2 + random.normal(size=400)
    scores = {name: alike + random.normal(size=400) / 2 for name in ("score", "other")}
    df = pl.DataFrame({"truth": truth, **scores})
    df = df.sort("score").with_columns(stratum=pl.int_range(pl.len()) // 5)
    asked = {"measure": "precision", "at": {"threshold": 1.0}}
    status = [
        df.prc.compare_models("truth", ["score", "other"], strata=strata, **asked)["status"].item()
        for strata in ("stratum", None)
    ]
    assert status == ["ok", "ok"]
