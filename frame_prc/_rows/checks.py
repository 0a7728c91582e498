"""Checks of values: invalid data raise one clear error, at collect or, in memory, at the call.

Each check is a few sums over the rows. On a lazy frame all of them together are one row beside the
main plan. A frame that raises if that row says so, and is empty otherwise, joins the rows before
they are put in order: nothing is read before collect, and the engine takes the shared columns to
both sides as it reads them. (Behind the result, where order counts, the engine would hold the rows
back in memory until the row is there.) Where nothing is wrong no Python runs inside the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._formulas import ExprT, without_nan
from frame_prc._lazy import cached, concat
from frame_prc._rows.columns import Column
from frame_prc.exceptions import DataError, shown

Sums = dict[str, Any]

# A hundred times a total must stay in Int64, for the 101 recalls of an area are compared exactly.
COUNT_LIMIT = 2.0**56
# Between these a square and a quotient of sums of weights are numbers, and keep their digits.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-150, 1e150
# Above 1 by no more than this is rounding: of sums of many Float32, or of the next Float16.
HIGHEST_PROBABILITY = 1.001
_BINARY = (0, 1)
_COMMON_FACTOR = "divide all by a common factor; no ratio changes"


@dataclass(frozen=True)
class Check:
    """What must not be in the rows, and the error that says so.

    Parameters
    ----------
    counts
        Aggregates by name, each 0 unless something is wrong.
    details
        Aggregates that the error mentions.
    problem
        From all of these to the error, if there is one.
    suspect
        Which rows to look into; a check without it is about all rows together.
    """

    counts: dict[str, pl.Expr]
    details: dict[str, pl.Expr]
    problem: Callable[[Sums], DataError | None]
    suspect: pl.Expr | None = None


def check(rows: pl.LazyFrame, checks: Sequence[Check]) -> None:
    """Raise the problem of rows in memory, if they have one."""
    if checks:
        _raise_problem(rows.select(**_aggregates(checks)).collect(engine="in-memory"), checks)


def guard(
    frame: pl.LazyFrame, rows: pl.LazyFrame, checks: Sequence[Check], *, in_memory: bool
) -> pl.LazyFrame:
    """Return what rows have become; raise where a check finds a problem, lazily at collect."""
    if in_memory:
        check(rows, checks)
    if in_memory or not checks:
        return frame
    failed = pl.any_horizontal(pl.col(name) != 0 for check in checks for name in check.counts)
    totals = rows.select(**_aggregates(checks)).filter(failed)
    return _refused(frame, totals, lambda found: _raise_problem(found, checks))


def bins_of_counts(counts: pl.LazyFrame, keys: Sequence[str]) -> tuple[pl.LazyFrame, list[Check]]:
    """Return the distinct bins of counts, and the check that none overlap under one key."""
    bins = counts.select(*keys, "threshold", "below").unique()
    bins = bins.drop_nulls(["threshold", "below"]).sort("threshold", "below")
    return bins, [_bins_check(keys)]


def guard_small(
    table: pl.LazyFrame, suspicious: pl.Expr, rows: pl.LazyFrame, checks: Sequence[Check]
) -> pl.LazyFrame:
    """Return a small table of the rows that raises at collect where it is suspicious, and rightly.

    The rows are looked into by a second reading of them, and only then: so that nothing stands
    beside a pass over more rows than fit in memory.
    """
    if not checks:
        return table
    table = cached(table)
    suspected = table.select(suspicious=suspicious.any()).filter("suspicious")
    return _refused(table, suspected, lambda _: check(rows, checks))


def _refused(
    frame: pl.LazyFrame, problems: pl.LazyFrame, refuse: Callable[[pl.DataFrame], None]
) -> pl.LazyFrame:
    """Return a frame below what calls a function if there is a row of problems."""
    schema = frame.collect_schema()

    def answer(found: pl.DataFrame) -> pl.DataFrame:
        refuse(found)
        return pl.DataFrame(schema=schema)

    # Python is called for each group: where there are no problems, it is not.
    gate = problems.with_columns(problem=True).group_by("problem").map_groups(answer, schema)
    return concat([gate, frame])


def suspects(checks: Sequence[Check]) -> pl.Expr:
    """Return whether a row is one to look into."""
    marks = [check.suspect for check in checks if check.suspect is not None]
    return pl.any_horizontal(pl.lit(value=False), *marks)


def _aggregates(checks: Sequence[Check]) -> dict[str, pl.Expr]:
    return {name: a for check in checks for name, a in (check.counts | check.details).items()}


def _raise_problem(sums: pl.DataFrame, checks: Sequence[Check]) -> None:
    found = sums.row(0, named=True)
    for check in checks:
        if problem := check.problem(found):
            raise problem


def amount_check(role: str, column: Column) -> Check:
    """Weights and counts are 0 or more, and neither too small nor in all too large."""
    amount, as_float = pl.col(role), pl.col(role).cast(pl.Float64)
    wrong = (amount < 0) | ~as_float.is_finite()
    power = 2 if role.endswith("_squares") else 1
    is_count = column.dtype.is_integer() and role != "weight"
    largest, digits = (COUNT_LIMIT, ",.0f") if is_count else (LARGEST_WEIGHT**power, ".6g")
    small = (as_float > 0) & (as_float < SMALLEST_WEIGHT**power)
    total = as_float.sum()
    counts = {f"{role} wrong": wrong.sum(), f"{role} too much": (total >= largest).cast(pl.UInt32)}
    details = {f"{role} values": _values(amount, wrong), f"{role} total": total}
    if column.dtype.is_float():
        counts[f"{role} small"] = small.sum()
        details[f"{role} least"] = as_float.filter(small).min()

    def problem(found: Sums) -> DataError | None:
        if count := found[f"{role} wrong"]:
            return DataError(
                f"{role}= column {column.name!r} has {_rows(count)} with "
                f"{_listed(found[f'{role} values'])}",
                "finite numbers that are zero or more",
                "a weight of 0 leaves a row out" if role == "weight" else None,
            )
        if found[f"{role} too much"]:
            return DataError(
                f"{role}= column {column.name!r} adds up to {found[f'{role} total']:{digits}}",
                f"a total below {largest:{digits}}",
                _COMMON_FACTOR,
            )
        if found.get(f"{role} small"):
            return DataError(
                f"{role}= column {column.name!r} has a row with {found[f'{role} least']!r}",
                f"0, or numbers from {SMALLEST_WEIGHT**power:g} on",
                _COMMON_FACTOR,
            )
        return None

    suspect = wrong | (as_float >= largest)
    if column.dtype.is_float():
        suspect = suspect | small
    return Check(counts, details, problem, suspect)


def squares_check(role: str, columns: dict[str, Column]) -> Check:
    """Weights have squares, and squares have weights, whose sum their root cannot exceed."""
    squares = f"{role}_squares"
    amount, square = pl.col(role).cast(pl.Float64), pl.col(squares).cast(pl.Float64)
    # Sums of squares are rounded, as the square of a single weight is.
    wrong = ((amount > 0) != (square > 0)) | (square > amount * amount * (1 + 1e-9))

    def problem(sums: Sums) -> DataError | None:
        if not (count := sums[f"{squares} unlike"]):
            return None
        return DataError(
            f"{squares}= column {columns[squares].name!r} has {_rows(count)} that cannot be sums "
            f"of squared weights where {role}= column {columns[role].name!r} has their sums",
            "above 0 where the sum is, and at most its square",
            "counts(..., squares=True) makes both",
            shell_hint="frame-prc counts --squares makes both",
        )

    return Check({f"{squares} unlike": wrong.sum()}, {}, problem, wrong)


def cluster_check(column: Column) -> Check:
    """Every row is in a cluster."""

    def problem(sums: Sums) -> DataError | None:
        if not (count := sums["cluster missing"]):
            return None
        return DataError(
            f"cluster= column {column.name!r} has {_rows(count)} with "
            + ("null or NaN" if column.dtype.is_float() else "null"),
            "a cluster for each row",
            "a value of its own makes a row a cluster by itself",
        )

    return Check({"cluster missing": _missing_rows("cluster", column)}, {}, problem)


def binary_check(column: Column, role: str = "truth", score: str = "score_0") -> Check:
    """Numeric truth without ``pos_label=`` is 0 or 1."""
    truth = without_nan(pl.col(role), column.dtype)
    wrong = (truth != 0) & (truth != 1)

    def problem(sums: Sums) -> DataError | None:
        if not (count := sums[f"{role} wrong"]):
            return None
        values = sums[f"{role} values"]
        problem = f"truth= column {column.name!r} has {_rows(count)} outside 0 and 1: "
        if role != "truth":
            return DataError(problem + _listed(values), "Boolean, or 0/1 numbers")
        hint, shell_hint = _class_hints(
            column, values, sums[f"{role} largest"], swapped=sums[f"{role} swapped"]
        )
        return DataError(
            problem + _listed(values),
            "Boolean, or 0/1 numbers, or any dtype with pos_label=",
            hint,
            shell_hint=shell_hint,
        )

    counts, details = _count_and_values(role, truth, wrong)
    if role == "truth":
        beside = pl.col(score).filter(wrong)
        details[f"{role} largest"] = truth.max()
        details[f"{role} swapped"] = ((beside == 0) | (beside == 1)).all()
    return Check(counts, details, problem, wrong)


def _class_hints(
    column: Column, values: Sequence[Any], largest: Any, *, swapped: bool
) -> tuple[str, str | None]:
    """Return the hints, in Python and in a shell, for a truth with values other than 0 and 1.

    ``swapped`` says that the scores of these rows are 0 or 1.
    """
    is_score = any(value % 1 != 0 for value in values)
    if swapped and (is_score or len(values) > len(_BINARY)):
        hint = "are truth= and score= swapped? Those rows have scores of 0 and 1"
        return hint, hint
    if is_score:
        example = f"truth=pl.col({column.name!r}) > 0.5"
        return f"an expression makes a truth of it, for example {example}", None
    hint = f"name the positive class, for example pos_label={_unsigned(largest)!r}"
    return hint, hint


def label_check(column: Column, label: object, positive: pl.Expr) -> Check:
    """``pos_label=`` occurs somewhere, unless there are no rows at all."""
    truth = without_nan(pl.col("truth"), column.dtype)
    # Values are only gathered where the label is nowhere, so the common case stays cheap.
    absent = truth.is_not_null() & ~positive.any()

    def problem(sums: Sums) -> DataError | None:
        if not sums["truth wrong"]:
            return None
        return DataError(
            f"pos_label={shown(label)} is nowhere in truth= column {column.name!r}, "
            f"which holds {_listed(sums['truth values'])}",
            "a value that occurs",
            f"an expression, truth=pl.col({column.name!r}) == ..., may be false in all rows",
            shell_hint=None,
        )

    return Check(*_count_and_values("truth", truth, absent), problem)


def class_check(column: Column, labels: list[object], scored: Sequence[pl.Expr]) -> Check:
    """Every class that occurs, in column ``truth_0``, has a score column."""
    truth = pl.col("truth_0")
    unscored = truth.is_not_null() & ~pl.any_horizontal(scored)

    def problem(sums: Sums) -> DataError | None:
        if not (count := sums["truth wrong"]):
            return None
        return DataError(
            f"truth= column {column.name!r} has {_rows(count)} of a class without a score column: "
            f"{_listed(sums['truth values'])}",
            f"the classes of score=, {_listed(labels)}",
            "add a score column for each class, or filter the rows",
        )

    return Check(*_count_and_values("truth", truth, unscored), problem)


def cover_check(scores: Sequence[Column], classes: dict[str, Column], lowest: float) -> Check:
    """No score is below the lowest threshold, where its row would be in no bin."""
    floats = _scores_of_classes(scores, classes)
    counts = {f"{role} below": (score < lowest).sum() for role, score in floats.items()}
    details = {f"{role} least": score.min() for role, score in floats.items()}

    def problem(found: Sums) -> DataError | None:
        for i, column in enumerate(scores):
            if count := found[f"score_{i} below"]:
                rows = f"{_rows(count)} down to {_unsigned(found[f'score_{i} least'])!r}"
                return uncovered(column, rows, lowest)
        return None

    return Check(counts, details, problem)


def uncovered(column: Column, rows: str, lowest: float) -> DataError:
    """Return the error of rows whose scores are in no bin."""
    return DataError(
        f"score= column {column.name!r} has {rows}, below the lowest threshold {lowest!r}",
        "thresholds that cover the scores",
        "begin the thresholds with float('-inf'), or let quantile_thresholds find them",
        shell_hint="begin them with -inf, as in --thresholds -inf,0.1,0.5",
    )


def probability_check(scores: Sequence[Column], classes: dict[str, Column]) -> Check:
    """All scores are probabilities, or above 1 by rounding alone."""
    floats = _scores_of_classes(scores, classes)
    wrong = {role: is_improbable(score) for role, score in floats.items()}
    counts = {f"{role} wrong": wrong[role].sum() for role in floats}
    details = {f"{role} values": _values(score, wrong[role]) for role, score in floats.items()}

    def problem(found: Sums) -> DataError | None:
        for i, column in enumerate(scores):
            if count := found[f"score_{i} wrong"]:
                return improbable(column, _rows(count), _listed(found[f"score_{i} values"]))
        return None

    return Check(counts, details, problem)


def is_improbable(score: ExprT) -> ExprT:
    """Return whether a score, as Float64, is no probability."""
    return (score < 0.0) | (score > HIGHEST_PROBABILITY)


def improbable(column: Column, rows: str, values: str) -> DataError:
    """Return the error of rows whose scores are no probabilities, which a number of bins is for."""
    return DataError(
        f"score= column {column.name!r} has {rows} outside 0 to 1: {values}",
        "probabilities where thresholds= is a number, equally spaced from 0 to 1",
        "quantile_thresholds finds a list of thresholds, or begin one with float('-inf')",
        shell_hint="list them, beginning with -inf, as in --thresholds -inf,-1,0,1",
    )


def _scores_of_classes(scores: Sequence[Column], classes: dict[str, Column]) -> dict[str, pl.Expr]:
    """Return the scores by role, as Float64; null where a missing class leaves the row out."""
    present = ~pl.any_horizontal(*(_is_missing(*item) for item in classes.items()))
    return {
        f"score_{i}": pl.when(present).then(
            without_nan(pl.col(f"score_{i}").cast(pl.Float64), pl.Float64())
        )
        for i in range(len(scores))
    }


def threshold_check() -> Check:
    """No threshold is NaN, which no score reaches; a null one is that of rows without a score."""

    def problem(found: Sums) -> DataError | None:
        if not (count := found["threshold nan"]):
            return None
        return DataError(
            f"column 'threshold' has {_rows(count)} with NaN",
            "numbers, or null for rows without a score",
            "pl.col('threshold').fill_nan(None)",
            shell_hint=None,
        )

    return Check({"threshold nan": pl.col("threshold").is_nan().sum()}, {}, problem)


def _bins_check(keys: Sequence[str]) -> Check:
    """Bins, in order, do not overlap under one key, as those of one list of thresholds."""
    after = pl.col("threshold").shift(-1)
    after = after.over(keys) if keys else after
    wrong = pl.col("below") > after
    names = {"from": pl.col("threshold"), "to": pl.col("below"), "next": after}
    firsts = {f"bin {name}": column.filter(wrong).first() for name, column in names.items()}

    def problem(found: Sums) -> DataError | None:
        if not found["bins wrong"]:
            return None
        return DataError(
            f"the bin from {found['bin from']!r} to {found['bin to']!r} overlaps "
            f"the one from {found['bin next']!r}",
            "counts in the same bins",
            "count them all with the same thresholds=",
        )

    return Check({"bins wrong": wrong.sum()}, firsts, problem)


def missing_check(columns: dict[str, Column], hint: str) -> Check:
    """No null in any role's column, and no NaN in truth or score."""
    counts = {f"{role} missing": _missing_rows(role, column) for role, column in columns.items()}
    missing = [_is_missing(role, column) for role, column in columns.items()]

    def problem(found: Sums) -> DataError | None:
        found_missing = [
            f"{column.name!r} has {_rows(count)} with "
            + ("null or NaN" if _may_be_nan(role, column) else "null")
            for role, column in columns.items()
            if (count := found[f"{role} missing"])
        ]
        if not found_missing:
            return None
        return DataError(
            f"values are missing: {', '.join(found_missing)}",
            "no null, and no NaN in truth or score",
            hint,
        )

    return Check(counts, {}, problem, pl.any_horizontal(missing))


