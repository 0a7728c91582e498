"""The period that rows are of, by a key or by clusters that are times; what segments are called."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

import polars as pl

from frame_prc._report.evaluation import Evaluation

_WEEK = 7  # days
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


def kind_of_segments(found: Evaluation) -> str:
    """Return what a segment is called: the key, or the unit of one that is a time."""
    if len(found.keys) != 1:
        return "segment"
    if found.in_time and (of_key := period(found)) is not None:
        return of_key["unit"] or "time"
    return found.keys[0] or "segment"


def unit_of_period(found: Evaluation) -> str:
    """Return what a segment of an order is called."""
    known = period(found) if found.in_time else None
    return (known and known["unit"]) or "period"


def period(found: Evaluation) -> dict[str, Any] | None:
    """Return the first and the last day of a key, of which units there are, or of the clusters."""
    dtypes = list(found.rows.columns.key_dtypes.items())
    for number, (name, dtype) in enumerate(dtypes):
        values = found.segments[f"key_{number}"].drop_nulls().unique().sort()
        if _is_date(dtype) and values.len():
            return {"column": name, **_of_key(values.to_list())}
    cluster = found.rows.columns.cluster
    if cluster is None or not _is_date(cluster.dtype):
        return None
    days = found.rows.source.select(pl.col("cluster").drop_nulls().unique().sort()).collect()
    if days.is_empty():
        return None
    first, last = days["cluster"][0], days["cluster"][-1]
    ends = {"first": _iso(first), "last": _iso(last)}
    return {"column": cluster.name, **ends, "count": days.height, "unit": None}


def _is_date(dtype: pl.DataType) -> bool:
    return dtype in (pl.Date, pl.Datetime)


def _iso(moment: date | datetime) -> str:
    return moment.isoformat().removesuffix("T00:00:00")


def _of_key(values: list[Any]) -> dict[str, Any]:
    """Return what segments that begin at these moments last from and to."""
    days = [value.date() for value in values if isinstance(value, datetime)]
    has_hours = any(isinstance(v, datetime) and v.time() != time(0) for v in values)
    unit = None if has_hours else unit_of(days or values)
    last = values[-1] if unit is None else last_day(days[-1] if days else values[-1], unit)
    return {
        "first": _iso(values[0]),
        "last": _iso(last),
        "count": len(values),
        "unit": unit,
    }


def unit_of(days: list[date]) -> str | None:
    """Return the unit of segments that begin on these days, which ascend; one day tells none."""
    if len(days) < 2:  # noqa: PLR2004 - a gap needs two
        return None
    for unit, months in _MONTHS.items():
        if all(day.day == 1 and (day.month - 1) % months == 0 for day in days):
            return unit
    gaps = [(b - a).days for a, b in pairwise(days)]
    return "week" if all(gap % _WEEK == 0 for gap in gaps) else "day"


def last_day(first: date, unit: str) -> date:
    """Return the last day of a unit that begins on a day."""
    if unit in _MONTHS:
        months = first.month - 1 + _MONTHS[unit]
        return date(first.year + months // 12, months % 12 + 1, 1) - timedelta(days=1)
    return first + timedelta(days=_WEEK - 1 if unit == "week" else 0)
