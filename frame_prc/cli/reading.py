"""Errors of files that cannot be read, or that hold something else than was expected."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl

from frame_prc._lazy import named
from frame_prc.cli.files import NAMES
from frame_prc.cli.source import TEXT, Dialect, Source
from frame_prc.exceptions import ColumnError, DataError, FileError, OptionError, PrcError, nearest

GZIP = b"\x1f\x8b"
_COMPRESSED = (GZIP, b"\x28\xb5\x2f\xfd", b"\x78")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BYTES_TO_CHECK = 1 << 10
_POLARS_HINT = re.compile(r",? (?:hint:|Hint:|consider )")
_DECIMAL_COMMA = re.compile(r"\s*-?[\d.]*,\d+\s*")
_FEW_WORDS = 3
_VALUES_TO_CHECK = 1000
_KIND_HINT = "--input-format sets the format, if the suffix is wrong"


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Name the source in errors of reading it."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, PrcError):
            raise
        raise _unreadable(source, error) from error


def _unreadable(source: Source, error: Exception) -> DataError:
    first = str(error).strip().partition("\n")[0]
    reason = _POLARS_HINT.split(first)[0].rstrip(".")
    return DataError(
        f"{source} cannot be read as {NAMES[source.kind]}: {reason}",
        hint=_reading_hint(source, reason),
    )


def _reading_hint(source: Source, reason: str) -> str:
    if source.paths[1:]:  # each of them can be read on its own
        return "all files need the same columns, with the same dtypes"
    if not source.is_delimited:
        return _KIND_HINT
    if "utf-8" in reason.lower():
        return "iconv -f latin1 -t utf8 FILE | frame-prc ... - reads it if it is Latin-1"
    if found := re.search("could not parse `(.*?)`", reason):
        return (
            f"--null-value {shlex.quote(found[1])} if that stands for a missing value, --separator "
            "if it is several values"
        )
    return "--separator says what separates the columns"


def check_bytes(file: Source) -> None:
    """Refuse a file that cannot be opened, is empty, or is not text where text is expected."""
    [path] = file.paths
    try:
        with path.open("rb") as opened:
            start = opened.read(_BYTES_TO_CHECK)
    except OSError as error:
        raise FileError(
            f"{file} cannot be read: {error.strerror or error}", hint="ls -l shows who may read it"
        ) from error
    if not start:
        raise DataError(f"{file} is empty", "a file that holds rows", "was it written completely?")
    if file.kind in TEXT and start.startswith(_UTF_16):
        hint = "iconv -f utf16 -t utf8 FILE | frame-prc ... - reads it"
        raise DataError(f"{file} is text in UTF-16", "UTF-8", hint)
    if file.kind in TEXT and b"\0" in start and not start.startswith(_COMPRESSED):
        raise DataError(f"{file} is not text, as {NAMES[file.kind]} is", hint=_KIND_HINT)


def check_columns(source: Source) -> None:
    """Refuse CSV files without rows, or with another separator than the one they are read with."""
    lf = source.scan()
    names = lf.collect_schema().names()
    if not source.is_delimited:
        return
    for name in source.dialect.text:
        if name not in names:
            raise ColumnError(f"text={name!r} is no column of {source}", hint=nearest(name, names))
    if len(names) == 1:
        _check_separator(source, names[0])
    if has_no_rows(lf):
        raise DataError(f"{source} has a header and no rows", "a file that holds rows")


def _check_separator(source: Source, name: str) -> None:
    for separator in (";", "\t", "|", ","):
        if separator in name:
            shown = "tab" if separator == "\t" else f"'{separator}'"
            raise OptionError(
                f"{source} has a single column, named {name!r}",
                "several columns",
                f"--separator {shown}",
            )


def has_no_rows(lf: pl.LazyFrame) -> bool:
    """Return whether a frame is empty; one that cannot be read is not."""
    try:
        return lf.head(1).collect().is_empty()
    except pl.exceptions.ComputeError:  # Polars reads ahead; the command reports the error
        return False


def check_numbers(source: Source, lf: pl.LazyFrame, parameters: Mapping[str, object]) -> None:
    """Refuse a column of CSV files that should be numeric and is text, and show what it holds."""
    if not source.is_delimited:
        return
    schema = lf.collect_schema()
    for role in ("score", "weight", "pos", "neg"):
        for name in _names(parameters.get(role)):
            if schema.get(name) == pl.String:
                with reading(source):
                    raise _not_numeric(role, name, lf, source.dialect)


def first_value(lf: pl.LazyFrame, name: str, where: pl.Expr) -> Any:
    """Return the first value of a column where a condition holds, or None if there is none."""
    found = lf.filter(where).select(named(name)).head(1).collect(engine="streaming")
    return found.item() if found.height else None


def _names(columns: object) -> list[str]:
    if isinstance(columns, Mapping):
        return list(map(str, columns.values()))
    if isinstance(columns, list):
        return columns
    return [columns] if isinstance(columns, str) else []


def _not_numeric(role: str, name: str, lf: pl.LazyFrame, dialect: Dialect) -> ColumnError:
    column = named(name)
    is_number = column.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    words = column.filter(~is_number & column.is_not_null()).unique().head(_VALUES_TO_CHECK)
    found = sorted(lf.select(words).collect().to_series().to_list())
    has_numbers: bool = lf.select(is_number.any()).collect().item()
    shown = ", ".join(map(repr, found[:3])) + (" and others" if found[3:] else "")
    return ColumnError(
        f"{role}= column {name!r} holds text: {shown or 'numbers that were read as text'}",
        "numbers",
        _text_hint(name, found, dialect, has_numbers=has_numbers),
    )


def _text_hint(name: str, found: Sequence[str], dialect: Dialect, *, has_numbers: bool) -> str:
    if not found and name in dialect.text:
        return "--text reads numbers as text"
    if not found:
        return "--decimal-comma expects 0,93, not 0.93"
    if all(map(_DECIMAL_COMMA.fullmatch, found)):
        return "--decimal-comma reads 0,93 as a number"
    if all(text.rstrip().endswith("%") for text in found):
        return "tr -d % removes the percent signs"
    if len(found) <= _FEW_WORDS and has_numbers:
        words = " ".join(f"--null-value {shlex.quote(text)}" for text in found)
        return f"{words} if that stands for a missing value"
    return "is this the right column?"
