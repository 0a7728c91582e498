"""Areas under the curve: one formula per method, over the steps at which recall grows.

A step leads from a point with ``tp_a`` true positives to the next one with more, ``tp``; its area
is that between ``low`` and ``high``, which ``recall_range=`` may cut.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_prc._curves.calibration import REFERENCE, calibrated, with_reference
from frame_prc._formulas import (
    Col,
    gain_over,
    library,
    log1p,
    minus_log1p,
    precision,
    recall,
    recall_gain,
    rounding,
    sizes,
    step_area,
    total,
)
from frame_prc._lazy import cached, remembered
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import HITS, STEPS, TIES, running
from frame_prc._request.options import check_row_number
from frame_prc._request.points import check_unweighted_ties
from frame_prc._request.specs import Calibration, Method, Start, Top

# --- the area of a step, in Polars or in Narwhals ----------------------------------------------


def _step(col: Col) -> Any:
    return step_area(col("high") - col("low"), col("tp"), col("fp"), col("positives"))


def _trapezoid(col: Col) -> Any:
    tp_a, before, low, high = (col(name) for name in ("tp_a", "precision_a", "low", "high"))
    slope = (precision(col("tp"), col("fp")) - before) / (col("tp") - tp_a)
    at_low, at_high = (before + slope * (tp - tp_a) for tp in (low, high))
    return (high - low) / col("positives") * (at_low + at_high) / 2


def _interpolated(col: Col) -> Any:
    return _along_step(col, col("low"), col("slope"))


def step_shortfall(col: Col) -> Any:
    """Return how much a step falls short of precision 1 up to its own recall."""
    tp, fp = col("tp"), col("fp")
    return (col("high") - col("low")) / col("positives") * (fp / (tp + fp))


def interpolated_shortfall(col: Col) -> Any:
    fp_a = col("fp_a")
    return _along_step(col, fp_a, (col("fp") - fp_a) / col("added"))


def _along_step(col: Col, low: Any, share: Any) -> Any:
    """Integrate the share of one class while TP and FP grow linearly.

    For TP this is precision (Davis & Goadrich 2006, Keilwagen 2014), for FP 1 minus precision. With
    Q = TP + FP, s = dTP/dQ and x = dQ/Q the area is ``s (TP ln(1 + x) + s Q (x - ln(1 + x)))`` from
    the point (TP, Q): the published form, arranged so that nothing cancels in small steps.
    """
    retrieved = col("retrieved")
    area = col("slope") * (low * col("log_growth") + share * retrieved * col("curved"))
    # Before the first rows are retrieved, the share is constant.
    first = share * (col("high") - col("low"))
    return library(low).when(retrieved > 0).then(area).otherwise(first) / col("positives")


def growth(col: Col, recall_range: tuple[float, float] | None) -> Iterator[dict[str, Any]]:
    """Yield columns: the relative growth x of the retrieved rows, and what it is computed from."""
    gain = col("tp") - col("tp_a")
    added = gain + (col("fp") - col("fp_a"))  # in the difference of two large sums it could vanish
    yield {"added": added, "slope": gain / added}
    retrieved, more = col("tp_a") + col("fp_a"), col("added")
    if recall_range is not None:
        low, slope = col("low"), col("slope")
        retrieved, more = retrieved + (low - col("tp_a")) / slope, (col("high") - low) / slope
    yield {"retrieved": retrieved}
    # Some engines fail where they divide by zero.
    divisor = library(added).when(col("retrieved") > 0).then(col("retrieved"))
    yield {"growth": more / divisor}
    yield {"log_growth": log1p(col("growth")), "curved": minus_log1p(col("growth"))}


def _envelope(col: Col) -> Any:
    return (col("high") - col("low")) / col("positives") * col("envelope")


def _roc(col: Col) -> Any:
    negatives = col("negatives")
    above = (negatives - col("fp")) + (negatives - col("fp_a"))
    return (col("high") - col("low")) / col("positives") * (above / negatives / 2)


def ends(col: Col, recall_range: tuple[float, float] | None) -> dict[str, Any]:
    tp_a, tp = col("tp_a"), col("tp")
    if recall_range is None:
        return {"low": tp_a, "high": tp}
    lib = library(tp)
    lowest, highest = (col("positives") * bound for bound in recall_range)
    return {
        "low": lib.max_horizontal(tp_a, lib.min_horizontal(lowest, tp)),
        "high": lib.min_horizontal(tp, lib.max_horizontal(highest, tp_a)),
    }


def has_area(col: Col, method: Method, *, calibrated: bool) -> Any:
    """Return whether a segment has an area: gain, ROC and calibrated ones need negatives too."""
    positives, negatives = col("positives"), col("negatives")
    needs_both = calibrated or method in ("gain", "roc")
    return (positives > 0) & (negatives > 0) if needs_both else positives > 0


def chance_in_range(col: Col, recall_range: tuple[float, float], *, calibrated: bool) -> Any:
    """Return the step area of a random order: the prevalence at each recall that rows reach."""
    low, high = recall_range
    prevalence = col(REFERENCE) if calibrated else col("n_pos") / col("n")
    covered = (col("reach") / col("n")).clip(upper_bound=high) - low
    return covered.clip(lower_bound=0.0) * prevalence


def precision_before(col: Col, start: Start) -> Any:
    tp_a, fp_a = col("tp_a"), col("fp_a")
    lib = library(tp_a)
    at_start = {"one": lib.lit(1.0), "first": precision(col("tp"), col("fp")), None: lib.lit(None)}
    return lib.when(tp_a + fp_a == 0).then(at_start[start]).otherwise(precision(tp_a, fp_a))


STEP_AREAS: dict[Any, Callable[[Col], Any]] = {
    "step": _step,
    "trapezoid": _trapezoid,
    "interpolated": _interpolated,
    "envelope": _envelope,
    "roc": _roc,
}


# --- the methods in Polars ---------------------------------------------------------------------

# A float holds every whole number up to this, so sums of whole numbers are exact.
_LARGEST_EXACT = 2**sys.float_info.mant_dig
# Negative areas of the gain beyond this are too large to add up exactly in any order.
_FAR_BELOW = -(2.0**12)

# How many steps the recalls have at which a method takes the envelope.
_GRIDS: dict[Any, int] = {"11-point": 10, "101-point": 100}
# These need only the end of each step, not the point before it.
_END_METHODS = {"step", "envelope", *_GRIDS}

SIZES = ("n", "n_pos", "prevalence")
AVERAGE_PRECISION = "average_precision"
# How many segments a mean leaves out as undefined; a pool leaves out none.
UNDEFINED = "n_undefined"
N_UNDEFINED = pl.col(AVERAGE_PRECISION).null_count().cast(pl.Int64).alias(UNDEFINED)
NONE_UNDEFINED = pl.lit(0, pl.Int64).alias(UNDEFINED)

_TP, _FP, _TP_A, _FP_A = pl.col("tp"), pl.col("fp"), pl.col("tp_a"), pl.col("fp_a")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_OPENS = pl.col("opens")
_SIZES = sizes(_POSITIVES, _NEGATIVES)
_ENVELOPE = pl.col("envelope")
_ENDS = ("tp_a", "fp_a", "tp", "fp")


def _grid_area(steps: int, *, weighted: bool) -> pl.Expr:
    """Average the envelope over the recalls 0, 1/steps, ..., 1.

    Counts are compared exactly, as ``steps * TP >= k * positives``, weights with a tolerance.
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
    """Return the trapezoid of precision gain over recall gain (Flach & Kull 2015).

    It is null for steps that begin at a recall gain below 0: see :func:`_gain_across_zero`.
    """
    positives, negatives = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    width = positives / negatives * (positives / _TP_A) * ((_TP - _TP_A) / _TP)
    over_a, over_b = (
        gain_over(tp, fp, positives, negatives) / tp for tp, fp in ((_TP_A, _FP_A), (_TP, _FP))
    )
    below_zero = gain_over(_TP_A, positives - _TP_A, positives, negatives) < 0
    return pl.when(~below_zero).then(width * ((over_a + over_b) / negatives / 2))


