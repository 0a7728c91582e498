"""The chart of a summary: a dot per segment, and models compared."""

from __future__ import annotations

import re

import polars as pl
import pytest
from chart_reading import drawn, of, of_segments, order, row_count, segments, words
from kinds import every_kind

from frame_prc import DataError


def ranked(*hits):
    """Return rows of one segment, from the top of the ranking."""
    return pl.DataFrame({"late": [*map(bool, hits)], "old": [-i / 10 for i in range(len(hits))]})


THREE = pl.concat(
    [
        ranked(1, 0, 1).with_columns(segment=pl.lit("a")),  # (1 + 2/3) / 2
        ranked(1, 1, 0, 0).with_columns(segment=pl.lit("b")),  # 1
        ranked(0, 0).with_columns(segment=pl.lit("c")),  # none
        ranked(0, 1).with_columns(segment=pl.lit("d")),  # 1/2
    ]
)


@every_kind
def test_summary_has_a_dot_per_segment_by_average_precision(kind):
    chart = kind.make(THREE).prc.plot_summary("late", "old", by="segment", calibrate=None)
    [(_, dots)] = drawn(chart, "circle", "average_precision")
    areas = {dot["name"]: dot["average_precision"] for dot in of_segments(dots)}
    assert areas == {"a": pytest.approx(5 / 6), "b": 1.0, "d": 0.5}
    assert order(chart) == ["b", "a", "d", "c"]
    [(_, rules)] = drawn(chart, "rule", "ci_low")
    interval = {dot["name"]: (dot["ci_low"], dot["ci_high"]) for dot in rules}
    assert interval["a"][0] < 5 / 6 < interval["a"][1]
    [(_, sizes)] = drawn(chart, "text", "sizes")
    assert {row["name"]: row["sizes"] for row in sizes} == {
        "all rows": "5 / 11 (few)",
        "a": "2 / 3 (few)", "b": "2 / 4 (few)", "c": "0 / 2", "d": "1 / 2 (few)",
    }  # fmt: skip
    # Twice: the first in the colour of the background, so that no grid crosses the text.
    [(_, undefined)] = drawn(chart, "text", "status_text")
    assert of(undefined, "name", "status_text") == [{"name": "c", "status_text": "no positives"}]


def test_ticks_of_weighted_rows_are_prevalences():
    weighted = THREE.with_columns(w=2.0)
    chart = weighted.prc.plot_summary("late", "old", by="segment", weight="w", calibrate=None)
    assert ticks(chart) == pytest.approx({"a": 2 / 3, "b": 1 / 2, "d": 1 / 2}, rel=1e-15)
    says = "Ticks: prevalence, close to the average precision of a random ranking."
    assert says in " ".join(words(chart))


def ticks(chart, title="Average precision"):
    [(view, rows)] = drawn(chart, "tick", "name")
    assert view["encoding"]["x"]["title"] == title
    field = view["encoding"]["x"]["field"]
    return {row["name"]: row[field] for row in of_segments(rows)}


def test_charts_say_what_lies_below_chance():
    worse = ranked(*[0] * 50, *[0, 1] * 50)
    summary = worse.prc.plot_summary("late", "old")
    said = [row["status_text"] for row in drawn(summary, "circle")[0][1]]
    assert said == ["below chance"]
    assert "worse than random: is a lower score better?" in " ".join(words(summary))
    assert re.search(
        r"AP 0\.\d+ < chance \(0\.\d+\)", " ".join(words(worse.prc.plot("late", "old")))
    )
    better = ranked(*[1, 0] * 50, *[0] * 50).prc.plot_summary("late", "old")
    assert "lower score" not in " ".join(words(better))


