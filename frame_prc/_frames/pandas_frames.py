"""pandas frames: conversion to Polars and back; keys keep their dtype."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
import polars.selectors as cs

from frame_prc._engines.engine import class_of
from frame_prc._frames import arrow_frames
from frame_prc._lazy import named
from frame_prc._request.hints import install_hint
from frame_prc.exceptions import FrameError, shown, type_name

if TYPE_CHECKING:
    import pandas as pd

ResultT = TypeVar("ResultT")

_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
# The dtype of times with a zone; Polars knows none that is an offset.
_ZONED = re.compile(r"datetime64\[\w+, |tz=")
_VALUES_IN_ERROR, _TYPES_IN_ERROR = 1000, 4  # values to look at, and types to list


def is_pandas(frame: object) -> bool:
    return isinstance(frame, class_of("pandas", "DataFrame"))


def read_pandas(chosen: pd.DataFrame, amounts: Collection[str]) -> pl.DataFrame:
    """Return a frame as Polars; NaN is a missing value, except in the ``amounts``."""
    nan_is_missing = cs.float() - cs.by_name(*amounts, require_all=False)
    return _from_pandas(_with_labels(chosen)).with_columns(nan_is_missing.fill_nan(None))


def back_to_pandas(
    chosen: pd.DataFrame, source: pl.DataFrame, rows: pl.DataFrame, outputs: Collection[str]
) -> pd.DataFrame:
    names = rows.columns
    columns = {name: rows.drop_in_place(name) for name in names}

    def converted(name: str) -> Any:
        column = columns.pop(name)
        is_key = name not in outputs and source.schema.get(name) == column.dtype
        return _to_pandas(column, chosen[name], source[name]) if is_key else _plain(column)

    found = {name: converted(name) for name in names}
    # A second copy, into one block for each dtype, would take as long as half of a curve.
    result: pd.DataFrame = sys.modules["pandas"].DataFrame(found, copy=False)
    return result


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace intervals and periods, which Arrow does not know, by categories of text."""
    labels = {}
    for name, column in frame.items():
        if _needs_labels(column.dtype):
            categories = column.astype("category").cat
            labels[str(name)] = categories.rename_categories(list(map(str, categories.categories)))
    return frame.assign(**labels)


def _needs_labels(dtype: Any) -> bool:
    categories = getattr(dtype, "categories", None)
    kind = str(dtype if categories is None else categories.dtype)
    return kind.startswith(("interval", "period"))


def _to_pandas(key: pl.Series, given: pd.Series[Any], source: pl.Series) -> Any:
    try:
        return _key(_nameless(key), given, source)
    except Exception as error:  # Arrow and pandas raise many kinds
        raise FrameError(
            f"key {key.name!r} of dtype {given.dtype} cannot be converted back to pandas: "
            f"{str(error).splitlines()[0]}",
            hint="cast it, for example with .astype(str)",
        ) from error


def _nameless(column: pl.Series) -> pl.Series:
    return column.alias("")  # Arrow panics on a name with NUL


def _plain(column: pl.Series) -> Any:
    if _loses_dtype(column):
        return _with_nulls(column, "boolean" if column.dtype == pl.Boolean else str(column.dtype))
    if not column.dtype.is_nested():
        return _values(column)
    # pandas would turn integers in lists and structs with nulls into floats.
    return sys.modules["pandas"].Series(_objects(column), dtype=object)


def _key(key: pl.Series, given: pd.Series[Any], source: pl.Series) -> Any:
    dtype = given.dtype
    if _needs_labels(dtype):
        return _from_labels(key, given)
    arrow = getattr(dtype, "pyarrow_dtype", None)
    if arrow is not None and not hasattr(arrow, "index_type"):  # Arrow cannot cast to dictionaries
        return sys.modules["pandas"].arrays.ArrowExtensionArray(key.to_arrow().cast(arrow))
    if key.dtype.is_nested():
        return _same_objects(key, given, source).astype(dtype)
    if _loses_dtype(key) or key.dtype == pl.Date:
        # pandas itself would turn dates into datetimes.
        return _with_nulls(key, dtype if key.dtype == pl.Date else _nullable(dtype))
    is_category = isinstance(key.dtype, (pl.Categorical, pl.Enum))
    if is_category and not hasattr(dtype, "categories"):
        key = key.cast(pl.String)  # ordered categories do not fit an Arrow dictionary
    has_zones = isinstance(key.dtype, pl.Datetime) and str(dtype) == "object"
    zone = arrow_frames.first_zone(given) if has_zones else None
    if arrow_frames.offset_of(zone):
        return _plain(key).dt.tz_convert(zone).astype(dtype)
    return _values(key, dtype)


