"""What a report says of segments: where a model is below chance, and which are worse or better.

A sentence on segments names its model if there are several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.summary_data import SURE
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED, FEW_OF_POSITIVES, RANDOM
from frame_prc._report.evaluation import BETTER, SMALL, UNTESTED, WORSE, Evaluation
from frame_prc._report.sentences import (
    MOST_NAMED,
    NAMED,
    OTHERS,
    Answer,
    isolated,
    kind_of_segments,
    listed,
    p_text,
    rates_text,
    said_of,
    segments_text,
)

_LOWEST = 3  # segments to look at


def which_segment(found: Evaluation) -> Answer | None:
    if found.segments.height == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    own = found.without_time
    question = f"Which {isolated(kind_of_segments(own))}"
    usual, also = _differing(own, own.best), ""
    finding, numbers = usual
    reasons = [*of_segments(own), *([] if own is found else _in_times(found))]
    if own.below_chance.height:
        (finding, numbers), also = _below_chance(own), "".join(usual)
        reasons = [also, *_on_chance(own), *reasons]
    return Answer("segment", question, finding, numbers, reasons, also)


def _in_times(found: Evaluation) -> Iterator[str]:
    keys = listed([isolated(key) for key in found.keys], None)
    if found.below_chance.height:
        yield f"By {keys} together: {''.join(_below_chance(found))}"
    yield f"By {keys} together: {''.join(_differing(found, found.best))}"


def _below_chance(found: Evaluation) -> tuple[str, str]:
    by_model = found.below_chance.partition_by("model", maintain_order=True)
    parts = [
        f"{isolated(own['model'][0])} is below chance in {_named(own['segment'].to_list(), found)}"
        for own in by_model[:NAMED]
    ]
    more = len(by_model) - NAMED
    parts += [f"{more:,} more model{'s' * (more > 1)} elsewhere"] if more > 0 else []
    return "; ".join(parts), ". Is a lower score better there?"


def _on_chance(found: Evaluation) -> Iterator[str]:
    texts = [
        f"{isolated(row['model'])} in {isolated(found.names[row['segment']])} "
        f"({text.rate_text(row[CALIBRATED])} against {text.rate_text(row[RANDOM])})"
        for row in found.below_chance.to_dicts()
    ]
    yield (
        f"Below the average precision of a random ranking at the same prevalence: {listed(texts)}. "
        f"The intervals allow for {segments_text(found.segments.height)} (Bonferroni)."
    )


def _differing(found: Evaluation, model: str) -> tuple[str, str]:
    total = found.segments.height
    unjudged = len(found.segments_that_are(SMALL, UNTESTED, model=model))
    if len(found.segments_that_are(SMALL, model=model)) == total:
        return _of(model, f"none of the {total:,} can be judged", found), "."
    if found.against_others.is_empty():
        return "Not tested: ", "that needs single rows in memory."
    rest = f"; {unjudged:,} of {total:,} cannot be judged." if unjudged else "."
    sides = {WORSE: "worse", BETTER: "better"}
    named = [
        f"{word} in {few}" for one, word in sides.items() if (few := _few_of(found, model, one))
    ]
    if not named:
        return _none_by_itself(found, model, rest)
    other = {f"{word} in": f" than elsewhere, shown {word} in none" for word in sides.values()}
    missing = "".join(said for word, said in other.items() if not named[0].startswith(word))
    said = f"{isolated(model)} is {', '.join(named)}"
    return said, f"{missing if len(named) == 1 else ''}{rest}"


def _none_by_itself(found: Evaluation, model: str, rest: str) -> tuple[str, str]:
    """Return what is shown of the segments as a whole, where none is shown to differ."""
    row, total = _heterogeneity(found, model), found.segments.height
    if row["status"] in BELIEVED and row["p_value"] is not None and row["p_value"] < found.alpha:
        name, probability = _likely_worst(found, model)
        worst = f"; {name} is probably the worst" if probability >= SURE else ""
        said = f"segments differ ({p_text(row['p_value'])}), none shown by itself"
        return _of(model, said, found), f"{worst}{rest}"
    if len(found.segments_that_are(SMALL, UNTESTED, model=model)) == total:
        return _of(model, f"none of the {total:,} can be compared with the others", found), "."
    said = f"no {isolated(kind_of_segments(found))} is shown to differ from the others"
    return _of(model, said, found), rest


def _of(model: str, said: str, found: Evaluation) -> str:
    """Return a sentence after the model that it is about, if there are several."""
    return f"{isolated(model)}: {said}" if len(found.models) > 1 else said[0].upper() + said[1:]


def _heterogeneity(found: Evaluation, model: str) -> dict[str, Any]:
    own = found.heterogeneity
    unknown = {"p_value": None, "status": "empty"}
    return unknown if own.is_empty() else own.filter(model=model).row(0, named=True)


def _likely_worst(found: Evaluation, model: str) -> tuple[str, float]:
    own = found.worst if found.worst.is_empty() else found.worst.filter(model=model)
    if own.is_empty() or own["segment"][0] in found.segments_that_are(SMALL, model=model):
        return "", 0.0
    return isolated(found.names[own["segment"][0]]), own["probability_worst"][0]


def _few_of(found: Evaluation, model: str, standing: str) -> str:
    numbers = found.segments_that_are(standing, model=model)
    return _named(numbers[::-1] if standing == BETTER else numbers, found) if numbers else ""


def _named(numbers: Sequence[int], found: Evaluation) -> str:
    return listed([isolated(found.names[number]) for number in numbers], NAMED)


# --- segments, in detail -------------------------------------------------------------------------


def of_segments(found: Evaluation) -> Iterator[str]:
    own = found.against_others
    tests = 0 if own.is_empty() else own.filter(model=found.best)["p_value"].count()
    if tests:
        yield (
            f"Each segment's {_measure(found)} is compared with the mean of the others; p-values "
            f"are adjusted for the {tests:,} tests of this model (Holm)."
        )
        yield from _tests_that_show(found)
        yield from _untested(found)
    yield from _spread(found)
    yield from _worst(found)
    yield _sizes(found)
    for model in found.models if tests else []:
        if model != found.best:
            yield "".join(_differing(found, model))


def _measure(found: Evaluation) -> str:
    reference = found.of_best.get("reference_prevalence")
    at = "" if reference is None else f" ({text.prevalence_text(reference)})"
    return f"average precision{_model('of', found)} at one prevalence{at}"


def _model(word: str, found: Evaluation) -> str:
    """Return of which model a sentence is, if there are several: the best one."""
    return f" {word} {isolated(found.best)}" if len(found.models) > 1 else ""


def _tests_that_show(found: Evaluation) -> Iterator[str]:
    own = found.against_others.filter(model=found.best)
    for standing in (WORSE, BETTER):
        numbers = found.segments_that_are(standing)
        rows = {row["segment"]: row for row in own.to_dicts()}
        texts = [
            f"{isolated(found.names[number])} {rates_text(rows[number])} "
            f"({p_text(rows[number]['p_adjusted'])})"
            for number in numbers
        ]
        if texts:
            yield f"{standing.capitalize()}: {listed(texts)}."


def _untested(found: Evaluation) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for row in found.standings.filter(standing=UNTESTED).to_dicts():
        reasons.setdefault(said_of(row), []).append(isolated(found.names[row["segment"]]))
    of_others = {
        f"{OTHERS}few negatives": (
            "too many positives of these are in segments with few negatives; leave those out"
        )
    }
    for reason, names in reasons.items():
        why = of_others.get(reason, reason.removeprefix(OTHERS))
        yield f"{listed(names)} cannot be compared with the others: {why}."


def _spread(found: Evaluation) -> Iterator[str]:
    row, of_model = _heterogeneity(found, found.best), _model("for", found)
    if row["p_value"] is None:
        if row["status"] == "few_clusters":
            yield (
                f"Whether segments differ at all{of_model} is not tested: it needs more values of "
                f"{isolated(found.cluster or '')}, as each has rows in several segments."
            )
        return
    if row["status"] not in BELIEVED:
        reason = text.status_text(row["status"])
        yield f"Whether segments differ at all{of_model} cannot be told ({reason})."
        return
    within = f": about two thirds lie within {text.rate_text(row['tau'])} of their mean"
    if row["p_value"] < found.alpha:
        alone = found.segments_that_are(WORSE, BETTER)
        also = "" if alone else ", though none is by itself"
        yield f"Segments are shown to differ{of_model} ({p_text(row['p_value'])}{also}){within}."
    else:
        yield (
            f"As a whole, segments are not shown to differ{of_model} ({p_text(row['p_value'])})."
        )


def _worst(found: Evaluation) -> Iterator[str]:
    name, probability = _likely_worst(found, found.best)
    share, of_model = text.rounded_percent(probability), _model("for", found)
    if probability >= SURE:
        yield f"{name} is the worst{of_model} with a probability of {share}."
    elif name:
        yield (
            f"Which one is the worst{of_model} cannot be told: {name} is the most likely, with a "
            f"probability of {share}."
        )


def lowest_segments(found: Evaluation) -> list[int]:
    """Return the numbers of the few segments with the lowest estimates, without small ones."""
    judged = found.standings.filter(pl.col("standing") != SMALL).sort(CALIBRATED, "segment")
    return judged["segment"].head(_LOWEST).to_list()


def _sizes(found: Evaluation) -> str:
    small = found.standings.filter(standing=SMALL).sort("n_pos", "segment")
    total = segments_text(found.segments.height)
    if small.is_empty() and found.rows.columns.lacks_squares:
        return "Sums of weights do not say which segments are too small to judge."
    if small.is_empty():
        return f"None of the {total} is too small to judge."
    parts = [
        _too_small(str(reason), own, found)
        for (reason,), own in small.group_by("status", maintain_order=True)
    ]
    return f"Of {total}, {'; '.join(parts)}.{_what_is_few(small, found)}"


def _what_is_few(small: pl.DataFrame, found: Evaluation) -> str:
    if not small["status"].is_in(FEW_OF_POSITIVES).any():
        return ""
    few = text.few_of(found.cluster, weighted=found.rows.columns.weighted)
    uneven = ", where clusters that hold unequal shares of the positives count as fewer"
    return f" Few positives: fewer than {few}{uneven if found.rows.clustered else ''}."


def _too_small(reason: str, own: pl.DataFrame, found: Evaluation) -> str:
    names = listed([isolated(found.names[number]) for number in own["segment"]])
    texts = [text.count_text(value) for value in own["n_pos"]]
    many = texts if len(texts) <= MOST_NAMED else [f"{texts[0]} to {texts[-1]}"]
    have = "has" if own.height == 1 else "have"
    if reason == "few_clusters" and found.cluster is not None:
        clusters = f"positives in few values of {isolated(found.cluster)}"
        return f"{names} {have} {clusters} ({listed(many, None)} positives)"
    counts = f" ({listed(many, None)})" if reason == "few_positives" else ""
    reference = found.of_best.get("reference_prevalence") or 1.0
    if reason == "few_negatives" and (own["prevalence"] > reference).all():
        return f"{names} {have} too few negatives for a prevalence of {text.share_text(reference)}"
    return f"{names} {have} {text.status_text(reason)}{counts}"
