"""Estimates of segments inside an engine: what intervals, tests and means rest on, collected.

The rows are read once for the points of segments, whose influences are added up there. With
clusters, and for models beside each other, the points are joined back to the rows, which are read a
second time, and the influences of rows are added up by segment and cluster. What is collected has a
row for each segment, from which the last steps in Polars go on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any, cast

import narwhals as nw
import polars as pl

from frame_prc._curves.calibration import REFERENCE
from frame_prc._engines.operations import Frame
from frame_prc._engines.points import InEngine, fresh, points_of
from frame_prc._engines.rows import Counted
from frame_prc._engines.running_sums import RETRIEVED
from frame_prc._engines.segments import by_segment
from frame_prc._engines.spark_ranges import cut
from frame_prc._formulas import exact_sum
from frame_prc._inference.estimates import OF_CLASSES
from frame_prc._inference.measure import Measure, constants, sums_over_scores, with_terms
from frame_prc._request.specs import Calibration


@dataclass(frozen=True)
class Collected:
    """What is collected of the segments of some rows, with their keys.

    ``segments`` has the sums over points of each measure, named with its place; ``clusters`` those
    over clusters, or of rows if there are none.
    """

    segments: pl.DataFrame
    clusters: pl.DataFrame | None = None


def segment_sums(counted: Counted, measures: Sequence[Measure]) -> Collected:
    """Return the sums of each segment for the measures; with clusters also those over clusters."""
    ranged = cut(counted)
    points, moved = _influenced(ranged, measures)
    parts = [_over_points(points, ranged, measures)]
    if counted.columns.cluster is not None:
        cells = _cells([moved], ranged, len(measures))
        parts.append(_by_keys(cells, counted, _over_clusters(len(measures))))
    return Collected(*_together(counted, parts))


def cluster_cells(counted: Counted, measure: Measure) -> pl.DataFrame:
    """Return ``cluster, influence, influence_on_negatives, pos, neg`` of clusters in segments."""
    ranged = cut(counted)
    _, moved = _influenced(ranged, [measure])
    names = {"influence_0": "influence", "of_negatives_0": "influence_on_negatives"}
    cells = _cells([moved], ranged, 1).rename(names)
    amounts = nw.col("pos", "neg").cast(nw.Float64)
    table = cells.select(*_keys(counted), "cluster", *names.values(), amounts)
    return collected(counted, table)


def paired_sums(models: Sequence[Counted], measure: Measure, *, paired: bool) -> list[pl.DataFrame]:
    """Return the sums over points of models side by side, and those over the rows that they share.

    The latter, only if ``paired``, are products of the influences of each pair, of clusters if any.
    """
    ranged = [cut(counted) for counted in models]
    found = [_influenced(one, [measure]) for one in ranged]
    parts = [
        _over_points(points, one, [measure]) for one, (points, _) in zip(ranged, found, strict=True)
    ]
    first, number = models[0], len(models)
    if not paired:
        return _together(first, parts)
    cells = _cells([moved for _, moved in found], first, number, side_by_side=True)
    parts.append(_by_keys(cells, first, _over_clusters(number) | _products(number)))
    return _together(first, parts)


# --- points ------------------------------------------------------------------------------------


def _influenced(counted: Counted, measures: Sequence[Measure]) -> tuple[Frame, Frame]:
    """Return points with what is added up of each measure, and with the influence of their rows."""
    of, found = InEngine(counted), points_of(counted)
    kept = found.columns
    names: list[str] = []
    for place, measure in enumerate(measures):
        of_measure = fresh(found)
        if measure.calibration is not None:
            of_measure = _referred(of_measure, counted, measure.calibration)
        own = with_terms(measure.influences_of(of_measure, of), of, measure)
        made = [*_own(measure), *sums_over_scores(measure), "on_positive", "on_negative"]
        found = own.select(*kept, *names, *(_plain(n).alias(f"{n}_{place}") for n in made))
        names += [f"{name}_{place}" for name in made]
    on = [
        f"on_{of_class}_{i}" for i in range(len(measures)) for of_class in ("positive", "negative")
    ]
    return found, found.select(*counted.keys, *on, score=nw.col("at_score"))


def _own(measure: Measure) -> list[str]:
    """Return the columns of points that are the same in a segment, but for its sizes."""
    return [name for name in constants(measure) if name not in ("positives", "negatives")]


def _plain(name: str) -> nw.Expr:
    """Return a column as a number: some engines add up and compare no Booleans."""
    if name in _FLAGS:
        return nw.when(nw.col(name)).then(1.0).otherwise(0.0)
    return nw.col(name).cast(nw.Float64)


_FLAGS = ("is_few", "has_measure")


def _over_points(points: Frame, counted: Counted, measures: Sequence[Measure]) -> Frame:
    """Return the sums of the points of each segment."""
    seen = nw.col("at_tp") + nw.col("at_fp")
    shown = nw.when(~nw.col("at_score").is_null() & (seen > 0))
    here = nw.col("at_pos") + nw.col("at_neg")
    ready = points.with_columns(
        share=shown.then(here / seen).otherwise(0.0),
        seen=shown.then(seen).otherwise(0),
        score=nw.col("at_score"),
    )
    sums = scores_of_segments()
    sums |= {"tie_shares": exact_sum(nw.col("share")), "retrieved": nw.col("seen").max()}
    for place, measure in enumerate(measures):
        sums |= {f"{name}_{place}": nw.col(f"{name}_{place}").max() for name in _own(measure)}
        sums |= {
            f"{name}_{place}": nw.col(f"{name}_{place}").sum() for name in sums_over_scores(measure)
        }
    return by_segment(ready, counted, sums)


def scores_of_segments() -> dict[str, nw.Expr]:
    """Return the number of scores of a segment, the lowest and the highest, as aggregates."""
    score = nw.when(RETRIEVED).then(nw.col("score"))
    one = nw.when(RETRIEVED).then(1).otherwise(0)
    return {"lowest": score.min(), "highest": score.max(), "n_scores": one.sum()}


def _referred(points: Frame, counted: Counted, calibration: Calibration) -> Frame:
    """Add the reference of each model, which is known."""
    names = ("reference_odds", REFERENCE)
    if calibration.table is None:
        values = (calibration.odds, calibration.prevalence)
        return points.with_columns(
            nw.lit(value, nw.Float64).alias(name) for name, value in zip(names, values, strict=True)
        )
    table = calibration.table.collect()
    if not counted.columns.several_models:
        return points.with_columns(nw.lit(table[n][0], nw.Float64).alias(n) for n in names)
    key = counted.keys[0]
    found = {name: nw.lit(None, nw.Float64) for name in names}
    for row in table.iter_rows(named=True):
        is_model = nw.col(key).is_null() if row[key] is None else nw.col(key) == row[key]
        found = {
            name: nw.when(is_model).then(nw.lit(row[name], nw.Float64)).otherwise(value)
            for name, value in found.items()
        }
    return points.with_columns(**found)


# --- rows --------------------------------------------------------------------------------------


def _cells(
    moved: Sequence[Frame], counted: Counted, number: int, *, side_by_side: bool = False
) -> Frame:
    """Return the influences of the rows of each segment and cluster; without clusters of each row.

    ``moved`` are points with their influences: of one model for several measures, or of models side
    by side, each with one.
    """
    used = counted.single.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    # Of bins, a score below all thresholds is null too.
    missing = counted.columns.request.missing == "unretrieved" or counted.unchecked is None
    rows = _with_matches(used, counted, "score", missing=missing)
    on = [name for name in rows.columns if name.startswith("match_")]
    if not side_by_side:
        [points] = moved
        others = _with_matches(points, counted, "score", missing=missing).drop(
            *counted.keys, "score"
        )
        rows = rows.join(others, on=on, how="left")
    for place, points in enumerate(moved if side_by_side else []):
        own = _with_matches(points, counted, "score", missing=missing)
        renamed = {f"on_{c}_0": f"on_{c}_{place}" for c in ("positive", "negative")}
        named = own.select(*on, *renamed).rename(renamed)
        rows = _with_matches(rows.drop(on), counted, f"score_{place}", missing=missing)
        rows = rows.join(named, on=on, how="left")
    influences: dict[str, nw.Expr] = {}
    for i in range(number):
        parts = [
            nw.when(nw.col(amount) > 0).then(nw.col(amount) * nw.col(f"on_{c}_{i}")).otherwise(0.0)
            for amount, c in (("pos", "positive"), ("neg", "negative"))
        ]
        influences |= {f"influence_{i}": reduce(add, parts), f"of_negatives_{i}": parts[1]}
    clustered = counted.columns.cluster is not None
    each = rows.select(
        *counted.keys, *(["cluster"] if clustered else []), "pos", "neg", **influences
    )
    if not clustered:
        return each
    sums = nw.col("pos", "neg", *influences).sum()
    return each.group_by(*counted.keys, "cluster").agg(sums)


def _with_matches(frame: Frame, counted: Counted, score: str, *, missing: bool) -> Frame:
    """Add columns without nulls by which rows match the points of their score and segment.

    SQL takes a null for different from another null. A score may be null only if some are missing.
    """
    dtypes = frame.collect_schema()
    keys = _keys(counted)
    matches = {f"match_{i}": _without_null(nw.col(k), dtypes[k]) for i, k in enumerate(keys)}
    nullable = [*keys, *([score] if missing else [])]
    flags = [
        nw.when(nw.col(name).is_null()).then(2**i).otherwise(0) for i, name in enumerate(nullable)
    ]
    if flags:
        matches["match_null"] = reduce(add, flags)
    matches["match_score"] = (
        _without_null(nw.col(score), dtypes[score]) if missing else nw.col(score)
    )
    return frame.with_columns(**matches)


def _without_null(value: nw.Expr, dtype: Any) -> nw.Expr:
    """Return a value that is never null, and differs wherever it did; nulls equal some value."""
    if dtype.is_numeric():
        return nw.coalesce(value, nw.lit(0, dtype))
    if isinstance(dtype, nw.Boolean):
        return nw.coalesce(value, nw.lit(value=False))
    return nw.coalesce(value.cast(nw.String), nw.lit(""))


def _over_clusters(number: int) -> dict[str, nw.Expr]:
    """Return the aggregates over the clusters of a segment: sums, and sums of squares."""
    pos, neg = (nw.col(name).cast(nw.Float64) for name in ("pos", "neg"))
    amounts = {"pos": pos, "neg": neg, "both": pos + neg}
    sums = {name: amount.sum() for name, amount in amounts.items()}
    sums |= {f"{name}_squares": (amount * amount).sum() for name, amount in amounts.items()}
    for i in range(number):
        influence, of_negatives = nw.col(f"influence_{i}"), nw.col(f"of_negatives_{i}")
        of_positives = influence - of_negatives
        sums[f"alone_{i}"] = (influence * influence).sum()
        for name, part in zip(OF_CLASSES, (of_positives, of_negatives), strict=True):
            sums[f"{name}_{i}"] = (part * part).sum()
    return sums


def _products(number: int) -> dict[str, nw.Expr]:
    """Return the sums of products of the influences of two models, by their places."""
    sums = {}
    for a, b in combinations(range(number), 2):
        one, other = nw.col(f"influence_{a}"), nw.col(f"influence_{b}")
        squared = (one - other) * (one - other)
        sums[f"variance_{a}_{b}"] = squared.sum()
        sums[f"covariance_{a}_{b}"] = (one * other).sum()
        sums[f"fourth_{a}_{b}"] = (squared * squared).sum()
    return sums


def totals(counted: Counted, sums: Mapping[str, nw.Expr]) -> Frame:
    """Return sums over the counts of each segment."""
    return _by_keys(counted.frame, counted, sums)


def row_counts(counted: Counted) -> tuple[Counted, Frame]:
    """Return the number of ``rows`` of each segment, and what they are counted from."""
    used = counted.single.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    return counted, _by_keys(used, counted, {"rows": nw.len()})


def _by_keys(frame: Frame, counted: Counted, sums: Mapping[str, nw.Expr]) -> Frame:
    """Return sums of each segment, or of all rows."""
    named = [value.alias(name) for name, value in sums.items()]
    keys = _keys(counted)
    return frame.group_by(*keys).agg(*named) if keys else frame.select(*named)


# --- collecting --------------------------------------------------------------------------------


def collected(counted: Counted, table: Frame) -> pl.DataFrame:
    """Collect a table of the rows that were counted."""
    [found] = _together(counted, [table])
    return found


def _together(counted: Counted, parts: Sequence[Frame]) -> list[pl.DataFrame]:
    """Collect several tables by one query, so that they share what they read."""
    keys = _keys(counted)
    schemas = [part.collect_schema() for part in parts]
    dtypes = {name: dtype for schema in schemas for name, dtype in schema.items()}
    others = [name for name in dtypes if name not in keys]
    stacked = [
        part.select(
            *keys,
            *(nw.col(n) if n in schema else nw.lit(None, dtypes[n]).alias(n) for n in others),
            part=nw.lit(place),
        )
        for place, (part, schema) in enumerate(zip(parts, schemas, strict=True))
    ]
    whole = nw.concat(stacked) if len(stacked) > 1 else stacked[0]
    native = counted.engine.finished(whole, [], [], counted.problem)
    found = in_polars(native)
    return [
        found.filter(pl.col("part") == place).select(*keys, *(n for n in others if n in schema))
        for place, schema in enumerate(schemas)
    ]


def in_polars(frame: Any, names: Collection[str] | None = None) -> pl.DataFrame:
    """Read columns of an engine's frame, or all of them."""
    lf = nw.from_native(frame).lazy()
    chosen = lf if names is None else lf.select(sorted(names))
    return cast("pl.DataFrame", chosen.collect("polars").to_native())


def _keys(counted: Counted) -> list[str]:
    """Return the keys of segments; all rows together have none."""
    return counted.keys if counted.columns.result_keys else []
