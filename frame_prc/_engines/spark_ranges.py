"""Ranges of scores on Spark, so that no task sorts a segment that is most of the data.

A segment with many scores is cut at quantiles of the scores that a hash selects, read by a small
job at the call. Their place does not change a result, also if the data change after the call.

If hardly any score repeats, as the sample shows too, rows go to the task of their window at once,
and are not counted where sums over rows will do; otherwise there are fewer counts to send.

The number of a range holds a hash of its segment, by which alone Spark distributes, joins and first
sorts; keys tell apart the few that are equal by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw

from frame_prc._engines.engine import Frame, errors_of_ours
from frame_prc._engines.rows import Counted, Ranges, added_up, ranked

_RANGES = 256
# One in 256 distinct scores is sampled to find the cuts. Only segments with four samples per range
# are cut: those of about 262,144 scores or more.
_SAMPLED = 256
_FEWEST_SAMPLED = 4 * _RANGES
# Every so many rows of a task one is sampled, whatever its score, to find how many there are.
_EVERY = 4_096
# With more rows per score than this they are counted before they are distributed.
_MOST_PER_SCORE = 1.5
# A score's range is found among four parts, then among four parts of that, and so on.
_PARTS = 4


@dataclass(frozen=True)
class Sample:
    """What a sample shows: whether scores ``repeats``, and the ``cuts`` of large segments, or none.

    It holds the values themselves, so a task that runs a second time finds the same.
    """

    cuts: Any
    repeats: bool


def cut(counted: Counted, *, may_be_rows: bool = False) -> Counted:
    """Cut large segments into ranges; ``may_be_rows`` leaves rows uncounted if few repeat."""
    if not counted.engine.in_ranges or counted.unchecked is None:
        return counted
    if counted.unchecked.to_native().isStreaming:  # Spark refuses to read it here
        return counted
    keys = counted.keys
    found = sample(ranked(counted, counted.unchecked), keys)
    each_row = counted.each_row or (may_be_rows and not found.repeats)
    counted, whole = replace(counted, each_row=each_row), found.repeats or each_row
    if found.cuts is not None:
        rows = spread(with_range(counted.frame if whole else counted.rows, found.cuts, keys), keys)
        within, squares = ["range", *keys], counted.squares
        counts = rows if whole else added_up(rows, within, counted.columns, squares=squares)
        return replace(counted, ranges=Ranges(found.cuts, rows, counts))
    if whole:
        return counted
    by_segment: Frame = nw.from_native(counted.rows.to_native().repartition(*keys))
    return replace(counted, rows=by_segment)


@contextmanager
def kept_ranges() -> Iterator[Callable[[Counted], Counted]]:
    """Yield what cuts, and lets Spark keep the counts until it has read them, if it can."""
    kept = []

    def cut_and_keep(counted: Counted) -> Counted:
        found = cut(counted, may_be_rows=True)
        ranges = found.ranges
        if ranges is None:
            return found
        kept.append(ranges.counts.to_native())
        with suppress(Exception):
            kept[-1].persist()
        # The totals of ranges too are then read from their counts.
        return replace(found, ranges=replace(ranges, rows=ranges.counts))

    try:
        yield cut_and_keep
    finally:
        for counts in kept:
            with suppress(Exception):
                counts.unpersist()


def sample(rows: Frame, keys: Sequence[str]) -> Sample:
    native = rows.to_native()
    picked = f"(pmod(xxhash64(score), {_SAMPLED}) = 0 AND abs(score) < double('Infinity'))"
    place = f"CAST(place * CAST(size(scores) AS BIGINT) DIV {_RANGES} AS INT)"
    large = f"size(`collect_set(score)`) >= {_FEWEST_SAMPLED}"
    cuts = f"transform(sequence(1, {_RANGES - 1}), place -> scores[{place}])"
    found = (
        native.selectExpr(
            "*", f"IF(monotonically_increasing_id() % {_EVERY} = 0, 1, NULL) AS every"
        )
        .filter(f"every = 1 OR {picked}")
        .selectExpr(
            *keys,
            f"CASE WHEN {picked} THEN CAST(score AS DOUBLE) END AS score",
            f"{_base(native, keys)} AS base",
            "every",
        )
        # Few rows: further tasks would take longer than what is in them.
        .repartition(1)
        .groupBy("base", *keys)
        .agg({"score": "collect_set", "every": "count"})
        .selectExpr(
            "base",
            "size(`collect_set(score)`) AS distinct",
            "`count(every)` AS every",
            f"CASE WHEN {large} THEN sort_array(`collect_set(score)`) END AS scores",
        )
        .selectExpr(
            "distinct",
            "every",
            f"IF(scores IS NULL, NULL, named_struct('base', base, 'cuts', {cuts})) AS cut",
        )
        .selectExpr(
            f"coalesce(sum(every), 0) * {_EVERY}D AS n_rows",
            f"coalesce(sum(distinct), 0) * {_SAMPLED}D AS n_scores",
            "collect_list(cut) AS cuts",
        )
        .toArrow()
    )
    (n_rows,), (n_scores,) = found["n_rows"].to_pylist(), found["n_scores"].to_pylist()
    return Sample(_table(native, found["cuts"]), n_rows > _MOST_PER_SCORE * n_scores)


def _table(native: Any, found: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - only with a frame of Spark at hand

    cuts = pa.Table.from_struct_array(found.combine_chunks().flatten())
    if not cuts.num_rows:
        return None
    once = {base: place for place, base in enumerate(cuts["base"].to_pylist())}
    return native.sparkSession.createDataFrame(cuts.take([*once.values()])).hint("broadcast")


def with_range(frame: Frame, cuts: Any, keys: Sequence[str]) -> Frame:
    names = frame.columns
    native = frame.to_native()
    based = native.selectExpr("*", f"{_base(native, keys)} AS base")
    found = based.join(cuts, "base", "left").selectExpr(*names, "base", "cuts", "0 AS range")
    width = _RANGES
    while width > 1:
        parts = min(_PARTS, width)
        width //= parts
        reached = " ".join(
            f"WHEN cuts[range + {part * width - 1}] <= CAST(score AS DOUBLE) THEN {part * width}"
            for part in range(parts - 1, 0, -1)
        )
        # Spark 4.0 fails on an index into an array that is null.
        step = f"range + CASE WHEN cuts IS NULL THEN 0 {reached} ELSE 0 END AS range"
        found = found.selectExpr(*names, "base", "cuts", step)
    ranged: Frame = nw.from_native(found.selectExpr(*names, "base + range AS range"))
    return ranged


def _base(native: Any, keys: Sequence[str]) -> str:
    """Return the number that the ranges of a segment start from."""
    return "0L" if _collated(native, keys) else f"(xxhash64({', '.join(keys)}) & -{_RANGES}L)"


def _collated(native: Any, names: Sequence[str]) -> bool:
    """Return whether keys have a collation: strings with different hashes may be equal there."""
    schema = native.schema
    return any(" collate " in schema[name].dataType.simpleString() for name in names)


def _placed_by(native: Any, keys: Sequence[str]) -> list[str]:
    return ["range", *keys] if _collated(native, keys) else ["range"]


def spread(ranged: Frame, keys: Sequence[str]) -> Frame:
    """Distribute the ranges over the partitions, once for all that reads them.

    Without a number Spark would merge partitions up to 64 MB, which may be most of a segment.
    """
    native = ranged.to_native()
    settings = native.sparkSession.conf
    at_start = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
    set_to = settings.get(at_start, settings.get("spark.sql.shuffle.partitions"))
    number = int(set_to) if set_to.isdigit() else _RANGES
    result: Frame = nw.from_native(native.repartition(number, *_placed_by(native, keys)))
    return result


def only_cut(totals: Frame, cuts: Any) -> Frame:
    """Return the rows of segments that are cut; joined above totals, rows are distributed once."""
    base = f"range & -{_RANGES}L AS base"
    result: Frame = nw.from_native(
        totals.to_native().selectExpr("*", base).join(cuts.select("base"), "base", "left_semi")
    )
    return result.drop("base")


def beside_ranges(ranged: Frame, totals: Frame, keys: Sequence[str]) -> Frame:
    from pyspark.sql import functions  # noqa: PLC0415 - only with a frame of Spark at hand

    left = ranged.to_native()
    names = {name: f"totals_{name}" for name in ("range", *keys)}
    right = totals.to_native().withColumnsRenamed(names)
    same = " AND ".join(f"{key} <=> {names[key]}" for key in keys)
    if _placed_by(left, keys) == ["range"]:
        # Never less, as they are equal; but so Spark looks up, distributes or sorts by this alone.
        same = f"({same} OR range < totals_range)"
    on = functions.expr(f"range = totals_range AND {same}")
    result: Frame = nw.from_native(left.join(right, on, "left").drop(*names.values()))
    return result


def read_back(totals: Frame, keys: Sequence[str]) -> Frame:
    """Read the totals of ranges, which are few, and return them as a table that is in no plan.

    A plan that joins rows to their own totals holds itself twice: after ten steps a thousand times.
    """
    native = totals.to_native()
    schema = native.schema
    with errors_of_ours():
        table = native.sparkSession.createDataFrame(native.toArrow())
    # Arrow knows no collations.
    typed = [table[key].cast(schema[key].dataType).alias(key) for key in keys]
    rest = [name for name in table.columns if name not in keys]
    result: Frame = nw.from_native(table.select(*typed, *rest).hint("broadcast"))
    return result


def sent_to_tasks(totals: Frame) -> Frame:
    """Let Spark send the totals of ranges to each task, which takes no shuffle and no sort.

    A plan that does not adapt counts all before as sending, which must end within five minutes.
    """
    native = totals.to_native()
    adapts = native.sparkSession.conf.get("spark.sql.adaptive.enabled").lower() == "true"
    result: Frame = nw.from_native(native.hint("broadcast" if adapts else "merge"))
    return result
