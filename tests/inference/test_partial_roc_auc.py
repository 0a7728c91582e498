"""The area under the ROC curve up to a false positive rate, against exact arithmetic and a peer.

The influence of a row is found by definition, with a little more and a little less of its weight:
at the end of the range both sides may differ, and it is their mean.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from sklearn.metrics import roc_auc_score
from strategies import INTEGER_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

STEP = Fraction(1, 10**12)


def partial(rows, f):
    """Return the area below the lines between the points, cut at a rate, on McClish's scale."""
    positives, negatives = oracle.totals(rows)
    points = [(Fraction(0), Fraction(0))]
    points += [(point.fp / negatives, point.tp / positives) for point in oracle.curve(rows)]
    points += [(Fraction(1), Fraction(1))]
    area = Fraction(0)
    for (x, y), (to_x, to_y) in pairwise(points):
        if x < min(to_x, f):
            end = min(to_x, f)
            area += (end - x) * (y + (to_y - y) * (end - x) / (to_x - x) / 2)
    return (1 + (area - f**2 / 2) / (f - f**2 / 2)) / 2


def variance(rows, f):
    found = 0.0
    for truth in (True, False):
        own = [i for i, row in enumerate(rows) if row.truth == truth]
        weights = [rows[i].weight for i in own]
        n = float(sum(weights) ** 2 / sum(w * w for w in weights))
        for i in own:
            more, less = (
                partial([*rows[:i], rows[i]._replace(weight=rows[i].weight + h), *rows[i + 1 :]], f)
                for h in (STEP, -STEP)
            )
            moved = float(rows[i].weight * (more - less) / (2 * STEP))
            found += moved**2 * (n / (n - 1) if n > 1 else 1)
    return found


@every_kind
@pytest.mark.parametrize("weights", [None, INTEGER_WEIGHTS], ids=["unweighted", "integer"])
@given(st.data(), st.sampled_from([0.125, 0.25, 0.5, 1.0]))
def test_area_and_error_equal_exact_arithmetic(kind, weights, data, f):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    asked = {"measures": "partial_roc_auc", "at": {"fpr": f}, "missing": "unretrieved"}
    weight = None if weights is None else "weight"
    table = frame_prc.summary(
        kind.make(df), "truth", "score", by="segment", weight=weight, details=True, **asked
    )
    found = kind.rows(table)
    for row, rows in zip(
        found.iter_rows(named=True), segments(df, "segment").values(), strict=True
    ):
        if 0 in oracle.totals(rows):
            assert row["partial_roc_auc"] is None
            continue
        assert row["partial_roc_auc"] == pytest.approx(float(partial(rows, Fraction(f))), abs=1e-12)
        if row["partial_roc_auc_std_error"] is not None:
            error = math.sqrt(variance(rows, Fraction(f)))
            assert row["partial_roc_auc_std_error"] == pytest.approx(error, rel=1e-6)


@every_polars_kind
@pytest.mark.parametrize("f", [0.01, 0.1, 0.123, 0.5])
def test_area_is_that_of_scikit_learn(kind, f):
    random = np.random.default_rng(0)
    truth = random.random(400) < 0.3
    score, weight = np.round(random.normal(size=400) + truth, 1), random.random(400)
    df = pl.DataFrame({"truth": truth, "score": score, "weight": weight})
    table = frame_prc.summary(
        kind.make(df), "truth", "score", weight="weight", measures="partial_roc_auc", at={"fpr": f}
    )
    expected = roc_auc_score(truth, score, max_fpr=f, sample_weight=weight)
    assert kind.rows(table)["partial_roc_auc"].item() == pytest.approx(expected, abs=1e-12)


@every_kind
@pytest.mark.parametrize(
    ("at", "says"),
    [
        (None, "measures='partial_roc_auc' is given without at=. Allowed: at={'fpr': 0.1}"),
        ({"threshold": 0.5}, "at={'threshold': 0.5} is not where 'partial_roc_auc' is measured"),
        ({"fpr": 0}, "at={'fpr': 0} is where 'partial_roc_auc' cannot be measured"),
    ],
)
def test_the_range_is_a_false_positive_rate(kind, at, says):
    df = pl.DataFrame({"truth": [True, False], "score": [0.1, 0.2]})
    with pytest.raises(OptionError, match=says):
        frame_prc.summary(kind.make(df), "truth", "score", measures="partial_roc_auc", at=at)


@every_kind
@pytest.mark.parametrize(("f", "status"), [(0.1, "ok"), (0.09, "few_negatives")])
def test_it_rests_on_the_negatives_in_the_range(kind, f, status):
    random = np.random.default_rng(0)
    truth = np.arange(300) < 100
    df = pl.DataFrame({"truth": truth, "score": random.normal(size=300) + truth})
    asked = {"measures": "partial_roc_auc", "at": {"fpr": f}}
    [row] = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", **asked)).iter_rows(
        named=True
    )
    assert row["status"] == status
    assert row["partial_roc_auc_low"] < row["partial_roc_auc"] < row["partial_roc_auc_high"]
