"""Arrow tables: those of pyarrow come back as they were, those of others as their class can."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import cycle

import optional
import polars as pl
import pyarrow as pa
import pytest
from border_calls import OF_ROWS, OTHERS, ROWS, TABLES
from polars.testing import assert_frame_equal

import frame_prc


class Stream:
    """What Polars and pyarrow know of a table of another package."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Made(Stream):
    """A table of a package whose class can be made from Arrow."""

    @classmethod
    def from_arrow(cls, table):
        return cls(pa.table(table))


MAKE = {
    "Table": (lambda rows: rows.to_arrow(), pa.Table),
    "RecordBatch": (lambda rows: rows.rechunk().to_arrow().to_batches()[0], pa.RecordBatch),
    "RecordBatchReader": (lambda rows: rows.to_arrow().to_reader(), pa.RecordBatchReader),
    "of another package": (lambda rows: Stream(rows.to_arrow()), pa.Table),
    "of another class": (lambda rows: Made(rows.to_arrow()), Made),
}
every_kind = pytest.mark.parametrize(("make", "kind"), MAKE.values(), ids=MAKE)


def each_once(calls):
    """Return calls, each on one kind of table, in turns that use all kinds."""
    return [(call, *MAKE[name]) for call, name in zip(calls, cycle(MAKE), strict=False)]


def rows_of(result) -> pl.DataFrame:
    return pl.DataFrame(result)


# --- what goes in comes out --------------------------------------------------------------------


def test_every_function_that_takes_a_frame_is_called_here():
    others = {"average_precision_expr", "iso_f1", "merge_counts"}
    functions = {name for name in frame_prc.__all__ if name.islower()}
    assert {*TABLES, *OTHERS} == functions - others


@pytest.mark.parametrize(("verb", "make", "kind"), each_once(TABLES), ids=[*TABLES])
def test_arrow_tables_come_back_with_the_numbers_of_polars(verb, make, kind):
    result = TABLES[verb](make(ROWS))
    assert type(result) is kind
    assert_frame_equal(rows_of(result), TABLES[verb](ROWS), check_exact=True)


@pytest.mark.thorough
@pytest.mark.parametrize(("verb", "make", "kind"), each_once(OTHERS), ids=[*OTHERS])
def test_arrow_tables_are_drawn_and_written_as_those_of_polars(verb, make, kind):
    assert kind is not None
    assert OTHERS[verb](make(ROWS)) == OTHERS[verb](ROWS)


@every_kind
def test_counts_of_arrow_are_added_up(make, kind):
    halves = [frame_prc.counts(make(half), **OF_ROWS) for half in (ROWS.head(5), ROWS.tail(7))]
    merged = frame_prc.merge_counts(*halves)
    assert type(merged) is kind
    assert_frame_equal(rows_of(merged), frame_prc.counts(ROWS, **OF_ROWS))


def test_counts_of_two_kinds_of_arrow_are_not_added_up():
    table = frame_prc.counts(ROWS.to_arrow(), **OF_ROWS)
    with pytest.raises(frame_prc.FrameError, match=r"kinds: pyarrow.*Batch and pyarrow"):
        frame_prc.merge_counts(table, table.to_batches()[0])


@every_kind
def test_thresholds_may_be_arrow_tables(make, kind):
    chosen = ROWS.prc.operating_points(**OF_ROWS, recall=0.5).select("region", "threshold")
    held = frame_prc.operating_points(make(ROWS), **OF_ROWS, threshold=make(chosen))
    assert type(held) is kind
    assert_frame_equal(rows_of(held), ROWS.prc.operating_points(**OF_ROWS, threshold=chosen))


def test_nanoarrow_comes_back_as_nanoarrow():
    nanoarrow = optional.require_module("nanoarrow")
    for kind in (nanoarrow.ArrayStream, nanoarrow.Array):
        result = frame_prc.average_precision(kind(ROWS), **OF_ROWS)
        assert type(result) is kind
        assert_frame_equal(rows_of(result), ROWS.prc.average_precision(**OF_ROWS))


