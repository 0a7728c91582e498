"""Comparisons: models on the same rows, or segments with the other rows or all rows; with tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import FEW_POSITIVES, has_variance, status, student_quantile
from frame_prc._inference.estimates import shows_spread
from frame_prc._inference.intervals import student_as_normal
from frame_prc._lazy import in_python
from frame_prc._request.specs import Adjust, Comparison
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.table import Table
from frame_prc._tables.models import CANCELLED, beside_models
from frame_prc._tables.others import beside_others

_TEST = ("ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value")
_HIDDEN = ("measure", "n", "n_pos", "prevalence_a", "prevalence_b", REFERENCE, "ap_a", "ap_b")
_PREVALENCES = ("prevalence_a", "prevalence_b")

_AP_A, _AP_B, _SHORTFALL_A, _SHORTFALL_B = (
    pl.col(n) for n in ("ap_a", "ap_b", "shortfall_a", "shortfall_b")
)
_SIDE_A, _SIDE_B = (_AP_A, _SHORTFALL_A), (_AP_B, _SHORTFALL_B)
_VARIANCE, _VARIANCE_A, _VARIANCE_B = (pl.col(n) for n in ("variance", "variance_a", "variance_b"))
_DIFFERENCE, _STD_ERROR = pl.col("difference"), pl.col("std_error")


@dataclass(frozen=True)
class Differences(Table):
    """One row per segment and pair of models, or per segment (and model)."""

    comparison: Comparison

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        sizes, reference = ("n", "n_pos"), (REFERENCE,) if self._calibrated else ()
        adjusted = ("p_adjusted",) if self.comparison.adjust else ()
        if self.comparison.against is not None:
            shown = ("reference", "measure", *sizes, *_PREVALENCES, *reference)
        else:
            measure = ("measure",) if self._calibrated else ()
            shown = ("model", "baseline", *measure, *sizes, *reference)
        return (*shown, *_TEST, *adjusted, "status")

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        return hidden_of_test(self.comparison.adjust)

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        """Adjusted p-values."""
        return adjusted(self.comparison.adjust)

    @property
    def _calibrated(self) -> bool:
        return self.comparison.calibration is not None

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without a key for the model, if models are compared."""
        return side_by_side(rows) if self.comparison.against is None else rows

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the differences, each with its test."""
        both_areas = beside_models if self.comparison.against is None else beside_others
        comparison, calibrated = self.comparison, self._calibrated
        spread = [shows_spread(_VARIANCE, *side) for side in (_SIDE_A, _SIDE_B)]
        is_tested = pl.all_horizontal(*spread, _DIFFERENCE.is_not_null(), _can_be_tested())
        measure = "calibrated" if calibrated else "average_precision"
        estimated = (
            both_areas(rows, comparison)
            .with_columns(difference=_difference(), measure=pl.lit(measure))
            .with_columns(std_error=pl.when(is_tested).then(_VARIANCE.sqrt()))
            .with_columns(
                *_limits(comparison.level),
                _deviate(),
                status=status(pl.col, pl.col("few_negatives")),
            )
        )
        return _with_p_value(estimated, in_memory=rows.in_memory)


def hidden_of_test(adjust: Adjust | None) -> Collection[str]:
    """Return the details of a test; an adjusted p-value takes the place of the other."""
    return (*_HIDDEN, "std_error", *(() if adjust is None else ("p_value",)))


# --- tests ---------------------------------------------------------------------------------


def _can_be_tested() -> pl.Expr:
    """Return whether the positives of both sides are enough for a test.

    An area of 1 or 0 has a variance of 0. With few positives such areas are common, and a test
    would call nearly all of them different. In a simulation with an average precision near 1, a 5 %
    test of a segment with 3 to 10 positives rejected 10 to 61 % of true hypotheses, and 0.6 %
    without such areas; with 20 positives it rejected 4 %.
    """
    at_edge = pl.min_horizontal(_AP_A, _SHORTFALL_A, _AP_B, _SHORTFALL_B) == 0
    few = pl.col("n_effective") < FEW_POSITIVES
    tested: pl.Expr = has_variance(pl.col) & ~(at_edge & few)
    return tested


def _difference() -> pl.Expr:
    """Return the difference of two areas; near 1 it is that of their distances from 1."""
    near_one = pl.min_horizontal(_AP_A, _AP_B) > 0.5  # noqa: PLR2004
    return pl.when(near_one).then(_SHORTFALL_B - _SHORTFALL_A).otherwise(_AP_A - _AP_B)


def _limits(level: float) -> list[pl.Expr]:
    half = student_quantile(pl.col, level) * _STD_ERROR
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
    has_spread = variance > CANCELLED * scale
    has_logits = shows_spread(_VARIANCE_A, *_SIDE_A) & shows_spread(_VARIANCE_B, *_SIDE_B)
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


def adjusted(adjust: Adjust | None) -> dict[str, pl.Expr]:
    """Return p-values adjusted for the number of tests in the result.

    Holm (1979, Scand. J. Statist. 6:65) multiplies the smallest p-value by the number of tests, the
    next by one less, and so on; Benjamini & Hochberg (1995, JRSS B 57:289) multiply each by the
    number of tests over its rank. Both keep the order of the p-values.
    """
    if adjust is None:
        return {}
    p, place = pl.col("p_value"), pl.col("p_value").rank("ordinal").cast(pl.Int64)
    if adjust == "holm":
        ordered = (p * (p.count().cast(pl.Int64) - place + 1)).sort_by(p, nulls_last=True).cum_max()
    else:
        ordered = (p * p.count() / place).sort_by(p, nulls_last=True).cum_min(reverse=True)
    return {"p_adjusted": ordered.gather(place - 1).clip(upper_bound=1.0)}
