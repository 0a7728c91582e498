"""Random assignments of rows to segments: Q and the gap if segments are equal; needs NumPy.

Each segment keeps its size; calibrated areas do not depend on the prevalence, so theirs keep the
sizes of both classes. Each draw has variances of its own: the studentised test also holds roughly
where only areas are equal (Chung & Romano 2013, doi 10.1214/13-AOS1090). The p-value is
``(1 + hits) / (1 + draws)``, or if it is clearly large, ``hits / draws`` at a fixed number of hits
(Besag & Clifford 1991, doi 10.1093/biomet/78.2.301).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt
import polars as pl

from frame_prc._curves.logit_intervals import ROUNDING_OF_VARIANCE
from frame_prc._execution import on_each_thread
from frame_prc._inference.areas import ROC_AUC
from frame_prc._inference.resamples import Floats, Integers

Places: TypeAlias = npt.NDArray[np.intp]
Labels: TypeAlias = npt.NDArray[np.unsignedinteger]
Names: TypeAlias = Container[int] | None  # of the segments that a gap is of; of all

# The draws, a multiple of those between two looks at their hits, and the hits that end them.
DRAWS, _BETWEEN_LOOKS, _HITS = 999, 111, 20
# So many standard deviations above the mean of the draws, none of them would be a hit: by Cantelli
# at most one of 1 + 32**2.
_FAR = 32
# Values that differ by less, relative to the larger, are equal but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Null:
    """What draws with equal segments show; ``inflation`` is Q over its degrees of freedom."""

    p_value: float
    gap_p_value: float
    gap_if_equal: float
    inflation: float


def null_of(rows: pl.DataFrame, measure: str, odds: float | None, named: Names) -> Null | None:
    """Return what draws show, or nothing if fewer than two segments can be compared.

    ``rows`` have ``segment, tie, retrieved, positive, weight``, and are sorted by tie, class and
    weight, so that draws do not depend on their order. ``odds`` are those of a negative if
    calibrated.
    """
    # Invalid values may get here before the checks report them; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        segments = SegmentRows.of(rows, measure, odds, named)
        observed = segments.spread(segments.labels)
        if observed.degrees < 1:
            return None
        found, p_value = _drawn(segments, observed.excess)
        gap = observed.gap(observed.mean)
        gaps = found.gap(observed.mean)
    return Null(
        p_value=p_value,
        gap_p_value=float(1 + np.sum(gaps >= gap * (1 - _ROUNDING))) / (1 + len(gaps)),
        gap_if_equal=float(gaps.mean()),
        inflation=float(np.mean(found.q / found.degrees)),
    )


def _drawn(segments: SegmentRows, excess: Floats) -> tuple[Spread, float]:
    parts: list[Floats] = []
    for first in range(0, DRAWS, _BETWEEN_LOOKS):
        parts += on_each_thread(range(first, first + _BETWEEN_LOOKS), segments.drawn)
        found = Spread(*np.concatenate(parts).T)
        [hits] = np.nonzero(found.excess >= excess - _ROUNDING * abs(excess))
        if len(hits) >= _HITS:
            return found, _HITS / float(1 + hits[_HITS - 1])
        if excess > found.excess.mean() + _FAR * found.excess.std():
            break
    return found, float(1 + len(hits)) / (1 + DRAWS)


class Spread(NamedTuple):
    """Cochran's Q of segments, their mean logit, and the ends of those named; or of draws."""

    q: Floats
    degrees: Floats
    mean: Floats
    lowest: Floats
    highest: Floats

    @property
    def excess(self) -> Floats:
        found: Floats = (self.q - self.degrees) / np.sqrt(self.degrees)
        return found

    def gap(self, mean: Floats) -> Floats:
        shift = mean - self.mean
        high, low = (1 / (1 + np.exp(-ends - shift)) for ends in (self.highest, self.lowest))
        found: Floats = high - low
        return found


