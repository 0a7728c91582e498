"""A lower score that means more likely positive: as if scores were negated, but exactly."""

from __future__ import annotations

from decimal import Decimal

import engine_kinds
import oracle
import polars as pl
import pytest
from chart_reading import lines
from hypothesis import given
from hypothesis import strategies as st
from kinds import POLARS_KINDS, assert_rows, every_kind, every_polars_kind, looking
from polars.testing import assert_frame_equal
from strategies import DTYPES, DYADIC_WEIGHTS, frames, frames_of

import frame_prc
from frame_prc import DataError, Draws, OptionError

INFINITY = float("inf")
THRESHOLDS = ("threshold", "below", "best_f1_threshold")
ROWS = pl.DataFrame(
    {
        "segment": ["a", "a", "b", "b", None, None, "a", "b", "a", "b"],
        "truth": [True, False, True, False, True, False, True, True, False, False],
        "score": [0.1, 0.5, -0.0, 0.0, INFINITY, -INFINITY, 0.5, 0.25, 0.25, 2.0],
        "other": [0.5, 0.1, 1.0, 2.0, 3.0, 1.0, 0.25, 1.0, -1.0, 7.0],
        "weight": [1.0, 2.0, 0.5, 1.0, 1.0, 0.0, 3.0, 1.0, 1.0, 2.0],
        "user": [1, 1, 2, 3, 3, 4, 5, 5, 6, 7],
    }
)
CALLS = [
    ("auc", {"method": ["step", "trapezoid", "interpolated", "envelope", "11-point", "gain"]}),
    ("average_precision", {"weight": "weight", "ci": 0.9, "bounds": True}),
    ("average_precision", {"thresholds": [-0.25, 0.25, 1.0], "ci": 0.9, "cluster": "user"}),
    ("average_precision", {"ci": 0.9, "bootstrap": Draws(9, seed=1)}),
    ("average", {"over": "segment", "measure": "roc_auc", "ci": 0.9}),
    ("band", {"recalls": 3, "bootstrap": Draws(50, seed=1)}),
    ("compare_models", {"score": ["score", "other"], "weight": "weight"}),
    ("compare_segments", {"against": "rest"}),
    ("compare_segments", {"against": "rest", "cluster": "user"}),
    ("compare_segments", {"against": "others"}),
    ("compare_segments", {"against": "others", "cluster": "user"}),
    ("compare_segments", {"against": "overall"}),
    ("compare_segments", {"against": "random", "permutations": Draws(9, seed=1)}),
    ("counts", {"weight": "weight", "squares": True}),
    ("counts", {"thresholds": [-INFINITY, -0.25, 0.25, INFINITY]}),
    ("curve", {"start": "first", "envelope": True, "gain": True, "calibrate": 0.2}),
    ("curve", {"start": None, "keep": "corners", "weight": "weight"}),
    ("curve", {"thresholds": [-0.25, 0.25, 1.0]}),
    ("curve", {"keep": 5, "ci": 0.9, "cluster": "user", "score": ["score", "other"]}),
    ("heterogeneity", {}),
    (
        "operating_points",
        {"recall": [0.5, 1], "precision": 0.5, "threshold": [0.25, 0.3], "details": True},
    ),
    ("operating_points", {"f_beta": [0.5, 1], "predicted_rate": 0.5, "details": True}),
    ("summary", {"overall": True, "weight": "weight"}),
]


def turned(options: dict) -> dict:
    """Return options with thresholds of the negated scores."""
    numbers = {
        name: [-value for value in reversed(options[name])]
        for name in ("thresholds", "threshold")
        if name in options
    }
    return options | {name: sorted(found) for name, found in numbers.items()}


def turned_back(result: pl.DataFrame) -> pl.DataFrame:
    """Return a result for negated scores with the thresholds of the scores as they were."""
    thresholds = [(0.0 - pl.col(n)).alias(n) for n in THRESHOLDS if n in result.columns]
    back = result.with_columns(thresholds).rename({"below": "above"}, strict=False)
    if "target" in back.columns:
        of_threshold, value = pl.col("criterion") == "threshold", pl.col("target_value")
        back = back.with_columns(pl.when(of_threshold).then(-value).otherwise(value))
    return back


def in_targets_order(result: pl.DataFrame) -> pl.DataFrame:
    if "target" not in result.columns:
        return result
    # The text of a target is that of the threshold as given, with its sign.
    rows = result.drop("target")
    return rows.sort("segment", "criterion", "target_value", maintain_order=True)


