"""Operating points: one threshold per segment and target, from the exact curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.curve import CURVE, points
from frame_prc._formulas import f_score, precision, recall, unsigned_zero
from frame_prc._lazy import segment_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Target
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

_TP, _FP, _SCORE = pl.col("tp"), pl.col("fp"), pl.col("score")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_FN = _POSITIVES - _TP


@dataclass(frozen=True)
class OperatingPoints(Table):
    """One row per segment and target, in the order of the targets."""

    targets: Sequence[Target]
    outputs = ("criterion", "target", *CURVE, "f_score", "predicted_rate")

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the operating points of rows."""
        return _points(rank(rows), self.targets)


def _points(ranking: Ranking, targets: Sequence[Target]) -> pl.LazyFrame:
    # Merits are columns: in an aggregation Polars divides by a scalar inexactly, and a recall of
    # 49/49 would be below 1.
    dtype = ranking.threshold_dtype
    merits = {f"merit_{i}": _merit(target, ranking) for i, target in enumerate(targets)}
    columns = ("score", "fp", "positives", "negatives")
    chosen = {str(i): best(pl.col(merit), *columns) for i, merit in enumerate(merits)}
    ranked = with_order(ranking.with_score(points(ranking)))
    rated = ranked.with_columns(precision(_TP, _FP).alias("precision"), **merits)
    found = rated.group_by("segment").agg(**chosen)
    # A segment whose rows are all dropped has no points, but gets its rows, with nulls.
    every = ranking.segments.table.drop(ranking.rows.keys)
    joined = segment_join(every, found)
    long = joined.with_columns(
        criterion=pl.lit([target.criterion for target in targets], dtype=pl.List(pl.String)),
        target=pl.lit([target.value for target in targets], dtype=pl.List(pl.Float64)),
        point=pl.concat_list(list(chosen)),
    )
    table = long.explode("criterion", "target", "point").unnest("point")
    return ranking.segments.with_keys(table.with_columns(_rates(dtype)))


def with_order(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add the place of each point in the ranking, which a group may lose: 0, then -1, and so on."""
    return points.with_row_index("place").with_columns(place=-pl.col("place").cast(pl.Int64))


def best(merit: pl.Expr, *columns: str) -> pl.Expr:
    """Return columns of the point with the most merit.

    Among equally good points it is the one with the highest precision, then recall, then the first
    in the ranking: no other point of the same merit dominates it.
    """
    point = pl.struct("precision", "tp", "place", *columns)
    return point.filter(merit == merit.max()).sort(descending=True).first()


def _merit(target: Target, ranking: Ranking) -> pl.Expr:
    """Return how well a point meets a target; null if it does not."""
    real, value, predicted = ~pl.col("opens"), target.value, _TP + _FP
    match target.criterion:
        case "recall":
            return pl.when(real & (recall(_TP, _POSITIVES) >= value)).then(precision(_TP, _FP))
        case "precision":
            return pl.when(real & (precision(_TP, _FP) >= value)).then(_TP)
        case "threshold":
            # The last point that the threshold retrieves, or the start point. The threshold is
            # rounded to the score's dtype: 0.7 as a Float32 is slightly below 0.7.
            held = pl.lit(value, pl.Float64).cast(ranking.threshold_dtype).cast(pl.Float64)
            score = _SCORE.cast(pl.Float64)
            reaches = score <= held if ranking.rows.ascending else score >= held
            return pl.when(~real | reaches).then(-pl.col("place"))
        case "f_beta":
            return pl.when(real & (_POSITIVES > 0)).then(f_score(_TP, _FP, _FN, value))
        case "predicted_rate":
            rate = predicted / (_POSITIVES + _NEGATIVES)
            return pl.when(real & (rate <= value)).then(predicted)


def _rates(threshold_dtype: pl.DataType) -> list[pl.Expr]:
    criterion, target = pl.col("criterion"), pl.col("target")
    threshold = pl.when(criterion == "threshold").then(target).otherwise(_SCORE)
    beta = pl.when(criterion == "f_beta").then(target).otherwise(1.0)
    return [
        unsigned_zero(threshold.cast(threshold_dtype), threshold_dtype).alias("threshold"),
        _FN.alias("fn"),
        (_NEGATIVES - _FP).alias("tn"),
        pl.when(_TP + _FP > 0).then(precision(_TP, _FP)).alias("precision"),
        recall(_TP, _POSITIVES).alias("recall"),
        pl.when(_POSITIVES > 0).then(f_score(_TP, _FP, _FN, beta)).alias("f_score"),
        ((_TP + _FP) / (_POSITIVES + _NEGATIVES)).alias("predicted_rate"),
    ]


def iso_lines(f_scores: Sequence[float], steps: int) -> pl.DataFrame:
    """Return lines of equal F1 score, each from precision 1 to recall 1."""
    lines = pl.LazyFrame({"f_score": f_scores}, schema={"f_score": pl.Float64})
    places = pl.LazyFrame({"place": range(steps + 1)})
    grid = lines.join(places, how="cross", maintain_order="left_right")
    f, place, recall = pl.col("f_score"), pl.col("place"), pl.col("recall")
    first = f / (2 - f)
    points = grid.with_columns(recall=first + (1 - first) * (place / steps))
    precision = f * recall / (2 * recall - f)
    # Rounding would put the first point beside 1, and the next may be above 1.
    within = pl.when(place == 0).then(1.0).otherwise(precision.clip(upper_bound=1))
    return points.select("f_score", "recall", precision=within).collect()
