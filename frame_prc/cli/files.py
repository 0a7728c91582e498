"""The files on the command line: what paths and globs name, and reading them."""

from __future__ import annotations

import glob
import gzip
import operator
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import polars as pl

from frame_prc._lazy import named
from frame_prc._request.values import from_text
from frame_prc.exceptions import ColumnError, DataError, FileError, OptionError, PrcError, nearest

NAMES = {"parquet": "Parquet", "csv": "CSV", "tsv": "TSV", "arrow": "Arrow", "ndjson": "NDJSON"}
KINDS = tuple(NAMES)
TEXT = ("csv", "tsv", "ndjson")
_SUFFIXES = {
    **dict.fromkeys([".parquet", ".pq"], "parquet"),
    ".csv": "csv",
    **dict.fromkeys([".tsv", ".tab"], "tsv"),
    **dict.fromkeys([".arrow", ".feather", ".ipc"], "arrow"),
    **dict.fromkeys([".ndjson", ".jsonl"], "ndjson"),
}
_COMPRESSED = (".gz", ".zst", ".zlib")
_HINTS = {
    ".json": "jq -c '.[]' converts it to NDJSON, which --input-format ndjson reads",
    **dict.fromkeys(
        [".db", ".duckdb", ".sqlite", ".sqlite3"],
        "duckdb:///FILE::TABLE names a table of DuckDB, and in Python ibis.connect(...).table(...) "
        "one of any database",
    ),
}
_SIMILAR = 0.8  # above difflib's default, because the names of files have much in common
_ROWS_FOR_DTYPES = 10_000  # rows of text from which the dtypes are inferred
_SHOWN_PATHS = 3
_STDIN = "-"
_MARKS = {"csv": ",", "tsv": "\t"}
_SEPARATORS = {"tab": "\t", "\\t": "\t"}
_GZIP = b"\x1f\x8b"
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_HEADER_BYTES = 1 << 16
_ISO = "%Y-%m-%d"


