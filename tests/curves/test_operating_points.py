"""Operating points: the best threshold for a target by brute force, ties, gaps and lacks."""

from __future__ import annotations

import numpy as np
import oracle
import polars as pl
import published
import pytest
from exact import segments, table
from hypothesis import given
from hypothesis import strategies as st
from kinds import NARROWED, assert_rows, every_kind, looking
from polars.testing import assert_frame_equal
from sklearn.metrics import fbeta_score
from strategies import BY, DYADIC_WEIGHTS, SCORES, SCORES_OR_NONE, TIED_SCORES, frames

import frame_prc

INFINITY = float("inf")
COUNTS = ["tp", "fp", "fn", "tn"]
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}
CRITERIA = {
    "recall": [0.5, 0.3, 1.0],
    "precision": [0.75, 0.5, 1.0],
    "threshold": [0.25, -1e300, INFINITY, 0.3],
    "f_beta": [1.0, 2.0, 0.5],
    "predicted_rate": [0.5, 0.1, 1.0],
    "predicted_count": [3, 1.5, 100],
    "fpr": [0.0, 0.3, 1.0],
}

exact_weights = pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"]
)
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def exact_points(df, by, asked):
    """Return the rows that looking at every point gives."""
    amount = pl.Float64 if "weight" in df.columns else pl.Int64
    schema = {
        "target": pl.String,
        "criterion": pl.String,
        "target_value": pl.Float64,
        "threshold": pl.Float64,
        **dict.fromkeys(COUNTS, amount),
        **dict.fromkeys(["precision", "recall", "fpr", "f_score", "predicted_rate"], pl.Float64),
        "predicted_count": amount,
        "status": pl.String,
    }
    records = (
        (*key, text(criterion, target), criterion, target, *_columns(rows, criterion, target))
        for key, rows in segments(df, by).items()
        for criterion, targets in asked.items()
        for target in targets
    )
    return table(df, by, records, schema)


def _columns(rows, criterion, target):
    point = oracle.operating_point(rows, criterion, target)
    positives, negatives = oracle.totals(rows)
    lacks = {(True, True): "empty", (True, False): "no_positives", (False, True): "no_negatives"}
    status = lacks.get((not positives, not negatives), "ok")
    if point is None:
        threshold = target if criterion == "threshold" else None
        return [threshold, *[None] * 10, "not_met" if status == "ok" else status]
    score = oracle.f_score(point, target if criterion == "f_beta" else 1)
    predicted = point.tp + point.fp
    fpr = point.fp / negatives if negatives else None
    said = "undefined" if status == "ok" and not predicted else status
    return [*point, fpr, score, predicted / (positives + negatives), predicted, said]


def text(criterion, target):
    """Return a target as one would write it: without a point where it is whole."""
    return f"{criterion}={target:g}"


def call(kind, df, **options):
    weight = "weight" if "weight" in df.columns else None
    return frame_prc.operating_points(
        kind.make(df), "truth", "score", weight=weight, **options, details=True
    )


def point(kind, df, **asked):
    """Return the columns of one operating point."""
    return kind.rows(call(kind, df, **asked)).row(0, named=True)


# --- exact arithmetic -----------------------------------------------------------------


@every_kind
@exact_weights
@given(st.data(), BY)
def test_every_target_equals_the_best_of_all_points(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))
    result = call(kind, df, by=by, **CRITERIA)
    assert_rows(kind, result, exact_points(df, by, CRITERIA), **ROUNDED)


