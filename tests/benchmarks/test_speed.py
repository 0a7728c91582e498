"""The speed and memory that this project promises; run with ``pytest -m benchmark -s``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import polars as pl
import pytest
from benchmarks import contenders
from benchmarks.bootstrap import agreement
from benchmarks.data import Rows
from benchmarks.measure import peaks, seconds, times

pytestmark = pytest.mark.benchmark

MANY = Rows(5_000_000, segments=100)


def test_average_precision_beats_a_loop_over_segments():
    table = _times(MANY.frame(), "ap", "sklearn_loop")

    assert seconds(table, "sklearn_loop") >= 3 * seconds(table, "ap")


def test_many_small_segments_beat_groupby_apply():
    rows = Rows(1_000_000, segments=20_000)
    frame = rows.frame()
    # The loop takes a minute: it is timed on a tenth of the segments, and counts ten times.
    tenth = frame.filter(pl.col("segment") < rows.segments // 10).to_pandas()
    table = times(
        {
            "ap": partial(contenders.ap, frame, rows.by),
            "a tenth of pandas_apply": partial(contenders.pandas_apply, tenth, rows.by),
        },
        rounds=3,
    )
    print(f"\n{rows}", table, sep="\n")

    assert 10 * seconds(table, "a tenth of pandas_apply") >= 200 * seconds(table, "ap")


def test_curve_costs_little_more_than_average_precision():
    table = _times(MANY.frame(), "ap", "curve")

    assert seconds(table, "curve") <= 3 * seconds(table, "ap")


@pytest.mark.parametrize("weight", [None, "weight"])
def test_interval_costs_little_more_than_average_precision(weight):
    rows = replace(MANY, weighted=weight is not None)
    verb = partial(rows.frame().prc.average_precision, "truth", "score", by=rows.by, weight=weight)
    table = times({"ap": verb, "interval": partial(verb, ci=0.95)})
    print(f"\n{rows}", table, sep="\n")

    # Weights are sorted twice: once for their sums, and once for those of their squares.
    assert seconds(table, "interval") <= (2.2 if weight else 1.6) * seconds(table, "ap")


def test_peak_memory(tmp_path):
    # So many that what any process needs, some 100 MB whatever it does, counts for little.
    rows = replace(MANY, rows=20_000_000)
    table = peaks(rows.frame(), rows.by, ["read", "ap", "curve"], tmp_path)
    print(f"\n{rows}, from Parquet", table, sep="\n")
    peak = table.rows_by_key("contender", named=True, unique=True)

    assert peak["ap"]["times_input"] <= 5
    # The curve itself is four times as large as its input: the promise is about the rest.
    assert peak["curve"]["work_times_input"] <= 5


def test_summary_costs_little_more_than_average_precision():
    table = _times(MANY.frame(), "ap", "summary")

    assert seconds(table, "summary") <= 3 * seconds(table, "ap")


def test_a_thousand_replicates_of_a_million_rows(tmp_path):
    rows = replace(MANY, rows=1_000_000)
    frame = rows.frame()
    taken = times({"bootstrap": partial(contenders.bootstrap, frame, rows.by)}, rounds=1)
    table = peaks(frame, rows.by, ["bootstrap"], tmp_path, rounds=1)
    print(f"\n{rows}", taken, table, sep="\n")

    assert taken["min"].item() <= 60
    assert table["peak"].item() <= 4e9


def test_standard_errors_agree_with_the_bootstrap():
    table = agreement()
    print(table)

    assert table.height >= 10
    assert table["ratio"].is_between(0.95, 1.05).all()


def _times(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    runs = {name: partial(getattr(contenders, name), frame, MANY.by) for name in names}
    table = times(runs)
    print(f"\n{MANY}", table, sep="\n")
    return table
