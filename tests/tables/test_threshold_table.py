"""Thresholds by steps are operating points, with what each of them costs."""

from __future__ import annotations

import polars as pl
import pytest
from kinds import every_kind, every_polars_kind

import frame_prc
from frame_prc import OptionError

ROW = pl.int_range(2000, eager=True)
ROWS = pl.DataFrame(
    {
        "region": ROW % 2,
        "truth": ROW * 7 % 11 < 2,
        "score": (ROW * 7919 % 601 + 200 * (ROW * 7 % 11 < 2).cast(pl.Int64)) / 801,
        "weight": 1 + ROW % 3,
    }
)
STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
SHARED = ["threshold", "precision", "recall", "tp", "fp", "fn", "tn", "predicted_count", "status"]


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
def test_steps_are_operating_points_with_what_they_cost(kind, weight):
    asked = {"by": "region", "weight": weight, "details": True}
    table = kind.rows(
        frame_prc.threshold_table(kind.make(ROWS), "truth", "score", cost=(1, 10), **asked)
    )
    targets = {"predicted_rate": STEPS, "cost": (1, 10)}  # the cheapest is the last row
    points = frame_prc.operating_points(ROWS, "truth", "score", **targets, **asked)
    assert table.select("region", *SHARED).equals(points.select("region", *SHARED))
    met = table.filter(pl.col("status") != "not_met")
    assert met.height >= 12
    for row in met.iter_rows(named=True):
        n = row["tp"] + row["fp"] + row["fn"] + row["tn"]
        odds = row["threshold"] / (1 - row["threshold"])
        expected = {
            "alerts_per_1000": 1000 * (row["tp"] + row["fp"]) / n,
            "fpr": row["fp"] / (row["fp"] + row["tn"]),
            "f1": 2 * row["tp"] / (2 * row["tp"] + row["fp"] + row["fn"]),
            "net_benefit": (row["tp"] - row["fp"] * odds) / n,
            "expected_cost": (row["fp"] + 10 * row["fn"]) / n,
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-12)


@every_kind
def test_given_thresholds_and_scores_in_the_other_direction(kind):
    turned = ROWS.with_columns(score=-pl.col("score"))
    one = frame_prc.threshold_table(kind.make(ROWS), "truth", "score", thresholds=0.5)
    other = frame_prc.threshold_table(
        kind.make(turned), "truth", "score", thresholds=[-0.5], ascending=True, details=True
    )
    one, other = kind.rows(one), kind.rows(other)
    assert one.columns == [
        "threshold",
        "alerts_per_1000",
        "precision",
        "recall",
        "tp",
        "fp",
        "status",
    ]
    assert one.drop("threshold").row(0) == other.select(one.columns[1:]).row(0)
    assert other["net_benefit"].to_list() == [None]  # the threshold is no probability
    assert other["ascending"].to_list() == [True]


@every_kind
def test_segments_may_have_thresholds_each(kind):
    asked = {"by": "region", "details": True}
    chosen = ROWS[:1000].prc.operating_points("truth", "score", by="region", recall=[0.5, 0.8])
    held = chosen[[3, 2, 1]]
    table = kind.rows(
        frame_prc.threshold_table(
            kind.make(ROWS), "truth", "score", thresholds=kind.make(held), **asked
        )
    )
    points = frame_prc.operating_points(ROWS, "truth", "score", threshold=held, **asked)
    assert table.select("region", *SHARED).equals(points.select("region", *SHARED))
    assert "missed" in table["status"].to_list()


def test_net_benefit_is_that_of_the_measure_to_the_last_digit():
    df = ROWS.with_columns(pl.col("score").cast(pl.Float32))
    table = df.prc.threshold_table("truth", "score", thresholds=0.1, details=True)
    card = df.prc.summary("truth", "score", measures="net_benefit", at={"threshold": 0.1})
    assert table["net_benefit"].item() == pytest.approx(card["net_benefit"].item(), rel=1e-13)


@every_polars_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"cost": 3}, "cost=3 is not a pair of costs"),
        ({"thresholds": "high"}, "thresholds='high' does not hold numbers.* or a frame with"),
        ({"thresholds": ["chosen.csv"]}, r"thresholds=\['chosen.csv'\] does not hold numbers"),
        ({"thresholds": []}, r"thresholds=\[\] does not hold numbers"),
        ({"thresholds": {"north": 0.5}}, "thresholds= is of type dict.* for a dict of thresholds"),
        ({"cost": (1, 2, 3)}, "is not a pair of costs"),
    ],
)
def test_bad_options_are_refused(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        kind.rows(frame_prc.threshold_table(kind.make(ROWS), "truth", "score", **asked))
