"""Hints: what an error proposes is what the caller meant, and doing it gives the right numbers."""

from __future__ import annotations

import inspect
import re
import tomllib
from functools import partial
from importlib import resources
from pathlib import Path

import numpy as np
import optional
import pandas as pd
import polars as pl
import pytest
from checkout import PYPROJECT, in_checkout
from kinds import VERBS, every_kind, every_polars_kind

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError, ParameterError, PrcError
from frame_prc._request import hints

ROWS = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s"],
        "late": [True, False, True, False],
        "flag": [1, 0, 1, 0],
        "side": [1, -1, 1, -1],
        "answer": ["yes", "no", "yes", "no"],
        "score": [0.9, 0.8, 0.3, 0.2],
    }
)
# Positives at ranks 1 and 3 of 4: (1/1 + 2/3) / 2.
AREA = 5 / 6


def area(kind, frame, *columns, **asked):
    table = kind.rows(frame_prc.average_precision(frame, *columns, **asked))
    return table["average_precision"].item()


# --- the class that is positive ----------------------------------------------------------------


@every_kind
def test_of_two_numbers_the_larger_is_proposed_as_the_positive_class(kind):
    frame = kind.make(ROWS)
    with pytest.raises(DataError, match=r"outside 0 and 1: -1\. .*for example pos_label=1\.$"):
        area(kind, frame, "side", "score")
    assert area(kind, frame, "side", "score", pos_label=1) == pytest.approx(AREA, abs=1e-15)


@every_kind
@pytest.mark.parametrize(
    ("grades", "tells"), [([0, 1, 2, 3], True), ([0, 2, 2, 2], False), ([1, 2, 3, 4], False)]
)
def test_grades_may_be_positive_above_zero(kind, grades, tells):
    df = kind.make(pl.DataFrame({"grade": grades, "score": [0.1, 0.2, 0.3, 0.4]}))
    with pytest.raises(DataError, match=rf"pos_label={grades[-1]}") as raised:
        kind.rows(frame_prc.average_precision(df, "grade", "score"))
    assert ("truth=pl.col('grade') > 0" in str(raised.value)) == tells


@every_kind
def test_truth_and_score_that_look_swapped_are_asked_about(kind):
    frame = kind.make(ROWS)
    with pytest.raises(DataError, match=r"are truth= and score= swapped\?") as raised:
        area(kind, frame, "score", "flag")
    assert "pos_label=0" not in str(raised.value)
    with pytest.raises(ColumnError, match=r"are truth= and score= swapped\?$"):
        frame_prc.average_precision(frame, "score", "late")
    with pytest.raises(ColumnError, match=r"are truth= and score= swapped\?$"):
        frame_prc.average_precision(frame, "score", "answer", pos_label="yes")
    with pytest.raises(ColumnError, match=r"are truth= and score= swapped\?$"):
        frame_prc.one_vs_rest(frame, ["score"], ["late"])


@every_kind
def test_a_truth_of_other_numbers_is_made_by_an_expression(kind):
    frame = kind.make(ROWS.with_columns(delay=pl.Series([17.5, 3.5, 20.25, -4.5])))
    with pytest.raises(DataError, match=r"truth=pl\.col\('delay'\) > 0\.5\.$"):
        area(kind, frame, "delay", "score")
    found = area(kind, frame, pl.col("delay") > 15, "score")
    assert found == pytest.approx(AREA, abs=1e-15)


@every_kind
@pytest.mark.parametrize(
    ("truth", "label", "says"),
    [
        ("grade", "2", r"did you mean pos_label=2, the number\?"),
        ("grade", True, r"did you mean pos_label=1, the number\?"),
        ("share", "0.5", r"did you mean pos_label=0\.5, the number\?"),
        ("text", 2, r"did you mean pos_label='2', the text\?"),
        ("text", ["1", "2"], r"positive with truth=pl\.col\('text'\)\.is_in\(\[\.\.\.\]\)"),
    ],
)
def test_a_label_of_another_type_is_proposed_in_that_of_the_truth(kind, truth, label, says):
    frame = kind.make(
        ROWS.with_columns(
            grade=pl.Series([2, 1, 2, 1]),
            share=pl.Series([0.5, 0.25, 0.5, 0.25]),
            text=pl.Series(["2", "1", "2", "1"]),
        )
    )
    with pytest.raises(OptionError, match=says):
        frame_prc.average_precision(frame, truth, "score", pos_label=label)


