"""The columns and thresholds a curve gets on request: gains, calibration, bins; and iso lines."""

from __future__ import annotations

from fractions import Fraction

import oracle
import polars as pl
import published
import pytest
from exact import segments, table
from hypothesis import given
from hypothesis import strategies as st
from kinds import assert_rows, every_kind
from polars.testing import assert_frame_equal
from strategies import BY, DYADIC_WEIGHTS, SCORES, SCORES_OR_NONE, frames

import frame_prc

INFINITY = float("inf")
# A gain subtracts a ratio from 1, which may leave next to nothing.
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-12}
COUNTS = ["tp", "fp", "fn", "tn"]

exact_weights = pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"]
)


def call(kind, df, **options):
    weight = "weight" if "weight" in df.columns else None
    return frame_prc.curve(kind.make(df), "truth", "score", weight=weight, **options)


def exact_columns(df, by, columns, points=oracle.curve):
    """Return what columns, functions of a point and its totals, have at every point."""
    records = (
        (*key, *(column(point, *oracle.totals(rows)) for column in columns.values()))
        for key, rows in segments(df, by).items()
        for point in points(rows)
    )
    return table(df, by, records, dict.fromkeys(columns, pl.Float64))


# --- gains ----------------------------------------------------------------------------


def precision_gain(point, positives, negatives):
    return 1 - positives / negatives * point.fp / point.tp if point.tp and negatives else None


def recall_gain(point, positives, negatives):
    return 1 - positives / negatives * point.fn / point.tp if point.tp and negatives else None


GAINS = {"precision_gain": precision_gain, "recall_gain": recall_gain}


