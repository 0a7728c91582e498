"""Resampled rows: the spread of the average precision and of the curve over many new samples.

Rows that agree in segment, score, class, weight and cluster are one cell with a size. A replicate
redraws how many rows each cell has, and the running sums of that are a replicate's curve, so a
block of replicates is a few operations on arrays, one row per replicate. It needs NumPy, which is
imported where a plan runs and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc._formulas import precision, step_area, unsigned_zero
from frame_prc._lazy import concat, in_python, join, left_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import Resampling
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Booleans: TypeAlias = NDArray[np.bool_]


# A block of replicates holds about this many draws: what a processor's cache holds.
_BLOCK = 2**18
# A binomial draw for a cell takes about as long as this many draws of single rows.
_ROWS_PER_BINOMIAL = 8
# Below so many rows, counting replicates one by one takes longer than counting a block as a whole.
_FEW_ROWS = 100
# Below this many seconds nobody waits for a bar.
_PATIENCE = 2
_ROUNDING = 1e-12


def check_drawable(rows: Rows) -> None:
    """Refuse rows that cannot be drawn again."""
    if rows.columns.counted and rows.columns.weighted:
        raise OptionError(
            "sums of weights in pos= and neg= are not rows that can be drawn again",
            "integer counts, or single rows with truth= and weight= for a bootstrap",
        )


# --- tables --------------------------------------------------------------------------------


def variances(rows: Rows, resampling: Resampling, bins: Bins | None) -> pl.LazyFrame:
    """Return keys and ``variance``: that of the average precision over replicates.

    It is null where fewer than two replicates have positives. Without keys it is one row.
    """

    def spread(sample: _Sample, bar: Any) -> dict[str, list[Any]]:
        areas = [_average_precisions(curves) for curves in sample.replicates(resampling, bar)]
        return {"variance": [_variance(areas)]}

    ranking = rank(rows)  # for its segments alone, which are the same in bins
    numbered = _per_segment(ranking, rows, resampling, bins, ["variance"], spread)
    found = ranking.segments.with_keys(numbered)
    return found if rows.keys else found.select(pl.col("variance").first())


@dataclass(frozen=True)
class Band(Table):
    """One row per segment and recall, with nulls where a segment has no positives."""

    recalls: Sequence[float]
    level: float
    resampling: Resampling
    outputs = ("recall", "precision", "precision_low", "precision_high")
    counts_dropped = False

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the band of each segment."""
        check_drawable(rows)
        return _bands(rows, self)


def _bands(rows: Rows, asked: Band) -> pl.LazyFrame:
    recalls, resampling = asked.recalls, asked.resampling

    def band(sample: _Sample, bar: Any) -> dict[str, list[Any]]:
        drawn = [_precisions(curves, recalls) for curves in sample.replicates(resampling, bar)]
        heights = _band(_precisions(sample.observed(), recalls), drawn, asked.level)
        return dict(zip(Band.outputs, [list(recalls), *heights], strict=True))

    ranking = rank(rows)
    found = _per_segment(ranking, rows, resampling, None, Band.outputs, band)
    grid = pl.LazyFrame({"recall": recalls}, schema={"recall": pl.Float64})
    # By number: before 2.1 the streaming engine panics at a null struct in an ordered cross join.
    numbers = ranking.segments.table.select("segment")
    every = join(numbers, grid, how="cross", maintain_order="left_right")
    on = ["segment", "recall"]
    table = join(every, found, on=on, how="left", maintain_order="left")
    return ranking.segments.with_keys(table)


