"""What holds for every frame, shown against exact arithmetic or between two ways to one result."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from engine_kinds import DUCKDB, every_kind_and_duckdb
from exact import names, segments, table
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS, assert_rows, every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import (
    BY,
    DTYPES,
    DYADIC_WEIGHTS,
    FLOAT_WEIGHTS,
    INTEGER_WEIGHTS,
    SCORES,
    SCORES_OR_NONE,
    frames,
    frames_of,
)

import frame_prc

COUNTS = ["tp", "fp", "fn", "tn"]
RATIOS = ["precision", "recall"]

# Sums of whole numbers and of multiples of 1/8 are exact in floats, and one division of exact
# floats is the float nearest to the exact ratio: counts and curves need no tolerance. An area is
# a sum of ratios, which rounds differently when an engine adds them in another order.
EXACT: dict[str, float] = {}
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}

exact_weights = pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"]
)
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)
every_verb = pytest.mark.parametrize(
    "verb",
    [frame_prc.counts, frame_prc.curve, frame_prc.average_precision],
    ids=lambda v: v.__name__,
)


# --- exact arithmetic -----------------------------------------------------------------


def exact_curve(
    df: pl.DataFrame, by: Any, points: Callable[[list[oracle.Row]], list[oracle.Point]]
) -> pl.DataFrame:
    amount = pl.Float64 if "weight" in df.columns else pl.Int64
    schema = {
        "threshold": pl.Float64,
        **dict.fromkeys(COUNTS, amount),
        **dict.fromkeys(RATIOS, pl.Float64),
    }
    records = ((*key, *point) for key, rows in segments(df, by).items() for point in points(rows))
    return table(df, by, records, schema)


def exact_average_precision(df: pl.DataFrame, by: Any) -> pl.DataFrame:
    amount = pl.Float64 if "weight" in df.columns else pl.Int64
    schema = {
        "n": amount,
        "n_pos": amount,
        "prevalence": pl.Float64,
        "average_precision": pl.Float64,
        "status": pl.String,
    }
    records = ((*key, *_sizes_and_area(rows)) for key, rows in segments(df, by).items())
    return table(df, by, records, schema)


def _sizes_and_area(rows: list[oracle.Row]) -> tuple:
    positives, negatives = oracle.totals(rows)
    n = positives + negatives
    area = oracle.average_precision(rows)
    if n == 0:
        return n, positives, None, area, "empty"
    status = "no_positives" if not positives else "ok" if negatives else "no_negatives"
    return n, positives, positives / n, area, status


def tolerance(verb: Callable) -> dict[str, float]:
    return ROUNDED if verb is frame_prc.average_precision else EXACT


def call(verb: Callable, kind: Any, df: pl.DataFrame, **options: Any) -> Any:
    weight = "weight" if "weight" in df.columns else None
    return verb(kind.make(df), "truth", "score", weight=weight, **options)


def rows_of(verb: Callable, kind: Any, df: pl.DataFrame, **options: Any) -> pl.DataFrame:
    return kind.rows(call(verb, kind, df, **options))


# --- keys that are no number ---------------------------------------------------------


@every_polars_kind
@pytest.mark.parametrize("keys", [[float("nan")], [0.5, float("nan")], [float("nan"), None]])
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("counts", {}),
        ("counts", {"thresholds": [0.0]}),
        ("curve", {"envelope": True}),
        ("curve", {"ci": 0.9, "cluster": "cluster"}),
        ("average_precision", {"ci": 0.9, "cluster": "cluster", "bounds": True}),
        ("average_precision", {"missing": "drop"}),
        ("summary", {"missing": "drop"}),
    ],
    ids=str,
)
def test_no_number_is_a_key_of_its_own(kind, keys, verb, options):
    places = range(len(keys))
    df = pl.DataFrame(
        {"key": keys, "truth": True, "score": [0.5 for _ in places], "cluster": [*places]},
        schema_overrides={"key": pl.Float64},
    )
    # Sorted, so that Polars knows it; and under names that leave no doubt.
    frame = df.sort("key")
    named = frame.with_columns(pl.col("key").cast(pl.String).fill_null("none"))
    ask = getattr(frame_prc, verb)
    result = kind.rows(ask(kind.make(frame), "truth", "score", by="key", **options))
    expected = ask(named, "truth", "score", by="key", **options)
    found = result["key"].unique(maintain_order=True)
    assert repr(found.to_list()) == repr(frame["key"].to_list())
    shown = result.with_columns(pl.col("key").cast(pl.String).fill_null("none"))
    assert_frame_equal(shown, expected, check_row_order=False)


# --- equal to the oracle --------------------------------------------------------------


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_curve_equals_exact_arithmetic(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))
    assert_rows(
        kind,
        call(frame_prc.curve, kind, df, by=by, start=None),
        exact_curve(df, by, oracle.curve),
    )


@every_kind_and_duckdb
@given(frames(SCORES, FLOAT_WEIGHTS), BY)
def test_curve_with_any_weights_is_within_rounding_of_exact_arithmetic(kind, df, by):
    result = call(frame_prc.curve, kind, df, by=by, start=None)
    expected = exact_curve(df, by, oracle.curve)
    assert_rows(kind, result, expected, rel_tol=0, abs_tol=1e-12)


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_unretrieved_rows_stay_in_the_totals_of_the_exact_curve(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = call(frame_prc.curve, kind, df, by=by, start=None, missing="unretrieved")
    assert_rows(kind, result, exact_curve(df, by, oracle.curve))


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY, st.sampled_from(["raise", "unretrieved"]))
def test_average_precision_equals_exact_arithmetic(kind, weights, data, by, missing):
    df = data.draw(frames(SCORES if missing == "raise" else SCORES_OR_NONE, weights))
    result = call(frame_prc.average_precision, kind, df, by=by, missing=missing, details=True)
    assert_rows(kind, result, exact_average_precision(df, by), **ROUNDED)


@every_kind_and_duckdb
@given(frames(SCORES, FLOAT_WEIGHTS), BY)
def test_average_precision_with_any_weights_is_within_rounding_of_exact_arithmetic(kind, df, by):
    result = call(frame_prc.average_precision, kind, df, by=by, details=True)
    assert_rows(kind, result, exact_average_precision(df, by), **ROUNDED)


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_corners_are_the_first_and_last_point_of_each_number_of_true_positives(
    kind, weights, data, by
):
    df = data.draw(frames(SCORES, weights))
    result = call(frame_prc.curve, kind, df, by=by, start=None, keep="corners")
    expected = exact_curve(df, by, lambda rows: oracle.corners(oracle.curve(rows)))
    assert_rows(kind, result, expected)


@every_kind_and_duckdb
@given(frames(), BY)
def test_envelope_is_the_largest_precision_from_each_point_on(kind, df, by):
    result = rows_of(frame_prc.curve, kind, df, by=by, start=None, envelope=True)
    exact = [
        float(height)
        for rows in segments(df, by).values()
        for height in oracle.envelope(oracle.curve(rows))
    ]
    assert result["envelope"].to_list() == exact


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_start_one_opens_every_segment_at_precision_one(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))

    def points(rows: list[oracle.Row]) -> list[oracle.Point]:
        return [oracle.start(rows, Fraction(1)), *oracle.curve(rows)] if rows else []

    assert_rows(kind, call(frame_prc.curve, kind, df, by=by), exact_curve(df, by, points))


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_start_first_opens_every_segment_at_the_precision_of_its_first_point(
    kind, weights, data, by
):
    df = data.draw(frames(SCORES, weights))

    def points(rows: list[oracle.Row]) -> list[oracle.Point]:
        curve = oracle.curve(rows)
        return [oracle.start(rows, curve[0].precision), *curve] if rows else []

    result = call(frame_prc.curve, kind, df, by=by, start="first")
    assert_rows(kind, result, exact_curve(df, by, points))


@every_kind_and_duckdb
@exact_weights
@given(st.data(), BY)
def test_counts_are_what_the_curve_grows_by(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))
    counts = rows_of(frame_prc.counts, kind, df, by=by)
    sums = [pl.col(name).cum_sum() for name in ("pos", "neg")]
    if by:
        sums = [column.over(by) for column in sums]
    points = exact_curve(df, by, oracle.curve)
    grown = counts.select(*names(by), "threshold", *sums).rename({"pos": "tp", "neg": "fp"})
    assert_frame_equal(
        grown.cast(dict(points.select(grown.columns).schema)),
        points.select(grown.columns),
        check_exact=True,
    )


@every_dtype
@given(st.data())
def test_scores_of_every_dtype_rank_exactly(dtype, data):
    df = data.draw(frames_of(dtype))
    counts = frame_prc.counts(df, "truth", "score")
    running = counts.select("threshold", pl.col("pos", "neg").cum_sum())
    exact = oracle.curve(segments(df, None)[()])
    assert counts["threshold"].dtype == dtype
    assert running.rows() == [(point.threshold, point.tp, point.fp) for point in exact]


@every_dtype
@given(st.data())
def test_areas_of_scores_of_every_dtype_are_exact(dtype, data):
    df = data.draw(frames_of(dtype))
    table = frame_prc.average_precision(df, "truth", "score", details=True)
    assert_frame_equal(table, exact_average_precision(df, None), **ROUNDED)


@every_dtype
@given(st.data())
def test_the_expression_on_scores_of_every_dtype_is_exact(dtype, data):
    df = data.draw(frames_of(dtype))
    area = df.select(frame_prc.average_precision_expr("truth", "score"))
    exact = exact_average_precision(df, None).select("average_precision")
    assert_frame_equal(area, exact, **ROUNDED)


# --- two ways to one result -----------------------------------------------------------


@every_verb
@given(frames(SCORES_OR_NONE, DYADIC_WEIGHTS), BY, st.sampled_from(["drop", "unretrieved"]))
def test_every_kind_of_frame_gives_the_same_rows(verb, df, by, missing):
    expected, *others = (call(verb, kind, df, by=by, missing=missing) for kind in KINDS)
    for kind, result in zip(KINDS[1:], others, strict=True):
        assert_rows(kind, result, expected, **tolerance(verb))


@every_kind_and_duckdb
@every_verb
@given(st.data(), BY)
def test_row_order_is_irrelevant(kind, verb, data, by):
    df = data.draw(frames(SCORES, DYADIC_WEIGHTS))
    shuffled = df[data.draw(st.permutations(range(df.height)))]
    expected = call(verb, KINDS[0], df, by=by)
    assert_rows(kind, call(verb, kind, shuffled, by=by), expected, **tolerance(verb))


@every_kind
@every_verb
@given(frames(SCORES, INTEGER_WEIGHTS), BY)
def test_integer_weights_are_as_good_as_repeated_rows(kind, verb, df, by):
    repeated = df.select(
        pl.all().repeat_by(pl.col("weight").cast(pl.Int64)).explode(empty_as_null=False)
    ).drop("weight")
    expected = call(verb, KINDS[0], repeated, by=by)
    amounts = [name for name in ("pos", "neg", *COUNTS, "n", "n_pos") if name in expected.columns]
    expected = expected.cast(dict.fromkeys(amounts, pl.Float64))
    assert_rows(kind, call(verb, kind, df, by=by), expected, **tolerance(verb))


@every_kind
@every_verb
@given(frames(SCORES, DYADIC_WEIGHTS), BY)
def test_rows_of_weight_zero_change_nothing(kind, verb, df, by):
    without = df.filter(pl.col("weight") > 0)
    expected = call(verb, KINDS[0], without, by=by)
    assert_rows(kind, call(verb, kind, df, by=by), expected, **tolerance(verb))


@every_kind_and_duckdb
@every_verb
@given(frames(SCORES, DYADIC_WEIGHTS))
def test_a_segment_is_what_its_rows_alone_give(kind, verb, df):
    alone = [
        call(verb, KINDS[0], rows).select(pl.lit(key, pl.String).alias("segment"), pl.all())
        for (key,), rows in df.sort("segment").group_by("segment", maintain_order=True)
        if rows["weight"].sum() > 0
    ]
    if alone:
        result = call(verb, kind, df, by="segment")
        assert_rows(kind, result, pl.concat(alone), **tolerance(verb))


@every_kind_and_duckdb
@every_verb
@given(frames())
def test_models_together_are_each_model_alone(kind, verb, df):
    together = verb(kind.make(df), "truth", ["score", "other"], by="segment")
    alone = [
        verb(df, "truth", model, by="segment").select(pl.lit(model).alias("model"), pl.all())
        for model in ("other", "score")
    ]
    assert_rows(kind, together, pl.concat(alone), **tolerance(verb))


@every_kind_and_duckdb
@every_verb
@exact_weights
@given(st.data(), BY)
def test_counts_of_parts_add_up_to_counts_of_the_whole(kind, verb, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    cut = data.draw(st.integers(0, df.height))
    options = {"by": by, "missing": "unretrieved"}
    counted = KINDS[0] if kind is DUCKDB else kind  # planning a query there takes a while
    parts = [
        rows_of(frame_prc.counts, counted, part, **options).cast({"threshold": pl.Float64})
        for part in (df[:cut], df[cut:])
    ]
    merged = verb(
        kind.make(pl.concat(parts, how="vertical_relaxed")),
        score="threshold",
        pos="pos",
        neg="neg",
        **options,
    )
    assert_rows(kind, merged, call(verb, KINDS[0], df, **options), **tolerance(verb))


# --- shape of the curve ---------------------------------------------------------------


@every_kind_and_duckdb
@given(frames())
def test_corners_keep_the_envelope_of_every_point_they_keep(kind, df):
    whole, corners = (
        rows_of(frame_prc.curve, kind, df, by="segment", keep=keep, envelope=True)
        for keep in ("all", "corners")
    )
    kept = whole.join(
        corners,
        on=["segment", "threshold", "tp", "fp"],
        how="semi",
        nulls_equal=True,
        maintain_order="left",
    )
    assert_frame_equal(corners, kept, check_exact=True)


# --- the expression -------------------------------------------------------------------


@every_polars_kind
@pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS, FLOAT_WEIGHTS], ids=["unweighted", "dyadic", "floats"]
)
@given(st.data())
def test_the_expression_in_an_aggregation_is_the_verb(kind, weights, data):
    df = data.draw(frames(SCORES, weights))
    weight = "weight" if weights is not None else None
    expr = frame_prc.average_precision_expr("truth", "score", weight)
    result = kind.rows(kind.make(df).group_by("segment").agg(expr))
    verb = frame_prc.average_precision(df, "truth", "score", by="segment", weight=weight)
    # The verb knows no segment whose rows all have weight 0; the expression calls it undefined.
    expected = df.select(pl.col("segment").unique().sort()).join(
        verb.select("segment", "average_precision"),
        on="segment",
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    assert_frame_equal(result.sort("segment"), expected, **ROUNDED)


@every_polars_kind
@given(frames(SCORES, DYADIC_WEIGHTS))
def test_the_expression_over_a_key_is_the_aggregation_on_every_row(kind, df):
    area = pl.col("score").prc.average_precision("truth", "weight")
    over = kind.rows(kind.make(df).select("segment", area.over("segment")))
    aggregated = df.group_by("segment").agg(area)
    expected = df.select("segment").join(
        aggregated, on="segment", how="left", nulls_equal=True, maintain_order="left"
    )
    assert_frame_equal(over, expected, check_exact=True)
