"""Runs, each a contender on some rows: checked to agree, then timed in turn and weighed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import polars as pl
from benchmarks.contenders import CONTENDERS, area_values, point_values
from benchmarks.data import SAMPLE, Input, Rows, make_input
from benchmarks.measure import Peak, Timing, attempt, peak, times

OURS = {
    ("areas", False): "ap",
    ("areas", True): "ap weighted",
    ("roc areas", False): "ROC AUC",
    ("points", False): "curve",
    ("points", True): "curve weighted",
}
VALUES = {"areas": area_values, "roc areas": area_values, "points": point_values}
# Contenders that add up in another order differ by some 1e-13.
TOLERANCE = 1e-9
_FEW_ROWS, _MANY_ROWS = 10_000, 10_000_000


class Run(NamedTuple):
    """A contender, by name, on some rows."""

    rows: Rows
    contender: str


def time_all(runs: Iterable[Run], rounds: int, folder: Path) -> dict[Run, Timing]:
    """Time runs in turn, round after round, once it is certain that they agree.

    Calls of milliseconds are timed 20 times as often, and those on very many rows 3 times.
    """
    runs = list(runs)
    inputs = _inputs(runs, folder)
    check_agreement(runs, inputs)
    most = max(rows.rows for rows in inputs)
    if most <= _FEW_ROWS:
        rounds *= 20
    elif most > _MANY_ROWS:
        rounds = min(rounds, 3)
    found = times({run: _call(run, inputs[run.rows]) for run in runs}, rounds)
    return {run: _for_all_segments(run, found[run], inputs[run.rows]) for run in runs}


def weigh_all(runs: Iterable[Run], rounds: int, folder: Path) -> dict[Run, Peak]:
    """Measure the peak memory of each run."""
    runs = list(runs)
    inputs = _inputs(runs, folder)
    return {run: _weigh(run, inputs[run.rows], rounds) for run in runs}


def _inputs(runs: list[Run], folder: Path) -> dict[Rows, Input]:
    return {rows: make_input(rows, folder) for rows in dict.fromkeys(run.rows for run in runs)}


def check_agreement(runs: list[Run], inputs: dict[Rows, Input]) -> None:
    """Times of different results would compare nothing: all must give what frame_prc gives."""
    for run in runs:
        contender, few = CONTENDERS[run.contender], inputs[run.rows].few
        ours = Run(run.rows, OURS.get((contender.gives, contender.weighted), run.contender))
        if run == ours:
            continue
        found, why = attempt(_call(run, few))
        if why:
            continue  # it is not timed either
        worst = _difference(VALUES[contender.gives], found, _call(ours, few)())
        if not worst <= TOLERANCE:
            raise ValueError(
                f"{run.contender} differs from {ours.contender} by {worst}: {run.rows}"
            )


def _difference(values: Callable[[object], pl.Series], found: object, expected: object) -> float:
    a, b = values(found), values(expected)
    return float((a - b).abs().max() or 0) if len(a) == len(b) else float("inf")


def _call(run: Run, whole: Input) -> Callable[[], object]:
    contender = CONTENDERS[run.contender]
    source = whole.sample if contender.loops else whole
    return partial(contender.run, source.read(contender.source), run.rows.by)


def _for_all_segments(run: Run, timing: Timing, whole: Input) -> Timing:
    if not CONTENDERS[run.contender].loops or whole.sample is whole or timing.note:
        return timing
    return timing.scaled(whole.scale(), f"scaled from {SAMPLE:,} segments")


def _weigh(run: Run, whole: Input, rounds: int) -> Peak:
    columns = whole.frame.select(CONTENDERS[run.contender].columns(whole.by)).estimated_size()
    return peak(run.contender, whole.path, whole.by, columns, rounds)
