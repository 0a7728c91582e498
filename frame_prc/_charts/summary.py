"""The chart of average precisions: a row per segment, or a line per model over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from frame_prc._charts.data import ChartSource
from frame_prc._charts.options import Sort
from frame_prc._charts.summary_data import (
    PAIR,
    find_times,
    models_of,
    quantity,
    split_keys,
    summary_data,
)
from frame_prc._charts.summary_notes import notes
from frame_prc._charts.summary_rows import RowPanels
from frame_prc._charts.summary_times import TimePanels
from frame_prc._charts.text import paragraph, safe
from frame_prc._charts.theme import MOST_COLOURS, MOST_SEGMENTS, Look
from frame_prc._request.options import check_baseline
from frame_prc._request.specs import Comparison
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from altair.typing import ChartType

_LETTERS = 125
_MOST_POINTS = 2_000  # over time, of all models: Altair draws up to 5,000 rows in each layer


def plot_summary(
    source: ChartSource,
    comparison: Comparison | None,
    baseline: str | None,
    sort: Sort,
    level: float,
    look: Look,
) -> ChartType:
    """Return the chart of average precisions, and of their differences if there are any.

    With a ``comparison``, of models on the same rows, the differences have intervals.
    """
    times = find_times(source) if sort is None else None
    _check_readable(source, over_time=times is not None)
    models = models_of(source)
    if comparison is None:
        check_baseline(baseline, models)
    _check_sort(sort, models, baseline)
    segments = source.evaluate(level)
    data = summary_data(segments, comparison, baseline, sort, times)
    panels = RowPanels(data, look) if times is None else TimePanels(data, times, look)
    title = alt.Title(
        safe(look.title or quantity(data.dots)),
        subtitle=paragraph(notes(data, level, segments, times), _LETTERS),
    )
    chart: ChartType = alt.concat(
        *panels.cells(),
        columns=panels.columns,
        spacing=10,
        title=title,
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="shared", yOffset="independent")),
        config=alt.Config(**look.config()),
    )
    return chart


def _check_readable(source: ChartSource, *, over_time: bool) -> None:
    """Raise an error if there are too many segments or models, before they are computed."""
    models, own = split_keys(source.keys)
    hint = "{}, or read all of them in summary()"
    filtered = hint.format("filter the segments")
    if over_time:
        source.check_count([*models, *own], _MOST_POINTS, "points", filtered)
    else:
        source.check_count(own, MOST_SEGMENTS, "segments", filtered)
    source.check_count(models, MOST_COLOURS, "models", hint.format("choose some of the models"))


def _check_sort(sort: Sort, models: list[str], baseline: str | None) -> None:
    """Raise an error if there are no differences to sort by."""
    if sort == "difference" and baseline is None and len(models) != PAIR:
        found = f"{len(models)} models" if len(models) > 1 else "one model"
        raise OptionError(
            f"sort='difference' is given, and there {'are' if len(models) > 1 else 'is'} {found}",
            "two models, or several with baseline=",
        )
