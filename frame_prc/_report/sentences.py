"""The words of findings: names, lists, intervals and p-values in a sentence.

Which of two models is subtracted from which is alike in all tables of a report: it is the one with
the smaller average precision over all rows, or the baseline if one is given.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from frame_prc._charts.text import percent_text, rate_text, safe, short
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._report.evaluation import Evaluation

MOST_NAMED = 6  # so that never just one is left out
_DECIMALS = range(3, 7)
_OF_DIFFERENCE = ("value_a", "value_b", "difference", "ci_low", "ci_high")
_LEAST_P = 0.001
# First strong isolate, and pop directional isolate: a name in another direction, or with a mark
# that changes it, leaves the sentence around it as it is.
_ISOLATED = "\u2068{}\u2069"
_LEFT_TO_RIGHT = frozenset({"L", "EN", "ES", "ET", "CS", "NSM", "BN", "B", "S", "WS", "ON"})


def segment_names(found: Evaluation) -> dict[int, str]:
    """Return the names of segments as they are in sentences."""
    return {segment: isolated(name) for segment, name in found.names.items()}


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


def at_one_prevalence(table: pl.DataFrame) -> str:
    """Return what a sentence on the tests of segments begins with."""
    count = table["p_value"].count()
    return (
        "With average precisions calibrated to one prevalence, and p-values adjusted for "
        f"{count:,} test{'' if count == 1 else 's'}"
    )


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


def difference_texts(row: dict[str, Any]) -> dict[str, str]:
    """Return two areas, their difference and its interval with as many decimals as they need.

    As shown, the first area less the second is the difference, and the difference is zero only if
    it is so with the most decimals.
    """
    known = [row["value_a"], row["value_b"], row["difference"]]
    decimals = _DECIMALS[0] if None in known else _decimals(*known)
    values = {name: row.get(name) for name in _OF_DIFFERENCE}
    return {name: "" if v is None else f"{v:z.{decimals}f}" for name, v in values.items()}


def _decimals(a: float, b: float, difference: float) -> int:
    """Return how many decimals make a rounded difference that of the rounded areas."""
    for decimals in _DECIMALS:
        shown = round(difference, decimals)
        error = round(round(a, decimals) - round(b, decimals) - shown, decimals)
        if error == 0 and (shown != 0 or difference == 0):
            return decimals
    return _DECIMALS[-1]


def with_interval(row: dict[str, Any], found: Evaluation) -> str:
    """Return the interval of a row in parentheses."""
    if row.get("ci_low") is None:
        return ""
    return f" ({interval_text(rate_text(row['ci_low']), rate_text(row['ci_high']), found)})"


def interval_text(low: str, high: str, found: Evaluation) -> str:
    """Return an interval with its level."""
    return f"{percent_text(found.options.level)} interval {low} to {high}"


# --- directions ----------------------------------------------------------------------------------


def differences_of_models(found: Evaluation) -> list[dict[str, Any]]:
    """Return the differences over all rows, in the direction of the report."""
    rows = found.of_models.to_dicts()
    return [turned(row) if _is_turned(row, found) else row for row in rows]


def turned_pairs(found: Evaluation) -> set[tuple[str, str]]:
    """Return the pairs of models whose differences are to be turned."""
    rows = found.of_models.to_dicts()
    return {(row["model"], row["baseline"]) for row in rows if _is_turned(row, found)}


def turned(row: dict[str, Any]) -> dict[str, Any]:
    """Return a difference the other way round."""
    sides = {"model": "baseline", "baseline": "model", "value_a": "value_b", "value_b": "value_a"}
    ends = {"difference": "difference", "ci_low": "ci_high", "ci_high": "ci_low"}
    return (
        row
        | {name: row[other] for name, other in sides.items()}
        | {name: negative(row[other]) for name, other in ends.items()}
    )


def negative(value: float | None) -> float | None:
    return None if value is None else -value


def _is_turned(row: dict[str, Any], found: Evaluation) -> bool:
    no_baseline = found.options.baseline is None
    return no_baseline and row["difference"] is not None and row["difference"] < 0
