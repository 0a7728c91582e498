"""Checks of values: invalid data raise one clear error, at collect or, in memory, at the call.

All checks are aggregates, computed in one pass. On a lazy frame, one that raises if they show a
problem, and is empty otherwise, is put above the rows before they are sorted: after the sort Polars
would hold the rows back. Where nothing is wrong no Python runs inside the plan.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple

import polars as pl

from frame_prc._execution import run
from frame_prc._formulas import without_nan
from frame_prc._lazy import cached, concat, over
from frame_prc._rows import rules
from frame_prc._rows.columns import Column, Columns, role_name
from frame_prc.exceptions import DataError, shown

_BINARY = (0, 1)
_MOST_VALUES = 5


@dataclass(frozen=True)
class Check:
    """A rule that rows must keep: how many break it, which with ``details`` makes an error.

    ``suspect`` tells a row that may break it; ``None`` where only all rows together show it.
    """

    count: pl.Expr
    error: Callable[..., DataError]
    details: Sequence[pl.Expr] = ()
    suspect: pl.Expr | None = None


# --- running checks ----------------------------------------------------------------------------


def check(rows: pl.LazyFrame, checks: Sequence[Check]) -> None:
    if checks:
        _raise_problem(_totals(rows, checks).collect(engine="in-memory"), checks)


def check_in_memory(values: pl.DataFrame, checks: Sequence[Check]) -> None:
    counts = (check.count.alias(str(place)) for place, check in enumerate(checks))
    if checks and any(run(values.lazy().select(counts), values.height).row(0)):
        check(values.lazy(), checks)


def with_checks(
    frame: pl.LazyFrame, rows: pl.LazyFrame, checks: Sequence[Check], *, in_memory: bool
) -> pl.LazyFrame:
    """Return a frame made from rows that raises if these are invalid, lazily at collect."""
    if in_memory:
        check(rows, checks)
    if in_memory or not checks:
        return frame
    totals = _totals(rows, checks)
    failed = pl.any_horizontal(pl.col(f"{place}.0") != 0 for place in range(len(checks)))
    return _inspected(frame, totals.filter(failed), lambda found: _raise_problem(found, checks))


def with_checks_if(
    table: pl.LazyFrame, suspicious: pl.Expr, rows: pl.LazyFrame, checks: Sequence[Check]
) -> pl.LazyFrame:
    """Return a table that raises at collect; only if it is suspicious rows are read again."""
    if not checks:
        return table
    table = cached(table)
    suspected = table.select(suspicious=suspicious.any()).filter("suspicious")
    return _inspected(table, suspected, lambda _: check(rows, checks))


def with_bin_checks(
    frame: pl.LazyFrame,
    counts: pl.LazyFrame,
    ends: tuple[str, str],
    keys: Sequence[str],
    *,
    in_memory: bool,
) -> pl.LazyFrame:
    both = (pl.col(name).alias(end) for name, end in zip(ends, ("low", "high"), strict=True))
    bins = counts.select(*keys, *both).unique()
    bins = bins.drop_nulls(["low", "high"]).sort("low", "high")
    return with_checks(frame, bins, [_overlap_check(keys)], in_memory=in_memory)


def suspects(checks: Sequence[Check]) -> pl.Expr:
    marks = [check.suspect for check in checks if check.suspect is not None]
    return pl.any_horizontal(pl.lit(value=False), *marks)


def _totals(rows: pl.LazyFrame, checks: Sequence[Check]) -> pl.LazyFrame:
    return rows.select(
        aggregate.alias(f"{place}.{part}")
        for place, check in enumerate(checks)
        for part, aggregate in enumerate((check.count, *check.details))
    )


def _raise_problem(totals: pl.DataFrame, checks: Sequence[Check]) -> None:
    found = iter(totals.row(0))
    for check in checks:
        count, *details = islice(found, 1 + len(check.details))
        if count:
            raise check.error(count, *details)


def _inspected(
    frame: pl.LazyFrame, problems: pl.LazyFrame, inspect: Callable[[pl.DataFrame], None]
) -> pl.LazyFrame:
    """Return a frame in whose plan a function is called first if there is a row of problems."""
    schema = frame.collect_schema()

    def nothing(found: pl.DataFrame) -> pl.DataFrame:
        inspect(found)
        return pl.DataFrame(schema=schema)

    # Polars calls Python for each group: without problems there is none.
    groups = problems.with_columns(problem=True).group_by("problem")
    return concat([groups.map_groups(nothing, schema), frame])


# --- checks ------------------------------------------------------------------------------------


def checks_of(columns: Columns) -> list[Check]:
    """Return the checks of a request's rows; the first that fails is the error."""
    amounts = ((role, column) for role, column in columns.classes.items() if role != "truth")
    checks = [check for item in amounts for check in amount_checks(*item)]
    checks += _truth_checks(columns)
    if required := rules.required_rules(columns, pl.col):
        checks.append(missing_check(required))
    checks += map(check_of, rules.exact_rules(columns.scores, pl.col))
    checks += map(check_of, rules.squares_rules(columns, pl.col))
    checks += map(check_of, rules.cluster_rules(columns, pl.col))
    if columns.strata is not None:
        checks += _strata_checks(columns, columns.strata)
    return checks


