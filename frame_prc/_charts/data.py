"""The data of charts: which segments there are, and the results of the other verbs for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED, REFERENCE, same_reference
from frame_prc._curves.curve import Curve, CurveFrame, Extras, read_curve
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._execution import has_numpy
from frame_prc._inference.areas import ROC_AUC
from frame_prc._lazy import key_names, left_join, over
from frame_prc._ranking.sorted_rows import sorted_numbers
from frame_prc._request import specs
from frame_prc._request.options import compared_at
from frame_prc._request.roles import request
from frame_prc._request.values import Bins
from frame_prc._rows.columns import resolve
from frame_prc._rows.rows import Rows, read
from frame_prc._rows.table import Table
from frame_prc._tables.areas import AveragePrecision
from frame_prc._tables.compare import Differences
from frame_prc._tables.curves import RecallGrid
from frame_prc._tables.heterogeneity import Shrunken
from frame_prc._tables.operating_points import OperatingPoints
from frame_prc._tables.summary import Summary
from frame_prc.exceptions import DataError

_ALIKE = 0.03  # probabilities by 400 draws or more


@dataclass(frozen=True)
class Segments:
    """Segments with their average precision; each is a ``line`` of a chart.

    ``keys`` are the caller's names of the keys, ``model`` that of models. ``given`` are the rows,
    which bootstraps resample, comparisons pair and clusters group. ``error`` is the largest of a
    curve that was thinned before. With ``deploys`` curves and points are calibrated too, and the
    ``prevalence`` is that of use. ``drawn`` are the rows of ``table``, if not all have lines.
    """

    keys: list[str]
    given: Rows
    level: float
    calibration: specs.Calibration | None = None
    deploys: bool = False
    start: specs.Start = "one"
    error: float | None = None
    drawn: pl.DataFrame | None = None

    @cached_property
    def key_values(self) -> pl.DataFrame:
        """A row per segment with its keys ``key_0, ...``, before anything costly is computed."""
        if self.drawn is not None:
            return self.drawn
        columns, source = self.given.columns, self.given.source
        by = [f"by_{i}" for i in range(len(columns.key_dtypes))]
        segments = _distinct(source.select(by))
        if columns.model is not None:
            segments = _distinct(source.select("model", *by)).sort("model", maintain_order=True)
        elif columns.several_models:
            models = pl.DataFrame({"model": list(columns.request.models)})
            segments = models.join(segments, how="cross") if by else models
        return _with_numbered_keys(segments, len(self.keys))

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per segment: ``line``, ``key_0, ...``, sizes, average precision, status.

        ``line`` is a number in the order of the keys. The average precision has its interval beside
        it, null where there is none, and that of a random ranking.
        """
        if self.drawn is not None:
            return self.drawn
        interval = None if self.given.columns.lacks_squares else specs.Interval(self.level)
        asked = AveragePrecision(interval=interval, chance=True, calibration=self.calibration)
        found = _with_numbered_keys(asked.finished(self.given).collect(), len(self.keys))
        areas = with_ends(found.rename({CALIBRATED: AVERAGE_PRECISION}, strict=False))
        used = {"prevalence": REFERENCE} if self.used_at is not None else {}
        return areas.with_columns(**used).with_row_index("line")

    @property
    def model_keys(self) -> list[str]:
        return key_names(has_models(self.keys))

    @property
    def own_keys(self) -> list[str]:
        return key_names(len(self.keys))[has_models(self.keys) :]

    def check_count(self, keys: Sequence[str], most: int, what: str, hint: str) -> None:
        number = self.count(keys)
        if number > most:
            raise DataError(f"the chart would have {number:,} {what}", f"up to {most} {what}", hint)

    def count(self, keys: Sequence[str]) -> int:
        return self.key_values.select(keys).n_unique() if keys else 1

    @property
    def cluster(self) -> str | None:
        column = self.given.columns.cluster
        return None if column is None else column.name

    @property
    def models(self) -> list[str]:
        """The models in the order in which they were given; none if that is not known."""
        columns = self.given.columns
        # The models of long data are in the order of their names.
        is_known = columns.several_models and columns.model is None
        return list(map(str, columns.request.models)) if is_known else []

    @property
    def sortable(self) -> pl.DataFrame:
        """The table with models as a category whose order is that in which they were given."""
        models = [pl.col("key_0").cast(pl.Enum(self.models))] if self.models else []
        return self.table.with_columns(models)

    def curves(self, keep: specs.Keep, level: float | None = None) -> pl.DataFrame:
        used_at = self.used_at
        extras = Extras(level=level, calibration=used_at, deploys=used_at is not None)
        return self.of(Curve(self.start, keep, extras=extras)).drop_nulls("recall")

    @property
    def used_at(self) -> specs.Calibration | None:
        """The prevalence of use that curves and points are calibrated to, if they are."""
        return self.calibration if self.deploys else None

    def points(self, targets: Sequence[specs.Target]) -> pl.DataFrame:
        return self.of(OperatingPoints(targets, calibration=self.used_at))

    def at_thresholds(self, bins: Bins, level: float | None = None) -> pl.DataFrame:
        thresholds = bins.of(self.given.score_dtype).thresholds
        targets = [
            specs.Target("threshold", value) for value in thresholds[:: 1 if bins.ascending else -1]
        ]
        interval = None if level is None else specs.Interval(level)
        table = OperatingPoints(targets, interval=interval, calibration=self.used_at)
        # Rows drawn within strata have wider limits of shares than they need.
        rows = replace(self.given, columns=replace(self.given.columns, strata=None))
        return self._numbered(table, rows).drop_nulls("recall")

    @cached_property
    def finite_scores(self) -> pl.Series:
        scores = self.given.used().select(pl.col("score").cast(pl.Float64)).collect()["score"]
        ordered = sorted_numbers(scores.filter(scores.is_finite())).set_sorted()
        # The others of sorted numbers are told apart from their neighbours.
        return ordered.unique().sort()

    def of(self, table: Table) -> pl.DataFrame:
        return self._numbered(table, self.given)

    @property
    def can_be_pooled(self) -> bool:
        """Whether all rows of a model can be put together: a key of counts may be one of models."""
        columns = self.given.columns
        return self.error is None and has_models(self.keys) == columns.several_models

    def at_recalls(self, recalls: Sequence[float], *, pooled: bool) -> pl.DataFrame:
        rows = self.given.pooled() if pooled else self.given
        table = RecallGrid(recalls).finished(rows).collect()
        return _with_numbered_keys(table, has_models(self.keys) if pooled else len(self.keys))

    def calibrated(self) -> pl.DataFrame:
        table = AveragePrecision(interval=None, calibration=compared_at(None))
        return self.of(table).select("line", CALIBRATED)

    def roc_areas(self) -> pl.DataFrame:
        """Return ``line, roc_auc``; null where it is not known, as of sums of weights."""
        if self.given.columns.lacks_squares:
            return self.table.select("line", pl.lit(None, pl.Float64).alias(ROC_AUC))
        beside = [specs.Measured("roc_auc")]
        table = Summary(None, overall=False, calibration=specs.Calibration(), beside=beside)
        return self.of(table).select("line", ROC_AUC)

    def compared(self, comparison: specs.Comparison, *, pooled: bool = False) -> pl.DataFrame:
        rows, asked = self.given.pooled() if pooled else self.given, comparison
        if pooled and self._reference is not None:
            calibrated = replace(comparison.measured, calibration=self._reference)
            asked = replace(comparison, measured=calibrated)
        return rows.keep(
            ("compared", comparison), lambda: Differences(asked).finished(rows).collect()
        )

    @cached_property
    def all_rows(self) -> Segments:
        """All rows of each model as one segment, at the prevalence of the others."""
        return segments_of_rows(self.given.pooled(), self.level, self._reference)

    @property
    def _reference(self) -> specs.Calibration | None:
        if REFERENCE not in self.table.columns:
            return None
        known = self.table.drop_nulls(REFERENCE).lazy()
        return same_reference(known, self.model_keys, computed=True)

    def likely_worst(self) -> pl.DataFrame:
        """Return the segments of each model that are likeliest the worst, or nearly, if known."""
        if self.error is not None or self.given.columns.lacks_squares or not has_numpy():
            return pl.DataFrame()
        measured = specs.Measured("average_precision")
        if self.calibration is not None:
            measured = specs.Measured("calibrated_average_precision", self.calibration)
        table = Shrunken(measured, self.level).finished(self.given).collect()
        known = table.drop_nulls("probability_worst")
        models = known.columns[: has_models(self.keys)]
        probability = pl.col("probability_worst")
        likeliest = known.filter(over(probability.max(), models) - probability < _ALIKE)
        ordered = likeliest.sort("probability_worst", descending=True, maintain_order=True)
        return ordered.filter(pl.col("status").is_in(BELIEVED))

    def _numbered(self, table: Table, rows: Rows) -> pl.DataFrame:
        by = key_names(len(self.keys))
        frame = _with_numbered_keys(table.finished(rows).collect(), len(by))
        return left_join(frame, self.table.select("line", *by), by).drop(by).drop_nulls("line")


