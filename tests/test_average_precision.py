"""Average precision per segment, as a verb and as an expression."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import oracle
import polars as pl
import polars.selectors as cs
import published
import pytest
from kinds import assert_rows, every_kind, every_polars_kind
from polars.testing import assert_frame_equal

import frame_prc

ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}

# Exact, since sources print few digits; the decimals are what each source prints, where it does.
AREAS = {
    "Detectron, ten detections": (published.DETECTRON, Fraction(775, 1008)),  # .7688492063
    "scikit-learn, documentation": (published.SKLEARN_DOCS, Fraction(5, 6)),  # .8333333
    "scikit-learn, perfect": (published.SKLEARN_PERFECT, Fraction(1)),
    "scikit-learn, inverted": (published.SKLEARN_INVERTED, Fraction(1, 2)),
    "scikit-learn, tied": (published.SKLEARN_TIED, Fraction(1, 2)),
    "scikit-learn, all positive": (published.SKLEARN_ALL_POSITIVE, Fraction(1)),
    "scikit-learn, constant": (published.SKLEARN_CONSTANT, Fraction(1, 4)),
    "scikit-learn, ties": (published.SKLEARN_TIES, Fraction(11, 30)),  # .3666667
    "yardstick, ties": (published.YARDSTICK_TIES, Fraction(8, 15)),  # .5333333
    "prcbench, C1": (published.PRCBENCH["C1"], Fraction(5, 6)),
    "prcbench, C2": (published.PRCBENCH["C2"], Fraction(1, 2)),
    "prcbench, C3": (published.PRCBENCH["C3"], Fraction(5, 12)),
    "prcbench, C4": (published.PRCBENCH["C4"], Fraction(7, 8)),
    "ClickHouse, a tied pair": (published.CLICKHOUSE_TIED_PAIR, Fraction(29, 36)),  # .8055555556
    "ClickHouse, four rows": (published.CLICKHOUSE_FOUR, Fraction(1, 2)),
    "ClickHouse, five rows": (published.CLICKHOUSE_FIVE, Fraction(11, 30)),  # .3666666667
    "torchmetrics": (published.TORCHMETRICS, Fraction(7, 12)),  # .5833
    "Boyd et al. 2012, worst ranking": (
        published.WORST,
        sum(Fraction(i, i + 90) for i in range(1, 11)) / 10,
    ),
}
every_area = pytest.mark.parametrize(("df", "area"), AREAS.values(), ids=AREAS)


# --- published numbers ----------------------------------------------------------------


@every_kind
@every_area
def test_equals_published_areas(kind, df, area):
    result = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score"))
    assert result["average_precision"].item() == pytest.approx(float(area), rel=1e-12, abs=0)


@every_kind
@pytest.mark.parametrize("weight", [None, 0.1])
def test_many_equal_steps_add_up_to_the_last_digit(kind, weight):
    # One by one they would each round the same way: a hundred thousand, by 2e-12 in all.
    number = 100_000
    df = pl.DataFrame({"truth": [True] * number + [False], "score": range(number, -1, -1)})
    df = df.with_columns(weight=pl.lit(weight, pl.Float64))
    columns = {"truth": "truth", "score": "score", "weight": None if weight is None else "weight"}
    result = kind.rows(frame_prc.average_precision(kind.make(df), **columns))
    assert result["average_precision"].item() == pytest.approx(1, rel=2e-16, abs=0)
    assert result["average_precision"].item() <= 1
    mixed = df.with_columns(truth=pl.int_range(pl.len()) % 3 == 0)
    found = kind.rows(frame_prc.average_precision(kind.make(mixed), **columns))
    exact = math.fsum((k + 1) / (3 * k + 1) for k in range(number // 3 + 1)) / (number // 3 + 1)
    rounded = 4e-16 if weight is None else 1e-12  # as running sums of weights are
    assert found["average_precision"].item() == pytest.approx(exact, rel=rounded, abs=0)


@every_area
def test_expression_equals_published_areas(df, area):
    result = df.select(pl.col("score").prc.average_precision("truth")).item()
    assert result == pytest.approx(float(area), rel=1e-12, abs=0)


@every_area
def test_the_oracle_of_these_tests_equals_published_areas(df, area):
    rows = [oracle.Row(bool(truth), score) for truth, score in df.iter_rows()]
    assert oracle.average_precision(rows) == area


@every_kind
@pytest.mark.parametrize(
    ("df", "area"),
    [
        # Ids 7 and 15 share a score, and one of them is positive. The explanation ranks id 7
        # first, which gives that positive the precision 5/11 and the area .6501623377; nothing
        # in the data puts it there, and a file in another order would give another area.
        (published.PASCAL_VOC_UNTIED, (1 + 1 + 3 / 6 + 4 / 7 + 5 / 11 + 6 / 16) / 6),
        # As one point, both enter at precision 5/12 in any order: .6438492063.
        (published.PASCAL_VOC, (1 + 1 + 3 / 6 + 4 / 7 + 5 / 12 + 6 / 16) / 6),
    ],
    ids=["one by one", "as one point"],
)
def test_pascal_voc_example_depends_on_how_ties_are_read(kind, df, area):
    result = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score"))
    assert result["average_precision"].item() == pytest.approx(area, rel=1e-12, abs=0)


# --- the table ------------------------------------------------------------------------


SEGMENTS = pl.DataFrame(
    {
        "segment": ["mixed"] * 4 + ["good"] * 2 + ["bad"] * 2 + ["one good", "one bad"],
        "truth": [1, 0, 1, 0, 1, 1, 0, 0, 1, 0],
        "score": [0.9, 0.8, 0.3, 0.3, 0.2, 0.1, 0.2, 0.1, 0.5, 0.5],
    }
)


@every_kind
def test_status_says_which_segments_lack_a_class(kind):
    result = frame_prc.average_precision(kind.make(SEGMENTS), "truth", "score", by="segment")
    expected = pl.DataFrame(
        {
            "segment": ["bad", "good", "mixed", "one bad", "one good"],
            "n": [2, 2, 4, 1, 1],
            "n_pos": [0, 2, 2, 0, 1],
            "prevalence": [0.0, 1.0, 0.5, 0.0, 1.0],
            "average_precision": [None, 1.0, 0.75, None, 1.0],
            "status": ["no_positives", "no_negatives", "ok", "no_positives", "no_negatives"],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
@pytest.mark.parametrize("missing", ["raise", "drop", "unretrieved"])
def test_no_rows_and_no_keys_are_one_empty_row(kind, missing):
    none = SEGMENTS.clear()
    result = frame_prc.average_precision(kind.make(none), "truth", "score", missing=missing)
    expected = pl.DataFrame(
        {
            "n": [0],
            "n_pos": [0],
            "prevalence": pl.Series([None], dtype=pl.Float64),
            "average_precision": pl.Series([None], dtype=pl.Float64),
            "status": ["empty"],
        }
    )
    dropped = [pl.lit(0, pl.Int64).alias("n_dropped")] if missing == "drop" else []
    assert_rows(kind, result, expected.with_columns(dropped))


@every_kind
def test_no_rows_and_a_key_are_no_rows(kind):
    none = SEGMENTS.clear()
    result = frame_prc.average_precision(kind.make(none), "truth", "score", by="segment")
    expected = frame_prc.average_precision(SEGMENTS, "truth", "score", by="segment").clear()
    assert_rows(kind, result, expected)


@every_kind
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int32, pl.Decimal(10, 2)], ids=str)
def test_weighted_sizes_are_total_weights(kind, dtype):
    df = SEGMENTS.with_columns(weight=pl.lit(2).cast(dtype))
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", by="segment", weight="weight"
    )
    unweighted = frame_prc.average_precision(SEGMENTS, "truth", "score", by="segment")
    expected = unweighted.with_columns(pl.col("n", "n_pos").cast(pl.Float64) * 2)
    assert_rows(kind, result, expected)


@every_kind
def test_a_segment_without_weight_is_no_segment(kind):
    df = SEGMENTS.with_columns(weight=(pl.col("segment") == "mixed").cast(pl.Float64))
    result = kind.rows(
        frame_prc.average_precision(kind.make(df), "truth", "score", by="segment", weight="weight")
    )
    assert result["segment"].to_list() == ["mixed"]


@every_kind
@pytest.mark.parametrize(
    ("positives", "negatives", "area", "prevalence"),
    [
        # 1,000 positives and as many negatives, or ten times as many: 500 positives are found at
        # precision .7576 or .2381, where guessing has .5 or .0909.
        ([500, 500], [160, 840], (500 / 660 + 1000 / 2000) / 2, 1 / 2),
        ([500, 500], [1600, 8400], (500 / 2100 + 1000 / 11000) / 2, 1 / 11),
    ],
    ids=["balanced", "imbalanced"],
)
def test_class_balance_moves_the_area_of_aggregated_rows(
    kind, positives, negatives, area, prevalence
):
    df = pl.DataFrame({"score": [1.0, 0.0], "hits": positives, "misses": negatives})
    result = frame_prc.average_precision(kind.make(df), score="score", pos="hits", neg="misses")
    expected = pl.DataFrame(
        {
            "n": [sum(positives) + sum(negatives)],
            "n_pos": [1000],
            "prevalence": [prevalence],
            "average_precision": [area],
            "status": ["ok"],
        }
    )
    assert_rows(kind, result, expected, **ROUNDED)


@every_kind
@every_area
def test_counts_of_published_rows_have_the_areas_of_the_rows(kind, df, area):
    counts = frame_prc.counts(df, "truth", "score")
    shares = counts.with_columns(pl.col("pos", "neg") / 8)
    for rows in (counts, shares):
        result = frame_prc.average_precision(
            kind.make(rows), score="threshold", pos="pos", neg="neg"
        )
        found = kind.rows(result)["average_precision"].item()
        assert found == pytest.approx(float(area), rel=1e-12, abs=0)


# --- truth ----------------------------------------------------------------------------


TRUTHS = {
    "Boolean": (pl.Series([True, False, True, False]), None),
    "Int8": (pl.Series([1, 0, 1, 0], dtype=pl.Int8), None),
    "UInt64": (pl.Series([1, 0, 1, 0], dtype=pl.UInt64), None),
    "Float32": (pl.Series([1, 0, 1, 0], dtype=pl.Float32), None),
    "Boolean, the false ones": (pl.Series([False, True, False, True]), False),
    "String": (pl.Series(["late", "on time", "late", "early"]), "late"),
    "Enum": (pl.Series(["y", "n", "y", "n"], dtype=pl.Enum(["n", "y"])), "y"),
    "Categorical": (pl.Series(["y", "n", "y", "n"], dtype=pl.Categorical), "y"),
    "integers": (pl.Series([2, 1, 2, -1]), 2),
    "the zeros": (pl.Series([0, 1, 0, 1]), 0),
    "floats": (pl.Series([2.5, 1.0, 2.5, float("inf")]), 2.5),
    "dates": (pl.Series([date(2026, 1, day) for day in (1, 2, 1, 3)]), date(2026, 1, 1)),
}


@every_kind
@pytest.mark.parametrize(("truth", "label"), TRUTHS.values(), ids=TRUTHS)
def test_truth_of_many_dtypes(kind, truth, label):
    df = pl.DataFrame({"truth": truth, "score": [0.9, 0.8, 0.3, 0.2]})
    result = frame_prc.average_precision(kind.make(df), "truth", "score", pos_label=label)
    assert kind.rows(result)["average_precision"].item() == (1 + 2 / 3) / 2


@every_kind
def test_truth_score_and_weight_may_be_expressions(kind):
    df = pl.DataFrame({"delay": [40, 10, 35, 0], "odds": [9.0, 4.0, 0.5, 0.2]})
    result = frame_prc.average_precision(
        kind.make(df), pl.col("delay") >= 30, -pl.col("odds"), weight=pl.col("odds") + 1
    )
    # From the lowest odds: 1.2 and 1.5 (late), 5 and 10 (late).
    area = 1.5 / 11.5 * (1.5 / 2.7) + 10 / 11.5 * (11.5 / 17.7)
    assert kind.rows(result)["average_precision"].item() == pytest.approx(area, rel=1e-12, abs=0)


# --- missing values -------------------------------------------------------------------


MISSING = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "a", "b", "b", "c"],
        "truth": [True, False, True, None, True, None, False],
        "score": [0.9, 0.8, None, 0.7, float("nan"), 0.5, 0.1],
    }
)


@every_kind
@pytest.mark.parametrize(
    "df",
    [MISSING.drop_nulls("score").fill_nan(0), MISSING.drop_nulls(), MISSING.drop_nans("score")],
    ids=["null truth", "NaN score", "nulls"],
)
def test_missing_values_raise(kind, df):
    with pytest.raises(frame_prc.DataError, match="missing"):
        kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", by="segment"))


@every_kind
def test_dropped_rows_are_counted_and_a_segment_that_loses_all_is_empty(kind):
    result = frame_prc.average_precision(
        kind.make(MISSING), "truth", "score", by="segment", missing="drop"
    )
    expected = pl.DataFrame(
        {
            "segment": ["a", "b", "c"],
            "n": [2, 0, 1],
            "n_pos": [1, 0, 0],
            "prevalence": [0.5, None, 0.0],
            "average_precision": [1.0, None, None],
            "status": ["ok", "empty", "no_positives"],
            "n_dropped": [2, 2, 0],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
@pytest.mark.parametrize("label", [None, 1.0])
def test_nan_is_a_missing_truth(kind, label):
    df = pl.DataFrame({"truth": [1.0, float("nan"), 0.0], "score": [3, 2, 1]})
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", missing="drop", pos_label=label
    )
    found = kind.rows(result).select("n", "n_pos", "average_precision", "n_dropped")
    assert found.rows() == [(2, 1, 1.0, 1)]


@every_kind
def test_a_missing_weight_is_dropped_and_counted(kind):
    df = pl.DataFrame({"truth": [1, 0, 1], "score": [3, 2, 1], "weight": [1, None, 4]})
    result = frame_prc.average_precision(
        kind.make(df).pipe(_nullable_weight), "truth", "score", weight="weight", missing="drop"
    )
    expected = pl.DataFrame(
        {
            "n": [5.0],
            "n_pos": [5.0],
            "prevalence": [1.0],
            "average_precision": [1.0],
            "status": ["no_negatives"],
            "n_dropped": [1],
        }
    )
    assert_rows(kind, result, expected)


def _nullable_weight(frame):
    # NaN, NumPy's only missing value, is a wrong weight: pandas says null by a nullable dtype.
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame
    return frame.astype({"weight": "Int64"})


@every_kind
def test_unretrieved_positives_are_misses(kind):
    df = MISSING.drop_nulls("truth")
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", by="segment", missing="unretrieved"
    )
    expected = pl.DataFrame(
        {
            "segment": ["a", "b", "c"],
            "n": [3, 1, 1],
            "n_pos": [2, 1, 0],
            "prevalence": [2 / 3, 1.0, 0.0],
            # Half of the positives of a are found, at precision 1; none of b is.
            "average_precision": [0.5, 0.0, None],
            "status": ["ok", "no_negatives", "no_positives"],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
def test_unretrieved_rows_need_a_truth(kind):
    with pytest.raises(frame_prc.DataError, match="'truth' has 2 rows with null"):
        kind.rows(
            frame_prc.average_precision(kind.make(MISSING), "truth", "score", missing="unretrieved")
        )


@every_kind
@pytest.mark.parametrize("missing", ["raise", "unretrieved"])
def test_a_row_of_weight_zero_may_hold_anything(kind, missing):
    df = pl.DataFrame(
        {
            "truth": [1.0, 0.0, float("nan"), None, 7.0],
            "score": [2.0, 1.0, float("nan"), None, 0.0],
            "weight": [1.0, 1.0, 0.0, -0.0, 0.0],
        }
    )
    result = frame_prc.average_precision(
        kind.make(df), "truth", "score", weight="weight", missing=missing
    )
    assert_rows(
        kind, result, frame_prc.average_precision(df[:2], "truth", "score", weight="weight")
    )


# --- models ---------------------------------------------------------------------------


MODELS = pl.DataFrame({"truth": [1, 0, 1], "boosting": [0.9, 0.5, 0.7], "linear": [2, 3, 1]})


@every_kind
@pytest.mark.parametrize(
    "score",
    [["linear", "boosting"], {"linear": "linear", "boosting": pl.col("boosting").log()}],
    ids=["list", "mapping"],
)
def test_models_come_first_and_in_order_of_their_names(kind, score):
    df = MODELS.with_columns(pl.col("linear").cast(pl.Int32))
    result = kind.rows(frame_prc.average_precision(kind.make(df), "truth", score))
    assert result.columns[0] == "model"
    areas = dict(result.select("model", "average_precision").iter_rows())
    assert list(areas) == ["boosting", "linear"]
    assert areas == pytest.approx({"boosting": 1.0, "linear": 7 / 12}, rel=1e-12, abs=0)


@every_kind
def test_a_selector_is_one_key_per_column(kind):
    df = SEGMENTS.with_columns(week=pl.int_range(pl.len()) % 2)
    by_selector = frame_prc.average_precision(
        kind.make(df), "truth", "score", by=cs.by_name("segment", "week")
    )
    by_list = frame_prc.average_precision(df, "truth", "score", by=["segment", "week"])
    assert_rows(kind, by_selector, by_list)


# --- the expression -------------------------------------------------------------------


def test_the_method_of_a_score_is_the_function():
    method = pl.col("score").prc.average_precision("truth", "weight")
    function = frame_prc.average_precision_expr("truth", "score", "weight")
    assert method.meta.eq(function)


DAYS = pl.DataFrame(
    {
        "day": [date(2026, 3, day) for day in (1, 1, 2, 8, 9, 9, 10, 15)],
        "truth": [True, False, True, False, True, True, False, False],
        "score": [0.9, 0.8, 0.3, 0.6, 0.6, 0.2, 0.1, 0.4],
        "weight": [1.0, 2.0, 1.0, 0.5, 3.0, 1.0, 0.0, 1.0],
    }
)


@every_polars_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_expression_in_group_by_dynamic_is_the_verb_per_week(kind, weight):
    area = pl.col("score").prc.average_precision("truth", weight)
    weekly = kind.make(DAYS).set_sorted("day").group_by_dynamic("day", every="1w").agg(area)
    week = pl.col("day").dt.truncate("1w")
    verb = frame_prc.average_precision(DAYS, "truth", "score", by=week, weight=weight)
    expected = verb.select("day", "average_precision")
    assert_frame_equal(kind.rows(weekly), expected, **ROUNDED)


@every_polars_kind
def test_expression_in_rolling_is_the_verb_on_each_window(kind):
    area = frame_prc.average_precision_expr("truth", "score")
    rolled = kind.rows(kind.make(DAYS).set_sorted("day").rolling("day", period="8d").agg(area))
    since = pl.col("day").dt.offset_by("-8d")
    windows = [
        DAYS.filter(pl.col("day").is_between(first, last, closed="right"))
        for first, last in DAYS.select(since, last="day").iter_rows()
    ]
    alone = [frame_prc.average_precision(window, "truth", "score") for window in windows]
    expected = DAYS.select("day", pl.concat(alone)["average_precision"])
    assert_frame_equal(rolled, expected, **ROUNDED)


@every_polars_kind
def test_expression_takes_expressions(kind):
    area = frame_prc.average_precision_expr(pl.col("delay") >= 30, -pl.col("odds"))
    df = pl.DataFrame({"delay": [40, 10, 35, 0], "odds": [9.0, 4.0, 0.5, 0.2]})
    assert kind.rows(kind.make(df).select(area)).item() == (1 / 2 + 2 / 4) / 2


UNDEFINED = {
    "missing truth": {"truth": [True, None]},
    "missing score": {"score": [1.0, None]},
    "NaN score": {"score": [1.0, float("nan")]},
    "NaN truth": {"truth": [1.0, float("nan")]},
    "truth of 2": {"truth": [1, 2]},
    "no positives": {"truth": [0, 0]},
    "negative weight": {"weight": [1.0, -1.0]},
    "infinite weight": {"weight": [1.0, float("inf")]},
    "NaN weight": {"weight": [1.0, float("nan")]},
    "missing weight": {"weight": [1.0, None]},
    "no weight at all": {"weight": [0.0, 0.0]},
}


@every_polars_kind
@pytest.mark.parametrize("columns", UNDEFINED.values(), ids=UNDEFINED)
def test_expression_is_null_where_undefined_and_only_there(kind, columns):
    sound = {"truth": [1, 0], "score": [1.0, 0.5], "weight": [1.0, 2.0]}
    parts = [
        pl.DataFrame({"segment": ["sound"] * 2} | sound),
        pl.DataFrame({"segment": ["undefined"] * 2} | sound | columns),
    ]
    df = pl.concat(parts, how="vertical_relaxed")
    area = frame_prc.average_precision_expr("truth", "score", "weight")
    result = kind.rows(kind.make(df).group_by("segment").agg(area))
    assert dict(result.iter_rows()) == {"sound": 1.0, "undefined": None}


@pytest.mark.parametrize("columns", [{}, {"weight": "weight"}], ids=["unweighted", "weighted"])
def test_expression_of_no_rows_is_null(columns):
    none = DAYS.clear().select(frame_prc.average_precision_expr("truth", "score", **columns))
    assert none.rows() == [(None,)]


def test_expression_leaves_out_rows_of_weight_zero_whatever_they_hold():
    df = pl.DataFrame(
        {"truth": [1, 0, 7, None], "score": [1.0, 2.0, None, 3.0], "weight": [1.0, 3.0, 0.0, 0.0]}
    )
    assert df.select(frame_prc.average_precision_expr("truth", "score", "weight")).item() == 0.25


@pytest.mark.parametrize("weight", [None, "weight"])
def test_expression_takes_a_constant_score_for_all_rows(weight):
    df = pl.DataFrame({"truth": [True, False, True, False], "weight": [1, 1, 2, 1]})
    expression = frame_prc.average_precision_expr("truth", pl.lit(0.5), weight)
    expected = df.prc.average_precision("truth", pl.lit(0.5).alias("score"), weight=weight)
    assert df.select(expression).item() == pytest.approx(
        expected["average_precision"].item(), rel=1e-12, abs=0
    )


def test_expression_refuses_scores_that_are_no_numbers():
    df = pl.DataFrame({"truth": [1, 0, 1], "score": ["9", "10", "8"]})
    with pytest.raises(pl.exceptions.InvalidOperationError):
        df.select(frame_prc.average_precision_expr("truth", "score"))
