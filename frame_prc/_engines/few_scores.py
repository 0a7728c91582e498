"""Models with at most two scores inside an engine, from the scores of each segment."""

from __future__ import annotations

import narwhals as nw

from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted
from frame_prc._engines.running_sums import RETRIEVED

_STATUS = nw.col("status")


def scores_of_segments() -> dict[str, nw.Expr]:
    """Return the number of scores of a segment, the lowest and the highest, as aggregates."""
    score = nw.when(RETRIEVED).then(nw.col("score"))
    one = nw.when(RETRIEVED).then(1).otherwise(0)
    return {"lowest": score.min(), "highest": score.max(), "n_scores": one.sum()}


def with_few_scores(table: Frame, counted: Counted) -> Frame:
    """Replace the status ``"ok"`` of a model whose scores have at most two values.

    No segment has a third score then, and those that it has are the lowest or the highest of all.
    """
    columns = counted.columns
    models = counted.keys[: len(columns.result_keys) - len(columns.key_dtypes)]
    within = models or ["everyone"]
    ends = table.with_columns(everyone=nw.lit(1)).with_columns(
        least=nw.col("lowest").min().over(*within), most=nw.col("highest").max().over(*within)
    )
    is_few = nw.col("n_scores") <= 2  # noqa: PLR2004
    for name in ("lowest", "highest"):
        at_end = (nw.col(name) == nw.col("least")) | (nw.col(name) == nw.col("most"))
        is_few = is_few & (at_end | (nw.col("n_scores") == 0))
    others = ends.with_columns(others=nw.when(is_few).then(0).otherwise(1))
    counts = others.with_columns(others=nw.col("others").sum().over(*within))
    few = (_STATUS == "ok") & (nw.col("others") == 0)
    return counts.with_columns(status=nw.when(few).then(nw.lit(FEW_SCORES)).otherwise(_STATUS))
