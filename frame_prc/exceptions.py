"""The errors frame_prc raises: one family, every member also a ``ValueError``.

Each text says what is wrong, with the offending value or dtype, then what is allowed, then a hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from types import EllipsisType

_LONGEST_VALUE = 80
THIS_VERB = "this verb"  # in errors that are raised where its name is not known


class PrcError(ValueError):
    """Base of every error raised by frame_prc.

    Parameters
    ----------
    what
        What is wrong, with the value or dtype that is.
    allowed
        What would have been accepted.
    hint
        What to do about it.
    shell_hint
        What to do about it on the command line; ``None`` where the hint only makes sense in Python.
        By default the same as ``hint``.
    """

    def __init__(
        self,
        what: str,
        allowed: str | None = None,
        hint: str | None = None,
        *,
        shell_hint: str | EllipsisType | None = ...,
    ) -> None:
        # Pickles and copies pass these arguments again, and then restore the attributes.
        super().__init__(what, allowed, hint)
        self.what = what
        self.allowed = allowed
        self.hint = hint
        self.shell_hint = hint if isinstance(shell_hint, EllipsisType) else shell_hint

    def __str__(self) -> str:
        """Return the text, as Python shows it."""
        return message(self.what, self.allowed, self.hint)

    def __repr__(self) -> str:
        """Return the type and the text."""
        return f"{type(self).__name__}({str(self)!r})"


@contextmanager
def said_as(name: str, other: str) -> Iterator[None]:
    """Say the name of a parameter, or of a verb, otherwise in errors that are raised within."""
    try:
        yield
    except PrcError as error:
        reword(error, name, other)
        raise


def reword(error: PrcError, name: str, other: str) -> None:
    """Say a name otherwise in all parts of an error."""
    for part in ("what", "allowed", "hint", "shell_hint"):
        text = getattr(error, part)
        setattr(error, part, text and text.replace(name, other))


class FrameError(PrcError, TypeError):
    """The frame is of an unsupported type, or cannot be converted."""


class ColumnError(PrcError):
    """A column is missing, named twice, of the wrong dtype, or clashes with an output column."""


class OptionError(PrcError):
    """A parameter has a value that is not allowed, or contradicts another parameter."""


class ParameterError(PrcError, TypeError):
    """A function is called with a parameter that it does not have."""


class DataError(PrcError):
    """The data contain invalid values, such as a missing score."""


class FileError(PrcError, OSError):
    """A file cannot be read or written, or its suffix is not one that is supported."""


def message(what: str, allowed: str | None = None, hint: str | None = None) -> str:
    """Return the text of an error from its parts.

    A shell has a text of its own, in ``cli/errors.py``.
    """
    parts = [what]
    if allowed is not None:
        parts.append(f"Allowed: {allowed}")
    if hint is not None:
        parts.append(f"Hint: {hint}")
    return " ".join(part if part.endswith(("?", ".")) else f"{part}." for part in parts)


def shown(value: object) -> str:
    """Return a value as it reads in a message: on one line, and not too long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return type_name(value)
    if " at 0x" in text or "\n" in text:
        return type_name(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE // 2]}..."


def type_name(value: object) -> str:
    """Return the name of a value's type, with its package where it is not built in."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__qualname__ if package == "builtins" else f"{package}.{kind.__qualname__}"


def did_you_mean(names: Sequence[str]) -> str | None:
    """Return a hint that asks whether one of some names is meant, if there are any."""
    return f"did you mean {' or '.join(map(repr, names))}?" if names else None


def close_to(name: str, known: Iterable[str]) -> list[str]:
    """Return the names closest to a mistyped one, first of all those that differ in case."""
    names = [*known]
    return [n for n in names if n.lower() == name.lower()] or get_close_matches(name, names)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the columns closest to a mistyped name, or lists what exists."""
    names = list(known)
    if hint := did_you_mean(close_to(name, names)):
        return hint
    shown = ", ".join(repr(n) for n in names[:10]) or "none"
    return f"the columns are {shown}" + (f" and {len(names) - 10} more" if names[10:] else "")
