"""Between the frames of the tests and the exact rows of the oracle."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import oracle
import polars as pl


def names(by: str | list[str] | None) -> list[str]:
    return [by] if isinstance(by, str) else by or []


def segments(df: pl.DataFrame, by: str | list[str] | None) -> dict[tuple, list[oracle.Row]]:
    """Return the rows of each segment for the oracle, segments in order, null first."""
    rows = {} if by else {(): []}
    for row in df.iter_rows(named=True):
        weight = Fraction(row.get("weight", 1))
        if weight > 0:
            key = tuple(row[name] for name in names(by))
            rows.setdefault(key, []).append(oracle.Row(row["truth"], row["score"], weight))
    return dict(sorted(rows.items(), key=lambda item: [(k is not None, k) for k in item[0]]))


def table(df: pl.DataFrame, by: Any, records: Iterable[tuple], schema: dict) -> pl.DataFrame:
    keys = {name: df.schema[name] for name in names(by)}
    floats = [[float(v) if isinstance(v, Fraction) else v for v in record] for record in records]
    return pl.DataFrame(floats, schema=keys | schema, orient="row", strict=False)
