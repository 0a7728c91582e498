"""The influence of single rows, in the order of the rows, and of the clusters they are in.

The number of a row is in its rank key. So one sort ranks the rows, and one sort of integers brings
their influences back, without a join on the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from frame_prc._inference.influence import effective_number, influences
from frame_prc._lazy import beside, cached
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import is_hit
from frame_prc._request.specs import Calibration
from frame_prc._rows.rows import Rows


def numbered(rows: Rows) -> Rows:
    """Return rows in a fixed order; ``row`` is the number of each among those that count."""
    if rows.usable is None:
        frame = rows.frame.with_row_index("row")
    else:
        number = rows.usable.cum_sum().cast(pl.UInt32) - rows.usable.cast(pl.UInt32)
        frame = rows.frame.with_columns(row=number)
    return replace(rows, frame=cached(frame))


@dataclass(frozen=True)
class RowInfluence:
    """The influences of ranked, numbered rows on the average precision of their segments."""

    ranking: Ranking
    calibration: Calibration | None = None

    @classmethod
    def of(cls, rows: Rows, calibration: Calibration | None) -> RowInfluence:
        """Return the influences of numbered rows."""
        return cls(rank(rows, squares=True, numbered=True), calibration)

    @cached_property
    def steps(self) -> pl.LazyFrame:
        """The influence at each score."""
        return cached(influences(self.ranking, self.calibration))

    def of_rows(self, place: int) -> pl.LazyFrame:
        """Return the segment and the influence of each row that counts, in the order of the rows.

        The influence is that of a unit of weight. The columns are ``segment_0, influence_0`` with
        the place for 0.
        """
        steps = self.steps.select("segment", "on_positive", "on_negative")
        ranked = beside([_with_steps(self.ranking), steps])
        segment, on_positive, on_negative = (
            pl.col(name).gather("step") for name in ("segment", "on_positive", "on_negative")
        )
        found = pl.when("positive").then(on_positive).otherwise(on_negative)
        names = [f"segment_{place}", f"influence_{place}"]
        columns = ranked.select("row", segment.alias(names[0]), found.alias(names[1]))
        return columns.drop_nulls("row").select(_in_order_of_rows(*names))


def _with_steps(ranking: Ranking) -> pl.LazyFrame:
    """Return ``row, positive, step`` of each ranked row.

    ``step`` is the place of the score with the influence of the row (see :func:`influences`).
    """
    key, following = ranking.key, pl.col("following")
    is_step = is_hit(key) & ~key.unretrieved()
    return (
        ranking.in_order.select(key.row_and_class(), key.opens(), is_step=is_step)
        .with_columns(following=pl.col("is_step").cum_sum() - pl.col("is_step"))
        .with_columns(
            opening=pl.when("opens").then(following).forward_fill(),
            is_below=pl.when("is_step").then("opens").backward_fill(),
        )
        .filter(~pl.col("opens"))
        .select(
            *key.unpacked(),
            step=pl.when("is_below").then("opening").otherwise(following),
        )
    )


def _in_order_of_rows(*columns: str) -> pl.Expr:
    """Return columns of ranked rows in the order of their numbers.

    A sort of integers that hold both the number and the place is faster than one of two columns.
    """
    number, place = pl.col("row").cast(pl.UInt64), pl.int_range(pl.len(), dtype=pl.UInt64)
    return pl.col(columns).gather((number * 2**32 + place).sort() % 2**32)


# --- rows and clusters ---------------------------------------------------------------------


def with_influences(rows: Rows, areas: Sequence[RowInfluence]) -> pl.LazyFrame:
    """Return numbered rows that count with their influences, times their weight.

    ``segment_0, influence_0`` and so on are those on each of the areas. ``pos`` is the weight of a
    positive row, and 0 for a negative.
    """
    weight = pl.col("weight") if rows.columns.weighted else 1.0
    found = [area.of_rows(place) for place, area in enumerate(areas)]
    weighted = {f"influence_{i}": pl.col(f"influence_{i}") * weight for i in range(len(areas))}
    pos = pl.when("truth").then(weight).otherwise(0.0)
    return beside([rows.used(), *found]).with_columns(**weighted, pos=pos)


def cluster_sums(frame: pl.LazyFrame, segments: Sequence[str], sums: Sequence[str]) -> pl.LazyFrame:
    """Return sums, and the weight of the positives, of the rows of each cluster and segment."""
    return frame.group_by(*segments, "cluster").agg(pl.col(*sums, "pos").sum())


def effective(amount: str) -> pl.Expr:
    """Return the effective number of rows, or of clusters, with an amount of a class."""
    return effective_number(pl.col(amount).sum(), (pl.col(amount) ** 2).sum())
