"""Comparisons: models on the same rows, or segments with the other rows or all rows; with tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._inference.influence import with_row_influence
from frame_prc._inference.intervals import (
    FEW_POSITIVES,
    cluster_sums,
    estimates,
    has_variance,
    of_independent_rows,
    per_segment,
    positive_weight,
    status,
    student_as_normal,
    student_quantile,
)
from frame_prc._lazy import in_python, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Adjust, Comparison
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.table import Table
from frame_prc._tables.rest import ESTIMATES, rest_of_each_segment

_TEST = ("ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value")
_NAMES_A = {AVERAGE_PRECISION: "ap_a", "shortfall": "shortfall_a", "variance": "variance_a"}
_NAMES_B = dict(
    zip(ESTIMATES, ("ap_b", "shortfall_b", "variance_b", "n_effective_b", "status_b"), strict=True)
)

# The variance of a difference is a rounding error up to this fraction of the sum of both variances,
_ROUNDING = 1e-24
# and a difference of variances up to this fraction of either.
_CANCELLED = 1e-12

_AP_A, _AP_B, _SHORTFALL_A, _SHORTFALL_B = (
    pl.col(n) for n in ("ap_a", "ap_b", "shortfall_a", "shortfall_b")
)
_VARIANCE, _VARIANCE_A, _VARIANCE_B = (pl.col(n) for n in ("variance", "variance_a", "variance_b"))
_DIFFERENCE, _STD_ERROR = pl.col("difference"), pl.col("std_error")


@dataclass(frozen=True)
class Differences(Table):
    """One row per segment and pair of models, or per segment (and model)."""

    comparison: Comparison

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        sides = ("model_a", "model_b") if self.comparison.against is None else ("against",)
        adjusted = ("p_adjusted",) if self.comparison.adjust else ()
        return (*sides, "n", "n_pos", *_TEST, *adjusted, "status")

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without a key for the model, if models are compared."""
        return side_by_side(rows) if self.comparison.against is None else rows

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the differences, each with its test."""
        comparison = self.comparison
        is_tested = pl.all_horizontal(_VARIANCE > 0, _DIFFERENCE.is_not_null(), _can_be_tested())
        estimated = (
            _both_areas(rows, comparison)
            .with_columns(difference=_difference())
            .with_columns(std_error=pl.when(is_tested).then(_VARIANCE.sqrt()))
            .with_columns(*_limits(comparison.level), _deviate(), status())
        )
        tested = _with_p_value(estimated, in_memory=rows.in_memory)
        return tested.with_columns(adjusted(comparison.adjust))


def _both_areas(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    """Return both areas of each comparison and the variance of their difference."""
    if comparison.against is None:
        models = list(rows.columns.request.models)
        return _models(side_by_side(rows), models, comparison.pairs)
    table = _rest(rows) if comparison.against == "rest" else _overall(rows)
    return table.with_columns(against=pl.lit(comparison.against))


# --- models on the same rows ---------------------------------------------------------------


def _models(
    rows: Rows, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    """Return one row per segment and pair of models."""
    models = [
        replace(rows, frame=rows.frame.with_columns(score=f"score_{i}")) for i in range(len(names))
    ]
    frame = rows.used().with_columns(positive_weight(rows))
    for i, model in enumerate(models):
        frame = with_row_influence(frame, model, f"score_{i}", f"influence_{i}")
    influences = [pl.col(f"influence_{i}") for i in range(len(names))]
    if rows.columns.cluster is not None:
        frame = cluster_sums(frame, rows, influences)
    first, *others = (
        of_independent_rows(rank(model))
        .drop("variance", "n_effective")
        .rename({AVERAGE_PRECISION: f"ap_{i}", "shortfall": f"shortfall_{i}"})
        for i, model in enumerate(models)
    )
    table = left_join(first, per_segment(frame, rows, **_variances(influences, pairs)), rows.keys)
    for i, other in enumerate(others, 1):
        table = left_join(table, other.select(*rows.keys, f"ap_{i}", f"shortfall_{i}"), rows.keys)
    return _by_pair(table, names, pairs)


def _variances(
    influences: Sequence[pl.Expr], pairs: Sequence[tuple[int, int]]
) -> dict[str, pl.Expr]:
    """Return the variance of each area, and each pair's covariance and variance of difference."""
    sums = {f"alone_{i}": (influence**2).sum() for i, influence in enumerate(influences)}
    for k, (a, b) in enumerate(pairs):
        sums[f"variance_{k}"] = ((influences[a] - influences[b]) ** 2).sum()
        sums[f"covariance_{k}"] = (influences[a] * influences[b]).sum()
    return sums


