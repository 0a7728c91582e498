"""Bins of probabilities inside an engine: sums by segment and bin, and over clusters in a bin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import narwhals as nw

from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted

_POS, _NEG = (nw.col(name).cast(nw.Float64) for name in ("pos", "neg"))
_SUMS = ("weighted", "spread", "tp", "fp", "rows", "squared_misses")


def bins_of_rows(counted: Counted, edges: Sequence[float]) -> Frame:
    """Return a row per segment and bin that has rows.

    ``weighted`` and ``spread`` are sums over the rows, ``tp, fp`` their weights, ``rows`` their
    number and ``squared_misses`` the sum of the squared weights of negatives. ``hits_squared,
    hits_sized, sized`` are sums of products of the hits and the sizes of clusters, or of rows if
    there are none.
    """
    number = [nw.when(nw.col("p") >= edge).then(1).otherwise(0) for edge in [*edges][1:-1]]
    used = (nw.col("pos") > 0) | (nw.col("neg") > 0)
    placed = (
        counted.single.filter(used & ~nw.col("score").is_null())
        .with_columns(p=counted.score.cast(nw.Float64))
        .with_columns(bin=reduce(add, number, nw.lit(0)))
    )
    p = nw.col("p")
    each = placed.with_columns(
        weighted=(_POS + _NEG) * p,
        spread=(_POS + _NEG) * (p * (1 - p)).clip(0.0, 1.0),
        tp=_POS,
        fp=_NEG,
        rows=nw.lit(1),
        squared_misses=_NEG * _NEG,
    )
    keys = [*(counted.keys if counted.columns.result_keys else []), "bin"]
    if counted.columns.cluster is not None:
        each = each.group_by(*keys, "cluster").agg(nw.col(*_SUMS).sum())
    size = nw.col("tp") + nw.col("fp")
    return (
        each.with_columns(
            hits_squared=nw.col("tp") * nw.col("tp"),
            hits_sized=nw.col("tp") * size,
            sized=size * size,
        )
        .group_by(*keys)
        .agg(
            nw.col("rows").sum().cast(nw.Int64),
            nw.col(*(name for name in _SUMS if name != "rows")).sum(),
            nw.col("hits_squared", "hits_sized", "sized").sum(),
        )
    )
