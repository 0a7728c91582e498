"""What charts share: the axes of panels, tooltips, tables, and bars of scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import altair as alt
import polars as pl

from frame_prc._charts import text
from frame_prc._charts.options import LARGE, AnyChart, Look

# --- sizes and axes of panels ------------------------------------------------------------------

Columns: TypeAlias = tuple[tuple[str, str], tuple[str, str]]
PRECISION_RECALL: Columns = (("recall", "Recall"), ("precision", "Precision"))
ROC: Columns = (("fpr", "False-positive rate"), ("recall", "True-positive rate"))

_TICKS = [0, 0.25, 0.5, 0.75, 1]


@dataclass(frozen=True)
class PanelLayout:
    """The number and size of a panel, and whether its left and bottom axes have labels.

    The axis of precision ends at ``top``. ``columns`` are in ``x`` and ``y``, each with its title;
    ``ends`` are those of ``x`` if it is no share.
    """

    number: int
    width: int
    height: int
    left: bool
    bottom: bool
    top: float = 1.0
    columns: Columns = PRECISION_RECALL
    ends: tuple[float, float] | None = None

    @property
    def is_large(self) -> bool:
        return min(self.width, self.height) >= LARGE

    @cached_property
    def x(self) -> alt.X:
        return alt.X(f"{self.columns[0][0]}:Q")

    @cached_property
    def y(self) -> alt.Y:
        return alt.Y(f"{self.columns[1][0]}:Q")

    @property
    def axes(self) -> dict[str, Any]:
        along, upward = (title for _, title in self.columns)
        if self.ends is None:
            axis = self._axis(along, 1.0, labels=self.bottom)
        else:
            shown, count = along if self.bottom else None, max(self.width // 50, 2)
            axis = alt.Axis(title=shown, tickCount=count)
        x = alt.X(scale=alt.Scale(domain=list(self.ends or (0, 1.0))), axis=axis)
        y_axis = self._axis(upward, self.top, labels=self.left)
        return {"x": x, "y": alt.Y(scale=alt.Scale(domain=[0, self.top]), axis=y_axis)}

    @property
    def font(self) -> float:
        return 11.5 if self.is_large else 10.5

    @property
    def letters(self) -> int:
        return int(self.width / self.font * 2.1)

    @property
    def clip(self) -> dict[str, Any]:
        return {"clip": True} if self.top < 1 else {}

    def _axis(self, title: str, end: float, *, labels: bool) -> alt.Axis:
        roomy = min(self.width, self.height) > LARGE / 2
        ticks: dict[str, Any] = {"tickCount": 5 if roomy else 2}
        if end == 1:
            ticks = {"values": _TICKS[:: 1 if roomy else 2], "format": ".2f" if roomy else ".1f"}
        if not labels:
            return alt.Axis(title=None, labels=False, **ticks)
        return alt.Axis(title=title, **ticks)


def layouts_of(
    count: int, columns: int, width: int, height: int, *, paired: bool, top: float = 1.0
) -> list[PanelLayout]:
    return [
        PanelLayout(
            number=number,
            width=width,
            height=height,
            left=paired or number % columns == 0,
            # Where no panel is below: elsewhere labels would push the rows apart.
            bottom=number + columns >= count,
            top=top,
        )
        for number in range(count)
    ]


# --- tooltips ----------------------------------------------------------------------------------

TITLES = {
    "area": "average precision",
    "f_score": "F score",
    "fpr": "false-positive rate",
    "threshold_text": "threshold",
    "predicted": "alerts",
    "predicted_rate": "share of rows",
    "ci_low": "interval from",
    "ci_high": "interval to",
    "random_average_precision": "chance level",
    "n": "rows",
    "n_pos": "positives",
    "p_value": "p, not adjusted",
    "p_adjusted": "p, adjusted",
    "status_text": "status",
    **{name: name.upper() for name in ("tp", "fp", "fn", "tn")},
}
# Above the point and to its right, where a curve that falls has been: below, it would be hidden.
BESIDE_POINT = {"anchor": "mark", "position": ["top-right", "top-left", "bottom-left"]}
_RATES = (
    *("precision", "recall", "F1", "f_score", "fpr", "prevalence", "predicted_rate"),
    *("ci_low", "ci_high", "random_average_precision", "difference", "p_value", "p_adjusted"),
)
_COUNTS = ("tp", "fp", "fn", "tn", "predicted", "n", "n_pos")
_FORMATS = dict.fromkeys(_RATES, ".4f") | dict.fromkeys(_COUNTS, ",.12~g")


def tooltip_of(columns: Sequence[str], keys: dict[str, str]) -> alt.ExprRef:
    """Return the tooltip of the point nearest the mouse, with some of its columns.

    The mouse is over the Voronoi cell of that point, whose datum is the point. Vega-Lite 6.1
    looks for the fields in the cell, hence this expression (vega-lite pull request 9707).
    """
    row = "(datum.datum || datum)"
    titles, fields = TITLES | keys, {}
    for name in columns:
        value = f"{row}.{name}"
        number = f"format({value}, '{_FORMATS[name]}')" if name in _FORMATS else value
        fields[titles.get(name, name)] = number
    pairs = ", ".join(f"{json.dumps(title)}: {value}" for title, value in fields.items())
    return alt.ExprRef(f"{{{pairs}}}")


def tooltips(columns: Sequence[str], keys: dict[str, str]) -> list[alt.Tooltip]:
    of_keys = [alt.Tooltip(f"{name}:N", title=title) for name, title in keys.items()]
    return [*of_keys, *map(tooltip, columns)]


def tooltip(column: str) -> alt.Tooltip:
    title = TITLES.get(column, column)
    if column in _FORMATS:
        return alt.Tooltip(f"{column}:Q", title=title, format=_FORMATS[column])
    return alt.Tooltip(f"{column}:N", title=title)


# --- tables ------------------------------------------------------------------------------------

COUNTS = ("tp", "fp", "fn", "tn")

_RATES_OF_POINTS = ("precision", "recall")
_CELL = 54
_ROW_OF_TABLE = 18


def titles_of(columns: Sequence[str], *, ascending: bool) -> dict[str, str]:
    """Return the titles of columns; that of thresholds says on which side scores are positive."""
    side = "score ≤" if ascending else "score ≥"
    titles = {name: TITLES.get(name, name) for name in columns}
    return titles | {name: side for name in columns if name.startswith("threshold")}


def point_table(points: pl.DataFrame, look: Look, *, ascending: bool) -> AnyChart:
    rows = points.with_columns(
        pl.col("threshold").cast(pl.Float64), predicted=pl.col("tp") + pl.col("fp")
    )
    keys = [name for name in rows.columns if name.startswith("key_")]
    parts = rows.select(*keys, "criterion").iter_rows()
    names = text.make_unique(list(map(text.joined, parts)))
    texts = {
        "threshold": ["" if at is None else text.threshold_text(at) for at in rows["threshold"]],
        **{name: map(text.rate_text, rows[name]) for name in _RATES_OF_POINTS},
        **{name: map(text.count_text, rows[name]) for name in ("predicted", *COUNTS)},
    }
    titles = titles_of([*texts], ascending=ascending)
    cells = pl.DataFrame({titles[name]: [*column] for name, column in texts.items()})
    named = cells.with_columns(pl.Series("name", names))
    long = named.unpivot(index="name", variable_name="column", value_name="text")
    return table(alt.Chart(long), names, [*titles.values()], look)


def table(cells: Any, names: Sequence[str], titles: Sequence[str], look: Look) -> AnyChart:
    """Return a chart of cells as a table, from ``name, column, text``, with titles of columns."""
    header = alt.Axis(orient="top", labelAngle=0, grid=False, domain=False, title=None)
    side = alt.Axis(title=None, grid=False)
    words = cells.mark_text(color=look.text, fontSize=11, align="center")
    return words.encode(
        x=alt.X("column:N", sort=list(titles), axis=header),
        y=alt.Y("name:N", sort=list(names), axis=side),
        text=alt.Text("text:N"),
    ).properties(width=_CELL * len(titles), height=_ROW_OF_TABLE * len(names))


# --- dots with intervals -----------------------------------------------------------------------


def dots(
    rows: AnyChart, hollow: AnyChart, size: int, look: Look, ends: Any = None, **place: Any
) -> list[AnyChart]:
    """Return a dot per row, over its interval if there are ``ends``; ``hollow`` ones have holes."""
    hole = place | {"color": alt.ColorValue(look.background)}
    found = [
        rows.mark_circle(size=size).encode(**place),
        hollow.mark_point(filled=True, size=size / 3).encode(**hole),
    ]
    if ends is None:
        return found
    rule = rows.mark_rule(strokeWidth=2 if size > 20 else 1, clip=True)  # noqa: PLR2004
    return [rule.encode(**place | ends), *found]


# --- a panel for each of several groups of rows ------------------------------------------------


def in_panels(
    chart: AnyChart, rows: pl.DataFrame | str, panel: str, look: Look, columns: int = 3, **more: Any
) -> alt.FacetChart:
    """Return a chart in panels of rows, or of those of a named data set, in order of ``place``."""
    order = alt.EncodingSortField(field="place", op="min")
    header = alt.Header(labelFontWeight=600, labelColor=look.text)
    # A shared axis would lie below the empty places of the last row.
    own_axes = alt.Resolve(axis=alt.AxisResolveMap(x="independent"))
    return alt.FacetChart(
        data=alt.NamedData(rows) if isinstance(rows, str) else rows,
        spec=chart,
        facet=alt.Facet(f"{panel}:N", sort=order, title=None, header=header),
        columns=columns,
        resolve=own_axes if columns > 1 else alt.Undefined,
        **more,
    )


# --- bars of scores ----------------------------------------------------------------------------


def mirrored(base: AnyChart, rows: pl.DataFrame, colour: Any, look: Look) -> AnyChart:
    shares = rows.select(pl.max_horizontal("positives", "negatives")).to_series().drop_nulls()
    most = 1.04 * max(shares.to_list(), default=1.0)
    scale = alt.Scale(domain=[-most, most], nice=False)
    edges = sorted([*rows["bin_low"], *rows["bin_high"]])
    along = alt.Scale(domain=edges[:1] + edges[-1:], nice=False)
    axis = alt.Axis(tickCount=5, labelExpr="format(abs(datum.value), '.2~f')")
    bars = base.encode(x=alt.X("bin_low:Q", title="Score", scale=along), x2="bin_high")

    def side(bars: AnyChart, share: str, colour: Any) -> AnyChart:
        y = alt.Y(f"{share}:Q", title="Share of its class", scale=scale, axis=axis)
        return bars.mark_bar().encode(y=y, y2=alt.Y2Datum(0), color=colour)

    below = bars.transform_calculate(shown_below="-datum.negatives")
    return alt.layer(
        side(bars, "positives", colour), side(below, "shown_below", alt.value(look.muted))
    )
