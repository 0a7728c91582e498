"""The catalogue of errors: what is said, when it is said, and what is no error at all."""

from __future__ import annotations

import ast
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from kinds import KINDS, VERBS, Kind, every_eager_kind, every_kind, every_polars_kind

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError, PrcError
from frame_prc._rows import checks as _gate

ROWS = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s"],
        "late": [True, False, True, False],
        "score": [0.9, 0.4, 0.4, 0.2],
        "other": [0.1, 0.2, 0.3, 0.4],
        "answer": ["yes", "no", "yes", "no"],
        "grade": [1, 2, 1, 3],
        "w": [1.0, 2.0, 1.0, 1.0],
        "hits": [1, 0, 2, 0],
        "misses": [0, 1, 1, 0],
    }
)
NAN, INF = float("nan"), float("inf")

every_verb = pytest.mark.parametrize("verb", VERBS)


@dataclass(frozen=True)
class Case:
    """A call of ``curve`` that fails: the parameters, the error, and what its text says in order.

    ``columns`` replace those of ``ROWS``; the truth is "late" and the score "score" by default.
    """

    shows: str
    asked: dict[str, Any]
    error: type[PrcError]
    says: list[str]
    columns: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.shows.replace(" ", "-")

    def rows(self) -> pl.DataFrame:
        return ROWS.with_columns(**self.columns)

    def ask(self, frame: Any) -> Any:
        return frame.prc.curve(**{"truth": "late", "score": "score", **self.asked})


def aggregated(**asked: Any) -> dict[str, Any]:
    return {"truth": None, "pos": "hits", "neg": "misses", **asked}


def ask(verb: str, frame: Any, *columns: Any, **asked: Any) -> Any:
    return getattr(frame.prc, verb)(*columns, **VERBS[verb], **asked)


FAILING = {
    "curve": lambda frame, score, _: frame_prc.curve(frame, "late", score),
    "one_vs_rest": lambda frame, score, _: frame_prc.one_vs_rest(frame, ["late"], [score]),
    "quantile_thresholds": lambda frame, score, _: frame_prc.quantile_thresholds(frame, score, 2),
    "plot": lambda frame, score, _: frame_prc.plot(frame, "late", score),
    "write_ggplot": lambda frame, score, folder: frame_prc.write_ggplot(
        frame, folder / "curves.tsv", "late", score
    ),
}


@every_eager_kind
@pytest.mark.parametrize("ask", FAILING.values(), ids=FAILING)
def test_an_expression_that_fails_on_the_values_is_named(kind, ask, tmp_path):
    day = pl.col("answer").str.to_date("%Y-%m-%d").cast(pl.Int32)
    with pytest.raises(ColumnError, match="an expression fails on this frame: conversion from"):
        ask(kind.make(ROWS), day, tmp_path)
    assert not list(tmp_path.iterdir())


