"""A real browser without a window, that writes down what happens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import optional


@contextmanager
def opened(width: int, height: int) -> Iterator[Any]:
    """Yield a browser with a window of this size."""
    webdriver = optional.require_module("selenium.webdriver")
    chromium = optional.require_program("chromium")
    driver = optional.require_program("chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_window_size(width, height)
    yield browser
    browser.quit()


def visit(browser: Any, address: str) -> None:
    """Open a page, and forget what was written down before."""
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(address)


def requests(browser: Any) -> list[str]:
    """Return the addresses that were asked for since the last visit."""
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [entry for entry in entries if entry["method"] == "Network.requestWillBeSent"]
    return [entry["params"]["request"]["url"] for entry in sent]


def until(browser: Any, condition: Callable[[], Any]) -> Any:
    """Return what a condition gives once it is true."""
    wait = optional.require_module("selenium.webdriver.support.wait")
    return wait.WebDriverWait(browser, 60).until(lambda _: condition())
