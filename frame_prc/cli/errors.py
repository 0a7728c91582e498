"""Errors on the command line: an exit code, and one line in which parameters are options."""

from __future__ import annotations

import re
import shlex
import signal

from frame_prc.cli.options import OPTIONS, PLOT, SOURCE, flag
from frame_prc.exceptions import DataError, PrcError, message

SUCCESS, BAD_DATA, BAD_USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 128 + signal.SIGINT

_FLAGS = {name: flag(name) for name in [*OPTIONS, *PLOT, *SOURCE]} | {"path": "--output"}
_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")"
# A parameter with a value, several or none, a key with its value, None, or a quoted value.
# The last is the user's text, which is matched so that nothing inside it is.
_VALUE = r"'[^']*'|\"[^\"]*\"|-?[\w.]*\w"
_PARAMETER = re.compile(
    rf"\b({'|'.join(_FLAGS)})=(?!=)({_VALUE}|[([][^()[\]]*[)\]])?|{{({_VALUE}): ({_VALUE})}}"
    rf"|\bNone\b|{_QUOTED}"
)


def exit_code(error: PrcError) -> int:
    """Return 1 for invalid data, and 2 for invalid options or files."""
    return BAD_DATA if isinstance(error, DataError) else BAD_USAGE


def line(error: PrcError) -> str:
    """Return an error's text, in one line, with options where it has parameters."""
    allowed, hint = (part and _in_shell(part) for part in (error.allowed, error.shell_hint))
    return message(_in_shell(error.what), allowed, hint)


def _in_shell(part: str) -> str:
    return _PARAMETER.sub(_option, " ".join(part.split()))


def _option(found: re.Match[str]) -> str:
    name, value, key, of_key = found.groups()
    if key is not None:
        return f"{_bare(key)}={_bare(of_key)}"
    if name is None:
        return "none" if found[0] == "None" else found[0]
    if value is None or value == "True":
        return _FLAGS[name]
    return f"{_FLAGS[name]} {_bare(value)}"


def _bare(value: str) -> str:
    """Return a Python value as it is written in a shell."""
    if value.startswith(("'", '"')):
        return shlex.quote(value[1:-1])
    if value.startswith(("(", "[")):
        return ",".join(value.strip("(,)[]").split(", "))
    return "none" if value == "None" else value


def usage_line(error: Exception) -> str:
    """Return the message of an error that Typer raises, in one line."""
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    text = f"{text[:1].lower()}{text[1:]}".removesuffix(".").replace("?.", "?")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "frame-prc"
    return f"{message(text)} Hint: {command} --help"


def unexpected_line(error: Exception) -> str:
    """Return the message of an error that is neither this package's nor Typer's."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first} Hint: --debug shows where"
