"""Anything goes in; out comes the oracle's number or one of the package's own errors.

``FUZZ=100000 pytest tests/test_fuzz.py`` looks longer; by default a few frames per verb are tried.
A frame has columns of any dtype in any role, with any parameters. Whatever happens must be the same
on every kind of frame, and must not be an error of Polars, of pandas, or of Python.
"""

from __future__ import annotations

import math
import os
import re
import string
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from kinds import KINDS, Kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import PrcError

EXAMPLES = int(os.environ.get("FUZZ", "25"))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)

EAGER, *OTHERS = KINDS
INFINITY, NAN = float("inf"), float("nan")
SUBNORMAL, LARGEST = 5e-324, 1.7976931348623157e308
# Names of ours that no text may show.
INTERNAL = re.compile(r"\b(key_\d|by_\d|score_\d|rank_key|suspect|slot|pos_squares_\w+)\b|\x00")

# --- columns ------------------------------------------------------------------------------------

_LARGE = [1e308, LARGEST, INFINITY]
_SMALL = [0.0, SUBNORMAL, 1e-308, 0.1, 0.5, math.nextafter(0.5, 1), 1.0]
FLOATS = st.sampled_from(
    [*_LARGE, *_SMALL, *(-number for number in _LARGE), -SUBNORMAL, -0.0, -1.0]
) | st.floats(allow_nan=False)
HOLES = st.sampled_from([None, NAN])
NARROW = st.floats(width=32, allow_nan=False) | st.sampled_from([-0.0, 0.0, 0.5, INFINITY])
WHOLE = st.sampled_from([0, 1, 2, 127])

