"""How many rows a study needs, which decide, and what a judge's labels of all add to few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from statistics import NormalDist

import polars as pl

from frame_prc._curves.logit_intervals import FEW_POSITIVES, RANDOM
from frame_prc._formulas import normal_quantile, told_by
from frame_prc._inference.estimates import Estimates, measure_of, widened_variance, with_few_scores
from frame_prc._inference.intervals import (
    check_method,
    status_of,
    status_of_limits,
    unbiased,
    with_interval,
)
from frame_prc._inference.row_influence import numbered, with_influences
from frame_prc._lazy import aggregated, beside, concat, in_order, left_join
from frame_prc._request.specs import Comparison, Interval, Measured
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table, details
from frame_prc._tables.areas import DETAILED_INTERVAL
from frame_prc._tables.compare import Differences

# --- how many rows -----------------------------------------------------------------------------

_NEEDED = ("std_error", "n_needed", "n_pos_needed", "status")
_ERROR = pl.col("std_error")


@dataclass(frozen=True)
class SizeForWidth(Table):
    """One row per segment: how many rows make the interval so narrow."""

    measured: Measured
    level: float
    width: float
    runs_inside = True
    outputs = ("n_pos", "value", *_NEEDED)

    def of(self, rows: Rows) -> pl.LazyFrame:
        check_method(rows, Interval(self.level))
        measure = measure_of(self.measured)
        table = Estimates.of(rows, measure).keyed()
        found = table.with_columns(
            value="estimate",
            std_error=widened_variance(measure).sqrt(),
            status=status_of(measure, clustered=rows.clustered),
        ).with_columns(measure.values("value") + measure.lengths("std_error"))
        needed = _with_needed(found, 2 * normal_quantile(self.level) / self.width, rows)
        return with_few_scores(needed, rows)


@dataclass(frozen=True)
class SizeForDifference(Table):
    """One row per segment and pair of models: how many rows show so large a difference."""

    comparison: Comparison
    difference: float
    power: float
    runs_inside = True
    outputs = ("model", "baseline", "n_pos", *_NEEDED)

    @property
    def measure_names(self) -> Sequence[str]:
        return (self.comparison.measured.name,)

    def keyed(self, rows: Rows) -> Rows:
        return Differences(self.comparison).keyed(rows)

    def of(self, rows: Rows) -> pl.LazyFrame:
        deviates = normal_quantile(self.comparison.level) + NormalDist().inv_cdf(self.power)
        found = Differences(self.comparison).of(rows)
        return _with_needed(found, deviates / self.difference, rows)


def _with_needed(table: pl.LazyFrame, deviates: float, rows: Rows) -> pl.LazyFrame:
    """Add how many rows have so small an error that so many deviates of it are 1."""
    numbers = {f"{name}_needed": pl.col(name) * (deviates * _ERROR) ** 2 for name in ("n", "n_pos")}
    if not rows.columns.weighted:
        numbers = {name: number.ceil().cast(pl.Int64) for name, number in numbers.items()}
    return table.with_columns(**numbers, status=status_of_limits("std_error"))


# --- a judge's labels --------------------------------------------------------------------------

UNLABELLED, PROXY_WEIGHT, EFFECTIVE_LABELS = "n_unlabelled", "proxy_weight", "effective_labels"
_H, _D = pl.col("h"), pl.col("d")
# By simulation: with 20 positives intervals covered 90 %, with 40 91 %.
_FEWEST = 50
_LAMBDA = pl.col(PROXY_WEIGHT)


@dataclass(frozen=True)
class PredictionPowered(Table):
    """One row per segment: the labelled rows, the measure, its interval, and what the judge saves.

    ``h + λ (u - p)``: to the measure by labels is added what the judge says of the ``others``, u,
    less what it says of the ``judged`` rows, p (Angelopoulos, Duchi & Zrnic 2023,
    arXiv:2311.01453). With ``d = u - p`` the variance is ``Σ (h + λ d)²``. The λ that makes it
    least fits these rows: intervals covered 83 to 92 %. It is the square of ``φ h (1 - h) / (p (1 -
    p))``, a ratio of at most 1, with φ the correlation of both labels, times the share without a
    label.
    """

    measured: Measured
    interval: Interval
    judged: Rows
    others: Rows

    @property
    def outputs(self) -> Sequence[str]:
        sizes = ("n", "n_pos", *details(UNLABELLED))
        told = (*details(PROXY_WEIGHT), EFFECTIVE_LABELS)
        return (*sizes, self.measured.name, *DETAILED_INTERVAL, *told, "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        rows.check_no_strata("prediction_powered")
        measure = measure_of(self.measured)
        h, p, u = (
            Estimates.by_rows(numbered(of), [measure])[0] for of in (rows, self.judged, self.others)
        )
        table = h.keyed()
        of_judge = [_of_judge(p, p="unbiased"), _of_judge(u, u="unbiased", n_u="n")]
        for side in (*of_judge, _moves(h, p, u), self._agreement(rows)):
            table = left_join(table, side, rows.keys)
        found = with_interval(
            _powered(table).with_columns(pl.lit(None, pl.Float64).alias(RANDOM)),
            self.interval,
            measure,
            clustered=rows.clustered,
        )
        values = measure.values("estimate", "ci_low", "ci_high")
        shown = found.with_columns(*values, *measure.lengths("std_error"))
        return with_few_scores(shown, rows).rename({"estimate": measure.name})

    def _agreement(self, rows: Rows) -> pl.LazyFrame:
        theirs = self.judged.frame.select(judged="truth")
        frame = beside([rows.frame.with_columns(weight=rows.weight), theirs])
        used = frame.filter(rows.usable if rows.usable is not None else pl.lit(value=True))
        w, y, j = (pl.col(n).cast(pl.Float64) for n in ("weight", "truth", "judged"))
        total, of_y, of_j, of_both = (x.sum() for x in (w, w * y, w * j, w * y * j))
        spread = (of_y * (total - of_y)).sqrt() * (of_j * (total - of_j)).sqrt()
        found = ((total * of_both - of_y * of_j) / spread).fill_nan(0.0).clip(0.0, 1.0)
        return aggregated(used, rows.keys, agreement=found)


def _of_judge(found: Estimates, **names: str) -> pl.LazyFrame:
    table = found.keyed().with_columns(unbiased=unbiased())
    return table.select(*found.ranking.rows.keys, **names)


def _moves(h: Estimates, p: Estimates, u: Estimates) -> pl.LazyFrame:
    rows = h.ranking.rows
    units = concat(
        [
            _units([h, p], pl.col("influence_0"), -pl.col("influence_1")),
            _units([u], pl.lit(0.0), pl.col("influence_0")),
        ]
    )
    if rows.clustered:
        summed = units.group_by(*rows.keys, "cluster").agg(pl.col("h", "d").sum())
        units = summed.sort(*rows.keys, "cluster")
    sums = {_power(k, n): in_order(_H ** (n - k) * _D**k) for n in (2, 4) for k in range(n + 1)}
    return aggregated(units, rows.keys, **sums)


def _units(of: Sequence[Estimates], h: pl.Expr, d: pl.Expr) -> pl.LazyFrame:
    ranking = of[0].ranking
    frame = with_influences(ranking.rows, [one.by_row for one in of if one.by_row])
    cluster = ["cluster"] if ranking.rows.clustered else []
    keyed = ranking.segments.with_keys(frame.with_columns(segment="segment_0", h=h, d=d))
    return keyed.select(*ranking.rows.keys, *cluster, "h", "d")


def _power(k: int, n: int) -> str:
    return f"sum_{n}_{k}"


def _moment(n: int) -> pl.Expr:
    """Return the sum of ``(h + λ d)^n``."""
    terms = (math.comb(n, k) * _LAMBDA**k * pl.col(_power(k, n)) for k in range(n + 1))
    return reduce(add, terms)


def _part_of_judge() -> pl.Expr:
    """Return λ; 0 where the judge's labels have no measure, or tell nothing."""
    h, p, u = (pl.col(name) for name in ("estimate", "p", "u"))
    on_scale = (h * pl.col("shortfall") / (p * (1 - p))).clip(upper_bound=1.0)
    unlabelled = pl.col("n_u") / (pl.col("n_u") + pl.col("n"))
    steady = (pl.col("agreement") * on_scale) ** 2 * unlabelled
    moved = h + steady * (u - p)
    helps = (steady > 0) & moved.is_between(0, 1, closed="none")
    return pl.when(helps.fill_null(value=False)).then(steady).otherwise(0.0)


