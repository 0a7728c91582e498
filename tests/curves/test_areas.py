"""Areas under the curve by name: published ones, exact ones, parts of them, and their limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import polars as pl
import published
import pytest
from areas import METHODS, ROUNDED, area, call, counted, exact_areas
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS, assert_rows, every_kind
from strategies import BY, DYADIC_WEIGHTS, SCORES, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

PARTIAL = METHODS[:4]


exact_weights = pytest.mark.parametrize(
    "weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"]
)

every_method = pytest.mark.parametrize("method", METHODS)


# --- published numbers -------------------------------------------------------------------------


def prcbench(name, step, one, first, interpolated, envelope):
    df = published.PRCBENCH[name]
    return [
        (f"prcbench {name}", df, "step", "one", step),
        (f"prcbench {name}", df, "trapezoid", "one", one),
        (f"prcbench {name}", df, "trapezoid", "first", first),
        (f"prcbench {name}", df, "interpolated", "one", interpolated),
        (f"prcbench {name}", df, "envelope", "one", envelope),
    ]


# Each number with the digits its source prints.
PUBLISHED = [
    *prcbench("C1", ".8333333333", ".9166666667", ".9166666667", ".8873265361", ".8333333333"),
    *prcbench("C2", ".5", ".5833333333", ".4583333333", ".4623179275", ".5"),
    *prcbench("C3", ".4166666667", ".2916666667", ".2916666667", ".3068528194", ".5"),
    *prcbench("C4", ".875", ".875", ".875", ".875", ".875"),
    # The test of the metric aucpr in xgboost.
    ("xgboost aucpr", published.XGBOOST, "interpolated", "one", ".2908445"),
    # BinaryClassificationMetricsSuite of Spark MLlib.
    ("Spark", published.SPARK, "trapezoid", "first", ".8339285714"),
    # sklearn/metrics/tests/test_ranking.py; .35281 is the area of Davis & Goadrich 2006.
    ("scikit-learn ties", published.SKLEARN_TIES, "step", "one", ".3666667"),
    ("scikit-learn ties", published.SKLEARN_TIES, "trapezoid", "one", ".5166667"),
    ("scikit-learn ties", published.SKLEARN_TIES, "interpolated", "one", ".35281"),
    # The tests of pr_auc and average_precision in yardstick.
    ("yardstick ties", published.YARDSTICK_TIES, "trapezoid", "one", ".5722222"),
    ("yardstick ties", published.YARDSTICK_TIES, "step", "one", ".5333333"),
    # The walk-through of the function voc_ap of Detectron.
    ("Detectron", published.DETECTRON, "envelope", "one", ".7916666667"),
    ("Detectron", published.DETECTRON, "step", "one", ".7688492063"),
    # PASCAL VOC's and COCO's grids, on recalls that lie on them; a grid of floats has .700535.
    ("VOC grid", published.RUNS, "step", "one", ".642591"),
    ("VOC grid", published.RUNS, "envelope", "one", ".711765"),
    ("VOC grid", published.RUNS, "11-point", "one", ".737968"),
    ("VOC grid", published.RUNS, "101-point", "one", ".714619"),
    # The smallest areas there are at prevalence .1 (Boyd et al. 2012, arXiv 1206.4667).
    ("worst", published.WORST, "interpolated", "one", ".05175535908"),
    ("worst", published.WORST, "step", "one", ".05673776688"),
]


@every_kind
@pytest.mark.parametrize(
    ("df", "method", "start", "printed"),
    [case[1:] for case in PUBLISHED],
    ids=[f"{name}-{method}-{start}" for name, _, method, start, _ in PUBLISHED],
)
def test_equals_published_areas(kind, df, method, start, printed):
    found = area(kind, df, method, start=start)
    digits = len(printed) - 1
    assert round(found, digits) == float(printed)
    exact = oracle.area(segments(df, None)[()], method, start)
    assert found == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.parametrize("prevalence", [0.5, 0.1, 0.01])
def test_worst_ranking_has_the_smallest_interpolated_area(prevalence):
    # Boyd et al. 2012, arXiv 1206.4667, theorem 1; .3068528194 at prevalence 1/2.
    df = pl.DataFrame({"score": [1, 0], "pos": [0, 100], "neg": [round(100 / prevalence) - 100, 0]})
    result = frame_prc.auc(df, score="score", pos="pos", neg="neg", method="interpolated")
    smallest = 1 + (1 - prevalence) / prevalence * np.log1p(-prevalence)
    assert result["auc"].item() == pytest.approx(smallest, rel=1e-10, abs=0)


@every_kind
def test_constant_score_has_prevalence_but_a_trapezoid_halfway_to_one(kind):
    # yardstick and scikit-learn's auc(recall, precision) give (1 + 1/4) / 2 for no skill at all.
    df = published.SKLEARN_CONSTANT
    assert [area(kind, df, method) for method in METHODS] == [0.25, 0.625, *[0.25] * 4, 0]
    assert area(kind, df, "trapezoid", start="first") == 0.25
    assert area(kind, df, "trapezoid", start=None) == 0


# --- exact arithmetic --------------------------------------------------------------------------


@every_kind
@exact_weights
@given(st.data(), BY, st.sampled_from(["one", "first", None]))
def test_every_area_equals_exact_arithmetic(kind, weights, data, by, start):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    result = call(kind, df, by=by, method=METHODS, start=start, missing="unretrieved")
    assert_rows(kind, result, exact_areas(df, by, METHODS, start=start), **ROUNDED)


@every_kind
@exact_weights
@given(st.data(), BY)
def test_area_under_the_roc_curve_equals_exact_arithmetic(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))
    both = ["roc", "step"]
    assert_rows(kind, call(kind, df, by=by, method=both), exact_areas(df, by, both), **ROUNDED)


@pytest.mark.parametrize(
    "given", [{"missing": "unretrieved"}, {"ci": 0.9}, {"calibrate": 0.1}], ids=str
)
def test_what_the_area_under_the_roc_curve_has_elsewhere_is_refused(given):
    with pytest.raises(OptionError, match=r"method='roc' is given with .*Hint: "):
        call(KINDS[0], published.RUNS, method="roc", **given)


RECALLS = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.999, 1.0])
RANGES = st.tuples(RECALLS, RECALLS).filter(lambda bounds: bounds[0] < bounds[1])


@every_kind
@exact_weights
@given(st.data(), BY, st.sampled_from(["one", "first", None]), RANGES)
def test_area_between_two_recalls_equals_exact_arithmetic(kind, weights, data, by, start, bounds):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    options = {"method": PARTIAL, "start": start, "missing": "unretrieved"}
    result = call(kind, df, by=by, recall_range=bounds, **options)
    low, high = map(Fraction, bounds)
    exact = exact_areas(df, by, PARTIAL, start=start, low=low, high=high)
    assert_rows(kind, result, exact, **ROUNDED)


THRESHOLDS = [0.0, 0.25, 0.3, 0.75]


@every_kind
@exact_weights
@given(st.data(), BY, st.sampled_from(["one", "first", None]))
def test_area_of_binned_scores_equals_exact_arithmetic(kind, weights, data, by, start):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    options = {"method": METHODS, "start": start, "missing": "unretrieved"}
    result = call(kind, df, by=by, thresholds=THRESHOLDS, **options)
    exact = exact_areas(df, by, METHODS, lambda rows: oracle.binned(rows, THRESHOLDS), start=start)
    assert_rows(kind, result, exact, **ROUNDED)


# Positives and negatives at each score: most of a step lies beyond what was retrieved before, or
# next to nothing of it. There the published closed form loses up to all its digits.
EXTREMES = {
    "one positive of a million, last": [(0, 999_999), (1, 0)],
    "one positive of a million, first": [(1, 0), (0, 999_999)],
    "one positive of a million, tied": [(0, 500_000), (1, 100_000), (0, 399_999)],
    "a thousand million weights": [(10**9, 10**9), (1, 0), (1, 10**9), (10**9, 1)],
    "after all but one": [(10**12, 10**12), (1, 1)],
    "tiny and large": [(1, 10**15), (10**15, 1)],
    "all but one positive": [(88_150, 0), (58_537, 0), (2, 1)],
    "next to all positive": [(10**9, 0), (0, 1), (10**12, 2), (3, 1)],
}


@every_kind
@every_method
@pytest.mark.parametrize("classes", EXTREMES.values(), ids=EXTREMES)
def test_areas_of_extreme_counts_keep_their_digits(kind, classes, method):
    df, rows = counted(classes)
    result = frame_prc.auc(kind.make(df), score="score", pos="pos", neg="neg", method=method)
    exact = float(oracle.area(rows, method))
    assert kind.rows(result)["auc"].item() == pytest.approx(exact, rel=1e-12, abs=0)


@every_kind
@every_method
@pytest.mark.parametrize("factor", [1e9, 1e-9])
def test_weights_of_any_size_give_the_same_area(kind, method, factor):
    df = published.RUNS.with_columns(weight=factor * pl.int_range(1, pl.len() + 1))
    small = df.with_columns(pl.col("weight") / factor)
    exact = oracle.area(segments(small.with_columns(pl.col("weight").round()), None)[()], method)
    assert area(kind, df, method, weight="weight") == pytest.approx(float(exact), rel=1e-12, abs=0)


COUNTS = st.sampled_from([0, 1, 2, 10**3, 10**6, 10**9]) | st.integers(0, 10**9)


@every_kind
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=6))
def test_gain_of_any_counts_keeps_its_digits(kind, classes):
    df, rows = counted(classes)
    result = frame_prc.auc(kind.make(df), score="score", pos="pos", neg="neg", method="gain")
    exact = oracle.area(rows, "gain")
    # Heights between 1 and far below 0 may cancel.
    expected = None if exact is None else pytest.approx(float(exact), rel=1e-12, abs=1e-15)
    assert kind.rows(result)["auc"].to_list() == [expected]


# What is said of weights: from 1e-70 on, and a sum below 1e70.
WIDE = {
    "few positives": [(1e-70, 0.0), (0.0, 1e67)],
    "few positives, last": [(0.0, 1e67), (1e-70, 0.0)],
    "few positives, tied": [(1e-70, 1e67)],
    "few negatives": [(1e67, 0.0), (1e67, 1e-70), (1e-70, 0.0)],
    "few negatives, first": [(0.0, 1e-70), (1e67, 0.0)],
    "all small": [(1e-70, 0.0), (1e-70, 1e-70), (2e-70, 1e-70)],
    "all large": [(1e69, 0.0), (1e69, 1e69), (2e69, 1e69)],
    "from small to large": [(1e-70, 1e-70), (1e-35, 1.0), (1.0, 1e-35), (1e69, 1e69)],
}


@every_kind
@pytest.mark.parametrize("classes", WIDE.values(), ids=WIDE)
def test_gain_of_weights_over_their_whole_range(kind, classes):
    df, rows = counted(classes)
    result = frame_prc.auc(kind.make(df), score="score", pos="pos", neg="neg", method="gain")
    exact = float(oracle.area(rows, "gain"))
    assert kind.rows(result)["auc"].to_list() == [pytest.approx(exact, rel=1e-12, abs=1e-15)]


# --- parts of an area --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("method", PARTIAL)
@pytest.mark.parametrize("start", ["one", "first", None])
@pytest.mark.parametrize("df", [published.PRCBENCH[name] for name in ("C2", "C3")])
def test_areas_of_adjacent_ranges_add_up_to_the_whole(kind, df, start, method):
    cuts = [0, 0.1, 1 / 3, 0.5, 0.9, 1]
    parts = [
        area(kind, df, method, start=start, recall_range=(low, high))
        for low, high in pairwise(cuts)
    ]
    assert sum(parts) == pytest.approx(area(kind, df, method, start=start), rel=1e-12, abs=0)


@every_kind
@pytest.mark.parametrize("method", PARTIAL)
def test_standardised_area_is_divided_by_the_width_of_the_range(kind, method):
    df, bounds = published.PRCBENCH["C2"], (0.25, 0.75)
    part = area(kind, df, method, recall_range=bounds)
    standardised = area(kind, df, method, recall_range=bounds, standardised=True)
    assert standardised == pytest.approx(2 * part, rel=1e-12, abs=0)
    perfect = published.SKLEARN_PERFECT
    assert area(kind, perfect, method, recall_range=bounds, standardised=True) == 1


# --- several methods, and what is undefined ----------------------------------------------------


@every_kind
@exact_weights
@given(st.data(), BY)
def test_methods_together_are_each_method_alone(kind, weights, data, by):
    df = data.draw(frames(SCORES, weights))
    order = data.draw(st.permutations(METHODS))
    together = kind.rows(call(kind, df, by=by, method=order))
    assert together["method"].to_list() == order * (together.height // len(order))
    for method in order:
        alone = call(KINDS[0], df, by=by, method=method)
        assert_rows(kind, kind.make(together.filter(method=method)), alone, **ROUNDED)


SEGMENTS = pl.DataFrame(
    {
        "segment": ["bad", "bad", "good", "lost", "mixed", "mixed"],
        "truth": [0, 0, 1, 1, 1, 0],
        "score": [0.9, 0.8, 0.9, None, 0.9, 0.8],
    }
)


@every_kind
@every_method
@pytest.mark.parametrize(
    ("missing", "lost"), [("drop", None), ("unretrieved", 0.0)], ids=["drop", "unretrieved"]
)
def test_area_is_null_where_it_is_not_defined(kind, method, missing, lost):
    result = frame_prc.auc(
        kind.make(SEGMENTS),
        "truth",
        "score",
        by="segment",
        method=method,
        missing=missing,
    )
    gain, drops = method == "gain", missing == "drop"
    columns = {
        "segment": ["bad", "good", "lost", "mixed"],
        "n": [2, 1, 0 if drops else 1, 2],
        "n_pos": [0, 1, 0 if drops else 1, 1],
        "method": [method] * 4,
        "auc": [None, None if gain else 1.0, None if gain else lost, 1.0],
        **({"n_dropped": [0, 0, 1, 0]} if drops else {}),
        "status": ["no_positives", "no_negatives", "empty" if drops else "no_negatives", "ok"],
    }
    expected = pl.DataFrame(columns, schema_overrides={"auc": pl.Float64})
    assert_rows(kind, result, expected)


@every_kind
def test_no_rows_are_one_row_of_null_per_method_or_with_keys_none(kind):
    none = SEGMENTS.clear()
    whole = kind.rows(frame_prc.auc(kind.make(none), "truth", "score", method=METHODS))
    assert whole.select("n", "n_pos", "auc", "status").rows() == [(0, 0, None, "empty")] * 7
    keyed = frame_prc.auc(kind.make(none), "truth", "score", by="segment", method=METHODS)
    sizes = {"segment": pl.String, "n": pl.Int64, "n_pos": pl.Int64}
    schema = {**sizes, "method": pl.String, "auc": pl.Float64, "status": pl.String}
    assert_rows(kind, keyed, pl.DataFrame(schema=schema))


@every_kind
@exact_weights
@given(st.data(), BY)
def test_areas_of_counts_are_those_of_their_rows(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    options = {"by": by, "missing": "unretrieved"}
    weight = None if weights is None else "weight"
    counts = frame_prc.counts(df, "truth", "score", weight=weight, **options)
    counted = frame_prc.auc(
        kind.make(counts), score="threshold", pos="pos", neg="neg", method=METHODS, **options
    )
    assert_rows(kind, counted, call(KINDS[0], df, method=METHODS, **options), **ROUNDED)
