"""Intervals of the average precision: published numbers, counts, invariance and errors."""

from __future__ import annotations

import math
from typing import Any

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from intervals import INTERVAL, ROUNDED, interval_of
from kinds import assert_rows, every_kind
from polars.testing import assert_frame_equal
from scipy import stats
from strategies import BY, FLOAT_WEIGHTS, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import DataError, OptionError

ROWS = pl.DataFrame(
    {
        "region": ["n"] * 6 + ["s"] * 5 + [None] * 2,
        "truth": [1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1],
        "score": [0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.7, 0.6, 0.6, 0.2, 0.1, 0.3, 0.2],
        "weight": [1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 1.0, 2.0, 1.0, 0.0, 0.25, 2.0, 1.0],
        "user": [1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 7],
    }
)


# --- published ---------------------------------------------------------------------------------


# Ten positives of average precision .7265384615: so many negatives rank above each.
BOYD = [0, 0, 0, 0, 3, 3, 5, 5, 15, 15]


def boyd_rows() -> pl.DataFrame:
    truth: list[bool] = []
    for above in BOYD:
        truth += [False] * (above - truth.count(False)) + [True]
    return pl.DataFrame({"truth": truth, "score": range(len(truth), 0, -1)})


@every_kind
def test_boyd_interval_is_the_published_one(kind):
    result = interval_of(kind, boyd_rows(), ci_method="boyd")
    assert result["average_precision"].item() == pytest.approx(0.7265384615, rel=1e-10)
    low, high = result.select("ci_low", "ci_high").row(0)
    assert (low, high) == pytest.approx((0.3981047, 0.9143253), rel=1e-7)
    # On the logit scale its width is (P AP (1 - AP)) ** -.5.
    area = 0.7265384615
    error = math.sqrt(area * (1 - area) / 10)
    assert result["std_error"].item() == pytest.approx(error, rel=1e-9)


@every_kind
def test_boyd_interval_takes_integer_counts(kind):
    counts = frame_prc.counts(boyd_rows(), "truth", "score")
    asked = {"score": "threshold", "pos": "pos", "neg": "neg", "ci": 0.9, "ci_method": "boyd"}
    result = frame_prc.average_precision(kind.make(counts), **asked)
    whole = frame_prc.average_precision(boyd_rows(), "truth", "score", ci=0.9, ci_method="boyd")
    assert_rows(kind, result, whole)


@every_kind
def test_error_of_four_rows_by_hand(kind):
    df = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1]})
    # AP = (1 + 2/3)/2 = 5/6. Moves: first positive (1 - 5/6 + 1/9)/2; second (2/3 - 5/6 + 1/9)/2;
    # the negative between them -(2/9)/2; the last one none.
    moves = [5 / 36, -1 / 36, -1 / 9]
    error = math.sqrt(sum(move**2 for move in moves))
    assert interval_of(kind, df)["std_error"].item() == pytest.approx(error, rel=1e-12)


@every_kind
@pytest.mark.parametrize(("positives", "n"), [(2, 5), (30, 100), (1, 3)])
def test_one_score_for_all_has_the_error_of_a_proportion(kind, positives, n):
    df = pl.DataFrame({"truth": [1] * positives + [0] * (n - positives), "score": [0.5] * n})
    share = positives / n
    error = math.sqrt(share * (1 - share) / n) if positives > 1 else None
    found = interval_of(kind, df)["std_error"].item()
    assert found is None if error is None else found == pytest.approx(error, rel=1e-12)


# How far Wallace's quantile is from Student's by degrees of freedom: at levels up to .95, and
# at .99.
ACCURACY = {
    1: (0.4, 1.25),
    2: (0.042, 0.13),
    4: (0.006, 0.016),
    8: (0.001, 0.0025),
    19: (2e-4, 3e-4),
    49: (3e-5, 4e-5),
    999: (1e-6, 1e-6),
}
LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99]


