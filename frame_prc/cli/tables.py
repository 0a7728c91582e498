"""A frame as a table for a reader: on a terminal, in Markdown, and in HTML for a mail.

In documents, text of the data is escaped: it is shown as it is, whatever it would mean there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_ROWS = 200
_GAP = 2
_NARROW = 9  # the width that a header may have even above narrower cells
_SMALLEST, _LARGEST = 1e-3, 1e6
# An end of an interval says no more by an exponent; that of a bin of scores does.
_LIMITS = re.compile("(?<!^bin)_(low|high)")
# Shown with all digits, because a rounded threshold retrieves other rows.
_EXACT = ("threshold", "below", "above", "best_f1_threshold")


def texts(values: pl.Series, missing: str) -> list[str]:
    """Return the text of each value, with 4 decimals unless it is a threshold."""
    exact = values.cast(pl.String) if values.name in _EXACT else values
    smallest = 0.0 if _LIMITS.search(values.name) else _SMALLEST
    return [missing if value is None else _text(value, smallest) for value in exact]


def _text(value: Any, smallest: float) -> str:
    if isinstance(value, float):
        plain = value == 0 or smallest <= abs(value) < _LARGEST
        return f"{value:z.4f}" if plain else f"{value:.4g}"
    return str(value)


# --- on a terminal -----------------------------------------------------------------------------


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
        header = _folded(values.name, max([_NARROW, *map(_width, cells)]))
        return cls(values.name, header, cells, values.dtype.is_numeric())

    @property
    def width(self) -> int:
        return _GAP + max(map(_width, [*self.header.splitlines(), *self.cells]))


def _width(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415 - is slow to import

    return cell_len(text)


def _folded(name: str, width: int) -> str:
    """Return a name broken after underscores into lines that fit the width, where they can."""
    lines = [""]
    for word in re.findall(r"[^_]*_*", name):
        if lines[-1] and _width(lines[-1] + word) > width:
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
    from rich import box  # noqa: PLC0415 - is slow to import
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(column.header, justify=side, vertical="bottom", overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


# --- in documents ------------------------------------------------------------------------------

# What has a meaning inside a cell; an underscore has one only at the edge of a word.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&$]|(?<!\w)_|_(?!\w)")
_BREAK = re.compile(r"\r\n|\r|\n")
_HTML_START = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>frame-prc</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25em 0.75em; text-align: left; white-space: pre-wrap; }
th { border-bottom: 2px solid; vertical-align: bottom; }
td { border-bottom: 1px solid #8884; }
.number { text-align: right; }
</style>
</head>
<body>
<table>
"""
_HTML_END = """</tbody>
</table>
</body>
</html>
"""


def markdown(frame: pl.DataFrame) -> Iterator[bytes]:
    """Yield the lines of a table in GitHub's Markdown."""
    columns = [
        [_in_markdown(text) for text in (values.name, *texts(values, missing=""))]
        for values in frame
    ]
    widths = [max(3, *map(len, column)) for column in columns]  # a rule has 3 dashes or more
    numbers = [dtype.is_numeric() for dtype in frame.dtypes]
    rule = [
        "-" * (width - is_number) + ":" * is_number
        for width, is_number in zip(widths, numbers, strict=True)
    ]
    head, *rows = zip(*columns, strict=True)
    for row in (head, rule, *rows):
        cells = (
            text.rjust(width) if is_number else text.ljust(width)
            for text, width, is_number in zip(row, widths, numbers, strict=True)
        )
        yield f"| {' | '.join(cells)} |\n".encode()


def _in_markdown(text: str) -> str:
    return _BREAK.sub("<br>", _MARKUP.sub(r"\\\g<0>", text))


def html(frame: pl.DataFrame) -> Iterator[bytes]:
    """Yield a page that holds a table, and loads nothing."""
    classes = [' class="number"' if dtype.is_numeric() else "" for dtype in frame.dtypes]
    # Long names may break where their words end.
    names = [escape(name).replace("_", "_<wbr>") for name in frame.columns]
    yield _HTML_START.encode()
    yield f"<thead>\n{_html_row('th', classes, names)}</thead>\n<tbody>\n".encode()
    for row in zip(*(texts(values, missing="") for values in frame), strict=True):
        yield _html_row("td", classes, map(escape, row)).encode()
    yield _HTML_END.encode()


def _html_row(tag: str, classes: Sequence[str], cells: Iterable[str]) -> str:
    row = (f"<{tag}{of}>{cell}</{tag}>" for of, cell in zip(classes, cells, strict=True))
    return f"<tr>{''.join(row)}</tr>\n"
