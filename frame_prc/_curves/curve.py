"""The curve: one point per segment and distinct score, with its precision and recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.calibration import deployed_share
from frame_prc._curves.effective_rows import MOMENTS, moments_of_clusters, of_rows_at_prevalence
from frame_prc._curves.logit_intervals import limits_of_share
from frame_prc._formulas import (
    addable,
    calibrated_precision,
    odds_ratio,
    precision,
    precision_gain,
    recall,
    recall_gain,
)
from frame_prc._ranking.ranking import Ranking, rank
from frame_prc._ranking.running_sums import CORNERS, TIES, running
from frame_prc._request.specs import Keep, Start
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc.exceptions import OptionError

# --- fewer points that draw nearly the same curve ----------------------------------------------

THINNED = ("precision_error",)

_TP, _PRECISION, _RECALL = pl.col("tp"), pl.col("precision"), pl.col("recall")
_OPENS = pl.col("opens")
_HIT, _KEPT = pl.col("hit"), pl.col("kept")


def thin(points: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Keep at most ``most`` points of each segment, about evenly spaced along its curve.

    The row that opens a segment counts as one of them.

    The steps at which recall grows are cut into stretches of equal length, measured as the change
    of precision plus that of recall, and the last step of each stretch is kept: within a stretch
    precision varies by no more than its length. The start, the end, and the first highest and
    lowest precision are kept too. ``precision_error`` is the largest vertical distance between the
    steps drawn through all points and those drawn through the points kept.
    """
    hit = ~_OPENS & (_TP.shift(1) < _TP)
    enough = pl.len().over("segment") <= most
    ends = _OPENS.shift(-1, fill_value=True)
    marked = points.with_columns(hit=hit, kept=_OPENS | ends | _is_extreme() | enough)
    steps = marked.filter(_HIT | _KEPT).with_columns(_length())
    stretches = most - 3  # besides the start and the two extremes
    along = pl.col("length").cum_sum().over("segment")
    stretch = (along / pl.col("length").sum().over("segment") * stretches).fill_nan(0.0)
    numbered = steps.with_columns(stretch=stretch.ceil().clip(1, stretches))
    kept = numbered.with_columns(kept=_KEPT | (pl.col("stretch") != pl.col("stretch").shift(-1)))
    return kept.with_columns(_error()).filter(_KEPT)


def _is_extreme() -> pl.Expr:
    """Return whether a point is the first with the highest or lowest precision of its segment."""
    precision = pl.when(~_OPENS).then(_PRECISION)
    place = pl.int_range(pl.len())
    extreme = (place == precision.arg_max()) | (place == precision.arg_min())
    return extreme.fill_null(value=False).over("segment")


def _length() -> pl.Expr:
    """Return the distance from the point before, vertical plus horizontal."""
    across = (_RECALL - _RECALL.shift(1)).fill_null(0.0)
    # The precision of the start is a convention, so the distance from it does not count.
    down = pl.when(~_OPENS.shift(1)).then((_PRECISION - _PRECISION.shift(1)).abs()).fill_null(0.0)
    # Lengths add up alike in any order, so stretches end at the same points on every engine.
    return pl.when(_OPENS).then(0.0).otherwise(addable(across + down)).alias("length")


def _error() -> pl.Expr:
    """Return the largest distance between a step and the one drawn in its place."""
    drawn = pl.when(_KEPT & ~_OPENS).then(_PRECISION).backward_fill()
    error = pl.when(_HIT).then((_PRECISION - drawn).abs())
    return error.max().over("segment").fill_null(0.0).alias("precision_error")


# --- the curve ---------------------------------------------------------------------------------

AT_RECALL = "at_recall"  # the column of curves on a grid of recalls
CURVE = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall")

_FP = pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


@dataclass(frozen=True)
class Extras:
    """Optional columns of a curve; ``level`` is that of the intervals of precision."""

    envelope: bool = False
    gain: bool = False
    calibrate: float | None = None
    level: float | None = None

    def columns(self, *, clusters: bool = False) -> dict[str, pl.Expr]:
        """Return the columns by name, in order."""
        columns: dict[str, pl.Expr] = {}
        if self.envelope:
            columns["envelope"] = _envelope()
        if self.gain:
            columns |= _gains()
        if self.calibrate is not None:
            columns["precision_calibrated"] = _calibrated(self.calibrate)
        if self.level is not None:
            moments = moments_of_clusters() if clusters else None
            limits = limits_of_share(_TP, _FP, self.level, moments)
            columns |= {f"precision_{end}": limit for end, limit in limits.items()}
            if self.calibrate is not None:
                columns |= _calibrated_limits(self.calibrate, self.level)
        return columns

    def with_moments(self, points: pl.LazyFrame) -> pl.LazyFrame:
        """Return points with what the intervals of the calibrated precision need."""
        if self.calibrate is None or self.level is None:
            return points
        return of_rows_at_prevalence(points, self.level)


