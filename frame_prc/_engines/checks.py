"""Checks inside an engine: the rules that Polars frames are held to, as texts to fail with."""

from __future__ import annotations

from collections.abc import Iterator

import narwhals as nw
import polars as pl

from frame_prc._engines.engine import Frame
from frame_prc._formulas import without_nan
from frame_prc._request.thresholds import Bins
from frame_prc._rows.columns import Columns
from frame_prc._rows.rules import (
    SUMS,
    Rule,
    absent_label,
    amount_rules,
    bin_rules,
    binary_rule,
    is_positive,
    required_rules,
    squares_rule,
)
from frame_prc.exceptions import DataError, message


def row_problem(columns: Columns, bins: Bins | None, *, covering: bool) -> nw.Expr:
    """Return the error of the first rule that a row breaks, as text, or null."""
    rules = [*_rules(columns)]
    if bins is not None:
        rules += bin_rules(columns, bins, nw.col, covering=covering)
    problem = nw.lit(None, nw.String)
    for rule in reversed(rules):
        text = _text(rule.error("a row"), rule.value)
        problem = nw.when(rule.broken).then(text).otherwise(problem)
    return problem


def label_problem(source: Frame, columns: Columns) -> Frame | None:
    """Return one row: the error of a ``pos_label=`` that does not occur, as text, or null."""
    label = columns.request.pos_label
    if label is None:
        return None
    column = columns.classes["truth"]
    truth = without_nan(nw.col("truth"), column.dtype)
    totals = source.select(
        found=is_positive(columns, nw.col("truth")).cast(nw.Int64).sum(),
        low=truth.min(),
        high=truth.max(),
    )
    low, high = (nw.col(name).cast(nw.String) for name in ("low", "high"))
    error = absent_label(column, label, "values from ")
    text = _text(error, nw.concat_str([low, nw.lit(" to "), high]))
    absent = (nw.col("found") == 0) & ~nw.col("low").is_null()
    return totals.select(problem=nw.when(absent).then(text))


def _rules(columns: Columns) -> Iterator[Rule[nw.Expr]]:
    """Yield the rules of a row; the first that it breaks is the error."""
    for role, column in columns.classes.items():
        if role != "truth":
            yield from amount_rules(role, column, nw.col(role))
    truth = columns.classes.get("truth")
    if truth and columns.request.pos_label is None and truth.dtype != pl.Boolean:
        swapped = "; or are truth= and score= swapped?" if truth.dtype.is_float() else ""
        hint = f"name the positive class with pos_label={swapped}"
        yield binary_rule(truth, nw.col("truth"), hint)
    yield from required_rules(columns, nw.col)
    if columns.with_squares:
        for role in SUMS:
            yield squares_rule(role, columns.classes, nw.col)


def _text(error: DataError, value: nw.Expr | None) -> nw.Expr:
    """Return the text of an error that shows a value at the end of ``what``."""
    if value is None:
        return nw.lit(str(error))
    rest = message("", error.allowed, error.hint)
    return nw.concat_str([nw.lit(error.what), value.cast(nw.String), nw.lit(rest)])
