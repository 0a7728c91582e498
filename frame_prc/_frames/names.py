"""The columns of a frame that are read, by name: names that occur twice, and names of none."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from frame_prc._request.specs import MODEL
from frame_prc._request.thresholds import ABOVE, BELOW
from frame_prc.exceptions import ColumnError

# Counts are of bins if they have one of the first two, and of several models if they have the last.
_OPTIONAL = {BELOW, ABOVE, MODEL}


def wanted_names(columns: Collection[str], known: Collection[str]) -> set[str]:
    """Return the names that a plan may read; counts need not have all of theirs."""
    return {*columns} - (_OPTIONAL - {*known})


def first_places(names: Sequence[str]) -> dict[str, int]:
    """Return the place of the first column of each name."""
    return {name: place for place, name in reversed([*enumerate(names)])}


def check_once(name: str, names: Sequence[str], frame: str, of: str = "columns") -> None:
    """Raise an error if a name that is read occurs several times in this kind of frame."""
    if names.count(name) > 1:
        raise ColumnError(
            f"the {frame} has {names.count(name)} {of} named {name!r}",
            "one column of each name",
            "rename them",
        )
