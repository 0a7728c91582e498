"""Bootstrap intervals of all areas, from the replicates of the average precision."""

from __future__ import annotations

import random

import oracle
import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import OptionError
from frame_prc._request.specs import METHODS

# precrec's data set P10N10: ten of each class, with ties.
P10N10 = pl.DataFrame(
    {
        "truth": [1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0],
        "score": [20, 19, 18, 17, 16, 15, *[14] * 6, 8, 7, 6, *[5] * 5],
    }
)
INTERVAL = ["std_error", "ci_low", "ci_high"]


def areas(kind, df, **options):
    options = {"method": METHODS, "ci": 0.9, "seed": 1, "replicates": 200, **options}
    return kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **options, details=True))


def sample(n: int) -> pl.DataFrame:
    draw = random.Random(n)  # noqa: S311 - not for secrets
    truth = [draw.random() < 0.4 for _ in range(n)]
    score = [round(draw.gauss(one, 1), 1) for one in truth]
    return pl.DataFrame({"truth": truth, "score": score, "day": [i // 4 for i in range(n)]})


@every_kind
def test_standard_error_of_the_step_is_that_of_the_average_precision(kind):
    df = sample(90).with_columns(segment=pl.col("day") % 3)
    asked = {"ci": 0.9, "seed": 3, "replicates": 100, "by": "segment"}
    for drawn in ({}, {"stratified": True}, {"cluster": "day"}):
        table = kind.rows(
            frame_prc.average_precision(
                kind.make(df),
                "truth",
                "score",
                ci_method="bootstrap",
                **asked,
                **drawn,
                details=True,
            )
        )
        found = areas(kind, df, method="step", **asked, **drawn)
        assert found["std_error"].to_list() == pytest.approx(table["std_error"].to_list())


@pytest.mark.thorough
@pytest.mark.parametrize("days", [False, True], ids=["rows", "clusters"])
def test_percentiles_are_those_of_resampling_in_plain_python(days):
    df = sample(60).with_row_index("row")
    draw = random.Random(5)  # noqa: S311 - not for secrets
    parts = df.partition_by("day" if days else "row")
    drawn = [
        frame_prc.auc(
            pl.concat(draw.choices(parts, k=len(parts))),
            "truth",
            "score",
            method=METHODS,
            details=True,
        )
        for _ in range(400)
    ]
    spread = {
        "std_error": pl.col("auc").std(),
        "ci_low": pl.col("auc").quantile(0.05, "linear"),
        "ci_high": pl.col("auc").quantile(0.95, "linear"),
    }
    known = pl.concat(drawn).group_by("method", maintain_order=True).agg(**spread)
    cluster = "day" if days else None
    found = frame_prc.auc(
        df,
        "truth",
        "score",
        method=METHODS,
        ci=0.9,
        cluster=cluster,
        seed=1,
        replicates=2000,
        details=True,
    )
    assert found["std_error"].to_list() == pytest.approx(known["std_error"].to_list(), rel=0.15)
    for end in ("ci_low", "ci_high"):
        apart = (found[end] - known[end]).abs() / known["std_error"]
        assert apart.max() < 0.3


def test_interval_of_precrec_is_found_again():
    """precrec prints .5132 to .9299 for 1,000 stratified replicates."""
    found = frame_prc.auc(
        P10N10, "truth", "score", method="interpolated", ci=0.95, stratified=True, seed=1
    )
    assert found["auc"].item() == pytest.approx(0.7397714386)
    assert found.select("ci_low", "ci_high").row(0) == pytest.approx((0.5132, 0.9299), abs=0.02)


@every_kind
def test_weights_that_are_alike_change_nothing(kind):
    df = sample(50)
    weighted = areas(kind, df.with_columns(w=0.5), weight="w")
    assert_frame_equal(
        weighted.drop("n", "n_pos"), areas(kind, df).drop("n", "n_pos"), rel_tol=1e-9
    )


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
        seed=1,
        replicates=200,
        details=True,
    )
    assert_frame_equal(kind.rows(found), areas(kind, df))


@every_kind
def test_top_rows_are_cut_in_each_replicate(kind):
    df = sample(60)
    found = areas(kind, df, method="step", top=10, normaliser="attainable")
    assert found["ci_low"].item() < found["auc"].item() <= found["ci_high"].item() <= 1


@every_kind
def test_segments_without_positives_have_no_interval(kind):
    df = pl.DataFrame({"segment": [1, 1, 2], "truth": [1, 0, 0], "score": [0.9, 0.4, 0.5]})
    found = areas(kind, df, by="segment").filter(segment=2)
    assert found.select("auc", *INTERVAL).null_count().row(0) == (len(METHODS),) * 4


@every_kind
def test_a_single_cluster_does_not_tell_how_an_area_varies(kind):
    df = sample(20).with_columns(day=1, segment=pl.int_range(20) % 2)
    df = df.with_columns(
        day=pl.when(pl.col("segment") == 0).then("day").otherwise(pl.int_range(20))
    )
    found = areas(kind, df, by="segment", cluster="day", method="step")
    assert found.select(INTERVAL).row(0) == (None, None, None)
    assert None not in found.select(INTERVAL).row(1)
    points = frame_prc.operating_points(
        kind.make(df),
        "truth",
        "score",
        by="segment",
        recall=0.5,
        ci=0.9,
        cluster="day",
        seed=1,
        details=True,
    )
    assert kind.rows(points)["precision_low"].is_null().to_list() == [True, False]


def test_a_perfect_ranking_has_an_interval_without_width():
    df = pl.DataFrame({"truth": [1, 1, 0, 0], "score": [4, 3, 2, 1]})
    points = [oracle.Row(bool(t), s) for t, s in df.rows()]
    assert oracle.average_precision(points) == 1
    found = frame_prc.auc(df, "truth", "score", ci=0.9, seed=1, stratified=True, details=True)
    assert found.select("auc", *INTERVAL).row(0) == (1.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"seed": 1}, ["seed=", "ci="]),
        ({"ci": 0.9, "calibrate": 0.2}, ["calibrate=", "average_precision("]),
        ({"ci": 0.9, "replicates": 0}, ["replicates=0"]),
    ],
    ids=str,
)
def test_what_an_interval_needs_is_said(asked, words):
    with pytest.raises(OptionError) as caught:
        frame_prc.auc(sample(9), "truth", "score", **asked)
    assert all(word in str(caught.value) for word in words), caught.value
