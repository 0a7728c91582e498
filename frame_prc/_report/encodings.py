"""What the pictures of a report share: axes, colours of models, dots with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl

from frame_prc._charts.options import AnyChart, Look
from frame_prc._charts.text import end_of
from frame_prc._curves.logit_intervals import FEW
from frame_prc._report.evaluation import Evaluation

LOOK, DARK_LOOK = Look(), Look(dark=True)
CONFIG = alt.Config(**LOOK.config())
# A level to compare with: chance, all rows, no difference.
DASHED: dict[str, Any] = {"strokeDash": [3, 3], "color": LOOK.muted}

# By model.
_SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right"]
_STARTS = 0.05  # the recall below which precision jumps


@dataclass(frozen=True)
class Axis:
    """An axis of values."""

    channel: Literal["x", "y"]
    title: str
    ends: tuple[float, float] = (0.0, 1.0)

    def of(self, field: str, to: str | None = None) -> dict[str, Any]:
        """Return the place of a mark, or where it begins and ends."""
        kind = alt.X if self.channel == "x" else alt.Y
        scale = alt.Scale(domain=list(self.ends))
        ticks = alt.Axis(tickCount=5)
        begins: dict[str, Any] = {
            self.channel: kind(f"{field}:Q", title=self.title, scale=scale, axis=ticks)
        }
        return begins if to is None else begins | {f"{self.channel}2": to}


RECALL = Axis("x", "Recall")


def precision(found: Evaluation, *, all_rows: bool = False) -> Axis:
    """Return the axis of precision, which ends earlier where all curves are low."""
    past = found.curves.filter(pl.col("recall") > _STARTS)
    if all_rows and found.segments.height > 1:
        past = past.filter(pl.col("segment").is_null())
    return Axis("y", "Precision", (0.0, end_of(past["precision"])))


def ends_of(values: pl.Series) -> tuple[float, float]:
    """Return the ends of an axis of rates that need no 0: a tenth below all, and next above."""
    known = values.drop_nulls().to_list()
    return math.floor(10 * min(known, default=0.0)) / 10, end_of(values, 1.0)


def wide(chart: AnyChart, height: int, *data: str, title: str | list[str] = "") -> AnyChart:
    """Return a chart as wide as its place in the page, which fills its empty data sets."""
    empty: dict[str, list[Any]] = {name: [] for name in data}
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    small: dict[str, Any] = {"fontSize": 11, "fontWeight": "normal", "color": LOOK.muted}
    titled = {"title": alt.Title(title, **small)} if title else {}
    # In one call: each method of a chart copies all of it.
    return chart.properties(
        width="container", height=height, autosize=fit, datasets=empty, config=CONFIG, **titled
    )


def dots(base: AnyChart, field: str, axis: Axis, colour: Any, size: int = 70) -> list[AnyChart]:
    """Return the intervals and the values of rows; a dot is hollow where rows are few."""
    is_few = alt.FieldOneOfPredicate(field="status", oneOf=list(FEW))
    place = axis.of(field)
    dot: dict[str, Any] = {"size": size, "clip": True}
    rules = base.mark_rule(strokeWidth=2 if size > 20 else 1, clip=True)  # noqa: PLR2004
    filled = base.transform_filter({"not": is_few.to_dict()}).mark_point(filled=True, **dot)
    hollow = base.transform_filter(is_few).mark_point(fill=LOOK.background, **dot)
    return [
        rules.encode(**axis.of("ci_low", "ci_high"), color=colour),
        filled.encode(**place, color=colour),
        hollow.encode(**place, stroke=colour),
    ]


def names(found: Evaluation, models: pl.Series) -> pl.Series:
    """Return the names of models as pictures have them."""
    return models.replace_strict(found.short_names, return_dtype=pl.String)


def of_models(found: Evaluation, field: str = "name", *, legend: bool = False) -> alt.Color:
    """Return the colour of a model, the same in all pictures."""
    known = [*found.short_names.values()]
    scale = alt.Scale(domain=known, range=LOOK.colours(len(known)))
    return alt.Color(
        f"{field}:N", scale=scale, legend=alt.Undefined if legend and known[1:] else None
    )


def colours_of_models(found: Evaluation) -> dict[str, dict[str, str]]:
    """Return the colour of each model, by the colour scheme."""
    names, looks = found.short_names.values(), {"light": LOOK, "dark": DARK_LOOK}
    return {
        scheme: dict(zip(names, look.colours(len(names)), strict=True))
        for scheme, look in looks.items()
    }


def shape(found: Evaluation) -> alt.Shape:
    """Return the shapes of the models' marks, for readers who see no colours."""
    names = [*found.short_names.values()]
    scale = alt.Scale(domain=names, range=_SHAPES[: len(names)])
    return alt.Shape("model:N", scale=scale, legend=alt.Undefined if names[1:] else None)
