"""Narwhals frames: verbs read the frame inside, and give a frame back as Narwhals."""

from __future__ import annotations

from itertools import cycle

import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw1
import narwhals.stable.v2 as nw2
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pytest
from border_calls import OF_ROWS, ROWS, TABLES
from polars.testing import assert_frame_equal

import frame_prc

INSIDE = {
    "DataFrame": (lambda rows: rows, pl.DataFrame),
    "LazyFrame": (lambda rows: rows.lazy(), pl.LazyFrame),
    "pandas": (lambda rows: rows.to_pandas(), pd.DataFrame),
    "pyarrow": (lambda rows: rows.to_arrow(), pa.Table),
}
every_version = pytest.mark.parametrize("version", [nw, nw1, nw2], ids=lambda v: v.__name__)


def rows_of(result) -> pl.DataFrame:
    native = result.to_native()
    native = native.collect() if isinstance(native, pl.LazyFrame) else native
    return pl.from_pandas(native) if isinstance(native, pd.DataFrame) else pl.DataFrame(native)


def each_once(calls):
    """Return calls, each on one frame inside Narwhals, in turns that use all of them."""
    return [(call, *INSIDE[name]) for call, name in zip(calls, cycle(INSIDE), strict=False)]


@pytest.mark.parametrize(("verb", "make", "kind"), each_once(TABLES), ids=[*TABLES])
def test_frames_inside_narwhals_come_back_inside_narwhals(verb, make, kind):
    frame = nw.from_native(make(ROWS))
    result = TABLES[verb](frame)
    assert type(result) is type(frame)
    assert type(result.to_native()) is kind
    alone = TABLES[verb](ROWS.lazy() if kind is pl.LazyFrame else ROWS)
    found, expected = rows_of(result), alone.lazy().collect()
    if kind is pd.DataFrame:  # NumPy has no null for integers
        found = found.cast(dict(expected.schema))
    assert_frame_equal(found, expected, check_exact=True)


@every_version
def test_results_are_of_the_version_that_came_in(version):
    for make, _ in INSIDE.values():
        frame = version.from_native(make(ROWS))
        result = frame_prc.average_precision(frame=frame, **OF_ROWS)
        assert type(result) is type(frame)
        assert result.columns[:2] == ["region", "n"]


@every_version
def test_relations_are_of_the_version_that_came_in(version):
    relation = duckdb.connect().from_arrow(ROWS.to_arrow())
    frame = version.from_native(relation)
    result = frame_prc.counts(frame, **OF_ROWS)
    assert type(result) is type(frame)
    assert_frame_equal(result.to_native().pl(), frame_prc.counts(ROWS, **OF_ROWS))


def test_lazy_frames_inside_narwhals_are_not_read_at_the_call():
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("it was read")

    source = ROWS.lazy().map_batches(fail, schema=ROWS.schema)
    result = frame_prc.curve(nw.from_native(source), **OF_ROWS)
    assert isinstance(result, nw.LazyFrame)
    with pytest.raises(Exception, match="it was read"):
        result.collect()


def test_polars_expressions_are_columns_of_narwhals_frames():
    result = frame_prc.curve(nw.from_native(ROWS), "late", pl.col("score") * 2, by=cs.by_index(0))
    assert_frame_equal(result.to_native(), ROWS.prc.curve("late", pl.col("score") * 2, by="region"))
    with pytest.raises(frame_prc.OptionError, match=r"score= takes columns, got .*Expr"):
        frame_prc.curve(nw.from_native(ROWS), "late", nw.col("score"))


def test_parts_and_thresholds_may_be_narwhals_frames():
    counts = [frame_prc.counts(nw.from_native(half), **OF_ROWS) for half in (ROWS[:5], ROWS[5:])]
    merged = frame_prc.merge_counts(*counts)
    assert_frame_equal(merged.to_native(), ROWS.prc.counts(**OF_ROWS))
    chosen = frame_prc.operating_points(nw.from_native(ROWS), **OF_ROWS, recall=0.5)
    chosen = chosen.select("region", "threshold")
    expected = ROWS.prc.operating_points(**OF_ROWS, threshold=chosen.to_native())
    held = frame_prc.operating_points(ROWS, **OF_ROWS, threshold=chosen)
    assert_frame_equal(held, expected)
    curve = frame_prc.curve(nw.from_native(ROWS), **OF_ROWS)
    assert frame_prc.plot(curve).to_dict() == frame_prc.plot(curve.to_native()).to_dict()


def test_errors_are_those_of_the_frame_inside():
    frame = nw.from_native(ROWS)
    with pytest.raises(frame_prc.ColumnError, match="did you mean 'score'"):
        frame_prc.curve(frame, "late", "scor")
    with pytest.raises(frame_prc.ParameterError, match=r"did you mean by=\?"):
        frame_prc.curve(frame, "late", "score", group="region")
    with pytest.raises(frame_prc.FrameError, match=r"type narwhals\.Series"):
        frame_prc.curve(frame["score"], "late", "score")
