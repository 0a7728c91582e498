"""Operating points: one threshold per segment and target, read off the exact curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.curve import CURVE, points
from frame_prc._formulas import f_score, precision, recall, unsigned_zero
from frame_prc._lazy import join
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
    # Computed per row: inside an aggregation Polars divides by a scalar inexactly, and a recall of
    # 49/49 is then below 1.
    dtype = ranking.threshold_dtype
    merits = {f"merit_{i}": _merit(target, dtype) for i, target in enumerate(targets)}
    columns = ("score", "fp", "positives", "negatives")
    chosen = {str(i): best(pl.col(merit), *columns) for i, merit in enumerate(merits)}
    ranked = with_order(ranking.with_score(points(ranking)))
    rated = ranked.with_columns(precision(_TP, _FP).alias("precision"), **merits)
    found = rated.group_by("segment").agg(**chosen)
    # A segment that lost all its rows has no points, and still has its rows of nulls.
    every = ranking.segments.table.drop(ranking.rows.keys)
    joined = join(every, found, on="segment", how="left", maintain_order="left")
    long = joined.with_columns(
        criterion=pl.lit([target.criterion for target in targets], dtype=pl.List(pl.String)),
        target=pl.lit([target.value for target in targets], dtype=pl.List(pl.Float64)),
        point=pl.concat_list(list(chosen)),
    )
    table = long.explode("criterion", "target", "point").unnest("point")
    return ranking.segments.with_keys(table.with_columns(_rates(dtype)))


def with_order(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add the place of each point in the ranking, which a group need not keep; 0 is the largest."""
    return points.with_row_index("place").with_columns(place=-pl.col("place").cast(pl.Int64))


def best(merit: pl.Expr, *columns: str) -> pl.Expr:
    """Return columns of the point of most merit that no other of as much merit dominates.

    Of equally good points it is the most precise, then the one of most recall, then the one of the
    highest threshold: the largest struct of these.
    """
    point = pl.struct("precision", "tp", "place", *columns)
    return point.filter(merit == merit.max()).sort(descending=True).first()


def _merit(target: Target, threshold_dtype: pl.DataType) -> pl.Expr:
    """Return how well a point serves a target; null where it does not meet it."""
    real, value = ~pl.col("opens"), target.value
    predicted = _TP + _FP
    match target.criterion:
        case "recall":
            return pl.when(real & (recall(_TP, _POSITIVES) >= value)).then(precision(_TP, _FP))
        case "precision":
            return pl.when(real & (precision(_TP, _FP) >= value)).then(_TP)
        case "threshold":
            # The last point that it reaches, or the opening one.
            # As the score's dtype has it: the Float32 next to .7 is less than .7.
            held = pl.lit(value, pl.Float64).cast(threshold_dtype).cast(pl.Float64)
            return pl.when(~real | (_SCORE.cast(pl.Float64) >= held)).then(-pl.col("place"))
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
    f, first = pl.col("f_score"), pl.col("f_score") / (2 - pl.col("f_score"))
    recall = first + (1 - first) * (pl.col("place") / steps)
    points = lines.join(places, how="cross", maintain_order="left_right").with_columns(
        recall=recall
    )
    precision = f * pl.col("recall") / (2 * pl.col("recall") - f)
    # Rounded, the first point would be off 1, and the next may be above.
    within = pl.when(pl.col("place") == 0).then(1.0).otherwise(precision.clip(upper_bound=1))
    return points.select("f_score", "recall", precision=within).collect()
