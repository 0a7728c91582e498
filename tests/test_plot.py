"""Charts: what they draw, as numbers made by hand, and what they say."""

from __future__ import annotations

import itertools
import json
import math
import re
from datetime import UTC, date, datetime
from importlib import util

import polars as pl
import pytest
from chart_inputs import CHART_INPUTS, chart_input
from kinds import every_kind

import frame_prc
from frame_prc import ColumnError, DataError, FrameError, OptionError
from frame_prc._charts import data

# Ranked 0.9 + | 0.4 + - | 0.2 -: average precision (1 + 2/3) / 2.
ROWS = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
STEPS = [
    {"threshold": "inf", "tp": 0, "fp": 0, "recall": 0.0, "precision": 1.0},
    {"threshold": "0.9", "tp": 1, "fp": 0, "recall": 0.5, "precision": 1.0},
    {"threshold": "0.4", "tp": 2, "fp": 1, "recall": 1.0, "precision": 2 / 3},
    {"threshold": "0.2", "tp": 2, "fp": 2, "recall": 1.0, "precision": 0.5},
]
COUNTS = pl.DataFrame({"threshold": [0.9, 0.4, 0.2], "pos": [1, 1, 0], "neg": [0, 1, 1]})
# Two segments, of which the south has 2/3 positives and the average precision (1 + 2/3) / 2.
REGIONS = pl.DataFrame(
    {
        "region": ["north"] * 4 + ["south"] * 3,
        "late": [True, False, True, False, True, False, True],
        "old": [0.9, 0.4, 0.4, 0.2, 0.9, 0.8, 0.7],
        "new": [0.9, 0.4, 0.8, 0.2, 0.9, 0.1, 0.7],
    }
)
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "[x].y\\z",
    "a'b\"c",
    "Zürich 日本語",
    "a\tb",
]


# --- reading a chart ---------------------------------------------------------------------------


def views(spec, rows=None):
    """Yield every layer with the rows it draws."""
    rows = spec["data"]["name"] if "data" in spec else rows
    parts = [
        part for kind in ("layer", "concat", "hconcat", "vconcat") for part in spec.get(kind, [])
    ]
    for part in parts:
        part["datasets"] = spec["datasets"]
        yield from views(part, rows)
    if not parts:
        yield spec, spec["datasets"][rows]


def drawn(chart, mark, *columns):
    """Return the layers of a mark whose rows have these columns, with the rows."""
    return [
        (view, rows)
        for view, rows in views(chart.to_dict(validate=False))
        if view["mark"]["type"] == mark and rows and set(columns) <= set(rows[0])
    ]


def lines(chart):
    """Return the rows of each panel's lines of precision over recall."""
    return [rows for view, rows in drawn(chart, "line", "threshold") if is_over(view, "recall")]


def is_over(view, column):
    return view["encoding"]["x"]["field"] == column


def of(rows, *columns):
    return [{name: row[name] for name in columns} for row in rows]


def words(chart):
    """Return all that stands above the panels."""
    spec = chart.to_dict(validate=False)
    panels = [part for part in spec.get("concat", []) if "title" in part]
    titles = [spec["title"], *(part["title"] for part in panels)]
    return [line for t in titles for line in (t["text"], *t.get("subtitle", []))]


def row_count(chart):
    return sum(map(len, chart.to_dict(validate=False)["datasets"].values()))


def legend(chart):
    return drawn(chart, "line", "threshold")[0][0]["encoding"]["color"]["scale"]["domain"]


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


@every_kind
@pytest.mark.parametrize("keep", ["all", "corners"])
def test_a_curve_is_drawn_as_it_came(kind, keep):
    assert_is_by_hand(kind.make(ROWS).prc.curve("late", "score", keep=keep).prc.plot())


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
def test_curves_open_as_asked_for(start, steps):
    rows = ROWS.with_columns(late=~pl.col("late"))
    own = lines(frame_prc.plot(rows, "late", "score", start=start))[0]
    read = lines(frame_prc.plot(rows.prc.curve("late", "score", start=start)))[0]
    assert own == read
    # Ranked 0.9 - | 0.4 + - | 0.2 +: the first point has recall and precision 0.
    opening = {"threshold": "inf", "recall": 0.0, "precision": 0.0}
    first = {"threshold": "0.9", "recall": 0.0, "precision": 0.0}
    expected = [opening, first] if steps else [first]
    assert of(own, *opening)[: len(expected)] == expected


def test_a_curve_without_its_last_points_keeps_its_totals():
    curve = ROWS.prc.curve("late", "score").head(2)
    chart = curve.prc.plot()
    assert of(lines(chart)[0], "tp", "recall") == [
        {"tp": 0, "recall": 0.0}, {"tp": 1, "recall": 0.5},
    ]  # fmt: skip
    assert words(chart)[1].startswith("AP 0.500")


@every_kind
def test_weights_have_an_interval_from_rows_and_none_from_sums(kind):
    weighted = ROWS.with_columns(w=pl.Series([2.0, 1.0, 1.0, 1.0]))
    chart = kind.make(weighted).prc.plot("late", "score", weight="w")
    # Weights 2 of 3 found at precision 1, then 3 of 4 at recall 1.
    assert of(lines(chart)[0], "tp", "precision")[1:3] == [
        {"tp": 2.0, "precision": 1.0}, {"tp": 3.0, "precision": 0.75},
    ]  # fmt: skip
    assert words(chart)[1].startswith("AP 0.917 [")
    curve = weighted.prc.curve("late", "score", weight="w")
    assert words(frame_prc.plot(kind.make(curve)))[1] == "AP 0.917"


