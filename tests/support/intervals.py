"""Intervals of the average precision: as asked for, and by definition."""

from __future__ import annotations

import math
from typing import Any

import oracle
import polars as pl

import frame_prc

INTERVAL = ["std_error", "ci_low", "ci_high"]
ROUNDED = {"rel_tol": 1e-9, "abs_tol": 1e-12}


def interval_of(kind: Any, df: pl.DataFrame, **options: Any) -> pl.DataFrame:
    options = {
        "details": True,
        "ci": 0.95,
        "weight": "weight" if "weight" in df.columns else None,
        **options,
    }
    return kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", **options))


def expected_interval(
    rows: list[oracle.Row], ci: float, clusters: list[Any] | None = None
) -> tuple[float | None, float | None, float | None]:
    """Return standard error and ends by definition: with logits, and a case for each edge."""
    positives, negatives = oracle.totals(rows)
    nothing = (None, None, None)
    if not positives:
        return nothing
    area = oracle.average_precision(rows)
    effective = oracle.effective_positives(rows, clusters)
    alike = ((1 - ci) / 2) ** (1 / effective)
    if area == 0:
        return None, 0.0, 1 - alike
    if area == 1:
        return (None, alike, 1.0) if negatives else nothing
    if round(effective) < 2:
        return nothing
    error = math.sqrt(oracle.variance(rows, clusters))
    quantile = oracle.student_quantile(ci, effective - 1)
    half = quantile * oracle.student_error(error, effective) / float(area * (1 - area))
    logit = math.log(area / (1 - area))
    return error, _expit(logit - half), _expit(logit + half)


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
