"""Random assignments of rows to segments: what Cochran's Q and the gap are if segments are equal.

Each segment keeps its size, and rows keep their score, class and weight. A calibrated area does not
depend on the prevalence, so its segments also keep their number of positives and of negatives. In
each draw every segment gets an area and a variance of its own: the statistic is
studentised, so the test also holds approximately where only the areas are equal (Chung & Romano
2013, doi 10.1214/13-AOS1090). The p-value is ``(1 + hits) / (1 + draws)``.

NumPy is an optional dependency: import this module only where the test is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt
import polars as pl

from frame_prc._curves.logit_intervals import ROUNDING_OF_VARIANCE
from frame_prc._execution import on_each_thread
from frame_prc._inference.resamples import Floats, Integers
from frame_prc._inference.roc_auc import ROC_AUC

Places: TypeAlias = npt.NDArray[np.intp]
Labels: TypeAlias = npt.NDArray[np.unsignedinteger]

DRAWS = 999
# Values that differ by less, relative to the larger, are equal but for rounding.
_ROUNDING = 1e-12
# So many rows are drawn together: many small arrays take longer than one that is large.
_ROWS_AT_ONCE = 2**16


@dataclass(frozen=True)
class Null:
    """What draws with equal segments show: two p-values, and means over the draws.

    ``inflation`` is the mean of Q over its degrees of freedom, 1 if the standard errors are right.
    """

    p_value: float
    gap_p_value: float
    gap_if_equal: float
    inflation: float


def null_of(rows: pl.DataFrame, measure: str, odds: float | None) -> Null | None:
    """Return what draws show, or nothing if fewer than two segments can be compared.

    ``rows`` have ``segment``, a number; ``tie``, which ascends in ranking order; ``retrieved``,
    ``positive`` and ``weight``. They are sorted by tie, class and weight, so that the draws do not
    depend on the order of the caller's rows. ``measure`` is the name of one, and ``odds`` are
    those of a negative if areas are calibrated.
    """
    # Invalid values may get here before the checks report them; NumPy need not warn of them.
    with np.errstate(all="ignore"):
        segments = SegmentRows.of(rows, measure, odds)
        observed = segments.spread(segments.positives.segment, segments.negatives.segment)
        if observed.degrees[0] < 1:
            return None
        found = _joined(on_each_thread(range(DRAWS), segments.drawn))
        mean = float(observed.mean[0])
        gaps, excesses = found.gaps(mean), found.excesses
        gap, excess = float(observed.gaps(mean)[0]), float(observed.excesses[0])
    return Null(
        p_value=_p_value(excesses >= excess - _ROUNDING * abs(excess)),
        gap_p_value=_p_value(gaps >= gap * (1 - _ROUNDING)),
        gap_if_equal=float(gaps.mean()),
        inflation=float(np.mean(found.q / found.degrees)),
    )


def _p_value(hits: npt.NDArray[np.bool_]) -> float:
    return float(1 + hits.sum()) / (1 + len(hits))


@dataclass(frozen=True)
class _Spreads:
    """Cochran's Q of each draw, and the logits of its segments: their mean, lowest and highest."""

    q: Floats
    degrees: Integers
    mean: Floats
    lowest: Floats
    highest: Floats

    @property
    def excesses(self) -> Floats:
        """Q in standard deviations, since draws differ in how many segments have an error."""
        found: Floats = (self.q - self.degrees) / np.sqrt(self.degrees)
        return found

    def gaps(self, mean: float) -> Floats:
        """Return the gaps between the best and the worst area, if the mean logit were another."""
        shift = mean - self.mean
        high, low = (1 / (1 + np.exp(-ends - shift)) for ends in (self.highest, self.lowest))
        found: Floats = high - low
        return found


def _joined(parts: Sequence[_Spreads]) -> _Spreads:
    """Return the draws of all parts that have two segments to compare."""
    used = [part.degrees > 0 for part in parts]
    return _Spreads(
        *(
            np.concatenate(
                [getattr(part, field.name)[u] for part, u in zip(parts, used, strict=True)]
            )
            for field in fields(_Spreads)
        )
    )


