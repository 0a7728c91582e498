"""Areas under the curve: one formula per method, over the steps at which recall grows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import REFERENCE, calibrated
from frame_prc._formulas import (
    gain_over,
    minus_log1p,
    precision,
    recall,
    recall_gain,
    rounding,
    sizes,
    step_area,
    total,
)
from frame_prc._lazy import cached
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import HITS, STEPS, running
from frame_prc._request.specs import Calibration, Method, Start, Top

# A float holds every whole number up to this, so sums of whole numbers are exact.
_LARGEST_EXACT = 2**sys.float_info.mant_dig
# Negative areas of the gain beyond this are too large to add up exactly in any order.
_FAR_BELOW = -(2.0**12)

# These need only the end of each step, not the point before it.
_END_METHODS = {"step", "envelope", "11-point", "101-point"}

SIZES = ("n", "n_pos", "prevalence")
AVERAGE_PRECISION = "average_precision"
# How many segments a mean leaves out as undefined; a pool leaves out none.
UNDEFINED = "n_undefined"
N_UNDEFINED = pl.col(AVERAGE_PRECISION).null_count().cast(pl.Int64).alias(UNDEFINED)
NONE_UNDEFINED = pl.lit(0, pl.Int64).alias(UNDEFINED)

# A step leads from a point with tp_a true positives to the next one with more, tp. Its area is that
# between the counts low and high, which are tp_a and tp unless recall_range= cuts them.
_TP, _FP, _TP_A, _FP_A = pl.col("tp"), pl.col("fp"), pl.col("tp_a"), pl.col("fp_a")
_LOW, _HIGH = pl.col("low"), pl.col("high")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_OPENS = pl.col("opens")
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
    """Return how much a step of the interpolated curve falls short of precision 1."""
    fp_low = _FP_A + (_FP - _FP_A) * ((_LOW - _TP_A) / (_TP - _TP_A))
    return _along_step(fp_low, _FP - _FP_A)


def _along_step(low: pl.Expr, grown: pl.Expr) -> pl.Expr:
    """Integrate the share of one class while TP and FP grow linearly.

    For TP this is precision (Davis & Goadrich 2006, Keilwagen 2014), for FP 1 minus precision;
    ``low`` is the count of the class where the step starts. With Q = TP + FP and s = dTP/dQ the
    area below precision is ``s (TP ln(1 + x) + s Q (x - ln(1 + x)))`` from the point (TP, Q), with
    x = dQ/Q. This is the published form, arranged so that nothing cancels in a step that is small
    relative to Q.
    """
    share = grown / pl.col("added")
    area = _SLOPE * (low * _GROWTH.log1p() + share * _RETRIEVED * minus_log1p(_GROWTH))
    first = share * (_HIGH - _LOW)  # before the first rows are retrieved, the share is constant
    return pl.when(_RETRIEVED > 0).then(area).otherwise(first) / _POSITIVES


def _with_growth(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add the relative growth of the retrieved rows along a step, and what it is computed from.

    These are columns because Polars plans an expression again wherever it is used.
    """
    added = _TP - _TP_A + (_FP - _FP_A)  # in the difference of two large sums it could vanish
    sloped = steps.with_columns(added=added, slope=(_TP - _TP_A) / added)
    from_low = sloped.with_columns(retrieved=_TP_A + _FP_A + (_LOW - _TP_A) / _SLOPE)
    return from_low.with_columns(growth=(_HIGH - _LOW) / _SLOPE / _RETRIEVED)


def _envelope_area() -> pl.Expr:
    return (_HIGH - _LOW) / _POSITIVES * _ENVELOPE


def _grid_area(steps: int, *, weighted: bool) -> pl.Expr:
    """Average the envelope over the recalls 0, 1/steps, ..., 1.

    Counts are compared with the grid exactly, as ``steps * TP >= k * positives``; with a grid of
    floats some recalls that lie on it would be missed. Sums of weights are compared with a
    tolerance for their rounding.
    """

    def reached(tp: pl.Expr) -> pl.Expr:
        of_counts = steps * _whole(tp) // _whole(_POSITIVES)
        if not weighted:
            return of_counts
        of_weights = (steps * recall(tp, _POSITIVES) * (1 + rounding(weighted=True))).floor()
        is_whole = (_whole(amount) == amount for amount in (tp, _POSITIVES))
        is_exact = pl.all_horizontal(*is_whole, _POSITIVES.is_between(0, _LARGEST_EXACT))
        return pl.when(is_exact).then(of_counts).otherwise(of_weights)

    recall_zero = (_TP_A == 0).cast(pl.Int64)
    return (reached(_TP) - reached(_TP_A) + recall_zero) * _ENVELOPE / (steps + 1)


