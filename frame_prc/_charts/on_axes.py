"""Curves, and a summary, on axes of Matplotlib that a person has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from frame_prc._charts.curve_rows import baselines, check_readable, drawn_height, held, name_lines
from frame_prc._charts.data import Segments, with_ends
from frame_prc._charts.options import FAINT, MOST_OVERLAID, Look, Sort
from frame_prc._charts.summary_data import summary_data, uncertain
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import RANDOM
from frame_prc._request.hints import check_installed
from frame_prc.exceptions import OptionError, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_LIMITS = (-0.02, 1.02)
_MOST_INSIDE = 6  # entries of a legend that leave room for curves
_BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
_ROW = 0.5  # of the distance of two rows, for the models in one
_DARK = 1.5  # below it, the sum of red, green and blue
_HOLE = 0.5  # of the size of a dot


class Drawn(NamedTuple):
    """What was drawn: a line per curve, or per model of a summary, in the order of the legend."""

    axes: Axes
    lines: list[Line2D]


def check_axes(verb: str, ax: object, line: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a line by their full names, before anything is read."""
    check_installed("matplotlib", "Matplotlib", verb)
    from matplotlib.axes import Axes  # noqa: PLC0415 - only here is it needed
    from matplotlib.cbook import normalize_kwargs  # noqa: PLC0415
    from matplotlib.lines import Line2D  # noqa: PLC0415

    if ax is not None and not isinstance(ax, Axes):
        allowed = "axes of Matplotlib, or None for the current ones"
        raise OptionError(f"ax={shown(ax)} is not axes", allowed, "figure, ax = plt.subplots()")
    return normalize_kwargs(line, Line2D)


# --- curves --------------------------------------------------------------------------------------


def draw_curves(
    segments: Segments, ax: Axes | None, style: Mapping[str, Any], *, intervals: bool
) -> Drawn:
    hint = "where() chooses the segments of other axes"
    check_readable(segments, facet=False, most=MOST_OVERLAID, overlaid_hint=hint)
    if not intervals:
        table = segments.table.drop("ci_low", "ci_high")
        segments = replace(segments, drawn=with_ends(table))
    lines = name_lines(segments, facet=False, most=MOST_OVERLAID)
    curves = held(segments.curves("corners")).with_columns(height=drawn_height())
    ax = _current(ax)
    look = Look(dark=sum(_ground(ax)) < _DARK)
    drawn = []
    for line, own in zip(lines["line"], _styles(lines, look), strict=True):
        points = curves.filter(line=line).select("recall", "height")
        drawn += ax.plot(*points.to_numpy().T, **{**own, **style})
    _draw_prevalence(ax, lines, look)
    ax.set(xlabel="Recall", ylabel="Precision", xlim=_LIMITS, ylim=_LIMITS)
    _, labels = ax.get_legend_handles_labels()
    if labels:
        ax.legend(**({} if len(labels) <= _MOST_INSIDE else _BESIDE))
    return Drawn(ax, drawn)


def _draw_prevalence(ax: Axes, lines: pl.DataFrame, look: Look) -> None:
    rows = baselines(lines)
    if rows.height == 1:
        rows = rows.with_columns(series=None)
    colours = dict(zip(lines["series"], look.colours(lines.height), strict=True))
    for number, (prevalence, series) in enumerate(rows.iter_rows()):
        label = "Prevalence" if number == 0 else None
        color, alpha = (look.muted, 1) if series is None else (colours[series], FAINT)
        looks: dict[str, Any] = {"color": color, "alpha": alpha, "linestyle": "--", "linewidth": 1}
        ax.axhline(prevalence, label=label, zorder=1, **looks)


def _styles(lines: pl.DataFrame, look: Look) -> Iterator[dict[str, Any]]:
    looks = zip(look.colours(lines.height), look.dashes(lines.height), strict=True)
    for row, (colour, (dash, gap)) in zip(lines.iter_rows(named=True), looks, strict=True):
        yield {
            "color": colour,
            "linestyle": (0, (dash, gap)) if gap else "-",
            "drawstyle": "steps-pre",
            "alpha": FAINT if row["few"] else None,
            "label": _plain(": ".join(filter(None, (row["series"], row["ap"])))),
        }


