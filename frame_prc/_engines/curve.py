"""Counts inside an engine, of rows and of parts, and the curve: tables with a row per score.

Counts of parts are counted again, as rows that hold counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._curves.counts import ADDABLE, BOUNDS, Counts, check_frames
from frame_prc._curves.curve import CURVE
from frame_prc._engines.operations import Engine, Frame, Order
from frame_prc._engines.rows import Counted, bin_end, check_case, count, level_dtype, schema_of
from frame_prc._engines.running_sums import RETRIEVED, running_sums, within_range
from frame_prc._engines.spark_ranges import beside_ranges, cut
from frame_prc._formulas import precision, recall
from frame_prc._request.roles import THRESHOLD, Request, request
from frame_prc._request.specs import Keep, Start
from frame_prc._request.thresholds import ABOVE, Bins
from frame_prc._rows.checks import overlap


def counts(engine: Engine, frame: Any, request: Request, table: Counts) -> Any:
    """Return positives and negatives at each distinct score, or in each bin that holds rows."""
    bins, squares = table.bins, table.squares
    [counted] = count(
        engine, frame, request, table.reserved, bins, every_bin=False, squares=squares
    )
    table.check(counted.columns)
    held = counted.frame.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    tidy = held.with_columns(threshold=counted.score)
    if squares and not counted.squares:
        tidy = tidy.with_columns(pos_squares=nw.col("pos"), neg_squares=nw.col("neg"))
    if bins is not None:
        tidy = tidy.with_columns(bin_end(tidy, bins).alias(bins.other_end))
    return counted.finish(tidy, table.outputs, [in_ranking_order(counted)])


def in_ranking_order(counted: Counted) -> Order:
    """Return the order of the thresholds of a segment."""
    return Order("threshold", descending=not counted.ascending)


def merge_counts(engine: Engine, natives: Sequence[Any], *, ascending: bool) -> Any:
    """Return the counts of the whole."""
    frames: list[Frame] = [nw.from_native(native) for native in natives]
    schemas = [pl.Schema(schema_of(frame)) for frame in frames]
    check_frames(schemas)
    names = schemas[0].names()
    amounts = [name for name in names if name in ADDABLE]
    ends = [name for name in names if name in BOUNDS and name != THRESHOLD]
    keys = [name for name in names if name not in (*ADDABLE, *BOUNDS)]
    check_case(engine, keys, [THRESHOLD, *amounts, *ends])
    parts = nw.concat([frame.select(names) for frame in frames]).to_native()
    asked = request(
        score=THRESHOLD,
        by=[*keys, *ends] or None,
        missing="unretrieved",
        ascending=ascending,
        **{name: name for name in amounts},
    )
    [counted] = count(engine, parts, asked, amounts, None, squares=True)
    typed = [nw.col(name).cast(counted.amount) for name in amounts]
    tidy = counted.frame.with_columns(*typed, threshold=counted.score)
    if ends:
        tidy = tidy.with_columns(nw.col(counted.keys[-1]).alias(ends[0]))
        counted = _of_bins(counted, tidy, ends[0])
    outputs = [name for name in names if name not in keys]
    merged = counted.finish(tidy, outputs, [in_ranking_order(counted)])
    return nw.from_native(merged).select(names).to_native()


def _of_bins(counted: Counted, tidy: Frame, end: str) -> Counted:
    """Return counts whose bins are not among their keys, and that fail if bins overlap."""
    low, high = (end, THRESHOLD) if end == ABOVE else (THRESHOLD, end)
    bins = tidy.select(low=nw.col(low), high=nw.col(high)).unique()
    known = bins.filter(~nw.any_horizontal(nw.col("low", "high").is_null(), ignore_nulls=True))
    following = known.with_columns(after=nw.col("low").shift(-1).over(order_by=["low", "high"]))
    first, *texts = map(nw.lit, str(overlap("\0", "\0", "\0")).split("\0"))
    values = [nw.col(name).cast(nw.String) for name in ("low", "high", "after")]
    said = [part for pair in zip(values, texts, strict=True) for part in pair]
    text = nw.concat_str([first, *said])
    overlapping = nw.when(nw.col("high") > nw.col("after")).then(text)
    problem = following.with_columns(problem=overlapping).select(nw.col("problem").min())
    dtypes = {n: dtype for n, dtype in counted.columns.key_dtypes.items() if n != end}
    columns = replace(counted.columns, key_dtypes=dtypes)
    return replace(counted, keys=counted.keys[:-1], columns=columns, problem=problem)


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
    counted = cut(*count(engine, frame, request, outputs, bins))
    points = with_openings(counted).filter(nw.col("is_point"))
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
    return counted.finish(tidy, outputs, [in_ranking_order(counted), Order("tp"), Order("fp")])


# --- points ------------------------------------------------------------------------------------


def with_openings(counted: Counted) -> Frame:
    """Return the rows of counts, and before the first of each segment one that ``opens`` it.

    Those that are points of a curve are marked by ``is_point``.
    """
    held = nw.col("positives") + nw.col("negatives") > 0
    sums = running_sums(counted, monotone=True, places=True)
    twice = counted.engine.repeat(sums, "copy", 2, where="first")
    opens = nw.col("copy") == 1
    marked = twice.with_columns(opens=opens, is_point=held & (opens | RETRIEVED))
    zero = nw.lit(0, counted.amount)
    nothing = {
        name: nw.when(nw.col("opens")).then(zero).otherwise(nw.col(name)) for name in ("tp", "fp")
    }
    some = nw.when(RETRIEVED & (nw.col("tp") + nw.col("fp") > 0))
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
    highest = with_highest(ordered, counted)
    return highest.with_columns(envelope=nw.when(nw.col("highest") >= 0).then(nw.col("highest")))


def with_highest(points: Frame, counted: Counted) -> Frame:
    """Add ``highest``: the largest ``height`` of a segment at or after each point, by ``order``."""
    largest = nw.col("height").cum_max(reverse=True)
    here = points.with_columns(here=largest.over(*within_range(counted), order_by="order"))
    if counted.ranges is None:
        return here.with_columns(highest=nw.col("here"))
    joined = beside_ranges(here, _highest_below(points, counted), counted.keys)
    return joined.with_columns(highest=nw.max_horizontal("here", "below"))


def _highest_below(points: Frame, counted: Counted) -> Frame:
    """Return, for each range, the largest precision in the ranges below it."""
    keys, within = counted.keys, within_range(counted)
    best = points.group_by(*within).agg(best=nw.col("height").max())
    upward = best.with_columns(upward=nw.col("best").cum_max().over(*keys, order_by="range"))
    below = nw.col("upward").shift(1).over(*keys, order_by="range")
    return upward.select(*within, below=below)
