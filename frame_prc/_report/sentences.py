"""The words of findings: names, lists, intervals and p-values in a sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from frame_prc._charts.text import percent_text, rate_text, safe, short
from frame_prc._report.evaluation import Evaluation

MOST_NAMED = 6  # so that never just one is left out
_LEAST_P = 0.001
# First strong isolate, and pop directional isolate: a name in another direction, or with a mark
# that changes it, leaves the sentence around it as it is.
_ISOLATED = "\u2068{}\u2069"
_LEFT_TO_RIGHT = frozenset({"L", "EN", "ES", "ET", "CS", "NSM", "BN", "B", "S", "WS", "ON"})


def at_level(found: Evaluation, level: str) -> pl.DataFrame:
    """Return the rows of the scorecard of a level."""
    return found.scorecard.filter(pl.col("level") == level)


def segment_names(found: Evaluation) -> dict[int, str]:
    """Return the names of segments as they are in sentences."""
    names = found.segments.select("segment", "name").iter_rows()
    return {segment: isolated(name) for segment, name in names}


def isolated(name: str) -> str:
    """Return a short name that does not change the direction of a sentence."""
    name = short(safe(name))
    directions = set(map(unicodedata.bidirectional, name))
    return name if directions <= _LEFT_TO_RIGHT else _ISOLATED.format(name)


def is_shown(row: dict[str, Any], alpha: float) -> bool:
    """Return whether a test shows a difference."""
    return row["p_adjusted"] is not None and row["p_adjusted"] < alpha


def p_text(p: float) -> str:
    """Return a p-value with two digits."""
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.2g}"


def segments_text(count: int) -> str:
    """Return a number of segments."""
    return f"{count:,} segment{'' if count == 1 else 's'}"


def tests_text(table: pl.DataFrame) -> str:
    """Return how many tests a table has: its p-values."""
    count = table["p_value"].count()
    return f"{count:,} test{'' if count == 1 else 's'}"


def listed(texts: Sequence[str]) -> str:
    """Return up to six texts, or the first five and how many others there are."""
    if len(texts) <= MOST_NAMED:
        return listed_all(texts)
    first = texts[: MOST_NAMED - 1]
    return f"{', '.join(first)} and {len(texts) - len(first):,} others"


def listed_all(texts: Iterable[str]) -> str:
    """Return texts as a list in a sentence."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def with_interval(row: dict[str, Any], found: Evaluation, *more: str) -> str:
    """Return the interval of a row in parentheses, and what else is to be said there."""
    parts = list(more)
    if row.get("ci_low") is not None:
        ends = f"{rate_text(row['ci_low'])} to {rate_text(row['ci_high'])}"
        parts.insert(0, f"{percent_text(found.options.level)} interval {ends}")
    return f" ({', '.join(parts)})" if parts else ""