def _powered(table: pl.LazyFrame) -> pl.LazyFrame:
    helps, labels = _LAMBDA > 0, pl.col("n_effective")
    told = told_by(pl.col("variance"), pl.col("fourth"), labels)
    # So that the status tells of few of them.
    rests_on = (
        pl.when(labels < _FEWEST)
        .then(pl.min_horizontal(told, FEW_POSITIVES - 1.0))
        .otherwise(told.clip(lower_bound=FEW_POSITIVES))
    )
    added = (_LAMBDA * (pl.col("u") - pl.col("p"))).fill_null(0.0)
    # What limits allow for with clusters is as much less as the variance is.
    left = (pl.col("variance") / pl.col("alone")).fill_nan(1.0)
    most = pl.col("bias") + (pl.col("most_bias") - pl.col("bias")) * left
    return (
        table.with_columns(_part_of_judge().alias(PROXY_WEIGHT))
        .with_columns(
            pl.col("estimate") + added,
            pl.col("shortfall") - added,
            pl.col("n_u").fill_null(0).alias(UNLABELLED),
            variance=pl.when(helps).then(_moment(2)).otherwise("variance"),
            fourth=_moment(4),
            alone="variance",
            n_trials=pl.when(~helps).then("n_trials"),
        )
        .with_columns(pl.col("of_squares") * left, most_bias=most)
        .with_columns(n_effective=pl.when(helps).then(rests_on).otherwise(labels))
        .with_columns(
            (pl.col("n") * (pl.col("alone") / pl.col("variance")))
            .fill_nan(None)
            .alias(EFFECTIVE_LABELS)
        )
    )


