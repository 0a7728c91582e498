"""Charts in a real browser: no error, no request beyond the file, and a mouse that is answered."""

from __future__ import annotations

import optional
import polars as pl
import pytest
from browsing import opened, requests, until, visit
from chart_reading import read

pytestmark = pytest.mark.thorough

HOSTILE = "</script><script>document.title = 'broken'</script><!--"
ROWS = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
KEYED = pl.concat(ROWS.with_columns(pl.lit(key).alias("</td> [k].")) for key in (HOSTILE, "b"))
MODELS = KEYED.with_columns(other=-pl.col("score"))
INFINITE = ROWS.with_columns(score=pl.Series([float("inf"), 0.4, 0.4, -float("inf")]))
SIDE = 1000  # px


@pytest.fixture(scope="module")
def browser():
    with opened(SIDE, SIDE) as found:
        yield found


def show(browser, chart, folder):
    """Open a chart's page, and return its picture once that is drawn."""
    path = folder / "chart.html"
    chart.save(path, inline=True)
    visit(browser, path.as_uri())
    selector = "canvas.marks, svg.marks"
    return until(browser, lambda: browser.find_elements("css selector", selector))[0]


def hover(browser, picture, x, y):
    """Move the mouse to a place in the picture, and return what the tooltip says."""
    chains = optional.require_module("selenium.webdriver.common.action_chains")
    half_width, half_height = picture.size["width"] / 2, picture.size["height"] / 2
    moves = chains.ActionChains(browser)
    moves.move_to_element_with_offset(picture, round(x - half_width), round(y - half_height))
    moves.perform()
    shown = "#vg-tooltip-element.visible"
    [tooltip] = until(browser, lambda: browser.find_elements("css selector", shown))
    cells = [
        cell.text.replace("\u2060", "") for cell in tooltip.find_elements("css selector", "td")
    ]
    return dict(zip(cells[::2], cells[1::2], strict=True))


def panel(browser):
    """Return where the first panel lies in the picture, and its size."""
    # A view of the same chart knows its scene: a panel is a group with cells to hover over.
    return browser.execute_async_script(
        """
        const done = arguments[0];
        vegaEmbed(document.createElement("div"), spec, {renderer: "svg"}).then(({view}) => {
          const find = (item, x, y) => {
            const [left, top] = [x + (item.x || 0), y + (item.y || 0)];
            const nearest = (item.items || []).some(mark => /voronoi/.test(mark.name));
            if (item.width && nearest) return [left, top, item.width, item.height];
            for (const mark of item.items || [])
              for (const inner of mark.items || []) {
                const found = inner.items && find(inner, left, top);
                if (found) return found;
              }
          };
          const [[x, y], padding] = [view.origin(), view.padding()];
          done(find(view.scenegraph().root.items[0], x + padding.left, y + padding.top));
        }, done);
        """
    )