@dataclass(frozen=True)
class RowsOfClass:
    """The rows of a class, in ranking order."""

    segment: Labels
    tie: Integers
    retrieved: npt.NDArray[np.bool_]
    weight: Floats | None

    @classmethod
    def of(cls, rows: pl.DataFrame, labels: npt.DTypeLike = np.uint16) -> RowsOfClass:
        """Return ranked rows; those without a ``segment`` are all in one."""
        weight = rows["weight"].to_numpy()
        has_segment = "segment" in rows.columns
        segment = rows["segment"].to_numpy() if has_segment else np.zeros(rows.height)
        return cls(
            segment.astype(labels),
            rows["tie"].cast(pl.Int64).to_numpy(),
            rows["retrieved"].to_numpy(),
            None if np.all(weight == 1) else weight,
        )

    @cached_property
    def counts(self) -> Floats:
        """How many the first rows are, from none to all."""
        return np.arange(len(self.tie) + 1, dtype=np.float64)

    def only(self, kept: npt.NDArray[np.bool_]) -> RowsOfClass:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[kept]
        return RowsOfClass(self.segment[kept], self.tie[kept], self.retrieved[kept], weight)

    def repeated(self, times: int) -> RowsOfClass:
        """Return all rows so many times."""
        weight = None if self.weight is None else np.tile(self.weight, times)
        return RowsOfClass(
            np.tile(self.segment, times),
            np.tile(self.tie, times),
            np.tile(self.retrieved, times),
            weight,
        )

    def grouped(self, labels: Labels, segments: int) -> _Grouped:
        """Return the rows by segment, each in ranking order, given the segments of all rows."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=segments))])
        return self.in_order(np.argsort(labels, kind="stable"), starts)

    def in_order(self, order: Places, starts: Places) -> _Grouped:
        """Return the rows by segment, given their order and where each segment starts."""
        sums = squares = self.counts
        if self.weight is not None:
            weight = self.weight[order]
            sums, squares = _summed(weight), _summed(weight**2)
        return _Grouped(order, starts, sums, squares)


@dataclass(frozen=True)
class _Grouped:
    """The rows of a class by segment: where each starts, and where the last one ends.

    ``sums`` are the weights of the first rows, from none on, and ``squares`` those of weights.
    """

    order: Places
    starts: Places
    sums: Floats
    squares: Floats

    @cached_property
    def segment(self) -> Places:
        """The segment of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def places(self) -> Places:
        """The places of the rows, and after them."""
        return np.arange(len(self.segment) + 1)

    @cached_property
    def weight(self) -> Floats:
        """The weight of each row."""
        return np.diff(self.sums)

    @cached_property
    def square(self) -> Floats:
        """The squared weight of each row."""
        return np.diff(self.squares)

    @cached_property
    def total(self) -> Floats:
        """The weight of each segment."""
        return np.diff(self.sums[self.starts])

    @property
    def square_total(self) -> Floats:
        """The squared weights of each segment."""
        return np.diff(self.squares[self.starts])

    def summed(self, values: Floats) -> Floats:
        """Return the sum of values of the rows of each segment."""
        found = np.zeros(len(self.starts) - 1)
        has_rows = np.diff(self.starts) > 0
        found[has_rows] = np.add.reduceat(values, self.starts[:-1][has_rows]) if len(values) else 0
        return found