# --- what is no column --------------------------------------------------------------------------


class Model:
    def predict_proba(self, rows):
        raise NotImplementedError


WEEKS = pd.Series(pd.to_datetime(["2024-01-01"] * 4), name="date").dt.to_period("W")
NO_COLUMNS = {
    "computed pandas Series": (
        {"by": WEEKS},
        r"'date', if it is an unchanged column .* if it is computed, put",
    ),
    "computed Series": (
        {"by": ROWS["score"].round()},
        "'score', if it is an unchanged column .* computed, put",
    ),
    "condition": ({"truth": ROWS["score"] > 0.5}, r"computed, give an expression such as pl\.col"),
    "Series without a name": ({"weight": pl.Series([1, 2])}, "as a column, and give that column"),
    "array": ({"score": np.array([0.1, 0.2])}, "put it into the frame as a column"),
    "array as key": ({"by": np.array(["n", "s"])}, "put it into the frame as a column"),
    "list of numbers": ({"truth": [1, 0, 1, 0]}, "put it into the frame as a column"),
    "two columns of predict_proba": (
        {"score": np.full((4, 2), 0.5)},
        r"put array\[:, 1\], the scores of the positive class, into the frame",
    ),
    "many columns of predict_proba": ({"score": np.full((4, 3), 0.5)}, "one_vs_rest takes one"),
    "frame": ({"by": ROWS.select("region")}, "give the names of its columns"),
    "pandas frame": ({"by": ROWS.select("region").to_pandas()}, "give the names of its columns"),
    "model": ({"score": Model()}, r"such as model\.predict_proba\(X\)\[:, 1\]"),
    "Grouper": ({"by": pd.Grouper(key="day", freq="W")}, r"pl\.col\('day'\)\.dt\.truncate\('1w'\)"),
    "Grouper of a level": ({"by": pd.Grouper(level=0)}, r"pl\.col\('date'\)\.dt\.truncate\('1w'\)"),
    "function": ({"by": len}, r"give an expression, such as pl\.col"),
    "list of one": ({"truth": ["late"]}, "give one column, without a list: 'late'"),
    "set": ({"by": {"region"}}, "a set has no order"),
    "number": ({"weight": 2.5}, r"pl\.lit\(2\.5\) makes a constant"),
    "number as name": ({"by": 0}, "a name is a string, or in pandas a label"),
    "NumPy's number": ({"by": np.int64(3)}, r"pl\.lit\(3\) makes a constant"),
}


@every_kind
@pytest.mark.parametrize(("asked", "says"), NO_COLUMNS.values(), ids=NO_COLUMNS)
def test_what_is_no_column_gets_a_hint_that_fits(kind, asked, says):
    with pytest.raises(OptionError, match=f"takes columns, got .*{says}") as raised:
        frame_prc.average_precision(kind.make(ROWS), **{"truth": "late", "score": "score", **asked})
    is_number = isinstance(next(iter(asked.values())), (int, float, np.integer))
    assert ("makes a constant" in str(raised.value)) == is_number


# --- what is no number --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum], ids=str)
@pytest.mark.parametrize("write", ["0,{}", "0.{}", "{}%", "{}.5 %"])
def test_texts_become_numbers_as_the_hint_says(kind, dtype, write):
    texts = [write.format(digits) for digits in (90, 80, 30, 20)]
    column = pl.Series("score", texts, dtype=pl.Enum(texts) if dtype == pl.Enum else dtype)
    frame = kind.make(ROWS.with_columns(column))
    with pytest.raises(ColumnError) as raised:
        frame_prc.average_precision(frame, "late", "score")
    hint = r"Hint: cast it first: score=(.*) reads 0\.93, 0,93 and 93%, and in pandas (.*)\.$"
    polars, pandas = re.search(hint, str(raised.value)).groups()
    in_polars = eval(polars, {"pl": pl})  # noqa: S307 - what the hint says
    assert area(kind, frame, "late", in_polars) == pytest.approx(AREA, abs=1e-15)
    rows = ROWS.with_columns(column).to_pandas()
    rows["number"] = eval(pandas, {"frame": rows})  # noqa: S307
    found = frame_prc.average_precision(rows, "late", "number")["average_precision"]
    assert found.tolist() == pytest.approx([AREA], abs=1e-15)


