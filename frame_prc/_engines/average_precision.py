"""The average precision of segments inside an engine, and averages of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw

from frame_prc._curves.areas import AVERAGE_PRECISION, UNDEFINED
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.tie_bounds import TIE_BOUNDS, bounds_of_tie
from frame_prc._engines.areas import beside_previous
from frame_prc._engines.calibration import calibrated, reference_sums, with_reference
from frame_prc._engines.operations import Engine, Frame
from frame_prc._engines.rows import Counted, count
from frame_prc._engines.running_sums import RETRIEVED, running_sums
from frame_prc._engines.segments import by_segment
from frame_prc._engines.spark_ranges import cut
from frame_prc._formulas import sizes, step_area, total
from frame_prc._request.roles import Request
from frame_prc._request.specs import Calibration, How
from frame_prc._request.thresholds import Bins
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import DROPPED

_POSITIVES, _NEGATIVES = nw.col("positives"), nw.col("negatives")
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
    counted = count(engine, frame, request, outputs, bins)
    table = areas_of_segments(counted, calibration, bounds=bounds)
    return counted.finish(table, outputs, [])


def areas_of_segments(
    counted: Counted,
    calibration: Calibration | None = None,
    *,
    bounds: bool = False,
) -> Frame:
    """Return the keys and sizes of each segment, and its average precision."""
    counted = cut(counted)
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
    added = {name: total(nw.col(name)) for name in terms} | reference_sums(calibration)
    totals = by_segment(steps, counted, added)
    has_area = _POSITIVES > 0
    if calibration is not None:
        has_area = has_area & (_NEGATIVES > 0)
    names = {"area": AVERAGE_PRECISION if calibration is None else CALIBRATED}
    table = totals.with_columns(
        *sizes(_POSITIVES, _NEGATIVES),
        *(nw.when(has_area).then(nw.col(name)).alias(names.get(name, name)) for name in terms),
    )
    return with_reference(table, calibration)


# --- averages ----------------------------------------------------------------------------------


def averages(
    engine: Engine,
    frame: Any,
    request: Request,
    over: str,
    how: How,
    outputs: Sequence[str],
    bins: Bins | None,
) -> Any:
    """Return the mean over one key, within segments by the other keys."""
    counted = count(engine, frame, request, outputs, bins)
    check_over(counted.columns, over)
    if how == "micro":
        others = replace(request, keys=[key for key in request.keys if key != over])
        pooled = count(engine, frame, others, outputs, bins)
        return pooled.finish(areas_of_segments(pooled), outputs, [])
    kept = _without_key(counted, over)
    return kept.finish(_mean(areas_of_segments(counted), kept, how), outputs, [])


def _without_key(counted: Counted, over: str) -> Counted:
    """Return counts whose result does not have one of the keys."""
    dtypes = {name: d for name, d in counted.columns.key_dtypes.items() if name != over}
    names = zip(counted.keys, counted.columns.result_keys, strict=True)
    keys = [key for key, name in names if name != over]
    return replace(counted, keys=keys, columns=replace(counted.columns, key_dtypes=dtypes))


def _mean(table: Frame, kept: Counted, how: How) -> Frame:
    """Return the mean of the segments. Those without an average precision only count in sizes."""
    shares = {"mean": nw.lit(1.0), "weighted": _N_POS.cast(nw.Float64), "rows": _N.cast(nw.Float64)}
    used = nw.when(~_AREA.is_null()).then(shares[how])
    shared = table.with_columns(
        shares=used,
        weighted=used * _AREA,
        n_segments=(~_AREA.is_null()).cast(nw.Int64),
        n_undefined=_AREA.is_null().cast(nw.Int64),
    )
    summed = ("n", "n_pos", *DROPPED, *_COUNTED, "shares", "weighted")
    sums = [nw.col(name).sum() for name in summed]
    added = shared.group_by(*kept.keys).agg(*sums) if kept.keys else shared.select(*sums)
    typed = added.with_columns(
        nw.col("n", "n_pos").fill_null(0).cast(kept.amount),
        nw.col(*DROPPED, *_COUNTED).fill_null(0).cast(nw.Int64),
    )
    mean = nw.when(nw.col("shares") > 0).then(nw.col("weighted") / nw.col("shares"))
    none = nw.col("n_segments") == 0
    return typed.with_columns(
        mean.alias(AVERAGE_PRECISION),
        prevalence=nw.when(_N > 0).then(_N_POS / _N),
        status=nw.when(none).then(nw.lit("few_segments")).otherwise(nw.lit("ok")),
    )
