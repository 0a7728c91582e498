"""The rows of a chart of curves, thinned to the number that Altair can draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import polars as pl

from frame_prc._charts.data import EvaluatedSegments
from frame_prc._charts.options import ChartOptions
from frame_prc._charts.summary_data import split_keys
from frame_prc._charts.text import criterion_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.curve import AT_RECALL, THINNED
from frame_prc._formulas import calibrated_precision, recall
from frame_prc._lazy import left_join
from frame_prc._request.specs import LEAST_POINTS, Draws, Target
from frame_prc._tables.curves import Band
from frame_prc._tables.operating_points import OperatingPoints
from frame_prc.exceptions import OptionError

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
    "pooled": "all rows at the segment's prevalence.",
    "mean": "the mean of all segments at the segment's prevalence.",
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
        """Return the rows of a panel."""
        frames: dict[str, Any] = {
            name: rows.filter(panel=number).drop("panel", *THINNED, strict=False)
            for name, rows in vars(self).items()
            if isinstance(rows, pl.DataFrame) and rows.height
        }
        return replace(self, **frames)


def chart_rows(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> ChartRows:
    """Return the rows of a chart."""
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
    roc, roc_error = _roc(corners, _most_points(sizes, room_of_roc) if options.roc else 0)
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
    segments: EvaluatedSegments, sizes: Sequence[int], room: int, options: ChartOptions
) -> pl.DataFrame:
    """Return curves that have up to ``room`` points together."""
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
    """Return the limit of points per line at which the lines fit, given their full sizes."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(room // left, LEAST_POINTS)
        room, left = room - size, left - 1
    return max([*sizes, LEAST_POINTS])


def _roc(corners: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    if not most:
        return corners.clear(), 0.0
    return _thinned(corners.with_columns(fpr=_false_positive_rate()).drop_nulls("fpr"), most)


def _band(segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions) -> pl.DataFrame:
    """Return the bands, at as many recalls as there is room for."""
    if not options.band:
        return pl.DataFrame()
    defined = max(lines[AVERAGE_PRECISION].count(), 1)
    count = min(_RECALLS, int(_MOST_ROWS * _SHARE_OF_BAND) // defined)
    recalls = [i / (count - 1) for i in range(count)]
    rows = segments.of_rows(Band(recalls, options.level, Draws())).drop_nulls("precision_low")
    return _with_digits(_numbered(rows, lines))


def point_rows(
    segments: EvaluatedSegments, lines: pl.DataFrame, targets: Sequence[Target]
) -> pl.DataFrame:
    """Return the operating points of each line, with the labels of the line."""
    if not targets:
        return pl.DataFrame()
    found = segments.of_counts(OperatingPoints(targets))
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
    """Return what the rows of a line have in common, which charts look up by ``line``."""
    keys = [name for name in lines.columns if name.startswith("key_")]
    area = pl.col("ap").str.strip_prefix("AP ")
    return lines.select("line", "series", "few", *keys, area=area)


def _numbered(rows: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Add the panels of their lines to rows, and their order in them."""
    placed = left_join(rows, lines.select("line", "panel"), ["line"])
    return placed.with_columns(order=pl.int_range(pl.len()).over("line"))


def _with_digits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with no more digits than one can see; thresholds are text."""
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
    """Return the share of negatives that are predicted positive; null without negatives."""
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
    """Return the distance of each dropped point to the line between its kept neighbours."""
    ax, ay = (pl.when(_KEPT).then(v).forward_fill().over("line") for v in (_X, _Y))
    bx, by = (pl.when(_KEPT).then(v).backward_fill().over("line") for v in (_X, _Y))
    length = ((bx - ax) ** 2 + (by - ay) ** 2).sqrt()
    area = ((bx - ax) * (_Y - ay) - (by - ay) * (_X - ax)).abs()
    return pl.when(~_KEPT, length > 0).then(area / length)


# --- the curve behind those of a panel ------------------------------------------------------------


def _overlay_kind(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> OverlayKind | None:
    """Return which curve is drawn behind; by default, that of all rows where lines stand alone."""
    if options.overlay is None:
        return None
    _, own = split_keys(segments.keys)
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


def overlay_rows(
    segments: EvaluatedSegments, lines: pl.DataFrame, kind: OverlayKind
) -> pl.DataFrame:
    """Return ``panel, series, recall, precision`` of the curves behind those of some lines."""
    models, _ = split_keys(segments.keys)
    step = 2 if lines["panel"].n_unique() > _MANY_PANELS else 1
    points = segments.at_recalls(_RECALLS_OF_OVERLAY[::step], pooled=kind == "pooled")
    odds = (pl.col("n") - pl.col("n_pos")) / pl.col("n_pos")
    defined = segments.table.drop_nulls(AVERAGE_PRECISION).select("line", *models, odds=odds)
    targets = defined.join(lines.select("line", "panel", "series"), on="line")
    height = calibrated_precision(_TP, _FP, _TP + _FN, _FP + _TN, pl.col("odds"))
    crossed = left_join(targets, points, models).with_columns(precision=height.fill_nan(None))
    curves = crossed.group_by("panel", "series", recall=AT_RECALL, maintain_order=True)
    return curves.agg(pl.col("precision").mean().round_sig_figs(5)).drop_nulls()