def test_objects_never_retrieved_count_in_recall():
    rows = ROWS.with_columns(score=pl.Series([0.9, 0.4, None, 0.2]))
    chart = rows.prc.plot("late", "score", missing="unretrieved")
    assert [row["recall"] for row in lines(chart)[0]] == [0.0, 0.5, 0.5]
    curve = rows.prc.curve("late", "score", missing="unretrieved")
    assert of(lines(curve.prc.plot())[0], "recall", "precision", "threshold") == of(
        lines(chart)[0], "recall", "precision", "threshold"
    )


# --- panels and legends ------------------------------------------------------------------------


def segments(count, **keys):
    """Return rows of so many segments, all alike."""
    of_one = pl.DataFrame({"late": [True, False], "old": [0.9, 0.1], "new": [0.1, 0.9]})
    return pl.concat(of_one.with_columns(segment=pl.lit(i), **keys) for i in range(count))


@pytest.mark.parametrize(
    ("count", "score", "facet", "panels", "overlaid"),
    [
        (1, "old", None, 1, 1),
        (1, ["old", "new"], None, 1, 2),
        (6, "old", None, 1, 6),
        (7, "old", None, 7, 1),
        (2, ["old", "new"], None, 2, 2),
        (7, "old", False, 1, 7),
        (2, ["old", "new"], False, 1, 4),
        (2, "old", "segment", 2, 1),
        (3, ["old", "new"], "model", 2, 3),
        (3, ["old", "new"], ["model", "segment"], 6, 1),
    ],
)
def test_lines_share_a_panel_or_do_not(count, score, facet, panels, overlaid):
    chart = segments(count).prc.plot("late", score, by="segment", facet=facet)
    found = lines(chart)
    assert len(found) == panels
    assert {len({row["series"] for row in rows}) for rows in found} == {overlaid}


def test_the_last_of_several_keys_is_told_apart_by_colour():
    two = pl.concat([segments(4, day=pl.lit(day)) for day in (1, 2)])
    chart = two.prc.plot("late", "old", by=["segment", "day"])
    assert len(lines(chart)) == 4
    assert legend(chart) == ["day 1", "day 2"]


def test_a_model_key_of_counts_and_curves_tells_models_apart():
    counts = REGIONS.prc.counts("late", ["old", "new"], by="region")
    chart = counts.prc.plot(by=["model", "region"], score="threshold", pos="pos", neg="neg")
    assert (len(lines(chart)), legend(chart)) == (2, ["new", "old"])
    curve = REGIONS.prc.curve("late", ["old", "new"], by="region")
    assert lines(curve.prc.plot()) == lines(chart)


def test_areas_stand_in_the_legend_of_one_panel():
    names = legend(REGIONS.prc.plot("late", "old", by="region"))
    assert [re.sub(r" \[.*", "", name) for name in names] == ["north AP 0.833", "south AP 0.833"]
    assert all(re.search(r" \[0\.\d{3}, (0\.\d{3}|1\.000)\]$", name) for name in names)


def test_areas_stand_above_panels():
    above = words(REGIONS.prc.plot("late", ["old", "new"], by="region"))
    texts = [re.sub(r" \[.*", "", line) for line in above[-6:]]
    assert texts == [
        "north", "new AP 1.000", "old AP 0.833", "south", "new AP 1.000", "old AP 0.833",
    ]  # fmt: skip


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
    assert next(views(ROWS.prc.plot("late", "score").to_dict()))[0]["mark"] == view["mark"]
    [(_, one)] = drawn(ROWS.prc.plot("late", "score", iso_f1=[0.5]), "line", "f_score")
    assert {row["f_score"] for row in one} == {0.5}
    assert drawn(ROWS.prc.plot("late", "score", iso_f1=False), "line", "f_score") == []


# --- ribbons, points, other views --------------------------------------------------------------


def wilson(hits, misses, z):
    """Return Wilson's interval as the roots of (share - p)^2 = z^2 p (1 - p) / n."""
    n = hits + misses
    middle, width = (
        hits / n + z * z / (2 * n),
        z * math.sqrt(hits * misses / n**3 + (z / n) ** 2 / 4),
    )
    return (middle - width) / (1 + z * z / n), (middle + width) / (1 + z * z / n)


@every_kind
def test_ci_draws_intervals_at_thresholds(kind):
    chart = kind.make(ROWS).prc.plot("late", "score", ci=0.9)
    [(view, rows)] = drawn(chart, "area", "precision_low")
    assert view["mark"]["interpolate"] == "step-before"
    assert rows[0]["precision_low"] is None
    for row, (tp, fp) in zip(rows[1:], [(1, 0), (2, 1), (2, 2)], strict=True):
        low, high = wilson(tp, fp, 1.6448536269514722)
        assert (row["precision_low"], row["precision_high"]) == pytest.approx((low, high))
    assert "90 % interval of precision" in " ".join(words(chart))


@every_kind
def test_band_is_the_verb_of_that_name(kind):
    rows = pl.concat([ROWS] * 20)
    [(_, drawn_rows)] = drawn(
        kind.make(rows).prc.plot("late", "score", band=True), "area", "precision_low"
    )
    table = rows.prc.band("late", "score", seed=0)
    columns = ["recall", "precision_low", "precision_high"]
    assert of(drawn_rows, *columns) == table.select(columns).to_dicts()


