"""What every verb does first: it refuses unknown parameters, and unwraps Narwhals frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from frame_prc._frames.narwhals_frames import takes_narwhals
from frame_prc._request.near_misses import refuses_unknown

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def verb(function: FunctionT) -> FunctionT:
    """Wrap a public function, so that it refuses unknown parameters and unwraps Narwhals frames."""
    return takes_narwhals(refuses_unknown(function))
