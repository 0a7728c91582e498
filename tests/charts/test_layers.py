"""What is drawn beside the lines: ribbons, points, ROC, the counts at a threshold, tooltips."""

from __future__ import annotations

import re

import oracle
import polars as pl
import pytest
from chart_reading import (
    REGIONS,
    ROWS,
    drawn,
    drawn_digits,
    is_over,
    of,
    specification,
    words,
)

from frame_prc import Draws

# --- ribbons, points, other views --------------------------------------------------------------


def test_ci_draws_intervals_at_thresholds():
    chart = ROWS.prc.plot("late", "score", ci=0.9)
    [(view, rows)] = drawn(chart, "area", "precision_low")
    assert view["mark"]["interpolate"] == "step-before"
    # Where the curve opens it has the interval of its first step, whose left end it is.
    ends = ("precision_low", "precision_high")
    assert [rows[0][end] for end in ends] == [rows[1][end] for end in ends] != [None, None]
    for row, (tp, fp) in zip(rows[1:], [(1, 0), (2, 1)], strict=True):
        low, high = oracle.count_limits(tp, fp, 0.9)
        assert (row["precision_low"], row["precision_high"]) == pytest.approx((low, high), rel=1e-4)
    assert "90 % interval of precision" in " ".join(words(chart))


def test_band_takes_weighted_rows_of_several_models():
    rows = pl.concat([REGIONS] * 10).with_columns(w=1.5)
    asked = {"truth": "late", "score": ["old", "new"], "by": "region", "weight": "w"}
    chart = rows.prc.plot(**asked, band=True)
    found = [row for _, some in drawn(chart, "area", "precision_low") for row in some]
    columns = ["region", "model", "recall", "precision_low"]
    table = rows.prc.band(**asked, bootstrap=Draws(seed=0)).sort("region", maintain_order=True)
    assert [tuple(row.values()) for row in of(found, "key_1", "key_0", *columns[2:])] == (
        drawn_digits(table.select(columns)).rows()
    )


def test_an_operating_point_that_is_nowhere_is_named():
    rows = REGIONS.with_columns(old=pl.when(region="south").then(-pl.col("old")).otherwise("old"))
    chart = rows.prc.plot("late", "old", by="region", points={"precision": 0.9})
    assert "Not reached: south: precision ≥ 0.9." not in " ".join(words(chart))
    low = rows.with_columns(late=pl.col("late") & (pl.col("old") != 0.9))
    found = " ".join(words(low.prc.plot("late", "old", by="region", points={"precision": 0.9})))
    assert "Not reached: north: precision ≥ 0.9." in found


def test_roc_is_drawn_from_the_same_counts():
    chart = ROWS.prc.plot("late", "score", roc=True, points={"recall": 0.8})
    [(view, rows)] = [(v, r) for v, r in drawn(chart, "line", "fpr", "tp") if is_over(v, "fpr")]
    assert of(rows, "fpr", "recall") == [
        {"fpr": fpr, "recall": tpr} for fpr, tpr in [(0, 0), (0, 0.5), (0.5, 1), (1, 1)]
    ]
    assert view["mark"]["interpolate"] == "linear"
    [_, (view, marked)] = drawn(chart, "point", "fpr")
    assert of(marked, "fpr", "recall") == [{"fpr": 0.5, "recall": 1.0}]
    panels, _ = specification(chart)["vconcat"]
    assert len(panels["concat"]) == 2


def test_points_have_marks_and_their_counts_in_a_table():
    chart = ROWS.prc.plot("late", "score", points={"threshold": 0.3, "recall": [0.5, 1]})
    assert tabled(chart) == {
        "recall ≥ 0.5": ["0.900", "1.000", "0.500", "1", "1", "0", "1", "2"],
        "recall ≥ 1": ["0.400", "0.667", "1.000", "3", "2", "1", "0", "1"],
        "threshold 0.3": ["0.300", "0.667", "1.000", "3", "2", "1", "0", "1"],
    }
    [(_, marked)] = drawn(chart, "point", "criterion")
    assert [(row["criterion"], row["precision"]) for row in marked] == [
        ("recall ≥ 0.5", 1.0), ("recall ≥ 1", 2 / 3), ("threshold 0.3", 2 / 3),
    ]  # fmt: skip


def tabled(chart):
    """Return the cells of the table below a chart, by their rows."""
    [(_, cells)] = drawn(chart, "text", "column", "text")
    assert [cell["column"] for cell in cells[:: len({cell["name"] for cell in cells})]] == [
        "score ≥", "precision", "recall", "alerts", "TP", "FP", "FN", "TN",
    ]  # fmt: skip
    rows = {}
    for cell in cells:
        rows.setdefault(cell["name"], []).append(cell["text"])
    return rows


def test_a_threshold_has_the_counts_of_several_lines():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", points={"threshold": 0.75})
    assert tabled(chart) == {
        "old · north · threshold 0.75": ["0.750", "1.000", "0.500", "1", "1", "0", "1", "2"],
        "new · north · threshold 0.75": ["0.750", "1.000", "1.000", "2", "2", "0", "0", "2"],
        "old · south · threshold 0.75": ["0.750", "0.500", "0.500", "2", "1", "1", "1", "0"],
        "new · south · threshold 0.75": ["0.750", "1.000", "0.500", "1", "1", "0", "1", "1"],
    }


def test_large_sums_of_weights_have_no_exponent():
    rows = REGIONS.with_columns(eur=pl.lit(1234567.89))
    chart = rows.prc.plot("late", "old", by="region", weight="eur", points={"threshold": 0.75})
    [(_, cells)] = drawn(chart, "text", "column", "text")
    shown = {cell["text"] for cell in cells if cell["column"] in ("TP", "TN")}
    assert shown == {"0", "1,234,568", "2,469,136"}


def test_a_roc_panel_has_the_area_of_each_line():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", roc=True)
    texts = [row["text"] for _, rows in drawn(chart, "text", "place") for row in rows]
    areas = REGIONS.prc.summary("late", ["old", "new"], by="region", measures="roc_auc")
    north = areas.filter(region="north").sort("model", descending=True)["roc_auc"]
    assert [text for text in texts if "ROC" in text][:2] == [
        f"{model}: ROC AUC {area:.3f}" for model, area in zip(["old", "new"], north, strict=True)
    ]


# --- hovering ----------------------------------------------------------------------------------


def test_the_point_nearest_the_mouse_says_where_it_is():
    chart = REGIONS.prc.plot("late", "old", by="region")
    named = {param["name"]: param for param in chart.to_dict()["params"]}
    assert named["hover_0"]["select"]["nearest"]
    said = re.findall(r'"([^"]+)":', chart.to_dict()["config"]["circle"]["tooltip"]["expr"])
    assert said == ["region", "average precision", "threshold", "precision", "recall", "TP", "FP"]