@every_kind
def test_band_takes_weighted_rows_of_several_models(kind):
    rows = pl.concat([REGIONS] * 10).with_columns(w=1.5)
    asked = {"truth": "late", "score": ["old", "new"], "by": "region", "weight": "w"}
    chart = kind.make(rows).prc.plot(**asked, band=True)
    found = [row for _, some in drawn(chart, "area", "precision_low") for row in some]
    columns = ["region", "model", "recall", "precision_low"]
    table = rows.prc.band(**asked, seed=0).sort("region", maintain_order=True)
    assert [tuple(row.values()) for row in of(found, "key_1", "key_0", *columns[2:])] == (
        table.select(columns).rows()
    )


@every_kind
def test_nothing_at_all_is_no_crash(kind):
    asked = {"roc": True, "threshold": 0.5, "ci": 0.9, "points": {"recall": 0.5}}
    chart = kind.make(ROWS.clear()).prc.plot("late", "score", **asked)
    assert "no rows" in words(chart)
    frame_prc.plot_summary(kind.make(ROWS.clear()), "late", "score").to_dict()


@every_kind
def test_operating_points_are_marked(kind):
    chart = kind.make(ROWS).prc.plot("late", "score", points={"recall": 0.8, "f_beta": [1, 2]})
    [(view, rows)] = drawn(chart, "point", "criterion")
    assert of(rows, "criterion", "threshold", "recall", "precision", "tp", "fp", "fn", "tn") == [
        {
            "criterion": name,
            "threshold": "0.4",
            "recall": 1.0,
            "precision": 2 / 3,
            "tp": 2,
            "fp": 1,
            "fn": 0,
            "tn": 1,
        }
        for name in ("recall ≥ 0.8", "largest F1", "largest F2")
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


@every_kind
def test_roc_is_drawn_from_the_same_counts(kind):
    chart = kind.make(ROWS).prc.plot("late", "score", roc=True, points={"recall": 0.8})
    [(view, rows)] = [(v, r) for v, r in drawn(chart, "line", "fpr", "tp") if is_over(v, "fpr")]
    assert of(rows, "fpr", "recall") == [
        {"fpr": fpr, "recall": tpr} for fpr, tpr in [(0, 0), (0, 0.5), (0.5, 1), (1, 1)]
    ]
    assert view["mark"]["interpolate"] == "linear"
    [_, (view, marked)] = drawn(chart, "point", "fpr")
    assert of(marked, "fpr", "recall") == [{"fpr": 0.5, "recall": 1.0}]
    assert len(chart.to_dict()["concat"]) == 2


@every_kind
def test_a_threshold_has_a_confusion_matrix_and_a_mark(kind):
    chart = kind.make(ROWS).prc.plot("late", "score", threshold=0.3)
    [(_, cells)] = drawn(chart, "rect", "actual")
    assert of(cells, "actual", "predicted", "text") == [
        {"actual": "positive", "predicted": "positive", "text": "TP 2"},
        {"actual": "negative", "predicted": "positive", "text": "FP 1"},
        {"actual": "positive", "predicted": "negative", "text": "FN 0"},
        {"actual": "negative", "predicted": "negative", "text": "TN 1"},
    ]
    [(_, marked)] = drawn(chart, "point", "criterion")
    assert of(marked, "criterion", "precision") == [
        {"criterion": "threshold 0.3", "precision": 2 / 3}
    ]


def test_the_confusion_is_that_of_the_threshold_among_other_points():
    chart = ROWS.prc.plot("late", "score", threshold=0.3, points={"threshold": [0.1, 0.3, 0.8]})
    [(_, cells)] = drawn(chart, "rect", "actual")
    assert [cell["text"] for cell in cells] == ["TP 2", "FP 1", "FN 0", "TN 1"]
    [(_, marked)] = drawn(chart, "point", "criterion")
    assert [row["criterion"] for row in marked] == [
        "threshold 0.1", "threshold 0.8", "threshold 0.3",
    ]  # fmt: skip


def test_a_threshold_has_a_confusion_table_of_several_lines():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", threshold=0.75)
    [(_, cells)] = drawn(chart, "text", "column", "text")
    table = {}
    for cell in cells:
        table.setdefault(cell["name"], {})[cell["column"]] = cell["text"]
    assert [tuple(row.values()) for row in table.values()] == [
        ("2", "0", "0", "2", "1.000", "1.000"),
        ("1", "0", "1", "1", "1.000", "0.500"),
        ("1", "0", "1", "2", "1.000", "0.500"),
        ("1", "1", "1", "0", "0.500", "0.500"),
    ]
    assert [*table] == ["new · north", "new · south", "old · north", "old · south"]


def test_large_sums_of_weights_have_no_exponent():
    rows = REGIONS.with_columns(eur=pl.lit(1234567.89))
    chart = rows.prc.plot("late", "old", by="region", weight="eur", threshold=0.75)
    [(_, cells)] = drawn(chart, "text", "column", "text")
    shown = {cell["text"] for cell in cells if cell["column"] in ("tp", "tn")}
    assert shown == {"0", "1,234,568", "2,469,136"}


# --- hovering ----------------------------------------------------------------------------------


def test_the_point_nearest_the_mouse_says_where_it_is():
    chart = REGIONS.prc.plot("late", "old", by="region")
    [(dots, _)] = drawn(chart, "circle", "threshold")
    [selection] = dots["params"] if "params" in dots else chart.to_dict()["params"]
    assert selection["select"]["nearest"]
    said = re.findall(r'"([^"]+)":', dots["mark"]["tooltip"]["expr"])
    assert said == ["region", "average precision", "threshold", "precision", "recall", "tp", "fp"]


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Int64, pl.Decimal(5, 2)])
def test_thresholds_are_said_to_the_last_digit_and_may_be_infinite(dtype):
    rows = ROWS.with_columns(score=(pl.col("score") * 10).cast(dtype))
    thresholds = [row["threshold"] for row in lines(rows.prc.plot("late", "score"))[0]]
    assert thresholds == ["inf", "9.0", "4.0", "2.0"]
    if dtype in (pl.Float32, pl.Float64):
        infinite = rows.with_columns(score=pl.Series([math.inf, 0.1, 0.1, -math.inf], dtype=dtype))
        chart = infinite.prc.plot("late", "score")
        assert [row["threshold"] for row in lines(chart)[0]] == ["inf", "inf", "0.1", "-inf"]
        assert not re.search(r"NaN|Infinity", chart.to_json())