# --- summary -------------------------------------------------------------------------------------


def draw_summary(
    segments: Segments, sort: Sort, ax: Axes | None, style: Mapping[str, Any]
) -> Drawn:
    data = summary_data(segments, None, None, sort, None)
    places = {name: place for place, name in enumerate(data.names)}
    place = pl.Series("place", [places[name] for name in data.dots["name"]], pl.Float64)
    rows = data.dots.with_columns(place)
    ax = _current(ax)
    look = Look(dark=sum(_ground(ax)) < _DARK)
    defined = rows.drop_nulls(AVERAGE_PRECISION)
    drawn = []
    for number, colour in enumerate(look.colours(len(data.models))):
        dots = defined.filter(model=data.models[number])
        apart = (number - (len(data.models) - 1) / 2) * _ROW / len(data.models)
        label = _plain(data.models[number]) or None
        dots = dots.with_columns(place=pl.col("place") + apart)
        drawn += _draw_dots(ax, dots, {"color": colour, "label": label, **style})
    _draw_notes(ax, rows, look)
    ax.set(xlabel=f"{data.quantity} (ticks: chance)", ylim=(max(len(places), 1) - 0.5, -0.5))
    ax.set_xlim(left=0)
    ax.set_yticks(range(len(places)), [*map(_plain, places)])
    if data.whole is not None:
        ax.get_yticklabels()[0].set_fontweight("bold")
    if len(data.models) > 1:
        ax.legend(**_BESIDE)  # "best" would hide halves of dots
    return Drawn(ax, drawn)


def _draw_dots(ax: Axes, dots: pl.DataFrame, style: Mapping[str, Any]) -> list[Line2D]:
    y, low, high = dots.select("place", "ci_low", "ci_high").to_numpy().T
    ax.plot([low, high], [y, y], color=style["color"], linewidth=1.4)
    at = [AVERAGE_PRECISION, "place"]
    dot: dict[str, Any] = {"marker": "o", "linestyle": "none"}
    drawn = ax.plot(*dots.select(at).to_numpy().T, **{**dot, **style})
    hole: dict[str, Any] = {"color": _ground(ax), "markersize": drawn[0].get_markersize() * _HOLE}
    ax.plot(*uncertain(dots).select(at).to_numpy().T, **dot, **hole, markeredgewidth=0)
    return drawn


def _draw_notes(ax: Axes, rows: pl.DataFrame, look: Look) -> None:
    defined = rows.drop_nulls(AVERAGE_PRECISION)
    ax.plot(
        *defined.select(RANDOM, "place").to_numpy().T,
        color=look.muted,
        marker="|",
        linestyle="none",
        markersize=11,
        markeredgewidth=1.5,
        zorder=1,
    )
    undefined = rows.filter(pl.col(AVERAGE_PRECISION).is_null()).unique("place")
    for place, reason in undefined.select("place", "status_text").iter_rows():
        at: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
        ax.annotate(reason, (0, place), (6, 0), va="center", color=look.muted, **at)


# --- axes ----------------------------------------------------------------------------------------


def _current(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.pyplot import gca, gcf  # noqa: PLC0415 - starts a display

    axes, figure = gca(), gcf()
    if len(figure.axes) == 1 and figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")  # leaves room for a legend beside the axes
    return axes


def _ground(ax: Axes) -> tuple[float, ...]:
    """Return the colour of the axes, on white where they are transparent."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415 - installed, as there are axes

    *colour, alpha = to_rgba(ax.get_facecolor())
    return tuple(part * alpha + 1 - alpha for part in colour)


def _plain(text: str) -> str:
    """Return a text that is no formula; a label that begins with "_" would be hidden."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped
