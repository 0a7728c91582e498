"""Reports as files, or their numbers on standard output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

import frame_prc
from frame_prc.cli import output
from frame_prc.exceptions import OptionError


def check(path: str | None, form: str | None) -> None:
    """Refuse a format that is not JSON, or none or both of a file and a format."""
    if form not in (None, "json"):
        raise OptionError(f"--format {form} is not a format of a report", "json")
    if form is None:
        output.check_given(path, "a file that ends with .html or .json", "-o report.html")
    elif path is not None:
        raise OptionError("--format is given with --output", "one of them", "-o report.json")


def write(rows: pl.LazyFrame, path: str | None, parameters: Mapping[str, Any]) -> None:
    """Write a report; without a path, print its numbers."""
    if path is not None:
        frame_prc.report(rows, path, **parameters)
        return
    with TemporaryDirectory(prefix="frame-prc-") as folder:
        [numbers] = frame_prc.report(rows, Path(folder) / "report.json", **parameters)
        output.show_file(numbers)
