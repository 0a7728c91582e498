"""Counts inside an engine: of rows, and of parts."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from frame_prc._curves.counts import Counts
from frame_prc._engines.operations import Engine, Order
from frame_prc._engines.rows import Counted, bin_end, count
from frame_prc._request.roles import Request
from frame_prc._request.thresholds import Bins


def counts(engine: Engine, frame: Any, request: Request, bins: Bins | None) -> Any:
    """Return positives and negatives at each distinct score, or in each bin that holds rows."""
    table = Counts(bins)
    counted = count(engine, frame, request, table.reserved, bins, every_bin=False)
    held = counted.frame.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    tidy = held.with_columns(threshold=counted.score)
    if bins is not None:
        tidy = tidy.with_columns(bin_end(tidy, bins).alias(bins.other_end))
    return counted.finish(tidy, table.outputs, [in_ranking_order(counted)])


def in_ranking_order(counted: Counted) -> Order:
    """Return the order of the thresholds of a segment."""
    return Order("threshold", descending=not counted.ascending)
