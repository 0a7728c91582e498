"""Columns by role: a request resolved against a frame's schema, and checked; no rows are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from frame_prc._formulas import without_nan
from frame_prc._lazy import named
from frame_prc._request.hints import number_hint
from frame_prc._request.roles import OF_COUNTS, THRESHOLD, Request, check_column, names_of
from frame_prc._request.specs import GROUPING, MODEL
from frame_prc._request.values import ABOVE, BELOW, class_value, other_spelling
from frame_prc.exceptions import ColumnError, OptionError, nearest, shown

_WORKING_EXPRESSION = "expressions that select() of this frame takes"

_CLASSES = ("pos", "neg")  # as counts have them
_OPTIONAL = ("cluster", "strata", "bin_end", "model", "row", THRESHOLD)


@dataclass(frozen=True)
class Column:
    """One role's column: its expression, and the name and dtype it gives."""

    expression: pl.Expr
    name: str
    dtype: pl.DataType


@dataclass(frozen=True)
class Columns:
    """The columns of a request; the expressions in ``keys`` give the columns in ``key_dtypes``."""

    request: Request
    keys: list[pl.Expr]
    key_dtypes: dict[str, pl.DataType]
    classes: dict[str, Column]
    scores: list[Column]
    cluster: Column | None = None
    strata: Column | None = None
    bin_end: Column | None = None
    model: Column | None = None
    row: Column | None = None
    groupings: tuple[tuple[str, ...], ...] | None = None
    threshold: Column | None = None

    @property
    def roles(self) -> dict[str, Column]:
        """Every role's column, under the name that it has among the rows."""
        roles = self.classes | {f"score_{i}": score for i, score in enumerate(self.scores)}
        return roles | self.optional

    @cached_property
    def optional(self) -> dict[str, Column]:
        found = {role: getattr(self, role) for role in _OPTIONAL}
        return {role: column for role, column in found.items() if column is not None}

    @cached_property
    def aggregated(self) -> bool:
        return "pos" in self.classes

    @cached_property
    def weighted(self) -> bool:
        """Whether rows are summed as floats, not as integers."""
        amounts = [column.dtype for role, column in self.classes.items() if role != "truth"]
        return "weight" in self.classes or not all(map(is_whole, amounts))

    @property
    def with_squares(self) -> bool:
        return "pos_squares" in self.classes

    @property
    def lacks_squares(self) -> bool:
        """Whether there are sums of weights without sums of squares: their variance is unknown."""
        return self.aggregated and self.weighted and not self.with_squares

    @property
    def count_hint(self) -> str | None:
        if not self.aggregated or not self.weighted:
            return None
        name = self.classes["pos"].name
        return (
            f"if pos= and neg= are counts of rows, cast them, as in pos=pl.col({name!r})"
            f".cast(pl.Int64), or in pandas frame[{name!r}].astype('Int64')"
        )

    @property
    def positive_class(self) -> pl.Series | None:
        label = self.request.pos_label
        return None if label is None else class_value(label, self.classes["truth"].dtype)

    @property
    def needs_squares(self) -> bool:
        """Whether a row's weight and its square can differ."""
        return self.weighted or self.with_squares

    @cached_property
    def several_models(self) -> bool:
        return self.request.several_models

    @cached_property
    def result_keys(self) -> list[str]:
        return [*([MODEL] if self.several_models else []), *self.key_dtypes]


def role_name(role: str, column: Column) -> str:
    return f"{role}= column {column.name!r}"


def with_dtype(role: str, column: Column) -> str:
    return f"{role_name(role, column)} has dtype {column.dtype}"


def is_whole(dtype: pl.DataType) -> bool:
    """Return whether a dtype holds whole numbers only; sums of integers may be such decimals."""
    return dtype.is_integer() or (isinstance(dtype, pl.Decimal) and dtype.scale == 0)


