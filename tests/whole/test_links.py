"""Links: those of the Markdown files and of the pages of the API lead somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import optional
import pytest
from checkout import CHECKOUT, PYPROJECT, README, in_checkout

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


@in_checkout
def test_links_of_the_readme_have_addresses_on_a_package_index(tmp_path):
    optional.require_module("hatchling")
    from hatchling.metadata.core import ProjectMetadata  # noqa: PLC0415
    from hatchling.plugin.manager import PluginManager  # noqa: PLC0415

    for path in (".ci/readme.py", "frame_prc/__init__.py", "LICENSE", "README.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(CHECKOUT / path, tmp_path / path)
    template = PYPROJECT.read_text(encoding="utf-8")
    filled = re.sub(r'^# (\[project.urls\]|\w+ = "ADDRESS)', r"\1", template, flags=re.MULTILINE)
    shown = []
    for text in (template, filled.replace("ADDRESS", "https://code.example/frame-prc")):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        shown.append(ProjectMetadata(str(tmp_path), PluginManager()).core.readme)
    readme = README.read_text(encoding="utf-8")
    assert shown[0] == readme
    for (image, ours), (_, theirs) in zip(*map(links_of, (readme, shown[1])), strict=True):
        place = f"{'raw' if image else 'blob'}/v{frame_prc.__version__}"
        path = f"README.md{ours}" if ours.startswith("#") else ours
        assert theirs == f"https://code.example/frame-prc/{place}/{path}"


def links_of(page: str) -> list[tuple[str, str]]:
    """Return the links of a page, after the mark of those that are pictures."""
    return re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", page)


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
