"""Make frame_prc/cli/flights.parquet, which ``frame-prc demo`` reads, from flights.parquet.

The package should be small, so these are every third flight, without what the demonstration does
not read, and scores have three decimals. Sorted rows take less space; their order means nothing.

Run it from any folder, with polars installed::

    python examples/make_demo.py [output.parquet]
"""

import sys
from pathlib import Path

import polars as pl

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
OUTPUT = Path(__file__).parents[1] / "frame_prc" / "cli" / "flights.parquet"


def make_table() -> pl.DataFrame:
    """Take every third flight, and round its scores."""
    # Rounded in Float64: a decimal then has one Float32.
    scores = pl.col("logistic", "boosting").cast(pl.Float64).round(3).cast(pl.Float32)
    flights = pl.read_parquet(FLIGHTS).gather_every(3)
    return flights.select("carrier", "origin", "day", "late", scores).sort("day", "boosting")


def main() -> None:
    """Make the table and write the file."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    table = make_table()
    print(f"{table.height:,} flights")
    table.write_parquet(output, compression="zstd", compression_level=22, statistics=False)


if __name__ == "__main__":
    main()
