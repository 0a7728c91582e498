"""What every verb does first: it refuses unknown parameters, and unwraps Narwhals frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from frame_prc._engines.engine import in_words_of
from frame_prc._frames.border import takes_narwhals, unwrapped
from frame_prc._request.hints import refuses_unknown

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def verb(function: FunctionT) -> FunctionT:
    """Wrap a public function or method.

    It refuses unknown parameters, unwraps Narwhals frames, and its errors suit the frame.
    """
    is_method = "self" in function.__code__.co_varnames[:1]
    native = takes_narwhals(refuses_unknown(function))

    @wraps(native)
    def call(*args: Any, **named: Any) -> Any:
        first: Any = args[0] if args else named.get("frame")
        with in_words_of(unwrapped(first.frame if is_method else first)):
            return native(*args, **named)

    return cast("FunctionT", call)