# --- thinning ----------------------------------------------------------------------------------


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
        while growing[place]["recall"] < recall:
            place += 1
        found.append(growing[place]["precision"])
    return found


@pytest.mark.parametrize("make", ["rows", "curve"])
def test_a_hundred_thousand_scores_are_thinned_and_the_error_is_said(make):
    rows = noisy(100_000)
    full = rows.prc.curve("late", "score")
    chart = rows.prc.plot("late", "score") if make == "rows" else full.prc.plot()
    assert row_count(chart) < 5000
    [kept] = lines(chart)
    grown = full.filter(pl.col("recall") > pl.col("recall").shift(1)).select("recall", "precision")
    off = (pl.Series(heights(kept, grown["recall"])) - grown["precision"]).abs().max()
    said = chart.usermeta["frame_prc"]["precision_error"]
    assert off == pytest.approx(said, rel=1e-9)
    assert 0 < said < 0.005
    assert ("Thinned" in " ".join(words(chart))) == (said > 0.001)


def test_all_layers_together_stay_under_the_limit_of_altair():
    options = {"ci": 0.9, "roc": True, "threshold": 0.5, "points": {"recall": [0.5, 0.9]}}
    chart = noisy(20_000, 10).prc.plot("late", "score", by="segment", facet="segment", **options)
    assert row_count(chart) < 5000
    assert len(lines(chart)) == 10
    error = chart.usermeta["frame_prc"]["precision_error"]
    assert f"Thinned: precision is off by at most {error:.2g}." in " ".join(words(chart))


def test_a_band_leaves_room_for_the_lines():
    chart = noisy(3000, 20).prc.plot("late", "score", by="segment", band=True)
    assert row_count(chart) < 5000
    assert len(drawn(chart, "area", "precision_low")) == 20


def test_roc_curves_are_as_near_as_they_say():
    rows = noisy(100_000)
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


@pytest.mark.parametrize(
    ("count", "options", "says"),
    [
        (61, {}, "have 61 lines"),
        (31, {"score": ["old", "new"]}, "have 62 lines"),
        (22, {"facet": False}, "22 lines would share a panel"),
    ],
)
def test_more_lines_than_one_can_read_are_an_error(count, options, says):
    with pytest.raises(DataError, match=says):
        segments(count).prc.plot(**{"truth": "late", "score": "old", "by": "segment", **options})


# --- segments that have no curve ---------------------------------------------------------------


def test_undefined_segments_are_named_with_the_reason():
    rows = REGIONS.with_columns(late=pl.col("late") & (pl.col("region") == "north"))
    assert legend(rows.prc.plot("late", "old", by="region"))[1] == "south no positives"
    chart = rows.prc.plot("late", "old", by="region", facet="region")
    assert words(chart)[-1] == "no positives"
    assert [r for _, r in drawn(chart, "text", "text")] == [[{"text": "no positives"}]]


def test_a_segment_that_lost_its_rows_is_named():
    rows = REGIONS.with_columns(old=pl.when(region="north").then("old"))
    chart = rows.prc.plot("late", "old", by="region", missing="drop")
    assert legend(chart)[1] == "south no rows"


def test_a_segment_without_negatives_says_so():
    rows = REGIONS.with_columns(late=pl.col("late") | (pl.col("region") == "south"))
    assert legend(rows.prc.plot("late", "old", by="region"))[1] == "south AP 1.000, no negatives"


@every_kind
def test_nothing_defined_is_no_crash(kind):
    chart = kind.make(ROWS.with_columns(late=False)).prc.plot("late", "score", roc=True, ci=0.9)
    assert "no positives" in words(chart)


# --- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pl.Series([date(2024, 1, 2), date(2023, 1, 1)]), ["2023-01-01", "2024-01-02"]),
        (
            pl.Series([datetime(2024, 1, 2, 3, tzinfo=UTC), None]),
            ["null", "2024-01-02 03:00:00+00:00"],
        ),
        (pl.Series([True, False]), ["key false", "key true"]),
        (pl.Series([1.5, -2.0]), ["key -2.0", "key 1.5"]),
        (pl.Series(["null", None]), ["null", "null (2)"]),
        (pl.Series(["", " a\nb "]), ['""', "a b"]),
        (pl.Series(["low", "high"], dtype=pl.Enum(["low", "high"])), ["low", "high"]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), None),
        (
            pl.Series([{"a": 1, "b": "x"}, {"a": 0, "b": "y"}]),
            ["{'a': 0, 'b': 'y'}", "{'a': 1, 'b': 'x'}"],
        ),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_keys_of_any_type_come_in_their_order(values, names):
    keyed = pl.concat([ROWS.with_columns(key=value) for value in _ones(values)])
    found = [
        re.sub(r" AP .*", "", name) for name in legend(keyed.prc.plot("late", "score", by="key"))
    ]
    assert found == (names or keyed["key"].unique().sort().to_list())
    curve = keyed.prc.curve("late", "score", by="key")
    assert [re.sub(r" AP .*", "", name) for name in legend(curve.prc.plot())] == found


