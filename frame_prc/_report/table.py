"""The table of the page: a row per segment, with the numbers of each model side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from frame_prc._charts.text import status_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._lazy import left_join
from frame_prc._report.evaluation import BETTER, OPEN, SMALL, WORSE, Evaluation
from frame_prc._report.period import period

# The columns of measures, by their labels, with the ends of their intervals.
_MEASURES = {
    "Calibrated AP": (CALIBRATED, f"{CALIBRATED}_low", f"{CALIBRATED}_high"),
    "AP": (AVERAGE_PRECISION, "ci_low", "ci_high"),
    "Lift": ("lift",),
}

Column = dict[str, Any]


def scorecard(found: Evaluation) -> list[Column]:
    """Return the columns of the table: their names, and values in the order of the keys."""
    first, *sizes, prevalence = _sizes(found)
    calibrated, *others = (
        [_of_model(found, model, label, *columns) for model in found.models]
        for label, columns in _MEASURES.items()
    )
    return [
        first,
        *_standings(found),
        *sizes,
        *calibrated,
        *_against_others(found),
        *_of_difference(found),
        prevalence,
        *(column for columns in others for column in columns),
    ]


def _column(label: str, kind: str, values: pl.Series | list[Any], **more: Any) -> Column:
    return {"label": label, "kind": kind, "values": list(values), **more}


def _sizes(found: Evaluation) -> list[Column]:
    """Return the names, sizes and statuses; of models that differ, the larger size."""
    own = found.scorecard.filter(level="segment")
    by_segment = own.group_by("segment").agg(pl.col("n", "n_pos", "prevalence").max(), "status")
    rows = by_segment.sort("segment")
    statuses = [", ".join(map(status_text, dict.fromkeys(names))) for names in rows["status"]]
    notes = ["" if status == "ok" else status for status in statuses]
    return [
        _column(_title(found), "text", found.segments["name"], notes=notes),
        _column("Rows", "count", rows["n"]),
        _column("Positives", "count", rows["n_pos"]),
        _column("Prevalence", "rate", rows["prevalence"]),
    ]


def _standings(found: Evaluation) -> list[Column]:
    """Return which segments are shown to be worse or better than the others."""
    if found.against_others.is_empty():
        return []
    words = {WORSE: "worse", BETTER: "better", SMALL: "too small", OPEN: "undecided"}
    ordered = found.standings.sort("segment")["standing"]
    return [_column("Beside the others", "text", [words[one] for one in ordered])]


def _title(found: Evaluation) -> str:
    """Return the title of the names; those of weeks are their first days."""
    of_keys = period(found) if len(found.keys) == 1 else None
    if of_keys is None or of_keys["unit"] is None:
        return "Segment"
    unit: str = of_keys["unit"].capitalize()
    return unit if unit == "Day" else f"{unit} from"


def _model(found: Evaluation, *models: str) -> dict[str, str]:
    """Return the model of a column, or the pair of models, if there are several."""
    if len(found.models) == 1:
        return {}
    return {"model": " \N{MINUS SIGN} ".join(found.short_names[model] for model in models)}


def _of_model(found: Evaluation, model: str, label: str, name: str, *ends: str) -> Column:
    """Return a measure of a model."""
    rows = left_join(found.segments, found.of_segments(model), ["segment"])
    return _column(label, "rate", rows[name], **_model(found, model), **_ends(rows, *ends))


def _ends(rows: pl.DataFrame, *names: str) -> dict[str, list[float | None]]:
    return {end: rows[name].to_list() for end, name in zip(("low", "high"), names, strict=False)}


def _against_others(found: Evaluation) -> Iterator[Column]:
    """Yield whether segments differ from the others."""
    for model in found.models if found.against_others.height else []:
        own = found.against_others.filter(model=model)
        rows = left_join(found.segments, own, ["segment"])
        p_values = rows["p_adjusted"]
        yield _column("p against the others", "p", p_values, **_model(found, model))


def _of_difference(found: Evaluation) -> Iterator[Column]:
    """Yield the differences of models."""
    if found.differences.is_empty():
        return
    for (a, b), own in found.differences.group_by("model", "baseline", maintain_order=True):
        rows = left_join(found.segments, own, ["segment"])
        of_models, ends = _model(found, a, b), _ends(rows, "ci_low", "ci_high")
        yield _column("Difference", "rate", rows["difference"], **of_models, **ends)
        yield _column("p of the difference", "p", rows["p_adjusted"], **of_models)
