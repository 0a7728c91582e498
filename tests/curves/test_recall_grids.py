"""Areas on a grid of recalls: any weights reach the recalls that rows reach, and no others."""

from __future__ import annotations

import polars as pl
import published
import pytest
from areas import METHODS, ROUNDED, area, call, counted, exact_areas
from kinds import KINDS, assert_rows, every_kind

import frame_prc

# --- exact arithmetic --------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("method", ["11-point", "101-point"])
def test_grid_holds_for_the_largest_counts(kind, method):
    # A hundred times their total, 2**54.3, only just stays in Int64; more is refused.
    counts = frame_prc.counts(published.RUNS, "truth", "score")
    df = counts.with_columns(pl.col("pos", "neg") * 2**50)
    result = frame_prc.auc(kind.make(df), score="threshold", pos="pos", neg="neg", method=method)
    assert kind.rows(result)["auc"].item() == pytest.approx(
        area(KINDS[0], published.RUNS, method), rel=1e-12, abs=0
    )


# --- grids -------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("method", ["11-point", "101-point"])
@pytest.mark.parametrize("missed", [1, 2])
@pytest.mark.parametrize("positives", [10**10, 2**52])
def test_whole_sums_of_weights_reach_the_recalls_that_counts_reach(kind, positives, missed, method):
    df, _ = counted([(positives - missed, 0), (missed, positives)])
    sums = df.cast({"pos": pl.Float64, "neg": pl.Float64})
    asked = {"score": "score", "pos": "pos", "neg": "neg", "method": method}
    found = kind.rows(frame_prc.auc(kind.make(sums), **asked))["auc"].item()
    # All but the last recall of the grid are reached at precision 1, that one at about a half.
    steps = int(method.removesuffix("-point"))
    assert found == pytest.approx((steps - 0.5) / steps, rel=1e-9)
    assert found == pytest.approx(frame_prc.auc(df, **asked)["auc"].item(), rel=1e-15)


@every_kind
@pytest.mark.parametrize("rows", [10, 100, 3000])
@pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7, 1e-9, 1e65])
def test_equal_weights_reach_the_recalls_that_rows_reach(kind, rows, weight):
    df = pl.DataFrame(
        {"truth": [k % 3 != 0 for k in range(3 * rows)], "score": range(3 * rows, 0, -1)}
    ).with_columns(weight=pl.lit(weight))
    grids = ["11-point", "101-point"]
    exact = frame_prc.auc(df, "truth", "score", method=grids)["auc"].to_list()
    found = kind.rows(call(kind, df, method=grids))["auc"].to_list()
    assert found == pytest.approx(exact, rel=1e-12, abs=0)


@every_kind
@pytest.mark.parametrize("weight", [0.17, 1 / 3])
@pytest.mark.parametrize("aggregated", ["bins", "counts"])
def test_sums_of_many_equal_weights_reach_the_recalls_that_rows_reach(kind, weight, aggregated):
    # Recalls of .1, .3, .6, .7 and 1, at ever more negatives.
    scores = {0.9: (2000, 0), 0.7: (4000, 4000), 0.5: (6000, 9000), 0.3: (2000, 9000)}
    scores[0.1] = (6000, 30_000)
    rows = [
        pl.DataFrame({"truth": [True] * pos + [False] * neg, "score": score})
        for score, (pos, neg) in scores.items()
    ]
    df = (
        pl.concat(rows).with_columns(weight=pl.lit(weight)).sample(fraction=1, shuffle=True, seed=1)
    )
    grids = ["11-point", "101-point"]
    exact = frame_prc.auc(df, "truth", "score", method=grids)["auc"].to_list()
    if aggregated == "bins":
        result = call(kind, df, method=grids, thresholds=[0.0, 0.2, 0.4, 0.6, 0.8])
    else:
        counts = frame_prc.counts(kind.make(df), "truth", "score", weight="weight")
        result = frame_prc.auc(counts, score="threshold", pos="pos", neg="neg", method=grids)
    assert kind.rows(result)["auc"].to_list() == pytest.approx(exact, rel=1e-9, abs=0)


@every_kind
@pytest.mark.parametrize("short", [1e-10, 1e-12, 1e-14])
def test_a_recall_short_of_the_grid_by_more_than_rounding_is_short(kind, short):
    df = pl.DataFrame(
        {
            "truth": [True, True, False],
            "score": [2.0, 1.0, 1.0],
            "weight": [0.5 - short, 0.5 + short, 1.0],
        }
    )
    exact = exact_areas(df, None, ["11-point"])
    assert exact["auc"].item() == pytest.approx((5 + 6 * 0.5) / 11, rel=1e-9)
    assert_rows(kind, call(kind, df, method="11-point"), exact, **ROUNDED)


# --- the interpolated area of binned scores, as Keras and metrax compute it --------------------


@every_kind
@pytest.mark.parametrize("weight", [0.17, 0.47, 0.027])
def test_grid_reaches_full_recall_with_any_weight(kind, weight):
    # 100 * .17 // .17 is 100 in exact arithmetic alone.
    df = pl.DataFrame({"truth": [True] * 3, "score": [0.5] * 3, "weight": [weight] * 3})
    result = frame_prc.auc(
        kind.make(df), "truth", "score", weight="weight", method=["11-point", "101-point"]
    )
    assert kind.rows(result)["auc"].to_list() == pytest.approx([1, 1], rel=1e-12, abs=0)


@every_kind
def test_a_step_beside_which_all_others_are_tiny_is_seen(kind):
    """Rows of 1e-17 are nothing beside 1e17, and still there is no division by what they add."""
    df = pl.DataFrame(
        {
            "truth": [True, False, True, False],
            "score": [4.0, 3.0, 2.0, 1.0],
            "weight": [1e-17, 1e17, 1.0, 1.0],
        }
    )
    result = frame_prc.auc(kind.make(df), "truth", "score", weight="weight", method="interpolated")
    # Precision is 1 on the first 1e-17 of recall, and grows to 1e-17 on the rest.
    assert kind.rows(result)["auc"].item() == pytest.approx(1.5e-17, rel=1e-12)


@every_kind
@pytest.mark.parametrize("positives", [10, 2_000])
def test_a_perfect_ranking_has_no_area_above_1(kind, positives):
    df = pl.DataFrame({"truth": [True] * positives + [False], "score": range(positives, -1, -1)})
    result = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", method=METHODS))
    areas = dict(result.select("method", "auc").iter_rows())
    assert areas == {method: pytest.approx(1, rel=4e-16, abs=0) for method in METHODS}
    assert max(areas.values()) == 1