def _whole(amount: pl.Expr) -> pl.Expr:
    return amount.cast(pl.Int64, strict=False)


def _gain_area() -> pl.Expr:
    """Return the trapezoid of precision gain over recall gain from 0 to 1 (Flach & Kull 2015).

    Where recall gain passes 0 inside a step, the numerator of precision gain is interpolated there
    from those of both ends of the step, so that nothing cancels.
    """
    positives, negatives = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    recall_a = gain_over(_TP_A, positives - _TP_A, positives, negatives)
    recall_b = gain_over(_TP, positives - _TP, positives, negatives)
    over_a = gain_over(_TP_A, _FP_A, positives, negatives)
    over_b = gain_over(_TP, _FP, positives, negatives)
    passes = recall_a < 0
    before, after = -recall_a / (recall_b - recall_a), recall_b / (recall_b - recall_a)
    at_zero = positives * (positives * (negatives / (positives + negatives)))
    over_zero = (over_a * after + over_b * before) / at_zero
    across = positives / negatives * (positives / _TP_A) * ((_TP - _TP_A) / _TP)
    width = pl.when(passes).then(recall_gain(_TP, positives, negatives)).otherwise(across)
    at_a = pl.when(passes).then(over_zero).otherwise(over_a / (negatives * _TP_A))
    height = (at_a + over_b / (negatives * _TP)) / 2
    return pl.when(recall_b > 0).then(width * height).otherwise(0.0)


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


def sized_areas(
    ranking: Ranking, calibration: Calibration | None = None, top: Top | None = None
) -> pl.LazyFrame:
    """Return keys, sizes, average precision, and the counts of dropped rows."""
    weighted, kept = ranking.rows.columns.weighted, kept_of(calibration)
    grown = steps(ranking, ["step"], calibration=calibration, top=top)
    areas = areas_of(grown, ["step"], weighted=weighted, calibrated=bool(kept), **kept)
    area = _normalised(pl.col("step"), top).alias(AVERAGE_PRECISION)
    columns = [*sizes(_POSITIVES, _NEGATIVES), area]
    table = areas.select("segment", *columns, *kept)
    return ranking.segments.with_keys(ranking.with_dropped(table))


@dataclass(frozen=True)
class AreaSpec:
    """Which areas are computed, and of which part of the curve."""

    methods: Sequence[Method]
    start: Start = "one"
    recall_range: tuple[float, float] | None = None
    standardised: bool = False
    top: Top | None = None

    @property
    def needs_only_hits(self) -> bool:
        """Whether points at scores without positives can be left out."""
        return set(self.methods) <= _END_METHODS

    def of(self, ranking: Ranking, calibration: Calibration | None) -> pl.LazyFrame:
        """Return ``segment``, the reference prevalence of a calibration, ``method, auc``."""
        grown = steps(ranking, self.methods, self.start, self.recall_range, calibration, self.top)
        return self._long(grown, kept_of(calibration), weighted=ranking.rows.columns.weighted)

    def of_points(self, points: pl.LazyFrame, *, weighted: bool) -> pl.LazyFrame:
        """Return the same for points at every score, in order, that the start point opens."""
        before = {f"{name}_a": pl.col(name).shift(1) for name in ("tp", "fp")}
        grown = points.with_columns(**before).filter(_OPENS | (_TP > _TP_A))
        grown = _within_top(grown, self.top, weighted=weighted).with_columns(
            *_ends(self.recall_range)
        )
        grown = _with_heights(grown, self.methods, self.start)
        return self._long(grown, {}, weighted=weighted)

    def _long(
        self, grown: pl.LazyFrame, kept: dict[str, pl.Expr], *, weighted: bool
    ) -> pl.LazyFrame:
        low, high = self.recall_range or (0.0, 1.0)
        width = high - low if self.standardised else 1.0
        calibrated = bool(kept)
        areas = areas_of(grown, self.methods, weighted=weighted, calibrated=calibrated, **kept)
        found = _normalised(pl.col(self.methods), self.top)
        long = areas.select(
            "segment",
            *kept,
            pl.lit(list(self.methods), dtype=pl.List(pl.String)).alias("method"),
            pl.concat_list((found / width).clip(upper_bound=1.0)).alias("auc"),
        )
        return long.explode("method", "auc", empty_as_null=False)


