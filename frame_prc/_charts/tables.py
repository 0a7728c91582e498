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
_CELL = 54
_ROW = 18


def titles_of(columns: Sequence[str], *, ascending: bool) -> dict[str, str]:
    """Return the titles of columns; that of thresholds says on which side scores are positive."""
    side = "score ≤" if ascending else "score ≥"
    titles = {name: TITLES.get(name, name) for name in columns}
    return titles | {name: side for name in columns if name.startswith("threshold")}


def point_table(points: pl.DataFrame, look: Look, *, ascending: bool) -> AnyChart:
    """Return a table of operating points, named after their keys and criteria."""
    rows = points.with_columns(
        pl.col("threshold").cast(pl.Float64), predicted=pl.col("tp") + pl.col("fp")
    )
    keys = [name for name in rows.columns if name.startswith("key_")]
    names = make_unique([joined(row) for row in rows.select(*keys, "criterion").iter_rows()])
    texts = {
        "threshold": ["" if at is None else threshold_text(at) for at in rows["threshold"]],
        **{name: map(rate_text, rows[name]) for name in _RATES},
        **{name: map(count_text, rows[name]) for name in ("predicted", *COUNTS)},
    }
    titles = titles_of([*texts], ascending=ascending)
    cells = pl.DataFrame({titles[name]: [*column] for name, column in texts.items()})
    named = cells.with_columns(pl.Series("name", names))
    long = named.unpivot(index="name", variable_name="column", value_name="text")
    return table(alt.Chart(long), names, [*titles.values()], look)


def table(cells: Any, names: Sequence[str], titles: Sequence[str], look: Look) -> AnyChart:
    """Return a chart of cells as a table, from ``name, column, text``, with titles of columns."""
    header = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    side = alt.Axis(title=None, labelLimit=260, grid=False)
    text = cells.mark_text(color=look.text, fontSize=11, align="center")
    return text.encode(
        x=alt.X("column:N", sort=list(titles), axis=header),
        y=alt.Y("name:N", sort=list(names), axis=side),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(titles), height=_ROW * len(names))