def spread_of(positives: int) -> pl.DataFrame:
    """Return positives and negatives in turn, each a cluster of its own."""
    rows = pl.DataFrame({"truth": [1, 0] * positives, "score": range(2 * positives, 0, -1)})
    return rows.with_columns(user=pl.int_range(pl.len()))


def quantile_of(row: dict[str, Any], df: pl.DataFrame) -> float:
    """Return how many standard errors an interval reaches on the logit scale.

    It reaches up from the area; where that end is rounded to 1, down from the area less its bias.
    """
    area, end = row["average_precision"], row["ci_high"]
    if end == 1:
        rows = segments(df.select("truth", "score"), None)[()]
        area, end = area - float(oracle.bias(rows)), row["ci_low"]
    reach = math.log(end) - math.log1p(-end) - math.log(area / (1 - area))
    return abs(reach) * area * (1 - area) / row["std_error"]


@every_kind
@pytest.mark.parametrize("degrees", ACCURACY)
@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("ci", LEVELS)
def test_width_is_that_of_students_t_by_scipy(kind, degrees, cluster, ci):
    df = spread_of(degrees + 1)
    found = interval_of(kind, df, ci=ci, cluster=cluster).row(0, named=True)
    exact = stats.t.isf((1 - ci) / 2, degrees) * math.sqrt((degrees + 1) / degrees)
    within = ACCURACY[degrees][ci > 0.95]
    assert quantile_of(found, df) == pytest.approx(exact, rel=within)


@every_kind
@pytest.mark.parametrize("degrees", [4, 8, 19])
def test_width_with_clusters_is_that_of_students_t_by_scipy(kind, degrees):
    twice = pl.concat([spread_of(degrees + 1)] * 2)
    found = interval_of(kind, twice, cluster="user").row(0, named=True)
    rows = segments(twice.select("truth", "score"), None)[()]
    users = twice["user"].to_list()
    more = oracle.of_squares(rows, users) / float(oracle.variance(rows, users))
    exact = stats.t.isf(0.025, degrees) * math.sqrt((degrees + 1) / degrees * (1 + more))
    assert more > 0
    assert quantile_of(found, twice) == pytest.approx(exact, rel=ACCURACY[degrees][0])


@every_kind
@pytest.mark.parametrize("ci", LEVELS)
def test_width_of_weighted_rows_is_that_of_students_t_by_scipy(kind, ci):
    df = spread_of(30).with_columns(weight=1.0 + pl.int_range(pl.len()) % 7)
    positives = df.filter(pl.col("truth") == 1)["weight"]
    effective = positives.sum() ** 2 / (positives**2).sum()  # 24.3
    found = interval_of(kind, df, ci=ci).row(0, named=True)
    exact = stats.t.isf((1 - ci) / 2, effective - 1) * math.sqrt(effective / (effective - 1))
    exact *= math.sqrt(1 + oracle.more_by_weights(positives))
    assert quantile_of(found, df) == pytest.approx(exact, rel=ACCURACY[19][ci > 0.95])


@every_kind
@pytest.mark.parametrize("degrees", ACCURACY)
@pytest.mark.parametrize("ci", LEVELS)
def test_so_many_errors_hold_the_level_if_they_are_students(kind, degrees, ci):
    """An estimate over its error is Student's t, but for what the error divides squares by."""
    df = spread_of(degrees + 1)
    found = quantile_of(interval_of(kind, df, ci=ci).row(0, named=True), df)
    beyond = 2 * stats.t.sf(found * math.sqrt(degrees / (degrees + 1)), degrees)
    if degrees >= 8:
        assert beyond == pytest.approx(1 - ci, rel=0.012)
    else:  # it holds more, but for levels of which a half or a fifth is left
        assert beyond <= (1 - ci) * (1.001 if ci >= 0.9 else 1.01)


