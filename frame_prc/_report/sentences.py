"""The words of a report: names, lists, intervals, p-values and periods."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import pairwise
from typing import Any

import polars as pl

from frame_prc._charts.options import is_time
from frame_prc._charts.text import percent_text, rate_text, safe, short, status_text
from frame_prc._curves.logit_intervals import BELIEVED, FEW
from frame_prc._report.evaluation import BETTER, SMALL, UNTESTED, WORSE, Evaluation


@dataclass(frozen=True)
class Answer:
    """An answer: what it is about, the question, the finding first, then its numbers, and why."""

    about: str
    question: str
    finding: str
    numbers: str = ""
    reasons: list[str] = field(default_factory=list)
    also: str = ""

    @property
    def text(self) -> str:
        return f"{self.finding}{self.numbers}"


# --- in a sentence -----------------------------------------------------------------------------

MOST_NAMED, NAMED = 6, 2  # in a list, and in an answer
_LEAST_P = 0.001
# First strong isolate, and pop directional isolate: a name in another direction, or with a mark
# that changes it, leaves the sentence around it as it is.
_ISOLATED = "\u2068{}\u2069"
_LEFT_TO_RIGHT = frozenset({"L", "EN", "ES", "ET", "CS", "NSM", "BN", "B", "S", "WS", "ON"})


def isolated(name: str) -> str:
    """Return a short name that does not change the direction of a sentence."""
    name = short(safe(name))
    directions = set(map(unicodedata.bidirectional, name))
    return name if directions <= _LEFT_TO_RIGHT else _ISOLATED.format(name)


def is_shown(row: dict[str, Any], alpha: float) -> bool:
    return row["p_adjusted"] is not None and row["p_adjusted"] < alpha and row["status"] in BELIEVED


def p_text(p: float) -> str:
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.2g}"


def segments_text(count: int) -> str:
    return f"{count:,} segment{'' if count == 1 else 's'}"


def listed(texts: Sequence[str], most: int | None = MOST_NAMED) -> str:
    """Return texts as a list in a sentence, maybe the first of them and how many others."""
    *first, last = texts
    if most is not None and len(texts) > most:
        first, last = first[: most - 1], f"{len(texts) - most + 1:,} others"
    return f"{', '.join(first)} and {last}" if first else last


def rates_text(row: dict[str, Any]) -> str:
    return f"{rate_text(row['value_a'])} against {rate_text(row['value_b'])}"


def signed_text(value: float) -> str:
    return rate_text(value).replace("-", "\N{MINUS SIGN}")


def interval_text(row: dict[str, Any], found: Evaluation) -> str:
    return f"{percent_text(found.options.level)} interval {ends_text(row)}"


def ends_text(row: dict[str, Any]) -> str:
    """Return the ends of an interval, where its level was said before."""
    return f"{signed_text(row['ci_low'])} to {signed_text(row['ci_high'])}"


# Before a reason that is not one of the segment itself.
OTHERS = "others: "


def said_of(row: dict[str, Any]) -> str:
    standing = row["standing"]
    if standing in (WORSE, BETTER):
        return str(standing)
    if standing == SMALL:
        return status_text(row["status"])
    if standing != UNTESTED:
        return ""
    of_others = row["status"] in BELIEVED and row["test"] in FEW
    return f"{OTHERS if of_others else ''}{status_text(row['test'])}"


# --- directions ----------------------------------------------------------------------------------


def comparisons_told(found: Evaluation) -> list[dict[str, Any]]:
    """Return the comparison of two models as in the table, or those of the best of several."""
    if found.of_models.height == 1:
        rows = list(map(_as_adjusted, found.of_models.to_dicts()))
    else:
        rows = list(comparisons_of_best(found.of_models, found))
    return [row for row in rows if row["difference"] is not None]


def comparisons_of_best(table: pl.DataFrame, found: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of the best model with others, always the best minus the other."""
    for row in map(_as_adjusted, table.iter_rows(named=True)):
        if row["model"] == found.best:
            yield row
        elif row["baseline"] == found.best:
            yield _turned(row)


def _as_adjusted(row: dict[str, Any]) -> dict[str, Any]:
    return row | {end: row[f"{end}_adjusted"] for end in ("ci_low", "ci_high")}


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    sides = {"model": "baseline", "baseline": "model", "value_a": "value_b", "value_b": "value_a"}
    ends = {"difference": "difference", "ci_low": "ci_high", "ci_high": "ci_low"}
    return (
        row
        | {name: row[other] for name, other in sides.items()}
        | {name: None if row[other] is None else -row[other] for name, other in ends.items()}
    )


# --- the period of the rows, and what segments are called --------------------------------------

_UNITS = {"year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d"}


def kind_of_segments(found: Evaluation) -> str:
    """Return what a segment is called: the key, or the unit of one that is a time."""
    if len(found.keys) != 1:
        return "segment"
    if found.in_time and (of_key := period(found)) is not None:
        return of_key["unit"] or "time"
    return found.keys[0] or "segment"


def unit_of_period(found: Evaluation) -> str:
    known = period(found) if found.in_time else None
    return (known and known["unit"]) or "period"


def period(found: Evaluation) -> dict[str, Any] | None:
    dtypes = list(found.rows.columns.key_dtypes.items())
    for number, (name, dtype) in enumerate(dtypes):
        values = found.segments[f"key_{number}"].drop_nulls().unique().sort()
        if is_time(dtype) and values.len():
            return {"column": name, **_of_key(values)}
    cluster = found.rows.columns.cluster
    if cluster is None or not is_time(cluster.dtype):
        return None
    days = found.rows.source.select(pl.col("cluster").drop_nulls().unique().sort()).collect()
    if days.is_empty():
        return None
    first, last = days["cluster"][0], days["cluster"][-1]
    ends = {"first": _iso(first), "last": _iso(last)}
    return {"column": cluster.name, **ends, "count": days.height, "unit": None}


def _iso(moment: date | datetime) -> str:
    return moment.isoformat().removesuffix("T00:00:00")


def _of_key(values: pl.Series) -> dict[str, Any]:
    has_hours = values.dtype == pl.Datetime and (values.dt.time() != time(0)).any()
    days = values.dt.date().to_list()
    unit = None if has_hours else unit_of(days)
    first, last = values[0], values[-1] if unit is None else last_day(days[-1], unit)
    return {"first": _iso(first), "last": _iso(last), "count": len(values), "unit": unit}


def unit_of(days: list[date]) -> str | None:
    """Return the unit of segments that begin on these days, which ascend; one day tells none."""
    if len(days) < 2:  # noqa: PLR2004 - a gap needs two
        return None
    starts = pl.Series(days, dtype=pl.Date)
    for unit in ("year", "quarter", "month"):
        if (starts == starts.dt.truncate(_UNITS[unit])).all():
            return unit
    weekly = all((b - a).days % 7 == 0 for a, b in pairwise(days))
    return "week" if weekly else "day"


def last_day(first: date, unit: str) -> date:
    after = pl.Series([first]).dt.offset_by(_UNITS[unit])
    last: date = after.dt.offset_by("-1d").item()
    return last
