"""P-values adjusted for multiple testing."""

from __future__ import annotations

import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from comparisons import ROWS, compared
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from optional import require_module
from polars.testing import assert_frame_equal

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


@every_kind
@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_nothing_to_adjust_is_null(kind, adjust):
    result = compared(kind, ROWS.filter(pl.col("truth") == 0), by="region", adjust=adjust)
    assert result["p_adjusted"].null_count() == result.height > 0


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
