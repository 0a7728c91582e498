"""Rows in memory with few scores: they are counted before they are sorted."""

from __future__ import annotations

import oracle
import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from border_calls import ROWS, TABLES
from hypothesis import given
from hypothesis import strategies as st
from kinds import looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._ranking import ranking

# The verbs that need no ranking, or each row by itself.
OTHERS = {
    *("band", "compare_models", "compare_segments", "influence", "one_vs_rest", "reliability"),
    *("prediction_powered", "sample_to_label"),
}
RANKING = sorted(TABLES.keys() - OTHERS)
REPEATED = ROWS.with_columns(pl.col("score", "other").round(0))


@pytest.fixture(autouse=True)
def _looks():
    with looking(looks=True):
        yield


@pytest.fixture
def counted(monkeypatch):
    """Count the scores of all rows, and return the rankings of counts."""
    found = []
    count = ranking._counted  # noqa: SLF001 - is what is tested
    monkeypatch.setattr(ranking, "_ROWS_PER_SCORE", 0)
    monkeypatch.setattr(ranking, "_counted", lambda one: (found.append(one), count(one))[1])
    return found


@pytest.mark.parametrize("verb", RANKING)
@pytest.mark.parametrize("rows", [ROWS, REPEATED], ids=["distinct", "repeated"])
def test_results_are_those_of_sorted_rows(counted, verb, rows):
    found = TABLES[verb](rows)
    assert counted
    with looking(looks=False):
        expected = TABLES[verb](rows)
    assert_frame_equal(found, expected, rel_tol=1e-14, abs_tol=0)


@pytest.mark.parametrize("missing", ["drop", "unretrieved"])
@pytest.mark.parametrize("ascending", [False, True])
def test_rows_without_a_score_are_counted_too(counted, missing, ascending):
    rows = REPEATED.with_columns(score=pl.when(pl.int_range(pl.len()) % 5 > 0).then("score"))
    asked = {"by": "region", "missing": missing, "ascending": ascending}
    found = frame_prc.curve(rows, "late", "score", **asked)
    assert counted
    assert_frame_equal(found, frame_prc.curve(rows.lazy(), "late", "score", **asked).collect())


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int8, pl.Decimal(5, 2), pl.UInt128])
def test_scores_of_other_dtypes_are_counted_too(counted, dtype):
    rows = REPEATED.with_columns(pl.col("score").cast(dtype))
    found = frame_prc.curve(rows, "late", "score", by="region")
    assert counted
    assert_frame_equal(found, frame_prc.curve(rows.lazy(), "late", "score", by="region").collect())


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.5, 0.25, -1.0])), min_size=1))
def test_average_precision_of_counts_is_that_of_the_oracle(rows):
    frame = pl.DataFrame(rows, ["truth", "score"], orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_ROWS_PER_SCORE", 0)
        found = frame_prc.average_precision(frame, "truth", "score")["average_precision"].item()
    expected = oracle.average_precision([oracle.Row(*row) for row in rows])
    assert found == (None if expected is None else pytest.approx(float(expected), rel=1e-14))


ROW = pl.int_range(10_000)
CHOSEN = {
    "few": (ROW % 20 / 20, 1, True),
    "many": (ROW % 1_000 / 1_000, 1, False),
    "few in many segments": (ROW % 100 / 100, 100, False),
    "a frequent one among many": (pl.when(ROW % 3 == 0).then(0).otherwise(ROW), 1, False),
}


@pytest.mark.parametrize(("scores", "segments", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_only_scores_with_many_rows_each_are_counted(monkeypatch, scores, segments, expected):
    found, count = [], ranking._counted  # noqa: SLF001 - is what is tested
    monkeypatch.setattr(ranking, "_counted", lambda one: (found.append(one), count(one))[1])
    rows = pl.select(truth=ROW % 3 == 0, score=scores, segment=ROW // 7 % segments)
    frame_prc.average_precision(rows, "truth", "score", by="segment")
    assert bool(found) is expected
