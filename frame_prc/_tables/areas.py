"""The average precision of each segment, and other areas, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    TIE_BOUNDS,
    AreaSpec,
    kept_of,
    sized_areas,
    tie_bounds,
)
from frame_prc._curves.calibration import CALIBRATED, REFERENCE
from frame_prc._curves.logit_intervals import INTERVAL, RANDOM
from frame_prc._inference import areas as area
from frame_prc._inference.areas import with_partial_chance, with_random
from frame_prc._inference.estimates import Estimates, with_few_scores
from frame_prc._inference.intervals import check_drawable, check_method, with_interval
from frame_prc._lazy import join, left_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Calibration, Draws, Interval, Top
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table, details

CLASSES = [
    pl.col("n_pos").alias("positives"),
    (pl.col("n") - pl.col("n_pos")).alias("negatives"),
]

_COUNTS = ("n", "n_pos", *details("prevalence"))
DETAILED_INTERVAL = (*details(INTERVAL[0]), *INTERVAL[1:])
_INTERVAL = (*details("n_effective"), *DETAILED_INTERVAL)


@dataclass(frozen=True)
class AveragePrecision(Table):
    """One row per segment: its size and average precision, maybe an interval and tie bounds."""

    bins: Bins | None = None
    interval: Interval | None = None
    bounds: bool = False
    chance: bool = False
    calibration: Calibration | None = None
    top: Top | None = None
    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        resampled = self.interval is not None and self.interval.resampling is not None
        by_frame = self.calibration is not None and self.calibration.given is not None
        refused = {"top": self.top is not None, "ci= by bootstrap": resampled}
        return refused | {"calibrate= as a frame": by_frame}

    @property
    def outputs(self) -> Sequence[str]:
        interval = () if self.interval is None else _INTERVAL
        bounds = TIE_BOUNDS if self.bounds else ()
        chance = (RANDOM,) if self.chance else ()
        area = (AVERAGE_PRECISION,) if self.calibration is None else (REFERENCE, CALIBRATED)
        return (*_COUNTS, *area, *interval, *bounds, "status", *chance)

    def of(self, rows: Rows) -> pl.LazyFrame:
        if self.interval is not None:
            check_method(rows, self.interval)
        # All columns share one ranking, so that bins are counted in a single pass over the rows.
        table, ranking = self._areas(rows)
        if self.chance or self.interval is not None:
            table = self._with_random(table, ranking)
        if self.interval is not None:
            table = with_interval(
                table,
                self.interval,
                clustered=rows.clustered,
                replicates=_replicates(self.interval),
            )
            table = with_few_scores(table, rows, self.bins)
        if self.bounds:
            there = rows.elsewhere
            if there is None:
                bounds = ranking.segments.with_keys(tie_bounds(ranking))
            else:
                bounds = there.tie_bounds(rows, self.bins)
            table = left_join(table, bounds, rows.keys)
        name = AVERAGE_PRECISION if self.calibration is None else CALIBRATED
        return table.rename({"estimate": name})

    def _areas(self, rows: Rows) -> tuple[pl.LazyFrame, Ranking]:
        if self.interval is None and rows.elsewhere is None:
            ranking = rank(rows, self.bins, at=self.calibration)
            areas = sized_areas(ranking, self.calibration, self.top)
            return areas.rename({AVERAGE_PRECISION: "estimate"}), ranking
        estimates = Estimates.of(rows, area.AveragePrecision(self.calibration), self.bins)
        table = estimates.keyed()
        if self.interval is not None and self.interval.resampling is not None:
            from frame_prc._inference.resamples import variances  # noqa: PLC0415 - needs NumPy

            drawn = variances(rows, self.interval.resampling, self.bins)
            table = left_join(table.drop("variance"), drawn, rows.keys)
        return table, estimates.ranking

    def _with_random(self, table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        if self.top is not None:
            spec = AreaSpec(["step"], top=self.top)
            return with_partial_chance(table, ranking, spec, ranking.rows.keys)
        if self.calibration is not None:
            return table.with_columns(pl.col(REFERENCE).alias(RANDOM))
        return with_random(table.with_columns(CLASSES), ranking, ranking.rows.keys)


# --- by one or more methods --------------------------------------------------------------------

# Of an average precision: what an interval is made of.
_ESTIMATE = (
    "shortfall", "variance", "n_effective", "n_trials", "most_bias", "of_squares",
    "few_negatives", RANDOM,
)  # fmt: skip
_ROUNDING = 1e-12

_AUC, _METHOD, _SHARE = pl.col("auc"), pl.col("method"), pl.col("share")
_POSITIVES, _NEGATIVES = pl.col("n_pos"), pl.col("n") - pl.col("n_pos")


def _replicates(interval: Interval) -> pl.Expr | None:
    drawn = interval.resampling
    return None if drawn is None else pl.lit(float(drawn.replicates))


@dataclass(frozen=True)
class Areas(Table):
    """One row per segment and method.

    The whole step area has the interval of the average precision, the others one of the same kind
    around the area as a share of the largest one, with their variance over replicates.
    """

    spec: AreaSpec
    bins: Bins | None
    calibration: Calibration | None = None
    interval: Interval | None = None
    chance: bool = False

    @property
    def outputs(self) -> Sequence[str]:
        interval = () if self.interval is None else _INTERVAL
        chance = (RANDOM,) if self.chance else ()
        kept = kept_of(self.calibration)
        return (*_COUNTS, *kept, "method", "auc", *interval, *chance, "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        resampling = None if self.interval is None else self.interval.resampling
        if resampling is not None:
            check_drawable(rows)
        ranking = rank(rows, self.bins, at=self.calibration)
        table = self.spec.of(ranking, self.calibration)
        if resampling is not None:
            on = ["segment", "method"]
            drawn = self._drawn(ranking, rows, resampling)
            table = join(table, drawn, on=on, how="left", maintain_order="left")
        keyed = ranking.segments.with_keys(ranking.with_dropped(table))
        if self.interval is not None:
            limited = self._with_limits(keyed, rows, self.interval)
            keyed = with_few_scores(limited, rows, self.bins)
        if self.chance:
            keyed = with_partial_chance(keyed, ranking, self.spec, rows.keys)
        return keyed

    def _drawn(self, ranking: Ranking, rows: Rows, resampling: Draws) -> pl.LazyFrame:
        spec, weighted = self.spec.drawn, ranking.rows.columns.weighted
        methods = pl.Series([*spec.methods], dtype=pl.String)
        numbers = {method: place for place, method in enumerate(methods)}

        def areas(points: pl.LazyFrame) -> pl.LazyFrame:
            found = spec.of_points(points, weighted=weighted)
            order = _METHOD.replace_strict(numbers, return_dtype=pl.Int64)
            return found.select("segment", "auc", order=order)

        from frame_prc._inference.resamples import over_replicates  # noqa: PLC0415 - needs NumPy

        drawn = over_replicates(
            ranking,
            rows,
            resampling,
            areas,
            {"drawn": _AUC.var()},
            every_score=not spec.needs_only_hits,
            bins=self.bins,
        )
        method = pl.lit(methods).gather("order").alias("method")
        return drawn.select("segment", method, "drawn")

    def _with_limits(self, table: pl.LazyFrame, rows: Rows, interval: Interval) -> pl.LazyFrame:
        by_influence = replace(interval, method="influence", resampling=None)
        whole = AveragePrecision(self.bins, by_influence).of(rows)
        table = left_join(
            table,
            whole.select(*rows.keys, pl.col(AVERAGE_PRECISION).alias("estimate"), *_ESTIMATE),
            rows.keys,
        )
        if interval.resampling is None:
            return with_interval(table, by_influence, clustered=rows.clustered)
        shares = self._as_shares(table)
        is_drawn = _METHOD.is_in([*self.spec.drawn.methods])
        found = with_interval(
            shares,
            by_influence,
            clustered=rows.clustered,
            replicates=pl.when(is_drawn).then(_replicates(interval)),
        )
        return found.with_columns(self._as_areas())

    def _as_shares(self, table: pl.LazyFrame) -> pl.LazyFrame:
        most, counted = self._most()
        precision = 1 / (1 + (1 - _AUC) * (_NEGATIVES / _POSITIVES))
        of_gain = {"share": precision, "slope": precision**2 * (_NEGATIVES / _POSITIVES)}
        others = {"share": _AUC / most, "slope": 1 / most}
        is_gain, is_drawn = _METHOD == "gain", _METHOD.is_in([*self.spec.drawn.methods])
        scaled = table.with_columns(
            pl.when(is_gain).then(of_gain[name]).otherwise(others[name]).alias(name)
            for name in of_gain
        )
        share = pl.when(_SHARE < 1 - _ROUNDING).then(_SHARE).when(_SHARE.is_not_null()).then(1.0)
        drawn = {
            "estimate": share,
            "shortfall": 1 - share,
            "variance": pl.col("drawn") * pl.col("slope") ** 2,
            "n_effective": pl.col("n_effective") * counted,
            "n_trials": pl.col("n_trials") * counted,
            "most_bias": pl.lit(None, pl.Float64),
            "of_squares": pl.lit(0.0),
            RANDOM: pl.lit(None, pl.Float64),
        }
        return scaled.with_columns(
            pl.when(is_drawn).then(value).otherwise(name).alias(name)
            for name, value in drawn.items()
        )

    def _as_areas(self) -> list[pl.Expr]:
        is_drawn, slope = _METHOD.is_in([*self.spec.drawn.methods]), pl.col("slope")
        odds = _POSITIVES / _NEGATIVES
        limits = [
            pl.when(_METHOD == "gain")
            .then(1 - (1 - limit) / limit * odds)
            .when(is_drawn)
            .then(limit / slope)
            .otherwise(limit)
            for limit in (pl.col("ci_low"), pl.col("ci_high"))
        ]
        error = pl.when(is_drawn).then(pl.col("std_error") / slope).otherwise("std_error")
        return [value.alias(name) for name, value in zip(INTERVAL, (error, *limits), strict=True)]

    def _most(self) -> tuple[pl.Expr, pl.Expr]:
        """Return the largest area, and the share of the positives that it is made of."""
        last, top = (self.spec.recall_range or (0.0, 1.0))[1], self.spec.top
        if top is None:
            return pl.lit(self.spec.width), pl.lit(last)
        attainable = (top.count / _POSITIVES).clip(upper_bound=1.0)
        return (attainable if top.normaliser == "positives" else pl.lit(1.0)), attainable
