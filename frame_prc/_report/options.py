"""The options of a report, checked before anything is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from frame_prc._charts.options import is_ordered, marked
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import check_title, compared_at, is_list
from frame_prc._request.roles import check_option
from frame_prc._request.specs import Calibration, Interval, Target
from frame_prc._tables.summary import MEASURES, Summary
from frame_prc.exceptions import OptionError, shown, type_name

Section: TypeAlias = Literal[
    "curves", "segments", "thresholds", "roc", "scores", "reliability", "time"
]
USUAL: tuple[Section, ...] = ("curves", "segments", "thresholds")

LARGEST_F1 = Target("f_beta", 1.0)

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Options:
    """The options of a report; ``calibrate`` is as given."""

    level: float
    calibrate: Any
    baseline: str | None
    sections: tuple[Section, ...]
    target: Target
    title: str | None
    note: str | None
    date: str | None
    accent: str | None

    def __post_init__(self) -> None:
        check_title(self.title, "title")
        check_title(self.note, "note")
        is_colour = isinstance(self.accent, str) and _COLOUR.fullmatch(self.accent)
        if self.accent is not None and not is_colour:
            raise OptionError(
                f"accent={shown(self.accent)} is not a colour",
                "six hexadecimal digits, such as '#0072b2'",
            )
        compared_at(self.calibrate)

    @property
    def calibration(self) -> Calibration:
        return compared_at(self.calibrate)

    @property
    def scorecard(self) -> Summary:
        return Summary(
            Interval(self.level), overall=True, calibration=self.calibration, measures=MEASURES
        )


def sections_of(asked: Section | Sequence[Section] | None) -> tuple[Section, ...]:
    if asked is None:
        return USUAL
    listed = list(asked) if is_list(asked) else [asked]
    allowed = get_args(Section)
    known = [check_option("sections", one, allowed) for one in listed]
    if "time" in known:
        check_numpy("sections='time'")
    return tuple(name for name in allowed if name in known)


def key_with_order(dtypes: Mapping[str, pl.DataType]) -> str:
    """Return the key that rows are in the order of: the only time, or else the only ordered."""
    times = [name for name, dtype in dtypes.items() if dtype.is_temporal()]
    ordered = [name for name, dtype in dtypes.items() if is_ordered(dtype)]
    known = times if len(times) == 1 else ordered
    if len(known) == 1:
        return known[0]
    keys = ", ".join(f"{shown(name)} ({dtype})" for name, dtype in dtypes.items())
    raise OptionError(
        f"sections= has 'time', and the keys are {keys or 'none'}",
        "one key that is a time, a number or an Enum, beside others that are not",
        "by=pl.col('day').dt.truncate('1w')",
        shell_hint="--by day:1w",
    )


def target_of(points: Any) -> Target:
    target, *others = marked(points) or [LARGEST_F1]
    if others:
        raise OptionError(
            f"points= asks for {len(others) + 1} operating points",
            "one in a report",
            "plot(points=...) marks several, and operating_points has their table",
            shell_hint="frame-prc plot marks several, and frame-prc points has their table",
        )
    return target


def date_text(given: str | date | None) -> str | None:
    if isinstance(given, date):
        return given.isoformat()
    if given is None or isinstance(given, str):
        return given
    raise OptionError(
        f"date={shown(given)} is of type {type_name(given)}", "a date, a text, or None"
    )
