"""Scorecards: all measures of a segment in one row, from one sort; also pooled and averaged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    N_UNDEFINED,
    NONE_UNDEFINED,
    SIZES,
    UNDEFINED,
    areas_of,
    interpolated_shortfall,
    shortfall_of,
    steps,
)
from frame_prc._curves.calibration import CALIBRATED, REFERENCE, same_reference
from frame_prc._curves.logit_intervals import FEW_POSITIVES, INTERVAL, RANDOM, status_where
from frame_prc._curves.operating_points import operating_points
from frame_prc._formulas import sizes
from frame_prc._inference import intervals
from frame_prc._inference.areas import AveragePrecision, with_lift, with_normalised, with_random
from frame_prc._inference.estimates import (
    Estimates,
    effective_clusters,
    measure_of,
    values_of_each,
    with_few_scores,
)
from frame_prc._inference.measure import Measure
from frame_prc._lazy import aggregated, in_order, left_join, mean_in_order, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import Calibration, Interval, Measured, Method, SegmentsAre, Target
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc._rows.table import Table
from frame_prc._tables.heterogeneity import Shrunken

LEVEL = "level"

_METHODS: tuple[Method, ...] = ("interpolated", "gain")  # the estimates have the average precision


def interval_of(measure: str) -> tuple[str, ...]:
    return tuple(f"{measure}_{part}" for part in ("std_error", "low", "high"))


# What the mean of segments needs of each measure that has an interval.
_WORKING = ("shortfall", "bias", "of_squares", "n_effective")
_MUCH = 1.5
_USUAL = 0.95  # the level of intervals that are not shown
_MEASURES = (
    RANDOM, "lift", "chance_corrected_average_precision", "normalised_average_precision",
    CALIBRATED, "interpolated", "normalised_interpolated", "gain", "best_f1",
)  # fmt: skip
# What may be added to the average precision by name.
MEASURES = (*_MEASURES[:4], REFERENCE, *_MEASURES[4:], "best_f1_threshold", "roc_auc")
_SCORECARD = (
    *SIZES, "lift", AVERAGE_PRECISION, "n_effective", *INTERVAL, RANDOM, *_MEASURES[2:4],
    REFERENCE, CALIBRATED, *interval_of(CALIBRATED), *_MEASURES[5:], "best_f1_threshold",
)  # fmt: skip

# What needs the steps of the curve, which only rows that are here have.
_AREAS = ("interpolated", "normalised_interpolated", "gain")
_NORMALISED = (AVERAGE_PRECISION, "interpolated")
_BEST = ("best_f1", "best_f1_threshold")
_AT_REFERENCE = (CALIBRATED, REFERENCE)
_SHRUNKEN = ("shrunk", "shrunk_low", "shrunk_high")

# Of the estimates: null where they are not known.
_SPREAD = ("variance", "n_effective", "n_trials")

_TP, _FP = pl.col("tp"), pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class Summary(Table):
    """One row per segment; ``overall`` adds one for all rows and one for the mean of segments."""

    interval: Interval | None
    overall: bool
    calibration: Calibration
    segments: SegmentsAre = "fixed"
    measures: Sequence[str] = ()
    beside: Sequence[Measured] = ()
    shrink: bool = False
    unasked: Collection[str] = ()  # measures of which the status says nothing
    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        asked = {f"measures={name!r}": name in self.measures for name in (*_AREAS, *_BEST)}
        asked["calibrate= as a frame"] = self.calibration.given is not None
        return {"details=True": self.measures[: len(MEASURES)] == [*MEASURES], **asked}

    @property
    def outputs(self) -> Sequence[str]:
        level, undefined = ((LEVEL,), (UNDEFINED,)) if self.overall else ((), ())
        beside = [one for name in self.measure_names for one in (name, *self._limits_of(name))]
        left_out = {*MEASURES, *interval_of(CALIBRATED)}.difference(self.measures, ["lift"])
        if CALIBRATED in self.measures:
            left_out -= {*self._limits_of(CALIBRATED)}
        if self.interval is None:
            left_out |= {"n_effective", *INTERVAL}
        scorecard = [name for name in _SCORECARD if name not in left_out]
        return (*level, *scorecard, *beside, *self._shrunken, *undefined, "status")

    @property
    def hidden(self) -> Collection[str]:
        # With the level of each row, the lift would make the table too wide for a terminal.
        limits = self._shrunken or INTERVAL[1:]
        at_first = (*self.leading, "n", "n_pos", AVERAGE_PRECISION, *limits)
        beside = () if self.overall or self.shrink else ("lift",)
        of_measures = [name for measure in self.measures for name in interval_of(measure)[1:]]
        shown = (*at_first, *beside, *self.measures, *of_measures)
        return [name for name in self.outputs if name not in shown]

    def _limits_of(self, measure: str) -> Sequence[str]:
        return () if self.interval is None else interval_of(measure)

    @property
    def _shrunken(self) -> Sequence[str]:
        return _SHRUNKEN[: 1 if self.interval is None else None] if self.shrink else ()

    @property
    def measure_names(self) -> Sequence[str]:
        return [one.name for one in self.beside]

    @property
    def _others(self) -> list[Measure]:
        at_reference = [AveragePrecision(self.calibration)] if self._shows(CALIBRATED) else []
        return [*at_reference, *map(measure_of, self.beside)]

    @property
    def _means(self) -> list[pl.Expr]:
        """What the mean of segments is of their measures, but for intervals of other ones."""
        # An interval below chance says so.
        shown = {RANDOM, *self.outputs} - {CALIBRATED}
        means = [name for name in _MEASURES if name in shown]
        means += [AVERAGE_PRECISION] if self.interval is None else [AVERAGE_PRECISION, "shortfall"]
        reference = [REFERENCE] if REFERENCE in self.outputs else []
        return [mean_in_order(pl.col(means)), *(pl.col(name).max() for name in reference)]

    def _shows(self, *names: str) -> bool:
        return any(name in self.measures for name in names)

    @property
    def leading(self) -> Sequence[str]:
        return (LEVEL,) if self.overall else ()

    def of(self, rows: Rows) -> pl.LazyFrame:
        if self.shrink and rows.many_in_memory and rows.kept is None:
            rows = replace(rows, kept={})  # the plain areas are used twice
        segments = rows.once(rows.windowed(self._scorecards(rows, self.calibration)))
        if self.shrink:
            segments = rows.once(self._with_shrunken(segments, rows))
        table = self._with_overall(segments, rows) if self.overall else segments
        for measure in self._others:
            own = self._limits_of(measure.name)
            values, lengths = measure.values(measure.name, *own[1:]), measure.lengths(*own[:1])
            table = table.with_columns(values + lengths)
        return table if self.interval is None else with_few_scores(table, rows)

    def _with_shrunken(self, segments: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        level = _USUAL if self.interval is None else self.interval.level
        table = Shrunken(Measured("average_precision"), level).of(rows)
        limits = {name: f"shrunk{name.removeprefix('ci')}" for name in ("ci_low", "ci_high")}
        own = table.select(*rows.keys, "shrunk", "ci_low", "ci_high", reason="status")
        found = left_join(segments, own.rename(limits), rows.keys)
        status = status_where(pl.col("shrunk").is_null(), pl.col("reason"))
        return found.with_columns(status=status).drop("reason")

    def _with_overall(self, segments: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        at_same = self._of_all(segments, rows)
        pooled = self._scorecards(rows.pooled(), at_same).with_columns(NONE_UNDEFINED)
        mean = "macro" if self.segments == "fixed" else "macro_sampled"
        levels = {"segment": segments, "pooled": pooled, mean: self._mean(segments, rows)}
        if self.shrink:  # these lean on no others
            alone = dict(zip(self._shrunken, (AVERAGE_PRECISION, *INTERVAL[1:]), strict=False))
            levels |= {name: levels[name].with_columns(**alone) for name in ("pooled", mean)}
        named = [frame.with_columns(pl.lit(name).alias(LEVEL)) for name, frame in levels.items()]
        return pl.concat(named, how="diagonal", parallel=False)

    def _of_all(self, segments: pl.LazyFrame, rows: Rows) -> Calibration:
        if self.calibration.highest and self._shows(*_AT_REFERENCE):
            computed = rows.many_in_memory and rows.kept is not None
            return same_reference(segments, rows.model_keys, computed=computed)
        return self.calibration

    def _mean(self, segments: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        if self.interval is None:
            values = [measure.name for measure in self._others]
            return _means(segments, rows, *self._means, mean_in_order(pl.col(values)))
        of = _macro if self.segments == "fixed" else _macro_sampled
        macro = partial(of, rows=rows, interval=self.interval, means=self._means)
        table = macro(segments, measure=AveragePrecision())
        for measure in self._others:
            found = macro(_as_plain(segments, measure), measure=measure)
            own = zip(interval_of(measure.name), INTERVAL, strict=True)
            limits = found.select(
                *rows.model_keys,
                pl.col(AVERAGE_PRECISION).alias(measure.name),
                *(pl.col(of).alias(name) for name, of in own),
            )
            table = left_join(table, limits, rows.model_keys)
            _, low, _ = interval_of(measure.name)
            if measure.name not in self.unasked:
                table = table.with_columns(status=intervals.status_of_limits(low))
        return table

    def _scorecards(self, rows: Rows, calibration: Calibration) -> pl.LazyFrame:
        ranking, (table, *others) = self._tables(rows, calibration)
        table = table.with_columns(positives="n_pos", negatives=pl.col("n") - pl.col("n_pos"))
        for other in others:
            table = segment_join(table, other)
        table = with_lift(with_random(table, ranking, ["segment"]))
        areas = [name for name in _NORMALISED if self._shows(f"normalised_{name}")]
        if areas:
            table = with_normalised(table, of=areas, weighted=rows.columns.weighted)
        working: list[str] = []
        if self.interval is not None:
            if self._shows(CALIBRATED) and CALIBRATED not in self.unasked:
                few = pl.col("few_negatives") | pl.col(f"{CALIBRATED}_few_negatives")
                table = table.with_columns(few)
            table = intervals.with_interval(
                table, self.interval, of=AVERAGE_PRECISION, clustered=rows.clustered
            )
            # Without other working columns, whose dtypes vary between rankings.
            working = [f"{one.name}_{name}" for one in self._others for name in _WORKING]
            working += ["shortfall", "bias", "of_squares"]
        for asked in self.beside:
            if asked.name not in self.unasked:
                table = table.with_columns(status=_worse_status(asked.name))
        later = (LEVEL, UNDEFINED, *_SHRUNKEN)
        # All rows and means of segments need these, whether they are shown or not.
        needed = [RANDOM, *([REFERENCE] if self._shows(*_AT_REFERENCE) else [])]
        shown = [name for name in self.outputs if name not in (*later, *needed)]
        columns = (*rows.keys, *shown, *needed, *DROPPED, *working)
        return ranking.segments.with_keys(table).select(columns)

    def _tables(self, rows: Rows, calibration: Calibration) -> tuple[Ranking, list[pl.LazyFrame]]:
        at_reference = [AveragePrecision(calibration)] if self._shows(*_AT_REFERENCE) else []
        measures = [AveragePrecision(), *at_reference, *map(measure_of, self.beside)]
        if self.interval is None:
            ranking, (table, *values) = values_of_each(rows, measures)
            named = zip(measures[1:], values, strict=True)
            plain = _with_dropped(table.rename({"estimate": AVERAGE_PRECISION}), ranking)
            tables = [plain, *(_named(table, measure) for measure, table in named)]
        else:
            first, *others = Estimates.of_each(rows, measures)
            ranking, limits = first.ranking, self.interval
            tables = [_table(first), *(_beside(one, limits) for one in others)]
        if self._shows(*_AREAS):
            tables.append(_areas_of_steps(ranking))
        if self._shows(*_BEST):
            tables.append(_best_points(ranking))
        return ranking, tables


def _own_names(measure: str) -> dict[str, str]:
    """Return what the columns of an estimate are called beside those of the average precision."""
    limits = dict(zip(INTERVAL, interval_of(measure), strict=True))
    working = {one: f"{measure}_{one}" for one in _WORKING}
    return {AVERAGE_PRECISION: measure} | limits | working


def _named(table: pl.LazyFrame, measure: Measure) -> pl.LazyFrame:
    own = {measure.name: pl.col("estimate"), f"{measure.name}_status": pl.col("status")}
    return table.select("segment", *_reference_of(measure), **own)


def _reference_of(measure: Measure) -> list[str]:
    return [column for column in measure.kept if column == REFERENCE]


def _beside(estimates: Estimates, interval: Interval) -> pl.LazyFrame:
    measure, clustered = estimates.measure, estimates.ranking.rows.clustered
    at_chance = _table(estimates).with_columns(measure.chance.alias(RANDOM))
    table = intervals.with_interval(
        at_chance,
        interval,
        measure,
        of=AVERAGE_PRECISION,
        clustered=clustered,
    )
    also = {one: f"{measure.name}_{one}" for one in ("few_negatives", "status")}
    renamed = _own_names(measure.name) | also
    own = (pl.col(of).alias(to) for of, to in renamed.items())
    return table.select("segment", *_reference_of(measure), *own)


def _worse_status(measure: str) -> pl.Expr:
    """Return the status of a segment; where it is ok, or a measure is null, that of the measure."""
    own = pl.col(f"{measure}_status")
    says_why = pl.col(measure).is_null() & (own != "ok")
    return pl.when((pl.col("status") == "ok") | says_why).then(own).otherwise("status")


# --- segments ------------------------------------------------------------------------------


def _table(estimates: Estimates) -> pl.LazyFrame:
    """Return the estimates of segments; without sums of squared weights they lack a variance."""
    table, ranking = estimates.table().rename({"estimate": AVERAGE_PRECISION}), estimates.ranking
    if ranking.rows.columns.lacks_squares:
        unknown = [pl.lit(None, pl.Float64).alias(name) for name in _SPREAD]
        table = table.with_columns(*unknown, few_negatives=pl.lit(value=False))
    return _with_dropped(table, ranking)


def _areas_of_steps(ranking: Ranking) -> pl.LazyFrame:
    areas = areas_of(
        ranking.rows.windowed(steps(ranking, _METHODS)),
        _METHODS,
        weighted=ranking.rows.columns.weighted,
        interpolated_shortfall=shortfall_of(interpolated_shortfall),
    )
    return areas.drop("positives", "negatives")


def _best_points(ranking: Ranking) -> pl.LazyFrame:
    found = operating_points(ranking, [Target("f_beta", 1.0)])
    # If no positive is ever retrieved, the best F1 is 0, and no threshold has another.
    f1 = pl.when(pl.col("all_positives") > 0).then(pl.col("f_score").fill_null(0.0))
    threshold = pl.when(_TP > 0).then("threshold")
    return found.select("segment", best_f1=f1, best_f1_threshold=threshold)


def _with_dropped(table: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    if ranking.rows.n_dropped is not None:  # they are in the table
        return table
    return table.with_columns(pl.lit(0, pl.Int64).alias(name) for name in DROPPED)


# --- all segments --------------------------------------------------------------------------


def _as_plain(segments: pl.LazyFrame, measure: Measure) -> pl.LazyFrame:
    own = _own_names(measure.name)
    plain = segments.with_columns(pl.col(of).alias(to) for to, of in own.items())
    return plain.with_columns(measure.chance.alias(RANDOM))


def _macro(
    segments: pl.LazyFrame,
    rows: Rows,
    interval: Interval,
    measure: Measure,
    means: Sequence[pl.Expr],
) -> pl.LazyFrame:
    """Return the mean of the segments of each model; undefined measures are left out.

    Variances of segments add up, unless clusters have rows in several. The bias does not fall with
    the number of segments, as the error does, so the lower limit allows for it.
    """
    area, error = pl.col(AVERAGE_PRECISION), pl.col("std_error")
    n_effective = pl.when(area.is_not_null()).then("n_effective")
    # By simulation, what leaving out rows of each class does not find of the bias is at most this.
    negatives = pl.col("n") - pl.col("n_pos")
    unfound = pl.col("shortfall") * pl.col("n_pos") / negatives / n_effective
    sums = _means(
        segments,
        rows,
        *means,
        n_effective=in_order(n_effective),
        n_known=n_effective.count(),
        usual_rows=n_effective.mean(),
        variance=in_order(error**2),
        squared_variances=in_order(error**4 / n_effective),
        n_errors=error.count(),
        n_defined=area.count(),
        bias=in_order(pl.when(area.is_not_null()).then("bias")),
        unfound=in_order(pl.when((negatives > 0) & measure.of_precisions).then(unfound)),
        of_squares=in_order(pl.when(area.is_not_null()).then("of_squares")),
    )
    if rows.clustered:
        of_sum = _variance_of_sum(rows, measure)
        sums = left_join(sums.drop("variance", "n_effective"), of_sum, rows.model_keys)
    else:
        # What the variance rests on, which may be that of few segments.
        rests_on = pl.col("variance") ** 2 / pl.col("squared_variances")
        has_all = pl.col("n_errors") == pl.col("n_defined")
        sums = sums.with_columns(
            n_effective=pl.when(has_all & (pl.col("variance") > 0))
            .then(rests_on)
            .otherwise("n_effective")
        )
    # As a float: the square of many segments is beyond UInt32.
    square = pl.col("n_defined").cast(pl.Float64) ** 2
    totals = sums.with_columns(
        n_effective=pl.when(pl.col("n_known") > 0).then("n_effective"),
        variance=pl.when(pl.col("n_errors") == pl.col("n_defined")).then(
            pl.col("variance") / square
        ),
        of_squares=pl.col("of_squares") / square,
        bias=pl.col("bias") / pl.col("n_defined"),
        n_trials=pl.lit(None, pl.Float64),
    ).with_columns(most_bias=pl.col("bias") + pl.col("unfound") / pl.col("n_defined"))
    table = intervals.with_interval(
        totals, interval, of=AVERAGE_PRECISION, of_segments=False, clustered=rows.clustered
    )
    return table if rows.columns.lacks_squares else table.with_columns(_status_of_macro())


def _variance_of_sum(rows: Rows, measure: Measure) -> pl.LazyFrame:
    model = rows.model_keys
    influence = pl.col("influence").fill_nan(None)
    clusters = Estimates.of(rows, measure).keyed_clusters()
    below = ["below"] if measure.below else []
    summed = [in_order(influence), *(in_order(pl.col(name)) for name in ("pos", "neg", *below))]
    sums = clusters.group_by(*model, "cluster").agg(summed).sort(*model, "cluster")
    variance = in_order(influence**2)
    rests_on = effective_clusters(measure)["n_effective"]
    return aggregated(sums, model, variance=variance, n_effective=rests_on)


def _status_of_macro() -> pl.Expr:
    """Return the status; it says if a segment without a standard error leaves the mean without."""
    lacks = (pl.col("n_errors") < pl.col("n_defined")) & pl.col("ci_low").is_null()
    # Of what the bias is, about a quarter is not known, which is much beside so small an error.
    is_biased = pl.col("bias") > _MUCH * pl.col("std_error")
    few = (pl.col("status") == "ok") & is_biased & (pl.col("usual_rows") < FEW_POSITIVES)
    found = pl.when(lacks).then(pl.lit("no_std_error")).when(few).then(pl.lit("few_positives"))
    return found.otherwise("status").alias("status")


def _macro_sampled(
    segments: pl.LazyFrame,
    rows: Rows,
    interval: Interval,
    measure: Measure,  # noqa: ARG001 - the spread tells all
    means: Sequence[pl.Expr],
) -> pl.LazyFrame:
    """Return the same for segments that are a sample: the interval comes from their spread."""
    model = rows.model_keys
    spread = intervals.with_deviations(segments, model, pl.col(AVERAGE_PRECISION), pl.lit(1.0))
    area = pl.col(AVERAGE_PRECISION)
    counted = {"n_defined": area.count(), "middle": area.median()}
    sums = _means(spread, rows, *means, in_order(pl.col(intervals.SPREAD)), **counted)
    status = status_where(pl.col("n_defined") < intervals.FEW_SEGMENTS, "few_segments")
    judged = sums.with_columns(status=status)
    return intervals.limits_of_mean(judged, AVERAGE_PRECISION, interval, rows)


def _means(segments: pl.LazyFrame, rows: Rows, *sums: pl.Expr, **named: pl.Expr) -> pl.LazyFrame:
    model = rows.model_keys
    # Only sums: Polars 1.41 streams a select that combines aggregates with a wrong height.
    table = aggregated(
        segments,
        model,
        pl.col("n", "n_pos", *DROPPED).sum(),
        N_UNDEFINED,
        *sums,
        **named,
    ).with_columns(positives="n_pos", negatives=pl.col("n") - pl.col("n_pos"))
    sized = table.with_columns(sizes(_POSITIVES, _NEGATIVES))
    return sized.sort(model) if model else sized
