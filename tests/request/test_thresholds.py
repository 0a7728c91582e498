"""Thresholds: a number of them is for probabilities, and those that are one are merged."""

from __future__ import annotations

import polars as pl
import pytest
from kinds import TYPES, every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import INFINITY

import frame_prc
from frame_prc import DataError, Draws, OptionError

ROWS = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, 0.1]})


# --- a number of thresholds is for probabilities -----------------------------------------------


LOGITS = pl.DataFrame({"truth": [True, False, True, False], "score": [-2.5, 0.5, 3.0, -2.5]})
BINNING = {
    "counts": {},
    "curve": {},
    "average_precision": {},
    "interval": {"ci": 0.9},
    "clusters": {"ci": 0.9, "cluster": "user"},
    "bootstrap": {"ci": 0.9, "bootstrap": Draws(3, seed=1)},
    "average": {"by": "user", "over": "user"},
    "auc": {"method": ["step", "interpolated"]},
}

every_binning_verb = pytest.mark.parametrize("verb", BINNING)


def ask(kind, verb, df, truth="truth", **options):
    """Ask a verb that bins; what is not named like one is an average precision."""
    frame = kind.make(df.with_columns(user=pl.int_range(pl.len()) % 2))
    verb_of = getattr(frame_prc, verb if hasattr(frame_prc, verb) else "average_precision")
    columns = {"truth": truth, "score": "score"} if "pos" not in options else {"score": "score"}
    return verb_of(frame, **columns | BINNING[verb] | options)


@every_kind
@every_binning_verb
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Decimal(9, 2)], ids=str)
def test_scores_that_are_no_probabilities_are_an_error_at_collect(kind, verb, dtype):
    says = (
        r"score= column 'score' has 3 rows outside 0 to 1: -2.5, 3.0. Allowed: probabilities "
        r".*quantile_thresholds .*float\('-inf'\)"
    )
    df = LOGITS.cast({"score": dtype})
    if TYPES[kind.name] is pl.LazyFrame:
        result = ask(kind, verb, df, thresholds=200)
        with pytest.raises(DataError, match=says):
            kind.rows(result)
    else:
        with pytest.raises(DataError, match=says):
            ask(kind, verb, df, thresholds=200)
    # A list may be of anything.
    assert kind.rows(ask(kind, verb, df, thresholds=[-INFINITY, 0.0, 1.0])).height


@every_kind
@pytest.mark.parametrize("verb", ["counts", "curve", "average_precision", "auc"])
def test_counts_at_scores_that_are_no_probabilities_are_an_error(kind, verb):
    df = pl.DataFrame({"score": [-2.5, 0.5, 3.0], "pos": [0, 1, 1], "neg": [1, 1, 0]})
    columns = {"pos": "pos", "neg": "neg", "thresholds": 5}
    with pytest.raises(DataError, match=r"'score' has 2 rows outside 0 to 1: -2.5, 3.0"):
        kind.rows(ask(kind, verb, df, **columns))
    empty = df.with_columns(pos=pl.Series([0, 1, 0]), neg=pl.Series([0, 1, 0]))
    assert kind.rows(ask(kind, verb, empty, **columns)).height


@every_kind
@every_binning_verb
@pytest.mark.parametrize("missing", ["drop", "unretrieved"])
def test_only_rows_that_count_need_be_probabilities(kind, verb, missing):
    df = pl.DataFrame(
        {
            "truth": [True, False, True, False, None if missing == "drop" else True],
            "score": [0.9, 0.3, None, 0.1, 7.0],
            "weight": [1.0, 1.0, 1.0, 1.0, 1.0 if missing == "drop" else 0.0],
        }
    )
    options = {"weight": "weight", "missing": missing, "thresholds": 5}
    found = kind.rows(ask(kind, verb, df, **options))
    alone = kind.rows(ask(kind, verb, df.head(4), **options))
    left_out = {"n_dropped"} & set(found.columns)
    assert_frame_equal(found.drop(left_out), alone.drop(left_out))
    every = df.with_columns(truth=pl.lit(value=True), weight=1.0)
    with pytest.raises(DataError, match=r"'score' has 1 row outside 0 to 1: 7.0"):
        kind.rows(ask(kind, verb, every, **options))


@every_kind
def test_models_are_held_to_probabilities_by_the_rows_that_count(kind):
    df = LOGITS.with_columns(other=pl.Series([None, 0.2, 0.8, 0.4]))
    asked = {"missing": "drop", "thresholds": 3}
    with pytest.raises(DataError, match="'score' has 2 rows outside"):
        kind.rows(frame_prc.curve(kind.make(df), "truth", ["other", "score"], **asked))
    fine = df.with_columns(
        truth=pl.Series([True, False, True, None]), other=pl.Series([None, 0.2, 0.8, 9])
    )
    curve = kind.rows(frame_prc.curve(kind.make(fine), "truth", "other", **asked, start=None))
    assert curve.select("threshold", "tp", "fp").rows() == [(1, 0, 0), (0.5, 1, 0), (0, 1, 1)]


