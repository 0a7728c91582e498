"""Keys: the numbers of segments, and segment, score and class of a row in one integer.

So one sort ranks all rows.

::

    segment | slot of the score, the highest score first | 1 for a positive row, else 0 | row

The number of the row is there only for what brings a result back to each row. A slot is a score as
an integer, exact in its own dtype: the bits of floats, those of negative ones mirrored at zero,
which makes -0.0 and 0.0 one score. The rule for ties is here: rows are tied if their scores have
the same slot. Engines, the bootstrap and the plain expression state it for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import polars as pl

from frame_prc import _execution
from frame_prc._lazy import cached, join, left_join, remembered, segment_join
from frame_prc._rows.rows import Rows

# --- scores as integers ---------------------------------------------------------------------------


_WIDTH_IN_INT64 = 62
_HIGHEST_INT64 = 2**63 - 1


@dataclass(frozen=True)
class Scale:
    """Scores of one dtype as slots: integers in ranking order, from 0 to ``last``.

    No score has the first or the last slot. ``lowest`` and ``highest`` are the integers of the
    possible scores in units of ``grain``; if that is above 1, close scores share a slot.
    """

    dtype: pl.DataType
    lowest: int
    highest: int
    ascending: bool = False
    grain: int = 1

    @classmethod
    def of(cls, dtype: pl.DataType, *, ascending: bool = False) -> Scale:
        if dtype.is_float():
            # The bits of infinity: only those of NaN are higher.
            infinity = 0x7FF0000000000000 if dtype == pl.Float64 else 0x7F800000
            return cls(dtype, -infinity, infinity, ascending)
        return cls(dtype, *integer_bounds(dtype), ascending)

    @classmethod
    def over(cls, columns: Sequence[pl.Series], dtype: pl.DataType, *, ascending: bool) -> Scale:
        """Return the scale of every score from the lowest to the highest in some columns."""
        values = [column.cast(dtype) for column in columns]
        ends = pl.Series("score", [end for one in values for end in (one.min(), one.max())], dtype)
        if ends.null_count() == len(ends):
            return cls.of(dtype, ascending=ascending)
        numbers: Any = ends.to_frame().select(_number(pl.col("score"), dtype)).to_series()
        return cls(dtype, numbers.min(), numbers.max(), ascending)

    def coarser(self, bits: int) -> Scale:
        scale = self
        while scale.bits > bits:
            size = 1 << (scale.bits - bits)
            lowest, highest = scale.lowest // size, scale.highest // size
            scale = replace(scale, lowest=lowest, highest=highest, grain=scale.grain * size)
        return scale

    @property
    def bits(self) -> int:
        return (self.highest - self.lowest + 2).bit_length()

    @property
    def last(self) -> int:
        """The highest slot, for rows that are never retrieved."""
        return int(2**self.bits) - 1

    def slot(self, score: pl.Expr) -> pl.Expr:
        """Return the slot of each score, as Int64 or Int128; a null score gets the last."""
        number = _number(score, self.dtype, mirrors=self._mirrors)
        if self.grain > 1:
            number = number // integer(self.grain, _raw(self.dtype))
        number = number.cast(self._signed)
        slot = number - self._before if self.ascending else self._before - number
        return slot.fill_null(self._int(self.last))

    def score(self, slot: pl.Expr) -> pl.Expr:
        """Return the score of each slot but the last, which has none."""
        steps = slot.cast(self._signed)
        number = self._before + steps if self.ascending else self._before - steps
        raw = _raw(self.dtype)
        if raw is None:
            return number.cast(self.dtype, strict=False)
        bits = number.cast(raw, strict=False)
        bits = _mirrored(bits, raw) if self._mirrors else bits
        return bits.reinterpret(dtype=_float(self.dtype)).cast(self.dtype)

    @property
    def _mirrors(self) -> bool:
        """Whether a score may be negative, or -0.0, whose bits are mirrored."""
        return self.lowest <= 0

    @property
    def _before(self) -> pl.Expr:
        """The integer before that of the first score, whose slot would be 0."""
        return self._int(self.lowest - 1 if self.ascending else self.highest + 1)

    @property
    def _signed(self) -> type[pl.DataType]:
        ends_fit = max(abs(self.lowest), abs(self.highest)) < _HIGHEST_INT64
        narrow = self.bits <= _WIDTH_IN_INT64 and ends_fit
        return pl.Int64 if narrow else pl.Int128

    def _int(self, value: int) -> pl.Expr:
        return integer(value, self._signed)


@lru_cache(maxsize=256)
def integer(value: int, dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """Return a literal, cached because making it takes longer than computing on a small frame."""
    return pl.lit(value, dtype=dtype)


@lru_cache(maxsize=16)
def integer_bounds(dtype: pl.DataType) -> tuple[int, int]:
    empty = pl.Series(dtype=dtype)
    return empty.lower_bound().item(), empty.upper_bound().item()


def _number(score: pl.Expr, dtype: pl.DataType, *, mirrors: bool = True) -> pl.Expr:
    """Return integers in the order of the scores: of floats their bits, mirrored if negative."""
    raw = _raw(dtype)
    if raw is None:
        return score
    bits = score.cast(_float(dtype)).reinterpret(dtype=raw)
    return _mirrored(bits, raw) if mirrors else bits


def _mirrored(bits: pl.Expr, raw: type[pl.DataType]) -> pl.Expr:
    """Mirror the bits of negative floats, so that they ascend like the floats; its own inverse."""
    lowest = integer(-(2**31) if raw == pl.Int32 else -(2**63), raw)
    return pl.when(bits < 0).then(lowest - bits).otherwise(bits)


def _raw(dtype: pl.DataType) -> type[pl.DataType] | None:
    if not dtype.is_float():
        return None
    return pl.Int64 if dtype == pl.Float64 else pl.Int32


def _float(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.Float64 if dtype == pl.Float64 else pl.Float32


# --- keys -----------------------------------------------------------------------------------------


_KEY = pl.col("rank_key")
_FEW_BITS = 33
_FEWEST_BITS = 8  # of a slot; it needs two, for the first and the last one
_UINT64, _INT128 = 64, 126  # how many bits a key may have
_INT64 = 62  # and how many a score and its class
ROW_BITS = 32  # of the number of a row, a UInt32


def most_segments(scale: Scale, row_bits: int = 0) -> int:
    """Return how many segments a key has room for: in UInt64 if scores are narrow, else Int128."""
    width = _UINT64 if scale.bits + row_bits <= _FEW_BITS else _INT128
    # The number of a segment is an Int64, whatever the width of the key.
    return (1 << min(width - 1 - scale.bits - row_bits, 62)) - 1


@dataclass(frozen=True)
class RankKey:
    """The layout of a column ``rank_key``, and the expressions that pack and read it.

    Each segment opens with an extra row in the first slot, marked positive, where its running sums
    start. The last slot holds rows that no threshold retrieves. Only the row after all segments has
    the number ``last_segment``. ``row_bits`` is 0 where keys do not hold the number of the row.
    """

    scale: Scale
    last_segment: int
    row_bits: int = 0

    @property
    def bits(self) -> int:
        return self.last_segment.bit_length() + self.scale.bits + 1 + self.row_bits

    @property
    def dtype(self) -> type[pl.DataType]:
        return pl.UInt64 if self.bits <= _UINT64 and self.scale.bits < _INT64 else pl.Int128

    def narrower(self) -> RankKey | None:
        """Return a key of 64 bits, in which close scores may share a slot, if there is room."""
        bits = min(_UINT64 - self.bits + self.scale.bits, _INT64 - 1)
        return replace(self, scale=self.scale.coarser(bits)) if bits >= _FEWEST_BITS else None

    def pack(self, segment: pl.Expr, slot: pl.Expr, positive: pl.Expr) -> pl.Expr:
        """Return the rank key of each row, of row 0 where keys hold the number of the row."""
        # What fits Int64 is computed in it, which takes a third as long.
        narrow = pl.Int64 if self.scale.bits < _INT64 else pl.Int128
        wide = pl.Int64 if self.dtype == pl.UInt64 else pl.Int128
        # Not strict: an invalid score, such as NaN, may be beyond the scale. The checks raise.
        slots = slot.cast(narrow, strict=False) * integer(2, narrow)
        tie = (slots + positive.cast(narrow)).cast(wide)
        key = segment.cast(wide) * integer(2 ** (self.scale.bits + 1), wide) + tie
        key = key * integer(self.class_size, wide) if self.row_bits else key
        # The sign bit of an Int64 is the first of a UInt64.
        key = key.reinterpret(signed=False) if self.dtype == pl.UInt64 else key
        return key.alias("rank_key")

    @remembered
    def opening(self) -> pl.Expr:
        return self.pack(pl.col("segment"), pl.lit(0), pl.lit(1))

    @remembered
    def ending(self) -> pl.LazyFrame:
        return pl.LazyFrame({"segment": [self.last_segment]}).select(self.opening())

    @remembered
    def segment(self) -> pl.Expr:
        return (_KEY // self._int(self._segment_size)).cast(pl.Int64).alias("segment")

    @remembered
    def slot(self) -> pl.Expr:
        return (self._within_segment() // self._int(2 * self.class_size)).alias("slot")

    @remembered
    def retrieved(self) -> pl.Expr:
        return pl.col("slot") != self._int(self.scale.last)

    @remembered
    def unretrieved(self) -> pl.Expr:
        return self._within_segment() >= self._int(2 * self.class_size * self.scale.last)

    @remembered
    def tie(self) -> pl.Expr:
        """Return the rank key without the class, equal for all rows of a segment and score."""
        return (_KEY - (_KEY & self._int(2 * self.class_size - 1))).alias("rank_key")

    def with_class(self, positive: pl.Expr) -> pl.Expr:
        return (_KEY + positive.cast(self.dtype) * self._int(self.class_size)).alias("rank_key")

    def later(self, slots: pl.Expr) -> pl.Expr:
        return (_KEY + slots.cast(self.dtype) * self._int(2 * self.class_size)).alias("rank_key")

    def row(self) -> pl.Expr:
        return (_KEY & self._int(self.class_size - 1)).cast(pl.UInt32).alias("row")

    def rows_in(self, keys: pl.Series) -> pl.Series:
        # Lazy, as that takes all threads.
        return keys.to_frame().lazy().select(self.row()).collect().to_series()

    @remembered
    def positive(self) -> pl.Expr:
        """Return whether a row is positive, as the row that opens a segment is too."""
        return (_KEY & self._int(self.class_size)) == self._int(self.class_size)

    @remembered
    def opens(self) -> pl.Expr:
        return (self._within_segment() == self._int(self.class_size)).alias("opens")

    @remembered
    def closes(self) -> pl.Expr:
        return (self._step() >= self._int(self._segment_size)).alias("closes")

    @remembered
    def ends_tie(self) -> pl.Expr:
        return self._step() >= self._int(2 * self.class_size)

    def row_and_class(self) -> pl.Expr:
        return (_KEY & self._int(2 * self.class_size - 1)).cast(pl.Int64).alias("row_and_class")

    def unpacked(self) -> list[pl.Expr]:
        both = pl.col("row_and_class")
        return [
            (both & (self.class_size - 1)).alias("row"),
            (both >= self.class_size).alias("positive"),
        ]

    @property
    def class_size(self) -> int:
        """The bit of the class; the bits below it are the number of the row."""
        return 1 << self.row_bits

    @property
    def _segment_size(self) -> int:
        return int(2 ** (self.scale.bits + 1)) * self.class_size

    def _within_segment(self) -> pl.Expr:
        return _KEY & self._int(self._segment_size - 1)

    def _step(self) -> pl.Expr:
        """Return the bits in which a key and the next one differ; 0 follows the last key."""
        return _KEY ^ _KEY.shift(-1, fill_value=self._int(0))

    def _int(self, value: int) -> pl.Expr:
        return integer(value, self.dtype)


# --- segments: every combination of the caller's keys, numbered in key order -------------------

_NUMBER = pl.col("segment")
_FEW_MODELS = 8  # a row is compared with the name of each
# Their differences may not fit Int64.
_WIDE_INTEGERS = (pl.UInt64, pl.Int128, pl.UInt128)
_LOWEST_INT64 = -(2**63)


@dataclass(frozen=True)
class KeyRange:
    """The range of an integer key, which numbers segments without a join; null is 0."""

    dtype: pl.DataType
    lowest: int
    highest: int

    @property
    def size(self) -> int:
        return self.highest - self.lowest + 2

    @remembered
    def number(self, name: str = "key_0") -> pl.Expr:
        key, first = pl.col(name).to_physical().cast(self.integer), self.lowest - 1
        if self.dtype not in _WIDE_INTEGERS and first >= _LOWEST_INT64:
            # One subtraction of a whole column.
            number = key - integer(first, pl.Int64()) if first else key
        else:
            number = (key - integer(self.lowest, self.integer)).cast(pl.Int64) + 1
        return number.fill_null(0)

    @remembered
    def key(self, name: str = "key_0") -> pl.Expr:
        above_lowest = pl.when(_NUMBER > 0).then(_NUMBER - 1).cast(self.integer, strict=False)
        key = above_lowest + integer(self.lowest, self.integer)
        return key.cast(self.dtype, strict=False).alias(name)

    @property
    def integer(self) -> pl.DataType:
        return self.dtype if self.dtype in _WIDE_INTEGERS else pl.Int64()


@dataclass(frozen=True)
class Segments:
    """The segments of some rows, with numbers below ``count``, and a table of their keys.

    Without a ``key_range`` a segment's number is its row in the table. Those of a few ``models``
    are those ``of_model`` for one after the other.
    """

    table: pl.LazyFrame
    count: int
    keys: list[str]
    key_range: KeyRange | None = None
    of_model: Segments | None = None
    models: Sequence[str] = ()

    def numbered(self, frame: pl.LazyFrame, *, in_order: bool = False) -> pl.LazyFrame:
        """Add to each row the number of its segment; ``in_order`` says that rows must not move."""
        if self.of_model is not None:
            numbered, before = self.of_model.numbered(frame, in_order=in_order), pl.lit(0, pl.Int64)
            for place, name in enumerate(self.models):
                count = place * self.of_model.count
                before = pl.when(pl.col("key_0") == name).then(count).otherwise(before)
            return numbered.with_columns(_NUMBER + before)
        if not self.keys:
            return frame.with_columns(segment=pl.lit(0, dtype=pl.Int64))
        if self.key_range is not None:
            return frame.with_columns(segment=self.key_range.number(*self.keys))
        numbers = self.table.select("segment", *self.keys)
        return left_join(frame, numbers, self.keys, in_order=in_order)

    def with_keys(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        if not self.keys:
            return frame.drop("segment")
        if self.key_range is not None:
            return frame.with_columns(self.key_range.key(*self.keys)).drop("segment")
        keys = self.table.select("segment", *self.keys)
        keyed = segment_join(frame, keys)
        return keyed.drop("segment")


def numbered_segments(rows: Rows, limit: int) -> tuple[Segments, pl.LazyFrame]:
    # In another order sums of weights would have other digits.
    in_order = rows.many_in_memory and bool(rows.carried(squares=False))
    segments = find_segments(rows, limit)
    return segments, segments.numbered(rows.used(), in_order=in_order)


def _numbered(keys: pl.LazyFrame, limit: int) -> pl.LazyFrame:
    return keys.with_row_index("segment").with_columns(_below(limit))


def find_segments(rows: Rows, limit: int) -> Segments:
    counts = [] if rows.n_dropped is None else [rows.n_dropped.sum().alias("n_dropped")]
    models = [] if counts else _few_models(rows)
    if rows.values is None or not models:
        return _found(rows, rows.keys, rows.frame, counts, limit)
    # The keys of a few models in memory are looked at once for all.
    keys = rows.keys[1:]
    own = rows.values.lazy().select(pl.col(f"by_{i}").alias(key) for i, key in enumerate(keys))
    one = _found(rows, keys, own, counts, limit // len(models))
    places = pl.LazyFrame({"key_0": models, "place": range(len(models))})
    every = join(places, one.table, how="cross", maintain_order="left_right")
    table = every.select(_NUMBER + pl.col("place") * one.count, *rows.keys)
    return Segments(cached(table), one.count * len(models), rows.keys, None, one, models)


def _few_models(rows: Rows) -> list[str]:
    """Return the names of a few models that each row has a score of, in order."""
    columns = rows.columns
    if not columns.several_models or columns.model is not None:
        return []
    names = sorted(name for name in columns.request.models if name is not None)
    return names if len(names) <= _FEW_MODELS else []


def _found(
    rows: Rows, keys: list[str], frame: pl.LazyFrame, counts: list[pl.Expr], limit: int
) -> Segments:
    if not keys:
        whole = frame.select(counts) if counts else pl.LazyFrame({"all": [None]})
        return Segments(cached(whole.with_columns(segment=pl.lit(0, dtype=pl.Int64))), 1, [])
    dtypes, key_range = [*rows.columns.key_dtypes.values()], None
    if len(keys) == len(dtypes) == 1:
        key_range = range_of(dtypes[0], None if rows.values is None else rows.values["by_0"])
    distinct = frame.group_by(keys).agg(counts).sort(keys)
    if key_range is not None and key_range.size <= limit:
        numbers = None if counts else numbers_in_memory(rows, key_range)
        if numbers is not None:
            table = numbers.to_frame().lazy().with_columns(key_range.key(*keys))
            return Segments(table, key_range.size, keys, key_range)
        if keys == rows.keys:  # beside models a wide range would take bits of scores
            table = rows.once(distinct.with_columns(segment=key_range.number()))
            return Segments(table, key_range.size, keys, key_range)
    if rows.values is None:
        return Segments(cached(_numbered(distinct, limit)), limit, keys)
    # Polars loses nulls in a left join with structs of several chunks.
    found = _numbered(distinct, limit).collect().rechunk()
    return Segments(found.lazy(), found.height, keys)


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
    if dtype == pl.Boolean:
        return 0, 1
    if dtype.is_temporal():
        return integer_bounds(pl.Int32() if dtype == pl.Date else pl.Int64())
    return integer_bounds(dtype) if dtype.is_integer() else None
