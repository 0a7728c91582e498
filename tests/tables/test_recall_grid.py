"""Curves on a common grid of recalls, with the threshold at each, and their mean over folds."""

from __future__ import annotations

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_series_equal
from strategies import BY, DYADIC_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, Draws, OptionError

RECALLS = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
ROWS = pl.DataFrame(
    {
        "fold": [1, 1, 1, 2, 2, 2, 2, 3],
        "truth": [1, 0, 1, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.9, 0.6, 0.5, 0.4, 0.3],
    }
)


def grid(kind, df, **options):
    found = frame_prc.curve(kind.make(df), "truth", "score", **{"recalls": RECALLS, **options})
    return kind.rows(found)


def first_to_reach(rows, recall):
    """Return the point of the highest threshold with a true positive that reaches a recall."""
    reached = (p for p in oracle.curve(rows) if p.tp > 0 and float(p.recall) >= recall)
    return next(reached, None)


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data(), BY)
def test_each_recall_has_the_first_point_that_reaches_it(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    weight = None if weights is None else "weight"
    found = grid(kind, df, by=by, missing="unretrieved", weight=weight)
    points = [first_to_reach(rows, r) for rows in segments(df, by).values() for r in RECALLS]
    if df.is_empty():
        return
    expected = [(None,) * 4 if p is None else (p.threshold, p.tp, p.fp, p.fn) for p in points]
    assert found.select("threshold", "tp", "fp", "fn").rows() == expected
    heights = [None if p is None else float(p.precision) for p in points]
    assert_series_equal(found["precision"], pl.Series("precision", heights, pl.Float64))
    assert found["at_recall"].to_list() == RECALLS * (found.height // len(RECALLS))


@every_kind
def test_a_grid_has_the_precision_of_a_band(kind):
    df = pl.DataFrame({"truth": [i * 7 % 5 < 2 for i in range(60)], "score": range(60)})
    found = grid(kind, df, recalls=11)
    band = frame_prc.band(df, "truth", "score", recalls=11, bootstrap=Draws(40, seed=1))
    assert found["precision"].to_list() == band["precision"].to_list()


@every_kind
def test_a_recall_is_reached_up_to_its_rounding(kind):
    third = 1 - 2 / 3  # the next float above 1 / 3
    df = pl.DataFrame({"truth": [1, 0, 1, 1], "score": [4.0, 3.0, 2.0, 1.0]})
    assert grid(kind, df, recalls=[third])["threshold"].to_list() == [4.0]


@every_kind
def test_folds_are_averaged_where_they_reach_a_recall(kind):
    found = grid(kind, ROWS, by="fold", over="fold", recalls=[0.5, 1.0])
    assert found.rows() == [
        (0.5, pytest.approx((1 + 1 / 2) / 2), 2),
        (1.0, pytest.approx((2 / 3 + 2 / 4) / 2), 2),
    ]
    pooled = grid(kind, ROWS, recalls=[0.5, 1.0])
    assert pooled["precision"].to_list() == [2 / 4, 4 / 7]


@every_kind
def test_bins_are_reached_as_their_scores_are(kind):
    found = grid(kind, ROWS, thresholds=[0.0, 0.5, 0.75], recalls=[0.2, 0.5, 1.0])
    assert found["threshold"].to_list() == [0.75, 0.5, 0.0]


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"over": "fold"}, OptionError, ["over=", "without recalls="]),
        ({"recalls": 5, "over": "week"}, ColumnError, ["over='week'", "not a key"]),
        ({"recalls": 5, "keep": 9}, OptionError, ["keep=", "recalls="]),
        ({"recalls": 5, "start": "first"}, OptionError, ["start=", "recalls="]),
        ({"recalls": 5, "ci": 0.9}, OptionError, ["'precision_low'", "recalls="]),
        ({"recalls": [0.5, 2]}, OptionError, ["recalls=", "2"]),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(asked, error, words):
    with pytest.raises(error) as caught:
        frame_prc.curve(ROWS, "truth", "score", by="fold", **asked)
    assert all(word in str(caught.value) for word in words), caught.value
