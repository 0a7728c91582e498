"""Classes whose weights rest on few heavy rows, such as those of a thinly sampled stratum.

Heavy rows may rank otherwise than the rest. If there are few of them, a variance says little: it
depends on which of them were drawn. Nor does Kish's effective number tell, the square of the sum of
the weights over that of their squares: with three that weigh 30 each, 300 positives still count as
51. What does is how many rows make up the sum of squares: its own square over the sum of the fourth
powers. Sums are written for Polars and Narwhals.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from frame_prc._formulas import FEWEST_TOLD, effective_number, library, rounded_to_digits
from frame_prc._lazy import aggregated
from frame_prc._rows.rows import Rows
from frame_prc._rows.rules import SQUARES, SUMS

# The effective number of rows of each class where few of them are heavy, otherwise null.
OF_HEAVY = ("of_heavy_positives", "of_heavy_negatives")
# By simulation: where fewer rows make up the squares, and Kish's number is more than so many times
# theirs, 95 % intervals covered 81 to 86 %. Without the latter, few rows of lognormal weights would
# be among them, whose intervals cover 93 to 95 %.
_FEW_HEAVY, _MANY_TIMES = 10.0, 8.0
_DIGITS = 9  # the last ones of sums over groups differ between calls


def of_heavy(rows: Rows) -> pl.LazyFrame:
    """Return the keys of each segment, and ``OF_HEAVY``."""
    if rows.elsewhere is not None:
        sums: pl.LazyFrame = rows.elsewhere.sums_of_weights(rows)
    elif rows.has_counts:
        weights = rows.used().select(*rows.keys, *rows.carried(squares=True))
        sums = aggregated(weights, rows.keys, **sums_of_weights(pl.col))
    else:
        sums = _of_plain_rows(rows)
    told = zip(OF_HEAVY, SUMS, SQUARES, strict=True)
    return sums.select(
        *rows.keys,
        **{
            name: told_by_weights(*(pl.col(one) for one in (weight, squares, f"{weight}_fourths")))
            for name, weight, squares in told
        },
    )


def _of_plain_rows(rows: Rows) -> pl.LazyFrame:
    """Return these sums, by class first: three sums over rows in place of six."""
    weight = pl.col("weight") if rows.columns.weighted else pl.lit(1.0)
    powers = rows.used().select(
        *rows.keys, positive=rows.is_positive(), weight=weight, squares=weight * weight
    )
    powers = powers.with_columns(fourths=pl.col("squares") * pl.col("squares"))
    told = ("weight", "squares", "fourths")
    by_class = aggregated(powers, [*rows.keys, "positive"], pl.col(told).sum())
    own = {"pos": pl.col("positive"), "neg": ~pl.col("positive")}
    names = {
        name: pl.col(of).filter(own[weight]).sum()
        for weight, squared in zip(SUMS, SQUARES, strict=True)
        for name, of in zip((weight, squared, f"{weight}_fourths"), told, strict=True)
    }
    return aggregated(by_class, rows.keys, **names)


def sums_of_weights(col: Any) -> dict[str, Any]:
    """Return the sums over rows of weights, and of their squares and fourth powers.

    The weights that were added up in a row count as equal.
    """
    found: dict[str, Any] = {}
    for weight, squared in zip(SUMS, SQUARES, strict=True):
        own = col(weight).cast(library(col(weight)).Float64)
        of_row = library(own).when(own > 0).then(col(squared) / own).otherwise(0.0)
        found |= {
            weight: own.sum(),
            squared: col(squared).sum(),
            f"{weight}_fourths": (col(squared) * of_row * of_row).sum(),
        }
    return found


def told_by_weights(weight: pl.Expr, squares: pl.Expr, fourths: pl.Expr) -> pl.Expr:
    """Return the effective number of rows where few are heavy, otherwise null."""
    number, heavy = effective_number(weight, squares), effective_number(squares, fourths)
    few = (heavy < _FEW_HEAVY) & (number > _MANY_TIMES * heavy)
    told: pl.Expr = rounded_to_digits(heavy.clip(lower_bound=FEWEST_TOLD), _DIGITS)
    return pl.when(few).then(told)
