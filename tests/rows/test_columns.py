"""Columns by role: expressions that fail, names of keys, and columns that pandas has twice."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest
from error_cases import ROWS, ask, every_verb
from kinds import every_eager_kind, every_kind, every_polars_kind

import frame_prc
from frame_prc import ColumnError, FrameError, OptionError

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


# --- what is said, and when --------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("name", ["below", "pos_squares", "neg_squares"])
def test_no_key_of_counts_is_called_like_a_column_that_counts_may_have(kind, name):
    df = pl.DataFrame({"truth": [True, False], "score": [0.5, 0.4], name: ["a", "b"]})
    with pytest.raises(ColumnError, match=f"key '{name}' in by= is named like a column"):
        frame_prc.counts(kind.make(df), "truth", "score", by=name)


@every_kind
def test_counts_of_several_models_are_not_added_up_unasked(kind):
    models = pl.DataFrame({"late": [1, 0, 1], "old": [0.9, 0.4, 0.2], "new": [0.9, 0.1, 0.2]})
    counts = frame_prc.counts(models, "late", ["old", "new"])
    columns = {"score": "threshold", "pos": "pos", "neg": "neg"}
    says = r"the counts have a column 'model'.* Hint: model='model' keeps the models apart"
    with pytest.raises(ColumnError, match=says):
        kind.rows(frame_prc.average_precision(kind.make(counts), **columns))
    expected = frame_prc.average_precision(models, "late", ["old", "new"])
    with pytest.raises(ColumnError, match=says):
        kind.rows(frame_prc.average_precision(kind.make(counts), **columns, by=[["model"], []]))
    with pytest.raises(OptionError, match=r"overall=True pools .*Allowed: model='model' instead"):
        frame_prc.summary(kind.make(counts), **columns, by="model", overall=True)
    for key in ({"model": "model"}, {"by": "model"}, {"by": pl.col("model").alias("name")}):
        found = kind.rows(frame_prc.average_precision(kind.make(counts), **columns, **key))
        assert sorted(found["average_precision"]) == sorted(expected["average_precision"])
    # A device model among other counts is no model of ours.
    for ours, theirs in (("threshold", "risk"), ("pos", "n_pos")):
        named = {role: theirs if name == ours else name for role, name in columns.items()}
        others = counts.rename({ours: theirs})
        found = frame_prc.average_precision(kind.make(others), **named)
        assert kind.rows(found)["n"].to_list() == [6]
        card = kind.rows(frame_prc.summary(kind.make(others), **named, by="model", overall=True))
        assert card.filter(pl.col("level") == "pooled")["n"].to_list() == [6]


@pytest.mark.parametrize("column", [1, None, ["truth"]])
@pytest.mark.parametrize("role", ["truth", "score", "weight"])
def test_what_is_no_column_is_refused_by_the_expression(role, column):
    if role == "weight" and column is None:
        column = 1.0
    with pytest.raises(OptionError, match=f"{role}= takes columns, got "):
        frame_prc.average_precision_expr(**{"truth": "truth", "score": "score", role: column})


# --- what cannot be shown on every kind --------------------------------------------------------


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


@pytest.mark.parametrize("name", ["score", "region"])
def test_a_column_that_pandas_has_twice_is_refused_only_where_it_is_named(name):
    frame = pd.concat([ROWS.to_pandas(), ROWS.select(name).to_pandas()], axis=1)
    with pytest.raises(ColumnError, match=f"2 columns named '{name}'.*one column of each name"):
        frame.prc.curve("late", "score", by="region")
    assert len(frame.prc.counts("late", "w")) > 0
    with pytest.raises(ColumnError, match=r"truth= names 'lat'.*did you mean 'late'"):
        frame.prc.counts("lat", "w")


def test_pandas_column_of_mixed_objects_is_refused_by_name():
    frame = ROWS.to_pandas().assign(region=["n", 1, object(), None])
    with pytest.raises(
        FrameError,
        match="to Polars: column 'region' has dtype object with values of type NoneType, int",
    ):
        frame.prc.curve("late", "score", by="region")


# --- key names ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "options", "outputs"),
    [
        ("auc", {}, "n n_pos method auc status"),
        ("auc", {"details": True}, "prevalence"),
        ("counts", {}, "threshold pos neg"),
        ("curve", {"envelope": True}, "threshold tp fp fn tn precision recall envelope"),
        ("curve", {"score": ["score", "other"]}, "model threshold tp fp fn tn precision recall"),
        ("average_precision", {}, "n n_pos average_precision status"),
        ("average_precision", {"details": True}, "prevalence"),
        ("average_precision", {"missing": "drop"}, "n_dropped"),
        ("operating_points", {}, "target threshold precision recall predicted_count status"),
        ("operating_points", {"details": True}, "criterion tp f_score predicted_rate"),
        ("band", {}, "recall precision precision_low precision_high"),
        ("curve", {"ci": 0.9}, "precision_low precision_high"),
        ("summary", {"missing": "drop"}, "n_dropped status lift"),
        ("summary", {"measures": "all"}, "gain best_f1 best_f1_threshold"),
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
