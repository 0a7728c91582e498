"""The interpolated area of binned scores, as Keras and metrax compute it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from areas import area
from kinds import every_kind

pytestmark = pytest.mark.thorough


def keras_thresholds(pushed_out):
    """Return 200 equally spaced thresholds with both ends pushed out, 1e-7 (1e-5 in metrax)."""
    return np.array([-pushed_out, *np.arange(1, 199) / 199, 1 + pushed_out])


def keras_area(truth, score, weight, thresholds):
    """Return keras.metrics.AUC(curve="PR", summation_method="interpolation"), in double precision.

    It differs from this package in that a score must be above a threshold, not at it.
    """
    found = score > thresholds[:, None]
    tp = (found * weight * truth).sum(axis=1)
    p = (found * weight).sum(axis=1)
    d_tp, d_p = tp[:-1] - tp[1:], p[:-1] - p[1:]
    slope = np.divide(d_tp, d_p, out=np.zeros_like(d_tp), where=d_p > 0)
    intercept = tp[1:] - slope * p[1:]
    both = (p[:-1] > 0) & (p[1:] > 0)
    ratio = np.divide(p[:-1], p[1:], out=np.ones_like(d_tp), where=both)
    return (slope * (d_tp + intercept * np.log(ratio))).sum() / (weight * truth).sum()


def graded(*, on_the_grid):
    random = np.random.default_rng(7)
    score = random.random(500)
    if on_the_grid:
        score = np.round(score * 398) / 398  # every other one
    truth = random.random(500) < score
    return pl.DataFrame({"truth": truth, "score": score, "weight": random.gamma(2, size=500)})


def both(df):
    return df["truth"].to_numpy(), df["score"].to_numpy()


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_200_thresholds_have_the_interpolated_area_of_keras(kind, weight):
    df = graded(on_the_grid=False)
    weights = df["weight"].to_numpy() if weight else np.ones(df.height)
    keras = keras_area(*both(df), weights, keras_thresholds(1e-7))
    found = area(kind, df, "interpolated", thresholds=200, weight=weight)
    assert found == pytest.approx(keras, rel=1e-10, abs=0)


@every_kind
@pytest.mark.parametrize("pushed_out", [1e-7, 1e-5], ids=["Keras", "metrax"])
def test_scores_on_a_threshold_count_for_keras_from_the_next_float_on(kind, pushed_out):
    df, thresholds = graded(on_the_grid=True), keras_thresholds(pushed_out)
    keras = keras_area(*both(df), np.ones(df.height), thresholds)
    above = np.nextafter(thresholds, np.inf).tolist()
    assert area(kind, df, "interpolated", thresholds=above) == pytest.approx(keras, rel=1e-10)
    at = area(kind, df, "interpolated", thresholds=200)
    assert at != pytest.approx(keras, rel=1e-6)
