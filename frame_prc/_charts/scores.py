"""Bars of the scores of either class: positives up in a colour, negatives down in grey."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.theme import AnyChart, Look


def mirrored(base: AnyChart, rows: pl.DataFrame, colour: Any, look: Look) -> AnyChart:
    """Return the shares of each class in bins, on axes for all of these rows."""
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