def _gain_across_zero() -> pl.Expr:
    """Return the area from recall gain 0 to the end of the step in which it passes 0."""
    positives, negatives = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64)
    tp_a, fp_a, tp, fp = (pl.col(f"{name}_across") for name in _ENDS)
    recall_a = gain_over(tp_a, positives - tp_a, positives, negatives)
    recall_b = gain_over(tp, positives - tp, positives, negatives)
    over_a = gain_over(tp_a, fp_a, positives, negatives)
    over_b = gain_over(tp, fp, positives, negatives)
    before, after = -recall_a / (recall_b - recall_a), recall_b / (recall_b - recall_a)
    at_zero = positives * (positives * (negatives / (positives + negatives)))
    over_zero = (over_a * after + over_b * before) / at_zero
    height = (over_zero + over_b / (negatives * tp)) / 2
    area = recall_gain(tp, positives, negatives) * height
    return pl.when(recall_b > 0).then(area).otherwise(0.0)


# --- tables --------------------------------------------------------------------------------


def sized_areas(
    ranking: Ranking, calibration: Calibration | None = None, top: Top | None = None
) -> pl.LazyFrame:
    areas = area_of(ranking, "step", calibration, top)
    area = _normalised(pl.col("step"), top).alias(AVERAGE_PRECISION)
    table = areas.select("segment", *_SIZES, area, *kept_of(calibration))
    return ranking.segments.with_keys(ranking.with_dropped(table))


