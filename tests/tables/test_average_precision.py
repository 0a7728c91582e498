"""Average precision per segment: published numbers, the sizes and the status of the table."""

from __future__ import annotations

import math

import oracle
import polars as pl
import published
import pytest
from kinds import assert_rows, every_kind
from polars.testing import assert_frame_equal
from published_areas import every_area

import frame_prc

# --- published numbers -------------------------------------------------------------------------


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


# --- the table ---------------------------------------------------------------------------------


SEGMENTS = pl.DataFrame(
    {
        "segment": ["mixed"] * 4 + ["good"] * 2 + ["bad"] * 2 + ["one good", "one bad"],
        "truth": [1, 0, 1, 0, 1, 1, 0, 0, 1, 0],
        "score": [0.9, 0.8, 0.3, 0.3, 0.2, 0.1, 0.2, 0.1, 0.5, 0.5],
    }
)


@every_kind
def test_status_says_which_segments_lack_a_class(kind):
    result = frame_prc.average_precision(
        kind.make(SEGMENTS), "truth", "score", by="segment", details=True
    )
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
    result = frame_prc.average_precision(
        kind.make(none), "truth", "score", missing=missing, details=True
    )
    expected = pl.DataFrame(
        {
            "n": [0],
            "n_pos": [0],
            "prevalence": pl.Series([None], dtype=pl.Float64),
            "average_precision": pl.Series([None], dtype=pl.Float64),
            **({"n_dropped": [0]} if missing == "drop" else {}),
            "status": ["empty"],
        }
    )
    assert_rows(kind, result, expected)


@every_kind
def test_a_row_without_a_score_is_dropped_for_all_models_of_a_list(kind):
    other = pl.when(pl.int_range(pl.len()) % 3 > 0).then(-pl.col("score"))
    df, models = SEGMENTS.with_columns(other=other), ["score", "other"]
    found = kind.rows(
        frame_prc.average_precision(kind.make(df), "truth", models, by="segment", missing="drop")
    )
    kept = frame_prc.average_precision(df.drop_nulls("other"), "truth", models, by="segment")
    assert_frame_equal(found.filter(pl.col("n") > 0).drop("n_dropped"), kept)
    assert found["n_dropped"].sum() == 2 * df["other"].null_count()


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


# --- models ------------------------------------------------------------------------------------


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
