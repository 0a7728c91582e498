"""The option ``--memory``: how many rows fit into it, and what can be done in passes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from frame_prc.cli.options import flag
from frame_prc.exceptions import OptionError

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MGT])(I?)B", re.IGNORECASE)
_LARGE = {"M": 2, "G": 3, "T": 4}  # powers of 1000, or of 1024 for MiB
_ALLOWED = "a size such as 500MB, 2GB or 1.5GiB"
# What the program takes itself, with the buffers of reading and of writing.
_OVERHEAD = 350 * 10**6
_LEAST = 500 * 10**6
# Bytes that a verb takes for a row, beside its columns: the sort, and what it computes for it.
_COMPUTED = {
    "average_precision": 120,
    "counts": 160,
    "curve": 250,
    "operating_points": 250,
    "summary": 250,
}
_OF_TEXT = 24  # bytes of a value that has no fixed width
# Parameters with which a row of the result needs several segments.
_ACROSS = ("over", "overall")


def size(text: str) -> int:
    """Return a number of bytes from its text."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"memory={text!r} is not a size", _ALLOWED)
    number, unit, binary = found.groups()
    amount = int(float(number) * (1024 if binary else 1000) ** _LARGE[unit.upper()])
    if amount < _LEAST:
        raise OptionError(f"memory={text!r} is too little", "500MB or more")
    return amount


def check_verb(verb: str) -> None:
    """Refuse a command whose result is not computed one part of the segments after the other."""
    if verb not in _COMPUTED:
        raise OptionError(
            "memory= is not available for this command",
            "ap, counts, curve, points or summary",
            "counts --memory writes counts that fit in memory, if scores repeat; pass them with "
            "-s threshold --pos pos --neg neg",
        )


def check(parameters: Mapping[str, Any], *, pools: bool) -> None:
    """Refuse what needs all segments at once; ``pools`` says that all rows are counted anyway."""
    given = [name for name in _ACROSS if parameters.get(name)]
    if parameters.get("calibrate") in ("highest", "pooled") and not pools:
        given.append("calibrate")
    if given:
        raise OptionError(
            f"memory= is given with {flag(given[0])}, which needs all segments at once",
            "results with a row for each segment",
            "write the counts of each segment, and pass them to a second command",
        )


def rows_at_once(verb: str, budget: int, schema: Mapping[str, pl.DataType]) -> int:
    """Return how many rows with these columns a verb can take in this many bytes."""
    width = sum(_width(dtype) for dtype in schema.values())
    return (budget - _OVERHEAD) // (3 * width + _COMPUTED[verb])


def _width(dtype: pl.DataType) -> int:
    fixed = dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean
    return 8 if fixed else _OF_TEXT
