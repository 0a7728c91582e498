"""Values and sums of rows in memory by stretches of sorted rows, and values put in places.

NumPy does either in one pass. It is optional: without it, plans of Polars give the same results.
"""

from __future__ import annotations

from itertools import pairwise

import polars as pl

# Of shorter stretches, a call of NumPy for each takes longer than a window of Polars.
_LONG = 1_000


def has_numpy() -> bool:
    """Return whether NumPy is installed."""
    try:
        import numpy as np  # noqa: F401, PLC0415 - takes long to import
    except ImportError:
        return False
    return True


def begin_rarely(begins: pl.Series) -> bool:
    """Return whether stretches, which begin at marked rows, are so long that few begin."""
    return begins.sum() * _LONG <= len(begins)


def sums_within(amounts: pl.DataFrame, begins: pl.Series) -> list[pl.Series]:
    """Return running sums of each column, which begin anew at marked rows; the first is marked.

    They are added up in the order of the rows, as Polars does: the digits are the same.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    places = [*begins.arg_true(), len(begins)]
    found = []
    for column in amounts:
        sums = column.to_numpy(writable=True)
        for start, stop in pairwise(places):
            stretch = sums[start:stop]
            np.cumsum(stretch, out=stretch)
        found.append(pl.Series(column.name, sums))
    return found


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
