"""Values of rows in memory: looked up at places in any order, or summed by stretches.

Each value is far from the next one, so most of the time goes by in waiting for memory: all threads
take a part. NumPy waits least, as it asks the system for large pages, and sums stretches in one
pass. It is optional: without it, Polars gives the same results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

import polars as pl

from frame_prc import _execution
from frame_prc._execution import has_numpy, together
from frame_prc._lazy import beside

# --- by place -------------------------------------------------------------------------------------


def gathered(rows: pl.LazyFrame, place: str, table: pl.LazyFrame, *, at_once: bool) -> pl.LazyFrame:
    """Add to rows the columns of the row of a table whose number is in their column ``place``."""
    if not at_once:
        names, is_row = table.collect_schema().names(), pl.lit(value=True).alias("\0is_row")
        # Of rows that the checks refuse a place may be beyond the table.
        found = pl.col(names).gather(place, null_on_oob=True)
        both = beside([rows.with_columns(is_row), table]).with_columns(found)
        # A table with more rows made the others longer.
        return both.filter(pl.col("\0is_row").is_not_null()).drop("\0is_row")
    # The other engine would cut the table into chunks.
    of_rows, values = rows.collect(), table.collect(engine="in-memory")
    return of_rows.hstack([looked_up(column, of_rows[place]) for column in values]).lazy()


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

    size = _execution.SIZES.part
    parts = (slice(start, start + size) for start in range(0, len(places), size))
    together([partial(look_up, part) for part in parts])
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


# --- by stretches of sorted rows ------------------------------------------------------------------


# With more groups in all stretches per row, Polars groups as fast.
_MOST_GROUPS = 8


def long_parts(begins: pl.Series, end: int) -> list[pl.Series] | None:
    """Return where the stretches of each part begin, and where the last of them ends."""
    if len(begins) * _execution.SIZES.stretch > end:
        return None
    wanted = pl.int_range(0, end, _execution.SIZES.part, eager=True)
    first = begins.search_sorted(wanted).unique().sort()
    places = begins.clone().append(pl.Series([end], dtype=begins.dtype))
    numbers = [*first.filter(first < len(begins)), len(begins)]
    return [places[start : stop + 1] for start, stop in pairwise(numbers)]


def group_totals(
    rows: pl.DataFrame, size: int, totals: Mapping[str, pl.Expr]
) -> pl.DataFrame | None:
    """Return aggregates of the sums over the rows of each group, for each stretch.

    Rows of a stretch follow one another and have its number as ``stretch``. The ``group`` of a row
    is a number below ``size``; a group without rows in a stretch has a sum of 0, which may not
    change an aggregate. The other columns are added up in the order of the rows, as floats. There
    are no totals if a value is null, if stretches are short, or if most groups are empty.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    if rows.is_empty() or any(column.null_count() for column in rows):
        return None
    stretch, group, *amounts = (column.to_numpy() for column in rows.rechunk())
    places = [0, *(np.flatnonzero(np.diff(stretch)) + 1).tolist(), len(stretch)]
    n_rows, n_stretches = len(stretch), len(places) - 1
    if n_stretches * max(_execution.SIZES.group, size // _MOST_GROUPS) > n_rows or size > n_rows:
        return None

    def of_stretch(start: int, stop: int) -> pl.DataFrame:
        own = group[start:stop]
        sums = (np.bincount(own, amount[start:stop], size) for amount in amounts)
        frame = pl.DataFrame(dict(zip(rows.columns[2:], sums, strict=True)))
        number = pl.lit(stretch[start], dtype=rows.schema["stretch"])
        return frame.select(number.alias("stretch"), **totals)

    return pl.concat(together([partial(of_stretch, *ends) for ends in pairwise(places)]))
