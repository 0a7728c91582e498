"""What each segment of a model is beside the others: shown to be worse or better, or why not."""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_prc._charts.text import is_few, status_text
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_SCORES
from frame_prc._lazy import left_join

# Open: the test shows nothing. Untested: the segment can be judged, and its test not, as where the
# others have few negatives. Small: the segment itself cannot be judged.
WORSE, BETTER, OPEN, UNTESTED, SMALL = "worse", "better", "open", "untested", "small"
JUDGED = (WORSE, OPEN, BETTER)
# Before a reason that is not one of the segment itself.
OTHERS = "others: "
# Statuses of segments that cannot be judged.
_TOO_SMALL = (*FEW, "no_positives", "no_negatives", "empty")
_PLACES = {WORSE: 0, OPEN: 1, UNTESTED: 1, BETTER: 2, SMALL: 3}


def standings_of(segments: pl.DataFrame, tests: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return the scorecard of a model's segments with their ``standing``, worse ones first.

    ``tests`` compare them with the others, if they can be compared; ``test`` is their status.
    """
    is_hidden = (pl.col("status") == "below_chance") & is_few()
    few = pl.when(is_hidden).then(pl.lit("few_positives"))
    table = segments.with_columns(status=few.otherwise("status"))
    if tests.is_empty():
        unknown = {"difference": pl.Float64, "p_adjusted": pl.Float64, "test": pl.String}
        table = table.with_columns(
            pl.lit(None, dtype).alias(name) for name, dtype in unknown.items()
        )
    else:
        told = tests.select("segment", "difference", "p_adjusted", test="status")
        table = left_join(table, told, ["segment"])
    p, has_tests = pl.col("p_adjusted"), pl.lit(not tests.is_empty())
    unjudged = pl.col("status").is_in(_TOO_SMALL) | pl.col(CALIBRATED).is_null()
    standing = (
        pl.when(unjudged | ((pl.col("status") == FEW_SCORES) & has_tests & p.is_null()))
        .then(pl.lit(SMALL))
        .when(has_tests & ~(is_believed("test") & p.is_not_null()))
        .then(pl.lit(UNTESTED))
        .when((p < alpha) & (pl.col("difference") < 0))
        .then(pl.lit(WORSE))
        .when((p < alpha) & (pl.col("difference") > 0))
        .then(pl.lit(BETTER))
        .otherwise(pl.lit(OPEN))
    )
    table = table.with_columns(standing=standing)
    place = pl.col("standing").replace_strict(_PLACES, return_dtype=pl.Int8)
    return table.sort(place, CALIBRATED, "segment", nulls_last=True)


def is_believed(status: str = "status") -> pl.Expr:
    """Return whether an estimate or a test can be believed; not one that is not there."""
    return pl.col(status).is_in(BELIEVED).fill_null(value=False)


def said_of(row: dict[str, Any]) -> str:
    standing = row["standing"]
    if standing in (WORSE, BETTER):
        return str(standing)
    if standing == SMALL:
        return status_text(row["status"])
    if standing != UNTESTED:
        return ""
    of_others = row["status"] in BELIEVED and row["test"] in FEW
    return f"{OTHERS if of_others else ''}{status_text(row['test'])}"
