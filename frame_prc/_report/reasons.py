"""Why the answers of a report are what they are: the tests behind them, and what they allow for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from frame_prc._charts.summary_data import PAIR, SURE
from frame_prc._charts.text import (
    count_text,
    few_of,
    prevalence_text,
    rate_text,
    rounded_percent,
    status_text,
)
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED, FEW_OF_POSITIVES
from frame_prc._report.evaluation import BETTER, SMALL, WORSE, Evaluation
from frame_prc._report.period import kind_of_segments
from frame_prc._report.sentences import (
    MOST_NAMED,
    comparisons_of_best,
    interval_text,
    isolated,
    listed,
    listed_all,
    p_text,
    rates_text,
    segments_text,
    signed_text,
)

_LOWEST = 3  # segments to look at

# --- how good ------------------------------------------------------------------------------------


def of_area(found: Evaluation) -> Iterator[str]:
    """Yield what the area is, and what its interval allows for."""
    yield "Average precision sums precision over recall: it is the area in steps under the curve."
    row = found.of_best
    if row[AVERAGE_PRECISION] is None or row["ci_low"] is None:
        return
    if row["status"] in FEW_OF_POSITIVES:
        yield f"The interval rests on little ({status_text(row['status'])}), and may be too narrow."
    yield _on_clusters(found)


def _on_clusters(found: Evaluation) -> str:
    if found.cluster is None:
        return (
            "All rows are taken as independent. If several share a day, a user or a patient, the "
            "intervals are too narrow: ask for a report with that column in cluster=."
        )
    return (
        f"Rows with the same {isolated(found.cluster)} count as one cluster "
        f"({count_text(found.n_clusters)} of them): all intervals and tests allow for that."
    )


# --- which model ---------------------------------------------------------------------------------


def of_comparisons(tests: list[dict[str, Any]], found: Evaluation) -> Iterator[str]:
    """Yield the tests of the best model against each other, or why there are none."""
    if not tests:
        areas = [
            f"{isolated(row['model'])} {rate_text(row[AVERAGE_PRECISION])}"
            for row in found.pooled.to_dicts()
        ]
        yield f"Average precisions: {listed_all(areas)}."
        yield "A test needs the scores of all models as columns of single rows in memory."
        return
    yield "Models are compared on the same rows."
    for row in tests:
        pair = f"{isolated(row['model'])} against {isolated(row['baseline'])}"
        yield f"{pair}: {_tested(row, found)}."
    if len(tests) > 1:
        yield f"p-values are adjusted for {found.of_models.height:,} comparisons (Holm)."


def _tested(row: dict[str, Any], found: Evaluation) -> str:
    """Return a difference with its interval, its p-value and its status."""
    parts = [
        *([interval_text(row, found)] if row["ci_low"] is not None else []),
        *([p_text(row["p_adjusted"])] if row["p_adjusted"] is not None else []),
        *([status_text(row["status"])] if row["status"] != "ok" else []),
    ]
    difference = f"difference {signed_text(row['difference'])}"
    certainty = f" ({', '.join(parts)})" if parts else ""
    return f"{rates_text(row)}, {difference}{certainty}"


def by_segment(found: Evaluation) -> Iterator[str]:
    """Yield in which segments the best model is better than another, and in which it is worse."""
    if found.differences.is_empty():
        return
    tests = _tests_of_best(found)
    yield (
        f"By {isolated(kind_of_segments(found))}, at one prevalence and with p-values adjusted for "
        f"{found.differences['p_value'].count():,} tests:"
    )
    for (other,), own in tests.group_by("baseline", maintain_order=True):
        yield _in_segments(own, isolated(found.best), isolated(str(other)), found)


def won_by_segment(found: Evaluation) -> str:
    """Return in which segments the best of two models is better, and in which it is worse."""
    if found.differences.is_empty() or len(found.models) > PAIR:
        return ""
    better, worse = _sides(_tests_of_best(found), found)
    kind, best = isolated(kind_of_segments(found)), isolated(found.best)
    if better.is_empty() and worse.is_empty():
        return f"By {kind}: no difference is shown."
    won, lost = (_few_or_count(side, found) for side in (better, worse))
    return f"By {kind}: {best} is better in {won}, worse in {lost}."


def _few_or_count(side: pl.DataFrame, found: Evaluation) -> str:
    names = [isolated(found.names[number]) for number in side["segment"]]
    return (
        listed_all(names) if 0 < len(names) <= _LOWEST else f"{len(names):,}" if names else "none"
    )


def _tests_of_best(found: Evaluation) -> pl.DataFrame:
    rows = list(comparisons_of_best(found.differences, found))
    return pl.DataFrame(rows, infer_schema_length=None)


def _sides(own: pl.DataFrame, found: Evaluation) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tests that show the best model to be better, and worse, the clearest first."""
    believed = pl.col("status").is_in(BELIEVED)
    shown = own.filter(believed, pl.col("p_adjusted") < found.alpha)
    better = shown.filter(pl.col("difference") > 0).sort("difference", descending=True)
    return better, shown.filter(pl.col("difference") < 0).sort("difference")


