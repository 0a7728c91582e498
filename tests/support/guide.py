"""The pages of the guide: their code, run in order, and the output that they show.

A fenced block of ``python``, ``sh`` or ``r`` is run; the block of ``text`` after it is its output.
``python tests/support/guide.py PAGE...`` writes the output of today into pages, and their pictures.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import postgres_server

CHECKOUT = Path(__file__).parents[2]
PAGES = CHECKOUT / "examples" / "guide"
# A block of code, and of its output if it has any.
_BLOCK = re.compile(
    r"^```(?P<language>python|sh|r)\n(?P<code>.*?)^```\n(?:\n```text\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_PICTURE = re.compile(r"\(pictures/(.+?)\)")


def with_output(page: str) -> str:
    """Return a page with the output that its code prints now, run in the current folder."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def with_printed(block: re.Match[str]) -> str:
        language, code = block["language"], block["code"]
        printed = _python(code, names) if language == "python" else _program(language, code)
        lines = "\n".join(line.rstrip() for line in printed.rstrip().splitlines())
        shown = f"\n```text\n{lines}\n```\n" if lines else ""
        return f"```{language}\n{code}```\n{shown}"

    return _BLOCK.sub(with_printed, page)


def pictures(page: str) -> list[str]:
    """Return the names of the pictures that a page shows."""
    return _PICTURE.findall(page)


def languages(page: str) -> set[str]:
    """Return the languages of a page's code."""
    return {block["language"] for block in _BLOCK.finditer(page)}


def modules(page: str) -> list[str]:
    """Return the modules that the code of a page imports."""
    code = "".join(
        block["code"] for block in _BLOCK.finditer(page) if block["language"] == "python"
    )
    return re.findall(r"^(?:import|from) ([\w.]+)", code, re.MULTILINE)


def serve(page: str) -> None:
    """Start the server that a page connects to, which libpq finds by its variables."""
    if "ibis.postgres.connect()" in page:
        host = postgres_server.postgres_socket()
        os.environ.update(PGHOST=host, PGUSER="tests", PGDATABASE="postgres")


def in_folder(folder: Path) -> None:
    """Go to a folder that has the examples where a checkout has them."""
    (folder / "examples").symlink_to(CHECKOUT / "examples")
    os.chdir(folder)


def _python(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<page>", "exec"), names)  # noqa: S102 - our own pages
    return out.getvalue()


def _program(language: str, code: str) -> str:
    command = ["bash", "-ec", code] if language == "sh" else ["Rscript", "-e", code]
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(  # noqa: S603
        command, env={**os.environ, "PATH": beside}, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def configure() -> None:
    """Print tables as the pages show them."""
    pl.Config(
        tbl_formatting="NOTHING",
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=110,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        float_precision=4,
        fmt_str_lengths=40,
    )


def _update(path: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        in_folder(Path(name))
        page = path.read_text(encoding="utf-8")
        serve(page)
        path.write_text(with_output(page), encoding="utf-8")
        for picture in pictures(page):
            shutil.copy(picture, PAGES / "pictures" / picture)
        os.chdir(CHECKOUT)


if __name__ == "__main__":
    configure()
    for argument in sys.argv[1:]:
        _update(Path(argument).resolve())
