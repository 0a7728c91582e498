"""The rows outside of each segment, evaluated: what a segment is compared with.

Every segment has a rest of its own, of nearly all rows, so rests are evaluated in blocks of
segments: memory holds one block, and the work grows with rows times segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._formulas import unsigned_zero
from frame_prc._inference.influence import with_row_influence
from frame_prc._inference.intervals import cluster_sums, estimates, positive_weight
from frame_prc._lazy import in_python, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

ESTIMATES = (AVERAGE_PRECISION, "shortfall", "variance", "n_effective", "status")

_ROWS_IN_BLOCK = 500_000  # what a processor and its allocator work through fastest
_MOST_ROWS = 4_000_000_000
# Numbers of this dtype are sorted by as they are: no segment has to be looked up.
_PLACE, _MOST_IN_BLOCK = pl.UInt16(), 2**16
_COVARIANCE = "covariance"


def rest_of_each_segment(rows: Rows) -> pl.LazyFrame:
    """Return the keys of each segment, and the estimates of all rows of its model outside of it.

    ``covariance`` is that of the segment and its rest, by the clusters that have rows in both. A
    segment outside of which there are no rows has no row.
    """
    keys = rows.frame.select(rows.keys).collect_schema()
    numbers = dict.fromkeys((*ESTIMATES, _COVARIANCE), pl.Float64())
    return in_python(
        rows.with_checks(rows.frame),
        lambda frame: _evaluated(rows, frame),
        pl.Schema({**keys, **numbers, "status": pl.String()}),
        in_memory=rows.in_memory,
    )


def _evaluated(rows: Rows, frame: pl.DataFrame) -> pl.DataFrame:
    pool = rows.pooled().keys
    pools = pl.struct(pool).rank("dense") if pool else pl.lit(1, pl.UInt32)
    segments = frame.select(rows.keys).unique().sort(rows.keys).with_row_index("segment")
    segments = segments.with_columns(pool=pools)
    used = frame if rows.usable is None else frame.filter(rows.usable)
    numbered = left_join(used, segments, rows.keys, in_order=False).drop(rows.keys)
    _check_work(segments, numbered)
    every = _in_order(rows, numbered)
    influences = None if rows.columns.cluster is None else _cluster_influence(every).collect()
    blocks = [_estimates_of(first, rest, influences) for first, rest in _rests(every, segments)]
    joined = segments.join(pl.concat(blocks), on="segment", maintain_order="left")
    return joined.select(*rows.keys, *ESTIMATES, _COVARIANCE)


def _check_work(segments: pl.DataFrame, used: pl.DataFrame) -> None:
    sizes = segments.group_by("pool").len().join(used.group_by("pool").len("rows"), on="pool")
    work = sizes.select((pl.col("len").cast(pl.Int64) * pl.col("rows")).sum()).item()
    if work > _MOST_ROWS:
        raise OptionError(
            f"against='rest' is asked of {segments.height:,} segments and {used.height:,} rows, "
            f"which is {work:,} rows to evaluate",
            f"up to {_MOST_ROWS:,}",
            "against='overall' compares each segment with all rows, and evaluates these once",
        )


def _in_order(rows: Rows, frame: pl.DataFrame) -> Rows:
    """Return rows of a single model, keyed by the number of their segment, in ranking order.

    Levels take the place of scores: with narrow keys, in order already, a sort costs little.
    """
    score = unsigned_zero(pl.col("score"), rows.score_dtype).rank("dense").cast(pl.UInt32)
    ordered = frame.with_columns(score).sort("score", "truth", descending=[True, False])
    columns = replace(
        rows.columns,
        request=replace(rows.columns.request, models={None: "score"}),
        scores=rows.columns.scores[:1],
        key_dtypes={"segment": pl.UInt32()},
    )
    return replace(
        rows,
        frame=ordered.lazy().rename({"segment": "key_0"}),
        columns=columns,
        score_dtype=pl.UInt32(),
        usable=None,
        n_dropped=None,
        values=None,
        in_memory=True,
        check=lambda: None,  # of rows that have been checked
    )


def _rests(every: Rows, segments: pl.DataFrame) -> Iterator[tuple[int, Rows]]:
    """Yield blocks of segments: the number of the first, and the rows outside of each.

    These are keyed by the segment's place in the block.
    """
    others = every.frame.rename({"key_0": "other"}).collect()
    largest = others.group_by("pool").len().select(pl.col("len").max().fill_null(1)).item()
    block = min(max(1, _ROWS_IN_BLOCK // largest), _MOST_IN_BLOCK)
    columns = replace(every.columns, key_dtypes={"place": _PLACE})
    for first in range(0, max(1, segments.height), block):
        numbers = segments[first : first + block].select("pool", "segment")
        paired = numbers.join(others, on="pool", maintain_order="left_right").lazy()
        place = (pl.col("segment") - first).cast(_PLACE).alias("key_0")
        rest = paired.filter(pl.col("segment") != pl.col("other")).with_columns(place)
        yield first, replace(every, frame=rest, columns=columns)


def _estimates_of(first: int, rest: Rows, own_influence: pl.DataFrame | None) -> pl.DataFrame:
    segment = (pl.col("key_0") + pl.lit(first, pl.UInt32)).alias("segment")
    found = estimates(rank(rest, squares=True), rest).select(segment, *ESTIMATES)
    if own_influence is None:
        return found.with_columns(pl.lit(0.0).alias(_COVARIANCE)).collect(engine="in-memory")
    influences = _cluster_influence(rest).with_columns(segment.alias("key_0"))
    shared = own_influence.lazy().join(influences, on=["key_0", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by(segment="key_0").agg(product.sum().alias(_COVARIANCE))
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col(_COVARIANCE).fill_null(0.0)).collect(engine="in-memory")


def _cluster_influence(rows: Rows) -> pl.LazyFrame:
    """Return how far each cluster moves the average precision of each segment."""
    moved = with_row_influence(rows.used(), rows, "score", "influence").with_columns(
        positive_weight(rows)
    )
    return cluster_sums(moved, rows, [pl.col("influence")])
