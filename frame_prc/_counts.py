"""Counts: positives and negatives at each distinct score, which add up across frames."""

from __future__ import annotations

import polars as pl

from frame_prc._ranking import class_totals, rank
from frame_prc._rows import Rows

COLUMNS = ("threshold", "pos", "neg")


def counts(rows: Rows) -> pl.LazyFrame:
    """Return one row per segment and distinct score, scores descending."""
    ranking = rank(rows)
    ties = ranking.frame.group_by(ranking.key.tie()).agg(class_totals(ranking)).sort("rank_key")
    scored = ranking.with_score(
        ties.select(ranking.key.segment(), ranking.key.slot(), "pos", "neg")
    )
    return rows.finish(ranking.segments.with_keys(scored.with_columns(threshold="score")), COLUMNS)