@every_kind
def test_summary_takes_counts_and_curves_and_has_ticks_at_a_random_ranking(kind):
    plain = {"calibrate": None}
    of_rows = THREE.prc.plot_summary("late", "old", by="segment", **plain)
    dots = drawn(of_rows, "circle")[0][1]
    counts = kind.make(THREE.prc.counts("late", "old", by="segment"))
    from_counts = counts.prc.plot_summary(
        by="segment", score="threshold", pos="pos", neg="neg", **plain
    )
    curve = kind.make(THREE.prc.curve("late", "old", by="segment"))
    columns = ["name", "average_precision", "ci_low", "ci_high", "n", "n_pos"]
    # Rows and positives: 3 and 2, 4 and 2, 2 and 1; the mean over the orders of their labels.
    wanted = {"a": 29 / 36, "b": 49 / 72, "d": 3 / 4}
    for chart in (of_rows, from_counts, curve.prc.plot_summary(**plain)):
        assert of(drawn(chart, "circle")[0][1], *columns) == of(dots, *columns)
        assert ticks(chart) == pytest.approx(wanted, rel=1e-15)
        assert "Ticks: average precision of a random ranking." in " ".join(words(chart))


@pytest.mark.parametrize("given", ["rows", "counts"])
def test_two_models_are_paired_and_sorted_by_difference(given):
    rows = THREE.with_columns(new=pl.when(segment="d").then(-pl.col("old")).otherwise("old"))
    if given == "rows":
        chart = rows.prc.plot_summary("late", ["old", "new"], by="segment", calibrate=None)
    else:
        counts = rows.prc.counts("late", ["old", "new"], by="segment")
        # Their models are in the order of their names.
        counts = counts.with_columns(model=pl.col("model").replace({"old": "1", "new": "2"}))
        chart = counts.prc.plot_summary(
            by=["model", "segment"], score="threshold", pos="pos", neg="neg", calibrate=None
        )
    new, old = ("new", "old") if given == "rows" else ("2", "1")
    [(_, differences)] = drawn(chart, "circle", "difference")
    # The second model ranks d the right way round.
    by_name = {row["name"]: row["difference"] for row in of_segments(differences)}
    assert by_name == {"a": 0, "b": 0, "d": 0.5}
    assert {(row["model"], row["baseline"]) for row in differences} == {(new, old)}
    assert order(chart) == ["d", "a", "b", "c"]
    joined = {row["name"]: (row["low"], row["high"]) for row in drawn(chart, "rule", "low")[0][1]}
    assert joined["d"] == (0.5, 1.0)
    [(view, dots)] = drawn(chart, "circle", "average_precision")
    assert {dot["model"] for dot in dots} == {new, old}
    assert view["encoding"]["yOffset"]["scale"]["domain"] == [old, new]
    [(_, rules)] = drawn(chart, "rule", "difference", "ci_low")
    assert any(row["ci_low"] is not None for row in rules) == (given == "rows")


# By hand: of all its rows a has (1 + 1 + 3/4) / 3 and b has 1/2; of the rows of both, 1/2 and 1.
# In south no row has both scores.
SOME_LACK = pl.DataFrame(
    {
        "region": ["north"] * 5 + ["south"] * 2,
        "late": [1, 1, 0, 1, 0, 1, 0],
        "a": [0.9, 0.8, 0.7, 0.2, None, 0.9, float("nan")],
        "b": [None, float("nan"), 0.4, 0.5, 0.95, None, 0.3],
    }
)


@every_kind
@pytest.mark.parametrize("models", [["a", "b"], {"a": "a", "b": "b", "c": pl.col("a") * 2}])
@pytest.mark.parametrize("given", ["rows", "pos and neg"])
def test_models_are_summarised_on_the_rows_they_are_compared_on(kind, models, given):
    frame = kind.make(SOME_LACK.with_columns(early=1 - pl.col("late")))
    roles = {"truth": "late"} if given == "rows" else {"pos": "late", "neg": "early"}
    chart = frame.prc.plot_summary(
        score=models, **roles, by="region", missing="drop", baseline="b", calibrate=None
    )
    dots = [
        dot for _, some in drawn(chart, "circle", "average_precision") for dot in of_segments(some)
    ]
    areas = {dot["model"]: dot["average_precision"] for dot in dots}
    differences = [
        row for _, some in drawn(chart, "circle", "difference") for row in of_segments(some)
    ]
    assert areas == {"a": 0.5, "b": 1.0} | ({"c": 0.5} if "c" in models else {})
    assert {row["model"]: row["difference"] for row in differences} == {
        name: area - 1.0 for name, area in areas.items() if name != "b"
    }
    [(_, sizes)] = drawn(chart, "text", "sizes")
    assert of(of_segments(sizes), "name", "sizes") == [
        {"name": "north", "sizes": "1 / 2 (few)"}, {"name": "south", "sizes": "0 / 0"},
    ]  # fmt: skip
    assert "Rows with a missing value are left out for all models." in " ".join(words(chart))