# --- the influence of each row -----------------------------------------------------------------

ROW = "row"
_DEFINED = "\0defined_"


@dataclass(frozen=True)
class Influences(Table):
    """One row per row that counts; with several models one for each."""

    measures: Sequence[Measured]
    places: pl.LazyFrame
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        return (ROW, *self.measure_names)

    @property
    def measure_names(self) -> Sequence[str]:
        return [one.name for one in self.measures]

    def of(self, rows: Rows) -> pl.LazyFrame:
        models = 1 if rows.columns.model is not None else len(rows.columns.scores)
        places = concat([self.places] * models)
        usable = rows.usable if rows.usable is not None else pl.lit(value=True)
        kept = beside([rows.frame, places]).filter(usable)
        ordered = numbered(rows)
        estimates = Estimates.by_rows(ordered, [measure_of(one) for one in self.measures])
        found = [
            one.by_row.in_order_of_rows(0, ["influence_0"]).rename(
                {"influence_0": one.measure.name}
            )
            for one in estimates
            if one.by_row
        ]
        table = beside([kept.select(*rows.keys, ROW, weight=rows.weight), *found])
        moved = {}
        for place, one in enumerate(estimates):
            has_value = pl.col("estimate").is_not_null().alias(f"{_DEFINED}{place}")
            table = left_join(table, one.keyed().select(*rows.keys, has_value), rows.keys)
            own = pl.col(one.measure.name) * one.measure.span * pl.col("weight")
            moved[one.measure.name] = pl.when(has_value.meta.output_name()).then(own.fill_nan(None))
        return table.with_columns(**moved)
