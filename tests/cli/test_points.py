"""Thresholds from the shell: a column, a file of other rows, a budget, a cost, the top rows."""

from __future__ import annotations

import polars as pl
import pytest
from command_line import result, run

import frame_prc

ROWS = pl.DataFrame(
    {
        "region": ["n", "n", "n", "s", "s", "s"],
        "late": [1, 0, 1, 1, 0, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
        "limit": [0.75, 0.75, 0.75, 0.5, 0.5, 0.5],
    }
)
ASKED = ("-t", "late", "-s", "score", "-b", "region")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    ROWS.write_csv(path)
    return path


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".json"])
def test_thresholds_are_held_to_other_rows_through_a_file(tmp_path, rows, suffix):
    chosen = tmp_path / f"chosen{suffix}"
    later = tmp_path / "later.csv"
    ROWS.with_columns(score=pl.col("score") - 0.1).write_csv(later)
    assert run("points", str(rows), *ASKED, "--recall", "1", "-o", str(chosen))[0] == 0
    if suffix == ".json":  # is not read
        assert run("points", str(later), *ASKED, "--threshold", str(chosen))[0] != 0
        return
    found = result(
        "points", str(later), *ASKED, "--threshold", str(chosen), "--ci", "0.9", "--details"
    )
    expected = frame_prc.operating_points(
        pl.read_csv(later),
        "late",
        "score",
        by="region",
        threshold=frame_prc.operating_points(
            ROWS, "late", "score", by="region", recall=1, details=True
        ),
        ci=0.9,
        details=True,
    )
    assert found["tp"].to_list() == expected["tp"].to_list() == [1, 0]
    assert found["recall_high"].to_list() == pytest.approx(expected["recall_high"].to_list())


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (("--threshold", "limit"), {"threshold": "limit"}),
        (("--threshold", "0.5,0.75"), {"threshold": [0.5, 0.75]}),
        (("--predicted-count", "2"), {"predicted_count": 2}),
        (("--fpr", "0"), {"fpr": 0}),
        (("--recall", "0.5", "--guarantee", "0.5"), {"recall": 0.5, "guarantee": 0.5}),
        (("--cost", "1,10", "--cost", "2,1"), {"cost": [(1, 10), (2, 1)]}),
    ],
    ids=str,
)
def test_options_are_the_parameters(rows, given, asked):
    found = result("points", str(rows), *ASKED, *given, "--details")
    expected = frame_prc.operating_points(ROWS, "late", "score", by="region", **asked, details=True)
    assert found["threshold"].to_list() == expected["threshold"].to_list()
    assert found["tp"].to_list() == expected["tp"].to_list()


def test_the_top_rows_and_the_recall_grid(rows):
    found = result("ap", str(rows), *ASKED, "--top", "2", "--normaliser", "attainable")
    assert found["average_precision"].to_list() == [0.5, 1.0]
    grid = result("curve", str(rows), *ASKED, "--recalls", "3", "--over", "region")
    assert grid["at_recall"].to_list() == [0.0, 0.5, 1.0]
    assert grid["precision"].to_list() == pytest.approx([1, 1, 5 / 6])


def test_a_text_that_is_no_threshold_is_one_error(rows):
    code, _, said = run("points", str(rows), *ASKED, "--threshold", "limits")
    assert (code, said.count("\n")) == (2, 1)
    assert "'limits' is not a number" in said
    assert "--cost" in run("points", str(rows), *ASKED, "--cost", "1")[2]