# --- of rows, and of a curve frame ---------------------------------------------------------------


def segments_of_rows(
    rows: Rows, level: float, calibration: specs.Calibration | None = None, *, deploys: bool = False
) -> Segments:
    """Return the segments of rows in memory, with keys renamed so that no column clashes.

    The keys that a frame of prevalences names stay.
    """
    columns = rows.columns
    names, calibration = columns.result_keys, _of_several(calibration, columns.key_dtypes)
    if calibration is None or calibration.given is None:
        dtypes = columns.key_dtypes.values()
        keys = dict(zip(key_names(len(dtypes)), dtypes, strict=True))
        rows = replace(rows, columns=replace(columns, key_dtypes=keys))
    return Segments(names, rows, level, calibration, deploys)


def segments_of_curve(
    frame: pl.DataFrame,
    level: float,
    calibration: specs.Calibration | None = None,
    *,
    ascending: bool = False,
    deploys: bool = False,
) -> Segments:
    curve = read_curve(frame.lazy(), ascending=ascending)
    if calibration is not None and calibration.given is not None:
        names = dict(zip(curve.keys, key_names(len(curve.keys)), strict=True))
        calibration = replace(calibration, given=calibration.given.rename(names, strict=False))
    found = segments_of_rows(counts_of_curve(curve), level, calibration, deploys=deploys)
    return replace(found, keys=curve.keys, start=curve.start, error=curve.error)


