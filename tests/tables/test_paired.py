"""Models compared over segments that are a sample: paired tests, against exact arithmetic."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import ROWS, compared
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from scipy import stats
from strategies import DYADIC_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, OptionError
from frame_prc._inference.permutations import p_value_of_signs
from frame_prc._request.specs import Draws

COLUMNS = [
    "model", "baseline", "n_segments", "n_undefined", "value_a", "value_b",
    "difference", "std_error", "ci_low", "ci_high", "p_value", "status",
]  # fmt: skip
OVER = {"by": "week", "over": "week"}
PERMUTED = {"permutations": Draws(seed=5)}
ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-12}


def many_queries(queries=30, seed=0):
    """Return queries of which some have no positive, with two models and sites."""
    random = np.random.default_rng(seed)
    n = queries * 12
    query = np.repeat(np.arange(queries), 12)
    truth = (random.random(n) < 0.3) & (query % 7 != 3)
    a, b = (np.round(random.random(n) + gain * truth, 2) for gain in (0.2, 0.0))
    return pl.DataFrame({"week": query, "truth": truth, "a": a, "b": b, "site": query % 3})


def areas_of(df, score, by, weight=None):
    columns = {"score": pl.col(score)} | ({} if weight else {"weight": pl.lit(1)})
    rows_of = segments(df.with_columns(**columns), by)
    return {key: oracle.average_precision(rows) for key, rows in rows_of.items()}


def by_definition(a, b, level=0.95):
    """Return means, their difference, and its t test, from the exact areas of segments."""
    pairs = [(a[key], b[key]) for key in a if a[key] is not None]
    if not pairs:
        return dict.fromkeys(COLUMNS[4:-1])
    differences = [x - y for x, y in pairs]
    k, mean = len(pairs), sum(differences) / len(pairs)
    found = {
        "value_a": sum(x for x, _ in pairs) / k,
        "value_b": sum(y for _, y in pairs) / k,
        "difference": mean,
    }
    squares = sum((d - mean) ** 2 for d in differences)
    if k < 2 or squares == 0:
        return found | dict.fromkeys(["std_error", "ci_low", "ci_high", "p_value"])
    error = math.sqrt(squares / (k - 1) / k)
    half = stats.t.ppf((1 + level) / 2, k - 1) * error
    return found | {
        "std_error": error,
        "ci_low": max(-1, mean - half),
        "ci_high": min(1, mean + half),
        "p_value": 2 * stats.t.sf(abs(float(mean) / error), k - 1),
    }


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data())
def test_t_test_equals_exact_arithmetic(kind, weights, data):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    weight = None if weights is None else "weight"
    by = data.draw(st.sampled_from([["week"], ["segment", "week"]]))
    options = {"by": by, "over": "week", "weight": weight, "missing": "unretrieved"}
    result = compared(kind, df, ("score", "other"), **options)
    a, b = (areas_of(df, name, by, weight) for name in ("other", "score"))
    inner = list(dict.fromkeys(key[:-1] for key in a)) or ([()] if len(by) == 1 else [])
    assert result.height == len(inner)
    for row, outer in zip(result.iter_rows(named=True), inner, strict=True):
        mine_a, mine_b = ({k: v for k, v in x.items() if k[:-1] == outer} for x in (a, b))
        defined = sum(value is not None for value in mine_a.values())
        assert (row["n_segments"], row["n_undefined"]) == (defined, len(mine_a) - defined)
        assert row["status"] == ("ok" if defined >= 6 else "few_segments")
        for name, value in by_definition(mine_a, mine_b).items():
            near = None if value is None else pytest.approx(float(value), rel=1e-7, abs=1e-10)
            assert row[name] == near, name


@every_kind
@pytest.mark.parametrize(("count", "status"), [(5, "few_segments"), (6, "ok")])
def test_six_segments_are_enough_for_a_test(kind, count, status):
    df = many_queries().filter(pl.col("truth").any().over("week"))
    weeks = df["week"].unique(maintain_order=True).head(count)
    found = compared(kind, df.filter(pl.col("week").is_in(weeks.to_list())), ("a", "b"), **OVER)
    assert found.select("n_segments", "status").rows() == [(count, status)]


@every_kind
def test_result_is_that_of_scipy(kind):
    df = many_queries()
    row = compared(kind, df, ("a", "b"), ci=0.9, **OVER).row(0, named=True)
    assert list(row) == COLUMNS
    areas = [
        frame_prc.average_precision(df, "truth", name, by="week")["average_precision"].drop_nulls()
        for name in "ba"
    ]
    test = stats.ttest_rel(*areas)
    limits = test.confidence_interval(0.9)
    assert row["p_value"] == pytest.approx(test.pvalue, rel=1e-9)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((limits.low, limits.high), rel=1e-9)
    assert (row["value_a"], row["value_b"]) == pytest.approx([a.mean() for a in areas], rel=1e-12)
    assert (row["n_segments"], row["n_undefined"]) == (25, 5)


# --- permutations ------------------------------------------------------------------------------


def exact_p_value(differences):
    """Return the share of all sign vectors whose sum is at least as far from 0."""
    observed = abs(sum(differences))
    signs = product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(sign, differences, strict=True))) for sign in signs]
    return sum(total >= observed for total in sums) / len(sums)


@every_kind
@given(st.data())
def test_permutation_test_evaluates_all_signs_of_few_segments(kind, data):
    df = data.draw(frames(SCORES_OR_NONE))
    options = {"missing": "unretrieved", **OVER, **PERMUTED}
    row = compared(kind, df, ("score", "other"), **options).row(0, named=True)
    a, b = (areas_of(df, name, ["week"]) for name in ("score", "other"))
    differences = [a[key] - b[key] for key in a if a[key] is not None]
    assert row["p_value"] == (exact_p_value(differences) if differences else None)


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9), st.sampled_from([1, 1 / 3, 1e-7]))
def test_sums_that_are_equal_but_for_rounding_are_hits(whole, scale):
    found = p_value_of_signs([scale * value for value in whole], Draws())
    assert found == exact_p_value(whole)


@pytest.mark.parametrize("count", [17, 40, 3000])
def test_drawn_signs_give_the_share_of_all_signs(count):
    # The number of positive signs of equal differences is binomial.
    differences = [0.5] * (count // 2 + 2 + count // 40) + [-0.5] * (count // 2 - 2 - count // 40)
    extreme = abs(sum(d > 0 for d in differences) - len(differences) / 2)
    exact = 2 * stats.binom.sf(len(differences) / 2 + extreme - 1e-9, len(differences), 0.5)
    found = p_value_of_signs(differences, Draws(20_000, 1))
    assert found == pytest.approx(exact, abs=5 * math.sqrt(exact / 20_000))


def test_drawn_signs_are_those_of_scipy():
    df = many_queries()
    areas = [
        frame_prc.average_precision(df, "truth", name, by="week")["average_precision"].drop_nulls()
        for name in "ab"
    ]
    test = stats.permutation_test(
        [areas[0].to_numpy(), areas[1].to_numpy()],
        lambda x, y: np.mean(x - y),
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    )
    row = compared_rows(df, permutations=Draws(20_000, seed=5)).row(0, named=True)
    error = math.sqrt(2 * test.pvalue / 20_000)
    assert row["p_value"] == pytest.approx(test.pvalue, abs=5 * error)
    assert 0.001 < test.pvalue < 0.5


def compared_rows(df, **options):
    return frame_prc.compare_models(
        df, "truth", ["a", "b"], **{"details": True, **OVER, **PERMUTED, **options}
    )


@every_kind
def test_the_p_value_alone_depends_on_the_method(kind):
    df = many_queries()
    by_t = compared(kind, df, ("a", "b"), **OVER)
    permuted = compared(kind, df, ("a", "b"), **OVER, **PERMUTED)
    assert_frame_equal(by_t.drop("p_value"), permuted.drop("p_value"))
    assert by_t["p_value"].item() != permuted["p_value"].item()


@every_kind
def test_differences_that_are_all_equal_have_a_permutation_test_only(kind):
    # In each of 6 segments model a puts the positive first of two, and model b last.
    df = pl.DataFrame({"week": [i // 2 for i in range(12)], "truth": [1, 0] * 6})
    df = df.with_columns(a=pl.col("truth"), b=-pl.col("truth"), same=2 * pl.col("truth"))
    found = compared(kind, df, ("a", "b", "same"), **OVER, **PERMUTED, baseline="a")
    assert found["difference"].to_list() == [-0.5, 0.0]
    assert found.select("std_error", "ci_low", "ci_high").rows() == [(None,) * 3] * 2
    assert found["p_value"].to_list() == [2 / 2**6, 1.0]
    by_t = compared(kind, df, ("a", "b"), **OVER)
    assert by_t["p_value"].to_list() == [None]


@every_kind
def test_same_numbers_for_any_order_of_rows_and_any_other_rows(kind):
    df = many_queries(90)
    options = {"by": ["site", "week"], "over": "week", **PERMUTED}
    every = compared(kind, df, ("a", "b"), **options)
    shuffled = df.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(compared(kind, shuffled, ("a", "b"), **options), every, **ROUNDED)
    for row in every.iter_rows(named=True):
        alone = compared(kind, df.filter(site=row["site"]), ("a", "b"), **OVER, **PERMUTED)
        assert alone["p_value"].item() == row["p_value"]
    assert len(set(every["p_value"])) == 3


# --- what is compared --------------------------------------------------------------------------


@every_kind
def test_pairs_baselines_and_adjusted_p_values(kind):
    df = many_queries().with_columns(c=pl.col("a") + pl.col("b"))
    options = {"by": ["site", "week"], "over": "week", "adjust": "holm"}
    every = compared(kind, df, ("c", "a", "b"), **options)
    assert every.columns == ["site", *COLUMNS[:-1], "p_adjusted", "status"]
    assert every["site"].to_list() == [0] * 3 + [1] * 3 + [2] * 3
    pairs = [("a", "c"), ("b", "c"), ("b", "a")]
    assert every.select("model", "baseline").rows() == pairs * 3
    least = every.sort("p_value")["p_value", "p_adjusted"].row(0)
    assert least[1] == pytest.approx(9 * least[0])
    one = compared(kind, df, ("c", "a", "b"), **{**options, "baseline": "b"})
    assert one.select("model", "baseline").rows() == [("c", "b"), ("a", "b")] * 3
    expected = compared(kind, df, ("b", "c", "a"), **options).filter(baseline="b")
    assert_frame_equal(one.drop("p_adjusted"), expected.drop("p_adjusted"), **ROUNDED)


@every_kind
def test_rows_that_lack_a_score_are_dropped_for_all_models(kind):
    df = many_queries().with_columns(a=pl.when(pl.col("week") != 5).then("a"))
    found = compared(kind, df, ("a", "b"), missing="drop", **OVER)
    assert found["n_dropped"].item() == 12
    # Its positives gone, query 5 has no average precision.
    assert (found["n_segments"].item(), found["n_undefined"].item()) == (24, 6)
    expected = compared(kind, df.filter(pl.col("week") != 5), ("a", "b"), **OVER)
    names = ["difference", "std_error", "p_value"]
    assert_frame_equal(found[names], expected[names], **ROUNDED)


# --- errors ------------------------------------------------------------------------------------

WRONG = {
    "one model": ({"score": "old"}, OptionError, "score= names one model.*two or more"),
    "no key": ({"over": "user"}, ColumnError, "over='user' is not a key in by="),
    "no keys": ({"by": None}, ColumnError, "over='region' is not a key.*by='region' makes it one"),
    "not a name": ({"over": 3}, OptionError, "over= takes a key, got a value of type int"),
    "cluster": ({"cluster": "user"}, OptionError, "cluster= is given beside over="),
    "stratified": (
        {"permutations": Draws(stratified=True)},
        OptionError,
        "stratified=True is given",
    ),
    "baseline": ({"baseline": "odl"}, OptionError, "baseline='odl' is not a model"),
    "level": ({"ci": 2}, OptionError, "ci=2 is not a level"),
    "adjust": ({"adjust": "fdr"}, OptionError, "adjust='fdr' is not an option"),
}


@every_kind
@pytest.mark.parametrize(("options", "error", "says"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_said_at_the_call(kind, options, error, says):
    asked = {"truth": "truth", "score": ["new", "old"], "by": "region", "over": "region", **options}
    with pytest.raises(error, match=says):
        frame_prc.compare_models(kind.make(ROWS), **asked)