def test_names_too_long_to_be_drawn_keep_both_ends():
    names = [f"Department of Regional Sales and Operations, {place}" for place in ("East", "West")]
    keyed = pl.concat([ROWS.with_columns(key=pl.lit(name)) for name in names])
    shown = [
        name.partition(" AP ")[0] for name in legend(keyed.prc.plot("late", "score", by="key"))
    ]
    assert [len(name) for name in shown] == [40, 40]
    assert [name.partition("…") for name in shown] == [
        ("Department of Regional Sal", "…", "rations, East"),
        ("Department of Regional Sal", "…", "rations, West"),
    ]


def _ones(values):
    return [values.gather([place]).new_from_index(0, ROWS.height) for place in range(len(values))]


@every_kind
def test_hostile_names_are_drawn_and_leave_the_page_whole(kind):
    name = "k.[x]'\"</script>"
    rows = pl.concat(ROWS.with_columns(pl.lit(key).alias(name)) for key in HOSTILE)
    chart = kind.make(rows).prc.plot("late", "score", by=name, title="</script>", facet=False)
    plain = ROWS.prc.plot("late", "score")
    spec = json.dumps(chart.to_dict())
    assert not re.search(r"</|<!--|<script", spec)
    assert chart.to_html().count("</script") == plain.to_html().count("</script")
    shown = [line.replace("\u2060", "") for line in [*words(chart), *legend(chart)]]
    assert shown[0] == "</script>"
    for key in HOSTILE:
        assert any(line.startswith(f"{' '.join(key.split())} AP") for line in shown)


