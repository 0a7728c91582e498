"""What a report answers: how good, which model, which segment, which threshold.

An answer is a sentence of at most 20 words, and the reasons behind it. It says that something is so
only where a test shows it, and names no segment that cannot be judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from frame_prc._charts.text import rate_text, rounded_percent, status_text
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.logit_intervals import BELIEVED, FEW
from frame_prc._report.evaluation import BETTER, SMALL, WORSE, Evaluation
from frame_prc._report.period import kind_of_segments
from frame_prc._report.reasons import (
    by_segment,
    of_area,
    of_comparisons,
    of_segments,
    of_threshold,
    won_by_segment,
)
from frame_prc._report.sentences import (
    comparisons_told,
    interval_text,
    is_shown,
    isolated,
    listed,
    signed_text,
)

NAMED = 2  # segments


@dataclass(frozen=True)
class Answer:
    """An answer: what it is about, the question, the finding first, then its numbers, and why."""

    about: str
    question: str
    finding: str
    numbers: str = ""
    reasons: list[str] = field(default_factory=list)
    also: str = ""

    @property
    def text(self) -> str:
        """The answer as one text."""
        return f"{self.finding}{self.numbers}"


def answers(found: Evaluation) -> list[Answer]:
    """Return the answers to the questions that there are."""
    known = [_how_good(found), _which_model(found), _which_segment(found), _which_threshold(found)]
    return [answer for answer in known if answer is not None]


# --- how good ------------------------------------------------------------------------------------


def _how_good(found: Evaluation) -> Answer:
    finding, numbers = _area(found)
    return Answer("how good", "How good", finding, numbers, list(of_area(found)))


def _area(found: Evaluation) -> tuple[str, str]:
    row = found.of_best
    if row[AVERAGE_PRECISION] is None:
        return "No average precision: ", f"{status_text(row['status'])}."
    name, chance = isolated(found.best), rate_text(row["random_average_precision"])
    area = f"average precision {rate_text(row[AVERAGE_PRECISION])}"
    interval = "" if row["ci_low"] is None else f" ({interval_text(row, found)})"
    numbers = f"{area}{interval} against {chance}."
    if row["status"] == "below_chance":
        return f"{name} is below chance: ", f"{numbers} Is a lower score better?"
    if row["ci_low"] is None:
        return f"{name}: ", numbers
    is_above = row["ci_low"] > row["random_average_precision"]
    beats = "beats" if is_above and row["status"] not in FEW else "is not shown to beat"
    return f"{name} {beats} chance: ", numbers


# --- which model ---------------------------------------------------------------------------------


def _which_model(found: Evaluation) -> Answer | None:
    if len(found.models) == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    tests = comparisons_told(found)
    finding, numbers = _best_model(tests, found)
    reasons = [*of_comparisons(tests, found), *by_segment(found)]
    return Answer("model", "Which model", finding, numbers, reasons, won_by_segment(found))


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
    """Return what a comparison of two models shows, with its difference as pictures have it."""
    new, old = (f"{isolated(row[side])}" for side in ("model", "baseline"))
    areas = f"{new} {rate_text(row['value_a'])}, {old} {rate_text(row['value_b'])}"
    if row["status"] not in BELIEVED:
        reason = f"Too little to say which is better ({status_text(row['status'])}): "
        return reason, f"{areas}."
    if row["difference"] == 0:
        return f"{new} and {old} rank alike: ", f"both {rate_text(row['value_a'])}."
    interval = f", {interval_text(row, found)}" if row["ci_low"] is not None else ""
    numbers = f"{areas} (difference {signed_text(row['difference'])}{interval})."
    if is_shown(row, found.alpha):
        return f"{new if row['difference'] > 0 else old} ranks better: ", numbers
    return "Neither is shown to be better: ", numbers


# --- which segment -------------------------------------------------------------------------------


def _which_segment(found: Evaluation) -> Answer | None:
    if found.segments.height == 1 or found.of_best[AVERAGE_PRECISION] is None:
        return None
    question = f"Which {isolated(kind_of_segments(found))}"
    finding, numbers = _differing(found)
    return Answer("segment", question, finding, numbers, list(of_segments(found)))


def _differing(found: Evaluation) -> tuple[str, str]:
    """Return in which segments the best model is shown to be better or worse than elsewhere."""
    small, total = len(found.segments_that_are(SMALL)), found.segments.height
    rest = f"; {small:,} of {total:,} cannot be judged." if small else "."
    if small == total:
        return f"None of the {total:,} can be judged", "."
    if found.against_others.is_empty():
        return "Not tested: ", "that needs single rows in memory."
    name, sides = isolated(found.best), {WORSE: "worse", BETTER: "better"}
    named = [f"{word} in {text}" for one, word in sides.items() if (text := _few_of(found, one))]
    if not named:
        return f"No {isolated(kind_of_segments(found))} is shown to differ from the others", rest
    other = {f"{word} in": f", shown {word} in none" for word in sides.values()}
    missing = "".join(text for word, text in other.items() if not named[0].startswith(word))
    return f"{name} is {', '.join(named)}", f"{missing if len(named) == 1 else ''}{rest}"


def _few_of(found: Evaluation, standing: str) -> str:
    """Return the segments of a standing, those at the end of the order first."""
    names = [isolated(found.names[number]) for number in found.segments_that_are(standing)]
    return listed(names[::-1] if standing == BETTER else names, NAMED) if names else ""


# --- which threshold -----------------------------------------------------------------------------


def _which_threshold(found: Evaluation) -> Answer | None:
    point = found.best_point
    if point is None:
        return None
    name = isolated(found.best) if len(found.models) > 1 else "score"
    relation = "≤" if found.asked.ascending else "≥"
    finding = (
        f"Alert at {name} {relation} {found.threshold_text(point['threshold'])} (largest F1): "
    )
    alerts, right = (1000 * point["predicted_rate"] * share for share in (1, point["precision"]))
    hits = rounded_percent(point["recall"])
    form = ".0f" if alerts >= 100 else ".3g"  # noqa: PLR2004 - three digits, or the integer part
    does = f"{alerts:{form}} alerts per 1,000 rows, {right:{form}} right"
    numbers = f"{does}; {hits} of positives found."
    return Answer("threshold", "Which threshold", finding, numbers, list(of_threshold(found)))
