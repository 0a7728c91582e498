"""The lines of a chart of curves: the panel, the colour, and the name of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.data import ChartSource, EvaluatedSegments, has_models
from frame_prc._charts.summary_data import ends_and_largest, split_keys
from frame_prc._charts.theme import MOST_OVERLAID
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._lazy import join, key_names
from frame_prc.exceptions import DataError, OptionError

FacetKeys: TypeAlias = tuple[str, ...] | bool | None

_FACET = "facet= takes the keys that get a panel per value"
_MOST_LINES, _CHOICES = 60, 3
_MOST_PREVALENCES = 6  # in colour


def check_readable(
    source: ChartSource, facet: FacetKeys, most: int, overlaid_hint: str = _FACET
) -> None:
    """Raise an error if there are too many lines to read, before they are computed."""
    models, _ = split_keys(source.keys)
    source.check_count(models, _MOST_LINES // _CHOICES, "models", "choose some of the models")
    _, series_keys = _split_keys(source.keys, source.table, facet, most)
    overlaid = source.count(series_keys)
    if overlaid > MOST_OVERLAID:
        raise DataError(
            f"{overlaid} lines would share a panel",
            f"up to {MOST_OVERLAID}, as many as colours and dashes can tell apart",
            overlaid_hint,
        )


def chosen_lines(
    source: ChartSource, facet: FacetKeys, most: int, level: float
) -> tuple[EvaluatedSegments, pl.DataFrame, str]:
    """Return the segments that have lines, these lines, and which they are if they are not all."""
    check_readable(source, facet, most)
    segments, choice = _chosen_segments(source.evaluate(level))
    lines = name_lines(segments, facet, most)
    if lines.height > 1 and (lines["panel_name"] == "").all():
        lines = lines.with_columns(series=pl.col("series") + ": " + area_texts(lines))
    return segments, lines, choice


def _chosen_segments(segments: EvaluatedSegments) -> tuple[EvaluatedSegments, str]:
    """Return the segments that have lines, and how they were chosen if they are not all."""
    _, own = split_keys(segments.keys)
    if segments.table.height <= _MOST_LINES:
        return segments, ""
    table = segments.table.join(segments.calibrated(), on="line", how="left")
    areas = table.group_by(own).agg(pl.col(CALIBRATED).mean(), pl.col("n_pos").max()).sort(own)
    count = max(_MOST_LINES // _CHOICES * areas.height // segments.table.height, 1)
    places = ends_and_largest(areas.with_row_index("segment"), CALIBRATED, count)
    kept = join(segments.table, areas[places].select(own), on=own, how="semi", nulls_equal=True)
    said = (
        f"{len(places)} of {areas.height} segments: the {count} lowest and the {count} highest by "
        f"calibrated average precision, and the {count} largest."
    )
    return replace(segments, table=kept), said


def name_lines(segments: EvaluatedSegments, facet: FacetKeys, most: int) -> pl.DataFrame:
    """Return a row per line."""
    values, approximate = segments.sortable, segments.error is not None
    panel_keys, series_keys = _split_keys(segments.keys, values, facet, most)
    rows = values.to_dicts()
    lines = text.with_key_texts(values, segments.keys).with_columns(
        text.number_by(values, panel_keys, "panel"),
        text.number_by(values, series_keys, "colour"),
        pl.Series("ap", [text.ap_text(row, approximate=approximate) for row in rows], pl.String),
        pl.Series("size", list(map(text.size_text, rows)), pl.String),
        pl.Series("few", list(map(text.has_few, rows)), pl.Boolean),
    )
    lines = text.with_names(lines, "panel", panel_keys, "panel_name")
    lines = text.with_names(lines, "colour", series_keys, "series")
    return lines.sort("panel", "colour", maintain_order=True).with_columns(name="series")


def baselines(lines: pl.DataFrame) -> pl.DataFrame:
    """Return each prevalence once, with the series of its line if no two lines share one."""
    known = lines.drop_nulls(AVERAGE_PRECISION)
    rows = known.unique("prevalence", keep="first", maintain_order=True)
    distinct = rows.height == known.height <= _MOST_PREVALENCES
    return rows.select("prevalence", series="series" if distinct else pl.lit(None, pl.String))


def common_size(lines: pl.DataFrame) -> str:
    """Return the size of all lines, if it is the same: models are evaluated on the same rows."""
    return str(lines["size"][0]) if lines["size"].n_unique() == 1 else ""


def area_texts(lines: pl.DataFrame) -> pl.Series:
    """Return the average precision of each line, with its size if the lines differ in size."""
    if common_size(lines):
        return lines["ap"]
    size = pl.when(pl.col("size") != "").then(", " + pl.col("size")).otherwise(pl.lit(""))
    return lines.select(pl.col("ap") + size)["ap"]


def _split_keys(
    names: Sequence[str], table: pl.DataFrame, facet: FacetKeys, most: int
) -> tuple[list[str], list[str]]:
    """Return the keys whose values have panels, and those whose values have colours."""
    keys = key_names(len(names))
    if isinstance(facet, tuple):
        _check_facet(facet, names)
        in_panels = [key for key, name in zip(keys, names, strict=True) if name in facet]
    else:
        in_panels = [] if facet is False else _default_panel_keys(keys, table, names, most)
    return in_panels, [key for key in keys if key not in in_panels]


def _default_panel_keys(
    keys: list[str], table: pl.DataFrame, names: Sequence[str], most: int
) -> list[str]:
    """Overlay models; else up to ``most`` lines; else the last key, if it has as few values."""
    if has_models(names):
        others = keys[1:]
        return others if others and table.select(others).n_unique() > 1 else []
    if table.height <= most:
        return []
    overlay_last = len(keys) > 1 and table[keys[-1]].n_unique() <= most
    return keys[:-1] if overlay_last else keys


def _check_facet(facet: Sequence[str], names: Sequence[str]) -> None:
    for name in facet:
        if name not in names:
            raise OptionError(
                f"facet= names {name!r}, which is not a key",
                ", ".join(map(repr, names)) or "None or False, as there are no keys",
            )
