"""Segment, score and class of a row packed into one integer, so that one narrow sort ranks all.

::

    segment | slot of the score, the highest score first | 1 for a positive row, else 0

Ascending, it puts segments in the order of their keys, scores descending, and positives last
within a tie. Sorting this key of 5 million Float64 scores takes 1.4 times a bare sort of those
scores (Float32: .7 times, the key fits 64 bits); sorting two columns takes about 12 times.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._scale import Scale

_KEY = pl.col("rank_key")


@dataclass(frozen=True)
class RankKey:
    """What a column ``rank_key`` says, as expressions.

    The first slot opens each segment with an empty row, where its running sums start; the last
    takes rows that no threshold retrieves.
    """

    scale: Scale

    @property
    def dtype(self) -> type[pl.DataType]:
        """The key's dtype: 31 bits are left for the segment in UInt64, and more in Int128."""
        return pl.UInt64 if self.scale.narrow else pl.Int128

    def pack(self, segment: pl.Expr, slot: pl.Expr, positive: pl.Expr) -> pl.Expr:
        """Return the rank key of each row."""
        # A segment number over 31 bits must fail here, not wrap into another segment.
        number = segment.cast(pl.Int32) if self.scale.narrow else segment
        by_segment = number.cast(self.dtype) * self._int(self._segment_size)
        by_slot = slot.cast(self.dtype) * self._int(2)
        return (by_segment + by_slot + positive.cast(self.dtype)).alias("rank_key")

    def segment(self) -> pl.Expr:
        """Return the number of the segment."""
        return (_KEY // self._int(self._segment_size)).cast(pl.UInt32).alias("segment")

    def slot(self) -> pl.Expr:
        """Return the slot of the score."""
        return (self._within_segment() // self._int(2)).alias("slot")

    def retrieved(self) -> pl.Expr:
        """Return whether some threshold reaches a row, from its column ``slot``."""
        return pl.col("slot") != self._int(self.scale.last)

    def tie(self) -> pl.Expr:
        """Return the rank key without the class: one value per segment and score."""
        return (_KEY - (_KEY & self._int(1))).alias("rank_key")

    def positive(self) -> pl.Expr:
        """Return 1 for a positive row, else 0."""
        return (_KEY & self._int(1)).cast(pl.Int64)

    def opens(self) -> pl.Expr:
        """Return whether a row is the empty one that opens its segment."""
        return (self._within_segment() == self._int(0)).alias("opens")

    def closes(self) -> pl.Expr:
        """Return whether a row is the last of its segment; rows must be sorted."""
        return (self._step() >= self._int(self._segment_size)).alias("closes")

    def ends_tie(self) -> pl.Expr:
        """Return whether a row is the last of its score; rows must be sorted."""
        return self._step() > self._int(1)

    @property
    def _segment_size(self) -> int:
        return int(2 ** (self.scale.bits + 1))

    def _within_segment(self) -> pl.Expr:
        return _KEY & self._int(self._segment_size - 1)

    def _step(self) -> pl.Expr:
        """Return the bits in which a key and the next one differ."""
        return _KEY ^ _KEY.shift(-1, fill_value=self._int(2**63 if self.scale.narrow else 2**126))

    def _int(self, value: int) -> pl.Expr:
        return pl.lit(value, dtype=self.dtype)
