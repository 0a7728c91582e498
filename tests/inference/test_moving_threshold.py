"""Measures where the rows choose the threshold, against definitions in exact arithmetic.

One more unit of weight on a row moves the four counts, and with them a measure and what is kept of
the choice; the threshold moves back by as many rows as keep it, which are like those around it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import groupby

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from inference.test_measures import OF_COUNTS, Counts, two_models
from kinds import every_kind
from strategies import BY, INTEGER_WEIGHTS, frames

import frame_prc
from frame_prc import OptionError

SCORES = st.integers(0, 12).map(float)
CHOICES = [
    {"recall": 0.5},
    {"recall": 0.75},
    {"fpr": 0.25},
    {"predicted_rate": 0.375},
    {"predicted_count": 5},
]
KEPT = {
    "recall": lambda c: c.tp / (c.tp + c.fn),
    "fpr": lambda c: c.fp / (c.fp + c.tn),
    "predicted_rate": lambda c: (c.tp + c.fp) / sum(c),
}
NAMES = ["precision", "f1", "accuracy"]
STEP = Fraction(1, 10**12)


def share(choice, c):
    """Return what a choice keeps; a number of rows is a share of all."""
    [(criterion, asked)] = choice.items()
    is_count = criterion == "predicted_count"
    value = Fraction(asked) / sum(c) if is_count else Fraction(asked)
    return KEPT["predicted_rate" if is_count else criterion], value


def prefixes(rows):
    """Return the counts above each place between two scores, from the highest score on."""
    positives, negatives = (sum(r.weight for r in rows if r.truth is one) for one in (True, False))
    tp = fp = Fraction(0)
    found = [Counts(tp, fp, positives, negatives)]
    ranked = sorted(rows, key=lambda row: -row.score)
    for _, tie in groupby(ranked, key=lambda row: row.score):
        for row in tie:
            tp, fp = tp + row.weight * row.truth, fp + row.weight * (not row.truth)
        found.append(Counts(tp, fp, positives - tp, negatives - fp))
    return found


def has_both(rows):
    return len({row.truth for row in rows if row.weight}) == 2


def chosen(choice, rows):
    """Return the counts at the threshold, or ``None``."""
    kept, asked = share(choice, prefixes(rows)[0])
    if "recall" in choice:
        return next((c for c in prefixes(rows) if kept(c) >= asked), None)
    found = [c for c in prefixes(rows) if kept(c) <= asked][-1]
    return found if found.tp + found.fp else None


def local_precision(choice, rows):
    """Return the precision of the rows around the threshold."""
    steps = prefixes(rows)
    kept, asked = share(choice, steps[0])
    base = {"recall": [True], "fpr": [False]}.get(next(iter(choice)), [True, False])
    weights = [row.weight for row in rows if row.truth in base]
    number = float(sum(weights) ** 2 / sum(weight**2 for weight in weights))
    at = min(float(asked), 1.0)
    around = math.sqrt(at * (1 - at)) * number ** (-1 / 3)
    higher = [c for c in steps if float(kept(c)) <= at - around] or steps[:1]
    before_lower = [c for c in steps if float(kept(c)) < at + around]
    lower = steps[min(len(before_lower), len(steps) - 1)]
    tp, fp = lower.tp - higher[-1].tp, lower.fp - higher[-1].fp
    return tp / (tp + fp)


def slope(of, c, toward):
    """Return by how much a function of counts changes as they move in a direction."""
    ends = [Counts(*(n + h * v for n, v in zip(c, toward, strict=True))) for h in (STEP, -STEP)]
    return (of(ends[0]) - of(ends[1])) / (2 * STEP)


def moves(name, choice, rows):
    """Return by how much one more unit of weight of a row moves a measure, and the row's weight."""
    c, (kept, _) = chosen(choice, rows), share(choice, prefixes(rows)[0])
    p = local_precision(choice, rows)
    lowered = (p, 1 - p, -p, p - 1)
    of = OF_COUNTS[name]
    ratio = slope(of, c, lowered) / slope(kept, c, lowered)
    reached = sorted((row.score for row in rows), reverse=True)
    at = next(s for s in reached if sum(r.weight for r in rows if r.score >= s) == c.tp + c.fp)
    for row in rows:
        cell = (0 if row.truth else 1) + (0 if row.score >= at else 2)
        unit = tuple(int(place == cell) for place in range(4))
        yield row.weight, slope(of, c, unit) - ratio * slope(kept, c, unit)