def _by_class(kind, dtype):
    pairs = [[1 - score, score] for score in ROWS["score"]]
    if kind.name == "pandas":
        frame = ROWS.to_pandas()
        frame["score"] = list(map(np.array, pairs))
        return frame
    return kind.make(ROWS.with_columns(pl.Series("score", pairs, dtype=dtype)))


@every_kind
@pytest.mark.parametrize("dtype", [pl.Array(pl.Float64, 2), pl.List(pl.Float64)], ids=str)
def test_a_column_with_a_value_for_each_class_has_the_second_taken(kind, dtype):
    frame = _by_class(kind, dtype)
    with pytest.raises(ColumnError, match=r"has dtype (Array|List).*predict_proba") as raised:
        frame_prc.average_precision(frame, "late", "score")
    expression = re.search(r"score=(pl\S+) takes the second", str(raised.value))[1]
    second = eval(expression, {"pl": pl})  # noqa: S307 - what the hint says
    assert area(kind, frame, "late", second) == pytest.approx(AREA, abs=1e-15)


@every_kind
def test_a_cast_is_proposed_only_where_it_works(kind):
    with pytest.raises(ColumnError, match=r"cast it first: score=pl\.col\('late'\)\.cast\(pl\.Fl"):
        frame_prc.average_precision(kind.make(ROWS), "flag", "late")
    pairs = ROWS.with_columns(pair=pl.struct("flag", "side"))
    with pytest.raises(ColumnError, match=r"has dtype Struct.*Allowed: a numeric column\.$"):
        frame_prc.average_precision(kind.make(pairs), "late", "pair")
    with pytest.raises(ColumnError, match="an expression can say whether a row is positive"):
        frame_prc.average_precision(kind.make(pairs), "pair", "score")


# --- parameters that a verb does not have ------------------------------------------------------

FUNCTIONS = [
    n for n in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, n)) and n != "on"
]
METHODS = [*(set(FUNCTIONS) - {"average_precision_expr", "iso_f1", "merge_counts"})]
CALLED = {
    "sample_weight": "weight",
    "groupby": "by",
    "group_by": "by",
    "y_true": "truth",
    "y_score": "score",
    "y_pred": "score",
    "labels": "pos_label",
    "wieght": "weight",
}


@every_kind
@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_names_its_parameters_for_one_that_it_has_not(kind, name):
    with pytest.raises(ParameterError, match=rf"^{name}\(\) has no parameter nonsense_zz=\. "):
        getattr(kind.make(ROWS).prc, name)(nonsense_zz=1)


def test_a_parameter_given_by_place_and_by_name_is_not_lost(tmp_path):
    says = (
        r"^report\(\) got path= twice.* Allowed: path, truth, score in this order, each once\. "
        r"Hint: report\(path=\.\.\., truth='late', score='score'\)\."
    )
    for report in (partial(frame_prc.report, ROWS), ROWS.prc.report):
        with pytest.raises(ParameterError, match=says):
            report("late", "score", path=tmp_path / "page.html")


@every_kind
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("foreign", "ours"), CALLED.items())
def test_a_parameter_of_another_library_is_told_by_our_name(kind, verb, foreign, ours):
    frame = kind.make(ROWS)
    says = rf"^{verb}\(\) has no parameter {foreign}=\. Allowed: truth=, .* mean {ours}=\?$"
    for call in (getattr(frame.prc, verb), lambda **k: getattr(frame_prc, verb)(frame, **k)):
        with pytest.raises(ParameterError, match=says) as raised:
            call(truth="late", score="score", **{foreign: "region"})
        assert isinstance(raised.value, TypeError)
        assert isinstance(raised.value, PrcError)


