"""A verb called on the rows of files or tables: by Polars, or by DuckDB in a limit of memory.

With a limit, Polars copies the columns that are read to a scratch folder, and the verb runs inside
DuckDB. After Ctrl-C, the program exits without waiting for Polars and NumPy.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

import frame_prc
from frame_prc._engines.engine import RUN_INSIDE, errors_of_ours
from frame_prc._lazy import named
from frame_prc._request.hints import install_hint
from frame_prc._request.roles import names_of
from frame_prc.cli import errors
from frame_prc.cli.errors import flag
from frame_prc.cli.files import Source, listed, reading
from frame_prc.cli.options import names_of_keys
from frame_prc.cli.output import naming
from frame_prc.evaluation.glossary import NAMES
from frame_prc.exceptions import DataError, FileError, OptionError, nearest

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


# --- work in a thread --------------------------------------------------------------------------

T = TypeVar("T")

_SECONDS_TO_SHOW = 2.0
_SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """A text that the work sets, and a terminal shows with the time since it began."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._started = monotonic()
        self._bar: Bar | None = None

    def set(self, text: str) -> None:
        """Set the text."""
        self.text = text

    def show(self) -> None:
        """Show a bar with the text and the time on a terminal's standard error, after 2 seconds."""
        if monotonic() - self._started < _SECONDS_TO_SHOW or not sys.stderr.isatty():
            return
        if self._bar is None:
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
            from rich.progress import Progress as Bar  # noqa: PLC0415

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("", total=None)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], description=self.text)

    def hide(self) -> None:
        """Remove the bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()


def done(work: Callable[[], T], progress: Progress) -> T:
    """Return the result of the work, or raise its error, or ``KeyboardInterrupt`` on a signal."""
    worker = ThreadPoolExecutor(1)
    try:
        return _wait(worker.submit(work), progress)
    finally:
        progress.hide()
        worker.shutdown(wait=False)


def _wait(future: Future[T], progress: Progress) -> T:
    # Not by result(timeout=...): it raises TimeoutError while waiting, as the work itself may.
    while not wait([future], timeout=_SECONDS_BETWEEN_UPDATES).done:
        progress.show()
    return future.result()


# --- calls -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A verb, its parameters, and the files whose rows it takes."""

    verb: str
    parameters: Mapping[str, Any]
    source: Source

    def __call__(self, rows: pl.LazyFrame, **more: Any) -> Any:
        """Return the result for some of the rows."""
        return getattr(frame_prc, self.verb)(rows, **self.parameters, **more)

    def get(self, name: str) -> Any:
        """Return a parameter; ``None`` if the verb does not have it."""
        return self.parameters.get(name)

    def but(self, **changed: Any) -> Call:
        """Return the call with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **changed})

    def for_a_part(self) -> Call:
        """Return the call for some of the rows, among which the label may not occur."""
        label, truth = self.get("pos_label"), self.get("truth")
        if label is None:
            return self
        is_float = self.source.schema[truth].is_float()
        known = named(truth).fill_nan(None) if is_float else named(truth)
        return self.but(truth=known == label, pos_label=None)


def counted(call: Call, progress: Progress) -> pl.LazyFrame:
    """Return the counts of one part of the rows after the other, added up."""
    whole: pl.LazyFrame = call(call.source.rows)  # checks the schema
    parts = call.source.parts()
    if len(parts) == 1:
        return whole
    of_part, ascending = call.for_a_part(), call.get("ascending")
    added: list[pl.DataFrame] = []
    for place, part in enumerate(parts, 1):
        progress.set(f"counting {place} of {len(parts)}: {part}")
        added = [frame_prc.merge_counts(*added, _counted(of_part, part), ascending=ascending)]
    # A label that occurs in no part is an error, which counting all rows together raises.
    is_nowhere = call.get("pos_label") is not None and added[0]["pos"].sum() == 0
    return whole if is_nowhere else added[0].lazy()


def _counted(call: Call, part: Source) -> pl.DataFrame:
    with reading(part):
        try:
            counts: pl.DataFrame = call(part.rows).collect()
        except DataError as error:
            raise DataError(
                f"{part}: {error.what}", error.allowed, error.hint, shell_hint=error.shell_hint
            ) from error
    return counts


# --- more rows than fit in memory --------------------------------------------------------------

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MGT])(I?)B", re.IGNORECASE)
_LARGE = {"M": 2, "G": 3, "T": 4}  # powers of 1000, or of 1024 for MiB
# What the program takes itself, with the buffers of reading and of writing.
_OVERHEAD = 350 * 10**6
_LEAST = 10**9
_ROLES = {*NAMES} - {"pos_label", "missing", "ascending", "by"}  # that are columns
_BIN_ENDS = ("below", "above")
_BINS = "--thresholds 1000 bins the scores, and needs no --memory"


def budget(text: str, verb: str) -> int:
    """Return a number of bytes from its text; refuse a command that DuckDB does not run."""
    check_inside(verb, "memory= is not available for this command")
    return size(text)


def check_inside(verb: str, what: str, hint: str | None = None) -> None:
    """Refuse a command that DuckDB does not run."""
    if verb not in RUN_INSIDE:
        allowed = (errors.command_name(one) for one in RUN_INSIDE if one in errors.EXAMPLES)
        raise OptionError(what, ", ".join(allowed), hint)


def size(text: str) -> int:
    """Return a number of bytes from its text."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"memory={text!r} is not a size", "a size such as 2GB or 1.5GiB")
    number, unit, binary = found.groups()
    amount = int(float(number) * (1024 if binary else 1000) ** _LARGE[unit.upper()])
    if amount < _LEAST:
        raise OptionError(f"memory={text!r} is too little", "1GB or more")
    return amount


