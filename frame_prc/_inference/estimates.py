"""Estimates of segments: a measure, its variance, and what the variance rests on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import compress
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_prc._curves.logit_intervals import FEW_POSITIVES, FEW_SCORES, shows_spread, status_where
from frame_prc._formulas import sizes, without_nan
from frame_prc._inference.areas import AveragePrecision, PartialRocAuc, RocAuc
from frame_prc._inference.at_threshold import FEWEST_IN_CELL, AtThreshold
from frame_prc._inference.intervals import with_levels
from frame_prc._inference.measure import (
    NEGATIVES,
    POSITIVES,
    TIMES_OF_CLUSTERS,
    Measure,
    TiedMeasure,
    parts_at,
    spreads,
    spreads_of,
    sums_of,
)
from frame_prc._inference.probabilities import LOSSES, BesideRate, MeanLoss
from frame_prc._inference.row_influence import (
    MORE_BY_WEIGHTS,
    OF_HEAVY,
    RowInfluence,
    cluster_sums,
    cluster_totals,
    effective,
    numbered,
    of_heavy,
    with_influences,
)
from frame_prc._lazy import aggregated, cached, in_order, left_join, segment_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import Points
from frame_prc._ranking.sorted_rows import sampled_scores
from frame_prc._request.specs import OF_CURVE, Measured
from frame_prc._request.values import Bins
from frame_prc._rows.checks import check_of, with_checks
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.rules import bin_rules

# --- the measures by name ----------------------------------------------------------------------


def measure_of(asked: Measured) -> Measure:
    if asked.name in OF_CURVE:
        return AveragePrecision(asked.calibration)
    if asked.name == RocAuc.name:
        return RocAuc()
    if asked.at is None:
        return (MeanLoss if asked.name in LOSSES else BesideRate)(of=asked.name)
    if asked.name == PartialRocAuc.name:
        return PartialRocAuc(fpr=asked.at.value)
    return AtThreshold(of=asked.name, at=asked.at)


# --- estimates of segments ---------------------------------------------------------------------

# Equal weights stand for odds that differ from those of their rows by a rounding error.
_ROUNDING_OF_K = 1e-9
# By simulation quiet watches whose periods have negatives for fewer than 2.5 sqrt(k) positives
# alarmed in 1 to 26 %, others, or with smaller k, in at most 4 %; shrunken segments covered 58 to
# 95 %, others 95 % or more.
_LEAST_TOLD, _FOR_MANY = 2.5, 3.0
_FEW_BINS = 2
# By simulation: a mean of segments of which few negatives move more differed from an equally good
# one in 8 to 30 % of tests at 5 %. Few negatives move an area as if so many more had been seen.
_MOST_MOVED, _UNSEEN = 0.2, 2.0
# So many standard errors at most do clusters add to the bias of rows: more would be pairs of both
# classes that cancel, as on days whose prevalences differ, which a model foresees.
_MOST_ADDED = 0.8
# The effective number of clusters that hold negatives.
NEGATIVE_CLUSTERS = "negative_clusters"
# What the clusters of each class add to the variance; and the sum of the influences of negatives,
# which is minus that of positives.
OF_CLASSES = ("clustered_positives", "clustered_negatives", "moved")
_SUMMED = ("influence", "influence_on_negatives")
_SQUARES = in_order(pl.col("influence") ** 2)


@dataclass(frozen=True)
class Estimates:
    """A measure of each segment of a ranking, with its variance by rows, or by clusters if named.

    ``by_row`` has the influence of each row, for clusters, strata and comparisons, ``spread`` the
    variance by rows, if computed. Of rows elsewhere ``of_clusters`` are totals over clusters, and
    ``cells`` returns the sums of each. ``unbinned`` are the rows of bins.
    """

    ranking: Ranking
    measure: Measure
    by_row: RowInfluence | None = None
    spread: pl.LazyFrame | None = None
    unbinned: Rows | None = None
    of_clusters: pl.LazyFrame | None = None
    cells: Callable[[], pl.LazyFrame] | None = None

    @classmethod
    def of(cls, rows: Rows, measure: Measure | None = None, bins: Bins | None = None) -> Estimates:
        [found] = cls.of_each(rows, [measure or AveragePrecision()], bins)
        return found

    @classmethod
    def of_each(
        cls,
        rows: Rows,
        measures: Sequence[Measure],
        bins: Bins | None = None,
    ) -> list[Estimates]:
        """Return the estimates by several measures, which share a ranking and its points."""
        if rows.elsewhere is not None:
            found: list[Estimates] = rows.elsewhere.estimates(rows, measures, bins)
        elif rows.row_by_row:
            found = cls.by_rows(numbered(_binned_rows(rows, bins)), measures)
        else:
            squares = not rows.columns.lacks_squares
            ranking = rank(rows, bins, squares=squares)
            found = [cls(ranking, measure) for measure in measures]
            if len(found) > 1:
                found = _at_shared_points(found, ranking)
        return found if bins is None else [replace(one, unbinned=rows) for one in found]

    @classmethod
    def by_rows(cls, rows: Rows, measures: Sequence[Measure]) -> list[Estimates]:
        ranking = rank(rows, squares=True, numbered=True)
        return [cls(ranking, one, RowInfluence(ranking, one)) for one in measures]

    @property
    def _name(self) -> Hashable:
        rows = self.ranking.rows
        is_plain = self.unbinned is None and self.measure.is_of_rows
        return ("table", self.measure) if is_plain and not rows.columns.lacks_squares else None

    @cached_property
    def clusters(self) -> pl.LazyFrame:
        """The sums ``segment, cluster, influence, pos, neg`` of clusters."""
        if self.cells is not None:
            return self.cells()
        return cached(cluster_sums(self._influences, ["segment"], self._summed, self.ranking))

    @property
    def _summed(self) -> tuple[str, ...]:
        return (*_SUMMED, *(["below"] if self.measure.below else []))

    @cached_property
    def _influences(self) -> pl.LazyFrame:
        assert self.by_row is not None  # noqa: S101 - for the type checker
        frame = with_influences(self.ranking.rows, [self.by_row])
        named = frame.rename({"segment_0": "segment", "influence_0": "influence"})
        named = named.rename({"below_0": "below"} if self.measure.below else {})
        return named.with_columns(on_negatives("influence"))

    def table(self) -> pl.LazyFrame:
        """Return a row per segment, by number: what :func:`spreads` returns, sizes and ``status``.

        Also ``n_trials``, the positives over what clusters multiply the variance by,
        ``few_negatives``, and ``most_bias, of_squares``, what limits take the bias and added
        variance to be.
        """
        if self._name is None:
            return self.computed()
        return self.ranking.rows.keep_table(self._name, self.computed)

    def computed(self) -> pl.LazyFrame:
        areas = self.areas()
        if not self.ranking.rows.clustered:
            alone = areas.with_columns(n_trials="n_effective", most_bias="bias")
            return self._with_few(alone)
        totals = {
            "variance": _SQUARES,
            **effective_clusters(self.measure),
            **of_classes("influence"),
        }
        of_clusters = self.of_clusters
        if of_clusters is None:
            of_clusters = cluster_totals(
                self._influences, self._summed, self.ranking, totals, lambda: self.clusters
            )
        by_rows = areas.rename({"variance": "variance_by_rows", "n_effective": "n_by_rows"})
        defined = pl.when(pl.col("estimate").is_not_null()).then(pl.col(*totals))
        table = segment_join(by_rows, of_clusters).with_columns(defined)
        table = table.with_columns(_times(), variance=self.measure.variance_of_clusters)
        table = table.with_columns(n_effective=pl.min_horizontal("n_effective", "n_by_rows"))
        as_rows = pl.col("n_by_rows") * pl.col("variance_by_rows") / pl.col("variance")
        trials = as_rows.fill_nan(None).clip("n_effective", "n_by_rows")
        found = table.with_columns(n_trials=trials.fill_null(pl.col("n_effective")))
        return self._with_few(found.with_columns(**_of_second_order(self.measure)))

    def _with_few(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Add whether there are too few negatives; only shares of hits have binomial limits."""
        found = with_few(table, self.measure)
        no_trials = pl.lit(None, pl.Float64).alias("n_trials")
        return found if self.measure.of_hits else found.with_columns(no_trials)

    def areas(self) -> pl.LazyFrame:
        table = self.spread
        if table is None and self.by_row is not None:
            sums = sums_of(self.by_row.steps, self.ranking, self.measure)
            table = spreads_of(sums, self.ranking, self.measure)
        elif table is None:
            table = spreads(self.ranking, self.measure)
        ranked = self.ranking.rows
        if ranked.stratified and not ranked.clustered:
            known = pl.when(pl.col("estimate").is_not_null()).then("variance")
            own = self._influences.group_by("segment").agg(variance=_SQUARES)
            table = segment_join(table.drop("variance"), own).with_columns(known.alias("variance"))
        table = self._with_heavy(table)
        sized = table.with_columns(sizes(pl.col("positives"), pl.col("negatives")))
        sized = sized.with_columns(self.measure.status.alias("status"))
        return self.ranking.with_dropped(sized.drop("positives", "negatives"))

    def _with_heavy(self, table: pl.LazyFrame) -> pl.LazyFrame:
        rows, ranking = self.unbinned or self.ranking.rows, self.ranking
        if not ranking.squares:
            return table.with_columns(of_squares=pl.lit(0.0))
        own = ranking.segments.numbered(rows.keep_table("heavy", lambda: of_heavy(rows)))
        names = (*OF_HEAVY, *MORE_BY_WEIGHTS)
        found = segment_join(table, own.select("segment", *names).sort("segment"))
        told, more = (
            [*compress(of_classes, self.measure.weighed)]
            for of_classes in (OF_HEAVY, MORE_BY_WEIGHTS)
        )
        times = pl.lit(0.0) if self.measure.counted else pl.max_horizontal(more)
        numbers = {"n_effective": told, "n_negative": OF_HEAVY[1:]}
        return found.with_columns(
            *(
                pl.when(pl.col(name).is_not_null())
                .then(pl.min_horizontal(name, *least))
                .alias(name)
                for name, least in numbers.items()
            ),
            of_squares=(pl.col("variance") * times).fill_null(0.0),
        ).drop(names)

    def keyed(self) -> pl.LazyFrame:
        return self.ranking.segments.with_keys(self.table())

    def keyed_clusters(self) -> pl.LazyFrame:
        return self.ranking.segments.with_keys(self.clusters)


