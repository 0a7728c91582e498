"""What a verb is given for each segment: thresholds, or the prevalences where they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from frame_prc._curves.given_thresholds import GivenThresholds
from frame_prc._engines.engine import class_of, engine_of
from frame_prc._frames.border import is_frame, scan_all, unwrapped
from frame_prc._request.hints import column_hint, is_of_engine
from frame_prc._request.options import calibration, is_list, is_number
from frame_prc._request.specs import Calibration, IntoColumn
from frame_prc.exceptions import OptionError, shown, type_name

_ALLOWED = "numbers for all segments, a column's name, or a frame with the keys and 'threshold'"
_ALLOWED_PREVALENCE = "a number, 'highest', 'pooled', or a frame with the keys and 'prevalence'"
_ALLOWED_STEPS = "numbers for all segments, or a frame with the keys and 'threshold'"
_ALLOWED_AT = "{'threshold': 0.5}, or a Polars or pandas frame with the keys and 'threshold'"


def given_reference(calibrate: Any) -> Calibration | None:
    """Return the prevalence that decisions are calibrated to, or a frame of those of segments."""
    if calibrate is None:
        return None
    frame = _scanned("calibrate", unwrapped(calibrate), _ALLOWED_PREVALENCE)
    _refuse_dict("calibrate", calibrate, "prevalence", _ALLOWED_PREVALENCE)
    return calibration(calibrate) if frame is None else Calibration(given=frame)


def given_at(at: Any) -> Any:
    """Return where measures are taken; of a frame of thresholds a lazy one."""
    frame = _scanned("at", unwrapped(at), _ALLOWED_AT)
    return at if frame is None else frame


def given_thresholds(
    threshold: Any,
) -> tuple[object, IntoColumn | None, GivenThresholds | None]:
    """Return thresholds as numbers for all segments, as a column of the rows, or as a frame."""
    threshold = unwrapped(threshold)
    if isinstance(threshold, (str, pl.Expr)):
        return None, threshold, GivenThresholds()
    frame = _scanned("threshold", threshold, _ALLOWED)
    if frame is not None:
        return None, None, GivenThresholds(frame)
    _refuse_dict("threshold", threshold, "threshold", _ALLOWED)
    _refuse_labels(threshold)
    return threshold, None, None


def given_steps(thresholds: Any) -> tuple[list[float], GivenThresholds | None]:
    """Return thresholds for all segments, or a frame of those of each."""
    thresholds = unwrapped(thresholds)
    frame = _scanned("thresholds", thresholds, _ALLOWED_STEPS)
    if frame is not None:
        return [], GivenThresholds(frame, "thresholds")
    _refuse_dict("thresholds", thresholds, "threshold", _ALLOWED_STEPS)
    values = list(thresholds) if is_list(thresholds) else [thresholds]
    if not values or not all(map(is_number, values)):
        raise OptionError(
            f"thresholds={shown(thresholds)} does not hold numbers",
            _ALLOWED_STEPS,
            shell_hint="a file that frame-prc points wrote has the thresholds of segments",
        )
    return values, None


def _scanned(name: str, value: Any, allowed: str) -> pl.LazyFrame | None:
    """Return a frame of thresholds, if it is one; refuse what an engine has."""
    if is_frame(value):
        return scan_all(value)
    if engine := engine_of(value):
        raise OptionError(
            f"{name}= is {engine.kind}",
            allowed,
            "collect it first, and also the frame if an engine has it: "
            f"`{engine.collected.format('chosen')}`",
        )
    if is_of_engine(value):
        raise OptionError(f"{name}= is of type {type_name(value)}", allowed, column_hint(value))
    return None


def _refuse_dict(name: str, value: Any, column: str, allowed: str) -> None:
    if isinstance(value, Mapping):
        raise OptionError(
            f"{name}= is of type {type_name(value)}",
            allowed,
            f"for a dict of {column}s by region, pl.DataFrame({{'region': list({column}s), "
            f"'{column}': list({column}s.values())}})",
        )


def _refuse_labels(threshold: Any) -> None:
    """Refuse a pandas Series whose labels would be lost: those of segments, for example."""
    is_series = isinstance(threshold, class_of("pandas", "Series"))
    if is_series and type(threshold.index).__name__ != "RangeIndex":
        raise OptionError(
            "threshold= is a pandas Series with labels",
            "numbers for all segments, or a frame with the keys and a column 'threshold'",
            "threshold=series.rename('threshold').reset_index() for a threshold per segment, and "
            "series.to_list() for numbers",
        )
