"""Lines of precision and recall, in panels, with legends."""

from __future__ import annotations

import re

import polars as pl
import pytest
from chart_reading import (
    REGIONS,
    ROWS,
    drawn,
    legend,
    lines,
    of,
    segments,
    specification,
    views,
    words,
)
from kinds import every_kind
from layers import also

import frame_prc

STEPS = [
    {"threshold": "inf", "tp": 0, "fp": 0, "recall": 0.0, "precision": 1.0},
    {"threshold": "0.9", "tp": 1, "fp": 0, "recall": 0.5, "precision": 1.0},
    {"threshold": "0.4", "tp": 2, "fp": 1, "recall": 1.0, "precision": 0.66667},
]  # the point after it reaches no more positives
COUNTS = pl.DataFrame({"threshold": [0.9, 0.4, 0.2], "pos": [1, 1, 0], "neg": [0, 1, 1]})


# --- lines -------------------------------------------------------------------------------------


def assert_is_by_hand(chart, steps=STEPS):
    [(line, rows)] = drawn(chart, "line", "threshold")
    assert of(rows, *STEPS[0]) == [pytest.approx(step) for step in steps]
    # The precision of a point holds back to the recall before it, in the order of the rows.
    assert line["mark"]["interpolate"] == "step-before"
    assert line["encoding"]["order"]["field"] == "order"
    assert [row["order"] for row in rows] == [*range(len(steps))]
    assert line["encoding"]["x"]["scale"]["domain"] == line["encoding"]["y"]["scale"]["domain"]
    assert re.match(r"AP 0\.833 \[0\.\d+, (0\.\d+|1\.000)\]$", words(chart)[1])


@every_kind
def test_rows_are_drawn_in_steps(kind):
    assert_is_by_hand(frame_prc.plot(kind.make(ROWS), "late", "score"))


@every_kind
def test_counts_are_drawn_in_steps(kind):
    assert_is_by_hand(kind.make(COUNTS).prc.plot(score="threshold", pos="pos", neg="neg"))


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_a_curve_is_drawn_from_a_file(suffix, tmp_path):
    curve, path = ROWS.prc.curve("late", "score"), tmp_path / f"curve.{suffix}"
    if suffix == "tsv":
        curve.write_csv(path, separator="\t")
        assert_is_by_hand(pl.scan_csv(path, separator="\t").prc.plot())
    else:
        curve.write_parquet(path)
        assert_is_by_hand(pl.scan_parquet(path).prc.plot())


@every_kind
def test_a_curve_in_any_order_of_rows_is_the_same(kind):
    curve = REGIONS.prc.curve("late", ["old", "new"], by="region")
    shuffled = curve.sample(fraction=1, shuffle=True, seed=1)
    assert lines(frame_prc.plot(kind.make(shuffled))) == lines(frame_prc.plot(curve))


@pytest.mark.parametrize(("start", "steps"), [("first", 1.0), (None, None)])
def test_curves_open_as_their_frame_does(start, steps):
    rows = ROWS.with_columns(late=~pl.col("late"))
    own = lines(frame_prc.plot(rows.prc.curve("late", "score", start=start)))[0]
    # Ranked 0.9 - | 0.4 + - | 0.2 +: the first point has recall and precision 0.
    opening = {"threshold": "inf" if steps else "0.9", "recall": 0.0, "precision": 0.0}
    assert of(own, *opening)[:2] == [
        opening, {"threshold": "0.4", "recall": 0.5, "precision": 0.33333},
    ]  # fmt: skip


def test_a_curve_without_its_last_points_keeps_its_totals():
    curve = ROWS.prc.curve("late", "score").head(2)
    chart = curve.prc.plot()
    assert of(lines(chart)[0], "tp", "recall") == [
        {"tp": 0, "recall": 0.0}, {"tp": 1, "recall": 0.5},
    ]  # fmt: skip
    assert words(chart)[1].startswith("AP 0.500")


