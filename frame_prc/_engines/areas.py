"""Areas under the curve inside an engine: a step at each score that has positives, added up.

Calibration scales false positives, at a given prevalence or that of all rows (see
:mod:`frame_prc._curves.calibration`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    STEP_AREAS,
    TIE_BOUNDS,
    UNDEFINED,
    AreaSpec,
    bounds_of_tie,
    ends,
    growth,
    has_area,
    precision_before,
)
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._engines.curve import with_highest
from frame_prc._engines.estimates import looked_up, referred
from frame_prc._engines.operations import Engine, Frame
from frame_prc._engines.rows import ORDER, Counted, by_segment, count, finish_in_order, several_rows
from frame_prc._engines.running_sums import RETRIEVED, running_sums, within_range
from frame_prc._engines.spark_ranges import cut
from frame_prc._formulas import odds_ratio, precision, sizes, step_area, total
from frame_prc._request.roles import Request
from frame_prc._request.specs import Calibration
from frame_prc._request.thresholds import Bins


def calibrated(sums: Frame, counted: Counted, calibration: Calibration) -> Frame:
    """Return running sums with scaled false positives.

    Added are ``scale``, what a negative counts as, and the reference prevalence with the odds of a
    negative there.
    """
    with_odds = referred(sums, counted, calibration)
    both = (nw.col("positives") > 0) & (nw.col("negatives") > 0)
    odds = odds_ratio(nw.col("positives"), nw.col("negatives"), nw.col("reference_odds"))
    scaled = [name for name in ("fp", "fp_a") if name in sums.columns]
    return with_odds.with_columns(scale=nw.when(both).then(odds)).with_columns(
        nw.col(*scaled) * nw.col("scale")
    )


_TP, _FP, _TP_A = nw.col("tp"), nw.col("fp"), nw.col("tp_a")
_POSITIVES, _NEGATIVES = nw.col("positives"), nw.col("negatives")


def auc(
    engine: Engine,
    frame: Any,
    request: Request,
    spec: AreaSpec,
    outputs: Sequence[str],
    bins: Bins | None,
    calibration: Calibration | None,
) -> Any:
    """Return one row per segment and method."""
    [whole] = count(engine, frame, request, [*outputs, ORDER], bins)
    counted, calibration = cut(whole), looked_up(calibration, whole)
    areas = {
        method: nw.when(nw.col("grows")).then(STEP_AREAS[method](nw.col)).fill_null(0.0)
        for method in spec.methods
    }
    sums: dict[str, nw.Expr] = {method: total(nw.col(method)) for method in spec.methods}
    steps = _steps(counted, spec, calibration).with_columns(**areas)
    totals = by_segment(steps, counted, sums)
    low, high = spec.recall_range or (0.0, 1.0)
    width = high - low if spec.standardised else 1.0
    defined = {m: has_area(nw.col, m, calibrated=calibration is not None) for m in spec.methods}
    rows = [
        {
            "method": nw.lit(method),
            "auc": nw.when(is_defined).then((nw.col(method) / width).clip(upper_bound=1.0)),
        }
        for method, is_defined in defined.items()
    ]
    table = several_rows(totals, counted, rows).with_columns(*sizes(_POSITIVES, _NEGATIVES))
    if calibration is not None:
        table = referred(table, counted, calibration)
    return finish_in_order(table, counted, outputs)


def _steps(counted: Counted, spec: AreaSpec, calibration: Calibration | None) -> Frame:
    """Return a row per score with its step, which ``grows`` if the score has positives."""
    sums = running_sums(counted, monotone=True, places="envelope" in spec.methods)
    steps = beside_previous(sums, counted)
    if calibration is not None:
        steps = calibrated(steps, counted, calibration)
    grows = RETRIEVED & (_TP > _TP_A)
    # Where it does not grow, nulls keep engines from dividing by zero.
    marked = steps.with_columns(grows=grows, tp_a=nw.when(grows).then(_TP_A))
    bounded = marked.with_columns(**ends(nw.col, spec.recall_range))
    return _with_heights(bounded, counted, spec)


def beside_previous(sums: Frame, counted: Counted) -> Frame:
    """Add the running sums at the score before, ``tp_a`` and ``fp_a``."""
    if not counted.columns.weighted:
        return sums.with_columns(tp_a=_TP - nw.col("pos"), fp_a=_FP - nw.col("neg"))
    # In the difference of two floats the digits of a small sum before a large weight would vanish.
    within = within_range(counted)
    before = {
        f"{name}_a": nw.col(name).shift(-1).over(*within, order_by="score") for name in ("tp", "fp")
    }
    above = {
        f"{name}_a": nw.coalesce(
            f"{name}_a", nw.col(f"{name}_above") if counted.ranges else nw.lit(0.0)
        )
        for name in ("tp", "fp")
    }
    return sums.with_columns(**before).with_columns(**above)


def _with_heights(steps: Frame, counted: Counted, spec: AreaSpec) -> Frame:
    """Add what the methods need beside the ends of a step."""
    grows = nw.when(nw.col("grows"))
    if "trapezoid" in spec.methods:
        steps = steps.with_columns(precision_a=grows.then(precision_before(nw.col, spec.start)))
    if "interpolated" in spec.methods:
        for columns in growth(nw.col, spec.recall_range):
            steps = steps.with_columns(**columns)
    if "envelope" in spec.methods:
        at_step = grows.then(precision(_TP, _FP)).otherwise(-1.0)
        ordered = steps.with_columns(height=at_step, order=nw.col("place"))
        steps = with_highest(ordered, counted).with_columns(envelope=nw.col("highest"))
    return steps


_COUNTED = ("n_segments", UNDEFINED)
_N, _N_POS, _AREA = nw.col("n"), nw.col("n_pos"), nw.col(AVERAGE_PRECISION)


def average_precision(
    engine: Engine,
    frame: Any,
    request: Request,
    outputs: Sequence[str],
    bins: Bins | None,
    calibration: Calibration | None,
    *,
    bounds: bool,
) -> Any:
    """Return one row per segment: its size and its average precision."""
    [counted] = count(engine, frame, request, outputs, bins)
    table = areas_of_segments(counted, calibration, bounds=bounds)
    return counted.finish(table, outputs, [])


def areas_of_segments(
    counted: Counted,
    calibration: Calibration | None = None,
    *,
    bounds: bool = False,
) -> Frame:
    """Return the keys and sizes of each segment, and its average precision."""
    counted, calibration = cut(counted), looked_up(calibration, counted)
    # For bounds, sums that never fall: the log of a negative growth would be undefined.
    sums = running_sums(counted, monotone=bounds, places=False)
    if calibration is not None:
        sums = calibrated(sums, counted, calibration)
    hit = (nw.col("pos") > 0) & RETRIEVED
    terms = {"area": step_area(nw.col("pos"), nw.col("tp"), nw.col("fp"), _POSITIVES)}
    if bounds:
        sums = beside_previous(sums, counted)
        for columns in bounds_of_tie(nw.col, weighted=counted.columns.weighted):
            sums = sums.with_columns(**columns)
        terms |= {name: nw.col(name) for name in TIE_BOUNDS}
    added_up = {name: nw.when(hit).then(term).otherwise(0.0) for name, term in terms.items()}
    unweighted = not counted.columns.weighted
    if counted.engine.in_ranges and calibration is None and unweighted:
        # The largest running sum is the total too, and spares a window that nothing else needs.
        added_up["negatives"] = nw.col("fp")
    steps = sums.with_columns(**added_up)
    added = {name: total(nw.col(name)) for name in terms}
    totals = by_segment(steps, counted, added)
    has_area = _POSITIVES > 0
    if calibration is not None:
        has_area = has_area & (_NEGATIVES > 0)
    names = {"area": AVERAGE_PRECISION if calibration is None else CALIBRATED}
    table = totals.with_columns(
        *sizes(_POSITIVES, _NEGATIVES),
        *(nw.when(has_area).then(nw.col(name)).alias(names.get(name, name)) for name in terms),
    )
    return table if calibration is None else referred(table, counted, calibration)
