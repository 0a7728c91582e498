"""Results written to a file, or to standard output as a table or for other programs."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl
import polars.selectors as cs

from frame_prc._files import atomic_write, check_writable
from frame_prc._request.packages import check_installed
from frame_prc.cli import tables
from frame_prc.exceptions import FileError, OptionError

if TYPE_CHECKING:
    from rich.console import Console

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
    """Refuse a file that cannot be written, or whose suffix is not one of these."""
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
    """Name the output in errors of writing it, and leave errors of reading to the caller.

    Polars reads and writes in one step, and its errors have the errno only in their text.
    """
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
        show_text(lambda console: tables.show(frame, keys, console))
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
    "markdown": tables.markdown,
    "html": tables.html,
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