@dataclass(frozen=True)
class RowsOfClass:
    segment: Labels
    tie: Integers
    retrieved: npt.NDArray[np.bool_]
    weight: Floats | None

    @cached_property
    def all_retrieved(self) -> bool:
        return bool(self.retrieved.all())

    @classmethod
    def of(cls, rows: pl.DataFrame, labels: npt.DTypeLike = np.uint16) -> RowsOfClass:
        weight = rows["weight"].to_numpy()
        has_segment = "segment" in rows.columns
        segment = rows["segment"].to_numpy() if has_segment else np.zeros(rows.height)
        return cls(
            segment.astype(labels),
            rows["tie"].cast(pl.Int64).to_numpy(),
            rows["retrieved"].to_numpy(),
            None if np.all(weight == 1) else weight,
        )

    def only(self, kept: npt.NDArray[np.bool_]) -> RowsOfClass:
        weight = None if self.weight is None else self.weight[kept]
        return RowsOfClass(self.segment[kept], self.tie[kept], self.retrieved[kept], weight)


@dataclass(frozen=True)
class _Grouped:
    """The rows of a class by segment, with where each starts; ordered only if needed."""

    rows: RowsOfClass
    ordered: Callable[[], Places]
    starts: Places

    @cached_property
    def order(self) -> Places:
        return self.ordered()

    @property
    def tie(self) -> Integers:
        return self.rows.tie[self.order]

    @property
    def retrieved(self) -> npt.NDArray[np.bool_] | Literal[True]:
        return True if self.rows.all_retrieved else self.rows.retrieved[self.order]

    @cached_property
    def _sums(self) -> tuple[Floats, Floats] | None:
        if self.rows.weight is None:
            return None
        weight = self.rows.weight[self.order]
        return _summed(weight), _summed(weight**2)

    @cached_property
    def segment(self) -> Places:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def places(self) -> Places:
        return np.arange(len(self.segment) + 1)

    @cached_property
    def weight(self) -> Floats:
        return np.diff(self.weighed(self.places))

    @cached_property
    def square(self) -> Floats:
        return np.diff(self.weighed(self.places, power=2))

    @cached_property
    def total(self) -> Floats:
        return np.diff(self.weighed(self.starts))

    @property
    def effective(self) -> Floats:
        found: Floats = self.total**2 / np.diff(self.weighed(self.starts, power=2))
        return found

    def weighed(self, ends: Places, power: int = 1) -> Floats:
        """Return the weight, or its square, of the first rows, up to each of some places."""
        return ends.astype(np.float64) if self._sums is None else self._sums[power - 1][ends]

    def summed(self, values: Floats) -> Floats:
        found = np.zeros(len(self.starts) - 1)
        has_rows = np.diff(self.starts) > 0
        found[has_rows] = np.add.reduceat(values, self.starts[:-1][has_rows]) if len(values) else 0
        return found


