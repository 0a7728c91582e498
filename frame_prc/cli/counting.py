"""Counts in parts, one after the other, in memory that does not grow with the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

import frame_prc
from frame_prc._lazy import named
from frame_prc.cli import input as _input
from frame_prc.cli.input import Source
from frame_prc.cli.work import Progress
from frame_prc.exceptions import DataError

Given = Mapping[str, Any]


def counts(source: Source, rows: pl.LazyFrame, asked: Given, progress: Progress) -> pl.LazyFrame:
    """Return the counts of all rows, which are counted in parts where they are many."""
    whole = frame_prc.counts(rows, **asked)  # says at once what the schema shows
    parts = source.parts()
    if len(parts) == 1:
        return whole
    alike = _without_label(asked, rows.collect_schema())
    added: list[pl.DataFrame] = []
    for place, part in enumerate(parts, 1):
        progress.text = f"counting {place} of {len(parts)}: {part}"
        added = [frame_prc.merge_counts(*added, _count(part, alike))]
    # A label that is nowhere is an error, which all rows together have to show.
    is_nowhere = asked["pos_label"] is not None and added[0]["pos"].sum() == 0
    return whole if is_nowhere else added[0].lazy()


def _count(part: Source, asked: Given) -> pl.DataFrame:
    with _input.reading(part):
        try:
            return frame_prc.counts(part.scan(), **asked).collect()
        except DataError as error:
            raise DataError(f"{part}: {error}") from error


def _without_label(asked: Given, schema: pl.Schema) -> Given:
    """Return what to ask of a file in which the label may happen not to occur."""
    if asked["pos_label"] is None:
        return asked
    truth = named(asked["truth"])
    known = truth.fill_nan(None) if schema[asked["truth"]].is_float() else truth
    return {**asked, "truth": known == asked["pos_label"], "pos_label": None}
