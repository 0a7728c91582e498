"""The panels of a chart, each made of layers: lines to read by, ribbons, steps, points, words.

Channels are objects here, ``alt.Order("order:Q")``: a mere text costs Altair 5 ms to understand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts.text import short
from frame_prc._charts.theme import LARGE, Look, Piece

Legend: TypeAlias = Literal["right", "top", "bottom"]

_TICKS = (0, 0.25, 0.5, 0.75, 1)
_TICK_LABEL = "datum.value == 0 || datum.value == 1 ? datum.value : format(datum.value, '.2f')"
_DASHED: dict[str, Any] = {"strokeDash": [4, 3], "strokeWidth": 1}
_SHAPES = ["diamond", "circle", "square", "triangle-up", "cross", "triangle-down"]

_TITLES = {"ap": "average precision", "f_score": "F score", "fpr": "false-positive rate"}
_FORMATS = {
    **dict.fromkeys(("precision", "recall", "f_score", "fpr", "prevalence"), ".4f"),
    **dict.fromkeys(("tp", "fp", "fn", "tn"), ",.12~g"),
}
_AT_POINT = ("threshold", "precision", "recall", "tp", "fp")


@dataclass(frozen=True)
class Panel:
    """What a panel shows: frames of rows with ``series``, and words above and within it.

    ``lines`` say of each series its name and its area.
    """

    title: str
    lines: list[tuple[str, str]]
    curve: pl.DataFrame
    roc: pl.DataFrame
    baselines: pl.DataFrame
    band: pl.DataFrame
    points: pl.DataFrame
    empty: str | None


@dataclass(frozen=True)
class Place:
    """Where a panel stands: its number, its size, and which of its axes have words."""

    number: int
    width: int
    height: int
    left: bool
    bottom: bool

    @property
    def is_large(self) -> bool:
        """Whether there is room for words in it."""
        return min(self.width, self.height) >= LARGE

    def x(self, column: str, title: str) -> alt.X:
        """Return the horizontal encoding."""
        axis = self._axis(title, labels=self.bottom, flush=True)
        return alt.X(f"{column}:Q", scale=_unit_scale(), axis=axis)

    def y(self, column: str, title: str) -> alt.Y:
        """Return the vertical encoding."""
        axis = self._axis(title, labels=self.left, flush=False)
        return alt.Y(f"{column}:Q", scale=_unit_scale(), axis=axis)

    def _axis(self, title: str, *, labels: bool, flush: bool) -> alt.Axis:
        ticks = _TICKS if min(self.width, self.height) > LARGE / 2 else _TICKS[::2]
        return alt.Axis(
            title=title if labels else None,
            labels=labels,
            values=list(ticks),
            labelExpr=_TICK_LABEL,
            labelFlush=flush,
        )


def _unit_scale() -> alt.Scale:
    return alt.Scale(domain=[0, 1], nice=False)


@dataclass(frozen=True)
class Pen:
    """What all panels are drawn with.

    Parameters
    ----------
    series
        The names of the lines that have colours of their own.
    legend
        Where the legend stands, if there are several.
    keys
        The titles of the columns ``key_0, ...``, to hover for.
    criteria
        The names of the operating points.
    iso
        Lines of equal F1, with ``label`` at their ends.
    """

    series: list[str]
    legend: Legend
    keys: dict[str, str]
    criteria: list[str]
    iso: pl.DataFrame
    look: Look

    def precision_recall(self, panel: Panel, place: Place) -> Piece:
        """Return precision over recall."""
        x, y = place.x("recall", "Recall"), place.y("precision", "Precision")
        layers = [
            *self._iso(x, y, place),
            *self._baselines(panel.baselines, place),
            *self._band(panel.band, x, place),
            *self._lines(panel.curve, x, y, "step-before", f"hover_{place.number}"),
            *self._points(panel.points, x, y),
            *self._words(panel.empty, place),
        ]
        return self._titled(layers, panel.title, panel.lines, place)

    def roc(self, panel: Panel, place: Place) -> Piece:
        """Return the true-positive rate over the false-positive rate."""
        x, y = place.x("fpr", "False-positive rate"), place.y("recall", "True-positive rate")
        chance = pl.DataFrame({"fpr": [0, 1], "recall": [0, 1]})
        layers = [
            alt.Chart(chance).mark_line(color=self.look.quiet, **_DASHED).encode(x=x, y=y),
            *self._lines(panel.roc, x, y, "linear", f"hover_{place.number}"),
            *self._points(panel.points, x, y),
        ]
        return self._titled(
            layers, "ROC" if panel.title else "", [("", " ") for _ in panel.lines], place
        )

    # --- layers --------------------------------------------------------------------------------

    def _iso(self, x: alt.X, y: alt.Y, place: Place) -> list[Piece]:
        if self.iso.is_empty():
            return []
        lines = alt.Chart(self.iso).mark_line(
            color=self.look.faint, strokeWidth=1, interpolate="monotone"
        )
        drawn: list[Piece] = [lines.encode(x=x, y=y, detail=alt.Detail("f_score:Q"))]
        words = alt.Chart(self.iso.drop_nulls("label")).mark_text(
            color=self.look.quiet, align="right", baseline="bottom", dx=-3, dy=-1, fontSize=9
        )
        if place.is_large:
            drawn.append(words.encode(x=x, y=y, text=alt.Text("label:N")))
        return drawn

    def _baselines(self, rows: pl.DataFrame, place: Place) -> list[Piece]:
        if rows.is_empty():
            return []
        own = rows.height > 1 and rows["series"].null_count() == 0
        rule = alt.Chart(rows).mark_rule(**_DASHED)
        baseline = rule.encode(
            y=place.y("prevalence", "Precision"),
            color=self._colour() if own else alt.ColorValue(self.look.quiet),
            tooltip=[_tooltip("prevalence")],
        )
        return [baseline]

    def _band(self, rows: pl.DataFrame, x: alt.X, place: Place) -> list[Piece]:
        area = (
            alt.Chart(rows)
            # The rows are those of the curve, which counts them once, and has a start without any.
            .transform_filter("isValid(datum.precision_low)")
            .mark_area(opacity=0.22, interpolate="step-before")
            .encode(
                x=x,
                y=place.y("precision_low", "Precision"),
                y2=alt.Y2("precision_high:Q"),
                color=self._colour(),
            )
        )
        return [] if rows.is_empty() else [area]

    def _lines(
        self, rows: pl.DataFrame, x: alt.X, y: alt.Y, interpolate: Any, name: str
    ) -> list[Piece]:
        """Return lines through rows in their order, and a dot at the point nearest the mouse."""
        if rows.is_empty():
            return []
        line = (
            alt.Chart(rows)
            .mark_line(interpolate=interpolate, strokeWidth=1.6)
            .encode(x=x, y=y, order=alt.Order("order:Q"), color=self._colour(), **self._dashes())
        )
        nearest = alt.selection_point(
            name=name, nearest=True, on="pointerover", clear="pointerout", empty=False
        )
        # Without words for readers of the page, which every dot would repeat.
        dot = alt.Chart(rows).mark_circle(size=55, aria=False, tooltip=self._tooltip_of_nearest())
        dots = dot.encode(
            x=x,
            y=y,
            color=self._colour(),
            opacity=alt.OpacityValue(0, condition={"param": name, "empty": False, "value": 1}),
        )
        return [line, dots.add_params(nearest)]

    def _points(self, rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[Piece]:
        if rows.is_empty():
            return []
        mark = alt.Chart(rows).mark_point(
            filled=True, size=95, opacity=1, stroke=self.look.ground, strokeWidth=1
        )
        legend = alt.Legend(
            title=None, orient="bottom", symbolFillColor=self.look.text, symbolStrokeWidth=0
        )
        shapes = alt.Scale(domain=self.criteria, range=_SHAPES[: len(self.criteria)])
        point = mark.encode(
            x=x,
            y=y,
            fill=self._colour(alt.Fill, alt.FillValue, legend=False),
            shape=alt.Shape("criterion:N", scale=shapes, legend=legend),
            tooltip=self._tooltips("criterion", *_AT_POINT, "fn", "tn", "f_score"),
        )
        return [point]

    def _words(self, text: str | None, place: Place) -> list[Piece]:
        words = alt.Chart(pl.DataFrame({"text": [text]})).mark_text(color=self.look.quiet)
        x, y = alt.value(place.width / 2), alt.value(place.height / 2)
        return [] if text is None else [words.encode(x=x, y=y, text=alt.Text("text:N"))]

    def _titled(
        self, layers: list[Piece], title: str, lines: list[tuple[str, str]], place: Place
    ) -> Piece:
        # All at once: each method of a chart copies all of it.
        size = {"width": place.width, "height": place.height}
        if not title and not lines:
            return alt.layer(*layers, **size)
        font = 11.5 if place.is_large else 10.5
        room = int(place.width / font * 2.1)
        # A long name gives way to its area.
        words = [
            f"{short(name, max(room + 2 - len(area), _LEAST_NAME))} {area}".strip(" ") or " "
            for name, area in lines
        ]
        above = alt.Title(
            short(title, room),
            subtitle=words,
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
        """Return the encoding of dashes, where colours are not enough."""
        dashes = self.look.dashes(len(self.series))
        if dashes[-1] == dashes[0]:
            return {}
        scale = alt.Scale(domain=self.series, range=dashes)
        return {"strokeDash": alt.StrokeDash("series:N", scale=scale, legend=self._legend())}

    def _legend(self) -> alt.Legend:
        if self.legend == "right":
            return alt.Legend(title=None, symbolType="stroke", orient="right")
        columns = 2 if max(map(len, self.series)) > _WIDE else 5
        return alt.Legend(
            title=None,
            symbolType="stroke",
            orient=self.legend,
            direction="horizontal",
            columns=columns,
        )

    def _tooltip_of_nearest(self) -> alt.ExprRef:
        """Return what to say of the point nearest the mouse.

        The mouse is then over the cell of that point, whose datum it is. Vega-Lite 6.1 looks for
        text in the cell itself, so the expression is our own (vega-lite pull request 9707).
        """
        row = "(isObject(datum.datum) ? datum.datum : datum)"
        said = {title: f"{row}.{name}" for name, title in self.keys.items()}
        for name in ("ap", *_AT_POINT):
            value = f"{row}.{name}"
            shown = f"format({value}, '{_FORMATS[name]}')" if name in _FORMATS else value
            said[_TITLES.get(name, name)] = shown
        pairs = ", ".join(f"{json.dumps(title)}: {value}" for title, value in said.items())
        return alt.ExprRef(f"{{{pairs}}}")

    def _tooltips(self, *columns: str) -> list[alt.Tooltip]:
        keys = [alt.Tooltip(f"{name}:N", title=title) for name, title in self.keys.items()]
        return [*keys, *map(_tooltip, columns)]


_WIDE = 16  # characters
_LEAST_NAME = 9


def _tooltip(column: str) -> alt.Tooltip:
    title = _TITLES.get(column, column)
    if column in _FORMATS:
        return alt.Tooltip(f"{column}:Q", title=title, format=_FORMATS[column])
    return alt.Tooltip(f"{column}:N", title=title)
