"""Periods against a reference: a change is found, quiet ones seldom alarm, and a state goes on."""

import calendar
import re
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import frame_prc
from frame_prc._inference.distributions import student_quantile
from frame_prc._inference.random_effects import Series, _Paths, spreads
from frame_prc.exceptions import ColumnError, DataError, OptionError

KNOWN = 10**9  # degrees of freedom of what is as good as known


def rows(seed=0, weeks=20, size=250, *, bad_from=None, sites=1, positives=0.2):
    """Return weeks of rows, whose scores are worse from one of them on, at the first site."""
    random = np.random.default_rng(seed)
    week = np.repeat(np.arange(weeks), size * sites)
    site = np.tile(np.arange(sites), size * weeks)
    late = random.random(len(week)) < positives
    helps = np.full(len(week), 1.5)
    if bad_from is not None:
        helps[(week >= bad_from) & (site == 0)] = 0.0
    score = random.normal(size=len(week)) + helps * late
    return pl.DataFrame({"week": week, "site": site, "late": late, "score": score})


def watched(frame, by="week", **asked):
    given = {"over": "week", "plan": (8, 12)} | asked
    return frame_prc.monitor(frame, "late", "score", by=by, **given)


def test_a_change_is_found_where_it_begins():
    table = watched(rows(bad_from=14))
    assert table["conclusion"].to_list() == ["reference"] * 8 + ["quiet"] * 6 + ["alarm"] * 6
    assert table["since"].to_list() == [None] * 14 + [14] * 6
    assert table["status"].unique().to_list() == ["ok"]
    assert (
        table.filter(pl.col("week") >= 14).select((pl.col("value") < pl.col("limit")).all()).item()
    )


def test_quiet_weeks_seldom_alarm():
    tables = (watched(rows(seed)) for seed in range(30))
    assert sum("alarm" in table["conclusion"] for table in tables) <= 5


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("asked", "positives"), [({"measure": "roc_auc"}, 0.1), ({"window": 3}, 0.4)]
)
def test_quiet_weeks_alarm_in_at_most_five_percent(asked, positives):
    frames = (rows(seed, weeks=50, size=200, positives=positives) for seed in range(60))
    tables = (watched(frame, plan=(24, 26), **asked) for frame in frames)
    assert (
        sum("alarm" in table["conclusion"] for table in tables) <= 8
    )  # at 5 %, more happen once in 120 times


def first_alarms(ratio, drop, *, periods=8, looks=26, draws=600):
    """Return the first look that is an alarm, here and by Bonferroni, of periods of variance 1.

    They vary ``ratio`` times as much, and are lower by ``drop`` after the reference.
    """
    random, count = np.random.default_rng(5), periods + looks
    logits = np.sqrt(ratio) * random.normal(size=(draws, count))
    logits[:, periods:] -= drop
    series = [
        Series(one, np.ones(count), np.full(count, 1e9), periods, 1, -1.0, 1) for one in logits
    ]
    # All variances are in the same proportions, so the bounds are the same.
    bounds = [bound for *_, bound in series[0].looks(0.05, looks, ())]
    ours = np.array(
        [[z > bound for _, z, _, bound in one.looks(0.05, looks, bounds)] for one in series]
    )
    before, after = logits[:, :periods], logits[:, periods:]
    spread = np.sqrt((1 + 1 / periods) * before.var(axis=1, ddof=1, keepdims=True))
    limit = student_quantile(1 - 2 * 0.05 / looks, periods - 1)
    by_single = (before.mean(axis=1, keepdims=True) - after) / spread > limit
    return [np.where(one.any(axis=1), one.argmax(axis=1) + 1, np.inf) for one in (ours, by_single)]


@pytest.mark.parametrize("ratio", [1.0, 6.0])
def test_quiet_periods_that_vary_by_themselves_alarm_in_at_most_five_percent(ratio):
    ours, _ = first_alarms(ratio, 0.0)
    assert np.isfinite(ours).mean() < 0.068  # of 600 at 5 %, more happen once in 40 times


def test_a_lasting_drop_is_found_sooner_than_by_bonferroni():
    ours, by_single = first_alarms(1.0, 1.5, periods=12)
    assert np.median(ours) < 0.7 * np.median(by_single)
    assert np.isfinite(ours).mean() > np.isfinite(by_single).mean() + 0.1