@every_kind
@exact_weights
@given(st.data(), BY)
def test_unretrieved_rows_stay_in_the_totals(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = call(kind, df, by=by, missing="unretrieved", **CRITERIA)
    assert_rows(kind, result, exact_points(df, by, CRITERIA), **ROUNDED)


@given(frames(st.floats(allow_nan=False), max_size=30), BY)
def test_numbers_of_many_rows_alone_are_met_at_their_places(df, by):
    asked = {"predicted_rate": [0.5, 0.3, 0.001, 1.0], "predicted_count": [1, 3, 7.5, 100]}
    with looking(looks=True):
        result = call(NARROWED, df, by=by, **asked)
    assert_frame_equal(result, exact_points(df, by, asked), **ROUNDED)


@every_kind
@exact_weights
@given(st.data())
def test_no_point_that_meets_the_target_dominates_the_one_returned(kind, weights, data):
    scores = st.integers(0, 15).map(float)
    df = data.draw(frames(scores, weights, max_size=30))
    rows = segments(df, None)[()]
    found = kind.rows(call(kind, df, **CRITERIA)).filter(pl.col("criterion") != "threshold")
    for criterion, target, tp, fp in found.select("criterion", "target_value", "tp", "fp").rows():
        points = oracle.meeting(rows, criterion, target)[0]
        chosen = [point for point in points if (point.tp, point.fp) == (tp, fp)]
        assert len(chosen) == min(len(points), 1)
        assert not any(dominates(p, q, criterion) for p in points for q in chosen)


def dominates(point, other, criterion):
    """Return whether a point is as good in all respects, and better in one."""
    qualities = [[p.precision, p.tp] for p in (point, other)]
    if criterion in ("predicted_rate", "predicted_count"):  # a budget, to be spent
        qualities = [
            [p.tp + p.fp, *some] for p, some in zip((point, other), qualities, strict=True)
        ]
    pairs = list(zip(*qualities, strict=True))
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


# --- one target -----------------------------------------------------------------------


# Ten scores with truth 1 0 1 0 0 0 1 0 1 0: precision 1, 1/2, 2/3, ..., recall in quarters.
TEN = pl.DataFrame(
    {
        "truth": [1, 0, 1, 0, 0, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0],
    }
)


@every_kind
@pytest.mark.parametrize(
    ("asked", "threshold"),
    [
        ({"recall": 0.25}, 0.9),
        ({"recall": 0.26}, 0.7),
        ({"recall": 1}, 0.1),
        ({"precision": 1}, 0.9),
        ({"precision": 0.6}, 0.7),
        ({"precision": 0.4}, 0.1),
        ({"f_beta": 1}, 0.1),
        ({"f_beta": 0.7}, 0.7),
        ({"f_beta": 0.1}, 0.9),
        ({"predicted_rate": 0.3}, 0.7),
        ({"predicted_rate": 0.39}, 0.7),
    ],
    ids=str,
)
def test_targets_of_ten_scores(kind, asked, threshold):
    assert point(kind, TEN, **asked)["threshold"] == threshold


@every_kind
@pytest.mark.parametrize("positives", [1, 49, 98, 103, 107])
def test_full_recall_is_reached_whatever_the_number_of_positives(kind, positives):
    # 49 times the float nearest to 1/49 is less than 1; 49 / 49 is not.
    df = pl.DataFrame({"truth": [1] * positives, "score": [0.5] * positives})
    assert point(kind, df, recall=1)["tp"] == positives
    shares = df.with_columns(weight=pl.lit(0.125))
    assert point(kind, shares, recall=1)["tp"] == positives / 8


@every_kind
@pytest.mark.parametrize(
    ("truth", "asked", "threshold"),
    [
        ([1, 1, 1, 1, 0], {"recall": 0.5}, 2),  # precision 1 from 4 down to 2, recall 1 at 2
        ([0, 1, 0, 1, 0], {"recall": 0.5}, 2),  # precision 1/2 at 4 and at 2
        ([0, 1, 1, 0, 0], {"precision": 0.5}, 3),  # recall 1 at 3 and at 2
        ([1, 0, 0, 1, 0], {"f_beta": 1}, 5),  # F1 is 2/3 at 5, of precision 1, and at 2
        ([0, 0, 0, 0, 0], {"predicted_rate": 0.5}, 4),  # the budget is spent, whatever it finds
    ],
    ids=str,
)
def test_of_equally_good_points_none_is_dominated(kind, truth, asked, threshold):
    df = pl.DataFrame({"truth": truth, "score": [5, 4, 3, 2, 1]})
    assert point(kind, df, **asked)["threshold"] == threshold
    whole = df.with_columns(weight=pl.lit(2.5))
    assert point(kind, whole, **asked)["threshold"] == threshold


@every_kind
@pytest.mark.parametrize(
    ("pos", "neg", "asked", "threshold"),
    [
        # F1 is 2/3 to the last digit at both, precision 1 at both; recall grows by one digit.
        ([1e16, 2.0, 1e16], [0.0, 0.0, 1e17], {"f_beta": 1}, 2),
        # A tiny weight is lost beside a large one: the same point, at the higher threshold.
        ([1e16, 1e-16, 1.0], [1e16, 1.0, 1e17], {"recall": 0.5}, 3),
        ([1e16, 1e-16, 1.0], [1.0, 1e-16, 1e17], {"precision": 0.5}, 3),
        ([1e16, 1e-16, 1.0], [1e16, 1e-16, 1e17], {"predicted_rate": 0.5}, 3),
    ],
    ids=["f_beta", "recall", "precision", "predicted_rate"],
)
def test_points_that_rounding_makes_equal_are_told_apart(kind, pos, neg, asked, threshold):
    df = pl.DataFrame({"score": [3, 2, 1], "pos": pos, "neg": neg})
    result = frame_prc.operating_points(kind.make(df), score="score", pos="pos", neg="neg", **asked)
    assert kind.rows(result)["threshold"].to_list() == [threshold]


@every_kind
@pytest.mark.parametrize(
    "asked", [{"precision": 0.9}, {"predicted_rate": 0.1}, {"recall": 0.9}], ids=str
)
def test_a_target_that_cannot_be_met_leaves_nulls(kind, asked):
    df = pl.DataFrame({"truth": [0, 1, 1], "score": [0.9, 0.5, None]})
    result = call(kind, df, missing="unretrieved", **asked)
    expected = exact_points(df, None, {name: [target] for name, target in asked.items()})
    assert expected["tp"].to_list() == [None]
    assert_rows(kind, result, expected)


# --- one threshold --------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("threshold", "tp", "fp"),
    [
        (1.0, 0, 0),
        (0.9, 1, 0),
        (0.85, 1, 0),
        (0.5, 2, 3),
        (0.45, 2, 3),
        (0.0, 4, 6),
        (-1.0, 4, 6),
        (-INFINITY, 4, 6),
        (INFINITY, 0, 0),
    ],
)
def test_a_threshold_need_not_be_a_score(kind, threshold, tp, fp):
    result = point(kind, TEN, threshold=threshold)
    counts = {"tp": tp, "fp": fp, "fn": 4 - tp, "tn": 6 - fp}
    rates = {"recall": tp / 4, "predicted_rate": (tp + fp) / 10}
    assert result["threshold"] == result["target_value"] == threshold
    assert result["target"] == text("threshold", threshold)
    assert {name: result[name] for name in counts | rates} == counts | rates
    assert result["precision"] == (tp / (tp + fp) if tp else None)


