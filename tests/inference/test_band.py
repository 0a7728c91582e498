"""How sure precision is: at each threshold, and along a common grid of recalls."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from optional import require_module
from polars.testing import assert_frame_equal, assert_series_equal
from strategies import BY, INTEGER_WEIGHTS, SCORES, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import Draws, OptionError

ENDS = ["precision_low", "precision_high"]
SEEDED = {"bootstrap": Draws(100, seed=3)}
ROWS = pl.DataFrame(
    {
        "region": ["n"] * 8 + ["s"] * 4 + ["x"] * 2,
        "late": [1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0],
        "score": [0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1, 0.9, 0.8, 0.6, 0.5, 0.3, 0.2],
        "w": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0],
    }
)


def limits(tp, fp, ci=0.95):
    """Return the ends of the interval at a threshold that so many rows reach."""
    counted = pl.DataFrame({"score": [1.0], "pos": [tp], "neg": [fp]})
    table = frame_prc.curve(counted, score="score", pos="pos", neg="neg", start=None, ci=ci)
    return table.select(ENDS).row(0)


# --- at each threshold -------------------------------------------------------------------------


SHARES = [(tp, fp) for tp in (0, 1, 3, 50, 10**6) for fp in (0, 1, 8, 10**6) if tp + fp]


@pytest.mark.parametrize("ci", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("tp", "fp"), SHARES)
def test_interval_is_that_of_a_share(tp, fp, ci):
    expected = oracle.count_limits(tp, fp, ci)
    assert limits(tp, fp, ci) == pytest.approx(expected, rel=1e-9, abs=1e-14)
    if tp + fp < 1000:
        rows = [(place < tp, Fraction(1), place) for place in range(tp + fp)]
        assert expected == pytest.approx(oracle.share_limits(rows, ci), rel=1e-12)
    if fp == 0:  # Clopper & Pearson 1934
        peer = require_module("scipy.stats").binomtest(tp, tp).proportion_ci(ci, "exact")
        assert expected == pytest.approx(tuple(peer), rel=1e-9)


def test_interval_ends_exactly_at_0_and_1_where_all_rows_are_alike():
    for n in (1, 7, 12345, 10**9):
        assert limits(0, n)[0] == 0
        assert limits(n, 0)[1] == 1


@every_kind
@pytest.mark.parametrize("keep", ["all", "corners"])
@given(st.data(), BY)
def test_columns_follow_the_curve_and_change_nothing_in_it(kind, keep, data, by):
    df = data.draw(frames(SCORES_OR_NONE))
    asked = {"by": by, "missing": "unretrieved", "keep": keep, "gain": True}
    result = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", ci=0.8, **asked))
    plain = kind.rows(frame_prc.curve(kind.make(df), "truth", "score", **asked))
    assert result.columns == [*plain.columns, *ENDS]
    assert_frame_equal(result.drop(ENDS), plain)
    reached = result.filter(pl.col("tp") + pl.col("fp") > 0)
    assert reached.filter(~pl.col("precision").is_between(*ENDS)).is_empty()
    assert reached.filter(pl.any_horizontal(pl.col(ENDS).is_null())).is_empty()


# --- on a grid of recalls ----------------------------------------------------------------------


def band(frame, **asked):
    return frame_prc.band(frame, "late", "score", **{**SEEDED, **asked})


def height(rows, recall):
    """Return the precision of the highest threshold that reaches a recall with some positive."""
    points = [p for p in oracle.curve(rows) if p.tp > 0 and float(p.recall) >= recall]
    return float(points[0].precision) if points else None


@every_kind
@pytest.mark.parametrize("weights", [None, INTEGER_WEIGHTS], ids=["unweighted", "weighted"])
@given(st.data(), BY)
def test_precision_is_the_height_of_the_steps(kind, weights, data, by):
    df = data.draw(frames(SCORES_OR_NONE, weights)).rename({"truth": "late"})
    weight = "weight" if weights is not None else None
    asked = {
        "by": by,
        "weight": weight,
        "missing": "unretrieved",
        "recalls": 5,
        "bootstrap": Draws(40, seed=3),
    }
    table = kind.rows(band(kind.make(df), **asked))
    exact = [
        height(rows, recall)
        for rows in segments(df.rename({"late": "truth"}), by).values()
        for recall in (0, 0.25, 0.5, 0.75, 1)
    ]
    wanted = pl.Series("precision", exact, dtype=pl.Float64)
    assert_series_equal(table["precision"].cast(pl.Float64), wanted, rel_tol=1e-12)


@every_kind
def test_the_average_height_is_the_average_precision(kind):
    # With four positives, recall grows in quarters: the middle of each has its height.
    rows = ROWS.filter(region="n")
    table = kind.rows(band(kind.make(rows), recalls=[1 / 8, 3 / 8, 5 / 8, 7 / 8]))
    area = frame_prc.average_precision(rows, "late", "score")["average_precision"].item()
    assert table["precision"].mean() == pytest.approx(area, rel=1e-12)


def exact(hits, misses, ci):
    """Return the limits of Clopper and Pearson."""
    beta, tail = require_module("scipy.stats").beta, (1 - ci) / 2
    low = beta.ppf(tail, hits, misses + 1) if hits else 0.0
    return low, beta.ppf(1 - tail, hits + 1, misses) if misses else 1.0


def reached(rows, recall):
    """Return the true and false positives at the highest threshold that reaches a recall."""
    best = sorted((row.score for row in rows if row.truth), reverse=True)
    threshold = best[max(math.ceil(recall * len(best) - 1e-9), 1) - 1]
    found = [row.truth for row in rows if row.score >= threshold]
    return sum(found), len(found) - sum(found)


def test_band_reaches_to_percentiles_and_to_exact_limits():
    draw = random.Random(5)  # noqa: S311 - not for secrets
    truth = [draw.random() < 0.3 for _ in range(100)]
    df = pl.DataFrame({"late": truth, "score": [draw.gauss(2 * one, 1) for one in truth]})
    rows = [oracle.Row(*row) for row in df.rows()]
    recalls = [0.1, 0.5, 0.9]
    found = band(df, recalls=recalls, ci=0.9, bootstrap=Draws(2000, seed=1))
    samples = [draw.choices(rows, k=len(rows)) for _ in range(1000)]
    wider = []
    for recall, *ends in found.select("recall", *ENDS).rows():
        counts = [reached(sample, recall) for sample in samples]
        heights = pl.Series([tp / (tp + fp) for tp, fp in counts])
        drawn = [heights.quantile(q, "linear") for q in (0.05, 0.95)]
        limits = exact(*reached(rows, recall), 0.9)
        expected = (min(drawn[0], limits[0]), max(drawn[1], limits[1]))
        assert ends == pytest.approx(expected, abs=0.03)
        wider += [drawn[0] < limits[0] - 0.03, limits[0] < drawn[0] - 0.03]
    assert any(wider[::2])
    assert any(wider[1::2])


@every_kind
@pytest.mark.parametrize(
    ("options", "trials"),
    [
        ({}, 12),
        ({"cluster": "day"}, 4),  # of three rows each
        ({"weight": "w"}, 9.6),  # (12 * 2)^2 / (6 * 1 + 6 * 3^2)
        ({"weight": "w", "cluster": "day"}, 576 / 148),  # 24^2 / (5^2 + 7^2 + 5^2 + 7^2)
        ({"weight": "heavy"}, 0.48),  # 24 / 50: a negative weighs 50
    ],
    ids=str,
)
def test_where_no_negative_is_as_high_the_band_has_the_width_of_as_many_trials(
    kind, options, trials
):
    n = 24
    df = pl.DataFrame({"late": [1] * 12 + [0] * 12, "score": [2.0] * 12 + [1.0] * 12})
    weights = pl.when(pl.int_range(n) % 2 == 0).then(1.0).otherwise(3.0)
    df = df.with_columns(w=weights).with_columns(
        day=pl.int_range(n) // 3,
        heavy=pl.when(pl.col("late") == 1).then("w").otherwise(50.0),
    )
    table = kind.rows(band(kind.make(df), recalls=[0.0, 0.5, 1.0], ci=0.9, **options))
    for low, high in table.select(ENDS).rows():
        assert low <= 0.05 ** (1 / trials) + 1e-9
        assert high == 1
    assert table[ENDS[0]][0] == pytest.approx(0.05 ** (1 / trials), rel=1e-9)


def test_whole_curves_leave_a_simultaneous_band_as_rarely_as_asked():
    """By definition, on curves that are drawn apart: a tenth of them leaves its quantiles."""
    np = require_module("numpy")
    resamples = require_module("frame_prc._inference.resamples")
    drawn = np.random.default_rng(0).random((2_000, 12)).cumsum(axis=1)
    drawn[::7, 9:] = np.nan  # some do not reach the last recalls
    tail = resamples._tail_of_all(drawn, 0.9)  # noqa: SLF001 - its definition
    assert tail < 0.05
    low, high = np.nanquantile(drawn, [tail, 1 - tail], axis=0)
    leaves = ((drawn < low) | (drawn > high)).any(axis=1).mean()
    assert 0.08 < leaves < 0.105


@every_kind
def test_a_simultaneous_band_is_wider(kind):
    pointwise, both = (
        band(kind.make(ROWS), recalls=[0.25, 0.5, 0.75], ci=0.8, simultaneous=simultaneous)
        for simultaneous in (False, True)
    )
    pointwise, both = kind.rows(pointwise), kind.rows(both)
    assert_frame_equal(both.drop(ENDS), pointwise.drop(ENDS))
    assert (both["precision_low"] <= pointwise["precision_low"]).all()
    assert (both["precision_high"] >= pointwise["precision_high"]).all()
    assert (both["precision_low"] < pointwise["precision_low"]).any()
    with pytest.raises(OptionError, match="simultaneous='yes'"):
        band(kind.make(ROWS), simultaneous="yes")


@every_kind
def test_where_no_replicate_varies_a_simultaneous_band_is_that_of_each_recall(kind):
    perfect = pl.DataFrame({"late": [1] * 30 + [0] * 30, "score": [-i for i in range(60)]})
    asked = {"recalls": [0.5, 1.0], "ci": 0.9}
    each, both = (band(kind.make(perfect), **asked, simultaneous=one) for one in (False, True))
    assert_frame_equal(kind.rows(both), kind.rows(each))
    exact = [0.05 ** (1 / 15), 0.05 ** (1 / 30)]
    assert kind.rows(both)["precision_low"].to_list() == pytest.approx(exact)


@pytest.mark.thorough
def test_a_simultaneous_band_covers_the_whole_curve():
    np, stats = require_module("numpy"), require_module("scipy.stats")
    rng, draws, recalls = np.random.default_rng(1), 60, [k / 20 for k in range(1, 19)]
    truth = np.tile(np.arange(1_000) < 200, draws)
    score = rng.standard_normal(truth.size) + 1.5 * truth
    df = pl.DataFrame({"draw": np.repeat(np.arange(draws), 1_000), "truth": truth, "score": score})
    asked = {"by": "draw", "recalls": recalls, "bootstrap": Draws(500, seed=1)}
    thresholds = 1.5 + stats.norm.isf(recalls)
    true = 0.2 * np.array(recalls) / (0.2 * np.array(recalls) + 0.8 * stats.norm.sf(thresholds))
    covers = {}
    for simultaneous in (False, True):
        found = frame_prc.band(df, "truth", "score", **asked, simultaneous=simultaneous)
        lows, highs = (found[end].to_numpy().reshape(draws, -1) for end in ENDS)
        covers[simultaneous] = ((lows <= true) & (true <= highs)).all(axis=1).mean()
    # Of 60 draws 95 % are 57, and fewer than 53 have a probability of 2 %.
    assert covers[True] >= 53 / 60
    assert covers[False] < covers[True]


@every_kind
def test_status_says_where_few_positives_decide(kind):
    regions = [("many", 100, 100), ("few", 19, 100), ("no", 0, 5), ("all", 30, 0), ("rare", 30, 5)]
    df = pl.DataFrame(
        [
            {"region": region, "late": late, "score": float(i % 7 + late)}
            for region, *sizes in regions
            for late, size in zip((1, 0), sizes, strict=True)
            for i in range(size)
        ]
    )
    table = kind.rows(band(kind.make(df), by="region", recalls=[0.5, 0.96, 0.97, 1.0]))
    found = {region: rows["status"].to_list() for (region,), rows in table.group_by("region")}
    few = ["few_positives"]
    assert found == {
        "many": ["ok", "ok", *few, *few],  # 4 of 100 are missed, and 3
        "few": few * 4,
        "no": ["no_positives"] * 4,
        "all": ["no_negatives"] * 4,
        "rare": ["few_negatives"] * 4,
    }


@every_kind
@given(st.data(), BY)
def test_every_kind_and_row_order_gives_the_same_band(kind, data, by):
    df = data.draw(frames(SCORES, INTEGER_WEIGHTS)).rename({"truth": "late"})
    shuffled = df.sample(fraction=1, shuffle=True, seed=data.draw(st.integers(0, 9)))
    asked = {"by": by, "weight": "weight", "recalls": 4, "bootstrap": Draws(40, seed=3)}
    result = kind.rows(band(kind.make(shuffled), **asked))
    assert_frame_equal(result, band(df, **asked), rel_tol=1e-12, check_dtypes=kind.name != "pandas")


@every_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"recalls": 1}, r"recalls=1 gives no recalls.*from 2 to 10001"),
        ({"recalls": 10**6}, r"recalls=1000000 gives no recalls"),
        ({"recalls": []}, r"recalls=\[\] gives no recalls"),
        ({"recalls": "all"}, r"recalls='all' gives no recalls"),
        ({"recalls": True}, r"recalls=True gives no recalls"),
        ({"recalls": [0.5, 1.5]}, r"recalls= holds 1.5"),
        ({"recalls": [0.5, None]}, r"recalls= holds None"),
        ({"recalls": [0.5, 0.2]}, r"recalls= are not ascending: 0.2 comes after 0.5"),
        ({"bootstrap": 0}, r"bootstrap=0"),
        ({"bootstrap": 39}, r"bootstrap=39 is too few for ci=0.95. Allowed: 40 or more"),
        ({"bootstrap": 199, "ci": 0.99}, r"bootstrap=199 .* 200 or more"),
        ({"bootstrap": Draws(seed=0.5)}, r"seed=0.5"),
        (
            {"bootstrap": Draws(stratified=True), "cluster": "w"},
            r"stratified=True is given with cluster=",
        ),
    ],
    ids=str,
)
def test_options_out_of_range_are_errors_at_the_call(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        band(kind.make(ROWS), **asked)
