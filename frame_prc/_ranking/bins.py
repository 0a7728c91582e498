"""Bins: counts of the scores between two thresholds, in a single pass over the rows."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from frame_prc._ranking.rank_key import Scale
from frame_prc._request.specs import IntoColumn
from frame_prc._request.values import Bins
from frame_prc._rows.checks import check_of
from frame_prc._rows.columns import check_numeric, find_column, project
from frame_prc._rows.rows import Rows, computed
from frame_prc._rows.rules import COUNT_LIMIT, bin_rules, is_improbable
from frame_prc.exceptions import DataError

_SCORE, _PLACE = pl.col("score"), pl.col("place")

_SUSPECT = 2**20 - 1  # more than the most thresholds


def count_bins(
    rows: Rows,
    bins: Bins,
    *,
    squares: bool = False,
    clusters: bool = False,
) -> Rows:
    """Return rows that each hold the counts of a bin, with its level in place of the score."""
    bins = bins.of(rows.score_dtype)
    last = len(bins.thresholds) - 1
    in_none = last + 1
    placed_first = pl.col("level") if bins.ascending else last - pl.col("level")
    reached = placed_first.fill_null(in_none)
    improbable = is_improbable(_SCORE.cast(pl.Float64)) & pl.lit(bins.of_probabilities)
    place = (
        pl.when("suspect")
        .then(_SUSPECT)
        .when(_SCORE.is_null() if rows.usable is None else ~rows.usable)
        .then(in_none)
        .when(improbable)
        .then(_SUSPECT)
        .otherwise(reached)
    )
    levelled = bins.with_level(rows.frame, in_memory=rows.in_memory)
    amounts = _amounts(rows, squares=squares)
    placed = levelled.with_columns(place=place.cast(pl.Int64))
    others = ["cluster"] if clusters else []
    cell = [*rows.keys, "place"]
    counted = placed.group_by(*cell, *others).agg(**amounts).sort(cell)
    checked = _checked(rows, counted, bins)
    level = _PLACE if bins.ascending else last - _PLACE
    level = pl.when(last >= _PLACE).then(level).cast(pl.UInt32).alias("score")
    return replace(
        rows.without_values(),
        frame=rows.once(checked.select(*rows.keys, level, *others, *amounts)),
        has_counts=True,
        usable=None,
        n_dropped=pl.col("n_dropped") if "n_dropped" in amounts else None,
    )


def _amounts(rows: Rows, *, squares: bool) -> dict[str, pl.Expr]:
    amounts = rows.amounts(pl.col("truth"), squares=squares)
    if rows.usable is not None:
        amounts = {name: pl.when(rows.usable).then(amount) for name, amount in amounts.items()}
    dtype = pl.Float64 if rows.columns.weighted else pl.Int64
    sums = {name: amount.sum().cast(dtype) for name, amount in amounts.items()}
    return sums if rows.n_dropped is None else sums | {"n_dropped": rows.n_dropped.sum()}


def _checked(rows: Rows, counted: pl.LazyFrame, bins: Bins) -> pl.LazyFrame:
    """Return the counts of bins, after a check of the rows where a count is suspicious."""
    checks = map(check_of, bin_rules(rows.columns, bins, pl.col))
    pos, neg = pl.col("pos").cast(pl.Float64), pl.col("neg").cast(pl.Float64)
    suspicious = (
        (_PLACE == _SUSPECT)
        | ~((pos.sum() + neg.sum()).is_between(0, COUNT_LIMIT))
        | (pos.sum() == 0)
    )
    return rows.with_bin_checks(rows.with_checks_if(counted, suspicious, checks))


def find_thresholds(
    lf: pl.LazyFrame, score: IntoColumn, number: int, *, ascending: bool, in_memory: bool
) -> list[float]:
    """Return thresholds with about the same number of scores between any two."""
    direction = -1.0 if ascending else 1.0
    column = find_column(lf, "score", score, lf.collect_schema())
    check_numeric("score", column)
    projected = project(lf, [], [], {"score": column})
    given = computed(projected).lazy() if in_memory else projected
    scores = given.select(_SCORE.cast(pl.Float64) * direction).drop_nans().drop_nulls()
    grain = Scale.of(pl.Float32()).slot(_SCORE.cast(pl.Float32)) // 2**13
    table = scores.group_by(grain=grain).agg(pl.len(), lowest=_SCORE.min()).sort("grain")
    # From the highest score down; the scores that start in one share of the rows get one threshold.
    rows = pl.col("len").cast(pl.Int64)
    share = (rows.cum_sum() - rows) * number // rows.sum()
    lowest = table.group_by(share=share).agg(pl.col("lowest").min()).collect()["lowest"]
    if lowest.is_empty():
        raise DataError(f"score= column {column.name!r} has no values", "at least one score")
    return (lowest * direction + 0.0).sort().to_list()
