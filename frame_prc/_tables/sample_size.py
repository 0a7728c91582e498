"""How many rows a study needs, from the standard errors of the rows there are.

Both errors, of a measure and of a difference, fall with the square root of the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._formulas import normal_quantile
from frame_prc._inference.estimates import Estimates, status_of, unbiased_variance
from frame_prc._inference.intervals import check_method
from frame_prc._inference.measures import measure_of
from frame_prc._request.specs import Comparison, Interval, Measured
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc._tables.compare import Differences

_NEEDED = ("std_error", "n_needed", "n_pos_needed", "status")
_ERROR, _OK = pl.col("std_error"), pl.col("status") == "ok"


@dataclass(frozen=True)
class SizeForWidth(Table):
    """One row per segment: how many rows make the interval so narrow."""

    measured: Measured
    level: float
    width: float
    runs_inside = True
    outputs = ("n_pos", "value", *_NEEDED)

    @property
    def measure_names(self) -> Sequence[str]:
        """The measure."""
        return (self.measured.name,)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table."""
        check_method(rows, Interval(self.level))
        measure = measure_of(self.measured)
        table = Estimates.of(rows, measure).keyed()
        found = table.with_columns(
            value=ESTIMATE,
            std_error=unbiased_variance(measure).sqrt(),
            status=status_of(measure, clustered=rows.clustered),
        ).with_columns(measure.values("value") + measure.lengths("std_error"))
        return _with_needed(found, 2 * normal_quantile(self.level) / self.width, rows)


@dataclass(frozen=True)
class SizeForDifference(Table):
    """One row per segment and pair of models: how many rows show so large a difference."""

    comparison: Comparison
    difference: float
    power: float
    runs_inside = True
    outputs = ("model", "baseline", "n_pos", *_NEEDED)

    @property
    def measure_names(self) -> Sequence[str]:
        """The measure."""
        return (self.comparison.measured.name,)

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without a key for the model."""
        return Differences(self.comparison).keyed(rows)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table."""
        deviates = normal_quantile(self.comparison.level) + NormalDist().inv_cdf(self.power)
        found = Differences(self.comparison).of(rows)
        return _with_needed(found, deviates / self.difference, rows)


def _with_needed(table: pl.LazyFrame, deviates: float, rows: Rows) -> pl.LazyFrame:
    """Add how many rows have so small an error that so many deviates of it are 1."""
    numbers = {f"{name}_needed": pl.col(name) * (deviates * _ERROR) ** 2 for name in ("n", "n_pos")}
    if not rows.columns.weighted:
        numbers = {name: number.ceil().cast(pl.Int64) for name, number in numbers.items()}
    unknown = pl.when(_OK & _ERROR.is_null()).then(pl.lit("no_std_error")).otherwise("status")
    return table.with_columns(**numbers, status=unknown)
