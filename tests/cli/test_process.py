"""The command line as a process: pipes, full disks, signals and progress."""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from command_line import ASKED, leftovers, process, result, run, said, start

from frame_prc.cli import calls, commands


@pytest.fixture
def long_file(here):
    """Return a file whose curve is much longer than a pipe holds."""
    rows = pl.DataFrame({"score": range(200_000)}).with_columns(late=pl.col("score") % 3 == 0)
    rows.write_parquet(here / "long.parquet")
    return "long.parquet"


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["tsv", "table"])
def test_who_reads_enough_ends_it_quietly(long_file, form):
    with start("curve", long_file, *ASKED, "-f", form) as running:
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait() == 0
        assert running.stderr.read() == b""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("form", ["tsv", "table"])
def test_a_full_disk_behind_standard_output_is_one_error(long_file, form):
    for path in (long_file, "rows.parquet"):
        with Path("/dev/full").open("wb") as full:
            code, _, err = process("curve", path, *ASKED, "-f", form, stdout=full)
        told = (
            "standard output cannot be written: No space left on device. "
            "Hint: -o FILE writes a file."
        )
        assert (code, err) == (2, f"frame-prc: {told}\n")


@pytest.mark.thorough
def test_standard_output_that_is_closed_is_one_error():
    code, _, err = process(
        "ap", "rows.parquet", *ASKED, stdout=None, preexec_fn=lambda: os.close(1)
    )
    told = "standard output is closed. Hint: -o FILE writes a file."
    assert (code, err) == (2, f"frame-prc: {told}\n")


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_full_disk_leaves_what_was_there(here, long_file, suffix):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    (here / f"old.{suffix}").write_text("old")
    arguments = ["curve", long_file, *ASKED, "-o", f"old.{suffix}"]
    code, out, err = process(*arguments, preexec_fn=little_room)
    told = f"'old.{suffix}' cannot be written: File too large. Hint: nothing was changed"
    assert (code, out) == (2, "")
    assert err.startswith(f"frame-prc: {told}")
    assert err.count("\n") == 1
    assert (here / f"old.{suffix}").read_text() == "old"
    assert leftovers(here) == []


def interrupted(running: subprocess.Popen, *, until, by=signal.SIGINT) -> tuple[int, bytes, bytes]:
    """Return what a process leaves that is interrupted as soon as something is so."""
    while not until():
        assert running.poll() is None, running.communicate()
    running.send_signal(by)
    out, err = running.communicate()
    return running.returncode, out, err


@pytest.mark.thorough
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_it_computes_leaves_what_was_there(here, long_file, by):
    (here / "old.csv").write_text("old")
    # It would take hours; and NumPy, which does it, knows nothing of Ctrl-C.
    bootstrap = ["--ci", ".9", "--bootstrap", "1000000"]
    # Started by nohup, it would ignore a hangup, and so do its children.
    default = {"preexec_fn": lambda: signal.signal(by, signal.SIG_DFL)}
    running = start("ap", long_file, *ASKED, *bootstrap, "-o", "old.csv", **default)
    ended = interrupted(running, until=lambda: leftovers(here), by=by)
    assert ended == (128 + by, b"", b"")
    assert (here / "old.csv").read_text() == "old"
    assert leftovers(here) == []


@pytest.mark.thorough
def test_ctrl_c_while_it_waits_for_input_leaves_nothing(here, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(here))
    running = start("ap", "-", *ASKED, stdin=subprocess.PIPE)
    running.stdin.write(bytes(3 << 20))  # more than a pipe holds, and no end of it
    ended = interrupted(
        running, until=lambda: any(path.stat().st_size for path in here.glob("frame-prc-*/*"))
    )
    assert ended == (130, b"", b"")
    assert not [*here.glob("frame-prc-*")]


class Terminal(io.StringIO):
    """A standard error that is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_progress_is_shown_on_a_terminal_alone(monkeypatch, stream):
    monkeypatch.setattr(calls, "_SECONDS_TO_SHOW", 0)
    monkeypatch.setattr(sys, "stderr", stream())
    for text in ("counting 1 of 2", "copying rows"):
        progress, shown = calls.Progress("reading"), threading.Event()
        progress.set(text)
        show = progress.show
        monkeypatch.setattr(progress, "show", lambda show=show, shown=shown: (show(), shown.set()))
        assert calls.done(lambda shown=shown: shown.wait(60) and "result", progress) == "result"
        assert (text in sys.stderr.getvalue()) == (stream is Terminal)
    assert bool(sys.stderr.getvalue()) == (stream is Terminal)


def test_progress_says_which_file_is_counted(monkeypatch):
    texts = []
    monkeypatch.setattr(calls.Progress, "set", lambda _, text: texts.append(text))
    result("counts", "rows.parquet", "rows.parquet", *ASKED)
    assert texts == ["counting 1 of 2: 'rows.parquet'", "counting 2 of 2: 'rows.parquet'"]


def test_a_command_that_timed_out_ends(monkeypatch):
    def time_out(*_: object, **__: object) -> None:
        raise TimeoutError(errno.ETIMEDOUT, "the share does not answer")

    monkeypatch.setattr(commands.files, "read_by", time_out)
    code, _, err = run("ap", "rows.csv", *ASKED)
    assert code == 1
    assert "the share does not answer" in err
    assert err.count("\n") == 1


def test_debug_shows_where_and_nothing_else_does():
    code, _, err = run("ap", "rows.csv", "-t", "late", "-s", "no", "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("frame-prc: --score names 'no'")


def test_what_nobody_thought_of_is_one_line(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(commands, "arguments", fail)
    told = "RuntimeError: first line Hint: --debug shows where"
    assert said("ap", "rows.csv", *ASKED) == (1, told)
