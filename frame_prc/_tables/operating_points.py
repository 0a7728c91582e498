"""Operating points as a table, with intervals of precision and recall; thresholds by steps.

The intervals are of what new rows have at the threshold. Of one that was chosen on these rows the
lower limit allows for what a bootstrap, which chooses again, loses on the rows it was drawn from.
At another prevalence limits are those of the rows as they are, seen from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from frame_prc import _lazy as lazy
from frame_prc._curves import logit_intervals
from frame_prc._curves.calibration import REFERENCE, SCALE, SCALES, deployed, deployed_share
from frame_prc._curves.given_thresholds import (
    ASCENDING,
    COUNTED,
    LIMITS,
    MISSED,
    NEEDED,
    GivenThresholds,
    along_ranking,
)
from frame_prc._curves.operating_points import (
    bound_name,
    check_counts,
    chosen,
    is_of_any_score,
    merits_of,
    misses,
    operating_points,
)
from frame_prc._formulas import normal_quantile, precision, recall, unsigned_zero
from frame_prc._inference.distributions import with_exact_limits
from frame_prc._inference.estimates import Estimates, with_few_scores
from frame_prc._inference.intervals import check_drawable, status_of
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import CLUSTER_SUMS
from frame_prc._request.specs import Calibration, Draws, Interval, Target
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table, details

_TP, _FP, _FN, _POSITIVES = pl.col("tp"), pl.col("fp"), pl.col("fn"), pl.col("positives")
_ROW = ("segment", "order")
_WRONG = {"precision": "fp", "recall": "fn"}  # of the trials of a rate, those that miss
_GROUPS = 2000  # of the scores of a segment
# So many clusters, each at a threshold, take half a gigabyte; and so many thresholds are taken
# together where clusters are not counted.
_CELLS, _TOGETHER = 2_000_000, 200


@dataclass(frozen=True)
class OperatingPoints(Table):
    """One row per segment and target, in the order of the targets, then of given thresholds."""

    targets: Sequence[Target]
    given: GivenThresholds | None = None
    interval: Interval | None = None
    ascending: bool = False
    calibration: Calibration | None = None

    @property
    def outputs(self) -> Sequence[str]:
        costs = any(target.criterion == "cost" for target in self.targets)
        costs = costs or (self.given is not None and self.given.has_costs)
        has_limits = self.interval is not None
        return (
            "target",
            *details("criterion", "target_value"),
            "threshold",
            *details("tp", "fp", "fn", "tn"),
            "precision",
            "recall",
            *details("fpr", "f_score", "predicted_rate"),
            # So that a table with intervals is still as wide as a terminal.
            *details("predicted_count", when=has_limits),
            *(("expected_cost",) if costs else ()),
            *(details(REFERENCE) if self.calibration is not None else ()),
            *((*details(COUNTED), *details(NEEDED, when=has_limits)) if self._guarantees else ()),
            *((*LIMITS[:2], *details(*LIMITS[2:])) if has_limits else ()),
            *((ASCENDING,) if self.ascending else ()),  # so that thresholds are not turned round
            "status",
        )

    def of(self, rows: Rows) -> pl.LazyFrame:
        if self.calibration is None:
            found = self._of(rows)
        else:
            weighted, scales = deployed(rows, self.calibration)
            reference = scales.select(*rows.keys, REFERENCE)
            found = lazy.left_join(self._of(weighted, scales), reference, rows.keys)
        judged = found if self.interval is None else self._with_few(found, rows)
        if self.given is None:  # what these rows choose meets its target on them
            return judged
        # That says more than what its interval lacks, or that none is retrieved.
        has_classes = ~pl.col("status").is_in(["no_positives", "no_negatives"])
        missed = pl.when(has_classes & misses()).then(pl.lit(MISSED))
        return judged.with_columns(status=missed.otherwise("status"))

    def _with_few(self, table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        if rows.clustered or rows.columns.weighted or self.calibration is not None:
            known = Estimates.of(rows).keyed().select(*rows.keys, "n_effective", "few_negatives")
            table = lazy.left_join(table, known, rows.keys)
        else:
            few_negatives = pl.col("all_negatives") < logit_intervals.FEW_POSITIVES
            table = table.with_columns(n_effective="all_positives", few_negatives=few_negatives)
        judged = table.with_columns(status=status_of(None, clustered=rows.clustered))
        few = pl.col("told") < logit_intervals.FEW_POSITIVES
        judged = judged.with_columns(status=logit_intervals.status_where(few, "few_rows"))
        return with_few_scores(judged, rows)

    def _of(self, rows: Rows, scales: pl.LazyFrame | None = None) -> pl.LazyFrame:
        if self.interval is not None or self._guarantees:
            rows.check_no_strata("an interval or a guarantee of operating points")
        if self.interval is not None and not self._guarantees:
            if any(target.criterion != "threshold" for target in self.targets):
                check_drawable(rows, "ci= of thresholds that are chosen")
            elif rows.columns.aggregated:
                check_counts(rows.columns)
        ranking = rank(rows.by_threshold())
        bounds = self._bounds(ranking) if self._guarantees else None
        table = operating_points(ranking, self.targets, self.given, bounds)
        if bounds is not None:
            table = table.with_columns(self._needed().alias(NEEDED))
            table = lazy.segment_join(
                table, bounds.select("segment", self._counted())
            ).with_columns(pl.col(COUNTED).list.get(pl.col("order")))
        if self.interval is None:
            return ranking.segments.with_keys(ranking.with_dropped(table))
        if scales is not None:
            scales = ranking.segments.numbered(scales).select("segment", *SCALES)
        table = self._with_limits(table, ranking, self.interval, scales)
        return ranking.segments.with_keys(ranking.with_dropped(table))

    @property
    def _guarantees(self) -> bool:
        return any(target.guarantee is not None for target in self.targets)

    def _bounds(self, ranking: Ranking) -> pl.LazyFrame:
        from frame_prc._inference import guarantees  # noqa: PLC0415 - needs NumPy

        check_drawable(ranking.rows, "guarantee=")
        targets = {bound_name(place): target for place, target in enumerate(self.targets)}
        return guarantees.bounds(ranking, targets)

    def _counted(self) -> pl.Expr:
        from frame_prc._inference.guarantees import of_rows  # noqa: PLC0415 - needs NumPy

        rows = [pl.col(of_rows(bound_name(place))) for place in range(len(self.targets))]
        return pl.concat_list(rows).alias(COUNTED)

    def _needed(self) -> pl.Expr:
        from frame_prc._inference.guarantees import needed  # noqa: PLC0415 - needs NumPy

        # At another prevalence negatives that are not retrieved tell of the precision too.
        is_known = self.calibration is None
        numbers = pl.Series(
            [
                needed(one) if is_known or one.criterion != "precision" else None
                for one in self.targets
            ],
            dtype=pl.Int64,
        )
        return pl.lit(numbers).gather("order")

    def _with_limits(
        self,
        table: pl.LazyFrame,
        ranking: Ranking,
        interval: Interval,
        scales: pl.LazyFrame | None,
    ) -> pl.LazyFrame:
        chosen_here = {
            place: target
            for place, target in enumerate(self.targets)
            if target.criterion != "threshold"
        }
        has_given = len(chosen_here) < len(self.targets) or self.given is not None
        is_counted = _are_counted(ranking.rows, scales)
        several = [pl.lit(value=True)] if is_counted else self._parts(ranking)
        in_turn = len(several) > 1 and ranking.rows.in_memory
        once = _computed if in_turn else lazy.cached
        table, scales = once(table), None if scales is None else once(scales)
        kept, drawn = None, interval.resampling
        if chosen_here and drawn is not None:
            kept = _kept(ranking, chosen_here, drawn)
            kept = kept if scales is None else _kept_of_sample(kept, table, scales)
            kept = _computed(kept) if in_turn else kept

        def limits_at(points: pl.LazyFrame) -> pl.LazyFrame:
            trials = _trials(points, ranking, normal_quantile(interval.level), scales)
            limits = [_at_given(trials, interval.level)] if has_given else []
            limits += [_at_chosen(trials, kept, interval.tail)] if chosen_here else []
            found = (
                lazy.concat(limits)
                if scales is None
                else _deployed_limits(lazy.concat(limits), scales)
            )
            retrieved = trials["precision"]
            is_counted = "units" not in retrieved.collect_schema()
            told = retrieved.select(*_ROW, told=_TP + _FP if is_counted else "units")
            return lazy.join(told, found, on=list(_ROW), how="left")

        at = pl.coalesce("held", pl.col("threshold").cast(pl.Float64))
        points = table.select(*_ROW, "held", "tp", "fp", "fn", at=at)
        parts = (limits_at(points.filter(part)) for part in several)
        # Each now, so that the next one takes its memory.
        every = lazy.concat([_computed(part) if in_turn else part for part in parts])
        return lazy.join(table, every, on=list(_ROW), how="left", maintain_order="left")

    def _parts(self, ranking: Ranking) -> list[pl.Expr]:
        """Return which points are taken together: the clusters at each of them fill memory."""
        rows, count, size = ranking.rows, len(self.targets), _TOGETHER
        if rows.clustered and rows.height is not None and count * rows.height > _CELLS:
            units = rows.used().select(pl.struct(*rows.keys, "cluster").n_unique())
            size = max(_CELLS // max(units.collect().item(), 1), 1)
        last = max(count - 1, 0) // size if rows.clustered else 0
        # Thresholds of a frame come last.
        place = (pl.col("order") // size).clip(upper_bound=last)
        return [place == part for part in range(last + 1)]


def _computed(frame: pl.LazyFrame) -> pl.LazyFrame:
    return frame.collect(engine="in-memory").lazy()


# --- another prevalence --------------------------------------------------------------------------


def _of_sample(units: pl.LazyFrame, scales: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sums of units as their rows are, without the weights of deployment."""
    cells = zip(SCALES, (("tp", "fn"), ("fp", "tn")), strict=True)
    own = []
    for scale, (reached, missed) in cells:
        unseen = "fn_unseen" if scale == SCALES[0] else "fp_unseen"
        own.append(pl.col(reached, missed, unseen) / pl.col(scale))
        own.append(pl.col(f"{reached}_squares", f"{missed}_squares") / pl.col(scale) ** 2)
    return lazy.segment_join(units, scales).with_columns(own).drop(SCALES)


