"""The files that paths and globs name, and the format that their suffixes say."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from frame_prc.exceptions import FileError

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
NAMES = {"parquet": "Parquet", "csv": "CSV", "tsv": "TSV", "arrow": "Arrow", "ndjson": "NDJSON"}
KINDS = tuple(NAMES)
_COMPRESSED = (".gz", ".zst", ".zlib")
_DATABASES = (".db", ".duckdb", ".sqlite", ".sqlite3")
_SIMILAR = 0.8  # above difflib's default, because the names of files have much in common


def find_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files of paths and globs, those of a glob in the order of their names."""
    return [path for pattern in patterns for path in _matching(pattern, len(patterns))]


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
    if glob.has_magic(pattern):
        raise FileError(f"{pattern!r} matches no file", hint="ls shows what is there")
    hint = _similar_file(path) or _column_hint(pattern, n_patterns) or "ls shows what is there"
    raise FileError(f"there is no file {pattern!r}", hint=hint)


def _glob_of_folder(folder: Path) -> str | None:
    suffixes = Counter(p.suffix for p in folder.iterdir() if p.suffix in SUFFIXES)
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


def kind_of(paths: Sequence[Path]) -> str:
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
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    hint = "--input-format csv reads it as CSV"
    if suffix in _DATABASES:
        hint = "tables of a database are evaluated from Python: ibis.connect(...).table(...)"
    if suffix == ".json":
        hint = "jq -c '.[]' converts it to NDJSON, which --input-format ndjson reads"
    raise FileError(
        f"the suffix of {str(path)!r} does not say what kind of file it is",
        ", ".join(SUFFIXES),
        hint,
    )
