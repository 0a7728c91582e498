"""Tables below a chart: the rates and counts of operating points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.text import count_text, joined, make_unique, rate_text, threshold_text
from frame_prc._charts.theme import AnyChart, Look
from frame_prc._charts.tooltips import TITLES

COUNTS = ("tp", "fp", "fn", "tn")

_RATES = ("precision", "recall")
_OF_POINTS = ("threshold", *_RATES, "predicted", *COUNTS)
_CELL = 54
_ROW = 18


def point_table(points: pl.DataFrame, look: Look) -> AnyChart:
    """Return a table of operating points, named after their keys and criteria."""
    rows = points.with_columns(
        pl.col("threshold").cast(pl.Float64), predicted=pl.col("tp") + pl.col("fp")
    )
    keys = [name for name in rows.columns if name.startswith("key_")]
    names = make_unique([joined(row) for row in rows.select(*keys, "criterion").iter_rows()])
    texts = {
        "name": names,
        "threshold": ["" if at is None else threshold_text(at) for at in rows["threshold"]],
        **{name: map(rate_text, rows[name]) for name in _RATES},
        **{name: map(count_text, rows[name]) for name in ("predicted", *COUNTS)},
    }
    cells = pl.DataFrame({TITLES.get(name, name): [*column] for name, column in texts.items()})
    cells = cells.unpivot(index="name", variable_name="column", value_name="text")
    return table(alt.Chart(cells), names, _OF_POINTS, look)


def table(cells: Any, names: Sequence[str], columns: Sequence[str], look: Look) -> AnyChart:
    """Return a chart of cells as a table, from ``name, column, text``, with titles of columns."""
    titles = [TITLES.get(name, name) for name in columns]
    header = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    side = alt.Axis(title=None, labelLimit=260, grid=False)
    text = cells.mark_text(color=look.text, fontSize=11, align="center")
    return text.encode(
        x=alt.X("column:N", sort=titles, axis=header),
        y=alt.Y("name:N", sort=list(names), axis=side),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(columns), height=_ROW * len(names))
