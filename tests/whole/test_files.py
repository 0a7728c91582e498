"""Files that are replaced only on success."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from frame_prc import FileError, PrcError
from frame_prc._files import atomic_write, check_writable, discard_unfinished


def test_what_was_written_replaces_what_was_there(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("old")
    with atomic_write(path) as (part,):
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.suffix == ".tsv"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.tsv"]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as (part,):
        part.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.tsv"]


def test_two_files_appear_together_or_not_at_all(tmp_path, monkeypatch):
    table, script = tmp_path / "table.tsv", tmp_path / "table.R"
    script.write_text("old")

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("frame_prc._files.os.fsync", fail)
    with pytest.raises(FileError, match="Input/output error"), atomic_write(table, script) as parts:
        list(map(Path.touch, parts))
    assert os.listdir(tmp_path) == ["table.R"]
    assert script.read_text() == "old"


def test_two_threads_that_write_one_file_write_apart(tmp_path):
    path = tmp_path / "table.tsv"
    with atomic_write(path) as (first,), atomic_write(path) as (second,):
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert os.listdir(tmp_path) == ["table.tsv"]


def test_what_is_not_finished_can_be_discarded(tmp_path):
    writing = atomic_write(tmp_path / "table.tsv", tmp_path / "table.R")
    parts = writing.__enter__()
    assert all(part.exists() for part in parts)
    discard_unfinished()
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_one_clear_error(tmp_path):
    with (
        pytest.raises(FileError, match=r"cannot be written: No space left"),
        atomic_write(tmp_path / "table.tsv"),
    ):
        raise OSError(28, "No space left on device")
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.tsv").write_text("old")
    (tmp_path / "link.tsv").symlink_to("real.tsv")
    with atomic_write(tmp_path / "link.tsv") as (part,):
        part.write_text("new")
    assert (tmp_path / "link.tsv").is_symlink()
    assert (tmp_path / "real.tsv").read_text() == "new"


def test_what_is_no_regular_file_is_written_directly():
    with atomic_write("/dev/null") as (part,):
        assert os.fspath(part) == "/dev/null"
        part.write_text("gone")


@pytest.mark.parametrize("check", [check_writable, lambda path: atomic_write(path).__enter__()])
def test_a_place_that_cannot_be_written_is_refused_first(tmp_path, check):
    for path, said in (
        (tmp_path, "is a folder. Allowed: the path of a file."),
        (tmp_path / "no" / "x.tsv", f"the folder '{tmp_path}/no' is not there."),
    ):
        with pytest.raises(FileError, match=re.escape(said)):
            check(path)


def test_it_is_an_error_of_the_package_and_of_the_system():
    assert issubclass(FileError, PrcError)
    assert issubclass(FileError, OSError)
