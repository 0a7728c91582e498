"""Inside DuckDB and Spark: the same rows as in Polars, the same errors, and nothing read early."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import engines
import numpy as np
import optional
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kinds import KINDS, Kind
from polars.testing import assert_frame_equal
from strategies import BY, FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, FrameError, OptionError

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    # PySpark 4.0 leaves the socket open that results come through.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
    ),
]

INFINITY, NAN = float("inf"), float("nan")
VERBS = [frame_prc.counts, frame_prc.curve, frame_prc.average_precision]
every_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)

# Ties within and across classes, both zeros, infinities, a null key, and segments of one class.
ROWS = pl.DataFrame(
    {
        "segment": ["a", None, "a", "b", None, "a", "b", "c", "c", "a", None],
        "week": [1, 1, 2, 2, 1, 1, 2, 1, 2, 2, 2],
        "truth": [True, False, True, False, True, False, True, False, False, True, True],
        "score": [0.1, 0.2, INFINITY, -0.0, 0.0, 0.1, 0.0, -INFINITY, 0.3, 0.7, 0.2],
        "other": [0.3, 0.2, 0.1, 0.5, 0.6, 0.2, 0.3, 1.0, 1.0, 0.4, 0.4],
        # Multiples of 1/8: their sums are exact, in whatever order an engine adds them.
        "weight": [1.0, 0.0, 3.0, 0.125, 0.25, 0.375, 0.75, 0.5, 5.0, 0.625, 2.0],
        "label": ["yes", "no", "yes", "maybe", "yes", "no", "yes", "no", "maybe", "yes", "yes"],
        "hits": [1, 0, 2, 0, 3, 0, 1, 0, 0, 5, 4],
        "misses": [0, 1, 0, 2, 0, 3, 1, 1, 2, 0, 6],
    }
)
HOLES = ROWS.with_columns(
    score=pl.Series([0.1, None, NAN, 0.3, 0.0, 0.1, None, NAN, 0.3, 0.7, 0.2]),
    truth=pl.Series([True, False, True, None, True, False, True, False, None, True, True]),
)


@pytest.fixture(params=["DuckDB", "Spark in ranges"])
def kind(request, monkeypatch) -> Kind:
    """Return an engine; Spark in ranges cuts even the smallest segments into ranges of scores."""
    if request.param == "DuckDB":
        return engines.duckdb_kind()
    if request.param == "Spark in ranges":
        ranges = optional.require_module("frame_prc._engines.spark_ranges")
        for name, value in {"_RANGES": 4, "_SAMPLED": 1, "_FEWEST_SAMPLED": 1}.items():
            monkeypatch.setattr(ranges, name, value)
    return engines.spark_kind()


# Where the lack of ranges could change a number; all else is shown in ranges, which is more.
every_engine = pytest.mark.parametrize(
    "kind", ["DuckDB", "Spark", "Spark in ranges"], indirect=True
)


def assert_same(kind, verb, df, *columns, **options) -> None:
    """Show that an engine gives what Polars gives: integers exactly, floats to 1e-12."""
    rows = kind.rows(verb(kind.make(df), *columns, **options))
    assert_frame_equal(rows, verb(df, *columns, **options), rel_tol=1e-12, abs_tol=0)


# --- the same rows ------------------------------------------------------------------------------


@every_engine
@every_verb
@pytest.mark.parametrize("by", [None, "segment", ["segment", "week"]], ids=str)
def test_segments_are_those_of_polars(kind, verb, by):
    assert_same(kind, verb, ROWS, "truth", "score", by=by)


@every_engine
@every_verb
def test_weights_are_those_of_polars(kind, verb):
    assert_same(kind, verb, ROWS, "truth", "score", by="segment", weight="weight")


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


@every_engine
@every_verb
def test_no_rows_are_no_rows(kind, verb):
    assert_same(kind, verb, ROWS.clear(), "truth", "score")


@pytest.mark.parametrize(
    "options",
    [
        {"start": "first", "keep": "corners"},
        {"start": None, "envelope": True},
        {"envelope": True, "keep": "corners"},
        {"thresholds": [0.1, 0.3], "keep": "corners", "envelope": True},
        {"thresholds": [n / 199 for n in range(200)], "start": None},
        {"thresholds": [0.1, 0.3, 7.0, 8.0], "start": "first", "keep": "corners"},
    ],
    ids=str,
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
    ],
    ids=["weights", "dropped", "never retrieved"],
)
def test_counts_may_be_binned(kind, df, models, options):
    assert_same(kind, frame_prc.counts, df, "truth", models, by="segment", **options)


def test_narrow_scores_are_held_to_thresholds_as_narrow(kind):
    scores = pl.Series([n / 10 for n in range(11)], dtype=pl.Float32)
    df = pl.DataFrame({"truth": [True, False] * 5 + [True], "score": scores})
    assert_same(kind, frame_prc.counts, df, "truth", "score", thresholds=11)
    assert_same(kind, frame_prc.curve, df, "truth", "score", thresholds=11)


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
    counts = frame_prc.counts(kind.make(df.fill_null(value=True)), "truth", "score", **asked)
    with pytest.raises(Exception, match=r"'score' has a row below the .* 3.0: -1.0. Allowed"):
        kind.rows(counts)


def test_a_score_in_no_bin_raises_when_the_engine_meets_it(kind):
    counts = frame_prc.counts(kind.make(ROWS), "truth", "other", thresholds=[0.2, 0.5])
    with pytest.raises(Exception, match=r"'other' has a row below the .* 0.2: 0.1. Allowed"):
        kind.rows(counts)


@every_verb
def test_scores_that_are_no_probabilities_raise_for_a_number_of_thresholds(kind, verb):
    df = pl.DataFrame({"truth": [True, False, None], "score": [0.5, -2.5, 7.0]})
    result = verb(kind.make(df), "truth", "score", thresholds=5, missing="drop")
    says = r"'score' has a row outside 0 to 1: -2.5. Allowed: probabilities where thresholds= is"
    with pytest.raises(Exception, match=says):
        kind.rows(result)


@every_verb
def test_a_probability_may_be_above_one_by_rounding(kind, verb):
    df = pl.DataFrame({"truth": [True, False, True], "score": [0.0, 1.0000001, 0.5]})

    def without_bounds(frame, **options):
        table = verb(frame, "truth", "score", **options)
        return table.drop("ap_lowest", "ap_highest") if "ap_lowest" in table.columns else table

    result = kind.rows(without_bounds(kind.make(df), thresholds=5))
    assert_frame_equal(result, without_bounds(df, thresholds=5), rel_tol=1e-12)


def test_average_precision_may_be_binned(kind):
    options = {"by": "segment", "thresholds": [0.1, 0.25], "missing": "drop"}

    def without_bounds(frame, *columns, **asked):
        table = frame_prc.average_precision(frame, *columns, **asked)
        return table.drop("ap_lowest", "ap_highest") if isinstance(frame, pl.DataFrame) else table

    assert_same(kind, without_bounds, HOLES, "truth", "score", **options)


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


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(df=frames(SCORES_OR_NONE, FLOAT_WEIGHTS), by=BY, options=st.sampled_from(["one", "first"]))
def test_duckdb_equals_polars_on_any_frame(df, by, options):
    kind = engines.duckdb_kind()
    common = {"by": by, "weight": "weight", "missing": "unretrieved"}
    expected = frame_prc.curve(df, "truth", "score", start=options, **common)
    result = frame_prc.curve(kind.make(df), "truth", "score", start=options, **common)
    # What is left of floats that nearly cancel is rounded, as large as the last digit of the sum.
    assert_frame_equal(kind.rows(result), expected, rel_tol=1e-12, abs_tol=1e-12)


# --- sums of weights ------------------------------------------------------------------------------


def weighted_rows(height: int) -> pl.DataFrame:
    """Return rows of two segments, of which the second has rows that no threshold retrieves."""
    random = np.random.default_rng(16)
    missing = pl.col("segment") & (pl.int_range(pl.len()) % 10 == 0)
    return pl.DataFrame(
        {
            "segment": random.random(height) < 0.2,
            "truth": random.random(height) < 0.3,
            "score": random.random(height),
            "weight": random.gamma(0.5, size=height),
        }
    ).with_columns(score=pl.when(~missing).then("score"))


def assert_sums_rise_to_their_totals(df: pl.DataFrame, curve, table) -> None:
    """Show what a curve of ``weighted_rows`` without a start keeps to, to the last digit."""
    for segment in (False, True):
        points = curve.filter(segment=segment)
        rows = df.filter(pl.col("segment") == segment, pl.col("score").is_not_null())
        ranked = rows.sort("score", descending=True)
        assert points["threshold"].to_list() == ranked["score"].to_list()
        for name, other, grows in (("tp", "fn", ranked["truth"]), ("fp", "tn", ~ranked["truth"])):
            before = points[name].shift(1, fill_value=0.0)
            assert (points[name] >= before).all()
            assert (points[name] == before).filter(~grows).all()
            assert points[other].is_sorted(descending=True)
            assert points[other][-1] >= 0
        assert points["recall"].is_sorted()
        assert points["precision"].is_between(0, 1).all()
        assert points["envelope"].is_sorted(descending=True)
        assert (points["envelope"] >= points["precision"]).all()
        area = table.filter(segment=segment).row(0, named=True)
        assert 0 <= area["average_precision"] <= 1
        last = points.row(-1, named=True)
        n = sum(last[name] for name in ("tp", "fp", "fn", "tn"))
        if segment:
            lost = df.filter("segment", "truth", pl.col("score").is_null())["weight"].sum()
            assert last["fn"] == pytest.approx(lost, rel=1e-9)
            assert area["n"] == pytest.approx(n, rel=1e-15)
        else:
            assert (last["recall"], last["fn"], last["tn"]) == (1, 0, 0)
            at_the_last_positive = ranked["truth"].arg_true()[-1]
            assert (points["recall"][at_the_last_positive:] == 1).all()
            assert area["n"] == n


def show_that_sums_rise(kind: Kind, df: pl.DataFrame) -> None:
    common = {"by": "segment", "weight": "weight", "missing": "unretrieved"}
    curve = frame_prc.curve(kind.make(df), "truth", "score", start=None, envelope=True, **common)
    table = frame_prc.average_precision(kind.make(df), "truth", "score", **common)
    assert_sums_rise_to_their_totals(df, kind.rows(curve), kind.rows(table))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sums_of_weights_never_fall_and_end_at_their_totals(kind):
    show_that_sums_rise(kind, weighted_rows(100_000))


def test_sums_of_weights_never_fall_inside_an_engine(kind):
    # In DuckDB they fell at one step in a hundred; on Spark where one range gives way to the next.
    show_that_sums_rise(kind, weighted_rows(100_000 if kind.name == "DuckDB" else 3_000))


# --- large segments on Spark ---------------------------------------------------------------------


def test_ranges_of_a_large_segment_hold_about_as_many_scores_each(monkeypatch):
    kind = engines.spark_kind()
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_SAMPLED", 8)
    monkeypatch.setattr(ranges, "_RANGES", 16)
    monkeypatch.setattr(ranges, "_FEWEST_SAMPLED", 64)
    # Scores over 300 orders of magnitude: ranges of equal width would hold all or nothing.
    df = pl.select(
        segment=pl.when(pl.int_range(20_000) % 5 == 0).then(1).otherwise(None),
        score=10.0 ** (pl.int_range(20_000) / -70),
        pos=pl.lit(1),
        neg=pl.lit(0),
        dropped=pl.lit(0),
    )
    rows = kind.make(df).selectExpr("struct(segment) AS segment", "score", "pos", "neg", "dropped")
    narwhals = optional.require_module("narwhals")
    frame = narwhals.from_native(rows)
    ranged = ranges.with_range(frame, ranges.score_cuts(frame))
    sizes = ranged.to_native().groupBy("segment.segment", "range").count().collect()
    giant = [row["count"] for row in sizes if row["segment"] is None]
    assert sum(giant) == 16_000
    assert len(giant) == 16
    assert max(giant) < 2 * 16_000 / 16


def test_cuts_change_nothing(monkeypatch):
    kind = engines.spark_kind()
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_SAMPLED", 4)
    monkeypatch.setattr(ranges, "_FEWEST_SAMPLED", 100)
    places = pl.int_range(3_000)
    df = pl.select(
        segment=pl.when(places % 5 == 0).then(pl.lit("small")).otherwise(pl.lit("large")),
        truth=(places * 7919) % 11 < 3,
        score=((places * 104_729) % 2_003) / 2_003,
        weight=((places * 31) % 17) / 7,
    )
    common = {"by": "segment", "weight": "weight"}
    assert_same(kind, frame_prc.average_precision, df, "truth", "score", **common)
    options = {"keep": "corners", "envelope": True, **common}
    expected = frame_prc.curve(df, "truth", "score", **options)
    result = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", **options))
    # Sums of weights in another order: to 1e-12 of the segment's total.
    assert_frame_equal(result, expected, rel_tol=1e-12, abs_tol=1e-9)
    assert result.filter(pl.col("fn") == 0)["recall"].unique().to_list() == [1.0]


# --- Spark Connect -------------------------------------------------------------------------------


CONNECT = """
import engines, frame_prc, polars as pl
from frame_prc._engines import spark_ranges
from kinds import Kind
from polars.testing import assert_frame_equal
from pyspark.sql import SparkSession
from test_engines import ROWS, show_that_sums_rise, weighted_rows