def check(kind, df, choice, name, weight, by=None):
    """Check a measure of each segment, its error, and that influences add up to 0."""
    asked = {"by": by, "weight": weight, "measures": name, "at": choice, "details": True}
    found = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", **asked))
    for row, rows in zip(found.iter_rows(named=True), segments(df, by).values(), strict=True):
        usable = [one for one in rows if one.weight]
        if not has_both(usable):
            continue
        point = chosen(choice, usable)
        expected = None if point is None else OF_COUNTS[name](point)
        assert row[name] == (None if expected is None else pytest.approx(float(expected)))
        if row[f"{name}_std_error"] is not None:
            terms = [float(w * moved) for w, moved in moves(name, choice, usable)]
            assert math.fsum(terms) == pytest.approx(0, abs=1e-6)
            error = math.sqrt(math.fsum(term**2 for term in terms))
            assert row[f"{name}_std_error"] == pytest.approx(error, rel=1e-6)
            yield row


@every_kind
@given(frames(SCORES, INTEGER_WEIGHTS), BY, st.sampled_from(CHOICES), st.sampled_from(NAMES))
def test_values_equal_exact_arithmetic(kind, df, by, choice, name):
    list(check(kind, df, choice, name, "weight", by))


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("choice", [*CHOICES[:-1], {"predicted_count": 25}], ids=str)
def test_errors_equal_exact_arithmetic(kind, weight, choice):
    df = two_models(n=150)
    df = df if weight else df.drop("weight")
    for name in NAMES:
        assert len(list(check(kind, df, choice, name, weight, "region"))) == 3, name


def too_high(name, choice, rows):
    """Return how much too high a measure is, as its threshold is the score of a row."""
    c, [(criterion, asked)] = chosen(choice, rows), choice.items()
    if criterion not in ("recall", "fpr"):
        return Fraction(0)
    of_recall = criterion == "recall"
    own = [row.weight for row in rows if row.truth is of_recall]
    usual, p = sum(weight**2 for weight in own) / sum(own), local_precision(choice, rows)
    beyond = (c.tp if of_recall else c.fp) - Fraction(asked) * sum(own)
    # In new rows as many of the other class rank above the i-th of n of this one as above i / (n +
    # 1) of it; at a false positive rate the next negative bounds what is reached.
    place = beyond + ((0 if of_recall else 1) - Fraction(asked)) * usual
    swaps = [(1, 0, -1, 0), (0, 1, 0, -1)]
    slopes = [slope(OF_COUNTS[name], c, swap) for swap in swaps]
    ratio = (1 - p) / p if of_recall else p / (1 - p)
    return beyond * slopes[not of_recall] + place * ratio * slopes[of_recall]


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("choice", CHOICES[:-1], ids=str)
def test_the_lower_limit_is_without_what_the_row_at_the_threshold_adds(kind, weight, choice):
    df, level, lowered = two_models(n=150), 0.95, 0
    df = df if weight else df.drop("weight")
    cells = {"precision": (0, 1), "f1": (0, 1, 2), "accuracy": (0, 1, 2, 3)}
    for name in NAMES:
        asked = {"by": "region", "weight": weight, "measures": name, "at": choice}
        found = kind.rows(
            frame_prc.summary(kind.make(df), "truth", "score", **asked, ci=level, details=True)
        )
        parts = zip(found.iter_rows(named=True), segments(df, "region").values(), strict=True)
        for row, rows in parts:
            c, value = chosen(choice, rows), Fraction(row[name])
            at = sorted((one.score for one in rows), reverse=True)
            at = next(s for s in at if sum(r.weight for r in rows if r.score >= s) == c.tp + c.fp)
            places = [(0 if r.truth else 1) + (0 if r.score >= at else 2) for r in rows]
            used = [r.weight for r, cell in zip(rows, places, strict=True) if cell in cells[name]]
            m = sum(used) ** 2 / sum(one**2 for one in used) / (2 if name == "f1" else 1)
            error = oracle.student_error(row[f"{name}_std_error"], m)
            reach = oracle.student_quantile(level, m - 1) * error
            bias = max(too_high(name, choice, rows), 0)
            ends = [
                oracle.skewed_limits(one, reach / float(one * (1 - one)))[0]
                for one in (value, value - bias)
            ]
            expected = min(*ends, ((1 - level) / 2) ** float(1 / m))
            assert row[f"{name}_low"] == pytest.approx(expected, rel=1e-8), name
            lowered += ends[1] < ends[0]
    assert lowered >= (0 if "predicted_rate" in choice else 4)


