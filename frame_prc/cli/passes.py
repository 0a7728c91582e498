"""Exact results for more rows than fit in ``--memory``, some of the segments in each pass.

The rows are read three times: to find the sizes of the segments, to check them, and to write them
to a scratch folder, in parts of whole segments that fit in memory. The parts are in the order of
the result, so the results of the parts are the result, one after the other. A segment that does not
fit itself is taken one range of scores after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from math import ceil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import polars as pl

import frame_prc
from frame_prc._formulas import exact_sum, step_area
from frame_prc._lazy import aggregated, concat, key_names, left_join, named
from frame_prc._request.roles import names_of
from frame_prc.cli.calls import Call, counted
from frame_prc.cli.errors import flag
from frame_prc.cli.files import Source
from frame_prc.cli.output import naming
from frame_prc.cli.reading import listed, reading
from frame_prc.cli.work import Progress
from frame_prc.evaluation.roles import NAMES
from frame_prc.exceptions import OptionError

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MGT])(I?)B", re.IGNORECASE)
_LARGE = {"M": 2, "G": 3, "T": 4}  # powers of 1000, or of 1024 for MiB
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
_COLUMNS = {*NAMES} - {"pos_label", "missing", "ascending"}  # roles that are columns
_BIN_ENDS = ("below", "above")
_PART = "part of frame_prc"
_RANGES_OF_FULL_SIZE = 2  # ranges of scores are not quite even
_POS, _NEG = pl.col("pos"), pl.col("neg")
# The verbs that counts answer range by range, with these parameters.
_IN_RANGES = {"average_precision": (), "curve": ("start",)}


# --- what fits, and what can be done in passes ---------------------------------------------------


def budget(text: str, verb: str) -> int:
    """Return a number of bytes from its text; refuse a command that needs all rows at once."""
    bytes_at_once = size(text)
    if verb not in _COMPUTED:
        raise OptionError(
            "memory= is not available for this command",
            "ap, counts, curve, points or summary",
            "counts --memory writes counts that fit in memory, if scores repeat; pass them with "
            "-s threshold --pos pos --neg neg",
        )
    return bytes_at_once


def size(text: str) -> int:
    """Return a number of bytes from its text."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise OptionError(f"memory={text!r} is not a size", "a size such as 500MB, 2GB or 1.5GiB")
    number, unit, binary = found.groups()
    amount = int(float(number) * (1024 if binary else 1000) ** _LARGE[unit.upper()])
    if amount < _LEAST:
        raise OptionError(f"memory={text!r} is too little", "500MB or more")
    return amount


def rows_at_once(verb: str, budget: int, schema: Mapping[str, pl.DataType]) -> int:
    """Return how many rows with these columns a verb can take in this many bytes."""
    fixed = [
        dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean
        for dtype in schema.values()
    ]
    width = sum(8 if is_fixed else _OF_TEXT for is_fixed in fixed)
    return (budget - _OVERHEAD) // (3 * width + _COMPUTED[verb])


def _check(call: Call) -> None:
    """Refuse what needs all segments at once; a summary counts all rows anyway."""
    given = [name for name in ("over", "overall") if call.get(name)]
    if call.get("calibrate") in ("highest", "pooled") and call.verb != "summary":
        given.append("calibrate")
    if given:
        raise OptionError(
            f"memory= is given with {flag(given[0])}, which needs all segments at once",
            "results with a row for each segment",
            "write the counts of each segment, and pass them to a second command",
        )
    if isinstance(call.get("threshold"), pl.DataFrame):
        raise OptionError(
            "memory= is given with a file of thresholds", "numbers, or a column of the rows"
        )


# --- passes ------------------------------------------------------------------------------------


def result(call: Call, budget: int | None, folder: Path | None, progress: Progress) -> pl.LazyFrame:
    """Return the result of a call, in passes if there is a budget that its rows do not fit into."""
    if budget is not None and folder is not None:
        passes = _Passes.planned(call, budget, folder, progress)
        if passes is not None:
            return passes.result()
    if call.verb == "counts":
        return counted(call, progress)
    whole: pl.LazyFrame = call(call.source.rows)
    return whole


