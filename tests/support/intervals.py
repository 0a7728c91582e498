"""Intervals of the average precision: as asked for, and by definition."""

from __future__ import annotations

import math
from fractions import Fraction
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
    """Return standard error and ends by definition: with logits, and a case for each edge.

    The lower end allows for the bias of leaving out each row, where rows have equal weights.
    """
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
    variance = oracle.variance(rows, clusters)
    if round(effective) < 2 or not variance:
        return nothing
    by_rows = oracle.effective_positives(rows)
    trials = by_rows * oracle.variance(rows) / variance
    trials = min(max(trials, effective), by_rows)
    quantile = oracle.student_quantile(ci, effective - 1)
    error, bias = math.sqrt(variance), 0.0
    if len({row.weight for row in rows}) == 1 and by_rows > 1 and negatives:
        bias = float(oracle.bias(rows) * by_rows / trials)
        bias = bias if clusters is None else max(bias, oracle.cluster_bias(rows, clusters, added=2))
    reach = quantile * oracle.student_error(error, effective)
    more = oracle.more_by_weights([row.weight for row in rows if row.truth])
    more += 0.0 if clusters is None else oracle.of_squares(rows, clusters) / variance
    reach *= math.sqrt(1 + more)
    lows = [_lower(area, reach), ((1 - ci) / 2) ** (1 / trials)]
    lows += [_lower(max(area - bias, area / 10), reach)] if bias > 0 else []
    return error, min(lows), 1 - _lower(1 - area, reach)


def _lower(area: Fraction, reach: float) -> float:
    """Return the lower end of an interval on the logit scale."""
    return _expit(math.log(area / (1 - area)) - reach / float(area * (1 - area)))


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
