"""The example of daily counts: days replaced, runs killed, files damaged."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from checkout import EXAMPLES, FLIGHTS
from polars.testing import assert_frame_equal

import frame_prc

pytestmark = pytest.mark.thorough

DAYS = 28


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, EXAMPLES / "daily_counts.py", *arguments]
    return subprocess.Popen(  # noqa: S603
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(*arguments: str | Path) -> str:
    output, errors = (process := start(*arguments)).communicate()
    assert process.returncode == 0, errors
    return output


def table(counts: Path) -> pl.DataFrame:
    days = [pl.read_parquet(path) for path in sorted(counts.glob("*.parquet"))]
    by = [pl.col("day").dt.truncate("1w").alias("week"), "carrier"]
    return frame_prc.average_precision(
        pl.concat(days), score="threshold", pos="pos", neg="neg", by=by
    )


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daily")
    flights = pl.read_parquet(FLIGHTS).filter(pl.col("day") < date(2013, 7, 29))
    for (day,), rows in flights.group_by("day"):
        rows.drop("day").write_parquet(folder / f"{day}.parquet")
    return folder


@pytest.fixture(scope="module")
def whole():
    """Return what all rows together give, binned."""
    rows = pl.read_parquet(FLIGHTS).filter(pl.col("day") < date(2013, 7, 29))
    by = [pl.col("day").dt.truncate("1w").alias("week"), "carrier"]
    asked = {"by": by, "thresholds": 1001}
    return frame_prc.average_precision(rows, "late", "boosting", **asked)


def test_report_is_what_all_rows_together_give(days, whole, tmp_path):
    printed = run(days, tmp_path)
    assert_frame_equal(table(tmp_path), whole.drop("ap_lowest", "ap_highest"))
    assert "2013-07-22" in printed
    assert "ap_lowest" in printed


def test_a_day_is_counted_once_and_again_if_its_counts_are_deleted(days, whole, tmp_path):
    run(days, tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "2013-07-03.parquet").unlink()
    run(days, tmp_path)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert before.keys() == after.keys()
    assert [name for name in after if after[name] != before[name]] == ["2013-07-03.parquet"]
    assert_frame_equal(table(tmp_path), whole.drop("ap_lowest", "ap_highest"))


def test_killed_runs_leave_whole_days_and_the_next_one_finishes(days, whole, tmp_path):
    began = time.monotonic()
    run(days, tmp_path / "timed")
    takes = time.monotonic() - began
    counts, moments = tmp_path / "counts", random.Random(0)  # noqa: S311 - no secret
    for _ in range(4):
        process = start(days, counts)
        time.sleep(moments.uniform(0.2, 1.0) * takes)
        process.kill()
        process.communicate()
        for path in counts.glob("*.parquet"):
            assert set(pl.read_parquet(path)["day"]) == {date.fromisoformat(path.stem)}
    run(days, counts)
    assert sorted(path.suffix for path in counts.iterdir()) == [".parquet"] * DAYS
    assert_frame_equal(table(counts), whole.drop("ap_lowest", "ap_highest"))


def test_damaged_counts_are_named(days, tmp_path):
    run(days, tmp_path)
    damaged = tmp_path / "2013-07-03.parquet"
    damaged.write_bytes(damaged.read_bytes()[:200])
    process = start(days, tmp_path)
    _, errors = process.communicate()
    assert process.returncode == 1
    assert f"{damaged} is damaged" in errors
    assert errors.strip().endswith("delete it to count that day again")
    assert "Traceback" not in errors
