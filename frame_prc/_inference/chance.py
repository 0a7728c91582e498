"""The average precision that a random order of the labels is expected to have.

P of N rows are positive. Every order of the labels is equally likely, and the scores stay as they
are. On average, a tie of n_g rows at a score that N_g rows reach adds
``n_g / N_g * (1 / N + (N_g - 1) (P - 1) / (N (N - 1)))``: a positive in it is retrieved with itself
and a share ``(P - 1) / (N - 1)`` of the others. With S the sum of ``n_g / N_g`` over the ties and R
the number of rows that are ever retrieved, the expectation is

    (S (N - P) + R (P - 1)) / (N (N - 1))

where nothing cancels. If no rows are tied, S is ``1 + 1/2 + ... + 1/R``, and it is the formula of
Bestgen 2015 ("Exact expected average precision of the random baseline for system evaluation").

Long expressions that are used several times get a column, since Polars plans each use anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, AreaSpec
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import RANDOM, RANDOM_SHORTFALL, random_areas
from frame_prc._formulas import (
    ASYMPTOTIC,
    BERNOULLI,
    exact_parts,
    exact_sum,
    harmonic,
    minus_log1p,
    rounding,
)
from frame_prc._lazy import left_join, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import TIES, may_have_ties, retrieved_at_ties, running

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_SHARES, _RETRIEVED = pl.col("tie_shares"), pl.col("retrieved")


def with_random(table: pl.LazyFrame, ranking: Ranking, on: Sequence[str]) -> pl.LazyFrame:
    """Add the average precision of a random order of the labels, and 1 minus it."""
    n = _POSITIVES + _NEGATIVES
    if ranking.rows.columns.weighted:
        return table.with_columns(_defined(_POSITIVES / n, _NEGATIVES / n))
    areas = random_areas(_POSITIVES, _NEGATIVES, _SHARES, _RETRIEVED)
    if ranking.tie_shares is None and not (ranking.carried or may_have_ties(ranking)):
        joined = table.with_columns(retrieved=n, tie_shares=harmonic(n))
    else:
        shares = ranking.tie_shares
        if shares is None:
            make = partial(_shares_of_ties, ranking)
            shares = ranking.rows.keep_table(("ties", ranking.key), make)
        keyed = shares if "segment" in on else ranking.segments.with_keys(shares)
        joined = left_join(table, keyed, on)
    return joined.with_columns(_defined(*areas.values())).drop("tie_shares", "retrieved")


def _defined(area: pl.Expr, shortfall: pl.Expr) -> list[pl.Expr]:
    named = {RANDOM: area, RANDOM_SHORTFALL: shortfall}
    return [pl.when(_POSITIVES > 0).then(value).alias(name) for name, value in named.items()]


def _shares_of_ties(ranking: Ranking) -> pl.LazyFrame:
    """Return ``segment, tie_shares, retrieved``: S and R of the formula above."""
    # No row is retrieved yet where a segment opens, or at the highest bins if they are empty.
    share = pl.when(_RETRIEVED > 0).then(_RETRIEVED.diff() / _RETRIEVED)
    parts = dict(zip(("coarse", "fine"), exact_parts(pl.col("share")), strict=True))
    shares = retrieved_at_ties(ranking).with_columns(share=share).with_columns(**parts)
    found = shares.group_by("segment").agg(pl.col(*parts).sum(), _RETRIEVED.max())
    summed = ranking.rows.windowed(found)
    return summed.select("segment", "retrieved", tie_shares=pl.sum_horizontal(*parts))


# --- of a part of the area ---------------------------------------------------------------------

_END, _BEFORE = pl.col("end"), pl.col("before")


def with_partial_chance(
    table: pl.LazyFrame, ranking: Ranking, spec: AreaSpec, on: Sequence[str]
) -> pl.LazyFrame:
    """Add the expected step area of a random order to a table of areas.

    Over all recalls it is the formula above, for the ties within the top rows. Otherwise, and for
    weighted rows and calibrated areas, it is the prevalence at every recall.
    """
    is_calibrated = REFERENCE in table.collect_schema()
    n, n_pos, reach = pl.col("n"), pl.col("n_pos"), pl.col("reach")
    low, high = spec.recall_range or (0.0, 1.0)
    if ranking.rows.columns.weighted or is_calibrated or (low, high) != (0.0, 1.0):
        covered = ((reach / n).clip(upper_bound=high) - low).clip(lower_bound=0.0)
        area = covered * (pl.col(REFERENCE) if is_calibrated else n_pos / n)
    else:
        area = random_areas(n_pos, n - n_pos, _SHARES, reach)[RANDOM]
    most = pl.lit(high - low if spec.standardised else 1.0)
    if spec.top is not None and spec.top.normaliser == "attainable":
        most = most * (pl.min_horizontal(n_pos, pl.lit(spec.top.count)) / n_pos)
    share = exact_sum((_END - _BEFORE) / _END).alias("tie_shares")
    found = _ties(ranking, spec).group_by("segment").agg(share, reach=_END.max())
    # Of a segment without an end of a tie in reach, nothing is retrieved.
    found = segment_join(ranking.segments.table.select("segment"), found)
    keyed = found if "segment" in on else ranking.segments.with_keys(found)
    is_known = n_pos > 0 if not is_calibrated else (n_pos > 0) & (n_pos < n)
    if "method" in table.collect_schema():
        is_known &= pl.col("method") == "step"
    value = pl.when(is_known).then((area.fill_null(0.0) / most).clip(upper_bound=1.0))
    return left_join(table, keyed, on).with_columns(value.alias(RANDOM)).drop("tie_shares", "reach")


def _ties(ranking: Ranking, spec: AreaSpec) -> pl.LazyFrame:
    """Return ``segment, before, end`` of each tie within the top rows: the rows retrieved."""
    ties = running(ranking, TIES).with_columns(end=pl.col("tp") + pl.col("fp"))
    ties = ties.with_columns(before=_END.shift(1))  # at the row that opens a segment, it is 0
    ties, top = ties.filter(ranking.retrieved() & ~pl.col("opens")), spec.top
    if top is not None and top.ties == "expected":
        most = math.floor(top.count)
        ties = ties.filter(most > _BEFORE).with_columns(_END.clip(upper_bound=most))
    elif top is not None:
        most_rows = top.count * (1 + rounding(weighted=ranking.rows.columns.weighted))
        ties = ties.filter(most_rows >= _END)
    return ties.select("segment", "before", "end").filter(_END > 0)


# --- areas on scales where 1 is perfect --------------------------------------------------------

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


def with_lift(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add the average precision divided by that of a random order, and corrected for it."""
    corrected = _rescaled(AVERAGE_PRECISION, "shortfall", RANDOM, RANDOM_SHORTFALL)
    return table.with_columns(
        lift=pl.when(pl.col(RANDOM) > 0).then(pl.col(AVERAGE_PRECISION) / pl.col(RANDOM)),
        chance_corrected_average_precision=pl.when(pl.col(RANDOM_SHORTFALL) > 0).then(corrected),
    )


