"""What comes out: files, lines for a pipe, tables for a terminal, pictures, and tables for R."""

from __future__ import annotations

import datetime as dt
import io
import json
import math
import os
import pty
import re
from pathlib import Path

import polars as pl
import pytest
from command_line import ASKED, ROWS, leftovers, run, said, start
from layers import also
from polars.testing import assert_frame_equal

import frame_prc

READERS = {
    "parquet": pl.read_parquet,
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "arrow": pl.read_ipc,
    "feather": pl.read_ipc,
    "ndjson": pl.read_ndjson,
    "jsonl": pl.read_ndjson,
    "json": pl.read_json,
}


# --- what comes out ----------------------------------------------------------------------------


EXPECTED = frame_prc.curve(ROWS, "late", "score", start=None)
CURVE = ["curve", "rows.parquet", *ASKED, "--start", "none"]


@pytest.mark.parametrize("suffix", READERS)
def test_the_suffix_says_how_a_file_is_written(here, suffix):
    assert run(*CURVE, "-o", f"c.{suffix}") == (0, "", "")
    assert_frame_equal(READERS[suffix](here / f"c.{suffix}"), EXPECTED, check_exact=True)
    assert leftovers(here) == []


@pytest.mark.parametrize("form", ["csv", "tsv", "ndjson", "json"])
def test_a_format_is_all_there_is_on_standard_output(form):
    code, out, err = run(*CURVE, "--format", form)
    assert (code, err) == (0, "")
    rows = READERS[form](io.StringIO(out) if form != "ndjson" else io.BytesIO(out.encode()))
    assert_frame_equal(rows, EXPECTED, check_exact=True)
    if form == "tsv":
        assert run(*CURVE)[1] == out


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_json_has_words_for_what_is_no_number_and_null_for_undefined(form):
    keys = pl.Series("region", [math.nan, math.nan, math.inf, math.inf, -math.inf, 0.5])
    others = {"day": dt.date(2024, 1, 2), "name": pl.lit('é "x"\t')}
    ROWS.with_columns(keys, late=False, **others).write_parquet("keys.parquet")
    asked = ["curve", "keys.parquet", *ASKED, "-b", "region", "-b", "day", "-b", "name"]
    code, out, err = run(*asked, "-f", form)
    assert (code, err) == (0, "")
    lines = out.splitlines() if form == "ndjson" else [out]
    rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    rows = rows if form == "ndjson" else rows[0]
    assert list(dict.fromkeys(row["region"] for row in rows)) == [
        "-Infinity",
        0.5,
        "Infinity",
        "NaN",
    ]
    first = rows[0]
    assert (first["day"], first["name"]) == ("2024-01-02", 'é "x"\t')
    assert (first["threshold"], first["recall"]) == ("Infinity", None)
    ROWS.clear().write_parquet("empty.parquet")
    empty = "[]\n" if form == "json" else ""
    assert run("curve", "empty.parquet", *ASKED, "-f", form) == (0, empty, "")


def terminal(*arguments: str, width: int) -> str:
    """Return what a process prints to a terminal of this width, without colours."""
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": str(width), "TERM": "xterm"}
    with start(*arguments, stdout=slave, env=environment) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                text += os.read(master, 1 << 16)
            except OSError:  # as Linux says that the other end is closed
                break
        assert process.wait() == 0, process.stderr.read()
    os.close(master)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.decode()).replace("\r", "")


def test_a_terminal_gets_a_table():
    lines = terminal("ap", "rows.parquet", *ASKED, "-b", "region", width=100).splitlines()
    assert lines[0].split() == ["average_"]
    assert lines[1].split() == ["region", "n", "n_pos", "precision", "status"]
    assert [line.split() for line in lines[3:]] == [
        ["north", "3", "2", "0.8333", "ok"],
        ["south", "3", "1", "0.5000", "ok"],
    ]


