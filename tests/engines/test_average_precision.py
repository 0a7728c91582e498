"""Inside other engines: the average precision with its bounds, calibrated, and averages of it."""

from __future__ import annotations

import engine_kinds
import polars as pl
import pytest
from engine_cases import HOLES, ROWS, assert_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import ColumnError, OptionError

pytestmark = engine_kinds.WARNINGS

KNOWN = HOLES.filter(pl.col("truth").is_not_null())
# Ties of many rows, of which some are retrieved before any positive.
TIES = pl.select(
    segment=pl.int_range(400) % 3,
    truth=(pl.int_range(400) * 7919) % 11 < 4,
    score=((pl.int_range(400) * 104_729) % 23) / 23,
    weight=(pl.int_range(400) % 16 + 1) / 8,
    day=pl.int_range(400) * 31 % 53,
).with_columns(best=pl.col("truth").cast(pl.Float64))


@pytest.mark.parametrize(
    ("df", "columns", "options"),
    [
        (TIES, ("truth", "score"), {"by": "segment", "bounds": True}),
        (TIES, ("truth", "score"), {"weight": "weight", "bounds": True}),
        (ROWS, ("truth", ["score", "other"]), {"bounds": True, "ascending": True}),
        (KNOWN, ("truth", "score"), {"by": "segment", "missing": "unretrieved", "bounds": True}),
        (HOLES, ("truth", "score"), {"by": "segment", "missing": "drop", "thresholds": [0.1, 0.2]}),
        (ROWS, ("truth", "score"), {"by": "segment", "calibrate": 0.01}),
        (ROWS, ("truth", "score"), {"by": "segment", "calibrate": 0.9, "weight": "weight"}),
        (ROWS, ("truth", ["score", "other"]), {"by": "week", "calibrate": "pooled"}),
        (ROWS, ("truth", "score"), {"model": "segment", "by": "week", "calibrate": "pooled"}),
        (HOLES, ("truth", ["score", "other"]), {"missing": "drop", "calibrate": "pooled"}),
        (ROWS.clear(), ("truth", "score"), {"bounds": True}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_segments_are_those_of_polars(kind, df, columns, options):
    assert_same(kind, frame_prc.average_precision, df, *columns, **options)


@pytest.mark.parametrize(
    ("df", "columns", "options"),
    [
        (TIES, ("truth", "score"), {"by": "segment"}),
        (TIES, ("truth", "score"), {"by": "segment", "ci_method": "boyd", "bounds": True}),
        (TIES, ("truth", ["score", "weight"]), {"ascending": True, "ci": 0.5}),
        (TIES, ("truth", "score"), {"by": "segment", "thresholds": [0.2, 0.5, 0.8]}),
        (TIES, ("truth", "score"), {"by": "segment", "weight": "weight", "cluster": "day"}),
        (TIES, ("truth", "score"), {"cluster": "day", "thresholds": [0.2, 0.5, 0.8]}),
        (TIES, ("truth", ["score", "weight"]), {"by": "segment", "calibrate": "highest"}),
        (TIES, ("truth", "score"), {"weight": "weight", "cluster": "day", "calibrate": 0.2}),
        (KNOWN, ("truth", "score"), {"by": "segment", "missing": "unretrieved"}),
        # All positives first, last, or all that there is; and one of them alone.
        (TIES, ("truth", "best"), {}),
        (TIES, ("truth", "best"), {"ascending": True}),
        (TIES.filter("truth"), ("truth", "score"), {}),
        (TIES[:1], ("truth", "score"), {}),
        (ROWS.clear(), ("truth", "score"), {}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_intervals_are_those_of_polars(kind, df, columns, options):
    assert_same(kind, frame_prc.average_precision, df, *columns, **{"ci": 0.95, **options})


@pytest.mark.parametrize("how", ["mean", "weighted", "micro", "rows"])
@pytest.mark.parametrize(
    ("df", "columns", "options"),
    [
        (ROWS, ("truth", "score"), {"by": ["segment", "week"], "over": "week"}),
        (ROWS, ("truth", "score"), {"by": "segment", "over": "segment"}),
        (ROWS, ("truth", ["score", "other"]), {"by": ["week", "segment"], "over": "week"}),
        (HOLES, ("truth", "score"), {"by": "segment", "over": "segment", "missing": "drop"}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_averages_are_those_of_polars(kind, how, df, columns, options):
    assert_same(kind, frame_prc.average, df, *columns, how=how, **options)


@pytest.mark.parametrize("how", ["weighted", "micro"])
def test_averages_of_weighted_and_binned_rows_are_those_of_polars(kind, how):
    options = {"by": ["segment", "week"], "over": "segment", "weight": "weight"}
    options |= {"thresholds": [0.0, 0.15, 0.5], "how": how}
    assert_same(kind, frame_prc.average, ROWS, "truth", "other", **options)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"over": "month"}, ColumnError, "over='month' is not a key"),
        ({"top": 3}, OptionError, "top= does not run inside .*counts"),
        (
            {"ci": 0.9, "bootstrap": 99, "cluster": "week"},
            OptionError,
            "ci= by bootstrap does not run inside .*collect them: ",
        ),
    ],
)
def test_errors_are_raised_at_the_call(kind, options, error, says):
    verb = frame_prc.average if "over" in options else frame_prc.average_precision
    with pytest.raises(error, match=says):
        verb(kind.make(ROWS), "truth", "score", by="segment", **options)


@pytest.mark.thorough
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    df=frames(SCORES_OR_NONE, FLOAT_WEIGHTS),
    options=st.sampled_from(
        [
            {"bounds": True},
            {"calibrate": 0.01},
            {"calibrate": "pooled"},
            {"over": "segment", "how": "mean"},
            {"over": "week", "how": "weighted"},
        ]
    ),
)
def test_duckdb_has_the_segments_of_polars_on_any_frame(df, options):
    kind = engine_kinds.duckdb_kind()
    common = {"by": ["segment", "week"], "weight": "weight", "missing": "unretrieved"}
    verb = frame_prc.average if "over" in options else frame_prc.average_precision
    expected = verb(df, "truth", "score", **common, **options)
    result = verb(kind.make(df), "truth", "score", **common, **options)
    assert_frame_equal(kind.rows(result), expected, rel_tol=1e-12, abs_tol=1e-12)
