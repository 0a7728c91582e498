"""The sizes and the axes of panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt

from frame_prc._charts.steps import digits_of, ticks
from frame_prc._charts.theme import LARGE

_TICKS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class PanelLayout:
    """The number and size of a panel, and whether its left and bottom axes have labels.

    The axis of precision ends at ``top``.
    """

    number: int
    width: int
    height: int
    left: bool
    bottom: bool
    top: float = 1.0

    @property
    def is_large(self) -> bool:
        """Whether the F1 curves of the panel have labels."""
        return min(self.width, self.height) >= LARGE

    def x(self, column: str, title: str) -> alt.X:
        """Return the horizontal encoding."""
        axis = self._axis(title, 1.0, labels=self.bottom)
        return alt.X(f"{column}:Q", scale=_scale_to(1.0), axis=axis)

    def y(self, column: str, title: str) -> alt.Y:
        """Return the vertical encoding."""
        axis = self._axis(title, self.top, labels=self.left)
        return alt.Y(f"{column}:Q", scale=_scale_to(self.top), axis=axis)

    @property
    def clip(self) -> dict[str, Any]:
        """The option of marks that may go on above the panel."""
        return {"clip": True} if self.top < 1 else {}

    def _axis(self, title: str, end: float, *, labels: bool) -> alt.Axis:
        roomy = min(self.width, self.height) > LARGE / 2
        usual = list(_TICKS if roomy else _TICKS[::2])
        values = usual if end == 1 else ticks(0, end, 5 if roomy else 2)
        title_or_none = title if labels else None
        digits = f".{digits_of(values)}f"
        return alt.Axis(title=title_or_none, labels=labels, values=values, format=digits)


def layouts_of(
    count: int, columns: int, width: int, height: int, *, paired: bool, top: float = 1.0
) -> list[PanelLayout]:
    """Return the layouts of panels in a grid; each of those that are paired has a left axis."""
    return [
        PanelLayout(
            number=number,
            width=width,
            height=height,
            left=paired or number % columns == 0,
            # In the last row only: elsewhere labels would push the rows apart.
            bottom=number >= (count - 1) // columns * columns,
            top=top,
        )
        for number in range(count)
    ]


def _scale_to(end: float) -> alt.Scale:
    """Return the scale from 0 to an end."""
    return alt.Scale(domain=[0, end], nice=False)
