"""Files of rows as one lazy frame; what cannot be read is said before anything is computed."""

from __future__ import annotations

import glob
import gzip
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import polars as pl

from frame_prc._lazy import named
from frame_prc.exceptions import ColumnError, DataError, FileError, OptionError, PrcError, nearest

STDIN = "-"
Result = TypeVar("Result")

PART = 10_000_000  # rows that are counted at once
SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
KINDS = tuple(dict.fromkeys(SUFFIXES.values()))
_NAMES = {"parquet": "Parquet", "csv": "CSV", "tsv": "TSV", "arrow": "Arrow", "ndjson": "NDJSON"}
_DELIMITED = ("csv", "tsv")
_TEXT = (*_DELIMITED, "ndjson")
_COMPRESSED = (".gz", ".zst", ".zlib")
_GZIP = b"\x1f\x8b"
_COMPRESSED_BEGIN = (_GZIP, b"\x28\xb5\x2f\xfd", b"\x78")
_BEGIN = 1 << 10  # bytes
_ADVICE_OF_KIND = "--input-format says what it is, if its name does not"
_NEAR = 0.8  # names of files have much in common as they are
_POLARS_HINT = re.compile(r",? (?:hint:|Hint:|consider )")
_SEPARATORS = {"tab": "\t", "\\t": "\t"}
_LOOK_AT = 10_000  # rows, to tell the dtypes of text files
_FEW_WORDS = 3
_THRESHOLD = "threshold"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "arrow"}


@dataclass(frozen=True)
class Dialect:
    """How text files are written; ``separator`` is None where the kind of file says it."""

    separator: str | None = None
    decimal_comma: bool = False
    null_values: Sequence[str] = ()
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """Files of one kind, in order, or some of the rows of one."""

    paths: list[Path]
    kind: str
    dialect: Dialect = field(default_factory=Dialect)
    name: str = ""
    schema: Mapping[str, pl.DataType] = field(default_factory=dict)
    rows: tuple[int, int] | None = None
    look_at: int | None = _LOOK_AT

    def __str__(self) -> str:
        if self.name:
            return self.name
        names = ", ".join(repr(str(path)) for path in self.paths[:3])
        more = f" and {len(self.paths) - 3} more" if self.paths[3:] else ""
        return names + more + (f" from row {self.rows[0] + 1:,}" if self.rows else "")

    def scan(self) -> pl.LazyFrame:
        """Return the rows; nothing is read."""
        lf = _SCANS[self.kind](self)
        return lf.slice(*self.rows) if self.rows else lf

    def looked_through(self) -> Source | None:
        """Return the same, its dtypes told from all rows, if they were told from the first ones."""
        is_told = self.kind in _DELIMITED and self.look_at is not None
        return replace(self, look_at=None) if is_told else None

    def separator(self) -> str:
        """Return what stands between the columns of text."""
        return self.dialect.separator or ("\t" if self.kind == "tsv" else ",")

    def files(self) -> list[Source]:
        """Return a source for each file."""
        return [replace(self, paths=[path]) for path in self.paths]

    def parts(self) -> list[Source]:
        """Return a source for each file, and for each so many rows of one that has more.

        Text is read as the schema of all files says.
        """
        schema = self.scan().collect_schema()
        files = [replace(file, schema=schema) for file in self.files()]
        return [part for file in files for part in file.slices()]

    def slices(self) -> list[Source]:
        """Return sources of so many rows each, where it costs nothing to read them apart."""
        if self.kind in _TEXT:  # which is read from the beginning, whatever is taken of it
            return [self]
        height: int = self.scan().select(pl.len()).collect().item()
        if height <= PART:
            return [self]
        return [replace(self, rows=(first, PART)) for first in range(0, height, PART)]


def _scan_text(source: Source) -> pl.LazyFrame:
    dialect = source.dialect
    return pl.scan_csv(
        source.paths,
        separator=source.separator(),
        decimal_comma=dialect.decimal_comma,
        null_values=list(dialect.null_values) or None,
        schema_overrides=source.schema or None,
        infer_schema_length=source.look_at,
        glob=False,
    )


