"""Intervals of the average precision inside an engine, from the influence of each row.

See :mod:`frame_prc._inference.influence` for the formulas. Rows of one score and class have the
same influence, so it is that of the rows of counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw

from frame_prc._curves.logit_intervals import FEW_POSITIVES, interval_columns, random_areas
from frame_prc._engines.engine import rows_first
from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted
from frame_prc._engines.running_sums import RETRIEVED, within_range
from frame_prc._engines.spark_ranges import beside_ranges
from frame_prc._formulas import above_average, exact_parts, exact_sum, total
from frame_prc._request.specs import Interval
from frame_prc.exceptions import OptionError

_POS, _NEG, _TP, _FP = (nw.col(name) for name in ("pos", "neg", "tp", "fp"))
_POSITIVES, _NEGATIVES = nw.col("positives"), nw.col("negatives")

# The aggregates of a segment that its interval is computed from.
SPREAD = {
    "shortfall": total(nw.col("miss")),
    "variance": nw.col("squares").sum(),
    "shares": exact_sum(nw.col("share")),
    "retrieved": nw.col("seen").max(),
    "bias": nw.col("biased").sum(),
}


def check_unweighted(counted: Counted) -> None:
    """Raise an error for sums of weights, whose squares are not counted here."""
    if counted.columns.weighted or counted.columns.with_squares:
        raise OptionError(
            f"ci= of weights does not run inside {counted.engine.kind}",
            "rows without weight=, or integer counts",
            rows_first(counted.engine),
        )


def with_influence(steps: Frame, counted: Counted) -> Frame:
    """Add the terms of ``SPREAD`` to steps with the ``area`` that each adds."""
    seen = RETRIEVED & (_TP + _FP > 0)
    hit = seen & (_POS > 0)
    n = _TP + _FP
    zero = nw.lit(0.0)
    rated = steps.with_columns(
        rate=nw.when(hit).then(_POS / n).otherwise(zero),
        precision=nw.when(seen).then(_TP / n).otherwise(zero),
        error=nw.when(seen).then(_FP / n).otherwise(nw.lit(1.0)),
        share=nw.when(seen).then((_POS + _NEG) / n).otherwise(zero),
        seen=nw.when(seen).then(n).otherwise(0),
    )
    missed = nw.when(_POSITIVES > 0).then(_POS / _POSITIVES * nw.col("error")).otherwise(zero)
    ready = rated.with_columns(
        miss=missed,
        wins=nw.col("rate") * nw.col("error"),
        costs=nw.col("rate") * nw.col("precision"),
        biased=nw.when(hit & (_FP > 0)).then(_bias()).otherwise(zero),
    )
    measured = (nw.col(name) for name in ("precision", "error", "step", "of_misses"))
    above = above_average(*measured)
    on_positive = (above + nw.when(RETRIEVED).then(nw.col("raised")).otherwise(zero)) / _POSITIVES
    on_negative = nw.when(RETRIEVED).then(nw.col("lowered")).otherwise(zero) / _POSITIVES
    squares = _POS * on_positive * on_positive + _NEG * on_negative * on_negative
    summed = _with_sums_below(ready, counted)
    return summed.with_columns(squares=nw.when(_POSITIVES > 0).then(squares).otherwise(zero))


def _bias() -> nw.Expr:
    """Return what each step adds to the bias of the area (see the formulas of the influence)."""
    below = 1 - _TP / _NEGATIVES
    return _POS / _POSITIVES * nw.col("error") * below / (_TP + _FP - 1)


def _with_sums_below(steps: Frame, counted: Counted) -> Frame:
    """Add the area of a segment, ``of_misses``, and the sums ``raised`` and ``lowered``.

    These are sums at a score and below it.
    """
    parts = {
        f"{name}_{part}": terms
        for name in ("area", "miss")
        for part, terms in zip(("coarse", "fine"), exact_parts(nw.col(name)), strict=True)
    }
    ready = steps.with_columns(**parts)
    keys = counted.keys
    if counted.ranges is None:
        return _with_totals(ready, keys).with_columns(
            raised=nw.col("wins").cum_sum().over(*keys, order_by="score"),
            lowered=nw.col("costs").cum_sum().over(*keys, order_by="score"),
        )
    within = within_range(counted)
    sums = ready.group_by(*within).agg(nw.col("wins", "costs", *parts).sum())
    upward = _with_totals(sums, keys).with_columns(
        up_to_wins=nw.col("wins").cum_sum().over(*keys, order_by="range"),
        up_to_costs=nw.col("costs").cum_sum().over(*keys, order_by="range"),
    )
    below = upward.select(
        *within,
        "step",
        "of_misses",
        below_wins=nw.col("up_to_wins").shift(1).over(*keys, order_by="range").fill_null(0.0),
        below_costs=nw.col("up_to_costs").shift(1).over(*keys, order_by="range").fill_null(0.0),
    )
    here = ready.with_columns(
        here_wins=nw.col("wins").cum_sum().over(*within, order_by="score"),
        here_costs=nw.col("costs").cum_sum().over(*within, order_by="score"),
    )
    return beside_ranges(here, below, keys).with_columns(
        raised=nw.col("here_wins") + nw.col("below_wins"),
        lowered=nw.col("here_costs") + nw.col("below_costs"),
    )


def _with_totals(parts: Frame, within: Sequence[str]) -> Frame:
    """Add the sums of the areas and of the misses of a segment."""

    def whole(name: str) -> nw.Expr:
        coarse, fine = (nw.col(f"{name}_{part}").sum().over(*within) for part in ("coarse", "fine"))
        return (coarse + fine).clip(upper_bound=1.0)

    return parts.with_columns(step=whole("area"), of_misses=whole("miss"))


def with_interval(table: Frame, interval: Interval) -> Frame:
    """Add the interval to a table of segments, and update their status."""
    has_area = nw.when(_POSITIVES > 0)
    shares, retrieved = nw.col("shares"), nw.col("retrieved")
    random = random_areas(_POSITIVES, _NEGATIVES, shares, retrieved)
    table = table.with_columns(
        estimate=nw.col("average_precision"),
        n_effective=has_area.then(_POSITIVES.cast(nw.Float64)),
        n_trials=has_area.then(_POSITIVES.cast(nw.Float64)),
        **{name: has_area.then(nw.col(name)) for name in ("shortfall", "variance")},
        **{name: has_area.then(value) for name, value in random.items()},
        bias=nw.when((_POSITIVES > 1) & (_NEGATIVES > 0)).then(nw.col("bias")),
    )
    few = _NEGATIVES < FEW_POSITIVES
    for columns in interval_columns(nw.col, interval, few_negatives=few):
        table = table.with_columns(**columns)
    return table
