"""Counts: positives and negatives at each distinct score, which add up across frames."""

from __future__ import annotations

import polars as pl

from frame_prc._ranking import Ranking, class_totals, rank
from frame_prc._rows import Rows
from frame_prc.exceptions import OptionError

COLUMNS = ("threshold", "pos", "neg")
SQUARES = ("pos_squares", "neg_squares")


def counts(rows: Rows, *, squares: bool = False) -> pl.LazyFrame:
    """Return one row per segment and distinct score, scores descending."""
    ranking = rank(rows)
    ties = _ties(ranking)
    amounts = ["pos", "neg"]
    if squares:
        # The same ties in the same order, for the keys are the same.
        sums = _ties(_squares_of(ranking)).select(pos_squares="pos", neg_squares="neg")
        ties, amounts = pl.concat([ties, sums], how="horizontal"), [*amounts, *SQUARES]
    scored = ranking.with_score(ties.select(ranking.key.segment(), ranking.key.slot(), *amounts))
    tidy = ranking.with_keys(scored.with_columns(threshold="score"))
    return rows.finish(tidy, ["threshold", *amounts])


def _ties(ranking: Ranking) -> pl.LazyFrame:
    return ranking.frame.group_by(ranking.key.tie()).agg(class_totals(ranking)).sort("rank_key")


def _squares_of(ranking: Ranking) -> Ranking:
    """Return the ranking whose counts are the sums of squared weights."""
    columns = ranking.rows.columns
    if not columns.needs_squares:
        return ranking
    if columns.counted and not columns.with_squares:
        raise OptionError(
            "squares=True cannot be told from sums of weights in pos= and neg=",
            "rows with weight=, or pos_squares= and neg_squares= beside the sums",
        )
    return rank(ranking.rows.squared())
