"""What a report is of: the tables of the other verbs, computed once for the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_prc._charts.data import ChartSource, EvaluatedSegments, source_of_rows
from frame_prc._charts.summary_data import dots_of, split_keys
from frame_prc._charts.theme import MOST_COLOURS
from frame_prc._charts.threshold_rows import spread, with_rates
from frame_prc._lazy import key_names, left_join
from frame_prc._report.shown import Shown, choose
from frame_prc._report.threshold_limits import LIMITS, points_with_limits
from frame_prc._request.options import models_compared, segments_compared
from frame_prc._request.roles import Request
from frame_prc._request.specs import MODEL, Calibration, Interval, Measured
from frame_prc._request.thresholds import Bins
from frame_prc._rows.rows import Rows
from frame_prc._tables.compare import Differences
from frame_prc._tables.heterogeneity import Heterogeneity
from frame_prc._tables.summary import Summary

ADJUST = "holm"

_MOST_POINTS = 20_000  # of all curves
_POINTS = (30, 300)  # of a curve
_MOST_THRESHOLD_ROWS = 24_000
_THRESHOLDS = (40, 200)


@dataclass(frozen=True)
class Options:
    """The options of a report, checked.

    ``calibrate`` is as given, and ``calibration`` what it means.
    """

    level: float
    calibrate: Any
    calibration: Calibration
    baseline: str | None
    title: str | None


@dataclass(frozen=True)
class Evaluation:
    """The tables of a report.

    Segments are numbered in the order of their keys. A table of theirs has a column ``segment``, in
    which null stands for all rows, and ``model`` if there are models.

    Parameters
    ----------
    asked
        The request, of which ``rows`` are the rows.
    models
        The names of the models, in the order given.
    keys
        The caller's names of the keys of segments.
    segments
        A row per segment: ``segment``, its short unique ``name``, and its keys ``key_0, ...``.
    scorecard
        As :func:`frame_prc.summary` with ``overall=True``.
    of_models, differences
        As :func:`frame_prc.compare_models`, for all rows and for each segment; empty if there is
        nothing to compare, or no single rows of models side by side.
    against_others
        Each segment compared with the mean of the others; empty without single rows.
    heterogeneity
        As :func:`frame_prc.heterogeneity`; empty without keys.
    shown
        The segments that have curves, and how they were chosen.
    curves, thresholds
        Points of thinned curves, and counts at the same thresholds in all segments shown.
    """

    asked: Request
    rows: Rows
    options: Options
    source: ChartSource
    models: list[str]
    keys: list[str]
    segments: pl.DataFrame
    scorecard: pl.DataFrame
    of_models: pl.DataFrame
    differences: pl.DataFrame
    against_others: pl.DataFrame
    heterogeneity: pl.DataFrame
    shown: Shown
    curves: pl.DataFrame
    thresholds: pl.DataFrame

    @property
    def cluster(self) -> str | None:
        """The name of the clusters, if any."""
        column = self.rows.columns.cluster
        return None if column is None else column.name


def evaluate(rows: Rows, asked: Request, options: Options) -> Evaluation:
    """Return the tables of a report on rows in memory."""
    keys = list(rows.columns.key_dtypes)
    plain = source_of_rows(rows, "one", options.calibration if keys else None)
    plain.check_count(
        split_keys(plain.keys)[0], MOST_COLOURS, "models", "choose some of the models"
    )
    found = plain.evaluate(options.level)
    named = _Names.of(found, asked)
    scorecard = named.with_segments(
        Summary(Interval(options.level), overall=True, calibration=options.calibration)
        .finished(found.given)
        .collect()
    )
    shown = choose(named.segments, scorecard, named.models)
    lines = _Lines.of(found, named, shown, asked, options.level)
    of_models, differences = _compared(found, named, asked, options)
    return Evaluation(
        asked=asked,
        rows=rows,
        options=options,
        source=replace(plain, evaluate=lambda _: found),
        models=named.models,
        keys=keys,
        segments=named.segments,
        scorecard=scorecard,
        of_models=of_models,
        differences=differences,
        against_others=_against_others(found, named, asked, options),
        heterogeneity=_heterogeneity(found, named, options),
        shown=shown,
        curves=lines.curves(),
        thresholds=lines.thresholds(_best(scorecard), ascending=asked.ascending),
    )


@dataclass(frozen=True)
class _Names:
    """The names of models and segments, and the number of each segment."""

    models: list[str]
    segments: pl.DataFrame
    lines: pl.DataFrame

    @classmethod
    def of(cls, found: EvaluatedSegments, asked: Request) -> _Names:
        """Return the names of what was evaluated."""
        dots = dots_of(found)
        models, own = split_keys(found.keys)
        keys = key_names(len(own))
        values = [found.table[a].alias(b) for a, b in zip(own, keys, strict=True)]
        named = dots.select("segment", "name", *values)
        segments = named.unique("segment", keep="first").sort("segment")
        if models:
            of_lines = _model_names(found.table[models[0]])
            known = list(found.models) or of_lines.unique(maintain_order=True).to_list()
        else:
            known = [_only_model(asked)]
            of_lines = pl.Series(known * dots.height, dtype=pl.String)
        lines = dots.select(found.table["line"], "segment", of_lines.alias("model"))
        return cls(known, segments, lines)

    def with_segments(self, table: pl.DataFrame) -> pl.DataFrame:
        """Replace the keys of a table by the number of the segment, null for all rows."""
        keys = self.segments.columns[2:]
        numbers = self.segments.select("segment", *keys)
        with_model = self.with_model(table)
        if "level" not in table.columns:
            return _first(left_join(with_model, numbers, keys).drop(keys))
        is_segment = pl.col("level") == "segment"
        joined = left_join(with_model, numbers, keys).drop(keys)
        # A null key is a segment too, and rows for all of them have null keys.
        number = pl.when(is_segment).then("segment")
        return _first(joined.with_columns(number.alias("segment")))

    def with_model(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the names of models as text."""
        if MODEL not in table.columns:
            return table.with_columns(pl.lit(self.models[0]).alias(MODEL))
        named = [name for name in (MODEL, "baseline") if name in table.columns]
        return table.with_columns(_model_names(table[name]) for name in named)

    def of_lines(self, points: pl.DataFrame) -> pl.DataFrame:
        """Replace the number of a line by its model and segment."""
        return left_join(points, self.lines, ["line"]).drop("line")


