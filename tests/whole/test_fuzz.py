"""Anything goes in; out comes the oracle's number or one of the package's own errors.

``FUZZ=100000 pytest --hypothesis-seed=2 tests/whole/test_fuzz.py`` looks longer, and at other
frames; by default a few frames per verb are tried. A frame has columns of any dtype in any role,
with any parameters. Whatever happens must be the same on every kind of frame, and must not be an
error of Polars, of pandas, or of Python. Each example is asked of an eager frame and of one other
kind, so that all kinds take their turns.
"""

from __future__ import annotations

import json
import re
import string
from contextlib import suppress
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import engine_kinds
import optional
import oracle
import polars as pl
import pytest
from fuzzing import (
    EAGER,
    INFINITY,
    NAN,
    OTHERS,
    PANDAS,
    TEXTS,
    check_text,
    exact_segments,
    fewer,
    fuzzed,
    key_text,
    outcome,
    problems,
    same_everywhere,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule
from kinds import POLARS_KINDS, looking
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import Draws, PrcError, Top
from frame_prc._rows import checks as _gate

pytestmark = pytest.mark.thorough

# What takes so many times as long, or is asked again of a verb, gets so many times fewer examples.
DRAWING_TAKES, COUNTING_TAKES, DUCKDB_TAKES = 40, 40, 20
AGAIN = 4
LEAST_SHARE, ENOUGH = 0.5, 100


@pytest.fixture(autouse=True, scope="module")
def pandas_is_compared(remarks):
    """Say at the end how often pandas was compared, and fail where that was hardly ever."""
    yield
    drawn, compared = PANDAS.total(), PANDAS[True]
    remarks.append(f"fuzz: pandas compared in {compared} of {drawn} answers it was drawn for")
    assert drawn < ENOUGH or compared >= LEAST_SHARE * drawn, remarks[-1]


@settings(fuzzed, max_examples=fewer(AGAIN))
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


@settings(fuzzed, max_examples=fewer(AGAIN))
@given(problem=problems(), options=st.fixed_dictionaries({}, optional=CURVE_OPTIONS))
def test_curve_is_that_of_the_oracle(problem, options):
    result = problem.ask("curve", start=None, **options)
    assume(not isinstance(result, str))
    # Scores that are one number as thresholds are one point.
    wide = pl.selectors.integer() | pl.selectors.decimal()
    as_shown = problem.df.with_columns((wide & pl.selectors.by_name("score")).cast(pl.Float64))
    segments = exact_segments(as_shown, problem.asked)
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
HELD = pl.DataFrame({"threshold": [0.5]})
HELD_BY_KEY = pl.DataFrame({"k": [None, "a"], "threshold": [0.5, None]}, strict=False)
CALIBRATIONS = some("pooled", 0.5, 1e-9, 0.9999999)
SHARES, LEVELS, DRAWS = (
    some(0.5, 0.0, 1.0, [0.1, 0.9]),
    some(0.95, 0.5),
    st.builds(Draws, some(2, 3), seed=some(0, 1), stratified=YES_OR_NO),
)
PERMUTED = st.builds(Draws, st.just(9), seed=some(0, 1))
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
        cluster=some("truth", "k", pl.col("score")),
    )
    | parameters({"recalls": some(3, [0.0, 0.5])}, score=MODELS, thresholds=EDGES, over=some("k")),
    "average_precision": parameters(
        {"ci": LEVELS},
        score=MODELS,
        ci_method=some("influence", "boyd"),
        cluster=some("truth", "k", pl.col("score")),
    )
    | parameters(
        {"ci": LEVELS, "bootstrap": DRAWS},
        score=MODELS,
        cluster=some("truth", "k", pl.col("score")),
    )
    | parameters(score=MODELS, thresholds=EDGES, bounds=YES_OR_NO)
    | parameters(
        score=MODELS,
        calibrate=CALIBRATIONS,
        ci=LEVELS,
        cluster=some("truth", "k", pl.col("score")),
        thresholds=EDGES,
    ),
    "average": parameters(
        {"over": some("k", "model")},
        measure=some("average_precision", "calibrated_average_precision", "roc_auc"),
        how=some("mean", "weighted", "micro", "rows"),
        score=MODELS,
        ci=LEVELS,
        top=some(1, 2.5, Top(2, "attainable")),
    ),
    "auc": parameters(
        score=MODELS,
        method=some(*METHODS, ["step", "gain"], METHODS),
        recall_range=some((0.2, 0.8), (0, 1)),
        standardised=YES_OR_NO,
        start=STARTS,
        thresholds=EDGES,
        calibrate=CALIBRATIONS,
    )
    | parameters(
        {"ci": LEVELS, "bootstrap": DRAWS},
        score=MODELS,
        method=some("step", METHODS),
        thresholds=EDGES,
        top=some(2),
        cluster=some("truth", "k"),
    ),
    "operating_points": parameters(
        score=MODELS,
        recall=SHARES,
        precision=SHARES,
        threshold=some(0.5, -INFINITY, [0.0, 1e308], "score", pl.lit(0.5), HELD, HELD_BY_KEY),
        f_beta=some(1, 0.5, [0.5, 2]),
        predicted_rate=SHARES,
        predicted_count=some(2, [1, 1.5]),
        fpr=some(0, 0.5),
        cost=some((1, 1), [(0, 1), (2.5, 1)]),
    )
    | parameters(
        {"ci": LEVELS},
        score=MODELS,
        threshold=some(0.5, pl.lit(0.5), HELD),
        cluster=some("truth", "k"),
    )
    | parameters(
        {"ci": LEVELS, "recall": SHARES, "bootstrap": DRAWS},
        score=MODELS,
        threshold=some(0.5),
        predicted_count=some(2),
        cost=some((1, 3)),
        cluster=some("truth", "k"),
    ),
    "summary": parameters(
        score=MODELS,
        ci=LEVELS,
        cluster=some("truth", "k"),
        calibrate=CALIBRATIONS,
        overall=YES_OR_NO,
        segments=some("fixed", "sampled"),
        measures=some("all", ["lift", "gain"]),
        details=YES_OR_NO,
    ),
    "heterogeneity": parameters(
        score=MODELS,
        cluster=some("truth", "k"),
        measure=some("calibrated_average_precision", "average_precision", "roc_auc"),
        calibrate=CALIBRATIONS,
    ),
    "band": parameters(
        {"bootstrap": DRAWS},
        score=MODELS,
        recalls=some(3, [0.5], [0.1, 1.0]),
        ci=LEVELS,
        cluster=some("truth", "k"),
    ),
    "compare_segments": parameters(
        score=MODELS,
        ci=LEVELS,
        against=some("others", "rest", "overall", "previous", {"k": None}, {"k": 1}, {"k": "a"}),
        measure=some("calibrated_average_precision", "average_precision", "roc_auc"),
        calibrate=CALIBRATIONS,
        adjust=some("holm", "bh"),
        cluster=some("truth", "k"),
        details=YES_OR_NO,
    )
    | parameters({"permutations": PERMUTED, "against": some("random")}, score=MODELS),
    "compare_models": parameters(
        {"score": MODELS},
        ci=LEVELS,
        baseline=some("score", "a"),
        measure=some("calibrated_average_precision", "average_precision", "roc_auc"),
        calibrate=CALIBRATIONS,
        adjust=some("holm", "bh"),
        cluster=some("truth", "k"),
        details=YES_OR_NO,
    )
    | parameters(
        {"score": MODELS, "permutations": PERMUTED},
        over=some("k"),
    )
    | parameters({"score": MODELS}, over=some("k"), ci=LEVELS, adjust=some("holm")),
}
DRAWING: dict[str, st.SearchStrategy] = {
    "plot": parameters(
        score=MODELS,
        ci=LEVELS,
        cluster=some("k", pl.col("score")),
        iso_f1=some(True, False, [0.2]),
        points=some(None, {"recall": 0.5}, {"threshold": 0.5}),
        roc=YES_OR_NO,
        threshold=some(0.5, NAN),
        facet=some(None, "k", "model", ["k", "model"]),
        title=TEXTS,
    )
    | parameters({"x": some("threshold")}, score=MODELS, ci=LEVELS, threshold=some(0.5, NAN)),
    "plot_summary": parameters(
        score=MODELS,
        ci=LEVELS,
        cluster=some("k", pl.col("score")),
        baseline=some("score", "a"),
        calibrate=CALIBRATIONS,
        sort=some(None, "value", "difference", "key"),
        title=TEXTS,
    ),
    "plot_scores": parameters(score=MODELS, bins=some(2, 50), title=TEXTS),
    "write_ggplot": parameters(
        score=MODELS, ci=LEVELS, keep=some("all", "corners", 5), title=TEXTS
    ),
    "report": parameters(
        score=MODELS,
        ci=LEVELS,
        cluster=some("k", pl.col("score")),
        baseline=some("score", "a"),
        calibrate=CALIBRATIONS,
        title=TEXTS,
    ),
}