@pytest.mark.parametrize(
    "asked", [{}, {"by": ["site", "week"]}, {"by": ["site", "week"], "adjust": "lond"}]
)
def test_a_state_goes_on_as_if_all_were_watched_at_once(asked):
    frame = rows(bad_from=15, sites=2 if "by" in asked else 1)
    expected = watched(frame, **asked, details=True)
    state = watched(frame.filter(pl.col("week") < 13), **asked, details=True)
    later = watched(frame.filter(pl.col("week") >= 13), **asked, details=True, state=state)
    assert_frame_equal(later, expected, rel_tol=1e-9)
    assert_frame_equal(watched(frame, **asked, details=True, state=state), expected, rel_tol=1e-9)


def test_bounds_keep_the_error_on_draws_of_their_own():
    random = np.random.default_rng(5)
    paths = _Paths(random.uniform(0.5, 2.0, 30), 0.1, 1, None, KNOWN)
    bounds = paths.bounds(0.05, 30, (), 30)
    weighted = paths.weighted(paths.drawn(20_000, seed=7))
    crossed = np.zeros(20_000, dtype=bool)
    shares = []
    for look, bound in enumerate(bounds):
        crossed |= paths.highest(weighted, look) > bound
        shares.append(crossed.mean())
    assert shares[-1] == pytest.approx(0.05, abs=0.006)
    assert shares[14] == pytest.approx(0.025, abs=0.004)  # half of it after half of the looks


def test_a_single_look_has_the_tail_of_student():
    for degrees, error in ((7, 0.05), (30, 0.05), (7, 0.001)):
        [bound] = _Paths(np.ones(1), 0.0, 1, None, degrees).bounds(error, 1, (), 1)
        assert bound == pytest.approx(student_quantile(1 - 2 * error, degrees), rel=0.03)


@pytest.mark.parametrize("degrees", [7, KNOWN])
def test_a_smaller_error_has_higher_bounds_that_keep_it_too(degrees):
    paths = _Paths(np.ones(10), 0.0, 1, None, degrees)
    wide, narrow = (paths.bounds(error, 10, (), 10) for error in (0.05, 0.005))
    assert all(np.array(narrow) > np.array(wide))
    crossed, scales = (
        np.zeros(200_000, dtype=bool),
        np.random.default_rng(4).chisquare(degrees, 200_000),
    )
    drawn = paths.drawn(200_000, seed=3) * np.sqrt(degrees / scales)[:, None]
    weighted = paths.weighted(drawn)
    for look, bound in enumerate(narrow):
        crossed |= paths.highest(weighted, look) > bound
    assert crossed.mean() == pytest.approx(0.005, abs=0.001)


def test_looks_are_differences_in_standard_deviations():
    as_sampled = np.sqrt(0.15)
    logits = np.array([0.0, as_sampled, -as_sampled, 0.0, -1.0, -1.2])
    series = Series(logits, np.full(6, 0.1), np.full(6, 1e9), 4, 1, -1.0, 1)
    (_, first, _, _), (_, second, length, _) = series.looks(0.05, 2, ())
    assert series.of_reference == pytest.approx(0.0)
    assert first == pytest.approx(1.0 / np.sqrt(0.1 + 0.1 / 4))
    assert second == pytest.approx(1.1 / np.sqrt(0.1 / 2 + 0.1 / 4))
    assert length == 2


def test_lond_allows_more_after_each_alarm():
    frame = rows(bad_from=10, sites=3)
    table = watched(frame, by=["site", "week"], adjust="lond", details=True)
    looks = table.filter(pl.col("bound").is_not_null()).sort("week", "site")
    alarms = 0
    for bound, degrees, conclusion in looks.select("bound", "degrees", "conclusion").rows():
        tail = 0.05 / (12 * 3) * (alarms + 1)
        assert bound == pytest.approx(student_quantile(1 - 2 * tail, degrees))
        alarms += conclusion == "alarm"
    assert alarms > 8


def side_by_side(random, taus, together=0.0, drop=0.0, sites=5, periods=8, looks=12):
    """Return series of variance 0.03 that vary by taus, a share of it together; one drops."""
    shape = (sites, periods + looks)
    own, common = random.normal(size=shape), random.normal(size=shape[1])
    moved = np.sqrt(1 - together) * own + np.sqrt(together) * common
    logits = random.uniform(*taus, size=(sites, 1)) * moved + random.normal(0, 0.03**0.5, shape)
    logits[0, periods:] -= drop
    variances, rows = np.full(shape[1], 0.03), np.full(shape[1], 1e9)
    series = [Series(one, variances, rows, periods, 1, -1.0, 1) for one in logits]
    lent = spreads(series)
    return [replace(one, spread=spread) for one, spread in zip(series, lent, strict=True)]


