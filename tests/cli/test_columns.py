"""``--columns``: which columns of a result are written."""

from __future__ import annotations

import polars as pl
import pytest
from command_line import ASKED, run, said

BY_REGION = ["rows.parquet", *ASKED, "-b", "region"]


@pytest.mark.parametrize(
    "asked", [["--columns", "n_pos,region"], ["--columns", "n_pos", "--columns", "region"]]
)
@pytest.mark.parametrize("command", ["ap", "curve"])
def test_only_these_columns_are_written_in_this_order(here, command, asked):
    if command == "curve":
        asked = [text.replace("n_pos", "threshold") for text in asked]
    _, whole, _ = run(command, *BY_REGION, "-f", "csv")
    _, some, _ = run(command, *BY_REGION, "-f", "csv", *asked)
    names = ["threshold" if command == "curve" else "n_pos", "region"]
    expected = pl.read_csv(whole.encode()).select(names)
    assert pl.read_csv(some.encode()).equals(expected)
    run(command, *BY_REGION, *asked, "-o", "some.csv")
    assert pl.read_csv(here / "some.csv").equals(expected)


def test_a_condition_may_be_on_a_column_that_is_not_written(here):
    asked = [*BY_REGION, "--columns", "region", "--fail-under", "n_pos<2"]
    code, out, err = run("ap", *asked)
    assert (code, out.split()) == (3, ["region", "north", "south"])
    assert err.startswith("frame-prc: region='south': n_pos is 1")
    code, _, _ = run("ap", *asked, "-o", "some.csv")
    assert (code, (here / "some.csv").read_text().split()) == (3, ["region", "north", "south"])


def test_other_columns_are_refused():
    code, told = said("points", *BY_REGION, "--recall", "1", "--columns", "region,tresh")
    assert code == 2
    assert told.startswith("--columns names 'tresh', which is not a column of the result. Allowed:")
    code, told = said("points", *BY_REGION, "--recall", "1", "--columns", "tresholds,region")
    assert told.endswith("Hint: did you mean 'threshold'?")
    assert said("ap", *BY_REGION, "--columns", "region,n,region") == (
        2,
        "--columns names 'region' twice. Allowed: each column once.",
    )
    assert said("plot", *BY_REGION, "-o", "a.html", "--columns", "n")[0] == 2
