"""Measures of probabilities and of counts at a threshold, against definitions in exact arithmetic.

The influence of a row is found by its definition too: the measure is computed with a little more
and a little less of its weight, and fractions lose no digit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from sklearn import metrics
from strategies import BY, INTEGER_WEIGHTS, SIMILAR_WEIGHTS, frames

import frame_prc
from frame_prc import DataError, OptionError

AT = {"threshold": 0.375}
PROBABILITIES = st.sampled_from([0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0])
STEP = Fraction(1, 10**12)


class Counts(NamedTuple):
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction


def counts(rows, threshold):
    cells = [Fraction(0)] * 4
    for row in rows:
        reached = row.score is not None and row.score >= threshold
        cells[(0 if row.truth else 1) + (0 if reached else 2)] += row.weight
    return Counts(*cells)


def quotient(above, below):
    return above / below if below else None


def balanced_accuracy(c):
    both = quotient(c.tp, c.tp + c.fn), quotient(c.tn, c.fp + c.tn)
    return None if None in both else sum(both) / 2


def mcc(c):
    square = (c.tp + c.fn) * (c.fp + c.tn) * (c.tp + c.fp) * (c.fn + c.tn)
    return (c.tp * c.tn - c.fp * c.fn) / Fraction(math.sqrt(square)) if square else None


OF_COUNTS = {
    "precision": lambda c: quotient(c.tp, c.tp + c.fp),
    "recall": lambda c: quotient(c.tp, c.tp + c.fn),
    "fpr": lambda c: quotient(c.fp, c.fp + c.tn),
    "specificity": lambda c: quotient(c.tn, c.fp + c.tn),
    "f1": lambda c: quotient(2 * c.tp, 2 * c.tp + c.fp + c.fn),
    "accuracy": lambda c: quotient(c.tp + c.tn, sum(c)),
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "net_benefit": lambda c: quotient(c.tp - c.fp * Fraction(3, 5), sum(c)),
    "precision_lift": lambda c: quotient(c.tp * sum(c), (c.tp + c.fp) * (c.tp + c.fn)),
}


def log_loss(p, truth):
    kept = min(max(p, 2.0**-52), 1 - 2.0**-52)
    return Fraction(-math.log(kept if truth else 1 - kept))


OF_ROWS = {
    "mean_score": lambda p, _: Fraction(p),
    "calibration_gap": lambda p, truth: Fraction(p) - truth,
    "brier": lambda p, truth: (Fraction(p) - truth) ** 2,
    "log_loss": log_loss,
}
BESIDE_RATE = {
    "observed_expected": lambda p, mean: quotient(p, mean("mean_score")),
    "brier_skill": lambda p, mean: 1 - mean("brier") / (p * (1 - p)),
}
MEASURES = [*OF_ROWS, *BESIDE_RATE, *OF_COUNTS]


def value(name, rows):
    if name in OF_ROWS:
        total = sum(row.weight for row in rows)
        costs = [row.weight * OF_ROWS[name](row.score, row.truth) for row in rows]
        return sum(costs) / total if rows else None
    if name in BESIDE_RATE:
        of_class = [
            sum(row.weight for row in rows if row.truth == truth) for truth in (True, False)
        ]
        if not rows or (0 in of_class and name == "brier_skill"):
            return None
        return BESIDE_RATE[name](of_class[0] / sum(of_class), lambda one: value(one, rows))
    return OF_COUNTS[name](counts(rows, AT["threshold"]))


def moves(name, rows):
    """Return by how much one more unit of weight of each row changes a measure."""
    # A square root of fractions is rounded, so its differences need a larger step.
    step = Fraction(1, 2**13) if name == "mcc" else STEP
    found = []
    for i, row in enumerate(rows):
        more, less = (
            value(name, [*rows[:i], row._replace(weight=row.weight + h), *rows[i + 1 :]])
            for h in (step, -step)
        )
        found.append((more - less) / (2 * step))
    return found


def std_error(name, rows):
    return math.sqrt(
        sum(
            float(row.weight * moved) ** 2
            for row, moved in zip(rows, moves(name, rows), strict=True)
        )
    )


def scorecard(kind, df, score="score", **options):
    asked = {"measures": MEASURES, "at": AT, "details": True} | options
    return kind.rows(frame_prc.summary(kind.make(df), "truth", score, **asked))


# --- values and errors -------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    "weights", [None, INTEGER_WEIGHTS, SIMILAR_WEIGHTS], ids=["unweighted", "integer", "float"]
)
@given(st.data(), BY)
def test_values_and_errors_equal_exact_arithmetic(kind, weights, data, by):
    df = data.draw(frames(PROBABILITIES, weights))
    weight = None if weights is None else "weight"
    found = scorecard(kind, df, by=by, weight=weight)
    for row, rows in zip(found.iter_rows(named=True), segments(df, by).values(), strict=True):
        for name in MEASURES:
            expected = value(name, rows)
            close = None if expected is None else pytest.approx(float(expected), abs=1e-12)
            assert row[name] == close, name
            if row[f"{name}_std_error"] is not None:
                error = pytest.approx(std_error(name, rows), rel=1e-5, abs=1e-12)
                assert row[f"{name}_std_error"] == error, name
            if row[f"{name}_low"] is not None:
                assert row[f"{name}_low"] < row[f"{name}_high"], name
                assert row[f"{name}_low"] - 1e-12 <= row[name] <= row[f"{name}_high"] + 1e-12, name


def two_models(n=240, seed=0):
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.4
    logit = random.normal(size=(2, n)) + 1.5 * truth - 0.75
    score, old = np.round(1 / (1 + np.exp(-logit)), 2)
    return pl.DataFrame(
        {
            "region": random.choice(["n", "s", "w"], n),
            "day": random.integers(0, 40, n),
            "truth": truth,
            "score": score,
            "old": old,
            "weight": random.integers(1, 4, n),
        }
    )


@every_polars_kind
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_values_are_those_of_scikit_learn(kind, dtype):
    df = two_models().with_columns(pl.col("score").cast(dtype))
    [row] = scorecard(kind, df, weight="weight").iter_rows(named=True)
    truth, score = df["truth"].to_numpy(), df["score"].to_numpy()
    weights, chosen = {"sample_weight": df["weight"].to_numpy()}, score >= AT["threshold"]
    expected = {
        "brier": metrics.brier_score_loss(truth, score, **weights),
        "log_loss": metrics.log_loss(truth, score, **weights),
        "brier_skill": metrics.d2_brier_score(truth, score, **weights),
        "precision": metrics.precision_score(truth, chosen, **weights),
        "recall": metrics.recall_score(truth, chosen, **weights),
        "f1": metrics.f1_score(truth, chosen, **weights),
        "accuracy": metrics.accuracy_score(truth, chosen, **weights),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, chosen, **weights),
        "mcc": metrics.matthews_corrcoef(truth, chosen, **weights),
    }
    within = 1e-6 if dtype == pl.Float32 else 1e-13
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=within)


def test_log_loss_of_certain_mistakes_is_clipped_as_in_scikit_learn():
    for dtype in (pl.Float64, pl.Float32):
        df = pl.DataFrame({"truth": [1, 0, 1], "score": pl.Series([0.0, 0.25, 1.0], dtype=dtype)})
        found = df.prc.summary("truth", "score", measures="log_loss")["log_loss"].item()
        expected = metrics.log_loss(df["truth"].to_numpy(), df["score"].to_numpy())
        assert found == pytest.approx(expected, rel=1e-6)


@every_kind
def test_counts_and_their_rows_give_the_same(kind):
    df = two_models()
    counted = df.group_by("region", "score").agg(
        pos=pl.col("truth").sum().cast(pl.Int64), neg=(~pl.col("truth")).sum().cast(pl.Int64)
    )
    asked = {"by": "region", "measures": MEASURES, "at": AT}
    of_counts = frame_prc.summary(kind.make(counted), score="score", pos="pos", neg="neg", **asked)
    of_rows = frame_prc.summary(kind.make(df), "truth", "score", **asked)
    both = [kind.rows(table) for table in (of_counts, of_rows)]
    for name in (f"{measure}{part}" for measure in MEASURES for part in ("", "_low", "_high")):
        assert both[0][name].to_list() == pytest.approx(both[1][name].to_list(), rel=1e-9), name


# --- every verb that takes a measure -----------------------------------------------------------


def threshold(name):
    return AT if name in OF_COUNTS else None


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
@pytest.mark.parametrize("name", MEASURES)
def test_models_are_compared_by_what_each_row_or_cluster_moves(kind, name, cluster):
    df = two_models(60)
    asked = {"measure": name, "at": threshold(name), "details": True}
    table = frame_prc.compare_models(
        kind.make(df), "truth", ["score", "old"], cluster=cluster, **asked
    )
    [row] = kind.rows(table).iter_rows(named=True)
    sides = [segments(df.drop("weight").with_columns(score=s), None)[()] for s in ("old", "score")]
    values = [float(value(name, rows)) for rows in sides]
    moved = [[float(move) for move in moves(name, rows)] for rows in sides]
    sums = {}
    for i, (a, b) in enumerate(zip(*moved, strict=True)):
        key = i if cluster is None else df[cluster][i]
        sums[key] = sums.get(key, 0.0) + a - b
    error = math.sqrt(math.fsum(moved**2 for moved in sums.values()))
    assert [row["value_a"], row["value_b"]] == pytest.approx(values, abs=1e-12)
    assert row["difference"] == pytest.approx(values[0] - values[1], abs=1e-12)
    assert row["std_error"] == pytest.approx(error, rel=1e-5)
    assert (row["p_value"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0)


@every_kind
@pytest.mark.parametrize("name", MEASURES)
def test_segments_are_compared_and_averaged_by_their_values(kind, name):
    df, asked = two_models(), {"measure": name, "at": threshold(name)}
    ev = kind.make(df).prc.evaluate("truth", "score", by="region")
    of_region = {
        key: float(value(name, rows))
        for (key,), rows in segments(df.drop("weight"), "region").items()
    }
    whole = float(value(name, segments(df.drop("weight"), None)[()]))
    for against, reference in (
        ("rest", None),
        ("overall", whole),
        ({"region": "n"}, of_region["n"]),
    ):
        table = kind.rows(ev.compare_segments(against=against, details=True, **asked))
        for row in table.iter_rows(named=True):
            others = segments(df.drop("weight").filter(region=pl.lit(row["region"])), None)
            own = float(value(name, others[()]))
            rest = df.drop("weight").filter(pl.col("region") != row["region"])
            other = float(value(name, segments(rest, None)[()])) if reference is None else reference
            assert [row["value_a"], row["value_b"]] == pytest.approx([own, other], abs=1e-12)
            assert row["difference"] == pytest.approx(own - other, abs=1e-12)
            assert row["ci_low"] is None or row["ci_low"] < row["difference"] < row["ci_high"]
    [row] = kind.rows(ev.heterogeneity(details=True, **asked)).iter_rows(named=True)
    ends = [max(of_region.values()), min(of_region.values())]
    if name in ("brier", "log_loss", "fpr"):  # the lowest is the best
        ends.reverse()
    assert [row["best_value"], row["worst_value"]] == pytest.approx(ends, abs=1e-12)
    assert row["gap"] == pytest.approx(abs(ends[0] - ends[1]), abs=1e-12)
    assert of_region[row["best_region"]] == pytest.approx(ends[0])
    mean = kind.rows(ev.average(over="region", ci=0.95, **asked))
    values = list(of_region.values())
    assert mean[name].item() == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
    assert mean["ci_low"].item() < mean[name].item() < mean["ci_high"].item()


@every_kind
@pytest.mark.parametrize("name", ["calibration_gap", "brier_skill", "mcc", "observed_expected"])
def test_values_outside_0_to_1_are_scaled_in_every_row_of_a_summary(kind, name):
    df, at = two_models(), threshold(name)
    table = scorecard(kind, df, by="region", overall=True, measures=[name], at=at)
    *values, pooled, macro = table[name].to_list()
    assert macro == pytest.approx(math.fsum(values) / len(values), abs=1e-12)
    assert pooled == pytest.approx(float(value(name, segments(df.drop("weight"), None)[()])))
    errors = table[f"{name}_std_error"].to_list()
    of_mean = math.sqrt(math.fsum(error**2 for error in errors[:3])) / 3
    assert errors[-1] == pytest.approx(of_mean, rel=1e-9)
    assert (table[f"{name}_low"] < table[name]).all()
    assert (table[name] < table[f"{name}_high"]).all()


@every_kind
def test_models_are_compared_over_segments_that_are_a_sample(kind):
    df = two_models()
    asked = {"over": "region", "measure": "mcc", "at": AT, "details": True}
    table = frame_prc.compare_models(kind.make(df), "truth", ["score", "old"], by="region", **asked)
    [row] = kind.rows(table).iter_rows(named=True)
    found = [
        scorecard(kind, df, score, by="region", measures="mcc")["mcc"] for score in ("old", "score")
    ]
    difference = found[0] - found[1]
    assert row["difference"] == pytest.approx(difference.mean(), abs=1e-12)
    assert row["std_error"] == pytest.approx(difference.std() / math.sqrt(3), rel=1e-9)


@every_kind
@pytest.mark.parametrize("name", ["mcc", "fpr", "specificity", "balanced_accuracy", "precision"])
def test_two_models_without_an_error_have_limits_around_no_difference(kind, name):
    truth = [i % 2 == 0 for i in range(600)]
    df = pl.DataFrame({"truth": truth}).with_columns(
        score=0.6 * pl.col("truth") + pl.int_range(600) % 5 / 100,
        old=0.7 * pl.col("truth") + pl.int_range(600) % 7 / 100,
    )
    table = frame_prc.compare_models(
        kind.make(df), "truth", ["score", "old"], measure=name, at=AT, margin=0.1
    )
    [row] = kind.rows(table).iter_rows(named=True)
    assert row["difference"] == 0
    assert -0.05 < row["ci_low"] < 0 < row["ci_high"] < 0.05
    assert (row["conclusion"], row["status"]) == ("not worse", "ok")


@every_kind
def test_a_side_that_does_not_have_the_measure_is_said_to_be_undefined(kind):
    df = two_models().with_columns(old=pl.col("old") / 10)
    for models in (["score", "old"], ["old", "score"]):
        table = frame_prc.compare_models(
            kind.make(df), "truth", models, measure="precision", at=AT, margin=0.1
        )
        [row] = kind.rows(table).iter_rows(named=True)
        assert row["difference"] is None
        assert (row["conclusion"], row["status"]) == ("undecided", "undefined")


# --- edges and errors --------------------------------------------------------------------------


@every_kind
def test_what_is_undefined_is_null_with_its_reason(kind):
    df = pl.DataFrame(
        {
            "region": ["none reached"] * 4 + ["no positives"] * 3,
            "truth": [True, False, True, False, False, False, False],
            "score": [0.1, 0.2, 0.3, 0.1, 0.9, 0.2, 0.4],
        }
    )
    ev = kind.make(df).prc.evaluate("truth", "score", by="region")

    def side(name, region):
        found = ev.compare_segments(measure=name, at=threshold(name), against="rest", details=True)
        row = kind.rows(found).filter(region=pl.lit(region)).row(0, named=True)
        return row["value_a"], row["status"]

    assert side("precision", "none reached") == (None, "undefined")
    assert side("mcc", "none reached") == (None, "undefined")
    assert side("recall", "none reached")[0] == 0
    assert side("recall", "no positives") == (None, "no_positives")
    assert side("brier_skill", "no positives") == (None, "no_positives")
    assert side("fpr", "no positives") == (pytest.approx(2 / 3), "few_negatives")
    assert side("brier", "no positives") == (pytest.approx(1.01 / 3), "few_rows")


@every_kind
def test_certain_values_have_an_interval_with_width(kind):
    df = pl.DataFrame({"truth": [True] * 30 + [False] * 30, "score": [1.0] * 30 + [0.0] * 30})
    [row] = scorecard(kind, df).iter_rows(named=True)
    for name, ideal in {"precision": 1, "recall": 1, "fpr": 0, "brier": 0, "mcc": 1}.items():
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        assert row[name] == ideal
        assert (high == 1 and low < 0.95) if ideal else (low == 0 and high > 0.05)
    # Of a Brier score of 0 nothing tells how far the one of the rate is away.
    [row] = scorecard(kind, df, measures="brier_skill", at=None).iter_rows(named=True)
    assert [row[f"brier_skill{part}"] for part in ("", "_low", "_high")] == [1, None, None]
    zero = scorecard(kind, df.with_columns(score=0.0), measures="observed_expected", at=None)
    assert zero["observed_expected"].item() is None
    # Without positives the ratio is 0, and nothing tells how far it varies.
    none = df.with_columns(truth=False, score=pl.col("score") / 2 + 0.2)
    [row] = scorecard(kind, none, measures="observed_expected", at=None).iter_rows(named=True)
    assert [row[f"observed_expected{part}"] for part in ("", "_low", "_high")] == [0, None, None]


@every_kind
def test_ratios_beyond_what_has_an_interval_are_exact(kind):
    far = {"brier_skill": [0.75, 0.25], "observed_expected": [2.0**-40, 2.0**-41]}
    pos, neg = [20, 30], [600_000, 400_000]
    for name, score in far.items():
        df = pl.DataFrame({"score": score, "pos": pos, "neg": neg, "day": [1, 1]})
        df = pl.concat([df, df.with_columns(day=pl.lit(2, pl.Int64))])
        rows = [
            (Fraction(s), y, 2 * n)
            for s, *counts in zip(score, pos, neg, strict=True)
            for y, n in zip((1, 0), counts, strict=True)
        ]
        total, p = sum(n for *_, n in rows), Fraction(sum(pos), sum(pos) + sum(neg))
        brier = sum(n * (s - y) ** 2 for s, y, n in rows) / total
        mean = sum(n * s for s, _, n in rows) / total
        exact = {"brier_skill": 1 - brier / (p * (1 - p)), "observed_expected": p / mean}[name]
        counts = {"score": "score", "pos": "pos", "neg": "neg"}
        card = frame_prc.summary(kind.make(df), measures=name, **counts)
        of_days = frame_prc.average(
            kind.make(df), by="day", over="day", measure=name, ci=0.9, **counts
        )
        [row], [average] = kind.rows(card).to_dicts(), kind.rows(of_days).to_dicts()
        assert row[name] == average[name] == pytest.approx(float(exact), rel=1e-12)
        limits = [row[f"{name}_low"], row[f"{name}_high"], average["ci_low"], average["ci_high"]]
        assert limits == [None] * 4
        assert (row["status"], average["status"]) == ("no_std_error", "few_segments")


def rows_of(**cells):
    """Return rows with so many in each cell at a threshold of a half."""
    sides = {"tp": (True, 0.9), "fp": (False, 0.8), "fn": (True, 0.2), "tn": (False, 0.1)}
    frames = [
        pl.DataFrame({"truth": [sides[cell][0]] * n, "score": [sides[cell][1]] * n})
        for cell, n in cells.items()
    ]
    # Scores that differ a little: a model with two of them has a status of its own.
    return pl.concat(frames).with_columns(pl.col("score") + pl.int_range(pl.len()) % 7 / 1000)


@every_kind
@pytest.mark.parametrize(
    ("name", "cells", "status"),
    [
        ("precision", {"tp": 12, "fp": 7, "fn": 40, "tn": 60}, "few_rows"),
        ("precision", {"tp": 12, "fp": 9, "fn": 40, "tn": 60}, "ok"),
        ("fpr", {"tp": 20, "fp": 9, "fn": 40, "tn": 10}, "few_negatives"),
        ("f1", {"tp": 19, "fp": 10, "fn": 10, "tn": 60}, "few_rows"),
        ("f1", {"tp": 21, "fp": 10, "fn": 10, "tn": 60}, "ok"),
        ("balanced_accuracy", {"tp": 60, "fp": 9, "fn": 4, "tn": 60}, "few_rows"),
        ("balanced_accuracy", {"tp": 60, "fp": 9, "fn": 5, "tn": 60}, "ok"),
        ("mcc", {"tp": 60, "fp": 4, "fn": 9, "tn": 60}, "few_rows"),
        ("net_benefit", {"tp": 60, "fp": 4, "fn": 9, "tn": 60}, "few_rows"),
        ("precision_lift", {"tp": 4, "fp": 60, "fn": 60, "tn": 60}, "few_rows"),
        ("precision_lift", {"tp": 9, "fp": 5, "fn": 19, "tn": 60}, "few_rows"),
        ("precision_lift", {"tp": 9, "fp": 60, "fn": 19, "tn": 60}, "ok"),
        ("brier", {"tp": 60, "fp": 2, "fn": 0, "tn": 60}, "few_rows"),
        ("brier", {"tp": 60, "fp": 6, "fn": 0, "tn": 60}, "ok"),
        ("brier", {"tp": 60, "fp": 20, "fn": 20, "tn": 60}, "ok"),
    ],
)
def test_the_status_tells_of_too_few_of_the_rows_that_a_measure_rests_on(kind, name, cells, status):
    held = {"threshold": 0.5} if name in OF_COUNTS else None
    [row] = scorecard(kind, rows_of(**cells), measures=name, at=held, details=False).iter_rows(
        named=True
    )
    assert row["status"] == status


@every_kind
def test_the_upper_limit_of_f1_without_a_hit_is_twice_that_of_the_share_of_hits(kind):
    df = rows_of(fp=30, fn=30, tn=60)
    [row] = scorecard(kind, df, measures="f1", at={"threshold": 0.5}).iter_rows(named=True)
    assert row["f1"] == 0
    share = 1 - 0.025 ** (1 / 60)  # of hits among the rows below the line
    assert row["f1_high"] == pytest.approx(2 * share / (1 + share), rel=0.05)


@every_kind
def test_a_score_that_rounding_took_above_1_counts_as_1(kind):
    df = pl.DataFrame({"truth": [True, False] * 20, "score": [1.0005, 0.5] * 20})
    [row] = scorecard(kind, df, measures=["mean_score", "brier"], at=None).iter_rows(named=True)
    assert (row["mean_score"], row["brier"]) == (0.75, 0.125)


@every_kind
@pytest.mark.parametrize(("differ", "status"), [(4, "few_positives"), (24, "ok")])
def test_models_that_few_rows_tell_apart_are_not_judged(kind, differ, status):
    df = rows_of(tp=200, fp=60, fn=60, tn=200).with_columns(old="score")
    moved = pl.when(pl.int_range(pl.len()) < differ).then(0.1).otherwise("old")
    table = frame_prc.compare_models(
        kind.make(df.with_columns(score=moved)),
        "truth",
        ["old", "score"],
        measure="recall",
        at={"threshold": 0.5},
        margin=0.5,
    )
    [row] = kind.rows(table).iter_rows(named=True)
    assert row["status"] == status
    assert row["conclusion"] == ("not worse" if status == "ok" else "undecided")


@every_kind
@pytest.mark.parametrize("name", ["log_loss", "mcc"])
def test_the_error_of_an_average_is_that_of_its_values(kind, name):
    df, asked = two_models(), {"measure": name, "at": threshold(name), "details": True}
    ev = kind.make(df).prc.evaluate("truth", "score", by="region")
    values = [float(value(name, rows)) for rows in segments(df.drop("weight"), "region").values()]
    [row] = kind.rows(ev.average(over="region", ci=0.95, **asked)).iter_rows(named=True)
    assert row["std_error"] == pytest.approx(np.std(values, ddof=1) / math.sqrt(3), rel=1e-9)


@every_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"measures": "precision"}, "measures='precision' is given without at="),
        ({"at": AT}, "at= is given with measures="),
        ({"measures": "recall", "at": 0.5}, "at=0.5 is not where 'recall' is measured"),
        (
            {"measures": "recall", "at": {"recall": 0.5}},
            "at={'recall': 0.5} is not where 'recall' is",
        ),
        ({"measures": "net_benefit", "at": {"threshold": 1}}, "net_benefit takes it as a prob"),
        ({"measures": "brier", "ascending": True}, "ascending=True is given with the measure 'bri"),
        ({"measures": "brier", "missing": "unretrieved"}, "missing='unretrieved' is given with"),
    ],
)
def test_what_a_measure_lacks_is_one_error(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        scorecard(kind, two_models(), **({"measures": None, "at": None} | asked))


@every_kind
def test_scores_that_are_no_probabilities_are_an_error_when_they_are_read(kind):
    df = two_models().with_columns(score=pl.col("score") * 2)
    planned = kind.make(df).prc.evaluate("truth", ["score", "old"], by="region")
    tables = [
        lambda: planned.summary(measures="brier"),
        lambda: planned.compare_models(measure="log_loss"),
        lambda: planned.heterogeneity(measure="mean_score"),
        lambda: planned.average(over="region", measure="brier"),
    ]
    for table in tables:
        with pytest.raises(DataError, match=r"'score'.* outside 0 to 1: .* for '\w+'\. Hint: roc_"):
            kind.rows(table())
    assert kind.rows(planned.summary(measures="roc_auc")).height == 6


@pytest.mark.parametrize("above", [0, 1, 2, 5])
def test_a_share_and_the_rest_have_one_interval(above):
    score = [0.99] * above + [0.3] * (100 - above) + [0.5] * 40
    df = pl.DataFrame({"score": score, "truth": [False] * 100 + [True] * 40})
    df = df.with_columns(weight=pl.Series([0.5, 1.0, 2.0, 3.3] * 35))
    names = ["fpr", "specificity"]
    [row] = df.prc.summary(
        "truth", "score", weight="weight", measures=names, at={"threshold": 0.9}
    ).to_dicts()
    assert row["fpr_low"] == pytest.approx(1 - row["specificity_high"], abs=1e-12)
    assert row["fpr_high"] == pytest.approx(1 - row["specificity_low"], abs=1e-12)


@pytest.mark.parametrize("scale", [2.0**-215, 2.0**220])
def test_intervals_do_not_depend_on_the_scale_of_weights(scale):
    random = np.random.default_rng(2)
    score = random.random(400)
    df = pl.DataFrame({"truth": random.random(400) < score, "score": score}).with_columns(
        weight=3 * random.random(400)
    )
    names = ["log_loss", "brier", "brier_skill", "observed_expected", "recall", "mcc", "roc_auc"]
    asked = {"weight": "weight", "measures": names, "at": {"threshold": 0.5}, "details": True}
    found, scaled = (
        frame_prc.summary(one, "truth", "score", **asked)
        for one in (df, df.with_columns(pl.col("weight") * scale))
    )
    sizes = ["n", "n_pos"]
    assert_frame_equal(scaled.drop(sizes), found.drop(sizes), rel_tol=1e-12)
