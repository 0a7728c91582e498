"""Pictures: a chart into a file that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frame_prc._files import atomic_write
from frame_prc._request.packages import check_installed
from frame_prc.cli.output import check_file, check_given

SUFFIXES = (".html", ".svg", ".png")
_PIXELS = 2  # of a PNG for each of the chart's, for screens that have as many


def check(output: str | None) -> None:
    """Refuse a place where no picture can be, before anything is read."""
    allowed = f"a file that ends with {', '.join(SUFFIXES)}"
    check_file(check_given(output, allowed, "-o plot.html"), SUFFIXES)
    check_installed("vl_convert", "vl-convert-python", "a picture")


def save(chart: Any, output: str) -> None:
    """Save a chart as the suffix says, whole or not at all."""
    how: dict[str, dict[str, object]] = {
        ".html": {"inline": True},
        ".png": {"scale_factor": _PIXELS},
    }
    with atomic_write(output) as (part,):
        suffix = Path(output).suffix.lower()
        chart.save(part, format=suffix.removeprefix("."), **how.get(suffix, {}))
