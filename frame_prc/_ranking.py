"""Rows in ranking order with their running sums: the one sort that every exact verb stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from frame_prc._rank_key import RankKey
from frame_prc._rows import Rows, once
from frame_prc._scale import Scale

Which: TypeAlias = Literal["ties", "hits"]

# Scores that no slot holds are ranked by their level: their place among the distinct scores.
_LEVELLED = (pl.Decimal, pl.Int128, pl.UInt128)


@dataclass(frozen=True)
class Ranking:
    """Rows of every segment with a rank key, not yet sorted.

    ``frame`` has ``rank_key``, and ``pos`` and ``neg`` unless each row counts as one. ``segments``
    has ``segment``, the key columns, and ``n_dropped`` where missing values were dropped.
    """

    frame: pl.LazyFrame
    segments: pl.LazyFrame
    key: RankKey
    rows: Rows
    levels: pl.LazyFrame | None

    @property
    def has_sums(self) -> bool:
        """Whether rows have ``pos`` and ``neg``, rather than count as one."""
        return self.rows.columns.counted or self.rows.columns.weighted

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


def rank(rows: Rows) -> Ranking:
    """Return rows with their rank keys, and the segments they are in."""
    segments = _segments(rows)
    levels = _levels(rows) if rows.score_dtype in _LEVELLED else None
    key = RankKey(Scale(pl.Int64() if levels is not None else rows.score_dtype))
    frame = _numbered(rows, segments)
    if levels is not None:
        frame = frame.join(levels, on="score", how="left").with_columns(score=pl.col("level"))
    rank_key = key.pack(pl.col("segment"), key.scale.slot(pl.col("score")), _is_positive(rows))
    return Ranking(frame.select(rank_key, *_class_sums(rows)), segments, key, rows, levels)


def _numbered(rows: Rows, segments: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows that count, each with the number of its segment."""
    frame = rows.frame if rows.usable is None else rows.frame.filter(rows.usable)
    if not rows.keys:
        return frame.with_columns(segment=pl.lit(0, dtype=pl.UInt32))
    numbers = segments.select("segment", *rows.keys)
    return frame.join(numbers, on=rows.keys, how="left", nulls_equal=True)


def _segments(rows: Rows) -> pl.LazyFrame:
    """Return every segment of the input, numbered in the order of its keys."""
    counts = [] if rows.usable is None else [(~rows.usable).sum().cast(pl.Int64).alias("n_dropped")]
    if rows.keys:
        distinct = rows.frame.group_by(rows.keys).agg(counts).sort(rows.keys)
    else:
        distinct = rows.frame.select(counts) if counts else pl.LazyFrame({"all": [None]})
    return once(distinct.with_row_index("segment"))


def _levels(rows: Rows) -> pl.LazyFrame:
    distinct = rows.frame.select("score").unique().drop_nulls().sort("score")
    return distinct.with_row_index("level")


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
