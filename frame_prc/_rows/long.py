"""Long data: a row per item and model becomes a row per item with the scores of all models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from frame_prc._formulas import without_nan
from frame_prc._lazy import left_join, named
from frame_prc._request.roles import Request
from frame_prc._rows.checks import check, check_of
from frame_prc._rows.columns import Column, Columns, role_name
from frame_prc._rows.rules import required_rule
from frame_prc.exceptions import DataError, shown

# Names for two models, where only the columns of a result matter.
PLACEHOLDERS = ("a", "b")

_MOST_SHOWN = 5
_PAIR = 2


def of_models(request: Request, models: Sequence[str]) -> Request:
    """Return the request in which each model has a column of scores."""
    scores: dict[str | None, Any] = {model: f"score of {model}" for model in models}
    return replace(request, models=scores, model=None, row=None, side_by_side=True)


def side_by_side_columns(columns: Columns, models: Sequence[str]) -> Columns:
    """Return where the columns are once the scores of these models are beside each other."""
    score = columns.scores[0]
    name = score.expression.meta.output_name().removesuffix("0")
    scores = [
        Column(pl.col(f"{name}{place}"), f"{score.name} of {model}", score.dtype)
        for place, model in enumerate(models)
    ]
    request = of_models(columns.request, models)
    return replace(columns, request=request, scores=scores, model=None, row=None)


def wide_schema(long: pl.Schema, columns: Columns, moved: Columns) -> pl.Schema:
    """Return the schema of the rows of items."""
    kept = {name: long[name] for name in [*columns.key_dtypes, *_values(columns)]}
    scores = {_name(score): score.dtype for score in moved.scores}
    return pl.Schema({**kept, **scores})


def models_of(frame: pl.DataFrame, columns: Columns) -> list[str]:
    """Return the names of the models, in their order; raise an error if there is only one."""
    model, row = _of_long(columns)
    for role, column, hint in (
        ("model", model, "leave out such rows before"),
        ("row", row, "give each item a value"),
    ):
        rule = required_rule(role, column, column.expression, hint)
        allowed = f"a value in each row of {role}="
        rule = replace(rule, subject=role_name(role, column), allowed=allowed)
        check(frame.lazy(), [check_of(rule)])
    names = frame[_name(model)].unique().sort().cast(pl.String).to_list()
    if 0 < len(names) < _PAIR:
        raise DataError(
            f"{role_name('model', model)} holds one model: {shown(names[0])}",
            "two or more",
            "compare_segments() compares the segments of one model",
        )
    return names


def put_side_by_side(
    frame: pl.DataFrame, columns: Columns, models: Sequence[str]
) -> tuple[pl.DataFrame, Columns]:
    """Return a row per item, and where its columns are; raise an error if rows do not match."""
    model, row = _of_long(columns)
    item, values = [*columns.key_dtypes, _name(row)], _values(columns)
    _check_unique(frame, [*item, _name(model)], row)
    items = frame.group_by(map(named, item), maintain_order=True).agg(
        *(_value(column) for column in values.values()),
        *(_differs(column).alias(f"\0differs {name}") for name, column in values.items()),
    )
    _check_alike(items, columns, values)
    moved = side_by_side_columns(columns, models)
    score, of_model = columns.scores[0].expression, model.expression.cast(pl.String)
    for name, own in zip(models, moved.scores, strict=True):
        part = frame.filter(of_model == name)
        scores = part.select(*map(named, item), score.alias(_name(own)), _name(model))
        items = left_join(items, scores, item).rename({_name(model): f"\0has {name}"})
    if columns.request.missing == "raise":
        _check_complete(items, row, models)
    wanted = [*columns.key_dtypes, *values, *map(_name, moved.scores)]
    return items.select(map(named, wanted)), moved


def _of_long(columns: Columns) -> tuple[Column, Column]:
    """Return the columns of the model and of the item."""
    if columns.model is None or columns.row is None:
        raise AssertionError("only of long data")
    return columns.model, columns.row


def _name(column: Column) -> str:
    return column.expression.meta.output_name()


def _values(columns: Columns) -> dict[str, Column]:
    """Return the columns, by name, of what models cannot differ in: truth, weight and units."""
    of_units = [one for one in (columns.cluster, columns.strata) if one is not None]
    roles = [*columns.classes.values(), *of_units]
    return {_name(column): column for column in roles}


def _known(column: Column) -> pl.Expr:
    return without_nan(column.expression, column.dtype)


def _value(column: Column) -> pl.Expr:
    """Return the value of an item; null if one of its rows has none."""
    complete = _known(column).is_not_null().all()
    return pl.when(complete).then(column.expression.first()).alias(_name(column))


def _differs(column: Column) -> pl.Expr:
    """Return whether the rows of an item have different values."""
    return _known(column).drop_nulls().n_unique() > 1


def _check_unique(frame: pl.DataFrame, names: Sequence[str], row: Column) -> None:
    repeated = frame.height - frame.select(map(named, names)).n_unique() if frame.height else 0
    if repeated:
        raise DataError(
            f"{role_name('row', row)} does not identify items: {_count(repeated, 'row')} with the "
            "model, the item and the keys of another row",
            "one row for each model and item, within the keys of by=",
            "add to by= or row= what tells the rows apart, such as row=pl.struct('day', 'user')",
        )


def _check_alike(items: pl.DataFrame, columns: Columns, values: dict[str, Column]) -> None:
    roles = {_name(column): role for role, column in columns.roles.items()}
    for name, column in values.items():
        different = int(items[f"\0differs {name}"].sum())
        if different:
            raise DataError(
                f"{role_name(roles[name], column)} differs between the models in "
                f"{_count(different, 'item')}",
                "the same value for all models",
                "does row= name the column that identifies an item?",
            )


def _check_complete(items: pl.DataFrame, row: Column, models: Sequence[str]) -> None:
    lacking = {model: items[f"\0has {model}"].null_count() for model in models}
    found = [f"{shown(model)} lacks {number}" for model, number in lacking.items() if number]
    if found:
        more = f", and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        raise DataError(
            f"models have rows of different items by {role_name('row', row)}: of "
            f"{_count(items.height, 'item')} {', '.join(found[:_MOST_SHOWN])}{more}",
            "a row of each model for each item",
            "missing='drop' leaves such items out for all models; missing='unretrieved' takes them "
            "as never retrieved by the models that lack them",
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
