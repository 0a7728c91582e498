"""The numbers of a report as JSON, with keys that stay the same: ``report.schema.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

import polars as pl

from frame_prc._charts.text import percent_text
from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._inference.few_scores import models_with_few_scores
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.findings import findings
from frame_prc._report.sentences import isolated, listed

FORMAT = "frame_prc report 1"

_FEW_SCORES = 2  # of so few rows, no model has more
_WEEK = 7  # days
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


def document(found: Evaluation) -> dict[str, Any]:
    """Return the numbers of a report."""
    keys = _KeysOf(found)
    return {
        "format": FORMAT,
        "evaluated": evaluated(found),
        "findings": [{"about": f.about, "text": f.text} for f in findings(found)],
        "scorecard": keys.records(found.scorecard),
        "models": keys.records(found.of_models),
        "differences": keys.records(found.differences),
        "against_others": keys.records(found.against_others),
        "heterogeneity": keys.records(found.heterogeneity, ("best", "worst")),
        "shown": {
            "segments": [keys.of[number] for number in found.shown.segments],
            "judged_by": found.shown.judged_by,
        },
        "curves": keys.lines(found.curves),
        "thresholds": keys.lines(found.thresholds.drop("text", strict=False)),
    }


def to_json(content: Any) -> str:
    """Return JSON; infinity and NaN are texts, as on the command line."""
    numbers = _finite(content)
    return json.dumps(numbers, ensure_ascii=False, separators=(",", ":"), default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


class _KeysOf:
    """Puts the caller's keys in place of the numbers of segments."""

    def __init__(self, found: Evaluation) -> None:
        self.models = found.models
        self.of: dict[int | None, dict[str, Any] | None] = {None: None}
        for number, *values in found.segments.drop("name").iter_rows():
            self.of[number] = dict(zip(found.keys, values, strict=True))

    def records(
        self, table: pl.DataFrame, columns: Sequence[str] = ("segment",)
    ) -> list[dict[str, Any]]:
        """Return a record for each row."""
        return [
            row | {name: self.of[row[name]] for name in columns if name in row}
            for row in table.to_dicts()
        ]

    def lines(self, points: pl.DataFrame) -> list[dict[str, Any]]:
        """Return a record for each model and segment, with a list for each column."""
        return [
            {"model": model, "segment": self.of[segment], **part.to_dict(as_series=False)}
            for (model, segment), part in lines_of(points, self.models)
        ]


