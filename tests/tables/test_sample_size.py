"""How many rows a study needs: from standard errors, and by studies of that size."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import OptionError

Z = NormalDist().inv_cdf(0.975)
RANDOM = np.random.default_rng(1)
TRUTH = RANDOM.random(600) < 0.3
SHARED = RANDOM.standard_normal(600) + TRUTH
ROWS = pl.DataFrame(
    {
        "row": np.arange(600),
        "segment": np.repeat(["few", "many", "none"], [40, 540, 20]),
        "truth": TRUTH & (np.arange(600) < 580),
        "score": SHARED + RANDOM.standard_normal(600) / 2,
        "other": SHARED + RANDOM.standard_normal(600),
    }
)


def needed(kind, df=ROWS, score="score", **asked):
    return kind.rows(frame_prc.sample_size(kind.make(df), "truth", score, **asked))


@every_kind
def test_half_the_width_takes_four_times_the_rows(kind):
    table = needed(kind, by="segment", width=0.1)
    known = ROWS.prc.average_precision("truth", "score", by="segment", ci=0.95, details=True)
    for row, own in zip(table.to_dicts(), known.to_dicts(), strict=True):
        m = own["n_pos"]
        assert (row["n_pos"], row["value"]) == (m, own["average_precision"])
        assert row["status"] == own["status"]
        if row["std_error"] is None:
            assert row["status"] == "no_positives"
            continue
        error = own["std_error"] * math.sqrt(m / (m - 1))
        assert row["std_error"] == pytest.approx(error, rel=1e-12)
        share = (2 * Z * error / 0.1) ** 2
        assert row["n_needed"] == math.ceil(own["n"] * share)
        assert row["n_pos_needed"] == math.ceil(m * share)
    half = needed(kind, by="segment", width=0.05)
    ratio = half["n_needed"] / table["n_needed"]
    assert ratio.drop_nulls().to_list() == pytest.approx([4.0] * ratio.drop_nulls().len(), rel=0.02)


@every_kind
def test_a_difference_goes_by_its_own_error(kind):
    models = {"a": "score", "b": "other"}
    table = needed(kind, score=models, difference=0.1, power=0.9, ci=0.9)
    own = ROWS.prc.compare_models("truth", models, details=True, ci=0.9)
    assert_frame_equal(
        table.select("model", "baseline", "n_pos", "std_error"),
        own.select("model", "baseline", "n_pos", "std_error"),
    )
    deviates = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(0.9)
    share = (deviates * own["std_error"].item() / 0.1) ** 2
    assert table["n_needed"].item() == math.ceil(own["n"].item() * share)
    models_of = [
        ROWS.select("truth", "row", pl.lit(name).alias("m"), s=column)
        for name, column in models.items()
    ]
    long = pl.concat(models_of)
    by_column = needed(kind, long, "s", model="m", row="row", difference=0.1, power=0.9, ci=0.9)
    assert_frame_equal(by_column, table)


def test_measures_on_another_range_have_their_own_lengths():
    table = ROWS.prc.sample_size("truth", "score", width=0.2, measure="mcc", at={"threshold": 0.5})
    shown = ROWS.prc.summary(
        "truth", "score", measures=["mcc"], at={"threshold": 0.5}, details=True
    )
    assert table["value"].item() == pytest.approx(shown["mcc"].item())
    width = (shown["mcc_high"] - shown["mcc_low"]).item()
    assert 2 * Z * table["std_error"].item() == pytest.approx(width, rel=0.25)


@pytest.mark.thorough
def test_studies_of_that_size_have_the_width_and_the_power():
    random = np.random.default_rng(5)

    def study(n, draws):
        truth = random.random((draws, n)) < 0.2
        shared = random.standard_normal((draws, n))
        scores = {
            name: shared + random.standard_normal((draws, n)) + higher * truth
            for name, higher in (("a", 2.0), ("b", 1.6))
        }
        columns = {name: values.ravel() for name, values in scores.items()}
        return pl.DataFrame(
            {"draw": np.repeat(np.arange(draws), n), "truth": truth.ravel()} | columns
        )

    pilot = study(20_000, 1)
    size = pilot.prc.sample_size("truth", "a", width=0.1)["n_needed"].item()
    areas = study(size, 100).prc.average_precision("truth", "a", by="draw", ci=0.95)
    assert (areas["ci_high"] - areas["ci_low"]).mean() == pytest.approx(0.1, rel=0.05)
    gap = 0.101  # of 400,000 rows
    size = pilot.prc.sample_size("truth", ["a", "b"], difference=gap)["n_needed"].item()
    tests = study(size, 400).prc.compare_models("truth", ["a", "b"], by="draw")
    assert (tests["p_value"] < 0.05).mean() == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "neither of width= and difference= is given"),
        ({"width": 0.1, "difference": 0.1}, "width= and difference= are given. Allowed: one"),
        ({"width": math.inf}, "width=inf is not a length. Allowed: a number from 0.000001"),
        ({"width": 0.1, "baseline": "score"}, "baseline= is given without difference="),
        ({"width": 1e-12}, "width=1e-12 is not a length"),
        ({"width": 0}, "width=0 is not a length. Allowed: a number from 0.000001"),
        ({"difference": 0.1}, "two or more"),
        ({"width": 0.1, "power": 80}, "power=80 is not a power.*80 % is power=0.8"),
    ],
)
def test_errors(asked, words):
    with pytest.raises(OptionError, match=words):
        frame_prc.sample_size(ROWS, "truth", "score", **asked)
