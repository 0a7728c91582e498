"""A verb called on the rows of files, and their counts, one part of the rows after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import polars as pl

import frame_prc
from frame_prc._lazy import named
from frame_prc.cli.files import Source
from frame_prc.cli.reading import reading
from frame_prc.cli.work import Progress
from frame_prc.exceptions import DataError


@dataclass(frozen=True)
class Call:
    """A verb, its parameters, and the files whose rows it takes."""

    verb: str
    parameters: Mapping[str, Any]
    source: Source

    def __call__(self, rows: pl.LazyFrame, **more: Any) -> Any:
        """Return the result for some of the rows."""
        return getattr(frame_prc, self.verb)(rows, **self.parameters, **more)

    def get(self, name: str) -> Any:
        """Return a parameter; ``None`` if the verb does not have it."""
        return self.parameters.get(name)

    def but(self, **changed: Any) -> Call:
        """Return the call with other values of some parameters."""
        return replace(self, parameters={**self.parameters, **changed})

    def for_a_part(self) -> Call:
        """Return the call for some of the rows, among which the label may not occur."""
        label, truth = self.get("pos_label"), self.get("truth")
        if label is None:
            return self
        is_float = self.source.schema[truth].is_float()
        known = named(truth).fill_nan(None) if is_float else named(truth)
        return self.but(truth=known == label, pos_label=None)

    def counts(self, rows: pl.LazyFrame, **more: Any) -> pl.LazyFrame:
        """Return the counts of rows, by default the exact ones."""
        known = signature(frame_prc.counts).parameters
        asked = {name: value for name, value in self.parameters.items() if name in known}
        return frame_prc.counts(rows, **{**asked, **more})


def counted(call: Call, progress: Progress) -> pl.LazyFrame:
    """Return the counts of one part of the rows after the other, added up.

    All rows together would take ten times the memory, which grows with them.
    """
    whole: pl.LazyFrame = call(call.source.rows)  # checks the schema
    parts = call.source.parts()
    if len(parts) == 1:
        return whole
    of_part, ascending = call.for_a_part(), call.get("ascending")
    added: list[pl.DataFrame] = []
    for place, part in enumerate(parts, 1):
        progress.set(f"counting {place} of {len(parts)}: {part}")
        added = [frame_prc.merge_counts(*added, _counted(of_part, part), ascending=ascending)]
    # A label that occurs in no part is an error, which counting all rows together raises.
    is_nowhere = call.get("pos_label") is not None and added[0]["pos"].sum() == 0
    return whole if is_nowhere else added[0].lazy()


def _counted(call: Call, part: Source) -> pl.DataFrame:
    with reading(part):
        try:
            counts: pl.DataFrame = call(part.rows).collect()
        except DataError as error:
            raise DataError(
                f"{part}: {error.what}", error.allowed, error.hint, shell_hint=error.shell_hint
            ) from error
    return counts