@dataclass(frozen=True)
class Curve(Table):
    """The curve of every segment: segments in key order, points in ranking order."""

    start: Start = "one"
    keep: Keep = "all"
    bins: Bins | None = None
    extras: Extras = Extras()
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        return (*CURVE, *self.extras.columns(), *(THINNED if isinstance(self.keep, int) else ()))

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the curve of rows."""
        _check_interval(rows, self.extras)
        clusters = self.extras.level is not None and rows.clustered
        ranking, has_start = rank(rows, self.bins, clusters=clusters), self.start is not None
        frame = _with_rates(points(ranking, self.keep), self.start)
        frame = self.extras.with_moments(frame)
        frame = frame.with_columns(**self.extras.columns(clusters=clusters))
        if isinstance(self.keep, int):
            # A start point that is not shown does not count.
            frame = thin(frame, self.keep + (not has_start))
        if not has_start:
            frame = frame.filter(~pl.col("opens"))
        return ranking.segments.with_keys(_with_threshold(ranking, frame))


def _check_interval(rows: Rows, extras: Extras) -> None:
    """Raise if an interval of precision is wanted for sums of weights, or rows in strata."""
    if extras.level is not None:
        rows.check_no_strata("the interval of a curve")
        if rows.clustered and extras.calibrate is not None:
            raise OptionError(
                "ci= of a curve is given with calibrate= and cluster=",
                "two of them",
                "operating_points(threshold=..., calibrate=, ci=) has these intervals",
            )
    if extras.level is not None and rows.columns.weighted:
        # A picture is drawn from counts, also where its caller has weighted rows.
        hint = rows.columns.count_hint
        counts = f"; {hint}" if hint else ""
        raise OptionError(
            "ci= of a curve needs counts of rows, and these are sums of weights",
            "rows without weight=, or integer counts",
            f"band(...) resamples weighted rows, and so does plot(..., band=True){counts}",
            shell_hint="frame-prc plot --band resamples weighted rows",
        )


def points(ranking: Ranking, keep: Keep = "all") -> pl.LazyFrame:
    """Return one point per score and one that opens each segment, with the segment's totals."""
    holds_rows = _POSITIVES + _NEGATIVES > 0
    kept = running(ranking, TIES if keep == "all" else CORNERS)
    return kept.filter(ranking.key.retrieved() & holds_rows)


def _with_rates(points: pl.LazyFrame, start: Start) -> pl.LazyFrame:
    # Precision is 0/0, so null, at a given threshold that no row reaches.
    rate = pl.when(_TP + _FP > 0).then(precision(_TP, _FP))
    at_start = pl.lit(1.0) if start == "one" else rate.backward_fill().over("segment")
    return points.with_columns(
        fn=_POSITIVES - _TP,
        tn=_NEGATIVES - _FP,
        precision=rate if start is None else pl.when("opens").then(at_start).otherwise(rate),
        recall=recall(_TP, _POSITIVES),
    )


# --- extra columns -------------------------------------------------------------------------------


def _envelope() -> pl.Expr:
    """Return the largest precision at a point or later (PASCAL VOC 2010, Detectron ``voc_ap``)."""
    return pl.col("precision").cum_max(reverse=True).backward_fill().over("segment")


def _gains() -> dict[str, pl.Expr]:
    """Return the gains; null before the first hit, where they are -inf, and without negatives."""
    defined = pl.when((_TP > 0) & (_NEGATIVES > 0))
    return {
        "precision_gain": defined.then(precision_gain(_TP, _FP, _POSITIVES, _NEGATIVES)),
        "recall_gain": defined.then(recall_gain(_TP, _POSITIVES, _NEGATIVES)),
    }


def _calibrated(prevalence: float) -> pl.Expr:
    odds = (1 - prevalence) / prevalence
    return (
        pl.when(pl.col("opens") | (_FP == 0))
        .then("precision")
        .when((_POSITIVES > 0) & (_NEGATIVES > 0))
        .then(calibrated_precision(_TP, _FP, _POSITIVES, _NEGATIVES, odds))
    )


def _calibrated_limits(prevalence: float, level: float) -> dict[str, pl.Expr]:
    """Return the limits of the precision of these rows as they are seen from a prevalence."""
    scale = odds_ratio(_POSITIVES, _NEGATIVES, (1 - prevalence) / prevalence)
    limits = limits_of_share(_TP, _FP, level, list(map(pl.col, MOMENTS)))
    has_both = pl.when((_POSITIVES > 0) & (_NEGATIVES > 0))
    return {
        f"precision_calibrated_{end}": has_both.then(deployed_share(limit, scale))
        for end, limit in limits.items()
    }


def _with_threshold(ranking: Ranking, points: pl.LazyFrame) -> pl.LazyFrame:
    dtype = ranking.threshold_dtype
    infinity = pl.lit(ranking.no_threshold).cast(dtype)
    threshold = pl.when("opens").then(infinity).otherwise(pl.col("score").cast(dtype))
    return ranking.with_score(points).with_columns(threshold=threshold)
