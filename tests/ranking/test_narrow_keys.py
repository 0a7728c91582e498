"""Keys of rows in memory that leave out low bits of the scores: only where no two come together."""

from __future__ import annotations

from math import inf, nextafter

import oracle
import polars as pl
import pytest
import strategies  # noqa: F401 - sets how many examples are tried
from hypothesis import example, given
from hypothesis import strategies as st
from kinds import looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._ranking import sorted_rows

# With a score as low as the last one a key of 64 bits has no room for all bits of these scores.
AFTER_ONE = nextafter(1.0, inf)
FAR_APART = [3.0, 1.0, 0.25, -1.0, -inf]
CLOSE = [3.0, AFTER_ONE, 1.0, 0.25, -1e300]
TRUTHS = st.lists(st.booleans(), min_size=5, max_size=5).filter(any)


@pytest.fixture(autouse=True)
def _looks():
    with looking(looks=True):
        yield


@pytest.fixture
def narrowed(monkeypatch):
    """Return, for each ranking of rows with numbers, whether its keys have 64 bits."""
    found = []
    sort = sorted_rows.sorted_with_rows

    def spy(*rows, **how):
        ordered = sort(*rows, **how)
        found.append(ordered is not None)
        return ordered

    monkeypatch.setattr(sorted_rows, "sorted_with_rows", spy)
    return found


def frame(scores: list[float], truths: list[bool] | None = None) -> pl.DataFrame:
    truths = truths or [False, True, False, True, False][: len(scores)]
    return pl.DataFrame({"segment": "a", "truth": truths, "score": scores})


def area(rows: pl.DataFrame) -> float:
    return frame_prc.average_precision(rows, "truth", "score")["average_precision"].item()


def expected(rows: pl.DataFrame) -> float | None:
    found = oracle.average_precision([oracle.Row(r["truth"], r["score"]) for r in rows.to_dicts()])
    return None if found is None else float(found)


def test_equal_scores_may_come_together(narrowed):
    # Two zeros are one score. Enough other scores differ that the rows do not seem to repeat them.
    scores = [0.0, -0.0, *(2.0**power for power in range(-40, 40))]
    rows = pl.DataFrame({"truth": [True, False] * 41, "score": scores})
    assert area(rows) == pytest.approx(expected(rows), rel=1e-12)
    assert narrowed == [True]


def test_repeated_scores_are_not_sorted_twice(narrowed):
    rows = frame([1.0, 1.0, AFTER_ONE, -1e300, -1e300])
    assert area(rows) == pytest.approx(expected(rows), rel=1e-12)
    assert not narrowed


@given(TRUTHS, st.permutations(CLOSE))
def test_average_precision_of_close_scores_is_that_of_the_oracle(truths, scores):
    rows = frame(scores, truths)
    assert area(rows) == pytest.approx(expected(rows), rel=1e-12)


def test_counts_of_scores_that_do_not_repeat_are_those_of_groups():
    rows = frame([*FAR_APART, None], [True, False, True, False, True, False])
    call = {"by": "segment", "missing": "unretrieved"}
    found = frame_prc.counts(rows, "truth", "score", **call)
    assert_frame_equal(found, frame_prc.counts(rows.lazy(), "truth", "score", **call).collect())
    assert found["neg"].to_list() == [0, 1, 0, 1, 0, 1]


def test_a_curve_gives_close_scores_back():
    found = frame_prc.curve(frame(CLOSE), "truth", "score", start=None)
    assert found["threshold"].to_list() == sorted(CLOSE, reverse=True)


@pytest.fixture(params=[True, False], ids=["NumPy", "Polars"])
def used(request, monkeypatch):
    """Return the keys that NumPy sorted, where it wins the trial, and where it does not."""
    found = []
    by_numpy = sorted_rows.sorted_by_numpy
    monkeypatch.setattr(sorted_rows, "_TRIED", 2)
    monkeypatch.setattr(sorted_rows, "numpy_is_faster", lambda: request.param)
    monkeypatch.setattr(
        sorted_rows, "sorted_by_numpy", lambda keys: (found.append(keys), by_numpy(keys))[1]
    )
    yield found
    assert bool(found) is request.param


