"""Inside other engines: intervals, tests and means of all measures, as in Polars."""

from __future__ import annotations

import engine_kinds
import numpy as np
import polars as pl
import pytest
from engine_cases import HOLES, ROWS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

pytestmark = engine_kinds.WARNINGS

NEAR = {"rel_tol": 1e-9, "abs_tol": 1e-12}
_RANDOM, _N = np.random.default_rng(0), 1200
# Models that are probabilities, with ties; clusters with rows in several segments; missing values.
MODELS = (
    pl.DataFrame({name: _RANDOM.random(_N) for name in ("truth", "old", "new")})
    .with_columns(truth=pl.col("truth") < 0.4, day=_RANDOM.integers(0, 40, _N))
    .with_columns(
        segment=pl.when(pl.int_range(_N) % 5 < 4).then(pl.format("s{}", pl.int_range(_N) % 3)),
        week=pl.int_range(_N) // 400,
        old=((pl.col("old") + pl.col("truth") * 0.6) / 1.6).round(2),
        new=(pl.col("new") + pl.col("truth") * 0.5) / 1.5,
        weight=(pl.int_range(_N) % 16 + 1) / 8,
    )
    .with_columns(holes=pl.when(pl.col("day") % 9 > 0).then("new"))
)
ROLES = [{}, {"weight": "weight"}, {"cluster": "day"}, {"weight": "weight", "cluster": "day"}]
PROBABILITIES = ["brier", "log_loss", "mean_score", "observed_expected", "brier_skill"]
AT_THRESHOLD = ["precision", "f1", "mcc", "net_benefit"]
BY = {"by": ["segment", "week"]}
OLD, BOTH = {"score": "old"}, {"score": ["old", "new"]}
CALLS = [
    ("average_precision", {**BOTH, "by": "segment", "ci": 0.9, "calibrate": "pooled"}),
    ("average_precision", {"score": "holes", **BY, "missing": "unretrieved", "ci": 0.9}),
    ("average_precision", {"score": "holes", **BY, "missing": "drop", "ci": 0.9}),
    ("average_precision", {**OLD, "ci": 0.9, "ascending": True}),
    ("average_precision", {**OLD, "by": "week", "ci": 0.9, "thresholds": [0.2, 0.5, 0.7]}),
    ("average_precision", {**OLD, "by": "week", "calibrate": "highest"}),
    (
        "summary",
        {
            "score": ["old", "holes"],
            "by": "segment",
            "missing": "unretrieved",
            "overall": True,
            "measures": ["roc_auc", "lift"],
        },
    ),
    ("summary", {**OLD, "by": "week", "measures": PROBABILITIES}),
    ("summary", {**OLD, "measures": AT_THRESHOLD, "at": {"threshold": 0.45}}),
    (
        "summary",
        {**OLD, **BY, "ascending": True, "measures": ["recall"], "at": {"threshold": 0.45}},
    ),
    ("summary", {**OLD, "by": "week", "measures": ["recall", "mcc"], "at": {"fpr": 0.1}}),
    ("summary", {**BOTH, **BY, "shrink": True}),
    ("compare_models", {**BOTH, "by": "segment", "adjust": "holm"}),
    ("compare_models", {"score": ["old", "holes"], "missing": "drop", "measure": "roc_auc"}),
    ("compare_models", {"score": ["holes", "old", "new"], "missing": "unretrieved"}),
    ("compare_models", {**BOTH, "measure": "brier", "scale": "ratio"}),
    ("compare_models", {**BOTH, "measure": "partial_roc_auc", "at": {"fpr": 0.2}, "margin": 0.1}),
    ("compare_models", {**BOTH, "by": "week", "measure": ["brier", "roc_auc"], "adjust": "holm"}),
    ("compare_models", {"score": ["old", "new", "holes"], "missing": "drop", "adjust": "max"}),
    ("compare_models", {**BOTH, "measure": "precision", "at": {"recall": 0.8}}),
    ("compare_segments", {**BOTH, "by": "segment"}),
    ("compare_segments", {**OLD, **BY, "against": "previous", "measure": "roc_auc"}),
    ("compare_segments", {**OLD, **BY, "against": {"week": 1}, "measure": "log_loss"}),
    ("shrunk", {**OLD, **BY}),
    ("heterogeneity", {"score": ["old", "holes"], "by": "week", "missing": "drop"}),
    ("sample_size", {**OLD, "by": "week", "width": 0.05}),
    ("reliability", {**BOTH, "by": "week", "bins": 7}),
    ("reliability", {"score": "holes", "bins": 3, "missing": "drop"}),
]
MEANS = [
    ("average", {**BOTH, **BY, "over": "week", "ci": 0.9}),
    ("average", {**OLD, **BY, "over": "segment", "measure": "roc_auc", "how": "weighted"}),
    ("average", {**OLD, **BY, "over": "segment", "measure": "brier", "how": "micro"}),
    ("compare_models", {**BOTH, "by": ["week", "day"], "over": "day", "measure": "brier"}),
]


