"""Files of charts: sharp images, and pages with a title that fit a narrow window."""

from __future__ import annotations

import html
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from frame_prc._charts.options import Look
from frame_prc._charts.text import safe
from frame_prc.exceptions import FileError

if TYPE_CHECKING:
    from altair.typing import ChartType

_FORMATS = ("html", "png", "svg", "pdf", "json")
_DENSITY = 2  # pixels of an image per pixel of a chart, for high-resolution screens
_PAGE_OPTIONS = {"renderer": "svg", "scaleFactor": _DENSITY}  # an SVG shrinks with its page
_HEAD = """<head>
  <title>{title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <style>
    body {{ background: {background}; color: {text}; font: 13px sans-serif; }}
    svg.marks {{ max-width: 100%; height: auto; }}
    .vega-embed .chart-wrapper {{ min-width: 0; max-width: 100%; }}
    .vega-bindings {{ position: sticky; bottom: 0; padding: 8px; background: {background}; }}
    .vega-bindings input[type=range] {{ width: min(420px, 60vw); vertical-align: middle; }}
    /* The chart says which threshold is nearest: one number, not two. */
    .vega-bindings input[type=range] + span {{ display: none; }}
  </style>"""


class _Files(alt.TopLevelMixin):
    def save(self, fp: Any, format: Any = None, *more: Any, **options: Any) -> None:  # noqa: A002
        """Save the chart as ``altair.Chart.save`` does, images at twice the density."""
        kind = format or Path(str(getattr(fp, "name", fp))).suffix.lower().removeprefix(".")
        if kind not in _FORMATS and (format or isinstance(fp, (str, os.PathLike))):
            raise FileError(
                f"a chart cannot be saved as {kind!r}"
                if kind
                else "the name of the file has no suffix",
                "a file that ends with " + ", ".join(f".{known}" for known in _FORMATS),
            )
        if kind == "png" and "ppi" not in options and not more:
            options.setdefault("scale_factor", _DENSITY)
        if kind != "html":
            super().save(fp, format, *more, **options)
            return
        _add_page_options(options)
        made = io.StringIO()
        super().save(made, "html", *more, **options)
        page = _with_head(self, made.getvalue())
        if hasattr(fp, "write"):
            fp.write(page)
        else:
            Path(fp).write_text(page, encoding="utf-8")

    def to_html(self, *given: Any, **options: Any) -> str:
        _add_page_options(options)
        return _with_head(self, super().to_html(*given, **options))


class LayerChart(_Files, alt.LayerChart):
    """One panel."""


class ConcatChart(_Files, alt.ConcatChart):
    """Panels in a grid."""


class FacetChart(_Files, alt.FacetChart):
    """Panels of the same marks."""


class HConcatChart(_Files, alt.HConcatChart):
    """Panels beside each other."""


class VConcatChart(_Files, alt.VConcatChart):
    """Panels above each other."""


_CLASSES: dict[type, type] = {
    own.__bases__[1]: own
    for own in (LayerChart, ConcatChart, FacetChart, HConcatChart, VConcatChart)
}


def with_files(chart: ChartType) -> ChartType:
    # Making it anew would copy all of it, and Altair takes plain assignment for a property.
    object.__setattr__(chart, "__class__", _CLASSES[type(chart)])
    return chart


def _add_page_options(options: dict[str, Any]) -> None:
    options["embed_options"] = _PAGE_OPTIONS | (options.get("embed_options") or {})


def _with_head(chart: Any, page: str) -> str:
    title = getattr(chart.title, "text", chart.title)
    background = getattr(chart.config, "background", Look().background)
    look = Look(dark=isinstance(background, str) and background != Look().background)
    head = _HEAD.format(
        title=html.escape(safe(title)) if isinstance(title, str) else "Chart",
        background=background if look.dark else look.background,
        text=look.text,
    )
    return page.replace("<head>", head, 1)
