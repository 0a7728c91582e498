"""The demonstration: what it prints, and where its flights are."""

from __future__ import annotations

import re
import shlex
import tomllib
from io import StringIO

import polars as pl
import pytest
from checkout import FLIGHTS, PYPROJECT, in_checkout
from command_line import process, said
from rich.console import Console

import frame_prc
from frame_prc import FileError
from frame_prc.cli import demo as _demo

CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]


@pytest.fixture(scope="module")
def scores():
    return _demo.scorecards(pl.scan_parquet(_demo.bundled_flights()))


def test_the_bundled_flights_are_those_of_the_examples():
    assert _demo.bundled_flights().read_bytes() == FLIGHTS.read_bytes()


def test_flights_in_the_package_come_first(tmp_path, monkeypatch):
    package = tmp_path / "frame_prc"
    monkeypatch.setattr(frame_prc, "__file__", str(package / "__init__.py"))
    with pytest.raises(FileError, match=r"the bundled flights are not in .*frame_prc'"):
        _demo.bundled_flights()
    for folder in (tmp_path / "examples" / "data", package / "data"):
        folder.mkdir(parents=True)
        (folder / "flights.parquet").touch()
        assert _demo.bundled_flights() == folder / "flights.parquet"


@in_checkout
def test_a_wheel_holds_the_flights_where_they_are_looked_for():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"examples/data/flights.parquet": "frame_prc/data/flights.parquet"}


def test_the_scorecard_is_that_of_the_better_model(scores):
    # 0.3738 and 0.3359: what examples/make_flights.py prints of both models.
    shown = _demo.scorecard(scores)
    assert shown["carrier"].to_list() == [*CARRIERS, "pooled", "macro"]
    assert shown.select(pl.col("average_precision").round(4)).rows()[-2] == (0.3738,)
    assert shown.row(4)[:5] == ("DL", 24351, 2812, 2812 / 24351, pytest.approx(0.32338, abs=5e-6))


def test_the_scorecard_is_readable_at_100_columns(scores):
    text = StringIO()
    _demo._show(scores, Console(file=text, width=100))  # noqa: SLF001
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[:2] == [
        "166,668 flights from New York, July to December 2013; 15% arrived at least 30 minutes "
        "late.",
        "Of two models, boosting has the higher average precision: 0.374; logistic has 0.336.",
    ]
    table = lines[4:]
    assert len([line for line in table if line.startswith("─")]) == 1, "one block of columns"
    assert [line.split()[0] for line in table[3:]] == [*CARRIERS, "pooled", "macro"]


def test_a_folder_that_cannot_be_made_is_one_error(here):
    (here / "taken").touch()
    assert said("demo", "taken") == (
        2,
        "the folder 'taken' cannot be created: File exists. "
        "Hint: frame-prc demo FOLDER writes to another folder.",
    )


@pytest.mark.thorough
def test_the_demonstration_runs(here):
    code, out, err = process("demo", "new/folder")
    assert (code, err) == (0, "")
    folder = here / "new" / "folder"
    names = [path.name for path in folder.iterdir()]
    assert sorted(names) == ["flights.R", "flights.html", "flights.tsv"]
    places = [line.strip() for line in out.splitlines() if line.startswith("  ")]
    assert (folder / "flights.html").as_uri() in places
    assert {f"{folder / 'flights.tsv'}", f"{folder / 'flights.R'}"} < {*places}
    html = (folder / "flights.html").read_text(encoding="utf-8")
    assert "https://cdn" not in html
    assert re.search(r"rows clustered\W+by day", html)  # on one line or two
    assert f"Rscript {shlex.quote(str(folder / 'flights.R'))}" in out
