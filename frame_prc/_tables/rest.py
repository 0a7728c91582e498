"""Estimates for the rest of each segment: all rows outside of it.

Each rest has nearly all rows, so the work grows with rows times segments. Segments are evaluated in
blocks, and memory holds one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._formulas import unsigned_zero
from frame_prc._inference.intervals import cluster_influence, estimates
from frame_prc._lazy import in_python, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

ESTIMATES = (AVERAGE_PRECISION, "shortfall", "variance", "n_effective", "status")

_ROWS_IN_BLOCK = 500_000  # the fastest size in measurements
_MOST_ROWS = 4_000_000_000
# Keys of such a narrow dtype number the segments themselves, without a look-up.
_PLACE, _MOST_IN_BLOCK = pl.UInt16(), 2**16


def rest_of_each_segment(rows: Rows) -> pl.LazyFrame:
    """Return the keys of each segment, and the estimates of all other rows of its model.

    ``covariance`` is that of the segment and its rest, from the clusters with rows in both.
    Segments without other rows are left out.
    """
    keys = rows.frame.select(rows.keys).collect_schema()
    numbers = dict.fromkeys((*ESTIMATES, "covariance"), pl.Float64())
    return in_python(
        rows.with_checks(rows.frame),
        lambda frame: _evaluated(rows, frame),
        pl.Schema({**keys, **numbers, "status": pl.String()}),
        in_memory=rows.in_memory,
    )


def _evaluated(rows: Rows, frame: pl.DataFrame) -> pl.DataFrame:
    model = rows.pooled().keys
    pool = pl.struct(model).rank("dense") if model else pl.lit(1, pl.UInt32)
    distinct = frame.select(rows.keys).unique().sort(rows.keys)
    segments = distinct.with_row_index("segment").with_columns(pool=pool)
    used = frame if rows.usable is None else frame.filter(rows.usable)
    numbered = left_join(used, segments, rows.keys, in_order=False).drop(rows.keys)
    _check_work(segments, numbered)
    every = _in_order(rows, numbered)
    influences = None if rows.columns.cluster is None else cluster_influence(every).collect()
    blocks = [_estimates_of(first, rest, influences) for first, rest in _rests(every, segments)]
    joined = segments.join(pl.concat(blocks), on="segment", maintain_order="left")
    return joined.select(*rows.keys, *ESTIMATES, "covariance")


def _check_work(segments: pl.DataFrame, used: pl.DataFrame) -> None:
    sizes = segments.group_by("pool").len().join(used.group_by("pool").len("rows"), on="pool")
    work = sizes.select((pl.col("len").cast(pl.Int64) * pl.col("rows")).sum()).item()
    if work > _MOST_ROWS:
        raise OptionError(
            f"against='rest' would evaluate {work:,} rows: {segments.height:,} segments times "
            f"{used.height:,} rows",
            f"up to {_MOST_ROWS:,}",
            "against='overall' compares each segment with all rows, which it evaluates once",
        )


def _in_order(rows: Rows, frame: pl.DataFrame) -> Rows:
    """Return rows of one model in ranking order, with the number of their segment as their key.

    Scores are replaced by their dense rank: narrow keys that are already in order are sorted fast.
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
        check=lambda: None,  # the rows have been checked
    )


def _rests(every: Rows, segments: pl.DataFrame) -> Iterator[tuple[int, Rows]]:
    """Yield the number of the first segment of each block, and the rests of all its segments.

    The key of a rest is the place of its segment in the block.
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
        return found.with_columns(covariance=pl.lit(0.0)).collect(engine="in-memory")
    influences = cluster_influence(rest).with_columns(segment.alias("key_0"))
    shared = own_influence.lazy().join(influences, on=["key_0", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by(segment="key_0").agg(covariance=product.sum())
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col("covariance").fill_null(0.0)).collect(engine="in-memory")