def _by_pair(
    table: pl.LazyFrame, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    lists = {
        name: pl.concat_list([f"{name}_{k}" for k in range(len(pairs))])
        for name in ("variance", "covariance")
    }
    text = pl.List(pl.String)
    for side, models in zip("ab", zip(*pairs, strict=True), strict=True):
        lists[f"model_{side}"] = pl.lit([names[i] for i in models], dtype=text)
        lists[f"ap_{side}"] = pl.concat_list([f"ap_{i}" for i in models])
        lists[f"shortfall_{side}"] = pl.concat_list([f"shortfall_{i}" for i in models])
        lists[f"variance_{side}"] = pl.concat_list([f"alone_{i}" for i in models])
    long = table.with_columns(**lists).explode(*lists)
    return long.with_columns(variance=_above_rounding(_VARIANCE, _VARIANCE_A + _VARIANCE_B))


def _above_rounding(variance: pl.Expr, alone: pl.Expr) -> pl.Expr:
    """Return the variance of a difference; null if it is a rounding error."""
    return pl.when(variance > _ROUNDING * alone).then(variance)


# --- a segment and others ------------------------------------------------------------------


def _overall(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all rows.

    Its own rows influence both areas; all others influence only the area of all rows.
    """
    whole = rows.pooled()
    frame = rows.used().with_columns(positive_weight(rows))
    frame = with_row_influence(frame, rows, "score", "influence_a")
    frame = with_row_influence(frame, whole, "score", "influence_b")
    influence_a, influence_b = pl.col("influence_a"), pl.col("influence_b")
    if rows.columns.cluster is not None:
        frame = cluster_sums(frame, rows, [influence_a, influence_b]).with_columns(
            influence_b.sum().over(*whole.keys, "cluster")
        )
    sums = per_segment(
        frame,
        rows,
        near=((influence_a - influence_b) ** 2).sum(),
        alone=(influence_a**2).sum(),
        inside=(influence_b**2).sum(),
        covariance=(influence_a * influence_b).sum(),
        len=pl.len(),
    )
    table = left_join(_segments(rows), sums.drop("n_effective"), rows.keys)
    others = estimates(rank(whole, squares=True), whole).rename(_NAMES_B)
    table = left_join(table, others.select(*whole.keys, *_NAMES_B.values()), whole.keys)
    total = pl.col("len").sum()
    is_part = pl.col("len") < (total.over(whole.keys) if whole.keys else total)
    # If rows outside have no influence, rounding errors are all that is left of the difference.
    outside = _VARIANCE_B - pl.col("inside")
    outside = pl.when(outside > _CANCELLED * _VARIANCE_B).then(outside).otherwise(0.0)
    variance = _above_rounding(pl.col("near") + outside, pl.col("alone") + _VARIANCE_B)
    return table.with_columns(_of_both_sides(), variance=pl.when(is_part).then(variance))


def _rest(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all other rows: independent, except for clusters in both."""
    table = left_join(_segments(rows), rest_of_each_segment(rows).rename(_NAMES_B), rows.keys)
    variance = _VARIANCE_A + _VARIANCE_B - 2 * pl.col("covariance")
    return table.with_columns(_of_both_sides(), variance=variance)


def _segments(rows: Rows) -> pl.LazyFrame:
    return estimates(rank(rows, squares=True), rows).rename(_NAMES_A)


def _of_both_sides() -> list[pl.Expr]:
    """Return the worse status and the smaller number of effective positives."""
    other = pl.col("status_b").fill_null("empty")
    return [
        pl.when(pl.col("status") == "ok").then(other).otherwise("status").alias("status"),
        pl.min_horizontal("n_effective", "n_effective_b").alias("n_effective"),
    ]


# --- tests ---------------------------------------------------------------------------------


def _can_be_tested() -> pl.Expr:
    """Return whether the positives of both sides are enough for a test.

    An area of 1 or 0 has a variance of 0. With few positives such areas are common, and a test
    would call nearly all of them different. In a simulation with an average precision near 1, a 5 %
    test of a segment with 3 to 10 positives rejected 10 to 61 % of true hypotheses, and 0.6 %
    without such areas; with 20 positives it rejected 4 %.
    """
    at_edge = pl.min_horizontal(_AP_A, _SHORTFALL_A, _AP_B, _SHORTFALL_B) == 0
    return has_variance() & ~(at_edge & (pl.col("n_effective") < FEW_POSITIVES))


def _difference() -> pl.Expr:
    """Return the difference of two areas; near 1 it is that of their distances from 1."""
    near_one = pl.min_horizontal(_AP_A, _AP_B) > 0.5  # noqa: PLR2004
    return pl.when(near_one).then(_SHORTFALL_B - _SHORTFALL_A).otherwise(_AP_A - _AP_B)


def _limits(level: float) -> list[pl.Expr]:
    half = student_quantile(level) * _STD_ERROR
    return [
        (_DIFFERENCE - half).clip(lower_bound=-1).alias("ci_low"),
        (_DIFFERENCE + half).clip(upper_bound=1).alias("ci_high"),
    ]


def _statistic() -> pl.Expr:
    """Return the difference of the two logits, divided by its standard error.

    The standard error of a plain difference grows with the areas, and can hide the difference; a
    test of logits keeps its level. An area of 1 or 0 has no logit: then the areas are compared.
    """
    slope_a, slope_b = _AP_A * _SHORTFALL_A, _AP_B * _SHORTFALL_B
    # The variance is the sum of (influence_a / slope_a - influence_b / slope_b)^2. For similar
    # slopes it is computed from the variance of the difference, so that nothing cancels,
    alike = _VARIANCE / (slope_a * slope_b)
    from_difference = alike + (1 / slope_a - 1 / slope_b) * (
        _VARIANCE_A / slope_a - _VARIANCE_B / slope_b
    )
    # and for different slopes from both variances.
    alone = _VARIANCE_A / slope_a**2 + _VARIANCE_B / slope_b**2
    from_both = alone - 2 * pl.col("covariance") / (slope_a * slope_b)
    is_near = (slope_a / slope_b).is_between(0.5, 2)
    variance, scale = (
        pl.when(is_near).then(near).otherwise(far)
        for near, far in ((from_difference, from_both), (alike, alone))
    )
    # The log of the odds ratio, by log1p of its distance from 1 unless it is far below 1.
    odds_a, odds_b = _AP_A * _SHORTFALL_B, _AP_B * _SHORTFALL_A
    is_small = odds_a < 0.5 * odds_b
    odds_ratio = odds_a / odds_b
    logits = pl.when(is_small).then(odds_ratio.log()).otherwise((_DIFFERENCE / odds_b).log1p())
    # Clusters can cancel each other: then rounding errors are all that is left of the variance.
    has_spread = variance > _CANCELLED * scale
    has_logits = pl.min_horizontal(_VARIANCE_A, _VARIANCE_B) > 0
    return (
        pl.when(has_spread & has_logits)
        .then(logits / variance.sqrt())
        .otherwise(_DIFFERENCE / _STD_ERROR)
    )


def _deviate() -> pl.Expr:
    """Return the normal deviate with the p-value of the difference."""
    statistic = pl.when(_STD_ERROR.is_not_null()).then(_statistic())
    return student_as_normal(statistic).alias("deviate")


def _with_p_value(table: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
    """Add the two-sided p-value of each ``deviate``."""

    def with_p_value(rows: pl.DataFrame) -> pl.DataFrame:
        p = [None if z is None else math.erfc(z / math.sqrt(2)) for z in rows["deviate"]]
        return rows.with_columns(pl.Series("p_value", p, dtype=pl.Float64))

    schema = pl.Schema({**table.collect_schema(), "p_value": pl.Float64()})
    return in_python(table, with_p_value, schema, in_memory=in_memory)


def adjusted(adjust: Adjust | None) -> list[pl.Expr]:
    """Return p-values adjusted for the number of tests in the result.

    Holm (1979, Scand. J. Statist. 6:65) multiplies the smallest p-value by the number of tests, the
    next by one less, and so on; Benjamini & Hochberg (1995, JRSS B 57:289) multiply each by the
    number of tests over its rank. Both keep the order of the p-values.
    """
    if adjust is None:
        return []
    p, place = pl.col("p_value"), pl.col("p_value").rank("ordinal").cast(pl.Int64)
    if adjust == "holm":
        ordered = (p * (p.count().cast(pl.Int64) - place + 1)).sort_by(p, nulls_last=True).cum_max()
    else:
        ordered = (p * p.count() / place).sort_by(p, nulls_last=True).cum_min(reverse=True)
    return [ordered.gather(place - 1).clip(upper_bound=1.0).alias("p_adjusted")]
