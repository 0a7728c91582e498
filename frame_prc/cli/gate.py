"""Conditions under which a command fails although it worked: ``--fail-under 'lift<1'``."""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._request.specs import OF_MARGIN, OF_WATCH, STATUSES
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_IS = "="
_CONDITION = re.compile(r"\s*([^<>=!]+?)\s*([<>=!]+)\s*(\S+)\s*")
_ALLOWED = "a column, one of <, <=, >, >=, and a number, or a column of text, = and a word"
_HINT = "for example --fail-under 'average_precision<0.3', in quotes"
_INTERVAL = ("std_error", "ci_low", "ci_high")
_DIGITS = (4, 6, 9, 17)  # 17 are always enough

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """A column of the result, an operator, a number or a word, and the text that has them."""

    text: str
    column: str
    operator: str
    number: float | str

    @property
    def is_word(self) -> bool:
        """Whether it is about a word."""
        return self.operator == _IS

    def is_met(self, value: float | str) -> bool:
        """Return whether a value meets the condition."""
        return (
            value == self.number if self.is_word else _OPERATORS[self.operator](value, self.number)
        )

    def shown(self, value: float | str) -> str:
        """Return a value with four digits, or more if it takes more to meet the condition."""
        if isinstance(value, (int, str)):
            return str(value)
        texts = (f"{value:.{digits}g}" for digits in _DIGITS)
        return next(text for text in texts if self.is_met(float(text)))


def conditions(texts: Sequence[str]) -> list[Condition]:
    """Return the conditions of an option."""
    return [_condition(text) for text in texts]


def _condition(text: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None or found[2] not in (*_OPERATORS, _IS):
        raise OptionError(f"--fail-under {text!r} is not a condition", _ALLOWED, _HINT)
    column, sign, number = found.groups()
    if sign == _IS:
        return Condition(text, column, sign, number)
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise OptionError(f"--fail-under {text!r}: {number!r} is not a number", _ALLOWED, _HINT)
    return Condition(text, column, sign, limit)


# The words of columns, of which a misspelt one would never be met.
_WORDS = {
    "status": (*STATUSES,),
    "conclusion": (*OF_WATCH, *OF_MARGIN),
}


def _check_word(condition: Condition) -> None:
    known = _WORDS.get(condition.column)
    if condition.is_word and known is not None and condition.number not in known:
        raise OptionError(
            f"--fail-under {condition.text!r}: {condition.number!r} is no {condition.column}",
            ", ".join(map(repr, known)),
            nearest(str(condition.number), known),
        )


def check_columns(asked: Sequence[Condition], schema: Mapping[str, pl.DataType]) -> None:
    """Refuse a condition on a column that the result does not have, or that is not numeric."""
    for condition in asked:
        name, is_word = condition.column, condition.is_word
        fitting = [
            name
            for name, dtype in schema.items()
            if (dtype == pl.String if is_word else dtype.is_numeric())
        ]
        if name not in schema:
            raise ColumnError(
                f"--fail-under names {name!r}, which is not a column of the result",
                hint="--ci 0.95 adds it" if name in _INTERVAL else nearest(name, fitting),
            )
        if name not in fitting:
            raise ColumnError(
                f"--fail-under names {name!r}, which has dtype {schema[name]}",
                "a column of text" if is_word else "a numeric column",
                nearest(name, fitting),
            )
        _check_word(condition)


def is_passed(frame: pl.DataFrame, asked: Sequence[Condition], keys: Sequence[str]) -> bool:
    """Return whether no row meets a condition; name those that do on standard error."""
    rows = frame.to_dicts()
    keys = [name for name in frame.columns if name in keys]
    failed = [_report(rows, condition, keys) for condition in asked]
    return not any(failed)


def _report(rows: Sequence[Row], condition: Condition, keys: Sequence[str]) -> bool:
    """Name the rows that meet a condition or cannot be judged; return whether any meets it."""
    name = condition.column
    if all(map(_is_missing, (row[name] for row in rows))):
        raise DataError(
            f"no row has a value of {name!r}, which --fail-under {condition.text!r} judges",
            hint="the column status, where there is one, says why",
        )
    failed = 0
    for row in rows:
        value = row[name]
        if _is_missing(value):
            status = f" ({row['status']})" if row.get("status") else ""
            _say(f"{_who(row, keys)}: {name} has no value{status} and was not judged")
        elif condition.is_met(value):
            failed += 1
            _say(f"{_who(row, keys)}: {name} is {condition.shown(value)}")
    if failed:
        _say(f"{failed} of {len(rows)} rows failed --fail-under {condition.text!r}")
    return failed > 0


def _is_missing(value: float | str | None) -> bool:
    return value is None or value != value  # noqa: PLR0124 - NaN


def _who(row: Row, keys: Sequence[str]) -> str:
    """Return the keys of a row with their values."""
    return ", ".join(f"{key}={_shown(row[key])}" for key in keys) or "all rows"


def _shown(value: object) -> str:
    if value is None:
        return "null"
    return repr(value) if isinstance(value, str) else str(value)


def _say(text: str) -> None:
    print(f"frame-prc: {text}", file=sys.stderr)
