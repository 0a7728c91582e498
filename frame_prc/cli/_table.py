"""A frame as a table for people: right-aligned numbers, and blocks of columns that fit the width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

MOST_ROWS = 200
_GAP = 2
_SMALLEST, _LARGEST = 1e-3, 1e6


def show(frame: pl.DataFrame, keys: Sequence[str], console: Console) -> None:
    """Print a frame; where it is too wide, its columns in blocks that all begin with the keys."""
    head = frame.head(MOST_ROWS)
    cells = {name: [_text(value) for value in head[name]] for name in head.columns}
    for names in _blocks(cells, keys, console.width):
        console.print(_table(head, cells, names))
    if frame.height > head.height:
        console.print(
            f"... and {frame.height - head.height} more rows. Hint: -o FILE writes all of them, "
            "--format tsv prints them."
        )


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        plain = value == 0 or _SMALLEST <= abs(value) < _LARGEST
        return f"{value:.4f}" if plain else f"{value:.4g}"
    return str(value)


def _blocks(
    cells: dict[str, list[str]], keys: Sequence[str], width: int
) -> Iterator[list[str]]:
    widths = {name: max(map(cell_len, [name, *texts])) + _GAP for name, texts in cells.items()}
    begin = [name for name in cells if name in keys]
    block = list(begin)
    for name in cells:
        if name in keys:
            continue
        if block != begin and sum(widths[other] for other in [*block, name]) > width:
            yield block
            block = list(begin)
        block.append(name)
    yield block


def _table(frame: pl.DataFrame, cells: dict[str, list[str]], names: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, pad_edge=False)
    for name in names:
        is_number = frame.schema[name].is_numeric()
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for place in range(frame.height):
        table.add_row(*(cells[name][place] for name in names))
    return table
