"""Values in the dtypes of columns: labels of classes, and thresholds with the bins between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from frame_prc._formulas import unsigned_zero

# --- labels of classes -------------------------------------------------------------------------

_TEXTS = (pl.String, pl.Categorical, pl.Enum)
_NO_VALUES = (pl.List, pl.Array, pl.Object)
_SCALARS = (str, bytes, bool, int, float, Decimal, date, time, timedelta, type(None))
_DECIMALS = 38  # that Polars has
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
    """Return a label as a series of a dtype, or None; Booleans are no numbers."""
    if dtype == pl.Null:
        return pl.Series([None], dtype=dtype)
    if dtype in _NO_VALUES or not _is_value(label):
        return None
    try:
        given = pl.Series(label.reshape(1)) if hasattr(label, "dtype") else pl.Series([label])
        held = given.cast(dtype) if _family(given.dtype) == _family(dtype) else None
        return held if held is not None and _is_equal(held, given) else None
    except _REFUSED:
        return None


def _family(dtype: pl.DataType) -> object:
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.Date, pl.Datetime):
        return "instants" if getattr(dtype, "time_zone", None) else "dates"
    return "texts" if dtype in _TEXTS else dtype.base_type()


def _is_equal(held: pl.Series, given: pl.Series) -> bool:
    if held.dtype == pl.Float32 and not given.dtype.is_integer():
        return math.isclose(held.item(), given.item(), rel_tol=2**-24)
    if held.dtype == pl.Struct:
        return bool(held.item() == given.item())
    known = held.null_count() == 0 and not (held.dtype.is_float() and math.isnan(held.item()))
    return known and held.cast(given.dtype).equals(given)


def literal(value: pl.Series) -> pl.Expr:
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
    try:
        return _READERS.get(dtype.to_python(), str)(text)
    except (ValueError, KeyError, ArithmeticError):
        return text


def other_spelling(label: Any, dtype: pl.DataType) -> str | None:
    """Return how to write a label for a dtype: text as a number or date, or a number as text."""
    if isinstance(label, str) and dtype not in _TEXTS:
        other = from_text(label, dtype)
    elif isinstance(label, (int, float)) and dtype in _TEXTS:
        other = str(label)
    else:
        other = int(label) if isinstance(label, bool) else None
    if isinstance(other, float) and other.is_integer():
        other = int(other)
    if other is None or class_value(other, dtype) is None:
        return None
    kinds = {str: "text", date: "date", datetime: "time", time: "time"}
    return f"{other!r}, the {kinds.get(type(other), 'number')}"


def _is_value(label: Any) -> bool:
    """Return whether Polars knows all parts of a label; for others it may print a panic."""
    if isinstance(label, Decimal):
        return label.is_finite() and -_DECIMALS < label.adjusted() < _DECIMALS
    if isinstance(label, dict):
        return all(map(_is_value, label.values()))
    if isinstance(label, (list, tuple)):
        return all(map(_is_value, label))
    return isinstance(label, _SCALARS) or hasattr(label, "dtype")


# --- thresholds --------------------------------------------------------------------------------

MOST_THRESHOLDS = 1_000_000

# The ends of bins that are not in them, as columns of counts.
BELOW, ABOVE = "below", "above"

# Float64 does not hold all of their numbers.
_WIDE_INTEGERS = (pl.Int64, pl.UInt64, pl.Int128, pl.UInt128)
_FLOAT_DIGITS = 15

_SCORE = pl.col("score")


@dataclass(frozen=True)
class Bins:
    """Ascending thresholds; a score is in the bin of the highest one that it reaches.

    Those that are ``evenly`` spaced need no search; ``of_probabilities`` says that scores are from
    0 to 1. If ``ascending``, a score is in the bin of the lowest threshold that is not below it.
    """

    thresholds: list[float]
    evenly: bool = False
    of_probabilities: bool = False
    ascending: bool = False

    @property
    def other_end(self) -> str:
        return other_end(ascending=self.ascending)

    def of(self, score_dtype: pl.DataType) -> Bins:
        """Return bins with thresholds as they are compared: as a Float32, 0.7 is slightly less."""
        given = pl.Series(self.thresholds, dtype=pl.Float64)
        rounded = given.cast(threshold_dtype(score_dtype)).cast(pl.Float64)
        distinct = unsigned_zero(pl.lit(rounded), pl.Float64()).unique(maintain_order=True)
        thresholds = pl.select(distinct).to_series().to_list()
        return replace(
            self, thresholds=thresholds, evenly=self.evenly and thresholds == self.thresholds
        )

    def with_level(self, frame: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        """Add ``level``, the number of each score's bin, as Int32; null if it is in no bin."""
        score = _SCORE.cast(pl.Float64)
        if self.of_probabilities:
            score = score.clip(upper_bound=1.0)  # sums of Float32 may exceed 1
        if self.evenly:
            placed = frame.with_columns(level=self._even_level(score))
        else:
            placed = self._searched(frame, score, in_memory=in_memory)
        first, last = self.thresholds[0], self.thresholds[-1]
        reached = score <= last if self.ascending else score >= first
        return placed.with_columns(level=pl.when(reached).then("level"))

    def _searched(self, frame: pl.LazyFrame, score: pl.Expr, *, in_memory: bool) -> pl.LazyFrame:
        thresholds = pl.lit(pl.Series(self.thresholds, dtype=pl.Float64))
        if self.ascending:
            place = thresholds.search_sorted(score, side="left").cast(pl.Int32)
        else:
            place = thresholds.search_sorted(score, side="right").cast(pl.Int32) - 1
        if in_memory:
            return frame.with_columns(level=place)
        # search_sorted alone would bring the whole column into memory, and Python inside an
        # expression runs on a thread of the pool.
        schema = pl.Schema({**frame.collect_schema(), "level": pl.Int32()})
        with_place = lambda batch: batch.with_columns(level=place)  # noqa: E731
        return frame.map_batches(with_place, schema=schema, streamable=True)

    def _even_level(self, score: pl.Expr) -> pl.Expr:
        last = len(self.thresholds) - 1
        nearest = (score.clip(0.0, 1.0) * last).round()
        # Thresholds are exact quotients, and Polars divides inexactly by a scalar: hence a column.
        threshold = nearest / (score * 0.0 + last).fill_nan(float(last))
        # Not strict: the checks report NaN.
        place = nearest.cast(pl.Int32, strict=False)
        if self.ascending:
            return place + (score > threshold).cast(pl.Int32)
        return place - (score < threshold).cast(pl.Int32)

    def table(self, score_dtype: pl.DataType) -> pl.LazyFrame:
        """Return each ``level`` with its bin: from ``score`` to the other end, not in it."""
        dtype, thresholds = threshold_dtype(score_dtype), self.of(score_dtype).thresholds
        infinity = float("inf")
        neighbours = (
            [-infinity, *thresholds[:-1]] if self.ascending else [*thresholds[1:], infinity]
        )
        ends = {"score": thresholds, self.other_end: neighbours}
        table = pl.LazyFrame(ends, schema=dict.fromkeys(ends, dtype))
        return table.with_row_index("level")


def other_end(*, ascending: bool) -> str:
    return ABOVE if ascending else BELOW


def threshold_dtype(score: pl.DataType) -> pl.DataType:
    """Return the dtype of thresholds in results; exact counts alone keep the score as it is."""
    return score if score.is_float() else pl.Float64()


def may_be_rounded(score: pl.DataType) -> bool:
    is_long = isinstance(score, pl.Decimal) and (score.precision or _DECIMALS) > _FLOAT_DIGITS
    return is_long or score in _WIDE_INTEGERS
