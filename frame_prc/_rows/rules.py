"""The rules that rows must keep, each written once for the expressions of Polars and Narwhals.

A rule is about one row: whether it is broken there, and the error that says so. On Polars
:mod:`frame_prc._rows.checks` counts the rows that break a rule, and lists their values; inside
another engine the first such row fails. Both make the error from the same function, which takes the
rows and the values as text. The values stand at the end of ``what``, so that an engine can add
its value to the text when it meets the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Generic

from frame_prc._formulas import ExprT, library, without_nan
from frame_prc._request.thresholds import Bins
from frame_prc._rows.columns import Column, Columns
from frame_prc.exceptions import DataError, shown

# A hundred times a total must fit Int64: the 101 recalls of an area are compared exactly.
COUNT_LIMIT = 2.0**56
# Between these limits squares and quotients of sums of weights neither overflow nor lose digits.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-150, 1e150
# Sums of many Float32 may exceed 1 by rounding, and the next Float16 after 1 is 1.001.
HIGHEST_PROBABILITY = 1.001

_DROP = "missing='drop' leaves such rows out"
_UNRETRIEVED = "missing='unretrieved' keeps rows without a score in the totals, as never retrieved"
_COMMON_FACTOR = "divide all by a common factor; no ratio changes"


@dataclass(frozen=True)
class Rule(Generic[ExprT]):
    """A rule that every row must keep.

    Parameters
    ----------
    broken
        Whether a row breaks it.
    error
        From the rows that break it and their values, both as text, to the error.
    value
        The value of a row that the error shows, if any.
    """

    broken: ExprT
    error: Callable[[str, str], DataError]
    value: ExprT | None = None


# --- weights and counts ------------------------------------------------------------------------


def amount_rules(role: str, column: Column, amount: ExprT) -> list[Rule[ExprT]]:
    """Return the rules of a weight or count: valid, below the limit of a total, and not tiny."""
    makers = [_valid, _below_limit, *([_not_tiny] if column.dtype.is_float() else [])]
    return [make(role, column, amount) for make in makers]


def _valid(role: str, column: Column, amount: ExprT) -> Rule[ExprT]:
    broken = amount < 0
    if column.dtype.is_float():
        broken = broken | ~amount.is_finite()

    def error(rows: str, values: str) -> DataError:
        return DataError(
            f"{role}= column {column.name!r} has {rows} with {values}",
            "finite numbers that are zero or more",
            "a weight of 0 leaves a row out" if role == "weight" else None,
        )

    return Rule(broken, error, amount)


def _below_limit(role: str, column: Column, amount: ExprT) -> Rule[ExprT]:
    limit, _ = amount_limit(role, column)

    def error(rows: str, values: str) -> DataError:
        return over_limit(role, column, f"has {rows} with {values}")

    return Rule(_as_float(amount) >= limit, error, amount)


def _not_tiny(role: str, column: Column, amount: ExprT) -> Rule[ExprT]:
    smallest = SMALLEST_WEIGHT ** _power(role)
    as_float = _as_float(amount)

    def error(rows: str, values: str) -> DataError:
        return DataError(
            f"{role}= column {column.name!r} has {rows} with {values}",
            f"0, or numbers of at least {smallest:g}",
            _COMMON_FACTOR,
        )

    return Rule((as_float > 0) & (as_float < smallest), error, amount)


def over_limit(role: str, column: Column, what: str) -> DataError:
    """Return the error of amounts whose total reaches its limit."""
    limit, digits = amount_limit(role, column)
    return DataError(
        f"{role}= column {column.name!r} {what}",
        f"a total below {limit:{digits}}",
        _COMMON_FACTOR,
    )


def amount_limit(role: str, column: Column) -> tuple[float, str]:
    """Return what a total of amounts must stay below, and the format of totals in errors."""
    is_count = column.dtype.is_integer() and role != "weight"
    return (COUNT_LIMIT, ",.0f") if is_count else (LARGEST_WEIGHT ** _power(role), ".6g")


def squares_rule(role: str, columns: dict[str, Column], col: Callable[[str], ExprT]) -> Rule[ExprT]:
    """Return the rule that sums of weights and of their squares are possible together."""
    squares = f"{role}_squares"
    amount, square = _as_float(col(role)), _as_float(col(squares))
    # Sums of squares are rounded, as the square of a single weight is.
    broken = ((amount > 0) != (square > 0)) | (square > amount * amount * (1 + 1e-9))

    def error(rows: str, _: str) -> DataError:
        return DataError(
            f"{squares}= column {columns[squares].name!r} has {rows} that cannot be sums of "
            f"squares of the weights in {role}= column {columns[role].name!r}",
            "above 0 where the sum is, and at most its square",
            "counts(..., squares=True) makes both",
            shell_hint="frame-prc counts --squares makes both",
        )

    return Rule(broken, error)


def _power(role: str) -> int:
    return 2 if role.endswith("_squares") else 1


def _as_float(amount: ExprT) -> ExprT:
    as_float: ExprT = amount.cast(library(amount).Float64)
    return as_float


# --- truths ------------------------------------------------------------------------------------


def binary_rule(column: Column, truth: ExprT, hint: str | None = None) -> Rule[ExprT]:
    """Return the rule that numeric truth without ``pos_label=`` is 0 or 1."""
    known = without_nan(truth, column.dtype)

    def error(rows: str, values: str) -> DataError:
        return not_binary(column, rows, values, hint, hint)

    return Rule((known != 0) & (known != 1), error, known)


def not_binary(
    column: Column, rows: str, values: str, hint: str | None, shell_hint: str | None
) -> DataError:
    """Return the error of numeric truth other than 0 and 1, with hints where a label can help."""
    return DataError(
        f"truth= column {column.name!r} has {rows} outside 0 and 1: {values}",
        "Boolean, or 0/1 numbers" + (", or any dtype with pos_label=" if hint else ""),
        hint,
        shell_hint=shell_hint,
    )


def absent_label(column: Column, label: object, values: str, hint: str | None = None) -> DataError:
    """Return the error of a ``pos_label=`` that does not occur."""
    return DataError(
        f"pos_label={shown(label)} is nowhere in truth= column {column.name!r}, "
        f"which holds {values}",
        "a value that occurs",
        hint,
        shell_hint=None,
    )


# --- scores in bins ----------------------------------------------------------------------------


def bin_rules(
    columns: Columns, bins: Bins, col: Callable[[str], ExprT], *, covering: bool
) -> list[Rule[ExprT]]:
    """Return the rules of scores that are to be in bins, each of one model."""
    scored = zip(columns.scores, _scores_in_use(columns, col), strict=True)
    if bins.of_probabilities:
        return [_probability_rule(*item) for item in scored]
    lowest = bins.thresholds[0]
    return [_covering_rule(*item, lowest) for item in scored] if covering else []


def _probability_rule(column: Column, score: ExprT) -> Rule[ExprT]:
    def error(rows: str, values: str) -> DataError:
        return DataError(
            f"score= column {column.name!r} has {rows} outside 0 to 1: {values}",
            "probabilities where thresholds= is a number, equally spaced from 0 to 1",
            "quantile_thresholds finds a list of thresholds, or begin one with float('-inf')",
            shell_hint="list them, beginning with -inf, as in --thresholds -inf,-1,0,1",
        )

    return Rule(is_improbable(score), error, score)


def is_improbable(score: ExprT) -> ExprT:
    """Return whether a score, as Float64, is not a probability, even one rounded up."""
    return (score < 0.0) | (score > HIGHEST_PROBABILITY)


def _covering_rule(column: Column, score: ExprT, lowest: float) -> Rule[ExprT]:
    def error(rows: str, values: str) -> DataError:
        return DataError(
            f"score= column {column.name!r} has {rows} below the lowest threshold {lowest!r}: "
            f"{values}",
            "thresholds that cover the scores",
            "begin the thresholds with float('-inf'), or let quantile_thresholds find them",
            shell_hint="begin them with -inf, as in --thresholds -inf,0.1,0.5",
        )

    return Rule(score < lowest, error, score)


def _scores_in_use(columns: Columns, col: Callable[[str], ExprT]) -> list[ExprT]:
    """Return the scores as Float64; null in rows that are left out for a missing class."""
    missing = reduce(or_, (is_missing(role, c, col(role)) for role, c in columns.classes.items()))
    known = library(missing).when(~missing)
    return [
        known.then(_as_float(without_nan(col(f"score_{i}"), column.dtype)))
        for i, column in enumerate(columns.scores)
    ]


# --- missing values ----------------------------------------------------------------------------


def required_columns(columns: Columns) -> tuple[dict[str, Column], str]:
    """Return the columns in which a missing value is an error, and the hint of that error."""
    scores = {f"score_{i}": score for i, score in enumerate(columns.scores)}
    required: dict[str, tuple[dict[str, Column], str]] = {
        "raise": ({**columns.classes, **scores}, f"{_DROP}; {_UNRETRIEVED}"),
        "unretrieved": (columns.classes, _DROP),
        "drop": ({}, ""),
    }
    return required[columns.request.missing]


def required_rule(role: str, column: Column, value: ExprT, hint: str) -> Rule[ExprT]:
    """Return the rule that a column has no missing value."""

    def error(rows: str, _: str) -> DataError:
        return missing_values([missing_rows(role, column, rows)], hint)

    return Rule(is_missing(role, column, value), error)


def missing_values(columns: list[str], hint: str) -> DataError:
    """Return the error of columns with missing values, each described by ``missing_rows``."""
    return DataError(
        f"values are missing: {', '.join(columns)}", "no null, and no NaN in truth or score", hint
    )


def missing_rows(role: str, column: Column, rows: str) -> str:
    """Return how an error says that rows of a column are missing."""
    return (
        f"{column.name!r} has {rows} with {'null or NaN' if may_be_nan(role, column) else 'null'}"
    )


def is_missing(role: str, column: Column, value: ExprT) -> ExprT:
    """Return whether a value is null, or NaN where that stands for a missing value."""
    null = value.is_null()
    return null | value.is_nan() if may_be_nan(role, column) else null


def may_be_nan(role: str, column: Column) -> bool:
    """Return whether NaN in a column is a missing value; in a weight or count it is invalid."""
    amounts = ("weight", "pos", "neg", "pos_squares", "neg_squares")
    return column.dtype.is_float() and role not in amounts
