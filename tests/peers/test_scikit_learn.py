"""The same numbers from scikit-learn, segment by segment, wherever the conventions agree."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from checkout import FLIGHTS
from kinds import every_kind
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_curve

import frame_prc

ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}


@cache
def flights() -> pl.DataFrame:
    return pl.read_parquet(FLIGHTS)


def random_rows(seed: int) -> pl.DataFrame:
    """Return three segments of rows with scores of either sign, most of them tied."""
    random = np.random.default_rng(seed)
    n = 300
    score = random.normal(size=n)
    truth = random.random(n) < 1 / (1 + np.exp(-score))
    return pl.DataFrame(
        {
            "segment": random.choice(["a", "b", "c"], n),
            "truth": truth,
            "score": np.where(random.random(n) < 0.8, score.round(1), score),
            "weight": random.gamma(2, size=n),
        }
    )


every_seed = pytest.mark.parametrize("seed", range(4))
every_weight = pytest.mark.parametrize("weight", [None, "weight"], ids=["unweighted", "weighted"])
every_keep = pytest.mark.parametrize("keep", ["all", "corners"])


# --- scikit-learn behind the same conventions -----------------------------------------


def sklearn_curve(rows: pl.DataFrame, truth: str, score: str, weight: str | None, keep: str):
    """Return scikit-learn's curve as rows of ours.

    It has the thresholds ascending, and ends with a point (recall 0, precision 1) that has no
    threshold; here thresholds descend, and that point comes first, at an infinite one.
    """
    precision, recall, thresholds = precision_recall_curve(
        rows[truth].to_numpy(),
        rows[score].to_numpy(),
        sample_weight=rows[weight].to_numpy() if weight else None,
        drop_intermediate=keep == "corners",
    )
    threshold = np.append(thresholds, np.inf).astype(thresholds.dtype)
    columns = {"threshold": threshold, "precision": precision, "recall": recall}
    return pl.DataFrame({name: values[::-1] for name, values in columns.items()})


def sklearn_area(rows: pl.DataFrame, truth: str, score: str, weight: str | None) -> float:
    return average_precision_score(
        rows[truth].to_numpy(),
        rows[score].to_numpy(),
        sample_weight=rows[weight].to_numpy() if weight else None,
    )


def per_segment(df: pl.DataFrame, by: list[str]):
    return df.sort(by).group_by(by, maintain_order=True)


@cache
def sklearn_areas_of_flights(by: tuple[str, ...], score: str, weight: str | None) -> pl.DataFrame:
    areas = [
        (*key, sklearn_area(rows, "late", score, weight))
        for key, rows in per_segment(flights(), list(by))
    ]
    schema = {name: flights().schema[name] for name in by} | {"average_precision": pl.Float64}
    return pl.DataFrame(areas, schema=schema, orient="row")


# --- flights --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("weight", [None, "distance"], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("score", ["logistic", "boosting"])
@pytest.mark.parametrize("by", [("carrier",), ("origin", "month")], ids="-".join)
def test_average_precision_of_flights_is_that_of_scikit_learn(kind, by, score, weight):
    table = frame_prc.average_precision(
        kind.make(flights()), "late", score, by=list(by), weight=weight
    )
    areas = kind.rows(table).select(*by, "average_precision")
    expected = sklearn_areas_of_flights(by, score, weight)
    assert_frame_equal(areas, expected, **ROUNDED)


@pytest.mark.parametrize("weight", [None, "distance"], ids=["unweighted", "weighted"])
def test_expression_on_flights_is_the_average_precision_of_scikit_learn(weight):
    area = frame_prc.average_precision_expr("late", "logistic", weight)
    areas = flights().group_by("carrier").agg(area).sort("carrier")
    expected = sklearn_areas_of_flights(("carrier",), "logistic", weight)
    assert_frame_equal(areas, expected, **ROUNDED)


@every_keep
@pytest.mark.parametrize("weight", [None, "distance"], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("score", ["logistic", "boosting"])
def test_curves_of_flights_are_those_of_scikit_learn(score, weight, keep):
    curves = frame_prc.curve(flights(), "late", score, by="origin", weight=weight, keep=keep)
    for (origin,), rows in per_segment(flights(), ["origin"]):
        expected = sklearn_curve(rows, "late", score, weight, keep)
        found = curves.filter(origin=origin).select(expected.columns)
        assert_frame_equal(found, expected, **ROUNDED)


# --- random rows ----------------------------------------------------------------------


@every_kind
@every_keep
@every_weight
@every_seed
def test_curves_of_random_rows_are_those_of_scikit_learn(kind, seed, weight, keep):
    df = random_rows(seed)
    curves = frame_prc.curve(
        kind.make(df), "truth", "score", by="segment", weight=weight, keep=keep
    )
    expected = [
        sklearn_curve(rows, "truth", "score", weight, keep).select(
            pl.lit(segment).alias("segment"), pl.all()
        )
        for (segment,), rows in per_segment(df, ["segment"])
    ]
    found = kind.rows(curves).select("segment", "threshold", "precision", "recall")
    assert_frame_equal(found, pl.concat(expected), **ROUNDED)


@every_kind
@every_weight
@every_seed
def test_average_precision_of_random_rows_is_that_of_scikit_learn(kind, seed, weight):
    df = random_rows(seed)
    table = frame_prc.average_precision(
        kind.make(df), "truth", "score", by="segment", weight=weight
    )
    expected = [
        sklearn_area(rows, "truth", "score", weight) for _, rows in per_segment(df, ["segment"])
    ]
    found = kind.rows(table)["average_precision"].to_list()
    assert found == pytest.approx(expected, rel=1e-12, abs=0)


@every_kind
@every_seed
def test_counts_at_each_threshold_are_those_of_scikit_learn(kind, seed):
    df = random_rows(seed)
    curve = frame_prc.curve(kind.make(df), "truth", "score", start=None)
    found = kind.rows(curve).select("threshold", "tn", "fp", "fn", "tp")
    expected = [
        (threshold, *confusion_matrix(df["truth"], df["score"] >= threshold).ravel().tolist())
        for threshold in found["threshold"]
    ]
    assert found.rows() == expected


# --- labels ---------------------------------------------------------------------------


# Two labels of five rows with weights; scikit-learn's averages per label and over all entries.
LABELS = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
LABEL_SCORES = np.array([[0.5, 0.5], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]])
LABEL_WEIGHTS = [1, 1, 2, 2, 2]
ENTRIES = pl.DataFrame(
    {
        "label": ["first", "second"] * 5,
        "truth": LABELS.ravel(),
        "score": LABEL_SCORES.ravel(),
        "weight": np.repeat(LABEL_WEIGHTS, 2),
    }
)


@every_kind
@pytest.mark.parametrize(
    ("by", "average", "areas"), [("label", None, [11 / 56, 23 / 36]), (None, "micro", [13 / 36])]
)
def test_labels_as_segments_are_the_classes_of_scikit_learn(kind, by, average, areas):
    table = frame_prc.average_precision(
        kind.make(ENTRIES), "truth", "score", by=by, weight="weight"
    )
    found = kind.rows(table)["average_precision"].to_list()
    sklearn = average_precision_score(
        LABELS, LABEL_SCORES, average=average, sample_weight=LABEL_WEIGHTS
    )
    assert found == pytest.approx(areas, rel=1e-12, abs=0)
    assert found == pytest.approx(np.atleast_1d(sklearn).tolist(), rel=1e-12, abs=0)


# --- where the conventions differ -----------------------------------------------------


NO_POSITIVES = pl.DataFrame({"truth": [0, 0], "score": [0.2, 0.1]})


@every_kind
def test_without_positives_scikit_learn_says_zero_and_we_say_null(kind):
    with pytest.warns(UserWarning, match="No positive class"):
        assert sklearn_area(NO_POSITIVES, "truth", "score", None) == 0
    table = frame_prc.average_precision(kind.make(NO_POSITIVES), "truth", "score")
    found = kind.rows(table).select("average_precision", "status")
    assert found.rows() == [(None, "no_positives")]


@every_kind
def test_without_positives_scikit_learn_has_recall_one_and_we_have_null(kind):
    with pytest.warns(UserWarning, match="No positive class"):
        sklearn = sklearn_curve(NO_POSITIVES, "truth", "score", None, "all")
    assert sklearn["recall"].to_list() == [0, 1, 1]
    curve = frame_prc.curve(kind.make(NO_POSITIVES), "truth", "score")
    assert kind.rows(curve)["recall"].to_list() == [None, None, None]
    assert kind.rows(curve)["precision"].to_list() == sklearn["precision"].to_list()
