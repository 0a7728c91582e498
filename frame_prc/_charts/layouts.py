"""The sizes and the axes of panels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import altair as alt

from frame_prc._charts.steps import digits_of, ticks
from frame_prc._charts.theme import LARGE

Columns: TypeAlias = tuple[tuple[str, str], tuple[str, str]]
PRECISION_RECALL: Columns = (("recall", "Recall"), ("precision", "Precision"))
ROC: Columns = (("fpr", "False-positive rate"), ("recall", "True-positive rate"))

_TICKS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class PanelLayout:
    """The number and size of a panel, and whether its left and bottom axes have labels.

    The axis of precision ends at ``top``. ``columns`` are in ``x`` and ``y``, each with its title;
    ``ends`` are those of ``x`` if it is no share.
    """

    number: int
    width: int
    height: int
    left: bool
    bottom: bool
    top: float = 1.0
    columns: Columns = PRECISION_RECALL
    ends: tuple[float, float] | None = None

    @property
    def is_large(self) -> bool:
        """Whether the labels of the F1 curves are beside the panel."""
        return min(self.width, self.height) >= LARGE

    @cached_property
    def x(self) -> alt.X:
        """The horizontal encoding."""
        column, title = self.columns[0]
        if self.ends is None:
            axis, scale = self._axis(title, 1.0, labels=self.bottom), _scale((0, 1.0))
        else:
            shown, count = title if self.bottom else None, max(self.width // 50, 2)
            axis, scale = alt.Axis(title=shown, tickCount=count), _scale(self.ends)
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    @cached_property
    def y(self) -> alt.Y:
        """The vertical encoding."""
        return self.y_of(self.columns[1][0])

    def y_of(self, column: str) -> alt.Y:
        """Return the vertical encoding of another column."""
        axis = self._axis(self.columns[1][1], self.top, labels=self.left)
        return alt.Y(f"{column}:Q", scale=_scale((0, self.top)), axis=axis)

    @property
    def font(self) -> float:
        """The size of the title."""
        return 11.5 if self.is_large else 10.5

    @property
    def letters(self) -> int:
        """How many letters fit above the panel."""
        return int(self.width / self.font * 2.1)

    @property
    def clip(self) -> dict[str, Any]:
        """The option of marks that may go on above the panel."""
        return {"clip": True} if self.top < 1 else {}

    def _axis(self, title: str, end: float, *, labels: bool) -> alt.Axis:
        roomy = min(self.width, self.height) > LARGE / 2
        usual = list(_TICKS if roomy else _TICKS[::2])
        values = usual if end == 1 else ticks(0, end, 5 if roomy else 2)
        if not labels:
            return alt.Axis(title=None, labels=False, values=values)
        return alt.Axis(title=title, values=values, format=f".{digits_of(values)}f")


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
            # Where no panel is below: elsewhere labels would push the rows apart.
            bottom=number + columns >= count,
            top=top,
        )
        for number in range(count)
    ]


def _scale(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(domain=list(ends))
