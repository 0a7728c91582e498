"""Pictures for R: a table that R reads bit for bit, and a script that draws it."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import polars as pl
import polars.selectors as cs

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._files import atomic_write, check_writable, path_of
from frame_prc._lazy import left_join
from frame_prc._request.specs import MODEL, PictureForR
from frame_prc.exceptions import ColumnError, FileError

SEPARATORS = {".tsv": "\t", ".csv": ","}
_ARROW_READERS = {".parquet": "parquet", ".arrow": "feather", ".feather": "feather"}
_SUFFIXES = (*SEPARATORS, *_ARROW_READERS)
_AREA = (AVERAGE_PRECISION, "ci_low", "ci_high")


def table_path(path: Any) -> Path:
    example = "write_ggplot('curves.tsv', 'truth', 'score')"
    table = path_of(path, _SUFFIXES, ", ".join(_SUFFIXES), example)
    script = table.with_suffix(".R")
    for file in (table, script):
        check_writable(file)
    _check_replaceable(script)
    return table


def _check_replaceable(script: Path) -> None:
    if not script.is_file() or is_as_written(content := script.read_bytes()):
        return
    hint = "choose another name for the table: the script has the same name, with .R"
    if is_ours(content):
        found = "was edited after it was written"
        hint += f"; Rscript {shlex.quote(script.name)} TABLE draws any table with your script"
    else:
        found = "exists and was not written by frame_prc"
    allowed = "a new file, or a script as frame_prc wrote it"
    raise FileError(f"{os.fspath(script)!r} {found}", allowed, hint)


def write(
    kind: PictureForR,
    frame: pl.DataFrame,
    keys: list[str],
    table: Path,
    title: str | None,
    level: float | None,
    cluster: str | None,
) -> tuple[Path, Path]:
    columns = r_columns(frame, keys)
    script = table.with_suffix(".R")
    picture = PICTURES[kind]
    said = {
        "title": literal(picture.title if title is None else title),
        "level": "NULL" if level is None else str(level),
        "cluster": "NULL" if cluster is None else literal(cluster),
    }
    text = script_text(picture, table, columns, keys, said)
    with atomic_write(table, script) as (table_part, script_part):
        _write_table(columns, table_part)
        script_part.write_text(text, encoding="ascii", newline="\n")
    return table, script


def check_keys(keys: list[str]) -> None:
    for name in keys:
        if name in _AREA:
            raise ColumnError(
                f"key {name!r} of the curve has the name of a column that is added to it",
                f"names other than {', '.join(map(repr, _AREA))}",
                "rename it",
            )


def with_areas(points: pl.DataFrame, areas: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    measures = [name for name in _AREA if name in areas.columns and name not in points.columns]
    found = areas.select(cs.by_name(*keys, *measures))
    return left_join(points, found, keys)


def _write_table(columns: list[RColumn], path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in SEPARATORS:
        texts = pl.DataFrame([column.texts() for column in columns])
        texts.write_csv(path, separator=SEPARATORS[suffix], quote_style="never")
        return
    values = pl.DataFrame({column.r_name: column.values for column in columns})
    if suffix == ".parquet":
        values.write_parquet(path)
    else:
        # The arrow package of R has no string views.
        values.write_ipc(path, compat_level=pl.CompatLevel.oldest())


# --- columns: legal names, types that R has, and text ------------------------------------------

NULL = "NA"

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

    ``values`` have its name in R and a dtype that R has too, where it is called ``kind``.
    ``arguments`` are those of the function of the script that converts text to that type. ``null``
    is the text of a null, and differs from the text of every value.
    """

    name: str
    values: pl.Series
    kind: str
    arguments: tuple[str, ...] = ()
    null: str = NULL

    @property
    def r_name(self) -> str:
        return self.values.name

    def texts(self) -> pl.Series:
        _, to_text = _TYPES[self.kind]
        texts = [self.null if value is None else to_text(value) for value in self.values.to_list()]
        return pl.Series(self.r_name, texts, pl.String)


def r_columns(table: pl.DataFrame, keys: Collection[str]) -> list[RColumn]:
    names = r_names(table.columns)
    return [
        # With their names in R: Polars may take the name of a series for a pattern.
        (_measure if column.dtype.is_numeric() and name not in keys else _key)(
            name, column.alias(names[name])
        )
        for name, column in zip(table.columns, table, strict=True)
    ]


def r_names(names: Iterable[str]) -> dict[str, str]:
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
    return RColumn(name, values, _NUMBER)


