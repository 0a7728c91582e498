"""The options of a report, checked before anything is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeAlias, get_args

from frame_prc._request.hints import check_numpy
from frame_prc._request.options import check_title, compared_at, confidence, is_list
from frame_prc._request.roles import check_option
from frame_prc._request.specs import Calibration
from frame_prc.exceptions import OptionError, shown, type_name

Section: TypeAlias = Literal[
    "curves", "segments", "thresholds", "roc", "scores", "reliability", "time"
]
USUAL: tuple[Section, ...] = ("curves", "segments", "thresholds")

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Options:
    """The options of a report.

    ``calibrate`` is as given, and ``calibration`` what it means.
    """

    level: float
    calibrate: Any
    calibration: Calibration
    baseline: str | None
    sections: tuple[Section, ...]
    title: str | None
    note: str | None
    date: str | None
    accent: str | None


def report_options(
    ci: Any,
    calibrate: Any,
    baseline: str | None,
    sections: Section | Sequence[Section] | None,
    *,
    title: str | None,
    note: str | None,
    day: str | date | None,
    accent: str | None,
) -> Options:
    """Return the options of a report, or raise an error."""
    reference = "highest" if calibrate is None else calibrate
    for name, value in (("title", title), ("note", note)):
        check_title(value, name)
    return Options(
        level=confidence(ci),
        calibrate=reference,
        calibration=compared_at(reference),
        baseline=baseline,
        sections=_sections(sections),
        title=title,
        note=note,
        date=_day(day),
        accent=_accent(accent),
    )


def _sections(asked: Section | Sequence[Section] | None) -> tuple[Section, ...]:
    if asked is None:
        return USUAL
    listed = list(asked) if is_list(asked) else [asked]
    allowed = get_args(Section)
    known = [check_option("sections", one, allowed) for one in listed]
    if "time" in known:
        check_numpy("sections='time'")
    return tuple(name for name in allowed if name in known)


def _day(given: str | date | None) -> str | None:
    if isinstance(given, date):
        return given.isoformat()
    if given is None or isinstance(given, str):
        return given
    raise OptionError(
        f"date={shown(given)} is of type {type_name(given)}", "a date, a text, or None"
    )


def _accent(given: str | None) -> str | None:
    if given is None or (isinstance(given, str) and _COLOUR.fullmatch(given)):
        return given
    raise OptionError(
        f"accent={shown(given)} is not a colour", "six hexadecimal digits, such as '#0072b2'"
    )
