"""Values looked up at places: NumPy does it as Polars and plain Python do."""

from __future__ import annotations

import polars as pl
import pytest
from kinds import SMALL
from polars.testing import assert_series_equal

from frame_prc import _execution
from frame_prc._ranking import sorted_rows

VALUES = {
    "floats": pl.Series("value", [0.5, float("nan"), -0.0, 1e300]),
    "integers": pl.Series("value", [3, -1, 2**62, 0]),
    "with a null": pl.Series("value", [3, None, 2**62, 0]),
    "text": pl.Series("value", ["a", "b", None, ""]),
    "wide": pl.Series("value", [1, 2, 3, -(2**100)], dtype=pl.Int128),
    "dates": pl.Series("value", [0, 1, 2, None]).cast(pl.Date),
}


@pytest.fixture(params=[True, False], ids=["NumPy", "no NumPy"])
def numpy(request, monkeypatch):
    """With and without NumPy, in parts of a few values."""
    monkeypatch.setattr(sorted_rows, "has_numpy", lambda: request.param)
    monkeypatch.setattr(_execution, "SIZES", SMALL._replace(part=3))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("at", [[], [2], [3, 0, 0, 1, 2, 3, 1, 1], [3, None, 0]], ids=str)
@pytest.mark.usefixtures("numpy")
def test_values_are_looked_up_at_places(values, at):
    chunked = pl.concat([values[:1], values[1:3], values[3:]], rechunk=False)
    found = sorted_rows.looked_up(chunked, pl.Series(at, dtype=pl.UInt32))
    listed = values.to_list()
    expected = [None if place is None else listed[place] for place in at]
    assert_series_equal(found, pl.Series("value", expected, dtype=values.dtype))
