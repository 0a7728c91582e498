"""The chart over thresholds: precision, recall and F1 of each line, and the counts at one of them.

In a page a slider chooses the threshold; an image shows the one that it begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from frame_prc._charts import curves
from frame_prc._charts.confusion import COUNTS, matrix, numbers, table
from frame_prc._charts.curve_rows import ChartRows, chart_rows
from frame_prc._charts.data import ChartSource
from frame_prc._charts.lines import check_readable, label_lines
from frame_prc._charts.options import ChartOptions
from frame_prc._charts.panels import PanelData, PanelLayout, PanelRenderer
from frame_prc._charts.text import cluster_text, paragraph, percent_text, safe
from frame_prc._charts.theme import AnyChart
from frame_prc._charts.threshold_rows import Slider, ThresholdRows, threshold_rows

if TYPE_CHECKING:
    from altair.typing import ChartType

MEASURES = ("precision", "recall", "F1")
_AT = "at"  # the parameter that the slider sets
_NUMBERS = (*MEASURES, "predicted", "predicted_rate")
_TABLE = (*COUNTS, *_NUMBERS)
_RATES = frozenset({*MEASURES, "predicted_rate"})
_BEST = "largest F1"


def plot(source: ChartSource, options: ChartOptions) -> ChartType:
    """Return the chart over thresholds."""
    facet = tuple(source.keys)
    check_readable(source, facet)
    segments = source.evaluate(options.level)
    lines = label_lines(segments, facet)
    data = threshold_rows(segments, lines, options)
    # The chart has a mark of its own for threshold=.
    unmarked = replace(options, threshold=None, targets=())
    rows = chart_rows(segments, lines, unmarked)
    panels = [curves.panel_of(lines, rows, number) for number in range(lines.height)]
    renderer = curves.renderer_of(segments, lines, replace(options, threshold=None))
    notes = _notes(lines, data, options, segments.cluster)
    if len(panels) == 1:
        notes += curves.notes_on_thinning(rows)
    top_level = _top_level(panels, notes, rows, options)
    if data.slider is not None:
        top_level |= {"data": data.rows, "params": [_parameter(data.slider)]}
    cells = _Cells(renderer, data, options).of(panels, lines["line"].to_list())
    chart: ChartType = alt.vconcat(
        *cells, spacing=14, resolve=curves.scales("independent"), **top_level
    )
    return chart


def _parameter(slider: Slider) -> Any:
    bind = alt.binding_range(
        min=slider.lowest, max=slider.highest, step=slider.step, name="Threshold "
    )
    return alt.param(name=_AT, value=slider.value, bind=bind).param


class _Cells:
    """Draws the parts of a chart over thresholds, whose data are those of the whole chart."""

    def __init__(self, renderer: PanelRenderer, data: ThresholdRows, options: ChartOptions) -> None:
        self.renderer, self.data, self.options = renderer, data, options
        self.look = options.look

    def of(self, panels: list[PanelData], lines: list[int]) -> list[AnyChart]:
        """Return the panels in a grid, and the counts at the threshold below them."""
        single = len(panels) == 1
        columns, width, height = self.look.grid(len(panels), paired=single)
        cells = []
        for number, (panel, line) in enumerate(zip(panels, lines, strict=True)):
            left, bottom = number % columns == 0, number >= len(panels) - columns
            layout = PanelLayout(number, width, height, left or single, bottom)
            titled = replace(panel, title="", size="", lines=[]) if single else panel
            cells.append(self._panel(titled, line, layout))
            if single:
                cells.append(self._recall_panel(titled, replace(layout, number=1)))
        resolve = curves.scales("independent" if single else "shared")
        grid = alt.concat(*cells, columns=columns, spacing=14, resolve=resolve)
        if self.data.slider is None:
            return [grid]
        below = alt.hconcat(self._matrix(), self._numbers(), spacing=40)
        return [grid, self._heading(), below if single else self._table()]

    # --- panels --------------------------------------------------------------------------------

    def _panel(self, panel: PanelData, line: int, layout: PanelLayout) -> AnyChart:
        """Return precision, recall and F1 over the threshold."""
        slider = self.data.slider
        empty = panel.empty or ("no finite scores" if slider is None else None)
        layers = self.renderer.reason(empty, layout)
        if slider is not None and not panel.empty:
            x = _threshold_axis(slider, layout)
            y = layout.y("value", "Precision, recall, F1")
            layers = [
                *self._ribbon(line, x, layout),
                self._line(line, x, y),
                self._best(line, x, layout),
                *self._points(line, x, y),
                *self._at_threshold(line, x, y),
                self._nearest(line, x, y, layout),
            ]
        return self.renderer.titled(layers, panel, layout)

    def _recall_panel(self, panel: PanelData, layout: PanelLayout) -> AnyChart:
        """Return precision over recall, with the point at the threshold."""
        chosen = self._chosen(0).mark_point(
            filled=True, size=85, opacity=1, color=self.look.text, stroke=self.look.background
        )
        return self.renderer.precision_recall(
            panel, layout, None if self.data.slider is None else chosen
        )

    # --- layers --------------------------------------------------------------------------------

    def _chosen(self, line: int | None) -> Any:
        """Return the row of a line, or of all, whose threshold is nearest to the chosen one."""
        rows = _of_line(line)
        return (
            rows.transform_calculate(distance=f"abs(datum.threshold - {_AT})")
            .transform_window(
                rank="row_number()",
                groupby=["line"],
                sort=[alt.SortField("distance"), alt.SortField("threshold")],
            )
            .transform_filter("datum.rank == 1")
        )

    def _line(self, line: int, x: alt.X, y: alt.Y) -> AnyChart:
        interpolate: Any = "step-before" if self.data.is_exact else "linear"
        mark = _folded(_of_line(line)).mark_line(strokeWidth=1.6, interpolate=interpolate)
        return mark.encode(x=x, y=y, color=self._colour())

    def _ribbon(self, line: int, x: alt.X, layout: PanelLayout) -> list[AnyChart]:
        if not self.options.wilson:
            return []
        interpolate: Any = "step-before" if self.data.is_exact else "linear"
        area = (
            _of_line(line)
            .transform_filter("isValid(datum.precision_low)")
            .mark_area(opacity=0.22, interpolate=interpolate, color=self.look.colours(1)[0])
        )
        y = layout.y("precision_low", "Precision, recall, F1")
        return [area.encode(x=x, y=y, y2=alt.Y2("precision_high:Q"))]

    def _best(self, line: int, x: alt.X, layout: PanelLayout) -> AnyChart:
        best = self.data.best.filter(line=line).select("threshold", "F1")
        mark = alt.Chart(best).mark_point(
            shape="diamond", filled=True, size=70, opacity=1, stroke=self.look.background
        )
        tips = [alt.Tooltip("threshold:Q"), alt.Tooltip("F1:Q", title=_BEST, format=".4f")]
        y = layout.y("F1", "Precision, recall, F1")
        return mark.encode(x=x, y=y, color=alt.ColorValue(self._colours()[-1]), tooltip=tips)

    def _points(self, line: int, x: alt.X, y: alt.Y) -> list[AnyChart]:
        points = self.data.points
        own = points if points.is_empty() else points.filter(line=line)
        if own.is_empty():
            return []
        fill = alt.Fill("measure:N", scale=self._scale(), legend=None)
        folded = _folded(alt.Chart(own), MEASURES[:2])
        return [self.renderer.marker(folded, x, y, fill, shift=None)]

    def _at_threshold(self, line: int, x: alt.X, y: alt.Y) -> list[AnyChart]:
        """Return a rule at the threshold, and dots where it meets the lines."""
        rule = self._chosen(line).mark_rule(color=self.look.muted, strokeWidth=1)
        dots = _folded(self._chosen(line)).mark_point(
            filled=True, size=60, opacity=1, stroke=self.look.background, strokeWidth=1
        )
        return [rule.encode(x=x), dots.encode(x=x, y=y, color=self._colour())]

    def _nearest(self, line: int, x: alt.X, y: alt.Y, layout: PanelLayout) -> AnyChart:
        """Return dots that show themselves, and their numbers, when the mouse is near."""
        name = f"near_{layout.number}"
        nearest = alt.selection_point(
            name=name, nearest=True, on="pointerover", clear="pointerout", empty=False
        )
        dot = _folded(_of_line(line)).mark_circle(
            size=40, aria=False, tooltip=self.renderer.tooltip_of(("threshold", *_TABLE))
        )
        opacity = alt.OpacityValue(0, condition={"param": name, "empty": False, "value": 1})
        return dot.encode(x=x, y=y, color=self._colour(), opacity=opacity).add_params(nearest)

    # --- the counts at the threshold -----------------------------------------------------------

    def _heading(self) -> AnyChart:
        """Return the threshold with all its digits: a rounded one could leave out a row."""
        relation = "≤" if self.options.ascending else "≥"
        text = (
            self._chosen(None)
            .transform_aggregate(lines="count()", groupby=["threshold_text"])
            .transform_calculate(text=f"'At score {relation} ' + datum.threshold_text")
            .mark_text(align="left", fontSize=11.5, fontWeight="bold", color=self.look.text)
            .encode(x=alt.value(0), y=alt.value(8), text=alt.Text("text:N"))
        )
        return text.properties(width=200, height=12, view=alt.ViewBackground(stroke=None))

    def _matrix(self) -> AnyChart:
        cells = (
            self._chosen(None)
            .transform_fold(list(COUNTS), as_=["column", "count"])
            .transform_calculate(
                actual="datum.column == 'tp' || datum.column == 'fn' ? 'positive' : 'negative'",
                predicted="slice(datum.column, 1) == 'p' ? 'positive' : 'negative'",
                text=f"upper(datum.column) + ' ' + {_count('datum.count')}",
                share="datum.count / (datum.tp + datum.fp + datum.fn + datum.tn)",
            )
        )
        return matrix(cells, self.look)

    def _numbers(self) -> AnyChart:
        return numbers(self._texts(_NUMBERS), _NUMBERS, self.look)

    def _table(self) -> AnyChart:
        names = self.data.rows["name"].unique(maintain_order=True).to_list()
        return table(self._texts(_TABLE), names, _TABLE, self.look)

    def _texts(self, columns: Sequence[str]) -> Any:
        """Return the columns of the chosen rows as text."""
        cells = self._chosen(None).transform_fold(list(columns), as_=["column", "value"])
        return cells.transform_calculate(text=_text("datum.column", "datum.value"))

    # --- colours -------------------------------------------------------------------------------

    def _colours(self) -> list[str]:
        return self.look.colours(len(MEASURES))

    def _scale(self) -> alt.Scale:
        return alt.Scale(domain=list(MEASURES), range=self._colours())

    def _colour(self) -> alt.Color:
        legend = alt.Legend(title=None, symbolType="stroke", orient="top", direction="horizontal")
        return alt.Color("measure:N", scale=self._scale(), legend=legend)


def _of_line(line: int | None) -> Any:
    rows = alt.Chart()
    return rows if line is None else rows.transform_filter(f"datum.line == {line}")


def _folded(chart: Any, measures: tuple[str, ...] = MEASURES) -> Any:
    """Return a row per measure; precision is undefined where nothing is predicted positive."""
    folded = chart.transform_fold(list(measures), as_=["measure", "value"])
    return folded.transform_filter("isValid(datum.value)")


def _threshold_axis(slider: Slider, layout: PanelLayout) -> alt.X:
    margin = 0 if slider.lowest < slider.highest else 0.5
    domain = [slider.lowest - margin, slider.highest + margin]
    axis = alt.Axis(
        title="Threshold" if layout.bottom else None, tickCount=max(layout.width // 50, 2)
    )
    return alt.X("threshold:Q", scale=alt.Scale(domain=domain, nice=False), axis=axis)


def _count(value: str) -> str:
    """Return the expression of a count as text; sums of weights have two decimals."""
    return f"format({value}, {value} % 1 == 0 ? ',.0f' : ',.2f')"


def _text(column: str, value: str) -> str:
    """Return the expression of a number as text; of none, a hyphen."""
    rates = " || ".join(f"{column} == '{name}'" for name in sorted(_RATES))
    number = f"({rates}) ? format({value}, '.3f') : {_count(value)}"
    return f"!isValid({value}) ? '-' : {number}"


# --- title and notes -----------------------------------------------------------------------------


def _top_level(
    panels: list[PanelData], notes: list[str], rows: ChartRows, options: ChartOptions
) -> dict[str, Any]:
    look, single = options.look, len(panels) == 1
    width = look.characters(1 if single else len(panels), paired=single, legend=False)
    names = _names(panels[0]) if single else []
    return {
        "title": alt.Title(
            safe(look.title or "Precision, recall and F1 by threshold"),
            subtitle=[*filter(None, map(str.strip, names)), *paragraph(notes, width)],
            offset=12,
        ),
        "usermeta": {"frame_prc": {"precision_error": rows.precision_error}},
        "config": alt.Config(**look.config()),
    }


def _names(panel: PanelData) -> list[str]:
    return [panel.title, *map(" ".join, panel.lines), panel.size]


def _notes(
    lines: pl.DataFrame, data: ThresholdRows, options: ChartOptions, cluster: str | None
) -> list[str]:
    chosen = "the threshold given" if options.threshold is not None else _BEST
    if options.threshold is None and data.best.height > 1:
        chosen = f"the median threshold of {_BEST}"
    notes = [f"Vertical line: {chosen}; in a page, the slider moves it. Diamond: {_BEST}."]
    percent = percent_text(options.level)
    if "ci_low" in lines.columns:
        notes.append(f"AP: average precision [{percent} interval].")
    if options.wilson:
        notes.append(f"Ribbon: {percent} interval of precision at each threshold (Wilson).")
    if cluster is not None:
        notes.append(f"Intervals: {cluster_text(cluster)}.")
    if not data.is_exact and not data.rows.is_empty():
        count = data.rows["threshold"].n_unique()
        notes.append(f"Lines join the exact values at {count} thresholds.")
    return notes
