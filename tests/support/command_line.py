"""The command line: as a process, and, for what it says, in this one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from frame_prc.cli import app as _app

PROGRAM = [sys.executable, "-W", "error", "-m", "frame_prc"]
ROWS = pl.DataFrame(
    {
        "late": [True, False, True, False, True, False],
        "said": ["yes", "no", "yes", "no", "yes", "no"],
        "number": [1, 0, 1, 0, 1, 0],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5, 0.1],
        "other": [0.1, 0.2, 0.9, 0.3, 0.8, 0.4],
        "region": ["north", "north", "north", "south", "south", "south"],
        "w": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0],
        "user": [1, 1, 2, 2, 3, 3],
    }
)
ASKED = ["-t", "late", "-s", "score"]
WRITERS = {
    "parquet": pl.DataFrame.write_parquet,
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda df, path: df.write_csv(path, separator="\t"),
    "arrow": pl.DataFrame.write_ipc,
    "ndjson": pl.DataFrame.write_ndjson,
}


def start(*arguments: str, **options) -> subprocess.Popen:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*PROGRAM, *arguments], **pipes | options)  # noqa: S603


def process(*arguments: str, **options) -> tuple[int, str, str]:
    """Return the exit code of a process, and what it wrote to both outputs."""
    started = start(*arguments, **options)
    out, err = started.communicate()
    return started.returncode, (out or b"").decode(), (err or b"").decode()


def python(code: str) -> tuple[int, str, str]:
    """Return the exit code of a process that runs code, and what it wrote to both outputs."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.returncode, done.stdout, done.stderr


def run(*arguments: str, given: bytes = b"") -> tuple[int, str, str]:
    """Return what a process would, into which something is piped, without one."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = _app.run(arguments)
    for stream in (out, err):
        stream.flush()
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()


def result(*arguments: str, given: bytes = b"") -> pl.DataFrame:
    """Return the table that was printed, with nothing to complain of."""
    code, out, err = run(*arguments, given=given)
    assert (code, err) == (0, "")
    return pl.read_csv(io.StringIO(out), separator="\t")


def said(*arguments: str) -> tuple[int, str]:
    """Return the exit code, and the one line that was said, with nothing on standard output."""
    code, out, err = run(*arguments)
    assert out == ""
    assert err.startswith("frame-prc: ")
    assert err.count("\n") == 1
    return code, err.removeprefix("frame-prc: ").rstrip("\n")


def leftovers(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if ".part" in name]