@every_eager_kind
@pytest.mark.parametrize(
    "ask", [ask for verb, ask in FAILING.items() if verb != "quantile_thresholds"]
)
def test_an_expression_of_too_few_values_is_named_by_its_role(kind, ask, tmp_path):
    says = "an expression fails on this frame: Series score=, length 1 doesn't match"
    with pytest.raises(ColumnError, match=says):
        ask(kind.make(ROWS), pl.col("score").head(1), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_star_is_no_name():
    # Polars takes it for all columns wherever it stands, so no result could be called so.
    df = pl.DataFrame({"*": ["a", "b"], "late": [True, False], "score": [0.1, 0.2]})
    with pytest.raises(ColumnError, match=r"by= names '\*', which Polars takes for all columns"):
        df.prc.curve("late", "score", by="*")


def role_of(where: str) -> str:
    return where.partition(" ")[0]


def column(name: str) -> pl.Expr:
    return pl.col(name)


def missing_names(shows: str, into: Callable[[str], Any]) -> list[Case]:
    named = {
        "truth": ({"truth": into("lat")}, "late"),
        "score": ({"score": into("scor")}, "score"),
        "score list": ({"score": ["other", into("scor")]}, "score"),
        "score mapping": ({"score": {"old": "other", "new": into("scor")}}, "score"),
        "by": ({"by": into("regio")}, "region"),
        "by list": ({"by": ["answer", into("regio")]}, "region"),
        "weight": ({"weight": into("ww")}, "w"),
        "pos": (aggregated(pos=into("hit")), "hits"),
        "neg": (aggregated(neg=into("misse")), "misses"),
    }
    return [
        Case(
            f"{shows} in {where}",
            asked,
            ColumnError,
            [f"{role_of(where)}= names", "which is no column", f"did you mean '{nearest}'"],
        )
        for where, (asked, nearest) in named.items()
    ]


def not_numeric(where: str, asked: dict[str, Any]) -> Case:
    says = [
        f"{role_of(where)}= column 'answer' has dtype String",
        "numeric column",
        "cast it first",
    ]
    return Case(f"text as {where}", asked, ColumnError, says)


def several_outputs(where: str, asked: dict[str, Any]) -> Case:
    says = [f"{role_of(where)}= gives 2 columns: 'other', 'w'", "Allowed: one column"]
    return Case(f"several columns as {where}", asked, ColumnError, says)


def no_outputs(where: str, asked: dict[str, Any]) -> Case:
    says = [f"{role_of(where)}= selects no column", "the columns are 'region', 'late'"]
    return Case(f"selector of nothing as {where}", asked, ColumnError, says)


def no_column(role: str, value: object, asked: dict[str, Any]) -> Case:
    what = f"{role}= takes columns, got {value!r} of type {type(value).__name__}"
    says = [what, "a column name or a Polars expression"]
    return Case(f"{type(value).__name__} as {role}", asked, OptionError, says)


def repeated(shows: str, asked: dict[str, Any], where: str) -> Case:
    return Case(shows, asked, ColumnError, [f"is named {where}", "each column once", ".alias("])


def bad_option(name: str, value: object, allowed: str) -> Case:
    says = [f"{name}={value!r} is not an option", f"Allowed: {allowed}"]
    return Case(f"{name} {value}", {name: value}, OptionError, says)


def beside_counts(role: str, asked: dict[str, Any]) -> Case:
    says = [f"{role}= is given beside pos= and neg=", "truth= for single rows, or pos= and neg="]
    return Case(f"{role} beside counts", aggregated(**asked), OptionError, says)


def not_given(role: str, asked: dict[str, Any], allowed: str) -> Case:
    return Case(f"no {role}", asked, OptionError, [f"{role}= is not given", allowed])


def wrong_label(label: object, truth: str, dtype: str) -> Case:
    what = f"pos_label={label!r} cannot be a value of truth= column {truth!r} of dtype {dtype}"
    asked = {"truth": truth, "pos_label": label}
    return Case(f"label {label!r} for {dtype}", asked, OptionError, [what, "Allowed:", dtype])


SEVERAL = pl.col("other", "w")
NOTHING = cs.date()
AT_THE_CALL = [
    *missing_names("unknown name", str),
    *missing_names("unknown root", column),
    Case(
        "nothing like the name",
        {"truth": "zzz"},
        ColumnError,
        ["'zzz'", "the columns are 'region', 'late', 'score'"],
    ),
    *(not_numeric(role, {role: "answer"}) for role in ("score", "weight")),
    not_numeric("score list", {"score": ["other", "answer"]}),
    *(not_numeric(role, aggregated(**{role: "answer"})) for role in ("pos", "neg")),
    Case(
        "text as truth without label",
        {"truth": "answer"},
        ColumnError,
        ["truth= column 'answer' has dtype String", "Boolean, or 0/1 numbers", "pos_label="],
    ),
    wrong_label(1, "answer", "String"),
    wrong_label("yes", "grade", "Int64"),
    wrong_label(True, "grade", "Int64"),
    wrong_label(1, "late", "Boolean"),
    *(several_outputs(role, {role: SEVERAL}) for role in ("truth", "score", "weight")),
    *(several_outputs(role, aggregated(**{role: SEVERAL})) for role in ("pos", "neg")),
    several_outputs("score list", {"score": [SEVERAL, "score"]}),
    *(no_outputs(role, {role: NOTHING}) for role in ("truth", "score", "by", "weight")),
    no_outputs("by list", {"by": ["region", NOTHING]}),
    *(no_column(role, 3, {role: 3}) for role in ("truth", "score", "by", "weight")),
    no_column("by", None, {"by": [None]}),
    no_column("by", {"region"}, {"by": {"region"}}),
    Case(
        "expression that cannot work",
        {"score": pl.col("answer") * 2},
        ColumnError,
        ["score= is an expression that fails on this frame:"],
    ),
    Case(
        "no keys in a list",
        {"by": []},
        OptionError,
        ["by= is an empty list", "a column, an expression, a selector", "leave by= out"],
    ),
    repeated("key twice", {"by": ["region", "region"]}, "twice in by="),
    repeated(
        "key and expression of its name",
        {"by": ["region", pl.col("region").str.to_uppercase()]},
        "twice in by=",
    ),
    repeated("key selected twice", {"by": ["region", cs.by_name("region")]}, "twice in by="),
    repeated("truth as key", {"by": "late"}, "in by= and truth="),
    repeated("score as key", {"by": "score"}, "in by= and score="),
    repeated("score as weight", {"weight": "score"}, "in weight= and score="),
    repeated("truth as score", {"truth": "grade", "score": "grade"}, "in truth= and score="),
    repeated("counts twice", aggregated(neg="hits"), "in pos= and neg="),
    repeated("score twice", {"score": {"a": "score", "b": "score"}}, "twice in score="),
    Case(
        "key named like an output",
        {"by": pl.col("region").alias("tp")},
        ColumnError,
        ["key 'tp' in by= is named like a column of the result", "'tp', 'fp'", ".alias("],
    ),
    bad_option("missing", "ignore", "'raise', 'drop', 'unretrieved'"),
    bad_option("missing", None, "'raise', 'drop', 'unretrieved'"),
    bad_option("start", "zero", "'one', 'first', None"),
    bad_option("start", 1, "'one', 'first', None"),
    bad_option("keep", "some", "'all', 'corners'"),
    bad_option("envelope", 1, "True, False"),
    beside_counts("truth", {"truth": "late"}),
    beside_counts("weight", {"weight": "w"}),
    beside_counts("pos_label", {"pos_label": 1}),
    not_given("neg", {"truth": None, "pos": "hits"}, "pos= and neg= together"),
    not_given("pos", {"truth": None, "neg": "hits"}, "pos= and neg= together"),
    not_given("truth", {"truth": None}, "truth= for single rows, or pos= and neg="),
    not_given("score", {"score": None}, "a column, a list of columns, or {name: column}"),
    Case("no score in a list", {"score": []}, OptionError, ["score= names no column", "a column"]),
    Case(
        "model twice",
        {"score": ["score", pl.col("other").alias("score")]},
        OptionError,
        ["score= names 'score' twice", "each model once", "score={'first': ..."],
    ),
    Case(
        "model name that is no text",
        {"score": {1: "score"}},
        OptionError,
        ["score= names a model 1", "names that are strings"],
    ),
    Case(
        "scores without a common dtype",
        {"score": ["score", "grade"]},
        ColumnError,
        ["'score' is Float64, 'grade' is Int64", "scores of one dtype", ".cast("],
    ),
]

AT_COLLECT = [
    Case(
        "truth numbers outside 0 and 1",
        {"truth": "grade"},
        DataError,
        ["truth= column 'grade' has 2 rows outside 0 and 1: 2, 3", "0/1 numbers", "pos_label=3"],
    ),
    Case(
        "label nowhere in text",
        {"truth": "answer", "pos_label": "maybe"},
        DataError,
        ["pos_label='maybe' is nowhere in truth= column 'answer', which holds 'no', 'yes'"],
    ),
    Case(
        "label nowhere in numbers",
        {"truth": "grade", "pos_label": 7},
        DataError,
        ["pos_label=7 is nowhere in truth= column 'grade', which holds 1, 2, 3", "Allowed:"],
    ),
    Case(
        "label nowhere in booleans",
        {"pos_label": False},
        DataError,
        ["pos_label=False is nowhere in truth= column 'late', which holds True"],
        {"late": pl.lit(True)},
    ),
    Case(
        "missing truth and score",
        {},
        DataError,
        [
            "'late' has 1 row with null",
            "'score' has 2 rows with null or NaN",
            "no null, and no NaN in truth or score",
            "missing='drop'",
            "missing='unretrieved'",
        ],
        {
            "late": pl.Series([True, None, False, True]),
            "score": pl.Series([0.9, None, NAN, 0.2]),
        },
    ),
    Case(
        "missing score of one model",
        {"score": ["score", "other"]},
        DataError,
        ["values are missing: 'other' has 3 rows with null or NaN. Allowed"],
        {"other": pl.Series([0.9, None, NAN, NAN])},
    ),
    Case(
        "missing truth beside unretrieved scores",
        {"missing": "unretrieved"},
        DataError,
        ["values are missing: 'late' has 1 row with null. Allowed"],
        {
            "late": pl.Series([True, None, False, True]),
            "score": pl.Series([0.9, 0.8, None, 0.2]),
        },
    ),
    *(
        Case(
            f"weight {value} under {missing}",
            {"weight": "w", "missing": missing},
            DataError,
            [
                f"weight= column 'w' has 1 row with {value!r}",
                "finite numbers that are zero or more",
                "a weight of 0 leaves a row out",
            ],
            {"w": pl.Series([1.0, 2.0, 0.0, value])},
        )
        for value, missing in (
            (-1.0, "raise"),
            (NAN, "raise"),
            (INF, "raise"),
            (NAN, "drop"),
            (-INF, "unretrieved"),
        )
    ),
    *(
        Case(
            f"negative {role}",
            aggregated(),
            DataError,
            [f"{role}= column {name!r} has 2 rows with -2, -1", "zero or more"],
            {name: pl.Series([-1, 0, 1, -2])},
        )
        for role, name in (("pos", "hits"), ("neg", "misses"))
    ),
    *(
        Case(
            f"{role} beyond Int64",
            aggregated(),
            DataError,
            [
                f"{role}= column {name!r} adds up to 72,057,594,037,927,936",
                "a total below 72,057,594,037,927,936",
                "divide all by a common factor",
            ],
            {name: pl.Series([2**55, 2**55, 0, 0])},
        )
        for role, name in (("pos", "hits"), ("neg", "misses"))
    ),
    Case(
        "weights that add up to infinity",
        {"weight": "w"},
        DataError,
        ["weight= column 'w' adds up to inf", "Allowed: ", "divide all by a common factor"],
        {"w": pl.Series([1e308] * 4)},
    ),
]
CASES = [*AT_THE_CALL, *AT_COLLECT]


def every_case(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=str)


def assert_says(error: PrcError, case: Case) -> None:
    text, found = str(error), 0
    for fragment in case.says:
        found = text.find(fragment, found)
        assert found >= 0, f"{fragment!r} is not, or not in this place, in: {text}"


def error_on(kind: Kind, case: Case) -> PrcError:
    with pytest.raises(PrcError) as raised:
        kind.rows(case.ask(kind.make(case.rows())))
    return raised.value


def unreadable(rows: pl.DataFrame) -> pl.LazyFrame:
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("the rows were read")

    return rows.lazy().map_batches(fail, schema=rows.schema)


# --- what is said, and when --------------------------------------------------------------


@every_kind
@every_case(AT_THE_CALL)
def test_what_the_schema_shows_is_said_at_the_call(case, kind):
    frame = kind.make(case.rows())
    with pytest.raises(PrcError) as raised:
        case.ask(frame)
    assert raised.type is case.error
    assert_says(raised.value, case)


@every_case(AT_THE_CALL)
def test_what_the_schema_shows_is_said_before_a_row_is_read(case):
    with pytest.raises(case.error):
        case.ask(unreadable(case.rows()))


@every_kind
@every_case(AT_COLLECT)
def test_what_only_values_show_is_said_once_they_are_read(case, kind):
    error = error_on(kind, case)
    assert type(error) is case.error
    assert_says(error, case)


@every_case(AT_COLLECT)
def test_what_only_values_show_is_not_looked_for_at_the_call(case):
    assert isinstance(case.ask(unreadable(case.rows())), pl.LazyFrame)


@every_case(CASES)
def test_error_text_is_the_same_on_every_kind(case):
    assert len({str(error_on(kind, case)) for kind in KINDS}) == 1


@every_case(CASES)
def test_error_text_names_nothing_internal(case):
    text = str(error_on(KINDS[0], case))
    internal = ["by_0", "key_0", "score_0", "rank_key", "slot", "\0"]
    assert [name for name in internal if name in text] == []


@every_case([AT_THE_CALL[0], AT_COLLECT[0]])
@every_verb
@every_kind
def test_every_verb_checks_its_columns(case, verb, kind):
    with pytest.raises(case.error, match="truth="):
        kind.rows(ask(verb, kind.make(ROWS), case.asked["truth"], "score"))


CLASSES = {"n": "score", "s": "other"}


@pytest.mark.parametrize(
    ("verb", "asked", "error", "says"),
    [
        ("auc", {"method": "area"}, OptionError, "method='area' is not known.*'step', 'trapezoid'"),
        ("auc", {"method": 3}, OptionError, "method=3"),
        ("auc", {"method": None}, OptionError, "method=None"),
        ("auc", {"method": []}, OptionError, "method= is an empty list"),
        ("auc", {"method": ["step", "step"]}, OptionError, "names 'step' twice.*each method once"),
        ("auc", {"recall_range": (0.5, 0.2)}, OptionError, "recall_range=.*0 <= low < high <= 1"),
        ("auc", {"recall_range": ("0", "1")}, OptionError, r"recall_range=\('0', '1'\) is not a"),
        ("auc", {"recall_range": (False, True)}, OptionError, "recall_range=.* is not a range"),
        ("auc", {"recall_range": {0.1, 0.9}}, OptionError, "recall_range=.* is not a range"),
        ("auc", {"recall_range": (0, 0.5, 1)}, OptionError, "recall_range=.* is not a range"),
        (
            "auc",
            {"method": "gain", "recall_range": (0, 0.5)},
            OptionError,
            "'gain' has no area over",
        ),
        ("curve", {"thresholds": 0}, OptionError, "thresholds=0 .*from 2 on, or a list"),
        (
            "curve",
            {"thresholds": [0.5, 0.1]},
            OptionError,
            "0.1 comes after 0.5.*ascending.*sorted",
        ),
        ("curve", {"thresholds": [NAN]}, OptionError, "thresholds= holds nan"),
        ("curve", {"calibrate": 1.0}, OptionError, "calibrate=1.0 .*a number between 0 and 1"),
        ("curve", {"gain": 1}, OptionError, "gain=1 is not an option.*True, False"),
        ("average_precision", {"over": "region"}, OptionError, "over= .*without average="),
        ("average_precision", {"average": "macro"}, OptionError, "average= .*without over="),
        (
            "average_precision",
            {"over": "x", "average": "macro"},
            ColumnError,
            "over='x' is not a key",
        ),
        ("average_precision", {"over": ["region"], "average": "macro"}, PrcError, "over="),
        ("average_precision", {"over": pl.col("region"), "average": "macro"}, PrcError, "over="),
        ("average_precision", {"over": "region", "average": "mean"}, OptionError, "average='mean'"),
        (
            "operating_points",
            {},
            OptionError,
            "no target is given.*recall=, precision=, threshold=",
        ),
        ("operating_points", {"recall": 2}, OptionError, "recall=2 is out of range.*up to 1"),
        ("operating_points", {"f_beta": -1}, OptionError, "f_beta=-1 is out of range.*above 0"),
        ("operating_points", {"recall": b"a"}, OptionError, "recall=b'a' is not a number.*up to 1"),
        ("operating_points", {"threshold": [None]}, OptionError, "threshold=None is not a number"),
        ("operating_points", {"threshold": math.nan}, OptionError, "threshold=nan is out of range"),
        ("counts", {"thresholds": b"ab"}, OptionError, "thresholds=b'ab' gives no thresholds"),
        ("counts", {"thresholds": {0.5}}, OptionError, r"thresholds=\{0.5\} gives no thresholds"),
        ("counts", {"thresholds": {0.5: 1}}, OptionError, "thresholds=.* gives no thresholds"),
        ("band", {"replicates": 10**15}, OptionError, "replicates=10+ .*from 1 to 1,000,000"),
    ],
)
def test_options_are_checked_before_a_row_is_read(verb, asked, error, says):
    frame = unreadable(ROWS)
    with pytest.raises(error, match=says):
        getattr(frame.prc, verb)("late", "score", by="region", **asked)


@pytest.mark.parametrize(
    ("truth", "score", "error", "says"),
    [
        ("regio", CLASSES, ColumnError, "truth= names 'regio'.*did you mean 'region'"),
        ("region", {**CLASSES, "n": "scor"}, ColumnError, "score= names 'scor'.*mean 'score'"),
        (
            "region",
            {**CLASSES, "n": "answer"},
            ColumnError,
            "score= column 'answer' has dtype String",
        ),
        ("region", ["score"], OptionError, "which column belongs to which class.*{class: column}"),
        ("region", {}, OptionError, "score= names no column"),
        ("region", None, OptionError, "score="),
        (None, CLASSES, OptionError, "truth="),
        ("region", {1: "score"}, PrcError, "String"),
        (["late", "grade"], ["score"], OptionError, "truth= has 2 columns and score= has 1"),
    ],
)
def test_columns_per_class_are_checked_before_a_row_is_read(truth, score, error, says):
    frame = unreadable(ROWS)
    with pytest.raises(error, match=says):
        frame.prc.one_vs_rest(truth, score)


@every_kind
def test_class_without_a_score_column_is_said_once_the_rows_are_read(kind):
    with pytest.raises(DataError, match=r"2 rows of a class without a score column: 's'.*'n'"):
        kind.rows(kind.make(ROWS).prc.one_vs_rest("region", {"n": "score"}))


OUT_OF_RANGE = [
    *(("auc", {"recall_range": r}) for r in [(0.5, 0.5), (-0.1, 1), (0, 1.1), (0, NAN), 0.5, "ab"]),
    *(("curve", {"thresholds": t}) for t in (1, -3, [], [0.5, 0.5], [0, NAN], "ab", ["a"])),
    *(("curve", {"calibrate": c}) for c in (0, -0.5, 2, NAN, "a", True)),
    *(("operating_points", {"recall": r}) for r in (0, -0.5, 1.5, NAN, "a", [0.5, 2], [])),
    *(("operating_points", {"precision": p}) for p in (0, 1.5, True)),
    *(("operating_points", {"predicted_rate": p}) for p in (0, 1.5)),
    *(("operating_points", {"threshold": t}) for t in (NAN, "a", True)),
    *(("operating_points", {"f_beta": b}) for b in (0, INF, NAN)),
]


@pytest.mark.parametrize(("verb", "asked"), OUT_OF_RANGE, ids=str)
def test_numbers_out_of_range_are_named_with_what_is_allowed(verb, asked):
    *_, name = asked
    with pytest.raises(OptionError, match=rf"({name}|no target).*Allowed: "):
        getattr(unreadable(ROWS).prc, verb)("late", "score", **asked)


@every_polars_kind
def test_counts_just_below_the_limit_are_no_error(kind):
    rows = pl.DataFrame({"score": [2, 1], "hits": [2**55, 2**55 - 8], "misses": [0, 2**55]})
    table = kind.rows(
        kind.make(rows).prc.average_precision(score="score", pos="hits", neg="misses")
    )
    assert table["n_pos"].item() == 2**56 - 8


@every_kind
@pytest.mark.parametrize("scores", [[0.0, -0.0], [-0.0, 0.0]])
def test_an_error_names_both_zeros_alike(kind, scores):
    df = pl.DataFrame({"truth": [False, False], "score": scores, "number": scores})
    with pytest.raises(DataError, match=r"2 rows below the lowest threshold 0\.5: 0\.0\. "):
        kind.rows(frame_prc.counts(kind.make(df), "truth", "score", thresholds=[0.5]))
    with pytest.raises(DataError, match=r"which holds 0\.0\. "):
        kind.rows(frame_prc.counts(kind.make(df), "number", "score", pos_label=1))


@every_polars_kind
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("largest", [float("-inf"), -1e300, 1e300, float("inf")])
def test_a_score_that_the_gate_refuses_breaks_nothing_beside_it(kind, verb, largest, monkeypatch):
    # Both run at once: which comes first is luck, and the error has to be that of the gate.
    monkeypatch.setattr(_gate, "_raise_problem", lambda *_: None)
    df = pl.DataFrame({"truth": [True, False, True], "score": [largest, float("nan"), None]})
    kind.rows(getattr(frame_prc, verb)(kind.make(df), "truth", "score", **VERBS[verb]))


@every_kind
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (
            1e154,
            r"'weight' adds up to 3e\+154. Allowed: a total below 1e\+150. Hint: divide all by",
        ),
        (
            1e-160,
            "'weight' has 3 rows with 1e-160. Allowed: 0, or numbers of at least 1e-150. Hint: div",
        ),
    ],
)
def test_weights_whose_squares_are_no_numbers_are_refused(kind, weight, says):
    df = pl.DataFrame({"truth": [True, False, True], "score": [3, 2, 1], "weight": weight})
    with pytest.raises(DataError, match=says):
        kind.rows(
            frame_prc.average_precision(kind.make(df), "truth", "score", weight="weight", ci=0.9)
        )


