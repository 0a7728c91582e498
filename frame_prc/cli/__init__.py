"""The command line ``frame-prc``: a verb, files, and the verb's parameters as options."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 is fine, 1 is bad data, 2 is bad usage, and 130 is a run that was interrupted.

    Parameters
    ----------
    arguments
        What follows the program's name; by default what the shell passed.
    """
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            print(  # noqa: T201
                f"frame-prc: {package} is not installed. Hint: pip install 'frame-prc[cli]'",
                file=sys.stderr,
            )
            return 2
    from frame_prc.cli._app import run  # noqa: PLC0415

    return run(list(sys.argv[1:] if arguments is None else arguments))
