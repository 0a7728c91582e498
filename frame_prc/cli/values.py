"""The text of options as values: numbers, columns, models, segments, and periods of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from frame_prc._lazy import named
from frame_prc._request.specs import Draws, Top
from frame_prc._request.values import from_text
from frame_prc.cli.files import Source, first_value, opened, reading
from frame_prc.exceptions import ColumnError, OptionError

Numbers = int | list[float]
MadeT = TypeVar("MadeT", Draws, Top)


def pieces(texts: Sequence[str]) -> list[str]:
    """Return the values of an option that is repeated, or has several separated by commas."""
    return [piece.strip() for text in texts for piece in text.split(",")]


def numbers(texts: Sequence[str]) -> list[Any]:
    """Return the numbers of an option; the verb refuses what is none."""
    return [plain(piece) for piece in pieces(texts)]


def plain(text: str) -> Any:
    """Return a number, or whether it is true, or the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def none_or(text: str) -> str | None:
    """Return a word, or ``None`` for the word none, or None as in Python."""
    return None if text.lower() == "none" else text


def words(texts: Sequence[str]) -> str | list[str]:
    """Return names, or the word for all of them."""
    return "all" if (found := pieces(texts)) == ["all"] else found


def count_or_numbers(texts: Sequence[str]) -> Numbers:
    """Return how many numbers there are to be, or the numbers."""
    found = numbers(texts)
    return found[0] if not found[1:] and isinstance(found[0], int) else found


def with_fields(kind: type[MadeT]) -> Callable[[str], MadeT]:
    """Return what reads a value of a kind: a number, and fields, as in ``1000,seed=1``."""
    first, *others = (one.name for one in fields(kind))

    def read(text: str) -> MadeT:
        number, *named_ = pieces([text])
        found: dict[str, Any] = {first: plain(number)}
        if isinstance(found[first], (str, bool)):
            allowed = f"such as 100,{others[0]}=..."
            raise OptionError(f"{text!r} does not begin with a number", allowed)
        for piece in named_:
            name, equals, value = piece.partition("=")
            if not (equals and value) or name not in others or name in found:
                raise OptionError(
                    f"{text!r} has {piece!r} after its number",
                    "each once of " + ", ".join(f"{other}=..." for other in others),
                )
            found[name] = plain(value)
        return kind(**found)

    return read


draws, top = with_fields(Draws), with_fields(Top)


def row_numbers(texts: Sequence[str]) -> list[float | Top]:
    """Return numbers of rows, of which one may say what becomes of a tie."""
    return [
        number for text in texts for number in ([top(text)] if "=" in text else numbers([text]))
    ]


def integers(text: str) -> list[int | str] | int | str:
    """Return one integer, or several; what is none stays text."""
    found = list(map(plain, pieces([text])))
    if any(isinstance(one, str) for one in found):
        return text
    return found if len(found) > 1 else found[0]


def held_at(text: str) -> dict[str, float] | pl.DataFrame:
    """Return numbers by name, from a text such as ``threshold=0.5``, or a file's thresholds."""
    if Path(text).is_file():
        return table(text)
    found = {}
    for piece in pieces([text]):
        name, equals, value = piece.partition("=")
        if not (equals and name):
            allowed = "a number with its name, 'threshold=0.5', or a file of thresholds"
            raise OptionError(f"at={text!r} is no file, and names no number", allowed)
        found[name.strip()] = plain(value)
    return found


def costs(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Return pairs of costs, from texts such as ``1,10``."""
    return [tuple(numbers([text])) for text in texts]


def targets(texts: Sequence[str]) -> dict[str, list[float]]:
    """Return operating points to mark, from texts such as ``recall=0.9``."""
    found: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            raise OptionError(
                f"points={text!r} is not an operating point",
                "a criterion and numbers, such as 'recall=0.9'",
            )
        found.setdefault(name.replace("-", "_"), []).extend(numbers([values]))
    return found


# --- columns -----------------------------------------------------------------------------------


def columns(texts: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return names of columns; commas separate them, unless they are part of a name."""
    known = {*known}
    return [name for text in texts for name in ([text] if text in known else pieces([text]))]


def scores(texts: Sequence[str], source: Source) -> str | list[str] | dict[str, str]:
    """Return one score, several, or ``{name: column}`` if one is written as NAME=COLUMN."""
    texts = columns(texts, source.schema)
    pairs = [_named(text, source.schema) for text in texts]
    if all(name == column for name, column in pairs):
        return texts[0] if len(texts) == 1 else texts
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"score= names a model {name!r} twice", "each model once")
    return dict(pairs)


def _named(text: str, schema: Mapping[str, object]) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    return (name, column) if equals and text not in schema else (text, text)


def facet(texts: Sequence[str], source: Source) -> list[str] | bool:
    """Return keys, or ``False`` for the word none."""
    found = columns(texts, source.schema)
    return found != ["none"] and found


def segment(text: str, source: Source) -> str | dict[str, Any] | None:
    """Return a segment named as KEY=VALUE, or another text as it is."""
    key, equals, value = text.partition("=")
    if not equals:
        return none_or(text)
    return {key: from_text(value, source.schema[key]) if key in source.schema else value}


def held(texts: Sequence[str], source: Source) -> list[float] | str | pl.DataFrame:
    """Return thresholds as numbers, a column of the rows, or a file."""
    if len(texts) == 1 and texts[0] in source.schema:
        return texts[0]
    found = numbers_or_file(texts)
    if words := [one for one in found if isinstance(one, str)]:
        allowed = "numbers, a column, or a file that points wrote"
        raise OptionError(f"threshold={words[0]!r} is not a number", allowed)
    return found


def numbers_or_file(texts: Sequence[str]) -> list[Any] | pl.DataFrame:
    """Return numbers, or the rows of a file."""
    return table(texts[0]) if len(texts) == 1 and Path(texts[0]).is_file() else numbers(texts)


def reference(text: str) -> float | str | pl.DataFrame:
    """Return a prevalence, the word for one, or those of segments in a file."""
    found = plain(text)
    is_file = isinstance(found, str) and found not in ("highest", "pooled")
    return table(text) if is_file else found


def table(path: str) -> pl.DataFrame:
    """Return the rows of a file."""
    with opened([path]) as file:
        return file.rows.collect()


# --- keys ----------------------------------------------------------------------------------

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


def names_of_keys(by: Sequence[str | pl.Expr]) -> list[str]:
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
