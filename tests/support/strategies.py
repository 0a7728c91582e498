"""Small frames for property tests: many ties, few segments, and the corners of the float line."""

from __future__ import annotations

import os

import polars as pl
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Brief is for every change, quick for the second layer, and thorough for whoever looks for faults.
for name, examples in {"brief": 4, "quick": 8, "thorough": 200}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.getenv("HYPOTHESIS_PROFILE", "brief"))

INFINITY = float("inf")
SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308

TIED_SCORES = st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0])
EDGE_SCORES = st.sampled_from([-INFINITY, -LARGEST, -SMALLEST, SMALLEST, LARGEST, INFINITY])
SCORES = TIED_SCORES | EDGE_SCORES | st.floats(allow_nan=False)
SCORES_OR_NONE = SCORES | st.none()

INTEGER_WEIGHTS = st.integers(0, 3)
# Multiples of 1/8: every sum of a few of them is exact in Float64.
DYADIC_WEIGHTS = st.integers(0, 40).map(lambda eighths: eighths / 8)
FLOAT_WEIGHTS = st.just(0.0) | st.floats(1e-6, 8.0)
SIMILAR_WEIGHTS = st.just(0.0) | st.floats(0.01, 8.0)

# Scores over the whole range of a dtype, its ends and the middle more often than the rest.
DTYPES = {
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.UInt16: (0, 2**16 - 1),
    pl.Int32: (-(2**31), 2**31 - 1),
    pl.Int64: (-(2**63), 2**63 - 1),
    pl.UInt64: (0, 2**64 - 1),
    pl.Int128: (-(2**127), 2**127 - 1),
    pl.Float16: 16,
    pl.Float32: 32,
    pl.Float64: 64,
}


BY = st.sampled_from([None, "segment", ["segment", "week"]])

SCHEMA = {
    "segment": pl.String,
    "week": pl.Int64,
    "truth": pl.Boolean,
    "score": pl.Float64,
    "other": pl.Float64,
    "weight": pl.Float64,
}


@st.composite
def frames(
    draw: st.DrawFn,
    scores: st.SearchStrategy = SCORES,
    weights: st.SearchStrategy | None = None,
    max_size: int = 12,
) -> pl.DataFrame:
    """Draw a frame with two keys, a truth, the scores of two models and, if asked, weights."""
    columns = {
        "segment": st.sampled_from(["a", "b", None]),
        "week": st.integers(1, 2),
        "truth": st.booleans(),
        "score": scores,
        "other": scores,
    }
    if weights is not None:
        columns["weight"] = weights
    rows = draw(st.lists(st.fixed_dictionaries(columns), max_size=max_size))
    return pl.DataFrame(rows, schema={name: SCHEMA[name] for name in columns}, strict=False)


@st.composite
def frames_of(draw: st.DrawFn, dtype: type[pl.DataType], max_size: int = 8) -> pl.DataFrame:
    """Draw a frame of truths and scores of a numeric dtype."""
    if dtype.is_float():
        scores = st.floats(allow_nan=False, width=DTYPES[dtype])
    else:
        lowest, highest = DTYPES[dtype]
        middle = (lowest + highest) // 2
        edges = [lowest, lowest + 1, middle, middle + 1, highest - 1, highest]
        scores = st.sampled_from(edges) | st.integers(lowest, highest)
    rows = draw(st.lists(st.tuples(st.booleans(), scores), max_size=max_size))
    return pl.DataFrame(rows, schema={"truth": pl.Boolean, "score": dtype}, orient="row")