def _scan_ndjson(source: Source) -> pl.LazyFrame:
    return pl.scan_ndjson(
        source.paths, schema_overrides=source.schema or None, infer_schema_length=_LOOK_AT
    )


_SCANS: dict[str, Callable[[Source], pl.LazyFrame]] = {
    "parquet": lambda source: pl.scan_parquet(source.paths, glob=False),
    "arrow": lambda source: pl.scan_ipc(source.paths, glob=False),
    "ndjson": _scan_ndjson,
    "csv": _scan_text,
    "tsv": _scan_text,
}


@contextmanager
def opened(
    patterns: Sequence[str], kind: str | None, dialect: Dialect
) -> Iterator[tuple[Source, pl.LazyFrame]]:
    """Yield the source that paths and globs name, and its rows, once all of it can be read."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"input_format={kind!r} is not known", ", ".join(KINDS))
    separator = _separator(dialect.separator)
    dialect = replace(dialect, separator=separator)
    with TemporaryDirectory(prefix="frame-prc-") as folder:
        if STDIN in patterns:
            source = _from_stdin(patterns, kind, dialect, Path(folder))
        else:
            paths = [path for pattern in patterns for path in _paths(pattern)]
            source = Source(paths, kind or _one_kind(paths), dialect)
        for file in source.files():
            _check_bytes(file)
        source = _with_rows(replace(source, schema=_told(source)))
        yield source, _checked(source)


# --- which files ------------------------------------------------------------------------------


def _separator(given: str | None) -> str | None:
    separator = None if given is None else _SEPARATORS.get(given, given)
    if separator is not None and len(separator.encode()) != 1:
        raise OptionError(f"separator={given!r} is not a separator", "one character, or 'tab'")
    return separator


def _paths(pattern: str) -> list[Path]:
    """Return the files of a path or a glob, in the order of their names."""
    path = Path(pattern)
    if path.is_dir():
        raise FileError(
            f"{pattern!r} is a folder", "files, or a glob of them", _inside(path) or None
        )
    if path.exists():
        return [path]
    found = sorted(map(Path, glob.glob(pattern, recursive=True)))
    files = [path for path in found if not path.is_dir()]
    if files:
        return files
    if glob.has_magic(pattern):
        raise FileError(f"{pattern!r} matches no file", hint="ls shows what is there")
    raise FileError(f"there is no file {pattern!r}", hint=_neighbours(path))


def _inside(folder: Path) -> str:
    kinds = Counter(p.suffix for p in folder.iterdir() if p.suffix in SUFFIXES)
    return f"'{folder}/*{kinds.most_common(1)[0][0]}' names the files in it" if kinds else ""


def _neighbours(path: Path) -> str:
    from difflib import get_close_matches  # noqa: PLC0415

    if not path.parent.is_dir():
        return f"there is no folder {str(path.parent)!r} either"
    close = get_close_matches(path.name, os.listdir(path.parent), n=1, cutoff=_NEAR)
    return f"did you mean {str(path.with_name(close[0]))!r}?" if close else "ls shows what is there"


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED:
        suffix = Path(path.stem).suffix.lower()
    if suffix not in SUFFIXES:
        hint = "--input-format csv reads it as CSV"
        if suffix == ".json":
            hint = (
                "jq -c '.[]' makes NDJSON of it, a row per line; --input-format ndjson reads that"
            )
        raise FileError(
            f"the suffix of {str(path)!r} does not say what kind of file it is",
            ", ".join(SUFFIXES),
            hint,
        )
    return SUFFIXES[suffix]


def _one_kind(paths: Sequence[Path]) -> str:
    kinds = {_kind(path): path for path in paths}
    if len(kinds) > 1:
        raise FileError(
            "the files are of several kinds: "
            + ", ".join(f"{str(path)!r} is {_NAMES[kind]}" for kind, path in kinds.items()),
            "files of one kind",
        )
    return next(iter(kinds))


def _from_stdin(patterns: Sequence[str], kind: str | None, dialect: Dialect, to: Path) -> Source:
    if len(patterns) > 1:
        raise OptionError("'-' is given beside files", "standard input, or files")
    if sys.stdin is None:
        raise FileError("standard input is closed", hint="pipe a file in, or name one")
    if sys.stdin.isatty():
        raise FileError("standard input is a terminal", hint="pipe a file in, or name one")
    path = to / "standard input"
    with path.open("wb") as spooled:
        # A file can be read in parts and from its end, as Parquet must be.
        shutil.copyfileobj(sys.stdin.buffer, spooled, 1 << 20)
    return Source([path], kind or _guess(path), dialect, name="standard input")


def _guess(path: Path) -> str:
    """Return the kind of a file by how it begins."""
    with path.open("rb") as file:
        begin = file.read(len(_GZIP))
    with gzip.open(path) if begin == _GZIP else path.open("rb") as file:
        line = file.readline(1 << 16)
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    for beginning, kind in _BEGINNINGS.items():
        if line.startswith(beginning):
            return kind
    return "tsv" if b"\t" in line else "csv"


def _told(source: Source) -> dict[str, pl.DataType]:
    """Return the dtypes of columns that need not be told from what text holds."""
    if source.kind not in _DELIMITED:
        return {}
    told: dict[str, pl.DataType] = dict.fromkeys(source.dialect.text, pl.String())
    if source.dialect.null_values or not _is_curve_for_r(source):
        return told
    # As write_ggplot writes it, where Inf and NA are no text.
    return {_THRESHOLD: pl.Float64(), **told}


def _is_curve_for_r(source: Source) -> bool:
    with source.paths[0].open("rb") as file:
        names = file.readline(1 << 16).decode("utf-8", "replace").strip()
    return {_THRESHOLD, "tp", "fp", "average_precision"} <= set(names.split(source.separator()))


# --- numbers that are text ------------------------------------------------------------------------


def check_numbers(source: Source, lf: pl.LazyFrame, asked: Mapping[str, object]) -> None:
    """Refuse a column of a text file that should be numbers and is not, and say what it holds."""
    if source.kind not in _DELIMITED:
        return
    schema = lf.collect_schema()
    for role in ("score", "weight", "pos", "neg"):
        for name in _named_in(asked.get(role)):
            if schema.get(name) == pl.String:
                with reading(source):
                    raise _no_numbers(role, name, lf, source.dialect)


def _named_in(given: object) -> list[str]:
    if isinstance(given, Mapping):
        return list(map(str, given.values()))
    return [given] if isinstance(given, str) else list(given) if isinstance(given, list) else []


def _no_numbers(role: str, name: str, lf: pl.LazyFrame, dialect: Dialect) -> ColumnError:
    column = named(name)
    is_number = column.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    values = lf.select(column.filter(~is_number & column.is_not_null()).unique().head(1000))
    numbers: int = lf.select(is_number.sum()).collect().item()
    found = sorted(values.collect().to_series().to_list())
    shown = ", ".join(map(repr, found[:3])) + (" and others" if found[3:] else "")
    shown = shown or "numbers that were read as text"
    return ColumnError(
        f"{role}= column {name!r} holds text: {shown}",
        "numbers",
        _text_hint(name, found, numbers, dialect),
    )


def _text_hint(name: str, found: Sequence[str], numbers: int, dialect: Dialect) -> str:
    if not found and name in dialect.text:
        return "--text makes text of numbers"
    if not found:
        return "with --decimal-comma numbers have a comma, as 0,93, and no point"
    if all(re.fullmatch(r"\s*-?[\d.]*,\d+\s*", text) for text in found):
        return "--decimal-comma reads 0,93 as a number"
    if all(text.rstrip().endswith("%") for text in found):
        return "tr -d % takes the signs away"
    if len(found) <= _FEW_WORDS and numbers:
        words = " ".join(f"--null-value {shlex.quote(text)}" for text in found)
        return f"{words} if that stands for a missing value"
    return "is it the column that was meant?"


# --- whether they can be read ---------------------------------------------------------------------


def _checked(source: Source) -> pl.LazyFrame:
    for file in source.files():
        with reading(file):
            file.scan().collect_schema()
    lf = source.scan()
    with reading(source):
        _check_text(source, lf, lf.collect_schema())
    return lf


def _check_bytes(part: Source) -> None:
    [path] = part.paths
    try:
        with path.open("rb") as file:
            begin = file.read(_BEGIN)
    except OSError as error:
        raise FileError(
            f"{part} cannot be read: {error.strerror or error}", hint="ls -l shows who may read it"
        ) from error
    if not begin:
        raise DataError(f"{part} is empty", "a file that holds rows", "was it written to its end?")
    if part.kind in _TEXT and begin.startswith(_UTF_16):
        hint = "iconv -f utf16 -t utf8 FILE | frame-prc ... - reads it"
        raise DataError(f"{part} is text in UTF-16", "UTF-8", hint)
    if part.kind in _TEXT and b"\0" in begin and not begin.startswith(_COMPRESSED_BEGIN):
        raise DataError(f"{part} is not text, as {_NAMES[part.kind]} is", hint=_ADVICE_OF_KIND)


def _check_text(source: Source, lf: pl.LazyFrame, schema: pl.Schema) -> None:
    if source.kind not in _DELIMITED:
        return
    names = schema.names()
    for name in source.dialect.text:
        if name not in names:
            raise ColumnError(f"text={name!r} is no column of {source}", hint=nearest(name, names))
    if len(names) == 1:
        for separator in (";", "\t", "|", ","):
            if separator in names[0]:
                shown = "tab" if separator == "\t" else f"'{separator}'"
                raise OptionError(
                    f"{source} has a single column, named {names[0]!r}",
                    "columns with the separator between them",
                    f"--separator {shown}",
                )
    if _has_no_rows(lf):
        raise DataError(f"{source} has a header and no rows", "a file that holds rows")


def _with_rows(source: Source) -> Source:
    """Return a source without files that are only a header, from which no dtype can be told."""
    if source.kind not in _DELIMITED or len(source.paths) == 1:
        return source
    with reading(source):
        held = [file for file in source.files() if not _has_no_rows(file.scan())]
    return replace(source, paths=[path for file in held for path in file.paths] or source.paths)


def _has_no_rows(lf: pl.LazyFrame) -> bool:
    try:
        return lf.head(1).collect().is_empty()
    except pl.exceptions.ComputeError:  # Polars may read on, and meet what the verb will meet
        return False


def read_by(
    work: Callable[[Source, pl.LazyFrame], Result], source: Source, rows: pl.LazyFrame
) -> Result:
    """Return what becomes of the rows; where a dtype shows late, all rows tell it."""
    try:
        with reading(source):
            return work(source, rows)
    except DataError as error:
        again = source.looked_through()
        if again is None or not isinstance(error.__cause__, pl.exceptions.ComputeError):
            raise
        try:
            with reading(again):
                return work(again, again.scan())
        except PrcError:
            raise error from error.__cause__


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Say which source it was where Polars could not read it."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, PrcError):
            raise
        raise unreadable(source, error) from error


def unreadable(source: Source, error: Exception) -> DataError:
    """Return what to say of files that hold something else than their kind does."""
    first = str(error).strip().partition("\n")[0]
    reason = _POLARS_HINT.split(first)[0].rstrip(".")
    return DataError(
        f"{source} cannot be read as {_NAMES[source.kind]}: {reason}", hint=_advice(source, reason)
    )


def _advice(source: Source, reason: str) -> str:
    if source.paths[1:]:  # each of which can be read by itself
        return "files of one frame have the same columns of the same dtypes"
    if source.kind not in _DELIMITED:
        return _ADVICE_OF_KIND
    if "utf-8" in reason.lower():
        return "iconv -f latin1 -t utf8 FILE | frame-prc ... - reads it if it is Latin-1"
    if found := re.search("could not parse `(.*?)`", reason):
        return (
            f"--null-value {shlex.quote(found[1])} if that stands for a missing value, --separator "
            "if it is several"
        )
    return "--separator says what separates the columns"