def _truth_checks(columns: Columns) -> list[Check]:
    truth, label = columns.classes.get("truth"), columns.request.pos_label
    if truth is None:
        return []
    if label is not None:
        return [_label_check(truth, label, rules.is_positive(columns, pl.col("truth")))]
    return [] if truth.dtype == pl.Boolean else [_binary_check(truth)]


def check_of(rule: rules.Rule[pl.Expr]) -> Check:
    details = [] if rule.value is None else [_first_values(rule.value, rule.broken)]

    def error(count: int, values: Sequence[Any] = ()) -> DataError:
        return rule.error(rules.counted(count), _listed(values))

    return Check(rule.broken.sum(), error, details, rule.broken)


def amount_checks(role: str, column: Column) -> list[Check]:
    valid, below_limit, *not_tiny = rules.amount_rules(role, column, pl.col(role))
    total = pl.col(role).cast(pl.Float64).sum()
    limit, digits = rules.amount_limit(role, column)

    def error(_: int, found: float) -> DataError:
        what = f"{below_limit.subject} adds up to {found:{digits}}"
        return DataError(what, below_limit.allowed, below_limit.hint)

    of_total = Check((total >= limit).cast(pl.UInt32), error, [total], below_limit.broken)
    return [check_of(valid), of_total, *map(check_of, not_tiny)]


def _strata_checks(columns: Columns, column: Column) -> list[Check]:
    named = rules.required_rule("strata", column, pl.col("strata"), "leave such rows out")
    known = check_of(replace(named, allowed="a stratum for each row"))
    keys = [pl.col(f"by_{i}") for i in range(len(columns.key_dtypes))]
    if not keys:
        return [known]
    across = rules.Rule(
        broken=pl.struct(keys).n_unique().over("strata") > 1,
        value=pl.col("strata"),
        subject=role_name("strata", column),
        complaint="in a stratum that has rows of several segments: ",
        allowed="strata within the segments of by=",
        hint="draw within these, or leave strata= out: intervals are then wider than they need be",
    )
    return [known, check_of(across)]


def _binary_check(column: Column) -> Check:
    truth = without_nan(pl.col("truth"), column.dtype)
    broken = rules.binary_rule(column, pl.col("truth")).broken
    score = pl.col("score_0")
    # Not the all() of filtered rows, which Polars 1.41 gives a wrong height on its way to a file.
    swapped = ~(broken & (score != 0) & (score != 1)).any()

    def error(count: int, values: list[Any], *others: Any) -> DataError:
        hint, shell_hint = _class_hints(column, values, *others)
        rule = replace(rules.binary_rule(column, pl.col("truth"), hint), shell_hint=shell_hint)
        return rule.error(rules.counted(count), _listed(values))

    told = [_first_values(truth, broken), truth.max(), swapped, (truth == 0).any()]
    return Check(broken.sum(), error, told, broken)


def _class_hints(
    column: Column, values: Sequence[Any], largest: Any, swapped: Any, has_zero: Any
) -> tuple[str, str | None]:
    is_score = any(value % 1 != 0 for value in values)
    if is_score and not swapped:
        return f"use an expression, for example truth=pl.col({column.name!r}) > 0.5", None
    hint = f"name the positive class, for example pos_label={_unsigned(largest)!r}"
    if swapped and (is_score or len(values) > len(_BINARY)):
        hint = "are truth= and score= swapped? Those rows have scores of 0 and 1"
    elif has_zero and len(values) > 1 and min(values) > 0:
        return f"{hint}, or all grades above 0: truth=pl.col({column.name!r}) > 0", hint
    return hint, hint


