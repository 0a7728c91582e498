"""Means over segments that are themselves a sample, such as queries, users or folds.

The segments vary around their mean, and that variation says how far the mean of other segments like
them would be from it; how many rows each segment has does not matter. The mean is weighted by
shares ``w``, and with ``W`` their sum and ``m = W^2 / sum w^2`` the effective number of segments,

    std_error^2 = m / (m - 1) * sum (w / W)^2 * (value - mean)^2

It is the variance of a ratio of two means (Cochran 1977, Sampling Techniques, 6.13), and with equal
shares the usual one: the variance between the segments, divided by their number. The interval uses
Student's t with ``m - 1`` degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import polars as pl

from frame_prc._inference.distributions import student_p_value, student_quantile
from frame_prc._lazy import in_python, over

# The sums that a table of segments is aggregated to, beside the mean.
SPREAD = ("shares", "square_shares", "square_deviations")

# With fewer, no permutation test can reject at 5 %: with 5 the smallest p-value is 2 / 2**5.
FEW_SEGMENTS = 6

# Values that are all equal differ from their mean by rounding errors up to this.
_ROUNDING = 1e-14

_SHARES, _SQUARE_SHARES, _SQUARES = (pl.col(name) for name in SPREAD)
_STD_ERROR, _DEGREES = pl.col("std_error"), pl.col("degrees")


def with_deviations(
    table: pl.LazyFrame, keys: Sequence[str], value: pl.Expr, share: pl.Expr
) -> pl.LazyFrame:
    """Add the terms of ``SPREAD`` to a table of segments; those without a value have none.

    ``keys`` name the groups of segments that have a mean.
    """
    used = pl.when(value.is_not_null()).then(share)
    mean = (used * value).sum() / used.sum()
    deviation = value - over(mean, keys)
    near = deviation.abs() <= _ROUNDING
    return table.with_columns(
        shares=used,
        square_shares=used**2,
        square_deviations=(used * pl.when(near).then(0.0).otherwise(deviation)) ** 2,
    )


def with_std_error(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add ``std_error`` and ``degrees`` of freedom to sums, null if the segments do not vary."""
    n_effective = _SHARES * (_SHARES / _SQUARE_SHARES)
    degrees = n_effective - 1
    variance = _SQUARES / _SHARES**2 * (n_effective / degrees)
    varies = (n_effective.round() > 1) & (_SQUARES > 0)
    return table.with_columns(
        std_error=pl.when(varies).then(variance.sqrt()), degrees=pl.when(varies).then(degrees)
    )


def with_limits(
    table: pl.LazyFrame, estimate: str, level: float, lowest: float, *, in_memory: bool
) -> pl.LazyFrame:
    """Add ``ci_low`` and ``ci_high`` around an estimate, cut off at ``lowest`` and at 1."""

    @cache
    def quantile(degrees: float) -> float:
        return student_quantile(level, degrees)

    def with_quantile(rows: pl.DataFrame) -> pl.DataFrame:
        found = [None if degrees is None else quantile(degrees) for degrees in rows["degrees"]]
        return rows.with_columns(pl.Series("quantile", found, dtype=pl.Float64))

    schema = pl.Schema({**table.collect_schema(), "quantile": pl.Float64()})
    half = pl.col("quantile") * _STD_ERROR
    return in_python(table, with_quantile, schema, in_memory=in_memory).with_columns(
        ci_low=(pl.col(estimate) - half).clip(lower_bound=lowest),
        ci_high=(pl.col(estimate) + half).clip(upper_bound=1.0),
    )


def t_test(estimate: float, std_error: float | None, degrees: float | None) -> float | None:
    """Return the two-sided p-value of an estimate that is 0 in truth."""
    if std_error is None or degrees is None:
        return None
    return student_p_value(estimate / std_error, degrees)
