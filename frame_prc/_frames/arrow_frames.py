"""Arrow tables of any package (``__arrow_c_stream__``): conversion to Polars and back.

Those of ``pyarrow`` come back as the same kind, keys with their type; others by the constructor of
their class, or else as a ``pyarrow`` Table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

import polars as pl

from frame_prc._engines.engine import class_of
from frame_prc._lazy import named
from frame_prc._request.specs import MODEL
from frame_prc._request.values import ABOVE, BELOW
from frame_prc.exceptions import ColumnError, FrameError, type_name

# --- names of columns --------------------------------------------------------------------------

# Counts are of bins if they have one of the first two, and of several models if they have the last.
_OPTIONAL = {BELOW, ABOVE, MODEL}


def wanted_names(columns: Collection[str], known: Collection[str]) -> set[str]:
    """Return the names that a plan may read; counts need not have all of theirs."""
    return {*columns} - (_OPTIONAL - {*known})


def first_places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in reversed([*enumerate(names)])}


def check_once(name: str, names: Sequence[str], frame: str, of: str = "columns") -> None:
    if names.count(name) > 1:
        raise ColumnError(
            f"the {frame} has {names.count(name)} {of} named {name!r}",
            "one column of each name",
            "rename them",
        )


def is_of(frame: object, package: str) -> bool:
    """Return whether a class of a frame is defined in a package; it need not be imported."""
    modules = [kind.__module__ for kind in type(frame).__mro__]
    # dask_expr belongs to dask.
    return any(f"{module}.".startswith((f"{package}.", f"{package}_")) for module in modules)


# --- time zones that are offsets ---------------------------------------------------------------

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_HOUR = timedelta(hours=1)
_EASTERNMOST, _WESTERNMOST = 14 * _HOUR, -12 * _HOUR
# Zones without daylight saving time, by their minutes; those of whole hours have a name anyway. In
# other zones a day may begin with another offset than its hours have.
_OF_MINUTES = {
    -570: "Pacific/Marquesas",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
}


def offset_of(zone: object) -> timedelta | None:
    """Return the offset that a time zone is, as an object or in Arrow's text: ``+05:30``."""
    if isinstance(zone, tzinfo):
        return zone.utcoffset(None)  # None of a zone with a name, whose offset depends on the time
    found = _OFFSET.fullmatch(zone) if isinstance(zone, str) else None
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    size = timedelta(hours=int(hours), minutes=int(minutes))
    return -size if sign == "-" else size


