"""Rows for other engines, and what must be the same there as in Polars."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from kinds import Kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import FrameError

INFINITY, NAN = float("inf"), float("nan")
VERBS = [frame_prc.counts, frame_prc.curve, frame_prc.average_precision]

every_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
# Ties within and across classes, both zeros, infinities, a null key, and segments of one class.
ROWS = pl.DataFrame(
    {
        "segment": ["a", None, "a", "b", None, "a", "b", "c", "c", "a", None],
        "week": [1, 1, 2, 2, 1, 1, 2, 1, 2, 2, 2],
        "truth": [True, False, True, False, True, False, True, False, False, True, True],
        "score": [0.1, 0.2, INFINITY, -0.0, 0.0, 0.1, 0.0, -INFINITY, 0.3, 0.7, 0.2],
        "other": [0.3, 0.2, 0.1, 0.5, 0.6, 0.2, 0.3, 1.0, 1.0, 0.4, 0.4],
        # Multiples of 1/8: their sums are exact, in whatever order an engine adds them.
        "weight": [1.0, 0.0, 3.0, 0.125, 0.25, 0.375, 0.75, 0.5, 5.0, 0.625, 2.0],
        "label": ["yes", "no", "yes", "maybe", "yes", "no", "yes", "no", "maybe", "yes", "yes"],
        "hits": [1, 0, 2, 0, 3, 0, 1, 0, 0, 5, 4],
        "misses": [0, 1, 0, 2, 0, 3, 1, 1, 2, 0, 6],
    }
)
HOLES = ROWS.with_columns(
    score=pl.Series([0.1, None, NAN, 0.3, 0.0, 0.1, None, NAN, 0.3, 0.7, 0.2]),
    truth=pl.Series([True, False, True, None, True, False, True, False, None, True, True]),
)


def assert_same(kind, verb, df, *columns, **options) -> None:
    """Show that an engine gives what Polars gives: integers exactly, floats to 1e-12."""
    try:
        rows = kind.rows(verb(kind.make(df), *columns, **options))
    except FrameError as error:
        if not (kind.name == "Ibis on SQLite" and _has_long_series(verb, options)):
            raise
        assert "cannot take the query: parser stack overflow" in str(error)  # noqa: PT017
        return
    expected = verb(kind.stores(df), *columns, **options)
    assert_frame_equal(rows, expected, rel_tol=1e-12, abs_tol=0)


def _has_long_series(verb: Any, options: dict[str, Any]) -> bool:
    """Return whether logarithms are computed as series, for which some SQLite has no room."""
    bounded = verb is frame_prc.average_precision and not {"bounds", "thresholds"}.isdisjoint(
        options
    )
    return bounded or "interpolated" in options.get("method", ())


def weighted_rows(height: int) -> pl.DataFrame:
    """Return rows of two segments, of which the second has rows that no threshold retrieves."""
    random = np.random.default_rng(16)
    missing = pl.col("segment") & (pl.int_range(pl.len()) % 10 == 0)
    return pl.DataFrame(
        {
            "segment": random.random(height) < 0.2,
            "truth": random.random(height) < 0.3,
            "score": random.random(height),
            "weight": random.gamma(0.5, size=height),
        }
    ).with_columns(score=pl.when(~missing).then("score"))


def assert_sums_rise_to_their_totals(df: pl.DataFrame, curve, table) -> None:
    """Show what a curve of ``weighted_rows`` without a start keeps to, to the last digit."""
    for segment in (False, True):
        points = curve.filter(segment=segment)
        rows = df.filter(pl.col("segment") == segment, pl.col("score").is_not_null())
        ranked = rows.sort("score", descending=True)
        assert points["threshold"].to_list() == ranked["score"].to_list()
        for name, other, grows in (("tp", "fn", ranked["truth"]), ("fp", "tn", ~ranked["truth"])):
            before = points[name].shift(1, fill_value=0.0)
            assert (points[name] >= before).all()
            assert (points[name] == before).filter(~grows).all()
            assert points[other].is_sorted(descending=True)
            assert points[other][-1] >= 0
        assert points["recall"].is_sorted()
        assert points["precision"].is_between(0, 1).all()
        assert points["envelope"].is_sorted(descending=True)
        assert (points["envelope"] >= points["precision"]).all()
        area = table.filter(segment=segment).row(0, named=True)
        assert 0 <= area["average_precision"] <= 1
        last = points.row(-1, named=True)
        n = sum(last[name] for name in ("tp", "fp", "fn", "tn"))
        if segment:
            lost = df.filter("segment", "truth", pl.col("score").is_null())["weight"].sum()
            assert last["fn"] == pytest.approx(lost, rel=1e-9)
            assert area["n"] == pytest.approx(n, rel=1e-15)
        else:
            assert (last["recall"], last["fn"], last["tn"]) == (1, 0, 0)
            at_the_last_positive = ranked["truth"].arg_true()[-1]
            assert (points["recall"][at_the_last_positive:] == 1).all()
            assert area["n"] == n


def show_that_sums_rise(kind: Kind, df: pl.DataFrame) -> None:
    common = {"by": "segment", "weight": "weight", "missing": "unretrieved"}
    curve = frame_prc.curve(kind.make(df), "truth", "score", start=None, envelope=True, **common)
    table = frame_prc.average_precision(kind.make(df), "truth", "score", **common)
    assert_sums_rise_to_their_totals(df, kind.rows(curve), kind.rows(table))
