"""What a report is of: the tables of the other verbs, computed once for the same rows."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any

import polars as pl

from frame_prc._charts.curve_rows import overlay_rows, spread, with_rates
from frame_prc._charts.data import LIMITS, Segments, points_with_limits, segments_of_rows
from frame_prc._charts.options import MOST_COLOURS, MOST_SEGMENTS, is_time
from frame_prc._charts.summary_data import PAIR, dots_of, ends_and_largest
from frame_prc._charts.text import is_few, make_unique, safe, short
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED, REFERENCE
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_POSITIVES, FEW_SCORES, RANDOM
from frame_prc._inference.estimates import few_at_odds
from frame_prc._lazy import key_names, left_join
from frame_prc._report.options import Options, key_with_order
from frame_prc._request.comparisons import models_compared, segments_compared
from frame_prc._request.options import bin_edges
from frame_prc._request.roles import Request
from frame_prc._request.specs import MODEL, Comparison, Interval, Measured, Target
from frame_prc._request.values import Bins
from frame_prc._rows.rows import Rows
from frame_prc._rows.table import Table
from frame_prc._tables.areas import AveragePrecision
from frame_prc._tables.compare import Differences
from frame_prc._tables.curves import Reliability, ScoreBins
from frame_prc._tables.heterogeneity import Heterogeneity
from frame_prc._tables.operating_points import OperatingPoints
from frame_prc._tables.watched import Watched

ADJUST = "holm"
# The steps of the table of thresholds: shares of the rows that get an alert.
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

_DIGITS = 4  # of a threshold, at least
_OF_EACH = 20  # worst, best and largest
_POINTS = 300  # of a curve of all rows
# Of all lines together, and of one at least and at most.
_ROWS_OF_CURVES, _ROWS_OF_THRESHOLDS = (20_000, 30, 300), (24_000, 40, 200)
_SCORE_BINS, _RELIABILITY_BINS = 50, 10
_MOST_PANELS = 24
FEWEST_OF_REFERENCE, _REFERENCE, _MOST_LOOKS = 2, 24, 1_000  # periods


@dataclass(frozen=True)
class Evaluation:
    """The tables of a report, each computed once, when it is first asked for.

    Segments are numbered in the order of their keys. A table of theirs has a column ``segment``, in
    which null stands for all rows, and ``model`` if there are models.
    """

    rows: Rows
    asked: Request
    options: Options

    @property
    def keys(self) -> list[str]:
        return list(self.rows.columns.key_dtypes)

    @property
    def cluster(self) -> str | None:
        return self.charted.cluster

    @cached_property
    def n_clusters(self) -> int | None:
        if self.cluster is None:
            return None
        count: int = self.rows.source.select(pl.col("cluster").n_unique()).collect().item()
        return count

    @property
    def alpha(self) -> float:
        return 1 - self.options.level

    @cached_property
    def charted(self) -> Segments:
        calibration = self.options.calibration if self.keys else None
        return segments_of_rows(self.rows, self.options.level, calibration)

    def _computed(self, table: Table) -> pl.DataFrame:
        return table.finished(self.charted.given).collect()

    def compute(self) -> None:
        """Compute what takes longest of many rows, side by side: nothing here needs the other."""
        together = self.rows.together
        together([lambda: self.pooled, lambda: (self.of_models, self.differences)])
        pairs = self.pairs_drawn
        together(
            [
                lambda: (self.points, self.thresholds),
                lambda: None if pairs is None else self.charted.compared(pairs, pooled=True),
                lambda: (self.curves, self.curves_behind),
                lambda: (self.against_others, self.budgets, self.heterogeneity, self.worst),
                # It refuses scores that are no probabilities, whatever is written.
                lambda: self.reliability if "reliability" in self.options.sections else None,
            ]
        )

    # --- names -----------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> _Named:
        return _Named(self.charted, self.asked)

    @property
    def models(self) -> list[str]:
        return self._names.models

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The short unique names of the models, by their names."""
        short_names = make_unique([short(safe(model)) for model in self.models])
        return dict(zip(self.models, short_names, strict=True))

    @property
    def segments(self) -> pl.DataFrame:
        """The number, the short unique name and the keys ``key_0, ...`` of each segment."""
        return self._names.segments

    @cached_property
    def names(self) -> dict[int, str]:
        return dict(self.segments.select("segment", "name").iter_rows())

    # --- the scorecard ---------------------------------------------------------------------------

    @cached_property
    def scorecard(self) -> pl.DataFrame:
        return self._names.with_segments(self._computed(self.options.scorecard))

    @cached_property
    def pooled(self) -> pl.DataFrame:
        """The scorecard of all rows, with the status of the plain area: they are not calibrated."""
        level = None if self.rows.columns.lacks_squares else Interval(self.options.level)
        plain = AveragePrecision(interval=level).finished(self.charted.given.pooled()).collect()
        statuses = self._names.with_model(plain).select(MODEL, "status")
        return left_join(self.scorecard.filter(level="pooled").drop("status"), statuses, [MODEL])

    @cached_property
    def of_best(self) -> dict[str, Any]:
        """The scorecard of the best model over all rows; where there are no rows, its status."""
        rows = self.pooled.filter(model=self.best).to_dicts()
        return rows[0] if rows else {AVERAGE_PRECISION: None, "status": "empty"}

    def of_segments(self, model: str) -> pl.DataFrame:
        return self.scorecard.filter(level="segment", model=model)

    @cached_property
    def best(self) -> str:
        """The model with the largest average precision over all rows; the first of equals."""
        areas = dict(self.pooled.select("model", AVERAGE_PRECISION).iter_rows())
        known = [model for model in self.models if areas.get(model) is not None]
        return max(known, key=lambda model: areas[model], default=self.models[0])

    @cached_property
    def shown(self) -> list[int]:
        """The segments that have curves: all, if a chart can show them, or those at the ends."""
        if self.shows_all:
            return self.segments["segment"].to_list()
        return ends_and_largest(self.of_segments(self.best), CALIBRATED, _OF_EACH)

    @property
    def shows_all(self) -> bool:
        """Whether all segments have curves; else the best model chose those at the ends."""
        return self.segments.height <= MOST_SEGMENTS

    # --- comparisons -----------------------------------------------------------------------------

    @property
    def _compares_models(self) -> bool:
        columns = self.rows.columns
        return not columns.aggregated and columns.model is None and len(self.asked.models) > 1

    def models_compared(self, calibrate: Any) -> Comparison:
        """Return which models are compared, maybe at one prevalence."""
        level, baseline = self.options.level, self.options.baseline
        given = {"baseline": baseline, "calibrate": calibrate, "adjust": ADJUST}
        return models_compared(self.asked, level, **given)

    @cached_property
    def of_models(self) -> pl.DataFrame:
        if not self._compares_models:
            return pl.DataFrame()
        # All rows have one prevalence; segments are compared at that of the other tables.
        table = Differences(self.models_compared(None)).finished(self.charted.given.pooled())
        return self._names.with_model(table.collect())

    @cached_property
    def differences(self) -> pl.DataFrame:
        """As :func:`frame_prc.compare_models` for each segment; empty without keys too."""
        if not self._compares_models or not self.keys:
            return pl.DataFrame()
        compared = self.charted.compared(self.models_compared(self.options.calibrate))
        return self._names.with_segments(compared)

    @property
    def pairs_drawn(self) -> Comparison | None:
        """Which models are compared in the picture of all segments: if any are."""
        is_one = len(self.models) == PAIR or self.options.baseline
        if self.of_models.is_empty() or not self.keys or not is_one:
            return None
        return self.models_compared(self.options.calibrate)

    @cached_property
    def against_others(self) -> pl.DataFrame:
        """Each segment compared with the mean of the others; empty without single rows.

        Each is ranked by itself: all rows in one list are easier to rank than a segment if scores
        are higher where positives are more frequent. The tests of another model would only hide
        what those of the best one show, so p-values are adjusted within each model.
        """
        if self.rows.columns.aggregated or not self.keys or self.segments.height < 2:  # noqa: PLR2004
            return pl.DataFrame()
        level, calibrate = self.options.level, self.options.calibrate
        asked = segments_compared(self.asked, level, "others", calibrate=calibrate, adjust=ADJUST)
        return self._names.with_segments(self._computed(Differences(asked, within=MODEL)))

    @cached_property
    def heterogeneity(self) -> pl.DataFrame:
        """As :func:`frame_prc.heterogeneity`; empty without keys, and without an interval."""
        if not self.keys or self.rows.columns.lacks_squares:
            return pl.DataFrame()
        measured = Measured("calibrated_average_precision", self.options.calibration)
        table = Heterogeneity(measured, self.options.level)
        return self._names.with_model(self._computed(table))

    @cached_property
    def worst(self) -> pl.DataFrame:
        """The segment of each model that is most likely the worst; empty if that is not known."""
        if not self.keys:
            return pl.DataFrame()
        table = self.charted.likely_worst()
        return table if table.is_empty() else self._names.with_segments(table)

    @cached_property
    def watched(self) -> pl.DataFrame:
        """As :func:`frame_prc.monitor` at one prevalence, of segments that are in an order."""
        if self.rows.columns.lacks_squares:
            return pl.DataFrame()
        periods = self.segments["key_0"].drop_nulls().len()
        first = max(FEWEST_OF_REFERENCE, min(periods // 2, _REFERENCE))
        if periods <= first:
            return pl.DataFrame()
        measured = Measured("calibrated_average_precision", self.options.calibration)
        looks, error = min(periods - first, _MOST_LOOKS), self.alpha
        table = Watched(measured, "key_0", first, looks, error, 1, False, False, None)
        watched = self._computed(table).drop({"measure", *table.hidden} - {"n_pos"})
        return self._names.with_segments(watched)

    @property
    def looks(self) -> pl.DataFrame:
        is_look = pl.col("conclusion").is_in(["alarm", "quiet", "undecided"])
        return self.watched if self.watched.is_empty() else self.watched.filter(is_look)

    @property
    def reference_text(self) -> str:
        own = self.watched.filter(model=self.best, conclusion="reference")
        return f"the first {own.height}"

    # --- what is found of segments ---------------------------------------------------------------

    @cached_property
    def in_time(self) -> bool:
        """Whether the only key is a time: then segments are in its order."""
        dtypes = list(self.rows.columns.key_dtypes.values())
        return len(dtypes) == 1 and is_time(dtypes[0])

    @cached_property
    def in_order(self) -> Evaluation | None:
        """The rows by the key that has an order, all segments of others together, where asked."""
        if "time" not in self.options.sections:
            return None
        return self._by([key_with_order(self.rows.columns.key_dtypes)])

    @cached_property
    def without_time(self) -> Evaluation:
        """The rows by the other keys, where one is a time: answers are about regions, not weeks."""
        dtypes = self.rows.columns.key_dtypes
        others = [name for name, dtype in dtypes.items() if not is_time(dtype)]
        if not others or len(self.keys) - len(others) != 1:
            return self
        own = self._by(others)
        return own if own.segments.height > 1 else self

    def _by(self, names: Sequence[str]) -> Evaluation:
        if names == self.keys:
            return self
        columns = replace(self.rows.columns, groupings=(tuple(names),))
        [rows] = replace(self.rows, columns=columns).by_grouping()
        return replace(self, rows=replace(rows, kept={}))

    @cached_property
    def standings_by_model(self) -> dict[str, pl.DataFrame]:
        """What each segment of each model is beside the others: see :func:`standings_of`."""
        tests, found = self.against_others, {}
        for model in self.models:
            own = tests if tests.is_empty() else tests.filter(model=model)
            found[model] = standings_of(self.of_segments(model), own, self.alpha)
        return found

    @cached_property
    def standings(self) -> pl.DataFrame:
        """Those of the best model in the order of the page: where any is below chance, first."""
        own, below = self.standings_by_model[self.best], self.below_chance["segment"]
        if self.in_time:
            return own.sort("segment")
        return own.sort(~pl.col("segment").is_in(below.implode()), maintain_order=True)

    def segments_that_are(self, *standings: str, model: str | None = None) -> list[int]:
        """Return the numbers of the segments with such a standing, in the order of the page."""
        table = self.standings if model is None else self.standings_by_model[model]
        return table.filter(pl.col("standing").is_in(standings))["segment"].to_list()

    @cached_property
    def below_chance(self) -> pl.DataFrame:
        """The segments where a model is shown to be below chance at one prevalence, lowest first.

        Of many segments the interval of one is below chance by luck: as of other tests, the level
        allows for all segments of the model, by Bonferroni. Few rows show nothing.
        """
        segments = self.scorecard.filter(level="segment")
        if "below_chance" not in segments["status"] or self.segments.height == 1:
            return pl.DataFrame(schema={MODEL: pl.String, "segment": pl.Int64})
        level = Interval(1 - self.alpha / self.segments.height)
        table = AveragePrecision(None, level, chance=True, calibration=self.options.calibration)
        strict = self._names.with_segments(self._computed(table))
        # A status has one reason, so that few rows are not said of what is below chance.
        own, odds = pl.col("prevalence"), 1 / pl.col(REFERENCE) - 1
        negatives = pl.col("n") * (1 - own)
        few = pl.min_horizontal(negatives, "n_effective") < FEW_POSITIVES
        few |= few_at_odds(negatives, odds, odds * own / (1 - own))
        found = strict.filter(~few, status="below_chance")
        return found.sort(pl.col(CALIBRATED) - pl.col(RANDOM), "segment")

    # --- curves ----------------------------------------------------------------------------------

    @cached_property
    def _all_rows(self) -> _Named:
        """All rows, which have no number if they are not one of the segments."""
        if self.segments.height == 1:
            return self._names
        return _Named(self.charted.all_rows, self.asked, whole=True)

    @property
    def _parts(self) -> list[_Named]:
        return [self._names] if self.segments.height == 1 else [self._all_rows, self._names]

    def _of_shown(
        self, points: Callable[[Segments], pl.DataFrame], columns: Sequence[str]
    ) -> pl.DataFrame:
        """Return the points of all lines, of which there are those of the segments shown."""
        joined = pl.concat([p.named(points(p.found)) for p in self._parts], how="diagonal")
        is_shown = pl.col("segment").is_null() | pl.col("segment").is_in(self.shown)
        number = pl.col("threshold").cast(pl.Float64)
        return joined.filter(is_shown).with_columns(number).select("model", "segment", *columns)

    def _share_of(self, rows: int, lowest: int, highest: int) -> int:
        lines = (len(self.shown) + len(self._parts) - 1) * len(self.models)
        return max(lowest, min(rows // max(lines, 1), highest))

    @cached_property
    def _scores(self) -> pl.Series:
        return self._all_rows.found.finite_scores

    def threshold_text(self, value: float | None) -> str:
        """Return a threshold with at least four digits, and as many as tell its rows.

        It is rounded to the side on which the same rows get an alert, up to 0.1 % of the scores.
        """
        if value is None or not math.isfinite(value):
            return "" if value is None else f"{value}".replace("inf", "\N{INFINITY}")
        place = bisect_left(self._scores, value)
        exact, toward = Decimal(str(value)), ROUND_CEILING if self.asked.ascending else ROUND_FLOOR
        for digits in range(_DIGITS, len(exact.as_tuple().digits)):
            step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
            rounded = exact.quantize(step, rounding=toward)
            if abs(bisect_left(self._scores, float(rounded)) - place) <= len(self._scores) / 1000:
                return f"{float(rounded):.{digits}g}"
        return f"{value:g}" if float(f"{value:g}") == value else str(value)

    @cached_property
    def points(self) -> pl.DataFrame:
        return self._all_rows.of(OperatingPoints([self.options.target])).drop_nulls("threshold")

    @property
    def best_point(self) -> dict[str, Any] | None:
        own = self.points.filter(model=self.best)
        return own.row(0, named=True) if own.height else None

    @cached_property
    def budgets(self) -> pl.DataFrame:
        """As :func:`frame_prc.threshold_table` for all rows, at the same shares of the rows."""
        points = self._all_rows.of(OperatingPoints([Target("predicted_rate", x) for x in BUDGETS]))
        return points.filter(pl.col("threshold").is_finite())

    @cached_property
    def curves(self) -> pl.DataFrame:
        most = self._share_of(*_ROWS_OF_CURVES)
        columns = ("threshold", "recall", "precision", "precision_error")
        return self._of_shown(lambda found: found.curves(most), columns)

    @cached_property
    def curves_behind(self) -> pl.DataFrame:
        """The curve of all rows of the best model, at the prevalence of each ``panel``."""
        is_shown = pl.col("segment").is_in(self.shown)
        lines = self._names.lines.filter(is_shown, model=self.best)
        panels = lines.select("line", panel="segment", series="model")
        return overlay_rows(self.charted, panels, "pooled")

    @property
    def curves_of_all(self) -> pl.DataFrame:
        return self._all_rows.named(self._all_rows.found.curves(_POINTS))

    @property
    def score_bins(self) -> pl.DataFrame:
        return self._all_rows.of(ScoreBins(_SCORE_BINS))

    @property
    def reliability_panels(self) -> int:
        """The number of panels of the picture: all rows, and the segments if they are few."""
        segments = self.segments.height
        return 1 if segments == 1 or segments >= _MOST_PANELS else 1 + segments

    @cached_property
    def reliability(self) -> pl.DataFrame:
        """As :func:`frame_prc.reliability` for all rows, and for the segments if they are few.

        Bins hold as many rows: of rare positives nearly all would be in the first of equal width.
        """
        table = Reliability(bin_edges(_RELIABILITY_BINS), self.options.level, quantile=True)
        parts = self._parts if self.reliability_panels > 1 else [self._all_rows]
        return pl.concat([part.of(table) for part in parts], how="diagonal")

    @cached_property
    def thresholds(self) -> pl.DataFrame:
        """Counts at the same thresholds in all segments shown, those of the target among them."""
        best = self.points["threshold"].cast(pl.Float64)
        chosen = spread(self._scores, self._share_of(*_ROWS_OF_THRESHOLDS))
        if not chosen:
            return pl.DataFrame()
        bins = Bins(sorted({*chosen, *filter(math.isfinite, best)}), ascending=self.asked.ascending)
        points = self._of_shown(
            lambda found: points_with_limits(found, bins, self.options.level),
            ("threshold", "tp", "fp", "fn", "tn", "precision", "recall", *LIMITS),
        )
        return with_rates(points.filter(pl.col("threshold").is_finite()))


def evaluate(rows: Rows, asked: Request, options: Options) -> Evaluation:
    found = Evaluation(rows, asked, options)
    segments, hint = found.charted, "choose some of the models"
    segments.check_count(segments.model_keys, MOST_COLOURS, "models", hint)
    _ = segments.table  # what is wrong with the values is said first
    if "time" in options.sections:
        key_with_order(rows.columns.key_dtypes)
    return found


# --- what each segment of a model is beside the others -------------------------------------------

# Open: the test shows nothing. Untested: the segment can be judged, and its test not, as where the
# others have few negatives. Small: the segment itself cannot be judged.
WORSE, BETTER, OPEN, UNTESTED, SMALL = "worse", "better", "open", "untested", "small"
JUDGED = (WORSE, OPEN, BETTER)
# Statuses of segments that cannot be judged.
_TOO_SMALL = (*FEW, "no_positives", "no_negatives", "empty")
_PLACES = {WORSE: 0, OPEN: 1, UNTESTED: 1, BETTER: 2, SMALL: 3}


def standings_of(segments: pl.DataFrame, tests: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return the scorecard of a model's segments with their ``standing``, worse ones first.

    ``tests`` compare them with the others, if they can be compared; ``test`` is their status.
    """
    is_hidden = (pl.col("status") == "below_chance") & is_few()
    few = pl.when(is_hidden).then(pl.lit("few_positives"))
    table = segments.with_columns(status=few.otherwise("status"))
    if tests.is_empty():
        unknown = {"difference": pl.Float64, "p_adjusted": pl.Float64, "test": pl.String}
        table = table.with_columns(
            pl.lit(None, dtype).alias(name) for name, dtype in unknown.items()
        )
    else:
        told = tests.select("segment", "difference", "p_adjusted", test="status")
        table = left_join(table, told, ["segment"])
    p, has_tests = pl.col("p_adjusted"), pl.lit(not tests.is_empty())
    unjudged = pl.col("status").is_in(_TOO_SMALL) | pl.col(CALIBRATED).is_null()
    standing = (
        pl.when(unjudged | ((pl.col("status") == FEW_SCORES) & has_tests & p.is_null()))
        .then(pl.lit(SMALL))
        .when(has_tests & ~(is_believed("test") & p.is_not_null()))
        .then(pl.lit(UNTESTED))
        .when((p < alpha) & (pl.col("difference") < 0))
        .then(pl.lit(WORSE))
        .when((p < alpha) & (pl.col("difference") > 0))
        .then(pl.lit(BETTER))
        .otherwise(pl.lit(OPEN))
    )
    table = table.with_columns(standing=standing)
    place = pl.col("standing").replace_strict(_PLACES, return_dtype=pl.Int8)
    return table.sort(place, CALIBRATED, "segment", nulls_last=True)


def is_believed(status: str = "status") -> pl.Expr:
    """Return whether an estimate or a test can be believed; not one that is not there."""
    return pl.col(status).is_in(BELIEVED).fill_null(value=False)


# --- names ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Named:
    """Segments with their numbers, which the ``whole`` has none of, and the names of models."""

    found: Segments
    asked: Request
    whole: bool = False

    @cached_property
    def models(self) -> list[str]:
        if not self.found.model_keys:
            return [_only_model(self.asked)]
        known = _model_names(self.found.table["key_0"]).unique(maintain_order=True)
        return self.found.models or known.to_list()

    @cached_property
    def segments(self) -> pl.DataFrame:
        keys = self.found.table.select(self.found.own_keys)
        keys.columns = key_names(keys.width)
        numbered = self._dots.select("segment", "name", *keys)
        return numbered.unique("segment", keep="first").sort("segment")

    @cached_property
    def lines(self) -> pl.DataFrame:
        models: Any = pl.lit(self.models[0])
        if self.found.model_keys:
            models = _model_names(self.found.table["key_0"])
        segment = pl.lit(None, pl.Int64) if self.whole else pl.col("segment")
        line = self.found.table["line"]
        return self._dots.select(line, segment.alias("segment"), models.alias(MODEL))

    @cached_property
    def _dots(self) -> pl.DataFrame:
        return dots_of(self.found)

    def named(self, points: pl.DataFrame) -> pl.DataFrame:
        """Return points of lines with their segment and model."""
        return left_join(points, self.lines, ["line"])

    def of(self, table: Table) -> pl.DataFrame:
        return self.named(self.found.of(table))

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
        if MODEL not in table.columns:
            return table.with_columns(pl.lit(self.models[0]).alias(MODEL))
        named = [name for name in (MODEL, "baseline") if name in table.columns]
        return table.with_columns(_model_names(table[name]) for name in named)


def _model_names(values: pl.Series) -> pl.Series:
    return values.cast(pl.String).fill_null("null")


def _only_model(asked: Request) -> str:
    """Return the name of the single score; that of counts is a threshold."""
    [score] = asked.models.values()
    if "truth" not in asked.classes:
        return "the model"
    name = score if isinstance(score, str) else score.meta.output_name(raise_if_undetermined=False)
    return name or "score"
