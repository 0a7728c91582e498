"""Anything goes in; out comes the oracle's number or one of the package's own errors.

``FUZZ=100000 pytest tests/test_fuzz.py`` looks longer; by default a few frames per verb are tried.
A frame has columns of any dtype in any role, with any parameters. Whatever happens must be the same
on every kind of frame, and must not be an error of Polars, of pandas, or of Python. Each example is
asked of an eager frame and of one other kind, so that all kinds take their turns.
"""

from __future__ import annotations

import json
import math
import os
import re
import string
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

import engines
import optional
import oracle
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule
from kinds import KINDS, NARROWED, POLARS_KINDS, Kind, looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import PrcError
from frame_prc._rows import checks as _gate

EXAMPLES = int(os.environ.get("FUZZ", "25"))
# What takes so many times as long, or is asked again of a verb, gets so many times fewer examples.
DRAWING_TAKES, COUNTING_TAKES, DUCKDB_TAKES = 40, 40, 20
AGAIN = 4
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


def _fewer(times_as_long: int) -> int:
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
    return Problem(pl.DataFrame(columns), asked, other)


# --- outcomes -----------------------------------------------------------------------------------

# How often pandas was drawn, by whether it could hold the frame.
PANDAS: Counter[bool] = Counter()
LEAST_SHARE, ENOUGH = 0.5, 100


@pytest.fixture(autouse=True, scope="module")
def pandas_is_compared(remarks):
    """Say at the end how often pandas was compared, and fail where that was hardly ever."""
    yield
    drawn, compared = PANDAS.total(), PANDAS[True]
    remarks.append(f"fuzz: pandas compared in {compared} of {drawn} answers it was drawn for")
    assert drawn < ENOUGH or compared >= LEAST_SHARE * drawn, remarks[-1]


def outcome(kind: Kind, df: pl.DataFrame, ask: Callable[[Any], Any]) -> pl.DataFrame | str:
    """Return the rows of a result, or the text of one of our errors; any other error escapes."""
    try:
        with looking(looks=kind.looks):
            rows = kind.rows(ask(kind.make(df)))
    except PrcError as error:
        check_text(error, df)
        return f"{type(error).__name__}: {error}"
    for column in rows:
        assert column.null_count() == column.alias("any").is_null().sum(), column
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
        # may be adjusted by those of all.
        least = expected["std_error"].min() or 1.0
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


# --- the verbs ----------------------------------------------------------------------------------


@settings(fuzzed, max_examples=_fewer(AGAIN))
@given(problems())
def test_average_precision_is_that_of_the_oracle(problem):
    result = problem.ask("average_precision")
    assume(not isinstance(result, str))
    segments = exact_segments(problem.df, problem.asked)
    assert segments is not None
    found = by_segment(result, problem.asked)
    assert found.keys() == segments.keys()
    for key, rows in segments.items():
        (segment,) = found[key]
        assert segment["n"] == pytest.approx(float(sum(oracle.totals(rows))), rel=1e-12)
        area = oracle.average_precision(rows)
        expected = None if area is None else pytest.approx(float(area), rel=1e-12)
        assert segment["average_precision"] == expected