def test_several_models_are_compared_with_a_baseline():
    rows = THREE.with_columns(new=-pl.col("old"), same=pl.col("old"))
    models = ["old", "new", "same"]
    chart = rows.prc.plot_summary("late", models, by="segment", baseline="old", calibrate=None)
    found = {
        (row["name"], row["model"]): row["difference"]
        for _, some in drawn(chart, "circle", "difference")
        for row in of_segments(some)
    }
    # The other way round a is - + +... that is 1/1 and 2/3 again; b has 1/3 and 2/4; d has 1.
    assert found == {
        ("a", "new"): 0, ("a", "same"): 0, ("b", "new"): pytest.approx(5 / 12 - 1),
        ("b", "same"): 0, ("d", "new"): 0.5, ("d", "same"): 0,
    }  # fmt: skip
    without = rows.prc.plot_summary("late", models, by="segment", calibrate=None)
    assert drawn(without, "circle", "difference") == []
    assert order(without) == ["b", "d", "a", "c"]


def test_summary_of_too_many_segments_or_models_is_an_error():
    models = {str(place): pl.col("old").alias(str(place)) for place in range(8)}
    with pytest.raises(DataError, match=r"have 8 models\. Allowed: up to 7 models\. Hint: choose"):
        segments(2).prc.plot_summary("late", models, by="segment")
    for score in ("old", ["old", "new"]):
        with pytest.raises(
            DataError, match=r"have 201 segments\. Allowed: up to 200 segments\. Hint: filter"
        ):
            segments(201).prc.plot_summary("late", score, by="segment")
    chart = segments(200).prc.plot_summary("late", "old", by="segment")
    assert row_count(chart) < 5000


@pytest.mark.parametrize("source", ["rows", "counts", "curve"])
def test_calibrated_areas_stand_at_one_prevalence(source):
    asked = {"by": "segment", "calibrate": 0.25}
    if source == "rows":
        chart = THREE.prc.plot_summary("late", "old", **asked)
    elif source == "counts":
        counts = THREE.prc.counts("late", "old", by="segment")
        chart = counts.prc.plot_summary(score="threshold", pos="pos", neg="neg", **asked)
    else:
        curve = THREE.prc.curve("late", "old", by="segment")
        chart = curve.prc.plot_summary(calibrate=0.25)
    [(_, dots)] = drawn(chart, "circle", "average_precision")
    areas = {dot["name"]: dot["average_precision"] for dot in of_segments(dots)}
    # One negative counts as 3 positives, spread over the negatives of its segment.
    assert areas == pytest.approx({"a": (1 + 2 / (2 + 6)) / 2, "b": 1.0, "d": 1 / 4})
    assert ticks(chart, "Calibrated average precision") == {"a": 0.25, "b": 0.25, "d": 0.25}
    said = " ".join(words(chart))
    assert "Calibrated average precision with 95 % intervals" in said
    assert "Compared at one prevalence for all segments, 0.25 (ticks)." in said


def test_differences_are_of_calibrated_areas_too():
    df = THREE.with_columns(new=pl.col("old") * pl.when("late").then(0.5).otherwise(1.0))
    asked = {"by": "segment", "calibrate": 0.25}
    chart = df.prc.plot_summary("late", ["old", "new"], **asked)
    [(_, dots)] = drawn(chart, "circle", "difference")
    table = df.prc.compare_models("late", ["new", "old"], **asked).drop_nulls("difference")
    expected = dict(table.select("segment", "difference").iter_rows())
    assert {dot["name"]: dot["difference"] for dot in of_segments(dots)} == pytest.approx(expected)
