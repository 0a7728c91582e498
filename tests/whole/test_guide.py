"""The guide: its pages print what they show, are short, and link to what is there."""

from __future__ import annotations

import re
import subprocess
import sys

import engine_kinds
import guide
import optional
import polars as pl
import pytest

pytestmark = [pytest.mark.thorough, *engine_kinds.WARNINGS]

LOOKED_UP = {"reference", "statistics"}  # long, and not run
PAGES = {path.stem: path for path in sorted(guide.PAGES.glob("*.md")) if path.stem not in LOOKED_UP}
MOST_LINES = 120
every_page = pytest.mark.parametrize("name", PAGES)


def in_a_process(path):
    command = [sys.executable, guide.__file__, "--print", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_spark(page):
    with engine_kinds.shared_spark_session(), pl.Config():
        guide.configure()
        return guide.with_output(page)


@every_page
def test_a_page_shows_what_its_code_prints(name, tmp_path, monkeypatch):
    page = PAGES[name].read_text(encoding="utf-8")
    for module in guide.modules(page):
        optional.require_module(module)
    if "r" in guide.languages(page):
        optional.require_r_package("ggplot2")
    (tmp_path / "examples").symlink_to(guide.CHECKOUT / "examples")
    monkeypatch.chdir(tmp_path)
    shown = on_spark(page) if "pyspark" in page else in_a_process(PAGES[name])
    assert shown == page, "python tests/support/guide.py examples/guide/*.md writes it anew"
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
