"""What cannot be written is refused, and what was there stays."""

from __future__ import annotations

import os
import re
from pathlib import Path

import polars as pl
import pytest
from ggplot_tables import ROWS
from kinds import every_kind

import frame_prc
from frame_prc import ColumnError, DataError, FileError, OptionError, PrcError


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        (
            "late",
            FileError,
            "has no suffix. Allowed: .tsv, .csv, .parquet, .arrow, .feather. Hint: the path comes "
            "before the columns: write_ggplot('curves.tsv'",
        ),
        ("t.xlsx", FileError, "has the suffix '.xlsx'. Allowed: .tsv"),
        ("t.tsv.gz", FileError, "has the suffix '.gz'"),
        ("no/t.tsv", FileError, "does not exist"),
        ("folder.tsv", FileError, "is a folder"),
        ("script.tsv", FileError, "is a folder"),
        (3, OptionError, "path= is of type int. Allowed: the path of a file, as text."),
    ],
)
def test_a_bad_path_is_refused_before_anything_is_read(path, error, said, tmp_path):
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "script.R").mkdir()
    frame = pl.scan_csv(tmp_path / "missing.csv")
    with pytest.raises(error, match=re.escape(said)) as caught:
        frame.prc.write_ggplot(path if path == 3 else tmp_path / path, "late", "score")
    assert isinstance(caught.value, PrcError)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"score": "score"}, OptionError, "truth= is not given"),
        ({"truth": "lat", "score": "score"}, ColumnError, "did you mean 'late'?"),
        ({"truth": "late", "score": "score", "keep": "some"}, OptionError, "keep='some'"),
        ({"truth": "late", "score": "score", "ci": 95}, OptionError, "95 % is ci=0.95"),
        ({"truth": "late", "score": "score", "title": 3}, OptionError, "title=3 is of type int"),
        ({}, ColumnError, "the frame is not a curve: it has no column 'threshold'"),
        ({"by": "origin"}, OptionError, "by= is given without truth= and score="),
        ({"ci": 0.9}, OptionError, "ci= is given without truth= and score="),
        ({"cluster": "origin"}, OptionError, "cluster= is given without truth= and score="),
        ({"keep": 200}, OptionError, "keep= is given without truth= and score="),
        ({"start": None}, OptionError, "start= is given without truth= and score="),
        ({"missing": "drop"}, OptionError, "missing= is given without truth= and score="),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(asked, error, said, tmp_path):
    with pytest.raises(error, match=re.escape(said)):
        frame_prc.write_ggplot(ROWS, tmp_path / "t.tsv", **asked)
    assert os.listdir(tmp_path) == []


@every_kind
def test_bad_values_leave_what_was_there(kind, tmp_path):
    (tmp_path / "t.tsv").write_text("old")
    frame = kind.make(ROWS.with_columns(score=pl.lit(None, pl.Float64)))
    with pytest.raises(DataError, match="score"):
        frame.prc.write_ggplot(tmp_path / "t.tsv", "late", "score")
    assert (tmp_path / "t.tsv").read_text() == "old"
    assert os.listdir(tmp_path) == ["t.tsv"]


def test_a_full_disk_leaves_both_files_as_they_were(tmp_path, monkeypatch):
    ROWS.prc.write_ggplot(tmp_path / "t.tsv", "late", "score")
    old = {path.name: path.read_text() for path in tmp_path.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(FileError, match="No space left on device"):
        ROWS.prc.write_ggplot(tmp_path / "t.tsv", "late", "score", title="new")
    monkeypatch.undo()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


def test_a_curve_read_as_text_gets_a_hint(tmp_path):
    table, _ = ROWS.prc.write_ggplot(tmp_path / "t.csv", "late", "score")
    read = pl.read_csv(table)
    with pytest.raises(ColumnError, match=re.escape("schema_overrides={'threshold': pl.Float64}")):
        read.prc.write_ggplot(tmp_path / "u.csv")


def test_a_script_of_somebody_else_stays_where_it_is(tmp_path):
    script = tmp_path / "curves.R"
    script.write_text("precious <- TRUE\n")
    with pytest.raises(FileError, match=r"curves.R' exists and was not written .* Hint: choose"):
        ROWS.prc.write_ggplot(tmp_path / "curves.tsv", "late", "score")
    assert script.read_text() == "precious <- TRUE\n"
    assert os.listdir(tmp_path) == ["curves.R"]


@pytest.mark.parametrize("name", ["x\0.tsv", "a" * 300 + ".tsv", "\udcff.tsv", "circle.tsv"])
def test_a_name_that_no_file_can_have_is_an_error_of_ours(tmp_path, name):
    (tmp_path / "circle.tsv").symlink_to(tmp_path / "circle.tsv")
    with pytest.raises(FileError, match=r"cannot be a file: .*Hint: another name"):
        ROWS.prc.write_ggplot(f"{tmp_path}/{name}", "late", "score")


def test_a_key_of_a_curve_that_is_named_like_its_area_is_refused(tmp_path):
    curve = ROWS.rename({"origin": "average_precision"}).prc.curve(
        "late", "score", by="average_precision"
    )
    says = "key 'average_precision' of the curve has the name of a column that is added to it"
    with pytest.raises(ColumnError, match=says):
        curve.prc.write_ggplot(tmp_path / "curves.tsv")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_script_that_was_edited_stays_as_it_is(newline, tmp_path):
    table, script = ROWS.prc.write_ggplot(tmp_path / "curves.tsv", "late", "score")
    text = script.read_text()
    script.write_text(text, newline=newline)
    ROWS.prc.write_ggplot(table, "late", "score", title="second")  # ends of lines are no edit
    text = script.read_text()
    assert "second" in text
    script.write_text(text.replace("okabe_ito", "my_colours"), newline=newline)
    edited, rows = script.read_bytes(), table.read_bytes()
    with pytest.raises(
        FileError, match=r"was edited after it was written.* Rscript curves.R TABLE"
    ):
        ROWS.prc.write_ggplot(table, "late", "score", title="new")
    assert (script.read_bytes(), table.read_bytes()) == (edited, rows)
