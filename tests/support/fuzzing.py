"""Frames and parameters of any kind, and outcomes that must be one on every kind of frame."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

import oracle
import polars as pl
import polars.selectors as cs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from kinds import KINDS, NARROWED, Kind, looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import PrcError

EXAMPLES = int(os.environ.get("FUZZ", "25"))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def fewer(times_as_long: int) -> int:
    return max(EXAMPLES // times_as_long, 10)


EAGER, *OTHERS = [*KINDS, NARROWED]
INFINITY, NAN = float("inf"), float("nan")
SUBNORMAL, LARGEST = 5e-324, 1.7976931348623157e308

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
PLAIN = (pl.Boolean, pl.Int64, pl.Int8, pl.UInt8, pl.Float64, pl.Float32, pl.String)
IN_PANDAS = (*PLAIN, pl.UInt64, pl.Date, pl.Datetime, pl.Duration, pl.Enum)
PANDAS_WITHOUT_NULL = (pl.Int64, pl.Int8, pl.UInt8, pl.UInt64)
# Over twelve orders of magnitude.
WEIGHTS = st.sampled_from([0.0, 1e-6, 1.0, 1e6]) | st.floats(1e-6, 1e6)
BAD_WEIGHTS = WEIGHTS | st.sampled_from([-1.0, NAN, INFINITY, None, -0.0])


@dataclass(frozen=True)
class Problem:
    """A frame, the parameters that every verb takes, and a kind of frame beside the eager one."""

    df: pl.DataFrame
    asked: dict[str, Any]
    other: Kind

    def verb(self, name: str, **options: Any) -> Callable[..., Any]:
        """Return a verb that takes a frame of any kind, and has all else that it is asked for."""
        columns = {"truth": "truth", "score": "score"}
        return partial(getattr(frame_prc, name), **(columns | self.asked | options))

    def ask(self, verb: str, **options: Any) -> pl.DataFrame | str:
        """Return the outcome of a verb."""
        return same_everywhere(self.df, self.other, self.verb(verb, **options))


def _of_dtypes(choices: dict[Any, Any], dtypes: tuple[Any, ...]) -> dict[Any, Any]:
    return {dtype: choice for dtype, choice in choices.items() if dtype in dtypes}


@cache  # making a strategy takes longer than drawing from it
def _cells(values: st.SearchStrategy, height: int, *, holes: bool, nan: bool) -> st.SearchStrategy:
    if holes:
        values = values | (HOLES if nan else st.none())
    return st.lists(values, min_size=height, max_size=height)


@st.composite
def problems(draw: st.DrawFn, *, plain: bool = False) -> Problem:
    """Draw a problem; half of them are fine, and plain ones can be asked of any engine."""
    other = draw(st.sampled_from(OTHERS))
    of: Callable[[dict[Any, Any]], dict[Any, Any]] = dict
    if plain or other.name == "pandas":
        of = partial(_of_dtypes, dtypes=PLAIN if plain else IN_PANDAS)
    fine = draw(st.booleans())
    height = draw(st.integers(0, 8))
    columns: dict[str, pl.Series] = {}

    def column(name: str, dtype: Any, values: st.SearchStrategy, *, holes: bool = False) -> None:
        if other.name == "pandas" and dtype in PANDAS_WITHOUT_NULL:
            holes = False
        drawn = draw(_cells(values, height, holes=holes, nan=dtype in (pl.Float32, pl.Float64)))
        columns[name] = pl.Series(name, drawn, dtype=dtype, strict=False)

    missing = draw(st.sampled_from(["raise", "drop", "unretrieved"]))
    holes = missing != "raise" if fine else True
    truths = of(TRUTHS if fine else TRUTHS | BAD_TRUTHS)
    dtype = draw(st.sampled_from(list(truths)))
    values, label = truths[dtype]
    column("truth", dtype, values, holes=holes and missing != "unretrieved")
    dtype = draw(st.sampled_from(list(of(SCORES if fine else SCORES | NO_SCORES))))
    column("score", dtype, (SCORES | NO_SCORES)[dtype], holes=holes)
    columns["other"] = columns["score"].reverse().alias("other")
    asked: dict[str, Any] = {"missing": missing, "pos_label": label}
    names = draw(st.lists(st.sampled_from(["k", "tp?", "model", "Größe"]), unique=True, max_size=2))
    for name in names:
        dtype = draw(st.sampled_from(list(of(KEYS))))
        column(name, dtype, KEYS[dtype], holes=draw(st.booleans()))
    if names:
        asked["by"] = names if len(names) > 1 else draw(st.sampled_from([names, names[0]]))
    if draw(st.booleans()):
        column("weight", pl.Float64, WEIGHTS if fine else BAD_WEIGHTS)
        asked["weight"] = "weight"
    df = pl.DataFrame(columns)
    return Problem(_as_in_pandas(df, names) if other.name == "pandas" else df, asked, other)


def _as_in_pandas(df: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return a frame without what pandas has no place for: NaN beside null in a key, no weight."""
    floats = [name for name in keys if df.schema[name].is_float()]
    weight = ["weight"] if "weight" in df.columns else []
    return df.with_columns(cs.by_name(floats).fill_nan(None), cs.by_name(weight).fill_null(1.0))