def _key(name: str, key: pl.Series) -> RColumn:
    """Return a key with its type in R, or as a factor if R has none."""
    dtype = key.dtype
    if dtype.is_integer() and _largest(key) <= _LARGEST_INTEGER:
        return RColumn(name, key.cast(pl.Int32), "integer")
    if dtype.is_float() or (dtype.is_integer() and _largest(key) <= _LARGEST_EXACT):
        return RColumn(name, key.cast(pl.Float64), _NUMBER)
    if dtype == pl.Boolean:
        return RColumn(name, key, "logical")
    if dtype == pl.Date:
        return RColumn(name, key, "Date")
    if isinstance(dtype, pl.Datetime) and dtype.time_unit != "ns":
        # In UTC no hour is repeated.
        aware = key if dtype.time_zone else key.dt.replace_time_zone("UTC")
        zone = literal(dtype.time_zone or "UTC")
        return RColumn(name, aware.cast(pl.Datetime("us", "UTC")), "POSIXct", (zone,))
    return _factor(name, key)


def _largest(key: pl.Series) -> int:
    return max(map(abs, key.drop_nulls().unique().to_list()), default=0)


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
    column = pl.Series(key.name, values, pl.String)
    return RColumn(name, column, "factor", tuple(arguments), null)


def _key_texts(key: pl.Series) -> list[Any]:
    if key.dtype.is_temporal():  # Python's types have no nanoseconds
        return key.dt.to_string("iso").to_list()
    return [None if value is None else str(value) for value in key.to_list()]


# --- R code ----------------------------------------------------------------------------------


def literal(text: str) -> str:
    return '"' + "".join(map(_escaped, text.translate(_NUL))) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if " " <= character <= "~":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def vector(texts: Iterable[str]) -> str:
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


def _number_text(value: float) -> str:
    """Return a number with 17 digits.

    The shortest text that identifies a double may lie close to the midpoint between two doubles,
    where R's 64-bit conversion sometimes rounds to the wrong one.
    """
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return "NaN" if math.isnan(value) else format(value, ".17g")


# The function of the script that restores a type of R, and how its values are written.
_NUMBER = "numeric"
_TYPES: dict[str, tuple[str, Callable[[Any], str]]] = {
    _NUMBER: ("as_number", _number_text),
    "integer": ("as_integer", str),
    "logical": ("as_boolean", lambda value: str(value).upper()),
    "Date": ("as_date", lambda value: value.isoformat()),
    "POSIXct": (
        "as_time",
        lambda value: value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z",
    ),
    "factor": ("as_factor", lambda value: '"' + value.replace('"', '""') + '"'),
}


# --- the script --------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A kind of picture: its parts of code, what they draw, what the table has, and its title."""

    code: tuple[str, ...]
    draws: str
    rows: str
    title: str


_OF_CURVES = """\
a row per segment and threshold. The rows of a segment are in order of descending
# threshold, so of ascending recall. Rows that score at least the threshold are predicted positive.
# The first row of a segment may have the threshold Inf, where tp and fp are 0."""
_OF_BINS = "a row per segment, model and bin of the scores."
_INTERVALS = ("panels", "intervals")

PICTURES: dict[PictureForR, Picture] = {
    "curve": Picture(
        ("curves",),
        "precision-recall curves: a panel per segment, a colour per model",
        _OF_CURVES,
        "Precision and recall",
    ),
    "summary": Picture(
        _INTERVALS,
        "average precisions with their intervals",
        "a row per segment and model.",
        "Average precision",
    ),
    "comparison": Picture(
        _INTERVALS,
        "differences with their intervals",
        "a row per segment and pair that is compared.",
        "Differences",
    ),
    "reliability": Picture(
        ("panels", "reliability"),
        "the share of positives over the mean score",
        _OF_BINS,
        "Share of positives among rows of like scores",
    ),
    "scores": Picture(
        ("panels", "scores"),
        "how the scores of either class are spread",
        _OF_BINS,
        "Scores of either class",
    ),
    "thresholds": Picture(
        ("panels", "thresholds"),
        "precision and recall by number of alerts",
        "a row per segment, model and threshold.",
        "Precision and recall by number of alerts",
    ),
}
_HEAD = """\
# Draw {draws}.
#
#   Rscript {script} [TABLE [PICTURE]]
#
# Without arguments, it reads the table {table} from the folder of this script and saves
# the picture {picture} there. It needs R 4.0 or newer with {packages}.
#
# The table has {rows} Columns and types:
#
{columns}
#
{notes}

library(ggplot2)

title <- {title}
table_file <- {table}
picture_file <- {picture}

# The columns that identify a segment, their titles in the picture, and the one shown by colour.
keys <- {keys}
key_titles <- {key_titles}
model <- {model}
level <- {level} # the confidence level of the intervals
cluster <- {cluster} # rows with the same value are not independent

{reader}

# Convert the columns to their types, whichever package read them.
restore <- function(rows) {{
  rows <- as.data.frame(rows)
{restore}
  rows
}}

"""

