"""The border between kinds of frames: what goes in comes out, and nothing else is touched."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from kinds import TYPES, VERBS, every_kind
from pandas_frames import ROWS, ask, category, every_verb, with_key
from polars.testing import assert_frame_equal

import frame_prc

NAN = float("nan")


# --- what goes in comes out --------------------------------------------------------------------


@every_kind
@every_verb
@pytest.mark.parametrize("by", [None, "region"])
def test_result_is_of_the_kind_that_came_in(kind, verb, by):
    frame = kind.make(ROWS)
    assert type(ask(verb, frame, "late", "score", by=by)) is TYPES[kind.name]
    function = getattr(frame_prc, verb)
    assert type(function(frame, "late", "score", by=by, **VERBS[verb])) is TYPES[kind.name]


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


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
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


@pytest.mark.parametrize("missing", ["raise", "drop", "unretrieved"])
def test_nan_of_pandas_is_no_amount(missing):
    frame = with_key(0).assign(amount=[1.0, NAN, 1.0, 2.0])
    for role, asked in {
        "weight": {"truth": "late", "weight": "amount"},
        "pos": {"pos": "amount", "neg": "key"},
        "neg": {"pos": "key", "neg": "amount"},
    }.items():
        with pytest.raises(
            frame_prc.DataError, match=f"{role}= column 'amount' has 1 row with nan"
        ):
            frame.prc.average_precision(score="score", missing=missing, **asked)


# What a result calls its columns, for roles and for a column that has none.
OF_RESULTS = [
    *("n", "threshold", "tp", "fp", "fn", "tn", "pos", "neg", "recall", "precision", "envelope"),
    *("n_pos", "prevalence", "average_precision", "status", "auc", "method", "best_f1", "target"),
    *("criterion", "f_score", "predicted_rate", "precision_low", "precision_high", "lift", "model"),
    *("difference", "n_undefined", "level", "model", "ci_low", "ci_high", "std_error", "p_value"),
]
MORE = {
    **{verb: (verb, asked) for verb, asked in VERBS.items()},
    "interval": ("average_precision", {"ci": 0.9}),
    "envelope": ("curve", {"envelope": True}),
    "overall": ("summary", {"overall": True}),
    "models": ("average_precision", {"score": {"a": "score", "b": "other"}}),
    "pairs": ("compare_models", {"score": {"a": "score", "b": "other"}}),
    "average": (
        "average",
        {"by": [cs.by_name("key"), "other"], "over": "other"},
    ),
}


DTYPES = ["Int64", "Float64", "string", "object", "category"]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*zip(MORE, cycle(DTYPES), strict=False), *(("interval", dtype) for dtype in DTYPES[:3])],
)
def test_only_keys_take_the_dtype_of_a_column_of_pandas(name, dtype):
    verb, asked = MORE[name]
    frame = with_key(pd.Series([2, 1, 1, 2], dtype="Int64")).assign(late=[1, 0, 1, 0])
    # A selector reads all columns, of which those of the result have other dtypes.
    asked = {"truth": "late", "score": "score", "by": cs.by_name("key"), **asked}
    expected = getattr(frame.prc, verb)(**asked)
    values = [1, 0, 1, 0] if dtype.endswith("64") else ["b", "a", "b", "a"]
    alike = frame.assign(**dict.fromkeys(OF_RESULTS, pd.Series(values, dtype=dtype)))
    assert expected["key"].dtype == "Int64"
    pd.testing.assert_frame_equal(getattr(alike.prc, verb)(**asked), expected)


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
def test_columns_named_like_patterns_are_those_columns(kind, verb):
    asked = {"truth": "late", "score": "score", "by": "region", "weight": "other"}
    patterns = {"truth": "^.*$", "score": "^late|other$", "by": "^score$", "weight": "^re.*$"}
    rows = ROWS.rename({asked[role]: pattern for role, pattern in patterns.items()})
    result = kind.rows(ask(verb, kind.make(rows), **patterns))
    expected = kind.rows(ask(verb, kind.make(ROWS), **asked))
    assert_frame_equal(result.rename({"^score$": "region"}, strict=False), expected)


@pytest.mark.parametrize(
    "by", [cs.string(), [cs.starts_with("k")], cs.all() - cs.by_name("late", "score")]
)
def test_selectors_choose_keys_of_pandas(by):
    frame = with_key(["a", "b", "a", "b"]).drop(columns="other").astype({"key": "str"})
    result = frame.prc.average_precision("late", "score", by=by)
    assert result["key"].tolist() == ["a", "b"]


# --- the index, and the caller's frame ---------------------------------------------------------


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


@pytest.mark.parametrize(
    "key",
    [
        [2, 1, 2, 1],
        [0.5, np.nan, 0.5, 1],
        [True, False, True, False],
        pd.Series(["b", "a", None, "b"], dtype="category"),
        pd.Series(pd.to_datetime(["2026-01-02", None, "2026-01-02", "2026-01-01"])),
        pd.Series([2, None, 2, 1], dtype="Int64"),
        pd.cut([2, 1, 1, 2], [0, 1, 2]),
        pd.PeriodIndex(["2024-02", "2024-01"] * 2, freq="M"),
    ],
)
def test_every_column_of_a_result_of_pandas_can_be_written_to(key):
    frame = with_key(key)
    before = frame.copy(deep=True)
    result = frame.prc.curve("late", "score", by="key")
    last = result.iloc[-1].copy()
    for place in range(result.shape[1]):
        result.iloc[0, place] = last.iloc[place]
    assert result.iloc[0].equals(last)
    pd.testing.assert_frame_equal(frame, before)


def test_no_rows_of_pandas_keep_the_dtypes():
    frame = with_key(pd.Series(["b", "a", None, "b"], dtype="category"))
    full = frame.prc.curve("late", "score", by="key")
    empty = frame.iloc[:0].prc.curve("late", "score", by="key")
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, full.dtypes)
