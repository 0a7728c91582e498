"""Comparisons of models and of segments: against exact arithmetic, in all kinds of frame."""

from __future__ import annotations

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import (
    ROUNDED,
    ROWS,
    TEST,
    assert_test,
    by_definition,
    compared,
    moved_by,
    sums,
)
from hypothesis import given, reject
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, DataError, OptionError

COLUMNS = ["model", "baseline", "n", "n_pos", *TEST, "status"]


# --- exact arithmetic --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("swapped", [False, True])
def test_areas_near_0_and_near_1_are_compared_as_by_exact_arithmetic(kind, swapped):
    df = pl.DataFrame(
        {
            "truth": [False, False, True, True, True],
            "score": [-1.0, -1.0, None, None, -1.0],
            "other": [-1.0, None, -1.0, -1.0, None],
            "weight": [1e-3, 2.0, 2.0, 7.0, 1e-6],
        }
    )
    names = {"score": "other", "other": "score"} if swapped else {}
    assert_difference(kind, df.rename(names), "weight", None)


@every_kind
def test_clusters_that_move_areas_of_different_sizes_are_compared_as_by_exact_arithmetic(kind):
    # One area is of the size 1e-13: what both share is nothing beside the variance of the other.
    df = pl.DataFrame(
        {
            "week": [1, 1, 2, 1],
            "truth": [False, True, True, True],
            "score": [-1.0, -1.0, None, None],
            "other": [-1.0, -1.0, -1.0, None],
            "weight": [1.0, 1e-6, 1.0, 1.0],
        }
    )
    assert_difference(kind, df, "weight", "week")


@every_kind
def test_difference_of_areas_next_to_1_keeps_its_digits(kind):
    df = pl.DataFrame(
        {
            "truth": [False, True, True, True],
            "score": [0, 0, -1, 1],
            "other": [0, 0, 0, 0],
            "weight": [1.0, 1e-6, 24537.0, 74950.0],
        }
    )
    found = compared(kind, df, ("score", "other"), weight="weight")
    (a, _, _), (b, _, _) = (moved_by(df, name) for name in ("other", "score"))
    assert min(a, b) > 0.9999
    assert found["difference"].item() == pytest.approx(float(a - b), rel=1e-14, abs=0)


