"""Files of rows as a lazy frame, and as parts of it that can be read separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

PART = 10_000_000  # rows that are counted at once
DELIMITED = ("csv", "tsv")
TEXT = (*DELIMITED, "ndjson")
_ROWS_FOR_DTYPES = 10_000  # rows of text from which the dtypes are inferred
_SHOWN_PATHS = 3


@dataclass(frozen=True)
class Dialect:
    """How text files are written; by default the kind of file sets the separator."""

    separator: str | None = None
    decimal_comma: bool = False
    null_values: Sequence[str] = ()
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """Files of one kind, in order, or a slice of the rows of one file."""

    paths: list[Path]
    kind: str
    dialect: Dialect = field(default_factory=Dialect)
    name: str = ""
    schema: Mapping[str, pl.DataType] = field(default_factory=dict)
    rows: tuple[int, int] | None = None
    rows_for_dtypes: int | None = _ROWS_FOR_DTYPES

    def __str__(self) -> str:
        if self.name:
            return self.name
        names = ", ".join(repr(str(path)) for path in self.paths[:_SHOWN_PATHS])
        more = len(self.paths) - _SHOWN_PATHS
        return (
            names
            + (f" and {more} more" if more > 0 else "")
            + (f" from row {self.rows[0] + 1:,}" if self.rows else "")
        )

    @property
    def is_delimited(self) -> bool:
        """Whether the files are CSV or TSV."""
        return self.kind in DELIMITED

    @property
    def separator(self) -> str:
        """The separator of the columns of text."""
        return self.dialect.separator or ("\t" if self.kind == "tsv" else ",")

    def scan(self) -> pl.LazyFrame:
        """Return the rows; nothing is read."""
        lf = _SCANS[self.kind](self)
        return lf.slice(*self.rows) if self.rows else lf

    def with_dtypes_of_all_rows(self) -> Source | None:
        """Return the source with dtypes inferred from all rows, if they were not already."""
        if not self.is_delimited or self.rows_for_dtypes is None:
            return None
        return replace(self, rows_for_dtypes=None)

    def files(self) -> list[Source]:
        """Return a source for each file."""
        return [replace(self, paths=[path]) for path in self.paths]

    def parts(self) -> list[Source]:
        """Return a source for each file, and several for a long one.

        All parts of text files have the schema of the whole.
        """
        schema = self.scan().collect_schema()
        files = [replace(file, schema=schema) for file in self.files()]
        return [part for file in files for part in file.slices()]

    def slices(self) -> list[Source]:
        """Return sources of at most ``PART`` rows each, for formats that can be read from a row."""
        if self.kind in TEXT:
            return [self]
        height: int = self.scan().select(pl.len()).collect().item()
        if height <= PART:
            return [self]
        return [replace(self, rows=(first, PART)) for first in range(0, height, PART)]


def _scan_delimited(source: Source) -> pl.LazyFrame:
    dialect = source.dialect
    return pl.scan_csv(
        source.paths,
        separator=source.separator,
        decimal_comma=dialect.decimal_comma,
        null_values=list(dialect.null_values) or None,
        schema_overrides=source.schema or None,
        infer_schema_length=source.rows_for_dtypes,
        glob=False,
    )


def _scan_ndjson(source: Source) -> pl.LazyFrame:
    return pl.scan_ndjson(
        source.paths, schema_overrides=source.schema or None, infer_schema_length=_ROWS_FOR_DTYPES
    )


_SCANS: dict[str, Callable[[Source], pl.LazyFrame]] = {
    "parquet": lambda source: pl.scan_parquet(source.paths, glob=False),
    "arrow": lambda source: pl.scan_ipc(source.paths, glob=False),
    "ndjson": _scan_ndjson,
    "csv": _scan_delimited,
    "tsv": _scan_delimited,
}
