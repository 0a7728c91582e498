"""Confidence intervals of the average precision, per segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._formulas import normal_quantile, sizes
from frame_prc._inference.bootstrap import binned, check_drawable, variances
from frame_prc._inference.chance import RANDOM
from frame_prc._inference.influence import spreads, with_row_influence
from frame_prc._lazy import aggregated, left_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Interval
from frame_prc._request.thresholds import Bins
from frame_prc._rows.columns import Columns
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

INTERVAL = ("std_error", "ci_low", "ci_high")

# With fewer, the coverage of a 95 % interval is visibly lower: see tests/benchmarks/coverage.py.
FEW_POSITIVES = 20

_AREA, _SHORTFALL = pl.col(AVERAGE_PRECISION), pl.col("shortfall")
_N_EFFECTIVE = pl.col("n_effective")
_DEGREES = _N_EFFECTIVE - 1  # of freedom


def check_method(rows: Rows, interval: Interval) -> None:
    """Raise an error if the method has no interval for such rows."""
    if interval.method == "bootstrap":
        check_drawable(rows)
    elif interval.method == "boyd":
        _check_boyd(rows.columns)
    elif rows.columns.lacks_squares:
        raise OptionError(
            "ci= needs the sums of squared weights as well as the sums of weights in pos= and neg=",
            "integer counts, or sums of weights with pos_squares= and neg_squares=",
            "counts(..., squares=True) adds the sums of squared weights",
            shell_hint="frame-prc counts --squares adds the sums of squared weights",
        )


def _check_boyd(columns: Columns) -> None:
    if columns.weighted:
        given = "weight" if "weight" in columns.classes else "pos"
        raise OptionError(
            f"ci_method='boyd' does not support the weights in {given}=",
            "rows without weight=, or integer counts",
            "ci_method='influence' takes weights",
        )
    if columns.cluster is not None:
        raise OptionError(
            "ci_method='boyd' does not support cluster=", "cluster= with ci_method='influence'"
        )


# --- estimates -----------------------------------------------------------------------------


def estimates(ranking: Ranking, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Return keys, sizes, average precision, what intervals need, and the counts of dropped rows.

    Intervals need ``shortfall``, ``variance`` and ``n_effective``. With clusters, the variance
    treats clusters as independent and ``n_effective`` counts clusters with positives. ``ranking``
    is the ranking of the rows, in their bins.
    """
    table = of_independent_rows(ranking)
    if rows.columns.cluster is None:
        return table
    clusters = cluster_influence(_binned_rows(rows, bins))
    spread = per_segment(clusters, rows, variance=(pl.col("influence") ** 2).sum())
    return left_join(table.drop("variance", "n_effective"), spread, rows.keys)


def estimates_for(
    interval: Interval, ranking: Ranking, rows: Rows, bins: Bins | None
) -> pl.LazyFrame:
    """Return :func:`estimates`, with the variance over replicates if there are any."""
    table = estimates(ranking, rows, bins)
    if interval.resampling is None:
        return table
    drawn = variances(rows, interval.resampling, bins)
    return left_join(table.drop("variance"), drawn, rows.keys)


def of_independent_rows(ranking: Ranking) -> pl.LazyFrame:
    """Return :func:`estimates` for rows that are all independent."""
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
    """Return the weight of each positive row, 0 for negatives, as ``pos``."""
    weight = pl.col("weight") if rows.columns.weighted else 1.0
    return pl.when("truth").then(weight).otherwise(0.0).alias("pos")


