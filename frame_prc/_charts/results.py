"""Charts of tables that the verbs return: intervals by row, periods by time, bins, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import polars as pl

from frame_prc._charts.text import column_title, joined, key_texts, make_unique, safe, short
from frame_prc._charts.theme import MOST_SEGMENTS, AnyChart, Look
from frame_prc._lazy import parts_by
from frame_prc._request.statuses import OF_WATCH
from frame_prc._rows.rows import DROPPED
from frame_prc.exceptions import DataError, FrameError

if TYPE_CHECKING:
    from altair.typing import ChartType

_WIDTH, _ROW = 420, 18  # px
_PANEL, _COLUMNS, _MOST_PANELS = 240, 3, 24
_DASHED = [4, 3]
_NUMBER = ".4~f"
# Dtypes of keys that Vega draws; others are drawn as text.
_DRAWN = (
    *(pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Float32, pl.Float64),
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32),
)
_APART = ("lower", "higher", "cannot be told apart")
# What compares two sides, and what it is where they are equal.
_EQUAL = {"difference": 0.0, "ratio": 1.0}


class _Kind(NamedTuple):
    """A kind of table: the columns that tell it, all that may follow the keys, and its chart."""

    needed: tuple[str, ...]
    outputs: tuple[str, ...]
    draw: Callable[[_Result], AnyChart]
    title: str
    note: str


@dataclass(frozen=True)
class _Result:
    """A table with the text of its keys in ``name``, and how to draw it."""

    frame: pl.DataFrame
    keys: list[str]
    look: Look
    names: dict[str, str]

    def but(self, frame: pl.DataFrame) -> _Result:
        """Return the same with other rows."""
        return replace(self, frame=frame)

    def tooltips(self) -> list[alt.Tooltip]:
        """Return a tooltip of all columns."""
        schema = self.frame.schema
        own = [name for name in schema if name in self.names or not name.startswith("shown_")]
        return [
            alt.Tooltip(f"{name}:Q", title=self._title(name), format=_NUMBER)
            if schema[name].is_numeric()
            else alt.Tooltip(f"{name}:N", title=self._title(name))
            for name in own
        ]

    def _title(self, name: str) -> str:
        return column_title(self.names.get(name, name))

    @property
    def rows(self) -> Any:
        """Return the axis with a row for each row of the table, in its order."""
        names = self.frame["shown_name"].to_list()
        axis = alt.Axis(labelLimit=260, title=None, domain=False)
        return alt.Y("shown_name:N", sort=names, axis=axis)

    @property
    def size(self) -> dict[str, int]:
        """Return the size of a chart with a row for each."""
        height = self.look.height or max(_ROW * self.frame.height, 3 * _ROW)
        return {"width": self.look.width or _WIDTH, "height": height}


def draw_result(frame: pl.DataFrame, look: Look) -> ChartType:
    """Return the chart of a table that a verb returned."""
    kind = _kind_of(frame)
    keys = [name for name in frame.columns if name not in (*kind.outputs, *DROPPED)]
    if frame.height > MOST_SEGMENTS and kind.draw in (_forest, _shrunk, _sizes):
        raise DataError(
            f"the chart would have {frame.height:,} rows",
            f"up to {MOST_SEGMENTS}",
            "filter the table",
        )
    # What all rows share is said once, above them.
    kept = keys[-1:] if kind.draw is _watched else []
    shared = [key for key in keys if frame[key].n_unique() == 1 and key not in kept]
    of_all, own = _shared_text(frame, shared), [key for key in keys if key not in shared]
    said = [f"{of_all}." if of_all else "", kind.note if frame.height else "Nothing was found."]
    texts = [key_texts(frame[key], key) for key in own]
    names = [short(joined(row)) for row in zip(*texts, strict=True)]
    names = names if own else [of_all or "all rows"] * frame.height
    # Vega reads dots, brackets and quotes in the name of a column as more than a name.
    safe_names = {key: f"shown_key_{i}" for i, key in enumerate(keys)}
    others = [key for key in keys if frame.schema[key] not in _DRAWN]
    as_text = [pl.Series(key, key_texts(frame[key]), pl.String) for key in others]
    frame, own = frame.with_columns(as_text).rename(safe_names), [safe_names[key] for key in own]
    titles = {name: key for key, name in safe_names.items()}
    named = frame.with_columns(pl.Series("shown_name", make_unique(names), pl.String))
    result = _Result(named, own, look, titles)
    chart: ChartType = kind.draw(result).properties(
        title=alt.Title(safe(look.title or kind.title), subtitle=" ".join(filter(None, said)))
    )
    configured: ChartType = chart.configure(**look.config())
    return configured


def _shared_text(frame: pl.DataFrame, keys: Sequence[str]) -> str:
    """Return what all rows share: the models that are compared, or what segments are beside."""
    text = {key: key_texts(frame[key].head(1), key)[0] for key in keys}
    beside = "/" if "ratio" in frame.columns else "\N{MINUS SIGN}"
    if {"model", "baseline"} <= {*text}:
        return f"{text['model']} {beside} {text['baseline']}"
    if "reference" in text:
        return f"Segment {beside} {text['reference']}"
    return joined(text.values())


def _kind_of(frame: pl.DataFrame) -> _Kind:
    for kind in _KINDS:
        if set(kind.needed) <= set(frame.columns):
            return kind
    raise FrameError(
        f"the columns {', '.join(frame.columns)} are not those of a table with a chart",
        "what a verb returned with an interval: a comparison, average_precision(ci=0.95), "
        "shrunk(), find_segments(), monitor(), reliability() or threshold_table()",
        "plot() draws curves, and plot_summary() average precisions, of rows",
    )


# --- intervals -------------------------------------------------------------------------------


def _forest(result: _Result) -> AnyChart:
    """Draw a row with an interval for each row of the table."""
    frame, look = result.frame, result.look
    *_, value = (n for n in frame.columns[: frame.columns.index("ci_low")] if n != "std_error")
    known = pl.col("status") == "ok" if "status" in frame.columns else pl.lit(value=True)
    shown, colour = frame.with_columns(shown_known=known), alt.ColorValue(look.colours(1)[0])
    layers: list[AnyChart] = []
    if value in _EQUAL:
        shown, colour = _by_sign(shown, look, value)
        layers.append(_line_at(_EQUAL[value], look))
    drawn = result.but(shown)
    base = alt.Chart(shown.drop_nulls(value)).encode(y=drawn.rows, color=colour)
    title = _title_of(value)
    at = alt.X(f"{value}:Q", title=title)
    layers += [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("ci_low:Q", title=title), x2="ci_high:Q"),
        base.mark_circle(size=70, opacity=1).encode(x=at, tooltip=drawn.tooltips()),
        _hollow(base, at, drawn),
    ]
    scale = alt.Scale(type="log") if value == "ratio" else alt.Scale()
    return alt.layer(*layers).encode(x=alt.X(scale=scale)).properties(**drawn.size)


def _by_sign(shown: pl.DataFrame, look: Look, value: str) -> tuple[pl.DataFrame, Any]:
    """Return differences in their order, and their colour: by their sign, where it is told."""
    known = pl.col("shown_known")
    sign = (
        pl.when(known & (pl.col("ci_high") < _EQUAL[value]))
        .then(pl.lit(_APART[0]))
        .when(known & (pl.col("ci_low") > _EQUAL[value]))
        .then(pl.lit(_APART[1]))
        .otherwise(pl.lit(_APART[2]))
    )
    scale = alt.Scale(domain=_APART, range=[*look.colours(2)[::-1], look.muted])
    colour = alt.Color("shown_apart:N", scale=scale, legend=_legend())
    return shown.with_columns(shown_apart=sign).sort(value, nulls_last=True), colour


def _legend() -> alt.Legend:
    return alt.Legend(title=None, orient="top")


def _hollow(base: AnyChart, at: alt.X, drawn: _Result) -> AnyChart:
    """Draw the centre of points whose status is not ok in the colour of the background."""
    few = base.transform_filter("!datum.shown_known").mark_circle(size=25, opacity=1)
    return few.encode(x=at, color=alt.ColorValue(drawn.look.background), tooltip=drawn.tooltips())


def _shrunk(result: _Result) -> AnyChart:
    """Draw each segment as it is, hollow, and as it probably is, with its interval."""
    look = result.look
    shown = result.frame.drop_nulls("shrunk").sort("shrunk")
    drawn = result.but(shown)
    base = alt.Chart(shown).encode(y=drawn.rows)
    colour, title = look.colours(1)[0], "value"
    moved = base.mark_rule(color=look.muted, strokeDash=_DASHED).encode(
        x=alt.X("value:Q", title=title), x2="shrunk:Q"
    )
    rules = base.mark_rule(strokeWidth=2, color=colour).encode(x="ci_low:Q", x2="ci_high:Q")
    raw = base.mark_point(size=40, color=look.muted, filled=False).encode(
        x="value:Q", tooltip=drawn.tooltips()
    )
    probable = base.mark_circle(size=60, color=colour, opacity=1).encode(
        x="shrunk:Q", tooltip=drawn.tooltips()
    )
    scale = alt.Scale(zero=False)
    layers = alt.layer(moved, rules, raw, probable).encode(x=alt.X(scale=scale))
    if "rank_low" not in shown.columns:
        return layers.properties(**drawn.size)
    ranks = base.mark_rule(strokeWidth=5, color=colour, opacity=0.5).encode(
        x=alt.X("rank_low:Q", title="rank from the best", scale=alt.Scale(zero=False)),
        x2="rank_high:Q",
        y=alt.Y("shown_name:N", sort=shown["shown_name"].to_list(), axis=None),
        tooltip=drawn.tooltips(),
    )
    narrow = drawn.size | {"width": drawn.size["width"] // 2}
    return alt.hconcat(layers.properties(**drawn.size), ranks.properties(**narrow), spacing=12)


def _sizes(result: _Result) -> AnyChart:
    """Draw how many positives each segment has, and how many it would need."""
    shown, look = result.frame.sort("n_pos_needed", nulls_last=True), result.look
    drawn = result.but(shown)
    base = alt.Chart(shown.drop_nulls("n_pos_needed")).encode(y=drawn.rows)
    log = alt.Scale(type="log")
    at = {name: alt.X(f"{name}:Q", title="positives", scale=log) for name in _POSITIVES}
    moved = base.mark_rule(color=look.muted, strokeDash=_DASHED).encode(
        x=at["n_pos"], x2="n_pos_needed:Q"
    )
    there = base.mark_point(size=40, color=look.muted, filled=False).encode(
        x=at["n_pos"], tooltip=drawn.tooltips()
    )
    needed = base.mark_circle(size=60, color=look.colours(1)[0], opacity=1).encode(
        x=at["n_pos_needed"], tooltip=drawn.tooltips()
    )
    return alt.layer(moved, there, needed).properties(**drawn.size)


# --- lines -----------------------------------------------------------------------------------


def _watched(result: _Result) -> AnyChart:
    """Draw the periods in order, with the limit of each and those that give an alarm."""
    look, over = result.look, result.keys[-1]
    others = result.keys[:-1]
    dtype = result.frame.schema[over]
    kind = "T" if dtype.is_temporal() else "Q" if dtype.is_numeric() else "O"
    red, blue = look.colours(2)[1], look.colours(1)[0]
    colours = alt.Scale(domain=OF_WATCH, range=[red, blue, look.muted])
    x = alt.X(f"{over}:{kind}", title=safe(result.names[over]))

    def panel(frame: pl.DataFrame) -> AnyChart:
        base = alt.Chart(frame).encode(x=x)
        line = base.mark_line(color=look.muted, strokeWidth=1).encode(
            y=alt.Y("value:Q", title="value", scale=alt.Scale(zero=False))
        )
        at = base.mark_line(color=look.muted, strokeDash=_DASHED).encode(y="reference:Q")
        limit = base.mark_line(color=red, strokeWidth=1, interpolate="step").encode(y="limit:Q")
        points = base.mark_circle(size=50, opacity=1).encode(
            y="value:Q",
            color=alt.Color("conclusion:N", scale=colours, legend=_legend()),
            tooltip=result.tooltips(),
        )
        return alt.layer(at, limit, line, points)

    return _in_panels(result, others, panel, width=_WIDTH)


def _reliability(result: _Result) -> AnyChart:
    """Draw how often rows are positive over what their probabilities say."""
    look = result.look
    colour = look.colours(1)[0]

    def panel(frame: pl.DataFrame) -> AnyChart:
        base = alt.Chart(frame).encode(x=alt.X("mean_score:Q", title="mean score"))
        ends = pl.DataFrame({"mean_score": [0.0, 1.0], "observed": [0.0, 1.0]})
        diagonal = alt.Chart(ends).mark_line(color=look.muted, strokeDash=_DASHED)
        y = alt.Y("observed:Q", title="share of positives")
        rules = base.mark_rule(color=colour).encode(
            y=alt.Y("observed_low:Q", title=""), y2="observed_high:Q"
        )
        line = base.mark_line(color=colour, strokeWidth=1).encode(y=y)
        points = base.mark_circle(color=colour, opacity=1).encode(
            y=y,
            size=alt.Size("n:Q", legend=None, scale=alt.Scale(range=[20, 160])),
            tooltip=result.tooltips(),
        )
        return alt.layer(diagonal.encode(x="mean_score:Q", y=y), rules, line, points)

    return _in_panels(result, result.keys, panel, width=330, square=True)


def _thresholds(result: _Result) -> AnyChart:
    """Draw precision and recall over the number of alerts."""
    look, lines = result.look, ["precision", "recall"]
    colours = alt.Scale(domain=lines, range=look.colours(2))

    def panel(frame: pl.DataFrame) -> AnyChart:
        long = frame.unpivot(
            lines,
            index=[name for name in frame.columns if name not in lines],
            variable_name="shown_line",
            value_name="shown_share",
        )
        base = alt.Chart(long.drop_nulls("shown_share")).encode(
            x=alt.X("alerts_per_1000:Q", title="alerts per 1,000 rows"),
            y=alt.Y("shown_share:Q", title="precision, recall", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("shown_line:N", scale=colours, legend=_legend()),
        )
        tips = [
            alt.Tooltip("shown_line:N", title="line"),
            alt.Tooltip("shown_share:Q", title="share", format=_NUMBER),
            alt.Tooltip("threshold:Q"),
            alt.Tooltip("alerts_per_1000:Q", title="alerts per 1,000 rows", format=_NUMBER),
        ]
        return alt.layer(
            base.mark_line(), base.mark_circle(size=50, opacity=1).encode(tooltip=tips)
        )

    return _in_panels(result, result.keys, panel, width=_WIDTH)


def _in_panels(
    result: _Result,
    keys: Sequence[str],
    panel: Callable[[pl.DataFrame], AnyChart],
    *,
    width: int,
    square: bool = False,
) -> AnyChart:
    """Return one panel, or a grid with one for each combination of keys."""
    look = result.look
    groups = parts_by(result.frame, keys)
    if len(groups) > _MOST_PANELS:
        raise DataError(
            f"the chart would have {len(groups)} panels",
            f"up to {_MOST_PANELS}",
            "filter the table",
        )
    if len(groups) == 1:
        side = look.width or width
        return panel(groups[0]).properties(
            width=side, height=look.height or (side if square else 220)
        )
    side = look.width or _PANEL
    size = {"width": side, "height": look.height or (side if square else 160)}
    names = [joined(key_texts(group[key].head(1), key)[0] for key in keys) for group in groups]
    panels = [
        panel(group).properties(title=alt.Title(short(name), fontSize=12), **size)
        for group, name in zip(groups, names, strict=True)
    ]
    return alt.concat(*panels, columns=_COLUMNS, spacing=12)


def _line_at(value: float, look: Look) -> AnyChart:
    rule = alt.Chart(pl.DataFrame({"at": [value]})).mark_rule(color=look.muted, strokeDash=_DASHED)
    return rule.encode(x="at:Q")


def _title_of(column: str) -> str:
    return column.replace("_", " ")


_SIZES = ("measure", "n", "n_pos", "prevalence", "n_segments", "n_undefined")
_POSITIVES = ("n_pos", "n_pos_needed")
_LIMITS = ("ci_low", "ci_high", "status")
_COMPARED = (
    *(*_SIZES, "value", "others", *_EQUAL, "std_error", "conclusion", "n_looked_at"),
    *("prevalence_a", "prevalence_b", "value_a", "value_b", "reference_prevalence"),
    *("p_value", "p_margin", "p_adjusted", "ci_low_adjusted", "ci_high_adjusted", *_LIMITS),
)
_KINDS = (
    _Kind(
        ("value", "reference", "limit", "conclusion"),
        (
            *(*_SIZES, "value", "reference", "limit", "conclusion", "n_periods", "z", "delay"),
            *("logit", "variance", "n_effective", "bound", "error", "plan", "status"),
        ),
        _watched,
        "Periods against the reference",
        "Dashed: the reference. Beyond the line a period is an alarm alone, or with those before.",
    ),
    _Kind(
        ("value", "shrunk", "ci_low", "ci_high"),
        (
            *(*_SIZES, "value", "shrunk", "share_of_mean", "rank_low", "rank_high"),
            *("probability_worst", "probability_below", *_LIMITS),
        ),
        _shrunk,
        "How good each segment probably is",
        "Hollow: the segment by itself. Filled: as it probably is, with its interval.",
    ),
    _Kind(
        ("difference", "ci_low", "ci_high"),
        _COMPARED,
        _forest,
        "Differences",
        "Each interval by itself: of many, some exclude 0 by chance. White centre: see status.",
    ),
    _Kind(
        ("ratio", "ci_low", "ci_high"),
        _COMPARED,
        _forest,
        "Ratios",
        "Each interval by itself: of many, some exclude 1 by chance. White centre: see status.",
    ),
    _Kind(
        _POSITIVES,
        (*_SIZES, "value", "std_error", "n_needed", "n_pos_needed", "status"),
        _sizes,
        "Positives that a study needs",
        "Hollow: those there are. Filled: those that the width, or the difference, needs.",
    ),
    _Kind(
        ("mean_score", "observed", "observed_low", "observed_high"),
        (
            *("bin_low", "bin_high", *_SIZES, "mean_score", "observed"),
            *("observed_low", "observed_high", "status"),
            *("calibration_error", "calibration_error_by_chance"),
        ),
        _reliability,
        "Share of positives among rows of like scores",
        "With intervals. On the diagonal, scores are probabilities. Larger: more rows.",
    ),
    _Kind(
        ("threshold", "alerts_per_1000", "precision", "recall"),
        (
            *("threshold", "alerts_per_1000", "precision", "recall", "tp", "fp", "fn", "tn"),
            *("fpr", "f1", "predicted_count", "net_benefit", "expected_cost", "ascending"),
            "status",
        ),
        _thresholds,
        "Precision and recall by number of alerts",
        "Each point is a threshold of the table.",
    ),
    _Kind(
        _LIMITS,
        (
            *(*_COMPARED, "average_precision", "calibrated_average_precision", "lift"),
            *("random_average_precision", "step", "trapezoid", "interpolated"),
        ),
        _forest,
        "With intervals",
        "A white centre: too few rows to rely on (see status).",
    ),
)
