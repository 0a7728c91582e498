"""The border between kinds of frames: what goes in comes out, and nothing else is touched."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pytest
from kinds import TYPES, VERBS, every_kind
from polars.testing import assert_frame_equal

import frame_prc

ROWS = pl.DataFrame(
    {
        "region": ["b", "a", None, "b"],
        "late": [True, False, True, False],
        "score": [0.9, 0.4, 0.4, 0.2],
        "other": [0.1, 0.2, 0.3, 0.4],
    }
)
NAN = float("nan")
BIG = 2**53

every_verb = pytest.mark.parametrize("verb", VERBS)


def ask(verb: str, frame: Any, *columns: Any, **asked: Any) -> Any:
    return getattr(frame.prc, verb)(*columns, **VERBS[verb], **asked)


def with_key(key: Any) -> pd.DataFrame:
    return ROWS.drop("region").to_pandas().assign(key=key)


def category(values: list[Any], order: list[Any], *, ordered: bool) -> pd.Categorical:
    return pd.Categorical(values, categories=order, ordered=ordered)


def values(column: pd.Series) -> list[Any]:
    # An object column may hold None or NaN for a missing value.
    return [None if pd.isna(value) else value for value in column]


# --- what goes in comes out ------------------------------------------------------------------


@every_kind
@every_verb
@pytest.mark.parametrize("by", [None, "region"])
def test_result_is_of_the_kind_that_came_in(kind, verb, by):
    frame = kind.make(ROWS)
    assert type(ask(verb, frame, "late", "score", by=by)) is TYPES[kind.name]
    function = getattr(frame_prc, verb)
    assert type(function(frame, "late", "score", by=by, **VERBS[verb])) is TYPES[kind.name]


# Every key has four rows; the segments come out in the order that the second item says.
KEYS = {
    "unordered category": (category(["b", "a", None, "b"], ["c", "b", "a"], ordered=False), "_ba"),
    "ordered category": (category(["b", "a", None, "b"], ["c", "b", "a"], ordered=True), "_ba"),
    # Categories that are no strings come back as they were, but sort by value.
    "category of numbers": (category([1, 2, None, 1], [3, 2, 1], ordered=True), [None, 1, 2]),
    "string": (pd.Series(["b", "a", None, "b"], dtype="string"), "_ab"),
    "str": (pd.Series(["b", "a", None, "b"], dtype="str"), "_ab"),
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
    "bool": (pd.Series([True, False, False, True]), [False, True]),
    "float": (pd.Series([1.5, 0.5, NAN, 1.5]), [None, 0.5, 1.5]),
    "float32": (pd.Series([1.5, 0.5, NAN, 1.5], dtype="float32"), [None, 0.5, 1.5]),
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


def test_categories_of_pandas_stay_even_where_no_row_has_them():
    key = category(["b", "a", None, "b"], ["c", "b", "a"], ordered=True)
    result = with_key(key).prc.curve("late", "score", by="key")
    assert list(result["key"].cat.categories) == ["c", "b", "a"]
    assert result["key"].cat.ordered


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
    "tuples": pd.Series([(BIG + 1, None), (BIG, None), (), None], dtype=object),
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
    says = r"key 'key' of dtype .* does not come back to pandas as it was: .*\. Hint: cast it"
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


def test_categories_of_days_stay():
    key = category([*DAYS, None, DAYS[0]], DAYS, ordered=True)
    result = with_key(key).prc.average_precision("late", "score", by="key")
    assert result["key"].dtype == key.dtype
    assert values(result["key"]) == [None, *sorted(DAYS)]


@every_verb
@pytest.mark.parametrize("name", ["^$", "^.*$", "^key", "*key", ""])
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


def test_missing_key_of_pandas_is_one_segment():
    frame = with_key(pd.Series([NAN, NAN, 1.0, 1.0]))
    result = frame.prc.average_precision("late", "score", by="key")
    assert result["n"].tolist() == [2, 2]
    assert result["key"].isna().tolist() == [True, False]


def test_undefined_numbers_are_nan_in_pandas():
    result = with_key(["a", "b", "a", "b"]).prc.average_precision("late", "score", by="key")
    assert result["average_precision"].dtype == "float64"
    assert result["average_precision"].isna().tolist() == [False, True]


@pytest.mark.parametrize("moment", [pd.Timestamp, pd.Timedelta])
def test_moments_of_pandas_keep_their_nanoseconds(moment):
    keys = pd.Series([moment(1), moment(2)], dtype=object)
    df = pd.DataFrame({"late": [1, 0], "score": [0.1, 0.2], "key": keys})
    result = frame_prc.average_precision(df, "late", "score", by="key")
    assert result["key"].tolist() == keys.tolist()


def test_integer_thresholds_of_pandas_stay_integers_beside_rows_never_retrieved():
    scores = pd.Series([2**53 + 1, 2**53, None], dtype="Int64")
    df = pd.DataFrame({"late": [1, 0, 1], "score": scores})
    counts = frame_prc.counts(df, "late", "score", missing="unretrieved")
    assert counts["threshold"].dtype == "Int64"
    asked = {"score": "threshold", "pos": "pos", "neg": "neg", "missing": "unretrieved"}
    again = frame_prc.average_precision(counts, **asked)
    alone = frame_prc.average_precision(df, "late", "score", missing="unretrieved")
    assert again["average_precision"].item() == alone["average_precision"].item() == 0.5
    all_found = frame_prc.counts(df.dropna().astype("int64"), "late", "score")
    merged = frame_prc.merge_counts(counts, all_found)
    assert merged[["pos", "neg"]].to_numpy().tolist() == [[2, 0], [0, 2], [1, 0]]


def test_key_made_by_an_expression_comes_out_of_pandas():
    frame = with_key(pd.to_datetime(["2024-02-01", "2024-01-05", "2024-01-07", "2024-02-03"]))
    result = frame.prc.average_precision("late", "score", by=pl.col("key").dt.month())
    assert result["key"].tolist() == [1, 2]


def test_expression_named_like_its_column_does_not_take_the_dtype_of_it():
    frame = with_key(pd.Series([2, 1, 1, 2], dtype="int8"))
    result = frame.prc.average_precision("late", "score", by=pl.col("key").cast(pl.String))
    assert result["key"].tolist() == ["1", "2"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "Int64", "int8", "uint64"])
def test_threshold_of_pandas_has_the_dtype_of_the_score(dtype):
    frame = with_key(0).assign(score=pd.Series([3, 2, 2, 1], dtype=dtype))
    counts = frame.prc.counts("late", "score")
    assert counts["threshold"].dtype == dtype.lower()
    assert counts["threshold"].tolist() == [3, 2, 1]
    threshold = frame.prc.curve("late", "score")["threshold"]
    assert threshold.dtype == ("float32" if dtype.lower() == "float32" else "float64")


@pytest.mark.parametrize(
    "truth",
    [
        pd.Series([1, 0, 1, 0]),
        pd.Series([1.0, 0.0, 1.0, 0.0]),
        pd.Series([1, 0, 1, 0], dtype="Int8"),
        pd.Series([True, False, True, False], dtype="boolean"),
        pd.Series([True, False, True, False], dtype=object),
    ],
    ids=lambda truth: str(truth.dtype),
)
def test_truth_of_pandas_may_have_any_dtype_of_0_and_1(truth):
    frame = with_key(0)
    expected = frame.prc.curve("late", "score")
    pd.testing.assert_frame_equal(frame.assign(late=truth).prc.curve("late", "score"), expected)


@pytest.mark.parametrize("dtype", ["str", "string", "object", "category"])
def test_label_of_pandas_may_have_any_dtype_of_text(dtype):
    frame = with_key(0)
    answers = pd.Series(["yes", "no", "yes", "no"], dtype=dtype)
    result = frame.assign(late=answers).prc.curve("late", "score", pos_label="yes")
    pd.testing.assert_frame_equal(result, frame.prc.curve("late", "score"))


@pytest.mark.parametrize("missing", [None, NAN, pd.NA], ids=repr)
@pytest.mark.parametrize(
    ("truth", "label"),
    [([True, False, True], None), ([1, 0, 1], None), (["yes", "no", "yes"], "yes")],
    ids=["booleans", "numbers", "text"],
)
def test_object_column_of_pandas_may_lack_a_truth(truth, label, missing):
    frame = with_key(0).assign(late=pd.Series([*truth, missing], dtype=object))
    table = frame.prc.average_precision("late", "score", pos_label=label, missing="drop")
    assert table[["n", "n_pos", "n_dropped"]].values.tolist() == [[3, 2, 1]]


# What a result calls its columns, for roles and for a column that has none.
OF_RESULTS = [
    *("n", "threshold", "tp", "fp", "fn", "tn", "pos", "neg", "recall", "precision", "envelope"),
    *("n_pos", "prevalence", "average_precision", "status", "auc", "method", "best_f1", "target"),
    *("criterion", "f_score", "predicted_rate", "precision_low", "precision_high", "lift", "model"),
    *("difference", "n_undefined", "level", "model_a", "ci_low", "ci_high", "std_error", "p_value"),
]
MORE = {
    **{verb: (verb, asked) for verb, asked in VERBS.items()},
    "interval": ("average_precision", {"ci": 0.9}),
    "envelope": ("curve", {"envelope": True}),
    "overall": ("summary", {"overall": True}),
    "models": ("average_precision", {"score": {"a": "score", "b": "other"}}),
    "pairs": ("compare", {"score": {"a": "score", "b": "other"}}),
    "average": (
        "average_precision",
        {"by": [cs.by_name("key"), "other"], "over": "other", "average": "macro"},
    ),
}


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "string", "object", "category"])
@pytest.mark.parametrize(("verb", "asked"), MORE.values(), ids=MORE)
def test_only_keys_take_the_dtype_of_a_column_of_pandas(verb, asked, dtype):
    frame = with_key(pd.Series([2, 1, 1, 2], dtype="Int64")).assign(late=[1, 0, 1, 0])
    # A selector reads all columns, of which those of the result have other dtypes.
    asked = {"truth": "late", "score": "score", "by": cs.by_name("key"), **asked}
    expected = getattr(frame.prc, verb)(**asked)
    values = [1, 0, 1, 0] if dtype.endswith("64") else ["b", "a", "b", "a"]
    alike = frame.assign(**dict.fromkeys(OF_RESULTS, pd.Series(values, dtype=dtype)))
    assert expected["key"].dtype == "Int64"
    pd.testing.assert_frame_equal(getattr(alike.prc, verb)(**asked), expected)


def test_truth_named_like_a_column_of_the_result_leaves_its_dtype_behind():
    frame = with_key(0).assign(n=pd.Series([1, 0, 1, 0], dtype="Int64"))
    result = frame.prc.average_precision("n", "score")
    assert result.dtypes[["n", "n_pos"]].tolist() == ["int64", "int64"]


def test_columns_carried_along_and_keys_of_counts_keep_their_dtypes():
    frame = with_key(pd.Series([2, 1, 1, 2], dtype="Int64")).assign(
        number=pd.Series([1, 2, 3, 4], dtype="UInt8"), times=pd.Series([1] * 4, dtype="Float32")
    )
    frame = frame.assign(score=frame["score"].astype("Float64"), late=frame["late"].astype(object))
    kinds = {True: "score", False: "other"}
    long = frame.prc.one_vs_rest("late", kinds, by="key", row="number", weight="times")
    assert {name: str(dtype) for name, dtype in long.dtypes.items()} == {
        "number": "UInt8",
        "key": "Int64",
        "label": "bool",
        "truth": "bool",
        "score": "float64",
        "times": "Float32",
    }
    counts = frame.prc.counts("late", "score", by="key").astype({"pos": "Int64", "neg": "Int64"})
    merged = frame_prc.merge_counts(counts, counts)
    assert merged.dtypes.map(str).tolist() == ["Int64", "float64", "int64", "int64"]


# --- only what is named is looked at -----------------------------------------------------------


def test_pandas_column_that_is_not_named_may_hold_anything():
    frame = with_key(["a", "b", "a", "b"]).assign(anything=[object(), 1, "a", None])
    result = frame.prc.average_precision("late", ["score", "other"], by=pl.col("key"))
    assert result["key"].tolist() == ["a", "b", "a", "b"]


@every_kind
@every_verb
@pytest.mark.parametrize("role", ["truth", "score", "by", "weight"])
def test_column_named_like_a_pattern_is_that_column(kind, verb, role):
    asked = {"truth": "late", "score": "score", "by": "region", "weight": "other"}
    rows = ROWS.rename({asked[role]: "^late|score$"})
    result = kind.rows(ask(verb, kind.make(rows), **{**asked, role: "^late|score$"}))
    expected = kind.rows(ask(verb, kind.make(ROWS), **asked))
    assert_frame_equal(result.rename({"^late|score$": "region"}, strict=False), expected)


def test_integer_column_names_are_read_as_text():
    frame = pd.DataFrame([[True, 0.9, "a"], [False, 0.2, "a"]])
    assert list(frame.columns) == [0, 1, 2]
    result = frame.prc.average_precision("0", "1", by="2")
    assert list(result.columns[:2]) == ["2", "n"]
    assert result["2"].tolist() == ["a"]


@pytest.mark.parametrize(
    "by", [cs.string(), [cs.starts_with("k")], cs.all() - cs.by_name("late", "score")]
)
def test_selectors_choose_keys_of_pandas(by):
    frame = with_key(["a", "b", "a", "b"]).drop(columns="other").astype({"key": "str"})
    result = frame.prc.average_precision("late", "score", by=by)
    assert result["key"].tolist() == ["a", "b"]


def test_selector_chooses_the_score_of_pandas():
    frame = with_key(0).drop(columns="other")
    expected = frame.prc.curve("late", "score")
    pd.testing.assert_frame_equal(frame.prc.curve("late", cs.float()), expected)


# --- the index, and the caller's frame -------------------------------------------------------


@every_verb
@pytest.mark.parametrize("by", [None, "key"])
@pytest.mark.parametrize(
    "index",
    [
        pd.Index([7, 7, 1, 0], name="late"),
        pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["key", None]),
        pd.date_range("2024-01-01", periods=4),
    ],
    ids=["repeated", "levels", "dates"],
)
def test_index_of_pandas_is_ignored(index, by, verb):
    frame = with_key(["a", "b", "a", "b"])
    expected = ask(verb, frame, "late", "score", by=by)
    result = ask(verb, frame.set_index(index), "late", "score", by=by)
    pd.testing.assert_frame_equal(result, expected)
    assert result.index.equals(pd.RangeIndex(len(result)))


LEVELS = {
    "one": ["key"],
    "several": ["key", "number"],
    "of a number": ["key", 7],
    "between others": [None, "key", "other"],
}


@every_verb
@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
def test_named_levels_of_the_index_are_keys(verb, levels):
    key = category(["b", "a", None, "b"], ["b", "a"], ordered=True)
    frame = with_key(key).assign(number=pd.Series([2, 2, 1, 1], dtype="UInt8"))
    frame[7] = pd.Series(["x", "y", "y", "y"], dtype="string")
    by = [str(level) for level in levels if level not in (None, "other")]
    indexed = frame.assign(**{"None": 0}).set_index(["None" if n is None else n for n in levels])
    indexed.index.names = levels
    expected = ask(verb, frame, "late", "score", by=by)
    assert expected.dtypes[by].tolist() == [frame.rename(columns=str)[name].dtype for name in by]
    pd.testing.assert_frame_equal(ask(verb, indexed, "late", "score", by=by), expected)


@every_verb
@pytest.mark.parametrize("roles", [["late"], ["late", "score", "other"]])
def test_named_levels_of_the_index_are_columns_in_every_role(verb, roles):
    frame = with_key(["a", "b", "a", "b"])
    asked = {"truth": "late", "score": "score", "by": "key", "weight": "other"}
    if verb == "counts":
        asked["score"] = pl.col("score") * 2
    expected = ask(verb, frame, **asked)
    pd.testing.assert_frame_equal(ask(verb, frame.set_index(roles), **asked), expected)


def test_column_goes_before_a_level_of_the_index_of_its_name():
    frame = with_key(["a", "b", "a", "b"])
    index = pd.Index(["x", "y", "y", "y"], name="key")
    result = frame.set_index(index).prc.average_precision("late", "score", by="key")
    assert result["key"].tolist() == ["a", "b"]


def test_level_of_the_index_that_is_there_twice_is_refused():
    index = pd.MultiIndex.from_arrays([["a", "b", "a", "b"], [1, 2, 1, 2]], names=["k", "k"])
    frame = with_key(0).set_index(index)
    with pytest.raises(frame_prc.ColumnError, match="has 2 levels of the index named 'k'"):
        frame.prc.average_precision("late", "score", by="k")
    assert len(frame.prc.average_precision("late", "score")) == 1


def test_selector_chooses_no_level_of_the_index():
    frame = with_key(["a", "b", "a", "b"]).set_index(pd.Index([1, 2, 3, 4], name="key_of_index"))
    result = frame.prc.average_precision("late", "score", by=cs.starts_with("key"))
    assert result.columns[:2].tolist() == ["key", "n"]


def test_unknown_name_is_told_from_levels_of_the_index():
    frame = with_key(["a", "b", "a", "b"]).set_index("key")
    with pytest.raises(frame_prc.ColumnError, match=r"did you mean 'key'\?"):
        frame.prc.average_precision("late", "score", by="kez")


def test_level_of_the_index_may_be_drawn_and_written(tmp_path):
    frame = with_key(["a", "b", "a", "b"])
    indexed = frame.set_index("key")
    paths = [tmp_path / "frame.csv", tmp_path / "indexed.csv"]
    for source, path in zip((frame, indexed), paths, strict=True):
        source.prc.write_ggplot(path, "late", "score", by="key")
    assert paths[0].read_text() == paths[1].read_text()


@every_verb
def test_columns_of_pandas_may_come_from_a_view(verb):
    frame = with_key(["a", "b", "a", "b"])
    expected = ask(verb, frame.iloc[::2].copy(), "late", "score", by="key")
    result = ask(verb, frame.iloc[::2], "late", "score", by="key")
    pd.testing.assert_frame_equal(result, expected)


@every_kind
@every_verb
def test_frame_of_the_caller_is_not_changed(kind, verb):
    frame = kind.make(ROWS)
    asked = {"by": "region", "weight": "other", "missing": "drop"}
    kind.rows(ask(verb, frame, "late", "score", **asked))
    after = kind.rows(frame)
    assert after.equals(kind.rows(kind.make(ROWS)))


def test_pandas_frame_is_not_changed_in_its_labels_or_dtypes():
    frame = with_key(category(["b", "a", None, "b"], ["b", "a"], ordered=False))
    frame = frame.set_index(pd.Index([7, 7, 1, 0])).rename(columns={"other": 0})
    before = frame.copy(deep=True)
    frame.prc.curve("late", "score", by=["key", "0"])
    pd.testing.assert_frame_equal(frame, before)


@every_verb
def test_result_of_pandas_can_be_written_to(verb):
    result = ask(verb, with_key(["a", "b", "a", "b"]), "late", "score", by="key")
    result.loc[:, "key"] = "c"
    result.iloc[0, -1] = result.iloc[-1, -1]
    assert result["key"].eq("c").all()


def test_no_rows_of_pandas_keep_the_dtypes():
    frame = with_key(pd.Series(["b", "a", None, "b"], dtype="category"))
    full = frame.prc.curve("late", "score", by="key")
    empty = frame.iloc[:0].prc.curve("late", "score", by="key")
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, full.dtypes)


@every_kind
def test_dates_are_keys_on_every_kind(kind):
    rows = ROWS.with_columns(day=pl.Series([date(2024, 1, d) for d in (2, 1, 1, 2)]))
    result = kind.rows(kind.make(rows).prc.average_precision("late", "score", by="day"))
    assert result["day"].cast(pl.Date).to_list() == [date(2024, 1, 1), date(2024, 1, 2)]


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
    with pytest.raises(frame_prc.FrameError, match=r"column 'key' .*: days among moments"):
        with_key(key).prc.average_precision("late", "score", by="key")
    with pytest.raises(frame_prc.FrameError, match=r"column 'key' .*: days among moments"):
        with_key(key).prc.average_precision("key", "score", pos_label=values[0])


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


def test_counts_and_curves_with_their_keys_in_the_index_keep_them():
    rows = pd.DataFrame(
        {"g": list("aabb"), "day": [1, 1, 2, 2], "t": [1, 0, 1, 0], "s": [4, 3, 2, 1]}
    )
    counts = rows.prc.counts("t", "s", by=["g", "day"])
    indexed = counts.set_index(["g", "day"])
    pd.testing.assert_frame_equal(
        frame_prc.merge_counts(indexed, indexed), frame_prc.merge_counts(counts, counts)
    )
    curve = rows.prc.curve("t", "s", by=["g", "day"])
    whole = curve.prc.plot().to_dict()
    assert curve.set_index(["g", "day"]).prc.plot().to_dict() == whole
