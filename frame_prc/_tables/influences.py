"""Rows with their influence on measures of their segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.logit_intervals import ESTIMATE
from frame_prc._inference.estimates import Estimates
from frame_prc._inference.measure import Measure
from frame_prc._inference.measures import measure_of
from frame_prc._inference.row_influence import RowInfluence, numbered
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
        found = [
            RowInfluence.of(ordered, measure_of(one))
            .in_order_of_rows(0, ["influence_0"])
            .rename({"influence_0": one.name})
            for one in self.measures
        ]
        table = beside([kept.select(*rows.keys, ROW, weight=rows.weight), *found])
        moved = {}
        for place, measure in enumerate(map(measure_of, self.measures)):
            table = left_join(table, _defined(ordered, measure, place), rows.keys)
            own = pl.col(measure.name) * measure.span * pl.col("weight")
            moved[measure.name] = pl.when(f"{_DEFINED}{place}").then(own.fill_nan(None))
        return table.with_columns(**moved)


def _defined(rows: Rows, measure: Measure, place: int) -> pl.LazyFrame:
    """Return the keys of segments, and whether they have a measure."""
    has_value = pl.col(ESTIMATE).is_not_null().alias(f"{_DEFINED}{place}")
    return Estimates.of(rows, measure).keyed().select(*rows.keys, has_value)
