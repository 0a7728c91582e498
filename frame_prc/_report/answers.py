"""What a report answers: how good, which model, which segment, which threshold.

An answer is a sentence of at most 20 words, and the reasons behind it: the tests, and what they
allow for. It says that something is so only where a test shows it, and names no segment that cannot
be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.summary_data import PAIR, SURE
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_OF_POSITIVES, RANDOM
from frame_prc._report import sentences as say
from frame_prc._report.evaluation import (
    BETTER,
    FEWEST_OF_REFERENCE,
    SMALL,
    UNTESTED,
    WORSE,
    Evaluation,
    is_believed,
)
from frame_prc._report.options import LARGEST_F1


def answers(found: Evaluation) -> list[say.Answer]:
    questions = (_how_good, _which_model, _which_segment, _over_time, _which_threshold)
    known = [question(found) for question in questions]
    return [answer for answer in known if answer is not None]


# --- how good ------------------------------------------------------------------------------------


def _how_good(found: Evaluation) -> say.Answer:
    return say.Answer("how good", "How good", *_area(found), list(_of_area(found)))


def _area(found: Evaluation) -> tuple[str, str]:
    row = found.of_best
    if row[AVERAGE_PRECISION] is None:
        return "No average precision: ", f"{text.status_text(row['status'])}."
    name, chance = say.isolated(found.best), text.rate_text(row["random_average_precision"])
    area = f"average precision {text.rate_text(row[AVERAGE_PRECISION])}"
    interval = "" if row["ci_low"] is None else f" ({say.interval_text(row, found)})"
    numbers = f"{area}{interval} against {chance}."
    if row["status"] == "below_chance":
        return f"{name} is below chance: ", f"{numbers} Is a lower score better?"
    if row["ci_low"] is None:
        return f"{name}: ", f"{area} against {chance} at random."
    if row["ci_low"] <= row["random_average_precision"]:
        return f"{name} is not shown to beat chance: ", numbers
    if row["status"] in FEW:
        return f"{name} is above chance, on {text.status_text(row['status'])}: ", numbers
    return f"{name} beats chance: ", numbers


def _of_area(found: Evaluation) -> Iterator[str]:
    yield "Average precision sums precision over recall: it is the area in steps under the curve."
    row = found.of_best
    if row[AVERAGE_PRECISION] is None or row["ci_low"] is None:
        return
    if row["status"] in FEW:
        of_positives = row["status"] in FEW_OF_POSITIVES
        what, how = ("interval", "narrow") if of_positives else ("area", "high")
        yield f"The {what} rests on {text.status_text(row['status'])}, and may be too {how}."
    yield _on_clusters(found)
    if (strata := found.rows.columns.strata) is not None:
        name = say.isolated(strata.name)
        yield f"Rows were sampled within each {name}: intervals allow for that."


def _on_clusters(found: Evaluation) -> str:
    if found.cluster is None:
        return (
            "All rows are taken as independent. If several share a day, a user or a patient, the "
            "intervals may be too narrow: ask for a report with that column in cluster=."
        )
    return (
        f"Rows with the same {say.isolated(found.cluster)} count as one cluster "
        f"({text.count_text(found.n_clusters)} of them): all intervals and tests allow for that."
    )


# --- which model ---------------------------------------------------------------------------------


def _which_model(found: Evaluation) -> say.Answer | None:
    if len(found.models) == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    tests = say.comparisons_told(found)
    said = _best_model(tests, found)
    reasons = [*_of_comparisons(tests, found), *_by_segment(found.without_time)]
    # Where periods are watched, the first screen has a line on these.
    also = "" if found.in_order else _won_by_segment(found.without_time)
    return say.Answer("model", "Which model", *said, reasons, also)


def _best_model(tests: list[dict[str, Any]], found: Evaluation) -> tuple[str, str]:
    name = say.isolated(found.best)
    if not tests:
        return f"{name} has the largest average precision", "; whether it is better is not tested."
    if found.of_models.height == 1:
        return _of_pair(tests[0], found)
    shown = [row for row in tests if say.is_shown(row, found.alpha)]
    undecided = [say.isolated(row["baseline"]) for row in tests if row not in shown]
    if not shown:
        return (
            f"{name} is largest, but not shown to be better",
            f" than {say.listed(undecided, 3)}.",
        )
    better = say.listed([say.isolated(row["baseline"]) for row in shown], 3)
    rest = f"; {say.listed(undecided, 3)} may be as good" if undecided else ""
    return f"{name} ranks better", f" than {better}{rest}."


def _of_pair(row: dict[str, Any], found: Evaluation) -> tuple[str, str]:
    new, old = (f"{say.isolated(row[side])}" for side in ("model", "baseline"))
    areas = f"{new} {text.rate_text(row['value_a'])}, {old} {text.rate_text(row['value_b'])}"
    if row["difference"] == 0 and row["status"] == "no_std_error":
        return f"{new} and {old} rank alike: ", f"both {text.rate_text(row['value_a'])}."
    if row["status"] not in BELIEVED:
        reason = f"Too little to say which is better ({text.status_text(row['status'])}): "
        return reason, f"{areas}."
    interval = f", interval {say.ends_text(row)}" if row["ci_low"] is not None else ""
    numbers = f"{areas} (difference {say.signed_text(row['difference'])}{interval})."
    if say.is_shown(row, found.alpha):
        return f"{new if row['difference'] > 0 else old} ranks better: ", numbers
    return "Neither is shown to be better: ", numbers


def _of_comparisons(tests: list[dict[str, Any]], found: Evaluation) -> Iterator[str]:
    if not tests:
        areas = [
            f"{say.isolated(row['model'])} {text.rate_text(row[AVERAGE_PRECISION])}"
            for row in found.pooled.to_dicts()
        ]
        yield f"Average precisions: {say.listed(areas, None)}."
        yield "A test needs the scores of all models as columns of single rows in memory."
        return
    yield "Models are compared on the same rows."
    for row in tests:
        pair = f"{say.isolated(row['model'])} against {say.isolated(row['baseline'])}"
        yield f"{pair}: {_tested(row, found)}."
    if len(tests) > 1:
        yield f"p-values are adjusted for {found.of_models.height:,} comparisons (Holm)."


def _tested(row: dict[str, Any], found: Evaluation) -> str:
    parts = [
        *([say.interval_text(row, found)] if row["ci_low"] is not None else []),
        *([say.p_text(row["p_adjusted"])] if row["p_adjusted"] is not None else []),
        *([text.status_text(row["status"])] if row["status"] != "ok" else []),
    ]
    difference = f"difference {say.signed_text(row['difference'])}"
    certainty = f" ({', '.join(parts)})" if parts else ""
    return f"{say.rates_text(row)}, {difference}{certainty}"


def _by_segment(found: Evaluation) -> Iterator[str]:
    # The only segment is all rows.
    if found.differences.is_empty() or found.segments.height == 1:
        return
    tests = _tests_of_best(found)
    kind, count = say.isolated(say.kind_of_segments(found)), found.differences["p_value"].count()
    yield f"By {kind}, at one prevalence and with p-values adjusted for {count:,} tests:"
    for (other,), own in tests.group_by("baseline", maintain_order=True):
        yield _in_segments(own, say.isolated(found.best), say.isolated(str(other)), found)


def _won_by_segment(found: Evaluation) -> str:
    if found.differences.is_empty() or found.segments.height == 1 or len(found.models) > PAIR:
        return ""
    better, worse = _sides(_tests_of_best(found), found)
    kind, best = say.isolated(say.kind_of_segments(found)), say.isolated(found.best)
    total, tested = found.segments.height, _reliable(_tests_of_best(found)).height
    unjudged = f"; {total - tested:,} cannot be judged" if tested < total else ""
    if better.is_empty() and worse.is_empty():
        return f"By {kind}: no difference is shown{unjudged}."
    won, lost = (_few_or_count(side, found) for side in (better, worse))
    [other] = (say.isolated(name) for name in found.models if name != found.best)
    if better.height == total:
        return f"By {kind}: {best} beats {other} in all {total:,}."
    open_ = tested - better.height - worse.height
    rest = f"; {open_:,} undecided" if open_ else ""
    return f"By {kind}: {best} beats {other} in {won}, loses in {lost}{rest}{unjudged}."


def _few_or_count(side: pl.DataFrame, found: Evaluation) -> str:
    if side.is_empty():
        return "none"
    names = [say.isolated(found.names[number]) for number in side["segment"]]
    return say.listed(names, None) if len(names) <= say.NAMED else f"{len(names):,}"


def _reliable(own: pl.DataFrame) -> pl.DataFrame:
    return own.drop_nulls("p_adjusted").filter(is_believed())


def _tests_of_best(found: Evaluation) -> pl.DataFrame:
    rows = list(say.comparisons_of_best(found.differences, found))
    return pl.DataFrame(rows, infer_schema_length=None)


def _sides(own: pl.DataFrame, found: Evaluation) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tests that show the best model to be better, and worse, the clearest first."""
    shown = _reliable(own).filter(pl.col("p_adjusted") < found.alpha)
    better = shown.filter(pl.col("difference") > 0).sort("difference", descending=True)
    return better, shown.filter(pl.col("difference") < 0).sort("difference")


