"""Tables written for R, and what R reads and draws of them."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from pathlib import Path

import optional
import polars as pl

INJECTION = '"); system("touch injected"); ("'
ROWS = pl.DataFrame(
    {
        "late": [True, False, True, False, False, True],
        "score": [0.9, 0.4, 0.4, 0.2, 0.7, 0.1],
        "origin": ["JFK", "JFK", "JFK", "JFK", None, None],
    }
)
TEXT = {"null_values": "NA", "schema_overrides": {"threshold": pl.Float64}}
READ = {
    ".tsv": lambda path: pl.read_csv(path, separator="\t", **TEXT),
    ".csv": lambda path: pl.read_csv(path, **TEXT),
    ".parquet": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
}


def new_random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0, errors
    assert "warning" not in errors.lower(), errors
    return done.stdout.decode()


def draw(script: Path, cwd: Path, *arguments: str | Path, **environment: str) -> None:
    run(optional.require_r_package("ggplot2"), script, *arguments, cwd=cwd, **environment)


def in_r(tables: Path | list[Path], code: str, **environment: str) -> list[str]:
    """Return the lines that R code prints of ``curves``, each table read as its script says."""
    rscript = optional.require_r_package("base")
    tables = tables if isinstance(tables, list) else [tables]
    lines = []
    for table in tables:
        # The functions of the script, without its picture.
        script = f'parse("{table.stem}.R")'
        lines += [f'for (e in {script}) if (grepl("function", deparse(e)[1])) eval(e)']
        lines += [f'curves <- restore(read_rows("{table.name}"))', code]
    program = tables[0].with_name("program.R")
    program.write_text("\n".join(lines), encoding="ascii")
    return run(rscript, program.name, cwd=program.parent, **environment).splitlines()


def texts_in_r(table: Path, vector: str, **environment: str) -> list:
    """Return a character vector of R; what is NA is None."""
    shown = 'ifelse(is.na(x), "NA", vapply(x, function(s) paste(charToRaw(s), collapse = ""), ""))'
    lines = in_r(table, f"x <- enc2utf8({vector}); writeLines({shown})", **environment)
    return [None if line == "NA" else bytes.fromhex(line).decode() for line in lines]


def assert_is_picture(path: Path, height: int = 500) -> None:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    columns, rows = struct.unpack(">II", head[16:24])
    assert columns >= 700
    assert rows >= height
    assert path.stat().st_size > 15_000  # of an empty one there is less
