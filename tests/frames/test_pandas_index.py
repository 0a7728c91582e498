"""The index of pandas: ignored, unless its levels have names."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest
from pandas_frames import ask, category, every_verb, with_key

import frame_prc


@every_verb
@pytest.mark.parametrize(
    "index",
    [
        pd.Index([7, 7, 1, 0], name="late"),
        pd.MultiIndex.from_product([["x", "y"], [1, 2]], names=["key", None]),
    ],
    ids=["repeated", "levels"],
)
def test_index_of_pandas_is_ignored(index, verb):
    frame = with_key(["a", "b", "a", "b"])
    for by in (None, "key"):
        expected = ask(verb, frame, "late", "score", by=by)
        result = ask(verb, frame.set_index(index), "late", "score", by=by)
        pd.testing.assert_frame_equal(result, expected)
        assert result.index.equals(pd.RangeIndex(len(result)))


LEVELS = {
    "between others": [None, "key", "other"],
    "of a number": ["key", 7],
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


def test_unknown_name_is_told_from_levels_of_the_index():
    frame = with_key(["a", "b", "a", "b"]).set_index("key")
    with pytest.raises(frame_prc.ColumnError, match=r"did you mean 'key'\?"):
        frame.prc.average_precision("late", "score", by="kez")


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
