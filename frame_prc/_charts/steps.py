"""Round steps: of sliders, thresholds and axes."""

from __future__ import annotations

import math
from collections.abc import Sequence


def round_step(step: float, *, up: bool) -> float:
    """Return a power of ten, or twice or five times one, next to a step."""
    if not step > 0:
        return 1.0
    # The logarithm of a step just below a power of ten is rounded to that of the power.
    power = math.floor(math.log10(step))
    choices = [float(f"{digit}e{power + more}") for more in (-1, 0, 1) for digit in (1, 2, 5)]
    return min(c for c in choices if c >= step) if up else max(c for c in choices if c <= step)


def multiple(count: int, step: float) -> float:
    """Return a multiple of a round step without the error of the product."""
    return round(count * step, max(-math.floor(math.log10(step)), 0))


def ticks(low: float, high: float, count: int) -> list[float]:
    """Return up to ``count + 1`` round values from ``low`` to ``high``."""
    step = round_step((high - low) / count, up=True)
    return [multiple(i, step) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def round_end(value: float) -> float:
    """Return the end of an axis from 0 that has room for a value."""
    power = math.floor(math.log10(value)) if value > 0 else 0
    ends = [float(f"{digits}e{power}") for digits in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)]
    return next(end for end in ends if end >= value)


def digits_of(values: Sequence[float]) -> int:
    """Return how many decimals tell all values."""
    texts = (f"{value:.6f}".rstrip("0") for value in values)
    return max((len(text.partition(".")[2]) for text in texts), default=0)
