"""Estimates for the rest of each segment: all rows outside of it.

Each rest has nearly all rows, so the work grows with rows times segments. Segments are evaluated in
blocks, and memory holds one block.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from frame_prc._curves.calibration import same_reference
from frame_prc._curves.logit_intervals import ESTIMATE, OF_SQUARES
from frame_prc._formulas import unsigned_zero
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.measure import Measure
from frame_prc._lazy import aggregated, in_order, left_join, parts_by
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import OptionError

_ESTIMATES = (ESTIMATE, "shortfall", "variance", OF_SQUARES, "prevalence", "n_effective")

_ROWS_IN_BLOCK = 500_000  # the fastest size in measurements
_MOST_ROWS = 4_000_000_000
# Keys of such a narrow dtype number the segments themselves, without a look-up.
_PLACE, _MOST_IN_BLOCK = pl.UInt16(), 2**16


def rest_of_each_segment(rows: Rows, measure: Measure) -> pl.LazyFrame:
    """Return the keys of each segment, and the estimates of all other rows of its model."""
    keys = rows.frame.select(rows.keys).collect_schema()
    numbers = dict.fromkeys((*_ESTIMATES, "covariance"), pl.Float64())
    return rows.in_python(
        rows.with_checks(rows.frame),
        lambda frame: _evaluated(rows, frame, measure),
        {**keys, **numbers, "status": pl.String(), "few_negatives": pl.Boolean()},
    )


def _evaluated(rows: Rows, frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    model, used = rows.model_keys, frame if rows.usable is None else frame.filter(rows.usable)
    score = unsigned_zero(pl.col("score"), rows.score_dtype)
    if not measure.scored:
        score = score.rank("dense").cast(pl.UInt32)
    # In ranking order, so that the sort of each block is fast.
    descends = [not rows.ascending, False]
    ranked = used.with_columns(score).sort("score", "truth", descending=descends)
    columns = rows.columns
    request = replace(columns.request, models={None: "score"}, model=None)
    of_model = replace(
        replace(rows, height=0).without_values(),
        columns=replace(columns, request=request, model=None, scores=columns.scores[:1]),
        score_dtype=ranked.schema["score"],
        usable=None,
        n_dropped=None,
        check=lambda: None,  # the rows have been checked
    )
    renamed = dict(zip(rows.keys[len(model) :], of_model.keys, strict=True))
    segments, parts = frame.select(rows.keys).unique().sort(rows.keys), []
    _check_work(segments, used, model)
    for own in parts_by(segments, model) or [segments]:
        part = ranked
        if model:
            part = ranked.join(own.head(1), on=model, how="semi", nulls_equal=True)
        one = replace(of_model, frame=part.drop(model).rename(renamed).lazy())
        numbered = own.drop(model).rename(renamed).with_row_index("segment")
        parts.append(own.hstack(_of_model(one, numbered, measure)))
    return pl.concat(parts)


def _of_model(rows: Rows, segments: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    """Return the estimates of the rest of each segment of one model, in blocks of segments."""
    estimates, calibration = Estimates.of(rows, measure), measure.calibration
    if calibration is not None and calibration.odds is None:
        # A rest has the reference of all segments.
        same = same_reference(estimates.keyed().collect().lazy(), [])
        measure = replace(measure, calibration=same)
    influences = None
    if rows.clustered:
        influences = left_join(estimates.keyed_clusters(), segments.lazy(), rows.keys).collect()
    others = left_join(rows.frame.collect(), segments, rows.keys).drop(rows.keys)
    others = others.rename({"segment": "other"})
    block = min(max(1, _ROWS_IN_BLOCK // max(1, others.height)), _MOST_IN_BLOCK)
    columns, blocks = replace(rows.columns, key_dtypes={"place": _PLACE}), []
    for start in range(0, max(1, segments.height), block):
        numbers = segments[start : start + block].select("segment")
        paired = numbers.join(others, how="cross", maintain_order="left_right").lazy()
        place = (pl.col("segment") - start).cast(_PLACE).alias("key_0")
        rest = paired.filter(pl.col("segment") != pl.col("other")).with_columns(place)
        part = replace(rows, frame=rest.drop("segment", "other"), columns=columns)
        blocks.append(_estimates_of(Estimates.of(part, measure), start, influences))
    found = segments.join(pl.concat(blocks), on="segment", how="left", maintain_order="left")
    return found.select(*_ESTIMATES, "covariance", "status", "few_negatives")


def _check_work(segments: pl.DataFrame, used: pl.DataFrame, model: list[str]) -> None:
    numbers, rows = (
        aggregated(one.lazy(), model, n=pl.len().cast(pl.Int64)) for one in (segments, used)
    )
    products = left_join(numbers, rows, model).select((pl.col("n") * pl.col("n_right")).sum())
    work = products.collect().item()
    if work > _MOST_ROWS:
        raise OptionError(
            f"against='rest' would evaluate {work:,} rows: {segments.height:,} segments times "
            f"{used.height:,} rows",
            f"up to {_MOST_ROWS:,}",
            "against='others' compares with the mean of the others, each evaluated once",
        )


def _estimates_of(rest: Estimates, first: int, influences: pl.DataFrame | None) -> pl.DataFrame:
    segment = (pl.col("key_0") + pl.lit(first, pl.UInt32)).alias("segment")
    found = rest.keyed().select(segment, *_ESTIMATES, "status", "few_negatives")
    if influences is None:
        return found.with_columns(covariance=pl.lit(0.0)).collect(engine="in-memory")
    own, clusters = influences.lazy(), rest.keyed_clusters().with_columns(segment)
    shared = own.join(clusters, on=["segment", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by("segment").agg(covariance=in_order(product.sort()))
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col("covariance").fill_null(0.0)).collect(engine="in-memory")
