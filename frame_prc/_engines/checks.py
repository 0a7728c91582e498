"""Checks inside an engine: the rules that Polars frames are held to, as texts or as totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._formulas import without_nan
from frame_prc._request.values import Bins
from frame_prc._rows import rules
from frame_prc._rows.columns import Columns
from frame_prc.exceptions import DataError, message


@dataclass(frozen=True)
class Checks:
    """The rules that rows are held to, and whether their ``pos_label=`` occurs."""

    columns: Columns
    row_rules: list[rules.Rule[nw.Expr]]

    def row_problem(self) -> nw.Expr:
        problem = nw.lit(None, nw.String)
        for rule in reversed(self.row_rules):
            text = _text(rule.error("a row"), rule.value)
            problem = nw.when(rule.broken).then(text).otherwise(problem)
        return problem

    def label_problem(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        if self._label is None:
            return None
        low, high = (nw.col(name).cast(nw.String) for name in ("low", "high"))
        text = _text(self._absent_label("values from "), nw.concat_str([low, nw.lit(" to "), high]))
        absent = (nw.col("found") == 0) & ~nw.col("low").is_null()
        return rows.select(**self._label_totals()).select(problem=nw.when(absent).then(text))

    def totals(self) -> dict[str, nw.Expr]:
        found = {} if self._label is None else self._label_totals()
        for place, rule in enumerate(self.row_rules):
            broken = nw.when(rule.broken)
            found[f"rows_{place}"] = broken.then(1).otherwise(0).sum()
            if rule.value is not None:
                found[f"low_{place}"] = broken.then(rule.value).min()
                found[f"high_{place}"] = broken.then(rule.value).max()
        return found

    def raise_first(self, found: dict[str, Any]) -> None:
        for place, rule in enumerate(self.row_rules):
            if count := found[f"rows_{place}"]:
                rows = f"{count} row" if count == 1 else f"{count} rows"
                raise rule.error(rows, _span(found.get(f"low_{place}"), found.get(f"high_{place}")))
        if self._label is not None and not found["found"] and found["low"] is not None:
            raise self._absent_label(f"values from {found['low']} to {found['high']}")

    @property
    def _label(self) -> object:
        return self.columns.request.pos_label

    def _label_totals(self) -> dict[str, nw.Expr]:
        column = self.columns.classes["truth"]
        truth = without_nan(nw.col("truth"), column.dtype)
        # PostgreSQL casts no Boolean to an integer of 64 bits.
        positive = nw.when(rules.is_positive(self.columns, nw.col("truth"))).then(1).otherwise(0)
        return {"found": positive.sum(), "low": truth.min(), "high": truth.max()}

    def _absent_label(self, values: str) -> DataError:
        return rules.absent_label(self.columns.classes["truth"], self._label, values)


def checks_of(columns: Columns, bins: Bins | None, measures: Sequence[str] = ()) -> Checks:
    """Return the checks of a request's rows; the first that fails is the error."""
    found = [*_rules(columns)]
    found += [
        rule for name in measures[:1] for rule in rules.probability_rules(columns, nw.col, name)
    ]
    if bins is not None:
        found += rules.bin_rules(columns, bins, nw.col)
    return Checks(columns, found)


def _rules(columns: Columns) -> Iterator[rules.Rule[nw.Expr]]:
    for role, column in columns.classes.items():
        if role != "truth":
            yield from rules.amount_rules(role, column, nw.col(role))
    truth = columns.classes.get("truth")
    if truth and columns.request.pos_label is None and truth.dtype != pl.Boolean:
        swapped = "; or are truth= and score= swapped?" if truth.dtype.is_float() else ""
        hint = f"name the positive class with pos_label={swapped}"
        yield rules.binary_rule(truth, nw.col("truth"), hint)
    yield from rules.required_rules(columns, nw.col)
    yield from rules.exact_rules(columns.scores, nw.col)
    if columns.with_squares:
        for role in rules.SUMS:
            yield rules.squares_rule(role, columns.classes, nw.col)


def _text(error: DataError, value: nw.Expr | None) -> nw.Expr:
    if value is None:
        return nw.lit(str(error))
    rest = message("", error.allowed, error.hint)
    return nw.concat_str([nw.lit(error.what), value.cast(nw.String), nw.lit(rest)])


def _span(low: object, high: object) -> str:
    if low is None:
        return ""
    return str(low) if str(low) == str(high) else f"{low} to {high}"
