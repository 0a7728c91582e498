"""Inside other engines: counts of parts add up to those of the whole, as in Polars."""

from __future__ import annotations

import engine_kinds
import polars as pl
import pytest
from engine_cases import HOLES, ROWS
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import ColumnError, FrameError

pytestmark = engine_kinds.WARNINGS

KNOWN = HOLES.filter(pl.col("truth").is_not_null())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by": ["segment", "week"]},
        {"by": "segment", "weight": "weight", "squares": True},
        {"by": "segment", "weight": "weight", "thresholds": [-1e9, 0.1], "squares": True},
        {"by": "week", "squares": True},
        {"by": "segment", "missing": "unretrieved"},
        {"by": "segment", "thresholds": [-1e9, 0.1, 0.2]},
        {"by": "segment", "thresholds": [0.1, 0.2], "missing": "unretrieved"},
        {"by": "segment", "thresholds": [0.1, 0.2], "ascending": True},
    ],
    ids=str,
)
def test_counts_of_parts_add_up(kind, options):
    df = KNOWN if "missing" in options else ROWS.filter(pl.col("score").is_finite())
    parts = [df[:4], df[4:5], df[5:]]
    ascending = options.get("ascending", False)
    counted = [frame_prc.counts(kind.make(part), "truth", "score", **options) for part in parts]
    merged = frame_prc.merge_counts(*counted, ascending=ascending)
    assert type(merged) is type(counted[0])
    in_polars = [frame_prc.counts(part, "truth", "score", **options) for part in parts]
    expected = frame_prc.merge_counts(*in_polars, ascending=ascending)
    found = kind.rows(merged)
    if kind.name != "DuckDB" and ascending:
        found = found.sort("segment", "threshold", nulls_last=[False, True])
    assert_frame_equal(found, expected)


def test_bins_that_overlap_raise_when_the_engine_meets_them(kind):
    first, second = (
        frame_prc.counts(kind.make(ROWS), "truth", "other", thresholds=[0.0, at])
        for at in (0.3, 0.4)
    )
    says = r"the bin from 0(.0)? to 0.3 overlaps the one from 0(.0)?. Allowed"
    with pytest.raises(Exception, match=says):
        kind.rows(frame_prc.merge_counts(first, second))


def test_a_negative_count_raises_when_the_engine_meets_it(kind):
    bad = kind.make(pl.DataFrame({"threshold": [0.5], "pos": [-1], "neg": [1]}))
    with pytest.raises(Exception, match=r"'pos' has (a row|2 rows) with -1"):
        kind.rows(frame_prc.merge_counts(bad, bad))


def test_frames_that_do_not_add_up_are_refused_at_the_call(kind):
    counts = frame_prc.counts(kind.make(ROWS), "truth", "score")
    by = frame_prc.counts(kind.make(ROWS), "truth", "score", by="week")
    with pytest.raises(ColumnError, match="frame 2 and frame 1 differ in columns 'week'"):
        frame_prc.merge_counts(counts, by)
    with pytest.raises(FrameError, match="the frames are of different kinds"):
        frame_prc.merge_counts(counts, frame_prc.counts(ROWS, "truth", "score"))
