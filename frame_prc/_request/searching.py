"""The options of what is looked for: segments that differ, and weeks in which something changed."""

from __future__ import annotations

from typing import Any

from frame_prc._request.options import is_integer, is_list, is_number
from frame_prc._request.roles import Request
from frame_prc._request.specs import Measured
from frame_prc.exceptions import OptionError, shown

_MOST, _LEAST = 0.99, 0.5
_PAIR, _LEAST_PERIODS, _MOST_LOOKS = 2, 2, 1000


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an integer from ``least`` to ``most``."""
    if not is_integer(value) or value < least or (most is not None and value > most):
        allowed = (
            f"an integer of {least} or more"
            if most is None
            else f"an integer from {least} to {most}"
        )
        raise OptionError(f"{name}={shown(value)} is out of range", allowed)
    return int(value)


def check_one_model(request: Request) -> None:
    """Refuse several models."""
    if request.model is not None or len(request.models) > 1:
        raise OptionError(
            "several models are given, and segments of one are looked for",
            "one model",
            "call it for each: the rows of one score, or those of one value of model=",
        )


def check_searched(request: Request, level: float) -> None:
    """Refuse to look at no columns, or with more certainty than draws can give."""
    if not request.keys:
        raise OptionError(
            "by= is not given",
            "by= with the columns to look at",
            "columns= names them for this call alone",
            shell_hint=None,
        )
    if not _LEAST <= level <= _MOST:
        raise OptionError(f"ci={level:g} is out of range", f"a number from {_LEAST} to {_MOST}")


def plan_of(plan: Any) -> tuple[int, int]:
    """Return how many periods are the reference, and how many are looked at."""
    numbers = list(plan) if is_list(plan) else []
    fits = len(numbers) == _PAIR and all(map(is_integer, numbers))
    in_range = fits and _LEAST_PERIODS <= numbers[0] <= _MOST_LOOKS and numbers[1] >= 1
    if not in_range or numbers[1] > _MOST_LOOKS:
        raise OptionError(
            f"plan={shown(plan)} is not a plan",
            f"(periods of reference, looks): {_LEAST_PERIODS} to {_MOST_LOOKS:,} periods, and 1 to "
            f"{_MOST_LOOKS:,} looks",
            "plan=(8, 52) compares each week of a year with the eight weeks before it",
        )
    return int(numbers[0]), int(numbers[1])


def window_of(window: Any, first: int) -> int:
    """Return how many periods are evaluated together; the reference must hold two windows."""
    size = whole("window", window, 1)
    if first < _PAIR * size:
        raise OptionError(
            f"window={size} is given with a reference of {first} periods",
            f"a reference of {_PAIR * size} periods or more, two windows",
        )
    return size


def held_measure(measured: Measured, calibrate: Any) -> Measured:
    """Refuse a prevalence that would change from call to call."""
    if measured.calibration is not None and not is_number(calibrate):
        raise OptionError(
            "calibrate= is not a number"
            if calibrate is not None
            else "calibrate= is not given, and the measure is calibrated",
            "a number, the prevalence that all periods are calibrated to, such as calibrate=0.1",
        )
    return measured