def _label_check(column: Column, label: object, positive: pl.Expr) -> Check:
    truth = without_nan(pl.col("truth"), column.dtype)
    # Values are only gathered where the label is absent: the common case stays cheap.
    absent = truth.is_not_null() & ~positive.any()
    hint = f"an expression, truth=pl.col({column.name!r}) == ..., may be false in all rows"

    def error(_: int, values: list[Any]) -> DataError:
        return rules.absent_label(column, label, _listed(values), hint)

    return Check(absent.sum(), error, [_first_values(truth, absent)])


def class_check(column: Column, labels: list[object], scored: Sequence[pl.Expr]) -> Check:
    truth = pl.col("truth_0")
    rule = rules.Rule(
        broken=truth.is_not_null() & ~pl.any_horizontal(scored),
        value=truth,
        subject=role_name("truth", column),
        complaint="of a class without a score column: ",
        allowed=f"the classes of score=, {_listed(labels)}",
        hint="add a score column for each class, or filter the rows",
    )
    return check_of(rule)


def threshold_check() -> Check:
    """Return the check that no threshold is NaN; null is that of rows without a score."""
    rule = rules.Rule(
        broken=pl.col("threshold").is_nan(),
        subject="column 'threshold'",
        complaint="with NaN",
        allowed="numbers, or null for rows without a score",
        hint="pl.col('threshold').fill_nan(None)",
        shell_hint=None,
    )
    return check_of(rule)


def _overlap_check(keys: Sequence[str]) -> Check:
    after = over(pl.col("low").shift(-1), keys)
    overlapping = pl.col("high") > after
    bounds = (pl.col("low"), pl.col("high"), after)

    def error(_: int, low: float, high: float, other: float) -> DataError:
        return overlap(repr(low), repr(high), repr(other))

    details = [bound.filter(overlapping).first() for bound in bounds]
    return Check(overlapping.sum(), error, details)


def overlap(low: str, high: str, other: str) -> DataError:
    return DataError(
        f"the bin from {low} to {high} overlaps the one from {other}",
        "counts in the same bins",
        "count them all with the same thresholds=",
    )


def order_checks(asked: str, key: str, values: pl.Expr, dtype: pl.DataType) -> list[Check]:
    is_text = isinstance(dtype, (pl.String, pl.Categorical))
    return [_order_check(asked, key, values.cast(pl.String))] if is_text else []


def _order_check(asked: str, key: str, values: pl.Expr) -> Check:
    pairs = pl.List(pl.String)

    def first_misplaced(texts: pl.Series) -> pl.Series:
        return pl.Series([misplaced(texts.drop_nulls().unique().sort().to_list())], dtype=pairs)

    def error(_: int, found: Sequence[str]) -> DataError:
        first, second = map(shown, found)
        return DataError(
            f"{asked} goes by the order of {key!r}, and as text {first} comes before {second}",
            "a date, a number, an Enum, or text in order",
            order_hint(key, *found),
            shell_hint=YEAR_FIRST,
        )

    found = values.map_batches(first_misplaced, return_dtype=pairs, returns_scalar=True)
    return Check(found.list.len().fill_null(0), error, [found])


def missing_check(of_columns: Sequence[rules.Rule[pl.Expr]]) -> Check:
    """Return the check that no column has missing values; its error names all that do."""
    counts = [rule.broken.sum() for rule in of_columns]

    def error(_: int, *found: int) -> DataError:
        counts = zip(of_columns, found, strict=True)
        errors = [rule.error(rules.counted(count)) for rule, count in counts if count]
        columns = [error.what.removeprefix(rules.MISSING) for error in errors]
        # Scores come last, and only they may be kept as unretrieved.
        return DataError(rules.MISSING + ", ".join(columns), errors[0].allowed, errors[-1].hint)

    suspect = pl.any_horizontal(rule.broken for rule in of_columns)
    return Check(pl.sum_horizontal(counts), error, counts, suspect)


def _first_values(column: pl.Expr, broken: pl.Expr) -> pl.Expr:
    return column.filter(broken).unique().sort().head(_MOST_VALUES).implode()


def _listed(values: Sequence[object]) -> str:
    return ", ".join(shown(_unsigned(value)) for value in values)


def _unsigned(value: Any) -> Any:
    # Which of two zeros comes first depends on the order of the rows.
    return 0.0 if isinstance(value, float) and value == 0 else value


