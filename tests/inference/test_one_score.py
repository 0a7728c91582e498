"""Rows that all have one score are at chance: rounding errors of a variance of 0 decide nothing."""

from __future__ import annotations

import polars as pl
import pytest

import frame_prc

N_ROWS = 2_000
number = pl.int_range(N_ROWS, eager=True)
ROWS = pl.DataFrame(
    {
        "truth": number.hash(1) % 10 == 0,
        "same": 0.5,
        "other": (number.hash(2) % 1_000) / 1_000,
        "weight": (number.hash(3) % 10_000 + 1) / 7,
        "user": number % 400,
    }
)
ORDERS = [ROWS.sample(fraction=1, shuffle=True, seed=seed) for seed in range(20)]
CALIBRATED = {"weight": "weight", "calibrate": 0.1}


@pytest.mark.parametrize("cluster", [None, "user"])
def test_an_area_of_one_score_is_not_below_chance(cluster):
    for rows in ORDERS[:5]:
        call = {"ci": 0.95, "cluster": cluster, **CALIBRATED}
        found = frame_prc.average_precision(rows, "truth", "same", **call)
        assert found["calibrated_average_precision"].item() == pytest.approx(0.1, rel=1e-14)
        # It is the reference prevalence, however the rows are drawn.
        assert found.select("ci_low", "ci_high", "status").row(0) == (None, None, "no_std_error")


@pytest.mark.thorough
@pytest.mark.parametrize("cluster", [None, "user"])
def test_the_test_against_one_score_is_the_same_in_any_order(cluster):
    found = [
        frame_prc.compare_models(rows, "truth", ["same", "other"], cluster=cluster, **CALIBRATED)
        for rows in ORDERS
    ]
    p_values = [table["p_value"].item() for table in found]
    assert p_values == pytest.approx([p_values[0]] * len(ORDERS), rel=1e-9)
    assert {table["status"].item() for table in found} == {"few_scores"}