@every_kind
@pytest.mark.parametrize("truth", ["pos", "neg"])
def test_counts_are_not_taken_for_rows(kind, truth):
    counts = pl.DataFrame({"threshold": [0.5, 0.4], "pos": [0, 1], "neg": [1, 0]})
    says = f"truth= names '{truth}' and score= 'threshold'.*score='threshold', pos='pos', neg='neg'"
    with pytest.raises(ColumnError, match=says):
        frame_prc.average_precision(kind.make(counts), truth, "threshold")
    renamed = kind.make(counts.rename({"threshold": "score"}))
    assert kind.rows(frame_prc.average_precision(renamed, truth, "score"))["n_pos"].item() == 1


@pytest.mark.parametrize("library", [pl, pd])
def test_a_condition_is_asked_for_as_an_expression(library):
    truth = library.Series(name="outcome", **{"data" if library is pd else "values": [True, False]})
    with pytest.raises(OptionError, match=r"an expression such as pl.col\('outcome'\) == 'yes'"):
        frame_prc.average_precision(pl.DataFrame({"score": [0.5, 0.4]}), truth, "score")


@every_kind
@pytest.mark.parametrize("name", ["below", "pos_squares", "neg_squares"])
def test_no_key_of_counts_is_called_like_a_column_that_counts_may_have(kind, name):
    df = pl.DataFrame({"truth": [True, False], "score": [0.5, 0.4], name: ["a", "b"]})
    with pytest.raises(ColumnError, match=f"key '{name}' in by= is named like a column"):
        frame_prc.counts(kind.make(df), "truth", "score", by=name)


