"""Counts of parts, added up, are those of the whole; what does not add up is an error."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import TYPES, every_kind
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, INFINITY, frames

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError

COVERING = [-INFINITY, -0.5, 0.0, 0.25, 0.3, 1.0]
ROWS = pl.DataFrame({"truth": [True, False, True], "score": [0.9, 0.4, 0.1]})
PARTS = ["pos", "neg"]


# --- adding up ---------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("thresholds", [None, COVERING], ids=["exact", "binned"])
@given(data=st.data(), df=frames())
def test_merged_counts_are_those_of_the_whole(kind, thresholds, data, df):
    part = data.draw(st.lists(st.integers(0, 2), min_size=df.height, max_size=df.height))
    asked = {"by": ["segment", "week"], "thresholds": thresholds}
    parts = [df.filter(pl.Series(part, dtype=pl.Int64) == i) for i in range(3)]
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(kind.make(p), "truth", "score", **asked) for p in parts)
    )
    whole = frame_prc.counts(kind.make(df), "truth", "score", **asked)
    assert type(merged) is TYPES[kind.name]
    assert_frame_equal(kind.rows(merged), kind.rows(whole), check_dtypes=kind.name != "pandas")


@every_kind
@given(data=st.data(), df=frames(weights=FLOAT_WEIGHTS))
def test_areas_of_merged_weights_are_those_of_the_whole(kind, data, df):
    first = data.draw(st.lists(st.booleans(), min_size=df.height, max_size=df.height))
    asked = {"by": "segment", "weight": "weight"}
    parts = [df.filter(pl.Series(first, dtype=pl.Boolean) == half) for half in (True, False)]
    merged = frame_prc.merge_counts(
        *(frame_prc.counts(kind.make(p), "truth", "score", **asked) for p in parts)
    )
    both = (
        frame_prc.average_precision(merged, score="threshold", pos="pos", neg="neg", by="segment"),
        frame_prc.average_precision(kind.make(df), "truth", "score", **asked),
    )
    found, expected = map(kind.rows, both)
    assert_frame_equal(
        found, expected, rel_tol=1e-12, abs_tol=0, check_dtypes=kind.name != "pandas"
    )


EXACT = pl.DataFrame({"key": ["a"], "threshold": [0.5], "pos": [1], "neg": [1]})
BINNED = EXACT.with_columns(below=1.0)


@every_kind
@pytest.mark.parametrize(
    ("other", "says"),
    [
        (EXACT.drop("key"), "frame 2 and frame 1 differ in columns 'key'"),
        (BINNED, "frame 2 and frame 1 differ in columns 'below'.* all of them binned or none"),
        (
            EXACT.cast({"pos": pl.Float64}),
            "'pos' has dtype Float64 in frame 2 and Int64 in frame 1",
        ),
        (
            EXACT.cast({"key": pl.Enum(["a", "b"])}),
            r"'key' has dtype Enum.*'b'.* in frame 2 .*cast\(pl\.String\), or .*astype\(str\)",
        ),
        (EXACT.drop("neg"), "frame 2 has no column 'neg'. Allowed: counts"),
        (
            EXACT.cast({"pos": pl.String}),
            "column 'pos' of frame 2 has dtype String. Allowed: a numeric column",
        ),
    ],
    ids=["keys", "bins", "dtype", "categories", "no counts", "text"],
)
def test_what_does_not_add_up_is_an_error_at_the_call(kind, other, says):
    with pytest.raises(ColumnError, match=says):
        frame_prc.merge_counts(kind.make(EXACT), kind.make(other))


@every_kind
def test_rows_that_count_as_one_are_their_own_squares(kind):
    counts = frame_prc.counts(
        kind.make(ROWS), "truth", "score", thresholds=[0.0, 0.5], squares=True
    )
    found = kind.rows(counts)
    assert found.columns == ["threshold", "below", "pos", "neg", "pos_squares", "neg_squares"]
    assert found.select("pos_squares", "neg_squares").rows() == found.select(*PARTS).rows()


@every_kind
@pytest.mark.parametrize(
    ("amount", "says"),
    [(-1, "pos= column 'pos' has 1 row with -1"), (None, "values are missing: 'pos' has 1 row")],
)
def test_what_is_no_count_is_an_error_at_collect(kind, amount, says):
    other = EXACT.head(1).with_columns(pos=pl.lit(amount, EXACT.schema["pos"]))
    other = pl.concat([other, EXACT.tail(1)])
    first, second = kind.make(EXACT), kind.make(other)
    if kind.name == "pandas":  # which makes floats of integers beside a null
        first = first.astype({"pos": second["pos"].dtype})
    with pytest.raises(DataError, match=says):
        kind.rows(frame_prc.merge_counts(first, second))


@every_kind
@pytest.mark.parametrize("thresholds", [None, [0.0, 0.5]], ids=["exact", "binned"])
@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"pos_squares": [9.0, 1.0]}, "pos_squares= column 'pos_squares' has 1 row that cannot"),
        (
            {
                "pos": pl.Series([2**63, 1], dtype=pl.UInt64),
                "neg": [1, 1],
                "pos_squares": None,
                "neg_squares": None,
            },
            "pos= column 'pos' adds up to 9,223,372,036,854,77",
        ),
    ],
    ids=["squares", "beyond"],
)
def test_amounts_that_cannot_be_are_an_error_in_bins_as_well(kind, thresholds, columns, says):
    df = pl.DataFrame({"score": [0.2, 0.7], "pos": [2.0, 1.0], "neg": [1.0, 1.0]})
    squares = {"pos_squares": [2.0, 1.0], "neg_squares": [1.0, 1.0]} | columns
    df = df.with_columns(
        **{n: pl.Series(c, strict=False) for n, c in squares.items() if c is not None}
    )
    asked = {name: name for name in ("pos", "neg", "score", "pos_squares") if name in df.columns}
    asked |= {"neg_squares": "neg_squares"} if "pos_squares" in asked else {}
    with pytest.raises(DataError, match=says):
        kind.rows(kind.make(df).prc.average_precision(**asked, thresholds=thresholds))


def test_frames_of_different_kinds_are_not_added_up():
    with pytest.raises(FrameError, match=r"different kinds: .*DataFrame and .*LazyFrame"):
        frame_prc.merge_counts(EXACT, EXACT.lazy())
    with pytest.raises(OptionError, match="no counts are given"):
        frame_prc.merge_counts()
    with pytest.raises(FrameError, match=r"a list of them\. .*merge_counts\(\*frames\)"):
        frame_prc.merge_counts([EXACT])


# --- thresholds that share out the rows --------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("verb", "thresholds"),
    [
        *(("summary", None), ("operating_points", None)),
        *product(["average_precision", "auc", "curve", "counts"], [None, [0.0, 0.5]]),
    ],
)
def test_bins_that_overlap_are_an_error_of_every_verb(kind, verb, thresholds):
    few, many = (ROWS.prc.counts("truth", "score", thresholds=number) for number in (3, 5))
    columns = {"score": "threshold", "pos": "pos", "neg": "neg"}
    options = columns | ({"thresholds": thresholds} if thresholds else {})
    options |= {"recall": 0.5} if verb == "operating_points" else {}
    ask = getattr(frame_prc, verb)
    with pytest.raises(DataError, match=r"overlaps .* Allowed: counts in the same bins"):
        kind.rows(ask(kind.make(pl.concat([few, many])), **options))
    # Other segments may have other bins, and all their rows together may not.
    apart = pl.concat([few.with_columns(key=pl.lit("few")), many.with_columns(key=pl.lit("many"))])
    assert kind.rows(ask(kind.make(apart), by="key", **options)).height >= 2
    with pytest.raises(DataError, match="overlaps"):
        kind.rows(ask(kind.make(apart), **options))
    # Without the column that says where they end they are scores as any others.
    kind.rows(ask(kind.make(pl.concat([few, many]).drop("below")), **options))


@every_kind
def test_bins_that_overlap_are_an_error_of_a_pooled_average(kind):
    few, many = (ROWS.prc.counts("truth", "score", thresholds=number) for number in (3, 5))
    parts = [few.with_columns(key=pl.lit("few")), many.with_columns(key=pl.lit("many"))]
    apart = pl.concat(parts).with_columns(site=pl.lit("a"))
    asked = {"score": "threshold", "pos": "pos", "neg": "neg", "by": ["key", "site"]}
    frame = kind.make(apart)
    kind.rows(frame_prc.average(frame, **asked, over="key"))
    with pytest.raises(DataError, match="overlaps"):
        kind.rows(frame_prc.average(frame, **asked, over="key", how="micro"))
