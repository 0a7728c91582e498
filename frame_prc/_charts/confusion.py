"""Confusion counts at one threshold: a matrix for a single line, a table for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.text import (
    count_text,
    joined,
    make_unique,
    rate_text,
    threshold_text,
    unique_names,
)
from frame_prc._charts.theme import AnyChart, Look

COUNTS = ("tp", "fp", "fn", "tn")

_RATES = ("precision", "recall")
_OF_POINTS = ("threshold", *_RATES, "alerts")
_CLASSES = ["positive", "negative"]
_CELL = 54
_ROW = 18


def confusion(points: pl.DataFrame, threshold: float, look: Look, *, ascending: bool) -> AnyChart:
    """Return the counts of each line at a threshold."""
    chart = _matrix_of(points, look) if points.height == 1 else _table_of(points, look)
    title = f"At score {'≤' if ascending else '≥'} {threshold:g}"
    return chart.properties(title=alt.Title(title, fontSize=11.5))


def point_table(points: pl.DataFrame, look: Look) -> AnyChart:
    """Return a table of operating points, named after their lines and criteria."""
    rows = points.with_columns(
        pl.col("threshold").cast(pl.Float64), alerts=pl.col("tp") + pl.col("fp")
    )
    names = make_unique([joined(row) for row in rows.select("name", "criterion").iter_rows()])
    texts = {
        "name": names,
        "threshold": ["" if at is None else threshold_text(at) for at in rows["threshold"]],
        **{name: map(rate_text, rows[name]) for name in _RATES},
        "alerts": map(count_text, rows["alerts"]),
    }
    cells = pl.DataFrame({name: [*column] for name, column in texts.items()})
    cells = cells.unpivot(index="name", variable_name="column", value_name="text")
    return table(alt.Chart(cells), names, _OF_POINTS, look)


def matrix(cells: Any, look: Look) -> AnyChart:
    """Return a chart of cells as a matrix, from ``actual, predicted, text, share``."""
    x = alt.X("predicted:N", sort=_CLASSES, title="Predicted", axis=alt.Axis(labelAngle=0))
    y = alt.Y("actual:N", sort=_CLASSES, title="Actual")
    opacity = alt.Opacity(
        "share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.55]), legend=None
    )
    boxes = cells.mark_rect(color=look.colours(1)[0]).encode(x=x, y=y, opacity=opacity)
    text = cells.mark_text(color=look.text, fontSize=12)
    text = text.encode(x=x, y=y, text=alt.Text("text:N"))
    return alt.layer(boxes, text).properties(width=230, height=90)


def table(cells: Any, names: Sequence[str], columns: Sequence[str], look: Look) -> AnyChart:
    """Return a chart of cells as a table, from ``name, column, text``."""
    header = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    side = alt.Axis(title=None, labelLimit=260, grid=False)
    text = cells.mark_text(color=look.text, fontSize=11, align="center")
    return text.encode(
        x=alt.X("column:N", sort=list(columns), axis=header),
        y=alt.Y("name:N", sort=list(names), axis=side),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(columns), height=_ROW * len(names))


def numbers(cells: Any, columns: Sequence[str], look: Look) -> AnyChart:
    """Return a chart of cells as a list of numbers, from ``column, text``."""
    side = alt.Axis(title=None, grid=False)
    text = cells.mark_text(color=look.text, fontSize=12, align="right", dx=_CELL / 2)
    return text.encode(
        y=alt.Y("column:N", sort=list(columns), axis=side), text=alt.Text("text:N")
    ).properties(width=_CELL + 20, height=_ROW * len(columns))


def _matrix_of(points: pl.DataFrame, look: Look) -> AnyChart:
    row = points.row(0, named=True)
    total = sum(row[name] or 0 for name in COUNTS) or 1
    cells = pl.DataFrame(
        {
            "actual": [_CLASSES[name in {"fp", "tn"}] for name in COUNTS],
            "predicted": [_CLASSES[name in {"fn", "tn"}] for name in COUNTS],
            "text": [f"{name.upper()} {count_text(row[name])}" for name in COUNTS],
            "share": [(row[name] or 0) / total for name in COUNTS],
        }
    )
    return matrix(alt.Chart(cells), look)


def _table_of(points: pl.DataFrame, look: Look) -> AnyChart:
    names = unique_names(points, [name for name in points.columns if name.startswith("key_")])
    texts = points.select(
        pl.Series("name", names, dtype=pl.String),
        *(pl.Series(name, list(map(count_text, points[name])), pl.String) for name in COUNTS),
        *(pl.Series(name, list(map(rate_text, points[name])), pl.String) for name in _RATES),
    )
    texts = texts.rename(str.upper).rename({name.upper(): name for name in ("name", *_RATES)})
    cells = texts.unpivot(index="name", variable_name="column", value_name="text")
    return table(alt.Chart(cells), names, texts.columns[1:], look)