def _of_several(
    calibration: specs.Calibration | None, keys: Collection[str]
) -> specs.Calibration | None:
    """Return how segments are calibrated; without keys, only to a prevalence that is given."""
    if calibration is None or keys:
        return calibration
    told = (calibration.table, calibration.given, calibration.odds)
    return calibration if any(one is not None for one in told) else None


def counts_of_curve(curve_frame: CurveFrame) -> Rows:
    """Return the counts between the points of a curve as rows, keyed by ``key_0, ...``."""
    asked = request(
        score="threshold",
        pos="pos",
        neg="neg",
        by=key_names(len(curve_frame.keys)) or None,
        missing="unretrieved",
        ascending=curve_frame.ascending,
    )
    counts = curve_frame.counts.lazy()
    return replace(read(counts, resolve(counts, asked), in_memory=True), kept={})


def with_ends(rows: pl.DataFrame) -> pl.DataFrame:
    if "ci_low" in rows.columns:
        return rows
    return rows.with_columns(pl.lit(None, pl.Float64).alias(end) for end in ("ci_low", "ci_high"))


def _distinct(keys: pl.LazyFrame) -> pl.DataFrame:
    """Return a row per segment; without keys there is one."""
    if not keys.collect_schema():
        return pl.DataFrame({"all": [None]})
    return keys.group_by(pl.all()).agg().collect()


def _with_numbered_keys(frame: pl.DataFrame, keys: int) -> pl.DataFrame:
    return frame.rename(dict(zip(frame.columns, key_names(keys), strict=False)))


def has_models(keys: Sequence[str]) -> bool:
    return keys[:1] == [specs.MODEL]


# --- intervals at thresholds ---------------------------------------------------------------------

LIMITS = ("precision_low", "precision_high", "recall_low", "recall_high")


def points_with_limits(found: Segments, bins: Bins, level: float) -> pl.DataFrame:
    """Return the points at thresholds, with the limits of precision and recall.

    They are those of ``operating_points(threshold=..., ci=...)``, and null for sums of weights, and
    for weights in clusters.
    """
    columns = found.given.columns
    if columns.weighted and (columns.aggregated or found.cluster is not None):
        unknown = [pl.lit(None, pl.Float64).alias(name) for name in LIMITS]
        return found.at_thresholds(bins).with_columns(unknown)
    return found.at_thresholds(bins, level)
