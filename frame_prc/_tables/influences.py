"""Rows with their influence on measures of their segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._inference.estimates import Estimates, measure_of
from frame_prc._inference.row_influence import numbered
from frame_prc._lazy import beside, concat, left_join
from frame_prc._request.specs import Measured
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

ROW = "row"
_DEFINED = "\0defined_"


@dataclass(frozen=True)
class Influences(Table):
    """One row per row that counts; with several models one for each.

    ``places`` has the ``row`` of each, of those that have a weight.
    """

    measures: Sequence[Measured]
    places: pl.LazyFrame
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        return (ROW, *self.measure_names)

    @property
    def measure_names(self) -> Sequence[str]:
        """The measures."""
        return [one.name for one in self.measures]

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the rows in the order given, with what their weight adds to each measure."""
        models = 1 if rows.columns.model is not None else len(rows.columns.scores)
        places = concat([self.places] * models)
        usable = rows.usable if rows.usable is not None else pl.lit(value=True)
        kept = beside([rows.frame, places]).filter(usable)
        ordered = numbered(rows)
        estimates = Estimates.by_rows(ordered, [measure_of(one) for one in self.measures])
        found = [
            one.by_row.in_order_of_rows(0, ["influence_0"]).rename(
                {"influence_0": one.measure.name}
            )
            for one in estimates
            if one.by_row
        ]
        table = beside([kept.select(*rows.keys, ROW, weight=rows.weight), *found])
        moved = {}
        for place, one in enumerate(estimates):
            has_value = pl.col(ESTIMATE).is_not_null().alias(f"{_DEFINED}{place}")
            table = left_join(table, one.keyed().select(*rows.keys, has_value), rows.keys)
            own = pl.col(one.measure.name) * one.measure.span * pl.col("weight")
            moved[one.measure.name] = pl.when(has_value.meta.output_name()).then(own.fill_nan(None))
        return table.with_columns(**moved)