def _from_labels(key: pl.Series, given: pd.Series[Any]) -> Any:
    pandas, dtype = sys.modules["pandas"], given.dtype
    codes = key.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    labels = pandas.Categorical.from_codes(codes, dtype=given.astype("category").dtype)
    if isinstance(dtype, pandas.IntervalDtype) and dtype.subtype.kind in "iu" and key.null_count():
        dtype = pandas.IntervalDtype("float64", dtype.closed)  # those of integers have no null
    # Codes may be read-only.
    return labels.astype(dtype).copy()


def _values(column: pl.Series, dtype: Any = None) -> Any:
    """Return a column, maybe in a dtype of pandas, in memory of its own that can be written to."""
    if column.dtype.is_float() or column.dtype in _INTEGERS:
        values: Any = column.to_numpy(writable=True)
        is_done = dtype is None or values.dtype == dtype
        return values if is_done else sys.modules["pandas"].Series(values).astype(dtype)
    values = _nameless(column).to_pandas()
    # The memory of Arrow is read-only.
    return (values if dtype is None else values.astype(dtype)).copy()


def _same_objects(key: pl.Series, given: pd.Series[Any], source: pl.Series) -> pd.Series[Any]:
    """Return the lists, tuples, arrays or dictionaries from which Polars made a key."""
    known: dict[str, Any] = {"None": None}
    for value, text in zip(given, map(repr, _objects(source)), strict=True):
        if isinstance(value, set):
            raise TypeError("sets have no order")
        if text != "None" and repr(value) != repr(known.setdefault(text, value)):
            raise ValueError(f"{shown(value)} and {shown(known[text])} become the same value")
    values = [known.get(repr(value), value) for value in _objects(key)]
    result: pd.Series[Any] = sys.modules["pandas"].Series(values, dtype=object)
    return result


def _objects(column: pl.Series) -> list[Any]:
    objects: list[Any] = _nameless(column).to_arrow().to_pylist()
    return objects


def _loses_dtype(column: pl.Series) -> bool:
    """Return whether pandas would change the dtype: of integers and Booleans with nulls."""
    without_nulls = column.dtype.is_integer() or column.dtype == pl.Boolean
    return without_nulls and column.null_count() > 0


def _with_nulls(column: pl.Series, dtype: Any) -> Any:
    pandas = sys.modules["pandas"]
    if column.dtype in _INTEGERS or column.dtype == pl.Boolean:
        is_boolean = column.dtype == pl.Boolean
        values = column.fill_null(False if is_boolean else 0).to_numpy(writable=True)
        if str(dtype) == _nullable(values.dtype):
            masked = pandas.arrays.BooleanArray if is_boolean else pandas.arrays.IntegerArray
            return masked(values, column.is_null().to_numpy(writable=True))
    return pandas.array(column.to_list(), dtype=dtype)


