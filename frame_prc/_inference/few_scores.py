"""Models whose scores have at most two values: predictions, not scores.

0/1 predictions have one threshold, and their average precision is that of a single point. It says
nothing of how a model ranks.
"""

from __future__ import annotations

import polars as pl

from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._formulas import without_nan
from frame_prc._lazy import aggregated, left_join
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.rules import SUMS

_STATUS = pl.col("status")


def models_with_few_scores(rows: Rows) -> pl.LazyFrame:
    """Return the key of each model, if rows have one, and whether it has ``few_scores``."""
    few = _at_ends("score", rows).alias(FEW_SCORES)
    return aggregated(_that_count(rows), rows.model_keys, few)


def with_few_scores(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Replace the status ``"ok"`` in the rows of such models."""
    found = left_join(table, models_with_few_scores(rows), rows.model_keys)
    return _with_status(found, pl.col(FEW_SCORES)).drop(FEW_SCORES)


def with_few_scores_of_pairs(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Replace the status ``"ok"`` where one of two models is such a one."""
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    flags = {f"few_{i}": _at_ends(f"score_{i}", wide) for i in range(len(names))}
    found = left_join(table, _that_count(wide).select(**flags), [])
    of_pair = (
        pl.col(flag) & pl.any_horizontal(pl.col("model", "baseline") == name)
        for flag, name in zip(flags, names, strict=True)
    )
    return _with_status(found, pl.any_horizontal(of_pair)).drop(*flags)


def _that_count(rows: Rows) -> pl.LazyFrame:
    """Return the rows that stand for any."""
    if not (rows.has_counts or rows.columns.weighted):
        return rows.used()
    amounts = SUMS if rows.has_counts else ("weight",)
    return rows.used().filter(pl.any_horizontal(pl.col(name) > 0 for name in amounts))


def _at_ends(name: str, rows: Rows) -> pl.Expr:
    """Return whether all scores are the lowest or the highest of a model."""
    score = without_nan(pl.col(name), rows.score_dtype)
    return ((score == score.min()) | (score == score.max())).all()


def _with_status(table: pl.LazyFrame, few_scores: pl.Expr) -> pl.LazyFrame:
    """Update the status, in which any other reason comes first."""
    few = (_STATUS == "ok") & few_scores
    status = pl.when(few).then(pl.lit(FEW_SCORES)).otherwise(_STATUS)
    return table.with_columns(status.alias("status"))
