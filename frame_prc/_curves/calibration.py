"""Calibration: points of a segment as they would be at another prevalence (Siblini et al. 2020).

At the reference prevalence each negative counts as ``positives / negatives`` times the odds of a
negative there. So calibrated areas are areas of scaled false positives.
"""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import odds_ratio
from frame_prc._lazy import over, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Calibration

CALIBRATED = "calibrated_average_precision"
REFERENCE = "reference_prevalence"

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_ODDS = pl.col("reference_odds")


def calibrated(points: pl.LazyFrame, ranking: Ranking, calibration: Calibration) -> pl.LazyFrame:
    """Return points with scaled false positives.

    ``points`` have a row that opens each segment. Added are ``scale``, what a negative counts as,
    and the reference prevalence with the odds of a negative there; ``unscaled_fp`` keeps the false
    positives.
    """
    opening = points.filter("opens").select("segment", "positives", "negatives")
    reference = _reference(opening, ranking, calibration)
    joined = segment_join(points, reference)
    sums = [name for name in ("fp", "fp_a") if name in joined.collect_schema()]
    return joined.with_columns(
        scale=odds_ratio(_POSITIVES, _NEGATIVES, _ODDS), unscaled_fp=pl.col("fp")
    ).with_columns(pl.col(sums) * pl.col("scale"))


def _reference(totals: pl.LazyFrame, ranking: Ranking, calibration: Calibration) -> pl.LazyFrame:
    """Return ``segment, reference_odds, reference_prevalence``."""
    if calibration.odds is not None:
        odds, prevalence = calibration.odds, calibration.prevalence
        return totals.select(
            "segment", reference_odds=pl.lit(odds), reference_prevalence=prevalence
        )
    model = ranking.rows.model_keys
    models = segment_join(totals, ranking.segments.table.select("segment", *model))
    positives, negatives = (over(one.sum(), model) for one in (_POSITIVES, _NEGATIVES))
    n = positives + negatives
    return models.select(
        "segment",
        reference_odds=negatives / positives,
        reference_prevalence=pl.when(n > 0).then(positives / n),
    )