WIDE = {
    "summary --overall": ["segment north", "segment south", "pooled null", "macro null"],
    "points --recall .5 --threshold .3": [
        *("north recall=0.5", "north threshold=0.3"),
        *("south recall=0.5", "south threshold=0.3"),
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize(("line", "width"), [*zip(WIDE, (40, 80), strict=True)])
def test_a_table_that_is_too_wide_says_in_each_block_which_row_is_which(line, width):
    verb, *options = line.split()
    asked = [verb, "rows.parquet", *ASKED, "-b", "region", *options, "--details"]
    text = terminal(*asked, width=width)
    assert max(map(len, text.splitlines())) <= width
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    for block in blocks:
        assert [" ".join(row.split()[:2]) for row in block.splitlines()[-4:]] == WIDE[line]
    columns = run(*asked, "-f", "csv")[1].partition("\n")[0].split(",")
    for word in {word for name in columns for word in name.split("_") if word}:
        assert word in text


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [pl.Float32])
def test_a_threshold_on_a_terminal_can_be_copied(dtype):
    rows = ROWS.with_columns((pl.col("score") / 3).cast(dtype))
    rows.write_parquet("thirds.parquet")
    text = terminal("points", "thirds.parquet", *ASKED, "--recall", ".5,1", width=200)
    shown = pl.Series([line.split()[1] for line in text.splitlines()[-2:]])
    expected = rows.prc.operating_points("late", "score", recall=[0.5, 1.0], details=True)[
        "threshold"
    ]
    assert shown.cast(dtype).equals(expected)
    assert shown.str.len_chars().min() > len("0.1234")


@pytest.mark.thorough
def test_a_long_table_says_how_many_rows_more_there_are():
    long = pl.DataFrame({"late": [True, False] * 150, "score": [i / 1000 for i in range(300)]})
    long.write_parquet("long.parquet")
    text = terminal("counts", "long.parquet", *ASKED, width=80)
    assert re.search(r"^ +0\.1 +1 +0$", text, flags=re.MULTILINE)
    assert "0.0990" not in text
    assert text.splitlines()[-1] == (
        "... and 100 more rows. Hint: -o FILE writes all of them, --format tsv prints them."
    )
    assert len(run("counts", "long.parquet", *ASKED)[1].splitlines()) == 301


# --- as a process ------------------------------------------------------------------------------


def test_a_source_is_not_written_over_whatever_it_is_called(here):
    (here / "folder").mkdir()
    (here / "link.csv").symlink_to("rows.csv")
    for path in (
        "rows.csv",
        "./rows.csv",
        "folder/../rows.csv",
        "link.csv",
        str(here / "rows.csv"),
    ):
        told = f"{path!r} is also an input file. Allowed: another file to write."
        assert said("curve", "rows.csv", *ASKED, "-o", path) == (2, told)
    assert pl.read_csv("rows.csv").height == ROWS.height


def test_a_table_for_r_is_written_with_its_script_and_comes_back():
    code, out, err = run("ggplot", "rows.csv", *ASKED, "-b", "region", "-o", "curves.tsv")
    assert (code, out, err) == (0, "", "")
    written = Path("curves.R").read_text(encoding="ascii")
    assert 'table_file <- "curves.tsv"' in written
    code, out, err = run("plot", "curves.tsv", "-o", "curves.svg")
    assert (code, out, err) == (0, "", "")


PICTURES = {"html": b"<!DOCTYPE html>", "svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n"}


@pytest.mark.parametrize("suffix", ["svg", *also("html", "png")])
def test_a_picture_is_drawn_from_rows_and_from_a_curve(here, suffix):
    asked = ["-b", "region", "--points", "recall=.5", "--facet", "none", "--no-iso-f1"]
    assert run("plot", "rows.csv", *ASKED, *asked, "-o", f"rows.{suffix}") == (0, "", "")
    run("curve", "rows.csv", *ASKED, "-b", "region", "-o", "curve.tsv")
    assert run("plot", "curve.tsv", "-o", f"curve.{suffix}") == (0, "", "")
    for name in ("rows", "curve"):
        drawn = (here / f"{name}.{suffix}").read_bytes()
        assert drawn.lstrip().startswith(PICTURES[suffix])
        assert b"https://cdn" not in drawn
    assert leftovers(here) == []


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["svg"])
def test_a_picture_of_a_summary_is_drawn(here, suffix):
    asked = [*ASKED, "-s", "other", "-b", "region", "--cluster", "user", "--title", "Lateness"]
    asked += ["--calibrate", "pooled", "--ci", ".9", "--width", "200"]
    assert run("plot-summary", "rows.csv", *asked, "-o", f"s.{suffix}") == (0, "", "")
    drawn = (here / f"s.{suffix}").read_bytes()
    assert drawn.lstrip().startswith(PICTURES[suffix])
    if suffix == "svg":
        for text in (b"Lateness", b"90", b"clustered by user"):
            assert text in drawn


@pytest.mark.parametrize("command", ["ap", "curve"])
def test_only_the_columns_that_are_named_are_written(here, command):
    by_region = [command, "rows.parquet", *ASKED, "-b", "region"]
    names = ["threshold" if command == "curve" else "n_pos", "region"]
    _, whole, _ = run(*by_region, "-f", "csv")
    expected = pl.read_csv(whole.encode()).select(names)
    for asked in (["--columns", ",".join(names)], ["--columns", names[0], "--columns", names[1]]):
        _, some, _ = run(*by_region, "-f", "csv", *asked)
        assert pl.read_csv(some.encode()).equals(expected)
        run(*by_region, *asked, "-o", "some.csv")
        assert pl.read_csv(here / "some.csv").equals(expected)


def test_a_page_is_written_with_its_numbers_beside_it(here):
    asked = [
        "rows.csv",
        "-t",
        "late",
        "-s",
        "score,new=other",
        "-b",
        "region",
        "--title",
        "My models",
    ]
    assert run("report", *asked, "-o", "report.html") == (0, "", "")
    assert "<title>My models</title>" in (here / "report.html").read_text(encoding="utf-8")
    numbers = (here / "report.json").read_text(encoding="utf-8")
    assert json.loads(numbers)["evaluated"]["models"] == ["score", "new"]
    assert run("report", *asked, "--format", "json") == (0, numbers, "")
