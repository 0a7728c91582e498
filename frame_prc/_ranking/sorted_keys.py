"""Rank keys sorted at once: those of frames in memory, by NumPy where that is faster.

On most processors NumPy sorts 64-bit integers on one core in half the time that Polars takes on
two. So, where other columns stand beside the keys, their order is found by a sort of integers too:
of the first bits of each key, with the number of its row in the others.
"""

from __future__ import annotations

from functools import lru_cache, partial
from timeit import repeat
from typing import Any

import polars as pl

from frame_prc._execution import has_numpy
from frame_prc._ranking.places import looked_up

_KEY = pl.col("rank_key")
_TRIED = 2**16  # how many keys are sorted to see what is faster; of fewer keys the sort takes 1 ms


def sorted_keys(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return rows in ascending order of their column ``rank_key``; equal keys stay in order."""
    found = rows.collect()
    keys = found["rank_key"]
    # Only rows that the checks refuse have no key.
    if keys.is_empty() or keys.has_nulls():
        return found.sort("rank_key")
    return _with_others(found.rechunk()) if found.width > 1 else sorted_integers(keys).to_frame()


def sorted_integers(keys: pl.Series) -> pl.Series:
    """Return integers in ascending order."""
    is_fast = keys.dtype == pl.UInt64 and len(keys) > _TRIED and numpy_is_faster()
    return sorted_by_numpy(keys) if is_fast else keys.rechunk().sort()


def sorted_by_numpy(keys: pl.Series) -> pl.Series:
    # In place: the system takes longer to hand out new memory than NumPy to sort what is there.
    values = keys.to_numpy(writable=True)
    values.sort()
    return pl.Series(keys.name, values)


@lru_cache(maxsize=1)
def numpy_is_faster() -> bool:
    """Return whether NumPy sorts in less time than Polars on this machine, by a trial.

    Neither the number of threads nor the processor's flags tell: on AMD's Zen 4, NumPy's sort with
    AVX-512 takes six times as long as that with AVX2 (github.com/numpy/x86-simd-sort/issues/6).
    """
    if not has_numpy():
        return False
    keys = pl.int_range(_TRIED, dtype=pl.UInt64, eager=True).hash()
    sorts = (partial(sorted_by_numpy, keys), keys.sort)
    # The least time of three, as other programs may delay one.
    by_numpy, by_polars = (min(repeat(sort, number=1, repeat=3)) for sort in sorts)
    return by_numpy < by_polars


def _with_others(found: pl.DataFrame) -> pl.DataFrame:
    """Return rows in ascending order of their keys; rows with equal keys stay in order."""
    keys = found["rank_key"]
    row_bits = len(keys).bit_length()
    # The class is the last bit of a key: it stays, as it orders the rows of a score.
    highest: Any = keys.max()
    dropped = max(highest.bit_length() + row_bits + 1 - 64, 1)
    first_bits = (_KEY // pl.lit(1 << dropped, keys.dtype)).cast(pl.UInt64)
    narrow = 2 * first_bits + (_KEY & pl.lit(1, keys.dtype)).cast(pl.UInt64)
    numbered = narrow * (1 << row_bits) + pl.int_range(pl.len(), dtype=pl.UInt64)
    packed = keys.to_frame().lazy().select(numbered.alias("rank_key")).collect().to_series()
    order = sorted_integers(packed).to_frame()
    row = (_KEY & pl.lit((1 << row_bits) - 1, pl.UInt64)).cast(pl.get_index_type())
    rows = order.lazy().select(row).collect().to_series()
    # Rows that share their first bits are in the order of their numbers, not of their keys.
    shares_next = (_KEY ^ _KEY.shift(-1)) < (2 << row_bits)
    place = _shared(order.select(shares_next).to_series())
    of_shared = rows.gather(place)
    shared = pl.DataFrame([looked_up(keys, of_shared), of_shared.alias("row")])
    if shared.select((_KEY.shift(-1) < _KEY).any()).item():
        in_order = shared.with_row_index("place").sort("rank_key", "place")
        rows = rows.scatter(place, in_order["row"])
    return pl.DataFrame([looked_up(column, rows) for column in found])


def _shared(with_next: pl.Series) -> pl.Series:
    """Return the places of rows that share their first bits with the row before or after.

    ``with_next`` is whether these bits are also those of the next row; null for the last.
    """
    return (with_next | with_next.shift(1)).fill_null(value=False).arg_true()
