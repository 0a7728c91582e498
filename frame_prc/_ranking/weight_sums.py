"""Running sums of the weights of rows in memory, in one pass over parts of them.

Weights are looked up, added up and left out part by part, so that a part stays in the processor's
cache, and the memory of one part serves for the next. They are added up in the order of the rows,
as Polars does: the digits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import polars as pl

from frame_prc._lazy import on_each_thread
from frame_prc._ranking.narrow_keys import OrderedRows, numbers_in
from frame_prc._ranking.places import looked_up
from frame_prc._ranking.stretches import add_up_within, long_parts

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class _Part:
    """The rows of some segments that follow one another, with those that open them.

    ``first`` is the number of the first row. From there on, ``ends`` are the numbers of the rows
    that open segments, and of the row after the last. These have no weight, and are positive. The
    memory of ``weights`` and ``positive`` is that of the next part too.
    """

    first: int
    ends: Array
    keys: Array
    weights: Array
    positive: Array


def sums_at_positives(ordered: OrderedRows, *, squares: bool) -> pl.DataFrame | None:
    """Return running sums of the weights of both classes in each segment, at its positive rows.

    Returns
    -------
    DataFrame or None
        ``rank_key, tp, fp, positives, negatives``, with squares also ``tp_squares`` and so on, and
        ``n_terms``, the number of rows of the segment. Each segment begins with the row that opens
        it. Beside the sums are the other columns of the rows. There is nothing if segments are
        short.
    """

    def of_parts(parts: Iterator[_Part]) -> list[dict[str, Array]]:
        return [_at_positives(part, squares=squares) for part in parts]

    found = _on_all_threads(ordered, of_parts)
    if found is None:
        return None
    # Made here, not on those threads: making a frame holds Python's lock.
    sums = pl.concat([pl.DataFrame(columns) for share in found for columns in share])
    return _with_others(sums, ordered)


def sums_at_rows(ordered: OrderedRows, *, squares: bool) -> pl.DataFrame | None:
    """Return the same at all rows, without ``n_terms``."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    names = ("tp", "fp", "positives", "negatives")
    columns = [f"{name}{suffix}" for suffix in _suffixes(squares=squares) for name in names]
    sums = {column: np.empty(len(ordered.keys)) for column in columns}

    def of_parts(parts: Iterator[_Part]) -> None:
        for part in parts:
            own = slice(part.first, part.first + len(part.keys))
            _at_rows(part, {column: found[own] for column, found in sums.items()}, squares=squares)

    if _on_all_threads(ordered, of_parts) is None:
        return None
    summed = (pl.Series(column, found) for column, found in sums.items())
    return _with_others(pl.DataFrame([ordered.keys, *summed]), ordered)


def _with_others(sums: pl.DataFrame, ordered: OrderedRows) -> pl.DataFrame:
    """Add the other columns of the rows; rows that open segments have those of some row."""
    others = ordered.values.drop("weight")
    if not others.width:
        return sums
    row = numbers_in(sums["rank_key"], ordered.key)
    return sums.with_columns(looked_up(column, row) for column in others)


def _on_all_threads(
    ordered: OrderedRows, work: Callable[[Iterator[_Part]], ResultT]
) -> list[ResultT] | None:
    """Return what a function makes of the parts of each thread; nothing if segments are short."""
    parts = long_parts(ordered.opening, len(ordered.keys))
    if parts is None:
        return None
    return on_each_thread(parts, lambda share: work(_read(ordered, share)))


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
        yield _Part(first, ends, key, weight, bits != 0)


def _at_positives(part: _Part, *, squares: bool) -> dict[str, Array]:
    """Return the sums at the positive rows of a part."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    places = np.flatnonzero(part.positive)
    ends_of_hits = np.searchsorted(places, part.ends)
    n_hits = np.diff(ends_of_hits)
    weights, gains = part.weights, part.weights[places]
    weights[places] = 0
    sums = {"n_terms": np.repeat(np.diff(part.ends), n_hits)}
    for suffix in reversed(_suffixes(squares=squares)):
        # Only positive rows add true positives, and they are fewer.
        tp, every_fp = (gains**2, weights**2) if suffix else (gains, weights)
        add_up_within(tp, ends_of_hits.tolist(), tp)
        add_up_within(every_fp, part.ends.tolist(), every_fp)
        sums |= {
            f"tp{suffix}": tp,
            f"fp{suffix}": every_fp[places],
            f"positives{suffix}": np.repeat(tp[ends_of_hits[1:] - 1], n_hits),
            f"negatives{suffix}": np.repeat(every_fp[part.ends[1:] - 1], n_hits),
        }
    return {"rank_key": part.keys[places], **sums}


def _at_rows(part: _Part, sums: dict[str, Array], *, squares: bool) -> None:
    """Write the sums at all rows of a part."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    ends = part.ends.tolist()
    for suffix in _suffixes(squares=squares):
        amounts = np.square(part.weights) if suffix else part.weights
        tp, fp = sums[f"tp{suffix}"], sums[f"fp{suffix}"]
        np.multiply(amounts, part.positive, out=tp)
        np.subtract(amounts, tp, out=fp)
        for running, total in (tp, sums[f"positives{suffix}"]), (fp, sums[f"negatives{suffix}"]):
            add_up_within(running, ends, running)
            for start, stop in pairwise(ends):
                total[start:stop] = running[stop - 1]


def _suffixes(*, squares: bool) -> tuple[str, ...]:
    return ("", "_squares") if squares else ("",)
