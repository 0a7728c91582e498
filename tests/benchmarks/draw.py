"""Growth of time and memory, drawn: ``python tests/benchmarks/draw.py FILE.csv FILE.png``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Ours in one hue, the peers in others, and the floors in grey.
STYLES = {
    "ap": ("tab:blue", "-", 2.4),
    "corners": ("tab:blue", ":", 1.6),
    "curve": ("tab:blue", "--", 1.6),
    "scikit-learn loop": ("tab:red", "-", 1.3),
    "polars_ds": ("tab:orange", "-", 1.3),
    "DuckDB": ("tab:green", "-", 1.3),
    "DuckDB, curve": ("tab:green", "--", 1.3),
    "sort": ("0.35", "-", 1.3),
    "NumPy sort": ("0.6", "-", 1.3),
}


def draw(tidy: pl.DataFrame, path: Path) -> None:
    """Draw seconds over rows and over segments, and peak memory over rows."""
    growth = tidy.filter(pl.col("case") == "growth", pl.col("contender").is_in([*STYLES]))
    if growth.is_empty():
        raise ValueError("there is no case 'growth' to draw")
    growth = growth.with_columns(megabytes=pl.col("peak_bytes") / 1e6)
    over_rows = growth.filter(segments=_most_common(growth, "segments"))
    over_segments = growth.filter(rows=_most_common(growth, "rows"))
    # Imported here: the rest of the benchmarks runs without it.
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(14, 5), layout="constrained")
    times, segments, memory = figure.subplots(1, 3)
    _lines(times, over_rows, "rows", "median", "seconds (median, least to most)")
    _lines(segments, over_segments, "segments", "median", "seconds (median, least to most)")
    _lines(memory, over_rows, "rows", "megabytes", "peak memory, MB")
    times.set_title(f"{over_rows['segments'][0]:,} segments")
    segments.set_title(f"{over_segments['rows'][0]:,} rows")
    memory.set_title(f"{over_rows['segments'][0]:,} segments")
    figure.legend(*times.get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(path, dpi=120)


def _most_common(growth: pl.DataFrame, column: str) -> int:
    kinds = growth.select("rows", "segments").unique()
    return int(kinds[column].value_counts(sort=True)[column][0])


def _lines(axes: Axes, growth: pl.DataFrame, over: str, of: str, label: str) -> None:
    for contender, (colour, dashes, width) in STYLES.items():
        line = growth.filter(pl.col(of).is_not_null(), contender=contender).sort(over)
        if line.is_empty():
            continue
        axes.plot(line[over], line[of], dashes, color=colour, lw=width, marker=".", label=contender)
        if of == "median":
            axes.fill_between(line[over], line["min"], line["max"], color=colour, alpha=0.15, lw=0)
    axes.set(xscale="log", yscale="log", xlabel=over, ylabel=label)
    axes.grid(visible=True, which="major", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    draw(pl.read_csv(sys.argv[1]), Path(sys.argv[2]))