def _nullable(dtype: Any) -> Any:
    names = {f"{u}int{n}": f"{u.upper()}Int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
    return (names | {"bool": "boolean"}).get(str(dtype), dtype)


def chosen_columns(frame: pd.DataFrame, columns: Collection[str] | None) -> pd.DataFrame:
    """Return the columns that will be read, also named levels of the index: others could fail."""
    names = [str(name) for name in frame.columns]
    levels = [str(name) for name in frame.index.names if name is not None]
    known = {*names, *levels}
    wanted = set(names) if columns is None else arrow_frames.wanted_names(columns, known)
    for name in wanted:
        arrow_frames.check_once(name, names, "pandas frame")
        arrow_frames.check_once(
            name, [] if name in names else levels, "pandas frame", "levels of the index"
        )
    if not wanted <= known:
        # An error about the missing column follows, for which the schema is enough.
        frame, wanted = frame.iloc[:0], known
    first = arrow_frames.first_places(names)
    places = sorted(first[name] for name in wanted & first.keys())
    chosen = frame.iloc[:, places].set_axis([names[place] for place in places], axis=1)
    return chosen.assign(**_levels(frame.index, wanted - first.keys()))


def with_levels(frame: pd.DataFrame) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    levels = [
        place
        for place, name in enumerate(frame.index.names)
        if name is not None and str(name) not in names
    ]
    return frame.reset_index(level=levels) if levels else frame


def _levels(index: pd.Index[Any], wanted: Collection[str]) -> dict[str, Any]:
    by_place = index.set_names([None] * index.nlevels)  # a name may be a number
    return {
        str(name): by_place.get_level_values(place)
        for place, name in enumerate(index.names)
        if name is not None and str(name) in wanted
    }


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    # In a column of Python objects None, NaN and NA are all missing; Arrow accepts only None.
    objects = {
        str(name): _with_dtype(column.where(column.notna(), None))
        for name, column in frame.items()
        if str(column.dtype) == "object"
    }
    dense = {
        str(name): column.sparse.to_dense()  # type: ignore[attr-defined] # a wrong stub
        for name, column in frame.items()
        if str(column.dtype).startswith("Sparse[")
    }
    clean, offsets = _with_named_zones(_replaced(frame, objects | dense))
    try:
        _check_objects(clean)
        numbered = clean.set_axis([*map(str, range(clean.shape[1]))], axis=1)
        source = pl.from_pandas(numbered, nan_to_null=False)
    except ImportError as error:
        raise FrameError(
            f"a pandas frame needs a package that is not installed: {error}",
            hint=install_hint("pandas"),
        ) from error
    except FrameError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise _conversion_error(_unconverted(clean)) from error
    source.columns = [str(name) for name in frame.columns]  # Arrow fails on NUL and empty names
    for name, offset in offsets.items():
        if not arrow_frames.has_offset(source[name], offset):
            raise _conversion_error(_described(name, frame[name]))
    for name, column in objects.items():
        if source[name].dtype == pl.Binary and not _holds(column, "bytes", "empty"):
            raise _conversion_error(_described(name, column))  # a UUID would come back as bytes
    return source.with_columns(_category_orders(frame))


def _with_named_zones(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, timedelta]]:
    offsets, converted = dict[str, timedelta](), {}
    for name, column in frame.items():
        arrow = getattr(column.dtype, "pyarrow_dtype", None)
        offset = arrow_frames.offset_of(
            getattr(column.dtype if arrow is None else arrow, "tz", None)
        )
        zone = None if offset is None else arrow_frames.named_zone(offset)
        if offset and zone is not None:
            offsets[str(name)] = offset
            converted[str(name)] = column.dt.tz_convert(zone)
    return _replaced(frame, converted), offsets


def _replaced(frame: pd.DataFrame, columns: dict[str, pd.Series[Any]]) -> pd.DataFrame:
    """Return a frame with other columns, which assign() does not take if one is called self."""
    found = frame.copy(deep=False)
    for name, column in columns.items():
        found[name] = column
    return found


def _unconverted(frame: pd.DataFrame) -> str:
    for name, column in frame.items():
        try:
            pl.from_pandas(column.to_frame("0"))
        except (Exception, pl.exceptions.PanicException):  # Arrow raises many kinds
            return _described(str(name), column)
    return "each column converts, but not all of them together"


def _described(name: str, column: pd.Series[Any]) -> str:
    kinds = sorted({type_name(value) for value in column.head(_VALUES_IN_ERROR)})
    of = f" with values of type {', '.join(kinds[:_TYPES_IN_ERROR])}" if kinds else ""
    return f"column {name!r} has dtype {column.dtype}{of}"


