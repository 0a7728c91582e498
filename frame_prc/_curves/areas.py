"""Areas under the curve: each convention one formula over the steps at which recall grows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._formulas import (
    calibrated_precision,
    gain_over,
    minus_log1p,
    precision,
    recall,
    recall_gain,
    sizes,
    step_area,
    total,
)
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import HITS, STEPS, running
from frame_prc._request.specs import Method, Start
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

# Up to this a float holds every whole number, so that sums of them are exact.
_LARGEST_EXACT = 2**sys.float_info.mant_dig
# Steps of a gain below this are too far from 1 to add up with the others in any order.
_FAR_BELOW = -(2.0**12)

# These look only at the end of a step, so they need no point between two hits.
_END_METHODS = {"step", "envelope", "11-point", "101-point"}

SIZES = ("n", "n_pos", "prevalence")
AVERAGE_PRECISION = "average_precision"
# How many segments a mean leaves out; of a pool none.
UNDEFINED = "n_undefined"
N_UNDEFINED = pl.col(AVERAGE_PRECISION).null_count().cast(pl.Int64).alias(UNDEFINED)
NONE_UNDEFINED = pl.lit(0, pl.Int64).alias(UNDEFINED)

# A step leads from the point before, where tp was tp_a, to a point with more true positives; its
# area is taken between the counts low and high, which are tp_a and tp unless recall is cut.
_TP, _FP, _TP_A, _FP_A = pl.col("tp"), pl.col("fp"), pl.col("tp_a"), pl.col("fp_a")
_LOW, _HIGH = pl.col("low"), pl.col("high")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_PRECISION_A, _ENVELOPE = pl.col("precision_a"), pl.col("envelope")
_SLOPE, _RETRIEVED, _GROWTH = pl.col("slope"), pl.col("retrieved"), pl.col("growth")


# --- the methods ---------------------------------------------------------------------------


def _trapezoid_area() -> pl.Expr:
    slope = (precision(_TP, _FP) - _PRECISION_A) / (_TP - _TP_A)
    at_low, at_high = (_PRECISION_A + slope * (tp - _TP_A) for tp in (_LOW, _HIGH))
    return (_HIGH - _LOW) / _POSITIVES * (at_low + at_high) / 2


def _interpolated_area() -> pl.Expr:
    return _along_step(_LOW, _TP - _TP_A)


def interpolated_shortfall() -> pl.Expr:
    """Return what a step of the interpolated curve lacks of the area of precision 1."""
    fp_low = _FP_A + (_FP - _FP_A) * ((_LOW - _TP_A) / (_TP - _TP_A))
    return _along_step(fp_low, _FP - _FP_A)


def _along_step(low: pl.Expr, grown: pl.Expr) -> pl.Expr:
    """Integrate the share of one class while TP and FP grow linearly.

    It is precision where TP is followed, from ``low`` on (Davis & Goadrich 2006, Keilwagen 2014),
    and 1 less precision where FP is. With Q = TP + FP and s = dTP/dQ the area below precision is
    ``s (TP ln(1 + x) + s Q (x - ln(1 + x)))`` from (TP, Q) on, with x = dQ/Q: the published form,
    arranged so that nothing cancels when a step is small beside what was retrieved before.
    """
    share = grown / pl.col("added")
    area = _SLOPE * (low * _GROWTH.log1p() + share * _RETRIEVED * minus_log1p(_GROWTH))
    first = share * (_HIGH - _LOW)  # nothing retrieved before: the share is constant
    return pl.when(_RETRIEVED > 0).then(area).otherwise(first) / _POSITIVES


def _with_growth(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add by what share the retrieved rows grow along a step.

    As columns: Polars plans an expression anew wherever it is used.
    """
    added = _TP - _TP_A + (_FP - _FP_A)  # not of two sums, which may hide it
    sloped = steps.with_columns(added=added, slope=(_TP - _TP_A) / added)
    from_low = sloped.with_columns(retrieved=_TP_A + _FP_A + (_LOW - _TP_A) / _SLOPE)
    return from_low.with_columns(growth=(_HIGH - _LOW) / _SLOPE / _RETRIEVED)


def _envelope_area() -> pl.Expr:
    return (_HIGH - _LOW) / _POSITIVES * _ENVELOPE


