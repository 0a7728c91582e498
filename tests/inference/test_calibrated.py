"""Calibrated areas and their intervals, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from exact import segments
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind
from polars.testing import assert_frame_equal
from strategies import FLOAT_WEIGHTS, INTEGER_WEIGHTS, SCORES_OR_NONE, SIMILAR_WEIGHTS, frames

import frame_prc
from frame_prc import OptionError
from frame_prc._curves import calibration
from frame_prc._request.specs import Calibration

AREA = "calibrated_average_precision"
PREVALENCES = st.sampled_from([Fraction(1, 50), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])


def calibrated(kind: Any, df: pl.DataFrame, calibrate: Any, **options: Any) -> pl.DataFrame:
    weight = "weight" if "weight" in df.columns else None
    options = {"missing": "unretrieved", "weight": weight, **options}
    frame = kind.make(df)
    return kind.rows(
        frame_prc.average_precision(
            frame, "truth", "score", calibrate=calibrate, **options, details=True
        )
    )


def rows_of(df: pl.DataFrame) -> list[oracle.Row]:
    weighted = df.filter(pl.col("weight") > 0) if "weight" in df.columns else df
    return segments(weighted, None)[()]


# --- the oracle --------------------------------------------------------------------------------


@given(frames(SCORES_OR_NONE, FLOAT_WEIGHTS, max_size=7), PREVALENCES)
def test_oracle_moves_are_derivatives(df, prevalence):
    rows = rows_of(df)
    if not all(oracle.totals(rows)):
        return
    step = Fraction(1, 10**8)
    for place, move in enumerate(oracle.calibrated_moves(rows, prevalence)):
        areas = [
            oracle.average_precision(
                oracle.calibrated(
                    [*rows[:place], rows[place]._replace(weight=weight), *rows[place + 1 :]],
                    prevalence,
                )
            )
            for weight in (rows[place].weight + step, rows[place].weight - step)
        ]
        found = float((areas[0] - areas[1]) / (2 * step))
        assert found == pytest.approx(float(move), rel=1e-3, abs=1e-6)


# --- areas and intervals -----------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    "weights", [None, INTEGER_WEIGHTS, SIMILAR_WEIGHTS], ids=["unweighted", "integer", "float"]
)
@pytest.mark.parametrize("clustered", [False, True])
@given(st.data(), PREVALENCES)
def test_area_and_error_equal_exact_arithmetic(kind, weights, clustered, data, prevalence):
    df = data.draw(frames(SCORES_OR_NONE, weights))
    users = data.draw(st.lists(st.integers(1, 4), min_size=df.height, max_size=df.height))
    df = df.with_columns(user=pl.Series(users, dtype=pl.Int64))
    cluster = "user" if clustered else None
    row = calibrated(kind, df, float(prevalence), ci=0.95, cluster=cluster).row(0, named=True)
    alone = calibrated(kind, df, float(prevalence)).row(0, named=True)
    assert alone[AREA] == (None if row[AREA] is None else pytest.approx(row[AREA], rel=1e-12))
    rows = rows_of(df)
    if not all(oracle.totals(rows)):
        assert [row[name] for name in (AREA, "std_error", "ci_low", "ci_high")] == [None] * 4
        return
    area = oracle.average_precision(oracle.calibrated(rows, prevalence))
    assert row[AREA] == pytest.approx(float(area), rel=1e-12)
    assert row["reference_prevalence"] == float(prevalence)
    kept = df.filter(pl.col("weight") > 0) if "weight" in df.columns else df
    groups = kept["user"].to_list() if clustered else range(kept.height)
    sums: dict[Any, Fraction] = {}
    for group, one, move in zip(
        groups, rows, oracle.calibrated_moves(rows, prevalence), strict=True
    ):
        sums[group] = sums.get(group, Fraction(0)) + one.weight * move
    effective = oracle.effective_positives(rows, list(groups))
    if area in (0, 1) or round(effective) < 2:
        assert row["std_error"] is None
        return
    error = math.sqrt(sum(moved**2 for moved in sums.values()))
    # Where all that clusters move cancels, rounding leaves a little.
    assert row["std_error"] == pytest.approx(error, rel=1e-8, abs=1e-8)


@every_kind
@pytest.mark.parametrize(
    "method", ["step", "trapezoid", "interpolated", "envelope", "11-point", "101-point"]
)
@given(frames(SCORES_OR_NONE), PREVALENCES)
def test_every_area_is_that_of_rows_with_the_weights_of_the_prevalence(
    kind, method, df, prevalence
):
    rows = rows_of(df)
    asked = {"missing": "unretrieved", "method": method, "calibrate": float(prevalence)}
    found = kind.rows(frame_prc.auc(kind.make(df), "truth", "score", **asked))["auc"].item()
    if not all(oracle.totals(rows)):
        assert found is None
        return
    expected = oracle.area(oracle.calibrated(rows, prevalence), method)
    assert found == pytest.approx(float(expected), rel=1e-9)


@every_kind
def test_pooled_is_the_prevalence_of_all_rows_of_a_model(kind):
    df = pl.DataFrame(
        {
            "key": list("aaabbbbb"),
            "truth": [1, 1, 0, 1, 0, 0, 0, 0],
            "one": [8.0, 6.0, 7.0, 3.0, 4.0, 2.0, 1.0, 0.0],
            "two": [1.0, None, 7.0, 3.0, 4.0, None, 1.0, 0.0],
        }
    )
    long = df.unpivot(["one", "two"], index=["key", "truth"], variable_name="m", value_name="score")
    asked = {"by": "key", "model": "m", "calibrate": "pooled", "missing": "drop"}
    table = kind.rows(frame_prc.average_precision(kind.make(long), "truth", "score", **asked))
    assert table["reference_prevalence"].to_list() == [3 / 8, 3 / 8, 2 / 6, 2 / 6]
    own = kind.rows(frame_prc.average_precision(kind.make(df), "truth", "one", calibrate="pooled"))
    plain = frame_prc.average_precision(df, "truth", "one")["average_precision"].item()
    assert own[AREA].item() == pytest.approx(plain, rel=1e-14)


@every_kind
def test_counts_and_bins_are_calibrated_as_rows_are(kind):
    df = pl.DataFrame(
        {"truth": [1, 0, 1, 0, 0, 1] * 20, "score": [i % 17 / 17 for i in range(120)]}
    )
    counts = df.prc.counts("truth", "score")
    asked = {"score": "threshold", "pos": "pos", "neg": "neg", "calibrate": 0.2, "ci": 0.95}
    of_counts = kind.rows(frame_prc.average_precision(kind.make(counts), **asked))
    of_rows = kind.rows(
        frame_prc.average_precision(kind.make(df), "truth", "score", calibrate=0.2, ci=0.95)
    )
    assert_frame_equal(of_counts, of_rows, rel_tol=1e-12)
    edges = sorted({i % 17 / 17 for i in range(120)})
    for cluster in (None, "row"):
        in_bins = kind.rows(
            frame_prc.average_precision(
                kind.make(df.with_row_index("row")), "truth", "score", calibrate=0.2, ci=0.95,
                thresholds=edges, cluster=cluster,
            )
        )  # fmt: skip
        assert_frame_equal(in_bins, of_rows, rel_tol=1e-9)


# --- the scorecard -----------------------------------------------------------------------------


REGIONS = pl.DataFrame(
    {
        "region": ["n", "s"] * 60,
        "truth": [i * 7 % 5 < 2 for i in range(120)],
        "score": [i * 37 % 101 for i in range(120)],
        "day": [i // 8 for i in range(120)],
    }
)


@every_kind
@pytest.mark.parametrize("cluster", [None, "day"])
@pytest.mark.parametrize("calibrate", ["pooled", 0.1])
def test_scorecard_has_the_intervals_of_average_precision(kind, cluster, calibrate):
    asked = {"by": "region", "cluster": cluster}
    card = kind.rows(
        frame_prc.summary(
            kind.make(REGIONS), "truth", "score", calibrate=calibrate, **asked, details=True
        )
    )
    own = frame_prc.average_precision(REGIONS, "truth", "score", ci=0.95, **asked, details=True)
    at = frame_prc.average_precision(
        REGIONS, "truth", "score", ci=0.95, calibrate=calibrate, **asked, details=True
    )
    names = ["std_error", "ci_low", "ci_high"]
    assert_frame_equal(card.select(names), own.select(names), rel_tol=1e-12)
    own = [f"{AREA}_{name}" for name in ("std_error", "low", "high")]
    found = card.select(AREA, "reference_prevalence", *own)
    renamed = (pl.col(n).alias(to) for n, to in zip(names, own, strict=True))
    expected = at.select(AREA, "reference_prevalence", *renamed)
    assert_frame_equal(found, expected, rel_tol=1e-12)


@every_kind
def test_mean_of_segments_that_share_clusters_takes_them_as_dependent(kind):
    asked = {"by": "region", "overall": True}
    rows = [
        kind.rows(
            frame_prc.summary(
                kind.make(REGIONS), "truth", "score", cluster=cluster, **asked, details=True
            )
        )
        for cluster in (None, "day")
    ]
    alone, by_day = (table.filter(level="macro").row(0, named=True) for table in rows)
    assert by_day["average_precision"] == alone["average_precision"]
    moved: dict[int, Fraction] = {}
    for region in ("n", "s"):
        side = REGIONS.filter(region=region)
        of_side = segments(side, None)[()]
        for day, move in zip(side["day"], oracle.moves(of_side), strict=True):
            moved[day] = moved.get(day, Fraction(0)) + move / 2
    error = math.sqrt(sum(move**2 for move in moved.values()))
    assert by_day["std_error"] == pytest.approx(error, rel=1e-9)


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"calibrate": 0}, "calibrate=0 is not a prevalence. Allowed: a number between 0 and 1"),
        ({"calibrate": 5}, "Hint: 5 % is calibrate=0.05"),
        (
            {"calibrate": "own"},
            "calibrate='own' is not a prevalence. Allowed: 'highest', 'pooled', or",
        ),
        ({"calibrate": 0.1, "bounds": True}, "bounds=True is given with calibrate="),
        ({"calibrate": 0.1, "ci": 0.9, "ci_method": "boyd"}, "ci_method='boyd' is given with"),
    ],
)
def test_what_cannot_be_calibrated_is_said_at_the_call(kind, options, says):
    with pytest.raises(OptionError, match=says):
        frame_prc.average_precision(kind.make(REGIONS), "truth", "score", **options)


@pytest.mark.parametrize("size", [500, 333, 100, 10])
def test_the_prevalence_of_weighted_rows_does_not_depend_on_how_columns_are_cut(size):
    # Polars cuts them by the number of threads, and adds up each part by itself.
    place = pl.int_range(1_000)
    amount = (place.hash(4) % 2**32) / 2**32 * 10 ** (place % 7).cast(pl.Float64)
    rows = pl.select(positives=amount, negatives=amount.reverse()).rechunk()
    cut = pl.concat([*rows.iter_slices(size)], rechunk=False)
    found = [
        calibration.reference_of_models(each.lazy(), Calibration(), []).collect()
        for each in (rows, cut)
    ]
    assert_frame_equal(*found, check_exact=True)
    assert found[0]["reference_prevalence"].item() == pytest.approx(0.5, rel=1e-14)
