"""What a report says in sentences: which model is better, which segments differ, which are small.

A sentence says that something is so only where a test shows it, and otherwise that it is not shown.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from frame_prc._charts.text import count_text, percent_text, rate_text, safe, short, status_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.shown import SMALL, best_model

_NAMED = 3  # models, or segments with the lowest estimates
_LISTED = 6  # other segments, before "and others"
_LEAST_P = 0.001
# First strong isolate, and pop directional isolate: a name in another direction, or with a mark
# that changes it, leaves the sentence around it as it is.
_ISOLATED = "\u2068{}\u2069"
_LEFT_TO_RIGHT = frozenset({"L", "EN", "ES", "ET", "CS", "NSM", "BN", "B", "S", "WS", "ON"})


@dataclass(frozen=True)
class Finding:
    """A sentence or two, and what they are about."""

    about: str
    text: str


def findings(found: Evaluation) -> list[Finding]:
    """Return the findings of a report."""
    written = [Finding("models", _on_models(found))]
    if found.segments.height > 1:
        models = _in_question(found)
        written += [Finding("differences", text) for text in _on_differences(found)]
        written += [Finding("segments", _on_segments(found, model)) for model in models]
        written += [
            Finding("spread", text) for model in models for text in _on_spread(found, model)
        ]
        written.append(Finding("sizes", _on_sizes(found)))
    return written


def _in_question(found: Evaluation) -> list[str]:
    """Return the best model and those that it is not shown to be better than, the first few."""
    best = best_model(found.scorecard, found.models)
    beaten = {
        row["other"]
        for row in _tests(found.of_models, best)
        if _is_shown(row, found) and row["difference"] > 0
    }
    areas = dict(_rows(found, "pooled").select("model", AVERAGE_PRECISION).iter_rows())
    unbeaten = [model for model in found.models if areas.get(model) is not None]
    others = [model for model in unbeaten if model != best and model not in beaten]
    return [best, *others][:_NAMED]


# --- models --------------------------------------------------------------------------------------


def _on_models(found: Evaluation) -> str:
    pooled = {row["model"]: row for row in _rows(found, "pooled").iter_rows(named=True)}
    best = best_model(found.scorecard, found.models)
    if pooled[best][AVERAGE_PRECISION] is None:
        reason = status_text(pooled[best]["status"])
        return f"No model has an average precision over all rows: {reason}."
    if len(found.models) == 1:
        return _on_one_model(pooled[best], found)
    if found.of_models.is_empty():
        return _untested(pooled, best, found)
    tests = [row for row in _tests(found.of_models, best) if row["difference"] is not None]
    shown = [row for row in tests if _is_shown(row, found) and row["difference"] > 0]
    open_ = [row for row in tests if row not in shown]
    sentences, name = [], _isolated(best)
    if shown:
        sentences.append(f"{name} is better than {_and(_compared(row, found) for row in shown)}.")
    if open_:
        also = " also" if shown else ""
        sentences.append(
            f"{name}{also} has a larger average precision than "
            f"{_and(_compared(row, found) for row in open_)}, but the data do not show that it is "
            "better."
        )
    return f"Over all rows, {' '.join(sentences)}"


def _on_one_model(row: dict[str, Any], found: Evaluation) -> str:
    area = f"{rate_text(row[AVERAGE_PRECISION])}{_interval(row, found)}"
    chance = rate_text(row["random_average_precision"])
    text = f"Over all rows, {_isolated(row['model'])} has an average precision of {area}"
    if row["status"] == "below_chance":
        return f"{text}, below the {chance} of a random ranking: is a lower score better?"
    return f"{text}; a random ranking has {chance}."


def _untested(pooled: dict[str, dict[str, Any]], best: str, found: Evaluation) -> str:
    """Return which model has the larger area, where models cannot be compared row by row."""
    areas = (
        f"{_isolated(model)} {rate_text(row[AVERAGE_PRECISION]) or status_text(row['status'])}"
        f"{_interval(row, found)}"
        for model, row in pooled.items()
    )
    return (
        f"Over all rows, {_isolated(best)} has the largest average precision ({_and(areas)}). "
        "Whether it is better is not tested: that needs the scores of all models side by side in "
        "one row."
    )


def _tests(table: pl.DataFrame, best: str) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of the best model with others, always the best minus the other."""
    for row in table.iter_rows(named=True):
        if row["model_a"] == best:
            yield row | {"other": row["model_b"]}
        elif row["model_b"] == best:
            turned = {"ap_a": row["ap_b"], "ap_b": row["ap_a"], "other": row["model_a"]}
            numbers = {"difference": row["difference"], "ci_low": row["ci_high"]}
            numbers["ci_high"] = row["ci_low"]
            negative = {name: None if v is None else -v for name, v in numbers.items()}
            yield row | turned | negative


