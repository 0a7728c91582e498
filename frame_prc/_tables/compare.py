"""Comparisons: models on the same rows, or a segment with the rest or the whole, and how sure."""

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
    of_independent_rows,
    per_segment,
    positive_weight,
    status,
    student_as_normal,
    student_quantile,
    tells_spread,
)
from frame_prc._lazy import in_python, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Adjust, Comparison
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.table import Table
from frame_prc._tables.rest import rest_of_each_segment

_TEST = ("ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value")

# The squares of what rounding leaves of a difference between two rankings that are one.
_ROUNDING = 1e-24
_CANCELLED = 1e-12

_AP_A, _AP_B, _SHORTFALL_A, _SHORTFALL_B = (
    pl.col(n) for n in ("ap_a", "ap_b", "shortfall_a", "shortfall_b")
)
_VARIANCES = ("variance_a", "variance_b")
_VARIANCE, _DIFFERENCE, _STD_ERROR = (pl.col(n) for n in ("variance", "difference", "std_error"))


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
        """Return rows without a key for the models that are compared."""
        return side_by_side(rows) if self.comparison.against is None else rows

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the differences, each with its test."""
        asked = self.comparison
        spread = (
            _both_areas(rows, asked)
            .with_columns(difference=_difference())
            .with_columns(
                std_error=pl.when(_VARIANCE > 0, _DIFFERENCE.is_not_null(), _carries_test()).then(
                    _VARIANCE.sqrt()
                )
            )
            .with_columns(*_limits(asked.level), _deviate(), status())
        )
        tested = _with_p_value(spread, in_memory=rows.in_memory)
        return tested.with_columns(adjusted(asked.adjust))


def _both_areas(rows: Rows, asked: Comparison) -> pl.LazyFrame:
    """Return what is compared, with both areas and the variance of their difference."""
    if asked.against is None:
        return _models(side_by_side(rows), list(rows.columns.request.models), asked.pairs)
    table = _rest(rows) if asked.against == "rest" else _overall(rows)
    return table.with_columns(against=pl.lit(asked.against))


# --- models on the same rows ---------------------------------------------------------------


def _models(
    rows: Rows, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    """Return segments by pairs, with both areas and the variance of their difference."""
    models = [
        replace(rows, frame=rows.frame.with_columns(score=f"score_{i}")) for i in range(len(names))
    ]
    frame = rows.used().with_columns(positive_weight(rows))
    for i, model in enumerate(models):
        frame = with_row_influence(frame, model, f"score_{i}", f"influence_{i}")
    influences = [pl.col(f"influence_{i}") for i in range(len(names))]
    if rows.columns.cluster is not None:
        frame = cluster_sums(frame, rows, influences)
    table = of_independent_rows(rank(models[0])).drop("variance", "n_effective")
    table = table.rename({AVERAGE_PRECISION: "ap_0", "shortfall": "shortfall_0"})
    for i, model in enumerate(models[1:], 1):
        area = of_independent_rows(rank(model)).select(
            *rows.keys,
            pl.col(AVERAGE_PRECISION).alias(f"ap_{i}"),
            pl.col("shortfall").alias(f"shortfall_{i}"),
        )
        table = left_join(table, area, rows.keys)
    spread = per_segment(frame, rows, **_variances(influences, pairs))
    return _by_pair(left_join(table, spread, rows.keys), names, pairs)


def _variances(
    influences: Sequence[pl.Expr], pairs: Sequence[tuple[int, int]]
) -> dict[str, pl.Expr]:
    """Return the variance of each area; of each pair that of the difference, and the covariance."""
    sums = {f"alone_{i}": (influence**2).sum() for i, influence in enumerate(influences)}
    for k, (a, b) in enumerate(pairs):
        sums[f"variance_{k}"] = ((influences[a] - influences[b]) ** 2).sum()
        sums[f"covariance_{k}"] = (influences[a] * influences[b]).sum()
    return sums


def _by_pair(
    table: pl.LazyFrame, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    text = pl.List(pl.String)
    lists = {
        "model_a": pl.lit([names[a] for a, _ in pairs], dtype=text),
        "model_b": pl.lit([names[b] for _, b in pairs], dtype=text),
        "ap_a": pl.concat_list([f"ap_{a}" for a, _ in pairs]),
        "ap_b": pl.concat_list([f"ap_{b}" for _, b in pairs]),
        "shortfall_a": pl.concat_list([f"shortfall_{a}" for a, _ in pairs]),
        "shortfall_b": pl.concat_list([f"shortfall_{b}" for _, b in pairs]),
        "variance_a": pl.concat_list([f"alone_{a}" for a, _ in pairs]),
        "variance_b": pl.concat_list([f"alone_{b}" for _, b in pairs]),
        "variance": pl.concat_list([f"variance_{k}" for k in range(len(pairs))]),
        "covariance": pl.concat_list([f"covariance_{k}" for k in range(len(pairs))]),
    }
    long = table.select(pl.exclude(r"^(co)?variance_\d+$"), **lists).explode(*lists)
    alone = pl.col("variance_a") + pl.col("variance_b")
    return long.with_columns(variance=_above_rounding(pl.col("variance"), alone))


def _above_rounding(variance: pl.Expr, alone: pl.Expr) -> pl.Expr:
    """Leave null what rounding makes of the variance between areas that move alike."""
    return pl.when(variance > _ROUNDING * alone).then(variance)


# --- a segment and others ------------------------------------------------------------------


def _overall(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all rows, of which it is a part.

    Its rows move both areas and all others only that of the whole.
    """
    whole = rows.pooled()
    frame = with_row_influence(rows.used(), rows, "score", "influence_a").with_columns(
        positive_weight(rows)
    )
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
    own = _side(estimates(rank(rows, squares=True), rows), "a")
    table = left_join(own, sums.drop("n_effective"), rows.keys)
    pooled = _side(estimates(rank(whole, squares=True), whole), "b")
    table = left_join(table, pooled.select(*whole.keys, *_OTHER), whole.keys)
    total = pl.col("len").sum()
    is_part = pl.col("len") < (total.over(whole.keys) if whole.keys else total)
    # A difference of two sums: where nothing moves outside, rounding is all that is left of it.
    outside = pl.col("variance_b") - pl.col("inside")
    outside = pl.when(outside > _CANCELLED * pl.col("variance_b")).then(outside).otherwise(0.0)
    alone = pl.col("alone") + pl.col("variance_b")
    variance = _above_rounding(pl.col("near") + outside, alone)
    return table.with_columns(_of_both_sides(), variance=pl.when(is_part).then(variance))


