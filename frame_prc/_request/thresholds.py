"""Thresholds: the bins between them, and the dtype in which results report them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import in_batches

MOST_THRESHOLDS = 1_000_000

# The ends of bins that are not in them, as columns of counts.
BELOW, ABOVE = "below", "above"

_SCORE = pl.col("score")


@dataclass(frozen=True)
class Bins:
    """Ascending thresholds; a score is in the bin of the highest one that it reaches.

    ``evenly`` says that they are the numbers 0/k, 1/k, ..., k/k, whose bin needs no search;
    ``of_probabilities`` that a number of thresholds was asked for, and scores are from 0 to 1;
    ``ascending`` that a lower score means more likely positive: then a score is in the bin of the
    lowest threshold that is not below it.
    """

    thresholds: list[float]
    evenly: bool = False
    of_probabilities: bool = False
    ascending: bool = False

    @property
    def other_end(self) -> str:
        """The name of the end of a bin that is not its threshold, and not in the bin."""
        return other_end(ascending=self.ascending)

    def of(self, score_dtype: pl.DataType) -> Bins:
        """Return the bins between the thresholds rounded to the dtype of scores.

        As a Float32, 0.7 is slightly less than 0.7: thresholds are reported as they are compared.
        Those that become equal are one threshold.
        """
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
        # search_sorted alone would bring the whole column into memory.
        schema = pl.Schema({**frame.collect_schema(), "level": pl.Int32()})
        return in_batches(frame, lambda batch: batch.with_columns(level=place), schema)

    def _even_level(self, score: pl.Expr) -> pl.Expr:
        """Round to the nearest threshold, and step away from it if the score does not reach it."""
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
    """Return the column of counts with the end of a bin that is not its threshold."""
    return ABOVE if ascending else BELOW


def threshold_dtype(score: pl.DataType) -> pl.DataType:
    """Return the dtype of thresholds in results: that of the score if it is a float.

    Exact counts are the exception: they keep the score as it is.
    """
    return score if score.is_float() else pl.Float64()
