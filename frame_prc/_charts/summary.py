"""The chart of average precisions: a row per segment, with a dot and an interval per model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from frame_prc._charts.data import ChartSource, EvaluatedSegments, has_models
from frame_prc._charts.text import (
    cluster_text,
    column_title,
    count_text,
    key_texts,
    number_by,
    paragraph,
    percent_text,
    safe,
    short,
    status_text,
    with_key_texts,
    with_names,
)
from frame_prc._charts.theme import MOST_COLOURS, MOST_SEGMENTS, AnyChart, Look
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._inference.chance import RANDOM
from frame_prc._lazy import key_names, left_join
from frame_prc._request.options import check_baseline
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import DROPPED

if TYPE_CHECKING:
    from altair.typing import ChartType

_ALL = "all rows"
_PAIR = 2
_ROW = 19  # px
_WIDE, _NARROW = 440, 300  # px of average precisions, alone and beside differences
_DIFFERENCES = 190
_SIZES = 80
_LONGEST_SIZES = 220
_LETTERS = 125
_INTERVAL = ("ci_low", "ci_high")
_FEW = frozenset({"few_positives", "few_negatives"})


def plot_summary(
    source: ChartSource,
    comparison: Comparison | None,
    baseline: str | None,
    level: float,
    look: Look,
) -> ChartType:
    """Return the chart of average precisions, and of their differences if there are any.

    With a ``comparison``, of models on the same rows, the differences have intervals.
    """
    _check_readable(source)
    models = _models(source)
    if comparison is None:
        check_baseline(baseline, models)
    segments = source.evaluate(level)
    dots = _dots(segments)
    differences = pl.DataFrame()
    if comparison is not None:
        differences = _compared(segments, dots, comparison)
    elif baseline is not None or len(models) == _PAIR:
        differences = _subtracted(segments, dots, models[1] if baseline is None else baseline)
    notes = _notes(dots, differences, level, segments)
    return SummaryChart(segments.keys, dots, differences, look).chart(notes)


def _models(source: ChartSource) -> list[str]:
    """Return the models in their order; none without a key of models."""
    return source.table["key_0"].unique().sort().to_list() if has_models(source.keys) else []


def _check_readable(source: ChartSource) -> None:
    """Raise an error if there are too many segments or models, before they are computed."""
    models, own = _split_keys(source.keys)
    hint = "{}, or read all of them in summary()"
    source.check_count(own, MOST_SEGMENTS, "segments", hint.format("filter the segments"))
    source.check_count(models, MOST_COLOURS, "models", hint.format("choose some of the models"))


def _split_keys(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the key of models, if there is one, and the keys of segments."""
    by = key_names(len(names))
    return (by[:1], by[1:]) if has_models(names) else ([], by)


# --- rows ----------------------------------------------------------------------------------------


def _dots(segments: EvaluatedSegments) -> pl.DataFrame:
    """Return a row per model and segment, with the ``model`` and the ``name`` of the segment."""
    models, own = _split_keys(segments.keys)
    table = with_key_texts(segments.table, segments.keys).with_columns(
        number_by(segments.table, own, "segment"),
        pl.Series("status_text", list(map(status_text, segments.table["status"])), pl.String),
        model=models[0] if models else pl.lit(""),
    )
    return with_names(table, "segment", own, "name", without_keys=_ALL)


