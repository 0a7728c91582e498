"""Text that names times or has numbers in it, and whether it sorts in their order."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

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
