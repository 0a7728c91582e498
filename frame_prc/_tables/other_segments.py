"""Each segment beside the other segments, each of which is ranked by itself.

The area of the others is the mean of their areas, weighted by their positives. The weights are
taken as given, as the sizes of the classes are for calibrated areas.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, MOST_FLAGGED
from frame_prc._formulas import effective_number, sizes
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.measures import measure_of
from frame_prc._lazy import aggregated, cached, in_order, left_join, over
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import Rows
from frame_prc._tables.models import CANCELLED, above_rounding

_AREA, _SHARE, _OTHERS = pl.col(ESTIMATE), pl.col("share"), pl.col("share_b")
_POSITIVES, _NEGATIVES = pl.col("n_pos"), pl.col("n") - pl.col("n_pos")
_VARIANCE_A, _VARIANCE_B = pl.col("variance"), pl.col("variance_b")


def beside_other_segments(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    """Return a row per segment: its estimates, those of the others (``_b``), and ``covariance``."""
    estimates = Estimates.of(rows, measure_of(comparison.measured))
    weighted = estimates.keyed().with_columns(share=pl.when(_AREA.is_not_null()).then(_POSITIVES))
    table = cached(weighted.with_columns(_SHARE.fill_null(0)))
    found = table.with_columns(_others(rows.model_keys)).with_columns(_means())
    if not rows.clustered:
        return found.with_columns(
            covariance=pl.lit(0.0),
            variance_of_difference=above_rounding(*[_VARIANCE_A + _VARIANCE_B] * 2),
        )
    shared = _of_clusters(estimates, found, rows)
    return left_join(found.drop("variance_b", "n_effective_b"), shared, rows.keys)


# --- sums over the others ------------------------------------------------------------------


def _others(model: Sequence[str]) -> list[pl.Expr]:
    """Return the sums over the other segments of the same model."""
    in_mean = pl.when(_SHARE > 0)
    sums = {
        "share_b": _SHARE,
        "area_b": in_mean.then(_SHARE * _AREA),
        "shortfall_b": in_mean.then(_SHARE * pl.col("shortfall")),
        "variance_b": in_mean.then(_SHARE**2 * _VARIANCE_A),
        "squares_b": in_mean.then(_SHARE * (_SHARE / pl.col("n_effective"))),
        "positives_b": _POSITIVES,
        "negatives_b": _NEGATIVES,
        "flagged_b": _SHARE * pl.col("few_negatives"),
    }
    return [_of_others(amount.fill_null(0), model).alias(name) for name, amount in sums.items()]


def _of_others(amount: pl.Expr, model: Sequence[str]) -> pl.Expr:
    """Return the sum without the row's own amount, added up so that nothing cancels."""
    before = amount.cum_sum().shift(1, fill_value=0)
    after = amount.cum_sum(reverse=True).shift(-1, fill_value=0)
    return over(before + after, model)


def _means() -> list[pl.Expr]:
    """Return the estimates of the others from their sums."""
    has_any = pl.when(_OTHERS > 0)
    *_, prevalence, status = sizes(pl.col("positives_b"), pl.col("negatives_b"))
    return [
        has_any.then(pl.col("area_b") / _OTHERS).alias("value_b"),
        has_any.then(pl.col("shortfall_b") / _OTHERS),
        has_any.then(_VARIANCE_B / _OTHERS**2),
        effective_number(_OTHERS, pl.col("squares_b")).alias("n_effective_b"),
        prevalence.alias("prevalence_b"),
        status.replace("empty", "no_other").alias("status_b"),
        (pl.col("flagged_b") > MOST_FLAGGED * _OTHERS).alias("few_negatives_b"),
    ]


# --- clusters ------------------------------------------------------------------------------


def _of_clusters(estimates: Estimates, found: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Return ``variance_b, n_effective_b, covariance, variance_of_difference`` of each segment.

    A cluster may have rows in several segments. Of the clusters without rows in the segment only
    sums are needed: those of all clusters, less those of its own.
    """
    pool = rows.model_keys
    influence, pos = (
        pl.when(_SHARE > 0).then(name).otherwise(0.0) for name in ("influence", "pos")
    )
    shares = found.select(*rows.keys, "share", "share_b", "variance")
    moved = left_join(estimates.keyed_clusters(), shares, rows.keys)
    of_all = {"all_moved": _SHARE * influence, "all_pos": pos}
    clusters = cached(
        moved.with_columns(
            over(amount.sum(), [*pool, "cluster"]).alias(name) for name, amount in of_all.items()
        )
    )
    totals = _totals(clusters, pool)
    others = (pl.col("all_moved") - _SHARE * influence) / _OTHERS
    sums = clusters.group_by(rows.keys).agg(
        pl.col("share_b", "variance").first(),
        near=in_order((influence - others) ** 2),
        others=in_order(others**2),
        covariance=in_order(influence * others),
        own_moved=in_order(pl.col("all_moved") ** 2),
        own_pos=in_order(pl.col("all_pos") ** 2),
        pos=in_order(pl.col("all_pos") - pos),
        squares=in_order((pl.col("all_pos") - pos) ** 2),
        in_own=in_order(pl.col("all_pos")),
    )
    return left_join(sums, totals, pool).select(*rows.keys, *_of_sums())


def _totals(clusters: pl.LazyFrame, pool: Sequence[str]) -> pl.LazyFrame:
    """Return the sums over all clusters of a model."""
    once = clusters.select(*pool, "cluster", "all_moved", "all_pos").unique(
        [*pool, "cluster"], maintain_order=True
    )
    return aggregated(
        once,
        pool,
        total_moved=in_order(pl.col("all_moved") ** 2),
        total_squares=in_order(pl.col("all_pos") ** 2),
        total_pos=in_order(pl.col("all_pos")),
    )


def _of_sums() -> list[pl.Expr]:
    outside = _outside("total_moved", "own_moved") / _OTHERS**2
    others = pl.col("others") + outside
    squares = pl.col("squares") + _outside("total_squares", "own_pos")
    pos = pl.col("pos") + _outside("total_pos", "in_own")
    has_any = pl.when(_OTHERS > 0)
    variance = above_rounding(pl.col("near") + outside, _VARIANCE_A + others)
    return [
        has_any.then(others).alias("variance_b"),
        has_any.then(effective_number(pos, squares)).alias("n_effective_b"),
        has_any.then("covariance"),
        has_any.then(variance).alias("variance_of_difference"),
    ]


def _outside(total: str, own: str) -> pl.Expr:
    """Return a sum over the clusters without rows in the segment; 0 if only rounding is left."""
    rest = pl.col(total) - pl.col(own)
    return pl.when(rest > CANCELLED * pl.col(total)).then(rest).otherwise(0.0)
