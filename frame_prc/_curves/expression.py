"""Average precision as one Polars expression, for any aggregation."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import step_area


def rank_expression(positive: pl.Expr, score: pl.Expr, *, ascending: bool) -> pl.Expr:
    """Return the average precision of a group, the mean ratio of two ranks over its positives."""
    found = score.filter(positive).rank("max", descending=not ascending)
    retrieved = score.rank("max", descending=not ascending).filter(positive)
    return (found / retrieved).mean()


def weighted_expression(
    positive: pl.Expr, score: pl.Expr, weight: pl.Expr, *, ascending: bool
) -> pl.Expr:
    """Return the weighted average precision of a group, from sums over its sorted scores."""
    ranked = score.sort(descending=not ascending)
    ends_tie = (ranked != ranked.shift(-1)).fill_null(value=True)

    def running_sum(amount: pl.Expr) -> pl.Expr:
        return amount.sort_by(score, descending=not ascending).cum_sum().filter(ends_tie)

    hits = pl.when(positive).then(weight).otherwise(0.0)
    tp, fp, positives = running_sum(hits), running_sum(weight - hits), hits.sum()
    gain = tp - tp.shift(1, fill_value=0.0)
    steps = pl.when(gain > 0).then(step_area(gain, tp, fp, positives)).sum()
    return pl.when(positives > 0).then(steps)