def assert_negated(kind, verb, df, options):
    function, asked = getattr(frame_prc, verb), {"score": "score", "by": "segment", **options}
    given_frame = kind.make(df)
    found = kind.rows(function(given_frame, "truth", ascending=True, **asked))
    negated = df.with_columns(-pl.col("score", "other"))
    expected = turned_back(function(negated, "truth", **turned(asked)))
    if verb == "operating_points":
        assert found["ascending"].to_list() == [True] * found.height
        found = found.drop("ascending")
    if kind.name == "pandas":
        found = found.cast(dict(expected.schema))
    assert_frame_equal(
        in_targets_order(found), in_targets_order(expected), rel_tol=1e-12, abs_tol=1e-15
    )


@every_kind
@pytest.mark.parametrize(("verb", "options"), CALLS)
def test_ascending_scores_are_evaluated_as_negated_ones(kind, verb, options):
    assert_negated(kind, verb, ROWS, options)


@every_polars_kind
@given(df=frames(weights=DYADIC_WEIGHTS))
def test_any_scores_are_evaluated_as_negated_ones(kind, df):
    with looking(looks=kind.looks):
        assert_negated(kind, "curve", df, {"weight": "weight", "score": ["score", "other"]})


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@given(data=st.data())
def test_curves_of_every_dtype_are_those_of_the_oracle(dtype, data):
    df = data.draw(frames_of(dtype))
    # Python's integers have a negative each.
    rows = [oracle.Row(truth, 0 - score) for truth, score in df.iter_rows()]
    expected = [(0 - point.threshold, *point[1:5]) for point in oracle.curve(rows)]
    schema = {"threshold": df.schema["score"]} | dict.fromkeys(("tp", "fp", "fn", "tn"), pl.Int64)
    records = [(score, *map(int, amounts)) for score, *amounts in expected]
    exact = pl.DataFrame(records, schema=schema, orient="row")
    floats = exact
    if not dtype.is_float():  # those that round to one are one threshold
        rounded = exact.with_columns(pl.col("threshold").cast(pl.Float64))
        floats = rounded.unique("threshold", keep="last", maintain_order=True)
    for kind in POLARS_KINDS:
        with looking(looks=kind.looks):
            given_frame = kind.make(df)
            curve = frame_prc.curve(given_frame, "truth", "score", start=None, ascending=True)
            assert_rows(kind, curve.select(list(schema)), floats)
            counts = frame_prc.counts(given_frame, "truth", "score", ascending=True)
            assert_rows(kind, counts.select("threshold"), exact.select("threshold"))


@every_kind
def test_decimals_ascend(kind):
    df = pl.DataFrame({"truth": [1, 0, 1], "score": [Decimal("0.1"), Decimal("-2.5"), None]})
    options = {"missing": "unretrieved", "ascending": True}
    curve = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", **options))
    assert curve["threshold"].to_list() == [-INFINITY, -2.5, 0.1]
    assert curve["tp"].to_list() == [0, 0, 1]
    assert curve["fp"].to_list() == [0, 1, 1]


@every_kind
def test_counts_give_what_rows_give(kind):
    parts = [kind.make(ROWS[:5]), kind.make(ROWS[5:])]
    asked = {"by": "segment", "ascending": True}
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(part, "truth", "score", **asked) for part in parts), ascending=True
    )
    assert_rows(kind, merged, frame_prc.counts(ROWS, "truth", "score", **asked))
    of_counts = frame_prc.curve(merged, score="threshold", pos="pos", neg="neg", **asked)
    assert_rows(kind, of_counts, frame_prc.curve(ROWS, "truth", "score", **asked))


@every_kind
def test_counts_of_bins_give_what_bins_of_rows_give(kind):
    thresholds = [0.0, 0.25, INFINITY]
    asked = {"by": "segment", "ascending": True}
    parts = [kind.make(ROWS[:5]), kind.make(ROWS[5:])]
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(p, "truth", "score", thresholds=thresholds, **asked) for p in parts),
        ascending=True,
    )
    rows = kind.rows(merged)
    assert rows.filter(segment="a").select("threshold", "above", "pos", "neg").rows() == [
        (0.25, 0.0, 1, 1),
        (INFINITY, 0.25, 1, 1),
    ]
    area = frame_prc.average_precision(merged, score="threshold", pos="pos", neg="neg", **asked)
    of_rows = frame_prc.average_precision(ROWS, "truth", "score", thresholds=thresholds, **asked)
    assert_rows(kind, area, of_rows.drop("ap_lowest", "ap_highest"))


@every_kind
@pytest.mark.parametrize("ascending", [True, False])
def test_counts_of_bins_are_not_read_the_other_way(kind, ascending):
    thresholds = [-INFINITY, 0.0, INFINITY]
    counted = frame_prc.counts(
        kind.make(ROWS), "truth", "score", thresholds=thresholds, ascending=ascending
    )
    with pytest.raises(OptionError, match=f"ascending={not ascending} is given for counts with"):
        frame_prc.curve(counted, score="threshold", pos="pos", neg="neg", ascending=not ascending)


