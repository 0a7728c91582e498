"""The chart of curves: its panels, their arrangement, its title and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts.confusion import confusion
from frame_prc._charts.curve_rows import ISO_STEPS, ChartRows, chart_rows
from frame_prc._charts.data import ChartSource, EvaluatedSegments
from frame_prc._charts.lines import area_texts, check_readable, common_size, label_lines
from frame_prc._charts.options import ChartOptions
from frame_prc._charts.panels import (
    MOST_RIBBONS,
    LegendPlace,
    PanelData,
    PanelLayout,
    PanelRenderer,
)
from frame_prc._charts.text import (
    cluster_text,
    column_title,
    criterion_text,
    few_of,
    paragraph,
    percent_text,
    safe,
    status_text,
)
from frame_prc._charts.theme import LARGE, AnyChart
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.operating_points import iso_lines
from frame_prc._curves.thinning import THINNED
from frame_prc._lazy import key_names

if TYPE_CHECKING:
    from altair.typing import ChartType

_NOTED_ERROR = 0.001
_NAMED_POINTS = 3


def plot(source: ChartSource, options: ChartOptions) -> ChartType:
    """Return the chart of all curves."""
    check_readable(source, options.facet)
    segments = source.evaluate(options.level)
    lines = label_lines(segments, options.facet)
    rows = chart_rows(segments, lines, options)
    panels = [panel_of(lines, rows, number) for number in range(lines["panel"].n_unique())]
    cells = _cells(panels, renderer_of(segments, lines, options), options)
    notes = _notes(lines, rows, options, segments.cluster)
    top_level = _top_level(panels, notes, rows, options)
    chart: ChartType = _with_confusion(cells, rows, options, top_level)
    return chart


# --- panels --------------------------------------------------------------------------------------


def panel_of(lines: pl.DataFrame, rows: ChartRows, number: int) -> PanelData:
    """Return the data of a panel."""
    own = lines.filter(panel=number)
    in_legend = own.height == lines.height > 1
    return PanelData(
        title=own["panel_name"][0],
        size=common_size(own),
        lines=[] if in_legend else list(zip(own["series"], area_texts(own), strict=True)),
        curve=_of_panel(rows.curve, number),
        roc=_of_panel(rows.roc, number),
        baselines=_baselines(own),
        ribbon=_of_panel(rows.ribbon, number),
        points=_of_panel(rows.points, number),
        empty=_why_empty(own),
    )


def _of_panel(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    own = rows if rows.is_empty() else rows.filter(panel=number)
    return own.drop("panel", "line", *THINNED, strict=False)


def _baselines(lines: pl.DataFrame) -> pl.DataFrame:
    """Return each prevalence once, with the series of its line if no two lines share one."""
    known = lines.drop_nulls("prevalence")
    rows = known.unique("prevalence", keep="first", maintain_order=True)
    distinct = rows.height == known.height
    return rows.select("prevalence", series="series" if distinct else pl.lit(None, pl.String))


def _why_empty(lines: pl.DataFrame) -> str | None:
    if lines[AVERAGE_PRECISION].null_count() < lines.height:
        return None
    return ", ".join(status_text(status) for status in lines["status"].unique(maintain_order=True))


def renderer_of(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> PanelRenderer:
    """Return what draws the panels."""
    series = lines.unique("colour", keep="first").sort("colour")["series"].to_list()
    titles = map(column_title, segments.keys)
    alone = lines["panel"].n_unique() == 1 and not options.roc and options.x == "recall"
    legend: LegendPlace = "right" if alone else "top"
    return PanelRenderer(
        series=series,
        legend=legend,
        keys=dict(zip(key_names(len(segments.keys)), titles, strict=True)),
        criteria=[criterion_text(target) for target in options.all_targets()],
        iso=_iso_lines(options.iso_f1),
        look=options.look,
    )


def _iso_lines(f_scores: Sequence[float]) -> pl.DataFrame:
    lines = iso_lines(f_scores, ISO_STEPS)
    labels = pl.Series("label", [f"F1 = {f:.3g}" for f in lines["f_score"]], pl.String)
    return lines.with_columns(label=pl.when(pl.col("recall") == 1).then(labels))


# --- arrangement ---------------------------------------------------------------------------------


def _cells(
    panels: Sequence[PanelData], renderer: PanelRenderer, options: ChartOptions
) -> list[AnyChart]:
    """Return the panels in reading order, each followed by its ROC curve if there is one."""
    columns, width, height = options.look.grid(len(panels), paired=options.roc)
    kinds = [renderer.precision_recall, *([renderer.roc] if options.roc else [])]
    total = len(panels) * len(kinds)
    cells: list[AnyChart] = []
    for panel in panels:
        # The title of a single panel is part of the title of the chart.
        titled = panel if len(panels) > 1 else replace(panel, title="", size="", lines=[])
        for render in kinds:
            number = len(cells)
            left = options.roc or number % columns == 0
            layout = PanelLayout(number, width, height, left, bottom=number >= total - columns)
            cells.append(render(titled, layout))
    return cells


def _with_confusion(
    cells: list[AnyChart], rows: ChartRows, options: ChartOptions, top_level: dict[str, Any]
) -> AnyChart:
    """Return the panels, with the confusion counts of ``threshold=`` beside or below them."""
    if options.threshold is None:
        return _grid(cells, options, top_level)
    counts = confusion(
        rows.at_threshold, options.threshold, options.look, ascending=options.ascending
    )
    combine = alt.hconcat if rows.at_threshold.height == 1 and not options.roc else alt.vconcat
    # Scales of their own keep the legends at the panels.
    return combine(_grid(cells, options, {}), counts, resolve=scales("independent"), **top_level)


def _grid(cells: list[AnyChart], options: ChartOptions, top_level: dict[str, Any]) -> AnyChart:
    if len(cells) == 1:
        return cells[0].properties(**top_level) if top_level else cells[0]
    columns, _, _ = options.look.grid(len(cells) // (1 + options.roc), paired=options.roc)
    return alt.concat(*cells, columns=columns, spacing=14, resolve=scales("shared"), **top_level)


def scales(how: Literal["shared", "independent"]) -> alt.Resolve:
    """Return whether panels share the scales of colours and shapes, and so their legends."""
    return alt.Resolve(scale=alt.ScaleResolveMap(color=how, strokeDash=how, fill=how, shape=how))


def _notes_on_ribbons(lines: pl.DataFrame, options: ChartOptions) -> list[str]:
    percent = percent_text(options.level)
    if options.wilson:
        note = f"Ribbon: {percent} interval of precision at each threshold (Wilson)."
    elif options.band:
        note = f"Ribbon: pointwise {percent} band of precision, at each recall by itself."
    else:
        return []
    overlap = _most_overlaid(lines) > MOST_RIBBONS
    return [note, *(["Ribbons are fainter where more than four overlap."] if overlap else [])]


def notes_on_thinning(rows: ChartRows) -> list[str]:
    """Return how far off the curves are, if one could see it."""
    error = rows.precision_error
    return [f"Thinned: precision is off by at most {error:.2g}."] if error > _NOTED_ERROR else []


def _are_large(lines: pl.DataFrame, options: ChartOptions) -> bool:
    """Return whether the panels have room for labels of the F1 curves."""
    _, width, height = options.look.grid(lines["panel"].n_unique(), paired=options.roc)
    return min(width, height) >= LARGE


def _most_overlaid(lines: pl.DataFrame) -> int:
    """Return the largest number of curves in a panel."""
    return max(lines.drop_nulls(AVERAGE_PRECISION)["panel"].value_counts()["count"], default=0)


# --- title and notes -----------------------------------------------------------------------------


def _top_level(
    panels: Sequence[PanelData], notes: list[str], rows: ChartRows, options: ChartOptions
) -> dict[str, Any]:
    """Return the properties of the whole chart."""
    look = options.look
    only = panels[0] if len(panels) == 1 else None
    legend = only is not None and not options.roc and not (only.lines and only.points.is_empty())
    width = look.characters(len(panels), paired=options.roc, legend=legend)
    names = [only.title, *map(" ".join, only.lines), only.size] if only else []
    errors = {"precision_error": rows.precision_error}
    if options.roc:
        errors["roc_error"] = rows.roc_error
    return {
        "title": alt.Title(
            safe(look.title or "Precision and recall"),
            subtitle=[*filter(None, map(str.strip, names)), *paragraph(notes, width)],
            offset=12,
        ),
        "usermeta": {"frame_prc": errors},
        "config": alt.Config(**look.config()),
    }


def _notes(
    lines: pl.DataFrame, rows: ChartRows, options: ChartOptions, cluster: str | None
) -> list[str]:
    """Return sentences that explain the chart."""
    percent = percent_text(options.level)
    notes = [
        "Dashed: a random ranking, whose precision is the prevalence."
        if options.roc
        else "Dashed: prevalence, the precision of a random ranking."
    ]
    if "ci_low" in lines.columns:
        notes.append(f"AP: average precision [{percent} interval].")
    if options.iso_f1 and not _are_large(lines, options):
        notes.append(f"Grey curves: F1 = {', '.join(f'{f:.3g}' for f in options.iso_f1)}.")
    notes += _notes_on_ribbons(lines, options)
    if cluster is not None:
        notes.append(f"Intervals: {cluster_text(cluster)}.")
    if lines["few"].any():
        notes.append(f"(few), drawn faint: fewer than {few_of(cluster)}.")
    if rows.points.height:
        notes.append("Numbers at markers: thresholds.")
    notes += notes_on_thinning(rows)
    if rows.roc_error > _NOTED_ERROR:
        notes.append(f"ROC curves are off by at most {rows.roc_error:.2g}.")
    if rows.undefined:
        more = len(rows.undefined) - _NAMED_POINTS
        named = "; ".join(rows.undefined[:_NAMED_POINTS])
        notes.append(f"Not reached: {named}{f' and {more} more' if more > 0 else ''}.")
    return notes
