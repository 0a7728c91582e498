"""The guide: its pages print what they show, are short, and link to what is there."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext

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


def with_output(page):
    spark = engine_kinds.shared_spark_session() if "pyspark" in page else nullcontext()
    with spark, pl.Config(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages: no page shows them
        guide.configure()
        guide.serve(page)
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
    assert with_output(page) == page, (
        "python tests/support/guide.py examples/guide/*.md writes it anew"
    )
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
