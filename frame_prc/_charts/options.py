"""The options of a chart, checked before anything is read, and its look: colours and sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from frame_prc._request.hints import check_installed, check_numpy
from frame_prc._request.options import Numbers, check_title, f_scores_and_steps
from frame_prc._request.points import targets
from frame_prc._request.roles import check_option, plain_option
from frame_prc._request.specs import ChartX, Criterion, Target
from frame_prc.exceptions import OptionError, shown, type_name

# --- look --------------------------------------------------------------------------------------

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
        return "#16181D" if self.dark else "#FFFFFF"

    @property
    def text(self) -> str:
        return "#E8E8E8" if self.dark else "#222222"

    @property
    def muted(self) -> str:
        return "#A8ACB3" if self.dark else "#5F6368"

    @property
    def faint(self) -> str:
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
        grids = _PAIRED_GRIDS if paired else _GRIDS
        columns, width = next((c, w) for most, c, w in grids if panels <= most)
        width = self.width or self.height or width
        return columns, width, self.height or width

    def config(self) -> dict[str, Any]:
        axis = {"labelColor": self.text, "titleColor": self.text, "gridColor": self.faint}
        return {
            "background": self.background,
            "axis": {
                **axis,
                "domain": False,
                "ticks": False,
                "gridWidth": 0.6,
                "labelPadding": 4,
                "labelLimit": 0,
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


# --- options -----------------------------------------------------------------------------------

Facet: TypeAlias = str | Sequence[str] | bool | None
OperatingPoints: TypeAlias = Mapping[Criterion, float | Sequence[float]]
Sort: TypeAlias = Literal["value", "difference", "key"] | None
Overlay: TypeAlias = Literal["auto", "pooled", "mean"] | None
OVERLAYS: tuple[Overlay, ...] = (None, "auto", "pooled", "mean")
Kind: TypeAlias = Literal["dots", "heatmap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SORTS: tuple[Sort, ...] = (None, "value", "difference", "key")

ISO_F1 = (0.2, 0.4, 0.6, 0.8)
LEVEL = 0.95
_SMALLEST, _LARGEST = 40, 4000  # px
_SIDES = 2
_MOST_TARGETS = 6
_FEW_LINES, _FEW_RIBBONS = 6, 3
_MOST_F_SCORES = 9


@dataclass(frozen=True, kw_only=True)
class ChartOptions:
    """The options of the chart of curves.

    ``targets`` are the operating points to mark. Without ``iso_f1`` there are the usual scores, if
    panels are few.
    """

    x: ChartX
    ci: float | None
    band: bool
    iso_f1: tuple[float, ...] | None
    targets: tuple[Target, ...]
    roc: bool
    facet: Any
    overlay: Overlay
    y: float | Literal["auto"]
    look: Look

    def __post_init__(self) -> None:
        check_option("x", self.x, get_args(ChartX))
        check_option("band", self.band, (True, False))
        check_option("roc", self.roc, (True, False))
        check_option("overlay", self.overlay, OVERLAYS)
        if self.band:
            check_numpy()

    def check_over_thresholds(self) -> None:
        if self.x != "threshold":
            return
        given = {"roc": self.roc, "band": self.band, "facet": self.facet is not None}
        for name, value in (given | {"overlay": self.overlay, "y": self.y}).items():
            if value not in (None, False, "auto"):
                raise OptionError(
                    f"{name}= is given with x='threshold'",
                    f"{name}= with x='recall' only",
                    "over thresholds each segment and model has a panel of its own",
                )
        if self.threshold in (math.inf, -math.inf):
            raise OptionError(
                f"points={{'threshold': {shown(self.threshold)}}} cannot be shown with "
                "x='threshold'",
                "a finite number",
            )

    @property
    def level(self) -> float:
        return LEVEL if self.ci is None else self.ci

    @property
    def intervals(self) -> bool:
        """Whether ribbons are intervals; at most one kind of ribbon is drawn."""
        return self.ci is not None and not self.band

    @property
    def most_in_one_panel(self) -> int:
        if self.overlay in {"pooled", "mean"}:
            return 1
        return _FEW_RIBBONS if self.intervals or self.band else _FEW_LINES

    @property
    def threshold(self) -> float | None:
        held = [target.value for target in self.targets if target.criterion == "threshold"]
        return held[0] if len(held) == 1 else None

    @property
    def others(self) -> tuple[Target, ...]:
        is_kept = self.threshold is None
        return tuple(one for one in self.targets if is_kept or one.criterion != "threshold")


def check_altair(verb: str) -> None:
    check_installed("altair", "Altair", verb)


def chart_look(dark: Any, title: Any, size: Any = None, width: Any = None) -> Look:
    check_title(title)
    if width is not None and not _is_length(width):
        raise OptionError(
            f"width={shown(width)} is not the width of a panel",
            f"an integer from {_SMALLEST} to {_LARGEST} pixels",
        )
    wide, high = (width, None) if size is None else _panel_size(size)
    return Look(check_option("dark", dark, (True, False)), title, wide, high)


def _panel_size(size: Any) -> tuple[int, int]:
    pair = tuple(size) if isinstance(size, Sequence) and len(size) == _SIDES else (size, size)
    if not all(map(_is_length, pair)):
        raise OptionError(
            f"size={shown(size)} is not the size of a panel",
            f"(width, height) or one number, integers from {_SMALLEST} to {_LARGEST} pixels",
        )
    return pair


def _is_length(length: Any) -> bool:
    is_integer = isinstance(length, Integral) and not isinstance(length, bool)
    return is_integer and _SMALLEST <= length <= _LARGEST


def axis_end(y: Any) -> float | Literal["auto"]:
    y = plain_option(y)
    if y == "auto":
        return "auto"
    if isinstance(y, (int, float)) and not isinstance(y, bool) and 0 < y <= 1:
        return float(y)
    raise OptionError(f"y={shown(y)} is not the end of an axis", "'auto', or a number up to 1")


def f_scores(iso_f1: Any) -> tuple[float, ...] | None:
    iso_f1 = plain_option(iso_f1)
    if iso_f1 is None:
        return None
    if isinstance(iso_f1, bool):
        return ISO_F1 if iso_f1 else ()
    try:
        scores, _ = f_scores_and_steps(iso_f1, 2)
    except OptionError:
        allowed = "None, True, False, or a list of F1 scores between 0 and 1"
        raise OptionError(f"iso_f1={shown(iso_f1)} is not an option", allowed) from None
    if len(scores) > _MOST_F_SCORES:
        raise OptionError(f"iso_f1= has {len(scores)} F1 scores", f"up to {_MOST_F_SCORES}")
    return tuple(dict.fromkeys(scores))


def marked(points: Any) -> tuple[Target, ...]:
    criteria = get_args(Criterion)
    example = "for example points={'recall': 0.9}"
    if points is None:
        return ()
    if not isinstance(points, Mapping):
        raise OptionError(
            f"points={shown(points)} is of type {type_name(points)}",
            "a mapping of operating points",
            f"{example}, or points={{'threshold': 0.5}}",
        )
    for name in points:
        if name not in criteria:
            known = ", ".join(map(repr, criteria))
            raise OptionError(
                f"points= names {shown(name)}, which is not a criterion",
                known,
                example,
                shell_hint="for example --points 'recall=0.9'",
            )
    numbers: dict[Criterion, Numbers] = {name: points.get(name) for name in criteria}
    unique = tuple(dict.fromkeys(targets(numbers, role="points")))
    if len(unique) > _MOST_TARGETS:
        raise OptionError(
            f"points= asks for {len(unique)} operating points",
            f"up to {_MOST_TARGETS}, each with its own shape",
        )
    return unique


def facet_keys(facet: Any) -> Any:
    facet = plain_option(facet)
    names = [facet] if isinstance(facet, str) else facet
    if facet is None or facet is False:
        return facet
    if isinstance(names, Sequence) and names and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise OptionError(
        f"facet={shown(facet)} does not name keys",
        "the name of a key, a list of names, False for one panel, or None to choose automatically",
    )


# --- keys ----------------------------------------------------------------------------------------


def is_ordered(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Enum


def is_time(dtype: pl.DataType) -> bool:
    return dtype in (pl.Date, pl.Datetime)
