"""Sums of weights in other engines, and large segments on Spark in ranges."""

from __future__ import annotations

import engine_kinds
import optional
import polars as pl
import pytest
from engine_cases import assert_same, show_that_sums_rise, weighted_rows
from kinds import KINDS
from polars.testing import assert_frame_equal

import frame_prc

pytestmark = engine_kinds.WARNINGS


# --- sums of weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_sums_of_weights_never_fall_and_end_at_their_totals(kind):
    show_that_sums_rise(kind, weighted_rows(100_000))


def test_sums_of_weights_never_fall_inside_an_engine(kind):
    # In DuckDB they fell at one step in a hundred; on Spark where one range gives way to the next.
    show_that_sums_rise(kind, weighted_rows(100_000 if kind.name == "DuckDB" else 3_000))


# --- large segments on Spark -------------------------------------------------------------------


@pytest.mark.thorough
def test_ranges_of_a_large_segment_hold_about_as_many_scores_each(monkeypatch):
    kind = engine_kinds.spark_kind()
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_SAMPLED", 8)
    monkeypatch.setattr(ranges, "_RANGES", 16)
    monkeypatch.setattr(ranges, "_FEWEST_SAMPLED", 64)
    # Scores over 300 orders of magnitude: ranges of equal width would hold all or nothing.
    df = pl.select(
        segment=pl.when(pl.int_range(20_000) % 5 == 0).then(1).otherwise(None),
        score=10.0 ** (pl.int_range(20_000) / -70),
        pos=pl.lit(1),
        neg=pl.lit(0),
        dropped=pl.lit(0),
    )
    narwhals = optional.require_module("narwhals")
    frame = narwhals.from_native(kind.make(df))
    cuts = ranges.sample(frame, ["segment"]).cuts
    ranged = ranges.with_range(frame, cuts, ["segment"])
    sizes = ranged.to_native().groupBy("segment", "range").count().collect()
    giant = [row["count"] for row in sizes if row["segment"] is None]
    assert sum(giant) == 16_000
    assert len(giant) == 16
    assert max(giant) < 2 * 16_000 / 16


@pytest.mark.thorough
def test_cuts_change_nothing(monkeypatch):
    kind = engine_kinds.spark_kind()
    ranges = optional.require_module("frame_prc._engines.spark_ranges")
    monkeypatch.setattr(ranges, "_SAMPLED", 4)
    monkeypatch.setattr(ranges, "_FEWEST_SAMPLED", 100)
    places = pl.int_range(3_000)
    df = pl.select(
        segment=pl.when(places % 5 == 0).then(pl.lit("small")).otherwise(pl.lit("large")),
        truth=(places * 7919) % 11 < 3,
        score=((places * 104_729) % 2_003) / 2_003,
        weight=((places * 31) % 17) / 7,
    )
    common = {"by": "segment", "weight": "weight"}
    assert_same(kind, frame_prc.average_precision, df, "truth", "score", **common)
    options = {"keep": "corners", "envelope": True, **common}
    expected = frame_prc.curve(df, "truth", "score", **options)
    result = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", **options))
    # Sums of weights in another order: to 1e-12 of the segment's total.
    assert_frame_equal(result, expected, rel_tol=1e-12, abs_tol=1e-9)
    assert result.filter(pl.col("fn") == 0)["recall"].unique().to_list() == [1.0]
