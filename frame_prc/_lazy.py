"""Building blocks of query plans: frames computed once, joins, and steps in Python.

A step in Python needs the interpreter's lock. If every thread of the Polars pool waits for one that
holds it and waits for the pool, as in ``to_pandas``, they deadlock. So plans of eager frames have
no such step, and in lazy ones joins and concatenations compute their inputs in turn, on one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

import polars as pl
import polars.selectors as cs

FrameT = TypeVar("FrameT", pl.DataFrame, pl.LazyFrame)

# From Polars 1.42 on, only "horizontal_extend" fills up shorter frames, and "horizontal" raises.
_BESIDE: Any = "horizontal" if pl.__version__.startswith("1.41.") else "horizontal_extend"


# For functions that make expressions: on a small frame that takes longer than computing them.
remembered = lru_cache(maxsize=256)


def cached(lf: pl.LazyFrame) -> pl.LazyFrame:
    """Return a frame that is computed once, however many branches of a plan use it."""
    return lf.cache()


def join(left: FrameT, right: FrameT, **how: Any) -> FrameT:
    """Join two frames; lazy ones are computed one after the other."""
    if isinstance(left, pl.LazyFrame):
        return left.join(right, **how, allow_parallel=False)
    return left.join(right, **how)


def concat(frames: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Stack frames in their common dtypes, in turn; before a sort Polars may keep no order."""
    return pl.concat(frames, how="vertical_relaxed", parallel=False)


def beside(frames: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Put frames side by side, computed one after the other; shorter ones end in nulls."""
    return pl.concat(frames, how=_BESIDE, parallel=False)


def segment_join(table: pl.LazyFrame, other: pl.LazyFrame) -> pl.LazyFrame:
    """Add the columns of another frame by the number of the segment."""
    return join(table, other, on="segment", how="left", maintain_order="left")


def left_join(left: FrameT, right: FrameT, keys: Sequence[str], *, in_order: bool = True) -> FrameT:
    """Add the columns of another frame by key; null matches null, and NaN matches NaN."""
    order: Literal["left", "none"] = "left" if in_order else "none"
    if not keys:
        return join(left, right, how="cross", maintain_order=order)
    # A join would read a name such as "^a.*$" as a pattern.
    plain: dict[str, str] = {key: f"\0key_{number}" for number, key in enumerate(keys)}
    left, right = left.rename(plain), right.rename(plain)
    is_nan: list[pl.Expr] = []
    if len(keys) == 1 and right.collect_schema()["\0key_0"].is_float():
        # Polars merges on one sorted key by ==, and NaN != NaN. A second key prevents the merge.
        is_nan = [pl.col("\0key_0").is_nan().alias("\0nan")]
    joined = join(
        left.with_columns(is_nan),
        right.with_columns(is_nan),
        on=[*plain.values(), *(["\0nan"] if is_nan else [])],
        how="left",
        nulls_equal=True,
        maintain_order=order,
    )
    return joined.drop("\0nan", strict=False).rename({name: key for key, name in plain.items()})


def over(value: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """Return a value within each combination of keys; without keys, within all rows."""
    return value.over(keys) if keys else value


def aggregated(
    lf: pl.LazyFrame, keys: Sequence[str], *aggregates: pl.Expr, **named: pl.Expr
) -> pl.LazyFrame:
    """Return a row for each value of the keys; without keys one row, even if there are no rows."""
    if keys:
        return lf.group_by(keys).agg(*aggregates, **named)
    return lf.select(*aggregates, **named)


def parts_by(frame: pl.DataFrame, keys: Sequence[str]) -> list[pl.DataFrame]:
    """Return the rows of each value of the keys; without keys all rows, even if there are none."""
    return frame.partition_by(keys, maintain_order=True) if keys else [frame]


def in_order(values: pl.Expr) -> pl.Expr:
    """Return the sum of the values in their order: that of a group differs in the last digit."""
    return values.implode().list.sum()


def mean_in_order(values: pl.Expr) -> pl.Expr:
    """Return the mean of the values of a group, added up in their order."""
    return values.implode().list.mean()


def key_names(count: int) -> list[str]:
    return [f"key_{i}" for i in range(count)]


@remembered
def named(name: str) -> pl.Expr:
    """Return the column of a name, even if ``pl.col`` would read it as a pattern."""
    is_pattern = name.startswith("^") or name == "*"
    return cs.by_name(name).as_expr() if is_pattern else pl.col(name)
