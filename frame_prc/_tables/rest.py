"""Estimates for the rest of each segment: all rows outside of it.

Each rest has nearly all rows, so the work grows with rows times segments. Segments are evaluated in
blocks, and memory holds one block.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from frame_prc._curves.calibration import same_reference
from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.measure import Measure
from frame_prc._lazy import aggregated, in_order, in_python, key_names, left_join
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

_ESTIMATES = (ESTIMATE, "shortfall", "variance", "prevalence", "n_effective")

_ROWS_IN_BLOCK = 500_000  # the fastest size in measurements
_MOST_ROWS = 4_000_000_000
# Keys of such a narrow dtype number the segments themselves, without a look-up.
_PLACE, _MOST_IN_BLOCK = pl.UInt16(), 2**16


def rest_of_each_segment(rows: Rows, measure: Measure) -> pl.LazyFrame:
    """Return the keys of each segment, and the estimates of all other rows of its model."""
    keys = rows.frame.select(rows.keys).collect_schema()
    numbers = dict.fromkeys((*_ESTIMATES, "covariance"), pl.Float64())
    return in_python(
        rows.with_checks(rows.frame),
        lambda frame: _evaluated(rows, frame, measure),
        pl.Schema({**keys, **numbers, "status": pl.String(), "few_negatives": pl.Boolean()}),
        in_memory=rows.in_memory,
    )


def _evaluated(rows: Rows, frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return the estimates of the rests, of segments in blocks."""
    model = rows.model_keys
    segments = frame.select(rows.keys).unique().sort(rows.keys).with_row_index("segment")
    used = frame if rows.usable is None else frame.filter(rows.usable)
    # In ranking order, so that the sort of each block is fast.
    ranked = used.sort("score", "truth", descending=[not rows.ascending, False])
    others = left_join(ranked, segments, rows.keys).drop(set(rows.keys) - set(model))
    others = others.rename({"segment": "other"})
    _check_work(segments, others, model)
    every = replace(
        replace(rows, height=0).without_values(),
        frame=ranked.lazy(),
        usable=None,
        n_dropped=None,
        check=lambda: None,  # the rows have been checked
    )
    estimates, calibration = Estimates.of(every, measure), measure.calibration
    if calibration is not None and calibration.odds is None:
        # A rest has the reference of all segments.
        same = same_reference(estimates.keyed().collect().lazy(), model)
        measure = replace(measure, calibration=same)
    influences = None
    if rows.clustered:
        own = estimates.keyed_clusters().collect()
        influences = left_join(own, segments, rows.keys).lazy()
    block = min(max(1, _ROWS_IN_BLOCK // max(1, others.height)), _MOST_IN_BLOCK)
    columns, blocks = replace(rows.columns, key_dtypes={"place": _PLACE}), []
    for start in range(0, max(1, segments.height), block):
        numbers = segments[start : start + block].select(*model, "segment")
        paired = left_join(numbers, others, model).lazy()
        place = (pl.col("segment") - start).cast(_PLACE).alias(key_names(len(model) + 1)[-1])
        rest = paired.filter(pl.col("segment") != pl.col("other")).with_columns(place)
        part = replace(every, frame=rest.drop("segment", "other"), columns=columns)
        blocks.append(_estimates_of(Estimates.of(part, measure), start, influences))
    joined = segments.join(pl.concat(blocks), on="segment", maintain_order="left")
    return joined.select(*rows.keys, *_ESTIMATES, "covariance", "status", "few_negatives")


def _check_work(segments: pl.DataFrame, used: pl.DataFrame, model: list[str]) -> None:
    sizes = (aggregated(one.lazy(), model, n=pl.len().cast(pl.Int64)) for one in (segments, used))
    numbers, rows = (table.rename({"n": name}) for table, name in zip(sizes, "ab", strict=True))
    work = left_join(numbers, rows, model).select((pl.col("a") * pl.col("b")).sum())
    if work.collect().item() > _MOST_ROWS:
        raise OptionError(
            f"against='rest' would evaluate {work.collect().item():,} rows: {segments.height:,} "
            f"segments times {used.height:,} rows",
            f"up to {_MOST_ROWS:,}",
            "against='others' compares with the mean of the others, each evaluated once",
        )


def _estimates_of(rest: Estimates, first: int, influences: pl.LazyFrame | None) -> pl.DataFrame:
    place = rest.ranking.rows.keys[-1]
    segment = (pl.col(place) + pl.lit(first, pl.UInt32)).alias("segment")
    found = rest.keyed().select(segment, *_ESTIMATES, "status", "few_negatives")
    if influences is None:
        return found.with_columns(covariance=pl.lit(0.0)).collect(engine="in-memory")
    shared = influences.join(rest.keyed_clusters().with_columns(segment), on=["segment", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by("segment").agg(covariance=in_order(product.sort()))
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col("covariance").fill_null(0.0)).collect(engine="in-memory")
