"""A tie that a number of rows cuts: the mean over the choices of the rows that fit."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import engine_kinds
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from kinds import every_kind
from strategies import SCORES_OR_NONE, frames

import frame_prc
from frame_prc import Draws, OptionError, Top

# Ranked 1 0 1 | three of score 0.5 | 0.
ROWS = pl.DataFrame({"truth": [1, 0, 1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.5, 0.5, 0.5, 0.1]})
ASKED = {"by": "segment", "missing": "unretrieved", "details": True}


def choices(rows, most):
    """Yield the ties that are retrieved, for each choice of rows of the last one."""
    scores = sorted({row.score for row in rows if row.score is not None}, reverse=True)
    whole, room = [], most
    for score in scores:
        tie = [row.truth for row in rows if row.score == score]
        if len(tie) > room:
            for chosen in combinations(tie, room):
                yield [*whole, [*chosen]]
            return
        whole.append(tie)
        room -= len(tie)
    yield whole


def area(ties, positives):
    """Return the step area over ties, one step each."""
    hits, n, total = 0, 0, Fraction(0)
    for tie in ties:
        hits, n = hits + sum(tie), n + len(tie)
        total += Fraction(sum(tie), positives) * Fraction(hits, n) if n else 0
    return total


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


@every_kind
@pytest.mark.parametrize("most", [1, 2, 3, 5.5, 100])
@given(df=frames(SCORES_OR_NONE, max_size=7))
def test_counts_are_means_over_the_choices(kind, most, df):
    table = kind.rows(
        frame_prc.operating_points(
            kind.make(df),
            "truth",
            "score",
            predicted_count=Top(most, ties="expected"),
            recall=1,
            **ASKED,
        )
    )
    assert table["tp"].dtype == pl.Float64
    counted = {row["segment"]: row for row in table.filter(criterion="predicted_count").to_dicts()}
    for (segment,), rows in segments(df, "segment").items():
        found = counted[segment]
        chosen = [[*chain.from_iterable(ties)] for ties in choices(rows, int(most))]
        if not chosen[0]:
            assert found["tp"] is None
            continue
        hits = mean(Fraction(sum(truths)) for truths in chosen)
        n, positives = len(chosen[0]), sum(row.truth for row in rows)
        assert found["tp"] == pytest.approx(float(hits), rel=1e-12, abs=1e-15)
        assert found["predicted_count"] == pytest.approx(n, rel=1e-12)
        assert found["precision"] == pytest.approx(float(hits / n), rel=1e-12, abs=1e-15)
        if positives:
            assert found["recall"] == pytest.approx(float(hits / positives), rel=1e-12, abs=1e-15)


@every_kind
@pytest.mark.parametrize("most", [1, 2, 3, 5.5, 100])
@given(df=frames(SCORES_OR_NONE, max_size=7))
def test_the_area_is_the_mean_over_the_choices(kind, most, df):
    verbs = {"average_precision": "average_precision", "auc": "auc"}
    for verb, column in verbs.items():
        top = Top(most, ties="expected")
        table = getattr(frame_prc, verb)(kind.make(df), "truth", "score", top=top, **ASKED)
        found = dict(kind.rows(table).select("segment", column).rows())
        for (segment,), rows in segments(df, "segment").items():
            positives = sum(row.truth for row in rows)
            if not positives:
                assert found[segment] is None
                continue
            exact = mean(area(ties, positives) for ties in choices(rows, int(most)))
            assert found[segment] == pytest.approx(float(exact), rel=1e-12, abs=1e-15)


@every_kind
def test_by_default_a_tie_is_whole(kind):
    point = frame_prc.operating_points(kind.make(ROWS), "truth", "score", predicted_count=4)
    assert kind.rows(point).select("predicted_count", "threshold").row(0) == (3, 0.7)
    expected = frame_prc.operating_points(
        kind.make(ROWS), "truth", "score", predicted_count=Top(4, ties="expected")
    )
    row = kind.rows(expected).row(0, named=True)
    assert (row["predicted_count"], row["threshold"]) == (4.0, 0.5)
    assert row["precision"] == pytest.approx((2 + 2 / 3) / 4, rel=1e-12)


@every_kind
def test_counts_and_ascending_scores_give_what_rows_give(kind):
    asked = {"predicted_count": [Top(number, ties="expected") for number in (2, 4, 5)]}
    rows = frame_prc.operating_points(ROWS, "truth", "score", **asked)
    counts = kind.make(frame_prc.counts(ROWS, "truth", "score"))
    found = frame_prc.operating_points(counts, score="threshold", pos="pos", neg="neg", **asked)
    assert kind.rows(found)["precision"].to_list() == rows["precision"].to_list()
    negated = kind.make(ROWS.with_columns(-pl.col("score")))
    found = frame_prc.operating_points(negated, "truth", "score", ascending=True, **asked)
    assert kind.rows(found)["precision"].to_list() == rows["precision"].to_list()


@every_kind
@pytest.mark.parametrize(
    ("verb", "options", "says"),
    [
        ("operating_points", {"ci": 0.9}, r"ci= is given with.*replicate"),
        ("operating_points", {"weight": "w"}, "given for weighted rows"),
        (
            "operating_points",
            {"predicted_count": Top(3, normaliser="attainable")},
            "normaliser='attainable' is given in predicted_count=.*divides an area",
        ),
        ("average_precision", {"calibrate": 0.2}, "calibrate= is given with ties="),
        ("average_precision", {"weight": "w"}, "given for weighted rows"),
        ("auc", {"recall_range": (0, 0.5)}, "recall_range= is given with ties="),
        ("auc", {"top": Top(3, ties="random")}, "ties='random' is not an option.*'expected'"),
    ],
)
def test_what_has_no_such_mean_is_refused(kind, verb, options, says):
    df = kind.make(ROWS.with_columns(w=0.5))
    name = "predicted_count" if verb == "operating_points" else "top"
    cut = {name: Top(3, ties="expected")}
    with pytest.raises(OptionError, match=says):
        kind.rows(getattr(frame_prc, verb)(df, "truth", "score", **cut | options))


def test_an_engine_says_that_it_does_not_take_them():
    kind = engine_kinds.duckdb_kind()
    with pytest.raises(OptionError, match="ties='expected'"):
        frame_prc.operating_points(
            kind.make(ROWS), "truth", "score", predicted_count=Top(4, ties="expected")
        )


def test_an_interval_of_the_area_follows_the_draws():
    df = pl.DataFrame({"truth": [k * 7 % 11 < 4 for k in range(400)]}).with_columns(
        score=pl.int_range(400) * 7919 % 601 // 60 + 2 * pl.col("truth")
    )
    asked = {"top": Top(100, ties="expected"), "ci": 0.9, "bootstrap": Draws(200, seed=1)}
    row = frame_prc.auc(df, "truth", "score", **asked).row(0, named=True)
    assert row["ci_low"] < row["auc"] < row["ci_high"]
