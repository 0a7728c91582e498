"""Scores as integers that sort the other way round: exact, in the score's own type.

A float's bits, read as an integer, order positive floats; negative ones are mirrored at zero,
which makes -0.0 and 0.0 one score. What is left is subtraction, so a slot gives its score back.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

_NARROW = (pl.Float16, pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16)


@dataclass(frozen=True)
class Scale:
    """Scores of one dtype as slots: integers that ascend while the score descends.

    Slots are numbered from 0 to ``last``, and no score has either of these two: of the float
    patterns only NaN would fall there, and for integers there is room to spare. ``dtype`` is a
    float, or an integer of at most 64 bits.
    """

    dtype: pl.DataType

    @property
    def narrow(self) -> bool:
        """Whether slots have 32 bits; otherwise they have 65."""
        return self.dtype in _NARROW

    @property
    def bits(self) -> int:
        """The width of a slot."""
        return 32 if self.narrow else 65

    @property
    def last(self) -> int:
        """The highest slot, for rows that are never retrieved."""
        return int(2**self.bits) - 1

    def slot(self, score: pl.Expr) -> pl.Expr:
        """Return the slot of each score, as Int64 or Int128; a null score has the last."""
        ascending = _mirrored(self._read_bits(score), self._raw) if self._raw else score
        return (self._middle - ascending.cast(self._signed)).fill_null(self._int(self.last))

    def score(self, slot: pl.Expr) -> pl.Expr:
        """Return the score of each slot; the last slot has no score to give back."""
        ascending = self._middle - slot.cast(self._signed)
        if not self._raw:
            return ascending.cast(self.dtype, strict=False)
        bits = _mirrored(ascending.cast(self._raw, strict=False), self._raw)
        return bits.reinterpret(dtype=self._float).cast(self.dtype)

    def _read_bits(self, score: pl.Expr) -> pl.Expr:
        return score.cast(self._float).reinterpret(dtype=self._raw)

    @property
    def _float(self) -> type[pl.DataType]:
        return pl.Float32 if self.narrow else pl.Float64

    @property
    def _raw(self) -> type[pl.DataType] | None:
        if not self.dtype.is_float():
            return None
        return pl.Int32 if self.narrow else pl.Int64

    @property
    def _signed(self) -> type[pl.DataType]:
        return pl.Int64 if self.narrow else pl.Int128

    @property
    def _middle(self) -> pl.Expr:
        return self._int(2 ** (self.bits - 1))

    def _int(self, value: int) -> pl.Expr:
        return pl.lit(value, dtype=self._signed)


def _mirrored(bits: pl.Expr, raw: type[pl.DataType]) -> pl.Expr:
    """Mirror the bits of negative floats so that integers ascend as floats do; its own inverse."""
    lowest = pl.lit(-(2**31) if raw == pl.Int32 else -(2**63), dtype=raw)
    return pl.when(bits < 0).then(lowest - bits).otherwise(bits)
