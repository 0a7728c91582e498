"""Ranges of scores on Spark, so that no task sorts a segment that is most of the data.

A segment with many scores is cut into ranges of about as many scores each. Where the cuts are does
not matter to a result, but every part of its plan must find the same ones, and so must a task that
runs a second time: they are the exact quantiles of those scores that a hash picks, and depend on
the data alone.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from frame_prc._engines.engine import Frame

_RANGES = 256
# One distinct score in so many is looked at to find the cuts. A range has four of them at the
# least, so a segment of fewer than about 262,144 scores is not cut.
_SAMPLED = 256
_FEWEST_SAMPLED = 4 * _RANGES


def score_cuts(rows: Frame) -> Any:
    """Return the scores at which each large segment is cut, ascending: a small table of Spark."""
    from pyspark.sql import functions  # noqa: PLC0415 - there, since there is a frame of its

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
    """Put each range into one of as many partitions as the session has for a shuffle.

    By itself Spark would merge partitions until each has 64 MB: scores pack so well that this may
    be most of a segment again.
    """
    frame = ranged.to_native()
    partitions = frame.sparkSession.conf.get("spark.sql.shuffle.partitions")
    count = int(partitions) if partitions.isdigit() else _RANGES
    result: Frame = nw.from_native(frame.repartition(count, "segment", "range"))
    return result


def with_range(frame: Frame, cuts: Any) -> Frame:
    """Add the number of cuts up to each score, by bisection: the higher, the higher the score."""
    names = frame.columns
    found = frame.to_native().join(cuts, "segment", "left").selectExpr(*names, "cuts", "0 AS range")
    width = _RANGES // 2
    while width:
        # Spark 4.0 looks into an array without asking whether there is one.
        reached = f"cuts IS NOT NULL AND cuts[range + {width - 1}] <= CAST(score AS DOUBLE)"
        step = f"range + CASE WHEN {reached} THEN {width} ELSE 0 END AS range"
        found = found.selectExpr(*names, "cuts", step)
        width //= 2
    ranged: Frame = nw.from_native(found.drop("cuts"))
    return ranged
