"""Intervals by the influence of each row, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from exact import names, segments, table
from hypothesis import given
from hypothesis import strategies as st
from intervals import INTERVAL, ROUNDED, expected_interval, interval_of
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import BY, FLOAT_WEIGHTS, INTEGER_WEIGHTS, SCORES_OR_NONE, SIMILAR_WEIGHTS, frames


def expected(df: pl.DataFrame, by: Any, ci: float) -> pl.DataFrame:
    records = ((*key, *expected_interval(rows, ci)) for key, rows in segments(df, by).items())
    return table(df, by, records, dict.fromkeys(INTERVAL, pl.Float64))


@given(frames(SCORES_OR_NONE, FLOAT_WEIGHTS, max_size=8))
def test_oracle_moves_are_derivatives(df):
    rows = segments(df, None)[()]
    if oracle.totals(rows)[0]:
        step = Fraction(1, 10**8)
        for place, move in enumerate(oracle.moves(rows)):
            higher, lower = (
                [*rows[:place], rows[place]._replace(weight=weight), *rows[place + 1 :]]
                for weight in (rows[place].weight + step, rows[place].weight - step)
            )
            areas = [oracle.average_precision(moved) for moved in (higher, lower)]
            assert float((areas[0] - areas[1]) / (2 * step)) == pytest.approx(
                float(move), rel=1e-3, abs=1e-6
            )


@given(frames(SCORES_OR_NONE, INTEGER_WEIGHTS, max_size=8))
def test_oracle_moves_cancel(df):
    rows = segments(df, None)[()]
    if oracle.totals(rows)[0]:
        moved = zip(rows, oracle.moves(rows), strict=True)
        assert sum(row.weight * move for row, move in moved) == 0


@every_kind
@pytest.mark.parametrize(
    "weights", [None, INTEGER_WEIGHTS, SIMILAR_WEIGHTS], ids=["unweighted", "integer", "float"]
)
@given(st.data(), BY, st.sampled_from([0.5, 0.95, 0.999]))
def test_interval_equals_exact_arithmetic(kind, weights, data, by, ci):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = interval_of(kind, df, by=by, ci=ci, missing="unretrieved")
    keys = names(by)
    found, wanted = result.select(*keys, *INTERVAL), expected(df, by, ci)
    bounded = [] if weights is None else ["ci_low"]  # of weighted rows the bias is not that exact
    for low, most in zip(found["ci_low"], wanted["ci_low"], strict=True):
        assert (low is None) == (most is None)
        assert low is None or low <= most + 1e-9
    assert_frame_equal(found.drop(keys + bounded), wanted.drop(keys + bounded), **ROUNDED)


@every_kind
@given(frames(SCORES_OR_NONE, FLOAT_WEIGHTS))
def test_weights_far_apart_lose_as_many_digits_as_the_square_of_their_ratio(kind, df):
    result = interval_of(kind, df, missing="unretrieved")
    used = df.filter(pl.col("weight") > 0)["weight"]
    within = 1e-15 * (used.max() / used.min()) ** 2 if len(used) else 0.0
    exact = expected(df, None, 0.95)["std_error"].item()
    found = result["std_error"].item()
    assert found == (None if exact is None else pytest.approx(exact, rel=max(within, 1e-9)))


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@given(st.data())
def test_clustered_error_equals_exact_arithmetic(kind, weight, data):
    df = data.draw(frames(SCORES_OR_NONE, FLOAT_WEIGHTS if weight else None))
    df = df.with_columns(user=data.draw(_clusters(df.height)))
    result = interval_of(kind, df, cluster="user", missing="unretrieved")
    kept = df.filter(pl.col("weight") > 0) if weight else df
    users = kept["user"].to_list()
    rows = segments(kept, None)[()]
    expected = expected_interval(rows, 0.95, users)
    found = result.select(INTERVAL).row(0)
    if weight and found[1] is not None:  # of weighted rows the bias is not that exact
        assert found[1] <= expected[1] + 1e-8
        assert found[2] >= expected[2] - 1e-8
        found = (found[0], *expected[1:])
    assert found == _approximately(expected)


def _clusters(height: int) -> st.SearchStrategy[pl.Series]:
    return st.lists(st.integers(1, 4), min_size=height, max_size=height).map(
        lambda values: pl.Series(values, dtype=pl.Int64)
    )


def _approximately(values: tuple) -> tuple:
    # Where all that clusters of several rows move cancels, rounding leaves a little.
    return tuple(None if v is None else pytest.approx(v, rel=1e-9, abs=1e-8) for v in values)