def resolve(lf: pl.LazyFrame, request: Request) -> Columns:
    # Asked for once, as each time Python objects are made for all columns of the frame.
    schema = lf.collect_schema()
    items = [find_keys(lf, "by", item, schema) for item in request.keys]
    keys = items if request.groupings is None else _once(items)
    classes = {role: find_column(lf, role, item, schema) for role, item in request.classes.items()}
    scores = [find_column(lf, "score", item, schema) for item in request.models.values()]

    asked = {
        role: getattr(request, role) for role in ("cluster", "strata", "model", "row", THRESHOLD)
    }
    others = {r: find_column(lf, r, item, schema) for r, item in asked.items() if item is not None}

    plain = [("by", name) for key, outs in keys if is_plain(key) for name in outs]
    found = [*classes.items(), *(("score", score) for score in scores), *others.items()]
    plain += [(role, c.name) for role, c in found if is_plain(c.expression) and role != THRESHOLD]
    check_repeats(plain)
    check_repeats([("by", name) for _, outs in keys for name in outs])

    key_dtypes = {name: dtype for _, outs in keys for name, dtype in outs.items()}
    _check_models_apart(schema, request, [{*outs, *key.meta.root_names()} for key, outs in items])
    bin_end = _bin_end(schema, request, key_dtypes)
    by = [key for key, _ in keys]
    groupings = _groupings(request, [outs for _, outs in items])
    others |= {} if bin_end is None else {"bin_end": bin_end}
    if request.missing == "drop" and len(scores) > 1:
        # A row has the scores of all models or of none.
        known = [without_nan(c.expression, c.dtype).is_not_null() for c in scores]
        scores = [replace(c, expression=pl.when(*known).then(c.expression)) for c in scores]
    columns = Columns(request, by, key_dtypes, classes, scores, groupings=groupings, **others)
    _check_no_counts(columns)
    _check_dtypes(columns)
    return columns


def _once(
    items: Sequence[tuple[pl.Expr, dict[str, pl.DataType]]],
) -> list[tuple[pl.Expr, dict[str, pl.DataType]]]:
    columns: dict[str, pl.DataType] = {}
    others = []
    for key, outputs in items:
        if is_plain(key):
            columns |= outputs
        else:
            others.append((key, outputs))
    return [*((named(name), {name: dtype}) for name, dtype in columns.items()), *others]


def grouping_name(names: Sequence[str]) -> str:
    return ", ".join(names) or "all rows"


def _groupings(
    request: Request, keys: Sequence[Iterable[str]]
) -> tuple[tuple[str, ...], ...] | None:
    if request.groupings is None:
        return None
    found = tuple(
        tuple(name for place in places for name in keys[place]) for places in request.groupings
    )
    for place, names in enumerate(found):
        check_repeats([("by", name) for name in names])
        before = found[:place]
        known = {*map(grouping_name, before)}
        if set(names) in map(set, before) or grouping_name(names) in known:
            raise OptionError(
                f"by= has the grouping {grouping_name(names)!r} twice", "each grouping once"
            )
    return found


def _bin_end(schema: pl.Schema, request: Request, keys: Iterable[str]) -> Column | None:
    if not request.of_counts:
        return None
    # The caller may have named such a column as a key or as an amount (see of_counts).
    taken = {*keys, *request.amount_names()}
    found = [
        name
        for name in (BELOW, ABOVE)
        if name in schema and schema[name].is_numeric() and name not in taken
    ]
    if found == [ABOVE if request.bin_end == BELOW else BELOW]:
        raise OptionError(
            f"ascending={request.ascending} is given for counts with a column {found[0]!r}, as "
            f"counts(..., thresholds=, ascending={not request.ascending}) returns them",
            f"ascending={not request.ascending} for these counts",
            "a bin holds the scores on one side of its threshold, and cannot be read the other way",
        )
    name = request.bin_end
    return Column(pl.col(name), name, schema[name]) if name in found else None


# --- finding --------------------------------------------------------------------------


def find_keys(
    lf: pl.LazyFrame, role: str, item: object, schema: pl.Schema
) -> tuple[pl.Expr, dict[str, pl.DataType]]:
    expression = _expression(schema, role, item)
    return expression, _outputs(lf, schema, role, expression)


def find_column(lf: pl.LazyFrame, role: str, item: object, schema: pl.Schema) -> Column:
    expression, outputs = find_keys(lf, role, item, schema)
    if len(outputs) > 1:
        raise ColumnError(
            f"{role}= gives {len(outputs)} columns: {', '.join(map(repr, outputs))}",
            "one column",
            "several models go into score= as a list of columns" if role == "score" else None,
        )
    [(name, dtype)] = outputs.items()
    return Column(expression, name, dtype)


def project(
    lf: pl.LazyFrame,
    keys: Sequence[pl.Expr],
    named_keys: Sequence[pl.Expr],
    roles: dict[str, Column],
) -> pl.LazyFrame:
    """Select what ``keys`` give, as ``named_keys`` says, and every role's column under its role."""
    # In two steps, because a key may be called like a role.
    names = [name for key in named_keys for name in key.meta.root_names()]
    marked = _marked(keys, names, roles)
    renamed = [pl.col(one.meta.output_name()).alias(role) for role, one in marked.items()]
    return lf.select(*keys, *marked.values()).select(*named_keys, *renamed)


