"""Time zones that are offsets from UTC, which Polars does not know: as zones with a name."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from typing import Any

import polars as pl

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
_HOUR = timedelta(hours=1)
_EASTERNMOST, _WESTERNMOST = 14 * _HOUR, -12 * _HOUR
# Zones without daylight saving time, by their minutes; those of whole hours have a name anyway. In
# other zones a day may begin with another offset than its hours have.
_OF_MINUTES = {
    -570: "Pacific/Marquesas",
    270: "Asia/Kabul",
    330: "Asia/Kolkata",
    345: "Asia/Kathmandu",
    390: "Asia/Yangon",
    525: "Australia/Eucla",
    570: "Australia/Darwin",
}


def offset_of(zone: object) -> timedelta | None:
    """Return the offset that a time zone is, as an object or in Arrow's text: ``+05:30``."""
    if isinstance(zone, tzinfo):
        return zone.utcoffset(None)  # None of a zone with a name, whose offset depends on the time
    found = _OFFSET.fullmatch(zone) if isinstance(zone, str) else None
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    size = timedelta(hours=int(hours), minutes=int(minutes))
    return -size if sign == "-" else size


def named_zone(offset: timedelta) -> str | None:
    """Return a zone with a name that has an offset today and all year, if there is one."""
    if offset % _HOUR == timedelta(0) and _WESTERNMOST <= offset <= _EASTERNMOST:
        hours = offset // _HOUR
        return f"Etc/GMT{-hours:+d}" if hours else "UTC"  # POSIX counts hours west of Greenwich
    return _OF_MINUTES.get(offset // timedelta(minutes=1))


def has_offset(times: pl.Series, offset: timedelta) -> bool:
    """Return whether all times of a zone have an offset from UTC; they may have had another."""
    found = times.to_frame("times").select(
        (pl.col("times").dt.base_utc_offset() + pl.col("times").dt.dst_offset() == offset).all()
    )
    return bool(found.item())


def first_zone(values: Any) -> tzinfo | None:
    """Return the zone of the first datetime among some values."""
    return next((value.tzinfo for value in values if isinstance(value, datetime)), None)
