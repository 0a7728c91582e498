"""Average precision per week, from daily files that are counted once each.

``python examples/daily_counts.py DAYS COUNTS`` counts every file of ``DAYS``, named as
``2013-07-01.parquet``, that is not counted yet, into a small one of that name, and prints the
average precision per week and carrier. The rows are not needed again. Files are written
atomically: a run that is killed keeps the days counted so far, and leaves no incomplete file.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import polars as pl

import frame_prc

THRESHOLDS = 1001


def count(source: Path, target: Path) -> None:
    """Count one day in a streaming pass, and write the file atomically."""
    rows = pl.scan_parquet(source)
    counts = frame_prc.counts(rows, "late", "boosting", by="carrier", thresholds=THRESHOLDS)
    part = target.with_suffix(".part")
    counts.with_columns(day=date.fromisoformat(source.stem)).sink_parquet(part, sync_on_close="all")
    part.replace(target)


def read(path: Path) -> pl.DataFrame:
    """Read the counts of one day; if the file is damaged, say which day to count again."""
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise SystemExit(
            f"{path} is damaged ({reason}); delete it to count that day again"
        ) from error


def main(days: Path, counts: Path) -> None:
    """Count the days that are new, and print the table of all."""
    counts.mkdir(parents=True, exist_ok=True)
    for source in sorted(days.glob("*.parquet")):
        if not (counts / source.name).exists():
            count(source, counts / source.name)
    frame = pl.concat(read(path) for path in sorted(counts.glob("*.parquet")))
    week = pl.col("day").dt.truncate("1w").alias("week")
    ev = frame_prc.evaluate(frame, score="threshold", pos="pos", neg="neg", by=[week, "carrier"])
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120):
        print(ev.average_precision(bounds=True))


if __name__ == "__main__":
    if not sys.argv[2:]:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
