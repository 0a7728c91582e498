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

P of N rows are positive, every order of the labels is equally likely, and the scores stay as they
are. Row x of the ranking is the j-th positive with the probability ``P(X_j = x)`` of the negative
hypergeometric distribution. If so, the tie that ends at row N_g is expected to have
``j + (N_g - x) (P - j) / (N - x)`` positives up to its end; divided by N_g that is its precision.
The j-th positive takes the recalls from ``(j - 1) / P`` to ``j / P``, of which ``w_j`` lie in the
range. So the expected area is

    sum over x and j of w_j P(X_j = x) (j + (N_g - x) (P - j) / (N - x)) / N_g

over the rows of all ties within the top. Over all recalls it is the closed formula of
:mod:`frame_prc._inference.chance`. For weighted rows and calibrated areas we know no such formula:
there a random order has the prevalence at every recall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import polars as pl

from frame_prc._curves.areas import AreaSpec
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import RANDOM, RANDOM_SHORTFALL, random_areas
from frame_prc._formulas import exact_sum, harmonic, rounding
from frame_prc._lazy import in_python, left_join, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import (
    TIES,
    has_tied_rows,
    retrieved_at_ties,
    running,
    tied_rows,
)

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


# --- of a part of the area ---------------------------------------------------------------------

# Counts may stand for any number of rows; of more, the exact sum would not fit in memory.
_MOST_ROWS = 10_000_000

_X, _END, _TOTAL_POS, _TOTAL_NEG = (pl.col(n) for n in ("x", "end", "positives", "negatives"))


def with_partial_chance(
    table: pl.LazyFrame, ranking: Ranking, spec: AreaSpec, on: Sequence[str]
) -> pl.LazyFrame:
    """Add the expected step area of a random order to a table of areas."""
    is_calibrated = REFERENCE in table.collect_schema()
    n, n_pos = pl.col("n"), pl.col("n_pos")
    if ranking.rows.columns.weighted or is_calibrated:
        found = _ties(ranking, spec).group_by("segment").agg(expected=_END.max())
        precision = pl.col(REFERENCE) if is_calibrated else n_pos / n
        area = _covered(pl.col("expected") / n, spec) * precision
    else:
        found, area = _expected(ranking, spec), pl.col("expected")
    low, high = spec.recall_range or (0.0, 1.0)
    most = pl.lit(high - low if spec.standardised else 1.0)
    if spec.top is not None and spec.top.normaliser == "attainable":
        most = most * (pl.min_horizontal(n_pos, pl.lit(spec.top.count)) / n_pos)
    # Of a segment without an end of a tie in reach, nothing is retrieved.
    found = segment_join(ranking.segments.table.select("segment"), found)
    keyed = found if "segment" in on else ranking.segments.with_keys(found)
    joined = left_join(table, keyed, on)
    share = (area.fill_null(0.0) / most).clip(upper_bound=1.0)
    is_known = n_pos > 0 if not is_calibrated else (n_pos > 0) & (n_pos < n)
    if "method" in table.collect_schema():
        is_known &= pl.col("method") == "step"
    return joined.with_columns(pl.when(is_known).then(share).alias(RANDOM)).drop("expected")


def _expected(ranking: Ranking, spec: AreaSpec) -> pl.LazyFrame:
    """Return ``segment, expected`` of rows that count as one."""
    ties = _ties(ranking, spec)
    schema = {"segment": ties.collect_schema()["segment"], "expected": pl.Float64()}
    return in_python(
        ties,
        lambda read: _of_segments(read, spec),
        pl.Schema(schema),
        in_memory=ranking.rows.in_memory,
    )


def _covered(reach: pl.Expr, spec: AreaSpec) -> pl.Expr:
    """Return how much of the range a random order covers that retrieves a share of all rows."""
    low, high = spec.recall_range or (0.0, 1.0)
    return (reach.clip(upper_bound=high) - low).clip(lower_bound=0.0)


def _ties(ranking: Ranking, spec: AreaSpec) -> pl.LazyFrame:
    """Return ``segment, end, positives, negatives`` of each tie within the top rows."""
    ties = running(ranking, TIES).with_columns(end=pl.col("tp") + pl.col("fp"))
    before = _END.shift(1)  # at the row that opens a segment, it is 0
    ties = ties.with_columns(before=before).filter(ranking.key.retrieved() & ~pl.col("opens"))
    top = spec.top
    if top is not None and top.ties == "expected":
        most = math.floor(top.count)
        ties = ties.filter(pl.col("before") < most).with_columns(_END.clip(upper_bound=most))
    elif top is not None:
        ties = ties.filter(
            top.count * (1 + rounding(weighted=ranking.rows.columns.weighted)) >= _END
        )
    return ties.select("segment", "positives", "negatives", "end").filter(_END > 0)


