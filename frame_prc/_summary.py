"""Scorecards: all that is said of a segment in one row, from one sort; pooled and macro rows."""

from __future__ import annotations

import polars as pl

from frame_prc import _areas
from frame_prc._areas import (
    AVERAGE_PRECISION,
    N_UNDEFINED,
    NONE_UNDEFINED,
    SIZES,
    UNDEFINED,
    Method,
)
from frame_prc._expressions import total
from frame_prc._influence import spreads_of
from frame_prc._intervals import COLUMNS as INTERVAL
from frame_prc._intervals import Interval, check_method, with_interval
from frame_prc._normalised import with_normalised
from frame_prc._operating import f_score, first_best
from frame_prc._plan import aggregated, join, matched, once
from frame_prc._ranking import Ranking, rank
from frame_prc._rows import DROPPED, Rows

LEVEL = "level"

_METHODS: tuple[Method, ...] = ("step", "interpolated", "gain")
_CALIBRATED = "calibrated_average_precision"
_MEASURES = (
    "lift", "normalised_average_precision", _CALIBRATED, "interpolated", "normalised_interpolated",
    "gain", "best_f1",
)  # fmt: skip
COLUMNS = (
    *SIZES, *DROPPED, "status", AVERAGE_PRECISION, *INTERVAL, *_MEASURES, "best_f1_threshold",
)  # fmt: skip

_TP, _FP = pl.col("tp"), pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_AREA = pl.col(AVERAGE_PRECISION)


def outputs(*, overall: bool) -> tuple[str, ...]:
    """Return the columns of a summary beside its keys."""
    return (LEVEL, *COLUMNS, UNDEFINED) if overall else COLUMNS


def summary(rows: Rows, interval: Interval, *, overall: bool) -> pl.LazyFrame:
    """Return one row per segment, and with ``overall`` one for all rows and one for the mean."""
    check_method(rows, interval)
    segments = _scorecards(rows, interval)
    if not overall:
        return rows.finish(segments, COLUMNS)
    segments = once(segments)
    pooled = _scorecards(rows.pooled(), interval).with_columns(NONE_UNDEFINED)
    levels = {"segment": segments, "pooled": pooled, "macro": _macro(segments, rows, interval)}
    named = [frame.with_columns(pl.lit(name).alias(LEVEL)) for name, frame in levels.items()]
    every = pl.concat(named, how="diagonal", parallel=False)
    tidy = rows.finish(every, outputs(overall=True))
    return tidy.select(LEVEL, pl.exclude(LEVEL))


# --- segments ------------------------------------------------------------------------------


def _scorecards(rows: Rows, interval: Interval) -> pl.LazyFrame:
    """Return keys and scorecard of every segment."""
    ranking = rank(rows, squares=True)
    steps = once(_areas.steps(ranking, _METHODS))
    spread = spreads_of(steps, ranking).select("segment", "lack", "variance", "effective")
    areas = _areas_of(_with_reference(steps, ranking), ranking)
    table = join(areas, spread, on="segment", how="left", maintain_order="left").with_columns(
        *_areas.sizes(_POSITIVES, _NEGATIVES), pl.col("step").alias(AVERAGE_PRECISION)
    )
    both = (_POSITIVES > 0) & (_NEGATIVES > 0)
    best = _with_best(table, ranking).with_columns(
        (_AREA / pl.col("prevalence")).alias("lift"), pl.when(both).then(pl.col(_CALIBRATED))
    )
    measured = with_normalised(best, weighted=rows.columns.weighted)
    table = with_interval(_with_every_dropped(measured, ranking), interval)
    # Of the columns on the way, some have a dtype of this ranking, and not of the next.
    return ranking.segments.with_keys(table).select(*rows.keys, *COLUMNS, "lack", "effective")


def _areas_of(steps: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return the areas of each segment, and its step of the best F1."""
    rated = steps.with_columns(
        _where_grown(_areas.calibrated_step_area(pl.col("reference")), _CALIBRATED),
        _where_grown(f_score(_TP, _FP, _POSITIVES - _TP, 1), "f1"),
        _where_grown(_areas.interpolated_lack(), "interpolated_lack"),
    )
    never = (_POSITIVES.first() - _TP.max()) / _POSITIVES.first()
    return _areas.areas_of(
        rated.with_row_index("place"),
        _METHODS,
        weighted=ranking.rows.columns.weighted,
        best=first_best(pl.col("f1"), pl.struct("slot", "f1")),
        **{_CALIBRATED: total(pl.col(_CALIBRATED))},
        interpolated_lack=total(pl.col("interpolated_lack")) + never,
    )


def _where_grown(value: pl.Expr, name: str) -> pl.Expr:
    return pl.when(~pl.col("opens")).then(value).alias(name)


def _with_reference(steps: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Add the prevalence of all rows of the model, at which each segment is calibrated."""
    model = ["key_0"] if ranking.rows.columns.several_models else []
    totals = steps.filter("opens").select("segment", "positives", "negatives")
    keys = ranking.segments.table.select("segment", *model)
    models = join(totals, keys, on="segment", how="left")
    sums = [pl.col(name).sum() for name in ("positives", "negatives")]
    pooled = aggregated(models, model, *sums)
    share = _POSITIVES / (_POSITIVES + _NEGATIVES)
    reference = pooled.select(*model, reference=share)
    of_segment = matched(models, reference, model, in_order=False).select("segment", "reference")
    return join(steps, of_segment, on="segment", how="left", maintain_order="left")


def _with_best(table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Turn the best step into its F1 and its threshold."""
    threshold = pl.when(pl.col("best").is_not_null()).then(pl.col("score"))
    return ranking.with_score(
        table.with_columns(
            # Where no positive is ever retrieved there is no step, and the best is 0.
            pl.when(_POSITIVES > 0)
            .then(pl.col("best").struct.field("f1").fill_null(0.0))
            .alias("best_f1"),
            pl.col("best").struct.field("slot").alias("slot"),
        )
    ).with_columns(threshold.cast(ranking.threshold_dtype).alias("best_f1_threshold"))


def _with_every_dropped(table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    if ranking.rows.n_dropped is None:
        return table.with_columns(pl.lit(0, pl.Int64).alias(name) for name in DROPPED)
    return ranking.with_dropped(table)


# --- all segments --------------------------------------------------------------------------


def _macro(segments: pl.LazyFrame, rows: Rows, interval: Interval) -> pl.LazyFrame:
    """Return the mean of the segments of each model; those without a measure are left out.

    Segments share no row, so the variance of the mean is that of the sum of independent areas.
    """
    model = rows.pooled().keys
    n_defined, error = _AREA.count(), pl.col("std_error")
    aggregates = [
        pl.col("n", "n_pos", *DROPPED, "effective").sum(),
        pl.col(AVERAGE_PRECISION, "lack", *_MEASURES).mean(),
        (error**2).sum().alias("variance"),
        error.count().alias("n_errors"),
        n_defined.alias("n_defined"),
        N_UNDEFINED,
    ]
    means = aggregated(segments, model, *aggregates)
    totals = means.with_columns(
        variance=pl.when(pl.col("n_errors") == pl.col("n_defined")).then(
            pl.col("variance") / pl.col("n_defined") ** 2
        ),
        positives="n_pos",
        negatives=pl.col("n") - pl.col("n_pos"),
    ).with_columns(_areas.sizes(_POSITIVES, _NEGATIVES))
    return with_interval(totals.sort(model) if model else totals, interval)
