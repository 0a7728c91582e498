"""Keys that are periods of time: ``--by day:1w`` cuts a column of dates into weeks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from frame_prc._lazy import named
from frame_prc.cli.files import Source
from frame_prc.cli.reading import first_value, reading
from frame_prc.cli.values import columns
from frame_prc.exceptions import ColumnError, OptionError

_PERIOD = re.compile(r"[1-9]\d*(s|m|h|d|w|mo|q|y)")
_LONGEST_PERIOD = 6  # characters: 9999mo
_UNITS = "s, m (minutes), h, d, w, mo (months), q or y"
_WITHIN_A_DAY = ("s", "m", "h")
_TIMES = ("%H:%M:%S%.f", "%H:%M", "%H:%M:%S%.f%#z")
_FORMS: list[tuple[pl.Date | pl.Datetime, str]] = [
    (pl.Date(), "%Y-%m-%d"),
    *((pl.Datetime("us"), f"%Y-%m-%d{between}{time}") for time in _TIMES for between in "T "),
]
_DATES = "dates, or ISO text such as 2024-01-31 or 2024-01-31 08:15:00"


def keys(texts: Sequence[str], source: Source) -> list[str | pl.Expr]:
    """Return keys: names of columns, and expressions where a period follows a name."""
    return [_key(text, source) for text in columns(texts, source.schema)]


def names(by: Sequence[str | pl.Expr]) -> list[str]:
    """Return the names of keys."""
    return [key if isinstance(key, str) else key.meta.output_name() for key in by]


def _key(text: str, source: Source) -> str | pl.Expr:
    schema = source.schema
    name, colon, period = text.rpartition(":")
    found = _PERIOD.fullmatch(period)
    if text in schema or not colon:
        return text
    if name not in schema:  # the verb names the columns that are similar
        return name if found else text
    if found is None or len(period) > _LONGEST_PERIOD:
        raise OptionError(
            f"by={text!r} ends with {period!r}, which is not a period",
            f"a number and one of {_UNITS}",
            f"for example --by {name}:1w",
        )
    dtype, column = schema[name], named(name)
    if dtype == pl.String:
        with reading(source):
            dtype, form = _form(text, name, source)
        column = column.str.strptime(dtype, form)
    if dtype not in (pl.Date, pl.Datetime):
        raise ColumnError(f"by={text!r} cuts dates, and column {name!r} has dtype {dtype}", _DATES)
    if dtype == pl.Date and found[1] in _WITHIN_A_DAY:
        raise ColumnError(
            f"by={text!r} cuts days, and column {name!r} has dates without a time",
            "periods of whole days",
            f"--by {name}:1mo is a month" if found[1] == "m" else None,
        )
    return column.dt.truncate(period).alias(name)


def _form(text: str, name: str, source: Source) -> tuple[pl.Date | pl.Datetime, str]:
    """Return the dtype and the format of dates that are text: those of the first one."""
    column = named(name)
    first = pl.Series([first_value(source, name, column.is_not_null())], dtype=pl.String)
    fitting = (form for form in _FORMS if not first.str.strptime(*form, strict=False).has_nulls())
    dtype, form = next(fitting, _FORMS[0])
    is_unread = column.str.strptime(dtype, form, strict=False).is_null()
    unread = first_value(source, name, column.is_not_null() & is_unread)
    if unread is not None:
        raise ColumnError(
            f"by={text!r} cuts dates, and column {name!r} holds {unread!r}",
            f"{_DATES}, all in one form",
            "is this the right column?",
        )
    return dtype, form