@pytest.mark.parametrize(
    ("name", "asked", "says"),
    [
        ("average_precision", {"calibrate_to": 0.1}, r"did you mean calibrate=\?$"),
        ("curve", {"bounds": True}, "bounds= is a parameter of average_precision"),
        (
            "curve",
            {"standardised": True},
            "standardised= is a parameter of auc",
        ),
        ("average_precision_expr", {"sample_weight": "w"}, r"did you mean weight=\?$"),
        ("one_vs_rest", {"labels": ["a"]}, r"pos_label= is named once, in evaluate\(\)"),
    ],
)
def test_a_parameter_of_other_verbs_is_told_with_them(name, asked, says):
    with pytest.raises(ParameterError, match=says):
        getattr(frame_prc, name)(ROWS, **asked)


@pytest.mark.parametrize(
    ("verb", "places", "asked", "says"),
    [
        ("operating_points", [], {"tpr": 0.8}, r"did you mean recall=\?$"),
        ("operating_points", [], {"specificity": 0.9}, r"fpr=0\.05 stands for a specificity of"),
        ("operating_points", [0.8], {}, r"did you mean operating_points\(recall=0\.8\)\?$"),
        ("summary", [], {"measures": "sensitivity"}, r"did you mean 'recall'\?$"),
        ("summary", [], {"measures": ["auroc"]}, r"did you mean 'roc_auc'\?$"),
        ("summary", [], {"measures": "npv"}, r"'precision_lift'\.?$"),
    ],
)
def test_words_of_medicine_are_understood(verb, places, asked, says):
    with pytest.raises((OptionError, ParameterError), match=says):
        getattr(frame_prc.evaluate(ROWS, "late", "score"), verb)(*places, **asked)


@every_kind
@pytest.mark.parametrize("verb", VERBS)
def test_what_has_to_be_named_is_said(kind, verb):
    says = r"got 'region' without the name.*truth, score in this order.*by=.*score=\['a', 'b'\]"
    with pytest.raises(ParameterError, match=says):
        getattr(kind.make(ROWS).prc, verb)("late", "score", "region")


@every_kind
@pytest.mark.parametrize(
    ("verb", "asked", "says"),
    [
        (
            "compare_segments",
            {"by": "region", "against": "rest", "measure": "precision"},
            r"measure='precision' is given without at=\. Allowed: at={'threshold': 0\.5}",
        ),
        (
            "heterogeneity",
            {"by": "region", "measure": "recall"},
            r"operating_points\(recall=0\.9\) chooses one",
        ),
        (
            "heterogeneity",
            {"by": "region", "measure": "auc"},
            r"did you mean 'roc_auc'\?",
        ),
        (
            "auc",
            {"method": "roc_auc"},
            r"'roc'\. Hint: it is a measure: summary\(measures='roc_auc'\)",
        ),
        ("plot", {"ax": None}, r"has no parameter ax=.*Hint: to_matplotlib\(ax=\) and"),
        ("plot", {"threshold": 0.5}, r"threshold=.*Hint: points=\{'threshold': 0\.5\} marks"),
        ("plot", {"height": 200}, r"height=.*Hint: size=\(300, 200\) is that of a panel"),
        (
            "operating_points",
            {"ties": "expected"},
            r"ties=.*frame_prc\.Top\(100, ties='expected'\)",
        ),
        ("average_precision", {"pos": 1}, r"neg= is not given.*did you mean pos_label=1\?"),
        ("curve", {"pos": "yes"}, r"neg= is not given.*did you mean pos_label='yes'\?"),
    ],
)
def test_what_a_newcomer_types_first_gets_a_hint(kind, verb, asked, says):
    with pytest.raises(PrcError, match=says):
        getattr(frame_prc, verb)(kind.make(ROWS), "late", "score", **asked)


@every_kind
def test_a_dict_of_thresholds_becomes_a_frame_as_the_hint_says(kind):
    frame, thresholds = kind.make(ROWS), {"n": 0.85, "s": 0.1}
    with pytest.raises(OptionError, match=r"threshold= is of type dict.*for a dict of") as raised:
        frame_prc.operating_points(frame, "late", "score", by="region", threshold=thresholds)
    call = re.search(r"(pl\.DataFrame\(.*\))\.$", str(raised.value))[1]
    given = eval(call, {"pl": pl, "thresholds": thresholds})  # noqa: S307 - what the hint says
    table = frame_prc.operating_points(frame, "late", "score", by="region", threshold=given)
    assert kind.rows(table)["threshold"].to_list() == [0.85, 0.1]


