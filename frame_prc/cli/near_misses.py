"""Options and commands that do not exist, with a hint of what they are called here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import frame_prc
from frame_prc._request.near_misses import parameter_name
from frame_prc._request.specs import Criterion
from frame_prc.cli.commands import COMMANDS
from frame_prc.cli.options import flag
from frame_prc.exceptions import OptionError


def near_miss(error: Exception, arguments: Sequence[str]) -> OptionError | None:
    """Return a clearer error than Typer's, for names used in Python or in other libraries."""
    return _command(arguments[0]) or _option(error)


def _command(typed: str) -> OptionError | None:
    names = {command.verb: command.name for command in COMMANDS}
    meant, verb = names.get(typed, typed), typed.replace("-", "_")
    if meant != typed:
        return OptionError(f"no such command {typed!r}", hint=f"did you mean {meant!r}?")
    if verb in frame_prc.__all__ and verb not in names:
        hint = f"{verb} is only in Python: help(frame_prc.{verb})"
        return OptionError(f"no such command {typed!r}", hint=hint)
    return None


def _option(error: Exception) -> OptionError | None:
    typed, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if typed is None or context is None or not typed.startswith("--"):
        return None
    name = typed[2:].replace("-", "_")
    hint = _option_hint(name, [parameter.name for parameter in context.command.params])
    return None if hint is None else OptionError(f"no such option: {typed}", hint=hint)


def _option_hint(name: str, own: Sequence[str]) -> str | None:
    meant = parameter_name(name, own)
    if name in own:
        return None
    if meant in own:
        return f"did you mean {meant}=?"
    if meant in get_args(Criterion) and "points" in own:
        return f"--points '{flag(meant)[2:]}=NUMBER' marks such a point"
    commands = [command.name for command in COMMANDS if meant in command.options()]
    return f"{meant}= is an option of {', '.join(commands)}" if commands else None
