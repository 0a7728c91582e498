"""The parameters that the verbs share, checked against each other before a schema is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast, get_args

import polars as pl

from frame_prc._request.hints import column_hint
from frame_prc._request.specs import (
    GROUPING,
    MODEL,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
)
from frame_prc._request.values import ABOVE, BELOW, other_end, plain
from frame_prc.exceptions import (
    THIS_VERB,
    OptionError,
    close_to,
    did_you_mean,
    shown,
    type_name,
)

OptionT = TypeVar("OptionT")


_ROWS_OR_COUNTS = "truth= for single rows, or pos= and neg= for aggregated rows"
# The column of counts() for a score, or for the end of a bin that is in it.
THRESHOLD = "threshold"
# How to pass the result of counts() to a verb.
OF_COUNTS = "score='threshold', pos='pos', neg='neg'"
_SCORES = "one column, or several"
_SEVERAL = "pass several as a list of columns, or as {name: column}"


@dataclass(frozen=True)
class Request:
    """The parameters that every verb shares.

    ``classes`` are ``truth``, maybe with ``weight``, or ``pos`` and ``neg``, maybe with their
    squares. A single score is that of the model ``None``. ``cluster`` names rows that are not
    independent, ``strata`` those that were sampled apart; in long data ``model`` is that of a row,
    and ``row`` the item that it is about. ``groupings`` are places in ``keys``. ``side_by_side``
    says that models are compared row by row, so that the result has no key for them.
    """

    classes: dict[str, IntoColumn]
    models: dict[str | None, IntoColumn]
    keys: list[IntoColumn]
    groupings: tuple[tuple[int, ...], ...] | None
    pos_label: Any
    missing: Missing
    cluster: IntoColumn | None = None
    strata: IntoColumn | None = None
    ascending: bool = False
    model: IntoColumn | None = None
    row: IntoColumn | None = None
    side_by_side: bool = False
    threshold: IntoColumn | None = None

    @cached_property
    def of_counts(self) -> bool:
        """Whether these are the columns of counts(), maybe of bins, under their own names."""
        scores = [_plain_name(score) for score in self.models.values()]
        named_so = "pos" in self.classes and scores == [THRESHOLD]
        return named_so and self.bin_end not in self.amount_names()

    @property
    def of_named_counts(self) -> bool:
        """Whether amounts have their names too: elsewhere a column ``model`` may be anything."""
        return self.of_counts and {"pos", "neg"} <= self.amount_names()

    @property
    def bin_end(self) -> str:
        return other_end(ascending=self.ascending)

    @cached_property
    def several_models(self) -> bool:
        several = self.model is not None or None not in self.models
        return several and not self.side_by_side

    @property
    def key_names(self) -> set[str]:
        """The names of the keys, but for those that only the schema can tell."""
        names = {MODEL} if self.several_models else set()
        for key in self.keys:
            if isinstance(key, str):
                names.add(key)
            elif not key.meta.has_multiple_outputs():
                names.add(key.meta.output_name())
        return names

    @property
    def made_keys(self) -> list[str]:
        model = self.several_models and _plain_name(self.model) != MODEL
        return [*([GROUPING] if self.groupings is not None else []), *([MODEL] if model else [])]

    def amount_names(self) -> set[str]:
        amounts = [column for role, column in self.classes.items() if role != "truth"]
        return set().union(*map(_names_in, amounts))

    def column_names(self) -> set[str] | None:
        """Return the columns that are named; ``None`` if all may be needed, as for constants."""
        optional = [self.cluster, self.strata, self.model, self.row, self.threshold]
        others = [column for column in optional if column is not None]
        # Counts may have these, which then have to be looked at.
        of_counts = [BELOW, ABOVE, MODEL] if self.of_counts else []
        roles = [*self.classes.values(), *self.models.values()]
        return names_of([*roles, *self.keys, *others, *of_counts]) or None


def names_of(items: Sequence[IntoColumn]) -> set[str] | None:
    """Return the columns that items name, or ``None`` if only the schema can tell."""
    if any(isinstance(i, pl.Expr) and i.meta.has_multiple_outputs() for i in items):
        return None
    return set().union(*map(_names_in, items))


def _names_in(item: object) -> set[str]:
    if isinstance(item, pl.Expr):
        return set(item.meta.root_names())
    return {item} if isinstance(item, str) else set()


def _plain_name(item: object) -> str | None:
    """Return the name of an item that is one column as it stands."""
    if isinstance(item, pl.Expr):
        return item.meta.output_name() if item.meta.is_column() else None
    return item if isinstance(item, str) else None


def request(
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    cluster: IntoColumn | None = None,
    strata: IntoColumn | None = None,
    row: IntoColumn | None = None,
    model: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    ascending: bool = False,
    pos: IntoColumn | None = None,
    neg: IntoColumn | None = None,
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
) -> Request:
    missing = check_option("missing", missing, get_args(Missing))
    ascending = check_option("ascending", ascending, (True, False))
    given = {"truth": truth, "weight": weight, "pos": pos, "neg": neg}
    given |= {"pos_squares": pos_squares, "neg_squares": neg_squares}
    classes = {role: column for role, column in given.items() if column is not None}
    _check_classes(classes, pos_label)
    if "pos" in classes:
        units = {"cluster=": cluster, "strata=": strata}
        lost = "counts no longer tell which rows belong together"
        refuse("{} is given beside pos= and neg=", units, _ROWS_OR_COUNTS, lost)
    if missing == "drop":
        check_whole_strata("missing='drop'", strata)
    if isinstance(pos_label, pl.Expr):
        raise OptionError(
            "pos_label= is an expression",
            "a value of the truth",
            "truth= may be an expression, for example pl.col('class') == 'yes'",
        )
    models = _models(score)
    if model is not None and None not in models:
        raise OptionError(
            "model= is given with several models in score=",
            "model= with one column of scores, or several columns without model=",
        )
    if getattr(pos_label, "shape", ()) != ():
        is_of = f"pos_label= is of type {type_name(pos_label)}"
        raise OptionError(is_of, "a single value of the truth")
    keys, label = keys_and_groupings(by), plain(pos_label)
    return Request(classes, models, *keys, label, missing, cluster, strata, ascending, model, row)


def check_option(
    name: str, value: object, options: Iterable[OptionT], hint: str | None = None
) -> OptionT:
    given = plain_option(value)
    for option in options:
        # 1 == True, but 1 is not a flag.
        if type(given) is type(option) and given == option:
            return option
    allowed = ", ".join(repr(option) for option in options)
    if hint is None and isinstance(given, str):
        hint = did_you_mean(close_to(given, [one for one in options if isinstance(one, str)]))
    raise OptionError(f"{name}={shown(given)} is not an option", allowed, hint)


def refuse(
    what: str, given: Mapping[str, object], allowed: str = "one of them", hint: str | None = None
) -> None:
    """Raise an error about the first of some things that is not ``None``: ``{}`` is its name."""
    name = next((name for name, one in given.items() if one is not None), None)
    if name is not None:
        raise OptionError(what.format(name), allowed, hint and hint.replace("{}", name))


def plain_option(value: Any) -> Any:
    """Return a string enumeration or a NumPy scalar as a plain Python value."""
    if isinstance(value, str):
        return str.__str__(value)
    shape = getattr(value, "shape", None)  # of what computes lazily it may be anything
    is_scalar = isinstance(shape, tuple) and shape == () and hasattr(value, "item")
    return value.item() if is_scalar else value


def _check_classes(classes: dict[str, IntoColumn], pos_label: object) -> None:
    squares = [role for role in ("pos_squares", "neg_squares") if role in classes]
    if len(squares) == 1:
        raise OptionError(f"{squares[0]}= is given alone", "pos_squares= and neg_squares= together")
    if "pos" not in classes and "neg" not in classes:
        if squares:
            raise OptionError(
                "pos_squares= and neg_squares= are given without pos= and neg=",
                "the sums of squared weights beside the sums of weights",
                "with truth= and weight= they are computed",
            )
        if "truth" not in classes:
            raise OptionError("truth= is not given", _ROWS_OR_COUNTS)
        return
    for role in ("pos", "neg"):
        if role not in classes:
            is_label = role == "neg" and "truth" in classes
            raise OptionError(
                f"{role}= is not given",
                "pos= and neg= together",
                f"did you mean pos_label={shown(classes['pos'])}?" if is_label else None,
            )
    of_rows = {"truth=": classes.get("truth"), "weight=": classes.get("weight")}
    given = {**of_rows, "pos_label=": pos_label}
    refuse("{} is given beside pos= and neg=", given, _ROWS_OR_COUNTS)


def check_whole_strata(what: str, strata: object) -> None:
    """Refuse to leave rows out of strata, whose sizes are then random too."""
    if strata is not None:
        raise OptionError(
            f"{what} is given with strata=, of which it may leave rows out",
            "all rows that were sampled, in segments of whole strata by by=",
            "without strata= the interval is wider than it need be",
        )


def with_type(value: object) -> str:
    text, kind = shown(value), type_name(value)
    return f"a value of type {kind}" if text == kind else f"{text} of type {kind}"


def check_column(role: str, item: object) -> None:
    if isinstance(item, (str, pl.Expr)):
        return
    raise OptionError(
        f"{role}= takes columns, got {with_type(item)}",
        "a column name or a Polars expression",
        column_hint(plain_option(item)),
    )


def _models(score: IntoScores | None) -> dict[str | None, IntoColumn]:
    if score is None:
        raise OptionError("score= is not given", _SCORES, _SEVERAL, shell_hint=None)
    if isinstance(score, Mapping):
        models = [(name, column) for name, column in score.items()]
    elif (listed := column_list(score)) is not None:
        for column in listed:
            check_column("score", column)
        models = [(name_of(column), column) for column in listed]
    else:
        return {None: cast("IntoColumn", score)}
    if not models:
        raise OptionError("score= names no column", _SCORES, _SEVERAL, shell_hint=None)
    _check_model_names([name for name, _ in models])
    return dict(models)


def name_of(column: IntoColumn) -> str:
    """Return the name of a column, or the text of an expression that has none of its own."""
    if isinstance(column, pl.Expr):
        # Several columns have no single name; find_column() refuses them.
        return column.meta.output_name(raise_if_undetermined=False) or str(column)
    return column


def _check_model_names(names: list[Any]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise OptionError(f"score= names a model {shown(name)}", "names that are strings")
        if names.count(name) > 1:
            raise OptionError(
                f"score= names {name!r} twice",
                "each model once",
                "give names, for example score={'first': ..., 'second': ...}",
                shell_hint="name them, as in -s first=COLUMN -s second=COLUMN",
            )


def keys_and_groupings(
    by: IntoKeys | None,
) -> tuple[list[IntoColumn], tuple[tuple[int, ...], ...] | None]:
    """Return the items of ``by``, each once, and the places of those of each grouping."""
    listed = [column_list(item) for item in (column_list(by) or [])]
    if all(items is None for items in listed):
        return key_items(by), None
    keys: list[IntoColumn] = []
    groupings: list[tuple[int, ...]] = []
    for items in listed:
        if items is None:
            raise OptionError(
                "by= mixes columns and lists of columns",
                "columns, or a list of columns for each grouping",
                "for example by=[['region'], ['region', 'device'], []]",
            )
        groupings.append(tuple(_place(item, keys) for item in items))
    return keys, tuple(groupings)


def _place(item: IntoColumn, keys: list[IntoColumn]) -> int:
    for place, key in enumerate(keys):
        if _is_same(item, key):
            return place
    keys.append(item)
    return len(keys) - 1


def _is_same(one: IntoColumn, other: IntoColumn) -> bool:
    if isinstance(one, pl.Expr) and isinstance(other, pl.Expr):
        return one.meta.eq(other)
    name = _plain_name(one)
    return name is not None and name == _plain_name(other)


def check_pooled(request: Request) -> None:
    """Refuse to pool the counts of several models: each item would count for each of them."""
    if request.of_named_counts and MODEL in map(_plain_name, request.keys):
        raise OptionError(
            f"overall=True pools all segments, and the key {MODEL!r} of the counts makes segments",
            f"{MODEL}={MODEL!r} instead of that key",
            f"with {MODEL}= the segments of each model are pooled on their own",
        )


def check_one_grouping(request: Request) -> None:
    if request.groupings is not None:
        raise OptionError(
            f"by= is a list of groupings, which {THIS_VERB} does not take",
            "the keys of one grouping",
            "call it for each of them",
        )


def key_items(by: IntoKeys | None) -> list[IntoColumn]:
    if by is None:
        return []
    items = column_list(by)
    if items is None:
        return [cast("IntoColumn", by)]
    if not items:
        raise OptionError(
            "by= is an empty list",
            "a column, an expression, a selector, or a list of them",
            "leave by= out to evaluate all rows as one segment",
        )
    return items


def column_list(value: object) -> list[Any] | None:
    """Return the items of a list of columns, or ``None`` if a value is not one."""
    if isinstance(value, (str, pl.Expr)):
        return None
    if isinstance(value, Sequence):
        return list(value)
    names = list(cast("Iterable[Any]", value)) if type_name(value) == "pandas.Index" else []
    return names if names and all(isinstance(name, str) for name in names) else None