def _kept_of_sample(kept: pl.LazyFrame, table: pl.LazyFrame, scales: pl.LazyFrame) -> pl.LazyFrame:
    reached = pl.col("reached")
    now, then = (deployed_share(one, 1 / SCALE) for one in (reached, reached * pl.col("precision")))
    points = table.select(*_ROW, reached="precision")
    found = lazy.segment_join(lazy.join(kept, points, on=list(_ROW), how="left"), scales)
    return found.select(*_ROW, "recall", precision=then / now)


def _deployed_limits(limits: pl.LazyFrame, scales: pl.LazyFrame) -> pl.LazyFrame:
    precisions = deployed_share(pl.col("precision_low", "precision_high"), SCALE)
    return lazy.segment_join(limits, scales).with_columns(precisions).drop(SCALES)


# --- trials --------------------------------------------------------------------------------------


def _trials(
    points: pl.LazyFrame, ranking: Ranking, z: float, scales: pl.LazyFrame | None
) -> dict[str, pl.LazyFrame]:
    """Return the trials of precision and of recall: their sums ``tp, fp`` and a ``share``."""
    columns = ranking.rows.columns
    if columns.cluster is None and not columns.weighted:
        return {
            rate: points.select(*_ROW, "held", "tp", pl.col(miss).alias("fp"), share=pl.lit(1.0))
            for rate, miss in _WRONG.items()
        }
    if _are_counted(ranking.rows, scales):
        sums = _sums_of_clusters(points, ranking)
    else:
        sums = _sums_of_units(points, ranking, scales)
    held, of_rates = points.select(*_ROW, "held"), {}
    for rate, own in sums.items():
        known = logit_intervals.with_moments(own, z).select(
            *_ROW, "tp", "fp", "share", *logit_intervals.MOMENTS
        )
        of_rates[rate] = lazy.join(held, known, on=list(_ROW), how="left")
    return of_rates


