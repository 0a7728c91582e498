"""Calls that fail: what each is asked for, and what its error says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest
from kinds import VERBS, Kind

from frame_prc import ColumnError, DataError, OptionError, PrcError

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
            [f"{role_of(where)}= names", "which is not a column", f"did you mean '{nearest}'"],
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
    not_given(
        "score",
        {"score": None},
        "one column, or several. Hint: pass several as a list of columns, or as {name: column}",
    ),
    Case(
        "no score in a list",
        {"score": []},
        OptionError,
        ["score= names no column", "one column, or several", "a list of columns"],
    ),
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
    Case(
        "scores that their common dtype would round",
        {"score": ["score", "grade"]},
        DataError,
        [
            "'grade' has 2 rows that Float64, the common dtype of the scores, would round: "
            "-9007199254740993, 9007199254740993",
            "Allowed: scores of one dtype",
            "cast it to floats first",
        ],
        {"grade": pl.Series([2**53 + 1, 2**53, -(2**53) - 1, 2])},
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


def every_case(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=str)


def error_on(kind: Kind, case: Case) -> PrcError:
    with pytest.raises(PrcError) as raised:
        kind.rows(case.ask(kind.make(case.rows())))
    return raised.value


def unreadable(rows: pl.DataFrame) -> pl.LazyFrame:
    def fail(_: pl.DataFrame) -> pl.DataFrame:
        raise AssertionError("the rows were read")

    return rows.lazy().map_batches(fail, schema=rows.schema)
