"""What every verb does first: it refuses unknown parameters, and unwraps Narwhals frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from frame_prc._frames.narwhals_frames import takes_narwhals
from frame_prc._request import near_misses

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def verb(function: FunctionT) -> FunctionT:
    """Return a function as a verb."""
    return takes_narwhals(near_misses.verb(function))
