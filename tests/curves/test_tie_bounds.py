"""How far off the average precision of bins can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import DYADIC_WEIGHTS, INFINITY, SCORES, frames

import frame_prc

ROWS = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, 0.1]})


def areas_of_all_orders(bins, unreached):
    """Return every average precision that rows can have within their bins, ties included."""
    truths = [[True] * pos + [False] * neg for pos, neg in bins]
    never = [
        oracle.Row(truth, None)
        for truth, n in zip((True, False), unreached, strict=True)
        for _ in range(n)
    ]
    for places in product(*(product(range(pos + neg), repeat=pos + neg) for pos, neg in bins)):
        rows = [
            oracle.Row(truth, -10 * level - place)
            for level, (row_truths, within) in enumerate(zip(truths, places, strict=True))
            for truth, place in zip(row_truths, within, strict=True)
        ]
        yield oracle.average_precision([*rows, *never])


@every_kind
@pytest.mark.parametrize(
    "bins",
    [[(1, 1), (1, 1)], [(2, 1)], [(1, 2), (1, 0)], [(0, 2), (2, 1)], [(3, 0), (0, 1)]],
    ids=str,
)
@pytest.mark.parametrize("unreached", [(0, 0), (1, 1)], ids=str)
def test_bounds_hold_for_every_order_within_bins(kind, bins, unreached):
    """Rows that no threshold reaches are never retrieved, in the bounds as in the area."""
    counted = [
        {"truth": truth, "score": 1.0 - level}
        for level, amounts in enumerate([*bins, unreached])
        for truth, amount in zip((True, False), amounts, strict=True)
        for _ in range(amount)
    ]
    thresholds = [1.0 - level for level in reversed(range(len(bins)))]
    df = pl.DataFrame(counted)
    row = kind.rows(
        frame_prc.average_precision(kind.make(df), "truth", "score", thresholds=thresholds)
    ).row(0, named=True)
    areas = sorted(set(areas_of_all_orders(bins, unreached)))
    assert row["ap_highest"] == pytest.approx(float(areas[-1]), rel=1e-12)
    # The integral stands for a sum; at so few rows they differ most.
    assert float(areas[0]) - 0.02 < row["ap_lowest"] <= float(areas[0]) + 1e-12
    assert row["ap_lowest"] <= row["average_precision"] <= row["ap_highest"]


@every_kind
@given(df=frames(scores=st.floats(0, 1)), number=st.sampled_from([2, 3, 9]))
def test_exact_average_precision_lies_within_the_bounds_of_its_bins(kind, df, number):
    exact, binned = (
        kind.rows(
            frame_prc.average_precision(
                kind.make(df), "truth", "score", by="segment", thresholds=at
            )
        )
        for at in (None, number)
    )
    both = exact.join(binned, on="segment", nulls_equal=True, suffix="_binned")
    area = pl.col("average_precision")
    within = (pl.col("ap_lowest") <= area + 1e-12) & (area <= pl.col("ap_highest") + 1e-12)
    assert both.height == exact.height
    assert both.select(within.fill_null(area.is_null()).all()).item()


# Two that cover no score below them, one that covers all, and two numbers.
SOME_THRESHOLDS = st.sampled_from([[0.25, 0.5], [2.0], [-INFINITY, 0.3], 2, 5])


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("counted", [False, True], ids=["rows", "counts"])
@given(
    data=st.data(), thresholds=SOME_THRESHOLDS, missing=st.sampled_from(["raise", "unretrieved"])
)
def test_bounds_hold_for_the_average_precision_beside_them(
    kind, weights, counted, data, thresholds, missing
):
    places = range(thresholds) if isinstance(thresholds, int) else None
    scores = SCORES if places is None else st.floats(0, 1)
    df = data.draw(frames(scores if missing == "raise" else scores | st.none(), weights))
    frame, asked = kind.make(df), {"by": "segment", "missing": missing}
    columns = {"truth": "truth", "score": "score", "weight": None if weights is None else "weight"}
    if counted:
        frame = frame_prc.counts(frame, **columns, **asked)
        columns = {"score": "threshold", "pos": "pos", "neg": "neg"}
    found = kind.rows(
        frame_prc.average_precision(frame, **columns, **asked, thresholds=thresholds, bounds=True)
    )
    at = thresholds if places is None else [place / places[-1] for place in places]
    for (segment,), rows in segments(df, "segment").items():
        row = found.row(by_predicate=pl.col("segment").eq_missing(segment), named=True)
        lowest, area, highest = (
            row[name] for name in ("ap_lowest", "average_precision", "ap_highest")
        )
        if (in_bins := oracle.average_precision(oracle.binned(rows, at))) is None:
            assert lowest is area is highest is None
            continue
        assert area == pytest.approx(float(in_bins), rel=1e-12)
        assert lowest <= area <= highest
        # So they do for the exact scores, where none below the lowest threshold is retrieved.
        missed = [r._replace(score=None) for r in rows]
        reached = [r.score is not None and r.score >= at[0] for r in rows]
        kept = [r if reaches else m for r, m, reaches in zip(rows, missed, reached, strict=True)]
        exact = float(oracle.average_precision(kept))
        assert lowest - 1e-12 <= exact <= highest + 1e-12


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_bins_tell_their_bounds_too(kind, weighted):
    df = pl.DataFrame(
        {
            "truth": [row % 3 == 0 for row in range(60)],
            "score": [row * 7 % 60 / 60 for row in range(60)],
            "weight": [1.0 + row % 2 for row in range(60)],
        }
    )
    weight = "weight" if weighted else None
    asked = {"weight": weight, "thresholds": 5}
    counts = frame_prc.counts(kind.make(df), "truth", "score", **asked)
    from_counts = frame_prc.average_precision(
        counts, score="threshold", pos="pos", neg="neg", bounds=True
    )
    from_rows = frame_prc.average_precision(kind.make(df), "truth", "score", **asked)
    assert_frame_equal(kind.rows(from_counts), kind.rows(from_rows), rel_tol=1e-12)


@every_kind
def test_without_ties_nothing_is_open(kind):
    row = kind.rows(frame_prc.average_precision(kind.make(ROWS), "truth", "score", bounds=True))
    exact = float(Fraction(5, 6))
    assert row.select("average_precision", "ap_highest").row(0) == pytest.approx((exact, exact))
    assert exact - 0.02 < row["ap_lowest"].item() <= exact


@every_kind
def test_rows_never_found_are_no_open_question(kind):
    df = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, None]})
    row = kind.rows(
        frame_prc.average_precision(
            kind.make(df), "truth", "score", missing="unretrieved", bounds=True
        )
    )
    assert row["ap_highest"].item() == row["average_precision"].item() == 0.5