@pytest.mark.parametrize("column", [1, None, ["truth"]])
@pytest.mark.parametrize("role", ["truth", "score", "weight"])
def test_what_is_no_column_is_refused_by_the_expression(role, column):
    if role == "weight" and column is None:
        column = 1.0
    with pytest.raises(OptionError, match=f"{role}= takes columns, got "):
        frame_prc.average_precision_expr(**{"truth": "truth", "score": "score", role: column})


@pytest.mark.parametrize("weight", [1e-320, 1e308])
def test_the_expression_is_null_where_weights_are_refused(weight):
    df = pl.DataFrame({"truth": [1, 0], "score": [1, 2], "weight": [weight, 1.0]})
    found = df.select(frame_prc.average_precision_expr("truth", "score", "weight"))
    assert found.item() is None


# --- what cannot be shown on every kind ----------------------------------------------------


@pytest.mark.parametrize("frame", [[1, 2], {"late": [True]}, ROWS["late"], None, "late"], ids=repr)
def test_unknown_kind_of_frame_is_refused_by_its_type(frame):
    with pytest.raises(
        FrameError, match=r"cannot evaluate a frame of type .*Allowed: a Polars"
    ) as e:
        frame_prc.curve(frame, "late", "score")
    assert type(frame).__qualname__ in str(e.value)
    assert isinstance(e.value, TypeError)


