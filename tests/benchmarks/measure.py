"""Time of several contenders in turn, and peak memory of each in a process of its own.

The memory of a contender is measured by ``python -m benchmarks.measure NAME PARQUET KEYS``, which
calls the function of that name in :mod:`benchmarks.contenders` on a scan of the file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

import polars as pl

TESTS = Path(__file__).parents[1]


def times(contenders: Mapping[str, Callable[[], object]], rounds: int = 5) -> pl.DataFrame:
    """Time all contenders in turn, round after round, after one warm-up call of each.

    A slow spell of the machine so falls on all of them, and leaves the ratios alone.

    Returns
    -------
    DataFrame
        ``contender``, ``median``, ``min`` and ``max`` seconds, and the number of ``rounds``.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, run in contenders.items():
            start = perf_counter()
            run()
            seconds[name].append(perf_counter() - start)
    return pl.DataFrame(
        [
            {
                "contender": name,
                "median": median(taken[1:]),
                "min": min(taken[1:]),
                "max": max(taken[1:]),
                "rounds": rounds,
            }
            for name, taken in seconds.items()
        ]
    )


def seconds(table: pl.DataFrame, contender: str) -> float:
    """Return the median seconds of one contender."""
    return float(table.row(by_predicate=pl.col("contender") == contender, named=True)["median"])


def peaks(
    frame: pl.DataFrame, by: list[str], contenders: list[str], folder: Path, rounds: int = 3
) -> pl.DataFrame:
    """Measure peak resident memory, each contender on a scan of the frame's Parquet file.

    What is counted is the peak of the whole process less the peak of a process that imports the
    same modules and scans the file, but collects nothing; the median of some runs. So the input
    columns, what the engine and its allocator hold, and the result are all in ``peak``.

    Returns
    -------
    DataFrame
        ``contender``; ``peak``, ``result`` and ``input`` in bytes, the last two as Polars estimates
        them in memory; ``times_input``, which is ``peak / input``, and ``work_times_input``, which
        is ``(peak - result) / input``.
    """
    path = folder / "rows.parquet"
    frame.write_parquet(path)
    idle, _ = _peak("idle", path, by, rounds)
    found = [(name, *_peak(name, path, by, rounds)) for name in contenders]
    peak, result, size = (pl.col(name) for name in ("peak", "result", "input"))
    table = pl.DataFrame(found, schema=["contender", "peak", "result"], orient="row")
    return table.with_columns(peak - idle, input=frame.estimated_size()).with_columns(
        times_input=peak / size, work_times_input=(peak - result) / size
    )


def _peak(name: str, path: Path, by: list[str], rounds: int) -> tuple[int, int]:
    """Return the median peak of a process that runs one contender, and the size of its result."""
    command = [sys.executable, "-m", "benchmarks.measure", name, str(path), ",".join(by)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    found = []
    for _ in range(rounds):
        run = subprocess.run(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        found.append([int(number) for number in run.stdout.split()])
    return round(median(peak for peak, _ in found)), found[0][1]


def _own_peak() -> int:
    """Return the largest resident size of this process so far, in bytes.

    ``getrusage`` would say at least the size that the parent had when it started this process.
    """
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("/proc/self/status has no VmHWM")


if __name__ == "__main__":
    from benchmarks import contenders

    NAME, PATH, BY = sys.argv[1:]
    RESULT = getattr(contenders, NAME)(pl.scan_parquet(PATH), BY.split(","))
    print(_own_peak(), 0 if RESULT is None else RESULT.estimated_size())