@fuzzed
@given(problem=problems(), data=st.data())
def test_any_parameters_are_an_answer_or_an_error_of_ours(problem, data):
    # Drawing a frame takes as long as an answer: it is asked of every verb.
    for verb, options in OPTIONS.items():
        problem.ask(verb, **data.draw(options, label=verb))


@settings(fuzzed, max_examples=fewer(DRAWING_TAKES))
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
@settings(fuzzed, max_examples=fewer(DUCKDB_TAKES))
@given(problem=problems(plain=True))
def test_duckdb_says_what_polars_says(verb, problem):
    kind = engine_kinds.duckdb_kind()
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
@settings(fuzzed, max_examples=fewer(DRAWING_TAKES))
@given(problem=problems(), data=st.data())
def test_any_picture_is_drawn_or_an_error_of_ours(verb, problem, data, tmp_path_factory):
    draw = problem.verb(verb, **data.draw(DRAWING[verb]))
    try:
        if verb == "write_ggplot":
            path = tmp_path_factory.mktemp("r") / "curves.tsv"
            draw(problem.df, path)
            assert path.with_suffix(".R").exists()
        elif verb == "report":
            [numbers] = draw(problem.df, tmp_path_factory.mktemp("report") / "report.json")
            json.loads(numbers.read_text(encoding="utf-8"))
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
TestCounting.settings = settings(fuzzed, max_examples=fewer(COUNTING_TAKES))


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


@settings(fuzzed, max_examples=fewer(AGAIN))
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