def _at_shared_points(estimates: Sequence[Estimates], ranking: Ranking) -> list[Estimates]:
    @cache
    def parts_of(points: Points) -> list[pl.LazyFrame]:
        return list(map(ranking.rows.once, parts_at(ranking, points)))

    found = []
    for one in estimates:
        spread, measure = None, one.measure
        if isinstance(measure, TiedMeasure):
            # Each by itself: Polars 1.41.0 panics at many plans at once.
            spread = spreads(ranking, measure, parts_of(measure.summed_points))
        found.append(replace(one, spread=spread))
    return found


def values_of_each(rows: Rows, measures: Sequence[Measure]) -> tuple[Ranking, list[pl.LazyFrame]]:
    """Return a ranking of rows, and the table of each measure without what only intervals need."""
    if rows.elsewhere is not None:
        found = Estimates.of_each(rows, measures)
        return found[0].ranking, [one.table() for one in found]
    at = next((one.calibration for one in measures if one.calibration), None)
    ranking = rank(rows, at=at)
    if rows.kept is None:  # measures share points
        ranking = replace(ranking, rows=replace(rows, kept={}))
    tables = []
    for measure in measures:
        sized = measure.valued(ranking).with_columns(sizes(POSITIVES, NEGATIVES))
        tables.append(ranking.with_dropped(sized.with_columns(measure.status.alias("status"))))
    return ranking, tables