def test_weights_have_an_interval_from_rows_and_none_from_sums():
    weighted = ROWS.with_columns(w=pl.Series([2.0, 1.0, 1.0, 1.0]))
    chart = weighted.prc.plot("late", "score", weight="w")
    # Weights 2 of 3 found at precision 1, then 3 of 4 at recall 1.
    assert of(lines(chart)[0], "tp", "precision")[1:3] == [
        {"tp": 2.0, "precision": 1.0}, {"tp": 3.0, "precision": 0.75},
    ]  # fmt: skip
    assert words(chart)[1].startswith("AP 0.917 [")
    curve = weighted.prc.curve("late", "score", weight="w")
    assert words(frame_prc.plot(curve))[1] == "AP 0.917"


def test_objects_never_retrieved_count_in_recall():
    rows = ROWS.with_columns(score=pl.Series([0.9, 0.4, None, 0.2]))
    chart = rows.prc.plot("late", "score", missing="unretrieved")
    assert [row["recall"] for row in lines(chart)[0]] == [0.0, 0.5]
    curve = rows.prc.curve("late", "score", missing="unretrieved")
    assert of(lines(curve.prc.plot())[0], "recall", "precision", "threshold") == of(
        lines(chart)[0], "recall", "precision", "threshold"
    )


def test_a_line_opens_at_its_first_step_and_not_at_the_start_point():
    # Ranked 0.9 - | 0.4 + - | 0.2 +: the first step, to recall 0.5, has precision 1/3.
    chart = ROWS.with_columns(late=~pl.col("late")).prc.plot("late", "score")
    [(line, rows)] = drawn(chart, "line", "threshold")
    assert line["encoding"]["y"]["field"] == "height"
    assert of(rows, "recall", "height") == [
        pytest.approx({"recall": recall, "height": height})
        for recall, height in [(0, 0.33333), (0.5, 0.33333), (1, 0.5)]
    ]
    [(opening, _)] = [
        (view, rows) for view, rows in drawn(chart, "rule", "height") if "y2" in view["encoding"]
    ]
    assert opening["mark"]["opacity"] < 0.5
    assert opening["transform"][0] == {"filter": "datum.tp + datum.fp == 0"}


def test_lines_of_few_positives_are_faint_and_say_so():
    chart = REGIONS.prc.plot("late", "old", by="region")
    [(line, rows)] = drawn(chart, "line", "threshold")
    tests = [condition["test"] for condition in line["encoding"]["opacity"]["condition"]]
    assert tests == [{"not": {"param": "pick"}}, "datum.few"]
    assert {row["few"] for row in rows} == {True}
    assert "(few), drawn faint: fewer than 20 positives." in " ".join(words(chart))
    many = pl.concat([ROWS] * 10).prc.plot("late", "score")
    [(line, rows)] = drawn(many, "line", "threshold")
    assert "opacity" not in line["encoding"]
    assert words(many)[2] == "20 of 40 positive"


# --- panels and legends ------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "score", "facet", "panels", "overlaid"),
    [
        (1, ["old", "new"], None, 1, 2),
        (6, "old", None, 1, 6),
        (7, "old", None, 7, 1),
        (3, ["old", "new"], "model", 2, 3),
        *also(
            (2, ["old", "new"], None, 2, 2),
            (2, ["old", "new"], False, 1, 4),
            (3, ["old", "new"], ["model", "segment"], 6, 1),
        ),
    ],
)
def test_lines_share_a_panel_or_do_not(count, score, facet, panels, overlaid):
    chart = segments(count).prc.plot("late", score, by="segment", facet=facet)
    found = lines(chart)
    assert len(found) == panels
    assert {len({row["series"] for row in rows}) for rows in found} == {overlaid}


def test_a_model_key_of_counts_and_curves_tells_models_apart():
    counts = REGIONS.prc.counts("late", ["old", "new"], by="region")
    chart = counts.prc.plot(by=["model", "region"], score="threshold", pos="pos", neg="neg")
    assert (len(lines(chart)), legend(chart)) == (2, ["new", "old"])
    curve = REGIONS.prc.curve("late", ["old", "new"], by="region")
    assert lines(curve.prc.plot()) == lines(chart)


def test_areas_stand_in_the_legend_of_one_panel():
    names = legend(REGIONS.prc.plot("late", "old", by="region"))
    assert [re.sub(r" \[.*", "", name) for name in names] == ["north: AP 0.833", "south: AP 0.833"]
    sizes = [re.sub(r".* \[0\.\d{3}, (0\.\d{3}|1\.000)\], ", "", name) for name in names]
    assert sizes == ["2 of 4 positive (few)", "2 of 3 positive (few)"]


