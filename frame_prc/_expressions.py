"""What formulas are written for: expressions of Polars or Narwhals, and arrays where that is all.

Narwhals has the names of Polars, so a formula stands once for both.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

if TYPE_CHECKING:
    import narwhals as nw
    import numpy as np
    from numpy.typing import NDArray

ExprT = TypeVar("ExprT", pl.Expr, "nw.Expr")
# Plain arithmetic also serves arrays: blocks of replicates.
Amounts = TypeVar("Amounts", pl.Expr, "nw.Expr", "NDArray[np.float64]")


# Multiples of its inverse add up exactly, in any order, as long as they stay below 2**13.
_COARSE = 2.0**40


def exact_sum(terms: ExprT) -> ExprT:
    """Return the sum of terms from 0 to 1: the same in any order, to the last digit.

    Added one by one, a million equal terms would each round the same way, and lose five digits.
    """
    coarse = (terms * _COARSE).floor() / _COARSE
    added: ExprT = coarse.sum() + (terms - coarse).sum()
    return added


def addable(lengths: pl.Expr) -> pl.Expr:
    """Round lengths so that they add up exactly, in any order, as long as they make below 2**13."""
    return (lengths * _COARSE).round() / _COARSE


def total(terms: ExprT) -> ExprT:
    """Return the exact sum of terms that make at most 1.

    Where the terms themselves are rounded, as shares of weights are, they may make a little more.
    """
    return exact_sum(terms).clip(upper_bound=1.0)


def unsigned_zero(value: ExprT, dtype: pl.DataType) -> ExprT:
    """Return floats with one zero: of -0.0 and 0.0 a group would keep that of some row."""
    if not dtype.is_float():
        return value
    one: ExprT = library(value).when(value != 0).then(value).otherwise(value.abs())
    return one


def without_nan(value: ExprT, dtype: pl.DataType) -> ExprT:
    """Return a column with null for NaN, where there can be any."""
    return value.fill_nan(None) if dtype.is_float() else value


def library(expression: object) -> Any:
    """Return the library an expression is of, for its ``when`` and ``lit``."""
    return sys.modules[type(expression).__module__.partition(".")[0]]
