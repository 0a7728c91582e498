"""The words of a report: names, lists, intervals and p-values in a sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from frame_prc._charts.text import percent_text, rate_text, safe, short
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._report.evaluation import Evaluation

MOST_NAMED = 6
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
    """Return whether a test shows a difference, and can be believed."""
    return row["p_adjusted"] is not None and row["p_adjusted"] < alpha and row["status"] in BELIEVED


def p_text(p: float) -> str:
    """Return a p-value with two digits."""
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.2g}"


def segments_text(count: int) -> str:
    """Return a number of segments."""
    return f"{count:,} segment{'' if count == 1 else 's'}"


def listed(texts: Sequence[str], most: int | None = MOST_NAMED) -> str:
    """Return texts as a list in a sentence, maybe the first of them and how many others."""
    *first, last = texts
    if most is not None and len(texts) > most:
        first, last = first[: most - 1], f"{len(texts) - most + 1:,} others"
    return f"{', '.join(first)} and {last}" if first else last


def rates_text(row: dict[str, Any]) -> str:
    """Return the two areas of a comparison."""
    return f"{rate_text(row['value_a'])} against {rate_text(row['value_b'])}"


def signed_text(value: float) -> str:
    """Return a difference, with a minus sign as pictures have it."""
    return rate_text(value).replace("-", "\N{MINUS SIGN}")


def interval_text(row: dict[str, Any], found: Evaluation) -> str:
    """Return the interval of a row with its level."""
    ends = f"{signed_text(row['ci_low'])} to {signed_text(row['ci_high'])}"
    return f"{percent_text(found.options.level)} interval {ends}"


# --- directions ----------------------------------------------------------------------------------


def comparisons_told(found: Evaluation) -> list[dict[str, Any]]:
    """Return the comparison of two models as in the table, or those of the best of several."""
    if found.of_models.height == 1:
        rows = found.of_models.to_dicts()
    else:
        rows = list(comparisons_of_best(found.of_models, found))
    return [row for row in rows if row["difference"] is not None]


def comparisons_of_best(table: pl.DataFrame, found: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of the best model with others, always the best minus the other."""
    for row in table.iter_rows(named=True):
        if row["model"] == found.best:
            yield row
        elif row["baseline"] == found.best:
            yield _turned(row)


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """Return a difference the other way round."""
    sides = {"model": "baseline", "baseline": "model", "value_a": "value_b", "value_b": "value_a"}
    ends = {"difference": "difference", "ci_low": "ci_high", "ci_high": "ci_low"}
    return (
        row
        | {name: row[other] for name, other in sides.items()}
        | {name: None if row[other] is None else -row[other] for name, other in ends.items()}
    )