@every_polars_kind
def test_key_of_python_objects_is_refused(kind):
    objects = pl.Series("region", [object()] * 4, dtype=pl.Object)
    frame = kind.make(ROWS.with_columns(objects))
    with pytest.raises(ColumnError, match=r"by= column 'region' has dtype Object.*sorted.*String"):
        frame.prc.curve("late", "score", by="region")


@every_polars_kind
@pytest.mark.parametrize(
    ("asked", "name"),
    [({"truth": "late", "weight": "w"}, "w"), ({"pos": "hits", "neg": "misses"}, "misses")],
)
def test_missing_amount_is_counted_like_a_missing_score(kind, asked, name):
    rows = ROWS.with_columns(pl.when(pl.col("score") != 0.4).then(pl.col(name)))
    with pytest.raises(DataError, match=f"values are missing: '{name}' has 2 rows with null"):
        kind.rows(kind.make(rows).prc.curve(score="score", **asked))


def test_nan_weight_of_pandas_is_a_wrong_weight():
    frame = ROWS.to_pandas().assign(w=[1.0, NAN, 1.0, 1.0])
    with pytest.raises(DataError, match="weight= column 'w' has 1 row with nan"):
        frame.prc.curve("late", "score", weight="w", missing="drop")


@pytest.mark.parametrize("name", ["score", "region"])
def test_named_column_that_pandas_has_twice_is_refused(name):
    frame = pd.concat([ROWS.to_pandas(), ROWS.select(name).to_pandas()], axis=1)
    with pytest.raises(ColumnError, match=f"2 columns named '{name}'.*one column of each name"):
        frame.prc.curve("late", "score", by="region")


