"""The curve: one point per segment and distinct score; and the counts that it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import deployed_share, with_reference
from frame_prc._curves.logit_intervals import (
    MOMENTS,
    limits_of_share,
    of_rows_at_prevalence,
    sums_of_clusters,
    with_moments,
)
from frame_prc._formulas import (
    addable,
    calibrated_precision,
    normal_quantile,
    odds_ratio,
    precision,
    precision_gain,
    recall,
    recall_gain,
)
from frame_prc._lazy import cached, concat, join, key_names, named, over
from frame_prc._ranking.ranking import Ranking, count_bins, rank
from frame_prc._ranking.running_sums import CORNERS, TIES, Points, counts_at_ties, running
from frame_prc._request.roles import THRESHOLD, check_option
from frame_prc._request.specs import Calibration, Keep, Start
from frame_prc._request.values import ABOVE, BELOW, Bins
from frame_prc._rows import checks as value_checks
from frame_prc._rows.columns import Column, Columns, is_whole
from frame_prc._rows.rows import Rows
from frame_prc._rows.rules import SQUARES, SUMS, required_rule
from frame_prc._rows.table import Table
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest

# --- fewer points that draw nearly the same curve ----------------------------------------------

THINNED = ("precision_error",)

_TP, _PRECISION, _RECALL = pl.col("tp"), pl.col("precision"), pl.col("recall")
_OPENS = pl.col("opens")
_HIT, _KEPT = pl.col("hit"), pl.col("kept")


def thin(points: pl.LazyFrame, most: int) -> pl.LazyFrame:
    """Keep at most ``most`` points of each segment, about evenly spaced along its curve.

    The steps at which recall grows are cut into stretches of equal change of precision plus recall,
    and the last step of each is kept, with the start, the end, and the extremes of precision.
    ``precision_error`` is the largest vertical distance between the steps before and after.
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
    across = (_RECALL - _RECALL.shift(1)).fill_null(0.0)
    # The precision of the start is a convention, so the distance from it does not count.
    down = pl.when(~_OPENS.shift(1)).then((_PRECISION - _PRECISION.shift(1)).abs()).fill_null(0.0)
    # Lengths add up alike in any order, so stretches end at the same points on every engine.
    return pl.when(_OPENS).then(0.0).otherwise(addable(across + down)).alias("length")


def _error() -> pl.Expr:
    drawn = pl.when(_KEPT & ~_OPENS).then(_PRECISION).backward_fill()
    error = pl.when(_HIT).then((_PRECISION - drawn).abs())
    return error.max().over("segment").fill_null(0.0).alias("precision_error")


# --- the curve ---------------------------------------------------------------------------------

AT_RECALL = "at_recall"  # the column of curves on a grid of recalls
CURVE = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall")

_FP = pl.col("fp")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_ODDS = pl.col("reference_odds")