@every_kind
@pytest.mark.parametrize(("positives", "within"), [(9, 2e-3), (20, 5e-4), (50, 1e-4)])
def test_p_value_is_that_of_students_t_by_scipy(kind, positives, within):
    base = spread_of(positives)
    other = base.with_columns(score=pl.when(pl.col("user") % 5 > 0).then("score").otherwise(0))
    parts = [base.with_columns(side=pl.lit("a")), other.with_columns(side=pl.lit("b"))]
    df = pl.concat(parts)
    areas = interval_of(kind, df, by="side").rows(named=True)
    logits = [math.log(row["average_precision"] / (1 - row["average_precision"])) for row in areas]
    errors = [
        row["std_error"] / (row["average_precision"] * (1 - row["average_precision"]))
        for row in areas
    ]
    errors_apart = (logits[0] - logits[1]) / math.hypot(*errors)
    t = abs(errors_apart) * math.sqrt((positives - 1) / positives)
    asked = {"by": "side", "against": "rest", "measure": "average_precision"}
    compared = frame_prc.compare_segments(kind.make(df), "truth", "score", **asked, details=True)
    for p_value in kind.rows(compared)["p_value"]:
        assert p_value == pytest.approx(2 * stats.t.sf(t, positives - 1), rel=within)


# --- from counts -------------------------------------------------------------------------------


SQUARES = {"pos_squares": "pos_squares", "neg_squares": "neg_squares"}
COUNTS = {"score": "threshold", "pos": "pos", "neg": "neg", "ci": 0.95}


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@given(st.data(), BY)
def test_interval_from_merged_counts_is_that_of_the_rows(kind, weight, data, by):
    df = data.draw(frames(SCORES_OR_NONE, FLOAT_WEIGHTS if weight else None))
    options = {"by": by, "missing": "unretrieved"}
    parts = [
        frame_prc.counts(part, "truth", "score", weight=weight, squares=True, **options)
        for part in (df.gather_every(2), df.gather_every(2, 1))
    ]
    merged = frame_prc.average_precision(
        kind.make(pl.concat(parts)), **COUNTS, **SQUARES, **options
    )
    whole = frame_prc.average_precision(df, "truth", "score", weight=weight, ci=0.95, **options)
    assert_rows(kind, merged, whole, **ROUNDED)


@every_kind
def test_squares_of_counts_are_sums_of_squared_weights(kind):
    df = pl.DataFrame(
        {"truth": [1, 1, 0, 0], "score": [2, 2, 2, 1], "weight": [1.0, 3.0, 2.0, 0.5]}
    )
    asked = {"truth": "truth", "score": "score", "squares": True}
    result = frame_prc.counts(kind.make(df), weight="weight", **asked)
    columns = ["threshold", "pos", "neg", "pos_squares", "neg_squares"]
    expected = pl.DataFrame(
        [(2, 4.0, 2.0, 10.0, 4.0), (1, 0.0, 0.5, 0.0, 0.25)], schema=columns, orient="row"
    )
    assert_rows(kind, result, expected)
    unweighted = pl.DataFrame([(2, 2, 1, 2, 1), (1, 0, 1, 0, 1)], schema=columns, orient="row")
    assert_rows(kind, frame_prc.counts(kind.make(df), **asked), unweighted)


# --- invariance --------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_thresholds_give_the_interval_of_the_binned_scores(kind, cluster, weight):
    options = {"by": "region", "weight": weight, "cluster": cluster}
    binned = interval_of(kind, ROWS, thresholds=[0.25, 0.5, 0.75], **options)
    lower = (pl.col("score") / 0.25).floor()
    rows = ROWS.with_columns(score=pl.when(lower > 0).then(lower))
    by_hand = interval_of(kind, rows, missing="unretrieved", **options)
    assert_frame_equal(binned.drop("ap_lowest", "ap_highest"), by_hand, **ROUNDED)


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_what_is_dropped_takes_nothing_below_the_thresholds_along(kind, cluster):
    holes = ROWS.with_columns(score=pl.when(pl.col("score") < 0.6).then("score"))
    options = {"by": "region", "cluster": cluster, "thresholds": [0.3, 0.5]}
    dropped = interval_of(kind, holes, missing="drop", **options)
    by_hand = interval_of(kind, holes.drop_nulls("score"), **options)
    assert_frame_equal(dropped.drop("n_dropped"), by_hand, **ROUNDED)


