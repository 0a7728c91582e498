"""The same question to each tool: ``python tests/benchmarks/peers.py``.

Average precision, ROC AUC, the curve and an interval by bootstrap, per segment. Answers are
compared before they are timed, all in turn; times are the least of all rounds, as multiples of
ours, and memory is the peak of a process of its own. Tools that are not installed are left out.
Prints a table per question; ``--draw`` writes a picture.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.compare import machine
from benchmarks.contenders import CONTENDERS
from benchmarks.data import Rows, make_input
from benchmarks.measure import attempt
from benchmarks.printing import markdown
from benchmarks.runs import Run, time_all, weigh_all

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

SIZES = [Rows(100_000, 100), Rows(1_000_000, 1_000)]
FEW = [Rows(20_000, 10)]  # evaluated 200 times over, which takes minutes
TOOLS = ("scikit-learn loop", "polars_ds", "polarbearings", "torchmetrics loop", "DuckDB", "Spark")
BOOTSTRAPS = ("scikit-learn loop", "fairlearn", "polarbearings")
COLOURS = ("tab:blue", "tab:orange", "tab:green")  # of the sizes
OURS = {
    "average precision": "ap",
    "ROC AUC": "ROC AUC",
    "curve": "curve",
    "bootstrap": "bootstrap of 200",
}


def main() -> None:
    """Read the command line, measure, print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (default 5)")
    parser.add_argument("--quick", action="store_true", help="few rows, to see that all works")
    parser.add_argument("--draw", type=Path, metavar="PNG", help="draw the ratios here")
    asked = parser.parse_args()
    print(machine(), flush=True)
    tables = []
    for question in OURS:
        is_long = question == "bootstrap"
        sizes, rounds = (FEW, min(asked.rounds, 2)) if is_long else (SIZES, asked.rounds)
        sizes = sizes[:1] if asked.quick else sizes
        table = pl.concat([measured(question, rows, rounds) for rows in sizes])
        print(f"\n### {question}\n\n{markdown(shown(table))}", flush=True)
        tables.append(table)
    if asked.draw:
        draw(pl.concat(tables), asked.draw)


def contenders(question: str) -> dict[str, str]:
    """Return the tools that answer a question, ours first, with the names of their contenders."""
    tools = BOOTSTRAPS if question == "bootstrap" else TOOLS
    suffix = "" if question == "average precision" else f", {question}"
    others = {tool: f"{tool}{suffix}" for tool in tools}
    known = {tool: name for tool, name in others.items() if name in CONTENDERS}
    without = {"frame_prc, no bootstrap": "interval"} if question == "bootstrap" else {}
    return {"frame_prc": OURS[question], **without, **known}


def measured(question: str, rows: Rows, rounds: int) -> pl.DataFrame:
    """Return a row per tool: least seconds, the same over ours, and megabytes."""
    runs = {tool: Run(rows, name) for tool, name in contenders(question).items()}
    with TemporaryDirectory() as folder:
        if question == "bootstrap":
            check_widths(runs, Path(folder))
        times = time_all(runs.values(), rounds, Path(folder))
        runs = {tool: run for tool, run in runs.items() if times[run].seconds}
        here = [run for run in runs.values() if "Spark" not in run.contender]  # it is a JVM
        peaks = weigh_all(here, 1, Path(folder))
    ours = min(times[runs["frame_prc"]].seconds)
    megabytes = {run: peak.bytes / 1e6 for run, peak in peaks.items()}
    found = [
        (question, str(rows), tool, min(times[run].seconds), megabytes.get(run))
        for tool, run in runs.items()
    ]
    columns = ["question", "rows", "tool", "seconds", "megabytes"]
    table = pl.DataFrame(found, schema=columns, orient="row")
    return table.with_columns(ratio=pl.col("seconds") / ours)


def check_widths(runs: dict[str, Run], folder: Path) -> None:
    """Raise if intervals are not about as wide as ours: resamples are drawn differently."""
    rows = make_input(next(iter(runs.values())).rows, folder)
    width = pl.col("ci_high") - pl.col("ci_low")
    found = {}
    for tool, run in runs.items():
        contender = CONTENDERS[run.contender]
        table, _ = attempt(partial(contender.run, rows.read(contender.source), rows.by))
        if isinstance(table, pl.DataFrame):
            found[tool] = table.select(width.mean()).item()
    for tool, wide in found.items():
        if abs(wide / found["frame_prc"] - 1) > 0.1:
            raise ValueError(f"intervals of {tool} are {wide}, and ours {found['frame_prc']}")


def shown(table: pl.DataFrame) -> pl.DataFrame:
    """Return a column per size: our seconds, multiples of them, and memory."""
    number = pl.col("seconds", "ratio").round_sig_figs(2).cast(pl.String).str.strip_suffix(".0")
    time = pl.when(tool="frame_prc").then(pl.format("{} s", "seconds")).otherwise("ratio")
    memory = pl.format("{} MB", pl.col("megabytes").round(0).cast(pl.Int64))
    cell = pl.concat_str(time, memory, separator="; ", ignore_nulls=True)
    table = table.with_columns(number).with_columns(cell=cell)
    return table.pivot("rows", index="tool", values="cell")


def draw(table: pl.DataFrame, path: Path) -> None:
    """Draw how many times as long as ours each tool takes: a panel per question."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - the tables need no picture

    figure = Figure(figsize=(11, 6), layout="constrained")
    colours = dict(zip(table["rows"].unique(maintain_order=True), COLOURS, strict=False))
    for axes, question in zip(figure.subplots(2, 2).flat, OURS, strict=True):
        answers = table.filter(question=question)
        tools = answers["tool"].unique(maintain_order=True).to_list()[::-1]
        for (rows,), size in answers.group_by("rows", maintain_order=True):
            places = [tools.index(tool) for tool in size["tool"]]
            axes.plot(size["ratio"], places, "o", color=colours[rows], label=rows)
        axes.axvline(1, color="0.7", zorder=0)
        axes.set(xscale="log", title=question, xlabel="times as long as frame_prc")
        axes.set_yticks(range(len(tools)), tools)
        axes.grid(axis="x", color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    handles = {label: handle for axes in figure.axes for handle, label in _legend(axes)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)


def _legend(axes: Axes) -> Iterator[tuple[Artist, str]]:
    return zip(*axes.get_legend_handles_labels(), strict=True)


if __name__ == "__main__":
    main()
