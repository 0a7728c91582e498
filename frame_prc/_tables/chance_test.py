"""Each segment compared with random orders of its labels: whether it is better than chance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, sized_areas
from frame_prc._curves.logit_intervals import RANDOM
from frame_prc._inference.bootstrap import cells_of, keyed
from frame_prc._inference.chance import with_random
from frame_prc._lazy import left_join
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._request.specs import ChanceTest, Draws
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc._tables.average_precision import CLASSES
from frame_prc._tables.compare import adjusted, hidden_of_test

_COLUMNS = ("reference", "n", "n_pos", "value_a", "value_b", "difference", "p_value")


@dataclass(frozen=True)
class ChanceTests(Table):
    """One row per segment (and model): its average precision and that of random orders."""

    test: ChanceTest

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        return (*_COLUMNS, *(("p_adjusted",) if self.test.adjust else ()), "status")

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        return hidden_of_test(self.test.adjust)

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        """Adjusted p-values."""
        return adjusted(self.test.adjust)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the comparisons, each with its one-sided test."""
        ranking = rank(rows)
        areas = with_random(sized_areas(ranking).with_columns(CLASSES), ranking, rows.keys)
        table = areas.rename({AVERAGE_PRECISION: "value_a", RANDOM: "value_b"}).with_columns(
            reference=pl.lit("random"), difference=pl.col("value_a") - pl.col("value_b")
        )
        return left_join(table, _p_values(ranking, rows, self.test.resampling), rows.keys)


def _p_values(ranking: Ranking, rows: Rows, resampling: Draws) -> pl.LazyFrame:
    """Return keys and ``p_value``; without keys there is one row."""
    from frame_prc._inference import permutations  # noqa: PLC0415 - needs NumPy, which is optional

    cells = cells_of(ranking, rows, bins=None)
    numbered = permutations.p_values(cells, resampling, in_memory=rows.in_memory)
    return keyed(numbered, ranking, "p_value")
