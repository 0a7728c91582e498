"""Ranges of scores on Spark, so that no task sorts a segment that is most of the data.

A segment with many scores is cut into ranges of about equally many; any other is one range. The
place of the cuts does not change a result, but a task that runs a second time must find the same
ones. Hence they only depend on the data: they are quantiles of the scores that a hash selects. What
is summed up within the ranges, and across them, is in ``running_sums``.

The source is read twice: for the cuts, and for the counts. Where no segment is cut, Spark finds the
table of cuts empty while it runs the plan, and drops all that is joined with it.

The number of a range holds a hash of its segment. So Spark distributes, joins and first sorts by
this number alone; the keys tell apart the few ranges whose numbers are equal by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from frame_prc._engines.operations import Frame
from frame_prc._engines.sql_text import project

_RANGES = 256
# One in 256 distinct scores is sampled to find the cuts. Only segments with four samples per range
# are cut: those of about 262,144 scores or more.
_SAMPLED = 256
_FEWEST_SAMPLED = 4 * _RANGES
# A score's range is found among four parts, then among four parts of that, and so on.
_PARTS = 4


def packed(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the keys as one column ``segment`` to join on, which is never null."""
    return project(frame, "*", f"struct({', '.join(keys)}) AS segment")


def score_cuts(rows: Frame) -> Any:
    """Return a small Spark table: the scores at which each large segment is cut, ascending."""
    picked = f"pmod(xxhash64(score), {_SAMPLED}) = 0 AND abs(score) < double('Infinity')"
    place = f"CAST(cut * CAST(size(scores) AS BIGINT) DIV {_RANGES} AS INT)"
    return (
        rows.to_native()
        .filter(picked)
        .selectExpr("segment", "CAST(score AS DOUBLE) AS score")
        .groupBy("segment")
        .agg({"score": "collect_set"})
        .toDF("segment", "scores")
        .filter(f"size(scores) >= {_FEWEST_SAMPLED}")
        .selectExpr("segment", "sort_array(scores) AS scores")
        .selectExpr(
            "segment", f"transform(sequence(1, {_RANGES - 1}), cut -> scores[{place}]) AS cuts"
        )
        .hint("broadcast")
    )


def with_range(frame: Frame, cuts: Any) -> Frame:
    """Add ``range``, which ascends with the number of cuts up to each score."""
    names = frame.columns
    found = frame.to_native().join(cuts, "segment", "left").selectExpr(*names, "cuts", "0 AS range")
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
        found = found.selectExpr(*names, "cuts", step)
    ranged: Frame = nw.from_native(found.selectExpr(*names, f"{_base(found)} + range AS range"))
    return ranged


def _base(found: Any) -> str:
    """Return the number that the ranges of a segment start from."""
    return "0L" if _collated(found, ["segment"]) else f"(xxhash64(segment) & -{_RANGES}L)"


def _collated(native: Any, names: Sequence[str]) -> bool:
    """Return whether keys have a collation: strings with different hashes may be equal there."""
    schema = native.schema
    return any(" collate " in schema[name].dataType.simpleString() for name in names)


def _placed_by(native: Any, keys: Sequence[str]) -> list[str]:
    """Return what ranges are distributed by."""
    return ["range", *keys] if _collated(native, keys) else ["range"]


def spread(ranged: Frame, keys: Sequence[str]) -> Frame:
    """Distribute the ranges over the partitions, once for all that reads them."""
    native = ranged.to_native()
    result: Frame = nw.from_native(native.repartition(*_placed_by(native, keys)))
    return result


def only_cut(totals: Frame, cuts: Any, keys: Sequence[str]) -> Frame:
    """Return the rows of segments that are cut.

    This joins above the totals, so that Spark distributes the rows once; and it sees that there are
    no cuts before it adds anything up.
    """
    frame = packed(totals, keys).to_native()
    result: Frame = nw.from_native(frame.join(cuts.select("segment"), "segment"))
    return result.drop("segment")


def beside_ranges(ranged: Frame, totals: Frame, keys: Sequence[str]) -> Frame:
    """Add a row of totals, or nulls, to the rows of each range."""
    from pyspark.sql import functions  # noqa: PLC0415 - only with a frame of Spark at hand

    left = ranged.to_native()
    names = {name: f"totals_{name}" for name in ("range", *keys)}
    right = totals.to_native().withColumnsRenamed(names)
    same = " AND ".join(f"{key} <=> {names[key]}" for key in keys)
    if _placed_by(left, keys) == ["range"]:
        # Never less, as they are equal; but so Spark does not distribute and sort by the keys too.
        same = f"({same} OR range < totals_range)"
    on = functions.expr(f"range = totals_range AND {same}")
    result: Frame = nw.from_native(left.join(right, on, "left").drop(*names.values()))
    return result


def spread_out(totals: Frame, keys: Sequence[str]) -> Frame:
    """Distribute totals as the ranges are, to be joined with them by merging.

    Otherwise Spark would merge the partitions of ranges until each has 64 MB, or there are as many
    as cores. Scores compress so well that this may be most of a segment again. It does so where
    there are no totals: if no segment is cut.
    """
    frame = totals.to_native()
    placed = frame.repartition(_partitions(frame.sparkSession), *_placed_by(frame, keys))
    result: Frame = nw.from_native(placed.hint("merge"))
    return result


def _partitions(session: Any) -> int:
    """Return the number of partitions of a shuffle at its start."""
    number = session.conf.get("spark.sql.shuffle.partitions")
    at_start = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
    number = session.conf.get(at_start, number)
    return int(number) if number.isdigit() else _RANGES
