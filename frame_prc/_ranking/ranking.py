"""Ranked rows: their rank keys and segments, and the one sort that every exact verb relies on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import polars as pl

from frame_prc._lazy import cached, concat, join, left_join, segment_join
from frame_prc._ranking import sorted_rows
from frame_prc._ranking.keys import (
    ROW_BITS,
    RankKey,
    Scale,
    Segments,
    key_bounds,
    most_segments,
    numbered_segments,
)
from frame_prc._request.specs import Calibration, IntoColumn
from frame_prc._request.values import Bins, threshold_dtype
from frame_prc._rows.checks import check_of
from frame_prc._rows.columns import Column, check_numeric, find_column, project
from frame_prc._rows.rows import DROPPED, Rows, computed
from frame_prc._rows.rules import COUNT_LIMIT, SUMS, bin_rules, is_improbable
from frame_prc.exceptions import DataError

# Scores too wide for a slot are ranked by their level: their place among the distinct scores.
_LEVELLED = (pl.Decimal, pl.Int128, pl.UInt128)

# Rows are counted before they are sorted if, by a sample of so many, each score has so many rows.
_LARGER_SAMPLE, _ROWS_PER_SCORE = 10_000, 100


@dataclass(frozen=True)
class Ranking:
    """The rows of all segments with their rank keys and the columns ``carried``, not yet sorted.

    ``levels`` maps ``level`` to ``score`` where rows are ranked by levels. If ``counted``, there is
    a row for each score of a segment. ``sort`` sorts rows of 64-bit keys at once, if there are
    such. ``tie_shares`` are those of rows elsewhere (see :mod:`frame_prc._inference.areas`).
    """

    frame: pl.LazyFrame
    segments: Segments
    key: RankKey
    rows: Rows
    levels: pl.LazyFrame | None
    squares: bool
    clusters: bool = False
    counted: bool = False
    sort: Callable[[], sorted_rows.OrderedRows | None] | None = None
    tie_shares: pl.LazyFrame | None = None
    points: dict[Hashable, pl.LazyFrame] = field(default_factory=dict, repr=False, compare=False)

    def keep_points(self, what: Hashable, make: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        if what not in self.points:
            self.points.setdefault(what, make())
        return self.points[what]

    @cached_property
    def ordered(self) -> sorted_rows.OrderedRows | None:
        """The sorted rows, if they are sorted at once; their key may be another one."""
        return None if self.sort is None else self.sort()

    @cached_property
    def in_order(self) -> pl.LazyFrame:
        """The sorted rows, with one that opens each segment and one after the last."""
        if self.ordered is not None:
            return self.ordered.frame().lazy()
        names = [*self.carried, *(["cluster"] if self.clusters else [])]
        extra = [_empty(rows, names) for rows in sorted_rows.extra_rows(self.segments, self.key)]
        unsorted = concat([self.frame, *extra])
        if self.rows.many_in_memory:
            return sorted_rows.sorted_keys(unsorted).lazy()
        if self.rows.kept is not None:
            return unsorted.sort("rank_key").collect(engine="in-memory").lazy()
        return cached(unsorted.sort("rank_key"))

    @property
    def sorted_key(self) -> RankKey:
        """The key of the sorted rows; it tells scores apart, but may not hold them."""
        return self.key if self.ordered is None else self.ordered.key

    @property
    def _scores(self) -> pl.Series | None:
        """The scores by the numbers that sorted keys hold, if slots do not tell them."""
        return None if self.ordered is None else self.ordered.scores

    def slot(self) -> pl.Expr:
        """Return what tells the score of sorted rows: its slot, or the number of its row."""
        key = self.sorted_key
        if self._scores is None:
            return key.slot().cast(self.key.dtype)
        row = pl.when(~key.unretrieved()).then(key.row()) if self.may_lack_scores else key.row()
        return row.alias("slot")

    def retrieved(self) -> pl.Expr:
        return self.key.retrieved() if self._scores is None else pl.col("slot").is_not_null()

    @property
    def may_lack_scores(self) -> bool:
        """Whether a row may never be retrieved."""
        # Of binned rows too, whose values are not known: a score may be below all thresholds.
        return self.rows.columns.request.missing == "unretrieved" or self.rows.values is None

    @property
    def carried(self) -> list[str]:
        return [*SUMS] if self.counted else self.rows.carried(squares=self.squares)

    def amounts(self, key: RankKey) -> dict[str, pl.Expr]:
        if self.counted:
            return {name: pl.col(name) for name in SUMS}
        return self.rows.amounts(key.positive(), squares=self.squares)

    def with_dropped(self, table: pl.LazyFrame) -> pl.LazyFrame:
        if self.rows.n_dropped is None:
            return table
        counts = self.segments.table.select("segment", *DROPPED)
        return segment_join(table, counts)

    @property
    def no_threshold(self) -> float:
        """The threshold of the start point, which no score reaches, except an infinite one."""
        return float("-inf" if self.rows.ascending else "inf")

    @property
    def threshold_dtype(self) -> pl.DataType:
        return threshold_dtype(self.rows.score_dtype)

    def with_score(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Add ``score`` from the column ``slot``; null for rows that are never retrieved."""
        if self._scores is not None:
            return frame.with_columns(score=pl.lit(self._scores).gather("slot"))
        return self.with_score_of_slot(frame)

    def with_score_of_slot(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Add the same where rows need not be sorted, so that slots are those of the key."""
        score = pl.when(self.key.retrieved()).then(self.key.scale.score(pl.col("slot")))
        if self.levels is None:
            return frame.with_columns(score=score)
        levelled = frame.with_columns(level=score.cast(pl.UInt32))
        return join(levelled, self.levels, on="level", how="left", maintain_order="left")


def rank(
    rows: Rows,
    bins: Bins | None = None,
    *,
    squares: bool = False,
    numbered: bool = False,
    clusters: bool = False,
    at: Calibration | None = None,
) -> Ranking:
    """Return rows with their rank keys, and their segments; areas may be calibrated ``at``."""
    # Only segments with enough rows, by weights and squares, set the highest prevalence.
    squares |= at is not None and at.highest and not rows.columns.lacks_squares
    how = {
        "squares": squares and rows.columns.needs_squares,
        "numbered": numbered,
        "clusters": clusters,
    }
    make = partial(_rank, rows, bins, **how)
    return make() if bins is not None else rows.keep(("ranking", *how.values()), make)


def _rank(
    rows: Rows,
    bins: Bins | None,
    *,
    squares: bool,
    numbered: bool,
    clusters: bool,
) -> Ranking:
    levels = _levels(rows, bins)
    rows = rows if bins is None else count_bins(rows, bins, squares=squares, clusters=clusters)
    scale = _scale(rows) if levels is None else Scale.of(pl.UInt32(), ascending=rows.ascending)
    row_bits = ROW_BITS if numbered else 0
    segments, frame = numbered_segments(rows, most_segments(scale, row_bits))
    key = RankKey(scale, segments.count, row_bits)
    if bins is None and levels is not None:
        frame = join(frame, levels, on="score", how="left").with_columns(score="level")
    if clusters:
        frame = _with_cluster_numbers(frame, rows.columns.cluster)
    carried = [*rows.carried(squares=squares), *(["cluster"] if clusters else [])]
    ranked = frame.select(sorted_rows.rank_key(key, rows, numbered=numbered), *carried)
    ranked = ranked if bins is not None else rows.with_checks(ranked)
    if bins is not None and levels is not None:
        grid = join(segments.table.select("segment"), levels.select("level"), how="cross")
        slot = key.scale.slot(pl.col("level"))
        every_bin = grid.select(key.pack(pl.col("segment"), slot, pl.lit(0)))
        ranked = concat([ranked, _empty(every_bin, carried)])
    ranking = Ranking(ranked, segments, key, rows, levels, squares, clusters)
    if not (carried or numbered) and has_few_scores(rows, segments.count):
        return _counted(ranking)
    is_plain = bins is None and levels is None and not clusters
    return _narrowed(ranking) if is_plain and rows.many_in_memory else ranking


def _with_cluster_numbers(frame: pl.LazyFrame, column: Column | None) -> pl.LazyFrame:
    if column is not None and key_bounds(column.dtype) is not None:
        return frame.with_columns(pl.col("cluster").to_physical())
    frame = cached(frame)
    numbers = frame.select("cluster").unique().with_row_index("number")
    joined = left_join(frame, numbers, ["cluster"], in_order=False)
    return joined.drop("cluster").rename({"number": "cluster"})


def _narrowed(ranking: Ranking) -> Ranking:
    """Return a ranking of rows in memory with keys of 64 bits, if they tell all scores apart."""
    key, rows, carried = ranking.key, ranking.rows, ranking.carried
    sort = partial(sorted_rows.sorted_with_rows, ranking.segments, key, rows, carried)
    if key.row_bits:  # at once: of several models, each on a thread of its own
        found = sort()
        return ranking if found is None else replace(ranking, key=found.key, sort=lambda: found)
    # Not now: what needs no order would sort in vain.
    if not carried and key.dtype == pl.UInt64:
        sort = partial(sorted_rows.sorted_as_they_are, ranking.frame, ranking.segments, key)
    elif not carried and sorted_rows.repeats_scores(rows):
        return ranking  # many rows share a slot, and each would be looked at again
    return replace(ranking, sort=sort)


def _counted(ranking: Ranking) -> Ranking:
    """Return a ranking of the counts at each score, in a third of the time of sorting rows."""
    key, hit, both = ranking.key, pl.col("pos") > 0, pl.col("both")
    # Classes are told apart later, among few rows.
    classes = ranking.frame.group_by("rank_key").agg(both=pl.len().cast(pl.Int64))
    pos = pl.when(key.positive()).then(both).otherwise(0)
    counts = classes.group_by(key.tie()).agg(pos=pos.sum(), both=both.sum())
    ranked = counts.select(key.with_class(hit), "pos", neg=both - pl.col("pos"))
    return replace(ranking, frame=ranking.rows.once(ranked), counted=True)


def has_few_scores(rows: Rows, segments: int) -> bool:
    """Return whether each score of a segment seems to have many rows, of rows in memory."""
    if rows.values is None or not rows.many_in_memory:
        return False
    samples = sorted_rows.sampled_scores(rows, _LARGER_SAMPLE)
    distinct = max(sample.n_unique() for sample in samples)
    # Also in the sample, as most rows may have one score, and the others each its own.
    fewest = min(*map(len, samples), len(samples) * len(rows.values) // max(segments, 1))
    return distinct * _ROWS_PER_SCORE <= fewest


def _empty(rows: pl.LazyFrame, carried: Sequence[str]) -> pl.LazyFrame:
    values = {name: None if name == "cluster" else 0 for name in carried}
    return rows.with_columns(pl.lit(value).alias(name) for name, value in values.items())


def _scale(rows: Rows) -> Scale:
    """Return the scale of the scores, narrowed in memory: keys then mostly fit 64 bits."""
    if rows.values is None or not rows.some_in_memory:
        return Scale.of(rows.score_dtype, ascending=rows.ascending)
    columns = [rows.values[f"score_{i}"] for i in range(len(rows.columns.scores))]
    return Scale.over(columns, rows.score_dtype, ascending=rows.ascending)


def _levels(rows: Rows, bins: Bins | None) -> pl.LazyFrame | None:
    if bins is not None:
        return bins.table(rows.score_dtype).select("level", "score")
    if rows.score_dtype not in _LEVELLED:
        return None
    distinct = rows.frame.select("score").unique().drop_nulls().sort("score")
    return distinct.with_row_index("level")


# --- bins: counts of the scores between two thresholds -----------------------------------------

_SCORE, _PLACE = pl.col("score"), pl.col("place")

_SUSPECT = 2**20 - 1  # more than the most thresholds


def count_bins(
    rows: Rows,
    bins: Bins,
    *,
    squares: bool = False,
    clusters: bool = False,
) -> Rows:
    """Return rows that each hold the counts of a bin, with its level in place of the score."""
    bins = bins.of(rows.score_dtype)
    last = len(bins.thresholds) - 1
    in_none = last + 1
    placed_first = pl.col("level") if bins.ascending else last - pl.col("level")
    reached = placed_first.fill_null(in_none)
    improbable = is_improbable(_SCORE.cast(pl.Float64)) & pl.lit(bins.of_probabilities)
    place = (
        pl.when("suspect")
        .then(_SUSPECT)
        .when(_SCORE.is_null() if rows.usable is None else ~rows.usable)
        .then(in_none)
        .when(improbable)
        .then(_SUSPECT)
        .otherwise(reached)
    )
    levelled = bins.with_level(rows.frame, in_memory=rows.in_memory)
    amounts = _amounts(rows, squares=squares)
    placed = levelled.with_columns(place=place.cast(pl.Int64))
    others = ["cluster"] if clusters else []
    cell = [*rows.keys, "place"]
    counted = placed.group_by(*cell, *others).agg(**amounts).sort(cell)
    checked = _checked(rows, counted, bins)
    level = _PLACE if bins.ascending else last - _PLACE
    level = pl.when(last >= _PLACE).then(level).cast(pl.UInt32).alias("score")
    return replace(
        rows.without_values(),
        frame=rows.once(checked.select(*rows.keys, level, *others, *amounts)),
        has_counts=True,
        usable=None,
        n_dropped=pl.col("n_dropped") if "n_dropped" in amounts else None,
    )


def _amounts(rows: Rows, *, squares: bool) -> dict[str, pl.Expr]:
    amounts = rows.amounts(pl.col("truth"), squares=squares)
    if rows.usable is not None:
        amounts = {name: pl.when(rows.usable).then(amount) for name, amount in amounts.items()}
    dtype = pl.Float64 if rows.columns.weighted else pl.Int64
    sums = {name: amount.sum().cast(dtype) for name, amount in amounts.items()}
    return sums if rows.n_dropped is None else sums | {"n_dropped": rows.n_dropped.sum()}


def _checked(rows: Rows, counted: pl.LazyFrame, bins: Bins) -> pl.LazyFrame:
    checks = map(check_of, bin_rules(rows.columns, bins, pl.col))
    pos, neg = pl.col("pos").cast(pl.Float64), pl.col("neg").cast(pl.Float64)
    suspicious = (
        (_PLACE == _SUSPECT)
        | ~((pos.sum() + neg.sum()).is_between(0, COUNT_LIMIT))
        | (pos.sum() == 0)
    )
    return rows.with_bin_checks(rows.with_checks_if(counted, suspicious, checks))


def find_thresholds(
    lf: pl.LazyFrame, score: IntoColumn, number: int, *, ascending: bool, in_memory: bool
) -> list[float]:
    direction = -1.0 if ascending else 1.0
    column = find_column(lf, "score", score, lf.collect_schema())
    check_numeric("score", column)
    projected = project(lf, [], [], {"score": column})
    given = computed(projected).lazy() if in_memory else projected
    scores = given.select(_SCORE.cast(pl.Float64) * direction).drop_nans().drop_nulls()
    grain = Scale.of(pl.Float32()).slot(_SCORE.cast(pl.Float32)) // 2**13
    table = scores.group_by(grain=grain).agg(pl.len(), lowest=_SCORE.min()).sort("grain")
    # From the highest score down; the scores that start in one share of the rows get one threshold.
    rows = pl.col("len").cast(pl.Int64)
    share = (rows.cum_sum() - rows) * number // rows.sum()
    lowest = table.group_by(share=share).agg(pl.col("lowest").min()).collect()["lowest"]
    if lowest.is_empty():
        raise DataError(f"score= column {column.name!r} has no values", "at least one score")
    return (lowest * direction + 0.0).sort().to_list()