def has_alarm(series):
    tails = 2 * 0.05 / len(series) / 12
    limits = [student_quantile(1 - tails, one.degrees) for one in series]
    return [
        max(z for _, z in one.alone()) > limit for one, limit in zip(series, limits, strict=True)
    ]


def test_sites_lend_each_other_degrees_as_far_as_they_are_alike():
    def degrees(taus, together=0.0):
        random = np.random.default_rng(2)
        draws = [side_by_side(random, taus, together)[0].degrees for _ in range(100)]
        return np.median(draws)

    assert side_by_side(np.random.default_rng(2), (0.3, 0.3), sites=1)[0].degrees == 7
    assert degrees((0.3, 0.3)) > 21  # of at most 35
    assert degrees((0.0, 1.0)) < 14
    assert degrees((0.3, 0.3), together=1.0) < 14  # as of one site


@pytest.mark.thorough
@pytest.mark.parametrize(("taus", "together"), [((0.2, 0.2), 0), ((0, 0.5), 0), ((0.3, 0.3), 0.9)])
def test_quiet_sites_that_vary_alarm_in_at_most_five_percent(taus, together):
    random = np.random.default_rng(3)
    draws = [has_alarm(side_by_side(random, taus, together)) for _ in range(800)]
    assert np.mean([any(one) for one in draws]) < 0.066  # of 800 at 5 %, more once in 40 times


@pytest.mark.parametrize(
    ("tau", "drop", "least", "most"), [(0, 0, 0, 0.04), (0.2, 0, 0, 0.07), (0, 0.2, 0.18, 1)]
)
def test_equal_periods_hardly_alarm_and_those_that_drop_are_found(tau, drop, least, most):
    random = np.random.default_rng(5)
    variance, first, looks = 0.04, 8, 52
    found, bounds = [], ()
    for _ in range(150):
        logits = random.normal(0, np.sqrt(variance + tau**2), first + looks)
        logits[first:] -= drop
        size = len(logits)
        one = Series(logits, np.full(size, variance), np.full(size, 1e9), first, 1, -1.0, 1)
        seen = [*one.looks(0.05, looks, bounds)]
        bounds = [bound for *_, bound in seen]
        found.append(any(z > bound for _, z, _, bound in seen))
    assert least <= np.mean(found) < most


def test_windows_are_the_last_periods_together():
    frame = rows()
    table = watched(frame, window=3)
    for last in (1, 5, 8, 9, 12, 19):
        first = max(8 if last >= 8 else 0, last - 2)
        part = frame.filter(pl.col("week").is_between(first, last))
        area = frame_prc.average_precision(part, "late", "score")
        row = table.filter(week=last)
        assert row["value"].item() == pytest.approx(area["average_precision"].item(), rel=1e-12)
        assert row["n_pos"].item() == part["late"].sum()
    with pytest.raises(OptionError, match="window=5 is given with a reference of 8 periods"):
        watched(frame, window=5)


def test_the_delay_is_one_for_all_periods_and_within_the_plan():
    table = watched(rows(), details=True)
    [delay] = table["delay"].unique()
    assert delay is None or 1 <= delay <= 12


def test_the_delay_is_the_median_look_of_series_that_drop():
    drop = 0.5
    random = np.random.default_rng(3)
    variance, first, looks = 0.04, 8, 12

    def series(logits):
        return Series(logits, np.full(20, variance), np.full(20, 1e9), first, 1, -1.0, 1)

    as_sampled = np.resize([1.0, -1.0], first) * np.sqrt(variance * (first - 1) / first)
    quiet = series(np.concatenate([as_sampled, np.zeros(looks)]))
    bounds = [bound for *_, bound in quiet.looks(0.05, looks, ())]
    alarms = []
    for _ in range(800):
        reference = as_sampled + random.normal() * np.sqrt(variance / first)
        later = random.normal(size=looks) * np.sqrt(variance) - drop
        found = series(np.concatenate([reference, later])).looks(0.05, looks, bounds)
        over = [i for i, (_, z, _, bound) in enumerate(found, start=1) if z > bound]
        alarms.append(over[0] if over else np.inf)
    assert quiet.delay(0.05, looks, drop) == pytest.approx(np.median(alarms), abs=0.5)


