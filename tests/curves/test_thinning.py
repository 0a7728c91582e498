"""Curves of at most so many points, and how far they are from the whole curve."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import every_kind, every_polars_kind
from strategies import frames

import frame_prc
from frame_prc import OptionError

LONG = pl.DataFrame(
    {
        "segment": [row % 3 for row in range(3000)],
        "truth": [(row * 7919) % 11 < 3 for row in range(3000)],
        "score": [((row * 104729) % 2999) / 2999 for row in range(3000)],
    }
)


def steps(points):
    """Return the precision that the steps through some points draw, by true positives."""
    drawn, before = {}, 0
    for tp, precision in points.select("tp", "precision").iter_rows():
        drawn.update(dict.fromkeys(range(before + 1, tp + 1), precision))
        before = max(before, tp)
    return drawn


def of_segments(curve):
    return {key: part for (key,), part in curve.partition_by("segment", as_dict=True).items()}


@every_kind
@pytest.mark.parametrize("keep", [5, 20, 100])
def test_long_curve_has_at_most_so_many_points(kind, keep):
    curve = frame_prc.curve(kind.make(LONG), "truth", "score", by="segment", keep=keep)
    sizes = kind.rows(curve).group_by("segment").len()["len"]
    assert len(sizes) == 3
    assert keep // 2 < sizes.min() <= sizes.max() <= keep


@every_kind
@pytest.mark.parametrize("keep", [5, 20, 100])
def test_error_is_the_largest_distance_of_the_steps_drawn(kind, keep):
    thin, full = (
        of_segments(
            kind.rows(frame_prc.curve(kind.make(LONG), "truth", "score", by="segment", keep=k))
        )
        for k in (keep, "all")
    )
    for key, points in thin.items():
        exact, drawn = steps(full[key]), steps(points)
        assert exact.keys() == drawn.keys()
        worst = max(abs(exact[tp] - drawn[tp]) for tp in exact)
        assert points["precision_error"].unique().to_list() == [pytest.approx(worst, abs=1e-15)]


@every_polars_kind
@given(df=frames(), keep=st.integers(5, 12))
def test_start_end_and_extremes_stay(kind, df, keep):
    found, full = (
        kind.rows(frame_prc.curve(kind.make(df), "truth", "score", keep=k, start=None))
        for k in (keep, "all")
    )
    assert found.height <= keep
    assert found.drop("precision_error").join(full, on="threshold", how="anti").is_empty()
    if full.is_empty():
        return
    assert found.row(-1)[:-1] == full.row(-1)
    for extreme in (pl.Expr.min, pl.Expr.max):
        ends = [part.select(extreme(pl.col("precision"))).item() for part in (found, full)]
        assert ends[0] == ends[1]
    if full.height <= keep:
        assert found["precision_error"].to_list() == [0.0] * found.height


@every_kind
@pytest.mark.parametrize(("start", "corners"), [(None, 5), ("one", 6), ("first", 6)])
def test_a_curve_of_as_many_points_as_are_kept_is_whole(kind, start, corners):
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "pos": [3, 0, 3, 2, 4], "neg": [2, 2, 0, 2, 1]})
    asked = {"score": "score", "pos": "pos", "neg": "neg", "start": start}
    full = frame_prc.curve(df, **asked, keep="corners")
    assert full.height == corners
    found = kind.rows(frame_prc.curve(kind.make(df), **asked, keep=corners))
    assert found["threshold"].to_list() == full["threshold"].to_list()
    assert found["precision_error"].to_list() == [0.0] * corners
    if corners > 5:
        fewer = kind.rows(frame_prc.curve(kind.make(df), **asked, keep=corners - 1))
        assert fewer.height < corners


# Stretches that end, but for rounding, where a step does.
ON_THE_EDGE = [
    ([1, 0, 0, 1, 1, 1], [13, 9, 12, 12, 7, 5], "one"),
    ([1, 1, 1, 0, 0, 1], [6, 12, 15, 12, 8, 5], "one"),
    ([1, 1, 0, 0, 1, 1], [14, 12, 12, 8, 4, 0], "one"),
]


@every_kind
@pytest.mark.parametrize(("truth", "score", "start"), ON_THE_EDGE)
def test_the_same_points_are_kept_by_every_engine_and_in_any_order(kind, truth, score, start):
    df = pl.DataFrame({"truth": truth, "score": score})
    expected = frame_prc.curve(df, "truth", "score", start=start, keep=5)["threshold"].to_list()
    for rows in (df, df.reverse()):
        curve = frame_prc.curve(kind.make(rows), "truth", "score", start=start, keep=5)
        assert kind.rows(curve)["threshold"].to_list() == expected


@every_kind
def test_columns_asked_for_are_those_of_the_whole_curve(kind):
    asked = {"by": "segment", "envelope": True, "start": "first"}
    thin, full = (
        kind.rows(frame_prc.curve(kind.make(LONG), "truth", "score", keep=k, **asked))
        for k in (30, "all")
    )
    both = thin.join(full, on=["segment", "threshold"], suffix="_full", maintain_order="left")
    assert both.height == thin.height
    assert both["envelope"].equals(both["envelope_full"].alias("envelope"))


@every_kind
@pytest.mark.parametrize("keep", [4, 0, -1, True, 2.5, "some", None])
def test_what_is_no_number_of_points_is_an_error_at_the_call(kind, keep):
    allowed = "is not an option. Allowed: 'all', 'corners', or a number of points from 5 on"
    with pytest.raises(OptionError, match=allowed):
        frame_prc.curve(kind.make(LONG), "truth", "score", keep=keep)
