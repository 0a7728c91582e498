"""Averages over a key: macro, weighted, micro and samples as in scikit-learn, of any segments."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    N_UNDEFINED,
    NONE_UNDEFINED,
    SIZES,
    UNDEFINED,
    sized_areas,
)
from frame_prc._lazy import aggregated, key_names, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Average
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows, dropped
from frame_prc._rows.table import Table
from frame_prc.exceptions import ColumnError, OptionError, nearest


@dataclass(frozen=True)
class Averages(Table):
    """The average over one key, within segments by the other keys."""

    over: str
    average: Average
    bins: Bins | None
    outputs = (*SIZES, AVERAGE_PRECISION, UNDEFINED)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the averages, with the remaining keys."""
        _check(rows, self.over, self.average)
        if self.average == "micro":
            pooled = rank(_pooled(rows, self.over), self.bins)
            return sized_areas(pooled).with_columns(NONE_UNDEFINED)
        return _mean(sized_areas(rank(rows, self.bins)), rows, self.over, self.average)

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without the key that is averaged over."""
        return _pooled(rows, self.over)


def _check(rows: Rows, over: str, average: Average) -> None:
    if over not in rows.columns.key_dtypes:
        raise ColumnError(
            f"over={over!r} is not a key in by=",
            "a key, by its name",
            nearest(over, rows.columns.key_dtypes)
            if rows.columns.key_dtypes
            else f"by={over!r} makes it one",
        )
    if average == "samples" and rows.columns.aggregated and rows.columns.weighted:
        raise OptionError(
            "average='samples' needs the mean weight of each segment's rows, which sums of weights "
            "in pos= and neg= do not contain",
            "rows with weight=, or integer counts",
            "average='macro' weights all segments equally",
        )


def _kept_keys(rows: Rows, over: str) -> dict[str, str]:
    """Return the other keys: their internal names, and their names once ``over`` is gone."""
    names = zip(rows.keys, rows.columns.result_keys, strict=True)
    kept = [key for key, name in names if name != over]
    return dict(zip(kept, key_names(len(kept)), strict=True))


def _pooled(rows: Rows, over: str) -> Rows:
    """Return rows without the key ``over``."""
    kept = _kept_keys(rows, over)
    gone = [key for key in rows.keys if key not in kept]
    dtypes = {name: dtype for name, dtype in rows.columns.key_dtypes.items() if name != over}
    frame = rows.frame.drop(gone).rename(kept)
    # Without values, whose first key may be the one that is gone.
    return replace(rows, frame=frame, columns=replace(rows.columns, key_dtypes=dtypes), values=None)


def _mean(table: pl.LazyFrame, rows: Rows, over: str, average: Average) -> pl.LazyFrame:
    """Return the mean of the segments. Those without an average precision only count in sizes."""
    area, n, n_pos = pl.col(AVERAGE_PRECISION), pl.col("n"), pl.col("n_pos")
    share = pl.when(area.is_not_null()).then(pl.col("share"))
    mean = pl.when(share.sum() > 0).then((share * area).sum() / share.sum())
    totals = pl.col("n", "n_pos", *dropped(rows.columns.request.missing)).sum()
    kept = _kept_keys(rows, over)
    shared = _with_share(table, rows, average)
    means = aggregated(shared, list(kept), totals, mean.alias(AVERAGE_PRECISION), N_UNDEFINED)
    prevalence = pl.when(n > 0).then(n_pos / n).alias("prevalence")
    return means.with_columns(prevalence).rename(kept).sort(list(kept.values()))


def _with_share(table: pl.LazyFrame, rows: Rows, average: Average) -> pl.LazyFrame:
    """Add ``share``, the weight of each segment in the mean."""
    if average == "weighted":
        return table.with_columns(share=pl.col("n_pos").cast(pl.Float64))
    if average == "samples" and "weight" in rows.columns.classes:
        # A segment is a sample here, and all its rows have the weight of the sample.
        weights = rows.used().group_by(rows.keys).agg(share=pl.col("weight").mean())
        return left_join(table, weights, rows.keys)
    return table.with_columns(share=pl.lit(1.0))
