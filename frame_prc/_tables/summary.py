"""Scorecards: all measures of a segment in one row, from one sort; also pooled and averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    N_UNDEFINED,
    NONE_UNDEFINED,
    SIZES,
    UNDEFINED,
    areas_of,
    calibrated_step_area,
    interpolated_shortfall,
    steps,
)
from frame_prc._curves.operating_points import best, with_order
from frame_prc._formulas import f_score, precision, sizes, total
from frame_prc._inference.chance import RANDOM, with_random
from frame_prc._inference.influence import spreads_of
from frame_prc._inference.intervals import INTERVAL, with_interval
from frame_prc._lazy import aggregated, cached, join, left_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Interval, Method
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc._rows.table import Table
from frame_prc._tables.normalised import with_lift, with_normalised

LEVEL = "level"

_METHODS: tuple[Method, ...] = ("step", "interpolated", "gain")
_CALIBRATED = "calibrated_average_precision"
_MEASURES = (
    RANDOM, "lift", "chance_corrected_average_precision", "normalised_average_precision",
    _CALIBRATED, "interpolated", "normalised_interpolated", "gain", "best_f1",
)  # fmt: skip
_SCORECARD = (
    *SIZES, *DROPPED, "status", AVERAGE_PRECISION, *INTERVAL, *_MEASURES, "best_f1_threshold",
)  # fmt: skip

_TP, _FP = pl.col("tp"), pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class Summary(Table):
    """One row per segment; ``overall`` adds one for all rows and one for the mean of segments."""

    interval: Interval
    overall: bool
    counts_dropped = False  # the scorecard always has that column

    @property
    def outputs(self) -> Sequence[str]:
        """The columns other than keys."""
        return (LEVEL, *_SCORECARD, UNDEFINED) if self.overall else _SCORECARD

    @property
    def leading(self) -> Sequence[str]:
        """The column that comes before the keys."""
        return (LEVEL,) if self.overall else ()

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the scorecards."""
        segments = _scorecards(rows, self.interval)
        return _with_overall(cached(segments), rows, self.interval) if self.overall else segments


def _with_overall(segments: pl.LazyFrame, rows: Rows, interval: Interval) -> pl.LazyFrame:
    """Add a scorecard of all rows and one of the mean of segments, for each model."""
    pooled = _scorecards(rows.pooled(), interval).with_columns(NONE_UNDEFINED)
    levels = {"segment": segments, "pooled": pooled, "macro": _macro(segments, rows, interval)}
    named = [frame.with_columns(pl.lit(name).alias(LEVEL)) for name, frame in levels.items()]
    return pl.concat(named, how="diagonal", parallel=False)


# --- segments ------------------------------------------------------------------------------


def _scorecards(rows: Rows, interval: Interval) -> pl.LazyFrame:
    """Return the keys and the scorecard of each segment."""
    ranking = rank(rows, squares=not rows.columns.lacks_squares)
    grown = cached(steps(ranking, _METHODS))
    spread = _spread(grown, ranking)
    areas = _areas_of(_with_reference(grown, ranking), ranking)
    table = join(areas, spread, on="segment", how="left", maintain_order="left").with_columns(
        *sizes(_POSITIVES, _NEGATIVES), pl.col("step").alias(AVERAGE_PRECISION)
    )
    both = (_POSITIVES > 0) & (_NEGATIVES > 0)
    best = _with_best(table, ranking).with_columns(pl.when(both).then(pl.col(_CALIBRATED)))
    beside = with_lift(with_random(best, ranking, ["segment"]))
    measured = with_normalised(beside, weighted=rows.columns.weighted)
    table = with_interval(_with_dropped(measured, ranking), interval)
    # Without working columns, whose dtypes vary between rankings.
    columns = (*rows.keys, *_SCORECARD, "shortfall", "n_effective")
    return ranking.segments.with_keys(table).select(columns)


