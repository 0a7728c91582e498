"""The program: its commands, and what it says when something is wrong."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import frame_prc
from frame_prc.cli import commands as _commands
from frame_prc.cli import demo as _demo
from frame_prc.cli import errors as _errors
from frame_prc.exceptions import PrcError

_NAME = "frame-prc"
_HELP = """Precision-recall curves and average precision per segment, from files.

\b
Example:
  frame-prc summary rows.csv --truth outcome --score model --by region --pos-label yes

Exit codes: 0 fine, 1 bad data, 2 bad usage.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    try:
        code = _app()(list(arguments) or ["--help"], prog_name=_NAME, standalone_mode=False)
    except typer.Abort:  # what some versions of Typer make of Ctrl-C
        return _errors.INTERRUPTED
    except Exception as error:  # whatever it is, a shell gets one line
        if "--debug" in arguments and not _is_usage(error):
            traceback.print_exc()
        return _complain(error)
    return code or _errors.FINE


def _is_usage(error: Exception) -> bool:
    # Typer's own errors, whose base class moved between versions.
    return hasattr(error, "format_message")


def _complain(error: Exception) -> int:
    if isinstance(error, PrcError):
        code, said = _errors.exit_code(error), _errors.line(error)
    elif _is_usage(error):
        code, said = _errors.BAD_USAGE, _errors.usage_line(error)
    else:
        code, said = _errors.BAD_DATA, _errors.unexpected_line(error)
    print(f"{_NAME}: {said}", file=sys.stderr)
    return code


def _app() -> typer.Typer:
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_main)
    for command in _commands.COMMANDS:
        app.command(command.name)(command.function())
    app.command("demo")(_demo.demo)
    return app


def _version(asked: bool) -> None:  # noqa: FBT001
    if asked:
        print(f"{_NAME} {frame_prc.__version__}")
        raise typer.Exit


def _main(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Say which version it is."
        ),
    ] = False,
) -> None:
    pass


_main.__doc__ = _HELP
