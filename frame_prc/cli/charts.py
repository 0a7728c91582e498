"""Charts as files that need no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frame_prc._files import atomic_write
from frame_prc._request.packages import check_installed
from frame_prc.cli.output import check_file, check_given

_SUFFIXES = (".html", ".svg", ".png")


def check(output: str | None) -> None:
    """Refuse a file that no chart can be written to, before anything is read."""
    allowed = f"a file that ends with {', '.join(_SUFFIXES)}"
    check_file(check_given(output, allowed, "-o plot.html"), _SUFFIXES)
    check_installed("vl_convert", "vl-convert-python", "a picture")


def save(chart: Any, output: str) -> None:
    """Write a chart, atomically, in the format of the suffix."""
    suffix = Path(output).suffix.lower()
    with atomic_write(output) as (part,):
        chart.save(part, format=suffix.removeprefix("."), inline=suffix == ".html")
