"""Averages over a key: scikit-learn's four averages, and averages by definition."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import chain
from statistics import median

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS, assert_rows, every_kind, looking
from polars.testing import assert_frame_equal
from scipy import special, stats
from sklearn.metrics import average_precision_score
from strategies import DYADIC_WEIGHTS, SCORES, frames

import frame_prc

ROUNDED = {"rel_tol": 1e-12, "abs_tol": 0.0}
# How segments are averaged, and scikit-learn's name for it.
HOW = {"mean": "macro", "weighted": "weighted", "micro": "micro", "rows": "samples"}

every_how = pytest.mark.parametrize("how", HOW)

every_weight = pytest.mark.parametrize("weight", [None, "weight"], ids=["unweighted", "weighted"])


def averaged(kind, df, over, how, **options):
    return frame_prc.average(
        kind.make(df), "truth", "score", over=over, how=how, **options, details=True
    )


def area(result):
    return result["average_precision"].item()


# --- scikit-learn's averages -------------------------------------------------------------------


# Two labels of five rows with weights; the averages are those scikit-learn prints for them.
FIVE = pl.DataFrame(
    {
        "row": range(5),
        "is_a": [1, 1, 0, 0, 0],
        "is_b": [0, 0, 1, 1, 1],
        "a": [0.5, 0.6, 0.7, 0.8, 0.9],
        "b": [0.5, 0.4, 0.3, 0.2, 0.1],
        "weight": [1, 1, 2, 2, 2],
    }
)


def long_labels(kind, wide, labels, weight=None):
    """Return rows and labels as one frame of a kind, from columns ``is_*`` and scores."""
    scores = {label: label for label in labels}
    return kind.make(wide).prc.one_vs_rest(
        [f"is_{label}" for label in labels], scores, row="row", weight=weight
    )


@every_kind
@pytest.mark.parametrize(
    ("how", "printed"),
    [("micro", 0.36111), ("mean", 0.41766), ("weighted", 0.528274), ("rows", 0.5625)],
)
def test_averages_of_five_rows_are_the_published_ones(kind, how, printed):
    long = long_labels(kind, FIVE, ["a", "b"], weight="weight")
    over = "row" if how == "rows" else "label"
    result = long.prc.average("truth", "score", by=over, weight="weight", over=over, how=how)
    digits = len(str(printed)) - 2
    assert round(area(kind.rows(result)), digits) == printed


@pytest.mark.parametrize("how", ["mean", "weighted", "micro"])
def test_many_rows_in_memory_are_averaged_as_few_are(how):
    """Without its key a row is not one of those that were looked at."""
    rows = long_labels(KINDS[0], FIVE, ["a", "b"], weight="weight")
    asked = {"by": "label", "weight": "weight", "over": "label", "how": how, "details": True}
    few = rows.prc.average("truth", "score", **asked)
    with looking(looks=True):
        many = rows.prc.average("truth", "score", **asked)
    assert_frame_equal(many, few)


@every_kind
def test_classes_of_five_rows_are_the_published_ones(kind):
    long = long_labels(kind, FIVE, ["a", "b"], weight="weight")
    result = long.prc.average_precision("truth", "score", by="label", weight="weight")
    found = kind.rows(result)
    assert found["label"].to_list() == ["a", "b"]
    assert [round(a, 8) for a in found["average_precision"]] == [0.19642857, 0.63888889]
    rows = long.prc.average_precision("truth", "score", by="row", weight="weight")
    assert kind.rows(rows)["average_precision"].to_list() == [0.5, 1, 0.5, 0.5, 0.5]


@cache
def multilabel(seed, *, lone_rows=False):
    """Return rows with four labels, every row and label with a positive unless lone."""
    random = np.random.default_rng(seed)
    truth = random.random((40, 4)) < [0.2, 0.4, 0.6, 0.3]
    if not lone_rows:
        truth[np.arange(40), random.integers(0, 4, 40)] = True
    scores = (random.normal(size=(40, 4)) + truth).round(1)
    columns = {"row": np.arange(40), "weight": random.gamma(2, size=40)}
    columns |= {f"is_{label}": truth[:, place] for place, label in enumerate("abcd")}
    columns |= {label: scores[:, place] for place, label in enumerate("abcd")}
    return pl.DataFrame(columns)


def sklearn_average(wide, how, weight):
    truth = wide.select(f"is_{label}" for label in "abcd").to_numpy()
    scores = wide.select(*"abcd").to_numpy()
    weights = None if weight is None else wide[weight].to_numpy()
    return average_precision_score(truth, scores, average=HOW[how], sample_weight=weights)


@every_kind
@every_weight
@every_how
@pytest.mark.parametrize("seed", range(2))
def test_averages_are_those_of_scikit_learn(kind, seed, how, weight):
    wide = multilabel(seed)
    long = long_labels(kind, wide, "abcd", weight)
    over = "row" if how == "rows" else "label"
    asked = {"by": over, "weight": weight, "over": over, "how": how}
    result = long.prc.average("truth", "score", **asked, details=True)
    found = kind.rows(result).row(0, named=True)
    # A label's weighted average has the weight of its positives, as in scikit-learn.
    expected = sklearn_average(wide, how, weight)
    assert found["average_precision"] == pytest.approx(expected, rel=1e-12, abs=0)
    n = 4 * (40 if weight is None else wide[weight].sum())
    assert found["n"] == pytest.approx(n, rel=1e-12)
    assert found.get("n_undefined", 0) == 0


@every_kind
@every_weight
@pytest.mark.filterwarnings("ignore:No positive class")
def test_rows_without_labels_count_as_zero_in_scikit_learn_and_are_left_out_here(kind, weight):
    wide = multilabel(2, lone_rows=True)
    lone = ~pl.any_horizontal(f"is_{label}" for label in "abcd")
    assert wide.select(lone.sum()).item() == 9
    long = long_labels(kind, wide, "abcd", weight)
    asked = {"by": "row", "weight": weight, "over": "row", "how": "rows"}
    result = long.prc.average("truth", "score", **asked, details=True)
    found = kind.rows(result)
    labelled = wide.filter(~lone)
    expected = sklearn_average(labelled, "rows", weight)
    assert area(found) == pytest.approx(expected, rel=1e-12, abs=0)
    assert found["n_undefined"].item() == 9
    share = labelled[weight].sum() / wide[weight].sum() if weight else 31 / 40
    assert sklearn_average(wide, "rows", weight) == pytest.approx(share * expected, rel=1e-12)


# --- averages by definition --------------------------------------------------------------------


def exact_average(rows_of_segments, how):
    """Return the average of segments by definition, and how many are undefined."""
    areas = {key: oracle.average_precision(rows) for key, rows in rows_of_segments.items()}
    defined = {key: value for key, value in areas.items() if value is not None}
    if how == "micro":
        return oracle.average_precision([*chain.from_iterable(rows_of_segments.values())]), 0
    share = {key: _share(rows_of_segments[key], how) for key in defined}
    total = sum(share.values())
    mean = sum(share[key] * defined[key] for key in defined) / total if total else None
    return mean, len(areas) - len(defined)


def _share(rows, how):
    positives, negatives = oracle.totals(rows)
    return {"mean": Fraction(1), "weighted": positives, "rows": positives + negatives}[how]


@every_kind
@every_how
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data())
def test_average_inside_other_keys_equals_exact_arithmetic(kind, weights, how, data):
    df = data.draw(frames(SCORES, weights))
    weight = None if weights is None else "weight"
    options = {"by": ["segment", "week"], "weight": weight}
    found = kind.rows(averaged(kind, df, "week", how, **options))
    inner = {}
    for (segment, week), rows in segments(df, ["segment", "week"]).items():
        inner.setdefault(segment, {})[week] = rows
    assert found["segment"].to_list() == list(inner)
    for row, rows_of_weeks in zip(found.iter_rows(named=True), inner.values(), strict=True):
        mean, undefined = exact_average(rows_of_weeks, how)
        positives, negatives = oracle.totals([*chain.from_iterable(rows_of_weeks.values())])
        if how != "micro":
            assert (row["n_segments"], row["n_undefined"]) == (
                len(rows_of_weeks) - undefined,
                undefined,
            )
        assert (row["n"], row["n_pos"]) == (positives + negatives, positives)
        assert row["prevalence"] == float(positives / (positives + negatives))
        assert row["average_precision"] == (
            mean if mean is None else pytest.approx(float(mean), rel=1e-12, abs=0)
        )


@pytest.mark.parametrize(("segments", "status"), [(19, "no_negatives"), (22, "ok")])
def test_a_mean_of_segments_without_negatives_says_so(segments, status):
    row = pl.int_range(20 * segments, eager=True)
    frame = pl.DataFrame({"site": row % segments, "truth": row % 7 < 3, "score": row * 7 % 5 / 5})
    frame = frame.with_columns(
        truth=pl.col("truth") | (pl.col("site") < 2), other=1 - pl.col("score")
    )
    ev = frame_prc.evaluate(frame, "truth", ["score", "other"], by="site")
    assert ev.average(over="site", ci=0.95)["status"].to_list() == [status] * 2
    assert ev.compare_models(over="site")["status"].to_list() == [status]
    for measure in ("brier", "roc_auc"):
        assert ev.average(over="site", measure=measure)["status"].to_list() == ["ok"] * 2


@every_kind
@pytest.mark.parametrize("other", [[3, 1, 2, 3, 1, 2], [7, 9, 7, 9, 7, 9]], ids=str)
@pytest.mark.parametrize("segments", [["b", "a"] * 3, [1, 2] * 3], ids=str)
def test_micro_over_the_first_of_two_keys_is_that_of_the_other(kind, segments, other):
    df = pl.DataFrame(
        {
            "segment": segments,
            "other": other,
            "truth": [True, False, True, True, False, False],
            "score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        }
    )
    result = averaged(kind, df, "segment", "micro", by=["segment", "other"])
    expected = df.prc.average_precision("truth", "score", by="other")
    names = ["other", "n", "n_pos", "average_precision"]
    assert_rows(kind, kind.make(kind.rows(result).select(names)), expected.select(names), **ROUNDED)


# --- intervals: segments as a sample -----------------------------------------------------------

INTERVAL = ["std_error", "ci_low", "ci_high"]


def exact_interval(rows_of_segments, how, level):
    """Return mean, standard error and limits by their definitions: fractions, and t by SciPy."""
    areas = {key: oracle.average_precision(rows) for key, rows in rows_of_segments.items()}
    defined = [key for key, area in areas.items() if area is not None]
    share = {key: _share(rows_of_segments[key], how) for key in defined}
    total = sum(share.values())
    if not total:
        return None, None, None, None
    mean = sum(w * areas[key] for key, w in share.items()) / total
    effective = total**2 / sum(w * w for w in share.values())
    squares = sum((w * (areas[key] - mean)) ** 2 for key, w in share.items()) / total**2
    if round(effective) < 2:
        return mean, None, None, None
    error = math.sqrt(squares * effective / (effective - 1)) if squares else None
    t = -stats.t.ppf((1 - level) / 2, float(effective - 1))
    low, high = (
        logit_limits(float(mean), t * error) if squares else (mean if mean in (0, 1) else None,) * 2
    )
    most, middle = (
        ((1 - level) / 2) ** (1 / float(effective)),
        median(areas[key] for key in defined),
    )
    low = min(low, most) if middle == 1 else low
    high = max(high, 1 - most) if middle == 0 else high
    return mean, error, low, high


def logit_limits(mean, half):
    """Return what the inverse of the logit makes of limits by the delta method."""
    width = half / (mean * (1 - mean))
    return special.expit(special.logit(mean) + width * np.array([-1, 1]))


@every_kind
@pytest.mark.parametrize("how", ["mean", "weighted", "rows"])
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data())
def test_interval_of_an_average_equals_exact_arithmetic(kind, weights, how, data):
    df = data.draw(frames(SCORES, weights))
    weight = None if weights is None else "weight"
    by = data.draw(st.sampled_from([["segment", "week"], ["week"]]))
    result = averaged(kind, df, "week", how, by=by, weight=weight, ci=0.9)
    found = kind.rows(result)
    inner = {}
    for key, rows in segments(df, by).items():
        inner.setdefault(key[:-1], {})[key[-1]] = rows
    assert found.height == max(len(inner), len(by) == 1)
    for row, rows_of_weeks in zip(found.iter_rows(named=True), inner.values(), strict=False):
        expected = exact_interval(rows_of_weeks, how, 0.9)
        names = ["average_precision", *INTERVAL]
        for name, value in zip(names, expected, strict=True):
            near = None if value is None else pytest.approx(float(value), rel=1e-8, abs=1e-12)
            assert row[name] == near, name


@every_kind
def test_equal_areas_and_a_single_segment_say_nothing_of_the_spread(kind):
    df = pl.DataFrame(
        {
            "k": ["alike"] * 9 + ["one"] * 3,
            "q": [1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 2],
            "truth": [0, 1, 0] * 3 + [1, 0, 0],
            "score": [0.3, 0.2, 0.1] * 4,
        }
    )
    found = kind.rows(averaged(kind, df, "q", "mean", by=["k", "q"], ci=0.95))
    assert found["average_precision"].to_list() == [0.5, 1.0]
    assert found.select(INTERVAL).rows() == [(None,) * 3] * 2
    assert found["n_undefined"].to_list() == [0, 1]


@every_kind
@pytest.mark.parametrize(("tied", "status"), [(2, "undefined"), (1, "ok")])
def test_a_mean_that_lacks_segments_with_both_classes_says_so(kind, tied, status):
    """Of 20 queries some have more rows with the highest score than are asked for."""
    row = pl.int_range(200, eager=True).alias("row")
    frame = pl.DataFrame({"query": row % 20, "truth": row % 3 == 0, "score": row * 0.001})
    frame = frame.with_columns(other=row * 7 % 200 * 0.001)
    ties = pl.when(pl.col("query") < tied).then(1.0).otherwise("score")
    frame = frame.with_columns(ties=ties, key=1)
    asked = {"by": ["key", "query"], "over": "query", "measure": "precision"}
    at = {"at": {"predicted_count": 3}, "details": True}
    mean = kind.rows(frame_prc.average(kind.make(frame), "truth", "ties", **asked, **at))
    assert mean.select("n_segments", "n_undefined", "status").row(0) == (20 - tied, tied, status)
    paired = frame_prc.compare_models(kind.make(frame), "truth", ["ties", "other"], **asked, **at)
    assert kind.rows(paired)["status"].to_list() == [status]