def _in_segments(own: pl.DataFrame, best: str, other: str, found: Evaluation) -> str:
    tested = _reliable(own)
    if tested.is_empty():
        return f"In no segment can {best} and {other} be compared."
    better, worse = _sides(own, found)
    count = f"{better.height:,} of {say.segments_text(own.height)}"
    won = f" ({_values(better, found)})" if 0 < better.height < tested.height else ""
    lost = f"worse in {_values(worse, found)}" if worse.height else "worse in none"
    unknown = own.height - tested.height
    small = f"; in {unknown:,} that cannot be told" if unknown else ""
    return f"{best} is shown to be better than {other} in {count}{won}, and {lost}{small}."


def _values(rows: pl.DataFrame, found: Evaluation) -> str:
    return say.listed(
        [
            f"{say.isolated(found.names[row['segment']])} {say.rates_text(row)}"
            for row in rows.to_dicts()
        ]
    )


# --- which segment: where a model is below chance, and which are worse or better ----------------

_LOWEST = 3  # segments to look at


def _which_segment(found: Evaluation) -> say.Answer | None:
    if found.segments.height == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    own = found.without_time
    question = f"Which {say.isolated(say.kind_of_segments(own))}"
    usual, also = _differing(own, own.best), ""
    finding, numbers = usual
    reasons = [*of_segments(own), *([] if own is found else _in_times(found))]
    if own.below_chance.height:
        (finding, numbers), also = _below_chance(own), "".join(usual)
        reasons = [also, *_on_chance(own), *reasons]
    return say.Answer("segment", question, finding, numbers, reasons, also)


