"""Frames that are curves already: results of ``curve``, perhaps read back from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.curve import AT_RECALL, CURVE, THINNED
from frame_prc._lazy import key_names, named, over
from frame_prc._request.roles import check_option
from frame_prc._request.specs import Start
from frame_prc._rows.columns import is_whole
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest

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

    ``points`` has the caller's columns, in drawing order; ``keys`` are the caller's names of the
    keys, ``start`` is the start point of the segments, and ``error`` is the largest error of a
    thinned curve, otherwise ``None``.
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
    points = _in_drawing_order(lf, keys, ascending=ascending).collect()
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


def _in_drawing_order(points: pl.LazyFrame, keys: list[str], *, ascending: bool) -> pl.LazyFrame:
    # A score may be infinite too; the start point is the one that retrieves no row.
    order = [*map(named, keys), pl.col("threshold"), pl.col("tp") + pl.col("fp")]
    descending = [*(False for _ in keys), not ascending, False]
    return points.sort(order, descending=descending, maintain_order=True)


def is_curve(roles: Mapping[str, object]) -> bool:
    """Return whether a frame must be a curve already, since no column of rows is named."""
    return all(roles.get(role) is None for role in ("truth", "score", "pos", "neg"))


def check_unused(**given: object) -> None:
    """Raise if a parameter is given that a curve has no use for."""
    for name, value in given.items():
        default = value if name in _OF_CURVES else _DEFAULTS.get(name)
        if type(value) is not type(default) or value != default:
            raise OptionError(
                f"{name}= is given without truth= and score=",
                "truth= and score= for single rows, score=, pos= and neg= for aggregated rows, or "
                "none of these for a frame that is a curve",
            )


def curve_keys(schema: pl.Schema) -> list[str]:
    """Return the columns before ``threshold``, if the frame has all columns of a curve."""
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
    """Return the counts each point adds, and those that no threshold reaches, at threshold null."""
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
    """Return the start point: at precision 1, at that of the first real point, or none."""
    infinity = -_INFINITY if ascending else _INFINITY
    opening = points.filter(pl.col("tp") + pl.col("fp") == 0, pl.col("threshold") == infinity)
    if opening.is_empty():
        return None
    return "one" if (opening["precision"] == 1).all() else "first"
