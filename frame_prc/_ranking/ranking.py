"""Rows in ranking order with their running sums: the one sort that every exact verb stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from frame_prc._lazy import cached, concat, join
from frame_prc._ranking.bins import count_bins
from frame_prc._ranking.rank_key import RankKey, most_segments
from frame_prc._ranking.scale import Scale
from frame_prc._ranking.segments import Segments, find_segments
from frame_prc._request.thresholds import Bins, threshold_dtype
from frame_prc._rows.rows import DROPPED, Rows

# Scores that no slot holds are ranked by their level: their place among the distinct scores.
_LEVELLED = (pl.Decimal, pl.Int128, pl.UInt128)

# Below this many rows the narrower key gains less than the look costs.
_WORTH_A_LOOK = 20_000


@dataclass(frozen=True)
class Ranking:
    """Rows of every segment with a rank key, not yet sorted.

    ``frame`` has ``rank_key`` and the columns ``carried``; without these each row counts as one.
    ``levels`` has the score of each ``level`` where levels are ranked in its place. ``squares``
    says that squares of weights are summed up as well.
    """

    frame: pl.LazyFrame
    segments: Segments
    key: RankKey
    rows: Rows
    levels: pl.LazyFrame | None
    squares: bool

    @cached_property
    def in_order(self) -> pl.LazyFrame:
        """The ranked rows in order, with one to open each segment and one after the last."""
        extra = [self.segments.table.select(self.key.opening(pl.col("segment"))), self.key.ending()]
        extra = [frame.with_columns(_nothing(self.carried)) for frame in extra]
        return cached(concat([self.frame, *extra]).sort("rank_key"))

    @property
    def carried(self) -> list[str]:
        """The columns that say how much a row counts."""
        return self.rows.carried(squares=self.squares)

    def amounts(self) -> dict[str, pl.Expr]:
        """Return how much of a ranked row is positive and negative, by name."""
        return self.rows.amounts(self.key.positive(), squares=self.squares)

    def with_dropped(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Add to a table of segments the counts of dropped rows, where there are any to count."""
        if self.rows.n_dropped is None:
            return table
        counts = self.segments.table.select("segment", *DROPPED)
        return join(table, counts, on="segment", how="left", maintain_order="left")

    @property
    def threshold_dtype(self) -> pl.DataType:
        """The dtype of thresholds."""
        return threshold_dtype(self.rows.score_dtype)

    def with_score(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Turn the column ``slot`` into ``score``; rows never retrieved have none."""
        score = pl.when(self.key.retrieved()).then(self.key.scale.score(pl.col("slot")))
        if self.levels is None:
            return frame.with_columns(score=score)
        level = score.cast(pl.UInt32).alias("level")
        levelled = frame.with_columns(level)
        return join(levelled, self.levels, on="level", how="left", maintain_order="left")


def rank(rows: Rows, bins: Bins | None = None, *, squares: bool = False) -> Ranking:
    """Return rows with their rank keys, and the segments they are in.

    Given bins, a row ranks at the highest threshold that its score reaches, and every threshold
    has a row in every segment. ``squares`` asks for sums of squared weights as well; rows that
    count as one have none apart.
    """
    squares = squares and rows.columns.needs_squares
    levels = _levels(rows, bins)
    rows = rows if bins is None else count_bins(rows, bins, squares=squares)
    scale = _scale(rows) if levels is None else Scale.of(pl.UInt32())
    segments = find_segments(rows, most_segments(scale))
    key = RankKey(scale, segments.count)
    frame = segments.numbered(rows.used())
    if bins is None and levels is not None:
        levelled = join(frame, levels, on="score", how="left")
        frame = levelled.with_columns(score=pl.col("level"))
    rank_key = key.pack(pl.col("segment"), key.scale.slot(pl.col("score")), rows.is_positive())
    carried = rows.carried(squares=squares)
    ranked = frame.select(rank_key, *carried)
    ranked = ranked if bins is not None else rows.with_checks(ranked)
    if bins is not None and levels is not None:
        empty = _empty_bins(segments, levels, key).with_columns(_nothing(carried))
        ranked = concat([ranked, empty])
    return Ranking(ranked, segments, key, rows, levels, squares)


def _empty_bins(segments: Segments, levels: pl.LazyFrame, key: RankKey) -> pl.LazyFrame:
    """Return a row for each bin of each segment."""
    grid = join(segments.table.select("segment"), levels.select("level"), how="cross")
    return grid.select(key.pack(pl.col("segment"), key.scale.slot(pl.col("level")), pl.lit(0)))


def _nothing(carried: Iterable[str]) -> list[pl.Expr]:
    return [pl.lit(0).alias(name) for name in carried]


def _scale(rows: Rows) -> Scale:
    """Return the scale of the scores, narrowed to those there are where a look at them is free.

    Scores from 0 to 1 mostly leave room for the segments in an Int64 key: the sort is a quarter
    faster and all that follows moves half the bytes.
    """
    if rows.values is None or rows.values.height < _WORTH_A_LOOK:
        return Scale.of(rows.score_dtype)
    columns = [rows.values[f"score_{i}"] for i in range(len(rows.columns.scores))]
    found = [bound for c in columns for bound in (c.min(), c.max()) if bound is not None]
    bounds = pl.Series("score", found, dtype=rows.score_dtype, strict=False)
    return Scale.over(bounds) if found else Scale.of(rows.score_dtype)


def _levels(rows: Rows, bins: Bins | None) -> pl.LazyFrame | None:
    """Return the levels to rank scores by, if not by themselves."""
    if bins is not None:
        return bins.table(rows.score_dtype).select("level", "score")
    if rows.score_dtype not in _LEVELLED:
        return None
    distinct = rows.frame.select("score").unique().drop_nulls().sort("score")
    return distinct.with_row_index("level")


# --- running sums --------------------------------------------------------------------------
