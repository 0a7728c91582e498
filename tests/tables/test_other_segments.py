"""Segments compared with the mean of the other segments, each ranked by itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import polars as pl
import pytest
from comparisons import ROWS, assert_test, by_definition, compared, moved_by, sums
from exact import segments
from kinds import every_kind
from polars.testing import assert_frame_equal

# A segment with a missing key, one without positives, and clusters in several segments.
MANY = pl.concat(
    [
        ROWS,
        ROWS.with_columns(
            pl.col("region").fill_null("w") + "2", old="third", user=12 - 2 * pl.col("user")
        ),
        ROWS.head(3).with_columns(region=pl.lit("none"), truth=pl.lit(0, pl.Int64)),
    ]
)
TEST = ["value_a", "value_b", "difference", "std_error", "ci_low", "ci_high", "p_value"]
OTHERS = {"by": "region", "against": "others"}


def others_by_definition(
    df: pl.DataFrame, own: Any, prevalence: Fraction | None, clusters: str
) -> tuple[Any, dict[Any, Any], Any, Any, float]:
    """Return area, moves, effective positives and prevalence of the mean of the other segments.

    The last one is what limits take its variance to be more, of rows without weights.
    """
    others = df.filter(pl.col("region").ne_missing(pl.lit(own)))
    area, moved, weights, more = Fraction(0), [], Fraction(0), 0.0
    for _, side in others.group_by("region", maintain_order=True):
        positives = positives_and_negatives(side)[0]
        if positives:
            found, moves, rows = moved_by(side, "old", prevalence)
            more += float(positives) ** 2 * of_squares(rows, side, clusters, prevalence)
            weights += positives
            area += positives * found
            moved += [
                (cluster, positives * move)
                for cluster, move in zip(side[clusters], moves, strict=True)
            ]
    names, moves = zip(*moved, strict=True)
    positives, negatives = positives_and_negatives(others)
    return (
        area / weights,
        sums([move / weights for move in moves], names),
        oracle.effective_positives(rows_of(others), others[clusters].to_list()),
        positives / (positives + negatives),
        more / float(weights) ** 2,
    )


def of_squares(rows: Any, side: pl.DataFrame, clusters: str, prevalence: Fraction | None) -> float:
    is_known = clusters == "user" and "weight" not in side.columns
    return oracle.of_squares(rows, side[clusters].to_list(), prevalence) if is_known else 0.0


def rows_of(df: pl.DataFrame) -> list[oracle.Row]:
    return segments(df.with_columns(score="old"), None)[()]


def positives_and_negatives(df: pl.DataFrame) -> Any:
    return oracle.totals(rows_of(df))


@every_kind
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("calibrate", [None, "highest", "pooled", 0.25])
def test_others_equal_the_mean_of_their_areas_by_exact_arithmetic(kind, weight, cluster, calibrate):
    measure = "average_precision" if calibrate is None else "calibrated_average_precision"
    asked = OTHERS | {"weight": weight, "cluster": cluster}
    result = compared(kind, MANY, "old", **asked, measure=measure, calibrate=calibrate)
    df = MANY.filter(pl.col("weight") > 0) if weight else MANY.drop("weight")
    df = df.with_row_index("row")
    positives, negatives = positives_and_negatives(df)
    pooled = positives / (positives + negatives)
    highest = oracle.highest_prevalence(
        [*segments(df.with_columns(score="old"), "region").values()]
    )
    prevalence = {None: None, "highest": highest, "pooled": pooled, 0.25: Fraction(1, 4)}[calibrate]
    clusters = "user" if cluster else "row"
    assert result["region"].to_list() == [None, "n", "n2", "none", "s", "s2", "w2"]
    assert result["reference"].unique().to_list() == ["others"]
    for found in result.iter_rows(named=True):
        own = df.filter(pl.col("region").eq_missing(pl.lit(found["region"])))
        others, moved, effective, prevalence_b, more_b = others_by_definition(
            df, found["region"], prevalence, clusters
        )
        assert found["value_b"] == pytest.approx(float(others), rel=1e-12)
        assert found["prevalence_b"] == pytest.approx(float(prevalence_b), rel=1e-12)
        if found["region"] == "none":
            assert [found[name] for name in ["value_a", *TEST[2:]]] == [None] * 6
            assert found["status"] == "no_positives"
            continue
        area, moves, rows = moved_by(own, "old", prevalence)
        names = own[clusters].to_list()
        numbers = (oracle.effective_positives(rows, names), effective)
        more = of_squares(rows, own, clusters, prevalence), more_b
        sides = area, others, sums(moves, names), moved
        expected = by_definition(*sides, *numbers, more=more)
        assert_test(found, expected, may_be_wider=bool(weight and cluster))
        assert found["value_a"] == pytest.approx(float(area), rel=1e-12)


@every_kind
@pytest.mark.parametrize("cluster", [None, "user"])
def test_two_segments_are_each_the_others_of_the_other(kind, cluster):
    two = ROWS.filter(pl.col("region").is_not_null())
    beside = compared(kind, two, "old", **OTHERS, cluster=cluster)
    named = compared(kind, two, "old", by="region", against={"region": "s"}, cluster=cluster)
    of_n = pl.col("region") == "n"
    assert_frame_equal(
        beside.filter(of_n).drop("reference"), named.filter(of_n).drop("reference"), rel_tol=1e-12
    )


@every_kind
def test_one_segment_has_no_others(kind):
    found = compared(kind, ROWS.filter(region="n"), "old", **OTHERS).row(0, named=True)
    assert [found[name] for name in TEST[1:]] == [None] * 6
    assert (found["status"], found["prevalence_b"]) == ("no_other", None)


def test_others_are_the_weighted_average_of_the_verb_for_averages():
    found = MANY.prc.compare_segments(
        "truth", "old", **OTHERS, measure="average_precision", details=True
    )
    for region, area in found.filter(pl.col("n_pos") > 0).select("region", "value_b").iter_rows():
        others = MANY.filter(pl.col("region").ne_missing(pl.lit(region)))
        average = others.prc.average("truth", "old", by="region", over="region", how="weighted")
        assert average["average_precision"].item() == pytest.approx(area, rel=1e-12)


def test_scores_that_carry_base_rates_do_not_make_equal_segments_differ():
    """The same ranking in each segment, with scores moved apart by its number."""
    base = ROWS.filter(region="n").select("truth", "old")
    apart = pl.concat([base.with_columns(pl.col("old") + i, region=pl.lit(i)) for i in range(4)])
    found = apart.prc.compare_segments("truth", "old", **OTHERS)
    assert found["difference"].to_list() == [0.0] * 4
    rest = apart.prc.compare_segments("truth", "old", by="region", against="rest")
    assert (rest["difference"] != 0).all()


@pytest.mark.parametrize("against", ["others", "rest", "overall", {"k": 0}])
def test_rounding_errors_of_a_constant_score_are_no_spread(against):
    """Weighted rows of one score move a calibrated area by rounding errors alone."""
    for seed in (7, 16, 37):
        rng = np.random.default_rng(seed)
        key, truth = rng.integers(0, 2, 400), rng.random(400) < 0.3
        df = pl.DataFrame({"k": key, "y": truth, "w": rng.choice([0.1, 0.3, 0.7], 400), "s": 0.5})
        found = df.prc.compare_segments("y", "s", by="k", weight="w", against=against, details=True)
        assert found.select("std_error", "ci_low", "p_value").null_count().row(0) == (2, 2, 2)
        assert (
            df.prc.heterogeneity("y", "s", by="k", weight="w", details=True)["n_segments"].item()
            == 0
        )
