"""The pictures of a report: small ones beside the answers, and those of the sections."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts.data import Segments
from frame_prc._charts.marks import dots, in_panels, mirrored
from frame_prc._charts.options import ISO_F1, AnyChart, Look
from frame_prc._charts.results import reliability
from frame_prc._charts.summary import plot_summary, time_axis
from frame_prc._charts.summary_data import ALL, milliseconds
from frame_prc._charts.text import end_of, rate_text, safe, share_text, short
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import FEW
from frame_prc._curves.operating_points import iso_lines
from frame_prc._lazy import join, key_names, left_join
from frame_prc._report.evaluation import BETTER, OPEN, SMALL, UNTESTED, WORSE, Evaluation
from frame_prc._report.sentences import NAMED, comparisons_told
from frame_prc.exceptions import DataError

LOOK = Look()
_CONFIG = alt.Config(**LOOK.config())
# A level to compare with: chance, all rows, no difference.
_DASHED: dict[str, Any] = {"strokeDash": [3, 3], "color": LOOK.muted}

_STEP = 36  # px, of a row
_HEIGHT = 150  # px
_LINE = 30  # px, of the text on what is watched
_WIDTH, _NARROW = 700, 480  # px, over time, and beside an answer
_LEAST = 110  # px, of bars
_MOST_NAMES = 24  # of segments along an axis
_LETTERS = 40  # of names beside each other, also on a phone
_OF_SEGMENTS = "Calibrated average precision"
_PANEL = {"width": 320, "height": 230}
# By model.
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right"]
_STARTS = 0.05  # the recall below which precision jumps


# --- what pictures share: axes, colours of models, dots with intervals ---------------------------


@dataclass(frozen=True)
class _Axis:
    channel: Literal["x", "y"]
    title: str
    ends: tuple[float, float] = (0.0, 1.0)

    def of(self, field: str, to: str | None = None) -> dict[str, Any]:
        kind = alt.X if self.channel == "x" else alt.Y
        scale = alt.Scale(domain=list(self.ends))
        ticks = alt.Axis(tickCount=5)
        begins: dict[str, Any] = {
            self.channel: kind(f"{field}:Q", title=self.title, scale=scale, axis=ticks)
        }
        return begins if to is None else begins | {f"{self.channel}2": to}


_RECALL = _Axis("x", "Recall")


def _precision(found: Evaluation, *, all_rows: bool = False) -> _Axis:
    """Return the axis of precision, which ends earlier where all curves are low."""
    past = found.curves.filter(pl.col("recall") > _STARTS)
    if all_rows and found.segments.height > 1:
        past = past.filter(pl.col("segment").is_null())
    return _Axis("y", "Precision", (0.0, end_of(past["precision"])))


def _ends_of(values: pl.Series) -> tuple[float, float]:
    """Return the ends of an axis of rates that need no 0: a tenth below all, and next above."""
    known = values.drop_nulls().to_list()
    return math.floor(10 * min(known, default=0.0)) / 10, end_of(values, 1.0)


def _wide(chart: AnyChart, height: int, *data: str, title: str | list[str] = "") -> AnyChart:
    """Return a chart as wide as its place in the page, which fills its empty data sets."""
    empty: dict[str, list[Any]] = {name: [] for name in data}
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    small: dict[str, Any] = {"fontSize": 11, "fontWeight": "normal", "color": LOOK.muted}
    titled = {"title": alt.Title(title, **small)} if title else {}
    # In one call: each method of a chart copies all of it.
    return chart.properties(
        width="container", height=height, autosize=fit, datasets=empty, config=_CONFIG, **titled
    )


def _dots(base: AnyChart, field: str, axis: _Axis, colour: Any, size: int = 70) -> list[AnyChart]:
    is_few = alt.FieldOneOfPredicate(field="status", oneOf=list(FEW))
    place, ends = axis.of(field) | {"color": colour}, axis.of("ci_low", "ci_high")
    return dots(base, base.transform_filter(is_few), size, LOOK, ends, **place)


def _names(found: Evaluation, models: pl.Series) -> pl.Series:
    return models.replace_strict(found.short_names, return_dtype=pl.String)


def _in_order_given(found: Evaluation, rows: pl.DataFrame) -> pl.DataFrame:
    place = rows["model"].replace_strict({name: i for i, name in enumerate(found.models)})
    return rows.with_columns(name=_names(found, rows["model"]), place=place)


def _of_models(found: Evaluation, field: str = "name", *, legend: bool = False) -> alt.Color:
    known = [*found.short_names.values()]
    scale = alt.Scale(domain=known, range=LOOK.colours(len(known)))
    return alt.Color(
        f"{field}:N", scale=scale, legend=alt.Undefined if legend and known[1:] else None
    )


def _shape(found: Evaluation) -> alt.Shape:
    names = [*found.short_names.values()]
    scale = alt.Scale(domain=names, range=_SHAPES[: len(names)])
    return alt.Shape("model:N", scale=scale, legend=alt.Undefined if names[1:] else None)


# --- beside the answers --------------------------------------------------------------------------


def _good(found: Evaluation) -> AnyChart | None:
    rows = found.pooled.drop_nulls(AVERAGE_PRECISION)
    if rows.is_empty():
        return None
    axis = _Axis("x", "Average precision, from a random ranking to 1")
    chance, colour = "random_average_precision", _of_models(found)
    own = rows.select(chance, AVERAGE_PRECISION, "ci_low", "ci_high", "status", most=1.0)
    name = _names(found, rows["model"])
    told = pl.Series([rate_text(area) for area in rows[AVERAGE_PRECISION]], dtype=pl.String)
    base = alt.Chart(own.with_columns(name=name, text=name + "  " + told))
    rows_of = base.encode(y=alt.Y("name:N", sort=[*found.short_names.values()], axis=None))
    layers = [
        rows_of.mark_bar(height=12, color=LOOK.faint).encode(**axis.of(chance, "most")),
        rows_of.mark_bar(height=12, opacity=0.45).encode(
            **axis.of(chance, AVERAGE_PRECISION), color=colour
        ),
        *_dots(rows_of, AVERAGE_PRECISION, axis, colour, 40),
        _above_row(rows_of, "text", -12),
    ]
    return _wide(alt.layer(*layers), max(_STEP * rows.height, _LEAST))


def _above_row(rows: AnyChart, field: str, dy: int) -> AnyChart:
    mark = rows.mark_text(align="left", dy=dy, color=LOOK.text, limit=alt.ExprRef("width"))
    return mark.encode(x=alt.value(4), text=f"{field}:N")


def _pooled(found: Evaluation) -> AnyChart | None:
    if found.curves.is_empty():
        return None
    line: dict[str, Any] = {"interpolate": "step-before", "strokeWidth": 1.8, "clip": True}
    lines = alt.Chart(alt.NamedData("pooled")).mark_line(**line)
    chance = alt.Chart(alt.NamedData("chance")).mark_rule(**_DASHED)
    height = _precision(found, all_rows=True)
    colour = _of_models(found)
    drawn = lines.encode(**_RECALL.of("recall"), **height.of("height"), color=colour)
    chart = alt.layer(chance.encode(**height.of("prevalence")), drawn)
    return _wide(chart, _HEIGHT, "pooled", "chance", title="All rows; dashed: prevalence")


def _models(found: Evaluation) -> AnyChart | None:
    rows = pl.DataFrame(comparisons_told(found), schema=found.of_models.schema)
    if rows.is_empty():
        return None
    new, old = (_names(found, rows[side]) for side in ("model", "baseline"))
    rows = rows.with_columns(name=new + " \N{MINUS SIGN} " + old)
    ends = [abs(x) for name in ("difference", "ci_low", "ci_high") for x in rows[name].drop_nulls()]
    most = 1.15 * (max(ends) or 0.1)
    axis = _Axis("x", "Difference in average precision", (-most, most))
    base = alt.Chart(rows).encode(y=alt.Y("name:N", sort=None, axis=None))
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(**_DASHED)
    # Of several pairs, the best model is the first in each.
    sides = (f"{old[0]} better" if rows.height == 1 else f"{new[0]} worse", f"{new[0]} better")
    intervals = _dots(base, "difference", axis, alt.value(LOOK.text))
    look: dict[str, Any] = {"baseline": "bottom", "dy": -4, "color": LOOK.muted}
    right = alt.value("width")
    words = _at_ends(f"← {sides[0]}", f"{sides[1]} →", (0, 0), right, **look)
    # Of a single pair, the words at both ends are the names.
    words += [_above_row(base, "name", -9)] if rows.height > 1 else []
    return _wide(alt.layer(zero.encode(**axis.of("zero")), *intervals, *words), _STEP * rows.height)


def _at_ends(
    left: str, right: str, place: tuple[Any, Any], end: Any, *, right_y: Any = None, **look: Any
) -> list[AnyChart]:
    """Return words at both ends of a picture, with the place of the left ones, and the end.

    Those at the right may be at another height, so that long ones are not beside each other.
    """
    words = alt.Chart(pl.DataFrame({"left": [left], "right": [right]}))
    x, y = map(alt.value, place)
    look["limit"] = alt.ExprRef("width / 2 - 8")
    left_text, right_text = (words.mark_text(align=end, **look) for end in ("left", "right"))
    return [
        left_text.encode(text="left:N", x=x, y=y),
        right_text.encode(text="right:N", x=end, y=y if right_y is None else alt.value(right_y)),
    ]


def _strip(whole: Evaluation) -> AnyChart | None:
    found = whole.without_time
    rows = _segments(found)
    if rows.height < 2:  # noqa: PLR2004 - one has nothing to differ from
        return None
    has_names = rows.height <= _MOST_NAMES or found.in_time
    judged = rows.filter(pl.col("standing") != SMALL)
    rows = judged if judged.height and not has_names else rows
    level = _mean_of(rows)
    axis = _Axis("y", _OF_SEGMENTS, _ends_of(pl.concat([rows["ci_low"], rows["ci_high"], level])))
    x = _along_time(found, rows["at"], _NARROW) if found.in_time else _along(rows, named=has_names)
    base = alt.Chart(rows).encode(x=x)
    is_found = alt.FieldOneOfPredicate(field="standing", oneOf=[WORSE, BETTER])
    own = LOOK.colours(len(found.models))[found.models.index(found.best)]
    colour = alt.condition(is_found, alt.value(own), alt.value(LOOK.muted))
    intervals = _dots(base, "value", axis, colour, _dot(rows.height))
    words = base.transform_filter(is_found).mark_text(dy=-7, color=LOOK.text, fontSize=9.5)
    named = words.encode(**axis.of("ci_high"), text="standing:N")
    labels = [named] if has_names else _ends(rows)
    chart = alt.layer(*_level_of(level, axis), *intervals, *labels)
    height = _HEIGHT - (_LINE if whole.in_order else 0)
    return _wide(chart, height, title=_legend_of_strip(found, rows))


def _legend_of_strip(found: Evaluation, rows: pl.DataFrame) -> list[str]:
    shown, small = set(rows["standing"]), len(found.segments_that_are(SMALL))
    grey = ["Grey: not shown to differ."] if shown & {OPEN, UNTESTED} else []
    hollow = f"Hollow: too small to judge{'' if SMALL in shown else f', {small:,} left out'}."
    name, reference = short(safe(found.best), 24), found.of_best["reference_prevalence"]
    at = f", as if {share_text(reference)} were positive in each, to compare" if reference else ""
    return [f"{name}{at}.", " ".join([*grey, *([hollow] if small else [])])]


def _ends(rows: pl.DataFrame) -> list[AnyChart]:
    judged = rows.filter(pl.col("standing") != SMALL)  # small segments come last
    worse = rows.filter(standing=WORSE)["name"].head(NAMED)
    better = rows.filter(standing=BETTER)["name"].tail(NAMED).reverse()
    left, right = (
        f"{standing}: {', '.join(names)}" if names.len() else ""
        for standing, names in ((WORSE, worse), (BETTER, better))
    )
    low, above, last = alt.ExprRef("height - 8"), alt.ExprRef("height - 20"), judged.height
    return _at_ends(left, right, (4, low), alt.XDatum(last), right_y=above, color=LOOK.text)


def _segments(found: Evaluation) -> pl.DataFrame:
    known = found.standings.drop_nulls(CALIBRATED)
    if found.in_time:
        times = found.segments.select("segment", at=milliseconds(found.segments["key_0"]))
        known = left_join(known, times, ["segment"]).drop_nulls("at")
    else:
        is_small = pl.col("standing") == SMALL
        known = known.sort(is_small, CALIBRATED, "segment")
    names = [found.names[number] for number in known["segment"]]
    return known.select(
        *("status", "n_pos", *(["at"] if found.in_time else [])),
        pl.col("standing").cast(pl.String),
        *_values(),
        name=pl.Series(names, dtype=pl.String),
        place=pl.int_range(pl.len()),
    )


def _values() -> list[pl.Expr]:
    """Return the calibrated areas with their intervals, as pictures call them."""
    ends = {"value": "", "ci_low": "_low", "ci_high": "_high"}
    return [pl.col(f"{CALIBRATED}{end}").alias(name) for name, end in ends.items()]


def _along(rows: pl.DataFrame, *, named: bool) -> alt.X:
    """Return the axis of segments, with their names if there are few."""
    if named:
        letters = rows.height * max(map(len, rows["name"]))
        angle = 0 if letters <= _LETTERS else -40
        axis = alt.Axis(labelAngle=angle, labelLimit=110, grid=False)
        return alt.X("name:N", sort=None, title=None, axis=axis)
    plain = alt.Axis(labels=False, ticks=False, grid=False)
    scale = alt.Scale(domain=[-1, rows.height], nice=False)
    return alt.X("place:Q", title="segments, sorted", axis=plain, scale=scale)


def _mean_of(rows: pl.DataFrame) -> pl.Series:
    """Return the mean of the segments, weighted by their positives, as each is compared with."""
    mean = (pl.col("value") * pl.col("n_pos")).sum() / pl.col("n_pos").sum()
    return rows.select(level=mean)["level"]


def _level_of(level: pl.Series, axis: _Axis) -> list[AnyChart]:
    told = pl.Series([f"mean\n{rate_text(value)}" for value in level])
    base = alt.Chart(pl.DataFrame({"level": level, "text": told})).encode(**axis.of("level"))
    rule = base.mark_rule(**_DASHED)
    text = base.mark_text(align="left", dx=4, dy=-5, color=LOOK.muted, lineBreak="\n")
    return [rule, text.encode(text="text:N", x=alt.value("width"))]


# --- areas ---------------------------------------------------------------------------------------


def _areas(found: Evaluation) -> AnyChart | None:
    if found.segments.height == 1:
        return None

    def drawn(segments: Segments) -> AnyChart:
        return plot_summary(segments, found.pairs_drawn, found.options.baseline, None, LOOK)

    try:  # over time there may be more segments than in rows
        return drawn(found.charted)
    except DataError:
        own = found.charted.own_keys
    chosen = found.segments.filter(pl.col("segment").is_in(found.shown))
    keys = chosen.drop("segment", "name").rename(dict(zip(key_names(len(own)), own, strict=True)))
    table = join(found.charted.table, keys, on=own, how="semi", nulls_equal=True)
    return drawn(replace(found.charted, drawn=table))


# --- curves and thresholds -----------------------------------------------------------------------


def _curves(found: Evaluation) -> AnyChart | None:
    if found.curves.is_empty():
        return None
    height = _precision(found)
    colour = _of_models(found, "model", legend=True)
    tips = _tooltips(["model", "at"], ["precision", "recall"])
    line: dict[str, Any] = {"interpolate": "step-before", "clip": True}
    place = {**_RECALL.of("recall"), **height.of("height")}
    exact = {**_RECALL.of("recall"), **height.of("precision"), "color": colour, "tooltip": tips}
    ring = {"stroke": LOOK.background, "strokeWidth": 1.5}
    chart = alt.layer(
        _iso(height),
        _of_kind("prevalence").mark_rule(**_DASHED).encode(**height.of("prevalence")),
        _of_kind("all")
        .mark_line(color=LOOK.muted, strokeWidth=1.5, opacity=0.6, **line)
        .encode(**place),
        _of_kind("line").mark_line(strokeWidth=1.8, **line).encode(**place, color=colour),
        _of_kind("line").mark_point(opacity=0, size=60, filled=True).encode(**exact),
        _of_kind("iso")
        .mark_text(align="right", baseline="top", dx=-3, dy=2, color=LOOK.muted, fontSize=9.5)
        .encode(**place, text="label:N"),
        _of_kind("mark")
        .mark_point(filled=True, size=90, **ring)
        .encode(**exact, shape=_shape(found)),
    )
    return _in_panels(chart, "panel", "curves")


def _thresholds(found: Evaluation) -> AnyChart | None:
    if found.thresholds.is_empty():
        return None
    known = sorted(found.thresholds["threshold"])
    x, y = _Axis("x", "Threshold", (known[0], known[-1])), _Axis("y", "")
    colour, place = _of_models(found, "model", legend=True), {**x.of("threshold"), **y.of("value")}
    is_few = alt.condition("datum.few", alt.value(0.25), alt.value(1))
    tips = _tooltips(["model", "measure", "at"], ["value"])
    ring = {"stroke": LOOK.background, "strokeWidth": 1}
    lines = _of_kind("line").mark_line(strokeWidth=1.8)
    chart = alt.layer(
        _of_kind("mark")
        .mark_rule(strokeWidth=1, opacity=0.5)
        .encode(**x.of("threshold"), color=colour),
        lines.encode(**place, color=colour, opacity=is_few, detail=["few:N"]),
        _of_kind("mark")
        .mark_point(filled=True, size=80, **ring)
        .encode(**place, color=colour, shape=_shape(found), tooltip=tips),
    )
    return _in_panels(chart, "measure", "rates")


def _of_kind(kind: str) -> AnyChart:
    """Return the rows of one kind: lines, marks and more share a data set, so that panels do."""
    rows = alt.FieldEqualPredicate(field="kind", equal=kind)
    return alt.Chart().transform_filter(rows)


def _iso(height: _Axis) -> AnyChart:
    """Return lines of equal F1 where they meet the picture; the page adds their labels."""
    lines = iso_lines(ISO_F1, 50).filter(pl.col("precision") <= height.ends[1])
    place = {**_RECALL.of("recall"), **height.of("precision")}
    mark = alt.Chart(lines).mark_line(color=LOOK.faint, strokeWidth=1, interpolate="monotone")
    return mark.encode(**place, detail="f_score:N")


def iso_labels(found: Evaluation) -> list[dict[str, Any]]:
    """Return labels of equal F1, each with the prevalences whose line would go through it."""
    top = _precision(found).ends[1]
    known = [(f_score, f_score / (2 - f_score)) for f_score in ISO_F1]
    return [
        {"label": f"F1 = {f:g}", "height": at, "from": at - 0.08 * top, "to": at + 0.01 * top}
        for f, at in known
        if at <= top
    ]


def _tooltips(texts: list[str], rates: list[str]) -> list[alt.Tooltip]:
    return [
        *(alt.Tooltip(f"{name}:N", title="threshold" if name == "at" else name) for name in texts),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in rates),
    ]


def _in_panels(
    chart: AnyChart, panel: str, rows: str | pl.DataFrame, columns: int = 3, **size: int
) -> AnyChart:
    """Return a chart in panels of rows, or of those of a data set that the page fills."""
    sized = chart.properties(**_PANEL | size)
    empty: Any = {rows: []} if isinstance(rows, str) else alt.Undefined
    return in_panels(sized, rows, panel, LOOK, columns, config=_CONFIG, datasets=empty)


# --- where asked ---------------------------------------------------------------------------------


def _roc(found: Evaluation) -> AnyChart | None:
    points = found.curves_of_all
    if points.is_empty():
        return None
    rate = pl.col("fp") / (pl.col("fp") + pl.col("tn"))
    name = _names(found, points["model"])
    rows = points.select("recall", "precision", "threshold", name=name, fpr=rate)
    x, y, height = _Axis("x", "False positive rate"), _Axis("y", "Recall"), _precision(found)
    base = alt.Chart(rows.drop_nulls()).encode(color=_of_models(found, legend=True))
    begun = base.transform_filter(alt.FieldGTPredicate(field="recall", gt=0))
    curve = begun.mark_line(strokeWidth=1.8, interpolate="step-before", clip=True)
    ends = alt.Chart(pl.DataFrame({"end": [0.0, 1.0]}))
    diagonal = ends.mark_line(**_DASHED).encode(**x.of("end"), **y.of("end"))
    line = base.mark_line(strokeWidth=1.8).encode(order="recall:Q", **x.of("fpr"), **y.of("recall"))
    return alt.hconcat(
        curve.encode(**_RECALL.of("recall"), **height.of("precision")).properties(**_PANEL),
        alt.layer(diagonal, line).properties(**_PANEL),
        spacing=30,
        config=_CONFIG,
    )


def _scores(found: Evaluation) -> AnyChart | None:
    rows = found.score_bins
    if rows.is_empty():
        return None
    rows = _in_order_given(found, rows)
    return _in_panels(mirrored(alt.Chart(), rows, _of_models(found), LOOK), "name", rows)


def _reliability(found: Evaluation) -> AnyChart | None:
    rows = found.reliability
    if rows.is_empty():
        return None
    panel = [ALL if one is None else found.names[one] for one in rows["segment"]]
    rows = rows.with_columns(
        name=_names(found, rows["model"]),
        place=pl.col("segment").fill_null(-1),
        panel=pl.Series(panel, dtype=pl.String),
    )
    chart = reliability(rows, _of_models(found, legend=True), LOOK, [])
    return _in_panels(chart, "panel", rows)


def _over_time(all_segments: Evaluation) -> AnyChart | None:
    found = all_segments.in_order
    if found is None or found.segments.height == 1:
        return None
    rows = _in_order(found)
    ends = [rows[name] for name in ("value", "ci_low", "ci_high", "limit")]
    y = _Axis("y", _OF_SEGMENTS, _ends_of(pl.concat(ends)))
    colour, size = _of_models(found), _dot(found.segments.height)
    base = alt.Chart().encode(x=_along_time(found, rows["at"], _WIDTH))
    limit = base.mark_line(strokeWidth=1, color=LOOK.muted, interpolate="step")
    line = base.mark_line(strokeWidth=1.2)
    alarm = base.transform_filter(alt.FieldEqualPredicate(field="conclusion", equal="alarm"))
    triangle = alarm.mark_point(shape="triangle-down", filled=True, size=130, stroke=LOOK.text)
    chart = alt.layer(
        base.mark_line(**_DASHED).encode(**y.of("reference")),
        limit.encode(**y.of("limit")),
        line.encode(**y.of("value"), color=colour, detail="run:N"),
        *_dots(base, "value", y, colour, size),
        triangle.encode(**y.of("value"), color=colour),
    )
    return _in_panels(chart, "name", rows, columns=1, width=_WIDTH, height=160)


def _in_order(found: Evaluation) -> pl.DataFrame:
    keys = found.segments.select("segment", "key_0", at="name").drop_nulls("key_0")
    if found.in_time:
        keys = keys.with_columns(at=milliseconds(keys["key_0"]))
    rows = join(found.scorecard.filter(level="segment"), keys.drop("key_0"), on="segment")
    watched = {"reference": pl.Float64, "limit": pl.Float64, "conclusion": pl.String}
    if found.watched.is_empty():
        rows = rows.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in watched.items())
    else:
        own = found.watched.select("model", "segment", *watched)
        rows = left_join(rows, own, ["model", "segment"])
    undefined = pl.col(CALIBRATED).is_null()
    return _in_order_given(found, rows.sort("segment")).select(
        *("at", "status", *watched, "name", "place"),
        *_values(),
        run=undefined.cum_sum().over("model"),
    )


def _dot(segments: int) -> int:
    return 50 if segments <= _MOST_NAMES else 20


def _along_time(found: Evaluation, times: pl.Series, width: int) -> alt.X:
    """Return the axis of segments in their order, which is a clock for times."""
    look: dict[str, Any] = {"labelSeparation": 10, "grid": False, "labelAngle": 0, "title": None}
    if found.in_time:
        return time_axis(times, width, **look)
    return alt.X("at:N", axis=alt.Axis(labelOverlap=True, **look), sort=None)


Picture = Callable[[Evaluation], AnyChart | None]

_OF_ANSWERS: dict[str, Picture] = {
    "good": _good,
    "pooled": _pooled,
    "models": _models,
    "strip": _strip,
}
_OF_SECTIONS: dict[str, Picture] = {
    "curves": _curves,
    "segments": _areas,
    "thresholds": _thresholds,
    "roc": _roc,
    "scores": _scores,
    "reliability": _reliability,
    "time": _over_time,
}
_NAMES = {"segments": "areas"}  # where a picture has another name than its section


def pictures(found: Evaluation) -> dict[str, AnyChart]:
    sections = found.options.sections
    wanted = _OF_ANSWERS | {_NAMES.get(one, one): _OF_SECTIONS[one] for one in sections}
    made = {name: picture(found) for name, picture in wanted.items()}
    return {name: chart for name, chart in made.items() if chart is not None}