def test_column_that_pandas_has_twice_does_no_harm_when_not_named():
    frame = pd.concat([ROWS.to_pandas(), ROWS.select("w").to_pandas()], axis=1)
    assert len(frame.prc.counts("late", "score")) == 3


def test_unknown_name_is_said_even_where_pandas_has_another_column_twice():
    frame = pd.concat([ROWS.to_pandas(), ROWS.select("w").to_pandas()], axis=1)
    with pytest.raises(ColumnError, match=r"truth= names 'lat'.*did you mean 'late'"):
        frame.prc.counts("lat", "score")


def test_pandas_column_of_mixed_objects_is_refused_by_name():
    frame = ROWS.to_pandas().assign(region=["n", 1, object(), None])
    with pytest.raises(
        FrameError,
        match="to Polars: column 'region' has dtype object with values of type NoneType, int",
    ):
        frame.prc.curve("late", "score", by="region")


# --- errors as objects ---------------------------------------------------------------------


@pytest.mark.parametrize("error", [ColumnError, DataError, FrameError, OptionError])
def test_errors_are_one_family_of_value_errors(error):
    assert issubclass(error, PrcError)
    assert issubclass(error, ValueError)


@every_case([AT_THE_CALL[0], AT_THE_CALL[-1], AT_COLLECT[0], AT_COLLECT[2]])
def test_pickled_error_comes_back_as_it_was(case):
    error = error_on(KINDS[0], case)
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled one line ago
    assert (type(copy), str(copy)) == (type(error), str(error))


