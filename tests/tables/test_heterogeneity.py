"""How segments differ: by definition, from exact areas and variances, in all kinds of frame."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import ROWS
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.special import log_ndtr
from strategies import DYADIC_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, OptionError
from frame_prc._inference import segment_permutations
from frame_prc._inference.comparisons import expected_range, spread_of
from frame_prc._tables.heterogeneity import _ranked

NUMBERS = ["gap", "gap_if_equal", "q", "p_value", "i_squared", "tau"]
SHOWN = [
    "gap", "gap_if_equal", "gap_p_value", "q", "p_value", "i_squared", "tau", "tau_low",
    "tau_high", "test",
]  # fmt: skip
ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-9}


def heterogeneity(kind, df, score="score", **options):
    options = {"measure": "average_precision", **options}
    return kind.rows(
        frame_prc.heterogeneity(kind.make(df), "truth", score, **options, details=True)
    )


def range_by_quadrature(errors):
    """Return the expected range of normals, with SciPy's normal, by Gauss and Legendre."""
    s = np.asarray(errors)

    def outside(x):
        scaled = x[:, None] / s
        return 1 - np.exp(log_ndtr(scaled).sum(1)) - np.exp(log_ndtr(-scaled).sum(1))

    # Narrow and wide normals have their own scales.
    cuts = [0, *sorted({float(e) * f for e in errors for f in (0.1, 0.3, 1, 3, 9)})]
    return 2 * sum(_integral(outside, a, b) for a, b in pairwise(cuts))


def _integral(function, low, high):
    nodes, weights = np.polynomial.legendre.leggauss(30)
    half = (high - low) / 2
    return half * float(weights @ function(low + half * (1 + nodes)))


def by_definition(logits, errors, of_named):
    """Return Cochran's Q and what follows from it, on the logit scale.

    The gap is that of the segments that are named.
    """
    weights = [1 / e**2 for e in errors]
    mean = np.average(logits, weights=weights)
    q = sum(w * (y - mean) ** 2 for w, y in zip(weights, logits, strict=True))
    k = len(logits)
    scale = sum(weights) - sum(w * w for w in weights) / sum(weights)
    slope = 1 / (1 + math.exp(-mean)) * (1 - 1 / (1 + math.exp(-mean)))
    return {
        "q": q,
        "p_value": stats.chi2.sf(q, k - 1),
        "i_squared": max(0, (q - (k - 1)) / q) if q else 0,
        "tau": math.sqrt(max(0, q - (k - 1)) / scale) * slope,
        "gap_if_equal": min(1, range_by_quadrature(of_named) * slope),
    }


def estimate(rows, clusters=None):
    """Return the area of a segment, its logit, the logit's error and the number it rests on.

    Without an error the area is all that is known.
    """
    area = oracle.average_precision(rows)
    if area is None or area in (0, 1):
        return area, None, None, None
    effective = oracle.effective_positives(rows, clusters)
    variance = oracle.variance(rows, clusters)
    if round(effective) < 2 or variance == 0:
        return area, None, None, None
    widened = math.sqrt(variance * effective / (effective - 1))
    return area, math.log(area / (1 - area)), widened / float(area * (1 - area)), effective


def assert_row(row, estimates):
    """Show that a row is what follows from the estimates of segments, by key."""
    used = {key: found for key, found in estimates.items() if found[2] is not None}
    assert row["n_segments"] == len(used)
    assert row["n_left_out"] == len(estimates) - len(used)
    if not used:
        assert {row[name] for name in ["best_week", "worst_week", "best_value", *NUMBERS]} == {None}
        return
    # The best and the worst are named among segments that are not few, if there are two.
    judged = {key: found for key, found in used.items() if found[3] >= 20}
    named = judged if len(judged) > 1 else used
    for end, pick in (("best", max), ("worst", min)):
        area = pick(a for a, *_ in named.values())
        assert row[f"{end}_value"] == pytest.approx(float(area), rel=1e-12)
        # Areas that are equal but for rounding may come in either order.
        near = [key for key, (a, *_) in named.items() if abs(a - area) < 1e-12]
        assert row[f"{end}_week"] in near
    assert row["gap"] == pytest.approx(row["best_value"] - row["worst_value"], abs=1e-15)
    expected = dict.fromkeys(NUMBERS[1:])
    if len(used) > 1:
        errors = [found[2] for found in named.values()]
        expected = by_definition(*([f[i] for f in used.values()] for i in (1, 2)), errors)
    for name, value in expected.items():
        near = None if value is None else pytest.approx(value, rel=1e-6, abs=1e-9)
        assert row[name] == near, name


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data())
def test_every_number_follows_from_exact_areas_and_variances(kind, weights, data):
    df = data.draw(frames(SCORES_OR_NONE, weights, max_size=25))
    weight = None if weights is None else "weight"
    options = {"by": "week", "weight": weight, "missing": "unretrieved", "test": "q"}
    row = heterogeneity(kind, df, **options).row(0, named=True)
    rows_of = segments(df if weight else df.with_columns(weight=1), "week")
    assert_row(row, {key[0]: estimate(rows) for key, rows in rows_of.items()})


