"""Thresholds that new rows meet a target at: by definition, and on new rows."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from functools import cache

import oracle
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc import OptionError

LEVELS = st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(19, 20)])
SHARES = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(4, 5), Fraction(1)])


def points(kind, df, **options):
    found = frame_prc.operating_points(kind.make(df), "truth", "score", **options, details=True)
    return kind.rows(found)


def sample(n: int, seed: int, *, ties: int = 1000, apart: float = 1.5) -> pl.DataFrame:
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    truth = [draw.random() < 0.4 for _ in range(n)]
    scores = [round(draw.gauss(apart * one, 1) * ties) / ties for one in truth]
    return pl.DataFrame({"truth": truth, "score": scores})


# --- by definition -----------------------------------------------------------------------------


@cache
def at_most(k: int, n: int, share: Fraction) -> Fraction:
    """Return the probability of at most k successes in n trials."""
    hit, miss = share.numerator, share.denominator - share.numerator
    ways = sum(math.comb(n, i) * hit**i * miss ** (n - i) for i in range(k + 1))
    return Fraction(ways, share.denominator**n)


def accepted(curve: list[oracle.Point], value: Fraction, level: Fraction) -> int:
    """Return the most rows retrieved of which a fixed sequence of tests accepts the precision."""
    if value == 1:
        return 0
    fails = (1 - level) / 4
    n, least = int(curve[-1].tp + curve[-1].fp), 1
    while value**least > fails:
        least += 1
    most = 0
    for start in (least, 2 * least, 4 * least, 8 * least):
        rows: float = start
        while rows <= n:
            point = next(p for p in curve if p.tp + p.fp >= int(rows))
            retrieved = int(point.tp + point.fp)
            if 1 - at_most(int(point.tp) - 1, retrieved, value) > fails:
                break
            most, rows = max(most, retrieved), max(rows * 1.02, retrieved + 1)
    return most


def chosen(rows, criterion: str, value: Fraction, level: Fraction):
    """Return the point of a target that new rows meet too, or none."""
    curve = [point for point in oracle.curve(rows) if point.tp + point.fp > 0]
    positives = sum(row.truth for row in rows)
    negatives = len(rows) - positives
    if criterion == "recall":
        fits = [p for p in curve if at_most(int(p.tp) - 1, positives, value) >= level]
        return max(fits, key=lambda p: (p.precision, p.tp, p.threshold), default=None)
    if criterion == "fpr":
        fits = [p for p in curve if at_most(int(p.fp), negatives, value) <= 1 - level]
    else:
        most = accepted(curve, value, level)
        fits = [p for p in curve if p.tp + p.fp <= most]
    return max(fits, key=lambda p: (p.tp, p.precision, p.threshold), default=None)


@every_kind
@pytest.mark.parametrize("criterion", ["recall", "precision", "fpr"])
@settings(deadline=None)
@given(st.integers(2, 45), st.integers(0, 50), SHARES, LEVELS, st.sampled_from([2, 1000]))
def test_the_point_is_the_best_that_a_binomial_test_accepts(
    kind, criterion, n, seed, value, level, ties
):
    df = sample(n, seed, ties=ties, apart=2.5).with_row_index("row")
    rows = [oracle.Row(truth, score) for truth, score in df.select("truth", "score").rows()]
    if len({row.truth for row in rows}) < 2:
        return
    found = points(kind, df, **{criterion: float(value)}, guarantee=float(level)).row(0, named=True)
    best = chosen(rows, criterion, value, level)
    if best is None:
        assert (found["threshold"], found["status"]) == (None, "no_guarantee")
    else:
        assert (found["tp"], found["fp"]) == (best.tp, best.fp)
        assert (found["threshold"], found["status"]) == (best.threshold, "ok")


@pytest.mark.thorough
@pytest.mark.parametrize("target", [{"recall": 0.8}, {"fpr": 0.1}, {"precision": 0.8}], ids=str)
def test_new_rows_meet_the_target_in_as_many_samples(target):
    """Without a guarantee about half of them do not."""
    draws, scores = 600, random.Random(11)  # noqa: S311 - not for secrets
    [(criterion, value)] = target.items()
    rows = [
        (draw, i < 60, scores.gauss(2.5 * (i < 60), 1)) for draw in range(draws) for i in range(180)
    ]
    df = pl.DataFrame(rows, schema=["draw", "truth", "score"], orient="row")

    def kept(threshold: float) -> bool:
        tpr, fpr = (math.erfc((threshold - mean) / math.sqrt(2)) / 2 for mean in (2.5, 0))
        precision = tpr / (tpr + 2 * fpr)
        return {"recall": tpr >= value, "fpr": fpr <= value, "precision": precision >= value}[
            criterion
        ]

    shares = []
    for options in ({}, {"guarantee": 0.9}):
        found = df.prc.operating_points("truth", "score", by="draw", **target, **options)
        assert found["threshold"].null_count() < draws / 10
        shares.append(sum(map(kept, found["threshold"].drop_nulls())) / draws)
    assert shares[0] < 0.8
    assert shares[1] + found["threshold"].null_count() / draws > 0.9 - 3 * math.sqrt(0.09 / draws)


# --- effective numbers -------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("target", [{"recall": 0.7}, {"fpr": 0.25}, {"precision": 0.6}], ids=str)
def test_copies_of_rows_tell_no_more_than_the_rows(kind, target):
    df = sample(240, 4).with_row_index("row")
    once = points(kind, df, **target, guarantee=0.9)["threshold"].item()
    copies = pl.concat([df] * 3)
    clustered = points(kind, copies, cluster="row", **target, guarantee=0.9)["threshold"].item()
    as_rows = points(kind, copies, **target, guarantee=0.9)["threshold"].item()
    weighted = points(kind, df.with_columns(w=0.3), weight="w", **target, guarantee=0.9)
    counts = df.select("score", pos=pl.col("truth").cast(int), neg=(~pl.col("truth")).cast(int))
    counted = frame_prc.operating_points(
        kind.make(counts), score="score", pos="pos", neg="neg", **target, guarantee=0.9
    )
    assert kind.rows(counted)["threshold"].item() == once == weighted["threshold"].item()
    if "precision" in target:
        # Clusters have a variance to be estimated, by which the numbers differ a little.
        assert abs(clustered - once) < abs(as_rows - once)
    else:
        assert clustered == once != as_rows


@every_kind
@pytest.mark.parametrize(("criterion", "value"), [("recall", 0.8), ("fpr", 0.3)])
def test_clusters_tell_as_much_as_they_vary_with_two_that_are_all_wrong(kind, criterion, value):
    draw = random.Random(8)  # noqa: S311 - not for secrets
    levels = [draw.gauss(0, 0.3) for _ in range(60)]
    clusters = [c for c in range(60) for _ in range(3 + c % 14)]
    truth = [draw.random() < 0.5 for _ in clusters]
    scores = [draw.gauss(levels[c] + 2 * one, 1) for c, one in zip(clusters, truth, strict=True)]
    df = pl.DataFrame({"c": clusters, "truth": truth, "score": scores})
    found = points(kind, df, cluster="c", **{criterion: value}, guarantee=0.9).row(0, named=True)
    own = df.filter(pl.col("truth") == (criterion == "recall")).sort("score", descending=True)
    sizes, n = Counter(own["c"]), own.height
    retrieved = Counter(own["c"][: math.ceil(value * n)])
    share = sum(retrieved.values()) / n
    squares, fourths = (sum(size**power for size in sizes.values()) for power in (2, 4))
    wrong = share if criterion == "recall" else 1 - share
    spread = sum((retrieved[c] - share * size) ** 2 for c, size in sizes.items())
    spread += 2 * wrong**2 * squares / len(sizes)
    effective = Fraction(squares**2, fourths)
    by_rows = n**2 * share * (1 - share) * (1 - 1 / float(effective)) / (n - 1)
    t = [oracle.student_quantile(0.8, number - 1) for number in (Fraction(n), effective)]
    told = n * min(1, by_rows / spread) * (t[0] / t[1]) ** 2
    assert found["n_counted"] == pytest.approx(told, rel=1e-9)
    assert n**2 / squares < told < n  # more than copies, and less than single rows
    assert (found[criterion] > value) == (criterion == "recall")


# --- what is said ------------------------------------------------------------------------------


@every_kind
def test_a_guarantee_that_needs_more_rows_says_how_many(kind):
    df = sample(40, 1)
    asked = {"recall": [0.99, 1.0], "precision": 0.99, "fpr": [0.001, 0.0]}
    found = points(kind, df, **asked, guarantee=0.95)
    assert set(found["status"]) == {"no_guarantee"}
    assert found["threshold"].null_count() == 5
    recall, precision = math.log(0.05) / math.log(0.99), math.log(0.0125) / math.log(0.99)
    fpr = math.log(0.05) / math.log(0.999)
    wanted = [math.ceil(recall), None, math.ceil(precision), math.ceil(fpr), None]
    assert found["n_needed"].cast(pl.Int64).to_list() == wanted
    positives = df["truth"].sum()
    counted = [positives, positives, None, df.height - positives, df.height - positives]
    assert found["n_counted"].to_list() == counted


@pytest.mark.parametrize("number", [299, 298])
def test_as_many_rows_as_needed_are_enough(number):
    """With an error among none of 299 positives, the recall is at least 0.99 with 95 %."""
    df = pl.DataFrame({"truth": [1] * number + [0], "score": [*range(number, -1, -1)]})
    found = df.prc.operating_points("truth", "score", recall=0.99, guarantee=0.95, details=True)
    assert found["n_needed"].item() == 299
    assert found["status"].item() == ("ok" if number == 299 else "no_guarantee")


@every_kind
def test_the_lower_limit_of_as_much_confidence_is_the_target(kind):
    df = sample(100, 3)
    found = points(kind, df, recall=0.8, guarantee=0.95, ci=0.9).row(0, named=True)
    assert 0.8 <= found["recall_low"] < 0.85
    assert found["recall"] > found["recall_low"]
    assert found["precision_low"] < found["precision"] < found["precision_high"]


@every_kind
def test_segments_have_bounds_of_their_own(kind):
    parts = [sample(size, size).with_columns(region=pl.lit(f"r{size}")) for size in (40, 90, 160)]
    none = pl.DataFrame({"truth": [False], "score": [0.5], "region": ["none"]})
    options = {"recall": 0.8, "fpr": 0.1, "guarantee": 0.9}
    together = points(kind, pl.concat([*parts, none]), by="region", **options)
    for part in parts:
        alone = points(kind, part, by="region", **options)
        assert_frame_equal(together.filter(region=part["region"][0]), alone)
    assert set(together.filter(region="none")["status"]) == {"no_positives"}


@every_kind
def test_rows_without_a_score_have_no_guarantee(kind):
    df = sample(20, 1).with_columns(score=pl.lit(None, pl.Float64))
    found = points(kind, df, recall=0.8, precision=0.8, guarantee=0.9, missing="unretrieved")
    assert set(found["status"]) == {"no_guarantee"}


@every_kind
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"recall": 0.8, "guarantee": 95}, ["guarantee=95", "guarantee=0.95"]),
        ({"recall": 0.8, "guarantee": 1}, ["guarantee=1", "between 0 and 1"]),
        ({"recall": 0.8, "f_beta": 1, "guarantee": 0.9}, ["f_beta=", "recall=, precision=, fpr="]),
        ({"threshold": 0.5, "guarantee": 0.9}, ["threshold=", "a call of its own"]),
        ({"threshold": "score", "guarantee": 0.9}, ["threshold=", "a call of its own"]),
    ],
    ids=str,
)
def test_what_a_guarantee_needs_is_said(kind, asked, words):
    with pytest.raises(OptionError) as caught:
        points(kind, sample(9, 1), **asked)
    assert all(word in str(caught.value) for word in words), caught.value


@every_kind
def test_sums_of_weights_have_no_guarantee(kind):
    sums = kind.make(pl.DataFrame({"score": [2.0, 1.0], "pos": [1.5, 1.0], "neg": [0.5, 1.0]}))
    with pytest.raises(OptionError, match=r"guarantee= needs counts of rows.*single rows"):
        frame_prc.operating_points(
            sums, score="score", pos="pos", neg="neg", recall=0.5, guarantee=0.9
        )
