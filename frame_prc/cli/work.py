"""Work in a separate thread, while the main thread shows progress and can be interrupted.

Polars and NumPy may not return soon after Ctrl-C. The program exits without waiting for them, and
removes files that are not finished.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.status import Status

T = TypeVar("T")

_SECONDS_TO_SHOW = 2.0
_SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """A text that the work sets and the main thread shows, with a bar if the share is known."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.share: float | None = None
        self._started = monotonic()
        self._status: Status | None = None
        self._bar: Bar | None = None

    def show_share(self, text: str, share: float) -> None:
        """Set the text, and how much of the work is done, from 0 to 1."""
        self.text, self.share = text, share

    def show(self) -> None:
        """Show the text and the time on standard error, if it is a terminal, after 2 seconds."""
        passed = monotonic() - self._started
        if passed < _SECONDS_TO_SHOW or not sys.stderr.isatty():
            return
        if self.share is not None:
            self._show_bar(self.share)
            return
        if self._status is None:
            from rich.console import Console  # noqa: PLC0415

            self._status = Console(stderr=True).status("")
            self._status.start()
        self._status.update(f"{self.text} ({passed:.0f} s)")

    def _show_bar(self, share: float) -> None:
        if self._bar is None:
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
            from rich.progress import Progress as Bar  # noqa: PLC0415

            self.hide()
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self.text, total=1.0)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], description=self.text, completed=share)

    def hide(self) -> None:
        """Remove the text from the terminal."""
        for shown in (self._status, self._bar):
            if shown is not None:
                shown.stop()


def done(work: Callable[[], T], progress: Progress) -> T:
    """Return the result of the work, or raise its error, or ``KeyboardInterrupt`` on a signal."""
    worker = ThreadPoolExecutor(1)
    try:
        return _wait(worker.submit(work), progress)
    finally:
        progress.hide()
        worker.shutdown(wait=False)


def _wait(future: Future[T], progress: Progress) -> T:
    # Not by result(timeout=...): it raises TimeoutError while waiting, as the work itself may.
    while not wait([future], timeout=_SECONDS_BETWEEN_UPDATES).done:
        progress.show()
    return future.result()
