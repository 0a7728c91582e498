"""The pictures beside the answers of a report: small, and as wide as their place."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.text import safe, short
from frame_prc._charts.theme import AnyChart
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._report.answers import NAMED
from frame_prc._report.encodings import (
    DASHED,
    LOOK,
    RECALL,
    Axis,
    dots,
    end_of,
    names,
    of_models,
    precision,
    wide,
)
from frame_prc._report.evaluation import BETTER, SMALL, WORSE, Evaluation
from frame_prc._report.sentences import comparisons_told
from frame_prc._report.table import model_names

_STEP = 30  # px, of a row
_HEIGHT = 150  # px
_LEAST = 110  # px, of bars
_PALE = 0.4  # opacity
_MOST_NAMES = 24  # of segments along an axis


def good(found: Evaluation) -> AnyChart | None:
    """Return bars from the chance level to 1, with the area of each model in its interval."""
    rows = found.pooled.drop_nulls(AVERAGE_PRECISION)
    if rows.is_empty():
        return None
    axis = Axis("x", "Average precision, from a random ranking to 1")
    chance, colour = "random_average_precision", of_models(found)
    own = rows.select(chance, AVERAGE_PRECISION, "ci_low", "ci_high", "status", most=1.0)
    base = alt.Chart(own.with_columns(name=names(found, rows["model"])))
    rows_of = base.encode(y=alt.Y("name:N", sort=model_names(found), title=None))
    layers = [
        rows_of.mark_bar(height=14, color=LOOK.faint).encode(**axis.of(chance, "most")),
        rows_of.mark_bar(height=14, opacity=0.45).encode(
            **axis.of(chance, AVERAGE_PRECISION), color=colour
        ),
        *dots(rows_of, AVERAGE_PRECISION, axis, colour),
        rows_of.mark_text(align="left", dx=6, color=LOOK.text).encode(
            **axis.of("ci_high"), text=alt.Text(AVERAGE_PRECISION, format=".3f")
        ),
    ]
    return wide(alt.layer(*layers), max(_STEP * rows.height, _LEAST))


def pooled(found: Evaluation) -> AnyChart | None:
    """Return the curves of all rows."""
    if found.curves.is_empty():
        return None
    line: dict[str, Any] = {"interpolate": "step-before", "strokeWidth": 1.8, "clip": True}
    lines = alt.Chart(alt.NamedData("pooled")).mark_line(**line)
    chance = alt.Chart(alt.NamedData("chance")).mark_rule(**DASHED)
    height = precision(found, all_rows=True)
    colour = of_models(found)
    drawn = lines.encode(**RECALL.of("recall"), **height.of("height"), color=colour)
    chart = alt.layer(chance.encode(**height.of("prevalence")), drawn)
    return wide(chart, _HEIGHT, "pooled", "chance", title="All rows; dashed: a random ranking")


def models(found: Evaluation) -> AnyChart | None:
    """Return the differences of models around 0, and which side is better for which model."""
    rows = pl.DataFrame(comparisons_told(found), schema=found.of_models.schema)
    if rows.is_empty():
        return None
    new, old = (names(found, rows[side]) for side in ("model", "baseline"))
    rows = rows.with_columns(name=new + " \N{MINUS SIGN} " + old)
    ends = [abs(x) for name in ("difference", "ci_low", "ci_high") for x in rows[name].drop_nulls()]
    most = 1.15 * (max(ends) or 0.1)
    axis = Axis("x", "Difference in average precision", (-most, most))
    base = alt.Chart(rows).encode(y=alt.Y("name:N", sort=None, title=None))
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(**DASHED)
    sides = (old[0], new[0]) if rows.height == 1 else ("the second", "the first")
    intervals = dots(base, "difference", axis, alt.value(LOOK.text))
    return wide(
        alt.layer(zero.encode(**axis.of("zero")), *intervals, *_sides(*sides)), _STEP * rows.height
    )


def _sides(left: str, right: str) -> list[AnyChart]:
    """Return the words over the ends of a difference."""
    words = pl.DataFrame({"left": [f"← {left} better"], "right": [f"{right} better →"]})
    row = alt.Chart(words)
    text: dict[str, Any] = {"baseline": "bottom", "dy": -4, "color": LOOK.muted, "limit": 200}
    left_text, right_text = (row.mark_text(align=end, **text) for end in ("left", "right"))
    top = alt.value(0)
    return [
        left_text.encode(text="left:N", x=alt.value(0), y=top),
        right_text.encode(text="right:N", x=alt.value("width"), y=top),
    ]


def strip(found: Evaluation) -> AnyChart | None:
    """Return the segments from the lowest on, small ones last; those shown to differ stand out."""
    rows = _segments(found)
    if rows.height < 2:  # noqa: PLR2004 - one has nothing to differ from
        return None
    has_names = rows.height <= _MOST_NAMES
    colour = alt.value(LOOK.colours(len(found.models))[found.models.index(found.best)])
    axis = Axis("y", "Average precision", (0.0, end_of(rows["ci_high"], 1.0)))
    base = alt.Chart(rows).encode(x=_along(rows, has_names=has_names))
    is_found = alt.FieldOneOfPredicate(field="standing", oneOf=[WORSE, BETTER])
    shade = alt.condition(is_found, alt.value(1), alt.value(_PALE))
    intervals = dots(base.encode(opacity=shade), "value", axis, colour, 50 if has_names else 20)
    words = base.transform_filter(is_found).mark_text(dy=-7, color=LOOK.text, fontSize=9.5)
    labels = [words.encode(**axis.of("ci_high"), text="standing:N")] if has_names else _ends(rows)
    chart = alt.layer(*_level_of_all(found, axis), *intervals, *labels)
    return wide(chart, _HEIGHT, title=_legend_of_strip(found))


def _legend_of_strip(found: Evaluation) -> str:
    """Return what the picture of segments shows, and how."""
    small = " Hollow: too small to judge." if found.segments_that_are(SMALL) else ""
    name = short(safe(found.best), 24)
    return f"{name} at one prevalence. Pale: not shown to differ.{small}"


def _ends(rows: pl.DataFrame) -> list[AnyChart]:
    """Return the names of the segments at both ends, where not all have a place for theirs."""
    worse = rows.filter(standing=WORSE)["name"].head(NAMED)
    better = rows.filter(standing=BETTER)["name"].tail(NAMED).reverse()
    words = pl.DataFrame({"worse": [", ".join(worse)], "better": [", ".join(better)]})
    base, low = alt.Chart(words), alt.value(_HEIGHT - 8)
    text: dict[str, Any] = {"color": LOOK.text, "limit": 220}
    left, right = (base.mark_text(align=end, **text) for end in ("left", "right"))
    return [
        left.encode(text="worse:N", x=alt.value(4), y=low),
        right.encode(text="better:N", x=alt.value("width"), y=low),
    ]


def _segments(found: Evaluation) -> pl.DataFrame:
    """Return the segments of the best model with their calibrated areas."""
    known = found.standings.drop_nulls(CALIBRATED)
    if not found.in_time:
        is_small = pl.col("standing") == SMALL
        known = known.sort(is_small, CALIBRATED, "segment")
    names = [found.names[number] for number in known["segment"]]
    return known.select(
        "status",
        pl.col("standing").cast(pl.String),
        name=pl.Series(names, dtype=pl.String),
        place=pl.int_range(pl.len()),
        value=pl.col(CALIBRATED),
        ci_low=pl.col(f"{CALIBRATED}_low"),
        ci_high=pl.col(f"{CALIBRATED}_high"),
    )


def _along(rows: pl.DataFrame, *, has_names: bool) -> alt.X:
    """Return the axis of segments, with their names if there are few."""
    if has_names:
        axis = alt.Axis(labelAngle=-40, labelLimit=80, grid=False)
        return alt.X("name:N", sort=None, title=None, axis=axis)
    plain = alt.Axis(labels=False, ticks=False, grid=False)
    scale = alt.Scale(domain=[-1, rows.height], nice=False)
    return alt.X("place:Q", title="segments, sorted", axis=plain, scale=scale)


def _level_of_all(found: Evaluation, axis: Axis) -> list[AnyChart]:
    """Return a line at the area of all rows, with its name."""
    level = pl.DataFrame({"level": [found.of_best[CALIBRATED]], "text": ["all rows"]})
    base = alt.Chart(level).encode(**axis.of("level"))
    rule = base.mark_rule(**DASHED)
    text = base.mark_text(align="left", dx=4, color=LOOK.muted)
    return [rule, text.encode(text="text:N", x=alt.value("width"))]
