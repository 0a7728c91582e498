"""The look of a chart: colour-blind-safe colours, light and dark backgrounds, sizes of panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# Altair types the methods of a chart, such as ``encode``, as returning any chart.
AnyChart: TypeAlias = Any

# Okabe & Ito (2008), jfly.uni-koeln.de/color, in order of contrast; the lowest-contrast colour is
# left out for each background. The first three differ in lightness too, to be told apart in grey
# print. The R script has its own list, okabe_ito in _ggplot/common.R.
_ON_LIGHT = ("#005A9C", "#C8500A", "#12A17A", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_ON_DARK = ("#86CEFA", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#FFFFFF")
_DASHES = ([1, 0], [7, 3], [2, 2])

FAINT = 0.55  # opacity of what has too few positives, and of secondary lines

MOST_COLOURS = len(_ON_LIGHT)
MOST_OVERLAID = MOST_COLOURS * len(_DASHES)
MOST_SEGMENTS = 200  # rows of a summary

# Up to how many panels, their columns, and the width of a panel, for up to 780 px in all.
_GRIDS = (
    (1, 1, 420),
    (2, 2, 300),
    (3, 3, 219),
    (4, 2, 300),
    (6, 3, 219),
    (24, 4, 157),
    (60, 6, 101),
)
# With a ROC curve of the same size beside each panel.
_PAIRED_GRIDS = ((4, 2, 300), (60, 4, 145))

LARGE = 260  # px; from this width on, labels of the F1 curves are to the right of a panel


@dataclass(frozen=True)
class Look:
    """The options for the look of a chart; ``width`` and ``height`` are those of one panel."""

    dark: bool = False
    title: str | None = None
    width: int | None = None
    height: int | None = None

    @property
    def background(self) -> str:
        """The colour of the background."""
        return "#16181D" if self.dark else "#FFFFFF"

    @property
    def text(self) -> str:
        """The colour of text."""
        return "#E8E8E8" if self.dark else "#222222"

    @property
    def muted(self) -> str:
        """The colour of notes and reference lines."""
        return "#A8ACB3" if self.dark else "#5F6368"

    @property
    def faint(self) -> str:
        """The colour of grids."""
        return "#3A3E46" if self.dark else "#DADCE0"

    @property
    def _palette(self) -> tuple[str, ...]:
        return _ON_DARK if self.dark else _ON_LIGHT

    def colours(self, count: int) -> list[str]:
        """Return a colour per line; a colour and its dashes together are unique."""
        return [self._palette[i % len(self._palette)] for i in range(count)]

    def dashes(self, count: int) -> list[list[int]]:
        """Return the dashes per line, which differ between lines of one colour."""
        return [_DASHES[i // len(self._palette) % len(_DASHES)] for i in range(count)]

    def grid(self, panels: int, *, paired: bool) -> tuple[int, int, int]:
        """Return the number of columns of panels, and the width and height of a panel."""
        grids = _PAIRED_GRIDS if paired else _GRIDS
        columns, width = next((c, w) for most, c, w in grids if panels <= most)
        width = self.width or self.height or width
        return columns, width, self.height or width

    def config(self) -> dict[str, Any]:
        """Return the settings of the whole chart."""
        axis = {"labelColor": self.text, "titleColor": self.text, "gridColor": self.faint}
        return {
            "background": self.background,
            "axis": {
                **axis,
                "domain": False,
                "ticks": False,
                "gridWidth": 0.6,
                "labelPadding": 4,
                "labelFlush": False,  # keeps the first and last label centred on their ticks
                "titleFontWeight": "normal",
            },
            "view": {"stroke": self.faint},
            "circle": {"opacity": 1},
            "point": {"opacity": 1},
            "legend": {
                "title": None,
                "orient": "top",
                "labelColor": self.text,
                "titleColor": self.text,
                "labelLimit": 0,
                "labelFontSize": 11,
                "symbolStrokeWidth": 2.5,
                "symbolOpacity": 1,
                "titleFontWeight": "normal",
            },
            "title": {
                "color": self.text,
                "subtitleColor": self.muted,
                "anchor": "start",
                "subtitleFontSize": 11,
            },
        }
