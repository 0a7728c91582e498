"""Segments that differ from the others, among all that some columns make; needs NumPy.

Rows are ranked once; each column, and each pair, then splits them into segments that keep this
order. A segment is compared with the mean of the others of its columns, on the logit scale, and
each row is taken to vary as rows of all segments do, as small segments may seem to vary little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from frame_prc._curves.logit_intervals import FEW_POSITIVES
from frame_prc._execution import on_each_thread
from frame_prc._inference.estimates import few_at_odds, is_moved, moved_by_few
from frame_prc._inference.resamples import Floats, Integers
from frame_prc._inference.segment_permutations import (
    Labels,
    Places,
    SegmentRows,
    labels_of,
    number_in_class,
)

Flags: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.uint8]

_DRAWS = 999
_UNITS = 500
_FITS_32_BITS = 2**24  # so many places, beside a class and a code of 7 bits


class Grouping(NamedTuple):
    """The segments that one or two columns make; ``levels`` are their numbers of codes."""

    columns: tuple[int, ...]
    levels: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.levels))

    def numbers(self, codes: Codes) -> Labels:
        found: Labels = codes[self.columns[0]].astype(labels_of(self.size))
        for column, levels in zip(self.columns[1:], self.levels[1:], strict=True):
            found *= levels
            found += codes[column]
        return found

    def codes(self, number: int) -> tuple[int, ...]:
        return tuple(map(int, np.unravel_index(number, self.levels)))

    def named(self) -> Flags:
        """Return which segments are of no small level: code 0 in no column."""
        codes = np.unravel_index(np.arange(self.size), self.levels)
        found: Flags = np.all([one > 0 for one in codes], axis=0)
        return found


class Ordered(NamedTuple):
    """Rows by segment, each in ranking order: twice the place of each, and 1 more if positive."""

    keys: Labels
    starts: Places


@dataclass(frozen=True)
class Scan:
    """Rows by class, and the codes of all rows in one ranking, with a row per column.

    Negatives come first among equal scores. Code 0 stands for levels with few rows. ``unit``
    numbers the clusters of positives; segments, and the others, have ``fewest`` rows of each class.
    """

    rows: SegmentRows
    codes: Codes
    positive: Flags
    unit: Integers | None
    depth: int
    fewest: int

    @cached_property
    def groupings(self) -> list[Grouping]:
        levels = [int(one.max(initial=0)) + 1 for one in self.codes]
        return [
            Grouping(chosen, tuple(levels[i] for i in chosen))
            for depth in range(1, self.depth + 1)
            for chosen in combinations(range(len(levels)), depth)
        ]

    @cached_property
    def _looks(self) -> dict[Grouping, tuple[Floats, int]]:
        """What is found at the segments of each grouping, and how many have too few negatives."""
        by_first = sorted(self.groupings, key=_first)
        parts = on_each_thread(by_first, lambda part: dict(self._looks_at(part)))
        found = {grouping: look for part in parts for grouping, look in part.items()}
        return {grouping: found[grouping] for grouping in self.groupings}

    @property
    def z(self) -> dict[Grouping, Floats]:
        """How far each segment of each grouping is from the others; NaN of those not looked at."""
        return {grouping: z for grouping, (z, _) in self._looks.items()}

    @property
    def n_left_out(self) -> int:
        """The number of segments of enough rows whose negatives are too few for the measure."""
        return sum(n_left_out for _, n_left_out in self._looks.values())

    @property
    def size(self) -> int:
        return sum(int(np.isfinite(z).sum()) for z in self.z.values())

    @cached_property
    def _keys(self) -> Labels:
        """The keys of the ranking, with room for a code above them."""
        count = len(self.positive)
        places: Labels = np.arange(count).astype(np.uint32 if count < _FITS_32_BITS else np.uint64)
        return 2 * places + self.positive

    @cached_property
    def _number(self) -> Integers:
        return number_in_class(self.positive)

    def _looks_at(
        self, groupings: Sequence[Grouping]
    ) -> Iterator[tuple[Grouping, tuple[Floats, int]]]:
        for column, share in groupby(groupings, key=_first):
            codes = self.codes[column]
            places = np.argsort(codes, kind="stable")
            ordered = Ordered(self._keys[places], _starts(np.bincount(codes)))
            for one in share:
                yield one, self._look(one, self._split(ordered, places, one))

    def _split(self, ordered: Ordered, places: Places, grouping: Grouping) -> Ordered:
        if len(grouping.columns) == 1:
            return ordered
        (_, column), (_, levels), dtype = *grouping, ordered.keys.dtype
        step = dtype.type(1 << (2 * len(places)).bit_length())
        keys = self.codes[column][places].astype(dtype)
        keys *= step
        keys += ordered.keys
        starts, edges = [], np.arange(levels, dtype=dtype) * step
        for start, end in pairwise(ordered.starts):
            part = keys[start:end]
            part.sort()
            starts.append(start + np.searchsorted(part, edges))
        keys &= step - dtype.type(1)
        return Ordered(keys, np.concatenate([*starts, ordered.starts[-1:]]))

    def _look(self, grouping: Grouping, ordered: Ordered) -> tuple[Floats, int]:
        is_positive = (ordered.keys & 1).astype(bool)
        at = np.flatnonzero(is_positive)
        opens = np.searchsorted(at, ordered.starts)
        sizes = [np.diff(opens), np.diff(ordered.starts - opens)]
        with np.errstate(all="ignore"):
            large = grouping.named() & self._is_large(*sizes)
            fits = large & self._is_judged(*sizes)
            n_left_out = int(large.sum() - fits.sum())
            if not fits.any():
                return np.full(grouping.size, np.nan), n_left_out
            area, shortfall, variance, effective = self.rows.split(grouping.size).areas_of(
                is_positive,
                at,
                opens,
                ordered.starts,
                lambda places: self._number[ordered.keys[places] >> 1],
            )
            found = _differences(area, shortfall, effective, variance, sizes)
        return np.where(fits, np.nan_to_num(found), np.nan), n_left_out

    def _is_large(self, positives: Integers, negatives: Integers) -> Flags:
        found: Flags = np.ones(len(positives), dtype=bool)
        for size in (positives, negatives):
            found &= (size >= self.fewest) & (size.sum() - size >= self.fewest)
        return found

    def _is_judged(self, positives: Integers, negatives: Integers) -> Flags:
        """Return which segments have enough negatives for the measure, where sizes tell."""
        odds, classes = self.rows.odds, (self.rows.positives, self.rows.negatives)
        # Of clusters and weights sizes alone do not tell.
        if odds is None or self.unit is not None or any(one.weight is not None for one in classes):
            return np.ones(len(positives), dtype=bool)
        return ~_have_few_negatives(positives, negatives, odds)

    def without(self, grouping: Grouping, number: int) -> Scan:
        kept = grouping.numbers(self.codes) != number
        return replace(
            self,
            rows=self.rows.only(kept[self.positive], kept[~self.positive]),
            codes=self.codes[:, kept],
            positive=self.positive[kept],
            unit=None if self.unit is None else self.unit[kept[self.positive]],
        )

    def highest(self) -> Floats:
        """Return the largest difference in each draw, in descending order (Westfall & Young 1993).

        Each positive, or cluster, gets a normal deviate, and segments the sums of theirs. Many are
        first thrown together at random into 500 units, which are independent too.
        """
        random = np.random.default_rng(0)
        codes, unit = self.codes[:, self.positive], self.unit
        if unit is None:
            unit = np.arange(codes.shape[1])
        count = int(unit.max(initial=-1)) + 1
        if count > _UNITS:
            unit, count = random.integers(0, _UNITS, count)[unit], _UNITS
        deviates = random.standard_normal((_DRAWS, count), dtype=np.float32)
        highest = np.zeros(_DRAWS)
        for grouping, z in self.z.items():
            cells = unit * grouping.size + grouping.numbers(codes)
            inside = np.bincount(cells, minlength=count * grouping.size)
            inside = inside.reshape(count, grouping.size)
            # A segment less the mean of the others, which have a share of its units too.
            share = inside.sum(axis=0) / max(inside.sum(), 1)
            apart = inside - share * inside.sum(axis=1, keepdims=True)
            scale = np.sqrt((apart**2).sum(axis=0))
            used = np.isfinite(z) & (scale > 0)
            drawn = np.abs(deviates @ (apart[:, used] / scale[used]).astype(np.float32))
            highest = np.maximum(highest, drawn.max(axis=1, initial=0.0))
        return np.sort(highest)[::-1]


def _differences(
    area: Floats, shortfall: Floats, effective: Floats, variance: Floats, sizes: list[Integers]
) -> Floats:
    """Return how far segments are from the mean of the others, in normal deviates."""
    positives = sizes[0].astype(np.float64)
    rows = np.minimum(effective, sizes[1])  # the scarcer class decides
    known = np.isfinite(variance) & (rows > 1)
    share = np.where(known, positives, 0.0)
    if not share.any():
        return np.full(len(area), np.nan)
    rest = share.sum() - share
    # Half a row from the ends, where a logit is infinite.
    end = 0.5 / (rows + 1)
    own, short = np.clip(area, end, 1 - end), np.clip(shortfall, end, 1 - end)
    of_logit = np.where(known, variance / (own * short) ** 2 * rows, 0.0)
    usual = np.average(of_logit, weights=share) / rows
    others, lacks = (_of_others(np.where(known, share * one, 0.0)) / rest for one in (own, short))
    of_rest = _of_others(np.where(known, share**2 * usual * (own * short) ** 2, 0.0)) / rest**2
    difference = np.log(own / short) - np.log(others / lacks)
    found = difference / np.sqrt(usual + of_rest / (others * lacks) ** 2)
    return np.where(known & (rest > 0), found, np.nan)


def _have_few_negatives(positives: Integers, negatives: Integers, odds: float) -> Flags:
    k = odds * positives / np.maximum(negatives, 1)
    few: Flags = (negatives < FEW_POSITIVES) | few_at_odds(negatives, odds, k)
    share = np.where(negatives > 0, positives, 0.0)
    others, moved = _of_others(share), _of_others(moved_by_few(share * few, negatives / odds))
    of_others: Flags = is_moved(moved, others, positives, others)
    return few | of_others


def _of_others(amount: Floats) -> Floats:
    found: Floats = amount.sum() - amount
    return found


def _first(grouping: Grouping) -> int:
    return grouping.columns[0]


def _starts(sizes: Integers) -> Places:
    return np.concatenate([[0], np.cumsum(sizes)])
