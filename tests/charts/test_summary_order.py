"""The order of a summary: of its rows, and of its models; and the room that its axes leave."""

from __future__ import annotations

import polars as pl
import pytest
from chart_reading import WHOLE, drawn, of, order, specification, words

from frame_prc import OptionError

# Average precisions of old and new: 1 and 5/12 in zoo, 1/2 and 1 in ant, 5/6 and 5/6 in bee.
SEGMENTS = {"zoo": [1, 1, 0, 0], "ant": [0, 1], "bee": [1, 0, 1]}
ROWS = pl.DataFrame(
    [
        (name, bool(hit), -place)
        for name, hits in SEGMENTS.items()
        for place, hit in enumerate(hits)
    ],
    schema=["segment", "late", "old"],
    orient="row",
).with_columns(new=-pl.col("old"))
MODELS = ["old", "new"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("score", "sort", "expected"),
    [
        ("old", None, ["zoo", "bee", "ant"]),
        ("old", "key", ["ant", "bee", "zoo"]),
        (MODELS, None, ["ant", "bee", "zoo"]),
        (["new", "old"], None, ["zoo", "bee", "ant"]),
        (MODELS, "value", ["ant", "zoo", "bee"]),
        (MODELS, "key", ["ant", "bee", "zoo"]),
    ],
)
def test_rows_are_in_the_order_asked_for(score, sort, expected):
    chart = ROWS.prc.plot_summary("late", score, by="segment", sort=sort)
    assert order(chart) == expected
    by_difference = sort == "difference" or (sort is None and len(score) == 2)
    assert ("Sorted by difference." in " ".join(words(chart))) == by_difference


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (pl.col("segment").cast(pl.Enum(["bee", "zoo", "ant"])), ["bee", "zoo", "ant"]),
        (pl.col("segment").replace_strict({"bee": 10, "zoo": 2, "ant": 30}), [2, 10, 30]),
        (pl.col("segment").replace_strict({"bee": 1.5, "zoo": 0.5, "ant": 9.5}), [0.5, 1.5, 9.5]),
        (
            pl.duration(hours=pl.col("segment").replace_strict({"bee": 30, "zoo": 2, "ant": 4})),
            ["2:00:00", "4:00:00", "1 day, 6:00:00"],
        ),
    ],
    ids=["Enum", "Int64", "Float64", "Duration"],
)
def test_keys_with_an_order_of_their_own_keep_it(key, expected):
    rows = ROWS.with_columns(key=key)
    names = [f"key {value}" if not isinstance(value, str) else value for value in expected]
    assert order(rows.prc.plot_summary("late", "old", by="key")) == names


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"sort": "size"}, "sort='size' is not an option. Allowed: None, 'value', 'difference'"),
        (
            {"sort": "difference"},
            "sort='difference' is given, and there is one model. Allowed: two",
        ),
        (
            {"sort": "difference", "score": [*MODELS, "third"]},
            "sort='difference' is given, and there are 3 models. Allowed: two models, or several",
        ),
    ],
)
def test_orders_that_there_are_not_are_refused(asked, says):
    frame = ROWS.with_columns(third=pl.col("old") * 2)
    with pytest.raises(OptionError, match=says):
        frame.prc.plot_summary("late", **{"score": "old", "by": "segment", **asked})
    chart = frame.prc.plot_summary(
        "late", [*MODELS, "third"], by="segment", baseline="new", sort="difference"
    )
    assert order(chart) == ["zoo", "bee", "ant"]


# --- all rows, and few ---------------------------------------------------------------------------


def test_all_rows_come_first_in_bold_above_a_line():
    chart = ROWS.prc.plot_summary("late", MODELS, by="segment", calibrate="pooled")
    [(view, rows)] = drawn(chart, "circle", "average_precision")
    assert view["encoding"]["y"]["sort"][0] == WHOLE
    assert WHOLE in view["encoding"]["y"]["axis"]["labelFontWeight"]["condition"]["test"]
    # All rows are at their own prevalence.
    pooled = ROWS.prc.average_precision("late", MODELS)["average_precision"]
    whole = [row["average_precision"] for row in rows if row["name"] == WHOLE]
    assert whole == pytest.approx(pooled.to_list())
    [(_, differences)] = drawn(chart, "circle", "difference")
    compared = ROWS.prc.compare_models("late", MODELS)
    assert differences[0]["difference"] == pytest.approx(compared["difference"][0])
    # The interval is that of the pair on the same rows.
    pooled = {"measure": "calibrated_average_precision", "calibrate": "pooled"}
    paired = ROWS.prc.compare_models("late", MODELS, **pooled).row(0, named=True)
    for end in ("ci_low", "ci_high"):
        assert differences[0][end] == pytest.approx(paired[end], abs=1e-3)
    lines = [v for v, found in drawn(chart, "rule", "name") if found == [{"name": WHOLE}]]
    assert [view["encoding"]["y"]["bandPosition"] for view in lines] == [1, 1, 1]