# --- edges -------------------------------------------------------------------------------------


EDGES = {
    "perfect": ([1, 1, 0], [3, 2, 1], (None, 0.025 ** (1 / 2), 1.0), "few_positives"),
    "perfect with a tie": ([1, 1, 0], [2, 2, 1], (None, 0.025 ** (1 / 2), 1.0), "few_positives"),
    "one perfect positive": ([1, 0], [2, 1], (None, 0.025, 1.0), "few_positives"),
    "nothing found": ([1, 1, 0], [None, None, 1], (None, 0.0, 1 - 0.025**0.5), "few_positives"),
    "one positive": ([0, 1, 0], [3, 2, 1], (None, None, None), "few_positives"),
    "no negatives": ([1, 1], [3, 2], (None, None, None), "no_negatives"),
    "no positives": ([0, 0], [3, 2], (None, None, None), "no_positives"),
    "no rows": ([], [], (None, None, None), "empty"),
}


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize(("truth", "score", "interval", "status"), EDGES.values(), ids=EDGES)
def test_edges(kind, weight, truth, score, interval, status):
    schema = {"truth": pl.Int64, "score": pl.Float64}
    df = pl.DataFrame({"truth": truth, "score": score}, schema=schema)
    rows = df.with_columns(weight=2.0) if weight else df
    result = interval_of(kind, rows, missing="unretrieved")
    assert result.select(*INTERVAL, "status").row(0) == pytest.approx((*interval, status))


@pytest.mark.parametrize("clustered", [False, True])
def test_one_slip_shows_no_higher_area_than_none(clustered):
    """Of 100 positives one ranks below a single negative: the area is .9999, and no trial failed.

    The lower limit is that of 100 trials without a failure.
    """
    truth = [True] * 99 + [False, True] + [False] * 900
    df = pl.DataFrame({"truth": truth, "score": range(len(truth), 0, -1)}).with_row_index("id")
    cluster = {"cluster": "id"} if clustered else {}
    found = frame_prc.average_precision(df, "truth", "score", ci=0.95, **cluster)
    low, high = found.select("ci_low", "ci_high").row(0)
    assert found["average_precision"].item() > 0.9998
    assert low == pytest.approx(0.025 ** (1 / 100), rel=1e-12)
    assert high < 1


@every_kind
def test_boyd_interval_is_undefined_at_one(kind):
    df = pl.DataFrame({"truth": [1, 1, 0], "score": [3, 2, 1]})
    result = interval_of(kind, df, ci_method="boyd")
    assert result.select(INTERVAL).row(0) == (None, None, None)


