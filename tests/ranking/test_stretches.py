"""Stretches of sorted rows: NumPy makes of them what plain Python and Polars do."""

from __future__ import annotations

import sys
from fractions import Fraction

import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from hypothesis import given
from hypothesis import strategies as st
from kinds import SMALL, looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import _execution
from frame_prc._ranking import sorted_rows

TOTALS = {"total": pl.col("amount").sum(), "squares": (pl.col("amount") ** 2).sum()}
GROUPED = st.lists(
    st.tuples(st.sampled_from([0, 1, 2**40]), st.integers(0, 2), st.integers(-9, 9)), min_size=1
).map(sorted)


@given(GROUPED)
def test_sums_of_groups_are_added_up_for_each_stretch(rows):
    sums: dict[int, dict[int, int]] = {}
    for stretch, group, amount in rows:
        of_groups = sums.setdefault(stretch, {})
        of_groups[group] = of_groups.get(group, 0) + amount
    schema = {"stretch": pl.Int64, "group": pl.Int64, "amount": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    with looking(looks=True):
        found = sorted_rows.group_totals(pl.concat([frame[:1], frame[1:]]), 3, TOTALS)
    expected = [
        (stretch, float(sum(own.values())), float(sum(one**2 for one in own.values())))
        for stretch, own in sums.items()
    ]
    if len(rows) >= 3:
        assert found.rows() == expected
        assert found.schema["stretch"] == pl.Int64
    else:
        assert found is None


def test_groups_of_few_rows_are_left_to_polars():
    rows = pl.DataFrame({"stretch": [0, 1] * 4_999 + [1, 1], "group": 0, "amount": 0.5})
    halves = [rows.sort("stretch"), rows.with_columns(stretch=0)]
    with looking(looks=False):
        found = [
            sorted_rows.group_totals(half, size, TOTALS) for half in halves for size in (9, 10**6)
        ]
    assert [totals is not None for totals in found] == [False, False, True, False]


@pytest.mark.parametrize(
    "rows",
    [
        {"stretch": [], "group": [], "amount": []},
        {"stretch": [1, None], "group": [0, 0], "amount": [0.5, 0.5]},
        {"stretch": [1, 1], "group": [0, 0], "amount": [0.5, None]},
    ],
)
def test_what_numpy_cannot_hold_has_no_totals(rows):
    with looking(looks=True):
        assert sorted_rows.group_totals(pl.DataFrame(rows), 1, TOTALS) is None


ROWS = pl.DataFrame(
    {
        "segment": [1, 1, 2, 1, 2, 2, 1, 1, 2, 3, 1, 2, 4],
        "truth": [1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1],
        "score": [0.9, 0.9, 0.8, 0.7, 0.7, 0.7, 0.6, 0.6, 0.5, 0.5, 0.4, 0.3, None],
        "other": [0.1, 0.7, 0.7, 0.2, 0.9, 0.1, 0.8, 0.6, 0.3, 0.2, 0.2, 0.6, 0.5],
        "weight": [2.0, 1.0, 0.5, 4.0, 1.0, 3.0, 0.25, 1.0, 2.0, 1.0, 1.0, 0.125, 2.0],
        "user": [1, 2, 1, 2, 3, 3, 1, 4, 4, 5, 5, 6, 6],
    }
)
RANKED = {"truth": "truth", "by": "segment", "missing": "unretrieved"}
CALLS = {
    "areas": lambda: frame_prc.average_precision(ROWS, score="score", weight="weight", **RANKED),
    "intervals": lambda: frame_prc.average_precision(
        ROWS, score="score", weight="weight", ci=0.9, **RANKED
    ),
    "clusters": lambda: frame_prc.average_precision(
        ROWS, score="score", cluster="user", ci=0.9, **RANKED
    ),
    "models": lambda: frame_prc.compare_models(ROWS, score=["score", "other"], **RANKED),
    "weighted models": lambda: frame_prc.compare_models(
        ROWS, score=["score", "other"], weight="weight", cluster="user", **RANKED
    ),
}


IN_PARTS = {
    "summary": lambda: frame_prc.summary(ROWS, score="score", **RANKED),
    "summary of models": lambda: frame_prc.summary(
        ROWS, score=["score", "other"], overall=True, **RANKED
    ),
    "weighted summary": lambda: frame_prc.summary(
        ROWS, score="score", weight="weight", calibrate=0.3, **RANKED
    ),
    "summary with clusters": lambda: frame_prc.summary(
        ROWS, score="score", cluster="user", **RANKED
    ),
    "operating points": lambda: frame_prc.operating_points(
        ROWS, score="score", recall=0.5, f_beta=1, predicted_rate=0.5, **RANKED
    ),
    "corners": lambda: frame_prc.operating_points(
        ROWS, score="score", precision=[0.4, 0.9], cost=(1, 2), **RANKED
    ),
    "weights": CALLS["areas"],
}


@pytest.mark.parametrize("call", IN_PARTS.values(), ids=IN_PARTS)
def test_a_part_for_each_segment_changes_no_result(call, monkeypatch):
    with looking(looks=True):
        monkeypatch.setattr(_execution, "SIZES", SMALL._replace(part=1_000))
        expected = call()
        monkeypatch.setattr(_execution, "SIZES", SMALL._replace(part=1))
        assert_frame_equal(call(), expected)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_polars_gives_the_same_without_numpy(call, monkeypatch):
    with looking(looks=True):
        expected = call()
        monkeypatch.setitem(sys.modules, "numpy", None)
        assert not _execution.has_numpy()
        assert_frame_equal(call(), expected, rel_tol=1e-14)
    assert_frame_equal(call(), expected, rel_tol=1e-14)


def test_small_weights_between_large_ones_keep_their_digits():
    weights = [2.0**60, 2.0**-20, 2.0**-30, 2.0**60, 2.0**-20, 3.0]
    rows = pl.DataFrame(
        {"segment": [1, 1, 1, 2, 2, 2], "truth": [False, True, True] * 2, "weight": weights}
    ).with_columns(score=pl.Series([0.9, 0.8, 0.7, 0.6, 0.9, 0.8]))
    with looking(looks=True):
        found = frame_prc.average_precision(rows, "truth", "score", by="segment", weight="weight")
    large, small, least = (Fraction(weight) for weight in weights[:3])
    first = small / (large + small) * small + least * (small + least) / (large + small + least)
    expected = [float(first / (small + least)), 1.0]
    assert found["average_precision"].to_list() == pytest.approx(expected, rel=1e-14)
