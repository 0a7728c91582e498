"""How to compute what is made of rows: in a plan or at once, on one thread or all, by NumPy or not.

By the number of rows in memory, and here only; on a lazy frame all is one plan, read at collect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import _DummyThread, current_thread
from typing import NamedTuple, TypeVar

import polars as pl

from frame_prc._lazy import cached

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Sizes(NamedTuple):
    """From which sizes on more is done than to run a plan; tests set them all to small ones."""

    # With fewer rows, most optimizations of a plan, or a look at the scores, take longer than they
    # save; and with fewer than many, so does computing a part of a plan before the rest.
    few: int = 20_000
    many: int = 200_000
    # So many keys a set of Python finds in less time than a plan of Polars takes.
    keys: int = 5_000
    # Of shorter stretches of rows, a call of NumPy for each takes longer than a window of Polars;
    # and with fewer rows per stretch than those of a group, Polars groups as fast.
    stretch: int = 1_000
    group: int = 10_000
    # So many places, as integers of 64 bits, fit a processor's cache; and columns of so many rows
    # take little memory, which the next part of the rows takes again.
    part: int = 2**18


SIZES = Sizes()
_FOR_FEW = pl.QueryOptFlags.none(comm_subplan_elim=True)


@dataclass(frozen=True)
class Execution:
    """How to compute what is made of so many rows in memory, or of a lazy frame: ``None`` rows."""

    height: int | None

    @property
    def in_memory(self) -> bool:
        return self.height is not None

    @property
    def some_in_memory(self) -> bool:
        """Whether the rows are in memory, and not so few that a look at the scores costs more."""
        return self.height is not None and self.height >= SIZES.few

    @property
    def many_in_memory(self) -> bool:
        """Whether the rows are in memory, and so many that parts of a plan are computed at once."""
        return self.height is not None and self.height >= SIZES.many

    def once(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return a frame that is computed once: now if many rows are in memory, which is faster."""
        return frame.collect().lazy() if self.many_in_memory else cached(frame)

    def in_python(
        self,
        frame: pl.LazyFrame,
        step: Callable[[pl.DataFrame], pl.DataFrame],
        columns: Mapping[str, pl.DataType],
        *,
        adds: bool = False,
    ) -> pl.LazyFrame:
        """Apply a function that makes, or ``adds``, columns: now if in memory, else at collect."""
        if self.in_memory:
            return step(frame.collect(engine="in-memory")).lazy()
        own = frame.collect_schema() if adds else {}
        return frame.map_batches(step, schema=pl.Schema({**own, **columns}))

    def windowed(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return a frame with windows or fills, which take twice as long when streamed."""
        (found,) = self.windowed_together(frame)
        return found

    def windowed_together(self, *frames: pl.LazyFrame) -> list[pl.LazyFrame]:
        """Return several frames with windows or fills, computed at the same time if at once."""
        if not self.many_in_memory:
            return [*frames]
        return [found.lazy() for found in pl.collect_all(frames, engine="in-memory")]

    def together(self, calls: Sequence[Callable[[], ResultT]]) -> list[ResultT]:
        """Return the results of several calls, made at the same time if many rows are in memory."""
        return together(calls, on_threads=self.many_in_memory)


def run(lf: pl.LazyFrame, height: int) -> pl.DataFrame:
    """Run a plan: the streaming engine takes longer to start than few rows take."""
    if height >= SIZES.many:
        return lf.collect()
    optimizations = _FOR_FEW if height < SIZES.few else pl.QueryOptFlags()
    return lf.collect(engine="in-memory", optimizations=optimizations)


def has_numpy() -> bool:
    try:
        import numpy as np  # noqa: F401, PLC0415 - takes long to import
    except ImportError:
        return False
    return True


def together(calls: Sequence[Callable[[], ResultT]], *, on_threads: bool = True) -> list[ResultT]:
    """Return the results of several calls, which may each be made on a thread of its own.

    A thread of Polars makes them itself: if all of these waited for others, none would be left.
    """
    if not on_threads or len(calls) == 1 or isinstance(current_thread(), _DummyThread):
        return [call() for call in calls]
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        return list(threads.map(lambda call: call(), calls))


def on_each_thread(
    items: Sequence[ItemT], work: Callable[[Sequence[ItemT]], ResultT]
) -> list[ResultT]:
    """Return what a function makes of each thread's share of some items, in their order."""
    size = max(-(-len(items) // pl.thread_pool_size()), 1)
    shares = (items[start : start + size] for start in range(0, len(items), size))
    return together([partial(work, share) for share in shares])
