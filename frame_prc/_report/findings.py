"""What a report says in sentences: which model is better, over all rows and in each segment.

A sentence says that something is so only where a test shows it, and otherwise that it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._charts.text import rate_text, status_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import BELIEVED
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.segment_findings import name_of_model, on_segments, on_sizes, on_spread
from frame_prc._report.sentences import (
    at_one_prevalence,
    difference_texts,
    interval_text,
    is_shown,
    isolated,
    listed,
    listed_all,
    p_text,
    segment_names,
    segments_text,
    turned,
    with_interval,
)


@dataclass(frozen=True)
class Finding:
    """A sentence or two, what they are about, and the models they are of, if there are several."""

    about: str
    text: str
    models: str = ""


def findings(found: Evaluation) -> Iterator[Finding]:
    """Yield findings; on segments, those of the best model, or of all that may be the best."""
    yield Finding("models", _on_models(found))
    if found.segments.height < 2:  # noqa: PLR2004
        return
    for pair, text in _on_models_by_segment(found):
        yield Finding("models by segment", text, pair)
    models = _better_models(found)
    for model in models:
        if (spread := on_spread(found, model)) is not None:
            yield Finding("spread", spread, name_of_model(found, model))
    for model in models:
        yield Finding("segments", on_segments(found, model), name_of_model(found, model))
    yield Finding("sizes", on_sizes(found))


# --- over all rows -------------------------------------------------------------------------------


def _on_models(found: Evaluation) -> str:
    """Return which model is better over all rows."""
    pooled, best = {row["model"]: row for row in found.pooled.to_dicts()}, found.best
    # Of several models, none has a row where there are no rows.
    over_all = pooled.get(best, {AVERAGE_PRECISION: None, "status": "empty"})
    if over_all[AVERAGE_PRECISION] is None:
        reason = status_text(over_all["status"])
        return f"No model has an average precision over all rows: {reason}."
    if len(found.models) == 1:
        return _on_one_model(over_all, found)
    if found.of_models.is_empty():
        return _untested(pooled, best, found)
    sentences = list(_beside_others(found, best, rate_text(over_all[AVERAGE_PRECISION])))
    return f"Over all rows, {' '.join(sentences)}"


def _beside_others(found: Evaluation, best: str, area: str) -> Iterator[str]:
    """Yield which models the best one is better than, may be better than, and equals."""
    tests = [row for row in _tests_of(found.of_models, best) if row["difference"] is not None]
    name = isolated(best)
    shown = [row for row in tests if is_shown(row, found.alpha) and row["difference"] > 0]
    equal = [row for row in tests if row["difference"] == 0]
    open_ = [row for row in tests if row not in shown and row not in equal]
    if shown:
        yield f"{name} is better than {listed_all(_compared(row, found) for row in shown)}."
    if open_:
        yield (
            f"{name}{' also' if shown else ''} has a larger average precision than "
            f"{listed_all(_compared(row, found) for row in open_)}, but the data do not show that "
            "it is better."
        )
    if equal:
        others = listed_all(isolated(row["other"]) for row in equal)
        also = " also" if shown or open_ else ""
        yield f"{name}{also} has the same average precision as {others}: {area}."


def _on_one_model(row: dict[str, Any], found: Evaluation) -> str:
    area = f"{rate_text(row[AVERAGE_PRECISION])}{with_interval(row, found)}"
    chance = rate_text(row["random_average_precision"])
    text = f"Over all rows, {isolated(row['model'])} has an average precision of {area}"
    if row["status"] == "below_chance":
        return f"{text}, below the {chance} of a random ranking: is a lower score better?"
    return f"{text}; the chance level, which a random ranking is expected to have, is {chance}."


def _untested(pooled: dict[str, dict[str, Any]], best: str, found: Evaluation) -> str:
    """Return which model has the larger area, where models cannot be compared row by row."""
    areas = (
        f"{isolated(model)} {rate_text(row[AVERAGE_PRECISION]) or status_text(row['status'])}"
        f"{with_interval(row, found)}"
        for model, row in pooled.items()
    )
    return (
        f"Over all rows, {isolated(best)} has the largest average precision ({listed_all(areas)}). "
        "Whether it is better is not tested: that needs the scores of all models side by side in "
        "one row."
    )


def _tests_of(table: pl.DataFrame, best: str) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of the best model with others, always the best minus the other."""
    for row in table.iter_rows(named=True):
        if row["model"] == best:
            yield row | {"other": row["baseline"]}
        elif row["baseline"] == best:
            yield turned(row) | {"other": row["model"]}


def _compared(row: dict[str, Any], found: Evaluation) -> str:
    """Return a difference in words."""
    texts = difference_texts(row)
    certainty = [
        *([interval_text(texts["ci_low"], texts["ci_high"], found)] if texts["ci_low"] else []),
        p_text(row["p_adjusted"]) if row["p_value"] is not None else "not tested",
        *([status_text(row["status"])] if row["status"] != "ok" else []),
    ]
    return (
        f"{isolated(row['other'])}: {texts['value_a']} against {texts['value_b']}, a difference of "
        f"{texts['difference']} ({', '.join(certainty)})"
    )


def _better_models(found: Evaluation) -> list[str]:
    """Return the model that is shown to be better than all others, or all that may be the best."""
    worse = {
        row["other"]
        for row in _tests_of(found.of_models, found.best)
        if is_shown(row, found.alpha) and row["difference"] > 0
    }
    return [model for model in found.models if model not in worse]


# --- in segments ---------------------------------------------------------------------------------


def _on_models_by_segment(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield two models, and in which segments the best is not better than the other."""
    if found.differences.is_empty():
        return
    of_best = list(_tests_of(found.differences, found.best))
    tests = pl.DataFrame(of_best, infer_schema_length=None)
    for (name,), own in tests.group_by("other", maintain_order=True):
        first, other = isolated(found.best), isolated(str(name))
        tested = own.drop_nulls("p_adjusted").filter(pl.col("status").is_in(BELIEVED))
        yield f"{first} and {other}", _by_segment(tested, first, other, found)


def _by_segment(tests: pl.DataFrame, best: str, other: str, found: Evaluation) -> str:
    if tests.is_empty():
        return f"In no segment can {best} and {other} be compared."
    is_real = pl.col("p_adjusted") < found.alpha
    better = tests.filter(is_real, pl.col("difference") > 0)
    worse = tests.filter(is_real, pl.col("difference") < 0).sort("difference")
    measure = at_one_prevalence(found.differences)
    if better.height == tests.height:
        return f"{measure}, {best} is better than {other} in {_each_of(tests.height, found)}."
    if better.is_empty() and worse.is_empty():
        return f"{measure}, {best} and {other} are not shown to differ in any segment."
    names = segment_names(found)
    against = listed([_areas(row, names) for row in worse.to_dicts()]) if worse.height else "none"
    text = (
        f"{measure}, {best} is better than {other} in {better.height:,} of {tests.height:,} and "
        f"worse in {against}"
    )
    unsure = tests.filter(~is_real).sort("difference", "segment")["segment"]
    if unsure.is_empty():
        return f"{text}."
    return f"{text}; in {listed([names[i] for i in unsure])} neither is shown to be better."


def _each_of(count: int, found: Evaluation) -> str:
    if count == found.segments.height:
        return f"each of the {segments_text(count)}"
    return f"each of the {segments_text(count)} that can be tested"


def _areas(row: dict[str, Any], names: dict[int, str]) -> str:
    return (
        f"{names[row['segment']]} ({rate_text(row['value_a'])} against {rate_text(row['value_b'])})"
    )
