"""One classifier, evaluated per segment: a scorecard and a picture.

Run it as ``python examples/grouped_evaluation.py [FOLDER]`` after ``pip install '.[plot]'``. It
prints a row per carrier and draws the curves into ``FOLDER/grouped_evaluation.png`` (``out/...`` by
default). The flights are described in ``make_flights.py``; a flight is late if it arrives 30
minutes or more behind schedule.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"


def main(folder: Path) -> None:
    """Print the scorecard of each carrier, and draw the curves."""
    flights = pl.scan_parquet(FLIGHTS)
    # Flights of one day are not independent.
    card = frame_prc.summary(flights, "late", "boosting", by="carrier", cluster="day")
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=100):
        print(card.sort("average_precision", descending=True).collect())

    chart = frame_prc.plot(
        flights,
        "late",
        ["logistic", "boosting"],
        by="carrier",
        cluster="day",
        overlay="pooled",
        title="Which flights arrive 30 minutes late or more?",
    )
    folder.mkdir(parents=True, exist_ok=True)
    chart.save(folder / "grouped_evaluation.png", ppi=110)
    print(f"The picture is {folder / 'grouped_evaluation.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
