"""Averages over a key: macro, weighted, micro and samples as in scikit-learn, of any segments."""

from __future__ import annotations

from collections.abc import Sequence
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
from frame_prc._curves.logit_intervals import INTERVAL
from frame_prc._inference.sampled import SPREAD, with_deviations, with_limits, with_std_error
from frame_prc._lazy import aggregated, in_order, key_names, left_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Average, Interval, Top
from frame_prc._request.thresholds import Bins
from frame_prc._rows.columns import check_over
from frame_prc._rows.rows import Rows, dropped
from frame_prc._rows.table import Table
from frame_prc.exceptions import OptionError


@dataclass(frozen=True)
class Averages(Table):
    """The average over one key, within segments by the other keys.

    An ``interval`` is for segments that are themselves a sample.
    """

    over: str
    average: Average
    bins: Bins | None
    interval: Interval | None = None
    top: Top | None = None
    hidden = ("prevalence", "std_error")

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        interval = () if self.interval is None else INTERVAL
        return (*SIZES, AVERAGE_PRECISION, *interval, UNDEFINED)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the averages, with the remaining keys."""
        check_over(rows.columns, self.over)
        _check_samples(rows, self.average)
        if self.average == "micro":
            pooled = rank(without_key(rows, self.over), self.bins, scored=False)
            return sized_areas(pooled, top=self.top).with_columns(NONE_UNDEFINED)
        areas = sized_areas(rank(rows, self.bins, scored=False), top=self.top)
        means = _mean(areas, rows, self.over, self.average)
        if self.interval is None:
            return means
        return with_limits(
            means, AVERAGE_PRECISION, self.interval.level, 0.0, in_memory=rows.in_memory
        )

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without the key that is averaged over."""
        return without_key(rows, self.over)


def _check_samples(rows: Rows, average: Average) -> None:
    if average == "samples" and rows.columns.aggregated and rows.columns.weighted:
        raise OptionError(
            "average='samples' needs the mean weight of each segment's rows, which sums of weights "
            "in pos= and neg= do not contain",
            "rows with weight=, or integer counts",
            "average='macro' weights all segments equally",
        )


def kept_keys(rows: Rows, over: str) -> dict[str, str]:
    """Return the other keys: their internal names, and their names once ``over`` is gone."""
    names = zip(rows.keys, rows.columns.result_keys, strict=True)
    kept = [key for key, name in names if name != over]
    return dict(zip(kept, key_names(len(kept)), strict=True))


def without_key(rows: Rows, over: str) -> Rows:
    """Return rows without the key ``over``."""
    kept = kept_keys(rows, over)
    gone = [key for key in rows.keys if key not in kept]
    dtypes = {name: dtype for name, dtype in rows.columns.key_dtypes.items() if name != over}
    frame = rows.frame.drop(gone).rename(kept)
    # Without values, whose first key may be the one that is gone.
    return replace(rows, frame=frame, columns=replace(rows.columns, key_dtypes=dtypes), values=None)


def _mean(table: pl.LazyFrame, rows: Rows, over: str, average: Average) -> pl.LazyFrame:
    """Return the mean of the segments. Those without an average precision only count in sizes."""
    area, n, n_pos = pl.col(AVERAGE_PRECISION), pl.col("n"), pl.col("n_pos")
    kept = kept_keys(rows, over)
    totals = pl.col("n", "n_pos", *dropped(rows.columns.request.missing)).sum()
    shared = with_deviations(
        _with_share(table, rows, average), list(kept), area, pl.col("share")
    ).with_columns(weighted=pl.col("shares") * area)
    sums = aggregated(
        shared, list(kept), totals, in_order(pl.col(*SPREAD, "weighted")), N_UNDEFINED
    )
    mean = pl.when(pl.col("shares") > 0).then(pl.col("weighted") / pl.col("shares"))
    prevalence = pl.when(n > 0).then(n_pos / n)
    means = sums.with_columns(mean.alias(AVERAGE_PRECISION), prevalence=prevalence)
    return with_std_error(means).rename(kept).sort(list(kept.values()))


def _with_share(table: pl.LazyFrame, rows: Rows, average: Average) -> pl.LazyFrame:
    """Add ``share``, the weight of each segment in the mean."""
    if average == "weighted":
        return table.with_columns(share=pl.col("n_pos").cast(pl.Float64))
    if average == "samples" and "weight" in rows.columns.classes:
        # A segment is a sample here, and all its rows have the weight of the sample.
        weights = rows.used().group_by(rows.keys).agg(share=pl.col("weight").mean())
        return left_join(table, weights, rows.keys)
    return table.with_columns(share=pl.lit(1.0))
