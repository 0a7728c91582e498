"""Rows by the hundred million from Parquet: ``python tests/benchmarks/scale.py FOLDER``.

Makes a file of 20 million rows in 1,000 segments in the folder, and reads it as often as asked
(``--files``, 5 by default; 50 are a billion rows): counts in bins, in one scan and file by file,
and the exact average precision. Each runs in a process of its own, whose peak memory is printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.data import Rows

import frame_prc

ROWS = 20_000_000
ASKED = {"truth": "truth", "score": "score", "by": "segment"}


def one_scan(file: Path, times: int) -> pl.DataFrame:
    """Count 200 bins in one scan."""
    rows = pl.scan_parquet([file] * times)
    return frame_prc.counts(rows, **ASKED, thresholds=200).collect()


def file_by_file(file: Path, times: int) -> pl.DataFrame:
    """Count 200 bins of each file, and add them up."""
    total = one_scan(file, 1)
    for _ in range(times - 1):
        total = frame_prc.merge_counts(total, one_scan(file, 1))
    return total


def exact(file: Path, times: int) -> pl.DataFrame:
    """Find the exact average precision."""
    rows = pl.scan_parquet([file] * times)
    return frame_prc.average_precision(rows, **ASKED).collect()


RUNS = {run.__name__: run for run in (one_scan, file_by_file, exact)}


def main() -> None:
    """Make the file, and run each way in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=5)
    parser.add_argument("--only", choices=RUNS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    file = arguments.folder / "rows.parquet"
    if arguments.here:
        return measure(arguments.only, file, arguments.files)
    if not file.exists():
        arguments.folder.mkdir(parents=True, exist_ok=True)
        frame = Rows(ROWS, segments=1_000).frame()
        frame.cast({"segment": pl.Int32}).write_parquet(file)
    for name in [arguments.only] if arguments.only else RUNS:
        again = [sys.executable, __file__, *sys.argv[1:], "--here", "--only", name]
        subprocess.run(again, check=True)  # noqa: S603
    return None


def measure(name: str, file: Path, times: int) -> None:
    """Run one way, and print what it took."""
    start = perf_counter()
    result = RUNS[name](file, times)
    seconds, rows = perf_counter() - start, times * ROWS
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1e6
    speed = rows / seconds / 1e6
    print(
        f"| {name} | {rows:,} | {seconds:.1f} s | {speed:.1f} M/s | {peak:.2f} GB | {len(result)} |"
    )


if __name__ == "__main__":
    main()
