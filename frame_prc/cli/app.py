"""The program: its commands, and its error messages."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer
import typer.main

import frame_prc
from frame_prc.cli import errors
from frame_prc.cli.commands import COMMANDS
from frame_prc.cli.demo import demo
from frame_prc.cli.near_misses import near_miss
from frame_prc.exceptions import PrcError

_NAME = "frame-prc"
_HELP = """Precision-recall curves and average precision per segment, from files.

\b
Example:
  frame-prc summary rows.csv --truth outcome --score model --by region --pos-label yes

Exit codes: 0 success, 1 bad data, 2 bad usage, 3 a row met --fail-under.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    arguments = list(arguments) or ["--help"]
    try:
        code = _program()(arguments, prog_name=_NAME, standalone_mode=False)
    except typer.Abort:  # raised by some versions of Typer on Ctrl-C
        return errors.INTERRUPTED
    except Exception as error:  # every error is reported in one line
        if "--debug" in arguments and not _is_usage(error):
            traceback.print_exc()
        code, text = _report(error, arguments)
        print(f"{_NAME}: {text}", file=sys.stderr)
    return code or errors.SUCCESS


def _is_usage(error: Exception) -> bool:
    # Typer's own errors, whose base class moved between versions.
    return hasattr(error, "format_message")


def _report(error: Exception, arguments: Sequence[str]) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if _is_usage(error):
        clearer = near_miss(error, arguments)
        text = errors.usage_line(error) if clearer is None else errors.line(clearer)
        return errors.BAD_USAGE, text
    if isinstance(error, PrcError):
        return errors.exit_code(error), errors.line(error)
    return errors.BAD_DATA, errors.unexpected_line(error)


@cache
def _program() -> Callable[..., Any]:
    """Return the program; to make it takes as long as to run a small command."""
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_main)
    for command in COMMANDS:
        function = command.function()
        app.command(command.name)(function)
        if command.other_name:
            app.command(command.other_name, hidden=True)(function)
    app.command("demo")(demo)
    return typer.main.get_command(app)


def _print_version(given: bool) -> None:  # noqa: FBT001
    if given:
        print(f"{_NAME} {frame_prc.__version__}")
        raise typer.Exit


def _main(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


_main.__doc__ = _HELP