def kept_of(calibration: Calibration | None) -> dict[str, pl.Expr]:
    """Return what is kept of a segment beside its areas."""
    return {} if calibration is None else {REFERENCE: pl.col(REFERENCE).first()}


def areas_of(
    steps: pl.LazyFrame,
    methods: Sequence[Method],
    *,
    weighted: bool,
    calibrated: bool = False,
    **aggregates: pl.Expr,
) -> pl.LazyFrame:
    """Return ``segment, positives, negatives``, one column per method, and other aggregates."""
    grows, formulas = ~pl.col("opens"), _formulas(weighted=weighted)
    areas = {method: pl.when(grows).then(formulas[method]()) for method in methods}
    totals = {name: pl.col(name).first() for name in ("positives", "negatives")}
    sums = {method: _sum(method) for method in methods}
    table = steps.with_columns(**areas).group_by("segment").agg(**totals, **sums, **aggregates)
    return table.sort("segment").with_columns(_defined(methods, calibrated=calibrated))


def _sum(method: Method) -> pl.Expr:
    """Return the sum of the areas of the steps, which only for the gain may be far below 0."""
    area = pl.col(method)
    if method != "gain":
        return total(area)
    near = area.clip(lower_bound=_FAR_BELOW)
    return total(near) + (area - near).sum()


def _defined(methods: Sequence[Method], *, calibrated: bool) -> list[pl.Expr]:
    """Set areas to null without positives; the gain and calibrated areas also without negatives."""
    needs_both = {method: calibrated or method == "gain" for method in methods}
    has_negatives = {True: _NEGATIVES > 0, False: pl.lit(value=True)}
    return [
        pl.when((_POSITIVES > 0) & has_negatives[both]).then(method).alias(method)
        for method, both in needs_both.items()
    ]


def steps(
    ranking: Ranking,
    methods: Sequence[Method],
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    calibration: Calibration | None = None,
    top: Top | None = None,
) -> pl.LazyFrame:
    """Return the steps at which true positives grow, and the rows that open each segment."""
    only_hits = set(methods) <= _END_METHODS
    grown = (
        running(ranking, HITS if only_hits else STEPS)
        .filter(ranking.key.retrieved())
        .with_columns([_TP.shift(1).alias("tp_a")] if only_hits else [])
        .filter(_OPENS | (_TP > _TP_A))
    )
    weighted = ranking.rows.columns.weighted
    grown = _within_top(grown, top, weighted=weighted).with_columns(*_ends(recall_range))
    if calibration is not None:
        grown = calibrated(cached(grown), ranking, calibration)
    return _with_heights(grown, methods, start)


def _within_top(grown: pl.LazyFrame, top: Top | None, *, weighted: bool) -> pl.LazyFrame:
    """Leave out steps that end beyond the top rows; a tie that does not fit is out as a whole."""
    if top is None:
        return grown
    most = top.count * (1 + rounding(weighted=weighted))
    return grown.filter(_OPENS | (most >= _TP + _FP))


def _normalised(area: pl.Expr, top: Top | None) -> pl.Expr:
    """Divide by the positives that fit into the top rows, not by all, where that is asked for."""
    if top is None or top.normaliser == "positives":
        return area
    attainable = pl.min_horizontal(_POSITIVES, pl.lit(top.count))
    return (area * (_POSITIVES / attainable)).clip(upper_bound=1.0)


def _with_heights(grown: pl.LazyFrame, methods: Sequence[Method], start: Start) -> pl.LazyFrame:
    """Add what the methods need beside the ends of a step."""
    if "trapezoid" in methods:
        grown = grown.with_columns(_precision_before(start))
    if "interpolated" in methods:
        grown = _with_growth(grown)
    if not {"envelope", "11-point", "101-point"}.isdisjoint(methods):
        at_hit = pl.when(~_OPENS).then(precision(_TP, _FP))
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