def _are_counted(rows: Rows, scales: pl.LazyFrame | None) -> bool:
    return rows.clustered and not rows.columns.weighted and scales is None


def _sums_of_units(
    points: pl.LazyFrame, ranking: Ranking, scales: pl.LazyFrame | None
) -> dict[str, pl.LazyFrame]:
    units = _units(points, ranking)
    units = lazy.cached(units if scales is None else _of_sample(units, scales))
    clustered, usual, sums = ranking.rows.clustered, _usual_weights(), {}
    for rate, miss in _WRONG.items():
        is_given = scales is not None and rate == "precision"
        own = units.select(
            *_ROW,
            "tp",
            pl.col(miss).alias("fp"),
            *(_of_others() if is_given and not clustered else ()),
            rows=pl.col("tp_rows") + pl.col(f"{miss}_rows"),
            unseen=f"{miss}_unseen",
            tp_squares="tp_squares",
            fp_squares=f"{miss}_squares",
            **(_of_sizes() if is_given and clustered else {}),
            **{
                name: usual[cell]
                for name, cell in zip(logit_intervals.USUAL, ("tp", miss), strict=True)
            },
        )
        if clustered:
            sums[rate] = logit_intervals.sums_of_units(own, list(_ROW))
        else:
            used = own.filter(_TP + _FP > 0)
            sums[rate] = logit_intervals.sums_of_rows(used, is_given=is_given)
    return sums


