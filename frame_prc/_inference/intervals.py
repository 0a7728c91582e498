"""Confidence intervals of a measure, per segment."""

from __future__ import annotations

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE, interval_columns
from frame_prc._inference.bootstrap import check_drawable
from frame_prc._request.specs import Interval
from frame_prc._rows.columns import Columns
from frame_prc._rows.rows import Rows, units_of
from frame_prc.exceptions import OptionError


def check_method(rows: Rows, interval: Interval) -> None:
    """Raise an error if the method has no interval for such rows."""
    if interval.resampling is not None:
        check_drawable(rows)
    elif interval.method == "boyd":
        _check_boyd(rows.columns)
    elif rows.columns.lacks_squares:
        raise OptionError(
            "intervals and tests need the sums of squared weights beside the sums of weights in "
            "pos= and neg=",
            "integer counts, or sums of weights with pos_squares= and neg_squares=",
            f"{rows.columns.count_hint}; counts(..., squares=True) adds the squares of weights",
            shell_hint="frame-prc counts --squares adds the sums of squared weights",
        )


def _check_boyd(columns: Columns) -> None:
    if columns.weighted:
        given = "weight" if "weight" in columns.classes else "pos"
        raise OptionError(
            f"ci_method='boyd' does not support the weights in {given}=",
            "rows without weight=, or integer counts",
            columns.count_hint or "ci_method='influence' takes weights",
        )
    for role in units_of(columns):
        raise OptionError(
            f"ci_method='boyd' does not support {role}=", f"{role}= with ci_method='influence'"
        )


# --- limits --------------------------------------------------------------------------------


def with_interval(
    table: pl.LazyFrame,
    interval: Interval,
    *,
    of: str = ESTIMATE,
    of_segments: bool = True,
    clustered: bool = False,
    few: str | None = None,
    of_both_classes: bool = False,
    is_share: bool = False,
) -> pl.LazyFrame:
    """Add ``std_error, ci_low, ci_high`` to the estimates in a column, and update their status."""
    negatives = pl.col("few_negatives") if of_segments else None
    table = table.with_columns(pl.col(of).alias(ESTIMATE))
    for columns in interval_columns(
        pl.col,
        interval,
        few_negatives=negatives,
        clustered=clustered,
        few=few,
        of_both_classes=of_both_classes,
        is_share=is_share,
    ):
        table = table.with_columns(**columns)
    return table
