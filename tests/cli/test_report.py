"""Reports from a shell: a page with its numbers beside it, or the numbers printed."""

from __future__ import annotations

import json

import pytest
from command_line import ASKED, ROWS, run

TWO = ["-t", "late", "-s", "score,new=other", "-b", "region"]


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    ROWS.write_csv(path)
    return str(path)


def test_a_page_is_written_with_its_numbers_beside_it(rows, tmp_path):
    page = tmp_path / "report.html"
    assert run("report", rows, *TWO, "--title", "My models", "-o", str(page)) == (0, "", "")
    assert "<title>My models</title>" in page.read_text(encoding="utf-8")
    numbers = page.with_suffix(".json").read_text(encoding="utf-8")
    assert json.loads(numbers)["evaluated"]["models"] == ["score", "new"]
    code, printed, errors = run("report", rows, *TWO, "--title", "My models", "--format", "json")
    assert (code, printed, errors) == (0, numbers, "")
    assert run("report", rows, *TWO, "-o", str(tmp_path / "alone.json")) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--output is not given"),
        (["--format", "csv"], "--format csv is not a format of a report"),
        (["--format", "json", "-o", "r.json"], "--format is given with --output"),
        (["-o", "r.pdf"], "--output 'r.pdf' has the suffix '.pdf'"),
        (["-o", "r.json", "--ci", "2"], "--ci 2.0"),
        (["-o", "r.json", "--calibrate", "x"], "--calibrate x"),
    ],
    ids=str,
)
def test_a_report_that_cannot_be_written_is_an_error(rows, tmp_path, options, told):
    code, printed, errors = run("report", rows, *ASKED, *options)
    assert (code, printed) == (2, "")
    assert errors.startswith("frame-prc: ")
    assert told in errors
    assert [*tmp_path.glob("r.*")] == []
