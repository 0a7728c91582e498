"""Which combinations of a test's parameters the first layer runs, and which only the second."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, cycle
from zlib import crc32

# Kinds of frames take turns: each case is shown on one of them.
TURNS = ("kind",)


def first_layer(name: str, chosen: Sequence[dict[str, object]]) -> set[int]:
    """Return the places of the combinations to run first, of all that have a value by parameter."""
    first = crc32(name.encode())  # so that all kinds are used as often
    by_case: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for place, values in enumerate(chosen):
        case = tuple((name, id(value)) for name, value in values.items() if name not in TURNS)
        by_case.setdefault(case, []).append(place)
    cases, kept = paired([*by_case]), set()
    fewest = min(max(map(len, by_case.values())), 2)
    for turn, case in zip(range(max(len(cases), fewest)), cycle(cases)):
        kept.add(by_case[case][(first + turn) % len(by_case[case])])
    return kept


def paired(cases: Sequence[tuple[tuple[str, int], ...]]) -> list[tuple[tuple[str, int], ...]]:
    """Return cases that have each pair of values of two parameters, and each value of one."""
    pairs = {case: {*combinations(case, 2)} or {case} for case in cases}
    missing = set().union(*pairs.values())
    kept = []
    while missing:
        best = max(pairs, key=lambda case: len(pairs[case] & missing))
        missing -= pairs.pop(best)
        kept.append(best)
    return kept
