"""The rules that rows must keep, each written once for the expressions of Polars and Narwhals.

:mod:`frame_prc._rows.checks` counts the rows that break one; inside an engine the first such row
fails. Values stand at the end of ``what``, where an engine adds that of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from types import EllipsisType
from typing import Generic

import polars as pl

from frame_prc._formulas import ExprT, library, without_nan
from frame_prc._request.values import Bins, literal, may_be_rounded
from frame_prc._rows.columns import Column, Columns, is_whole, role_name
from frame_prc.exceptions import DataError, shown

SUMS, SQUARES = ("pos", "neg"), ("pos_squares", "neg_squares")

# A hundred times a total must fit Int64: the 101 recalls of an area are compared exactly.
COUNT_LIMIT = 2.0**56
# Between these limits no fourth power or quotient of sums of weights overflows or loses digits.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-70, 1e70
# Sums of many Float32 may exceed 1 by rounding, and the next Float16 after 1 is 1.001.
HIGHEST_PROBABILITY = 1.001

MISSING = "values are missing: "
_DROP = "missing='drop' leaves such rows out"
_UNRETRIEVED = "missing='unretrieved' keeps rows without a score in the totals, as never retrieved"
_COMMON_FACTOR = "divide all by a common factor; no ratio changes"


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[ExprT]):
    """A rule of rows; its error has words before and after their number, and then the ``value``."""

    broken: ExprT
    value: ExprT | None = None
    subject: str
    complaint: str
    allowed: str
    hint: str | None = None
    shell_hint: str | EllipsisType | None = ...

    def error(self, rows: str, values: str = "") -> DataError:
        return DataError(
            f"{self.subject} has {rows} {self.complaint}{values}",
            self.allowed,
            self.hint,
            shell_hint=self.shell_hint,
        )


def counted(number: int, what: str = "row") -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# --- weights and counts ------------------------------------------------------------------------


def amount_rules(role: str, column: Column, amount: ExprT) -> list[Rule[ExprT]]:
    """Return the rules of a weight or count: valid, below the limit of a total, and not tiny."""
    negative, as_float, is_float = amount < 0, _as_float(amount), column.dtype.is_float()
    (limit, digits), smallest = amount_limit(role, column), SMALLEST_WEIGHT ** _power(role)
    left_out = "a weight of 0 leaves a row out" if role == "weight" else None
    broken: list[tuple[ExprT, str, str | None]] = [
        (
            negative | ~amount.is_finite() if is_float else negative,
            "finite numbers that are zero or more",
            left_out,
        ),
        (as_float >= limit, f"a total below {limit:{digits}}", _COMMON_FACTOR),
    ]
    if is_float:
        tiny = (as_float > 0) & (as_float < smallest)
        broken.append((tiny, f"0, or numbers of at least {smallest:g}", _COMMON_FACTOR))
    words = {"subject": role_name(role, column), "complaint": "with "}
    return [
        Rule(broken=one, value=amount, allowed=allowed, hint=hint, **words)
        for one, allowed, hint in broken
    ]


def amount_limit(role: str, column: Column) -> tuple[float, str]:
    """Return what a total of amounts must stay below, and the format of totals in errors."""
    is_count = is_whole(column.dtype) and role != "weight"
    return (COUNT_LIMIT, ",.0f") if is_count else (LARGEST_WEIGHT ** _power(role), ".6g")


def squares_rules(columns: Columns, col: Callable[[str], ExprT]) -> list[Rule[ExprT]]:
    """Return the rules that sums of weights and of their squares are possible together."""
    if not columns.with_squares:
        return []
    found = []
    for role, squares in zip(SUMS, SQUARES, strict=True):
        amount, square = _as_float(col(role)), _as_float(col(squares))
        sums = role_name(role, columns.classes[role])
        # Sums of squares are rounded, as the square of a single weight is.
        too_large = square > amount * amount * (1 + 1e-9)
        rule = Rule(
            broken=((amount > 0) != (square > 0)) | too_large,
            subject=role_name(squares, columns.classes[squares]),
            complaint=f"that cannot be sums of squares of the weights in {sums}",
            allowed="above 0 where the sum is, and at most its square",
            hint="counts(..., squares=True) makes both",
        )
        found.append(rule)
    return found


def _power(role: str) -> int:
    return 2 if role.endswith("_squares") else 1


def _as_float(amount: ExprT) -> ExprT:
    as_float: ExprT = amount.cast(library(amount).Float64)
    return as_float


# --- truths ------------------------------------------------------------------------------------


def is_positive(columns: Columns, truth: ExprT) -> ExprT:
    column, label = columns.classes["truth"], columns.positive_class
    known = without_nan(truth, column.dtype)
    if label is not None:
        is_label: ExprT = known == (literal(label) if isinstance(known, pl.Expr) else label.item())
        return is_label
    return known if column.dtype == pl.Boolean else known == 1


def binary_rule(column: Column, truth: ExprT, hint: str | None = None) -> Rule[ExprT]:
    known = without_nan(truth, column.dtype)
    return Rule(
        broken=(known != 0) & (known != 1),
        value=known,
        subject=role_name("truth", column),
        complaint="outside 0 and 1: ",
        allowed="Boolean, or 0/1 numbers" + (", or any dtype with pos_label=" if hint else ""),
        hint=hint,
    )


def absent_label(column: Column, label: object, values: str, hint: str | None = None) -> DataError:
    what = f"pos_label={shown(label)} is nowhere in {role_name('truth', column)}"
    return DataError(f"{what}, which holds {values}", "a value that occurs", hint, shell_hint=None)


# --- scores in bins ----------------------------------------------------------------------------


def bin_rules(columns: Columns, bins: Bins, col: Callable[[str], ExprT]) -> list[Rule[ExprT]]:
    if not bins.of_probabilities:
        return []
    return [
        replace(
            rule,
            allowed="probabilities where thresholds= is a number, equally spaced from 0 to 1",
            hint="quantile_thresholds finds a list of thresholds, or begin one with float('-inf')",
            shell_hint="list them, beginning with -inf, as in --thresholds -inf,-1,0,1",
        )
        for rule in probability_rules(columns, col)
    ]


def probability_rules(
    columns: Columns, col: Callable[[str], ExprT], measure: str = ""
) -> list[Rule[ExprT]]:
    return [
        Rule(
            broken=is_improbable(score),
            value=score,
            subject=role_name("score", column),
            complaint="outside 0 to 1: ",
            allowed=f"probabilities of the positive class for {measure!r}",
            hint="roc_auc and average_precision take any scores",
        )
        for column, score in zip(columns.scores, _scores_in_use(columns, col), strict=True)
    ]


def is_improbable(score: ExprT) -> ExprT:
    """Return whether a score, as Float64, is not a probability, even one rounded up."""
    return (score < 0.0) | (score > HIGHEST_PROBABILITY)


def _scores_in_use(columns: Columns, col: Callable[[str], ExprT]) -> list[ExprT]:
    """Return the scores as Float64; null in rows that are left out for a missing class."""
    missing = reduce(or_, (is_missing(role, c, col(role)) for role, c in columns.classes.items()))
    known = library(missing).when(~missing)
    return [
        known.then(_as_float(without_nan(col(f"score_{i}"), column.dtype)))
        for i, column in enumerate(columns.scores)
    ]


# --- scores of several dtypes ------------------------------------------------------------------


def exact_rules(scores: Sequence[Column], col: Callable[[str], ExprT]) -> list[Rule[ExprT]]:
    """Return the rules that scores of several dtypes are not rounded in their common one."""
    if len({score.dtype for score in scores}) == 1:
        return []
    named = ((score, col(f"score_{i}")) for i, score in enumerate(scores))
    return [
        Rule(
            broken=_is_rounded(score, column.dtype),
            value=score,
            subject=role_name("score", column),
            complaint="that Float64, the common dtype of the scores, would round: ",
            allowed="scores of one dtype, or numbers that Float64 holds exactly",
            hint="cast it to floats first, if it may be rounded",
            shell_hint="run the command once for each score",
        )
        for column, score in named
        if may_be_rounded(column.dtype)
    ]


def _is_rounded(score: ExprT, dtype: pl.DataType) -> ExprT:
    as_float = _as_float(score)
    if isinstance(score, pl.Expr):
        return as_float.cast(dtype, strict=False).ne_missing(score)
    # Engines fail where a cast back overflows: what has few enough digits is held exactly.
    limit = 10.0 ** (15 - dtype.scale) if isinstance(dtype, pl.Decimal) else 2.0**53
    is_long: ExprT = as_float.abs() >= limit
    return is_long


# --- missing values ----------------------------------------------------------------------------


def required_rules(columns: Columns, col: Callable[[str], ExprT]) -> list[Rule[ExprT]]:
    missing = columns.request.missing
    classes = {} if missing == "drop" else columns.classes
    rules = [required_rule(role, column, col(role), _DROP) for role, column in classes.items()]
    if missing == "raise":
        hint = f"{_DROP}; {_UNRETRIEVED}"
        scores = {f"score_{i}": score for i, score in enumerate(columns.scores)}
        rules += [required_rule(role, column, col(role), hint) for role, column in scores.items()]
    return rules


def cluster_rules(columns: Columns, col: Callable[[str], ExprT]) -> list[Rule[ExprT]]:
    if columns.cluster is None:
        return []
    hint = "a value that no other row has makes a row a cluster by itself"
    rule = required_rule("cluster", columns.cluster, col("cluster"), hint)
    subject = role_name("cluster", columns.cluster)
    return [replace(rule, subject=subject, allowed="a cluster for each row")]


def required_rule(role: str, column: Column, value: ExprT, hint: str) -> Rule[ExprT]:
    return Rule(
        broken=is_missing(role, column, value),
        subject=f"{MISSING}{column.name!r}",
        complaint="with null or NaN" if may_be_nan(role, column) else "with null",
        allowed="no null, and no NaN in truth or score",
        hint=hint,
    )


def is_missing(role: str, column: Column, value: ExprT) -> ExprT:
    """Return whether a value is null, or NaN where that stands for a missing value."""
    null = value.is_null()
    return null | value.is_nan() if may_be_nan(role, column) else null


def may_be_nan(role: str, column: Column) -> bool:
    """Return whether NaN in a column is a missing value; in a weight or count it is invalid."""
    return column.dtype.is_float() and role not in ("weight", *SUMS, *SQUARES)