def with_normalised(table: pl.LazyFrame, *, of: Collection[str], weighted: bool) -> pl.LazyFrame:
    """Add normalised areas of segments, null if they lack a class."""
    # The worst order of weighted rows has no closed form, but none is below the worst curve.
    by_order = AVERAGE_PRECISION in of and not weighted
    worst = _with_worst_order(table) if by_order else table
    if "interpolated" in of or not by_order:
        worst = _with_worst_curve(worst, _NEGATIVES, "curve")
    found = {
        AVERAGE_PRECISION: ("shortfall", "order" if by_order else "curve"),
        "interpolated": ("interpolated_shortfall", "curve"),
    }
    return worst.with_columns(_normalised(area, *found[area]) for area in of)


def _normalised(area: str, shortfall: str, worst: str) -> pl.Expr:
    value = _rescaled(area, shortfall, f"{worst}_area", f"{worst}_shortfall")
    return pl.when((_POSITIVES > 0) & (_NEGATIVES > 0)).then(value).alias(f"normalised_{area}")


def _rescaled(area: str, shortfall: str, zero: str, zero_shortfall: str) -> pl.Expr:
    """Return an area on the scale where ``zero`` is 0 and 1 stays 1.

    It is computed from the area or from its shortfall, whichever is smaller: ``zero`` is close to 1
    if nearly all rows are positive.
    """
    from_area = (pl.col(area) - pl.col(zero)) / pl.col(zero_shortfall)
    from_shortfall = 1 - pl.col(shortfall) / pl.col(zero_shortfall)
    return pl.when(pl.col(area) < 0.5).then(from_area).otherwise(from_shortfall)  # noqa: PLR2004


def _with_worst_curve(table: pl.LazyFrame, negatives: pl.Expr, name: str) -> pl.LazyFrame:
    """Add the area under the worst curve with ``negatives``, and its shortfall.

    At prevalence pi, the area under a curve is at least ``1 + (1 - pi) / pi * log(1 - pi)`` (Boyd
    et al. 2012, arXiv 1206.4667). It is written so that nothing cancels if positives are rare.
    """
    odds = pl.col(f"{name}_odds")
    area, shortfall = minus_log1p(odds) / odds, odds.log1p() / odds
    return table.with_columns((_POSITIVES / negatives).alias(f"{name}_odds")).with_columns(
        area.alias(f"{name}_area"), shortfall.alias(f"{name}_shortfall")
    )


def _with_worst_order(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add the average precision if all negatives rank above all positives, without ties.

    It is ``sum(i / (i + N) for i in 1..P) / P`` (Boyd et al. 2012), a difference of two harmonic
    numbers. With 16 or more negatives their asymptotic series gives it to 1e-14; with fewer it is
    the result for 16 more negatives, minus the terms that these add.
    """
    p, n, many = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64), pl.col("many")
    total, is_many = many + p, n >= ASYMPTOTIC
    terms = (
        coefficient * (total ** (-2 * k) - many ** (-2 * k))
        for k, coefficient in enumerate(BERNOULLI, start=1)
    )
    steps = 0.5 / total + many / p * sum(terms, pl.lit(0.0))
    added = sum((1 / ((n + j) * (n + p + j)) for j in range(1, ASYMPTOTIC + 1)), pl.lit(0.0))
    area, shortfall = pl.col("order_area"), pl.col("order_shortfall")
    counted = table.with_columns(many=pl.when(is_many).then(n).otherwise(n + ASYMPTOTIC))
    return (
        _with_worst_curve(counted, many, "order")
        .with_columns(steps=steps)
        .with_columns(
            order_area=area + pl.col("steps"), order_shortfall=shortfall - pl.col("steps")
        )
        .with_columns(
            order_shortfall=pl.when(is_many)
            .then(shortfall)
            .otherwise(n / many * shortfall + n * added)
        )
        .with_columns(order_area=pl.when(is_many).then(area).otherwise(1 - shortfall))
    )