def many_segments():
    random = np.random.default_rng(3)
    n = 210
    week, user = np.arange(n) % 3, random.integers(0, 9, n)
    truth = random.random(n) < 0.4
    # A user is in one week only, and each week is harder than the one before.
    score = np.round(random.normal(size=n), 2) + truth * (2 - week)
    return pl.DataFrame({"week": week, "user": user * 3 + week, "truth": truth, "score": score})


@cache
def exact_estimates(cluster):
    estimates = {}
    for (week,), part in many_segments().group_by("week"):
        rows = [oracle.Row(t, s, Fraction(1)) for t, s in part["truth", "score"].iter_rows()]
        estimates[week] = estimate(rows, part["user"].to_list() if cluster else None)
    return estimates


@pytest.mark.thorough
@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_clusters_widen_the_errors_of_their_segments(kind, cluster):
    df = many_segments()
    asked = {"cluster": cluster} if cluster else {"test": "q"}
    row = heterogeneity(kind, df, by="week", **asked).row(0, named=True)
    assert_row(row, exact_estimates(cluster))
    assert row["gap"] > row["gap_if_equal"] > 0
    assert row["p_value"] < 0.01
    assert (row["best_week"], row["worst_week"]) == (0 if cluster else 1, 2)  # 19 positives in 0


@every_kind
def test_columns_are_named_after_the_keys_and_rows_after_the_models(kind):
    df = many_segments().with_columns(other=-pl.col("score"), site=pl.col("week") % 2)
    result = heterogeneity(kind, df, {"b": "score", "a": "other"}, by=["site", "week"])
    keys = [f"{end}_{name}" for end in ("best", "worst") for name in ("site", "week", "value")]
    assert result.columns == [
        "model",
        "n_segments",
        "n_left_out",
        "n_few",
        *keys,
        *SHOWN,
        "status",
    ]
    assert result["model"].to_list() == ["a", "b"]
    alone = heterogeneity(kind, df, "score", by=["site", "week"])
    assert_frame_equal(result.filter(model="b").drop("model"), alone, **ROUNDED)
    assert alone.select("best_site", "best_week").row(0) == (1, 1)  # in (0, 0) are 19 positives


@every_kind
def test_segments_without_a_standard_error_are_left_out_and_counted(kind):
    df = pl.DataFrame(
        {
            "week": ["a"] * 4 + ["b"] * 4 + ["none", "one", "one"] + ["top"] * 3,
            "truth": [1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0],
            "score": [4, 3, 2, 1, 4, 3, 2, 1, 1, 2, 1, 3, 2, 1],
        }
    )
    row = heterogeneity(kind, df, by="week").row(0, named=True)
    assert (row["n_segments"], row["n_left_out"]) == (2, 3)
    assert (row["best_week"], row["worst_week"]) == ("a", "b")
    one = heterogeneity(kind, df.filter(pl.col("week") != "b"), by="week").row(0, named=True)
    assert (one["n_segments"], one["best_week"], one["worst_week"], one["gap"]) == (1, "a", "a", 0)
    assert [one[name] for name in NUMBERS[1:]] == [None] * 5