def _per_segment(
    ranking: Ranking,
    rows: Rows,
    resampling: Resampling,
    bins: Bins | None,
    columns: Sequence[str],
    summarise: Callable[[_Sample, Any], dict[str, list[Any]]],
) -> pl.LazyFrame:
    """Return numbers and what ``summarise`` says of each segment that has positives."""
    schema = {"segment": _number_dtype(ranking), **dict.fromkeys(columns, pl.Float64())}

    def batch(cells: pl.DataFrame) -> pl.DataFrame:
        import numpy as np  # noqa: PLC0415

        samples = _samples(cells)
        found: dict[str, list[Any]] = {name: [] for name in schema}
        # Values that the gate names may be on their way: here nothing is said of them.
        with np.errstate(all="ignore"), _progress(len(samples) * resampling.replicates) as bar:
            for segment, sample in samples:
                said = summarise(sample, bar)
                for name in columns:
                    found[name] += said[name]
                found["segment"] += [segment] * len(said[columns[0]])
        return pl.DataFrame(found, schema=schema)

    cells = _cells(ranking, rows, bins)
    return in_python(cells, batch, pl.Schema(schema), in_memory=rows.in_memory)


def _number_dtype(ranking: Ranking) -> pl.DataType:
    return ranking.segments.table.collect_schema()["segment"]


# --- cells ---------------------------------------------------------------------------------


def _cells(ranking: Ranking, rows: Rows, bins: Bins | None) -> pl.LazyFrame:
    """Return rows that are alike as one cell, in an order that does not depend on theirs.

    ``segment``; ``tie``, a number that ascends while the score descends; ``retrieved``,
    ``positive``, ``weight``, ``cluster`` and ``size``.
    """
    used = rows.used()
    if bins is None:
        used = used.with_columns(unsigned_zero(pl.col("score"), rows.score_dtype))
    else:
        levelled = bins.of(rows.score_dtype).with_level(used, in_memory=rows.in_memory)
        used = levelled.with_columns(score="level").drop("level")
    cells = (_counted_cells if rows.columns.counted else _row_cells)(used, rows)
    if rows.keys:
        segments = ranking.segments.table.select("segment", *rows.keys)
        cells = left_join(cells, segments, rows.keys, in_order=False)
    else:
        cells = cells.with_columns(segment=pl.lit(0, _number_dtype(ranking)))
    order = ["segment", "score", "positive", "weight", "cluster"]
    descending = [name == "score" for name in order]
    tie, retrieved = pl.struct("segment", "score").rle_id(), pl.col("score").is_not_null()
    ordered = rows.with_checks(cells).sort(order, descending=descending, nulls_last=True)
    return ordered.select(
        "segment", "positive", "weight", "cluster", "size", tie=tie, retrieved=retrieved
    )


