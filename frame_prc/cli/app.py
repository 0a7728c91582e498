"""The program: its commands, its demonstration, and its error messages."""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
import typer.main

import frame_prc
from frame_prc._request.hints import parameter_name
from frame_prc._request.specs import Criterion
from frame_prc.cli import errors
from frame_prc.cli.commands import COMMANDS
from frame_prc.cli.options import parameters
from frame_prc.cli.output import show_text
from frame_prc.exceptions import DataError, FileError, OptionError, PrcError

# --- the demonstration -------------------------------------------------------------------------

_FLIGHTS = Path(__file__).with_name("flights.parquet")
# Flights of one day share its weather and each other's delays.
_COMMANDS = (
    "compare-models FLIGHTS -t late -s logistic -s boosting --cluster day -f table",
    "summary FLIGHTS -t late -s boosting -b carrier --cluster day --overall -f table",
    "plot FLIGHTS -t late -s logistic -s boosting -b carrier --cluster day -o FOLDER/flights.html",
    "ggplot FLIGHTS -t late -s logistic -s boosting -b carrier -o FOLDER/flights.tsv",
)
_BEFORE = """\
55,556 flights from New York: every third of July to December 2013. Which arrive at least 30 minutes
late? Of two models: which ranks them better, and how well does it rank those of each carrier?
"""
_AFTER = """
{html}
  shows the curves of both models in a browser, and
Rscript {script}
  draws them with R.
"""


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write.")] = Path(
        "frame-prc-demo"
    ),
    *,
    debug: Annotated[  # noqa: ARG001 - read from the arguments
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Compare models of flights; write a chart and a table for R.

    \b
    Example:
      frame-prc demo
    """  # noqa: D301 - Typer keeps the lines after it
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the folder {str(folder)!r} cannot be created: {error.strerror}",
            hint="frame-prc demo FOLDER writes to another folder",
        ) from error
    # Full paths and a URL, which open wherever a browser or R is started.
    folder = folder.resolve()
    _print(_BEFORE)
    for command in _COMMANDS:
        arguments = [
            word.replace("FLIGHTS", str(_FLIGHTS)).replace("FOLDER", str(folder))
            for word in command.split()
        ]
        _print(f"$ {_NAME} {shlex.join(arguments)}")
        context.find_root().command(arguments, standalone_mode=False)
        _print()
    html, script = folder / "flights.html", folder / "flights.R"
    _print(_AFTER.format(html=html.as_uri(), script=shlex.quote(str(script))).strip())


def _print(text: str = "") -> None:
    show_text(lambda console: console.print(text, soft_wrap=True))


# --- commands ----------------------------------------------------------------------------------

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
    if _is_usage(error):
        clearer = _other_command(arguments[0]) or _other_option(error)
        text = errors.usage_line(error) if clearer is None else errors.line(clearer)
        return errors.BAD_USAGE, text
    if isinstance(error, PrcError):
        code = errors.BAD_DATA if isinstance(error, DataError) else errors.BAD_USAGE
        return code, errors.line(error)
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


# --- clearer errors than those of Typer, for names used in Python or in other libraries ----------


def _other_command(typed: str) -> OptionError | None:
    names = {command.verb: command.name for command in COMMANDS}
    meant, verb = names.get(typed, typed), typed.replace("-", "_")
    if meant != typed:
        return OptionError(f"no such command {typed!r}", hint=f"did you mean {meant!r}?")
    if verb in frame_prc.__all__ and verb not in names:
        hint = f"{verb} is only in Python: help(frame_prc.{verb})"
        return OptionError(f"no such command {typed!r}", hint=hint)
    return None


def _other_option(error: Exception) -> OptionError | None:
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
        return f"--points '{errors.flag(meant)[2:]}=NUMBER' marks such a point"
    commands = [command.name for command in COMMANDS if meant in parameters(command.verb)]
    return f"{meant}= is an option of {', '.join(commands)}" if commands else None
