"""Slots: scores as integers in ranking order, exact in the score's own dtype.

Read as integers, the bits of positive floats are in the order of the floats; those of negative
floats are mirrored at zero, which makes -0.0 and 0.0 one score. A slot is the difference of such an
integer from the highest, so it gives its score back; if a lower score means more likely positive,
from the lowest. No score is negated, which would overflow for the lowest integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import polars as pl

_WIDTH_IN_INT64 = 62
_HIGHEST_INT64 = 2**63 - 1


@dataclass(frozen=True)
class Scale:
    """Scores of one dtype as slots: integers in ranking order, the highest score first.

    If it is ``ascending``, the lowest score is first. Slots run from 0 to ``last``; no score has
    the first or the last slot. ``dtype`` is a float, or an integer of at most 64 bits; ``lowest``
    and ``highest`` are the integers of the lowest and the highest possible score, in units of
    ``grain``, a power of two. It is 1, unless the scale is a coarser one, on which close scores
    share a slot and slots do not give their scores back.
    """

    dtype: pl.DataType
    lowest: int
    highest: int
    ascending: bool = False
    grain: int = 1

    @classmethod
    def of(cls, dtype: pl.DataType, *, ascending: bool = False) -> Scale:
        """Return the scale of every score that a dtype can hold, except NaN."""
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
        """Return a scale of slots with at most so many bits, which close scores may share."""
        scale = self
        while scale.bits > bits:
            size = 1 << (scale.bits - bits)
            lowest, highest = scale.lowest // size, scale.highest // size
            scale = replace(scale, lowest=lowest, highest=highest, grain=scale.grain * size)
        return scale

    @property
    def bits(self) -> int:
        """The number of bits of a slot."""
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
    """Return the lowest and the highest number of an integer dtype."""
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
