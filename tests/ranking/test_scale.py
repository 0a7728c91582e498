"""Slots of scores: exact, in descending order, and back again."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_series_equal

from frame_prc._ranking.keys import Scale

INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
WIDTHS = {pl.Float16: 16, pl.Float32: 32, pl.Float64: 64}
EXTREMES = {  # the least subnormal, the least normal and the largest number
    pl.Float16: (2.0**-24, 2.0**-14, 65504.0),
    pl.Float32: (2.0**-149, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    pl.Float64: (2.0**-1074, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
}

every_dtype = pytest.mark.parametrize("dtype", [*WIDTHS, *INTEGERS], ids=str)
every_float = pytest.mark.parametrize("dtype", WIDTHS, ids=str)


def scores(dtype: type[pl.DataType]) -> st.SearchStrategy[pl.Series]:
    """Return distinct scores in descending order; of -0.0 and 0.0, one of the two."""
    if dtype in WIDTHS:
        numbers = st.floats(width=WIDTHS[dtype], allow_nan=False)
    else:
        low, high = pl.select(low=dtype.min(), high=dtype.max()).row(0)
        numbers = st.integers(low, high) | st.sampled_from([low, low + 1, high - 1, high])
    unique = st.lists(numbers, min_size=1, max_size=30, unique=True)
    ordered = unique.map(lambda found: sorted(found, reverse=True))
    return ordered.map(lambda found: pl.Series("score", found, dtype=dtype))


def slots(dtype: type[pl.DataType], values: pl.Series) -> pl.Series:
    return values.to_frame("score").select(slot=Scale.of(dtype()).slot(pl.col("score")))["slot"]


def scores_of(dtype: type[pl.DataType], values: pl.Series) -> pl.Series:
    return values.to_frame("slot").select(score=Scale.of(dtype()).score(pl.col("slot")))["score"]


@every_dtype
@given(data=st.data())
def test_slots_ascend_while_scores_descend_and_give_them_back(dtype, data):
    given_scores = data.draw(scores(dtype))
    found = slots(dtype, given_scores)
    assert found[0] > 0
    assert found[-1] < Scale.of(dtype()).last
    assert all(higher_score < lower_score for higher_score, lower_score in pairwise(found))
    assert_series_equal(scores_of(dtype, found), given_scores, check_exact=True)


@every_float
def test_extreme_floats_have_slots_in_order_and_come_back(dtype):
    subnormal, normal, largest = EXTREMES[dtype]
    positive = [float("inf"), largest, normal, subnormal]
    values = [*positive, 0.0, *(-value for value in reversed(positive))]
    series = pl.Series("score", values, dtype=dtype)
    found = slots(dtype, series)
    assert series.n_unique() == found.n_unique() == len(values)
    assert found.is_sorted()
    assert_series_equal(scores_of(dtype, found), series, check_exact=True)


@every_float
def test_negative_zero_has_the_slot_of_zero(dtype):
    assert slots(dtype, pl.Series([-0.0, 0.0], dtype=dtype)).n_unique() == 1


@every_dtype
def test_missing_score_has_the_last_slot(dtype):
    assert slots(dtype, pl.Series([None, 1], dtype=dtype))[0] == Scale.of(dtype()).last
    assert scores_of(dtype, slots(dtype, pl.Series([1], dtype=dtype))).to_list() == [1]


@every_dtype
@given(data=st.data())
def test_scale_of_some_scores_serves_all_between_them(dtype, data):
    given_scores = data.draw(scores(dtype))
    scale = Scale.over([given_scores], dtype(), ascending=False)
    frame = given_scores.to_frame().with_columns(slot=scale.slot(pl.col("score")))
    found = frame["slot"].to_list()
    assert found[0] > 0
    assert found[-1] < scale.last
    assert scale.bits <= Scale.of(dtype()).bits
    assert all(before < after for before, after in pairwise(found))
    back = frame.select(score=scale.score(pl.col("slot")))["score"]
    assert_series_equal(back, given_scores, check_exact=True)


def width(*scores: float) -> int:
    column = pl.Series("score", scores, dtype=pl.Float64)
    return Scale.over([column], pl.Float64(), ascending=False).bits


def test_scores_close_together_have_narrow_slots():
    assert width(0.5, math.nextafter(0.5, 1), 1.0) == 53
    assert Scale.of(pl.Float32()).bits == 32
    assert Scale.of(pl.Float64()).bits == 64
    assert width(0.0, -0.0) == 2