@pytest.mark.usefixtures("used")
def test_keys_sort_the_same_by_numpy_and_by_polars():
    rows = pl.LazyFrame({"rank_key": [3, 2**64 - 1, 0, 2**63, 1]}, {"rank_key": pl.UInt64})
    found = sorted_rows.sorted_keys(rows)
    assert_frame_equal(found, rows.collect().sort("rank_key"))
    assert found["rank_key"].to_list() == [0, 1, 3, 2**63, 2**64 - 1]


def test_rows_of_equal_keys_stay_in_order():
    keys = pl.Series([2, 1] * 5_000, dtype=pl.UInt64)
    found = sorted_rows.sorted_keys(pl.LazyFrame({"rank_key": keys}).with_row_index("row"))
    assert found["row"].to_list() == [*range(1, 10_000, 2), *range(0, 10_000, 2)]


@pytest.mark.parametrize("installed", [True, False])
def test_a_trial_of_both_sorts_changes_no_keys(monkeypatch, installed):
    monkeypatch.setattr(sorted_rows, "_TRIED", 3)
    monkeypatch.setattr(sorted_rows, "has_numpy", lambda: installed)
    assert sorted_rows.numpy_is_faster.__wrapped__() in ({True, False} if installed else {False})
    keys = pl.Series([2, 1], dtype=pl.UInt64)
    assert sorted_rows.sorted_by_numpy(keys).to_list() == [1, 2]
    assert keys.to_list() == [2, 1]


# --- keys that hold the number of the row ----------------------------------------------------

# Neighbours among the floats, with one so far away that a key has no room for the last bits.
NEIGHBOURS = [1.0 + k * 2.0**-52 for k in range(0, 400, 20)]
DRAWN = st.lists(
    st.tuples(st.booleans(), st.sampled_from([*NEIGHBOURS, 0.5, -1e300, inf]), st.integers(1, 4)),
    min_size=2,
).map(lambda rows: [(True, -1e300, 1), (False, inf, 1), *rows])


def weighted(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, ["truth", "score", "weight"], orient="row")


def weighted_area(rows) -> float:
    found = frame_prc.average_precision(weighted(rows), "truth", "score", weight="weight")
    return found["average_precision"].item()


def exact_weighted_area(rows) -> float:
    return float(oracle.average_precision([oracle.Row(*row) for row in rows]))


def _weighed(scores) -> list[tuple[bool, float, int]]:
    return [(place % 2 == 0, score, place) for place, score in enumerate(scores, 1)]


ENDS = [-1e300, inf]
EQUAL = [inf, 1.0, 1.0, 0.5, 0.5, 0.5, -1e300]
# Of each: the scores, the most of them that may share a slot with others, and whether all get one.
SHARED = {
    "moved to free slots": ([1.0, AFTER_ONE, AFTER_ONE, -1e300], 1, True),
    "moved to a slot whose score moves on": ([1.0, AFTER_ONE, nextafter(1.0, 0), *ENDS], 1, True),
    "no free slot": ([*NEIGHBOURS, *ENDS], 1, False),
    "equal": (EQUAL, None, True),
    "many equal": (EQUAL * 100, None, True),
    "moved beside equal ones": ([*[0.5] * 199, 1.0, AFTER_ONE, *ENDS], None, True),
    "too many beside equal ones": ([*[0.5] * 199, *[1.0, AFTER_ONE] * 30, *ENDS], None, False),
    "too many": ([1.0, AFTER_ONE, -1e300], None, False),
}


@pytest.mark.parametrize(("scores", "few", "narrow"), SHARED.values(), ids=SHARED)
def test_scores_that_come_together_get_slots_or_wider_keys(
    narrowed, monkeypatch, scores, few, narrow
):
    if few is not None:
        monkeypatch.setattr(sorted_rows, "_FEW_SHARED", few)
    rows = _weighed(scores)
    assert weighted_area(rows) == pytest.approx(exact_weighted_area(rows), rel=1e-14)
    assert narrowed == [narrow]


@given(DRAWN)
def test_weighted_average_precision_of_close_scores_is_that_of_the_oracle(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_rows, "_FEW_SHARED", 1)
        assert weighted_area(rows) == pytest.approx(exact_weighted_area(rows), rel=1e-12)


