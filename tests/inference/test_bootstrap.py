"""The bootstrap: equal to the average over all samples there are, seeded, and kind to bad input."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import product

import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import BY, INTEGER_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import Draws, OptionError

MANY = 20_000
SEEDED = {"ci": 0.95, "bootstrap": Draws(50, seed=7)}
ROWS = pl.DataFrame(
    {
        "region": ["n"] * 6 + ["s"] * 5,
        "user": [1, 1, 2, 2, 3, 3, 1, 4, 4, 5, 5],
        "late": [True, False, True, False, False, True, True, False, False, True, False],
        "score": [0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.9, 0.8, 0.6, 0.5, 0.2],
        "w": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 0.5],
    }
)
FIVE = ROWS.head(5)


def average_precision(frame, **asked):
    return frame_prc.average_precision(frame, "late", "score", **{**SEEDED, **asked}, details=True)


# --- all samples there are ---------------------------------------------------------------------


def exact_rows(df, weight=None):
    weights = df[weight] if weight else [1] * df.height
    return [
        oracle.Row(truth, score, Fraction(weight))
        for truth, score, weight in zip(df["late"], df["score"], weights, strict=True)
    ]


def samples(groups):
    """Yield every sample with replacement of as many groups as there are."""
    for chosen in product(groups, repeat=len(groups)):
        yield [row for group in chosen for row in group]


def spread(drawn):
    """Return the standard deviation of the average precision over equally likely samples."""
    # Samples that hold the same rows have the same area.
    areas = Counter()
    for rows, times in Counter(tuple(sorted(rows, key=str)) for rows in drawn).items():
        if (area := oracle.average_precision(rows)) is not None:
            areas[area] += times
    total = sum(areas.values())
    mean = sum(area * times for area, times in areas.items()) / total
    return float(sum((area - mean) ** 2 * times for area, times in areas.items()) / total) ** 0.5


# The spread of 20,000 replicates is within 2.5 % of that of all samples, five times its own error.
CLOSE = {"rel": 0.025}


@pytest.mark.parametrize("weight", [None, "w"])
def test_rows_are_drawn_like_all_samples_of_rows(weight):
    exact = spread(samples([[row] for row in exact_rows(FIVE, weight)]))
    table = average_precision(FIVE, weight=weight, bootstrap=Draws(MANY, seed=7))
    assert table["std_error"].item() == pytest.approx(exact, **CLOSE)


@pytest.mark.parametrize("weight", [None, "w"])
def test_stratified_samples_keep_the_size_of_each_class(weight):
    rows = exact_rows(FIVE, weight)
    classes = [[[row] for row in rows if row.truth == truth] for truth in (True, False)]
    exact = spread(p + n for p in samples(classes[0]) for n in samples(classes[1]))
    table = average_precision(FIVE, weight=weight, bootstrap=Draws(MANY, seed=7, stratified=True))
    assert table["std_error"].item() == pytest.approx(exact, **CLOSE)


def test_clusters_are_drawn_as_a_whole():
    north = ROWS.filter(region="n")
    rows = exact_rows(north)
    exact = spread(samples([rows[:2], rows[2:4], rows[4:]]))
    table = average_precision(north, cluster="user", bootstrap=Draws(MANY, seed=7))
    assert table["std_error"].item() == pytest.approx(exact, **CLOSE)
    alone = average_precision(north, bootstrap=Draws(MANY, seed=7))["std_error"].item()
    assert abs(alone / exact - 1) > 0.1  # so that this test can fail


def test_unretrieved_rows_are_drawn_as_well():
    df = FIVE.with_columns(pl.when(pl.col("score") != 0.7).then("score").alias("score"))
    exact = spread(samples([[row] for row in exact_rows(df)]))
    table = average_precision(df, missing="unretrieved", bootstrap=Draws(MANY, seed=7))
    assert table["std_error"].item() == pytest.approx(exact, **CLOSE)


def test_many_rows_of_few_scores_spread_as_the_influence_says():
    # Drawn cell by cell, unlike the few rows above.
    counted = pl.DataFrame(
        {"score": [4, 3, 2, 1], "pos": [400, 300, 200, 100], "neg": [100, 900, 3000, 5000]}
    )
    asked = {"score": "score", "pos": "pos", "neg": "neg", "ci": 0.95}
    analytic = frame_prc.average_precision(counted, **asked, details=True)
    drawn = frame_prc.average_precision(
        counted, **{**SEEDED, **asked, "bootstrap": Draws(MANY, seed=7)}, details=True
    )
    wanted = pytest.approx(analytic["std_error"].item(), rel=0.03)
    assert drawn["std_error"].item() == wanted


# --- the same numbers --------------------------------------------------------------------------


def test_tied_rows_of_other_weights_are_drawn_in_one_order():
    df = pl.DataFrame({"late": [True, False] * 6, "score": 0.5, "w": range(1, 13)})
    backwards = average_precision(df.reverse(), weight="w")
    assert_frame_equal(backwards, average_precision(df, weight="w"), rel_tol=1e-12)


@every_kind
@given(st.data(), BY)
def test_every_kind_and_row_order_gives_the_same_numbers(kind, data, by):
    df = data.draw(frames(SCORES_OR_NONE, INTEGER_WEIGHTS)).rename({"truth": "late"})
    weight = data.draw(st.sampled_from([None, "weight"]))
    cluster = data.draw(st.sampled_from([None, "other"])) if weight is None else None
    asked = {"by": by, "missing": "drop", "weight": weight, "cluster": cluster}
    df = df.drop_nulls("other")
    shuffled = df.sample(fraction=1, shuffle=True, seed=data.draw(st.integers(0, 9)))
    wanted = average_precision(df, **asked)
    result = kind.rows(average_precision(kind.make(shuffled), **asked))
    assert_frame_equal(result, wanted, rel_tol=1e-12, check_dtypes=kind.name != "pandas")


@every_kind
def test_a_segment_does_not_depend_on_the_others(kind):
    every = kind.rows(average_precision(kind.make(ROWS), by="region"))
    for number, region in enumerate(["n", "s"]):
        alone = average_precision(kind.make(ROWS.filter(region=region)), by="region")
        assert_frame_equal(kind.rows(alone), every[number], rel_tol=1e-12, abs_tol=0)


@every_kind
def test_counts_give_what_rows_give(kind):
    counted = frame_prc.counts(ROWS, "late", "score", by="region")
    roles = {"score": "threshold", "pos": "pos", "neg": "neg"}
    result = frame_prc.average_precision(
        kind.make(counted), by="region", details=True, **roles, **SEEDED
    )
    wanted = average_precision(kind.make(ROWS), by="region")
    assert_frame_equal(kind.rows(result), kind.rows(wanted), rel_tol=1e-12, abs_tol=0)


def test_thresholds_bin_what_is_drawn():
    # The area is a sum over threads in any order; what is drawn is the same to the last bit.
    binned = ROWS.with_columns(score=pl.when(pl.col("score") >= 0.5).then(0.5).otherwise(0.0))
    found = average_precision(ROWS, thresholds=[0.0, 0.5]).drop("ap_lowest", "ap_highest")
    assert_frame_equal(found, average_precision(binned), rel_tol=1e-12, abs_tol=0)


def test_seeds_differ_and_none_is_a_new_one_every_time():
    errors = [
        average_precision(ROWS, bootstrap=Draws(50, seed))["std_error"].item()
        for seed in (1, 2, None, None, 1)
    ]
    assert len(set(errors)) == 4
    assert errors[0] == errors[-1]


@every_polars_kind
def test_every_collect_of_a_lazy_frame_gives_the_same(kind):
    result = average_precision(kind.make(ROWS), by="region")
    assert_frame_equal(kind.rows(result), kind.rows(result))


def test_interval_is_the_same_as_by_the_influence_but_for_its_standard_error():
    """Percentiles cover less: see tests/benchmarks/bootstrap.py."""
    drawn = average_precision(ROWS).row(0, named=True)
    analytic = frame_prc.average_precision(ROWS, "late", "score", ci=0.95, details=True).row(
        0, named=True
    )
    ratio = drawn["std_error"] / analytic["std_error"]
    assert ratio != 1
    rows = (drawn, analytic)
    widths = [logit(row["ci_high"]) - logit(row["average_precision"]) for row in rows]
    assert widths[0] / widths[1] == pytest.approx(ratio, rel=1e-9)


def logit(share):
    return math.log(share / (1 - share))


# --- nothing to draw ---------------------------------------------------------------------------


@every_kind
def test_without_positives_there_is_no_spread(kind):
    rows = pl.concat([ROWS, ROWS.filter(~pl.col("late")).with_columns(region=pl.lit("x"))])
    table = kind.rows(average_precision(kind.make(rows), by="region"))
    assert table["status"].to_list() == ["few_positives", "few_positives", "no_positives"]
    assert table["std_error"].is_null().to_list() == [False, False, True]
    assert table["ci_low"].is_null().to_list() == [False, False, True]


def test_few_replicates_tell_no_more_than_as_few_rows():
    # Student's t of a variance of two has one degree of freedom.
    few, many = (average_precision(ROWS, bootstrap=Draws(n, seed=1)) for n in (2, 2000))
    half = few.select((pl.col("ci_high") - pl.col("ci_low")) / pl.col("std_error")).item()
    wide = many.select((pl.col("ci_high") - pl.col("ci_low")) / pl.col("std_error")).item()
    assert half > 2 * wide


def test_one_replicate_or_one_cluster_has_no_spread():
    assert average_precision(ROWS, bootstrap=1)["std_error"].to_list() == [None]
    assert average_precision(ROWS.with_columns(user=1), cluster="user")["std_error"].item() is None


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"bootstrap": 0}, r"bootstrap=0 .* Allowed: an integer from 1 to 1,000,000"),
        ({"bootstrap": -5}, r"bootstrap=-5"),
        ({"bootstrap": Draws(2.5)}, r"bootstrap=2.5"),
        ({"bootstrap": True}, r"bootstrap=True"),
        ({"bootstrap": Draws(seed="a")}, r"seed='a' is not a seed"),
        ({"bootstrap": Draws(seed=1.5)}, r"seed=1.5"),
        ({"bootstrap": Draws(seed=-1)}, r"seed=-1"),
        ({"bootstrap": Draws(stratified=1)}, r"stratified=1 is not an option"),
        (
            {"bootstrap": Draws(stratified=True), "cluster": "user"},
            r"stratified=True is given with cluster=",
        ),
        ({"ci": 1.0}, r"ci=1.0 is not a level"),
        ({"ci": 95}, r"ci=95 is not a level.*ci=0.95"),
        ({"ci": None}, r"bootstrap= is given without ci="),
        ({"ci_method": "boyd"}, r"bootstrap= is given with ci_method='boyd'"),
        ({"ci_method": "bootstrap"}, r"is not an option.*bootstrap=1000 resamples the rows"),
    ],
    ids=str,
)
def test_options_out_of_range_are_errors_at_the_call(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        average_precision(kind.make(ROWS), **asked)


@every_kind
def test_sums_of_weights_cannot_be_drawn(kind):
    sums = kind.make(pl.DataFrame({"score": [2, 1], "pos": [1.5, 1.0], "neg": [0.5, 1.0]}))
    with pytest.raises(
        OptionError, match=r"a bootstrap needs counts of rows, and pos= and .*integer counts"
    ):
        frame_prc.average_precision(sums, score="score", pos="pos", neg="neg", **SEEDED)


# --- what it needs -----------------------------------------------------------------------------

WITHOUT = """
import sys
for name in {names!r}:
    sys.modules[name] = None
import polars as pl, frame_prc
rows = pl.DataFrame({{"t": [1, 0, 1, 0], "s": [4, 3, 2, 1]}})
try:
    asked = dict(details=True, ci=0.9, bootstrap=frame_prc.Draws(20, seed=1))
    print(rows.lazy().prc.average_precision("t", "s", **asked).collect()["std_error"][0] > 0)
except frame_prc.OptionError as error:
    print(error)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["numpy"], "a bootstrap needs NumPy, which is not installed. Hint: pip install numpy."),
        (["scipy", "pandas"], "True"),
    ],
    ids=["NumPy", "anything else"],
)
def test_numpy_is_all_it_needs(names, says):
    command = [sys.executable, "-W", "error", "-c", WITHOUT.format(names=names)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.startswith(says)
    assert done.stderr == ""
