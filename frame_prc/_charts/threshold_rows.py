"""The rows of a chart over thresholds: exact counts at the thresholds that can be chosen."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._charts.curve_rows import point_rows, threshold_texts
from frame_prc._charts.data import EvaluatedSegments
from frame_prc._charts.options import ChartOptions
from frame_prc._charts.steps import multiple, round_step
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._formulas import f_score
from frame_prc._request.specs import Target
from frame_prc._request.values import Bins
from frame_prc._tables.operating_points import OperatingPoints

_MOST_THRESHOLDS = 240
_MOST_ROWS = 4_200  # of all lines
_MOST_ROWS_WITH_BEST = 4_900  # Altair draws up to 5,000
_STEPS = 1000  # of the slider

_TP, _FP, _FN, _TN = map(pl.col, ("tp", "fp", "fn", "tn"))


@dataclass(frozen=True)
class Slider:
    """The thresholds that can be chosen: their range, the step, and the one to begin with."""

    lowest: float
    highest: float
    step: float
    value: float


@dataclass(frozen=True)
class ThresholdRows:
    """A row per line and threshold, with counts and rates.

    ``is_exact`` says that every score is a threshold. ``best`` has the point of the largest F1 of
    each line, ``points`` those of ``points=``. Without a finite score there is no ``slider``.
    """

    rows: pl.DataFrame
    is_exact: bool
    best: pl.DataFrame
    points: pl.DataFrame
    slider: Slider | None


def threshold_rows(
    segments: EvaluatedSegments, lines: pl.DataFrame, options: ChartOptions
) -> ThresholdRows:
    """Return the rows of a chart over thresholds."""
    best = _finite(segments.of_counts(OperatingPoints([Target("f_beta", 1.0)])))
    marked = point_rows(segments, lines, options.others)
    # Their thresholds are text.
    number = pl.col("threshold").cast(pl.Float64)
    points = _finite(marked.with_columns(number)) if marked.height else marked
    scores = segments.finite_scores()
    special = {*best["threshold"], *([] if options.threshold is None else [options.threshold])}
    drawn = max(lines[AVERAGE_PRECISION].count(), 1)
    # Every line has rows at the best thresholds of all.
    room = min(_MOST_ROWS // drawn, _MOST_ROWS_WITH_BEST // drawn - len(special))
    most = min(_MOST_THRESHOLDS, room)
    chosen = sorted({*spread(scores, most), *special})
    rows = _rates(segments, lines, chosen, options) if chosen else pl.DataFrame()
    known = best.drop_nulls("f_score").rename({"f_score": "F1"})
    thresholds = [] if rows.is_empty() else rows["threshold"].unique().sort().to_list()
    slider = _slider(thresholds, known["threshold"], options.threshold) if thresholds else None
    return ThresholdRows(rows, scores.len() <= most, known, points, slider)


def _finite(points: pl.DataFrame) -> pl.DataFrame:
    """Return points with a finite threshold."""
    return points.filter(pl.col("threshold").is_finite())


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


def _rates(
    segments: EvaluatedSegments,
    lines: pl.DataFrame,
    thresholds: Sequence[float],
    options: ChartOptions,
) -> pl.DataFrame:
    level = options.level if options.intervals else None
    # As a Float32, a large threshold is infinite.
    bins = Bins(list(thresholds), ascending=segments.given.ascending)
    points = _finite(segments.at_thresholds(bins, level))
    named = lines.select("line", name="panel_name").join(
        points, on="line", maintain_order="left_right"
    )
    rows = with_rates(named).with_columns(threshold_text=threshold_texts())
    # Sums of weights and thresholds have all of their digits.
    return rows.with_columns(pl.col("^(precision|recall|F1|predicted_rate).*$").round_sig_figs(5))


def with_rates(points: pl.DataFrame) -> pl.DataFrame:
    """Add F1, and the number and the share of rows predicted positive, to points with counts."""
    predicted = _TP + _FP
    return points.with_columns(
        F1=f_score(_TP, _FP, _FN, 1.0),
        predicted=predicted,
        predicted_rate=predicted / (predicted + _FN + _TN),
    )


def _slider(thresholds: Sequence[float], best: Iterable[float], given: float | None) -> Slider:
    """Return the slider; it begins at the median of the best thresholds unless one is given."""
    lowest, highest = thresholds[0], thresholds[-1]
    # The difference of the largest numbers would be infinite.
    step = round_step(highest / _STEPS - lowest / _STEPS, up=False)
    middle = sorted(best)
    value = middle[(len(middle) - 1) // 2] if given is None and middle else given
    return Slider(
        lowest=multiple(math.floor(lowest / step), step),
        highest=min(multiple(math.ceil(highest / step), step), sys.float_info.max),
        step=step,
        value=lowest if value is None else value,
    )
