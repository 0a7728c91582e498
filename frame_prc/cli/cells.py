"""The values of a column as text for a reader: numbers with few digits."""

from __future__ import annotations

from typing import Any

import polars as pl

_SMALLEST, _LARGEST = 1e-3, 1e6
# Shown with all digits, because a rounded threshold retrieves other rows.
_EXACT = ("threshold", "below", "above", "best_f1_threshold")


def texts(values: pl.Series, missing: str) -> list[str]:
    """Return the text of each value, with 4 decimals unless it is a threshold."""
    exact = values.cast(pl.String) if values.name in _EXACT else values
    return [missing if value is None else _text(value) for value in exact]


def _text(value: Any) -> str:
    if isinstance(value, float):
        plain = value == 0 or _SMALLEST <= abs(value) < _LARGEST
        return f"{value:.4f}" if plain else f"{value:.4g}"
    return str(value)