@every_kind
@pytest.mark.parametrize(("positives", "few"), [(19, 1), (20, 0)])
def test_segments_with_few_positives_are_counted(kind, positives, few):
    # The larger segment has many negatives, so that the pooled prevalence is no harder to reach.
    large = {"week": 1, "truth": [i % 3 == 0 for i in range(300)]}
    small = {"week": 2, "truth": [i % 3 == 0 for i in range(3 * positives)]}
    df = pl.concat([pl.DataFrame(part) for part in (large, small)])
    df = df.with_columns(score=pl.int_range(pl.len()) * 7919 % 601)
    row = heterogeneity(kind, df, by="week", measure="average_precision").row(0, named=True)
    assert (row["n_segments"], row["n_few"]) == (2, few)


@pytest.mark.parametrize(("few", "status"), [(1, "ok"), (2, "few_positives")])
def test_some_small_segments_leave_the_test_as_it_is(few, status):
    sizes = [300] * (5 - few) + [30] * few
    numbers = [(week, row) for week, size in enumerate(sizes) for row in range(size)]
    df = pl.DataFrame(numbers, schema=["week", "row"], orient="row")
    df = df.with_columns(truth=pl.col("row") % 3 == 0, score=pl.int_range(pl.len()) * 7919 % 601)
    asked = {"by": "week", "test": "q", "details": True, "measure": "average_precision"}
    row = frame_prc.heterogeneity(df, "truth", "score", **asked).row(0, named=True)
    assert (row["n_few"], row["status"]) == (few, status)
    judged = frame_prc.heterogeneity(df.filter(pl.col("week") < 5 - few), "truth", "score", **asked)
    for name in ("best_week", "worst_week", "gap"):  # of those that can be judged
        assert row[name] == judged[name].item(), name


@pytest.mark.parametrize("weight", [None, "weight"])
def test_draws_do_not_depend_on_the_order_of_the_names(weight):
    random = np.random.default_rng(0)
    week, late = random.integers(0, 12, 2000), random.random(2000) < 0.2
    df = pl.DataFrame({"week": [f"w{i}" for i in week], "late": late})
    scores = random.normal(size=2000) + late
    df = df.with_columns(score=scores, weight=random.exponential(size=2000))
    names, found = df["week"].unique().sort(), []
    for order in (names, names.reverse(), names.shuffle(1)):
        ev = df.with_columns(pl.col("week").cast(pl.Enum(order))).prc.evaluate(
            "late", "score", by="week", weight=weight
        )
        test = ev.heterogeneity(test="permutation", details=True)
        values = [ev.shrunk(details=True), ev.compare_segments(adjust="max", details=True)]
        by_name = [table.with_columns(pl.col("week").cast(str)).sort("week") for table in values]
        found.append([test.select("gap_if_equal", "gap_p_value", "p_value"), *by_name])
    for other in found[1:]:
        for table, first in zip(other, found[0], strict=True):
            assert_frame_equal(table, first, rel_tol=1e-12)


@every_kind
def test_counts_give_what_rows_give(kind):
    counted = frame_prc.counts(many_segments(), "truth", "score", by="week")
    options = {
        "score": "threshold",
        "pos": "pos",
        "neg": "neg",
        "by": "week",
        "measure": "average_precision",
    }
    found = kind.rows(frame_prc.heterogeneity(kind.make(counted), details=True, **options))
    assert_frame_equal(
        found,
        heterogeneity(kind, many_segments(), by="week", measure="average_precision"),
        **ROUNDED,
    )


# --- the expected range ------------------------------------------------------------------------


@given(st.lists(st.floats(1e-4, 10), min_size=2, max_size=9))
def test_expected_range_is_that_of_quadrature(errors):
    assert expected_range(errors) == pytest.approx(range_by_quadrature(errors), rel=1e-7)


def test_many_standard_errors_are_grouped_without_loss():
    errors = np.random.default_rng(0).gamma(0.5, size=1500) + 1e-3
    drawn = np.random.default_rng(1).normal(size=(4000, 1500)) * errors
    ranges = np.ptp(drawn, axis=1)
    error = ranges.std() / math.sqrt(len(ranges))
    assert expected_range(errors.tolist()) == pytest.approx(ranges.mean(), abs=4 * error)


