"""The memory of the command line; run with ``pytest -m benchmark -s``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

pytestmark = pytest.mark.benchmark

ROWS = 20_000_000
MOST = 600e6  # bytes, of which the program takes 100 million before it reads a row

# The peak of a process is asked for by itself: its parent, pytest, is larger.
COUNT = """
import sys
from frame_prc.cli import main
code = main(sys.argv[1:])
for line in open("/proc/self/status"):
    if line.startswith("VmHWM:"):
        print(1024 * int(line.split()[1]))
sys.exit(code)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with 1 and 2 GB of Parquet in one file, and 1 GB in five."""
    folder = tmp_path_factory.mktemp("rows")
    row = pl.int_range(ROWS, dtype=pl.UInt64)
    rows = pl.select(
        truth=row.hash(1) % 10 == 0,
        score=(row.hash(2) % 2**53).cast(pl.Float64) / 2**53,
        segment=(row.hash(3) % 1000).cast(pl.Int16),
    )
    for place in range(5):
        rows.write_parquet(folder / f"part-{place}.parquet")
    parts = pl.scan_parquet(folder / "part-*.parquet")
    parts.sink_parquet(folder / "one.parquet")
    pl.concat([parts, parts]).sink_parquet(folder / "two.parquet")
    return folder


def peak(*paths: Path) -> int:
    options = ["--truth", "truth", "--score", "score", "--by", "segment", "--thresholds", "200"]
    output = paths[0].with_name("counts.parquet")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", COUNT, "counts", *map(str, paths), *options, "-o", str(output)],
        capture_output=True,
        text=True,
        check=True,
    )
    counted = pl.read_parquet(output).select(pl.sum("pos") + pl.sum("neg")).item()
    assert counted == sum(pl.scan_parquet(path).select(pl.len()).collect().item() for path in paths)
    return int(done.stdout)


def test_counting_takes_memory_that_does_not_grow_with_the_rows(files):
    peaks = {
        name: peak(*files.glob(f"{name}.parquet")) for name in ("part-0", "part-*", "one", "two")
    }
    for name, size in peaks.items():
        read = sum(path.stat().st_size for path in files.glob(f"{name}.parquet"))
        print(f"{name}: {read / 1e9:.2f} GB read, {size / 1e9:.2f} GB at the peak")
    assert max(peaks.values()) < MOST
