"""Running sums over clusters: of the squares and the product of their counts at each threshold.

With TP_c and FP_c the rows of cluster c that a threshold retrieves, the variance of the precision
needs the sums over c of TP_c^2, TP_c * FP_c and FP_c^2. A row adds to them what its own cluster has
so far, so rows in ranking order give the sums at every threshold. A cluster with rows in several
segments is a cluster of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from frame_prc._lazy import cached, left_join
from frame_prc._ranking.rank_key import RankKey
from frame_prc._ranking.segments import key_bounds
from frame_prc._rows.columns import Column

CLUSTER_SUMS = ("tp_squared", "tp_times_fp", "fp_squared")

_POS, _NEG, _TP, _FP = (pl.col(name) for name in ("pos", "neg", "cluster_tp", "cluster_fp"))


def with_cluster_numbers(frame: pl.LazyFrame, column: Column | None) -> pl.LazyFrame:
    """Replace the clusters by integers, which sort fast."""
    if column is not None and key_bounds(column.dtype) is not None:
        return frame.with_columns(pl.col("cluster").to_physical())
    frame = cached(frame)
    numbers = frame.select("cluster").unique().with_row_index("number")
    joined = left_join(frame, numbers, ["cluster"], in_order=False)
    return joined.drop("cluster").rename({"number": "cluster"})


def with_cluster_sums(
    ranked: pl.LazyFrame, key: RankKey, amounts: Mapping[str, pl.Expr], carried: Sequence[str]
) -> pl.LazyFrame:
    """Replace the cluster of each row by the running sums over all clusters, as integers."""
    own = {name: amount.cast(pl.Int64) for name, amount in amounts.items()}
    # Rows stay in ranking order within a cluster, so its segments follow one another. A window for
    # each cluster takes ten times as long if there are hundreds of thousands.
    by_cluster = (
        ranked.with_columns(**own)
        .with_row_index("place")
        .with_columns(key.segment())
        .sort("cluster", maintain_order=True)
    )
    begins = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in ("cluster", "segment")
    )
    so_far = {name: _within(amount, begins) for name, amount in (("tp", _POS), ("fp", _NEG))}
    added = by_cluster.with_columns(**{f"cluster_{n}": e for n, e in so_far.items()}).select(
        "rank_key",
        *carried,
        "place",
        tp_squared=_POS * (2 * _TP - _POS),
        tp_times_fp=_POS * _FP + _NEG * _TP - _POS * _NEG,
        fp_squared=_NEG * (2 * _FP - _NEG),
    )
    in_order = added.sort("place").drop("place")
    return in_order.with_columns(pl.col(CLUSTER_SUMS).cum_sum())


def _within(amount: pl.Expr, begins: pl.Expr) -> pl.Expr:
    """Return the running sum of an amount since rows at which a group begins."""
    total = amount.cum_sum()
    return total - pl.when(begins).then(total - amount).forward_fill()
