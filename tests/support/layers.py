"""Which combinations of a test's parameters are run, and by which layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

# Kinds of frames take turns, and two plans of Spark: a layer shows each case on one of them.
TURNS = ("kind", "counts_first")

Case = tuple[tuple[str, int], ...]


class Layers(NamedTuple):
    """The places of the combinations that each layer runs."""

    first: set[int]
    second: set[int]


def layers(
    name: str, chosen: Sequence[dict[str, object]], slow: Sequence[bool], size: int = 2
) -> Layers:
    """Share combinations of a test's parameters between the layers.

    Of all combinations, those are run that have each pair of values of two parameters (each group
    of ``size``), on one kind of frame: by the first layer, or by the second what is ``slow``. The
    second layer also has each value on a kind that is slow, and shows a single case on another
    kind: several cases are on several kinds in the first layer already.
    """
    turn = crc32(name.encode())  # so that all kinds are used as often
    by_case: dict[Case, list[int]] = {}
    for place, values in enumerate(chosen):
        case = tuple((name, id(value)) for name, value in values.items() if name not in TURNS)
        by_case.setdefault(case, []).append(place)
    found = Layers(set(), set())
    kept = covering([*by_case], size)
    again = {*covering(kept, 1)}
    for i, case in enumerate(kept):
        places = by_case[case]
        quick = [place for place in places if not slow[place]]
        first = {quick[(turn + i) % len(quick)]} if quick else set()
        others = [place for place in places if slow[place]]
        if len(kept) == 1 and not others:
            others = [place for place in quick if place not in first]
        found.first.update(first)
        if others and (case in again or not quick):
            found.second.add(others[(turn + i) % len(others)])
    return found


def covering(cases: Sequence[Case], size: int) -> list[Case]:
    """Return cases that have each combination of so many values, such as each pair."""
    has = {case: {*combinations(case, size)} or {case} for case in cases}
    missing = set().union(*has.values())
    kept = []
    while missing:
        best = max(has, key=lambda case: len(has[case] & missing))
        missing -= has.pop(best)
        kept.append(best)
    return kept


def also(*values: object) -> list[ParameterSet]:
    """Return values of a test's parameters that the second layer alone shows."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough)
        for value in values
    ]