def result(call: Call, budget: int, folder: Path, progress: Progress) -> pl.LazyFrame:
    """Return the result of a call, in a file of the folder if it is large."""
    duckdb = imported_duckdb("memory=")
    # An unknown name is an error of the verb, which knows the similar ones.
    schema = call(call.source.rows).collect_schema()
    read = _columns(call)
    progress.set("copying rows")
    copied = folder / "rows.parquet"
    stored = _copied(call, read, copied)
    progress.set("computing")
    settings = limits(budget, folder)
    with duckdb.connect(config=settings) as connection, naming(str(folder)):
        connection.execute("SET enable_progress_bar = false")
        try:
            bins = _BINS if "thresholds" in call.parameters else None
            found = computed(stored, connection.read_parquet(str(copied)), "memory=", bins)
            if isinstance(found, pl.DataFrame):
                return found.lazy().cast(schema)
            written = folder / "result.parquet"
            with errors_of_ours():
                found.to_parquet(str(written))
        except duckdb.OutOfMemoryException as error:
            raise OptionError("memory= is too little for these rows", "more", bins) from error
        return pl.scan_parquet(written, glob=False).cast(schema)


def limits(budget: int, folder: Path) -> dict[str, str]:
    """Return the settings with which DuckDB stays below so many bytes, and spills to a folder."""
    return {
        "memory_limit": f"{budget - _OVERHEAD}B",
        "temp_directory": str(folder / "spilled"),
        # Nothing needs the rows of a file in order, which takes memory.
        "preserve_insertion_order": "false",
    }


def imported_duckdb(what: str) -> Any:
    """Import DuckDB, which something that is given needs."""
    try:
        import duckdb  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise OptionError(f"{what} needs DuckDB", hint=install_hint("duckdb")) from error
    return duckdb


def _columns(call: Call) -> list[str]:
    ends = _BIN_ENDS if call.get("pos") is not None else ()
    given = [*map(call.get, _ROLES), call.get("by")]
    wanted = names_of([item for value in given for item in listed(value)] + [*ends])
    return [name for name in call.source.schema if not wanted or name in wanted]


def _copied(call: Call, read: list[str], path: Path) -> Call:
    """Write columns, and keys that are computed; return the call on the names they have there."""
    keys = listed(call.get("by"))
    made = [key for key in keys if isinstance(key, pl.Expr)]
    renamed = {name: f"{name} of rows" for name in names_of_keys(made)}

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {model: renamed.get(name, name) for model, name in value.items()}
        if isinstance(value, list):
            return {name: renamed.get(name, name) for name in value}
        return renamed.get(value, value) if isinstance(value, str) else value

    columns = [named(name).alias(renamed.get(name, name)) for name in read]
    call.source.rows.select(*columns, *made).sink_parquet(path, compression="lz4")
    roles = {name: of(call.get(name)) for name in _ROLES if name in call.parameters}
    return call.but(**roles, by=names_of_keys(keys) or None)


def computed(call: Call, relation: Any, what: str, hint: str | None) -> Any:
    """Return the result for a relation, or one error for what DuckDB does not compute."""
    try:
        return call(relation)
    except OptionError as error:
        option, inside, _ = error.what.partition(" does not run inside ")
        if not inside:
            raise
        name, _, value = option.removesuffix("=True").partition("=")
        given = f"{flag(name)} {value}".rstrip()
        raise OptionError(f"{what} is given with {given}", "calls without it", hint) from error


# --- tables ------------------------------------------------------------------------------------

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
        check_inside(call.verb, f"this command does not read {self}", _COUNTS)
        found = computed(call, self.relation, "a table", _COUNTS)
        with errors_of_ours():
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
        settings |= limits(budget, folder)
    duckdb = imported_duckdb(patterns[0])
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
        first = str(error).strip().partition("\n")[0]
        what = f"{path!r} cannot be read by DuckDB: {first.rstrip('.!')}"
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
