"""Where to put the threshold when positives are rare: by recall, by budget, by F score.

Run it as ``python examples/imbalanced_thresholds.py [FOLDER]`` after ``pip install '.[plot]'``. It
prints the precision and recall of each choice at each airport, and marks the choices on the curve
of one airport in ``FOLDER/imbalanced_thresholds.png`` (``out/...`` by default).
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"


def main(folder: Path) -> None:
    """Print and draw four ways to choose a threshold."""
    flights = pl.read_parquet(FLIGHTS)
    points = frame_prc.operating_points(
        flights,
        "late",
        "boosting",
        by="origin",
        recall=0.7,  # find seven of ten late flights
        predicted_rate=0.05,  # raise an alarm for one flight in twenty
        f_beta=[1, 0.5],  # weight both equally; prefer precision
    )
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=100, float_precision=3):
        print(points)

    chart = frame_prc.plot(
        flights.filter(origin="JFK"),
        "late",
        "boosting",
        cluster="day",  # flights of one day are not independent
        points={"recall": 0.7, "predicted_rate": 0.05, "f_beta": [1, 0.5]},
        roc=True,
        title="Late flights from JFK: where to raise the alarm",
    )
    folder.mkdir(parents=True, exist_ok=True)
    chart.save(folder / "imbalanced_thresholds.png", ppi=110)
    print(f"The picture is {folder / 'imbalanced_thresholds.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
