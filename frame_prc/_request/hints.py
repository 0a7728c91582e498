"""Hints: what was probably meant by an argument that is not a column, or not a numeric one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from frame_prc.exceptions import shown, type_name

_INTO_FRAME = "put it into the frame as a column"
_CONSTANTS = (bool, int, float, complex, Decimal, bytes, date, time, timedelta)
_ENGINES = ("ibis.", "pyspark.", "duckdb.", "_duckdb.")
_GROUPERS = ("pandas.Grouper", "pandas.TimeGrouper")
_TABLE, _BINARY = 2, 2  # dimensions of a table, and classes of a binary one


def is_of_engine(item: object) -> bool:
    """Return whether this is a column or an expression of an engine."""
    return type_name(item).startswith(_ENGINES)


def column_hint(item: Any) -> str | None:
    """Return how to pass the values of an item that is neither a name nor an expression."""
    if is_of_engine(item):
        return "give the column's name; a computed column goes into the table first, with a name"
    if isinstance(item, _CONSTANTS):
        return f"pl.lit({shown(item)}) makes a constant; a name is a string, or in pandas a label"
    if type_name(item) in _GROUPERS:
        day = item.key if isinstance(item.key, str) else "date"
        return f"give an expression, such as pl.col({day!r}).dt.truncate('1w') for weeks"
    if len(getattr(item, "shape", ())) == _TABLE:
        return _table_hint(item)
    if hasattr(item, "dtype"):
        return _values_hint(item)
    return _list_hint(item) if isinstance(item, Iterable) else _function_hint(item)


def _table_hint(item: Any) -> str:
    if hasattr(item, "columns"):
        return "give the names of its columns; those of another frame go into this one first"
    if item.shape[1] == _BINARY:
        return "put array[:, 1], the scores of the positive class, into the frame as a column"
    return "put its columns into the frame first; one_vs_rest takes one for each class"


def _values_hint(item: Any) -> str:
    """Return what to do with an array, or with a Series that may be a column of the frame."""
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not name:
        return f"{_INTO_FRAME}, and give that column's name"
    hint = f"give its name, {name!r}, if it is an unchanged column of the frame; if it is computed"
    if str(item.dtype).lower() in {"bool", "boolean"}:
        return f"{hint}, give an expression such as pl.col({name!r}) == 'yes'"
    return f"{hint}, {_INTO_FRAME} with a name of its own"


def _function_hint(item: object) -> str | None:
    if hasattr(item, "predict") or hasattr(item, "predict_proba"):
        return "put its scores into the frame as a column, such as model.predict_proba(X)[:, 1]"
    return "give an expression, such as pl.col('date').dt.year()" if callable(item) else None


def _list_hint(item: Iterable[Any]) -> str:
    items = [*item] if isinstance(item, (list, tuple, set, frozenset)) else []
    if not items or not all(isinstance(name, str) for name in items):
        return f"{_INTO_FRAME}, and give that column's name"
    if isinstance(item, (set, frozenset)):
        return "give a list: a set has no order"
    return f"give one column, without a list: {items[0]!r}"


def number_hint(role: str, name: str, dtype: pl.DataType) -> str | None:
    """Return how to convert a column to numbers."""
    column = f"pl.col({name!r})"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        text = column if dtype == pl.String else f"{column}.cast(pl.String)"
        plain = f"{text}.str.replace(',', '.').str.strip_chars('% ').cast(pl.Float64)"
        pandas = f"frame[{name!r}].str.replace(',', '.').str.strip('% ').astype(float)"
        return f"cast it first: {role}={plain} reads 0.93, 0,93 and 93%, and in pandas {pandas}"
    if isinstance(dtype, (pl.Array, pl.List)):
        second = f"{column}.{'arr' if isinstance(dtype, pl.Array) else 'list'}.get(1)"
        return (
            f"{role}={second} takes the second of its values, that of the positive class in "
            "predict_proba; one_vs_rest takes a column for each of several classes"
        )
    if dtype == pl.Boolean:
        return f"cast it first: {role}={column}.cast(pl.Float64)"
    return None
