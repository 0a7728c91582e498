"""How the scores of either class are spread: the share of each in bins of one width."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._curves.counts import Counts
from frame_prc._lazy import over
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

_SCORE = pl.col("threshold").cast(pl.Float64)


@dataclass(frozen=True)
class ScoreBins(Table):
    """One row per segment and bin that is not empty, of so many ``bins`` for all finite scores."""

    bins: int
    outputs = ("bin_low", "bin_high", "positives", "negatives")
    counts_dropped = False

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the bins of each segment."""
        low, span = _SCORE.min(), _SCORE.max() - _SCORE.min()
        length = pl.when(span > 0).then(span).otherwise(self.bins)

        def edge(place: pl.Expr) -> pl.Expr:
            # By a column: by a scalar Polars divides inexactly.
            return low + place * length / (place * 0.0 + self.bins)

        near = ((_SCORE - low) / length * self.bins).floor()
        # The quotient is rounded, and an edge belongs to the bin that it begins.
        begun = [(_SCORE - edge(near + step) >= 0).cast(pl.Float64) for step in (0, 1)]
        place = (near - 1 + begun[0] + begun[1]).clip(0, self.bins - 1)
        counts = Counts().of(rows).filter(_SCORE.is_finite())
        edges = {"bin_low": edge(place), "bin_high": edge(place + 1)}
        keys = [*rows.keys, *edges]
        sums = counts.with_columns(**edges).group_by(keys).agg(pl.col("pos", "neg").sum())
        shares = {
            "positives": _share(pl.col("pos"), rows),
            "negatives": _share(pl.col("neg"), rows),
        }
        return sums.sort(keys).with_columns(**shares)


def _share(amount: pl.Expr, rows: Rows) -> pl.Expr:
    """Return a share of its class, null where the class has no rows."""
    total = over(amount.sum(), rows.keys)
    return pl.when(total > 0).then(amount / total)
