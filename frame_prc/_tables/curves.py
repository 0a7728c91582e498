"""Curves on a grid of recalls, and probabilities in bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import growing
from frame_prc._curves.calibration import SCALE, SCALES, deployed_share, scales_of
from frame_prc._curves.curve import AT_RECALL, CURVE, Counts
from frame_prc._curves.logit_intervals import (
    FEW_OF_POSITIVES,
    FEW_POSITIVES,
    MOMENTS,
    USUAL,
    limits_of_share,
    status_where,
    sums_of_rows,
    sums_of_units,
    with_moments,
)
from frame_prc._curves.operating_points import check_counts
from frame_prc._formulas import normal_quantile, precision, recall, sizes
from frame_prc._inference.estimates import Estimates, with_few_scores
from frame_prc._inference.intervals import check_drawable, status_of
from frame_prc._lazy import aggregated, in_order, join, left_join, mean_in_order, over
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Calibration, Draws
from frame_prc._request.values import Bins
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table, details
from frame_prc._tables.averages import kept_keys, without_key

# With fewer positives beyond a recall, chance decides where it is reached: intervals covered 75 to
# 94 % in simulations.
_FEW_BEYOND = 4
_ROUNDING = 1e-9
_PRECISIONS = ("precision", "precision_low", "precision_high")
_LIMITS = ("recall", *_PRECISIONS)


@dataclass(frozen=True)
class Band(Table):
    recalls: Sequence[float]
    level: float
    resampling: Draws
    simultaneous: bool = False
    calibration: Calibration | None = None
    outputs = (*_LIMITS, "status")
    counts_dropped = False

    def of(self, rows: Rows) -> pl.LazyFrame:
        check_drawable(rows)
        table = _with_status(self._of(rows), rows)
        if self.calibration is None:
            return table
        # Replicates are in the same order at each prevalence: quantiles stay where they are.
        scales = scales_of(rows, self.calibration).select(*rows.keys, *SCALES)
        shares = deployed_share(pl.col(_PRECISIONS), SCALE)
        return left_join(table, scales, rows.keys).with_columns(shares).drop(SCALES)

    def _of(self, rows: Rows) -> pl.LazyFrame:
        from frame_prc._inference import resamples  # noqa: PLC0415 - needs NumPy

        ranking = rank(rows)
        found = resamples.bands(
            ranking,
            self.resampling,
            _LIMITS,
            self.recalls,
            self.level,
            simultaneous=self.simultaneous,
        )
        grid = pl.LazyFrame({"recall": self.recalls}, schema={"recall": pl.Float64})
        # Joined by number: with keys that are null structs, the streaming engine of Polars below
        # 2.1 panics in an ordered cross join.
        numbers = ranking.segments.table.select("segment")
        every = join(numbers, grid, how="cross", maintain_order="left_right")
        table = join(every, found, on=["segment", "recall"], how="left", maintain_order="left")
        return ranking.segments.with_keys(table)


def _with_status(table: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    known = Estimates.of(rows).keyed().select(*rows.keys, "status", "n_effective", "few_negatives")
    found = left_join(table, known, rows.keys)
    judged = found.with_columns(status=status_of(None, clustered=rows.clustered))
    beyond = (1 - pl.col("recall")) * pl.col("n_effective")
    few = beyond < _FEW_BEYOND - _ROUNDING
    judged = judged.with_columns(status=status_where(few, FEW_OF_POSITIVES[rows.clustered]))
    return with_few_scores(judged, rows)


# --- curves on a grid, and their mean over a key -----------------------------------------------

# Running sums of weights are rounded: a recall of 0.3 may come out slightly lower.
_RECALL_ROUNDING = 1e-12

_TP, _FP = pl.col("tp"), pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class RecallGrid(Table):
    """One row per segment and recall: its point, or the mean of precision ``over`` a key."""

    recalls: Sequence[float]
    bins: Bins | None = None
    over: str | None = None
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        return (AT_RECALL, *(CURVE if self.over is None else ("precision", "n_segments")))

    def of(self, rows: Rows) -> pl.LazyFrame:
        if self.over is not None:
            check_over(rows.columns, self.over)
        table = self._points(rank(rows.by_threshold(), self.bins))
        return table if self.over is None else self._means(table, rows, self.over)

    def keyed(self, rows: Rows) -> Rows:
        return rows if self.over is None else without_key(rows, self.over)

    def _points(self, ranking: Ranking) -> pl.LazyFrame:
        grid = pl.LazyFrame({AT_RECALL: self.recalls}, schema={AT_RECALL: pl.Float64})
        numbers = ranking.segments.table.select("segment")
        every = join(numbers, grid, how="cross", maintain_order="left_right")
        # The streaming engine compares the dtypes before the optimiser has settled them.
        number = pl.col("segment").cast(pl.Int64)
        wanted = every.with_columns(wanted=pl.col(AT_RECALL) - _RECALL_ROUNDING, number=number)
        hits = _hits(ranking).with_columns(recall=recall(_TP, _POSITIVES), number=number)
        reached = wanted.join_asof(
            hits.drop("segment"),
            left_on="wanted",
            right_on="recall",
            by="number",
            strategy="forward",
            check_sortedness=False,
            coalesce=False,
        )
        found = ranking.with_score(reached)
        columns = {
            "threshold": pl.col("score").cast(ranking.threshold_dtype),
            "fn": _POSITIVES - _TP,
            "tn": _NEGATIVES - _FP,
            "precision": precision(_TP, _FP),
        }
        return ranking.segments.with_keys(found.with_columns(**columns))

    def _means(self, table: pl.LazyFrame, rows: Rows, over: str) -> pl.LazyFrame:
        kept = kept_keys(rows, over)
        height = pl.col("precision")
        means = aggregated(
            table,
            [*kept, AT_RECALL],
            mean_in_order(height),
            n_segments=height.count().cast(pl.Int64),
        )
        return means.rename(kept).sort(*kept.values(), AT_RECALL)


def _hits(ranking: Ranking) -> pl.LazyFrame:
    return growing(ranking, ["step"]).filter(~pl.col("opens"))


# --- reliability -------------------------------------------------------------------------------

_SCORE, _BIN = pl.col("score").cast(pl.Float64), "bin"
_POS, _NEG = pl.col("pos"), pl.col("neg")
_RATE = ("observed_low", "observed_high")
_ERRORS = ("calibration_error", "calibration_error_by_chance")
_SQUARES = ("tp_squares", "fp_squares")


@dataclass(frozen=True)
class Reliability(Table):
    """One row per segment and bin that has rows; by ``quantile`` bins have as many rows each."""

    edges: Sequence[float]
    level: float
    quantile: bool = False
    runs_inside = True
    outputs = (
        "bin_low", *details("bin_high"), "n", *details("n_pos"),
        "mean_score", "observed", *_RATE, *details(*_ERRORS), "status",
    )  # fmt: skip
    measure_names = ("mean_score",)
    adds_dropped = True  # rows without a score are in no bin

    def of(self, rows: Rows) -> pl.LazyFrame:
        keys, z = [*rows.keys, _BIN], normal_quantile(self.level)
        sums = self._sums(rows, keys, z) if rows.elsewhere is None else self._there(rows, z)
        tp, fp, *moments = (pl.col(name) for name in ("tp", "fp", *MOMENTS))
        known = set(MOMENTS) <= set(sums.collect_schema())
        low, high = limits_of_share(tp, fp, self.level, moments if known else None).values()
        limited = sums.with_columns(sizes(pl.col("positives"), pl.col("negatives")))
        few = pl.col("n") * pl.col("share") < FEW_POSITIVES
        if not self.quantile:
            edges = pl.lit(pl.Series(self.edges, dtype=pl.Float64))
            ends = {"bin_low": edges.gather(_BIN), "bin_high": edges.gather(pl.col(_BIN) + 1)}
            limited = limited.with_columns(**ends)
        table = limited.with_columns(
            mean_score=pl.col("weighted") / pl.col("n"),
            observed="prevalence",
            observed_low=low,
            observed_high=high,
            status=pl.when(few).then(pl.lit("few_rows")).otherwise(pl.lit("ok")),
        )
        if not rows.columns.weighted:
            table = table.with_columns(pl.col("n", "n_pos").cast(pl.Int64))
        return table.sort(keys).with_columns(_errors(rows.keys, clustered=rows.clustered))

    def _sums(self, rows: Rows, keys: Sequence[str], z: float) -> pl.LazyFrame:
        amounts = rows.with_checks(_amounts(rows))
        binned = self._by_rank(amounts, rows.keys) if self.quantile else self._by_edges(amounts)
        sums = binned.group_by(keys).agg(
            bin_low=_SCORE.min(),
            bin_high=_SCORE.max(),
            weighted=_summed((_POS + _NEG) * _SCORE),
            spread=_summed((_POS + _NEG) * (_SCORE * (1 - _SCORE)).clip(lower_bound=0.0)),
            positives=_summed(_POS),
            negatives=_summed(_NEG),
        )
        rows.check_no_strata("reliability")
        if rows.clustered or rows.columns.weighted:
            spreads = _spreads(binned, keys, clustered=rows.clustered)
            known = with_moments(_with_usual_weights(spreads, rows.keys), z)
            own = known.select(*keys, "tp", "fp", *_SQUARES, "sizes", "share", *MOMENTS)
            return left_join(sums, own, keys)
        return _of_plain_rows(sums.with_columns(tp="positives", fp="negatives"))

    def _there(self, rows: Rows, z: float) -> pl.LazyFrame:
        if rows.has_counts:
            check_counts(rows.columns, "the interval of reliability()")
        tp, fp = pl.col("tp"), pl.col("fp")
        sums = rows.elsewhere.bins(rows, self.edges)
        found: pl.LazyFrame = sums.with_columns(positives=tp, negatives=fp)
        if not (rows.clustered or rows.columns.weighted):
            return _of_plain_rows(found)
        precision, squared = tp / (tp + fp), (tp + fp) ** 2
        off = pl.col("hits_squared") - 2 * precision * pl.col("hits_sized")
        found = found.with_columns(
            sizes=pl.col("sized") / squared,
            spread_of_scores="spread",
            spread=(off + precision**2 * pl.col("sized")) / squared,
            tp_squares="squared_hits",
            fp_squares="squared_misses",
        )
        found = _with_usual_weights(found, rows.keys)
        return with_moments(found, z).with_columns(spread="spread_of_scores")

    def _by_edges(self, amounts: pl.LazyFrame) -> pl.LazyFrame:
        inner = [*self.edges][1:-1]
        places = [pl.lit(0, pl.Int64), *((edge <= _SCORE).cast(pl.Int64) for edge in inner)]
        return amounts.with_columns(pl.sum_horizontal(places).alias(_BIN))

    def _by_rank(self, amounts: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        size, count = _POS + _NEG, len(self.edges) - 1
        before = (size.cum_sum() - size).over(keys or None, order_by=_SCORE)
        first, total = pl.col("before").min().over([*keys, _SCORE]), over(size.sum(), keys)
        place = (first * count / total).floor().cast(pl.Int64).clip(0, count - 1)
        return amounts.with_columns(before=before).with_columns(place.alias(_BIN)).drop("before")


def _of_plain_rows(sums: pl.LazyFrame) -> pl.LazyFrame:
    return sums.with_columns(tp_squares="tp", fp_squares="fp", share=pl.lit(1.0))


def _errors(keys: Sequence[str], *, clustered: bool) -> list[pl.Expr]:
    """Return the mean gap of the bins, and of calibrated scores, whose gaps are normal around 0."""
    n = pl.col("n")
    number = n**2 / pl.sum_horizontal(_SQUARES)
    if clustered:
        # How far the rows of a cluster are copies of one another is seen in the truths found.
        copies = 1 / pl.col("sizes")
        number = pl.min_horizontal(pl.max_horizontal(n * pl.col("share"), copies), number)
    gap = (pl.col("mean_score") - pl.col("observed")).abs()
    by_chance = (2 / math.pi * pl.col("spread") / n / number).sqrt()
    return [
        over((n * size).sum() / n.sum(), keys).alias(name)
        for name, size in zip(_ERRORS, (gap, by_chance), strict=True)
    ]


def _summed(amount: pl.Expr) -> pl.Expr:
    """Return a sum that does not depend on the order of the rows."""
    return in_order(amount.sort())


def _spreads(binned: pl.LazyFrame, keys: Sequence[str], *, clustered: bool) -> pl.LazyFrame:
    sums = {"tp": _summed(_POS), "fp": _summed(_NEG), "rows": pl.col("rows").sum()}
    sums |= {"tp_squares": _summed(_POS**2), "fp_squares": _summed(_NEG**2)}
    if clustered:
        return sums_of_units(binned.group_by(*keys, "cluster").agg(**sums), keys)
    of_bins = binned.group_by(keys).agg(**sums)
    return sums_of_rows(of_bins.filter(pl.col("tp") + pl.col("fp") > 0), is_given=False)


def _with_usual_weights(bins: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Add what is usual to weigh: of what it is in the class, and in the bins around, the less."""
    bins = bins.sort(*keys, _BIN)
    names = ("tp", "fp"), ("tp_squares", "fp_squares")
    of_class = [
        over(pl.col(squares).sum() / pl.col(weight).sum(), keys).fill_nan(None)
        for weight, squares in zip(*names, strict=True)
    ]

    def nearby(both: Sequence[str]) -> pl.Expr:
        own = pl.sum_horizontal(both)
        return over(own + own.shift(1, fill_value=0) + own.shift(-1, fill_value=0), keys)

    near = nearby(names[1]) / nearby(names[0])
    usual = zip(USUAL, (pl.min_horizontal(one, near) for one in of_class), strict=True)
    return bins.with_columns(**dict(usual), unseen=of_class[1])


