"""Situations that users of other tools reported, each with the value that is right by definition.

The reports are in the trackers of scikit-learn, torchmetrics, pytorch-lightning, pycocotools, tnt,
burn, python-recsys, quepid, fairlearn, Splink, yardstick, Spark, pandas, Polars and DuckDB.
"""

from __future__ import annotations

from fractions import Fraction

import engine_kinds
import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from kinds import every_kind

import frame_prc

NEVER = {"missing": "unretrieved"}
HARD = "few_scores"

# The truths, the scores, the options, and the average precision with its status.
CASES = {
    "scikit-learn#6377, one score": ([1] + [0] * 9_999, [0.0] * 10_000, {}, (1e-4, "ok")),
    "scikit-learn#9618": ([0, 1, 0, 0, 0], [0.7, 0.8, 0.5, 0.9, 0.1], {}, (0.5, "ok")),
    "scikit-learn#8245, no positive": ([0] * 5, [0.1] * 5, {}, (None, "no_positives")),
    "scikit-learn#30147, no negative": ([1] * 3, [0.1, 0.3, 0.1], {}, (1.0, "no_negatives")),
    "tnt#132, all tied": ([0, 1, 0, 1], [0.9] * 4, {}, (0.5, "ok")),
    "burn#5683, order of a tie": ([1, 0], [0.5, 0.5], {}, (0.5, "ok")),
    "burn#5683, the other order": ([0, 1], [0.5, 0.5], {}, (0.5, "ok")),
    "python-recsys#29, found first": (
        [1] * 5,
        [3.0, 2, 1, None, None],
        NEVER,
        (0.6, "no_negatives"),
    ),
    "python-recsys#29, after a miss": (
        [0, 1, 1, 1, 1, 1],
        [3.0, 2, 1, None, None, None],
        NEVER,
        ((1 / 2 + 2 / 3) / 5, "ok"),
    ),
    "quepid#518, AP@10": ([1] + [0] * 9, range(10, 0, -1), {"top": 10}, (1.0, "ok")),
    "cocoapi#683, one object not found": ([1] * 3, [1.0, 1, None], NEVER, (2 / 3, "no_negatives")),
}


@every_kind
@pytest.mark.parametrize("case", CASES)
def test_average_precision_is_that_of_the_definition(kind, case):
    truth, score, options, wanted = CASES[case]
    rows = pl.DataFrame({"truth": truth, "score": pl.Series(score, dtype=pl.Float64)})
    table = kind.rows(frame_prc.average_precision(kind.make(rows), "truth", "score", **options))
    area, status = table.select("average_precision", "status").row(0)
    if wanted[0] is None:
        assert area is None
    else:
        assert area == pytest.approx(wanted[0], rel=1e-12)
    assert status == wanted[1]


@every_kind
def test_labels_1_and_minus_1_need_the_positive_one_named(kind):
    """scikit-learn#5379."""
    rows = pl.DataFrame({"truth": [1] * 7 + [-1] + [1] * 2, "score": range(10)})
    with pytest.raises(frame_prc.DataError, match=r"outside 0 and 1: -1.*name the positive class"):
        kind.rows(frame_prc.average_precision(kind.make(rows), "truth", "score"))
    found = kind.rows(frame_prc.average_precision(kind.make(rows), "truth", "score", pos_label=1))
    exact = oracle.average_precision([oracle.Row(y == 1, s) for y, s in rows.rows()])
    assert found["average_precision"].item() == pytest.approx(float(exact), rel=1e-12)


@every_kind
def test_batches_of_logits_add_up(kind):
    """torchmetrics#2329: each batch guessed by itself whether its scores were logits."""
    score, truth = [-1.0, 0.0, 1.0], [1, 0, 1]
    batches = [
        frame_prc.counts(kind.make(pl.DataFrame({"truth": [y], "score": [s]})), "truth", "score")
        for y, s in zip(truth, score, strict=True)
    ]
    merged = frame_prc.merge_counts(*batches)
    found = frame_prc.average_precision(merged, score="threshold", pos="pos", neg="neg")
    assert kind.rows(found)["average_precision"].item() == pytest.approx(5 / 6, rel=1e-12)


@every_kind
def test_a_class_without_positives_is_left_out_of_the_weighted_mean(kind):
    """scikit-learn#10891: its weight is 0, and 0 times NaN was NaN."""
    rows = pl.DataFrame(
        {"label": ["a", "a", "b", "b"], "truth": [0, 1, 0, 0], "score": [0.1, 0.8, 0.2, 0.1]}
    )
    for how in ("weighted", "mean"):
        found = frame_prc.average(
            kind.make(rows), "truth", "score", by="label", over="label", how=how
        )
        assert kind.rows(found).select("average_precision", "n_segments").row(0) == (1.0, 1)


@every_kind
def test_a_category_without_objects_has_no_value_and_its_alarms_count(kind):
    """cocoapi#55: a false alarm of a class that no object has."""
    rows = pl.DataFrame({"category": [1, 2], "truth": [1, 0], "score": [0.9, 0.8]})
    found = frame_prc.average_precision(kind.make(rows), "truth", "score", by="category")
    assert kind.rows(found)["average_precision"].to_list() == [1.0, None]
    pooled = frame_prc.operating_points(kind.make(rows), "truth", "score", threshold=0.5)
    assert kind.rows(pooled).select("precision", "recall").row(0) == (0.5, 1.0)


