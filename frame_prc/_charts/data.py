"""What a chart shows of its segments: their lines, their counts, and all that is made of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.counts import Counts
from frame_prc._curves.curve import Curve, Extras
from frame_prc._curves.curve_frame import CurveFrame, curve_keys, read_curve
from frame_prc._curves.operating_points import OperatingPoints
from frame_prc._inference.bootstrap import Band
from frame_prc._lazy import key_names, left_join, named
from frame_prc._request.roles import request
from frame_prc._request.specs import MODEL, Comparison, Interval, Keep, Resampling, Start, Target
from frame_prc._rows.columns import resolve
from frame_prc._rows.rows import Rows, read
from frame_prc._tables.average_precision import AveragePrecision
from frame_prc._tables.compare import Differences

# One picture is the same every time it is drawn.
_SEED = 0
_PAIR = 2


@dataclass(frozen=True)
class Lines:
    """The lines that a chart of a frame has: known before anything costly is computed of them.

    ``keys`` are the caller's names of the keys, ``table`` has a row per line with its ``key_0,
    key_1, ...``, and ``evaluated`` takes a level and evaluates the segments, which are in memory.
    """

    keys: list[str]
    table: pl.DataFrame
    evaluated: Callable[[float], Segments]


@dataclass(frozen=True)
class Segments:
    """The segments of a frame, numbered by ``line`` in the order of their keys.

    Parameters
    ----------
    keys
        The caller's names of the keys ``key_0, key_1, ...``; one that tells models is ``model``.
    table
        A row per line: ``line``, the keys, sizes, average precision with its interval, status, and
        the average precision of a random order of the labels.
    given, rows
        The rows as they came, which a bootstrap draws again, and their counts.
    start, error
        How curves open, and how far off they are already.
    """

    keys: list[str]
    table: pl.DataFrame
    given: Rows
    rows: Rows
    start: Start
    error: float | None

    def curves(self, keep: Keep, z: float | None = None) -> pl.DataFrame:
        """Return ``line`` and the columns of a curve, with recall."""
        curve = Curve(self.start, keep, extras=Extras(z=z))
        return self.numbered(curve.finished(self.rows).collect()).drop_nulls("recall")

    def operating_points(self, targets: Sequence[Target]) -> pl.DataFrame:
        """Return ``line`` and the columns of operating points."""
        return self.numbered(OperatingPoints(targets).finished(self.rows).collect())

    def bands(self, recalls: Sequence[float], level: float) -> pl.DataFrame:
        """Return ``line`` and the columns of a band, the same every time."""
        band = Band(recalls, level, Resampling(seed=_SEED))
        bands = band.finished(self.given).collect()
        return self.numbered(_by_place(bands, len(self.keys)))

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return a frame with the number of its line in place of the keys."""
        by = key_names(len(self.keys))
        if not by:
            return frame.with_columns(line=pl.lit(0, self.table.schema["line"]))
        lines = self.table.select("line", *by)
        return left_join(frame, lines, by).drop(by)


def lines_of_rows(rows: Rows, start: Start) -> Lines:
    """Return the lines of rows in memory, under names that no column of a result has."""
    columns = rows.columns
    dtypes = columns.key_dtypes.values()
    keys = dict(zip(key_names(len(dtypes)), dtypes, strict=True))
    numbered = replace(rows, columns=replace(columns, key_dtypes=keys))
    segments = _distinct(rows.source.select(f"by_{i}" for i in range(len(dtypes))))
    if columns.several_models:
        models = pl.DataFrame({"model": list(columns.request.models)})
        segments = models.join(segments, how="cross") if dtypes else models
    names = columns.result_keys
    table = _by_place(segments, len(names))
    return Lines(names, table, lambda level: _of_rows(names, numbered, level, start))


def lines_of_curve(frame: pl.DataFrame) -> Lines:
    """Return the lines of a curve frame."""
    keys = curve_keys(frame.schema)
    segments = _distinct(frame.lazy().select(map(named, keys)))
    table = _by_place(segments, len(keys))
    return Lines(keys, table, lambda level: _of_curve(read_curve(frame.lazy()), level))


