"""Narwhals frames: verbs get the frame inside, and give a frame back as Narwhals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from frame_prc._engines.engine import class_of, engine_of
from frame_prc._frames.border import is_frame

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def takes_narwhals(verb: FunctionT) -> FunctionT:
    """Return a verb that also takes Narwhals frames; its result is one if the first frame is."""

    @wraps(verb)
    def call(*args: Any, **named: Any) -> Any:
        first = args[0] if args else named.get("frame")
        native = {name: unwrapped(value) for name, value in named.items()}
        result = verb(*map(unwrapped, args), **native)
        return wrapped(result, first)

    return cast("FunctionT", call)


def _is_narwhals(value: object) -> bool:
    # The classes of narwhals.stable are subclasses of these.
    kinds = [class_of("narwhals", name) for name in ("DataFrame", "LazyFrame")]
    return any(isinstance(value, kind) for kind in kinds)


def unwrapped(value: Any) -> Any:
    """Return the frame inside of a Narwhals frame, and anything else as it is."""
    return value.to_native() if _is_narwhals(value) else value


def wrapped(result: Any, like: object) -> Any:
    """Return a frame as Narwhals of the same version as another one, if that is Narwhals."""
    if not _is_narwhals(like) or not (is_frame(result) or engine_of(result)):
        return result
    module = sys.modules[type(like).__module__]  # narwhals.stable.v1, or narwhals.dataframe
    version = module if hasattr(module, "from_native") else sys.modules["narwhals"]
    return version.from_native(result)