def _spread(steps: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return what intervals need; without sums of squared weights only the shortfall."""
    names = ["variance", "n_effective"]
    spread = spreads_of(steps, ranking).select("segment", "shortfall", *names)
    if not ranking.rows.columns.lacks_squares:
        return spread
    return spread.with_columns(pl.lit(None, pl.Float64).alias(name) for name in names)


def _areas_of(steps: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return the areas of each segment, and its step with the best F1."""
    values = {
        _CALIBRATED: calibrated_step_area(pl.col("reference_odds")),
        "f1": f_score(_TP, _FP, _POSITIVES - _TP, 1),
        "precision": precision(_TP, _FP),
        "interpolated_shortfall": interpolated_shortfall(),
    }
    rated = steps.with_columns(
        pl.when(~pl.col("opens")).then(value).alias(name) for name, value in values.items()
    )
    never = (_POSITIVES.first() - _TP.max()) / _POSITIVES.first()
    return areas_of(
        with_order(rated),
        _METHODS,
        weighted=ranking.rows.columns.weighted,
        best=best(pl.col("f1"), "slot", "f1"),
        **{_CALIBRATED: total(pl.col(_CALIBRATED))},
        interpolated_shortfall=total(pl.col("interpolated_shortfall")) + never,
    )


def _with_reference(steps: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Add the odds of a negative among all rows of the model, for calibration."""
    model = ["key_0"] if ranking.rows.columns.several_models else []
    totals = steps.filter("opens").select("segment", "positives", "negatives")
    keys = ranking.segments.table.select("segment", *model)
    models = join(totals, keys, on="segment", how="left")
    pooled = aggregated(models, model, _POSITIVES.sum(), _NEGATIVES.sum())
    reference = pooled.select(*model, reference_odds=_NEGATIVES / _POSITIVES)
    odds = left_join(models, reference, model, in_order=False).select("segment", "reference_odds")
    return join(steps, odds, on="segment", how="left", maintain_order="left")


def _with_best(table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Replace the best step by its F1 and its threshold."""
    step = pl.col("best")
    # If no positive is ever retrieved there are no steps, and the best F1 is 0.
    f1 = pl.when(_POSITIVES > 0).then(step.struct.field("f1").fill_null(0.0))
    scored = ranking.with_score(table.with_columns(best_f1=f1, slot=step.struct.field("slot")))
    threshold = pl.when(step.is_not_null()).then("score").cast(ranking.threshold_dtype)
    return scored.with_columns(best_f1_threshold=threshold)


def _with_dropped(table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    if ranking.rows.n_dropped is None:
        return table.with_columns(pl.lit(0, pl.Int64).alias(name) for name in DROPPED)
    return ranking.with_dropped(table)


# --- all segments --------------------------------------------------------------------------


def _macro(segments: pl.LazyFrame, rows: Rows, interval: Interval) -> pl.LazyFrame:
    """Return the mean of the segments of each model; undefined measures are left out.

    Segments have different rows, so the variances of their areas add up.
    """
    model = rows.pooled().keys
    error, n_effective = pl.col("std_error"), pl.col("n_effective")
    # Only sums: Polars 1.41 streams a select that combines aggregates with a wrong height.
    sums = aggregated(
        segments,
        model,
        pl.col("n", "n_pos", *DROPPED).sum(),
        pl.col(AVERAGE_PRECISION, "shortfall", *_MEASURES).mean(),
        N_UNDEFINED,
        n_effective=n_effective.sum(),
        n_known=n_effective.count(),
        variance=(error**2).sum(),
        n_errors=error.count(),
        n_defined=pl.col(AVERAGE_PRECISION).count(),
    )
    # As a float: the square of many segments is beyond UInt32.
    variance = pl.col("variance") / pl.col("n_defined").cast(pl.Float64) ** 2
    totals = sums.with_columns(
        n_effective=pl.when(pl.col("n_known") > 0).then("n_effective"),
        variance=pl.when(pl.col("n_errors") == pl.col("n_defined")).then(variance),
        positives="n_pos",
        negatives=pl.col("n") - pl.col("n_pos"),
    ).with_columns(sizes(_POSITIVES, _NEGATIVES))
    return with_interval(totals.sort(model) if model else totals, interval)
