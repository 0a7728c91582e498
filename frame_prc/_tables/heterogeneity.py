"""How segments differ beyond sampling, and what each probably is, given the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean

import polars as pl

from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import FEW_POSITIVES, status_where
from frame_prc._execution import has_numpy
from frame_prc._formulas import unsigned_zero
from frame_prc._inference.comparisons import Spread, correlated_spread_of, spread_of
from frame_prc._inference.estimates import (
    Estimates,
    measure_of,
    unbiased_variance,
    widened_variance,
    with_few_scores,
)
from frame_prc._inference.intervals import check_method, status_of, unbiased
from frame_prc._lazy import concat, join, over, parts_by
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.specs import PERMUTED, Interval, Measured, SegmentsTest, SegmentsTestUsed
from frame_prc._rows.rows import Rows, dropped
from frame_prc._rows.table import Table, details, measure_and_sizes
from frame_prc.exceptions import OptionError

_COUNTS = ("n_segments", *details("n_left_out", "n_few"))
_NUMBERS = (
    "gap", "gap_if_equal", *details("gap_p_value", "q"),
    "p_value", *details("i_squared", "tau", "tau_low", "tau_high"),
)  # fmt: skip
_FEWEST = 2  # segments that can differ
_FEW_NEGATIVES = ("few_negatives", "heavy_negatives")
_AREA, _SHORTFALL = pl.col("estimate"), pl.col("shortfall")
_NUMBER = pl.col("segment").cast(pl.Int64)

# By simulation: with so many segments, so few positives or negatives in each, or so few positives
# that are missing from a perfect ranking, chi-square rejects too often.
_MANY_SEGMENTS, _FEW_OF_A_CLASS, _FEW_MISPLACED = 20, 50, 10
# Of the area under the ROC curve it rejected 8 to 9 % with 5 segments of 100 rows of a class.
_FEW_OF_BOTH_CLASSES = 200
# A permutation of more rows takes longer than a user who did not ask for it would wait, or any.
_MOST_ROWS, _MOST_ROWS_IF_ASKED = 500_000, 20_000_000
# By simulation: of 5 segments with 100 positives Q rejected 7 %, of 4 beside one with 10 or with 3
# 6 %, and of 3 beside two with 10 9 %.
_MOST_FEW = 0.2
# By simulation: with fewer effective clusters for each segment the F test may reject too often.
_CLUSTERS_PER_SEGMENT = 6


@dataclass(frozen=True)
class Heterogeneity(Table):
    """One row per model, with columns ``best_<key>`` and ``worst_<key>`` of the segments' keys.

    ``level`` is that of the interval of tau. Without a ``test`` it depends on the segments.
    """

    measured: Measured
    level: float = 0.95
    test: SegmentsTest | None = None
    outputs = (
        *_COUNTS,
        *details("best_value", "worst_value"),
        *_NUMBERS,
        *details("test"),
        "status",
    )
    adds_dropped = True
    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        return {"test='permutation'": self.test == "permutation"}

    @property
    def reserved(self) -> Sequence[str]:
        return ("value",)

    def keyed(self, rows: Rows) -> Rows:
        return rows.pooled()

    def of(self, rows: Rows) -> pl.LazyFrame:
        model = rows.model_keys
        keys = rows.keys[len(model) :]
        check_method(rows, Interval(0.95))
        estimates = Estimates.of(rows, measure_of(self.measured))
        segments = _with_errors(estimates).with_columns(part=pl.lit("segment"))
        schema = _schema(segments.collect_schema(), model, keys)
        # A step in Python has one input, so what the tests need is stacked under the segments.
        parts = [segments]
        if rows.clustered:
            sums = estimates.clusters.select("cluster", "influence", number=_NUMBER)
            parts.append(sums.with_columns(part=pl.lit("cluster")))
        elif rows.elsewhere is not None:
            self._check_unpermuted(segments, rows, estimates.ranking)
        elif self._may_permute(rows):
            # Only here: Polars 2.1 panics at a cached frame that is used once.
            segments = rows.once(segments)
            permuted = self._permuted(segments, rows, estimates.ranking)
            parts = [segments, permuted.with_columns(part=pl.lit("row"))]
        stacked = pl.concat(parts, how="diagonal", parallel=False)
        found = rows.in_python(stacked, lambda frame: self._compared(frame, rows, schema), schema)
        measure = estimates.measure
        lengths = ("gap", "gap_if_equal", "tau", "tau_low", "tau_high")
        found = with_few_scores(found, rows).with_columns(
            measure.values("best_value", "worst_value") + measure.lengths(*lengths)
        )
        return found.sort(model) if model else found

    def _may_permute(self, rows: Rows) -> bool:
        """Return whether there are single rows that can be permuted; refuse sums if asked."""
        is_sums = rows.columns.aggregated and rows.columns.weighted
        if is_sums and self.test == "permutation":
            raise OptionError(
                "test='permutation' needs single rows, which sums of weights in pos= and neg= are "
                "not",
                "test='q', rows with truth=, or integer counts",
                rows.columns.count_hint,
                shell_hint=None,
            )
        if self.test == "permutation":
            rows.check_no_strata("test='permutation'")
        has_null = self.measured.name in PERMUTED and not rows.stratified
        # Of rows that all count their number tells, without a look at them.
        all_count = rows.usable is None and not rows.has_counts and rows.columns.model is None
        if rows.values is not None and all_count and rows.values.height > self._most_rows:
            return False
        return self.test != "q" and has_null and not is_sums and has_numpy()

    @property
    def _most_rows(self) -> int:
        return _MOST_ROWS_IF_ASKED if self.test == "permutation" else _MOST_ROWS

    def _permuted(self, segments: pl.LazyFrame, rows: Rows, ranking: Ranking) -> pl.LazyFrame:
        numbered = ranking.segments.numbered(_single_rows(rows)).select(
            "score", "positive", "weight", "size", number=_NUMBER
        )
        counts = numbered.group_by("number").agg(rows=pl.col("size").sum())
        return join(numbered, self._chosen(segments, counts, rows), on="number", how="semi")

    def _check_unpermuted(self, segments: pl.LazyFrame, rows: Rows, ranking: Ranking) -> None:
        if not self._may_permute(rows):
            return
        counts = ranking.segments.numbered(rows.elsewhere.row_counts(rows))
        sized = counts.select("rows", number=_NUMBER)
        if self._chosen(segments, sized, rows).collect().height:
            raise OptionError(
                "segments so many, or with so few positives, are compared by permutation of the "
                "rows, which does not run inside an engine",
                "test='q', with which equal segments like these differ too often",
                "they have at most 500,000 rows: collect these, and call the verb with them",
            )

    def _chosen(self, segments: pl.LazyFrame, counts: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
        used = pl.col("error").is_not_null()
        compared = join(segments, counts, on="number", how="left").select(
            "number",
            rows=over(pl.col("rows").sum(), rows.model_keys),
            compared=over(used.sum(), rows.model_keys),
            scarcer=over(pl.when(used).then("scarcer").mean(), rows.model_keys),
            misplaced=over(pl.when(used).then("misplaced").mean(), rows.model_keys),
        )
        is_asked = self.test == "permutation"
        of_both = measure_of(self.measured).of_both_classes
        few = _FEW_OF_BOTH_CLASSES if of_both else _FEW_OF_A_CLASS
        many = (
            (pl.col("compared") >= _MANY_SEGMENTS)
            | (pl.col("scarcer") < few)
            | (pl.col("misplaced") < _FEW_MISPLACED)
        )
        few_rows = pl.col("rows") <= self._most_rows
        enough = pl.col("compared") >= _FEWEST
        return compared.filter(enough & few_rows & (pl.lit(is_asked) | many)).select("number")

    def _compared(self, frame: pl.DataFrame, rows: Rows, schema: pl.Schema) -> pl.DataFrame:
        model = rows.model_keys
        parts = frame.partition_by("part", as_dict=True)
        segments, sums, single = (
            parts.get((name,), frame.clear()) for name in ("segment", "cluster", "row")
        )
        found = [self._row(part, sums, single, rows, schema) for part in parts_by(segments, model)]
        return pl.concat([schema.to_frame(), *(row.select(schema.names()) for row in found)])

    def _row(
        self,
        segments: pl.DataFrame,
        sums: pl.DataFrame,
        single: pl.DataFrame,
        rows: Rows,
        schema: pl.Schema,
    ) -> pl.DataFrame:
        model = rows.model_keys
        keys = rows.keys[len(model) :]
        used = segments.drop_nulls("error")
        # The best and the worst are not few, if there are two such.
        judged = ~used["few"]
        used = used.with_columns(named=judged | (judged.sum() < _FEWEST))
        from_above = measure_of(self.measured).higher_is_better
        best, worst = (
            _first(used.filter("named"), keys, end, from_above=from_above == (end == "best"))
            for end in ("best", "worst")
        )
        both = pl.concat([best, worst], how="horizontal")
        in_model = pl.col("number").is_in(segments["number"].implode())
        found = self._tested(
            used, sums.filter(in_model), single.filter(in_model), ascending=rows.ascending
        )
        return both.with_columns(
            *(pl.lit(segments[name][0], segments.schema[name]).alias(name) for name in model),
            *(pl.lit(value, schema[name]).alias(name) for name, value in found.items()),
            n_segments=pl.lit(used.height, pl.Int64),
            n_left_out=pl.lit(segments.height - used.height, pl.Int64),
            n_few=pl.lit(used["few"].sum(), pl.Int64),
            gap=(pl.col("best_value") - pl.col("worst_value")).abs(),
        )

    def _tested(
        self, used: pl.DataFrame, sums: pl.DataFrame, single: pl.DataFrame, *, ascending: bool
    ) -> dict[str, object]:
        logits, errors, named = (used[name].to_list() for name in ("logit", "error", "named"))
        if used.height < _FEWEST:
            return _columns(Spread(), None, "few_segments")
        by_cluster = _sums_by_cluster(sums, used)
        if by_cluster is not None:
            clusters = math.fsum(used["positives"]) / used.height
            found = correlated_spread_of(logits, by_cluster, clusters, named, self.level)
            few = clusters < _CLUSTERS_PER_SEGMENT * used.height
            status = "few_clusters" if found is None or few else "ok"
            return _columns(found or Spread(), "f", status)
        if single.height:
            from frame_prc._inference import segment_permutations  # noqa: PLC0415 - needs NumPy

            null = segment_permutations.null_of(
                _ranked(single, ascending=ascending),
                self.measured.name,
                used["odds"][0],
                set(used.filter("named")["number"]),
            )
            if null is not None:
                found = spread_of(logits, errors, named, self.level, inflation=null.inflation)
                found = replace(found, p_value=null.p_value, gap_if_equal=null.gap_if_equal)
                return _columns(found, "permutation", "ok", null.gap_p_value)
        many_few = used["few"].sum() > _MOST_FEW * used.height
        status = measure_of(self.measured).few if many_few else "ok"
        return _columns(spread_of(logits, errors, named, self.level), "q", status)

    def finished(self, rows: Rows, *, details: bool = True) -> pl.LazyFrame:
        names = list(rows.columns.key_dtypes)
        columns = list(_COUNTS)
        renamed: dict[str, str] = {}
        for end in ("best", "worst"):
            named = {f"{end}_{i}": f"{end}_{name}" for i, name in enumerate(names)}
            columns += [*named, f"{end}_value"]
            renamed |= named
        counted = dropped(rows.columns.request.missing)
        every = [*columns, *_NUMBERS, "test", *counted, "status"]
        chosen = every if details else [name for name in every if name not in self.hidden]
        table = self._finished(rows, chosen).rename(renamed)
        return self._with_probabilities(table, rows)


def _with_errors(estimates: Estimates) -> pl.LazyFrame:
    table, m = estimates.table(), pl.col("n_effective")
    inside = (_AREA > 0) & (_SHORTFALL > 0)
    # Of rows it is that of the draws of a permutation.
    clustered = estimates.ranking.rows.clustered
    of_limits = widened_variance if clustered else unbiased_variance
    std_error = of_limits(estimates.measure).sqrt()
    odds = (
        pl.lit(None, pl.Float64)
        if estimates.measure.calibration is None
        else pl.col("reference_odds")
    )
    numbered = table.with_columns(
        number=_NUMBER,
        few=status_of(estimates.measure, clustered=clustered) != "ok",
        logit=_AREA.log() - _SHORTFALL.log(),
        error=pl.when(inside).then(std_error / (_AREA * _SHORTFALL)),
        slope=_AREA * _SHORTFALL,
        odds=odds,
        positives=m,
        scarcer=m if estimates.measure.counted else pl.min_horizontal(m, "n_negative"),
        misplaced=m * _SHORTFALL,
    )
    segments = estimates.ranking.segments
    return segments.with_keys(numbered).select(
        *segments.keys, "estimate", "number", "positives", "scarcer", "misplaced", "logit", "error",
        "slope", "few", "odds",
    )  # fmt: skip


def _schema(segments: pl.Schema, model: Sequence[str], keys: Sequence[str]) -> pl.Schema:
    schema = {name: segments[name] for name in model} | dict.fromkeys(_COUNTS, pl.Int64())
    for end in ("best", "worst"):
        schema |= {f"{end}_{i}": segments[key] for i, key in enumerate(keys)}
        schema[f"{end}_value"] = pl.Float64()
    numbers = dict.fromkeys(_NUMBERS, pl.Float64())
    return pl.Schema(schema | numbers | dict.fromkeys(("test", "status"), pl.String()))


def _columns(
    spread: Spread, test: SegmentsTestUsed | None, status: str, gap_p_value: float | None = None
) -> dict[str, object]:
    return asdict(spread) | {"gap_p_value": gap_p_value, "test": test, "status": status}


def _first(used: pl.DataFrame, keys: Sequence[str], end: str, *, from_above: bool) -> pl.DataFrame:
    ordered = used.sort("estimate", descending=from_above, maintain_order=True)
    names = [pl.col(key).alias(f"{end}_{i}") for i, key in enumerate(keys)]
    first = ordered.head(1).select(*names, _AREA.alias(f"{end}_value"))
    return first if first.height else first.clear(1)


def _single_rows(rows: Rows) -> pl.LazyFrame:
    score = unsigned_zero(pl.col("score"), rows.score_dtype).alias("score")
    used = rows.used().with_columns(score)
    if rows.has_counts:
        one = pl.lit(1.0).alias("weight")
        classes = [
            used.select(
                *rows.keys, "score", one, positive=pl.lit(value=name == "pos"), size=pl.col(name)
            )
            for name in ("pos", "neg")
        ]
        return concat(classes).filter(pl.col("size") > 0)
    size = pl.lit(1, pl.Int64)
    found = used.select(*rows.keys, "score", positive="truth", weight=rows.weight, size=size)
    return found.filter(pl.col("positive").is_not_null() & (pl.col("weight") != 0))


def _ranked(single: pl.DataFrame, *, ascending: bool) -> pl.DataFrame:
    if not (single["size"] == 1).all():
        single = single.select(pl.all().repeat_by("size").explode())
    order = ["score", "positive", "weight"]
    ordered = single.sort(order, descending=[not ascending, False, False], nulls_last=True)
    return ordered.select(
        "positive",
        "weight",
        segment="number",
        tie=pl.col("score").rle_id(),
        retrieved=pl.col("score").is_not_null(),
    )


def _sums_by_cluster(sums: pl.DataFrame, used: pl.DataFrame) -> list[list[float]] | None:
    """Return the influence of each cluster on the logit of each segment, if any is in several."""
    own = sums.filter(pl.col("number").is_in(used["number"].implode()))
    clusters = 0 if own.is_empty() else own["cluster"].n_unique()
    if clusters == own.height:
        return None
    table = [[0.0] * clusters for _ in range(used.height)]
    places = {number: i for i, number in enumerate(used["number"])}
    slopes = used["slope"].to_list()
    ranked = own.with_columns(cluster=pl.struct("cluster").rank("dense").cast(pl.Int64) - 1)
    for number, cluster, influence in ranked.select("number", "cluster", "influence").iter_rows():
        place = places[number]
        table[place][cluster] = influence / slopes[place]
    return table


# --- segments that lend each other strength ----------------------------------------------------

_LIMITS = ("ci_low", "ci_high")
_RANKS = ("rank_low", "rank_high")
_PROBABILITIES = ("probability_worst", "probability_below")
_SHARE = "share_of_mean"
_SHRUNK_NUMBERS = (*_LIMITS, "shrunk", _SHARE, *_PROBABILITIES)
_FEWEST_OF_A_MEAN = 3  # segments that tell how they differ
# By simulation: with fewer rows of the rarer outcome in a segment its interval covers too little.
_FEWEST_MISPLACED = 3


@dataclass(frozen=True)
class Shrunken(Table):
    """One row per segment; ``below`` is a value of the measure."""

    measured: Measured
    level: float
    below: float | None = None
    runs_inside = True

    @property
    def outputs(self) -> Sequence[str]:
        worst, *others = _PROBABILITIES
        asked = (worst,) if self.below is None else (*details(worst), *others)
        return (
            *measure_and_sizes(is_usual=self.measured.is_usual),
            *details(*self._reference),
            "value",
            "shrunk",
            *_LIMITS,
            *details(_SHARE, *_RANKS),
            *asked,
            "status",
        )

    @property
    def _reference(self) -> Sequence[str]:
        return () if self.measured.calibration is None else (REFERENCE,)

    def of(self, rows: Rows) -> pl.LazyFrame:
        check_method(rows, Interval(self.level))
        measure, m = measure_of(self.measured), pl.col("n_effective")
        counted = dropped(rows.columns.request.missing)
        estimates = Estimates.of(rows, measure).keyed()
        known = estimates.select(
            *rows.keys,
            *("n", "n_pos", *self._reference, *counted, "status", *_FEW_NEGATIVES),
            measure=pl.lit(measure.name),
            value=pl.col("estimate"),
            rows=m,
            unbiased=unbiased(),
            variance=widened_variance(measure),
            misplaced=m * pl.min_horizontal("estimate", "shortfall"),
        )

        def with_draws(frame: pl.DataFrame) -> pl.DataFrame:
            parts = parts_by(frame, rows.model_keys) or [frame]
            return pl.concat(map(self._of_model, parts))

        added = dict.fromkeys(_SHRUNK_NUMBERS, pl.Float64()) | dict.fromkeys(_RANKS, pl.Int64())
        found = rows.in_python(known, with_draws, added, adds=True)
        return with_few_scores(found, rows).with_columns(
            measure.values("value", "shrunk", *_LIMITS)
        )

    def _of_model(self, segments: pl.DataFrame) -> pl.DataFrame:
        measure, ok = measure_of(self.measured), pl.col("status") == "ok"
        has_value = ok & pl.col("value").is_not_null() & (pl.col("rows") > 0)
        if not measure.of_hits:
            has_value &= pl.col("variance").is_not_null()
        is_used = segments.select(has_value.fill_null(value=False)).to_series()
        used = segments.filter(is_used)
        # Whether so few rows differ from the rest that a normal logit is no longer one.
        misplaced = fmean(used["misplaced"]) if used.height else 0.0
        near_end = measure.of_hits and misplaced < _FEWEST_MISPLACED
        if used.height < _FEWEST_OF_A_MEAN:
            return _without_draws(segments, "few_segments")
        if not used["variance"].is_not_null().any():
            return _without_draws(segments, "no_std_error")
        at = pl.when(pl.lit(is_used)).then(pl.lit(is_used).cum_sum().cast(pl.Int64) - 1)
        found = self._drawn(used)
        few_negatives, heavy_negatives = map(pl.col, _FEW_NEGATIVES)
        status = (
            # Other segments tell what few rows do not, but not that all precisions are too high.
            pl.when(ok & few_negatives & (heavy_negatives | (pl.col("rows") >= FEW_POSITIVES)))
            .then(pl.lit("few_negatives"))
            # By simulation intervals of segments without an error of their own cover half.
            .when(ok & (pl.lit(near_end) | ~pl.lit(is_used) | pl.col("variance").is_null()))
            .then(pl.lit(measure.few))
            .otherwise("status")
        )
        return segments.with_columns(
            *(pl.lit(values).gather(at).alias(values.name) for values in found),
            status=status,
        )

    def _drawn(self, used: pl.DataFrame) -> list[pl.Series]:
        import numpy as np  # noqa: PLC0415 - optional

        from frame_prc._inference.random_effects import shrunk  # noqa: PLC0415 - needs NumPy

        measure, tail = measure_of(self.measured), (1 - self.level) / 2
        columns = (used[name].cast(pl.Float64) for name in ("unbiased", "variance", "rows"))
        numbers = (column.fill_null(float("nan")).to_numpy() for column in columns)
        draws = shrunk(*numbers, of_hits=measure.of_hits, of_precisions=measure.of_precisions)
        ends = [tail, 1 - tail]
        low, high = np.quantile(draws.values, ends, axis=0)
        ranks = draws.ranks if measure.higher_is_better else used.height + 1 - draws.ranks
        rank_low, rank_high = np.quantile(ranks, ends, axis=0, method="nearest")
        below = None if self.below is None else (self.below - measure.lowest) / measure.span
        found = {
            "ci_low": low,
            "ci_high": high,
            "shrunk": draws.values.mean(axis=0),
            _SHARE: draws.shares,
            "probability_worst": (ranks == used.height).mean(axis=0),
            "probability_below": (draws.values < (below or 0.0)).mean(axis=0),
            "rank_low": rank_low,
            "rank_high": rank_high,
        }
        return [pl.Series(name, values) for name, values in found.items()]


def _without_draws(segments: pl.DataFrame, reason: str) -> pl.DataFrame:
    nulls = [pl.lit(None, pl.Float64).alias(name) for name in _SHRUNK_NUMBERS]
    ranks = [pl.lit(None, pl.Int64).alias(name) for name in _RANKS]
    return segments.with_columns(*nulls, *ranks, status=status_where(pl.lit(value=True), reason))
