"""Running sums of weights at positive rows, of rows in memory: in one pass over parts of them.

Weights are looked up, added up and left out part by part, so that a part stays in the processor's
cache, and the memory of one part serves for the next.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc._lazy import together
from frame_prc._ranking.narrow_keys import OrderedRows
from frame_prc._ranking.stretches import add_up_within, long_parts

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


def sums_at_positives(ordered: OrderedRows, *, squares: bool) -> pl.DataFrame | None:
    """Return running sums of the weights of both classes in each segment, at its positive rows.

    Weights are added up in the order of the rows, as Polars does: the digits are the same.

    Returns
    -------
    DataFrame or None
        ``rank_key, tp, fp, positives, negatives``, with squares also ``tp_squares`` and so on, and
        ``n_terms``, the number of rows of the segment. Each segment begins with the row that opens
        it. There are no sums if segments are short.
    """
    parts = long_parts(ordered.opening, len(ordered.keys))
    if parts is None:
        return None
    size = -(-len(parts) // pl.thread_pool_size())
    shares = [parts[start : start + size] for start in range(0, len(parts), size)]
    found = together([partial(_of_parts, ordered, share, squares=squares) for share in shares])
    # Made here, not on those threads: making a frame holds Python's lock.
    return pl.concat([pl.DataFrame(columns) for share in found for columns in share])


def _of_parts(
    ordered: OrderedRows, parts: list[pl.Series], *, squares: bool
) -> list[dict[str, Array]]:
    """Return the sums of some parts, computed one after the other."""
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    keys, weights = ordered.keys.to_numpy(), ordered.values["weight"].to_numpy()
    longest = max(part[-1] - part[0] for part in parts)
    bits, weight = np.empty(longest, np.uint64), np.empty(longest)
    found = []
    for part in parts:
        first, length = part[0], part[-1] - part[0]
        ends, key, own = (part - first).to_numpy(), keys[first : part[-1]], bits[:length]
        np.bitwise_and(key, np.uint64(ordered.key.class_size - 1), out=own)
        # With "raise", NumPy would fill a copy first. No number is beyond the weights.
        np.take(weights, own.view(np.int64), out=weight[:length], mode="clip")
        weight[ends[:-1]] = 0  # the rows that open segments have a number, but no weight
        np.bitwise_and(key, np.uint64(ordered.key.class_size), out=own)
        places = np.flatnonzero(own)
        sums = _sums(weight[:length], places, ends, squares=squares)
        found.append({"rank_key": key[places], **sums})
    return found


def _sums(weight: Array, positives: Array, ends: Array, *, squares: bool) -> dict[str, Array]:
    """Return the sums at the positive rows of some segments, which end at some rows.

    The weights are overwritten.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    ends_of_hits = np.searchsorted(positives, ends)
    n_hits = np.diff(ends_of_hits)
    gains = weight[positives]
    weight[positives] = 0
    sums = {"n_terms": np.repeat(np.diff(ends), n_hits)}
    for suffix in ["_squares", ""] if squares else [""]:
        # Only positive rows add true positives, and they are fewer.
        tp, every_fp = (gains**2, weight**2) if suffix else (gains, weight)
        add_up_within(tp, ends_of_hits.tolist(), tp)
        add_up_within(every_fp, ends.tolist(), every_fp)
        sums |= {
            f"tp{suffix}": tp,
            f"fp{suffix}": every_fp[positives],
            f"positives{suffix}": np.repeat(tp[ends_of_hits[1:] - 1], n_hits),
            f"negatives{suffix}": np.repeat(every_fp[ends[1:] - 1], n_hits),
        }
    return sums
