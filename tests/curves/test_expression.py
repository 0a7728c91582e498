"""Average precision as a Polars expression."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from kinds import every_polars_kind
from polars.testing import assert_frame_equal
from published_areas import every_area

import frame_prc

ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}


# --- published numbers -------------------------------------------------------------------------


@every_area
def test_expression_equals_published_areas(df, area):
    result = df.select(pl.col("score").prc.average_precision("truth")).item()
    assert result == pytest.approx(float(area), rel=1e-12, abs=0)


# --- the expression ----------------------------------------------------------------------------


DAYS = pl.DataFrame(
    {
        "day": [date(2026, 3, day) for day in (1, 1, 2, 8, 9, 9, 10, 15)],
        "truth": [True, False, True, False, True, True, False, False],
        "score": [0.9, 0.8, 0.3, 0.6, 0.6, 0.2, 0.1, 0.4],
        "weight": [1.0, 2.0, 1.0, 0.5, 3.0, 1.0, 0.0, 1.0],
    }
)


@every_polars_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_expression_in_group_by_dynamic_is_the_verb_per_week(kind, weight):
    area = pl.col("score").prc.average_precision("truth", weight)
    weekly = kind.make(DAYS).set_sorted("day").group_by_dynamic("day", every="1w").agg(area)
    week = pl.col("day").dt.truncate("1w")
    verb = frame_prc.average_precision(DAYS, "truth", "score", by=week, weight=weight)
    expected = verb.select("day", "average_precision")
    assert_frame_equal(kind.rows(weekly), expected, **ROUNDED)


@every_polars_kind
def test_expression_in_rolling_is_the_verb_on_each_window(kind):
    area = frame_prc.average_precision_expr("truth", "score")
    rolled = kind.rows(kind.make(DAYS).set_sorted("day").rolling("day", period="8d").agg(area))
    since = pl.col("day").dt.offset_by("-8d")
    windows = [
        DAYS.filter(pl.col("day").is_between(first, last, closed="right"))
        for first, last in DAYS.select(since, last="day").iter_rows()
    ]
    alone = [frame_prc.average_precision(window, "truth", "score") for window in windows]
    expected = DAYS.select("day", pl.concat(alone)["average_precision"])
    assert_frame_equal(rolled, expected, **ROUNDED)


@every_polars_kind
def test_expression_takes_expressions(kind):
    area = frame_prc.average_precision_expr(pl.col("delay") >= 30, -pl.col("odds"))
    df = pl.DataFrame({"delay": [40, 10, 35, 0], "odds": [9.0, 4.0, 0.5, 0.2]})
    assert kind.rows(kind.make(df).select(area)).item() == (1 / 2 + 2 / 4) / 2


UNDEFINED = {
    "missing truth": {"truth": [True, None]},
    "missing score": {"score": [1.0, None]},
    "NaN score": {"score": [1.0, float("nan")]},
    "NaN truth": {"truth": [1.0, float("nan")]},
    "truth of 2": {"truth": [1, 2]},
    "no positives": {"truth": [0, 0]},
    "negative weight": {"weight": [1.0, -1.0]},
    "infinite weight": {"weight": [1.0, float("inf")]},
    "NaN weight": {"weight": [1.0, float("nan")]},
    "missing weight": {"weight": [1.0, None]},
    "no weight at all": {"weight": [0.0, 0.0]},
}


@every_polars_kind
@pytest.mark.parametrize("columns", UNDEFINED.values(), ids=UNDEFINED)
def test_expression_is_null_where_undefined_and_only_there(kind, columns):
    sound = {"truth": [1, 0], "score": [1.0, 0.5], "weight": [1.0, 2.0]}
    parts = [
        pl.DataFrame({"segment": ["sound"] * 2} | sound),
        pl.DataFrame({"segment": ["undefined"] * 2} | sound | columns),
    ]
    df = pl.concat(parts, how="vertical_relaxed")
    area = frame_prc.average_precision_expr("truth", "score", "weight")
    result = kind.rows(kind.make(df).group_by("segment").agg(area))
    assert dict(result.iter_rows()) == {"sound": 1.0, "undefined": None}


def test_expression_leaves_out_rows_of_weight_zero_whatever_they_hold():
    df = pl.DataFrame(
        {"truth": [1, 0, 7, None], "score": [1.0, 2.0, None, 3.0], "weight": [1.0, 3.0, 0.0, 0.0]}
    )
    assert df.select(frame_prc.average_precision_expr("truth", "score", "weight")).item() == 0.25
