"""Thresholds as text, with as few digits as tell them apart from the others."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

_DIGITS = 4  # significant, at least
_SHORT = 8  # characters
_LEAST = 1e-4  # what is smaller has an exponent


def threshold_texts(values: Sequence[float], texts: Sequence[str]) -> list[str]:
    """Return a short text for each threshold, to which it is the nearest of all.

    ``values`` ascend, and ``texts`` have all of their digits.
    """
    return [
        text if len(text) <= _SHORT else _shortened(place, values, text)
        for place, text in enumerate(texts)
    ]


def _shortened(place: int, values: Sequence[float], text: str) -> str:
    value = values[place]
    for digits in range(_DIGITS, len(text)):
        candidate = _with_digits(value, digits)
        if len(candidate) >= len(text):
            break
        if _nearest(float(candidate), values) == place:
            return candidate
    return text


def _with_digits(value: float, digits: int) -> str:
    """Return a number with some significant digits, and with all of its integer part."""
    if not _LEAST <= abs(value) < 1 / _LEAST**3:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def _nearest(wanted: float, values: Sequence[float]) -> int:
    """Return the place of the nearest value, the first of equals."""
    after = bisect_left(values, wanted)
    places = range(max(0, after - 1), min(after + 1, len(values)))
    return min(places, key=lambda place: abs(values[place] - wanted))
