"""The panels of a chart, each made of layers: reference lines, ribbons, curves, points, text.

Channels are objects here, such as ``alt.Order("order:Q")``: Altair takes 5 ms to parse a string.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.curve_rows import ChartRows
from frame_prc._charts.marks import ROC, PanelLayout, tooltip, tooltip_of, tooltips
from frame_prc._charts.options import FAINT, AnyChart, Look
from frame_prc._charts.text import short

_ROC = " · ROC"
_DASHED: dict[str, Any] = {"strokeDash": [4, 3], "strokeWidth": 1}
_SHAPES = ["diamond", "circle", "square", "triangle-up", "cross", "triangle-down"]
_SHORTEST_NAME = 9
_ABOVE = 6  # px from a panel to the text above it
_LABEL = 10  # px, of a label
_INDENT = 13  # px, after a swatch
_LETTERS, _LETTERS_OF_SWATCH = 120, 6  # in a row of the legend, and instead of a swatch
_LISTED = 7  # names below each other
_PICK = alt.selection_point(name="pick", fields=["series"], bind="legend")
MOST_RIBBONS = 4  # more of them in a panel are drawn fainter

_AT_POINT = ("threshold", "precision", "recall", "tp", "fp")
_OF_ROWS = ["line", "order", *_AT_POINT, "height", "fpr", "precision_low", "precision_high"]
_GREYED = 0.15  # the opacity of lines that are not picked


@dataclass(frozen=True)
class PanelData:
    """What a panel shows: frames whose rows have a ``series``, and texts.

    ``size`` is the size of its segment as text, empty if its lines differ in size. ``lines`` are
    the series and their average precision as text, to be written above the panel, and
    ``roc_lines`` those of its ROC curve. ``empty`` is the reason if no line has a curve.
    """

    title: str
    size: str
    lines: list[tuple[str, str]]
    roc_lines: list[tuple[str, str]]
    rows: ChartRows
    baselines: pl.DataFrame
    empty: str | None

    def names(self) -> list[str]:
        lines = [": ".join(filter(None, line)) for line in self.lines]
        return [*filter(None, (self.title, *lines, self.size))]


@dataclass(frozen=True)
class PanelRenderer:
    """Draws all panels of a chart with the same scales and legends.

    ``series`` are the names of the lines that have colours of their own, ``labels`` what the rows
    of each ``line`` have in common, and ``keys`` the titles of ``key_0, ...`` in tooltips. A panel
    ``alone`` has a legend in which one picks a line. ``iso`` are the curves of constant F1.
    """

    series: list[str]
    labels: pl.DataFrame
    alone: bool
    keys: dict[str, str]
    criteria: list[str]
    iso: pl.DataFrame
    look: Look

    @property
    def config(self) -> dict[str, Any]:
        tooltip = tooltip_of((*self.keys, "area", *_AT_POINT), self.keys)
        look = self.look.config()
        return look | {"circle": look["circle"] | {"tooltip": tooltip}}

    def precision_recall(
        self, panel: PanelData, layout: PanelLayout, chosen: AnyChart | None = None
    ) -> AnyChart:
        # A line of equal F1 is lowest at recall 1.
        ends = self.iso.filter(pl.col("recall") == 1, pl.col("precision") < layout.top)
        ends = ends.with_columns(labelled=_is_clear(panel.baselines["prevalence"], layout))
        layers = _layers(
            (self._iso, ends),
            (self._baselines, panel.baselines),
            (self._overlay, panel.rows.overlay),
            (self._ribbon, panel.rows.ribbon),
            (self._steps, panel.rows.curve),
            (self._points, panel.rows.points),
            layout=layout,
        )
        layers += self.reason(panel.empty, layout)
        layers += [] if chosen is None else [chosen.encode(x=layout.x, y=layout.y)]
        return self.titled(layers, panel, layout)

    def roc(self, panel: PanelData, layout: PanelLayout) -> AnyChart:
        layout = replace(layout, columns=ROC, top=1.0)
        chance = pl.DataFrame({"fpr": [0, 1], "recall": [0, 1]})
        diagonal = alt.Chart(chance).mark_line(color=self.look.muted, **_DASHED)
        drawn = _layers(
            (self._lines, panel.rows.roc), (self._points, panel.rows.points), layout=layout
        )
        layers = [diagonal.encode(x=layout.x, y=layout.y), *drawn]
        # A blank line aligns the panel with the one beside it.
        blank = [*panel.roc_lines, *([("", " ")] if panel.size else [])]
        name = f"{short(panel.title, layout.letters - len(_ROC))}{_ROC}" if panel.title else ""
        return self.titled(layers, replace(panel, title=name, size="", lines=blank), layout)

    # --- layers --------------------------------------------------------------------------------

    def _iso(self, ends: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        drawn = self.iso.filter(pl.col("f_score").is_in(ends["f_score"].implode()))
        mark = alt.Chart(drawn).mark_line(
            color=self.look.faint, strokeWidth=1, interpolate="monotone", **layout.clip
        )
        curves = mark.encode(x=layout.x, y=layout.y, detail=alt.Detail("f_score:Q"))
        place: dict[str, Any] = {"align": "right", "baseline": "top", "dx": -3, "dy": 1}
        if layout.is_large:
            place = {"align": "left", "baseline": "middle", "dx": 7}
        shown = ends.filter("labelled")
        labels = alt.Chart(_labels(shown, _LABEL * layout.top / layout.height)).mark_text(
            color=self.look.muted, fontSize=9, **place
        )
        return [curves, labels.encode(x=layout.x, y=layout.y, text=alt.Text("label:N"))]

    def _baselines(self, rows: pl.DataFrame, _: PanelLayout) -> list[AnyChart]:
        coloured = rows.height > 1 and rows["series"].null_count() == 0
        rule = alt.Chart(rows).mark_rule(opacity=FAINT if rows.height > 1 else 1, **_DASHED)
        colour = self._colour() if coloured else alt.ColorValue(self.look.muted)
        y = alt.Y("prevalence:Q")
        return [rule.encode(y=y, color=colour, tooltip=[tooltip("prevalence")])]

    def _overlay(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        alone = rows["series"].n_unique() == 1
        look = {"strokeWidth": 3, "opacity": 0.45 if alone else 0.3, **layout.clip}
        colour = alt.ColorValue(self.look.muted) if alone else self._colour()
        mark = alt.Chart(as_text(rows.drop("series") if alone else rows)).mark_line(**look)
        return [mark.encode(x=layout.x, y=layout.y, color=colour)]

    def _ribbon(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        # Several on top of each other would hide the lines.
        opacity = 0.22 if rows["line"].n_unique() <= MOST_RIBBONS else 0.07
        look = {"opacity": opacity, "interpolate": "step-before", **layout.clip}
        area = ribbon(alt.Chart(), layout.x, alt.Y("precision_low:Q"), **look)
        return self._sharing(rows, area.encode(color=self._colour()))

    def _steps(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        start = alt.Chart().transform_filter("datum.tp + datum.fp == 0")
        rule = start.mark_rule(strokeWidth=1, opacity=FAINT / 2, **layout.clip)
        opening = rule.encode(x=layout.x, y=layout.y, y2=alt.Y2("height:Q"), color=self._colour())
        drawn = self._through(rows, layout, alt.Y("height:Q"), "step-before")
        return self._sharing(rows, opening, *drawn)

    def _lines(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        return self._sharing(rows, *self._through(rows, layout, layout.y, "linear"))

    def _through(
        self, rows: pl.DataFrame, layout: PanelLayout, height: alt.Y, interpolate: Any
    ) -> list[AnyChart]:
        looks = {"color": self._colour(), **self._dashes(), **self._opacity(rows)}
        mark = alt.Chart().mark_line(interpolate=interpolate, strokeWidth=1.6, **layout.clip)
        line = mark.encode(x=layout.x, y=height, order=alt.Order("order:Q"), **looks)
        if self._is_picked:
            line = line.add_params(_PICK)
        look, name = {"size": 55, **layout.clip}, f"hover_{layout.number}"
        place = {"x": layout.x, "y": layout.y, "color": self._colour()}
        return [line, nearest_dot(alt.Chart(), name, look, **place)]

    def _sharing(self, rows: pl.DataFrame, *layers: AnyChart) -> list[AnyChart]:
        """Return layers of rows with a ``line``, whose labels are looked up."""
        known = [name for name in _OF_ROWS if name in rows.columns]
        fields = [name for name in self.labels.columns if name != "line"]
        labels = alt.LookupData(data=self.labels, key="line", fields=fields)
        data = as_text(rows.select(known))
        # Of what is picked in a layer of layers, Vega-Lite makes the signal twice.
        parts = layers if self._is_picked else [alt.layer(*layers)]
        return [
            part.properties(data=data).transform_lookup(lookup="line", from_=labels)
            for part in parts
        ]

    @property
    def _is_picked(self) -> bool:
        """Whether a click in the legend picks lines."""
        # Markers have a legend too, and Vega-Lite would bind it to the same signal.
        return self.alone and len(self.series) > 1 and not self.criteria

    def _opacity(self, rows: pl.DataFrame) -> dict[str, Any]:
        """Return the encoding that makes lines of few positives faint, and those not picked."""
        few = self.labels.filter(pl.col("line").is_in(rows["line"].implode()), "few")
        conditions: list[dict[str, Any]] = []
        if self._is_picked:
            conditions.append({"test": {"not": {"param": _PICK.name}}, "value": _GREYED})
        if few.height:
            conditions.append({"test": "datum.few", "value": FAINT})
        return {"opacity": alt.OpacityValue(1, condition=conditions)} if conditions else {}

    def _points(self, rows: pl.DataFrame, layout: PanelLayout) -> list[AnyChart]:
        fill = self._colour(alt.Fill, alt.FillValue)
        points = alt.Chart(_placed(rows, layout))
        return [self.marker(points, layout.x, layout.y, fill, xOffset=alt.ExprRef("datum.dx"))]

    def marker(self, points: Any, x: alt.X, y: alt.Y, fill: Any, **look: Any) -> AnyChart:
        look |= {"stroke": self.look.background, "strokeWidth": 1}
        mark = points.mark_point(filled=True, size=85, **look)
        beside: dict[str, Any] = {"direction": "vertical", "padding": 8} if self.alone else {}
        legend = alt.Legend(symbolFillColor=self.look.text, symbolStrokeWidth=0, **beside)
        shapes = alt.Scale(domain=self.criteria, range=_SHAPES[: len(self.criteria)])
        return mark.encode(
            x=x,
            y=y,
            fill=fill,
            shape=alt.Shape("criterion:N", scale=shapes, legend=legend),
            tooltip=tooltips(("criterion", *_AT_POINT, "fn", "tn", "f_score"), self.keys),
        )

    def reason(self, text: str | None, layout: PanelLayout) -> list[AnyChart]:
        if text is None:
            return []
        reason = alt.Chart(pl.DataFrame({"text": [text]})).mark_text(color=self.look.muted)
        x, y = alt.value(layout.width / 2), alt.value(layout.height / 2)
        return [reason.encode(x=x, y=y, text=alt.Text("text:N"))]

    def titled(self, layers: list[AnyChart], panel: PanelData, layout: PanelLayout) -> AnyChart:
        # In one call: each method of a chart copies all of it.
        size = {"width": layout.width, "height": layout.height}
        lines = _above(panel)
        if not panel.title and not lines:
            return alt.layer(*layers, **size).encode(**layout.axes)
        font, room = layout.font, layout.letters
        # Long names are shortened to leave room for the average precision.
        texts = [_line(name, area, room) for name, area in lines]
        # Without a title Vega draws no subtitle.
        if not panel.title or (len(panel.lines) > 1 and len(self.series) > 1):
            names = [name for name, _ in lines]
            layers, texts = [*layers, *self._keyed(names, texts, font - 1)], []
        above = alt.Title(
            short(panel.title, room),
            subtitle=[text or " " for text in texts],
            fontSize=font,
            subtitleFontSize=font - 1,
            offset=_ABOVE if texts else 0,
            frame="group",
        )
        return alt.layer(*layers, title=above, **size).encode(**layout.axes)

    def _keyed(self, names: list[str], lines: list[str], font: float) -> list[AnyChart]:
        height = font + 2
        places = [-_ABOVE - font / 2 - height * (len(names) - 1 - i) for i in range(len(names))]
        rows = pl.DataFrame({"series": names, "text": lines, "place": places})
        y = alt.Y("place:Q", scale=None, axis=None)
        text = alt.Chart(rows).mark_text(
            align="left", baseline="middle", fontSize=font, color=self.look.muted
        )
        named = rows.filter(pl.col("series") != "")
        indent = alt.value(_INDENT if named.height else 0)
        texts = text.encode(x=indent, y=y, text=alt.Text("text:N"))
        if named.is_empty():
            return [texts]
        swatch = alt.Chart(named).mark_point(shape="stroke", size=60, strokeWidth=2.5)
        # Its legend is that of the lines: another would be in conflict.
        return [swatch.encode(x=alt.value(4), y=y, color=self._colour()), texts]

    # --- encodings -----------------------------------------------------------------------------

    def _colour(self, channel: Any = alt.Color, value: Any = alt.ColorValue) -> Any:
        # A name that is in no legend is above its panel.
        is_only = len(self.series) == 1 and (not self.alone or self.labels.height == 1)
        if not self.series or is_only:
            return value(self.look.colours(1)[0])
        scale = alt.Scale(domain=self.series, range=self.look.colours(len(self.series)))
        legend = self._legend() if channel is alt.Color else None
        return channel("series:N", scale=scale, legend=legend)

    def _dashes(self) -> dict[str, Any]:
        dashes = self.look.dashes(len(self.series))
        if not dashes or dashes[-1] == dashes[0]:
            return {}
        scale = alt.Scale(domain=self.series, range=dashes)
        return {"strokeDash": alt.StrokeDash("series:N", scale=scale, legend=self._legend())}

    def _legend(self) -> alt.Legend:
        room = _LETTERS // (max(map(len, self.series)) + _LETTERS_OF_SWATCH)
        columns = max(room, 1)
        if self.alone and len(self.series) <= _LISTED:
            columns = 1
        return alt.Legend(symbolType="stroke", columns=columns)


def ribbon(rows: Any, x: alt.X, y: alt.Y, **look: Any) -> AnyChart:
    # The start point of a curve has none.
    area = rows.transform_filter("isValid(datum.precision_low)").mark_area(**look)
    return area.encode(x=x, y=y, y2=alt.Y2("precision_high:Q"))


def nearest_dot(rows: Any, name: str, look: dict[str, Any], **encodings: Any) -> AnyChart:
    """Return dots of which the one nearest the mouse shows itself and its tooltip."""
    nearest = alt.selection_point(
        name=name, nearest=True, on="pointerover", clear="pointerout", empty=False
    )
    opacity = alt.OpacityValue(0, condition={"param": name, "empty": False, "value": 1})
    # Without ARIA labels: a screen reader would read one per point.
    dot = rows.mark_circle(aria=False, **look)
    return dot.encode(**encodings, opacity=opacity).add_params(nearest)


def as_text(rows: pl.DataFrame) -> alt.InlineData:
    """Return rows as comma-separated text: a fifth of JSON, which names columns in every row."""
    kinds = {
        name: "number" if dtype.is_numeric() else "string" for name, dtype in rows.schema.items()
    }
    form = alt.CsvDataFormat(type="csv", parse=kinds)
    return alt.InlineData(values=rows.write_csv(), format=form)


def _is_clear(prevalences: pl.Series, layout: PanelLayout) -> pl.Expr:
    if layout.is_large:
        return pl.lit(value=True)
    pixel, at = layout.top / layout.height, pl.col("precision")
    below, above = at - 2 * _LABEL * pixel, at + 2 * pixel
    struck = [(below < prevalence) & (above > prevalence) for prevalence in prevalences]
    return ~pl.any_horizontal(pl.lit(value=False), *struck)


def _labels(ends: pl.DataFrame, room: float) -> pl.DataFrame:
    """Return labels of curves at their ends; those with less room between them share one."""
    groups: list[list[tuple[float, float]]] = []
    for at, f_score in ends.sort("precision").select("precision", "f_score").iter_rows():
        if not groups or at - groups[-1][-1][0] >= room:
            groups.append([])
        groups[-1].append((at, f_score))
    texts = [f"F1 = {', '.join(f'{f:.3g}' for _, f in group)}" for group in groups]
    places = [sum(at for at, _ in group) / len(group) for group in groups]
    return pl.DataFrame({"recall": 1.0, "precision": places, "label": texts})


def _line(name: str, area: str, room: int) -> str:
    if not name or not area:
        return f"{name}{area}"
    return f"{short(name, max(room + 1 - len(area), _SHORTEST_NAME))}: {area}"


def _above(panel: PanelData) -> list[tuple[str, str]]:
    return [*panel.lines, *([("", panel.size)] if panel.size else [])]


def _layers(
    *kinds: tuple[Callable[[pl.DataFrame, PanelLayout], list[AnyChart]], pl.DataFrame],
    layout: PanelLayout,
) -> list[AnyChart]:
    return [layer for draw, rows in kinds if rows.height for layer in draw(rows, layout)]


# --- markers that coincide are set apart -------------------------------------------------------

_APART = 10.0  # px


def _placed(points: pl.DataFrame, layout: PanelLayout) -> pl.DataFrame:
    """Return the points that can be drawn, with the shift ``dx`` of those that are too close."""
    drawable = points.drop_nulls(["recall", "precision"])
    x = pl.col("recall") * layout.width
    y = pl.col("precision") / layout.top * layout.height
    place = ["criterion", (x / _APART).round(), (y / _APART).round()]
    number = pl.int_range(pl.len()) - (pl.len() - 1) / 2
    return drawable.with_columns(dx=(number * _APART).over(place))