@pytest.mark.parametrize("every", [1, 25])
def test_a_period_that_could_hardly_be_an_alarm_is_said_to_be_small(every):
    frame = rows().filter((pl.col("week") < 14) | (pl.int_range(pl.len()) % every == 0))
    later = watched(frame, measure="roc_auc").filter(pl.col("week") >= 14)
    # Less than a tenth of what the reference has beyond a random order.
    is_far = later["limit"] - 0.5 < (later["reference"] - 0.5) / 10
    assert is_far.any() == (every == 25)
    said = [("undecided", "few_positives") if one else ("quiet", "ok") for one in is_far]
    assert later.select("conclusion", "status").rows() == said
    areas = watched(frame, details=True).filter(pl.col("week") >= 14)
    assert ("undecided" in areas["conclusion"]) == (every == 25)
    # A random order has an average precision of about the share of positives.
    can_tell = areas.filter(pl.col("conclusion") == "quiet")
    assert (can_tell["limit"] > can_tell["n_pos"] / can_tell["n"]).all()


def stands_for_many(week):
    is_many = ~pl.col("late") & (pl.col("week") == week)
    return pl.when(is_many).then(100.0).otherwise(1.0)


@pytest.mark.parametrize(
    "asked",
    [{"weight": "stands_for"}, {"measure": "calibrated_average_precision", "calibrate": 0.003}],
    ids=str,
)
def test_periods_whose_negatives_stand_for_many_are_no_part_of_it(asked):
    sampled = rows(bad_from=14).with_columns(stands_for=pl.when("late").then(1.0).otherwise(100.0))
    table = watched(sampled, **asked, details=True)
    assert table["status"].unique().to_list() == ["few_negatives"]
    assert table["conclusion"].to_list() == ["reference"] * 8 + ["undecided"] * 12
    assert table["value"].null_count() == 0
    assert_frame_equal(watched(sampled, **asked, details=True, state=table), table)
    # What is said of the scores comes first, and after the last look that the plan has ended.
    two = sampled.with_columns(score=pl.col("score") > 1).cast({"score": pl.Int64})
    assert "few_scores" in watched(two, **asked)["status"]
    ended = watched(
        sampled.with_columns(stands_for=stands_for_many(14)), weight="stands_for", plan=(8, 4)
    )
    assert ended["status"].to_list()[12:] == ["plan_ended"] * 8
    # Of the area under the ROC curve a negative is compared with each positive by itself.
    areas = watched(sampled, weight="stands_for", measure="roc_auc")
    assert areas["conclusion"].to_list()[14:] == ["alarm"] * 6


def test_the_reference_and_the_limit_stand_beside_the_values():
    table = watched(rows(size=60, weeks=12, bad_from=11), plan=(8, 4), details=True)
    first = table.filter(conclusion=pl.lit("reference"))
    assert first["value"].min() < table["reference"][0] < first["value"].max()
    # Areas of few rows are too high, and what is compared is less: the limit is shown as high.
    alone = table.filter(
        pl.col("conclusion").is_in(["quiet", "undecided", "alarm"]) & (pl.col("n_periods") == 1)
    )
    is_beyond = alone["value"] < alone["limit"]
    assert is_beyond.to_list() == (alone["conclusion"] == "alarm").to_list()
    assert 0 < is_beyond.sum() < table.height


def test_what_comes_after_the_plan_and_without_a_reference_is_said():
    late = watched(rows(), plan=(8, 5))
    assert late["status"].to_list() == ["ok"] * 13 + ["plan_ended"] * 7
    assert late["conclusion"].to_list()[13:] == [None] * 7
    frame = rows().with_columns(late=pl.col("late") & (pl.col("week") > 7))
    table = watched(frame)
    assert table["status"].to_list()[8:] == ["no_reference"] * 12


