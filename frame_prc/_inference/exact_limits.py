"""Exact limits of shares of trials, as columns (Clopper & Pearson 1934)."""

from __future__ import annotations

import polars as pl

from frame_prc._inference.distributions import clopper_low
from frame_prc._lazy import in_batches

_LIMITS = {"low": pl.Float64(), "high": pl.Float64()}


def with_exact_limits(trials: pl.LazyFrame, tail: float) -> pl.LazyFrame:
    """Add the limits ``low, high`` of the share of ``hits`` among ``hits`` and ``misses``."""

    def limits(frame: pl.DataFrame) -> pl.DataFrame:
        found = [
            _limits(*row, tail=tail) for row in frame.select("hits", "misses", "kept").iter_rows()
        ]
        return frame.hstack(pl.DataFrame(found, schema=_LIMITS, orient="row"))

    schema = pl.Schema({**trials.collect_schema(), **_LIMITS})
    return in_batches(trials, limits, schema)


def _limits(
    hits: float | None, misses: float | None, kept: float, *, tail: float
) -> tuple[float | None, float | None]:
    if hits is None or misses is None or not hits + misses > 0:
        return None, None
    lost = hits * (1 - kept)
    return clopper_low(hits - lost, misses + lost, tail), 1 - clopper_low(misses, hits, tail)