@every_kind
@pytest.mark.parametrize("weights", [None, FLOAT_WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("cluster", [None, "week"])
@given(st.data())
def test_difference_of_two_models_equals_exact_arithmetic(kind, weights, cluster, data):
    df = data.draw(frames(SCORES_OR_NONE, weights, max_size=10))
    assert_difference(kind, df, None if weights is None else "weight", cluster)


def assert_difference(kind, df, weight, cluster):
    """Show that the later of two models differs, on any rows, as it does by definition."""
    options = {"weight": weight, "cluster": cluster, "missing": "unretrieved"}
    found = compared(kind, df, ("score", "other"), **options).row(0, named=True)
    kept = df.filter(pl.col("weight") > 0) if weight else df
    (a, moves_a, rows), (b, moves_b, _) = (moved_by(kept, name) for name in ("other", "score"))
    clusters = kept["week"].to_list() if cluster else list(range(kept.height))
    defined = a is not None
    effective = oracle.effective_positives(rows, clusters) if defined else 0
    # Rows that cancel inside every cluster leave rounding where exact arithmetic has nothing.
    if defined and any(any(m) and not any(sums(m, clusters).values()) for m in (moves_a, moves_b)):
        reject()
    by_cluster = [sums(moves, clusters) if defined else {} for moves in (moves_a, moves_b)]
    assert found["value_a"] == (None if a is None else pytest.approx(float(a), rel=1e-12))
    assert found["value_b"] == (None if b is None else pytest.approx(float(b), rel=1e-12))
    more = (0.0, 0.0)
    if defined and cluster and not weight:
        sided = [moved_by(kept, name)[2] for name in ("other", "score")]
        more = tuple(oracle.of_squares(one, clusters) for one in sided)
    expected = by_definition(a, b, *by_cluster, effective, more=more)
    assert_test(found, expected, may_be_wider=bool(weight and cluster))


# --- what is compared --------------------------------------------------------------------------


@every_kind
def test_all_pairs_come_in_the_order_of_the_models(kind):
    result = compared(kind, ROWS, ("third", "new", "old"), by="region")
    assert result.columns == ["region", *COLUMNS]
    pairs = [("new", "third"), ("old", "third"), ("old", "new")]
    assert result.select("model", "baseline").rows() == pairs * 3
    areas = frame_prc.average_precision(
        ROWS, "truth", ["third", "new", "old"], by="region", details=True
    )
    by_name = {(r["region"], r["model"]): r for r in areas.iter_rows(named=True)}
    for row in result.iter_rows(named=True):
        for side, name in (("a", "model"), ("b", "baseline")):
            alone = by_name[row["region"], row[name]]
            assert row[f"value_{side}"] == pytest.approx(alone["average_precision"], rel=1e-12)
            assert (row["n"], row["n_pos"]) == (alone["n"], alone["n_pos"])


@every_kind
def test_baseline_is_compared_with_each_other_model(kind):
    result = compared(kind, ROWS, ("third", "new", "old"), by="region", baseline="new")
    pairs = [("third", "new"), ("old", "new")]
    assert result.select("model", "baseline").rows() == pairs * 3
    every = compared(kind, ROWS, ("new", "third", "old"), by="region")
    expected = every.filter(baseline="new")
    assert_frame_equal(result, expected, **ROUNDED)


@every_kind
@given(frames(SCORES_OR_NONE, FLOAT_WEIGHTS))
def test_swapping_the_models_changes_only_the_sign(kind, df):
    options = {"by": "segment", "weight": "weight", "missing": "unretrieved"}
    there = compared(kind, df, ("score", "other"), **options)
    back = compared(kind, df, ("other", "score"), **options)
    mirrored = back.select(
        "segment", model="baseline", baseline="model", n="n", n_pos="n_pos",
        value_a="value_b", value_b="value_a", difference=0 - pl.col("difference"),
        std_error="std_error",
        ci_low=-pl.col("ci_high"), ci_high=-pl.col("ci_low"), p_value="p_value", status="status",
    )  # fmt: skip
    assert_frame_equal(there, mirrored, **ROUNDED)


@every_kind
def test_more_steps_than_rows_leave_each_influence_with_its_row(kind):
    # Each model finds one of two positives, and moves by a quarter in each; so the differences of
    # their influences are a half, in both rows.
    df = pl.DataFrame({"truth": [True, True], "score": [-1.0, None], "other": [None, -1.0]})
    for models in (("score", "other"), ("other", "score")):
        result = compared(kind, df, models, missing="unretrieved")
        assert result["difference"].item() == 0
        assert result["std_error"].item() == pytest.approx(0.5**0.5, rel=1e-14)


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_models_that_rank_alike_do_not_differ(kind, weight):
    df = ROWS.with_columns(same=pl.col("old") * 2 + 1)
    result = compared(kind, df, ("old", "same"), by="region", weight=weight)
    assert result["difference"].to_list() == pytest.approx([0.0] * 3, abs=1e-15)
    assert result.select("std_error", "ci_low", "ci_high", "p_value").rows() == [(None,) * 4] * 3


@every_kind
def test_interval_stays_within_what_a_difference_can_be(kind):
    truth = [1] * 20 + [0] * 60
    df = pl.DataFrame({"truth": truth, "a": range(80, 0, -1), "b": range(80)})
    row = compared(kind, df, ("a", "b"), ci=1 - 1e-15).row(0, named=True)
    assert row["difference"] < -0.8
    assert -1 <= row["ci_low"] < row["difference"] < row["ci_high"]
    row = compared(kind, df, ("b", "a"), ci=1 - 1e-15).row(0, named=True)
    assert row["ci_low"] < row["difference"] < row["ci_high"] <= 1


@every_kind
@pytest.mark.parametrize("against", [None, "rest", "overall"])
def test_clusters_of_one_row_change_nothing(kind, against):
    df = ROWS.with_row_index("row")
    options = {"by": "region", "weight": "weight"} | ({"against": against} if against else {})
    alone = compared(kind, df, ("new", "old"), cluster="row", **options)
    alone = alone.with_columns(pl.col("status").replace("few_clusters", "few_positives"))
    assert_frame_equal(alone, compared(kind, df, ("new", "old"), **options), **ROUNDED)


# --- missing values and sizes ------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_rows_that_lack_a_score_are_dropped_for_all_models(kind, cluster):
    lacks = (pl.col("user") == 2).alias("lacks")
    df = ROWS.with_columns(new=pl.when(~lacks).then("new"))
    options = {"by": "region", "cluster": cluster}
    result = compared(kind, df, missing="drop", **options)
    assert result["n_dropped"].to_list() == [1, 2, 0]
    expected = compared(kind, ROWS.filter(~lacks), **options)
    assert_frame_equal(result.drop("n_dropped"), expected, **ROUNDED)


@every_kind
def test_a_segment_that_loses_all_rows_is_empty(kind):
    df = ROWS.with_columns(new=pl.when(pl.col("region") == "n").then("new"))
    result = compared(kind, df, by="region", missing="drop")
    found = result.select("region", "n", "difference", "status", "n_dropped").rows()
    assert found[0] == (None, 0, None, "empty", 3)
    assert found[2] == ("s", 0, None, "empty", 6)
    assert found[1][3:] == ("few_positives", 0)


STATUSES = {
    "ok": ([1, 0] * 20, "ok"),
    "few": ([1, 0] * 19, "few_positives"),
    "no positives": ([0, 0], "no_positives"),
    "no negatives": ([1, 1], "no_negatives"),
    "one positive": ([1, 0], "few_positives"),
}


@every_kind
@pytest.mark.parametrize(("truth", "status"), STATUSES.values(), ids=STATUSES)
def test_status_is_that_of_the_segment(kind, truth, status):
    places = range(len(truth))
    df = pl.DataFrame(
        {
            "truth": truth,
            "old": [(7 * i) % 40 for i in places],
            "new": [(3 * i) % 40 for i in places],
        }
    )
    result = compared(kind, df)
    assert result["status"].to_list() == [status]
    assert result["p_value"].null_count() == (status != "ok" and len(truth) == 2)


# --- errors ------------------------------------------------------------------------------------


WRONG = {
    "one model": ({"score": "old"}, OptionError, "score= names one model.*two or more"),
    "one model in a list": ({"score": ["old"]}, OptionError, "score= names one model"),
    "model twice": ({"score": ["old", "old"]}, OptionError, "score= names 'old' twice"),
    "baseline": ({"baseline": "odl"}, OptionError, "baseline='odl' is not a model.*'new', 'old'"),
    "level": ({"ci": 1}, OptionError, "ci=1 is not a level"),
    "adjust": ({"adjust": "bonferroni"}, OptionError, "adjust='bonferroni' is not an option"),
    "against": ({"against": "all"}, OptionError, "against='all' is not an option"),
    "against without by": ({"against": "rest"}, OptionError, "against='rest' is given without by="),
    "key named like a column": (
        {"by": pl.col("region").alias("p_value")},
        ColumnError,
        "key 'p_value' in by= is named like a column of the result",
    ),
    "key named like a column that a column needs": (
        {"by": pl.col("region").alias("measure"), "adjust": "holm"},
        ColumnError,
        "key 'measure' in by= is named like a column of the result",
    ),
    "no truth": ({"truth": None}, OptionError, "truth= is not given"),
}


@every_kind
@pytest.mark.parametrize(("options", "error", "says"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_said_at_the_call(kind, options, error, says):
    asked = {"truth": "truth", "score": ["new", "old"], **options}
    verb = frame_prc.compare_segments if "against" in options else frame_prc.compare_models
    with pytest.raises(error, match=says):
        verb(kind.make(ROWS), **asked)


@every_kind
@pytest.mark.parametrize("against", [None, "rest"])
@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"new": None}, "values are missing: 'new' has 15 rows"),
        ({"user": None}, "cluster= column 'user' has 15 rows with null"),
        ({"truth": 2}, "truth= column 'truth' has 15 rows outside 0 and 1"),
        ({"weight": -1.0}, "weight= column 'weight' has 16 rows with -1.0"),
    ],
    ids=str,
)
def test_bad_values_raise(kind, against, column, says):
    names = {name: pl.lit(value, dtype=ROWS.schema[name]) for name, value in column.items()}
    # One row has a weight of 0, and may hold anything.
    asked = {"by": "region", "weight": "weight", "cluster": "user"} | (
        {"against": against} if against else {}
    )
    with pytest.raises(DataError, match=says):
        compared(kind, ROWS.with_columns(**names), **asked)