@every_kind
def test_float32_scores_are_held_to_a_threshold_of_their_own_dtype(kind):
    # The Float32 nearest to .7 is below the Float64 nearest to it, and is what the result reports;
    # a filter in Polars or NumPy compares likewise.
    df = pl.DataFrame({"truth": [1, 0, 0], "score": [0.1, 0.7, 0.05]})
    df = df.with_columns(pl.col("score").cast(pl.Float32))
    assert point(kind, df, threshold=0.1)["tp"] == 1
    assert point(kind, df, threshold=0.7)["fp"] == 1
    assert df.filter(pl.col("score") >= 0.7).height == 1
    assert point(kind, df, threshold=float(np.float32(0.7)))["fp"] == 1


# --- several targets, models and segments ---------------------------------------------


@pytest.mark.thorough
@every_kind
@given(frames(TIED_SCORES, DYADIC_WEIGHTS), BY)
def test_targets_together_are_each_target_alone(kind, df, by):
    together = kind.rows(call(kind, df, by=by, **CRITERIA))
    for criterion, targets in CRITERIA.items():
        for target in targets:
            alone = kind.rows(call(kind, df, by=by, **{criterion: target}))
            found = together.filter(target=text(criterion, target))
            assert_frame_equal(found, alone.cast(dict(found.schema)), check_exact=True)


