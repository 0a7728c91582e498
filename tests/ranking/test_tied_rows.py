"""Rows in memory of which few are tied: steps and the chance level are found from their places."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import looking
from polars.testing import assert_frame_equal
from strategies import BY, frames

import frame_prc
from frame_prc._ranking import ranking

# Of such a narrow range that keys have 64 bits.
SCORES = st.sampled_from([0.25, 0.5, 1.0]) | st.floats(0.25, 1.0)
METHODS = ["trapezoid", "interpolated", "gain"]


def _tables(frame: pl.DataFrame | pl.LazyFrame, **asked: object) -> list[pl.DataFrame]:
    tables = [
        frame_prc.summary(frame, "truth", "score", **asked),
        frame_prc.auc(frame, "truth", ["score", "other"], method=METHODS, **asked),
    ]
    return [table.lazy().collect() for table in tables]


@pytest.mark.parametrize("few", [0, 1], ids=["too many", "few"])
@given(df=frames(SCORES), by=BY)
def test_results_are_those_of_all_rows(few, df, by):
    found = []
    search = ranking.shared_with_next
    with looking(looks=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "repeats_scores", lambda _: False)
        patch.setattr(ranking, "has_few_scores", lambda *_: False)
        patch.setattr(ranking, "_FEW_TIED", few)
        patch.setattr(
            ranking, "shared_with_next", lambda *keys: (found.append(keys), search(*keys))[1]
        )
        tables = _tables(df, by=by)
    for table, expected in zip(tables, _tables(df.lazy(), by=by), strict=True):
        assert_frame_equal(table, expected, rel_tol=1e-12)
    assert found or df.is_empty()


def test_ties_are_not_looked_for_where_scores_repeat(monkeypatch):
    def raises(*_):
        raise AssertionError

    monkeypatch.setattr(ranking, "shared_with_next", raises)
    df = pl.DataFrame({"truth": [0, 1] * 10, "score": [0.5, 0.75, 0.5, 0.25] * 5})
    with looking(looks=True):
        frame_prc.summary(df, "truth", "score")
