"""The same numbers from torchmetrics, which bins scores and searches operating points.

It takes scores between 0 and 1 and computes in single precision, which has 24 bits: hence the
tolerance. Thresholds here are multiples of 1/8, which both precisions hold exactly.
"""

from __future__ import annotations

import numpy as np
import optional
import polars as pl
import pytest
from kinds import every_kind

import frame_prc

pytestmark = pytest.mark.thorough

SINGLE = {"rel": 1e-6, "abs": 0}


def rows(seed):
    """Return scores on a grid of 1/64, half of those on a threshold, and their truths."""
    random = np.random.default_rng(seed)
    score = random.integers(1, 60, 120) / 64
    truth = random.random(120) < score
    return pl.DataFrame({"truth": truth.astype(int), "score": score})


def tensors(df):
    torch = optional.require_module("torch")
    return torch.tensor(df["score"].to_list()), torch.tensor(df["truth"].to_list())


def functional():
    return optional.require_module("torchmetrics.functional.classification")


every_seed = pytest.mark.parametrize("seed", range(3))


@every_kind
@every_seed
def test_binned_curve_is_that_of_torchmetrics(kind, seed):
    df = rows(seed)
    precision, recall, thresholds = functional().binary_precision_recall_curve(
        *tensors(df), thresholds=9
    )
    curve = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", start="one", thresholds=9))
    # It has the thresholds ascending, and the point without one last.
    assert curve["threshold"][1:].to_list() == thresholds.tolist()[::-1]
    assert curve["recall"].to_list() == pytest.approx(recall.tolist()[::-1], **SINGLE)
    # No score is 1: where nothing is retrieved torchmetrics has 0 or, in some versions, NaN.
    assert curve["precision"][1] is None
    ours, theirs = (list(p)[2:] for p in (curve["precision"], precision.tolist()[::-1]))
    assert ours == pytest.approx(theirs, **SINGLE)


@every_kind
@every_seed
@pytest.mark.parametrize("floor", [0.25, 0.5, 0.625, 0.75])
@pytest.mark.parametrize(
    ("criterion", "search"),
    [
        ("precision", "binary_recall_at_fixed_precision"),
        ("recall", "binary_precision_at_fixed_recall"),
    ],
)
def test_operating_points_are_those_of_torchmetrics(kind, criterion, search, floor, seed):
    df = rows(seed)
    best, threshold = getattr(functional(), search)(*tensors(df), floor, thresholds=None)
    other = {"precision": "recall", "recall": "precision"}[criterion]
    result = frame_prc.operating_points(kind.make(df), "truth", "score", **{criterion: floor})
    found = kind.rows(result).row(0, named=True)
    assert found[other] == pytest.approx(best.item(), **SINGLE)
    # Of equally good points both take the one with more of the other rate.
    assert found["threshold"] == threshold.item()


@every_kind
@every_seed
@pytest.mark.parametrize("thresholds", [None, 9], ids=["exact", "binned"])
def test_average_precision_is_that_of_torchmetrics(kind, seed, thresholds):
    df = rows(seed)
    theirs = functional().binary_average_precision(*tensors(df), thresholds=thresholds)
    table = frame_prc.average_precision(kind.make(df), "truth", "score", thresholds=thresholds)
    assert kind.rows(table)["average_precision"].item() == pytest.approx(theirs.item(), **SINGLE)


@every_kind
@pytest.mark.parametrize(("average", "how"), [("macro", "mean"), ("weighted", "weighted")])
def test_averages_over_classes_are_those_of_torchmetrics(kind, average, how):
    torch = optional.require_module("torch")
    random = np.random.default_rng(11)
    scores = random.integers(0, 64, (90, 3)) / 64
    kinds = random.integers(0, 3, 90)
    theirs = functional().multiclass_average_precision(
        torch.tensor(scores, dtype=torch.float32), torch.tensor(kinds), 3, average=average
    )
    columns = {f"p{place}": scores[:, place] for place in range(3)}
    wide = kind.make(pl.DataFrame({"kind": kinds, **columns}))
    long = wide.prc.one_vs_rest("kind", {place: f"p{place}" for place in range(3)})
    table = long.prc.average("truth", "score", by="label", over="label", how=how)
    assert kind.rows(table)["average_precision"].item() == pytest.approx(theirs.item(), **SINGLE)
