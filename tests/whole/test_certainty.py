"""No interval of any verb says certainty from a sample, and no number lacks what is said of it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TIED_SCORES, frames

from frame_prc import Draws, evaluate
from frame_prc._request.specs import STATUSES

DRAWN = {"bootstrap": Draws(60, seed=3)}
METHODS = ["step", "trapezoid", "interpolated", "gain"]
TABLES = {
    "average precision": lambda ev: ev.average_precision(),
    "calibrated": lambda ev: ev.average_precision(calibrate=0.5),
    "areas": lambda ev: ev.auc(method=METHODS, **DRAWN),
    "curve": lambda ev: ev.curve(),
    "band": lambda ev: ev.band(recalls=[0.25, 0.5, 1.0], **DRAWN),
    "points": lambda ev: ev.operating_points(recall=0.5, fpr=0.3, precision=0.6),
    "held points": lambda ev: ev.operating_points(threshold=0.25),
    "deployed band": lambda ev: ev.band(recalls=[0.25, 0.5], calibrate=0.01, **DRAWN),
    "deployed points": lambda ev: ev.operating_points(
        recall=0.5, precision=0.1, threshold=0.25, calibrate=0.01
    ),
    "summary": lambda ev: ev.summary(overall=True, details=True),
    "models": lambda ev: ev.compare_models(),
    "models held": lambda ev: ev.compare_models(measure="recall", at={"threshold": 0.25}),
    "segments": lambda ev: ev.compare_segments(),
    "segments and all": lambda ev: ev.compare_segments(against="overall"),
}
# Estimates, their limits, and the least and the largest value.
LIMITS = [
    ("average_precision", "ci_low", "ci_high", 0.0, 1.0),
    (
        "calibrated_average_precision",
        "calibrated_average_precision_low",
        "calibrated_average_precision_high",
        0.0,
        1.0,
    ),
    ("auc", "ci_low", "ci_high", -float("inf"), 1.0),  # a gain may be below 0
    ("difference", "ci_low", "ci_high", -1.0, 1.0),
    ("precision", "precision_low", "precision_high", 0.0, 1.0),
    ("recall", "recall_low", "recall_high", 0.0, 1.0),
]
_ENDS = 1e-6
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0, 100.0])


@pytest.mark.parametrize("verb", TABLES)
@given(df=frames(TIED_SCORES, WEIGHTS, 40), weighted=st.booleans(), clustered=st.booleans())
def test_no_interval_says_certainty(verb, df, weighted, clustered):
    of_models = verb.startswith("models")
    roles = {"weight": "weight"} if weighted and verb != "curve" else {}
    roles |= {"cluster": "user"} if clustered else {}
    ev = evaluate(
        df.with_columns(user=pl.int_range(pl.len()) // 2),
        "truth",
        ["score", "other"] if of_models else "score",
        by=None if of_models else "segment",
        ci=0.9,
        **roles,
    )
    table = TABLES[verb](ev)
    for estimate, low, high, least, most in LIMITS:
        if {estimate, low} <= {*table.columns}:
            # Hardly more than one effective row says nothing: its limits round to the ends.
            sharp = not roles or low not in ("precision_low", "recall_low")
            found = table.drop_nulls([estimate, low])
            value, below, above = pl.col(estimate), pl.col(low), pl.col(high)
            sure = (below >= above) | (below >= most) | (above <= least)
            at_end = ((below <= least) & (value > least)) | ((above >= most) & (value < most))
            tells = (below > max(least, 0.0) + _ENDS) | (above < most - _ENDS)
            assert found.filter(sure | (at_end & tells & sharp)).is_empty(), estimate
    if "status" in table.columns:
        assert {*table["status"]} <= {*STATUSES}
    if {"status", "ci_low"} <= {*table.columns}:
        assert table.filter(pl.col("ci_low").is_null(), pl.col("status") == "ok").is_empty()
