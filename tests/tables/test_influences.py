"""Influences of rows: they add up to nothing, and their squares to the variance of each measure."""

import numpy as np
import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc.exceptions import OptionError

RANDOM = np.random.default_rng(1)
ROWS = pl.DataFrame(
    {
        "segment": RANDOM.integers(0, 3, 600),
        "late": RANDOM.random(600) < 0.3,
        "day": RANDOM.integers(0, 40, 600),
        "weight": RANDOM.uniform(0.5, 2.0, 600),
        "other": RANDOM.random(600).round(2),
    }
).with_columns(score=pl.col("other") * 0.7 + 0.2 * pl.col("late"))
MEASURES = ["average_precision", "roc_auc", "brier", "recall", "mcc"]
AT = {"threshold": 0.5}


@every_kind
def test_influences_add_up_to_nothing_and_their_squares_to_the_variance(kind):
    table = kind.rows(
        frame_prc.influence(
            kind.make(ROWS), "late", "score", by="segment", measures=MEASURES, at=AT
        )
    )
    assert table["row"].to_list() == list(range(600))
    assert table["segment"].to_list() == ROWS["segment"].to_list()
    card = frame_prc.summary(
        ROWS, "late", "score", by="segment", measures=MEASURES[1:], at=AT, details=True
    )
    for name in MEASURES:
        sums = (
            table.group_by("segment")
            .agg(total=pl.col(name).sum(), squares=(pl.col(name) ** 2).sum())
            .sort("segment")
        )
        assert sums["total"].to_list() == pytest.approx([0] * 3, abs=1e-12)
        error = "std_error" if name == "average_precision" else f"{name}_std_error"
        expected = card[error].to_numpy() ** 2
        assert sums["squares"].to_numpy() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_an_influence_is_what_a_heavier_row_adds(measure):
    frame = ROWS.filter(segment=0)
    asked = (
        {"measures": measure, "at": AT} if measure in ("recall", "mcc") else {"measures": measure}
    )
    found = frame_prc.influence(frame, "late", "score", **asked)[measure]
    step, beside = 1e-6, [measure] if measure != "average_precision" else None
    given = {"measures": beside, "at": asked.get("at")}

    def value(weights):
        weighted = frame.with_columns(weight=pl.Series(weights))
        table = frame_prc.summary(weighted, "late", "score", weight="weight", **given)
        return table[measure].item()

    base = np.ones(frame.height)
    for row in (0, 7, 50):
        heavier = base.copy()
        heavier[row] += step
        assert (value(heavier) - value(base)) / step == pytest.approx(found[row], abs=1e-4)


def test_weights_and_clusters_have_the_variance_of_their_sums():
    table = frame_prc.influence(ROWS, "late", "score", weight="weight", measures="roc_auc")
    joined = (
        ROWS.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)).join(table, on="row")
    )
    squares = (joined.group_by("day").agg(pl.col("roc_auc").sum())["roc_auc"] ** 2).sum()
    card = frame_prc.summary(
        ROWS, "late", "score", weight="weight", cluster="day", measures=["roc_auc"], details=True
    )
    assert card["roc_auc_std_error"].item() ** 2 == pytest.approx(squares, rel=1e-9)


def test_rows_keep_their_place_and_models_have_rows_of_their_own():
    lacking = ROWS.with_columns(score=pl.when(pl.int_range(pl.len()) % 5 > 0).then("score"))
    table = frame_prc.influence(lacking, "late", "score", missing="drop")
    assert table["row"].to_list() == [i for i in range(600) if i % 5 > 0]
    both = frame_prc.influence(ROWS, "late", ["score", "other"], by="segment")
    assert both["model"].value_counts()["count"].to_list() == [600, 600]
    alone = frame_prc.influence(ROWS, "late", "other", by="segment")
    assert_frame_equal(both.filter(model="other").drop("model"), alone)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(OptionError, match="measures='calibrated_average_precision'"):
        frame_prc.influence(ROWS, "late", "score", measures="calibrated_average_precision")
    for measures in (0, 1, []):
        with pytest.raises(OptionError, match="measures="):
            frame_prc.influence(ROWS, "late", "score", measures=measures)
    with pytest.raises(OptionError, match="at= is given with measures="):
        frame_prc.influence(ROWS, "late", "score", measures=["roc_auc"], at=AT)
    twice = frame_prc.influence(ROWS, "late", "score", measures=["brier", "brier"])
    assert twice.columns == ["row", "brier"]
    with pytest.raises(OptionError, match="pos= and neg= are given"):
        frame_prc.influence(ROWS, score="score", pos="segment", neg="segment")


def test_a_row_is_known_by_its_place_in_the_frame():
    weights = pl.when(pl.int_range(pl.len()) % 3 == 0).then(0.0).otherwise("weight")
    frame = ROWS.with_columns(weight=weights)
    table = frame_prc.influence(frame, "late", ["score", "other"], weight="weight")
    expected = [i for i in range(600) if i % 3]
    assert table["row"].to_list() == expected * 2
    long = pl.concat([ROWS.with_columns(model=pl.lit(name)) for name in "ab"]).sample(
        fraction=1.0, shuffle=True, seed=1
    )
    table = frame_prc.influence(long, "late", "score", model="model")
    assert sorted(table["row"]) == list(range(1200))
    assert table["model"].to_list() == long["model"].gather(table["row"]).to_list()
    lazy = frame_prc.influence(frame.lazy(), "late", "score", weight="weight").collect()
    assert lazy["row"].to_list() == expected


def test_rows_of_a_segment_without_the_measure_have_no_influence():
    df = pl.DataFrame({"late": [1, 0, 0, 1] * 9, "score": [0.9, 0.6, 0.3, 0.2] * 9})
    df = df.with_columns(site=pl.Series(["a", "b"] * 18))
    asked = {"measures": ["accuracy", "recall", "precision"], "by": "site"}
    at = pl.DataFrame({"site": ["b"], "threshold": [0.5]})
    found = df.prc.influence("late", "score", at=at, **asked)
    lacking, other = (found.filter(site=site).select(asked["measures"]) for site in "ab")
    assert lacking.null_count().row(0) == (18,) * 3
    alone = df.filter(site="b").prc.influence("late", "score", at={"threshold": 0.5}, **asked)
    assert_frame_equal(other, alone.select(asked["measures"]))
