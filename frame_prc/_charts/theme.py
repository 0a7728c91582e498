"""The look of a chart: colours that the colour-blind tell apart, sizes, on light and on dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# A part of a chart; Altair's methods say of each other only that they return some chart.
Piece: TypeAlias = Any

# Okabe & Ito (2008), jfly.uni-koeln.de/color, the most visible first; each ground does without the
# one colour that hardly shows on it.
_ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#FFFFFF")
_DASHES = ([1, 0], [7, 3], [2, 2])

MOST_COLOURS = len(_ON_LIGHT)
MOST_OVERLAID = MOST_COLOURS * len(_DASHES)
MOST_SEGMENTS = 200  # rows of a summary

# Columns of panels for up to so many of them, and how wide a panel then is, for 800 px in all.
_GRIDS = (
    (1, 1, 420),
    (2, 2, 330),
    (3, 3, 215),
    (4, 2, 330),
    (6, 3, 215),
    (24, 4, 158),
    (60, 6, 98),
)
# Beside each panel there is one of the same size.
_PAIRED_GRIDS = ((4, 2, 310), (60, 4, 134))

_AXIS, _LEGEND, _LETTER = 40, 190, 4.8  # px
_LEAST_LETTERS = 60

LARGE = 200  # px; a panel as wide has room for words


@dataclass(frozen=True)
class Look:
    """What is chosen of a chart's looks; sizes are those of one panel."""

    dark: bool = False
    title: str | None = None
    width: int | None = None
    height: int | None = None

    @property
    def ground(self) -> str:
        """The colour of the background."""
        return "#16181D" if self.dark else "#FFFFFF"

    @property
    def text(self) -> str:
        """The colour of words."""
        return "#E8E8E8" if self.dark else "#222222"

    @property
    def quiet(self) -> str:
        """The colour of what explains."""
        return "#A8ACB3" if self.dark else "#5F6368"

    @property
    def faint(self) -> str:
        """The colour of grids and lines to read by."""
        return "#3A3E46" if self.dark else "#DADCE0"

    @property
    def _palette(self) -> tuple[str, ...]:
        return _ON_DARK if self.dark else _ON_LIGHT

    def colours(self, count: int) -> list[str]:
        """Return a colour per line; together with its dashes it is its own."""
        return [self._palette[i % len(self._palette)] for i in range(count)]

    def dashes(self, count: int) -> list[list[int]]:
        """Return the dashes per line, which tell lines of one colour apart."""
        return [_DASHES[i // len(self._palette) % len(_DASHES)] for i in range(count)]

    def grid(self, panels: int, *, paired: bool) -> tuple[int, int, int]:
        """Return how many panels stand side by side, and how wide and how high each is."""
        grids = _PAIRED_GRIDS if paired else _GRIDS
        columns, width = next((c, w) for most, c, w in grids if panels <= most)
        width = self.width or self.height or width
        return columns, width, self.height or width

    def characters(self, panels: int, *, paired: bool, legend: bool) -> int:
        """Return how many small letters go on a line above the panels and a legend beside them."""
        columns, width, _ = self.grid(panels, paired=paired)
        total = columns * (width + _AXIS) + (_LEGEND if legend else 0)
        return max(_LEAST_LETTERS, int(total / _LETTER))

    def config(self) -> dict[str, Any]:
        """Return the settings of the whole chart."""
        axis = {"labelColor": self.text, "titleColor": self.text, "gridColor": self.faint}
        return {
            "background": self.ground,
            "axis": {
                **axis,
                "domain": False,
                "ticks": False,
                "gridWidth": 0.6,
                "labelPadding": 4,
                "labelFlush": False,  # else numbers at the ends stand beside their places
                "titleFontWeight": "normal",
            },
            "view": {"stroke": self.faint},
            "legend": {
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
                "subtitleColor": self.quiet,
                "anchor": "start",
                "subtitleFontSize": 11,
            },
        }
