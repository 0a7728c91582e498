"""What may be asked for: columns in any role and under any name, constants, and options."""

from __future__ import annotations

import enum

import numpy as np
import polars as pl
import pytest
from kinds import VERBS, Kind, every_kind, every_polars_kind

import frame_prc
from frame_prc import ColumnError, DataError, Draws, OptionError

COUNTS = pl.DataFrame({"threshold": [0.5, 0.25], "hits": [1, 2], "below": [3, 1]})
ROWS = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s"],
        "late": [True, False, True, False],
        "score": [0.9, 0.8, 0.3, 0.2],
        "other": [0.1, 0.8, 0.3, 0.9],
    }
)

every_verb = pytest.mark.parametrize("verb", VERBS)


def ask(kind: Kind, verb: str, rows: pl.DataFrame, **asked: object) -> pl.DataFrame:
    return kind.rows(getattr(frame_prc, verb)(kind.make(rows), **VERBS[verb], **asked))


# --- counts -------------------------------------------------------------------------------------


@every_kind
@every_verb
@pytest.mark.parametrize("score", [pl.col("threshold") * 1, {"a": pl.col("threshold")}])
def test_the_score_of_counts_may_be_an_expression(kind, verb, score):
    asked = {"pos": "hits", "neg": pl.col("below") + 1}
    expected = ask(kind, verb, COUNTS, **asked, score="threshold")
    found = ask(kind, verb, COUNTS, **asked, score=score)
    assert found.drop("model", strict=False).equals(expected)


@every_kind
@every_verb
def test_a_column_of_amounts_is_not_taken_for_the_ends_of_bins(kind, verb):
    renamed = COUNTS.rename({"below": "misses"})
    expected = ask(kind, verb, renamed, score="threshold", pos="hits", neg="misses")
    for neg in ("below", pl.col("below")):
        assert ask(kind, verb, COUNTS, score="threshold", pos="hits", neg=neg).equals(expected)


@every_kind
def test_bins_are_told_by_the_name_of_their_score_however_it_is_given(kind):
    overlapping = pl.DataFrame(
        {"threshold": [0.5, 0.25], "below": [1.0, 0.75], "pos": [1, 2], "neg": [3, 1]}
    )
    for score in ("threshold", pl.col("threshold")):
        with pytest.raises(DataError, match=r"the bin from 0\.25 to 0\.75 overlaps"):
            ask(kind, "counts", overlapping, score=score, pos="pos", neg="neg")


# --- names --------------------------------------------------------------------------------------


@every_polars_kind
@every_verb
@pytest.mark.parametrize("name", ["\0score_0", "\0\0truth", "\0"])
def test_keys_may_be_called_as_columns_are_inside(kind, verb, name):
    expected = ask(kind, verb, ROWS, truth="late", score="score", by="region")
    renamed = ROWS.rename({"region": name})
    found = ask(kind, verb, renamed, truth="late", score="score", by=name)
    assert found.rename({name: "region"}).equals(expected)


@every_polars_kind
def test_keys_of_long_form_may_be_called_as_columns_are_inside(kind):
    renamed = ROWS.rename({"region": "\0truth_0"})
    asked = {"truth": ["late"], "score": ["score"]}
    found = kind.rows(frame_prc.one_vs_rest(kind.make(renamed), **asked, by="\0truth_0"))
    expected = kind.rows(frame_prc.one_vs_rest(kind.make(ROWS), **asked, by="region"))
    assert found.rename({"\0truth_0": "region"}).equals(expected)


@every_kind
@pytest.mark.parametrize("verb", ["average_precision", "compare_models", "compare_segments"])
def test_models_take_the_name_model(kind, verb):
    renamed = kind.make(ROWS.rename({"region": "model"}))
    with pytest.raises(ColumnError, match="key 'model' in by= is named like a column"):
        getattr(frame_prc, verb)(renamed, "late", ["score", "other"], by="model")


@every_kind
@pytest.mark.parametrize("alone", ["pos_squares", "neg_squares"])
def test_squares_of_one_class_are_refused(kind, alone):
    counts = kind.make(ROWS.select("score", pos=1, neg=1, squares=1))
    with pytest.raises(OptionError, match=rf"^{alone}= is given alone.*together"):
        frame_prc.average_precision(
            counts, score="score", pos="pos", neg="neg", **{alone: "squares"}
        )


# --- constants ----------------------------------------------------------------------------------

SEVEN = pl.DataFrame({"region": ["n"] * 7})


@every_kind
@pytest.mark.parametrize("by", [None, pl.lit("all").alias("g"), "region"], ids=str)
def test_a_constant_is_one_for_every_row(kind, by):
    table = ask(kind, "average_precision", SEVEN, truth=pl.lit(True), score=pl.lit(0.5), by=by)
    assert table["n"].to_list() == [7]
    weighed = {"score": [pl.lit(0.5).alias("a"), pl.lit(1.5).alias("b")], "weight": pl.lit(2.0)}
    table = ask(kind, "average_precision", SEVEN, truth=pl.lit(1) - 1, **weighed, by=by)
    assert table["n"].to_list() == [14.0, 14.0]
    assert table["n_pos"].to_list() == [0.0, 0.0]