def _compared(row: dict[str, Any], found: Evaluation) -> str:
    """Return a difference in words."""
    tested = _p_text(row["p_adjusted"]) if row["p_value"] is not None else "not tested"
    areas = f"{rate_text(row['ap_a'])} against {rate_text(row['ap_b'])}"
    return (
        f"{_isolated(row['other'])}: {areas}, a difference of "
        f"{rate_text(row['difference'])}{_interval(row, found, tested)}"
    )


def _interval(row: dict[str, Any], found: Evaluation, *more: str) -> str:
    """Return the interval of a row in parentheses, and what else is to be said there."""
    parts = list(more)
    if row.get("ci_low") is not None:
        ends = f"{rate_text(row['ci_low'])} to {rate_text(row['ci_high'])}"
        parts.insert(0, f"{percent_text(found.options.level)} interval {ends}")
    return f" ({', '.join(parts)})" if parts else ""


def _on_differences(found: Evaluation) -> Iterator[str]:
    """Yield in which segments the best model is better or worse than each of the others."""
    best, names = best_model(found.scorecard, found.models), _names(found)
    tests = [row for row in _tests(found.differences, best) if row["p_adjusted"] is not None]
    count = f"{found.segments.height:,}"
    for other in dict.fromkeys(row["other"] for row in tests):
        own = [row for row in tests if row["other"] == other and _is_shown(row, found)]
        better, worse = (
            [names[row["segment"]] for row in own if (row["difference"] > 0) is is_better]
            for is_better in (True, False)
        )
        pair = f"{_isolated(best)} is better than {_isolated(other)}"
        also = f", and worse in {len(worse):,} ({_listed(worse)})" if worse else ""
        open_ = "; in the others no difference is shown" if len(own) < found.segments.height else ""
        if own:
            named = f" ({_listed(better)})" if better else ""
            yield f"By segment, {pair} in {len(better) or 'none'} of {count}{named}{also}{open_}."
        else:
            yield f"In none of the {count} segments is it shown that {pair}, or worse."


# --- segments ------------------------------------------------------------------------------------


def _on_segments(found: Evaluation, model: str) -> str:
    table, lowest = found.against_others, _lowest(found, model)
    if table.is_empty():
        return f"Whether segments differ is not tested: that needs single rows.{lowest}"
    own = table.filter(pl.col("model") == model).drop_nulls("p_adjusted")
    of_model = f" of {_isolated(model)}" if len(found.models) > 1 else ""
    if own.is_empty():
        return f"No segment{of_model} can be tested.{lowest}"
    tests = own.filter(pl.col("p_adjusted") < 1 - found.options.level)
    models = f" and {len(found.models)} models" if len(found.models) > 1 else ""
    corrected = (
        f"At one prevalence and after correction for {found.segments.height:,} segments{models}"
    )
    if tests.is_empty():
        return f"{corrected}, no segment{of_model} is shown to differ from the others.{lowest}"
    return (
        f"{corrected}, {_and(_directions(tests, _names(found)))} than the mean of the other "
        f"segments{of_model}; no more are shown to differ.{lowest}"
    )


def _directions(tests: pl.DataFrame, names: dict[int, str]) -> Iterator[str]:
    """Yield which segments are worse than others, and which are better."""
    worse = tests.filter(pl.col("difference") < 0).sort("ap_a")
    better = tests.filter(pl.col("difference") > 0).sort("ap_a", descending=True)
    for word, side in (("worse", worse), ("better", better)):
        if side.height:
            verb = "is" if side.height == 1 else "are"
            yield f"{_listed([_sides(row, names) for row in side.to_dicts()])} {verb} {word}"


def _sides(row: dict[str, Any], names: dict[int, str]) -> str:
    areas = f"{rate_text(row['ap_a'])} against {rate_text(row['ap_b'])}"
    return f"{names[row['segment']]} ({areas})"