# --- decisions -----------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("measure", "few"), [("balanced_accuracy", True), ("mcc", True), ("accuracy", False)]
)
def test_what_differs_in_one_class_alone_tells_nothing_of_the_other(kind, measure, few):
    # Of 40 positives none is decided differently, by chance; of 1,960 negatives 40 are.
    place = pl.int_range(pl.len())
    df = pl.DataFrame({"truth": [True] * 40 + [False] * 1960}).with_columns(
        one=pl.when((place < 30) | place.is_between(100, 199)).then(0.9).otherwise(0.1),
        other=pl.when((place < 30) | place.is_between(140, 239)).then(0.9).otherwise(0.1),
    )
    df = df.with_columns(pl.col("one", "other") + place * 1e-6)
    asked = {"measure": measure, "at": {"threshold": 0.5}}
    found = frame_prc.compare_models(kind.make(df), "truth", ["one", "other"], **asked)
    assert kind.rows(found)["status"].item() == ("few_rows" if few else "ok")


@every_kind
def test_rows_that_weigh_differently_are_no_fewer_than_their_number(kind):
    """Clusters of one row are the same independent rows: only rows are asked how many decide."""
    random = np.random.default_rng(0)
    late = random.random(800) < 0.3
    common = random.normal(size=800) + 1.2 * late
    scores = {name: common + random.normal(size=800) * 0.5 for name in ("new", "old")}
    weight = random.gamma(3, 1 / 3, 800)
    df = kind.make(pl.DataFrame({"late": late, **scores, "weight": weight, "row": range(800)}))
    at = {"measure": "precision", "at": {"threshold": 0.5}, "weight": "weight"}
    tables = [
        kind.rows(frame_prc.compare_models(df, "late", ["new", "old"], **at, **cluster))
        for cluster in ({}, {"cluster": "row"})
    ]
    assert_frame_equal(*tables)
    assert tables[0]["status"].item() == "ok"
