"""Calibration: points of a segment as they would be at another prevalence (Siblini et al. 2020).

At the reference prevalence each negative counts as ``positives / negatives`` times the odds of a
negative there. So calibrated areas are areas of scaled false positives.
"""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import odds_ratio
from frame_prc._lazy import segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Calibration

CALIBRATED = "calibrated_average_precision"
REFERENCE = "reference_prevalence"

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_ODDS = pl.col("reference_odds")


def calibrated(referred: pl.LazyFrame) -> pl.LazyFrame:
    """Return points with scaled false positives.

    ``referred`` are points with their reference (see :func:`with_reference`). Added is ``scale``,
    what a negative counts as; ``unscaled_fp`` keeps the false positives.
    """
    sums = [name for name in ("fp", "fp_a") if name in referred.collect_schema()]
    return referred.with_columns(
        scale=odds_ratio(_POSITIVES, _NEGATIVES, _ODDS), unscaled_fp=pl.col("fp")
    ).with_columns(pl.col(sums) * pl.col("scale"))


def with_reference(
    points: pl.LazyFrame, ranking: Ranking, calibration: Calibration
) -> pl.LazyFrame:
    """Add ``reference_odds, reference_prevalence``; these are of all rows, if not given.

    ``points`` have a row that opens each segment; the odds are those of a negative. Points of
    several models are read twice, so they are to be cached, and once: Polars 1.41 loses columns of
    a frame that is cached twice.
    """
    if calibration.odds is not None:
        return points.with_columns(
            reference_odds=pl.lit(calibration.odds), reference_prevalence=calibration.prevalence
        )
    model = ranking.rows.model_keys
    if not model:
        weighted = ranking.rows.columns.weighted
        totals = (of_segments(one, weighted=weighted) for one in (_POSITIVES, _NEGATIVES))
        return points.with_columns(_of_all(*totals))
    opening = points.filter("opens").select("segment", "positives", "negatives")
    models = segment_join(opening, ranking.segments.table.select("segment", *model))
    totals = (one.sum().over(model) for one in (_POSITIVES, _NEGATIVES))
    return segment_join(points, models.select("segment", *_of_all(*totals)))


def of_segments(amount: pl.Expr, *, weighted: bool) -> pl.Expr:
    """Return the sum of an amount of all segments."""
    # Not a sum of filtered rows, which Polars 1.41 streams with a wrong height.
    at_opening = pl.when("opens").then(amount)
    # How Polars adds up floats at once depends on the number of threads.
    return at_opening.cum_sum().max().fill_null(0.0) if weighted else at_opening.sum()


def _of_all(positives: pl.Expr, negatives: pl.Expr) -> list[pl.Expr]:
    n = positives + negatives
    prevalence = pl.when(n > 0).then(positives / n)
    return [(negatives / positives).alias("reference_odds"), prevalence.alias(REFERENCE)]