@dataclass(frozen=True)
class _Passes:
    """A call, the columns that it reads, its segments in parts, and where these are written.

    ``segments`` are in the order of the result: their keys, number of rows ``n``, and part.
    """

    call: Call
    dtypes: pl.Schema
    segments: pl.DataFrame
    most: int
    folder: Path
    progress: Progress

    @classmethod
    def planned(cls, call: Call, budget: int, folder: Path, progress: Progress) -> _Passes | None:
        """Return what is to be done, or None if all rows fit in memory."""
        _check(call)
        dtypes = call.source.rows.select(map(named, _columns(call))).collect_schema()
        most = rows_at_once(call.verb, budget, dtypes)
        progress.set("finding segments", 0)
        segments = _segments(call)
        if segments["n"].sum() <= most:
            return None
        # The model is the first key. A part has one, since each has a prevalence of its own.
        models = segments.to_series() if call.get("model") is not None else None
        segments = segments.with_columns(pl.Series(_PART, [*_parts(segments["n"], models, most)]))
        # Reading may start again with other dtypes.
        return cls(call, dtypes, segments, most, Path(mkdtemp(dir=folder)), progress)

    def result(self) -> pl.LazyFrame:
        """Return the result, in files of the folder."""
        self.progress.set("checking rows", 0.1)
        prevalences = _prevalences(self.call)
        for number, piece in enumerate(pieces := self.call.source.parts()):
            self.progress.set("dividing rows", 0.2 + 0.4 * number / len(pieces))
            self._divide(piece, self.folder / f"rows_{number}")
        schema = self.call(pl.LazyFrame(schema=self.dtypes)).collect_schema()
        # Thresholds of several models have the common dtype of their scores.
        return concat(
            [pl.scan_parquet(path, glob=False).cast(schema) for path in self._results(prevalences)]
        )

    def _divide(self, piece: Source, folder: Path) -> None:
        """Write rows to a folder for each part, inside a folder."""
        keys = self.call.keys()
        numbered = left_join(
            piece.rows.with_columns(keys),
            self.segments.lazy().drop("n"),
            key_names(len(keys)),
            in_order=False,
        ).select(*map(named, self.dtypes), _PART)
        by_part = pl.PartitionBy(
            folder, key=_PART, include_key=False, approximate_bytes_per_file=None
        )
        folder.mkdir()
        with reading(piece), naming(str(self.folder)):
            numbered.sink_parquet(by_part, compression="lz4", mkdir=True)

    def _results(self, prevalences: Mapping[Any, float]) -> Iterator[Path]:
        """Yield the files of the results, in order."""
        parts = self.segments.group_by(_PART, maintain_order=True)
        first_key = self.segments.columns[0]
        amounts = parts.agg(pl.sum("n"), pl.first(first_key).alias("key")).rows()
        steps = [(model, *part) for model in _models(self.call) for part in amounts]
        for number, (model, part, size, key) in enumerate(steps):
            text = f"part {number + 1} of {len(steps)}"
            self.progress.set(text, 0.6 + 0.4 * number / len(steps))
            is_long = self.call.get("model") is not None
            call = _of_model(self.call, model, prevalences.get(key if is_long else model))
            paths = sorted(self.folder.glob(f"rows_*/*={part}/*.parquet"))
            rows = pl.scan_parquet(paths, schema=self.dtypes, hive_partitioning=False, glob=False)
            segment = _Segment(call, rows, size, self.most)
            with naming(str(self.folder)):
                yield from segment.results(self.folder / f"result_{number}")


def _columns(call: Call) -> list[str]:
    """Return the columns that the verb reads, in their order."""
    # An unknown name is an error of the verb, which knows the similar ones.
    call(pl.LazyFrame(schema=call.source.schema)).collect_schema()
    held = call.get("threshold")
    ends = _BIN_ENDS if call.get("pos") is not None else ()
    given = [*map(call.get, _COLUMNS), held if isinstance(held, str) else None]
    wanted = names_of([item for value in given for item in listed(value)] + [*ends])
    return [name for name in call.source.schema if not wanted or name in wanted]


def _segments(call: Call) -> pl.DataFrame:
    """Return the segments in the order of the result, and their numbers of rows."""
    keys = call.keys()
    names = key_names(len(keys))
    rows = call.source.rows.select(keys or pl.all())
    counts = aggregated(rows, names, n=pl.len().cast(pl.Int64))
    return (counts.sort(names) if names else counts).collect(engine="streaming")


def _parts(sizes: pl.Series, models: pl.Series | None, most: int) -> Iterator[int]:
    """Yield the number of the part of each segment; one with more rows has a part of its own."""
    part = filled = 0
    # Sorted by the model, whose segments begin where it is new.
    begins = [False] * len(sizes) if models is None else models.is_first_distinct()
    for size, is_new in zip(sizes, begins, strict=True):
        if filled and (is_new or filled + size > most):
            part, filled = part + 1, 0
        filled += size
        yield part


def _prevalences(call: Call) -> dict[Any, float]:
    """Return the prevalence that a summary of all segments of each model is calibrated to.

    Invalid data raise an error here, whatever the verb.
    """
    lowest = float("inf") if call.get("ascending") else float("-inf")
    totals = call.counts(call.source.rows, thresholds=[lowest]).collect(engine="streaming")
    if call.verb != "summary" or isinstance(call.get("calibrate"), float):
        return {}
    of_counts = call.of_counts().but(details=True, missing=call.get("missing"))
    table = of_counts(totals.lazy()).collect()
    model = pl.col("model") if "model" in table.columns else pl.lit(None)
    found = table.select(model, pl.col("reference_prevalence")).drop_nulls("reference_prevalence")
    return dict(found.rows())


def _models(call: Call) -> list[str | None]:
    """Return the names of models in columns of their own, in the order of the result."""
    score = call.get("score")
    return [None] if isinstance(score, str) else [*sorted(score)]


def _of_model(call: Call, model: str | None, prevalence: float | None) -> Call:
    """Return the call for one model, and for a part in which a label may not occur."""
    call, score = call.for_a_part(), call.get("score")
    if model is not None:
        call = call.but(score={model: score[model] if isinstance(score, dict) else model})
    return call if prevalence is None else call.but(calibrate=prevalence)


# --- one segment after the other ------------------------------------------------------------------


@dataclass(frozen=True)
class _Segment:
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
