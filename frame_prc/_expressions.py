"""Formulas for two libraries of expressions: Polars, and Narwhals, which has the same names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

if TYPE_CHECKING:
    import narwhals as nw

ExprT = TypeVar("ExprT", pl.Expr, "nw.Expr")


def library(expression: object) -> Any:
    """Return the library an expression is of, for its ``when`` and ``lit``."""
    return sys.modules[type(expression).__module__.partition(".")[0]]
