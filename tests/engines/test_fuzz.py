"""Inside DuckDB as well, each segment gets the oracle's numbers, whatever goes in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import engine_kinds
import optional
import oracle
import polars as pl
import pytest
from fuzzing import exact_segments, fewer, fuzzed, problems
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frame_prc import PrcError

pytestmark = pytest.mark.thorough

# A query is planned in about a tenth of a second.
asked_of_duckdb = settings(fuzzed, max_examples=fewer(20))


def answer(problem: Any, verb: str, **options: Any) -> tuple[dict, dict]:
    """Return the rows of a result and those of the oracle by the text of their key."""
    kind = engine_kinds.duckdb_kind()
    errors = (PrcError, optional.require_module("duckdb").Error)
    try:
        found = kind.rows(problem.verb(verb, **options)(kind.make(problem.df)))
    except errors:
        assume(False)
    segments = exact_segments(problem.df, problem.asked)
    assert segments is not None
    by = problem.asked.get("by", [])
    names = [by] if isinstance(by, str) else by
    whole = next(iter(segments), "")
    results: dict[str, list[dict]] = {}
    for row in found.iter_rows(named=True):
        key = repr([row[name] for name in names]) if names else whole
        results.setdefault(key, []).append(row)
    return results, segments


def approximately(value: Fraction | None, absolute: float = 0.0) -> Any:
    return None if value is None else pytest.approx(float(value), rel=1e-12, abs=absolute)


@asked_of_duckdb
@given(problem=problems(plain=True))
def test_average_precision_is_that_of_the_oracle(problem):
    found, segments = answer(problem, "average_precision")
    assert found.keys() == segments.keys()
    for key, rows in segments.items():
        (segment,) = found[key]
        area = oracle.average_precision(rows)
        assert segment["n"] == approximately(sum(oracle.totals(rows)))
        assert segment["average_precision"] == approximately(area)


@asked_of_duckdb
@given(problem=problems(plain=True))
def test_counts_are_those_of_the_oracle(problem):
    found, segments = answer(problem, "counts")
    held = {key: rows for key, rows in segments.items() if rows}
    assert found.keys() == held.keys()
    for key, rows in held.items():
        scores = {row.score: [] for row in rows if row.weight > 0}
        for row in rows:
            scores[row.score].append(row)
        counted = {row["threshold"]: (row["pos"], row["neg"]) for row in found[key]}
        assert len(counted) == len(found[key])
        assert counted == {
            score: tuple(approximately(total) for total in oracle.totals(tied))
            for score, tied in scores.items()
        }


@asked_of_duckdb
@given(
    problem=problems(plain=True),
    keep=st.sampled_from(["all", "corners"]),
    envelope=st.booleans(),
)
def test_curve_is_that_of_the_oracle(problem, keep, envelope):
    found, segments = answer(problem, "curve", start=None, keep=keep, envelope=envelope)
    choose: Callable[[Sequence], Sequence] = oracle.corners if keep == "corners" else list
    expected = {key: choose(oracle.curve(rows)) for key, rows in segments.items()}
    expected = {key: points for key, points in expected.items() if points}
    assert found.keys() == expected.keys()
    for key, points in expected.items():
        for row, point in zip(found[key], points, strict=True):
            assert row["threshold"] == pytest.approx(float(point.threshold), rel=1e-15)
            for name in ("tp", "fp", "precision", "recall"):
                assert row[name] == approximately(getattr(point, name))
            for name in ("fn", "tn"):
                # What is left of a total of up to 1e7 is as exact as the total's last digit.
                assert row[name] == approximately(getattr(point, name), absolute=1e-8)
        for row, after in pairwise(found[key]):
            assert row["tp"] <= after["tp"]
            assert row["fp"] <= after["fp"]
        if envelope:
            heights = pl.Series([row["envelope"] for row in found[key]])
            assert heights.is_sorted(descending=True)
            assert (heights >= pl.Series([row["precision"] for row in found[key]])).all()
