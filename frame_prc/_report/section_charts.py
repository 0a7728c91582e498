"""The pictures of the sections of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.data import ChartSource
from frame_prc._charts.options import ISO_F1
from frame_prc._charts.summary import plot_summary
from frame_prc._charts.summary_data import ALL, PAIR, split_keys
from frame_prc._charts.theme import AnyChart
from frame_prc._curves.operating_points import iso_lines
from frame_prc._lazy import join, key_names
from frame_prc._report.encodings import (
    DASHED,
    LOOK,
    RECALL,
    Axis,
    names,
    of_models,
    precision,
    shape,
)
from frame_prc._report.evaluation import Evaluation
from frame_prc._request.comparisons import models_compared
from frame_prc.exceptions import DataError

_PANEL = {"width": 320, "height": 230}


# --- areas ---------------------------------------------------------------------------------------


def _areas(found: Evaluation) -> AnyChart | None:
    """Return the picture of the average precisions with their intervals."""
    if found.segments.height == 1:
        return None
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
        calibrate = options.calibrate if found.keys else None
        pairs = models_compared(found.asked, options.level, baseline=baseline, calibrate=calibrate)
    return plot_summary(source, pairs, baseline, None, options.level, LOOK)


# --- curves and thresholds -----------------------------------------------------------------------


def _curves(found: Evaluation) -> AnyChart | None:
    """Return the curves that are chosen, a panel each, with marks at the threshold."""
    if found.curves.is_empty():
        return None
    height = precision(found)
    of_kind = partial(_of_kind, alt.Chart())
    colour, tips = (
        of_models(found, "model", legend=True),
        _tooltips(["model", "at"], ["precision", "recall"]),
    )
    line: dict[str, Any] = {"interpolate": "step-before", "clip": True}
    place = {**RECALL.of("recall"), **height.of("height")}
    exact = {**RECALL.of("recall"), **height.of("precision"), "color": colour, "tooltip": tips}
    ring = {"stroke": LOOK.background, "strokeWidth": 1.5}
    chart = alt.layer(
        _iso(height),
        of_kind("prevalence").mark_rule(**DASHED).encode(**height.of("prevalence")),
        of_kind("all")
        .mark_line(color=LOOK.muted, strokeWidth=1.5, opacity=0.6, **line)
        .encode(**place),
        of_kind("line").mark_line(strokeWidth=1.8, **line).encode(**place, color=colour),
        of_kind("line").mark_point(opacity=0, size=60, filled=True).encode(**exact),
        of_kind("mark")
        .mark_point(filled=True, size=90, opacity=1, **ring)
        .encode(**exact, shape=shape(found)),
    )
    return _in_panels(chart, "panel", "curves")


def _thresholds(found: Evaluation) -> AnyChart | None:
    """Return precision, recall and F1 over the threshold, a panel each."""
    if found.thresholds.is_empty():
        return None
    known = sorted(found.thresholds["threshold"])
    x, y = Axis("x", "Threshold", (known[0], known[-1])), Axis("y", "")
    of_kind = partial(_of_kind, alt.Chart())
    colour, place = of_models(found, "model", legend=True), {**x.of("threshold"), **y.of("value")}
    is_few = alt.condition("datum.few", alt.value(0.25), alt.value(1))
    tips = _tooltips(["model", "measure", "at"], ["value"])
    ring = {"stroke": LOOK.background, "strokeWidth": 1}
    lines = of_kind("line").mark_line(strokeWidth=1.8)
    chart = alt.layer(
        of_kind("mark")
        .mark_rule(strokeWidth=1, opacity=0.5)
        .encode(**x.of("threshold"), color=colour),
        lines.encode(**place, color=colour, opacity=is_few, detail=["few:N"]),
        of_kind("mark")
        .mark_point(filled=True, size=80, opacity=1, **ring)
        .encode(**place, color=colour, shape=shape(found), tooltip=tips),
    )
    return _in_panels(chart, "measure", "rates")


def _of_kind(base: AnyChart, kind: str) -> AnyChart:
    """Return the rows of one kind: lines, marks and more share a data set, so that panels do."""
    return base.transform_filter(alt.FieldEqualPredicate(field="kind", equal=kind))


def _iso(height: Axis) -> AnyChart:
    """Return lines of equal F1 where they meet the picture, with a label where they end."""
    lines = iso_lines(ISO_F1, 50).filter(pl.col("precision") <= height.ends[1])
    place = {**RECALL.of("recall"), **height.of("precision")}
    mark = alt.Chart(lines).mark_line(color=LOOK.faint, strokeWidth=1, interpolate="monotone")
    ends = lines.filter(pl.col("recall") == 1).with_columns(label=pl.format("F1 = {}", "f_score"))
    text = alt.Chart(ends).mark_text(
        align="right", baseline="bottom", dx=-3, dy=-2, color=LOOK.muted, fontSize=9.5
    )
    return alt.layer(mark.encode(**place, detail="f_score:N"), text.encode(**place, text="label:N"))


def _tooltips(texts: list[str], rates: list[str]) -> list[alt.Tooltip]:
    titles = {"at": "threshold"}
    return [
        *(alt.Tooltip(f"{name}:N", title=titles.get(name, name)) for name in texts),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in rates),
    ]


def _in_panels(chart: AnyChart, panel: str, rows: str | pl.DataFrame) -> AnyChart:
    """Return a chart in panels of rows, or of those of a data set that the page fills."""
    order = alt.EncodingSortField(field="place", op="min")
    header = alt.Header(labelFontWeight=600, labelColor=LOOK.text)
    facet = alt.Facet(f"{panel}:N", sort=order, title=None, header=header)
    data = alt.NamedData(rows) if isinstance(rows, str) else rows
    panels = chart.properties(data=data, **_PANEL).facet(facet=facet, columns=3)
    if isinstance(rows, str):
        panels = panels.properties(datasets={rows: []})
    return panels.configure(**LOOK.config())


# --- where asked ---------------------------------------------------------------------------------


def _roc(found: Evaluation) -> AnyChart | None:
    """Return the ROC curves of all rows."""
    points = found.curves_of_all
    if points.is_empty():
        return None
    rate = pl.col("fp") / (pl.col("fp") + pl.col("tn"))
    rows = points.select("recall", "threshold", name=names(found, points["model"]), fpr=rate)
    x, y = Axis("x", "False positive rate"), Axis("y", "Recall")
    base = alt.Chart(rows.drop_nulls().with_columns(chance=pl.col("fpr")))
    line = base.mark_line(strokeWidth=1.8).encode(
        **x.of("fpr"), **y.of("recall"), color=of_models(found, legend=True), order="recall:Q"
    )
    chance = base.mark_line(**DASHED)
    diagonal = chance.encode(**x.of("fpr"), **y.of("chance"))
    return alt.layer(diagonal, line).properties(**_PANEL).configure(**LOOK.config())


def _scores(found: Evaluation) -> AnyChart | None:
    """Return how the scores of either class are spread: positives up, negatives down."""
    rows = found.score_bins
    if rows.is_empty():
        return None
    place = rows["model"].replace_strict({name: i for i, name in enumerate(found.models)})
    rows = rows.with_columns(name=names(found, rows["model"]), place=place)
    most = max(map(abs, rows["share"]))
    y = Axis("y", "Share of its class", (-most, most)).of("share")
    grey = alt.condition("datum.share > 0", of_models(found), alt.value(LOOK.muted))
    zero = alt.Y2Datum(0)
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(alt.X("low:Q", title="Score"), x2="high", **y, y2=zero, color=grey)
    )
    return _in_panels(bars, "name", rows)


def _reliability(found: Evaluation) -> AnyChart | None:
    """Return the share of positives over the mean score, in a panel for each segment."""
    rows = found.reliability
    if rows.is_empty():
        return None
    panel = [ALL if one is None else found.names[one] for one in rows["segment"]]
    rows = rows.with_columns(
        name=names(found, rows["model"]), place="segment", panel=pl.Series(panel, dtype=pl.String)
    )
    x, y = Axis("x", "Mean score"), Axis("y", "Share of positives")
    colour, at = of_models(found, legend=True), y.of("observed")
    base = alt.Chart().encode(**x.of("mean_score"), color=colour)
    diagonal = alt.Chart().mark_line(**DASHED)
    chart = alt.layer(
        diagonal.encode(**x.of("bin_low"), **y.of("bin_low")),
        base.mark_rule(clip=True).encode(**y.of("observed_low", "observed_high")),
        base.mark_line(strokeWidth=1.5).encode(**at),
        base.mark_point(filled=True, size=40, opacity=1).encode(**at),
    )
    return _in_panels(chart, "panel", rows)


# The pictures of each section, by their names.
OF_SECTIONS: dict[str, dict[str, Callable[[Evaluation], AnyChart | None]]] = {
    "curves": {"curves": _curves},
    "segments": {"areas": _areas},
    "thresholds": {"thresholds": _thresholds},
    "roc": {"roc": _roc},
    "scores": {"scores": _scores},
    "reliability": {"reliability": _reliability},
}
