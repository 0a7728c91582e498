"""The numbers of a report as JSON, as ``report.schema.json`` says."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import polars as pl

from frame_prc._charts.text import percent_text
from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._lazy import key_names
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.sentences import Answer, isolated, listed, period

FORMAT = "frame_prc report 1"

_OF_BUDGET = ("model", "target_value", "threshold", "tp", "fp", "fn", "tn", "precision", "recall")
_EXACT = frozenset({"threshold", "best_f1_threshold", "grid", "start"})


def document(found: Evaluation, facts: dict[str, Any], told: Sequence[Answer]) -> dict[str, Any]:
    keys, ordered = _keys_of(found), found.in_order
    return {
        "format": FORMAT,
        "evaluated": facts,
        "findings": [
            {"about": answer.about, "text": answer.text, "reasons": answer.reasons}
            for answer in told
        ],
        "scorecard": _records(keys, found.scorecard),
        "models": found.of_models.to_dicts(),
        "differences": _records(keys, found.differences),
        "against_others": _records(keys, found.against_others),
        "heterogeneity": [_with_ends(row, found.keys) for row in found.heterogeneity.to_dicts()],
        "over_time": [] if ordered is None else _records(_keys_of(ordered), ordered.watched),
        "shown": {
            "segments": [keys[number] for number in found.shown],
            "judged_by": None if found.shows_all else found.best,
        },
        "curves": _lines(keys, found.curves, found.models),
        "thresholds": _lines(keys, found.thresholds, found.models),
        "budgets": found.budgets.select(_OF_BUDGET).to_dicts(),
    }


def to_json(content: Any) -> str:
    """Return JSON; infinity and NaN are texts, as on the command line.

    Numbers have 12 digits, as the last ones depend on the order in which threads add them up;
    thresholds have all, as a row may lie at them.
    """
    return json.dumps(_plain(content), ensure_ascii=False, separators=(",", ":"), default=str)


def _plain(value: Any, *, exact: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner, exact=key in _EXACT) for key, inner in value.items()}
    if isinstance(value, list):
        # Most numbers are in long lists, and many of these are integers.
        return [one if type(one) is int else _plain(one, exact=exact) for one in value]
    if not isinstance(value, float):
        return value
    if math.isfinite(value):
        return value if exact else float(f"{value:.12g}")
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _with_ends(row: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return how far segments differ, with the keys of the best and of the worst in one place."""
    for end in ("best", "worst"):
        values = [row.pop(f"{end}_{key}") for key in key_names(len(keys))]
        row[end] = dict(zip(keys, values, strict=True)) if row["n_segments"] else None
    return row


_Keys: TypeAlias = dict[int | None, dict[str, Any] | None]


def _keys_of(found: Evaluation) -> _Keys:
    """Return the caller's keys of each segment, by its number; none of all rows."""
    rows = found.segments.drop("name").iter_rows()
    return {None: None} | {
        number: dict(zip(found.keys, values, strict=True)) for number, *values in rows
    }


def _records(keys: _Keys, table: pl.DataFrame) -> list[dict[str, Any]]:
    return [row | {"segment": keys[row["segment"]]} for row in table.to_dicts()]


def _lines(keys: _Keys, points: pl.DataFrame, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return a record for each model and segment, with a list for each column."""
    return [
        {"model": model, "segment": keys[segment], **part.to_dict(as_series=False)}
        for (model, segment), part in lines_of(points, models)
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
    asked, options = found.asked, found.options
    pooled = found.pooled.sort("n", descending=True)
    size = pooled.row(0, named=True) if pooled.height else {}
    return {
        "title": options.title,
        "note": options.note,
        "date": options.date,
        "version": _version(),
        "truth": _name(asked.classes.get("truth")),
        "pos_label": None if asked.pos_label is None else str(asked.pos_label),
        "models": found.models,
        "keys": found.keys,
        "weight": _name(asked.classes.get("weight")),
        "cluster": found.cluster,
        "n_clusters": found.n_clusters,
        "missing": asked.missing,
        "ascending": asked.ascending,
        "ci": options.level,
        "calibrate": options.calibrate,
        "target": options.target.text,
        "reference_prevalence": size.get("reference_prevalence"),
        "n": size.get("n"),
        "n_pos": size.get("n_pos"),
        "n_dropped": size.get("n_dropped"),
        "prevalence": size.get("prevalence"),
        "n_segments": found.segments.height,
        "period": period(found),
        "curve_error": _curve_error(found),
        "has_intervals": not found.rows.columns.lacks_squares,
        "conventions": list(_conventions(found)),
        "warnings": list(_warnings(found)),
    }


def _version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes its time

    try:
        return version("frame-prc")
    except PackageNotFoundError:  # run from a folder
        return None


def _name(column: Any) -> str | None:
    if column is None or isinstance(column, str):
        return column
    return column.meta.output_name(raise_if_undetermined=False) or "an expression"


def _curve_error(found: Evaluation) -> float:
    error = None if found.curves.is_empty() else found.curves["precision_error"].max()
    return error if isinstance(error, float) else 0.0


def _conventions(found: Evaluation) -> Iterator[str]:
    asked, relation = found.asked, "≤" if found.asked.ascending else "≥"
    truth = _name(asked.classes.get("truth"))
    if truth is not None:
        label = "" if asked.pos_label is None else f" = {isolated(str(asked.pos_label))}"
        yield f"Truth: {isolated(truth)}{label}."
    if (weight := _name(asked.classes.get("weight"))) is not None:
        yield f"Rows are weighted by {isolated(weight)}."
    yield f"A row is predicted positive if its score {relation} the threshold."
    yield "Average precision is the step area: the sum of precision times the growth of recall."
    yield "Rows with equal scores are one point, so the order of rows does not matter."
    if found.segments.height > 1:
        yield (
            "At one prevalence, average precision is that of the same ranking with more negatives, "
            "or fewer."
        )
    level = percent_text(found.options.level)
    yield f"Intervals are {level} intervals, computed on the log-odds scale."
    if found.segments.height > 1 or found.of_models.height > 1:
        yield "p-values for several segments or models are adjusted by Holm's method."
    if not found.against_others.is_empty():
        yield (
            "Each segment is compared with the mean of the other segments at the same prevalence. "
            "The rows of each segment are ranked separately, and the mean weights segments by "
            "their positives."
        )
    if error := _curve_error(found):
        yield f"Curves are thinned; their precision is off by at most {error:.2g}."
    missing = {
        "raise": "No row lacks a truth or a score.",
        "drop": "Rows that lack a truth or a score are left out for all models.",
        "unretrieved": "Rows without a score count as never retrieved.",
    }
    yield missing[found.asked.missing]


def _warnings(found: Evaluation) -> Iterator[str]:
    if found.rows.columns.lacks_squares:
        yield (
            "There are no intervals: sums of weights do not say how many rows they stand for. If "
            "they are counts of rows, cast them to integers."
        )
    if "below_chance" in found.pooled["status"]:
        yield "A model is worse than a random ranking: is a lower score better?"
    few = found.pooled.filter(status=FEW_SCORES)["model"]
    if named := [isolated(model) for model in found.models if model in few]:
        yield (
            f"{listed(named)} {'has' if len(named) == 1 else 'have'} no more than two different "
            "scores, like the predictions 0 and 1. The average precision is then that of a single "
            "threshold: pass the scores or probabilities that the predictions were made from."
        )
