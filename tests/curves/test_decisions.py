"""Targets of a decision: a budget of rows, a false positive rate, and the least cost."""

from __future__ import annotations

import oracle
import polars as pl
import pytest
from engine_kinds import every_kind_and_duckdb
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from strategies import BY, SCORES_OR_NONE, TIED_SCORES, frames

import frame_prc
from frame_prc import OptionError

INFINITY = float("inf")
COSTS = [(1, 1), (1, 10), (5, 1), (0, 1), (1, 0)]
# Ten scores, of which 0.5 occurs three times: 1 1 0 | 1 0 0 | 0 1 0 0.
ROWS = pl.DataFrame(
    {
        "truth": [1, 1, 0, 1, 0, 0, 0, 1, 0, 0],
        "score": [0.9, 0.8, 0.7, 0.5, 0.5, 0.5, 0.4, 0.3, 0.2, 0.1],
    }
)


def point(kind, df=ROWS, **asked):
    found = frame_prc.operating_points(kind.make(df), "truth", "score", **asked, details=True)
    return kind.rows(found).row(0, named=True)


@every_kind
@pytest.mark.parametrize(
    ("budget", "predicted"), [(1, 1), (3, 3), (4, 3), (5.5, 3), (6, 6), (100, 10)]
)
def test_a_budget_is_spent_on_whole_ties_only(kind, budget, predicted):
    found = point(kind, predicted_count=budget)
    assert found["tp"] + found["fp"] == predicted
    assert found["target"] == f"predicted_count={budget:g}"
    assert found["predicted_count"] == predicted


@every_kind
@pytest.mark.parametrize(
    ("share", "threshold"), [(0, 0.8), (0.16, 0.8), (1 / 6, 0.8), (0.5, 0.5), (1, 0.3)]
)
def test_false_positive_rate_is_at_most_the_one_asked_for(kind, share, threshold):
    # One of the 6 negatives more finds nothing at 0.7: the more precise point is taken.
    assert point(kind, fpr=share)["threshold"] == threshold


@every_kind
@given(frames(SCORES_OR_NONE, st.integers(1, 3)), BY)
def test_no_point_costs_less(kind, df, by):
    result = frame_prc.operating_points(
        kind.make(df),
        "truth",
        "score",
        by=by,
        cost=COSTS,
        weight="weight",
        missing="unretrieved",
        details=True,
    )
    found = kind.rows(result)
    known = [
        (oracle.least_cost(rows, *costs), costs, sum(oracle.totals(rows)))
        for rows in segments(df, by).values()
        for costs in COSTS
    ]
    if df.is_empty():
        assert found["tp"].drop_nulls().is_empty()
        return
    assert found["target"].to_list() == [f"cost={costs}" for _, costs, _ in known]
    shares = [fp / (fp + fn) for _, (fp, fn), _ in known]
    assert found["target_value"].to_list() == shares
    counts = [(p.tp, p.fp, p.threshold) for p, _, _ in known]
    assert found.select("tp", "fp", "threshold").rows() == counts
    cost = [float((fp * p.fp + fn * p.fn) / n) for p, (fp, fn), n in known]
    assert found["expected_cost"].to_list() == pytest.approx(cost, rel=1e-12)


@every_kind
def test_other_targets_cost_nothing_that_is_known(kind):
    result = frame_prc.operating_points(
        kind.make(ROWS), "truth", "score", recall=0.5, cost=[(1, 1), (1, 3)], details=True
    )
    found = kind.rows(result)
    assert found["criterion"].to_list() == ["recall", "cost", "cost"]
    assert found["expected_cost"].to_list() == [None, 0.2, 0.4]


@every_kind
@given(frames(TIED_SCORES))
def test_a_budget_is_the_share_of_its_rows(kind, df):
    if df.is_empty():
        return
    # A share is rounded where the number of rows is not a power of 2.
    rows = pl.concat([df] * 8).head(8)
    count = frame_prc.operating_points(kind.make(rows), "truth", "score", predicted_count=3)
    share = frame_prc.operating_points(kind.make(rows), "truth", "score", predicted_rate=3 / 8)
    assert kind.rows(count)["threshold"].equals(kind.rows(share)["threshold"])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"predicted_count": 0}, ["predicted_count=0", "above 0"]),
        ({"predicted_count": "all"}, ["predicted_count='all'", "not a number"]),
        ({"fpr": -0.1}, ["fpr=-0.1", "from 0 to 1"]),
        ({"fpr": 5}, ["fpr=5", "fpr=0.05"]),
        ({"cost": 1}, ["cost=1", "pair", "cost=(1, 10)"]),
        ({"cost": (1, 2, 3)}, ["cost=(1, 2, 3)", "pair"]),
        ({"cost": (-1, 2)}, ["cost=(-1, 2)", "0 or more"]),
        ({"cost": (0, 0)}, ["cost=(0, 0)", "not both 0"]),
        ({"cost": [(1, 2), (1, INFINITY)]}, ["inf", "pair"]),
    ],
    ids=str,
)
def test_odd_targets_are_refused(asked, words):
    with pytest.raises(OptionError) as caught:
        frame_prc.operating_points(ROWS, "truth", "score", **asked)
    assert all(word in str(caught.value) for word in words), caught.value


@every_kind_and_duckdb
@pytest.mark.parametrize(
    "columns", [{"truth": "truth"}, {"pos": "pos", "neg": "neg"}], ids=["rows", "counts"]
)
def test_a_share_is_no_number_of_rows(kind, columns):
    frame = kind.make(ROWS.with_columns(pos=1, neg=2))
    says = r"predicted_count=0\.07 is less than one row\. .*: 7 % is predicted_rate=0\.07\.$"
    with pytest.raises(OptionError, match=says):
        frame_prc.operating_points(frame, score="score", **columns, predicted_count=[2, 0.07])