def by_segment(result: pl.DataFrame, asked: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a result in order, by the text of their segment's key."""
    segments: dict[str, list[dict[str, Any]]] = {}
    for row in result.iter_rows(named=True):
        segments.setdefault(key_text(row, asked), []).append(row)
    return segments


CURVE_OPTIONS = {
    "envelope": st.booleans(),
    "gain": st.booleans(),
    "calibrate": st.sampled_from([None, 0.1]),
    "ci": st.sampled_from([None, 0.9]),
}


@settings(fuzzed, max_examples=_fewer(AGAIN))
@given(problem=problems(), options=st.fixed_dictionaries({}, optional=CURVE_OPTIONS))
def test_curve_is_that_of_the_oracle(problem, options):
    result = problem.ask("curve", start=None, **options)
    assume(not isinstance(result, str))
    segments = exact_segments(problem.df, problem.asked)
    expected = {key: points for key, rows in segments.items() if (points := oracle.curve(rows))}
    found = by_segment(result, problem.asked)
    assert found.keys() == expected.keys()
    for key, points in expected.items():
        assert [row["threshold"] for row in found[key]] == [float(p.threshold) for p in points]
        for row, point in zip(found[key], points, strict=True):
            counts = {name: float(getattr(point, name)) for name in ("tp", "fp", "fn", "tn")}
            assert {name: row[name] for name in counts} == pytest.approx(
                counts, rel=1e-12, abs=1e-6
            )


ANYTHING = st.sampled_from(
    [
        *(0, 1, -1, 2, 0.5, NAN, INFINITY, True, False, None, "x", "k", "all", b"", "step", 1 + 0j),
        *([], [0.5], [0.9, 0.1], [NAN], ["x"], [None], (0.8, 0.2), ("x", None), {}, {"k": 1}),
        *(Fraction(1, 2), Decimal("0.5"), date(2026, 1, 1), pl.col("score"), pl.Series([0.5])),
    ]
)


def parameters(
    fixed: dict[str, st.SearchStrategy] | None = None, **allowed: st.SearchStrategy
) -> st.SearchStrategy:
    """Draw parameters of a verb: as allowed half of the time, else anything but the fixed."""
    anything = {name: values | ANYTHING for name, values in allowed.items()}
    return st.fixed_dictionaries(fixed or {}, optional=allowed) | st.fixed_dictionaries(
        fixed or {}, optional=anything
    )


def some(*values: Any) -> st.SearchStrategy:
    return st.sampled_from(values)


MODELS = some("score", ["score", "other"], {"a": "score", "b": "other"})
EDGES = some(3, 1, [0.5], [0, 1], [0.2, 0.9], [-1e308, 0.0, 1e-308, 1e308])
STARTS, YES_OR_NO = some("one", "first", None), st.booleans()
METHODS = ["step", "trapezoid", "interpolated", "envelope", "gain", "101-point", "11-point"]
SHARES, LEVELS, SEEDS = some(0.5, 0.0, 1.0, [0.1, 0.9]), some(0.95, 0.5), some(0, 1)
OPTIONS: dict[str, st.SearchStrategy] = {
    "counts": parameters(score=MODELS, thresholds=EDGES, squares=YES_OR_NO),
    "curve": parameters(
        score=MODELS,
        start=STARTS,
        keep=some("all", "corners", 5, 7),
        envelope=YES_OR_NO,
        gain=YES_OR_NO,
        calibrate=some(0.5, 0.1),
        thresholds=EDGES,
        ci=LEVELS,
    ),
    "average_precision": parameters(
        {"seed": SEEDS},
        score=MODELS,
        ci=LEVELS,
        ci_method=some("influence", "boyd", "bootstrap"),
        cluster=some("truth", "k", pl.col("score")),
        replicates=some(2, 3),
        stratified=YES_OR_NO,
    )
    | parameters(score=MODELS, thresholds=EDGES, bounds=YES_OR_NO)
    | parameters(
        over=some("k", "model"), average=some("macro", "weighted", "micro", "samples"), score=MODELS
    ),
    "auc": parameters(
        score=MODELS,
        method=some(*METHODS, ["step", "gain"], METHODS),
        recall_range=some((0.2, 0.8), (0, 1)),
        standardised=YES_OR_NO,
        start=STARTS,
        thresholds=EDGES,
    ),
    "operating_points": parameters(
        score=MODELS,
        recall=SHARES,
        precision=SHARES,
        threshold=some(0.5, -INFINITY, [0.0, 1e308]),
        f_beta=some(1, 0.5, [0.5, 2]),
        predicted_rate=SHARES,
    ),
    "summary": parameters(score=MODELS, ci=LEVELS, overall=YES_OR_NO),
    "band": parameters(
        {"replicates": some(2, 3), "seed": SEEDS},
        score=MODELS,
        recalls=some(3, [0.5], [0.1, 1.0]),
        ci=LEVELS,
        cluster=some("truth", "k"),
        stratified=YES_OR_NO,
    ),
    "compare": parameters(
        {"score": MODELS},
        ci=LEVELS,
        baseline=some("score", "a"),
        against=some("rest", "overall"),
        adjust=some("holm", "bh"),
        cluster=some("truth", "k"),
    ),
}
DRAWING: dict[str, st.SearchStrategy] = {
    "plot": parameters(
        score=MODELS,
        ci=LEVELS,
        iso_f1=some(True, False, [0.2]),
        points=some(None, {"recall": 0.5}, {"threshold": 0.5}),
        roc=YES_OR_NO,
        threshold=some(0.5, NAN),
        facet=some(None, "k", "model", ["k", "model"]),
        title=TEXTS,
    ),
    "plot_summary": parameters(score=MODELS, ci=LEVELS, baseline=some("score", "a"), title=TEXTS),
    "write_ggplot": parameters(
        score=MODELS, ci=LEVELS, keep=some("all", "corners", 5), title=TEXTS
    ),
}


@fuzzed
@given(problem=problems(), data=st.data())
def test_any_parameters_are_an_answer_or_an_error_of_ours(problem, data):
    # Drawing a frame takes as long as an answer: it is asked of every verb.
    for verb, options in OPTIONS.items():
        problem.ask(verb, **data.draw(options, label=verb))


@settings(fuzzed, max_examples=_fewer(DRAWING_TAKES))
@given(problem=problems(), data=st.data())
def test_rows_that_the_gate_refuses_break_nothing_beside_it(problem, data):
    # Both run at once: which comes first is luck, and the error has to be that of the gate.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_gate, "_raise_problem", lambda *_: None)
        for verb, options in OPTIONS.items():
            ask = problem.verb(verb, **data.draw(options, label=verb))
            for kind in POLARS_KINDS:
                with suppress(PrcError), looking(looks=kind.looks):
                    kind.rows(ask(kind.make(problem.df)))


@pytest.mark.parametrize("verb", ["average_precision", "counts", "curve"])
@settings(fuzzed, max_examples=_fewer(DUCKDB_TAKES))
@given(problem=problems(plain=True))
def test_duckdb_says_what_polars_says(verb, problem):
    kind = engines.duckdb_kind()
    errors = (PrcError, optional.require_module("duckdb").Error)
    ask = problem.verb(verb)
    expected = outcome(EAGER, problem.df, ask)
    try:
        found = kind.rows(ask(kind.make(problem.df)))
    except errors as error:
        # The engine stops at one row, Polars looks at all: the text is ours, not word for word.
        assert isinstance(expected, str), expected
        assert re.search(r"^[^\0]*(Allowed: |Hint: )[^\0]*$", str(error)), error  # noqa: PT017
        return
    assert isinstance(expected, pl.DataFrame), expected
    # Sums of floats in another order, of which small ones are what is left of large ones.
    assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("verb", DRAWING)
@settings(fuzzed, max_examples=_fewer(DRAWING_TAKES))
@given(problem=problems(), data=st.data())
def test_any_picture_is_drawn_or_an_error_of_ours(verb, problem, data, tmp_path_factory):
    draw = problem.verb(verb, **data.draw(DRAWING[verb]))
    try:
        if verb == "write_ggplot":
            path = tmp_path_factory.mktemp("r") / "curves.tsv"
            draw(problem.df, path)
            assert path.with_suffix(".R").exists()
        else:
            json.loads(draw(problem.df).to_json())
    except PrcError as error:
        check_text(error, problem.df)


@fuzzed
@given(problem=problems(), number=st.sampled_from([2, 3, 1, "x", None]))
def test_quantile_thresholds_are_an_answer_or_an_error_of_ours(problem, number):
    try:
        found = frame_prc.quantile_thresholds(problem.df, "score", number)
    except PrcError as error:
        check_text(error, problem.df)
        return
    assert found == sorted(set(found))
    if found:
        problem.ask("counts", thresholds=found)


class Counting(RuleBasedStateMachine):
    """Counts of parts, added up in any order and kept in any form, are those of all their rows."""

    counted = Bundle("counted")
    rows = st.lists(
        st.tuples(st.booleans(), st.sampled_from([-1.0, 0.0, 0.25, 0.5]), st.sampled_from("ab")),
        min_size=1,
        max_size=5,
    )

    @rule(target=counted, rows=rows, lazy=st.booleans())
    def count(self, rows, lazy):
        df = pl.DataFrame(rows, schema=["truth", "score", "k"], orient="row")
        found = frame_prc.counts(df.lazy() if lazy else df, "truth", "score", by="k")
        return rows, found.lazy().collect()

    @rule(target=counted, parts=st.lists(consumes(counted), min_size=1, max_size=3))
    def merge(self, parts):
        rows = [row for part, _ in parts for row in part]
        return rows, frame_prc.merge_counts(*(counts for _, counts in parts))

    @rule(target=counted, part=consumes(counted), seed=st.integers(0, 3))
    def shuffle(self, part, seed):
        rows, counts = part
        return rows, counts.sample(fraction=1, shuffle=True, seed=seed)

    @rule(target=counted, part=consumes(counted))
    def count_again(self, part):
        rows, counts = part
        return rows, frame_prc.counts(counts, score="threshold", pos="pos", neg="neg", by="k")

    @rule(target=counted, part=consumes(counted))
    def keep_in_pandas(self, part):
        rows, counts = part
        return rows, pl.from_pandas(counts.to_pandas())

    @rule(part=counted)
    def ask(self, part):
        rows, counts = part
        found = frame_prc.average_precision(
            counts, score="threshold", pos="pos", neg="neg", by="k"
        ).select("k", "n", "average_precision")
        expected = {}
        for truth, score, key in rows:
            expected.setdefault(key, []).append(oracle.Row(truth, score))
        assert found["k"].to_list() == sorted(expected)
        for key, n, area in found.rows():
            exact = oracle.average_precision(expected[key])
            assert n == len(expected[key])
            assert area == (None if exact is None else pytest.approx(float(exact), rel=1e-12))


TestCounting = Counting.TestCase
TestCounting.settings = settings(fuzzed, max_examples=_fewer(COUNTING_TAKES))


@fuzzed
@given(problem=problems(), parts=st.integers(1, 3))
def test_merged_counts_are_those_of_the_whole(problem, parts):
    counts = problem.verb("counts")
    try:
        expected = counts(problem.df)
    except PrcError:
        return
    pieces = [problem.df.gather_every(parts, part) for part in range(parts)]
    try:
        found = frame_prc.merge_counts(*map(counts, pieces if problem.df.height else pieces[:1]))
    except PrcError as error:
        # A part may have no row of the positive class.
        assert "pos_label" in str(error), error  # noqa: PT017 - the text alone is asked about
        return
    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@settings(fuzzed, max_examples=_fewer(AGAIN))
@given(
    names=st.lists(
        st.text(string.printable + "é😀", max_size=4) | st.sampled_from(["key_0", "score", "^a$"]),
        min_size=3,
        max_size=3,
        unique=True,
    ),
    other=st.sampled_from(OTHERS),
)
def test_any_column_names_will_do(names, other):
    truth, score, key = names
    values = {truth: [True, False, True], score: [0.1, 0.2, 0.3], key: ["a", "a", "b"]}
    df = pl.DataFrame(values)
    result = same_everywhere(
        df, other, lambda frame: frame_prc.average_precision(frame, truth, score, by=key)
    )
    if isinstance(result, str):
        assert "*" in names or key in ("n", "n_pos", "prevalence", "average_precision", "status")
    else:
        assert result["average_precision"].to_list() == [0.5, 1.0]
