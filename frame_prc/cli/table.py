"""A frame as a table on a terminal: a wide one in blocks of columns that fit the width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from frame_prc.cli.documents import texts

MOST_ROWS = 200
_GAP = 2
_NARROW = 9  # the width that a header may have even above narrower cells


def show(frame: pl.DataFrame, keys: Sequence[str], console: Console) -> None:
    """Print a frame; if it is too wide, in blocks of columns that all begin with the keys."""
    head = frame.head(MOST_ROWS)
    columns = [_Column.of(head[name]) for name in head.columns]
    for number, block in enumerate(_blocks(columns, keys, console.width)):
        console.print(*([""] if number else []), _table(block), sep="\n")
    if frame.height > head.height:
        console.print(
            f"... and {frame.height - head.height} more rows. Hint: -o FILE writes all of them, "
            "--format tsv prints them.",
            soft_wrap=True,
        )


@dataclass(frozen=True)
class _Column:
    name: str
    header: str
    cells: list[str]
    is_number: bool

    @classmethod
    def of(cls, values: pl.Series) -> _Column:
        cells = texts(values, missing="null")
        header = _folded(values.name, max(_NARROW, *map(cell_len, cells)))
        return cls(values.name, header, cells, values.dtype.is_numeric())

    @property
    def width(self) -> int:
        return _GAP + max(map(cell_len, [*self.header.splitlines(), *self.cells]))


def _folded(name: str, width: int) -> str:
    """Return a name broken after underscores into lines that fit the width, where they can."""
    lines = [""]
    for word in re.findall(r"[^_]*_*", name):
        if lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(filter(None, lines))


def _blocks(columns: Sequence[_Column], keys: Sequence[str], width: int) -> Iterator[list[_Column]]:
    begin = [column for column in columns if column.name in keys]
    block = list(begin)
    for column in columns:
        if column.name in keys:
            continue
        if block != begin and sum(c.width for c in [*block, column]) - _GAP > width:
            yield block
            block = list(begin)
        block.append(column)
    yield block


def _table(columns: Sequence[_Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(column.header, justify=side, vertical="bottom", overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table
