"""Bins of probabilities: the mean score beside the share of positives and its interval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import polars as pl
import pytest
from kinds import every_kind, every_polars_kind
from sklearn.calibration import calibration_curve

import frame_prc
from frame_prc import OptionError

RANDOM = np.random.default_rng(0)
SCORE = RANDOM.beta(0.8, 1.5, 900)
ROWS = pl.DataFrame(
    {
        "region": RANDOM.integers(0, 2, 900),
        "day": RANDOM.integers(0, 60, 900),
        "truth": RANDOM.random(900) < SCORE**1.3,
        "score": SCORE,
        "weight": RANDOM.integers(1, 4, 900),
    }
)


def reliability(kind, df=ROWS, **asked):
    return kind.rows(frame_prc.reliability(kind.make(df), "truth", "score", **asked))


@every_kind
def test_bins_are_those_of_scikit_learn_with_the_interval_of_a_share(kind):
    table = reliability(kind, details=True)
    observed, mean = calibration_curve(ROWS["truth"].to_numpy(), SCORE, n_bins=10)
    assert table["observed"].to_list() == pytest.approx(observed.tolist(), rel=1e-12)
    assert table["mean_score"].to_list() == pytest.approx(mean.tolist(), rel=1e-12)
    assert table["n"].sum() == 900
    assert table["n_pos"].sum() == ROWS["truth"].sum()
    for row in table.iter_rows(named=True):
        hits = [(place < row["n_pos"], Fraction(1), place) for place in range(row["n"])]
        limits = oracle.share_limits(hits, 0.95)
        assert (row["observed_low"], row["observed_high"]) == pytest.approx(limits, rel=1e-9)
        assert (row["status"] == "few_rows") == (row["n"] < 20)


@every_kind
def test_quantiles_are_those_of_scikit_learn_in_each_segment_and_keep_ties_together(kind):
    df = pl.concat(ROWS.filter(region=region).head(420) for region in (0, 1))
    table = reliability(kind, df, strategy="quantile", by="region", bins=6)
    assert table["n"].to_list() == [70] * 12
    for (region,), own in table.group_by("region"):
        rows = df.filter(region=region)
        truth, score = rows["truth"].to_numpy(), rows["score"].to_numpy()
        observed, mean = calibration_curve(truth, score, n_bins=6, strategy="quantile")
        assert own["observed"].to_list() == pytest.approx(observed.tolist(), rel=1e-12)
        assert own["mean_score"].to_list() == pytest.approx(mean.tolist(), rel=1e-12)
    tied = pl.DataFrame({"truth": [1, 0, 1, 0, 1, 0], "score": [0.1, 0.2, 0.2, 0.2, 0.3, 0.4]})
    found = reliability(kind, tied, strategy="quantile", bins=np.int64(3), details=True)
    assert found.select("bin_low", "bin_high", "n").rows() == [(0.1, 0.2, 4), (0.3, 0.4, 2)]


@every_kind
def test_weights_and_clusters_of_copies_tell_as_much_as_the_rows(kind):
    plain = reliability(kind, by="region", details=True)
    copies = pl.concat([ROWS.with_row_index("item")] * 3)
    clustered = reliability(kind, copies, by="region", cluster="item", details=True)
    assert (clustered["n"] == 3 * plain["n"]).all()
    halved = ROWS.with_columns(weight=pl.lit(0.5))
    weighted = reliability(kind, halved, by="region", weight="weight", details=True)
    for name in ("observed", "observed_low", "observed_high"):
        expected = plain[name].to_list()
        assert weighted[name].to_list() == pytest.approx(expected, rel=1e-6)
        assert clustered[name].to_list() == pytest.approx(expected, rel=1e-6)
    sums = reliability(kind, weight="weight", bins=[0, 0.3, 1], details=True)
    below = ROWS.filter(pl.col("score") < 0.3)
    mean = (below["score"] * below["weight"]).sum() / below["weight"].sum()
    assert sums["mean_score"][0] == pytest.approx(mean, rel=1e-12)
    assert sums["n"].sum() == ROWS["weight"].sum()


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
def test_rows_that_are_lighter_than_is_usual_tell_less(kind, cluster):
    place = pl.int_range(pl.len())
    heavy = ROWS.with_columns(weight=pl.when(place % 19 == 0).then(25).otherwise(1))
    table = reliability(kind, heavy, bins=20, weight="weight", cluster=cluster)
    rows = heavy.with_columns(bin=(pl.col("score") * 20).floor(), row=place)
    known = rows.select("truth", "weight", cluster or "row", "bin").rows()
    of_class = {
        one: usual(weight for truth, weight, *_ in known if truth == one) for one in (True, False)
    }
    is_wider = 0
    for number, row in enumerate(table.iter_rows(named=True)):
        near = usual(weight for *_, weight, _, at in known if abs(at - number) <= 1)
        weighs = tuple(min(of_class[one], near) for one in (True, False))
        hits = [
            (truth, Fraction(weight), unit) for truth, weight, unit, at in known if at == number
        ]
        misses = [Fraction(weight) for truth, weight, *_ in known if not truth]
        limits = oracle.share_limits(hits, 0.95, misses, weighs)
        assert (row["observed_low"], row["observed_high"]) == pytest.approx(limits, rel=1e-9)
        is_wider += limits != oracle.share_limits(hits, 0.95, misses)
    assert is_wider > 5


def usual(weights) -> Fraction:
    found = [Fraction(weight) for weight in weights]
    return sum(w * w for w in found) / sum(found)


@every_kind
def test_edges_belong_to_the_bin_above_and_counts_are_rows(kind):
    df = pl.DataFrame({"truth": [1, 0, 1, 0, 1], "score": [0.0, 0.5, 0.5, 0.25, 1.0]})
    table = reliability(kind, df, bins=[0, 0.25, 0.5, 1])
    assert table.select("bin_low", "n").rows() == [(0.0, 1), (0.25, 1), (0.5, 3)]
    counts = pl.DataFrame(
        {"score": [0.0, 0.25, 0.5, 1.0], "pos": [1, 0, 1, 1], "neg": [0, 1, 1, 0]}
    )
    of_counts = frame_prc.reliability(
        kind.make(counts), score="score", pos="pos", neg="neg", bins=[0, 0.25, 0.5, 1]
    )
    assert kind.rows(of_counts).equals(table)


@every_polars_kind
@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"bins": 1}, OptionError, "bins=1 does not make bins"),
        ({"bins": [0, 1, 2], "strategy": "quantile"}, OptionError, "is given with edges in bins="),
        ({"bins": [0, 0.5]}, OptionError, "does not make bins of probabilities"),
        ({"bins": [0, 0.5, 0.5, 1]}, OptionError, "does not make bins of probabilities"),
        ({"ascending": True}, OptionError, "ascending=True is given with the measure 'mean_score'"),
    ],
)
def test_bad_options_are_refused(kind, asked, error, says):
    with pytest.raises(error, match=says):
        reliability(kind, **asked)


@every_kind
def test_the_error_of_calibrated_scores_is_that_by_chance_on_average(kind):
    score = np.random.default_rng(1).random(40_000)
    df = pl.DataFrame({"score": score, "truth": RANDOM.random(40_000) < score})
    df = df.with_columns(draw=pl.int_range(40_000) % 200, weight=1 + pl.int_range(40_000) % 2)
    for asked in ({}, {"weight": "weight"}):
        table = reliability(kind, df, by="draw", bins=5, details=True, **asked)
        own = table.group_by("draw").first().mean()
        expected = own["calibration_error_by_chance"].item()
        assert own["calibration_error"].item() == pytest.approx(expected, rel=0.05)
        gap = (table["mean_score"] - table["observed"]).abs()
        first = table.with_columns(gap=gap).filter(draw=pl.lit(0))
        mean = (first["gap"] * first["n"]).sum() / first["n"].sum()
        assert first["calibration_error"].to_list() == pytest.approx([mean] * 5, rel=1e-12)


def test_the_error_by_chance_does_not_depend_on_the_truths():
    rows = pl.DataFrame({"row": range(400), "score": 0.95}).with_columns(
        weight=pl.when(pl.col("row") % 10 == 1).then(10.0).otherwise(1.0),
        cluster=pl.col("row") // 2,
    )
    variance = 0.95 * 0.05 * rows["weight"].pow(2).sum() / rows["weight"].sum() ** 2
    for truth in (pl.col("row") % 20 > 0, pl.col("row") % 10 != 1):
        df = rows.with_columns(truth=truth)
        found = df.prc.reliability("truth", "score", weight="weight", bins=2, details=True)
        by_chance = found["calibration_error_by_chance"].item()
        assert by_chance == pytest.approx(np.sqrt(2 / np.pi * variance), rel=1e-12)
        alone = df.prc.reliability(
            "truth", "score", weight="weight", cluster="row", bins=2, details=True
        )
        assert alone["calibration_error_by_chance"].item() == pytest.approx(by_chance, rel=1e-12)
    # Clusters whose rows are alike count as one row each, and no cluster as less.
    alike = pl.DataFrame({"truth": [0, 1, 1], "score": [0.9, 0.95, 0.91], "cluster": [1, 1, 2]})
    found = alike.prc.reliability("truth", "score", cluster="cluster", bins=2, details=True)
    assert found["calibration_error_by_chance"].item() < 0.25
