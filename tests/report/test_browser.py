"""The page in a real browser, with its strict policy: no error, no request, and right numbers."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import optional
import polars as pl
import pytest
from browsing import opened, requests, until, visit
from report_cases import KEY, MODELS, hostile, rows

import frame_prc

pytestmark = pytest.mark.thorough

ROWS = rows(3000, 6)
TWO = ["weak", "good"]
CASES = {
    "two models": (ROWS, TWO, {"by": "segment", "cluster": "day"}),
    "one model": (ROWS, "good", {}),
    "watched": (ROWS, TWO, {"by": "day", "sections": "time", "calibrate": 0.2}),
    "weeks": (ROWS, TWO, {"by": pl.col("day").dt.truncate("1w")}),
    "no positives": (ROWS.with_columns(truth=False), TWO, {"by": "segment"}),
    "infinite": (ROWS.with_columns(good=1 / (pl.col("good") > 0.7).cast(pl.Float64)), "good", {}),
    "hostile": (hostile(), MODELS, {"by": KEY, "title": "</title><script>x"}),
    "many segments": (rows(4000, 250), "good", {"by": "segment"}),
}
COUNTS = ["tp", "fp", "fn", "tn"]
LEGEND = "#curves svg text"


@pytest.fixture(scope="module")
def browser():
    with opened(1100, 900) as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a function that writes the page of a case, once."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def page(name):
        if name not in known:
            frame, score, options = CASES[name]
            path = folder / f"{name}.html"
            known[name], _ = frame_prc.report(frame, path, "truth", score, **options)
        return known[name]

    return page


def show(browser, path):
    """Open a page, and wait until its pictures are drawn."""
    visit(browser, path.as_uri())
    until(browser, lambda: browser.execute_script("return document.body.dataset.drawn") == "yes")


def find(browser, selector):
    return browser.find_element("css selector", selector)


def texts(browser, selector):
    """Return the texts of all elements, in one call."""
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    return browser.execute_script(script, selector)


def replace(browser, *typed):
    """Type in place of what the element with the focus has."""
    keys(browser, optional.require_module("selenium.webdriver").Keys.CONTROL + "a")
    keys(browser, *typed)


def prefer(browser, scheme):
    """Prefer light or dark pages."""
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


@contextmanager
def as_wide_as(browser, width):
    """Show pages on a screen of this width."""
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def keys(browser, *typed):
    """Type into the element that has the focus."""
    browser.switch_to.active_element.send_keys(*typed)


@pytest.mark.parametrize(("name", "scheme"), [*zip(CASES, ["light", "dark"] * 4, strict=True)])
def test_a_page_opens_without_an_error_or_a_request(browser, pages, name, scheme):
    prefer(browser, scheme)
    show(browser, pages(name))
    assert browser.get_log("browser") == []
    sent = {url for url in requests(browser) if not url.startswith(("data:", "blob:"))}
    assert sent == {pages(name).as_uri()}
    assert browser.title != "broken"
    pictures = browser.find_elements("css selector", ".picture:not([hidden]) svg.marks")
    asked = len(json.loads(find(browser, "#data").get_attribute("textContent"))["charts"])
    assert len(pictures) == asked
    assert asked >= (1 if name == "no positives" else 4)
    assert all(picture.size["width"] > 150 for picture in pictures)
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= browser.execute_script("return innerWidth")


@pytest.mark.parametrize(("width", "name"), [(390, "watched"), (1280, "two models")])
def test_the_first_screen_answers_in_few_words_and_pictures(browser, pages, width, name):
    with as_wide_as(browser, width):
        show(browser, pages(name))
        for svg in browser.find_elements("css selector", ".answer svg.marks"):
            assert svg.rect["x"] + svg.rect["width"] <= width
        last = browser.find_elements("css selector", ".answer")[-1].rect
        assert last["y"] + last["height"] <= (720 if width > 1000 else 844)
        browser.execute_script("document.querySelectorAll('svg').forEach(e => e.remove())")
        words = " ".join(e.text for e in browser.find_elements("css selector", "header, .answer"))
        assert "ranks better: " in words
        assert len(words.split()) <= 120


def test_names_are_shown_as_they_are(browser, pages):
    show(browser, pages("hostile"))
    assert find(browser, "h1").text == "</title><script>x"
    names = texts(browser, "#scorecard tbody bdi")
    assert "${x} {{ y }} {% z %}" in names
    assert "<\u2060script>document.title = …en'<\u2060/script>" in names  # cut in the middle
    assert len(names) == 8


def test_axe_finds_no_serious_fault(browser, pages):
    axe = optional.require_module("axe_core_python.selenium").Axe()
    for name in ("two models", "no positives", "many segments"):
        show(browser, pages(name))
        # By the protocol of the browser's own tools: the page allows no other script.
        browser.execute_cdp_cmd("Runtime.evaluate", {"expression": axe.axe_script})
        done = browser.execute_cdp_cmd(
            "Runtime.evaluate",
            {"expression": "axe.run().then(r => JSON.stringify(r.violations))",
             "awaitPromise": True, "returnByValue": True},
        )  # fmt: skip
        violations = json.loads(done["result"]["value"])
        serious = [v for v in violations if v["impact"] in ("serious", "critical")]
        assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in serious] == []


# --- what the reader does ------------------------------------------------------------------------


def cells(browser):
    """Return the cells of each row of the table of counts."""
    names = [
        "model",
        "threshold",
        "predicted",
        "precision",
        "recall",
        "f_score",
        "predicted_rate",
        *COUNTS,
    ]
    found = texts(browser, "#counts tbody tr > *")
    rows = [
        dict(zip(names, found[i : i + len(names)], strict=True))
        for i in range(0, len(found), len(names))
    ]
    return [row | {"threshold": f"{float(row['threshold']):g}"} for row in rows]


def expected(threshold, segment):
    """Return what the table of counts shall say."""
    own = ROWS if segment is None else ROWS.filter(segment=segment)
    table = own.prc.operating_points(
        "truth", TWO, threshold=threshold, ci=0.95, cluster="day", details=True
    )
    by_model = {point["model"]: point for point in table.to_dicts()}
    return [
        {"model": model, "threshold": f"{threshold:g}"}
        | {name: f"{by_model[model][name]:,}" for name in COUNTS}
        | {"predicted": f"{by_model[model]['tp'] + by_model[model]['fp']:,}"}
        | {name: f"{by_model[model][name]:.3f}" for name in ("predicted_rate", "f_score")}
        | {name: with_interval(by_model[model], name) for name in ("precision", "recall")}
        for model in TWO
    ]


def compare_at(browser, what):
    """Choose at what models are compared: as many alerts, one score, or one recall."""
    script = """
        const same = document.getElementById('same');
        same.value = arguments[0];
        same.dispatchEvent(new Event('change'))"""
    browser.execute_script(script, what)


def with_interval(point, name):
    low, high = point[f"{name}_low"], point[f"{name}_high"]
    ends = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{point[name]:.3f}{ends}"


def test_the_slider_shows_operating_points_by_keyboard_alone(browser, pages):
    show(browser, pages("two models"))
    compare_at(browser, "score")
    key = optional.require_module("selenium.webdriver").Keys
    marks = """return [...document.querySelectorAll('#curves svg .mark-symbol path')]
      .map(mark => mark.getAttribute('transform')).join()"""
    seen = set()
    browser.execute_script("document.getElementById('threshold').focus()")
    for typed in (key.HOME, key.ARROW_RIGHT * 40, key.PAGE_UP):
        keys(browser, typed)
        threshold = float(find(browser, "#near").get_property("value"))
        shown = find(browser, "#threshold").get_attribute("aria-valuetext")
        assert float(shown) == threshold
        assert cells(browser) == expected(threshold, None)
        places = until(browser, lambda: browser.execute_script(marks))
        until(browser, lambda: browser.execute_script(marks) not in seen)
        seen.add(places)
    keys(browser, key.TAB)  # to the number
    assert browser.switch_to.active_element.get_attribute("id") == "near"
    replace(browser, "0.5", key.TAB)
    assert float(find(browser, "#near").get_property("value")) == 0.5
    browser.execute_script("document.getElementById('where').focus()")
    keys(browser, "s0003")  # in the list of segments
    assert cells(browser) == expected(0.5, "s0003")
    assert browser.get_log("browser") == []


def test_the_table_sorts_filters_and_chooses_by_keyboard_alone(browser, pages):
    show(browser, pages("two models"))
    key = optional.require_module("selenium.webdriver").Keys
    summary = ROWS.prc.summary("truth", TWO, by="segment", details=True).filter(model="good")
    column = next(
        place
        for place, head in enumerate(texts(browser, "#scorecard thead th"))
        if head == "goodCalibrated AP"
    )
    browser.execute_script(
        f"document.querySelectorAll('#scorecard thead button')[{column}].focus()"
    )
    for descending in (False, True):
        keys(browser, key.ENTER)
        ordered = summary.sort("calibrated_average_precision", descending=descending)
        assert texts(browser, "#scorecard tbody bdi") == ordered["segment"].to_list()
        sorted_by = find(browser, "#scorecard th[aria-sort]").get_attribute("aria-sort")
        assert sorted_by == ("descending" if descending else "ascending")
    shown = texts(browser, f"#scorecard tbody tr > :nth-child({column + 1})")
    options = {"by": "segment", "cluster": "day", "details": True}
    expected = frame_prc.summary(ROWS, "truth", TWO, **options)
    expected = expected.filter(model="good").sort("calibrated_average_precision", descending=True)
    areas = [
        f"{area:.3f} [{low:.3f}, {high:.3f}]"
        for area, low, high in expected.select(
            "calibrated_average_precision",
            "calibrated_average_precision_low",
            "calibrated_average_precision_high",
        ).iter_rows()
    ]
    assert shown == areas
    browser.execute_script("document.getElementById('filter').focus()")
    keys(browser, "S0002")
    assert texts(browser, "#scorecard tbody bdi") == ["s0002"]
    assert "1 of 6 segments" in find(browser, "#count").text
    keys(browser, "?")
    assert texts(browser, "#scorecard tbody tr") == ["No segment matches"]
    assert find(browser, "#count").text == "0 of 6 segments"
    keys(browser, key.BACKSPACE)
    before = "s0002" in texts(browser, LEGEND)
    browser.execute_script("document.querySelector('#scorecard tbody input').focus()")
    keys(browser, key.SPACE)
    until(browser, lambda: ("s0002" in texts(browser, LEGEND)) != before)
    assert browser.get_log("browser") == []


def test_a_segment_chosen_in_the_table_is_shown_at_the_threshold(browser, pages):
    show(browser, pages("two models"))
    compare_at(browser, "score")
    assert find(browser, "#where").get_property("value") == ""
    unticked = find(browser, "#scorecard tbody input:not(:checked)")
    segment = unticked.find_element("xpath", "..").text
    unticked.click()
    assert find(browser, "#counts caption").text.endswith(f", in {segment}")
    threshold = float(find(browser, "#near").get_property("value"))
    assert cells(browser) == expected(threshold, segment)
    until(browser, lambda: segment in texts(browser, LEGEND))
    assert browser.get_log("browser") == []


def test_the_lowest_segment_can_be_looked_at_from_the_findings(browser, pages):
    show(browser, pages("two models"))
    compare_at(browser, "score")
    find(browser, "#reasons summary").click()
    summary = ROWS.prc.summary("truth", TWO, by="segment", details=True).filter(model="good")
    lowest = summary.sort("calibrated_average_precision")["segment"].head(3).to_list()
    buttons = browser.find_elements("css selector", "#lowest button")
    assert [button.text for button in buttons] == lowest
    key = optional.require_module("selenium.webdriver").Keys
    buttons[1].send_keys(key.ENTER)
    replace(browser, "0.3", key.TAB)
    assert cells(browser) == expected(0.3, lowest[1])
    assert find(browser, "#counts caption").text == f"Alerts at a score ≥ 0.3, in {lowest[1]}"
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [500, 1200])
def test_a_wide_table_scrolls_in_its_box_and_says_so(browser, pages, width):
    with as_wide_as(browser, width):
        show(browser, pages("two models"))
        box = find(browser, ".scroll:has(#scorecard)")
        browser.execute_script("arguments[0].scrollLeft = 300", box)
        first = find(browser, "#scorecard tbody th").rect["x"]
        assert first == pytest.approx(box.rect["x"], abs=1)
        hint = box.find_element("xpath", "preceding-sibling::*[1]")
        assert hint.is_displayed() != fits(browser, box)
        last_p = (
            "return Math.max(...[...document.querySelectorAll('#scorecard thead th.p')]"
            ".map(head => head.offsetLeft + head.offsetWidth))"
        )
        if width > 1000:
            assert browser.execute_script(last_p) < width
            assert fits(browser, box)
        pictures = [find(browser, f"#{name} .picture") for name in ("areas", "thresholds")]
        for picture in pictures:
            hint = picture.find_element("xpath", "preceding-sibling::*[1]")
            assert hint.is_displayed() != fits(browser, picture)


def fits(browser, box):
    return browser.execute_script(
        "return arguments[0].scrollWidth <= arguments[0].clientWidth", box
    )


def test_the_sixth_tick_takes_the_place_of_the_first_and_all_rows_stay(browser, pages):
    show(browser, pages("many segments"))
    first = texts(browser, "#scorecard tbody tr:has(input:checked) bdi")
    boxes = browser.find_elements("css selector", "#scorecard tbody input:not(:checked):enabled")
    names = [box.find_element("xpath", "..").text for box in boxes][: 6 - len(first)]
    for name in names:
        tick(browser, name)
    until(browser, lambda: names[-1] in texts(browser, LEGEND))
    drawn = texts(browser, LEGEND)
    assert "all rows" in drawn
    assert [*first, *names][0] not in drawn
    assert find(browser, "#counts caption").text.endswith(f", in {names[-1]}")
    tick(browser, names[-1])
    until(browser, lambda: names[-1] not in texts(browser, LEGEND))
    assert find(browser, "#thresholds .segment").text == names[-2]
    assert browser.get_log("browser") == []


def tick(browser, name):
    """Click the box of a segment."""
    script = """
        [...document.querySelectorAll('#scorecard tbody label')]
          .find(label => label.textContent.trim() === arguments[0]).click()"""
    browser.execute_script(script, name)


@pytest.mark.parametrize(
    ("typed", "taken", "note"),
    [
        ("0,5", "0.5", ""),
        ("1.99", None, "1.99 is above the highest threshold of this page, "),
        ("1e", None, "“1e” is not a number."),
    ],
)
def test_a_threshold_is_taken_while_typing_or_refused_in_words(browser, pages, typed, taken, note):
    show(browser, pages("two models"))
    compare_at(browser, "score")
    key = optional.require_module("selenium.webdriver").Keys
    before = find(browser, "#threshold").get_attribute("aria-valuetext")
    assert f"{before}: largest F1 of good over all rows." in find(browser, "#near-note").text
    near = find(browser, "#near")
    near.send_keys(key.CONTROL + "a")
    near.send_keys(typed or key.DELETE)
    now = taken or before
    assert find(browser, "#threshold").get_attribute("aria-valuetext") == now
    assert f"≥ {now}, in all rows" in find(browser, "#counts caption").text
    assert cells(browser) == expected(float(now), None)
    assert near.get_property("value") == typed
    assert find(browser, "#near-note").text.startswith(note)
    assert (near.get_attribute("aria-invalid") == "true") == ("is" in note)
    keys(browser, key.TAB)
    assert near.get_property("value") == now
    assert browser.get_log("browser") == []


def test_pictures_are_light_on_paper(browser, pages):
    prefer(browser, "dark")
    show(browser, pages("two models"))
    colours = """
        return [...new Set([...document.querySelectorAll('.picture svg, .picture svg *')]
          .flatMap(e => [e.getAttribute('fill'), e.getAttribute('stroke')]))]"""
    before = set(browser.execute_script(colours))
    assert {"#16181D", "#E8E8E8"} <= before
    for event in ("beforeprint", "afterprint"):
        browser.execute_script("dispatchEvent(new Event(arguments[0]))", event)
        shown = set(browser.execute_script(colours))
        if event == "beforeprint":
            assert not {"#16181D", "#E8E8E8", "#A8ACB3", "#3A3E46"} & shown
            assert {"#FFFFFF", "#222222"} <= shown
    assert shown == before
    assert browser.get_log("browser") == []


def test_many_segments_are_paged_but_not_on_paper_and_the_pictures_say_what_they_show(
    browser, pages
):
    show(browser, pages("many segments"))
    assert len(texts(browser, "#scorecard tbody tr")) == 50
    assert find(browser, "#page").text == "Page 1 of 5"
    find(browser, "#after").click()
    assert len(texts(browser, "#scorecard tbody tr")) == 50
    notes = " ".join(texts(browser, ".note"))
    shown = int(
        re.search(r"curves of (\d+) of 250 segments: of the 20 worst, the 20 best", notes)[1]
    )
    for event, count, has_buttons in (("beforeprint", shown, False), ("afterprint", 50, True)):
        browser.execute_script("dispatchEvent(new Event(arguments[0]))", event)
        assert len(texts(browser, "#scorecard tbody tr")) == count
        # A browser does not print a button again on the next page.
        assert bool(texts(browser, "#scorecard thead button")) == has_buttons
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("name", ["areas", "curves"])
def test_pictures_and_tables_can_be_saved(browser, pages, tmp_path, name):
    options = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", options)
    prefer(browser, "dark")
    show(browser, pages("two models"))
    for button in browser.find_elements("css selector", f"#{name} .save button"):
        button.click()
    files = [tmp_path / f"{name}.{kind}" for kind in ("png", "svg", "csv")]
    until(browser, lambda: all(file.is_file() for file in files))
    png, svg, csv = files
    assert png.read_bytes().startswith(b"\x89PNG")
    image = svg.read_text()
    assert image.startswith("<svg")
    assert "#16181D" not in image  # the dark background
    titles = {
        "areas": "Average precision at one prevalence, with intervals<",
        "curves": "Precision-recall curves; threshold 0.",
    }
    assert titles[name] in image
    said = {"curves": "Dashed: prevalence."}
    assert said.get(name, "") in image
    saved = pl.read_csv(csv)
    assert saved.height > 1
    if name == "areas":
        options = {"by": "segment", "cluster": "day", "details": True}
        summary = ROWS.prc.summary("truth", TWO, **options).filter(model="good")
        found = saved["good: Calibrated AP low"].to_list()
        assert found == pytest.approx(
            summary["calibrated_average_precision_low"].to_list(), rel=1e-11
        )
    assert browser.get_log("browser") == []
