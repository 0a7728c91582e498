"""Curves and summaries on axes of Matplotlib: what is drawn there, and how it looks."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from chart_reading import REGIONS, ROWS, drawn, legend, order, segments
from kinds import every_kind
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import frame_prc
from frame_prc import DataError, OptionError, ParameterError
from frame_prc._charts.options import Look

mpl.use("Agg")

MANY = pl.DataFrame({"row": range(3000)}).with_columns(
    region=pl.col("row") % 4,
    late=pl.col("row") * 7 % 11 < 4,
    score=pl.col("row") * 7919 % 3001,
    other=pl.col("row") * 104729 % 3001,
)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def points_of(line):
    return [*zip(*map(list, line.get_data()), strict=True)]


def dashed(ax):
    """Return the levels of the prevalence lines, and their colours."""
    lines = [line for line in ax.lines if line.get_linestyle() == "--"]
    return {line.get_ydata()[0]: to_hex(line.get_color()) for line in lines}


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- curves ------------------------------------------------------------------------------------


@every_kind
def test_lines_are_the_curves_with_the_names_and_colours_of_plot(kind, ax):
    ev = kind.make(REGIONS).prc.evaluate("late", "old", by="region", ci=0.9)
    result = ev.to_matplotlib(ax=ax)
    curve = REGIONS.prc.curve("late", "old", by="region", start="first", keep="corners")
    shown = ev.plot(facet=False)
    [(view, _)] = drawn(shown, "line", "threshold")
    table = REGIONS.prc.average_precision("late", "old", by="region", ci=0.9)
    areas = [
        (region, f"AP {area:.3f} [{low:.3f}, {high:.3f}]")
        for region, area, low, high in table.select(
            "region", "average_precision", "ci_low", "ci_high"
        ).iter_rows()
    ]
    colours = view["encoding"]["color"]["scale"]["range"]
    assert result.axes is ax
    assert len(result.lines) == len(legend(shown)) == 2
    for line, colour, (region, area) in zip(result.lines, colours, areas, strict=True):
        own = curve.filter(region=region).filter(pl.col("recall").is_first_distinct())
        assert points_of(line) == own.select("recall", "precision").rows()
        assert line.get_drawstyle() == "steps-pre"
        assert to_hex(line.get_color()).upper() == colour
        assert line.get_label() == f"{region}: {area}"
    assert dashed(ax) == {0.5: colours[0].lower(), 2 / 3: colours[1].lower()}
    assert texts(ax) == [*(line.get_label() for line in result.lines), "Prevalence"]


def test_lines_are_level_where_a_handful_of_rows_is_all(ax):
    [line] = MANY.prc.to_matplotlib("late", "score", ax=ax).lines
    curve = MANY.prc.curve("late", "score", keep="corners")
    # Points after the first at a recall would be a line straight down, of no area.
    curve = curve.filter(pl.col("recall").is_first_distinct())
    recall, height = line.get_data()
    visible = recall > 0.004
    assert (recall == curve["recall"].to_numpy()).all()
    assert (height[visible] == curve["precision"].to_numpy()[visible]).all()
    assert {*height[~visible]} == {height[visible][0]}
    assert height[0] < curve["precision"][0] == 1


def test_models_share_a_prevalence_and_take_the_look_that_is_asked_for(ax):
    ask = {"ax": ax, "c": "red", "linewidth": 3, "label": "mine"}
    lines = REGIONS.prc.to_matplotlib("late", ["old", "new"], **ask).lines
    looks = {(line.get_color(), line.get_linewidth(), line.get_label()) for line in lines}
    assert looks == {("red", 3, "mine")}
    assert dashed(ax) == {4 / 7: Look().muted.lower()}


def test_the_undefined_are_named_and_without_ci_there_is_no_interval(ax):
    rows = REGIONS.with_columns(late=pl.col("late") & (pl.col("region") == "north"))
    north, south = rows.prc.to_matplotlib("late", "old", by="region", ax=ax).lines
    assert (north.get_label(), south.get_label()) == ("north: AP 0.833", "south: no positives")
    assert points_of(south) == []


def test_few_positives_are_faint_and_a_dark_ground_has_its_own_colours():
    with plt.style.context("dark_background"):
        ax = Figure().subplots()
        lines = MANY.head(200).prc.to_matplotlib("late", "score", by="region", ax=ax).lines
        [line] = MANY.prc.to_matplotlib("late", "score", ax=ax).lines
    assert [to_hex(one.get_color()).upper() for one in lines] == Look(dark=True).colours(4)
    assert all(one.get_alpha() < 1 for one in lines)
    assert line.get_alpha() is None


def test_names_are_text_and_not_formulas_or_hidden(ax):
    rows = REGIONS.with_columns(region=pl.col("region").replace("south", "_$5-$9"))
    rows.prc.to_matplotlib("late", "old", by="region", ax=ax)
    rows.prc.summary_to_matplotlib("late", "old", by="region", ax=ax.figure.add_subplot())
    ax.figure.draw_without_rendering()
    assert texts(ax)[0].startswith(r" _\$5-\$9: AP ")


def test_current_axes_are_drawn_on_without_ax():
    figure = plt.figure()
    try:
        drawings = [
            ROWS.prc.to_matplotlib("late", "score"),
            ROWS.prc.summary_to_matplotlib("late", "score"),
        ]
        assert [one.axes for one in drawings] == figure.axes * 2
    finally:
        plt.close(figure)


def test_pixels_lie_where_the_steps_are():
    figure = Figure(figsize=(5, 4))
    ax = figure.subplots()
    [line] = ROWS.prc.to_matplotlib("late", "score", ax=ax, linewidth=3, alpha=1).lines
    ax.get_legend().remove()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = np.asarray(canvas.buffer_rgba())[::-1, :, :3] / 255

    def is_drawn(recall, precision):
        x, y = ax.transData.transform((recall, precision)).round().astype(int)
        return np.allclose(picture[y, x], mpl.colors.to_rgb(line.get_color()), atol=0.02)

    # Ranked 0.9 + | 0.4 + - | 0.2 -: precision 1 up to recall 1/2, and 2/3 up to 1.
    assert all(is_drawn(recall, 1) for recall in (0.05, 0.25, 0.45))
    assert all(is_drawn(recall, 2 / 3) for recall in (0.55, 0.75, 0.95))
    assert not any(is_drawn(recall, 2 / 3) for recall in (0.05, 0.25, 0.45))
    assert not any(is_drawn(recall, 1) for recall in (0.55, 0.75, 0.95))


# --- summary -----------------------------------------------------------------------------------


@every_kind
def test_dots_are_those_of_the_summary_below_all_rows(kind, ax):
    scores = {"b": "score", "a": "other"}
    ev = kind.make(MANY).prc.evaluate("late", scores, by="region", ci=0.9)
    lines = ev.summary_to_matplotlib(ax=ax, sort="value", calibrate=None).lines
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["all rows", *order(ev.plot_summary(sort="value", calibrate=None))]
    assert [label.get_fontweight() == "bold" for label in ax.get_yticklabels()][:2] == [True, False]
    assert [line.get_label() for line in lines] == ["b", "a"]
    assert texts(ax) == ["b", "a"]
    roles = {"truth": "late", "score": scores, "ci": 0.9}
    tables = [MANY.prc.average_precision(**roles, by=by) for by in ("region", None)]
    every = pl.concat(tables, how="diagonal").with_columns(pl.col(pl.Float64).round(9))
    found = {
        (line.get_label(), names[round(y)], round(x, 9))
        for line in lines
        for x, y in points_of(line)
    }
    assert found == {
        (row["model"], "all rows" if row["region"] is None else f"region {row['region']}",
         row["average_precision"])
        for row in every.iter_rows(named=True)
    }  # fmt: skip
    intervals = {
        tuple(np.round(x, 9)) for x in (line.get_xdata() for line in ax.lines) if len(x) == 2
    }
    assert intervals >= {*every.select("ci_low", "ci_high").rows()}


def test_all_rows_are_calibrated_as_their_segments_are(ax):
    rows = MANY.with_columns(late=pl.col("late") & ((pl.col("region") > 0) | (pl.col("row") < 999)))
    roles = {"truth": "late", "score": {"a": "score", "b": "other"}, "by": "region"}
    lines = rows.prc.summary_to_matplotlib(**roles, calibrate="highest", ax=ax).lines
    table = rows.prc.summary(**roles, calibrate="highest", overall=True, details=True)
    expected = table.filter(level="pooled")["calibrated_average_precision"]
    assert [line.get_xdata()[0] for line in lines] == pytest.approx(expected.to_list(), rel=1e-12)
    assert ax.get_xlabel() == "Calibrated average precision (ticks: chance)"


def test_few_positives_are_hollow_and_the_undefined_have_their_reason(ax):
    rows = MANY.with_columns(late=pl.col("late") & (pl.col("region") > 0)).filter(
        (pl.col("region") != 1) | (pl.col("row") < 200)
    )
    rows.prc.summary_to_matplotlib("late", "score", by="region", ax=ax)
    holes = [line for line in ax.lines if to_hex(line.get_color()) == "#ffffff"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert [names[round(y)] for line in holes for y in line.get_ydata()] == ["region 1"]
    [reason] = ax.texts
    assert (reason.get_text(), names[round(reason.xy[1])]) == ("no positives", "region 0")


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"ax": [1]}, OptionError, r"ax=\[1\] is not axes.*plt\.subplots\(\)"),
        ({"lin": 1}, ParameterError, r"to_matplotlib\(\) has no parameter lin=.*ax="),
        ({"ci": 95}, OptionError, "ci=95 is not a level"),
        ({"by": "segment"}, DataError, "500 (lines|segments)"),
        ({"score": "s"}, frame_prc.ColumnError, "score= names 's'"),
    ],
)
@pytest.mark.parametrize("verb", ["to_matplotlib", "summary_to_matplotlib"])
def test_what_cannot_be_drawn_is_refused(verb, asked, error, says):
    with pytest.raises(error, match=says):
        getattr(frame_prc, verb)(segments(500), **{"truth": "late", "score": "old", **asked})


def test_lines_that_no_colours_tell_apart_are_refused(ax):
    with pytest.raises(DataError, match=r"30 lines would share.*where\(\)"):
        segments(30).prc.to_matplotlib("late", "old", by="segment", ax=ax)
    with pytest.raises(OptionError, match="one model"):
        REGIONS.prc.summary_to_matplotlib("late", "old", sort="difference", ax=ax)
    assert not ax.lines


def test_nothing_is_imported_before_it_is_needed():
    code = """if True:
        import sys, polars as pl, frame_prc
        ev = frame_prc.evaluate(pl.DataFrame({"t": [1, 0], "s": [2, 1]}), "t", "s")
        ev.average_precision()
        assert "matplotlib" not in sys.modules
        from matplotlib.figure import Figure
        ev.to_matplotlib(ax=Figure().subplots()), ev.summary_to_matplotlib(ax=Figure().subplots())
        assert not {"altair", "matplotlib.pyplot"} & {*sys.modules}
    """
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
