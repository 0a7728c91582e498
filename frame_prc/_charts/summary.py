"""The chart of average precisions: a row per segment, or a line per model over time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts import text
from frame_prc._charts.data import ChartSource
from frame_prc._charts.options import AnyChart, Kind, Look, Sort
from frame_prc._charts.summary_data import (
    SURE,
    SummaryData,
    Times,
    find_times,
    split_keys,
    summary_data,
    without_interval,
)
from frame_prc._charts.summary_panels import (
    DASHED,
    INTERVAL,
    NUMBERS,
    PADDING,
    HeatMap,
    Quantity,
    RowPanels,
    SummaryMarks,
)
from frame_prc._charts.text import short
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import FEW, FEW_OF_POSITIVES, RANDOM
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import DROPPED
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from altair.typing import ChartType


_LETTERS = 125
_BELOW_TITLE = 12  # px
_KEYS_OF_HEAT_MAP = 2


def plot_summary(
    source: ChartSource,
    comparison: Comparison | None,
    baseline: str | None,
    sort: Sort,
    look: Look,
    kind: Kind = "dots",
) -> ChartType:
    """Return the chart of average precisions, and of their differences if there are any."""
    times = find_times(source) if sort is None and kind == "dots" else None
    if kind == "heatmap":
        _check_heat_map(source, sort, baseline)
        comparison, sort = None, "key"
    data = summary_data(source, comparison, baseline, sort, times)
    panels = _panels(data, look, kind)
    title = alt.Title(
        text.safe(look.title or data.quantity),
        subtitle=text.paragraph(_notes(data, kind), _LETTERS),
        offset=_BELOW_TITLE,
    )
    areas = data.dots[AVERAGE_PRECISION]
    scales = alt.ScaleResolveMap(
        color="shared", yOffset="independent", x="shared" if data.times else "independent"
    )
    chart: ChartType = alt.concat(
        *panels.cells(),
        columns=panels.columns,
        spacing=10 if data.times is None else 22,  # for the halves of two dates
        title=title,
        description=text.description(data.quantity, len(data.names), "row", source.keys, areas),
        resolve=alt.Resolve(scale=scales),
        config=alt.Config(**look.config()),
    )
    return chart


def _panels(data: SummaryData, look: Look, kind: Kind) -> HeatMap | RowPanels | TimePanels:
    if kind == "heatmap":
        return HeatMap(data, look)
    return RowPanels(data, look) if data.times is None else TimePanels(data, look, data.times)


def _check_heat_map(source: ChartSource, sort: Sort, baseline: str | None) -> None:
    """Raise an error for what a heat map cannot show."""
    _, own = split_keys(source.keys)
    if len(own) != _KEYS_OF_HEAT_MAP:
        raise OptionError(f"kind='heatmap' is given with {len(own)} keys", "two keys in by=")
    for name, given in (("sort", sort), ("baseline", baseline)):
        if given is not None:
            raise OptionError(f"{name}= is given with kind='heatmap'", f"{name}= with kind='dots'")


# --- sentences that explain the marks ------------------------------------------------------------


def _notes(data: SummaryData, kind: Kind) -> Iterator[str]:
    if kind == "heatmap":
        yield from _on_cells(data)
        return
    yield from _on_intervals(data)
    yield from _on_chance(data)
    yield from _on_all_rows(data)
    if data.times is None and data.by_difference:
        yield "Sorted by difference."
    yield from _on_worst(data)
    yield from _on_few(data)
    if "p_adjusted" in data.differences.columns:
        yield "Intervals of differences are adjusted, as their p-values are."
    if data.are_cut:
        yield "Wide intervals of differences are cut off at the frame."
    yield from _on_what_is_not_drawn(data)
    yield from _on_rows(data)


def _on_cells(data: SummaryData) -> Iterator[str]:
    if REFERENCE in data.dots.columns:
        yield f"{_at_one_prevalence(data)}."
    yield "Numbers: positives."
    if data.dots["status"].is_in(FEW).any():
        yield "Faint: too few to rely on."
    yield from _on_rows(data)


def _on_intervals(data: SummaryData) -> Iterator[str]:
    cluster = data.segments.cluster
    if "ci_low" in data.dots.columns:
        assumed = "" if cluster is None else f", {text.cluster_text(cluster)}"
        yield f"{data.quantity} with {text.percent_text(data.segments.level)} intervals{assumed}."
    drawn = [data.dots.drop_nulls(AVERAGE_PRECISION)]
    if not data.differences.is_empty():
        drawn.append(data.differences.drop_nulls("difference"))
    if any(without_interval(rows).height for rows in drawn):
        yield f"Hollow dots without a {'ribbon' if data.times else 'line'} have no interval."


def _on_chance(data: SummaryData) -> Iterator[str]:
    dots, marks = data.dots, "Dashed" if data.times else "Ticks"
    if REFERENCE in dots.columns:
        yield f"{_at_one_prevalence(data)} ({marks.lower()})."
    elif data.segments.given.columns.weighted:
        yield f"{marks}: prevalence, close to the average precision of a random ranking."
    else:
        yield f"{marks}: average precision of a random ranking."
    if "below_chance" in dots["status"]:
        yield "An interval below chance is worse than random: is a lower score better?"


def _on_all_rows(data: SummaryData) -> Iterator[str]:
    """Say why all rows may lie above each segment that they are made of."""
    if data.whole is None:
        return
    is_whole, area = pl.col("name") == data.whole, pl.col(AVERAGE_PRECISION)
    is_above = area.filter(is_whole).first() > area.filter(~is_whole).max()
    if data.dots.group_by("model").agg(is_above=is_above)["is_above"].fill_null(value=False).all():
        yield (
            "All rows lie above every segment: scores also tell segments with many positives from "
            "those with few."
        )


def _at_one_prevalence(data: SummaryData) -> str:
    known = data.dots[REFERENCE].drop_nulls().head(1)
    shown = "".join(f", {text.prevalence_text(value)}" for value in known)
    return f"Compared at one prevalence for all segments{shown}"


def _on_worst(data: SummaryData) -> Iterator[str]:
    """Say if no segment of the only model can be named the worst."""
    if len(data.models) > 1 or data.times is not None:
        return
    worst = data.segments.likely_worst()
    if worst.height and worst["probability_worst"][0] < SURE:
        share = text.rounded_percent(worst["probability_worst"][0])
        unknown = "Which segment is the worst cannot be told"
        yield f"{unknown}: the likeliest has a probability of {share}."


def _on_few(data: SummaryData) -> Iterator[str]:
    marks, statuses = "Hollow" if data.times else "Hollow (few)", data.dots["status"]
    if statuses.is_in(FEW_OF_POSITIVES).any():
        few = text.few_of(data.segments.cluster, weighted=data.segments.given.columns.weighted)
        yield f"{marks}: fewer than {few}, intervals may cover less than stated."
    if "few_negatives" in statuses:
        yield f"{marks}: too few negatives, so that the value may be too high."


def _on_what_is_not_drawn(data: SummaryData) -> Iterator[str]:
    if data.times is None:
        return
    has_time = pl.col("time").is_not_null()
    undefined = data.dots.filter(pl.col(AVERAGE_PRECISION).is_null(), has_time)
    if undefined.height:
        reasons = ", ".join(undefined["status_text"].unique(maintain_order=True))
        yield f"{UNDEFINED}: no average precision ({reasons})."
    without_time = data.dots.filter(~has_time).unique("name")
    if without_time.height:
        sums = without_time.select(pl.col("n_pos", "n").sum()).row(0)
        positives, size = map(text.count_text, sums)
        yield f"Not drawn: {size} rows ({positives} positive) without a {data.times.title}."


def _on_rows(data: SummaryData) -> Iterator[str]:
    dropped = any(data.dots[name].sum() > 0 for name in DROPPED if name in data.dots.columns)
    if data.segments.models and dropped:  # in long data a row is of one model
        yield "Rows with a missing value are left out for all models."
    if data.segments.error is not None:
        yield f"From thinned curves, off by at most {data.segments.error:.2g}."


# --- over time ---------------------------------------------------------------------------------

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

    def _panel(self, panel: int, shown: Quantity, *, left: bool, bottom: bool) -> AnyChart:
        """Return the values of a panel with their intervals."""
        rows, is_area = _of_panel(shown, panel), shown.column == AVERAGE_PRECISION
        width, height = self._grid[2] if is_area else self._grid[3]
        if is_area or self._count == 1:
            width = self.look.width or width
        x, title = self._x(width, labels=bottom), shown.title if left else None
        axis = alt.Axis(title=title, labels=left, tickCount=5 if is_area else 4, format=NUMBERS)
        y = alt.Y(f"{shown.column}:Q", axis=axis, scale=shown.scale)
        beside = self._chance(rows, x, height) if is_area else self._zero(y, height)
        layers = [*beside, *self._lines(rows, x, y, shown)]
        above = {"title": self._title(panel)} if is_area and self._count > 1 else {}
        return alt.layer(*layers, width=width, height=height, **above)

    def _title(self, panel: int) -> alt.Title:
        name = self.data.dots.filter(panel=panel)["panel_name"][0]
        return alt.Title(short(name), fontSize=11.5, offset=6, frame="group")

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
            text=UNDEFINED, fontSize=13, color=self.look.muted
        )
        return [chance, cross.encode(x=x, y=alt.value(height - PADDING), tooltip=self.tooltips())]

    def _zero(self, y: alt.Y, height: int) -> list[AnyChart]:
        """Return a line where models are equal, and which is better above it and below."""
        below, above = self.sides()
        return [
            self.no_difference(y=y),
            self.side(above, x=4, y=3, align="left", baseline="top"),
            self.side(below, x=4, y=height - 3, align="left", baseline="bottom"),
        ]

    def _lines(self, rows: pl.DataFrame, x: alt.X, y: alt.Y, shown: Quantity) -> list[AnyChart]:
        """Return ribbons, lines and points; what is undefined leaves a gap."""
        defined, colour = rows.filter(pl.col("run").is_not_null()), shown.colour
        line = alt.Chart(defined).mark_line(strokeWidth=1.6)
        size = 30 if rows["time"].n_unique() <= _MANY else 12
        return [
            *_ribbons(rows, x, colour),
            line.encode(x=x, y=y, detail=_details("run"), color=colour),
            *self.dots(defined, size, x=x, y=y, color=colour, tooltip=shown.tooltips),
        ]

    # --- encodings -------------------------------------------------------------------------------

    def _x(self, width: int, *, labels: bool) -> alt.X:
        title = self.times.title if labels else None
        axis = time_axis(self.data.dots["time"], width, title=title, labels=labels)
        scale = alt.Scale(type="utc", nice=False, padding=PADDING)
        return alt.X("time:T", axis=axis, scale=scale)


def time_axis(times: pl.Series, width: int, **look: Any) -> alt.Axis:
    """Return an axis of a width in px with ticks at some of the times, which begin periods."""
    known, count = times.drop_nulls().unique().sort(), max(2, width // _LABEL)
    ticks = known.gather_every(math.ceil(known.len() / count))
    are_days = (known % _DAY == 0).all() or known[-1] - known[0] >= count * _DAY
    return alt.Axis(
        values=moments(ticks),
        format="%Y-%m-%d" if are_days else "%m-%d %H:%M",
        labelOverlap=True,
        **look,
    )


def moments(times: pl.Series) -> list[alt.DateTime]:
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
