"""Points that meet several targets at once: by definition, from the exact curve."""

from __future__ import annotations

from fractions import Fraction

import engine_kinds
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from kinds import every_kind
from strategies import INTEGER_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError, Top

ASKED = {"by": "segment", "missing": "unretrieved", "details": True}
TARGETS = [
    {"recall": 0.5, "fpr": 0.25},
    {"recall": 0.7, "precision": 0.4, "predicted_rate": 0.5},
    {"precision": 0.5, "predicted_count": 3},
]


def meets(point, criterion, value, positives, negatives):
    value, predicted = Fraction(value), point.tp + point.fp
    shares = {
        "recall": lambda: point.tp >= value * positives,
        "precision": lambda: point.tp >= value * predicted,
        "fpr": lambda: negatives > 0 and point.fp <= value * negatives,
        "predicted_rate": lambda: predicted <= value * (positives + negatives),
        "predicted_count": lambda: predicted <= value,
    }
    return predicted > 0 and shares[criterion]()


@every_kind
@pytest.mark.parametrize("asked", TARGETS, ids=str)
@pytest.mark.parametrize("weights", [None, INTEGER_WEIGHTS], ids=["unweighted", "weighted"])
@given(df=frames(SCORES_OR_NONE, max_size=12))
def test_the_joint_point_is_the_most_precise_that_meets_all(kind, asked, weights, df):
    weight = {} if weights is None else {"weight": "weight"}
    if weights is not None:
        df = df.with_columns(weight=1 + pl.int_range(pl.len()) % 3)
    table = kind.rows(
        frame_prc.operating_points(
            kind.make(df), "truth", "score", **asked, joint=True, **weight, **ASKED
        )
    )
    alone = kind.rows(
        frame_prc.operating_points(kind.make(df), "truth", "score", **asked, **weight, **ASKED)
    )
    assert table.filter(pl.col("criterion") != "joint").equals(alone)
    found = {row["segment"]: row for row in table.filter(criterion="joint").to_dicts()}
    for (segment,), rows in segments(df, "segment").items():
        row = found[segment]
        assert row["target"] == ", ".join(f"{name}={value}" for name, value in asked.items())
        assert row["target_value"] is None
        positives = sum(one.weight for one in rows if one.truth)
        negatives = sum(one.weight for one in rows if not one.truth)
        fits = [
            point
            for point in oracle.curve(rows)
            if positives and all(meets(point, *one, positives, negatives) for one in asked.items())
        ]
        if not fits:
            assert row["threshold"] is None
            continue
        best = max(fits, key=lambda point: (Fraction(point.tp, point.tp + point.fp), point.tp))
        assert (row["tp"], row["fp"]) == (best.tp, best.fp)
        assert row["threshold"] == best.threshold


ROWS = pl.DataFrame({"truth": [1, 0, 1, 1, 0, 0], "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]})


@every_kind
def test_where_no_point_meets_all_the_others_say_how_near_one_comes(kind):
    table = kind.rows(
        frame_prc.operating_points(
            kind.make(ROWS), "truth", "score", recall=0.9, fpr=0.1, joint=True
        )
    )
    assert table.select("target", "threshold", "recall", "status").rows() == [
        ("recall=0.9, fpr=0.1", None, None, "not_met"),
        ("recall=0.9", 0.6, 1.0, "ok"),
        ("fpr=0.1", 0.9, pytest.approx(1 / 3), "ok"),
    ]


def test_a_point_that_is_held_is_still_called_what_it_was_chosen_for():
    top = Top(3, ties="expected")
    chosen = frame_prc.operating_points(ROWS, "truth", "score", recall=0.6, fpr=0.5, joint=True)
    cut = frame_prc.operating_points(ROWS, "truth", "score", predicted_count=top)
    for table, expected in (
        (chosen, [("joint", None), ("recall", 0.6), ("fpr", 0.5)]),
        (cut, [("predicted_count", 3.0)]),
    ):
        held = frame_prc.operating_points(ROWS, "truth", "score", threshold=table, details=True)
        assert held.select("criterion", "target_value").rows() == expected
        assert held["target"].to_list() == table["target"].to_list()


def test_an_engine_finds_the_same_point_and_intervals_know_it():
    kind = engine_kinds.duckdb_kind()
    asked = {"recall": 0.6, "fpr": 0.5, "joint": True, "details": True}
    expected = frame_prc.operating_points(ROWS, "truth", "score", **asked)
    found = kind.rows(frame_prc.operating_points(kind.make(ROWS), "truth", "score", **asked))
    assert found.rows() == expected.rows()
    limited = frame_prc.operating_points(ROWS, "truth", "score", ci=0.9, **asked)
    assert limited.select("precision_low", "recall_high").null_count().row(0) == (0, 0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"recall": 0.9}, "joint=True is given with recall=0.9. Allowed: two or more"),
        ({"recall": [0.8, 0.9], "fpr": 0.1}, "one number each"),
        ({"recall": 0.9, "f_beta": 1}, "f_beta= is given with joint=True.*recall=, precision="),
        ({"recall": 0.9, "fpr": 0.1, "threshold": "score"}, "threshold= is given with joint="),
        (
            {"recall": 0.9, "predicted_count": Top(3, ties="expected")},
            "ties='expected' is given with joint=True. Allowed: one of them",
        ),
        (
            {"recall": 0.9, "fpr": 0.1, "guarantee": 0.9},
            "joint=True is given with guarantee=.*each target has its own threshold",
        ),
        ({"recall": 0.9, "fpr": 0.1, "joint": "both"}, "joint='both' is not an option"),
    ],
)
def test_errors(asked, words):
    with pytest.raises(OptionError, match=words):
        frame_prc.operating_points(ROWS, "truth", "score", **{"joint": True, **asked})