def named_zone(offset: timedelta) -> str | None:
    """Return a zone with a name that has an offset today and all year, if there is one."""
    if offset % _HOUR == timedelta(0) and _WESTERNMOST <= offset <= _EASTERNMOST:
        hours = offset // _HOUR
        return f"Etc/GMT{-hours:+d}" if hours else "UTC"  # POSIX counts hours west of Greenwich
    return _OF_MINUTES.get(offset // timedelta(minutes=1))


def has_offset(times: pl.Series, offset: timedelta) -> bool:
    """Return whether all times of a zone have an offset from UTC; they may have had another."""
    found = times.to_frame("times").select(
        (pl.col("times").dt.base_utc_offset() + pl.col("times").dt.dst_offset() == offset).all()
    )
    return bool(found.item())


def first_zone(values: Any) -> tzinfo | None:
    return next((value.tzinfo for value in values if isinstance(value, datetime)), None)


# --- tables ------------------------------------------------------------------------------------

_COLUMNS = (("pandas", "Series"), ("pyarrow", "ChunkedArray"), ("narwhals", "Series"))


class ArrowStream(Protocol):
    """A table that other packages can read without knowing its class."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a stream of batches."""


def is_arrow(frame: object) -> bool:
    """Return whether this is a table of Arrow data; a single column is not."""
    if isinstance(frame, (pl.Series, *(class_of(*column) or pl.Series for column in _COLUMNS))):
        return False
    return hasattr(type(frame), "__arrow_c_stream__")


def read_arrow(frame: Any, columns: Collection[str] | None) -> pl.DataFrame:
    if isinstance(frame, class_of("pyarrow", "RecordBatchReader")):
        return _from_pyarrow(_read_once(frame, _places(frame, columns)))
    if isinstance(frame, class_of("pyarrow", "RecordBatch")):
        frame = sys.modules["pyarrow"].Table.from_batches([frame])
    if isinstance(frame, class_of("pyarrow", "Table")):
        return _from_pyarrow(_chosen(frame, _places(frame, columns)))
    _check_way_back(frame)
    with _converting(f"the {type_name(frame)}", "a stream can be read only once"):
        return pl.DataFrame(_Stream(frame))


def back_to_arrow(
    frame: Any, source: pl.DataFrame, rows: pl.DataFrame, outputs: Collection[str]
) -> Any:
    if make := _constructor(frame):
        return make(rows)
    pyarrow = import_module("pyarrow")
    schema = getattr(frame, "schema", None)
    types = {f.name: f.type for f in schema} if isinstance(schema, pyarrow.Schema) else {}
    arrays = [
        _with_type(column, types.get(column.name))
        if column.name not in outputs and source.schema.get(column.name) == column.dtype
        else _array(column)
        for column in rows
    ]
    if isinstance(frame, pyarrow.RecordBatch):
        return pyarrow.RecordBatch.from_arrays(arrays, rows.columns)
    table = pyarrow.Table.from_arrays(arrays, rows.columns)
    return table.to_reader() if isinstance(frame, pyarrow.RecordBatchReader) else table


class _Stream:
    """Arrow data and nothing else: Polars tries other properties of an object first."""

    def __init__(self, frame: ArrowStream) -> None:
        self.__arrow_c_stream = frame.__arrow_c_stream__

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.__arrow_c_stream(requested_schema)


def _constructor(frame: object) -> Callable[[pl.DataFrame], Any] | None:
    kind: Any = type(frame)
    if is_of(frame, "nanoarrow"):
        return cast("Callable[[pl.DataFrame], Any]", kind)
    if is_of(frame, "cudf"):  # it takes tables of pyarrow only
        return lambda rows: kind.from_arrow(rows.to_arrow())
    make = getattr(kind, "from_arrow", None)
    return make if callable(make) and not is_of(frame, "pyarrow") else None


def _check_way_back(frame: object) -> None:
    if _constructor(frame) is None and find_spec("pyarrow") is None:
        raise FrameError(
            f"the result of a frame of type {type_name(frame)} is a pyarrow table, and pyarrow is "
            "not installed",
            hint="pip install pyarrow",
        )


@contextmanager
def _converting(what: str, hint: str) -> Iterator[None]:
    try:
        yield
    except (Exception, pl.exceptions.PanicException) as error:  # producers raise many kinds
        reason = str(error).partition("\n")[0].rstrip(".")
        raise FrameError(
            f"{what} does not convert to Polars: {reason}",
            "a table with columns of dtypes that Polars has",
            "cast it to a zone with a name, such as pa.timestamp('us', 'UTC')"
            if "time zone" in reason
            else hint,
        ) from error


def _places(frame: Any, columns: Collection[str] | None) -> list[int] | None:
    """Return the places of the columns that will be read; ``None`` if one of them is missing."""
    names = frame.schema.names
    wanted = {*names} if columns is None else wanted_names(columns, names)
    for name in wanted:
        check_once(name, names, "Arrow table")
    first = first_places(names)
    return sorted(first[name] for name in wanted) if wanted <= first.keys() else None


def _chosen(table: Any, places: list[int] | None) -> Any:
    """Return the columns that will be read; converting the others could be slow, or fail."""
    if places is None:  # an error about the missing column follows
        return table.slice(0, 0).select([*first_places(table.schema.names).values()])
    return table.select(places)


def _read_once(reader: Any, places: list[int] | None) -> Any:
    pyarrow = sys.modules["pyarrow"]
    if places is None:
        return _chosen(reader.schema.empty_table(), None)
    batches = [batch.select(places) for batch in reader]
    if not batches:
        raise FrameError(
            "the RecordBatchReader has no batches: it is empty, or was read before",
            "a reader that was not read yet",
            "reader.read_all() gives a table, which can be used several times",
        )
    return pyarrow.Table.from_batches(batches)


def _from_pyarrow(table: Any) -> pl.DataFrame:
    named_zones, offsets = _with_named_zones(table)
    numbered = named_zones.rename_columns([*map(str, range(table.num_columns))])
    try:
        source = pl.DataFrame(numbered)
        if not all(has_offset(source.to_series(k), offset) for k, offset in offsets.items()):
            numbered = table.rename_columns(numbered.column_names)
            source = pl.DataFrame(numbered)  # which raises
    except (Exception, pl.exceptions.PanicException):  # Polars panics on some types
        for name, place in first_places(table.schema.names).items():
            what = f"column {name!r} of Arrow type {table.schema.field(place).type}"
            with _converting(what, "cast it, for example table.set_column(...)"):
                pl.DataFrame(numbered.select([place]))
        raise
    source.columns = table.schema.names  # Polars would rename an empty name
    return source.with_columns(_category_orders(table))


def _with_named_zones(table: Any) -> tuple[Any, dict[int, timedelta]]:
    pyarrow, offsets = sys.modules["pyarrow"], dict[int, timedelta]()
    for place, field in enumerate(table.schema):
        offset = offset_of(getattr(field.type, "tz", None))
        zone = None if offset is None else named_zone(offset)
        if offset is not None and zone is not None:
            offsets[place] = offset
            dtype = pyarrow.timestamp(field.type.unit, zone)
            table = table.set_column(place, field.name, table.column(place).cast(dtype))
    return table, offsets


def _category_orders(table: Any) -> list[pl.Expr]:
    """Cast ordered dictionaries of text to an Enum, which sorts in their order."""
    types = sys.modules["pyarrow"].types
    orders = []
    for field in table.schema:
        if types.is_dictionary(field.type) and field.type.ordered:
            chunks = table[field.name].unify_dictionaries().chunks
            values = chunks[0].dictionary.to_pylist() if chunks else []
            if all(isinstance(value, str) for value in values):
                orders.append(named(field.name).cast(pl.Enum(values)))
    return orders


def _array(column: pl.Series) -> Any:
    return column.alias("").to_arrow()  # Polars panics on a name with NUL


def _with_type(key: pl.Series, given: Any) -> Any:
    """Return a key with the Arrow type it had, or with that of Polars if there is no cast."""
    pyarrow = sys.modules["pyarrow"]
    array = _array(key)
    if given is None:
        return array
    types = pyarrow.types
    try:
        if types.is_dictionary(given) and not types.is_dictionary(array.type):
            array = array.dictionary_encode()
        return array.cast(given)
    except (pyarrow.ArrowException, TypeError):  # such as a JSON extension
        return array