def _amounts(rows: Rows) -> pl.LazyFrame:
    if rows.has_counts:
        check_counts(rows.columns, "the interval of reliability()")
    amounts = rows.amounts(rows.is_positive(), squares=False)
    found = {name: amount.cast(pl.Float64) for name, amount in amounts.items()}
    return rows.used().with_columns(**found, rows=pl.lit(1, pl.Int64))


# --- how the scores of either class are spread -------------------------------------------------

_THRESHOLD = pl.col("threshold").cast(pl.Float64)


@dataclass(frozen=True)
class ScoreBins(Table):
    """One row per segment and bin that is not empty, of so many ``bins`` for all finite scores."""

    bins: int
    outputs = ("bin_low", "bin_high", "positives", "negatives")
    counts_dropped = False

    def of(self, rows: Rows) -> pl.LazyFrame:
        low, span = _THRESHOLD.min(), _THRESHOLD.max() - _THRESHOLD.min()
        length = pl.when(span > 0).then(span).otherwise(self.bins)

        def edge(place: pl.Expr) -> pl.Expr:
            # By a column: by a scalar Polars divides inexactly.
            return low + place * length / (place * 0.0 + self.bins)

        near = ((_THRESHOLD - low) / length * self.bins).floor()
        # The quotient is rounded, and an edge belongs to the bin that it begins.
        begun = [(_THRESHOLD - edge(near + step) >= 0).cast(pl.Float64) for step in (0, 1)]
        place = (near - 1 + begun[0] + begun[1]).clip(0, self.bins - 1)
        counts = Counts().of(rows).filter(_THRESHOLD.is_finite())
        edges = {"bin_low": edge(place), "bin_high": edge(place + 1)}
        keys = [*rows.keys, *edges]
        sums = counts.with_columns(**edges).group_by(keys).agg(pl.col("pos", "neg").sum())
        shares = {
            "positives": _share(pl.col("pos"), rows),
            "negatives": _share(pl.col("neg"), rows),
        }
        return sums.sort(keys).with_columns(**shares)


def _share(amount: pl.Expr, rows: Rows) -> pl.Expr:
    total = over(amount.sum(), rows.keys)
    return pl.when(total > 0).then(amount / total)
