"""The chart of a summary with a row per segment, and a dot with its interval per model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import altair as alt
import polars as pl

from frame_prc._charts.steps import ticks
from frame_prc._charts.summary_marks import INTERVAL, NUMBERS, Quantity, SummaryMarks
from frame_prc._charts.text import count_text
from frame_prc._charts.theme import AnyChart
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import FEW, RANDOM

_ROW, _MODEL = 19, 8  # px, at least, of a row and of a model in it
_WIDE, _NARROW = 440, 300  # px of average precisions, alone and beside differences
_DIFFERENCES = 190
_SIZES = 80
_TICKS, _TICKS_OF_DIFFERENCES = 8, 4
_DOT = 60  # px²
_LONGEST_SIZES = 220
_MANY_ROWS = 30  # from which on the axis is above them
_ABOVE = 7, 26  # px of the words above differences, without and with that axis


@dataclass(frozen=True)
class RowPanels(SummaryMarks):
    """The panels of the chart, which share their rows and colours."""

    @property
    def columns(self) -> int:
        """The number of panels beside each other."""
        return 3

    def cells(self) -> list[AnyChart]:
        """Return the panels, side by side."""
        panels = [self._areas(), self._sizes()]
        return [*panels, self._difference_panel()] if self.data.has_differences else panels

    # --- panels ----------------------------------------------------------------------------------

    def _areas(self) -> AnyChart:
        """Return average precisions with their intervals, and ticks of a random ranking."""
        areas, y = self.areas(), self._y(labels=True)
        defined = areas.rows.drop_nulls(AVERAGE_PRECISION)
        ticks = alt.Chart(defined).mark_tick(color=self.look.muted, thickness=1.5, height=11)
        chance = self._x(replace(areas, column=RANDOM), _TICKS)
        layers = [
            *self._lines_between_rows(labels=True),
            ticks.encode(x=chance, y=y, tooltip=areas.tooltips),
            *self._connections(defined, y),
            *self._dots_and_intervals(areas, self.data.models, y),
            *self._reasons(y),
        ]
        width = _NARROW if self.data.has_differences else _WIDE
        return self._panel(layers, self.look.width or width)

    def _panel(self, layers: list[AnyChart], width: int) -> AnyChart:
        return alt.layer(*layers, width=width, height=self._height)

    def _lines_between_rows(self, *, labels: bool) -> list[AnyChart]:
        """Return a line below that of all rows, and one above segments with few positives."""
        y = self._y(labels=labels)
        return [
            alt.Chart(pl.DataFrame({"name": [name]}))
            .mark_rule(color=self.look.muted, strokeWidth=0.8)
            .encode(y=y.copy().bandPosition(place))
            for name, place in ((self.data.whole, 1), (self.data.first_few, 0))
            if name is not None
        ]

    def _connections(self, dots: pl.DataFrame, y: alt.Y) -> list[AnyChart]:
        """Return lines that connect the models of a segment."""
        if len(self.data.models) == 1:
            return []
        ends = dots.group_by("name", maintain_order=True).agg(
            low=pl.col(AVERAGE_PRECISION).min(), high=pl.col(AVERAGE_PRECISION).max()
        )
        line = alt.Chart(ends).mark_rule(color=self.look.faint, strokeWidth=7, strokeCap="round")
        return [line.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y)]

    def _reasons(self, y: alt.Y) -> list[AnyChart]:
        """Return why segments have no dot."""
        undefined = self.data.dots.filter(pl.col(AVERAGE_PRECISION).is_null())
        if undefined.is_empty():
            return []
        rows = alt.Chart(undefined.unique("name", maintain_order=True))
        text = rows.mark_text(align="left", fontSize=11, color=self.look.muted)
        return [text.encode(x=alt.value(6), y=y, text=alt.Text("status_text:N"))]

    def _sizes(self) -> AnyChart:
        """Return the numbers of positives and of rows as text."""
        table = self.data.dots.group_by("name", maintain_order=True).agg("n_pos", "n", "status")
        texts = [
            f"{_range(row['n_pos'])} / {_range(row['n'])}{_few(row['status'])}"
            for row in table.iter_rows(named=True)
        ]
        rows = table.select("name", pl.Series("sizes", texts, dtype=pl.String))
        text = alt.Chart(rows).mark_text(
            color=self.look.muted, align="right", fontSize=11, limit=_LONGEST_SIZES
        )
        title = alt.Title(
            "positives / total", fontSize=11, fontWeight="normal", anchor="end", offset=4
        )
        y = self._y(labels=False)
        texts = text.encode(x=alt.value(_SIZES), y=y, text=alt.Text("sizes:N"))
        return alt.layer(texts, *self._lines_between_rows(labels=False)).properties(
            width=_SIZES, height=self._height, view=alt.ViewConfig(stroke=None), title=title
        )

    def _difference_panel(self) -> AnyChart:
        """Return the differences with their intervals."""
        shown, y = self.differences(), self._y(labels=False)
        compared = shown.rows["model"].unique().to_list()
        layers = [
            *self._lines_between_rows(labels=False),
            self.no_difference(x=self._x(shown, _TICKS_OF_DIFFERENCES)),
            *self._dots_and_intervals(shown, [m for m in self.data.models if m in compared], y),
            *self._sides(),
        ]
        return self._panel(layers, _DIFFERENCES)

    def _sides(self) -> list[AnyChart]:
        """Return which model is better on either side of 0."""
        below, above = self.sides()
        y = -_ABOVE[self._is_long]
        return [
            self.side(below, x=0, y=y, align="left"),
            self.side(above, x=_DIFFERENCES, y=y, align="right"),
        ]

    def _dots_and_intervals(
        self, shown: Quantity, models: Sequence[str], y: alt.Y
    ) -> list[AnyChart]:
        """Return a dot per row with its interval, the models of a segment beside each other."""
        rows, (low, high) = shown.rows.drop_nulls(shown.column), INTERVAL
        count = _TICKS if shown.column == AVERAGE_PRECISION else _TICKS_OF_DIFFERENCES
        encodings = {
            "y": y,
            "yOffset": alt.YOffset("model:N", scale=alt.Scale(domain=models, padding=0.75)),
            "color": shown.colour,
            "tooltip": shown.tooltips,
        }
        dots = self.dots(rows, _DOT, x=self._x(shown, count), **encodings)
        if low not in rows.columns:
            return dots
        rule = alt.Chart(rows).mark_rule(strokeWidth=1.4, clip=True)
        return [rule.encode(x=alt.X(f"{low}:Q"), x2=alt.X2(f"{high}:Q"), **encodings), *dots]

    # --- encodings -------------------------------------------------------------------------------

    @property
    def _height(self) -> int:
        return max(_ROW, _MODEL * len(self.data.models)) * len(self.data.names)

    def _x(self, shown: Quantity, count: int) -> alt.X:
        """Return the axis with up to so many ticks, which is above many rows."""
        values = ticks(*shown.ends, count)
        axis = alt.Axis(format=NUMBERS, values=values, orient="top" if self._is_long else "bottom")
        return alt.X(f"{shown.column}:Q", title=shown.title, axis=axis, scale=shown.scale)

    @property
    def _is_long(self) -> bool:
        return len(self.data.names) >= _MANY_ROWS

    def _y(self, *, labels: bool) -> alt.Y:
        names = self.data.names
        # A name is text in the data, and so here.
        bold = alt.condition(
            f"datum.value === {json.dumps(self.data.whole)}", alt.value("bold"), alt.value("normal")
        )
        axis = alt.Axis(
            title=None,
            labels=labels,
            labelLimit=240,
            grid=labels,
            labelFontWeight=bold if self.data.whole else alt.Undefined,
        )
        # A band scale in every panel, for one alignment; `yOffset` needs it in two of them.
        scale = alt.Scale(type="band", domain=names, paddingInner=0.2, paddingOuter=0.1)
        return alt.Y("name:N", sort=names, axis=axis, scale=scale)


def _range(sizes: Sequence[float]) -> str:
    """Return a size, or the smallest and the largest if those of models differ."""
    return " to ".join(dict.fromkeys(map(count_text, (min(sizes), max(sizes)))))


def _few(statuses: Sequence[str]) -> str:
    return " (few)" if not set(FEW).isdisjoint(statuses) else ""