@every_kind
@exact_weights
@given(st.data(), BY)
def test_gains_equal_exact_arithmetic(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = call(kind, df, by=by, start=None, gain=True, missing="unretrieved")
    exact = exact_columns(df, by, GAINS)
    assert_rows(kind, kind.make(kind.rows(result).select(exact.columns)), exact, **ROUNDED)


@every_kind
def test_gains_of_the_sources_example(kind):
    # Flach & Kull 2015, NIPS: with (x - prevalence) / ((1 - prevalence) x) 1 stays 1, and the
    # prevalence, what calling every row positive gives, becomes 0.
    df = published.RUNS
    curve = kind.rows(call(kind, df, gain=True, start="one"))
    prevalence = df["truth"].mean()
    for name in ("precision", "recall"):
        x = pl.col(name)
        gain = (x - prevalence) / ((1 - prevalence) * x)
        expected = curve.select(pl.when(pl.col("tp") > 0).then(gain)).to_series().to_list()
        assert curve[f"{name}_gain"].to_list() == [
            x if x is None else pytest.approx(x, rel=1e-12, abs=1e-12) for x in expected
        ]
    assert curve["precision_gain"][1] == curve["recall_gain"][-1] == 1
    assert curve["precision_gain"][-1] == pytest.approx(0, abs=1e-12)


# --- calibration ----------------------------------------------------------------------


@every_kind
def test_an_interval_at_another_prevalence_leaves_undefined_rates_null(kind):
    df = pl.DataFrame({"segment": ["a", "a", "b"], "truth": [0, 0, 1], "score": [1.0, 1.0, 2.0]})
    plain, there = (
        kind.rows(call(kind, df, by="segment", **asked))
        for asked in ({}, {"calibrate": 0.1, "ci": 0.9})
    )
    assert_frame_equal(there.select(plain.columns), plain)
    assert plain["recall"].null_count() == 2


def calibrated(prevalence):
    """Return the formula of Siblini et al. 2020, arXiv 1909.02827, equation 4."""
    odds = (1 - Fraction(prevalence)) / Fraction(prevalence)

    def column(point, positives, negatives):
        if point.fp == 0:
            return Fraction(1)
        if not positives or not negatives:
            return None
        return point.tp / (point.tp + positives / negatives * odds * point.fp)

    return column


@every_kind
@exact_weights
@given(st.data(), BY, st.sampled_from([0.5, 0.1, 1e-6, 0.999]))
def test_calibrated_precision_equals_exact_arithmetic(kind, weights, data, by, prevalence):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = call(kind, df, by=by, start=None, calibrate=prevalence, missing="unretrieved")
    exact = exact_columns(df, by, {"precision_calibrated": calibrated(prevalence)})
    assert_rows(kind, kind.make(kind.rows(result).select(exact.columns)), exact, **ROUNDED)


# --- thresholds -----------------------------------------------------------------------


LEVELS = [-0.5, 0.0, 0.25, 0.3, 2.0]


@every_kind
@exact_weights
@given(st.data(), BY)
def test_binned_curve_counts_what_reaches_each_threshold(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    options = {"start": None, "thresholds": LEVELS, "missing": "unretrieved"}
    amount = pl.Int64 if weights is None else pl.Float64
    records = (
        (*key, *point)
        for key, rows in segments(df, by).items()
        for point in (oracle.curve_at(rows, LEVELS) if rows else [])
    )
    schema = {"threshold": pl.Float64, **dict.fromkeys(COUNTS, amount)}
    expected = table(df, by, records, schema | {"precision": pl.Float64, "recall": pl.Float64})
    assert_rows(kind, call(kind, df, by=by, **options), expected)


@every_kind
@given(frames(st.floats(0, 1)), st.sampled_from([2, 3, 11]))
def test_a_number_of_thresholds_is_so_many_from_0_to_1_in_every_segment(kind, df, number):
    curve = kind.rows(call(kind, df, by="segment", start=None, thresholds=number))
    spaced = [(number - 1 - place) / (number - 1) for place in range(number)]
    found = curve.group_by("segment", maintain_order=True).agg("threshold")
    assert found["threshold"].to_list() == [spaced] * df["segment"].n_unique()
    at = zip(curve["segment"], curve["threshold"], curve["tp"], curve["fp"], strict=True)
    for segment, threshold, tp, fp in at:
        reached = df.filter(pl.col("segment").eq_missing(segment), pl.col("score") >= threshold)
        assert (tp, tp + fp) == (reached["truth"].sum(), reached.height)


@every_kind
@pytest.mark.parametrize(("start", "opening"), [("one", 1.0), ("first", 0.5)])
def test_start_of_a_binned_curve_whose_highest_thresholds_no_score_reaches(kind, start, opening):
    df = pl.DataFrame({"truth": [1, 0, 0], "score": [0.6, 0.6, 0.1]})
    curve = kind.rows(
        call(kind, df, start=start, thresholds=[0, 0.5, 0.9, 1], envelope=True, calibrate=1 / 3)
    )
    assert curve["threshold"].to_list() == [INFINITY, 1, 0.9, 0.5, 0]
    # The first real point is the first that retrieves a row.
    assert curve["precision"].to_list() == [opening, None, None, 1 / 2, 1 / 3]
    assert curve["envelope"].to_list() == [opening, *[1 / 2] * 3, 1 / 3]
    assert curve["precision_calibrated"][0] == opening


@every_kind
@given(frames(SCORES), st.sampled_from(["one", "first", None]))
def test_columns_are_never_not_a_number(kind, df, start):
    columns = {"envelope": True, "gain": True, "calibrate": 0.5}
    thresholds = [-INFINITY, 0.0, 0.25, 0.5, 1.0]
    curve = kind.rows(call(kind, df, by="segment", thresholds=thresholds, start=start, **columns))
    floats = curve.select(pl.selectors.float())
    assert not floats.select(pl.any_horizontal(pl.all().is_nan().any())).item()


# --- lines of equal F1 ----------------------------------------------------------------


def test_every_point_of_an_iso_line_has_its_f1():
    lines = frame_prc.iso_f1([0.2, 0.5, 0.9], points=7)
    f, precision, recall = (lines[name] for name in ("f_score", "precision", "recall"))
    assert lines.schema == dict.fromkeys(["f_score", "recall", "precision"], pl.Float64)
    assert f.to_list() == [0.2] * 7 + [0.5] * 7 + [0.9] * 7
    f1 = 2 * precision * recall / (precision + recall)
    assert f1.to_list() == pytest.approx(f.to_list(), rel=1e-12, abs=0)


def test_an_iso_line_leads_from_precision_1_to_recall_1_in_equal_steps():
    for (f,), line in frame_prc.iso_f1(points=5).group_by("f_score"):
        assert line["precision"][0] == pytest.approx(1, rel=1e-12)
        assert line["recall"][0] == pytest.approx(f / (2 - f), rel=1e-12)
        assert line["recall"][-1] == 1
        steps = line["recall"].diff().drop_nulls().to_list()
        assert steps == pytest.approx([(1 - f / (2 - f)) / 4] * 4, rel=1e-12)


def test_iso_lines_are_those_of_scikit_learns_example_unless_told_otherwise():
    lines = frame_prc.iso_f1()
    assert lines["f_score"].unique().sort().to_list() == [0.2, 0.4, 0.6, 0.8]
    assert lines.height == 4 * 101


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"f_scores": [0.5, 0]}, r"f_scores= holds 0\b.*between 0 and 1"),
        ({"f_scores": [1]}, "f_scores= holds 1"),
        ({"f_scores": [float("nan")]}, "f_scores= holds nan"),
        ({"f_scores": ["0.5"]}, "f_scores= holds '0.5'"),
        ({"points": 1}, "points=1 do not make a line.*from 2 to 10001"),
        ({"points": 2.5}, "points=2.5"),
    ],
    ids=str,
)
def test_iso_lines_that_cannot_be_drawn_are_refused(asked, says):
    with pytest.raises(frame_prc.OptionError, match=says):
        frame_prc.iso_f1(**asked)
