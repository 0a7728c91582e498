"""Rows in ranking order with their running sums: the one sort that every exact verb stands on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import polars as pl

from frame_prc._rank_key import RankKey
from frame_prc._rows import Rows, once
from frame_prc._scale import Scale

Which: TypeAlias = Literal["ties", "hits"]
Thresholds: TypeAlias = list[float] | None

# Scores that no slot holds are ranked by their level: their place among the distinct scores.
_LEVELLED = (pl.Decimal, pl.Int128, pl.UInt128)

_SMALL_INTEGERS = (pl.Int8, pl.Int16, pl.UInt8, pl.UInt16)
_WIDEST_RANGE = 2**31 - 3


@dataclass(frozen=True)
class Ranking:
    """Rows of every segment with a rank key, not yet sorted.

    ``frame`` has ``rank_key``, and ``pos`` and ``neg`` if ``has_sums``; otherwise each row counts
    as one. ``segments`` has ``segment``, the key columns, and ``n_dropped`` where missing values
    were dropped. ``levels`` has the score of each ``level`` where levels are ranked in its place.
    """

    frame: pl.LazyFrame
    segments: pl.LazyFrame
    key: RankKey
    rows: Rows
    levels: pl.LazyFrame | None
    has_sums: bool

    @property
    def threshold_dtype(self) -> pl.DataType:
        """The dtype of thresholds: that of the score if it is a float."""
        dtype = self.rows.score_dtype
        return dtype if dtype.is_float() else pl.Float64()

    def with_score(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Turn the column ``slot`` into ``score``; rows never retrieved have none."""
        score = pl.when(self.key.retrieved()).then(self.key.scale.score(pl.col("slot")))
        if self.levels is None:
            return frame.with_columns(score=score)
        level = score.cast(pl.UInt32).alias("level")
        return frame.with_columns(level).join(
            self.levels, on="level", how="left", maintain_order="left"
        )

    def with_keys(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Turn the column ``segment`` into the key columns."""
        if not self.rows.keys:
            return frame.drop("segment")
        keys = self.segments.select("segment", *self.rows.keys)
        return frame.join(keys, on="segment", how="left", maintain_order="left").drop("segment")


def rank(rows: Rows, thresholds: Thresholds = None) -> Ranking:
    """Return rows with their rank keys, and the segments they are in.

    Given thresholds, a row ranks at the highest threshold that its score reaches, and every
    threshold has a row in every segment.
    """
    number = _number_of_key(rows)
    segments = _segments(rows, number)
    frame = _numbered(rows, segments, number)
    levels = None
    if thresholds is not None:
        levels = _threshold_levels(rows, thresholds)
        frame = frame.with_columns(score=_level_reached(thresholds))
    elif rows.score_dtype in _LEVELLED:
        levels = _score_levels(rows)
        frame = frame.join(levels, on="score", how="left").with_columns(score=pl.col("level"))
    key = RankKey(Scale(rows.score_dtype if levels is None else pl.Int64()))
    rank_key = key.pack(pl.col("segment"), key.scale.slot(pl.col("score")), _is_positive(rows))
    sums = _class_sums(rows)
    ranking = Ranking(frame.select(rank_key, *sums), segments, key, rows, levels, bool(sums))
    return ranking if thresholds is None or levels is None else _binned(ranking, levels)


def _number_of_key(rows: Rows) -> pl.Expr | None:
    """Return a segment number made from the key itself, where its range allows that.

    It spares looking up the segment of every row. Numbers ascend with the key from null, which is
    0, stay within 31 bits, and need not be dense.
    """
    key, dtype = pl.col("key_0"), rows.only_key_dtype
    if dtype is None:
        return None
    if dtype == pl.Boolean:
        number = key.cast(pl.UInt32) + 1
    elif dtype in _SMALL_INTEGERS:
        number = (key.cast(pl.Int32) + (2**15 + 1)).cast(pl.UInt32)
    elif dtype.is_integer() and rows.in_memory:
        lowest, highest = rows.frame.select(low=key.min(), high=key.max()).collect().row(0)
        if lowest is None or highest - lowest > _WIDEST_RANGE:
            return None
        number = (key - pl.lit(lowest, dtype=dtype)).cast(pl.UInt32) + 1
    else:
        return None
    return number.fill_null(0)


def _segments(rows: Rows, number: pl.Expr | None) -> pl.LazyFrame:
    """Return every segment of the input, numbered in the order of its keys."""
    counts = [] if rows.usable is None else [(~rows.usable).sum().cast(pl.Int64).alias("n_dropped")]
    if not rows.keys:
        whole = rows.frame.select(counts) if counts else pl.LazyFrame({"all": [None]})
        return once(whole.with_row_index("segment"))
    distinct = rows.frame.group_by(rows.keys).agg(counts).sort(rows.keys)
    if number is None:
        return once(distinct.with_row_index("segment"))
    return once(distinct.with_columns(segment=number))


def _numbered(rows: Rows, segments: pl.LazyFrame, number: pl.Expr | None) -> pl.LazyFrame:
    """Return the rows that count, each with the number of its segment."""
    frame = rows.frame if rows.usable is None else rows.frame.filter(rows.usable)
    if not rows.keys:
        number = pl.lit(0, dtype=pl.UInt32)
    if number is not None:
        return frame.with_columns(segment=number)
    numbers = segments.select("segment", *rows.keys)
    return frame.join(numbers, on=rows.keys, how="left", nulls_equal=True)


def _score_levels(rows: Rows) -> pl.LazyFrame:
    distinct = rows.frame.select("score").unique().drop_nulls().sort("score")
    return distinct.with_row_index("level")


def _threshold_levels(rows: Rows, thresholds: list[float]) -> pl.LazyFrame:
    dtype = rows.score_dtype if rows.score_dtype.is_float() else pl.Float64
    return pl.LazyFrame({"score": thresholds}, schema={"score": dtype}).with_row_index("level")


def _level_reached(thresholds: list[float]) -> pl.Expr:
    """Return the level of the highest threshold a score reaches; null if it reaches none."""
    score = pl.col("score").cast(pl.Float64)
    reached = pl.lit(pl.Series(thresholds, dtype=pl.Float64)).search_sorted(score, side="right")
    return pl.when(score.is_not_null() & (reached > 0)).then(reached.cast(pl.Int64) - 1)


def _binned(ranking: Ranking, levels: pl.LazyFrame) -> Ranking:
    """Add up the rows of each threshold, and give every segment a row for every threshold."""
    key = ranking.key
    counted = ranking.frame.group_by(key.tie()).agg(class_totals(ranking))
    grid = ranking.segments.select("segment").join(levels.select("level"), how="cross")
    slot = key.scale.slot(pl.col("level").cast(pl.Int64))
    empty = grid.select(key.pack(pl.col("segment"), slot, pl.lit(0)), pos=pl.lit(0), neg=pl.lit(0))
    frame = pl.concat([counted, empty], how="vertical_relaxed")
    has_hits = (pl.col("pos") > 0).cast(key.dtype)
    return replace(ranking, frame=frame.with_columns(pl.col("rank_key") + has_hits), has_sums=True)


def class_totals(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums ``pos`` and ``neg`` of a group of ranked rows."""
    if ranking.has_sums:
        return [pl.col("pos").sum(), pl.col("neg").sum()]
    positive = ranking.key.positive()
    return [positive.sum().alias("pos"), (1 - positive).sum().alias("neg")]


def _is_positive(rows: Rows) -> pl.Expr:
    return pl.col("pos") > 0 if rows.columns.counted else pl.col("truth")


def _class_sums(rows: Rows) -> list[pl.Expr]:
    if rows.columns.counted:
        return [pl.col("pos"), pl.col("neg")]
    if not rows.columns.weighted:
        return []
    truth, weight = pl.col("truth"), pl.col("weight")
    return [
        pl.when(truth).then(weight).otherwise(0.0).alias("pos"),
        pl.when(truth).then(0.0).otherwise(weight).alias("neg"),
    ]


# --- running sums --------------------------------------------------------------------------


def running(ranking: Ranking, which: Which) -> pl.LazyFrame:
    """Sort, and return running sums at the rows asked for.

    Parameters
    ----------
    ranking
        Ranked rows.
    which
        ``"ties"``: the last row of every score. ``"hits"``: of these, only the scores that have
        positives, and the last row of each segment; no other changes the average precision.

    Returns
    -------
    LazyFrame
        ``segment``, ``slot``, ``tp``, ``fp``, ``opens``, ``closes``, in ranking order; each
        segment begins with the row that opens it.
    """
    key, weighted = ranking.key, ranking.rows.columns.weighted
    opening = ranking.segments.select(
        key.pack(pl.col("segment"), pl.lit(0), pl.lit(0)),
        *(pl.lit(0).alias(name) for name in ("pos", "neg") if ranking.has_sums),
    )
    ranked = pl.concat([ranking.frame, opening], how="vertical_relaxed").sort("rank_key")
    wanted = key.ends_tie()
    if which == "hits":
        wanted = (wanted & (key.positive() == 1)) | key.opens() | key.closes()
    return (
        ranked.with_columns(key.segment() if weighted else [])
        .select("rank_key", *_running_sums(ranking), key.closes(), wanted.alias("wanted"))
        .filter("wanted")
        .with_columns(key.opens())
        .select(key.segment(), key.slot(), *_sums_of_segment(ranking), "opens", "closes")
    )


def _running_sums(ranking: Ranking) -> list[pl.Expr]:
    """Return running sums: per segment for floats, over all segments for integers."""
    if not ranking.has_sums:
        return [ranking.key.positive().cum_sum().alias("tp"), pl.int_range(pl.len()).alias("row")]
    sums = [pl.col(name).cum_sum() for name in ("pos", "neg")]
    if ranking.rows.columns.weighted:
        sums = [column.over("segment") for column in sums]
    return [column.alias(name) for column, name in zip(sums, ("tp", "fp"), strict=True)]


def _sums_of_segment(ranking: Ranking) -> list[pl.Expr]:
    """Re-base running sums over all segments to where each segment opens.

    Integers are exact, so this gives what a window per segment would, at a fifth of its cost;
    floats would lose a small segment behind a large one.
    """
    tp, fp, row = pl.col("tp"), pl.col("fp"), pl.col("row")
    if ranking.rows.columns.weighted:
        return [tp, fp]
    if ranking.has_sums:
        return [_since_opening(tp), _since_opening(fp)]
    return [_since_opening(tp), _since_opening(row - tp).alias("fp")]


def _since_opening(running_sum: pl.Expr) -> pl.Expr:
    return running_sum - pl.when("opens").then(running_sum).forward_fill()
