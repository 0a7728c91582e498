"""What a chart may be asked to draw, made from the same rows."""

from __future__ import annotations

from typing import Any

import polars as pl

CHART_INPUTS = ("rows", "two keys", "lazy", "pandas", "counts", "curve")


def chart_input(
    given: str, rows: pl.DataFrame, score: str, keys: tuple[str, str]
) -> tuple[Any, dict[str, Any]]:
    """Return a frame of one of these kinds, and how to ask for a line per first key, or both."""
    by = [*keys] if given == "two keys" else keys[0]
    counted = {"score": "threshold", "pos": "pos", "neg": "neg"}
    asked = {"curve": {}, "counts": {**counted, "by": by}}.get(
        given, {"truth": "late", "score": score, "by": by}
    )
    make = {
        "lazy": pl.DataFrame.lazy,
        "pandas": pl.DataFrame.to_pandas,
        "counts": lambda rows: rows.prc.counts("late", score, by=by),
        "curve": lambda rows: rows.prc.curve("late", score, by=by),
    }
    return make.get(given, pl.DataFrame.clone)(rows), asked
