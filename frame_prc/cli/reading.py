"""Reading the files: what is checked before anything is computed, and the errors that name them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import polars as pl

from frame_prc._lazy import named
from frame_prc.cli.files import NAMES, TEXT, Source, named_files
from frame_prc.exceptions import ColumnError, DataError, FileError, OptionError, PrcError, nearest

Result = TypeVar("Result")

_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BYTES_TO_CHECK, _HEADER_BYTES = 1 << 10, 1 << 16
_POLARS_HINT = re.compile(r",? (?:hint:|Hint:|consider )")
_DECIMAL_COMMA = re.compile(r"\s*-?[\d.]*,\d+\s*")
_FEW_WORDS = 3
_VALUES_TO_CHECK = 1000
_KIND_HINT = "--input-format sets the format, if the suffix is wrong"
_THRESHOLD = "threshold"
_CURVE_FOR_R = {_THRESHOLD, "tp", "fp", "average_precision"}


@contextmanager
def opened(
    patterns: Sequence[str],
    kind: str | None = None,
    separator: str | None = None,
    text: Sequence[str] = (),
    **csv: Any,
) -> Iterator[Source]:
    """Yield the source that paths and globs name, once all files are checked.

    ``text`` are columns of CSV files that are read as they stand.
    """
    with named_files(patterns, kind, separator, csv) as given:
        for file in given.files():
            _check_bytes(file)
        known = _known_dtypes(given, text) if given.is_delimited else {}
        source = _without_empty_files(replace(given, dtypes=known))
        for part in (*source.files(), source):
            with reading(part):
                part.rows.collect_schema()
        if source.is_delimited:
            with reading(source):
                _check_columns(source, text)
        yield source


def read_by(work: Callable[[Source], Result], source: Source) -> Result:
    """Return the result of work on the rows.

    Where a value further down contradicts an inferred dtype, it starts again with the dtypes of all
    rows.
    """
    try:
        with reading(source):
            return work(source)
    except DataError as error:
        is_inferred = source.is_delimited and isinstance(
            error.__cause__, pl.exceptions.ComputeError
        )
        if not is_inferred:
            raise
        again = replace(source, csv={**source.csv, "infer_schema_length": None})
        try:
            with reading(again):
                return work(again)
        except PrcError:
            raise error from error.__cause__


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Name the source in errors of reading it."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, PrcError):
            raise
        first = str(error).strip().partition("\n")[0]
        reason = _POLARS_HINT.split(first)[0].rstrip(".")
        raise DataError(
            f"{source} cannot be read as {NAMES[source.kind]}: {reason}",
            hint=_reading_hint(source, reason),
        ) from error


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


# --- checks ------------------------------------------------------------------------------------


def _check_bytes(file: Source) -> None:
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


def _known_dtypes(source: Source, text: Sequence[str]) -> dict[str, pl.DataType]:
    """Return the dtypes of columns of CSV files that need not be inferred."""
    with source.paths[0].open("rb") as file:
        header = file.readline(_HEADER_BYTES).decode("utf-8", "replace").strip()
    is_for_r = {*header.split(source.csv["separator"])} >= _CURVE_FOR_R
    # write_ggplot writes Inf and NA, from which Polars would infer text.
    numbers = {_THRESHOLD: pl.Float64()} if is_for_r and not source.csv.get("null_values") else {}
    return {**numbers, **dict.fromkeys(text, pl.String())}


def _without_empty_files(source: Source) -> Source:
    """Return a source without CSV files that are only a header, which have no dtypes."""
    if not source.is_delimited or len(source.paths) == 1:
        return source
    with reading(source):
        filled = [file.paths[0] for file in source.files() if not _has_no_rows(file)]
    return replace(source, paths=filled or source.paths)


def _has_no_rows(source: Source) -> bool:
    """Return whether there are no rows; a file that cannot be read has some."""
    try:
        return source.rows.head(1).collect().is_empty()
    except pl.exceptions.ComputeError:  # Polars reads ahead; the command reports the error
        return False


def _check_columns(source: Source, text: Sequence[str]) -> None:
    """Refuse CSV files without rows, or with another separator than the one they are read with."""
    names = source.schema.names()
    for name in text:
        if name not in names:
            raise ColumnError(f"text={name!r} is no column of {source}", hint=nearest(name, names))
    found = [mark for mark in ";\t|," if mark in names[0]]
    if found and not names[1:]:
        raise OptionError(
            f"{source} has a single column, named {names[0]!r}",
            "several columns",
            f"--separator {'tab' if found[0].isspace() else repr(found[0])}",
        )
    if _has_no_rows(source):
        raise DataError(f"{source} has a header and no rows", "a file that holds rows")


def check_numbers(source: Source, parameters: Mapping[str, object]) -> None:
    """Refuse a column of CSV files that should be numeric and is text, and show what it holds."""
    if not source.is_delimited:
        return
    for role in ("score", "weight", "pos", "neg"):
        for name in listed(parameters.get(role)):
            if source.schema.get(name) == pl.String:
                with reading(source):
                    raise _not_numeric(role, name, source)


def listed(value: Any) -> list[Any]:
    """Return the columns of a role: none, one, several, or those of named models."""
    if isinstance(value, dict):
        return [*value.values()]
    return value if isinstance(value, list) else [] if value is None else [value]


def _not_numeric(role: str, name: str, source: Source) -> ColumnError:
    column = named(name)
    is_number = column.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    words = column.filter(~is_number & column.is_not_null()).unique().head(_VALUES_TO_CHECK)
    found = sorted(source.rows.select(words).collect().to_series().to_list())
    has_numbers: bool = source.rows.select(is_number.any()).collect().item()
    shown = ", ".join(map(repr, found[:3])) + (" and others" if found[3:] else "")
    return ColumnError(
        f"{role}= column {name!r} holds text: {shown or 'numbers that were read as text'}",
        "numbers",
        _text_hint(name, found, source, has_numbers=has_numbers),
    )


def _text_hint(name: str, found: Sequence[str], source: Source, *, has_numbers: bool) -> str:
    if not found and name in (source.dtypes or ()):
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


def first_value(source: Source, name: str, where: pl.Expr) -> Any:
    """Return the first value of a column where a condition holds, or None if there is none."""
    found = source.rows.filter(where).select(named(name)).head(1).collect(engine="streaming")
    return found.item() if found.height else None