# --- outcomes -----------------------------------------------------------------------------------

# How often pandas was drawn, by whether it could hold the frame.
PANDAS: Counter[bool] = Counter()


def outcome(kind: Kind, df: pl.DataFrame, ask: Callable[[Any], Any]) -> pl.DataFrame | str:
    """Return the rows of a result, or the text of one of our errors; any other error escapes."""
    try:
        with looking(looks=kind.looks):
            rows = kind.rows(ask(kind.make(df)))
    except PrcError as error:
        check_text(error, df)
        return f"{type(error).__name__}: {error}"
    # Counted in Python: a query of Polars for each column takes twenty times as long or more.
    for column in rows:
        assert column.null_count() == column.to_list().count(None), column
    return rows


def check_text(error: PrcError, df: pl.DataFrame) -> None:
    """Show that an error names no column of ours."""
    assert not re.search(r"\bkey_\d", str(error)) or "key_0" in df.columns, error


def same_everywhere(df: pl.DataFrame, other: Kind, ask: Callable[[Any], Any]) -> pl.DataFrame | str:
    """Return the outcome on an eager frame, after showing that it is that of another kind."""
    expected = outcome(EAGER, df, ask)
    if other.name == "pandas":
        _same_in_pandas(other, df, ask, expected)
        return expected
    found = outcome(other, df, ask)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected, other
    else:
        assert_same_rows(found, expected)
    return expected


def assert_same_rows(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Show that two results are one, but for the last digits of what was added up."""
    tests = [name for name in ("p_value", "p_adjusted") if name in expected.columns]
    assert_frame_equal(found.drop(tests), expected.drop(tests), rel_tol=1e-12, abs_tol=1e-12)
    if tests:
        # The last digit of an area is so many standard errors of the difference; each of the tests
        # may be adjusted by those of all. Tests by random orders have no standard error.
        errors = expected["std_error"] if "std_error" in expected.columns else pl.Series([1.0])
        least = errors.min() or 1.0
        lost = 1e-12 + 1e-15 * expected.height / least
        assert_frame_equal(found[tests], expected[tests], rel_tol=1e-12, abs_tol=lost)


def _same_in_pandas(
    kind: Kind, df: pl.DataFrame, ask: Callable[[Any], Any], expected: pl.DataFrame | str
) -> None:
    """Show the same of pandas, where a frame can be the same there, and count how often it is."""
    fits = _fits_pandas(df)
    PANDAS[fits] += 1
    if not fits:
        return
    found = outcome(kind, df, ask)
    if isinstance(expected, str) or isinstance(found, str):
        assert str(found).partition(":")[0] == str(expected).partition(":")[0]
        return
    if "" in expected.columns:
        found.columns = expected.columns  # reading it back into Polars gives it another name
    # NaN in a score is a missing one there, which it is here as well.
    cast = found.cast(dict(expected.schema), strict=False)
    assert_same_rows(cast, expected)


def _fits_pandas(df: pl.DataFrame) -> bool:
    """Say whether pandas holds the same frame: null has a place of its own, or NaN for it."""
    return all(_column_fits_pandas(column) for column in df)


def _column_fits_pandas(column: pl.Series) -> bool:
    if column.dtype not in IN_PANDAS:
        return False
    if column.dtype in PANDAS_WITHOUT_NULL or column.name == "weight":
        return column.null_count() == 0
    if column.dtype == pl.Boolean and 0 < column.len() == column.null_count():
        return False  # objects, which say nothing of their dtype
    # In a key NaN is a segment, and in pandas a missing value.
    is_key = column.name not in ("truth", "score", "other")
    return not (is_key and any(_is_nan(value) for value in column))


def exact_segments(df: pl.DataFrame, asked: dict[str, Any]) -> dict[str, list[oracle.Row]] | None:
    """Return the rows of each segment for the oracle, by the text of their key.

    None where a row is missing something under ``missing="raise"``.
    """
    segments: dict[str, list[oracle.Row]] = {} if "by" in asked else {key_text({}, asked): []}
    for row in df.iter_rows(named=True):
        weight = row.get("weight", 1.0)
        if weight == 0:
            continue
        key = key_text(row, asked)
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


def key_text(row: dict[str, Any], asked: dict[str, Any]) -> str:
    """Return the text of a row's key, which NaN and null have as any other value does."""
    by = asked.get("by", [])
    return repr([_one_zero(row[name]) for name in ([by] if isinstance(by, str) else by)])


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _one_zero(value: Any) -> Any:
    return 0.0 if isinstance(value, float) and value == 0 else value