@every_kind
def test_counts_give_the_points_of_their_rows(kind):
    counts = frame_prc.counts(TEN, "truth", "score")
    result = frame_prc.operating_points(
        kind.make(counts), score="threshold", pos="pos", neg="neg", **CRITERIA
    )
    assert_rows(kind, result, frame_prc.operating_points(TEN, "truth", "score", **CRITERIA))


LACKING = pl.DataFrame(
    {
        "segment": ["empty", "negative", "negative", "positive"],
        "truth": [1, 0, 0, 1],
        "score": [None, 0.9, 0.5, 0.9],
    }
)


@every_kind
@every_criterion
def test_segments_that_lack_a_class_or_all_rows_keep_their_rows(kind, criterion):
    value = 1 if criterion == "predicted_count" else 0.6
    result = call(kind, LACKING, by="segment", missing="drop", **{criterion: value})
    met = {
        "recall": [None, None, 1],
        "precision": [None, None, 1],
        "threshold": [None, 0, 1],
        "f_beta": [None, None, 1],
        "predicted_rate": [None, 0, None],
        "predicted_count": [None, 0, 1],
        "fpr": [None, 0, None],
    }
    found = kind.rows(result)
    assert found["segment"].to_list() == ["empty", "negative", "positive"]
    assert found.cast({"tp": pl.Int64})["tp"].to_list() == met[criterion]
    assert found["f_score"].fill_nan(None).to_list() == [None, None, met[criterion][2]]
    assert found["n_dropped"].to_list() == [1, 0, 0]


# --- rounded sums of weights ----------------------------------------------------------


@every_kind
@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1 / 3, 3.3, 1e10 / 3])
@given(frames(st.integers(0, 9).map(float), max_size=30))
def test_equal_weights_move_no_threshold(kind, weight, df):
    shares = {"recall": [0.5, 0.3, 0.9], "precision": [0.5, 0.3], "predicted_rate": [0.3, 0.7]}
    asked = shares | {"fpr": [0.1, 0.3, 0.5]}
    plain = kind.rows(call(kind, df, **asked, predicted_count=[3, 7]))
    counts = [3 * weight, 7 * weight]
    found = call(kind, df.with_columns(weight=weight), **asked, predicted_count=counts)
    assert kind.rows(found)["threshold"].to_list() == plain["threshold"].to_list()


# --- scikit-learn ---------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("beta", [1, 2, 0.5])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_f_score_at_each_threshold_is_that_of_scikit_learn(kind, weight, beta):
    df = published.RUNS.with_columns(weight=1 + pl.int_range(pl.len()) % 3)
    thresholds = [*df["score"], 5.5]
    result = frame_prc.operating_points(
        kind.make(df),
        "truth",
        "score",
        weight=weight,
        f_beta=beta,
        threshold=thresholds,
        details=True,
    )
    found = kind.rows(result)
    weights = None if weight is None else df["weight"]
    f1 = [
        fbeta_score(df["truth"], df["score"] >= t, beta=1, sample_weight=weights)
        for t in thresholds
    ]
    assert found.filter(criterion="threshold")["f_score"].to_list() == pytest.approx(f1, rel=1e-12)
    scores = [
        fbeta_score(df["truth"], df["score"] >= t, beta=beta, sample_weight=weights)
        for t in df["score"]
    ]
    best = found.filter(criterion="f_beta").row(0, named=True)
    assert best["f_score"] == pytest.approx(max(scores), rel=1e-12)
    assert best["threshold"] == df["score"][int(np.argmax(scores))]
