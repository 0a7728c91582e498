"""Class labels: a label as a value of the truth's own dtype, exactly or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_NO_VALUES = (pl.List, pl.Array, pl.Object)
_SCALARS = (str, bytes, bool, int, float, Decimal, date, time, timedelta, type(None))
_REFUSED = (
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)


def plain(label: Any) -> Any:
    """Return a NumPy or pandas label as a Python value, unless that would lose digits."""
    for moment in ("to_datetime64", "to_timedelta64"):
        if hasattr(label, moment) and getattr(label, "tzinfo", None) is None:
            label = getattr(label, moment)()
    if not hasattr(label, "item"):
        return label
    item = label.item()
    is_moment = label.dtype.kind in "mM"
    return label if is_moment and (item is None or isinstance(item, int)) else item


def class_value(label: Any, dtype: pl.DataType) -> pl.Series | None:
    """Return a label as a series with one value of a dtype, or None if that cannot hold it.

    Numbers are equal whatever their type, and instants whatever their time zone; but a Boolean is
    not a number.
    """
    if dtype == pl.Null:
        return pl.Series([None], dtype=dtype)
    if (dtype == pl.Boolean) != isinstance(label, bool) or dtype in _NO_VALUES:
        return None
    if not _is_value(label):
        return None
    try:
        value = _converted(label, dtype)
        if hasattr(value, "dtype"):
            return _moment(value, dtype)
        held = pl.Series([value], dtype=dtype, strict=True)
        # Polars may choose another dtype, or round to the nearest Float32.
        near = dtype == pl.Float32 and math.isclose(held.item(), value, rel_tol=2**-24)
        fits = held.dtype == dtype and (near or bool(held.item() == value))
    except _REFUSED:
        return None
    return held if fits and held.item() is not None else None


def literal(value: pl.Series) -> pl.Expr:
    """Return the value of such a series as an expression."""
    if value.dtype.is_temporal():  # Python knows no nanoseconds
        physical = value.to_physical()
        return pl.lit(physical.item(), dtype=physical.dtype).cast(value.dtype)
    # Categories are compared as strings: another frame may number them differently.
    return pl.lit(value.item(), dtype=None if value.dtype in _TEXTS else value.dtype)


def _whole(text: str) -> int:
    """Return an integer, which may be written with a point: pandas writes 1.0 beside a gap."""
    number = Decimal(text)
    if number != int(number):
        raise ValueError(text)
    return int(number)


# How text is read as the Python type that a dtype is made from.
_READERS: dict[Any, Callable[[str], Any]] = {
    bool: lambda text: {"true": True, "false": False}[text.lower()],
    int: _whole,
    float: float,
    Decimal: Decimal,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    time: time.fromisoformat,
}


def from_text(text: str, dtype: pl.DataType) -> Any:
    """Return a text as a value of a dtype, or unchanged where that is impossible."""
    try:
        return _READERS.get(dtype.to_python(), str)(text)
    except (ValueError, KeyError, ArithmeticError):
        return text


def other_spelling(label: Any, dtype: pl.DataType) -> str | None:
    """Return how to write a label for a dtype: text as a number or date, or a number as text."""
    if isinstance(label, str) and dtype.is_numeric():
        kind, candidates = "the number", _numbers(label)
    elif isinstance(label, str) and dtype.is_temporal():
        kind = "the date" if dtype == pl.Date else "the time"
        candidates = [from_text(label, dtype)]
    elif isinstance(label, (int, float)) and dtype.is_numeric():
        kind, candidates = "the number", [int(label)] if isinstance(label, bool) else []
    elif isinstance(label, (int, float)) and dtype in _TEXTS:
        kind, candidates = "the text", [str(label)]
    else:
        return None
    fitting = (value for value in candidates if class_value(value, dtype) is not None)
    return next((f"{value!r}, {kind}" for value in fitting), None)


def _numbers(text: str) -> list[Any]:
    found: list[Any] = []
    for number in (int, float):
        try:
            found.append(number(text))
        except ValueError:
            continue
    return found


def _is_value(label: Any) -> bool:
    """Return whether Polars knows all parts of a label; for others it may print a panic."""
    if isinstance(label, dict):
        return all(map(_is_value, label.values()))
    if isinstance(label, (list, tuple)):
        return all(map(_is_value, label))
    return isinstance(label, _SCALARS) or hasattr(label, "dtype")


def _converted(label: Any, dtype: pl.DataType) -> Any:
    """Return a label as the Python type that a dtype is made from, if it has such a value."""
    if isinstance(label, (int, float, Decimal)) and dtype.is_numeric():
        return _number(label, dtype)
    if isinstance(label, datetime):
        return _instant(label, dtype)
    if isinstance(label, date) and dtype == pl.Datetime:
        return datetime.combine(label, time())
    return label


def _number(label: float | Decimal, dtype: pl.DataType) -> float | Decimal | None:
    if isinstance(label, Decimal) and not label.is_finite():
        return None  # Polars would panic, as it does for too many decimals
    if isinstance(dtype, pl.Decimal):
        exact = label if isinstance(label, Decimal) else Decimal(repr(label))
        return exact if exact == round(exact, dtype.scale) else None
    number = float(label) if dtype.is_float() else int(label)
    return number if number == label else None


def _instant(label: datetime, dtype: pl.DataType) -> date:
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None and label.tzinfo is not None:
        return label.astimezone(ZoneInfo(dtype.time_zone))
    is_day = dtype == pl.Date and label.tzinfo is None and label.time() == time()
    return label.date() if is_day else label


def _moment(value: Any, dtype: pl.DataType) -> pl.Series | None:
    """Return a NumPy datetime or duration with all its digits."""
    given = pl.Series(value.reshape(1))
    is_duration = dtype == pl.Duration
    if not dtype.is_temporal() or is_duration != (given.dtype == pl.Duration):
        return None
    held = given.cast(dtype)
    return held if held.null_count() == 0 and held.cast(given.dtype).equals(given) else None