# --- key names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "options", "outputs"),
    [
        ("auc", {}, "method auc"),
        ("counts", {}, "threshold pos neg"),
        ("curve", {"envelope": True}, "threshold tp fp fn tn precision recall envelope"),
        ("curve", {"score": ["score", "other"]}, "model threshold tp fp fn tn precision recall"),
        ("average_precision", {}, "n n_pos prevalence average_precision status"),
        ("average_precision", {"missing": "drop"}, "n_dropped"),
        ("operating_points", {}, "criterion target threshold tp recall f_score predicted_rate"),
        ("band", {}, "recall precision precision_low precision_high"),
        ("curve", {"ci": 0.9}, "precision_low precision_high"),
        ("summary", {}, "n_dropped status std_error lift gain best_f1 best_f1_threshold"),
    ],
)
def test_no_key_may_be_named_like_a_column_of_the_result(verb, options, outputs):
    asked = {"truth": "late", "score": "score", **options}
    for name in outputs.split():
        with pytest.raises(ColumnError, match=f"key '{name}' in by= is named like a column"):
            ask(verb, ROWS, **asked, by=pl.col("region").alias(name))


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        ("counts", "tp"),
        ("curve", "envelope"),
        ("curve", "model"),
        ("average_precision", "n_dropped"),
    ],
)
def test_key_named_like_a_column_of_another_result_is_no_error(verb, name):
    result = ask(verb, ROWS, "late", "score", by=pl.col("region").alias(name))
    assert result[name].unique().sort().to_list() == ["n", "s"]


@every_kind
@every_verb
@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_keys_and_roles_may_be_called_what_they_like(kind, verb, missing):
    internal = ["segment", "slot", "rank_key", "key_0", "by_0", "opens", "score", "truth", "level"]
    names = {"region": "weight", "late": "score_0", "score": "key_1", "w": "row"}
    rows = ROWS.select(*names).rename(names)
    rows = rows.with_columns(pl.col("weight").alias(name) for name in internal)
    asked = {"by": internal, "weight": "row", "missing": missing}
    result = kind.rows(ask(verb, kind.make(rows), "score_0", "key_1", **asked))
    expected = kind.rows(
        ask(verb, kind.make(ROWS), "late", "score", **{**asked, "by": "region", "weight": "w"})
    )
    assert result.columns == [*internal, *expected.columns[1:]]
    assert result.drop(internal).equals(expected.drop("region"))


