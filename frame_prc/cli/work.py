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

T = TypeVar("T")

_SECONDS_TO_SHOW = 2.0
_SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """A text that the work sets, with the share that is done if it is known, from 0 to 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.share: float | None = None
        self._started = monotonic()
        self._bar: Bar | None = None

    def set(self, text: str, share: float | None = None) -> None:
        """Set the text, and how much of the work is done."""
        self.text, self.share = text, share

    def show(self) -> None:
        """Show a bar with the text and the time on a terminal's standard error, after 2 seconds."""
        if monotonic() - self._started < _SECONDS_TO_SHOW or not sys.stderr.isatty():
            return
        if self._bar is None:
            from rich.console import Console  # noqa: PLC0415
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
            from rich.progress import Progress as Bar  # noqa: PLC0415

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("", total=None)
            self._bar.start()
        [task] = self._bar.task_ids
        total = None if self.share is None else 1.0
        self._bar.update(task, description=self.text, total=total, completed=self.share or 0)

    def hide(self) -> None:
        """Remove the bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()


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
