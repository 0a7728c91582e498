"""Estimates for the rest of each segment: all rows outside of it.

Each rest has nearly all rows, so the work grows with rows times segments. Segments are evaluated in
blocks, and memory holds one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from frame_prc._curves.calibration import (
    amounts_of_classes,
    at_prevalence_of,
    effective_numbers,
    highest_odds,
    reference_of,
)
from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._formulas import unsigned_zero
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.measure import Measure
from frame_prc._lazy import in_order, in_python, left_join
from frame_prc._request.specs import Calibration
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
    model = rows.model_keys
    pool = pl.struct(model).rank("dense") if model else pl.lit(1, pl.UInt32)
    distinct = frame.select(rows.keys).unique().sort(rows.keys)
    segments = distinct.with_row_index("segment").with_columns(pool=pool)
    used = frame if rows.usable is None else frame.filter(rows.usable)
    numbered = left_join(used, segments, rows.keys, in_order=False).drop(rows.keys)
    _check_work(segments, numbered)
    every = _in_order(rows, numbered, scored=measure.scored)
    blocks = [
        block
        for pool in segments["pool"].unique(maintain_order=True).to_list() or [1]
        for block in _blocks(*_of_pool(pool, every, segments), measure)
    ]
    joined = segments.join(pl.concat(blocks), on="segment", maintain_order="left")
    return joined.select(*rows.keys, *_ESTIMATES, "covariance", "status", "few_negatives")


def _check_work(segments: pl.DataFrame, used: pl.DataFrame) -> None:
    sizes = segments.group_by("pool").len().join(used.group_by("pool").len("rows"), on="pool")
    work = sizes.select((pl.col("len").cast(pl.Int64) * pl.col("rows")).sum()).item()
    if work > _MOST_ROWS:
        raise OptionError(
            f"against='rest' would evaluate {work:,} rows: {segments.height:,} segments times "
            f"{used.height:,} rows",
            f"up to {_MOST_ROWS:,}",
            "against='others' compares with the mean of the others, each evaluated once",
        )


def _in_order(rows: Rows, frame: pl.DataFrame, *, scored: bool) -> Rows:
    """Return rows of one model in ranking order, with the number of their segment as their key."""
    score = unsigned_zero(pl.col("score"), rows.score_dtype)
    if not scored:
        score = score.rank("dense").cast(pl.UInt32)
    descends = [not rows.ascending, False]
    ordered = frame.with_columns(score).sort("score", "truth", descending=descends)
    columns = replace(
        rows.columns,
        request=replace(rows.columns.request, models={None: "score"}, model=None),
        scores=rows.columns.scores[:1],
        key_dtypes={"segment": pl.UInt32()},
    )
    return replace(
        replace(rows, height=0).without_values(),
        frame=ordered.lazy().rename({"segment": "key_0"}),
        columns=columns,
        score_dtype=rows.score_dtype if scored else pl.UInt32(),
        usable=None,
        n_dropped=None,
        check=lambda: None,  # the rows have been checked
    )


def _of_pool(pool: int, every: Rows, segments: pl.DataFrame) -> tuple[Rows, pl.Series]:
    """Return the rows of one model, and the numbers of its segments."""
    members = segments.filter(pl.col("pool") == pool)["segment"]
    frame = every.frame.filter(pl.col("pool") == pool).drop("pool")
    return replace(every, frame=frame), members


def _blocks(every: Rows, segments: pl.Series, measure: Measure) -> Iterator[pl.DataFrame]:
    """Yield the estimates of the rests of a block of segments of one model."""
    if measure.calibration is not None:
        measure = replace(measure, calibration=_given(every, measure.calibration))
    influences = None
    if every.columns.cluster is not None:
        influences = Estimates.of(every, measure).keyed_clusters().collect()
    for first, rest in _rests(every, segments):
        yield _estimates_of(Estimates.of(rest, measure), first, influences)


def _given(every: Rows, calibration: Calibration) -> Calibration:
    """Return the calibration with the prevalence of all segments, which a rest does not have."""
    if calibration.odds is not None:
        return calibration
    if not calibration.highest:
        return at_prevalence_of(every.frame, every.weight) or calibration
    classes = amounts_of_classes(every.weight)
    sums = {name: one.sum() for name, one in classes.items()}
    squares = {f"{name}_squares": (one**2).sum() for name, one in classes.items()}
    segments = every.frame.group_by("key_0").agg(**sums, **squares)
    segments = segments.with_columns(**effective_numbers(squares=True))
    odds, prevalence = segments.select(reference_of(highest_odds())).collect().row(0)
    return calibration if odds is None else Calibration(prevalence, odds)


def _rests(every: Rows, segments: pl.Series) -> Iterator[tuple[int, Rows]]:
    """Yield the number of the first segment of each block, and the rests of all its segments."""
    others = every.frame.rename({"key_0": "other"}).collect()
    block = min(max(1, _ROWS_IN_BLOCK // max(1, others.height)), _MOST_IN_BLOCK)
    columns = replace(every.columns, key_dtypes={"place": _PLACE})
    for start in range(0, max(1, len(segments)), block):
        numbers = segments[start : start + block].to_frame()
        first = numbers.item(0, 0) if numbers.height else 0
        paired = numbers.join(others, how="cross", maintain_order="left_right").lazy()
        place = (pl.col("segment") - first).cast(_PLACE).alias("key_0")
        rest = paired.filter(pl.col("segment") != pl.col("other")).with_columns(place)
        frame = rest.drop("segment", "other")
        yield first, replace(every, frame=frame, columns=columns)


def _estimates_of(rest: Estimates, first: int, own_influence: pl.DataFrame | None) -> pl.DataFrame:
    segment = (pl.col("key_0") + pl.lit(first, pl.UInt32)).alias("segment")
    found = rest.keyed().select(segment, *_ESTIMATES, "status", "few_negatives")
    if own_influence is None:
        return found.with_columns(covariance=pl.lit(0.0)).collect(engine="in-memory")
    influences = rest.keyed_clusters().with_columns(segment.alias("key_0"))
    shared = own_influence.lazy().join(influences, on=["key_0", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by(segment="key_0").agg(covariance=in_order(product.sort()))
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col("covariance").fill_null(0.0)).collect(engine="in-memory")
