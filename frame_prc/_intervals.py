"""Intervals of the average precision: from the influence of each row, per segment or cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, TypeAlias, get_args

import polars as pl

from frame_prc._areas import AVERAGE_PRECISION, sizes
from frame_prc._bins import Bins
from frame_prc._bootstrap import Resampling, check_drawable, variances
from frame_prc._influence import spreads, with_moves
from frame_prc._plan import aggregated, matched
from frame_prc._ranking import Ranking
from frame_prc._rows import Rows
from frame_prc.exceptions import OptionError

CiMethod: TypeAlias = Literal["influence", "boyd", "bootstrap"]
CI_METHODS: tuple[CiMethod, ...] = get_args(CiMethod)

COLUMNS = ("std_error", "ci_low", "ci_high")

# With fewer, a nominal 95 % interval covers visibly less: see tests/benchmarks/coverage.py.
FEW_POSITIVES = 20

_DEGREES = pl.col("effective") - 1
_AREA, _LACK, _EFFECTIVE = pl.col(AVERAGE_PRECISION), pl.col("lack"), pl.col("effective")


@dataclass(frozen=True)
class Interval:
    """An interval asked for: its level, such as .95, and its method."""

    level: float
    method: CiMethod = "influence"
    resampling: Resampling | None = None

    @property
    def tail(self) -> float:
        """The probability beyond each end."""
        return (1 - self.level) / 2


def sized_intervals(
    ranking: Ranking, rows: Rows, bins: Bins | None, interval: Interval
) -> pl.LazyFrame:
    """Return keys, sizes, average precision, how sure that is, and the counts of dropped rows."""
    table = estimates(ranking, rows, bins)
    if interval.resampling is not None:
        drawn = variances(rows, interval.resampling, bins)
        table = matched(table.drop("variance"), drawn, rows.keys)
    return with_interval(table, interval)


def check_method(rows: Rows, interval: Interval) -> None:
    """Refuse rows from which a method has no interval."""
    if interval.method == "boyd":
        given = "weight" if "weight" in rows.columns.classes else "pos"
        if rows.columns.weighted:
            raise OptionError(
                f"ci_method='boyd' is for rows of equal weight, not {given}= as given",
                "rows without weight=, or integer counts",
                "ci_method='influence' takes weights",
            )
        if rows.columns.cluster is not None:
            raise OptionError(
                "ci_method='boyd' is for independent rows, without cluster=",
                "cluster= with ci_method='influence'",
            )
    elif interval.method == "bootstrap":
        check_drawable(rows)
    elif rows.columns.counted and rows.columns.weighted and not rows.columns.with_squares:
        raise OptionError(
            "sums of weights in pos= and neg= do not tell how their rows spread",
            "integer counts, or sums of weights with pos_squares= and neg_squares= for ci=",
            "counts(..., squares=True) adds the sums of squared weights",
        )


# --- estimates -----------------------------------------------------------------------------


def estimates(ranking: Ranking, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Return keys, sizes, average precision, ``lack``, ``variance``, ``effective``, dropped rows.

    ``ranking`` is that of the rows, in their bins. With clusters the variance is that of
    independent clusters, and ``effective`` counts clusters.
    """
    table = of_independent_rows(ranking)
    if rows.columns.cluster is None:
        return table
    binned = _binned(rows, bins)
    moves = with_moves(binned.used(), binned, "score", "move")
    move = pl.col("move")
    clusters = cluster_sums(moves.with_columns(positive_weight(rows)), rows, [move])
    spread = per_segment(clusters, rows, variance=(move**2).sum())
    return matched(table.drop("variance", "effective"), spread, rows.keys)


def of_independent_rows(ranking: Ranking) -> pl.LazyFrame:
    """Return the estimates that hold for rows that hang together with no other."""
    table = spreads(ranking).select(
        "segment",
        *sizes(pl.col("positives"), pl.col("negatives")),
        pl.col("step").alias(AVERAGE_PRECISION),
        "lack",
        "variance",
        "effective",
    )
    return ranking.segments.with_keys(ranking.with_dropped(table))


def positive_weight(rows: Rows) -> pl.Expr:
    """Return how much a row counts as a positive."""
    weight = pl.col("weight") if rows.columns.weighted else 1.0
    return pl.when("truth").then(weight).otherwise(0.0).alias("pos")


