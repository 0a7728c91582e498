"""The chart over thresholds: precision, recall and F1 of each line, and the counts at one of them.

In a page a slider chooses the threshold; an image shows the one that it begins with.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from frame_prc._charts import curves as of_curves
from frame_prc._charts.curve_rows import point_rows, spread, threshold_texts, with_rates
from frame_prc._charts.data import Segments
from frame_prc._charts.marks import COUNTS, PanelLayout, layouts_of, table, titles_of, tooltip_of
from frame_prc._charts.options import AnyChart, ChartOptions, Look
from frame_prc._charts.text import multiple, round_step
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._request.specs import Target
from frame_prc._request.values import Bins

MEASURES = ("precision", "recall", "F1")
_AT = "at"  # the parameter that the slider sets
_TABLE = ("threshold_text", *COUNTS, *MEASURES, "predicted", "predicted_rate")
_RATES = frozenset({*MEASURES, "predicted_rate"})
_BEST = "largest F1"
_COLUMNS = (("threshold", "Threshold"), ("value", "Precision, recall, F1"))


class _Slider(NamedTuple):
    lowest: float
    highest: float
    step: float
    value: float


@dataclass(frozen=True)
class ThresholdChart:
    """Draws the parts of a chart over thresholds, whose data are those of the whole chart.

    ``rows`` are one per line and threshold, with counts and rates. ``is_exact`` says that every
    score is a threshold. ``best`` has the point of the largest F1 of each line, ``points`` those of
    ``points=``. Without a finite score there is no ``slider``.
    """

    curves: of_curves.CurveChart
    renderer: of_curves.PanelRenderer
    options: ChartOptions
    rows: pl.DataFrame
    is_exact: bool
    best: pl.DataFrame
    points: pl.DataFrame
    slider: _Slider | None

    @classmethod
    def of(cls, segments: Segments, options: ChartOptions) -> ThresholdChart:
        # The chart has marks of its own for the operating points.
        unmarked = replace(options, facet=tuple(segments.keys), overlay=None, targets=())
        curves = of_curves.CurveChart.of(segments, unmarked)
        renderer = replace(curves, options=replace(unmarked, targets=options.others)).renderer()
        segments, lines = curves.segments, curves.lines
        best = _finite(segments.points([Target("f_beta", 1.0)]))
        marked = point_rows(segments, lines, options.others)
        points = _finite(marked.with_columns(_NUMBER)) if marked.height else marked
        scores = segments.finite_scores
        special = {*best["threshold"], *([] if options.threshold is None else [options.threshold])}
        drawn = max(lines[AVERAGE_PRECISION].count(), 1)
        # Every line has rows at the best thresholds of all.
        room = min(_MOST_ROWS // drawn, _MOST_ROWS_WITH_BEST // drawn - len(special))
        most = min(_MOST_THRESHOLDS, room)
        chosen = sorted({*spread(scores, most), *special})
        rows = _rates(segments, lines, chosen, options) if chosen else pl.DataFrame()
        known = best.drop_nulls("f_score").rename({"f_score": "F1"})
        slider = _slider(rows, known["threshold"], options.threshold) if rows.height else None
        return cls(curves, renderer, options, rows, scores.len() <= most, known, points, slider)

    @property
    def look(self) -> Look:
        return self.options.look

    def drawn(self) -> AnyChart:
        title, slider = "Precision, recall and F1 by threshold", self.slider
        properties = self.curves.properties(title, title, self._notes())
        if slider is not None:
            ends: dict[str, Any] = {"min": slider.lowest, "max": slider.highest}
            bind = alt.binding_range(**ends, step=slider.step, name="Threshold ")
            parameter = alt.param(name=_AT, value=slider.value, bind=bind).param
            # Vega-Lite would warn of the thresholds of another panel, which are text too.
            rows = self.rows if self._is_single else of_curves.as_text(self.rows)
            properties |= {"data": rows, "params": [parameter]}
        parts = [self._grid()]
        if slider is not None:
            parts.append(self._table())
        return alt.vconcat(
            *parts, spacing=14, resolve=of_curves.scales("independent"), **properties
        )

    @property
    def _is_single(self) -> bool:
        return self.curves.count == 1

    def _grid(self) -> AnyChart:
        panels, single, lines = self.curves.panels(), self._is_single, self.curves.lines["line"]
        grid = self.look.grid(len(panels), paired=single)
        layouts = layouts_of(len(panels) + single, *grid, paired=single)
        cells = list(map(self._panel, panels, lines, layouts))
        if single:
            look = {"color": self.look.text, "stroke": self.look.background}
            chosen = self._chosen(0).mark_point(filled=True, size=85, **look)
            mark = None if self.slider is None else chosen
            cells.append(self.renderer.precision_recall(panels[0], layouts[1], mark))
        resolve = of_curves.scales("independent" if single else "shared")
        return alt.concat(*cells, columns=grid[0], spacing=14, resolve=resolve)

    # --- panels --------------------------------------------------------------------------------

    def _panel(self, panel: of_curves.PanelData, line: int, layout: PanelLayout) -> AnyChart:
        slider = self.slider
        empty = panel.empty or ("no finite scores" if slider is None else None)
        layers = self.renderer.reason(empty, layout)
        if slider is not None and not panel.empty:
            margin = 0 if slider.lowest < slider.highest else 0.5
            ends = (slider.lowest - margin, slider.highest + margin)
            layout = replace(layout, columns=_COLUMNS, ends=ends)
            interpolate = "step-before" if self.is_exact else "linear"
            layers = [
                *self._ribbon(line, layout, interpolate),
                self._line(line, layout, interpolate),
                self._best(line, layout),
                *self._points(line, layout),
                *self._at_threshold(line, layout),
                self._nearest(line, layout),
            ]
        return self.renderer.titled(layers, panel, layout)

    # --- layers --------------------------------------------------------------------------------

    def _chosen(self, line: int | None) -> Any:
        """Return the row of a line, or of all, whose threshold is nearest to the chosen one."""
        return (
            _of_line(line)
            .transform_calculate(distance=f"abs(datum.threshold - {_AT})")
            .transform_window(
                rank="row_number()",
                groupby=["line"],
                sort=[alt.SortField("distance"), alt.SortField("threshold")],
            )
            .transform_filter("datum.rank == 1")
        )

    def _line(self, line: int, layout: PanelLayout, interpolate: Any) -> AnyChart:
        rows = _folded(_of_line(line)).transform_calculate(few=_IS_FEW)
        faint = alt.condition("datum.few", alt.value(0.3), alt.value(1))
        mark = rows.mark_line(strokeWidth=1.6, interpolate=interpolate)
        place = {"x": layout.x, "y": layout.y, "color": self._colour()}
        return mark.encode(**place, opacity=faint, detail="few:N")

    def _ribbon(self, line: int, layout: PanelLayout, interpolate: Any) -> list[AnyChart]:
        if not self.options.intervals:
            return []
        colour = self.look.colours(1)[0]
        look = {"opacity": 0.22, "interpolate": interpolate, "color": colour}
        return [of_curves.ribbon(_of_line(line), layout.x, alt.Y("precision_low:Q"), **look)]

    def _best(self, line: int, layout: PanelLayout) -> AnyChart:
        best = self.best.filter(line=line).select("threshold", "F1")
        mark = alt.Chart(best).mark_point(
            shape="diamond", filled=True, size=170, stroke=self.look.background
        )
        tips = [
            alt.Tooltip("threshold:Q", format=".4~r"),
            alt.Tooltip("F1:Q", title=_BEST, format=".4f"),
        ]
        colour = alt.ColorValue(self._colours()[-1])
        return mark.encode(x=layout.x, y=alt.Y("F1:Q"), color=colour, tooltip=tips)

    def _points(self, line: int, layout: PanelLayout) -> list[AnyChart]:
        if self.points.is_empty() or (own := self.points.filter(line=line)).is_empty():
            return []
        fill = alt.Fill("measure:N", scale=self._scale(), legend=None)
        folded = _folded(alt.Chart(own), MEASURES[:2])
        return [self.renderer.marker(folded, layout.x, layout.y, fill)]

    def _at_threshold(self, line: int, layout: PanelLayout) -> list[AnyChart]:
        rule = self._chosen(line).mark_rule(color=self.look.muted, strokeWidth=1)
        dots = _folded(self._chosen(line)).mark_point(
            filled=True, size=60, stroke=self.look.background, strokeWidth=1
        )
        return [rule.encode(x=layout.x), dots.encode(x=layout.x, y=layout.y, color=self._colour())]

    def _nearest(self, line: int, layout: PanelLayout) -> AnyChart:
        look, name = {"size": 40, "tooltip": tooltip_of(_TABLE, {})}, f"near_{layout.number}"
        rows = _folded(_of_line(line))
        return of_curves.nearest_dot(rows, name, look, x=layout.x, y=layout.y, color=self._colour())

    def _table(self) -> AnyChart:
        names = self.rows["name"].unique(maintain_order=True).to_list()
        titles = titles_of(_TABLE, ascending=self.curves.segments.given.ascending)
        cells = (
            self._chosen(None)
            .transform_fold(list(_TABLE), as_=["key", "value"])
            .transform_calculate(text=_text("datum.key", "datum.value"))
            .transform_calculate(column=f"{json.dumps(titles)}[datum.key]")
        )
        return table(cells, names, [*titles.values()], self.look)

    # --- notes ---------------------------------------------------------------------------------

    def _notes(self) -> Iterator[str]:
        chosen = "the threshold given" if self.options.threshold is not None else _BEST
        if self.options.threshold is None and self.best.height > 1:
            chosen = f"the median threshold of {_BEST}"
        both = f"Vertical line: {chosen}. Diamond: {_BEST}."
        yield f"Vertical line and diamond: {_BEST}." if chosen == _BEST else both
        yield "Saved as .html, the chart has a slider."
        if not self.rows.is_empty() and self.rows["predicted"].min() < _FEW_ALERTS:  # type: ignore[operator]
            yield f"Faint: precision of fewer than {_FEW_ALERTS} alerts."
        yield from self.curves.notes_on_numbers()
        if not self.is_exact and not self.rows.is_empty():
            count = self.rows["threshold"].n_unique()
            yield f"Lines join the exact values at {count} thresholds."
        if self._is_single:
            yield from self.curves.notes_on_thinning()

    # --- colours -------------------------------------------------------------------------------

    def _colours(self) -> list[str]:
        return self.look.colours(len(MEASURES))

    def _scale(self) -> alt.Scale:
        return alt.Scale(domain=list(MEASURES), range=self._colours())

    def _colour(self) -> alt.Color:
        legend = alt.Legend(symbolType="stroke")
        return alt.Color("measure:N", scale=self._scale(), legend=legend)


_FEW_ALERTS = 20
_IS_FEW = f"datum.measure == 'precision' && datum.predicted < {_FEW_ALERTS}"


def _of_line(line: int | None) -> Any:
    rows = alt.Chart()
    return rows if line is None else rows.transform_filter(f"datum.line == {line}")


def _folded(chart: Any, measures: tuple[str, ...] = MEASURES) -> Any:
    """Return a row per measure; precision is undefined where nothing is predicted positive."""
    folded = chart.transform_fold(list(measures), as_=["measure", "value"])
    return folded.transform_filter("isValid(datum.value)")


def _text(column: str, value: str) -> str:
    rates = " || ".join(f"{column} == '{name}'" for name in sorted(_RATES))
    count = f"format({value}, {value} % 1 == 0 ? ',.0f' : ',.2f')"
    number = f"({rates}) ? format({value}, '.3f') : {count}"
    return f"!isValid({value}) ? '-' : isString({value}) ? {value} : {number}"


# --- its rows: exact counts at the thresholds that can be chosen -------------------------------

_MOST_THRESHOLDS = 240
_MOST_ROWS = 4_200  # of all lines
_MOST_ROWS_WITH_BEST = 4_900  # Altair draws up to 5,000
_STEPS = 1000  # of the slider

_NUMBER = pl.col("threshold").cast(pl.Float64)  # of a text


def _finite(points: pl.DataFrame) -> pl.DataFrame:
    return points.filter(pl.col("threshold").is_finite())


def _rates(
    segments: Segments,
    lines: pl.DataFrame,
    thresholds: Sequence[float],
    options: ChartOptions,
) -> pl.DataFrame:
    level = options.level if options.intervals else None
    # As a Float32, a large threshold is infinite.
    bins = Bins(list(thresholds), ascending=segments.given.ascending)
    points = _finite(segments.at_thresholds(bins, level))
    named = lines.select("line", name="panel_name").join(
        points, on="line", maintain_order="left_right"
    )
    rows = with_rates(named).with_columns(threshold_text=threshold_texts())
    # Sums of weights and thresholds have all of their digits.
    return rows.with_columns(pl.col("^(precision|recall|F1|predicted_rate).*$").round_sig_figs(5))


def _slider(rows: pl.DataFrame, best: Iterable[float], given: float | None) -> _Slider:
    lowest, highest = rows.select(low=pl.min("threshold"), high=pl.max("threshold")).row(0)
    # The difference of the largest numbers would be infinite.
    step = round_step(highest / _STEPS - lowest / _STEPS, up=False)
    middle = sorted(best)
    value = middle[(len(middle) - 1) // 2] if given is None and middle else given
    return _Slider(
        lowest=multiple(math.floor(lowest / step), step),
        highest=min(multiple(math.ceil(highest / step), step), sys.float_info.max),
        step=step,
        value=lowest if value is None else value,
    )