# --- text that names times or has numbers in it, and whether it sorts in their order ------------

_CALENDAR = (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
_NAMES = [[name.casefold() for name in names] for names in _CALENDAR]
_NAMES_OF_MONTHS = _NAMES[:2]
_TOKENS = re.compile(r"[0-9]+|[^\W\d_]+")
_YEAR = re.compile(r"(19|20|21)[0-9]{2}")
_FULL = re.compile(r"[0-9]{1,2}([./-])([0-9]{1,2})\1[0-9]{4}")
_MONTHS = 12
YEAR_FIRST = "text is in order with the year first and months as numbers: 2024-02-01, 2024-W05"


def misplaced(texts: Sequence[str]) -> list[str] | None:
    """Return two neighbours of sorted texts that are in another order than what they say."""
    for keys in _readings(texts):
        for place, (before, after) in enumerate(pairwise(keys)):
            if before > after:
                return list(texts[place : place + 2])
    return None


def order_hint(key: str, first: str, second: str) -> str:
    if _place(first, _NAMES) is not None:
        return f"cast it to pl.Enum([..., {second!r}, ..., {first!r}, ...]), in the order of time"
    if (full := _FULL.fullmatch(first)) is not None:
        seconds = [int(one[2]) for one in (full, _FULL.fullmatch(second)) if one is not None]
        day_first, month_first = (
            full[1].join(one) for one in (("%d", "%m", "%Y"), ("%m", "%d", "%Y"))
        )
        is_told = full[1] == "." or max(seconds) > _MONTHS
        form = month_first if max(seconds) > _MONTHS else day_first
        other = "" if is_told else f"; {month_first!r} where months come first"
        return (
            f"pl.col({key!r}).str.to_date({form!r}) makes dates of such text, or in pandas "
            f"pd.to_datetime(frame[{key!r}], format={form!r}){other}"
        )
    if _moment(first) is not None:
        return YEAR_FIRST
    return "text is in order with as many digits, such as '02' and '10'"


def _readings(texts: Sequence[str]) -> Iterator[Sequence[Any]]:
    places = [_place(text, _NAMES) for text in texts]
    if None not in places:
        yield places
        return
    yield [*map(_by_numbers, texts)]
    moments = [moment for moment in map(_moment, texts) if moment is not None]
    if len(moments) < len(texts):
        return
    dates = [m.before for m in moments if m.month is None and len(m.before) == 2]  # noqa: PLR2004
    if all(month <= _MONTHS for _, month in dates):
        yield [moment.with_day_first for moment in moments]
    dotted = any("." in text for text in texts)
    if dates and not dotted and all(month <= _MONTHS for month, _ in dates):
        yield [(moment.year, *moment.before, *moment.after) for moment in moments]


class _Moment(NamedTuple):
    """A year, with the numbers before and after it, and a month that has a name."""

    year: int
    month: int | None
    before: list[int]
    after: list[int]

    @property
    def with_day_first(self) -> tuple[int, ...]:
        named = [] if self.month is None else [self.month]
        return (self.year, *named, *reversed(self.before), *self.after)


def _moment(text: str) -> _Moment | None:
    """Return what a text says that has a year, but not first, or a number and a named month.

    A number beside a name is a year or a day: as text, neither is in order where the months differ.
    """
    tokens = _TOKENS.findall(text)
    months = [at for token in tokens if (at := _place(token, _NAMES_OF_MONTHS)) is not None]
    years = [at for at, token in enumerate(tokens) if _YEAR.fullmatch(token)]
    if len(months) > 1 or len(years) > 1 or not any(token.isdigit() for token in tokens):
        return None
    if not months and years in ([], [0]):
        return None
    at = years[0] if years else len(tokens)
    parts = (tokens[:at], tokens[at + 1 :])
    before, after = ([int(token) for token in part if token.isdigit()] for part in parts)
    return _Moment(int(tokens[at]) if years else 0, months[0] if months else None, before, after)


def _place(text: str, of: Sequence[Sequence[str]]) -> int | None:
    """Return the place of the name of a month in the year, or of a day in the week."""
    wanted = text.casefold()
    found = (names.index(wanted) for names in of if wanted and wanted in names)
    return next(found, None)


def _by_numbers(text: str) -> list[tuple[bool, int | str]]:
    parts = re.findall(r"[0-9]+|[^0-9]+", text)
    return [(not part.isdigit(), int(part) if part.isdigit() else part) for part in parts]
