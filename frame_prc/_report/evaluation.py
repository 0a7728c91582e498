"""What a report is of: the tables of the other verbs, computed once for the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from frame_prc._charts.data import ChartSource, EvaluatedSegments, source_of_rows
from frame_prc._charts.summary_data import dots_of, split_keys
from frame_prc._charts.theme import MOST_COLOURS, MOST_SEGMENTS
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._lazy import key_names, left_join
from frame_prc._report.lines import Lines
from frame_prc._request.options import models_compared, segments_compared
from frame_prc._request.roles import Request
from frame_prc._request.specs import MODEL, Calibration, Interval
from frame_prc._rows.rows import Rows
from frame_prc._tables.compare import Differences
from frame_prc._tables.heterogeneity import Heterogeneity
from frame_prc._tables.summary import Summary

ADJUST = "holm"

_OF_EACH = 20  # worst, best and largest


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
class Shown:
    """The numbers of the segments that are shown, in the order of the keys.

    ``judged_by`` is the model by which the worst and the best were chosen; ``None`` if all segments
    are shown.
    """

    segments: list[int]
    judged_by: str | None


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

    @property
    def names(self) -> dict[int, str]:
        """The names of segments, by their numbers."""
        return dict(self.segments.select("segment", "name").iter_rows())

    @property
    def alpha(self) -> float:
        """The level of tests."""
        return 1 - self.options.level

    @property
    def pooled(self) -> pl.DataFrame:
        """The scorecard of all rows."""
        return self.scorecard.filter(level="pooled")

    @property
    def best(self) -> str:
        """The model with the largest average precision over all rows; the first of equals."""
        return _best_model(self.scorecard, self.models)

    def of_segments(self, model: str) -> pl.DataFrame:
        """Return the scorecard of the segments of a model."""
        return self.scorecard.filter(level="segment", model=model)


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
    shown = _choose(named.segments, scorecard, named.models)
    lines = _lines(found, named, shown.segments, asked, options.level)
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
        thresholds=lines.thresholds(_best_thresholds(scorecard), options.level),
    )


def _choose(segments: pl.DataFrame, scorecard: pl.DataFrame, models: list[str]) -> Shown:
    """Return the segments to show: all, if a chart can show them, or those at the ends."""
    numbers = segments["segment"].to_list()
    if len(numbers) <= MOST_SEGMENTS:
        return Shown(numbers, None)
    judged_by = _best_model(scorecard, models)
    own = scorecard.filter(pl.col("level") == "segment", pl.col("model") == judged_by)
    ranked = own.drop_nulls(CALIBRATED).sort(CALIBRATED, "segment")["segment"]
    largest = own.sort("n_pos", "segment", descending=[True, False])["segment"]
    chosen = {*ranked.head(_OF_EACH), *ranked.tail(_OF_EACH), *largest.head(_OF_EACH)}
    return Shown(sorted(chosen), judged_by)


def _best_model(scorecard: pl.DataFrame, models: list[str]) -> str:
    pooled = scorecard.filter(pl.col("level") == "pooled")
    areas = dict(pooled.select("model", AVERAGE_PRECISION).iter_rows())
    known = [model for model in models if areas.get(model) is not None]
    return max(known, key=lambda model: areas[model], default=models[0])


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
        joined = left_join(self.with_model(table), numbers, keys).drop(keys)
        if "level" in table.columns:
            # A null key is a segment too, and rows for all of them have null keys.
            is_segment = pl.col("level") == "segment"
            joined = joined.with_columns(segment=pl.when(is_segment).then("segment"))
        # First what identifies a row.
        names = [name for name in ("level", MODEL, "segment") if name in joined.columns]
        return joined.select(*names, pl.exclude(names))

    def with_model(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a table with the names of models as text."""
        if MODEL not in table.columns:
            return table.with_columns(pl.lit(self.models[0]).alias(MODEL))
        named = [name for name in (MODEL, "baseline") if name in table.columns]
        return table.with_columns(_model_names(table[name]) for name in named)


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
    if not columns.key_dtypes:
        return named.with_model(pooled), pl.DataFrame()
    by_segment = Differences(calibrated).finished(found.given).collect()
    return named.with_model(pooled), named.with_segments(by_segment)


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
    table = Heterogeneity(options.calibration, options.level).finished(found.given).collect()
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


def _lines(
    found: EvaluatedSegments, named: _Names, shown: list[int], asked: Request, level: float
) -> Lines:
    """Return the lines of pictures: all rows first, if they are not one of the segments."""
    parts = [(found, named.lines)]
    if named.segments.height > 1:
        pooled = source_of_rows(found.given.pooled(), "one").evaluate(level)
        parts.insert(0, (pooled, _Names.of(pooled, asked).lines))
    return Lines(parts, shown, len(named.models))


def _best_thresholds(scorecard: pl.DataFrame) -> list[float]:
    """Return the thresholds of the largest F1 over all rows."""
    pooled = scorecard.filter(level="pooled")["best_f1_threshold"].drop_nulls()
    return [value for value in pooled.cast(pl.Float64) if math.isfinite(value)]
