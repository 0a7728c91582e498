"""Work in a thread of its own, so that the main thread can say how far it is, and be interrupted.

Neither Polars nor NumPy always returns soon when Ctrl-C is pressed; what the work has begun to
write is removed as the program ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.status import Status

T = TypeVar("T")

_SECONDS_TO_SHOW = 2.0
_LOOK_EVERY = 0.1


class Progress:
    """How far the work is, as a text that the work sets and the main thread shows."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._begun = monotonic()
        self._status: Status | None = None

    def show(self) -> None:
        """Show the text and the time on standard error, if it is a terminal and time has passed."""
        passed = monotonic() - self._begun
        if passed < _SECONDS_TO_SHOW or not sys.stderr.isatty():
            return
        if self._status is None:
            from rich.console import Console  # noqa: PLC0415

            self._status = Console(stderr=True).status("")
            self._status.start()
        self._status.update(f"{self.text} ({passed:.0f} s)")

    def hide(self) -> None:
        """Leave the terminal as it was."""
        if self._status is not None:
            self._status.stop()


def done(work: Callable[[], T], progress: Progress) -> T:
    """Return what the work returns, or raise what it raises, or that it was interrupted."""
    worker = ThreadPoolExecutor(1)
    try:
        return _wait(worker.submit(work), progress)
    finally:
        progress.hide()
        worker.shutdown(wait=False)


def _wait(future: Future[T], progress: Progress) -> T:
    # Not by what result() raises for "not yet": that is TimeoutError, which the work may raise too.
    while not wait([future], timeout=_LOOK_EVERY).done:
        progress.show()
    return future.result()
