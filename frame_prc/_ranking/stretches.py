"""Stretches of sorted rows, each from one marked row to the next: added up, or given one value.

NumPy does either in one pass over a frame in memory. It is optional: without it, plans of Polars
give the same results.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def has_numpy() -> bool:
    """Return whether NumPy is installed."""
    try:
        import numpy as np  # noqa: F401, PLC0415 - takes long to import
    except ImportError:
        return False
    return True


def summed_stretches(
    marked: pl.Series, amounts: Sequence[pl.Series]
) -> tuple[pl.Series, list[pl.Series]]:
    """Return the places of marked rows, and the sums of amounts up to each since the one before.

    The last row must be marked.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    places = np.flatnonzero(marked.to_numpy())
    first = np.zeros_like(places)
    first[1:] = places[:-1] + 1
    sums = [pl.Series(each.name, np.add.reduceat(each.to_numpy(), first)) for each in amounts]
    return pl.Series("place", places, dtype=pl.get_index_type()), sums


def valued_stretches(
    positive: pl.Series, marked: pl.Series, on_positive: pl.Series, on_negative: pl.Series
) -> pl.Series:
    """Return the value of each row, from those of the positives and negatives of its stretch.

    A stretch is the rows after one marked row and up to the next. The first and the last row must
    be marked; the first is in no stretch, and gets null. All marked rows must be positive, and no
    value may be null.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    positives = np.flatnonzero(positive.to_numpy())
    is_marked = marked.gather(positives).to_numpy()
    values = np.repeat(on_negative.to_numpy(), np.diff(positives[is_marked]))
    stretch = np.cumsum(is_marked)[:-1] - 1
    values[positives[1:] - 1] = on_positive.to_numpy()[stretch]
    return pl.Series([None], dtype=pl.Float64).append(pl.Series(values))


def placed(values: pl.Series, places: pl.Series) -> pl.Series:
    """Return values in the order of their places, which are all numbers below their count."""
    if not has_numpy():
        return (values * 0).scatter(places, values)
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    unordered = values.to_numpy()
    found = np.empty_like(unordered)
    found[places.to_numpy()] = unordered
    return pl.Series(values.name, found)
