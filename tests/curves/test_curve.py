"""The curve: published ones, its start and corners, and what becomes of every kind of segment."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import published
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from checkout import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st
from kinds import assert_rows, every_kind, every_polars_kind
from polars.testing import assert_frame_equal

import frame_prc

INFINITY = float("inf")


def points(kind, df, **options):
    """Return the columns of a curve as lists, without a start point unless it is asked for."""
    options = {"start": None} | options
    return kind.rows(frame_prc.curve(kind.make(df), "truth", "score", **options)).to_dict(
        as_series=False
    )


def areas(kind, df, **options):
    """Return the areas under the rows of a curve that has a start point."""
    curve = frame_prc.curve(kind.make(df), "truth", "score", envelope=True, **options)
    step, precision = pl.col("recall").diff(), pl.col("precision")
    return (
        kind.rows(curve)
        .select(
            step=(step * precision).sum(),
            trapezoid=(step * (precision + precision.shift()) / 2).sum(),
            envelope=(step * pl.col("envelope")).sum(),
        )
        .row(0, named=True)
    )


# --- published numbers ----------------------------------------------------------------


@every_kind
def test_detectron_example(kind):
    curve = points(kind, published.DETECTRON, envelope=True)
    assert curve["tp"] == [1, 2, 2, 3, 3, 3, 4, 5, 6, 6]
    assert curve["recall"] == [tp / 6 for tp in curve["tp"]]
    assert curve["precision"] == [1, 1, 2 / 3, 3 / 4, 3 / 5, 1 / 2, 4 / 7, 5 / 8, 2 / 3, 3 / 5]
    assert curve["envelope"] == [1, 1, 3 / 4, 3 / 4, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 3 / 5]


@every_kind
def test_pascal_voc_example_rank_by_rank(kind):
    # Its explanation ranks ties one by one, so the ties are broken here as the ids do.
    tp = [1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6]
    curve = points(kind, published.PASCAL_VOC_UNTIED)
    assert curve["tp"] == tp
    assert curve["precision"] == [hits / rank for rank, hits in enumerate(tp, start=1)]


@every_kind
@pytest.mark.parametrize(
    ("df", "area"),
    [
        # The published .6621 needs id 7, a positive, ranked before id 15, with the same score:
        # the fifth positive enters at precision 5/11.
        (published.PASCAL_VOC_UNTIED, (1 + 1 + 4 / 7 + 4 / 7 + 5 / 11 + 6 / 16) / 6),
        # No threshold retrieves one without the other. As one point they have precision 5/12,
        # and the area, .6558, does not depend on the order of the file.
        (published.PASCAL_VOC, (1 + 1 + 4 / 7 + 4 / 7 + 5 / 12 + 6 / 16) / 6),
    ],
    ids=["one by one", "as one point"],
)
def test_pascal_voc_example_depends_on_how_ties_are_read(kind, df, area):
    assert areas(kind, df)["envelope"] == pytest.approx(area, rel=1e-12, abs=0)


CURVES = {
    "scikit-learn, documentation": (
        published.SKLEARN_DOCS,
        {
            "threshold": [0.8, 0.4, 0.35, 0.1],
            "precision": [1, 1 / 2, 2 / 3, 1 / 2],
            "recall": [1 / 2, 1 / 2, 1, 1],
        },
    ),
    "scikit-learn, four scores": (
        published.SKLEARN_FOUR,
        {
            "threshold": [4, 3, 2, 1],
            "precision": [1, 1 / 2, 1 / 3, 1 / 2],
            "recall": [1 / 2, 1 / 2, 1 / 2, 1],
        },
    ),
    "scikit-learn, inverted": (
        published.SKLEARN_INVERTED,
        {"threshold": [1, 0], "precision": [0, 1 / 2], "recall": [0, 1]},
    ),
    "yardstick": (
        published.YARDSTICK,
        {
            "threshold": [INFINITY, 0.9, 0.7, 0.4, 0.35],
            "precision": [1, 1, 1, 1, 3 / 4],
            "recall": [0, 1 / 3, 2 / 3, 1, 1],
        },
    ),
    "yardstick, ties": (
        published.YARDSTICK_TIES,
        {
            "threshold": [INFINITY, 0.9, 0.8, 0.4, 0.3],
            "precision": [1, 1 / 2, 1 / 3, 1 / 2, 3 / 5],
            "recall": [0, 1 / 3, 1 / 3, 2 / 3, 1],
        },
    ),
    "Spark": (
        published.SPARK,
        {"threshold": [0.8, 0.6, 0.4, 0.1], "tp": [1, 3, 3, 4], "fp": [0, 1, 2, 3]},
    ),
}


@every_kind
@pytest.mark.parametrize(("df", "expected"), CURVES.values(), ids=CURVES)
def test_equals_published_curves(kind, df, expected):
    start = "one" if INFINITY in expected["threshold"] else None
    curve = points(kind, df, start=start)
    assert {name: curve[name] for name in expected} == expected


@every_kind
def test_breast_cancer_has_376_points_up_to_full_recall(kind):
    # Logistic regression on rows 100 to 568 of scikit-learn's load_breast_cancer. Older versions
    # of scikit-learn ended a curve at full recall: 375 thresholds and the start point.
    df = pl.read_parquet(EXAMPLES / "data" / "breast_cancer.parquet")
    curve = kind.rows(frame_prc.curve(kind.make(df), "benign", "score"))
    cut = curve.filter(pl.col("recall").shift(fill_value=0.0) < 1)
    assert cut.height == 376
    assert cut.filter(pl.col("threshold") < INFINITY).height == 375
    assert cut["recall"][-1] == 1


# --- start ----------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("start", "opening"), [("one", [1.0]), ("first", [0.5]), (None, [])], ids=str
)
def test_start_gives_a_precision_to_recall_zero(kind, start, opening):
    curve = points(kind, published.YARDSTICK_TIES, start=start)
    at_zero = [
        (p, tp, fp, fn, tn)
        for p, r, tp, fp, fn, tn in zip(
            *(curve[name] for name in ("precision", "recall", "tp", "fp", "fn", "tn")), strict=True
        )
        if r == 0
    ]
    assert at_zero == [(precision, 0, 0, 3, 2) for precision in opening]


@every_kind
@pytest.mark.parametrize("start", ["one", "first"])
def test_start_is_told_from_an_infinite_score_by_retrieving_nothing(kind, start):
    df = pl.DataFrame({"truth": [0, 1, 1], "score": [INFINITY, INFINITY, -INFINITY]})
    curve = points(kind, df, start=start)
    assert curve["threshold"] == [INFINITY, INFINITY, -INFINITY]
    assert curve["tp"] == [0, 1, 2]
    assert curve["fp"] == [0, 1, 1]


@every_kind
def test_each_segment_has_its_own_start(kind):
    df = pl.concat(
        [published.YARDSTICK, published.YARDSTICK_TIES, published.SKLEARN_INVERTED]
    ).with_columns(segment=pl.Series([*"a" * 4, *"b" * 5, *"c" * 2]))
    curve = points(kind, df, by="segment", start="first")
    opening = [
        (segment, precision)
        for segment, precision, threshold in zip(
            curve["segment"], curve["precision"], curve["threshold"], strict=True
        )
        if threshold == INFINITY
    ]
    assert opening == [("a", 1), ("b", 0.5), ("c", 0)]


# --- corners --------------------------------------------------------------------------


@every_kind
def test_corners_leave_out_the_point_that_scikit_learn_drops(kind):
    # scikit-learn, precision_recall_curve(..., drop_intermediate=True).
    curve = points(kind, published.SKLEARN_FOUR, keep="corners")
    assert curve["threshold"] == [4, 2, 1]
    assert curve["precision"] == [1, 1 / 3, 1 / 2]
    assert curve["recall"] == [1 / 2, 1 / 2, 1]


@every_kind
def test_corners_keep_both_ends_of_misses_before_the_first_hit(kind):
    df = pl.DataFrame({"truth": [0, 0, 0, 1, 0, 0, 0], "score": [7, 6, 5, 4, 3, 2, 1]})
    assert points(kind, df, keep="corners")["threshold"] == [7, 5, 4, 1]


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_corners_of_one_segment_know_nothing_of_the_next(kind, weight):
    df = pl.DataFrame(
        {
            "segment": ["a", "a", "a", "b", "b", "b"],
            "truth": [0, 0, 0, 0, 0, 0],
            "score": [3, 2, 1, 6, 5, 4],
            "weight": [0.5] * 6,
        }
    )
    curve = points(kind, df, by="segment", keep="corners", start="one", weight=weight)
    assert curve["threshold"] == [INFINITY, 3, 1, INFINITY, 6, 4]


@every_kind
def test_the_last_point_is_a_corner_whatever_is_never_retrieved(kind):
    df = pl.DataFrame({"truth": [1, 0, 0, 0], "score": [4, 3, 2, None]})
    curve = points(kind, df, keep="corners", missing="unretrieved")
    assert curve["threshold"] == [4, 2]
    assert curve["tn"] == [3, 1]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9) | st.none(), st.integers(0, 2))))
def test_corners_are_the_ends_of_all_points_with_the_same_hits(rows):
    df = pl.DataFrame(
        rows, {"truth": pl.Boolean, "score": pl.Int64, "segment": pl.Int64}, orient="row"
    )
    asked = {"by": "segment", "missing": "unretrieved", "start": None}
    every, corners = (
        frame_prc.curve(df, "truth", "score", **asked, keep=keep) for keep in ("all", "corners")
    )
    tp, place = pl.col("tp"), pl.int_range(pl.len())
    ends = [(tp != tp.shift(step)).fill_null(value=True).over("segment") for step in (1, -1)]
    ends += [(place == at).over("segment") for at in (0, pl.len() - 1)]
    assert_frame_equal(corners, every.filter(pl.any_horizontal(ends)))


# --- envelope -------------------------------------------------------------------------


@every_kind
def test_envelope_of_one_segment_knows_nothing_of_the_next(kind):
    df = pl.DataFrame(
        {"segment": ["a", "a", "b", "b"], "truth": [0, 1, 1, 0], "score": [2, 1, 2, 1]}
    )
    curve = points(kind, df, by="segment", envelope=True)
    assert curve["precision"] == [0, 1 / 2, 1, 1 / 2]
    assert curve["envelope"] == [1 / 2, 1 / 2, 1, 1 / 2]


# --- segments -------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("truth", "precision", "recall"),
    [
        ([0, 0], [1, 0, 0], [None, None, None]),
        ([1, 1], [1, 1, 1], [0, 1 / 2, 1]),
        ([1], [1, 1], [0, 1]),
        ([0], [1, 0], [None, None]),
        ([], [], []),
    ],
    ids=["no positives", "no negatives", "one positive", "one negative", "no rows"],
)
def test_segments_that_lack_something(kind, truth, precision, recall):
    df = pl.DataFrame({"truth": truth, "score": [float(-i) for i in range(len(truth))]})
    df = df.cast({"truth": pl.Int64, "score": pl.Float64})
    curve = points(kind, df, start="one")
    assert curve["precision"] == precision
    assert curve["recall"] == recall


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by", [None, "segment"])
def test_no_rows_keep_every_column_and_its_dtype(kind, by, weighted):
    schema = {"segment": pl.String, "truth": pl.Boolean, "score": pl.Float32, "weight": pl.Float32}
    amount = pl.Float64 if weighted else pl.Int64
    curve = frame_prc.curve(
        kind.make(pl.DataFrame(schema=schema)),
        "truth",
        "score",
        by=by,
        weight="weight" if weighted else None,
        envelope=True,
    )
    columns = {by: pl.String} if by else {}
    columns |= {"threshold": pl.Float32} | dict.fromkeys(["tp", "fp", "fn", "tn"], amount)
    columns |= dict.fromkeys(["precision", "recall", "envelope"], pl.Float64)
    assert_rows(kind, curve, pl.DataFrame(schema=columns))


@every_kind
def test_a_null_key_is_a_segment_of_its_own_and_comes_first(kind):
    df = pl.DataFrame(
        {"segment": ["a", None, "a", None], "truth": [1, 1, 0, 0], "score": [2, 1, 1, 2]}
    )
    curve = points(kind, df, by="segment")
    assert curve["segment"] == [None, None, "a", "a"]
    assert curve["precision"] == [0, 1 / 2, 1, 1 / 2]


@every_kind
def test_a_segment_that_loses_all_rows_has_no_curve(kind):
    df = pl.DataFrame({"segment": ["a", "b"], "truth": [1, 1], "score": [0.5, None]})
    assert points(kind, df, by="segment", missing="drop", start="one")["segment"] == ["a", "a"]


@every_kind
def test_a_segment_of_unretrieved_rows_only_has_a_start_and_nothing_else(kind):
    df = pl.DataFrame({"segment": ["a", "a", "b"], "truth": [1, 0, 1], "score": [None, None, 0.5]})
    curve = frame_prc.curve(kind.make(df), "truth", "score", by="segment", missing="unretrieved")
    expected = pl.DataFrame(
        {
            "segment": ["a", "b", "b"],
            "threshold": [INFINITY, INFINITY, 0.5],
            "tp": [0, 0, 1],
            "fp": [0, 0, 0],
            "fn": [1, 1, 0],
            "tn": [1, 0, 0],
            "precision": [1.0, 1.0, 1.0],
            "recall": [0.0, 0.0, 1.0],
        }
    )
    assert_rows(kind, curve, expected)


@every_kind
def test_start_first_is_undefined_where_no_point_follows(kind):
    none = pl.Series([None, None], dtype=pl.Float64)
    df = pl.DataFrame({"truth": [1, 0], "score": none})
    curve = points(kind, df, start="first", missing="unretrieved")
    assert curve["precision"] == [None]


# --- scores ---------------------------------------------------------------------------


THRESHOLDS = {
    pl.Float16: pl.Float16,
    pl.Float32: pl.Float32,
    pl.Float64: pl.Float64,
    pl.Int8: pl.Float64,
    pl.Int64: pl.Float64,
    pl.UInt64: pl.Float64,
    pl.Int128: pl.Float64,
    pl.Decimal(20, 3): pl.Float64,
}


@every_polars_kind
@pytest.mark.parametrize(("score", "threshold"), THRESHOLDS.items(), ids=str)
def test_thresholds_have_the_dtype_of_float_scores_and_else_float64(kind, score, threshold):
    df = pl.DataFrame({"truth": [1, 0], "score": pl.Series([1, 0]).cast(score)})
    curve = kind.rows(frame_prc.curve(kind.make(df), "truth", "score"))
    assert curve["threshold"].dtype == threshold
    assert curve["threshold"].to_list() == [INFINITY, 1, 0]


CLOSE = {
    "Int64": pl.Series([2**53, 2**53 + 1], dtype=pl.Int64),
    "UInt64": pl.Series([2**64 - 2, 2**64 - 1], dtype=pl.UInt64),
    "Int128": pl.Series([10**38, 10**38 + 1], dtype=pl.Int128),
    "Decimal": pl.Series([Decimal(10**16), Decimal(f"{10**16}.1")], dtype=pl.Decimal(38, 1)),
}


@every_polars_kind
@pytest.mark.parametrize("scores", CLOSE.values(), ids=CLOSE)
def test_scores_that_round_to_one_float_are_one_threshold_and_rank_apart(kind, scores):
    others = pl.concat([scores, pl.Series([0]).cast(scores.dtype)])
    df = pl.DataFrame({"truth": [0, 1, 0], "score": others})
    given, shown = kind.make(df), ["threshold", "tp", "fp"]
    curve = frame_prc.curve(given, "truth", "score", start=None)
    point = frame_prc.operating_points(given, "truth", "score", recall=1, details=True)
    for table in map(kind.rows, (curve, point)):
        for threshold, tp, fp in table.select(shown).iter_rows():
            found = df.filter(pl.col("score") >= threshold)["truth"]
            assert (tp, fp) == (found.sum(), len(found) - found.sum())
    assert kind.rows(frame_prc.counts(given, "truth", "score")).height == 3
    [area] = kind.rows(frame_prc.average_precision(given, "truth", "score"))["average_precision"]
    assert area == 1


@every_kind
def test_float32_scores_rank_as_float32(kind):
    # Their nearest Float64 neighbours, .1 and .1 + 2**-30, are one Float32.
    df = pl.DataFrame({"truth": [0, 1], "score": [0.1, 0.1 + 2**-30]})
    both = df.with_columns(pl.col("score").cast(pl.Float32))
    assert points(kind, df)["tp"] == [1, 1]
    assert points(kind, both)["tp"] == [1]
