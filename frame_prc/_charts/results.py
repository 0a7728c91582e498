"""Charts of tables that the verbs return: intervals by row, periods by time, bins, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import altair as alt
import polars as pl

from frame_prc._charts import text
from frame_prc._charts.marks import dots, in_panels, mirrored
from frame_prc._charts.options import MOST_SEGMENTS, AnyChart, Look
from frame_prc._charts.summary import DASHED, PADDING, time_axis
from frame_prc._charts.summary_data import milliseconds
from frame_prc._inference.estimates import measure_of
from frame_prc._lazy import left_join
from frame_prc._request.specs import MODEL, NEITHER_BETTER, OF_WATCH, Measured, MeasureName
from frame_prc.exceptions import DataError, FrameError

if TYPE_CHECKING:
    from altair.typing import ChartType

_WIDTH, _ROW = 420, 18  # px
_ALONE, _BESIDE = (_WIDTH, 220), (240, 160)  # px, of a panel
_MOST_PANELS = 24
_NUMBER = ".4~f"
# Dtypes of keys that Vega draws; others are drawn as text.
_DRAWN = (
    *(pl.Boolean, pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Float32, pl.Float64),
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32),
)
_NO_LOOK = "not looked at"
_NOT_TOLD = "cannot be told apart"
# What compares two sides, and what it is where they are equal.
_EQUAL = {"difference": 0.0, "ratio": 1.0}

# The keys of a table come before its numbers, of which some is one of these; names anywhere.
_NAMES = {"model", "baseline", "method"}
_NUMBERS = {"measure", "n", "n_pos", "n_segments", "prevalence", "bin_low", "average_precision"}


class _Kind(NamedTuple):
    needed: tuple[str, ...]
    draw: Callable[[_Result], AnyChart]
    title: str
    note: str


@dataclass(frozen=True)
class _Result:
    """A table, drawn in rows with the text of its keys in ``shown_name``, and how to draw it.

    ``keys`` are those that tell rows apart, and ``titles`` those of all keys, by their safe names.
    """

    frame: pl.DataFrame
    keys: list[str]
    look: Look
    titles: dict[str, str]

    def tooltips(self) -> list[alt.Tooltip]:
        schema = self.frame.schema
        return [
            alt.Tooltip(f"{name}:Q", title=self.title(name), format=_NUMBER)
            if schema[name].is_numeric()
            else alt.Tooltip(f"{name}:N", title=self.title(name))
            for name in schema
            if name in self.titles or not name.startswith("shown_")
        ]

    @property
    def measure(self) -> str:
        return ", ".join(name.replace("_", " ") for name in self.measures)

    @property
    def measures(self) -> list[MeasureName]:
        if "measure" not in self.frame.columns or self.frame.is_empty():
            return [Measured().name]
        return self.frame["measure"].unique(maintain_order=True).to_list()

    @property
    def sides(self) -> tuple[str, str]:
        """What a value below that of equal sides means, and one above."""
        if self.is_better_above is None:
            return "lower", "higher"
        below, above = [f"{name} better" for name in self.pair] or ["worse", "better"]
        return (below, above) if self.is_better_above else (above, below)

    @property
    def pair(self) -> list[str]:
        own = {title: name for name, title in self.titles.items()}
        pair = [self.frame[own[side]].unique() for side in ("baseline", MODEL) if side in own]
        if len(pair) == 2 and all(len(one) == 1 for one in pair):  # noqa: PLR2004
            return [text.short(text.safe(str(one[0]))) for one in pair]
        return []

    @property
    def is_better_above(self) -> bool | None:
        """Whether higher values are better, if that is so of all measures."""
        higher = {measure_of(Measured(name)).higher_is_better for name in self.measures}
        told = len(higher) == 1 and not {*self.measures} & {*NEITHER_BETTER}
        return higher.pop() if told else None

    def title(self, name: str) -> str:
        return text.column_title(self.titles.get(name, name))

    def base(self, value: str) -> AnyChart:
        names = self.frame["shown_name"].to_list()
        axis = alt.Axis(title=None, domain=False)
        rows = alt.Chart(self.frame.drop_nulls(value))
        return rows.encode(y=alt.Y("shown_name:N", sort=names, axis=axis))

    def sized(self, *layers: AnyChart) -> AnyChart:
        height = self.look.height or max(_ROW * self.frame.height, 3 * _ROW)
        return alt.layer(*layers, width=self.look.width or _WIDTH, height=height)


_ADJUSTED = {f"{name}_adjusted": name for name in ("ci_low", "ci_high")}


def draw_result(frame: pl.DataFrame, look: Look) -> ChartType:
    kind = _kind_of(frame)
    if {*_ADJUSTED} <= {*kind.needed}:
        frame = frame.rename(_ADJUSTED)
    is_in_rows = kind.draw in (_forest, _shrunk, _sizes)
    if frame.height > MOST_SEGMENTS and is_in_rows:
        raise _too_many(f"{frame.height:,} rows", MOST_SEGMENTS)
    numbers = {*kind.needed, _value_of(frame), *_NUMBERS}
    first = {*takewhile(lambda name: name not in numbers, frame.columns)}
    several = "measure" in frame.columns and frame["measure"].n_unique() > 1
    named = {*first, *_NAMES, *(["measure"] if several else [])}
    keys = [name for name in frame.columns if name in named]
    # What all rows share is said once, above them.
    kept = keys[-1:] if kind.draw is _watched else []
    shared = [key for key in keys if frame[key].n_unique() == 1 and key not in kept]
    of_all, own = _shared_text(frame, shared), [key for key in keys if key not in shared]
    said = [f"{of_all}." if of_all else "", kind.note if frame.height else "Nothing was found."]
    if kind.draw is _reliability and (end := end_of_bins(frame)) < 1:
        said.append(f"Axes end at {end:g}.")
    if frame.height and "n_looked_at" in frame.columns:
        said.append(f"These were {frame['n_looked_at'][0]:,}.")
    title, subtitle = text.safe(look.title or kind.title), " ".join(filter(None, said))
    result = _named(frame, keys, own, of_all or "all rows" if is_in_rows else None, look)
    chart: ChartType = kind.draw(result).properties(
        title=alt.Title(title, subtitle=subtitle),
        description=f"{title}, {frame.height:,} rows. {subtitle}",
    )
    configured: ChartType = chart.configure(**look.config())
    return configured


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


def _value_of(frame: pl.DataFrame) -> str:
    before = [*takewhile(lambda name: name != "ci_low", frame.columns)]
    return next((name for name in reversed(before) if name not in ("measure", "std_error")), "")


def _too_many(count: str, most: int) -> DataError:
    return DataError(f"the chart would have {count}", f"up to {most}", "filter the table")


def _named(
    frame: pl.DataFrame, keys: list[str], own: list[str], otherwise: str | None, look: Look
) -> _Result:
    """Return a table with safe names, and the text of the keys that tell rows apart, if asked."""
    texts = [text.key_texts(frame[key], key) for key in own]
    names = [text.short_name(row) for row in zip(*texts, strict=True)]
    names = names or [otherwise or ""] * frame.height
    shown = [pl.Series("shown_name", text.make_unique(names), pl.String)] if otherwise else []
    # Vega reads dots, brackets and quotes in the name of a column as more than a name.
    safe_names = {key: f"shown_key_{i}" for i, key in enumerate(keys)}
    others = [key for key in keys if frame.schema[key] not in _DRAWN]
    as_text = [pl.Series(key, text.key_texts(frame[key]), pl.String) for key in others]
    named = frame.with_columns(*as_text, *shown)
    titles = {safe_name: key for key, safe_name in safe_names.items()}
    return _Result(named.rename(safe_names), [safe_names[key] for key in own], look, titles)


def _shared_text(frame: pl.DataFrame, keys: Sequence[str]) -> str:
    """Return what all rows share: the models that are compared, or what segments are beside."""
    values = {key: text.key_texts(frame[key].head(1), key)[0] for key in keys}
    beside = "/" if "ratio" in frame.columns else "\N{MINUS SIGN}"
    if {"model", "baseline"} <= {*values}:
        return f"{values['model']} {beside} {values['baseline']}"
    if "reference" in values:
        return f"Segment {beside} {values['reference']}"
    return text.joined(values.values())


# --- intervals -------------------------------------------------------------------------------


def _forest(result: _Result) -> AnyChart:
    frame, look, value = result.frame, result.look, _value_of(result.frame)
    title = value.replace("_", " ")
    known = pl.col("status") == "ok" if "status" in frame.columns else pl.lit(value=True)
    frame, colour = frame.with_columns(shown_known=known), alt.ColorValue(look.colours(1)[0])
    layers: list[AnyChart] = []
    if value in _EQUAL:
        frame, colour = _by_sign(result, frame, value)
        # Several are told in the names of rows.
        title += f" of {result.measure}" if len(result.measures) == 1 else ""
        if result.is_better_above is not None:
            below, above = result.sides
            title = f"← {below} · {title} · {above} →"
        equal = alt.Chart(pl.DataFrame({value: [_EQUAL[value]]}))
        layers.append(equal.mark_rule(color=look.muted, strokeDash=DASHED).encode(x=f"{value}:Q"))
    drawn = replace(result, frame=frame)
    base = drawn.base(value)
    scale = alt.Scale(type="log" if value == "ratio" else "linear", **_domain(frame, value))
    at = alt.X(f"{value}:Q", title=title, scale=scale)
    few = base.transform_filter("!datum.shown_known")
    ends, place = {"x": alt.X("ci_low:Q"), "x2": "ci_high:Q"}, {"x": at, "color": colour}
    layers += dots(base, few, 70, look, ends, **place, tooltip=drawn.tooltips())
    return drawn.sized(*layers)


def _domain(frame: pl.DataFrame, value: str) -> dict[str, Any]:
    known = frame.filter("shown_known").drop_nulls("ci_low")
    if value not in _EQUAL or known.is_empty():
        return {}
    ends = [*known["ci_low"], *known["ci_high"], *frame[value].drop_nulls(), _EQUAL[value]]
    return {"domain": [min(ends), max(ends)], "nice": True}


def _by_sign(result: _Result, frame: pl.DataFrame, value: str) -> tuple[pl.DataFrame, Any]:
    """Return differences in their order, and their colour: by their sign, where it is told."""
    known, equal = pl.col("shown_known"), _EQUAL[value]
    lower, higher = result.sides
    worse_first = (lower, higher) if result.is_better_above is not False else (higher, lower)
    sign = (
        pl.when(known & (pl.col("ci_high") < equal))
        .then(pl.lit(lower))
        .when(known & (pl.col("ci_low") > equal))
        .then(pl.lit(higher))
        .otherwise(pl.lit(_NOT_TOLD))
    )
    # Of two models those that curves have, where the baseline comes first.
    first, second = result.look.colours(2)
    told = [first, second] if result.pair else [second, first]
    colours = [*told, result.look.muted]
    scale = alt.Scale(domain=[*worse_first, _NOT_TOLD], range=colours)
    colour = alt.Color("shown_apart:N", scale=scale)
    return frame.with_columns(shown_apart=sign).sort(value, nulls_last=True), colour


def _shrunk(result: _Result) -> AnyChart:
    look, frame = result.look, result.frame.drop_nulls("shrunk").sort("shrunk")
    drawn = replace(result, frame=frame)
    base = drawn.base("shrunk")
    colour, scale = look.colours(1)[0], alt.Scale(zero=False)
    rules = base.mark_rule(strokeWidth=2, color=colour).encode(x="ci_low:Q", x2="ci_high:Q")
    chart = drawn.sized(rules, *_from_to(drawn, "value", "shrunk", result.measure, scale))
    if "rank_low" not in frame.columns:
        return chart
    rank = alt.X("rank_low:Q", title="rank from the best", scale=scale)
    names = alt.Y("shown_name:N", sort=frame["shown_name"].to_list(), axis=None)
    ranks = base.mark_rule(strokeWidth=5, color=colour, opacity=0.5).encode(
        x=rank, x2="rank_high:Q", y=names, tooltip=drawn.tooltips()
    )
    narrow = ranks.properties(width=chart.width // 2, height=chart.height)
    return alt.hconcat(chart, narrow, spacing=12)


def _sizes(result: _Result) -> AnyChart:
    drawn = replace(result, frame=result.frame.sort("n_pos_needed", nulls_last=True))
    log = alt.Scale(type="log")
    return drawn.sized(*_from_to(drawn, "n_pos", "n_pos_needed", "positives", log))


def _from_to(drawn: _Result, start: str, end: str, title: str, scale: alt.Scale) -> list[AnyChart]:
    """Return hollow points at a start, filled ones at an end, and dashed lines between them."""
    base, look = drawn.base(end), drawn.look
    at = {name: alt.X(f"{name}:Q", title=title, scale=scale) for name in (start, end)}
    line = base.mark_rule(color=look.muted, strokeDash=DASHED)
    hollow = base.mark_point(size=40, color=look.muted, filled=False)
    filled = base.mark_circle(size=60, color=look.colours(1)[0])
    return [
        line.encode(x=at[start], x2=f"{end}:Q"),
        hollow.encode(x=at[start], tooltip=drawn.tooltips()),
        filled.encode(x=at[end], tooltip=drawn.tooltips()),
    ]


# --- lines and bars, in panels ---------------------------------------------------------------


def _watched(result: _Result) -> AnyChart:
    look, (*others, over) = result.look, result.keys
    blue, red, third = look.colours(3)
    colour_of = (red, blue, third, look.muted, look.faint)
    width = look.width or (_BESIDE[0] if others else _ALONE[0])
    rows, x = _along(result, over, width)
    has_limit = pl.col("limit").is_not_null()
    is_last = has_limit & (pl.int_range(pl.len()) == pl.arg_where(has_limit).last())
    rows = rows.with_columns(
        pl.col("conclusion").fill_null(_NO_LOOK), shown_last=is_last.over(others or pl.lit(0))
    )
    kinds = zip((*OF_WATCH, _NO_LOOK), colour_of, strict=True)
    shown = {kind: colour for kind, colour in kinds if kind in rows["conclusion"]}
    colours = alt.Scale(domain=[*shown], range=[*shown.values()])
    base, scale = alt.Chart().encode(x=x), alt.Scale(zero=False, padding=PADDING)
    reference, at_limit, value = (
        alt.Y(f"{name}:Q", title=result.measure, scale=scale)
        for name in ("reference", "limit", "value")
    )
    limit = base.mark_line(color=look.text, strokeWidth=1.5, interpolate="step")
    name = base.transform_filter("datum.shown_last").mark_text(
        align="right", dy=-7, color=look.text
    )
    circles = base.mark_circle(size=50).encode(y=value, tooltip=result.tooltips())
    layers = alt.layer(
        base.mark_line(color=look.muted, strokeDash=DASHED).encode(y=reference),
        limit.encode(y=at_limit),
        name.encode(y=at_limit, text=alt.TextValue("limit")),
        base.mark_line(color=look.muted, strokeWidth=1).encode(y=value),
        circles.encode(color=alt.Color("conclusion:N", scale=colours)),
    )
    return _in_panels(replace(result, frame=rows, keys=others), layers)


def _along(result: _Result, over: str, width: int) -> tuple[pl.DataFrame, alt.X]:
    """Return rows of periods, and their axis, which has room for the first and the last."""
    rows, title = result.frame, text.safe(result.titles[over])
    if rows.schema[over] in (pl.Date, pl.Datetime):
        times = milliseconds(rows[over]).alias("shown_at")
        return rows.with_columns(times), time_axis(times, width, title=title)
    if rows.schema[over].is_numeric():
        scale = alt.Scale(zero=False, padding=PADDING)
        return rows, alt.X(f"{over}:Q", title=title, scale=scale)
    return rows, alt.X(f"{over}:O", title=title)


def _reliability(result: _Result) -> AnyChart:
    colour = alt.ColorValue(result.look.colours(1)[0])
    layers = reliability(result.frame, colour, result.look, result.tooltips())
    return _in_panels(result, layers, (330, 330), (240, 240))


def reliability(bins: pl.DataFrame, colour: Any, look: Look, tips: list[alt.Tooltip]) -> AnyChart:
    """Return the share of positives over the mean score; bins of few rows are faint."""
    ends = [0.0, end_of_bins(bins)]
    scale = alt.Scale(domain=ends, nice=False)
    x = alt.X("mean_score:Q", title="Mean score", scale=scale)
    y = alt.Y("observed:Q", title="Share of positives", scale=scale)
    is_known = "!isValid(datum.status) || datum.status == 'ok'"
    shade = alt.condition(is_known, alt.value(1), alt.value(0.25))
    corners = alt.Chart(pl.DataFrame({"mean_score": ends, "observed": ends}))
    base = alt.Chart().encode(x=x, color=colour)
    rules = base.mark_rule(clip=True).encode(
        y=alt.Y("observed_low:Q", title=""), y2="observed_high:Q", opacity=shade
    )
    size = alt.Size("n:Q", legend=None, scale=alt.Scale(range=[20, 90]))
    points = base.mark_circle(clip=True).encode(y=y, size=size, opacity=shade, tooltip=tips)
    line = base.transform_filter(is_known).mark_line(strokeWidth=1)
    diagonal = corners.mark_line(color=look.muted, strokeDash=DASHED).encode(x=x, y=y)
    return alt.layer(diagonal, rules, line.encode(y=y), points)


def end_of_bins(bins: pl.DataFrame) -> float:
    """Return where both axes of probabilities end: at 1, or where low bins do, but few rows."""
    reliable = bins.filter(pl.col("status") == "ok") if "status" in bins.columns else bins
    ends = [bins["mean_score"], bins["observed"], reliable["observed_high"]]
    return text.end_of(pl.concat(ends))


def _scores(result: _Result) -> AnyChart:
    look = result.look
    colour: Any = alt.value(look.colours(1)[0])
    for key in result.keys:
        if result.titles[key] == MODEL:
            names = result.frame[key].cast(pl.String).unique(maintain_order=True).to_list()
            scale = alt.Scale(domain=names, range=look.colours(len(names)))
            colour = alt.Color(f"{key}:N", scale=scale, legend=None)
    base = alt.Chart().encode(tooltip=result.tooltips())
    return _in_panels(result, mirrored(base, result.frame, colour, look))


def _thresholds(result: _Result) -> AnyChart:
    colours = alt.Scale(domain=["precision", "recall"], range=result.look.colours(2))
    base = (
        alt.Chart()
        .transform_fold(["precision", "recall"], as_=["shown_line", "shown_share"])
        .transform_filter("isValid(datum.shown_share)")
        .encode(
            x=alt.X("alerts_per_1000:Q", title="alerts per 1,000 rows"),
            y=alt.Y("shown_share:Q", title="precision, recall", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("shown_line:N", scale=colours),
        )
    )
    points = base.mark_circle(size=50).encode(tooltip=result.tooltips())
    return _in_panels(result, alt.layer(base.mark_line(), points))


def _in_panels(
    result: _Result,
    chart: AnyChart,
    alone: tuple[int, int] = _ALONE,
    beside: tuple[int, int] = _BESIDE,
) -> AnyChart:
    """Return a panel for each combination of keys; ``alone`` and ``beside`` are sizes of one."""
    keys, look, rows = result.keys, result.look, result.frame
    groups = rows.select(keys).unique(maintain_order=True)
    if groups.height > _MOST_PANELS:
        raise _too_many(f"{groups.height} panels", _MOST_PANELS)
    width, height = beside if groups.height > 1 else alone
    sized = chart.properties(width=look.width or width, height=look.height or height)
    if groups.height <= 1:
        return sized.properties(data=rows)
    texts = (text.key_texts(groups[key], result.titles[key]) for key in keys)
    names = text.make_unique([text.short_name(row) for row in zip(*texts, strict=True)])
    groups = groups.with_columns(shown_panel=pl.Series(names), place=pl.int_range(pl.len()))
    return in_panels(sized, left_join(rows, groups, keys), "shown_panel", look)


_KINDS = (
    _Kind(
        ("value", "reference", "limit", "conclusion"),
        _watched,
        "Periods against the reference",
        "Dashed: the reference. A period is an alarm beyond the limit, or with those before.",
    ),
    _Kind(
        ("value", "shrunk", "ci_low", "ci_high"),
        _shrunk,
        "How good each segment probably is",
        "Hollow: the segment by itself. Filled: as it probably is, with its interval.",
    ),
    _Kind(
        ("value", "difference", "ci_low", "ci_high", "p_adjusted"),
        _forest,
        "Segments that differ from the others",
        "Intervals hold at once for all segments that were looked at.",
    ),
    _Kind(
        ("difference", "ci_low", "ci_high"),
        _forest,
        "Differences",
        "Each interval by itself: of many, some exclude 0 by chance. White centre: see status; it "
        "may be cut off.",
    ),
    _Kind(
        ("difference", *_ADJUSTED),
        _forest,
        "Differences",
        "Intervals are adjusted for all tests. White centre: see status; it may be cut off.",
    ),
    _Kind(
        ("ratio", "ci_low", "ci_high"),
        _forest,
        "Ratios",
        "Each interval by itself: of many, some exclude 1 by chance. White centre: see status; it "
        "may be cut off.",
    ),
    _Kind(
        ("n_pos", "n_pos_needed"),
        _sizes,
        "Positives that a study needs",
        "Hollow: those there are. Filled: those that the width, or the difference, needs.",
    ),
    _Kind(
        ("mean_score", "observed", "observed_low", "observed_high"),
        _reliability,
        "Share of positives among rows of like scores",
        "With intervals. On the diagonal, scores are probabilities. Larger: more rows. Faint: few.",
    ),
    _Kind(
        ("bin_low", "bin_high", "positives", "negatives"),
        _scores,
        "Scores of either class",
        "Positives up, negatives down in grey, each as shares of their class.",
    ),
    _Kind(
        ("threshold", "alerts_per_1000", "precision", "recall"),
        _thresholds,
        "Precision and recall by number of alerts",
        "Each point is a threshold of the table.",
    ),
    _Kind(
        ("ci_low", "ci_high", "status"),
        _forest,
        "With intervals",
        "A white centre: too few rows to rely on (see status).",
    ),
)
