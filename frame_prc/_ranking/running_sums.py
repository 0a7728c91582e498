"""Running sums over rows in ranking order, at the points that a verb needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from frame_prc._execution import has_numpy
from frame_prc._lazy import remembered
from frame_prc._ranking.keys import RankKey
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.sorted_rows import repeats_scores, weight_sums

_FOUND, _SEEN, _FOUND_A, _SEEN_A = (
    pl.col(name).cast(pl.Int64) for name in ("found", "seen", "found_a", "seen_a")
)

CLUSTER_SUMS = ("tp_squared", "tp_times_fp", "fp_squared")

_POS, _NEG, _TP, _FP = (pl.col(name) for name in ("pos", "neg", "cluster_tp", "cluster_fp"))

# Given sums of weights have an unknown number of terms, but rarely more than this.
TERMS_OF_COUNTS = 2**17


@dataclass(frozen=True)
class Points:
    """The rows at which running sums are wanted, besides the row that opens each segment.

    They are the last rows of each score, or those ``chosen`` given the name of the running sum of
    positives. ``beside_previous`` adds ``tp_a, fp_a``, the sums before; ``only_hits`` are scores
    with positives; ``each_row`` asks for rows without sums, and ``at`` for places.
    """

    chosen: Callable[[RankKey, str], pl.Expr] | None = None
    beside_previous: bool = False
    only_hits: bool = False
    each_row: bool = False
    at: pl.Series | None = field(default=None, compare=False)

    def last_rows(self, key: RankKey) -> pl.Expr:
        """Return whether a sorted row is the last of a score wanted, or opens its segment."""
        return is_hit(key) if self.only_hits else key.ends_tie()

    def of(self, ranked: pl.LazyFrame, key: RankKey, sums: tuple[str, str]) -> pl.LazyFrame:
        """Return these rows, and the last row of each segment."""
        if self.only_hits:
            return ranked.filter(is_hit(key) | key.closes())
        ties = ranked.filter(key.ends_tie())
        if self.beside_previous:
            ties = ties.with_columns(pl.col(name).shift(1).alias(f"{name}_a") for name in sums)
        return ties if self.chosen is None else ties.filter(self.chosen(key, sums[0]))


def is_hit(key: RankKey) -> pl.Expr:
    """Return whether a row is the last of a score with positives, or opens its segment."""
    return key.ends_tie() & key.positive()


def is_corner(opens: pl.Expr, found: pl.Expr) -> pl.Expr:
    """Return whether a point is the first or the last of its number of true positives.

    Those between lie on a vertical line, and change neither an area nor a maximum.
    """
    begins = opens | opens.shift(1) | (found != found.shift(1))
    ends = opens.shift(-1, fill_value=True) | (found != found.shift(-1))
    return begins | ends


def _is_corner(key: RankKey, found: str) -> pl.Expr:
    return is_corner(key.opens(), pl.col(found)) | key.unretrieved().shift(-1)


def _is_step(key: RankKey, found: str) -> pl.Expr:
    """Return whether a score has positives; the rows that open and close a segment stay too."""
    return (pl.col(found) > pl.col(f"{found}_a")) | key.opens() | key.closes()


TIES = Points()
CORNERS = Points(chosen=_is_corner)
STEPS = Points(chosen=_is_step, beside_previous=True)
HITS = Points(only_hits=True)
EACH_ROW = Points(each_row=True)


def counts_at_ties(ranking: Ranking) -> pl.LazyFrame:
    rows = ranking.rows
    if rows.many_in_memory and not ranking.carried and not repeats_scores(rows):
        return _counts_of_runs(ranking)
    # Grouping holds only what differs of rows that may not fit in memory, or whose scores repeat.
    key, dtype = ranking.key, pl.Float64 if rows.columns.weighted else pl.Int64
    amounts = ranking.amounts(key)
    totals = (amount.cast(dtype).sum().alias(name) for name, amount in amounts.items())
    ties = ranking.frame.group_by(key.tie()).agg(totals).sort("rank_key")
    slots = ties.select(key.segment(), key.slot(), pl.exclude("rank_key"))
    return ranking.with_score_of_slot(slots)


def _counts_of_runs(ranking: Ranking) -> pl.LazyFrame:
    key, found, seen = ranking.sorted_key, pl.col("found"), pl.col("seen").cast(pl.Int64)
    pos, both = (total - total.shift(1) for total in (found, seen))
    ties = _counts_at(ranking, TIES).with_columns(pos=pos, neg=both - pos)
    scores = ties.filter(~key.opens())
    return ranking.with_score(scores.select(key.segment(), ranking.slot(), "pos", "neg"))


def running(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sort the rows, and return running sums at some points, with those of the whole segment.

    Each segment begins with the row that opens it. With squares there are also ``NAME_squares``,
    with weights ``n_terms``, how many terms may round a sum, with clusters ``CLUSTER_SUMS``.
    """
    rows = ranking.rows
    shared = rows.kept is not None and rows.many_in_memory and not ranking.carried
    if not shared or points not in (HITS, STEPS, CORNERS):
        return _running(ranking, points)
    # Few of the rows, which several verbs use: they are kept.
    if points == HITS and STEPS in ranking.points:  # hits are among steps
        return ranking.points[STEPS].drop("tp_a", "fp_a")
    return ranking.keep_points(points, lambda: rows.windowed(_running(ranking, points)))