def test_several_batches_are_one_table():
    table = pa.concat_tables([ROWS.head(5).to_arrow(), ROWS.tail(7).to_arrow()])
    assert len(table.to_batches()) == 2
    expected = ROWS.prc.curve(**OF_ROWS)
    for frame in (table, table.to_reader(), Stream(table)):
        assert_frame_equal(rows_of(frame_prc.curve(frame, **OF_ROWS)), expected)


# --- types of keys -----------------------------------------------------------------------------

DAY, MOMENT = date(2024, 1, 2), datetime(2024, 1, 2, 3, tzinfo=UTC)
TYPES = {
    "string": ["b", "a", None],
    "large_string": ["b", "a", None],
    "string_view": ["b", "a", None],
    "binary": [b"b", b"a", None],
    "binary of 2": [b"bb", b"aa", None],
    "int8": [2, 1, None],
    "uint64": [2**63, 1, None],
    "bool_": [True, False, None],
    "date32": [DAY, date(2024, 1, 1), None],
    "date64": [DAY, date(2024, 1, 1), None],
    "seconds": [MOMENT.replace(tzinfo=None), None],
    "nanoseconds with a zone": [MOMENT, None],
    "time32": [time(2), time(1), None],
    "duration": [timedelta(2), timedelta(1), None],
    "decimal": [Decimal("2.50"), Decimal("1.25"), None],
    "struct": [{"a": "x", "b": 1}, {"a": "w", "b": None}],
    "list": [["a", "b"], ["a"], None],
    "dictionary": ["b", "a", None],
    "ordered dictionary": ["b", "a", None],
    "dictionary of numbers": [2, 1, None],
    "null": [None, None],
}
ARROW = {
    "binary of 2": pa.binary(2),
    "seconds": pa.timestamp("s"),
    "nanoseconds with a zone": pa.timestamp("ns", "Europe/Berlin"),
    "time32": pa.time32("s"),
    "duration": pa.duration("s"),
    "decimal": pa.decimal128(9, 2),
    "struct": pa.struct({"a": pa.string(), "b": pa.int8()}),
    "list": pa.list_(pa.string()),
    "dictionary": pa.dictionary(pa.int8(), pa.string()),
    "ordered dictionary": pa.dictionary(pa.int32(), pa.string(), ordered=True),
    "dictionary of numbers": pa.dictionary(pa.int16(), pa.int64()),
}


def with_key(name: str) -> pa.Table:
    kind = ARROW.get(name) or getattr(pa, name)()
    key = pa.array(TYPES[name], kind)
    n = len(key)
    return pa.table({"key": key, "late": [True] * n, "score": [0.5] * n})


@pytest.mark.parametrize("name", TYPES)
def test_keys_keep_their_arrow_type_and_values(name):
    table = with_key(name)
    if name == "ordered dictionary":
        ordered = pa.DictionaryArray.from_arrays(
            pa.array([0, 1, None], pa.int32()), pa.array(["b", "a"]), ordered=True
        )
        table = table.set_column(0, "key", ordered)
    for verb in (frame_prc.average_precision, frame_prc.counts):
        result = verb(table, "late", "score", by="key")
        assert result.schema.field("key").type == table.schema.field("key").type
        values = {*map(repr, table["key"].to_pylist())}
        assert {*map(repr, result["key"].to_pylist())} == values


def test_ordered_dictionaries_sort_in_their_order_and_others_by_their_text():
    table = pa.table({"late": [True] * 3, "score": [0.5] * 3})
    orders = {}
    for ordered in (True, False):
        key = pa.DictionaryArray.from_arrays([2, 0, 1], ["low", "mid", "high"], ordered=ordered)
        keyed = table.append_column("key", key)
        result = frame_prc.average_precision(keyed, "late", "score", by="key")
        orders[ordered] = result["key"].to_pylist()
    assert orders == {True: ["low", "mid", "high"], False: ["high", "low", "mid"]}


# --- what cannot be read -----------------------------------------------------------------------