CHARTS = {
    "one line": lambda: ROWS.prc.plot("late", "score", points={"recall": 0.8}),
    "hostile keys": lambda: KEYED.prc.plot("late", "score", by="</td> [k]."),
    "panels": lambda: MODELS.prc.plot("late", ["score", "other"], by="</td> [k].", ci=0.9),
    "roc": lambda: ROWS.prc.plot("late", "score", roc=True, points={"threshold": 0.3}, dark=True),
    "infinite": lambda: ROWS.with_columns(score=1 / (pl.col("late") == 0)).prc.plot(
        "late", "score"
    ),
    "undefined": lambda: ROWS.with_columns(late=False).prc.plot("late", "score"),
    "image": lambda: KEYED.rename({"</td> [k].": "image"}).prc.plot("late", "score", by="image"),
    "threshold": lambda: MODELS.prc.plot(
        "late", ["score", "other"], by="</td> [k].", x="threshold"
    ),
    "summary": lambda: KEYED.prc.plot_summary("late", "score", by="</td> [k]."),
    "two models": lambda: MODELS.prc.plot_summary("late", ["score", "other"], by="</td> [k]."),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_page_opens_without_an_error_or_a_request(browser, tmp_path, name):
    picture = show(browser, CHARTS[name](), tmp_path)
    assert picture.size["width"] > 200
    assert browser.get_log("browser") == []
    assert requests(browser) == [(tmp_path / "chart.html").as_uri()]
    assert browser.title != "broken"


def test_the_mouse_is_told_the_nearest_point(browser, tmp_path):
    chart = ROWS.prc.plot("late", "score", size=300)
    picture = show(browser, chart, tmp_path)
    x, y, width, height = panel(browser)
    assert (width, height) == (300, 300)
    assert hover(browser, picture, x + width / 2 + 9, y + 12) == {
        "average precision": words_of(chart).removeprefix("AP "), "threshold": "0.9",
        "precision": "1.0000", "recall": "0.5000", "TP": "1", "FP": "0",
    }  # fmt: skip
    assert hover(browser, picture, x + 9, y + 12)["threshold"] == "inf"
    low = hover(browser, picture, x + width - 9, y + height - 9)
    assert (low["threshold"], low["precision"], low["recall"]) == ("0.4", "0.6667", "1.0000")


def texts(browser):
    """Return all texts of the picture."""
    return browser.execute_script(
        "return [...document.querySelectorAll('svg.marks text')].map(text => text.textContent)"
    )


def rows_of(chart):
    """Return the thresholds that can be chosen."""
    spec = chart.to_dict()
    return [row["threshold"] for row in read(spec, spec["data"])]


def choose(browser, threshold):
    """Move the slider as near to a threshold as it goes, and return where that is."""
    return browser.execute_async_script(
        """
        const [threshold, done] = arguments;
        const slider = document.querySelector(".vega-bindings input[type=range]");
        slider.value = threshold;
        slider.dispatchEvent(new Event("input"));
        requestAnimationFrame(() => setTimeout(() => done(Number(slider.value)), 300));
        """,
        threshold,
    )


def test_the_slider_shows_the_counts_at_its_threshold(browser, tmp_path):
    rows = pl.DataFrame({"row": range(2000)}).with_columns(
        late=pl.col("row") * 7919 % 2003 < pl.col("row") * 0.4, score=pl.col("row").sqrt() / 50
    )
    chart = rows.prc.plot("late", "score", x="threshold")
    show(browser, chart, tmp_path)
    best = rows.prc.operating_points("late", "score", f_beta=1, details=True)["threshold"][0]
    assert f"{best:.4g}" in texts(browser)
    # The number beside the slider, which may lie between two thresholds, is not shown.
    [beside] = browser.find_elements("css selector", ".vega-bindings span + input + span")
    assert not beside.is_displayed()
    thresholds = {float(f"{at:.4g}"): at for at in rows_of(chart)}
    seen = set()
    for threshold in (0.2, 0.5, 0.777):
        assert choose(browser, threshold) == pytest.approx(threshold, abs=0.001)
        at, *cells = texts(browser)[-12:-2]  # of the table, above the title
        assert float(at) == pytest.approx(threshold, abs=0.01)
        [point] = rows.prc.operating_points(
            "late", "score", threshold=thresholds[float(at)], details=True
        ).to_dicts()
        counts = [f"{point[name]:,}" for name in ("tp", "fp", "fn", "tn")]
        rates = [f"{point[name]:.3f}" for name in ("precision", "recall", "f_score")]
        alerts = f"{point['tp'] + point['fp']:,}"
        assert cells == [*counts, *rates, alerts, f"{point['predicted_rate']:.3f}"]
        seen.add(tuple(counts))
    assert len(seen) == 3
    assert browser.get_log("browser") == []


def test_the_slider_moves_the_marks_of_every_panel(browser, tmp_path):
    show(
        browser,
        MODELS.prc.plot("late", ["score", "other"], by="</td> [k].", x="threshold"),
        tmp_path,
    )
    marks = """
        return [...document.querySelectorAll('svg.marks g.mark-symbol path')]
          .map(mark => mark.getAttribute('transform')).join()
        """
    places = set()
    for threshold in (-0.4, 0.2, 0.9):
        choose(browser, threshold)
        places.add(browser.execute_script(marks))
    assert len(places) == 3


def test_a_page_fits_a_narrow_window_and_the_mouse_still_finds_points(browser, tmp_path):
    browser.set_window_size(500, SIDE)
    try:
        chart = MODELS.prc.plot("late", ["score", "other"], by="</td> [k].", title="Two models")
        picture = show(browser, chart, tmp_path)
        assert browser.title == "Two models"
        width = browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= browser.execute_script("return innerWidth")
        drawn_width = browser.execute_script(
            "return document.querySelector('svg.marks').viewBox.baseVal.width"
        )
        scale = picture.size["width"] / drawn_width
        assert scale < 0.8
        x, y, width, _ = panel(browser)
        said = hover(browser, picture, (x + width / 2) * scale, (y + 4) * scale)
        assert (said["precision"], said["recall"]) == ("1.0000", "0.5000")
    finally:
        browser.set_window_size(SIDE, SIDE)


def words_of(chart):
    return chart.to_dict()["title"]["subtitle"][0]


def test_the_mouse_is_told_keys_as_they_are(browser, tmp_path):
    chart = KEYED.prc.plot("late", "score", by="</td> [k].", facet="</td> [k].", size=300)
    picture = show(browser, chart, tmp_path)
    x, y, width, height = panel(browser)
    said = hover(browser, picture, x + width / 2, y + height / 3)
    assert said["</td> [k]."] in {"b", HOSTILE}
    image = KEYED.rename({"</td> [k].": "image"}).prc.plot("late", "score", by="image", size=300)
    picture = show(browser, image, tmp_path)
    said = hover(browser, picture, x + width / 2, y + height / 3)
    assert said["image:"] in {"b", HOSTILE}
    assert browser.get_log("browser") == []


def test_an_operating_point_says_its_criterion(browser, tmp_path):
    chart = ROWS.prc.plot("late", "score", points={"recall": 0.8}, size=300)
    picture = show(browser, chart, tmp_path)
    x, y, width, height = panel(browser)
    said = hover(browser, picture, x + width, y + height / 3)
    assert said == {
        "criterion": "recall ≥ 0.8", "threshold": "0.4", "precision": "0.6667", "recall": "1.0000",
        "TP": "2", "FP": "1", "FN": "0", "TN": "1", "F score": "0.8000",
    }  # fmt: skip
