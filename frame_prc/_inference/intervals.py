"""Intervals of the average precision: from the influence of each row, per segment or cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._formulas import normal_quantile, sizes
from frame_prc._inference.bootstrap import check_drawable, variances
from frame_prc._inference.chance import RANDOM
from frame_prc._inference.influence import spreads, with_row_influence
from frame_prc._lazy import aggregated, left_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Interval
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

INTERVAL = ("std_error", "ci_low", "ci_high")

# With fewer, a nominal 95 % interval covers visibly less: see tests/benchmarks/coverage.py.
FEW_POSITIVES = 20

_DEGREES = pl.col("n_effective") - 1
_AREA, _SHORTFALL, _N_EFFECTIVE = (
    pl.col(AVERAGE_PRECISION),
    pl.col("shortfall"),
    pl.col("n_effective"),
)


def sized_estimates(
    ranking: Ranking, rows: Rows, bins: Bins | None, interval: Interval
) -> pl.LazyFrame:
    """Return :func:`estimates`, with the variance that an interval is made from."""
    table = estimates(ranking, rows, bins)
    if interval.resampling is None:
        return table
    drawn = variances(rows, interval.resampling, bins)
    return left_join(table.drop("variance"), drawn, rows.keys)


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
    elif rows.columns.lacks_squares:
        raise OptionError(
            "sums of weights in pos= and neg= do not tell how their rows spread",
            "integer counts, or sums of weights with pos_squares= and neg_squares= for ci=",
            "counts(..., squares=True) adds the sums of squared weights",
            shell_hint="frame-prc counts --squares adds the sums of squared weights",
        )


# --- estimates -----------------------------------------------------------------------------


def estimates(ranking: Ranking, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Return keys, sizes, average precision, how sure it is, and the number of dropped rows.

    How sure: ``shortfall``, ``variance`` and ``n_effective``. ``ranking`` is that of the rows, in
    their bins. With clusters the variance is that of
    independent clusters, and ``n_effective`` counts clusters.
    """
    table = of_independent_rows(ranking)
    if rows.columns.cluster is None:
        return table
    binned = _binned(rows, bins)
    influences = with_row_influence(binned.used(), binned, "score", "influence")
    influence = pl.col("influence")
    clusters = cluster_sums(influences.with_columns(positive_weight(rows)), rows, [influence])
    spread = per_segment(clusters, rows, variance=(influence**2).sum())
    return left_join(table.drop("variance", "n_effective"), spread, rows.keys)


def of_independent_rows(ranking: Ranking) -> pl.LazyFrame:
    """Return the estimates that hold for rows that hang together with no other."""
    table = spreads(ranking).select(
        "segment",
        *sizes(pl.col("positives"), pl.col("negatives")),
        pl.col("step").alias(AVERAGE_PRECISION),
        "shortfall",
        "variance",
        "n_effective",
    )
    return ranking.segments.with_keys(ranking.with_dropped(table))


def positive_weight(rows: Rows) -> pl.Expr:
    """Return how much a row counts as a positive."""
    weight = pl.col("weight") if rows.columns.weighted else 1.0
    return pl.when("truth").then(weight).otherwise(0.0).alias("pos")


