"""Means over segments that are themselves a sample, such as queries, users or folds.

The segments vary around their mean, and that variation says how far the mean of other segments like
them would be from it; how many rows each segment has does not matter. The mean is weighted by
shares ``w``, and with ``W`` their sum and ``m = W^2 / sum w^2`` the effective number of segments,

    std_error^2 = m / (m - 1) * sum (w / W)^2 * (value - mean)^2

It is the variance of a ratio of two means (Cochran 1977, Sampling Techniques, 6.13), and with equal
shares the usual one: the variance between the segments, divided by their number. The interval uses
Student's t with ``m - 1`` degrees of freedom: of a difference around it, and of a measure on the
logit scale, as that of a segment. Near 1, where a few segments lie far below the others, the plain
interval is too high: of 12 queries with a mean of .945 it covered 79 %, this one 98 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import polars as pl

from frame_prc._curves.logit_intervals import limits_of
from frame_prc._inference.distributions import student_p_value, student_quantile
from frame_prc._lazy import in_python, over
from frame_prc._request.specs import Interval

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
    """Add the terms of ``SPREAD`` to a table of segments; those without a value have none."""
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
    """Add ``std_error``, null if the segments do not vary, and ``degrees`` of freedom to sums."""
    n_effective = _SHARES * (_SHARES / _SQUARE_SHARES)
    degrees = n_effective - 1
    variance = _SQUARES / _SHARES**2 * (n_effective / degrees)
    several = (_SHARES > 0) & (n_effective.round() > 1)
    return table.with_columns(
        std_error=pl.when(several & (_SQUARES > 0)).then(variance.sqrt()),
        degrees=pl.when(several).then(degrees),
    )


def limits_of_mean(
    table: pl.LazyFrame, mean: str, interval: Interval, *, in_memory: bool
) -> pl.LazyFrame:
    """Add ``ci_low`` and ``ci_high`` of a mean of measures; ``middle`` is their median.

    They are null if all segments have the same measure, unless it is 0 or 1: ``m`` of these have
    binomial limits (Clopper & Pearson 1934, doi 10.2307/2331986). So a limit is at least as far out
    where most segments have a measure of 0 or 1, as one that has not may be missing by chance.
    """
    estimate, shortfall, middle = pl.col(mean), 1 - pl.col(mean), pl.col("middle")
    factor = (-pl.col("quantile") * _STD_ERROR / (estimate * shortfall)).exp()
    low, high = limits_of(estimate, shortfall, factor).values()
    most = interval.tail ** (1 / (_DEGREES + 1))
    best, worst = middle >= 1 - _ROUNDING, middle <= _ROUNDING
    low = pl.when(best).then(pl.min_horizontal(low, most)).otherwise(low)
    high = pl.when(worst).then(pl.max_horizontal(high, 1 - most)).otherwise(high)
    several = pl.when(_DEGREES.is_not_null())
    return _with_quantile(table, interval.level, in_memory=in_memory).with_columns(
        ci_low=several.then(pl.when(estimate <= _ROUNDING).then(0.0).otherwise(low)),
        ci_high=several.then(pl.when(shortfall <= _ROUNDING).then(1.0).otherwise(high)),
    )


def limits_of_difference(table: pl.LazyFrame, mean: str, level: float) -> pl.LazyFrame:
    """Add ``ci_low`` and ``ci_high`` of a mean of differences."""
    half = pl.col("quantile") * _STD_ERROR
    return _with_quantile(table, level, in_memory=True).with_columns(
        ci_low=(pl.col(mean) - half).clip(lower_bound=-1.0),
        ci_high=(pl.col(mean) + half).clip(upper_bound=1.0),
    )


def _with_quantile(table: pl.LazyFrame, level: float, *, in_memory: bool) -> pl.LazyFrame:
    """Add the quantile of Student's t, null where no degrees of freedom are known."""

    @cache
    def quantile(degrees: float) -> float:
        return student_quantile(level, degrees)

    def with_quantile(rows: pl.DataFrame) -> pl.DataFrame:
        found = [None if degrees is None else quantile(degrees) for degrees in rows["degrees"]]
        return rows.with_columns(pl.Series("quantile", found, dtype=pl.Float64))

    schema = pl.Schema({**table.collect_schema(), "quantile": pl.Float64()})
    return in_python(table, with_quantile, schema, in_memory=in_memory)


def t_test(estimate: float, std_error: float | None, degrees: float | None) -> float | None:
    """Return the two-sided p-value of an estimate that is 0 in truth."""
    if std_error is None or degrees is None:
        return None
    return student_p_value(estimate / std_error, degrees)
