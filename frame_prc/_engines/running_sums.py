"""Running sums over counts inside an engine.

Counts have a row per segment and distinct score. A running sum is one window per segment. On Spark
one task would have to sort a whole segment, which may be most of the data: if a segment is large, a
window is per range of scores there (see ``spark_ranges``), plus the total of the ranges above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from frame_prc._engines.operations import Frame
from frame_prc._engines.rows import Counted, Ranges
from frame_prc._engines.spark_ranges import (
    beside_ranges,
    only_cut,
    sent_to_tasks,
)
from frame_prc._engines.streams import points_in_order

RETRIEVED = ~nw.col("score").is_null()


def within_range(counted: Counted) -> list[str]:
    """Return what a window is partitioned by: segments, or their ranges if any is cut.

    The number of a range comes first: it differs more often than keys do, so sorting is faster.
    """
    return ["range", *counted.keys] if counted.ranges else counted.keys


def running_sums(counted: Counted, *, monotone: bool, places: bool, hits: bool = False) -> Frame:
    """Add running sums and totals to the counts.

    DuckDB adds up the floats of each row's sum in a different order: from row to row a sum of
    weights may fall, or rise where nothing is added, in its last digit. ``monotone`` corrects that.

    Returns
    -------
    LazyFrame
        Also ``tp``, ``fp``, ``positives`` and ``negatives``. With ``places`` also ``first`` (the
        highest score of its segment), ``next_hits`` (whether there are positives at the next score
        below; null where there is no such score), and ``place``, which ascends while scores
        descend, within a range. Spark would leave them out of its plan if nothing reads them, but
        it takes time to write them down. What streams also has ``point``; if ``hits`` are all that
        is wanted, it has fewer points, and ``own_scores`` (see :mod:`frame_prc._engines.streams`).
    """
    if counted.ranges is not None:
        return _running_in_ranges(counted, counted.ranges, places=places)
    streams = counted.engine.streams
    sums = (
        points_in_order(counted, hits=hits, places=places)
        if streams
        else _summed(counted.frame, counted, places=places)
    )
    tp, fp = _where_it_grows("tp", "pos"), _where_it_grows("fp", "neg")
    rising = {"tp": tp, "fp": fp} if monotone and counted.columns.weighted and not streams else {}
    highest = {
        name: grown.cum_max(reverse=True).over(*counted.keys, order_by="score")
        for name, grown in rising.items()
    }
    # The largest running sum, not another sum: floats would differ in the last digit.
    return sums.with_columns(
        **highest,
        positives=tp.max().over(*counted.keys),
        negatives=fp.max().over(*counted.keys),
        **({"first": nw.col("place") == 1} if places else {}),
    )


def _where_it_grows(running_sum: str, amount: str) -> nw.Expr:
    """Return a running sum in rows that add to it, else 0."""
    return nw.when(nw.col(amount) > 0).then(nw.col(running_sum)).otherwise(0)


def _summed(frame: Frame, counted: Counted, *, places: bool) -> Frame:
    """Add running sums from the highest score down; a null score comes last."""
    within = within_range(counted)

    def sum_down(name: str, dtype: Any) -> nw.Expr:
        return nw.col(name).cum_sum(reverse=True).over(*within, order_by="score").cast(dtype)

    sums = {"tp": sum_down("pos", counted.amount), "fp": sum_down("neg", counted.amount)}
    if not places:
        return frame.with_columns(**sums)
    ready = frame.with_columns(
        one=nw.lit(1, nw.Int64), hits=nw.when(RETRIEVED).then(nw.col("pos") > 0)
    )
    return ready.with_columns(
        **sums,
        place=sum_down("one", nw.Int64),
        next_hits=nw.col("hits").shift(1).over(*within, order_by="score"),
    )


def _running_in_ranges(counted: Counted, ranges: Ranges, *, places: bool) -> Frame:
    within = within_range(counted)
    sums = _summed(ranges.counts, counted, places=places).with_columns(
        positives_here=nw.col("tp").max().over(*within),
        negatives_here=nw.col("fp").max().over(*within),
    )
    totals = only_cut(_totals(ranges.rows, within), ranges.cuts)
    above = sent_to_tasks(_above(totals, counted))
    return _through_segments(beside_ranges(sums, above, counted.keys), counted, places=places)


def _through_segments(joined: Frame, counted: Counted, *, places: bool) -> Frame:
    """Add the totals of the ranges above, which are null in a segment that is not cut."""
    whole = nw.col("highest").is_null()
    of_places = {
        "first": (nw.col("place") == 1) & (whole | (nw.col("range") == nw.col("highest"))),
        "next_hits": nw.coalesce("next_hits", "hits_below"),
    }
    return joined.with_columns(
        tp=_through_ranges("tp", "positives_here", counted),
        fp=_through_ranges("fp", "negatives_here", counted),
        tp_above=nw.col("tp_above").fill_null(0),
        fp_above=nw.col("fp_above").fill_null(0),
        positives=nw.coalesce("positives", "positives_here"),
        negatives=nw.coalesce("negatives", "negatives_here"),
        **(of_places if places else {}),
        # Equal to itself: a verb that reads it makes the totals read it too (see ``_totals``).
        dropped=nw.min_horizontal("dropped", "dropped_here"),
    )


def _through_ranges(name: str, here: str, counted: Counted) -> nw.Expr:
    """Add the total of the ranges above, if any, to a running sum inside its range.

    Floats are added in different orders. So that sums never fall, they stay at or below the sum
    that the next range continues from, and equal it once the range adds no more.
    """
    running_sum, reached = nw.col(name), nw.col(f"{name}_reached")
    added = (running_sum + nw.col(f"{name}_above").fill_null(0)).cast(counted.amount)
    if not counted.columns.weighted:
        return added
    complete = (running_sum == nw.col(here)) & ~reached.is_null()
    return nw.when(complete).then(reached).otherwise(nw.min_horizontal(added, reached))


def _totals(rows: Frame, within: Sequence[str]) -> Frame:
    """Return the sums of each range, and whether there are positives at its highest score.

    Whatever part of a result needs these reads each column that the running sums read, scores too.
    Only then Spark sees that both read the same rows, and distributes them once.
    """
    score = nw.col("score")
    retrieved = {
        f"retrieved_{name}": nw.when(RETRIEVED).then(nw.col(name)) for name in ("pos", "neg")
    }
    totals = (
        rows.with_columns(**retrieved, highest_hit=nw.when(nw.col("pos") > 0).then(score))
        .group_by(*within)
        .agg(
            nw.col("pos", "neg", "dropped", *retrieved).sum(), nw.col("score", "highest_hit").max()
        )
    )
    hits = nw.when(RETRIEVED).then(nw.coalesce(nw.col("highest_hit") == score, nw.lit(False)))
    return totals.with_columns(hits=hits)


def _above(totals: Frame, counted: Counted) -> Frame:
    """Return, for each range, the sums of the ranges above, and ``hits`` of the next below."""

    def in_order(column: nw.Expr) -> nw.Expr:
        return column.over(*counted.keys, order_by="range")

    def of_segment(column: nw.Expr) -> nw.Expr:
        return column.over(*counted.keys)

    downward = totals.with_columns(
        tp_reached=in_order(nw.col("pos").cum_sum(reverse=True)),
        fp_reached=in_order(nw.col("neg").cum_sum(reverse=True)),
        tp_retrieved=in_order(nw.col("retrieved_pos").cum_sum(reverse=True)),
        fp_retrieved=in_order(nw.col("retrieved_neg").cum_sum(reverse=True)),
        hits_below=in_order(nw.col("hits").shift(1)),
        highest=of_segment(nw.col("range").max()),
    )
    return downward.select(
        *within_range(counted),
        "hits_below",
        "highest",
        "tp_reached",
        "fp_reached",
        dropped_here=nw.col("dropped"),
        # Rows that are not retrieved are in the lowest range, which is above no other.
        tp_above=in_order(nw.col("tp_retrieved").shift(-1)).fill_null(0),
        fp_above=in_order(nw.col("fp_retrieved").shift(-1)).fill_null(0),
        positives=of_segment(nw.col("tp_reached").max()),
        negatives=of_segment(nw.col("fp_reached").max()),
    )
