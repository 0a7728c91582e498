"""The demonstration: what it prints and writes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from command_line import process, said
from sklearn.metrics import average_precision_score

import frame_prc

CARRIERS = [
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
]


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
    flights = pl.read_parquet(Path(frame_prc.__file__).parent / "cli" / "flights.parquet")
    areas = {
        model: average_precision_score(flights["late"], flights[model])
        for model in ("logistic", "boosting")
    }
    assert compared[2] == f"{areas['boosting'] - areas['logistic']:.4f}"
    rows = [line.split() for line in lines if line.startswith(("segment ", "pooled "))]
    assert [row[1] for row in rows] == [*CARRIERS, "null"]
    delta = flights.filter(carrier="DL")
    area = average_precision_score(delta["late"], delta["boosting"])
    sizes = [str(delta.height), str(delta["late"].sum())]
    assert rows[4][:5] == ["segment", "DL", *sizes, f"{area:.4f}"]
    assert rows[-1][4] == f"{areas['boosting']:.4f}"
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
