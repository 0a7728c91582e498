"""Segments that lend each other strength, and how likely each is to be the worst."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

import polars as pl

from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import ESTIMATE, FEW_POSITIVES, SHORTFALL
from frame_prc._inference.estimates import (
    Estimates,
    measure_of,
    widened_variance,
    with_few_scores,
)
from frame_prc._inference.intervals import check_method, unbiased
from frame_prc._lazy import parts_by
from frame_prc._request.specs import Interval, Measured
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc._rows.table import Table

_LIMITS = ("ci_low", "ci_high")
_RANKS = ("rank_low", "rank_high")
_PROBABILITIES = ("probability_worst", "probability_below")
_SHARE = "share_of_mean"
_NUMBERS = (*_LIMITS, "shrunk", _SHARE, *_PROBABILITIES)
_FEWEST = 3  # segments that tell how they differ
# By simulation: with fewer rows of the rarer outcome in a segment its interval covers too little.
_FEWEST_MISPLACED = 3


@dataclass(frozen=True)
class Shrunken(Table):
    """One row per segment; ``below`` is a value of the measure."""

    measured: Measured
    level: float
    below: float | None = None
    runs_inside = True

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        asked = _PROBABILITIES if self.below is not None else _PROBABILITIES[:1]
        return (
            "measure",
            "n",
            "n_pos",
            *self._reference,
            "value",
            "shrunk",
            *_LIMITS,
            _SHARE,
            *_RANKS,
            *asked,
            "status",
        )

    @property
    def hidden(self) -> Collection[str]:
        """Those of the outputs that only ``details=True`` shows."""
        beside = () if self.below is None else _PROBABILITIES[:1]
        one_of = "measure" if self.measured.is_usual else "n_pos"
        return (one_of, "n", *self._reference, _SHARE, *_RANKS, *beside)

    @property
    def _reference(self) -> Sequence[str]:
        """The prevalence that the areas are of, if they are of one."""
        return () if self.measured.calibration is None else (REFERENCE,)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the table."""
        check_method(rows, Interval(self.level))
        measure, m = measure_of(self.measured), pl.col("n_effective")
        dropped = () if rows.n_dropped is None else DROPPED
        estimates = Estimates.of(rows, measure).keyed()
        known = estimates.select(
            *rows.keys,
            *("n", "n_pos", *self._reference, *dropped, "status", "few_negatives"),
            measure=pl.lit(measure.name),
            value=pl.col(ESTIMATE),
            rows=m,
            unbiased=unbiased(),
            variance=widened_variance(measure),
            misplaced=m * pl.min_horizontal(ESTIMATE, SHORTFALL),
        )

        def with_draws(frame: pl.DataFrame) -> pl.DataFrame:
            parts = parts_by(frame, rows.model_keys) or [frame]
            return pl.concat(map(self._of_model, parts))

        added = dict.fromkeys(_NUMBERS, pl.Float64()) | dict.fromkeys(_RANKS, pl.Int64())
        found = rows.in_python(known, with_draws, added, adds=True)
        return with_few_scores(found, rows).with_columns(
            measure.values("value", "shrunk", *_LIMITS)
        )

    def _of_model(self, segments: pl.DataFrame) -> pl.DataFrame:
        """Add what is likely of each segment of a model."""
        measure, ok = measure_of(self.measured), pl.col("status") == "ok"
        has_value = ok & pl.col("value").is_not_null() & (pl.col("rows") > 0)
        if not measure.of_hits:
            has_value &= pl.col("variance").is_not_null()
        is_used = segments.select(has_value.fill_null(value=False)).to_series()
        used = segments.filter(is_used)
        # Whether so few rows differ from the rest that a normal logit is no longer one.
        misplaced = fmean(used["misplaced"]) if used.height else 0.0
        near_end = measure.of_hits and misplaced < _FEWEST_MISPLACED
        if used.height < _FEWEST:
            return _without_draws(segments, "few_segments")
        if not used["variance"].is_not_null().any():
            return _without_draws(segments, "no_std_error")
        at = pl.when(pl.lit(is_used)).then(pl.lit(is_used).cum_sum().cast(pl.Int64) - 1)
        found = self._drawn(used)
        status = (
            pl.when(ok & pl.col("few_negatives") & (pl.col("rows") >= FEW_POSITIVES))
            .then(pl.lit("few_negatives"))
            # By simulation intervals of segments without an error of their own cover half.
            .when(ok & (pl.lit(near_end) | ~pl.lit(is_used) | pl.col("variance").is_null()))
            .then(pl.lit(measure.few))
            .otherwise("status")
        )
        return segments.with_columns(
            *(pl.lit(values).gather(at).alias(values.name) for values in found),
            status=status,
        )

    def _drawn(self, used: pl.DataFrame) -> list[pl.Series]:
        """Return the columns that are computed from draws of the true values."""
        import numpy as np  # noqa: PLC0415 - optional

        from frame_prc._inference.random_effects import shrunk  # noqa: PLC0415 - needs NumPy

        measure, tail = measure_of(self.measured), (1 - self.level) / 2
        columns = (used[name].cast(pl.Float64) for name in ("unbiased", "variance", "rows"))
        numbers = (column.fill_null(float("nan")).to_numpy() for column in columns)
        draws = shrunk(*numbers, of_hits=measure.of_hits)
        ends = [tail, 1 - tail]
        low, high = np.quantile(draws.values, ends, axis=0)
        ranks = draws.ranks if measure.higher_is_better else used.height + 1 - draws.ranks
        rank_low, rank_high = np.quantile(ranks, ends, axis=0, method="nearest")
        below = None if self.below is None else (self.below - measure.lowest) / measure.span
        found = {
            "ci_low": low,
            "ci_high": high,
            "shrunk": draws.values.mean(axis=0),
            _SHARE: draws.shares,
            "probability_worst": (ranks == used.height).mean(axis=0),
            "probability_below": (draws.values < (below or 0.0)).mean(axis=0),
            "rank_low": rank_low,
            "rank_high": rank_high,
        }
        return [pl.Series(name, values) for name, values in found.items()]


def _without_draws(segments: pl.DataFrame, reason: str) -> pl.DataFrame:
    """Return segments of which nothing more is known, and why."""
    nulls = [pl.lit(None, pl.Float64).alias(name) for name in _NUMBERS]
    ranks = [pl.lit(None, pl.Int64).alias(name) for name in _RANKS]
    said = pl.when(pl.col("status") == "ok").then(pl.lit(reason)).otherwise("status")
    return segments.with_columns(*nulls, *ranks, said.alias("status"))