def _conversion_error(what: str) -> FrameError:
    hint = "cast it, for example with .astype(str), or .astype(float) if it holds numbers"
    if _ZONED.search(what):
        hint = (
            "a time zone needs a name: pd.to_datetime(column, utc=True), and for local days "
            ".dt.tz_convert('America/St_Johns')"
        )
    return FrameError(f"the pandas frame does not convert to Polars: {what}", hint=hint)


def _holds(column: pd.Series[Any], *kinds: str) -> bool:
    kind: str = sys.modules["pandas"].api.types.infer_dtype(column, skipna=True)
    return kind.startswith(kinds)


def _check_objects(frame: pd.DataFrame) -> None:
    """Raise an error for values that Arrow or Polars would change, or panic on."""
    for name, column in frame.items():
        if _is_mixed(column):
            reason = "dates among datetimes, time zones on only some values, or on times of day"
        elif _is_too_long(column):
            reason = "more than 38 digits"
        elif _is_unknown_inside(column):
            reason = "Polars has no lists or structs of such decimals"
        else:
            continue
        raise _conversion_error(f"{_described(str(name), column)}: {reason}")


def _is_mixed(column: pd.Series[Any]) -> bool:
    """Return whether Arrow would change dates or times, for example a datetime into its date."""
    if str(column.dtype) != "object" or not _holds(column, "date", "time"):
        return False
    values = [value for value in column if value is not None]
    kinds = {(isinstance(v, datetime), getattr(v, "tzinfo", None) is not None) for v in values}
    return len(kinds) > 1 or any(isinstance(v, time) and v.tzinfo is not None for v in values)


def _is_too_long(column: pd.Series[Any]) -> bool:
    if str(column.dtype) != "object":
        return str(column.dtype).startswith("decimal256")
    if not _holds(column, "decimal"):
        return False
    import pyarrow as pa  # noqa: PLC0415 - comes with the extra for pandas

    return bool(pa.types.is_decimal256(pa.array(column).type))


def _is_unknown_inside(column: pd.Series[Any]) -> bool:
    """Return whether Arrow lists or structs have decimals on which Polars panics."""
    kind = str(column.dtype)
    return "<" in kind and any(f"decimal{bits}(" in kind for bits in (32, 64, 256))


def _with_dtype(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return datetimes with a dtype: as Python objects they would lose their nanoseconds."""
    return column.infer_objects() if _holds(column, "datetime", "timedelta") else column


def _category_orders(frame: pd.DataFrame) -> list[pl.Expr]:
    return [
        named(str(name)).cast(pl.Enum(list(dtype.categories)))
        for name, dtype in frame.dtypes.items()
        if hasattr(dtype, "categories") and all(isinstance(c, str) for c in dtype.categories)
    ]


# --- labels that are not text: how a caller names columns, and results too ----------------------

# Roles that are no columns.
_VALUES = ("pos_label", "missing", "ascending")


class Labels:
    """The labels of a pandas frame that are not text; elsewhere ``str(label)`` is the name."""

    def __init__(self, frame: Any) -> None:
        labels = [*frame.columns, *frame.index.names] if is_pandas(frame) else []
        no_labels = (str, bool, type(None))
        self._names = {one: str(one) for one in labels if not isinstance(one, no_labels)}
        self._asked: dict[str, Any] = {}

    def name(self, item: Any) -> Any:
        if not self._names or isinstance(item, (str, bool)):
            return item
        with suppress(KeyError, TypeError):  # it is no label, or has no hash
            name = self._names[item]
            self._asked[name] = item
            return name
        if isinstance(item, Mapping):
            return {key: self.name(value) for key, value in item.items()}
        if isinstance(item, (list, tuple, class_of("pandas", "Index"))):
            return [self.name(value) for value in item]
        return item

    def in_roles(self, roles: Mapping[str, Any]) -> dict[str, Any]:
        return {role: one if role in _VALUES else self.name(one) for role, one in roles.items()}

    def back(self, result: ResultT) -> ResultT:
        if self._asked and is_pandas(result):
            frame: Any = result
            frame.columns = [self._asked.get(name, name) for name in frame.columns]
        return result
