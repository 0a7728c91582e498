"""The chart of average precisions: a row per segment, and per model a dot with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from frame_prc._charts.data import Lines, Segments, compared, has_models, models_of, numbers
from frame_prc._charts.data import differences as segment_differences
from frame_prc._charts.text import (
    amount,
    column_title,
    joined,
    key_texts,
    make_unique,
    paragraph,
    safe,
    short,
    status_text,
)
from frame_prc._charts.theme import MOST_COLOURS, MOST_SEGMENTS, Look, Piece
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._inference.chance import RANDOM
from frame_prc._lazy import key_names, left_join
from frame_prc._request.options import check_baseline
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import DROPPED
from frame_prc.exceptions import DataError

if TYPE_CHECKING:
    from altair.typing import ChartType

_ALL = "all rows"
_ROW = 19  # px
_APART = 5  # px between the dots of two models in one row
_WIDTHS = {True: 440, False: 300}  # of the dots, alone and with differences beside them
_DIFFERENCES = 190
_SIZES = 110
_LETTERS = 125


def plot_summary(
    lines: Lines, pairs: Comparison | None, baseline: str | None, level: float, look: Look
) -> ChartType:
    """Return the chart of average precisions, and of their differences where there are any.

    ``pairs`` are the models to compare on the same rows, if the lines are of such rows; of others
    the differences are those of the dots.
    """
    _check_readable(lines)
    if pairs is None:
        check_baseline(baseline, models_of(lines.keys, lines.table))
    segments = lines.evaluated(level)
    dots = _dots(segments)
    against = (
        segment_differences(segments, baseline) if pairs is None else compared(segments, pairs)
    )
    differences = _differences(segments, dots, against)
    names = _order(dots, differences)
    drawing = _Drawing(segments.keys, names, _models(dots), level, look)
    cells = [drawing.areas(dots, wide=differences.is_empty()), drawing.sizes(dots)]
    if not differences.is_empty():
        cells.append(drawing.differences(differences))
    return drawing.finished(cells, _notes(dots, differences, level, segments))


def _check_readable(lines: Lines) -> None:
    """Refuse more segments or models than one can read, before they are computed."""
    by = key_names(len(lines.keys))
    models, own = by[:1], by[1:]
    if not has_models(lines.keys):
        models, own = [], by
    for keys, most, what, otherwise in (
        (own, MOST_SEGMENTS, "segments", "filter the segments"),
        (models, MOST_COLOURS, "models", "choose some of the models"),
    ):
        number = lines.table.select(keys).n_unique() if keys else 1
        if number > most:
            raise DataError(
                f"the chart would have {number:,} {what}",
                f"up to {most} {what}",
                f"{otherwise}, or read all of them in summary()",
            )


# --- rows ----------------------------------------------------------------------------------------


def _dots(segments: Segments) -> pl.DataFrame:
    """Return a row per line: ``model`` and ``name`` of its segment, and what is known of it."""
    by = key_names(len(segments.keys))
    own = by[1:] if has_models(segments.keys) else by
    table = segments.table.with_columns(
        pl.Series(key, key_texts(segments.table[key], name), pl.String)
        for key, name in zip(by, segments.keys, strict=True)
    ).with_columns(
        numbers(segments.table, own, "segment"),
        model="key_0" if has_models(segments.keys) else pl.lit(""),
        said=pl.Series(list(map(status_text, segments.table["status"])), dtype=pl.String),
    )
    first = table.unique("segment", keep="first").sort("segment")
    names = make_unique([short(joined(row)) for row in first.select(own).iter_rows()] or [_ALL])
    return table.with_columns(name=pl.Series([names[i] for i in table["segment"]], dtype=pl.String))


def _models(dots: pl.DataFrame) -> list[str]:
    return dots["model"].unique(maintain_order=True).to_list()


def _differences(
    segments: Segments, dots: pl.DataFrame, against: pl.DataFrame | None
) -> pl.DataFrame:
    """Return the differences with the names of their segments; from counts without intervals."""
    if against is None:
        return pl.DataFrame()
    table = against.with_columns(
        pl.Series(name, key_texts(against[name]), pl.String) for name in ("model_a", "model_b")
    )
    # The keys of a comparison have no model before them.
    own = key_names(len(segments.keys))[1:]
    inner = key_names(len(own))
    if not inner:
        return table.with_columns(name=pl.lit(_ALL))
    values = segments.table.select(pl.col(a).alias(b) for a, b in zip(own, inner, strict=True))
    names = values.with_columns(name=dots["name"]).unique("name", maintain_order=True)
    return left_join(table, names, inner).drop(inner)


def _order(dots: pl.DataFrame, differences: pl.DataFrame) -> list[str]:
    """Return the names by difference or by average precision; the undefined come last."""
    column = AVERAGE_PRECISION if differences.is_empty() else "difference"
    table = dots if differences.is_empty() else differences
    best = table.group_by("name", maintain_order=True).agg(pl.col(column).max())
    ordered = best.sort(column, descending=True, nulls_last=True, maintain_order=True)
    return list(dict.fromkeys([*ordered["name"], *dots["name"]]))


# --- the picture ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawing:
    keys: list[str]
    names: list[str]
    models: list[str]
    level: float
    look: Look

    def areas(self, dots: pl.DataFrame, *, wide: bool) -> Piece:
        """Return the average precisions with their intervals, and what is random."""
        x = alt.X(f"{AVERAGE_PRECISION}:Q", title="Average precision", scale=_from_data())
        defined = dots.drop_nulls(AVERAGE_PRECISION)
        layers = [
            alt.Chart(defined)
            .mark_tick(color=self.look.quiet, thickness=1.5, height=11)
            .encode(x=x.copy(), y=self._y(words=True), tooltip=self._tooltips())
            .transform_calculate(average_precision=f"datum.{RANDOM}"),
            *self._joined(defined),
        ]
        for place, model in enumerate(self.models):
            layers += self._model(defined.filter(model=model), x, place)
        layers.append(self._undefined(dots))
        return alt.layer(*layers).properties(
            width=self.look.width or _WIDTHS[wide], height=self._height
        )

    def _joined(self, dots: pl.DataFrame) -> list[Piece]:
        """Return lines that join the models of a segment."""
        if len(self.models) == 1:
            return []
        ends = dots.group_by("name", maintain_order=True).agg(
            low=pl.col(AVERAGE_PRECISION).min(), high=pl.col(AVERAGE_PRECISION).max()
        )
        line = alt.Chart(ends).mark_rule(color=self.look.faint, strokeWidth=7, strokeCap="round")
        return [line.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=self._y(words=True))]

    def _model(self, dots: pl.DataFrame, x: alt.X, place: int) -> list[Piece]:
        """Return the dots of a model, and their intervals, a little apart from the others'."""
        y, offset = self._y(words=True), _offset(place, len(self.models))
        return _marks(dots, x, offset, y=y, color=self._colour(), tooltip=self._tooltips())

    def _undefined(self, dots: pl.DataFrame) -> Piece:
        """Return why segments have no dot."""
        none = dots.filter(pl.col(AVERAGE_PRECISION).is_null()).unique("name", maintain_order=True)
        words = alt.Chart(none).mark_text(color=self.look.quiet, align="left", fontSize=11)
        return words.encode(x=alt.value(4), y=self._y(words=True), text=alt.Text("said:N"))

    def sizes(self, dots: pl.DataFrame) -> Piece:
        """Return the numbers of positives and of rows, in words."""
        table = dots.group_by("name", maintain_order=True).agg("n_pos", "n", "status")
        texts = [
            f"{_range(row['n_pos'])} / {_range(row['n'])}{_few(row['status'])}"
            for row in table.iter_rows(named=True)
        ]
        rows = table.select("name", pl.Series("sizes", texts, dtype=pl.String))
        words = alt.Chart(rows).mark_text(
            color=self.look.quiet, align="right", fontSize=11, limit=_SIZES + 60
        )
        return words.encode(
            x=alt.value(_SIZES), y=self._y(words=False), text=alt.Text("sizes:N")
        ).properties(
            width=_SIZES,
            height=self._height,
            view=alt.ViewConfig(stroke=None),
            title=alt.Title(
                "positive / all", fontSize=11, fontWeight="normal", anchor="end", offset=4
            ),
        )

    def differences(self, rows: pl.DataFrame) -> Piece:
        """Return the differences of two models with their intervals."""
        [(a, b), *others] = rows.select("model_a", "model_b").unique(maintain_order=True).rows()
        title = f"Difference to {b}" if others else f"{a} less {b}"
        x = alt.X(
            "difference:Q",
            title=short(safe(title)),
            scale=_without_few(rows),
            axis=alt.Axis(tickCount=4),
        )
        y = self._y(words=False)
        tooltips = [
            alt.Tooltip("name:N", title="segment"),
            alt.Tooltip("model_a:N", title="model"),
            alt.Tooltip("model_b:N", title="compared with"),
            *(_number(name) for name in ("difference", "ci_low", "ci_high", "p_value")
              if name in rows.columns),
        ]  # fmt: skip
        zero = alt.Chart(pl.DataFrame({"difference": [0.0]})).mark_rule(
            color=self.look.quiet, strokeDash=[4, 3]
        )
        layers: list[Piece] = [zero.encode(x=x)]
        compared = [model for model in self.models if model in rows["model_a"].to_list()]
        for place, model in enumerate(compared):
            here = rows.filter(model_a=model).drop_nulls("difference")
            offset = _offset(place, len(compared))
            colour = alt.ColorValue(self.look.text) if not others else self._colour("model_a")
            layers += _marks(here, x, offset, clip=True, y=y, color=colour, tooltip=tooltips)
        return alt.layer(*layers).properties(width=_DIFFERENCES, height=self._height)

    def finished(self, cells: list[Piece], notes: list[str]) -> ChartType:
        """Return the cells side by side."""
        words = alt.Title(
            safe(self.look.title or "Average precision"), subtitle=paragraph(notes, _LETTERS)
        )
        chart: ChartType = alt.concat(
            *cells,
            columns=len(cells),
            spacing=10,
            title=words,
            resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="shared")),
            config=alt.Config(**self.look.config()),
        )
        return chart

    @property
    def _height(self) -> int:
        return _ROW * len(self.names)

    def _y(self, *, words: bool) -> alt.Y:
        axis = alt.Axis(title=None, labels=words, labelLimit=240, grid=words)
        return alt.Y("name:N", sort=self.names, axis=axis, scale=alt.Scale(domain=self.names))

    def _colour(self, column: str = "model") -> Any:
        if len(self.models) == 1:
            return alt.ColorValue(self.look.colours(1)[0])
        scale = alt.Scale(domain=self.models, range=self.look.colours(len(self.models)))
        legend = alt.Legend(title=None, orient="top", symbolType="circle", direction="horizontal")
        return alt.Color(f"{column}:N", scale=scale, legend=legend)

    def _tooltips(self) -> list[alt.Tooltip]:
        by = key_names(len(self.keys))
        keys = [
            alt.Tooltip(f"{key}:N", title=column_title(name))
            for key, name in zip(by, self.keys, strict=True)
        ]
        rates = [_number(name) for name in (AVERAGE_PRECISION, "ci_low", "ci_high")]
        sizes = [alt.Tooltip(f"{name}:Q", title=name, format=",.12~g") for name in ("n", "n_pos")]
        return [
            *keys,
            *rates,
            *(_number(name) for name in ("prevalence", RANDOM)),
            *sizes,
            alt.Tooltip("said:N", title="status"),
        ]