@pytest.mark.parametrize("dtype", [object, "category", "str"])
def test_rows_without_a_group_are_a_group(dtype):
    """fairlearn#1725 and pandas#36327: they were lost, or counted in the total only."""
    frame = pd.DataFrame(
        {
            "group": pd.Series(["a", "a", "b", "b", None, None], dtype=dtype),
            "truth": [0, 1, 0, 1, 0, 1],
            "score": [0.1, 0.9, 0.8, 0.7, 0.2, 0.3],
        }
    )
    found = frame.prc.average_precision("truth", "score", by="group")
    assert found["group"].isna().tolist() == [True, False, False]
    assert found["n"].sum() == len(frame)
    assert found["average_precision"].tolist() == [1.0, 1.0, 0.5]


@every_kind
def test_pairs_that_were_never_compared_are_negatives_at_the_lowest_score(kind):
    """Splink#748 and #2059: the true negatives that blocking leaves out."""
    pairs = pl.DataFrame({"truth": [1, 1, 0, 1], "score": [0.9, 0.7, 0.6, 0.2]})
    counts = frame_prc.counts(pairs, "truth", "score")
    others = pl.DataFrame({"threshold": [0.0], "pos": [0], "neg": [11]}, schema=counts.schema)
    merged = frame_prc.merge_counts(kind.make(counts), kind.make(others))
    roles = {"score": "threshold", "pos": "pos", "neg": "neg"}
    area = kind.rows(frame_prc.average_precision(merged, **roles))
    assert area.select("n", "n_pos").row(0) == (15, 3)
    assert area["average_precision"].item() == pytest.approx((1 + 1 + 3 / 4) / 3, rel=1e-12)
    curve = kind.rows(frame_prc.curve(merged, **roles))
    assert curve.filter(threshold=0.2).select("tp", "fp", "tn").row(0) == (3, 1, 11)


@every_kind
def test_the_curve_keeps_every_threshold_and_never_reaches_lost_positives(kind):
    """scikit-learn#24976, #9359 and #3278."""
    rows = pl.DataFrame({"truth": [0] * 50 + [1] * 50, "score": range(100)})
    assert kind.rows(frame_prc.curve(kind.make(rows), "truth", "score")).height == 101
    truth = [False, True, False, True, True, True, False, False]
    rows = pl.DataFrame({"truth": truth, "score": np.linspace(0, 1, 8)})
    curve = kind.rows(frame_prc.curve(kind.make(rows), "truth", "score", start=None))
    ranked = truth[::-1]
    exact = [float(Fraction(sum(ranked[: k + 1]), k + 1)) for k in range(8)]
    assert curve["precision"].to_list() == exact
    lost = rows.with_columns(score=pl.when(pl.col("score") > 0.5).then("score"))
    curve = kind.rows(frame_prc.curve(kind.make(lost), "truth", "score", **NEVER))
    assert curve["recall"].max() == 0.5


@every_kind
def test_zeros_of_both_signs_are_one_key_and_one_score(kind):
    """polars#10457 and #2643."""
    nan = float("nan")
    rows = pl.DataFrame(
        {"key": [0.0, -0.0, nan, nan], "truth": [1, 0, 1, 0], "score": [0.0, -0.0, 0.3, 0.2]}
    )
    found = kind.rows(frame_prc.average_precision(kind.make(rows), "truth", "score", by="key"))
    assert found["n"].to_list() == [2, 2]
    assert sorted(found["average_precision"]) == [0.5, 1.0]


def test_nan_is_no_highest_score_in_duckdb():
    """duckdb#7541: there NaN is greater than any number."""
    kind, nan = engine_kinds.duckdb_kind(), float("nan")
    rows = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, nan, 0.2, 0.1]})
    for missing in ("drop", "unretrieved"):
        table = frame_prc.average_precision(kind.make(rows), "truth", "score", missing=missing)
        assert kind.rows(table)["average_precision"].item() == 1.0
    with pytest.raises(Exception, match="'score' has a row with null or NaN"):
        kind.rows(frame_prc.average_precision(kind.make(rows), "truth", "score"))


@every_kind
def test_ranks_serve_as_scores(kind):
    """yardstick#249."""
    rows = pl.DataFrame({"truth": [k * 7 % 11 < 4 for k in range(99)]}).with_columns(
        score=(pl.int_range(99) * 7919 % 601) / 601
    )
    ranked = rows.with_columns(pl.col("score").rank("ordinal"))
    areas = [
        kind.rows(frame_prc.average_precision(kind.make(one), "truth", "score"))
        for one in (rows, ranked)
    ]
    assert areas[0]["average_precision"].item() == areas[1]["average_precision"].item()


def test_hard_labels_are_told_from_scores():
    """gentropy#1283: 0/1 predictions were passed as scores, and the area was too low."""
    rows = pl.DataFrame({"truth": [k * 7 % 11 < 4 for k in range(600)]}).with_columns(
        score=(pl.int_range(600) * 7919 % 601) / 601 + 0.3 * pl.col("truth")
    )
    rows = rows.with_columns(label=(pl.col("score") > 0.7).cast(pl.Int8))
    table = frame_prc.summary(rows, "truth", ["label", "score"])
    assert dict(table.select("model", "status").rows()) == {"label": HARD, "score": "ok"}