def test_means_of_scores_alarm_in_both_directions():
    for shift in (0.2, -0.2):
        frame = rows().with_columns(score=pl.col("score").tanh() / 4 + 0.5)
        moved = pl.when(pl.col("week") >= 14).then(shift).otherwise(0.0)
        table = watched(frame.with_columns(score=pl.col("score") + moved), measure="mean_score")
        assert table["conclusion"].to_list()[14:] == ["alarm"] * 6


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"plan": 8}, OptionError, "plan=8 is not a plan"),
        ({"plan": (1, 5)}, OptionError, r"plan=\(1, 5\) is not a plan"),
        ({"window": 0}, OptionError, "window=0 is out of range"),
        ({"adjust": "holm"}, OptionError, "adjust='holm'"),
        ({"over": "day"}, ColumnError, "over='day'"),
        ({"measure": "calibrated_average_precision"}, OptionError, "calibrate="),
        ({"state": pl.DataFrame({"week": [1]})}, DataError, "state= has no column"),
        ({"state": "state.parquet"}, OptionError, "state= is of type str"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, error, said):
    with pytest.raises(error, match=said):
        watched(rows(), **asked)


def test_rows_without_a_period_are_beside_the_others():
    frame = rows(weeks=21).with_columns(week=pl.when(pl.col("week") != 3).then("week"))
    table = watched(frame)
    assert table.filter(pl.col("week").is_null())["status"].to_list() == ["no_period"]
    known = watched(frame.drop_nulls("week"))
    assert_frame_equal(table.drop_nulls("week"), known)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"plan": (5, 12)}, "state= has the plan '8 periods, 12 looks"),
        ({"ci": 0.9}, "state= has the plan"),
        ({"measure": "roc_auc"}, "state= has the measure"),
    ],
)
def test_a_state_of_another_plan_or_measure_is_refused(asked, said):
    state = watched(rows(), details=True)
    with pytest.raises(DataError, match=said):
        watched(rows(), **asked, state=state)


def test_a_state_of_other_thresholds_is_refused():
    asked = {"by": ["site", "week"], "measure": "recall", "details": True}
    frame, sites = rows().with_columns(site=pl.lit("a")), pl.DataFrame({"site": ["a"]})
    state = watched(frame, at=sites.with_columns(threshold=0.5), **asked)
    watched(frame, at=sites.with_columns(threshold=0.5, recall=0.9), state=state, **asked)
    with pytest.raises(DataError, match=r"has the plan .* is asked for"):
        watched(frame, at=sites.with_columns(threshold=0.6), state=state, **asked)


@pytest.mark.parametrize(
    "broken",
    [
        lambda state: pl.concat([state, state]),
        lambda state: state.tail(5),
        lambda state: state.with_columns(bound=pl.lit("a")),
    ],
    ids=["twice", "in part", "text"],
)
def test_a_broken_state_is_refused(broken):
    state = watched(rows(), details=True)
    with pytest.raises(DataError, match="state="):
        watched(rows(), state=broken(state), details=True)


@pytest.mark.parametrize("kept", [9, 12])
def test_windows_go_on_from_a_state_whatever_rows_are_left(kept):
    frame = rows()
    expected = watched(frame, window=3, details=True)
    state = watched(frame.filter(pl.col("week") < 14), window=3, details=True)
    later = watched(frame.filter(pl.col("week") >= kept), window=3, state=state, details=True)
    assert_frame_equal(later, expected, rel_tol=1e-9)


def test_a_segment_that_is_new_has_periods_of_its_own():
    frame = rows(sites=3, bad_from=16)
    known = frame.filter((pl.col("site") < 2) & (pl.col("week") < 13))
    state = watched(known, by=["site", "week"], details=True)
    table = watched(frame, by=["site", "week"], state=state, details=True)
    assert table.filter(site=2)["conclusion"].to_list()[:9] == ["reference"] * 8 + ["quiet"]
    assert table.filter(site=2)["error"].unique().to_list() == [pytest.approx(0.05 / 3)]
    assert table.filter(site=0)["error"].unique().to_list() == [pytest.approx(0.05 / 2)]


def test_a_measure_that_falls_to_its_end_is_an_alarm():
    frame = rows()
    lost = pl.col("score") - pl.when(pl.col("week") >= 15).then(100).otherwise(0)
    asked = {"measure": "recall", "at": {"threshold": 0.0}}
    table = watched(frame.with_columns(score=lost), **asked)
    assert table["conclusion"].to_list()[15:] == ["alarm"] * 5


