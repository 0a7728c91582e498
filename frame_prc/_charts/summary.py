"""The chart of average precisions: a row or a cell per segment, or a line per model over time."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts import marks, summary_data, text
from frame_prc._charts.data import Segments
from frame_prc._charts.options import AnyChart, Kind, Look, Sort
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import FEW, RANDOM
from frame_prc._lazy import key_names
from frame_prc._request.specs import Comparison
from frame_prc.exceptions import OptionError

_LETTERS = 125
_BELOW_TITLE = 12  # px
_KEYS_OF_HEAT_MAP = 2


def plot_summary(
    segments: Segments,
    comparison: Comparison | None,
    baseline: str | None,
    sort: Sort,
    look: Look,
    kind: Kind = "dots",
) -> AnyChart:
    times = summary_data.find_times(segments) if sort is None and kind == "dots" else None
    if kind == "heatmap":
        _check_heat_map(segments, sort, baseline)
        comparison, sort = None, "key"
    data = summary_data.summary_data(segments, comparison, baseline, sort, times)
    panels: HeatMap | RowPanels | TimePanels
    if kind == "heatmap":
        panels = HeatMap(data, look)
    elif data.times is None:
        panels = RowPanels(data, look)
    else:
        panels = TimePanels(data, look, data.times)
    title = alt.Title(
        text.safe(look.title or data.quantity),
        subtitle=text.paragraph(summary_data.notes(data, kind), _LETTERS),
        offset=_BELOW_TITLE,
    )
    keys, areas = segments.keys, data.dots[AVERAGE_PRECISION]
    scales = alt.ScaleResolveMap(
        color="shared", yOffset="independent", x="shared" if data.times else "independent"
    )
    return alt.concat(
        *panels.cells(),
        columns=panels.columns,
        spacing=10 if data.times is None else 22,  # for the halves of two dates
        title=title,
        description=text.description(data.quantity, len(data.names), "row", keys, areas),
        resolve=alt.Resolve(scale=scales),
        config=alt.Config(**look.config()),
    )


def _check_heat_map(segments: Segments, sort: Sort, baseline: str | None) -> None:
    if (count := len(segments.own_keys)) != _KEYS_OF_HEAT_MAP:
        raise OptionError(f"kind='heatmap' is given with {count} keys", "two keys in by=")
    for name, given in (("sort", sort), ("baseline", baseline)):
        if given is not None:
            raise OptionError(f"{name}= is given with kind='heatmap'", f"{name}= with kind='dots'")


# --- what all summaries share ------------------------------------------------------------------

PADDING = 9  # px between the frame and what is drawn
NUMBERS = "~g"  # 0.25, and 0 without decimals
DASHED = [4, 3]
INTERVAL = ("ci_low", "ci_high")

_LONGEST_IN_TITLE, _LONGEST_SIDE = 20, 12  # letters of a name
_NO_AREA = 1.0  # the end of an axis without a value


@dataclass(frozen=True)
class Quantity:
    rows: pl.DataFrame
    column: str
    title: str
    ends: tuple[float, float]
    colour: Any
    tooltips: list[alt.Tooltip]

    @property
    def scale(self) -> alt.Scale:
        return alt.Scale(domain=list(self.ends), nice=False, padding=PADDING)


@dataclass(frozen=True)
class SummaryMarks:
    data: summary_data.SummaryData
    look: Look

    # --- what is shown ---------------------------------------------------------------------------

    def areas(self) -> Quantity:
        dots, title = self.data.dots, self.data.quantity
        drawn = dots.drop_nulls(AVERAGE_PRECISION)
        values = pl.concat(drawn[name] for name in (AVERAGE_PRECISION, "ci_high", RANDOM))
        largest = max(values.drop_nulls(), default=0)
        ends = (0.0, largest or _NO_AREA)
        return Quantity(dots, AVERAGE_PRECISION, title, ends, self._colour(), self.tooltips())

    def differences(self) -> Quantity:
        """Return the differences; of several models, each has its colour."""
        rows = self.data.differences
        p = "p_adjusted" if "p_adjusted" in rows.columns else "p_value"
        measures = ("difference", *INTERVAL, p)
        model, baseline = self._pair(_LONGEST_IN_TITLE)
        title, ends = f"{model} \N{MINUS SIGN} {baseline}", summary_data.difference_domain(rows)
        several = rows["model"].n_unique() > 1
        colour = self._colour() if several else alt.ColorValue(self.look.text)
        names = {"name": "segment", "model": "model", "baseline": "compared with"}
        tips = marks.tooltips([name for name in measures if name in rows.columns], names)
        return Quantity(rows, "difference", title, ends, colour, tips)

    def _colour(self) -> Any:
        models = self.data.models
        if len(models) == 1:
            return alt.ColorValue(self.look.colours(1)[0])
        scale = alt.Scale(domain=models, range=self.look.colours(len(models)))
        legend = alt.Legend(symbolType="circle", symbolSize=60, symbolStrokeWidth=0)
        return alt.Color("model:N", scale=scale, legend=legend)

    def sides(self) -> tuple[str, str]:
        model, baseline = self._pair(_LONGEST_SIDE)
        return f"{baseline} better", f"{model} better"

    def _pair(self, most: int) -> tuple[str, str]:
        rows = self.data.differences
        pairs = rows.select("model", "baseline").unique(maintain_order=True).rows()
        model, baseline = pairs[0]
        return text.short(text.safe(model if len(pairs) == 1 else "model"), most), text.short(
            text.safe(baseline), most
        )

    # --- marks -----------------------------------------------------------------------------------

    def dots(self, rows: pl.DataFrame, size: int, ends: Any = None, **place: Any) -> list[AnyChart]:
        hollow = alt.Chart(summary_data.uncertain(rows))
        return marks.dots(alt.Chart(rows), hollow, size, self.look, ends, **place)

    def side(self, word: str, **place: Any) -> AnyChart:
        """Return a word beside the differences; ``place`` has its alignment and its ``x, y``."""
        at = {name: alt.value(place.pop(name)) for name in ("x", "y")}
        mark = alt.Chart(pl.DataFrame({"text": [word]})).mark_text(
            fontSize=10, color=self.look.muted, **place
        )
        return mark.encode(**at, text=alt.Text("text:N"))

    def no_difference(self, **at: Any) -> AnyChart:
        zero = alt.Chart(pl.DataFrame({"difference": [0.0]}))
        return zero.mark_rule(color=self.look.muted, strokeDash=DASHED).encode(**at)

    # --- tooltips --------------------------------------------------------------------------------

    def tooltips(self) -> list[alt.Tooltip]:
        names, quantity = self.data.segments.keys, self.data.quantity.lower()
        keys = dict(zip(key_names(len(names)), map(text.column_title, names), strict=True))
        others = (*INTERVAL, "prevalence", RANDOM, "n", "n_pos", "status_text")
        area = alt.Tooltip(f"{AVERAGE_PRECISION}:Q", title=quantity, format=".4f")
        return [*marks.tooltips((), keys), area, *marks.tooltips(others, {})]


# --- a row per segment -------------------------------------------------------------------------

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
    @property
    def columns(self) -> int:
        return 3

    def cells(self) -> list[AnyChart]:
        panels = [self._areas(), self._sizes()]
        return [*panels, self._difference_panel()] if self.data.has_differences else panels

    # --- panels ----------------------------------------------------------------------------------

    def _areas(self) -> AnyChart:
        areas, y = self.areas(), self._y(labels=True)
        defined = areas.rows.drop_nulls(AVERAGE_PRECISION)
        ticks = alt.Chart(defined).mark_tick(color=self.look.muted, thickness=1.5, height=11)
        chance = self._x(replace(areas, column=RANDOM))
        layers = [
            *self._lines_between_rows(labels=True),
            ticks.encode(x=chance, y=y, tooltip=areas.tooltips),
            *self._connections(defined, y),
            *self._dots_and_intervals(areas, self.data.models, y),
            *self._reasons(y),
        ]
        width = _NARROW if self.data.has_differences else _WIDE
        return alt.layer(*layers, width=self.look.width or width, height=self._height)

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
        if len(self.data.models) == 1:
            return []
        ends = dots.group_by("name", maintain_order=True).agg(
            low=pl.col(AVERAGE_PRECISION).min(), high=pl.col(AVERAGE_PRECISION).max()
        )
        line = alt.Chart(ends).mark_rule(color=self.look.faint, strokeWidth=7, strokeCap="round")
        return [line.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y)]

    def _reasons(self, y: alt.Y) -> list[AnyChart]:
        undefined = self.data.dots.filter(pl.col(AVERAGE_PRECISION).is_null())
        if undefined.is_empty():
            return []
        rows = alt.Chart(undefined.unique("name", maintain_order=True))
        words = rows.mark_text(align="left", fontSize=11, color=self.look.muted)
        return [words.encode(x=alt.value(6), y=y, text=alt.Text("status_text:N"))]

    def _sizes(self) -> AnyChart:
        table = self.data.dots.group_by("name", maintain_order=True).agg("n_pos", "n", "status")
        texts = [
            f"{_range(row['n_pos'])} / {_range(row['n'])}{_few(row['status'])}"
            for row in table.iter_rows(named=True)
        ]
        rows = table.select("name", pl.Series("sizes", texts, dtype=pl.String))
        words = alt.Chart(rows).mark_text(
            color=self.look.muted, align="right", fontSize=11, limit=_LONGEST_SIZES
        )
        title = alt.Title(
            "positives / total", fontSize=11, fontWeight="normal", anchor="end", offset=4
        )
        y = self._y(labels=False)
        drawn = words.encode(x=alt.value(_SIZES), y=y, text=alt.Text("sizes:N"))
        return alt.layer(drawn, *self._lines_between_rows(labels=False)).properties(
            width=_SIZES, height=self._height, view=alt.ViewConfig(stroke=None), title=title
        )

    def _difference_panel(self) -> AnyChart:
        shown, y = self.differences(), self._y(labels=False)
        compared = shown.rows["model"].unique().to_list()
        layers = [
            *self._lines_between_rows(labels=False),
            self.no_difference(x=self._x(shown)),
            *self._dots_and_intervals(shown, [m for m in self.data.models if m in compared], y),
            *self._sides(),
        ]
        return alt.layer(*layers, width=_DIFFERENCES, height=self._height)

    def _sides(self) -> list[AnyChart]:
        below, above = self.sides()
        y = -_ABOVE[self._is_long]
        return [
            self.side(below, x=0, y=y, align="left"),
            self.side(above, x=_DIFFERENCES, y=y, align="right"),
        ]

    def _dots_and_intervals(
        self, shown: Quantity, models: Sequence[str], y: alt.Y
    ) -> list[AnyChart]:
        rows, (low, high) = shown.rows.drop_nulls(shown.column), INTERVAL
        encodings = {
            "y": y,
            "yOffset": alt.YOffset("model:N", scale=alt.Scale(domain=models, padding=0.75)),
            "color": shown.colour,
            "tooltip": shown.tooltips,
        }
        ends = {"x": alt.X(f"{low}:Q"), "x2": alt.X2(f"{high}:Q")}
        return self.dots(rows, _DOT, ends, x=self._x(shown), **encodings)

    # --- encodings -------------------------------------------------------------------------------

    @property
    def _height(self) -> int:
        return max(_ROW, _MODEL * len(self.data.models)) * len(self.data.names)

    def _x(self, shown: Quantity) -> alt.X:
        count = _TICKS_OF_DIFFERENCES if shown.column == "difference" else _TICKS
        side: Literal["top", "bottom"] = "top" if self._is_long else "bottom"
        axis = alt.Axis(format=NUMBERS, tickCount=count, orient=side)
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
            grid=labels,
            labelFontWeight=bold if self.data.whole else alt.Undefined,
        )
        # A band scale in every panel, for one alignment; `yOffset` needs it in two of them.
        scale = alt.Scale(type="band", domain=names, paddingInner=0.2, paddingOuter=0.1)
        return alt.Y("name:N", sort=names, axis=axis, scale=scale)


def _range(sizes: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(map(text.count_text, (min(sizes), max(sizes)))))


def _few(statuses: Sequence[str]) -> str:
    return " (few)" if not set(FEW).isdisjoint(statuses) else ""


# --- a cell per segment ------------------------------------------------------------------------

_ROOM, _NARROWEST, _WIDEST, _HEIGHT = 640, 46, 90, 24  # px of all columns, and of a cell
_FAINT = 0.35
_NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class HeatMap(SummaryMarks):
    """A panel per model, with the key that has fewer values in columns."""

    @property
    def columns(self) -> int:
        return max(_ROOM // self._width, 1)

    def cells(self) -> list[AnyChart]:
        dots = self.data.dots.filter(pl.col("segment") >= 0)
        texts = [text.count_text(n) if n else _NONE for n in dots["n_pos"]]
        cells = dots.with_columns(pl.Series("text", texts), few=pl.col("status").is_in(FEW))
        models = self.data.models
        if len(models) == 1:
            return [self._panel(cells)]
        return [self._panel(cells.filter(model=model), title=model) for model in models]

    def _panel(self, cells: pl.DataFrame, **title: Any) -> AnyChart:
        row, column = self._keys
        columns = [row, column, AVERAGE_PRECISION, "few", "text"]
        place = {
            "x": alt.X(f"{column}:N", sort=self._values(column), axis=self._axis(column, "top")),
            "y": alt.Y(f"{row}:N", sort=self._values(row), axis=self._axis(row, "left")),
            "tooltip": self.tooltips(),
        }
        defined = cells.drop_nulls(AVERAGE_PRECISION)
        faint = alt.condition("datum.few", alt.value(_FAINT), alt.value(1))
        boxes = alt.Chart(defined).mark_rect().encode(color=self._area(), opacity=faint, **place)
        is_dark = f"!datum.few && datum.{AVERAGE_PRECISION} > {sum(self._ends) / 2}"
        colour = alt.condition(is_dark, alt.value(self.look.background), alt.value(self.look.text))
        words = alt.Chart(cells.select(columns)).mark_text(fontSize=10.5)
        numbers = words.encode(x=place["x"], y=place["y"], text=alt.Text("text:N"), color=colour)
        size = {"width": self._width, "height": _HEIGHT * len(self._values(row))}
        return alt.layer(boxes, numbers, **size, **title)

    # --- encodings -------------------------------------------------------------------------------

    @property
    def _keys(self) -> list[str]:
        return sorted(self.data.segments.own_keys, key=lambda key: -len(self._values(key)))

    def _values(self, key: str) -> list[str]:
        table = self.data.segments.table
        dots = self.data.dots.filter(pl.col("segment") >= 0)
        ordered = dots.select(key, text.number_by(table, [key], "number")).sort("number")
        return ordered[key].unique(maintain_order=True).to_list()

    @property
    def _width(self) -> int:
        count = len(self._values(self._keys[1]))
        return self.look.width or count * max(min(_ROOM // count, _WIDEST), _NARROWEST)

    def _axis(self, key: str, side: Any) -> alt.Axis:
        keys = self.data.segments.keys
        title = text.column_title(keys[int(key.removeprefix("key_"))])
        return alt.Axis(title=title, orient=side, labelAngle=0, labelLimit=160)

    @property
    def _ends(self) -> tuple[float, float]:
        enough = self.data.dots.filter(~pl.col("status").is_in(FEW))
        known = [*enough[AVERAGE_PRECISION].drop_nulls()]
        return min(known, default=0.0), max(known, default=1.0)

    def _area(self) -> alt.Color:
        scale = alt.Scale(
            domain=list(self._ends), range=[self.look.faint, self.look.colours(1)[0]], clamp=True
        )
        legend = alt.Legend(title=self.data.quantity, gradientLength=160, format=NUMBERS)
        return alt.Color(f"{AVERAGE_PRECISION}:Q", scale=scale, legend=legend)


# --- over time ---------------------------------------------------------------------------------

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
    times: summary_data.Times

    def cells(self) -> list[AnyChart]:
        kinds = [self.areas(), *([self.differences()] if self.data.has_differences else [])]
        drawn = [(panel, shown) for panel in range(self._count) for shown in kinds]
        return [
            self._panel(
                panel,
                shown,
                left=len(kinds) > 1 or number % self.columns == 0,
                bottom=number >= len(drawn) - self.columns,
            )
            for number, (panel, shown) in enumerate(drawn)
        ]

    @property
    def columns(self) -> int:
        return self._grid[1]

    @property
    def _count(self) -> int:
        return self.data.dots["panel"].n_unique()

    @property
    def _grid(self) -> tuple[int, int, _Size, _Size]:
        grids = _PAIRED_GRIDS if self.data.has_differences else _GRIDS
        return next(grid for grid in grids if self._count <= grid[0])

    # --- panels ----------------------------------------------------------------------------------

    def _panel(self, panel: int, shown: Quantity, *, left: bool, bottom: bool) -> AnyChart:
        rows, is_area = _of_panel(shown, panel), shown.column == AVERAGE_PRECISION
        width, height = self._grid[2] if is_area else self._grid[3]
        if is_area or self._count == 1:
            width = self.look.width or width
        x = time_axis(
            self.data.dots["time"], width, title=self.times.title if bottom else None, labels=bottom
        )
        axis = alt.Axis(
            title=shown.title if left else None,
            labels=left,
            tickCount=5 if is_area else 4,
            format=NUMBERS,
        )
        y = alt.Y(f"{shown.column}:Q", axis=axis, scale=shown.scale)
        beside = self._chance(rows, x, height) if is_area else self._zero(y, height)
        layers = [*beside, *self._lines(rows, x, y, shown)]
        above = {}
        if is_area and self._count > 1:
            name = text.short(self.data.dots.filter(panel=panel)["panel_name"][0])
            above = {"title": alt.Title(name, fontSize=11.5, offset=6, frame="group")}
        return alt.layer(*layers, width=width, height=height, **above)

    def _chance(self, rows: pl.DataFrame, x: alt.X, height: int) -> list[AnyChart]:
        """Return a line at a random ranking, and a cross where there is no average precision."""
        undefined = rows.filter(pl.col(AVERAGE_PRECISION).is_null())
        line = alt.Chart(rows.drop_nulls(AVERAGE_PRECISION)).mark_line(
            color=self.look.muted, strokeDash=DASHED, strokeWidth=1
        )
        chance = line.encode(x=x, y=alt.Y(f"{RANDOM}:Q"), detail=_details("run"))
        if undefined.is_empty():
            return [chance]
        cross = alt.Chart(undefined.unique("time", maintain_order=True)).mark_text(
            text=summary_data.UNDEFINED, fontSize=13, color=self.look.muted
        )
        return [chance, cross.encode(x=x, y=alt.value(height - PADDING), tooltip=self.tooltips())]

    def _zero(self, y: alt.Y, height: int) -> list[AnyChart]:
        below, above = self.sides()
        return [
            self.no_difference(y=y),
            self.side(above, x=4, y=3, align="left", baseline="top"),
            self.side(below, x=4, y=height - 3, align="left", baseline="bottom"),
        ]

    def _lines(self, rows: pl.DataFrame, x: alt.X, y: alt.Y, shown: Quantity) -> list[AnyChart]:
        defined, colour = rows.filter(pl.col("run").is_not_null()), shown.colour
        line = alt.Chart(defined).mark_line(strokeWidth=1.6)
        size = 30 if rows["time"].n_unique() <= _MANY else 12
        return [
            *_ribbons(rows, x, colour),
            line.encode(x=x, y=y, detail=_details("run"), color=colour),
            *self.dots(defined, size, x=x, y=y, color=colour, tooltip=shown.tooltips),
        ]


def time_axis(times: pl.Series, width: int, **look: Any) -> alt.X:
    """Return the axis of a series, of a width in px, with ticks at some times: periods begin."""
    known, count = times.drop_nulls().unique().sort(), max(2, width // _LABEL)
    ticks = known.gather_every(math.ceil(known.len() / count))
    are_days = (known % _DAY == 0).all() or known[-1] - known[0] >= count * _DAY
    form = "%Y-%m-%d" if are_days else "%m-%d %H:%M"
    axis = alt.Axis(values=_moments(ticks), format=form, labelOverlap=True, **look)
    # A layer without rows has no domain of its own.
    ends = _moments(pl.concat([known.head(1), known.tail(1)]))
    scale = alt.Scale(type="utc", padding=PADDING, domain=ends)
    return alt.X(f"{times.name}:T", axis=axis, scale=scale)


def _moments(times: pl.Series) -> list[alt.DateTime]:
    """Return times in parts: the interpreter of a page without eval takes a number for a year."""
    return [
        alt.DateTime(
            year=time.year, month=time.month, date=time.day, hours=time.hour,
            minutes=time.minute, seconds=time.second, utc=True,
        )
        for time in times.cast(pl.Datetime("ms"))
    ]  # fmt: skip


def _of_panel(shown: Quantity, panel: int) -> pl.DataFrame:
    """Return the rows of a panel in order, with the number of the ``run`` that a value is in."""
    own = shown.rows.filter(pl.col("panel") == panel, pl.col("time").is_not_null())
    return own.sort("model", "time").with_columns(run=_runs(shown.column))


def _runs(value: str) -> pl.Expr:
    undefined = pl.col(value).is_null()
    return pl.when(~undefined).then(undefined.cum_sum().over("model"))


def _ribbons(rows: pl.DataFrame, x: alt.X, colour: Any) -> list[AnyChart]:
    """Return the intervals; as a bar where a point stands alone, since a ribbon has no width."""
    low, high = INTERVAL
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