@every_kind
@every_verb
def test_every_verb_takes_constants_as_columns(kind, verb):
    columns = SEVEN.with_columns(truth=True, score=0.5)
    expected = ask(kind, verb, columns, truth="truth", score="score")
    assert ask(kind, verb, SEVEN, truth=pl.lit(True), score=pl.lit(0.5)).equals(expected)


@every_kind
def test_long_form_has_a_constant_for_every_row(kind):
    found = frame_prc.one_vs_rest(kind.make(SEVEN), [pl.lit(True)], {"a": pl.lit(0.5)})
    assert kind.rows(found).rows() == [("a", True, 0.5)] * 7


# --- options ------------------------------------------------------------------------------------


class Word(enum.StrEnum):
    DROP = "drop"
    FIRST = "first"
    CORNERS = "corners"
    GAIN = "gain"
    LATE = "late"
    SCORE = "score"
    REGION = "region"
    DAY = "day"
    ROWS = "rows"
    BOYD = "boyd"
    YES = "True"


OPTIONS = {
    "curve": {"missing": "drop", "start": "first", "keep": "corners", "gain": True},
    "auc": {"method": "gain", "standardised": False},
    "average": {"by": "region", "over": "region", "how": "rows", "details": False},
    "average_precision": {"by": "region", "bounds": False},
    "average_precision of an interval": {"ci": 0.9, "ci_method": "boyd"},
    "counts": {"squares": True, "missing": "drop"},
    "summary": {"by": "region", "overall": True},
    "band": {"bootstrap": Draws(50, seed=1, stratified=True), "recalls": 3},
}
OTHER_TYPES = {
    "NumPy": lambda v: np.bool_(v) if isinstance(v, bool) else np.str_(v),
    "enumeration": lambda v: np.bool_(v) if isinstance(v, bool) else Word(v),
}


@every_kind
@pytest.mark.parametrize("other", OTHER_TYPES.values(), ids=OTHER_TYPES)
@pytest.mark.parametrize("verb", OPTIONS)
def test_options_may_be_texts_and_flags_of_other_types(kind, verb, other):
    asked, name = OPTIONS[verb], verb.partition(" ")[0]
    others = {k: other(v) if isinstance(v, (str, bool)) else v for k, v in asked.items()}
    function, frame = getattr(frame_prc, name), kind.make(ROWS)
    expected = kind.rows(function(frame, "late", "score", **asked))
    found = kind.rows(function(frame, other("late"), other("score"), **others))
    assert found.equals(expected, null_equal=True)


@every_kind
def test_a_label_may_be_a_text_of_another_type(kind):
    rows = ROWS.with_columns(answer=pl.col("late").cast(pl.Int64).cast(pl.String))
    rows = rows.with_columns(answer=pl.col("answer").replace({"1": "late"}))
    expected = ask(kind, "curve", rows, truth="answer", score="score", pos_label="late")
    for label in (np.str_("late"), Word.LATE):
        found = ask(kind, "curve", rows, truth="answer", score="score", pos_label=label)
        assert found.equals(expected)


@pytest.mark.parametrize("flag", [1, np.int64(1), "True", Word.YES, np.array([True])])
def test_what_is_no_flag_is_refused(flag):
    with pytest.raises(OptionError, match=r"^gain=.* is not an option\. Allowed: True, False\.$"):
        frame_prc.curve(ROWS, "late", "score", gain=flag)


# --- labels in messages ---------------------------------------------------------------------------


@every_kind
def test_a_label_of_many_lines_that_is_nowhere_is_named_in_one(kind):
    rows = ROWS.with_columns(answer=pl.lit("no"))
    with pytest.raises(DataError, match=r"^pos_label=.* is nowhere in truth= column") as raised:
        ask(kind, "curve", rows, truth="answer", score="score", pos_label="yes " * 100)
    assert len(str(raised.value)) < 250


# --- weight zero ----------------------------------------------------------------------------------


@every_kind
@every_verb
@pytest.mark.parametrize("missing", ["raise", "drop", "unretrieved"])
def test_a_row_of_weight_zero_is_ignored_whatever_it_lacks(kind, verb, missing):
    rows = ROWS.with_columns(weight=1.0)
    odd = pl.DataFrame(
        {
            "region": ["n", None, "z"],
            "late": [None, True, None],
            "score": [0.5, None, None],
            "other": [None, None, None],
            "weight": [0.0, 0.0, 0.0],
        },
        schema=rows.schema,
    )
    asked = {"truth": "late", "score": "score", "weight": "weight", "by": "region"}
    expected = ask(kind, verb, rows, **asked, missing=missing)
    found = ask(kind, verb, pl.concat([odd, rows]), **asked, missing=missing)
    assert found.equals(expected)