def trials():
    """Return the log relative risks of ``metafor::dat.bcg``, and their standard errors."""
    table = [
        (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619),
        (33, 5036, 47, 5761), (180, 1361, 372, 1079), (8, 2537, 10, 619),
        (505, 87886, 499, 87892), (29, 7470, 45, 7232), (17, 1699, 65, 1600),
        (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
    ]  # fmt: skip
    risks = [math.log(a / (a + b) / (c / (c + d))) for a, b, c, d in table]
    errors = [math.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)) for a, b, c, d in table]
    return risks, errors


def test_q_of_a_published_meta_analysis():
    """The 13 trials of the BCG vaccine (Colditz et al. 1994), as in metafor's documentation.

    The log relative risks and their variances are those of ``metafor::dat.bcg``; its random-effects
    model by DerSimonian & Laird reports Q = 152.2330 with 12 degrees of freedom, tau^2 = 0.3088,
    and I^2 = 92.12 %.
    """
    risks, errors = trials()
    found = spread_of(risks, errors, [True] * len(risks))
    assert round(found.q, 4) == 152.2330
    assert round(100 * found.i_squared, 2) == 92.12
    mean = np.average(risks, weights=[1 / e**2 for e in errors])
    share = 1 / (1 + math.exp(-mean))
    assert round((found.tau / (share * (1 - share))) ** 2, 4) == 0.3088


# --- errors ------------------------------------------------------------------------------------

WRONG = {
    "no segments": ({"by": None}, OptionError, "by= is not given"),
    "key value": (
        {"by": pl.col("region").alias("value")},
        ColumnError,
        "key .value. in by= is named like",
    ),
    "cluster": ({"cluster": "users"}, ColumnError, "did you mean 'user'"),
    "truth": ({"truth": None}, OptionError, "truth= is not given"),
}