def _distinct(keys: pl.LazyFrame) -> pl.DataFrame:
    """Return a row per segment; without keys there is one."""
    if not keys.collect_schema():
        return pl.DataFrame({"all": [None]})
    return keys.group_by(pl.all()).agg().collect()


def _of_rows(keys: list[str], rows: Rows, level: float, start: Start) -> Segments:
    plans = [
        Counts().finished(rows),
        _areas(rows, level),
    ]
    counts, table = (_by_place(frame, len(keys)) for frame in pl.collect_all(plans))
    steps = _read_counts(counts, len(keys))
    return Segments(keys, table.with_row_index("line"), rows, steps, start, None)


def _of_curve(curve: CurveFrame, level: float) -> Segments:
    rows = recounted(curve)
    table = _areas(rows, level).collect()
    return Segments(curve.keys, table.with_row_index("line"), rows, rows, curve.start, curve.error)


def compared(segments: Segments, comparison: Comparison) -> pl.DataFrame:
    """Return a row per segment and pair of models, with ``key_0, ...`` for the keys in ``by``."""
    return Differences(comparison).finished(segments.given).collect()


def _by_place(frame: pl.DataFrame, keys: int) -> pl.DataFrame:
    """Return a frame whose keys are numbered from the first on, which may be the model."""
    return frame.rename(dict(zip(frame.columns, key_names(keys), strict=False)))


def recounted(curve: CurveFrame) -> Rows:
    """Return the counts between the points of a curve as rows, keyed by ``key_0, ...``."""
    return _read_counts(curve.counts, len(curve.keys))


def _read_counts(counts: pl.DataFrame, keys: int) -> Rows:
    asked = request(
        score="threshold", pos="pos", neg="neg", by=key_names(keys) or None, missing="unretrieved"
    )
    lf = counts.lazy()
    return read(lf, resolve(lf, asked, ()), in_memory=True)


def _areas(rows: Rows, level: float) -> pl.LazyFrame:
    """Return the table of average precision, with an interval unless sums of weights tell none."""
    interval = None if rows.columns.lacks_squares else Interval(level)
    return AveragePrecision(interval=interval, chance=True).finished(rows)


def differences(segments: Segments, baseline: str | None) -> pl.DataFrame | None:
    """Return the differences between two models, or of all to one, without intervals."""
    models = models_of(segments.keys, segments.table)
    if len(models) < _PAIR or (baseline is None and len(models) > _PAIR):
        return None
    reference = models[1] if baseline is None else baseline
    by = key_names(len(segments.keys))
    areas = segments.table.select(*by, AVERAGE_PRECISION)
    other = areas.filter(key_0=reference).drop("key_0").rename({AVERAGE_PRECISION: "reference"})
    own = areas.filter(pl.col("key_0") != reference)
    beside = left_join(own, other, by[1:])
    return beside.select(
        *(pl.col(a).alias(b) for a, b in zip(by[1:], by, strict=False)),
        model_a="key_0",
        model_b=pl.lit(reference),
        difference=pl.col(AVERAGE_PRECISION) - pl.col("reference"),
    )


def numbers(table: pl.DataFrame, keys: Sequence[str], name: str) -> pl.Series:
    """Return the number, in their order, of the values that each row has for some keys."""
    if not keys:
        return pl.Series(name, [0] * table.height, dtype=pl.Int64)
    places = table.select(keys).unique().sort(keys).with_row_index(name)
    return left_join(table.select(keys), places, keys)[name].cast(pl.Int64)


def models_of(keys: Sequence[str], table: pl.DataFrame) -> list[str]:
    """Return the models in their order, none where no key tells them."""
    return table["key_0"].unique().sort().to_list() if has_models(keys) else []


def has_models(keys: Sequence[str]) -> bool:
    """Return whether the first key tells models apart."""
    return keys[:1] == [MODEL]
