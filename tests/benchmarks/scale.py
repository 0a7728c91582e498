"""Rows by the hundred million from Parquet: ``python tests/benchmarks/scale.py FOLDER``.

Makes a file of 20 million rows in 1,000 segments in the folder, and reads it as often as asked
(``--files``, 5 by default; 50 are a billion rows): counts in bins, in one scan and file by file,
the exact average precision, and all curves in passes (``--passes``, 20 by default), as in
examples/bigger_than_memory.py. Each runs in a process of its own, whose peak memory is printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import bigger_than_memory
from benchmarks.data import Rows

import frame_prc

ROWS = 20_000_000
ASKED = {"truth": "truth", "score": "score", "by": "segment"}


def one_scan(files: list[Path], passes: int) -> pl.DataFrame:  # noqa: ARG001
    """Count 200 bins in one scan."""
    return frame_prc.counts(pl.scan_parquet(files), **ASKED, thresholds=200).collect()


def file_by_file(files: list[Path], passes: int) -> pl.DataFrame:
    """Count 200 bins of each file, and add them up."""
    total = one_scan(files[:1], passes)
    for file in files[1:]:
        total = frame_prc.merge_counts(total, one_scan([file], passes))
    return total


def exact(files: list[Path], passes: int) -> pl.DataFrame:  # noqa: ARG001
    """Find the exact average precision."""
    return frame_prc.average_precision(pl.scan_parquet(files), **ASKED).collect()


def curves_by_segments(files: list[Path], passes: int) -> pl.DataFrame:
    """Write all curves, a share of the segments in each pass."""
    with tempfile.TemporaryDirectory(dir=files[0].parent) as folder:
        written = bigger_than_memory.curves_by_segments(_as_flights(files), Path(folder), passes)
        return pl.scan_parquet(written).group_by("carrier").len().collect()


def _as_flights(files: list[Path]) -> pl.LazyFrame:
    names = {"truth": "late", "score": "boosting", "segment": "carrier"}
    return pl.scan_parquet(files).rename(names)


RUNS = {run.__name__: run for run in (one_scan, file_by_file, exact, curves_by_segments)}


def main() -> None:
    """Make the file, and run each way in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=5)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--only", choices=RUNS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    file = arguments.folder / "rows.parquet"
    if arguments.here:
        return measure(arguments.only, [file] * arguments.files, arguments.passes)
    if not file.exists():
        arguments.folder.mkdir(parents=True, exist_ok=True)
        frame = Rows(ROWS, segments=1_000).frame()
        frame.cast({"segment": pl.Int32}).write_parquet(file)
    for name in [arguments.only] if arguments.only else RUNS:
        again = [sys.executable, __file__, *sys.argv[1:], "--here", "--only", name]
        subprocess.run(again, check=True)  # noqa: S603
    return None


def measure(name: str, files: list[Path], passes: int) -> None:
    """Run one way, and print what it took."""
    start = perf_counter()
    result = RUNS[name](files, passes)
    seconds, rows = perf_counter() - start, len(files) * ROWS
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1e6
    speed = rows / seconds / 1e6
    print(
        f"| {name} | {rows:,} | {seconds:.1f} s | {speed:.1f} M/s | {peak:.2f} GB | {len(result)} |"
    )


if __name__ == "__main__":
    main()