@every_kind
@pytest.mark.parametrize("verb", ["counts", "curve"])
@pytest.mark.parametrize(
    ("score", "dtype"),
    [
        (1 + 2**-52, pl.Float64),
        (1 + 2**-23, pl.Float32),
        (1 + 2**-10, pl.Float16),
        (1.001, pl.Float64),
        (-0.0, pl.Float64),
    ],
    ids=str,
)
def test_what_is_beyond_by_rounding_is_a_probability(kind, verb, score, dtype):
    if kind.name == "pandas" and dtype == pl.Float16:
        pytest.skip("pandas has no Float16 of Polars")
    df = pl.DataFrame({"truth": [True, False, True], "score": [score, 0.4, 0.6]})
    at = {"thresholds": 5}
    found = kind.rows(ask(kind, verb, df.cast({"score": dtype}), **at))
    inside = df.with_columns(pl.col("score").clip(0, 1))
    assert_frame_equal(found, kind.rows(ask(kind, verb, inside.cast({"score": dtype}), **at)))


@every_kind
@pytest.mark.parametrize("verb", ["counts", "curve"])
@pytest.mark.parametrize("score", [1.0011, -5e-324, INFINITY, -INFINITY])
def test_what_is_beyond_by_more_is_none(kind, verb, score):
    df = pl.DataFrame({"truth": [True, False, True], "score": [score, 0.4, 0.6]})
    with pytest.raises(DataError, match="'score' has 1 row outside 0 to 1"):
        kind.rows(ask(kind, verb, df, thresholds=5))


# --- thresholds that are one -------------------------------------------------------------------


ONE = {
    "Float32": (pl.Float32, [0.0, 0.1, 0.1 + 1e-10], [0.0, 0.1]),
    "Float16": (pl.Float16, [0.0, 0.1, 0.1 + 1e-6], [0.0, 0.1]),
    "zeros": (pl.Float32, [-0.0, 1e-310, 0.1], [0.0, 0.1]),
    "below zero": (pl.Float32, [-1e-310, 0.0, 0.1], [0.0, 0.1]),
    "beyond": (pl.Float32, [0.0, 0.1, 1e300, 1e301], [0.0, 0.1, INFINITY]),
}
ONE_BY_VERB = [(verb, *ONE["Float32"]) for verb in BINNING] + [
    ("curve", *one) for name, one in ONE.items() if name != "Float32"
]


@every_kind
@pytest.mark.parametrize(("verb", "dtype", "thresholds", "merged"), ONE_BY_VERB)
def test_thresholds_that_are_one_in_the_dtype_of_the_score_are_merged(
    kind, verb, dtype, thresholds, merged
):
    if kind.name == "pandas" and dtype == pl.Float16:
        pytest.skip("pandas has no Float16 of Polars")
    df = ROWS.cast({"score": dtype})
    found, expected = (kind.rows(ask(kind, verb, df, thresholds=at)) for at in (thresholds, merged))
    assert_frame_equal(found, expected)
    if verb == "curve":
        reported = found["threshold"].to_list()[1:]
        held = pl.Series(merged, dtype=found.schema["threshold"])
        assert list(map(str, reported)) == list(map(str, reversed(held.to_list())))


@every_polars_kind
def test_more_thresholds_than_float16_has_numbers_are_as_many_as_it_has(kind):
    df = ROWS.cast({"score": pl.Float16})
    curve = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", thresholds=10_001))
    held = pl.Series([place / 10_000 for place in range(10_001)]).cast(pl.Float16).n_unique()
    assert curve.height == curve["threshold"].n_unique() == held + 1 < 10_001


@every_kind
def test_operating_points_have_a_row_for_each_threshold_asked_for(kind):
    df = ROWS.cast({"score": pl.Float32})
    asked = [0.1, 0.1 + 1e-10, -0.0, 1e-310]
    points = kind.rows(
        frame_prc.operating_points(kind.make(df), "truth", "score", threshold=asked, details=True)
    )
    assert points["target_value"].to_list() == asked
    held = pl.Series([0.1, 0.1, 0.0, 0.0], dtype=points.schema["threshold"]).to_list()
    assert list(map(str, points["threshold"])) == list(map(str, held))


# --- adding up ---------------------------------------------------------------------------------


@every_kind
def test_too_many_thresholds_are_an_error_at_the_call(kind):
    for thresholds in (1_000_001, range(1_000_001)):
        with pytest.raises(OptionError, match=r"1000001 thresholds. Allowed: up to 1000000"):
            frame_prc.counts(kind.make(ROWS), "truth", "score", thresholds=thresholds)


# --- thresholds that share out the rows --------------------------------------------------------


@every_kind
@pytest.mark.parametrize("number", [1, 0, 2.5, "ten", True])
def test_what_is_no_number_of_thresholds_is_an_error(kind, number):
    with pytest.raises(OptionError, match=r"number=.* is out of range"):
        frame_prc.quantile_thresholds(kind.make(ROWS), "score", number)