def _of_others() -> list[pl.Expr]:
    return [pl.col(cell, f"{cell}_squares") for cell in ("fn", "tn")]


def _usual_weights() -> dict[str, pl.Expr]:
    def on_side(*cells: str) -> pl.Expr:
        squares, weights = (
            lazy.in_order(pl.sum_horizontal(f"{cell}{end}" for cell in cells).sort()).over(_ROW)
            for end in ("_squares", "")
        )
        return squares / weights

    reached, missed = on_side("tp", "fp"), on_side("fn", "tn")
    cells = {"tp": ("fn", reached), "fp": ("fp", reached), "fn": ("fn", missed)}
    return {
        cell: pl.min_horizontal(pl.col(f"{of_class}_unseen").fill_nan(None), side.fill_nan(None))
        for cell, (of_class, side) in cells.items()
    }


def _of_sizes() -> dict[str, pl.Expr]:
    found: dict[str, pl.Expr] = {}
    names = zip(logit_intervals.SHARES_OF_CLASSES, logit_intervals.RATES_OF_CLASSES, strict=True)
    for (share, rate), reached, missed in zip(names, ("tp", "fp"), ("fn", "tn"), strict=True):
        both = pl.col(reached) + pl.col(missed)
        total = lazy.in_order(both.sort()).over(_ROW)
        found |= {share: both / total, rate: pl.col(reached) / total}
    return found


# What is added up of the rows of each class.
_ENDS = ("", "_squares", "_rows")
_NEVER = 2**32 - 1  # the step of rows that no threshold retrieves


