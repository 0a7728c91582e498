"""The chart of curves: its panels, their arrangement, its title and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts import curve_rows, text
from frame_prc._charts.data import Segments
from frame_prc._charts.marks import BESIDE_POINT, layouts_of, point_table
from frame_prc._charts.options import ISO_F1, AnyChart, ChartOptions
from frame_prc._charts.panels import PanelData, PanelRenderer
from frame_prc._charts.text import round_end
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.operating_points import iso_lines
from frame_prc._inference.areas import ROC_AUC
from frame_prc._lazy import key_names, left_join

_LETTERS = 120, 90  # of a note above several panels, and above one
_NOTED_ERROR = 0.005  # a pixel is 0.0024 of a large panel
_MOST_WITH_ISO = 6  # panels
_ISO_STEPS = 50
_LOWEST_RECALL, _LOW, _ROOM = 0.05, 0.5, 1.04
_MOST_IN_TABLE = 60  # rows
_NAMED_POINTS = 3
# Beside each other, panels have the halves of two numbers between them.
_SPACING = {"row": 14, "column": 8}


def plot(segments: Segments, options: ChartOptions) -> AnyChart:
    return CurveChart.of(segments, options).drawn()


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
        shown = [*curve.filter(pl.col("recall") > _LOWEST_RECALL)["precision"].drop_nulls()]
        shown += [*points["precision"].drop_nulls()] if points.height else []
        largest = max(shown, default=1.0)
        return round_end(_ROOM * largest) if largest < _LOW else 1.0

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
        if not 0 < points.height <= _MOST_IN_TABLE:
            return self._grid(self.properties())
        # Scales of their own keep the legends at the panels.
        ascending, independent = self.segments.given.ascending, scales("independent")
        table = point_table(points, self.options.look, ascending=ascending)
        return alt.vconcat(self._grid({}), table, resolve=independent, **self.properties())

    def _grid(self, properties: dict[str, Any]) -> AnyChart:
        renderer, paired = self.renderer(), self.options.roc
        kinds = [renderer.precision_recall, *([renderer.roc] if paired else [])]
        drawn = [(panel, draw) for panel in self.panels() for draw in kinds]
        grid = self.options.look.grid(self.count, paired=paired)
        layouts = layouts_of(len(drawn), *grid, paired=paired, top=self.top)
        cells = [draw(panel, layout) for (panel, draw), layout in zip(drawn, layouts, strict=True)]
        if len(cells) == 1:
            return cells[0].properties(**properties) if properties else cells[0]
        look = {"spacing": _SPACING, "align": "each", "resolve": scales("shared")}
        return alt.concat(*cells, columns=grid[0], **look, **properties)

    # --- title and notes -------------------------------------------------------------------------

    def properties(self) -> dict[str, Any]:
        title = "Precision and recall, and ROC" if self.options.roc else "Precision and recall"
        return self.properties_of(title, "Precision-recall curves", self._notes())

    def properties_of(self, title: str, about: str, notes: Iterator[str]) -> dict[str, Any]:
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
                "embedOptions": {"tooltip": BESIDE_POINT},
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
        yield from self.notes_on_prevalence()
        yield from self.notes_on_areas()
        yield from self.notes_on_ribbons()
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

    def notes_on_prevalence(self) -> Iterator[str]:
        if self.segments.deploys:
            used_at = self.lines["prevalence"].drop_nulls().unique()
            one = f"a prevalence of {text.prevalence_text(used_at[0])}" if len(used_at) == 1 else ""
            yield f"Precision and areas at {one or 'the prevalence of use of each segment'}."

    def notes_on_areas(self) -> Iterator[str]:
        if "ci_low" in self.lines.columns:
            yield f"AP: average precision [{text.percent_text(self.options.level)} interval]."

    def notes_on_ribbons(self) -> Iterator[str]:
        options, percent = self.options, text.percent_text(self.options.level)
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
