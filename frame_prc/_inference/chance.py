"""The average precision that a random order of the labels is expected to have.

P of N rows are positive. Every order of the labels is equally likely, and the scores stay as they
are. On average, a tie of n_g rows at a score that N_g rows reach adds
``n_g / N_g * (1 / N + (N_g - 1) (P - 1) / (N (N - 1)))``: a positive in it is retrieved with itself
and a share ``(P - 1) / (N - 1)`` of the others. With S the sum of ``n_g / N_g`` over the ties and R
the number of rows that are ever retrieved, the expectation is

    (S (N - P) + R (P - 1)) / (N (N - 1))

where nothing cancels. If no rows are tied, S is ``1 + 1/2 + ... + 1/R``, and otherwise it differs
from that only by the tied rows. Without ties it is the formula of Bestgen 2015 ("Exact expected
average precision of the random baseline for system evaluation").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from frame_prc._curves.logit_intervals import RANDOM, RANDOM_SHORTFALL, random_areas
from frame_prc._formulas import exact_sum, harmonic
from frame_prc._lazy import left_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import has_tied_rows, retrieved_at_ties, tied_rows

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_SHARES, _RETRIEVED = pl.col("tie_shares"), pl.col("retrieved")
_UNRETRIEVED = pl.col("unretrieved")


def with_random(table: pl.LazyFrame, ranking: Ranking, on: Sequence[str]) -> pl.LazyFrame:
    """Add the average precision of a random order of the labels, and 1 minus it."""
    n = _POSITIVES + _NEGATIVES
    if ranking.rows.columns.weighted:
        return table.with_columns(_defined(_POSITIVES / n, _NEGATIVES / n))
    is_summed = ranking.tie_shares is not None or bool(ranking.carried)
    if ranking.tie_shares is not None:
        shares = ranking.tie_shares
    else:
        of, what = (_shares_of_counts if is_summed else _shares_of_rows), ("ties", ranking.key)
        shares = ranking.rows.keep_table(what, partial(of, ranking))
    keyed = shares if "segment" in on else ranking.segments.with_keys(shares)
    areas = random_areas(_POSITIVES, _NEGATIVES, _SHARES, _RETRIEVED)
    joined = left_join(table, keyed, on)
    if not is_summed:
        joined = joined.with_columns(retrieved=n - _UNRETRIEVED).with_columns(
            tie_shares=harmonic(_RETRIEVED) + _SHARES
        )
    added = joined.with_columns(_defined(*areas.values()))
    return added.drop("tie_shares", "retrieved", "unretrieved", strict=False)


def _defined(area: pl.Expr, shortfall: pl.Expr) -> list[pl.Expr]:
    named = {RANDOM: area, RANDOM_SHORTFALL: shortfall}
    return [pl.when(_POSITIVES > 0).then(value).alias(name) for name, value in named.items()]


def _shares_of_counts(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment, tie_shares, retrieved``: S and R of the formula above, of counts."""
    # No row is retrieved yet where a segment opens, or at the highest bins if they are empty.
    share = pl.when(_RETRIEVED > 0).then(_RETRIEVED.diff() / _RETRIEVED)
    shares = retrieved_at_ties(ranking).with_columns(share=share)
    return shares.group_by("segment").agg(
        tie_shares=exact_sum(pl.col("share")), retrieved=_RETRIEVED.max()
    )


def _shares_of_rows(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment, tie_shares, unretrieved``: what ties add to S, below 0, and ``N - R``."""
    if not has_tied_rows(ranking):
        segments = ranking.segments.table.select("segment")
        return segments.with_columns(tie_shares=0.0, unretrieved=pl.lit(0, pl.Int64))
    return ranking.rows.windowed(_shares_of_tied_rows(ranking))


def _shares_of_tied_rows(ranking: Ranking) -> pl.LazyFrame:
    place, begins = pl.col("place"), pl.col("begins")
    before = pl.when(begins).then(place).forward_fill() - 1
    is_tied = ~pl.col("opens") & ~_UNRETRIEVED
    ends = begins.shift(-1, fill_value=True)
    tied = tied_rows(ranking).with_columns(
        single=pl.when(is_tied).then(1 / place),
        share=pl.when(is_tied & ends).then((place - before) / place),
    )
    return tied.group_by("segment").agg(
        tie_shares=exact_sum(pl.col("share")) - exact_sum(pl.col("single")),
        unretrieved=_UNRETRIEVED.sum().cast(pl.Int64),
    )
