"""Bounds of an average precision where the order within a tie or a bin is unknown.

What is a tie is decided in :mod:`frame_prc._ranking.rank_key`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import polars as pl

from frame_prc._formulas import library, minus_log1p, step_area, total
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import TIES, running

TIE_BOUNDS = ("ap_lowest", "ap_highest")

Col: TypeAlias = Callable[[str], Any]


def tie_bounds(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment`` and the bounds of its average precision over all orders within ties."""
    tp, tp_a = pl.col("tp"), pl.col("tp_a")
    adds = ranking.key.retrieved() & ~pl.col("opens") & (tp > tp_a)
    ties = running(ranking, TIES).with_columns(tp_a=tp.shift(1), fp_a=pl.col("fp").shift(1))
    for columns in bounds_of_tie(pl.col, weighted=ranking.rows.columns.weighted):
        ties = ties.with_columns(**columns)
    terms = {name: pl.when(adds).then(name) for name in TIE_BOUNDS}
    totals = (total(pl.col(name)) for name in TIE_BOUNDS)
    by_segment = ties.with_columns(**terms).group_by("segment")
    sums = by_segment.agg(*totals, has_positives=(pl.col("positives") > 0).any())
    defined = [pl.when("has_positives").then(pl.col(name)).alias(name) for name in TIE_BOUNDS]
    return sums.select("segment", *defined)


def bounds_of_tie(col: Col, *, weighted: bool) -> Iterator[dict[str, Any]]:
    """Yield the columns of the least and the most that a tie can add, one after the other.

    A tie has sums ``tp`` and ``fp`` at its end, ``tp_a`` and ``fp_a`` before it, and ``positives``.

    The least is that of all its negatives first, then its positives one by one. The j-th positive
    then adds ``(T + j) / (T + j + F)``, with T true positives before the tie and F false positives
    at its end. An integral bounds the sum over j from below: from T + 1/2 for rows, as 1/x is
    convex, and from T for weights, which can be divided without limit.
    """
    fp, gain = col("fp"), col("tp") - col("tp_a")
    start = col("tp_a") + (0.0 if weighted else 0.5)
    retrieved = start + fp
    # Each step is a column, as engines repeat an operand of a division, and so of all within it.
    yield {"share_of_tie": gain / retrieved}
    # gain - F log(1 + gain / (T + F)), arranged so that nothing cancels.
    area = gain * (start / retrieved) + fp * minus_log1p(col("share_of_tie"))
    yield {"least_of_tie": library(fp).when(fp > 0).then(area).otherwise(gain)}
    yield {
        "ap_lowest": col("least_of_tie") / col("positives"),
        "ap_highest": step_area(gain, col("tp"), col("fp_a"), col("positives")),
    }