def _row_cells(frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    cluster = pl.lit(None) if rows.columns.cluster is None else pl.col("cluster")
    weight = pl.col("weight") if rows.columns.weighted else pl.lit(1.0)
    alike = frame.select(
        *rows.keys, "score", weight.alias("weight"), cluster.alias("cluster"), positive="truth"
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


def _samples(cells: pl.DataFrame) -> list[tuple[int, _Sample]]:
    """Return the number of each segment that has positives, and what to draw from in it."""
    import numpy as np  # noqa: PLC0415

    # Clusters are numbered in their own order: no order of rows changes what is drawn.
    number = pl.col("cluster").rank("dense").fill_null(0).cast(pl.Int64)
    arrays = {column.name: column.to_numpy() for column in cells.with_columns(cluster=number)}
    segments, firsts = np.unique(arrays.pop("segment"), return_index=True)
    parts = zip(*(np.split(array, firsts[1:]) for array in arrays.values()), strict=True)
    found = [dict(zip(arrays, part, strict=True)) for part in parts]
    return [
        (int(segment), _Sample.of(**part))
        for segment, part in zip(segments, found, strict=False)
        if part["positive"].any()
    ]


# --- draws ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Class:
    """The cells of one class in a segment, the highest score first.

    ``clusters`` numbers the cluster of each cell; ``ends`` says how many cells are retrieved at
    each score that has positives.
    """

    sizes: Integers
    weights: Floats
    clusters: Integers
    ends: Integers

    def running(self, drawn: Integers) -> tuple[Floats, Floats]:
        """Return running sums at ``ends`` and the total, from the rows drawn in each cell."""
        import numpy as np  # noqa: PLC0415

        sums = np.zeros((len(drawn), len(self.sizes) + 1))
        np.cumsum(drawn * self.weights, axis=1, out=sums[:, 1:])
        return sums[:, self.ends], sums[:, -1]


@dataclass(frozen=True)
class _Curves:
    """Curves at the scores that have positives: arrays of one row per replicate."""

    tp: Floats
    fp: Floats
    positives: Floats


@dataclass(frozen=True)
class _Sample:
    """The rows of a segment, to draw from: one by one, of each class apart, or whole clusters."""

    positive: _Class
    negative: _Class
    n_clusters: int

    @classmethod
    def of(
        cls,
        positive: Booleans,
        weight: Floats,
        cluster: Integers,
        size: Integers,
        tie: Integers,
        retrieved: Booleans,
    ) -> _Sample:
        """Split the cells of a segment by class; a cluster of 0 is none."""
        import numpy as np  # noqa: PLC0415

        hits = np.unique(tie[positive & retrieved])
        clusters, numbers = np.unique(cluster, return_inverse=True)
        positives, negatives = (
            _Class(
                sizes=size[half],
                weights=weight[half],
                clusters=numbers[half],
                ends=np.searchsorted(tie[half], hits, side="right"),
            )
            for half in (positive, ~positive)
        )
        return cls(positives, negatives, n_clusters=int(np.count_nonzero(clusters)))

    def observed(self) -> _Curves:
        """Return the curve of the rows as they are."""
        return self._curves(self.positive.sizes[None, :], self.negative.sizes[None, :])

    def replicates(self, resampling: Resampling, bar: Any) -> Iterator[_Curves]:
        """Yield curves in blocks, each drawn and forgotten before the next."""
        random, left = resampling.generator(), resampling.replicates
        size = int(self.positive.sizes.sum() + self.negative.sizes.sum())
        cells = len(self.positive.sizes) + len(self.negative.sizes)
        block = max(1, _BLOCK // min(size, _ROWS_PER_BINOMIAL * cells))
        while left > 0:
            number = min(block, left)
            yield self._curves(*self._draw(random, number, stratified=resampling.stratified))
            bar.update(number)
            left -= number

    def _draw(
        self, random: np.random.Generator, number: int, *, stratified: bool
    ) -> tuple[Integers, Integers]:
        """Return how many rows of each cell are drawn, of positives and of negatives."""
        import numpy as np  # noqa: PLC0415

        positive, negative = self.positive, self.negative
        if self.n_clusters:
            times = _drawn_evenly(random, self.n_clusters, number)
            return (
                times[:, positive.clusters] * positive.sizes,
                times[:, negative.clusters] * negative.sizes,
            )
        if stratified:
            return _drawn(random, positive.sizes, number), _drawn(random, negative.sizes, number)
        drawn = _drawn(random, np.concatenate([positive.sizes, negative.sizes]), number)
        return drawn[:, : len(positive.sizes)], drawn[:, len(positive.sizes) :]

    def _curves(self, positive: Integers, negative: Integers) -> _Curves:
        tp, positives = self.positive.running(positive)
        fp, _ = self.negative.running(negative)
        return _Curves(tp, fp, positives)


def _drawn(random: np.random.Generator, sizes: Integers, number: int) -> Integers:
    """Draw as many rows as there are, with replacement; return how many fall in each cell.

    One row per draw. Both ways have the same distribution, and the size of the cells decides which
    one is faster.
    """
    import numpy as np  # noqa: PLC0415

    rows = int(sizes.sum())
    if rows == 0:
        return np.zeros((number, len(sizes)), dtype=np.int64)
    if rows > _ROWS_PER_BINOMIAL * len(sizes):
        return random.multinomial(rows, sizes / rows, size=number)
    drawn = _drawn_evenly(random, rows, number)
    if rows == len(sizes):
        return drawn
    first = np.cumsum(sizes) - sizes
    return np.add.reduceat(drawn, first, axis=1)


def _drawn_evenly(random: np.random.Generator, rows: int, number: int) -> Integers:
    """Draw as many rows as there are, with replacement; return how often each is drawn."""
    import numpy as np  # noqa: PLC0415

    drawn = random.integers(rows, size=(number, rows), dtype=np.uint32)
    if rows < _FEW_ROWS:
        numbered = drawn + np.arange(number, dtype=np.int64)[:, None] * rows
        return np.bincount(numbered.ravel(), minlength=drawn.size).reshape(drawn.shape)
    times = np.empty(drawn.shape, dtype=np.int64)
    for replicate, rows_drawn in enumerate(drawn):
        times[replicate] = np.bincount(rows_drawn, minlength=rows)
    return times


# --- statistics ----------------------------------------------------------------------------


def _average_precisions(curves: _Curves) -> Floats:
    """Return the average precision of each replicate, NaN without positives."""
    import numpy as np  # noqa: PLC0415

    gain = np.diff(curves.tp, axis=1, prepend=0.0)
    # Where nothing is retrieved yet there is no precision, and nothing to add.
    steps = step_area(gain, curves.tp, curves.fp, curves.positives[:, None])
    areas: Floats = np.nansum(steps, axis=1)
    areas[curves.positives == 0] = np.nan
    return areas


def _precisions(curves: _Curves, recalls: Sequence[float]) -> Floats:
    """Return the precision at which each replicate reaches each recall, NaN where it does not.

    That is the height of the steps whose area the average precision is.
    """
    import numpy as np  # noqa: PLC0415

    tp, found = curves.tp, curves.tp > 0
    height = np.where(found, precision(tp, curves.fp), np.nan)
    height = np.column_stack([height, np.full(len(tp), np.nan)])
    # Scores that no positive was drawn for are no step: they are of the next one.
    reached = np.where(found, tp / curves.positives[:, None], -1.0)
    # Running sums of weights are rounded: a recall of .3 may come out a little less.
    wanted = np.asarray(recalls) - _ROUNDING
    places = [np.searchsorted(row, wanted) for row in reached]
    return np.take_along_axis(height, np.array(places), axis=1)


def _variance(areas: Sequence[Floats]) -> float | None:
    """Return the variance over the replicates that have an area."""
    import numpy as np  # noqa: PLC0415

    every = np.concatenate(areas)
    defined = every[~np.isnan(every)]
    return float(np.var(defined, ddof=1)) if len(defined) > 1 else None


def _band(observed: Floats, drawn: Sequence[Floats], ci: float) -> list[list[float | None]]:
    """Return the precision at each recall, and the quantiles of the replicates that reach it."""
    import numpy as np  # noqa: PLC0415

    tails = [(1 - ci) / 2, (1 + ci) / 2]
    reached = np.ma.masked_invalid(np.concatenate(drawn))
    limits = [
        np.quantile(at.compressed(), tails) if at.count() else (None,) * 2 for at in reached.T
    ]
    points = [None if np.isnan(height) else float(height) for height in observed[0]]
    return [points, *map(list, zip(*limits, strict=True))]


# --- progress ------------------------------------------------------------------------------


class _NoBar:
    """What takes the place of a progress bar where there is none."""

    def update(self, number: int) -> None:
        """Show nothing."""


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """Show a bar on a terminal where tqdm is installed and the wait is long."""
    if find_spec("tqdm") is None or sys.stderr is None or not sys.stderr.isatty():
        yield _NoBar()
        return
    from tqdm import tqdm  # noqa: PLC0415

    with tqdm(total=total, desc="bootstrap", unit=" replicates", delay=_PATIENCE) as bar:
        yield bar
