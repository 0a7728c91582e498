"""Pictures for R: a table that R reads bit for bit, and a script that draws it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._files import atomic_write, check_writable, path_of
from frame_prc._ggplot.columns import RColumn, r_columns
from frame_prc._ggplot.script import SEPARATORS, is_as_written, is_ours, script_text
from frame_prc._lazy import left_join
from frame_prc._request.specs import PictureForR
from frame_prc.exceptions import ColumnError, FileError

_SUFFIXES = (*SEPARATORS, ".parquet", ".arrow", ".feather")
_AREA = (AVERAGE_PRECISION, "ci_low", "ci_high")


def table_path(path: Any) -> Path:
    """Return the path of the table, or raise an error if a file cannot be written."""
    example = "write_ggplot('curves.tsv', 'truth', 'score')"
    table = path_of(path, _SUFFIXES, ", ".join(_SUFFIXES), example)
    for file in (table, _script_path(table)):
        check_writable(file)
    _check_replaceable(_script_path(table))
    return table


def _check_replaceable(script: Path) -> None:
    """Raise an error if the script would replace a file not written here, or edited since."""
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
    """Write a table with its keys, and the script that draws it: both files, or neither."""
    columns = r_columns(frame, keys)
    script = _script_path(table)
    text = script_text(kind, table, columns, keys, title, level, cluster)
    with atomic_write(table, script) as (table_part, script_part):
        _write_table(columns, table_part)
        script_part.write_text(text, encoding="ascii", newline="\n")
    return table, script


def check_keys(keys: list[str]) -> None:
    """Raise an error if a key of a curve has the name of a column that is added."""
    for name in keys:
        if name in _AREA:
            raise ColumnError(
                f"key {name!r} of the curve has the name of a column that is added to it",
                f"names other than {', '.join(map(repr, _AREA))}",
                "rename it",
            )


def with_areas(points: pl.DataFrame, areas: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Add to each point the average precision of its segment, and the interval if there is one."""
    measures = [name for name in _AREA if name in areas.columns and name not in points.columns]
    found = areas.select(cs.by_name(*keys, *measures))
    return left_join(points, found, keys)


def _script_path(table: Path) -> Path:
    return table.with_suffix(".R")


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
