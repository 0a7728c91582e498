"""The curve: a point per segment and distinct score, from running sums to precision and recall."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

from frame_prc._ranking import Ranking, rank, running
from frame_prc._rows import Rows

Start: TypeAlias = Literal["one", "first"] | None
Keep: TypeAlias = Literal["all", "corners"]

COLUMNS = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall")
ENVELOPE = "envelope"


def precision(tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
    """Return the share of positives among the rows predicted positive."""
    return tp / (tp + fp)


def recall(tp: pl.Expr, positives: pl.Expr) -> pl.Expr:
    """Return the share of the positives that is found; null where there are none."""
    return pl.when(positives > 0).then(tp / positives)


def curve(rows: Rows, *, start: Start, keep: Keep, envelope: bool) -> pl.LazyFrame:
    """Return the curve of every segment, segments in key order, thresholds descending."""
    ranking = rank(rows)
    points = _points(ranking)
    if keep == "corners":
        points = points.filter(_is_corner())
    points = _with_rates(points, start)
    if envelope:
        points = points.with_columns(_envelope())
    tidy = ranking.with_keys(_with_threshold(ranking, points))
    return rows.finish(tidy, [*COLUMNS, *([ENVELOPE] if envelope else [])])


def _points(ranking: Ranking) -> pl.LazyFrame:
    """Return a point per score and one to open each segment, beside the totals of the segment."""
    totals = [
        pl.when("closes").then(pl.col(running)).backward_fill().alias(total)
        for running, total in (("tp", "positives"), ("fp", "negatives"))
    ]
    holds_rows = pl.col("positives") + pl.col("negatives") > 0
    return (
        running(ranking, "ties").with_columns(totals).filter(ranking.key.retrieved() & holds_rows)
    )


def _is_corner() -> pl.Expr:
    """Keep the first and the last point of each number of true positives.

    Between them only false positives are added: the points lie on a vertical line, below the
    first and above the last, where they carry no area and no maximum.
    """
    tp, opens = pl.col("tp"), pl.col("opens")
    begins = opens | opens.shift(1, fill_value=True) | (tp > tp.shift(1))
    ends = opens.shift(-1, fill_value=True) | (tp.shift(-1) > tp)
    return begins | ends


def _with_rates(points: pl.LazyFrame, start: Start) -> pl.LazyFrame:
    tp, fp, opens = pl.col("tp"), pl.col("fp"), pl.col("opens")
    at_start = pl.lit(1.0)
    if start == "first":
        at_start = pl.when(~opens.shift(-1)).then(precision(tp, fp).shift(-1))
    rated = points.with_columns(
        fn=pl.col("positives") - tp,
        tn=pl.col("negatives") - fp,
        precision=pl.when(opens).then(at_start).otherwise(precision(tp, fp)),
        recall=recall(tp, pl.col("positives")),
    )
    return rated.filter(~opens) if start is None else rated


def _envelope() -> pl.Expr:
    """Return the largest precision from each point on (PASCAL VOC 2010, Detectron ``voc_ap``)."""
    return pl.col("precision").cum_max(reverse=True).over("segment").alias(ENVELOPE)


def _with_threshold(ranking: Ranking, points: pl.LazyFrame) -> pl.LazyFrame:
    dtype = ranking.rows.score_dtype
    dtype = dtype if dtype.is_float() else pl.Float64()
    infinity = pl.lit(float("inf")).cast(dtype)
    threshold = pl.when("opens").then(infinity).otherwise(pl.col("score").cast(dtype))
    return ranking.with_score(points).with_columns(threshold=threshold)
