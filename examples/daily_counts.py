"""Average precision per week, from daily files that are counted once each.

::

    python examples/daily_counts.py make DAYS            # daily files to try it on
    python examples/daily_counts.py count DAYS COUNTS    # count every day, or recount it
    python examples/daily_counts.py report COUNTS        # average precision per week and carrier

``COUNTS`` gets one small file of counts per day, named after the day; the rows are not needed
again. Files are written atomically: counting a day again replaces its file, and a run that is
killed keeps the days counted so far and leaves no incomplete file.
"""

from __future__ import annotations

import os
import sys
from datetime import date, timedelta
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
FIRST_DAY = date(2013, 7, 1)
THRESHOLDS = 1001


def make(days: Path, number: int = 28) -> None:
    """Write the flights of the first days into a file per day."""
    days.mkdir(parents=True, exist_ok=True)
    first = pl.read_parquet(FLIGHTS).filter(pl.col("day") < FIRST_DAY + timedelta(days=number))
    for (day,), flights in first.group_by("day"):
        flights.drop("day").write_parquet(days / f"{day}.parquet")


def count(days: Path, counts: Path) -> None:
    """Count each daily file into a file of the same name."""
    counts.mkdir(parents=True, exist_ok=True)
    for left_behind in counts.glob("*.part"):
        left_behind.unlink()  # of a run that was killed
    for source in sorted(days.glob("*.parquet")):
        count_day(source, counts / source.name)
        print(f"counted {source.stem}")


def count_day(source: Path, target: Path) -> None:
    """Count one day in a streaming pass, and write the file atomically."""
    rows = pl.scan_parquet(source)
    counts = frame_prc.counts(rows, "late", "boosting", by="carrier", thresholds=THRESHOLDS)
    part = target.with_suffix(".part")
    day = pl.lit(date.fromisoformat(source.stem)).alias("day")
    counts.with_columns(day).sink_parquet(part)
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(target)


def report(counts: Path, first: date = date.min, last: date = date.max) -> pl.DataFrame:
    """Return the average precision per week and carrier from the counts of a range of days."""
    days = [path for path in sorted(counts.glob("*.parquet")) if _in_window(path, first, last)]
    if not days:
        raise SystemExit(f"{counts} holds no counts from {first} to {last}")
    frames = [read_counts(path) for path in days]
    return frame_prc.average_precision(
        pl.concat(frames),
        score="threshold",
        pos="pos",
        neg="neg",
        by=[pl.col("day").dt.truncate("1w").alias("week"), "carrier"],
        bounds=True,
    )


def read_counts(path: Path) -> pl.DataFrame:
    """Read the counts of one day; if the file is damaged, say which day to count again."""
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise SystemExit(f"{path} is damaged ({reason}); count that day again") from error


def _in_window(path: Path, first: date, last: date) -> bool:
    return first <= date.fromisoformat(path.stem) <= last


def main(arguments: list[str]) -> None:
    """Run one command."""
    match arguments:
        case ["make", days]:
            make(Path(days))
        case ["count", days, counts]:
            count(Path(days), Path(counts))
        case ["report", counts]:
            with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120):
                print(report(Path(counts)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
