"""Counts of one part of the rows after the other, in memory that does not grow with the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

import frame_prc
from frame_prc._lazy import named
from frame_prc.cli.reading import reading
from frame_prc.cli.source import Source
from frame_prc.cli.work import Progress
from frame_prc.exceptions import DataError

Parameters = Mapping[str, Any]


def counts(
    source: Source, rows: pl.LazyFrame, parameters: Parameters, progress: Progress
) -> pl.LazyFrame:
    """Return the counts of all rows; several parts are counted separately and added up."""
    whole = frame_prc.counts(rows, **parameters)  # checks the schema
    parts = source.parts()
    if len(parts) == 1:
        return whole
    of_part = without_label(parameters, rows.collect_schema())
    added: list[pl.DataFrame] = []
    ascending = parameters["ascending"]
    for place, part in enumerate(parts, 1):
        progress.text = f"counting {place} of {len(parts)}: {part}"
        added = [frame_prc.merge_counts(*added, _count(part, of_part), ascending=ascending)]
    # A label that occurs in no part is an error, which counting all rows together raises.
    is_nowhere = parameters["pos_label"] is not None and added[0]["pos"].sum() == 0
    return whole if is_nowhere else added[0].lazy()


def _count(part: Source, parameters: Parameters) -> pl.DataFrame:
    with reading(part):
        try:
            return frame_prc.counts(part.scan(), **parameters).collect()
        except DataError as error:
            raise DataError(
                f"{part}: {error.what}", error.allowed, error.hint, shell_hint=error.shell_hint
            ) from error


def without_label(parameters: Parameters, schema: pl.Schema) -> Parameters:
    """Return the parameters for a part in which the label may not occur."""
    if parameters["pos_label"] is None:
        return parameters
    truth = named(parameters["truth"])
    known = truth.fill_nan(None) if schema[parameters["truth"]].is_float() else truth
    return {**parameters, "truth": known == parameters["pos_label"], "pos_label": None}
