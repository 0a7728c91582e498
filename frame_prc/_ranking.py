"""Rows in ranking order with their running sums: the one sort that every exact verb stands on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from frame_prc._bins import Bins, count_bins
from frame_prc._columns import threshold_dtype
from frame_prc._plan import concat, join
from frame_prc._rank_key import RankKey, most_segments
from frame_prc._rows import DROPPED, Rows
from frame_prc._scale import Scale
from frame_prc._segments import Segments, find_segments

Which: TypeAlias = Literal["ties", "corners", "steps", "hits"]

# Scores that no slot holds are ranked by their level: their place among the distinct scores.
_LEVELLED = (pl.Decimal, pl.Int128, pl.UInt128)

# Below this many rows the narrower key gains less than the look costs.
_WORTH_A_LOOK = 20_000


@dataclass(frozen=True)
class Ranking:
    """Rows of every segment with a rank key, not yet sorted.

    ``frame`` has ``rank_key`` and the columns ``carried``; without these each row counts as one.
    ``levels`` has the score of each ``level`` where levels are ranked in its place. ``squares``
    says that squares of weights are summed up as well.
    """

    frame: pl.LazyFrame
    segments: Segments
    key: RankKey
    rows: Rows
    levels: pl.LazyFrame | None
    squares: bool

    @property
    def carried(self) -> list[str]:
        """The columns that say how much a row counts."""
        return self.rows.carried(squares=self.squares)

    def amounts(self) -> dict[str, pl.Expr]:
        """Return how much of a ranked row is positive and negative, by name."""
        return self.rows.amounts(self.key.positive(), squares=self.squares)

    def with_dropped(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Add to a table of segments the counts of dropped rows, where there are any to count."""
        if self.rows.n_dropped is None:
            return table
        counts = self.segments.table.select("segment", *DROPPED)
        return join(table, counts, on="segment", how="left", maintain_order="left")

    @property
    def threshold_dtype(self) -> pl.DataType:
        """The dtype of thresholds."""
        return threshold_dtype(self.rows.score_dtype)

    def with_score(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Turn the column ``slot`` into ``score``; rows never retrieved have none."""
        score = pl.when(self.key.retrieved()).then(self.key.scale.score(pl.col("slot")))
        if self.levels is None:
            return frame.with_columns(score=score)
        level = score.cast(pl.UInt32).alias("level")
        levelled = frame.with_columns(level)
        return join(levelled, self.levels, on="level", how="left", maintain_order="left")


def rank(rows: Rows, bins: Bins | None = None, *, squares: bool = False) -> Ranking:
    """Return rows with their rank keys, and the segments they are in.

    Given bins, a row ranks at the highest threshold that its score reaches, and every threshold
    has a row in every segment. ``squares`` asks for sums of squared weights as well; rows that
    count as one have none apart.
    """
    squares = squares and rows.columns.needs_squares
    levels = _levels(rows, bins)
    rows = rows if bins is None else count_bins(rows, bins, squares=squares)
    scale = _scale(rows) if levels is None else Scale.of(pl.UInt32())
    segments = find_segments(rows, most_segments(scale))
    key = RankKey(scale, segments.count)
    frame = segments.numbered(rows.used())
    if bins is None and levels is not None:
        levelled = join(frame, levels, on="score", how="left")
        frame = levelled.with_columns(score=pl.col("level"))
    rank_key = key.pack(pl.col("segment"), key.scale.slot(pl.col("score")), rows.is_positive())
    carried = rows.carried(squares=squares)
    ranked = frame.select(rank_key, *carried)
    ranked = ranked if bins is not None else rows.guard(ranked)
    if bins is not None and levels is not None:
        empty = _empty_bins(segments, levels, key).with_columns(_nothing(carried))
        ranked = concat([ranked, empty])
    return Ranking(ranked, segments, key, rows, levels, squares)


def _empty_bins(segments: Segments, levels: pl.LazyFrame, key: RankKey) -> pl.LazyFrame:
    """Return a row for each bin of each segment."""
    grid = join(segments.table.select("segment"), levels.select("level"), how="cross")
    return grid.select(key.pack(pl.col("segment"), key.scale.slot(pl.col("level")), pl.lit(0)))


def _nothing(carried: Iterable[str]) -> list[pl.Expr]:
    return [pl.lit(0).alias(name) for name in carried]


def _scale(rows: Rows) -> Scale:
    """Return the scale of the scores, narrowed to those there are where a look at them is free.

    Scores from 0 to 1 mostly leave room for the segments in an Int64 key: the sort is a quarter
    faster and all that follows moves half the bytes.
    """
    if rows.values is None or rows.values.height < _WORTH_A_LOOK:
        return Scale.of(rows.score_dtype)
    columns = [rows.values[f"score_{i}"] for i in range(len(rows.columns.scores))]
    found = [bound for c in columns for bound in (c.min(), c.max()) if bound is not None]
    bounds = pl.Series("score", found, dtype=rows.score_dtype, strict=False)
    return Scale.over(bounds) if found else Scale.of(rows.score_dtype)


def _levels(rows: Rows, bins: Bins | None) -> pl.LazyFrame | None:
    """Return the levels to rank scores by, if not by themselves."""
    if bins is not None:
        return bins.table(rows.score_dtype).select("level", "score")
    if rows.score_dtype not in _LEVELLED:
        return None
    distinct = rows.frame.select("score").unique().drop_nulls().sort("score")
    return distinct.with_row_index("level")


def class_totals(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums ``pos`` and ``neg`` of a group of ranked rows, and maybe of their squares."""
    dtype = pl.Float64 if ranking.rows.columns.weighted else pl.Int64
    return [a.cast(dtype).sum().alias(name) for name, a in ranking.amounts().items()]


# --- running sums --------------------------------------------------------------------------


def running(ranking: Ranking, which: Which) -> pl.LazyFrame:
    """Sort, and return running sums at the rows asked for.

    Parameters
    ----------
    ranking
        Ranked rows.
    which
        ``"ties"``: the last row of every score. ``"corners"``: of these, only the first and the
        last of each number of true positives. ``"steps"``: only the scores that have positives, and
        maybe the last; no other changes the average precision. ``"hits"``: the same, without the
        point before each, which takes a look at all ties.

    Returns
    -------
    LazyFrame
        ``segment``, ``slot``, ``tp``, ``fp``, ``positives``, ``negatives``, ``opens``, in ranking
        order; each segment begins with the row that opens it. The totals are those of the segment.
        With squares also ``tp_squares``, ``fp_squares`` and ``positives_squares``. Steps also have
        ``tp_a`` and ``fp_a``, the running sums at the score before.
    """
    sums = _weight_sums if ranking.rows.columns.weighted else _count_sums
    squares = ("tp_squares", "fp_squares", "positives_squares") if ranking.squares else ()
    before = ("tp_a", "fp_a") if which == "steps" else ()
    columns = ("tp", "fp", "positives", "negatives", "opens", *before, *squares)
    summed = sums(ranking, which).select(ranking.key.segment(), ranking.key.slot(), *columns)
    return summed.filter(pl.col("segment") != ranking.key.last_segment)


def _sorted(ranking: Ranking) -> pl.LazyFrame:
    """Return the ranked rows in order, with one to open each segment and one after the last."""
    key = ranking.key
    extra = [ranking.segments.table.select(key.opening(pl.col("segment"))), key.ending()]
    extra = [frame.with_columns(_nothing(ranking.carried)) for frame in extra]
    return concat([ranking.frame, *extra]).sort("rank_key")


def _count_sums(ranking: Ranking, which: Which) -> pl.LazyFrame:
    """Sum over all segments, and take off what there was when a segment opened.

    Integers are exact, so this gives what a window per segment would, at a fifth of its cost.
    """
    # The row that opens a segment is a row and a hit itself, unless rows have sums: its are 0.
    itself = 0 if ranking.carried else 1
    found, seen = pl.col("found").cast(pl.Int64), pl.col("seen").cast(pl.Int64)
    counts = _counts_at(ranking, which).with_columns(ranking.key.opens())
    if which == "steps":
        tp_a = _since_opening(pl.col("found_a").cast(pl.Int64), found)
        retrieved_a = _since_opening(pl.col("seen_a").cast(pl.Int64), seen)
        counts = counts.with_columns(tp_a=tp_a, fp_a=retrieved_a - tp_a)
    if ranking.squares:
        counts = counts.with_columns(
            positives_squares=_until_next(pl.col("tp_squares")),
            tp_squares=_since_opening(pl.col("tp_squares"), pl.col("tp_squares")),
            fp_squares=_since_opening(pl.col("fp_squares"), pl.col("fp_squares")),
        )
    return counts.with_columns(
        tp=_since_opening(found, found),
        retrieved=_since_opening(seen, seen),
        positives=_until_next(found) - itself,
        n=_until_next(seen) - itself,
    ).with_columns(
        fp=pl.col("retrieved") - pl.col("tp"), negatives=pl.col("n") - pl.col("positives")
    )


def _counts_at(ranking: Ranking, which: Which) -> pl.LazyFrame:
    """Return how many positives were ``found`` and rows ``seen``, at the rows asked for."""
    key, ranked = ranking.key, _sorted(ranking)
    if ranking.carried:
        sums = {"found": pl.col("pos"), "seen": pl.col("pos") + pl.col("neg")}
        if ranking.squares:
            sums |= {"tp_squares": pl.col("pos_squares"), "fp_squares": pl.col("neg_squares")}
        ranked = ranked.with_columns(**{name: amount.cum_sum() for name, amount in sums.items()})
        return _picked(ranked, key, which, ("found", "seen"))
    ranked = ranked.with_row_index("seen")
    if which == "hits":
        # Within a tie positives come last, so hits alone say all that is asked of them.
        return ranked.filter(key.positive()).with_row_index("found").filter(key.ends_tie())
    found = key.positive().cast(pl.Int64).cum_sum()
    return _picked(ranked.with_columns(found=found), key, which, ("found", "seen"))


def _since_opening(amount: pl.Expr, running_sum: pl.Expr) -> pl.Expr:
    return amount - pl.when("opens").then(running_sum).forward_fill()


def _until_next(running_sum: pl.Expr) -> pl.Expr:
    """Return what a running sum grows by from one row that opens a segment to the next."""
    at_opening = pl.when("opens").then(running_sum)
    return at_opening.shift(-1).backward_fill() - at_opening.forward_fill()


def _weight_sums(ranking: Ranking, which: Which) -> pl.LazyFrame:
    """Sum within each segment, since floats would lose a small segment behind a large one."""
    key, amounts = ranking.key, ranking.amounts()
    gains = {"tp": "pos", "tp_squares": "pos_squares"}
    losses = {"fp": "neg", "fp_squares": "neg_squares"}
    ranked = _sorted(ranking).with_columns(key.segment()).set_sorted("segment")
    if which == "hits":
        # Only positive rows add true positives: there are fewer of them to sum up.
        ranked = ranked.with_columns(_sums_within(losses, amounts))
        ranked = ranked.filter(key.positive() | key.closes())
        ranked = ranked.with_columns(_sums_within(gains, amounts))
    else:
        ranked = ranked.with_columns(_sums_within(gains | losses, amounts))
    sums = {"positives": "tp", "negatives": "fp"}
    sums |= {"positives_squares": "tp_squares"} if ranking.squares else {}
    totals = {
        total: pl.when("closes").then(pl.col(of)).backward_fill() for total, of in sums.items()
    }
    picked = _picked(ranked, key, which, ("tp", "fp"))
    return picked.with_columns(key.opens(), key.closes()).with_columns(**totals)


def _sums_within(sums: dict[str, str], amounts: dict[str, pl.Expr]) -> list[pl.Expr]:
    """Return running sums, by name, of amounts within each segment of sorted rows."""
    # Rows come by segment: the groups one after the other, as "explode" gives them, are in place.
    return [
        amounts[of].cum_sum().over("segment", mapping_strategy="explode").alias(name)
        for name, of in sums.items()
        if of in amounts
    ]


def _picked(
    ranked: pl.LazyFrame, key: RankKey, which: Which, sums: tuple[str, str]
) -> pl.LazyFrame:
    """Return the rows asked for, and the last row of each segment.

    ``sums`` names two running sums, the first of positives.
    """
    if which == "hits":
        return ranked.filter((key.ends_tie() & key.positive()) | key.closes())
    ties, found = ranked.filter(key.ends_tie()), pl.col(sums[0])
    match which:
        case "ties":
            return ties
        case "corners":
            return ties.filter(_is_corner(key, found))
        case "steps":
            before = ties.with_columns(pl.col(name).shift(1).alias(f"{name}_a") for name in sums)
            grows = found > pl.col(f"{sums[0]}_a")
            return before.filter(grows | key.opens() | key.closes())


def _is_corner(key: RankKey, found: pl.Expr) -> pl.Expr:
    """Keep the first and the last point of each number of true positives.

    Between them only false positives are added: the points lie on a vertical line, below the
    first and above the last, where they carry no area and no maximum.
    """
    opens = key.opens()
    begins = opens | opens.shift(1) | (found != found.shift(1))
    ends = opens.shift(-1, fill_value=True) | (found != found.shift(-1))
    return begins | ends | key.unretrieved().shift(-1)
