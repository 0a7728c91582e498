"""The words of a shell: commands, exit codes, and texts for Python as they are said there."""

from __future__ import annotations

import re
import shlex
import signal
from inspect import signature

import frame_prc
from frame_prc.exceptions import PrcError, message

SUCCESS, BAD_DATA, BAD_USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 128 + signal.SIGINT

# The verbs that are commands, with the arguments of an example.
EXAMPLES = {
    "average_precision": "rows.parquet -t late -s score -b carrier",
    "average": "run.parquet -t relevant -s score -b query --over query --ci 0.95",
    "curve": "rows.csv -t late -s score --keep corners -o curve.tsv",
    "summary": "rows.csv -t outcome -s score -b region --pos-label yes --overall",
    "compare_models": "rows.parquet -t late -s old -s new -b carrier --adjust holm",
    "compare_segments": "rows.parquet -t late -s score -b carrier --adjust holm",
    "heterogeneity": "rows.parquet -t late -s score -b carrier",
    "shrunk": "rows.parquet -t late -s score -b carrier --below 0.3",
    "find_segments": "rows.parquet -t late -s score --columns carrier,week --depth 1",
    "monitor": "rows.parquet -t late -s score -b week --over week --plan 12,52",
    "sample_size": "rows.parquet -t late -s score -b carrier --width 0.05",
    "influence": "rows.parquet -t late -s score -b carrier -o influence.parquet",
    "operating_points": "rows.parquet -t late -s score -b carrier --recall 0.9 --f-beta 1",
    "threshold_table": "rows.parquet -t late -s score -b carrier --cost 1,10",
    "reliability": "rows.parquet -t late -s score -b carrier --bins 20",
    "counts": "'2024-*.parquet' -t late -s score --thresholds 200 -o counts.parquet",
    "plot": "rows.parquet -t late -s old -s new -b carrier -o curves.html",
    "plot_scores": "rows.parquet -t late -s old -s new -o scores.html",
    "plot_summary": "rows.parquet -t late -s old -s new -b carrier -o summary.html",
    "write_ggplot": "rows.parquet -t late -s old -s new -b carrier -o curves.tsv",
    "report": "rows.parquet -t late -s old -s new -b carrier -o report.html",
}
_SHORTER = {
    "average_precision": "ap",
    "operating_points": "points",
    "write_ggplot": "ggplot",
    "find_segments": "find",
    "monitor": "watch",
}
_OF_VERBS = [name for verb in EXAMPLES for name in signature(getattr(frame_prc, verb)).parameters]
_OF_FILES = ["input_format", "separator", "text", "where", "memory"]


def flag(name: str) -> str:
    """Return the option of a parameter."""
    return "--" + name.replace("_", "-")


def command_name(verb: str) -> str:
    """Return the command that calls a verb."""
    return _SHORTER.get(verb, verb.replace("_", "-"))


# The options by the names of parameters.
FLAGS = {name: flag(name) for name in [*_OF_VERBS, *_OF_FILES]} | {"path": "--output"}
_NAME = "|".join(FLAGS)
_QUOTED = r"'[^']*'|\"[^\"]*\""
_VALUE = rf"{_QUOTED}|-?[\w.]*\w"
_SEVERAL = r"[([][^()[\]]*[)\]]"
_NAMED = rf"{{(?:{_QUOTED}): [^{{}}]*}}"
# A call with named parameters, one of these with a value, several or none, a key with its value, or
# None. A quoted value is the user's text, which is matched so that nothing inside it is.
_PYTHON = re.compile(
    rf"\b(?P<verb>{'|'.join(EXAMPLES)})\((?:\.\.\.)?"
    rf"(?P<given>(?:(?:, )?\w+=(?:{_VALUE}|{_NAMED}))*)\)"
    rf"|\b(?P<name>{_NAME})=(?!=)(?P<value>{_VALUE}|{_SEVERAL}|{_NAMED})?"
    rf"|{{(?P<key>{_VALUE}): (?P<of_key>{_VALUE}|{_SEVERAL})}}"
    rf"|\bNone\b|(?<!\w)(?:{_QUOTED})"
)


def in_shell(text: str) -> str:
    """Return a text for Python, in one line, as it is said in a shell."""
    return _PYTHON.sub(_said, " ".join(text.split()))


def _said(found: re.Match[str]) -> str:
    verb, given, name, value, key, of_key = found.groups()
    if verb is not None:
        options = in_shell(given.removeprefix(", ")).replace(", ", " ")
        return f"frame-prc {command_name(verb)} {options}".rstrip()
    if key is not None:
        return f"{_bare(key)}={_bare(of_key)}"
    if name is None:
        return "none" if found[0] == "None" else found[0]
    return FLAGS[name] if value in (None, "True") else f"{FLAGS[name]} {_bare(value)}"


def _bare(value: str) -> str:
    if value.startswith(("'", '"')):
        return shlex.quote(value[1:-1])
    if value.startswith("{"):
        return in_shell(value)
    if value.startswith(("(", "[")):
        return ",".join(map(_bare, value.strip("(,)[]").split(", ")))
    return "none" if value == "None" else value


# --- errors ------------------------------------------------------------------------------------


def line(error: PrcError) -> str:
    """Return an error's text, in one line, with options where it has parameters."""
    allowed, hint = (part and in_shell(part) for part in (error.allowed, error.shell_hint))
    return message(in_shell(error.what), allowed, hint)


def usage_line(error: Exception) -> str:
    """Return the message of an error that Typer raises, in one line."""
    text = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    text = f"{text[:1].lower()}{text[1:]}".removesuffix(".").replace("?.", "?")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "frame-prc"
    examples = {f"frame-prc {command_name(verb)}": words for verb, words in EXAMPLES.items()}
    lacks = text.startswith("missing") and command in examples
    return f"{message(text)} Hint: {command} {examples[command] if lacks else '--help'}"


def unexpected_line(error: Exception) -> str:
    """Return the message of an error that is neither this package's nor Typer's."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first} Hint: --debug shows where"
