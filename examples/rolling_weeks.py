"""Is the model still good? Average precision over time: by week, and in windows that overlap.

Run it as ``python examples/rolling_weeks.py [FOLDER]`` after ``pip install '.[plot]'``. It prints
how each week differs from the one before, and draws weeks and windows of four weeks, whose
intervals are narrower: flights of one day are not independent, and a week has only seven days.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
MODELS = ["logistic", "boosting"]
DAY = pl.col("day")
SIGNIFICANT = 0.05
COLUMNS = ["week", "value_a", "value_b", "difference", "ci_low", "ci_high", "p_adjusted", "changed"]


def rolling_weeks(rows: pl.LazyFrame, weeks: int) -> pl.LazyFrame:
    """Repeat each row in every window of some weeks that it belongs to.

    A window is named by the Monday of its last week; those that reach beyond the data are left out.
    Windows that overlap share rows, so compare only windows that do not.
    """
    week, before = DAY.dt.truncate("1w"), weeks - 1
    windows = pl.date_ranges(week, week.dt.offset_by(f"{before}w"), "1w")
    first_day = pl.col("window").dt.offset_by(f"-{before}w")
    last_day = pl.col("window").dt.offset_by("6d")
    repeated = rows.with_columns(window=windows).explode("window")
    return repeated.filter(first_day >= DAY.min(), last_day <= DAY.max())


def main(folder: Path) -> None:
    """Print what changed from week to week, and draw single weeks and windows of four weeks."""
    flights = pl.read_parquet(FLIGHTS)
    week = DAY.dt.truncate("1w").alias("week")
    ev = frame_prc.evaluate(flights, "late", "boosting", by=week, cluster="day")
    marked = ev.compare_segments(against="previous", adjust="holm", details=True).with_columns(
        changed=pl.col("p_adjusted") < SIGNIFICANT
    )
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, float_precision=4):
        print(marked.select(COLUMNS))

    folder.mkdir(parents=True, exist_ok=True)
    weeks = frame_prc.plot_summary(flights, "late", MODELS, by=week, cluster="day")
    weeks.save(folder / "weeks.png", ppi=110)
    rows = rolling_weeks(flights.lazy(), 4)
    windows = frame_prc.plot_summary(rows, "late", MODELS, by="window", cluster="day")
    windows.save(folder / "rolling_weeks.png", ppi=110)
    print(f"The pictures weeks.png and rolling_weeks.png are in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
