"""Average precision and curves of delayed flights, per carrier and model.

Run it as ``python examples/quickstart.py [FOLDER]``. It prints a table and writes the curves to
``FOLDER/curves.tsv`` (``out/curves.tsv`` without an argument), ready for ``ggplot/flights.R``.
The flights are described in ``make_flights.py``; a flight is late from 30 minutes on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc  # noqa: F401 - puts .prc on frames

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"


def main(folder: Path) -> None:
    """Print one row per model and carrier, and write their curves."""
    flights = pl.scan_parquet(FLIGHTS)
    models = ["logistic", "boosting"]

    table = flights.prc.average_precision("late", models, by="carrier")  # type: ignore[attr-defined]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=100):
        print(table.collect())

    folder.mkdir(parents=True, exist_ok=True)
    curves = flights.prc.curve("late", models, by="carrier", keep="corners")  # type: ignore[attr-defined]
    curves.sink_csv(folder / "curves.tsv", separator="\t")
    print(f"The curves are in {folder / 'curves.tsv'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
