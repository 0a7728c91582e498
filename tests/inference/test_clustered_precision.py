"""How sure the precision at a threshold is where rows come in clusters."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import oracle
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from polars.testing import assert_frame_equal
from strategies import BY, SCORES_OR_NONE, frames

import frame_prc
from frame_prc import OptionError

ENDS = ["precision_low", "precision_high"]
ROUNDED = {"rel_tol": 1e-12, "abs_tol": 1e-12}
ROWS = pl.DataFrame(
    {
        "region": ["n"] * 8 + ["s"] * 6,
        "day": [1, 1, 1, 2, 2, 2, 3, 3, 1, 2, 2, 4, 4, 5],
        "late": [1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0],
        "score": [0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1, 0.9, 0.8, 0.8, 0.6, 0.3, 0.2],
    }
)
LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.999])


def clustered(kind: Any, df: pl.DataFrame, **options: Any) -> pl.DataFrame:
    options = {"ci": 0.95, "cluster": "day", "missing": "unretrieved", **options}
    return kind.rows(frame_prc.curve(kind.make(df), "late", "score", **options))


@st.composite
def clustered_frames(draw: st.DrawFn, most_clusters: int = 5) -> pl.DataFrame:
    """Draw up to 30 rows in a few clusters, with few scores, some of them missing."""
    row = {
        "region": st.sampled_from(["n", "s", None]),
        "day": st.integers(1, most_clusters),
        "late": st.booleans(),
        "score": st.sampled_from([0.1, 0.2, 0.5, 0.5, 0.8, None]),
    }
    rows = draw(st.lists(st.fixed_dictionaries(row), max_size=30))
    schema = {"region": pl.String, "day": pl.Int64, "late": pl.Boolean, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema)


def expected_ends(df: pl.DataFrame, point: dict[str, Any], ci: float) -> tuple[Any, Any]:
    """Return the ends by definition, from the rows of the point's segment."""
    own = df.filter(pl.col("region").eq_missing(pl.lit(point["region"])))
    retrieved = point["tp"] + point["fp"]
    if retrieved == 0:
        return None, None
    reached = own.filter(pl.col("score") >= point["threshold"])
    one = Fraction(1)
    hits = [(late, one, day) for late, day in reached.select("late", "day").rows()]
    return oracle.share_limits(hits, ci)


def assert_ends(points: pl.DataFrame, df: pl.DataFrame, ci: float) -> None:
    found = points.select(ENDS).rows()
    expected = [expected_ends(df, point, ci) for point in points.iter_rows(named=True)]
    for ends, known in zip(found, expected, strict=True):
        assert (None in ends) == (None in known)
        assert ends == known or ends == pytest.approx(known, rel=1e-9, abs=1e-12)


# --- by definition -----------------------------------------------------------------------------


@every_kind
@given(clustered_frames(), LEVELS, st.sampled_from(["all", "corners"]))
def test_interval_is_that_of_sums_over_clusters(kind, df, ci, keep):
    assert_ends(clustered(kind, df, by="region", ci=ci, keep=keep), df, ci)


@every_kind
@given(clustered_frames(), LEVELS)
def test_interval_at_given_thresholds_is_that_of_the_rows_that_reach_them(kind, df, ci):
    points = clustered(kind, df, by="region", ci=ci, thresholds=[0.1, 0.4, 0.5, 0.9])
    assert points.height == 5 * df["region"].n_unique()
    assert_ends(points, df, ci)


@every_kind
@given(clustered_frames())
def test_dropped_rows_belong_to_no_cluster(kind, df):
    dropped = clustered(kind, df, by="region", missing="drop")
    assert_ends(dropped, df.filter(pl.col("score").is_not_null()), 0.95)


@every_kind
def test_interval_is_the_one_worked_out_by_hand(kind):
    """At 0.7 in the north: 2 of 3 rows of day 1 and 0 of 1 of day 2, so TP_c - TP Q_c / Q = .5."""
    point = clustered(kind, ROWS, by="region").filter(region="n", threshold=0.7)
    assert point["precision"].to_list() == [0.5]
    effective = 16 / 10
    error = math.sqrt((0.5**2 + 0.5**2) / 16 * effective / (effective - 1))
    half = oracle.student_quantile(0.95, Fraction(6, 10)) * error / 0.25
    trials = 0.25 / ((0.5**2 + 0.5**2) / 16)
    low, high = (1 / (1 + math.exp(-end)) for end in (-half, half))
    expected = (min(low, 0.025 ** (1 / trials)), high)
    assert point.select(ENDS).row(0) == pytest.approx(expected, abs=1e-12)


# --- what clusters tell ------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("keep", ["all", "corners", 5])
@pytest.mark.parametrize("thresholds", [None, [-1.0, 0.0, 0.5]], ids=["scores", "thresholds"])
@given(df=frames(SCORES_OR_NONE, max_size=30), by=BY, ci=LEVELS)
def test_clusters_of_one_row_each_give_the_interval_without_clusters(
    kind, keep, thresholds, df, by, ci
):
    df = df.rename({"truth": "late"}).with_row_index("day")
    asked = {"by": by, "ci": ci, "keep": keep, "thresholds": thresholds}
    assert_frame_equal(
        clustered(kind, df, **asked), clustered(kind, df, **asked, cluster=None), rel_tol=1e-9
    )


