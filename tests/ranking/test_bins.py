"""Counts in bins, and thresholds that share out the rows."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date, datetime, time, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import DYADIC_WEIGHTS, INFINITY, frames

import frame_prc
from frame_prc import DataError

COVERING = [-INFINITY, -0.5, 0.0, 0.25, 0.3, 1.0]


def bins_of(df, thresholds, keys):
    """Return the counts of each bin that holds rows, by looking at one row after the other."""
    counts = {}
    for row in df.iter_rows(named=True):
        place = bisect_right(thresholds, row["score"]) - 1
        bounds = (thresholds[place], [*thresholds[1:], INFINITY][place])
        found = counts.setdefault((*(row[key] for key in keys), *bounds), {True: 0, False: 0})
        found[row["truth"]] += row.get("weight", 1)
    return {bounds: (n[True], n[False]) for bounds, n in counts.items() if n[True] + n[False]}


def found_bins(counts):
    return {row[:-2]: row[-2:] for row in counts.iter_rows()}


# --- counting ----------------------------------------------------------------------------------


@every_kind
@given(df=frames(), by=st.sampled_from([[], ["segment"], ["segment", "week"]]))
def test_each_row_is_in_the_bin_of_the_highest_threshold_it_reaches(kind, df, by):
    counts = kind.rows(
        frame_prc.counts(kind.make(df), "truth", "score", by=by or None, thresholds=COVERING)
    )
    assert counts.columns == [*by, "threshold", "below", "pos", "neg"]
    assert found_bins(counts) == bins_of(df, COVERING, by)


@every_kind
@given(df=frames(weights=DYADIC_WEIGHTS))
def test_weights_are_added_up_in_their_bin(kind, df):
    counts = kind.rows(
        frame_prc.counts(kind.make(df), "truth", "score", weight="weight", thresholds=COVERING)
    )
    assert found_bins(counts) == bins_of(df, COVERING, [])


KEYS = {
    "Int8": pl.Series([-128, 127, None, -128], dtype=pl.Int8),
    "Int32": pl.Series([-(2**31), 2**31 - 1, None, 0], dtype=pl.Int32),
    "Int64": pl.Series([-(2**63), 2**63 - 1, None, 0]),
    "UInt64": pl.Series([2**64 - 1, 0, None, 1], dtype=pl.UInt64),
    "Boolean": pl.Series([True, False, None, True]),
    "Datetime": pl.Series(
        [datetime(1969, 12, 31), datetime(2026, 3, 29, 12), None, datetime(1, 1, 1)],
        dtype=pl.Datetime("ms", "Europe/Berlin"),
    ),
    "Duration": pl.Series([timedelta(-1), timedelta(1), None, timedelta(0)]),
    "Time": pl.Series([time(0), time(23, 59), None, time(12)]),
    "Date": pl.Series([date(1969, 12, 31), date(2026, 1, 1), None, date(1, 1, 1)]),
    "String": pl.Series(["b", "a", None, ""]),
    "Float64": pl.Series([-0.0, 0.0, None, INFINITY]),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@every_polars_kind
@pytest.mark.parametrize("missing", ["drop", "unretrieved"])
def test_keys_of_any_dtype_are_those_of_exact_counts(kind, key, missing):
    rows = {"truth": [True, False] * 4, "score": [0.5, 0.75, None, 0.25] * 2}
    df = pl.DataFrame({"key": pl.concat([key, key]), **rows})
    asked = {"by": "key", "missing": missing}
    exact, binned = (
        kind.rows(frame_prc.counts(kind.make(df), "truth", "score", **asked, thresholds=at))
        for at in (None, [0, 0.25, 0.5, 0.75])
    )
    assert_frame_equal(binned.drop("below"), exact)


@every_kind
@pytest.mark.parametrize("thresholds", [11, [n / 10 for n in range(11)]], ids=["even", "list"])
def test_narrow_scores_are_held_to_thresholds_as_narrow(kind, thresholds):
    # The Float32 next to .7 is less than .7, and is what the result says.
    scores = pl.Series([n / 10 for n in range(11)], dtype=pl.Float32)
    df = pl.DataFrame({"truth": [True, False] * 5 + [True], "score": scores})
    counts = kind.rows(frame_prc.counts(kind.make(df), "truth", "score", thresholds=thresholds))
    assert counts.schema["threshold"] == counts.schema["below"] == pl.Float32
    assert counts.select("threshold", "pos", "neg").rows() == [
        (score, int(truth), int(not truth)) for truth, score in reversed(df.rows())
    ]
    points = frame_prc.operating_points(
        kind.make(df), "truth", "score", threshold=[0.7, 0.6], details=True
    )
    assert kind.rows(points).select("tp", "fp").rows() == [(2, 2), (3, 2)]


@every_kind
@given(
    scores=st.lists(st.floats(0, 1) | st.integers(0, 199).map(lambda n: n / 199), min_size=1),
    number=st.sampled_from([2, 3, 11, 50, 200, 1001]),
)
def test_evenly_spaced_thresholds_are_exact_quotients(kind, scores, number):
    listed = [place / (number - 1) for place in range(number)]
    df = pl.DataFrame(
        {"score": scores, "truth": [True] * len(scores)}, schema_overrides={"score": pl.Float64}
    )
    counts = kind.rows(frame_prc.counts(kind.make(df), "truth", "score", thresholds=number))
    assert found_bins(counts) == bins_of(df, listed, [])


# --- adding up ---------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_rows_that_reach_no_threshold_are_counted_as_never_retrieved(kind, ascending, weight):
    # A row without a score is one of them.
    df = pl.DataFrame(
        {
            "segment": ["a", "a", "a", "a", "b", "b"],
            "truth": [True, False, True, True, True, False],
            "score": [0.9, 0.7, 0.1, None, 0.05, 0.6],
            "weight": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        }
    )
    df = df.with_columns(score=-pl.col("score") if ascending else "score")
    bins = [-0.7, -0.5] if ascending else [0.5, 0.7]
    asked = {"by": "segment", "missing": "unretrieved", "ascending": ascending}
    columns = {"truth": "truth", "score": "score", "weight": weight, "thresholds": bins}
    counts = frame_prc.counts(kind.make(df), **columns, **asked)
    counted = kind.rows(counts)
    assert counted["threshold"].is_null().to_list() == [False, True, False, True]
    end = "above" if ascending else "below"
    assert counted[end].is_null().to_list() == [False, True, False, True]
    merged = frame_prc.merge_counts(counts, counts, ascending=ascending)
    for parts, times in ((counts, 1), (merged, 2)):
        of_counts = {"score": "threshold", "pos": "pos", "neg": "neg"}
        area = kind.rows(frame_prc.average_precision(parts, **of_counts, **asked))
        direct = kind.rows(frame_prc.average_precision(kind.make(df), **columns, **asked))
        assert area["average_precision"].equals(direct["average_precision"])
        assert area["n"].to_list() == [times * n for n in direct["n"]]
    with pytest.raises(DataError, match=r"'threshold' has 2 rows with null.*'unretrieved' keeps"):
        kind.rows(frame_prc.average_precision(counts, **of_counts, **{**asked, "missing": "raise"}))


@every_kind
def test_what_is_dropped_need_not_be_in_a_bin(kind):
    df = pl.DataFrame(
        {
            "truth": [True, None, False, True],
            "score": [5.0, -1.0, 4.0, 3.0],
            "other": [4.0, 9.0, 3.0, None],
            "weight": [1.0, 2.0, 1.0, 1.0],
        }
    )
    models, asked = ["score", "other"], {"missing": "drop", "thresholds": [3.0]}
    for weight in (None, "weight"):
        counts = frame_prc.counts(kind.make(df), "truth", models, weight=weight, **asked)
        assert kind.rows(counts).rows() == [
            ("other", 3.0, INFINITY, 1, 1),
            ("score", 3.0, INFINITY, 1, 1),
        ]
    # A row is dropped for both models, so that none of it is below the thresholds.
    low = df.with_columns(score=pl.Series([5.0, -1.0, 4.0, 2.0]))
    for order in (models, models[::-1]):
        counts = kind.rows(frame_prc.counts(kind.make(low), "truth", order, **asked))
        assert counts.filter(pl.col("threshold").is_null()).is_empty()


# --- thresholds that share out the rows --------------------------------------------------------


@every_kind
def test_quantile_thresholds_share_out_the_rows(kind):
    scores = [(row * 7919 % 10007 / 10007) ** 3 for row in range(10007)]
    df = pl.DataFrame({"score": scores, "truth": [True] * len(scores)})
    found = frame_prc.quantile_thresholds(kind.make(df), "score", 20)
    assert found[0] == min(scores)
    counts = kind.rows(frame_prc.counts(kind.make(df), "truth", "score", thresholds=found))
    assert len(found) == counts.height == 20
    assert 450 < counts["pos"].min() <= counts["pos"].max() < 550


@every_kind
@given(df=frames(), number=st.integers(2, 5))
def test_quantile_thresholds_cover_scores_of_any_size(kind, df, number):
    if df.is_empty():
        with pytest.raises(DataError, match="'score' has no values"):
            frame_prc.quantile_thresholds(kind.make(df), "score", number)
        return
    found = frame_prc.quantile_thresholds(kind.make(df), "score", number)
    assert sorted(set(found)) == found
    assert 1 <= len(found) <= number
    assert found[0] == df["score"].min()
