"""Charts of tables: which marks a table has, what is sorted and coloured, and what is refused."""

from __future__ import annotations

import math
from datetime import date, timedelta

import polars as pl
import pytest
from chart_reading import drawn, order
from kinds import every_kind

import frame_prc
from frame_prc import DataError, FrameError
from frame_prc._charts.options import Look

FOREST = pl.DataFrame(
    {
        "region": ["a", "b", "c", "d"],
        "reference": "others",
        "difference": [0.1, -0.2, 0.05, 0.3],
        "ci_low": [0.05, -0.3, -0.1, 0.2],
        "ci_high": [0.15, -0.1, 0.2, 0.4],
        "p_value": [0.01, 0.01, 0.5, 0.01],
        "status": ["ok", "ok", "ok", "few_positives"],
    }
)


RATIOS = FOREST.with_columns(pl.col("difference", "ci_low", "ci_high").exp()).rename(
    {"difference": "ratio"}
)


@every_kind
@pytest.mark.parametrize(("value", "table"), [("difference", FOREST), ("ratio", RATIOS)])
def test_differences_are_sorted_and_coloured_by_what_is_told(kind, value, table):
    chart = frame_prc.plot_table(kind.make(table))
    [(view, dots)], [(_, centres)] = (drawn(chart, mark, value) for mark in ("circle", "point"))
    told = {dot["shown_name"]: dot["shown_apart"] for dot in dots}
    unknown = "cannot be told apart"
    assert told == {"a": "better", "b": "worse", "c": unknown, "d": unknown}
    assert order(chart, value) == ["b", "c", "a", "d"]
    # The interval of few rows, up to 0.4, does not make the others small.
    ends = [-0.3, 0.3] if value == "difference" else [math.exp(-0.3), math.exp(0.3)]
    assert view["encoding"]["x"]["scale"]["domain"] == pytest.approx(ends)
    assert [row["shown_name"] for row in centres if not row["shown_known"]] == ["d"]
    [(_, rules)] = drawn(chart, "rule", "ci_low")
    assert {(row["ci_low"], row["ci_high"]) for row in rules} == {
        *table.select("ci_low", "ci_high").rows()
    }


def test_which_side_is_better_is_told_where_the_table_says_its_measure():
    def of(measure):
        return FOREST.with_columns(measure=pl.lit(measure))

    def said(table):
        [(view, _)] = drawn(frame_prc.plot_table(table), "circle", "difference")
        return view["encoding"]["x"]["title"], view["encoding"]["color"]["scale"]["domain"][:2]

    sides = ["worse", "better"]
    for table, measure in ((FOREST, "average precision"), (of("roc_auc"), "roc auc")):
        assert said(table) == (f"← worse · difference of {measure} · better →", sides)
    assert said(of("calibration_gap")) == ("difference of calibration gap", ["lower", "higher"])
    rows = pl.DataFrame({"row": range(900)}).with_columns(late=pl.col("row") * 7 % 11 < 4)
    noise = pl.col("row") * 7919 % 601 / 2000
    rows = rows.with_columns(old=noise + pl.col("late") * 0.1, new=noise + pl.col("late") * 0.5)
    table = rows.prc.compare_models("late", ["old", "new"], measure="brier", details=True)
    assert table["difference"].item() < 0
    ends = ["old better", "new better"]
    assert said(table) == ("← new better · difference of brier · old better →", ends)
    [(view, [dot])] = drawn(frame_prc.plot_table(table), "circle", "difference")
    assert dot["shown_apart"] == "new better"
    # Each model has the colour of its curve.
    assert view["encoding"]["color"]["scale"]["range"][:2] == Look().colours(2)


def subtitle(table):
    return frame_prc.plot_table(table).to_dict()["title"]["subtitle"]


def test_finds_say_that_their_intervals_hold_at_once_and_for_how_many():
    finds = FOREST.drop("reference", "p_value").rename({"region": "segment"})
    finds = finds.with_columns(value=0.5, p_adjusted=0.01)
    said = "Intervals hold at once for all segments that were looked at."
    assert subtitle(finds) == said
    assert order(frame_prc.plot_table(finds), "difference") == ["b", "c", "a", "d"]
    assert subtitle(finds.with_columns(n_looked_at=49)) == f"{said} These were 49."


def test_shrunken_segments_are_beside_what_they_are_alone():
    table = pl.DataFrame(
        {
            "region": ["a", "b"], "n_pos": [9, 90], "value": [0.9, 0.4], "shrunk": [0.6, 0.5],
            "ci_low": [0.4, 0.4], "ci_high": [0.8, 0.6], "probability_worst": [0.2, 0.8],
            "status": "ok",
        }
    )  # fmt: skip
    chart = frame_prc.plot_table(table)
    assert order(chart, "shrunk") == ["b", "a"]
    [(_, alone)] = drawn(chart, "point", "value")
    [(_, probable)] = drawn(chart, "circle", "shrunk")
    assert {row["value"] for row in alone} == {0.9, 0.4}
    assert {row["shrunk"] for row in probable} == {0.6, 0.5}


