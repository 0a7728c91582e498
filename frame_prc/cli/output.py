"""Results written to a file, or to standard output as a table or for other programs."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import polars as pl
import polars.selectors as cs

from frame_prc._files import atomic_write, check_writable
from frame_prc._request.hints import check_installed
from frame_prc.exceptions import FileError, OptionError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


# --- tables for a reader -----------------------------------------------------------------------

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


def _show_table(frame: pl.DataFrame, keys: Sequence[str], console: Console) -> None:
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


# --- files and formats -------------------------------------------------------------------------

FORMATS = ("table", "json", "ndjson", "csv", "tsv", "markdown", "html")
DRAWN = ("plot", "plot_summary", "plot_scores")
_PICTURES = (".html", ".svg", ".png")
# Verbs whose result is no table: what they write, with an example.
WRITTEN = {
    **dict.fromkeys(DRAWN, (f"a file that ends with {', '.join(_PICTURES)}", "-o plot.html")),
    "write_ggplot": ("the file for R to read", "-o curves.tsv"),
    "report": ("a file that ends with .html or .json", "-o report.html"),
}
_ALSO_CALLED = {"md": "markdown"}
_ROWS_AT_ONCE = 50_000
_OS_ERROR = re.compile(r"([^:]*) \(os error (\d+)\)")
# errno values that only writing can raise.
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


# --- checks of options ------------------------------------------------------------------------


def check(verb: str, output: str | None, form: str | None) -> None:
    """Refuse a file or a format that cannot be written, before anything is read."""
    if verb == "report" and form not in (None, "json"):
        raise OptionError(f"--format {form} is not a format of a report", "json")
    if form not in (None, *FORMATS, *_ALSO_CALLED):
        raise OptionError(f"--format {form} is not known", ", ".join(FORMATS))
    if output is None and form is None and verb in WRITTEN:
        raise OptionError("--output is not given", *WRITTEN[verb])
    if output is not None and form is not None:
        hint = "-o report.json" if verb == "report" else "the suffix of the file sets the format"
        raise OptionError("--format is given with --output", "one of them", hint)
    if output is not None and verb not in ("write_ggplot", "report"):  # which check it themselves
        _check_file(output, _PICTURES if verb in DRAWN else (*_SINKS, *_FORM_OF_SUFFIX))
    if verb in DRAWN:
        check_installed("vl_convert", "vl-convert-python", "a picture")


def _check_file(output: str, suffixes: Sequence[str]) -> None:
    check_writable(output)
    if Path(output).suffix.lower() not in suffixes:
        raise FileError(
            f"the suffix of {output!r} does not say how to write it", ", ".join(suffixes)
        )


def check_not_source(output: str | None, sources: Sequence[Path]) -> None:
    """Refuse to write a result over the files it is computed from."""
    if output is not None and Path(output).resolve() in {path.resolve() for path in sources}:
        raise FileError(f"{output!r} is also an input file", "another file to write")


# --- files ------------------------------------------------------------------------------------


def save(result: pl.LazyFrame, output: str) -> None:
    """Write a result, atomically, in the format of the suffix."""
    suffix = Path(output).suffix.lower()
    with atomic_write(output) as (part,), naming(output):
        if suffix in _SINKS:
            _SINKS[suffix](result, part)
        else:
            with part.open("wb") as file:
                file.writelines(_LINES[_FORM_OF_SUFFIX[suffix]](result.collect()))


def save_chart(chart: Any, output: str) -> None:
    """Write a chart, atomically, in the format of the suffix, as a file that needs no network."""
    suffix = Path(output).suffix.lower()
    with atomic_write(output) as (part,):
        chart.save(part, format=suffix.removeprefix("."), inline=suffix == ".html")


@contextmanager
def naming(output: str) -> Iterator[None]:
    """Name the output in errors of writing it, which Polars tells by an errno in the text."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        found = _OS_ERROR.search(str(error))
        if found is None:
            raise
        if int(found[2]) in _WRITE_ERRORS:
            raise FileError(
                f"{output!r} cannot be written: {found[1].strip()}", hint="nothing was changed"
            ) from error
        raise pl.exceptions.ComputeError(str(error)) from error


# --- standard output --------------------------------------------------------------------------


def show(frame: pl.DataFrame, form: str | None, keys: Sequence[str]) -> None:
    """Print a result; by default a table to a terminal, and TSV elsewhere."""
    form = form or ("table" if sys.stdout is not None and sys.stdout.isatty() else "tsv")
    form = _ALSO_CALLED.get(form, form)
    if form == "table":
        show_text(lambda console: _show_table(frame, keys, console))
    else:
        with _standard_output() as out:
            out.writelines(_LINES[form](frame))


def show_text(write: Callable[[Console], None]) -> None:
    """Print text that is formatted for a terminal."""
    from rich.console import Console  # noqa: PLC0415

    # Not to standard output itself: Rich exits with an error when the pipe is closed.
    text = io.StringIO()
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    write(Console(file=text, force_terminal=is_terminal, highlight=False, markup=False))
    with _standard_output() as out:
        out.write(text.getvalue().encode())


def show_file(path: Path) -> None:
    """Print a file of text."""
    with _standard_output() as out:
        out.write(path.read_bytes())


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise FileError("standard output is closed", hint="-o FILE writes a file")
    try:
        yield sys.stdout.buffer
        sys.stdout.flush()
    except OSError as error:
        # Python flushes again at exit, and would report the error a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # as in "| head"
            raise FileError(
                f"standard output cannot be written: {error.strerror}", hint="-o FILE writes a file"
            ) from error


def _csv(frame: pl.DataFrame, separator: str) -> Iterator[bytes]:
    yield frame.clear().write_csv(separator=separator).encode()
    for part in frame.iter_slices(_ROWS_AT_ONCE):
        yield part.write_csv(separator=separator, include_header=False).encode()


def _json(frame: pl.DataFrame) -> Iterator[bytes]:
    between = b"[\n"
    for line in _ndjson(frame):
        yield between + line.rstrip()
        between = b",\n"
    yield b"\n]\n" if frame.height else b"[]\n"


def _ndjson(frame: pl.DataFrame) -> Iterator[bytes]:
    for row in frame.with_columns(cs.temporal().cast(pl.String)).iter_rows(named=True):
        valid = {name: _in_json(value) for name, value in row.items()}
        yield json.dumps(valid, ensure_ascii=False, default=str).encode() + b"\n"


def _in_json(value: Any) -> Any:
    # JSON has no infinity, and null means undefined. The words are those of Protocol Buffers' JSON,
    # https://protobuf.dev/programming-guides/json, which Python, R and DuckDB read as numbers.
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


_LINES: dict[str, Callable[[pl.DataFrame], Iterator[bytes]]] = {
    "csv": partial(_csv, separator=","),
    "tsv": partial(_csv, separator="\t"),
    "json": _json,
    "ndjson": _ndjson,
    "markdown": markdown,
    "html": html,
}
# Other files are written as the rows are computed.
_SINKS: dict[str, Callable[[pl.LazyFrame, Path], object]] = {
    ".parquet": pl.LazyFrame.sink_parquet,
    ".csv": pl.LazyFrame.sink_csv,
    ".tsv": partial(pl.LazyFrame.sink_csv, separator="\t"),
    ".arrow": pl.LazyFrame.sink_ipc,
    ".feather": pl.LazyFrame.sink_ipc,
}
_FORM_OF_SUFFIX = {
    **dict.fromkeys([".ndjson", ".jsonl"], "ndjson"),
    ".json": "json",
    ".md": "markdown",
    ".html": "html",
}
