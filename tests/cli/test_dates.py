"""Keys that are periods of time, as in ``--by day:1w``."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest
from command_line import ASKED, ROWS, WRITERS, result, run
from polars.testing import assert_frame_equal

import frame_prc

# Two of each week; 1 January 2024 is a Monday.
DAYS = ["2024-01-01", "2024-01-07", "2024-01-08", "2024-01-14", "2024-02-05", "2024-02-11"]
TIMES = ["00:00:00", "23:59:59.5", "08:15:00", "08:45:00", "08:59:59", "09:00:00"]
WEEKS = ["2024-01-01", "2024-01-08", "2024-02-05"]
DATED = ROWS.with_columns(pl.Series("day", DAYS))


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("parquet", pl.Date), ("parquet", pl.String), ("csv", pl.Date), ("ndjson", pl.Date)],
    ids=str,
)
def test_dates_are_cut_into_weeks_that_begin_on_monday(here, kind, dtype):
    WRITERS[kind](
        DATED.with_columns(pl.col("day").str.to_date().cast(dtype)), here / f"days.{kind}"
    )
    table = result("ap", f"days.{kind}", *ASKED, "-b", "day:1w")
    assert table.columns[0] == "day"
    assert table["day"].to_list() == WEEKS
    assert table["n"].to_list() == [2, 2, 2]
    # Of ROWS, two by two: hits at rank 1 each.
    assert table["average_precision"].to_list() == [1, 1, 1]


def test_days_are_cut_into_other_periods():
    DATED.write_csv("days.csv")
    for period, begins in {"1d": DAYS, "1mo": ["2024-01-01", "2024-02-01"], "1q": DAYS[:1]}.items():
        assert result("ap", "days.csv", *ASKED, "-b", f"day:{period}")["day"].to_list() == begins


def test_times_are_cut_into_hours_in_every_iso_form():
    whole = [time.partition(".")[0] for time in TIMES]
    minutes = [time[:5] for time in TIMES]
    for between, times, zone in [
        *(("T", TIMES, ""), (" ", TIMES, ""), ("T", minutes, ""), (" ", minutes, "")),
        *(("T", TIMES, "Z"), (" ", whole, "+00:00")),
    ]:
        texts = [f"2024-01-01{between}{time}{zone}" for time in times]
        ROWS.with_columns(pl.Series("time", texts)).write_csv("times.csv")
        code, out, err = run("ap", "times.csv", *ASKED, "-b", "time:1h", "-f", "json")
        assert (code, err) == (0, "")
        found = {int(row["time"][11:13]): row["n"] for row in json.loads(out)}
        assert found == {0: 1, 8: 3, 9: 1, 23: 1}


def test_a_period_is_a_key_like_any_other(here):
    days = DATED.with_columns(pl.col("day").str.to_date())
    days.write_parquet("days.parquet")
    asked = ["days.parquet", *ASKED, "--by", "region,day:1mo"]
    by = ["region", pl.col("day").dt.truncate("1mo")]
    for line, expected in {
        "compare-segments --against previous": days.prc.compare_segments(
            "late", "score", by=by, against="previous"
        ),
        "average --over day": days.prc.average("late", "score", by=by, over="day"),
        "counts": days.prc.counts("late", "score", by=by),
    }.items():
        command, *options = line.split()
        assert run(command, *asked, *options, "-o", "out.parquet") == (0, "", "")
        assert_frame_equal(pl.read_parquet(here / "out.parquet"), expected, rel_tol=1e-12)
    assert run("plot", *asked, "--facet", "day", "-o", "curves.svg") == (0, "", "")
    code, _, err = run("ap", *asked, "--fail-under", "n<2")
    assert (code, err.splitlines()[0]) == (3, "frame-prc: region='south', day=2024-01-01: n is 1")


def test_days_are_clusters_within_their_weeks(here):
    fourfold = pl.concat([DATED.with_columns(pl.col("score") - n / 100) for n in range(4)])
    fourfold.write_csv("days.csv")
    asked = ["-b", "day:1mo", "--ci", ".9", "--cluster", "day", "-o", "out.parquet"]
    assert run("ap", "days.csv", *ASKED, *asked) == (0, "", "")
    months = fourfold.with_columns(month=pl.col("day").str.head(7))
    expected = frame_prc.average_precision(
        months, "late", "score", by="month", ci=0.9, cluster="day"
    )
    table = pl.read_parquet(here / "out.parquet")
    assert_frame_equal(table.drop("day"), expected.drop("month"), rel_tol=1e-12)


def test_zones_keep_their_midnight(here):
    times = [dt.datetime(2024, 3, 31, hour, tzinfo=dt.UTC) for hour in (20, 21, 22, 23, 0, 1)]
    zoned = pl.Series("time", times).dt.convert_time_zone("Europe/Berlin")
    ROWS.with_columns(zoned).write_parquet(here / "zoned.parquet")
    code, _, _ = run("ap", "zoned.parquet", *ASKED, "-b", "time:1d", "-o", "out.parquet")
    assert code == 0
    table = pl.read_parquet(here / "out.parquet")
    assert table["time"].dt.day().to_list() == [31, 1]
    assert table["n"].to_list() == [4, 2]


def test_dates_in_text_are_dates_unless_one_is_none(here):
    day = pl.date(2024, 1, 1) + pl.duration(days=pl.col("row") % 28)
    many = pl.DataFrame({"row": range(2800)}).with_columns(day=day, late=pl.col("row") * 7 % 11 < 4)
    blind = pl.when(pl.col("day").dt.day() < 8).then(0).otherwise(300)
    noise = pl.col("row") * 7919 % 601
    many = many.with_columns(score=noise + blind * pl.col("late"), noise=noise)
    many.write_csv("days.csv")
    asked = ["find", "days.csv", "-t", "late", "--columns", "day", "-o", "out.parquet"]
    assert run(*asked, "-s", "score") == (0, "", "")
    found = many.prc.find_segments("late", "score", columns="day")
    assert found["segment"][0] == "day < 2024-01-08"
    assert_frame_equal(pl.read_parquet(here / "out.parquet"), found)
    closest = "day >= 2024-01-22 differs most, by -0.035 (p = 0.21)"
    told = f"frame-prc: no segment was found among the 4 looked at; {closest}\n"
    assert run(*asked, "-s", "noise") == (0, "", told)
    assert run("ap", "days.csv", *ASKED, "-b", "day", "-o", "out.parquet") == (0, "", "")
    assert pl.read_parquet(here / "out.parquet").schema["day"] == pl.Date
    # One of them, further down than is looked at, is none: all are text.
    late = pl.concat([many.cast({"day": pl.String})] * 4)
    pl.concat([late, late[:1].with_columns(day=pl.lit("unknown"))]).write_csv("days.csv")
    for text in ([], ["--text", "day"]):
        assert "unknown" in result("ap", "days.csv", *ASKED, "-b", "day", *text)["day"].to_list()
