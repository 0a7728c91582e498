"""The way out of an error about an engine works, as it is written."""

from __future__ import annotations

import re
from datetime import datetime
from types import SimpleNamespace

import engine_kinds
import narwhals as nw
import optional
import polars as pl
import pytest
from engine_cases import ROWS
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, PrcError
from frame_prc._engines.engine import SPARK, check_types
from frame_prc._request.roles import request

pytestmark = engine_kinds.WARNINGS


@pytest.mark.parametrize(
    ("verb", "shared", "own"),
    [
        ("curve", {"by": "segment"}, {"gain": True}),
        ("curve", {}, {"recalls": 11}),
        ("auc", {"by": "segment", "weight": "weight"}, {"method": ["step", "gain"]}),
        ("auc", {}, {"ci": 0.9}),
        ("average_precision", {}, {"top": 3}),
        ("average_precision", {"by": "segment"}, {"by": [["segment"], []]}),
        ("average_precision", {"by": "segment", "cluster": "week"}, {"by": [["segment"], []]}),
        ("curve", {"cluster": "week"}, {"gain": True}),
        ("operating_points", {"cluster": "week"}, {"threshold": 0.1, "ci": 0.9}),
        ("summary", {"by": "segment"}, {"measures": "gain"}),
        ("compare_segments", {"by": "segment"}, {"against": "rest"}),
    ],
    ids=str,
)
def test_its_two_lines_do_the_same(verb, shared, own):
    kind, function = engine_kinds.duckdb_kind(), getattr(frame_prc, verb)
    columns = {"truth": "truth", "score": "score"}
    options = {**columns, **shared, **own}
    frame = kind.make(ROWS)
    with pytest.raises(PrcError) as error:
        function(frame, **options)
    first, second = re.findall("`(.+?)`", str(error.value))
    # "..." stands for the parameters: what the rows are to counts, the keys and options to a verb.
    names = {"frame": frame, "frame_prc": frame_prc, "pl": pl, "verb": function}
    names |= {"given": columns | shared}
    exec(first.replace("...", "**given"), names)  # noqa: S102 - a text of ours
    counted = "threshold" in second
    kept = {name: shared[name] for name in ("by",) if name in shared} if counted else options
    names["given"] = kept | own
    found = eval(f"verb({second.replace('...', '**given')})", names)  # noqa: S307 - likewise
    assert_frame_equal(found, function(ROWS, **options), rel_tol=1e-12, abs_tol=1e-12)


NUMBERS = ROWS.select(
    "truth",
    "score",
    text=pl.col("score").cast(pl.String),
    pair=pl.concat_list(1 - pl.col("score"), "score"),
    flag=pl.col("score") > 0,
    share=pl.lit(0.5),
)
# Positives at ranks 1 and 3 of 4.
SCORED = [(1, 0.9), (0, 0.8), (1, 0.3), (0, 0.2)]
TABLES = {"DuckDB": "relation", "Ibis": "table", "Spark": "frame"}
IN_SPARK = pytest.param("Spark in ranges", marks=pytest.mark.thorough)


@pytest.mark.parametrize("kind", ["DuckDB", "Ibis on DuckDB", IN_SPARK], indirect=True)
@pytest.mark.parametrize("column", ["text", "pair"])
def test_a_column_becomes_a_number_as_the_hint_says_in_the_engine(kind, column):
    frame = kind.make(NUMBERS)
    with pytest.raises(ColumnError, match=rf"'{column}' has .*: a numeric column\.") as raised:
        frame_prc.average_precision(frame, "truth", column)
    made = re.search(r"(?:such as )?((relation|table|frame)\.\w+\(.*\))", str(raised.value))
    assert made[2] == TABLES[kind.name.split()[0]]
    computed = eval(made[1], {made[2]: frame})  # noqa: S307 - what the hint says
    found = kind.rows(frame_prc.average_precision(computed, "truth", "number"))
    assert_frame_equal(found, kind.rows(frame_prc.average_precision(frame, "truth", "score")))


@pytest.mark.parametrize("kind", ["DuckDB", "Ibis on DuckDB", IN_SPARK], indirect=True)
@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("average_precision", {"score": 1}),
        ("average_precision", {"score": "flag"}),
        ("average_precision", {"by": len}),
        ("average_precision", {"by": "score"}),
        ("average_precision", {"by": pl.col("text")}),
        ("average_precision", {"truth": "text", "pos_label": ["a"]}),
        ("average_precision", {"pos_label": pl.col("text") == "a"}),
        ("average_precision", {"score": ["score", "text"]}),
        ("average_precision", {"weight": "text"}),
        ("operating_points", {"recall": 0.5, "weight": "text"}),
        (
            "operating_points",
            {"truth": None, "pos": "share", "neg": "score", "threshold": 0.5, "ci": 0.9},
        ),
        ("counts", {"score": "text"}),
        ("curve", {"score": "text"}),
        ("auc", {"score": "text"}),
    ],
)
def test_no_hint_for_an_engine_is_an_expression_of_polars(kind, verb, asked):
    frame = kind.make(NUMBERS)
    for call in (
        lambda roles: getattr(frame_prc, verb)(frame, **roles),
        lambda roles: getattr(frame_prc, verb)(nw.from_native(frame), **roles),
    ):
        with pytest.raises(PrcError) as raised:
            call({"truth": "truth", "score": "score", **asked})
        assert re.search(r"pl\.|\.alias|or a Polars", str(raised.value)) is None
        assert "Hint: " in str(raised.value)


def test_types_of_duckdb_are_called_by_their_names():
    connection = optional.require_module("duckdb").connect()
    rows = connection.sql(
        "SELECT i % 2 = 1 AS truth, i::double AS score, '101'::bit AS bits, "
        "TIMESTAMP_S '2026-01-01' + to_days(i::int // 2) AS day FROM range(4) r(i)"
    ).project("*, day::timestamp_s AS second")
    for role in ("truth", "score", "weight"):
        with pytest.raises(ColumnError, match=rf"{role}= column 'bits' has type BIT\..*CAST\(bits"):
            frame_prc.curve(rows, **{"truth": "truth", "score": "score", role: "bits"})
    found = frame_prc.counts(rows, "truth", "score", by="second").pl()
    assert found["second"].to_list() == [datetime(2026, 1, day) for day in (1, 1, 2, 2)]


def test_a_vector_of_spark_is_called_so_without_a_session():
    types = SimpleNamespace(columns=["probability"], dtypes=[("probability", "vector")])
    asked = request("label", "probability")
    with pytest.raises(ColumnError, match=r"has type vector\..*vector_to_array\('probability'\)"):
        check_types(SPARK, types, {"probability": pl.Unknown()}, asked)


@pytest.mark.thorough
def test_the_vector_of_a_spark_model_has_its_second_value_taken():
    spark = engine_kinds.spark_session()
    linalg = optional.require_module("pyspark.ml.linalg")
    optional.require_module("pyspark.ml.functions")
    pairs = [(truth, linalg.Vectors.dense([1 - score, score])) for truth, score in SCORED]
    frame = spark.createDataFrame(pairs, ["label", "probability"])
    with pytest.raises(ColumnError, match=r"'probability' has type vector\..*second of its") as e:
        frame_prc.average_precision(frame, "label", "probability")
    call = re.search(r"Hint: (frame\..*\)) takes", str(e.value))[1]
    names = {"frame": frame, "pyspark": optional.require_module("pyspark")}
    found = frame_prc.average_precision(eval(call, names), "label", "number")  # noqa: S307
    assert found.toArrow()["average_precision"].to_pylist() == pytest.approx([5 / 6])