def cluster_sums(frame: pl.LazyFrame, rows: Rows, moves: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Add up moves, and the positive weight ``pos``, inside each cluster of each segment."""
    sums = [column.sum() for column in (*moves, pl.col("pos"))]
    return frame.group_by(*rows.keys, "cluster").agg(sums)


def per_segment(frame: pl.LazyFrame, rows: Rows, **sums: pl.Expr) -> pl.LazyFrame:
    """Aggregate the rows or clusters of each segment, and count its ``effective`` positives."""
    aggregates = sums | {"pos": pl.col("pos").sum(), "squares": (pl.col("pos") ** 2).sum()}
    table = aggregated(frame, rows.keys, **aggregates)
    effective = pl.col("pos") * (pl.col("pos") / pl.col("squares"))
    return table.with_columns(effective=effective).drop("pos", "squares")


def _binned(rows: Rows, bins: Bins | None) -> Rows:
    """Return rows that have, for their score, the threshold they reach by its number."""
    if bins is None:
        return rows
    # What is missing is left out before: a level is also missing below the lowest threshold.
    levelled = bins.of(rows.score_dtype).with_level(rows.used(), in_memory=rows.in_memory)
    frame = levelled.with_columns(score=pl.col("level").cast(pl.Int64)).drop("level")
    bare = replace(rows, usable=None, n_dropped=None, values=None)
    return replace(bare, frame=frame, score_dtype=pl.Int64())


# --- limits --------------------------------------------------------------------------------


def with_interval(table: pl.LazyFrame, interval: Interval) -> pl.LazyFrame:
    """Add ``std_error, ci_low, ci_high`` to estimates, and say where positives are few."""
    if interval.method == "boyd":
        # Published with the normal quantile, and nothing at 0 and 1.
        variance, edges = _AREA * _LACK / pl.col("n_pos"), []
        quantile = pl.lit(normal_quantile(interval.level))
    else:
        variance, edges = pl.when(tells_spread()).then("variance"), _at_edges(interval)
        quantile = student_quantile(interval.level)
    inside = (pl.col("n_pos") > 0) & (_AREA > 0) & (_LACK > 0)
    return (
        table.with_columns(std_error=pl.when(inside).then(variance.sqrt().fill_nan(None)))
        .with_columns(_around(quantile))
        .with_columns(edges)
        .with_columns(status())
    )


def tells_spread() -> pl.Expr:
    """Return whether there is more than one positive, or cluster of them, to see them differ."""
    return _EFFECTIVE.round() > 1


def normal_quantile(level: float) -> float:
    """Return how many standard errors hold so much of a normal distribution."""
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float) -> pl.Expr:
    """Return the same for Student's t, since the standard error is itself an estimate.

    Its degrees of freedom are the effective positives less one, by which it divides squares where
    ours divides by all of them: what is added here. The normal quantile is transformed as by
    Wallace (1959, doi 10.1214/aoms/1177706095), to within .1 % from 8 degrees on.
    """
    normal = normal_quantile(level) / _wallace()
    return (_EFFECTIVE * ((normal**2 / _DEGREES).exp() - 1)).sqrt()


def student_as_normal(errors: pl.Expr) -> pl.Expr:
    """Return the normal deviate that is as rare as so many standard errors."""
    return _wallace() * (_DEGREES * (errors**2 / _EFFECTIVE).log1p()).sqrt()


def _wallace() -> pl.Expr:
    return (8 * _DEGREES + 1) / (8 * _DEGREES + 3)


def _around(quantile: pl.Expr) -> list[pl.Expr]:
    """Return the ends of an interval that is symmetric on the logit scale."""
    # exp of the distance on that scale: with it no logit is taken, and nothing overflows.
    factor = (-quantile * pl.col("std_error") / (_AREA * _LACK)).exp()
    low, high = _AREA * factor, _LACK * factor
    return [(low / (_LACK + low)).alias("ci_low"), (_AREA / (_AREA + high)).alias("ci_high")]


def _at_edges(interval: Interval) -> list[pl.Expr]:
    """Return the ends where all positives do alike: that of no failure in so many trials.

    The logit has no width at 0 and 1. What is left is how often a positive could fail (succeed)
    and none of these would (Clopper & Pearson 1934, doi 10.2307/2331986).
    """
    all_alike = interval.tail ** (1 / _EFFECTIVE)
    best = (pl.col("status") == "ok") & (_LACK == 0)
    worst = (pl.col("n_pos") > 0) & (_AREA == 0)
    return [
        pl.when(best).then(all_alike).when(worst).then(0.0).otherwise("ci_low").alias("ci_low"),
        pl.when(best)
        .then(1.0)
        .when(worst)
        .then(1 - all_alike)
        .otherwise("ci_high")
        .alias("ci_high"),
    ]


def status() -> pl.Expr:
    """Return the status, where few positives make what is estimated doubtful as well."""
    few = (pl.col("status") == "ok") & (_EFFECTIVE < FEW_POSITIVES)
    return pl.when(few).then(pl.lit("few_positives")).otherwise("status").alias("status")