@dataclass(frozen=True)
class Extras:
    """Optional columns; ``deploys`` puts the calibrated precision in place of the other."""

    envelope: bool = False
    gain: bool = False
    calibration: Calibration | None = None
    level: float | None = None
    deploys: bool = False

    def columns(self, *, clusters: bool = False) -> dict[str, pl.Expr]:
        columns: dict[str, pl.Expr] = {}
        if self.envelope:
            # The largest precision here or later (PASCAL VOC 2010, Detectron ``voc_ap``).
            largest = _PRECISION.cum_max(reverse=True).backward_fill()
            columns["envelope"] = largest.over("segment")
        if self.gain:
            columns |= _gains()
        calibrated = "precision" if self.deploys else "precision_calibrated"
        if self.calibration is not None:
            columns[calibrated] = _calibrated()
        if self.level is not None:
            moments = list(map(pl.col, MOMENTS)) if clusters else None
            limits = limits_of_share(_TP, _FP, self.level, moments)
            columns |= {f"precision_{end}": limit for end, limit in limits.items()}
            if self.calibration is not None:
                # The limits for these rows as they are seen from the other prevalence.
                scale = odds_ratio(_POSITIVES, _NEGATIVES, _ODDS)
                there = limits_of_share(_TP, _FP, self.level, list(map(pl.col, MOMENTS)))
                columns |= {
                    f"{calibrated}_{end}": _has_both().then(deployed_share(limit, scale))
                    for end, limit in there.items()
                }
        return columns

    def referred(self, points: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
        if self.calibration is None:
            return points
        points = with_reference(cached(points), ranking, self.calibration)
        return points if self.level is None else of_rows_at_prevalence(points, self.level)


@dataclass(frozen=True)
class Curve(Table):
    start: Start = "one"
    keep: Keep = "all"
    bins: Bins | None = None
    extras: Extras = Extras()
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        thinned = THINNED if isinstance(self.keep, int) else ()
        return tuple(dict.fromkeys((*CURVE, *self.extras.columns(), *thinned)))

    def of(self, rows: Rows) -> pl.LazyFrame:
        _check_interval(rows, self.extras)
        clusters = self.extras.level is not None and rows.clustered
        rows = rows.by_threshold()
        ranking = rank(rows, self.bins, clusters=clusters, at=self.extras.calibration)
        has_start = self.start is not None
        frame = _with_rates(points(ranking, TIES if self.keep == "all" else CORNERS), self.start)
        frame = self.extras.referred(frame, ranking)
        if clusters and self.extras.level is not None:
            frame = with_moments(sums_of_clusters(frame), normal_quantile(self.extras.level))
        frame = frame.with_columns(**self.extras.columns(clusters=clusters))
        if isinstance(self.keep, int):
            # A start point that is not shown does not count.
            frame = thin(frame, self.keep + (not has_start))
        if not has_start:
            frame = frame.filter(~_OPENS)
        dtype = ranking.threshold_dtype
        infinity = pl.lit(ranking.no_threshold).cast(dtype)
        threshold = pl.when("opens").then(infinity).otherwise(pl.col("score").cast(dtype))
        found = ranking.with_score(frame).with_columns(threshold=threshold)
        return ranking.segments.with_keys(found)


def _check_interval(rows: Rows, extras: Extras) -> None:
    if extras.level is not None:
        rows.check_no_strata("the interval of a curve")
        if rows.clustered and extras.calibration is not None:
            raise OptionError(
                "ci= of a curve is given with calibrate= and cluster=",
                "two of them",
                "operating_points(threshold=..., calibrate=, ci=) has these intervals, and "
                "plot(calibrate=, band=True) draws some",
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


def points(ranking: Ranking, wanted: Points) -> pl.LazyFrame:
    """Return the points wanted of those that retrieve rows, and those that open segments."""
    holds_rows = _POSITIVES + _NEGATIVES > 0
    return running(ranking, wanted).filter(ranking.retrieved() & holds_rows)


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


def _gains() -> dict[str, pl.Expr]:
    """Return the gains; null before the first hit, where they are -inf, and without negatives."""
    defined = pl.when((_TP > 0) & (_NEGATIVES > 0))
    return {
        "precision_gain": defined.then(precision_gain(_TP, _FP, _POSITIVES, _NEGATIVES)),
        "recall_gain": defined.then(recall_gain(_TP, _POSITIVES, _NEGATIVES)),
    }


def _calibrated() -> pl.Expr:
    scaled = calibrated_precision(_TP, _FP, _POSITIVES, _NEGATIVES, _ODDS)
    return pl.when(_OPENS | (_FP == 0)).then("precision").otherwise(_has_both().then(scaled))


def _has_both() -> Any:
    return pl.when((_POSITIVES > 0) & (_NEGATIVES > 0))


# --- frames that are curves already, perhaps read back from a file -----------------------------

# The defaults of parameters that a curve has no use for; all others default to None.
_DEFAULTS = {"missing": "raise", "start": "one", "keep": "corners"}
# Parameters that curves have a use for.
_OF_CURVES = ("ascending",)
_AMOUNTS = ("tp", "fp", "fn", "tn")
_INFINITY = float("inf")
_ROUNDING = 1e-9  # relative, as a file may not keep all digits of sums of weights
_HINT = "give truth= and score= to draw rows, or pos=, neg= and score= to draw counts"


@dataclass(frozen=True)
class CurveFrame:
    """A curve, and the counts it was made from: ``key_0, key_1, ...``, ``threshold, pos, neg``.

    ``points`` has the caller's columns, in drawing order, ``keys`` the caller's names.
    """

    points: pl.DataFrame
    counts: pl.DataFrame
    keys: list[str]
    start: Start
    error: float | None
    ascending: bool = False


def read_curve(lf: pl.LazyFrame, *, ascending: bool = False) -> CurveFrame:
    """Return a curve with its counts; those between two points are put at the second one."""
    check_option("ascending", ascending, (True, False))
    schema = lf.collect_schema()
    keys = curve_keys(schema)
    by = key_names(len(keys))
    # A score may be infinite too; the start point is the one that retrieves no row.
    order = [*map(named, keys), pl.col("threshold"), _TP + _FP]
    descending = [*(False for _ in keys), not ascending, False]
    points = lf.sort(order, descending=descending, maintain_order=True).collect()
    renamed = [named(name).alias(key) for name, key in zip(keys, by, strict=True)]
    # Read from a text, a column of floats that are all whole may look like integers.
    whole = all(is_whole(schema[name]) for name in _AMOUNTS)
    amounts = pl.col(_AMOUNTS).cast(pl.Int64 if whole else pl.Float64)
    counted = points.select(*renamed, *CURVE).with_columns(amounts)
    _check_values(counted, by, ascending=ascending)
    error = points[THINNED[0]].max() if THINNED[0] in points.columns else None
    largest = error if isinstance(error, float) else None
    start = _start(counted, ascending=ascending)
    return CurveFrame(points, _counts(counted, by), keys, start, largest, ascending)


def is_curve(roles: Mapping[str, object]) -> bool:
    """Return whether a frame must be a curve already, since no column of rows is named."""
    return all(roles.get(role) is None for role in ("truth", "score", "pos", "neg"))


def check_unused(**given: object) -> None:
    for name, value in given.items():
        default = value if name in _OF_CURVES else _DEFAULTS.get(name)
        if type(value) is not type(default) or value != default:
            raise OptionError(
                f"{name}= is given without truth= and score=",
                "truth= and score= for single rows, score=, pos= and neg= for aggregated rows, or "
                "none of these for a frame that is a curve",
            )


def curve_keys(schema: pl.Schema) -> list[str]:
    for name in CURVE:
        if name not in schema:
            raise ColumnError(
                f"truth= is not given, and the frame is not a curve: it has no column {name!r}",
                f"a result of curve(), with {', '.join(CURVE)} after its keys",
                f"{_HINT}; {nearest(name, schema)}"
                if AVERAGE_PRECISION not in schema
                else "the frame is a table of areas, which has no points: draw the rows it is of",
            )
    for name in CURVE:
        if not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of the curve has dtype {schema[name]}",
                "a numeric column",
                "for a text file with NA and Inf: pl.read_csv(..., null_values='NA', "
                f"schema_overrides={{{name!r}: pl.Float64}})",
                shell_hint=None,
            )
    keys = schema.names()[: schema.names().index("threshold")]
    if AT_RECALL in keys:
        raise ColumnError(
            f"truth= is not given, and the frame has a column {AT_RECALL!r}, as a curve on a grid "
            "of recalls has",
            "a result of curve() without recalls=",
            f"a line chart of precision over {AT_RECALL} shows such a frame",
        )
    for name in keys:
        if name in CURVE:
            raise ColumnError(
                f"column {name!r} of the curve comes before 'threshold', among the keys",
                f"the order of curve(): the keys, and then {', '.join(CURVE)}",
                "select the columns in this order",
            )
    return keys


def _check_values(points: pl.DataFrame, by: list[str], *, ascending: bool) -> None:
    """Raise if the points cannot be a curve, for instance if a key column is missing."""
    grows = [pl.col(name) >= _before(name, by) for name in ("tp", "fp")]
    first = -_INFINITY if ascending else _INFINITY
    before = over(pl.col("threshold").shift(1, fill_value=first), by)
    moves = before <= pl.col("threshold") if ascending else before >= pl.col("threshold")
    totals = (pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn"))
    constant = [(total - over(total.first(), by)).abs() <= _ROUNDING * total for total in totals]
    positive = [pl.col(name) >= 0 for name in _AMOUNTS]
    point = pl.struct("threshold", "tp", "fp")
    is_new = (point != over(point.shift(1), by)) | (pl.col("tp") + pl.col("fp") == 0)
    new = is_new.fill_null(value=True)  # the first point has none before it
    fits = pl.all_horizontal(*grows, moves, new, *constant, *positive).fill_null(value=False)
    wrong = points.filter(~fits)
    if wrong.height:
        wrongly, rightly = ("falls", "rising") if ascending else ("rises", "falling")
        raise DataError(
            f"not a valid curve: in {wrong.height} of {points.height} rows tp or fp falls, the "
            f"threshold {wrongly}, totals change, a count is negative, or a point repeats; the "
            f"first is at threshold {wrong['threshold'][0]}",
            f"in each segment {rightly} thresholds, growing tp and fp, constant tp + fn and "
            "fp + tn",
            "the keys are the columns before threshold; are all of them there? Is this a curve of "
            f"ascending={not ascending}?",
        )


def _before(name: str, by: list[str]) -> pl.Expr:
    return over(pl.col(name).shift(1, fill_value=0), by)


def _counts(points: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    retrieved = points.select(
        *by,
        "threshold",
        pos=pl.col("tp") - _before("tp", by),
        neg=pl.col("fp") - _before("fp", by),
    )
    last = points.group_by(by, maintain_order=True).last() if by else points.tail(1)
    never = last.select(
        *by, pl.lit(None, points.schema["threshold"]).alias("threshold"), pos="fn", neg="tn"
    )
    return pl.concat([retrieved, never])


def _start(points: pl.DataFrame, *, ascending: bool) -> Start:
    infinity = -_INFINITY if ascending else _INFINITY
    opening = points.filter(pl.col("tp") + pl.col("fp") == 0, pl.col("threshold") == infinity)
    if opening.is_empty():
        return None
    return "one" if (opening["precision"] == 1).all() else "first"


# --- counts: positives and negatives at each score, or in each bin; they can be added ----------

ADDABLE = (*SUMS, *SQUARES)
BOUNDS = (THRESHOLD, BELOW, ABOVE)  # a bin has two of them, an exact count the threshold alone


@dataclass(frozen=True)
class Counts(Table):
    """One row per segment and distinct score, or bin that is not empty, in ranking order."""

    bins: Bins | None = None
    squares: bool = False
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        bounds = (THRESHOLD,) if self.bins is None else (THRESHOLD, self.bins.other_end)
        return (*bounds, *SUMS, *(SQUARES if self.squares else ()))

    @property
    def reserved(self) -> Sequence[str]:
        return (*BOUNDS, *ADDABLE)

    def check(self, columns: Columns) -> None:
        if self.squares and columns.lacks_squares:
            raise OptionError(
                "squares=True cannot be computed from sums of weights in pos= and neg=",
                "rows with weight=, or pos_squares= and neg_squares= beside the sums",
                columns.count_hint,
                shell_hint=None,
            )

    def of(self, rows: Rows) -> pl.LazyFrame:
        self.check(rows.columns)
        squares = self.squares and rows.columns.needs_squares
        if self.bins is None:
            ranking = rank(rows, squares=squares)
            counts = counts_at_ties(ranking).with_columns(threshold="score")
            counts = ranking.segments.with_keys(counts)
        else:
            counts = _binned(rows, self.bins, squares=squares)
        if self.squares and not squares:
            # Each row counts as one, so the counts are also the sums of squares.
            counts = counts.with_columns(pos_squares="pos", neg_squares="neg")
        return counts


def _binned(rows: Rows, bins: Bins, *, squares: bool) -> pl.LazyFrame:
    counted = count_bins(rows, bins, squares=squares).frame
    filled = counted.filter(pl.col("pos") + pl.col("neg") > 0)
    bounds = bins.table(rows.score_dtype).rename({"score": "threshold", "level": "score"})
    return join(filled, bounds, on="score", how="left", maintain_order="left")


def merge(
    frames: Sequence[pl.LazyFrame], *, ascending: bool = False, in_memory: bool
) -> pl.LazyFrame:
    schemas = [frame.collect_schema() for frame in frames]
    check_frames(schemas)
    names = schemas[0].names()
    amounts = [name for name in names if name in ADDABLE]
    # A sum of Float32 would lose counts of one beside millions.
    exact = [pl.col(name).cast(pl.Float64) for name in amounts if schemas[0][name] == pl.Float32]
    groups = [name for name in names if name not in ADDABLE]
    columns = list(map(named, names))
    rows = cached(concat([frame.select(columns) for frame in frames]).with_columns(exact))
    added = rows.group_by(map(named, groups)).agg(pl.col(amounts).sum())
    keys = [name for name in groups if name not in BOUNDS]
    added = value_checks.with_checks(added, rows, _checks(schemas[0], amounts), in_memory=in_memory)
    for ends in ((THRESHOLD, BELOW), (ABOVE, THRESHOLD)):
        if {*ends} <= {*names}:
            added = value_checks.with_bin_checks(added, rows, ends, [], in_memory=in_memory)
    return _ordered(added, list(map(named, keys)), ascending=ascending).select(columns)


def _ordered(table: pl.LazyFrame, keys: Sequence[pl.Expr], *, ascending: bool) -> pl.LazyFrame:
    """Return counts by key, then threshold; those never retrieved, without one, are last."""
    is_key = [*(True for _ in keys), False]
    descends = [not (key or ascending) for key in is_key]
    nulls_last = [not key for key in is_key]
    return table.sort(*keys, "threshold", descending=descends, nulls_last=nulls_last)


def _checks(schema: pl.Schema, amounts: Sequence[str]) -> list[value_checks.Check]:
    columns = {name: Column(pl.col(name), name, schema[name]) for name in amounts}
    checks = [
        check
        for name, column in columns.items()
        for check in value_checks.amount_checks(name, column)
    ]
    hint = "counts(...) never leaves them null"
    known = [required_rule(name, c, pl.col(name), hint) for name, c in columns.items()]
    checks.append(value_checks.missing_check(known))
    return [*checks, *([value_checks.threshold_check()] if schema["threshold"].is_float() else [])]


def check_frames(schemas: Sequence[pl.Schema]) -> None:
    for number, schema in enumerate(schemas, start=1):
        _check_counts(schema, number)
        _check_alike(schema, schemas[0], number)


def _check_counts(schema: pl.Schema, number: int) -> None:
    counts = Counts().outputs
    lacking = [name for name in counts if name not in schema]
    if lacking:
        raise ColumnError(
            f"frame {number} has no column {lacking[0]!r}",
            f"counts, with columns {', '.join(map(repr, counts))} after the keys",
            "counts(...) makes such a frame from rows",
        )
    for name in (*BOUNDS, *ADDABLE):
        if name in schema and not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of frame {number} has dtype {schema[name]}",
                "a numeric column",
                f"cast it, for example with pl.col({name!r}).cast(...)",
            )


def _check_alike(schema: pl.Schema, first: pl.Schema, number: int) -> None:
    if set(schema) != set(first):
        other = sorted(set(schema) ^ set(first))
        raise ColumnError(
            f"frame {number} and frame 1 differ in columns {', '.join(map(repr, other))}",
            "counts by the same keys, all of them binned or none",
        )
    for name, dtype in first.items():
        if schema[name] != dtype:
            cast = "..." if pl.Enum not in (dtype, schema[name]) else "pl.String"
            in_pandas = "" if cast == "..." else ", or in pandas with .astype(str)"
            raise ColumnError(
                f"column {name!r} has dtype {schema[name]} in frame {number} "
                f"and {dtype} in frame 1",
                "one dtype",
                f"cast it, for example with pl.col({name!r}).cast({cast}){in_pandas}",
                shell_hint=None,
            )