ODD = {
    "expression as label": (
        "curve",
        {"pos_label": pl.col("late")},
        "pos_label= is an expression. Allowed: a value of the truth",
    ),
    "array as label": (
        "curve",
        {"pos_label": np.array([1, 2])},
        "pos_label= is of type numpy.ndarray. Allowed: a single value",
    ),
    "list as keep": ("curve", {"keep": ["all"]}, r"keep=\['all'\] is not an option"),
    "flag as keep": ("curve", {"keep": True}, "keep=True is not an option"),
    "expression as method": ("auc", {"method": pl.col("late")}, "method=polars.Expr is not known"),
    "bounds of an average": (
        "average_precision",
        {"by": "region", "over": "region", "average": "macro", "bounds": True},
        "bounds=True is given with over= and average=",
    ),
    "expression as baseline": (
        "compare",
        {"score": ["score", "other"], "baseline": pl.col("score")},
        "baseline=polars.Expr is no model. Allowed: 'score', 'other'",
    ),
    "integer beyond floats": ("curve", {"ci": 10**400}, "ci=a value is not a level"),
    "target beyond floats": (
        "operating_points",
        {"threshold": 10**400},
        "threshold=a value is out",
    ),
    "array without dimensions": (
        "curve",
        {"thresholds": np.array(0.5)},
        r"thresholds=array\(0.5\) gives no thresholds",
    ),
    "target without dimensions": (
        "operating_points",
        {"recall": np.array(0.5)},
        r"recall=array\(0.5\) is not a number",
    ),
    "number as scores": ("one_vs_rest", {"score": 5}, "score=5 does not say which column belongs"),
    "numbers of a list": (
        "one_vs_rest",
        {"truth": ["late"], "score": 5},
        "score=5 does not say which column belongs",
    ),
}


@every_kind
@pytest.mark.parametrize(("verb", "asked", "says"), ODD.values(), ids=ODD)
def test_odd_options_are_errors_of_ours(kind, verb, asked, says):
    columns = {"truth": "late", "score": "score", **asked}
    with pytest.raises(OptionError, match=says):
        getattr(kind.make(ROWS).prc, verb)(**columns)


def test_too_many_thresholds_are_named_as_they_were_asked_for():
    with pytest.raises(OptionError, match="number= asks for 2000000 thresholds"):
        ROWS.prc.quantile_thresholds("score", 2_000_000)


# --- every error ----------------------------------------------------------------------------

FAMILY = {error.__name__ for error in (PrcError, *PrcError.__subclasses__())}


def made_in(path: Path) -> list[ast.Call]:
    """Return the places where a file makes an error of the package."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [call for call in calls if getattr(call.func, "id", None) in FAMILY]


SOURCES = sorted(Path(str(resources.files(frame_prc))).rglob("*.py"))
WITH_ERRORS = [path for path in SOURCES if made_in(path)]


@pytest.mark.parametrize("path", WITH_ERRORS, ids=lambda path: path.stem)
def test_every_error_says_what_is_allowed_or_what_to_do(path):
    for call in made_in(path):
        says = [*call.args[1:], *(k.value for k in call.keywords if k.arg in {"allowed", "hint"})]
        # Another error of ours is passed on, whole, with the name of the file it came from.
        assert says or ast.unparse(call).endswith("{error}')"), ast.unparse(call)


# --- what is no error -----------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("rows", "statuses", "points"),
    [
        pytest.param(ROWS.head(0), [], 0, id="no rows"),
        pytest.param(ROWS.head(1), ["no_negatives"], 2, id="one row"),
        pytest.param(ROWS.filter("late"), ["no_negatives"] * 2, 4, id="no negatives"),
        pytest.param(ROWS.filter(~pl.col("late")), ["no_positives"] * 2, 4, id="no positives"),
        pytest.param(ROWS.with_columns(region=None), ["ok"], 4, id="null key"),
        pytest.param(ROWS.with_columns(score=INF), ["ok"] * 2, 4, id="infinite score"),
        pytest.param(ROWS.with_columns(w=0.0), [], 0, id="no weight"),
    ],
)
def test_odd_rows_are_results(kind, rows, statuses, points):
    prc = kind.make(rows.with_columns(pl.col("region").cast(pl.String))).prc
    asked = {"truth": "late", "score": "score", "by": "region", "weight": "w"}
    assert kind.rows(prc.average_precision(**asked))["status"].to_list() == statuses
    assert kind.rows(prc.curve(**asked)).height == points
    assert kind.rows(prc.counts(**asked)).height == points - len(statuses)


@every_kind
@pytest.mark.parametrize("missing", ["raise", "drop", "unretrieved"])
def test_no_rows_at_all_are_one_empty_segment(kind, missing):
    prc = kind.make(ROWS.head(0)).prc
    table = kind.rows(prc.average_precision("late", "score", missing=missing))
    assert table.select("n", "status").rows() == [(0, "empty")]
    assert kind.rows(prc.curve("late", "score", missing=missing)).is_empty()


@every_kind
def test_label_is_not_looked_for_where_there_are_no_rows(kind):
    frame = kind.make(ROWS.head(0))
    table = kind.rows(frame.prc.average_precision("answer", "score", pos_label="yes"))
    assert table["status"].to_list() == ["empty"]
