"""Segments: every combination of keys in the input, numbered in key order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc import _execution
from frame_prc._lazy import cached, left_join, remembered, segment_join
from frame_prc._ranking.rank_key import integer, integer_bounds
from frame_prc._rows.rows import Rows

_NUMBER = pl.col("segment")
# Their differences may not fit Int64.
_WIDE_INTEGERS = (pl.UInt64, pl.Int128, pl.UInt128)
_LOWEST_INT64 = -(2**63)


@dataclass(frozen=True)
class KeyRange:
    """The range of a single integer key, from which segments are numbered: null is 0.

    So neither the numbers of rows nor the keys of points need a join.
    """

    dtype: pl.DataType
    lowest: int
    highest: int

    @property
    def size(self) -> int:
        """How many values the key can have, null included."""
        return self.highest - self.lowest + 2

    @remembered
    def number(self, name: str = "key_0") -> pl.Expr:
        """Return the number of a row's segment, from its key."""
        key, first = pl.col(name).to_physical().cast(self.integer), self.lowest - 1
        if self.dtype not in _WIDE_INTEGERS and first >= _LOWEST_INT64:
            # One subtraction of a whole column.
            number = key - integer(first, pl.Int64()) if first else key
        else:
            number = (key - integer(self.lowest, self.integer)).cast(pl.Int64) + 1
        return number.fill_null(0)

    @remembered
    def key(self, name: str = "key_0") -> pl.Expr:
        """Return the key of a segment from its number."""
        above_lowest = pl.when(_NUMBER > 0).then(_NUMBER - 1).cast(self.integer, strict=False)
        key = above_lowest + integer(self.lowest, self.integer)
        return key.cast(self.dtype, strict=False).alias(name)

    @property
    def integer(self) -> pl.DataType:
        """The dtype in which keys are added and subtracted."""
        return self.dtype if self.dtype in _WIDE_INTEGERS else pl.Int64()


@dataclass(frozen=True)
class Segments:
    """The segments of some rows, with numbers below ``count``.

    ``table`` has ``segment``, the number; the key columns; and ``n_dropped`` where missing values
    were dropped. Without a ``key_range`` a segment's number is its row in the table.
    """

    table: pl.LazyFrame
    count: int
    keys: list[str]
    key_range: KeyRange | None = None

    @property
    def may_move_rows(self) -> bool:
        """Whether rows get their numbers by a join."""
        return bool(self.keys) and self.key_range is None

    def numbered(self, frame: pl.LazyFrame, *, in_order: bool = False) -> pl.LazyFrame:
        """Add to each row the number of its segment; ``in_order`` says that rows must not move."""
        if not self.keys:
            return frame.with_columns(segment=pl.lit(0, dtype=pl.Int64))
        if self.key_range is not None:
            return frame.with_columns(segment=self.key_range.number())
        numbers = self.table.select("segment", *self.keys)
        return left_join(frame, numbers, self.keys, in_order=in_order)

    def with_keys(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Replace the column ``segment`` by the key columns."""
        if not self.keys:
            return frame.drop("segment")
        if self.key_range is not None:
            return frame.with_columns(self.key_range.key()).drop("segment")
        keys = self.table.select("segment", *self.keys)
        keyed = segment_join(frame, keys)
        return keyed.drop("segment")


def numbered_segments(rows: Rows, limit: int) -> tuple[Segments, pl.LazyFrame]:
    """Return the segments of the rows, with numbers below the limit, and rows with these."""
    # In another order sums of weights would have other digits.
    in_order = rows.many_in_memory and bool(rows.carried(squares=False))
    segments = find_segments(rows, limit)
    return segments, segments.numbered(rows.used(), in_order=in_order)


def _numbered(keys: pl.LazyFrame, limit: int) -> pl.LazyFrame:
    return keys.with_row_index("segment").with_columns(_below(limit))


def find_segments(rows: Rows, limit: int) -> Segments:
    """Return the segments of the rows, with numbers below the limit."""
    counts = [] if rows.n_dropped is None else [rows.n_dropped.sum().alias("n_dropped")]
    if not rows.keys:
        whole = rows.frame.select(counts) if counts else pl.LazyFrame({"all": [None]})
        return Segments(cached(whole.with_columns(segment=pl.lit(0, dtype=pl.Int64))), 1, [])
    dtype, key_range = rows.only_key_dtype, None
    if dtype is not None:
        key_range = range_of(dtype, None if rows.values is None else rows.values["by_0"])
    if key_range is not None and key_range.size <= limit:
        numbers = None if counts else numbers_in_memory(rows, key_range)
        if numbers is None:
            table = rows.once(_distinct(rows, counts).with_columns(segment=key_range.number()))
        else:
            table = numbers.to_frame().lazy().with_columns(key_range.key())
        return Segments(table, key_range.size, rows.keys, key_range)
    keys = _distinct(rows, counts)
    if rows.values is None:
        return Segments(cached(_numbered(keys, limit)), limit, rows.keys)
    # Polars loses nulls in a left join with structs of several chunks.
    found = _numbered(keys, limit).collect().rechunk()
    return Segments(found.lazy(), found.height, rows.keys)


def _distinct(rows: Rows, counts: list[pl.Expr]) -> pl.LazyFrame:
    return rows.frame.group_by(rows.keys).agg(counts).sort(rows.keys)


def numbers_in_memory(rows: Rows, key_range: KeyRange) -> pl.Series | None:
    """Return the numbers of the segments of rows in memory, if the first rows show all of them."""
    if rows.values is None:
        return None
    keys, before = _physical(rows.values["by_0"]), key_range.lowest - 1
    first = set(keys[: _execution.SIZES.keys].to_list())
    possible = key_range.size - (0 if keys.null_count() else 1)
    if len(keys) > _execution.SIZES.keys and len(first) < possible:
        return None
    distinct = sorted(0 if key is None else key - before for key in first)
    return pl.Series("segment", distinct, dtype=pl.Int64)


def _below(limit: int) -> pl.Expr:
    # A number at the limit or above must fail in this cast, not wrap into another segment.
    room = max(2**31 // (limit + 1), 1)
    number = _NUMBER.cast(pl.Int64)
    return ((number + 1) * room).cast(pl.Int32 if room > 1 else pl.Int64) // room - 1


def range_of(dtype: pl.DataType, values: pl.Series | None) -> KeyRange | None:
    """Return the range of a key whose values are integers underneath, else ``None``."""
    bounds = key_bounds(dtype)
    if bounds is None:
        return None
    if values is not None:
        integers: Any = _physical(values)
        bounds = int(integers.min() or 0), int(integers.max() or 0)
    return KeyRange(dtype, *bounds)


def _physical(keys: pl.Series) -> pl.Series:
    # Of integers too, it would take as long as all else that is asked of few keys.
    return keys if keys.dtype.is_integer() else keys.to_physical()


def key_bounds(dtype: pl.DataType) -> tuple[int, int] | None:
    """Return the lowest and the highest integer of a key, if its values are integers underneath."""
    if dtype == pl.Boolean:
        return 0, 1
    if dtype.is_temporal():
        return integer_bounds(pl.Int32() if dtype == pl.Date else pl.Int64())
    return integer_bounds(dtype) if dtype.is_integer() else None