# What the last line says of the lines above it.
_LAST_LINE = "# frame_prc replaces this file only while it is as written: checksum {:08x}.\n"

_TEXT_NOTES = """\
# Missing values are {nulls}, infinity is Inf. Text is in double quotes; quotes in it are doubled.
#
# Numbers have 17 digits. R's read.table() and data.table's fread() read them bit for bit; readr
# reads one in three as a neighbouring double (a relative error of 2e-16), and loses numbers below
# 1e-290. So the table is read as text, and R converts it to numbers in restore()."""

_ARROW_NOTES = "# Missing values are null. The package arrow reads numbers bit for bit."

_READ_TEXT = """\
read_rows <- function(path) {{
  read.table(
    path, sep = {separator}, header = TRUE, quote = "\\"", comment.char = "",
    colClasses = "character", na.strings = character(), check.names = FALSE, encoding = "UTF-8"
  )
}}"""

_READ_ARROW = "read_rows <- function(path) arrow::read_{format}(path)"


def script_text(
    picture: Picture, table: Path, columns: list[RColumn], keys: list[str], said: dict[str, str]
) -> str:
    suffix = table.suffix.lower()
    of_keys = [column for column in columns if column.name in keys]
    models = [literal(column.r_name) for column in of_keys if column.name == MODEL]
    if suffix in SEPARATORS:
        packages, reader = "ggplot2", _READ_TEXT.format(separator=json.dumps(SEPARATORS[suffix]))
    else:
        packages, reader = "ggplot2 and arrow", _READ_ARROW.format(format=_ARROW_READERS[suffix])
    head = _HEAD.format(
        draws=picture.draws,
        rows=picture.rows,
        script=literal(table.with_suffix(".R").name),
        table=literal(table.name),
        picture=literal(table.with_suffix(".png").name),
        packages=packages,
        columns="\n".join(map(_described, columns)),
        notes=_notes(columns, suffix),
        keys=vector(column.r_name for column in of_keys),
        key_titles=wrapped(f"{c.r_name} = {literal(c.name)}" for c in of_keys) or "character()",
        model="".join(models) or "NULL",
        reader=reader,
        restore=_restore(columns),
        **said,
    )
    parts = ("common", *picture.code, "files")
    code = [Path(__file__).with_name(f"{part}.R").read_text(encoding="ascii") for part in parts]
    text = "".join([head, *code])
    return text + _LAST_LINE.format(crc32(text.encode("ascii")))


def is_ours(script: bytes) -> bool:
    """Return whether a script was written here, edited or not."""
    return script.startswith(tuple(f"# Draw {one.draws}.".encode() for one in PICTURES.values()))


def is_as_written(script: bytes) -> bool:
    """Return whether nobody has edited the script since it was written."""
    *text, last = script.replace(b"\r\n", b"\n").splitlines(keepends=True) or [b""]
    return last == _LAST_LINE.format(crc32(b"".join(text))).encode("ascii")


def _described(column: RColumn) -> str:
    renamed = "" if column.name == column.r_name else f", {literal(column.name)} in the frame"
    return f"#   {column.r_name}: {column.kind}{renamed}"


def _notes(columns: list[RColumn], suffix: str) -> str:
    if suffix not in SEPARATORS:
        return _ARROW_NOTES
    others = [f", {c.null} in {c.r_name}" for c in columns if c.null != NULL]
    return _TEXT_NOTES.format(nulls=NULL + "".join(others))


def _restore(columns: list[RColumn]) -> str:
    numbers = [column.r_name for column in columns if column.kind == _NUMBER]
    restore, _ = _TYPES[_NUMBER]
    code = [f"numbers <- {vector(numbers)}", f"rows[numbers] <- lapply(rows[numbers], {restore})"]
    for column in columns:
        if column.kind != _NUMBER:
            restore, _ = _TYPES[column.kind]
            arguments = ", ".join([f"rows${column.r_name}", *column.arguments])
            code += [f"rows${column.r_name} <- {restore}({arguments})"]
    return "\n".join(f"  {line}" for line in code)
