"""Curves for R: a table, and the ggplot2 script that draws it.

Run it as ``python examples/ggplot_curves.py [FOLDER]``. It writes ``FOLDER/flights.tsv`` and
``FOLDER/flights.R`` (``out/...`` by default) and prints the command that draws them. Flights of one
day are not independent, so the intervals take the day as the cluster.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"


def main(folder: Path) -> None:
    """Write the curves of two models per airport, and the script."""
    folder.mkdir(parents=True, exist_ok=True)
    _, script = frame_prc.write_ggplot(
        pl.scan_parquet(FLIGHTS),
        folder / "flights.tsv",
        "late",
        ["logistic", "boosting"],
        by="origin",
        ci=0.95,
        cluster="day",
        title="Which flights arrive 30 minutes late or more?",
    )
    print(f"Rscript {script}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
