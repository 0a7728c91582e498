"""Scorecards: exact arithmetic for every measure, published worst cases, pooled and macro rows."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import oracle
import pandas as pd
import polars as pl
import published
import pytest
from exact import segments, table
from hypothesis import given
from hypothesis import strategies as st
from kinds import assert_rows, every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from scipy.special import expit, logit
from strategies import BY, DYADIC_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError

ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-12}
MEASURES = {
    "random_average_precision": pl.Float64,
    "lift": pl.Float64,
    "chance_corrected_average_precision": pl.Float64,
    "normalised_average_precision": pl.Float64,
    "calibrated_average_precision": pl.Float64,
    "interpolated": pl.Float64,
    "normalised_interpolated": pl.Float64,
    "gain": pl.Float64,
    "best_f1": pl.Float64,
    "best_f1_threshold": pl.Float64,
}
INTERVAL = ["std_error", "ci_low", "ci_high"]
INTERVALS = [
    *INTERVAL,
    *(f"calibrated_average_precision_{n}" for n in ("std_error", "low", "high")),
]

exact_weights = pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"]
)


# --- by definition ----------------------------------------------------------------------------


def worst_area(positives, negatives):
    with localcontext(prec=50):
        odds = Decimal(positives.numerator) / Decimal(positives.denominator)
        odds /= Decimal(negatives.numerator) / Decimal(negatives.denominator)
        return Fraction(1 - (1 + odds).ln() / odds)


def worst_average_precision(positives, negatives):
    """Return the average precision of rows of weight 1, the negatives on top, none tied."""
    return sum(Fraction(i, i + negatives) for i in range(1, positives + 1)) / positives


def rescaled(area, zero):
    return None if area is None or zero in (None, 1) else (area - zero) / (1 - zero)


def random_area(rows, *, weighted):
    positives, negatives = oracle.totals(rows)
    if not weighted or positives == 0:
        return oracle.random_average_precision(rows)
    return positives / (positives + negatives)


def calibrated(rows, prevalence):
    positives, negatives = oracle.totals(rows)
    if not positives or not negatives or prevalence in (None, 0, 1):
        return None
    here, there = positives / negatives, prevalence / (1 - prevalence)
    points = [p._replace(fp=p.fp * here / there) for p in oracle.curve(rows)]
    found = [p for p in points if p.tp > 0]
    return oracle.step_area([p._replace(precision=p.tp / (p.tp + p.fp)) for p in found])


def scorecard(rows, reference, *, weighted):
    positives, negatives = oracle.totals(rows)
    area, interpolated = oracle.average_precision(rows), oracle.area(rows, "interpolated")
    both = positives > 0 and negatives > 0
    continuous = worst_area(positives, negatives) if both else None
    worst = continuous
    if both and not weighted:
        worst = worst_average_precision(int(positives), int(negatives))
    best = oracle.operating_point(rows, "f_beta", 1.0)
    random = random_area(rows, weighted=weighted)
    return [
        random,
        area / random if random else None,
        rescaled(area, random),
        rescaled(area, worst),
        calibrated(rows, reference),
        interpolated,
        rescaled(interpolated, continuous),
        oracle.area(rows, "gain"),
        None if best is None else oracle.f_score(best, 1),
        None if best is None else best.threshold,
    ]


def expected(df, by):
    rows = segments(df, by)
    positives, negatives = oracle.totals([row for some in rows.values() for row in some])
    total = positives + negatives
    reference = positives / total if total else None
    weighted = "weight" in df.columns
    records = ((*key, *scorecard(some, reference, weighted=weighted)) for key, some in rows.items())
    return table(df, by, records, MEASURES)


def call(kind, df, **asked):
    asked = {"calibrate": "pooled", "details": True, **asked}
    weight = "weight" if "weight" in df.columns else None
    return frame_prc.summary(kind.make(df), "truth", "score", weight=weight, **asked)


@every_kind
@exact_weights
@given(st.data(), BY)
def test_every_measure_equals_its_definition(kind, weights, data, by):
    df = data.draw(frames(weights=weights))
    result = call(kind, df, by=by)
    keys = [by] if isinstance(by, str) else by or []
    wanted = (
        result[[*keys, *MEASURES]] if kind.name == "pandas" else result.select(*keys, *MEASURES)
    )
    assert_rows(kind, wanted, expected(df, by), **ROUNDED)


@every_kind
@exact_weights
@given(st.data(), BY)
def test_sizes_and_interval_are_those_of_average_precision(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    missing = data.draw(st.sampled_from(["drop", "unretrieved"]))
    asked = {"by": by, "missing": missing, "weight": "weight" if weights is not None else None}
    frame = kind.make(df)
    alone = kind.rows(frame_prc.average_precision(frame, "truth", "score", ci=0.9, **asked))
    asked.pop("weight")
    beside = kind.rows(call(kind, df, ci=0.9, **asked)).select(alone.columns)
    assert_frame_equal(beside, alone, rel_tol=1e-9, abs_tol=1e-12)


# --- published numbers -------------------------------------------------------------------------


@every_polars_kind
def test_a_measure_is_the_same_alone_as_beside_all_others(kind):
    ev = frame_prc.evaluate(kind.make(REGIONS), "truth", ["score", "other"], by="region")
    names = [*MEASURES, "reference_prevalence", "roc_auc", "brier", "log_loss", "brier_skill"]
    every = kind.rows(ev.summary(overall=True, measures=names, details=True))
    for name in names:
        alone = kind.rows(ev.summary(overall=True, measures=name)).drop("status")
        assert name in alone.columns
        assert_frame_equal(alone, every.select(alone.columns), rel_tol=1e-12, abs_tol=0)


WITHOUT_LIMITS = [
    {"details": True},
    {"measures": ["roc_auc", "brier", "log_loss", "brier_skill", "observed_expected"]},
    {"measures": ["roc_auc", "calibrated_average_precision"], "overall": True, "calibrate": 0.3},
    {"measures": ["precision", "partial_roc_auc"], "at": {"fpr": 0.3}},
    {"measures": "mean_score", "overall": True, "segments": "sampled", "shrink": True},
]


@every_polars_kind
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "day"}], ids=str)
def test_without_intervals_the_values_are_the_same(kind, roles):
    places = pl.int_range(pl.len())
    df = pl.DataFrame({"region": ["n", "s", "x", None, "x"] * 60}).with_columns(
        truth=(places * 7 % 11 < 4) & (pl.col("region") != "s").fill_null(value=True),
        score=(places * 7919 % 61) / 61,
        other=places * 7919 % 601 / 601,
        w=1.0 + places % 4,
        day=places % 29,
    )
    ev = frame_prc.evaluate(kind.make(df), "truth", ["score", "other"], by="region", **roles)
    for options in WITHOUT_LIMITS:
        found, beside = (kind.rows(ev.summary(ci=ci, **options)) for ci in (None, 0.9))
        hidden = {*beside.columns} - {*found.columns}
        assert hidden
        assert all(name.endswith(("_low", "_high", "std_error", "n_effective")) for name in hidden)
        values = [name for name in found.columns if name != "status"]
        assert_frame_equal(found.select(values), beside.select(values), rel_tol=1e-13, abs_tol=0)
        known = found.filter(pl.col("region") == "s")["status"]
        assert set(known) == {"no_positives"}


def test_worst_rankings_are_zero_of_what_is_possible():
    """Boyd et al. 2012: .05673776688 with 10 of 100 positive, and .05175535908 continuously."""
    row = frame_prc.summary(published.WORST, "truth", "score", details=True).row(0, named=True)
    assert row["average_precision"] == pytest.approx(0.05673776688, rel=1e-9)
    assert row["normalised_average_precision"] == pytest.approx(0, abs=1e-15)
    worst = (row["interpolated"] - row["normalised_interpolated"]) / (
        1 - row["normalised_interpolated"]
    )
    assert worst == pytest.approx(0.05175535908, rel=1e-9)


@pytest.mark.parametrize("positives", [1, 2, 15, 300])
@pytest.mark.parametrize("negatives", [1, 3, 15, 16, 17, 1000, 10**9])
def test_worst_average_precision_is_exact_for_few_and_for_many(positives, negatives):
    counted = pl.DataFrame({"score": [1.0], "pos": [positives], "neg": [negatives]})
    row = frame_prc.summary(counted, score="score", pos="pos", neg="neg", details=True).row(
        0, named=True
    )
    area, worst = row["average_precision"], worst_average_precision(positives, negatives)
    given = Fraction(positives, positives + negatives)
    assert area == pytest.approx(float(given), rel=1e-15)
    assert row["normalised_average_precision"] == pytest.approx(
        float((given - worst) / (1 - worst)), rel=1e-12, abs=1e-15
    )


@every_kind
@pytest.mark.parametrize("negative", [0.0, 1.0])
def test_no_digit_is_lost_of_what_is_possible_where_nearly_all_is_positive(kind, negative):
    """The worst area there is lies 1e-11 below 1, and what a ranking adds is a part of that."""
    df = pl.DataFrame(
        {
            "segment": "a",
            "truth": [True, True, False, True],
            "score": [2.0, 1.0, negative, 0.0],
            "weight": [1e6, 1e-6, 1e-6, 1e-6],
        }
    )
    found = kind.rows(call(kind, df)).row(0, named=True)
    exact = expected(df, None).row(0, named=True)
    for measure in ("normalised_average_precision", "normalised_interpolated"):
        assert found[measure] == pytest.approx(exact[measure], rel=1e-12)


@every_kind
def test_positives_that_are_never_retrieved_lower_every_measure(kind):
    df = pl.DataFrame(
        {
            "segment": "a",
            "truth": [True, False, True, False, True],
            "score": [3.0, 2.0, 1.0, None, None],
        }
    )
    result = call(kind, df, missing="unretrieved")
    wanted = result[[*MEASURES]] if kind.name == "pandas" else result.select(*MEASURES)
    assert_rows(kind, wanted, expected(df, None), rel_tol=1e-12)


def test_weighted_rankings_do_not_fall_below_the_worst():
    rows = {"truth": [0, 1, 1], "score": [3, 2, 1]}
    row = frame_prc.summary(
        pl.DataFrame({**rows, "w": [1.0, 1e-3, 2.0]}), "truth", "score", weight="w", details=True
    )
    assert 0 < row["normalised_average_precision"].item() < 1


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "day"])
def test_it_is_calibrated_to_the_highest_prevalence_of_the_segments(kind, weight, cluster):
    sizes = {"low": (30, 170), "high": (25, 75), "few": (4, 2), "none": (0, 9)}
    df = pl.DataFrame(
        [(name, n < pos) for name, (pos, neg) in sizes.items() for n in range(pos + neg)],
        schema=["region", "truth"],
        orient="row",
    ).with_row_index("n")
    df = df.with_columns(score=pl.col("n") * 37 % 41, day=pl.col("n") % 29, weight=1.5)
    columns = {"by": "region", "weight": weight, "cluster": cluster, "overall": True}
    asked = {"truth": "truth", **columns, "details": True}
    found, at_quarter = (
        kind.rows(frame_prc.summary(kind.make(df), score=["score", "n"], **asked, **more))
        for more in ({}, {"calibrate": 0.25})
    )
    assert_frame_equal(found, at_quarter, rel_tol=1e-12)
    assert found["reference_prevalence"].unique().to_list() == [0.25]


@every_kind
def test_few_heavy_rows_set_no_prevalence_whether_there_is_an_interval_or_not(kind):
    places = pl.int_range(pl.len())
    df = pl.DataFrame({"region": ["low"] * 200 + ["few"] * 6}).with_columns(
        truth=(places < 30) | (places > 201), score=places * 37 % 41
    )
    df = df.with_columns(weight=pl.when(region="few").then(30.0).otherwise(1.0))
    ev = frame_prc.evaluate(kind.make(df), "truth", "score", by="region", weight="weight")
    calls = [
        *(ev.average_precision(calibrate="highest", details=True, ci=ci) for ci in (None, 0.9)),
        ev.auc(calibrate="highest", method="trapezoid"),
        *(ev.summary(calibrate="highest", details=True, ci=ci) for ci in (None, 0.9)),
    ]
    for found in map(kind.rows, calls):
        assert found["reference_prevalence"].to_list() == pytest.approx([30 / 200] * 2, rel=1e-12)


# Of all rows next to all are positive, or next to all negative, and a segment is otherwise.
FAR_FROM_ALL = {
    "positive": ([1.0, 1e-70, 1e16, 1e10, 1e67], [0, 1, 0, 1, 1]),
    "positive, by 10 digits": ([1.0, 1e-10, 1.0, 1.0, 1e10], [0, 1, 0, 1, 1]),
    "negative": ([1.0, 1e10, 1e-70, 1e5, 1e67], [0, 1, 0, 1, 0]),
}


@every_kind
@pytest.mark.parametrize(("weights", "truth"), FAR_FROM_ALL.values(), ids=FAR_FROM_ALL)
def test_calibration_to_a_prevalence_next_to_0_or_1_keeps_its_digits(kind, weights, truth):
    df = pl.DataFrame(
        {
            "segment": ["x", "x", "x", "x", "y"],
            "truth": truth,
            "score": [3.0, 2.0, 1.0, None, 1.0],
            "weight": weights,
        }
    )
    found = kind.rows(call(kind, df, by="segment", missing="unretrieved"))
    exact = expected(df, "segment")["calibrated_average_precision"].to_list()
    assert exact[0] < 1
    assert found["calibrated_average_precision"].to_list() == [
        pytest.approx(exact[0], rel=1e-12, abs=0),
        None,
    ]


# --- states ------------------------------------------------------------------------------------

STATES = pl.DataFrame(
    {
        "region": ["all", "none", "some", "some", "lost", "many", "many"],
        "truth": [1, 0, 1, 0, 1, 1, 0],
        "score": [1.0, 1.0, 2.0, 1.0, None, 2.0, 1.0],
        "times": [1, 1, 1, 1, 1, 20, 5],
    }
)
STATES = STATES.select(pl.exclude("times").repeat_by("times").explode())


@every_kind
def test_status_says_what_a_segment_lacks(kind):
    table = kind.rows(call(kind, STATES, by="region", missing="drop"))
    assert table.select("region", "n", "n_dropped", "status").rows() == [
        ("all", 1, 0, "no_negatives"),
        ("lost", 0, 1, "empty"),
        ("many", 25, 0, "few_negatives"),
        ("none", 1, 0, "no_positives"),
        ("some", 2, 0, "few_positives"),
    ]


@pytest.mark.parametrize("overall", [False, True])
def test_status_is_of_what_is_asked_for_and_not_of_what_details_add(overall):
    # A quarter of the positives come first and the others last: only the ROC curve is below chance.
    df = pl.DataFrame({"row": range(800), "truth": [True] * 200 + [False] * 600})
    place = pl.when(pl.col("row") < 50).then(2.0).when("truth").then(0.0).otherwise(1.0)
    df = df.with_columns(score=place + pl.col("row") * 7919 % 601 / 1000, region=pl.col("row") % 2)
    asked = {"by": "region", "overall": overall}
    statuses = [
        {*df.prc.summary("truth", "score", **asked, **more)["status"]}
        for more in ({}, {"details": True}, {"measures": "roc_auc"})
    ]
    assert statuses[:2] == [{"ok"}, {"ok"}]
    assert "below_chance" in statuses[2]


@every_kind
def test_measures_are_null_where_they_are_not_defined(kind):
    table = kind.rows(call(kind, STATES, by="region", missing="drop"))
    defined = {
        row["region"]: [name for name in MEASURES if row[name] is not None]
        for row in table.rows(named=True)
    }
    assert defined["lost"] == defined["none"] == []
    random = ["random_average_precision", "lift"]
    assert defined["all"] == [*random, "interpolated", "best_f1", "best_f1_threshold"]
    assert defined["some"] == defined["many"] == list(MEASURES)


@every_kind
def test_no_rows_are_an_empty_segment(kind):
    none = published.SKLEARN_DOCS.head(0)
    found = kind.rows(call(kind, none, missing="drop"))
    assert found.select("n", "n_dropped", "status").rows() == [(0, 0, "empty")]


@every_kind
def test_unretrieved_positives_can_fall_below_the_worst(kind):
    df = pl.DataFrame({"truth": [1, 1, 0], "score": [None, 0.5, 0.7]})
    row = kind.rows(call(kind, df, missing="unretrieved")).row(0, named=True)
    assert row["average_precision"] == 0.25
    worst = Fraction(1, 2) * (Fraction(1, 2) + Fraction(2, 3))
    wanted = (Fraction(1, 4) - worst) / (1 - worst)
    assert row["normalised_average_precision"] == pytest.approx(float(wanted), rel=1e-12)


@every_kind
@given(st.data(), BY)
def test_counts_give_what_rows_give(kind, data, by):
    df = data.draw(frames())
    counted = kind.make(df.pipe(frame_prc.counts, "truth", "score", by=by))
    result = frame_prc.summary(
        counted, score="threshold", pos="pos", neg="neg", by=by, details=True
    )
    assert_frame_equal(
        kind.rows(result),
        kind.rows(call(kind, df, by=by, calibrate=None)),
        rel_tol=1e-12,
        abs_tol=1e-14,
    )


def test_thresholds_have_the_dtype_of_the_score():
    for dtype, wanted in (
        (pl.Float32, pl.Float32),
        (pl.Int16, pl.Float64),
        (pl.Decimal(9, 2), pl.Float64),
    ):
        df = published.YARDSTICK.with_columns((pl.col("score") * 100).round().cast(dtype))
        best = frame_prc.summary(df, "truth", "score", details=True)["best_f1_threshold"]
        assert best.dtype == wanted
        assert best.item() == pytest.approx(40)


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 5, 4, 6, 3]])
def test_best_thresholds_do_not_depend_on_how_sums_of_weights_are_rounded(order):
    # The best F1 is 2/3 at the thresholds 1 and 0.
    df = pl.DataFrame(
        {
            "score": [3.0, 1, 1, 3, 4, 0, 1],
            "pos": [0.1, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1],
            "neg": [0.1, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2],
        }
    )
    table = frame_prc.summary(df[order], score="score", pos="pos", neg="neg", details=True)
    assert table["best_f1"].item() == pytest.approx(2 / 3, rel=1e-12)
    assert table["best_f1_threshold"].item() == 1


# --- overall -----------------------------------------------------------------------------------

REGIONS = pl.DataFrame(
    {
        "region": ["n"] * 4 + ["s"] * 4 + ["x"],
        "truth": [1, 0, 1, 0, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.1, 0.9, 0.6, 0.5, 0.4, 0.3],
        "other": [0.1, 0.9, 0.8, 0.2, 0.3, 0.5, 0.7, 0.2, 0.6],
    }
)


@every_kind
def test_pooled_row_is_the_summary_of_all_rows(kind):
    table = kind.rows(call(kind, REGIONS, by="region", overall=True))
    pooled = table.filter(level="pooled").drop("level", "region", "n_undefined")
    assert_frame_equal(pooled, kind.rows(call(kind, REGIONS)), check_dtypes=kind.name != "pandas")


@every_kind
def test_levels_may_rank_their_rows_in_keys_of_other_widths(kind):
    # Three hundred segments take nine bits beside a score, and the pool of them takes none.
    rows = {"region": [k // 2 for k in range(600)], "truth": [0, 1] * 300}
    df = pl.DataFrame(rows | {"score": [1 / (k + 1) for k in range(600)]})
    table = kind.rows(call(kind, df, by="region", overall=True))
    assert table["level"].value_counts(sort=True)["count"].to_list() == [300, 1, 1]
    pooled = table.filter(level="pooled").drop("level", "region", "n_undefined")
    assert_frame_equal(pooled, kind.rows(call(kind, df)), check_dtypes=kind.name != "pandas")


@every_kind
def test_macro_row_is_the_mean_of_the_segments_that_are_defined(kind):
    table = kind.rows(call(kind, REGIONS, by="region", overall=True))
    parts, macro = table.filter(level="segment"), table.filter(level="macro").row(0, named=True)
    assert parts["average_precision"].to_list()[2] is None
    for name in ["average_precision", *list(MEASURES)[:-1]]:
        assert macro[name] == pytest.approx(parts[name].mean(), rel=1e-12)
    assert (macro["n"], macro["n_pos"], macro["n_undefined"]) == (9, 4, 1)
    assert macro["prevalence"] == 4 / 9
    assert macro["best_f1_threshold"] is None
    spread = sum(error**2 for error in parts["std_error"].drop_nulls()) ** 0.5 / 2
    assert macro["std_error"] == pytest.approx(spread, rel=1e-12)
    assert macro["ci_low"] < macro["average_precision"] < macro["ci_high"]


@every_polars_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@given(frames(SCORES_OR_NONE, max_size=12))
def test_lower_limit_of_the_mean_allows_for_the_bias_of_leaving_out_each_row(kind, weight, df):
    """Of two equal segments the mean has their area and their bias, and what is not found of it."""
    (rows,) = segments(df.with_columns(weight=1), None).values()
    named = {"by": "k", "weight": weight, "missing": "unretrieved"}
    options = {"overall": True, "calibrate": 0.1, "ci": 0.9, "details": True}
    twice = pl.concat([df.with_columns(weight=2.5, k=k) for k in (1, 2)])
    table = kind.rows(frame_prc.summary(kind.make(twice), "truth", "score", **named, **options))
    (row,) = table.filter(level="macro").rows(named=True)
    own = ("average_precision", "std_error", "ci_low")
    of = "calibrated_average_precision"
    at_reference = (of, f"{of}_std_error", f"{of}_low")
    for names, prevalence in ((own, None), (at_reference, Fraction(1, 10))):
        area, error, found = (row[name] for name in names)
        m = row["n_pos"] / (2.5 if weight else 1)
        if error is None:
            continue
        negatives = sum(not one.truth for one in rows)
        unfound = (1 - area) / negatives if negatives else 0.0
        bias = max(0.0, float(oracle.bias(rows, prevalence)) + unfound)
        quantile = math.sqrt(m / (m - 1)) * oracle.student_quantile(0.9, Fraction(m - 1))
        centres = (area, max(area - bias, area / 10))
        low = min(expit(logit(one) - quantile * error / (one * (1 - one))) for one in centres)
        assert found == pytest.approx(low, rel=1e-7, abs=1e-9)


@every_kind
@pytest.mark.parametrize("options", [{}, {"cluster": "user"}], ids=["rows", "clusters"])
def test_segments_without_an_area_leave_the_interval_of_the_mean_as_it_is(kind, options):
    defined = pl.DataFrame(
        {
            "segment": ["a", "b"] * 60,
            "truth": [(7 * i) % 3 == 0 for i in range(120)],
            "score": [(37 * i) % 101 / 101 for i in range(120)],
            "user": [i // 4 for i in range(120)],
        }
    )
    empty = defined.head(9).with_columns(segment=pl.lit("no positives"), truth=False)
    options = {"by": "segment", "overall": True, "calibrate": 0.3, **options}
    expected, found = (
        kind.rows(
            frame_prc.summary(kind.make(rows), "truth", "score", **options, details=True)
        ).row(by_predicate=pl.col("level") == "macro", named=True)
        for rows in (defined, pl.concat([defined, empty]))
    )
    assert (expected["n_undefined"], found["n_undefined"]) == (0, 1)
    assert expected["status"] == found["status"]
    limits = [expected[name] for name in INTERVALS]
    assert None not in limits
    assert [found[name] for name in INTERVALS] == pytest.approx(limits, rel=1e-12)


@pytest.mark.thorough
def test_error_of_the_mean_of_many_segments():
    n = 70_000  # its square does not fit 32 bits
    one = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    df = pl.DataFrame({"user": range(n)}).join(one, how="cross")
    table = frame_prc.summary(df, "truth", "score", by="user", overall=True, details=True)
    error = table["std_error"]
    assert error[0] > 0
    assert error[-1] == pytest.approx(error[0] / n**0.5, rel=1e-9)


@every_kind
def test_each_model_has_overall_rows_and_a_reference_of_its_own(kind):
    asked = {"by": "region", "overall": True, "missing": "drop"}
    gaps = REGIONS.with_columns(pl.when(pl.col("region") != "n").then("other").alias("other"))
    both = kind.rows(frame_prc.summary(kind.make(gaps), "truth", ["score", "other"], **asked))
    alone = kind.rows(frame_prc.summary(kind.make(gaps), "truth", "other", **asked))
    assert both.columns[:3] == ["level", "model", "region"]
    assert both.filter(pl.col("level") != "segment").select("level", "model").rows() == [
        ("pooled", "other"),
        ("pooled", "score"),
        ("macro", "other"),
        ("macro", "score"),
    ]
    assert_frame_equal(both.filter(model="other").drop("model"), alone)


@pytest.mark.parametrize(
    ("key", "dtype"),
    [
        (pd.Series([1, 1, 2, 2], dtype="int64"), "Int64"),
        (pd.Series([1, 1, 2, 2], dtype="uint8"), "UInt8"),
        (pd.Series([True, True, False, False]), "boolean"),
        (pd.Series(["a", "a", "b", "b"], dtype="category"), "category"),
        (pd.Series([0.5, 0.5, 1.0, 1.0]), "float64"),
        (pd.to_datetime(pd.Series(["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02"])), None),
    ],
    ids=["int64", "uint8", "bool", "category", "float64", "datetime"],
)
def test_keys_of_overall_rows_are_missing_in_pandas_too(key, dtype):
    frame = pd.DataFrame({"key": key, "truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    result = frame_prc.summary(frame, "truth", "score", by="key", overall=True)["key"]
    assert str(result.dtype) == (dtype or str(key.dtype))
    assert result.isna().tolist() == [False, False, True, True]
    assert set(result[:2]) == set(key)
    # Without overall rows, keys keep their dtype.
    assert frame_prc.summary(frame, "truth", "score", by="key")["key"].dtype == key.dtype


# --- errors ------------------------------------------------------------------------------------


@every_kind
def test_a_key_may_be_called_level_unless_that_column_is_asked_for(kind):
    rows = REGIONS.rename({"region": "level"})
    assert kind.rows(call(kind, rows, by="level"))["level"].to_list() == ["n", "s", "x"]
    with pytest.raises(ColumnError, match="key 'level' in by= is named like a column"):
        call(kind, rows, by="level", overall=True)


@every_kind
def test_the_interval_of_sums_of_weights_needs_their_squares(kind):
    rows = {"region": ["a", "a", "b", "b", "c"], "score": [2, 1, 2, 1, 1]}
    rows |= {"pos": [30.5, 20.0, 30.0, 0.0, 0.0], "neg": [1.5, 100.0, 0.0, 50.0, 9.0]}
    sums = pl.DataFrame(rows).with_columns(pos_squares="pos", neg_squares="neg")
    asked = {"score": "score", "pos": "pos", "neg": "neg", "by": "region", "overall": True}
    squares = {"pos_squares": "pos_squares", "neg_squares": "neg_squares"}
    table = kind.rows(frame_prc.summary(kind.make(sums), **asked, details=True))
    known = kind.rows(frame_prc.summary(kind.make(sums), **asked, **squares, details=True))
    assert table.select(pl.col(INTERVALS).null_count()).row(0) == (table.height,) * 6
    assert known.select(pl.col("ci_low", "ci_high").null_count()).row(0) == (2, 2)
    lacks = "no_std_error"
    assert table["status"].to_list() == [lacks, lacks, "no_positives", lacks, lacks]
    # Region b has an average precision of 1.
    few = "few_scores"
    assert known["status"].to_list() == [few, few, "no_positives", few, lacks]
    rest = pl.exclude("^roc_auc_.*$", *INTERVALS, "n_effective", "status")
    assert_frame_equal(table.select(rest), known.select(rest), rel_tol=1e-12, check_dtypes=False)


# --- segments as a sample ----------------------------------------------------------------------


def queries(count, *, with_one_positive):
    """Return queries with an average precision below 1, the first perhaps with one positive."""
    truth = [1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0] * count
    if with_one_positive:
        truth[:6] = [0, 1, 0, 0, 0, 0]
    scores = [-place for place in range(6 * count)]
    names = [f"q{number:03}" for number in range(count) for _ in range(6)]
    return pl.DataFrame({"query": names, "truth": truth[: 6 * count], "score": scores})


@every_kind
@pytest.mark.parametrize("count", [3, 6, 40])
def test_interval_of_sampled_segments_is_that_of_their_average(kind, count):
    df = queries(count, with_one_positive=True)
    asked = {"by": "query", "overall": True, "segments": "sampled", "ci": 0.9}
    table = kind.rows(call(kind, df, **asked))
    assert table["level"].to_list() == ["segment"] * count + ["pooled", "macro_sampled"]
    mean = frame_prc.average(df, "truth", "score", by="query", over="query", ci=0.9, details=True)
    names = ["n", "n_pos", "average_precision", "std_error", "ci_low", "ci_high", "n_undefined"]
    sampled = table.tail(1)
    assert_frame_equal(
        sampled[names], mean[names], rel_tol=1e-12, abs_tol=0, check_dtypes=kind.name != "pandas"
    )
    assert sampled["status"].to_list() == ["few_segments" if count < 6 else "ok"]
    fixed = kind.rows(call(kind, df, **{**asked, "segments": "fixed"}))
    assert_frame_equal(fixed[:-1], table[:-1])
    same = ["average_precision", "lift", "gain", "best_f1", "n_undefined"]
    assert_frame_equal(fixed.tail(1)[same], sampled[same])


@every_kind
def test_a_mean_without_interval_says_that_a_segment_has_no_standard_error(kind):
    asked = {"by": "query", "overall": True}
    lacking = kind.rows(call(kind, queries(30, with_one_positive=True), **asked)).row(
        -1, named=True
    )
    assert (lacking["level"], lacking["status"]) == ("macro", "no_std_error")
    assert (lacking["std_error"], lacking["ci_low"], lacking["ci_high"]) == (None,) * 3
    assert lacking["average_precision"] is not None
    complete = kind.rows(call(kind, queries(30, with_one_positive=False), **asked))
    assert complete["status"][-1] == "ok"
    assert complete["std_error"][-1] > 0
    # Where every average precision is 1, so is their mean, and its limits are exact.
    score = pl.col("truth").cast(pl.Float64) + pl.int_range(pl.len()) / 10_000
    perfect = queries(30, with_one_positive=True).with_columns(score=score)
    best = kind.rows(call(kind, perfect, **asked)).row(-1, named=True)
    assert (best["status"], best["ci_high"]) == ("ok", 1.0)


@pytest.mark.parametrize(("segments", "status"), [(6, "ok"), (60, "few_positives")])
def test_the_bias_of_small_segments_is_said_where_it_is_much_beside_the_error(segments, status):
    """The more segments there are the smaller is the error of their mean, and not the bias."""
    row = np.arange(500 * segments)
    late = row % 50 < 1
    score = np.random.default_rng(2).normal(size=len(row)) + 1.5 * late
    frame = pl.DataFrame({"site": row // 500, "late": late, "score": score})
    table = frame_prc.summary(frame, "late", "score", by="site", overall=True)
    assert table.filter(level="macro")["status"].item() == status
