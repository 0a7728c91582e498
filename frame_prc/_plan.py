"""What the plans of all verbs are joined with: frames computed once, and steps in Python."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

# Before 1.41 a cached scan reads every column; there each branch of the plan scans its own.
_CACHE_KEEPS_PROJECTION = tuple(int(part) for part in pl.__version__.split(".")[:2]) >= (1, 41)


def once(lf: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame that is computed once, however many branches of a plan use it."""
    return lf.cache() if _CACHE_KEEPS_PROJECTION else lf


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