# --- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Files of one kind, in order.

    ``csv`` are parameters of Polars, and ``dates`` columns of text. Rows meet all ``conditions``.
    """

    paths: list[Path]
    kind: str
    name: str = ""
    csv: Mapping[str, Any] = field(default_factory=dict)
    dtypes: Mapping[str, pl.DataType] | None = None
    dates: Sequence[str] = ()
    conditions: Sequence[pl.Expr] = ()

    def __str__(self) -> str:
        names = ", ".join(repr(str(path)) for path in self.paths[:_SHOWN_PATHS])
        more = len(self.paths) - _SHOWN_PATHS
        names += f" and {more} more" if more > 0 else ""
        return self.name or names

    @property
    def is_delimited(self) -> bool:
        """Whether the files are CSV or TSV."""
        return self.kind in ("csv", "tsv")

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows; nothing is read but their schema."""
        dates = [named(name).str.to_date(_ISO) for name in self.dates]
        rows = self._scanned.with_columns(dates)
        return rows.filter(*self.conditions) if self.conditions else rows

    @property
    def _scanned(self) -> pl.LazyFrame:
        if self.kind == "parquet":
            return pl.scan_parquet(self.paths, glob=False)
        if self.kind == "arrow":
            return pl.scan_ipc(self.paths, glob=False)
        dtypes: dict[str, Any] = {"schema_overrides": self.dtypes or None}
        if self.is_delimited:
            return pl.scan_csv(self.paths, glob=False, **dtypes, **self.csv)
        return pl.scan_ndjson(self.paths, infer_schema_length=_ROWS_FOR_DTYPES, **dtypes)

    @property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns."""
        return self.rows.collect_schema()

    def files(self) -> list[Source]:
        """Return a source for each file."""
        return [replace(self, paths=[path]) for path in self.paths]

    def parts(self) -> list[Source]:
        """Return a source for each file, with the dtypes of all."""
        return replace(self, dtypes=self._scanned.collect_schema()).files()


# --- what is named -----------------------------------------------------------------------------


@contextmanager
def named_files(
    patterns: Sequence[str], kind: str | None, separator: str | None, csv: Mapping[str, Any]
) -> Iterator[Source]:
    """Yield the source that paths and globs name, or standard input, of which nothing is read."""
    if kind is not None and kind not in KINDS:
        raise OptionError(f"input_format={kind!r} is not known", ", ".join(KINDS))
    mark = None if separator is None else _SEPARATORS.get(separator, separator)
    if mark is not None and len(mark.encode()) != 1:
        raise OptionError(f"separator={separator!r} is not a separator", "one character, or 'tab'")
    with TemporaryDirectory(prefix="frame-prc-") as folder:
        if _STDIN in patterns:
            paths = [_copied_stdin(patterns, Path(folder))]
            kind, name = kind or _guessed_kind(paths[0]), "standard input"
        else:
            paths = [path for pattern in patterns for path in _matching(pattern, len(patterns))]
            kind, name = kind or _kind_of(paths), ""
        csv = {"infer_schema_length": _ROWS_FOR_DTYPES, **csv}
        yield Source(paths, kind, name, {**csv, "separator": mark or _MARKS.get(kind)})


def _matching(pattern: str, n_patterns: int) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        raise FileError(
            f"{pattern!r} is a folder", "files, or a glob of them", _glob_of_folder(path)
        )
    if path.exists():
        return [path]
    found = sorted(map(Path, glob.glob(pattern, recursive=True)))
    if files := [path for path in found if not path.is_dir()]:
        return files
    nowhere = "ls shows what is there"
    if glob.has_magic(pattern):
        raise FileError(f"{pattern!r} matches no file", hint=nowhere)
    hint = _similar_file(path) or _column_hint(pattern, n_patterns) or nowhere
    raise FileError(f"there is no file {pattern!r}", hint=hint)


def _glob_of_folder(folder: Path) -> str | None:
    suffixes = Counter(p.suffix for p in folder.iterdir() if p.suffix in _SUFFIXES)
    if not suffixes:
        return None
    return f"'{folder}/*{suffixes.most_common(1)[0][0]}' names the files in it"


def _similar_file(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"there is no folder {str(path.parent)!r} either"
    close = get_close_matches(path.name, os.listdir(path.parent), n=1, cutoff=_SIMILAR)
    return f"did you mean {str(path.with_name(close[0]))!r}?" if close else None


def _column_hint(pattern: str, n_patterns: int) -> str | None:
    is_column = n_patterns > 1 and not Path(pattern).suffix
    return f"options name columns, as in -t {pattern} or -s {pattern}" if is_column else None


def _kind_of(paths: Sequence[Path]) -> str:
    kinds = {_kind(path): path for path in paths}
    if len(kinds) > 1:
        raise FileError(
            "the files are of several kinds: "
            + ", ".join(f"{str(path)!r} is {NAMES[kind]}" for kind, path in kinds.items()),
            "files of one kind",
        )
    return next(iter(kinds))


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED:
        suffix = Path(path.stem).suffix.lower()
    if suffix not in _SUFFIXES:
        raise FileError(
            f"the suffix of {str(path)!r} does not say what kind of file it is",
            ", ".join(_SUFFIXES),
            _HINTS.get(suffix, "--input-format csv reads it as CSV"),
        )
    return _SUFFIXES[suffix]


def _copied_stdin(patterns: Sequence[str], folder: Path) -> Path:
    """Return a file, which can be read in parts, and from its end, as Parquet must be."""
    if len(patterns) > 1:
        raise OptionError("'-' is given beside files", "standard input, or files")
    if sys.stdin is None or sys.stdin.isatty():
        state = "closed" if sys.stdin is None else "a terminal"
        raise FileError(f"standard input is {state}", hint="pipe a file in, or name one")
    path = folder / "standard input"
    with path.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
    return path


def _guessed_kind(path: Path) -> str:
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as file:
        line = file.readline(_HEADER_BYTES)
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    kinds = [kind for magic, kind in _MAGIC.items() if line.startswith(magic)]
    return kinds[0] if kinds else "tsv" if b"\t" in line else "csv"


# --- reading -----------------------------------------------------------------------------------

Result = TypeVar("Result")

_COMPRESSED_BYTES = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BYTES_TO_CHECK = 1 << 10
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
    """Yield the source that paths and globs name, once all files are checked."""
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
                source = replace(source, dates=_dates(source, text))
        yield source


def read_by(work: Callable[[Source], Result], source: Source) -> Result:
    """Return the result of work; where a value contradicts its dtype, infer from all rows."""
    try:
        with reading(source):
            return work(source)
    except DataError as error:
        inferred = (pl.exceptions.ComputeError, pl.exceptions.InvalidOperationError)
        if not source.is_delimited or not isinstance(error.__cause__, inferred):
            raise
        again = replace(source, csv={**source.csv, "infer_schema_length": None}, dates=())
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
    if file.kind in TEXT and b"\0" in start and not start.startswith(_COMPRESSED_BYTES):
        raise DataError(f"{file} is not text, as {NAMES[file.kind]} is", hint=_KIND_HINT)


def _known_dtypes(source: Source, text: Sequence[str]) -> dict[str, pl.DataType]:
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


def _dates(source: Source, text: Sequence[str]) -> list[str]:
    """Return the columns of CSV files that are read as text, and begin with dates alone."""
    dtypes = source.schema.items()
    texts = [name for name, dtype in dtypes if dtype == pl.String and name not in text]
    first = source.rows.select(map(named, texts)).head(_ROWS_FOR_DTYPES).collect()
    known = [column.drop_nulls() for column in first]
    return [
        one.name
        for one in known
        if len(one) and not one.str.to_date(_ISO, strict=False).has_nulls()
    ]


# --- rows that meet a condition ----------------------------------------------------------------

_NUMBER_OR_DATE = re.compile(r"[-+]?\d*\.?\d+|\d{4}-\d\d-\d\d.*")
_CONDITION = re.compile(r"\s*(.+?)\s*([<>=!]+)\s*(.*?)\s*")
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OPERATORS: dict[str, Callable[[pl.Expr, Any], pl.Expr]] = {
    "=": pl.Expr.eq_missing,
    "!=": pl.Expr.ne_missing,
    **COMPARISONS,
}


def condition_in(
    text: str, what: str, operators: Collection[str], allowed: str, example: str
) -> tuple[str, str, str]:
    """Return the column, the operator and the value of a condition."""
    found = _CONDITION.fullmatch(text)
    if found is None or found[2] not in operators:
        raise OptionError(f"{what} is not a condition", allowed, example)
    return found[1], found[2], found[3]


def with_rows_where(source: Source, texts: Sequence[str]) -> Source:
    """Return a source with the rows that meet all conditions, such as ``distance>=500``."""
    if not texts:
        return source
    found = replace(source, conditions=[_where(text, source) for text in texts])
    with reading(source):
        is_empty = found.rows.head(1).collect(engine="streaming").is_empty()
    if is_empty:
        raise OptionError(
            f"where={' and '.join(texts)!r} leaves no row", "conditions that some row meets"
        )
    return found


def _where(text: str, source: Source) -> pl.Expr:
    what, allowed = f"where={text!r}", "a column, one of =, !=, <, <=, >, >=, and a value"
    name, sign, word = condition_in(text, what, _OPERATORS, allowed, "--where carrier=UA")
    if name not in source.schema:
        near = nearest(name, source.schema)
        raise ColumnError(f"where={text!r} names {name!r}, which is not a column", hint=near)
    dtype = source.schema[name]
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    if is_text and sign[0] in "<>" and _NUMBER_OR_DATE.fullmatch(word):
        raise ColumnError(
            f"where={text!r} compares {word!r} with a column of text",
            "= and !=, or a column of numbers or dates",
            "--null-value WORD if a word there stands for a missing value",
        )
    value = from_text(word, pl.Float64() if dtype.is_integer() and "." in word else dtype)
    if not word:
        value = None
    elif isinstance(value, str) and not is_text:
        raise ColumnError(
            f"where={text!r} compares {word!r} with a column of dtype {dtype}",
            "a value of this dtype, such as 2024-01-31 for a date",
        )
    return _OPERATORS[sign](named(name), pl.lit(value))


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