def _missing_rows(role: str, column: Column) -> pl.Expr:
    nulls = pl.col(role).null_count()
    return nulls + pl.col(role).is_nan().sum() if _may_be_nan(role, column) else nulls


def _is_missing(role: str, column: Column) -> pl.Expr:
    null = pl.col(role).is_null()
    return null | pl.col(role).is_nan() if _may_be_nan(role, column) else null


def _may_be_nan(role: str, column: Column) -> bool:
    # NaN is no missing weight but a wrong one: see amount_check.
    amounts = ("weight", "pos", "neg", "pos_squares", "neg_squares")
    return column.dtype.is_float() and role not in amounts


def _count_and_values(
    role: str, column: pl.Expr, wrong: pl.Expr
) -> tuple[dict[str, pl.Expr], dict[str, pl.Expr]]:
    return {f"{role} wrong": wrong.sum()}, {f"{role} values": _values(column, wrong)}


def _values(column: pl.Expr, wrong: pl.Expr) -> pl.Expr:
    return column.filter(wrong).unique().sort().head(5).implode()


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _listed(values: Sequence[object]) -> str:
    return ", ".join(shown(_unsigned(value)) for value in values)


def _unsigned(value: Any) -> Any:
    # Which of two zeros is the first to be met is luck.
    return 0.0 if isinstance(value, float) and value == 0 else value
