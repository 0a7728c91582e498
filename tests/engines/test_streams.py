"""Rows that stream past in DuckDB: their order, ties, and the scores that are passed over."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from optional import require_module
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import DataError
from frame_prc._formulas import harmonic

N = 200_000
_SCALES = {"a": 1e4, "b": 1e-4, "c": 1.0, "": 1e2}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    random = np.random.default_rng(7)
    scores = random.normal(size=(2, N))
    return pl.DataFrame(
        {
            "segment": random.choice(["a", "b", "c", ""], N),
            "cluster": random.integers(0, 400, N),
            "truth": random.random(N) < 0.05 + 0.1 * (scores[0] > 0),
            "old": np.where(random.random(N) < 0.3, scores[0].round(1), scores[0]),
            "new": scores[1],
        }
    ).with_columns(
        pl.col("segment").replace("", None),
        # Of segments of unlike scales, beside whose totals a float would lose the smallest.
        weight=pl.col("cluster") % 7 * pl.col("segment").replace_strict(_SCALES) / 3,
    )


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("curve", {"keep": "corners"}),
        ("auc", {"method": ["envelope", "step"]}),
        ("average_precision", {"ci": 0.9}),
        ("average_precision", {"ci": 0.9, "weight": "weight", "calibrate": 0.2}),
        ("auc", {"method": ["trapezoid", "step"], "weight": "weight"}),
        ("compare_models", {"score": ["old", "new"], "weight": "weight", "cluster": "cluster"}),
        ("average_precision", {"ci": 0.9, "cluster": "cluster", "calibrate": "pooled"}),
        ("summary", {"measures": "random_average_precision", "cluster": "cluster"}),
        (
            "summary",
            {"measures": ["average_precision", "calibrated_average_precision"], "calibrate": 0.2},
        ),
        ("compare_models", {"score": ["old", "new"], "cluster": "cluster"}),
    ],
)
def test_rows_keep_their_order_in_several_threads_and_on_disk(rows, verb, options):
    duckdb = require_module("duckdb")
    asked = {"truth": "truth", "score": "old", "by": "segment", **options}
    expected = getattr(frame_prc, verb)(rows, **asked)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 4; SET preserve_insertion_order = false")
        connection.execute("SET memory_limit = '100MB'")
        connection.execute("CREATE TABLE stored AS FROM rows")
        found = getattr(frame_prc, verb)(connection.table("stored"), **asked)
        found = found if isinstance(found, pl.DataFrame) else found.pl()
    assert_frame_equal(found, expected, check_row_order=verb != "auc", rel_tol=1e-9)


def test_weights_beside_which_those_of_another_segment_have_no_digits_are_refused(rows):
    duckdb = require_module("duckdb")
    far = rows.head(2_000).with_columns(
        weight=pl.when(pl.col("segment") == "a").then(1e13).otherwise(1.0)
    )
    asked = {"truth": "truth", "score": "old", "by": "segment", "weight": "weight", "ci": 0.9}
    with duckdb.connect() as connection:
        stored = connection.from_arrow(far.to_arrow())
        with pytest.raises(DataError, match=r"add up to .* in one segment and to .*by their mean"):
            frame_prc.average_precision(stored, **asked)
        near = stored.project("* REPLACE (weight / 1e3 AS weight)").filter("segment <> 'a'")
        expected = frame_prc.average_precision(far.filter(pl.col("segment") != "a"), **asked)
        found = frame_prc.average_precision(near, **asked)
    same = ["segment", "average_precision", "ci_low", "ci_high", "status"]
    assert_frame_equal(found.select(same), expected.select(same), rel_tol=1e-9)


def test_harmonic_numbers_of_an_engine_are_those_of_polars():
    duckdb, nw = require_module("duckdb"), require_module("narwhals")
    numbers = duckdb.sql("SELECT unnest([0, 1, 2, 15, 16, 1000, 3000000000]) AS n")
    found = nw.from_native(numbers).select("n", h=harmonic(nw.col("n"))).to_native().pl()
    exact = [0, 1, 1.5, 3.3182289932289932, 3.3807289932289932, 7.485470860550345]
    assert found["h"][:6].to_list() == pytest.approx(exact, rel=1e-14, abs=1e-15)
    assert_frame_equal(found.select("h"), found.select(h=harmonic(pl.col("n"))), abs_tol=1e-14)
