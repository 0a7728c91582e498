"""Thresholds: the bins between them, and the dtype in which results report them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import in_batches

MOST_THRESHOLDS = 1_000_000

_SCORE = pl.col("score")


@dataclass(frozen=True)
class Bins:
    """Ascending thresholds; a score is in the bin of the highest one that it reaches.

    ``evenly`` says that they are the numbers 0/k, 1/k, ..., k/k, whose bin needs no search;
    ``of_probabilities`` that a number of thresholds was asked for, and scores are from 0 to 1.
    """

    thresholds: list[float]
    evenly: bool = False
    of_probabilities: bool = False

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
        """Add ``level``, the number of each score's bin, as Int32; null below all thresholds."""
        score = _SCORE.cast(pl.Float64)
        if self.evenly:
            placed = frame.with_columns(level=self._even_level(score))
        else:
            placed = self._searched(frame, score, in_memory=in_memory)
        reached = pl.when(score >= self.thresholds[0]).then("level")
        return placed.with_columns(level=reached)

    def _searched(self, frame: pl.LazyFrame, score: pl.Expr, *, in_memory: bool) -> pl.LazyFrame:
        thresholds = pl.Series(self.thresholds, dtype=pl.Float64)
        place = pl.lit(thresholds).search_sorted(score, side="right").cast(pl.Int32) - 1
        if in_memory:
            return frame.with_columns(level=place)
        # search_sorted alone would bring the whole column into memory.
        schema = pl.Schema({**frame.collect_schema(), "level": pl.Int32()})
        return in_batches(frame, lambda batch: batch.with_columns(level=place), schema)

    def _even_level(self, score: pl.Expr) -> pl.Expr:
        """Round to the nearest threshold, and step down from it if the score is below."""
        last = len(self.thresholds) - 1
        nearest = (score.clip(0.0, 1.0) * last).round()
        # Thresholds are exact quotients, and Polars divides inexactly by a scalar: hence a column.
        threshold = nearest / (score * 0.0 + last).fill_nan(float(last))
        # Not strict: the checks report NaN.
        return nearest.cast(pl.Int32, strict=False) - (score < threshold).cast(pl.Int32)

    def table(self, score_dtype: pl.DataType) -> pl.LazyFrame:
        """Return each ``level`` with its bin: ``score`` and up, to less than ``below``."""
        dtype, thresholds = threshold_dtype(score_dtype), self.of(score_dtype).thresholds
        ends = {"score": thresholds, "below": [*thresholds[1:], float("inf")]}
        table = pl.LazyFrame(ends, schema=dict.fromkeys(ends, dtype))
        return table.with_row_index("level")


def threshold_dtype(score: pl.DataType) -> pl.DataType:
    """Return the dtype of thresholds in results: that of the score if it is a float.

    Exact counts are the exception: they keep the score as it is.
    """
    return score if score.is_float() else pl.Float64()
