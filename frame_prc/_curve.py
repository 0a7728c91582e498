"""The curve: a point per segment and distinct score, from running sums to precision and recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from frame_prc._expressions import ExprT, library
from frame_prc._ranking import Ranking, Thresholds, rank, running
from frame_prc._rows import Rows

Start: TypeAlias = Literal["one", "first"] | None
STARTS: tuple[Start, ...] = ("one", "first", None)
Keep: TypeAlias = Literal["all", "corners"]

COLUMNS = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall")


def precision(tp: ExprT, fp: ExprT) -> ExprT:
    """Return the share of positives among the rows predicted positive."""
    return tp / (tp + fp)


def recall(tp: ExprT, positives: ExprT) -> ExprT:
    """Return the share of the positives that is found; null where there are none."""
    found: ExprT = library(tp).when(positives > 0).then(tp / positives)
    return found


def precision_gain(tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return precision on the gain scale: 1 is perfect, 0 is as good as calling all positive."""
    return 1 - positives / negatives * (fp / tp)


def recall_gain(tp: pl.Expr, positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Return recall on the gain scale: 1 is full recall, 0 a recall equal to the prevalence."""
    return 1 - positives / negatives * ((positives - tp) / tp)


def calibrated_precision(
    tp: pl.Expr, fp: pl.Expr, positives: pl.Expr, negatives: pl.Expr, prevalence: float
) -> pl.Expr:
    """Return the precision the same ranking has at another prevalence (Siblini et al. 2020)."""
    odds = (1 - prevalence) / prevalence
    return tp / (tp + positives / negatives * odds * fp)


@dataclass(frozen=True)
class Extras:
    """Columns that a curve gets on request."""

    envelope: bool = False
    gain: bool = False
    calibrate: float | None = None

    def names(self) -> list[str]:
        """Return the names of the columns, in order."""
        names = ["envelope"] if self.envelope else []
        names += ["precision_gain", "recall_gain"] if self.gain else []
        return names + (["precision_calibrated"] if self.calibrate is not None else [])

    def columns(self) -> list[pl.Expr]:
        """Return the columns, for points that have their rates."""
        tp, fp, positives, negatives = (
            pl.col(name) for name in ("tp", "fp", "positives", "negatives")
        )
        columns = [_envelope()] if self.envelope else []
        if self.gain:
            # Both gains are minus infinity before the first hit; without negatives they have no
            # scale.
            defined = pl.when((tp > 0) & (negatives > 0))
            columns += [
                defined.then(precision_gain(tp, fp, positives, negatives)).alias("precision_gain"),
                defined.then(recall_gain(tp, positives, negatives)).alias("recall_gain"),
            ]
        if self.calibrate is not None:
            calibrated = calibrated_precision(tp, fp, positives, negatives, self.calibrate)
            columns.append(
                pl.when(pl.col("opens") | (fp == 0))
                .then(pl.col("precision"))
                .when((positives > 0) & (negatives > 0))
                .then(calibrated)
                .alias("precision_calibrated")
            )
        return columns


def curve(
    rows: Rows, start: Start, keep: Keep, thresholds: Thresholds, extras: Extras
) -> pl.LazyFrame:
    """Return the curve of every segment, segments in key order, thresholds descending."""
    ranking = rank(rows, thresholds)
    frame = points(ranking)
    if keep == "corners":
        frame = frame.filter(_is_corner())
    frame = _with_rates(frame, start).with_columns(extras.columns())
    tidy = ranking.with_keys(_with_threshold(ranking, frame))
    return rows.finish(tidy, [*COLUMNS, *extras.names()])


def with_totals(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add the ``positives`` and ``negatives`` of each segment to its running sums."""
    totals = [
        pl.when("closes").then(pl.col(running_sum)).backward_fill().alias(total)
        for running_sum, total in (("tp", "positives"), ("fp", "negatives"))
    ]
    return steps.with_columns(totals)


def points(ranking: Ranking) -> pl.LazyFrame:
    """Return a point per score and one to open each segment, beside the segment's totals."""
    holds_rows = pl.col("positives") + pl.col("negatives") > 0
    steps = with_totals(running(ranking, "ties"))
    return steps.filter(ranking.key.retrieved() & holds_rows)


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
    # At a given threshold that no row reaches there is no precision: 0/0.
    rate = pl.when(tp + fp > 0).then(precision(tp, fp))
    at_start = pl.lit(1.0) if start == "one" else rate.backward_fill().over("segment")
    rated = points.with_columns(
        fn=pl.col("positives") - tp,
        tn=pl.col("negatives") - fp,
        precision=rate if start is None else pl.when(opens).then(at_start).otherwise(rate),
        recall=recall(tp, pl.col("positives")),
    )
    return rated.filter(~opens) if start is None else rated


def _envelope() -> pl.Expr:
    """Return the largest precision from each point on (PASCAL VOC 2010, Detectron ``voc_ap``)."""
    largest = pl.col("precision").cum_max(reverse=True).backward_fill()
    return largest.over("segment").alias("envelope")


def _with_threshold(ranking: Ranking, points: pl.LazyFrame) -> pl.LazyFrame:
    dtype = ranking.threshold_dtype
    infinity = pl.lit(float("inf")).cast(dtype)
    threshold = pl.when("opens").then(infinity).otherwise(pl.col("score").cast(dtype))
    return ranking.with_score(points).with_columns(threshold=threshold)