def with_few(table: pl.LazyFrame, measure: Measure) -> pl.LazyFrame:
    """Add whether there are too few negatives for a measure.

    Where a negative stands for k > 1 of them beside each positive, by weights or at a reference
    prevalence, few of them decide the precision at the top. In simulations 95 % intervals covered
    less than 92 % with fewer negatives than go with 20 sqrt(k) positives at these odds, and with
    fewer than 20. Clusters divide the number by what they multiply the variance of a negative by.
    A measure of both classes rests on the scarcer one. ``n_told`` is the number at these odds.
    """
    if measure.counted:
        said = pl.col("is_few") if "is_few" in measure.kept else pl.lit(value=False)
        return table.with_columns(
            few_negatives=said,
            n_told=pl.lit(float(FEWEST_IN_CELL)),
            heavy_negatives=pl.lit(value=False),
        )
    columns, count = table.collect_schema(), pl.col("n_negative")
    if TIMES_OF_CLUSTERS[1] in columns:
        count /= pl.col(TIMES_OF_CLUSTERS[1])
    least = count * measure.share_of_negatives
    if NEGATIVE_CLUSTERS in columns:
        least = pl.min_horizontal(least, pl.col(NEGATIVE_CLUSTERS).fill_nan(None))
    few, told, heavy = least < FEW_POSITIVES, least, pl.lit(value=False)
    if not measure.of_both_classes:
        odds = (pl.col("n") - pl.col("n_pos")) / pl.col("n_pos")
        if "reference_odds" in columns:
            odds = pl.col("reference_odds")
        k = odds / pl.col("row_odds")
        few |= few_at_odds(count, odds, k)
        # Too few even where many such segments tell.
        told = count / odds
        heavy = (k > _FOR_MANY) & (told < _LEAST_TOLD * k**0.5)
    few, heavy = (one.fill_null(value=False) for one in (few, heavy))
    found = table.with_columns(few_negatives=few, n_told=told, heavy_negatives=heavy)
    if not measure.of_both_classes:
        return found
    rests_on = [name for name in ("n_effective", "n_trials") if name in columns]
    return found.with_columns(
        pl.when(least < pl.col(name)).then(least).otherwise(name).alias(name) for name in rests_on
    )