def _in_times(found: Evaluation) -> Iterator[str]:
    keys = say.listed([say.isolated(key) for key in found.keys], None)
    if found.below_chance.height:
        yield f"By {keys} together: {''.join(_below_chance(found))}"
    yield f"By {keys} together: {''.join(_differing(found, found.best))}"


def _below_chance(found: Evaluation) -> tuple[str, str]:
    by_model = found.below_chance.partition_by("model", maintain_order=True)
    named = ((own["model"][0], own["segment"].to_list()) for own in by_model[: say.NAMED])
    parts = [
        f"{say.isolated(model)} is below chance in {_named(numbers, found)}"
        for model, numbers in named
    ]
    more = len(by_model) - say.NAMED
    parts += [f"{more:,} more model{'s' * (more > 1)} elsewhere"] if more > 0 else []
    return "; ".join(parts), ". Is a lower score better there?"


def _on_chance(found: Evaluation) -> Iterator[str]:
    texts = [
        f"{say.isolated(row['model'])} in {say.isolated(found.names[row['segment']])} "
        f"({text.rate_text(row[CALIBRATED])} against {text.rate_text(row[RANDOM])})"
        for row in found.below_chance.to_dicts()
    ]
    count = say.segments_text(found.segments.height)
    yield (
        "Below the average precision of a random ranking at the same prevalence: "
        f"{say.listed(texts)}. The intervals allow for {count} (Bonferroni)."
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
    said = f"{say.isolated(model)} is {', '.join(named)}"
    return said, f"{missing if len(named) == 1 else ''}{rest}"


def _none_by_itself(found: Evaluation, model: str, rest: str) -> tuple[str, str]:
    """Return what is shown of the segments as a whole, where none is shown to differ."""
    row, total = _heterogeneity(found, model), found.segments.height
    if row["status"] in BELIEVED and row["p_value"] is not None and row["p_value"] < found.alpha:
        names, probability = _likely_worst(found, model)
        worst = f"; {names[0]} is probably the worst" if probability >= SURE else ""
        said = f"segments differ ({say.p_text(row['p_value'])}), none shown by itself"
        return _of(model, said, found), f"{worst}{rest}"
    if len(found.segments_that_are(SMALL, UNTESTED, model=model)) == total:
        return _of(model, f"none of the {total:,} can be compared with the others", found), "."
    said = f"no {say.isolated(say.kind_of_segments(found))} is shown to differ from the others"
    return _of(model, said, found), rest


def _of(model: str, said: str, found: Evaluation) -> str:
    """Return a sentence after the model that it is about, if there are several."""
    return f"{say.isolated(model)}: {said}" if len(found.models) > 1 else said[0].upper() + said[1:]


def _heterogeneity(found: Evaluation, model: str) -> dict[str, Any]:
    own = found.heterogeneity
    unknown = {"p_value": None, "status": "empty"}
    return unknown if own.is_empty() else own.filter(model=model).row(0, named=True)


def _likely_worst(found: Evaluation, model: str) -> tuple[list[str], float]:
    own = found.worst if found.worst.is_empty() else found.worst.filter(model=model)
    if own.is_empty() or own["segment"][0] in found.segments_that_are(SMALL, model=model):
        return [], 0.0
    names = [say.isolated(found.names[number]) for number in own["segment"]]
    return names, own["probability_worst"][0]


def _few_of(found: Evaluation, model: str, standing: str) -> str:
    numbers = found.segments_that_are(standing, model=model)
    return _named(numbers[::-1] if standing == BETTER else numbers, found) if numbers else ""


def _named(numbers: Sequence[int], found: Evaluation) -> str:
    return say.listed([say.isolated(found.names[number]) for number in numbers], say.NAMED)


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
    return f" {word} {say.isolated(found.best)}" if len(found.models) > 1 else ""


def _tests_that_show(found: Evaluation) -> Iterator[str]:
    own = found.against_others.filter(model=found.best)
    for standing in (WORSE, BETTER):
        numbers = found.segments_that_are(standing)
        rows = {row["segment"]: row for row in own.to_dicts()}
        texts = [
            f"{say.isolated(found.names[number])} {say.rates_text(rows[number])} "
            f"({say.p_text(rows[number]['p_adjusted'])})"
            for number in numbers
        ]
        if texts:
            yield f"{standing.capitalize()}: {say.listed(texts)}."


def _untested(found: Evaluation) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for row in found.standings.filter(standing=UNTESTED).to_dicts():
        reasons.setdefault(say.said_of(row), []).append(say.isolated(found.names[row["segment"]]))
    of_others = {
        f"{say.OTHERS}few negatives": (
            "too many positives of these are in segments with few negatives; leave those out"
        )
    }
    for reason, names in reasons.items():
        why = of_others.get(reason, reason.removeprefix(say.OTHERS))
        yield f"{say.listed(names)} cannot be compared with the others: {why}."


def _spread(found: Evaluation) -> Iterator[str]:
    row, of_model = _heterogeneity(found, found.best), _model("for", found)
    if row["p_value"] is None:
        if row["status"] == "few_clusters":
            yield (
                f"Whether segments differ at all{of_model} is not tested: it needs more values of "
                f"{say.isolated(found.cluster or '')}, as each has rows in several segments."
            )
        return
    if row["status"] not in BELIEVED:
        reason = text.status_text(row["status"])
        yield f"Whether segments differ at all{of_model} cannot be told ({reason})."
        return
    p = say.p_text(row["p_value"])
    within = f": about two thirds lie within {text.rate_text(row['tau'])} of their mean"
    if row["p_value"] < found.alpha:
        alone = found.segments_that_are(WORSE, BETTER)
        also = "" if alone else ", though none is by itself"
        yield f"Segments are shown to differ{of_model} ({p}{also}){within}."
    else:
        yield f"As a whole, segments are not shown to differ{of_model} ({p})."


def _worst(found: Evaluation) -> Iterator[str]:
    names, probability = _likely_worst(found, found.best)
    share, of_model = text.rounded_percent(probability), _model("for", found)
    if probability >= SURE:
        yield f"{names[0]} is the worst{of_model} with a probability of {share}."
    elif names:
        likeliest = f"{say.listed(names, say.NAMED)} are the most likely, each with about {share}"
        if len(names) == 1:
            likeliest = f"{names[0]} is the most likely, with a probability of {share}"
        yield f"Which one is the worst{of_model} cannot be told: {likeliest}."


def lowest_segments(found: Evaluation) -> list[int]:
    """Return the numbers of the few segments with the lowest estimates, without small ones."""
    judged = found.standings.filter(pl.col("standing") != SMALL).sort(CALIBRATED, "segment")
    return judged["segment"].head(_LOWEST).to_list()


def _sizes(found: Evaluation) -> str:
    small = found.standings.filter(standing=SMALL).sort("n_pos", "segment")
    total = say.segments_text(found.segments.height)
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
    names = say.listed([say.isolated(found.names[number]) for number in own["segment"]])
    texts = [text.count_text(value) for value in own["n_pos"]]
    many = texts if len(texts) <= say.MOST_NAMED else [f"{texts[0]} to {texts[-1]}"]
    have = "has" if own.height == 1 else "have"
    if reason == "few_clusters" and found.cluster is not None:
        clusters = f"positives in few values of {say.isolated(found.cluster)}"
        return f"{names} {have} {clusters} ({say.listed(many, None)} positives)"
    counts = f" ({say.listed(many, None)})" if reason == "few_positives" else ""
    reference = found.of_best.get("reference_prevalence") or 1.0
    if reason == "few_negatives" and (own["prevalence"] > reference).all():
        return f"{names} {have} too few negatives for a prevalence of {text.share_text(reference)}"
    return f"{names} {have} {text.status_text(reason)}{counts}"


# --- which threshold ------------------------------------------------------------------------------


def _which_threshold(found: Evaluation) -> say.Answer | None:
    point, target = found.best_point, _target_text(found)
    if point is None and found.of_best[AVERAGE_PRECISION] is None:
        return None
    name = say.isolated(found.best) if "truth" in found.asked.classes else "score"
    asked = ("threshold", "Which threshold")
    if point is None:
        return say.Answer(*asked, f"No threshold of {name} has {target}", ".")
    relation = "≤" if found.asked.ascending else "≥"
    finding = f"Alert at {name} {relation} {found.threshold_text(point['threshold'])} ({target}): "
    alerts, right = (
        _count_text(1000 * point["predicted_rate"] * share) for share in (1, point["precision"])
    )
    if point["predicted_rate"] == 1 and found.options.target == LARGEST_F1:
        finding = "No threshold does better than an alert on every row"
        numbers = f", {right} of 1,000 right ({target})."
        return say.Answer(*asked, finding, numbers, list(_of_threshold(found)))
    hits = text.rounded_percent(point["recall"])
    such, also = "", ""
    if found.options.calibration.odds is not None:
        names = ("prevalence", "reference_prevalence")
        own, other = (text.share_text(found.of_best[name]) for name in names)
        also = "" if found.in_order else f"Such rows: {own} positive, not {other}."
        such = " such"
    does = f"{alerts} alerts per 1,000{such} rows, {right} right"
    numbers = f"{does}; {hits} of positives found."
    return say.Answer(*asked, finding, numbers, list(_of_threshold(found)), also)


def _count_text(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.2g}"  # noqa: PLR2004 - two digits at least


def _target_text(found: Evaluation) -> str:
    target = found.options.target
    return "as asked" if target.criterion == "threshold" else text.criterion_text(target)


def _of_threshold(found: Evaluation) -> Iterator[str]:
    target = found.options.target
    if target == LARGEST_F1:
        yield (
            "F1 is the harmonic mean of precision and recall: it weighs them alike, as costs may "
            "not. For another target, ask for a report with points=."
        )
    if target.criterion != "threshold":
        yield "A threshold that was chosen on these rows does a little worse on new ones."
    if found.options.calibration.odds is not None:
        own = text.share_text(found.of_best["prevalence"])
        yield (
            f"Alerts and precision are at a prevalence of {own}, that of these rows: "
            "operating_points(calibrate=) and threshold_table(calibrate=) have those at another."
        )
    if found.points.height > 1:
        texts = [
            f"{say.isolated(row['model'])} at {found.threshold_text(row['threshold'])} (precision "
            f"{text.rate_text(row['precision'])}, recall {text.rate_text(row['recall'])})"
            for row in found.points.to_dicts()
        ]
        yield f"{_target_text(found).capitalize()}: {say.listed(texts, None)}."


# --- over time -----------------------------------------------------------------------------------


_NO_WATCH = "No watch"


def _over_time(found: Evaluation) -> say.Answer | None:
    if found.in_order is None:
        return None
    finding, numbers, others = _watched(found.in_order)
    if len(found.keys) > 1 and finding != _NO_WATCH:  # one segment may be lost among all rows
        numbers = f" of all rows together{numbers}"
    error = text.percent_text(round(found.alpha, 12))
    reason = f"If nothing got worse, a model would have any alarm with a probability of {error}."
    said = (finding, f"{numbers}{others}.", [reason], f"{finding}{numbers}.")
    return say.Answer("time", "Over time", *said)


def _watched(found: Evaluation) -> tuple[str, str, str]:
    unit, periods, looked = say.unit_of_period(found), found.segments.height, found.looks
    if looked.is_empty():
        needed = "; a reference takes two, and a look one more"
        reason = needed if periods <= FEWEST_OF_REFERENCE else " without a reference"
        return _NO_WATCH, f": {periods:,} {unit}{'s' * (periods != 1)}{reason}", ""
    if "alarm" not in looked["conclusion"]:
        after = f"no {unit} after {found.reference_text}"
        few = looked.filter(model=found.best, conclusion="undecided").height
        if few == looked.filter(model=found.best).height:
            return "Cannot tell", f": no {unit} has enough rows to show a drop", ""
        weak = f"; {few:,} {unit}{'s' * (few != 1)} cannot tell alone" if few else ""
        return "No alarm", f": {after} is lower by more than chance{weak}", ""
    counts = {model: _alarms(looked.filter(model=model), found) for model in found.models}
    count, first = counts.pop(found.best)
    if not counts:
        return f"Alarm in {count} {unit}s", first, ""
    others = [f"{say.isolated(model)} in {count}" for model, (count, _) in counts.items()]
    return (
        f"{say.isolated(found.best)}: alarm in {count} {unit}s",
        first,
        f"; {say.listed(others, 3)}",
    )


def _alarms(looked: pl.DataFrame, found: Evaluation) -> tuple[str, str]:
    alarms = looked.filter(conclusion="alarm")["segment"]
    first = f", first {say.isolated(found.names[alarms[0]])}" if alarms.len() else ""
    return f"{alarms.len():,} of {looked.height:,}", first