def test_a_weighted_curve_gives_close_scores_back(narrowed, monkeypatch):
    monkeypatch.setattr(sorted_rows, "_FEW_SHARED", 1)
    rows = weighted([(place % 2 == 0, score, place + 1) for place, score in enumerate(CLOSE)])
    found = frame_prc.curve(rows, "truth", "score", weight="weight", start=None)
    assert found["threshold"].to_list() == sorted(CLOSE, reverse=True)
    assert narrowed == [True]


WEIGHTED = {
    "curve": {},
    "corners": {"keep": "corners"},
    "summary": {},
    "operating_points": {"recall": 0.5, "f_beta": 1},
    "auc": {"method": ["step", "envelope"]},
}


@given(DRAWN, st.sampled_from([*WEIGHTED]), st.booleans())
def test_weighted_rows_of_close_scores_give_what_lazy_ones_give(rows, verb, some_unretrieved):
    asked = {"by": "key", "weight": "weight", **WEIGHTED[verb]}
    frame = weighted(rows).with_row_index("key").with_columns(pl.col("key") % 2)
    if some_unretrieved:
        frame = frame.with_columns(score=pl.when(pl.col("weight") < 4).then("score"))
        asked["missing"] = "unretrieved"
    call = getattr(frame_prc, "curve" if verb == "corners" else verb)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_rows, "_FEW_SHARED", 1)
        found = call(frame, "truth", "score", **asked)
    expected = call(frame.lazy(), "truth", "score", **asked).collect()
    assert_frame_equal(found, expected, rel_tol=1e-12)


# Of the first two of three close scores the lower moves on to the slot of the third.
TAKEN = [-1e300, inf, NEIGHBOURS[14], 1.0, NEIGHBOURS[13], NEIGHBOURS[13], 1.0, 0.5]


@pytest.mark.thorough
@given(DRAWN, st.sampled_from([None, "weight"]), st.booleans())
@example([(place in (0, 4), score, 1) for place, score in enumerate(TAKEN)], None, False)
def test_numbered_rows_of_close_scores_are_compared_as_lazy_ones(rows, weight, clustered):
    frame = (
        weighted(rows)
        .with_row_index("user")
        .with_columns(
            other=pl.col("score").reverse(), user=pl.col("user") % 3, by=pl.col("user") % 2
        )
    )
    asked = {"by": "by", "weight": weight, "cluster": "user" if clustered else None}
    models = ["score", "other"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_rows, "_FEW_SHARED", 1)
        found = frame_prc.compare_models(frame, "truth", models, **asked)
    expected = frame_prc.compare_models(frame.lazy(), "truth", models, **asked).collect()
    assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-15)


# --- keys from a wide range, by which segments are numbered ------------------------------------


@pytest.mark.parametrize("spacing", [2**20, 2**61])
@pytest.mark.parametrize(
    "asked", [{}, {"ci": 0.95}, {"ci": 0.95, "cluster": "user"}, {"weight": "weight"}], ids=str
)
def test_a_wide_range_of_keys_leaves_fewer_bits_and_changes_nothing(spacing, asked):
    row = pl.int_range(400, dtype=pl.Int64)
    rows = pl.select(
        truth=row % 3 == 0,
        score=(row.hash(seed=1) % 2**52).cast(pl.Float64) / 2**52,
        key=row % 2 * spacing,
        user=row // 4 * 10**6,
        weight=1.0 + row % 5,
    )
    found = frame_prc.average_precision(rows, "truth", "score", by="key", **asked)
    expected = frame_prc.average_precision(rows.lazy(), "truth", "score", by="key", **asked)
    assert_frame_equal(found, expected.collect(), rel_tol=1e-12)


def test_clusters_beside_a_wide_range_of_keys_are_compared_as_lazy_ones():
    row = pl.int_range(400, dtype=pl.Int64)
    rows = pl.select(
        truth=row % 3 == 0,
        score=(row * 7 % 401).cast(pl.Float32),
        other=(row * 11 % 401).cast(pl.Float32),
        key=row % 2 * 2**61,
        user=row // 4,
    )
    asked = {"by": "key", "cluster": "user"}
    found = frame_prc.compare_models(rows, "truth", ["score", "other"], **asked)
    expected = frame_prc.compare_models(rows.lazy(), "truth", ["score", "other"], **asked).collect()
    assert_frame_equal(found, expected, rel_tol=1e-9)
