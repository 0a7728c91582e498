"""The numbers of a report as JSON, with keys that stay the same: ``report.schema.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from frame_prc._charts.text import percent_text
from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._inference.few_scores import models_with_few_scores
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.findings import findings
from frame_prc._report.period import period
from frame_prc._report.sentences import isolated, listed

FORMAT = "frame_prc report 1"

_FEW_SCORES = 2  # of so few rows, no model has more


def document(found: Evaluation) -> dict[str, Any]:
    """Return the numbers of a report."""
    keys = _KeysOf(found)
    return {
        "format": FORMAT,
        "evaluated": evaluated(found),
        "findings": [{"about": f.about, "text": f.text} for f in findings(found)],
        "scorecard": keys.records(found.scorecard),
        "models": _records(found.of_models),
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
    options: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "default": str}
    try:
        return json.dumps(content, allow_nan=False, **options)
    except ValueError:  # only then: looking at each number would double the time
        return json.dumps(in_json(content), **options)


def in_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: in_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [in_json(inner) for inner in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


class _KeysOf:
    """Puts the caller's keys in place of the numbers of segments."""

    def __init__(self, found: Evaluation) -> None:
        values = found.segments.drop("name").rows()
        names, self.models = found.keys, found.models
        self.of: dict[int | None, dict[str, Any] | None] = {
            row[0]: dict(zip(names, row[1:], strict=True)) for row in values
        }
        self.of[None] = None

    def records(
        self, table: pl.DataFrame, columns: Sequence[str] = ("segment",)
    ) -> list[dict[str, Any]]:
        """Return a record for each row."""
        return [
            row | {name: self.of[row[name]] for name in columns if name in row}
            for row in _records(table)
        ]

    def lines(self, points: pl.DataFrame) -> list[dict[str, Any]]:
        """Return a record for each model and segment, with a list for each column."""
        return [
            {"model": model, "segment": self.of[segment], **lists(part)}
            for (model, segment), part in lines_of(points, self.models)
        ]


def lines_of(
    points: pl.DataFrame, models: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Yield the model and the segment of each line, all rows first, and its points."""
    if points.is_empty():
        return
    parts = points.partition_by("model", "segment", as_dict=True, include_key=False)
    for model, segment in sorted(parts, key=lambda key: (_place(key[1]), models.index(key[0]))):
        yield (model, segment), parts[model, segment]


def lists(points: pl.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of points as lists; the threshold that opens a curve is infinite."""
    columns: dict[str, list[Any]] = points.to_dict(as_series=False)
    return columns | {"threshold": in_json(columns["threshold"])}


def _place(segment: int | None) -> int:
    return -1 if segment is None else segment


def _records(table: pl.DataFrame) -> list[dict[str, Any]]:
    return table.to_dicts()


# --- what was evaluated --------------------------------------------------------------------------


def evaluated(found: Evaluation) -> dict[str, Any]:
    """Return what was evaluated, and how."""
    asked, options = found.asked, found.options
    pooled = found.scorecard.filter(pl.col("level") == "pooled").sort("n", descending=True)
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
    sizes = dict(found.scorecard.filter(level="pooled").select("model", "n").rows())
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
    statuses = found.scorecard.filter(pl.col("level") == "pooled")["status"]
    if "below_chance" in statuses:
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
