"""Values of rows in memory, looked up at places in any order.

Each value is far from the next one, so most of the time goes by in waiting for memory: all threads
take a part. NumPy waits least, as it asks the system for large pages. It is optional: without it,
Polars gives the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import polars as pl

from frame_prc import _execution
from frame_prc._execution import has_numpy, together
from frame_prc._lazy import beside


def gathered(rows: pl.LazyFrame, place: str, table: pl.LazyFrame, *, at_once: bool) -> pl.LazyFrame:
    """Add to rows the columns of the row of a table whose number is in their column ``place``.

    ``at_once`` computes both now: in a plan the table would have to be as long as the rows.
    """
    if not at_once:
        names, is_row = table.collect_schema().names(), pl.lit(value=True).alias("\0is_row")
        both = beside([rows.with_columns(is_row), table]).with_columns(pl.col(names).gather(place))
        # A table with more rows made the others longer.
        return both.filter(pl.col("\0is_row").is_not_null()).drop("\0is_row")
    # The other engine would cut the table into chunks.
    found, values = rows.collect(), table.collect(engine="in-memory")
    return found.hstack([looked_up(column, found[place]) for column in values]).lazy()


def looked_up(values: pl.Series, places: pl.Series) -> pl.Series:
    """Return the value at each place; that at null is null."""
    values = values.rechunk()  # otherwise each is looked for in all chunks
    if not (has_numpy() and _is_plain(values) and not places.null_count()):
        return _looked_up_by_polars(values, places)
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    source = values.to_numpy()
    found = np.empty(len(places), source.dtype)

    def look_up(part: slice) -> None:
        # With "raise", NumPy would fill a copy first. No place is beyond the values.
        np.take(source, places[part].to_numpy().astype(np.intp), out=found[part], mode="clip")

    _for_each_part(look_up, len(places))
    return pl.Series(values.name, found, dtype=values.dtype)


def _looked_up_by_polars(values: pl.Series, places: pl.Series) -> pl.Series:
    if places.is_empty():
        return values.clear()
    size = -(-len(places) // pl.thread_pool_size())
    parts = places.to_frame().iter_slices(size)
    calls = [partial(values.gather, part.to_series()) for part in parts]
    return pl.concat(together(calls), rechunk=True)


def _is_plain(values: pl.Series) -> bool:
    """Return whether NumPy has the same values as Polars."""
    dtype = values.dtype
    is_plain = dtype.is_float() or (dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128))
    return is_plain and not values.null_count()


def _for_each_part(do: Callable[[slice], None], length: int) -> None:
    """Call a function for each part of a length, on all threads."""
    size = _execution.SIZES.part
    parts = (slice(start, start + size) for start in range(0, length, size))
    together([partial(do, part) for part in parts])
