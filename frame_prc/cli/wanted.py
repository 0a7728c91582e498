"""What is wanted of a result: where it goes, and which of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._lazy import named
from frame_prc.cli.gate import Condition
from frame_prc.cli.options import columns
from frame_prc.exceptions import ColumnError, OptionError, nearest


@dataclass(frozen=True)
class Wanted:
    """The file of a result, its columns as given, and the conditions under which it fails."""

    path: str | None
    columns: Sequence[str] | None
    conditions: Sequence[Condition]

    def of(self, result: pl.LazyFrame) -> pl.LazyFrame:
        """Return the columns that are wanted of a result."""
        return result.select(map(named, _names(self.columns, result.collect_schema())))

    def is_within(self, result: Mapping[str, pl.DataType]) -> bool:
        """Return whether a result has all columns that are named."""
        named_columns = columns(self.columns, result) if self.columns else []
        judged = [condition.column for condition in self.conditions]
        return all(name in result for name in [*named_columns, *judged])


def _names(texts: Sequence[str] | None, result: Mapping[str, pl.DataType]) -> list[str]:
    """Return the names of columns; refuse one that the result does not have."""
    names = columns(texts, result) if texts else list(result)
    for name in names:
        if name not in result:
            raise ColumnError(
                f"--columns names {name!r}, which is not a column of the result",
                ", ".join(result),
                nearest(name, result),
            )
        if names.count(name) > 1:
            raise OptionError(f"--columns names {name!r} twice", "each column once")
    return names
