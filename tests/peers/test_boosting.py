"""The areas that gradient boosting libraries report, by the names they have here."""

from __future__ import annotations

import numpy as np
import optional
import polars as pl
import pytest
from kinds import every_kind

import frame_prc


def random_rows(seed: int) -> pl.DataFrame:
    """Return rows with ties, whose weights are exact in the single precision of LightGBM."""
    random = np.random.default_rng(seed)
    score = random.normal(size=150).round(1)
    return pl.DataFrame(
        {
            "truth": (random.random(150) < 1 / (1 + np.exp(-score))).astype(int),
            "score": score,
            "weight": random.integers(1, 40, 150) / 8,
        }
    )


def lightgbm_area(df: pl.DataFrame, weight: str | None) -> float:
    """Return the average precision of scores that a model without a single tree starts from."""
    lightgbm = optional.require_module("lightgbm")
    quiet = {"verbose": -1}
    rows = lightgbm.Dataset(
        np.zeros((df.height, 1)),
        label=df["truth"].to_numpy(),
        init_score=df["score"].to_numpy(),
        weight=df[weight].to_numpy() if weight else None,
        params=quiet | {"feature_pre_filter": False},
    )
    model = lightgbm.Booster({"objective": "binary", "metric": "average_precision"} | quiet, rows)
    [(_, _, area, _)] = model.eval_train()
    return area


@every_kind
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [None, "weight"], ids=["unweighted", "weighted"])
def test_average_precision_of_lightgbm_is_the_step_area(kind, seed, weight):
    df = random_rows(seed)
    table = frame_prc.auc(kind.make(df), "truth", "score", weight=weight, method="step")
    found = kind.rows(table)["auc"].item()
    assert found == pytest.approx(lightgbm_area(df, weight), rel=1e-12, abs=0)


@every_kind
def test_prauc_of_catboost_is_the_trapezoid_from_precision_one(kind):
    # catboost.utils.eval_metric([1, 0, 0, 1], [.9, .9, .5, .1], "PRAUC") in CatBoost 1.2.10; by
    # hand 1/2 (1 + 1/2) / 2 + 1/2 (1/3 + 1/2) / 2. From the first point's 1/2 it would be 11/24.
    df = pl.DataFrame({"truth": [1, 0, 0, 1], "score": [0.9, 0.9, 0.5, 0.1]})
    table = frame_prc.auc(kind.make(df), "truth", "score", method="trapezoid")
    assert kind.rows(table)["auc"].item() == pytest.approx(0.5833333333333333, rel=1e-12, abs=0)
