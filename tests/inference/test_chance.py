"""What a random order of the labels attains, what is measured by it, and scores that are worse."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from kinds import every_kind
from layers import also
from strategies import SCORES_OR_NONE, frames

import frame_prc
from frame_prc import Draws

RANDOM = "random_average_precision"


def mean_over_every_order(rows):
    """Return the mean of the average precision over all orders of the truths, one after another."""
    positives = sum(row.truth for row in rows)
    orders = [
        [row._replace(truth=place in chosen) for place, row in enumerate(rows)]
        for chosen in combinations(range(len(rows)), positives)
    ]
    return sum(map(oracle.average_precision, orders)) / len(orders) if positives else None


def random_of(frame, **asked):
    return frame_prc.summary(frame, "truth", "score", **asked, details=True).row(0, named=True)[
        RANDOM
    ]


# --- the expectation ---------------------------------------------------------------------------


@given(frames(SCORES_OR_NONE, max_size=6))
def test_the_oracle_is_the_mean_over_every_order(df):
    for rows in segments(df, None).values():
        assert oracle.random_average_precision(rows) == mean_over_every_order(rows)


@every_kind
@given(frames(SCORES_OR_NONE))
def test_it_is_exact_with_ties_and_rows_never_retrieved(kind, df):
    for missing, rows in (("drop", df.drop_nulls("score")), ("unretrieved", df)):
        table = frame_prc.summary(
            kind.make(df), "truth", "score", by="segment", missing=missing, details=True
        )
        found = dict(kind.rows(table).select("segment", RANDOM).rows())
        for (segment,), some in segments(rows, "segment").items():
            wanted = oracle.random_average_precision(some)
            assert found[segment] == (None if wanted is None else pytest.approx(float(wanted)))


@pytest.mark.parametrize(
    ("truth", "score", "wanted"),
    [
        ([1, 1, 0, 0, 0], [5, 4, 3, 2, 1], 0.5925),  # Bestgen 2015
        ([1, 0, 0, 0], [1, 1, 1, 1], 0.25),  # all tied: the prevalence
        ([1], [1], 1.0),
        ([1], [None], 0.0),
        ([1, 1, 1], [3, 2, 1], 1.0),
        ([1, 1], [1, None], 0.5),
        ([0, 0], [2, 1], None),
        ([1, 0], [None, None], 0.0),
    ],
)
@every_kind
def test_small_cases(kind, truth, score, wanted):
    df = pl.DataFrame({"truth": truth, "score": score}, schema_overrides={"score": pl.Float64})
    table = frame_prc.summary(kind.make(df), "truth", "score", missing="unretrieved", details=True)
    [found] = kind.rows(table)[RANDOM]
    assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-15, abs=0))


@pytest.mark.parametrize("n", [15, 16, 17, *also(40, 300)])
@pytest.mark.parametrize("distinct", [1, 7, 1_000])
def test_tied_rows_count_beside_the_sum_without_ties(n, distinct):
    df = pl.DataFrame({"truth": [i % 3 == 0 for i in range(n)], "place": range(n)})
    df = df.with_columns(score=pl.col("place") % distinct, segment=pl.lit("a"))
    [rows] = segments(df, "segment").values()
    wanted = float(oracle.random_average_precision(rows))
    assert random_of(df) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(("positives", "n"), [(3, 300_000), (150_000, 300_000), (299_999, 300_000)])
def test_no_digit_is_lost_with_many_rows(positives, n):
    df = pl.DataFrame({"truth": pl.int_range(n, eager=True) < positives, "score": range(n)})
    harmonic = Fraction(math.fsum(1 / k for k in range(1, n + 1)))
    wanted = (harmonic * (n - positives) + n * (positives - 1)) / (n * (n - 1))
    row = frame_prc.summary(df, "truth", "score", details=True).row(0, named=True)
    assert row[RANDOM] == pytest.approx(float(wanted), rel=1e-15, abs=0)
    corrected = (oracle_area(positives, n) - wanted) / (1 - wanted)
    assert row["chance_corrected_average_precision"] == pytest.approx(
        float(corrected), rel=1e-11, abs=0
    )


def oracle_area(positives, n):
    """Return the average precision of all negatives above all positives, none tied."""
    found = math.fsum(k / (n - positives + k) for k in range(1, positives + 1))
    return Fraction(found) / positives


@every_kind
def test_the_prevalence_stands_for_it_with_weights(kind):
    df = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1], "w": [1.0, 2.0, 3.0, 4.0]})
    row = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", weight="w", details=True))
    area = 0.25 * 1 + 0.75 * 4 / 6
    measures = row.select("prevalence", RANDOM, "lift", "chance_corrected_average_precision")
    assert measures.row(0) == pytest.approx((0.4, 0.4, area / 0.4, (area - 0.4) / 0.6), rel=1e-14)


@every_kind
def test_a_mean_of_segments_is_the_mean_of_what_each_has(kind):
    truth = {"a": [1, 0, 0], "b": [1, 1, 0, 0], "c": [0]}
    rows = [(key, bool(value)) for key, values in truth.items() for value in values]
    df = pl.DataFrame(rows, schema=["k", "truth"], orient="row").with_row_index("score")
    table = kind.rows(
        frame_prc.summary(kind.make(df), "truth", "score", by="k", overall=True, details=True)
    )
    found = dict(table.select(pl.coalesce("k", "level"), RANDOM).rows())
    alone = {(key,): oracle.random_average_precision(s) for (key,), s in segments(df, "k").items()}
    [pooled] = (oracle.random_average_precision(some) for some in segments(df, None).values())
    macro = (alone["a",] + alone["b",]) / 2
    wanted = {"a": alone["a",], "b": alone["b",], "pooled": pooled, "macro": macro}
    assert found.pop("c") is None
    assert found == pytest.approx({key: float(value) for key, value in wanted.items()}, rel=1e-15)


# --- part of the area --------------------------------------------------------------------------


def part_of_area(rows, top):
    """Return the step area of the ties within the top rows."""
    area, before = Fraction(0), Fraction(0)
    for point in oracle.curve(rows):
        if point.tp + point.fp <= top:
            area += (point.recall - before) * point.precision
        before = point.recall
    return area


def mean_part(rows, **part):
    """Return the mean of such an area over all orders of the truths, one after another."""
    positives = sum(row.truth for row in rows)
    orders = [
        [row._replace(truth=place in chosen) for place, row in enumerate(rows)]
        for chosen in combinations(range(len(rows)), positives)
    ]
    return sum(part_of_area(order, **part) for order in orders) / len(orders)


def assert_random(found, df, **part):
    known = dict(found.select("segment", RANDOM).rows())
    for (segment,), rows in segments(df, "segment").items():
        if any(row.truth for row in rows):
            wanted = float(mean_part(rows, **part))
            assert known[segment] == pytest.approx(wanted, rel=1e-12, abs=1e-15)
        else:
            assert known[segment] is None


@every_kind
def test_a_range_of_recalls_has_the_prevalence(kind):
    df = pl.DataFrame({"truth": [1, 0, 1, 0, 0, 0], "score": [6, 5, 5, 3, 2, None]})
    asked = {"method": ["step", "envelope"], "missing": "unretrieved", "details": True}
    whole = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", recall_range=(0, 1), **asked))
    assert whole[RANDOM].to_list() == [pytest.approx(random_of(df, missing="unretrieved")), None]
    half = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", recall_range=(0.5, 1), **asked))
    assert half[RANDOM].to_list() == [pytest.approx((5 / 6 - 0.5) * 2 / 6), None]


@every_kind
@pytest.mark.parametrize("top", [1, 2, 3, 5, 100])
@given(df=frames(SCORES_OR_NONE, max_size=6))
def test_that_of_the_top_rows_is_the_mean_over_every_order(kind, top, df):
    asked = {"by": "segment", "missing": "unretrieved", "details": True, "top": top}
    table = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **asked))
    assert_random(table, df, top=top)
    area = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", **asked))
    assert area[RANDOM].to_list() == table[RANDOM].to_list()


def test_it_is_divided_as_the_area_is():
    df = pl.DataFrame({"truth": [1, 0, 1, 0, 0, 1], "score": [6, 5, 5, 3, 2, 1]})

    def found(**asked):
        return frame_prc.auc(df, "truth", "score", **asked, details=True)[RANDOM].item()

    half = found(recall_range=(0.5, 1))
    assert found(recall_range=(0.5, 1), standardised=True) == pytest.approx(2 * half)
    one = found(top=1)
    assert one == pytest.approx(1 / 6)
    assert found(top=frame_prc.Top(1, normaliser="attainable")) == pytest.approx(3 * one)


@every_kind
def test_weighted_and_calibrated_parts_have_the_prevalence(kind):
    df = pl.DataFrame(
        {"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1], "w": [1.0, 1.0, 2.0, 4.0], "s": ["a"] * 4}
    )
    asked = {"details": True, "by": "s"}

    def found(**part):
        table = frame_prc.auc(kind.make(df), "truth", "score", **part, **asked)
        return kind.rows(table)[RANDOM].item()

    assert found(recall_range=(0.25, 0.75), weight="w") == pytest.approx(0.5 * 3 / 8)
    assert found(top=3, weight="w") == pytest.approx(2 / 8 * 3 / 8)
    assert found(top=3, calibrate=0.3) == pytest.approx(3 / 4 * 0.3)


@every_kind
def test_only_details_of_a_part_show_it(kind):
    df = pl.DataFrame({"truth": [1, 0], "score": [2, 1]})
    for verb, part in (("auc", {"recall_range": (0, 0.5)}), ("average_precision", {"top": 1})):
        function = getattr(frame_prc, verb)
        shown = kind.rows(function(kind.make(df), "truth", "score", **part, details=True))
        assert RANDOM in shown.columns
        assert shown.columns[-1] == "status"
        without = [
            function(kind.make(df), "truth", "score", **part),
            function(kind.make(df), "truth", "score", details=True),
        ]
        assert not any(RANDOM in kind.rows(table).columns for table in without)


# --- below chance ------------------------------------------------------------------------------

MANY = [k % 10 == 0 for k in range(100)] + [k % 10 > 0 for k in range(100)]


def rows_of(truth):
    """Return rows in descending order of their score; the lower is the better one here."""
    return pl.DataFrame({"truth": truth}).with_columns(
        score=-pl.int_range(pl.len()), user=pl.int_range(pl.len()) // 2, weight=1.5
    )


@every_kind
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"ci_method": "boyd"},
        {"bootstrap": Draws(100, seed=1)},
        {"cluster": "user"},
        {"weight": "weight"},
        {"thresholds": [-300, -150, -100, -50, 0, 50, 100, 150, 300]},
    ],
    ids=str,
)
def test_status_says_that_the_whole_interval_lies_below_chance(kind, asked):
    df = rows_of(MANY)
    worse = kind.rows(kind.make(df).prc.average_precision("truth", "score", ci=0.95, **asked))
    assert worse["status"].to_list() == ["below_chance"]
    negated = kind.make(df.with_columns(-pl.col("score")))
    better = kind.rows(negated.prc.average_precision("truth", "score", ci=0.95, **asked))
    assert better["status"].to_list() == ["ok"]
    without = kind.rows(kind.make(df).prc.average_precision("truth", "score"))
    assert without["status"].to_list() == ["ok"]


@every_kind
@pytest.mark.parametrize("asked", [{}, {"weight": "weight"}], ids=str)
def test_a_summary_says_so_of_segments_and_of_all(kind, asked):
    df = pl.concat([rows_of(MANY), rows_of(MANY[::-1])]).with_columns(
        k=pl.Series(["a"] * 200 + ["b"] * 200)
    )
    worse = df.filter(k="a").with_columns(k=pl.lit("c"))
    asked = {"by": "k", "overall": True, **asked}
    table = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", **asked))
    assert dict(table.select("k", "status").head(2).rows()) == {"a": "below_chance", "b": "ok"}
    alone = kind.make(pl.concat([df.filter(k="a"), worse]))
    every = kind.rows(frame_prc.summary(alone, "truth", "score", **asked))
    assert every["status"].to_list() == ["below_chance"] * 4


@every_kind
def test_it_takes_account_of_how_far_random_orders_exceed_the_prevalence(kind):
    """An interval above the prevalence and below what a random order of the labels has."""
    truth = [k in (60, 65, 80, 90) for k in range(100)]
    table = kind.rows(
        frame_prc.summary(kind.make(rows_of(truth)), "truth", "score", ci=0.5, details=True)
    )
    row = table.row(0, named=True)
    assert row["prevalence"] < row["ci_high"] < row[RANDOM]
    assert row["status"] == "below_chance"
