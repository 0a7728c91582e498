"""The chart of curves: its panels, made of layers; their arrangement, its title and notes.

Channels are objects here, such as ``alt.Order("order:Q")``: Altair takes 5 ms to parse a string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts import curve_rows, marks, text
from frame_prc._charts.data import Segments
from frame_prc._charts.marks import PanelLayout, tooltips
from frame_prc._charts.options import FAINT, ISO_F1, AnyChart, ChartOptions, Look
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.operating_points import iso_lines
from frame_prc._inference.areas import ROC_AUC
from frame_prc._lazy import key_names, left_join

_LETTERS = 120, 90  # of a note above several panels, and above one
_NOTED_ERROR = 0.005  # a pixel is 0.0024 of a large panel
_MOST_WITH_ISO = 6  # panels
_ISO_STEPS = 50
_LOWEST_RECALL = 0.05
_MOST_IN_TABLE = 60  # rows
_NAMED_POINTS = 3
# Beside each other, panels have the halves of two numbers between them.
_SPACING = {"row": 14, "column": 8}


@dataclass(frozen=True)
class CurveChart:
    """What a chart of curves shows; ``choice`` says which segments have lines, if not all have."""

    segments: Segments
    choice: str
    lines: pl.DataFrame
    rows: curve_rows.ChartRows
    options: ChartOptions

    @classmethod
    def of(cls, segments: Segments, options: ChartOptions) -> CurveChart:
        most = options.most_in_one_panel
        segments, lines, choice = curve_rows.chosen_lines(segments, options.facet, most)
        rows = curve_rows.chart_rows(segments, lines, options)
        if options.roc:
            areas = left_join(lines.select("line"), segments.roc_areas(), ["line"])[ROC_AUC]
            known = [f"ROC AUC {text.rate_text(one)}" if one is not None else "" for one in areas]
            lines = lines.with_columns(pl.Series("roc_area", known))
        return cls(segments, choice, lines, rows, options)

    @property
    def count(self) -> int:
        return self.lines["panel"].n_unique()

    @property
    def f_scores(self) -> tuple[float, ...]:
        if self.options.iso_f1 is not None:
            return self.options.iso_f1
        return ISO_F1 if self.count <= _MOST_WITH_ISO else ()

    @property
    def top(self) -> float:
        """Where the axis of precision ends: below 1 if all that is drawn is low."""
        if self.options.y != "auto":
            return self.options.y
        curve, points = self.rows.curve, self.rows.points
        shown = [curve.filter(pl.col("recall") > _LOWEST_RECALL)["precision"]]
        shown += [points["precision"]] if points.height else []
        return text.end_of(pl.concat(shown), room=1.04)

    # --- panels ----------------------------------------------------------------------------------

    def panels(self) -> list[PanelData]:
        found = [self._panel(number) for number in range(self.count)]
        return found if len(found) != 1 else [replace(found[0], title="", size="", lines=[])]

    def _panel(self, number: int) -> PanelData:
        own = self.lines.filter(panel=number)
        in_legend = own.height == self.lines.height > 1
        areas = zip(own["series"], curve_rows.area_texts(own), strict=True)
        statuses = map(text.status_text, own["status"].unique(maintain_order=True))
        return PanelData(
            title=own["panel_name"][0],
            size=curve_rows.common_size(own),
            lines=[] if in_legend else list(areas),
            roc_lines=own.select("name", "roc_area").rows() if self.options.roc else [],
            rows=self.rows.of_panel(number),
            baselines=curve_rows.baselines(own),
            empty=None if own[AVERAGE_PRECISION].count() else ", ".join(statuses),
        )

    def renderer(self) -> PanelRenderer:
        alone, names = self.count == 1, self.segments.keys
        # What has no curve is not in a legend of curves.
        drawn = self.lines.drop_nulls(AVERAGE_PRECISION) if alone else self.lines
        series = drawn.unique("colour", keep="first").sort("colour")["series"].to_list()
        return PanelRenderer(
            series=series,
            labels=curve_rows.labels_of(self.lines),
            alone=alone and not self.options.roc and self.options.x == "recall",
            keys=dict(zip(key_names(len(names)), map(text.column_title, names), strict=True)),
            criteria=list(map(text.criterion_text, self.options.targets)),
            iso=iso_lines(self.f_scores, _ISO_STEPS),
            look=self.options.look,
        )

    # --- arrangement -----------------------------------------------------------------------------

    def drawn(self) -> AnyChart:
        points = self.rows.points
        title = "Precision and recall, and ROC" if self.options.roc else "Precision and recall"
        properties = self.properties(title, "Precision-recall curves", self._notes())
        if not 0 < points.height <= _MOST_IN_TABLE:
            return self._grid(properties)
        # Scales of their own keep the legends at the panels.
        ascending, independent = self.segments.given.ascending, scales("independent")
        table = marks.point_table(points, self.options.look, ascending=ascending)
        return alt.vconcat(self._grid({}), table, resolve=independent, **properties)

    def _grid(self, properties: dict[str, Any]) -> AnyChart:
        renderer, paired = self.renderer(), self.options.roc
        kinds = [renderer.precision_recall, *([renderer.roc] if paired else [])]
        drawn = [(panel, draw) for panel in self.panels() for draw in kinds]
        grid = self.options.look.grid(self.count, paired=paired)
        layouts = marks.layouts_of(len(drawn), *grid, paired=paired, top=self.top)
        cells = [draw(panel, layout) for (panel, draw), layout in zip(drawn, layouts, strict=True)]
        if len(cells) == 1:
            return cells[0].properties(**properties) if properties else cells[0]
        look = {"spacing": _SPACING, "align": "each", "resolve": scales("shared")}
        return alt.concat(*cells, columns=grid[0], **look, **properties)

    # --- title and notes -------------------------------------------------------------------------

    def properties(self, title: str, about: str, notes: Iterator[str]) -> dict[str, Any]:
        errors = {"roc_error": self.rows.roc_error} if self.options.roc else {}
        look, names, areas = self.options.look, self.segments.keys, self.lines[AVERAGE_PRECISION]
        alone = self.count == 1 and not self.options.roc and self.options.x == "recall"
        above = self._panel(0).names() if self.count == 1 else []
        subtitle = [*above, *text.paragraph(filter(None, [self.choice, *notes]), _LETTERS[alone])]
        return {
            "title": alt.Title(text.safe(look.title or title), subtitle=subtitle, offset=12),
            "description": text.description(about, self.lines.height, "line", names, areas),
            "usermeta": {
                "frame_prc": {"precision_error": self.rows.precision_error, **errors},
                "embedOptions": {"tooltip": marks.BESIDE_POINT},
            },
            "config": alt.Config(**self.renderer().config),
        }

    def _notes(self) -> Iterator[str]:
        rows, top = self.rows, self.top
        if top < 1:
            yield f"The axis of precision ends at {top:g}."
        if self.options.roc:
            yield "Dashed: a random ranking, whose precision is the prevalence."
        else:
            yield "Dashed: prevalence, the precision of a random ranking."
        yield from self.notes_on_numbers()
        if self.lines["few"].any():
            yield f"(few), drawn faint: fewer than {text.few_of(self.segments.cluster)}."
        yield from self.notes_on_thinning()
        if rows.roc_error > _NOTED_ERROR:
            yield f"ROC curves are off by at most {rows.roc_error:.2g}."
        if undefined := _undefined(rows.points):
            yield f"Not reached: {_first_of(undefined)}."
        missing = self.lines.filter(pl.col(AVERAGE_PRECISION).is_null()).select("name", "status")
        if self.count == 1 < self.lines.height and missing.height:
            names = [f"{name} ({text.status_text(status)})" for name, status in missing.rows()]
            yield f"Not drawn: {_first_of(names)}."
        if rows.overlay_kind is not None and rows.overlay.height:
            look = "Grey" if rows.overlay["series"].n_unique() == 1 else "Wide and faint"
            yield f"{look}: {curve_rows.NOTES[rows.overlay_kind]}"

    def notes_on_numbers(self) -> Iterator[str]:
        """Yield at which prevalence they are, what is in brackets, and what ribbons are."""
        options, percent = self.options, text.percent_text(self.options.level)
        if self.segments.deploys:
            used_at = self.lines["prevalence"].drop_nulls().unique()
            one = f"a prevalence of {text.prevalence_text(used_at[0])}" if len(used_at) == 1 else ""
            yield f"Precision and areas at {one or 'the prevalence of use of each segment'}."
        if self.lines["ci_low"].count():
            yield f"AP: average precision [{percent} interval]."
        if options.intervals:
            yield f"Ribbon: {percent} interval of precision at each threshold."
        elif options.band:
            yield f"Ribbon: pointwise {percent} band of precision, at each recall by itself."
        if self.segments.cluster is not None:
            yield f"Intervals: {text.cluster_text(self.segments.cluster)}."

    def notes_on_thinning(self) -> Iterator[str]:
        if self.rows.precision_error > _NOTED_ERROR:
            yield f"Thinned: precision is off by at most {self.rows.precision_error:.2g}."


def scales(how: Literal["shared", "independent"]) -> alt.Resolve:
    """Return whether panels share the scales of colours and shapes, and so their legends."""
    return alt.Resolve(scale=alt.ScaleResolveMap(color=how, strokeDash=how, fill=how, shape=how))


def _undefined(points: pl.DataFrame) -> list[str]:
    if points.is_empty():
        return []
    keys = [name for name in points.columns if name.startswith("key_")]
    undefined = points.filter(pl.any_horizontal(pl.col("precision", "recall").is_null()))
    return [
        f"{text.joined(row[key] for key in keys)}: {row['criterion']}" if keys else row["criterion"]
        for row in undefined.iter_rows(named=True)
    ]


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - _NAMED_POINTS
    return f"{'; '.join(names[:_NAMED_POINTS])}{f' and {more} more' if more > 0 else ''}"


# --- panels, drawn in layers ---------------------------------------------------------------------

_ROC = " · ROC"
_DASHED: dict[str, Any] = {"strokeDash": [4, 3], "strokeWidth": 1}
_SHAPES = ["diamond", "circle", "square", "triangle-up", "cross", "triangle-down"]
_SHORTEST_NAME = 9
_ABOVE = 6  # px from a panel to the text above it
_LABEL = 10  # px, of a label
_INDENT = 13  # px, after a swatch
_IN_LEGEND, _OF_SWATCH = 120, 6  # letters in a row of the legend, and instead of a swatch
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
    rows: curve_rows.ChartRows
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
        tooltip = marks.tooltip_of((*self.keys, "area", *_AT_POINT), self.keys)
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
        layout = replace(layout, columns=marks.ROC, top=1.0)
        chance = pl.DataFrame({"fpr": [0, 1], "recall": [0, 1]})
        diagonal = alt.Chart(chance).mark_line(color=self.look.muted, **_DASHED)
        drawn = _layers(
            (self._lines, panel.rows.roc), (self._points, panel.rows.points), layout=layout
        )
        layers = [diagonal.encode(x=layout.x, y=layout.y), *drawn]
        # A blank line aligns the panel with the one beside it.
        blank = [*panel.roc_lines, *([("", " ")] if panel.size else [])]
        name = f"{text.short(panel.title, layout.letters - len(_ROC))}{_ROC}" if panel.title else ""
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
        return [rule.encode(y=y, color=colour, tooltip=[marks.tooltip("prevalence")])]

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

    def reason(self, words: str | None, layout: PanelLayout) -> list[AnyChart]:
        if words is None:
            return []
        reason = alt.Chart(pl.DataFrame({"text": [words]})).mark_text(color=self.look.muted)
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
            text.short(panel.title, room),
            subtitle=[line or " " for line in texts],
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
        words = alt.Chart(rows).mark_text(
            align="left", baseline="middle", fontSize=font, color=self.look.muted
        )
        named = rows.filter(pl.col("series") != "")
        indent = alt.value(_INDENT if named.height else 0)
        texts = words.encode(x=indent, y=y, text=alt.Text("text:N"))
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
        room = _IN_LEGEND // (max(map(len, self.series)) + _OF_SWATCH)
        columns = max(room, 1)
        if self.alone and len(self.series) <= _LISTED:
            columns = 1
        return alt.Legend(symbolType="stroke", columns=columns)


def ribbon(rows: Any, x: alt.X, y: alt.Y, **look: Any) -> AnyChart:
    # The start point of a curve has none.
    area = rows.transform_filter("isValid(datum.precision_low)").mark_area(**look)
    return area.encode(x=x, y=y, y2=alt.Y2("precision_high:Q"))


def nearest_dot(rows: Any, name: str, look: dict[str, Any], **encodings: Any) -> AnyChart:
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
    return f"{text.short(name, max(room + 1 - len(area), _SHORTEST_NAME))}: {area}"


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
