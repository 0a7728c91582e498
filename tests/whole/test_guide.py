"""The guide: its pages print what they show, are short, and link to what is there."""

from __future__ import annotations

import re
import subprocess
import sys

import guide
import optional
import pytest

pytestmark = pytest.mark.thorough

LOOKED_UP = {"reference", "statistics"}  # long, and not run
PAGES = {path.stem: path for path in sorted(guide.PAGES.glob("*.md")) if path.stem not in LOOKED_UP}
MOST_LINES = 120
every_page = pytest.mark.parametrize("name", PAGES)


@every_page
def test_a_page_shows_what_its_code_prints(name, tmp_path):
    page = PAGES[name].read_text(encoding="utf-8")
    for module in guide.modules(page):
        optional.require_module(module)
    if "pyspark" in page:
        optional.require_program("java")
    if "r" in guide.languages(page):
        optional.require_r_package("ggplot2")
    (tmp_path / "examples").symlink_to(guide.CHECKOUT / "examples")
    done = subprocess.run(  # noqa: S603
        [sys.executable, guide.__file__, "--print", PAGES[name]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == page, "python tests/support/guide.py examples/guide/*.md writes it anew"
    made = [picture for picture in guide.pictures(page) if (tmp_path / picture).exists()]
    assert made == guide.pictures(page)


@every_page
def test_a_page_is_short(name):
    assert len(PAGES[name].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_the_first_page_names_every_other():
    index = (guide.PAGES / "README.md").read_text(encoding="utf-8")
    assert {*re.findall(r"\]\(([\w-]+)\.md\)", index)} == ({*PAGES} | LOOKED_UP) - {"README"}


def test_every_picture_is_shown():
    shown = {p for path in PAGES.values() for p in guide.pictures(path.read_text("utf-8"))}
    assert shown == {path.name for path in (guide.PAGES / "pictures").iterdir()}
