"""Segments that nobody named, that differ from others among all that some keys make; needs NumPy.

A scan tells where to look. What is found is compared as by any other verb, and its p-value put
beside the largest that chance shows.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, reduce
from itertools import chain, pairwise
from math import copysign, erf, inf, sqrt
from operator import add, and_
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from frame_prc._curves.calibration import REFERENCE, at_prevalence_of
from frame_prc._execution import on_each_thread
from frame_prc._inference.resamples import Floats
from frame_prc._inference.row_influence import numbered
from frame_prc._inference.scan import Grouping, Scan
from frame_prc._inference.segment_permutations import RowsOfClass, SegmentRows
from frame_prc._ranking.ranking import rank
from frame_prc._ranking.sorted_rows import looked_up
from frame_prc._request.specs import Comparison, Measured
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table, details, measure_and_sizes
from frame_prc._tables.compare import Differences
from frame_prc.exceptions import DataError

_LOG = logging.getLogger("frame_prc")
_NUMBERS = (
    "value", *details("others"), "difference", "ci_low", "ci_high", "p_adjusted",
    *details(REFERENCE),
)  # fmt: skip


@dataclass(frozen=True)
class Finds(Table):
    """One row per find, the clearest first: a segment of up to ``depth`` keys.

    Many numbers are cut into ``quantiles``; a segment, and what it leaves, has at least so many
    positives, and negatives, as ``fewest``.
    """

    measured: Measured
    level: float
    depth: int
    quantiles: int
    fewest: int
    adds_dropped = True

    @property
    def outputs(self) -> Sequence[str]:
        of_segment = ("segment", *measure_and_sizes(is_usual=self.measured.is_usual))
        return (*of_segment, *_NUMBERS, *details("n_looked_at"), "status")

    def keyed(self, rows: Rows) -> Rows:
        return rows.pooled()

    def of(self, rows: Rows) -> pl.LazyFrame:
        rows.check_no_strata("find_segments")
        amount = pl.Float64() if rows.columns.weighted else pl.Int64()
        schema = pl.Schema(
            {"segment": pl.String(), "measure": pl.String(), "n": amount, "n_pos": amount}
            | dict.fromkeys(_NUMBERS, pl.Float64())
            | {"n_looked_at": pl.Int64(), "status": pl.String()}
        )

        def found(source: pl.DataFrame) -> pl.DataFrame:
            finds = Search.of(rows.reread(source), self).finds()
            return pl.DataFrame(finds, schema=schema, orient="row")

        return rows.in_python(rows.source, found, schema)


_MOST_LEVELS = 100  # of a column, those with most positives
_MOST_VALUES = 10  # different numbers that are levels as they are
_FIRST = 1_000  # values, which mostly tell whether there are more
_MOST_FINDS = 20
_MOVED = 0.05  # of the least distance between cuts, by which rounding may move one
_DIGITS, _MOST_DIGITS = 3, 16  # of the numbers at which a column is cut
_LEAST_P = 1e-300
_ROUNDING, _NEARLY = 1e-9, 1 - 1e-6
_OF_ROW = ("value_a", "value_b", "difference", "ci_low", "ci_high")


class Levels(NamedTuple):
    """The levels of a column: the code of each row, 0 if its level is small, and their texts."""

    codes: pl.Series
    texts: list[str]


class _Candidate(NamedTuple):
    grouping: Grouping
    number: int
    row: dict[str, Any]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [*zip(self.grouping.columns, self.grouping.codes(self.number), strict=True)]

    def p_adjusted(self, highest: Floats) -> float:
        return (1 + int((highest >= abs(self.row["z"])).sum())) / (1 + len(highest))


@dataclass(frozen=True)
class Search:
    """Rows in memory that count, ``used``, with the levels of their keys; and what is asked."""

    rows: Rows
    used: pl.DataFrame
    levels: Sequence[Levels]
    asked: Finds

    @classmethod
    def of(cls, rows: Rows, asked: Finds) -> Search:
        rows.check()
        used = rows.used().collect()
        # By name: finds do not depend on the order in which columns are given.
        by_name = dict(sorted(zip(rows.columns.key_dtypes, rows.keys, strict=True)))
        parts = on_each_thread(
            [*by_name.values()],
            lambda keys: [
                levels_of(used[key], used["truth"], asked.quantiles, asked.fewest) for key in keys
            ],
        )
        return cls(rows, used, [*chain(*parts)], asked)

    def finds(self) -> list[tuple[object, ...]]:
        if not self.used.height:
            return []
        scan, asked = self._scan(), self.asked
        looked_at, left_out, highest = scan.size, scan.n_left_out, scan.highest()
        if not looked_at:
            raise DataError(
                f"no segment has {asked.fewest} positives and {asked.fewest} negatives, and leaves "
                "as many",
                hint="name columns with fewer values, lower min_positives=, or try "
                "measure='roc_auc', which needs fewer negatives",
            )
        calibration = self._measured.calibration
        prevalence = None if calibration is None else calibration.prevalence
        allowed = max(int((1 - asked.level) * (len(highest) + 1) + _ROUNDING) - 1, 0)
        limit = float(highest[allowed])
        # At this level all intervals hold at once.
        at = Comparison(erf(limit / sqrt(2)), (), "others", None, self._measured)
        found: list[tuple[object, ...]] = []
        left = pl.repeat(value=True, n=self.used.height, eager=True)
        while len(found) < _MOST_FINDS:
            best = self._differs_most(scan, left, at, limit)
            if best is None:
                break
            inside = reduce(and_, (self.levels[i].codes == code for i, code in best.pairs))
            is_part = (inside & ~left).any()
            text = self._text(best.pairs)
            named = f"rest of {text}" if is_part else text, self._measured.name
            sizes = (best.row[name] for name in ("n", "n_pos", *_OF_ROW))
            of_search = best.p_adjusted(highest), prevalence, looked_at
            found.append((*named, *sizes, *of_search, best.row["status"]))
            left, scan = left & ~inside, scan.without(best.grouping, best.number)
        if left_out:
            _LOG.warning(
                f"besides the {looked_at:,} segments looked at there are {left_out:,} with too few "
                f"negatives for {self._measured.name}; measure='roc_auc' needs fewer"
            )
        if not found:  # a table without rows cannot say so
            closest = self._differs_most(scan, left, at, 0.0)
            _LOG.warning(self._of_none(closest, highest, looked_at))
        return found

    def _of_none(self, closest: _Candidate | None, highest: Floats, looked_at: int) -> str:
        said = f"no segment was found among the {looked_at:,} looked at"
        if closest is None:
            return f"{said}: none has enough rows to be judged"
        moved, p = closest.row["difference"], closest.p_adjusted(highest)
        return f"{said}; {self._text(closest.pairs)} differs most, by {moved:.3f} (p = {p:.2f})"

    def _differs_most(
        self, scan: Scan, left: pl.Series, at: Comparison, limit: float
    ) -> _Candidate | None:
        rows_of: dict[Grouping, dict[int, dict[str, Any]]] = {}
        z = {one: np.nan_to_num(of) for one, of in scan.z.items()}
        while True:
            grouping = max(z, key=lambda one: float(np.abs(z[one]).max()))
            number = int(np.abs(z[grouping]).argmax())
            if abs(z[grouping][number]) <= limit:
                return None
            if grouping in rows_of:
                # Of two segments that are each other's rest the smaller is named.
                near = np.flatnonzero(np.abs(z[grouping]) >= abs(z[grouping][number]) * _NEARLY)
                rows = rows_of[grouping]
                smallest = min(map(int, near), key=lambda place: rows[place]["n_pos"])
                return _Candidate(grouping, smallest, rows[smallest])
            compared = rows_of[grouping] = self._compared(grouping, left, at)
            shown = np.flatnonzero(z[grouping])
            z[grouping] = np.zeros(grouping.size)
            z[grouping][shown] = [compared[place]["z"] for place in map(int, shown)]

    def _compared(
        self, grouping: Grouping, left: pl.Series, comparison: Comparison
    ) -> dict[int, dict[str, Any]]:
        keys = [f"key_{i}" for i in grouping.columns]
        codes = [
            self.levels[i].codes.alias(key) for i, key in zip(grouping.columns, keys, strict=True)
        ]
        table = Differences(comparison).finished(self.rows.with_keys(codes, left))
        found = {}
        for row in table.collect(engine="in-memory").iter_rows(named=True):
            number = int(np.ravel_multi_index([row[key] for key in keys], grouping.levels))
            # What cannot be judged is not named.
            is_known = row["status"] == "ok"
            z = _normal_score(row["p_value"], row["difference"]) if is_known else 0.0
            found[number] = row | {"z": z}
        return found

    def _text(self, pairs: Sequence[tuple[int, int]]) -> str:
        names = sorted(self.rows.columns.key_dtypes)
        return " & ".join(f"{names[i]}{self.levels[i].texts[code - 1]}" for i, code in pairs)

    @cached_property
    def _measured(self) -> Measured:
        """The measure; a calibrated one is at the prevalence of all rows."""
        measured = self.asked.measured
        if measured.calibration is None:
            return measured
        of_all = at_prevalence_of(self.used.lazy(), self.rows.weight)
        return replace(measured, calibration=of_all or measured.calibration)

    def _scan(self) -> Scan:
        used, columns = self.used, self.rows.columns
        ranking = rank(numbered(self.rows.pooled()), numbered=True)
        key = ranking.key
        in_order = ranking.in_order.filter(~key.opens())
        ranked = in_order.select(
            key.row(),
            positive=key.positive(),
            retrieved=~key.unretrieved(),
            tie=key.tie().rle_id(),
        ).collect()
        row, positive = ranked["row"].to_numpy(), ranked["positive"].to_numpy()
        weight = looked_up(used["weight"], ranked["row"]) if columns.weighted else pl.lit(1.0)
        classes = [
            RowsOfClass.of(ranked.with_columns(weight=weight).filter(one))
            for one in (positive, ~positive)
        ]
        unit = None
        if columns.cluster is not None:
            unit = used["cluster"].rank("dense").to_numpy()[row[positive]].astype(np.int64)
        calibration = self._measured.calibration
        odds = None if calibration is None else calibration.odds
        rows = SegmentRows(classes[0], classes[1], 1, self._measured.name, odds)
        codes = np.array([one.codes.to_numpy()[row] for one in self.levels])
        return Scan(rows, codes, positive, unit, self.asked.depth, self.asked.fewest)


def levels_of(values: pl.Series, positive: pl.Series, quantiles: int, fewest: int) -> Levels:
    if values.dtype.is_float():
        values = values.fill_nan(None)
    texts = None
    is_ordered = values.dtype.is_numeric() or values.dtype.is_temporal()
    if is_ordered and any(values[:n].n_unique() > _MOST_VALUES for n in (_FIRST, len(values))):
        values, texts = _cut(values, quantiles)
    frame = pl.DataFrame([values.alias("value"), positive.alias("positive")])
    # Polars counts the rows of two keys faster than it adds up a column by one.
    by_class = frame.group_by("value", "positive").len()
    pos = pl.col("len").filter("positive").sum()
    sizes = by_class.group_by("value").agg(pos=pos, neg=pl.col("len").sum() - pos)
    large = sizes.filter(pl.min_horizontal("pos", "neg") >= fewest)
    levels = large.sort("pos", "value", descending=[True, False]).head(_MOST_LEVELS)
    levels = levels.select("value", code=pl.int_range(1, pl.len() + 1, dtype=pl.UInt8))
    coded = frame.join(levels, on="value", how="left", nulls_equal=True, maintain_order="left")
    shown = [
        f"={_text(value)}" if texts is None or value is None else texts[value]
        for value in levels["value"]
    ]
    return Levels(coded["code"].fill_null(0), shown)


def _cut(values: pl.Series, quantiles: int) -> tuple[pl.Series, list[str]]:
    known = values.drop_nulls().sort()
    ends = known.gather([len(known) * i // quantiles for i in range(1, quantiles)])
    # The lowest value cuts nothing off: where it is frequent, the next one does.
    ends = ends.filter(ends > known[0])
    ends = ends if len(ends) else known.filter(known > known[0]).head(1)
    ends = _rounded(ends.unique().sort(), known)
    if ends.dtype != values.dtype:
        values = values.cast(ends.dtype)
    names = [_text(end) for end in ends]
    between = [f" in [{a}, {b})" for a, b in pairwise(names)]
    is_above = [
        (values >= end).cast(pl.UInt8) for end in (ends[i : i + 1] for i in range(len(ends)))
    ]
    return reduce(add, is_above), [f" < {names[0]}", *between, f" >= {names[-1]}"]


def _rounded(ends: pl.Series, known: pl.Series) -> pl.Series:
    """Return the places of cuts with as few digits as tell them apart, from three on."""
    if not ends.dtype.is_numeric():
        return ends
    numbers = ends.cast(pl.Float64)
    if len(ends) > 1:
        gaps = numbers.diff().drop_nulls().to_list()
    else:  # from the lowest value, and as fine as the middle half of the values is wide
        lowest, low, high = (float(known[len(known) * i // 4]) for i in (0, 1, 3))
        gaps = [high - low or inf, numbers[0] - lowest]
    allowed = _MOVED * min(gaps)
    for digits in range(_DIGITS, _MOST_DIGITS):
        rounded = numbers.round_sig_figs(digits)
        if ((rounded - numbers).abs() <= allowed).all():
            return rounded
    return ends


def _text(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, pl.Series):
        return str(value.to_list())
    if isinstance(value, datetime):
        return str(value).removesuffix(" 00:00:00")
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _normal_score(p_value: float | None, difference: float | None) -> float:
    if p_value is None or difference is None:
        return 0.0
    return copysign(NormalDist().inv_cdf(max(p_value, _LEAST_P) / 2), difference)
