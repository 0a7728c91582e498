"""The chart over thresholds: its lines, the threshold it begins with, and the counts there."""

from __future__ import annotations

import math
import re

import polars as pl
import pytest
from chart_reading import REGIONS, ROWS, drawn, drawn_digits, of, read, specification, views, words
from kinds import every_kind
from layers import also

import frame_prc
from frame_prc import OptionError

COUNTS = ["tp", "fp", "fn", "tn", "precision", "recall"]


def rows_of(chart):
    """Return the rows that all panels share."""
    spec = specification(chart)
    return read(spec, spec["data"])


def slider(chart):
    [parameter] = [p for p in specification(chart)["params"] if p["name"] == "at"]
    return parameter["value"], parameter["bind"]


def chosen(chart):
    """Return the rows that the chart shows at first, as its transforms choose them."""
    value, _ = slider(chart)
    nearest = {}
    for row in sorted(rows_of(chart), key=lambda row: row["threshold"]):
        distance = abs(row["threshold"] - value)
        if row["line"] not in nearest or distance < nearest[row["line"]][0]:
            nearest[row["line"]] = distance, row
    return [row for _, row in nearest.values()]


def assert_is_verb(chart, points):
    """Compare all rows of a chart with operating points at their thresholds, to five digits."""
    known = points.with_columns(F1="f_score", predicted=pl.col("tp") + pl.col("fp"))
    columns = ["threshold", *COUNTS, "F1", "predicted", "predicted_rate"]
    rates = pl.col("precision", "recall", "F1", "predicted_rate").round_sig_figs(5)
    expected = known.sort("line", "threshold").select(columns).with_columns(rates).to_dicts()
    found = sorted(rows_of(chart), key=lambda row: (row["line"], row["threshold"]))
    assert of(found, *columns) == [
        {name: value if value is None else pytest.approx(value) for name, value in row.items()}
        for row in expected
    ]


@every_kind
def test_rows_are_the_operating_points_at_their_thresholds(kind):
    chart = kind.make(REGIONS).prc.plot("late", ["old", "new"], by="region", x="threshold")
    thresholds = [0.1, 0.2, 0.4, 0.7, 0.8, 0.9]
    assert sorted({row["threshold"] for row in rows_of(chart)}) == thresholds
    points = frame_prc.operating_points(
        REGIONS, "late", ["old", "new"], by="region", threshold=thresholds, details=True
    )
    lines = pl.DataFrame(
        {
            "model": ["new", "new", "old", "old"],
            "region": ["north", "south", "north", "south"],
            "line": range(4),
        }
    )
    assert_is_verb(chart, points.join(lines, on=["model", "region"]))
    panels = [part["title"]["text"] for part in specification(chart)["vconcat"][0]["concat"]]
    assert panels == ["old · north", "old · south", "new · north", "new · south"]


def test_long_curves_have_exact_counts_at_some_thresholds_and_stay_under_the_limit():
    rows = pl.DataFrame({"row": range(5000)}).with_columns(
        late=pl.col("row") * 7919 % 5003 < pl.col("row") * 0.3,
        score=(pl.col("row") / 5000) ** 3,
        w=1.0 + pl.col("row") % 3,
    )
    chart = rows.prc.plot("late", "score", weight="w", x="threshold", points={"threshold": 0.12345})
    thresholds = [row["threshold"] for row in rows_of(chart)]
    assert 150 < len(thresholds) <= 242
    assert len(rows_of(chart)) < 5000
    assert {0.12345, 0.5, 0.01, 0.0} <= set(thresholds)
    points = rows.prc.operating_points(
        "late", "score", weight="w", threshold=thresholds, details=True
    )
    assert_is_verb(chart, points.with_columns(line=0))
    assert f"the exact values at {len(thresholds)} thresholds." in " ".join(words(chart))
    best = rows.prc.operating_points("late", "score", weight="w", f_beta=1, details=True)[
        "threshold"
    ][0]
    assert best in thresholds


def test_the_chart_begins_with_the_largest_f1_or_the_threshold_given():
    # F1 is 2/3 at 0.9, 0.8 at 0.4 and 2/3 at 0.2.
    chart = ROWS.prc.plot("late", "score", x="threshold")
    assert slider(chart)[0] == 0.4
    assert of(chosen(chart), "threshold", "tp", "fp", "fn", "tn", "F1") == [
        {"threshold": 0.4, "tp": 2, "fp": 1, "fn": 0, "tn": 1, "F1": pytest.approx(0.8)}
    ]
    assert words(chart)[3].startswith("Vertical line and diamond: largest F1.")
    given = ROWS.prc.plot("late", "score", x="threshold", points={"threshold": 0.95})
    assert slider(given)[0] == 0.95
    assert of(chosen(given), "threshold", "tp", "precision", "recall") == [
        {"threshold": 0.95, "tp": 0, "precision": None, "recall": 0.0}
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "scores",
    [
        [1e308, -1e308, 0.0],
        *also([5e-324, 1e-308, 0.0], [0.3 + i * 1e-16 for i in range(500)], [0.3]),
        [0.0002, 0.0003],  # steps of 9.999999999999997e-08, whose logarithm is rounded to -7
    ],
    ids=["huge", "tiny", "close", "one", "near a power of ten"],
)
def test_the_slider_reaches_every_threshold_of_any_size(scores):
    rows = pl.DataFrame({"score": scores}).with_columns(late=pl.int_range(pl.len()) % 3 == 0)
    chart = rows.prc.plot("late", "score", x="threshold")
    value, bind = slider(chart)
    thresholds = {row["threshold"] for row in rows_of(chart)}
    assert {min(scores), max(scores), value} <= thresholds
    assert bind["min"] <= min(scores) <= max(scores) <= bind["max"]
    assert bind["min"] < bind["max"]
    assert 0 < bind["step"] < math.inf
    assert not re.search(r"NaN|Infinity", chart.to_json())