SLOW = ["Spark in ranges", *engine_kinds.IBIS[:2]]


def in_turns(calls, every=ROLES):
    """Return each call in DuckDB, and every other one with other roles in one of the slow engines.

    These get the same plans in words of their own.
    """
    first = [pytest.param("DuckDB", *call, every[i % len(every)]) for i, call in enumerate(calls)]
    later = [
        pytest.param(
            SLOW[i % len(SLOW)], *call, every[-1 - i % len(every)], marks=pytest.mark.thorough
        )
        for i, call in enumerate(calls[::2])
    ]
    return pytest.mark.parametrize(
        ("kind", "verb", "options", "roles"), first + later, ids=_id, indirect=["kind"]
    )


def _id(value):
    return value if isinstance(value, str) else "-".join(map(str, value.values())) or "plain"


def assert_near(kind, verb, df, **options):
    call = getattr(frame_prc, verb)
    found = call(kind.make(df), "truth", **options)
    assert isinstance(found, pl.DataFrame)
    assert_frame_equal(found, call(kind.stores(df), "truth", **options), **NEAR)


@in_turns(CALLS)
def test_what_rests_on_estimates_is_that_of_polars(kind, verb, options, roles):
    shown = {} if verb in ("summary", "sample_size") else {"details": True}
    assert_near(kind, verb, MODELS, **options, **roles, **shown)


@engine_kinds.on_engines("DuckDB", "Ibis on PostgreSQL")  # Spark takes a minute and a half
def test_few_heavy_rows_are_those_of_polars(kind):
    heavy = pl.when(pl.int_range(_N) % 125 == 0).then(50.0).otherwise("weight")
    df = MODELS.with_columns(heavy=heavy)
    shared = {"by": "segment", "weight": "heavy"}
    assert_near(kind, "average_precision", df, **BOTH, **shared, ci=0.9, details=True)
    for at in ({"threshold": 0.45}, {"fpr": 0.1}):
        assert_near(kind, "summary", df, **OLD, **shared, measures=["recall", "precision"], at=at)
    assert_near(kind, "compare_models", df, **BOTH, **shared, cluster="day", details=True)
    found = frame_prc.average_precision(df, "truth", **OLD, **shared, ci=0.9)
    assert "few_positives" in found["status"]


@in_turns(MEANS, ROLES[:2])
def test_means_over_segments_are_those_of_polars(kind, verb, options, roles):
    assert_near(kind, verb, MODELS, **options, **roles, details=True)


@pytest.mark.parametrize("roles", ROLES[:2], ids=_id)
@pytest.mark.parametrize("asked", [{"cost": (1, 5)}, {"thresholds": [0.2, 0.5], "ascending": True}])
def test_tables_of_thresholds_are_those_of_polars(kind, asked, roles):
    assert_near(kind, "threshold_table", MODELS, **OLD, by="week", details=True, **asked, **roles)


COUNTS = frame_prc.counts(MODELS, "truth", "old", by=BY["by"], weight="weight", squares=True)
OF_COUNTS = {"score": "threshold", "pos": "pos", "neg": "neg", **BY}


