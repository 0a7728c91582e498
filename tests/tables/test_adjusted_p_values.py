"""P-values adjusted for multiple testing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from comparisons import compared
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from optional import require_module
from polars.testing import assert_frame_equal
from scipy.stats import multivariate_normal, norm

import frame_prc
from frame_prc._tables import compare as _compare

# --- adjusted p-values -------------------------------------------------------------------------


def holm(p: list[float]) -> list[float]:
    """Return step-down Bonferroni values, by their definition (Holm 1979)."""
    order = sorted(p)
    least = [min(1.0, (len(p) - place) * value) for place, value in enumerate(order)]
    return [max(least[: order.index(value) + 1]) for value in p]


def benjamini_hochberg(p: list[float]) -> list[float]:
    """Return step-up values, by their definition (Benjamini & Hochberg 1995)."""
    order = sorted(p)
    least = [min(1.0, len(p) / (place + 1) * value) for place, value in enumerate(order)]
    return [min(least[order.index(value) :]) for value in p]


def many_segments() -> pl.DataFrame:
    """Make segments that differ, and one without positives, whose p-value is null."""
    rows = pl.DataFrame({"row": range(600)}).with_columns(
        region=pl.col("row") % 6,
        truth=(pl.col("row") * 7 % 11 < 4) & (pl.col("row") % 6 != 3),
        noise=pl.col("row") * 7919 % 601 / 601,
        other=pl.col("row") * 104729 % 599 / 599,
    )
    gain = pl.col("truth").cast(pl.Float64) * pl.col("region") / 6
    return rows.with_columns(old="noise", new=pl.col("other") + gain)


@every_kind
@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_adjusted_limits_exclude_0_where_the_adjusted_p_value_is_below_the_level(kind, adjust):
    asked = {"by": "region", "adjust": adjust}
    of_tests = compared(kind, many_segments(), **asked)
    for place, (p, p_adjusted) in enumerate(of_tests.select("p_value", "p_adjusted").rows()):
        if p is None:
            assert of_tests["ci_low_adjusted"][place] is None
        if p is None or p_adjusted == 1:
            continue
        for factor, excludes in ((1 - 1e-6, False), (1 + 1e-6, True)):
            row = compared(kind, many_segments(), **asked, ci=1 - factor * p_adjusted).row(
                place, named=True
            )
            low, high = row["ci_low_adjusted"], row["ci_high_adjusted"]
            assert (low > 0 or high < 0) is excludes
            assert low <= row["ci_low"] <= row["ci_high"] <= high


@every_kind
@pytest.mark.parametrize(("adjust", "by_hand"), [("holm", holm), ("bh", benjamini_hochberg)])
def test_adjusted_p_values_are_those_of_all_tests(kind, adjust, by_hand):
    result = compared(kind, many_segments(), by="region", adjust=adjust)
    limits = ["ci_low_adjusted", "ci_high_adjusted"]
    assert result.columns[-4:] == ["p_adjusted", *limits, "status"]
    known = result.drop_nulls("p_value")
    assert known.height == 5
    assert result.filter(region=3)["p_adjusted"].to_list() == [None]
    expected = by_hand(known["p_value"].to_list())
    assert known["p_adjusted"].to_list() == pytest.approx(expected, rel=1e-12)
    assert known["p_adjusted"].min() < 0.05 < known["p_adjusted"].max()
    plain = compared(kind, many_segments(), by="region")
    assert_frame_equal(result.drop("p_adjusted", *limits), plain)


@every_polars_kind
@pytest.mark.parametrize(
    "afterwards",
    [
        lambda result: result.filter(region=4),
        lambda result: result.filter(pl.col("region") > 3).head(1),
        lambda result: result.tail(1),
        lambda result: result.select("p_adjusted").slice(2, 2),
    ],
    ids=["filter", "filter and head", "tail", "select and slice"],
)
def test_what_is_taken_of_a_result_does_not_change_its_adjustment(kind, afterwards):
    asked = {"truth": "truth", "score": ["new", "old"], "by": "region", "adjust": "holm"}
    whole = frame_prc.compare_models(many_segments(), **asked)
    taken = kind.rows(afterwards(frame_prc.compare_models(kind.make(many_segments()), **asked)))
    assert_frame_equal(taken, afterwards(whole))


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(("adjust", "method"), [("holm", "holm"), ("bh", "fdr_bh")])
@given(p=st.lists(st.sampled_from([None, 0.0, 1e-300, 1e-9, 0.01, 0.02, 0.5, 0.9, 1.0])))
def test_adjusted_p_values_are_those_of_statsmodels(adjust, method, p):
    multipletests = require_module("statsmodels.stats.multitest").multipletests
    table = pl.LazyFrame({"p_value": p}, schema={"p_value": pl.Float64})
    found = table.select(**_compare.adjusted(adjust)).collect().to_series().to_list()
    known = [value for value in p if value is not None]
    expected = iter(multipletests(known, method=method)[1] if known else [])
    assert found == [None if v is None else pytest.approx(next(expected), rel=1e-12) for v in p]


# --- the largest deviate -----------------------------------------------------------------------


def three_models(n=2000, seed=0):
    random = np.random.default_rng(seed)
    truth, shared = random.random(n) < 0.2, random.normal(size=n)
    scores = {
        name: shared + 0.5 * random.normal(size=n) + gain * truth
        for name, gain in (("old", 1.0), ("new", 1.12), ("third", 1.1))
    }
    return pl.DataFrame({"truth": truth, "region": np.arange(n) % 3, **scores})


def at_least(deviate, correlation):
    """Return how likely one of two normal deviates is so far from 0, by their distribution."""
    both = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    corners = [(1, 1), (-1, -1)], [(1, -1), (-1, 1)]
    inside = [sum(both.cdf([a * deviate, b * deviate]) for a, b in of) for of in corners]
    return 1 - (inside[0] - inside[1])


@every_kind
def test_two_tests_are_corrected_by_the_correlation_of_what_moves_them(kind):
    df = three_models()
    ev = kind.make(df).prc.evaluate("truth", ["old", "new", "third"])
    found = kind.rows(ev.compare_models(baseline="old", adjust="max", details=True))
    moved = [
        df.prc.influence("truth", name)["average_precision"].to_numpy()
        for name in ("old", "new", "third")
    ]
    [[_, correlation], _] = np.corrcoef(moved[1] - moved[0], moved[2] - moved[0])
    assert 0.3 < correlation < 0.7
    p, p_adjusted = found.sort("p_value").select("p_value", "p_adjusted").get_columns()
    expected = at_least(norm.isf(p[0] / 2), correlation)
    assert p_adjusted[0] == pytest.approx(expected, abs=3 * (expected / 40_000) ** 0.5)
    assert p_adjusted[1] == pytest.approx(max(p[1], p_adjusted[0]))
    assert p_adjusted[0] < 2 * p[0]


@every_kind
@pytest.mark.parametrize("by", [None, "region"])
def test_the_largest_deviate_is_between_no_correction_and_that_of_holm(kind, by):
    ev = kind.make(three_models()).prc.evaluate("truth", ["old", "new", "third"], by=by)
    largest, other = (
        kind.rows(ev.compare_models(adjust=adjust, details=True)) for adjust in ("max", "holm")
    )
    p, p_adjusted = largest["p_value"], largest["p_adjusted"]
    assert (p_adjusted >= p).all()
    assert (p_adjusted <= other["p_adjusted"] + 1e-12).all()
    assert p_adjusted.sum() < other["p_adjusted"].sum() - 1e-3
    excludes = (largest["ci_low_adjusted"] > 0) | (largest["ci_high_adjusted"] < 0)
    assert (excludes == (p_adjusted < 0.05)).all()
    alone = kind.rows(ev.segments("region").compare_segments(adjust="max"))
    assert alone["p_adjusted"].null_count() == 0


@every_kind
def test_areas_of_1_have_p_values_without_a_variance(kind):
    random, rows = np.random.default_rng(0), 1000
    truth = np.arange(rows) < 300
    perfect = {name: truth + random.random(rows) / 2 for name in ("first", "second")}
    df = pl.DataFrame({"truth": truth, **perfect, "other": truth + random.normal(size=rows)})
    df = df.with_columns(region=pl.int_range(pl.len()) % 3)
    ev = kind.make(df).prc.evaluate("truth", ["first", "second", "other"])
    largest, other = (kind.rows(ev.compare_models(adjust=a)) for a in ("max", "holm"))
    assert (largest["p_adjusted"] <= other["p_adjusted"] + 1e-12).all()
    assert largest["p_adjusted"].min() < 0.05
    segments = kind.rows(ev.segments("region").compare_segments(adjust="max", details=True))
    has_test = segments["p_value"].is_not_null()
    assert (segments["p_adjusted"].is_not_null() == has_test).all()


@every_kind
@pytest.mark.parametrize("adjust", ["holm", "bh", "max"])
@pytest.mark.parametrize("against", ["others", "rest"])
def test_two_segments_beside_each_other_are_one_test(kind, adjust, against):
    df = (
        many_segments()
        .filter(pl.col("region").is_in([1, 4, 5]))
        .with_columns(part=pl.col("row") % 2)
    )
    two = df.filter(pl.col("region") < 5)

    def found(rows, **asked):
        asked |= {"by": "region", "against": against, "adjust": adjust, "details": True}
        table = frame_prc.compare_segments(kind.make(rows), "truth", ["old", "new"], **asked)
        return kind.rows(table)

    # Each model has a test, of which the smaller p-value counts twice at most.
    pairs = found(two)
    p = sorted(pairs["p_value"].to_list())
    assert p[0] == pytest.approx(p[1], rel=1e-9)
    low = pairs.sort("p_value")["p_adjusted"].to_list()
    within = {"holm": 2 * p[0], "bh": min(2 * p[0], p[2]), "max": 2 * p[0]}[adjust]
    assert p[0] <= low[0] <= within * (1 + 1e-9)
    alone = frame_prc.compare_segments(
        two, "truth", "new", by="region", against=against, adjust=adjust, details=True
    )
    if adjust != "max":
        assert alone["p_adjusted"].to_list() == pytest.approx(alone["p_value"].to_list(), rel=1e-9)
    assert alone["p_adjusted"][0] == pytest.approx(alone["p_value"][0], rel=0.1)
    three = frame_prc.compare_segments(
        df, "truth", "new", by="region", against=against, adjust=adjust, details=True
    )
    assert (three["p_adjusted"] > three["p_value"]).any()
