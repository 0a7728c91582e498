"""The demonstration: commands on the bundled flights, each shown and run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from frame_prc.cli.output import show_text
from frame_prc.exceptions import FileError

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
        _print(f"$ {_program_name()} {shlex.join(arguments)}")
        context.find_root().command(arguments, standalone_mode=False)
        _print()
    html, script = folder / "flights.html", folder / "flights.R"
    _print(_AFTER.format(html=html.as_uri(), script=shlex.quote(str(script))).strip())


def _print(text: str = "") -> None:
    show_text(lambda console: console.print(text, soft_wrap=True))


def _program_name() -> str:
    """Return the command that runs this program."""
    if shutil.which("frame-prc"):
        return "frame-prc"
    path = Path(sys.argv[0])
    return os.path.relpath(path) if path.name == "frame-prc" else f"{sys.executable} -m frame_prc"