def few_at_odds(count: Any, odds: Any, k: Any) -> Any:
    """Return whether negatives are too few for the odds, k times their own, that they stand for."""
    return (k > 1 + _ROUNDING_OF_K) & (count / odds < FEW_POSITIVES * k**0.5)


def moved_by_few(share: Any, told: Any) -> Any:
    """Return how much a segment with so few negatives moves the mean that it has a share of."""
    return share / (told + _UNSEEN)


def is_moved(moved: Any, shares: Any, own: Any, others: Any) -> Any:
    """Return whether the sum of these is too much for the effective rows of both sides."""
    return moved**2 * own * others > (_MOST_MOVED * shares) ** 2 * (own + others)


def unbiased_variance(measure: Measure) -> pl.Expr:
    m, variance = pl.col("n_effective"), pl.col("variance")
    # That of both classes is unbiased as it is.
    variance = variance if measure.of_both_classes else variance * m / (m - 1)
    spread = shows_spread(variance, pl.col("estimate"), pl.col("shortfall"))
    return pl.when((m.round() > 1) & spread).then(variance)


def widened_variance(measure: Measure) -> pl.Expr:
    """Return the variance that limits and tests take it to be: more, with some clusters."""
    return unbiased_variance(measure) + pl.col("of_squares")


def _times() -> list[pl.Expr]:
    """Return what clusters multiply the variance of each class around its mean by, at least 1."""
    of_negatives, area = pl.col("of_negatives"), (pl.col("estimate"), pl.col("shortfall"))
    of_positives = pl.col("variance_by_rows") - of_negatives
    numbers = (("n_by_rows", "n_effective"), ("n_negative", NEGATIVE_CLUSTERS))
    found = []
    for name, by_rows, of_class, (rows, clusters) in zip(
        TIMES_OF_CLUSTERS, (of_positives, of_negatives), OF_CLASSES, numbers, strict=False
    ):
        parts = [
            squares - (pl.col("moved") ** 2 / pl.col(n)).fill_nan(0.0)
            for squares, n in ((by_rows, rows), (pl.col(of_class), clusters))
        ]
        has_spread = pl.all_horizontal(shows_spread(part, *area) for part in parts)
        times = (parts[1] / parts[0]).clip(lower_bound=1.0)
        found.append(pl.when(has_spread).then(times).otherwise(1.0).alias(name))
    return found


def _of_second_order(measure: Measure) -> dict[str, pl.Expr]:
    """Return the bias with clusters, and what limits allow for: a larger one, and more variance.

    The bias is a mean of squares, which may be one of a normal number at worst: its variance is
    twice the square of its mean. Rows by themselves have many. By simulation the lower limit has to
    allow for twice what clusters add. Weights count as they do for rows.
    """
    of_rows, error = pl.col("bias"), pl.col("variance").sqrt()
    added = measure.most_bias - of_rows
    once, twice = (of_rows + pl.min_horizontal(n * added, _MOST_ADDED * error) for n in (1, 2))
    more = (2 * (once**2 - of_rows**2)).clip(lower_bound=0.0).fill_null(0.0)
    by_weights = pl.col("of_squares") / pl.col("variance_by_rows") * pl.col("variance")
    bias = of_rows * pl.col("n_by_rows") / pl.col("n_trials")
    return {
        "bias": bias,
        "most_bias": pl.max_horizontal(twice, bias),
        "of_squares": more + by_weights.fill_nan(0.0).fill_null(0.0),
    }


def on_negatives(influence: str) -> pl.Expr:
    own = pl.when(pl.col("neg") > 0).then(influence).otherwise(0.0)
    return own.alias(f"{influence}_on_negatives")


def of_classes(influence: str) -> dict[str, pl.Expr]:
    moved = pl.col(f"{influence}_on_negatives")
    sums = ((pl.col(influence) - moved) ** 2, moved**2, moved)
    return {name: in_order(one) for name, one in zip(OF_CLASSES, sums, strict=True)}


