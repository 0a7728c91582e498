"""What a report answers: how good, which model, which segment, which threshold.

An answer is a sentence of at most 20 words, and the reasons behind it: the tests, and what they
allow for. It says that something is so only where a test shows it, and names no segment that cannot
be judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from frame_prc._charts import text
from frame_prc._charts.summary_data import PAIR
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_OF_POSITIVES
from frame_prc._report.evaluation import FEWEST_OF_REFERENCE, Evaluation, is_believed
from frame_prc._report.options import LARGEST_F1
from frame_prc._report.segments import which_segment
from frame_prc._report.sentences import (
    NAMED,
    Answer,
    comparisons_of_best,
    comparisons_told,
    ends_text,
    interval_text,
    is_shown,
    isolated,
    kind_of_segments,
    listed,
    p_text,
    rates_text,
    segments_text,
    signed_text,
    unit_of_period,
)


def answers(found: Evaluation) -> list[Answer]:
    questions = (_how_good, _which_model, which_segment, _over_time, _which_threshold)
    known = [question(found) for question in questions]
    return [answer for answer in known if answer is not None]


# --- how good ------------------------------------------------------------------------------------


def _how_good(found: Evaluation) -> Answer:
    return Answer("how good", "How good", *_area(found), list(_of_area(found)))


def _area(found: Evaluation) -> tuple[str, str]:
    row = found.of_best
    if row[AVERAGE_PRECISION] is None:
        return "No average precision: ", f"{text.status_text(row['status'])}."
    name, chance = isolated(found.best), text.rate_text(row["random_average_precision"])
    area = f"average precision {text.rate_text(row[AVERAGE_PRECISION])}"
    interval = "" if row["ci_low"] is None else f" ({interval_text(row, found)})"
    if row["status"] == "below_chance":
        numbers = f"{area}{interval} against {chance}. Is a lower score better?"
        return f"{name} is below chance: ", numbers
    if row["ci_low"] is None:
        return f"{name}: ", f"{area} against {chance} at random."
    is_above = row["ci_low"] > row["random_average_precision"]
    beats = "beats" if is_above and row["status"] not in FEW else "is not shown to beat"
    return f"{name} {beats} chance: ", f"{area}{interval} against {chance}."


def _of_area(found: Evaluation) -> Iterator[str]:
    yield "Average precision sums precision over recall: it is the area in steps under the curve."
    row = found.of_best
    if row[AVERAGE_PRECISION] is None or row["ci_low"] is None:
        return
    if row["status"] in FEW_OF_POSITIVES:
        reason = text.status_text(row["status"])
        yield f"The interval rests on little ({reason}), and may be too narrow."
    yield _on_clusters(found)
    if (strata := found.rows.columns.strata) is not None:
        yield f"Rows were sampled within each {isolated(strata.name)}: intervals allow for that."


def _on_clusters(found: Evaluation) -> str:
    if found.cluster is None:
        return (
            "All rows are taken as independent. If several share a day, a user or a patient, the "
            "intervals are too narrow: ask for a report with that column in cluster=."
        )
    return (
        f"Rows with the same {isolated(found.cluster)} count as one cluster "
        f"({text.count_text(found.n_clusters)} of them): all intervals and tests allow for that."
    )


# --- which model ---------------------------------------------------------------------------------


def _which_model(found: Evaluation) -> Answer | None:
    if len(found.models) == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    tests = comparisons_told(found)
    said = _best_model(tests, found)
    reasons = [*_of_comparisons(tests, found), *_by_segment(found.without_time)]
    # Where periods are watched, the first screen has a line on these.
    also = "" if found.in_order else _won_by_segment(found.without_time)
    return Answer("model", "Which model", *said, reasons, also)


def _best_model(tests: list[dict[str, Any]], found: Evaluation) -> tuple[str, str]:
    name = isolated(found.best)
    if not tests:
        return f"{name} has the largest average precision", "; whether it is better is not tested."
    if found.of_models.height == 1:
        return _of_pair(tests[0], found)
    shown = [row for row in tests if is_shown(row, found.alpha)]
    undecided = [isolated(row["baseline"]) for row in tests if row not in shown]
    if not shown:
        return f"{name} is largest, but not shown to be better", f" than {listed(undecided, 3)}."
    better = listed([isolated(row["baseline"]) for row in shown], 3)
    rest = f"; {listed(undecided, 3)} may be as good" if undecided else ""
    return f"{name} ranks better", f" than {better}{rest}."


def _of_pair(row: dict[str, Any], found: Evaluation) -> tuple[str, str]:
    new, old = (f"{isolated(row[side])}" for side in ("model", "baseline"))
    areas = f"{new} {text.rate_text(row['value_a'])}, {old} {text.rate_text(row['value_b'])}"
    if row["difference"] == 0 and row["status"] == "no_std_error":
        return f"{new} and {old} rank alike: ", f"both {text.rate_text(row['value_a'])}."
    if row["status"] not in BELIEVED:
        reason = f"Too little to say which is better ({text.status_text(row['status'])}): "
        return reason, f"{areas}."
    interval = f", interval {ends_text(row)}" if row["ci_low"] is not None else ""
    numbers = f"{areas} (difference {signed_text(row['difference'])}{interval})."
    if is_shown(row, found.alpha):
        return f"{new if row['difference'] > 0 else old} ranks better: ", numbers
    return "Neither is shown to be better: ", numbers


def _of_comparisons(tests: list[dict[str, Any]], found: Evaluation) -> Iterator[str]:
    if not tests:
        areas = [
            f"{isolated(row['model'])} {text.rate_text(row[AVERAGE_PRECISION])}"
            for row in found.pooled.to_dicts()
        ]
        yield f"Average precisions: {listed(areas, None)}."
        yield "A test needs the scores of all models as columns of single rows in memory."
        return
    yield "Models are compared on the same rows."
    for row in tests:
        pair = f"{isolated(row['model'])} against {isolated(row['baseline'])}"
        yield f"{pair}: {_tested(row, found)}."
    if len(tests) > 1:
        yield f"p-values are adjusted for {found.of_models.height:,} comparisons (Holm)."


def _tested(row: dict[str, Any], found: Evaluation) -> str:
    parts = [
        *([interval_text(row, found)] if row["ci_low"] is not None else []),
        *([p_text(row["p_adjusted"])] if row["p_adjusted"] is not None else []),
        *([text.status_text(row["status"])] if row["status"] != "ok" else []),
    ]
    difference = f"difference {signed_text(row['difference'])}"
    certainty = f" ({', '.join(parts)})" if parts else ""
    return f"{rates_text(row)}, {difference}{certainty}"


def _by_segment(found: Evaluation) -> Iterator[str]:
    # The only segment is all rows.
    if found.differences.is_empty() or found.segments.height == 1:
        return
    tests = _tests_of_best(found)
    yield (
        f"By {isolated(kind_of_segments(found))}, at one prevalence and with p-values adjusted for "
        f"{found.differences['p_value'].count():,} tests:"
    )
    for (other,), own in tests.group_by("baseline", maintain_order=True):
        yield _in_segments(own, isolated(found.best), isolated(str(other)), found)


def _won_by_segment(found: Evaluation) -> str:
    if found.differences.is_empty() or found.segments.height == 1 or len(found.models) > PAIR:
        return ""
    better, worse = _sides(_tests_of_best(found), found)
    kind, best = isolated(kind_of_segments(found)), isolated(found.best)
    total, tested = found.segments.height, _reliable(_tests_of_best(found)).height
    unjudged = f"; {total - tested:,} cannot be judged" if tested < total else ""
    if better.is_empty() and worse.is_empty():
        return f"By {kind}: no difference is shown{unjudged}."
    won, lost = (_few_or_count(side, found) for side in (better, worse))
    [other] = (isolated(name) for name in found.models if name != found.best)
    if better.height == total:
        return f"By {kind}: {best} beats {other} in all {total:,}."
    open_ = tested - better.height - worse.height
    rest = f"; {open_:,} undecided" if open_ else ""
    return f"By {kind}: {best} beats {other} in {won}, loses in {lost}{rest}{unjudged}."


def _few_or_count(side: pl.DataFrame, found: Evaluation) -> str:
    if side.is_empty():
        return "none"
    names = [isolated(found.names[number]) for number in side["segment"]]
    return listed(names, None) if len(names) <= NAMED else f"{len(names):,}"


def _reliable(own: pl.DataFrame) -> pl.DataFrame:
    return own.drop_nulls("p_adjusted").filter(is_believed())


def _tests_of_best(found: Evaluation) -> pl.DataFrame:
    rows = list(comparisons_of_best(found.differences, found))
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
    count = f"{better.height:,} of {segments_text(own.height)}"
    won = f" ({_values(better, found)})" if 0 < better.height < tested.height else ""
    lost = f"worse in {_values(worse, found)}" if worse.height else "worse in none"
    unknown = own.height - tested.height
    small = f"; in {unknown:,} that cannot be told" if unknown else ""
    return f"{best} is shown to be better than {other} in {count}{won}, and {lost}{small}."


def _values(rows: pl.DataFrame, found: Evaluation) -> str:
    return listed(
        [f"{isolated(found.names[row['segment']])} {rates_text(row)}" for row in rows.to_dicts()]
    )


# --- which threshold ------------------------------------------------------------------------------


def _which_threshold(found: Evaluation) -> Answer | None:
    point, target = found.best_point, _target_text(found)
    if point is None and found.of_best[AVERAGE_PRECISION] is None:
        return None
    name = isolated(found.best) if "truth" in found.asked.classes else "score"
    asked = ("threshold", "Which threshold")
    if point is None:
        return Answer(*asked, f"No threshold of {name} has {target}", ".")
    relation = "≤" if found.asked.ascending else "≥"
    finding = f"Alert at {name} {relation} {found.threshold_text(point['threshold'])} ({target}): "
    alerts, right = (
        _count_text(1000 * point["predicted_rate"] * share) for share in (1, point["precision"])
    )
    if point["predicted_rate"] == 1 and found.options.target == LARGEST_F1:
        finding = "No threshold does better than an alert on every row"
        numbers = f", {right} of 1,000 right ({target})."
        return Answer(*asked, finding, numbers, list(_of_threshold(found)))
    hits = text.rounded_percent(point["recall"])
    such, also = "", ""
    if found.options.calibration.odds is not None:
        names = ("prevalence", "reference_prevalence")
        own, other = (text.share_text(found.of_best[name]) for name in names)
        also = "" if found.in_order else f"Such rows: {own} positive, not {other}."
        such = " such"
    does = f"{alerts} alerts per 1,000{such} rows, {right} right"
    numbers = f"{does}; {hits} of positives found."
    return Answer(*asked, finding, numbers, list(_of_threshold(found)), also)


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
            f"{isolated(row['model'])} at {found.threshold_text(row['threshold'])} (precision "
            f"{text.rate_text(row['precision'])}, recall {text.rate_text(row['recall'])})"
            for row in found.points.to_dicts()
        ]
        yield f"{_target_text(found).capitalize()}: {listed(texts, None)}."


# --- over time -----------------------------------------------------------------------------------


_NO_WATCH = "No watch"


def _over_time(found: Evaluation) -> Answer | None:
    if found.in_order is None:
        return None
    finding, numbers, others = _watched(found.in_order)
    if len(found.keys) > 1 and finding != _NO_WATCH:  # one segment may be lost among all rows
        numbers = f" of all rows together{numbers}"
    error = text.percent_text(round(found.alpha, 12))
    reason = f"If nothing got worse, a model would have any alarm with a probability of {error}."
    said = (finding, f"{numbers}{others}.", [reason], f"{finding}{numbers}.")
    return Answer("time", "Over time", *said)


def _watched(found: Evaluation) -> tuple[str, str, str]:
    unit, periods, looked = unit_of_period(found), found.segments.height, found.looks
    if looked.is_empty():
        needed = "; a reference takes two, and a look one more"
        reason = needed if periods <= FEWEST_OF_REFERENCE else " without a reference"
        return _NO_WATCH, f": {periods:,} {unit}{'s' * (periods != 1)}{reason}", ""
    if "alarm" not in looked["conclusion"]:
        after = f"no {unit} after {found.reference_text}"
        few = looked.filter(model=found.best, conclusion="undecided").height
        weak = f"; {few:,} {unit}{'s' * (few != 1)} cannot tell alone" if few else ""
        return "No alarm", f": {after} is lower by more than chance{weak}", ""
    counts = {model: _alarms(looked.filter(model=model), found) for model in found.models}
    count, first = counts.pop(found.best)
    if not counts:
        return f"Alarm in {count} {unit}s", first, ""
    others = [f"{isolated(model)} in {count}" for model, (count, _) in counts.items()]
    return f"{isolated(found.best)}: alarm in {count} {unit}s", first, f"; {listed(others, 3)}"


def _alarms(looked: pl.DataFrame, found: Evaluation) -> tuple[str, str]:
    alarms = looked.filter(conclusion="alarm")["segment"]
    first = f", first {isolated(found.names[alarms[0]])}" if alarms.len() else ""
    return f"{alarms.len():,} of {looked.height:,}", first
