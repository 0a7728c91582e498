"""Keys of pandas keep their dtype and order, or are refused."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kinds import every_kind
from pandas_frames import ROWS, ask, category, values, with_key

import frame_prc

NAN = float("nan")
BIG = 2**53


# --- what goes in comes out --------------------------------------------------------------------


# Every key has four rows; the segments come out in the order that the second item says.
KEYS = {
    "unordered category": (category(["b", "a", None, "b"], ["c", "b", "a"], ordered=False), "_ba"),
    "ordered category": (category(["b", "a", None, "b"], ["c", "b", "a"], ordered=True), "_ba"),
    # Categories that are no strings come back as they were, but sort by value.
    "category of numbers": (category([1, 2, None, 1], [3, 2, 1], ordered=True), [None, 1, 2]),
    "string": (pd.Series(["b", "a", None, "b"], dtype="string"), "_ab"),
    "object with None": (pd.Series(["b", "a", None, "b"], dtype=object), "_ab"),
    "object with NaN": (pd.Series(["b", "a", NAN, "b"], dtype=object), "_ab"),
    "int8": (pd.Series([2, 1, 1, 2], dtype="int8"), [1, 2]),
    "uint64": (pd.Series([2**64 - 1, 1, 1, 2], dtype="uint64"), [1, 2, 2**64 - 1]),
    "nullable integer": (pd.Series([2, 1, None, 2], dtype="Int64"), [None, 1, 2]),
    "large nullable integer": (
        pd.Series([BIG + 1, BIG, pd.NA, BIG], dtype="Int64"),
        [None, BIG, BIG + 1],
    ),
    "nullable float": (pd.Series([2, 1, None, 2], dtype="Float64"), [None, 1.0, 2.0]),
    "boolean": (pd.Series([True, False, None, True], dtype="boolean"), [None, False, True]),
    "float": (pd.Series([1.5, 0.5, NAN, 1.5]), [None, 0.5, 1.5]),
    "datetime": (pd.to_datetime(["2024-02-01", "2024-01-01"] * 2), ["2024-01-01", "2024-02-01"]),
    "datetime in nanoseconds with zone": (
        pd.to_datetime(pd.Series(["2024-02-01", "2024-01-01", None, None]))
        .dt.as_unit("ns")
        .dt.tz_localize("Europe/Berlin"),
        [None, "2024-01-01 00:00+01:00", "2024-02-01 00:00+01:00"],
    ),
    "timedelta": (pd.to_timedelta(["2D", "1D"] * 2), ["1D", "2D"]),
    "period": (pd.PeriodIndex(["2024-02", "2024-01"] * 2, freq="M"), ["2024-01", "2024-02"]),
    "intervals of a cut": (pd.cut([2, 1, 1, 2], [0, 1, 2]), [pd.Interval(0, 1), pd.Interval(1, 2)]),
}


@pytest.mark.parametrize(("key", "segments"), KEYS.values(), ids=KEYS)
def test_key_of_pandas_keeps_its_dtype_and_order(key, segments):
    frame = with_key(key)
    listed = [None if s == "_" else s for s in segments]
    expected = pd.Series(listed, dtype=frame["key"].dtype)
    result = frame.prc.average_precision("late", "score", by="key")
    assert result["key"].dtype == frame["key"].dtype
    assert values(result["key"]) == values(expected)


@pytest.mark.parametrize("breaks", [[0, 1, 2], [0.5, 1, 1.5], pd.date_range("2026", periods=3)])
def test_a_row_of_all_segments_has_no_interval(breaks):
    intervals = pd.arrays.IntervalArray.from_breaks(breaks)
    found = with_key(intervals[[1, 0, 0, 1]]).prc.summary("late", "score", by="key", overall=True)
    assert found["key"].tolist()[:2] == intervals.tolist()
    assert found["key"].isna().tolist() == [False, False, True, True]
    assert found["key"].dtype.closed == "right"


def of_arrow(values: list[Any], kind: pa.DataType) -> pd.Series:
    return pd.Series(values, dtype=pd.ArrowDtype(kind))


DAYS = [date(2024, 1, 2), date(2024, 1, 1)]
NESTED = {
    "large integers beside a null": of_arrow(
        [{"a": BIG + 1}, {"a": BIG}, {"a": None}, None], pa.struct([("a", pa.int64())])
    ),
    "unsigned integers": of_arrow(
        [{"a": 2**64 - 1}, {"a": 2**64 - 2}, {"a": None}, None], pa.struct([("a", pa.uint64())])
    ),
    "lists with a null": of_arrow([[1, None], [2], [], None], pa.list_(pa.int64())),
    "lists of days": of_arrow([DAYS, DAYS[:1], [None], None], pa.list_(pa.date32())),
    "lists of large lists": of_arrow(
        [[[BIG + 1, None]], [[BIG, None]], [None], None], pa.list_(pa.large_list(pa.int64()))
    ),
    "arrays": of_arrow([[1, None], [2, 3], [2, 4], None], pa.list_(pa.int8(), 2)),
    "structs with texts": of_arrow(
        [{"a": 1, "b": "x"}, {"a": None, "b": "y"}, {"a": 2, "b": None}, None],
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
    ),
    "nanoseconds": of_arrow(
        [[pd.Timestamp(1)], [pd.Timestamp(2)], [None], None], pa.list_(pa.timestamp("ns"))
    ),
    "decimals": of_arrow(
        [[Decimal("1.5")], [Decimal("2.5")], [None], None], pa.list_(pa.decimal128(30, 2))
    ),
    "dictionaries": pd.Series([{"a": BIG + 1}, {"a": BIG}, {"a": None}, None], dtype=object),
    "lists": pd.Series([[BIG + 1, None], [BIG, None], [], None], dtype=object),
    "categories": pd.Series(pd.Categorical([(BIG, 2), (BIG + 1, 3), None, ()])),
    "different dictionaries": pd.Series([{"a": 1}, {"b": 1}, {"b": 2, "a": 1}, None], dtype=object),
    "NumPy's arrays": pd.Series(
        [np.array([BIG + 1, 2]), np.array([BIG, 2]), np.array([], dtype="int64"), None],
        dtype=object,
    ),
}


@pytest.mark.parametrize("key", NESTED.values(), ids=NESTED)
def test_nested_key_of_pandas_keeps_its_values_and_dtype(key):
    frame = with_key(key)
    result = frame.prc.average_precision("late", "score", by="key")
    assert result["key"].dtype == key.dtype
    assert sorted(map(repr, result["key"])) == sorted(map(repr, key))
    assert result["n"].tolist() == [1, 1, 1, 1]


@every_kind
def test_nested_key_made_by_an_expression_keeps_its_integers(kind):
    rows = ROWS.with_columns(number=pl.Series([BIG + 1, BIG, BIG, None]))
    by = pl.struct(pl.col("number").cast(pl.Int64), "late").alias("key")
    frame = kind.make(rows.drop("number"))
    if kind.name == "pandas":
        frame["number"] = pd.Series([BIG + 1, BIG, BIG, None], dtype="Int64")
    else:
        frame = frame.with_columns(rows["number"])
    result = frame.prc.average_precision("late", "score", by=by)
    keys = result["key"].tolist() if kind.name == "pandas" else kind.rows(result)["key"].to_list()
    assert keys == [
        {"number": None, "late": False},
        {"number": BIG, "late": False},
        {"number": BIG, "late": True},
        {"number": BIG + 1, "late": True},
    ]


NOT_THE_SAME = {
    "sets": pd.Series([{1, 2}, {3}, None, {1, 2}], dtype=object),
    "dictionaries": pd.Series([{"a": 1}, {"b": 2}, None, {"a": 1, "b": None}], dtype=object),
    "nanoseconds": pd.Series([[pd.Timestamp(1)], [pd.Timestamp(2)]] * 2, dtype=object),
    "moments in a dictionary": pd.Series(
        pd.arrays.ArrowExtensionArray(
            pa.array([1, 2, None, 1], pa.timestamp("s")).dictionary_encode()
        )
    ),
}


@pytest.mark.parametrize("key", NOT_THE_SAME.values(), ids=NOT_THE_SAME)
def test_key_that_would_come_back_to_pandas_as_another_is_refused(key):
    says = r"key 'key' of dtype .* cannot be converted back to pandas: .*\. Hint: cast it"
    with pytest.raises(frame_prc.FrameError, match=says):
        with_key(key).prc.average_precision("late", "score", by="key")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([(1, 2, 3), None], pa.list_(pa.month_day_nano_interval())),
        ([Decimal(1), None], pa.struct([("a", pa.decimal256(50, 2))])),
        ([Decimal(1), None], pa.list_(pa.decimal256(50, 2))),
    ],
)
def test_nested_column_of_pandas_on_which_polars_panics_is_refused(values, kind):
    nested = [v if v is None else {"a": v} if pa.types.is_struct(kind) else [v] for v in values]
    with pytest.raises(frame_prc.FrameError, match=r"does not convert .* column 'key' has dtype"):
        with_key(of_arrow(nested * 2, kind)).prc.average_precision("late", "score", by="key")


@pytest.mark.parametrize("verb", ["average_precision", "curve"])
@pytest.mark.parametrize("name", ["^.*$", ""])
def test_categories_of_pandas_keep_their_order_whatever_the_column_is_called(verb, name):
    key = category(["b", "a", None, "b"], ["c", "b", "a"], ordered=True)
    expected = ask(verb, with_key(key), "late", "score", by="key")
    result = ask(verb, with_key(key).rename(columns={"key": name}), "late", "score", by=name)
    pd.testing.assert_frame_equal(result.rename(columns={name: "key"}), expected)
    assert values(result[name].drop_duplicates()) == [None, "b", "a"]


@pytest.mark.parametrize("ordered", [False, True])
def test_dictionaries_of_arrow_stay(ordered):
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), ["high", "low"], ordered=ordered)
    df = pd.DataFrame({"k": pd.arrays.ArrowExtensionArray(keys), "t": [1, 0, 1], "s": [3, 2, 1]})
    result = frame_prc.counts(df, "t", "s", by="k")
    assert result["k"].dtype == df["k"].dtype
    assert result.assign(k=result["k"].astype(object)).fillna("none").to_numpy().tolist() == [
        ["none", 1, 1, 0],
        ["high", 3, 1, 0],
        ["low", 2, 0, 1],
    ]


def test_expression_named_like_its_column_does_not_take_the_dtype_of_it():
    frame = with_key(pd.Series([2, 1, 1, 2], dtype="int8"))
    result = frame.prc.average_precision("late", "score", by=pl.col("key").cast(pl.String))
    assert result["key"].tolist() == ["1", "2"]


# --- the index, and the caller's frame ---------------------------------------------------------


EAST = timezone(timedelta(hours=5))
MIXED = {
    "days and moments": [date(2024, 1, 1), datetime(2024, 1, 1, 5)],
    "moments and days": [datetime(2024, 1, 1, 5), date(2024, 1, 1)],
    "zones": [datetime(2024, 1, 1), datetime(2024, 1, 1, 5, tzinfo=EAST)],
    "times": [time(1), time(1, tzinfo=EAST)],
    "times of zones": [time(1, tzinfo=UTC), time(1, tzinfo=EAST)],
}


@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_moments_of_pandas_that_would_be_taken_for_others_are_refused(values):
    key = pd.Series([*values, None, values[0]], dtype=object)
    with pytest.raises(frame_prc.FrameError, match=r"column 'key' .*: dates among datetimes"):
        with_key(key).prc.average_precision("late", "score", by="key")
    with pytest.raises(frame_prc.FrameError, match=r"column 'key' .*: dates among datetimes"):
        with_key(key).prc.average_precision("key", "score", pos_label=values[0])


def offsets_of(text):
    """Return times with an offset from UTC as columns of several dtypes."""
    parsed = pd.to_datetime(pd.Series([f"2025-01-0{day}T02:00{text}" for day in (1, 2, 2)]))
    objects = pd.Series([value.to_pydatetime() for value in parsed], dtype=object)
    return {
        "parsed": parsed,
        "objects": objects,
        "Arrow": objects.astype(pd.ArrowDtype(pa.timestamp("us", text))),
    }


@pytest.mark.parametrize("offset", ["+05:45", "-12:00", "-09:30"])
@pytest.mark.parametrize("kind", ["parsed", "objects", "Arrow"])
def test_a_time_zone_that_is_an_offset_is_read_and_given_back(kind, offset):
    column = offsets_of(offset)[kind]
    frame = pd.DataFrame({"at": column, "truth": [1, 0, 1], "score": [0.3, 0.2, 0.1]})
    found = frame.prc.average_precision("truth", "score", by="at")
    assert found["at"].dtype == column.dtype
    assert found["at"].tolist() == column.tolist()[:2]
    assert [value.utcoffset() for value in found["at"]] == [column[0].utcoffset()] * 2
    day = pl.col("at").dt.truncate("1d")  # a local one
    days = frame.prc.average_precision("truth", "score", by=day)["at"]
    assert [str(value) for value in days] == [f"2025-01-0{k} 00:00:00{offset}" for k in (1, 2)]


def test_times_before_their_zone_had_its_offset_are_refused():
    at = pd.to_datetime(pd.Series(["1942-10-01T00:00+05:30"]))  # India had 6:30 in the war
    frame = pd.DataFrame({"at": at, "truth": [1], "score": [0.3]})
    with pytest.raises(frame_prc.FrameError, match=r"needs a name: .*local days"):
        frame.prc.counts("truth", "score", by="at")


@pytest.mark.parametrize("kind", ["parsed", "objects", "Arrow"])
def test_an_offset_that_no_zone_always_has_is_given_a_name_as_the_hint_says(kind):
    column = offsets_of("-03:30")[kind]
    frame = pd.DataFrame({"at": column, "truth": [1, 0, 1], "score": [0.3, 0.2, 0.1]})
    with pytest.raises(frame_prc.FrameError, match=r"needs a name: .*local days") as raised:
        frame.prc.counts("truth", "score", by="at")
    assert "astype" not in str(raised.value)
    call, zone = re.search(r"(pd\.to_.*?\)), .* (\.dt.*)\.$", str(raised.value)).groups()
    at = eval(f"{call}{zone}", {"pd": pd, "column": column})  # noqa: S307 - what the hint says
    days = frame.assign(at=at).prc.counts("truth", "score", by=pl.col("at").dt.truncate("1d"))
    assert days["at"].dt.day.tolist() == column.map(lambda value: value.day).tolist()


@pytest.mark.parametrize(
    "key",
    [
        pd.arrays.SparseArray([1, 0, 0, 1]),
        pd.arrays.SparseArray([1.5, np.nan, np.nan, 1.0]),
        pd.arrays.SparseArray([True, False, True, False]),
        pd.arrays.SparseArray([0, 2, 2, 1], fill_value=2),
    ],
)
def test_sparse_columns_are_read_and_given_back(key):
    dense = pd.DataFrame({"key": np.asarray(key), "truth": [1, 0, 1, 0], "score": [0, 0.5, 0, 0.7]})
    sparse = dense.assign(
        key=key,
        truth=pd.arrays.SparseArray(dense["truth"]),
        score=pd.arrays.SparseArray(dense["score"], fill_value=0.0),
    )
    found = sparse.prc.average_precision("truth", "score", by="key")
    expected = dense.prc.average_precision("truth", "score", by="key")
    assert found["key"].dtype == key.dtype
    pd.testing.assert_frame_equal(found.assign(key=found["key"].sparse.to_dense()), expected)


def test_days_of_pandas_stay_days():
    days = [date(2024, 1, 2), date(2024, 1, 1), None, date(2024, 1, 2)]
    result = with_key(pd.Series(days, dtype=object)).prc.average_precision(
        "late", "score", by="key"
    )
    assert result["key"].tolist() == [None, date(2024, 1, 1), date(2024, 1, 2)]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(
            [Decimal(1) / 3 * Decimal("1E-20"), Decimal("0.5"), None, Decimal(1)], dtype=object
        ),
        pd.Series([Decimal("1E30"), Decimal("1E-30"), None, Decimal(1)], dtype=object),
        pd.Series([Decimal(1)] * 4, dtype=pd.ArrowDtype(pa.decimal256(50, 2))),
    ],
    ids=["binary", "far apart", "Arrow"],
)
def test_decimals_of_pandas_with_too_many_digits_are_refused(values):
    says = r"column 'key' has dtype .* with values of type .*: more than 38 digits\. Hint: cast it"
    with pytest.raises(frame_prc.FrameError, match=says):
        with_key(values).prc.average_precision("late", "score", by="key")
    with pytest.raises(frame_prc.FrameError, match=says):
        with_key(values).prc.average_precision("late", "key", missing="drop")


def test_pandas_objects_that_would_come_back_as_bytes_are_refused():
    keys = [uuid.UUID(int=number) for number in (1, 2, 2)]
    df = pd.DataFrame({"key": keys, "truth": [1, 0, 1], "score": [0.1, 0.2, 0.3]})
    says = r"column 'key' has dtype object with values of type uuid.UUID\. Hint: .*astype\(str\)"
    with pytest.raises(frame_prc.FrameError, match=says):
        df.prc.average_precision("truth", "score", by="key")
    of_bytes = df.assign(key=[key.bytes for key in keys])
    result = of_bytes.prc.average_precision("truth", "score", by="key")
    assert result["key"].tolist() == [key.bytes for key in keys[:2]]