def test_lines_are_steps_between_scores_and_meet_the_chosen_point_on_the_curve():
    chart = ROWS.prc.plot("late", "score", x="threshold")
    found = [view for view, _ in views(specification(chart))]
    [line] = [v for v in found if v["mark"]["type"] == "line" and "measure" in str(v["encoding"])]
    # The value at a threshold between two scores is that of the higher score.
    assert line["mark"]["interpolate"] == "step-before"
    assert line["encoding"]["color"]["scale"]["domain"] == ["precision", "recall", "F1"]
    assert line["encoding"]["x"]["scale"]["domain"] == [0.2, 0.9]
    moving = [v for v in found if "datum.rank == 1" in str(v.get("transform"))]
    fields = {v["encoding"].get("x", {}).get("field") for v in moving}
    assert {"threshold", "recall", "column"} <= fields


@pytest.mark.parametrize(("count", "is_few"), [(19, True), (20, False)])
def test_precision_of_few_alerts_is_faint_and_that_is_said(count, is_few):
    rows = pl.DataFrame({"late": [True, False] * 20, "score": [0.5] * count + [0.1] * (40 - count)})
    chart = rows.prc.plot("late", "score", x="threshold")
    assert ("Faint: precision of fewer than 20 alerts." in " ".join(words(chart))) == is_few
    [line] = [
        view
        for view, _ in views(specification(chart))
        if view["mark"]["type"] == "line" and "measure" in str(view["encoding"])
    ]
    assert "datum.measure == 'precision' && datum.predicted < 20" in str(line["transform"])
    assert line["encoding"]["opacity"]["condition"] == {"test": "datum.few", "value": 0.3}


@pytest.mark.parametrize(
    ("dtype", "times", "texts"),
    [
        (pl.Float32, 1, ["0.9", "0.4", "0.2"]),
        *also((pl.Int64, 10, ["9.0", "4.0", "2.0"]), (pl.Decimal(5, 2), 10, ["9.0", "4.0", "2.0"])),
    ],
)
def test_scores_of_any_type_have_thresholds_with_their_digits(dtype, times, texts):
    rows = ROWS.with_columns(score=(pl.col("score") * times).cast(dtype))
    found = rows_of(rows.prc.plot("late", "score", x="threshold"))
    assert [row["threshold_text"] for row in found] == texts
    assert [row["threshold"] for row in found] == pytest.approx(list(map(float, texts)))


def test_infinite_scores_are_counted_and_not_drawn():
    rows = ROWS.with_columns(score=pl.Series([math.inf, 0.4, 0.4, -math.inf]))
    chart = rows.prc.plot("late", "score", x="threshold", points={"recall": [0.5, 1]})
    assert of(rows_of(chart), "threshold", "tp", "fp", "tn") == [
        {"threshold": 0.4, "tp": 2, "fp": 1, "tn": 1}
    ]
    marked = [rows for _, rows in drawn(chart, "point", "criterion")]
    assert {row["threshold"] for rows in marked for row in rows} == {0.4}
    all_infinite = rows.with_columns(score=pl.when("late").then(math.inf).otherwise(-math.inf))
    empty = all_infinite.prc.plot("late", "score", x="threshold")
    assert [rows for _, rows in drawn(empty, "text", "text")] == [[{"text": "no finite scores"}]]


@pytest.mark.thorough
def test_counts_and_curves_have_thresholds_too(tmp_path):
    chart = REGIONS.prc.plot("late", "old", by="region", x="threshold", ci=0.9)
    counts = REGIONS.prc.counts("late", "old", by="region")
    asked = {"by": "region", "score": "threshold", "pos": "pos", "neg": "neg"}
    assert rows_of(counts.prc.plot(**asked, x="threshold", ci=0.9)) == rows_of(chart)
    curve = REGIONS.prc.curve("late", "old", by="region")
    assert rows_of(curve.prc.plot(x="threshold", ci=0.9)) == rows_of(chart)
    chart.save(tmp_path / "chart.png")


def test_ribbons_are_those_of_the_curve():
    chart = ROWS.prc.plot("late", "score", x="threshold", ci=0.9)
    ends = ["precision_low", "precision_high"]
    curve = ROWS.prc.curve("late", "score", ci=0.9, start=None)
    assert of(rows_of(chart), *ends) == drawn_digits(curve.select(ends)).to_dicts()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"x": "score"}, "x='score' is not an option.*'recall', 'threshold'"),
        ({"roc": True}, "roc= is given with x='threshold'"),
        ({"band": True}, "band= is given with x='threshold'"),
        ({"facet": False}, "facet= is given with x='threshold'"),
        ({"overlay": "mean"}, "overlay= is given with x='threshold'"),
        ({"y": 0.5}, "y= is given with x='threshold'"),
        (
            {"points": {"threshold": math.inf}},
            "points={'threshold': inf} cannot be shown with x='threshold'",
        ),
    ],
)
def test_options_of_another_chart_are_refused(asked, says):
    with pytest.raises(OptionError, match=says):
        ROWS.prc.plot("late", "score", **{"x": "threshold", **asked})
