"""Charts of clustered rows: their intervals, and what they say of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from chart_reading import ROWS, drawn, drawn_digits, of, of_segments, words
from kinds import every_kind

import frame_prc
from frame_prc import Draws, OptionError

ENDS = ["precision_low", "precision_high"]


def clustered_rows() -> pl.DataFrame:
    """Return rows of 12 days, whose scores share half of their variance with those of the day."""
    rng = np.random.default_rng(5)
    day = np.repeat(np.arange(12), 10)
    late = (rng.random(12) < 0.5)[day]
    shared, own = rng.standard_normal(12)[day], rng.standard_normal((2, day.size))
    new, old = np.round(shared + own + late, 1)
    region = np.where(np.arange(day.size) % 2, "north", "south")
    return pl.DataFrame({"day": day, "late": late, "new": new, "old": old, "region": region})


DAYS = clustered_rows()
ASKED = {"by": "region", "cluster": "day"}
MODELS = ["new", "old"]


# --- curves ------------------------------------------------------------------------------------


def test_ribbons_are_the_intervals_of_clustered_curves():
    chart = DAYS.prc.plot("late", MODELS, ci=0.9, **ASKED)
    columns = ["key_0", "key_1", "tp", "fp", *ENDS]
    found = [row for _, rows in drawn(chart, "area", "precision_low") for row in of(rows, *columns)]
    curve = frame_prc.curve(DAYS, "late", MODELS, ci=0.9, keep="corners", **ASKED)
    points = curve.filter(pl.col("tp") + pl.col("fp") > 0)
    # A chart leaves out points that reach no more positives.
    held = points.filter(
        pl.col("recall") > pl.col("recall").shift(fill_value=0).over("model", "region")
    )
    expected = drawn_digits(held.select("model", "region", "tp", "fp", *ENDS)).rows()
    # The opening row of a line repeats the ends of its first step.
    assert {tuple(r.values()) for r in found if r["tp"] + r["fp"]} == set(expected)
    alone = frame_prc.curve(DAYS, "late", MODELS, by="region", ci=0.9, keep="corners")
    assert not alone.select(ENDS).equals(curve.select(ENDS))


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"ci": 0.9}, {"band": True}], ids=str)
def test_charts_of_curves_have_clustered_areas_and_say_so(options):
    chart = DAYS.prc.plot("late", "new", cluster="day", **options)
    level = options.get("ci", 0.95)
    row = frame_prc.average_precision(DAYS, "late", "new", ci=level, cluster="day")
    low, high = row.select("ci_low", "ci_high").row(0)
    text = " ".join(words(chart))
    assert f"[{low:.3f}, {high:.3f}]" in text
    assert "Intervals: rows clustered by day." in text
    assert "cluster" not in " ".join(words(DAYS.prc.plot("late", "new", **options)))


@every_kind
def test_band_draws_whole_clusters(kind):
    chart = kind.make(DAYS).prc.plot("late", "new", band=True, cluster="day")
    [(_, rows)] = drawn(chart, "area", "precision_low")
    columns = ["recall", *ENDS]
    table = frame_prc.band(DAYS, "late", "new", cluster="day", bootstrap=Draws(seed=0))
    assert of(rows, *columns) == drawn_digits(table.select(columns)).to_dicts()


# --- summaries ---------------------------------------------------------------------------------


@every_kind
def test_summary_has_clustered_intervals_of_areas_and_differences(kind):
    chart = kind.make(DAYS).prc.plot_summary("late", MODELS, calibrate=None, **ASKED)
    [(_, found)] = drawn(chart, "rule", "average_precision", "ci_low")
    areas = of_segments(found)
    columns = ["ci_low", "ci_high"]
    table = frame_prc.average_precision(DAYS, "late", MODELS, ci=0.95, **ASKED)
    for row, known in zip(areas, table.iter_rows(named=True), strict=True):
        assert (row["key_0"], row["key_1"]) == (known["model"], known["region"])
        assert of([row], *columns) == [pytest.approx({name: known[name] for name in columns})]
    [(_, differences)] = drawn(chart, "rule", "difference", "ci_low")
    compared = frame_prc.compare_models(DAYS, "late", MODELS, **ASKED)
    names = ["difference", *columns, "p_value"]
    assert of(of_segments(differences), *names) == [
        pytest.approx(row) for row in compared.select(names).to_dicts()
    ]
    text = " ".join(words(chart))
    assert "Average precision with 95 % intervals, rows clustered by day." in text
    assert "Hollow (few): fewer than 20 effective clusters with positives" in text
    plain = " ".join(words(kind.make(DAYS).prc.plot_summary("late", MODELS, by="region")))
    assert "clustered" not in plain


def test_dots_without_an_interval_or_with_few_positives_are_hollow():
    # In the north a single positive, in the south three, in the east twenty; both models rank the
    # north alike.
    def region(name, late, new, old):
        return pl.DataFrame({"region": name, "late": late, "new": new, "old": old})

    many = [i / 40 for i in range(40)]
    rows = pl.concat(
        [
            region("north", [0, 1, 0], [0.9, 0.5, 0.1], [0.9, 0.5, 0.1]),
            region("south", [1, 0, 1, 0, 1], [0.9, 0.7, 0.6, 0.5, 0.4], [0.1, 0.8, 0.6, 0.5, 0.4]),
            region("east", [0, 1] * 20, many, many[::-1]),
        ]
    )
    chart = rows.prc.plot_summary("late", ["new", "old"], by="region")
    holes = [found for found in drawn(chart, "point", "name") if "shape" not in found[0]["mark"]]
    areas, differences = holes
    background = chart.to_dict(validate=False)["config"]["background"]
    for view, found in (areas, differences):
        assert view["mark"]["filled"]
        assert view["encoding"]["color"] == {"value": background}
        assert {row["name"] for row in found} == {"north", "south"}
    text = " ".join(words(chart))
    assert "Hollow dots without a line have no interval." in text
    assert "Hollow (few): fewer than 20 positives, intervals may cover less than stated." in text
    known = rows.filter(region="east").prc.plot_summary("late", ["new", "old"])
    assert drawn(known, "point", "name") == []
    assert "Hollow" not in " ".join(words(known))


# --- names and errors --------------------------------------------------------------------------


def test_the_name_of_the_clusters_is_safe_to_show():
    name = "</script>" + "x" * 60
    chart = DAYS.rename({"day": name}).prc.plot("late", "new", cluster=name)
    text = " ".join(words(chart))
    assert "rows clustered by <" in text
    assert "</script" not in text
    assert "x…x" in text.replace("\u2060", "")
    expression = DAYS.prc.plot("late", "new", cluster=(pl.col("day") // 2).alias("pair of days"))
    assert "rows clustered by pair of days" in " ".join(words(expression))


@pytest.mark.parametrize("verb", ["plot", "plot_summary"])
def test_counts_and_curves_have_no_clusters(verb):
    counts = ROWS.prc.counts("late", "score").with_columns(day=1)
    draw = getattr(frame_prc, verb)
    with pytest.raises(OptionError, match="cluster= is given beside pos= and neg="):
        draw(counts, score="threshold", pos="pos", neg="neg", cluster="day")
    with pytest.raises(OptionError, match="cluster= is given without truth= and score="):
        draw(ROWS.prc.curve("late", "score"), cluster="day")
