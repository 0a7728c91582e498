"""Rank keys: segment, score and class of a row in one integer, so that one sort ranks all rows.

::

    segment | slot of the score, the highest score first | 1 for a positive row, else 0 | row

In ascending order segments are in the order of their keys, scores descend (or ascend, if a lower
score means more likely positive: see ``scale``), and positives are last within a tie. The number of
the row is there only for what brings a result back to each row.

The rule for ties is here: rows of a segment are tied if their scores have the same slot (see
``scale``), and a tie ends where the key changes in more than the class. What has no rank key
states the same rule for itself: engines group by the score, as does the bootstrap, and the plain
expression ranks it.

Sorting 5 million Int128 keys takes as long as sorting as many Float64 scores, and
UInt64 keys take less; sorting by two columns takes about 12 times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from frame_prc._lazy import remembered
from frame_prc._ranking.scale import Scale, integer

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

    Each segment opens with an extra row in the first slot, where its running sums start; it is
    marked positive, so that it stays where only positives are kept. The last slot holds rows that
    no threshold retrieves. Only the row after all segments has the number ``last_segment``.
    ``row_bits`` is 0 where keys do not hold the number of the row.
    """

    scale: Scale
    last_segment: int
    row_bits: int = 0

    @property
    def bits(self) -> int:
        """The number of bits of a key."""
        return self.last_segment.bit_length() + self.scale.bits + 1 + self.row_bits

    @property
    def dtype(self) -> type[pl.DataType]:
        """The narrowest dtype that holds segment, slot and class."""
        return pl.UInt64 if self.bits <= _UINT64 and self.scale.bits < _INT64 else pl.Int128

    def narrower(self) -> RankKey | None:
        """Return a key of 64 bits, on whose scale close scores may share a slot, if there is room.

        Numbers of segments from a wide range of keys leave none.
        """
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
        """Return the rank key of the row that opens a segment."""
        return self.pack(pl.col("segment"), pl.lit(0), pl.lit(1))

    @remembered
    def ending(self) -> pl.LazyFrame:
        """Return the row after all segments, which opens an empty one."""
        return pl.LazyFrame({"segment": [self.last_segment]}).select(self.opening())

    @remembered
    def segment(self) -> pl.Expr:
        """Return the number of the segment."""
        return (_KEY // self._int(self._segment_size)).cast(pl.Int64).alias("segment")

    @remembered
    def slot(self) -> pl.Expr:
        """Return the slot of the score."""
        return (self._within_segment() // self._int(2 * self.class_size)).alias("slot")

    @remembered
    def retrieved(self) -> pl.Expr:
        """Return whether a threshold reaches a row, from its column ``slot``."""
        return pl.col("slot") != self._int(self.scale.last)

    @remembered
    def unretrieved(self) -> pl.Expr:
        """Return whether no threshold reaches a row, from its rank key."""
        return self._within_segment() >= self._int(2 * self.class_size * self.scale.last)

    @remembered
    def tie(self) -> pl.Expr:
        """Return the rank key without the class, equal for all rows of a segment and score."""
        return (_KEY - (_KEY & self._int(2 * self.class_size - 1))).alias("rank_key")

    def with_class(self, positive: pl.Expr) -> pl.Expr:
        """Return the rank key from one without the class."""
        return (_KEY + positive.cast(self.dtype) * self._int(self.class_size)).alias("rank_key")

    def later(self, slots: pl.Expr) -> pl.Expr:
        """Return the rank key with a slot that is so many slots later."""
        return (_KEY + slots.cast(self.dtype) * self._int(2 * self.class_size)).alias("rank_key")

    def row(self) -> pl.Expr:
        """Return the number of the row."""
        return (_KEY & self._int(self.class_size - 1)).cast(pl.UInt32).alias("row")

    @remembered
    def positive(self) -> pl.Expr:
        """Return whether a row is positive, as the row that opens a segment is too."""
        return (_KEY & self._int(self.class_size)) == self._int(self.class_size)

    @remembered
    def opens(self) -> pl.Expr:
        """Return whether a row opens its segment."""
        return (self._within_segment() == self._int(self.class_size)).alias("opens")

    @remembered
    def closes(self) -> pl.Expr:
        """Return whether a row is the last of its segment; rows must be sorted."""
        return (self._step() >= self._int(self._segment_size)).alias("closes")

    @remembered
    def ends_tie(self) -> pl.Expr:
        """Return whether a row is the last of its score; rows must be sorted."""
        return self._step() >= self._int(2 * self.class_size)

    def row_and_class(self) -> pl.Expr:
        """Return the number and the class of a row in one narrow integer."""
        return (_KEY & self._int(2 * self.class_size - 1)).cast(pl.Int64).alias("row_and_class")

    def unpacked(self) -> list[pl.Expr]:
        """Return ``row`` and ``positive`` from that integer."""
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
