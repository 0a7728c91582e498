"""Tables: what a verb makes of rows, described once, and how it gets its keys back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import polars as pl

from frame_prc._request.specs import Missing
from frame_prc._rows.rows import Rows, dropped


class Table(ABC):
    """A result with one or more rows per segment: its columns, and how they are computed.

    Each verb has a frozen dataclass of this kind, whose fields are the verb's options.
    """

    # Whether the number of dropped rows is a column where missing="drop".
    counts_dropped: ClassVar[bool] = True

    @property
    @abstractmethod
    def outputs(self) -> Sequence[str]:
        """The columns after the keys, in order."""

    @property
    def reserved(self) -> Sequence[str]:
        """Names that no key may have."""
        return self.outputs

    @property
    def leading(self) -> Sequence[str]:
        """Those of the outputs that come before the keys."""
        return ()

    @abstractmethod
    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the internal keys and the columns of the table, maybe among others."""

    def keyed(self, rows: Rows) -> Rows:
        """Return rows with the keys that the table has, which may be fewer."""
        return rows

    def columns(self, missing: Missing) -> list[str]:
        """Return the columns after the keys, the number of dropped rows among them."""
        return [*self.outputs, *(dropped(missing) if self.counts_dropped else ())]

    def finished(self, rows: Rows) -> pl.LazyFrame:
        """Return the table under the caller's names of the keys."""
        columns = self.columns(rows.columns.request.missing)
        table = self.keyed(rows).finish(self.of(rows), columns)
        return table.select(*self.leading, pl.exclude(self.leading)) if self.leading else table
