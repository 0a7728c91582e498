"""Numbers of segments in memory: by a set of the first keys, or by groups; both the same."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest
from kinds import looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._ranking import keys

KEYS = {
    "integers": pl.Series([3, -2, 3, -2, 3, 1], dtype=pl.Int64),
    "integers from zero": pl.Series([0, 2, 0, 2, 0, 2], dtype=pl.Int64),
    "integers from one": pl.Series([5, 1, 1, 5, 3, 3], dtype=pl.UInt8),
    "integers far from zero": pl.Series([100, 102, 100, 102, 103, 103], dtype=pl.Int64),
    "lowest integers of 64 bits": pl.Series([-(2**63), 1 - 2**63] * 3, dtype=pl.Int64),
    "integers of all 64 bits": pl.Series([-(2**63), -1, 2**63 - 1] * 2, dtype=pl.Int64),
    "lowest integers": pl.Series([-128, 127, -128, 127, 0, 0], dtype=pl.Int8),
    "unsigned integers": pl.Series([2**64 - 1, 2**64 - 2] * 3, dtype=pl.UInt64),
    "nulls": pl.Series([None, 2, None, 2, 2, 1], dtype=pl.Int16),
    "only nulls": pl.Series([None] * 6, dtype=pl.Int64),
    "truths without nulls": pl.Series([True, False, True, True, False, True]),
    "truths": pl.Series([True, False, None, True, False, None]),
    "dates": pl.Series([date(1969, 12, 30), date(1970, 1, 2)] * 3),
    "times": pl.Series([datetime(1969, 12, 31, 23), datetime(2026, 1, 1)] * 3),
    "no rows": pl.Series([], dtype=pl.Int32),
}


@pytest.fixture
def found(monkeypatch):
    """Return whether the numbers of segments were found without grouping."""
    calls = []
    numbers = keys.numbers_in_memory

    def spy(*asked):
        calls.append(numbers(*asked) is not None)
        return numbers(*asked)

    monkeypatch.setattr(keys, "numbers_in_memory", spy)
    return calls


@pytest.mark.parametrize("looks", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("key", KEYS)
def test_eager_keys_are_those_of_a_lazy_frame(key, looks):
    height = len(KEYS[key])
    truth = pl.Series([True, True, False, True, False, True][:height], dtype=pl.Boolean)
    score = pl.Series([0.5, 0.25, 0.75, 0.5, 0.125, 0.5][:height], dtype=pl.Float64)
    rows = pl.DataFrame({"key": KEYS[key], "truth": truth, "score": score, "other": -score})
    for models in (["score"], ["score", "other"]):
        lazy = frame_prc.average_precision(rows.lazy(), "truth", models, by="key").collect()
        with looking(looks=looks):
            eager = frame_prc.average_precision(rows, "truth", models, by="key")
        assert_frame_equal(eager, lazy)
        assert eager["key"].to_list() == KEYS[key].unique().sort().to_list() * len(models)


@pytest.mark.parametrize("looks", [False, True], ids=["few", "many"])
def test_narrow_ranges_of_keys_are_not_grouped(found, looks):
    rows = pl.DataFrame({"key": [2, 1, 2, 1], "truth": [True, False] * 2, "score": [1, 2, 3, 4]})
    with looking(looks=looks):
        frame_prc.average_precision(rows, "truth", "score", by="key")
    assert found == [True]
