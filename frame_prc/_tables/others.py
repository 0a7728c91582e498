"""Segments beside others: the rest, all rows, other segments, a named one, or the one before.

The area of the others is the mean of their areas, weighted by their positives, taken as given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import time

import polars as pl

from frame_prc._curves.calibration import REFERENCE, same_reference
from frame_prc._formulas import effective_number, sizes, unsigned_zero
from frame_prc._inference.estimates import Estimates, is_moved, measure_of, moved_by_few
from frame_prc._inference.measure import Measure
from frame_prc._inference.row_influence import cluster_sums, numbered, with_influences
from frame_prc._lazy import (
    aggregated,
    cached,
    in_order,
    join,
    left_join,
    over,
    parts_by,
    segment_join,
)
from frame_prc._request.specs import Comparison
from frame_prc._request.values import class_value, literal, other_spelling, plain
from frame_prc._rows.checks import Check, order_checks, with_checks
from frame_prc._rows.rows import Rows
from frame_prc._tables.models import CANCELLED, above_rounding
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest, shown

_OF_SIDES = {
    "estimate": "value",
    "shortfall": "shortfall",
    "variance": "variance",
    "of_squares": "of_squares",
    "prevalence": "prevalence",
}
_NAMES_A = {name: f"{side}_a" for name, side in _OF_SIDES.items()}
_NAMES_B = {name: f"{side}_b" for name, side in _OF_SIDES.items()}
# What both sides have, of which the comparison has the smaller or the worse.
_OF_BOTH = ("n_effective", "status", "few_negatives")

# What the result shows of the segment alone, not of what it is compared with.
_OF_SIDE_A = ("n", "n_pos", "n_dropped", REFERENCE, "reference_odds")

_VARIANCE_A, _VARIANCE_B = pl.col("variance_a"), pl.col("variance_b")


def beside_others(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    against = comparison.against
    if against == "rest":
        table = _rest(rows, comparison)
    elif against == "overall":
        table = _overall(rows, comparison)
    elif against == "others":
        difference = {"variance_of_difference": "variance"}
        table = beside_other_segments(rows, comparison).rename(_NAMES_A).rename(difference)
    else:
        table = _other_segment(rows, comparison)
    if against == "previous":  # the reference is another one in each row
        return table.with_columns(_of_both_sides())
    named = against if isinstance(against, str) else _in_words(against)
    return table.with_columns(_of_both_sides(), reference=pl.lit(named))


def _in_words(segment: Mapping[str, object] | None) -> str:
    return ", ".join(f"{key}={value}" for key, value in (segment or {}).items())


def _side_b(table: pl.LazyFrame) -> pl.LazyFrame:
    found = table.collect_schema().names()
    renamed = _NAMES_B | {name: f"{name}_b" for name in _OF_BOTH}
    return table.select(
        pl.col(name).alias(renamed.get(name, name)) for name in found if name not in _OF_SIDE_A
    )


def _of_both_sides() -> list[pl.Expr]:
    other = pl.col("status_b").fill_null("no_other")
    worse = pl.when(pl.col("status") == "ok").then(other).otherwise("status").alias("status")
    fewer = pl.min_horizontal("n_effective", "n_effective_b").alias("n_effective")
    return [
        worse,
        fewer,
        pl.col("n_effective").alias("n_effective_a"),
        pl.any_horizontal("few_negatives", "few_negatives_b").alias("few_negatives"),
    ]


# --- all rows ------------------------------------------------------------------------------


def _overall(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    counted = numbered(rows)
    [segments] = Estimates.by_rows(counted, [measure_of(comparison.measured)])
    [whole] = Estimates.by_rows(counted.pooled(), [_of_all(segments)])
    table = segment_join(segments.table().rename(_NAMES_A), _shared(counted, segments, whole))
    keyed = segments.ranking.segments.with_keys(table)
    model = rows.model_keys
    others = _side_b(whole.keyed())
    keyed = left_join(keyed, others, model)
    total = pl.col("len").sum()
    is_part = pl.col("len") < over(total, model)
    # If rows outside have no influence, rounding errors are all that is left of the difference.
    outside = _VARIANCE_B - pl.col("inside")
    outside = pl.when(outside > CANCELLED * _VARIANCE_B).then(outside).otherwise(0.0)
    variance = above_rounding(pl.col("near") + outside, pl.col("alone") + _VARIANCE_B)
    # A segment of all rows is not another one.
    other = pl.when(is_part).then("status_b")
    return keyed.with_columns(variance=pl.when(is_part).then(variance), status_b=other)


def _of_all(segments: Estimates) -> Measure:
    """Return the measure of all rows, calibrated to the highest prevalence of their segments."""
    measure = segments.measure
    if measure.calibration is None or not measure.calibration.highest:
        return measure
    same = same_reference(segments.keyed(), segments.ranking.rows.model_keys)
    return replace(measure, calibration=same)


def _shared(rows: Rows, segments: Estimates, whole: Estimates) -> pl.LazyFrame:
    own, overall = pl.col("influence_0"), pl.col("influence_1")
    frame = with_influences(rows, [one.by_row for one in (segments, whole) if one.by_row])
    if rows.clustered:
        numbers = ["segment_0", "segment_1"]
        frame = cluster_sums(
            frame, numbers, ["influence_0", "influence_1"], segments.ranking
        ).with_columns(overall.sum().over("segment_1", "cluster"))
    return frame.group_by(segment="segment_0").agg(
        near=in_order((own - overall) ** 2),
        alone=in_order(own**2),
        inside=in_order(overall**2),
        covariance=in_order(own * overall),
        len=pl.len(),
    )


# --- the rest ------------------------------------------------------------------------------


def _rest(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    measure = measure_of(comparison.measured)
    own = Estimates.of(rows, measure).keyed().rename(_NAMES_A)
    rest = _side_b(rest_of_each_segment(rows, measure))
    table = left_join(own, rest, rows.keys)
    return table.with_columns(variance=_of_difference())


def _of_difference() -> pl.Expr:
    return _VARIANCE_A + _VARIANCE_B - 2 * pl.col("covariance")


# --- another segment -----------------------------------------------------------------------


def _other_segment(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    estimates = Estimates.of(rows, measure_of(comparison.measured))
    table = cached(estimates.table())
    partners = _partners(estimates, comparison)
    paired = segment_join(table.rename(_NAMES_A), partners)
    other = _side_b(table)
    both = join(
        paired, other, left_on="partner", right_on="segment", how="left", maintain_order="left"
    )
    both = segment_join(both, _covariances(estimates, partners))
    covariance = pl.col("covariance").fill_null(0.0)
    differs = pl.col("partner") != pl.col("segment")
    variance = pl.when(differs).then(above_rounding(_of_difference(), _VARIANCE_A + _VARIANCE_B))
    # A segment beside itself has no test, even if its area is 1.
    tested = pl.when(differs).then(pl.col("n_effective_b", "status_b"))
    found = both.with_columns(covariance).with_columns(tested, variance=variance)
    return estimates.ranking.segments.with_keys(found)


def _covariances(estimates: Estimates, partners: pl.LazyFrame) -> pl.LazyFrame:
    if not estimates.ranking.rows.clustered:
        return partners.select("segment", covariance=pl.lit(0.0))
    clusters = estimates.clusters.select("segment", "cluster", "influence")
    own = join(clusters, partners, on="segment", how="inner")
    shared = join(
        own, clusters, left_on=["partner", "cluster"], right_on=["segment", "cluster"], how="inner"
    )
    product = pl.col("influence") * pl.col("influence_right")
    return shared.group_by("segment").agg(covariance=in_order(product.sort()))


def _partners(estimates: Estimates, comparison: Comparison) -> pl.LazyFrame:
    rows, against = estimates.ranking.rows, comparison.against
    segments = estimates.ranking.segments.table.select("segment", *rows.keys)
    if isinstance(against, Mapping):
        return _named(segments, rows, against)
    return _previous(segments, rows)


def _named(segments: pl.LazyFrame, rows: Rows, values: Mapping[str, object]) -> pl.LazyFrame:
    internal = dict(zip(rows.columns.result_keys, rows.keys, strict=True))
    literals = {key: _value(rows, key, value) for key, value in values.items()}
    named = [pl.col(internal[key]).eq_missing(value) for key, value in literals.items()]
    others = [key for name, key in internal.items() if name not in values]
    absence = _absence(pl.all_horizontal(named), values)
    occurring = with_checks(segments, rows.frame, [absence], in_memory=rows.in_memory)
    partners = occurring.filter(named).select(*others, partner="segment")
    return left_join(segments, partners, others).select("segment", "partner")


def _value(rows: Rows, key: str, value: object) -> pl.Expr:
    dtypes = rows.columns.key_dtypes
    if key not in dtypes:
        raise ColumnError(
            f"against= names {key!r}, which is not a key in by=",
            ", ".join(map(repr, dtypes)),
            nearest(key, dtypes),
        )
    if value is None:
        return pl.lit(None)
    if isinstance(value, float) and math.isnan(value) and dtypes[key].is_float():
        return pl.lit(value)
    is_single = not isinstance(value, (pl.Expr, pl.Series)) and getattr(value, "shape", ()) == ()
    held = class_value(plain(value), dtypes[key]) if is_single else None
    if held is None or held.item() is None:
        spelling = other_spelling(value, dtypes[key])
        raise OptionError(
            f"against= names {shown(value)}, which cannot be a value of key {key!r} of dtype "
            f"{dtypes[key]}",
            "a value of the key, or None for the segment whose key is missing",
            f"did you mean {spelling}?" if spelling else None,
        )
    return literal(held)


def _absence(is_named: pl.Expr, values: Mapping[str, object]) -> Check:
    def error(_: int) -> DataError:
        return DataError(
            f"against= names {_in_words(values)}, and no row is in such a segment",
            "a segment of the data",
        )

    return Check((pl.len() > 0) & ~is_named.any(), error)


def _previous(segments: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    *others, last = rows.keys
    dtype = segments.collect_schema()[last]
    checks = order_checks("against='previous'", rows.columns.result_keys[-1], pl.col(last), dtype)
    segments = with_checks(segments, segments, checks, in_memory=rows.in_memory)
    text = _as_text(pl.col(last), dtype)
    name = pl.lit(f"{rows.columns.result_keys[-1]}=")
    reference = pl.lit("previous") if text is None else pl.concat_str(name, text)
    ordered = segments.filter(pl.col(last).is_not_null()).sort("segment")
    named = ordered.with_columns(reference=reference)
    return named.select(
        "segment",
        partner=over(pl.col("segment").shift(1), others),
        reference=over(pl.col("reference").shift(1), others),
    )


def _as_text(key: pl.Expr, dtype: pl.DataType) -> pl.Expr | None:
    if isinstance(dtype, pl.Datetime):  # pandas has no dates
        all_midnight = (key.dt.time() == time()).all()
        as_time = key.dt.to_string("%Y-%m-%d %H:%M:%S%.f")
        return pl.when(all_midnight).then(key.dt.to_string("%Y-%m-%d")).otherwise(as_time)
    if isinstance(dtype, pl.Duration):
        return key.dt.to_string("polars")
    return None if dtype.is_nested() or dtype == pl.Binary else key.cast(pl.String)


# --- the mean of the other segments ------------------------------------------------------------

_AREA, _SHARE, _OTHERS = pl.col("estimate"), pl.col("share"), pl.col("share_b")
_POSITIVES, _NEGATIVES = pl.col("n_pos"), pl.col("n") - pl.col("n_pos")
_VARIANCE = pl.col("variance")


def beside_other_segments(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    """Return a row per segment: its estimates, those of the others (``_b``), and ``covariance``."""
    estimates = Estimates.of(rows, measure_of(comparison.measured))
    weighted = estimates.keyed().with_columns(share=pl.when(_AREA.is_not_null()).then(_POSITIVES))
    table = cached(weighted.with_columns(_SHARE.fill_null(0)))
    found = table.with_columns(_others(rows.model_keys)).with_columns(_means())
    if not rows.clustered:
        return found.with_columns(
            covariance=pl.lit(0.0),
            variance_of_difference=above_rounding(*[_VARIANCE + _VARIANCE_B] * 2),
        )
    shared = _of_clusters(estimates, found, rows)
    return left_join(found.drop("variance_b", "n_effective_b"), shared, rows.keys)


# --- sums over the others ------------------------------------------------------------------


def _others(model: Sequence[str]) -> list[pl.Expr]:
    in_mean = pl.when(_SHARE > 0)
    sums = {
        "share_b": _SHARE,
        "area_b": in_mean.then(_SHARE * _AREA),
        "shortfall_b": in_mean.then(_SHARE * pl.col("shortfall")),
        "variance_b": in_mean.then(_SHARE**2 * _VARIANCE),
        "of_squares_b": in_mean.then(_SHARE**2 * pl.col("of_squares")),
        "squares_b": in_mean.then(_SHARE * (_SHARE / pl.col("n_effective"))),
        "positives_b": _POSITIVES,
        "negatives_b": _NEGATIVES,
        "moved_b": in_mean.then(
            pl.when("few_negatives").then(moved_by_few(_SHARE, pl.col("n_told")))
        ),
    }
    return [_of_others(amount.fill_null(0), model).alias(name) for name, amount in sums.items()]


def _of_others(amount: pl.Expr, model: Sequence[str]) -> pl.Expr:
    """Return the sum without the row's own amount, added up so that nothing cancels."""
    before = amount.cum_sum().shift(1, fill_value=0)
    after = amount.cum_sum(reverse=True).shift(-1, fill_value=0)
    return over(before + after, model)