SCORES: dict[Any, st.SearchStrategy] = {
    pl.Float64: FLOATS,
    pl.Float32: NARROW,
    pl.Int8: st.integers(-128, 127),
    pl.UInt8: st.integers(0, 255),
    pl.Int64: st.sampled_from([-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]),
    pl.UInt64: st.sampled_from([0, 1, 2**53 + 1, 2**64 - 1]),
    pl.Int128: st.sampled_from([-(2**127), 0, 2**64, 2**64 + 1, 2**127 - 1]),
    pl.Decimal(20, 4): st.integers(-5, 5).map(lambda n: Decimal(n) / 10_000),
}
NO_SCORES: dict[Any, st.SearchStrategy] = {
    pl.String: st.sampled_from(["0.5", "high", ""]),
    pl.Boolean: st.booleans(),
    pl.Date: st.just(date(2026, 1, 1)),
    pl.List(pl.Float64): st.just([0.5]),
    pl.Struct({"a": pl.Float64}): st.just({"a": 0.5}),
}
TEXTS = st.sampled_from(
    ["", " ", "a", "A", "é", "e\u0301", "\u202e", "null", "NA", "1", "\n", "😀"]
)
KEYS: dict[Any, st.SearchStrategy] = {
    pl.String: TEXTS | st.text(max_size=3),
    pl.Categorical: TEXTS,
    pl.Enum(["z", "a", ""]): st.sampled_from(["z", "a", ""]),
    pl.Int64: st.sampled_from([-(2**63), -1, 0, 1, 2**63 - 1]),
    pl.UInt64: st.sampled_from([0, 1, 2**64 - 1]),
    pl.Int8: st.integers(-128, 127),
    pl.Boolean: st.booleans(),
    pl.Float64: st.sampled_from([-INFINITY, -0.0, 0.0, 1.5, NAN, INFINITY]),
    pl.Date: st.sampled_from([date.min, date(1970, 1, 1), date(2026, 11, 21)]),
    pl.Datetime("us", "Europe/Berlin"): st.sampled_from(
        [datetime(2026, 3, 29, 2), datetime(1969, 1, 1)]
    ),
    pl.Time: st.sampled_from([time(0), time(23, 59, 59, 999_999)]),
    pl.Duration("ms"): st.sampled_from([timedelta(-1), timedelta(0), timedelta(1)]),
    pl.Binary: st.sampled_from([b"", b"\x00", b"a"]),
    pl.Decimal(10, 2): st.sampled_from([Decimal("0.00"), Decimal("-1.50")]),
    pl.Struct({"a": pl.Int64, "b": pl.String}): st.fixed_dictionaries(
        {"a": st.integers(0, 1), "b": TEXTS}
    ),
    pl.List(pl.Int64): st.lists(st.integers(0, 1), max_size=2),
}
TRUTHS: dict[Any, tuple[st.SearchStrategy, Any]] = {
    pl.Boolean: (st.booleans(), None),
    pl.Int64: (st.integers(0, 1), None),
    pl.UInt8: (st.integers(0, 1), None),
    pl.Float64: (st.sampled_from([0.0, 1.0, -0.0]), None),
    pl.String: (st.sampled_from(["yes", "no", "maybe"]), "yes"),
    pl.Categorical: (st.sampled_from(["yes", "no"]), "yes"),
    pl.Enum(["no", "yes"]): (st.sampled_from(["yes", "no"]), "yes"),
    pl.Int8: (st.integers(1, 3), 2),
    pl.Date: (st.sampled_from([date(2026, 1, 1), date(2026, 1, 2)]), date(2026, 1, 1)),
    pl.Decimal(4, 1): (st.sampled_from([Decimal("0.0"), Decimal("1.0")]), None),
}
BAD_TRUTHS: dict[Any, tuple[st.SearchStrategy, Any]] = {
    pl.Int32: (st.integers(0, 2), None),
    pl.Float32: (st.sampled_from([0.0, 0.5]), None),
    pl.String: (st.just("yes"), None),
    pl.Utf8: (st.just("no"), "Yes"),
    pl.List(pl.Boolean): (st.just([True]), None),
}
# Over twelve orders of magnitude.
WEIGHTS = st.sampled_from([0.0, 1e-6, 1.0, 1e6]) | st.floats(1e-6, 1e6)
BAD_WEIGHTS = st.sampled_from([-1.0, NAN, INFINITY, None, -0.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Draw a frame and the parameters that every verb takes; half of them are fine."""
    fine = draw(st.booleans())
    height = draw(st.integers(0, 8))
    columns: dict[str, pl.Series] = {}

    def column(name: str, dtype: Any, values: st.SearchStrategy, *, holes: bool = False) -> None:
        cells = values | HOLES if holes and pl.Series(dtype=dtype).dtype.is_float() else values
        cells = cells | st.none() if holes else cells
        drawn = draw(st.lists(cells, min_size=height, max_size=height))
        columns[name] = pl.Series(name, drawn, dtype=dtype, strict=False)

    missing = draw(st.sampled_from(["raise", "drop", "unretrieved"]))
    holes = missing != "raise" if fine else True
    truths = TRUTHS if fine else TRUTHS | BAD_TRUTHS
    dtype = draw(st.sampled_from(list(truths)))
    values, label = truths[dtype]
    column("truth", dtype, values, holes=holes and missing != "unretrieved")
    dtype = draw(st.sampled_from(list(SCORES if fine else SCORES | NO_SCORES)))
    column("score", dtype, (SCORES | NO_SCORES)[dtype], holes=holes)
    asked: dict[str, Any] = {"missing": missing, "pos_label": label}
    names = draw(st.lists(st.sampled_from(["k", "tp?", "model", "Größe"]), unique=True, max_size=2))
    for name in names:
        dtype = draw(st.sampled_from(list(KEYS)))
        column(name, dtype, KEYS[dtype], holes=draw(st.booleans()))
    if names:
        asked["by"] = names if len(names) > 1 else draw(st.sampled_from([names, names[0]]))
    if draw(st.booleans()):
        column("weight", pl.Float64, WEIGHTS if fine else WEIGHTS | BAD_WEIGHTS)
        asked["weight"] = "weight"
    return pl.DataFrame(columns), asked


# --- outcomes -----------------------------------------------------------------------------------


def outcome(kind: Kind, df: pl.DataFrame, ask: Callable[[Any], Any]) -> pl.DataFrame | str:
    """Return the rows of a result, or the text of one of our errors; any other error escapes."""
    try:
        return kind.rows(ask(kind.make(df)))
    except PrcError as error:
        text = str(error)
        assert not INTERNAL.search(text) or "key_0" in df.columns, text
        assert text.endswith((".", "?")), text
        return f"{type(error).__name__}: {text}"


def same_everywhere(df: pl.DataFrame, ask: Callable[[Any], Any]) -> pl.DataFrame | str:
    """Return the outcome on an eager frame, after showing that it is that of all other kinds."""
    expected = outcome(EAGER, df, ask)
    for kind in OTHERS:
        if kind.name == "pandas":
            _same_in_pandas(kind, df, ask, expected)
            continue
        found = outcome(kind, df, ask)
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected, kind
        else:
            assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)
    return expected


PLAIN = (pl.Boolean, pl.Int64, pl.Int8, pl.UInt8, pl.Float64, pl.Float32, pl.String)


def _same_in_pandas(
    kind: Kind, df: pl.DataFrame, ask: Callable[[Any], Any], expected: pl.DataFrame | str
) -> None:
    """Show the same of pandas, where a frame can be the same there: no null but in a String."""
    nulls = any(column.null_count() for column in df if column.dtype != pl.String)
    nan = any(_is_nan(value) for column in df if column.name != "score" for value in column)
    if not set(df.dtypes) <= set(PLAIN) or nulls or nan or df.is_empty():
        return
    found = outcome(kind, df, ask)
    if isinstance(expected, str) or isinstance(found, str):
        assert str(found).partition(":")[0] == str(expected).partition(":")[0]
        return
    if "" in expected.columns:
        found.columns = expected.columns  # reading it back into Polars gives it another name
    # NaN in a score is a missing one there, which it is here as well.
    cast = found.cast(dict(expected.schema), strict=False)
    assert_frame_equal(cast, expected, rel_tol=1e-12, abs_tol=1e-12)


def exact_segments(df: pl.DataFrame, asked: dict[str, Any]) -> dict[str, list[oracle.Row]] | None:
    """Return the rows of each segment for the oracle, by the text of their key.

    None where a row is missing something under ``missing="raise"``.
    """
    by = asked.get("by", [])
    names = [by] if isinstance(by, str) else by
    segments: dict[str, list[oracle.Row]] = {} if names else {"": []}
    for row in df.iter_rows(named=True):
        weight = row.get("weight", 1.0)
        if weight == 0:
            continue
        key = repr([_one_zero(row[name]) for name in names]) if names else ""
        rows = segments.setdefault(key, [])
        truth, score = (None if _is_nan(row[n]) else row[n] for n in ("truth", "score"))
        if weight is None and asked["missing"] == "drop":
            continue
        if truth is None or score is None:
            if asked["missing"] == "raise" or (truth is None and asked["missing"] != "drop"):
                return None
            if asked["missing"] == "drop":
                continue
        label = asked["pos_label"]
        positive = truth == (1 if label is None else label)
        rows.append(oracle.Row(positive, score, Fraction(weight)))
    return segments


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _one_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value


# --- the verbs ----------------------------------------------------------------------------------


@fuzzed
@given(problems())
def test_average_precision_is_that_of_the_oracle(problem):
    df, asked = problem
    asked.pop("missing_reason", None)
    result = same_everywhere(
        df, lambda frame: frame_prc.average_precision(frame, "truth", "score", **asked)
    )
    assume(not isinstance(result, str))
    segments = exact_segments(df, asked)
    assert segments is not None
    expected = sorted(_area_and_size(rows) for rows in segments.values())
    found = result.select("n", pl.col("average_precision").fill_null(-1.0)).rows()
    assert len(found) == len(expected)
    for (n, area), (exact_n, exact_area) in zip(sorted(found), expected, strict=True):
        assert n == pytest.approx(float(exact_n), rel=1e-12)
        assert area == pytest.approx(float(exact_area), rel=1e-12)


def _area_and_size(rows: list[oracle.Row]) -> tuple[Fraction, Fraction]:
    area = oracle.average_precision(rows)
    return sum(oracle.totals(rows), Fraction(0)), Fraction(-1) if area is None else area


@fuzzed
@given(problems(), st.data())
def test_curve_is_that_of_the_oracle(problem, data):
    df, asked = problem
    options = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "envelope": st.booleans(),
                "gain": st.booleans(),
                "calibrate": st.sampled_from([None, 0.1]),
                "ci": st.sampled_from([None, 0.9]),
            },
        )
    )
    result = same_everywhere(
        df, lambda frame: frame_prc.curve(frame, "truth", "score", start=None, **asked, **options)
    )
    assume(not isinstance(result, str))
    expected = sorted(
        (float(point.tp), float(point.fp), float(point.fn), float(point.tn))
        for rows in exact_segments(df, asked).values()
        for point in oracle.curve(rows)
    )
    found = sorted(result.select("tp", "fp", "fn", "tn").cast(pl.Float64).rows())
    assert len(found) == len(expected)
    for row, exact in zip(found, expected, strict=True):
        assert row == pytest.approx(exact, rel=1e-12, abs=1e-6)


NUMBERS = st.sampled_from(
    [0, 1, -1, 0.5, 1.0, 2, NAN, INFINITY, "x", None, True, [], [0.5], [0.2, 0.9]]
)
OPTIONS: dict[str, dict[str, st.SearchStrategy]] = {
    "counts": {"thresholds": NUMBERS, "squares": st.sampled_from([True, False, None])},
    "curve": {
        "start": st.sampled_from(["one", "first", None, "zero"]),
        "keep": st.sampled_from(["all", "corners", 5, 7, 4, "some", None]),
        "thresholds": NUMBERS,
        "ci": NUMBERS,
        "envelope": st.sampled_from([True, False, 1]),
    },
    "average_precision": {
        "ci": NUMBERS,
        "ci_method": st.sampled_from(["influence", "boyd", "wald"]),
        "thresholds": NUMBERS,
        "bounds": st.booleans(),
    },
    "auc": {
        "method": st.sampled_from(
            ["step", "trapezoid", "interpolated", "gain", "101-point", "roc", ["step", "envelope"]]
        ),
        "recall_range": st.sampled_from([None, (0.2, 0.8), (0.8, 0.2), 0.5, (0, 1)]),
        "standardised": st.booleans(),
        "start": st.sampled_from(["one", "first", None]),
    },
    "operating_points": {
        "recall": NUMBERS,
        "precision": NUMBERS,
        "threshold": NUMBERS,
        "f_beta": NUMBERS,
        "predicted_rate": NUMBERS,
    },
    "summary": {"ci": NUMBERS, "overall": st.sampled_from([True, False, "x"])},
    "band": {
        "recalls": st.sampled_from([2, 3, 1, [0.5], [0.9, 0.1], "x"]),
        "replicates": st.sampled_from([3, 0]),
        "seed": st.sampled_from([1, 1, -1]),
        "ci": st.sampled_from([0.9, 2]),
    },
}


@pytest.mark.parametrize("verb", OPTIONS)
@fuzzed
@given(problem=problems(), data=st.data())
def test_any_parameters_are_an_answer_or_an_error_of_ours(verb, problem, data):
    df, asked = problem
    options = data.draw(st.fixed_dictionaries({}, optional=OPTIONS[verb]))
    if verb == "band":
        options = {"recalls": 3, "replicates": 3, "seed": 1} | options
    same_everywhere(
        df, lambda frame: getattr(frame_prc, verb)(frame, "truth", "score", **asked, **options)
    )


@fuzzed
@given(problem=problems(), data=st.data())
def test_comparing_is_an_answer_or_an_error_of_ours(problem, data):
    df, asked = problem
    df = df.with_columns(other=pl.col("score").reverse())
    options = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "ci": NUMBERS,
                "baseline": st.sampled_from([None, "score", "none"]),
                "against": st.sampled_from([None, "rest", "overall"]),
            },
        )
    )
    models = data.draw(
        st.sampled_from([["score", "other"], ["score"], {"a": "score", "b": "other"}])
    )
    same_everywhere(df, lambda frame: frame_prc.compare(frame, "truth", models, **asked, **options))


@fuzzed
@given(problem=problems(), parts=st.integers(1, 3))
def test_merged_counts_are_those_of_the_whole(problem, parts):
    df, asked = problem

    def merged(frame: Any) -> Any:
        if parts > max(len(df), 1) or not isinstance(frame, pl.DataFrame):
            return frame_prc.counts(frame, "truth", "score", **asked)
        pieces = [frame.gather_every(parts, part) for part in range(parts)]
        return frame_prc.merge_counts(
            *(frame_prc.counts(piece, "truth", "score", **asked) for piece in pieces)
        )

    try:
        expected = frame_prc.counts(df, "truth", "score", **asked)
    except PrcError:
        return
    try:
        found = merged(df)
    except PrcError as error:
        # A part may have no row of the positive class.
        assert "pos_label" in str(error), error  # noqa: PT017 - the text alone is asked about
        return
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@fuzzed
@given(
    names=st.lists(
        st.text(string.printable + "é😀", max_size=4) | st.sampled_from(["key_0", "score", "^a$"]),
        min_size=3,
        max_size=3,
        unique=True,
    )
)
def test_any_column_names_will_do(names):
    truth, score, key = names
    values = {truth: [True, False, True], score: [0.1, 0.2, 0.3], key: ["a", "a", "b"]}
    df = pl.DataFrame(values)
    result = same_everywhere(
        df, lambda frame: frame_prc.average_precision(frame, truth, score, by=key)
    )
    if isinstance(result, str):
        assert "*" in names or key in ("n", "n_pos", "prevalence", "average_precision", "status")
    else:
        assert result["average_precision"].to_list() == [0.5, 1.0]