def _units(points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    """Return the sums of each cluster, or of all rows, at each threshold.

    The thresholds of a segment are steps: a row is retrieved from the first that reaches it on.
    """
    unit = _unit(ranking.rows)
    at, steps, placed = _in_steps(points, ranking)
    cells = lazy.cached(_cells(placed, unit))
    never = steps.select("segment", step=pl.lit(_NEVER, pl.UInt32)).unique()
    every = lazy.concat([steps.select("segment", "step"), never])
    grid = lazy.join(cells.select(unit).unique(), every, on="segment")
    sums = [f"{of}{end}" for of in ("pos", "neg") for end in _ENDS]
    table = lazy.left_join(grid, cells, [*unit, "step"]).with_columns(pl.col(sums).fill_null(0))
    grown: dict[str, pl.Expr] = {}
    for of, (reached, missed) in {"pos": ("tp", "fn"), "neg": ("fp", "tn")}.items():
        for end in _ENDS:
            own = pl.col(f"{of}{end}")
            grown[f"{reached}{end}"] = own.cum_sum()
            grown[f"{missed}{end}"] = own.cum_sum(reverse=True).shift(-1)
    in_steps = table.sort(*unit, "step").with_columns(
        **{name: one.over(unit, mapping_strategy="explode") for name, one in grown.items()}
    )
    found = lazy.join(at.select(*_ROW, "step"), in_steps.drop(sums), on=["segment", "step"])
    return lazy.segment_join(found, _unseen(cells))


def _in_steps(
    points: pl.LazyFrame, ranking: Ranking
) -> tuple[pl.LazyFrame, pl.LazyFrame, pl.LazyFrame]:
    """Return the step of each point, those of each segment, and the step of each row."""
    rows = ranking.rows
    known = points.filter(pl.col("at").is_not_null())
    at = known.select(*_ROW, at=along_ranking(pl.col("at"), ranking))
    step = pl.col("at").rank("dense").over("segment").cast(pl.UInt32)
    at = lazy.cached(at.with_columns(step=step))
    steps = at.select("segment", "step", "at").unique()
    scored = ranking.segments.numbered(rows.used()).select(
        *_unit(rows), "truth", at=along_ranking(pl.col("score"), ranking), weight=rows.weight
    )
    placed = scored.sort("at").join_asof(
        steps.sort("at"), on="at", by="segment", strategy="forward", check_sortedness=False
    )
    return at, steps, placed.with_columns(pl.col("step").fill_null(_NEVER))


def _unit(rows: Rows) -> list[str]:
    return ["segment", "cluster"] if rows.clustered else ["segment"]


def _cells(placed: pl.LazyFrame, unit: Sequence[str]) -> pl.LazyFrame:
    weight = pl.col("weight")
    sums: dict[str, pl.Expr] = {}
    for of, is_one in {"pos": pl.col("truth"), "neg": ~pl.col("truth")}.items():
        own = weight.filter(is_one)
        # Sorted, so that no sum depends on the order of the rows.
        sums |= {of: lazy.in_order(own.sort()), f"{of}_squares": lazy.in_order((own**2).sort())}
        sums[f"{of}_rows"] = (own > 0).sum()
    return placed.group_by(*unit, "step").agg(**sums)


def _unseen(cells: pl.LazyFrame) -> pl.LazyFrame:
    return cells.group_by("segment").agg(
        (lazy.in_order(pl.col(f"{of}_squares").sort()) / lazy.in_order(pl.col(of).sort())).alias(
            f"{miss}_unseen"
        )
        for of, miss in (("neg", "fp"), ("pos", "fn"))
    )


def _sums_of_clusters(points: pl.LazyFrame, ranking: Ranking) -> dict[str, pl.LazyFrame]:
    """Return the sums over clusters that the moments of precision and of recall are made of.

    They grow only at the thresholds that a cluster has rows at: it is not looked at for others.
    """
    unit, step = _unit(ranking.rows), ["segment", "step"]
    at, steps, placed = _in_steps(points, ranking)
    counts = {"pos": pl.col("truth").sum(), "neg": (~pl.col("truth")).sum()}
    cells = placed.group_by(*unit, "step").agg(
        n.cast(pl.Int64).alias(of) for of, n in counts.items()
    )
    pos, neg = pl.col("pos"), pl.col("neg")
    found = {"tp": pos.cum_sum(), "fp": neg.cum_sum(), "all": pos.sum()}
    growing = cells.sort("step").with_columns(one.over(unit).alias(n) for n, one in found.items())
    tp, fp = pl.col("tp"), pl.col("fp")
    added = {
        "tp_squared": pos * (2 * tp - pos),
        "tp_times_fp": tp * fp - (tp - pos) * (fp - neg),
        "fp_squared": neg * (2 * fp - neg),
        "tp_times_all": pos * pl.col("all"),
    }
    unmoved = steps.select(*step, **dict.fromkeys(added, pl.lit(0, pl.Int64)))
    each = lazy.concat([unmoved, growing.select(*step, **added)]).group_by(step)
    grown = each.agg(pl.col(*added).sum()).sort(step)
    sums = grown.with_columns(
        pl.col(*added).cum_sum().over("segment"),
        all_squared=pl.col("tp_times_all").sum().over("segment"),
    )
    reached = lazy.join(points.select(*_ROW, "tp", "fp", "fn"), at, on=list(_ROW))
    known = lazy.cached(lazy.join(reached, sums, on=step))
    hits, both = pl.col("tp_squared"), pl.col("tp_times_all")
    of_positives = (both - hits, pl.col("all_squared") - 2 * both + hits)
    missed = dict(zip(CLUSTER_SUMS[1:], of_positives, strict=True))
    counted = {
        "precision": known.select(*_ROW, "tp", "fp", *CLUSTER_SUMS),
        "recall": known.select(*_ROW, "tp", CLUSTER_SUMS[0], fp="fn", **missed),
    }
    return {
        rate: logit_intervals.sums_of_clusters(own.filter(_TP + _FP > 0))
        for rate, own in counted.items()
    }


# --- given thresholds ----------------------------------------------------------------------------


def _at_given(trials: dict[str, pl.LazyFrame], level: float) -> pl.LazyFrame:
    limits = []
    for rate, side in trials.items():
        known = set(logit_intervals.MOMENTS) <= set(side.collect_schema())
        moments = [pl.col(name) for name in logit_intervals.MOMENTS] if known else None
        ends = logit_intervals.limits_of_share(_TP, _FP, level, moments)
        named = (limit.alias(f"{rate}_{end}") for end, limit in ends.items())
        limits.append(side.filter(pl.col("held").is_not_null()).select(*_ROW, *named))
    return lazy.join(*limits, on=list(_ROW), how="left", maintain_order="left")


# --- chosen thresholds ---------------------------------------------------------------------------


def _at_chosen(
    trials: dict[str, pl.LazyFrame], kept: pl.LazyFrame | None, tail: float
) -> pl.LazyFrame:
    """Return exact limits, the lower ones for the hits that new rows are expected to keep."""
    tables = []
    for rate, side in trials.items():
        counted = side.filter(pl.col("held").is_null()).select(
            *_ROW, hits=_TP * pl.col("share"), misses=_FP * pl.col("share")
        )
        if kept is None:
            filled = counted.with_columns(kept=pl.lit(1.0))
        else:
            shrunk = lazy.join(counted, kept.select(*_ROW, kept=rate), on=list(_ROW), how="left")
            filled = shrunk.with_columns(pl.col("kept").fill_nan(1.0).fill_null(1.0))
        found = with_exact_limits(filled, tail)
        tables.append(found.select(*_ROW, pl.col("low", "high").name.prefix(f"{rate}_")))
    return lazy.join(*tables, on=list(_ROW), how="left", maintain_order="left")


def _kept(ranking: Ranking, targets: dict[int, Target], resampling: Draws) -> pl.LazyFrame:
    """Return how much of precision and recall at thresholds chosen here is left in new rows.

    As much as one chosen anew in a replicate loses in the sample that the replicate is drawn from.
    """
    wanted = dict(enumerate(targets.values()))
    merits = merits_of(wanted, ranking)
    every_score = any(map(is_of_any_score, targets.values()))
    own = ("own_precision", "own_recall")

    def rates(points: pl.LazyFrame) -> pl.LazyFrame:
        rated = points.with_row_index("slot").with_columns(**merits)
        reached = pl.when(_TP + _FP > 0).then(precision(_TP, _FP))
        found = chosen(rated, [*wanted], ranking)
        with_own = lazy.join(found, rated.select("slot", *own), on="slot", how="left")
        drawn = {"precision": reached, "recall": recall(_TP, _POSITIVES)}
        return with_own.select("segment", "order", *own, **drawn)

    both = {rate: (pl.col(rate), pl.col(f"own_{rate}")) for rate in ("precision", "recall")}
    means = {
        rate: (
            lazy.mean_in_order(in_sample.sort())
            / lazy.mean_in_order(in_replicate.filter(in_sample.is_not_null()).sort())
        ).clip(0, 1)
        for rate, (in_replicate, in_sample) in both.items()
    }
    from frame_prc._inference.resamples import over_replicates  # noqa: PLC0415 - needs NumPy

    drawn = over_replicates(
        ranking, _in_groups(ranking.rows), resampling, rates, means, every_score=every_score
    )
    places = pl.lit(pl.Series([*targets], dtype=pl.Int64)).gather("order")
    return drawn.select("segment", places.alias("order"), *means)


def _in_groups(rows: Rows) -> Rows:
    """Return rows with a number of a group in place of the score, where segments have many.

    Between two of 2,000 thresholds few rows change sides, beside what a draw does.
    """
    if rows.has_counts:
        return rows
    score = unsigned_zero(pl.col("score"), rows.score_dtype)
    group = (score.rank("max").cast(pl.Int64) * _GROUPS) // score.count()
    used = rows.used().with_columns(score=lazy.over(group, rows.keys))
    return replace(rows, frame=used, score_dtype=pl.Int64())


# --- thresholds by steps, with what each costs and finds ---------------------------------------

_PER = 1000


@dataclass(frozen=True)
class ThresholdTable(OperatingPoints):
    """One row per segment and step; ``costs`` are those of a false positive and of a miss."""

    costs: tuple[float, float] | None = None
    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        refused = {"thresholds= as a frame": self.given is not None}
        return refused | {"calibrate": self.calibration is not None}

    @property
    def outputs(self) -> Sequence[str]:
        cost = () if self.costs is None else ("expected_cost",)
        turned = (ASCENDING,) if self.ascending else ()
        rates = ("threshold", "alerts_per_1000", "precision", "recall")
        at = () if self.calibration is None else details(REFERENCE)
        counts = details("tp", "fp", when=self.costs is not None)
        others = details("predicted_count", "fn", "tn", "fpr", "f1", "net_benefit")
        return (*rates, *counts, *others, *cost, *at, *turned, "status")

    def of(self, rows: Rows) -> pl.LazyFrame:
        tp, fp, fn, tn = (pl.col(name).cast(pl.Float64) for name in logit_intervals.CELLS)
        n, threshold = tp + fp + fn + tn, pl.col("threshold").cast(pl.Float64)
        # As given, not as rounded to Float32.
        threshold = pl.when(criterion="threshold").then("target_value").otherwise(threshold)
        # As a probability, from which on an alert is worth its cost.
        odds = pl.when((threshold > 0) & (threshold < 1)).then(threshold / (1 - threshold))
        of_fp, of_fn = self.costs or (0.0, 0.0)
        there = rows.elsewhere
        points = super().of(rows) if there is None else there.points(rows, self.targets)
        shown = []
        if self.calibration is not None:
            shown = [pl.col(*logit_intervals.CELLS, "predicted_count") * _PER / n]
        return points.with_columns(
            *shown,
            alerts_per_1000=_PER * (tp + fp) / n,
            fpr=pl.when(fp + tn > 0).then(fp / (fp + tn)),
            f1=pl.col("f_score"),
            net_benefit=(tp - fp * odds) / n,
            expected_cost=(fp * of_fp + fn * of_fn) / n,
        )