def _means() -> list[pl.Expr]:
    has_any = pl.when(_OTHERS > 0)
    *_, prevalence, status = sizes(pl.col("positives_b"), pl.col("negatives_b"))
    own, others = pl.col("n_effective"), effective_number(_OTHERS, pl.col("squares_b"))
    return [
        has_any.then(pl.col("area_b") / _OTHERS).alias("value_b"),
        has_any.then(pl.col("shortfall_b") / _OTHERS),
        has_any.then(pl.col("variance_b", "of_squares_b") / _OTHERS**2),
        others.alias("n_effective_b"),
        prevalence.alias("prevalence_b"),
        status.replace("empty", "no_other").alias("status_b"),
        is_moved(pl.col("moved_b"), _OTHERS, own, others).alias("few_negatives_b"),
    ]


# --- clusters ------------------------------------------------------------------------------


def _of_clusters(estimates: Estimates, found: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Return ``variance_b, n_effective_b, covariance, variance_of_difference`` of each segment.

    Of the clusters without rows in the segment only sums are needed: of all, less of its own.
    """
    pool = rows.model_keys
    influence, pos = (
        pl.when(_SHARE > 0).then(name).otherwise(0.0) for name in ("influence", "pos")
    )
    shares = found.select(*rows.keys, "share", "share_b", "variance")
    moved = left_join(estimates.keyed_clusters(), shares, rows.keys)
    of_all = {"all_moved": _SHARE * influence, "all_pos": pos}
    clusters = cached(
        moved.with_columns(
            over(amount.sum(), [*pool, "cluster"]).alias(name) for name, amount in of_all.items()
        )
    )
    totals = _totals(clusters, pool)
    others = (pl.col("all_moved") - _SHARE * influence) / _OTHERS
    sums = clusters.group_by(rows.keys).agg(
        pl.col("share_b", "variance").first(),
        near=in_order((influence - others) ** 2),
        others=in_order(others**2),
        covariance=in_order(influence * others),
        own_moved=in_order(pl.col("all_moved") ** 2),
        own_pos=in_order(pl.col("all_pos") ** 2),
        pos=in_order(pl.col("all_pos") - pos),
        squares=in_order((pl.col("all_pos") - pos) ** 2),
        in_own=in_order(pl.col("all_pos")),
    )
    return left_join(sums, totals, pool).select(*rows.keys, *_of_sums())


def _totals(clusters: pl.LazyFrame, pool: Sequence[str]) -> pl.LazyFrame:
    once = clusters.select(*pool, "cluster", "all_moved", "all_pos").unique(
        [*pool, "cluster"], maintain_order=True
    )
    return aggregated(
        once,
        pool,
        total_moved=in_order(pl.col("all_moved") ** 2),
        total_squares=in_order(pl.col("all_pos") ** 2),
        total_pos=in_order(pl.col("all_pos")),
    )


def _of_sums() -> list[pl.Expr]:
    outside = _outside("total_moved", "own_moved") / _OTHERS**2
    others = pl.col("others") + outside
    squares = pl.col("squares") + _outside("total_squares", "own_pos")
    pos = pl.col("pos") + _outside("total_pos", "in_own")
    has_any = pl.when(_OTHERS > 0)
    variance = above_rounding(pl.col("near") + outside, _VARIANCE + others)
    return [
        has_any.then(others).alias("variance_b"),
        has_any.then(effective_number(pos, squares)).alias("n_effective_b"),
        has_any.then("covariance"),
        has_any.then(variance).alias("variance_of_difference"),
    ]


def _outside(total: str, own: str) -> pl.Expr:
    """Return a sum over the clusters without rows in the segment; 0 if only rounding is left."""
    rest = pl.col(total) - pl.col(own)
    return pl.when(rest > CANCELLED * pl.col(total)).then(rest).otherwise(0.0)


# --- the rest of each segment, in blocks of segments -------------------------------------------

_ESTIMATES = ("estimate", "shortfall", "variance", "of_squares", "prevalence", "n_effective")

_ROWS_IN_BLOCK = 500_000  # the fastest size in measurements
_MOST_ROWS = 4_000_000_000
# Keys of such a narrow dtype number the segments themselves, without a look-up.
_PLACE, _MOST_IN_BLOCK = pl.UInt16(), 2**16


def rest_of_each_segment(rows: Rows, measure: Measure) -> pl.LazyFrame:
    keys = rows.frame.select(rows.keys).collect_schema()
    numbers = dict.fromkeys((*_ESTIMATES, "covariance"), pl.Float64())
    return rows.in_python(
        rows.with_checks(rows.frame),
        lambda frame: _evaluated(rows, frame, measure),
        {**keys, **numbers, "status": pl.String(), "few_negatives": pl.Boolean()},
    )


def _evaluated(rows: Rows, frame: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    model, used = rows.model_keys, frame if rows.usable is None else frame.filter(rows.usable)
    score = unsigned_zero(pl.col("score"), rows.score_dtype)
    if not measure.scored:
        score = score.rank("dense").cast(pl.UInt32)
    # In ranking order, so that the sort of each block is fast.
    descends = [not rows.ascending, False]
    ranked = used.with_columns(score).sort("score", "truth", descending=descends)
    columns = rows.columns
    request = replace(columns.request, models={None: "score"}, model=None)
    of_model = replace(
        replace(rows, height=0).without_values(),
        columns=replace(columns, request=request, model=None, scores=columns.scores[:1]),
        score_dtype=ranked.schema["score"],
        usable=None,
        n_dropped=None,
        check=lambda: None,  # the rows have been checked
    )
    renamed = dict(zip(rows.keys[len(model) :], of_model.keys, strict=True))
    segments, parts = frame.select(rows.keys).unique().sort(rows.keys), []
    _check_work(segments, used, model)
    for own in parts_by(segments, model) or [segments]:
        part = ranked
        if model:
            part = ranked.join(own.head(1), on=model, how="semi", nulls_equal=True)
        one = replace(of_model, frame=part.drop(model).rename(renamed).lazy())
        numbered = own.drop(model).rename(renamed).with_row_index("segment")
        parts.append(own.hstack(_of_model(one, numbered, measure)))
    return pl.concat(parts)


def _of_model(rows: Rows, segments: pl.DataFrame, measure: Measure) -> pl.DataFrame:
    estimates, calibration = Estimates.of(rows, measure), measure.calibration
    if calibration is not None and calibration.odds is None:
        # A rest has the reference of all segments.
        same = same_reference(estimates.keyed().collect().lazy(), [])
        measure = replace(measure, calibration=same)
    influences = None
    if rows.clustered:
        influences = left_join(estimates.keyed_clusters(), segments.lazy(), rows.keys).collect()
    others = left_join(rows.frame.collect(), segments, rows.keys).drop(rows.keys)
    others = others.rename({"segment": "other"})
    block = min(max(1, _ROWS_IN_BLOCK // max(1, others.height)), _MOST_IN_BLOCK)
    columns, blocks = replace(rows.columns, key_dtypes={"place": _PLACE}), []
    for start in range(0, max(1, segments.height), block):
        numbers = segments[start : start + block].select("segment")
        paired = numbers.join(others, how="cross", maintain_order="left_right").lazy()
        place = (pl.col("segment") - start).cast(_PLACE).alias("key_0")
        rest = paired.filter(pl.col("segment") != pl.col("other")).with_columns(place)
        part = replace(rows, frame=rest.drop("segment", "other"), columns=columns)
        blocks.append(_estimates_of(Estimates.of(part, measure), start, influences))
    found = segments.join(pl.concat(blocks), on="segment", how="left", maintain_order="left")
    return found.select(*_ESTIMATES, "covariance", "status", "few_negatives")


def _check_work(segments: pl.DataFrame, used: pl.DataFrame, model: list[str]) -> None:
    numbers, rows = (
        aggregated(one.lazy(), model, n=pl.len().cast(pl.Int64)) for one in (segments, used)
    )
    products = left_join(numbers, rows, model).select((pl.col("n") * pl.col("n_right")).sum())
    work = products.collect().item()
    if work > _MOST_ROWS:
        raise OptionError(
            f"against='rest' would evaluate {work:,} rows: {segments.height:,} segments times "
            f"{used.height:,} rows",
            f"up to {_MOST_ROWS:,}",
            "against='others' compares with the mean of the others, each evaluated once",
        )


def _estimates_of(rest: Estimates, first: int, influences: pl.DataFrame | None) -> pl.DataFrame:
    segment = (pl.col("key_0") + pl.lit(first, pl.UInt32)).alias("segment")
    found = rest.keyed().select(segment, *_ESTIMATES, "status", "few_negatives")
    if influences is None:
        return found.with_columns(covariance=pl.lit(0.0)).collect(engine="in-memory")
    own, clusters = influences.lazy(), rest.keyed_clusters().with_columns(segment)
    shared = own.join(clusters, on=["segment", "cluster"])
    product = pl.col("influence") * pl.col("influence_right")
    covariances = shared.group_by("segment").agg(covariance=in_order(product.sort()))
    joined = found.join(covariances, on="segment", how="left", maintain_order="left")
    return joined.with_columns(pl.col("covariance").fill_null(0.0)).collect(engine="in-memory")