def test_areas_stand_above_panels():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region")
    assert words(chart)[-2:] == ["north", "south"]
    texts = [
        re.sub(r" \[.*", "", row["text"])
        for _, rows in drawn(chart, "text", "text", "place")
        for row in rows
    ]
    assert texts == [
        "old: AP 0.833", "new: AP 1.000", "2 of 4 positive (few)",
        "old: AP 0.833", "new: AP 1.000", "2 of 3 positive (few)",
    ]  # fmt: skip
    # Each has the colour of its line before it: long names are cut.
    swatches = drawn(chart, "point", "text", "place")
    assert [[row["series"] for row in rows] for _, rows in swatches] == [["old", "new"]] * 2


def test_every_panel_has_the_prevalence_as_baseline():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region")
    rules = drawn(chart, "rule", "prevalence")
    assert [[row["prevalence"] for row in rows] for _, rows in rules] == [[0.5], [2 / 3]]
    assert all("strokeDash" in view["mark"] for view, _ in rules)
    [(_, together)] = drawn(REGIONS.prc.plot("late", "old", by="region"), "rule", "prevalence")
    assert [row["prevalence"] for row in together] == [0.5, 2 / 3]


def test_lines_of_equal_f1_lie_behind():
    [(view, rows)] = drawn(ROWS.prc.plot("late", "score"), "line", "f_score")
    assert {row["f_score"] for row in rows} == {0.2, 0.4, 0.6, 0.8}
    for row in rows:
        p, r = row["precision"], row["recall"]
        assert 2 * p * r / (p + r) == pytest.approx(row["f_score"])
    assert next(views(specification(ROWS.prc.plot("late", "score"))))[0]["mark"] == view["mark"]
    [(_, one)] = drawn(ROWS.prc.plot("late", "score", iso_f1=[0.5]), "line", "f_score")
    assert {row["f_score"] for row in one} == {0.5}
    assert drawn(ROWS.prc.plot("late", "score", iso_f1=False), "line", "f_score") == []


# --- where the axis of precision ends ----------------------------------------------------------


def rare(first):
    """Return rows with 1 positive in 10, of which the ranking says nothing, below ``first``."""
    many = pl.DataFrame({"late": ([False] * 9 + [True]) * 40, "score": range(400, 0, -1)})
    top = pl.DataFrame({"late": first, "score": range(500 + len(first), 500, -1)})
    return pl.concat([top, many], how="vertical_relaxed")


def top_of(chart):
    [(line, _)] = drawn(chart, "line", "threshold")
    return line["encoding"]["y"]["scale"]["domain"][1], line["mark"].get("clip", False)


@pytest.mark.parametrize(
    ("first", "y", "top"),
    [
        ([False], "auto", 0.15),
        ([True], "auto", 0.15),  # precision 1 at recall 1/41 is one row
        ([True] * 5, "auto", 1.0),
        ([False], 1, 1.0),
        ([False], 0.4, 0.4),
    ],
)
def test_the_axis_ends_above_what_is_low(first, y, top):
    chart = rare(first).prc.plot("late", "score", y=y)
    assert top_of(chart) == (top, top < 1)
    assert (f"The axis of precision ends at {top:g}." in " ".join(words(chart))) == (top < 1)
    scores = {row["f_score"] for _, rows in drawn(chart, "line", "f_score") for row in rows}
    assert scores == {f for f in (0.2, 0.4, 0.6, 0.8) if f / (2 - f) < top}


# --- a legend in which one picks -----------------------------------------------------------------


def test_a_click_in_the_legend_of_one_panel_picks_a_line():
    chart = REGIONS.prc.plot("late", "old", by="region")
    [pick] = [p for p in specification(chart)["params"] if p["name"] == "pick"]
    assert (pick["bind"], pick["select"]["fields"]) == ("legend", ["series"])
    panels = REGIONS.prc.plot("late", ["old", "new"], by="region")
    assert "pick" not in str(specification(panels)["params"])
