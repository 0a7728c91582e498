"""The chart of a summary over time: a line per model with a ribbon, and a panel per other key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts.summary_data import Times
from frame_prc._charts.summary_marks import (
    DASHED,
    INTERVAL,
    NUMBERS,
    PADDING,
    SummaryMarks,
)
from frame_prc._charts.text import short
from frame_prc._charts.theme import AnyChart
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import RANDOM

UNDEFINED = "\N{MULTIPLICATION SIGN}"

# Up to how many panels: their columns, their width and height in px, and those of the panel of
# differences beside or below each.
_Size: TypeAlias = tuple[int, int]
_GRIDS: tuple[tuple[int, int, _Size, _Size], ...] = (
    (1, 1, (640, 230), (0, 0)),
    (2, 2, (330, 140), (0, 0)),
    (3, 3, (195, 140), (0, 0)),
    (4, 2, (330, 140), (0, 0)),
    (24, 3, (195, 110), (0, 0)),
)
_PAIRED_GRIDS: tuple[tuple[int, int, _Size, _Size], ...] = (
    (1, 1, (640, 230), (640, 120)),
    (6, 2, (360, 120), (300, 120)),
    (24, 4, (220, 100), (150, 100)),
)
_DAY = 86_400_000  # ms
_LABEL = 110  # px of a date, with room
_MANY = 60  # points in a panel


@dataclass(frozen=True)
class TimePanels(SummaryMarks):
    """The panels of the chart, which share their axes and colours."""

    times: Times

    def cells(self) -> list[AnyChart]:
        """Return the panels, each followed by that of its differences if models are compared."""
        kinds = [self._areas, *([self._differences] if self.data.has_differences else [])]
        total = self._count * len(kinds)
        cells: list[AnyChart] = []
        for panel in range(self._count):
            for draw in kinds:
                left = self.data.has_differences or len(cells) % self.columns == 0
                cells.append(draw(panel, left=left, bottom=len(cells) >= total - self.columns))
        return cells

    @property
    def columns(self) -> int:
        """The number of panels beside each other."""
        return self._grid[1]

    @property
    def _count(self) -> int:
        return self.data.dots["panel"].n_unique()

    @property
    def _grid(self) -> tuple[int, int, _Size, _Size]:
        grids = _PAIRED_GRIDS if self.data.has_differences else _GRIDS
        return next(grid for grid in grids if self._count <= grid[0])

    # --- panels ----------------------------------------------------------------------------------

    def _areas(self, panel: int, *, left: bool, bottom: bool) -> AnyChart:
        """Return average precisions with their intervals, above that of a random ranking."""
        rows = _of_panel(self.data.dots, panel, AVERAGE_PRECISION)
        title = self.data.quantity if left else None
        axis = alt.Axis(title=title, labels=left, tickCount=5, format=NUMBERS)
        y = alt.Y(f"{AVERAGE_PRECISION}:Q", axis=axis, scale=self.area_scale())
        width, height = self._grid[2]
        width = self.look.width or width
        x, tooltip = self._x(width, labels=bottom), self.tooltips()
        chance = alt.Chart(rows.drop_nulls(AVERAGE_PRECISION)).mark_line(
            color=self.look.muted, strokeDash=DASHED, strokeWidth=1
        )
        layers = [
            chance.encode(x=x, y=alt.Y(f"{RANDOM}:Q"), detail=_details("run")),
            *self._undefined(rows, x, height),
            *self._lines(rows, x, y, self.colour(), tooltip),
        ]
        chart = alt.layer(*layers).properties(width=width, height=height)
        return chart.properties(title=self._title(panel)) if self._count > 1 else chart

    def _title(self, panel: int) -> alt.Title:
        name = self.data.dots.filter(panel=panel)["panel_name"][0]
        return alt.Title(short(name), fontSize=11.5, offset=6, frame="group")

    def _undefined(self, rows: pl.DataFrame, x: alt.X, height: int) -> list[AnyChart]:
        """Return a cross where there is no average precision."""
        undefined = rows.filter(pl.col(AVERAGE_PRECISION).is_null())
        cross = alt.Chart(undefined.unique("time", maintain_order=True)).mark_text(
            text=UNDEFINED, fontSize=13, color=self.look.muted
        )
        y = alt.value(height - PADDING)
        return [cross.encode(x=x, y=y, tooltip=self.tooltips())] if undefined.height else []

    def _differences(self, panel: int, *, left: bool, bottom: bool) -> AnyChart:
        """Return the differences with their intervals."""
        rows = _of_panel(self.data.differences, panel, "difference")
        title = self.difference_title() if left else None
        axis = alt.Axis(title=title, tickCount=4, format=NUMBERS)
        y = alt.Y("difference:Q", axis=axis, scale=self.difference_scale())
        width, height = self._grid[3]
        if self._count == 1:
            width = self.look.width or width
        x, tooltip = self._x(width, labels=bottom), self.difference_tooltips()
        lines = self._lines(rows, x, y, self.colour_of_differences(), tooltip)
        below, above = self.sides()
        sides = [
            self.side(text, x=4, y=at, align="left", baseline=baseline)
            for text, at, baseline in ((above, 3, "top"), (below, height - 3, "bottom"))
        ]
        return alt.layer(self.no_difference(y=y), *lines, *sides, width=width, height=height)

    def _lines(
        self,
        rows: pl.DataFrame,
        x: alt.X,
        y: alt.Y,
        colour: Any,
        tooltip: list[alt.Tooltip],
    ) -> list[AnyChart]:
        """Return ribbons, lines and points; what is undefined leaves a gap."""
        defined = rows.filter(pl.col("run").is_not_null())
        line = alt.Chart(defined).mark_line(strokeWidth=1.6)
        size = 30 if rows["time"].n_unique() <= _MANY else 12
        return [
            *_ribbons(rows, x, colour),
            line.encode(x=x, y=y, detail=_details("run"), color=colour),
            *self.dots(defined, size, x=x, y=y, color=colour, tooltip=tooltip),
        ]

    # --- encodings -------------------------------------------------------------------------------

    def _x(self, width: int, *, labels: bool) -> alt.X:
        known = self.data.dots["time"].drop_nulls().sort()
        first, last = known[0], known[-1]
        count = max(2, width // _LABEL)
        axis = alt.Axis(
            title=self.times.title if labels else None,
            labels=labels,
            tickCount=count,
            format="%Y-%m-%d" if last - first >= count * _DAY else "%m-%d %H:%M",
            labelOverlap=True,
        )
        scale = alt.Scale(type="utc", nice=False, padding=PADDING)
        return alt.X("time:T", axis=axis, scale=scale)


def _of_panel(rows: pl.DataFrame, panel: int, value: str) -> pl.DataFrame:
    """Return the rows of a panel in order, with the number of the ``run`` that a value is in.

    A run is what a line connects: it ends where a value is undefined.
    """
    own = rows.filter(pl.col("panel") == panel, pl.col("time").is_not_null())
    return own.sort("model", "time").with_columns(run=_runs(value))


def _runs(value: str) -> pl.Expr:
    undefined = pl.col(value).is_null()
    return pl.when(~undefined).then(undefined.cum_sum().over("model"))


def _ribbons(rows: pl.DataFrame, x: alt.X, colour: Any) -> list[AnyChart]:
    """Return the intervals; as a bar where a point stands alone, since a ribbon has no width."""
    low, high = INTERVAL
    if low not in rows.columns:
        return []
    known = rows.with_columns(ribbon=_runs(low)).drop_nulls(low)
    alone = pl.len().over("model", "ribbon") == 1
    ends = {"x": x, "y": alt.Y(f"{low}:Q"), "y2": alt.Y2(f"{high}:Q"), "color": colour}
    areas, rules = known.filter(~alone), known.filter(alone)
    marks = []
    if areas.height:
        ribbon = alt.Chart(areas).mark_area(opacity=0.16, clip=True)
        marks.append(ribbon.encode(detail=_details("ribbon"), **ends))
    if rules.height:
        marks.append(
            alt.Chart(rules).mark_rule(strokeWidth=7, opacity=0.25, clip=True).encode(**ends)
        )
    return marks


def _details(column: str) -> list[alt.Detail]:
    return [alt.Detail("model:N"), alt.Detail(f"{column}:N")]
