"""The command line ``frame-prc``: a verb, files, and the verb's parameters as options."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec

INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 is fine, 1 is bad data, 2 is bad usage, and 130 is a run that was interrupted.

    Parameters
    ----------
    arguments
        What follows the program's name; by default what the shell passed.
    """
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        os._exit(code)  # without waiting for a thread that may be at work still
    return code


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough, and the rest is tidying up
    raise KeyboardInterrupt


def _run(arguments: Sequence[str]) -> int:
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            print(
                f"frame-prc: {package} is not installed. Hint: pip install 'frame-prc[cli]'",
                file=sys.stderr,
            )
            return 2
    from frame_prc.cli._app import run  # noqa: PLC0415

    return run(arguments)