def _rest(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all other rows: independent, but for clusters in both."""
    own = _side(estimates(rank(rows, squares=True), rows), "a")
    table = left_join(own, _side(rest_of_each_segment(rows), "b"), rows.keys)
    variance = pl.col("variance_a") + pl.col("variance_b") - 2 * pl.col("covariance")
    return table.with_columns(_of_both_sides(), variance=variance)


_OTHER = ("ap_b", "shortfall_b", "variance_b", "status_b", "n_effective_b")


def _side(table: pl.LazyFrame, side: str) -> pl.LazyFrame:
    """Name what is estimated for one side of a difference; the first keeps its sizes."""
    names = {AVERAGE_PRECISION: f"ap_{side}"}
    names |= {name: f"{name}_{side}" for name in ("shortfall", "variance")}
    if side == "b":
        names |= {"status": "status_b", "n_effective": "n_effective_b"}
    return table.rename(names)


def _of_both_sides() -> list[pl.Expr]:
    """Return the status and the effective positives of the side that is worse off."""
    other = pl.col("status_b").fill_null("empty")
    return [
        pl.when(pl.col("status") == "ok").then(other).otherwise("status").alias("status"),
        pl.min_horizontal("n_effective", "n_effective_b").alias("n_effective"),
    ]


# --- tests ---------------------------------------------------------------------------------


def _carries_test() -> pl.Expr:
    """Return whether the positives of both sides show how far the areas spread.

    An area of 1 or 0 shows no spread of its own. Where positives are few such areas are common, and
    a test takes nearly all of them for different. Simulated with an average precision near 1, a 5 %
    test of a segment with 3 to 10 positives rejected 10 to 61 % of true hypotheses, and 0.6 % where
    such areas were left out; with 20 positives it rejected 4 %.
    """
    at_edge = pl.min_horizontal(_AP_A, _SHORTFALL_A, _AP_B, _SHORTFALL_B) == 0
    return tells_spread() & ~(at_edge & (pl.col("n_effective") < FEW_POSITIVES))


def _difference() -> pl.Expr:
    """Return the difference of two areas, of areas next to 1 by what they lack of it."""
    near_one = pl.min_horizontal(_AP_A, _AP_B) > 0.5  # noqa: PLR2004
    return pl.when(near_one).then(_SHORTFALL_B - _SHORTFALL_A).otherwise(_AP_A - _AP_B)


def _limits(level: float) -> list[pl.Expr]:
    half = student_quantile(level) * _STD_ERROR
    return [
        (_DIFFERENCE - half).clip(lower_bound=-1).alias("ci_low"),
        (_DIFFERENCE + half).clip(upper_bound=1).alias("ci_high"),
    ]


def _statistic() -> pl.Expr:
    """Return how many standard errors of it the difference of the two logits is.

    A test between logits holds its level where the standard error of a plain difference grows with
    the areas, and hides it. An area of 1 or 0 has no logit: then the plain difference is left.
    """
    slope_a, slope_b = _AP_A * _SHORTFALL_A, _AP_B * _SHORTFALL_B
    variance_a, variance_b = pl.col("variance_a"), pl.col("variance_b")
    # Both are the sum of (influence_a / slope_a - influence_b / slope_b)^2; this one from the
    # difference of influences, so that nothing cancels where slopes are equal,
    alike = _VARIANCE / (slope_a * slope_b)
    from_difference = alike + (1 / slope_a - 1 / slope_b) * (
        variance_a / slope_a - variance_b / slope_b
    )
    # and this one from both alone, for slopes that are far from each other.
    alone = variance_a / slope_a**2 + variance_b / slope_b**2
    from_both = alone - 2 * pl.col("covariance") / (slope_a * slope_b)
    is_near = (slope_a / slope_b).is_between(0.5, 2)
    variance, scale = (
        pl.when(is_near).then(near).otherwise(far)
        for near, far in ((from_difference, from_both), (alike, alone))
    )
    # The log of the odds ratio, from what it differs from 1 by unless little is left of it.
    odds_a, odds_b = _AP_A * _SHORTFALL_B, _AP_B * _SHORTFALL_A
    is_small = odds_a < 0.5 * odds_b
    odds_ratio = odds_a / odds_b
    logits = pl.when(is_small).then(odds_ratio.log()).otherwise((_DIFFERENCE / odds_b).log1p())
    # Where clusters cancel, as two can, rounding is all that is left.
    has_spread = (variance > _CANCELLED * scale) & (pl.min_horizontal(*_VARIANCES) > 0)
    return pl.when(has_spread).then(logits / variance.sqrt()).otherwise(_DIFFERENCE / _STD_ERROR)


def _deviate() -> pl.Expr:
    """Return the normal deviate that is as rare as the difference."""
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
    """Return p-values adjusted for as many tests as the result has.

    Holm (1979, Scand. J. Statist. 6:65) multiplies the smallest p-value by the number of tests, the
    next by one less, and so on; Benjamini & Hochberg (1995, JRSS B 57:289) multiply each by the
    number of tests over its rank. Neither lets a smaller p-value become larger than the next.
    """
    if adjust is None:
        return []
    p, place = pl.col("p_value"), pl.col("p_value").rank("ordinal").cast(pl.Int64)
    if adjust == "holm":
        ordered = (p * (p.count().cast(pl.Int64) - place + 1)).sort_by(p, nulls_last=True).cum_max()
    else:
        ordered = (p * p.count() / place).sort_by(p, nulls_last=True).cum_min(reverse=True)
    return [ordered.gather(place - 1).clip(upper_bound=1.0).alias("p_adjusted")]
