"""Confusion counts at one threshold: a matrix for a single line, a table for several."""

from __future__ import annotations

import altair as alt
import polars as pl

from frame_prc._charts.text import count_text, rate_text, unique_names
from frame_prc._charts.theme import AnyChart, Look

_COUNTS = ("tp", "fp", "fn", "tn")
_RATES = ("precision", "recall")
_CELL = 62
_ROW = 18


def confusion(points: pl.DataFrame, threshold: float, look: Look, *, ascending: bool) -> AnyChart:
    """Return the counts of each line at a threshold."""
    chart = _matrix(points, look) if points.height == 1 else _table(points, look)
    title = f"At score {'≤' if ascending else '≥'} {threshold:g}"
    return chart.properties(title=alt.Title(title, fontSize=11.5))


def _matrix(points: pl.DataFrame, look: Look) -> AnyChart:
    row = points.row(0, named=True)
    total = sum(row[name] or 0 for name in _COUNTS) or 1
    classes = ["positive", "negative"]
    cells = pl.DataFrame(
        {
            "actual": [classes[name in {"fp", "tn"}] for name in _COUNTS],
            "predicted": [classes[name in {"fn", "tn"}] for name in _COUNTS],
            "text": [f"{name.upper()} {count_text(row[name])}" for name in _COUNTS],
            "share": [(row[name] or 0) / total for name in _COUNTS],
        }
    )
    x = alt.X("predicted:N", sort=classes, title="Predicted", axis=alt.Axis(labelAngle=0))
    y = alt.Y("actual:N", sort=classes, title="Actual")
    opacity = alt.Opacity(
        "share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.55]), legend=None
    )
    boxes = alt.Chart(cells).mark_rect(color=look.colours(1)[0]).encode(x=x, y=y, opacity=opacity)
    text = alt.Chart(cells).mark_text(color=look.text, fontSize=12)
    text = text.encode(x=x, y=y, text=alt.Text("text:N"))
    return alt.layer(boxes, text).properties(width=230, height=90)


def _table(points: pl.DataFrame, look: Look) -> AnyChart:
    names = unique_names(points, [name for name in points.columns if name.startswith("key_")])
    texts = points.select(
        pl.Series("name", names, dtype=pl.String),
        *(pl.Series(name, list(map(count_text, points[name])), pl.String) for name in _COUNTS),
        *(pl.Series(name, list(map(rate_text, points[name])), pl.String) for name in _RATES),
    )
    columns = [*_COUNTS, *_RATES]
    cells = texts.unpivot(index="name", variable_name="column", value_name="text")
    header = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    text = alt.Chart(cells).mark_text(color=look.text, fontSize=11, align="center")
    return text.encode(
        x=alt.X("column:N", sort=columns, axis=header),
        y=alt.Y("name:N", sort=names, axis=alt.Axis(title=None, labelLimit=260, grid=False)),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(columns), height=_ROW * len(names))
