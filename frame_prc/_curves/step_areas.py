"""The area of a step of the curve by method: expressions of Polars or of Narwhals.

A step leads from a point with ``tp_a`` true positives to the next one with more, ``tp``. Its area
is that between the counts ``low`` and ``high``, which are ``tp_a`` and ``tp`` unless
``recall_range=`` cuts them. ``col`` is that of the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from frame_prc._formulas import library, log1p, minus_log1p, precision, step_area
from frame_prc._request.specs import Method, Start

Col: TypeAlias = Callable[[str], Any]


def _step(col: Col) -> Any:
    return step_area(col("high") - col("low"), col("tp"), col("fp"), col("positives"))


def _trapezoid(col: Col) -> Any:
    tp_a, before, low, high = (col(name) for name in ("tp_a", "precision_a", "low", "high"))
    slope = (precision(col("tp"), col("fp")) - before) / (col("tp") - tp_a)
    at_low, at_high = (before + slope * (tp - tp_a) for tp in (low, high))
    return (high - low) / col("positives") * (at_low + at_high) / 2


def _interpolated(col: Col) -> Any:
    return _along_step(col, col("low"), col("slope"))


def interpolated_shortfall(col: Col) -> Any:
    """Return how much a step of the whole interpolated curve falls short of precision 1."""
    fp_a = col("fp_a")
    return _along_step(col, fp_a, (col("fp") - fp_a) / col("added"))


def _along_step(col: Col, low: Any, share: Any) -> Any:
    """Integrate the share of one class while TP and FP grow linearly.

    For TP this is precision (Davis & Goadrich 2006, Keilwagen 2014), for FP 1 minus precision;
    ``low`` is the count of the class where the area starts, and ``share`` how much of the rows that
    the step adds are of the class. With Q = TP + FP and s = dTP/dQ the
    area below precision is ``s (TP ln(1 + x) + s Q (x - ln(1 + x)))`` from the point (TP, Q), with
    x = dQ/Q. This is the published form, arranged so that nothing cancels in a step that is small
    relative to Q.
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
    """Return the share of pairs that the positives of a step rank right; ties count half."""
    negatives = col("negatives")
    above = (negatives - col("fp")) + (negatives - col("fp_a"))
    return (col("high") - col("low")) / col("positives") * (above / negatives / 2)


def ends(col: Col, recall_range: tuple[float, float] | None) -> dict[str, Any]:
    """Return the ends of the area of a step: ``low`` and ``high``."""
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


def precision_before(col: Col, start: Start) -> Any:
    """Return the precision at the point before a step."""
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
