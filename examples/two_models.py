"""Is the new model better, and for whom? Two models on the same rows, per segment.

Run it as ``python examples/two_models.py [FOLDER]`` after ``pip install '.[plot]'``. It prints the
difference of the average precisions per carrier, with a p-value corrected for multiple testing
(Holm), and draws it into ``FOLDER/two_models.png`` (``out/...`` by default). Flights of one day are
not independent, so the intervals and p-values take the day as the cluster.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
MODELS = ["boosting", "logistic"]
COLUMNS = [
    "carrier",
    "n_pos",
    "value_a",
    "value_b",
    "difference",
    "ci_low",
    "ci_high",
    "p_adjusted",
]


def main(folder: Path) -> None:
    """Print and draw how much better boosting is than logistic regression."""
    flights = pl.read_parquet(FLIGHTS)
    ev = frame_prc.evaluate(flights, "late", MODELS, by="carrier", cluster="day")
    table = ev.compare_models(adjust="holm", details=True)
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=100, float_precision=4):
        print(table.select(COLUMNS).sort("p_adjusted"))

    chart = ev.plot_summary(baseline="logistic", title="Boosting against logistic regression")
    folder.mkdir(parents=True, exist_ok=True)
    chart.save(folder / "two_models.png", ppi=110)
    print(f"The picture is {folder / 'two_models.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
