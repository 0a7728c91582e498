"""Bounds of an average precision where the order within a tie or a bin is unknown.

What is a tie is decided in :mod:`frame_prc._ranking.rank_key`.
"""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import minus_log1p, step_area, total
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import TIES, running

TIE_BOUNDS = ("ap_lowest", "ap_highest")

_TP, _FP, _TP_A, _FP_A = pl.col("tp"), pl.col("fp"), pl.col("tp_a"), pl.col("fp_a")
_POSITIVES = pl.col("positives")


def tie_bounds(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment`` and the bounds of its average precision over all orders within ties.

    As in the area, rows that no threshold reaches are never retrieved and add nothing.
    """
    bounds = {
        "ap_lowest": _lowest(weighted=ranking.rows.columns.weighted),
        "ap_highest": step_area(_TP - _TP_A, _TP, _FP_A, _POSITIVES),
    }
    adds = ranking.key.retrieved() & ~pl.col("opens") & (_TP > _TP_A)
    terms = {name: pl.when(adds).then(bound) for name, bound in bounds.items()}
    ties = running(ranking, TIES).with_columns(tp_a=_TP.shift(1), fp_a=_FP.shift(1))
    totals = (total(pl.col(name)) for name in TIE_BOUNDS)
    by_segment = ties.with_columns(**terms).group_by("segment")
    sums = by_segment.agg(*totals, has_positives=(_POSITIVES > 0).any())
    defined = [pl.when("has_positives").then(pl.col(name)).alias(name) for name in TIE_BOUNDS]
    return sums.select("segment", *defined)


def _lowest(*, weighted: bool) -> pl.Expr:
    """Return the least a tie can add: all its negatives first, then its positives one by one.

    The j-th positive then adds ``(T + j) / (T + j + F)``, with T true positives before the tie and
    F false positives at its end. An integral bounds the sum over j from below: from T + 1/2 for
    rows, as 1/x is convex, and from T for weights, which can be divided without limit.
    """
    half = 0.0 if weighted else 0.5
    gain, start = _TP - _TP_A, _TP_A + half
    retrieved = start + _FP
    growth = gain / retrieved
    # gain - F log(1 + gain / (T + F)), arranged so that nothing cancels.
    area = gain * (start / retrieved) + _FP * minus_log1p(growth)
    return pl.when(_FP > 0).then(area).otherwise(gain) / _POSITIVES
