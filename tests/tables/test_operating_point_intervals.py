"""How sure precision and recall are at a threshold: one that was given, and one chosen here."""

from __future__ import annotations

import random
from fractions import Fraction

import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import BY, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

LIMITS = ["precision_low", "precision_high", "recall_low", "recall_high"]
LEVELS = st.sampled_from([0.5, 0.95, 0.999])
TARGETS = {"recall": 0.6, "precision": 0.6, "f_beta": 1, "predicted_count": 25, "fpr": 0.2}


def points(kind, df, **options):
    found = frame_prc.operating_points(kind.make(df), "truth", "score", **options, details=True)
    return kind.rows(found)


def sample(n: int, seed: int, ties: int = 1000) -> pl.DataFrame:
    """Return rows of which positives score higher, in clusters of three."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    truth = [draw.random() < 0.4 for _ in range(n)]
    score = [round(draw.gauss(one, 1) * ties) / ties for one in truth]
    return pl.DataFrame({"truth": truth, "score": score, "day": [i // 3 for i in range(n)]})


# --- given thresholds --------------------------------------------------------------------------


@every_kind
@given(frames(SCORES_OR_NONE, max_size=20), BY, LEVELS, st.sampled_from([0.25, 0.0, 1e9]))
def test_at_a_given_threshold_they_are_wilsons(kind, df, by, ci, threshold):
    found = points(kind, df, by=by, ci=ci, threshold=threshold, missing="unretrieved")
    for (tp, fp, fn), ends in zip(
        found.select("tp", "fp", "fn").rows(), found.select(LIMITS).rows(), strict=True
    ):
        if tp is None:
            assert ends == (None,) * 4
            continue
        known = [
            oracle.wilson(Fraction(tp, n), n, ci) if n else (None, None) for n in (tp + fp, tp + fn)
        ]
        assert [None if end is None else pytest.approx(end) for pair in known for end in pair] == [
            *ends
        ]


@every_kind
@given(frames(st.sampled_from([0.1, 0.5, 0.9, None]), max_size=30), BY, LEVELS)
def test_clusters_count_as_many_rows_as_they_tell(kind, df, by, ci):
    df = df.with_columns(day=pl.int_range(pl.len()) * 7 % 5)
    found = points(kind, df, by=by, ci=ci, threshold=0.5, missing="unretrieved", cluster="day")
    if df.is_empty():
        return
    own = df.with_row_index("row").with_columns(all=pl.lit(0))
    groups = own.sort(by or "all").group_by(by or "all", maintain_order=True)
    expected = [limits_of(rows, ci) for _, rows in groups]
    for ends, known in zip(found.select(LIMITS).rows(), expected, strict=True):
        assert ends == tuple(None if end is None else pytest.approx(end, rel=1e-9) for end in known)


def limits_of(df: pl.DataFrame, ci: float) -> list[float | None]:
    """Return the limits by definition: precision among the retrieved, recall among positives."""
    rows = [
        (oracle.Row(truth, score), day)
        for truth, score, day in df.select("truth", "score", "day").rows()
    ]
    retrieved = [row.score is not None and row.score >= 0.5 for row, _ in rows]
    sides = [
        [(row.truth, day) for (row, day), found in zip(rows, retrieved, strict=True) if found],
        [(found, day) for (row, day), found in zip(rows, retrieved, strict=True) if row.truth],
    ]
    limits: list[float | None] = []
    for side in sides:
        if not side:
            limits += [None, None]
            continue
        hits = [oracle.Row(hit, 1.0) for hit, _ in side]
        n = oracle.effective_rows(hits, [day for _, day in side], 1.0, ci)
        share = Fraction(sum(hit for hit, _ in side), len(side))
        limits += oracle.wilson(share, n, ci)
    return limits


@every_kind
def test_thresholds_of_a_frame_have_the_intervals_of_numbers(kind):
    df = sample(60, 1).with_columns(segment=pl.col("day") % 2)
    table = pl.DataFrame({"segment": [0, 1], "threshold": [0.5, 0.5]})
    by_frame = points(kind, df, by="segment", threshold=table, ci=0.9, cluster="day")
    by_number = points(kind, df, by="segment", threshold=0.5, ci=0.9, cluster="day")
    assert_frame_equal(by_frame, by_number)


@every_kind
def test_segments_without_a_threshold_have_no_interval(kind):
    df = sample(30, 1).with_columns(segment=pl.col("day") % 2)
    table = pl.DataFrame({"segment": [0], "threshold": [0.5]})
    found = points(kind, df, by="segment", threshold=table, ci=0.9)
    assert found.filter(status="no_threshold").select(LIMITS).rows() == [(None,) * 4]


# --- chosen thresholds -------------------------------------------------------------------------


def by_resampling(df: pl.DataFrame, target: dict[str, float], replicates: int, *, days: bool):
    """Return percentiles of precision and recall, chosen anew in rows drawn in plain Python."""
    draw = random.Random(7)  # noqa: S311 - not for secrets
    parts = [[*part.rows()] for part in df.partition_by("day" if days else "row")]
    [(criterion, value)] = target.items()
    found = []
    for _ in range(replicates):
        drawn = [row for part in draw.choices(parts, k=len(parts)) for row in part]
        rows = [oracle.Row(truth, score) for truth, score, *_ in drawn]
        point = oracle.operating_point(rows, criterion, value)
        if point is not None and point.recall is not None:
            found.append((float(point.precision), float(point.recall)))
    columns = zip(*found, strict=True)
    return [pl.Series(values).quantile(q, "linear") for values in columns for q in (0.05, 0.95)]


@pytest.mark.thorough
@pytest.mark.parametrize("criterion", TARGETS)
def test_a_chosen_threshold_is_chosen_again_in_each_replicate(criterion):
    target = {criterion: TARGETS[criterion]}
    df = sample(60, 3, ties=4).with_row_index("row").select("truth", "score", "day", "row")
    for days in (False, True):
        cluster = "day" if days else None
        found = frame_prc.operating_points(
            df,
            "truth",
            "score",
            ci=0.9,
            cluster=cluster,
            seed=1,
            replicates=2000,
            **target,
            details=True,
        )
        expected = by_resampling(df, target, 400, days=days)
        assert found.select(LIMITS).row(0) == pytest.approx(expected, abs=0.07)


@every_kind
def test_the_same_seed_gives_the_same_interval_whatever_else_is_asked(kind):
    df = sample(80, 2).with_columns(segment=pl.col("day") % 2)
    asked = {"by": "segment", "ci": 0.9, "seed": 4, "replicates": 50}
    together = points(kind, df, **asked, recall=[0.5, 0.9], threshold=0.3, precision=0.7)
    for criterion, target in [("recall", 0.5), ("recall", 0.9), ("precision", 0.7)]:
        alone = points(kind, df, **asked, **{criterion: target})
        assert_frame_equal(together.filter(target=f"{criterion}={target}"), alone)
    given_here = points(kind, df, by="segment", ci=0.9, threshold=0.3)
    assert_frame_equal(together.filter(criterion="threshold"), given_here)
    shuffled = points(kind, df.sample(fraction=1, shuffle=True, seed=1), **asked, recall=0.5)
    assert_frame_equal(shuffled, points(kind, df, **asked, recall=0.5))


@every_kind
def test_weighted_rows_are_resampled_with_their_weights(kind):
    df = sample(40, 5)
    options = {"ci": 0.9, "seed": 1, "replicates": 50, "recall": 0.7, "cost": (1, 3)}
    plain = points(kind, df, **options)
    weighted = points(kind, df.with_columns(w=2.0), weight="w", **options)
    assert_frame_equal(weighted.select(LIMITS), plain.select(LIMITS), rel_tol=1e-12)


def test_an_interval_of_a_choice_is_wider_than_wilsons():
    df = sample(60, 8)
    chosen = frame_prc.operating_points(
        df, "truth", "score", f_beta=1, ci=0.95, seed=1, details=True
    )
    held = frame_prc.operating_points(
        df, "truth", "score", ci=0.95, threshold=chosen["threshold"].item(), details=True
    )
    for rate in ("precision", "recall"):
        widths = [(t[f"{rate}_high"] - t[f"{rate}_low"]).item() for t in (chosen, held)]
        assert widths[0] > widths[1]


@every_kind
def test_segments_without_positives_have_no_drawn_interval(kind):
    df = pl.DataFrame({"segment": [1, 1, 2], "truth": [1, 0, 0], "score": [0.9, 0.4, 0.5]})
    found = points(kind, df, by="segment", recall=0.5, ci=0.9, seed=1, replicates=20)
    assert found.filter(segment=2).select(LIMITS).rows() == [(None,) * 4]
    assert found.filter(segment=1)["precision_high"].to_list() == [1.0]


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"threshold": 0.5, "ci": 95}, ["ci=95", "0.95"]),
        ({"threshold": 0.5, "seed": 1}, ["seed=", "nothing is resampled"]),
        ({"threshold": 0.5, "ci": 0.9, "seed": 1}, ["other than threshold="]),
        ({"recall": 0.5, "ci": 0.9, "stratified": True, "cluster": "day"}, ["stratified=True"]),
        ({"threshold": 0.5, "ci": 0.9, "weight": "w"}, ["needs counts", "recall=0.8"]),
    ],
    ids=str,
)
@every_kind
def test_what_an_interval_needs_is_said(kind, asked, words):
    df = sample(9, 1).with_columns(w=1.5)
    with pytest.raises(OptionError) as caught:
        points(kind, df, **asked)
    assert all(word in str(caught.value) for word in words), caught.value
