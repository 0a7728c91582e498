"""A summary over time: lines with ribbons, gaps, panels, and dates as they are on a calendar."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import polars as pl
import pytest
from chart_reading import drawn, of, specification, words
from kinds import every_kind
from layers import also

import frame_prc
from frame_prc import DataError

MODELS = ["old", "new"]
# The hits of each week, from the top of the ranking by old.
WEEKS = {
    dt.date(2024, 1, 1): [1, 0, 1],
    dt.date(2024, 1, 8): [1, 1, 0, 0],
    dt.date(2024, 1, 15): [0, 0],
    dt.date(2024, 1, 29): [0, 1, 1],
}
AREAS = {
    dt.date(2024, 1, 1): Fraction(5, 6),
    dt.date(2024, 1, 8): Fraction(1),
    dt.date(2024, 1, 29): Fraction(7, 12),
}
ROWS = pl.DataFrame(
    [(week, bool(hit), -place) for week, hits in WEEKS.items() for place, hit in enumerate(hits)],
    schema=["week", "late", "old"],
    orient="row",
).with_columns(new=-pl.col("old"), day=pl.col("week").dt.offset_by("2d"))


def milliseconds(when: dt.date) -> int:
    return int(dt.datetime(*when.timetuple()[:5], tzinfo=dt.UTC).timestamp() * 1000)


def x_of(view):
    return view["encoding"]["x"]


@every_kind
@pytest.mark.parametrize("dtype", [pl.Date, *also(pl.Datetime("us"), pl.Datetime("ns"))], ids=str)
def test_dates_are_drawn_as_a_line_with_a_ribbon(kind, dtype):
    rows = ROWS.with_columns(pl.col("week").cast(dtype))
    chart = kind.make(rows).prc.plot_summary("late", "old", by="week", ci=0.9, calibrate=None)
    [(view, dots)] = drawn(chart, "circle", "average_precision")
    found = {dot["time"]: dot["average_precision"] for dot in dots}
    assert found == {milliseconds(week): pytest.approx(float(ap)) for week, ap in AREAS.items()}
    assert (x_of(view)["field"], x_of(view)["type"]) == ("time", "temporal")
    assert x_of(view)["scale"]["type"] == "utc"
    assert specification(chart)["resolve"]["scale"]["x"] == "shared"
    assert x_of(view)["axis"]["format"] == "%Y-%m-%d"
    assert view["encoding"]["y"]["scale"]["domain"] == [0, 1]
    chance, line = drawn(chart, "line", "time")
    assert chance[0]["encoding"]["y"]["field"] == "random_average_precision"
    assert chance[0]["mark"]["strokeDash"]
    assert line[1] == dots
    table = frame_prc.average_precision(ROWS, "late", "old", by="week", ci=0.9)
    ends = {
        milliseconds(row["week"]): (row["ci_low"], row["ci_high"])
        for row in table.drop_nulls("ci_low").iter_rows(named=True)
    }
    drawn_ends = {
        row["time"]: (row["ci_low"], row["ci_high"])
        for mark in ("area", "rule")
        for _, found in drawn(chart, mark, "ribbon")
        for row in found
    }
    assert drawn_ends == {time: pytest.approx(pair) for time, pair in ends.items()}


def test_an_undefined_week_leaves_a_gap_and_a_cross():
    chart = ROWS.prc.plot_summary("late", MODELS, by="week")
    [_, (line, rows), *_] = drawn(chart, "line", "time")
    assert {detail["field"] for detail in line["encoding"]["detail"]} == {"model", "run"}
    runs = {(row["model"], row["key_1"]): row["run"] for row in rows}
    for model in MODELS:
        before, at, after = (runs[model, day] for day in ("2024-01-01", "2024-01-08", "2024-01-29"))
        assert before == at != after
    [(cross, undefined)] = drawn(chart, "text", "status_text")
    assert cross["mark"]["text"] == "\N{MULTIPLICATION SIGN}"
    assert of(undefined, "time", "status_text") == [
        {"time": milliseconds(dt.date(2024, 1, 15)), "status_text": "no positives"}
    ]
    assert "\N{MULTIPLICATION SIGN}: no average precision (no positives)." in " ".join(words(chart))
    whole = ROWS.filter(pl.col("week") != dt.date(2024, 1, 15)).prc.plot_summary(
        "late", "old", by="week"
    )
    assert "\N{MULTIPLICATION SIGN}" not in " ".join(words(whole))


def test_few_positives_are_hollow_and_many_are_not():
    # 30 positives in one week, and 3 in the next.
    weeks = [dt.date(2024, 1, 1)] * 60 + [dt.date(2024, 1, 8)] * 6
    rows = pl.DataFrame(
        {"week": weeks, "late": [1, 0] * 33, "old": [i * 7 % 11 for i in range(66)]}
    )
    chart = rows.prc.plot_summary("late", "old", by="week")
    [(_, hollow)] = drawn(chart, "point", "time")
    assert [row["key_0"] for row in hollow] == ["2024-01-08"]
    assert "Hollow: fewer than 20 positives, intervals" in " ".join(words(chart))


@pytest.mark.parametrize("given", ["clusters", *also("rows", "counts")])
def test_differences_are_drawn_below_with_their_intervals(given):
    asked = {"cluster": "day"} if given == "clusters" else {}
    if given == "counts":
        counts = ROWS.prc.counts("late", MODELS, by="week")
        by = ["model", "week"]
        chart = counts.prc.plot_summary(score="threshold", pos="pos", neg="neg", by=by)
    else:
        chart = ROWS.prc.plot_summary("late", MODELS, by="week", **asked)
    areas, differences = specification(chart)["concat"]
    assert areas["width"] == differences["width"]
    [(view, rows)] = drawn(chart, "circle", "difference")
    # The models of counts are in the order of their names.
    pair = MODELS if given == "counts" else MODELS[::-1]
    assert view["encoding"]["y"]["axis"]["title"] == " \N{MINUS SIGN} ".join(pair)
    table = frame_prc.compare_models(
        ROWS, "late", pair[::-1], by="week", calibrate="pooled", **asked
    ).drop_nulls("difference")
    expected = {milliseconds(row["week"]): row["difference"] for row in table.to_dicts()}
    assert {row["time"]: row["difference"] for row in rows} == pytest.approx(expected)
    if given == "clusters":
        assert "intervals, rows clustered by day." in " ".join(words(chart))


def test_times_keep_the_clock_of_their_zone():
    hours = pl.datetime_range(
        dt.datetime(2024, 3, 31, 0), dt.datetime(2024, 3, 31, 2), "1h", time_zone="UTC", eager=True
    ).dt.convert_time_zone("Europe/Berlin")
    rows = pl.DataFrame({"hour": hours, "late": True, "old": 0.5}).vstack(
        pl.DataFrame({"hour": hours, "late": False, "old": 0.4})
    )
    chart = rows.prc.plot_summary("late", "old", by="hour")
    [(view, dots)] = drawn(chart, "circle", "average_precision")
    # Clocks go from 02:00 to 03:00.
    clocks = [dt.datetime(2024, 3, 31, hour) for hour in (1, 3, 4)]
    assert [dot["time"] for dot in dots] == list(map(milliseconds, clocks))
    assert x_of(view)["axis"]["format"] == "%m-%d %H:%M"


def test_rows_without_a_date_are_counted_in_the_text():
    rows = ROWS.with_columns(pl.col("week").replace(dt.date(2024, 1, 1), None))
    chart = rows.prc.plot_summary("late", MODELS, by="week")
    assert "Not drawn: 3 rows (2 positive) without a week." in " ".join(words(chart))
    [(_, dots)] = drawn(chart, "circle", "average_precision")
    assert {dot["key_1"] for dot in dots} == {"2024-01-08", "2024-01-29"}
    assert "Not drawn" not in " ".join(words(ROWS.prc.plot_summary("late", "old", by="week")))


def test_too_many_points_are_refused():
    days = pl.date_range(dt.date(2000, 1, 1), dt.date(2002, 12, 31), eager=True)
    rows = pl.DataFrame({"day": days, "late": True, "old": 1.0, "new": 1.0})
    with pytest.raises(DataError, match=r"have 2,192 points\. Allowed: up to 2000 points\. Hint"):
        rows.prc.plot_summary("late", MODELS, by="day")
