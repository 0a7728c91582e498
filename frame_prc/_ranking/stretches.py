"""Values and sums of rows in memory by stretches of sorted rows.

NumPy finds either in one pass. It is optional: without it, plans of Polars give the same results.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

import polars as pl

from frame_prc import _execution
from frame_prc._execution import together

# With more groups in all stretches per row, Polars groups as fast.
_MOST_GROUPS = 8


def in_parts(points: pl.LazyFrame, *, at_once: bool) -> list[pl.LazyFrame]:
    """Return points in parts of whole segments, each of which begins with a row that ``opens`` it.

    ``at_once`` says that they are computed now; else they stay together.
    """
    if not at_once:
        return [points]
    found = points.collect()
    parts = _parts(found["opens"].arg_true(), found.height)
    return [found[part[0] : part[-1]].lazy() for part in parts] or [points]


def long_parts(begins: pl.Series, end: int) -> list[pl.Series] | None:
    """Return where the stretches of each part begin, and where the last of them ends.

    ``begins`` are the numbers of the rows at which stretches begin. There are no parts if these are
    short.
    """
    return None if len(begins) * _execution.SIZES.stretch > end else _parts(begins, end)


def _parts(begins: pl.Series, end: int) -> list[pl.Series]:
    """Return where the stretches of each part begin, and where the last of them ends."""
    wanted = pl.int_range(0, end, _execution.SIZES.part, eager=True)
    first = begins.search_sorted(wanted).unique().sort()
    places = begins.clone().append(pl.Series([end], dtype=begins.dtype))
    numbers = [*first.filter(first < len(begins)), len(begins)]
    return [places[start : stop + 1] for start, stop in pairwise(numbers)]


def valued_stretches(
    positive: pl.Series, marked: pl.Series, on_positive: pl.Series, on_negative: pl.Series
) -> pl.Series:
    """Return the value of each row, from those of the positives and negatives of its stretch.

    A stretch is the rows after one marked row and up to the next. The first and the last row must
    be marked; the first is in no stretch, and gets NaN. No value may be null.
    """
    import numpy as np  # noqa: PLC0415 - optional, and takes long to import

    is_last = marked.to_numpy()
    stretch = np.cumsum(is_last) - is_last - 1
    # With "raise", NumPy would fill a copy first. Only the first row is in no stretch.
    values = np.take(on_negative.to_numpy(), stretch, mode="clip")
    positives = np.flatnonzero(positive.to_numpy())[1:]
    values[positives] = on_positive.to_numpy()[stretch[positives]]
    values[0] = np.nan
    return pl.Series(values)


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
