"""Frames made into other rows: models side by side, labels below each other, a sample to label."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_prc._formulas import without_nan
from frame_prc._lazy import cached, concat, key_names, left_join, named
from frame_prc._request.roles import Request, check_column, column_list, key_items, names_of
from frame_prc._request.specs import IntoColumn, IntoKeys
from frame_prc._request.values import class_value, literal, other_spelling, plain
from frame_prc._rows.checks import Check, check, check_of, class_check, with_checks
from frame_prc._rows.columns import (
    Column,
    Columns,
    check_not_swapped,
    check_numeric,
    check_repeats,
    common_score_dtype,
    find_column,
    find_keys,
    project,
    role_name,
)
from frame_prc._rows.rows import computed
from frame_prc._rows.rules import binary_rule, counted, exact_rules, required_rule
from frame_prc.exceptions import ColumnError, DataError, OptionError, shown

# --- long data: the models of an item side by side ---------------------------------------------

# Names for two models, where only the columns of a result matter.
PLACEHOLDERS = ("a", "b")

_MOST_SHOWN = 5
_PAIR = 2


def of_models(request: Request, models: Sequence[str]) -> Request:
    scores: dict[str | None, Any] = {model: f"score of {model}" for model in models}
    return replace(request, models=scores, model=None, row=None, side_by_side=True)


def side_by_side_columns(columns: Columns, models: Sequence[str]) -> Columns:
    score = columns.scores[0]
    name = score.expression.meta.output_name().removesuffix("0")
    scores = [
        Column(pl.col(f"{name}{place}"), f"{score.name} of {model}", score.dtype)
        for place, model in enumerate(models)
    ]
    request = of_models(columns.request, models)
    return replace(columns, request=request, scores=scores, model=None, row=None)


def wide_schema(long: pl.Schema, columns: Columns, moved: Columns) -> pl.Schema:
    kept = {name: long[name] for name in [*columns.key_dtypes, *_values(columns)]}
    scores = {_name(score): score.dtype for score in moved.scores}
    return pl.Schema({**kept, **scores})


def models_of(frame: pl.DataFrame, columns: Columns) -> list[str]:
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
    model, row = _of_long(columns)
    item, values = [*columns.key_dtypes, _name(row)], _values(columns)
    _check_unique(frame, [*item, _name(model)], row)
    items = frame.group_by(map(named, item), maintain_order=True).agg(
        *(_value(column) for column in values.values()),
        *(
            (_known(column).drop_nulls().n_unique() > 1).alias(f"\0differs {name}")
            for name, column in values.items()
        ),
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


def _check_unique(frame: pl.DataFrame, names: Sequence[str], row: Column) -> None:
    repeated = frame.height - frame.select(map(named, names)).n_unique() if frame.height else 0
    if repeated:
        raise DataError(
            f"{role_name('row', row)} does not identify items: {counted(repeated, 'row')} with the "
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
                f"{counted(different, 'item')}",
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
            f"{counted(items.height, 'item')} {', '.join(found[:_MOST_SHOWN])}{more}",
            "a row of each model for each item",
            "missing='drop' leaves such items out for all models; missing='unretrieved' takes them "
            "as never retrieved by the models that lack them",
        )


# --- one-vs-rest: a label below the other ------------------------------------------------------

LABEL_COLUMNS = ("label", "truth", "score")


@dataclass(frozen=True)
class LabelRequest:
    """The parameters of :func:`one_vs_rest`.

    ``truths`` is one column of classes, or an indicator per label, whose label may be its name.
    """

    truths: list[IntoColumn]
    labels: list[Any]
    scores: list[IntoColumn]
    keys: list[tuple[str, IntoColumn]]
    weight: IntoColumn | None
    multiclass: bool

    def column_names(self) -> set[str] | None:
        weight = [] if self.weight is None else [self.weight]
        keys = [item for _, item in self.keys]
        return names_of([*self.truths, *self.scores, *keys, *weight]) or None


def label_request(
    truth: IntoColumn | Sequence[IntoColumn],
    score: Mapping[Any, IntoColumn] | Sequence[IntoColumn],
    by: IntoKeys | None,
    weight: IntoColumn | None,
    row: IntoColumn | None,
) -> LabelRequest:
    listed, truths = column_list(score), column_list(truth)
    multiclass = truths is None
    if truths is None:
        check_column("truth", truth)
        truths = [truth]
    if isinstance(score, Mapping):
        labels, scores = list(score), list(score.values())
    elif multiclass or listed is None:
        raise OptionError(
            f"score={shown(score)} does not say which column belongs to which class",
            "{class: column} for one truth column, or lists of truth and score columns",
        )
    else:
        labels, scores = [None] * len(listed), listed
    if not scores:
        raise OptionError("score= names no column", "a score column per class or label")
    if not multiclass and len(truths) != len(scores):
        raise OptionError(
            f"truth= has {len(truths)} columns and score= has {len(scores)}",
            "one score column per truth column, in the same order",
        )
    rows = [] if row is None else [("row", row)]
    keys = [*rows, *(("by", item) for item in key_items(by))]
    return LabelRequest(truths, labels, scores, keys, weight, multiclass)


def one_vs_rest(lf: pl.LazyFrame, request: LabelRequest, *, in_memory: bool) -> pl.LazyFrame:
    """Return all rows for the first label, then all for the next."""
    schema = lf.collect_schema()
    truths = [find_column(lf, "truth", item, schema) for item in request.truths]
    scores = [find_column(lf, "score", item, schema) for item in request.scores]
    if not request.multiclass:
        for truth, score in zip(truths, scores, strict=True):
            check_not_swapped(truth, score, None)
    for column in scores:
        check_numeric("score", column)
    source, keys, tail = _project(lf, truths, scores, request)
    source = computed(source).lazy() if in_memory else cached(source)
    if request.multiclass:
        labels, indicators, checks = _classes(truths[0], request.labels)
    else:
        names = [t.name if n is None else n for n, t in zip(request.labels, truths, strict=True)]
        check_repeats([("the labels of truth=", str(name)) for name in names])
        labels = [pl.lit(str(name)) for name in names]
        indicators, checks = _indicators(truths)
    checks = [*checks, *map(check_of, exact_rules(scores, pl.col))]
    score_dtype = common_score_dtype(scores)
    parts = [
        source.select(
            *keys,
            labels[i].alias("label"),
            indicators[i].alias("truth"),
            pl.col(f"score_{i}").cast(score_dtype).alias("score"),
            *tail,
        )
        for i in range(len(scores))
    ]
    return with_checks(concat(parts), source, checks, in_memory=in_memory)


def _classes(truth: Column, classes: list[Any]) -> tuple[list[pl.Expr], list[pl.Expr], list[Check]]:
    found = [(label, class_value(plain(label), truth.dtype)) for label in classes]
    values = [value for _, value in found if value is not None]
    if len(values) < len(classes):
        impossible = [label for label, value in found if value is None]
        other = other_spelling(impossible[0], truth.dtype)
        raise OptionError(
            f"score= names classes that truth= column {truth.name!r} of dtype {truth.dtype} "
            f"cannot hold: {', '.join(map(shown, impossible))}",
            f"values of dtype {truth.dtype}",
            None if other is None else f"did you mean {other}?",
        )
    if len({repr(value.item()) for value in values}) < len(classes):
        raise OptionError(
            f"score= names a class twice: {', '.join(map(shown, classes))}", "each class once"
        )
    labels = [literal(value) for value in values]
    indicators = [pl.col("truth_0").eq(label) for label in labels]
    typed = [label.cast(truth.dtype) for label in labels]
    return typed, indicators, [class_check(truth, classes, indicators)]


def _indicators(truths: list[Column]) -> tuple[list[pl.Expr], list[Check]]:
    checks = []
    for i, column in enumerate(truths):
        if column.dtype != pl.Boolean:
            check_numeric("truth", column)
            checks.append(check_of(binary_rule(column, pl.col(f"truth_{i}"))))
    alike = len({column.dtype for column in truths}) == 1
    indicators = [pl.col(f"truth_{i}") for i in range(len(truths))]
    return [one if alike else one.cast(pl.Float64) for one in indicators], checks


def _project(
    lf: pl.LazyFrame, truths: list[Column], scores: list[Column], request: LabelRequest
) -> tuple[pl.LazyFrame, list[pl.Expr], list[pl.Expr]]:
    schema = lf.collect_schema()
    found = [(role, *find_keys(lf, role, item, schema)) for role, item in request.keys]
    carried = [(role, name) for role, _, outputs in found for name in outputs]
    names = [name for _, name in carried]
    weight = []
    if request.weight is not None:
        weight.append(find_column(lf, "weight", request.weight, schema))
    carried += [("weight", column.name) for column in weight]
    check_repeats([*(("the result", name) for name in LABEL_COLUMNS), *carried])
    roles = {
        **{f"truth_{i}": column for i, column in enumerate(truths)},
        **{f"score_{i}": column for i, column in enumerate(scores)},
    }
    if weight:
        roles["weight"] = weight[0]
    by = dict(zip(names, key_names(len(names)), strict=True))
    numbered = [named(name).alias(key) for name, key in by.items()]
    source = project(lf, [key for _, key, _ in found], numbered, roles)
    keys = [pl.col(key).alias(name) for name, key in by.items()]
    return source, keys, [pl.col("weight").alias(column.name) for column in weight]


# --- which rows to label -----------------------------------------------------------------------

# A row of rank r is drawn in proportion to ``1 / sqrt(r)``. Of rows that are rarer positives by
# the same factor at each doubling of the rank, this is the allocation of Neyman (1934): in
# proportion to the deviation of what each row may be. In simulations the average precision has .1
# to .6 of the variance that it has with as many rows drawn evenly. No weight is above twice that
# of an even draw. The draw is systematic: a fixed number of rows, at even steps of the added
# probabilities along the ranking, from a random start. So rows that follow one another in it are
# nearly a sample of their part of the ranking: each few of them are a stratum.

PROBABILITY, WEIGHT, STRATUM = SAMPLE_COLUMNS = ("inclusion_probability", "weight", "stratum")
_ROW, _SEGMENT, _PART, _START = "\0row", "\0segment", "\0part", "\0start"
_PLACE, _REST = "\0place", "\0rest"
# Of so many rows the variance within a stratum is known, and little of that between is in it.
_ROWS_IN_STRATUM = 8
_GOLDEN = (5**0.5 - 1) / 2


def sampled(
    lf: pl.LazyFrame,
    score: IntoColumn | Sequence[IntoColumn],
    number: int,
    by: IntoKeys | None,
    *,
    ascending: bool,
    seed: int | None,
    in_memory: bool,
) -> pl.LazyFrame:
    """Return the rows to label in the order they have, with their probability and weight."""
    items = column_list(score)
    if items is None:
        items = [score]
    if not items:
        raise OptionError("score= names no column", "the column of a model, or those of several")
    schema = lf.collect_schema()
    for name in SAMPLE_COLUMNS:
        if name in schema:
            raise ColumnError(
                f"the frame has a column {name!r}, which the sample adds",
                "a frame without it",
                f"rename it, or drop it first: drop({name!r})",
            )
    scores = [find_column(lf, "score", item, schema) for item in items]
    for column in scores:
        check_numeric("score", column)
    keys = [find_keys(lf, "by", item, schema)[0] for item in key_items(by)]
    hint = "fill it in, or leave such rows out: they have no rank"
    rules = [required_rule("score", one, one.expression, hint) for one in scores]
    checked = with_checks(lf, lf, [check_of(rule) for rule in rules], in_memory=in_memory)
    segment = pl.struct(keys) if keys else pl.lit(value=True)
    part = _mean_part(scores, ascending=ascending)
    ranked = (
        checked.with_row_index(_ROW)
        .with_columns(segment.alias(_SEGMENT))
        .with_columns(part.alias(_PART))
        .sort(_SEGMENT, _PART, _ROW, descending=[False, True, False])
        .with_columns(_starts(seed).alias(_START))
    )
    drawn = _with_probability(ranked, number).filter(_is_drawn())
    # Each stratum gets a number that no other segment has.
    number_of = pl.struct(_SEGMENT, STRATUM).rle_id().cast(pl.Int64).alias(STRATUM)
    drawn = drawn.with_columns(_stratum()).with_columns(number_of).sort(_ROW)
    weight = (1 / pl.col(PROBABILITY)).alias(WEIGHT)
    return drawn.select(*map(named, schema), PROBABILITY, weight, STRATUM)


def _mean_part(scores: Sequence[Column], *, ascending: bool) -> pl.Expr:
    """Return what the probability of each row is a multiple of, in the mean of the models."""
    parts = []
    for column in scores:
        rank = column.expression.rank("max", descending=not ascending).over(_SEGMENT)
        parts.append(rank.cast(pl.Float64) ** -0.5)
    return pl.mean_horizontal(parts)


def _with_probability(ranked: pl.LazyFrame, number: int) -> pl.LazyFrame:
    """Add the probability of each row, whose sum in a segment is the number of rows to draw."""
    place = pl.int_range(pl.len()).over(_SEGMENT)
    rest = pl.col(_PART).cum_sum(reverse=True).over(_SEGMENT)
    left = number - pl.col(_PLACE)
    placed = ranked.with_columns(place.alias(_PLACE), rest.alias(_REST))
    certain = (left * pl.col(_PART) > pl.col(_REST)).sum().over(_SEGMENT)
    of_part = pl.when(pl.col(_PLACE) == certain).then(left / pl.col(_REST))
    drawn = of_part.max().over(_SEGMENT) * pl.col(_PART)
    is_certain = pl.col(_PLACE) < certain
    return placed.with_columns(
        pl.when(is_certain).then(1.0).otherwise(drawn).clip(upper_bound=1.0).alias(PROBABILITY)
    )


def _starts(seed: int | None) -> pl.Expr:
    start = random.Random(seed).random()  # noqa: S311 - a sample, not a secret
    return (start + _GOLDEN * pl.col(_SEGMENT).rle_id().cast(pl.Float64)) % 1


def _is_drawn() -> pl.Expr:
    """Return whether a step of the added probabilities is within a row."""
    steps = (pl.col(PROBABILITY).cum_sum() - pl.col(_START)).floor()
    return (steps > steps.shift(1, fill_value=-1.0)).over(_SEGMENT)


def _stratum() -> pl.Expr:
    """Return the place of the stratum of each drawn row in its segment; the last takes the rest."""
    place, rows = (one.over(_SEGMENT) for one in (pl.int_range(pl.len()), pl.len().cast(pl.Int64)))
    last = (rows // _ROWS_IN_STRATUM - 1).clip(lower_bound=0)
    return pl.min_horizontal(place // _ROWS_IN_STRATUM, last).alias(STRATUM)
