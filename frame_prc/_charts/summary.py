"""The chart of average precisions: a row per segment, or a line per model over time."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from frame_prc._charts import text
from frame_prc._charts.data import Segments
from frame_prc._charts.options import AnyChart, Kind, Look, Sort
from frame_prc._charts.summary_data import (
    SURE,
    SummaryData,
    find_times,
    summary_data,
    without_interval,
)
from frame_prc._charts.summary_panels import UNDEFINED, HeatMap, RowPanels, TimePanels
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import FEW, FEW_OF_POSITIVES
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import DROPPED
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
    times = find_times(segments) if sort is None and kind == "dots" else None
    if kind == "heatmap":
        _check_heat_map(segments, sort, baseline)
        comparison, sort = None, "key"
    data = summary_data(segments, comparison, baseline, sort, times)
    panels: HeatMap | RowPanels | TimePanels
    if kind == "heatmap":
        panels = HeatMap(data, look)
    elif data.times is None:
        panels = RowPanels(data, look)
    else:
        panels = TimePanels(data, look, data.times)
    title = alt.Title(
        text.safe(look.title or data.quantity),
        subtitle=text.paragraph(_notes(data, kind), _LETTERS),
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
