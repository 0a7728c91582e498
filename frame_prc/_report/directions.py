"""Which of two models is subtracted from which, alike in all tables of a report.

It is the one with the smaller average precision over all rows, or the baseline if one is given.
"""

from __future__ import annotations

from typing import Any

from frame_prc._report.evaluation import Evaluation


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
    sides = {"model": "baseline", "baseline": "model", "ap_a": "ap_b", "ap_b": "ap_a"}
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