def _offset(place: int, count: int) -> float:
    """Return how far from the middle of its row a model stands, of so many."""
    return (place - (count - 1) / 2) * min(_APART, _ROW / count)


def _marks(
    rows: pl.DataFrame, x: alt.X, offset: float, *, clip: bool = False, **encodings: Any
) -> list[Piece]:
    """Return a dot per row, and its interval where there are any."""
    dot = alt.Chart(rows).mark_circle(size=60, opacity=1, yOffset=offset).encode(x=x, **encodings)
    if "ci_low" not in rows.columns:
        return [dot]
    cut: dict[str, Any] = {"clip": True} if clip else {}
    rule = alt.Chart(rows).mark_rule(strokeWidth=1.4, yOffset=offset, **cut)
    return [rule.encode(x=alt.X("ci_low:Q"), x2=alt.X2("ci_high:Q"), **encodings), dot]


def _number(column: str) -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=column.replace("_", " "), format=".4f")


def _from_data() -> alt.Scale:
    return alt.Scale(zero=False, nice=True)


def _without_few(rows: pl.DataFrame) -> alt.Scale:
    """Return a scale that holds all dots, and the intervals of segments with enough positives.

    A handful of positives tells so little that its interval would leave no room for the others.
    """
    enough = rows.filter(status="ok") if "status" in rows.columns else rows.clear()
    if enough.is_empty():
        return _from_data()
    values = [*rows["difference"], *enough["ci_low"], *enough["ci_high"]]
    known = [0.0, *(value for value in values if value is not None)]
    return alt.Scale(domain=[min(known), max(known)], nice=True)