def _of_segments(ties: pl.DataFrame, spec: AreaSpec) -> pl.DataFrame:
    """Return ``segment`` and the area that is ``expected`` in it."""
    segments = ties.partition_by("segment", maintain_order=True)
    expected = [_RandomOrder(own, spec.recall_range or (0.0, 1.0)).area() for own in segments]
    found = ties.select(pl.col("segment").unique(maintain_order=True))
    return found.with_columns(expected=pl.Series(expected, dtype=pl.Float64))


@dataclass(frozen=True)
class _RandomOrder:
    """A random order of the labels of a segment; ``ties`` has the last row of each of its ties."""

    ties: pl.DataFrame
    limits: tuple[float, float]

    @cached_property
    def positives(self) -> int:
        """The number of positives, P above."""
        return int(self.ties["positives"][0])

    @cached_property
    def rows(self) -> int:
        """The number of rows, N above."""
        return self.positives + int(self.ties["negatives"][0])

    def area(self) -> float | None:
        """Return the expected area."""
        n, positives, reach = self.rows, self.positives, int(self.ties["end"][-1])
        low, high = self.limits
        if positives == 0:
            return None
        if positives == n or reach > _MOST_ROWS:
            return max(min(reach / n, high) - low, 0.0) * positives / n
        if self.limits == (0.0, 1.0):
            before = pl.col("end").shift(1, fill_value=0)
            shares = self.ties.select(((_END - before) / _END).sum()).item()
            return float((shares * (n - positives) + reach * (positives - 1)) / (n * (n - 1)))
        before = _END.shift(1, fill_value=0)
        every = self.ties.select(_END.repeat_by(_END - before)).explode("end")
        numbered = every.with_row_index("x", offset=1).with_columns(_X.cast(pl.Int64))
        (count_a, mean_a), (count_b, mean_b) = map(self._moments, self.limits)
        count, mean = count_b - count_a, mean_b - mean_a
        # At the last row, nothing is left.
        later = pl.when(n > _X).then((_END - _X) / (n - _X)).otherwise(0.0)
        hits = mean * (1 - later) + count * positives * later
        area: float = numbered.select((hits / _END).sum() / positives).item()
        return max(area, 0.0)

    def _moments(self, recall: float) -> tuple[pl.Expr, pl.Expr]:
        """Return two sums over the positives below a recall: of P(X_j = x), and of j P(X_j = x).

        A positive that only begins below the recall counts with the share of it that does.
        """
        n, positives = self.rows, self.positives
        below = math.floor(recall * positives)
        share = positives / n
        if below >= positives:
            return pl.lit(share), share * (1 + (_X - 1) * ((positives - 1) / max(n - 1, 1)))
        fewer = self._at_most(below - 1, n - 1, positives - 1, _X - 1)
        count = share * fewer
        both = self._at_most(below - 2, n - 2, positives - 2, _X - 2)
        mean = share * (fewer + (_X - 1) * ((positives - 1) / max(n - 1, 1)) * both)
        cut = (recall * positives - below) * share
        at_cut = cut * self._exactly(below, n - 1, positives - 1, _X - 1)
        return count + at_cut, mean + (below + 1) * at_cut

    def _at_most(self, most: int, n: int, positives: int, drawn: pl.Expr) -> pl.Expr:
        """Return the probability of at most so many positives among the first rows of n."""
        if most < 0:
            return pl.lit(0.0)
        if most >= positives:
            return pl.lit(1.0)
        left = pl.when(drawn < n).then((positives - most) / (n - drawn)).otherwise(0.0)
        beyond = self._exactly(most, n, positives, drawn) * left
        return (1 - beyond.cum_sum().shift(1, fill_value=0.0)).clip(0.0, 1.0)

    def _exactly(self, k: int, n: int, positives: int, drawn: pl.Expr) -> pl.Expr:
        """Return the probability of so many positives among the first rows of n."""
        negatives, missed = n - positives, drawn - k
        is_possible = (missed >= 0) & (missed <= negatives) & (drawn <= n)
        if not 0 <= k <= positives:
            return pl.lit(0.0)
        logarithm = (
            self._log_choose(drawn, pl.lit(k))
            + self._log_choose(n - drawn, pl.lit(positives - k))
            - self._log_choose(pl.lit(n), pl.lit(positives))
        )
        return pl.when(is_possible).then(logarithm.exp()).otherwise(0.0)

    def _log_choose(self, n: pl.Expr, k: pl.Expr) -> pl.Expr:
        of_n, of_k, of_others = (
            self._log_factorials.gather(value.clip(0, self.rows)) for value in (n, k, n - k)
        )
        return of_n - of_k - of_others

    @cached_property
    def _log_factorials(self) -> pl.Expr:
        logarithms = [math.lgamma(k + 1) for k in range(self.rows + 1)]
        return pl.lit(pl.Series(logarithms, dtype=pl.Float64))
