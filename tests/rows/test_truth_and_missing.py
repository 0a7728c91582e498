"""Truths of many dtypes, and rows that lack a truth, a score or a weight."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from kinds import assert_rows, every_kind

import frame_prc

# --- truth -------------------------------------------------------------------------------------


TRUTHS = {
    "Boolean": (pl.Series([True, False, True, False]), None),
    "Int8": (pl.Series([1, 0, 1, 0], dtype=pl.Int8), None),
    "UInt64": (pl.Series([1, 0, 1, 0], dtype=pl.UInt64), None),
    "Float32": (pl.Series([1, 0, 1, 0], dtype=pl.Float32), None),
    "Boolean, the false ones": (pl.Series([False, True, False, True]), False),
    "String": (pl.Series(["late", "on time", "late", "early"]), "late"),
    "Enum": (pl.Series(["y", "n", "y", "n"], dtype=pl.Enum(["n", "y"])), "y"),
    "Categorical": (pl.Series(["y", "n", "y", "n"], dtype=pl.Categorical), "y"),
    "integers": (pl.Series([2, 1, 2, -1]), 2),
    "the zeros": (pl.Series([0, 1, 0, 1]), 0),
    "floats": (pl.Series([2.5, 1.0, 2.5, float("inf")]), 2.5),
    "dates": (pl.Series([date(2026, 1, day) for day in (1, 2, 1, 3)]), date(2026, 1, 1)),
}


@every_kind
@pytest.mark.parametrize(("truth", "label"), TRUTHS.values(), ids=TRUTHS)
def test_truth_of_many_dtypes(kind, truth, label):
    df = pl.DataFrame({"truth": truth, "score": [0.9, 0.8, 0.3, 0.2]})
    result = frame_prc.average_precision(kind.make(df), "truth", "score", pos_label=label)
    assert kind.rows(result)["average_precision"].item() == (1 + 2 / 3) / 2


@every_kind
def test_truth_score_and_weight_may_be_expressions(kind):
    df = pl.DataFrame({"delay": [40, 10, 35, 0], "odds": [9.0, 4.0, 0.5, 0.2]})
    result = frame_prc.average_precision(
        kind.make(df), pl.col("delay") >= 30, -pl.col("odds"), weight=pl.col("odds") + 1
    )
    # From the lowest odds: 1.2 and 1.5 (late), 5 and 10 (late).
    area = 1.5 / 11.5 * (1.5 / 2.7) + 10 / 11.5 * (11.5 / 17.7)
    assert kind.rows(result)["average_precision"].item() == pytest.approx(area, rel=1e-12, abs=0)


# --- missing values ----------------------------------------------------------------------------


MISSING = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "a", "b", "b", "c"],
        "truth": [True, False, True, None, True, None, False],
        "score": [0.9, 0.8, None, 0.7, float("nan"), 0.5, 0.1],
    }
)


@every_kind
def test_dropped_rows_are_counted_and_a_segment_that_loses_all_is_empty(kind):
    result = frame_prc.average_precision(
        kind.make(MISSING), "truth", "score", by="segment", missing="drop", details=True
    )
    expected = pl.DataFrame(
        {
            "segment": ["a", "b", "c"],
            "n": [2, 0, 1],
            "n_pos": [1, 0, 0],
            "prevalence": [0.5, None, 0.0],
            "average_precision": [1.0, None, None],
            "n_dropped": [2, 2, 0],
            "status": ["ok", "empty", "no_positives"],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
@pytest.mark.parametrize("label", [None, 1.0])
def test_nan_is_a_missing_truth(kind, label):
    df = pl.DataFrame({"truth": [1.0, float("nan"), 0.0], "score": [3, 2, 1]})
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", missing="drop", pos_label=label
    )
    found = kind.rows(result).select("n", "n_pos", "average_precision", "n_dropped")
    assert found.rows() == [(2, 1, 1.0, 1)]


@every_kind
def test_a_missing_weight_is_dropped_and_counted(kind):
    df = pl.DataFrame({"truth": [1, 0, 1], "score": [3, 2, 1], "weight": [1, None, 4]})
    result = frame_prc.average_precision(
        kind.make(df).pipe(_nullable_weight),
        "truth",
        "score",
        weight="weight",
        missing="drop",
        details=True,
    )
    expected = pl.DataFrame(
        {
            "n": [5.0],
            "n_pos": [5.0],
            "prevalence": [1.0],
            "average_precision": [1.0],
            "n_dropped": [1],
            "status": ["no_negatives"],
        }
    )
    assert_rows(kind, result, expected)


def _nullable_weight(frame):
    # NaN, NumPy's only missing value, is a wrong weight: pandas says null by a nullable dtype.
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame
    return frame.astype({"weight": "Int64"})


@every_kind
def test_unretrieved_positives_are_misses(kind):
    df = MISSING.drop_nulls("truth")
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", by="segment", missing="unretrieved", details=True
    )
    expected = pl.DataFrame(
        {
            "segment": ["a", "b", "c"],
            "n": [3, 1, 1],
            "n_pos": [2, 1, 0],
            "prevalence": [2 / 3, 1.0, 0.0],
            # Half of the positives of a are found, at precision 1; none of b is.
            "average_precision": [0.5, 0.0, None],
            "status": ["ok", "no_negatives", "no_positives"],
        }
    )
    assert_rows(kind, result, expected)
