"""The curve: a point per segment and distinct score, from running sums to precision and recall."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._curves import thinning as _thinning
from frame_prc._formulas import (
    calibrated_precision,
    precision,
    precision_gain,
    recall,
    recall_gain,
    wilson_low,
)
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import running
from frame_prc._request.specs import Keep, Start
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

COLUMNS = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall")


@dataclass(frozen=True)
class Extras:
    """Columns that a curve gets on request; ``z`` bounds the intervals of precision."""

    envelope: bool = False
    gain: bool = False
    calibrate: float | None = None
    z: float | None = None

    def names(self) -> list[str]:
        """Return the names of the columns, in order."""
        names = ["envelope"] if self.envelope else []
        names += ["precision_gain", "recall_gain"] if self.gain else []
        names += ["precision_calibrated"] if self.calibrate is not None else []
        return names + (["precision_low", "precision_high"] if self.z is not None else [])

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
            odds = (1 - self.calibrate) / self.calibrate
            calibrated = calibrated_precision(tp, fp, positives, negatives, odds)
            columns.append(
                pl.when(pl.col("opens") | (fp == 0))
                .then(pl.col("precision"))
                .when((positives > 0) & (negatives > 0))
                .then(calibrated)
                .alias("precision_calibrated")
            )
        if self.z is not None:
            # Where no row is retrieved nothing is known of precision, whatever start= says.
            some = pl.when(tp + fp > 0)
            columns += [
                some.then(wilson_low(tp, fp, self.z)).alias("precision_low"),
                some.then(1 - wilson_low(fp, tp, self.z)).alias("precision_high"),
            ]
        return columns


def curve(rows: Rows, start: Start, keep: Keep, bins: Bins | None, extras: Extras) -> pl.LazyFrame:
    """Return the curve of every segment, segments in key order, thresholds descending."""
    if extras.z is not None and rows.columns.weighted:
        raise OptionError(
            "ci= of a curve is for counts of rows, and these are sums of weights",
            "rows without weight=, or integer counts",
            "band(...) resamples weighted rows",
            shell_hint=None,
        )
    ranking = rank(rows, bins)
    frame = _with_rates(points(ranking, keep), start).with_columns(extras.columns())
    if isinstance(keep, int):
        # A row that opens a segment and is not shown is none of those to keep.
        frame = _thinning.thin(frame, keep + (start is None))
    if start is None:
        frame = frame.filter(~pl.col("opens"))
    tidy = ranking.segments.with_keys(_with_threshold(ranking, frame))
    return rows.finish(tidy, columns(extras, keep))


def columns(extras: Extras, keep: Keep) -> list[str]:
    """Return the columns of a curve after its keys."""
    return [*COLUMNS, *extras.names(), *(_thinning.COLUMNS if isinstance(keep, int) else ())]


def points(ranking: Ranking, keep: Keep = "all") -> pl.LazyFrame:
    """Return a point per score and one to open each segment, beside the segment's totals."""
    holds_rows = pl.col("positives") + pl.col("negatives") > 0
    kept = running(ranking, "ties" if keep == "all" else "corners")
    return kept.filter(ranking.key.retrieved() & holds_rows)


def _with_rates(points: pl.LazyFrame, start: Start) -> pl.LazyFrame:
    tp, fp, opens = pl.col("tp"), pl.col("fp"), pl.col("opens")
    # At a given threshold that no row reaches there is no precision: 0/0.
    rate = pl.when(tp + fp > 0).then(precision(tp, fp))
    at_start = pl.lit(1.0) if start == "one" else rate.backward_fill().over("segment")
    return points.with_columns(
        fn=pl.col("positives") - tp,
        tn=pl.col("negatives") - fp,
        precision=rate if start is None else pl.when(opens).then(at_start).otherwise(rate),
        recall=recall(tp, pl.col("positives")),
    )


def _envelope() -> pl.Expr:
    """Return the largest precision from each point on (PASCAL VOC 2010, Detectron ``voc_ap``)."""
    largest = pl.col("precision").cum_max(reverse=True).backward_fill()
    return largest.over("segment").alias("envelope")


def _with_threshold(ranking: Ranking, points: pl.LazyFrame) -> pl.LazyFrame:
    dtype = ranking.threshold_dtype
    infinity = pl.lit(float("inf")).cast(dtype)
    threshold = pl.when("opens").then(infinity).otherwise(pl.col("score").cast(dtype))
    return ranking.with_score(points).with_columns(threshold=threshold)
