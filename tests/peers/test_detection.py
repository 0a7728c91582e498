"""The areas of object detections, as the judges of PASCAL VOC and COCO compute them."""

from __future__ import annotations

import contextlib
import io
from functools import cache

import numpy as np
import optional
import polars as pl
import published
import pytest
from kinds import every_kind

import frame_prc

pytestmark = pytest.mark.thorough

# Objects per class. Of a prime number none but the last lies on a grid of tenths or hundredths.
OBJECTS = {"bird": 37, "boat": 53, "car": 7, "ghost": 3}


@cache
def detections():
    """Return a row per detection of a class, and a row without a score per object never found.

    Seven of ten objects are found once, and as many detections again find nothing; a found object
    scores higher on average. Nobody finds a ghost. No two detections share a score.
    """
    random = np.random.default_rng(5)
    parts = []
    for name, objects in OBJECTS.items():
        found = (random.random(objects) < 0.7) & (name != "ghost")
        false = int(0.7 * objects)
        right, wrong = random.normal(1, 1, found.sum()), random.normal(0, 1, false)
        scores = 1 / (1 + np.exp(-np.concatenate([right, wrong])))
        truth = [True] * len(right) + [False] * false + [True] * int((~found).sum())
        score = [*scores.tolist(), *[None] * int((~found).sum())]
        parts.append(pl.DataFrame({"class": name, "matched": truth, "score": score}))
    return pl.concat(parts)


def areas(kind, df, method):
    result = frame_prc.auc(
        kind.make(df), "matched", "score", by="class", missing="unretrieved", method=method
    )
    return dict(kind.rows(result).select("class", "auc").iter_rows())


def ranked(df):
    """Return recall and precision after each detection, as the matchers of PASCAL VOC do."""
    matched = df.drop_nulls("score").sort("score", descending=True)["matched"].to_numpy()
    tp = np.cumsum(matched)
    return tp / df["matched"].sum(), tp / np.arange(1, len(tp) + 1)


def voc_ap(recall, precision):
    """Return the area of PASCAL VOC 2010 and Detectron: the envelope, stepped at each recall."""
    recall = np.concatenate([[0.0], recall, [1.0]])
    precision = np.concatenate([[0.0], precision, [0.0]])
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(recall[1:] != recall[:-1])
    return ((recall[steps + 1] - recall[steps]) * envelope[steps + 1]).sum()


def voc_ap_2007(recall, precision):
    """Return the area of PASCAL VOC 2007 as its programs compute it, on a grid of floats."""
    heights = [precision[recall >= r].max(initial=0) for r in np.arange(0.0, 1.1, 0.1)]
    return sum(heights) / 11


@every_kind
@pytest.mark.parametrize(("method", "judge"), [("envelope", voc_ap), ("11-point", voc_ap_2007)])
def test_areas_are_those_of_pascal_voc(kind, method, judge):
    df = detections()
    expected = {name: judge(*ranked(rows)) for (name,), rows in df.group_by("class")}
    found = areas(kind, df, method)
    assert found == pytest.approx(expected, rel=1e-10, abs=0)
    assert found["ghost"] == 0 < found["car"] < 1


def test_a_grid_of_floats_misses_recalls_that_lie_on_it():
    # np.arange(0, 1.1, .1) has .30000000000000004, which a recall of 3/10 does not reach.
    df = published.RUNS.rename({"truth": "matched"})
    assert round(voc_ap_2007(*ranked(df)), 6) == 0.700535
    exact = frame_prc.auc(df, "matched", "score", method="11-point")["auc"].item()
    assert round(exact, 6) == 0.737968


def coco_areas(df):
    """Return pycocotools' average precision per class, at an overlap of 1/2.

    Every object and every detection has a picture of its own, so which of them match is known.
    COCO's grid is one of floats, np.linspace(0, 1, 101), ten of which are above the hundredths
    they stand for or below; and it divides by (tp + fp + 2e-16).
    """
    coco, cocoeval = (optional.require_module(f"pycocotools.{m}") for m in ("coco", "cocoeval"))
    names = sorted(df["class"].unique())
    box = {"bbox": [0, 0, 10, 10], "area": 100}
    objects, found = [], []
    for picture, row in enumerate(df.iter_rows(named=True), start=1):
        place = {"image_id": picture, "category_id": names.index(row["class"]) + 1, **box}
        if row["matched"]:
            objects.append({"id": len(objects) + 1, "iscrowd": 0, **place})
        if row["score"] is not None:
            found.append({**place, "score": row["score"]})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco.COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": picture} for picture in range(1, df.height + 1)],
            "annotations": objects,
            "categories": [{"id": i, "name": name} for i, name in enumerate(names, start=1)],
        }
        truth.createIndex()
        judge = cocoeval.COCOeval(truth, truth.loadRes(found), "bbox")
        judge.params.iouThrs = np.array([0.5])
        judge.evaluate()
        judge.accumulate()
    precision = judge.eval["precision"][0, :, :, 0, -1]  # by recall and class, all sizes
    return dict(zip(names, precision.mean(axis=0).tolist(), strict=True))


@every_kind
def test_areas_are_those_of_coco(kind):
    df = detections()
    found = areas(kind, df, "101-point")
    assert found == pytest.approx(coco_areas(df), rel=1e-10, abs=0)


def test_the_float_grid_of_coco_misses_a_recall_of_35_hundredths():
    # Seven of twenty objects are found at once: recall 7/20, but the grid has .35000000000000003.
    matched = [True] * 7 + [False] * 13 + [True] * 13
    scores = np.linspace(1, 0.1, len(matched))
    df = pl.DataFrame({"class": "car", "matched": matched, "score": scores})
    exact = frame_prc.auc(df, "matched", "score", by="class", method="101-point")["auc"].item()
    # There precision is 1 for us and the next best, 20 of 33, for COCO.
    missed = (1 - 20 / 33) / 101
    assert exact - coco_areas(df)["car"] == pytest.approx(missed, rel=1e-10)
