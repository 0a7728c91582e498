"""Segments against chance: p-values of permuted labels, against all orders of the labels."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import ROWS, compared
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import INTEGER_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import Draws, OptionError
from frame_prc._inference import permutations

MANY = 20_000
COLUMNS = ["reference", "n", "n_pos", "value_a", "value_b", "difference", "p_value", "status"]
RANDOM = {"against": "random", "permutations": Draws(seed=3)}
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-12}


def share_of_orders(df, weight=None, score="old"):
    """Return the share of all orders of the labels whose area is at least the observed one."""
    weights = [Fraction(w) for w in df[weight]] if weight else [Fraction(1)] * df.height

    def area(positives):
        rows = zip(range(df.height), df[score], weights, strict=True)
        return oracle.average_precision(
            [oracle.Row(place in positives, value, w) for place, value, w in rows]
        )

    places = [place for place, truth in enumerate(df["truth"]) if truth]
    observed = area(places)
    areas = [area(chosen) for chosen in combinations(range(df.height), len(places))]
    return sum(a >= observed for a in areas) / len(areas)


def assert_near(p_value, share, replicates=MANY):
    """Show that a p-value is that share of draws, within five of its standard errors."""
    error = sqrt(share * (1 - share) / replicates)
    assert p_value == pytest.approx(share, abs=5 * error + 1 / replicates)


def test_no_p_value_is_below_one_in_the_draws_and_the_rows_themselves():
    df = pl.DataFrame({"truth": [1] * 30 + [0] * 30, "score": range(60, 0, -1)})
    found = frame_prc.compare_segments(
        df, "truth", "score", **RANDOM | {"permutations": Draws(19, seed=3)}
    )
    assert found["p_value"].item() == 1 / 20


# How the replicates are drawn, by the limits at which the fastest way changes.
WAYS = {
    "cells": {},
    "cells one by one": {"_ROWS_PER_CELL": 0},
    "positives": {"_MANY_CELLS": 0, "_CELLS_PER_POSITIVE": 0},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("score", ["old", "new", "third"])
def test_p_value_is_the_share_of_all_orders_of_the_labels(monkeypatch, way, weight, score):
    for name, value in way.items():
        monkeypatch.setattr(permutations, name, value)
    df = ROWS.filter(pl.col("region").eq_missing(pl.lit("n")))
    found = frame_prc.compare_segments(
        df, "truth", score, weight=weight, **RANDOM | {"permutations": Draws(MANY, seed=3)}
    )
    share = share_of_orders(df, weight, score)
    assert 0.02 < share < 0.99
    assert_near(found["p_value"].item(), share)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_rows_that_are_never_retrieved_hold_labels_too(monkeypatch, way, weight):
    for name, value in way.items():
        monkeypatch.setattr(permutations, name, value)
    df = ROWS.head(7).with_columns(old=pl.when(pl.col("old") > 0.3).then("old"))
    asked = {
        "missing": "unretrieved",
        "weight": weight,
        **RANDOM,
        "permutations": Draws(MANY, seed=3),
    }
    found = frame_prc.compare_segments(df, "truth", "old", **asked)
    assert_near(found["p_value"].item(), share_of_orders(df, weight))


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_row_has_the_areas_of_summary(kind, weight):
    asked = {"by": "region", "weight": weight}
    result = compared(kind, ROWS, ("new", "old"), **asked, **RANDOM)
    assert result.columns == ["model", "region", *COLUMNS]
    wanted = frame_prc.summary(ROWS, "truth", ["new", "old"], **asked, details=True)
    expected = wanted.select(
        "model",
        "region",
        "n",
        "n_pos",
        value_a="average_precision",
        value_b="random_average_precision",
    )
    assert_frame_equal(result.select(expected.columns), expected, **ROUNDED)
    difference = (result["value_a"] - result["value_b"]).to_list()
    assert result["difference"].to_list() == pytest.approx(difference, abs=1e-15)
    assert result["reference"].to_list() == ["random"] * 6
    assert result["p_value"].is_between(1 / 1001, 1).all()


@every_kind
def test_without_both_classes_there_is_nothing_to_permute(kind):
    df = pl.DataFrame(
        {
            "k": ["both", "both", "neg", "neg", "pos", "pos", "lost"],
            "truth": [1, 0, 0, 0, 1, 1, 1],
            "old": [0.9, 0.1, 0.4, 0.3, 0.2, 0.1, None],
        }
    )
    result = compared(kind, df, "old", by="k", missing="drop", **RANDOM)
    expected = {
        "both": ("ok", False), "lost": ("empty", True),
        "neg": ("no_positives", True), "pos": ("no_negatives", True),
    }  # fmt: skip
    found = {k: (status, p is None) for k, status, p in result["k", "status", "p_value"].rows()}
    assert found == expected
    assert dict(result["k", "n_dropped"].rows()) == {"both": 0, "lost": 1, "neg": 0, "pos": 0}
    assert_near(result.filter(k="both")["p_value"].item(), 1 / 2, 1000)


# --- the same numbers --------------------------------------------------------------------------


@every_kind
@given(st.data())
def test_every_kind_and_row_order_gives_the_same_numbers(kind, data):
    df = data.draw(frames(SCORES_OR_NONE, INTEGER_WEIGHTS))
    asked = {
        "by": data.draw(st.sampled_from([None, "segment"])),
        "weight": data.draw(st.sampled_from([None, "weight"])),
        "missing": data.draw(st.sampled_from(["drop", "unretrieved"])),
        "permutations": Draws(20, seed=3),
        **RANDOM,
    }
    shuffled = df.sample(fraction=1, shuffle=True, seed=data.draw(st.integers(0, 9)))
    wanted = frame_prc.compare_segments(df, "truth", "score", **asked, details=True)
    found = compared(kind, shuffled, "score", **asked)
    assert_frame_equal(found, wanted, **ROUNDED, check_dtypes=kind.name != "pandas")


@every_kind
def test_a_segment_does_not_depend_on_the_others(kind):
    every = compared(kind, ROWS, ("new", "old"), by="region", **RANDOM)
    for row in every.iter_rows(named=True):
        segment = ROWS.filter(pl.col("region").eq_missing(pl.lit(row["region"])))
        alone = compared(kind, segment, row["model"], **RANDOM)
        assert alone["p_value"].item() == row["p_value"]


def test_what_does_not_change_the_test_does_not_change_the_draws():
    asked = {"by": "region", **RANDOM, "permutations": Draws(100, seed=3)}
    wanted = frame_prc.compare_segments(ROWS, "truth", "old", **asked)["p_value"].to_list()
    for change in (pl.col("old") ** 3, pl.col("old") - 7, pl.col("old").rank("dense")):
        found = frame_prc.compare_segments(ROWS, "truth", {"old": change}, **asked)
        assert found["p_value"].to_list() == wanted
    weighted = frame_prc.compare_segments(
        ROWS.with_columns(w=2.5), "truth", "old", weight="w", **asked
    )
    assert weighted["p_value"].to_list() == wanted


def test_segments_of_other_sizes_draw_other_orders():
    # With the same draws for all, the p-values of like segments would rise and fall together.
    df = pl.DataFrame({"row": range(60)}).with_columns(truth=pl.col("row") % 3 == 0, old="row")
    sizes = [
        frame_prc.compare_segments(df.head(n), "truth", "old", **RANDOM) for n in range(40, 60)
    ]
    assert len({p for table in sizes for p in table["p_value"]}) > 10


def test_seeds_differ_and_none_is_a_new_one_every_time():
    # A p-value is one of 1,000 numbers: those of twenty segments are not all the same by chance.
    df = pl.DataFrame({"row": range(1000)}).with_columns(truth=pl.col("row") % 3 == 0, old="row")
    df = df.with_columns(segment=(pl.col("row") // 7).pow(0.6).floor())
    asked = RANDOM | {"by": "segment"}
    p_values = [
        tuple(
            frame_prc.compare_segments(
                df, "truth", "old", **(asked | {"permutations": Draws(100, seed=seed)})
            )["p_value"]
        )
        for seed in (1, 2, None, None, 1)
    ]
    assert len(p_values[0]) == 20
    assert len(set(p_values)) == 4
    assert p_values[0] == p_values[-1]


def test_ties_of_the_statistic_are_hits_whatever_their_rounding():
    # The area depends on one number: how many of the 7 rows of the first tie are positive.
    df = pl.DataFrame({"truth": [1, 1, 1] + [0] * 18, "old": ([3.0] * 7 + [2.0] * 7 + [1.0] * 7)})
    exact = share_of_orders(df)
    found = frame_prc.compare_segments(
        df, "truth", "old", **RANDOM | {"permutations": Draws(MANY, seed=3)}
    )
    assert exact == pytest.approx(35 / 1330)
    assert_near(found["p_value"].item(), exact)


def test_p_values_are_uniform_if_labels_are_random():
    random = np.random.default_rng(0)
    n, segments = 60, 400
    df = pl.DataFrame(
        {
            "k": np.repeat(np.arange(segments), n),
            "truth": random.random(n * segments) < 0.2,
            "old": random.integers(0, 40, n * segments),
        }
    )
    found = frame_prc.compare_segments(
        df, "truth", "old", by="k", **RANDOM | {"permutations": Draws(199, seed=3)}
    )
    p_values = found["p_value"].drop_nulls()
    assert p_values.len() == segments
    for level in (0.05, 0.25, 0.5, 0.75):
        assert_near((p_values <= level).mean(), level, segments)


# --- errors ------------------------------------------------------------------------------------

WRONG = {
    "cluster": ({"cluster": "user"}, "cluster= is given with against='random'.*exchangeable"),
    "replicates": ({"permutations": 0}, "permutations=0 is out of range"),
    "seed": ({"permutations": Draws(seed=-1)}, "seed=-1 is not a seed"),
    "nothing drawn": (
        {"against": "rest", "by": "region", "permutations": 9},
        "permutations= is given, and nothing is permuted",
    ),
}


@every_kind
@pytest.mark.parametrize(("options", "says"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_said_at_the_call(kind, options, says):
    with pytest.raises(OptionError, match=says):
        compared(kind, ROWS, ("new", "old"), **{**RANDOM, **options})


WITHOUT = """
import sys
sys.modules["numpy"] = None
import polars as pl, frame_prc
rows = pl.DataFrame({"t": [1, 0, 1, 0], "s": [4, 3, 2, 1], "r": [4, 2, 3, 1], "k": 1})
ev = rows.prc.evaluate("t", ["s", "r"], by="k")
for ask in (
    lambda: ev.compare_segments(against="random"),
    lambda: ev.compare_models(over="k", permutations=9),
):
    try:
        ask()
    except frame_prc.OptionError as error:
        print(error)
"""


@pytest.mark.thorough
def test_numpy_is_asked_for_by_name():
    command = [sys.executable, "-W", "error", "-c", WITHOUT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    says = "a permutation test needs NumPy, which is not installed. Hint: pip install numpy."
    assert done.stdout.splitlines() == [says, says]