@dataclass(frozen=True)
class SegmentRows:
    """The rows of a model by class, and how many segments they have."""

    positives: RowsOfClass
    negatives: RowsOfClass
    segments: int
    measure: str
    odds: float | None

    @classmethod
    def of(cls, rows: pl.DataFrame, measure: str, odds: float | None) -> SegmentRows:
        names = rows["segment"].unique().sort()
        number = pl.col("segment").replace_strict(names, range(len(names)), return_dtype=pl.UInt32)
        numbered = rows.with_columns(segment=number)
        dtype = _labels_of(len(names))
        positives, negatives = (
            RowsOfClass.of(numbered.filter(positive=v), dtype) for v in (True, False)
        )
        return cls(positives, negatives, len(names), measure, odds)

    def only(
        self, positives: npt.NDArray[np.bool_], negatives: npt.NDArray[np.bool_]
    ) -> SegmentRows:
        """Return some of the rows of each class."""
        kept = self.positives.only(positives), self.negatives.only(negatives)
        return replace(self, positives=kept[0], negatives=kept[1])

    def split(self, segments: int) -> SegmentRows:
        """Return the same rows in so many segments."""
        return replace(self, segments=segments)

    @cached_property
    def starts_of_ties(self) -> Integers:
        """The number of the first tie of each segment, if every segment had all ties."""
        ties = 1 + max(int(one.tie.max(initial=0)) for one in self._classes)
        return np.arange(self.segments, dtype=np.int64) * ties

    @property
    def _classes(self) -> tuple[RowsOfClass, RowsOfClass]:
        return self.positives, self.negatives

    @cached_property
    def has_ties(self) -> bool:
        """Whether any two positives share their score."""
        return bool(np.any(np.diff(self.positives.tie) == 0))

    @cached_property
    def labels(self) -> tuple[Labels, Labels]:
        """The segments of the positives and of the negatives, each from the lowest."""
        positives, negatives = (np.sort(one.segment) for one in self._classes)
        return positives, negatives

    @cached_property
    def seed(self) -> int:
        """A number of these rows, in whatever order they came.

        The segments that a permutation gives to the ranks of all rows are much alike for all data
        of the same sizes: with one seed for all, the level would be that of a single sample of
        null distributions.
        """
        return crc32(self.positives.tie.tobytes(), crc32(self.labels[0].tobytes()))

    def drawn(self, draws: Sequence[int]) -> _Spreads:
        """Return how random segments differ; each draw has its own seed, whatever the thread."""
        rows = sum(len(one.tie) for one in self._classes)
        size = max(1, _ROWS_AT_ONCE // rows)
        blocks = [draws[first : first + size] for first in range(0, len(draws), size)]
        with np.errstate(all="ignore"):
            return _joined([self._together(block) for block in blocks])

    def _together(self, draws: Sequence[int]) -> _Spreads:
        """Return the same of a few draws, as segments of rows that are repeated."""
        randoms = (np.random.default_rng([self.seed, draw]) for draw in draws)
        found = [self.shuffled(random) for random in randoms]
        segments, times = self.segments * len(draws), len(draws)
        offsets = np.arange(0, segments, self.segments, dtype=_labels_of(segments))[:, None]
        positives, negatives = (
            np.ravel(np.stack(labels) + offsets) for labels in zip(*found, strict=True)
        )
        every = SegmentRows(
            self.positives.repeated(times),
            self.negatives.repeated(times),
            segments,
            self.measure,
            self.odds,
        )
        return every.spread(positives, negatives, draws=times)

    def shuffled(self, random: np.random.Generator) -> tuple[Labels, Labels]:
        """Return random segments of the positives and of the negatives."""
        if self.odds is not None:
            positives, negatives = map(random.permutation, self.labels)
            return positives, negatives
        every = random.permutation(np.concatenate(self.labels))
        first = len(self.labels[0])
        return every[:first], every[first:]

    def spread(self, positives: Labels, negatives: Labels, draws: int = 1) -> _Spreads:
        """Return how the segments of each draw differ, given the segment of each row."""
        logit, variance, known = (
            one.reshape(draws, -1) for one in self._logits(positives, negatives)
        )
        weight = np.where(known, 1 / variance, 0.0)
        logit = np.where(known, logit, 0.0)
        mean = np.sum(weight * logit, axis=1) / np.sum(weight, axis=1)
        return _Spreads(
            q=np.sum(weight * (logit - mean[:, None]) ** 2, axis=1),
            degrees=known.sum(axis=1) - 1,
            mean=mean,
            lowest=np.where(known, logit, np.inf).min(axis=1),
            highest=np.where(known, logit, -np.inf).max(axis=1),
        )

    def _logits(
        self, positives: Labels, negatives: Labels
    ) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Return the logits of the areas, their variances, and which have a standard error.

        They are those of the measure's influences.
        """
        area, shortfall, variance, effective = self.areas(positives, negatives)
        scaled = variance / (area * shortfall) ** 2
        known = (area > 0) & (shortfall > 0) & (np.rint(effective) > 1)
        known &= scaled > ROUNDING_OF_VARIANCE
        return np.log(area / shortfall), scaled, known

    def areas(self, positives: Labels, negatives: Labels) -> tuple[Floats, ...]:
        """Return what `areas_of` does, given the segment of each row."""
        pos = self.positives.grouped(positives, self.segments)
        neg = self.negatives.grouped(negatives, self.segments)
        return self.areas_of(pos, neg)

    def areas_of(
        self, pos: _Grouped, neg: _Grouped, above: Places | None = None
    ) -> tuple[Floats, ...]:
        """Return the area of each segment, 1 minus it, its variance, and how many rows it rests on.

        Those are effective rows: positives, or for the ROC curve those of the scarcer class.
        ``above`` is the number of negatives down to each positive among all by segment, if that is
        known.
        """
        if self.measure == ROC_AUC:
            return self._roc_areas(pos, neg)
        return self._average_precisions(pos, neg, above)

    def _average_precisions(
        self, pos: _Grouped, neg: _Grouped, above: Places | None
    ) -> tuple[Floats, ...]:
        """Return the areas, 1 minus them, their variances, and the effective positives."""
        steps = self._steps(pos, neg, above)
        total, n = pos.total, neg.total
        scale = np.ones(self.segments) if self.odds is None else self.odds * total / n
        tp, fp = steps.tp, steps.fp * scale[pos.segment]
        retrieved = self.positives.retrieved[pos.order]
        precision, error, rate = (
            np.where(retrieved, found / (tp + fp), never)
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
        effective = total**2 / pos.square_total
        variance = squares / total**2 * effective / (effective - 1)
        return area, shortfall, variance, effective

    def _roc_areas(self, pos: _Grouped, neg: _Grouped) -> tuple[Floats, ...]:
        """Return the areas, 1 minus them, their variances, and the effective rows of a class."""
        of_pos = self.starts_of_ties[pos.segment] + self.positives.tie[pos.order]
        of_neg = self.starts_of_ties[neg.segment] + self.negatives.tie[neg.order]
        missed = _share_above(of_pos, of_neg, pos, neg)
        passed = _share_above(of_neg, of_pos, neg, pos)
        area, shortfall = (pos.summed(pos.weight * x) / pos.total for x in (1 - missed, missed))
        variance, numbers = np.zeros(self.segments), []
        for own, placement in ((pos, 1 - missed), (neg, passed)):
            number = own.total**2 / own.square_total
            squares = own.summed(own.square * (placement - area[own.segment]) ** 2)
            variance += squares / own.total**2 * number / (number - 1)
            numbers.append(number)
        return area, shortfall, variance, np.minimum(*numbers)

    def _steps(self, pos: _Grouped, neg: _Grouped, above: Places | None) -> _Steps:
        """Return what is at the score of each positive of the segments."""
        first, last = pos.places[:-1], pos.places[1:]
        if self.has_ties or above is None:
            places = self.starts_of_ties[pos.segment] + self.positives.tie[pos.order]
        if self.has_ties:
            first, last = (np.searchsorted(places, places, side) for side in ("left", "right"))
        if above is None:
            of_negatives = self.starts_of_ties[neg.segment] + self.negatives.tie[neg.order]
            above = np.searchsorted(of_negatives, places, side="right")
        before = np.empty_like(above)
        before[1:] = above[:-1]
        opens = pos.starts[:-1][np.diff(pos.starts) > 0]
        before[opens] = neg.starts[pos.segment[opens]]
        ends = np.copy(neg.starts[:-1])
        ends[pos.segment] = above  # of a segment's positives the last one is written last
        return _Steps(
            tp=pos.sums[last] - pos.sums[pos.starts[pos.segment]],
            fp=neg.sums[above] - neg.sums[neg.starts[pos.segment]],
            passed=neg.squares[above] - neg.squares[before],
            left=neg.squares[neg.starts[1:]] - neg.squares[ends],
            first=first,
            ends=pos.starts[pos.segment + 1],
        )


@dataclass(frozen=True)
class _Steps:
    """What is at the score of each positive, by segment.

    ``passed`` are the squared weights of the negatives since the positive before, and ``left``
    those of the negatives below all positives of a segment; ``first`` is the first positive of the
    same score, and ``ends`` where the segment ends.
    """

    tp: Floats
    fp: Floats
    passed: Floats
    left: Floats
    first: Places
    ends: Places

    def from_here_on(self, values: Floats) -> Floats:
        """Return the sum over the positives at or below the score of each, in its segment."""
        added = _summed(values)
        found: Floats = added[self.ends] - added[self.first]
        return found


def _share_above(places: Places, of_others: Places, own: _Grouped, others: _Grouped) -> Floats:
    """Return the share of the rows of the other class above each row, with ties as one half."""
    ends = (others.sums[np.searchsorted(of_others, places, side)] for side in ("left", "right"))
    before = others.sums[others.starts[own.segment]]
    found: Floats = (sum(ends) / 2 - before) / others.total[own.segment]
    return found


def _labels_of(segments: int) -> npt.DTypeLike:
    """Return the dtype of the numbers of segments; 16 bits are sorted fastest."""
    return np.uint16 if segments <= 2**16 else np.uint32


def _summed(values: Floats) -> Floats:
    """Return the sums of the first values, from none to all."""
    return np.concatenate([np.zeros(1), np.cumsum(values)])
