"""Estimates of segments: a measure, its variance, and what the variance rests on.

0/1 predictions have one threshold, and their average precision is that of a single point. It says
nothing of how a model ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import polars as pl
import polars.selectors as cs

from frame_prc._curves.logit_intervals import (
    ESTIMATE,
    FEW_POSITIVES,
    FEW_SCORES,
    MOST_BIAS,
    OF_SQUARES,
    SHORTFALL,
    shows_spread,
)
from frame_prc._formulas import sizes, without_nan
from frame_prc._inference.areas import AveragePrecision, PartialRocAuc, RocAuc
from frame_prc._inference.at_threshold import AtThreshold
from frame_prc._inference.heavy_rows import OF_HEAVY, of_heavy
from frame_prc._inference.intervals import with_levels
from frame_prc._inference.measure import (
    IS_FEW,
    NEGATIVES,
    POSITIVES,
    TIMES_OF_CLUSTERS,
    Measure,
    TiedMeasure,
    parts_at,
    spreads,
    spreads_at,
    spreads_of,
    sums_of,
)
from frame_prc._inference.probabilities import LOSSES, BesideRate, MeanLoss
from frame_prc._inference.row_influence import (
    RowInfluence,
    cluster_sums,
    cluster_totals,
    effective,
    numbered,
    with_influences,
)
from frame_prc._lazy import aggregated, cached, in_order, left_join, segment_join
from frame_prc._ranking.narrow_keys import sampled_scores
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import Points
from frame_prc._request.specs import OF_CURVE, Measured
from frame_prc._request.values import Bins
from frame_prc._rows.checks import check_of, with_checks
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.rules import bin_rules

# --- the measures by name ----------------------------------------------------------------------


def measure_of(asked: Measured) -> Measure:
    """Return the measure that is asked for."""
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
_FEW_BINS = 2
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
    """A measure of each segment of a ranking, with its variance.

    If rows name clusters, these are taken as independent, and otherwise the rows are. ``by_row``
    has the influence of each row, for clusters, strata and comparisons row by row. ``spread`` is
    the measure of each segment with its variance by rows, if it has been computed. Of kept rows the
    table is kept too: many verbs begin with it. Of rows that are elsewhere, ``of_clusters`` are the
    totals over clusters, and ``cells`` returns the sums of each. ``unbinned`` are the rows of bins.
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
        """Return the estimates of rows, in their bins; by default the average precision."""
        [found] = cls.of_each(rows, [measure or AveragePrecision()], bins)
        return found

    @classmethod
    def of_each(
        cls,
        rows: Rows,
        measures: Sequence[Measure],
        bins: Bins | None = None,
        *,
        scored: bool = False,
    ) -> list[Estimates]:
        """Return the estimates by several measures, which share a ranking and its points."""
        scored = scored or any(one.scored for one in measures)
        if rows.elsewhere is not None:
            found: list[Estimates] = rows.elsewhere.estimates(rows, measures, bins)
        elif rows.row_by_row:
            found = cls.by_rows(numbered(_binned_rows(rows, bins)), measures, scored=scored)
        else:
            squares = not rows.columns.lacks_squares
            ranking = rank(rows, bins, squares=squares, scored=scored)
            found = [cls(ranking, measure) for measure in measures]
            if len(found) > 1:
                found = _at_shared_points(found, ranking)
        return found if bins is None else [replace(one, unbinned=rows) for one in found]

    @classmethod
    def by_rows(
        cls, rows: Rows, measures: Sequence[Measure], *, scored: bool = False
    ) -> list[Estimates]:
        """Return the estimates of numbered rows, with the influence of each row."""
        scored = scored or any(one.scored for one in measures)
        ranking = rank(rows, squares=True, numbered=True, scored=scored)
        return [cls(ranking, one, RowInfluence(ranking, one)) for one in measures]

    @property
    def _name(self) -> Hashable:
        """What the table is kept as; ``None`` where it is not."""
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
        """What is added up over the rows of a cluster."""
        return (*_SUMMED, *(["below"] if self.measure.below else []))

    @cached_property
    def _influences(self) -> pl.LazyFrame:
        """The rows of clusters with their ``segment`` and their ``influence``."""
        assert self.by_row is not None  # noqa: S101 - for the type checker
        frame = with_influences(self.ranking.rows, [self.by_row])
        named = frame.rename({"segment_0": "segment", "influence_0": "influence"})
        named = named.rename({"below_0": "below"} if self.measure.below else {})
        return named.with_columns(on_negatives("influence"))

    def table(self) -> pl.LazyFrame:
        """Return a row per segment, in the order of their numbers.

        Returns
        -------
        LazyFrame
            ``segment``, the sizes, ``status, estimate, shortfall, variance, n_effective, n_trials,
            bias`` (see :func:`frame_prc._inference.measure.spreads`), ``few_negatives``,
            ``most_bias, of_squares``, what limits take the bias and added variance to be, and
            ``n_dropped`` where missing values are dropped. With clusters, the effective number
            counts clusters, and that of trials is the number of positives over what clusters
            multiply the variance by. With calibration also ``reference_prevalence``.
        """
        if self._name is None:
            return self.computed()
        return self.ranking.rows.keep_table(self._name, self.computed)

    def computed(self) -> pl.LazyFrame:
        """Return the same, which is not kept."""
        areas = self.areas()
        if not self.ranking.rows.clustered:
            alone = {MOST_BIAS: pl.col("bias"), OF_SQUARES: pl.lit(0.0)}
            return self._with_few(areas.with_columns(n_trials="n_effective", **alone))
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
        defined = pl.when(pl.col(ESTIMATE).is_not_null()).then(pl.col(*totals))
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
        """Return the table for rows that are independent, with what the last column rests on."""
        table = self.spread
        if table is None:
            table = self._spread()
        ranked = self.ranking.rows
        if ranked.stratified and not ranked.clustered:
            known = pl.when(pl.col(ESTIMATE).is_not_null()).then("variance")
            own = self._influences.group_by("segment").agg(variance=_SQUARES)
            table = segment_join(table.drop("variance"), own).with_columns(known.alias("variance"))
        table = self._with_heavy(table)
        sized = table.with_columns(sizes(pl.col("positives"), pl.col("negatives")))
        sized = sized.with_columns(self.measure.status.alias("status"))
        return self.ranking.with_dropped(sized.drop("positives", "negatives"))

    def _with_heavy(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Lower the effective numbers of rows of a class that rests on few heavy ones."""
        rows, ranking = self.unbinned or self.ranking.rows, self.ranking
        if not ranking.squares:
            return table
        own = ranking.segments.numbered(rows.keep_table("heavy", lambda: of_heavy(rows)))
        found = segment_join(table, own.select("segment", *OF_HEAVY).sort("segment"))
        told = [name for name, is_of in zip(OF_HEAVY, self.measure.weighed, strict=True) if is_of]
        numbers = {"n_effective": told, "n_negative": OF_HEAVY[1:]}
        return found.with_columns(
            pl.when(pl.col(name).is_not_null()).then(pl.min_horizontal(name, *least)).alias(name)
            for name, least in numbers.items()
        ).drop(OF_HEAVY)

    def _spread(self) -> pl.LazyFrame:
        if self.by_row is None:
            return spreads(self.ranking, self.measure)
        sums = sums_of(self.by_row.steps, self.ranking, self.measure)
        return spreads_of(sums, self.ranking, self.measure)

    def keyed(self) -> pl.LazyFrame:
        """Return the table with keys in place of the numbers of segments."""
        return self.ranking.segments.with_keys(self.table())

    def keyed_clusters(self) -> pl.LazyFrame:
        """Return the sums of clusters with keys in place of the numbers of segments."""
        return self.ranking.segments.with_keys(self.clusters)


def _at_shared_points(estimates: Sequence[Estimates], ranking: Ranking) -> list[Estimates]:
    """Return estimates whose sums are taken at the points that measures share, if they do."""

    @cache
    def parts_of(points: Points) -> list[pl.LazyFrame]:
        return list(map(ranking.rows.once, parts_at(ranking, points)))

    found = []
    for one in estimates:
        spread, measure = None, one.measure
        if isinstance(measure, TiedMeasure):
            # Each by itself: Polars 1.41.0 panics at many plans at once.
            spread = spreads_at(parts_of(measure.summed_points), ranking, measure)
        found.append(replace(one, spread=spread))
    return found


def values_of_each(
    rows: Rows, measures: Sequence[Measure], *, scored: bool = False
) -> tuple[Ranking, list[pl.LazyFrame]]:
    """Return a ranking of rows, and the table of each measure without what only intervals need."""
    if rows.elsewhere is not None:
        found = Estimates.of_each(rows, measures)
        return found[0].ranking, [one.table() for one in found]
    # Single rows have their scores beside them.
    scored = scored or (any(one.scored for one in measures) and bool(rows.carried(squares=False)))
    highest = (one.calibration for one in measures if one.calibration is not None)
    ranking = rank(rows, scored=scored, at=next(highest, None))
    if rows.kept is None:  # measures share points
        ranking = replace(ranking, rows=replace(rows, kept={}))
    tables = []
    for measure in measures:
        sized = measure.valued(ranking).with_columns(sizes(POSITIVES, NEGATIVES))
        tables.append(ranking.with_dropped(sized.with_columns(measure.status.alias("status"))))
    return ranking, tables


def with_few(table: pl.LazyFrame, measure: Measure) -> pl.LazyFrame:
    """Add whether there are too few negatives for a measure.

    Where a negative stands for k > 1 of them beside each positive, few of them decide the precision
    at the top of the ranking: the average precision is too high, and its interval too narrow. k is
    the odds of a negative that the rows stand for, by their weights or at a reference prevalence,
    over those of the rows. In simulations, 95 % intervals covered less than 92 % where the
    negatives go with fewer than 20 sqrt(k) positives at these odds, and where they were fewer than
    20. With clusters the number of negatives is divided by what they multiply the variance of a
    negative by, and is at most the effective number of clusters that hold some.

    A measure of both classes rests on the scarcer one, whatever its negatives stand for, and one of
    a share of the negatives on so many of them: with 5 of these, intervals covered 86 %. One that
    counts the rows that it rests on, on these alone.
    """
    if measure.counted:
        said = IS_FEW in measure.kept
        return table.with_columns(few_negatives=pl.col(IS_FEW) if said else pl.lit(value=False))
    columns, count = table.collect_schema(), pl.col("n_negative")
    if TIMES_OF_CLUSTERS[1] in columns:
        count /= pl.col(TIMES_OF_CLUSTERS[1])
    least = count * measure.share_of_negatives
    if NEGATIVE_CLUSTERS in columns:
        least = pl.min_horizontal(least, pl.col(NEGATIVE_CLUSTERS).fill_nan(None))
    few = least < FEW_POSITIVES
    if not measure.of_both_classes:
        odds = _odds_stood_for(table)
        few |= few_at_odds(count, odds, odds / pl.col("row_odds"))
    found = table.with_columns(few_negatives=few.fill_null(value=False))
    if not measure.of_both_classes:
        return found
    rests_on = [name for name in ("n_effective", "n_trials") if name in columns]
    return found.with_columns(
        pl.when(least < pl.col(name)).then(least).otherwise(name).alias(name) for name in rests_on
    )


def few_at_odds(count: Any, odds: Any, k: Any) -> Any:
    """Return whether negatives are too few for the odds, k times their own, that they stand for."""
    return (k > 1 + _ROUNDING_OF_K) & (count / odds < FEW_POSITIVES * k**0.5)


def unbiased_variance(measure: Measure) -> pl.Expr:
    """Return the variance of a measure, null where the rows do not tell it."""
    m, variance = pl.col("n_effective"), pl.col("variance")
    # That of both classes is unbiased as it is.
    variance = variance if measure.of_both_classes else variance * m / (m - 1)
    spread = shows_spread(variance, pl.col(ESTIMATE), pl.col(SHORTFALL))
    return pl.when((m.round() > 1) & spread).then(variance)


def widened_variance(measure: Measure) -> pl.Expr:
    """Return the variance that limits and tests take it to be: more, with some clusters."""
    return unbiased_variance(measure) + pl.col(OF_SQUARES)


def _times() -> list[pl.Expr]:
    """Return what clusters multiply the variance of each class around its mean by, at least 1."""
    of_negatives, area = pl.col("of_negatives"), (pl.col(ESTIMATE), pl.col(SHORTFALL))
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

    The bias, a second moment too, is multiplied as the variance is, unless terms cancel in that.
    It is the mean of terms that are squares. They may be one of a normal number at worst, whose
    variance is twice the square of its mean; rows by themselves have many.
    """
    of_rows, error = pl.col("bias"), pl.col("variance").sqrt()
    most = pl.min_horizontal(measure.most_bias, of_rows + _MOST_ADDED * error)
    more = (2 * (most**2 - of_rows**2)).clip(lower_bound=0.0)
    bias = of_rows * pl.col("n_by_rows") / pl.col("n_trials")
    return {
        "bias": bias,
        MOST_BIAS: pl.max_horizontal(most, bias),
        OF_SQUARES: more.fill_null(0.0),
    }


def on_negatives(influence: str) -> pl.Expr:
    """Return the influence of the rows that are negative, and 0 for others."""
    own = pl.when(pl.col("neg") > 0).then(influence).otherwise(0.0)
    return own.alias(f"{influence}_on_negatives")


def of_classes(influence: str) -> dict[str, pl.Expr]:
    """Return what the clusters of each class tell, from the sums of clusters."""
    moved = pl.col(f"{influence}_on_negatives")
    sums = ((pl.col(influence) - moved) ** 2, moved**2, moved)
    return {name: in_order(one) for name, one in zip(OF_CLASSES, sums, strict=True)}


def effective_clusters(measure: Measure, below: str = "below") -> dict[str, pl.Expr]:
    """Return the effective number of clusters that a measure rests on, and that with negatives."""
    rests_on = pl.col("pos") + pl.col("neg") if measure.counted else pl.col("pos")
    if measure.below:
        rests_on = pl.col(below)
    return {"n_effective": effective(rests_on), NEGATIVE_CLUSTERS: effective(pl.col("neg"))}


def _odds_stood_for(table: pl.LazyFrame) -> pl.Expr:
    """Return the odds of a negative: at the reference prevalence if calibrated, else by weight."""
    if "reference_odds" in table.collect_schema():
        return pl.col("reference_odds")
    return (pl.col("n") - pl.col("n_pos")) / pl.col("n_pos")


def _binned_rows(rows: Rows, bins: Bins | None) -> Rows:
    """Return rows with the number of the highest threshold they reach as their score."""
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

_STATUS = pl.col("status")
# So many scores of a sample are more than two, null and NaN.
_SAMPLE, _FEW = 1_000, 4


def models_with_few_scores(rows: Rows) -> pl.LazyFrame:
    """Return the key of each model, if rows have one, and whether it has ``few_scores``."""
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
    flags = _flags(used, wide)
    [key] = rows.model_keys
    long = flags.select(
        pl.lit(names, dtype=pl.List(pl.String)).alias(key),
        pl.concat_list(cs.all()).alias(FEW_SCORES),
    )
    return long.explode(key, FEW_SCORES, empty_as_null=False)


def with_few_scores(table: pl.LazyFrame, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Replace the status ``"ok"`` in the rows of such models, or of all if bins are so few."""
    if bins is not None and len(bins.thresholds) <= _FEW_BINS:
        return _with_status(table, pl.lit(value=True))
    found = left_join(table, models_with_few_scores(rows), rows.model_keys)
    return _with_status(found, pl.col(FEW_SCORES)).drop(FEW_SCORES)


def with_few_scores_of_pairs(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Replace the status ``"ok"`` where one of two models is such a one."""
    names, wide = list(rows.columns.request.models), side_by_side(rows)
    there = rows.elsewhere
    flags = _flags(wide.used(), wide) if there is None else there.few_scores_of_pairs(wide)
    flagged = [f"few_{i}" for i in range(len(names))]
    of_pair = (
        pl.col(flag) & pl.any_horizontal(pl.col("model", "baseline") == name)
        for flag, name in zip(flagged, names, strict=True)
    )
    found = left_join(table, flags, [])
    return _with_status(found, pl.any_horizontal(of_pair)).drop(flagged)


def _flags(used: pl.LazyFrame, wide: Rows) -> pl.LazyFrame:
    """Return one row with ``few_0, few_1, ...`` of models side by side."""
    places = range(len(wide.columns.scores))
    return _used(used.select(_at_ends(f"score_{i}", wide).alias(f"few_{i}") for i in places))


def _used(flags: pl.LazyFrame) -> pl.LazyFrame:
    """Return the same flags, in rows whose number is right where none of them is looked at."""
    # Always true. Of an aggregate that is not used Polars 1.41 takes the height of its input.
    return flags.filter(pl.all_horizontal(cs.starts_with("few_").is_not_null()))


def _at_ends(name: str, rows: Rows) -> pl.Expr:
    """Return whether all scores are the lowest or the highest of a model."""
    score = without_nan(pl.col(name), rows.score_dtype)
    return ((score == score.min()) | (score == score.max())).all()


def _with_status(table: pl.LazyFrame, few_scores: pl.Expr) -> pl.LazyFrame:
    """Update the status, in which any other reason comes first."""
    few = (_STATUS == "ok") & few_scores
    status = pl.when(few).then(pl.lit(FEW_SCORES)).otherwise(_STATUS)
    return table.with_columns(status.alias("status"))
