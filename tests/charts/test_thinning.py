"""Long curves are thinned, and the chart says how far off it is."""

from __future__ import annotations

import itertools
import math

import polars as pl
import pytest
from chart_reading import drawn, is_over, lines, row_count, segments, specification, words
from layers import also

from frame_prc import DataError


def noisy(count, segments=1):
    """Return rows of which scores tell little, all distinct."""
    return (
        pl.DataFrame({"row": range(count)})
        .with_columns(mixed=(pl.col("row") * 48271) % 2147483647 / 2147483647)
        .with_columns(
            segment=pl.col("row") % segments,
            late=(pl.col("row") * 16807 % 1000003) / 1000003 < 0.2 + 0.6 * pl.col("mixed"),
            score=pl.col("mixed") + pl.col("row") * 1e-12,
        )
    )


def heights(points, recalls):
    """Return the height of steps at these recalls: the precision of the first point that far."""
    points, found = sorted(points, key=lambda point: point["recall"]), []
    growing = [p for before, p in itertools.pairwise(points) if p["recall"] > before["recall"]]
    place = 0
    for recall in recalls:
        while growing[place]["recall"] < recall - 6e-6:  # a chart has five digits
            place += 1
        found.append(growing[place]["precision"])
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("make", ["curve", *also("rows")])
def test_many_scores_are_thinned_and_the_error_is_said(make):
    rows = noisy(20_000)
    full = rows.prc.curve("late", "score")
    chart = rows.prc.plot("late", "score") if make == "rows" else full.prc.plot()
    assert row_count(chart) < 5000
    [kept] = lines(chart)
    grown = full.filter(pl.col("recall") > pl.col("recall").shift(1)).select("recall", "precision")
    off = (pl.Series(heights(kept, grown["recall"])) - grown["precision"]).abs().max()
    said = chart.usermeta["frame_prc"]["precision_error"]
    assert off == pytest.approx(said, abs=1e-5)
    assert 0 < said < 0.02
    assert ("Thinned" in " ".join(words(chart))) == (said > 0.005)


@pytest.mark.thorough
def test_all_layers_together_stay_under_the_limit_of_altair():
    options = {"ci": 0.9, "roc": True, "points": {"threshold": 0.5, "recall": [0.5, 0.9]}}
    chart = noisy(20_000, 10).prc.plot("late", "score", by="segment", facet="segment", **options)
    assert row_count(chart) < 6000
    assert len(lines(chart)) == 10
    error = chart.usermeta["frame_prc"]["precision_error"]
    assert f"Thinned: precision is off by at most {error:.2g}." in " ".join(words(chart))


@pytest.mark.thorough
def test_a_band_leaves_room_for_the_lines():
    chart = noisy(3000, 20).prc.plot("late", "score", by="segment", band=True)
    assert row_count(chart) < 5000
    assert len(drawn(chart, "area", "precision_low")) == 20


@pytest.mark.thorough
def test_roc_curves_are_as_near_as_they_say():
    rows = noisy(20_000)
    chart = rows.prc.plot("late", "score", roc=True)
    [kept] = [r for v, r in drawn(chart, "line", "fpr", "tp") if is_over(v, "fpr")]
    said = chart.usermeta["frame_prc"]["roc_error"]
    assert 0 < said < 0.01
    positives, negatives = kept[-1]["tp"], kept[-1]["fp"]
    farthest, place = 0.0, 0
    for fp, tp in rows.prc.curve("late", "score").select("fp", "tp").iter_rows():
        while kept[place + 1]["fp"] < fp or kept[place + 1]["tp"] < tp:
            place += 1
        a, b = kept[place], kept[place + 1]
        across, up = (b["fp"] - a["fp"]) / negatives, (b["tp"] - a["tp"]) / positives
        area = across * (tp - a["tp"]) / positives - up * (fp - a["fp"]) / negatives
        farthest = max(farthest, abs(area) / math.hypot(across, up))
    assert farthest == pytest.approx(said, rel=1e-9)


def test_a_thinned_curve_says_how_far_off_it_is_already():
    curve = noisy(20_000).prc.curve("late", "score", keep=50)
    chart = curve.prc.plot()
    assert chart.usermeta["frame_prc"]["precision_error"] == curve["precision_error"][0]
    assert words(chart)[1].startswith("AP ≈ 0.")


def test_more_lines_than_one_can_read_in_a_panel_are_an_error():
    with pytest.raises(DataError, match="22 lines would share a panel"):
        segments(22).prc.plot("late", "old", by="segment", facet=False)


def many_segments(count):
    """Return segments of which the later are ranked worse and the middle ones are larger."""
    of_one = pl.DataFrame({"place": range(40)})
    parts = [
        of_one.with_columns(
            segment=pl.lit(i),
            late=pl.col("place") % (4 if 50 <= i < 70 else 5) == 0,
            score=-pl.col("place") * pl.when(pl.col("place") < i // 4).then(-1).otherwise(1),
        )
        for i in range(count)
    ]
    return pl.concat(parts)


def test_of_more_segments_the_worst_the_best_and_the_largest_are_drawn():
    rows = many_segments(80).with_columns(other="score")
    chart = rows.prc.plot("late", ["score", "other"], by="segment")
    panels = [part["title"]["text"] for part in specification(chart)["concat"]]
    shown = [int(name.removeprefix("segment ")) for name in panels]
    count = 10  # thirty panels of two lines
    table = rows.prc.average_precision("late", "score", by="segment", calibrate="pooled")
    ranked = table.sort("calibrated_average_precision", "segment")["segment"].to_list()
    largest = table.sort("n_pos", "segment", descending=[True, False])["segment"].to_list()
    assert shown == sorted({*ranked[:count], *ranked[-count:], *largest[:count]})
    said = f"segments: the {count} lowest and the {count} highest by calibrated"
    assert said in " ".join(words(chart))
    assert sum(len({row["line"] for row in rows}) for rows in lines(chart)) <= 60
