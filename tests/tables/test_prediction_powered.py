"""Measures from few labels and a judge's: each part by definition, and its interval by draws."""

from __future__ import annotations

import math

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from kinds import every_kind

import frame_prc
from frame_prc import ColumnError, DataError, OptionError


def judged(n=600, labelled=200, seed=0, right=(0.85, 0.98), groups=2):
    """Return rows of which the first of each group have labels, and all a judge's."""
    random = np.random.default_rng(seed)
    truth = random.random(n * groups) < 0.3
    score = np.round(random.normal(size=n * groups) + 1.2 * truth, 2)
    judge = random.random(n * groups) < np.where(truth, right[0], 1 - right[1])
    frame = {"truth": truth, "score": score, "judge": judge, "row": np.arange(n * groups)}
    df = pl.DataFrame(frame).with_columns(group=pl.col("row") // n, day=pl.col("row") % 40)
    has_label = pl.col("row") % n < labelled
    return df.with_columns(truth=pl.when(has_label).then("truth"), labelled=has_label)


def powered(kind, df, **options):
    asked = {"truth": "truth", "by": "group", "proxy": "judge", "details": True} | options
    table = frame_prc.prediction_powered(kind.make(df), score="score", **asked)
    return kind.rows(table)


def unbiased(df, truth):
    """Return the exact area of each group, less its bias."""
    own = df.select("group", "score", truth=truth)
    found = {}
    for key, rows in segments(own, "group").items():
        found[key[0]] = float(oracle.average_precision(rows) - oracle.bias(rows))
    return found


@every_kind
def test_a_judge_narrows_the_interval_of_clusters_with_levels_of_their_own(kind):
    df = judged(labelled=300, n=600).with_columns(pl.col("score") + pl.col("day") % 8)
    found = powered(kind, df, cluster="day")
    alone = df.filter("labelled").prc.average_precision(
        "truth", "score", by="group", ci=0.95, cluster="day"
    )
    width, usual = (t["ci_high"] - t["ci_low"] for t in (found, alone))
    assert (width < 0.98 * usual).all()


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
def test_value_and_error_are_those_of_their_parts(kind, cluster):
    df = judged(labelled=120, n=300)
    few, rest = df.filter("labelled"), df.filter(~pl.col("labelled"))
    p, u = unbiased(few, "judge"), unbiased(rest, "judge")
    plain = few.prc.average_precision("truth", "score", by="group")["average_precision"]
    found = powered(kind, df, cluster=cluster)
    for row, h, (group,) in zip(found.iter_rows(named=True), plain, [(0,), (1,)], strict=True):
        sides = [side.filter(group=group) for side in (few, rest)]
        agree = np.corrcoef(sides[0]["truth"].cast(float), sides[0]["judge"].cast(float))[0, 1]
        part = 0.6 * (agree * min(1.0, h * (1 - h) / (p[group] * (1 - p[group])))) ** 2
        # What clusters multiply the variance by, they multiply the bias by.
        within = 1e-9 if cluster is None else 5e-3
        assert row["proxy_weight"] == pytest.approx(part, rel=within)
        moved = h + part * (u[group] - p[group])
        assert row["average_precision"] == pytest.approx(moved, rel=within)
        part = row["proxy_weight"]
        moves = [
            (sides[0], "truth", 1.0), (sides[0], "judge", -part), (sides[1], "judge", part)
        ]  # fmt: skip
        sums = {}
        for side, truth, factor in moves:
            by_row = side.prc.influence(truth, "score")["average_precision"]
            units = side[cluster or "row"]
            for unit, moved in zip(units, by_row, strict=True):
                sums[unit] = sums.get(unit, 0.0) + factor * moved
        error = math.sqrt(math.fsum(moved**2 for moved in sums.values()))
        assert row["std_error"] == pytest.approx(error)
        assert row["ci_low"] < row["average_precision"] < row["ci_high"]
        assert (row["n"], row["n_unlabelled"]) == (120, 180)


def test_the_interval_covers_and_a_judge_that_is_right_narrows_it():
    df = judged(n=2000, labelled=250, groups=300, seed=1)
    whole = judged(n=300_000, labelled=300_000, groups=1, seed=2)
    [expected] = whole.prc.average_precision("truth", "score")["average_precision"]
    found = df.prc.prediction_powered("truth", "score", by="group", proxy="judge")
    plain = df.filter("labelled").prc.average_precision("truth", "score", by="group", ci=0.95)
    covers = (found["ci_low"] <= expected) & (expected <= found["ci_high"])
    assert 0.92 < covers.mean() < 0.985
    variances = [table["average_precision"].var() for table in (found, plain)]
    assert variances[0] < 0.65 * variances[1]
    widths = [(table["ci_high"] - table["ci_low"]).mean() for table in (found, plain)]
    assert widths[0] < 0.85 * widths[1]
    assert found["effective_labels"].median() > 1.4 * 250


@every_kind
def test_a_judge_that_guesses_or_says_nothing_changes_nothing(kind):
    df = judged()
    plain = df.filter("labelled").prc.average_precision("truth", "score", by="group", ci=0.95)
    for judge in (pl.lit(value=False), pl.col("row") % 2 == 0):
        found = powered(kind, df.with_columns(judge=judge))
        assert found["average_precision"].to_list() == pytest.approx(
            plain["average_precision"].to_list(), abs=2e-3
        )
    alone = powered(kind, df.filter("labelled"))
    assert alone["average_precision"].to_list() == plain["average_precision"].to_list()
    assert alone["ci_low"].to_list() == pytest.approx(plain["ci_low"].to_list())
    assert alone["n_unlabelled"].to_list() == [0, 0]


@every_kind
@pytest.mark.parametrize("measure", ["roc_auc", "brier"])
def test_other_measures_have_it_too(kind, measure):
    df = judged(n=2000).with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    found = powered(kind, df, measure=measure)
    plain = kind.rows(
        frame_prc.summary(
            kind.make(df.filter("labelled")), "truth", "score", by="group", measures=measure
        )
    )
    widths = [(t[high] - t[low]).mean() for t, low, high in (
        (found, "ci_low", "ci_high"), (plain, f"{measure}_low", f"{measure}_high"),
    )]  # fmt: skip
    assert widths[0] < widths[1]
    assert (found["effective_labels"] > found["n"]).all()


@every_kind
@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"proxy": "jugde"}, ColumnError, "proxy= names 'jugde', which is not a column"),
        ({"truth": ["truth"]}, OptionError, r"truth= takes columns, got \['truth'\]"),
        ({"truth": "turth"}, ColumnError, "truth= names 'turth'.* did you mean 'truth'"),
        ({"proxy": "gap"}, DataError, "'gap' has .* null"),
        ({"measure": "calibrated"}, OptionError, "measure='calibrated' is not an option"),
        ({"ci": 2}, OptionError, "ci=2"),
        (
            {"measure": "recall", "at": {"predicted_count": 10}},
            OptionError,
            "at={'predicted_count': ...} is given.*'predicted_rate': 0.1",
        ),
    ],
)
def test_what_is_wrong_is_one_error(kind, asked, error, says):
    df = judged().with_columns(gap=pl.when(pl.col("row") > 5).then("judge"))
    with pytest.raises(error, match=says):
        powered(kind, df, **asked)
