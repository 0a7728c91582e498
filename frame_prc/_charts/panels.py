"""The panels of a chart, each made of layers: reference lines, ribbons, curves, points, text.

Channels are objects here, such as ``alt.Order("order:Q")``: Altair takes 5 ms to parse a string.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts.markers import LABEL_FONT, placed, shifted
from frame_prc._charts.text import short
from frame_prc._charts.theme import ISO_LABEL, LARGE, AnyChart, Look

LegendPlace: TypeAlias = Literal["right", "top"]

_TICKS = (0, 0.25, 0.5, 0.75, 1)
_LEGEND_OFFSET = 18 + ISO_LABEL
_ROC = " · ROC"
_DASHED: dict[str, Any] = {"strokeDash": [4, 3], "strokeWidth": 1}
_SHAPES = ["diamond", "circle", "square", "triangle-up", "cross", "triangle-down"]
_LONG_NAME = 16  # characters
_SHORTEST_NAME = 9
MOST_RIBBONS = 4  # more of them in a panel are drawn fainter
_FAINT = 0.55

_TITLES = {"ap": "average precision", "f_score": "F score", "fpr": "false-positive rate"}
_FORMATS = {
    **dict.fromkeys(
        ("precision", "recall", "F1", "f_score", "fpr", "prevalence", "predicted_rate"), ".4f"
    ),
    **dict.fromkeys(("tp", "fp", "fn", "tn", "predicted"), ",.12~g"),
}
_AT_POINT = ("threshold", "precision", "recall", "tp", "fp")


@dataclass(frozen=True)
class PanelData:
    """What a panel shows: frames whose rows have a ``series``, and texts.

    ``size`` is the size of its segment as text, empty if its lines differ in size. ``lines`` are
    the series and their average precision as text, to be written above the panel. ``empty`` is the
    reason if no line has a curve.
    """

    title: str
    size: str
    lines: list[tuple[str, str]]
    curve: pl.DataFrame
    roc: pl.DataFrame
    baselines: pl.DataFrame
    overlay: pl.DataFrame
    ribbon: pl.DataFrame
    points: pl.DataFrame
    empty: str | None

    def names(self) -> list[str]:
        """Return the texts above the panel as lines."""
        return [*filter(None, map(str.strip, (self.title, *map(" ".join, self.lines), self.size)))]

    def untitled(self) -> PanelData:
        """Return the panel without the texts above it."""
        return replace(self, title="", size="", lines=[])


@dataclass(frozen=True)
class PanelLayout:
    """The number and size of a panel, and whether its left and bottom axes have labels."""

    number: int
    width: int
    height: int
    left: bool
    bottom: bool

    @property
    def is_large(self) -> bool:
        """Whether the F1 curves of the panel have labels."""
        return min(self.width, self.height) >= LARGE

    def x(self, column: str, title: str) -> alt.X:
        """Return the horizontal encoding."""
        return alt.X(f"{column}:Q", scale=unit_scale(), axis=self._axis(title, labels=self.bottom))

    def y(self, column: str, title: str) -> alt.Y:
        """Return the vertical encoding."""
        return alt.Y(f"{column}:Q", scale=unit_scale(), axis=self._axis(title, labels=self.left))

    def _axis(self, title: str, *, labels: bool) -> alt.Axis:
        roomy = min(self.width, self.height) > LARGE / 2
        ticks, digits = (_TICKS, ".2f") if roomy else (_TICKS[::2], ".1f")
        title_or_none = title if labels else None
        return alt.Axis(title=title_or_none, labels=labels, values=list(ticks), format=digits)


def unit_scale() -> alt.Scale:
    """Return the scale of a share."""
    return alt.Scale(domain=[0, 1], nice=False)


@dataclass(frozen=True)
class PanelRenderer:
    """Draws all panels of a chart with the same scales and legends.

    Parameters
    ----------
    series
        The names of the lines that have colours of their own.
    legend
        Where the legend is, if there are several series.
    keys
        The titles of the columns ``key_0, ...`` in tooltips.
    criteria
        The names of the operating points.
    iso
        Curves of constant F1, with a ``label`` at recall 1.
    """

    series: list[str]
    legend: LegendPlace
    keys: dict[str, str]
    criteria: list[str]
    iso: pl.DataFrame
    look: Look

    def precision_recall(
        self, panel: PanelData, layout: PanelLayout, chosen: AnyChart | None = None
    ) -> AnyChart:
        """Return precision over recall; ``chosen`` is a mark at a chosen point."""
        x, y = layout.x("recall", "Recall"), layout.y("precision", "Precision")
        layers = [
            *self._iso(x, y, layout),
            *self._baselines(panel.baselines, layout),
            *self._overlay(panel.overlay, x, y),
            *self._ribbon(panel.ribbon, x, layout),
            *self._openings(panel.curve, x, layout),
            *self._lines(panel.curve, x, y, layout.y("height", "Precision"), "step-before", layout),
            *self._points(panel.points, x, y, layout, labelled=True),
            *self.reason(panel.empty, layout),
            *([] if chosen is None else [chosen.encode(x=x, y=y)]),
        ]
        return self.titled(layers, panel, layout)

    def roc(self, panel: PanelData, layout: PanelLayout) -> AnyChart:
        """Return the true-positive rate over the false-positive rate."""
        x, y = layout.x("fpr", "False-positive rate"), layout.y("recall", "True-positive rate")
        chance = pl.DataFrame({"fpr": [0, 1], "recall": [0, 1]})
        layers = [
            alt.Chart(chance).mark_line(color=self.look.muted, **_DASHED).encode(x=x, y=y),
            *self._lines(panel.roc, x, y, y, "linear", layout),
            *self._points(panel.points, x, y, layout, labelled=False),
        ]
        # Blank lines align the panel with the one beside it.
        blank = [("", " ") for _ in _above(panel)]
        name = f"{short(panel.title, _title_room(layout) - len(_ROC))}{_ROC}" if panel.title else ""
        return self.titled(layers, replace(panel, title=name, size="", lines=blank), layout)

    # --- layers --------------------------------------------------------------------------------

    def _iso(self, x: alt.X, y: alt.Y, layout: PanelLayout) -> list[AnyChart]:
        """Return the curves of constant F1, with labels outside a large panel."""
        if self.iso.is_empty():
            return []
        lines = alt.Chart(self.iso)
        mark = lines.mark_line(color=self.look.faint, strokeWidth=1, interpolate="monotone")
        curves = mark.encode(x=x, y=y, detail=alt.Detail("f_score:Q"))
        if not layout.is_large:
            return [curves]
        labels = alt.Chart(self.iso.drop_nulls("label")).mark_text(
            color=self.look.muted, align="left", baseline="middle", dx=7, fontSize=9
        )
        return [curves, labels.encode(x=x, y=y, text=alt.Text("label:N"))]

    def _baselines(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        if rows.is_empty():
            return []
        coloured = rows.height > 1 and rows["series"].null_count() == 0
        rule = alt.Chart(rows).mark_rule(opacity=_FAINT if coloured else 1, **_DASHED)
        baseline = rule.encode(
            y=layout.y("prevalence", "Precision"),
            color=self._colour() if coloured else alt.ColorValue(self.look.muted),
            tooltip=[_tooltip("prevalence")],
        )
        return [baseline]

    def _overlay(self, rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[AnyChart]:
        """Return the curves to compare with: a grey one, or one in the colour of each series."""
        if rows.is_empty():
            return []
        alone = rows["series"].n_unique() == 1
        mark = alt.Chart(rows).mark_line(strokeWidth=3, opacity=0.45 if alone else 0.3)
        colour = alt.ColorValue(self.look.muted) if alone else self._colour()
        return [mark.encode(x=x, y=y, color=colour)]

    def _ribbon(self, rows: pl.DataFrame, x: alt.X, layout: PanelLayout) -> list[AnyChart]:
        if rows.is_empty():
            return []
        # Several on top of each other would hide the lines.
        opacity = 0.22 if rows["series"].n_unique() <= MOST_RIBBONS else 0.07
        y = layout.y("precision_low", "Precision")
        area = ribbon(alt.Chart(rows), x, y, opacity=opacity, interpolate="step-before")
        return [area.encode(color=self._colour())]

    def _openings(self, rows: pl.DataFrame, x: alt.X, layout: PanelLayout) -> list[AnyChart]:
        """Return a faint line from the start point, a convention, to the first step."""
        if rows.is_empty():
            return []
        start = alt.Chart(rows).transform_filter("datum.tp + datum.fp == 0")
        rule = start.mark_rule(strokeWidth=1, opacity=_FAINT / 2)
        y = layout.y("precision", "Precision")
        return [rule.encode(x=x, y=y, y2=alt.Y2("height:Q"), color=self._colour())]

    def _lines(
        self,
        rows: pl.DataFrame,
        x: alt.X,
        y: alt.Y,
        line_y: alt.Y,
        interpolate: Any,
        layout: PanelLayout,
    ) -> list[AnyChart]:
        """Return lines through the rows in order, and a dot at the point nearest the mouse."""
        if rows.is_empty():
            return []
        looks = {"color": self._colour(), **self._dashes()}
        if rows["few"].any():
            looks["opacity"] = alt.condition("datum.few", alt.value(_FAINT), alt.value(1))
        mark = alt.Chart(rows).mark_line(interpolate=interpolate, strokeWidth=1.6)
        line = mark.encode(x=x, y=line_y, order=alt.Order("order:Q"), **looks)
        tooltip = self.tooltip_of((*self.keys, "ap", *_AT_POINT))
        nearest = f"hover_{layout.number}"
        dots = nearest_dot(
            alt.Chart(rows), nearest, size=55, tooltip=tooltip, x=x, y=y, color=self._colour()
        )
        return [line, dots]

    def _points(
        self, rows: pl.DataFrame, x: alt.X, y: alt.Y, layout: PanelLayout, *, labelled: bool
    ) -> list[AnyChart]:
        """Return markers, each maybe with its threshold."""
        if rows.is_empty():
            return []
        points = placed(rows, layout.width, layout.height)
        fill = self._colour(alt.Fill, alt.FillValue, legend=False)
        marker = self.marker(alt.Chart(points), x, y, fill, shift="dx")
        return [marker, *self._labels(points, x, y)] if labelled else [marker]

    def marker(self, points: Any, x: alt.X, y: alt.Y, fill: Any, *, shift: str | None) -> AnyChart:
        """Return a marker per operating point, shifted by a column of this name."""
        mark = points.mark_point(
            filled=True,
            size=85,
            opacity=1,
            stroke=self.look.background,
            strokeWidth=1,
            xOffset=shifted(shift) if shift else alt.Undefined,
        )
        legend = alt.Legend(
            title=None,
            orient=self.legend,
            offset=_LEGEND_OFFSET if self.legend == "right" else alt.Undefined,
            symbolFillColor=self.look.text,
            symbolStrokeWidth=0,
        )
        shapes = alt.Scale(domain=self.criteria, range=_SHAPES[: len(self.criteria)])
        return mark.encode(
            x=x,
            y=y,
            fill=fill,
            shape=alt.Shape("criterion:N", scale=shapes, legend=legend),
            tooltip=self._tooltips("criterion", *_AT_POINT, "fn", "tn", "f_score"),
        )

    def _labels(self, points: pl.DataFrame, x: alt.X, y: alt.Y) -> list[AnyChart]:
        """Return the thresholds beside the markers, on a halo that keeps lines away from them."""
        background = self.look.background
        halo: dict[str, Any] = {"stroke": background, "strokeWidth": 3, "strokeJoin": "round"}
        shift: dict[str, Any] = {"dx": shifted("label_dx"), "dy": shifted("label_dy")}
        return [
            alt.Chart(points)
            .mark_text(fontSize=LABEL_FONT, baseline="middle", align="center", **shift, **look)
            .encode(x=x, y=y, text=alt.Text("label:N"), **colour)
            for look, colour in ((halo, {}), ({}, {"color": self._colour(legend=False)}))
        ]

    def reason(self, text: str | None, layout: PanelLayout) -> list[AnyChart]:
        """Return why there is no curve."""
        if text is None:
            return []
        reason = alt.Chart(pl.DataFrame({"text": [text]})).mark_text(color=self.look.muted)
        x, y = alt.value(layout.width / 2), alt.value(layout.height / 2)
        return [reason.encode(x=x, y=y, text=alt.Text("text:N"))]

    def titled(self, layers: list[AnyChart], panel: PanelData, layout: PanelLayout) -> AnyChart:
        """Return the layers of a panel as a chart with its title."""
        # In one call: each method of a chart copies all of it.
        size = {"width": layout.width, "height": layout.height}
        lines = _above(panel)
        if not panel.title and not lines:
            return alt.layer(*layers, **size)
        font, room = _title_font(layout), _title_room(layout)
        # Long names are shortened to leave room for the average precision.
        subtitle = [
            f"{short(name, max(room + 2 - len(area), _SHORTEST_NAME))} {area}".strip(" ") or " "
            for name, area in lines
        ]
        above = alt.Title(
            short(panel.title, room),
            subtitle=subtitle,
            fontSize=font,
            subtitleFontSize=font - 1,
            offset=6,
            frame="group",
        )
        return alt.layer(*layers, title=above, **size)

    # --- encodings -----------------------------------------------------------------------------

    def _colour(
        self, channel: Any = alt.Color, value: Any = alt.ColorValue, *, legend: bool = True
    ) -> Any:
        if len(self.series) == 1:
            return value(self.look.colours(1)[0])
        scale = alt.Scale(domain=self.series, range=self.look.colours(len(self.series)))
        return channel("series:N", scale=scale, legend=self._legend() if legend else None)

    def _dashes(self) -> dict[str, Any]:
        """Return the encoding of dashes, if there are too few colours."""
        dashes = self.look.dashes(len(self.series))
        if dashes[-1] == dashes[0]:
            return {}
        scale = alt.Scale(domain=self.series, range=dashes)
        return {"strokeDash": alt.StrokeDash("series:N", scale=scale, legend=self._legend())}

    def _legend(self) -> alt.Legend:
        columns = 2 if max(map(len, self.series)) > _LONG_NAME else 6
        place: dict[str, Any] = {"direction": "horizontal", "columns": columns}
        if self.legend == "right":
            place = {"offset": _LEGEND_OFFSET}
        return alt.Legend(title=None, symbolType="stroke", orient=self.legend, **place)

    def tooltip_of(self, columns: Sequence[str]) -> alt.ExprRef:
        """Return the tooltip of the point nearest the mouse, with some of its columns.

        The mouse is over the Voronoi cell of that point, whose datum is the point. Vega-Lite 6.1
        looks for the fields in the cell, hence this expression (vega-lite pull request 9707).
        """
        row = "(isObject(datum.datum) ? datum.datum : datum)"
        titles, fields = _TITLES | self.keys, {}
        for name in columns:
            value = f"{row}.{name}"
            text = f"format({value}, '{_FORMATS[name]}')" if name in _FORMATS else value
            fields[titles.get(name, name)] = text
        pairs = ", ".join(f"{json.dumps(title)}: {text}" for title, text in fields.items())
        return alt.ExprRef(f"{{{pairs}}}")

    def _tooltips(self, *columns: str) -> list[alt.Tooltip]:
        keys = [alt.Tooltip(f"{name}:N", title=title) for name, title in self.keys.items()]
        return [*keys, *map(_tooltip, columns)]


def ribbon(rows: Any, x: alt.X, y: alt.Y, **look: Any) -> AnyChart:
    """Return the intervals of precision."""
    # The start point of a curve has none.
    area = rows.transform_filter("isValid(datum.precision_low)").mark_area(**look)
    return area.encode(x=x, y=y, y2=alt.Y2("precision_high:Q"))


def nearest_dot(rows: Any, name: str, *, size: int, tooltip: Any, **encodings: Any) -> AnyChart:
    """Return dots of which the one nearest the mouse shows itself and its tooltip."""
    nearest = alt.selection_point(
        name=name, nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    opacity = alt.OpacityValue(0, condition={"param": name, "empty": False, "value": 1})
    # Without ARIA labels: a screen reader would read one per point.
    dot = rows.mark_circle(size=size, aria=False, tooltip=tooltip)
    return dot.encode(**encodings, opacity=opacity).add_params(nearest)


def _above(panel: PanelData) -> list[tuple[str, str]]:
    """Return the lines of text below the title of a panel."""
    return [*panel.lines, *([("", panel.size)] if panel.size else [])]


def _title_font(layout: PanelLayout) -> float:
    return 11.5 if layout.is_large else 10.5


def _title_room(layout: PanelLayout) -> int:
    """Return how many letters fit above a panel."""
    return int(layout.width / _title_font(layout) * 2.1)


def _tooltip(column: str) -> alt.Tooltip:
    title = _TITLES.get(column, column)
    if column in _FORMATS:
        return alt.Tooltip(f"{column}:Q", title=title, format=_FORMATS[column])
    return alt.Tooltip(f"{column}:N", title=title)
