"""The kinds of frame every behaviour is shown on: made from, and read back to, one Polars frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import optional
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from frame_prc import Draws, _execution

# What the limits are where small frames are treated as large ones are.
SMALL = _execution.Sizes(few=0, many=1, keys=4, stretch=0, group=0, part=100)


@dataclass(frozen=True)
class Kind:
    """How to make a frame of this kind, and how to get the rows of a result.

    ``stores`` returns what a frame of this kind can hold of a Polars frame, if not all.

    ``looks`` says that the values of a frame in memory are looked at to narrow the rank key, which
    is otherwise done from some thousand rows on.
    """

    name: str
    make: Callable[[pl.DataFrame], Any]
    rows: Callable[[Any], pl.DataFrame]
    looks: bool = False
    stores: Callable[[pl.DataFrame], pl.DataFrame] = lambda df: df

    def __str__(self) -> str:
        return self.name


@contextmanager
def looking(*, looks: bool) -> Iterator[None]:
    """Look at the values of small frames as well as of large ones, or of large ones alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_execution, "SIZES", SMALL if looks else _execution.Sizes())
        yield


def _streaming(result: pl.LazyFrame) -> pl.DataFrame:
    return result.collect(engine="streaming")


def _in_memory(result: pl.LazyFrame) -> pl.DataFrame:
    return result.collect(engine="in-memory")


KINDS = [
    kind
    for kind in (
        Kind("DataFrame", lambda df: df, lambda result: result),
        Kind("LazyFrame", pl.DataFrame.lazy, _in_memory),
        Kind("streaming", pl.DataFrame.lazy, _streaming),
        # Computed as a DataFrame is: a look at one of the two, and none at the other, shows both.
        Kind("pandas", pl.DataFrame.to_pandas, pl.from_pandas, looks=True),
    )
    if not optional.is_left_out(kind.name)
]
FRAMES = ("DataFrame", "LazyFrame", "streaming", "pandas", "narrowed")
NARROWED = Kind("narrowed", lambda df: df, lambda result: result, looks=True)
EAGER_KINDS = [kind for kind in KINDS if kind.name in ("DataFrame", "pandas")]
POLARS_KINDS = [*(kind for kind in KINDS if kind.name != "pandas"), NARROWED]
TYPES = {
    "DataFrame": pl.DataFrame,
    "narrowed": pl.DataFrame,
    "LazyFrame": pl.LazyFrame,
    "streaming": pl.LazyFrame,
    "pandas": pd.DataFrame,
}

# What each verb that computes has to be asked for beside its columns.
VERBS = {
    "auc": {},
    "average_precision": {},
    "band": {"recalls": 3, "bootstrap": Draws(50, seed=1)},
    "counts": {},
    "curve": {},
    "operating_points": {"recall": 0.5},
    "summary": {},
}

every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
every_eager_kind = pytest.mark.parametrize("kind", EAGER_KINDS, ids=str)
every_polars_kind = pytest.mark.parametrize("kind", POLARS_KINDS, ids=str)


def assert_rows(kind: Kind, result: Any, expected: pl.DataFrame, **tolerance: float) -> None:
    """Compare a result with the rows expected, exactly unless a tolerance is given.

    NumPy has no null for integers and Booleans, nor a dtype for nothing but nulls or dates: a
    frame that went through pandas is compared by its values, any other by its dtypes as well.
    """
    rows = kind.rows(result)
    if kind.name == "pandas":
        rows = rows.cast(dict(expected.schema))
    assert_frame_equal(rows, expected, check_exact=not tolerance, **tolerance)
