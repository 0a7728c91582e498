"""The command line ``frame-prc``: a command, files, and the parameters of a verb as options."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from frame_prc._files import discard_unfinished
from frame_prc._request.hints import install_hint
from frame_prc.cli.errors import BAD_USAGE, INTERRUPTED

# A closed terminal sends SIGHUP, which Windows does not have.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 is success, 1 bad data, 2 bad usage, 3 a row that meets a condition of ``--fail-under``, 130 a
    run interrupted by Ctrl-C, 129 one whose terminal closed, and 143 one ended by SIGTERM.

    Parameters
    ----------
    arguments
        The arguments after the program's name; by default those of this process.
    """
    caught: list[int] = []

    def interrupt(number: int, _: object) -> None:
        for other in _SIGNALS:  # a second signal must not stop the cleaning up
            signal.signal(other, signal.SIG_IGN)
        caught.append(number)
        raise KeyboardInterrupt

    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        discard_unfinished()
        # At once: a thread that is still at work would keep sys.exit waiting.
        os._exit(128 + caught[0] if caught else code)
    return code


def _run(arguments: Sequence[str]) -> int:
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            print(
                f"frame-prc: {package} is not installed. Hint: {install_hint('cli')}.",
                file=sys.stderr,
            )
            return BAD_USAGE
    from frame_prc.cli.app import run  # noqa: PLC0415

    return run(arguments)
