"""Pictures: a chart into a file that needs no network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frame_prc._files import whole
from frame_prc.cli._output import check_file
from frame_prc.exceptions import OptionError

SUFFIXES = (".html", ".svg", ".png")
_PIXELS = 2  # of a PNG for each of the chart's, for screens that have as many


def check(output: str | None) -> None:
    """Refuse a place where no picture can be, before anything is read."""
    if output is None:
        raise OptionError(
            "--output is not given", f"a file that ends with {', '.join(SUFFIXES)}", "-o plot.html"
        )
    check_file(output, SUFFIXES)
    if find_spec("vl_convert") is None:
        raise OptionError(
            "a picture needs vl-convert-python, which is not installed",
            hint="pip install 'frame-prc[cli]'",
        )


def save(chart: Any, output: str) -> None:
    """Save a chart as the suffix says, whole or not at all."""
    how: dict[str, dict[str, object]] = {
        ".html": {"inline": True},
        ".png": {"scale_factor": _PIXELS},
    }
    with whole(output) as part:
        suffix = Path(output).suffix.lower()
        chart.save(part, format=suffix.removeprefix("."), **how.get(suffix, {}))
