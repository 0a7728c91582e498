"""Choose the threshold of each carrier on one quarter, and hold it to the next.

Run: python examples/held_thresholds.py
"""

from datetime import date
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
AUTUMN = date(2013, 10, 1)


def quarters() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the flights of July to September, and those of October to December."""
    flights = pl.read_parquet(FLIGHTS)
    return flights.filter(pl.col("day") < AUTUMN), flights.filter(pl.col("day") >= AUTUMN)


def held(summer: pl.DataFrame, autumn: pl.DataFrame) -> pl.DataFrame:
    """Return precision and recall in autumn of the thresholds that found 80 % in summer."""
    chosen = frame_prc.operating_points(summer, "late", "boosting", by="carrier", recall=0.8)
    return frame_prc.operating_points(
        autumn,
        "late",
        "boosting",
        by="carrier",
        threshold=chosen,
        ci=0.95,
        cluster="day",  # flights of one day are not independent
        details=True,  # with the limits of the recall
    )


def with_predictions(flights: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """Add whether each flight is predicted to be late, by the threshold of its carrier."""
    limits = chosen.select("carrier", "threshold")
    predicted = pl.col("boosting") >= pl.col("threshold")
    return flights.join(limits, on="carrier", how="left").with_columns(predicted=predicted)


if __name__ == "__main__":
    summer, autumn = quarters()
    table = held(summer, autumn)
    columns = ["carrier", "target", "threshold", "recall", "recall_low", "recall_high", "precision"]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, float_precision=3):
        print(table.select(*columns, "status"))
    print(with_predictions(autumn, table)["predicted"].value_counts(sort=True))
