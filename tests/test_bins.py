"""Counts in bins, counts of parts added up, and how far off what bins give can be."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import product

import optional
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import TYPES, every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import DYADIC_WEIGHTS, FLOAT_WEIGHTS, INFINITY, SCORES, frames

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError

COVERING = [-INFINITY, -0.5, 0.0, 0.25, 0.3, 1.0]
ROWS = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, 0.1]})
PARTS = ["pos", "neg"]


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


# --- counting --------------------------------------------------------------------------------


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
    assert counts.select("threshold", "pos", "neg").rows() == [
        (score, int(truth), int(not truth)) for truth, score in reversed(df.rows())
    ]
    points = frame_prc.operating_points(kind.make(df), "truth", "score", threshold=[0.7, 0.6])
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


@every_kind
def test_bins_of_float32_scores_have_their_dtype(kind):
    df = ROWS.cast({"score": pl.Float32})
    counts = kind.rows(frame_prc.counts(kind.make(df), "truth", "score", thresholds=[0, 0.5]))
    assert counts.schema["threshold"] == counts.schema["below"] == pl.Float32


@every_kind
def test_several_models_are_binned_each_by_its_score(kind):
    df = ROWS.with_columns(other=1 - pl.col("score"))
    counts = frame_prc.counts(kind.make(df), "truth", ["score", "other"], thresholds=[0, 0.5])
    assert kind.rows(counts).select("model", "threshold", *PARTS).rows() == [
        ("other", 0.5, 1, 1),
        ("other", 0.0, 1, 0),
        ("score", 0.5, 1, 0),
        ("score", 0.0, 1, 1),
    ]


# --- a number of thresholds is for probabilities -----------------------------------------------


LOGITS = pl.DataFrame({"truth": [True, False, True, False], "score": [-2.5, 0.5, 3.0, -2.5]})
BINNING = {
    "counts": {},
    "curve": {},
    "average_precision": {},
    "interval": {"ci": 0.9},
    "clusters": {"ci": 0.9, "cluster": "user"},
    "bootstrap": {"ci": 0.9, "ci_method": "bootstrap", "replicates": 3, "seed": 1},
    "macro": {"by": "user", "over": "user", "average": "macro"},
    "micro": {"by": "user", "over": "user", "average": "micro"},
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
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Decimal(9, 2)], ids=str)
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
def test_each_model_is_held_to_probabilities_by_the_rows_it_keeps(kind):
    df = LOGITS.with_columns(other=pl.Series([None, 0.2, 0.8, 0.4]))
    asked = {"missing": "drop", "thresholds": 3}
    with pytest.raises(DataError, match="'score' has 3 rows outside"):
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
def test_a_curve_of_merged_thresholds_can_be_drawn(kind):
    df = ROWS.cast({"score": pl.Float32})
    curve = frame_prc.curve(kind.make(df), "truth", "score", thresholds=[0.1, 0.1 + 1e-10])
    optional.require_module("altair")
    assert frame_prc.plot(curve).to_dict()


@every_kind
def test_operating_points_have_a_row_for_each_threshold_asked_for(kind):
    df = ROWS.cast({"score": pl.Float32})
    asked = [0.1, 0.1 + 1e-10, -0.0, 1e-310]
    points = kind.rows(frame_prc.operating_points(kind.make(df), "truth", "score", threshold=asked))
    assert points["target"].to_list() == asked
    held = pl.Series([0.1, 0.1, 0.0, 0.0], dtype=points.schema["threshold"]).to_list()
    assert list(map(str, points["threshold"])) == list(map(str, held))


# --- adding up -------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("thresholds", [None, COVERING], ids=["exact", "binned"])
@given(data=st.data(), df=frames())
def test_merged_counts_are_those_of_the_whole(kind, thresholds, data, df):
    part = data.draw(st.lists(st.integers(0, 2), min_size=df.height, max_size=df.height))
    asked = {"by": ["segment", "week"], "thresholds": thresholds}
    parts = [df.filter(pl.Series(part, dtype=pl.Int64) == i) for i in range(3)]
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(kind.make(p), "truth", "score", **asked) for p in parts)
    )
    whole = frame_prc.counts(kind.make(df), "truth", "score", **asked)
    assert type(merged) is TYPES[kind.name]
    assert_frame_equal(kind.rows(merged), kind.rows(whole), check_dtypes=kind.name != "pandas")


@every_kind
@given(data=st.data(), df=frames(weights=FLOAT_WEIGHTS))
def test_areas_of_merged_weights_are_those_of_the_whole(kind, data, df):
    first = data.draw(st.lists(st.booleans(), min_size=df.height, max_size=df.height))
    asked = {"by": "segment", "weight": "weight"}
    parts = [df.filter(pl.Series(first, dtype=pl.Boolean) == half) for half in (True, False)]
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(kind.make(p), "truth", "score", **asked) for p in parts)
    )
    both = (
        frame_prc.average_precision(merged, score="threshold", pos="pos", neg="neg", by="segment"),
        frame_prc.average_precision(kind.make(df), "truth", "score", **asked),
    )
    found, expected = map(kind.rows, both)
    assert_frame_equal(
        found, expected, rel_tol=1e-12, abs_tol=0, check_dtypes=kind.name != "pandas"
    )


@every_kind
def test_counts_of_one_frame_are_put_in_order(kind):
    shuffled = pl.DataFrame({"threshold": [0.1, None, 0.9, 0.1], "pos": [1, 5, 2, 1], "neg": 0})
    merged = kind.rows(frame_prc.merge_counts(kind.make(shuffled)))
    assert merged["threshold"].to_list() == [0.9, 0.1, None]
    assert merged["pos"].to_list() == [2, 2, 5]


EXACT = pl.DataFrame({"key": ["a"], "threshold": [0.5], "pos": [1], "neg": [1]})
BINNED = EXACT.with_columns(below=1.0)


@every_kind
@pytest.mark.parametrize(
    ("other", "says"),
    [
        (EXACT.drop("key"), "frame 2 and frame 1 differ in columns 'key'"),
        (BINNED, "frame 2 and frame 1 differ in columns 'below'.* all of them binned or none"),
        (
            EXACT.cast({"pos": pl.Float64}),
            "'pos' has dtype Float64 in frame 2 and Int64 in frame 1",
        ),
        (
            EXACT.cast({"key": pl.Enum(["a", "b"])}),
            r"'key' has dtype Enum.*'b'.* in frame 2 .*cast\(pl\.String\), or .*astype\(str\)",
        ),
        (EXACT.drop("neg"), "frame 2 has no column 'neg'. Allowed: counts"),
        (
            EXACT.cast({"pos": pl.String}),
            "column 'pos' of frame 2 has dtype String. Allowed: a numeric column",
        ),
    ],
    ids=["keys", "bins", "dtype", "categories", "no counts", "text"],
)
def test_what_does_not_add_up_is_an_error_at_the_call(kind, other, says):
    with pytest.raises(ColumnError, match=says):
        frame_prc.merge_counts(kind.make(EXACT), kind.make(other))


@every_kind
def test_rows_that_count_as_one_are_their_own_squares(kind):
    counts = frame_prc.counts(
        kind.make(ROWS), "truth", "score", thresholds=[0.0, 0.5], squares=True
    )
    found = kind.rows(counts)
    assert found.columns == ["threshold", "below", "pos", "neg", "pos_squares", "neg_squares"]
    assert found.select("pos_squares", "neg_squares").rows() == found.select(*PARTS).rows()


@every_kind
@pytest.mark.parametrize(
    ("amount", "says"),
    [(-1, "pos= column 'pos' has 1 row with -1"), (None, "values are missing: 'pos' has 1 row")],
)
def test_what_is_no_count_is_an_error_at_collect(kind, amount, says):
    other = EXACT.head(1).with_columns(pos=pl.lit(amount, EXACT.schema["pos"]))
    other = pl.concat([other, EXACT.tail(1)])
    first, second = kind.make(EXACT), kind.make(other)
    if kind.name == "pandas":  # which makes floats of integers beside a null
        first = first.astype({"pos": second["pos"].dtype})
    with pytest.raises(DataError, match=says):
        kind.rows(frame_prc.merge_counts(first, second))


@every_polars_kind  # NaN in pandas is a null: rows without a score
def test_a_threshold_that_is_nan_is_an_error_at_collect(kind):
    other = EXACT.with_columns(threshold=float("nan"))
    with pytest.raises(DataError, match="column 'threshold' has 1 row with NaN"):
        kind.rows(frame_prc.merge_counts(kind.make(EXACT), kind.make(other)))


@every_kind
def test_a_key_may_be_called_like_a_pattern(kind):
    key = "^pos|neg$"
    odd = kind.make(EXACT.rename({"key": key}))
    merged = kind.rows(frame_prc.merge_counts(odd, odd))
    expected = kind.rows(frame_prc.merge_counts(kind.make(EXACT), kind.make(EXACT)))
    assert_frame_equal(merged.rename({key: "key"}), expected)


@every_kind
@pytest.mark.parametrize("thresholds", [None, [0.0, 0.5]], ids=["exact", "binned"])
@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"pos_squares": [9.0, 1.0]}, "pos_squares= column 'pos_squares' has 1 row that cannot"),
        (
            {
                "pos": pl.Series([2**63, 1], dtype=pl.UInt64),
                "neg": [1, 1],
                "pos_squares": None,
                "neg_squares": None,
            },
            "pos= column 'pos' adds up to 9,223,372,036,854,77",
        ),
    ],
    ids=["squares", "beyond"],
)
def test_amounts_that_cannot_be_are_an_error_in_bins_as_well(kind, thresholds, columns, says):
    df = pl.DataFrame({"score": [0.2, 0.7], "pos": [2.0, 1.0], "neg": [1.0, 1.0]})
    squares = {"pos_squares": [2.0, 1.0], "neg_squares": [1.0, 1.0]} | columns
    df = df.with_columns(
        **{n: pl.Series(c, strict=False) for n, c in squares.items() if c is not None}
    )
    asked = {name: name for name in ("pos", "neg", "score", "pos_squares") if name in df.columns}
    asked |= {"neg_squares": "neg_squares"} if "pos_squares" in asked else {}
    with pytest.raises(DataError, match=says):
        kind.rows(kind.make(df).prc.average_precision(**asked, thresholds=thresholds))


@every_kind
def test_bins_that_overlap_are_an_error_at_collect(kind):
    others = [BINNED.with_columns(threshold=0.75), BINNED.with_columns(below=0.75)]
    for other in others:
        with pytest.raises(DataError, match=r"overlaps .* Allowed: counts in the same bins"):
            kind.rows(frame_prc.merge_counts(kind.make(BINNED), kind.make(other)))


def test_frames_of_different_kinds_are_not_added_up():
    with pytest.raises(FrameError, match=r"different kinds: .*DataFrame and .*LazyFrame"):
        frame_prc.merge_counts(EXACT, EXACT.lazy())
    with pytest.raises(OptionError, match="no counts are given"):
        frame_prc.merge_counts()
    with pytest.raises(FrameError, match=r"a list of them\. .*merge_counts\(\*frames\)"):
        frame_prc.merge_counts([EXACT])


@every_kind
def test_scores_below_all_bins_are_an_error_at_collect(kind):
    says = "'score' has 2 rows below the lowest threshold 0.5: 0.1, 0.4. Allowed: thresholds"
    with pytest.raises(DataError, match=says):
        kind.rows(frame_prc.counts(kind.make(ROWS), "truth", "score", thresholds=[0.5, 0.7]))


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
            ("score", 3.0, INFINITY, 2, 1),
        ]
    # A row that one model drops is held against the thresholds of the other.
    low = df.with_columns(score=pl.Series([5.0, -1.0, 4.0, 2.0]))
    for order in (models, models[::-1]):
        with pytest.raises(DataError, match=r"'score' has 1 row below the lowest .* 3.0: 2.0"):
            kind.rows(frame_prc.counts(kind.make(low), "truth", order, **asked))


@every_kind
def test_too_many_thresholds_are_an_error_at_the_call(kind):
    for thresholds in (1_000_001, range(1_000_001)):
        with pytest.raises(OptionError, match=r"1000001 thresholds. Allowed: up to 1000000"):
            frame_prc.counts(kind.make(ROWS), "truth", "score", thresholds=thresholds)


# --- how far off -----------------------------------------------------------------------------


def areas_of_all_orders(bins, unreached):
    """Return every average precision that rows can have within their bins, ties included."""
    truths = [[True] * pos + [False] * neg for pos, neg in bins]
    never = [
        oracle.Row(truth, None)
        for truth, n in zip((True, False), unreached, strict=True)
        for _ in range(n)
    ]
    for places in product(*(product(range(pos + neg), repeat=pos + neg) for pos, neg in bins)):
        rows = [
            oracle.Row(truth, -10 * level - place)
            for level, (row_truths, within) in enumerate(zip(truths, places, strict=True))
            for truth, place in zip(row_truths, within, strict=True)
        ]
        yield oracle.average_precision([*rows, *never])


@every_kind
@pytest.mark.parametrize(
    "bins",
    [[(1, 1), (1, 1)], [(2, 1)], [(1, 2), (1, 0)], [(0, 2), (2, 1)], [(3, 0), (0, 1)]],
    ids=str,
)
@pytest.mark.parametrize("unreached", [(0, 0), (1, 1)], ids=str)
def test_bounds_hold_for_every_order_within_bins(kind, bins, unreached):
    """Rows that no threshold reaches are never retrieved, in the bounds as in the area."""
    counted = [
        {"truth": truth, "score": 1.0 - level}
        for level, amounts in enumerate([*bins, unreached])
        for truth, amount in zip((True, False), amounts, strict=True)
        for _ in range(amount)
    ]
    thresholds = [1.0 - level for level in reversed(range(len(bins)))]
    df = pl.DataFrame(counted)
    row = kind.rows(
        frame_prc.average_precision(kind.make(df), "truth", "score", thresholds=thresholds)
    ).row(0, named=True)
    areas = sorted(set(areas_of_all_orders(bins, unreached)))
    assert row["ap_highest"] == pytest.approx(float(areas[-1]), rel=1e-12)
    # The integral stands for a sum; at so few rows they differ most.
    assert float(areas[0]) - 0.02 < row["ap_lowest"] <= float(areas[0]) + 1e-12
    assert row["ap_lowest"] <= row["average_precision"] <= row["ap_highest"]


@every_kind
@given(df=frames(scores=st.floats(0, 1)), number=st.sampled_from([2, 3, 9]))
def test_exact_average_precision_lies_within_the_bounds_of_its_bins(kind, df, number):
    exact, binned = (
        kind.rows(
            frame_prc.average_precision(
                kind.make(df), "truth", "score", by="segment", thresholds=at
            )
        )
        for at in (None, number)
    )
    both = exact.join(binned, on="segment", nulls_equal=True, suffix="_binned")
    area = pl.col("average_precision")
    within = (pl.col("ap_lowest") <= area + 1e-12) & (area <= pl.col("ap_highest") + 1e-12)
    assert both.height == exact.height
    assert both.select(within.fill_null(area.is_null()).all()).item()


# Two that cover no score below them, one that covers all, and two numbers.
SOME_THRESHOLDS = st.sampled_from([[0.25, 0.5], [2.0], [-INFINITY, 0.3], 2, 5])


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("counted", [False, True], ids=["rows", "counts"])
@given(
    data=st.data(), thresholds=SOME_THRESHOLDS, missing=st.sampled_from(["raise", "unretrieved"])
)
def test_bounds_hold_for_the_average_precision_beside_them(
    kind, weights, counted, data, thresholds, missing
):
    places = range(thresholds) if isinstance(thresholds, int) else None
    scores = SCORES if places is None else st.floats(0, 1)
    df = data.draw(frames(scores if missing == "raise" else scores | st.none(), weights))
    frame, asked = kind.make(df), {"by": "segment", "missing": missing}
    columns = {"truth": "truth", "score": "score", "weight": None if weights is None else "weight"}
    if counted:
        frame = frame_prc.counts(frame, **columns, **asked)
        columns = {"score": "threshold", "pos": "pos", "neg": "neg"}
    found = kind.rows(
        frame_prc.average_precision(frame, **columns, **asked, thresholds=thresholds, bounds=True)
    )
    at = thresholds if places is None else [place / places[-1] for place in places]
    for (segment,), rows in segments(df, "segment").items():
        row = found.row(by_predicate=pl.col("segment").eq_missing(segment), named=True)
        lowest, area, highest = (
            row[name] for name in ("ap_lowest", "average_precision", "ap_highest")
        )
        if (in_bins := oracle.average_precision(oracle.binned(rows, at))) is None:
            assert lowest is area is highest is None
            continue
        assert area == pytest.approx(float(in_bins), rel=1e-12)
        assert lowest <= area <= highest
        # So they do for the exact scores, where none below the lowest threshold is retrieved.
        missed = [r._replace(score=None) for r in rows]
        reached = [r.score is not None and r.score >= at[0] for r in rows]
        kept = [r if reaches else m for r, m, reaches in zip(rows, missed, reached, strict=True)]
        exact = float(oracle.average_precision(kept))
        assert lowest - 1e-12 <= exact <= highest + 1e-12


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_bins_tell_their_bounds_too(kind, weighted):
    df = pl.DataFrame(
        {
            "truth": [row % 3 == 0 for row in range(60)],
            "score": [row * 7 % 60 / 60 for row in range(60)],
            "weight": [1.0 + row % 2 for row in range(60)],
        }
    )
    weight = "weight" if weighted else None
    asked = {"weight": weight, "thresholds": 5}
    counts = frame_prc.counts(kind.make(df), "truth", "score", **asked)
    from_counts = frame_prc.average_precision(
        counts, score="threshold", pos="pos", neg="neg", bounds=True
    )
    from_rows = frame_prc.average_precision(kind.make(df), "truth", "score", **asked)
    assert_frame_equal(kind.rows(from_counts), kind.rows(from_rows), rel_tol=1e-12)


@every_kind
def test_without_ties_nothing_is_open(kind):
    row = kind.rows(frame_prc.average_precision(kind.make(ROWS), "truth", "score", bounds=True))
    exact = float(Fraction(5, 6))
    assert row.select("average_precision", "ap_highest").row(0) == pytest.approx((exact, exact))
    assert exact - 0.02 < row["ap_lowest"].item() <= exact


@every_kind
def test_rows_never_found_are_no_open_question(kind):
    df = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, None]})
    row = kind.rows(
        frame_prc.average_precision(
            kind.make(df), "truth", "score", missing="unretrieved", bounds=True
        )
    )
    assert row["ap_highest"].item() == row["average_precision"].item() == 0.5


# --- thresholds that share out the rows ------------------------------------------------------


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


@every_kind
@pytest.mark.parametrize("number", [1, 0, 2.5, "ten", True])
def test_what_is_no_number_of_thresholds_is_an_error(kind, number):
    with pytest.raises(OptionError, match="is no number of thresholds"):
        frame_prc.quantile_thresholds(kind.make(ROWS), "score", number)


@every_kind
@pytest.mark.parametrize(
    ("verb", "thresholds"),
    [
        *(("summary", None), ("operating_points", None)),
        *product(["average_precision", "auc", "curve", "counts"], [None, [0.0, 0.5]]),
    ],
)
def test_bins_that_overlap_are_an_error_of_every_verb(kind, verb, thresholds):
    few, many = (ROWS.prc.counts("truth", "score", thresholds=number) for number in (3, 5))
    columns = {"score": "threshold", "pos": "pos", "neg": "neg"}
    options = columns | ({"thresholds": thresholds} if thresholds else {})
    options |= {"recall": 0.5} if verb == "operating_points" else {}
    ask = getattr(frame_prc, verb)
    with pytest.raises(DataError, match=r"overlaps .* Allowed: counts in the same bins"):
        kind.rows(ask(kind.make(pl.concat([few, many])), **options))
    # Other segments may have other bins, and all their rows together may not.
    apart = pl.concat([few.with_columns(key=pl.lit("few")), many.with_columns(key=pl.lit("many"))])
    assert kind.rows(ask(kind.make(apart), by="key", **options)).height >= 2
    with pytest.raises(DataError, match="overlaps"):
        kind.rows(ask(kind.make(apart), **options))
    # Without the column that says where they end they are scores as any others.
    kind.rows(ask(kind.make(pl.concat([few, many]).drop("below")), **options))


@every_kind
def test_bins_that_overlap_are_an_error_of_a_pooled_average(kind):
    few, many = (ROWS.prc.counts("truth", "score", thresholds=number) for number in (3, 5))
    parts = [few.with_columns(key=pl.lit("few")), many.with_columns(key=pl.lit("many"))]
    apart = pl.concat(parts).with_columns(site=pl.lit("a"))
    asked = {"score": "threshold", "pos": "pos", "neg": "neg", "by": ["key", "site"]}
    frame = kind.make(apart)
    kind.rows(frame_prc.average_precision(frame, **asked, over="key", average="macro"))
    with pytest.raises(DataError, match="overlaps"):
        kind.rows(frame_prc.average_precision(frame, **asked, over="key", average="micro"))
