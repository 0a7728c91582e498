"""The area over the top rows: whole ties that fit, divided by all positives or the attainable."""

from __future__ import annotations

from fractions import Fraction

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal, assert_series_equal
from strategies import BY, DYADIC_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError, Top

# Ranked 1 0 1 | two of score 0.5 | 1 0.
ROWS = pl.DataFrame({"truth": [1, 0, 1, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.5, 0.5, 0.3, 0.1]})


def area(kind, df, top, normaliser="positives", **options):
    top = None if top is None else Top(top, normaliser)
    found = frame_prc.average_precision(
        kind.make(df), "truth", "score", top=top, **options, details=True
    )
    return kind.rows(found)


def by_definition(rows, top, normaliser):
    """Return the sum of the steps that end within the top rows."""
    positives, _ = oracle.totals(rows)
    if positives == 0:
        return None
    before, total = Fraction(0), Fraction(0)
    for point in oracle.curve(rows):
        if point.tp + point.fp <= top:
            total += (point.tp - before) * point.precision
            before = point.tp
    return float(
        total / (positives if normaliser == "positives" else min(positives, Fraction(top)))
    )


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("normaliser", ["positives", "attainable"])
@given(st.data(), BY, st.sampled_from([1, 2.5, 4, 1000]))
def test_area_is_that_of_the_points_that_fit(kind, weights, normaliser, data, by, top):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    weight = None if weights is None else "weight"
    found = area(kind, df, top, by=by, weight=weight, missing="unretrieved", normaliser=normaliser)
    if df.is_empty():
        return
    expected = [by_definition(rows, top, normaliser) for rows in segments(df, by).values()]
    area_column = pl.Series("average_precision", expected, pl.Float64)
    assert_series_equal(found["average_precision"], area_column, rel_tol=1e-12)


@every_kind
@pytest.mark.parametrize(
    ("top", "steps"),
    [(1, [1]), (2, [1]), (3, [1, 2 / 3]), (4, [1, 2 / 3]), (5, [1, 2 / 3, 3 / 5]), (99, None)],
)
def test_a_tie_that_does_not_fit_is_out_as_a_whole(kind, top, steps):
    known = sum(steps) / 4 if steps else area(kind, ROWS, None)["average_precision"].item()
    assert area(kind, ROWS, top)["average_precision"].item() == pytest.approx(known, rel=1e-12)


@every_kind
@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3])
def test_equal_weights_let_as_many_rows_in(kind, weight):
    for top in range(1, 8):
        plain = area(kind, ROWS, top)["average_precision"].item()
        found = area(kind, ROWS.with_columns(w=weight), top * weight, weight="w")
        assert found["average_precision"].item() == pytest.approx(plain, rel=1e-12)


@every_kind
def test_a_perfect_ranking_has_all_that_is_attainable(kind):
    df = pl.DataFrame({"truth": [1] * 8 + [0] * 2, "score": range(10, 0, -1)})
    found = [area(kind, df, 4, normaliser=n) for n in ("positives", "attainable")]
    assert [table["average_precision"].item() for table in found] == [0.5, 1.0]


@every_kind
@given(frames(SCORES_OR_NONE), BY)
def test_auc_has_the_same_area(kind, df, by):
    asked = {"by": by, "missing": "unretrieved", "top": Top(3, "attainable")}
    table = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **asked))
    areas = area(kind, df, 3, by=by, missing="unretrieved", normaliser="attainable")
    assert table["auc"].to_list() == areas["average_precision"].to_list()


@every_kind
def test_queries_are_averaged(kind):
    df = pl.concat([ROWS.with_columns(query=1), ROWS.with_columns(query=2, score=-pl.col("score"))])
    each = area(kind, df, 3, by="query")["average_precision"]
    asked = {"by": "query", "over": "query", "top": 3, "ci": 0.9, "details": True}
    mean = kind.rows(frame_prc.average(kind.make(df), "truth", "score", **asked))
    assert mean["average_precision"].item() == pytest.approx(each.mean(), rel=1e-15)
    assert mean["std_error"].item() == pytest.approx(each.std() / 2**0.5, rel=1e-12)


@every_kind
def test_calibrated_areas_are_cut_at_the_same_rows(kind):
    whole = area(kind, ROWS, 99, calibrate=0.2)
    plain = kind.rows(
        frame_prc.average_precision(kind.make(ROWS), "truth", "score", calibrate=0.2, details=True)
    )
    assert_frame_equal(whole.drop("random_average_precision"), plain)
    first = area(kind, ROWS, 1, calibrate=0.2)["calibrated_average_precision"].item()
    assert first == pytest.approx(1 / 4)


@every_kind
@pytest.mark.parametrize("verb", ["average_precision", "auc"])
@pytest.mark.parametrize(
    "columns", [{"truth": "truth"}, {"pos": "truth", "neg": "neg"}], ids=["rows", "counts"]
)
def test_a_share_is_no_number_of_rows(kind, verb, columns):
    frame = kind.make(ROWS.with_columns(neg=1 - pl.col("truth")))
    with pytest.raises(OptionError, match=r"top=0\.1 is less than.*10 % of 1000 rows is top=100"):
        getattr(frame_prc, verb)(frame, score="score", **columns, top=0.1)
    weighted = area(kind, ROWS.with_columns(weight=0.01), 0.01, weight="weight")
    assert weighted["average_precision"].item() == 0.25


@pytest.mark.parametrize(
    ("verb", "asked", "words"),
    [
        ("average_precision", {"top": 0}, ["top=0", "above 0"]),
        ("average_precision", {"top": "all"}, ["top='all'"]),
        ("average_precision", {"top": Top(5, "all")}, ["normaliser='all'", "'positives'"]),
        ("average_precision", {"top": 5, "ci": 0.9}, ["ci=", "auc(", "top="]),
        ("average_precision", {"top": 5, "bounds": True}, ["bounds=True", "top="]),
        ("average_precision", {"top": 5, "thresholds": 11}, ["thresholds=", "auc("]),
        ("auc", {"top": 5, "method": ["step", "gain"]}, ["'gain'", "'step'", "without top="]),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(verb, asked, words):
    with pytest.raises(OptionError) as caught:
        getattr(frame_prc, verb)(ROWS, "truth", "score", **asked)
    assert all(word in str(caught.value) for word in words), caught.value
