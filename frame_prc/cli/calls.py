"""A verb called on the rows of files, in a thread that can be interrupted.

Polars and NumPy may not return soon after Ctrl-C. The program exits without waiting for them, and
removes files that are not finished.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from inspect import signature
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

import frame_prc
from frame_prc._lazy import named
from frame_prc.cli.files import Source, reading
from frame_prc.exceptions import DataError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


# --- work in a thread --------------------------------------------------------------------------

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


# --- calls -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A verb, its parameters, and the files whose rows it takes."""

    verb: str
    parameters: Mapping[str, Any]
    source: Source

    def __call__(self, rows: pl.LazyFrame, **more: Any) -> Any:
        """Return the result for some of the rows."""
        return getattr(frame_prc, self.verb)(rows, **self.parameters, **more)

    def get(self, name: str) -> Any:
        """Return a parameter; ``None`` if the verb does not have it."""
        return self.parameters.get(name)

    def but(self, **changed: Any) -> Call:
        """Return the call with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **changed})

    def for_a_part(self) -> Call:
        """Return the call for some of the rows, among which the label may not occur."""
        label, truth = self.get("pos_label"), self.get("truth")
        if label is None:
            return self
        is_float = self.source.schema[truth].is_float()
        known = named(truth).fill_nan(None) if is_float else named(truth)
        return self.but(truth=known == label, pos_label=None)

    def counts(self, rows: pl.LazyFrame, **more: Any) -> pl.LazyFrame:
        """Return the counts of rows, by default the exact ones."""
        known = signature(frame_prc.counts).parameters
        asked = {name: value for name, value in self.parameters.items() if name in known}
        return frame_prc.counts(rows, **{**asked, **more})


def counted(call: Call, progress: Progress) -> pl.LazyFrame:
    """Return the counts of one part of the rows after the other, added up."""
    whole: pl.LazyFrame = call(call.source.rows)  # checks the schema
    parts = call.source.parts()
    if len(parts) == 1:
        return whole
    of_part, ascending = call.for_a_part(), call.get("ascending")
    added: list[pl.DataFrame] = []
    for place, part in enumerate(parts, 1):
        progress.set(f"counting {place} of {len(parts)}: {part}")
        added = [frame_prc.merge_counts(*added, _counted(of_part, part), ascending=ascending)]
    # A label that occurs in no part is an error, which counting all rows together raises.
    is_nowhere = call.get("pos_label") is not None and added[0]["pos"].sum() == 0
    return whole if is_nowhere else added[0].lazy()


def _counted(call: Call, part: Source) -> pl.DataFrame:
    with reading(part):
        try:
            counts: pl.DataFrame = call(part.rows).collect()
        except DataError as error:
            raise DataError(
                f"{part}: {error.what}", error.allowed, error.hint, shell_hint=error.shell_hint
            ) from error
    return counts