def _subtracted(segments: EvaluatedSegments, dots: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Return the differences of the dots from those of a baseline, without intervals."""
    is_baseline = segments.table["key_0"] == baseline
    own = dots.filter(is_baseline)
    reference = own.select("name", reference=AVERAGE_PRECISION)
    return left_join(dots.filter(~is_baseline), reference, ["name"]).select(
        "name",
        model_a="model",
        model_b=pl.lit(own["model"][0]),
        difference=pl.col(AVERAGE_PRECISION) - pl.col("reference"),
    )


def _compared(
    segments: EvaluatedSegments, dots: pl.DataFrame, comparison: Comparison
) -> pl.DataFrame:
    """Return the differences of models on the same rows, with intervals."""
    table = segments.compared(comparison)
    table = table.with_columns(
        pl.Series(name, key_texts(table[name]), pl.String) for name in ("model_a", "model_b")
    )
    _, own = _split_keys(segments.keys)
    if not own:
        return table.with_columns(name=pl.lit(_ALL))
    # The keys of a comparison are numbered without that of models.
    keys = key_names(len(own))
    values = segments.table.select(pl.col(a).alias(b) for a, b in zip(own, keys, strict=True))
    names = values.with_columns(name=dots["name"]).unique("name", maintain_order=True)
    return left_join(table, names, keys).drop(keys)


def _order(dots: pl.DataFrame, differences: pl.DataFrame) -> list[str]:
    """Return the names by difference or by average precision; the undefined come last."""
    column = AVERAGE_PRECISION if differences.is_empty() else "difference"
    table = dots if differences.is_empty() else differences
    best = table.group_by("name", maintain_order=True).agg(pl.col(column).max())
    ordered = best.sort(column, descending=True, nulls_last=True, maintain_order=True)
    return list(dict.fromkeys([*ordered["name"], *dots["name"]]))


# --- the chart -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SummaryChart:
    """The panels of the chart, which share their rows and colours."""

    keys: list[str]
    dots: pl.DataFrame
    differences: pl.DataFrame
    look: Look

    def chart(self, notes: list[str]) -> ChartType:
        """Return the panels side by side."""
        panels = [self._areas(), self._sizes()]
        if not self.differences.is_empty():
            panels.append(self._difference_panel())
        title = alt.Title(
            safe(self.look.title or _quantity(self.dots)), subtitle=paragraph(notes, _LETTERS)
        )
        chart: ChartType = alt.concat(
            *panels,
            columns=len(panels),
            spacing=10,
            title=title,
            resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="shared", yOffset="independent")),
            config=alt.Config(**self.look.config()),
        )
        return chart

    def _area_x(self, column: str) -> alt.X:
        scale = alt.Scale(zero=True, nice=True)
        return alt.X(f"{column}:Q", title=_quantity(self.dots), scale=scale)

    # --- panels ----------------------------------------------------------------------------------

    def _areas(self) -> AnyChart:
        """Return average precisions with their intervals, and ticks of a random ranking."""
        x, y = self._area_x(AVERAGE_PRECISION), self._y(labels=True)
        defined = self.dots.drop_nulls(AVERAGE_PRECISION)
        tooltips = self._tooltips()
        ticks = alt.Chart(defined).mark_tick(color=self.look.muted, thickness=1.5, height=11)
        layers = [
            ticks.encode(x=self._area_x(RANDOM), y=y, tooltip=tooltips),
            *self._connections(defined, y),
            *_dots_and_intervals(
                defined,
                self.look.background,
                x=x,
                y=y,
                yOffset=_offset("model", self._models),
                color=self._colour("model"),
                tooltip=tooltips,
            ),
            self._reasons(y),
        ]
        width = _WIDE if self.differences.is_empty() else _NARROW
        return alt.layer(*layers).properties(width=self.look.width or width, height=self._height)

    def _connections(self, dots: pl.DataFrame, y: alt.Y) -> list[AnyChart]:
        """Return lines that connect the models of a segment."""
        if len(self._models) == 1:
            return []
        ends = dots.group_by("name", maintain_order=True).agg(
            low=pl.col(AVERAGE_PRECISION).min(), high=pl.col(AVERAGE_PRECISION).max()
        )
        line = alt.Chart(ends).mark_rule(color=self.look.faint, strokeWidth=7, strokeCap="round")
        return [line.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y)]

    def _reasons(self, y: alt.Y) -> AnyChart:
        """Return why segments have no dot."""
        undefined = self.dots.filter(pl.col(AVERAGE_PRECISION).is_null())
        reasons = alt.Chart(undefined.unique("name", maintain_order=True)).mark_text(
            color=self.look.muted, align="left", fontSize=11
        )
        return reasons.encode(x=alt.value(4), y=y, text=alt.Text("status_text:N"))

    def _sizes(self) -> AnyChart:
        """Return the numbers of positives and of rows as text."""
        table = self.dots.group_by("name", maintain_order=True).agg("n_pos", "n", "status")
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
        return text.encode(x=alt.value(_SIZES), y=y, text=alt.Text("sizes:N")).properties(
            width=_SIZES, height=self._height, view=alt.ViewConfig(stroke=None), title=title
        )

    def _difference_panel(self) -> AnyChart:
        """Return the differences with their intervals."""
        rows = self.differences
        x = alt.X(
            "difference:Q",
            title=short(safe(self._difference_title())),
            scale=_scale_of_differences(rows),
            axis=alt.Axis(tickCount=4),
        )
        zero = alt.Chart(pl.DataFrame({"difference": [0.0]})).mark_rule(
            color=self.look.muted, strokeDash=[4, 3]
        )
        compared = rows["model_a"].unique().to_list()
        several = len(compared) > 1
        marks = _dots_and_intervals(
            rows.drop_nulls("difference"),
            self.look.background,
            x=x,
            y=self._y(labels=False),
            yOffset=_offset("model_a", [model for model in self._models if model in compared]),
            color=self._colour("model_a") if several else alt.ColorValue(self.look.text),
            tooltip=self._difference_tooltips(),
        )
        return alt.layer(zero.encode(x=x), *marks).properties(
            width=_DIFFERENCES, height=self._height
        )

    def _difference_title(self) -> str:
        pairs = self.differences.select("model_a", "model_b").unique(maintain_order=True).rows()
        model, baseline = pairs[0]
        return f"{model} - {baseline}" if len(pairs) == 1 else f"Difference to {baseline}"

    # --- encodings -------------------------------------------------------------------------------

    @property
    def _models(self) -> list[str]:
        return self.dots["model"].unique(maintain_order=True).to_list()

    @property
    def _height(self) -> int:
        return _ROW * self.dots["name"].n_unique()

    def _y(self, *, labels: bool) -> alt.Y:
        names = _order(self.dots, self.differences)
        axis = alt.Axis(title=None, labels=labels, labelLimit=240, grid=labels)
        # A band scale in every panel, for one alignment; `yOffset` needs it in two of them.
        scale = alt.Scale(type="band", domain=names, paddingInner=0.2, paddingOuter=0.1)
        return alt.Y("name:N", sort=names, axis=axis, scale=scale)

    def _colour(self, column: str) -> Any:
        models = self._models
        if len(models) == 1:
            return alt.ColorValue(self.look.colours(1)[0])
        scale = alt.Scale(domain=models, range=self.look.colours(len(models)))
        legend = alt.Legend(
            title=None,
            orient="top",
            symbolType="circle",
            symbolSize=60,
            symbolStrokeWidth=0,
            direction="horizontal",
        )
        return alt.Color(f"{column}:N", scale=scale, legend=legend)

    def _tooltips(self) -> list[alt.Tooltip]:
        by = key_names(len(self.keys))
        keys = [
            alt.Tooltip(f"{key}:N", title=column_title(name))
            for key, name in zip(by, self.keys, strict=True)
        ]
        rates = [AVERAGE_PRECISION, *_INTERVAL, "prevalence", RANDOM]
        sizes = [alt.Tooltip(f"{name}:Q", title=name, format=",.12~g") for name in ("n", "n_pos")]
        return [*keys, *map(_number, rates), *sizes, alt.Tooltip("status_text:N", title="status")]

    def _difference_tooltips(self) -> list[alt.Tooltip]:
        measures = ("difference", *_INTERVAL, "p_value")
        return [
            alt.Tooltip("name:N", title="segment"),
            alt.Tooltip("model_a:N", title="model"),
            alt.Tooltip("model_b:N", title="compared with"),
            *(_number(name) for name in measures if name in self.differences.columns),
        ]


def _quantity(dots: pl.DataFrame) -> str:
    return "Calibrated average precision" if REFERENCE in dots.columns else "Average precision"


def _offset(column: str, models: Sequence[str]) -> alt.YOffset:
    """Return the encoding that sets the models of a row apart."""
    return alt.YOffset(f"{column}:N", scale=alt.Scale(domain=models, padding=0.75))


def _dots_and_intervals(
    rows: pl.DataFrame, background: str, *, x: alt.X, **encodings: Any
) -> list[AnyChart]:
    """Return a dot per row with its interval, cut at the edge of the panel.

    A dot without an interval is hollow: it would look as certain as the others.
    """
    layers = [alt.Chart(rows).mark_circle(size=60, opacity=1).encode(x=x, **encodings)]
    if "ci_low" in rows.columns:
        rule = alt.Chart(rows).mark_rule(strokeWidth=1.4, clip=True)
        ends = {"x": alt.X("ci_low:Q"), "x2": alt.X2("ci_high:Q")}
        layers.insert(0, rule.encode(**ends, **encodings))
    hollow = _without_interval(rows)
    if hollow.height:
        hole = alt.Chart(hollow).mark_point(filled=True, size=20, opacity=1)
        layers.append(hole.encode(x=x, **{**encodings, "color": alt.ColorValue(background)}))
    return layers


def _without_interval(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("ci_low").is_null()) if "ci_low" in rows.columns else rows


def _number(column: str) -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=column.replace("_", " "), format=".4f")


def _scale_of_differences(rows: pl.DataFrame) -> alt.Scale:
    """Return a scale for all dots, and for the intervals of segments with enough positives.

    With few positives an interval is so wide that the others could not be read.
    """
    enough = rows.filter(status="ok") if "status" in rows.columns else rows.clear()
    if enough.is_empty():
        return alt.Scale(zero=False, nice=True)
    values = pl.concat([rows["difference"], enough["ci_low"], enough["ci_high"]]).drop_nulls()
    known = [0.0, *values]
    return alt.Scale(domain=[min(known), max(known)], nice=True)


def _range(sizes: Sequence[float]) -> str:
    """Return a size, or the smallest and the largest if those of models differ."""
    return " to ".join(dict.fromkeys(map(count_text, (min(sizes), max(sizes)))))


def _few(statuses: Sequence[str]) -> str:
    return " (few)" if not _FEW.isdisjoint(statuses) else ""


def _notes(
    dots: pl.DataFrame, differences: pl.DataFrame, level: float, segments: EvaluatedSegments
) -> list[str]:
    """Return sentences that explain the chart."""
    notes = _notes_on_intervals(dots, differences, level, segments.cluster)
    if REFERENCE in dots.columns:
        shown = "".join(f", {value:.4g}" for value in dots[REFERENCE].drop_nulls().head(1))
        notes.append(f"Ticks: the prevalence that all segments are calibrated to{shown}.")
    elif segments.given.columns.weighted:
        notes.append("Ticks: prevalence, close to the average precision of a random ranking.")
    else:
        notes.append("Ticks: average precision of a random ranking.")
    if "below_chance" in dots["status"]:
        notes.append("An interval below its tick is worse than random: is a lower score better?")
    if not differences.is_empty():
        notes.append("Sorted by difference.")
    if "few_positives" in dots["status"]:
        few = "positives" if segments.cluster is None else "effective clusters with positives"
        notes.append(f"(few): fewer than 20 {few}, intervals may cover less than stated.")
        if "ci_low" in differences.columns:
            notes.append("Intervals marked (few) may extend past the axis.")
    if "few_negatives" in dots["status"]:
        notes.append("(few): so few negatives for this prevalence that the value may be too high.")
    columns = segments.given.columns
    # In long data a row is of one model.
    if columns.several_models and columns.model is None and _any_dropped(dots):
        notes.append("Rows with a missing value are left out for all models.")
    if segments.error is not None:
        notes.append(f"From thinned curves, off by at most {segments.error:.2g}.")
    return notes


def _notes_on_intervals(
    dots: pl.DataFrame, differences: pl.DataFrame, level: float, cluster: str | None
) -> list[str]:
    """Return sentences on which dots have an interval, and of what kind."""
    notes = []
    if "ci_low" in dots.columns:
        assumed = "" if cluster is None else f", {cluster_text(cluster)}"
        notes.append(f"{_quantity(dots)} with {percent_text(level)} intervals{assumed}.")
    drawn = [dots.drop_nulls(AVERAGE_PRECISION)]
    if not differences.is_empty():
        drawn.append(differences.drop_nulls("difference"))
    if any(_without_interval(rows).height for rows in drawn):
        notes.append("Hollow dots have no interval.")
    return notes


def _any_dropped(dots: pl.DataFrame) -> bool:
    return any(dots[name].sum() > 0 for name in DROPPED if name in dots.columns)
