"""The chart of curves: its panels, their arrangement, its title and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts.confusion import confusion, point_table
from frame_prc._charts.curve_rows import ISO_STEPS, ChartRows, chart_rows, labels_of
from frame_prc._charts.data import ChartSource, EvaluatedSegments
from frame_prc._charts.layouts import PanelLayout
from frame_prc._charts.lines import (
    area_texts,
    baselines,
    check_readable,
    chosen_segments,
    common_size,
    label_lines,
)
from frame_prc._charts.options import ISO_F1, ChartOptions
from frame_prc._charts.overlay import NOTES, OverlayKind, overlay_kind, overlay_rows
from frame_prc._charts.panels import (
    MOST_RIBBONS,
    PanelData,
    PanelRenderer,
)
from frame_prc._charts.steps import round_end
from frame_prc._charts.text import (
    cluster_text,
    column_title,
    criterion_text,
    description,
    few_of,
    paragraph,
    percent_text,
    rate_text,
    safe,
    status_text,
)
from frame_prc._charts.theme import LARGE, AnyChart, Look
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.operating_points import iso_lines
from frame_prc._curves.thinning import THINNED
from frame_prc._inference.roc_auc import ROC_AUC
from frame_prc._lazy import key_names, left_join

if TYPE_CHECKING:
    from altair.typing import ChartType

_NOTED_ERROR = 0.005  # a pixel is 0.0024 of a large panel
_MOST_WITH_ISO = 6  # panels
_LOWEST_RECALL, _LOW, _ROOM = 0.05, 0.5, 1.04
_MOST_IN_TABLE = 24  # rows
_NAMED_POINTS = 3
# Beside each other, panels have the halves of two numbers between them.
_SPACING = {"row": 14, "column": 8}
_NONE = pl.DataFrame()


def plot(source: ChartSource, options: ChartOptions) -> ChartType:
    """Return the chart of all curves."""
    check_readable(source, options.facet, options.most_in_one_panel)
    segments, choice = chosen_segments(source.evaluate(options.level))
    lines = label_lines(segments, options.facet, options.most_in_one_panel)
    options = replace(options, iso_f1=iso_f1_of(lines, options))
    rows = chart_rows(segments, lines, options)
    if options.roc:
        lines = _with_roc_areas(lines, segments)
    behind = overlay_kind(segments, lines, options)
    overlay = overlay_rows(segments, lines, behind)
    panels = [panel_of(lines, rows, number, overlay) for number in range(lines["panel"].n_unique())]
    top = _end_of_precision(rows) if options.y == "auto" else options.y
    tabled = _has_table(lines, rows, options)
    renderer = replace(renderer_of(segments, lines, options), tabled=tabled)
    cells = _cells(panels, renderer, options, top)
    notes = [
        choice,
        *_notes(segments, lines, rows, options, top, tabled=tabled),
        *_note_on_overlay(overlay, behind),
    ]
    properties = _properties(panels, notes, rows, options)
    properties |= description_of("Precision-recall curves", segments, lines)
    chart: ChartType = _with_confusion(cells, segments, rows, options, properties, tabled=tabled)
    return chart


def iso_f1_of(lines: pl.DataFrame, options: ChartOptions) -> tuple[float, ...]:
    """Return the F1 scores that have lines: the usual ones only where they are no clutter."""
    if options.iso_f1 is not None:
        return options.iso_f1
    return ISO_F1 if lines["panel"].n_unique() <= _MOST_WITH_ISO else ()


def _with_roc_areas(lines: pl.DataFrame, segments: EvaluatedSegments) -> pl.DataFrame:
    known = left_join(lines.select("line"), segments.roc_areas(), ["line"])[ROC_AUC]
    texts = ["" if area is None else f"ROC AUC {rate_text(area)}" for area in known]
    return lines.with_columns(pl.Series("roc_area", texts))


def _has_table(lines: pl.DataFrame, rows: ChartRows, options: ChartOptions) -> bool:
    """Return whether points are in a table: of several lines, numbers would lie on other lines."""
    shared = lines["panel"].n_unique() == 1 < lines.height and not options.roc
    return shared and options.threshold is None and 0 < rows.points.height <= _MOST_IN_TABLE


def _end_of_precision(rows: ChartRows) -> float:
    """Return where the axis of precision ends: below 1 if all that is drawn is low.

    At the lowest recalls a curve rests on a handful of rows.
    """
    shown = rows.curve.filter(pl.col("recall") > _LOWEST_RECALL)
    values = pl.concat(
        [frame["precision"].cast(pl.Float64) for frame in (shown, rows.points) if frame.height]
        or [pl.Series([1.0])]
    )
    largest = max(values.drop_nulls(), default=1.0)
    return round_end(_ROOM * largest) if largest < _LOW else 1.0


# --- panels --------------------------------------------------------------------------------------


def panel_of(
    lines: pl.DataFrame, rows: ChartRows, number: int, overlay: pl.DataFrame = _NONE
) -> PanelData:
    """Return the data of a panel."""
    own = lines.filter(panel=number)
    in_legend = own.height == lines.height > 1
    return PanelData(
        title=own["panel_name"][0],
        size=common_size(own),
        lines=[] if in_legend else list(zip(own["series"], area_texts(own), strict=True)),
        curve=_of_panel(rows.curve, number),
        roc=_of_panel(rows.roc, number),
        roc_lines=_roc_lines(own),
        baselines=baselines(own),
        overlay=_of_panel(overlay, number),
        ribbon=_of_panel(rows.ribbon, number),
        points=_of_panel(rows.points, number),
        empty=_why_empty(own),
    )


def _roc_lines(lines: pl.DataFrame) -> list[tuple[str, str]]:
    if "roc_area" not in lines.columns:
        return []
    return list(zip(lines["name"], lines["roc_area"], strict=True))


def _of_panel(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    own = rows if rows.is_empty() else rows.filter(panel=number)
    return own.drop("panel", *THINNED, strict=False)


def _why_empty(lines: pl.DataFrame) -> str | None:
    if lines[AVERAGE_PRECISION].null_count() < lines.height:
        return None
    return ", ".join(status_text(status) for status in lines["status"].unique(maintain_order=True))


def renderer_of(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> PanelRenderer:
    """Return what draws the panels."""
    alone = lines["panel"].n_unique() == 1
    # What has no curve is not in a legend of curves.
    drawn = lines.drop_nulls(AVERAGE_PRECISION) if alone else lines
    series = drawn.unique("colour", keep="first").sort("colour")["series"].to_list()
    titles = map(column_title, segments.keys)
    return PanelRenderer(
        series=series,
        labels=labels_of(lines),
        alone=alone and not options.roc and options.x == "recall",
        keys=dict(zip(key_names(len(segments.keys)), titles, strict=True)),
        criteria=[criterion_text(target) for target in options.all_targets()],
        iso=_iso_lines(options.iso_f1 or ()),
        look=options.look,
    )


def _iso_lines(f_scores: Sequence[float]) -> pl.DataFrame:
    lines = iso_lines(f_scores, ISO_STEPS)
    labels = pl.Series("label", [f"F1 = {f:.3g}" for f in lines["f_score"]], pl.String)
    return lines.with_columns(label=pl.when(pl.col("recall") == 1).then(labels))


# --- arrangement ---------------------------------------------------------------------------------


def _cells(
    panels: Sequence[PanelData], renderer: PanelRenderer, options: ChartOptions, top: float
) -> list[AnyChart]:
    """Return the panels in reading order, each followed by its ROC curve if there is one."""
    kinds = [renderer.precision_recall, *([renderer.roc] if options.roc else [])]
    # The title of a single panel is part of the title of the chart.
    shown = panels if len(panels) > 1 else [panel.untitled() for panel in panels]
    drawn = [(panel, draw) for panel in shown for draw in kinds]
    grid = options.look.grid(len(panels), paired=options.roc)
    layouts = [layout.with_top(top) for layout in layouts_of(len(drawn), *grid, paired=options.roc)]
    return [draw(panel, layout) for (panel, draw), layout in zip(drawn, layouts, strict=True)]


def layouts_of(
    count: int, columns: int, width: int, height: int, *, paired: bool
) -> list[PanelLayout]:
    """Return the layouts of panels in a grid; each of those that are paired has a left axis."""
    return [
        PanelLayout(
            number=number,
            width=width,
            height=height,
            left=paired or number % columns == 0,
            # In the last row only: elsewhere labels would push the rows apart.
            bottom=number >= (count - 1) // columns * columns,
        )
        for number in range(count)
    ]


def _with_confusion(
    cells: list[AnyChart],
    segments: EvaluatedSegments,
    rows: ChartRows,
    options: ChartOptions,
    properties: dict[str, Any],
    *,
    tabled: bool,
) -> AnyChart:
    """Return the panels, with the confusion counts of ``threshold=`` beside or below them.

    Points of several lines in one panel have a table instead of numbers that lie on other lines.
    """
    if tabled:
        counts = point_table(rows.points, options.look)
        resolve = scales("independent")
        return alt.vconcat(_grid(cells, options, {}), counts, resolve=resolve, **properties)
    if options.threshold is None:
        return _grid(cells, options, properties)
    points, ascending = rows.at_threshold, segments.given.ascending
    counts = confusion(points, options.threshold, options.look, ascending=ascending)
    combine = alt.hconcat if points.height == 1 and not options.roc else alt.vconcat
    # Scales of their own keep the legends at the panels.
    return combine(_grid(cells, options, {}), counts, resolve=scales("independent"), **properties)


def _grid(cells: list[AnyChart], options: ChartOptions, properties: dict[str, Any]) -> AnyChart:
    if len(cells) == 1:
        return cells[0].properties(**properties) if properties else cells[0]
    columns, _, _ = options.look.grid(len(cells) // (1 + options.roc), paired=options.roc)
    return alt.concat(
        *cells,
        columns=columns,
        spacing=_SPACING,
        align="each",
        resolve=scales("shared"),
        **properties,
    )


def scales(how: Literal["shared", "independent"]) -> alt.Resolve:
    """Return whether panels share the scales of colours and shapes, and so their legends."""
    return alt.Resolve(scale=alt.ScaleResolveMap(color=how, strokeDash=how, fill=how, shape=how))


# --- title and notes -----------------------------------------------------------------------------


def _properties(
    panels: Sequence[PanelData], notes: Iterable[str], rows: ChartRows, options: ChartOptions
) -> dict[str, Any]:
    look = options.look
    width = look.characters(len(panels), paired=options.roc)
    errors = {"precision_error": rows.precision_error}
    if options.roc:
        errors["roc_error"] = rows.roc_error
    title = "Precision and recall, and ROC" if options.roc else "Precision and recall"
    return properties_of(title, panels, paragraph(filter(None, notes), width), errors, look)


def description_of(title: str, segments: EvaluatedSegments, lines: pl.DataFrame) -> dict[str, str]:
    """Return the description of a chart of lines."""
    areas = lines[AVERAGE_PRECISION]
    return {"description": description(title, f"{lines.height} lines", segments.keys, areas)}


def properties_of(
    title: str, panels: Sequence[PanelData], notes: list[str], errors: dict[str, float], look: Look
) -> dict[str, Any]:
    """Return the properties of a whole chart, whose title has that of a single panel."""
    names = panels[0].names() if len(panels) == 1 else []
    return {
        "title": alt.Title(safe(look.title or title), subtitle=[*names, *notes], offset=12),
        "usermeta": {"frame_prc": errors},
        "config": alt.Config(**look.config()),
    }


def _notes(
    segments: EvaluatedSegments,
    lines: pl.DataFrame,
    rows: ChartRows,
    options: ChartOptions,
    top: float,
    *,
    tabled: bool,
) -> Iterator[str]:
    """Yield sentences that explain the chart."""
    if top < 1:
        yield f"The axis of precision ends at {top:g}."
    if options.roc:
        yield "Dashed: a random ranking, whose precision is the prevalence."
    else:
        yield "Dashed: prevalence, the precision of a random ranking."
    yield from notes_on_areas(lines, options)
    iso = [f for f in options.iso_f1 or () if f / (2 - f) < top]
    if iso and not _are_large(lines, options):
        yield f"Thin grey: F1 = {', '.join(f'{f:.3g}' for f in iso)}."
    yield from notes_on_ribbons(segments, lines, options)
    if lines["few"].any():
        yield f"(few), drawn faint: fewer than {few_of(segments.cluster)}."
    if rows.points.height and not tabled:
        yield "Numbers at markers: thresholds."
    yield from notes_on_thinning(rows)
    if rows.roc_error > _NOTED_ERROR:
        yield f"ROC curves are off by at most {rows.roc_error:.2g}."
    if rows.undefined:
        yield f"Not reached: {_first_of(rows.undefined)}."
    undefined = lines.filter(pl.col(AVERAGE_PRECISION).is_null())
    if lines["panel"].n_unique() == 1 < lines.height and undefined.height:
        reasons = (f"{row['name']} ({status_text(row['status'])})" for row in undefined.to_dicts())
        yield f"Not drawn: {_first_of([*reasons])}."


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_POINTS
    return f"{'; '.join(names[:_NAMED_POINTS])}{f' and {more} more' if more > 0 else ''}"


def _note_on_overlay(rows: pl.DataFrame, kind: OverlayKind | None) -> Iterator[str]:
    if kind is not None and not rows.is_empty():
        yield f"{'Grey' if rows['series'].n_unique() == 1 else 'Wide and faint'}: {NOTES[kind]}"


def notes_on_areas(lines: pl.DataFrame, options: ChartOptions) -> Iterator[str]:
    """Yield what is in brackets, if there are intervals."""
    if "ci_low" in lines.columns:
        yield f"AP: average precision [{percent_text(options.level)} interval]."


def notes_on_ribbons(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> Iterator[str]:
    """Yield what ribbons are, and what intervals take for clusters."""
    percent = percent_text(options.level)
    if options.wilson:
        yield f"Ribbon: {percent} interval of precision at each threshold (Wilson)."
    elif options.band:
        yield f"Ribbon: pointwise {percent} band of precision, at each recall by itself."
    overlaid = lines.drop_nulls(AVERAGE_PRECISION)["panel"].value_counts()["count"]
    if (options.wilson or options.band) and max(overlaid, default=0) > MOST_RIBBONS:
        yield "Ribbons are fainter where more than four overlap."
    if segments.cluster is not None:
        yield f"Intervals: {cluster_text(segments.cluster)}."


def notes_on_thinning(rows: ChartRows) -> Iterator[str]:
    """Yield how far off the curves are, if one could see it."""
    if rows.precision_error > _NOTED_ERROR:
        yield f"Thinned: precision is off by at most {rows.precision_error:.2g}."


def _are_large(lines: pl.DataFrame, options: ChartOptions) -> bool:
    """Return whether the panels have room for labels of the F1 curves."""
    _, width, height = options.look.grid(lines["panel"].n_unique(), paired=options.roc)
    return min(width, height) >= LARGE
