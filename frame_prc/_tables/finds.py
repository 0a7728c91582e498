"""Segments that nobody named: those that differ from the others, among all that some keys make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._lazy import in_python
from frame_prc._request.specs import Searched
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table

_NUMBERS = ("value", "others", "difference", "ci_low", "ci_high", "p_adjusted")


@dataclass(frozen=True)
class Finds(Table):
    """One row per find, the clearest first."""

    searched: Searched
    outputs = ("segment", "measure", "n", "n_pos", *_NUMBERS, "n_looked_at", "status")
    hidden = ("measure", "n", "others", "n_looked_at")
    counts_dropped = False

    def keyed(self, rows: Rows) -> Rows:
        """Return rows without keys: the segment is one text."""
        return rows.pooled()

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the finds."""
        rows.check_no_strata("find_segments")
        amount = pl.Float64() if rows.columns.weighted else pl.Int64()
        schema = pl.Schema(
            {"segment": pl.String(), "measure": pl.String(), "n": amount, "n_pos": amount}
            | dict.fromkeys(_NUMBERS, pl.Float64())
            | {"n_looked_at": pl.Int64(), "status": pl.String()}
        )

        def found(source: pl.DataFrame) -> pl.DataFrame:
            from frame_prc._tables.search import Search  # noqa: PLC0415 - needs NumPy

            finds = Search.of(rows.reread(source), self.searched).finds()
            return pl.DataFrame(finds, schema=schema, orient="row")

        return in_python(rows.source, found, schema, in_memory=rows.in_memory)

    @property
    def measure_names(self) -> Sequence[str]:
        """The measure."""
        return (self.searched.measured.name,)
