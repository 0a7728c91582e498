"""Inside DuckDB and Spark: the same rows as in Polars."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import engine_kinds
import polars as pl
import pytest
from engine_cases import HOLES, INFINITY, NAN, ROWS, VERBS, assert_same, every_verb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import BY, FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc

pytestmark = engine_kinds.WARNINGS


# Where the lack of ranges could change a number; all else is shown in ranges, which is more.
every_engine = engine_kinds.on_engines("DuckDB", "Spark", "Spark in ranges", *engine_kinds.IBIS)
# SQLite has floats of 64 bits alone, and may have no room for the bounds of binned areas.
but_sqlite = engine_kinds.on_engines("DuckDB", "Spark in ranges", "Ibis on PostgreSQL")


@every_engine
@every_verb
@pytest.mark.parametrize(
    ("by", "weight"), [(None, None), ("segment", "weight"), (["segment", "week"], None)], ids=str
)
def test_segments_are_those_of_polars(kind, verb, by, weight):
    assert_same(kind, verb, ROWS, "truth", "score", by=by, weight=weight)


@every_verb
def test_several_models_are_those_of_polars(kind, verb):
    models = {"old": "score", "it's new": "other"}
    assert_same(kind, verb, ROWS, "truth", models, by="segment", weight="weight")


@every_verb
@pytest.mark.parametrize("missing", ["drop", "unretrieved"])
def test_missing_values_are_treated_as_by_polars(kind, verb, missing):
    df = HOLES if missing == "drop" else HOLES.filter(pl.col("truth").is_not_null())
    assert_same(kind, verb, df, "truth", ["score", "other"], by="segment", missing=missing)


@every_verb
def test_a_label_may_be_the_positive_class(kind, verb):
    assert_same(kind, verb, ROWS, "label", "score", by="segment", pos_label="yes")


@every_verb
def test_counts_go_on_into_every_verb(kind, verb):
    assert_same(kind, verb, ROWS, score="score", pos="hits", neg="misses", by="segment")


@every_verb
def test_no_rows_are_no_rows(kind, verb):
    assert_same(kind, verb, ROWS.clear(), "truth", "score")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        {"start": "first", "keep": "corners"},
        {"start": None, "envelope": True},
        {"thresholds": [0.1, 0.3], "keep": "corners", "envelope": True},
        {"thresholds": [n / 199 for n in range(200)], "start": None},
        {"thresholds": [0.1, 0.3, 7.0, 8.0], "start": "first", "keep": "corners"},
    ],
    ids=["first", "envelope", "bins", "many bins", "bins above the scores"],
)
def test_curves_have_their_options(kind, options):
    df = HOLES.filter(pl.col("truth").is_not_null())
    common = {"by": "segment", "missing": "unretrieved"}
    assert_same(kind, frame_prc.curve, df, "truth", "score", **common, **options)


@pytest.mark.parametrize(
    ("df", "models", "options"),
    [
        (ROWS, ["score", "other"], {"weight": "weight", "thresholds": [-INFINITY, 0.0, 0.2, 0.4]}),
        (HOLES, "score", {"missing": "drop", "thresholds": [0, 0.1, 0.25]}),
        (
            HOLES.filter(pl.col("truth").is_not_null()).cast({"score": pl.Float32}),
            "score",
            {"missing": "unretrieved", "thresholds": 11},
        ),
        (ROWS, "score", {"thresholds": [0.1, 0.25], "weight": "weight"}),
    ],
    ids=["weights", "dropped", "never retrieved", "below all"],
)
def test_counts_may_be_binned(kind, df, models, options):
    assert_same(kind, frame_prc.counts, df, "truth", models, by="segment", **options)


def test_narrow_scores_are_held_to_thresholds_as_narrow(kind):
    scores = pl.Series([n / 10 for n in range(11)], dtype=pl.Float32)
    df = pl.DataFrame({"truth": [True, False] * 5 + [True], "score": scores})
    assert_same(kind, frame_prc.counts, df, "truth", "score", thresholds=11)
    assert_same(kind, frame_prc.curve, df, "truth", "score", thresholds=11)


@but_sqlite
@every_verb
@pytest.mark.parametrize("thresholds", [[0.0, 0.1, 0.1 + 1e-10], [-0.0, 1e-310, 0.1]], ids=str)
def test_thresholds_that_are_one_in_the_dtype_of_the_score_are_merged(kind, verb, thresholds):
    scores = pl.Series([0.1, 0.0, 0.4, -0.0, 0.1], dtype=pl.Float32)
    df = pl.DataFrame({"truth": [True, False, True, True, False], "score": scores})
    found, expected = (
        kind.rows(verb(kind.make(df), "truth", "score", thresholds=at))
        for at in (thresholds, [0.0, 0.1])
    )
    assert_frame_equal(found, expected)
    if "threshold" in found.columns:
        assert found["threshold"].is_duplicated().sum() == 0
        assert "-0.0" not in map(str, found["threshold"])


def test_what_is_dropped_need_not_be_in_a_bin(kind):
    df = pl.DataFrame({"truth": [True, None, False], "score": [5.0, -1.0, 4.0]})
    asked = {"missing": "drop", "thresholds": [3.0]}
    assert_same(kind, frame_prc.counts, df, "truth", "score", **asked)


@every_verb
def test_scores_that_are_no_probabilities_raise_for_a_number_of_thresholds(kind, verb):
    df = pl.DataFrame({"truth": [True, False, None], "score": [0.5, -2.5, 7.0]})
    says = (
        r"'score' has (a|1) row outside 0 to 1: -2.5. Allowed: probabilities where thresholds= is"
    )
    with pytest.raises(Exception, match=says):
        kind.rows(verb(kind.make(df), "truth", "score", thresholds=5, missing="drop"))


@but_sqlite
@every_verb
def test_a_probability_may_be_above_one_by_rounding(kind, verb):
    df = pl.DataFrame({"truth": [True, False, True], "score": [0.0, 1.0000001, 0.5]})

    result = kind.rows(verb(kind.make(df), "truth", "score", thresholds=5))
    assert_frame_equal(result, verb(df, "truth", "score", thresholds=5), rel_tol=1e-12)


@pytest.mark.parametrize(
    "scores",
    [
        pl.Series([0.1, 0.5, 0.1], dtype=pl.Float32),
        pl.Series([2**53, 2**53 + 1, -1], dtype=pl.Int64),
        pl.Series([Decimal("0.10"), Decimal("0.01"), Decimal("0.10")], dtype=pl.Decimal(10, 2)),
    ],
    ids=lambda scores: str(scores.dtype),
)
def test_scores_rank_in_their_own_dtype(kind, scores):
    df = pl.DataFrame({"truth": [1, 0, 1], "score": scores})
    for verb in VERBS:
        assert_same(kind, verb, df, "truth", "score")


@pytest.mark.parametrize(
    "key",
    [
        pl.Series([None, date(2026, 3, 1), date(1969, 12, 31)]),
        pl.Series([None, True, False]),
        pl.Series([0.0, -0.0, NAN]),
    ],
    ids=lambda key: str(key.dtype),
)
def test_keys_keep_their_dtype(kind, key):
    df = pl.DataFrame({"segment": key, "truth": [True, True, False], "score": [1.0, 2.0, 3.0]})
    assert_same(kind, frame_prc.curve, df, "truth", "score", by="segment")


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(df=frames(SCORES_OR_NONE, FLOAT_WEIGHTS), by=BY, options=st.sampled_from(["one", "first"]))
def test_duckdb_equals_polars_on_any_frame(df, by, options):
    kind = engine_kinds.duckdb_kind()
    common = {"by": by, "weight": "weight", "missing": "unretrieved"}
    expected = frame_prc.curve(df, "truth", "score", start=options, **common)
    result = frame_prc.curve(kind.make(df), "truth", "score", start=options, **common)
    # What is left of floats that nearly cancel is rounded, as large as the last digit of the sum.
    assert_frame_equal(kind.rows(result), expected, rel_tol=1e-12, abs_tol=1e-12)