@pytest.mark.parametrize("measure", ["log_loss", "calibration_gap", "brier_skill", "mcc"])
def test_values_are_those_of_the_scorecard_on_any_scale(measure):
    frame = rows().with_columns(score=pl.col("score").tanh() / 4 + 0.5)
    at = {"threshold": 0.6} if measure == "mcc" else None
    table = watched(frame, measure=measure, at=at, details=True)
    card = frame_prc.summary(frame, "late", "score", by="week", measures=[measure], at=at)
    assert table["value"].to_list() == pytest.approx(card[measure].to_list(), rel=1e-12)
    state = watched(frame.filter(pl.col("week") < 13), measure=measure, at=at, details=True)
    later = watched(frame, measure=measure, at=at, details=True, state=state)
    assert_frame_equal(later, table, rel_tol=1e-9)


@pytest.mark.parametrize("measure", ["brier", "log_loss", "brier_skill", "observed_expected"])
def test_a_small_loss_is_compared_with_losses_as_small(measure):
    late = pl.col("late").cast(pl.Float64)
    frame = rows().with_columns(score=0.02 + 0.96 * late + pl.int_range(pl.len()) % 7 / 1000)
    table = watched(frame, measure=measure, details=True)
    first = table.filter(conclusion=pl.lit("reference"))["value"]
    assert first.min() <= table["reference"][0] <= first.max()


def test_text_is_in_the_order_of_its_numbers():
    named = rows(weeks=12).with_columns(week="W" + pl.col("week").cast(pl.String))
    by_verb = {
        r"monitor\(\)": lambda frame: watched(frame, plan=(8, 4)),
        "against='previous'": lambda frame: frame_prc.compare_segments(
            frame, "late", "score", by="week", against="previous"
        ),
    }
    for what, verb in by_verb.items():
        with pytest.raises(
            DataError, match=f"{what} goes by the order of 'week', and as text 'W11'"
        ):
            verb(named)
        padded = named.with_columns(week="2025-" + pl.col("week").str.slice(1).str.zfill(2))
        assert verb(padded).height == 12


@pytest.mark.parametrize(
    ("form", "hint"),
    [
        ("%d.%m.%Y", r"pl.col('week').str.to_date('%d.%m.%Y') makes dates"),
        ("%d/%m/%Y", r"pd.to_datetime(frame['week'], format='%d/%m/%Y')"),
        ("%m/%d/%Y", r"'%m/%d/%Y'"),
        ("%b %Y", "with the year first and months as numbers"),
        ("%d %B %Y", "with the year first"),
        ("%Y-%b", "months as numbers"),
        ("%b-%y", "with the year first"),
        ("W%V %G", "with the year first"),
        ("%m.%Y", "with the year first"),
    ],
)
def test_dates_in_text_that_do_not_sort_as_dates_are_refused(form, hint):
    days = [date(2024, 10, 7) + timedelta(weeks=2 * n) for n in range(12)]
    dated = rows(weeks=12).with_columns(pl.col("week") - pl.col("week").min())

    def named(form, days):
        texts = pl.Series([day.strftime(form) for day in days])
        return dated.with_columns(week=pl.lit(texts).gather(pl.col("week")))

    for text in (pl.String, pl.Categorical):
        with pytest.raises(DataError, match=re.escape(hint)) as raised:
            watched(named(form, days).cast({"week": text}), plan=(8, 4))
        assert "goes by the order of 'week', and as text" in str(raised.value)
    # Within one year, or with the year first, this is in order.
    for own in ("%m/%d/%Y", "W%V %G", "%m.%Y", "%Y-%m-%d", "%Y%m%d", "%Y-%m-%d %H:%M"):
        early = [day - timedelta(weeks=38) for day in days]
        assert watched(named(own, early), plan=(3, 4)).height >= 6


@pytest.mark.parametrize("names", [calendar.month_abbr[1:], calendar.month_name[1:]])
def test_months_as_text_are_in_the_order_of_the_year(names):
    month = pl.lit(pl.Series([*names])).gather(pl.col("week") - pl.col("week").min())
    named = rows(weeks=12).with_columns(week=month)
    for text in (pl.String, pl.Categorical):
        of_text = named.with_columns(pl.col("week").cast(text))
        with pytest.raises(DataError, match=r"text 'Dec.*' comes before 'Feb.*pl.Enum"):
            watched(of_text, plan=(8, 4))
    table = watched(named.with_columns(pl.col("week").cast(pl.Enum([*names]))), plan=(8, 4))
    assert table["week"].to_list() == [*names]
