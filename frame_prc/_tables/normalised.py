"""Areas on scales where 1 is perfect, and 0 is the worst possible area or that of a random order.

Long expressions that are used several times get a column, since Polars plans each use anew.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import RANDOM, RANDOM_SHORTFALL
from frame_prc._formulas import ASYMPTOTIC, BERNOULLI, minus_log1p

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
