"""Exact curves of rows that do not fit in memory, some of the segments in each pass.

Run it as ``python examples/bigger_than_memory.py [ROWS.parquet [FOLDER]]``. An exact result needs
sorted rows, and Polars sorts in memory, so each pass reads some whole segments, and streams the
result of any verb to a file. Where a single segment does not fit, ``frame-prc curve --memory 2GB``
lets DuckDB sort it on disk.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
TRUTH, SCORE, SEGMENT = "late", "boosting", "carrier"


def curves_by_segments(rows: pl.LazyFrame, folder: Path, passes: int) -> list[Path]:
    """Write the curves of whole segments, some of the segments in each pass."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"curves_{number}.parquet" for number in range(passes)]
    for number, path in enumerate(paths):
        share = rows.filter(pl.col(SEGMENT).hash(seed=0) % passes == number)
        frame_prc.curve(share, TRUTH, SCORE, by=SEGMENT).sink_parquet(path)
    return paths


def main(path: Path = FLIGHTS, folder: Path = Path("out")) -> None:
    """Write curves in four passes over the segments."""
    for written in curves_by_segments(pl.scan_parquet(path), folder, passes=4):
        print(f"curves in {written}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
