"""Segments that lend each other strength: by quadrature, in all kinds of frame."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from scipy.stats import norm

import frame_prc
from frame_prc import OptionError
from frame_prc._inference.random_effects import shrunk as draws_of

RANDOM = np.random.default_rng(3)
SEGMENTS = 8
SIZES = [30, 60, 90, 120, 240, 480, 480, 960]
SEGMENT = np.repeat(np.arange(SEGMENTS), SIZES)
TRUTH = RANDOM.random(SEGMENT.size) < 0.25
HIGHER = np.linspace(0.6, 2.0, SEGMENTS)[SEGMENT]
ROWS = pl.DataFrame(
    {
        "segment": SEGMENT,
        "truth": TRUTH,
        "score": norm.cdf(RANDOM.standard_normal(SEGMENT.size) + HIGHER * TRUTH - 1),
        "other": RANDOM.random(SEGMENT.size),
    }
)
NUMBERS = ["shrunk", "ci_low", "ci_high", "share_of_mean", "probability_worst"]


def shrunk(kind, df=ROWS, score="score", **asked):
    asked = {"by": "segment", "details": True, **asked}
    return kind.rows(frame_prc.shrunk(kind.make(df), "truth", score, **asked))


def by_quadrature(y, v):
    """Return mean, share of the mean, and distribution of each true logit, on grids of both."""
    taus, thetas = np.linspace(0, 20, 2000), np.linspace(-8, 8, 801)
    weights, means, shares, densities = [], [], [], []
    for tau in taus:
        s = v + tau**2
        precision = sum(1 / s)
        mu = sum(y / s) / precision
        exponent = sum((y - mu) ** 2 / s)
        weights.append(math.exp(-exponent / 2) / math.sqrt(precision * math.prod(s)))
        share = v / s
        spread = np.sqrt(share * tau**2 + share**2 / precision)
        means.append(share * mu + (1 - share) * y)
        shares.append(share)
        densities.append(norm.cdf(thetas[:, None], means[-1], np.maximum(spread, 1e-9)))
    weight = np.array(weights) / sum(weights)
    return [np.tensordot(weight, np.array(part), 1) for part in (shares, densities)], thetas


@pytest.mark.parametrize("asked", [{"weight": "stands_for"}, {"calibrate": 0.003}], ids=str)
@pytest.mark.parametrize("size", [120, 300])
def test_negatives_that_stand_for_many_are_said_of_small_segments_too(size, asked):
    some = ROWS.filter(pl.int_range(pl.len()).over("segment") < size)
    sampled = some.with_columns(stands_for=pl.when(truth=0).then(100.0).otherwise(1.0))
    table = sampled.prc.shrunk("truth", "score", by="segment", **asked)
    assert table["status"].unique().to_list() == ["few_negatives"]


def test_draws_have_the_distribution_by_quadrature():
    estimates, variances = np.array([0.3, 0.5, 0.62, 0.7]), np.array([0.01, 0.002, 0.004, 0.003])
    rows = np.full(4, 1e9)  # so that no variance leans on the others
    found = draws_of(estimates, variances, rows)
    y = np.log(estimates / (1 - estimates))
    (shares, below), thetas = by_quadrature(y, variances / (estimates * (1 - estimates)) ** 2)
    assert found.shares == pytest.approx(shares, abs=0.02)
    for place in range(4):
        drawn = np.log(found.values[:, place] / (1 - found.values[:, place]))
        expected = np.interp(
            np.quantile(drawn, [0.025, 0.25, 0.5, 0.75, 0.975]), thetas, below[:, place]
        )
        assert expected == pytest.approx([0.025, 0.25, 0.5, 0.75, 0.975], abs=0.025)


def test_variances_of_few_rows_lean_on_those_of_the_others():
    same = np.full(4, 0.5)
    # Of the first the variance is known from 5 rows, and too small by chance; of the last not.
    rows = np.array([5.0, 100.0, 100.0, 100.0])
    estimates = same + np.array([0.2, 0.0, 0.1, -0.1])
    found = draws_of(estimates, np.array([1e-4, 0.002, 0.002, np.nan]), rows)
    assert found.shares[0] > found.shares[1]
    assert found.shares[3] == pytest.approx(found.shares[1], abs=0.02)


@every_kind
def test_small_segments_move_most_and_ranks_are_those_of_the_draws(kind):
    table = shrunk(kind, measure="average_precision")
    alone = ROWS.prc.average_precision("truth", "score", by="segment")
    assert table["value"].to_list() == pytest.approx(alone["average_precision"].to_list())
    assert table.select("n", "n_pos").rows() == alone.select("n", "n_pos").rows()
    assert table["probability_worst"].sum() == pytest.approx(1)
    assert table["probability_worst"].arg_max() == table["shrunk"].arg_min()
    shares = table["share_of_mean"].to_list()
    assert shares[0] > shares[4] > shares[7]
    for row in table.iter_rows(named=True):
        assert row["ci_low"] < row["shrunk"] < row["ci_high"]
        assert 1 <= row["rank_low"] <= row["rank_high"] <= SEGMENTS
    assert table["rank_low"][0] > 1 or table["rank_high"][0] == SEGMENTS
    assert (table["status"] == "ok").all()


@every_kind
def test_shown_columns_are_few_and_no_digit_depends_on_the_order_of_rows(kind):
    shown = kind.rows(frame_prc.shrunk(kind.make(ROWS), "truth", "score", by="segment"))
    assert shown.columns == [
        "segment", "n_pos", "value", "shrunk", "ci_low", "ci_high", "probability_worst", "status",
    ]  # fmt: skip
    assert shrunk(kind, calibrate=0.2)["reference_prevalence"].unique().to_list() == [0.2]
    assert "reference_prevalence" not in shrunk(kind, measure="roc_auc").columns
    below = shrunk(kind, below=0.5, details=False)
    assert below.columns == [*shown.columns[:6], "probability_below", "status"]
    assert_frame_equal(below.drop("probability_below"), shown.drop("probability_worst"))
    for ends in pairwise(below.sort("shrunk")["probability_below"].to_list()):
        assert ends[0] >= ends[1] - 0.15
    shuffled = kind.rows(
        frame_prc.shrunk(
            kind.make(ROWS.sample(fraction=1, shuffle=True, seed=1)), "truth", "score", by="segment"
        )
    )
    assert_frame_equal(shuffled, shown, check_exact=True)


@every_polars_kind
def test_each_model_is_alone_and_of_losses_the_highest_is_worst(kind):
    both = shrunk(kind, score=["score", "other"], measure="brier", below=0.2)
    for model in ("score", "other"):
        own = shrunk(kind, score=model, measure="brier", below=0.2)
        assert_frame_equal(both.filter(model=model).drop("model"), own)
    row = both.filter(model="score").sort("shrunk")
    assert row["probability_worst"].arg_max() >= SEGMENTS - 2
    assert row["probability_below"][0] > row["probability_below"][-1]
    correlation = shrunk(kind, measure="mcc", at={"threshold": 0.5}, below=0.0)
    assert (correlation["probability_below"] < 0.5).all()
    assert correlation["shrunk"].is_between(-1, 1).all()


@every_kind
def test_what_has_no_value_or_too_few_beside_it_says_so(kind):
    odd = ROWS.with_columns(truth=pl.col("truth") & (pl.col("segment") != 2))
    table = shrunk(kind, odd)
    assert table.filter(segment=2).select("value", "shrunk", "status").row(0) == (
        None, None, "no_positives",
    )  # fmt: skip
    assert table.drop_nulls("shrunk").height == SEGMENTS - 1
    two = shrunk(kind, ROWS.filter(pl.col("segment") > 5))
    assert two["status"].to_list() == ["few_segments"] * 2
    assert two.select(NUMBERS).rows() == [(None,) * len(NUMBERS)] * 2
    perfect = shrunk(kind, ROWS.with_columns(score=pl.col("truth") + 0.9 * pl.col("score")))
    assert set(perfect["status"]) == {"no_std_error"}
    ranked = pl.when(segment=0).then(pl.col("truth") + 0.9 * pl.col("score")).otherwise("score")
    first = shrunk(kind, ROWS.with_columns(score=ranked))
    assert first.filter(segment=0)["status"].to_list() == ["few_positives"]
    assert set(first.filter(pl.col("segment") != 0)["status"]) == {"ok"}
    tied = shrunk(kind, ROWS.with_columns(score=pl.lit(0.5)))
    assert tied["status"].to_list() == ["no_std_error"] * SEGMENTS
    assert tied.select(NUMBERS).null_count().row(0) == (SEGMENTS,) * len(NUMBERS)


@every_polars_kind
def test_a_segment_without_negatives_moves_no_other(kind):
    certain = ROWS.filter("truth").with_columns(segment=pl.lit(99, pl.Int64))
    asked = {"measure": "average_precision"}
    both = shrunk(kind, pl.concat([ROWS, certain]), **asked)
    assert_frame_equal(both.filter(pl.col("segment") != 99), shrunk(kind, ROWS, **asked))
    assert both.filter(segment=99).select("shrunk", "status").row(0) == (None, "no_negatives")


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_losses_of_any_size_stay_among_the_values(measure):
    """A loss is no share of hits: half a row from 0 is far from it where losses are small."""
    random = np.random.default_rng(0)
    sizes = np.array([6, 100, 200, 1000, 3000, 3000])
    score = random.beta(0.6, 1.4, sizes.sum()) / 5
    df = pl.DataFrame({"segment": np.repeat(np.arange(6), sizes), "score": score})
    df = df.with_columns(truth=pl.Series(random.random(sizes.sum()) < score))
    table = df.prc.shrunk("truth", "score", by="segment", measure=measure).drop_nulls("shrunk")
    large = table.filter(pl.col("segment") > 0)
    assert large.height == 5
    assert large["shrunk"].min() >= table["value"].min()
    assert large["shrunk"].max() <= table["value"].max()


@every_kind
def test_rows_that_are_dropped_are_counted(kind):
    holes = ROWS.with_columns(score=pl.when(pl.int_range(pl.len()) % 10 > 0).then("score"))
    table = shrunk(kind, holes, missing="drop")
    assert table["n_dropped"].sum() == math.ceil(ROWS.height / 10)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": None}, "by= is not given"),
        ({"below": "low"}, "below='low' is not a value.*below=0.3"),
        ({"measure": "recall"}, "without at="),
        (
            {"measure": "calibration_gap"},
            "of which neither a higher value nor a lower one is better",
        ),
        ({"by": [["segment"], []]}, "groupings"),
    ],
)
def test_errors(asked, words):
    with pytest.raises(OptionError, match=words):
        frame_prc.shrunk(ROWS, "truth", "score", **{"by": "segment", **asked})


@pytest.mark.parametrize("overall", [False, True])
@every_polars_kind
def test_a_scorecard_has_the_same_numbers(kind, overall):
    asked = {"by": "segment", "shrink": True, "overall": overall, "details": True}
    card = kind.rows(frame_prc.summary(kind.make(ROWS), "truth", "score", **asked))
    if overall:
        alone = card.filter(pl.col("level") != "segment")
        plain = alone.select(shrunk="average_precision", shrunk_low="ci_low", shrunk_high="ci_high")
        assert_frame_equal(alone.select(plain.columns), plain)
        card = card.filter(level="segment")
    expected = shrunk(kind, measure="average_precision")
    limits = {"ci_low": "shrunk_low", "ci_high": "shrunk_high"}
    names = ["shrunk", *limits.values()]
    assert_frame_equal(card.select(names), expected.rename(limits).select(names))
