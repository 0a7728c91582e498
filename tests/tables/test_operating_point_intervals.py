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
from optional import require_module
from polars.testing import assert_frame_equal
from strategies import BY, INTEGER_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError
from frame_prc._tables import operating_points

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
@pytest.mark.parametrize("weights", [None, INTEGER_WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("cluster", [None, "day"])
@given(st.data(), BY, LEVELS)
def test_at_a_given_threshold_they_are_those_of_shares_of_hits(
    kind, weights, cluster, data, by, ci
):
    df = data.draw(frames(st.sampled_from([0.1, 0.5, 0.9, None]), weights, max_size=30))
    df = df.with_columns(day=pl.int_range(pl.len()) * 7 % 5)
    weight = None if weights is None else "weight"
    options = {"missing": "unretrieved", "cluster": cluster, "weight": weight}
    found = points(kind, df, by=by, ci=ci, threshold=0.5, **options)
    if df.is_empty():
        return
    columns = {"weight": pl.lit(1)} if weights is None else {}
    columns |= {} if cluster else {"day": pl.int_range(pl.len())}
    own = df.with_columns(**columns, all=pl.lit(0)).filter(pl.col("weight") > 0)
    groups = own.sort(by or "all").group_by(by or "all", maintain_order=True)
    expected = [limits_of(rows, ci) for _, rows in groups]
    known = [ends for ends in found.select(LIMITS).rows() if ends != (None,) * 4]
    wanted = [ends for ends in expected if ends != [None] * 4]
    for ends, limits in zip(known, wanted, strict=True):
        assert ends == tuple(
            None if end is None else pytest.approx(end, rel=1e-9) for end in limits
        )


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
def test_rows_that_are_lighter_than_is_usual_tell_less(kind, cluster):
    place = pl.int_range(pl.len())
    # Heavy rows are negatives that are not retrieved, and positives that are.
    is_heavy = (pl.col("truth") == (pl.col("score") >= 0.5)) & (place % 4 == 0)
    df = sample(90, 3).with_columns(weight=pl.when(is_heavy).then(20).otherwise(1))
    found = points(kind, df, threshold=0.5, ci=0.95, weight="weight", cluster=cluster)
    own = df if cluster else df.with_columns(day=place)
    assert found.select(LIMITS).row(0) == pytest.approx(limits_of(own), rel=1e-9)
    assert limits_of(own) != pytest.approx(limits_of(own, of_usual=False), rel=0.01)


def limits_of(df: pl.DataFrame, ci: float = 0.95, *, of_usual: bool = True) -> list[float | None]:
    """Return the limits by definition: precision among the retrieved, recall among positives.

    A hit, or a miss, usually weighs what rows of its class do, or all on its side of the threshold,
    if that is less.
    """
    rows = [
        (oracle.Row(truth, score, Fraction(weight)), day)
        for truth, score, weight, day in df.select("truth", "score", "weight", "day").rows()
    ]
    retrieved = [row.score is not None and row.score >= 0.5 for row, _ in rows]
    sides = [
        (
            [
                (row.truth, row.weight, day)
                for (row, day), at in zip(rows, retrieved, strict=True)
                if at
            ],
            [row.weight for row, _ in rows if not row.truth],
        ),
        (
            [
                (at, row.weight, day)
                for (row, day), at in zip(rows, retrieved, strict=True)
                if row.truth
            ],
            [row.weight for row, _ in rows if row.truth],
        ),
    ]
    weighs = {
        (of_class, at): min(
            usual(row.weight for row, _ in rows if row.truth == of_class),
            usual(row.weight for (row, _), one in zip(rows, retrieved, strict=True) if one == at),
        )
        for of_class in (False, True)
        for at in (False, True)
    }
    cells = [((True, True), (False, True)), ((True, True), (True, False))]
    limits: list[float | None] = []
    for (side, misses), of_side in zip(sides, cells, strict=True):
        known = tuple(weighs[cell] for cell in of_side) if of_usual else None
        limits += oracle.share_limits(side, ci, misses, known)
    return limits


def usual(weights) -> Fraction:
    """Return what a row weighs on average, each counted as often as it weighs."""
    found = [*weights]
    return sum(w * w for w in found) / sum(found) if found else Fraction(10**9)


# --- chosen thresholds -------------------------------------------------------------------------


def what_is_kept(df: pl.DataFrame, target: dict[str, float], replicates: int, *, days: bool):
    """Return the shares of precision and recall that are kept by thresholds chosen in samples.

    Rows are drawn in plain Python, and each threshold is held to the rows they were drawn from.
    """
    draw = random.Random(7)  # noqa: S311 - not for secrets
    parts = [[*part.rows()] for part in df.partition_by("day" if days else "row")]
    own = [oracle.Row(truth, score) for truth, score, *_ in df.rows()]
    at = {point.threshold: point for point in oracle.curve(own)}
    [(criterion, value)] = target.items()
    chosen, held = [], []
    for _ in range(replicates):
        drawn = [row for part in draw.choices(parts, k=len(parts)) for row in part]
        rows = [oracle.Row(truth, score) for truth, score, *_ in drawn]
        point = oracle.operating_point(rows, criterion, value)
        if point is not None and point.recall is not None:
            chosen.append((float(point.precision), float(point.recall)))
            known = at[point.threshold]
            held.append((float(known.precision), float(known.recall)))
    sums = [map(sum, zip(*rates, strict=True)) for rates in (held, chosen)]
    return [min(1.0, kept / seen) for kept, seen in zip(*sums, strict=True)]


@pytest.mark.parametrize(
    "criterion",
    [
        criterion if criterion == "f_beta" else pytest.param(criterion, marks=pytest.mark.thorough)
        for criterion in TARGETS
    ],
)
def test_limits_of_a_chosen_threshold_are_exact_for_what_new_rows_keep(criterion):
    beta = require_module("scipy.stats").beta
    target = {criterion: TARGETS[criterion]}
    df = sample(60, 3, ties=4).with_row_index("row").select("truth", "score", "day", "row")
    asked = {"ci": 0.9, "details": True}
    found = frame_prc.operating_points(df, "truth", "score", **asked, **target).row(0, named=True)
    kept = what_is_kept(df, target, 400, days=False)
    for rate, share, miss in zip(("precision", "recall"), kept, ("fp", "fn"), strict=True):
        hits, misses = found["tp"], found[miss]
        n, lost = hits + misses, hits * (1 - share)
        assert found[f"{rate}_high"] == pytest.approx(beta.ppf(0.95, hits + 1, misses), rel=1e-9)
        low = beta.ppf(0.05, hits - lost, n - (hits - lost) + 1)
        assert found[f"{rate}_low"] == pytest.approx(low, abs=0.015)


def test_clusters_widen_the_limits_of_a_chosen_threshold():
    df = pl.concat([sample(60, 3).with_row_index("row")] * 3)
    asked = {"f_beta": 1, "ci": 0.9, "details": True}
    once = frame_prc.operating_points(df.head(60), "truth", "score", **asked)
    copies = frame_prc.operating_points(df, "truth", "score", cluster="row", **asked)
    by_row = frame_prc.operating_points(df, "truth", "score", **asked)
    width = [
        (table["recall_high"] - table["recall_low"]).item() for table in (once, copies, by_row)
    ]
    # Copies of rows tell as much as the rows, but for the quantile of Student's t.
    assert width[1] == pytest.approx(width[0], rel=0.1)
    assert width[2] < 0.65 * width[0]


@every_kind
@pytest.mark.parametrize("target", [*TARGETS, "predicted_rate", "cost"])
@pytest.mark.parametrize("cluster", [None, "day"])
def test_a_separated_sample_says_no_certainty(kind, target, cluster):
    """Five positives above all others: that a new one is, too, is likely, and not certain."""
    truth, n = [True] * 5 + [False] * 95, 100
    df = pl.DataFrame({"truth": truth, "score": range(n, 0, -1), "day": range(n)})
    values = {**TARGETS, "predicted_count": 5, "predicted_rate": 0.05, "cost": (1, 1)}
    options = {target: values[target], "cluster": cluster}
    found = points(kind, df, ci=0.95, **options)
    for rate in ("precision", "recall"):
        low, high = found.select(f"{rate}_low", f"{rate}_high").row(0)
        assert 0 < low < 0.025 ** (1 / 5) + 1e-9
        assert high == 1
    assert found["status"].to_list() == ["few_clusters" if cluster else "few_positives"]


@every_kind
def test_an_interval_is_the_same_whatever_else_is_asked(kind):
    df = sample(80, 2).with_columns(segment=pl.col("day") % 2)
    asked = {"by": "segment", "ci": 0.9}
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
    options = {"ci": 0.9, "recall": 0.7, "cost": (1, 3)}
    plain = points(kind, df, **options)
    weighted = points(kind, df.with_columns(w=2.0), weight="w", **options)
    assert_frame_equal(weighted.select(LIMITS), plain.select(LIMITS), rel_tol=1e-12)


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
def test_replicates_of_many_rows_choose_among_groups_of_them(kind, cluster, monkeypatch):
    few, many = sample(300, 5), sample(6000, 5, ties=10**6)
    asked = {"recall": 0.6, "precision": 0.6, "f_beta": 1, "ci": 0.9, "cluster": cluster}
    found = [points(kind, df, **asked) for df in (few, many)]
    monkeypatch.setattr(operating_points, "_GROUPS", 10**6)
    every = [points(kind, df, **asked) for df in (few, many)]
    assert_frame_equal(found[0], every[0], check_exact=True)
    for rate in ("precision", "recall"):
        width = every[1][f"{rate}_high"] - every[1][f"{rate}_low"]
        apart = (found[1][f"{rate}_low"] - every[1][f"{rate}_low"]).abs() / width
        assert 0 < apart.max() < 0.02
    assert (
        found[1]
        .drop("precision_low", "recall_low")
        .equals(every[1].drop("precision_low", "recall_low"))
    )


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"threshold": 0.5, "ci": 95}, ["ci=95", "0.95"]),
    ],
    ids=str,
)
@every_kind
def test_what_an_interval_needs_is_said(kind, asked, words):
    df = sample(9, 1).with_columns(w=1.5)
    with pytest.raises(OptionError) as caught:
        points(kind, df, **asked)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("target", "cluster"),
    [
        ({"threshold": [0.5, 1.0]}, None),
        ({"threshold": [0.5, 1.0]}, "day"),
        pytest.param({"recall": 0.8}, None, marks=pytest.mark.thorough),
        pytest.param({"recall": 0.8}, "day", marks=pytest.mark.thorough),
    ],
    ids=str,
)
def test_no_digit_depends_on_the_order_of_rows(target, cluster):
    draw = random.Random(2)  # noqa: S311 - not for secrets
    df = sample(9000, 2, ties=10**12).with_columns(
        w=pl.Series([draw.lognormvariate(0, 2) for _ in range(9000)])
    )
    options = {"weight": "w", "cluster": cluster, "ci": 0.9, **target}
    first, *others = (
        frame_prc.operating_points(
            df.sample(fraction=1, shuffle=True, seed=seed), "truth", "score", **options
        )
        for seed in range(4)
    )
    for other in others:
        assert_frame_equal(first, other, check_exact=True)


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "day"])
@given(st.data())
def test_a_number_has_one_interval_wherever_it_is(kind, weight, cluster, data):
    df = data.draw(frames(SCORES_OR_NONE, INTEGER_WEIGHTS if weight else None, max_size=40))
    df = df.with_columns(day=pl.int_range(pl.len()) * 7 % 11)
    options = {"by": "segment", "cluster": cluster, "weight": weight, "missing": "unretrieved"}
    found = points(kind, df, threshold=0.25, ci=0.95, **options).sort("segment")
    asked = {"measures": ["precision", "recall"], "at": {"threshold": 0.25}, "ci": 0.95}
    card = kind.rows(frame_prc.summary(kind.make(df), "truth", "score", **asked, **options))
    card = card.sort("segment")
    assert_frame_equal(found.select(LIMITS), card.select(LIMITS), rel_tol=1e-11, abs_tol=1e-12)
    if weight is None:
        curve = frame_prc.curve(
            kind.make(df), "truth", "score", thresholds=[0.25], start=None, ci=0.95, **options
        )
        ends = LIMITS[:2]
        assert_frame_equal(
            kind.rows(curve).sort("segment").select(ends),
            found.select(ends),
            rel_tol=1e-11,
            abs_tol=1e-12,
        )


@every_kind
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "day"}], ids=str)
def test_a_precision_of_few_rows_has_the_status_that_summary_gives_it(kind, roles):
    df = pl.DataFrame({"place": range(400)}).with_columns(
        score=1 - pl.col("place") / 400,
        truth=pl.col("place") % 4 < 2,
        w=pl.col("place") % 3 + 1.0,
        day=pl.col("place") // 2,
    )
    frame, said = kind.make(df), []
    for threshold in (0.99, 0.94, 0.9, 0.5):
        at = {"measures": "precision", "at": {"threshold": threshold}}
        summary = kind.rows(frame_prc.summary(frame, "truth", "score", **at, **roles))
        asked = {"threshold": threshold, "ci": 0.95}
        found = kind.rows(frame_prc.operating_points(frame, "truth", "score", **asked, **roles))
        assert found["status"].to_list() == summary["status"].to_list()
        said += found["status"].to_list()
    assert said[0] == "few_rows"
    assert said[-1] == "ok"