@dataclass(frozen=True)
class SegmentRows:
    positives: RowsOfClass
    negatives: RowsOfClass
    segments: int
    measure: str
    odds: float | None
    named: npt.NDArray[np.bool_] | None = None  # those the gap is of

    @classmethod
    def of(cls, rows: pl.DataFrame, measure: str, odds: float | None, named: Names) -> SegmentRows:
        # By their sizes: what is drawn must not depend on the order of the names.
        sizes = rows.group_by("segment").agg(pl.len(), pl.col("positive").sum())
        names = sizes.sort("len", "positive", "segment")["segment"]
        number = pl.col("segment").replace_strict(names, range(len(names)), return_dtype=pl.UInt32)
        numbered = rows.with_columns(segment=number)
        dtype = labels_of(len(names))
        positives, negatives = (
            RowsOfClass.of(numbered.filter(positive=v), dtype) for v in (True, False)
        )
        has_name = None if named is None else np.array([name in named for name in names])
        return cls(positives, negatives, len(names), measure, odds, has_name)

    def only(
        self, positives: npt.NDArray[np.bool_], negatives: npt.NDArray[np.bool_]
    ) -> SegmentRows:
        kept = self.positives.only(positives), self.negatives.only(negatives)
        return replace(self, positives=kept[0], negatives=kept[1])

    def split(self, segments: int) -> SegmentRows:
        return replace(self, segments=segments)

    @cached_property
    def starts_of_ties(self) -> Integers:
        """The number of the first tie of each segment, if every segment had all ties."""
        ties = 1 + max(int(one.tie.max(initial=0)) for one in self._classes)
        return np.arange(self.segments, dtype=np.int64) * ties

    @cached_property
    def is_positive(self) -> npt.NDArray[np.bool_]:
        """Which rows are positive, of all in ranking order: negatives come first among equals."""
        ties = np.concatenate([self.negatives.tie, self.positives.tie])
        found: npt.NDArray[np.bool_] = np.argsort(ties, kind="stable") >= len(self.negatives.tie)
        return found

    @cached_property
    def number(self) -> Places:
        return number_in_class(self.is_positive)

    @cached_property
    def places(self) -> Places:
        """The place of each row of the ranking among the positives, and then the negatives."""
        return self.number + np.where(self.is_positive, 0, len(self.positives.tie))

    @cached_property
    def starts(self) -> Places:
        sizes = np.bincount(self.labels, minlength=self.segments)
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def _classes(self) -> tuple[RowsOfClass, RowsOfClass]:
        return self.positives, self.negatives

    @cached_property
    def has_ties(self) -> bool:
        return bool(np.any(np.diff(self.positives.tie) == 0))

    @cached_property
    def labels(self) -> Labels:
        return np.concatenate([one.segment for one in self._classes])

    @cached_property
    def seed(self) -> int:
        """A seed of these rows: with one for all data the level would be a single sample's."""
        return crc32(self.positives.tie.tobytes(), crc32(self._sorted[0].tobytes()))

    @cached_property
    def _sorted(self) -> list[Labels]:
        return [np.sort(one.segment) for one in self._classes]

    def drawn(self, draws: Sequence[int]) -> Floats:
        """Return how random segments differ; each draw has its own seed, whatever the thread."""
        randoms = (np.random.default_rng([self.seed, draw]) for draw in draws)
        with np.errstate(all="ignore"):
            found = [self.spread(self.shuffled(random)) for random in randoms]
        return np.array([one for one in found if one.degrees > 0]).reshape(-1, len(Spread._fields))

    def shuffled(self, random: np.random.Generator) -> Labels:
        if self.odds is None:
            return random.permutation(np.concatenate(self._sorted))
        return np.concatenate([random.permutation(one) for one in self._sorted])

    def spread(self, labels: Labels) -> Spread:
        area, shortfall, variance, effective = self.areas(labels)
        scaled = variance / (area * shortfall) ** 2
        known = (area > 0) & (shortfall > 0) & (np.rint(effective) > 1)
        known &= scaled > ROUNDING_OF_VARIANCE
        logit, weight = np.log(area[known] / shortfall[known]), 1 / scaled[known]
        mean = np.sum(weight * logit) / np.sum(weight)
        q = np.sum(weight * (logit - mean) ** 2)
        ends = logit if self.named is None else logit[self.named[known]]
        lowest, highest = ends.min(initial=np.inf), ends.max(initial=-np.inf)
        return Spread(*np.array([q, len(logit) - 1, mean, lowest, highest]))

    def areas(self, labels: Labels) -> tuple[Floats, ...]:
        order = np.argsort(labels[self.places], kind="stable")
        is_positive = self.is_positive[order]
        at = np.flatnonzero(is_positive)
        opens = np.searchsorted(at, self.starts)
        return self.areas_of(
            is_positive, at, opens, self.starts, lambda one: self.number[order[one]]
        )

    def areas_of(
        self,
        is_positive: npt.NDArray[np.bool_],
        at: Places,
        opens: Places,
        starts: Places,
        number: Callable[[Places], Places],
    ) -> tuple[Floats, ...]:
        """Return the area of each segment, 1 minus it, its variance, and how many rows it rests on.

        Rows are by segment, each in ranking order: ``at`` are the places of the positives,
        ``starts`` those of the segments, among positives ``opens``; ``number`` gives the rows of a
        class.
        """
        # Without weights the average precision asks for the order of the positives alone.
        needs_all = self.measure == ROC_AUC or self.negatives.weight is not None
        others = np.flatnonzero(~is_positive) if needs_all else at[:0]
        pos = _Grouped(self.positives, lambda: number(at), opens)
        neg = _Grouped(self.negatives, lambda: number(others), starts - opens)
        if self.measure == ROC_AUC:
            return self._roc_areas(pos, neg)
        return self._average_precisions(pos, neg, at - np.arange(len(at)))

    def _average_precisions(
        self, pos: _Grouped, neg: _Grouped, above: Places
    ) -> tuple[Floats, ...]:
        steps = self._steps(pos, neg, above)
        total, n = pos.total, neg.total
        scale = np.ones(self.segments) if self.odds is None else self.odds * total / n
        tp, fp = steps.tp, steps.fp * scale[pos.segment]
        precision, error, rate = (
            np.where(pos.retrieved, found / (tp + fp), never)
            for found, never in ((tp, 0.0), (fp, 1.0), (pos.weight, 0.0))
        )
        area, shortfall = (pos.summed(pos.weight * one) / total for one in (precision, error))
        on_positive = precision - area[pos.segment] + steps.from_here_on(rate * error)
        on_negative = -steps.from_here_on(rate * precision) * scale[pos.segment]
        below = np.zeros(self.segments)
        if self.odds is not None:
            # Classes of given sizes: the influences of each are centred by themselves.
            lost = pos.summed(pos.weight * precision * error) / total
            below = lost * total / n
            on_positive -= lost[pos.segment]
            on_negative += below[pos.segment]
        squares = pos.summed(pos.square * on_positive**2 + steps.passed * on_negative**2)
        squares += steps.left * below**2
        effective = pos.effective
        variance = squares / total**2 * effective / (effective - 1)
        return area, shortfall, variance, effective

    def _roc_areas(self, pos: _Grouped, neg: _Grouped) -> tuple[Floats, ...]:
        of_pos = self.starts_of_ties[pos.segment] + pos.tie
        of_neg = self.starts_of_ties[neg.segment] + neg.tie
        missed = _share_above(of_pos, of_neg, pos, neg)
        passed = _share_above(of_neg, of_pos, neg, pos)
        area, shortfall = (pos.summed(pos.weight * x) / pos.total for x in (1 - missed, missed))
        variance, numbers = np.zeros(self.segments), []
        for own, placement in ((pos, 1 - missed), (neg, passed)):
            number = own.effective
            squares = own.summed(own.square * (placement - area[own.segment]) ** 2)
            variance += squares / own.total**2 * number / (number - 1)
            numbers.append(number)
        return area, shortfall, variance, np.minimum(*numbers)

    def _steps(self, pos: _Grouped, neg: _Grouped, above: Places) -> _Steps:
        first: Places | slice = slice(None, -1)
        last = pos.places[1:]
        if self.has_ties:
            places = self.starts_of_ties[pos.segment] + pos.tie
            first, last = (np.searchsorted(places, places, side) for side in ("left", "right"))
        before = np.empty_like(above)
        before[1:] = above[:-1]
        opens = pos.starts[:-1][np.diff(pos.starts) > 0]
        before[opens] = neg.starts[pos.segment[opens]]
        ends = np.copy(neg.starts[:-1])
        ends[pos.segment] = above  # of a segment's positives the last one is written last
        return _Steps(
            tp=pos.weighed(last) - pos.weighed(pos.starts)[pos.segment],
            fp=neg.weighed(above) - neg.weighed(neg.starts)[pos.segment],
            passed=neg.weighed(above, power=2) - neg.weighed(before, power=2),
            left=neg.weighed(neg.starts[1:], power=2) - neg.weighed(ends, power=2),
            first=first,
            rows=pos,
        )


