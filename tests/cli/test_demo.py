"""The demonstration: what it prints and writes, and where its flights are."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
from checkout import FLIGHTS, PYPROJECT, in_checkout
from command_line import process, said

import frame_prc
from frame_prc import FileError
from frame_prc.cli import demo as _demo

CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]


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
    lines = out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("$")) <= 100
    [compared] = [line.split() for line in lines if line.startswith("boosting")]
    assert compared[:2] == ["boosting", "logistic"]
    # 0.3738 and 0.3359: what examples/make_flights.py prints of both models.
    assert float(compared[2]) == pytest.approx(0.3738 - 0.3359, abs=3e-4)
    rows = [line.split() for line in lines if line.startswith(("segment ", "pooled "))]
    assert [row[1] for row in rows] == [*CARRIERS, "null"]
    assert rows[4][:5] == ["segment", "DL", "24351", "2812", "0.3234"]
    assert rows[-1][4] == "0.3738"
    # What is shown is what one can run.
    shown = [shlex.split(line) for line in lines if line.startswith("$")]
    assert [command[-2:] for command in shown] == [
        *[["-f", "table"]] * 2,
        *(["-o", str(folder / name)] for name in ("flights.html", "flights.tsv")),
    ]
    assert (folder / "flights.html").as_uri() in lines
    html = (folder / "flights.html").read_text(encoding="utf-8")
    assert "https://cdn" not in html
    assert re.search(r"rows clustered\W+by day", html)  # on one line or two
    assert f"Rscript {shlex.quote(str(folder / 'flights.R'))}" in out
