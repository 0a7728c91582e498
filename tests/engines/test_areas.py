"""Inside other engines: areas by any method, as in Polars."""

from __future__ import annotations

import engine_kinds
import polars as pl
import pytest
from engine_cases import HOLES, ROWS, assert_same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from strategies import BY, FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError
from frame_prc._request.specs import METHODS, PARTIAL_METHODS

pytestmark = engine_kinds.WARNINGS

ALL = list(PARTIAL_METHODS)
KNOWN = HOLES.filter(pl.col("truth").is_not_null())


@pytest.mark.parametrize(
    ("df", "columns", "options"),
    [
        (ROWS, ("truth", "score"), {"by": ["segment", "week"], "start": "first"}),
        (ROWS, ("truth", "score"), {"by": "segment", "start": None, "method": "trapezoid"}),
        (ROWS, ("truth", "score"), {"by": "segment", "method": ["trapezoid", "envelope"]}),
        (ROWS, ("truth", ["score", "other"]), {"by": "segment", "ascending": True}),
        (ROWS, ("truth", "score"), {"by": "segment", "recall_range": (0.3, 0.9), "details": True}),
        (
            ROWS,
            ("truth", "score"),
            {"weight": "weight", "recall_range": (0.1, 0.35), "standardised": True},
        ),
        (
            KNOWN,
            ("truth", "score"),
            {
                "by": "segment",
                "missing": "unretrieved",
                "calibrate": "pooled",
                "recall_range": (0.3, 0.9),
                "details": True,
            },
        ),
        (HOLES, ("truth", "score"), {"by": "segment", "missing": "drop"}),
        (KNOWN, ("truth", "score"), {"by": "segment", "missing": "unretrieved"}),
        (ROWS, ("truth", "other"), {"by": "segment", "thresholds": [0.2, 0.35, 0.5]}),
        (ROWS, ("truth", "score"), {"by": "segment", "calibrate": "pooled", "weight": "weight"}),
        (ROWS, ("truth", "score"), {"model": "segment", "by": "week", "calibrate": "pooled"}),
        (ROWS.clear(), ("truth", "score"), {"by": "segment"}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_areas_are_those_of_polars(kind, df, columns, options):
    assert_same(kind, frame_prc.auc, df, *columns, **{"method": ALL, **options})


@pytest.mark.parametrize("weight", [None, "weight"])
def test_areas_under_the_roc_curve_are_those_of_polars(kind, weight):
    asked = {"by": "segment", "weight": weight, "method": ["roc", "envelope"]}
    assert_same(kind, frame_prc.auc, ROWS, "truth", "score", **asked)


def test_areas_of_counts_are_those_of_polars(kind):
    counts = {"score": "score", "pos": "hits", "neg": "misses", "by": "segment"}
    assert_same(kind, frame_prc.auc, ROWS, method=ALL, **counts)


def test_methods_come_in_the_order_given():
    kind = engine_kinds.duckdb_kind()
    assert_same(kind, frame_prc.auc, ROWS, "truth", "score", by="segment", method=ALL[::-1])


@pytest.mark.parametrize("method", sorted({*METHODS} - {*PARTIAL_METHODS, "roc"}))
def test_other_methods_are_refused_by_name(kind, method):
    says = f"method='{method}' does not run inside .*counts"
    with pytest.raises(OptionError, match=says):
        frame_prc.auc(kind.make(ROWS), "truth", "score", method=["step", method])


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    df=frames(SCORES_OR_NONE, FLOAT_WEIGHTS),
    by=BY,
    start=st.sampled_from(["one", "first"]),
    calibrate=st.sampled_from([None, 0.01, "pooled"]),
)
def test_duckdb_has_the_areas_of_polars_on_any_frame(df, by, start, calibrate):
    kind = engine_kinds.duckdb_kind()
    options = {"by": by, "weight": "weight", "missing": "unretrieved", "start": start}
    options |= {"method": ALL, "calibrate": calibrate}
    expected = frame_prc.auc(df, "truth", "score", **options)
    result = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **options))
    assert_frame_equal(result, expected, rel_tol=1e-12, abs_tol=1e-12)
