"""Ranges of scores on Spark, so that no task sorts a segment that is most of the data.

A segment with many scores is cut into ranges of about equally many; any other is one range. The
place of the cuts does not change a result, but a task that runs a second time must find the same
ones. Hence they only depend on the data: they are exact quantiles of the scores that a hash
selects. What is summed up within the ranges, and across them, is in ``running_sums``.

The source is read twice: for the cuts, and for the counts. Where no segment is cut, Spark finds the
table of cuts empty while it runs the plan, and drops all that is joined with it.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from frame_prc._engines.operations import Frame

_RANGES = 256
# One in 256 distinct scores is sampled to find the cuts. Only segments with four samples per range
# are cut: those of about 262,144 scores or more.
_SAMPLED = 256
_FEWEST_SAMPLED = 4 * _RANGES

# What a range belongs to. First a number, by which Spark sorts faster than by a struct.
WITHIN = ("range", "segment")


def score_cuts(rows: Frame) -> Any:
    """Return a small Spark table: the scores at which each large segment is cut, ascending."""
    from pyspark.sql import functions  # noqa: PLC0415 - only with a frame of Spark at hand

    shares = ", ".join(f"{place / _RANGES}D" for place in range(1, _RANGES))
    cuts = functions.expr(f"percentile(CAST(score AS DOUBLE), array({shares})) AS cuts")
    picked = f"pmod(xxhash64(score), {_SAMPLED}) = 0 AND abs(score) < double('Infinity')"
    return (
        rows.to_native()
        .filter(picked)
        .select("segment", "score")
        .distinct()
        .groupBy("segment")
        .agg(cuts, functions.expr("count(*) AS sampled"))
        .filter(f"sampled >= {_FEWEST_SAMPLED}")
        .drop("sampled")
        .hint("broadcast")
    )


def spread(ranged: Frame) -> Frame:
    """Distribute the ranges over the partitions, once for all that reads them."""
    result: Frame = nw.from_native(ranged.to_native().repartition(*WITHIN))
    return result


def only_cut(totals: Frame, cuts: Any) -> Frame:
    """Return the rows of segments that are cut.

    This joins above the totals, so that Spark distributes the rows once; and it sees that there are
    no cuts before it adds anything up.
    """
    frame = totals.to_native()
    result: Frame = nw.from_native(frame.join(cuts.select("segment"), "segment"))
    return result


def beside_ranges(totals: Frame) -> Frame:
    """Distribute totals as the ranges are, to be joined with them by merging.

    Otherwise Spark would merge the partitions of ranges until each has 64 MB, or there are as many
    as cores. Scores compress so well that this may be most of a segment again. It does so where
    there are no totals: if no segment is cut.
    """
    frame = totals.to_native()
    spread_out = frame.repartition(_partitions(frame.sparkSession), *WITHIN)
    result: Frame = nw.from_native(spread_out.hint("merge"))
    return result


def _partitions(session: Any) -> int:
    """Return the number of partitions of a shuffle at its start."""
    number = session.conf.get("spark.sql.shuffle.partitions")
    at_start = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
    number = session.conf.get(at_start, number)
    return int(number) if number.isdigit() else _RANGES


def with_range(frame: Frame, cuts: Any) -> Frame:
    """Add ``range``, which ascends with the number of cuts up to each score, by bisection."""
    names = frame.columns
    found = frame.to_native().join(cuts, "segment", "left").selectExpr(*names, "cuts", "0 AS range")
    width = _RANGES // 2
    while width:
        # Spark 4.0 fails on an index into an array that is null.
        reached = f"cuts IS NOT NULL AND cuts[range + {width - 1}] <= CAST(score AS DOUBLE)"
        step = f"range + CASE WHEN {reached} THEN {width} ELSE 0 END AS range"
        found = found.selectExpr(*names, "cuts", step)
        width //= 2
    ranged: Frame = nw.from_native(found.selectExpr(*names, f"{_base(found)} + range AS range"))
    return ranged


def _base(found: Any) -> str:
    """Return the number that the ranges of a segment start from.

    Spark compares numbers first, and a struct only where they are equal. So the number tells most
    segments apart; but in a collation, strings with different hashes may be equal.
    """
    collated = " collate " in found.schema["segment"].dataType.simpleString()
    return "0L" if collated else f"(xxhash64(segment) & -{_RANGES}L)"
