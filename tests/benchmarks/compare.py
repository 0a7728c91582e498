"""Time and weigh frame_prc and its peers: ``python tests/benchmarks/compare.py``.

Prints one Markdown table per case, and for ``targets`` what was asked, found and met; ``--out``
writes all that was measured as one tidy table, and ``--draw`` a picture of the growth.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import cases, targets
from benchmarks.contenders import CONTENDERS
from benchmarks.data import SAMPLE, Rows
from benchmarks.draw import draw
from benchmarks.measure import Peak, Timing, sort_seconds
from benchmarks.printing import markdown
from benchmarks.runs import Run, time_all, weigh_all
from benchmarks.tables import ratios, tidied

CPU = Path("/proc/cpuinfo")
# Below this the memory of a process is mostly that of its modules.
WORTH_WEIGHING = 1_000_000
NAMES = ("targets", *cases.CASES)


def main() -> None:
    """Read the command line, measure, and print."""
    asked = _arguments()
    names = [name for name in NAMES if asked.cases in (name, "all")]
    tables = []
    for name in names:
        with TemporaryDirectory() as folder:
            tables.append(table(name, asked.rounds, Path(folder), quick=asked.quick))
        if asked.out:
            pl.concat(tables).write_csv(asked.out)
    if asked.draw:
        draw(pl.concat(tables), asked.draw)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", choices=[*NAMES, "all"], default="targets")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--quick", action="store_true", help="few rows, to see that all works")
    parser.add_argument("--out", type=Path, metavar="CSV", help="write all measurements here")
    parser.add_argument("--draw", type=Path, metavar="PNG", help="draw the case growth here")
    return parser.parse_args()


def table(case: str, rounds: int, folder: Path, *, quick: bool) -> pl.DataFrame:
    """Measure a case, print what it says, and return all of it."""
    rounds = 1 if quick else rounds
    print(f"\n### {case}\n\n{machine()}\n", flush=True)
    if case == "targets":
        kinds = targets.Kinds(Rows.smaller if quick else _unchanged)
        found = targets.measure(kinds, rounds, folder)
        print(markdown(targets.verdicts(kinds, found)), flush=True)
        times, peaks = found.times, found.peaks
    else:
        times, peaks = _measured(cases.groups(case, quick=quick), rounds, folder)
    tidy = tidied(case, times, peaks)
    print(markdown(ratios(tidy)), flush=True)
    return tidy


def machine() -> str:
    """Return what the numbers depend on."""
    models = [
        line.partition(":")[2].strip()
        for line in (CPU.read_text(encoding="utf-8").splitlines() if CPU.exists() else [])
        if line.startswith("model name")
    ]
    name = models[0] if models else platform.processor()
    sorts = " and ".join(f"{library} {1000 * s:.0f} ms" for library, s in sort_seconds().items())
    return (
        f"{os.cpu_count()} cores of {name}; 5 million integers take {sorts} to sort. "
        f"Polars {pl.__version__}, NumPy {np.__version__}."
    )


def _unchanged(rows: Rows) -> Rows:
    return rows


def _measured(
    groups: list[list[Run]], rounds: int, folder: Path
) -> tuple[dict[Run, Timing], dict[Run, Peak]]:
    times: dict[Run, Timing] = {}
    peaks: dict[Run, Peak] = {}
    for group in groups:
        times |= time_all(group, rounds, folder)
        weighed = [run for run in group if times[run].seconds and _worth_weighing(run)]
        peaks |= weigh_all(weighed, 1, folder)
        print(f"{group[0].rows}: done", file=sys.stderr, flush=True)
    return times, peaks


def _worth_weighing(run: Run) -> bool:
    sampled = CONTENDERS[run.contender].loops and run.rows.segments > SAMPLE
    return run.rows.rows >= WORTH_WEIGHING and not sampled


if __name__ == "__main__":
    main()