# --- other engines ------------------------------------------------------------------------------


INSIDE = {
    "auc",
    "average",
    "average_precision",
    "compare_models",
    "compare_segments",
    "counts",
    "curve",
    "heterogeneity",
    "merge_counts",
    "operating_points",
    "reliability",
    "sample_size",
    "shrunk",
    "summary",
    "threshold_table",
}
# report collects the counts itself, and evaluate has the verbs that run inside.
OF_ANY = {"average_precision_expr", "evaluate", "iso_f1", "report"}


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - INSIDE - OF_ANY))
def test_a_verb_that_does_not_run_in_an_engine_proposes_what_it_takes(name, tmp_path):
    duckdb = optional.require_module("duckdb")
    relation = duckdb.connect().from_arrow(ROWS.to_arrow())
    function = getattr(frame_prc, name)
    parameters = inspect.signature(function).parameters
    required = {
        "path": tmp_path / "c.tsv",
        "number": 2,
        "truth": "late",
        "score": ["score", "flag"],
        "over": "late",
        "plan": (2, 3),
        "proxy": "flag",
        "n": 2,
    }
    asked = {role: value for role, value in required.items() if role in parameters}
    with pytest.raises(FrameError, match="does not run inside a DuckDB relation") as raised:
        function(relation, **asked)
    proposes_counts = "score='threshold', pos='pos', neg='neg'" in str(raised.value)
    assert proposes_counts == (
        "pos" in parameters and not name.startswith(("find", "influence", "prediction"))
    )  # they need rows
    assert ("collect them: `rows = frame.pl()`" in str(raised.value)) != proposes_counts


@pytest.mark.parametrize(
    ("verb", "asked", "by_counts"),
    [
        ("curve", {"ci": 0.9}, True),
        ("curve", {"gain": True}, True),
        ("compare_segments", {"by": "region", "against": "rest"}, False),
        ("compare_segments", {"by": "region", "against": "overall"}, False),
        ("average_precision", {"top": 2}, True),
    ],
)
def test_an_option_that_an_engine_lacks_proposes_what_has_it(verb, asked, by_counts):
    duckdb = optional.require_module("duckdb")
    relation = duckdb.connect().from_arrow(ROWS.to_arrow())
    with pytest.raises(OptionError, match="does not run inside a DuckDB relation") as raised:
        getattr(frame_prc, verb)(relation, **{"truth": "late", "score": "score"} | asked)
    assert ("collect its counts" in str(raised.value)) == by_counts
    assert ("collect them: `rows = frame.pl()`" in str(raised.value)) != by_counts


# --- packages -----------------------------------------------------------------------------------


def _requirements(extra, extras):
    """Return the names of what an extra installs, those of the extras in it among them."""
    found = set()
    for requirement in extras[extra]:
        if inner := re.fullmatch(r"frame-prc\[(.*)\]", requirement):
            found |= set().union(*(_requirements(name, extras) for name in inner[1].split(",")))
        else:
            found.add(re.match(r"[\w-]+", requirement)[0])
    return found


@in_checkout
def test_hints_name_the_packages_of_each_extra():
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    expected = {extra: _requirements(extra, extras) for extra in hints.PACKAGES}
    hinted = {
        extra: {re.match(r"'?([\w-]+)", name)[1] for name in names}
        for extra, names in hints.PACKAGES.items()
    }
    assert hinted == expected
    brought = set().union(*(_requirements(extra, extras) for extra in extras))
    assert {"altair", "numpy", "vl-convert-python"} <= brought


def test_nothing_proposes_to_install_this_package_from_an_index():
    sources = Path(str(resources.files(frame_prc))).rglob("*.py")
    naming = [
        path.name for path in sources if re.search(r"install[^\n]*frame-prc\[", path.read_text())
    ]
    assert naming == []


@every_polars_kind
def test_without_a_package_the_hint_names_it(kind, monkeypatch):
    monkeypatch.setattr(hints, "find_spec", lambda _: None)
    frame = kind.make(ROWS)
    with pytest.raises(OptionError, match=r"Hint: pip install numpy\.$"):
        frame_prc.band(frame, "late", "score")
    with pytest.raises(OptionError, match=r"Hint: pip install altair\.$"):
        frame_prc.plot(frame, "late", "score")
