"""Colours, sizes and titles, and files that charts are saved to."""

from __future__ import annotations

import io
import itertools
import re

import numpy as np
import polars as pl
import pytest
from altair.utils.schemapi import debug_mode
from chart_reading import REGIONS, ROWS, drawn, segments, specification, words
from layers import also

from frame_prc import FileError
from frame_prc._charts.options import MOST_COLOURS, Look


def luminance(colour):
    """Return the relative luminance of WCAG 2.1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Return the contrast ratio of WCAG 2.1."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_lines_stand_out_from_the_ground(dark):
    chart = segments(21).prc.plot("late", "old", by="segment", facet=False, dark=dark)
    [(line, _)] = drawn(chart, "line", "threshold")
    colours = line["encoding"]["color"]["scale"]["range"]
    dashes = line["encoding"]["strokeDash"]["scale"]["range"]
    ground = chart.to_dict()["config"]["background"]
    contrasts = [contrast(colour, ground) for colour in colours]
    assert min(contrasts) > 2
    assert min(contrasts[:3]) > 3
    assert (luminance(ground) < luminance(colours[0])) == dark
    assert len({(c, tuple(d)) for c, d in zip(colours, dashes, strict=True)}) == 21


# Machado, Oliveira & Fernandes (2009), doi 10.1109/TVCG.2009.113, at severity 1, of linear RGB.
SEEN = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = [0.9505, 1, 1.089]


def lab(colour, seen="all"):
    """Return a colour in CIELAB, as it is seen."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(SEEN[seen]) @ linear, 0, 1) / WHITE
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("seen", SEEN)
def test_colours_are_told_apart_by_all_who_see(dark, seen):
    colours = [lab(colour, seen) for colour in Look(dark=dark).colours(MOST_COLOURS)]
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)]
    assert min(distances) > 14


@pytest.mark.parametrize("dark", [False, True])
def test_the_first_three_colours_are_told_apart_in_grey_print(dark):
    lightness = sorted(lab(colour)[0] for colour in Look(dark=dark).colours(3))
    assert min(np.diff(lightness)) > 8


GALLERY = {
    "curves": lambda dark: REGIONS.prc.plot("late", ["old", "new"], by="region", dark=dark),
    "points": lambda dark: REGIONS.prc.plot(
        "late", "old", points={"recall": 0.7, "f_beta": [1, 0.5]}, roc=True, dark=dark
    ),
    "rows": lambda dark: REGIONS.prc.plot_summary("late", ["old", "new"], by="region", dark=dark),
    "weeks": lambda dark: REGIONS.with_columns(
        week=pl.date(2024, 1, 1) + pl.duration(weeks=pl.col("old").rank("dense") % 3)
    ).prc.plot_summary("late", ["old", "new"], by="week", dark=dark),
}  # fmt: skip


def hues(part, name=""):
    """Yield each colour of a chart below the name that it has there."""
    if isinstance(part, dict):
        for key, inner in part.items():
            yield from hues(inner, name if key in {"value", "scale", "range"} else key)
    elif isinstance(part, list):
        for inner in part:
            yield from hues(inner, name)
    elif re.fullmatch("#[0-9A-Fa-f]{6}", str(part)):
        yield name, part


@pytest.mark.parametrize(("name", "dark"), [*zip(GALLERY, [False, True] * 2, strict=True)])
def test_pictures_of_the_gallery_are_read_on_either_ground_by_all_who_see(name, dark):
    spec, look = specification(GALLERY[name](dark)), Look(dark=dark)
    found = {*hues({key: part for key, part in spec.items() if key != "datasets"})}
    ground = lab(look.background)
    # Grids are faint, and a mark may have the colour of the ground around it, or in it.
    quiet = {look.faint, look.background}
    marks = {colour for _, colour in found} - quiet
    assert look.colours(1)[0] in marks
    for seen in SEEN:
        assert min(abs(lab(colour, seen)[0] - ground[0]) for colour in marks) > 25
    words = {colour for name, colour in found if name.endswith("Color")} - quiet
    assert min(contrast(colour, look.background) for colour in words) > 4.5


def test_sizes_and_title_are_as_asked_for():
    chart = REGIONS.prc.plot("late", ["old", "new"], by="region", size=(100, 80), title="T")
    spec = specification(chart)
    assert {(part["width"], part["height"]) for part in spec["concat"]} == {(100, 80)}
    assert words(chart)[0] == "T"
    square = specification(ROWS.prc.plot("late", "score", size=90))
    assert (square["width"], square["height"]) == (90, 90)