def test_all_rows_stand_at_the_prevalence_of_the_segments():
    chart = ROWS.prc.plot_summary("late", MODELS, by="segment", calibrate="highest")
    [(_, rows)] = drawn(chart, "circle", "average_precision")
    assert len({row["reference_prevalence"] for row in rows}) == 1
    asked = {"measures": "calibrated_average_precision", "calibrate": "highest", "overall": True}
    table = ROWS.prc.summary("late", MODELS, by="segment", **asked).filter(level="pooled")
    names = [f"calibrated_average_precision{end}" for end in ("", "_low", "_high")]
    found = of(
        [row for row in rows if row["name"] == WHOLE], "average_precision", "ci_low", "ci_high"
    )
    assert [[*row.values()] for row in found] == [
        pytest.approx(list(row)) for row in table.select(names).rows()
    ]


def test_few_positives_come_last_below_a_line_unless_keys_have_an_order():
    many = wide_and_narrow()
    rows = pl.concat([many, many.filter(segment="many").with_columns(segment=pl.lit("more"))])
    chart = rows.prc.plot_summary("late", "new", by="segment")
    assert order(chart) == ["many", "more", "few"]
    [(view, _), *_] = [v for v in drawn(chart, "rule", "name") if v[1] == [{"name": "few"}]]
    assert view["encoding"]["y"]["bandPosition"] == 0
    kept = rows.prc.plot_summary("late", "new", by="segment", sort="key")
    assert order(kept) == ["few", "many", "more"]


# --- two keys ------------------------------------------------------------------------------------


def test_two_keys_are_a_heat_map_on_request():
    rows = pl.concat([ROWS.with_columns(day=pl.lit(day)) for day in ("b", "a")])
    rows = rows.filter((pl.col("segment") != "ant") | (pl.col("day") == "a"))
    asked = {"by": ["day", "segment"], "kind": "heatmap"}
    chart = rows.prc.plot_summary("late", MODELS, **asked)
    panels = specification(chart)["concat"]
    assert [panel["title"] for panel in panels] == MODELS
    cells, _ = drawn(chart, "rect", "average_precision")
    # The key with fewer values is in columns.
    encoding = cells[0]["encoding"]
    assert (encoding["x"]["sort"], encoding["y"]["sort"]) == (["a", "b"], ["ant", "bee", "zoo"])
    measures = "calibrated_average_precision"
    table = rows.prc.summary("late", "old", by=["day", "segment"], measures=measures)
    wanted = table.select(measures, "n_pos").sort(pl.all()).rows()
    found = of(cells[1], "average_precision", "text")
    assert sorted((row["average_precision"], int(row["text"])) for row in found) == [
        pytest.approx(pair) for pair in wanted
    ]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"by": "segment"}, "kind='heatmap' is given with 1 keys. Allowed: two keys in by="),
        ({"sort": "value"}, "sort= is given with kind='heatmap'"),
        ({"baseline": "old"}, "baseline= is given with kind='heatmap'"),
    ],
)
def test_what_a_heat_map_has_not_is_refused(asked, says):
    rows = ROWS.with_columns(day=1)
    with pytest.raises(OptionError, match=says):
        rows.prc.plot_summary("late", MODELS, **{"by": ["segment", "day"], **asked}, kind="heatmap")


# --- axes ----------------------------------------------------------------------------------------


def wide_and_narrow() -> pl.DataFrame:
    """Return a segment of many rows, and one of two positives whose models differ completely."""
    many = pl.DataFrame({"segment": "many", "late": [1, 0, 0, 0] * 100, "old": range(400)})
    few = pl.DataFrame({"segment": "few", "late": [1, 0, 1, 0, 0, 0], "old": range(6)})
    rows = pl.concat([many, few])
    return rows.with_columns(
        new=pl.when(segment="many")
        .then(pl.col("old") + 40 * pl.col("late"))
        .otherwise(-pl.col("old"))
    )


def test_intervals_of_few_positives_are_cut_off_at_the_frame():
    chart = wide_and_narrow().prc.plot_summary("late", MODELS, by="segment")
    [(rule, rows)] = drawn(chart, "rule", "difference", "ci_low")
    [(circle, _)] = drawn(chart, "circle", "difference")
    low, high = circle["encoding"]["x"]["scale"]["domain"]
    ends = {row["name"]: (row["ci_low"], row["ci_high"]) for row in rows}
    assert low < ends["many"][0] < ends["many"][1] < high
    assert ends["few"][0] < low
    assert rule["mark"]["clip"]
    assert "cut off" in " ".join(words(chart))
    # Where most segments have few positives, the axis is for them.
    rows = wide_and_narrow()
    more = [rows.filter(segment="few").with_columns(segment=pl.lit(f"few {i}")) for i in (1, 2)]
    of_few = pl.concat([rows, *more]).prc.plot_summary("late", MODELS, by="segment")
    assert "cut off" not in " ".join(words(of_few))
    alone = wide_and_narrow().filter(segment="many").prc.plot_summary("late", MODELS, by="segment")
    assert "cut off" not in " ".join(words(alone))
