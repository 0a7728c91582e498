"""What is drawn beside the lines: ribbons, points, ROC, the counts at a threshold, tooltips."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import polars as pl
import pytest
from chart_reading import (
    REGIONS,
    ROWS,
    drawn,
    drawn_digits,
    is_over,
    lines,
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


def test_operating_points_are_marked():
    chart = ROWS.prc.plot("late", "score", points={"recall": 0.8, "f_beta": [1, 2]})
    [(view, rows)] = drawn(chart, "point", "criterion")
    point = {
        "threshold": "0.4",
        "recall": 1.0,
        "precision": 2 / 3,
        "tp": 2,
        "fp": 1,
        "fn": 0,
        "tn": 1,
    }
    assert of(rows, "criterion", *point) == [
        {"criterion": name, **point} for name in ("recall ≥ 0.8", "largest F1", "largest F2")
    ]
    assert [t["field"] for t in view["encoding"]["tooltip"]][:3] == [
        "criterion", "threshold", "precision",
    ]  # fmt: skip


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


def test_a_roc_panel_names_its_segment():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", roc=True)
    titles = [part["title"]["text"] for part in specification(chart)["concat"]]
    assert titles == ["north", "north · ROC", "south", "south · ROC"]
    assert words(chart)[1].startswith("Dashed: a random ranking, ")


def test_markers_that_coincide_are_set_apart():
    rows = pl.concat([ROWS] * 2).with_columns(copy="score", other=-pl.col("score"))
    models = ["score", "copy", "other"]
    [(view, marked)] = drawn(
        rows.prc.plot("late", models, points={"recall": 1}), "point", "criterion"
    )
    assert view["mark"]["xOffset"] == {"expr": "datum.dx"}
    assert [row["dx"] for row in marked] == [-5, 5, 0]


def test_a_number_and_its_percent_sign_stay_together():
    for width in (200, 240, 300, 420):
        chart = ROWS.prc.plot("late", "score", size=(width, 100), ci=0.9)
        assert not any(line.startswith("%") for line in words(chart))


def test_many_ribbons_in_a_panel_are_faint():
    rows = pl.concat(ROWS.with_columns(key=pl.lit(str(i))) for i in range(5))
    opacities = []
    for keys in (4, 5):
        some = rows.filter(pl.col("key") < str(keys))
        chart = some.prc.plot("late", "score", by="key", ci=0.9, facet=False)
        [(view, _)] = drawn(chart, "area", "precision_low")
        opacities.append(view["mark"]["opacity"])
    assert opacities[1] < opacities[0] / 2


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


def test_points_of_several_lines_have_a_table_in_place_of_numbers_on_other_lines():
    points = {"recall": 1, "precision": 0.9}
    chart = ROWS.with_columns(other=-pl.col("score")).prc.plot(
        "late", ["score", "other"], points=points
    )
    assert drawn(chart, "text", "label_dx") == []
    assert "Numbers at markers" not in " ".join(words(chart))
    found = tabled(chart)
    assert found["score · recall ≥ 1"][:4] == ["0.400", "0.667", "1.000", "3"]
    assert found["other · precision ≥ 0.9"][0] == ""
    assert len(found) == 4


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


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Int64])
def test_thresholds_may_be_of_any_dtype_and_infinite(dtype):
    rows = ROWS.with_columns(score=(pl.col("score") * 10).cast(dtype))
    thresholds = [row["threshold"] for row in lines(rows.prc.plot("late", "score"))[0]]
    assert thresholds == ["inf", "9.0", "4.0"]
    if dtype in (pl.Float32, pl.Float64):
        infinite = rows.with_columns(score=pl.Series([math.inf, 0.1, 0.1, -math.inf], dtype=dtype))
        chart = infinite.prc.plot("late", "score")
        assert [row["threshold"] for row in lines(chart)[0]] == ["inf", "inf", "0.1"]
        assert not re.search(r"NaN|Infinity", chart.to_json())


def test_scores_of_iso_lines_may_be_numbers_of_any_type():
    given = [Fraction(1, 4), Decimal("0.5"), np.float32(0.75)]
    chart = ROWS.prc.plot("late", "score", iso_f1=given)
    assert chart.to_dict() == ROWS.prc.plot("late", "score", iso_f1=[0.25, 0.5, 0.75]).to_dict()
