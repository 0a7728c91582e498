"""The heat map of a summary by two keys: a cell per segment, with its number of positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.summary_data import split_keys
from frame_prc._charts.summary_marks import NUMBERS, SummaryMarks
from frame_prc._charts.text import column_title, count_text, number_by
from frame_prc._charts.theme import AnyChart
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import FEW

_ROOM, _NARROWEST, _WIDEST, _HEIGHT = 640, 46, 90, 24  # px of all columns, and of a cell
_FAINT = 0.35
_NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class HeatMap(SummaryMarks):
    """A panel per model, with the key that has fewer values in columns."""

    @property
    def columns(self) -> int:
        """The number of panels beside each other."""
        return max(_ROOM // self._width, 1)

    def cells(self) -> list[AnyChart]:
        """Return the panels."""
        dots = self.data.dots.filter(pl.col("segment") >= 0)
        texts = [count_text(n) if n else _NONE for n in dots["n_pos"]]
        cells = dots.with_columns(pl.Series("text", texts), few=pl.col("status").is_in(FEW))
        models = self.data.models
        if len(models) == 1:
            return [self._panel(cells)]
        return [self._panel(cells.filter(model=model), title=model) for model in models]

    def _panel(self, cells: pl.DataFrame, **title: Any) -> AnyChart:
        row, column = self._keys
        columns = [row, column, AVERAGE_PRECISION, "few", "text"]
        place = {
            "x": alt.X(f"{column}:N", sort=self._values(column), axis=self._axis(column, "top")),
            "y": alt.Y(f"{row}:N", sort=self._values(row), axis=self._axis(row, "left")),
            "tooltip": self.tooltips(),
        }
        defined = cells.drop_nulls(AVERAGE_PRECISION)
        faint = alt.condition("datum.few", alt.value(_FAINT), alt.value(1))
        boxes = alt.Chart(defined).mark_rect().encode(color=self._area(), opacity=faint, **place)
        is_dark = f"!datum.few && datum.{AVERAGE_PRECISION} > {sum(self._ends) / 2}"
        colour = alt.condition(is_dark, alt.value(self.look.background), alt.value(self.look.text))
        text = alt.Chart(cells.select(columns)).mark_text(fontSize=10.5)
        numbers = text.encode(x=place["x"], y=place["y"], text=alt.Text("text:N"), color=colour)
        size = {"width": self._width, "height": _HEIGHT * len(self._values(row))}
        return alt.layer(boxes, numbers, **size, **title)

    # --- encodings -------------------------------------------------------------------------------

    @property
    def _keys(self) -> list[str]:
        """The key in rows and the one in columns."""
        _, own = split_keys(self.data.segments.keys)
        return sorted(own, key=lambda key: -len(self._values(key)))

    def _values(self, key: str) -> list[str]:
        """Return the values of a key as text, in its order."""
        table = self.data.segments.table
        dots = self.data.dots.filter(pl.col("segment") >= 0)
        ordered = dots.select(key, number_by(table, [key], "number")).sort("number")
        return ordered[key].unique(maintain_order=True).to_list()

    @property
    def _width(self) -> int:
        count = len(self._values(self._keys[1]))
        return self.look.width or count * max(min(_ROOM // count, _WIDEST), _NARROWEST)

    def _axis(self, key: str, side: Any) -> alt.Axis:
        keys = self.data.segments.keys
        title = column_title(keys[int(key.removeprefix("key_"))])
        return alt.Axis(title=title, orient=side, labelAngle=0, labelLimit=160)

    @property
    def _ends(self) -> tuple[float, float]:
        enough = self.data.dots.filter(~pl.col("status").is_in(FEW))
        known = [*enough[AVERAGE_PRECISION].drop_nulls()]
        return min(known, default=0.0), max(known, default=1.0)

    def _area(self) -> alt.Color:
        scale = alt.Scale(
            domain=list(self._ends), range=[self.look.faint, self.look.colours(1)[0]], clamp=True
        )
        legend = alt.Legend(title=self.data.quantity, gradientLength=160, format=NUMBERS)
        return alt.Color(f"{AVERAGE_PRECISION}:Q", scale=scale, legend=legend)