def _grid_area(steps: int, *, weighted: bool) -> pl.Expr:
    """Average the envelope over the recalls 0, 1/steps, ..., 1.

    Counts compare with the grid exactly, ``steps * TP >= k * positives``, where a grid of floats
    misses recalls that lie on it. Sums of weights reach it within what they may be rounded by.
    """

    def reached(tp: pl.Expr) -> pl.Expr:
        of_counts = steps * _whole(tp) // _whole(_POSITIVES)
        if not weighted:
            return of_counts
        # Each addition rounds by at most half the last digit, in either of two sums.
        rounded = (pl.col("n_terms") + 1) * sys.float_info.epsilon
        of_weights = (steps * recall(tp, _POSITIVES) * (1 + rounded)).floor()
        is_whole = (_whole(amount) == amount for amount in (tp, _POSITIVES))
        is_exact = pl.all_horizontal(*is_whole, _POSITIVES.is_between(0, _LARGEST_EXACT))
        return pl.when(is_exact).then(of_counts).otherwise(of_weights)

    recall_zero = (_TP_A == 0).cast(pl.Int64)
    return (reached(_TP) - reached(_TP_A) + recall_zero) * _ENVELOPE / (steps + 1)


def _whole(amount: pl.Expr) -> pl.Expr:
    return amount.cast(pl.Int64, strict=False)


def _gain_area() -> pl.Expr:
    """Trapezoid of precision gain over recall gain from 0 to 1 (Flach & Kull 2015).

    Where recall gain grows past 0 inside a step, the two gains are, before they are divided,
    those of both its ends by their distances: no difference is taken of what nearly cancels.
    """
    positives, negatives = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    recall_b, recall_a = (
        gain_over(tp, positives - tp, positives, negatives) for tp in (_TP, _TP_A)
    )
    passes = recall_a < 0
    before, after = -recall_a / (recall_b - recall_a), recall_b / (recall_b - recall_a)
    over_a, over_b = (
        gain_over(tp, fp, positives, negatives) for tp, fp in ((_TP_A, _FP_A), (_TP, _FP))
    )
    at_zero = positives * (positives * (negatives / (positives + negatives)))
    over_zero = (over_a * after + over_b * before) / at_zero
    across = positives / negatives * (positives / _TP_A) * ((_TP - _TP_A) / _TP)
    width = pl.when(passes).then(recall_gain(_TP, positives, negatives)).otherwise(across)
    at_a = pl.when(passes).then(over_zero).otherwise(over_a / (negatives * _TP_A))
    height = (at_a + over_b / (negatives * _TP)) / 2
    return pl.when(recall_b > 0).then(width * height).otherwise(0.0)


def calibrated_step_area(odds: pl.Expr) -> pl.Expr:
    """Return what a step adds to the average precision at other odds of a negative."""
    height = calibrated_precision(_TP, _FP, _POSITIVES, _NEGATIVES, odds)
    return (_HIGH - _LOW) / _POSITIVES * height


def _formulas(*, weighted: bool) -> dict[Method, Callable[[], pl.Expr]]:
    """Return what one step adds to the area, by method."""
    return {
        "step": lambda: step_area(_HIGH - _LOW, _TP, _FP, _POSITIVES),
        "trapezoid": _trapezoid_area,
        "interpolated": _interpolated_area,
        "envelope": _envelope_area,
        "11-point": lambda: _grid_area(10, weighted=weighted),
        "101-point": lambda: _grid_area(100, weighted=weighted),
        "gain": _gain_area,
    }


# --- tables --------------------------------------------------------------------------------


def sized_areas(ranking: Ranking) -> pl.LazyFrame:
    """Return keys, sizes, average precision, and the counts of dropped rows."""
    areas = _areas(ranking, ["step"], "one", None)
    own = sizes(_POSITIVES, _NEGATIVES)
    table = areas.select("segment", *own, pl.col("step").alias(AVERAGE_PRECISION))
    return ranking.segments.with_keys(ranking.with_dropped(table))