def test_sums_of_weights_with_their_squares_are_those_of_rows(kind):
    squares = {"pos_squares": "pos_squares", "neg_squares": "neg_squares"}
    found = frame_prc.summary(kind.make(COUNTS), **OF_COUNTS, **squares)
    assert_frame_equal(found, frame_prc.summary(COUNTS, **OF_COUNTS, **squares), **NEAR)
    of_rows = frame_prc.summary(MODELS, "truth", "old", **BY, weight="weight")
    # Within a sum weights count as equal, so its limits are a little nearer.
    limits = [name for name in found.columns if name.endswith(("_low", "_high"))]
    assert_frame_equal(found.drop(limits), of_rows.drop(limits), **NEAR)
    for name in limits:
        nearer = 1 if name.endswith("_low") else -1
        assert ((found[name] - of_rows[name]) * nearer > -1e-9).all()


def test_sums_of_weights_without_their_squares_are_refused(kind):
    with pytest.raises(OptionError, match="need the sums of squared weights"):
        frame_prc.average_precision(kind.make(COUNTS), **OF_COUNTS, ci=0.9)


@pytest.mark.parametrize("df", [ROWS, HOLES, ROWS.clear(), ROWS.filter("truth")], ids=range(4))
@pytest.mark.parametrize("by", [None, "segment"])
def test_few_rows_and_segments_of_one_class_are_as_in_polars(kind, df, by):
    common = {"by": by, "missing": "drop"}
    assert_near(kind, "summary", df, score=["score", "other"], measures="roc_auc", **common)
    assert_near(kind, "compare_models", df, score=["score", "other"], cluster="week", **common)


@pytest.mark.parametrize(
    ("verb", "options", "says"),
    [
        ("summary", {"measures": "gain"}, r"measures='gain' does not run inside .*collect"),
        ("summary", {"details": True}, r"details=True does not run inside .*collect"),
        (
            "compare_segments",
            {"by": "segment", "against": "rest"},
            r"against='rest' .*rows, \.\.\.",
        ),
        (
            "compare_segments",
            {"by": "segment", "against": "overall"},
            r"against='overall' does not",
        ),
        ("heterogeneity", {"by": "segment", "test": "permutation"}, r"test='permutation' does not"),
        ("heterogeneity", {"by": ["segment", "week"]}, r"by permutation .*test='q'"),
        (
            "heterogeneity",
            {"by": "week", "measure": "recall", "at": pl.DataFrame({"threshold": [0.4]})},
            r"at= as a frame does not run inside .*counts",
        ),
        ("threshold_table", {"calibrate": 0.1}, r"calibrate= does not run inside .*counts"),
        ("compare_models", {"model": "segment", "row": "day"}, r"by model= does not run inside"),
        (
            "operating_points",
            {"threshold": 0.4, "calibrate": 0.1, "ci": 0.9},
            r"calibrate= with ci= or guarantee= does not run inside .*rows, \.\.\.",
        ),
    ],
)
def test_what_needs_the_rows_is_refused_with_a_way_out(kind, verb, options, says):
    with pytest.raises(OptionError, match=says):
        getattr(frame_prc, verb)(kind.make(MODELS), "truth", "old", **options)


def test_scores_that_are_no_probabilities_are_an_error(kind):
    wild = MODELS.with_columns(old=pl.col("old") * 3)
    with pytest.raises(Exception, match="outside 0 to 1: "):
        frame_prc.summary(kind.make(wild), "truth", "old", measures="brier")


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    df=frames(SCORES_OR_NONE, FLOAT_WEIGHTS),
    cluster=st.sampled_from([None, "week"]),
    call=st.sampled_from(
        [
            ("summary", {"measures": "roc_auc"}),
            ("average_precision", {"ci": 0.9, "calibrate": 0.2}),
            ("compare_segments", {}),
        ]
    ),
)
def test_duckdb_has_the_estimates_of_polars_on_any_frame(df, cluster, call):
    verb, options = call
    common = {"by": "segment", "weight": "weight", "missing": "unretrieved", "cluster": cluster}
    assert_near(engine_kinds.duckdb_kind(), verb, df, score="score", **common, **options)
