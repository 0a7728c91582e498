"""Thresholds chosen on some rows and held to others: by a frame, or by a column of the rows."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import SCORES_OR_NONE, TIED_SCORES, frames

import frame_prc
from frame_prc import ColumnError, DataError, OptionError, PrcError

THRESHOLDS = pl.DataFrame(
    {"segment": ["a", None], "threshold": [0.5, 0.0]}, schema={"segment": str, "threshold": float}
)
TRAIN = pl.DataFrame(
    {
        "region": ["n", "n", "n", "s", "s", "s"],
        "late": [1, 0, 1, 1, 0, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
    }
)
TEST = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s", "w"],
        "late": [1, 1, 0, 1, 1],
        "score": [0.75, 0.65, 0.6, 0.5, 0.9],
    }
)
COUNTS = ["tp", "fp", "fn", "tn"]


def held(kind, df, threshold, truth="late", **options):
    options = {"by": "region", **options}
    found = frame_prc.operating_points(
        kind.make(df), truth, "score", threshold=threshold, **options, details=True
    )
    return kind.rows(found)


def by_definition(rows, threshold):
    """Return the counts of rows at a threshold; without one, nulls."""
    if threshold is None:
        return (None,) * 4
    predicted = [row.score is not None and row.score >= threshold for row in rows]
    pairs = [(row.truth, is_predicted) for row, is_predicted in zip(rows, predicted, strict=True)]
    return tuple(pairs.count(one) for one in [(1, 1), (0, 1), (1, 0), (0, 0)])


# --- frames ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("given_as", ["DataFrame", "LazyFrame", "pandas"])
@given(frames(SCORES_OR_NONE))
def test_counts_are_those_of_the_rows_that_reach_their_segments_threshold(kind, given_as, df):
    table = {
        "DataFrame": THRESHOLDS,
        "LazyFrame": THRESHOLDS.lazy(),
        "pandas": THRESHOLDS.to_pandas(),
    }[given_as]
    found = held(kind, df, table, "truth", by="segment", missing="unretrieved")
    known = dict(THRESHOLDS.rows())
    expected = {
        segment: by_definition(rows, known.get(segment))
        for (segment,), rows in segments(df, "segment").items()
    }
    assert dict(zip(found["segment"], found.select(COUNTS).rows(), strict=True)) == expected


@every_kind
@pytest.mark.parametrize("details", [False, True])
def test_what_was_chosen_on_other_rows_keeps_its_target(kind, details):
    chosen = frame_prc.operating_points(
        kind.make(TRAIN), "late", "score", by="region", recall=[0.5, 1.0], details=details
    )
    found = held(kind, TEST, chosen)
    columns = ["region", "target", "criterion", "target_value", "threshold", *COUNTS, "status"]
    assert found.select(columns).rows() == [
        ("n", "recall=0.5", "recall", 0.5, 0.9, 0, 0, 2, 0, "no_negatives"),
        ("n", "recall=1", "recall", 1.0, 0.7, 1, 0, 1, 0, "no_negatives"),
        ("s", "recall=0.5", "recall", 0.5, 0.6, 0, 1, 1, 0, "missed"),
        ("s", "recall=1", "recall", 1.0, 0.6, 0, 1, 1, 0, "missed"),
        ("w", "threshold", "threshold", None, None, None, None, None, None, "no_threshold"),
    ]


@every_kind
def test_a_target_that_is_missed_on_new_rows_says_so(kind):
    rows = pl.DataFrame({"late": [1, 0] * 100, "score": [k / 200 for k in range(200, 0, -1)]})
    asked = {"recall": 0.5, "precision": 0.5, "fpr": 0.1, "predicted_rate": 0.3, "f_beta": 1}
    chosen = frame_prc.operating_points(rows, "late", "score", **asked)
    same = frame_prc.operating_points(kind.make(rows), "late", "score", threshold=chosen)
    assert kind.rows(same)["status"].to_list() == ["ok"] * 5
    # Every tenth positive is lost among the lowest, and negatives score higher.
    worse = rows.with_columns(
        score=pl.when(pl.col("late") == 0)
        .then(pl.col("score") + 0.1)
        .when(pl.int_range(pl.len()) % 20 == 0)
        .then(0.0)
        .otherwise("score")
    )
    for ci in (None, 0.95):
        asked = {"threshold": chosen, "ci": ci}
        found = kind.rows(frame_prc.operating_points(kind.make(worse), "late", "score", **asked))
        statuses = dict(found.select("target", "status").rows())
        assert statuses.pop("f_beta=1") == "ok"
        assert set(statuses.values()) == {"missed"}, statuses
        # Also of few rows, none of which reaches the threshold, so that they have no precision.
        few = worse.head(30).with_columns(score=pl.col("score") / 100)
        found = kind.rows(frame_prc.operating_points(kind.make(few), "late", "score", **asked))
        points = found.select("target", "precision", "recall", "status").rows()
        assert ("recall=0.5", None, 0.0, "missed") in points


@every_kind
@pytest.mark.parametrize("details", [False, True])
def test_the_expected_cost_is_that_of_the_rows_that_thresholds_are_held_to(kind, details):
    wanted = {"recall": 1, "cost": [(1, 10), (2.5, 1)]}
    chosen = frame_prc.operating_points(
        kind.make(TRAIN), "late", "score", by="region", **wanted, details=details
    )
    found = held(kind, TEST, chosen).filter(pl.col("region") != "w")
    # Each region has two rows.
    costs = {
        "cost=(1, 10)": lambda fp, fn: (fp + 10 * fn) / 2,
        "cost=(2.5, 1)": lambda fp, fn: (2.5 * fp + fn) / 2,
        "recall=1": lambda *_: None,
    }
    points = found.select("target", "fp", "fn").rows()
    assert [point[1:] for point in points] == [(0, 1), (0, 1), (0, 2), (1, 1), (1, 1), (1, 1)]
    assert found["expected_cost"].to_list() == [costs[target](*ns) for target, *ns in points]
    shares = {"cost=(1, 10)": 1 / 11, "cost=(2.5, 1)": 2.5 / 3.5, "recall=1": 1.0}
    assert found["target_value"].to_list() == [shares[target] for target, *_ in points]


@every_kind
def test_thresholds_by_some_of_the_keys_serve_all_segments_that_have_them(kind):
    weeks = pl.concat([TEST.with_columns(week=week) for week in (1, 2)])
    chosen = TRAIN.prc.operating_points("late", "score", by="region", f_beta=1, details=True)
    alone = held(kind, TEST, chosen).drop("region")
    found = held(kind, weeks, chosen, by=["week", "region"])
    for week in (1, 2):
        assert_frame_equal(found.filter(week=week).drop("week", "region"), alone)
    for_all = held(kind, TEST, pl.DataFrame({"threshold": [0.6]}))
    assert for_all.select("region", "tp").rows() == [("n", 2), ("s", 0), ("w", 1)]


@every_kind
def test_models_are_held_to_their_own_thresholds(kind):
    models = {"plain": "score", "doubled": pl.col("score") * 2}
    chosen = frame_prc.operating_points(TRAIN, "late", models, by="region", recall=1, details=True)
    found = frame_prc.operating_points(
        kind.make(TEST), "late", models, by="region", threshold=chosen, details=True
    )
    rows = kind.rows(found).select("model", "region", "threshold", "tp").rows()
    assert rows == [
        ("doubled", "n", 1.4, 1),
        ("doubled", "s", 1.2, 0),
        ("doubled", "w", None, None),
        ("plain", "n", 0.7, 1),
        ("plain", "s", 0.6, 0),
        ("plain", "w", None, None),
    ]


@every_kind
def test_targets_of_these_rows_come_before_given_thresholds(kind):
    chosen = pl.DataFrame({"region": ["n", "s"], "threshold": [0.7, None]})
    found = held(kind, TEST, chosen, precision=1.0)
    assert found.select("region", "criterion", "threshold", "status").rows() == [
        ("n", "precision", 0.65, "no_negatives"),
        ("n", "threshold", 0.7, "no_negatives"),
        ("s", "precision", None, "not_met"),
        ("s", "threshold", None, "no_threshold"),
        ("w", "precision", 0.9, "no_negatives"),
        ("w", "threshold", None, "no_threshold"),
    ]


@every_kind
@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt64, pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Categorical]
)
def test_keys_of_any_dtype_find_their_thresholds(kind, dtype):
    values = [date(2026, 1, 1), None] if dtype == pl.Date else [1, None]
    keys = pl.Series("region", values).cast(pl.String if dtype == pl.Categorical else dtype)
    df = pl.DataFrame({"region": keys.cast(dtype), "late": [1, 1], "score": [0.5, 0.5]})
    table = df.select("region", threshold=pl.Series([0.5, 0.6]))
    found = held(kind, df, kind.make(table) if kind.name == "pandas" else table)
    known = {row["region"]: row["tp"] for row in found.iter_rows(named=True)}
    assert sorted(known.values()) == [0, 1]
    assert known[None] == 0


@every_polars_kind
def test_integer_keys_of_other_sizes_are_the_same_keys(kind):
    df = TEST.with_columns(region=pl.lit(7, pl.Int8))
    table = pl.DataFrame({"region": [7, 2**40], "threshold": [0.6, 0.1]})
    assert held(kind, df, table)["tp"].to_list() == [3]
    beyond = TEST.with_columns(region=pl.lit(2**63, pl.UInt64))
    assert held(kind, beyond, table)["status"].to_list() == ["no_threshold"]


def test_keys_that_pandas_turned_into_floats_are_the_same_keys():
    table = pl.DataFrame({"region": [7], "threshold": [0.6]}).to_pandas()
    rows = TEST.with_columns(region=pl.Series([7, 7, 7, None, 7])).to_pandas()
    assert rows["region"].dtype == float
    found = frame_prc.operating_points(rows, "late", "score", by="region", threshold=table)
    assert found["status"].to_list() == ["no_threshold", "ok"]


@every_kind
def test_segments_without_rows_here_are_not_in_the_result(kind):
    found = held(
        kind,
        TEST.filter(region="n"),
        TRAIN.prc.operating_points("late", "score", by="region", recall=1),
    )
    assert found["region"].to_list() == ["n"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pl.DataFrame({"region": ["n"]}), ["without a column 'threshold'"]),
        (pl.DataFrame({"region": ["n"], "threshold": ["x"]}), ["dtype String", "numeric"]),
        (
            pl.DataFrame({"region": ["n"], "week": [1], "threshold": [0.1]}),
            ["'week'", "not a key", "drop it"],
        ),
        (
            pl.DataFrame({"region": ["n"], "threshold": [0.1], "target": [0.5]}),
            ["'target'", "dtype Float64", "'recall=0.9'"],
        ),
        (
            pl.DataFrame({"region": ["n"], "threshold": [0.1], "target_value": ["x"]}),
            ["'target_value'", "dtype String"],
        ),
        (
            pl.DataFrame({"grouping": ["region"], "region": ["n"], "threshold": [0.1]}),
            ["'grouping'", "one grouping"],
        ),
        (
            pl.DataFrame({"region": [1], "threshold": [0.1]}),
            ["key 'region'", "String", "Int64", "cast"],
        ),
    ],
    ids=[
        "no threshold",
        "text",
        "unknown key",
        "target",
        "target value",
        "groupings",
        "other dtype",
    ],
)
@every_polars_kind
def test_frames_that_do_not_fit_are_refused_at_the_call(kind, table, words):
    with pytest.raises(ColumnError) as caught:
        frame_prc.operating_points(
            kind.make(TEST), "late", "score", by="region", threshold=table, details=True
        )
    assert all(word in str(caught.value) for word in words), caught.value


@every_kind
@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("given_as", ["DataFrame", "LazyFrame", "pandas"])
@pytest.mark.parametrize("ascending", [False, True])
def test_thresholds_are_not_held_to_scores_in_the_other_direction(
    kind, details, given_as, ascending
):
    asked = {"by": "region", "recall": 1, "details": details}
    chosen = frame_prc.operating_points(TRAIN, "late", "score", ascending=ascending, **asked)
    given = {
        "DataFrame": chosen,
        "LazyFrame": chosen.lazy(),
        "pandas": chosen.to_pandas(),
    }[given_as]
    same = held(kind, TRAIN, given, ascending=ascending)
    assert same["recall"].to_list() == [1.0, 1.0]
    says = f"chosen with ascending={ascending}, and this call has ascending={not ascending}"
    with pytest.raises((DataError, OptionError), match=says):
        held(kind, TRAIN, given, ascending=not ascending)


# --- columns -----------------------------------------------------------------------------------


@every_kind
@given(frames(TIED_SCORES), st.sampled_from(["limit", "expression"]))
def test_a_column_gives_each_segment_its_own_threshold(kind, df, given_as):
    limit = pl.when(pl.col("segment") == "a").then(0.5).when(pl.col("segment") == "b").then(0.0)
    threshold = "limit" if given_as == "limit" else pl.col("limit") * 1
    df = df.with_columns(limit=limit)
    found = held(kind, df, threshold, "truth", by=["segment", "week"])
    table = df.select("segment", "week", threshold="limit").unique()
    assert_frame_equal(found, held(kind, df, table, "truth", by=["segment", "week"]))


@every_kind
def test_a_column_that_varies_within_a_segment_is_an_error(kind):
    df = TEST.with_columns(limit=pl.Series([0.1, 0.2, 0.5, None, 0.3]))
    with pytest.raises(
        DataError, match=r"'limit' has several values.* in 2 segments: from 0\.1 to 0\.5"
    ):
        held(kind, df, "limit")


# --- measures at them ----------------------------------------------------------------------------


def _compared():
    """Return rows of segments of two models, and thresholds of theirs that other rows chose."""
    random, n = np.random.default_rng(3), 480
    truth = random.random(2 * n) < 0.4
    scores = random.normal(size=(2, 2 * n)) + [[1.5], [1.0]] * truth
    names = {"segment": np.arange(2 * n) % 4, "day": np.arange(2 * n) % 41}
    df = pl.DataFrame({"truth": truth, "new": scores[0], "old": scores[1], **names})
    df = df.with_columns(weight=pl.col("day") % 3 + 0.5)
    before, after = df.head(n), df.tail(n)
    return after, before.prc.operating_points("truth", ["old", "new"], by="segment", recall=0.8)


ROWS, CHOSEN = _compared()
OWN = CHOSEN.filter(model="new").drop("model")
IN_ONE = CHOSEN.select("model", "segment", "threshold").pivot("model", index="segment")
MODELS, MEASURES = ["old", "new"], ["recall", "precision", "mcc", "balanced_accuracy"]
# What reaches the threshold of its segment and model, as a score.
DECIDED = ROWS.join(
    IN_ONE.rename({name: f"at {name}" for name in MODELS}), on="segment", maintain_order="left"
).with_columns((pl.col(name) >= pl.col(f"at {name}")).cast(pl.Int8) for name in MODELS)


@every_kind
@pytest.mark.parametrize("roles", [{}, {"cluster": "day"}, {"weight": "weight"}], ids=str)
def test_measures_of_a_segment_are_those_at_its_own_threshold(kind, roles):
    asked = {"by": "segment", "measures": MEASURES, **roles}
    found = frame_prc.summary(kind.make(ROWS), "truth", "new", at=OWN, **asked)
    one_by_one = [
        ROWS.filter(segment=segment).prc.summary("truth", "new", at={"threshold": at}, **asked)
        for segment, at in OWN.select("segment", "threshold").rows()
    ]
    names = [f"{name}{part}" for name in MEASURES for part in ("", "_low", "_high")]
    expected = pl.concat(one_by_one).select("segment", *names, "status")
    assert_frame_equal(kind.rows(found).select(expected.columns), expected, rel_tol=1e-12)
    points = held(kind, ROWS.rename({"truth": "late", "new": "score"}), OWN, by="segment", **roles)
    shares = ["precision", "recall"]
    assert_frame_equal(points.select(shares), expected.select(shares), rel_tol=1e-12)


OF_MODELS = {"measure": ["precision", "recall"], "details": True}
OVER = {"measure": "recall", "over": "segment"}


@every_kind
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("compare_models", OF_MODELS),
        ("compare_models", {**OF_MODELS, "cluster": "day"}),
        ("compare_models", OVER),
        ("compare_segments", {"measure": "precision", "details": True}),
        ("compare_segments", {"measure": "precision", "against": {"segment": 1}, "cluster": "day"}),
        ("heterogeneity", {"measure": "recall", "details": True}),
        ("average", {**OVER, "ci": 0.9}),
        ("shrunk", {"measure": "precision", "cluster": "day"}),
        ("sample_size", {"measure": "precision", "width": 0.05}),
        ("influence", {"measures": "precision"}),
    ],
    ids=str,
)
def test_each_model_is_held_to_its_own_thresholds_in_every_verb(kind, verb, options):
    call, asked = getattr(frame_prc, verb), {"by": "segment", **options}
    found = call(kind.make(ROWS), "truth", MODELS, at=CHOSEN, **asked)
    expected = call(DECIDED, "truth", MODELS, at={"threshold": 1}, **asked)
    same = pl.exclude("status")  # which says that a decision is no score
    assert_frame_equal(kind.rows(found).select(same), expected.select(same), rel_tol=1e-9)


def test_a_segment_without_a_threshold_has_no_measure():
    known = OWN.filter(pl.col("segment") < 2).with_columns(
        threshold=pl.when(pl.col("segment") == 0).then("threshold")
    )
    asked = {"by": "segment", "measure": "recall"}
    found = ROWS.prc.shrunk("truth", "new", at=OWN.filter(pl.col("segment") > 0), **asked)
    assert found["status"].to_list() == ["no_threshold", "ok", "ok", "ok"]
    assert found["value"].is_null().to_list() == [True, False, False, False]
    scores = ROWS.prc.summary("truth", "new", by="segment", measures="recall", at=known)
    assert scores["status"].to_list() == ["ok", *["no_threshold"] * 3]


@pytest.mark.parametrize(
    ("verb", "options", "says"),
    [
        ("summary", {"measures": "recall", "overall": True}, "segments are put together"),
        ("compare_segments", {"measure": "recall", "against": "rest"}, "are put together"),
        ("average", {"measure": "recall", "over": "segment", "how": "micro"}, "put together"),
        ("summary", {"measures": ["recall", "net_benefit"]}, "'net_benefit'.*0.2}, a prob"),
        ("summary", {"measures": "partial_roc_auc"}, "given with 'partial_roc_auc'.*'fpr': 0.1"),
        ("summary", {"measures": "roc_auc"}, "at= is given with measures=.'roc_auc'"),
        ("summary", {"measures": "recall", "at": OWN.vstack(OWN)}, "several thresholds.*chosen"),
        ("summary", {"measures": "recall", "at": CHOSEN}, "'model', which is not a key"),
        ("summary", {"measures": "recall", "ascending": True}, "chosen with ascending=False"),
        ("summary", {"measures": "recall", "at": {"segment": [1]}}, ", or a frame with the keys"),
    ],
)  # fmt: skip
def test_frames_that_do_not_fit_a_measure_are_refused(verb, options, says):
    with pytest.raises(PrcError, match=says):
        getattr(frame_prc, verb)(ROWS, "truth", "new", by="segment", **{"at": OWN, **options})