@dataclass(frozen=True)
class _Steps:
    """What is at the score of each positive; ``first`` is the first positive of the same score.

    ``passed`` are the squared weights of the negatives since the positive before, ``left`` those
    below all positives of a segment.
    """

    tp: Floats
    fp: Floats
    passed: Floats
    left: Floats
    first: Places | slice
    rows: _Grouped

    def from_here_on(self, values: Floats) -> Floats:
        """Return the sum over the positives at or below the score of each, in its segment."""
        added = _summed(values)
        found: Floats = added[self.rows.starts[1:]][self.rows.segment] - added[self.first]
        return found


def number_in_class(is_positive: npt.NDArray[np.bool_]) -> Places:
    found = np.cumsum(is_positive) - 1
    return np.where(is_positive, found, np.arange(len(found)) - found - 1)


def _share_above(places: Places, of_others: Places, own: _Grouped, others: _Grouped) -> Floats:
    """Return the share of the rows of the other class above each row, with ties as one half."""
    ends = (others.weighed(np.searchsorted(of_others, places, side)) for side in ("left", "right"))
    before = others.weighed(others.starts)[own.segment]
    found: Floats = (sum(ends) / 2 - before) / others.total[own.segment]
    return found


def labels_of(segments: int) -> npt.DTypeLike:
    return np.uint16 if segments <= 2**16 else np.uint32


def _summed(values: Floats) -> Floats:
    found = np.zeros(len(values) + 1)
    np.cumsum(values, out=found[1:])
    return found