spark = SparkSession.builder.remote("local[2]").getOrCreate()
common = {"by": "segment", "weight": "weight"}
for verb in (frame_prc.counts, frame_prc.curve, frame_prc.average_precision):
    frame = spark.createDataFrame(ROWS.to_arrow())
    result = verb(frame, "truth", ["score", "other"], **common)
    assert type(result) is type(frame), type(result)
    rows = engines.in_order(pl.from_arrow(result.toArrow()))
    expected = verb(ROWS, "truth", ["score", "other"], **common)
    assert_frame_equal(rows, expected, rel_tol=1e-12, abs_tol=0)
    print(type(result).__module__, verb.__name__)
spark_ranges._RANGES, spark_ranges._SAMPLED, spark_ranges._FEWEST_SAMPLED = 4, 1, 1
kind = Kind(
    "Spark Connect",
    lambda df: spark.createDataFrame(df.to_arrow()),
    lambda result: engines.in_order(pl.from_arrow(result.toArrow())),
)
show_that_sums_rise(kind, weighted_rows(3_000))
spark.stop()
"""


def test_spark_connect_gives_the_same_rows():
    optional.require_module("narwhals")
    optional.require_module("pyspark")
    optional.require_module("grpc_status")
    optional.require_program("java")
    # In a process of its own: one process has either a classic session or a remote one.
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-W", "ignore", "-c", CONNECT],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stderr
    module = "pyspark.sql.connect.dataframe"
    assert done.stdout.split("\n")[:3] == [f"{module} {verb.__name__}" for verb in VERBS]


# --- lazy, and in order ---------------------------------------------------------------------------


@every_verb
def test_nothing_is_read_at_the_call(kind, verb):
    source = kind.make(ROWS)
    if kind.name == "DuckDB":
        source = source.project("* REPLACE (CAST(error('it was read') AS DOUBLE) AS score)")
    else:
        unreadable = "CAST(raise_error('it was read') AS DOUBLE) AS score"
        source = source.selectExpr("segment", "truth", unreadable)
    result = verb(source, "truth", "score", by="segment")
    assert type(result) is type(source)
    with pytest.raises(Exception, match="it was read"):
        kind.rows(result)


def test_duckdb_relations_come_in_order():
    kind = engines.duckdb_kind()
    shuffled = ROWS.sample(fraction=1, shuffle=True, seed=1)
    curve = kind.rows(frame_prc.curve(kind.make(shuffled), "truth", "score", by="segment"))
    assert curve.equals(engines.in_order(curve))


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"score": HOLES["score"]}, {}, "'score' has a row with null or NaN.*missing='drop'"),
        ({"truth": HOLES["truth"]}, {"missing": "unretrieved"}, "'truth' has a row with null"),
        (
            {"weight": pl.lit(-1.5)},
            {"weight": "weight"},
            "'weight' has a row with -1.5.*Allowed: finite numbers that are zero or more",
        ),
        ({"weight": pl.lit(NAN)}, {"weight": "weight"}, "'weight' has a row with .*[nN]a"),
        ({"truth": pl.lit(2)}, {}, "'truth' has a row outside 0 and 1: 2.*pos_label="),
        ({"truth": ROWS["label"]}, {"pos_label": "Yes"}, "'Yes' is nowhere in .*maybe to yes"),
    ],
    ids=["score", "truth", "negative", "NaN", "not 0 or 1", "pos_label"],
)
def test_bad_values_raise_when_the_engine_meets_them(kind, columns, options, says):
    bad = kind.make(ROWS.with_columns(**columns))
    result = frame_prc.average_precision(bad, "truth", "score", by="segment", **options)
    with pytest.raises(Exception, match=says):
        kind.rows(result)


def test_a_count_beyond_what_adds_up_raises_when_the_engine_meets_it(kind):
    bad = kind.make(pl.DataFrame({"score": [1.0, 1.0], "pos": [2**62, 2**62], "neg": [1, 0]}))
    result = frame_prc.average_precision(bad, score="score", pos="pos", neg="neg")
    says = "'pos' has a row with 4611686018427387904. Allowed: a total below 72,057,594,037,927,936"
    with pytest.raises(Exception, match=says):
        kind.rows(result)


def test_rows_of_weight_zero_raise_nothing(kind):
    bad = ROWS.with_columns(score=pl.when(pl.col("weight") > 0).then("score"))
    assert_same(kind, frame_prc.curve, bad, "truth", "score", weight="weight")


def test_a_wrong_column_raises_at_the_call_as_on_polars(kind):
    frame = kind.make(ROWS)
    with pytest.raises(ColumnError, match=r"truth= names 'truht'.*did you mean 'truth'"):
        frame_prc.curve(frame, "truht", "score")
    with pytest.raises(ColumnError, match="score= column 'label' has dtype String"):
        frame_prc.curve(frame, "truth", "label")
    with pytest.raises(ColumnError, match="'week' is named twice in by="):
        frame_prc.curve(frame, "truth", "score", by=["week", "week"])


@pytest.mark.parametrize(
    ("verb", "options", "says"),
    [
        ("curve", {"gain": True}, "gain= does not run inside a .*frame_prc.counts"),
        ("curve", {"calibrate": 0.1}, "calibrate= does not run inside a .*frame_prc.counts"),
        ("curve", {"by": pl.col("segment")}, "by= is a Polars expression.*column names"),
        ("curve", {"thresholds": 1001}, "thresholds= are 1001, too many inside .*up to 1000"),
        ("average_precision", {"over": "week", "average": "macro"}, "over= does not run inside"),
    ],
)
def test_what_only_polars_has_is_refused_with_a_way_out(kind, verb, options, says):
    with pytest.raises(OptionError, match=says):
        getattr(frame_prc, verb)(kind.make(ROWS), "truth", "score", **options)


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("auc", "collect its result, and give it to the verb with score='threshold'"),
        ("operating_points", "collect its result, and give it to the verb with score='threshold'"),
        ("one_vs_rest", r"select the columns that it needs, and collect them with .*\(.*\)\.$"),
        ("compare", r"select the columns that it needs, and collect them with .*\(.*\)\.$"),
    ],
)
def test_other_verbs_are_refused_with_a_way_out(kind, verb, says):
    with pytest.raises(FrameError, match=f"counts, curve and average_precision also run.*{says}"):
        getattr(frame_prc, verb)(kind.make(ROWS), "truth", "score")


def test_frames_of_other_engines_are_refused():
    with pytest.raises(FrameError, match=r"pyarrow.*Allowed: .*a DuckDB relation or a PySpark"):
        frame_prc.counts(ROWS.to_arrow(), "truth", "score")


def test_a_missing_package_is_named_with_all_that_are_needed():
    optional.require_module("duckdb")
    code = """
import sys, duckdb, frame_prc
sys.modules["narwhals"] = None
try:
    frame_prc.counts(duckdb.sql("SELECT true AS truth, 0.5 AS score"), "truth", "score")
except frame_prc.FrameError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "narwhals" in done.stdout
    assert "Hint: pip install duckdb narwhals pyarrow." in done.stdout


def test_engines_are_not_imported_for_the_user():
    code = "import sys, frame_prc; print({'narwhals', 'duckdb', 'pyspark'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "set()\n"
