"""The options of a chart, checked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

from frame_prc._charts.theme import Look
from frame_prc._request.intervals import confidence
from frame_prc._request.options import Numbers, check_title, f_scores_and_steps
from frame_prc._request.packages import check_installed, check_numpy
from frame_prc._request.roles import check_option, plain_option
from frame_prc._request.specs import ChartX, Criterion, Target
from frame_prc._request.targets import targets
from frame_prc.exceptions import OptionError, shown, type_name

Facet: TypeAlias = str | Sequence[str] | bool | None
OperatingPoints: TypeAlias = Mapping[Criterion, float | Sequence[float]]
Sort: TypeAlias = Literal["value", "difference", "key"] | None
SORTS: tuple[Sort, ...] = (None, "value", "difference", "key")

ISO_F1 = (0.2, 0.4, 0.6, 0.8)
_X: tuple[ChartX, ...] = get_args(ChartX)
_LEVEL = 0.95
_SMALLEST, _LARGEST = 40, 4000  # px
_MOST_TARGETS = 6
_MOST_F_SCORES = 9


@dataclass(frozen=True)
class ChartOptions:
    """The options of the chart of curves.

    ``wilson`` and ``band`` are two kinds of ribbon, of which at most one is drawn.
    """

    x: ChartX
    level: float
    wilson: bool
    band: bool
    iso_f1: tuple[float, ...]
    targets: tuple[Target, ...]
    roc: bool
    threshold: float | None
    facet: Any
    look: Look

    def all_targets(self) -> list[Target]:
        """Return the operating points to mark, with that of ``threshold=`` last."""
        chosen = [] if self.threshold is None else [Target("threshold", self.threshold)]
        return [*(target for target in self.targets if target not in chosen), *chosen]


def check_altair(verb: str) -> None:
    """Raise an error unless Altair is installed, before anything is read."""
    check_installed("altair", "Altair", verb)


def chart_options(
    x: ChartX,
    ci: float | None,
    band: object,
    iso_f1: Any,
    points: Any,
    roc: object,
    threshold: Any,
    facet: Any,
    look: Look,
) -> ChartOptions:
    """Check and normalise the options of the chart of curves."""
    band = check_option("band", band, (True, False))
    roc = check_option("roc", roc, (True, False))
    x = check_option("x", x, _X)
    if x == "threshold":
        _check_threshold_options(threshold, roc=roc, band=band, facet=facet)
    if band:
        check_numpy()
    level = _LEVEL if ci is None else confidence(ci)
    return ChartOptions(
        x=x,
        level=level,
        wilson=ci is not None and not band,
        band=band,
        iso_f1=_f_scores(iso_f1),
        targets=_targets(points),
        roc=roc,
        threshold=None if threshold is None else _threshold(threshold),
        facet=_facet(facet),
        look=look,
    )


def _check_threshold_options(threshold: Any, *, roc: bool, band: bool, facet: Any) -> None:
    """Raise an error for options that only a chart over recall has."""
    for name, given in (("roc", roc), ("band", band), ("facet", facet is not None)):
        if given:
            raise OptionError(
                f"{name}= is given with x='threshold'",
                f"{name}= with x='recall' only",
                "over thresholds each segment and model has a panel of its own",
            )
    if isinstance(threshold, Real) and not math.isfinite(threshold):
        raise OptionError(
            f"threshold={shown(threshold)} cannot be shown with x='threshold'", "a finite number"
        )


def chart_look(dark: Any, title: Any, width: Any, height: Any) -> Look:
    """Check and return the options for the look of a chart."""
    dark = check_option("dark", dark, (True, False))
    check_title(title)
    for name, size in (("width", width), ("height", height)):
        is_integer = isinstance(size, Integral) and not isinstance(size, bool)
        if size is not None and not (is_integer and _SMALLEST <= size <= _LARGEST):
            raise OptionError(
                f"{name}={shown(size)} is not a size of a panel",
                f"pixels, an integer from {_SMALLEST} to {_LARGEST}",
            )
    return Look(dark, title, width, height)


def _f_scores(iso_f1: Any) -> tuple[float, ...]:
    iso_f1 = plain_option(iso_f1)
    if isinstance(iso_f1, bool):
        return ISO_F1 if iso_f1 else ()
    try:
        scores, _ = f_scores_and_steps(iso_f1, 2)
    except OptionError:
        allowed = "True, False, or a list of F1 scores between 0 and 1"
        raise OptionError(f"iso_f1={shown(iso_f1)} is not an option", allowed) from None
    if len(scores) > _MOST_F_SCORES:
        raise OptionError(f"iso_f1= has {len(scores)} F1 scores", f"up to {_MOST_F_SCORES}")
    return tuple(dict.fromkeys(scores))


def _targets(points: Any) -> tuple[Target, ...]:
    criteria = get_args(Criterion)
    example = "for example points={'recall': 0.9}"
    if points is None:
        return ()
    if not isinstance(points, Mapping):
        raise OptionError(
            f"points={shown(points)} is of type {type_name(points)}",
            "a mapping of operating points",
            example,
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
    unique = tuple(dict.fromkeys(targets(numbers)))
    if len(unique) > _MOST_TARGETS:
        raise OptionError(
            f"points= asks for {len(unique)} operating points",
            f"up to {_MOST_TARGETS}, each with its own shape",
        )
    return unique


def _threshold(threshold: Any) -> float:
    if isinstance(threshold, (str, Iterable)):
        raise OptionError(f"threshold={shown(threshold)} is not a number", "one number")
    return targets({"threshold": threshold})[0].value


def _facet(facet: Any) -> Any:
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