def _in_segments(own: pl.DataFrame, best: str, other: str, found: Evaluation) -> str:
    tested = own.drop_nulls("p_adjusted").filter(pl.col("status").is_in(BELIEVED))
    if tested.is_empty():
        return f"In no segment can {best} and {other} be compared."
    better, worse = _sides(own, found)
    count = f"{better.height:,} of {tested.height:,}"
    won = f" ({_values(better, found)})" if 0 < better.height < tested.height else ""
    lost = f"worse in {_values(worse, found)}" if worse.height else "worse in none"
    return f"{best} is shown to be better than {other} in {count}{won}, and {lost}."


def _values(rows: pl.DataFrame, found: Evaluation) -> str:
    """Return segments with the two values that are compared in each."""
    return listed(
        [f"{isolated(found.names[row['segment']])} {rates_text(row)}" for row in rows.to_dicts()]
    )


# --- which segment -------------------------------------------------------------------------------


def of_segments(found: Evaluation) -> Iterator[str]:
    """Yield how segments are compared, what is shown, how far they differ, and which are small."""
    if found.against_others.height:
        yield (
            f"Each segment's {_measure(found)} is compared with the mean of the others; p-values "
            f"are adjusted for {found.against_others['p_value'].count():,} tests (Holm)."
        )
        yield from _tests_that_show(found)
    yield from _spread(found)
    yield from _worst(found)
    yield _sizes(found)


def _measure(found: Evaluation) -> str:
    reference = found.of_best.get("reference_prevalence")
    at = "" if reference is None else f" ({prevalence_text(reference)})"
    of_model = f" of {isolated(found.best)}" if len(found.models) > 1 else ""
    return f"average precision{of_model} at one prevalence{at}"


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


def _spread(found: Evaluation) -> Iterator[str]:
    """Yield whether the segments differ at all, and how far."""
    if found.heterogeneity.is_empty():
        return
    row = found.heterogeneity.row(by_predicate=pl.col("model") == found.best, named=True)
    if row["p_value"] is None:
        if row["status"] == "few_clusters":
            yield (
                "Whether segments differ at all is not tested: it needs more values of "
                f"{isolated(found.cluster or '')}, as each has rows in several segments."
            )
        return
    within = f": about two thirds lie within {rate_text(row['tau'])} of their mean"
    if row["p_value"] < found.alpha:
        alone = found.segments_that_are(WORSE) or found.segments_that_are(BETTER)
        also = "" if alone else ", though none is by itself"
        yield f"Segments are shown to differ ({p_text(row['p_value'])}{also}){within}."
    else:
        yield f"As a whole, segments are not shown to differ ({p_text(row['p_value'])})."


def _worst(found: Evaluation) -> Iterator[str]:
    """Yield which segment is most likely the worst; one that cannot be judged is not named."""
    own = found.worst if found.worst.is_empty() else found.worst.filter(model=found.best)
    if own.is_empty() or own["segment"][0] in found.segments_that_are(SMALL):
        return
    name = isolated(found.names[own["segment"][0]])
    share = rounded_percent(own["probability_worst"][0])
    if own["probability_worst"][0] >= SURE:
        yield f"{name} is the worst with a probability of {share}."
    else:
        yield (
            f"Which one is the worst cannot be told: {name} is the most likely, with a probability "
            f"of {share}."
        )


def lowest_segments(found: Evaluation) -> list[int]:
    """Return the numbers of the few segments with the lowest estimates, without small ones."""
    judged = found.standings.filter(pl.col("standing") != SMALL).sort(CALIBRATED, "segment")
    return judged["segment"].head(_LOWEST).to_list()


def _sizes(found: Evaluation) -> str:
    """Return which segments are too small to judge, and why."""
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
    """Return how many positives are few, in the words of the picture."""
    if not small["status"].is_in(FEW_OF_POSITIVES).any():
        return ""
    text = (
        f" Few positives: fewer than {few_of(found.cluster, weighted=found.rows.columns.weighted)}"
    )
    uneven = ", where clusters that hold unequal shares of the positives count as fewer"
    return f"{text}{uneven if found.rows.clustered else ''}."


def _too_small(reason: str, own: pl.DataFrame, found: Evaluation) -> str:
    """Return the segments that are too small for one reason."""
    names = listed([isolated(found.names[number]) for number in own["segment"]])
    texts = [count_text(value) for value in own["n_pos"]]
    many = texts if len(texts) <= MOST_NAMED else [f"{texts[0]} to {texts[-1]}"]
    have = "has" if own.height == 1 else "have"
    if reason == "few_clusters" and found.cluster is not None:
        clusters = f"positives in few values of {isolated(found.cluster)}"
        return f"{names} {have} {clusters} ({listed_all(many)} positives)"
    counts = f" ({listed_all(many)})" if reason == "few_positives" else ""
    return f"{names} {have} {status_text(reason)}{counts}"


# --- which threshold -----------------------------------------------------------------------------


def of_threshold(found: Evaluation) -> Iterator[str]:
    """Yield how the threshold was chosen, and what that does to new rows."""
    yield "F1 is the harmonic mean of precision and recall: it weighs them alike, as costs may not."
    yield "A threshold that was chosen on these rows does a little worse on new ones."
    others = [row for row in found.pooled.to_dicts() if row["best_f1_threshold"] is not None]
    if len(others) > 1:
        texts = [
            f"{isolated(row['model'])} {rate_text(row['best_f1'])} at "
            f"{found.threshold_text(row['best_f1_threshold'])}"
            for row in others
        ]
        yield f"Largest F1 of each model: {listed_all(texts)}."