def _lowest(found: Evaluation, model: str) -> str:
    """Return a sentence on the lowest estimates of segments that are large enough to judge."""
    rows = _rows(found, "segment").filter(pl.col("model") == model).drop_nulls(CALIBRATED)
    large = rows.filter(~pl.col("status").is_in(SMALL)).sort(CALIBRATED)
    if large.is_empty():
        return ""
    names = _names(found)
    texts = [
        f"{names[row['segment']]} {rate_text(row[CALIBRATED])}{_calibrated_interval(row)}"
        for row in large.head(_NAMED).to_dicts()
    ]
    return f" The lowest calibrated average precisions are those of {_and(texts)}."


def _on_spread(found: Evaluation, model: str) -> Iterator[str]:
    """Yield whether the segments differ by more than sampling explains, if it is tested."""
    names, of_model = _names(found), f" of {_isolated(model)}" if len(found.models) > 1 else ""
    for row in found.heterogeneity.to_dicts():
        if row["model"] != model or row["p_value"] is None:
            continue
        gap, equal = rate_text(row["gap"]), rate_text(row["gap_if_equal"])
        ends = (
            f"{names[row['worst']]} ({rate_text(row['worst_ap'])}) to {names[row['best']]} "
            f"({rate_text(row['best_ap'])})"
        )
        is_shown = row["p_value"] < 1 - found.options.level
        says = "sampling does not explain it" if is_shown else "segments are not shown to differ"
        few = f", found too often with {row['n_few']:,} small segments" if row["n_few"] else ""
        yield (
            f"The calibrated average precision{of_model} ranges from {ends}, a gap of {gap}. Equal "
            f"segments of these sizes would have a gap of about {equal}: {says} "
            f"({_p_text(row['p_value'])}{few if is_shown else ''})."
        )


def _calibrated_interval(row: dict[str, Any]) -> str:
    low, high = row["calibrated_ci_low"], row["calibrated_ci_high"]
    return "" if low is None else f" [{rate_text(low)}, {rate_text(high)}]"


# --- sizes ---------------------------------------------------------------------------------------


def _on_sizes(found: Evaluation) -> str:
    own = _rows(found, "segment").filter(pl.col("model") == found.models[0])
    if found.asked.model is not None:  # a segment may be small for one model
        own = _rows(found, "segment").unique("segment", keep="first", maintain_order=True)
    small = own.filter(pl.col("status").is_in(SMALL)).sort("n_pos", "segment")
    total = f"{found.segments.height:,} segments"
    if small.is_empty():
        return f"None of the {total} is too small to judge."
    names = _names(found)
    texts = [f"{names[row['segment']]} ({_reason(row, found)})" for row in small.to_dicts()]
    subject = f"{small.height:,} of the {total} {'is' if small.height == 1 else 'are'}"
    if small.height == found.segments.height:
        subject = f"All {total} are"
    return f"{subject} too small to judge: {_listed(texts)}."


def _reason(row: dict[str, Any], found: Evaluation) -> str:
    """Return why a segment is too small; clusters may be few although rows are many."""
    reason = status_text(row["status"])
    if not row["status"].startswith("few"):
        return reason
    if row["status"] == "few_positives" and found.cluster is not None:
        reason = f"few values of {_isolated(found.cluster)} with positives"
    return f"{reason}: {count_text(row['n_pos'])} of {count_text(row['n'])} rows are positive"


# --- words ---------------------------------------------------------------------------------------


def _rows(found: Evaluation, level: str) -> pl.DataFrame:
    return found.scorecard.filter(pl.col("level") == level)


def _names(found: Evaluation) -> dict[int, str]:
    names = found.segments.select("segment", "name").iter_rows()
    return {segment: _isolated(name) for segment, name in names}


def _isolated(name: str) -> str:
    """Return a short name that does not change the direction of a sentence."""
    name = short(safe(name))
    directions = set(map(unicodedata.bidirectional, name))
    return name if directions <= _LEFT_TO_RIGHT else _ISOLATED.format(name)


def _is_shown(row: dict[str, Any], found: Evaluation) -> bool:
    p = row["p_adjusted"]
    return p is not None and p < 1 - found.options.level


def _p_text(p: float) -> str:
    return f"p < {_LEAST_P}" if p < _LEAST_P else f"p = {p:.2g}"


def _listed(texts: Sequence[str]) -> str:
    """Return all texts, or the first few of many and how many others there are."""
    if len(texts) <= _LISTED:
        return _and(texts)
    return f"{', '.join(texts[: _LISTED - 1])} and {len(texts) - _LISTED + 1:,} others"


def _and(texts: Any) -> str:
    """Return texts as a list in a sentence."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