def _marked(
    keys: Sequence[pl.Expr], key_names: Sequence[str], roles: dict[str, Column]
) -> dict[str, pl.Expr]:
    """Return the expression of each role, with a name that no key has."""
    mark = "\0"
    while any(name.startswith(mark) for name in key_names):
        mark += "\0"
    expressions = {role: column.expression for role, column in roles.items()}
    if names_of([*keys, *expressions.values()]) == set():
        # A frame of constants alone would have one row.
        in_every_row = pl.when(pl.int_range(pl.len()) >= 0)
        expressions = {role: in_every_row.then(one) for role, one in expressions.items()}
    return {role: one.alias(f"{mark}{role}") for role, one in expressions.items()}


def collected(lf: pl.LazyFrame, columns: Columns) -> tuple[pl.DataFrame, Columns]:
    found, moved = selected(lf, columns)
    return found.collect(), moved


def selected(lf: pl.LazyFrame, columns: Columns) -> tuple[pl.LazyFrame, Columns]:
    """Select the columns of a request under names that do not clash, and return where they are."""
    marked = _marked(columns.keys, [*columns.key_dtypes], columns.roles)
    frame = lf.select(*columns.keys, *marked.values())

    def moved(role: str, column: Column) -> Column:
        return replace(column, expression=pl.col(marked[role].meta.output_name()))

    optional: dict[str, Any] = {role: moved(role, c) for role, c in columns.optional.items()}
    return frame, replace(
        columns,
        keys=list(map(named, columns.key_dtypes)),
        classes={role: moved(role, column) for role, column in columns.classes.items()},
        scores=[moved(f"score_{i}", score) for i, score in enumerate(columns.scores)],
        **optional,
    )


def common_score_dtype(scores: Sequence[Column]) -> pl.DataType:
    """Return the dtype in which all these scores are ranked; see ``exact_rules``."""
    dtypes = {score.dtype for score in scores}
    return dtypes.pop() if len(dtypes) == 1 else pl.Float64()


def _expression(schema: pl.Schema, role: str, item: Any) -> pl.Expr:
    check_column(role, item)
    if isinstance(item, str):
        if item == "*":
            raise ColumnError(
                f"{role}= names '*', which Polars takes for all columns at once",
                "the names of columns",
                "rename a column that is called so",
            )
        _check_exists(schema, role, item)
        return named(item)
    expression: pl.Expr = item
    for name in expression.meta.root_names():
        if not name.startswith("^"):
            _check_exists(schema, role, name)
    return expression


def _check_exists(schema: pl.Schema, role: str, name: str) -> None:
    if name not in schema:
        raise ColumnError(
            f"{role}= names {name!r}, which is not a column", hint=nearest(name, schema)
        )


def _outputs(
    lf: pl.LazyFrame, schema: pl.Schema, role: str, column: pl.Expr
) -> dict[str, pl.DataType]:
    if column.meta.is_column():
        name = column.meta.output_name()
        return {name: schema[name]}
    try:
        outputs = dict(lf.select(column).collect_schema())
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise failing(f"{role}= is an expression that fails", reason) from error
    if not outputs:
        raise ColumnError(f"{role}= selects no column", hint=nearest("", schema))
    return outputs


def failing(what: str, reason: str) -> ColumnError:
    is_text = "not supported for dtype `str`" in reason
    hint = "text of dates becomes dates by .str.to_date()" if is_text else None
    return ColumnError(f"{what} on this frame: {reason}", _WORKING_EXPRESSION, hint)


# --- checking --------------------------------------------------------------------------


def check_over(columns: Columns, over: str) -> None:
    if over not in columns.key_dtypes:
        makes = f"by={over!r} makes it one"
        hint = nearest(over, columns.key_dtypes) if columns.key_dtypes else makes
        raise ColumnError(f"over={over!r} is not a key in by=", "a key, by its name", hint)


def is_plain(column: pl.Expr) -> bool:
    return column.meta.is_column_selection()


def check_repeats(uses: list[tuple[str, str]]) -> None:
    """Refuse one column in two roles: a slip that would give a plausible number."""
    seen: dict[str, str] = {}
    for role, name in uses:
        if name in seen:
            both = [role] if seen[name] == role else [seen[name], role]
            roles = [word if " " in word else f"{word}=" for word in both]
            where = f"twice in {roles[0]}" if len(roles) == 1 else f"in {' and '.join(roles)}"
            raise ColumnError(
                f"column {name!r} is named {where}",
                "each column once",
                "an expression with .alias(...) makes a second column on purpose",
                shell_hint=None,
            )
        seen[name] = role


