"""The R script: code that reads the table with its types, followed by code that draws it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from frame_prc._ggplot.columns import AS_NUMBER, NULL, RColumn, literal, vector, wrapped
from frame_prc._request.specs import MODEL, PictureForR

SEPARATORS = {".tsv": "\t", ".csv": ","}


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

_READ_ARROW = "read_rows <- function(path) arrow::{function}(path)"


def script_text(
    kind: PictureForR,
    table: Path,
    columns: list[RColumn],
    keys: list[str],
    title: str | None,
    level: float | None,
    cluster: str | None,
) -> str:
    """Return the script that draws a table, in ASCII."""
    suffix = table.suffix.lower()
    of_keys = [column for column in columns if column.name in keys]
    models = [literal(column.r_name) for column in of_keys if column.name == MODEL]
    picture = PICTURES[kind]
    head = _HEAD.format(
        draws=picture.draws,
        rows=picture.rows,
        script=literal(table.with_suffix(".R").name),
        table=literal(table.name),
        picture=literal(table.with_suffix(".png").name),
        packages="ggplot2" if suffix in SEPARATORS else "ggplot2 and arrow",
        columns="\n".join(map(_described, columns)),
        notes=_notes(columns, suffix),
        title=literal(picture.title if title is None else title),
        keys=vector(column.r_name for column in of_keys),
        key_titles=wrapped(f"{c.r_name} = {literal(c.name)}" for c in of_keys) or "character()",
        model="".join(models) or "NULL",
        level="NULL" if level is None else level,
        cluster="NULL" if cluster is None else literal(cluster),
        reader=_reader(suffix),
        restore=_restore(columns),
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


def _reader(suffix: str) -> str:
    if suffix in SEPARATORS:
        return _READ_TEXT.format(separator=_separator(suffix))
    function = "read_parquet" if suffix == ".parquet" else "read_feather"
    return _READ_ARROW.format(function=function)


def _separator(suffix: str) -> str:
    return {"\t": r'"\t"', ",": '","'}[SEPARATORS[suffix]]


def _restore(columns: list[RColumn]) -> str:
    numbers = [column.r_name for column in columns if column.restore == AS_NUMBER]
    code = [f"numbers <- {vector(numbers)}"]
    code += [f"rows[numbers] <- lapply(rows[numbers], {AS_NUMBER})"]
    for column in columns:
        if column.restore != AS_NUMBER:
            arguments = ", ".join([f"rows${column.r_name}", *column.arguments])
            code += [f"rows${column.r_name} <- {column.restore}({arguments})"]
    return "\n".join(f"  {line}" for line in code)
