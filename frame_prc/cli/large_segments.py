"""The rows of one pass; of a segment that does not fit, one range of scores after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from math import ceil
from pathlib import Path

import polars as pl

import frame_prc
from frame_prc._formulas import exact_sum, step_area
from frame_prc._lazy import named
from frame_prc.cli.calls import Call
from frame_prc.cli.errors import flag
from frame_prc.evaluation.roles import NAMES
from frame_prc.exceptions import OptionError

_RANGES_OF_FULL_SIZE = 2  # ranges of scores are not quite even
_POS, _NEG = pl.col("pos"), pl.col("neg")
# The verbs that counts answer range by range, with these parameters.
_IN_RANGES = {"average_precision": (), "curve": ("start",)}


@dataclass(frozen=True)
class Segment:
    """A call on the rows of a few segments, or of one, their number, and how many fit in memory."""

    call: Call
    rows: pl.LazyFrame
    size: int
    most: int

    def results(self, folder: Path) -> Iterator[Path]:
        """Yield the files of the result, in order."""
        folder.mkdir()
        if self.size <= self.most:
            yield _written(self.call(self.rows), folder)
            return
        self._check()
        paths = [*self._counted(folder)]
        counts, of_counts = pl.scan_parquet(paths, glob=False), self.call.of_counts()
        if self.call.verb == "counts":
            yield from paths
        elif _height(counts) <= self.most:
            yield _written(of_counts(counts), folder)
        else:
            self._check_in_ranges()
            if self.call.verb == "curve":
                yield from _curve(of_counts, paths, folder)
            else:
                yield _written(_average_precision(of_counts, counts), folder)

    def _check(self) -> None:
        """Refuse what counts do not hold: the rows that were dropped, and clusters."""
        given = [] if self.call.get("missing") == "raise" else ["missing"]
        given += [] if self.call.get("cluster") is None else ["cluster"]
        if self.call.verb == "counts" and self.call.get("thresholds") is not None:
            given.append("thresholds")
        if given:
            raise self._too_large(f"{flag(given[0])} needs all rows of a segment at once")

    def _check_in_ranges(self) -> None:
        verb = self.call.verb
        if verb not in _IN_RANGES:
            raise self._too_large("this command needs all scores of a segment at once")
        known = signature(getattr(frame_prc, verb)).parameters
        for name, value in self.call.parameters.items():
            is_given = value is not None and value != known[name].default
            if name not in (*NAMES, *_IN_RANGES[verb]) and is_given:
                raise self._too_large(f"{flag(name)} needs all scores of a segment at once")

    def _too_large(self, reason: str) -> OptionError:
        return OptionError(
            f"memory= is too little for a segment of {self.size:,} rows: {reason}",
            f"memory for {self.size:,} rows, or --memory with no more than about "
            f"{self.most:,} rows in a segment",
            "--thresholds 1000 bins the scores, and needs no --memory",
        )

    def _counted(self, folder: Path) -> Iterator[Path]:
        """Yield the files of the counts, in the order of the curve."""
        for number, within in enumerate(self._ranges()):
            path = folder / f"counts_{number}.parquet"
            self.call.counts(self.rows.filter(within)).sink_parquet(path)
            if _height(pl.scan_parquet(path)):
                yield path

    def _ranges(self) -> Sequence[pl.Expr]:
        """Return conditions on the score, each of which holds for a part that fits in memory."""
        score, ascending = self.call.get("score"), bool(self.call.get("ascending"))
        [score] = score.values() if isinstance(score, dict) else [score]
        column = named(score) if isinstance(score, str) else score
        number = max(2, ceil(self.size / self.most) * _RANGES_OF_FULL_SIZE)
        edges = frame_prc.quantile_thresholds(self.rows, column, number, ascending=ascending)[1:]
        if not edges:
            return [pl.lit(value=True)]
        between = [(column >= low) & (column < high) for low, high in pairwise(edges)]
        ranges = [column < edges[0], *between, column >= edges[-1]]
        return ranges if ascending else ranges[::-1]


def _height(rows: pl.LazyFrame) -> int:
    height: int = rows.select(pl.len()).collect().item()
    return height


def _written(table: pl.LazyFrame, folder: Path) -> Path:
    path = folder / "result.parquet"
    table.sink_parquet(path)
    return path


def _average_precision(call: Call, counts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the average precision: the sum of what the steps add to it."""
    totals = counts.select(_POS.sum(), _NEG.sum()).collect(engine="streaming")
    step = step_area(_POS, _POS.cum_sum(), _NEG.cum_sum(), pl.lit(totals["pos"].item()))
    area = counts.select(exact_sum(step)).collect(engine="streaming").item()
    pooled = _moved(counts.head(1), totals)
    table: pl.LazyFrame = call.but(pos_squares=None, neg_squares=None)(pooled)
    name = "average_precision"
    return table.with_columns(pl.when(pl.col(name).is_not_null()).then(area).alias(name))


def _curve(call: Call, paths: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Yield the curve of each range, between points for all the rows before and after it."""
    ranges = [pl.scan_parquet(path, glob=False) for path in paths]
    sums = pl.concat([counts.select(_POS.sum(), _NEG.sum()).collect() for counts in ranges])
    for number, counts in enumerate(ranges):
        before, after = sums[:number], sums[number + 1 :]
        first = [_moved(ranges[number - 1].tail(1), before.sum())] if number else []
        last = [_moved(ranges[number + 1].head(1), after.sum())] if after.height else []
        of_range = call.but(start=None) if number else call
        points = of_range(pl.concat([*first, counts, *last]))
        has_start = of_range.get("start") is not None
        path = folder / f"curve_{number}.parquet"
        points.slice(len(first), _height(counts) + has_start).sink_parquet(path)
        yield path


def _moved(row: pl.LazyFrame, sums: pl.DataFrame) -> pl.LazyFrame:
    """Return a row of counts with all the positives and negatives on its side."""
    one = row.collect()
    amounts = sums.select(pl.col(name).cast(one.schema[name]) for name in sums.columns)
    return one.with_columns(amounts).lazy()
