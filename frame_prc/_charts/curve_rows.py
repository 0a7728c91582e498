"""The rows of a chart of curves: a line per segment and model, thinned to what Altair can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.data import Segments, has_models
from frame_prc._charts.options import MOST_OVERLAID, ChartOptions
from frame_prc._charts.summary_data import ends_and_largest
from frame_prc._charts.text import criterion_text, multiple, round_step
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.curve import AT_RECALL, THINNED
from frame_prc._formulas import calibrated_precision, f_score, recall
from frame_prc._lazy import join, key_names, left_join
from frame_prc._request.specs import LEAST_POINTS, Draws, Target
from frame_prc._tables.curves import Band
from frame_prc.exceptions import DataError, OptionError

# --- lines: the panel, the colour, and the name of each ----------------------------------------

FacetKeys: TypeAlias = tuple[str, ...] | bool | None

_FACET = "facet= takes the keys that get a panel per value"
_MOST_LINES, _CHOICES = 60, 3
_MOST_PREVALENCES = 6  # in colour


def check_readable(
    segments: Segments, facet: FacetKeys, most: int, overlaid_hint: str = _FACET
) -> None:
    most_models, hint = _MOST_LINES // _CHOICES, "choose some of the models"
    segments.check_count(segments.model_keys, most_models, "models", hint)
    _, series_keys = _split_keys(segments.keys, segments.key_values, facet, most)
    overlaid = segments.count(series_keys)
    if overlaid > MOST_OVERLAID:
        raise DataError(
            f"{overlaid} lines would share a panel",
            f"up to {MOST_OVERLAID}, as many as colours and dashes can tell apart",
            overlaid_hint,
        )


def chosen_lines(
    segments: Segments, facet: FacetKeys, most: int
) -> tuple[Segments, pl.DataFrame, str]:
    check_readable(segments, facet, most)
    # Without negatives any ranking is perfect: a line at 1 would look as if one were.
    is_drawn = pl.col("status") != "no_negatives"
    table = segments.table.with_columns(pl.when(is_drawn).then(AVERAGE_PRECISION))
    segments, choice = _chosen_segments(replace(segments, drawn=table))
    lines = name_lines(segments, facet, most)
    if lines.height > 1 and (lines["panel_name"] == "").all():
        lines = lines.with_columns(series=pl.col("series") + ": " + area_texts(lines))
    return segments, lines, choice


def _chosen_segments(segments: Segments) -> tuple[Segments, str]:
    """Return the segments that have lines, and how they were chosen if they are not all."""
    if segments.table.height <= _MOST_LINES:
        return segments, ""
    own = segments.own_keys
    table = segments.table.join(segments.calibrated(), on="line", how="left")
    areas = table.group_by(own).agg(pl.col(CALIBRATED).mean(), pl.col("n_pos").max()).sort(own)
    count = max(_MOST_LINES // _CHOICES * areas.height // segments.table.height, 1)
    places = ends_and_largest(areas.with_row_index("segment"), CALIBRATED, count)
    kept = join(segments.table, areas[places].select(own), on=own, how="semi", nulls_equal=True)
    said = (
        f"{len(places)} of {areas.height} segments: the {count} lowest and the {count} highest by "
        f"calibrated average precision, and the {count} largest."
    )
    return replace(segments, drawn=kept), said


def name_lines(segments: Segments, facet: FacetKeys, most: int) -> pl.DataFrame:
    values = segments.sortable.with_columns(few=text.is_few())
    approximate = segments.error is not None
    panel_keys, series_keys = _split_keys(segments.keys, values, facet, most)
    rows = values.to_dicts()
    lines = text.with_key_texts(values, segments.keys).with_columns(
        text.number_by(values, panel_keys, "panel"),
        text.number_by(values, series_keys, "colour"),
        pl.Series("ap", [text.ap_text(row, approximate=approximate) for row in rows], pl.String),
        pl.Series("size", list(map(text.size_text, rows)), pl.String),
    )
    lines = text.with_names(lines, "panel", panel_keys, "panel_name")
    lines = text.with_names(lines, "colour", series_keys, "series")
    return lines.sort("panel", "colour", maintain_order=True).with_columns(name="series")


def baselines(lines: pl.DataFrame) -> pl.DataFrame:
    """Return each prevalence once, with the series of its line if no two lines share one."""
    known = lines.drop_nulls(AVERAGE_PRECISION)
    rows = known.unique("prevalence", keep="first", maintain_order=True)
    distinct = rows.height == known.height <= _MOST_PREVALENCES
    return rows.select("prevalence", series="series" if distinct else pl.lit(None, pl.String))


def common_size(lines: pl.DataFrame) -> str:
    """Return the size of all lines, if it is the same: models are evaluated on the same rows."""
    return str(lines["size"][0]) if lines["size"].n_unique() == 1 else ""


def area_texts(lines: pl.DataFrame) -> pl.Series:
    """Return the average precision of each line, with its size if the lines differ in size."""
    if common_size(lines):
        return lines["ap"]
    size = pl.when(pl.col("size") != "").then(", " + pl.col("size")).otherwise(pl.lit(""))
    return lines.select(pl.col("ap") + size)["ap"]


def _split_keys(
    names: Sequence[str], table: pl.DataFrame, facet: FacetKeys, most: int
) -> tuple[list[str], list[str]]:
    keys = key_names(len(names))
    if isinstance(facet, tuple):
        for name in facet:
            if name not in names:
                raise OptionError(
                    f"facet= names {name!r}, which is not a key",
                    ", ".join(map(repr, names)) or "None or False, as there are no keys",
                )
        in_panels = [key for key, name in zip(keys, names, strict=True) if name in facet]
    else:
        in_panels = [] if facet is False else _default_panel_keys(keys, table, names, most)
    return in_panels, [key for key in keys if key not in in_panels]


def _default_panel_keys(
    keys: list[str], table: pl.DataFrame, names: Sequence[str], most: int
) -> list[str]:
    """Overlay models; else up to ``most`` lines; else the last key, if it has as few values."""
    if has_models(names):
        others = keys[1:]
        return others if others and table.select(others).n_unique() > 1 else []
    if table.height <= most:
        return []
    overlay_last = len(keys) > 1 and table[keys[-1]].n_unique() <= most
    return keys[:-1] if overlay_last else keys


# --- their points ------------------------------------------------------------------------------

_MOST_ROWS = 5_000  # about 0.25 MB of text
_MOST_POINTS = 800  # of a curve: a panel has fewer pixels
_RECALLS = 101
_DIGITS = 5
_DIGITS_OF_THRESHOLD = 4
_LARGE = 1e4  # from here on, thresholds are rounded to whole numbers
_VISIBLE_RECALL = 0.004
_SHARE_OF_BAND = 0.3
_SHARE_OF_ROC = 0.4

_X, _Y, _KEPT = pl.col("fpr"), pl.col("recall"), pl.col("kept")
_RECALLS_OF_OVERLAY = [0.005, *(i / 100 for i in range(1, 101))]
_MANY_PANELS = 24  # small ones, in which every other recall is enough
_ROWS_OF_PANEL = 50  # whose text is as long as the specification of a panel
_TP, _FP, _FN, _TN = map(pl.col, ("tp", "fp", "fn", "tn"))

OverlayKind: TypeAlias = Literal["pooled", "mean"]
NOTES: dict[OverlayKind, str] = {
    "pooled": "all rows, as if they had the segment's share of positives.",
    "mean": "the mean of all segments, as if each had this segment's share of positives.",
}


@dataclass(frozen=True)
class ChartRows:
    """All rows of a chart, each with the panel and the series of its line.

    ``overlay`` are the curves behind, of a kind. The errors are the largest due to thinning.
    """

    curve: pl.DataFrame
    roc: pl.DataFrame
    ribbon: pl.DataFrame
    points: pl.DataFrame
    overlay: pl.DataFrame
    overlay_kind: OverlayKind | None
    precision_error: float
    roc_error: float

    def of_panel(self, number: int) -> ChartRows:
        frames: dict[str, Any] = {
            name: rows.filter(panel=number).drop("panel", *THINNED, strict=False)
            for name, rows in vars(self).items()
            if isinstance(rows, pl.DataFrame) and rows.height
        }
        return replace(self, **frames)


def chart_rows(segments: Segments, lines: pl.DataFrame, options: ChartOptions) -> ChartRows:
    band = _band(segments, lines, options)
    corners = segments.curves("corners")
    sizes = corners.group_by("line").len()["len"].to_list()
    more_panels = max(lines["panel"].n_unique() - _MANY_PANELS, 0)
    room = _MOST_ROWS - band.height - _ROWS_OF_PANEL * more_panels
    room_of_roc = int(room * _SHARE_OF_ROC) if options.roc else 0
    curve = _numbered(held(_curve(segments, sizes, room - room_of_roc, options)), lines)
    if options.intervals:
        # The step to the first point has its interval from recall 0 on.
        interval = pl.col("precision_low", "precision_high")
        curve = curve.with_columns(interval.backward_fill(limit=1).over("line"))
    error = max(curve[THINNED[0]].drop_nulls(), default=0.0) + (segments.error or 0.0)
    curve = _with_digits(curve.with_columns(height=drawn_height()))
    roc, roc_error = corners.clear(), 0.0
    if options.roc:
        points = corners.with_columns(fpr=_false_positive_rate()).drop_nulls("fpr")
        roc, roc_error = _thinned(points, _most_points(sizes, room_of_roc))
    behind = _overlay_kind(segments, lines, options)
    return ChartRows(
        curve=curve,
        roc=_with_digits(_numbered(roc, lines)),
        ribbon=curve if options.intervals else band,
        points=point_rows(segments, lines, options.targets),
        overlay=pl.DataFrame() if behind is None else overlay_rows(segments, lines, behind),
        overlay_kind=behind,
        precision_error=error,
        roc_error=roc_error,
    )


def drawn_height() -> pl.Expr:
    """Return where the line of a curve is drawn: it opens at its first step of a visible width.

    Within a pixel or two of recall 0 lie the start point, a convention, and the precisions of a
    handful of rows: a vertical bar, which would hide the axis and tell nothing.
    """
    steps = pl.when(pl.col("recall") > _VISIBLE_RECALL).then("precision")
    return pl.coalesce(steps.backward_fill().over("line"), "precision")


def held(points: pl.DataFrame) -> pl.DataFrame:
    """Return the points that a step is held at: the start, and the first at each recall."""
    before = pl.col("recall").shift().over("line")
    return points.filter(before.is_null() | (pl.col("recall") > before))


def _curve(
    segments: Segments, sizes: Sequence[int], room: int, options: ChartOptions
) -> pl.DataFrame:
    most = min(_most_points(sizes, room), _MOST_POINTS)
    level = options.level if options.intervals else None
    if level is not None:
        segments.given.check_no_strata("a ribbon around a curve")
    curve = segments.curves(most, level)
    if most >= max(sizes, default=0):
        return curve
    # Thinned curves have fewer points than allowed where they are flat, so try a larger limit.
    larger = min(max(most * room // max(curve.height, 1), most), _MOST_POINTS)
    longer = segments.curves(larger, level) if larger > most else curve
    return longer if longer.height <= room else curve


def _most_points(sizes: Sequence[int], room: int) -> int:
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(room // left, LEAST_POINTS)
        room, left = room - size, left - 1
    return max([*sizes, LEAST_POINTS])


def _band(segments: Segments, lines: pl.DataFrame, options: ChartOptions) -> pl.DataFrame:
    if not options.band:
        return pl.DataFrame()
    defined = max(lines[AVERAGE_PRECISION].count(), 1)
    count = min(_RECALLS, int(_MOST_ROWS * _SHARE_OF_BAND) // defined)
    recalls = [i / (count - 1) for i in range(count)]
    band = Band(recalls, options.level, Draws(), calibration=segments.used_at)
    rows = segments.of(band).drop_nulls("precision_low")
    return _with_digits(_numbered(rows, lines))


def point_rows(segments: Segments, lines: pl.DataFrame, targets: Sequence[Target]) -> pl.DataFrame:
    if not targets:
        return pl.DataFrame()
    found = segments.points(targets)
    # In the order of the lines, and in that of the targets.
    points = lines.select("line").join(found, on="line", maintain_order="left_right")
    criteria = list(map(criterion_text, targets)) * (len(points) // len(targets))
    labels = labels_of(lines).with_columns(lines["panel"], lines["name"])
    return left_join(points, labels, ["line"]).with_columns(
        pl.Series("criterion", criteria, dtype=pl.String),
        pl.col("threshold").cast(pl.String),  # JSON has no infinity
        fpr=_false_positive_rate(),
    )


def labels_of(lines: pl.DataFrame) -> pl.DataFrame:
    keys = [name for name in lines.columns if name.startswith("key_")]
    area = pl.col("ap").str.strip_prefix("AP ")
    return lines.select("line", "series", "few", *keys, area=area)


def _numbered(rows: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    drawn = lines.drop_nulls(AVERAGE_PRECISION).select("line", "panel")
    placed = left_join(rows, drawn, ["line"]).drop_nulls("panel")
    return placed.with_columns(order=pl.int_range(pl.len()).over("line"))


def _with_digits(rows: pl.DataFrame) -> pl.DataFrame:
    rates = pl.selectors.float() - pl.selectors.by_name("threshold", "tp", "fp", require_all=False)
    texts = [threshold_texts().alias("threshold")] if "threshold" in rows.columns else []
    return rows.with_columns(rates.round_sig_figs(_DIGITS), *texts)


def threshold_texts() -> pl.Expr:
    """Return thresholds as text of four digits, or more before a point: JSON has no infinity."""
    threshold = pl.col("threshold").cast(pl.Float64)
    short = pl.when(threshold.abs() < _LARGE).then(threshold.round_sig_figs(_DIGITS_OF_THRESHOLD))
    return short.otherwise(threshold.round()).cast(pl.String)


# --- ROC ------------------------------------------------------------------------------------------


def _false_positive_rate() -> pl.Expr:
    # The recall of the negative class, so the same formula.
    return recall(pl.col("fp"), pl.col("fp") + pl.col("tn"))


def _thinned(points: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    """Keep at most ``most`` points of each line; return them and the largest error.

    Both rates grow from 0 to 1, so their sum grows from 0 to 2. That range is cut into equal
    stretches, and the last point of each is kept. The error is the distance of a dropped point to
    the straight line drawn in its place.
    """
    along = pl.max_horizontal((_X + _Y) / 2 * (most - 2), 0.0).ceil()
    stretch = along.clip(0, most - 2)
    first = pl.int_range(pl.len()).over("line") == 0
    last = pl.int_range(pl.len(), 0, -1).over("line") == 1
    ends = stretch != stretch.shift(-1).over("line")
    fits = pl.len().over("line") <= most
    marked = points.with_columns(kept=(first | last | ends | fits).fill_null(value=True))
    off = marked.select(_distance().max()).item()
    return marked.filter(_KEPT).drop("kept"), float(off or 0.0)


def _distance() -> pl.Expr:
    ax, ay = (pl.when(_KEPT).then(v).forward_fill().over("line") for v in (_X, _Y))
    bx, by = (pl.when(_KEPT).then(v).backward_fill().over("line") for v in (_X, _Y))
    length = ((bx - ax) ** 2 + (by - ay) ** 2).sqrt()
    area = ((bx - ax) * (_Y - ay) - (by - ay) * (_X - ax)).abs()
    return pl.when(~_KEPT, length > 0).then(area / length)


# --- the curve behind those of a panel ------------------------------------------------------------


def _overlay_kind(
    segments: Segments, lines: pl.DataFrame, options: ChartOptions
) -> OverlayKind | None:
    """Return which curve is drawn behind; by default, that of all rows where lines stand alone."""
    if options.overlay is None:
        return None
    own = segments.own_keys
    per_panel = lines.group_by("panel").agg(pl.struct(own).n_unique() if own else pl.lit(2))
    fits = per_panel.height > 1 and per_panel[:, 1].max() == 1 and segments.can_be_pooled
    if options.overlay == "auto":
        return "pooled" if fits and per_panel.height == lines.height else None
    if not fits:
        raise OptionError(
            f"overlay={options.overlay!r} has no segment to stand behind",
            "a panel for each of several segments, of rows or counts",
            "facet= takes the keys that get a panel per value",
        )
    return options.overlay


def overlay_rows(segments: Segments, lines: pl.DataFrame, kind: OverlayKind) -> pl.DataFrame:
    """Return ``panel, series, recall, precision`` of the curves behind those of some lines."""
    models = segments.model_keys
    step = 2 if lines["panel"].n_unique() > _MANY_PANELS else 1
    points = segments.at_recalls(_RECALLS_OF_OVERLAY[::step], pooled=kind == "pooled")
    odds = (1 - pl.col("prevalence")) / pl.col("prevalence")
    defined = segments.table.drop_nulls(AVERAGE_PRECISION).select("line", *models, odds=odds)
    targets = defined.join(lines.select("line", "panel", "series"), on="line")
    height = calibrated_precision(_TP, _FP, _TP + _FN, _FP + _TN, pl.col("odds"))
    crossed = left_join(targets, points, models).with_columns(precision=height.fill_nan(None))
    curves = crossed.group_by("panel", "series", recall=AT_RECALL, maintain_order=True)
    return curves.agg(pl.col("precision").mean().round_sig_figs(5)).drop_nulls()


# --- at thresholds -------------------------------------------------------------------------------


def spread(scores: pl.Series, most: int) -> list[float]:
    """Return all scores, or as many thresholds: half of them evenly spaced, half at even ranks."""
    if scores.len() <= most:
        return scores.to_list()
    half = max(most // 2 - 1, 2)
    ranks = [round(i * (scores.len() - 1) / (half - 1)) for i in range(half)]
    lowest, highest = scores[0], scores[-1]
    step = round_step(highest / half - lowest / half, up=True)
    first, last = math.ceil(lowest / step), math.floor(highest / step)
    return [*scores.gather(ranks), *(multiple(i, step) for i in range(first, last + 1))]


def with_rates(points: pl.DataFrame) -> pl.DataFrame:
    """Add F1, and the number and the share of rows predicted positive, to points with counts."""
    predicted = _TP + _FP
    return points.with_columns(
        F1=f_score(_TP, _FP, _FN, 1.0),
        predicted=predicted,
        predicted_rate=predicted / (predicted + _FN + _TN),
    )