def _range(sizes: Sequence[float]) -> str:
    """Return a size, or the smallest and the largest where models differ."""
    ends = list(dict.fromkeys((min(sizes), max(sizes))))
    return " to ".join(map(amount, ends))


def _few(statuses: Sequence[str]) -> str:
    return " (few)" if "few_positives" in statuses else ""


def _notes(
    dots: pl.DataFrame, differences: pl.DataFrame, level: float, segments: Segments
) -> list[str]:
    percent = f"{level * 100:g} %"
    notes = [f"Average precision with its {percent} interval."] * ("ci_low" in dots.columns)
    if segments.given.columns.weighted:
        notes.append("Ticks: prevalence, about what a random ranking has.")
    else:
        notes.append("Ticks: average precision of a random ranking.")
    if "below_chance" in dots["status"]:
        notes.append("An interval below its tick is worse than random: is a lower score better?")
    if not differences.is_empty():
        notes.append("Sorted by difference.")
    if "few_positives" in dots["status"]:
        notes.append("(few): fewer than 20 positives, the interval covers less than it says.")
        if "ci_low" in differences.columns:
            notes.append("Of differences it may run out of the frame.")
    if segments.given.columns.several_models and _any_dropped(dots):
        notes.append("Rows that lack a value are left out for all models.")
    if segments.error is not None:
        notes.append(f"From thinned curves, off by {segments.error:.2g} at most.")
    return notes


def _any_dropped(dots: pl.DataFrame) -> bool:
    return any(dots[name].sum() > 0 for name in DROPPED if name in dots.columns)
