"""Files that are replaced only on success."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from frame_prc import FileError, _files
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
        (tmp_path / "no" / "x.tsv", f"the folder '{tmp_path}/no' does not exist."),
    ):
        with pytest.raises(FileError, match=re.escape(said)):
            check(path)


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    private, new = tmp_path / "private.html", tmp_path / "new.html"
    private.touch(mode=0o600)
    plain = tmp_path / "plain"
    plain.touch()
    with atomic_write(private, new) as parts:
        for part in parts:
            part.write_text("text")
    assert private.stat().st_mode == 0o100600
    assert new.stat().st_mode == plain.stat().st_mode


def test_processes_with_one_number_write_apart(tmp_path, monkeypatch):
    """As two containers do that share a folder."""
    monkeypatch.setattr("frame_prc._files.os.getpid", lambda: 1)
    one, other = (fresh(_files) for _ in range(2))
    with one.atomic_write(tmp_path / "a") as (a,), other.atomic_write(tmp_path / "b") as (b,):
        assert a != b


def fresh(module):
    spec = importlib.util.spec_from_file_location("fresh", module.__file__)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_an_error_tells_which_of_several_files_has_changed(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    writing = atomic_write(first, second)
    for part in writing.__enter__():
        part.write_text("new")
    second.mkdir()
    with pytest.raises(FileError, match=re.escape(f"'{second}' cannot be written")) as caught:
        writing.__exit__(None, None, None)
    assert caught.value.hint == f"only '{first}' has changed"
    assert first.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["first", "second"]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("my folder/x.html", "mkdir -p '{here}/my folder'"),
        ("~/x.html", "~ is not expanded: os.path.expanduser(path)"),
    ],
)
def test_a_folder_that_is_missing_has_a_hint(path, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as caught:
        check_writable(path)
    assert caught.value.hint == hint.format(here=tmp_path)