@every_kind
@pytest.mark.parametrize("choice", [{"recall": 0.7}, {"predicted_count": 60}])
def test_models_and_segments_are_compared_each_at_its_own_threshold(kind, choice):
    df, asked = two_models(), {"measure": "precision", "at": choice, "details": True}
    ev = kind.make(df).prc.evaluate("truth", ["old", "score"], by="region")
    models = kind.rows(ev.compare_models(**asked))
    alone = kind.rows(ev.summary(measures="precision", at=choice, ci=0.95, details=True))
    of = {(row["model"], row["region"]): row for row in alone.iter_rows(named=True)}
    for row in models.iter_rows(named=True):
        sides = [of[model, row["region"]] for model in ("score", "old")]
        assert [row["value_a"], row["value_b"]] == [side["precision"] for side in sides]
        # The same rows make both, so they differ by less than two samples would.
        apart = math.hypot(*(side["precision_std_error"] for side in sides))
        assert 0 < row["std_error"] < 1.2 * apart
    between = kind.rows(ev.compare_segments(against={"region": "n"}, **asked))
    for row in between.filter(pl.col("region") != "n").iter_rows(named=True):
        sides = [of[row["model"], region] for region in (row["region"], "n")]
        apart = math.hypot(*(side["precision_std_error"] for side in sides))
        assert row["std_error"] == pytest.approx(apart)


def test_an_interval_covers_what_all_rows_have_at_their_own_threshold():
    # 400 samples of 60 positives; precision at a threshold that is held would vary less.
    random, n = np.random.default_rng(1), 600
    truth = random.random(400 * n) < 0.1
    score = random.normal(size=400 * n) + 1.5 * truth
    df = pl.DataFrame({"truth": truth, "score": score, "draw": np.arange(400 * n) // n})
    asked = {"measures": "precision", "at": {"recall": 0.7}, "ci": 0.95}
    [whole] = df.prc.summary("truth", "score", **asked)["precision"]
    found = df.prc.summary("truth", "score", by="draw", **asked)
    low, high = found["precision_low"], found["precision_high"]
    assert 0.92 < ((low <= whole) & (whole <= high)).mean() < 0.98


@every_kind
@pytest.mark.parametrize(
    ("measure", "at", "says"),
    [
        ("precision", {"recall": 1}, "'recall': 1} is where 'precision' cannot be measured"),
        ("precision", {"fpr": 0}, "'fpr': 0} is where 'precision' cannot be measured"),
        (
            "precision",
            {"recall": 70},
            "at={'recall': 70} is out of range.*70 % is at={'recall': 0.7}",
        ),
        ("precision", {"recall": 0.5, "fpr": 0.1}, "is not where 'precision' is measured"),
        ("fpr", {"fpr": 0.1}, "'fpr': 0.1} is not where 'fpr' is measured"),
        ("balanced_accuracy", {"recall": 0.5}, "is not where 'balanced_accuracy' is measured"),
        ("net_benefit", {"recall": 0.5}, "'recall': 0.5} is not where 'net_benefit' is measured"),
    ],
)
def test_where_nothing_can_be_measured_is_one_error(kind, measure, at, says):
    with pytest.raises(OptionError, match=says):
        frame_prc.compare_models(
            kind.make(two_models()), "truth", ["old", "score"], measure=measure, at=at
        )


@every_kind
def test_a_threshold_that_moves_in_jumps_is_not_judged(kind):
    # A score for each tenth of a standard deviation: of 1,000 rows a tie has up to 30.
    random = np.random.default_rng(2)
    truth = random.random(2000) < 0.3
    fine = random.normal(size=2000) + 1.5 * truth
    df = pl.DataFrame({"truth": truth, "fine": fine, "coarse": np.round(fine, 1)})
    asked = {"measures": ["precision", "f1"], "at": {"predicted_rate": 0.1}}
    for score, status in (("fine", "ok"), ("coarse", "few_rows")):
        [row] = kind.rows(frame_prc.summary(kind.make(df), "truth", score, **asked)).iter_rows(
            named=True
        )
        assert row["status"] == status, score
