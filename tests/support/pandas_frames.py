"""Small frames of pandas with a key of any dtype."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest
from kinds import VERBS

ROWS = pl.DataFrame(
    {
        "region": ["b", "a", None, "b"],
        "late": [True, False, True, False],
        "score": [0.9, 0.4, 0.4, 0.2],
        "other": [0.1, 0.2, 0.3, 0.4],
    }
)

every_verb = pytest.mark.parametrize("verb", VERBS)


def ask(verb: str, frame: Any, *columns: Any, **asked: Any) -> Any:
    return getattr(frame.prc, verb)(*columns, **VERBS[verb], **asked)


def with_key(key: Any) -> pd.DataFrame:
    return ROWS.drop("region").to_pandas().assign(key=key)


def category(values: list[Any], order: list[Any], *, ordered: bool) -> pd.Categorical:
    return pd.Categorical(values, categories=order, ordered=ordered)


def values(column: pd.Series) -> list[Any]:
    # An object column may hold None or NaN for a missing value.
    return [None if pd.isna(value) else value for value in column]