def cluster_sums(frame: pl.LazyFrame, rows: Rows, influences: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Return the sums of influences, and of the weight ``pos``, by cluster and segment."""
    sums = [column.sum() for column in (*influences, pl.col("pos"))]
    return frame.group_by(*rows.keys, "cluster").agg(sums)


def cluster_influence(rows: Rows) -> pl.LazyFrame:
    """Return the ``influence`` of each cluster on the average precision of its segment."""
    influences = with_row_influence(rows.used(), rows, "score", "influence")
    weighted = influences.with_columns(positive_weight(rows))
    return cluster_sums(weighted, rows, [pl.col("influence")])


def per_segment(frame: pl.LazyFrame, rows: Rows, **sums: pl.Expr) -> pl.LazyFrame:
    """Aggregate the rows or clusters of each segment, with its ``n_effective`` positives."""
    pos = pl.col("pos")
    table = aggregated(frame, rows.keys, **sums, pos=pos.sum(), squares=(pos**2).sum())
    n_effective = pos * (pos / pl.col("squares"))
    return table.with_columns(n_effective=n_effective).drop("pos", "squares")


def _binned_rows(rows: Rows, bins: Bins | None) -> Rows:
    """Return rows with the number of the highest threshold they reach as their score."""
    if bins is None:
        return rows
    # Unusable rows are gone: a score that is null now is below the lowest threshold.
    return replace(
        rows,
        frame=binned(rows, bins),
        score_dtype=pl.Int64(),
        usable=None,
        n_dropped=None,
        values=None,
    )


# --- limits --------------------------------------------------------------------------------


def with_interval(table: pl.LazyFrame, interval: Interval) -> pl.LazyFrame:
    """Add ``std_error, ci_low, ci_high`` to estimates, and update their status.

    ``table`` also has the average precision of a random order of the labels.
    """
    if interval.method == "boyd":
        # As published: with the normal quantile, and without an interval at 0 and 1.
        variance, edges = _AREA * _SHORTFALL / pl.col("n_pos"), []
        quantile = pl.lit(normal_quantile(interval.level))
    else:
        variance, edges = pl.when(has_variance()).then("variance"), _at_edges(interval)
        quantile = student_quantile(interval.level)
    inside = (pl.col("n_pos") > 0) & (_AREA > 0) & (_SHORTFALL > 0)
    return (
        table.with_columns(std_error=pl.when(inside).then(variance.sqrt().fill_nan(None)))
        .with_columns(_around(quantile))
        .with_columns(edges)
        .with_columns(status())
        .with_columns(_below_chance())
    )


def has_variance() -> pl.Expr:
    """Return whether there are 2 or more positives (or clusters of them), as a variance needs."""
    return _N_EFFECTIVE.round() > 1


def student_quantile(level: float) -> pl.Expr:
    """Return the quantile of Student's t, since the standard error is itself an estimate.

    With m effective positives it has m - 1 degrees of freedom. t uses m - 1 and our variance m; the
    quantile is inflated by sqrt(m / (m - 1)). It is computed from the normal quantile by the
    approximation of Wallace (1959, doi 10.1214/aoms/1177706095). With 8 or more degrees of freedom
    this is within 0.1 % of Student's t at levels up to 95 %, and within 0.25 % at 99 %; with fewer
    it is too wide, at 95 % by 4 % with 2 degrees and by 38 % with 1.
    """
    normal = normal_quantile(level) / _wallace()
    return (_N_EFFECTIVE * ((normal**2 / _DEGREES).exp() - 1)).sqrt()


def student_as_normal(errors: pl.Expr) -> pl.Expr:
    """Return the normal deviate with the p-value of a difference of ``errors`` standard errors."""
    return _wallace() * (_DEGREES * (errors**2 / _N_EFFECTIVE).log1p()).sqrt()


def _wallace() -> pl.Expr:
    return (8 * _DEGREES + 1) / (8 * _DEGREES + 3)


def _around(quantile: pl.Expr) -> list[pl.Expr]:
    """Return the limits of an interval that is symmetric on the logit scale."""
    # exp of half its width on that scale: this way no logit is taken and nothing overflows.
    factor = (-quantile * pl.col("std_error") / (_AREA * _SHORTFALL)).exp()
    low, high = _AREA * factor, _SHORTFALL * factor
    return [(low / (_SHORTFALL + low)).alias("ci_low"), (_AREA / (_AREA + high)).alias("ci_high")]


def _at_edges(interval: Interval) -> list[pl.Expr]:
    """Return the limits, with exact ones at 0 and 1, where the logit interval has no width.

    They are the binomial limits for ``n_effective`` trials of which all fail or all succeed
    (Clopper & Pearson 1934, doi 10.2307/2331986).
    """
    all_succeed = interval.tail ** (1 / _N_EFFECTIVE)
    known = _N_EFFECTIVE.is_not_null()
    best = known & (pl.col("status") == "ok") & (_SHORTFALL == 0)
    worst = known & (pl.col("n_pos") > 0) & (_AREA == 0)
    low = pl.when(best).then(all_succeed).when(worst).then(0.0).otherwise("ci_low")
    high = pl.when(best).then(1.0).when(worst).then(1 - all_succeed).otherwise("ci_high")
    return [low.alias("ci_low"), high.alias("ci_high")]


def _below_chance() -> pl.Expr:
    """Return the status; ``below_chance`` if the interval is below the AP of a random order."""
    below = pl.col("ci_high") < pl.col(RANDOM)
    return pl.when(below).then(pl.lit("below_chance")).otherwise("status").alias("status")


def status() -> pl.Expr:
    """Return the status; ``few_positives`` if there are too few to trust the estimates."""
    few = (pl.col("status") == "ok") & (_N_EFFECTIVE < FEW_POSITIVES)
    return pl.when(few).then(pl.lit("few_positives")).otherwise("status").alias("status")
