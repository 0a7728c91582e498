"""How the functions are typed, shown to mypy; nothing here is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import polars.selectors as cs

import frame_prc
from frame_prc import Draws
from frame_prc._charts.on_axes import Drawn


def every_kind_of_frame_comes_out_as_it_went_in(
    df: pl.DataFrame, lf: pl.LazyFrame, pdf: pd.DataFrame
) -> None:
    assert_type(frame_prc.counts(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.counts(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.counts(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.curve(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.curve(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.curve(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.average_precision(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.average_precision(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.average_precision(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.auc(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.auc(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.auc(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.operating_points(df, "truth", "score", recall=1), pl.DataFrame)
    assert_type(frame_prc.operating_points(lf, "truth", "score", recall=1), pl.LazyFrame)
    assert_type(frame_prc.operating_points(pdf, "truth", "score", recall=1), pd.DataFrame)
    assert_type(frame_prc.band(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.band(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.band(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.summary(df, "truth", "score"), pl.DataFrame)
    assert_type(frame_prc.summary(lf, "truth", "score"), pl.LazyFrame)
    assert_type(frame_prc.summary(pdf, "truth", "score"), pd.DataFrame)
    assert_type(frame_prc.one_vs_rest(df, "kind", {"cat": "p"}), pl.DataFrame)
    assert_type(frame_prc.one_vs_rest(lf, "kind", {"cat": "p"}), pl.LazyFrame)
    assert_type(frame_prc.one_vs_rest(pdf, "kind", {"cat": "p"}), pd.DataFrame)
    assert_type(frame_prc.iso_f1([0.5], points=2), pl.DataFrame)


def methods_are_typed_by_the_frame(
    df: pl.DataFrame, lf: pl.LazyFrame, pdf: pd.DataFrame, relation: duckdb.DuckDBPyRelation
) -> None:
    assert_type(frame_prc.evaluate(df, "truth", "score").curve(), pl.DataFrame)
    assert_type(
        frame_prc.evaluate(lf, "truth", "score", by="week").average_precision(), pl.LazyFrame
    )
    assert_type(frame_prc.evaluate(pdf, "truth", ["a", "b"]).summary(), pd.DataFrame)
    assert_type(frame_prc.evaluate(relation, "truth", "score").counts(), duckdb.DuckDBPyRelation)
    assert_type(frame_prc.evaluate(df, "truth", "score").pooled().counts(), pl.DataFrame)
    assert_type(frame_prc.evaluate(lf, "truth", "score").segments("week").counts(), pl.LazyFrame)
    assert_type(frame_prc.evaluate(lf, "truth", "score").collect().counts(), pl.DataFrame)
    assert_type(frame_prc.evaluate(pdf, "truth", "score").collect().counts(), pd.DataFrame)
    assert_type(frame_prc.evaluate(relation, "truth", "score").collect().counts(), pl.DataFrame)
    assert_type(frame_prc.evaluate(df, "truth", "score", ci=0.9).report("page.html"), list[Path])
    frame_prc.evaluate(df, "truth", "score").curve(keep="corner")  # type: ignore[arg-type]
    frame_prc.evaluate(df, "truth", "score", missing="ignore")  # type: ignore[arg-type]


def frames_of_engines_come_out_as_they_went_in(relation: duckdb.DuckDBPyRelation) -> None:
    assert_type(frame_prc.counts(relation, "truth", "score"), duckdb.DuckDBPyRelation)
    assert_type(frame_prc.curve(relation, "truth", "score"), duckdb.DuckDBPyRelation)
    assert_type(frame_prc.average_precision(relation, "truth", "score"), duckdb.DuckDBPyRelation)


def narwhals_frames_come_out_as_they_went_in(df: nw.DataFrame[Any], lf: nw.LazyFrame[Any]) -> None:
    assert_type(frame_prc.evaluate(lf, "truth", "score").collect().counts(), nw.DataFrame[Any])
    assert_type(frame_prc.counts(df, "truth", "score"), nw.DataFrame[Any])
    assert_type(frame_prc.counts(lf, "truth", "score"), nw.LazyFrame[Any])
    frame_prc.plot(df, "truth", "score")


def columns_may_be_named_or_computed(df: pl.DataFrame) -> None:
    models = {"old": "a", "new": "b"}
    names = ["region", "day"]
    frame_prc.curve(df, pl.col("truth") > 0, "score", weight=pl.col("w"))
    frame_prc.curve(df, "truth", ["a", "b"], by="region")
    frame_prc.curve(df, "truth", {"old": "a", "new": pl.col("b") / 2}, by=pl.col("day"))
    frame_prc.curve(df, "truth", models, by=["region", pl.col("day").dt.month()])
    frame_prc.curve(df, "truth", names, by=names)
    frame_prc.curve(df, "truth", "score", by=cs.string())
    frame_prc.curve(df, "truth", "score", by=("region", cs.temporal()))
    frame_prc.curve(df, score="score", pos="pos", neg="neg")
    frame_prc.curve(df, "truth", "score", pos_label="yes", missing="unretrieved")
    frame_prc.curve(df, "truth", "score", start="first", keep="corners", envelope=True)
    frame_prc.curve(df, "truth", "score", start=None)


def options_take_one_value_or_several(df: pl.DataFrame) -> None:
    frame_prc.auc(df, "truth", "score", method="11-point", start=None, thresholds=200)
    frame_prc.auc(df, "truth", "score", method=["step", "gain"])
    frame_prc.auc(df, "truth", "score", recall_range=(0.5, 1), standardised=True)
    frame_prc.operating_points(df, "truth", "score", recall=[0.5, 1], f_beta=2, threshold=(0.1,))
    frame_prc.curve(df, "truth", "score", gain=True, calibrate=0.1, thresholds=[0.1, 0.5])
    frame_prc.average(df, "truth", "score", by="k", over="k", how="weighted")
    frame_prc.average_precision(df, "truth", "score", ci=0.9, bootstrap=Draws(seed=1))
    frame_prc.band(df, "truth", "score", recalls=[0.1, 0.5], cluster="user", bootstrap=100)
    frame_prc.band(df, "truth", "score", recalls=11, bootstrap=Draws(seed=None, stratified=True))
    frame_prc.curve(df, "truth", "score", ci=0.9)
    frame_prc.curve(df, "truth", "score", ci=0.9, cluster=pl.col("day").dt.date())
    frame_prc.summary(df, "truth", "score", by="k", ci=0.9, overall=True)
    frame_prc.one_vs_rest(df, "kind", {1: "p", 2: pl.col("q")}, by=["region"], row="id")
    frame_prc.one_vs_rest(df, ["is_a", "is_b"], ["p", "q"], weight="w")


def charts_can_be_saved_and_restyled(df: pl.DataFrame) -> None:
    chart = frame_prc.plot(df, "truth", "score", points={"recall": [0.5, 0.9]}, facet=["day"])
    chart.configure_axis(grid=False).save("curves.html", inline=True)
    frame_prc.plot(df, dark=True, iso_f1=[0.5], facet=False, size=(300, 200)).save("curves.png")
    frame_prc.plot_summary(df, "truth", ["a", "b"], baseline="a", sort="key").save("summary.svg")


def axes_are_drawn_on(df: pl.DataFrame) -> None:
    drawn = frame_prc.evaluate(df, "truth", "score", ci=0.9).to_matplotlib(linewidth=1)
    assert_type(frame_prc.to_matplotlib(df, "truth", "score", ax=drawn.axes, color="red"), Drawn)
    frame_prc.summary_to_matplotlib(df, "truth", "score", by="k").lines[0].set_markersize(4)


def expressions_are_polars_expressions() -> None:
    assert_type(frame_prc.average_precision_expr("truth", "score"), pl.Expr)
    assert_type(frame_prc.average_precision_expr(pl.col("truth"), pl.col("s"), "w"), pl.Expr)


def slips_are_found_before_anything_runs(df: pl.DataFrame) -> None:
    frame_prc.counts([1, 2], "truth", "score")  # type: ignore[type-var, unused-ignore]
    frame_prc.counts(df, "truth", 3)  # type: ignore[arg-type]
    frame_prc.counts(df, "truth", "score", missing="ignore")  # type: ignore[arg-type]
    frame_prc.curve(df, "truth", "score", start="zero")  # type: ignore[arg-type]
    frame_prc.curve(df, "truth", "score", keep="some")  # type: ignore[arg-type]
    frame_prc.curve(df, "truth", "score", "region")  # type: ignore[arg-type, call-arg, unused-ignore]
    frame_prc.counts(df, "truth", "score", envelope=True)  # type: ignore[call-arg]
    frame_prc.auc(df, "truth", "score", method="area")  # type: ignore[arg-type]
    frame_prc.auc(df, "truth", "score", recall_range=(0, 0.5, 1))  # type: ignore[arg-type]
    frame_prc.operating_points(df, "truth", "score", recall="0.5")  # type: ignore[arg-type]
    frame_prc.average(df, "t", "s", over="k", how="macro")  # type: ignore[arg-type]
    frame_prc.plot(df, "truth", "score", points={"recal": 0.5})  # type: ignore[dict-item]
    frame_prc.one_vs_rest(df, "kind")  # type: ignore[call-arg]


def errors_are_value_errors(error: frame_prc.DataError | frame_prc.ColumnError) -> ValueError:
    return error