@every_kind
@pytest.mark.parametrize(("options", "error", "says"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_said_at_the_call(kind, options, error, says):
    asked = {"truth": "truth", "score": "old", "by": "region", **options}
    with pytest.raises(error, match=says):
        frame_prc.heterogeneity(kind.make(ROWS), **asked)


@every_kind
def test_sums_of_weights_need_their_squares(kind):
    sums = pl.DataFrame({"k": [1, 1, 2, 2], "s": [2, 1, 2, 1], "p": [1.5] * 4, "n": [0.5] * 4})
    with pytest.raises(OptionError, match="need the sums of squared weights"):
        frame_prc.heterogeneity(kind.make(sums), score="s", pos="p", neg="n", by="k")


@every_kind
def test_segments_are_compared_at_one_prevalence(kind):
    df = many_segments()
    row = heterogeneity(kind, df, by="week", measure="calibrated_average_precision").row(
        0, named=True
    )
    rows = [*segments(df.select("week", "truth", "score"), "week").values()]
    highest = float(oracle.highest_prevalence(rows))
    table = frame_prc.average_precision(
        df, "truth", "score", by="week", calibrate=highest, details=True
    )
    judged = table.filter(pl.col("n_pos") >= 20)
    areas = dict(judged.select("week", "calibrated_average_precision").iter_rows())
    assert (row["n_few"], judged.height) == (1, 2)
    assert row["best_value"] == pytest.approx(max(areas.values()), rel=1e-12)
    assert row["worst_value"] == pytest.approx(min(areas.values()), rel=1e-12)
    at = heterogeneity(kind, df, by="week", measure="calibrated_average_precision", calibrate=0.1)
    assert at["best_value"].item() < row["best_value"]


# --- clusters that have rows in several segments -------------------------------------------------


@every_kind
def test_clusters_across_segments_are_tested_by_f(kind):
    df = many_segments().with_columns(user=pl.col("user") // 3)
    row = heterogeneity(kind, df, by="week", cluster="user").row(0, named=True)
    logits, sums, effective = [], [], []
    for (_,), part in df.sort("week").group_by("week", maintain_order=True):
        rows = [oracle.Row(t, s, Fraction(1)) for t, s in part["truth", "score"].iter_rows()]
        area = float(oracle.average_precision(rows))
        moved = np.array([float(one) for one in oracle.moves(rows)]) / (area * (1 - area))
        logits.append(math.log(area / (1 - area)))
        sums.append([moved[(part["user"] == user).to_numpy()].sum() for user in range(9)])
        found = part.filter("truth").group_by("user").len()["len"]
        effective.append(found.sum() ** 2 / (found**2).sum())
    u, contrasts, m = np.array(sums), np.array([[1, 0, -1], [0, 1, -1]]), np.mean(effective)
    difference = contrasts @ logits
    covariance = contrasts @ (u @ u.T * m / (m - 1)) @ contrasts.T
    q = difference @ np.linalg.solve(covariance, difference)
    f = q * (m - 2) / ((m - 1) * 2)
    assert row["q"] == pytest.approx(q, rel=1e-9)
    assert row["p_value"] == pytest.approx(stats.f.sf(f, 2, m - 2), rel=1e-9)
    assert row["tau_low"] <= row["tau"] <= row["tau_high"]
    assert (row["test"], row["status"]) == ("f", "few_clusters")
    # Models have the same rows, which is not the same segment twice.
    models = {"one": "score", "two": -pl.col("score")}
    both = heterogeneity(kind, many_segments(), models, by="week", cluster="user")
    assert both["test"].to_list() == ["q", "q"]


def test_fewer_clusters_than_segments_cannot_be_tested():
    df = many_segments().with_columns(user=pl.col("user") % 2)
    row = frame_prc.heterogeneity(df, "truth", "score", by="week", cluster="user", details=True)
    assert row["status"].item() == "few_clusters"
    assert set(row.select("q", "p_value", "tau", "tau_low", "gap_if_equal").row(0)) == {None}


# --- permutations --------------------------------------------------------------------------------


def small_segments(seed=0, differ=0.0, segments=12, rows=40):
    random = np.random.default_rng(seed)
    week = np.repeat(np.arange(segments), rows)
    truth = random.random(week.size) < 0.3
    score = np.round(random.normal(size=week.size), 1) + truth * (1 + differ * (week % 2))
    weight = random.choice([1.0, 2.0, 0.5], week.size)
    return pl.DataFrame({"week": week, "truth": truth, "score": score, "weight": weight})


@pytest.mark.parametrize(
    "measure", ["calibrated_average_precision", "average_precision", "roc_auc"]
)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_draws_have_the_areas_and_errors_of_their_segments(measure, weight):
    """Q of the first draws is that of the verb on rows whose segments are those of the draw."""
    df = small_segments().with_columns(score=pl.when(pl.int_range(pl.len()) % 13 > 0).then("score"))
    options = {"by": "week", "weight": weight, "measure": measure, "missing": "unretrieved"}
    odds = None
    if measure == "calibrated_average_precision":
        odds = 3.0
        options["calibrate"] = 0.25
    single = df.select(
        "score", positive="truth", number="week", weight=weight or pl.lit(1.0), size=pl.lit(1)
    )
    rows = segment_permutations.SegmentRows.of(
        _ranked(single, ascending=False), measure, odds, None
    )
    order = ["score", "truth", *([weight] if weight else [])]
    first = [name == "score" for name in order]
    ordered = df.sort(order, descending=first, nulls_last=True)
    for draw in range(3):
        labels = rows.shuffled(np.random.default_rng([rows.seed, draw]))
        truth = ordered["truth"].to_numpy()
        week = np.empty(df.height, dtype=np.int64)
        week[truth], week[~truth] = labels[: truth.sum()], labels[truth.sum() :]
        moved = ordered.with_columns(week=week)
        found = frame_prc.heterogeneity(moved, "truth", "score", **options, test="q", details=True)
        expected = pytest.approx(found["q"].item(), rel=1e-9)
        assert rows.spread(labels).q == rows.drawn([draw])[0, 0] == expected


def test_draws_end_at_the_twentieth_hit_or_far_below_the_segments():
    """Besag & Clifford (1991): the p-value is 20 over the draws that it took; or that of 999."""
    for differ in (0.0, 0.3, 1.5, 9.0):
        df = small_segments(seed=1, differ=differ).drop("weight")
        single = df.select(
            "score", positive="truth", number="week", weight=pl.lit(1.0), size=pl.lit(1)
        )
        ranked = _ranked(single, ascending=False)
        rows = segment_permutations.SegmentRows.of(ranked, "average_precision", None, None)
        excess = segment_permutations.Spread(*rows.drawn(range(999)).T).excess
        with np.errstate(all="ignore"):
            [hits] = np.nonzero(excess >= rows.spread(rows.labels).excess)
        expected = 20 / (1 + hits[19]) if len(hits) >= 20 else (1 + len(hits)) / 1000
        null = segment_permutations.null_of(ranked, "average_precision", None, {*df["week"]})
        assert null.p_value == pytest.approx(expected)


@every_kind
def test_small_segments_are_permuted_and_counts_and_any_order_give_the_same(kind):
    df = small_segments(seed=3, differ=1.5)
    first = heterogeneity(kind, df, by="week", measure="calibrated_average_precision")
    row = first.row(0, named=True)
    assert (row["test"], row["status"]) == ("permutation", "ok")
    assert row["p_value"] == 0.001
    assert row["gap"] > row["gap_if_equal"]
    assert row["gap_p_value"] < 0.05
    assert 0 < row["tau_low"] < row["tau"] < row["tau_high"]
    shuffled = df.sample(fraction=1, shuffle=True, seed=1)
    again = heterogeneity(kind, shuffled, by="week", measure="calibrated_average_precision")
    assert_frame_equal(first, again, rel_tol=1e-9)
    roles = {"score": "threshold", "pos": "pos", "neg": "neg", "by": "week"}
    counted = frame_prc.counts(df, "truth", "score", by="week")
    found = kind.rows(frame_prc.heterogeneity(kind.make(counted), **roles, details=True))
    assert_frame_equal(first, found, rel_tol=1e-9)


@pytest.mark.thorough
def test_the_test_depends_on_the_segments_unless_it_is_named():
    def test_of(df, **options):
        row = frame_prc.heterogeneity(df, "truth", "score", by="week", details=True, **options)
        return row["test"].item()

    few, many = small_segments(segments=3, rows=400), small_segments(segments=20, rows=400)
    assert test_of(few) == "q"
    # Negatives that are scarce are few, as positives are.
    is_dropped = ~pl.col("truth").cast(pl.Boolean) & (pl.int_range(pl.len()) % 16 > 0)
    assert test_of(few.filter(~is_dropped)) == "permutation"
    assert test_of(many) == "permutation"
    assert test_of(few, test="permutation") == "permutation"
    assert test_of(many, test="q") == "q"
    assert test_of(many, cluster=pl.int_range(pl.len())) == "q"
    # Each model has its own segments and its own test.
    long = pl.concat([few.with_columns(m=pl.lit("few")), many.with_columns(m=pl.lit("many"))])
    roles = {"truth": "truth", "score": "score", "by": "week", "model": "m", "details": True}
    tests = [frame_prc.heterogeneity(long, **roles, test=test)["test"] for test in (None, "q")]
    assert [one.to_list() for one in tests] == [["q", "permutation"], ["q", "q"]]
    says = "cluster= is given with test='permutation'"
    with pytest.raises(OptionError, match=says):
        test_of(many, test="permutation", cluster="week")
    sums = pl.DataFrame({"k": [1, 1, 2, 2], "s": [2, 1, 2, 1], "p": [1.5] * 4, "n": [1.5] * 4})
    sums = sums.with_columns(pp="p", nn="n")
    roles = {"score": "s", "pos": "p", "neg": "n", "by": "k"}
    roles |= {"pos_squares": "pp", "neg_squares": "nn", "test": "permutation"}
    with pytest.raises(OptionError, match="needs single rows"):
        frame_prc.heterogeneity(sums, **roles)


def test_interval_of_tau_is_the_q_profile():
    """On the 13 trials below metafor's documentation has tau^2 from 0.1197 to 1.1115."""
    found = spread_of(*trials(), [True] * len(trials()[0]))
    mean = np.average(trials()[0], weights=[1 / e**2 for e in trials()[1]])
    share = 1 / (1 + math.exp(-mean))
    low, high = ((one / (share * (1 - share))) ** 2 for one in (found.tau_low, found.tau_high))
    assert (round(low, 4), round(high, 4)) == (0.1197, 1.1115)
    # Equal segments do not show that tau is 0.
    equal = spread_of([0.0] * 5, [0.3] * 5, [True] * 5)
    assert equal.tau_low == equal.tau == 0 < equal.tau_high
