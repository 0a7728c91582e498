"""Operating points as a table, with intervals of their precision and recall.

At a threshold that was given, precision and recall are shares of rows, and their intervals are
Wilson's. Where the threshold was chosen on these rows, a bootstrap chooses it again in each
replicate: the choice follows the errors of the sample, which Wilson's interval does not know.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.curve import CURVE, wilson
from frame_prc._curves.effective_rows import effective_share
from frame_prc._curves.given_thresholds import (
    ASCENDING,
    LIMITS,
    RATES,
    GivenThresholds,
    is_retrieved,
)
from frame_prc._curves.operating_points import check_counts, chosen, merits_of, operating_points
from frame_prc._formulas import normal_quantile, precision, recall
from frame_prc._inference.bootstrap import check_drawable, over_replicates
from frame_prc._lazy import cached, concat, join
from frame_prc._ranking.cluster_sums import CLUSTER_SUMS
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Interval, Resampling, Target, Ties
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

_TP, _FP, _FN, _POSITIVES = pl.col("tp"), pl.col("fp"), pl.col("fn"), pl.col("positives")
_ROW = ("segment", "order")
# Every score is a point in these; the others are met at scores that have positives.
_EVERY_SCORE = ("predicted_rate", "predicted_count")


@dataclass(frozen=True)
class OperatingPoints(Table):
    """One row per segment and target, in the order of the targets, then of given thresholds."""

    targets: Sequence[Target]
    given: GivenThresholds | None = None
    interval: Interval | None = None
    ascending: bool = False
    ties: Ties = "whole"

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        costs = any(target.criterion == "cost" for target in self.targets)
        costs = costs or (self.given is not None and self.given.has_costs)
        return (
            "target",
            "criterion",
            "target_value",
            *CURVE,
            *RATES,
            *(("expected_cost",) if costs else ()),
            *(LIMITS if self.interval is not None else ()),
            *((ASCENDING,) if self.ascending else ()),  # so that thresholds are not turned round
            "status",
        )

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        always = ("criterion", "target_value", "tp", "fp", "fn", "tn", "f_score", "predicted_rate")
        # So that a table with intervals is still as wide as a terminal.
        beside = () if self.interval is None else ("predicted_count", "recall_low", "recall_high")
        return (*always, *beside)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the operating points of rows."""
        if self.interval is not None:
            self._check_rows(rows)
        ranking = rank(rows)
        table = operating_points(ranking, self.targets, self.given, self.ties)
        if self.interval is not None:
            table = self._with_limits(cached(table), ranking, self.interval)
        return ranking.segments.with_keys(ranking.with_dropped(table))

    def _check_rows(self, rows: Rows) -> None:
        criteria = [target.criterion for target in self.targets]
        if "threshold" in criteria or self.given is not None:
            check_counts(rows.columns)
        if {*criteria} - {"threshold"}:
            check_drawable(rows)

    def _with_limits(
        self, table: pl.LazyFrame, ranking: Ranking, interval: Interval
    ) -> pl.LazyFrame:
        """Add the intervals: of thresholds that were given, and of those chosen here."""
        chosen_here = {
            place: target
            for place, target in enumerate(self.targets)
            if target.criterion != "threshold"
        }
        parts = []
        if len(chosen_here) < len(self.targets) or self.given is not None:
            parts.append(_at_given(table, ranking, interval.level))
        if chosen_here and interval.resampling is not None:
            parts.append(_at_chosen(ranking, chosen_here, interval.level, interval.resampling))
        return join(table, concat(parts), on=list(_ROW), how="left", maintain_order="left")


# --- given thresholds ----------------------------------------------------------------------------


def _at_given(table: pl.LazyFrame, ranking: Ranking, level: float) -> pl.LazyFrame:
    """Return Wilson's intervals; with clusters, for the effective number of rows."""
    z = normal_quantile(level)
    held = table.filter(pl.col("held").is_not_null())
    rates = {"precision": "fp", "recall": "fn"}
    if ranking.rows.columns.cluster is None:
        counts = held.select(*_ROW, "tp", "fp", "fn")
        sides = [
            counts.select(*_ROW, "tp", pl.col(wrong).alias("fp"), share=pl.lit(1.0))
            for wrong in rates.values()
        ]
    else:
        clusters = cached(_cluster_counts(held, ranking))
        sides = [
            _squared(clusters, wrong).with_columns(share=effective_share(z))
            for wrong in rates.values()
        ]
    limits = [
        side.select(*_ROW, *(limit.alias(f"{rate}_{end}") for end, limit in wilson(z).items()))
        for rate, side in zip(rates, sides, strict=True)
    ]
    return join(*limits, on=list(_ROW), how="left", maintain_order="left")


def _cluster_counts(held: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return the counts of each cluster at each threshold."""
    rows = ranking.segments.numbered(ranking.rows.used())
    pairs = join(
        rows.select("segment", "cluster", "truth", "score"),
        held.select(*_ROW, "held"),
        on="segment",
        how="inner",
    )
    reached = is_retrieved(pl.col("score"), pl.col("held"), ranking)
    retrieved = reached.fill_null(value=False)
    counts = {
        "tp": pl.col("truth") & retrieved,
        "fp": ~pl.col("truth") & retrieved,
        "fn": pl.col("truth") & ~retrieved,
    }
    sums = {name: is_one.sum().cast(pl.Int64) for name, is_one in counts.items()}
    return pairs.group_by(*_ROW, "cluster").agg(**sums)


def _squared(clusters: pl.LazyFrame, wrong: str) -> pl.LazyFrame:
    """Return the sums over clusters that the effective number of rows is computed from."""
    hits, misses = pl.col("tp"), pl.col(wrong)
    products = zip(CLUSTER_SUMS, (hits * hits, hits * misses, misses * misses), strict=True)
    sums = {name: product.sum() for name, product in products}
    return clusters.group_by(*_ROW).agg(tp=hits.sum(), fp=misses.sum(), **sums)


# --- chosen thresholds ---------------------------------------------------------------------------


def _at_chosen(
    ranking: Ranking, targets: dict[int, Target], level: float, resampling: Resampling
) -> pl.LazyFrame:
    """Return quantiles over replicates, in each of which the thresholds are chosen anew."""
    wanted = dict(enumerate(targets.values()))
    merits = merits_of(wanted, ranking)
    every_score = any(target.criterion in _EVERY_SCORE for target in targets.values())

    def rates(points: pl.LazyFrame) -> pl.LazyFrame:
        rated = points.with_columns(slot=pl.lit(0), **merits)
        reached = pl.when(_TP + _FP > 0).then(precision(_TP, _FP))
        found = chosen(rated, [*wanted], ranking)
        return found.select("order", precision=reached, recall=recall(_TP, _POSITIVES))

    limits = {
        f"{rate}_{end}": pl.col(rate).quantile(tail, interpolation="linear")
        for rate in ("precision", "recall")
        for end, tail in {"low": (1 - level) / 2, "high": (1 + level) / 2}.items()
    }
    drawn = over_replicates(
        ranking,
        ranking.rows,
        resampling,
        rates,
        limits,
        every_score=every_score,
    )
    places = pl.lit(pl.Series([*targets], dtype=pl.Int64)).gather("order")
    return drawn.select("segment", places.alias("order"), *LIMITS)
