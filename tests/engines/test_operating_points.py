"""Inside other engines: operating points, as in Polars."""

from __future__ import annotations

import re

import engine_kinds
import polars as pl
import pytest
from engine_cases import HOLES, INFINITY, ROWS, assert_same
from hypothesis import HealthCheck, given, settings
from polars.testing import assert_frame_equal
from strategies import BY, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

pytestmark = engine_kinds.WARNINGS

KNOWN = HOLES.filter(pl.col("truth").is_not_null())
TARGETS = {
    "recall": [0.5, 1],
    "precision": 0.4,
    "f_beta": 0.5,
    "predicted_rate": 0.6,
    "predicted_count": [1, 2],
    "fpr": 0.4,
    "cost": [(1, 10), (10, 1)],
}


@pytest.mark.parametrize(
    ("df", "columns", "options"),
    [
        (ROWS, ("truth", "score"), {"by": "segment"}),
        (ROWS, ("truth", "score"), {"by": "segment", "weight": "weight"}),
        (ROWS, ("truth", ["score", "other"]), {"by": "segment", "ascending": True}),
        (HOLES, ("truth", "score"), {"by": ["segment", "week"], "missing": "drop"}),
        (KNOWN, ("truth", "score"), {"by": "segment", "missing": "unretrieved"}),
        (ROWS.clear(), ("truth", "score"), {"by": "segment"}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_points_are_those_of_polars(kind, df, columns, options):
    assert_same(kind, frame_prc.operating_points, df, *columns, **TARGETS, **options)


def test_duckdb_keeps_the_order_of_the_targets():
    kind = engine_kinds.duckdb_kind()
    wanted = {"recall": [0.9, 0.1], "threshold": [0.7, -1.0, 0.2], "f_beta": 1}
    assert_same(kind, frame_prc.operating_points, ROWS, "truth", "score", by="segment", **wanted)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_points_at_thresholds_are_those_of_polars(kind, dtype, ascending):
    df = KNOWN.with_columns(pl.col("score").cast(dtype))
    held = {"threshold": [-INFINITY, -0.0, 0.1, 0.7, 5.0, INFINITY], "recall": 0.5}
    common = {"by": "segment", "missing": "unretrieved", "ascending": ascending}
    assert_same(kind, frame_prc.operating_points, df, "truth", "score", **held, **common)


def test_intervals_at_thresholds_are_those_of_polars(kind):
    held = {"threshold": [0.1, 0.2, 9.0], "ci": 0.9, "by": "segment", "missing": "drop"}
    assert_same(kind, frame_prc.operating_points, HOLES, "truth", "score", **held)


@pytest.mark.parametrize(
    "options",
    [
        {"recall": 0.6, "fpr": 0.7, "guarantee": 0.6},
        {"recall": 0.6, "ci": 0.9},
        {"recall": 0.6, "precision": 0.5, "calibrate": 0.2, "missing": "unretrieved"},
        {
            "threshold": ROWS.select("segment", threshold="other").unique(
                "segment", keep="first", maintain_order=True
            )
        },
    ],
    ids=lambda options: next(iter(options)) + str(len(options)),
)
def test_what_rests_on_counts_is_that_of_polars(kind, options):
    asked = {"score": ["score", "other"], "by": "segment", "details": True, **options}
    found = frame_prc.operating_points(kind.make(ROWS), "truth", **asked)
    expected = frame_prc.operating_points(kind.stores(ROWS), "truth", **asked)
    assert_frame_equal(found, expected, rel_tol=1e-9)


def test_of_equally_good_points_the_same_is_taken(kind):
    # Every point has precision 1, then every point has the same recall, or costs the same.
    df = pl.DataFrame({"segment": ["a"] * 9 + ["b"] * 9, "score": [*range(9)] * 2})
    df = df.with_columns(truth=(pl.col("segment") == "a") | (pl.col("score") == 8))
    wanted = {"recall": 0.3, "precision": 0.1, "cost": [(0, 1), (1, 1), (1, 0)]}
    assert_same(kind, frame_prc.operating_points, df, "truth", "score", by="segment", **wanted)


def test_points_of_counts_are_those_of_polars(kind):
    counts = {"score": "score", "pos": "hits", "neg": "misses", "by": "segment"}
    assert_same(kind, frame_prc.operating_points, ROWS, **counts, **TARGETS)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"recall": 0.8, "guarantee": 0.9, "missing": "drop"}, "guarantee= does not .*counts"),
        ({"recall": 0.8, "ci": 0.9, "cluster": "week"}, "ci= does not run .*collect them: "),
        ({"recall": 0.8, "calibrate": 0.1, "weight": "weight"}, "calibrate= does not run inside"),
        ({"threshold": "other"}, "threshold= as a column does not run inside .*collect them: "),
        ({"threshold": 0.1, "ci": 0.9, "weight": "weight"}, "needs counts of rows"),
    ],
)
def test_what_only_polars_has_is_refused_with_a_way_out(kind, options, says):
    with pytest.raises(OptionError, match=says):
        frame_prc.operating_points(kind.make(ROWS), "truth", "score", **options)


@engine_kinds.on_engines("DuckDB", "Ibis on DuckDB")
def test_points_that_are_still_in_the_engine_are_collected_first(kind):
    columns = {"truth": "truth", "score": "score", "by": "segment"}
    chosen = frame_prc.operating_points(kind.make(ROWS), **columns, recall=0.5, details=True)
    with pytest.raises(
        OptionError, match=r"threshold= is an? .*collect it first, .*`chosen"
    ) as said:
        frame_prc.operating_points(ROWS, **columns, threshold=chosen, details=True)
    collected = eval(re.findall("`(.+?)`", str(said.value))[0], {"chosen": chosen})  # noqa: S307
    held = frame_prc.operating_points(ROWS, **columns, threshold=collected, details=True)
    assert held["tp"].to_list() == kind.rows(chosen).sort("segment")["tp"].to_list()


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(df=frames(SCORES_OR_NONE), by=BY)
def test_duckdb_has_the_points_of_polars_on_any_frame(df, by):
    kind = engine_kinds.duckdb_kind()
    options = {"by": by, "missing": "unretrieved", "threshold": [0.0, 1.0], **TARGETS}
    expected = frame_prc.operating_points(df, "truth", "score", **options)
    result = kind.rows(frame_prc.operating_points(kind.make(df), "truth", "score", **options))
    assert_frame_equal(result, expected, rel_tol=1e-12, abs_tol=0)
