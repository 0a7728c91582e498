"""What a report says of segments: whether they differ, which ones, and which cannot be judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from frame_prc._charts.summary_data import SURE
from frame_prc._charts.text import count_text, few_of, rate_text, rounded_percent, status_text
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.logit_intervals import BELIEVED, FEW, FEW_OF_POSITIVES
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.sentences import (
    MOST_NAMED,
    at_one_prevalence,
    isolated,
    listed,
    listed_all,
    p_text,
    segment_names,
    segments_text,
)

_LOWEST = 3  # segments to watch
_SMALL = (*FEW, "no_positives", "no_negatives", "empty")


# --- whether they differ -------------------------------------------------------------------------


def on_spread(found: Evaluation, model: str) -> str | None:
    """Return whether the segments of a model differ at all, and how far."""
    if found.heterogeneity.is_empty():
        return None
    row = found.heterogeneity.row(by_predicate=pl.col("model") == model, named=True)
    if row["p_value"] is None:
        return _untested_spread(found, model) if row["status"] == "few_clusters" else None
    differ = row["p_value"] < found.alpha
    return (
        f"The calibrated average precisions{_of_model(found, model)} "
        f"{'differ between segments' if differ else 'are not shown to differ between segments'} "
        f"({p_text(row['p_value'])}): {_beyond_chance(row)}."
    )


def _beyond_chance(row: dict[str, Any]) -> str:
    """Return how far the segments of a row differ beyond what sampling alone shows."""
    if not row["tau"]:
        return "they vary no more than by chance"
    return (
        f"beyond chance, their standard deviation between {segments_text(row['n_segments'])} is "
        f"estimated at {rate_text(row['tau'])}"
    )


def _untested_spread(found: Evaluation, model: str) -> str:
    """Return why there is no test of whether segments differ at all."""
    cluster = isolated(found.cluster or "")
    return (
        f"Whether the segments{_of_model(found, model)} differ at all is not tested: rows with the "
        f"same {cluster} are in several segments, and the test needs more of these clusters. The "
        "comparisons below allow for that."
    )


# --- which ones ----------------------------------------------------------------------------------


def on_segments(found: Evaluation, model: str) -> str:
    """Return which segments of a model are worse or better than the others, and the lowest."""
    if found.against_others.is_empty():
        return (
            "Which segments differ from the others is not tested: that needs single rows. "
            f"{_lowest(found, model, {})}"
        )
    own = found.against_others.filter(pl.col("model") == model).drop_nulls("p_adjusted")
    of_model, p_values = _of_model(found, model), dict(own.select("segment", "p_adjusted").rows())
    if own.is_empty():
        return f"No segment{of_model} can be tested. {_lowest(found, model, {})}"
    measure = at_one_prevalence(found.against_others)
    parts = list(_differing(own, found))
    if not parts:
        lowest = _lowest(found, model, p_values, are_shown=False)
        return f"{measure}, no segment{of_model} is shown to differ from the others. {lowest}"
    rest = (
        ""
        if _tests_that_reject(own, found).height == own.height
        else "; the rest are not shown to differ"
    )
    return (
        f"{measure}, {listed_all(parts)} than the mean of the other segments{of_model}{rest}. "
        f"{_lowest(found, model, p_values)}"
    )


def name_of_model(found: Evaluation, model: str) -> str:
    """Return the name of a model in sentences, which is empty if there is just one."""
    return isolated(model) if len(found.models) > 1 else ""


def _of_model(found: Evaluation, model: str) -> str:
    name = name_of_model(found, model)
    return f" of {name}" if name else ""


def _tests_that_reject(own: pl.DataFrame, found: Evaluation) -> pl.DataFrame:
    """Return the tests that show a difference, and can be believed."""
    is_shown = pl.col("p_adjusted") < found.alpha
    return own.filter(is_shown, pl.col("status").is_in(BELIEVED))


def _differing(own: pl.DataFrame, found: Evaluation) -> Iterator[str]:
    """Yield which segments are worse, and which are better."""
    tests = _tests_that_reject(own, found)
    worse = tests.filter(pl.col("difference") < 0).sort("value_a")
    better = tests.filter(pl.col("difference") > 0).sort("value_a", descending=True)
    names = segment_names(found)
    for word, side in (("worse", worse), ("better", better)):
        if side.height:
            texts = [_sides(row, names) for row in side.to_dicts()]
            yield f"{listed(texts)} {'is' if side.height == 1 else 'are'} {word}"


def _sides(row: dict[str, Any], names: dict[int, str]) -> str:
    areas = f"{rate_text(row['value_a'])} against {rate_text(row['value_b'])}"
    return f"{names[row['segment']]} ({areas}, {p_text(row['p_adjusted'])})"


def lowest_segments(found: Evaluation, model: str) -> pl.DataFrame:
    """Return the scorecard of the few segments with the lowest estimates, without small ones."""
    rows = found.of_segments(model).drop_nulls(CALIBRATED)
    large = rows.filter(~pl.col("status").is_in(_SMALL))
    return large.sort(CALIBRATED, "segment").head(_LOWEST)


def _lowest(
    found: Evaluation, model: str, p_values: dict[int, float], *, are_shown: bool = True
) -> str:
    """Return the segments with the lowest estimates that are large enough to say.

    Unless segments are shown to differ, they may be the lowest by chance.
    """
    lowest = lowest_segments(found, model)
    if lowest.is_empty():
        return "No segment has enough rows of both classes to judge it."
    names = segment_names(found)
    texts = [
        f"{names[row['segment']]} {rate_text(row[CALIBRATED])}{_calibrated_interval(row)}"
        f"{_tested(p_values.get(row['segment']))}"
        for row in lowest.to_dicts()
    ]
    tested = ", with p against the others," if p_values else ""
    many = len(texts) > 1
    if are_shown:
        measure = f"average precision{'s' if many else ''}{tested}"
        is_that = "are those" if many else "is that"
        text = f"The lowest calibrated {measure} {is_that} of {listed_all(texts)}."
    else:
        rank = "these rank" if many else "this one ranks"
        chance = f"If you look at any, {rank} lowest, but that may be chance"
        text = f"{chance}: {listed_all(texts)} (calibrated average precision{tested[:-1]})."
    return f"{text}{_left_out(found, model)}{_worst(found, model)}"


def _worst(found: Evaluation, model: str) -> str:
    """Return which segment is most likely the worst, with its probability, if that is known."""
    own = found.worst if found.worst.is_empty() else found.worst.filter(model=model)
    if own.is_empty():
        return ""
    [row] = own.to_dicts()
    small = found.of_segments(model).filter(pl.col("status").is_in(_SMALL))["segment"]
    if row["segment"] in small:  # what cannot be judged is not named
        return ""
    name, probability = segment_names(found)[row["segment"]], row["probability_worst"]
    share = rounded_percent(probability)
    if probability >= SURE:
        return f" {name} is the worst with a probability of {share}."
    return (
        f" Which one is the worst cannot be told: {name}, the most likely, is it with a "
        f"probability of {share}."
    )


def _left_out(found: Evaluation, model: str) -> str:
    """Return a sentence if small segments are not among the lowest."""
    rows = found.of_segments(model).drop_nulls(CALIBRATED)
    if not rows["status"].is_in(_SMALL).any():
        return ""
    return " Segments with too few positives or negatives to judge are left out here."


def _calibrated_interval(row: dict[str, Any]) -> str:
    low, high = row["calibrated_average_precision_low"], row["calibrated_average_precision_high"]
    return "" if low is None else f" [{rate_text(low)}, {rate_text(high)}]"


def _tested(p: float | None) -> str:
    return "" if p is None else f" ({p_text(p)})"


# --- which cannot be judged ----------------------------------------------------------------------


def on_sizes(found: Evaluation) -> str:
    """Return which segments are too small, and why."""
    own = found.of_segments(found.models[0])
    if found.asked.model is not None:  # a segment may be small for one model
        all_models = found.scorecard.filter(level="segment")
        own = all_models.unique("segment", keep="first", maintain_order=True)
    small = own.filter(pl.col("status").is_in(_SMALL)).sort("n_pos", "segment")
    total = segments_text(found.segments.height)
    if small.is_empty() and found.rows.columns.lacks_squares:
        return "Sums of weights do not say which segments are too small to judge."
    if small.is_empty():
        return f"None of the {total} is too small to judge."
    reasons = small.group_by("status", maintain_order=True)
    names = segment_names(found)
    texts = [_too_small(str(reason), own, names, found) for (reason,), own in reasons]
    return f"Of {total}, {'; '.join(texts)}.{_what_is_few(small, found)}"


def _what_is_few(small: pl.DataFrame, found: Evaluation) -> str:
    """Return how many positives are few, in the words of the picture."""
    if not small["status"].is_in(FEW_OF_POSITIVES).any():
        return ""
    few = few_of(found.cluster, weighted=found.rows.columns.weighted)
    text = f" Few are fewer than {few}"
    if not found.rows.clustered:
        return f"{text}."
    return f"{text}: clusters that hold unequal shares of the positives count as fewer."


def _too_small(reason: str, own: pl.DataFrame, names: dict[int, str], found: Evaluation) -> str:
    """Return the segments that are too small for one reason."""
    shown = [names[segment] for segment in own["segment"]]
    verb = f"{listed(shown)} {'has' if own.height == 1 else 'have'}"
    positives = _counts(own["n_pos"])
    if reason == "few_positives":
        effective = "effective " if found.rows.columns.weighted else ""
        return f"{verb} few {effective}positives ({positives}), too few to judge"
    if reason == "few_clusters" and found.cluster is not None:
        where = f"few values of {isolated(found.cluster)}"
        return f"{verb} positives in {where} ({positives} positives), too few to judge"
    if reason == "few_negatives":
        return f"{verb} few negatives, too few to judge"
    return f"{verb} {status_text(reason)}, so there is nothing to judge"


def _counts(values: pl.Series) -> str:
    """Return each count, which ascend, or their range if there are many."""
    texts = [count_text(value) for value in values]
    if len({*texts}) == 1:
        return texts[0]
    return listed_all(texts) if len(texts) <= MOST_NAMED else f"{texts[0]} to {texts[-1]}"