def lines_of(
    points: pl.DataFrame, models: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Yield the model and the segment of each line, all rows first, and its points."""
    if points.is_empty():
        return
    parts = points.partition_by("model", "segment", as_dict=True, include_key=False)
    for key in sorted(parts, key=lambda of: (of[1] is not None, of[1], models.index(of[0]))):
        yield key, parts[key]


# --- what was evaluated --------------------------------------------------------------------------


def evaluated(found: Evaluation) -> dict[str, Any]:
    """Return what was evaluated, and how."""
    asked, options = found.asked, found.options
    pooled = found.pooled.sort("n", descending=True)
    size = pooled.row(0, named=True) if pooled.height else {}
    return {
        "title": options.title,
        "version": _version(),
        "truth": _name(asked.classes.get("truth")),
        "pos_label": None if asked.pos_label is None else str(asked.pos_label),
        "models": found.models,
        "keys": found.keys,
        "weight": _name(asked.classes.get("weight")),
        "cluster": found.cluster,
        "n_clusters": _n_clusters(found),
        "missing": asked.missing,
        "ascending": asked.ascending,
        "ci": options.level,
        "calibrate": options.calibrate,
        "reference_prevalence": size.get("reference_prevalence"),
        "n": size.get("n"),
        "n_pos": size.get("n_pos"),
        "n_dropped": size.get("n_dropped"),
        "prevalence": size.get("prevalence"),
        "n_segments": found.segments.height,
        "period": period(found),
        "curve_error": _curve_error(found),
        "conventions": list(_conventions(found)),
        "warnings": list(_warnings(found)),
    }


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes its time

    try:
        return version("frame-prc")
    except PackageNotFoundError:  # run from a folder
        return "unknown"


def _name(column: Any) -> str | None:
    if column is None or isinstance(column, str):
        return column
    name = column.meta.output_name(raise_if_undetermined=False)
    return name if isinstance(name, str) else "an expression"


def _n_clusters(found: Evaluation) -> int | None:
    if found.cluster is None:
        return None
    count: int = found.rows.source.select(pl.col("cluster").n_unique()).collect().item()
    return count


def _curve_error(found: Evaluation) -> float:
    """Return the largest error of the precision of curves, which are thinned."""
    error = None if found.curves.is_empty() else found.curves["precision_error"].max()
    return error if isinstance(error, float) else 0.0


def _conventions(found: Evaluation) -> Iterator[str]:
    relation = "≤" if found.asked.ascending else "≥"
    yield f"A row is predicted positive if its score {relation} the threshold."
    yield "Average precision is the step area: the sum of precision times the growth of recall."
    yield "Rows with equal scores are one point, so the order of rows does not matter."
    yield (
        "The calibrated average precision is that of the same ranking at one prevalence for all "
        "segments."
    )
    level = percent_text(found.options.level)
    yield f"Intervals are {level} intervals, computed on the log-odds scale."
    if found.keys:
        yield "p-values for several segments or models are adjusted by Holm's method."
    if not found.against_others.is_empty():
        yield (
            "Each segment is compared with the mean of the other segments at the same prevalence. "
            "The rows of each segment are ranked separately, and the mean weights segments by "
            "their positives."
        )
    missing = {
        "raise": "No row lacks a truth or a score.",
        "drop": "Rows that lack a truth or a score are left out for all models.",
        "unretrieved": "Rows without a score count as never retrieved.",
    }
    yield missing[found.asked.missing]
    yield (
        "This page cannot know whether the rows were held out from training. Its numbers only mean "
        "what they say if they were."
    )


def _with_few_scores(found: Evaluation) -> list[str]:
    """Return the models of more than two rows whose scores are no more than two values."""
    sizes = dict(found.pooled.select("model", "n").rows())
    table = models_with_few_scores(found.rows).collect()
    few = table.filter(FEW_SCORES)
    names = few[found.rows.model_keys[0]].cast(pl.String) if found.rows.model_keys else found.models
    affected = {"null" if name is None else name for name in names} if few.height else set()
    return [m for m in found.models if m in affected and sizes.get(m, 0) > _FEW_SCORES]


def _warnings(found: Evaluation) -> Iterator[str]:
    columns = found.rows.columns
    if columns.lacks_squares:
        yield (
            "There are no intervals: sums of weights do not say how many rows they stand for. If "
            "they are counts of rows, cast them to integers."
        )
    elif found.cluster is None:
        yield (
            "All rows are taken as independent. If several rows share a day, a user or a patient, "
            "the intervals are too narrow and the p-values too small: name that column in cluster=."
        )
    if "below_chance" in found.pooled["status"]:
        yield "A model is worse than a random ranking: is a lower score better?"
    if named := [isolated(model) for model in _with_few_scores(found)]:
        yield (
            f"{listed(named)} {'has' if len(named) == 1 else 'have'} no more than two different "
            "scores, like the predictions 0 and 1. The average precision is then that of a single "
            "threshold: pass the scores or probabilities that the predictions were made from."
        )
    if found.shown.judged_by is not None:
        yield (
            f"The pictures show {len(found.shown.segments):,} of {found.segments.height:,} "
            "segments: the 20 worst, the 20 best and the 20 largest."
        )


# --- the period ----------------------------------------------------------------------------------


def period(found: Evaluation) -> dict[str, Any] | None:
    """Return the first and the last day of a key, of which units there are, or of the clusters.

    Segments of weeks that begin on 1 and 8 January last until 14 January.
    """
    dtypes = list(found.rows.columns.key_dtypes.items())
    for number, (name, dtype) in enumerate(dtypes):
        values = found.segments[f"key_{number}"].drop_nulls().unique().sort()
        if _is_date(dtype) and values.len():
            return {"column": name, **_of_key(values.to_list())}
    cluster = found.rows.columns.cluster
    if cluster is None or not _is_date(cluster.dtype):
        return None
    days = found.rows.source.select(pl.col("cluster").drop_nulls().unique().sort()).collect()
    if days.is_empty():
        return None
    first, last = days["cluster"][0], days["cluster"][-1]
    ends = {"first": _iso(first), "last": _iso(last)}
    return {"column": cluster.name, **ends, "count": days.height, "unit": None}


def _is_date(dtype: pl.DataType) -> bool:
    return dtype in (pl.Date, pl.Datetime)


def _iso(moment: date | datetime) -> str:
    return moment.isoformat().removesuffix("T00:00:00")


def _of_key(values: list[Any]) -> dict[str, Any]:
    """Return what segments that begin at these moments last from and to."""
    days = [value.date() for value in values if isinstance(value, datetime)]
    has_hours = any(isinstance(v, datetime) and v.time() != time(0) for v in values)
    unit = None if has_hours else unit_of(days or values)
    last = values[-1] if unit is None else last_day(days[-1] if days else values[-1], unit)
    return {
        "first": _iso(values[0]),
        "last": _iso(last),
        "count": len(values),
        "unit": unit,
    }


def unit_of(days: list[date]) -> str | None:
    """Return the unit of segments that begin on these days, which ascend; one day tells none."""
    if len(days) < 2:  # noqa: PLR2004 - a gap needs two
        return None
    for unit, months in _MONTHS.items():
        if all(day.day == 1 and (day.month - 1) % months == 0 for day in days):
            return unit
    gaps = [(b - a).days for a, b in pairwise(days)]
    return "week" if all(gap % _WEEK == 0 for gap in gaps) else "day"


def last_day(first: date, unit: str) -> date:
    """Return the last day of a unit that begins on a day."""
    if unit in _MONTHS:
        months = first.month - 1 + _MONTHS[unit]
        return date(first.year + months // 12, months % 12 + 1, 1) - timedelta(days=1)
    return first + timedelta(days=_WEEK - 1 if unit == "week" else 0)