def _first(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table that begins with what identifies its rows."""
    names = [name for name in ("level", MODEL, "segment") if name in table.columns]
    return table.select(*names, pl.exclude(names))


def _model_names(values: pl.Series) -> pl.Series:
    """Return the names of models; those of long data may be of any dtype."""
    return values.cast(pl.String).fill_null("null")


def _only_model(asked: Request) -> str:
    """Return the name of the single score."""
    [score] = asked.models.values()
    name = score if isinstance(score, str) else score.meta.output_name(raise_if_undetermined=False)
    return name or "score"


# --- comparisons ---------------------------------------------------------------------------------


def _compared(
    found: EvaluatedSegments, named: _Names, asked: Request, options: Options
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the differences of models over all rows, and in each segment."""
    columns = found.given.columns
    if columns.aggregated or columns.model is not None or len(asked.models) == 1:
        return pl.DataFrame(), pl.DataFrame()
    asked_for: dict[str, Any] = {"baseline": options.baseline, "adjust": ADJUST}
    # All rows have one prevalence; segments are compared at that of the other tables.
    plain = models_compared(asked, options.level, **asked_for)
    calibrated = models_compared(asked, options.level, calibrate=options.calibrate, **asked_for)
    pooled = Differences(plain).finished(found.given.pooled()).collect()
    by_segment = None
    if columns.key_dtypes:
        by_segment = Differences(calibrated).finished(found.given).collect()
    of_models = named.with_model(pooled)
    if by_segment is None:
        return of_models, pl.DataFrame()
    return of_models, named.with_segments(by_segment)


def _against_others(
    found: EvaluatedSegments, named: _Names, asked: Request, options: Options
) -> pl.DataFrame:
    """Return each segment compared with the mean of the others, each ranked by itself.

    All rows in one list are easier to rank than a segment if scores are higher where positives are
    more frequent.
    """
    columns, count = found.given.columns, named.segments.height
    if columns.aggregated or not columns.key_dtypes or count < 2:  # noqa: PLR2004
        return pl.DataFrame()
    asked_for = segments_compared(
        asked, options.level, "others", calibrate=options.calibrate, adjust=ADJUST
    )
    return named.with_segments(Differences(asked_for).finished(found.given).collect())


def _heterogeneity(found: EvaluatedSegments, named: _Names, options: Options) -> pl.DataFrame:
    columns = found.given.columns
    if not columns.key_dtypes or columns.lacks_squares:
        return pl.DataFrame()
    table = (
        Heterogeneity(Measured("calibrated_average_precision", options.calibration), options.level)
        .finished(found.given)
        .collect()
    )
    return named.with_model(_numbered_ends(table, named))


def _numbered_ends(table: pl.DataFrame, named: _Names) -> pl.DataFrame:
    """Replace the keys of the best and of the worst segment by their numbers."""
    keys = named.segments.columns[2:]
    for end in ("best", "worst"):
        own = {key: f"{end}_{key}" for key in keys}
        numbers = named.segments.select("segment", *keys).rename(own | {"segment": end})
        table = left_join(table, numbers, list(own.values())).drop(own.values())
    is_known = pl.col("n_segments") > 0
    return table.with_columns(pl.when(is_known).then(pl.col("best", "worst")))


# --- curves --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """The segments shown, and all rows if these are not one of them, as lines of pictures."""

    parts: list[tuple[EvaluatedSegments, _Names]]
    shown: Shown
    count: int
    level: float

    @classmethod
    def of(
        cls, found: EvaluatedSegments, named: _Names, shown: Shown, asked: Request, level: float
    ) -> _Lines:
        """Return the lines of what was evaluated."""
        parts = [(found, named)]
        if named.segments.height > 1:
            pooled = source_of_rows(found.given.pooled(), "one").evaluate(level)
            parts.insert(0, (pooled, _Names.of(pooled, asked)))
        segments = len(shown.segments) + len(parts) - 1
        return cls(parts, shown, max(segments * len(named.models), 1), level)

    def curves(self) -> pl.DataFrame:
        """Return the points of thinned curves."""
        most = _within(_MOST_POINTS // self.count, _POINTS)
        columns = ("threshold", "recall", "precision", "precision_error")
        return self._joined([found.curves(most) for found, _ in self.parts], columns)

    def thresholds(self, best: Sequence[float], *, ascending: bool) -> pl.DataFrame:
        """Return exact counts at the same thresholds in all lines, the best ones among them."""
        most = _within(_MOST_THRESHOLD_ROWS // self.count, _THRESHOLDS)
        chosen = spread(self.parts[0][0].finite_scores(), most)
        if not chosen:
            return pl.DataFrame()
        bins = Bins(sorted({*chosen, *best}), ascending=ascending)
        columns = ("threshold", "text", "tp", "fp", "fn", "tn", "precision", "recall", *LIMITS)
        points = self._joined(
            [points_with_limits(found, bins, self.level) for found, _ in self.parts], columns
        )
        return with_rates(points.filter(pl.col("threshold").is_finite()))

    def _joined(self, points: Sequence[pl.DataFrame], columns: Sequence[str]) -> pl.DataFrame:
        """Return the points of all lines; those of all rows have no segment."""
        # As text a threshold has the digits of its own dtype.
        as_text = pl.col("threshold").cast(pl.String).alias("text")
        number = pl.col("threshold").cast(pl.Float64)
        *of_all, (_, named) = self.parts
        by_segment = named.of_lines(points[-1]).filter(pl.col("segment").is_in(self.shown.segments))
        tables = [by_segment]
        for (_, names), found in zip(of_all, points, strict=False):
            rows = names.of_lines(found)
            tables.insert(0, rows.with_columns(segment=pl.lit(None, rows.schema["segment"])))
        joined = pl.concat([table.with_columns(as_text) for table in tables], how="diagonal")
        return joined.with_columns(number).select("model", "segment", *columns)


def _best(scorecard: pl.DataFrame) -> list[float]:
    """Return the thresholds of the largest F1 over all rows."""
    pooled = scorecard.filter(pl.col("level") == "pooled")["best_f1_threshold"].drop_nulls()
    return [value for value in pooled.cast(pl.Float64) if math.isfinite(value)]


def _within(count: int, bounds: tuple[int, int]) -> int:
    lowest, highest = bounds
    return max(lowest, min(count, highest))
