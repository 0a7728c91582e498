"""The rows of the files on the command line, checked before anything is computed."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import polars as pl

from frame_prc.cli.files import KINDS, find_files, kind_of
from frame_prc.cli.reading import GZIP, check_bytes, check_columns, has_no_rows, reading
from frame_prc.cli.source import Dialect, Source
from frame_prc.exceptions import DataError, FileError, OptionError, PrcError

STDIN = "-"
Result = TypeVar("Result")

_SEPARATORS = {"tab": "\t", "\\t": "\t"}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_THRESHOLD = "threshold"
_HEADER_BYTES = 1 << 16


@contextmanager
def opened(
    patterns: Sequence[str], kind: str | None, dialect: Dialect
) -> Iterator[tuple[Source, pl.LazyFrame]]:
    """Yield the source that paths and globs name, and its rows, once all files are checked."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"input_format={kind!r} is not known", ", ".join(KINDS))
    dialect = replace(dialect, separator=_separator(dialect.separator))
    with TemporaryDirectory(prefix="frame-prc-") as folder:
        if STDIN in patterns:
            source = _from_stdin(patterns, kind, dialect, Path(folder))
        else:
            paths = find_files(patterns)
            source = Source(paths, kind or kind_of(paths), dialect)
        for file in source.files():
            check_bytes(file)
        source = _without_empty_files(replace(source, schema=_known_dtypes(source)))
        yield source, _checked_rows(source)


def _separator(given: str | None) -> str | None:
    separator = None if given is None else _SEPARATORS.get(given, given)
    if separator is not None and len(separator.encode()) != 1:
        raise OptionError(f"separator={given!r} is not a separator", "one character, or 'tab'")
    return separator


def _from_stdin(
    patterns: Sequence[str], kind: str | None, dialect: Dialect, folder: Path
) -> Source:
    if len(patterns) > 1:
        raise OptionError("'-' is given beside files", "standard input, or files")
    if sys.stdin is None or sys.stdin.isatty():
        state = "closed" if sys.stdin is None else "a terminal"
        raise FileError(f"standard input is {state}", hint="pipe a file in, or name one")
    path = folder / "standard input"
    # As a file it can be read in parts, and from its end, as Parquet must be.
    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
    return Source([path], kind or _guessed_kind(path), dialect, name="standard input")


def _guessed_kind(path: Path) -> str:
    """Return the kind of a file by its first bytes."""
    with path.open("rb") as file:
        start = file.read(len(GZIP))
    with gzip.open(path) if start == GZIP else path.open("rb") as file:
        line = file.readline(_HEADER_BYTES)
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    for magic, kind in _MAGIC.items():
        if line.startswith(magic):
            return kind
    return "tsv" if b"\t" in line else "csv"


def _known_dtypes(source: Source) -> dict[str, pl.DataType]:
    """Return the dtypes of columns of CSV files that need not be inferred."""
    if not source.is_delimited:
        return {}
    text: dict[str, pl.DataType] = dict.fromkeys(source.dialect.text, pl.String())
    if source.dialect.null_values or not _is_curve_for_r(source):
        return text
    # write_ggplot writes Inf and NA, from which Polars would infer text.
    return {_THRESHOLD: pl.Float64(), **text}


def _is_curve_for_r(source: Source) -> bool:
    with source.paths[0].open("rb") as file:
        names = file.readline(_HEADER_BYTES).decode("utf-8", "replace").strip()
    return {_THRESHOLD, "tp", "fp", "average_precision"} <= set(names.split(source.separator))


def _without_empty_files(source: Source) -> Source:
    """Return a source without CSV files that are only a header, which have no dtypes."""
    if not source.is_delimited or len(source.paths) == 1:
        return source
    with reading(source):
        filled = [file.paths[0] for file in source.files() if not has_no_rows(file.scan())]
    return replace(source, paths=filled or source.paths)


def _checked_rows(source: Source) -> pl.LazyFrame:
    for file in source.files():
        with reading(file):
            file.scan().collect_schema()
    with reading(source):
        check_columns(source)
    return source.scan()


def read_by(
    work: Callable[[Source, pl.LazyFrame], Result], source: Source, rows: pl.LazyFrame
) -> Result:
    """Return the result of work on the rows.

    Where a value further down contradicts an inferred dtype, it starts again with the dtypes of all
    rows.
    """
    try:
        with reading(source):
            return work(source, rows)
    except DataError as error:
        again = source.with_dtypes_of_all_rows()
        if again is None or not isinstance(error.__cause__, pl.exceptions.ComputeError):
            raise
        try:
            with reading(again):
                return work(again, again.scan())
        except PrcError:
            raise error from error.__cause__