def area_of(
    ranking: Ranking,
    method: Method,
    calibration: Calibration | None = None,
    top: Top | None = None,
    **aggregates: pl.Expr,
) -> pl.LazyFrame:
    grown = ranking.rows.windowed(steps(ranking, [method], calibration=calibration, top=top))
    kept, weighted = kept_of(calibration), ranking.rows.columns.weighted
    found = {**kept, **aggregates}
    return areas_of(grown, [method], weighted=weighted, calibrated=bool(kept), **found)


def shortfall_of(step: Callable[[Col], Any]) -> pl.Expr:
    never = (_POSITIVES.first() - _TP.max()) / _POSITIVES.first()
    return total(pl.when(~_OPENS).then(step(pl.col))) + never


@dataclass(frozen=True)
class AreaSpec:
    methods: Sequence[Method]
    start: Start = "one"
    recall_range: tuple[float, float] | None = None
    standardised: bool = False
    top: Top | None = None

    @property
    def drawn(self) -> AreaSpec:
        """The areas whose variance only replicates tell; that of the whole step has influences."""
        whole = self.recall_range is None and self.top is None
        return replace(self, methods=[m for m in self.methods if not (whole and m == "step")])

    @property
    def width(self) -> float:
        """The largest area, apart from the top rows."""
        low, high = self.recall_range or (0.0, 1.0)
        return 1.0 if self.standardised else high - low

    @property
    def needs_only_hits(self) -> bool:
        """Whether points at scores without positives can be left out."""
        return set(self.methods) <= _END_METHODS and not _cuts_ties(self.top)

    def of(self, ranking: Ranking, calibration: Calibration | None) -> pl.LazyFrame:
        grown = steps(ranking, self.methods, self.start, self.recall_range, calibration, self.top)
        if {*self.methods} != {"step"}:  # the others need fills or windows
            grown = ranking.rows.windowed(grown)
        return self._long(grown, kept_of(calibration), weighted=ranking.rows.columns.weighted)

    def of_points(self, points: pl.LazyFrame, *, weighted: bool) -> pl.LazyFrame:
        """Return the same for points at every score, in order, that the start point opens."""
        before = {f"{name}_a": pl.col(name).shift(1) for name in ("tp", "fp")}
        grown = points.with_columns(**before).filter(_OPENS | (_TP > _TP_A))
        grown = _within_top(grown, self.top, weighted=weighted)
        grown = with_heights(grown, self.methods, self.start, self.recall_range)
        return self._long(grown, {}, weighted=weighted)

    def _long(
        self, grown: pl.LazyFrame, kept: dict[str, pl.Expr], *, weighted: bool
    ) -> pl.LazyFrame:
        low, high = self.recall_range or (0.0, 1.0)
        divisor = high - low if self.standardised else 1.0
        calibrated = bool(kept)
        areas = areas_of(grown, self.methods, weighted=weighted, calibrated=calibrated, **kept)
        found = _normalised(pl.col(self.methods), self.top)
        long = areas.select(
            "segment",
            *_SIZES,
            *kept,
            pl.lit(list(self.methods), dtype=pl.List(pl.String)).alias("method"),
            pl.concat_list((found / divisor).clip(upper_bound=1.0)).alias("auc"),
        )
        return long.explode("method", "auc", empty_as_null=False)


def kept_of(calibration: Calibration | None) -> dict[str, pl.Expr]:
    return {} if calibration is None else {REFERENCE: pl.col(REFERENCE).first()}