@every_kind
@pytest.mark.parametrize(
    ("positives", "weights", "users", "status"),
    [
        (19, None, None, "few_positives"),
        (20, None, None, "ok"),
        # One positive outweighs the others by far.
        (40, [1000.0] + [1.0] * 99, None, "few_positives"),
        (40, [3.0] * 100, None, "ok"),
        # Two positives in each cluster: as few clusters.
        (38, None, [row // 2 for row in range(100)], "few_clusters"),
        (42, None, [row // 2 for row in range(100)], "ok"),
        # Positives alone, and negatives in six clusters.
        (70, None, [row if row < 70 else 70 + row % 6 for row in range(100)], "few_negatives"),
        (80, None, None, "ok"),
        (81, None, None, "few_negatives"),
        # At odds of 60 w / 40 the 60 negatives go with 40 / w positives: enough are 20 sqrt(w).
        (40, [1.0] * 40 + [1.5] * 60, None, "ok"),
        (40, [1.0] * 40 + [1.6] * 60, None, "few_negatives"),
    ],
)
def test_few_rows_of_a_class_are_told(kind, positives, weights, users, status):
    truth = [1] * positives + [0] * (100 - positives)
    df = pl.DataFrame({"truth": truth, "score": [(7 * i) % 100 for i in range(100)]})
    if weights:
        df = df.with_columns(weight=pl.Series(weights))
    if users:
        df = df.with_columns(user=pl.Series(users))
    result = interval_of(kind, df, cluster="user" if users else None)
    assert result["status"].to_list() == [status]
    plain = frame_prc.average_precision(df, "truth", "score")
    assert plain["status"].to_list() == ["ok"]


@every_kind
def test_dropped_rows_are_in_no_interval(kind):
    df = ROWS.with_columns(score=pl.when(pl.col("user") != 2).then("score"))
    options = {"by": "region", "cluster": "user"}
    dropped = interval_of(kind, df, missing="drop", **options)
    assert dropped["n_dropped"].to_list() == [0, 2, 0]
    kept = interval_of(kind, ROWS.filter(pl.col("user") != 2), **options)
    assert_frame_equal(dropped.drop("n_dropped"), kept, **ROUNDED)


@every_kind
def test_signed_zeros_and_infinities_are_scores_of_clustered_rows(kind):
    df = pl.DataFrame(
        {
            "truth": [1, 0, 1, 0, 1],
            "score": [0.0, -0.0, float("inf"), -0.0, float("-inf")],
            "row": range(5),
        }
    )
    clustered, plain = (interval_of(kind, df, cluster=cluster) for cluster in ("row", None))
    assert_frame_equal(clustered.drop("status"), plain.drop("status"), **ROUNDED)


# --- errors ------------------------------------------------------------------------------------


AT_THE_CALL = {
    "level 0": ({"ci": 0}, "ci=0 is not a level"),
    "level near 0": ({"ci": 1e-16}, r"ci=1e-16 is too near 0. Allowed: at least 0\.01"),
    "level 1": ({"ci": 1.0}, r"ci=1\.0 is not a level.*between 0 and 1"),
    "level near 1": ({"ci": 1 - 1e-16}, r"ci=0\.9+ is too near 1. Allowed: at most 0\.9{15}\."),
    "level 95": ({"ci": 95}, r"ci=95 is not a level.*95 % is ci=0\.95"),
    "level NaN": ({"ci": float("nan")}, "ci=nan is not a level"),
    "level True": ({"ci": True}, "ci=True is not a level"),
    "level in words": ({"ci": "95%"}, "ci='95%' is not a level"),
    "method": ({"ci_method": "wald"}, "ci_method='wald' is not an option.*'influence', 'boyd'"),
    "method alone": ({"ci": None, "ci_method": "boyd"}, "ci_method= is given without ci="),
    "boyd of weights": (
        {"ci_method": "boyd", "weight": "weight"},
        "boyd.*does not support the weights in weight=",
    ),
    "boyd of clusters": (
        {"ci_method": "boyd", "cluster": "user"},
        "boyd.*does not support cluster=",
    ),
    "cluster as key": ({"by": "user", "cluster": "user"}, "'user' is named in by= and cluster="),
    "no such cluster": ({"cluster": "users"}, "cluster= names 'users'.*did you mean 'user'"),
    "cluster that is no column": ({"cluster": 3}, "cluster= takes columns, got 3"),
    "squares of rows": ({"pos_squares": "a", "neg_squares": "b"}, "without pos= and neg="),
    "squares of one class": ({"pos_squares": "a"}, "pos_squares= is given alone"),
}
COUNTED = pl.DataFrame({"score": [2.0, 1.0], "pos": [1.5, 1.0], "neg": [0.5, 2.0]})
FROM_COUNTS = {"score": "score", "pos": "pos", "neg": "neg", "ci": 0.95}


@every_kind
@pytest.mark.parametrize(("options", "says"), AT_THE_CALL.values(), ids=AT_THE_CALL)
def test_wrong_options_are_said_at_the_call(kind, options, says):
    asked = {"truth": "truth", "score": "score", "ci": 0.95, **options}
    with pytest.raises(frame_prc.PrcError, match=says):
        frame_prc.average_precision(kind.make(ROWS), **asked)


@every_kind
def test_sums_of_weights_need_their_squares(kind):
    with pytest.raises(OptionError, match=r"tests need the sums of squared weights.*squares=True"):
        frame_prc.average_precision(kind.make(COUNTED), **FROM_COUNTS)
    with pytest.raises(OptionError, match=r"squares=True cannot be computed from sums of weights"):
        frame_prc.counts(kind.make(COUNTED), score="score", pos="pos", neg="neg", squares=True)


@every_kind
def test_counts_have_no_clusters(kind):
    df = COUNTED.with_columns(user=1)
    with pytest.raises(OptionError, match="cluster= is given beside pos= and neg="):
        frame_prc.average_precision(kind.make(df), **FROM_COUNTS, cluster="user")


@every_kind
@pytest.mark.parametrize(
    "squares", [[3.0, 1.0], [0.0, 1.0], [-1.0, 1.0], [float("inf"), 1.0]], ids=str
)
def test_squares_that_cannot_be_are_refused(kind, squares):
    df = COUNTED.with_columns(p=pl.Series(squares), n=pl.Series([0.25, 4.0]))
    with pytest.raises(DataError, match="pos_squares= column 'p' has 1 row"):
        kind.rows(
            frame_prc.average_precision(
                kind.make(df), **FROM_COUNTS, pos_squares="p", neg_squares="n"
            )
        )


# --- few heavy rows ----------------------------------------------------------------------------

_N = 1000


def with_heavy(number: int, weight: float, *, of_class: bool) -> pl.DataFrame:
    """Return 300 positives and 700 negatives, of which so many of a class have a weight."""
    place = pl.int_range(_N)
    df = pl.DataFrame({"score": [i * 0.7548776662466927 % 1 for i in range(_N)]})
    df = df.with_columns(truth=place % 10 < 3)
    is_heavy = (pl.col("truth") == of_class) & (pl.col("score").cum_count().over("truth") <= number)
    return df.with_columns(weight=pl.when(is_heavy).then(weight).otherwise(1.0))


@pytest.mark.parametrize(
    ("number", "weight", "of_class", "effective", "status"),
    [
        (0, 1.0, True, 300, "ok"),
        (3, 30.0, True, 6, "few_positives"),
        (7, 30.0, False, 300, "few_negatives"),
        (12, 30.0, True, (288 + 360) ** 2 / (288 + 12 * 900), "ok"),
        (3, 3.0, True, (297 + 9) ** 2 / (297 + 27), "ok"),
        # All alike, as where a class was sampled.
        (700, 1.5, False, 300, "ok"),
    ],
)
def test_few_heavy_rows_of_a_class_count_as_few(number, weight, of_class, effective, status):
    df = with_heavy(number, weight, of_class=of_class)
    shared = {"weight": "weight", "details": True}
    area = frame_prc.average_precision(df, "truth", "score", ci=0.95, **shared)
    assert area["n_effective"].item() == pytest.approx(effective)
    assert area["status"].item() == status
    counts = frame_prc.counts(df, "truth", "score", weight="weight", squares=True)
    assert_frame_equal(
        frame_prc.average_precision(
            counts,
            score="threshold",
            pos="pos",
            neg="neg",
            pos_squares="pos_squares",
            neg_squares="neg_squares",
            ci=0.95,
            details=True,
        ),
        area,
    )
    # The heavy ones may be those that rank otherwise: no threshold is sure.
    target = {"recall": 0.8} if of_class else {"fpr": 0.1}
    sure = frame_prc.operating_points(df, "truth", "score", guarantee=0.95, **target, **shared)
    assert (sure["threshold"].item() is None) == (status != "ok")
    scaled = df.with_columns(pl.col("weight") * 1e6)
    again = frame_prc.average_precision(scaled, "truth", "score", ci=0.95, **shared)
    assert_frame_equal(again.drop("n", "n_pos"), area.drop("n", "n_pos"))
