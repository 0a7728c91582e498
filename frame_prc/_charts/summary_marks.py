"""What the two charts of a summary share: colours, scales, tooltips, and marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.summary_data import SummaryData, difference_domain, uncertain
from frame_prc._charts.text import column_title, safe, short
from frame_prc._charts.theme import AnyChart, Look
from frame_prc._charts.tooltips import tooltips
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import RANDOM
from frame_prc._lazy import key_names

PADDING = 9  # px between the frame and what is drawn
NUMBERS = "~g"  # 0.25, and 0 without decimals
DASHED = [4, 3]
INTERVAL = ("ci_low", "ci_high")

_LONGEST_IN_TITLE, _LONGEST_SIDE = 20, 12  # letters of a name
_NO_AREA = 1.0  # the end of an axis without a value


@dataclass(frozen=True)
class Quantity:
    """What panels show: a column of rows, the title and the ends of its axis, and how it looks."""

    rows: pl.DataFrame
    column: str
    title: str
    ends: tuple[float, float]
    colour: Any
    tooltips: list[alt.Tooltip]

    @property
    def scale(self) -> alt.Scale:
        """The scale of the axis, with room up to the frame."""
        return alt.Scale(domain=list(self.ends), nice=False, padding=PADDING)


@dataclass(frozen=True)
class SummaryMarks:
    """The encodings and marks that the panels of a summary share."""

    data: SummaryData
    look: Look

    # --- what is shown ---------------------------------------------------------------------------

    def areas(self) -> Quantity:
        """Return the average precisions, from 0 to the largest value."""
        dots, title = self.data.dots, self.data.quantity
        drawn = dots.drop_nulls(AVERAGE_PRECISION)
        columns = [name for name in (AVERAGE_PRECISION, "ci_high", RANDOM) if name in drawn.columns]
        largest = max((value for name in columns for value in drawn[name].drop_nulls()), default=0)
        ends = (0.0, largest or _NO_AREA)
        return Quantity(dots, AVERAGE_PRECISION, title, ends, self._colour(), self.tooltips())

    def differences(self) -> Quantity:
        """Return the differences; of several models, each has its colour."""
        rows, measures = self.data.differences, ("difference", *INTERVAL, "p_value")
        model, baseline = self._pair(_LONGEST_IN_TITLE)
        title, ends = f"{model} \N{MINUS SIGN} {baseline}", difference_domain(rows)
        several = rows["model"].n_unique() > 1
        colour = self._colour() if several else alt.ColorValue(self.look.text)
        names = {"name": "segment", "model": "model", "baseline": "compared with"}
        tips = tooltips([name for name in measures if name in rows.columns], names)
        return Quantity(rows, "difference", title, ends, colour, tips)

    def _colour(self) -> Any:
        """Return the encoding of models by colour."""
        models = self.data.models
        if len(models) == 1:
            return alt.ColorValue(self.look.colours(1)[0])
        scale = alt.Scale(domain=models, range=self.look.colours(len(models)))
        legend = alt.Legend(symbolType="circle", symbolSize=60, symbolStrokeWidth=0)
        return alt.Color("model:N", scale=scale, legend=legend)

    def sides(self) -> tuple[str, str]:
        """Return what it means to lie below 0, and above."""
        model, baseline = self._pair(_LONGEST_SIDE)
        return f"{baseline} better", f"{model} better"

    def _pair(self, most: int) -> tuple[str, str]:
        rows = self.data.differences
        pairs = rows.select("model", "baseline").unique(maintain_order=True).rows()
        model, baseline = pairs[0]
        return short(safe(model if len(pairs) == 1 else "model"), most), short(safe(baseline), most)

    # --- marks -----------------------------------------------------------------------------------

    def dots(self, rows: pl.DataFrame, size: int, **encodings: Any) -> list[AnyChart]:
        """Return a dot per row."""
        circle = alt.Chart(rows).mark_circle(size=size).encode(**encodings)
        hollow = uncertain(rows)
        if hollow.is_empty():
            return [circle]
        hole = alt.Chart(hollow).mark_point(filled=True, size=size / 3)
        colour = alt.ColorValue(self.look.background)
        return [circle, hole.encode(**{**encodings, "color": colour})]

    def side(self, text: str, **place: Any) -> AnyChart:
        """Return a word beside the differences; ``place`` has its alignment and its ``x, y``."""
        at = {name: alt.value(place.pop(name)) for name in ("x", "y")}
        mark = alt.Chart(pl.DataFrame({"text": [text]})).mark_text(
            fontSize=10, color=self.look.muted, **place
        )
        return mark.encode(**at, text=alt.Text("text:N"))

    def no_difference(self, **at: Any) -> AnyChart:
        """Return a line where two models are equal; ``at`` is its encoding."""
        zero = alt.Chart(pl.DataFrame({"difference": [0.0]}))
        return zero.mark_rule(color=self.look.muted, strokeDash=DASHED).encode(**at)

    # --- tooltips --------------------------------------------------------------------------------

    def tooltips(self) -> list[alt.Tooltip]:
        """Return the tooltip of an average precision."""
        names, quantity = self.data.segments.keys, self.data.quantity.lower()
        keys = dict(zip(key_names(len(names)), map(column_title, names), strict=True))
        others = (*INTERVAL, "prevalence", RANDOM, "n", "n_pos", "status_text")
        area = alt.Tooltip(f"{AVERAGE_PRECISION}:Q", title=quantity, format=".4f")
        return [*tooltips((), keys), area, *tooltips(others, {})]
