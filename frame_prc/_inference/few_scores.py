"""Models whose scores have at most two values: predictions, not scores.

0/1 predictions have one threshold, and their average precision is that of a single point. It says
nothing of how a model ranks.
"""

from __future__ import annotations

from functools import partial

import polars as pl
import polars.selectors as cs

from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._formulas import without_nan
from frame_prc._lazy import aggregated, left_join
from frame_prc._ranking.narrow_keys import sampled_scores
from frame_prc._rows.rows import Rows, side_by_side

_STATUS = pl.col("status")
# So many scores of a sample are more than two, null and NaN.
_SAMPLE, _FEW = 1_000, 4


def models_with_few_scores(rows: Rows) -> pl.LazyFrame:
    """Return the key of each model, if rows have one, and whether it has ``few_scores``."""
    if rows.elsewhere is not None:
        found: pl.LazyFrame = rows.elsewhere.few_scores(rows)
        return found
    return rows.keep_table(FEW_SCORES, partial(_with_few_scores, rows))


def _with_few_scores(rows: Rows) -> pl.LazyFrame:
    samples = sampled_scores(rows, _SAMPLE) if rows.many_in_memory and not rows.model_keys else []
    if samples and samples[0].n_unique() > _FEW:
        return pl.LazyFrame({FEW_SCORES: [False]})
    if len(rows.columns.scores) == 1:
        return _used(aggregated(rows.used(), rows.model_keys, few_scores=_at_ends("score", rows)))
    # Side by side, models need no groups.
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    used = wide.frame
    if wide.usable is not None:  # each model has rows of its own, of those with a truth
        used = used.filter(pl.all_horizontal(pl.col(*wide.columns.classes).is_not_null()))
    flags = _flags(used, wide)
    [key] = rows.model_keys
    long = flags.select(
        pl.lit(names, dtype=pl.List(pl.String)).alias(key),
        pl.concat_list(cs.all()).alias(FEW_SCORES),
    )
    return long.explode(key, FEW_SCORES, empty_as_null=False)


def with_few_scores(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Replace the status ``"ok"`` in the rows of such models."""
    found = left_join(table, models_with_few_scores(rows), rows.model_keys)
    return _with_status(found, pl.col(FEW_SCORES)).drop(FEW_SCORES)


def with_few_scores_of_pairs(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Replace the status ``"ok"`` where one of two models is such a one."""
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    there = rows.elsewhere
    flags = _flags(wide.used(), wide) if there is None else there.few_scores_of_pairs(wide)
    flagged = [f"few_{i}" for i in range(len(names))]
    of_pair = (
        pl.col(flag) & pl.any_horizontal(pl.col("model", "baseline") == name)
        for flag, name in zip(flagged, names, strict=True)
    )
    found = left_join(table, flags, [])
    return _with_status(found, pl.any_horizontal(of_pair)).drop(flagged)


def _flags(used: pl.LazyFrame, wide: Rows) -> pl.LazyFrame:
    """Return one row with ``few_0, few_1, ...`` of models side by side."""
    places = range(len(wide.columns.scores))
    return _used(used.select(_at_ends(f"score_{i}", wide).alias(f"few_{i}") for i in places))


def _used(flags: pl.LazyFrame) -> pl.LazyFrame:
    """Return the same flags, in rows whose number is right where none of them is looked at."""
    # Always true. Of an aggregate that is not used Polars 1.41 takes the height of its input.
    return flags.filter(pl.all_horizontal(cs.starts_with("few_").is_not_null()))


def _at_ends(name: str, rows: Rows) -> pl.Expr:
    """Return whether all scores are the lowest or the highest of a model."""
    score = without_nan(pl.col(name), rows.score_dtype)
    return ((score == score.min()) | (score == score.max())).all()


def _with_status(table: pl.LazyFrame, few_scores: pl.Expr) -> pl.LazyFrame:
    """Update the status, in which any other reason comes first."""
    few = (_STATUS == "ok") & few_scores
    status = pl.when(few).then(pl.lit(FEW_SCORES)).otherwise(_STATUS)
    return table.with_columns(status.alias("status"))
