"""Links: those of the Markdown files and of the pages of the API lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import optional
import pytest
from checkout import CHECKOUT, README, in_checkout

import frame_prc

pytestmark = pytest.mark.thorough

PAGES = [
    README,
    *sorted(CHECKOUT.glob("frame_prc/*.md")),
    *sorted(CHECKOUT.glob("examples/**/*.md")),
    *sorted(CHECKOUT.glob("tests/benchmarks/*.md")),
]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@in_checkout
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_of_a_page_leads_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


class _Site(HTMLParser):
    """The anchors of a page, and its links that lead to a place in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the name of the base class
        found = dict(attrs)
        self.ids.add(found.get("id") or "")
        if (found.get("href") or "").startswith("#"):
            self.links.add(found["href"][1:])


@in_checkout
def test_every_public_name_has_its_place_in_the_pages_of_the_api(tmp_path):
    optional.require_module("pdoc")
    (command,) = re.findall(r"`(pdoc .*?)`", README.read_text(encoding="utf-8"))
    words = [str(tmp_path) if word == "site" else word for word in shlex.split(command)]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", *words], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = _Site((tmp_path / "frame_prc.html").read_text(encoding="utf-8"))
    assert {*frame_prc.__all__} <= page.ids
    assert page.links <= page.ids