def effective_clusters(measure: Measure, below: str = "below") -> dict[str, pl.Expr]:
    rests_on = pl.col("pos") + pl.col("neg") if measure.counted else pl.col("pos")
    if measure.below:
        rests_on = pl.col(below)
    return {"n_effective": effective(rests_on), NEGATIVE_CLUSTERS: effective(pl.col("neg"))}


def _binned_rows(rows: Rows, bins: Bins | None) -> Rows:
    if bins is None:
        return rows
    # Below the lowest threshold a score is null, which does not make the row unusable.
    usable = {} if rows.usable is None else {"usable": rows.usable}
    frame = with_levels(rows, rows.frame.with_columns(**usable), bins)
    checks = [*map(check_of, bin_rules(rows.columns, bins, pl.col))]
    return replace(
        rows.without_values(),
        frame=with_checks(frame, rows.source, checks, in_memory=rows.in_memory),
        score_dtype=pl.Int64(),
        usable=pl.col("usable") if usable else None,
        n_dropped=(~pl.col("usable")).cast(pl.Int64) if usable else None,
    )


# --- models whose scores have at most two values -----------------------------------------------


# So many scores of a sample are more than two, null and NaN.
_SAMPLE, _FEW = 1_000, 4


def models_with_few_scores(rows: Rows) -> pl.LazyFrame:
    if rows.elsewhere is not None:
        found: pl.LazyFrame = rows.elsewhere.few_scores(rows)
        return found
    return rows.keep_table(FEW_SCORES, partial(_with_few_scores, rows))


def _with_few_scores(rows: Rows) -> pl.LazyFrame:
    samples = sampled_scores(rows, _SAMPLE) if rows.many_in_memory and not rows.model_keys else []
    if samples and samples[0].n_unique() > _FEW:
        return pl.LazyFrame({FEW_SCORES: [False]})
    if len(rows.columns.scores) == 1:
        return _used(aggregated(rows.used(), rows.model_keys, few_scores=_at_ends("score", rows)))
    # Side by side, models need no groups.
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    used = wide.frame
    if wide.usable is not None:  # each model has rows of its own, of those with a truth
        used = used.filter(pl.all_horizontal(pl.col(*wide.columns.classes).is_not_null()))
    [key] = rows.model_keys
    long = _flags(used, wide).select(
        pl.lit(names, dtype=pl.List(pl.String)).alias(key),
        pl.concat_list(cs.all()).alias(FEW_SCORES),
    )
    return long.explode(key, FEW_SCORES, empty_as_null=False)


def with_few_scores(table: pl.LazyFrame, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Replace the status ``"ok"`` in the rows of such models, or of all if bins are so few."""
    if bins is not None and len(bins.thresholds) <= _FEW_BINS:
        return table.with_columns(status=status_where(pl.lit(value=True), FEW_SCORES))
    found = left_join(table, models_with_few_scores(rows), rows.model_keys)
    return found.with_columns(status=status_where(pl.col(FEW_SCORES), FEW_SCORES)).drop(FEW_SCORES)


def with_few_scores_of_pairs(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    there = rows.elsewhere
    flags = _flags(wide.used(), wide) if there is None else there.few_scores_of_pairs(wide)
    flagged = [f"few_{i}" for i in range(len(names))]
    of_pair = (
        pl.col(flag) & pl.any_horizontal(pl.col("model", "baseline") == name)
        for flag, name in zip(flagged, names, strict=True)
    )
    found = left_join(table, flags, [])
    status = status_where(pl.any_horizontal(of_pair), FEW_SCORES)
    return found.with_columns(status=status).drop(flagged)


def _flags(used: pl.LazyFrame, wide: Rows) -> pl.LazyFrame:
    places = range(len(wide.columns.scores))
    return _used(used.select(_at_ends(f"score_{i}", wide).alias(f"few_{i}") for i in places))


def _used(flags: pl.LazyFrame) -> pl.LazyFrame:
    """Return the same flags, in rows whose number is right where none of them is looked at."""
    # Always true. Of an aggregate that is not used Polars 1.41 takes the height of its input.
    return flags.filter(pl.all_horizontal(cs.starts_with("few_").is_not_null()))


def _at_ends(name: str, rows: Rows) -> pl.Expr:
    score = without_nan(pl.col(name), rows.score_dtype)
    return ((score == score.min()) | (score == score.max())).all()
