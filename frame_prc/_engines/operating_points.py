"""Operating points inside an engine: the best point of each segment for each target.

The best of a segment is the best of one of its ranges, so no task sorts a whole segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import polars as pl

from frame_prc._curves import operating_points as decisions
from frame_prc._curves.given_thresholds import ASCENDING, LIMITS, NOT_MET
from frame_prc._curves.logit_intervals import (
    FEW_POSITIVES,
    limits_of_share,
    status,
    status_of_share,
)
from frame_prc._engines import rows
from frame_prc._engines.curves import with_openings
from frame_prc._engines.engine import Engine, Frame
from frame_prc._engines.points import within_range
from frame_prc._engines.spark_ranges import cut
from frame_prc._formulas import (
    rounded_to_digits,
    rounding_of,
    sizes,
)
from frame_prc._ranking.running_sums import TERMS_OF_COUNTS
from frame_prc._request.roles import Request
from frame_prc._request.specs import Interval, Target

# Better points come first: each of these is compared in turn, and then their place.
_COMPARED = ("merit", "ranked", "tp")
# What is kept of the best point.
_POINT = (*_COMPARED, "fp", "starts", "shown")

# The columns with what is kept, for each target by its place.
_Names: TypeAlias = Mapping[int, Mapping[str, str]]


def operating_points(
    engine: Engine,
    frame: Any,
    request: Request,
    targets: Sequence[Target],
    interval: Interval | None,
    outputs: Sequence[str],
) -> Any:
    [counted] = rows.count(engine, frame, request, [*outputs, rows.ORDER], None, by_threshold=True)
    if interval is not None:
        decisions.check_counts(counted.columns)
    tidy = table_of_targets(counted, targets, interval)
    if decisions.has_cost(targets):
        costs = decisions.costs_per_row(targets, nw.col(rows.ORDER), nw.col)
        tidy = tidy.with_columns(expected_cost=nw.coalesce(*costs))
    if ASCENDING in outputs:
        tidy = tidy.with_columns(nw.lit(True, nw.Boolean).alias(ASCENDING))
    return rows.finish_in_order(tidy, counted, outputs)


def table_of_targets(
    counted: rows.Counted, targets: Sequence[Target], interval: Interval | None = None
) -> Frame:
    decisions.check_row_numbers(targets, counted.columns)
    counted = cut(counted)
    points = _with_merits(with_openings(counted), counted, targets)
    at_held = [
        f"{name}_{place}"
        for place, target in enumerate(targets)
        for name in ("tp", "fp")
        if target.criterion == "threshold"
    ]
    names: _Names = {
        place: {name: name for name in _POINT} | {"merit": f"merit_{place}"}
        for place, target in enumerate(targets)
        if target.criterion != "threshold"
    }
    last = "order"
    if counted.ranges:
        points = _best_of_ranges(points, within_range(counted), names, at_held)
        names, last = {place: _kept(place) for place in names}, "upward"
    numbered = _numbered(points, counted.keys, names, last)
    table = rows.by_segment(numbered, counted, _of_best(names) | _largest(at_held))
    of_targets = [_row(counted, place, target) for place, target in enumerate(targets)]
    tidy = _with_rates(rows.several_rows(table, counted, of_targets))
    if interval is not None:
        few_negatives = nw.col("negatives") < FEW_POSITIVES
        tidy = tidy.with_columns(
            **_limits(interval.level), n_effective=nw.col("positives")
        ).with_columns(status=status(nw.col, few_negatives))
        retrieved = nw.col("tp") + nw.col("fp")
        tidy = tidy.with_columns(status=status_of_share(nw.col, retrieved))
    return tidy


# --- choosing ----------------------------------------------------------------------------------


def _with_merits(points: Frame, counted: rows.Counted, targets: Sequence[Target]) -> Frame:
    weighted, opens, is_point = counted.columns.weighted, nw.col("opens"), nw.col("is_point")
    slack = rounding_of(TERMS_OF_COUNTS) if weighted else 0.0
    compared: dict[str, nw.Expr] = {"ranked": decisions.ranked_precision(nw.col)}
    reached: dict[str, nw.Expr] = {}
    for place, target in enumerate(targets):
        if target.criterion == "threshold":
            retrieved = nw.when(is_point & (opens | _is_retrieved(target, counted)))
            reached |= {f"{name}_{place}": retrieved.then(nw.col(name)) for name in ("tp", "fp")}
        else:
            compared[f"merit_{place}"] = nw.when(is_point).then(
                decisions.merit(target, nw.col, slack)
            )
    if weighted:
        # Merits that only rounding tells apart are equal.
        compared = {
            name: rounded_to_digits(value, decisions.DIGITS) for name, value in compared.items()
        }
    one, zero = nw.lit(1, nw.Int64), nw.lit(0, nw.Int64)
    return points.with_columns(
        **compared,
        **reached,
        order=nw.when(opens).then(zero).otherwise(nw.col("place")),
        starts=nw.when(opens).then(one).otherwise(zero),
        shown=counted.score.cast(rows.level_dtype(counted.columns)),
        # The row that opens a segment is a copy.
        dropped=nw.when(opens).then(zero).otherwise(nw.col("dropped")),
    )


def _is_retrieved(target: Target, counted: rows.Counted) -> nw.Expr:
    score, threshold = counted.score.cast(nw.Float64), _held(target, counted)
    return score <= threshold if counted.ascending else score >= threshold


def _held(target: Target, counted: rows.Counted) -> float:
    dtype = pl.Float32 if rows.level_dtype(counted.columns) == nw.Float32 else pl.Float64
    held: float = pl.Series([target.value], dtype=pl.Float64).cast(dtype).item()
    return held + 0.0  # not -0.0


def _numbered(points: Frame, within: Sequence[str], names: _Names, last: str) -> Frame:
    """Return points with ``rank_0, ...`` for each target: 1 is the best; misses come last."""
    lesser = {
        f"lesser_{name}_{place}": -nw.col(columns[name])
        for place, columns in names.items()
        for name in _COMPARED
    }
    misses = {
        f"misses_{place}": nw.col(columns["merit"]).is_null().cast(nw.Int64)
        for place, columns in names.items()
    }
    ready = points.with_columns(**lesser, **misses, one=nw.lit(1, nw.Int64))

    def rank(place: int) -> nw.Expr:
        compared = [f"lesser_{name}_{place}" for name in _COMPARED]
        order = [f"misses_{place}", *compared, last]
        return nw.col("one").cum_sum().over(*within, order_by=order)

    ranks = {f"rank_{place}": rank(place) for place in names}
    return ready.with_columns(**ranks) if ranks else ready


def _of_best(names: _Names) -> dict[str, nw.Expr]:
    return {
        name: nw.when((nw.col(f"rank_{place}") == 1) & (nw.col(f"misses_{place}") == 0))
        .then(nw.col(columns[kept]))
        .max()
        for place, columns in names.items()
        for kept, name in _kept(place).items()
    }


def _kept(place: int) -> dict[str, str]:
    return {name: f"best_{name}_{place}" for name in _POINT}


def _largest(names: Sequence[str]) -> dict[str, nw.Expr]:
    """Return aggregates; sums never fall, so the largest is that of the last point retrieved."""
    return {name: nw.col(name).max() for name in names}


def _best_of_ranges(
    points: Frame, within: Sequence[str], names: _Names, at_held: Sequence[str]
) -> Frame:
    aggregates = _of_best(names) | _largest([*at_held, "positives", "negatives"])
    aggregates["dropped"] = nw.col("dropped").sum()
    best = _numbered(points, within, names, "order").group_by(*within).agg(**aggregates)
    return best.with_columns(upward=-nw.col("range"))


# --- columns -----------------------------------------------------------------------------------


def _row(counted: rows.Counted, place: int, target: Target) -> dict[str, nw.Expr]:
    dtype = rows.level_dtype(counted.columns)
    row = {
        "target": nw.lit(target.text),
        "criterion": nw.lit(target.criterion),
        "target_value": nw.lit(target.own_value).cast(nw.Float64),
    }
    if target.criterion == "threshold":
        threshold = nw.lit(_held(target, counted)).cast(dtype)
        return row | {"threshold": threshold} | {n: nw.col(f"{n}_{place}") for n in ("tp", "fp")}
    best = {name: nw.col(column) for name, column in _kept(place).items()}
    infinity = nw.lit(float("-inf" if counted.ascending else "inf")).cast(dtype)
    threshold = nw.when(best["starts"] == 1).then(infinity).otherwise(best["shown"])
    return row | {"threshold": threshold, "tp": best["tp"], "fp": best["fp"]}


def _with_rates(table: Frame) -> Frame:
    is_f_beta = nw.col("criterion") == "f_beta"
    beta = nw.when(is_f_beta).then(nw.col("target_value")).otherwise(1.0)
    return table.with_columns(**decisions.rates(nw.col, beta), status=_status())


def _status() -> nw.Expr:
    *_, status = sizes(nw.col("positives"), nw.col("negatives"))
    is_ok, retrieved = status == "ok", nw.col("tp") + nw.col("fp")
    found = nw.when(is_ok & (retrieved == 0)).then(nw.lit("undefined")).otherwise(status)
    return nw.when(is_ok & retrieved.is_null()).then(nw.lit(NOT_MET)).otherwise(found)


def _limits(level: float) -> dict[str, nw.Expr]:
    sides = [limits_of_share(nw.col("tp"), nw.col(misses), level) for misses in ("fp", "fn")]
    return dict(zip(LIMITS, (end for side in sides for end in side.values()), strict=True))
