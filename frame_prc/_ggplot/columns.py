"""Columns for R: legal names, types that R has, and text that it reads back bit for bit."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

NULL = "NA"
AS_NUMBER = "as_number"  # the function of the script that restores numbers

_RESERVED = {
    *("if", "else", "repeat", "while", "function", "for", "in", "next", "break", "T", "F"),
    *("TRUE", "FALSE", "NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_"),
    "NA_complex_",
}
_LARGEST_INTEGER = 2**31 - 1
_LARGEST_EXACT = 2**53  # beyond it, several integers have the same double
_NUL = {0: "\N{SYMBOL FOR NULL}"}  # a string in R cannot hold NUL
# R ends a line at a carriage return, even a quoted one.
_UNREADABLE = {**_NUL, ord("\r"): "\N{SYMBOL FOR CARRIAGE RETURN}"}
_LONGEST_LINE = 96


@dataclass(frozen=True)
class RColumn:
    """A column of the table for R.

    ``values`` have a dtype that R has too, where it is called ``kind``. ``restore`` is the function
    of the script that converts the column from text to that type, with further ``arguments``.
    ``null`` is the text of a null, and differs from the text of every value.
    """

    name: str
    r_name: str
    values: pl.Series
    kind: str
    restore: str
    arguments: tuple[str, ...] = ()
    null: str = NULL

    def texts(self) -> pl.Series:
        """Return the column as text."""
        to_text = _TO_TEXT[self.kind]
        texts = [self.null if value is None else to_text(value) for value in self.values.to_list()]
        return pl.Series(self.r_name, texts, pl.String)


def r_columns(table: pl.DataFrame, keys: Collection[str]) -> list[RColumn]:
    """Return the columns of a table for R."""
    names = r_names(table.columns)
    return [
        # With their names in R: Polars may take the name of a series for a pattern.
        (_measure if column.dtype.is_numeric() and name not in keys else _key)(
            name, column.alias(names[name])
        )
        for name, column in zip(table.columns, table, strict=True)
    ]


def r_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each column in R: ASCII, legal without backticks, and unique."""
    legal = {name: _legal(name) for name in names}
    given = {name: name for name, proposed in legal.items() if name == proposed}
    for name, proposed in legal.items():
        if name not in given:
            given[name] = _unused(proposed, given.values(), ".{}")
    return given


def _legal(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    legal = re.sub(r"[^A-Za-z0-9._]", ".", plain)
    if not legal[:1].isalpha():  # the script uses names that begin with a dot
        legal = f"X{legal}"
    return f"{legal}." if legal in _RESERVED else legal


def _unused(text: str, used: Collection[str], number: str) -> str:
    """Return a text, or its first numbered variant that is not used yet."""
    variant, count = text, 0
    while variant in used:
        count += 1
        variant = text + number.format(count)
    return variant


# --- types -----------------------------------------------------------------------------------


def _measure(name: str, column: pl.Series) -> RColumn:
    """Return a column of numbers; a Float32 keeps its value, which has more digits as a double."""
    values = column if column.dtype.is_integer() else column.cast(pl.Float64)
    return RColumn(name, column.name, values, "numeric", AS_NUMBER)


def _key(name: str, key: pl.Series) -> RColumn:
    """Return a key with its type in R, or as a factor if R has none."""
    dtype, r_name = key.dtype, key.name
    if dtype.is_integer() and _largest(key) <= _LARGEST_INTEGER:
        return RColumn(name, r_name, key.cast(pl.Int32), "integer", "as_integer")
    if dtype.is_float() or (dtype.is_integer() and _largest(key) <= _LARGEST_EXACT):
        return RColumn(name, r_name, key.cast(pl.Float64), "numeric", AS_NUMBER)
    if dtype == pl.Boolean:
        return RColumn(name, r_name, key, "logical", "as_boolean")
    if dtype == pl.Date:
        return RColumn(name, r_name, key, "Date", "as_date")
    if isinstance(dtype, pl.Datetime) and dtype.time_unit != "ns":
        zone = literal(dtype.time_zone or "UTC")
        return RColumn(name, r_name, _instants(key, dtype), "POSIXct", "as_time", (zone,))
    return _factor(name, key)


def _largest(key: pl.Series) -> int:
    return max(map(abs, key.drop_nulls().unique().to_list()), default=0)


def _instants(key: pl.Series, dtype: pl.Datetime) -> pl.Series:
    # In UTC no hour is repeated.
    aware = key if dtype.time_zone else key.dt.replace_time_zone("UTC")
    return aware.cast(pl.Datetime("us", "UTC"))


def _factor(name: str, key: pl.Series) -> RColumn:
    # Sorted in the key's own dtype: an Enum by its categories, a duration by its length.
    levels: dict[str, str] = {}
    for text in _key_texts(key.drop_nulls().unique().sort()):
        levels[_unused(text.translate(_UNREADABLE), levels, " ({})")] = text
    null = NULL
    while null in levels:
        null = f"<{null}>"
    arguments = [f"levels = {vector(levels)}"]
    if any(level != text for level, text in levels.items()):
        arguments += [f"labels = {vector(levels.values())}"]
    if null != NULL:
        arguments += [f"null = {literal(null)}"]
    written = {text: level for level, text in levels.items()}
    values = [None if text is None else written[text] for text in _key_texts(key)]
    column = pl.Series(values, dtype=pl.String)
    return RColumn(name, key.name, column, "factor", "as_factor", tuple(arguments), null)


def _key_texts(key: pl.Series) -> list[Any]:
    """Return values as text, and None for nulls."""
    if key.dtype.is_temporal():  # Python's types have no nanoseconds
        return key.dt.to_string("iso").to_list()
    return [None if value is None else str(value) for value in key.to_list()]


# --- R code ----------------------------------------------------------------------------------


def literal(text: str) -> str:
    """Return a text as an R string, in ASCII so that it is the same in every locale."""
    return '"' + "".join(map(_escaped, text.translate(_NUL))) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "~":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def vector(texts: Iterable[str]) -> str:
    """Return texts as an R character vector, on one or more lines."""
    return wrapped(map(literal, texts)) or "character()"


def wrapped(items: Iterable[str]) -> str:
    """Return a call of ``c`` with these items, or an empty text without items."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > _LONGEST_LINE:
            lines.append("")
        lines[-1] += f"{item}, "
    text = "\n    ".join(line.rstrip() for line in lines).rstrip(",")
    if len(lines) > 1:
        return f"c(\n    {text}\n  )"
    return f"c({text})" if text else ""


# --- texts -----------------------------------------------------------------------------------


def _number(value: float) -> str:
    """Return a number with 17 digits.

    The shortest text that identifies a double may lie close to the midpoint between two doubles,
    where R's 64-bit conversion sometimes rounds to the wrong one.
    """
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else format(value, ".17g")


_TO_TEXT: dict[str, Callable[[Any], str]] = {
    "numeric": _number,
    "integer": str,
    "logical": lambda value: str(value).upper(),
    "Date": lambda value: value.isoformat(),
    "POSIXct": lambda value: value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z",
    "factor": lambda value: '"' + value.replace('"', '""') + '"',
}
