"""Stretches of sorted rows: NumPy makes of them what plain Python and Polars do."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from hypothesis import given
from hypothesis import strategies as st
from kinds import looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._inference import row_influence
from frame_prc._ranking import running_sums, stretches

# Of each row: negative, positive, or positive and marked.
ROLES = st.lists(st.sampled_from(["negative", "positive", "marked"]))


@given(ROLES)
def test_each_row_gets_the_value_of_its_class_in_its_stretch(between):
    roles = ["marked", *between, "marked"]
    n_stretches = roles.count("marked") - 1
    expected, stretch = [None], 0
    for role in roles[1:]:
        expected.append(stretch + (100.0 if role == "negative" else 0.0))
        stretch += role == "marked"
    on_positive = pl.Series([*range(n_stretches)], dtype=pl.Float64)
    found = stretches.valued_stretches(
        pl.Series([role != "negative" for role in roles]),
        pl.Series([role == "marked" for role in roles]),
        on_positive,
        on_positive + 100,
    )
    assert found.to_list() == expected


@given(st.permutations(range(6)))
@pytest.mark.parametrize("numpy", [True, False], ids=["NumPy", "no NumPy"])
def test_values_are_put_in_their_places(numpy, places):
    values = pl.Series("influence", [place / 4 for place in places])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stretches, "has_numpy", lambda: numpy)
        found = stretches.placed(values, pl.Series(places, dtype=pl.UInt32))
    assert_frame_equal(found.to_frame(), pl.DataFrame({"influence": [i / 4 for i in range(6)]}))


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1e9))))
def test_sums_begin_anew_at_marked_rows(following):
    rows = [(True, 0.1), *following]
    expected: list[float] = []
    for marked, amount in rows:
        expected.append(amount if marked else expected[-1] + amount)
    marks, amounts = (pl.Series(values) for values in zip(*rows, strict=True))
    frame = amounts.to_frame("fp").with_columns(tp=2 * pl.col("fp"))
    fp, tp = stretches.sums_within(frame, marks)
    assert fp.to_list() == expected
    assert tp.to_list() == [2 * value for value in expected]
    assert (fp.name, tp.name) == ("fp", "tp")


def test_many_stretches_are_left_to_polars():
    begins = pl.Series([True, *[False] * 998] * 2)
    longer = pl.Series([True, *[False] * 999] * 2)
    with looking(looks=False):
        assert not stretches.begin_rarely(begins)
        assert stretches.begin_rarely(longer)


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
    "models": lambda: frame_prc.compare(ROWS, score=["score", "other"], **RANKED),
    "weighted models": lambda: frame_prc.compare(
        ROWS, score=["score", "other"], weight="weight", cluster="user", **RANKED
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_polars_gives_the_same_without_numpy(call, monkeypatch):
    with looking(looks=True):
        expected = call()
        for module in (row_influence, running_sums, stretches):
            monkeypatch.setattr(module, "has_numpy", lambda: False)
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
