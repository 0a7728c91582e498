"""Labels name a class by a value of the truth's own dtype: exactly, or not at all."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds import every_polars_kind

import frame_prc
from frame_prc import ColumnError, DataError, OptionError

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)
NANOSECONDS = pl.Series([1, 2]).cast(pl.Datetime("ns"))

# The first of two values is the positive one.
SAME = [
    ([1, 2], pl.Int64, 1.0),
    ([1, 2], pl.Int64, Decimal(1)),
    ([1, 2], pl.Float64, 1),
    ([0.1, 0.2], pl.Float32, 0.1),
    ([Decimal("0.1"), Decimal("0.2")], pl.Decimal(4, 1), 0.1),
    ([2**53, 2**53 + 1], pl.Int64, float(2**53)),
    ([2**100, 2**100 + 1], pl.Int128, 2**100),
    ([date(2020, 1, 1), date(2020, 1, 2)], pl.Date, datetime(2020, 1, 1)),
    ([datetime(2020, 1, 1), datetime(2020, 1, 2)], pl.Datetime("ms"), date(2020, 1, 1)),
    (
        [NOON, NOON + timedelta(1)],
        pl.Datetime("us", "UTC"),
        NOON.astimezone(ZoneInfo("Asia/Tokyo")),
    ),
    ([timedelta(1), timedelta(2)], pl.Duration("us"), np.timedelta64(86_400 * 10**9, "ns")),
    ([timedelta(1), timedelta(2)], pl.Duration("ms"), np.timedelta64(1, "D")),
    ([timedelta(1), timedelta(2)], pl.Duration("ms"), pd.Timedelta(1, "D")),
    (NANOSECONDS, NANOSECONDS.dtype, np.datetime64(1, "ns")),
    (NANOSECONDS, NANOSECONDS.dtype, pd.Timestamp(1)),
    ([b"\x00", b""], pl.Binary, b"\x00"),
    ([time(1), time(2)], pl.Time, time(1)),
    ([1, 2], pl.Int8, np.int64(1)),
    (["a", "b"], pl.Categorical, np.str_("a")),
]


@every_polars_kind
@pytest.mark.parametrize(("values", "dtype", "label"), SAME)
def test_a_label_is_found_in_whatever_type_it_is_given(kind, values, dtype, label):
    df = pl.DataFrame({"truth": pl.Series(values, dtype=dtype), "score": [2, 1]})
    row = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", pos_label=label))
    assert row.select("n", "n_pos", "average_precision").row(0) == (2, 1, 1.0)
    # Python has no nanoseconds to say the other class in.
    other = {} if dtype == NANOSECONDS.dtype else {df["truth"][1]: "score"}
    scores = {label: "score", **other}
    long = kind.rows(frame_prc.one_vs_rest(kind.make(df[:1]), "truth", scores))
    assert long.schema["label"] == df.schema["truth"]
    assert long["truth"].to_list() == [True, False][: len(scores)]


IMPOSSIBLE = [
    (pl.Int64, 1.5),
    (pl.Int64, float("nan")),
    (pl.Int64, 2**70),
    (pl.Int64, Decimal("NaN")),
    (pl.Int64, Decimal("Infinity")),
    (pl.Int64, "1"),
    (pl.Int64, True),
    (pl.Int64, [1]),
    (pl.Int64, np.datetime64("1970-01-01", "ns")),
    (pl.Float64, 2**53 + 1),
    (pl.Float32, 1e300),
    (pl.Decimal(4, 1), Decimal("1E-50")),
    (pl.Decimal(4, 1), 0.15),
    (pl.Boolean, 1),
    (pl.Boolean, np.datetime64("NaT", "ns")),
    (pl.Datetime("ms"), datetime(2020, 1, 1, 0, 0, 0, 999)),
    (pl.Datetime("us"), pd.Timestamp(1)),
    (pl.Datetime("us"), pd.NaT),
    (pl.Datetime("us"), NOON),
    (pl.Datetime("us", "UTC"), NOON.replace(tzinfo=None)),
    (pl.Date, datetime(2020, 1, 1, 12)),
    (pl.Duration("ms"), timedelta(microseconds=1)),
    (pl.Duration("us"), "a"),
    (pl.Struct({"a": pl.Int64}), 1),
    (pl.List(pl.Int64), "a"),
    (pl.Enum(["a"]), "b"),
    (pl.String, 1),
]


@pytest.mark.parametrize(("dtype", "label"), IMPOSSIBLE, ids=str)
def test_a_label_that_the_truth_cannot_hold_is_refused_at_the_call(dtype, label):
    lf = pl.LazyFrame({"truth": pl.Series([None, None], dtype=dtype), "score": [2, 1]})
    with pytest.raises(OptionError, match="cannot be a value of truth= column 'truth' of dtype"):
        frame_prc.curve(lf, "truth", "score", pos_label=label)


def test_only_classes_that_cannot_be_are_named():
    lf = pl.LazyFrame({"truth": [1, 2], "score": [2, 1]})
    with pytest.raises(OptionError, match=r"of dtype Int64 cannot hold: 'b'\. Allowed"):
        frame_prc.one_vs_rest(lf, "truth", {1: "score", "b": "score"})


@every_polars_kind
def test_truths_of_labels_may_be_of_several_dtypes(kind):
    df = pl.DataFrame(
        {"a": [True, False], "b": [Decimal(0), Decimal(1)], "p": [0.1, 0.2], "q": [0.3, 0.4]}
    )
    long = kind.rows(frame_prc.one_vs_rest(kind.make(df), ["a", "b"], ["p", "q"]))
    assert long["truth"].to_list() == [1, 0, 0, 1]


@every_polars_kind
def test_truths_of_labels_are_0_or_1(kind):
    df = pl.DataFrame({"a": [1, 0], "b": [0.0, 2.5], "c": ["x", "y"], "p": [0.1, 0.2]})
    with pytest.raises(DataError, match=r"truth= column 'b' has 1 row outside 0 and 1: 2\.5"):
        kind.rows(frame_prc.one_vs_rest(kind.make(df), ["a", "b"], ["p", "p"]))
    with pytest.raises(ColumnError, match="truth= column 'c' has dtype String"):
        frame_prc.one_vs_rest(kind.make(df), ["a", "c"], ["p", "p"])


@every_polars_kind
def test_a_truth_of_nothing_but_nulls_may_have_any_label(kind):
    frame = kind.make(pl.DataFrame({"truth": [None, None], "score": [0.5, 0.4]}))
    result = frame_prc.average_precision(frame, "truth", "score", pos_label="yes", missing="drop")
    row = kind.rows(result).row(0, named=True)
    assert (row["n"], row["n_dropped"], row["status"]) == (0, 2, "empty")
    with pytest.raises(DataError, match="'truth' has 2 rows with null"):
        kind.rows(frame_prc.average_precision(frame, "truth", "score", pos_label="yes"))
