"""What comes in: files of every kind, several at once, and text in any dialect."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from command_line import ASKED, ROWS, WRITERS, result, run, said
from polars.testing import assert_frame_equal

import frame_prc

# --- what comes in -----------------------------------------------------------------------------


AP = (1 + 2 / 3 + 3 / 5) / 3  # of the scores of ROWS: hits at ranks 1, 3 and 5


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_is_read_from_a_path_and_from_a_pipe(here, kind):
    path = here / f"rows.{kind}"
    for table in (
        result("ap", path.name, *ASKED),
        result("ap", "-", *ASKED, given=path.read_bytes()),
    ):
        assert table.row(0) == (6, 3, pytest.approx(AP, rel=1e-12), "ok")


@pytest.mark.parametrize("kind", ["csv", "tsv", "ndjson"])
def test_compressed_text_is_read(here, kind):
    data = gzip.compress((here / f"rows.{kind}").read_bytes())
    (here / f"rows.{kind}.gz").write_bytes(data)
    expected = result("ap", f"rows.{kind}", *ASKED)
    assert_frame_equal(result("ap", f"rows.{kind}.gz", *ASKED), expected)
    if kind != "tsv":
        assert_frame_equal(result("ap", "-", *ASKED, given=data), expected)


def test_text_is_read_in_its_dialect(here):
    (here / "rows.txt").write_text("late;score\n1;0,9\n0;NA\n0;0,5\n1;0,4\n")
    words = ["--input-format", "csv", "--separator", ";", "--decimal-comma", "--null-value", "NA"]
    table = result("ap", "rows.txt", *ASKED, *words, "--missing", "drop")
    assert table.row(0) == (3, 2, (1 + 2 / 3) / 2, 1, "ok")
    (here / "tabs.csv").write_text("late\tscore\n1\t.9\n0\t.5\n")
    assert result("ap", "tabs.csv", *ASKED, "--separator", "tab")["n"].to_list() == [2]


def test_a_file_that_is_only_a_header_changes_nothing_beside_others(here):
    (here / "empty.csv").write_text((here / "rows.csv").read_text().partition("\n")[0] + "\n")
    for names in (["empty.csv", "rows.csv"], ["rows.csv", "empty.csv"]):
        assert_frame_equal(result("ap", *names, *ASKED), result("ap", "rows.csv", *ASKED))
    code, line = said("ap", "empty.csv", "empty.csv", *ASKED)
    assert (code, "a header and no rows" in line) == (1, True)


def test_globs_and_paths_are_one_frame():
    for place in range(3):
        ROWS.write_parquet(f"part-{place}.parquet")
    ROWS.write_parquet("[odd] name.parquet")
    assert result("ap", "part-*.parquet", *ASKED)["n"].item() == 18
    assert result("ap", "part-0.parquet", "[odd] name.parquet", *ASKED)["n"].item() == 12
    assert result("ap", "**/part-[12].parquet", *ASKED)["n"].item() == 12


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("thresholds", [[], ["--thresholds", "3"]], ids=["exact", "binned"])
def test_files_counted_one_by_one_are_counted_as_one(here, kind, thresholds):
    # The label is not in the first file, and no file begins with all keys.
    parts = [ROWS.filter(~pl.col("late")), ROWS, ROWS.filter("late")]
    for place, part in enumerate(parts):
        WRITERS[kind](part, here / f"part-{place}.{kind}")
    asked = ["-t", "said", "-s", "score", "-b", "region", "--pos-label", "yes", *thresholds]
    counted = result("counts", f"part-*.{kind}", *asked)
    bins = 3 if thresholds else None
    together = frame_prc.counts(
        pl.concat(parts), "said", "score", by="region", pos_label="yes", thresholds=bins
    )
    assert_frame_equal(counted, together)


def test_counts_add_up_in_any_command():
    for name in ("monday", "tuesday"):
        run("counts", "rows.parquet", *ASKED, "-o", f"{name}.arrow")
    asked = ["-s", "threshold", "--pos", "pos", "--neg", "neg"]
    table = result("ap", "monday.arrow", "tuesday.arrow", *asked)
    assert table.row(0) == (12, 6, pytest.approx(AP, rel=1e-12), "ok")


# --- as a process ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "shown", "hint"),
    [
        (["0.1", "N/A", "-"], "'-', 'N/A'", "--null-value - --null-value N/A if that stands for"),
        (["0.1", "nan", "0.3"], "'nan'", "--null-value nan if that stands for a missing value"),
        (["0.1", "", "0.3"], "''", "--null-value '' if that stands for a missing value"),
        (["0,1", "1.000,5", "-,3"], "'-,3', '0,1', '1.000,5'", "--decimal-comma reads 0,93"),
        (["10%", "20 %", "0.5%"], "'0.5%', '10%', '20 %'", "tr -d % removes the percent signs"),
        (["a", "b", "c", "d"], "'a', 'b', 'c' and others", "is this the right column?"),
    ],
    ids=str,
)
def test_text_in_place_of_numbers_is_shown_with_what_would_read_it(texts, shown, hint):
    rows = pl.DataFrame({"late": [True, False] * len(texts), "score": texts * 2})
    rows.write_csv("texts.csv", quote_style="always")
    code, line = said("ap", "texts.csv", "-t", "late", "-s", "score")
    assert code == 2
    assert line.startswith(f"--score column 'score' holds text: {shown}. Allowed: numbers. Hint: ")
    assert hint in line


@pytest.mark.parametrize("files", [["one.csv", "two.csv"]], ids=str)
def test_a_column_may_change_after_the_rows_that_tell_its_dtype(files):
    lines = [*(f"true,{n % 9},{n % 7}" for n in range(11_000))]
    for name, last in (("one.csv", "false,0.5,x"), ("two.csv", "true,3,1")):
        Path(name).write_text("\n".join(["late,score,other", *lines, last]), encoding="utf-8")
    assert result("ap", *files, *ASKED)["n"].to_list() == [11_001 * len(files)]
    found = result("counts", *files, *ASKED)
    assert found.filter(threshold=0.5).rows() == [(0.5, 0, 1)]
    assert found["pos"].sum() == 11_001 * len(files) - 1


@pytest.mark.parametrize(
    ("conditions", "kept"),
    [
        (["region=north"], pl.col("region") == "north"),
        (["region != north", "w>=1"], (pl.col("region") != "north") & (pl.col("w") >= 1)),
        (["user<2.5"], pl.col("user") < 2.5),
        (["note="], pl.col("note").is_null()),
        (["note!=x"], pl.col("note").ne_missing("x")),
        (["late=true"], pl.col("late")),
    ],
    ids=str,
)
@pytest.mark.parametrize("command", ["ap", "counts"])
def test_conditions_choose_rows(command, conditions, kept):
    rows = ROWS.with_columns(note=pl.Series(["x", None, "y", "x", None, "y"]))
    rows.filter(kept).write_csv("kept.csv")
    rows.write_csv("all.csv")
    where = [word for one in conditions for word in ("--where", one)]
    found = result(command, "all.csv", *ASKED, *where)
    assert_frame_equal(found, result(command, "kept.csv", *ASKED))