def cluster_sums(frame: pl.LazyFrame, rows: Rows, influences: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Add up influences, and the positive weight ``pos``, inside each cluster of each segment."""
    sums = [column.sum() for column in (*influences, pl.col("pos"))]
    return frame.group_by(*rows.keys, "cluster").agg(sums)


def per_segment(frame: pl.LazyFrame, rows: Rows, **sums: pl.Expr) -> pl.LazyFrame:
    """Aggregate the rows or clusters of each segment, and count its ``n_effective`` positives."""
    aggregates = sums | {"pos": pl.col("pos").sum(), "squares": (pl.col("pos") ** 2).sum()}
    table = aggregated(frame, rows.keys, **aggregates)
    n_effective = pl.col("pos") * (pl.col("pos") / pl.col("squares"))
    return table.with_columns(n_effective=n_effective).drop("pos", "squares")


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
    """Add ``std_error, ci_low, ci_high`` to estimates, and say in the status what they tell.

    ``table`` also has the average precision of a random order of the labels.
    """
    if interval.method == "boyd":
        # Published with the normal quantile, and nothing at 0 and 1.
        variance, edges = _AREA * _SHORTFALL / pl.col("n_pos"), []
        quantile = pl.lit(normal_quantile(interval.level))
    else:
        variance, edges = pl.when(tells_spread()).then("variance"), _at_edges(interval)
        quantile = student_quantile(interval.level)
    inside = (pl.col("n_pos") > 0) & (_AREA > 0) & (_SHORTFALL > 0)
    return (
        table.with_columns(std_error=pl.when(inside).then(variance.sqrt().fill_nan(None)))
        .with_columns(_around(quantile))
        .with_columns(edges)
        .with_columns(status())
        .with_columns(_below_chance())
    )


def tells_spread() -> pl.Expr:
    """Return whether there is more than one positive, or cluster of them, to see them differ."""
    return _N_EFFECTIVE.round() > 1


def student_quantile(level: float) -> pl.Expr:
    """Return the same for Student's t, since the standard error is itself an estimate.

    Its degrees of freedom are the effective positives less one, by which it divides squares where
    ours divides by all of them: what is added here. The normal quantile is transformed as by
    Wallace (1959, doi 10.1214/aoms/1177706095). From 8 degrees on it is within 0.1 % of Student's
    at levels up to 95 %, and within 0.25 % at 99 %; with fewer it is wider, at 95 % by 4 % with 2
    degrees and by 38 % with 1.
    """
    normal = normal_quantile(level) / _wallace()
    return (_N_EFFECTIVE * ((normal**2 / _DEGREES).exp() - 1)).sqrt()


def student_as_normal(errors: pl.Expr) -> pl.Expr:
    """Return the normal deviate that is as rare as so many standard errors."""
    return _wallace() * (_DEGREES * (errors**2 / _N_EFFECTIVE).log1p()).sqrt()


def _wallace() -> pl.Expr:
    return (8 * _DEGREES + 1) / (8 * _DEGREES + 3)


def _around(quantile: pl.Expr) -> list[pl.Expr]:
    """Return the ends of an interval that is symmetric on the logit scale."""
    # exp of the distance on that scale: with it no logit is taken, and nothing overflows.
    factor = (-quantile * pl.col("std_error") / (_AREA * _SHORTFALL)).exp()
    low, high = _AREA * factor, _SHORTFALL * factor
    return [(low / (_SHORTFALL + low)).alias("ci_low"), (_AREA / (_AREA + high)).alias("ci_high")]


def _at_edges(interval: Interval) -> list[pl.Expr]:
    """Return the ends where all positives do alike: that of no failure in so many trials.

    The logit has no width at 0 and 1. What is left is how often a positive could fail (succeed)
    and none of these would (Clopper & Pearson 1934, doi 10.2307/2331986).
    """
    all_alike = interval.tail ** (1 / _N_EFFECTIVE)
    known = _N_EFFECTIVE.is_not_null()
    best = known & (pl.col("status") == "ok") & (_SHORTFALL == 0)
    worst = known & (pl.col("n_pos") > 0) & (_AREA == 0)
    return [
        pl.when(best).then(all_alike).when(worst).then(0.0).otherwise("ci_low").alias("ci_low"),
        pl.when(best)
        .then(1.0)
        .when(worst)
        .then(1 - all_alike)
        .otherwise("ci_high")
        .alias("ci_high"),
    ]


def _below_chance() -> pl.Expr:
    """Return the status, where a random order of the labels has more than the whole interval."""
    below = pl.col("ci_high") < pl.col(RANDOM)
    return pl.when(below).then(pl.lit("below_chance")).otherwise("status").alias("status")


def status() -> pl.Expr:
    """Return the status, where few positives make what is estimated doubtful as well."""
    few = (pl.col("status") == "ok") & (_N_EFFECTIVE < FEW_POSITIVES)
    return pl.when(few).then(pl.lit("few_positives")).otherwise("status").alias("status")
