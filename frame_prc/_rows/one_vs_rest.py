"""One-vs-rest: several classes or labels side by side become one long frame with a label key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._lazy import cached, concat, key_names, named
from frame_prc._request.class_values import class_value, literal, other_spelling, plain
from frame_prc._request.roles import check_column, column_list, key_items, names_of
from frame_prc._request.specs import IntoColumn, IntoKeys
from frame_prc._rows.checks import Check, check_of, class_check, with_checks
from frame_prc._rows.columns import (
    Column,
    check_not_swapped,
    check_numeric,
    check_repeats,
    common_score_dtype,
    find_column,
    find_keys,
    project,
)
from frame_prc._rows.rows import computed
from frame_prc._rows.rules import binary_rule, exact_rules
from frame_prc.exceptions import OptionError, shown

COLUMNS = ("label", "truth", "score")


@dataclass(frozen=True)
class LabelRequest:
    """The parameters of :func:`one_vs_rest`.

    ``truths`` is a single column of classes, or an indicator per label; ``labels`` are the classes,
    or the names of the labels, ``None`` where the truth column has the name of its label.
    """

    truths: list[IntoColumn]
    labels: list[Any]
    scores: list[IntoColumn]
    keys: list[tuple[str, IntoColumn]]
    weight: IntoColumn | None
    multiclass: bool

    def column_names(self) -> set[str] | None:
        """Return the names of all columns, or ``None`` where only the schema shows them."""
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
    """Return the request that parameters make, or raise where they contradict each other."""
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
    """Return the truth of each label, in one dtype."""
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
    """Select the columns under internal names; return them, and the result's keys and weight."""
    schema = lf.collect_schema()
    found = [(role, *find_keys(lf, role, item, schema)) for role, item in request.keys]
    carried = [(role, name) for role, _, outputs in found for name in outputs]
    names = [name for _, name in carried]
    weight = []
    if request.weight is not None:
        weight.append(find_column(lf, "weight", request.weight, schema))
    carried += [("weight", column.name) for column in weight]
    check_repeats([*(("the result", name) for name in COLUMNS), *carried])
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
