"""Time of several contenders in turn, and peak memory of each in a process of its own.

The memory of a contender is measured by ``python -m benchmarks.measure NAME PARQUET KEYS``, which
reads the file as the contender takes its rows, and calls it once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import polars as pl

TESTS = Path(__file__).parents[1]
# polars_ds raises or panics where a segment has no positives; a plan may have too few bits.
_UNABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError)
Run = TypeVar("Run", bound=Hashable)


@dataclass(frozen=True)
class Timing:
    """Seconds of each round, in the order of the rounds; none, with a note, if it raised."""

    seconds: tuple[float, ...]
    note: str = ""

    @property
    def median(self) -> float:
        """The median of all rounds."""
        return median(self.seconds)

    def scaled(self, factor: float, note: str) -> Timing:
        """Return the time of so many times the work."""
        return replace(self, seconds=tuple(factor * taken for taken in self.seconds), note=note)


@dataclass(frozen=True)
class Peak:
    """Bytes: the peak of a process, less that of one which does nothing.

    ``columns`` is what Polars estimates for the columns read, and ``result`` for the result.
    """

    bytes: int
    result: int
    columns: int


@cache
def sort_seconds() -> dict[str, float]:
    """Return the time of a sort of 5 million integers by each library, the best of three.

    On processors with AVX-512 NumPy takes a third of the time of Polars, or four times as long: on
    AMD's Zen 4 (github.com/numpy/x86-simd-sort/issues/6).
    """
    numbers = pl.int_range(5_000_000, eager=True, dtype=pl.UInt64).hash(0)
    values = numbers.to_numpy()
    found = times({"NumPy": partial(np.sort, values), "Polars": numbers.sort}, rounds=3)
    return {library: min(timing.seconds) for library, timing in found.items()}


def numpy_sorts_fast() -> bool:
    """Return whether NumPy sorts as fast here as with AVX-512 on most processors."""
    found = sort_seconds()
    return found["NumPy"] < found["Polars"] / 2


def times(runs: Mapping[Run, Callable[[], object]], rounds: int) -> dict[Run, Timing]:
    """Time all in turn, round after round, each after a call of its own that is not timed.

    A slow spell of the machine so falls on all of them, and leaves the ratios alone. A call takes
    up to a third more or less by what the one before it left in memory, so that is the same call.
    What raises at first is not timed.
    """
    failed = {run: Timing((), why) for run, call in runs.items() if (why := attempt(call)[1])}
    taken: dict[Run, list[float]] = {run: [] for run in runs if run not in failed}
    for _ in range(rounds):
        for run, seconds in taken.items():
            runs[run]()
            seconds.append(_seconds(runs[run]))
    return {run: failed.get(run) or Timing(tuple(taken[run])) for run in runs}


def attempt(call: Callable[[], object]) -> tuple[object, str]:
    """Return the result of a call, and why there is none: a peer is absent, or cannot do it."""
    try:
        return call(), ""
    except ModuleNotFoundError as error:
        return None, f"{error.name} is not installed"
    except _UNABLE as error:
        return None, f"raises {type(error).__name__}"


def _seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    del result  # to free a large result is no part of the work
    return seconds


def peak(name: str, path: Path, by: list[str], columns: int, rounds: int) -> Peak:
    """Measure the median peak of resident memory, in processes that run one contender.

    The input columns, what the engine and its allocator hold, and the result are all in it; the
    peak of a process that imports the same modules and does nothing is not.
    """
    found = [_in_process(name, path, by) for _ in range(rounds)]
    idle = median(_in_process("idle", path, by)[0] for _ in range(rounds))
    return Peak(round(median(size for size, _ in found) - idle), found[0][1], columns)


def import_seconds(processes: int) -> Timing:
    """Time ``import frame_prc`` in processes that have imported Polars.

    Modules are compiled beforehand, as pip does it when a package is installed.
    """
    code = (
        "import polars; from time import perf_counter as now; start = now(); import frame_prc; "
        "print(now() - start)"
    )
    with tempfile.TemporaryDirectory() as compiled:
        _, *taken = (
            float(_output([sys.executable, "-X", f"pycache_prefix={compiled}", "-c", code]))
            for _ in range(processes + 1)
        )
    return Timing(tuple(taken))


def _in_process(name: str, path: Path, by: list[str]) -> tuple[int, int]:
    """Return the peak of a process that runs one contender, and the size of its result."""
    command = [sys.executable, "-m", "benchmarks.measure", name, str(path), ",".join(by)]
    size, result = _output(command).split()
    return int(size), int(result)


def _output(command: list[str]) -> str:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(  # noqa: S603
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def _own_peak() -> int:
    """Return the largest resident size of this process so far, in bytes.

    ``getrusage`` would say at least the size that the parent had when it started this process.
    """
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("/proc/self/status has no VmHWM")


def _read(path: str, source: str, columns: list[str]) -> Any:
    if source == "Parquet":
        return pl.scan_parquet(path)
    if source == "pandas":
        return pd.read_parquet(path, columns=columns)
    return pl.read_parquet(path, columns=columns)


def _size(result: object) -> int:
    return int(result.estimated_size()) if isinstance(result, pl.DataFrame) else 0


if __name__ == "__main__":
    from benchmarks.contenders import CONTENDERS

    NAME, PATH, BY = sys.argv[1:]
    CONTENDER, KEYS = CONTENDERS[NAME], BY.split(",")
    ROWS = _read(PATH, CONTENDER.source, CONTENDER.columns(KEYS))
    RESULT = CONTENDER.run(ROWS, KEYS)
    print(_own_peak(), _size(RESULT))
