"""Columns by role: which column is truth, score, weight or key, checked against the schema.

Nothing is read here. From this stage on columns have internal names (``key_0``, ``truth``,
``score``, ``weight``, ``pos``, ``neg``), so no name of the caller's can clash with one of ours;
the keys get their own names back in the last step of every verb.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import polars as pl
import polars.selectors as cs

from frame_prc.exceptions import ColumnError, OptionError, nearest

IntoColumn: TypeAlias = str | pl.Expr
IntoKeys: TypeAlias = IntoColumn | Sequence[IntoColumn]
IntoScores: TypeAlias = IntoColumn | Sequence[IntoColumn] | Mapping[str, IntoColumn]
Missing: TypeAlias = Literal["raise", "drop", "unretrieved"]

MODEL = "model"


@dataclass(frozen=True)
class Request:
    """What a verb was asked for, as the caller wrote it."""

    truth: IntoColumn | None
    score: IntoScores | None
    by: IntoKeys | None
    weight: IntoColumn | None
    pos_label: object
    missing: Missing
    pos: IntoColumn | None
    neg: IntoColumn | None

    def column_names(self) -> set[str] | None:
        """Return the columns the request names, or ``None`` where only the schema can tell."""
        names: set[str] = set()
        for item in self._items():
            if isinstance(item, str):
                names.add(item)
            elif isinstance(item, pl.Expr) and not item.meta.has_multiple_outputs():
                names.update(item.meta.root_names())
            elif isinstance(item, pl.Expr):
                return None
        return names

    def _items(self) -> list[object]:
        singles = (self.truth, self.weight, self.pos, self.neg)
        scores = self.score.values() if isinstance(self.score, Mapping) else _listed(self.score)
        return [*singles, *scores, *_listed(self.by)]


@dataclass(frozen=True)
class Columns:
    """The columns of one request: expressions by role, with their names and dtypes.

    ``roles`` holds truth and weight, or pos and neg, and one ``score_0, score_1, ...`` per model.
    ``models`` is ``[None]`` where a single score was given: the result has no ``model`` column.
    """

    request: Request
    keys: list[pl.Expr]
    key_dtypes: dict[str, pl.DataType]
    models: list[str | None]
    roles: dict[str, pl.Expr]
    names: dict[str, str]
    dtypes: dict[str, pl.DataType]

    @property
    def counted(self) -> bool:
        """Whether the rows are already aggregated into ``pos`` and ``neg``."""
        return "pos" in self.roles

    @property
    def weighted(self) -> bool:
        """Whether running sums are sums of floats, not of integers."""
        sums = [self.dtypes[role] for role in ("pos", "neg") if role in self.dtypes]
        return "weight" in self.roles or not all(dtype.is_integer() for dtype in sums)

    @property
    def score_roles(self) -> list[str]:
        """The score roles, one per model."""
        return [f"score_{i}" for i in range(len(self.models))]

    @property
    def result_keys(self) -> list[str]:
        """The key columns of the result, in order."""
        return [*([] if self.models == [None] else [MODEL]), *self.key_dtypes]


def resolve(lf: pl.LazyFrame, request: Request, outputs: Iterable[str]) -> Columns:
    """Find every column of a request in the frame's schema, or say which one is wrong and why.

    Parameters
    ----------
    lf
        The caller's frame.
    request
        Its roles.
    outputs
        Columns that the verb adds to the keys; no key may be named like one.
    """
    _check_options(request)
    schema = lf.collect_schema()
    keys = [_expression(schema, "by", item) for item in _key_items(request.by)]
    key_outputs = [_outputs(lf, "by", key) for key in keys]
    _check_keys(keys, key_outputs)
    scores = _score_items(request.score)
    items = {role: getattr(request, role) for role in ("truth", "weight", "pos", "neg")}
    items |= {f"score_{i}": item for i, item in enumerate(scores.values())}
    roles = {r: _expression(schema, _said(r), i) for r, i in items.items() if i is not None}
    singles = {role: _single(lf, _said(role), column) for role, column in roles.items()}
    columns = Columns(
        request,
        keys,
        {name: dtype for outputs_ in key_outputs for name, dtype in outputs_.items()},
        models=list(scores),
        roles=roles,
        names={role: name for role, (name, _) in singles.items()},
        dtypes={role: dtype for role, (_, dtype) in singles.items()},
    )
    _check_dtypes(columns)
    _check_twice(columns)
    _check_clashes(columns, outputs)
    return columns


def _said(role: str) -> str:
    """Return the parameter that a role was given by: ``score_1`` came in through ``score``."""
    return role.partition("_")[0]


def _check_options(request: Request) -> None:
    if request.missing not in get_args(Missing):
        allowed = ", ".join(repr(option) for option in get_args(Missing))
        raise OptionError(f"missing={request.missing!r} is not an option", allowed)
    counted = {"pos": request.pos, "neg": request.neg}
    rows = {
        "truth": request.truth,
        "weight": request.weight,
        "pos_label": request.pos_label,
    }
    given = [name for name, value in rows.items() if value is not None]
    if all(value is None for value in counted.values()):
        if request.truth is None:
            raise OptionError(
                "truth= is not given",
                "truth= for single rows, or pos= and neg= for aggregated rows",
            )
    elif lacking := [name for name, value in counted.items() if value is None]:
        raise OptionError(f"{lacking[0]}= is not given", "pos= and neg= together")
    elif given:
        raise OptionError(
            f"{given[0]}= is given beside pos= and neg=",
            "truth= for single rows, or pos= and neg= for aggregated rows",
        )


def _listed(items: object) -> list[Any]:
    if items is None:
        return []
    if isinstance(items, (str, pl.Expr, Mapping)) or not isinstance(items, Iterable):
        return [items]
    return list(items)


def _key_items(by: IntoKeys | None) -> list[IntoColumn]:
    items = _listed(by)
    if by is not None and not items:
        raise OptionError("by= is an empty list", hint="leave by= out to evaluate all rows as one")
    return items


def _score_items(score: IntoScores | None) -> dict[str | None, IntoColumn]:
    if score is None:
        raise OptionError("score= is not given", "a column, a list of columns, or {name: column}")
    if isinstance(score, (str, pl.Expr)):
        return {None: score}
    if isinstance(score, Mapping):
        models: list[tuple[Any, Any]] = list(score.items())
    else:
        models = [(_model_name(item), item) for item in _listed(score)]
    if not models:
        raise OptionError(
            "score= names no column", "a column, a list of columns, or {name: column}"
        )
    for name, _ in models:
        if not isinstance(name, str):
            raise OptionError(f"score= names a model {name!r}", "model names that are strings")
        if [n for n, _ in models].count(name) > 1:
            raise OptionError(
                f"score= names {name!r} twice", hint="give models names: score={'a': ..., 'b': ...}"
            )
    return dict(models)


def _model_name(item: object) -> str:
    return item.meta.output_name() if isinstance(item, pl.Expr) else str(item)


def _expression(schema: pl.Schema, role: str, item: object) -> pl.Expr:
    if isinstance(item, str):
        _check_exists(schema, role, item)
        # pl.col reads "^...$" as a pattern; a selector takes the name as it is.
        return cs.by_name(item) if item.startswith("^") else pl.col(item)
    if isinstance(item, pl.Expr):
        for name in item.meta.root_names():
            _check_exists(schema, role, name)
        return item
    raise OptionError(
        f"{role}= takes columns, got {item!r} of type {type(item).__name__}",
        "a column name or a Polars expression",
        "pl.lit(value) makes a constant column",
    )


def _check_exists(schema: pl.Schema, role: str, name: str) -> None:
    is_pattern = name.startswith("^") and name.endswith("$")
    if name not in schema and not is_pattern:
        raise ColumnError(f"{role}= names {name!r}, which is no column", hint=nearest(name, schema))


def _outputs(lf: pl.LazyFrame, role: str, column: pl.Expr) -> dict[str, pl.DataType]:
    try:
        outputs = dict(lf.select(column).collect_schema())
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise ColumnError(
            f"{role}= is an expression that this frame cannot give: {reason}"
        ) from error
    if not outputs:
        raise ColumnError(f"{role}= selects no column", hint=nearest("", lf.collect_schema()))
    return outputs


def _single(lf: pl.LazyFrame, role: str, column: pl.Expr) -> tuple[str, pl.DataType]:
    outputs = _outputs(lf, role, column)
    if len(outputs) > 1:
        listed = ", ".join(repr(name) for name in outputs)
        raise ColumnError(
            f"{role}= gives {len(outputs)} columns ({listed})",
            "one column",
            "several models go into score= as a list" if role == "score" else None,
        )
    return next(iter(outputs.items()))


def _check_dtypes(columns: Columns) -> None:
    for role, dtype in columns.dtypes.items():
        if role != "truth" and not dtype.is_numeric():
            raise ColumnError(
                f"{_said(role)}= is column {columns.names[role]!r} of dtype {dtype}",
                "a numeric column",
                "cast it first, for example pl.col(...).cast(pl.Float64)",
            )
    if not columns.counted:
        _check_truth(columns.names["truth"], columns.dtypes["truth"], columns.request.pos_label)


def _check_truth(name: str, dtype: pl.DataType, pos_label: object) -> None:
    if pos_label is not None:
        _check_label(name, dtype, pos_label)
    elif dtype != pl.Boolean and not dtype.is_numeric():
        raise ColumnError(
            f"truth= is column {name!r} of dtype {dtype}",
            "Boolean, or 0/1 numbers, or any dtype with pos_label=",
            "name the positive class, for example pos_label='yes'",
        )


def _check_label(name: str, dtype: pl.DataType, label: Any) -> None:
    wrong = OptionError(
        f"pos_label={label!r} cannot be a value of truth column {name!r} of dtype {dtype}",
        f"a value of dtype {dtype}",
    )
    label = label.item() if hasattr(label, "item") else label  # a NumPy scalar
    if (dtype == pl.Boolean) != isinstance(label, bool):
        raise wrong
    try:
        pl.DataFrame(schema={"truth": dtype}).select(pl.col("truth") == label)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise wrong from error


def _check_keys(keys: list[pl.Expr], outputs: list[dict[str, pl.DataType]]) -> None:
    _refuse_repeats([("by", name) for names in outputs for name in names])
    for names in outputs:
        for name, dtype in names.items():
            if dtype == pl.Object:
                raise ColumnError(
                    f"by= names {name!r} of dtype {dtype}",
                    "any dtype that can be sorted",
                    "cast it to String first",
                )


def _check_twice(columns: Columns) -> None:
    """Refuse one plain column in two roles: a slip that would give a plausible number."""
    plain = {r: c for r, c in columns.roles.items() if _is_plain(c)}
    keys = [key for key in columns.keys if _is_plain(key)]
    key_names = pl.LazyFrame(schema=columns.key_dtypes).select(keys).collect_schema()
    _refuse_repeats(
        [*((_said(role), columns.names[role]) for role in plain), *(("by", n) for n in key_names)]
    )


def _is_plain(column: pl.Expr) -> bool:
    return column.meta.is_column_selection()


def _refuse_repeats(uses: list[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for role, name in uses:
        if name in seen:
            where = f"twice in {role}=" if seen[name] == role else f"in {seen[name]}= and {role}="
            raise ColumnError(
                f"column {name!r} is named {where}",
                "each column once",
                "an expression with .alias(...) makes a second column on purpose",
            )
        seen[name] = role


def _check_clashes(columns: Columns, outputs: Iterable[str]) -> None:
    taken = [*outputs] if columns.models == [None] else [MODEL, *outputs]
    for name in columns.key_dtypes:
        if name in taken:
            raise ColumnError(
                f"key {name!r} in by= is named like a column of the result",
                hint=f"rename it: by=pl.col({name!r}).alias(...)",
            )
