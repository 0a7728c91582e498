"""Which rows to label: how many, how likely each is, and that weights make up for it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import BY, SCORES, frames

import frame_prc
from frame_prc import ColumnError, DataError, OptionError


def drawn(kind, df, n, score="score", **options):
    return kind.rows(frame_prc.sample_to_label(kind.make(df), score, n, **options))


def rows(n=400, seed=0):
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.1
    score = random.normal(size=n) + 2 * truth
    group = random.choice(["a", "b", "c"], n, p=[0.7, 0.25, 0.05])
    return pl.DataFrame({"case": range(n), "group": group, "truth": truth, "score": score})


@every_kind
@given(frames(SCORES), BY, st.integers(1, 15), st.integers(0, 5))
def test_each_segment_gives_so_many_rows_or_all(kind, df, by, n, seed):
    df = df.with_row_index("case").with_columns(pl.col("case").cast(pl.Int64))
    found = drawn(kind, df, n, by=by, seed=seed)
    assert found["case"].is_sorted()
    own = df.join(found.select("case"), on="case", how="semi", maintain_order="left")
    assert_frame_equal(found.select(df.columns), own, check_dtypes=False)
    keys = [by] if isinstance(by, str) else by or [pl.lit(1).alias("all")]
    for of_segment, expected in zip(
        found.group_by(keys, maintain_order=True).len().sort(pl.exclude("len"))["len"],
        df.group_by(keys).len().sort(pl.exclude("len"))["len"],
        strict=True,
    ):
        assert of_segment == min(n, expected)


@every_kind
def test_a_row_is_as_likely_as_the_root_of_its_rank_says(kind):
    df = rows().sort("score", descending=True)
    found = drawn(kind, df, 60)
    rank = np.searchsorted(-df["score"].to_numpy(), -found["score"].to_numpy()) + 1
    probability = found["inclusion_probability"].to_numpy()
    certain = probability == 1
    # The first k are certain, and the others share what is left of the 60.
    k = int(certain.sum())
    assert (rank[:k] == range(1, k + 1)).all()
    rest = sum(r**-0.5 for r in range(k + 1, 401))
    assert probability[~certain] == pytest.approx((60 - k) / rest * rank[~certain] ** -0.5)
    assert found["weight"].to_numpy() == pytest.approx(1 / probability)
    assert found["weight"].max() < 2 * 400 / 60


def test_over_many_draws_the_weights_add_up_to_all_rows():
    df, seeds = rows(), range(250)
    found = [frame_prc.sample_to_label(df, "score", 40, seed=seed) for seed in seeds]
    counted = (
        pl.concat(found).group_by("case").agg(pl.len(), pl.col("inclusion_probability").first())
    )
    expected = counted["inclusion_probability"] * len(seeds)
    assert ((counted["len"] - expected).abs() < 5 * expected.sqrt() + 1).all()
    positives = [rows_.filter("truth")["weight"].sum() for rows_ in found]
    error = np.std(positives) / math.sqrt(len(seeds))
    assert np.mean(positives) == pytest.approx(df["truth"].sum(), abs=4 * error)


def test_the_area_of_the_sample_is_that_of_all_rows_within_its_interval():
    # Of 40 populations; an even sample of 100 rows has 5 positives, and twice the error.
    even_cases = pl.col("truth") & (pl.col("case") % 2 == 0)
    populations = [rows(4000, seed).with_columns(truth=even_cases, of=seed) for seed in range(40)]
    asked = {"truth": "truth", "score": "score", "by": "of"}
    whole = frame_prc.average_precision(pl.concat(populations), **asked)["average_precision"]
    drawn = pl.concat(frame_prc.sample_to_label(df, "score", 100) for df in populations)
    first = pl.concat(df[:100] for df in populations)
    weighted = drawn.prc.average_precision(**asked, weight="weight", ci=0.95)
    even = first.prc.average_precision(**asked)
    errors = [((of["average_precision"] - whole) ** 2).mean() ** 0.5 for of in (weighted, even)]
    assert errors[0] < 0.6 * errors[1]
    covered = (weighted["ci_low"] <= whole) & (whole <= weighted["ci_high"])
    assert covered.mean() > 0.92


@every_kind
def test_several_models_share_a_sample_and_lower_scores_may_be_likelier(kind):
    df = rows().with_columns(other=-pl.col("score"), score=pl.col("score"))
    ends = drawn(kind, df, 100, ["score", "other"])["score"].abs().mean()
    assert ends > 1.3 * df["score"].abs().mean()
    turned = drawn(kind, df, 100, "other", ascending=True)
    assert_frame_equal(turned, drawn(kind, df, 100), check_dtypes=False)


@every_kind
@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"n": 0}, OptionError, "n=0 is out of range. Allowed: an integer of 1 or more"),
        ({"n": 0.1}, OptionError, "n=0.1 is out of range"),
        ({"n": 5, "seed": -1}, OptionError, "seed=-1 is not a seed"),
        ({"n": 5, "score": []}, OptionError, "score= names no column"),
        ({"n": 5, "score": "truht"}, ColumnError, "names 'truht'"),
        ({"n": 5, "score": "group"}, ColumnError, "numeric"),
        ({"n": 5, "score": "gap"}, DataError, "'gap' has 399 rows with null.*they have no rank"),
        ({"n": 5, "taken": "weight"}, ColumnError, "has a column 'weight', which the sample adds"),
    ],
)
def test_what_cannot_be_drawn_is_one_error(kind, asked, error, says):
    df = rows().with_columns(gap=pl.when(pl.col("case") == 0).then(1.5))
    if name := asked.pop("taken", None):
        df = df.with_columns(pl.lit(1.0).alias(name))
    with pytest.raises(error, match=says):
        drawn(kind, df, **asked)