def _running(ranking: Ranking, points: Points) -> pl.LazyFrame:
    columns = ["tp", "fp", "positives", "negatives", "opens"]
    if points.beside_previous:
        columns += ["tp_a", "fp_a"]
    if ranking.squares:
        columns += ["tp_squares", "fp_squares", "positives_squares", "negatives_squares"]
    if ranking.clusters:
        columns += CLUSTER_SUMS
    if ranking.rows.columns.weighted:
        summed = _weight_sums(ranking, points)
        columns.append("n_terms")
    else:
        summed = _count_sums(ranking, points)
    selected = summed.select(ranking.sorted_key.segment(), ranking.slot(), *columns)
    found = selected.filter(pl.col("segment") != ranking.key.last_segment)
    return found.set_sorted("segment")


def retrieved_at_ties(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment, retrieved`` where each segment opens and at the last row of every score."""
    key, seen = ranking.sorted_key, pl.col("seen").cast(pl.Int64)
    ties = _counts_at(ranking, TIES).with_columns(key.opens())
    retrieved = seen - pl.when("opens").then(seen).forward_fill()
    if ranking.may_lack_scores:
        retrieved = pl.when(~key.unretrieved()).then(retrieved)
    found = ties.select(key.segment().set_sorted(), retrieved.alias("retrieved"))
    return found.filter(pl.col("segment") != key.last_segment)


def may_have_ties(ranking: Ranking) -> bool:
    """Return whether rows may share their score, or never be retrieved."""
    if not ranking.rows.many_in_memory or ranking.may_lack_scores:
        return True
    is_tied = ranking.in_order.select((~ranking.sorted_key.ends_tie()).any())
    return bool(is_tied.collect(engine="in-memory").item())


def rows_of_classes(ranking: Ranking) -> list[pl.LazyFrame]:
    """Return the positive and the negative rows that count as one, each in ranking order."""
    key, found = ranking.sorted_key, []
    for of_class in (key.positive() & ~key.opens(), ~key.positive()):
        rows = ranking.in_order.filter(of_class).select(key.segment(), ranking.slot())
        found.append(ranking.with_score(rows).select("segment", "score").set_sorted("segment"))
    return found


def _count_sums(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sum over all segments, less the sums where each opens, at a fifth of a window's cost."""
    counts = {"tp": _FOUND, "fp": _SEEN - _FOUND}
    sums = {"tp": "tp", "fp": "fp"}
    totals = {"positives": "tp", "negatives": "fp"}
    if points.beside_previous:
        counts |= {"tp_a": _FOUND_A, "fp_a": _SEEN_A - _FOUND_A}
        sums |= {"tp_a": "tp", "fp_a": "fp"}
    if ranking.squares:
        sums |= {name: name for name in ("tp_squares", "fp_squares")}
        totals |= {"positives_squares": "tp_squares", "negatives_squares": "fp_squares"}
    if ranking.clusters:
        sums |= {name: name for name in CLUSTER_SUMS}
    others = pl.exclude("found", "seen", "found_a", "seen_a", "ends")
    counted = _counts_at(ranking, points).select(others, ranking.sorted_key.opens(), **counts)
    # The row that opens a segment counts as a positive row, unless rows carry counts: its are 0.
    opening = {} if ranking.carried else {"positives": 1}
    return _within_segments(counted, sums, totals, opening)


def _within_segments(
    counts: pl.LazyFrame, sums: dict[str, str], totals: dict[str, str], opening: dict[str, int]
) -> pl.LazyFrame:
    """Subtract from running sums those at the row that opens the segment, and add the totals."""
    # Polars would fill rows again for every expression that uses them, so they are columns.
    filled = counts.with_columns(
        *(_at_opening(of).forward_fill().alias(f"{of}_before") for of in {*sums.values()}),
        *(_at_opening(of).shift(-1).backward_fill().alias(name) for name, of in totals.items()),
    )
    grown = {name: _since_opening(name, of) for name, of in sums.items()}
    of_segment = {n: _since_opening(n, of) - opening.get(n, 0) for n, of in totals.items()}
    return filled.with_columns(**grown, **of_segment)


@remembered
def _at_opening(running_sum: str) -> pl.Expr:
    return pl.when("opens").then(running_sum)


@remembered
def _since_opening(name: str, running_sum: str) -> pl.Expr:
    return pl.col(name) - pl.col(f"{running_sum}_before")


def _counts_at(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Return running sums of positives, ``found``, and of rows, ``seen``, at some points."""
    key, ranked = ranking.sorted_key, ranking.in_order
    if ranking.clusters:
        ranked = _with_cluster_sums(ranked, key, ranking.amounts(key), ranking.carried)
    if ranking.carried:
        sums = {"found": pl.col("pos"), "seen": pl.col("pos") + pl.col("neg")}
        if ranking.squares:
            sums |= {"tp_squares": pl.col("pos_squares"), "fp_squares": pl.col("neg_squares")}
        ranked = ranked.with_columns(**{name: amount.cum_sum() for name, amount in sums.items()})
        return points.of(ranked, key, ("found", "seen"))
    ranked = ranked.with_row_index("seen")
    if points.only_hits:
        # Positives are last within a tie, so the other rows can be left out before the sum.
        return ranked.filter(key.positive()).with_row_index("found").filter(key.ends_tie())
    if points.beside_previous:
        return _steps_of_rows(ranking, ranked)
    summed = ranked.with_columns(found=key.positive().cast(pl.Int64).cum_sum())
    if points.at is not None:
        return summed.select(pl.all().gather(points.at))
    return points.of(summed, key, ("found", "seen"))


def _with_cluster_sums(
    ranked: pl.LazyFrame, key: RankKey, amounts: Mapping[str, pl.Expr], carried: Sequence[str]
) -> pl.LazyFrame:
    """Replace clusters by the sums over them of TP_c^2, TP_c * FP_c and FP_c^2, as integers.

    A row adds to them what its own cluster has so far.
    """
    own = {name: amount.cast(pl.Int64) for name, amount in amounts.items()}
    # Rows stay in ranking order within a cluster, so its segments follow one another. A window for
    # each cluster takes ten times as long if there are hundreds of thousands.
    by_cluster = (
        ranked.with_columns(**own)
        .with_row_index("place")
        .with_columns(key.segment())
        .sort("cluster", maintain_order=True)
    )
    begins = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in ("cluster", "segment")
    )
    so_far = {
        name: _within_cluster(amount, begins) for name, amount in (("tp", _POS), ("fp", _NEG))
    }
    added = by_cluster.with_columns(**{f"cluster_{n}": e for n, e in so_far.items()}).select(
        "rank_key",
        *carried,
        "place",
        tp_squared=_POS * (2 * _TP - _POS),
        tp_times_fp=_POS * _FP + _NEG * _TP - _POS * _NEG,
        fp_squared=_NEG * (2 * _FP - _NEG),
    )
    in_order = added.sort("place").drop("place")
    return in_order.with_columns(pl.col(CLUSTER_SUMS).cum_sum())


def _within_cluster(amount: pl.Expr, begins: pl.Expr) -> pl.Expr:
    total = amount.cum_sum()
    return total - pl.when(begins).then(total - amount).forward_fill()


def _steps_of_rows(ranking: Ranking, ranked: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sums at scores with positives, and at the score before each, where rows count.

    The first row of each score stays at first too: it tells how many are before the score.
    """
    key, ends = ranking.sorted_key, pl.col("ends")
    begins = ends.shift(1, fill_value=True)
    kept = ranked.with_columns(ends=key.ends_tie()).filter(key.positive() | (begins & ~ends))
    begins = key.ends_tie().shift(1, fill_value=True)
    seen_a = pl.when(begins).then(pl.col("seen").cast(pl.Int64) - 1).forward_fill()
    summed = kept.with_columns(found=key.positive().cum_sum(), seen_a=seen_a)
    return summed.filter(is_hit(key)).with_columns(found_a=pl.col("found").shift(1))


def _weight_sums(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sum within each segment, as floats would lose the digits of a small one after a large one."""
    key, has_counts = ranking.sorted_key, ranking.rows.has_counts
    summed = None if has_counts else _sums_of_numbered(ranking, points)
    if summed is not None:
        return summed
    gains = {"tp": "pos", "tp_squares": "pos_squares"}
    losses = {"fp": "neg", "fp_squares": "neg_squares"}
    ranked = ranking.in_order.with_row_index("row")
    if points.only_hits:
        # Only positive rows add true positives, and they are fewer.
        ranked = _with_sums_within(ranked, losses, ranking)
        ranked = ranked.filter(key.positive() | key.closes())
        ranked = _with_sums_within(ranked, gains, ranking)
    else:
        ranked = _with_sums_within(ranked, gains | losses, ranking)
    last = {"positives": "tp", "negatives": "fp"}
    if ranking.squares:
        last |= {"positives_squares": "tp_squares", "negatives_squares": "fp_squares"}
    totals = {name: pl.when("closes").then(sums).backward_fill() for name, sums in last.items()}
    at_opening = pl.when("opens").then(pl.col("row").cast(pl.Int64))
    n_rows = at_opening.shift(-1).backward_fill() - at_opening.forward_fill()
    n_terms = n_rows + (TERMS_OF_COUNTS if has_counts else 0)
    picked = points.of(ranked, key, ("tp", "fp")).with_columns(key.opens(), key.closes())
    summed = picked.with_columns(n_terms=n_terms, **totals)
    # The last row of a segment was there for the totals.
    return summed.filter(key.positive()) if points.only_hits else summed


def _sums_of_numbered(ranking: Ranking, points: Points) -> pl.LazyFrame | None:
    """Return the sums of rows whose keys hold their number, if there are such and NumPy."""
    if ranking.ordered is None or not has_numpy():
        return None
    only_hits, key = points.only_hits, ranking.sorted_key
    found = weight_sums(ranking.ordered, only_positive=only_hits, squares=ranking.squares)
    if found is None:
        return None
    rows = found.lazy()
    # Positives are last within a tie, so the other rows are not needed to tell ties.
    picked = rows.filter(key.ends_tie()) if only_hits else points.of(rows, key, ("tp", "fp"))
    return picked.with_columns(key.opens())


def _with_sums_within(ranked: pl.LazyFrame, sums: dict[str, str], ranking: Ranking) -> pl.LazyFrame:
    key = ranking.sorted_key
    found = ranking.amounts(key)
    amounts = {name: found[of] for name, of in sums.items() if of in found}
    # Rows are sorted by segment, so "explode", which stacks the groups, keeps them in place.
    within = {
        name: amount.cum_sum().over("segment", mapping_strategy="explode")
        for name, amount in amounts.items()
    }
    return ranked.with_columns(key.segment()).set_sorted("segment").with_columns(**within)