def check_key_names(columns: Columns, outputs: Iterable[str]) -> None:
    taken = [MODEL, *outputs] if columns.several_models else [*outputs]
    taken += [] if columns.groupings is None else [GROUPING]
    for name in columns.key_dtypes:
        if name in taken:
            raise ColumnError(
                f"key {name!r} in by= is named like a column of the result",
                f"names other than {', '.join(map(repr, taken))}",
                f"give the key another name, as in by=pl.col({name!r}).alias('{name}_')",
                shell_hint=None,
            )


def _check_no_counts(columns: Columns) -> None:
    """Refuse a column of counts as truth: if all are 0 or 1 the result would look plausible."""
    truth = columns.classes.get("truth")
    if truth is None or truth.name not in _CLASSES:
        return
    if any(score.name == THRESHOLD for score in columns.scores):
        raise ColumnError(
            f"truth= names {truth.name!r} and score= {THRESHOLD!r}, as counts have them",
            "the column of a truth, or pos= and neg= for counts",
            OF_COUNTS,
        )


def _check_models_apart(schema: pl.Schema, request: Request, used: Sequence[set[str]]) -> None:
    """Refuse counts of several models that are added up: each item would count for each of them."""
    if not request.of_named_counts or request.model is not None or MODEL not in schema:
        return
    groupings = [range(len(used))] if request.groupings is None else request.groupings
    if not all(any(MODEL in used[place] for place in places) for places in groupings):
        raise ColumnError(
            f"the counts have a column {MODEL!r}, as those of several models do, and it is no key",
            f"{MODEL}={MODEL!r}, or counts of one model without that column",
            f"{MODEL}={MODEL!r} keeps the models apart: otherwise their counts would be added up",
        )


def _check_dtypes(columns: Columns) -> None:
    groups = [("by", name, dtype) for name, dtype in columns.key_dtypes.items()]
    groups += [
        (role, c.name, c.dtype)
        for role, c in columns.optional.items()
        if role in ("cluster", "strata", "model", "row")
    ]
    for role, name, dtype in groups:
        if dtype == pl.Object:
            raise ColumnError(
                f"{role}= column {name!r} has dtype {dtype}",
                "a dtype that can be sorted",
                "cast it to String first",
            )
    pos_label = columns.request.pos_label
    if truth := columns.classes.get("truth"):
        for score in columns.scores:
            check_not_swapped(truth, score, pos_label)
    numbers = [("score", score) for score in columns.scores]
    if columns.threshold is not None:
        numbers.append((THRESHOLD, columns.threshold))
    for role, column in [*columns.classes.items(), *numbers]:
        if role == "truth":
            _check_truth(column, pos_label)
        else:
            check_numeric(role, column)


def check_not_swapped(truth: Column, score: Column, pos_label: Any) -> None:
    if not truth.dtype.is_numeric() or score.dtype.is_numeric():
        return
    if pos_label is None:
        swapped = score.dtype == pl.Boolean and not truth.dtype.is_integer()
    else:
        held = (class_value(pos_label, column.dtype) is not None for column in (truth, score))
        swapped = [*held] == [False, True]
    if swapped:
        raise ColumnError(
            f"{with_dtype('truth', truth)}, and {with_dtype('score', score)}",
            "a truth of two classes, and a numeric score",
            "are truth= and score= swapped?",
        )


def check_numeric(role: str, column: Column) -> None:
    if not column.dtype.is_numeric():
        raise ColumnError(
            with_dtype(role, column),
            "a numeric column",
            number_hint(role, column.name, column.dtype),
            shell_hint=None,
        )


def _check_truth(truth: Column, pos_label: Any) -> None:
    if pos_label is not None:
        _check_label(truth, pos_label)
    elif truth.dtype != pl.Boolean and not truth.dtype.is_numeric():
        raise ColumnError(
            with_dtype("truth", truth),
            "Boolean, or 0/1 numbers, or any dtype with pos_label=",
            "an expression can say whether a row is positive"
            if truth.dtype.is_nested()
            else "name the positive class, for example pos_label='yes'",
        )


def _check_label(truth: Column, label: Any) -> None:
    if class_value(label, truth.dtype) is not None:
        return
    hint = None
    if truth.dtype == pl.Boolean:
        hint = "without it true is the positive class"
    elif isinstance(label, (list, tuple, set, frozenset)):
        hint = f"several classes are positive with truth=pl.col({truth.name!r}).is_in([...])"
    elif other := other_spelling(label, truth.dtype):
        hint = f"did you mean pos_label={other}?"
    raise OptionError(
        f"pos_label={shown(label)} cannot be a value of {role_name('truth', truth)} "
        f"of dtype {truth.dtype}",
        f"a value of dtype {truth.dtype}",
        hint,
    )
