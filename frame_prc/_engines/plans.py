"""The verbs inside an engine: running sums over counts, then the formulas that Polars uses.

Counts have a row per segment and distinct score. In DuckDB a running sum is one window per segment.
On Spark one task would have to sort a whole segment, which may be most of the data: there it is a
window per segment and range of scores (see ``spark_ranges``), plus the total of the ranges above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.counts import Counts
from frame_prc._curves.curve import CURVE
from frame_prc._engines.engine import Engine, Frame
from frame_prc._engines.rows import Counted, bin_end, count, level_dtype
from frame_prc._engines.spark_ranges import score_cuts, spread, with_range
from frame_prc._formulas import precision, recall, sizes, step_area, total
from frame_prc._request.roles import Request
from frame_prc._request.specs import Keep, Start
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import DROPPED

_RETRIEVED = ~nw.col("score").is_null()


def counts(engine: Engine, frame: Any, request: Request, bins: Bins | None) -> Any:
    """Return positives and negatives at each distinct score, or in each bin that holds rows."""
    table = Counts(bins)
    counted = count(engine, frame, request, table.reserved, bins, covering=True)
    held = counted.frame.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    tidy = held.with_columns(threshold=counted.score)
    if bins is not None:
        tidy = tidy.with_columns(bin_end(tidy, bins).alias(bins.other_end))
    return counted.finish(tidy, table.outputs, [_in_ranking_order(counted)])


def curve(
    engine: Engine,
    frame: Any,
    request: Request,
    start: Start,
    keep: Keep,
    bins: Bins | None,
    *,
    envelope: bool,
) -> Any:
    """Return the curve of every segment."""
    outputs = [*CURVE, *(["envelope"] if envelope else [])]
    counted = count(engine, frame, request, outputs, bins)
    points = _points(counted)
    if start == "first" and bins is not None:
        points = _opened(points, counted)  # no row may reach the highest threshold
    if keep == "corners":
        points = points.filter(_is_corner())
    points = _with_rates(points, start)
    if envelope:
        points = _with_envelope(points, counted)
    dtype = level_dtype(counted.columns)
    infinity = nw.lit(float("-inf" if counted.ascending else "inf")).cast(dtype)
    threshold = nw.when(nw.col("opens")).then(infinity).otherwise(counted.score.cast(dtype))
    tidy = points.with_columns(threshold=threshold)
    if start is None:
        tidy = tidy.filter(~nw.col("opens"))
    return counted.finish(tidy, outputs, [_in_ranking_order(counted), "tp", "fp"])


def average_precision(
    engine: Engine, frame: Any, request: Request, outputs: Sequence[str], bins: Bins | None
) -> Any:
    """Return one row per segment: its size and its average precision."""
    counted = count(engine, frame, request, outputs, bins)
    pos, tp, fp, positives = (nw.col(name) for name in ("pos", "tp", "fp", "positives"))
    hit = (pos > 0) & _RETRIEVED
    steps = _running(counted, monotone=False).with_columns(
        area=nw.when(hit).then(step_area(pos, tp, fp, positives)).otherwise(0.0)
    )
    sums = [
        # As in the curve, to the last digit; 0 without rows.
        *(nw.col(name).max().fill_null(0) for name in ("positives", "negatives")),
        nw.col("dropped").sum().alias(*DROPPED),
        total(nw.col("area")).alias("area"),
    ]
    # Without keys the result has one row, even if the frame has none.
    keyed = counted.columns.result_keys
    totals = steps.group_by(*counted.keys).agg(*sums) if keyed else steps.select(*sums)
    typed = totals.with_columns(
        nw.col("positives", "negatives").cast(counted.amount), nw.col(*DROPPED).cast(nw.Int64)
    )
    positives, negatives = nw.col("positives"), nw.col("negatives")
    area = nw.when(positives > 0).then(nw.col("area")).alias(AVERAGE_PRECISION)
    table = typed.with_columns(*sizes(positives, negatives), area)
    return counted.finish(table, outputs, [])


def _in_ranking_order(counted: Counted) -> str:
    return f"threshold {'ASC' if counted.ascending else 'DESC'} NULLS LAST"


# --- running sums ------------------------------------------------------------------------------


def _running(counted: Counted, *, monotone: bool) -> Frame:
    """Add running sums and totals to the counts.

    DuckDB adds up the floats of each row's sum in a different order: from row to row a sum of
    weights may fall, or rise where nothing is added, in its last digit. ``monotone`` corrects that.

    Returns
    -------
    LazyFrame
        Also ``tp``, ``fp``, ``positives``, ``negatives``, ``first`` (the highest score of its
        segment), ``next_hits`` (whether there are positives at the next score below; null where
        there is no such score), and ``place``, which ascends while scores descend, within a range.
    """
    if counted.in_ranges:
        return _running_in_ranges(counted)
    sums = _summed(counted.frame, counted.keys, counted)
    tp, fp = _where_it_grows("tp", "pos"), _where_it_grows("fp", "neg")
    rising = {"tp": tp, "fp": fp} if monotone and counted.columns.weighted else {}
    highest = {
        name: grown.cum_max(reverse=True).over(*counted.keys, order_by="score")
        for name, grown in rising.items()
    }
    # The largest running sum, not another sum: floats would differ in the last digit.
    return sums.with_columns(
        **highest,
        positives=tp.max().over(*counted.keys),
        negatives=fp.max().over(*counted.keys),
        first=nw.col("place") == 1,
    )


def _where_it_grows(running_sum: str, amount: str) -> nw.Expr:
    """Return a running sum in rows that add to it, else 0."""
    return nw.when(nw.col(amount) > 0).then(nw.col(running_sum)).otherwise(0)


def _summed(frame: Frame, within: Sequence[str], counted: Counted) -> Frame:
    """Add running sums from the highest score down; a null score comes last."""
    ready = frame.with_columns(
        one=nw.lit(1, nw.Int64), hits=nw.when(_RETRIEVED).then(nw.col("pos") > 0)
    )

    def sum_down(name: str, dtype: Any) -> nw.Expr:
        return nw.col(name).cum_sum(reverse=True).over(*within, order_by="score").cast(dtype)

    return ready.with_columns(
        tp=sum_down("pos", counted.amount),
        fp=sum_down("neg", counted.amount),
        place=sum_down("one", nw.Int64),
        next_hits=nw.col("hits").shift(1).over(*within, order_by="score"),
    )


def _running_in_ranges(counted: Counted) -> Frame:
    within = ["segment", "range"]
    rows, counts = (_packed(counted, frame) for frame in (counted.rows, counted.frame))
    cuts = score_cuts(rows)
    totals = _totals(with_range(rows, cuts), within)
    sums = _summed(spread(with_range(counts, cuts)), within, counted)
    joined = sums.join(_above(totals), on=within, how="left").with_columns(
        tp=_through_ranges("tp", within, counted),
        fp=_through_ranges("fp", within, counted),
        first=(nw.col("place") == 1) & (nw.col("range") == nw.col("highest")),
        next_hits=nw.coalesce("next_hits", "hits_below"),
    )
    return counted.engine.project(joined, "*", "segment.*")


def _packed(counted: Counted, frame: Frame) -> Frame:
    """Put the keys into one column ``segment`` to join on, which is never null."""
    segment = f"struct({', '.join(counted.keys)}) AS segment"
    return counted.engine.project(frame, segment, "score", "pos", "neg", "dropped")


def _through_ranges(name: str, within: Sequence[str], counted: Counted) -> nw.Expr:
    """Add the total of the ranges above to a running sum inside its range.

    Floats are added in different orders. So that sums never fall, they stay at or below the sum
    that the next range continues from, and equal it once the range adds no more.
    """
    running_sum, reached = nw.col(name), nw.col(f"{name}_reached")
    added = (running_sum + nw.col(f"{name}_above")).cast(counted.amount)
    if not counted.columns.weighted:
        return added
    complete = running_sum == running_sum.max().over(*within)
    return nw.when(complete).then(reached).otherwise(nw.min_horizontal(added, reached))


def _totals(ranged: Frame, within: Sequence[str]) -> Frame:
    """Return the sums of each range, and whether there are positives at its highest score."""
    score = nw.col("score")
    highest_hit = nw.when(nw.col("pos") > 0).then(score)
    totals = (
        ranged.with_columns(highest_hit=highest_hit)
        .group_by(*within)
        .agg(nw.col("pos", "neg").sum(), nw.col("score", "highest_hit").max())
    )
    hits = nw.when(_RETRIEVED).then(nw.coalesce(nw.col("highest_hit") == score, nw.lit(False)))
    return totals.with_columns(hits=hits)


def _above(totals: Frame) -> Frame:
    """Return, for each range, the sums of the ranges above, and ``hits`` of the next below."""

    def in_order(column: nw.Expr) -> nw.Expr:
        return column.over("segment", order_by="range")

    def of_segment(column: nw.Expr) -> nw.Expr:
        return column.over("segment")

    downward = totals.with_columns(
        tp_reached=in_order(nw.col("pos").cum_sum(reverse=True)),
        fp_reached=in_order(nw.col("neg").cum_sum(reverse=True)),
        hits_below=in_order(nw.col("hits").shift(1)),
        highest=of_segment(nw.col("range").max()),
    )
    return downward.select(
        "segment",
        "range",
        "hits_below",
        "highest",
        "tp_reached",
        "fp_reached",
        tp_above=in_order(nw.col("tp_reached").shift(-1)).fill_null(0),
        fp_above=in_order(nw.col("fp_reached").shift(-1)).fill_null(0),
        positives=of_segment(nw.col("tp_reached").max()),
        negatives=of_segment(nw.col("fp_reached").max()),
    )


# --- points ------------------------------------------------------------------------------------


def _points(counted: Counted) -> Frame:
    """Return a point per score and one that ``opens`` each segment."""
    held = nw.col("positives") + nw.col("negatives") > 0
    twice = counted.engine.repeat(_running(counted, monotone=True), "copy", 2, where="first")
    opens = nw.col("copy") == 1
    marked = twice.with_columns(opens=opens).filter(held & (opens | _RETRIEVED))
    zero = nw.lit(0, counted.amount)
    nothing = {
        name: nw.when(nw.col("opens")).then(zero).otherwise(nw.col(name)) for name in ("tp", "fp")
    }
    some = nw.when(_RETRIEVED & (nw.col("tp") + nw.col("fp") > 0))
    rated = marked.with_columns(rate=some.then(precision(nw.col("tp"), nw.col("fp"))))
    return rated.with_columns(**nothing)


def _opened(points: Frame, counted: Counted) -> Frame:
    """Give the opening point the rate of the first point that retrieves a row."""
    rate, place = nw.col("rate"), nw.col("place")
    reached = nw.when(~rate.is_null()).then(place).min().over(*counted.keys)
    marked = points.with_columns(reached=reached)
    first_rate = nw.when(place == nw.col("reached")).then(rate).max().over(*counted.keys)
    opening = marked.with_columns(first_rate=first_rate)
    return opening.with_columns(
        rate=nw.when(nw.col("opens")).then(nw.col("first_rate")).otherwise(rate)
    )


def _is_corner() -> nw.Expr:
    """Return whether a point is the first or the last with its number of true positives."""
    begins = nw.col("opens") | nw.col("first") | (nw.col("pos") > 0)
    return begins | nw.coalesce("next_hits", nw.lit(True))


def _with_rates(points: Frame, start: Start) -> Frame:
    tp, fp, rate, positives = (nw.col(name) for name in ("tp", "fp", "rate", "positives"))
    at_start = nw.lit(1.0) if start == "one" else rate
    return points.with_columns(
        fn=positives - tp,
        tn=nw.col("negatives") - fp,
        precision=nw.when(nw.col("opens")).then(at_start).otherwise(rate),
        recall=recall(tp, positives),
    )


def _with_envelope(points: Frame, counted: Counted) -> Frame:
    """Add the largest precision at or after each point."""
    # An undefined precision is below any other, also in engines whose windows skip nulls.
    ordered = points.with_columns(
        height=nw.col("precision").fill_null(-1.0),
        order=nw.when(nw.col("opens")).then(nw.lit(0, nw.Int64)).otherwise(nw.col("place")),
    )
    largest = nw.col("height").cum_max(reverse=True)
    if counted.in_ranges:
        within = ["segment", "range"]
        here = ordered.with_columns(here=largest.over(*within, order_by="order"))
        joined = here.join(_highest_below(ordered, within), on=within, how="left")
        highest = joined.with_columns(highest=nw.max_horizontal("here", "below"))
    else:
        highest = ordered.with_columns(highest=largest.over(*counted.keys, order_by="order"))
    return highest.with_columns(envelope=nw.when(nw.col("highest") >= 0).then(nw.col("highest")))


def _highest_below(points: Frame, within: Sequence[str]) -> Frame:
    """Return, for each range, the largest precision in the ranges below it."""
    best = points.group_by(*within).agg(best=nw.col("height").max())
    upward = best.with_columns(upward=nw.col("best").cum_max().over("segment", order_by="range"))
    return upward.select(*within, below=nw.col("upward").shift(1).over("segment", order_by="range"))