@dataclass(frozen=True)
class Areas(Table):
    """One row per segment and method."""

    methods: Sequence[Method]
    start: Start
    recall_range: tuple[float, float] | None
    standardised: bool
    bins: Bins | None
    outputs = ("method", "auc")

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the areas of rows."""
        ranking = rank(rows, self.bins)
        low, high = self.recall_range or (0.0, 1.0)
        width = high - low if self.standardised else 1.0
        long = _areas(ranking, self.methods, self.start, self.recall_range).select(
            "segment",
            pl.lit(list(self.methods), dtype=pl.List(pl.String)).alias("method"),
            pl.concat_list((pl.col(self.methods) / width).clip(upper_bound=1.0)).alias("auc"),
        )
        table = ranking.with_dropped(long.explode("method", "auc"))
        return ranking.segments.with_keys(table)


def _areas(
    ranking: Ranking,
    methods: Sequence[Method],
    start: Start,
    recall_range: tuple[float, float] | None,
) -> pl.LazyFrame:
    """Return ``segment, positives, negatives`` and one column per method."""
    found = steps(ranking, methods, start, recall_range)
    return areas_of(found, methods, weighted=ranking.rows.columns.weighted)


def areas_of(
    steps: pl.LazyFrame, methods: Sequence[Method], *, weighted: bool, **aggregates: pl.Expr
) -> pl.LazyFrame:
    """Return ``segment, positives, negatives``, one column per method, and other aggregates."""
    grows, formulas = ~pl.col("opens"), _formulas(weighted=weighted)
    areas = {method: pl.when(grows).then(formulas[method]()) for method in methods}
    totals = {name: pl.col(name).first() for name in ("positives", "negatives")}
    sums = {method: _sum(method) for method in methods}
    table = steps.with_columns(**areas).group_by("segment").agg(**totals, **sums, **aggregates)
    return table.sort("segment").with_columns(_defined(methods))


def _sum(method: Method) -> pl.Expr:
    """Return the area from its steps, of which only those of the gain may be below 0, and far."""
    area = pl.col(method)
    if method != "gain":
        return total(area)
    near = area.clip(lower_bound=_FAR_BELOW)
    return total(near) + (area - near).sum()


def _defined(methods: Sequence[Method]) -> list[pl.Expr]:
    """Leave an area null where it is not defined: no positives, for the gain no negatives."""
    needs = dict.fromkeys(methods, _POSITIVES > 0)
    if "gain" in needs:
        needs["gain"] = (_POSITIVES > 0) & (_NEGATIVES > 0)
    return [pl.when(need).then(pl.col(method)).alias(method) for method, need in needs.items()]


def steps(
    ranking: Ranking,
    methods: Sequence[Method],
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
) -> pl.LazyFrame:
    """Return the steps at which true positives grow, and the rows that open each segment."""
    only_hits = set(methods) <= _END_METHODS
    opens = pl.col("opens")
    grown = (
        running(ranking, HITS if only_hits else STEPS)
        .filter(ranking.key.retrieved())
        .with_columns([_TP.shift(1).alias("tp_a")] if only_hits else [])
        .filter(opens | (_TP > _TP_A))
        .with_columns(*_ends(recall_range))
    )
    if "trapezoid" in methods:
        grown = grown.with_columns(_precision_before(start))
    if "interpolated" in methods:
        grown = _with_growth(grown)
    if not {"envelope", "11-point", "101-point"}.isdisjoint(methods):
        at_hit = pl.when(~opens).then(precision(_TP, _FP))
        grown = grown.with_columns(envelope=at_hit.cum_max(reverse=True).over("segment"))
    return grown


def _ends(recall_range: tuple[float, float] | None) -> list[pl.Expr]:
    if recall_range is None:
        return [_TP_A.alias("low"), _TP.alias("high")]
    lowest, highest = (_POSITIVES * bound for bound in recall_range)
    low = pl.max_horizontal(_TP_A, pl.min_horizontal(lowest, _TP))
    high = pl.min_horizontal(_TP, pl.max_horizontal(highest, _TP_A))
    return [low.alias("low"), high.alias("high")]


def _precision_before(start: Start) -> pl.Expr:
    at_start = {"one": pl.lit(1.0), "first": precision(_TP, _FP), None: pl.lit(None)}[start]
    nothing_before = _TP_A + _FP_A == 0
    before = pl.when(nothing_before).then(at_start).otherwise(precision(_TP_A, _FP_A))
    return before.alias("precision_a")


# --- as an expression ----------------------------------------------------------------------
