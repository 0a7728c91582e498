"""A segment that does not fit in memory: its exact counts, one range of scores after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import polars as pl

import frame_prc
from frame_prc._formulas import exact_sum, step_area
from frame_prc._lazy import named
from frame_prc.cli.dates import names
from frame_prc.cli.options import flag
from frame_prc.exceptions import OptionError

_RANGES_OF_FULL_SIZE = 2  # ranges of scores are not quite even
_SAME = ("truth", "score", "by", "weight", "pos_label", "missing", "pos", "neg", "ascending")
# Parameters that the counts of a segment answer, range by range.
_IN_RANGES: dict[str, tuple[str, ...]] = {"average_precision": (), "curve": ("start",)}


@dataclass(frozen=True)
class Segment:
    """A segment of a verb's input, the number of its rows, and how many fit in memory."""

    verb: str
    parameters: Mapping[str, Any]
    rows: pl.LazyFrame
    size: int
    most: int

    @property
    def ascending(self) -> bool:
        """Whether a lower score means more likely positive."""
        return bool(self.parameters["ascending"])

    def not_default(self) -> list[str]:
        """Return the verb's own parameters that are given."""
        defaults = signature(getattr(frame_prc, self.verb)).parameters
        return [
            name
            for name, value in self.parameters.items()
            if name not in (*_SAME, "model", "pos_squares", "neg_squares")
            and value is not None
            and value != defaults[name].default
        ]

    def of_counts(self) -> dict[str, Any]:
        """Return the parameters that evaluate the counts of this segment."""
        several = not isinstance(self.parameters["score"], (str, pl.Expr))
        squares = self._squares()
        roles = {
            "score": "threshold",
            "pos": "pos",
            "neg": "neg",
            "by": names(self.parameters["by"] or ()) or None,
            "model": "model" if several or self.parameters["model"] is not None else None,
            "missing": "raise",
            **({"pos_squares": "pos_squares", "neg_squares": "neg_squares"} if squares else {}),
        }
        return {
            **self.parameters,
            **dict.fromkeys(("truth", "pos_label", "weight", "cluster") & self.parameters.keys()),
            **roles,
        }

    def _squares(self) -> bool:
        """Whether an interval needs the squared weights."""
        weighted = self.parameters.get("weight") or self.parameters.get("pos_squares")
        return weighted is not None and "pos_squares" in self.parameters

    def counts(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the exact counts of some of its rows."""
        known = signature(frame_prc.counts).parameters
        asked = {name: value for name, value in self.parameters.items() if name in known}
        if self.verb != "counts":
            asked = {**asked, "squares": self._squares()}
        return frame_prc.counts(rows, **asked)


def pieces_of_large(segment: Segment, folder: Path) -> Iterator[Path]:
    """Yield the files of the result of a segment, in order."""
    folder.mkdir()
    _check(segment)
    ranges = _Ranges.written(segment, folder)
    if segment.verb == "counts":
        yield from ranges.paths
    elif sum(ranges.heights) <= segment.most:
        path = folder / "result.parquet"
        counts = pl.scan_parquet(ranges.paths, glob=False)
        getattr(frame_prc, segment.verb)(counts, **segment.of_counts()).sink_parquet(path)
        yield path
    else:
        _check_in_ranges(segment)
        by_ranges = {"average_precision": _average_precision, "curve": _curve}[segment.verb]
        yield from by_ranges(segment, ranges, folder)


def _check(segment: Segment) -> None:
    """Refuse what counts do not hold: the rows that were dropped, and clusters."""
    given = [] if segment.parameters["missing"] == "raise" else ["missing"]
    given += [name for name in ("cluster",) if segment.parameters.get(name) is not None]
    if segment.verb == "counts":
        given += [name for name in ("thresholds",) if segment.parameters[name] is not None]
    if given:
        raise _too_large(segment, f"{flag(given[0])} needs all rows of a segment at once")


def _check_in_ranges(segment: Segment) -> None:
    if segment.verb not in _IN_RANGES:
        raise _too_large(segment, "this command needs all scores of a segment at once")
    others = [name for name in segment.not_default() if name not in _IN_RANGES[segment.verb]]
    if others:
        raise _too_large(segment, f"{flag(others[0])} needs all scores of a segment at once")


def _too_large(segment: Segment, reason: str) -> OptionError:
    return OptionError(
        f"memory= is too little for a segment of {segment.size:,} rows: {reason}",
        f"memory for {segment.size:,} rows, or --memory with no more than about "
        f"{segment.most:,} rows in a segment",
        "--thresholds 1000 bins the scores, and needs no --memory",
    )


@dataclass(frozen=True)
class _Ranges:
    """The counts in ranges of scores, in the order of the curve."""

    paths: list[Path]
    heights: list[int]
    ends: list[tuple[pl.DataFrame, pl.DataFrame]]  # the first and the last row
    sums: list[tuple[float, float]]  # positives and negatives

    @classmethod
    def written(cls, segment: Segment, folder: Path) -> _Ranges:
        """Count one range of scores after the other, each written to a file."""
        found = cls([], [], [], [])
        for number, within in enumerate(_filters(segment)):
            path = folder / f"counts_{number}.parquet"
            segment.counts(segment.rows.filter(within)).sink_parquet(path)
            counts = pl.read_parquet(path)
            if counts.height:
                found.paths.append(path)
                found.heights.append(counts.height)
                found.ends.append((counts.head(1), counts.tail(1)))
                pos, neg = counts.select(pl.col("pos", "neg").sum()).row(0)
                found.sums.append((pos, neg))
        return found

    def before(self, number: int) -> tuple[float, float]:
        """Return the positives and the negatives before a range."""
        return _added(self.sums[:number])

    def after(self, number: int) -> tuple[float, float]:
        """Return the positives and the negatives after a range."""
        return _added(self.sums[number + 1 :])


def _added(sums: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(pos for pos, _ in sums), sum(neg for _, neg in sums)


def _filters(segment: Segment) -> list[pl.Expr]:
    """Return conditions on the score, each of which holds for a part that fits in memory."""
    [score] = _scores(segment.parameters["score"])
    number = max(2, ceil(segment.size / segment.most) * _RANGES_OF_FULL_SIZE)
    column = named(score) if isinstance(score, str) else score
    edges = frame_prc.quantile_thresholds(
        segment.rows, column, number, ascending=segment.ascending
    )[1:]
    if not edges:
        return [pl.lit(value=True)]
    between = [(column >= low) & (column < high) for low, high in pairwise(edges)]
    ascending = [column < edges[0], *between, column >= edges[-1]]
    return ascending if segment.ascending else ascending[::-1]


def _scores(score: Any) -> list[Any]:
    return list(score.values()) if isinstance(score, dict) else [score]


def _curve(segment: Segment, ranges: _Ranges, folder: Path) -> Iterator[Path]:
    """Yield the curve of each range, between points for all the rows before and after it."""
    for number, path in enumerate(ranges.paths):
        parts, first = [pl.scan_parquet(path, glob=False)], number == 0
        if not first:
            parts.insert(0, _moved(ranges.ends[number - 1][1], ranges.before(number)))
        if number + 1 < len(ranges.paths):
            parts.append(_moved(ranges.ends[number + 1][0], ranges.after(number)))
        asked = segment.of_counts()
        start = asked["start"] if first else None
        points = frame_prc.curve(pl.concat(parts), **{**asked, "start": start})
        n_points = ranges.heights[number] + (first and start is not None)
        result = folder / f"curve_{number}.parquet"
        points.slice(0 if first else 1, n_points).sink_parquet(result)
        yield result


def _moved(row: pl.DataFrame, sums: tuple[float, float]) -> pl.LazyFrame:
    """Return a row of counts with all the positives and negatives on its side."""
    amounts = {name: pl.lit(amount) for name, amount in zip(("pos", "neg"), sums, strict=True)}
    return row.lazy().with_columns(
        amount.cast(row.schema[name]).alias(name) for name, amount in amounts.items()
    )


def _average_precision(segment: Segment, ranges: _Ranges, folder: Path) -> Iterator[Path]:
    """Yield the average precision: the sum of what the steps of each range add to it."""
    positives = ranges.after(-1)[0]
    area = sum(
        _added_area(path, *ranges.before(number), positives)
        for number, path in enumerate(ranges.paths)
    )
    pooled = _moved(ranges.ends[0][0], ranges.after(-1))
    asked = {**segment.of_counts(), "pos_squares": None, "neg_squares": None}
    table = frame_prc.average_precision(pooled, **asked).with_columns(
        pl.when(pl.col("average_precision").is_not_null())
        .then(pl.lit(area))
        .alias("average_precision")
    )
    path = folder / "result.parquet"
    table.sink_parquet(path)
    yield path


def _added_area(path: Path, tp: float, fp: float, positives: float) -> float:
    counts = pl.scan_parquet(path, glob=False)
    pos, neg = pl.col("pos"), pl.col("neg")
    step = step_area(pos, tp + pos.cum_sum(), fp + neg.cum_sum(), pl.lit(positives))
    area: float = counts.select(exact_sum(step)).collect().item()
    return area
