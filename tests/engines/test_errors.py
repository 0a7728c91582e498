"""Inside DuckDB and Spark: nothing is read early, and errors are those of Polars."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import engine_kinds
import optional
import polars as pl
import pytest
from engine_cases import HOLES, NAN, ROWS, assert_same, every_verb

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError

pytestmark = engine_kinds.WARNINGS

# An engine that fails inside a query shows the row that it meets; others count such rows.
SOME = r"has (a row|1 row|\d+ rows)"


# --- lazy, and in order ------------------------------------------------------------------------


@engine_kinds.on_engines("DuckDB", "Spark in ranges")
@every_verb
def test_no_truth_is_read_at_the_call(kind, verb):
    source = kind.make(ROWS)
    if kind.name == "DuckDB":
        unreadable = "CAST(error('it was read') AS BOOLEAN) AS truth"
        source = source.project(
            f"segment, {unreadable}, CAST(error('so was this') AS DOUBLE) score"
        )
    else:  # Scores are read, and so is all of a table that the driver holds itself.
        unreadable = "CAST(raise_error('it was read') AS BOOLEAN) AS truth"
        source = source.repartition(2).selectExpr("segment", unreadable, "score")
    result = verb(source, "truth", "score", by="segment")
    assert type(result) is type(source)
    with pytest.raises(Exception, match=r"it was read|so was this"):
        kind.rows(result)


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"score": HOLES["score"]}, {}, f"'score' {SOME} with null or NaN.*missing='drop'"),
        ({"truth": HOLES["truth"]}, {"missing": "unretrieved"}, f"'truth' {SOME} with null"),
        (
            {"weight": pl.lit(-1.5)},
            {"weight": "weight"},
            f"'weight' {SOME} with -1.5.*Allowed: finite numbers that are zero or more",
        ),
        ({"weight": pl.lit(NAN)}, {"weight": "weight"}, f"'weight' {SOME} with [nN](a|ull)"),
        (
            {"day": pl.when(pl.col("score") > 0).then(1)},
            {"cluster": "day", "ci": 0.9},
            f"'day' {SOME} with null.*Allowed: a cluster for each row",
        ),
        ({"truth": pl.lit(2)}, {}, f"'truth' {SOME} outside 0 and 1: 2.*pos_label="),
        ({"truth": ROWS["label"]}, {"pos_label": "Yes"}, "'Yes' is nowhere in .*maybe to yes"),
    ],
    ids=["score", "truth", "negative", "NaN", "cluster", "not 0 or 1", "pos_label"],
)
def test_bad_values_raise_when_the_engine_meets_them(kind, columns, options, says):
    bad = kind.make(ROWS.with_columns(**columns))
    with pytest.raises(Exception, match=says):
        kind.rows(frame_prc.average_precision(bad, "truth", "score", by="segment", **options))


@engine_kinds.on_engines("DuckDB")
def test_an_interval_of_an_engine_is_no_key_of_what_polars_reads(kind):
    source = kind.make(ROWS).project("*, to_days(CAST(score AS INTEGER)) AS age")
    assert kind.rows(frame_prc.counts(source, "truth", "score", by="segment")).height
    with pytest.raises(ColumnError, match=r"key 'age' is an INTERVAL.*Hint: cast it in the engine"):
        frame_prc.summary(source, "truth", "score", by="age")


def test_verbs_that_return_polars_raise_the_error_of_polars(kind):
    bad = ROWS.with_columns(score=HOLES["score"])
    with pytest.raises(DataError) as expected:
        frame_prc.summary(bad, "truth", "score")
    with pytest.raises(DataError) as raised:
        frame_prc.summary(kind.make(bad), "truth", "score")
    found = raised.value
    assert re.match("values are missing: 'score' has .* with null or NaN", str(found))
    if not kind.name.startswith("Ibis"):  # which counts the rows
        assert (found.allowed, found.hint) == (expected.value.allowed, expected.value.hint)


NOWHERE = r"'Yes' is nowhere in .*maybe to yes"


@every_verb
@pytest.mark.parametrize("by", [None, "segment"])
def test_a_label_that_is_nowhere_raises_where_no_row_is_left(kind, verb, by):
    # An engine may stop as soon as it knows that a result has no rows.
    bad = kind.make(ROWS.with_columns(score=pl.lit(None, pl.Float64)))
    with pytest.raises(Exception, match=NOWHERE):
        kind.rows(verb(bad, "label", "score", by=by, pos_label="Yes", missing="drop"))


@pytest.mark.parametrize("part", ["limit", "filter"])
@every_verb
@pytest.mark.parametrize("by", [None, "segment"])
def test_a_label_that_is_nowhere_raises_whatever_is_taken_of_the_result(kind, verb, by, part):
    def taken() -> Any:
        result = verb(kind.make(ROWS), "label", "score", by=by, pos_label="Yes")
        if part == "limit":
            return result.limit(1)
        if by is None:
            return result
        is_a = "segment = 'a'"
        return result.filter(result.segment == "a" if kind.name.startswith("Ibis") else is_a)

    with pytest.raises(Exception, match=NOWHERE):
        kind.rows(taken())


def test_squares_that_no_weights_have_raise_when_the_engine_meets_them(kind):
    sums = {"score": [2.0, 1.0], "pos": [2.0, 3.0], "neg": [1.0, 1.0]}
    bad = kind.make(pl.DataFrame({**sums, "pos_squares": [2.0, 9.5], "neg_squares": [1.0, 1.0]}))
    squares = {"pos_squares": "pos_squares", "neg_squares": "neg_squares"}
    says = f"pos_squares= column 'pos_squares' {SOME} that cannot be sums .*at most its square"
    with pytest.raises(Exception, match=says):
        kind.rows(frame_prc.average_precision(bad, score="score", pos="pos", neg="neg", **squares))


def test_a_count_beyond_what_adds_up_raises_when_the_engine_meets_it(kind):
    bad = kind.make(pl.DataFrame({"score": [1.0, 1.0], "pos": [2**62, 2**62], "neg": [1, 0]}))
    says = f"'pos' {SOME} with 4611686018427387904. Allowed: a total below 72,057,594,037,927,936"
    with pytest.raises(Exception, match=says):
        kind.rows(frame_prc.average_precision(bad, score="score", pos="pos", neg="neg"))


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
        ("curve", {"gain": True}, "gain= does not run inside an? .*frame_prc.counts"),
        ("curve", {"calibrate": 0.1}, "calibrate= does not run inside an? .*frame_prc.counts"),
        ("curve", {"by": pl.col("segment")}, "by= is a Polars expression.*column names"),
        ("curve", {"thresholds": 1001}, "thresholds= are 1001, too many inside .*up to 1000"),
        ("curve", {"ci": 0.9}, "ci= does not run inside an? .*frame_prc.counts"),
    ],
)
def test_what_only_polars_has_is_refused_with_a_way_out(kind, verb, options, says):
    with pytest.raises(OptionError, match=says):
        getattr(frame_prc, verb)(kind.make(ROWS), "truth", "score", **options)


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        (
            "band",
            "then call the verb with `counts, score='threshold', pos='pos', neg='neg', ...`",
        ),
        ("plot", "then call the verb with `counts, score='threshold', pos='pos', neg='neg', ...`"),
        ("one_vs_rest", r"collect them: `rows = .*\(.*\)`; then call the verb with `rows, ...`"),
        ("influence", r"collect them: `rows = .*\(.*\)`; then call the verb with `rows, ...`"),
    ],
)
def test_other_verbs_are_refused_with_a_way_out(kind, verb, says):
    ours = rf"{verb}\(\) does not run inside .*counts, curve, .* also run.*{says}"
    with pytest.raises(FrameError, match=ours):
        getattr(frame_prc, verb)(kind.make(ROWS), "truth", "score")


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_engines_are_not_imported_for_the_user():
    code = "import sys, frame_prc; print({'narwhals', 'duckdb', 'pyspark'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("verb", "key"), [("counts", "Threshold"), ("average_precision", "N"), ("curve", "TP")]
)
def test_a_key_that_is_a_column_of_the_result_but_for_its_case_is_refused(kind, verb, key):
    frame = kind.make(ROWS.select("truth", "score", pl.col("segment").alias(key)))
    with pytest.raises(ColumnError, match=f"key '{key}' differs only in case from '.*Hint: rename"):
        getattr(frame_prc, verb)(frame, "truth", "score", by=key)
