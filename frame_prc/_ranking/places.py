"""Values of rows in memory: looked up at places in any order, or summed by stretches.

Each value is far from the next one, so most of the time goes by in waiting for memory: all threads
take a part. NumPy waits least, as it asks the system for large pages, and sums stretches in one
pass. It is optional: without it, Polars gives the same results. Weights are looked up, added up and
left out part by part, in the order of the rows: a part stays in the processor's cache, and the
memory of one serves for the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc import _execution
from frame_prc._execution import has_numpy, on_each_thread, together
from frame_prc._lazy import beside

if TYPE_CHECKING:
    import numpy as np

    from frame_prc._ranking.narrow_keys import OrderedRows

    Array: TypeAlias = np.ndarray[Any, Any]

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


def _long_parts(begins: pl.Series, end: int) -> list[pl.Series] | None:
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


# --- running sums of weights ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """The rows of some segments that follow one another, with those that open them.

    ``ends`` are the numbers of the rows that open segments, and of the row after the last. These
    have no weight, and are positive. The memory of ``weights`` is that of the next part too.
    """

    ends: Array
    keys: Array
    weights: Array
    positive: Array


def weight_sums(ordered: OrderedRows, *, only_positive: bool, squares: bool) -> pl.DataFrame | None:
    """Return running sums of the weights of both classes in each segment."""
    parts = _long_parts(ordered.opening, len(ordered.keys))
    if parts is None:
        return None

    def of_parts(share: Sequence[pl.Series]) -> list[dict[str, Array]]:
        return [
            _sums(part, only_positive=only_positive, squares=squares)
            for part in _read(ordered, share)
        ]

    found = on_each_thread(parts, of_parts)
    # Made here, not on those threads: making a frame holds Python's lock.
    sums = pl.concat([pl.DataFrame(columns) for share in found for columns in share])
    others = ordered.values.drop("weight")
    if not others.width:
        return sums
    # Rows that open segments get the values of some row.
    row = ordered.key.rows_in(sums["rank_key"])
    return sums.with_columns(looked_up(column, row) for column in others)


def _read(ordered: OrderedRows, parts: Sequence[pl.Series]) -> Iterator[_Part]:
    """Yield the rows of each part, of which one thread looks at one after the other."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    keys, weights = ordered.keys.to_numpy(), ordered.values["weight"].to_numpy()
    longest = max(part[-1] - part[0] for part in parts)
    all_bits, all_weights = np.empty(longest, np.uint64), np.empty(longest)
    for part in parts:
        first, stop = part[0], part[-1]
        ends, key = (part - first).to_numpy(), keys[first:stop]
        bits, weight = all_bits[: len(key)], all_weights[: len(key)]
        np.bitwise_and(key, np.uint64(ordered.key.class_size - 1), out=bits)
        # With "raise", NumPy would fill a copy first. No number is beyond the weights.
        np.take(weights, bits.view(np.int64), out=weight, mode="clip")
        weight[ends[:-1]] = 0  # the rows that open segments have a number, but no weight
        np.bitwise_and(key, np.uint64(ordered.key.class_size), out=bits)
        yield _Part(ends, key, weight, bits != 0)


def _sums(part: _Part, *, only_positive: bool, squares: bool) -> dict[str, Array]:
    """Return the sums at the rows of a part, or at the positive ones."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    places: Array | slice = slice(None)
    if only_positive:  # they are fewer, and all that adds true positives
        places = np.flatnonzero(part.positive)
        gains, ends_of_gains = part.weights[places], np.searchsorted(places, part.ends)
        part.weights[places] = 0
        losses = part.weights
    else:
        gains, ends_of_gains = part.weights * part.positive, part.ends
        losses = part.weights - gains
    n_rows = np.diff(ends_of_gains)
    sums = {"rank_key": part.keys[places], "n_terms": np.repeat(np.diff(part.ends), n_rows)}
    classes = (
        ("tp", "positives", gains, ends_of_gains, slice(None)),
        ("fp", "negatives", losses, part.ends, places),
    )
    for suffix in ("_squares", "") if squares else ("",):
        for name, total, amounts, ends, wanted in classes:
            running = amounts**2 if suffix else amounts
            for start, stop in pairwise(ends.tolist()):
                np.cumsum(running[start:stop], out=running[start:stop])
            sums[f"{name}{suffix}"] = running[wanted]
            sums[f"{total}{suffix}"] = np.repeat(running[ends[1:] - 1], n_rows)
    return sums