@every_kind
def test_scores_above_all_thresholds_are_in_no_bin(kind):
    given_frame = kind.make(ROWS)
    counts = frame_prc.counts(given_frame, "truth", "score", thresholds=[0.5], ascending=True)
    found = kind.rows(counts).select("threshold", "above", "pos", "neg").rows()
    assert found == [(0.5, -INFINITY, 4, 4), (None, None, 1, 1)]
    curve = frame_prc.curve(
        given_frame, "truth", "score", thresholds=[0.5], start=None, ascending=True
    )
    assert kind.rows(curve).select("threshold", "tp", "fp", "fn", "tn").rows() == [
        (0.5, 4, 4, 1, 1)
    ]


@every_kind
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_a_number_of_thresholds_has_a_bin_for_every_probability(kind, dtype):
    # 0.7 as a Float32 is less than 0.7, and sums of Float32 may exceed 1.
    scores = [0.0, 0.05, 0.1, 0.7, 0.75, 1.0, 1.0005]
    df = pl.DataFrame({"truth": True, "score": pl.Series(scores, dtype=dtype)})
    counted = frame_prc.counts(kind.make(df), "truth", "score", thresholds=11, ascending=True)
    found = kind.rows(counted).select(pl.col("threshold").cast(pl.Float64).round(6), "pos")
    assert found.rows() == [(0.0, 1), (0.1, 2), (0.7, 1), (0.8, 1), (1.0, 2)]


@every_kind
def test_quantile_thresholds_cover_the_scores_from_above(kind):
    df = pl.DataFrame({"score": [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]})
    found = frame_prc.quantile_thresholds(kind.make(df), "score", 4, ascending=True)
    assert found == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_expression_ranks_the_lowest_score_first(weight):
    expression = frame_prc.average_precision_expr("truth", "score", weight, ascending=True)
    found = ROWS.group_by("segment").agg(expression).sort("segment")
    expected = frame_prc.average_precision(
        ROWS, "truth", "score", by="segment", weight=weight, ascending=True
    )
    assert_frame_equal(found, expected.select("segment", "average_precision"), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("verb", "thresholds", "dtype"),
    [
        ("average_precision", None, pl.Float64),
        ("average_precision", [-1.0, 0.25], pl.Float32),
        ("counts", None, pl.Int64),
        ("counts", None, pl.UInt64),
        ("counts", [-1.0, 0.25, INFINITY], pl.Float64),
        ("counts", [-1.0, 0.25, INFINITY], pl.Int8),
        ("curve", None, pl.Decimal(9, 3)),
        ("curve", [-1.0, 0.25], pl.Int64),
    ],
)
def test_duckdb_gives_what_polars_gives(verb, thresholds, dtype):
    kind, df = engine_kinds.duckdb_kind(), ROWS.filter(pl.col("score").is_finite())
    if dtype.is_integer():
        ends = [dtype.min(), dtype.max()]
        places = (pl.col("score") * 4).cast(dtype, strict=False).fill_null(1)
        lowest, highest = (pl.when(pl.int_range(pl.len()) == i).then(e) for i, e in enumerate(ends))
        df = df.with_columns(score=pl.coalesce(lowest, highest, places).cast(dtype))
    else:
        df = df.with_columns(pl.col("score").cast(dtype))
    asked = {"by": "segment", "thresholds": thresholds, "ascending": True}
    asked = {name: value for name, value in asked.items() if value is not None}
    found = kind.rows(getattr(frame_prc, verb)(kind.make(df), "truth", "score", **asked))
    expected = getattr(frame_prc, verb)(df, "truth", "score", **asked)
    assert_frame_equal(found, expected.select(found.columns), rel_tol=1e-12)


@pytest.mark.thorough
def test_pictures_take_rows_and_curves():
    pytest.importorskip("altair")
    asked = {"by": "segment", "ascending": True}
    curve = frame_prc.curve(ROWS, "truth", "score", **asked)
    negated = ROWS.with_columns(-pl.col("score"))
    drawn = frame_prc.plot(ROWS, "truth", "score", points={"threshold": 0.25}, **asked)
    assert "score ≤" in drawn.to_json(ensure_ascii=False)
    of_negated = shares(frame_prc.plot(negated, "truth", "score", by="segment"))
    for chart in (drawn, frame_prc.plot(curve, ascending=True)):
        assert shares(chart) == of_negated
    with pytest.raises(DataError, match=r"not a valid curve.* Is this a curve of ascending=True"):
        frame_prc.plot(curve)


def shares(chart) -> set:
    """Return what is drawn of recall and precision."""
    return {(row["recall"], row["precision"]) for rows in lines(chart) for row in rows}
