"""Ranges of scores on Spark, so that no task sorts a segment that is most of the data.

A segment with many scores is cut into ranges of about equally many. The place of the cuts does not
change a result, but every part of its plan must find the same ones, and so must a task that runs a
second time. Hence they only depend on the data: they are exact quantiles of the scores that a hash
selects. What is summed up within the ranges, and across them, is in ``plans``.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw

from frame_prc._engines.engine import Frame

_RANGES = 256
# One in 256 distinct scores is sampled to find the cuts. Only segments with four samples per range
# are cut: those of about 262,144 scores or more.
_SAMPLED = 256
_FEWEST_SAMPLED = 4 * _RANGES


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
    """Distribute the ranges over as many partitions as the session has for a shuffle.

    Otherwise Spark would merge partitions until each has 64 MB. Scores compress so well that this
    may be most of a segment again.
    """
    frame = ranged.to_native()
    partitions = frame.sparkSession.conf.get("spark.sql.shuffle.partitions")
    count = int(partitions) if partitions.isdigit() else _RANGES
    result: Frame = nw.from_native(frame.repartition(count, "segment", "range"))
    return result


def with_range(frame: Frame, cuts: Any) -> Frame:
    """Add ``range``: the number of cuts up to each score, by bisection."""
    names = frame.columns
    found = frame.to_native().join(cuts, "segment", "left").selectExpr(*names, "cuts", "0 AS range")
    width = _RANGES // 2
    while width:
        # Spark 4.0 fails on an index into an array that is null.
        reached = f"cuts IS NOT NULL AND cuts[range + {width - 1}] <= CAST(score AS DOUBLE)"
        step = f"range + CASE WHEN {reached} THEN {width} ELSE 0 END AS range"
        found = found.selectExpr(*names, "cuts", step)
        width //= 2
    ranged: Frame = nw.from_native(found.drop("cuts"))
    return ranged
