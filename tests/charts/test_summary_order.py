"""The order of a summary: of its rows, and of its models; and the room that its axes leave."""

from __future__ import annotations

import polars as pl
import pytest
from chart_reading import drawn, order, specification, words

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
        (MODELS, None, ["zoo", "bee", "ant"]),
        (["new", "old"], None, ["ant", "bee", "zoo"]),
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


def test_an_order_of_one_of_several_keys_is_none_of_the_rows():
    rows = ROWS.with_columns(
        number=pl.col("segment").replace_strict({"bee": 1, "zoo": 2, "ant": 3})
    )
    for score in ("old", MODELS):
        chart = rows.prc.plot_summary("late", score, by=["number", "segment"])
        assert [name.split(" · ")[1] for name in order(chart)] == ["zoo", "bee", "ant"]


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


@pytest.mark.parametrize(
    ("models", "given"), [(["old", "new"], "rows"), (["new", "old"], "rows"), (["new", "old"], "")]
)
def test_models_have_colours_in_the_order_given(models, given):
    frame = ROWS.with_columns(hit=pl.col("late").cast(int), miss=(~pl.col("late")).cast(int))
    roles = {"truth": "late"} if given == "rows" else {"pos": "hit", "neg": "miss"}
    chart = frame.prc.plot_summary(score=models, by="segment", **roles)
    [(view, _)] = drawn(chart, "circle", "average_precision")
    assert view["encoding"]["color"]["scale"]["domain"] == models
    [(view, rows)] = drawn(chart, "circle", "difference")
    assert {(row["model"], row["baseline"]) for row in rows} == {tuple(models)}
    assert view["encoding"]["x"]["title"] == " \N{MINUS SIGN} ".join(models)


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


def test_areas_start_at_zero_and_nothing_touches_the_frame():
    chart = wide_and_narrow().prc.plot_summary("late", MODELS, by="segment")
    [(view, rows)] = drawn(chart, "circle", "average_precision")
    scale = view["encoding"]["x"]["scale"]
    largest = max(row["ci_high"] for row in rows)
    assert scale["domain"] == [0, largest]
    assert scale["padding"] > 5
    [(view, _)] = drawn(chart, "circle", "difference")
    assert view["encoding"]["x"]["scale"]["padding"] > 5
    assert {view["encoding"]["x"]["axis"]["format"] for view, _ in drawn(chart, "circle")} == {"~g"}


def test_intervals_of_few_positives_are_cut_off_with_an_arrow():
    chart = wide_and_narrow().prc.plot_summary("late", MODELS, by="segment")
    [(_, rows)] = drawn(chart, "rule", "difference", "ci_low")
    [(circle, _)] = drawn(chart, "circle", "difference")
    low, _ = circle["encoding"]["x"]["scale"]["domain"]
    ends = {row["name"]: (row["ci_low"], row["ci_high"], row["low"], row["high"]) for row in rows}
    assert ends["many"][:2] == ends["many"][2:]
    assert ends["few"][0] < low == ends["few"][2]
    arrows = [
        (view["mark"]["shape"], view["encoding"]["x"]["field"], [row["name"] for row in found])
        for view, found in drawn(chart, "point", "cut_low")
        if "shape" in view["mark"]
    ]
    assert ("triangle-left", "low", ["few"]) in arrows
    assert "Arrows: intervals that go on beyond the axis." in " ".join(words(chart))
    # Where most segments have few positives, the axis is for them.
    rows = wide_and_narrow()
    more = [rows.filter(segment="few").with_columns(segment=pl.lit(f"few {i}")) for i in (1, 2)]
    of_few = pl.concat([rows, *more]).prc.plot_summary("late", MODELS, by="segment")
    assert "Arrows" not in " ".join(words(of_few))
    alone = wide_and_narrow().filter(segment="many").prc.plot_summary("late", MODELS, by="segment")
    assert "Arrows" not in " ".join(words(alone))


def test_everything_undefined_has_an_axis_from_zero_to_one_and_no_differences():
    rows = ROWS.with_columns(late=False)
    chart = rows.prc.plot_summary("late", MODELS, by="segment")
    views = drawn(chart, "text", "status_text")
    assert {row["status_text"] for _, found in views for row in found} == {"no positives"}
    assert drawn(chart, "rule") == []
    assert len(specification(chart)["concat"]) == 2
