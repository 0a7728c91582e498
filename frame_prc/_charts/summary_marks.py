"""What the charts of a summary share: colours, scales, tooltips, and cut intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from frame_prc._charts.summary_data import SummaryData
from frame_prc._charts.text import column_title, safe, short
from frame_prc._charts.theme import Look
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import BELIEVED, RANDOM
from frame_prc._lazy import key_names

PADDING = 9  # px between the frame and what is drawn
UNDEFINED = "\N{MULTIPLICATION SIGN}"
NUMBERS = "~g"  # 0.25, and 0 without decimals

_INTERVAL = ("ci_low", "ci_high")
_ROOM = 0.08
_NO_AREA, _NO_DIFFERENCE = 1.0, 0.1  # the ends of axes without a value


def colour(data: SummaryData, look: Look, column: str) -> Any:
    """Return the encoding of models by colour."""
    if len(data.models) == 1:
        return alt.ColorValue(look.colours(1)[0])
    scale = alt.Scale(domain=data.models, range=look.colours(len(data.models)))
    legend = alt.Legend(
        title=None,
        orient="top",
        symbolType="circle",
        symbolSize=60,
        symbolStrokeWidth=0,
        direction="horizontal",
    )
    return alt.Color(f"{column}:N", scale=scale, legend=legend)


def colour_of_differences(data: SummaryData, look: Look) -> Any:
    """Return the colour of differences: that of the model, if there are several."""
    several = data.differences["model"].n_unique() > 1
    return colour(data, look, "model") if several else alt.ColorValue(look.text)


def difference_title(differences: pl.DataFrame) -> str:
    """Return what is subtracted from what."""
    pairs = differences.select("model", "baseline").unique(maintain_order=True).rows()
    model, baseline = pairs[0]
    name = model if len(pairs) == 1 else "model"
    return f"{short(safe(name))} \N{MINUS SIGN} {short(safe(baseline))}"


# --- scales --------------------------------------------------------------------------------------


def area_scale(dots: pl.DataFrame) -> alt.Scale:
    """Return a scale from 0 to the largest value, with room up to the frame."""
    columns = [name for name in (AVERAGE_PRECISION, "ci_high", RANDOM) if name in dots.columns]
    drawn = dots.drop_nulls(AVERAGE_PRECISION)
    largest = max((value for name in columns for value in drawn[name].drop_nulls()), default=0.0)
    return padded([0.0, largest or _NO_AREA])


def padded(domain: Sequence[float], **options: Any) -> alt.Scale:
    """Return a scale of these values, with room up to the frame."""
    return alt.Scale(domain=list(domain), nice=False, padding=PADDING, **options)


def difference_domain(rows: pl.DataFrame) -> tuple[float, float]:
    """Return the ends for all dots, and for the intervals of segments with enough positives.

    With few positives an interval is so wide that the others could not be read; unless they are
    fewer themselves.
    """
    values = [rows["difference"]]
    if "ci_low" in rows.columns:
        drawn = rows.drop_nulls("difference")
        enough = drawn.filter(pl.col("status").is_in(BELIEVED))
        known = enough if 2 * enough.height >= drawn.height else drawn
        values += [known["ci_low"], known["ci_high"]]
    ends = [0.0, *pl.concat(values).drop_nulls()]
    low, high = min(ends), max(ends)
    if low == high:
        return -_NO_DIFFERENCE, _NO_DIFFERENCE
    room = _ROOM * (high - low)  # beside a dot, for the arrow of its interval
    dots = [0.0, *rows["difference"].drop_nulls()]
    return min(low, min(dots) - room), max(high, max(dots) + room)


def clipped(rows: pl.DataFrame, domain: tuple[float, float]) -> pl.DataFrame:
    """Add the ends of intervals inside an axis, ``low`` and ``high``, and whether they are cut."""
    low, high = domain
    return rows.with_columns(
        low=pl.col("ci_low").clip(low, high),
        high=pl.col("ci_high").clip(low, high),
        cut_low=pl.col("ci_low") < low,
        cut_high=pl.col("ci_high") > high,
    )


# --- tooltips ------------------------------------------------------------------------------------


def tooltips(keys: Sequence[str]) -> list[alt.Tooltip]:
    """Return the tooltip of an average precision."""
    named = [
        alt.Tooltip(f"{key}:N", title=column_title(name))
        for key, name in zip(key_names(len(keys)), keys, strict=True)
    ]
    rates = [AVERAGE_PRECISION, *_INTERVAL, "prevalence", RANDOM]
    sizes = [alt.Tooltip(f"{name}:Q", title=name, format=",.12~g") for name in ("n", "n_pos")]
    return [*named, *map(_number, rates), *sizes, alt.Tooltip("status_text:N", title="status")]


def difference_tooltips(differences: pl.DataFrame) -> list[alt.Tooltip]:
    """Return the tooltip of a difference."""
    measures = ("difference", *_INTERVAL, "p_value")
    return [
        alt.Tooltip("name:N", title="segment"),
        alt.Tooltip("model:N", title="model"),
        alt.Tooltip("baseline:N", title="compared with"),
        *(_number(name) for name in measures if name in differences.columns),
    ]


def _number(column: str) -> alt.Tooltip:
    return alt.Tooltip(f"{column}:Q", title=column.replace("_", " "), format=".4f")