def areas_of(
    steps: pl.LazyFrame,
    methods: Sequence[Method],
    *,
    weighted: bool,
    calibrated: bool = False,
    **aggregates: pl.Expr,
) -> pl.LazyFrame:
    areas = [_of_step(method, weighted=weighted) for method in methods]
    totals, sums = [pl.col("positives", "negatives").first()], map(_sum, methods)
    if "gain" in methods:
        totals += [_last_below_zero(name).alias(f"{name}_across") for name in _ENDS]
    rated = steps.with_columns(areas)
    table = rated.group_by("segment").agg(*totals, *sums, **aggregates).sort("segment")
    if "gain" in methods:
        across = (pl.col("gain") + _gain_across_zero()).clip(upper_bound=1.0)
        table = table.with_columns(gain=across).drop(f"{name}_across" for name in _ENDS)
    return table.with_columns(_defined(tuple(methods), calibrated=calibrated))


def _last_below_zero(name: str) -> pl.Expr:
    """Return a count of the last step of a segment that begins at a recall gain below 0."""
    # The area of these steps is null, and counts only grow.
    return pl.when(~_OPENS & pl.col("gain").is_null()).then(name).max()


@remembered
def _of_step(method: Method, *, weighted: bool) -> pl.Expr:
    if method in _GRIDS:
        area = _grid_area(_GRIDS[method], weighted=weighted)
    else:
        area = _gain_area() if method == "gain" else STEP_AREAS[method](pl.col)
    return pl.when(~_OPENS).then(area).alias(method)


@remembered
def _sum(method: Method) -> pl.Expr:
    """Return the sum of the areas of the steps, which only for the gain may be far below 0."""
    area = pl.col(method)
    if method != "gain":
        return total(area).alias(method)
    # On many steps, clip() takes twice as long.
    near = pl.when(area < _FAR_BELOW).then(_FAR_BELOW).otherwise(area)
    return (total(near) + (area - near).sum()).alias(method)


@remembered
def _defined(methods: tuple[Method, ...], *, calibrated: bool) -> list[pl.Expr]:
    return [
        pl.when(has_area(pl.col, method, calibrated=calibrated)).then(method).alias(method)
        for method in methods
    ]


def steps(
    ranking: Ranking,
    methods: Sequence[Method],
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    calibration: Calibration | None = None,
    top: Top | None = None,
) -> pl.LazyFrame:
    grown = growing(ranking, methods, top)
    if calibration is not None:
        grown = calibrated(with_reference(cached(grown), ranking, calibration))
    return with_heights(grown, methods, start, recall_range)


def growing(ranking: Ranking, methods: Sequence[Method], top: Top | None = None) -> pl.LazyFrame:
    only_hits = set(methods) <= _END_METHODS and not _cuts_ties(top)
    grown = running(ranking, HITS if only_hits else STEPS).filter(ranking.retrieved())
    if only_hits:
        grown = grown.with_columns(tp_a=_TP.shift(1))
    if ranking.carried:
        # A count may have no positives, and a sum may round a small weight away.
        grown = grown.filter(_OPENS | (_TP > _TP_A))
    return _within_top(grown, top, weighted=ranking.rows.columns.weighted)


def _within_top(grown: pl.LazyFrame, top: Top | None, *, weighted: bool) -> pl.LazyFrame:
    """Leave out steps that end beyond the top rows; a tie that does not fit is out as a whole."""
    if top is None:
        return grown
    check_row_number("top", top.count, weighted=weighted)
    if _cuts_ties(top):
        check_unweighted_ties(weighted=weighted)
        return _with_expected_step(grown, math.floor(top.count))
    most = top.count * (1 + rounding(weighted=weighted))
    return grown.filter(_OPENS | (most >= _TP + _FP))


def _cuts_ties(top: Top | None) -> bool:
    return top is not None and top.ties == "expected"


