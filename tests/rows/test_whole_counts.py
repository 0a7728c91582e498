"""Counts of rows that are whole, but come as decimals or floats from a warehouse or from pandas."""

from __future__ import annotations

import re

import polars as pl
import pytest
from engine_kinds import every_kind_and_duckdb
from kinds import every_kind

import frame_prc
from frame_prc import OptionError

COUNTS = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "b", "b"],
        "score": [0.9, 0.8, 0.7, 0.5, 0.2],
        "pos": [30, 20, 10, 25, 21],
        "neg": [1, 5, 10, 30, 100],
    }
)
ROLES = {"score": "score", "pos": "pos", "neg": "neg"}
FLOATS = COUNTS.with_columns(pl.col("pos", "neg").cast(pl.Float64))
DECIMALS = COUNTS.with_columns(pl.col("pos", "neg").cast(pl.Decimal(38, 0)))


@every_kind_and_duckdb
@pytest.mark.parametrize("dtype", [pl.Decimal(38, 0), pl.Decimal(9, 0)], ids=str)
def test_whole_numbers_of_any_dtype_are_counts_of_rows(kind, dtype):
    df = COUNTS.with_columns(pl.col("pos", "neg").cast(dtype))
    asked = {**ROLES, "by": "segment", "ci": 0.9}
    found = kind.rows(frame_prc.average_precision(kind.make(df), **asked))
    expected = frame_prc.average_precision(COUNTS, **asked)
    assert found.cast(dict(expected.schema)).equals(expected)
    assert kind.name == "pandas" or found.schema == expected.schema


@every_kind
def test_whole_counts_have_tests_and_pictures(kind):
    frame = kind.make(DECIMALS)
    expected = frame_prc.heterogeneity(COUNTS, **ROLES, by="segment")
    found = kind.rows(frame_prc.heterogeneity(frame, **ROLES, by="segment"))
    assert found["p_value"].equals(expected["p_value"])
    curve = kind.rows(frame_prc.curve(frame, **ROLES))
    assert curve["tp"].dtype == pl.Int64
    assert frame_prc.plot_summary(frame, **ROLES, by="segment")


NEED_COUNTS = {
    "heterogeneity": {"by": "segment"},
    "average_precision": {"ci": 0.9},
    "auc": {"ci": 0.9},
    "curve": {"ci": 0.9},
    "band": {"recalls": 3},
    "operating_points": {"threshold": 0.5, "ci": 0.9},
    "counts": {"squares": True},
}


@every_kind
@pytest.mark.parametrize(("verb", "asked"), NEED_COUNTS.items(), ids=NEED_COUNTS)
def test_floats_become_counts_of_rows_as_the_hint_says(kind, verb, asked):
    with pytest.raises(OptionError, match="sums of weights") as raised:
        getattr(frame_prc, verb)(kind.make(FLOATS), **ROLES, **asked)
    polars, pandas = re.search(
        r"cast them, as in pos=(.*), or in pandas (frame\[.*?\]\.astype\('Int64'\))",
        str(raised.value),
    ).groups()
    cast = eval(polars, {"pl": pl})  # noqa: S307 - what the hint says
    roles = {**ROLES, "pos": cast, "neg": pl.col("neg").cast(pl.Int64)}
    assert kind.rows(getattr(frame_prc, verb)(kind.make(FLOATS), **roles, **asked)).height
    rows = FLOATS.to_pandas()
    assert eval(pandas, {"frame": rows}).tolist() == COUNTS["pos"].to_list()  # noqa: S307


@every_kind
def test_an_interval_that_is_unknown_is_not_ok(kind):
    table = kind.rows(frame_prc.summary(kind.make(FLOATS), **ROLES, by="segment", overall=True))
    assert table["ci_low"].null_count() == table.height
    assert table["status"].unique().to_list() == ["no_std_error"]
