"""Errors as a shell shows them: an exit code, and one line in the words of the options."""

from __future__ import annotations

import re
import shlex
import signal

from frame_prc.cli.parameters import OPTIONS, PLOT, SOURCE
from frame_prc.exceptions import DataError, PrcError

FINE, BAD_DATA, BAD_USAGE, INTERRUPTED = 0, 1, 2, 128 + signal.SIGINT

_PARTS = re.compile(r"(?<=[.?]) (?=(?:Allowed|Hint): )")
# A parameter, maybe with a value, or a quoted value, which is the user's and stays as it is.
_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")"
_PARAMETER = re.compile(
    rf"\b({'|'.join([*OPTIONS, *PLOT, *SOURCE])})=(?!=)('[^']*'|\"[^\"]*\"|-?[\w.]*\w)?|{_QUOTED}"
)
# What a hint may say that only makes sense in Python.
_PYTHON = re.compile(r"\bpl\.|write_ggplot\(|\.alias\(|\.cast\(|sorted\(|\w\(\.\.\.")
# What verbs say that a shell says in other words.
_SAID = {
    r"a column, a list of columns, or \{name: column\}": "one column, or several",
    r"two or more, as a list of columns or \{name: column\}": "two or more, as in -s one -s two",
    r"several models go into score= as a list of columns": "repeat --score for several models",
    r"give names, for example score=\{.*?\}": "name them, as in -s first=COLUMN -s second=COLUMN",
    r"for example points=\{'recall': 0\.9\}": "for example --points 'recall=.9'",
    r"begin the thresholds with float\('-inf'\), or let quantile_thresholds find them": (
        "begin them with -inf, as in --thresholds -inf,.1,.5"
    ),
    r"quantile_thresholds finds a list of thresholds, or begin one with float\('-inf'\)": (
        "list them, beginning with -inf, as in --thresholds -inf,-1,0,1"
    ),
    r"a number of thresholds, 2 or more, or a list of ascending numbers": (
        "a number of thresholds, 2 or more, or ascending numbers such as .1,.5,.9"
    ),
    r"counts\(\.\.\., squares=True\) makes both": "frame-prc counts --squares makes both",
    r"\bNone\b": "none",
    r"\bpath= ": "--output ",
}


def exit_code(error: PrcError) -> int:
    """Return 1 for what is wrong with values, and 2 for what is wrong with the question."""
    return BAD_DATA if isinstance(error, DataError) else BAD_USAGE


def line(error: PrcError) -> str:
    """Return an error's text, in one line, with options where it has parameters."""
    text = " ".join(str(error).split())
    for said, shown in _SAID.items():
        text = re.sub(said, shown, text)
    parts = [part for part in _PARTS.split(text) if not _is_python(part)]
    return " ".join(_PARAMETER.sub(_option, part) for part in parts)


def _is_python(part: str) -> bool:
    return part.startswith("Hint: ") and _PYTHON.search(part) is not None


def _option(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name is None:
        return found[0]
    flag = "--" + name.replace("_", "-")
    if value is None or value == "True":
        return flag
    is_text = value.startswith(("'", '"'))
    return f"{flag} {shlex.quote(value[1:-1]) if is_text else value}"


def usage_line(error: Exception) -> str:
    """Return what Typer says of options that it could not read, in one line."""
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    text = text.removesuffix(".").replace("?.", "?")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "frame-prc"
    end = "" if text.endswith("?") else "."
    return f"{text[:1].lower()}{text[1:]}{end} Hint: {command} --help"


def unexpected_line(error: Exception) -> str:
    """Return what to say of an error that nobody thought of."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first} Hint: --debug shows where"