def _with_expected_step(grown: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Cut the tie that does not fit to the rows that do, of which any are equally likely.

    Their number of positives h is hypergeometric (McSherry & Najork 2008), and the step adds the
    mean of ``h / P * (tp_a + h) / most``: its counts become those of such a step of mean h.
    """
    before = _TP_A + _FP_A
    rows, hits, fits = _TP + _FP - before, _TP - _TP_A, most - before
    mean = hits * (fits / rows)
    variance = mean * ((rows - hits) / rows) * ((rows - fits) / (rows - 1))
    tp = _TP_A + mean
    precision_ = (tp * mean + variance) / (mean * most)
    is_cut = ~_OPENS & (before < most) & (most < _TP + _FP)
    counts = {"tp": (tp, _TP), "fp": (tp / precision_ - tp, _FP)}
    reached = grown.filter(_OPENS | (before < most))
    return reached.with_columns(
        pl.when(is_cut).then(cut).otherwise(whole.cast(pl.Float64)).alias(name)
        for name, (cut, whole) in counts.items()
    )


def _normalised(area: pl.Expr, top: Top | None) -> pl.Expr:
    if top is None or top.normaliser == "positives":
        return area
    attainable = pl.min_horizontal(_POSITIVES, pl.lit(top.count))
    return (area * (_POSITIVES / attainable)).clip(upper_bound=1.0)


def with_heights(
    grown: pl.LazyFrame,
    methods: Sequence[Method],
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
) -> pl.LazyFrame:
    grown = grown.with_columns(**ends(pl.col, recall_range))
    if "trapezoid" in methods:
        grown = grown.with_columns(precision_a=precision_before(pl.col, start))
    if "interpolated" in methods:
        for columns in growth(pl.col, recall_range):
            grown = grown.with_columns(**columns)
    if not {"envelope", *_GRIDS}.isdisjoint(methods):
        at_hit = pl.when(~_OPENS).then(precision(_TP, _FP))
        grown = grown.with_columns(envelope=at_hit.cum_max(reverse=True).over("segment"))
    return grown


# --- bounds where the order within a tie or a bin is unknown -----------------------------------

TIE_BOUNDS = ("ap_lowest", "ap_highest")


def tie_bounds(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment`` and the bounds of its average precision over all orders within ties."""
    adds = ranking.retrieved() & ~_OPENS & (_TP > _TP_A)
    ties = running(ranking, TIES).with_columns(tp_a=_TP.shift(1), fp_a=_FP.shift(1))
    for columns in bounds_of_tie(pl.col, weighted=ranking.rows.columns.weighted):
        ties = ties.with_columns(**columns)
    terms = {name: pl.when(adds).then(name) for name in TIE_BOUNDS}
    totals = (total(pl.col(name)) for name in TIE_BOUNDS)
    by_segment = ties.with_columns(**terms).group_by("segment")
    sums = by_segment.agg(*totals, has_positives=(_POSITIVES > 0).any())
    defined = [pl.when("has_positives").then(pl.col(name)).alias(name) for name in TIE_BOUNDS]
    return sums.select("segment", *defined)


def bounds_of_tie(col: Col, *, weighted: bool) -> Iterator[dict[str, Any]]:
    """Yield the columns of the least and the most that a tie can add, one after the other.

    The least is that of its negatives first: the j-th positive adds ``(T + j) / (T + j + F)``, with
    T true positives before and F false ones at the end. An integral bounds their sum from below:
    from T + 1/2 for rows, as 1/x is convex, and from T for weights, which divide without limit.
    """
    fp, gain = col("fp"), col("tp") - col("tp_a")
    start = col("tp_a") + (0.0 if weighted else 0.5)
    retrieved = start + fp
    # Each step is a column, as engines repeat an operand of a division, and so of all within it.
    yield {"share_of_tie": gain / retrieved}
    # gain - F log(1 + gain / (T + F)), arranged so that nothing cancels.
    area = gain * (start / retrieved) + fp * minus_log1p(col("share_of_tie"))
    yield {"least_of_tie": library(fp).when(fp > 0).then(area).otherwise(gain)}
    yield {
        "ap_lowest": col("least_of_tie") / col("positives"),
        "ap_highest": step_area(gain, col("tp"), col("fp_a"), col("positives")),
    }


# --- average precision as one expression, for any aggregation ----------------------------------


def rank_expression(positive: pl.Expr, score: pl.Expr, *, ascending: bool) -> pl.Expr:
    found = score.filter(positive).rank("max", descending=not ascending)
    retrieved = score.rank("max", descending=not ascending).filter(positive)
    return (found / retrieved).mean()


def weighted_expression(
    positive: pl.Expr, score: pl.Expr, weight: pl.Expr, *, ascending: bool
) -> pl.Expr:
    ranked = score.sort(descending=not ascending)
    ends_tie = (ranked != ranked.shift(-1)).fill_null(value=True)

    def running_sum(amount: pl.Expr) -> pl.Expr:
        return amount.sort_by(score, descending=not ascending).cum_sum().filter(ends_tie)

    hits = pl.when(positive).then(weight).otherwise(0.0)
    tp, fp, positives = running_sum(hits), running_sum(weight - hits), hits.sum()
    gain = tp - tp.shift(1, fill_value=0.0)
    steps = pl.when(gain > 0).then(step_area(gain, tp, fp, positives)).sum()
    return pl.when(positives > 0).then(steps)
