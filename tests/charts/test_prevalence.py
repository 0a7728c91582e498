"""Charts at the prevalence where the model is used: curves, points, areas, bands and overlays."""

from __future__ import annotations

import polars as pl
import pytest
from chart_reading import REGIONS, drawn, words

# Of north 2 rows of 4 are positive, of south 2 of 3: at these prevalences a negative has odds of
# 4 and of 1.
GIVEN = pl.DataFrame({"region": ["north", "south"], "prevalence": [0.2, 0.5]})
ODDS, NEGATIVES = {"north": 4.0, "south": 1.0}, {"north": 2, "south": 1}
ONE = {"truth": "late", "score": "old", "by": "region", "facet": "region"}


def at_prevalence(row, region):
    """Return the precision of a point by its definition."""
    found, wrong = row["tp"] / 2, row["fp"] / NEGATIVES[region]
    return found / (found + wrong * ODDS[region]) if row["tp"] + row["fp"] else 1.0


def of_segments(chart):
    curves = [rows for _, rows in drawn(chart, "line", "threshold")]
    return dict(zip(ODDS, curves, strict=True))


@pytest.mark.parametrize("is_curve", [False, True], ids=["rows", "curve"])
def test_precision_and_area_are_those_of_each_segment_there(is_curve):
    frame = REGIONS.prc.curve("late", "old", by="region") if is_curve else REGIONS
    asked = {"facet": "region"} if is_curve else ONE
    chart = frame.prc.plot(**asked, calibrate=GIVEN)
    for region, rows in of_segments(chart).items():
        assert len(rows) > 2
        wanted = [at_prevalence(row, region) for row in rows]
        assert [row["precision"] for row in rows] == pytest.approx(wanted, rel=1e-4)
    rules = [row["prevalence"] for _, rows in drawn(chart, "rule", "prevalence") for row in rows]
    assert rules == pytest.approx([0.2, 0.5])
    areas = REGIONS.prc.average_precision("late", "old", by="region", calibrate=GIVEN)
    said = " ".join(words(chart))
    for area in areas["calibrated_average_precision"]:
        assert f"AP {area:.3f}" in said
    assert "Precision and areas at the prevalence of use of each segment." in said


def test_points_are_chosen_there():
    chart = REGIONS.prc.plot(**ONE, calibrate=GIVEN, points={"f_beta": 1})
    chosen = REGIONS.prc.operating_points(
        "late", "old", by="region", f_beta=1, calibrate=GIVEN, details=True
    )
    marks = [row for _, rows in drawn(chart, "point", "f_score") for row in rows]
    shown = {(row["key_0"], row["precision"], row["recall"]) for row in marks}
    assert shown == {*chosen.select("region", "precision", "recall").iter_rows()}


def test_over_thresholds_the_rates_are_those_of_points_there():
    chart = REGIONS.prc.plot("late", "old", by="region", x="threshold", calibrate=0.1, ci=0.9)
    rows = [row for _, found in drawn(chart, "line", "precision_low") for row in found]
    given = sorted({float(row["threshold"]) for row in rows})
    points = REGIONS.prc.operating_points(
        "late", "old", by="region", threshold=given, calibrate=0.1, ci=0.9, details=True
    )
    columns = ["precision", "recall", "precision_low", "precision_high"]
    shown = pl.DataFrame(rows).select(columns).unique()
    wanted = points.select(columns).unique()
    # Charts have five digits: each row has one of the points that is as good as equal.
    pairs = shown.join(wanted, how="cross")
    alike = [(pl.col(name) / pl.col(f"{name}_right") - 1).abs() < 1e-4 for name in columns]
    assert pairs.filter(alike).height == shown.height == wanted.height == 6


def test_bands_and_the_curve_of_all_rows_are_there():
    chart = REGIONS.prc.plot(**ONE, calibrate=0.2, band=True)
    band = REGIONS.prc.band("late", "old", by="region", calibrate=0.2)
    drawn_rows = [row for _, rows in drawn(chart, "area", "precision_high") for row in rows]
    highest = max(row["precision_high"] for row in drawn_rows)
    assert highest == pytest.approx(band["precision_high"].max(), rel=1e-4)
    behind = [rows for _, rows in drawn(chart, "line", "recall", "precision")]
    [end] = {rows[-1]["precision"] for rows in behind if {*rows[0]} == {"recall", "precision"}}
    # All 4 positives are found with 2 of 3 negatives.
    assert end == pytest.approx(1 / (1 + 2 / 3 * 4), rel=1e-4)
    assert "Precision and areas at a prevalence of 0.2." in " ".join(words(chart))
