"""Bootstrap replicates as NumPy arrays: draws, their curves, and how those vary; needs NumPy.

A replicate redraws how many rows each cell has; a block of them is arrays with one row for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from frame_prc._curves.logit_intervals import share_of_sums
from frame_prc._formulas import normal_quantile, precision, step_area, unsigned_zero
from frame_prc._inference.distributions import with_exact_limits
from frame_prc._inference.intervals import with_levels
from frame_prc._inference.row_influence import (
    MORE_BY_WEIGHTS,
    OF_HEAVY,
    of_sums_of_weights,
    sums_of_weights,
)
from frame_prc._lazy import concat
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Draws
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.rules import SQUARES, SUMS

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# Draws per block of replicates: about what fits a processor's cache.
_BLOCK = 2**18
_POINTS = 2**15  # of the replicates that are looked at together
_POINTS_OF_PLAN = 2**18  # of the replicates of several samples
# A binomial draw for a cell takes about as long as this many draws of single rows.
_ROWS_PER_BINOMIAL = 8
# With fewer rows, one count of a whole block is faster than one count per replicate.
_FEW_ROWS = 100
_ROUNDING = 1e-12
OF_POINTS = ("rows", "sizes", "spread", "unseen")  # see `share_of_sums`


# --- tables --------------------------------------------------------------------------------


def variances(rows: Rows, resampling: Draws, bins: Bins | None) -> pl.LazyFrame:
    def variance(sample: Sample) -> list[tuple[float | None]]:
        areas = np.concatenate([_average_precisions(one) for one in sample.replicates(resampling)])
        defined = areas[~np.isnan(areas)]
        return [(float(np.var(defined, ddof=1)) if len(defined) > 1 else None,)]

    ranking = rank(rows)  # for its segments alone, which are the same in bins
    numbered = by_segment(ranking, rows, ["variance"], partial(map, variance), bins=bins)
    return keyed(numbered, ranking, "variance")


def keyed(numbered: pl.LazyFrame, ranking: Ranking, column: str) -> pl.LazyFrame:
    """Return keys and a column of segments, some of which may be absent; without keys one row."""
    found = ranking.segments.with_keys(numbered)
    return found if ranking.rows.keys else found.select(pl.col(column).first())


def over_replicates(
    ranking: Ranking,
    rows: Rows,
    resampling: Draws,
    statistics: Callable[[pl.LazyFrame], pl.LazyFrame],
    wanted: Mapping[str, pl.Expr],
    *,
    every_score: bool,
    bins: Bins | None = None,
) -> pl.LazyFrame:
    total = resampling.replicates

    def summarised(samples: list[Sample]) -> Iterator[list[tuple[Any, ...]]]:
        for chunk in _chunks(samples, total):
            blocks: Iterable[pl.DataFrame] = _replicated(chunk, resampling)
            if len(chunk) > 1 and (small := [*blocks]):
                # A plan for each would take longer than what it computes.
                blocks = [pl.concat(small)]
            drawn = [statistics(points.lazy()).collect(engine="in-memory") for points in blocks]
            by_sample: dict[Any, list[tuple[Any, ...]]] = {}
            if drawn:
                keys = [(pl.col("segment") // total).alias("sample"), "order"]
                found = pl.concat(drawn).group_by(keys).agg(**wanted).sort("sample", "order")
                by_sample = found.cast({"order": pl.Float64}).rows_by_key("sample")
            yield from (by_sample.get(place, []) for place in range(len(chunk)))

    names = ["order", *wanted]
    table = by_segment(ranking, rows, names, summarised, every_score=every_score, bins=bins)
    return table.with_columns(pl.col("order").cast(pl.Int64))


def _chunks(samples: Iterable[Sample], replicates: int) -> Iterator[list[Sample]]:
    # Small ones together, a large one by itself.
    chunk: list[Sample] = []
    points = 0
    for sample in samples:
        points += (own := replicates * (len(sample.positive.ends) + 1))
        if chunk and points > _POINTS_OF_PLAN:
            yield chunk
            chunk, points = [], own
        chunk.append(sample)
    if chunk:
        yield chunk


def _replicated(samples: list[Sample], resampling: Draws) -> Iterator[pl.DataFrame]:
    for place, sample in enumerate(samples):
        if sample.n_clusters == 1:  # all replicates are the sample itself
            continue
        own, first = sample.observed(), place * resampling.replicates
        n_terms = len(sample.positive.sizes) + len(sample.negative.sizes)
        own_precision, own_recall = precision(own.tp[0], own.fp[0]), own.tp[0] / own.positives
        for curves in sample.replicates(resampling):
            yield _points(curves, own_precision, own_recall, n_terms, first)
            first += len(curves.tp)


def _points(
    curves: Curves, own_precision: Floats, own_recall: Floats, n_terms: int, first: int
) -> pl.DataFrame:
    replicates, n_points = curves.tp.shape
    shape = (replicates, n_points + 1)
    amounts = {name: np.zeros(shape) for name in ("tp", "fp")}
    amounts["tp"][:, 1:], amounts["fp"][:, 1:] = curves.tp, curves.fp
    totals = {"positives": curves.positives, "negatives": curves.negatives}
    columns = {name: amount.ravel() for name, amount in amounts.items()}
    columns |= {name: np.repeat(total, n_points + 1) for name, total in totals.items()}
    columns["own_precision"] = np.tile(np.append(np.nan, own_precision), replicates)
    columns["own_recall"] = np.tile(np.append(0.0, own_recall), replicates)
    numbers = np.repeat(np.arange(first, first + replicates), n_points + 1)
    frame = pl.DataFrame({"segment": numbers, **columns})
    return frame.with_columns(
        pl.col("own_precision").fill_nan(None),
        n_terms=pl.lit(n_terms),
        # Where a replicate has drawn no row so far, its curve has not left the start.
        opens=pl.col("tp") + pl.col("fp") == 0,
    )


def bands(
    ranking: Ranking,
    resampling: Draws,
    outputs: Sequence[str],
    recalls: Sequence[float],
    level: float,
    *,
    simultaneous: bool,
) -> pl.LazyFrame:
    """Return ``segment`` and ``outputs``: recall, precision, and the limits of its band.

    These are quantiles over the replicates that reach the recall, or the exact ones of the sample
    if farther away. Simultaneous ones hold all of a replicate's curve with probability ``level``.
    """

    def band(sample: Sample) -> Iterator[tuple[float | None, ...]]:
        replicates = sample.replicates(resampling)
        drawn = np.concatenate([_precisions(curves, recalls) for curves in replicates])
        observed = sample.observed()
        points = _places(observed, recalls)[0]
        reached = np.ma.masked_invalid(drawn)
        tail = _tail_of_all(drawn, level) if simultaneous else (1 - level) / 2
        exact = sample.exact_limits(observed, points, 1 - 2 * tail)
        for recall, point, at, limits in zip(recalls, points, reached.T, exact, strict=True):
            if point == observed.tp.shape[1]:
                yield recall, None, None, None
                continue
            height = precision(observed.tp[0, point], observed.fp[0, point])
            low, high = np.quantile(at.compressed(), [tail, 1 - tail]) if at.count() else limits
            high = limits[1] if high == 1 else max(high, limits[1])
            yield recall, height, min(low, limits[0]), high

    return by_segment(ranking, ranking.rows, outputs, partial(map, band))


def by_segment(
    ranking: Ranking,
    rows: Rows,
    outputs: Sequence[str],
    summarise: Callable[[list[Sample]], Iterable[Iterable[tuple[Any, ...]]]],
    *,
    every_score: bool = False,
    bins: Bins | None = None,
) -> pl.LazyFrame:
    cells = cells_of(ranking, rows, bins)
    number = cells.collect_schema()["segment"]
    schema = {"segment": number, **dict.fromkeys(outputs, pl.Float64())}

    def evaluate(cells: pl.DataFrame) -> pl.DataFrame:
        samples = _samples(cells, every_score=every_score)
        # Invalid values may get here before the checks report them; NumPy need not warn of them.
        with np.errstate(all="ignore"):
            pairs = zip(samples, summarise([*samples.values()]), strict=True)
            found = [(segment, *row) for segment, rows in pairs for row in rows]
        return pl.DataFrame(found, schema=schema, orient="row")

    return rows.in_python(cells, evaluate, schema)


def cells_of(ranking: Ranking, rows: Rows, bins: Bins | None = None) -> pl.LazyFrame:
    """Return how many rows share segment, score, class, weight and cluster, in fixed order."""
    rows.check_no_strata("resampling")
    if bins is None:
        score = unsigned_zero(pl.col("score"), rows.score_dtype)
        used = rows.used().with_columns(score)
    else:
        used = with_levels(rows, rows.used(), bins)
    cells = (_counted_cells if rows.columns.aggregated else _row_cells)(used, rows)
    order = ["segment", "score", "positive", "weight", "cluster"]
    descending = [name == "score" and not rows.ascending for name in order]
    numbered = rows.with_checks(ranking.segments.numbered(cells))
    return numbered.sort(order, descending=descending, nulls_last=True).select(
        "segment",
        "positive",
        "weight",
        "cluster",
        "size",
        tie=pl.struct("segment", "score").rle_id(),
        retrieved=pl.col("score").is_not_null(),
    )


def _row_cells(frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    cluster = pl.col("cluster") if rows.clustered else pl.lit(None)
    alike = frame.select(
        *rows.keys, "score", rows.weight.alias("weight"), cluster.alias("cluster"), positive="truth"
    ).filter(pl.col("positive").is_not_null())
    return alike.group_by(pl.all()).agg(size=pl.len().cast(pl.Int64))


def _counted_cells(frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    classes = [
        frame.group_by(*rows.keys, "score")
        .agg(size=pl.col(name).sum())
        .with_columns(positive=pl.lit(name == "pos"), weight=pl.lit(1.0), cluster=pl.lit(None))
        for name in ("pos", "neg")
    ]
    return concat(classes).filter(pl.col("size") > 0)


def _samples(cells: pl.DataFrame, *, every_score: bool) -> dict[int, Sample]:
    # Clusters are numbered in their own order, so that draws do not depend on the order of rows.
    number = pl.col("cluster").rank("dense").fill_null(0).cast(pl.Int64)
    numbered = cells.with_columns(cluster=number)
    parts = numbered.partition_by("segment", as_dict=True, include_key=False)
    told = {row.pop("segment"): row for row in _told_by_weights(cells).iter_rows(named=True)}
    return {
        segment: Sample.of(part, told[segment], every_score=every_score)
        for (segment,), part in parts.items()
        if part["positive"].any()
    }


def _told_by_weights(cells: pl.DataFrame) -> pl.DataFrame:
    positive, weight = pl.col("positive"), pl.col("weight")
    amounts: dict[str, pl.Expr] = {}
    for name, squares, of_class in zip(SUMS, SQUARES, (positive, ~positive), strict=True):
        size = pl.when(of_class).then("size").otherwise(0)
        amounts |= {name: size * weight, squares: size * weight**2}
    sums = cells.with_columns(**amounts).group_by("segment").agg(**sums_of_weights(pl.col))
    return sums.select("segment", **of_sums_of_weights())


# --- draws ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Class:
    """The cells of a class, the highest score first, and how many each point retrieves."""

    sizes: Integers
    weights: Floats
    clusters: Integers
    ends: Integers
    more: float  # how much more their variance is taken to be, as few heavy rows tell it

    @property
    def total(self) -> float:
        return float(np.sum(self.sizes * self.weights))

    @property
    def of_squares(self) -> float:
        return float(np.sum(self.sizes * self.weights**2))

    def at(self, points: Integers, amount: Floats | Integers) -> Floats:
        found: Floats = np.append(0.0, np.cumsum(amount))[self.ends[points]]
        return found

    def running(self, drawn: Integers) -> tuple[Floats, Floats]:
        sums = np.zeros((len(drawn), len(self.sizes) + 1))
        np.cumsum(drawn * self.weights, axis=1, out=sums[:, 1:])
        return sums[:, self.ends], sums[:, -1]


class Curves(NamedTuple):
    """Points of curves, at the scores that have positives or at all: one row per replicate."""

    tp: Floats
    fp: Floats
    positives: Floats
    negatives: Floats


@dataclass(frozen=True)
class Sample:
    """The rows of a segment, to draw from: row by row, by class, or as whole clusters."""

    positive: Class
    negative: Class
    n_clusters: int
    told_by_weights: float  # how many rows tell, if few of a class are heavy, else infinitely many

    @classmethod
    def of(
        cls, cells: pl.DataFrame, told: Mapping[str, float | None], *, every_score: bool
    ) -> Sample:
        positive, retrieved, tie, size, weight, cluster = (
            cells[name].to_numpy()
            for name in ("positive", "retrieved", "tie", "size", "weight", "cluster")
        )
        points = np.unique(tie[retrieved if every_score else positive & retrieved])
        clusters, numbers = np.unique(cluster, return_inverse=True)
        positives, negatives = (
            Class(
                sizes=size[half],
                weights=weight[half],
                clusters=numbers[half],
                ends=np.searchsorted(tie[half], points, side="right"),
                more=told[more] or 0.0,
            )
            for half, more in zip((positive, ~positive), MORE_BY_WEIGHTS, strict=True)
        )
        few = [one for one in map(told.get, OF_HEAVY) if one is not None]
        number = int(np.count_nonzero(clusters))
        return cls(positives, negatives, number, min(few, default=math.inf))

    def observed(self) -> Curves:
        return self._curves(self.positive.sizes[None, :], self.negative.sizes[None, :])

    def exact_limits(
        self, observed: Curves, points: Sequence[int], level: float
    ) -> list[tuple[float, float]]:
        reached = [point for point in points if point < observed.tp.shape[1]]
        [shares] = shares_of([(self, observed, {*reached})], normal_quantile(level))
        trials = pl.LazyFrame(
            [(observed.tp[0, i] * shares[i], observed.fp[0, i] * shares[i], 1.0) for i in reached],
            schema=dict.fromkeys(("hits", "misses", "kept"), pl.Float64()),
            orient="row",
        )
        limits = with_exact_limits(trials, (1 - level) / 2).select("low", "high")
        found = dict(zip(reached, limits.collect(engine="in-memory").rows(), strict=True))
        return [found.get(point, (math.nan, math.nan)) for point in points]

    @property
    def are_counts(self) -> bool:
        return bool(np.all(self.positive.weights == 1) and np.all(self.negative.weights == 1))

    def of_points(self, observed: Curves, points: Integers) -> dict[str, Floats]:
        tp, fp = observed.tp[0, points], observed.fp[0, points]
        total, share, classes = tp + fp, tp / (tp + fp), (self.positive, self.negative)
        if self.n_clusters:
            squares, off = self._of_clusters(points, share)
        else:
            hits, misses = (half.at(points, half.sizes * half.weights**2) for half in classes)
            squares, off = hits + misses, (1 - share) ** 2 * hits + share**2 * misses
        hits, misses = (half.at(points, half.sizes * (half.weights > 0.0)) for half in classes)
        of_class = self.negative.sizes * self.negative.weights
        unseen = np.full(len(points), np.sum(of_class * self.negative.weights) / np.sum(of_class))
        sums = (hits + misses, squares / total**2, off / total**2, unseen)
        return {"tp": tp, "fp": fp, **dict(zip(OF_POINTS, sums, strict=True))}

    def _of_clusters(self, points: Integers, share: Floats) -> tuple[Floats, Floats]:
        """Return sums of squares over clusters: of their weight, and of how far hits are off."""
        # Each point adds its rows to those before it; as many as fit a cache are seen together.
        length = 1 + max(
            int(half.clusters.max(initial=0)) for half in (self.positive, self.negative)
        )
        together, found = max(1, _BLOCK // length), []
        so_far = [np.zeros(length), np.zeros(length)]
        first = [0, 0]
        for start in range(0, len(points), together):
            block, parts = points[start : start + together], []
            for i, half in enumerate((self.positive, self.negative)):
                ends = half.ends[block]
                part = slice(first[i], ends[-1])
                point = np.searchsorted(ends, np.arange(part.start, part.stop), side="right")
                cell = point * length + half.clusters[part]
                weights = half.sizes[part] * half.weights[part]
                added = np.bincount(cell, weights, minlength=len(block) * length)
                sums = added.reshape(len(block), length).cumsum(axis=0) + so_far[i]
                so_far[i], first[i] = sums[-1], part.stop
                parts.append(sums)
            hits, sizes = parts[0], parts[0] + parts[1]
            off = hits - share[start : start + together, None] * sizes
            found.append([np.einsum("ij,ij->i", one, one) for one in (sizes, off)])
        sizes_squared, off_squared = map(np.concatenate, zip(*found, strict=True))
        return sizes_squared, off_squared

    def replicates(self, resampling: Draws) -> Iterator[Curves]:
        """Yield curves in blocks; memory holds the rows of one, and its points."""
        # The same seed for each segment: its result does not depend on the others.
        random, total = np.random.default_rng(resampling.seed), resampling.replicates
        sizes = np.concatenate([self.positive.sizes, self.negative.sizes])
        block = max(1, _BLOCK // min(int(sizes.sum()), _ROWS_PER_BINOMIAL * len(sizes)))
        # Where points are fewer than rows, to look at those of each block takes longer than draws.
        together = max(1, _POINTS // (len(self.positive.ends) + 1) // block) * block
        for first in range(0, total, together):
            last = min(first + together, total)
            numbers = [min(block, last - at) for at in range(first, last, block)]
            drawn = (self._draw(random, n, stratified=resampling.stratified) for n in numbers)
            curves = [self._curves(*classes) for classes in drawn]
            yield Curves(*map(np.concatenate, zip(*curves, strict=True)))

    def _draw(
        self, random: np.random.Generator, number: int, *, stratified: bool
    ) -> Iterable[Integers]:
        classes = [self.positive, self.negative]
        if self.n_clusters:
            times = _drawn_evenly(random, self.n_clusters, number)
            return [times.take(half.clusters, axis=1) * half.sizes for half in classes]
        if stratified:
            return [_drawn(random, half.sizes, number) for half in classes]
        drawn = _drawn(random, np.concatenate([half.sizes for half in classes]), number)
        return np.hsplit(drawn, [len(self.positive.sizes)])

    def _curves(self, positive: Integers, negative: Integers) -> Curves:
        tp, positives = self.positive.running(positive)
        fp, negatives = self.negative.running(negative)
        return Curves(tp, fp, positives, negatives)


def _drawn(random: np.random.Generator, sizes: Integers, number: int) -> Integers:
    """Draw as many rows as there are, with replacement; return how many fall in each cell."""
    rows = int(sizes.sum())
    if rows == 0:
        return np.zeros((number, len(sizes)), dtype=np.int64)
    if rows > _ROWS_PER_BINOMIAL * len(sizes):
        return random.multinomial(rows, sizes / rows, size=number)
    drawn = _drawn_evenly(random, rows, number)
    if rows == len(sizes):
        return drawn
    return np.add.reduceat(drawn, np.cumsum(sizes) - sizes, axis=1)


def _drawn_evenly(random: np.random.Generator, rows: int, number: int) -> Integers:
    """Draw as many rows as there are, with replacement; return how often each is drawn."""
    drawn = random.integers(rows, size=(number, rows), dtype=np.uint32)
    if rows < _FEW_ROWS:
        numbered = drawn + np.arange(number, dtype=np.int64)[:, None] * rows
        return np.bincount(numbered.ravel(), minlength=drawn.size).reshape(drawn.shape)
    times = np.empty(drawn.shape, dtype=np.int64)
    for replicate, rows_drawn in enumerate(drawn):
        times[replicate] = np.bincount(rows_drawn, minlength=rows)
    return times


def shares_of(
    asked: Iterable[tuple[Sample, Curves, Collection[int]]], z: float
) -> list[dict[int, float]]:
    """Return by point the effective number of rows over their weight, of many samples at once."""
    found, numbered, sums = [], [], []
    for sample, observed, points in asked:
        ordered = sorted(points)
        found.append(dict.fromkeys(ordered, 1.0))
        if ordered and (sample.n_clusters or not sample.are_counts):
            numbered.append((found[-1], ordered))
            sums.append(sample.of_points(observed, np.array(ordered, dtype=np.int64)))
    if sums:
        columns = {name: np.concatenate([one[name] for one in sums]) for name in sums[0]}
        shares = iter(pl.DataFrame(columns).select(share_of_sums(z)).to_series())
        for own, ordered in numbered:
            own.update(zip(ordered, islice(shares, len(ordered)), strict=True))
    return found


# --- statistics ----------------------------------------------------------------------------


def _average_precisions(curves: Curves) -> Floats:
    gain = np.diff(curves.tp, axis=1, prepend=0.0)
    # Until a row is retrieved the precision is NaN, and the area does not grow.
    steps = step_area(gain, curves.tp, curves.fp, curves.positives[:, None])
    areas: Floats = np.nansum(steps, axis=1)
    areas[curves.positives == 0] = np.nan
    return areas


def _tail_of_all(drawn: Floats, level: float) -> float:
    """Return the tail of quantiles that whole curves leave with a probability of 1 - ``level``.

    A curve leaves them where the fewest replicates are as low, or as high.
    """
    depth = np.ones(len(drawn))
    for heights in drawn.T:
        known = np.sort(heights[~np.isnan(heights)])
        if known.size:
            as_low = np.searchsorted(known, heights, "right") / known.size
            as_high = 1 - np.searchsorted(known, heights, "left") / known.size
            inside = np.minimum(as_low, as_high)
            depth = np.minimum(depth, np.where(np.isnan(heights), 1.0, inside))
    # Not below what so many replicates can tell, nor beyond the band of each recall by itself.
    return float(min(max(np.quantile(depth, 1 - level), 1 / len(drawn)), (1 - level) / 2))


def _precisions(curves: Curves, recalls: Sequence[float]) -> Floats:
    tp = curves.tp
    height = np.where(tp > 0, precision(tp, curves.fp), np.nan)
    height = np.column_stack([height, np.full(len(tp), np.nan)])
    return np.take_along_axis(height, _places(curves, recalls), axis=1)


def _places(curves: Curves, recalls: Sequence[float]) -> Integers:
    """Return the first point that reaches each recall, one row per replicate."""
    tp, found = curves.tp, curves.tp > 0
    # The search below takes the first score with enough recall. Scores before the first true
    # positive must not match, not even at recall 0.
    reached = np.where(found, tp / curves.positives[:, None], -1.0)
    # Running sums of weights are rounded: a recall of 0.3 may come out slightly lower.
    wanted = np.asarray(recalls) - _ROUNDING
    return np.array([np.searchsorted(row, wanted) for row in reached])
