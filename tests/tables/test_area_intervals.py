"""Intervals of all areas: that of the average precision, and those around replicates."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest
from areas import METHODS
from kinds import every_kind
from polars.testing import assert_frame_equal
from scipy import stats

import frame_prc
from frame_prc import Draws, OptionError

INTERVAL = ["std_error", "ci_low", "ci_high"]


def areas(kind, df, **options):
    options = {"method": METHODS, "ci": 0.9, "bootstrap": Draws(200, seed=1), **options}
    return kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **options, details=True))


def sample(n: int) -> pl.DataFrame:
    draw = random.Random(n)  # noqa: S311 - not for secrets
    truth = [draw.random() < 0.4 for _ in range(n)]
    score = [round(draw.gauss(one, 1), 1) for one in truth]
    return pl.DataFrame({"truth": truth, "score": score, "day": [i // 4 for i in range(n)]})


@every_kind
@pytest.mark.parametrize(
    "roles", [{}, {"weight": "w"}, {"cluster": "day"}, {"thresholds": 5}], ids=str
)
def test_the_step_area_has_the_interval_of_the_average_precision(kind, roles):
    level = pl.col("day") * 7 % 5 / 12  # days of its own, which widen the interval
    share = pl.col("score").clip(-1, 2) / 8 + 0.3 + level
    df = sample(150).with_columns(segment=pl.col("day") % 3, w=pl.col("day") % 2 + 1.0, score=share)
    asked = {"by": "segment", "ci": 0.9, **roles, "details": True}
    known = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "score", **asked))
    found = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **asked))
    columns = ["segment", *INTERVAL, "status"]
    assert_frame_equal(found.select(columns), known.select(columns))
    methods = ["envelope", "step"]
    both = kind.rows(
        frame_prc.auc(kind.make(df), "truth", "score", method=methods, bootstrap=9, **asked)
    )
    assert_frame_equal(both.filter(method="step"), found)


@pytest.mark.thorough
@pytest.mark.parametrize("days", [False, True], ids=["rows", "clusters"])
def test_other_areas_are_resampled_and_their_intervals_are_of_the_logit(days):
    df = sample(60).with_row_index("row")
    draw = random.Random(5)  # noqa: S311 - not for secrets
    parts = df.partition_by("day" if days else "row")
    drawn = [
        pl.concat(draw.choices(parts, k=len(parts))).with_columns(draw=number)
        for number in range(400)
    ]
    each = frame_prc.auc(pl.concat(drawn), "truth", "score", by="draw", method=METHODS[1:])
    known = each.group_by("method", maintain_order=True).agg(pl.col("auc").std())
    cluster = "day" if days else None
    asked = {"ci": 0.9, "cluster": cluster, "bootstrap": Draws(2000, seed=1), "details": True}
    found = frame_prc.auc(df, "truth", "score", method=METHODS[1:], **asked)
    assert found["std_error"].to_list() == pytest.approx(known["auc"].to_list(), rel=0.15)
    held = df.filter("truth").group_by("day" if days else "row").len()["len"]
    m = held.sum() ** 2 / (held**2).sum()
    t = stats.t.ppf(0.95, m - 1) * math.sqrt(m / (m - 1))
    for method, area, error, *limits in found.select("method", "auc", *INTERVAL).rows():
        if method == "gain":  # the log of what it falls short of 1 is the logit of a precision
            ends = [1 - (1 - area) * math.exp(sign * t * error / (1 - area)) for sign in (1, -1)]
        else:
            logit, half = math.log(area / (1 - area)), t * error / (area * (1 - area))
            ends = [1 / (1 + math.exp(-logit - sign * half)) for sign in (-1, 1)]
        assert limits == pytest.approx(ends, rel=2e-3), method


@every_kind
def test_counts_of_rows_have_the_intervals_of_rows(kind):
    df = sample(40)
    counts = frame_prc.counts(df, "truth", "score")
    found = frame_prc.auc(
        kind.make(counts),
        score="threshold",
        pos="pos",
        neg="neg",
        method=METHODS,
        ci=0.9,
        bootstrap=Draws(200, seed=1),
        details=True,
    )
    assert_frame_equal(kind.rows(found), areas(kind, df))


@every_kind
def test_a_single_cluster_does_not_tell_how_an_area_varies(kind):
    df = sample(20).with_columns(day=1, segment=pl.int_range(20) % 2)
    df = df.with_columns(
        day=pl.when(pl.col("segment") == 0).then("day").otherwise(pl.int_range(20))
    )
    found = areas(kind, df, by="segment", cluster="day", method="envelope")
    assert found["status"].to_list() == ["few_clusters"] * 2
    assert found.select(INTERVAL).row(0) == (None, None, None)
    assert None not in found.select(INTERVAL).row(1)


@every_kind
@pytest.mark.parametrize("n_pos", [2, 30])
def test_a_perfect_ranking_has_exact_limits(kind, n_pos):
    df = pl.DataFrame({"truth": [1] * n_pos + [0] * 50, "score": range(n_pos + 50, 0, -1)})
    low = stats.beta.ppf(0.05, n_pos, 1)
    found = areas(kind, df, bootstrap=Draws(200, seed=1, stratified=True))
    for method, area, *limits, status in found.select("method", "auc", *INTERVAL, "status").rows():
        at = 1 - n_pos / 50 * (1 - low) / low if method == "gain" else low
        assert (area, *limits) == (pytest.approx(1), None, pytest.approx(at), 1.0)
        assert status == ("ok" if n_pos == 30 else "few_positives")
    part = areas(kind, df, method="step", recall_range=(0, 0.5))
    half = 0.5 * stats.beta.ppf(0.05, n_pos / 2, 1)
    assert part.select("auc", *INTERVAL).row(0) == (0.5, None, pytest.approx(half), 0.5)


def test_replicates_that_are_all_alike_leave_an_area_without_an_interval():
    # With a single score, a stratified sample has one area whatever rows are drawn.
    df = pl.DataFrame({"truth": [1] * 30 + [0] * 30, "score": 1})
    asked = {"method": "interpolated", "ci": 0.9, "bootstrap": Draws(seed=1, stratified=True)}
    found = frame_prc.auc(df, "truth", "score", **asked)
    assert found.select("ci_low", "ci_high", "status").row(0) == (None, None, "no_std_error")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"bootstrap": Draws(seed=1), "method": "envelope"}, ["bootstrap=", "ci="]),
        ({"bootstrap": 9, "ci": 0.9}, ["nothing is resampled", "other than the whole"]),
        ({"ci": 0.9, "calibrate": 0.2}, ["calibrate=", "average_precision("]),
        ({"ci": 0.9, "method": "envelope", "bootstrap": 0}, ["bootstrap=0"]),
    ],
    ids=str,
)
def test_what_an_interval_needs_is_said(asked, words):
    with pytest.raises(OptionError) as caught:
        frame_prc.auc(sample(9), "truth", "score", **asked)
    assert all(word in str(caught.value) for word in words), caught.value
