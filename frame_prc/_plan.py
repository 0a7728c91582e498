"""What the plans of all verbs are joined with: frames computed once, and steps in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import polars as pl

from frame_prc._columns import named

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

# Before 1.41 a cached scan reads every column; there each branch of the plan scans its own.
_CACHE_KEEPS_PROJECTION = tuple(int(part) for part in pl.__version__.split(".")[:2]) >= (1, 41)


def once(lf: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame that is computed once, however many branches of a plan use it."""
    return lf.cache() if _CACHE_KEEPS_PROJECTION else lf


def matched(left: FrameT, right: FrameT, keys: Sequence[str], *, in_order: bool = True) -> FrameT:
    """Return rows with what another frame has for their keys, where null is null and NaN is NaN.

    Without keys the other frame has a single row, which is for all.
    """
    order: Literal["left", "none"] = "left" if in_order else "none"
    if not keys:
        return left.join(right, how="cross", maintain_order=order)
    on: list[pl.Expr] = [named(key) for key in keys]
    if len(keys) > 1 or not right.collect_schema()[keys[0]].is_float():
        return left.join(right, on=on, how="left", nulls_equal=True, maintain_order=order)
    # Two sorted columns are merged by ==, for which NaN is not itself: not so two columns at once.
    is_nan = on[0].is_nan().alias(_NAN)
    left, right = left.with_columns(is_nan), right.with_columns(is_nan)
    on = [*on, pl.col(_NAN)]
    joined = left.join(right, on=on, how="left", nulls_equal=True, maintain_order=order)
    return joined.drop(_NAN)


_NAN = "\0nan"  # no column is called so


def in_python(
    lf: pl.LazyFrame, step: Callable[[pl.DataFrame], pl.DataFrame], schema: pl.Schema
) -> pl.LazyFrame:
    """Return what a function makes of a whole frame at collect, whatever is taken of it after."""
    return lf.map_batches(
        step,
        schema=schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
