"""The pictures of a report, as specifications that the page draws, once for each colour scheme.

The data of the curves are in the page: what is chosen there decides which are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.data import ChartSource
from frame_prc._charts.options import ISO_F1
from frame_prc._charts.summary import plot_summary
from frame_prc._charts.summary_data import PAIR, split_keys
from frame_prc._charts.theme import MOST_COLOURS, AnyChart, Look
from frame_prc._curves.operating_points import iso_lines
from frame_prc._lazy import join, key_names
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.sentences import turned_pairs
from frame_prc._report.table import model_names
from frame_prc._request.comparisons import models_compared
from frame_prc.exceptions import DataError

MOST_CHOSEN = 6

_SIZE = {"width": 560, "height": 340}
_LOOK, _DARK_LOOK = Look(), Look(dark=True)
DARK = dict(
    zip(
        *(
            [look.background, look.text, look.muted, look.faint, *look.colours(MOST_COLOURS)]
            for look in (_LOOK, _DARK_LOOK)
        ),
        strict=True,
    )
)
# What may hold names from the data, one of which may read like a colour.
_NO_COLOURS = frozenset({"data", "domain", "sort", "text", "subtitle", "name"})
_RATES = {"precision": "Precision", "recall": "Recall", "F1": "F1"}
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4]]
# By model; the page names them in words.
SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right"]
_COLUMNS = {"series": "curve", "at": "threshold"}
_TITLES = {  # of what tooltips show
    "average_precision": "average precision",
    "ci_low": "interval from",
    "ci_high": "interval to",
    "random_average_precision": "chance level",
    "n": "rows",
    "n_pos": "positives",
    "p_value": "p, not adjusted",
}

Spec = dict[str, Any]


def specifications(found: Evaluation) -> dict[str, dict[str, Spec]]:
    """Return the specification of each picture, by its name and the colour scheme.

    Those on a dark background have no data sets: they are the same.
    """
    charts = {"areas": _areas(found), "curves": _curves(found), "thresholds": _thresholds(found)}
    # They differ by their data only from charts that tests validate, which takes its time.
    light = {
        name: _changed(chart.to_dict(validate=False), _with_dates) for name, chart in charts.items()
    }
    titles = _TITLES | ({"average_precision": "calibrated average precision"} if found.keys else {})
    light["areas"] = _changed(light["areas"], partial(_with_titles, titles))
    return {name: {"light": spec, "dark": _darkened(spec)} for name, spec in light.items()}


def _changed(spec: Any, change: Callable[[Spec], Spec]) -> Any:
    """Return a specification, each part of which is changed, but not its data."""
    if isinstance(spec, list):
        return [_changed(inner, change) for inner in spec]
    if not isinstance(spec, dict):
        return spec
    return change({k: v if k == "datasets" else _changed(v, change) for k, v in spec.items()})


def _with_dates(part: Spec) -> Spec:
    """Return a scale of times whose domain begins and ends with dates.

    From numbers Vega-Lite makes ``datetime(number)``. Vega's interpreter, which a page without
    ``eval`` needs, takes that number for a year.
    """
    is_scale = part.get("type") == "utc" and "domain" in part
    return part | {"domain": list(map(_date, part["domain"]))} if is_scale else part


def _date(milliseconds: int) -> dict[str, Any]:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
    return {
        "year": moment.year,
        "month": moment.month,
        "date": moment.day,
        "hours": moment.hour,
        "minutes": moment.minute,
        "seconds": moment.second,
        "milliseconds": moment.microsecond // 1000,
        "utc": True,
    }


def _with_titles(titles: dict[str, str], part: Spec) -> Spec:
    """Return an encoding whose tooltips say in words what they show."""
    tips = [
        tip | {"title": titles.get(tip["field"], tip["title"])} for tip in part.get("tooltip", [])
    ]
    return part | {"tooltip": tips} if tips else part


def _darkened(spec: Any) -> Any:
    """Return a specification with the colours for a dark background, and without its data."""
    if isinstance(spec, dict):
        kept = {key: value for key, value in spec.items() if key != "datasets"}
        return {key: v if key in _NO_COLOURS else _darkened(v) for key, v in kept.items()}
    if isinstance(spec, list):
        return list(map(_darkened, spec))
    return DARK.get(spec, spec) if isinstance(spec, str) else spec


# --- areas ---------------------------------------------------------------------------------------


def _areas(found: Evaluation) -> AnyChart:
    """Return the picture of the average precisions with their intervals."""
    try:  # over time there may be more segments than in rows
        return _areas_of(found, found.source)
    except DataError:
        segments = found.source.evaluate(found.options.level)
    chosen = found.segments.filter(pl.col("segment").is_in(found.shown.segments))
    _, own = split_keys(segments.keys)
    keys = chosen.drop("segment", "name").rename(dict(zip(key_names(len(own)), own, strict=True)))
    table = join(segments.table, keys, on=own, how="semi", nulls_equal=True)
    shown = replace(segments, table=table)
    return _areas_of(found, replace(found.source, table=table, evaluate=lambda _: shown))


def _areas_of(found: Evaluation, source: ChartSource) -> AnyChart:
    options, baseline = found.options, found.options.baseline
    pairs = None
    if not found.of_models.is_empty() and (len(found.models) == PAIR or baseline):
        baseline = next((model for model, _ in turned_pairs(found)), baseline)
        calibrate = options.calibrate if found.keys else None
        pairs = models_compared(found.asked, options.level, baseline=baseline, calibrate=calibrate)
    return plot_summary(source, pairs, baseline, None, options.level, _LOOK)


# --- curves --------------------------------------------------------------------------------------


def _curves(found: Evaluation) -> AnyChart:
    """Return the picture of the curves that are chosen, with a mark at the threshold."""
    x = _axis("recall", "Recall")
    y = _axis("precision", "Precision")
    tooltip = _tooltips(["series", "model", "at"], ["precision", "recall"])
    lines = (
        alt.Chart(alt.NamedData("curves"))
        .mark_line(interpolate="step-before", strokeWidth=1.8)
        .encode(
            x=x,
            y=_axis("height", "Precision"),
            color=_colour(),
            strokeDash=_dash(found),
            detail=alt.Detail("line:N"),
        )
    )
    near = alt.Chart(alt.NamedData("curves")).mark_point(opacity=0, size=60, filled=True)
    marks = alt.Chart(alt.NamedData("marks")).mark_point(
        filled=True, size=90, opacity=1, stroke=_LOOK.background, strokeWidth=1.5
    )
    prevalence = alt.Chart(alt.NamedData("prevalences")).mark_rule(
        strokeDash=[3, 3], opacity=0.7, strokeWidth=1
    )
    chart = alt.layer(
        _iso(x, y),
        prevalence.encode(y=_axis("prevalence", "Precision"), color=_colour()),
        lines,
        near.encode(x=x, y=y, color=_colour(), tooltip=tooltip),
        marks.encode(x=x, y=y, color=_colour(), shape=_shape(found), tooltip=tooltip),
    )
    return _configured(chart, ["curves", "marks", "prevalences"])


def _iso(x: alt.X, y: alt.Y) -> AnyChart:
    """Return lines of equal F1, with a label where they end."""
    lines = iso_lines(ISO_F1, 50)
    mark = alt.Chart(lines).mark_line(color=_LOOK.faint, strokeWidth=1)
    ends = lines.filter(pl.col("recall") == 1).with_columns(label=pl.format("F1 = {}", "f_score"))
    text = alt.Chart(ends).mark_text(
        align="right", baseline="bottom", dx=-3, dy=-2, color=_LOOK.muted, fontSize=9.5
    )
    return alt.layer(
        mark.encode(x=x, y=y, detail=alt.Detail("f_score:N")),
        text.encode(x=x, y=y, text="label:N"),
    )


def _thresholds(found: Evaluation) -> AnyChart:
    """Return the picture of precision, recall and F1 over the threshold."""
    known = sorted(found.thresholds["threshold"]) if found.thresholds.height else [0.0, 1.0]
    domain = [known[0], known[-1]]
    x = alt.X("threshold:Q", title="Threshold", scale=alt.Scale(domain=domain, nice=False))
    y = _axis("value", "Precision, recall, F1")
    scale = alt.Scale(domain=list(_RATES.values()), range=_LOOK.colours(len(_RATES)))
    colour = alt.Color("measure:N", scale=scale, legend=alt.Legend(title=None))
    lines = (
        alt.Chart(alt.NamedData("rates"))
        .mark_line(strokeWidth=1.8)
        .encode(x=x, y=y, color=colour, strokeDash=_dash(found), detail=alt.Detail("line:N"))
    )
    rule = alt.Chart(alt.NamedData("at")).mark_rule(color=_LOOK.muted).encode(x=x)
    dots = alt.Chart(alt.NamedData("dots")).mark_point(
        filled=True, size=70, opacity=1, stroke=_LOOK.background, strokeWidth=1
    )
    shape = _shape(found)
    tooltip = _tooltips(["measure", "model", "at"], ["value"])
    points = dots.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    chart = alt.layer(lines, rule, points)
    return _configured(chart, ["rates", "at", "dots"])


# --- encodings -----------------------------------------------------------------------------------


def _axis(field: str, title: str) -> Any:
    axis = alt.X if field == "recall" else alt.Y
    return axis(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False))


def _colour() -> alt.Color:
    scale = alt.Scale(range=_LOOK.colours(MOST_CHOSEN))
    legend = alt.Legend(title=None, symbolType="stroke")
    return alt.Color("series:N", sort=None, scale=scale, legend=legend)


def _dash(found: Evaluation) -> alt.StrokeDash:
    scale = alt.Scale(range=_DASHES)
    legend = alt.Legend(title=None, symbolType="stroke") if len(found.models) > 1 else None
    return alt.StrokeDash("model:N", sort=None, scale=scale, legend=legend)


def _shape(found: Evaluation) -> alt.Shape:
    """Return the shapes of the models' marks, which the page lists beside the picture."""
    scale = alt.Scale(domain=model_names(found), range=SHAPES[: len(found.models)])
    return alt.Shape("model:N", scale=scale, legend=None)


def _tooltips(texts: list[str], rates: list[str]) -> list[alt.Tooltip]:
    return [
        *(alt.Tooltip(f"{name}:N", title=_COLUMNS.get(name, name)) for name in texts),
        *(alt.Tooltip(f"{name}:Q", format=".4f") for name in rates),
    ]


def _configured(chart: AnyChart, names: list[str]) -> AnyChart:
    """Return a chart with empty data sets that the page fills; it grows with its legend."""
    autosize = alt.AutoSizeParams(type="pad", resize=True)
    empty: dict[str, list[Any]] = {name: [] for name in names}
    sized = chart.properties(**_SIZE, datasets=empty, autosize=autosize)
    return sized.configure(**_LOOK.config())
