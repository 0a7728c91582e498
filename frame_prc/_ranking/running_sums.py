"""Running sums over rows in ranking order, at the points that a verb needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from frame_prc._ranking.rank_key import RankKey
from frame_prc._ranking.ranking import Ranking

# A sum of weights does not tell how many it adds up; it is seldom rounded worse than one of these.
_TERMS_OF_COUNTS = 2**17


@dataclass(frozen=True)
class Points:
    """The rows at which running sums are wanted.

    Parameters
    ----------
    chosen
        Which of the last rows of each score, given the name of the running sum of positives; all
        of them where it is ``None``.
    beside_previous
        Whether the sums at the score before stand beside them, as ``tp_a`` and ``fp_a``.
    only_hits
        Whether rows that are not positive can be left out early, which costs least.
    """

    chosen: Callable[[RankKey, str], pl.Expr] | None = None
    beside_previous: bool = False
    only_hits: bool = False

    def of(self, ranked: pl.LazyFrame, key: RankKey, sums: tuple[str, str]) -> pl.LazyFrame:
        """Return these rows, and the last row of each segment.

        ``sums`` names two running sums, the first of positives.
        """
        if self.only_hits:
            return ranked.filter((key.ends_tie() & key.positive()) | key.closes())
        ties = ranked.filter(key.ends_tie())
        if self.beside_previous:
            previous = (pl.col(name).shift(1).alias(f"{name}_a") for name in sums)
            ties = ties.with_columns(previous)
        return ties if self.chosen is None else ties.filter(self.chosen(key, sums[0]))


def _is_corner(key: RankKey, found: str) -> pl.Expr:
    """Return whether a point is the first or the last of its number of true positives.

    Between them only false positives are added: the points lie on a vertical line, below the
    first and above the last, where they carry no area and no maximum.
    """
    opens, sums = key.opens(), pl.col(found)
    begins = opens | opens.shift(1) | (sums != sums.shift(1))
    ends = opens.shift(-1, fill_value=True) | (sums != sums.shift(-1))
    return begins | ends | key.unretrieved().shift(-1)


def _is_step(key: RankKey, found: str) -> pl.Expr:
    grows = pl.col(found) > pl.col(f"{found}_a")
    return grows | key.opens() | key.closes()


TIES = Points()  # the last row of every score
CORNERS = Points(chosen=_is_corner)
# Scores with positives, and maybe the last: no other changes the average precision.
STEPS = Points(chosen=_is_step, beside_previous=True)
HITS = Points(only_hits=True)  # the same without the point before each


def class_totals(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums ``pos`` and ``neg`` of a group of ranked rows, and maybe of their squares."""
    dtype = pl.Float64 if ranking.rows.columns.weighted else pl.Int64
    return [a.cast(dtype).sum().alias(name) for name, a in ranking.amounts().items()]


def running(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sort, and return running sums at these points.

    Returns
    -------
    LazyFrame
        ``segment``, ``slot``, ``tp``, ``fp``, ``positives``, ``negatives``, ``opens``, in ranking
        order; each segment begins with the row that opens it. The totals are those of the segment.
        With squares also ``tp_squares``, ``fp_squares`` and ``positives_squares``. With weights
        ``n_terms`` is how many terms the sums of a segment have, each of which may round them.
    """
    sums = _weight_sums if ranking.rows.columns.weighted else _count_sums
    squares = ("tp_squares", "fp_squares", "positives_squares") if ranking.squares else ()
    previous = ("tp_a", "fp_a") if points.beside_previous else ()
    sizes = ("n_terms",) if ranking.rows.columns.weighted else ()
    columns = ("tp", "fp", "positives", "negatives", "opens", *previous, *squares, *sizes)
    summed = sums(ranking, points).select(ranking.key.segment(), ranking.key.slot(), *columns)
    return summed.filter(pl.col("segment") != ranking.key.last_segment)


def retrieved_at_ties(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment, retrieved`` where each segment opens and at the last row of every score.

    ``retrieved`` is null at rows that no threshold reaches. It is for rows that are counted, not
    weighted, and what :func:`running` returns costs more.
    """
    key, seen = ranking.key, pl.col("seen").cast(pl.Int64)
    ties = _counts_at(ranking, TIES).with_columns(key.opens())
    retrieved = pl.when(~key.unretrieved()).then(_since_opening(seen, seen))
    found = ties.select(key.segment().set_sorted(), retrieved.alias("retrieved"))
    return found.filter(pl.col("segment") != key.last_segment)


def _count_sums(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sum over all segments, and take off what there was when a segment opened.

    Integers are exact, so this gives what a window per segment would, at a fifth of its cost.
    """
    # The row that opens a segment is a row and a hit itself, unless rows have sums: its are 0.
    itself = 0 if ranking.carried else 1
    found, seen = pl.col("found").cast(pl.Int64), pl.col("seen").cast(pl.Int64)
    counts = _counts_at(ranking, points).with_columns(ranking.key.opens())
    if points.beside_previous:
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


def _counts_at(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Return how many positives were ``found`` and rows ``seen``, at the rows asked for."""
    key, ranked = ranking.key, ranking.in_order
    if ranking.carried:
        sums = {"found": pl.col("pos"), "seen": pl.col("pos") + pl.col("neg")}
        if ranking.squares:
            sums |= {"tp_squares": pl.col("pos_squares"), "fp_squares": pl.col("neg_squares")}
        ranked = ranked.with_columns(**{name: amount.cum_sum() for name, amount in sums.items()})
        return points.of(ranked, key, ("found", "seen"))
    ranked = ranked.with_row_index("seen")
    if points.only_hits:
        # Within a tie positives come last, so hits alone say all that is asked of them.
        return ranked.filter(key.positive()).with_row_index("found").filter(key.ends_tie())
    found = key.positive().cast(pl.Int64).cum_sum()
    return points.of(ranked.with_columns(found=found), key, ("found", "seen"))


def _since_opening(amount: pl.Expr, running_sum: pl.Expr) -> pl.Expr:
    return amount - pl.when("opens").then(running_sum).forward_fill()


def _until_next(running_sum: pl.Expr) -> pl.Expr:
    """Return what a running sum grows by from one row that opens a segment to the next."""
    at_opening = pl.when("opens").then(running_sum)
    return at_opening.shift(-1).backward_fill() - at_opening.forward_fill()


def _weight_sums(ranking: Ranking, points: Points) -> pl.LazyFrame:
    """Sum within each segment, since floats would lose a small segment behind a large one."""
    key, amounts = ranking.key, ranking.amounts()
    gains = {"tp": "pos", "tp_squares": "pos_squares"}
    losses = {"fp": "neg", "fp_squares": "neg_squares"}
    ranked = ranking.in_order.with_columns(key.segment()).set_sorted("segment")
    ranked = ranked.with_row_index("row")
    if points.only_hits:
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
    picked = points.of(ranked, key, ("tp", "fp"))
    hidden = _TERMS_OF_COUNTS if ranking.rows.counted else 0
    return picked.with_columns(key.opens(), key.closes()).with_columns(
        n_terms=_until_next(pl.col("row").cast(pl.Int64)) + hidden, **totals
    )


def _sums_within(sums: dict[str, str], amounts: dict[str, pl.Expr]) -> list[pl.Expr]:
    """Return running sums, by name, of amounts within each segment of sorted rows."""
    # Rows come by segment: the groups one after the other, as "explode" gives them, are in place.
    return [
        amounts[of].cum_sum().over("segment", mapping_strategy="explode").alias(name)
        for name, of in sums.items()
        if of in amounts
    ]
