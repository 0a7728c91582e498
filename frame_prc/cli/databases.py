"""Tables of DuckDB, Delta Lake and Iceberg on the command line: verbs run inside DuckDB.

``duckdb:///FILE::TABLE`` names a table or view of a DuckDB database, with the path as in URLs of
SQLAlchemy; ``delta://FOLDER`` and ``iceberg://FOLDER`` a table that DuckDB reads by an extension.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from frame_prc.cli import spilled
from frame_prc.cli.calls import Call
from frame_prc.cli.files import Source
from frame_prc.exceptions import FileError, OptionError, nearest

_URL = re.compile(r"(duckdb|delta|iceberg)://(.*)", re.DOTALL)
_EXAMPLE = "a table such as duckdb:///FILE::TABLE"
_COUNTS = "frame-prc counts writes the table's counts to a file, which other calls take"


@dataclass(frozen=True)
class Table(Source):
    """A table inside DuckDB. Where files are checked it has no rows, but the same columns."""

    relation: Any = None

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """No rows, with the columns of the table."""
        import narwhals as nw  # noqa: PLC0415 - an extra

        from frame_prc._engines.rows import schema_of  # noqa: PLC0415

        return pl.LazyFrame(schema=schema_of(nw.from_native(self.relation)))

    def result(self, call: Call) -> pl.LazyFrame:
        """Return the result of a call for the rows of the table."""
        spilled.check_inside(call.verb, f"this command does not read {self}", _COUNTS)
        found = spilled.computed(call, self.relation, "a table", _COUNTS)
        return (found if isinstance(found, pl.DataFrame) else found.pl()).lazy()


def is_named(patterns: Sequence[str]) -> bool:
    """Return whether a table is named, and not only files."""
    return any(map(_URL.fullmatch, patterns))


@contextmanager
def opened(patterns: Sequence[str], budget: int | None, folder: Path | None) -> Iterator[Table]:
    """Yield the table that is named; DuckDB stays below ``budget`` bytes, if they are given."""
    if patterns[1:]:
        raise OptionError("a table is given beside others", "one table, or files")
    found = _URL.fullmatch(patterns[0])
    assert found is not None  # noqa: S101 - for the type checker
    (kind, place), settings = found.groups(), {"autoinstall_known_extensions": "false"}
    if budget is not None and folder is not None:
        settings |= spilled.limits(budget, folder)
    duckdb = spilled.imported_duckdb(patterns[0])
    path, _, name = place.partition("::")
    if kind == "duckdb":
        path = path.removeprefix("/")
    if not path or (kind == "duckdb") != bool(name):
        raise OptionError(f"{patterns[0]!r} names no table", f"{_EXAMPLE}, or delta://FOLDER")
    if not Path(path).exists() and "://" not in path:
        raise FileError(f"there is no {path!r}", hint=f"a path follows, as in {_EXAMPLE}")
    try:
        stored = {"database": path, "read_only": True} if kind == "duckdb" else {}
        connection = duckdb.connect(**stored, config=settings)
    except duckdb.Error as error:
        what = f"{path!r} cannot be read by DuckDB: {_first_line(error).rstrip('.!')}"
        raise FileError(what, hint=f"is it a database, as in {_EXAMPLE}?") from error
    with connection:
        connection.execute("SET enable_progress_bar = false")
        relation = _named(connection, name) if name else _scanned(connection, kind, path)
        try:
            yield Table([Path(path)], kind, repr(patterns[0]), relation=relation)
        except duckdb.OutOfMemoryException as error:
            raise OptionError("memory= is too little for these rows", "more") from error


def _named(connection: Any, name: str) -> Any:
    import duckdb  # noqa: PLC0415 - an extra

    try:
        return connection.table(name)
    except duckdb.CatalogException as error:
        found = connection.execute("SHOW ALL TABLES").fetchall()
        known = [row[2] if row[1] == "main" else f"{row[1]}.{row[2]}" for row in found]
        hint = nearest(name, known).replace("the columns are", "the tables are")
        raise FileError(f"the database has no table {name!r}", hint=hint) from error


def _scanned(connection: Any, kind: str, folder: str) -> Any:
    """Return the table of a folder, by DuckDB's extension for it, which has to be installed."""
    import duckdb  # noqa: PLC0415 - an extra

    try:
        connection.load_extension(kind)
    except duckdb.Error as error:
        what = f"{kind}:// needs DuckDB's extension {kind!r}, which is not installed"
        raise OptionError(what, hint=f"in Python, duckdb.install_extension({kind!r})") from error
    return connection.table_function(f"{kind}_scan", [folder])


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