def watched(sites):
    return pl.DataFrame(
        {
            "site": [site for site in range(sites) for _ in range(3)], "week": [1, 2, 3] * sites,
            "n_pos": 9, "value": [0.5, 0.4, 0.1] * sites, "reference": 0.5,
            "limit": [None, 0.3, 0.3] * sites,
            "conclusion": ["reference", "quiet", "alarm"] * sites, "status": "ok",
        }
    )  # fmt: skip


def test_periods_have_a_panel_per_segment():
    one = frame_prc.plot_table(watched(1).drop("site"))
    [(_, dots)] = drawn(one, "circle", "value")
    assert {dot["shown_key_0"]: dot["conclusion"] for dot in dots} == {
        1: "reference", 2: "quiet", 3: "alarm",
    }  # fmt: skip
    [(_, dots)] = drawn(frame_prc.plot_table(watched(4)), "circle", "value")
    # A number tells little without the name of its key.
    assert {dot["shown_panel"] for dot in dots} == {f"site {site}" for site in range(4)}
    [(limit, rows)] = drawn(one, "text", "limit")
    rows = [row for row in rows if row["shown_last"]]
    assert limit["encoding"]["text"]["value"] == "limit"
    assert [row["shown_key_0"] for row in rows] == [3]
    ended = watched(1).drop("site").with_columns(pl.lit(None, pl.String).alias("conclusion"))
    [(_, dots)] = drawn(frame_prc.plot_table(ended), "circle", "value")
    assert {dot["conclusion"] for dot in dots} == {"not looked at"}


def test_periods_have_ticks_at_their_dates_inside_the_frame():
    weeks = [date(2025, 1, 6) + timedelta(weeks=i) for i in range(3)]
    table = watched(1).with_columns(week=pl.Series(weeks), measure=pl.lit("roc_auc"))
    [(line, _)] = drawn(frame_prc.plot_table(table.drop("site")), "line", "value")[2:]
    x, y = line["encoding"]["x"], line["encoding"]["y"]
    assert [(at["month"], at["date"]) for at in x["axis"]["values"]] == [(1, 6), (1, 13), (1, 20)]
    assert x["axis"]["format"] == "%Y-%m-%d"
    assert x["scale"]["padding"] > 0
    assert y["title"] == "roc auc"


def test_bins_and_thresholds_have_lines():
    rows = pl.DataFrame({"row": range(200)}).with_columns(
        late=pl.col("row") % 3 == 0, score=pl.col("row") * 7919 % 200 / 200
    )
    ev = frame_prc.evaluate(rows, "late", "score")
    [(_, bins)] = drawn(frame_prc.plot_table(ev.reliability(bins=5)), "circle", "observed")
    assert len(bins) == 5
    table = ev.threshold_table()
    chart = frame_prc.plot_table(table)
    [(line, points)] = drawn(chart, "line", "precision", "recall")
    assert [fold["fold"] for fold in line["transform"] if "fold" in fold] == [
        ["precision", "recall"]
    ]
    assert [row["recall"] for row in points] == table["recall"].to_list()


def test_a_score_at_an_edge_is_in_the_bin_that_it_begins(tmp_path):
    hundredths = [place / 100 for place in range(101)]  # 0.58 * 50 is rounded to below 29
    frame = pl.DataFrame({"late": [True, False] * 101, "score": sorted(hundredths * 2)})
    frame.prc.write_ggplot(tmp_path / "scores.tsv", "late", "score", kind="scores")
    found = pl.read_csv(tmp_path / "scores.tsv", separator="\t")["positives"] * 101
    assert found.round(9).to_list() == [2.0] * 49 + [3.0]


def test_scores_of_either_class_are_shares_of_it_in_bins_of_one_width():
    rows = pl.DataFrame(
        {
            "late": [True, True, True, False, False, True],
            "old": [0.0, 0.3, 1.0, 0.2, float("-inf"), 0.9],
            "new": [0.6, 0.6, 0.6, 0.1, 0.1, 0.1],
        }
    )
    chart = rows.prc.plot_scores("late", ["old", "new"], bins=4)
    bars = [bar for _, panel in drawn(chart, "bar", "positives") for bar in panel]
    columns = ("shown_key_0", "bin_low", "bin_high", "positives", "negatives")
    assert [*dict.fromkeys(tuple(bar[name] for name in columns) for bar in bars)] == [
        ("old", 0.0, 0.25, 0.25, 1.0),
        ("old", 0.25, 0.5, 0.25, 0.0),
        ("old", 0.75, 1.0, 0.5, 0.0),
        ("new", 0.0, 0.25, 0.25, 1.0),
        ("new", 0.5, 0.75, 0.75, 0.0),
    ]
    above, _ = chart.to_dict()["spec"]["layer"]
    assert above["encoding"]["color"]["scale"]["domain"] == ["old", "new"]


def test_other_tables_and_too_many_rows_are_refused():
    with pytest.raises(FrameError, match="not those of a table with a chart"):
        frame_prc.plot_table(pl.DataFrame({"a": [1]}))
    many = pl.concat([FOREST] * 60).with_columns(region=pl.int_range(pl.len()))
    with pytest.raises(DataError, match="240 rows"):
        frame_prc.plot_table(many)
    with pytest.raises(DataError, match="30 panels"):
        frame_prc.plot_table(watched(30))
