"""Decisions at the prevalence of deployment, against weights and rates in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal, assert_series_equal
from scipy.stats import t as student
from strategies import DYADIC_WEIGHTS, TIED_SCORES, frames

import frame_prc
from frame_prc import ColumnError, DataError, Draws, OptionError

TARGETS = {
    "recall": 0.5,
    "precision": 0.3,
    "threshold": [0.25, 0.6],
    "f_beta": 1,
    "predicted_rate": 0.4,
    "predicted_count": 2,
    "fpr": 0.3,
    "cost": (1, 3),
}
BY = {"by": "segment", "details": True}


def there(df, prevalence):
    """Return rows with the weight that each has where the prevalence is another one."""
    totals = {
        key: [sum(row.weight for row in rows if row.truth is one) for one in (True, False)]
        for (key,), rows in segments(df, "segment").items()
    }

    def weight(segment, truth, own):
        of_class = totals.get(segment, [0, 0])
        if 0 in of_class:
            return float(own)
        share = Fraction(prevalence) if truth else 1 - Fraction(prevalence)
        return float(Fraction(own) * share * sum(of_class) / of_class[0 if truth else 1])

    own = df["weight"] if "weight" in df.columns else [1] * df.height
    rows = zip(df["segment"], df["truth"], own, strict=True)
    return df.with_columns(there=pl.Series([weight(*row) for row in rows], dtype=pl.Float64))


def rates(rows, threshold):
    """Return recall and false positive rate."""
    of_class = {one: [row for row in rows if row.truth is one] for one in (True, False)}
    reached = [
        sum(row.weight for row in some if row.score >= threshold) / sum(row.weight for row in some)
        for some in of_class.values()
    ]
    return tuple(map(Fraction, reached))


@every_kind
@pytest.mark.parametrize("weights", [None, DYADIC_WEIGHTS], ids=["rows", "weights"])
@given(data=st.data(), prevalence=st.sampled_from([1 / 64, 1 / 4, 7 / 8]))
def test_points_are_those_of_rows_that_weigh_as_much_as_there(kind, weights, data, prevalence):
    df = data.draw(frames(TIED_SCORES, weights))
    weight = {} if weights is None else {"weight": "weight"}
    found = frame_prc.operating_points(
        kind.make(df), "truth", "score", calibrate=prevalence, **weight, **BY, **TARGETS
    )
    expected = there(df, prevalence).prc.operating_points(
        "truth", "score", weight="there", **BY, **TARGETS
    )
    rows = kind.rows(found)
    assert rows["reference_prevalence"].drop_nulls().is_in([prevalence]).all()
    same = rows.drop("reference_prevalence")
    assert_frame_equal(same, expected.select(same.columns), rel_tol=1e-9, abs_tol=1e-12)


@every_kind
def test_a_table_of_thresholds_is_that_of_rows_that_weigh_as_much_as_there(kind):
    asked = {"cost": (1, 5), **BY}
    found = frame_prc.threshold_table(kind.make(ROWS), "truth", "old", calibrate=1 / 16, **asked)
    weighted = there(ROWS, 1 / 16)
    expected = weighted.prc.threshold_table("truth", "old", weight="there", **asked)
    same = kind.rows(found).drop("reference_prevalence")
    counts = pl.col("tp", "fp", "predicted_count", "fn", "tn")
    per_1000 = counts * 1000 / pl.sum_horizontal("tp", "fp", "fn", "tn")
    assert_frame_equal(same, expected.with_columns(per_1000), rel_tol=1e-9)
    assert_series_equal(same["alerts_per_1000"], same["tp"] + same["fp"], check_names=False)


def _rows(n=600, seed=0):
    random = np.random.default_rng(seed)
    truth = random.random(n) < 0.4
    score = random.normal(size=n) + 1.5 * truth
    names = {"segment": np.arange(n) % 2, "day": np.arange(n) % 60}
    return pl.DataFrame({"truth": truth, "score": score, "old": score.round(1), **names})


ROWS = _rows()


@every_kind
@pytest.mark.parametrize("calibrate", ["pooled", "highest"])
def test_the_prevalence_is_that_of_calibrated_areas(kind, calibrate):
    models = {"score": "score", "tied": "old"}
    asked = {"calibrate": calibrate, **BY}
    areas = frame_prc.average_precision(ROWS, "truth", models, **asked)
    found = kind.rows(
        frame_prc.operating_points(kind.make(ROWS), "truth", models, recall=0.7, **asked)
    )
    assert found["reference_prevalence"].to_list() == areas["reference_prevalence"].to_list()
    [same] = areas["reference_prevalence"].unique()
    assert_frame_equal(
        found,
        ROWS.prc.operating_points("truth", models, recall=0.7, **{**asked, "calibrate": same}),
    )


@every_kind
def test_counts_have_the_points_of_their_rows(kind):
    counts = ROWS.prc.counts("truth", "old", by="segment")
    amounts = {"score": "threshold", "pos": "pos", "neg": "neg"}
    asked = {"calibrate": "pooled", **BY, **TARGETS}
    found = kind.rows(frame_prc.operating_points(kind.make(counts), **amounts, **asked))
    expected = ROWS.prc.operating_points("truth", "old", **asked)
    assert_frame_equal(found, expected, rel_tol=1e-12)


def seen_from(prevalence, share, pos, neg):
    """Return a precision of so many positives and negatives as it is at another prevalence."""
    odds = share / (1 - share) * neg / pos * prevalence / (1 - prevalence)
    return odds / (1 + odds)


def by_influence(df, threshold, prevalence, units):
    """Return the interval of the precision, from how far each unit moves it, of given classes."""
    truth, reached = df["truth"].to_numpy(), df["score"].to_numpy() >= threshold
    hits, size = reached & truth, reached
    p = hits.sum() / size.sum()
    of_class = np.where(truth, 1 / truth.sum(), -1 / (~truth).sum())
    moved = (hits - p * size) / size.sum() - p * (1 - p) * of_class
    sums = np.array(
        [[one[units == unit].sum() for unit in np.unique(units)] for one in (moved, size)]
    )
    shares = np.sum((sums[1] / size.sum()) ** 2)
    variance = np.sum(sums[0] ** 2) / (1 - shares)
    # Not more than as many independent rows would tell, of classes of given sizes.
    recall, fpr = (reached[truth == one].mean() for one in (True, False))
    most = reached.sum() / ((1 - recall) * (1 - p) + (1 - fpr) * p)
    least = p * (1 - p) * reached.sum() / (reached.sum() - 1) / most
    error = np.sqrt(max(variance, least))
    half = student.isf(0.025, 1 / shares - 1) * error / (p * (1 - p))
    ends = oracle.skewed_limits(p, half)
    classes = truth.sum(), (~truth).sum()
    return tuple(seen_from(prevalence, end, *classes) for end in ends)


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
@pytest.mark.parametrize("prevalence", [0.02, 0.6])
def test_limits_are_those_of_as_many_rows_as_the_influences_tell(kind, cluster, prevalence):
    asked = {"threshold": 1.0, "ci": 0.95, "cluster": cluster, "details": True}
    found = frame_prc.operating_points(
        kind.make(ROWS), "truth", "score", calibrate=prevalence, **asked
    )
    [row] = kind.rows(found).to_dicts()
    units = (ROWS["day"] if cluster else pl.int_range(ROWS.height, eager=True)).to_numpy()
    expected = by_influence(ROWS, 1.0, prevalence, units)
    assert (row["precision_low"], row["precision_high"]) == pytest.approx(expected, rel=2e-3)
    assert row["status"] == "ok"
    [own] = ROWS.prc.operating_points("truth", "score", **asked).to_dicts()
    for name in ("recall", "recall_low", "recall_high"):
        assert row[name] == pytest.approx(own[name], rel=1e-9)


@every_kind
@pytest.mark.parametrize("threshold", [-9.0, 1.0])
def test_limits_are_apart_where_all_rows_or_all_positives_are_retrieved(kind, threshold):
    df = ROWS.with_columns(score=pl.when("truth").then(9.0).otherwise("score"))
    asked = {"threshold": threshold, "ci": 0.95, "calibrate": 0.1, "details": True}
    [row] = kind.rows(
        frame_prc.operating_points(kind.make(df), "truth", "score", **asked)
    ).to_dicts()
    low, high = row["precision_low"], row["precision_high"]
    assert low + 5e-4 < row["precision"] < high - 5e-4
    assert high - low < 0.15


@every_kind
def test_chosen_thresholds_and_guarantees_are_those_of_the_prevalence(kind):
    asked = {"recall": 0.6, "precision": 0.2, "calibrate": 0.05, **BY}
    for more in ({"ci": 0.9}, {"ci": 0.9, "guarantee": 0.9}):
        found = kind.rows(
            frame_prc.operating_points(kind.make(ROWS), "truth", "score", **asked, **more)
        ).drop_nulls("precision")
        for rate in ("precision", "recall"):
            low, value, high = (found[f"{rate}{end}"] for end in ("_low", "", "_high"))
            assert ((low < value) & (value < high)).all()
    plain = ROWS.prc.operating_points("truth", "score", recall=0.6, guarantee=0.9, **BY)
    recalls = found.filter(target="recall=0.6")
    # The positives weigh alike, so as many of them keep the recall.
    assert recalls["threshold"].to_list() == plain["threshold"].to_list()


@every_kind
def test_a_band_is_that_of_the_rows_seen_from_there(kind):
    asked = {"recalls": [0.2, 0.5, 0.8], "bootstrap": Draws(50)}
    plain = ROWS.prc.band("truth", "old", **asked)
    pos, neg = ROWS["truth"].sum(), (~ROWS["truth"]).sum()
    precisions = [
        seen_from(0.1, plain[f"precision{end}"], pos, neg) for end in ("", "_low", "_high")
    ]
    expected = plain.with_columns(precisions)
    found = frame_prc.band(kind.make(ROWS), "truth", "old", calibrate=0.1, **asked)
    assert_frame_equal(kind.rows(found), expected, rel_tol=1e-12)
    weighted = there(ROWS.with_columns(segment=0), Fraction(1, 10))
    points = weighted.prc.band("truth", "old", weight="there", **asked)
    assert_frame_equal(expected.select("precision"), points.select("precision"), rel_tol=1e-9)
    counts = {"score": "threshold", "pos": "pos", "neg": "neg"}
    of_counts = ROWS.prc.counts("truth", "old").prc.band(**counts, calibrate=0.1, **asked)
    assert_frame_equal(of_counts, expected, rel_tol=1e-12)


def test_a_threshold_with_few_false_positives_has_limits_of_use():
    df = pl.DataFrame({"truth": [True] * 100 + [False] * 1000}).with_columns(
        score=pl.when(pl.int_range(pl.len()).is_in([*range(40), 200])).then(1.0).otherwise(0.0)
    )
    [row] = df.prc.operating_points(
        "truth", "score", threshold=1, calibrate=0.01, ci=0.95, details=True
    ).to_dicts()
    # By the rates of both classes: one of 1,000 negatives may be 0.00003 to 0.0056.
    assert row["precision"] == pytest.approx(0.01 * 0.4 / (0.01 * 0.4 + 0.99 * 0.001))
    assert 0.3 < row["precision_low"] < 0.5
    assert 0.94 < row["precision_high"] < 0.99


@pytest.mark.parametrize(
    ("verb", "options", "says"),
    [
        ("operating_points", {"calibrate": 2, "recall": 0.5}, "calibrate=2"),
        (
            "operating_points",
            {"calibrate": 0.1, "predicted_count": frame_prc.Top(3, ties="expected")},
            "ties='expected' is given with calibrate=",
        ),
    ],
)
def test_what_does_not_fit_is_refused(verb, options, says):
    with pytest.raises(OptionError, match=says):
        getattr(frame_prc, verb)(ROWS, "truth", "score", **options)


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("operating_points", {"threshold": 0.5, "ci": 0.9}),
        ("operating_points", {"recall": 0.5, "guarantee": 0.9}),
    ],
)
def test_limits_at_another_prevalence_need_single_rows(verb, options):
    counts = ROWS.prc.counts("truth", "old")
    with pytest.raises(OptionError, match=r"calibrate= is given with .*are counts.*single rows"):
        getattr(counts.prc, verb)(score="threshold", pos="pos", neg="neg", calibrate=0.1, **options)


@every_kind
@given(frames(TIED_SCORES, max_size=30), st.sampled_from([1 / 64, 1 / 4, 7 / 8]))
def test_the_limits_of_a_curve_are_those_of_points(kind, df, prevalence):
    asked = {"calibrate": prevalence, "ci": 0.9, "by": "segment"}
    points = frame_prc.operating_points(kind.make(df), "truth", "score", threshold=0.4, **asked)
    curve = frame_prc.curve(kind.make(df), "truth", "score", thresholds=[0.4], start=None, **asked)
    keys = pl.col("segment").cast(pl.String)
    points, curve = (kind.rows(one).sort(keys) for one in (points, curve))
    both = df.group_by("segment").agg(pl.col("truth").n_unique()).filter(pl.col("truth") == 2)
    in_both = pl.col("segment").is_in(both["segment"].to_list(), nulls_equal=True)
    for end in ("low", "high"):
        found = curve.filter(in_both)[f"precision_calibrated_{end}"].to_list()
        wanted = points.filter(in_both)[f"precision_{end}"].to_list()
        assert found == [None if one is None else pytest.approx(one, rel=1e-9) for one in wanted]


# --- a prevalence for each segment -------------------------------------------------------------

OF_REGIONS = pl.DataFrame({"row": range(240)}).select(
    region=pl.col("row").replace_strict({0: None}, default=pl.Series(["n", "s"] * 120)),
    late=pl.col("row") * 7 % 11 < 3,
    score=pl.col("row") * 7919 % 601,
)
THERE = pl.DataFrame({"region": ["s", None, "n"], "prevalence": [0.125, 0.5, 0.25]})


@every_kind
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("operating_points", {"recall": 0.5, "predicted_rate": 0.25, "details": True}),
        ("threshold_table", {"details": True}),
        ("average_precision", {"ci": 0.9, "details": True}),
        ("summary", {"details": True}),
        ("auc", {"method": ["trapezoid", "interpolated"], "details": True}),
        ("curve", {"ci": 0.9}),
        ("band", {"recalls": 4, "bootstrap": Draws(50, seed=1)}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_segments_may_have_a_prevalence_each(kind, verb, options):
    call = getattr(frame_prc, verb)
    named = {"truth": "late", "score": "score", "by": "region", **options}
    found = kind.rows(call(kind.make(OF_REGIONS), calibrate=kind.make(THERE), **named))
    # A band resamples all segments together.
    of_all = {p: call(OF_REGIONS, calibrate=p, **named) for p in THERE["prevalence"]}
    of_each = [
        of_all[p].filter(pl.col("region").eq_missing(region)) for region, p in THERE.iter_rows()
    ]
    expected = pl.concat([of_each[place] for place in (1, 2, 0)])
    assert_frame_equal(found.select(expected.columns), expected, rel_tol=1e-9, check_dtypes=False)


@every_polars_kind
@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (THERE[:2], DataError, "calibrate= has no prevalence for segment 'n'"),
        (THERE[[0, 1, 2, 2]], DataError, "calibrate= has several prevalences for segment 'n'"),
        (THERE.with_columns(prevalence=2.0), DataError, "the prevalence 2.0 for 3 segments"),
        (THERE.rename({"prevalence": "share"}), ColumnError, "without a column 'prevalence'"),
        (THERE.with_columns(prevalence=pl.lit("")), ColumnError, "'prevalence' has dtype String"),
        (THERE.with_columns(week=1), ColumnError, "a column 'week', which is no key here"),
        ({"n": 0.1}, OptionError, "calibrate= is of type dict. Allowed: a number, 'highest'"),
    ],
)
def test_prevalences_of_segments_are_checked(kind, given, error, says):
    with pytest.raises(error, match=says):
        kind.rows(
            frame_prc.operating_points(
                kind.make(OF_REGIONS), "late", "score", by="region", recall=0.5, calibrate=given
            )
        )