@every_kind
def test_hostile_names_leave_the_page_of_a_summary_whole(kind):
    name, model = "k.[x]'\"</script>", "<!--<script>"
    rows = pl.concat(ROWS.with_columns(pl.lit(key).alias(name)) for key in HOSTILE)
    both = rows.with_columns((-pl.col("score")).alias(model))
    chart = kind.make(both).prc.plot_summary("late", ["score", model], by=name)
    assert not re.search(r"</|<!--|<script", json.dumps(chart.to_dict()))
    [(_, differences)] = drawn(chart, "circle", "difference")
    assert len(differences) == len(HOSTILE)
    shown = [name.replace("\u2060", "") for name in order(chart)]
    assert sorted(shown) == sorted(" ".join(key.split()) for key in HOSTILE)


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
@pytest.mark.parametrize("code", [0x00, 0x01, 0x08, 0x1B, 0xFFFE, 0xFFFF], ids=hex)
def test_characters_that_no_svg_holds_are_shown_by_their_pictures(verb, code, tmp_path):
    # The library that draws would end the process: what survives has drawn another character.
    name = f"k{chr(code)}"
    rows = pl.concat(ROWS.with_columns(pl.lit(f"{key}{chr(code)}").alias(name)) for key in "ab")
    chart = getattr(rows.prc, verb)("late", "score", by=name, title=f"t{chr(code)}")
    assert f"\\u{code:04x}" not in json.dumps(chart.to_dict())
    chart.save(tmp_path / "chart.svg")
    shown = chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"
    assert f"a{shown}" in (tmp_path / "chart.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_a_key_may_be_no_number(verb):
    keys = [0.5, float("nan"), None]
    rows = pl.concat(ROWS.with_columns(key=pl.lit(key, pl.Float64)) for key in keys)
    spec = json.dumps(getattr(rows.prc, verb)("late", "score", by="key").to_dict())
    assert all(f'"key {key}' in spec for key in ("0.5", "nan", "null"))


def test_names_that_a_tooltip_draws_otherwise_are_marked():
    rows = pl.concat(ROWS.with_columns(image=pl.lit(key)) for key in "ab")
    [(dots, _)] = drawn(rows.prc.plot("late", "score", by="image"), "circle", "threshold")
    assert dots["mark"]["tooltip"]["expr"].startswith('{"image:"')


@pytest.mark.parametrize("name", ["pos", "neg", "n", "line", "series", "panel", "order", "status"])
def test_keys_may_be_called_as_columns_of_ours(name):
    rows = REGIONS.rename({"region": name})
    chart = rows.prc.plot("late", "old", by=name, points={"recall": 1})
    assert lines(chart) == lines(REGIONS.prc.plot("late", "old", by="region", points={"recall": 1}))
    assert lines(rows.prc.curve("late", "old", by=name).prc.plot()) == lines(chart)


# --- looks, files ------------------------------------------------------------------------------


def luminance(colour):
    """Return the relative luminance of WCAG 2.1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("dark", [False, True])
def test_lines_stand_out_from_the_ground(dark):
    chart = segments(21).prc.plot("late", "old", by="segment", facet=False, dark=dark)
    [(line, _)] = drawn(chart, "line", "threshold")
    colours = line["encoding"]["color"]["scale"]["range"]
    dashes = line["encoding"]["strokeDash"]["scale"]["range"]
    ground = luminance(chart.to_dict()["config"]["background"])
    contrasts = [
        (max(luminance(c), ground) + 0.05) / (min(luminance(c), ground) + 0.05) for c in colours
    ]
    assert min(contrasts) > 2
    assert min(contrasts[:3]) > 3
    assert (ground < luminance(colours[0])) == dark
    assert len({(c, tuple(d)) for c, d in zip(colours, dashes, strict=True)}) == 21


def test_sizes_and_title_are_as_asked_for():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", width=100, height=80, title="T")
    spec = chart.to_dict()
    assert {(part["width"], part["height"]) for part in spec["concat"]} == {(100, 80)}
    assert words(chart)[0] == "T"
    square = ROWS.prc.plot("late", "score", height=90).to_dict()
    assert (square["width"], square["height"]) == (90, 90)


@pytest.mark.parametrize(
    ("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!DOCTYPE html>")]
)
@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_charts_are_saved(verb, suffix, begins, tmp_path):
    path = tmp_path / f"chart.{suffix}"
    chart = getattr(REGIONS.prc, verb)("late", ["old", "new"], by="region")
    chart.save(path, **({"inline": True} if suffix == "html" else {}))
    written = path.read_bytes()
    assert written.lstrip().startswith(begins)
    assert len(written) > 5_000
    assert b"src=" not in written[:2000] or suffix != "html"


def test_a_chart_can_be_restyled():
    chart = ROWS.prc.plot("late", "score").properties(width=200).configure_view(stroke="red")
    spec = chart.to_dict()
    assert (spec["width"], spec["config"]["view"]["stroke"]) == (200, "red")


# --- summaries ---------------------------------------------------------------------------------

LABELS = ["a", "b", "c"]


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


def order(chart):
    return drawn(chart, "circle", "average_precision")[0][0]["encoding"]["y"]["sort"]


@every_kind
def test_summary_has_a_dot_per_segment_by_average_precision(kind):
    chart = kind.make(THREE).prc.plot_summary("late", "old", by="segment")
    [(_, dots)] = drawn(chart, "circle", "average_precision")
    areas = {dot["name"]: dot["average_precision"] for dot in dots}
    assert areas == {"a": pytest.approx(5 / 6), "b": 1.0, "d": 0.5}
    assert order(chart) == ["b", "a", "d", "c"]
    [(_, rules)] = drawn(chart, "rule", "ci_low")
    interval = {dot["name"]: (dot["ci_low"], dot["ci_high"]) for dot in rules}
    assert interval["a"][0] < 5 / 6 < interval["a"][1]
    [(_, sizes)] = drawn(chart, "text", "sizes")
    assert {row["name"]: row["sizes"] for row in sizes} == {
        "a": "2 / 3 (few)", "b": "2 / 4 (few)", "c": "0 / 2", "d": "1 / 2 (few)",
    }  # fmt: skip
    [(_, undefined)] = drawn(chart, "text", "status_text")
    assert of(undefined, "name", "status_text") == [{"name": "c", "status_text": "no positives"}]


@every_kind
def test_summary_has_ticks_at_the_average_precision_of_a_random_ranking(kind):
    # Rows and positives: 3 and 2, 4 and 2, 2 and 1; the mean over the orders of their labels.
    wanted = {"a": 29 / 36, "b": 49 / 72, "d": 3 / 4}
    counts = kind.make(THREE.prc.counts("late", "old", by="segment"))
    for chart in (
        kind.make(THREE).prc.plot_summary("late", "old", by="segment"),
        counts.prc.plot_summary(by="segment", score="threshold", pos="pos", neg="neg"),
        kind.make(THREE.prc.curve("late", "old", by="segment")).prc.plot_summary(),
    ):
        assert ticks(chart) == pytest.approx(wanted, rel=1e-15)
        assert "Ticks: average precision of a random ranking." in " ".join(words(chart))


@every_kind
def test_ticks_of_weighted_rows_are_prevalences(kind):
    weighted = kind.make(THREE.with_columns(w=2.0))
    chart = weighted.prc.plot_summary("late", "old", by="segment", weight="w")
    assert ticks(chart) == pytest.approx({"a": 2 / 3, "b": 1 / 2, "d": 1 / 2}, rel=1e-15)
    assert "Ticks: prevalence, close to the average precision of a random ranking." in " ".join(
        words(chart)
    )


def ticks(chart):
    [(view, rows)] = drawn(chart, "tick", "name")
    assert view["encoding"]["x"]["title"] == "Average precision"
    return {row["name"]: row[view["encoding"]["x"]["field"]] for row in rows}


@every_kind
def test_charts_say_what_lies_below_chance(kind):
    worse = kind.make(ranked(*[0] * 50, *[0, 1] * 50))
    summary = worse.prc.plot_summary("late", "old")
    said = [row["status_text"] for row in drawn(summary, "circle")[0][1]]
    assert said == ["below chance"]
    assert "worse than random: is a lower score better?" in " ".join(words(summary))
    assert ", below chance" in " ".join(words(worse.prc.plot("late", "old")))
    better = kind.make(ranked(*[1, 0] * 50, *[0] * 50)).prc.plot_summary("late", "old")
    assert "lower score" not in " ".join(words(better))


@every_kind
def test_summary_takes_counts_and_curves(kind):
    dots = drawn(THREE.prc.plot_summary("late", "old", by="segment"), "circle")[0][1]
    counts = kind.make(THREE.prc.counts("late", "old", by="segment"))
    from_counts = counts.prc.plot_summary(by="segment", score="threshold", pos="pos", neg="neg")
    curve = kind.make(THREE.prc.curve("late", "old", by="segment"))
    columns = ["name", "average_precision", "ci_low", "ci_high", "n", "n_pos"]
    for chart in (from_counts, curve.prc.plot_summary()):
        assert of(drawn(chart, "circle")[0][1], *columns) == of(dots, *columns)


@every_kind
@pytest.mark.parametrize("given", ["rows", "counts"])
def test_two_models_are_paired_and_sorted_by_difference(kind, given):
    rows = THREE.with_columns(new=pl.when(segment="d").then(-pl.col("old")).otherwise("old"))
    if given == "rows":
        chart = kind.make(rows).prc.plot_summary("late", ["new", "old"], by="segment")
    else:
        counts = kind.make(rows.prc.counts("late", ["new", "old"], by="segment"))
        chart = counts.prc.plot_summary(
            by=["model", "segment"], score="threshold", pos="pos", neg="neg"
        )
    [(_, differences)] = drawn(chart, "circle", "difference")
    # The second model ranks d the right way round.
    assert {row["name"]: row["difference"] for row in differences} == {"a": 0, "b": 0, "d": 0.5}
    assert {(row["model_a"], row["model_b"]) for row in differences} == {("new", "old")}
    assert order(chart) == ["d", "a", "b", "c"]
    joined = {row["name"]: (row["low"], row["high"]) for row in drawn(chart, "rule", "low")[0][1]}
    assert joined["d"] == (0.5, 1.0)
    [(view, dots)] = drawn(chart, "circle", "average_precision")
    assert {dot["model"] for dot in dots} == {"new", "old"}
    assert view["encoding"]["yOffset"]["scale"]["domain"] == ["new", "old"]
    assert len(drawn(chart, "rule", "difference", "ci_low")) == (given == "rows")


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
    baseline = "b" if "c" in models else None
    chart = frame.prc.plot_summary(
        score=models, **roles, by="region", missing="drop", baseline=baseline
    )
    dots = [dot for _, some in drawn(chart, "circle", "average_precision") for dot in some]
    areas = {dot["model"]: dot["average_precision"] for dot in dots}
    differences = [row for _, some in drawn(chart, "circle", "difference") for row in some]
    assert areas == {"a": 0.5, "b": 1.0} | ({"c": 0.5} if "c" in models else {})
    assert {row["model_a"]: row["difference"] for row in differences} == {
        name: area - 1.0 for name, area in areas.items() if name != "b"
    }
    [(_, sizes)] = drawn(chart, "text", "sizes")
    assert of(sizes, "name", "sizes") == [
        {"name": "north", "sizes": "1 / 2 (few)"}, {"name": "south", "sizes": "0 / 0"},
    ]  # fmt: skip
    assert "Rows with a missing value are left out for all models." in " ".join(words(chart))


def test_what_one_model_lacks_is_not_said_to_be_lacking_for_all():
    for frame, score in ((SOME_LACK, "a"), (SOME_LACK.drop_nulls().fill_nan(0), ["a", "b"])):
        chart = frame.prc.plot_summary("late", score, by="region", missing="drop")
        assert "left out" not in " ".join(words(chart))


def test_several_models_are_compared_with_a_baseline():
    rows = THREE.with_columns(new=-pl.col("old"), same=pl.col("old"))
    models = ["old", "new", "same"]
    chart = rows.prc.plot_summary("late", models, by="segment", baseline="old")
    found = {
        (row["name"], row["model_a"]): row["difference"]
        for _, some in drawn(chart, "circle", "difference")
        for row in some
    }
    # The other way round a is - + +... that is 1/1 and 2/3 again; b has 1/3 and 2/4; d has 1.
    assert found == {
        ("a", "new"): 0, ("a", "same"): 0, ("b", "new"): pytest.approx(5 / 12 - 1),
        ("b", "same"): 0, ("d", "new"): 0.5, ("d", "same"): 0,
    }  # fmt: skip
    without = rows.prc.plot_summary("late", models, by="segment")
    assert drawn(without, "circle", "difference") == []
    assert order(without) == ["b", "d", "a", "c"]


def test_summary_without_keys_has_one_row():
    chart = ROWS.prc.plot_summary("late", "score")
    assert order(chart) == ["all rows"]
    two = ROWS.with_columns(other=-pl.col("score")).prc.plot_summary("late", ["score", "other"])
    [(_, [row])] = drawn(two, "circle", "difference")
    # The other way round: 0.2 - | 0.4 + - | 0.9 +, with 1/3 and 2/4.
    assert row["difference"] == pytest.approx(5 / 6 - 5 / 12)


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


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
@pytest.mark.parametrize("given", CHART_INPUTS)
def test_too_many_segments_are_refused_before_they_are_evaluated(verb, given, monkeypatch):
    rows = segments(500).with_columns(day=1)
    frame, asked = chart_input(given, rows, "old", ("segment", "day"))

    def evaluate(*_: object, **__: object) -> None:
        raise AssertionError("evaluated")

    monkeypatch.setattr(data, "average_precision", evaluate)
    monkeypatch.setattr(data, "counts", evaluate)
    with pytest.raises(DataError, match=r"500 (lines|segments)\."):
        getattr(frame.prc, verb)(**asked)
    with pytest.raises(AssertionError, match="evaluated"):
        segments(3).prc.plot("late", "old", by="segment")


# --- errors ------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"points": {"recal": 0.9}}, OptionError, "points= names 'recal'.*'recall', 'precision'"),
        ({"points": 0.9}, OptionError, "points=0.9 is of type float"),
        ({"points": {"recall": 2}}, OptionError, "recall=2 is out of range"),
        ({"points": {"recall": [i / 7 for i in range(1, 8)]}}, OptionError, "7 operating points"),
        ({"points": {}}, OptionError, "no target is given"),
        (
            {"threshold": [0.1, 0.2]},
            OptionError,
            "threshold=.* is not a number.*one number",
        ),
        ({"threshold": "high"}, OptionError, "threshold='high' is not a number"),
        ({"ci": 95}, OptionError, "ci=95 is not a level.*ci=0.95"),
        ({"band": 1}, OptionError, "band=1 is not an option"),
        ({"roc": "yes"}, OptionError, "roc='yes' is not an option"),
        ({"dark": None}, OptionError, "dark=None is not an option"),
        ({"start": "zero"}, OptionError, "start='zero' is not an option"),
        ({"title": 3}, OptionError, "title=3 is of type int"),
        ({"width": 10}, OptionError, "width=10 is not a size.*from 40 to 4000"),
        ({"height": "tall"}, OptionError, "height='tall' is not a size"),
        ({"iso_f1": [1.5]}, OptionError, r"iso_f1=\[1.5\] is not an option"),
        ({"iso_f1": [i / 11 for i in range(1, 11)]}, OptionError, "iso_f1= has 10 F1 scores"),
        ({"facet": 3}, OptionError, "facet=3 does not name keys"),
        ({"facet": True}, OptionError, "facet=True does not name keys"),
        ({"facet": "regoin", "by": "late2"}, ColumnError, "by= names 'late2'.*did you mean 'late'"),
        ({"facet": "late"}, OptionError, "facet= names 'late', which is not a key. Allowed: None"),
        ({"score": "scor"}, ColumnError, "score= names 'scor'.*did you mean 'score'"),
        ({"score": None}, OptionError, "score= is not given"),
        ({"truth": None}, OptionError, "truth= is not given"),
        ({"ci": 0.9, "weight": "score2"}, ColumnError, "weight= names 'score2'"),
    ],
)
def test_bad_options_are_refused(kind, asked, error, says):
    with pytest.raises(error, match=says):
        kind.make(ROWS).prc.plot(**{"truth": "late", "score": "score", **asked})


@every_kind
def test_bad_values_are_refused_as_by_every_verb(kind):
    rows = ROWS.with_columns(w=pl.Series([1.0, -1.0, 1.0, 1.0]))
    with pytest.raises(DataError, match="weight= column 'w' has 1 row"):
        kind.make(rows).prc.plot("late", "score", weight="w")
    with pytest.raises(DataError, match="values are missing: 'score' has 1 row"):
        kind.make(rows.with_columns(score=pl.Series([None, 1.0, 2.0, 3.0]))).prc.plot(
            "late", "score"
        )


@every_kind
def test_intervals_of_weighted_thresholds_are_refused(kind):
    with pytest.raises(OptionError, match=r"ci= of a curve is for counts of rows.*band"):
        kind.make(ROWS.with_columns(w=1.5)).prc.plot("late", "score", weight="w", ci=0.9)


@every_kind
@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda c: c.drop("tp"), ColumnError, "the frame is no curve: it has no column 'tp'"),
        (lambda c: c.rename({"recall": "recal"}), ColumnError, "no column 'recall'.*'recal'"),
        (
            lambda c: c.with_columns(threshold=pl.lit("high")),
            ColumnError,
            "column 'threshold' of the curve has dtype",
        ),
        (
            lambda c: c.drop("region"),
            DataError,
            "the frame is no curve: .*the keys are the columns",
        ),
        (lambda c: c.with_columns(tp=pl.col("tp") * -1), DataError, "the frame is no curve"),
        (lambda c: c.with_columns(fn=pl.lit(1)), DataError, "the frame is no curve"),
        (lambda c: pl.concat([c, c]), DataError, "the frame is no curve"),
    ],
    ids=["column", "near", "dtype", "key", "negative", "totals", "twice"],
)
def test_a_frame_that_is_no_curve_is_refused(kind, change, error, says):
    curve = REGIONS.prc.curve("late", "old", by="region")
    with pytest.raises(error, match=says):
        kind.make(change(curve)).prc.plot()


@every_kind
def test_a_baseline_that_is_no_model_is_refused(kind):
    frame = kind.make(REGIONS)
    with pytest.raises(OptionError, match=r"baseline='odl' is no model.*'old', 'new'"):
        frame.prc.plot_summary("late", ["old", "new"], baseline="odl")
    with pytest.raises(OptionError, match="names one model"):
        frame.prc.plot_summary("late", "old", baseline="old")
    counts = REGIONS.prc.counts("late", ["old", "new"])
    with pytest.raises(OptionError, match=r"baseline='odl' is no model.*'new', 'old'"):
        counts.prc.plot_summary(score="threshold", by="model", pos="pos", neg="neg", baseline="odl")


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_without_altair_the_error_says_how_to_install_it(verb, monkeypatch):
    find = util.find_spec
    monkeypatch.setattr(
        "frame_prc._request.packages.find_spec",
        lambda name: None if name == "altair" else find(name),
    )
    with pytest.raises(OptionError, match=r"needs Altair.*pip install altair"):
        getattr(ROWS.prc, verb)("late", "score")


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_what_is_no_frame_is_refused(verb):
    with pytest.raises(FrameError, match="cannot evaluate a frame of type list"):
        getattr(frame_prc, verb)([1, 2], "late", "score")
