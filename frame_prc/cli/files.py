"""The files on the command line: what paths and globs name, and their rows, in parts if need be."""

from __future__ import annotations

import glob
import gzip
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from frame_prc.exceptions import FileError, OptionError

PART = 10_000_000  # rows that are read at once
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


# --- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Files of one kind, in order, or a slice of the rows of one file.

    ``csv`` are the parameters with which Polars reads CSV and TSV.
    """

    paths: list[Path]
    kind: str
    name: str = ""
    csv: Mapping[str, Any] = field(default_factory=dict)
    dtypes: Mapping[str, pl.DataType] | None = None
    slice: tuple[int, int] | None = None

    def __str__(self) -> str:
        names = ", ".join(repr(str(path)) for path in self.paths[:_SHOWN_PATHS])
        more = len(self.paths) - _SHOWN_PATHS
        names += f" and {more} more" if more > 0 else ""
        return self.name or names + (f" from row {self.slice[0] + 1:,}" if self.slice else "")

    @property
    def is_delimited(self) -> bool:
        """Whether the files are CSV or TSV."""
        return self.kind in ("csv", "tsv")

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The rows; nothing is read but their schema."""
        rows = _SCANS[self.kind](self)
        return rows.slice(*self.slice) if self.slice else rows

    @property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns."""
        return self.rows.collect_schema()

    def files(self) -> list[Source]:
        """Return a source for each file."""
        return [replace(self, paths=[path]) for path in self.paths]

    def parts(self) -> list[Source]:
        """Return a source for each file, or for every ``PART`` rows of one with row groups.

        All parts of text files have the dtypes of the whole.
        """
        files = replace(self, dtypes=self.schema).files()
        return [part for file in files for part in _slices(file)]


def _slices(file: Source) -> list[Source]:
    if file.kind in TEXT:
        return [file]
    height: int = file.rows.select(pl.len()).collect().item()
    if height <= PART:
        return [file]
    return [replace(file, slice=(first, PART)) for first in range(0, height, PART)]


def _scan_text(source: Source) -> pl.LazyFrame:
    dtypes: dict[str, Any] = {"schema_overrides": source.dtypes or None}
    if source.is_delimited:
        return pl.scan_csv(source.paths, glob=False, **dtypes, **source.csv)
    return pl.scan_ndjson(source.paths, infer_schema_length=_ROWS_FOR_DTYPES, **dtypes)


_SCANS: dict[str, Callable[[Source], pl.LazyFrame]] = {
    "parquet": lambda source: pl.scan_parquet(source.paths, glob=False),
    "arrow": lambda source: pl.scan_ipc(source.paths, glob=False),
    **dict.fromkeys(TEXT, _scan_text),
}


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
    """Return a hint for a word after the files, which may be the name of a column."""
    is_column = n_patterns > 1 and not Path(pattern).suffix
    return f"options name columns, as in -t {pattern} or -s {pattern}" if is_column else None


def _kind_of(paths: Sequence[Path]) -> str:
    """Return the format that the files have in common."""
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
    """Return the kind of a file by its first bytes."""
    with path.open("rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as file:
        line = file.readline(_HEADER_BYTES)
    if line.lstrip().startswith(b"{"):
        return "ndjson"
    kinds = [kind for magic, kind in _MAGIC.items() if line.startswith(magic)]
    return kinds[0] if kinds else "tsv" if b"\t" in line else "csv"