VALID = {
    "curves": lambda: REGIONS.prc.plot("late", ["old", "new"], by="region", ci=0.9, roc=True),
    "one curve": lambda: ROWS.prc.plot(
        "late", "score", band=True, points={"threshold": 0.5}, dark=True
    ),
    "thresholds": lambda: REGIONS.prc.plot("late", "old", by="region", x="threshold"),
    "summary": lambda: REGIONS.prc.plot_summary("late", ["old", "new"], by="region"),
    "times": lambda: REGIONS.with_columns(day=pl.date(2024, 1, pl.col("old").rank("dense")))
    .prc.plot_summary("late", ["old", "new"], by=["region", "day"]),
    "undefined": lambda: REGIONS.with_columns(late=False).prc.plot("late", "old", by="region"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["curves", "summary", *also("one curve", "thresholds", "times", "undefined")]
)
def test_charts_are_valid(name):
    with debug_mode(True):
        assert VALID[name]().to_dict()  # raises what is not valid


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "curves",
            "Precision-recall curves: average precision of 4 lines by model and region, from",
        ),
        ("thresholds", "Precision, recall and F1 by threshold: average precision of 2 lines by"),
        (
            "summary",
            "Calibrated average precision: average precision of 3 rows by model and region",
        ),
    ],
)
def test_charts_say_in_words_what_they_show(name, says):
    assert VALID[name]().to_dict(validate=False)["description"].startswith(says)


WIDEST = {
    "panels": lambda: segments(20).prc.plot("late", ["old", "new"], by="segment"),
    "roc": lambda: segments(3).prc.plot("late", "old", by="segment", roc=True),
    "thresholds": lambda: ROWS.prc.plot("late", "score", x="threshold"),
    "differences": lambda: segments(3).prc.plot_summary("late", ["old", "new"], by="segment"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", WIDEST)
def test_charts_are_no_wider_than_a_cell_of_a_notebook(name, tmp_path):
    WIDEST[name]().save(tmp_path / "chart.png", scale_factor=1)
    assert png_width(tmp_path / "chart.png") <= 780


def png_width(path):
    return int.from_bytes(path.read_bytes()[16:20], "big")


def test_a_page_has_a_title_and_shrinks_with_its_window(tmp_path):
    chart = ROWS.prc.plot("late", "score", title="A </title> & B")
    chart.properties(width=150).save(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    for text in (page, chart.to_html()):
        head = text[: text.index("</head>")]
        assert head.count("<title>A &lt;\u2060/title&gt; &amp; B</title>") == 1
        assert head.count("</title") == 1
        assert 'name="viewport"' in head
        assert "max-width: 100%" in head
        assert '"renderer": "svg"' in text


def test_charts_are_written_to_open_files(tmp_path):
    chart, page, image = ROWS.prc.plot("late", "score"), io.StringIO(), io.BytesIO()
    chart.save(page, "html")
    chart.save(image, format="png")
    assert "<title>Precision and recall</title>" in page.getvalue()
    assert image.getvalue().startswith(b"\x89PNG")
    with (tmp_path / "chart.html").open("w", encoding="utf-8") as file:
        chart.save(file)
    assert (tmp_path / "chart.html").read_text(encoding="utf-8") == page.getvalue()
    with pytest.raises(ValueError, match="format"):
        chart.save(io.StringIO())


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("chart.jpg", {}, "a chart cannot be saved as 'jpg'. Allowed: a file that ends with .html"),
        ("chart.png", {"format": "gif"}, "a chart cannot be saved as 'gif'"),
        ("chart", {}, "the name of the file has no suffix"),
    ],
)
def test_an_unknown_format_is_refused(name, options, said, tmp_path):
    with pytest.raises(FileError, match=re.escape(said)):
        ROWS.prc.plot("late", "score").save(tmp_path / name, **options)


def test_a_chart_can_be_restyled_and_its_page_stays_light():
    chart = ROWS.prc.plot("late", "score").properties(width=200).configure_view(stroke="red")
    spec = chart.to_dict()
    assert (spec["width"], spec["config"]["view"]["stroke"]) == (200, "red")
    assert "background: #FFFFFF; color: #222222" in chart.configure(font="serif").to_html()
