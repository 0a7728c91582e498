"""Segments inside an engine: their sums, and tables with several rows for each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from frame_prc._engines.operations import Frame, Order
from frame_prc._engines.rows import Counted
from frame_prc._rows.rows import DROPPED

# The column that rows of one segment are sorted by; no key may have its name.
ORDER = "frame_prc_order"


def by_segment(sums: Frame, counted: Counted, aggregates: Mapping[str, nw.Expr]) -> Frame:
    """Return a row per segment: its totals, the rows that were dropped, and other aggregates."""
    columns = [
        # As in the curve, to the last digit; 0 without rows.
        nw.col("positives", "negatives").max().fill_null(0).cast(counted.amount),
        nw.col("dropped").sum().cast(nw.Int64).alias(*DROPPED),
        *(value.alias(name) for name, value in aggregates.items()),
    ]
    # Without keys the result has one row, even if the frame has none.
    keyed = counted.columns.result_keys
    return sums.group_by(*counted.keys).agg(*columns) if keyed else sums.select(*columns)


def several_rows(table: Frame, counted: Counted, rows: Sequence[Mapping[str, nw.Expr]]) -> Frame:
    """Return several rows for each row of a table, numbered by ``ORDER``."""
    long = counted.engine.repeat(table, ORDER, len(rows))
    return long.with_columns(**{name: _of_place([row[name] for row in rows]) for name in rows[0]})


def _of_place(values: Sequence[nw.Expr]) -> nw.Expr:
    found, *others = values
    for place, value in enumerate(others, 1):
        found = nw.when(nw.col(ORDER) == place).then(value).otherwise(found)
    return found


def finish_in_order(table: Frame, counted: Counted, outputs: Sequence[str]) -> Any:
    """Return the engine's own frame, the rows of each segment in their order."""
    native = counted.finish(table, [*outputs, ORDER], [Order(ORDER)])
    return nw.from_native(native).drop(ORDER).to_native()
