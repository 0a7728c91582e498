"""Confusion counts at one threshold: a matrix for a single line, a table for several."""

from __future__ import annotations

import altair as alt
import polars as pl

from frame_prc._charts.text import amount, joined, make_unique, share, short
from frame_prc._charts.theme import Look, Piece

_AMOUNTS = ("tp", "fp", "fn", "tn")
_SHARES = ("precision", "recall")
_CELL = 62
_ROW = 18


def confusion(points: pl.DataFrame, threshold: float, look: Look) -> Piece:
    """Return the counts of each line at a threshold."""
    chart = _matrix(points, look) if points.height == 1 else _table(points, look)
    return chart.properties(
        title=alt.Title(f"Predicted positive from {threshold:g} on", fontSize=11.5)
    )


def _matrix(points: pl.DataFrame, look: Look) -> Piece:
    row = points.row(0, named=True)
    total = sum(row[name] or 0 for name in _AMOUNTS) or 1
    classes = ["positive", "negative"]
    cells = pl.DataFrame(
        {
            "actual": [classes[name in {"fp", "tn"}] for name in _AMOUNTS],
            "predicted": [classes[name in {"fn", "tn"}] for name in _AMOUNTS],
            "text": [f"{name.upper()} {amount(row[name])}" for name in _AMOUNTS],
            "share": [(row[name] or 0) / total for name in _AMOUNTS],
        }
    )
    x = alt.X("predicted:N", sort=classes, title="Predicted", axis=alt.Axis(labelAngle=0))
    y = alt.Y("actual:N", sort=classes, title="Actual")
    opacity = alt.Opacity(
        "share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.55]), legend=None
    )
    boxes = alt.Chart(cells).mark_rect(color=look.colours(1)[0]).encode(x=x, y=y, opacity=opacity)
    words = alt.Chart(cells).mark_text(color=look.text, fontSize=12)
    words = words.encode(x=x, y=y, text=alt.Text("text:N"))
    return alt.layer(boxes, words).properties(width=230, height=90)


def _table(points: pl.DataFrame, look: Look) -> Piece:
    keys = [name for name in points.columns if name.startswith("key_")]
    names = make_unique([short(joined(row)) for row in points.select(keys).iter_rows()])
    texts = points.select(
        pl.Series("name", names, dtype=pl.String),
        *(pl.Series(name, list(map(amount, points[name])), pl.String) for name in _AMOUNTS),
        *(pl.Series(name, list(map(share, points[name])), pl.String) for name in _SHARES),
    )
    columns = [*_AMOUNTS, *_SHARES]
    cells = texts.unpivot(index="name", variable_name="column", value_name="text")
    head = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    words = alt.Chart(cells).mark_text(color=look.text, fontSize=11, align="center")
    return words.encode(
        x=alt.X("column:N", sort=columns, axis=head),
        y=alt.Y("name:N", sort=names, axis=alt.Axis(title=None, labelLimit=260, grid=False)),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(columns), height=_ROW * len(names))
