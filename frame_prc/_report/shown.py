"""The segments that pictures show: all of them, or the worst, the best and the largest."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from frame_prc._charts.theme import MOST_SEGMENTS
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED

_OF_EACH = 20  # worst, best and largest


@dataclass(frozen=True)
class Shown:
    """The numbers of the segments that are shown, in the order of the keys.

    ``judged_by`` is the model by which the worst and the best were chosen; ``None`` if all segments
    are shown.
    """

    segments: list[int]
    judged_by: str | None


def choose(segments: pl.DataFrame, scorecard: pl.DataFrame, models: list[str]) -> Shown:
    """Return the segments to show: all, if a chart can show them, or those at the ends."""
    numbers = segments["segment"].to_list()
    if len(numbers) <= MOST_SEGMENTS:
        return Shown(numbers, None)
    judged_by = best_model(scorecard, models)
    own = scorecard.filter(pl.col("level") == "segment", pl.col("model") == judged_by)
    ranked = own.drop_nulls(CALIBRATED).sort(CALIBRATED, "segment")["segment"]
    largest = own.sort("n_pos", "segment", descending=[True, False])["segment"]
    chosen = {*ranked.head(_OF_EACH), *ranked.tail(_OF_EACH), *largest.head(_OF_EACH)}
    return Shown(sorted(chosen), judged_by)


def best_model(scorecard: pl.DataFrame, models: list[str]) -> str:
    """Return the model with the largest average precision over all rows; the first of equals."""
    pooled = scorecard.filter(pl.col("level") == "pooled")
    areas = dict(pooled.select("model", AVERAGE_PRECISION).iter_rows())
    known = [model for model in models if areas.get(model) is not None]
    return max(known, key=lambda model: areas[model], default=models[0])