def test_column_that_is_not_read_may_have_any_type():
    union = pa.UnionArray.from_sparse(
        pa.array([0, 1] * 6, pa.int8()), [pa.array([1] * 12), pa.array(["a"] * 12)]
    )
    table = ROWS.to_arrow().append_column("anything", union)
    expected = ROWS.prc.average_precision(**OF_ROWS)
    batch = pa.RecordBatch.from_arrays([c.combine_chunks() for c in table], table.column_names)
    for frame in (table, batch, table.to_reader()):
        assert_frame_equal(rows_of(frame_prc.average_precision(frame, **OF_ROWS)), expected)
    says = "column 'anything' of Arrow type sparse_union<.*does not convert to Polars"
    with pytest.raises(frame_prc.FrameError, match=says):
        frame_prc.average_precision(table, "late", "score", by="anything")


@pytest.mark.parametrize("zone", ["+05:30", "-08:00", "+0200", "+00:00"])
def test_a_time_zone_that_is_an_offset_is_read_and_given_back(zone):
    table = ROWS.to_arrow()
    hours = pa.array([k * 3_600_000_000 for k in range(table.num_rows)], pa.timestamp("us", zone))
    given = table.append_column("at", hours)
    for frame in (given, given.to_reader(), given.to_batches()[0]):
        found = frame_prc.counts(frame, "late", "score", by="at")
        found = found.read_all() if isinstance(found, pa.RecordBatchReader) else found
        assert found.schema.field("at").type == pa.timestamp("us", zone)
        assert found["at"].cast(pa.int64()).to_pylist() == hours.cast(pa.int64()).to_pylist()


def test_a_time_zone_that_is_an_offset_of_no_zone_is_told_to_get_a_name():
    table = ROWS.to_arrow()
    at = pa.array([0] * table.num_rows, pa.timestamp("us", "-03:30"))
    offset = table.append_column("at", at)
    for frame in (offset, offset.to_reader(), offset.to_batches()[0]):
        with pytest.raises(frame_prc.FrameError, match=r"'at' .*cast it to a zone with a name"):
            frame_prc.counts(frame, "late", "score", by="at")
    named = table.append_column("at", at.cast(pa.timestamp("us", "UTC")))
    found = frame_prc.counts(named, "late", "score", by="at")
    assert found.schema.field("at").type == pa.timestamp("us", "UTC")


def test_readers_can_be_read_once():
    reader = ROWS.to_arrow().to_reader()
    assert frame_prc.average_precision(reader, "late", "score").read_all().num_rows == 1
    with pytest.raises(frame_prc.FrameError, match=r"was read before.*read_all\(\) gives a table"):
        frame_prc.average_precision(reader, "late", "score")


def test_streams_that_were_read_are_refused():
    nanoarrow = optional.require_module("nanoarrow")
    stream = nanoarrow.ArrayStream(ROWS)
    frame_prc.average_precision(stream, "late", "score")
    with pytest.raises(frame_prc.FrameError, match=r"released.* a stream can be read only once"):
        frame_prc.average_precision(stream, "late", "score")


def test_names_that_occur_twice_are_refused_where_they_are_read():
    twice = pa.table([[1, 0], [0.5, 0.4], [1, 2], [3, 4]], names=["late", "score", "a", "a"])
    with pytest.raises(frame_prc.ColumnError, match="Arrow table has 2 columns named 'a'"):
        frame_prc.average_precision(twice, "late", "score", by="a")
    assert frame_prc.average_precision(twice, "late", "score").num_rows == 1
    with pytest.raises(frame_prc.ColumnError, match="did you mean 'score'"):
        frame_prc.average_precision(twice, "late", "scor")
    with pytest.raises(frame_prc.FrameError, match=r"Stream does not convert.*once"):
        frame_prc.average_precision(Stream(twice), "late", "score")


def test_way_back_is_known_before_anything_is_computed(monkeypatch):
    arrow_frames = optional.require_module("frame_prc._frames.arrow_frames")
    monkeypatch.setattr(arrow_frames, "find_spec", lambda _: None)
    frame = Stream(ROWS.to_arrow())
    with pytest.raises(frame_prc.FrameError, match=r"pyarrow is not installed.*pip install pyarr"):
        frame_prc.average_precision(frame, "late", "score")
    assert type(frame_prc.average_precision(Made(frame.table), "late", "score")) is Made