@every_kind
@pytest.mark.parametrize("late", [0, 1])
def test_rows_of_one_class_count_as_one_trial_per_cluster(kind, late):
    df = pl.DataFrame({"late": [late] * 6 + [1 - late], "score": [7, 6, 5, 4, 3, 2, 1]})
    df = df.with_columns(day=pl.Series([1, 1, 2, 2, 3, 3, 3]))
    sixth = clustered(kind, df).filter(threshold=2.0).select(ENDS).row(0)
    end = 0.025 ** (1 / 3)
    assert sixth == pytest.approx((end, 1) if late else (0, 1 - end), abs=1e-15)


@every_kind
def test_a_single_cluster_does_not_tell_how_clusters_differ(kind):
    """Nor does one beside another of a single row: in effect there is one."""
    df = ROWS.with_columns(day=pl.lit("one"))
    assert clustered(kind, df)[-1].select(ENDS).row(0) == (None, None)
    df = pl.DataFrame({"late": [1] * 1000 + [0] * 1001, "score": [1.0] * 2001})
    df = df.with_columns(day=pl.Series([1] * 2000 + [2]))
    assert clustered(kind, df, start=None).select(ENDS).rows() == [(None, None)]


@every_kind
def test_copies_of_clusters_tell_as_much_as_if_each_were_a_row(kind):
    """Rows of a cluster that are all alike: as many trials as there are clusters, but for t."""
    days = pl.DataFrame({"day": range(400), "late": [1, 0, 0, 1, 0] * 80, "score": [1.0] * 400})
    alone, copied = clustered(kind, days), clustered(kind, pl.concat([days] * 3))
    assert copied[-1].select(ENDS).row(0) == pytest.approx(alone[-1].select(ENDS).row(0), abs=2e-3)


@pytest.mark.thorough
@every_kind
def test_large_clusters_lose_no_digit(kind):
    """Two halves of a million rows that differ by one positive: nearly all of it cancels."""
    half = pl.int_range(500_000, eager=True)
    late = pl.concat([half < 200_000, half < 200_001])
    day = pl.concat([half // 1000, half // 1000 + 500])
    df = pl.DataFrame({"late": late, "day": day}).with_columns(score=1.0, region=pl.lit("n"))
    assert_ends(clustered(kind, df, by="region", start=None), df, 0.95)


# --- frames, types, orders ---------------------------------------------------------------------


DAYS = {
    "integers": pl.col("day"),
    "text": pl.col("day").cast(pl.String) + " a long name",
    "dates": pl.date(2013, 7, pl.col("day")),
    "floats": pl.when(pl.col("day") > 1).then(pl.col("day") * 0.5).otherwise(-0.0),
    "categories": pl.col("day").cast(pl.String).cast(pl.Categorical),
    "decimals": pl.col("day").cast(pl.Decimal(10, 2)),
    "structs": pl.struct("day", a=pl.lit(1)),
    "an expression": pl.col("day").cast(pl.Int8),
}


@every_polars_kind
@pytest.mark.parametrize("day", DAYS.values(), ids=DAYS)
@pytest.mark.parametrize("thresholds", [None, 5], ids=["scores", "thresholds"])
def test_clusters_may_be_of_any_type(kind, day, thresholds):
    asked = {"by": "region", "thresholds": thresholds}
    found = clustered(kind, ROWS.with_columns(day.alias("day")), **asked)
    assert_frame_equal(found, clustered(kind, ROWS, **asked))


@every_kind
def test_thresholds_taken_in_parts_have_the_same_intervals(kind, monkeypatch):
    chosen = ROWS.prc.operating_points("late", "score", by="region", recall=[0.5, 0.9])
    asked = {"by": "region", "cluster": "day", "ci": 0.9, "details": True}
    given = {"threshold": [0.2, 0.35, 0.8, 0.9, 2.0], "recall": 0.5}
    calls = [given, {"threshold": chosen}, given | {"calibrate": 0.3}]

    def tables():
        verb = frame_prc.operating_points
        return [
            kind.rows(verb(kind.make(ROWS), "late", "score", **asked, **more)) for more in calls
        ]

    together = tables()
    for limit in ("_CELLS", "_TOGETHER"):
        monkeypatch.setattr(f"frame_prc._tables.operating_points.{limit}", 2)
    for one, whole in zip(tables(), together, strict=True):
        assert_frame_equal(one, whole, **ROUNDED)


# --- errors ------------------------------------------------------------------------------------


@every_kind
def test_weights_and_counts_have_no_clusters(kind):
    df = ROWS.with_columns(w=0.5, pos=1, neg=0)
    with pytest.raises(OptionError, match="ci= of a curve needs counts of rows"):
        frame_prc.curve(kind.make(df), "late", "score", weight="w", ci=0.95, cluster="day")
    counts = {"score": "score", "pos": "pos", "neg": "neg", "ci": 0.95, "cluster": "day"}
    with pytest.raises(OptionError, match="cluster= is given beside pos= and neg="):
        frame_prc.curve(kind.make(df), **counts)
